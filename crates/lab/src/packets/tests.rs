//! Scenarios of packets as users write them.

use crate::run::{ContactsCache, Options, run};
use lightlag_protocols::link::LinkSpec;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_scenario::{Catalogue, ScenarioFile, Seed};

const LINK: &str = r#"
duration = "1000 s"
[parameters]
rtt = "1 s"
controller = "sack"
[links.space]
from = "earth"
to = "mars"
rate = "1 Mbit/s"
round_trip = "$rtt"
[flows.file]
from = "earth"
to = "mars"
controller = "$controller"
size = "1 MB"
"#;

fn file(text: &str) -> ScenarioFile {
    ScenarioFile::from_toml("link.toml", text, ".".into(), Catalogue::default().into()).unwrap()
}

fn refused(text: &str) -> String {
    file(text).points().err().map_or_else(|| "accepted".to_owned(), |error| error.to_string())
}

fn goodput(file: &ScenarioFile) -> f64 {
    let point = file.points().unwrap().list.remove(0);
    let outcome =
        run(&point.scenario, Seed::Number(1), &ContactsCache::default(), &Options::default()).unwrap();
    outcome.figures.get("goodput_bit_per_s").unwrap()
}

#[test]
fn a_parameter_is_set_by_its_name_alone_and_a_list_of_it_is_an_axis() {
    let mut slow = file(LINK);
    slow.set("rtt", "10 s").unwrap();
    assert!(goodput(&slow) < 0.3 * goodput(&file(LINK)));
    let mut swept = file(LINK);
    swept.set("controller", r#"["sack", "cubic"]"#).unwrap();
    let points = swept.points().unwrap().list;
    assert_eq!(points[1].values, [("controller".to_owned(), "cubic".to_owned())]);
}

#[test]
fn what_is_wrong_in_a_scenario_of_packets_is_told_with_its_line() {
    let with = |from: &str, to: &str| refused(&LINK.replace(from, to));
    for (error, said) in [
        (
            with("\"$rtt\"", "\"$rtx\""),
            "link.toml:10: `$rtx` is not a parameter; [parameters] has: rtt, controller",
        ),
        (
            with("to = \"mars\"\ncontroller", "to = \"moon\"\ncontroller"),
            "no links lead from `earth` to `moon`",
        ),
        (with("\"1 Mbit/s\"", "\"0 Mbit/s\""), "carries nothing; a rate is written"),
        (with("\"1 Mbit/s\"", "\"1 Mbit\""), "link.toml:9: `links.space.rate`"),
        (with("size = \"1 MB\"", "size = \"1 MB\"\nspeed = 3"), "unknown key `flows.file.speed`"),
        (with("size = \"1 MB\"", "packet_size = \"40 B\""), "a packet has 41 to 65535 B"),
        (
            with("\"$rtt\"", "\"$rtt\"\nloss = 1.5"),
            "`links.space.loss` is 1.5; it must be a number from 0 to 1",
        ),
        (with("\"$rtt\"", "\"$rtt\"\nqueue = \"0 packets\""), "must be like \"100 packets\""),
        (with("\"$rtt\"", "\"$rtt\"\noutages = \"5 s..4 s\""), "in order and apart"),
        (with("\"$controller\"", "\"sick\""), "did you mean `sack`?"),
        (with("\"$controller\"", "{ name = \"arc\", alpha = \"-1 s\" }"), "link.toml:14"),
        (
            with("\"$controller\"", "\"contact_rate\""),
            "not supported over transport `tcp`; it works over `adaptive`, `ltp`, `udpdtn`",
        ),
        (with("[flows.file]", "[flow.file]"), "unknown key `flow`"),
        (with("size = \"1 MB\"", "size = \"1 MB\"\non = \"1 s\""), "a flow of a `size` has no `on`"),
        (
            with("size = \"1 MB\"", "start = \"5 s\"\nstop = \"5 s\""),
            "`flows.file.stop` comes before the flow starts",
        ),
        (
            with(
                "controller = \"$controller\"",
                "controller = \"contact_rate\"\ntransport = \"udpdtn\"\nstop = \"5 s\"",
            ),
            "UDPDTN carries what is there from the start, without `stop`",
        ),
        (
            with("size = \"1 MB\"", "on = { mean = \"1 s\" }\noff = \"1 s\"\nrate = \"1 Mbit/s\""),
            "unknown key `flows.file.on.mean`",
        ),
        (with("size = \"1 MB\"", "size = \"0 B\""), "`flows.file.size` is 0 B: nothing is sent"),
        (with("size = \"1 MB\"", "start = \"9999999 s\""), "`flows.file.start`: a flow starts at 9999999 s"),
        (with("size = \"1 MB\"", "block_symbols = 5"), "`flows.file.block_symbols` means nothing over TCP"),
        (with("size = \"1 MB\"", "receive_window = \"1 B\""), "is less than the 1460 B of a segment"),
        (
            with("\"$rtt\"", "\"$rtt\"\ndelay = \"1 s\""),
            "`links.space.round_trip` sets the delay of both directions",
        ),
        (
            with("\"1 Mbit/s\"", "{ steps = [{ at = \"0 s\", rate = \"0 bit/s\" }] }"),
            "`links.space.rate` is 0 bit/s at all times",
        ),
    ] {
        assert!(error.contains(said), "{error}\nshould say: {said}");
    }
}

#[test]
fn losses_rates_and_queues_of_every_kind_are_read() {
    let text = LINK.replace(
        "round_trip = \"$rtt\"",
        r#"delay = { steps = [{ at = "0 s", delay = "400 ms" }, { at = "100 s", delay = "600 ms" }] }
           loss = { model = "gilbert_elliott", to_bad = 0.01, to_good = 0.2, good = 0.0, bad = 0.5 }
           queue = { discipline = "codel", limit = "100 packets" }
           outages = "2 s..4 s, 6 s..7 s"
           reorder = { share = 0.01, delay = "10 ms" }
           duplicate = 0.01
           back = { loss = { model = "bit_errors", share = 1e-6 }, queue = "64 kB", rate = "64 kbit/s", delay = "500 ms" }"#,
    );
    assert!(goodput(&file(&text)) > 10_000.0);
}

#[test]
fn every_flow_has_figures_of_its_own_that_add_up_to_those_of_the_run() {
    let text = LINK.replace("size = \"1 MB\"", "size = \"1 MB\"\ncount = 2\napart = \"5 s\"");
    let point = file(&text).points().unwrap().list.remove(0);
    let figures = run(&point.scenario, Seed::Number(1), &ContactsCache::default(), &Options::default())
        .unwrap()
        .figures;
    let names: Vec<&str> = figures.parts.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["file0", "file1"]);
    for name in ["delivered_bytes", "packets_sent", "packets_repaired", "timeouts", "loss_episodes"] {
        let sum = figures.of_part("file0", name).unwrap() + figures.of_part("file1", name).unwrap();
        assert_eq!(figures.get(name), Some(sum), "{name}");
    }
    assert_eq!(figures.of_part("file1", "start_s"), Some(5.0));
    let json: serde_json::Value = serde_json::from_str(&figures.json()).unwrap();
    assert_eq!(json["flows"]["file1"]["delivered_bytes"], 1_000_000);
    assert_eq!(json["delivered_bytes"], 2_000_000);
}

