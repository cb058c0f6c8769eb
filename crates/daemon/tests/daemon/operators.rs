//! What an operator does while a daemon runs: reload, health, metrics, and its unit of systemd.

use super::access::change;
use super::pair::{Extra, Pair, free_port, local, socks, wait_for};
use super::skip::skip;
use super::streams::{Target, exchange};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;

fn get(page: SocketAddr, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(page).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

/// The table `[[peer]]` at the end of the far daemon's settings.
fn peer_of(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("lightlagd.toml")).unwrap();
    text[text.find("[[peer]]").unwrap()..].to_owned()
}

#[test]
fn a_peer_that_is_removed_is_refused_at_once_by_every_stack_and_served_when_it_is_back() {
    for stack in ["tcp", "udpdtn"] {
        let pair = Pair::start(Extra::default());
        pair.switch(stack);
        let target = Target::start(true);
        let mut held = pair.connect(target.port, "").unwrap();
        held.write_all(b"x").unwrap();
        let peer = peer_of(&pair.far.folder);
        change(&pair.far.folder, &peer, "");
        let told = pair.far.ask(&["reload"]);
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        assert!(pair.far.status()["peers"].as_array().unwrap().is_empty());
        assert!(pair.far.log().contains("peer removed"));
        wait_for("the near side's loss of TCP", || pair.near.status()["peers"][0]["tcp"].is_null());
        let came = || pair.near.status()["peers"][0]["udpdtn"]["came"].as_u64().unwrap();
        let before = came();
        assert!(
            !pair.connect(target.port, "").is_ok_and(|stream| {
                stream.set_read_timeout(Some(std::time::Duration::from_secs(1))).unwrap();
                let mut stream = stream;
                stream.write_all(&[0; 16]).unwrap();
                stream.read(&mut [0; 1]).is_ok_and(|length| length > 0)
            }),
            "{stack}: nothing is carried any more"
        );
        assert_eq!(came(), before, "{stack}: nothing is answered");
        let text = fs::read_to_string(pair.far.folder.join("lightlagd.toml")).unwrap();
        fs::write(pair.far.folder.join("lightlagd.toml"), text + &peer).unwrap();
        assert!(pair.far.ask(&["reload"]).status.success());
        pair.wait_until_connected();
        let (sent, back) = exchange(pair.connect(target.port, "").unwrap(), 5, 100_000);
        sent.unwrap();
        assert!(back.is_whole, "{stack}");
    }
}

#[test]
fn applications_at_both_ends_see_a_reset_when_a_peer_is_removed() {
    for (stack, by_near) in [("tcp", false), ("tcp", true), ("udpdtn", false), ("udpdtn", true)] {
        let pair = Pair::start(Extra::default());
        pair.switch(stack);
        let listener = std::net::TcpListener::bind(local(0)).unwrap();
        let mut here = pair.connect(listener.local_addr().unwrap().port(), "").unwrap();
        let (mut there, _) = listener.accept().unwrap();
        here.write_all(b"x").unwrap();
        there.read_exact(&mut [0; 1]).unwrap();
        let folder = if by_near { &pair.near.folder } else { &pair.far.folder };
        if by_near {
            // The settings that follow its table stay.
            let text = fs::read_to_string(folder.join("lightlagd.toml")).unwrap();
            let end = text.find("[listen]").unwrap();
            change(folder, &text[text.find("[[peer]]").unwrap()..end], "");
        } else {
            change(folder, &peer_of(folder), "");
        }
        let daemon = if by_near { &pair.near } else { &pair.far };
        let told = daemon.ask(&["reload"]);
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        for (end, stream) in [("near", &mut here), ("far", &mut there)] {
            stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
            let why = stream.read(&mut [0; 1]).unwrap_err();
            assert_eq!(why.kind(), std::io::ErrorKind::ConnectionReset, "{stack}, {by_near}: {end}: {why}");
        }
    }
}

