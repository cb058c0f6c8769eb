//! Senders that follow a contact plan, over sockets of this machine.

use crate::lightlag::running::{Running, noise};
use crate::lightlag::{Place, failed};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// What listens where the sender of these transports sends.
fn listening(place: &Place, command: &[&str]) -> (Running, String) {
    Running::listening(place.command(command))
}

/// A plan of ION, each contact with its start, its end (in seconds after the start of the sender) and bytes per second.
fn plan(contacts: &[(&str, &str, u32)]) -> String {
    let line = |(start, end, rate): &(&str, &str, u32)| {
        format!("a contact +{start} +{end} 1 2 {rate}\na contact +{start} +{end} 2 1 {rate}\n")
    };
    contacts.iter().map(line).collect()
}

#[test]
fn nothing_leaves_outside_contacts() {
    let place = Place::new();
    place.write("file", noise(2_000_000)).write("plan", plan(&[("0.5", "1.5", 50_000), ("3", "4", 50_000)]));
    for over in ["udpdtn", "ltp-udp"] {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.set_read_timeout(Some(Duration::from_millis(100))).expect("it has one");
        let at = socket.local_addr().expect("it is bound").to_string();
        let began = Instant::now();
        let sender = Running::start(&place, &["transfer", "file", &at, "--plan", "plan", "--over", over]);
        let (mut came, mut datagram) = (Vec::new(), [0; 2000]);
        while began.elapsed() < Duration::from_secs(5) {
            came.extend(socket.recv(&mut datagram).is_ok().then(|| began.elapsed().as_secs_f64()));
        }
        drop(sender);
        let pause = came.iter().position(|at| *at > 2.5).expect("the second contact is used");
        let (first, second) = came.split_at(pause);
        // The process needs some time until the plan begins.
        assert!(first[0] >= 0.5 && second[0] >= 3.0, "{over}: {came:?}");
        assert!(first[first.len() - 1] < 2.3 && second[second.len() - 1] < 4.8, "{over}: {came:?}");
        // 50 kB, and what is sent in bursts.
        assert!((10..60).contains(&first.len()), "{over}: {} datagrams", first.len());
    }
}

#[test]
fn a_file_and_bundles_arrive_in_several_contacts() {
    let place = Place::new();
    // Two seconds at its rate, of which the first contact has one.
    place.write("file", noise(250_000)).write("plan", plan(&[("0", "1", 125_000), ("2.5", "50", 125_000)]));
    for over in ["udpdtn", "ltp-udp"] {
        let into = format!("into-{over}");
        let listen = ["transfer", "--listen", "127.0.0.1:0", "--over", over, "--folder", &into];
        let (_listener, at) = listening(&place, &listen);
        let began = Instant::now();
        place.good(&["transfer", "file", &at, "--plan", "plan", "--plan-nodes", "1,2", "--over", over]);
        let took = began.elapsed();
        assert!(took > Duration::from_millis(3000), "{over}: {took:?}");
        assert!(place.read(&format!("{into}/file")) == noise(250_000), "{over}");
    }
    let (_listener, at) =
        listening(&place, &["bundles", "listen", "127.0.0.1:0", "--over", "ltp-udp", "--opaque"]);
    let began = Instant::now();
    place.good(&["bundles", "send", "file", "--to", &at, "--over", "ltp-udp", "--plan", "plan"]);
    assert!(began.elapsed() > Duration::from_millis(3000));
}

#[test]
fn a_plan_that_changes_is_read_again_and_a_damaged_one_is_not_followed() {
    let place = Place::new();
    place.write("file", noise(30_000)).write("plan", plan(&[("1000", "2000", 1_000_000)]));
    let (_listener, at) = listening(&place, &["transfer", "--listen", "127.0.0.1:0", "--folder", "into"]);
    let sender = Running::start(&place, &["transfer", "file", &at, "--plan", "plan"]);
    std::thread::sleep(Duration::from_millis(1500));
    place.write("plan", "a contact now\n");
    std::thread::sleep(Duration::from_millis(3500));
    assert!(!place.path("into/file").exists(), "there was no contact");
    place.write("plan", plan(&[("0", "100", 1_000_000)]));
    let (code, _, said) = sender.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(place.read("into/file") == noise(30_000));
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("lightlag: --plan: plan:1: ") && said.contains("read before is kept"), "{said}");
}

