use crate::{Catalogue, Error, ScenarioFile};
use proptest::prelude::*;

/// Lines of a scenario, each with what would be wrong in its place and a part of the error.
const LINES: &[(&str, &str, &str)] = &[
    ("duration = \"1 h\"", "duration = 5", "`5` has no unit"),
    ("seeds = [1, 2]", "seeds = [1, 1]", "seed 1 comes twice"),
    ("router = \"epidemic\"", "router = \"epidemik\"", "`epidemik`, which is not known"),
    ("buffer = \"500 kB\"", "buffer = \"500 metres\"", "no unit of size"),
    ("receipts = true", "receipts = \"yes\"", "it must be true or false"),
    ("[world]", "[world]", ""),
    ("tick = \"1 s\"", "tick = \"0 s\"", "no time at all"),
    ("radio = \"node\"", "radio = \"nod\"", "`world.radio` is `nod`"),
    ("send_order = \"fifo\"", "sendorder = \"fifo\"", "did you mean `send_order`?"),
    ("contacts_fail = 0.5", "contacts_fail = 1.5", "from 0 to 1"),
    ("[nodes.walker]", "[nodes.walker]", ""),
    ("count = 20", "count = 0", "from 1 to"),
    ("first = 3", "firts = 3", "unknown key `nodes.walker.firts`"),
    ("overfill = false", "overfill = 0", "true or false"),
    ("[nodes.walker.mobility]", "[nodes.walker.mobility]", ""),
    ("model = \"random_waypoint\"", "model = \"random_waypoint\"", ""),
    ("area = \"1 km x 1 km\"", "area = \"1 km\"", "no area"),
    ("speed = \"0.5..1.5 m/s\"", "sped = \"0.5..1.5 m/s\"", "unknown key `nodes.walker.mobility.sped`"),
    ("pause = \"0..120 s\"", "pause = \"9..1 s\"", "ends before it begins"),
    ("[nodes.walker.radio]", "[nodes.walker.radio]", ""),
    ("range = \"150 m\"", "# range", "`nodes.walker.radio.range` is missing"),
    ("rate = \"2.5 Mbit/s\"", "rate = \"fast\"", "a rate is written like"),
    ("[traffic.mail]", "[traffic.mail]", ""),
    ("interval = \"1..300 s\"", "interval = \"0 s\"", "without end"),
    ("size = \"50..100 kB\"", "size = -3", "is negative"),
    ("lifetime = \"12 h\"", "lifetime = [\"12 h\", \"12\"]", "`12` has no unit"),
    ("to = \"walker\"", "to = \"runner\"", "is called `runner`"),
];

fn scenario(broken: &[bool]) -> String {
    let line = |(at, (right, wrong, _)): (usize, &(&str, &str, &str))| {
        format!("{}\n", if broken[at] { wrong } else { right })
    };
    LINES.iter().enumerate().map(line).collect()
}

fn errors(text: &str) -> Vec<Error> {
    let read = ScenarioFile::from_toml("s.toml", text, ".".into(), Catalogue::default().into());
    let Err(error) = read.and_then(|file| file.points().and_then(|_| file.seeds())) else {
        return Vec::new();
    };
    let more = error.more.clone();
    [Error { more: Vec::new(), ..error }].into_iter().chain(more).collect()
}

#[test]
fn a_sound_scenario_has_no_error() {
    assert_eq!(errors(&scenario(&[false; LINES.len()])), []);
}

proptest! {
    /// However many lines are wrong, each is reported with its number, and no other.
    #[test]
    fn every_line_that_is_wrong_is_reported(broken in prop::collection::vec(prop::bool::weighted(0.3), LINES.len())) {
        // A misspelt key that must be there is missing as well, at the line of its table: the first counts.
        let text = scenario(&broken);
        let all: Vec<String> = errors(&text).iter().map(ToString::to_string).collect();
        let names_are_known = !broken[11] && !broken[12];
        for (at, (right, wrong, part)) in LINES.iter().enumerate() {
            let is_missing = wrong.starts_with('#');
            let line = if is_missing { LINES[..at].iter().rposition(|line| line.0.starts_with('[')).unwrap() } else { at };
            let place = format!("s.toml:{}: ", line + 1);
            let found = all.iter().any(|error| error.starts_with(&place) && error.contains(part));
            if broken[at] && right != wrong && (names_are_known || !part.contains("is called")) {
                prop_assert!(found, "{place}{part}\n{all:#?}\n{text}");
            }
        }
        let wrong = LINES.iter().zip(&broken).filter(|(line, broken)| **broken && line.0 != line.1).count();
        prop_assert!(all.len() <= wrong, "{all:#?}\n{text}");
    }

    /// Whatever text is broken off, reading it comes to an end.
    #[test]
    fn no_text_is_read_for_ever(broken in prop::collection::vec(any::<bool>(), LINES.len()), at in 0..600_usize) {
        let text = scenario(&broken);
        let _ = errors(text.get(..at).unwrap_or(&text));
    }
}

#[test]
fn all_errors_of_syntax_are_reported() {
    let lines: Vec<String> = errors("a = \nb = 1\nc = [1,,]\n").iter().map(ToString::to_string).collect();
    assert!(
        lines.len() > 1 && lines[0].starts_with("s.toml:1: ") && lines[1].starts_with("s.toml:3: "),
        "{lines:#?}"
    );
}

#[test]
fn points_of_a_sweep_are_searched_for_errors() {
    let text = scenario(&[false; LINES.len()])
        .replace("tick = \"1 s\"", "tick = [\"1 s\", \"1 m\", \"2 s\", \"x\"]");
    let lines: Vec<String> = errors(&text).iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines[0].contains("`m` is no unit of time") && lines[1].contains("`x` is no unit"), "{lines:#?}");
}
