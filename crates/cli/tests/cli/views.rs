//! `lightlag view`: the page with runs in it, as a file and served.

use crate::lightlag::running::Running;
use crate::lightlag::{Place, RELAY, SETTINGS, WALKERS, repository};
use base64ct::{Base64, Encoding};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

/// Too short for a bundle.
const SHORT: &str = "start_s,end_s,a,b,rate_bps\n60,61,a,b,250000\n";
const CONTACTS: &str = "start_s,end_s,a,b,rate_bps\n60,180,a,b,250000\n240,500,a,b,250000\n";

/// The sources in a page, as a browser reads them.
fn sources(page: &str) -> Vec<Value> {
    let starts = page.split("<script type=\"application/json\" class=\"source\">").skip(1);
    starts
        .map(|rest| {
            serde_json::from_str(rest.split("</script").next().expect("it has a first part"))
                .expect("it is JSON")
        })
        .collect()
}

fn shown(place: &Place, words: &[&str]) -> Vec<Value> {
    assert_eq!(place.good(&[&["view", "--out", "page/v.html"], words].concat()), "page/v.html\n");
    sources(&String::from_utf8(place.read("page/v.html")).expect("a page is text"))
}

fn unpacked(text: &Value) -> Vec<u8> {
    let packed = Base64::decode_vec(text.as_str().expect("it is text")).expect("it is Base64");
    let mut unpack = std::process::Command::new("gunzip")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("gunzip");
    unpack.stdin.take().expect("it has one").write_all(&packed).expect("it reads");
    unpack.wait_with_output().expect("it ends").stdout
}

/// The figures of a scenario of a page, run in a folder that has nothing but what is in the page.
fn figures(source: &Value) -> Value {
    let place = Place::new();
    place.write("scenario.toml", source["text"].as_str().expect("text"));
    for (name, file) in source["files"].as_object().expect("files") {
        std::fs::create_dir_all(place.path(name).parent().expect("a folder")).expect("it can be made");
        place.write(name, unpacked(file));
    }
    let sets = source["set"].as_object().expect("settings").iter();
    let sets: Vec<String> =
        sets.map(|(key, value)| format!("--set={key}={}", value.as_str().expect("text"))).collect();
    let seed = source["seed"].as_u64().map(|seed| format!("--seed={seed}"));
    let words = ["run", "scenario.toml", "--json"]
        .into_iter()
        .chain(sets.iter().map(String::as_str))
        .chain(seed.as_deref());
    without_warnings(&place.good(&words.collect::<Vec<_>>()))
}

fn without_warnings(text: &str) -> Value {
    let mut json: Value = serde_json::from_str(text).expect("it is JSON");
    json.as_object_mut().expect("an object").remove("warnings");
    json
}

fn swept(text: &str) -> Place {
    let place = Place::new();
    place.write("s.toml", text);
    place.good(&["sweep", "s.toml", "--out", "done"]);
    place
}

#[test]
fn a_scenario_is_shown_with_its_files_and_runs_from_the_page_alone() {
    let place = Place::new();
    std::fs::create_dir(place.path("deep")).expect("it can be made");
    place.write("deep/relay.toml", RELAY.replace("contacts.txt", "../plan.txt")).write("plan.txt", CONTACTS);
    let all = shown(&place, &["deep/relay.toml", "--seed", "3", "--set", "buffer=300 kB"]);
    let [source] = &all[..] else { panic!("{all:?}") };
    assert_eq!(
        (&source["kind"], &source["seed"], &source["title"]),
        (&"scenario".into(), &3.into(), &"relay, seed 3".into())
    );
    assert_eq!(unpacked(&source["files"]["../plan.txt"]), CONTACTS.as_bytes());
    assert_eq!(source["set"], serde_json::json!({ "buffer": "300 kB" }));
    let wanted = place.good(&["run", "deep/relay.toml", "--seed", "3", "--set", "buffer=300 kB", "--json"]);
    let again = Place::new();
    std::fs::create_dir(again.path("deep")).expect("it can be made");
    again.write("plan.txt", CONTACTS).write("deep/scenario.toml", source["text"].as_str().expect("text"));
    let made = again.good(&["run", "deep/scenario.toml", "--seed", "3", "--set", "buffer=300 kB", "--json"]);
    assert_eq!(without_warnings(&made), without_warnings(&wanted));
}