#[test]
fn samples_of_flows_and_links_become_a_series() {
    let text = LINK.replace("duration", "sample_every = \"500 ms\"\nduration");
    let point = file(&text).points().unwrap().list.remove(0);
    let go = |series| {
        let options = Options { series, ..Options::default() };
        run(&point.scenario, Seed::Number(1), &ContactsCache::default(), &options).unwrap()
    };
    let outcome = go(true);
    // To be sampled changes nothing.
    assert_eq!(outcome.figures, go(false).figures);
    let Some(series) = outcome.series else { panic!("a series was asked for") };
    let at_5_s = |name| {
        let row = series.rows().iter().find(|row| row.name == name && row.at == Instant::from_secs(5));
        row.map(|row| (series.name_of(row.of), row.value))
    };
    assert_eq!(at_5_s("queue").unwrap().0, "space");
    for (name, low, high) in [
        ("delivered", 1e4, 1e6),
        ("goodput", 1e4, 1e6),
        ("in_flight", 1460.0, 1e6),
        ("rtt", 1.0, 3.0),
        ("window", 1460.0, 1e6),
    ] {
        let (flow, value) = at_5_s(name).unwrap();
        assert!(flow == "file" && (low..=high).contains(&value), "{name}: {value}");
    }
    let mut bytes = Vec::new();
    series.write_parquet(&mut bytes).unwrap();
    assert_eq!(&bytes[..4], b"PAR1");
    let shown: Vec<String> = series.figures().into_iter().map(|figure| figure.id).collect();
    assert_eq!(shown, ["goodput", "window", "in_flight", "rtt", "queue"]);

    let error = refused(&text.replace("500 ms", "1 us"));
    assert!(error.contains("`sample_every` makes 3.0e9 samples"), "{error}");
}

