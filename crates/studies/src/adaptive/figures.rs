//! Figures 7a to 7d, and the shares on the curves that were drawn.

use super::curves::Curve;
use super::plan::{DAEMONS, KERNEL_2008, PLAIN, POLICY, SCENARIOS, TCP_2008};
use super::runs::{EVERY_S, Seen};
use super::view::curves;
use crate::view::mark;
use lightlag_lab::figure::{self, Plot, Title};
use lightlag_lab::report::Figure;
use lightlag_lab::results::Results;
use lightlag_lab::statistics::Estimate;

/// Letters of the paper's figures: TCP alone, then swapping.
const FIGURES: [[&str; 2]; 2] = [["7a", "7b"], ["7c", "7d"]];

/// All of them.
pub fn all(results: &Results, runs: &[Seen]) -> Vec<Figure> {
    let scenario = |which: usize| {
        let alone = over_time(runs, which, FIGURES[which][0], &[TCP_2008, KERNEL_2008], "TCP alone");
        [alone, over_time(runs, which, FIGURES[which][1], &[PLAIN, POLICY, DAEMONS], "swapping")]
    };
    (0..SCENARIOS.len()).flat_map(scenario).chain([shares(results)]).collect()
}

fn over_time(runs: &[Seen], which: usize, letter: &str, variants: &[&str], what: &str) -> Figure {
    let (figure, curve) = (SCENARIOS[which].0, [Curve::short(), Curve::long()][which].clone());
    // The delay is drawn as high as the throughput.
    let most = curve.points.iter().map(|point| point.1).fold(0.0, f64::max);
    let delays = (0..=240).map(|step| f64::from(step) * 5.0);
    let name = format!("delay, {most} s at {}", curve.rate);
    let mut points: Vec<(f64, &str, f64)> =
        delays.map(|at| (at, name.as_str(), curve.delay(at) / most * curve.rate)).collect();
    for seen in runs.iter().filter(|seen| seen.figure == figure && variants.contains(&seen.variant)) {
        points.extend(seen.throughput.iter().map(|&(at, packets)| (at, seen.variant, packets)));
    }
    let caption = format!(
        "Scenario {}: packets delivered in a second, means of {EVERY_S} s. What is delivered in order comes in bursts: a \
         packet that was lost holds back what came after it.",
        which + 1
    );
    Figure {
        id: format!("figure_{letter}"),
        title: format!("Figure {letter}: {what}"),
        caption,
        specification: figure::over_time("packets delivered", "1/s", points.into_iter()),
    }
}

fn shares(results: &Results) -> Figure {
    let alone = |value: f64| Estimate { mean: 100.0 * value, n: 1, half_width: None };
    let mut marks = Vec::new();
    for (number, oracle, policy, limit) in curves(results) {
        marks.push(mark(number as f64, "policy, of the oracle", None, alone(policy / oracle)));
        marks.push(mark(number as f64, "policy, of the limit", None, alone(policy / limit)));
    }
    let plot = Plot {
        title: String::new(),
        x: Title::plain("curve"),
        y: Title::with_unit("share", "%"),
        series: Title::plain(""),
        baseline_series: None,
        columns: 1,
        shared_y: true,
        marks,
    };
    Figure {
        id: "curves".to_owned(),
        title: "Delay curves that were drawn".to_owned(),
        caption: "Twenty minutes each; even numbers lose up to 5 %. After a delay has risen at once nobody is heard for \
                  two delays, and nothing but questions is sent: that is what lacks of the limit."
            .to_owned(),
        specification: figure::lines(&plot),
    }
}
