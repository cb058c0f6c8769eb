//! A scenario and a seed give the same digest natively and as WebAssembly, where `usize` has 32 bits.

use crate::{bindings, skip};
use lightlag_protocols::controllers;
use lightlag_protocols::dtn::{mechanisms, routers};
use lightlag_scenario::GivenFiles;
use lightlag_web::Reading;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A run: one experiment of a scenario.
#[derive(Clone, Default)]
pub struct Job {
    pub name: String,
    text: String,
    files: BTreeMap<String, String>,
    point: usize,
    set: Vec<(String, String)>,
    /// Played in steps of some seconds too.
    step: Option<f64>,
}

impl Job {
    fn reading(&self) -> Reading {
        let files = self.files.iter().map(|(name, text)| (name.clone(), text.clone().into_bytes()));
        Reading {
            files: GivenFiles::new(files),
            set: self.set.clone(),
            ..Reading::new("scenario.toml", &self.text)
        }
    }
    fn json(&self) -> Value {
        let set: BTreeMap<_, _> = self.set.iter().cloned().collect();
        json!({ "name": self.name, "text": self.text, "files": self.files, "point": self.point, "set": set, "step": self.step })
    }
    pub fn native(&self) -> Value {
        let made = self
            .reading()
            .run(None, self.point, true)
            .unwrap_or_else(|error| panic!("{}: {}", self.name, error.text()));
        serde_json::from_str(&made).expect("it is JSON")
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Names as a list of TOML.
fn list(names: impl Iterator<Item = &'static str>) -> String {
    format!("[{}]", names.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", "))
}

/// Every experiment of a sweep; every third in steps too, which hit no round time.
fn of_sweep(name: &str, sweep: &Job, step_s: f64) -> Vec<Job> {
    let points = sweep.reading().points().unwrap_or_else(|error| panic!("{name}: {}", error.text()));
    let points: Value = serde_json::from_str(&points).expect("it is JSON");
    let job = |(point, values): (usize, &Value)| Job {
        name: format!("{name} {values}"),
        point,
        step: (point % 3 == 0).then_some(step_s),
        ..sweep.clone()
    };
    points["points"].as_array().expect("a list").iter().enumerate().map(job).collect()
}

/// Twenty people who walk, and buffers that are full.
const WALKERS: &str = r#"
    duration = "40 min"
    seeds = [7]
    router = "epidemic"
    mechanism = "none"
    buffer = "500 kB"
    [world]
    sample_every = "5 min"
    [nodes.walker]
    count = 20
    mobility = { model = "random_waypoint", area = "600 m x 600 m", speed = "0.5..1.5 m/s", pause = "0..120 s" }
    radio = { range = "80 m", rate = "2.5 Mbit/s" }
    [traffic.mail]
    interval = "5..20 s"
    size = "50..100 kB"
    lifetime = "30 min"
"#;

/// Every router with every mechanism that fits: among people, or on the way to Mars those that need a plan.
fn of_bundles() -> Vec<Job> {
    let set = |router: String, mechanism: String| {
        vec![("router".to_owned(), router), ("mechanism".to_owned(), mechanism)]
    };
    let walkers = |router: String, mechanism: String| Job {
        text: WALKERS.to_owned(),
        set: set(router, mechanism),
        ..Job::default()
    };
    let all = list(mechanisms::TABLE.iter().map(|entry| entry.name));
    let names = routers::TABLE.iter().map(|entry| entry.name);
    let (free, planned): (Vec<&str>, Vec<&str>) =
        names.partition(|router| walkers(router.to_string(), "none".to_owned()).reading().points().is_ok());
    assert!(free.len() > planned.len() && !planned.is_empty(), "{free:?} {planned:?}");
    let mut jobs = of_sweep("walkers", &walkers(list(free.into_iter()), all.clone()), 77.7);
    let mars = of_repository("earth_mars.toml", "3 h");
    let mars = Job { set: [mars.set.clone(), set(list(planned.into_iter()), all)].concat(), ..mars };
    jobs.extend(of_sweep("earth_mars", &mars, 777.7));
    jobs
}

/// Every controller over every transport that it fits, and of named data.
fn of_packets() -> Vec<Job> {
    let text = |transport: &str, controller: &str| {
        format!(
            r#"
            duration = "3 min"
            seeds = [7]
            [links.path]
            from = "near"
            to = "far"
            rate = "1 Mbit/s"
            round_trip = "600 ms"
            queue = "40 packets"
            loss = 0.005
            [flows.file]
            from = "near"
            to = "far"
            count = 2
            apart = "10 s"
            size = "3 MB"
            transport = "{transport}"
            controller = {controller}
            "#
        )
    };
    let names = of_repository("papers/dcp_single.toml", "8 s");
    let mut jobs = Vec::new();
    for entry in controllers::TABLE {
        let controller = entry.algorithm.name;
        // Without a bound it sends as fast as it can.
        let bounded = r#"{ name = "fixed", window = "100 kB", rate = "2 Mbit/s" }"#.to_owned();
        let value = if controller == "fixed" { bounded } else { format!("{controller:?}") };
        let over = |transport: &&str| Job {
            name: format!("{controller} over {transport}"),
            text: text(transport, &value),
            step: Some(7.7),
            ..Job::default()
        };
        let mut of_names = Job { name: format!("{controller} of names"), step: Some(3.3), ..names.clone() };
        of_names.set.push(("parameters.controller".to_owned(), controller.to_owned()));
        let transports = ["tcp", "dccp", "udpdtn", "ltp", "ltp-dccp", "adaptive"];
        let of_names = Some(of_names).filter(|_| controller != "fixed");
        let all = transports.iter().map(over).chain(of_names);
        let fitting: Vec<Job> = all.filter(|job| job.reading().points().is_ok()).collect();
        assert!(!fitting.is_empty(), "{controller} fits nothing");
        jobs.extend(fitting);
    }
    jobs
}

/// The first experiment of scenarios of the repository, cut short: maps, traces, plans, orbits and all transports.
pub fn jobs_of_the_repository() -> Vec<Job> {
    let all = [
        ("earth_mars.toml", "12 h"),
        ("dccp_ecn.toml", "10 min"),
        ("ltp_dccp.toml", "10 min"),
        ("hard/changing_delay.toml", "100 s"),
        ("hard/random_loss.toml", "1 min"),
        ("papers/adaptive_short.toml", "10 min"),
        ("papers/arc_sharing.toml", "2 min"),
        ("papers/dccp_satellite.toml", "2 min"),
        ("papers/dcp_caching.toml", "20 s"),
        ("papers/dcp_two_flows.toml", "50 s"),
        ("papers/dtn_congestion_figure_3.toml", "12 h"),
        ("papers/dtn_congestion_figure_9.toml", "30 min"),
        ("papers/dtn_congestion_figure_10.toml", "30 min"),
    ];
    all.iter().map(|(name, duration)| of_repository(name, duration)).collect()
}

/// The first experiment of a scenario of the repository, of this duration.
fn of_repository(name: &str, duration: &str) -> Job {
    let path = folder("../../scenarios").join(name);
    let text = std::fs::read_to_string(&path).expect("it is there");
    let files = named_files(&text, path.parent().expect("it has a folder"));
    let key = if text.contains("\nduration = \"$duration\"") { "parameters.duration" } else { "duration" };
    let set = vec![(key.to_owned(), duration.to_owned())];
    Job { name: name.to_owned(), text, files, set, ..Job::default() }
}

/// The files below the scenario's folder that its text names, by these names.
fn named_files(text: &str, folder: &Path) -> BTreeMap<String, String> {
    let names = text.split('"').skip(1).step_by(2).filter(|name| folder.join(name).is_file());
    names
        .map(|name| (name.to_owned(), std::fs::read_to_string(folder.join(name)).expect("it is text")))
        .collect()
}

/// The JavaScript for Node, made once; `None` where it cannot be made, which skips the test.
fn bindings_for_node() -> Option<&'static Path> {
    made().map(|made| made.0.as_path())
}