/// What one flow of a scenario got, where the judge finds nothing.
fn judged(text: &str) -> crate::metrics::Figures {
    let point = file(text).points().unwrap().list.remove(0);
    let outcome =
        run(&point.scenario, Seed::Number(1), &ContactsCache::default(), &Options::default()).unwrap();
    assert_eq!(outcome.violations, [""; 0]);
    outcome.figures
}

#[test]
fn sources_start_and_stop_and_are_on_and_off() {
    let with = |source: &str| judged(&LINK.replace("size = \"1 MB\"", source));
    // A packet of 1460 B of data every 58.4 ms for 10 of 20 s.
    let half = with("on = \"10 s\"\noff = \"10 s\"\nrate = \"200 kbit/s\"");
    let goodput = half.get("goodput_bit_per_s").unwrap();
    assert!((99_000.0..101_000.0).contains(&goodput), "{goodput}");
    let drawn =
        with("on = { exponential = \"5 s\" }\noff = { exponential = \"15 s\" }\nrate = \"200 kbit/s\"");
    let goodput = drawn.get("goodput_bit_per_s").unwrap();
    assert!((30_000.0..70_000.0).contains(&goodput), "{goodput}");

    let stopped = with("start = \"100 s\"\nstop = \"200 s\"");
    assert_eq!(stopped.get("flows_complete"), Some(1.0));
    assert_eq!(stopped.of_part("file", "start_s"), Some(100.0));
    // What was in the queue at the end is still delivered.
    let duration = stopped.get("duration_s").unwrap();
    assert!((100.0..104.0).contains(&duration), "{duration}");
    assert!(stopped.get("goodput_bit_per_s") > Some(500_000.0), "{stopped:?}");
    let endless = with("");
    assert_eq!((endless.get("flows_complete"), endless.get("duration_s")), (Some(0.0), Some(1000.0)));
}

#[test]
fn flows_go_over_several_hops_and_share_the_narrowest() {
    let text = r#"
duration = "2000 s"
[links.a]
from = "lander"
to = "orbiter"
rate = "2 Mbit/s"
delay = "10 ms"
[links.b]
from = "rover"
to = "orbiter"
rate = "2 Mbit/s"
delay = "10 ms"
[links.space]
from = "orbiter"
to = "station"
rate = "1 Mbit/s"
delay = "300 ms"
[links.ground]
from = "station"
to = "centre"
rate = "10 Mbit/s"
delay = "5 ms"
[flows.one]
from = "lander"
to = "centre"
controller = "cubic"
size = "20 MB"
[flows.two]
from = "rover"
to = "centre"
controller = "cubic"
size = "20 MB"
"#;
    let figures = judged(text);
    assert_eq!(figures.get("flows_complete"), Some(2.0));
    assert!(figures.get("goodput_bit_per_s") > Some(800_000.0), "{figures:?}");
    assert!(figures.get("goodput_bit_per_s") < Some(973_400.0), "{figures:?}");
    assert!(figures.get("jain") > Some(0.8), "{figures:?}");
}