#[test]
fn none_and_copy_value_of_a_sweep_are_shown_side_by_side_where_copy_value_delivers_most() {
    let text = WALKERS.replace("\"none\"", "[\"credit\", \"none\", \"copy_value\"]");
    let place = swept(
        &text
            .replace("\"epidemic\"", "[\"direct\", { name = \"spray_and_wait\", copies = 6 }, \"epidemic\"]"),
    );
    let all = shown(&place, &["done"]);
    let [none, copy_value] = &all[..] else { panic!("{all:?}") };
    assert_eq!(
        (&none["set"]["mechanism"], &copy_value["set"]["mechanism"]),
        (&"none".into(), &"copy_value".into())
    );
    assert_eq!(none["set"]["router"], copy_value["set"]["router"]);
    assert_eq!((&none["seed"], &copy_value["seed"]), (&1.into(), &1.into()));
    // It is the router under which it delivers most on average.
    let summary: Value = serde_json::from_slice(&place.read("done/summary.json")).expect("JSON");
    let points = summary["points"].as_array().expect("points");
    let of = |point: &&Value| point["values"]["mechanism"] == "copy_value";
    let ratio = |point: &&Value| {
        point["metrics"]["delivery_prob"]["mean"].as_f64().unwrap_or_else(|| panic!("{point}"))
    };
    let best = points.iter().filter(of).max_by(|a, b| ratio(a).total_cmp(&ratio(b))).expect("there is one");
    let router = best["values"]["router"].as_str().expect("text").split(' ').next().unwrap_or_default();
    assert!(
        copy_value["set"]["router"].as_str().is_some_and(|set| set.contains(router)),
        "{best} {copy_value}"
    );
    // What the page runs is the run of the sweep.
    let mechanism = |name: &str| {
        points.iter().find(|point| {
            point["values"]["mechanism"] == name && point["values"]["router"] == best["values"]["router"]
        })
    };
    let point =
        points.iter().position(|point| Some(point) == mechanism("none")).expect("it is there").to_string();
    let wanted = place.good(&["run", "s.toml", "--point", &point, "--json"]);
    assert_eq!(figures(none)["delivery_prob"], without_warnings(&wanted)["delivery_prob"]);
    assert!(none["title"].as_str().is_some_and(|title| title.contains("mechanism none")), "{none}");
}

#[test]
fn of_other_sweeps_the_best_stands_beside_a_baseline_and_a_point_alone() {
    let place = swept(&WALKERS.replace("\"epidemic\"", "[\"direct\", \"epidemic\"]"));
    let all = shown(&place, &["done"]);
    let routers: Vec<&Value> = all.iter().map(|source| &source["set"]["router"]).collect();
    assert_eq!(routers, ["direct", "epidemic"]);
    let one = shown(&place, &["done", "--point", "0", "--seed", "2"]);
    assert_eq!((one.len(), &one[0]["set"]["router"], &one[0]["seed"]), (1, &"direct".into(), &2.into()));
    let two = shown(&place, &["done", "s.toml"]);
    assert_eq!(two.len(), 2, "each gives one");
    assert_eq!(
        place.refused(&["view", "done", "--point", "7", "--no-open"]),
        "--point: no point has number 7; choose one of 0 to 1"
    );
}

#[test]
fn a_sweep_finds_its_files_wherever_the_command_is_typed_and_what_was_set_counts() {
    let place = Place::new();
    place.write("relay.toml", RELAY).write("contacts.txt", CONTACTS).write("other.txt", SHORT);
    place.good(&["sweep", "relay.toml", "--set", "contacts.plan.file=other.txt", "--out", "done"]);
    let elsewhere = Place::new();
    let folder = place.path("done").display().to_string();
    let all = shown(&elsewhere, &[&folder]);
    assert_eq!(all[0]["set"]["contacts.plan.file"], "other.txt");
    assert_eq!(unpacked(&all[0]["files"]["other.txt"]), SHORT.as_bytes());
    assert_eq!(figures(&all[0])["delivered"], 0);
}

#[test]
fn a_run_is_shown_by_its_folder_as_it_was_run() {
    let place = Place::new();
    place.write("s.toml", WALKERS.replace("\"none\"", "[\"none\", \"credit\"]"));
    let wanted = place.good(&[
        "run",
        "s.toml",
        "--point",
        "1",
        "--seed",
        "5",
        "--json",
        "--out",
        "one",
        "--set",
        "nodes.n.count=8",
    ]);
    let all = shown(&place, &["one"]);
    assert_eq!(all.len(), 1);
    assert_eq!(figures(&all[0]), without_warnings(&wanted));
}

