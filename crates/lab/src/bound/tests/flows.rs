//! The flow beside all cuts.

use super::super::flow::{Flow, Graph};
use proptest::prelude::*;

const VERTICES: u32 = 7;
const SINK: u32 = VERTICES - 1;

/// The most that `sources` can send together: the least of all cuts, which are all sets of vertices.
fn least_cut(arcs: &[(u32, u32, u64)], sources: &[(u32, u64)]) -> u64 {
    let cut = |inside: u32| {
        let has = |vertex: u32| inside & 1 << vertex != 0;
        let out: u64 = arcs.iter().filter(|arc| has(arc.0) && !has(arc.1)).map(|arc| arc.2).sum();
        out + sources.iter().filter(|source| !has(source.0)).map(|source| source.1).sum::<u64>()
    };
    (0..1 << SINK).map(cut).min().unwrap_or(0)
}

fn greedy(arcs: &[(u32, u32, u64)], sources: &[(u32, u64)]) -> Vec<u64> {
    let mut graph = Graph::default();
    arcs.iter().for_each(|&(from, to, room)| graph.arc(from, to, room));
    let mut flow = Flow::new(&graph, VERTICES, SINK);
    sources.iter().map(|&(source, amount)| flow.push(source, amount)).collect()
}

/// The best weighted sum over the polymatroid of all cuts, by trying all whole amounts.
fn best(arcs: &[(u32, u32, u64)], sources: &[(u32, u64)]) -> f64 {
    let mut amounts = vec![0; sources.len()];
    let mut best: f64 = 0.0;
    loop {
        let sent: Vec<(u32, u64)> =
            sources.iter().zip(&amounts).map(|(source, &sent)| (source.0, sent)).collect();
        if least_cut(arcs, &sent) == amounts.iter().sum::<u64>() {
            best = best.max(worth(sources, &amounts));
        }
        let Some(at) = (0..amounts.len()).find(|&at| amounts[at] < sources[at].1) else { return best };
        amounts[..at].fill(0);
        amounts[at] += 1;
    }
}

/// In bundles.
fn worth(sources: &[(u32, u64)], sent: &[u64]) -> f64 {
    sources.iter().zip(sent).map(|(source, &sent)| sent as f64 / source.1 as f64).sum()
}

fn graphs() -> impl Strategy<Value = Vec<(u32, u32, u64)>> {
    let arc = (0..VERTICES, 0..VERTICES, 0..8_u64);
    proptest::collection::vec(arc.prop_filter("no loops", |arc| arc.0 != arc.1), 0..24)
}

proptest! {
    #[test]
    fn what_all_sources_push_is_the_least_cut(
        arcs in graphs(),
        sources in proptest::collection::vec((0..SINK, 1..12_u64), 1..6),
    ) {
        let pushed = greedy(&arcs, &sources);
        for count in 1..=sources.len() {
            prop_assert_eq!(pushed[..count].iter().sum::<u64>(), least_cut(&arcs, &sources[..count]));
        }
    }

    #[test]
    fn smallest_first_is_worth_the_most_bundles(
        arcs in graphs(),
        mut sources in proptest::collection::vec((0..SINK, 1..6_u64), 1..4),
    ) {
        sources.sort_by_key(|source| source.1);
        let made = worth(&sources, &greedy(&arcs, &sources));
        prop_assert!((made - best(&arcs, &sources)).abs() < 1e-9);
    }
}
