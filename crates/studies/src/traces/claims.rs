//! What `docs/algorithms/copy_value.md` says of recorded contacts, tested.

use super::WORDS;
use crate::shared::parts::NOT_RUN;
use crate::universal::cells::{Measure, Standing};
use crate::universal::claims::{listed, nowhere_worse};
use lightlag_lab::report::{Finding, Holds, Verdict};
use lightlag_lab::results::{Results, number};

/// Times the bytes per byte of the best other.
const MOST: f64 = 2.0;

/// The claims of `study.toml`, tested.
pub fn evaluate(all: &[Standing<'_>], results: &Results) -> Vec<Verdict> {
    let here: Vec<&Standing<'_>> = all.iter().collect();
    vec![
        WORDS.verdict("R1", nowhere_worse(&here, Measure::Ratio)),
        WORDS.verdict("R2", nowhere_dear(&here)),
        WORDS.verdict("R3", without_a_plan(results)),
    ]
}

fn nowhere_dear(all: &[&Standing<'_>]) -> Finding {
    let share = |one: &Standing<'_>| one.by(Measure::Bytes).map(|found| found.ours / found.other);
    let mut known: Vec<(&Standing<'_>, f64)> =
        all.iter().filter_map(|one| Some((*one, share(one)?))).collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(&(worst, most)) = known.first() else { return Finding::untestable(NOT_RUN) };
    let dear: Vec<&Standing<'_>> = known.iter().filter(|one| one.1 > MOST).map(|one| one.0).collect();
    let we_measure = format!(
        "above in {} of {} cells; at most {} times as many, in {}",
        dear.len(),
        known.len(),
        number(most),
        worst.cell.told()
    );
    let holds = if dear.is_empty() { Holds::Yes } else { Holds::No };
    Finding { holds, we_measure: we_measure + &listed(&dear, Measure::Bytes) }
}

/// No node of any run had an algorithm that reads a plan.
fn without_a_plan(results: &Results) -> Finding {
    let known: Vec<f64> = results.rows.iter().filter_map(|row| row.metric("plan_nodes")).collect();
    if known.is_empty() {
        return Finding::untestable(NOT_RUN);
    }
    let planned = known.iter().filter(|nodes| **nodes > 0.0).count();
    let holds = if planned == 0 { Holds::Yes } else { Holds::No };
    Finding { holds, we_measure: format!("a plan was read in {planned} of {} runs", known.len()) }
}
