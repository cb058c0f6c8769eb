//! What nodes know of later contacts, by whole scenarios.

use crate::{Catalogue, ScenarioFile, Seed};
use lightlag_protocols::dtn::{ContactPlan, NodeId};
use lightlag_protocols::time::Instant;
use lightlag_worlds::messages::Setup;
use proptest::prelude::*;
use std::sync::Arc;

/// Four nodes and these sources of contacts, of which number i is one contact at i h.
fn read(sources: &[&str]) -> crate::Result<Setup> {
    let mut text =
        "duration = \"30 h\"\nrouter = \"contact_graph\"\nbuffer = \"4 MB\"\n[nodes.n]\ncount = 4\n"
            .to_owned();
    for (lines, at) in sources.iter().zip(0..) {
        text += &format!(
            "[contacts.c{at}]\n{lines}\nrate = \"1 Mbit/s\"\ndelay = \"1 s\"\n\
             rows = [{{ a = \"n0\", b = \"n1\", start = \"{at} h\", end = \"{} s\" }}]\n",
            at * 3600 + 60
        );
    }
    let file = ScenarioFile::from_toml("s.toml", &text, ".".into(), Catalogue::default().into())?;
    file.points()?.list[0].scenario.bundles().unwrap().setup(Seed::Number(1))
}

/// What a node knows at a time: the hours at which contacts begin.
fn known(setup: &Setup, node: u32, at_s: i64) -> Vec<i64> {
    let at = Instant::from_secs(at_s);
    let mut learnt = setup.revisions.iter().filter(|r| r.at <= at && r.nodes.contains(&NodeId(node)));
    let plan: &Arc<ContactPlan> = learnt.next_back().map_or(&setup.plan, |revision| &revision.plan);
    let there = plan.contacts().iter().filter(|contact| contact.from == NodeId(0));
    there.map(|contact| contact.start.as_nanos() / 3_600_000_000_000).collect()
}

#[test]
fn a_plan_is_known_to_all_nodes_from_the_start_unless_the_scenario_says_otherwise() {
    let all = read(&["", ""]).unwrap();
    assert_eq!((known(&all, 3, 0), all.revisions.len()), (vec![0, 1], 0));
    let some = read(&["", "known_to = \"n0, n2..n3\""]).unwrap();
    assert_eq!([0, 1, 2, 3].map(|node| known(&some, node, 0).len()), [2, 1, 2, 2]);
    assert_eq!(some.contacts.list.len(), 2, "both take place");
    let none = read(&["known_to = \"n0\""]).unwrap();
    assert!(none.revisions.iter().all(|revision| revision.plan.is_empty()));
}

#[test]
fn a_wrong_plan_is_replaced_by_the_right_one_at_a_time() {
    let wrong = "happens = false\nknown_until = \"2 h\"";
    let setup = read(&[wrong, "known_from = \"2 h\"", "known_from = \"2 h\"\nknown_to = \"n1\""]).unwrap();
    assert_eq!([0, 7199, 7200].map(|at| known(&setup, 0, at)), [vec![0], vec![0], vec![1]]);
    assert_eq!([0, 7200].map(|at| known(&setup, 1, at)), [vec![0], vec![1, 2]]);
    assert_eq!(setup.contacts.list.len(), 2);
}

#[test]
fn what_makes_no_sense_of_knowledge_is_refused_in_one_line() {
    let wrong = |lines| read(&[lines]).map(drop).unwrap_err().to_string();
    let no_plan = wrong("plan = false\nknown_from = \"1 h\"");
    assert!(no_plan.contains("`contacts.c0.known_from`: these contacts are no plan; "), "{no_plan}");
    let never = wrong("known_from = \"1 h\"\nknown_until = \"1 h\"");
    assert!(
        never.starts_with("s.toml:8: nodes would forget the contacts before they know them; "),
        "{never}"
    );
    let unknown = wrong("known_to = \"n9\"");
    assert!(unknown.starts_with("s.toml:7: "), "{unknown}");
}

proptest! {
    #[test]
    fn at_every_time_each_node_knows_what_its_sources_say(
        drawn in prop::collection::vec((0_u32..16, 0_i64..20, 1_i64..20, any::<bool>()), 1..6),
    ) {
        let (from, until) = (|&(_, from, ..): &(u32, i64, i64, bool)| from, |&(_, from, lasts, _): &(u32, i64, i64, bool)| from + lasts);
        let lines: Vec<String> = drawn
            .iter()
            .map(|source| {
                let nodes: Vec<String> = (0..4).filter(|n| source.0 >> n & 1 == 1).map(|n| format!("n{n}")).collect();
                let to = if source.0 == 0 { String::new() } else { format!("known_to = \"{}\"\n", nodes.join(", ")) };
                format!("{to}known_from = \"{} h\"\nknown_until = \"{} h\"\nhappens = {}", from(source), until(source), source.3)
            })
            .collect();
        let setup = read(&lines.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        prop_assert!(setup.revisions.is_sorted_by_key(|revision| revision.at));
        for (node, hour) in (0..4).flat_map(|node| (0..30).map(move |hour| (node, hour))) {
            let knows = |source: &(u32, i64, i64, bool)| {
                (source.0 == 0 || source.0 >> node & 1 == 1) && (from(source)..until(source)).contains(&hour)
            };
            let expected: Vec<i64> = (0..).zip(&drawn).filter(|(_, source)| knows(source)).map(|(at, _)| at).collect();
            prop_assert_eq!(known(&setup, node, hour * 3600), expected, "node {} at {} h", node, hour);
        }
    }
}