#[test]
fn doors_peers_and_contacts_change_while_connections_stay() {
    let [first, second] = std::array::from_fn(|_| local(free_port()));
    let near = format!("[[socks]]\nlisten = \"{first}\"\n");
    let pair = Pair::start(Extra { near: &near, ..Extra::default() });
    let target = Target::start(true);
    let held = socks(first, "127.0.0.1", target.port, "").unwrap();
    let stranger = tempfile::tempdir().unwrap();
    let key = super::pair::keygen(stranger.path());
    change(
        &pair.near.folder,
        &format!("listen = \"{first}\""),
        &format!("listen = \"{second}\"\npriority = 3"),
    );
    let added = format!("[[peer]]\nname = \"other\"\nkey = \"{key}\"\nudpdtn = \"127.0.0.1:9\"\n[listen]");
    change(&pair.near.folder, "[listen]", &added);
    let planned = "from = \"2020-01-01T00:00:00Z\"\nto = \"2120-01-01T00:00:00Z\"\ndelay = \"2min\"\n";
    change(&pair.near.folder, "[listen]", &format!("[[peer.contact]]\n{planned}[listen]"));
    let told = pair.near.ask(&["reload"]);
    let said = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.status.success() && !said.contains("restart"), "{said}");
    assert!(TcpStream::connect(first).is_err(), "this door is closed");
    assert!(socks(second, "127.0.0.1", target.port, "").is_ok());
    assert_eq!(pair.near.status()["peers"].as_array().unwrap().len(), 2);
    let (sent, back) = exchange(held, 9, 1_000_000);
    sent.unwrap();
    assert!(back.is_whole, "a connection of a closed door continues");
}

#[test]
fn a_reload_of_wrong_settings_changes_nothing_and_says_why() {
    let pair = Pair::start(Extra::default());
    let target = Target::start(true);
    let held = pair.connect(target.port, "").unwrap();
    let taken = std::net::TcpListener::bind(local(0)).unwrap();
    let right = fs::read_to_string(pair.near.folder.join("lightlagd.toml")).unwrap();
    let before = pair.near.status();
    for (wrong, said) in [
        (format!("[[socks]]\nlisten = \"{}\"\n", taken.local_addr().unwrap()), "in use"),
        ("soks = 1\n".to_owned(), "unknown field"),
        ("[[socks]]\nlisten = \"0.0.0.0:1\"\n".to_owned(), "set password_file"),
    ] {
        // Without its peer, too: it stays.
        fs::write(pair.near.folder.join("lightlagd.toml"), &wrong).unwrap();
        let told = pair.near.ask(&["reload"]);
        let line = String::from_utf8_lossy(&told.stderr).into_owned();
        // The settings are what is asked of: a control socket that they do not name is in `state`.
        assert!(!told.status.success() && line.contains(said), "{wrong}: {line}");
        assert_eq!(pair.near.status()["peers"][0]["name"], before["peers"][0]["name"]);
    }
    fs::write(pair.near.folder.join("lightlagd.toml"), right).unwrap();
    assert!(pair.connect(target.port, "").is_ok(), "its doors and peers are there");
    let (sent, back) = exchange(held, 9, 100_000);
    sent.unwrap();
    assert!(back.is_whole);
}

#[test]
fn health_is_told_by_exit_code_and_over_http() {
    let page = local(free_port());
    let mut pair = Pair::start(Extra { near: "", far: &format!("page = \"{page}\""), ..Extra::default() });
    let code = |daemon: &super::pair::Daemon, words: &[&str]| daemon.ask(words).status.code();
    assert_eq!(code(&pair.far, &["health"]), Some(0));
    assert_eq!(code(&pair.far, &["health", "--ready"]), Some(0));
    for path in ["/healthz", "/readyz"] {
        assert!(get(page, path, &page.to_string()).starts_with("HTTP/1.1 200"), "{path}");
    }
    pair.near.kill();
    assert_eq!(code(&pair.near, &["health"]), Some(1), "it does not run");
    pair.far.kill();
    pair.far.start();
    assert_eq!((code(&pair.far, &["health"]), code(&pair.far, &["health", "--ready"])), (Some(0), Some(1)));
    assert!(get(page, "/readyz", &page.to_string()).starts_with("HTTP/1.1 503"));
    assert!(get(page, "/healthz", &page.to_string()).starts_with("HTTP/1.1 200"));
}

#[test]
fn the_page_is_read_by_the_name_of_its_service_through_the_daemons() {
    let page = local(free_port());
    let far = format!("page = \"{page}\"\n[services]\nweb = \"{page}\"\n");
    let pair = Pair::start(Extra { far: &far, ..Extra::default() });
    let mut stream = socks(pair.socks, "web.lightlag", 80, "").unwrap();
    write!(stream, "GET /status HTTP/1.1\r\nhost: web.lightlag\r\nconnection: close\r\n\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    for host in ["lightlag", "evillightlag", "web.lightlag.evil.example"] {
        assert!(get(page, "/status", host).starts_with("HTTP/1.1 403"), "{host}");
    }
}

