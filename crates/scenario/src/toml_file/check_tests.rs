use crate::{Catalogue, Error, ScenarioFile};
use proptest::prelude::*;

/// Lines of a scenario, each with what would be wrong in its place and a part of the error.
const LINES: &[(&str, &str, &str)] = &[
    ("duration = \"1 h\"", "duration = 5", "`5` has no unit"),
    ("router = \"epidemic\"", "router = \"epidemik\"", "`epidemik`, which is not known"),
    ("mechanism = { name = \"rrcc\", beta = [0.5, 0.9] }", "mechanism = \"rrc\"", "did you mean `rrcc`?"),
    ("buffer = \"500 kB\"", "buffer = \"500 metres\"", "not a unit of size"),
    ("receipts = true", "receipts = \"yes\"", "it must be true or false"),
    ("[world]", "[world]", ""),
    ("tick = \"1 s\"", "tick = \"1 mins\"", "not a unit of time"),
    ("radio = \"node\"", "radio = \"nod\"", "`world.radio` is `nod`"),
    ("send_order = [\"fifo\", \"random\"]", "sendorder = \"fifo\"", "did you mean `send_order`?"),
    ("contacts_fail = [0.5, \"$failing\"]", "contacts_fail = [1.5, \"$failing\"]", "from 0 to 1"),
    ("[nodes.walker]", "[nodes.walker]", ""),
    ("count = 20", "count = 0", "from 1 to"),
    ("first = 3", "firts = 3", "unknown key `nodes.walker.firts`"),
    ("overfill = false", "overfill = 0", "true or false"),
    ("[nodes.walker.mobility]", "[nodes.walker.mobility]", ""),
    ("model = \"random_waypoint\"", "model = \"random_waypoint\"", ""),
    ("area = \"1 km x 1 km\"", "area = \"1 km\"", "not an area"),
    (
        "speed = [\"0.5..1.5 m/s\", \"1 m/s\"]",
        "speed = [\"0.5..1.5 m/s\", \"1 kB\"]",
        "`nodes.walker.mobility.speed`",
    ),
    ("pause = \"0..120 s\"", "pause = \"9..1 s\"", "ends before it begins"),
    ("[nodes.walker.radio]", "[nodes.walker.radio]", ""),
    ("range = \"150 m\"", "range = \"wide\"", "`wide`"),
    ("rate = \"2.5 Mbit/s\"", "rate = \"fast\"", "not a unit of rate"),
    ("[traffic.mail]", "[traffic.mail]", ""),
    ("interval = \"1..300 s\"", "interval = \"soon\"", "`soon`"),
    ("size = \"50..100 kB\"", "size = \"-3 kB\"", "traffic.mail.size"),
    ("lifetime = \"12 h\"", "lifetime = [\"12 h\", \"12\"]", "`12` has no unit"),
    ("to = \"walker\"", "to = \"wanderer\"", "`wanderer`"),
    ("start = \"1 min\"", "start = \"-1 min\"", "starts before the run"),
    ("[parameters]", "[parameters]", ""),
    ("failing = 0.25", "failing = 0.25", ""),
];

fn scenario(broken: &[bool]) -> String {
    let line = |(at, (right, wrong, _)): (usize, &(&str, &str, &str))| {
        format!("{}\n", if broken[at] { wrong } else { right })
    };
    LINES.iter().enumerate().map(line).collect()
}

fn errors(text: &str) -> Vec<String> {
    let read = ScenarioFile::from_toml("s.toml", text, ".".into(), Catalogue::default().into());
    let Err(error) = read.and_then(|file| file.points()) else { return Vec::new() };
    let more = error.more.clone();
    [Error { more: Vec::new(), ..error }].into_iter().chain(more).map(|error| error.to_string()).collect()
}

#[test]
fn a_sound_scenario_has_no_error() {
    assert_eq!(errors(&scenario(&[false; LINES.len()])), [""; 0]);
}

proptest! {
    /// However many lines are wrong, each is reported once with its number, and no other.
    #[test]
    fn every_line_that_is_wrong_is_reported(broken in prop::collection::vec(prop::bool::weighted(0.3), LINES.len())) {
        let text = scenario(&broken);
        let all = errors(&text);
        let wrong = LINES.iter().enumerate().filter(|(at, line)| broken[*at] && line.0 != line.1);
        let mut count = 0;
        for (at, (.., part)) in wrong {
            let place = format!("s.toml:{}: ", at + 1);
            let found = all.iter().filter(|error| error.starts_with(&place) && error.contains(part)).count();
            prop_assert_eq!(found, 1, "{}{}\n{:#?}\n{}", place, part, &all, &text);
            count += 1;
        }
        prop_assert_eq!(all.len(), count, "{:#?}\n{}", &all, &text);
    }

    /// Whatever text is broken off, reading it comes to an end.
    #[test]
    fn no_text_is_read_for_ever(broken in prop::collection::vec(any::<bool>(), LINES.len()), at in 0..800_usize) {
        let text = scenario(&broken);
        let _ = errors(text.get(..at).unwrap_or(&text));
    }
}

#[test]
fn all_errors_of_syntax_are_reported() {
    let lines = errors("a = \nb = 1\nc = [1,,]\n");
    assert!(
        lines.len() == 2 && lines[0].starts_with("s.toml:1: ") && lines[1].starts_with("s.toml:3: "),
        "{lines:#?}"
    );
}

