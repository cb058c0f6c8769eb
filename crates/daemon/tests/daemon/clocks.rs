//! The time of day of a daemon's machine steps.

use super::pair::{Daemon, Extra, Pair, wait_for};
use super::skip::skip;
use super::streams::{Got, Target, exchange, send};
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// The time of day as one daemon sees it.
struct Day(PathBuf);

impl Day {
    /// Restarts a daemon under it; `None` without libfaketime.
    fn of(daemon: &mut Daemon) -> Option<Self> {
        let places = fs::read_dir("/usr/lib").unwrap().flatten();
        let library = places.map(|place| place.path().join("faketime/libfaketimeMT.so.1"));
        let Some(library) = library.into_iter().find(|path| path.exists()) else {
            skip("libfaketime is not installed (Debian: faketime)");
            return None;
        };
        let day = Self(daemon.folder.join("day"));
        day.step("+0");
        let [library, file] = [&library, &day.0].map(|path| path.display().to_string());
        daemon.by =
            ["env", "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"].map(str::to_owned).to_vec();
        daemon.by.push(format!("LD_PRELOAD={library}"));
        daemon.by.push(format!("FAKETIME_TIMESTAMP_FILE={file}"));
        daemon.kill();
        daemon.start();
        Some(day)
    }
    /// So far from what it really is.
    fn step(&self, offset: &str) {
        let new = self.0.with_extension("new");
        fs::write(&new, offset).unwrap();
        fs::rename(&new, &self.0).unwrap();
    }
}

#[test]
fn steps_of_the_clock_by_a_day_change_nothing() {
    let mut pair = Pair::start(Extra::default());
    let Some(day) = Day::of(&mut pair.near) else { return };
    pair.wait_until_connected();
    let target = Target::start(true);
    for (at, offset) in ["+1d", "-1d", "+0", "-1d", "+1d"].into_iter().enumerate() {
        let number = at as u64 + 1;
        let wishes = ["", "durable"][at % 2];
        let stream = pair.connect(target.port, wishes).unwrap();
        let application = thread::spawn(move || exchange(stream, number, 10_000_000));
        thread::sleep(Duration::from_millis(50));
        day.step(offset);
        pair.switch(["udpdtn", "auto"][at % 2]);
        let (sent, back) = application.join().unwrap();
        sent.unwrap();
        assert_eq!(back, Got { number: number ^ u64::MAX, length: 10_000_000, is_whole: true });
        assert_eq!(target.next(), Got { number, length: 10_000_000, is_whole: true });
        let age = pair.near.status()["age_s"].as_f64().unwrap();
        assert!((0.0..3600.0).contains(&age), "it has run for {age} s");
    }
}

/// Two daemons; the near one was restarted with its clock a day ahead.
fn a_day_ahead() -> Option<(Pair, Day)> {
    let mut pair = Pair::start(Extra::default());
    let day = Day::of(&mut pair.near)?;
    pair.near.kill();
    day.step("+1d");
    pair.near.start();
    pair.wait_until_connected();
    Some((pair, day))
}

#[test]
fn a_clock_that_was_once_a_century_ahead_costs_a_restart_and_no_state() {
    let mut pair = Pair::start(Extra::default());
    let Some(day) = Day::of(&mut pair.near) else { return };
    for wrong in ["2156-03-01 00:00:00", "2120-01-01 00:00:00", "2088-02-01 00:00:00", "1990-01-01 00:00:00"]
    {
        pair.near.kill();
        day.step(&format!("@{wrong}"));
        pair.near.start();
        pair.wait_until_connected();
        pair.near.kill();
        day.step("+0");
        pair.near.start();
        pair.wait_until_connected();
        let target = Target::start(true);
        let (sent, back) = exchange(pair.connect(target.port, "durable").unwrap(), 5, 100_000);
        sent.unwrap();
        assert!(back.is_whole, "after {wrong}");
    }
}

#[test]
fn a_machine_without_a_clock_and_without_its_state_begins_another_epoch_with_the_same_number() {
    let mut pair = Pair::start(Extra::default());
    let Some(day) = Day::of(&mut pair.near) else { return };
    let lose_all = |pair: &mut Pair| {
        pair.near.kill();
        day.step("@2019-01-01 00:00:00");
        fs::remove_dir_all(pair.near.folder.join("state")).unwrap();
        pair.near.start_unasked();
    };
    lose_all(&mut pair);
    // It knows of a later one, follows it, and is known in that one.
    wait_for("its end", || pair.near.has_ended());
    pair.near.kill();
    pair.near.start();
    pair.wait_until_connected();
    // Its number is that of the last time again.
    lose_all(&mut pair);
    // The far daemon knows one that this does not follow.
    wait_for("its end", || pair.near.has_ended());
    pair.near.kill();
    pair.near.start();
    pair.wait_until_connected();
    let target = Target::start(true);
    let (sent, back) = exchange(pair.connect(target.port, "").unwrap(), 6, 100_000);
    sent.unwrap();
    assert!(back.is_whole);
}

#[test]
fn durable_streams_go_on_after_a_restart_with_the_clock_a_day_back() {
    let Some((mut pair, day)) = a_day_ahead() else { return };
    pair.way.cut(true);
    // What is being carried may still come.
    thread::sleep(Duration::from_millis(100));
    let target = Target::start(false);
    let mut stream = pair.connect(target.port, "durable").unwrap();
    send(&mut stream, 7, 5_000_000).unwrap();
    wait_for("the end to be stored", || {
        pair.near.status()["peers"][0]["connections"][0]["accepted"][1] == true
    });
    drop(stream);
    pair.near.kill();
    day.step("+0");
    pair.near.start();
    pair.way.mend();
    assert_eq!(target.next(), Got { number: 7, length: 5_000_000, is_whole: true });
    wait_for("nothing that is left in custody", || pair.near.status()["custody"] == 0);
    assert_eq!(target.all(), []);
}

#[test]
fn a_daemon_that_lost_its_state_while_the_clock_stepped_back_goes_on_when_started_again() {
    let Some((mut pair, day)) = a_day_ahead() else { return };
    pair.near.kill();
    fs::remove_dir_all(pair.near.folder.join("state")).unwrap();
    day.step("+0");
    pair.near.start_unasked();
    wait_for("its end", || pair.near.has_ended());
    assert!(pair.near.log().contains("another daemon knows a later epoch of this one"));
    pair.near.kill();
    pair.near.start();
    pair.wait_until_connected();
    let target = Target::start(true);
    let (sent, back) = exchange(pair.connect(target.port, "").unwrap(), 5, 1_000_000);
    sent.unwrap();
    assert!(back.is_whole);
}