#[test]
fn the_time_between_contacts_is_no_silence_and_that_after_the_last_is() {
    let place = Place::new();
    place.write("file", noise(1000)).write("plan", plan(&[("0", "0.4", 10_000), ("2", "2.4", 10_000)]));
    let began = Instant::now();
    let nobody = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let at = nobody.local_addr().expect("it is bound").to_string();
    let words = ["transfer", "file", &at, "--plan", "plan", "--give-up", "1 s"];
    let done = place.run(&words);
    assert!(began.elapsed() > Duration::from_millis(2300), "{:?}", began.elapsed());
    failed(&done, "did not answer for 1 s");
    let long = place.run(&[&words[..6], &["3 s"]].concat());
    let said = String::from_utf8_lossy(&long.stderr);
    assert!(said.contains("its last contact is over") && said.contains("did not answer for 3 s"), "{said}");
}

#[test]
fn plans_in_the_formats_of_scenarios_are_followed() {
    let place = Place::new();
    let scenario = crate::lightlag::RELAY.replace("kind = \"table\"\nfile = \"contacts.txt\"", "");
    let rows = "rows = [{ a = \"a\", b = \"b\", start = \"0 s\", end = \"300 s\", rate = \"8 Mbit/s\" }]\n\n[traffic";
    place.write("file", noise(20_000)).write("plan.toml", scenario.replacen("[traffic", rows, 1));
    place.write("plan.csv", "start_s,end_s,a,b,rate_bps\n0,300,a,b,8000000\n0,300,a,c,8000000\n");
    for (plan, nodes) in [("plan.toml", &[][..]), ("plan.csv", &["--plan-nodes", "b,a"])] {
        let into = format!("into-{plan}");
        let (_listener, at) = listening(&place, &["transfer", "--listen", "127.0.0.1:0", "--folder", &into]);
        place.good(&[&["transfer", "file", &at, "--plan", plan][..], nodes].concat());
        assert!(place.read(&format!("{into}/file")) == noise(20_000));
    }
}

#[test]
fn plans_that_cannot_be_followed_are_refused_with_one_line() {
    let place = Place::new();
    place.write("file", "x").write("plan", plan(&[("0", "100", 1000)])).write("bare", "1 2 0 100\n");
    place.write("past", "a contact 1999/01/01-00:00:00 2000/01/01-00:00:00 1 2 1000\n");
    let refused = |more: &[&str], words: &str| {
        let line = place.refused(&[&["transfer", "file", "127.0.0.1:9"], more].concat());
        assert!(line.contains(words), "{more:?}: {line}");
    };
    refused(&["--plan", "none"], "none: cannot read `none`");
    refused(&["--plan", "plan", "--plan-nodes", "1,3"], "no contact from `1` to `3`; name two of 1, 2");
    refused(&["--plan", "plan", "--plan-nodes", "1"], "--plan-nodes: write FROM,TO");
    refused(&["--plan", "bare"], "bare:1: the contact has no rate");
    refused(&["--plan", "past"], "past: all its contacts are over");
    refused(&["--plan", "plan", "--rate", "1 Mbit/s"], "cannot be used with");
    refused(&["--plan-nodes", "1,2"], "--plan <FILE>");
    for over in ["tcp", "dccp", "ltp-dccp"] {
        let words = format!("--plan is not supported with --over {over}; leave it out");
        refused(&["--plan", "plan", "--over", over], &words);
    }
    let bundles = ["bundles", "send", "file", "--to", "127.0.0.1:9", "--over", "udp", "--plan", "plan"];
    assert!(place.refused(&bundles).contains("--plan is not supported with --over udp"));
}
