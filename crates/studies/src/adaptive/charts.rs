//! Figures 7a to 7d, and the shares on the curves that were drawn.

use super::curves::Curve;
use super::plan::{DAEMONS, KERNEL_2008, PLAIN, POLICY, SCENARIOS, TCP_2008, UDP};
use super::{EVERY_S, on_curves};
use crate::shared::charts::{alone, figure, mark, plot};
use crate::shared::over_time::Series;
use lightlag_lab::figure;
use lightlag_lab::report::Figure;
use lightlag_lab::results::Results;

/// Multiple of the rate of the link beyond which a linear axis would show bursts alone.
const BURST: f64 = 8.0;
/// Letters of the paper's figures: TCP alone, then swapping.
const FIGURES: [[&str; 2]; 2] = [["7a", "7b"], ["7c", "7d"]];

/// All of them.
pub fn all(results: &Results, runs: &[&Series]) -> Vec<Figure> {
    let scenario = |which: usize| {
        let alone = over_time(runs, which, FIGURES[which][0], &[TCP_2008, KERNEL_2008], "TCP alone");
        [alone, over_time(runs, which, FIGURES[which][1], &[PLAIN, UDP, POLICY, DAEMONS], "swapping")]
    };
    (0..SCENARIOS.len()).flat_map(scenario).chain([shares(results)]).collect()
}

fn over_time(runs: &[&Series], which: usize, letter: &str, variants: &[&str], what: &str) -> Figure {
    let (scenario, curve) = (SCENARIOS[which].0, [Curve::short(), Curve::long()][which].clone());
    // The delay is drawn as high as the throughput.
    let most = curve.points.iter().map(|point| point.1).fold(0.0, f64::max);
    let delays = (0..=240).map(|step| f64::from(step) * 5.0);
    let name = format!("delay, {most} s at {}", curve.rate);
    let mut points: Vec<(f64, &str, f64)> =
        delays.map(|at| (at, name.as_str(), curve.delay(at) / most * curve.rate)).collect();
    for seen in runs.iter().filter(|seen| seen.figure == scenario && variants.contains(&seen.variant)) {
        points.extend(seen.throughput.iter().map(|&(at, packets)| (at, seen.variant, packets)));
    }
    let highest = points.iter().map(|point| point.2).fold(0.0, f64::max);
    let mut drawn = figure::over_time("packets delivered", "1/s", points.into_iter());
    let is_compressed = highest > BURST * curve.rate;
    if is_compressed {
        figure::compress_above(&mut drawn, curve.rate, highest);
    }
    let caption = format!(
        "Scenario {}: packets delivered in a second, means of {EVERY_S} s. In-order delivery comes in bursts: a lost \
         packet holds back those after it.{}",
        which + 1,
        if is_compressed { " The axis is logarithmic above the rate of the link." } else { "" }
    );
    let (id, title) = (format!("figure_{letter}"), format!("Figure {letter}: {what}"));
    figure((&id, &title, &caption), drawn)
}

fn shares(results: &Results) -> Figure {
    let mut marks = Vec::new();
    for (number, oracle, policy, limit) in on_curves(results) {
        let at = |series, share| mark(number as f64, series, None, alone(100.0 * share));
        marks.push(at("the oracle", policy / oracle));
        marks.push(at("the limit", policy / limit));
    }
    let mut plot = plot("policy, in percent of", ("curve", ""), ("share", "%"), marks);
    plot.columns = 1;
    let caption = "Twenty minutes each; even numbers lose up to 5 %. After a sudden rise of the delay nothing arrives \
                   for two delays, and only probes are sent: that is the gap to the limit.";
    figure(("curves", "Delay curves that were drawn", caption), figure::lines(&plot))
}
