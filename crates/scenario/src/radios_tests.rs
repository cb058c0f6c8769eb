//! Radios that are on at times, search for peers and have rates by distance, by whole scenarios.

use super::*;
use crate::{Catalogue, ScenarioFile, Seed};
use lightlag_worlds::contacts::Contacts;
use proptest::prelude::*;

/// Two nodes at rest, `distance_m` apart, with this radio.
fn contacts(distance_m: f64, radio: &str, tick: &str) -> crate::Result<Contacts> {
    let text = format!(
        r#"
duration = "1 h"
router = "epidemic"
buffer = "10 MB"
[world]
{tick}
[nodes.here]
mobility = {{ model = "stationary", at = "0 m, 0 m" }}
radio = {{ range = "100 m", {radio} }}
[nodes.there]
mobility = {{ model = "stationary", at = "{distance_m} m, 0 m" }}
radio = {{ range = "100 m", {radio} }}
[traffic.mail]
interval = "60 s"
size = "50 kB"
"#
    );
    let file = ScenarioFile::from_toml("s.toml", &text, ".".into(), Catalogue::default().into())?;
    file.points()?.list[0].scenario.bundles().unwrap().seeded(Seed::Number(1))?.contacts()
}

/// From when to when they are in contact, in seconds.
fn spans(distance_m: f64, radio: &str, tick: &str) -> Vec<(f64, f64)> {
    let list = contacts(distance_m, radio, tick).unwrap().list;
    list.iter().map(|contact| (contact.start.as_secs_f64(), contact.end.as_secs_f64())).collect()
}

fn error_of(radio: &str) -> String {
    contacts(50.0, radio, "").unwrap_err().to_string()
}

const RATE: &str = "rate = \"1 Mbit/s\"";

#[test]
fn a_radio_that_is_off_has_no_contacts() {
    let with = |more: &str| spans(50.0, &format!("{RATE}, {more}"), "tick = \"1 s\"");
    assert_eq!(spans(50.0, RATE, ""), [(0.0, 3600.0)]);
    let on = "active = [\"0..600 s\", \"1000..2000.5 s\"]";
    assert_eq!(with(on), [(0.0, 601.0), (1000.0, 2001.0)]);
    let periods = "on = \"1000 s\", off = \"500 s\", offset = \"200 s\"";
    assert_eq!(with(periods), [(0.0, 800.0), (1300.0, 2300.0), (2800.0, 3600.0)]);
}

#[test]
fn jitter_lets_radios_miss_each_other_and_a_seed_repeats_it() {
    let radio = format!("{RATE}, on = \"10 s\", off = \"10 s\", jitter = \"20 s\"");
    let some = spans(50.0, &radio, "");
    let lasts: f64 = some.iter().map(|span| span.1 - span.0).sum();
    assert!(lasts > 0.0 && lasts < 1790.0, "{lasts} s in contact");
    assert_eq!(some, spans(50.0, &radio, ""));
}

#[test]
fn a_contact_begins_at_the_first_search_of_either_end() {
    let radio = format!("{RATE}, active = [\"0..100 s\", \"500..600 s\"], scan_every = \"40 s\"");
    let found = spans(50.0, &radio, "");
    assert!((0.0..40.0).contains(&found[0].0) && found[0].1 == 100.000_000_001, "{found:?}");
    assert_eq!(found[1].0, 500.0, "a radio that is switched on searches at once");
}

#[test]
fn what_makes_no_radio_is_refused_with_what_would() {
    let cases = [
        ("rates = [\"1 Mbit/s\"]", "s.toml:9: the rate at the whole range is missing"),
        ("rates = [\"0 bit/s\", \"0 bit/s\"]", "all are zero"),
        ("rate = \"1 Mbit/s\", rates = [\"1 Mbit/s\", \"0 bit/s\"]", "both `rate` and `rates` are given"),
        ("rate = \"1 Mbit/s\", on = \"5 s\"", "`on` and `off` are incomplete"),
        ("rate = \"1 Mbit/s\", offset = \"5 s\"", "`on` and `off` are incomplete"),
        ("rate = \"1 Mbit/s\", active = [\"5..9 s\", \"8..10 s\"]", "overlap or are out of order"),
        ("rate = \"1 Mbit/s\", active = [5]", "`5` has no unit"),
    ];
    for (radio, what) in cases {
        assert!(error_of(radio).contains(what), "{radio}: {}", error_of(radio));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_rate_at_a_distance_lies_on_the_lines_between_those_given(
        distance_m in 0.0..99.9_f64,
        rates in prop::collection::vec(0..20_000_u64, 2..8),
    ) {
        prop_assume!(rates.iter().any(|rate| *rate > 0));
        let list: Vec<String> = rates.iter().map(|rate| format!("\"{rate} kbit/s\"")).collect();
        let found = contacts(distance_m, &format!("rates = [{}]", list.join(", ")), "").unwrap();
        let rate = found.channels[found.list[0].forward as usize].rate_at(Instant::ZERO).0 as f64 / 1e3;
        let place = distance_m / 100.0 * (rates.len() - 1) as f64;
        let (low, share) = (place as usize, place.fract());
        let exact = rates[low] as f64 * (1.0 - share) + rates[low + 1] as f64 * share;
        // Within a band of a hundredth of the range.
        let steepest = rates.windows(2).map(|pair| pair[0].abs_diff(pair[1])).max().unwrap() as f64;
        let slack = steepest * (rates.len() - 1) as f64 / f64::from(BANDS) + 1.0;
        prop_assert!((rate - exact).abs() <= slack, "{rate} at {distance_m} m, not {exact}");
    }

    #[test]
    fn contacts_lie_where_both_radios_are_on(
        on in 1..50_i64, off in 1..50_i64, offset in 0..100_i64, jitter in 0..60_u32, ticked in any::<bool>(),
    ) {
        let radio = format!(
            "{RATE}, on = \"{on} s\", off = \"{off} s\", offset = \"{offset} s\", jitter = \"{jitter} s\""
        );
        let found = spans(50.0, &radio, if ticked { "tick = \"1 s\"" } else { "" });
        // Some common phase of the first node explains all contacts, and some of the second as well.
        let is_on = |phase: i64, s: f64| (s + phase as f64).rem_euclid((on + off) as f64) < on as f64;
        let inside = |phase: i64| found.iter().all(|span| is_on(phase, span.0) && is_on(phase, span.1 - 1e-6));
        let phases = (0..i64::from(jitter.max(1))).filter(|jitter| inside(offset + jitter));
        prop_assert!(phases.count() > 0, "{found:?}");
    }
}
