//! Disks that are full, for a while or for ever.

use super::pair::{Daemon, Extra, Pair, wait_for};
use super::skip::skip;
use super::streams::{Got, Target, exchange};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

const LENGTH: u64 = 20_000_000;

/// A small disk, in memory; unmounted when dropped.
struct Disk(PathBuf);

impl Disk {
    /// The state of a daemon that does not run goes there; none where that is not allowed.
    fn under(daemon: &Daemon, megabytes: u32) -> Option<Self> {
        let state = daemon.folder.join("state");
        let incarnation = fs::read(state.join("incarnation")).unwrap();
        let size = format!("size={megabytes}m");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&state).output();
        if !mount.is_ok_and(|told| told.status.success()) {
            skip("a tmpfs cannot be mounted (needs root)");
            return None;
        }
        let disk = Self(state);
        fs::write(disk.0.join("incarnation"), incarnation).unwrap();
        Some(disk)
    }
    /// Others take all room but some.
    fn fill(&self, but_kilobytes: u64) {
        let free = rustix::fs::statvfs(&self.0).unwrap();
        let bytes = free.f_bavail * free.f_frsize - but_kilobytes * 1024;
        let mut filler = fs::File::options().create(true).append(true).open(self.0.join("filler")).unwrap();
        filler.write_all(&vec![1; bytes as usize]).unwrap();
    }
    fn make_room(&self) {
        fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// The near daemon of a pair whose state is on such a disk.
fn on_disk(pair: &mut Pair, megabytes: u32) -> Option<Disk> {
    pair.near.kill();
    let disk = Disk::under(&pair.near, megabytes);
    pair.near.start();
    pair.wait_until_connected();
    disk
}

fn trouble(daemon: &Daemon) -> String {
    daemon.status()["trouble"].as_str().unwrap_or_default().to_owned()
}

/// A durable stream in each direction that arrives whole, whatever is done meanwhile.
fn comes_whole(pair: &Pair, meanwhile: impl FnOnce()) {
    let target = Target::start(true);
    let stream = pair.connect(target.port, "durable").unwrap();
    let application = thread::spawn(move || exchange(stream, 3, LENGTH));
    meanwhile();
    let (sent, back) = application.join().unwrap();
    sent.unwrap();
    assert_eq!(back, Got { number: 3 ^ u64::MAX, length: LENGTH, is_whole: true });
    assert_eq!(target.next(), Got { number: 3, length: LENGTH, is_whole: true });
}

#[test]
fn while_a_disk_is_full_applications_wait_and_status_says_why() {
    let mut pair = Pair::start(Extra::default());
    let Some(disk) = on_disk(&mut pair, 64) else { return };
    disk.fill(3000);
    pair.way.cut(false);
    comes_whole(&pair, || {
        wait_for("the disk to be full", || trouble(&pair.near).contains("custody.redb: its disk is full"));
        let text = String::from_utf8(pair.near.ask(&["status"]).stdout).unwrap();
        assert!(text.lines().any(|line| line.contains("waits: ") && line.contains("custody.redb")), "{text}");
        // Others take what is left, too.
        disk.fill(0);
        thread::sleep(Duration::from_millis(500));
        assert!(!trouble(&pair.near).is_empty());
        disk.make_room();
        wait_for("room", || trouble(&pair.near).is_empty());
        pair.way.mend();
    });
}

#[test]
fn a_durable_stream_may_be_longer_than_a_disk() {
    let mut pair = Pair::start(Extra::default());
    let Some(_disk) = on_disk(&mut pair, 8) else {
        return;
    };
    pair.way.cut(false);
    comes_whole(&pair, || {
        thread::sleep(Duration::from_secs(2));
        pair.way.mend();
    });
}

#[test]
fn a_file_that_may_not_grow_ends_no_daemon() {
    let pair = Pair::start(Extra::default());
    let pid = Pid::from_raw(pair.far.pid() as i32).unwrap();
    let allow = |current| {
        let limit = prlimit(Some(pid), Resource::Fsize, Rlimit { current, maximum: None });
        limit.unwrap();
    };
    allow(Some(4 << 20));
    comes_whole(&pair, || {
        wait_for("a write that fails", || trouble(&pair.far).contains("File too large"));
        allow(None);
    });
}

#[test]
fn a_log_that_cannot_be_written_ends_no_daemon() {
    let mut pair = Pair::start(Extra::default());
    pair.far.kill();
    pair.far.log = "/dev/full".into();
    pair.far.start();
    pair.wait_until_connected();
    comes_whole(&pair, || pair.switch("udpdtn"));
}

#[test]
fn a_daemon_does_not_begin_on_a_full_disk_and_says_so_in_one_line() {
    let mut pair = Pair::start(Extra::default());
    let Some(disk) = on_disk(&mut pair, 8) else { return };
    pair.near.kill();
    disk.fill(0);
    let told = pair.near.ask(&["run"]);
    let said = String::from_utf8(told.stderr).unwrap();
    assert_eq!(told.status.code(), Some(2), "{said}");
    assert!(said.contains("incarnation: No space left on device"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    disk.make_room();
    pair.near.start();
    pair.wait_until_connected();
}