/// The rules of `promtool check metrics`, those of OpenMetrics and of the naming guide of Prometheus.
#[test]
fn metrics_have_conventional_names_units_and_help_and_count_what_happens() {
    let page = local(free_port());
    let pair = Pair::start(Extra { far: &format!("page = \"{page}\""), ..Extra::default() });
    let target = Target::start(true);
    let (sent, back) = exchange(pair.connect(target.port, "").unwrap(), 5, 100_000);
    sent.unwrap();
    assert!(back.is_whole && target.next().is_whole);
    assert!(pair.connect(target.port, "peer=far").is_ok() && socks(pair.socks, "10.9.8.7", 1, "").is_err());
    let answer = get(page, "/metrics", &page.to_string());
    let (_, text) = answer.split_once("\r\n\r\n").unwrap();
    let (mut kinds, mut helps) = (BTreeMap::new(), BTreeMap::new());
    let mut values: BTreeMap<String, f64> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "TYPE", name, kind] => drop(kinds.insert(name.to_owned(), kind.to_owned())),
            ["#", "HELP", name, help] => drop(helps.insert(name.to_owned(), help.to_owned())),
            ["#", ..] => {}
            _ if line.starts_with("lightlagd_") => {
                let (series, value) = line.rsplit_once(' ').unwrap();
                values.insert(series.to_owned(), value.parse().unwrap());
            }
            _ => {}
        }
    }
    assert!(kinds.len() > 15, "{text}");
    for (name, kind) in &kinds {
        assert!(helps.get(name).is_some_and(|help| help.len() > 5), "{name} has no help");
        assert!(name.starts_with("lightlagd_") && !name.contains("total_"), "{name}");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
        for unit in ["_ms", "_milliseconds", "_kilobytes", "_kb", "_minutes", "_percent", "_count", "_info"] {
            assert!(!name.ends_with(unit), "{name}: not a base unit");
        }
        let series =
            values.keys().filter(|series| series.split('{').next() == Some(&format!("{name}_total")));
        assert_eq!(kind == "counter", series.count() > 0, "{name}: counters, and only they, end in _total");
    }
    let value = |series: &str| values.get(series).copied().unwrap_or_else(|| panic!("{series}: {text}"));
    let bytes = |what: &str| {
        ["tcp", "udpdtn"]
            .map(|stack| value(&format!("lightlagd_{what}_bytes_total{{peer=\"near\",stack=\"{stack}\"}}")))
    };
    assert!(
        bytes("received").iter().sum::<f64>() >= 100_000.0 && bytes("sent").iter().sum::<f64>() >= 100_000.0,
        "{text}"
    );
    assert!(value("lightlagd_accepted_connections_total{peer=\"near\"}") >= 2.0);
    assert!(value("lightlagd_refused_connections_total{peer=\"near\"}") >= 1.0);
}

#[test]
fn the_unit_of_systemd_is_right_and_exposes_little() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(root.join("systemd/lightlagd.service")).unwrap();
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::copy(super::pair::PROGRAM, bin.join("lightlagd")).unwrap();
    let unit = folder.path().join("lightlagd.service");
    fs::write(&unit, text.replace("@PREFIX@", folder.path().to_str().unwrap())).unwrap();
    for wanted in ["Type=notify", "WatchdogSec=", "MemoryMax="] {
        assert!(text.contains(wanted), "{wanted}");
    }
    let users = fs::read_to_string(root.join("systemd/lightlag.sysusers.conf")).unwrap();
    assert!(users.lines().any(|line| line.starts_with("u lightlag ")), "{users}");
    let Ok(version) = Command::new("systemd-analyze").arg("--version").output() else {
        return skip("systemd-analyze is not installed");
    };
    assert!(version.status.success());
    let run = |words: &[&str]| {
        let told = Command::new("systemd-analyze")
            .args(words)
            .arg(&unit)
            .env("SYSTEMD_LOG_LEVEL", "warning")
            .output();
        let told = told.unwrap();
        let said =
            [told.stdout, told.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
        (told.status.success(), said)
    };
    let (is_right, said) = run(&["verify", "--man=no"]);
    let of_it: Vec<&str> = said.lines().filter(|line| line.contains("lightlagd.service")).collect();
    assert!(is_right && of_it.is_empty(), "{said}");
    // Its exposure is at most 2.0 of 10.
    let (is_safe, said) = run(&["security", "--offline=yes", "--threshold=20", "--no-pager"]);
    assert!(is_safe, "{said}");
}