const DRAWN: &str = r#"
duration = "100 s"
[links.space]
from = "earth"
to = "mars"
rate = "1 Mbit/s"
delay = { steps = [{ at = "20 s", delay = "0 s" }, { at = "60 s", delay = "2 s" }], variance = "400 ms^2" }
loss = { model = "by_delay", most = 0.2 }
[flows.file]
from = "earth"
to = "mars"
controller = "cubic"
"#;

#[test]
fn packets_of_a_drawn_delay_overtake_each_other_and_are_lost_more_where_it_is_long() {
    let figures = judged(DRAWN);
    assert!(figures.get("packets_lost") > Some(0.0), "{figures:?}");
    assert!(figures.get("goodput_bit_per_s") > Some(100_000.0), "{figures:?}");
}

#[test]
fn what_is_wrong_with_a_drawn_delay_is_told_with_file_and_line() {
    let every = ", every = \"1 s\"";
    let not_drawn = DRAWN.replace(", variance = \"400 ms^2\"", every);
    for (text, said) in [
        (not_drawn.as_str(), "plan.toml:7: `links.space.delay.variance` is missing"),
        (&DRAWN.replace("400 ms^2", "400 ms"), "plan.toml:7: `links.space.delay.variance`: "),
        (&DRAWN.replace("variance = \"400 ms^2\"", "every = \"0 s\""), "plan.toml:7: "),
        (&DRAWN.replace("most = 0.2", "most = 2"), "plan.toml:8: `links.space.loss.most` is 2"),
        (&DRAWN.replace("most = 0.2", "share = 0.2"), "plan.toml:8: "),
    ] {
        let (_folder, file) = with_files(text, &[]);
        let error = file.points().unwrap_err().to_string();
        assert!(error.contains(said), "{error}\nshould say: {said}");
    }
}

/// A scenario beside files of its own.
fn with_files(text: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, ScenarioFile) {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
    let file = ScenarioFile::from_toml("plan.toml", text, folder.path().into(), Catalogue::default().into());
    (folder, file.unwrap())
}

const PLAN: &str = r#"
duration = "2000 s"
[links.space]
from = "earth"
to = "mars"
plan = { file = "plan.ionrc", from = "1", to = "2" }
[flows.file]
from = "earth"
to = "mars"
transport = "udpdtn"
controller = "contact_rate"
planned_rate = "plan"
size = "38 MB"
"#;

const ION: &str = "a contact +100 +400 1 2 125000\na contact +600 +900 1 2 12500\na contact +0 +2000 2 1 1250\n\
                   a range +0 +2000 1 2 20\n";

#[test]
fn a_link_follows_the_contacts_and_ranges_of_a_plan() {
    let (_folder, file) = with_files(PLAN, &[("plan.ionrc", ION)]);
    let scenario = file.points().unwrap().list.remove(0).scenario;
    let network = scenario.packets().unwrap();
    let [there, back] = [0, 1].map(|index| &network.links[index].spec);
    let at = |link: &LinkSpec, s| link.rate.at(Instant::from_secs(s)).0;
    assert_eq!([50, 200, 500, 700].map(|s| at(there, s)), [0, 1_000_000, 0, 100_000]);
    assert_eq!(at(back, 50), 10_000);
    assert_eq!([there, back].map(|link| link.delay.at(Instant::ZERO)), [Duration::from_secs(20); 2]);
    assert_eq!(network.flows[0].spec.planned_rate.as_ref(), Some(&there.rate));
    let outcome = run(&scenario, Seed::Number(1), &ContactsCache::default(), &Options::default()).unwrap();
    assert_eq!(outcome.violations, [""; 0]);
    assert_eq!(outcome.figures.get("flows_complete"), Some(1.0));
    // More than the first contact takes; the second has a tenth of its rate, which the flow knows.
    assert_eq!(outcome.figures.get("packets_dropped"), Some(0.0));
    assert!(outcome.figures.get("duration_s").is_some_and(|end| end > 600.0));
}