/// That for pages.
pub fn bindings_for_page() -> Option<&'static Path> {
    made().map(|made| made.1.as_path())
}

fn made() -> Option<&'static (PathBuf, PathBuf)> {
    static MADE: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    let shown =
        Command::new("rustc").args(["--print", "target-libdir", "--target", bindings::TARGET]).output();
    let libraries =
        shown.map(|shown| String::from_utf8_lossy(&shown.stdout).trim().to_owned()).unwrap_or_default();
    if libraries.is_empty() || !Path::new(&libraries).is_dir() {
        skip::skip(format_args!("the target {0} is missing; rustup target add {0}", bindings::TARGET));
        return None;
    }
    let make = || {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("web");
        let wasm = bindings::build(&folder.join("target"), "dev").unwrap_or_else(|error| panic!("{error}"));
        let bind = |name: &str, for_node: bool| {
            bindings::bind(&wasm, &folder.join(name), for_node).unwrap_or_else(|error| panic!("{error}"));
            folder.join(name).join("lightlag_web.js")
        };
        (bind("node", true), bind("web", false))
    };
    skip::has("node").then(|| MADE.get_or_init(make))
}

/// What Node makes of these jobs, in their order.
fn under_node(bindings: &Path, jobs: &[Job]) -> Vec<Value> {
    run_by("run.mjs", &[bindings], jobs)
}