#[test]
fn settings_of_the_one_are_shown_as_the_scenario_that_they_are() {
    let place = Place::new();
    place.write("small.txt", SETTINGS);
    let all = shown(&place, &["small.txt", "--no-defaults"]);
    assert!(all[0]["text"].as_str().is_some_and(|text| text.contains("[nodes.")), "{}", all[0]);
    let wanted = place.good(&["run", "small.txt", "--no-defaults", "--no-reports", "--json"]);
    assert_eq!(figures(&all[0])["delivered"], without_warnings(&wanted)["delivered"]);
}

#[test]
fn hostile_names_stay_text() {
    let place = Place::new();
    let hostile = r#"</ScRiPt><script>alert(1)</script><!-- <img src=x onerror=alert(1)>"#;
    place.write(
        "s.toml",
        format!("# {hostile}\n{}", WALKERS.replace("prefix = \"M\"", &format!("prefix = '{hostile}'"))),
    );
    let all = shown(&place, &["s.toml"]);
    assert!(all[0]["text"].as_str().is_some_and(|text| text.starts_with(&format!("# {hostile}\n"))));
    let page = String::from_utf8(place.read("page/v.html")).expect("text");
    assert!(!page.contains("alert(1)</") && !page.contains("<img"), "{page}");
}

#[test]
fn a_trace_is_in_the_page_or_beside_it() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    place.good(&["run", "s.toml", "--trace", "t/one.jsonl", "--trace", "t/one.parquet"]);
    let all = shown(&place, &["t/one.jsonl", "t/one.parquet"]);
    assert_eq!(
        (&all[0]["kind"], &all[0]["format"], &all[0]["title"]),
        (&"trace".into(), &"jsonl".into(), &"one".into())
    );
    assert_eq!(unpacked(&all[0]["data"]), place.read("t/one.jsonl"));
    let parquet = Base64::decode_vec(all[1]["data"].as_str().expect("text")).expect("Base64");
    assert_eq!(parquet, place.read("t/one.parquet"));
    let served = Served::start(&place, &["t/one.parquet"]);
    let list: Value = serde_json::from_slice(&served.get("sources.json", &[]).body).expect("JSON");
    let url = list[0]["url"].as_str().expect("it is beside the page");
    assert_eq!(served.get(url, &[]).body, place.read("t/one.parquet"));
}

/// A page that is served.
struct Served {
    _running: Running,
    port: u16,
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Served {
    fn start(place: &Place, words: &[&str]) -> Self {
        let mut running = Running::start(place, &[&["view", "--no-open"], words].concat());
        let mut line = String::new();
        BufReader::new(running.0.stdout.take().expect("it prints"))
            .read_line(&mut line)
            .expect("it prints a line");
        let port = line.trim().strip_prefix("http://127.0.0.1:").and_then(|rest| rest.strip_suffix('/'));
        let port = port.and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("{line}"));
        Self { _running: running, port }
    }
    fn get(&self, name: &str, headers: &[&str]) -> Answer {
        let host = format!("Host: 127.0.0.1:{}", self.port);
        let headers: String =
            [&[&*host], headers].concat().iter().map(|line| format!("{line}\r\n")).collect();
        self.send(&format!("GET /{name} HTTP/1.1\r\n{headers}\r\n"))
    }
    fn send(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("it has a head");
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("it has a status");
        Answer { status, head, body: answer[end + 4..].to_vec() }
    }
}

#[test]
fn the_served_page_has_its_policy_and_nothing_but_what_was_named() {
    let place = Place::new();
    place.write("s.toml", WALKERS).write("secret.txt", "secret");
    place.good(&["run", "s.toml", "--trace", "one.jsonl"]);
    let served = Served::start(&place, &["one.jsonl", "s.toml"]);
    let page = served.get("", &[]);
    assert_eq!(page.status, 200);
    assert!(
        page.head.contains("Content-Security-Policy: default-src 'none'; script-src 'sha256-"),
        "{}",
        page.head
    );
    assert!(String::from_utf8_lossy(&page.body).starts_with("<!doctype html>"));
    let packed = served.get("", &["Accept-Encoding: br, gzip"]);
    assert!(packed.head.contains("Content-Encoding: gzip") && packed.body.len() < page.body.len());
    let list: Value = serde_json::from_slice(&served.get("sources.json?x", &[]).body).expect("JSON");
    assert_eq!((list.as_array().map(Vec::len), &list[1]["kind"]), (Some(2), &"scenario".into()));
    for name in [
        "secret.txt",
        "one.jsonl",
        "../secret.txt",
        "trace-0.jsonl/../secret.txt",
        "/etc/passwd",
        "%2e%2e/secret.txt",
        "trace-1.jsonl",
    ] {
        assert_eq!(served.get(name, &[]).status, 404, "{name}");
    }
    let port = served.port;
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", ""] {
        let asked = served.send(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!((asked.status, asked.body), (403, b"ask by 127.0.0.1 or localhost\n".to_vec()), "{host}");
    }
    assert_eq!(served.send("GET / HTTP/1.0\r\n\r\n").status, 403, "a host is needed");
    let here = format!("Host: localhost:{port}\r\n");
    assert_eq!(served.send(&format!("GET / HTTP/1.1\r\n{here}{here}\r\n")).status, 403, "and one only");
    assert_eq!(served.send(&format!("POST / HTTP/1.1\r\n{here}\r\n")).status, 405);
    let head = served.send(&format!("HEAD / HTTP/1.1\r\n{here}\r\n"));
    assert!(head.status == 200 && head.body.is_empty());
    for wrong in
        ["hello\r\n\r\n", "\0\0\0\r\n\r\n", &format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(2000))]
    {
        assert_eq!(served.send(wrong).status, 400, "{}", &wrong[..8]);
    }
}