#[test]
fn a_link_follows_connections_of_the_one_and_light_times_of_a_file() {
    let text = PLAN
        .replace(r#"file = "plan.ionrc""#, r#"kind = "the_one", file = "events.txt""#)
        .replace("[flows.file]", "rate = \"1 Mbit/s\"\ndelay = { file = \"light.csv\" }\n[flows.file]");
    let files = [("events.txt", "10 CONN 1 2 up\n60 CONN 1 2 down\n"), ("light.csv", "0,10\n100,20\n")];
    let (_folder, file) = with_files(&text, &files);
    let scenario = file.points().unwrap().list.remove(0).scenario;
    let spec = &scenario.packets().unwrap().links[1].spec;
    assert_eq!([5, 20, 70].map(|s| spec.rate.at(Instant::from_secs(s)).0), [0, 1_000_000, 0]);
    assert_eq!(spec.delay.at(Instant::from_secs(50)), Duration::from_secs(15));
}

#[test]
fn what_is_wrong_with_a_plan_is_told_with_file_and_line() {
    let told = |text: &str, files: &[(&str, &str)]| {
        let (_folder, file) = with_files(text, files);
        file.points().unwrap_err().to_string()
    };
    let overlap = ION.replace("+600", "+300");
    for (error, said) in [
        (
            told(PLAN, &[("plan.ionrc", "a contact +5 +1 1 2 9\n")]),
            "plan.ionrc:1: the contact ends before it starts",
        ),
        (told(PLAN, &[("plan.ionrc", &overlap)]), "plan.ionrc:2: the contact of `1` and `2` begins before"),
        (
            told(&PLAN.replace("to = \"2\"", "to = \"7\""), &[("plan.ionrc", ION)]),
            "plan.toml:6: the plan has no contact of `1` and `7`",
        ),
        (told(PLAN, &[]), "plan.toml:6: "),
        (
            told(
                &PLAN.replace("[flows", "delay = { file = \"light.csv\" }\n[flows"),
                &[("plan.ionrc", ION), ("light.csv", "0,ten\n")],
            ),
            "light.csv:1: `0,ten` is not a row",
        ),
    ] {
        assert!(error.contains(said), "{error}\nshould say: {said}");
    }
}

#[test]
fn a_file_whose_first_packets_are_all_lost_arrives_over_every_transport() {
    let lost = "{ model = \"steps\", steps = [{ at = \"0 s\", share = 1.0 }, { at = \"3 s\", share = 1.0 }, \
                { at = \"3.000001 s\", share = 0.0 }] }";
    for transport in ["tcp", "udpdtn", "ltp"] {
        for controller in ["cubic", "arc", "vegas", "bbr3", "short_queue", "fixed"] {
            for size in ["1 B", "1 MB"] {
                let text = LINK
                    .replace("\"$rtt\"", &format!("\"$rtt\"\nloss = {lost}"))
                    .replace("\"1 MB\"", &format!("\"{size}\"\ntransport = \"{transport}\""));
                let mut file = file(&text);
                file.set("controller", controller).unwrap();
                let point = file.points().unwrap().list.remove(0);
                let done =
                    run(&point.scenario, Seed::Number(1), &ContactsCache::default(), &Options::default());
                let complete = done.unwrap().figures.get("flows_complete");
                assert_eq!(complete, Some(1.0), "{size} by {controller} over {transport}");
            }
        }
    }
}

#[test]
fn packets_max_holds_within_an_instant() {
    let at_once = LINK
        .replace("duration", "packets_max = 1000\nduration")
        .replace("\"1 MB\"", "\"100 MB\"\ntransport = \"udpdtn\"")
        .replace("\"$controller\"", "\"fixed\"");
    let point = file(&at_once).points().unwrap().list.remove(0);
    let done = run(&point.scenario, Seed::Number(1), &ContactsCache::default(), &Options::default()).unwrap();
    assert!(done.figures.get("packets_sent") <= Some(1000.0), "{:?}", done.figures);
}