/// The same by another script, which takes these files and the jobs.
pub fn run_by(script: &str, files: &[&Path], jobs: &[Job]) -> Vec<Value> {
    let list = files[0].with_file_name(format!("jobs{}.json", jobs.len()));
    let texts: Vec<Value> = jobs.iter().map(Job::json).collect();
    std::fs::write(&list, Value::from(texts).to_string()).expect("the disk has room");
    let script = folder("tests/web").join(script);
    let done = Command::new("node").arg(script).args(files).arg(&list).output().expect("it starts");
    let (shown, errors) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{errors}");
    let made: Vec<Value> =
        shown.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    assert_eq!(made.len(), jobs.len(), "{errors}");
    made
}

#[test]
fn a_page_gives_the_native_digest_figures_and_verdict() {
    let Some(bindings) = bindings_for_node() else { return };
    let jobs: Vec<Job> =
        of_bundles().into_iter().chain(of_packets()).chain(jobs_of_the_repository()).collect();
    // The slow half on its own thread.
    let page = std::thread::scope(|scope| {
        let node = scope.spawn(|| under_node(bindings, &jobs));
        let native: Vec<Value> = jobs.iter().map(Job::native).collect();
        native.into_iter().zip(node.join().expect("Node ran")).collect::<Vec<_>>()
    });
    let mut different = Vec::new();
    for (job, (native, page)) in jobs.iter().zip(page) {
        assert_eq!(native["violations_total"], 0, "{}: {native}", job.name);
        // As text: JavaScript has no 1.0.
        let outcome = page["outcome"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        if outcome.as_ref() != Some(&native) {
            different.push(format!("{}\n  native {native}\n  page   {page}", job.name));
            continue;
        }
        if job.step.is_some() {
            let played = &page["played"];
            assert_eq!(played["digest"], native["digest"], "{}, step by step", job.name);
            // A packet that was dropped is recorded when its link is visited next.
            let is_of_bundles = played["kinds"]["contact_up"].is_u64();
            assert!(!is_of_bundles || played["ordered"] == true, "{}", job.name);
            assert!(
                played["kinds"].as_object().is_some_and(|kinds| kinds.len() > 3),
                "{}: {played}",
                job.name
            );
        }
    }
    assert!(different.is_empty(), "{} of {} differ\n{}", different.len(), jobs.len(), different.join("\n"));
    println!("{} runs with the same digest", jobs.len());
}

#[test]
fn a_page_gets_errors_as_data() {
    let Some(bindings) = bindings_for_node() else { return };
    let text = "duration = \"1 h\"\nrouter = \"epidemc\"\n[nodes.n]\ncount = 2\n".to_owned();
    let job = Job { name: "wrong".into(), text, ..Job::default() };
    let native = job.reading().run(None, 0, true).expect_err("there is no such router");
    let page = &under_node(bindings, &[job])[0];
    assert_eq!(page["error"], serde_json::to_value(&native).expect("it is JSON"));
    assert_eq!((&page["error"][0]["line"], &page["error"][0]["column"]), (&json!(2), &json!(11)), "{page}");
}