#[test]
fn errors_of_references_are_reported_beside_others() {
    let text = scenario(&[false; LINES.len()])
        .replace("to = \"walker\"", "to = \"walkr\"\nfrom = [\"runner\", \"all\", \"walker99\"]")
        .replace("lifetime = \"12 h\"", "lifetime = \"-5 s\"")
        .replace("tick = \"1 s\"", "tick = 1");
    let lines = errors(&text);
    for (at, part) in ["tick", "lifetime", "`walkr`", "`runner`", "`walker99`"].into_iter().enumerate() {
        assert!(lines.get(at).is_some_and(|line| line.contains(part)), "{part}: {lines:#?}");
    }
    assert_eq!(lines.len(), 5, "{lines:#?}");
}

#[test]
fn what_follows_from_another_error_is_not_reported() {
    let sound = scenario(&[false; LINES.len()]);
    let sound = sound.replace("mechanism = { name = \"rrcc\", beta = [0.5, 0.9] }\n", "");
    for (right, wrong) in [
        // Nodes with numbers are there, whatever the number of nodes was meant to be.
        ("count = 20\n", "count = 20.5\nprefix = \"w\"\n"),
        ("model = \"random_waypoint\"", "model = \"flying\""),
        ("buffer = \"500 kB\"", "buffer = \"0 B\""),
        ("duration = \"1 h\"", "duration = \"0 s\"\nmeasure_from = \"1 min\""),
        ("router = \"epidemic\"", "router = \"prophit\"\nmechanism = \"afner\""),
        ("range = \"150 m\"", "range = \"0 m\""),
    ] {
        let text = sound.replace(right, wrong).replace("to = \"walker\"", "to = \"all, w3\"");
        let text = if wrong.contains("prefix") { text } else { text.replace(", w3", ", walker3") };
        let lines = errors(&text);
        assert_eq!(lines.len(), 1, "{wrong}: {lines:#?}");
    }
}

/// A link with a key after its rate.
fn link(rate: &str, key: &str, parameters: &str) -> String {
    format!(
        "duration = \"1 h\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = {rate}\n{key}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\ncontroller = \"cubic\"\n[parameters]\n{parameters}\n"
    )
}

#[test]
fn a_value_of_a_parameter_and_a_file_that_is_missing_are_one_error_each() {
    let (rate, delay) = ("\"1 Mbit/s\"", "delay = \"1 s\"");
    let lost = format!("{delay}\nloss = \"$loss\"");
    let trace = "{ mahimahi = \"$file\" }";
    for (text, said) in [
        (link(rate, &lost, "loss = 1.5"), "`links.l.loss` is 1.5; it must be a number from 0 to 1"),
        (link(trace, delay, "file = \"missing\""), "cannot read `./missing`"),
        (link("{ mahimahi = \"missing\" }", delay, ""), "cannot read `./missing`"),
        (link(rate, "delay = { file = \"missing\" }", ""), "cannot read `./missing`"),
        (link(rate, &lost, "los = 0.5"), "`$loss` is not a parameter; [parameters] has: los"),
    ] {
        let lines = errors(&text);
        assert!(lines.len() == 1 && lines[0].contains(said), "{said}: {lines:#?}");
    }
    // Another reference at fault is reported beside it.
    let lines = errors(&link(rate, &format!("{lost}\njitter = \"$jiter\""), "loss = 1.5\njitter = \"1 s\""));
    assert_eq!(lines.len(), 2, "{lines:#?}");
}

#[test]
fn unlimited_data_under_a_controller_without_a_bound_are_refused() {
    let said = "controller `fixed` has no bound, nor has the data; give it a `window` or a `rate`, or ";
    let flow = |transport: &str, keys: &str| {
        let keys = format!("transport = \"{transport}\"\n{keys}");
        errors(&link("\"1 Mbit/s\"", "delay = \"1 s\"", "").replace("controller = \"cubic\"", &keys))
    };
    let consumer = |object: &str, keys: &str| {
        errors(&format!(
            "duration = \"1 h\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 s\"\n\
             [producers.p]\nat = \"b\"\nprefix = \"/p\"\n{object}\n[consumers.c]\nat = \"a\"\nobject = \"/p\"\n{keys}\n"
        ))
    };
    let fixed = "controller = \"fixed\"";
    for lines in [flow("udpdtn", fixed), flow("ltp", fixed), consumer("", fixed)] {
        assert!(lines.len() == 1 && lines[0].contains(said), "{lines:#?}");
    }
    let window = "controller = { name = \"fixed\", window = \"15 kB\" }";
    for lines in [
        flow("udpdtn", window),
        flow("ltp", "controller = \"fixed\"\nplanned_rate = \"plan\""),
        flow("udpdtn", "controller = \"fixed\"\nsize = \"1 MB\""),
        flow("udpdtn", "controller = \"contact_rate\""),
        flow("tcp", fixed),
        consumer("object = \"1 MB\"", fixed),
        consumer("", "controller = \"fixed\"\nsize = \"1 MB\""),
        consumer("", window),
        consumer("", "controller = \"short_queue\""),
    ] {
        assert_eq!(lines, [""; 0]);
    }
}
