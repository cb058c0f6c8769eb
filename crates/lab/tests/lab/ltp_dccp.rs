//! LTP over DCCP (`scenarios/ltp_dccp.toml`).

use lightlag_lab::run::{ContactsCache, Options, Outcome, run};
use lightlag_scenario::{ScenarioFile, Seed};
use proptest::prelude::*;
use std::path::Path;

fn file(sets: &[(&str, &str)]) -> Result<ScenarioFile, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/ltp_dccp.toml");
    let mut file = ScenarioFile::read(&[&path]).map_err(|why| why.to_string())?;
    sets.iter().try_for_each(|(key, value)| file.set(key, value)).map_err(|why| why.to_string())?;
    Ok(file)
}

/// A judged run with these keys set.
fn ran(sets: &[(&str, &str)]) -> Outcome {
    let scenario = file(sets).unwrap().points().unwrap().list.remove(0).scenario;
    let outcome = run(&scenario, Seed::Own, &ContactsCache::default(), &Options::default()).unwrap();
    assert_eq!(outcome.violations, [""; 0], "{sets:?}");
    outcome
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..Default::default() })]
    #[test]
    fn two_files_that_share_a_link_arrive_whole_and_nothing_impossible_is_found(
        rate_kbit in 128_u32..20_000,
        rtt_ms in 1_u32..2_000,
        loss in prop_oneof![Just(0.0), 0.0..0.1],
        queue in 10_u32..200,
        block_kb in 10_u32..2_000,
        controller in prop_oneof![Just("ccid2"), Just("ccid3"), Just("new_reno")],
    ) {
        let sets = [
            ("rate", format!("{rate_kbit} kbit/s")),
            ("rtt", format!("{rtt_ms} ms")),
            ("loss", loss.to_string()),
            ("queue", format!("{queue} packets")),
            ("block_size", format!("{block_kb} kB")),
            ("controller", controller.to_owned()),
            ("duration", "1000000 s".to_owned()),
            ("flows.file.size", "2 MB".to_owned()),
        ];
        let sets: Vec<_> = sets.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let outcome = ran(&sets);
        prop_assert_eq!(outcome.figures.get("flows_complete"), Some(2.0), "{:?}", sets);
    }
    #[test]
    fn a_full_link_drops_far_less_of_it_than_of_ltp_over_udp_that_nothing_paces(
        rate_kbit in 500_u32..5_000,
        rtt_ms in 20_u32..1_000,
        controller in prop_oneof![Just("ccid2"), Just("ccid3")],
    ) {
        let (rate, rtt) = (format!("{rate_kbit} kbit/s"), format!("{rtt_ms} ms"));
        let of = |transport: &str, controller: &str| {
            let link = [("rate", rate.as_str()), ("rtt", &rtt), ("flows.file.size", "10 MB")];
            let outcome = ran(&[&link[..], &[("transport", transport), ("controller", controller)]].concat());
            let of = |name| outcome.figures.get(name).unwrap();
            [of("packets_dropped"), of("packets_repaired"), of("goodput_bit_per_s")]
        };
        let ours = of("ltp-dccp", controller);
        let udp = of("ltp", r#"{ name = "fixed", rate = "100 Mbit/s" }"#);
        let run = format!("{controller} at {rate}, {rtt}: {ours:?}, over UDP {udp:?}");
        prop_assert!(ours[0] < udp[0] / 20.0 && ours[1] < udp[1] / 10.0, "{}", run);
        // After its start ccid3 grows slowly where round trips are long.
        prop_assert!(ours[2] > 0.9 * udp[2], "{}", run);
    }
}

#[test]
fn it_takes_the_controllers_of_dccp_and_the_keys_of_both() {
    let refused = |sets: &[(&str, &str)]| match file(sets).map(|file| file.points().err()) {
        Ok(why) => why.map_or(String::new(), |why| why.to_string()),
        Err(why) => why,
    };
    let line = refused(&[("controller", "contact_rate")]);
    assert!(line.contains("controller `contact_rate` is not supported over transport `dccp`"), "{line}");
    for (key, value) in [("receive_window", "1 MB"), ("block_symbols", "100")] {
        let line = refused(&[(&format!("flows.file.{key}"), value)]);
        assert!(line.contains("means nothing over LTP-DCCP"), "{line}");
    }
    let both = [
        ("flows.file.checkpoint_every", "100 kB"),
        ("flows.file.report_every", "1 s"),
        ("flows.file.copies", "2"),
        ("flows.file.ack_delay", "20 ms"),
        ("flows.file.sequence_window", "500"),
        ("flows.file.ecn", "true"),
        ("flows.file.fault", "inconsistent_loss"),
        ("flows.file.size", "1 MB"),
    ];
    assert_eq!(ran(&both).figures.get("flows_complete"), Some(2.0));
}