#[test]
fn a_browser_can_ask_for_parts_of_a_trace() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    place.good(&["run", "s.toml", "--trace", "one.parquet"]);
    let served = Served::start(&place, &["one.parquet"]);
    let whole = place.read("one.parquet");
    let part = |range: &str| served.get("trace-0.parquet", &[&format!("Range: bytes={range}")]);
    let end = part("-8");
    assert_eq!((end.status, &end.body[..]), (206, &whole[whole.len() - 8..]));
    assert!(
        end.head.contains(&format!(
            "Content-Range: bytes {}-{}/{}",
            whole.len() - 8,
            whole.len() - 1,
            whole.len()
        )),
        "{}",
        end.head
    );
    assert_eq!(part("0-3").body, b"PAR1");
    assert_eq!(part(&format!("{}-", whole.len())).status, 416);
    assert_eq!(part("0-1,4-5").body, whole, "several parts are the whole");
}

#[test]
fn what_cannot_be_shown_is_refused_in_a_line() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).expect("it can be made");
    place
        .write("s.toml", WALKERS)
        .write("t.jsonl", "{\"kind\":7}\n")
        .write("bad.toml", "duration = 1\n[nodes.n]\ncount = 1\n");
    place.write("t.parquet", "PAR1").write("notes.txt", "hello\n").write("s.json", "{}");
    for (words, line) in [
        (
            &["missing"][..],
            "missing: no such file or folder; name a folder of results, a scenario, a trace, or http://ADDRESS of a lightlagd",
        ),
        (
            &["empty"],
            "empty: the folder has no trace (.parquet or .jsonl); name the file that `lightlag run --trace` wrote",
        ),
        (
            &["notes.txt"],
            "notes.txt: it is neither a scenario in TOML nor The ONE's settings, as no line sets a key",
        ),
        (&["t.jsonl"], "t.jsonl: "),
        (&["t.parquet"], "t.parquet: "),
        (
            &["s.toml", "--seed", "18446744073709551615"],
            "s.toml: the seed 18446744073709551615 is larger than 2^53 - 1",
        ),
        (&["s.toml", "--port", "x"], "invalid value 'x' for '--port <PORT>'"),
        (&["s.toml", "s.toml", "s.toml"], "unexpected"),
        (&["http://127.0.0.1:1"], "http://127.0.0.1:1/: it does not answer: "),
        (&["http://"], "http:///: it is not an address; name the address"),
        (&["http://user@127.0.0.1:1/"], "http://user@127.0.0.1:1/: it is not an address"),
        (&["http://127.0.0.1:1", "--out", "x.html"], "--out: a lightlagd serves its own page"),
        (&["s.toml", "--out", "empty"], "cannot write empty: "),
    ] {
        let open: &[&str] = if words.contains(&"--out") { &[] } else { &["--no-open"] };
        let said = place.refused(&[&["view"], open, words].concat());
        assert!(said.starts_with(line), "{words:?}: {said}");
    }
    let said = place.all_refused(&["view", "bad.toml"]);
    assert!(said.contains("bad.toml:1"), "{said}");
    let folder = repository("scenarios").display().to_string();
    assert!(place.refused(&["view", &folder]).contains("has no trace"));
    // Something else answers.
    let served = Served::start(&place, &["s.toml"]);
    let url = format!("http://127.0.0.1:{}", served.port);
    assert!(place.refused(&["view", &url]).contains("the answer is not from a lightlagd; name the address"));
    let taken = place.refused(&["view", "s.toml", "--port", &served.port.to_string()]);
    assert!(taken.starts_with(&format!("--port: cannot listen on 127.0.0.1:{}", served.port)), "{taken}");
}
