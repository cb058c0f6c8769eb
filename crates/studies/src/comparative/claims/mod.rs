//! The tests of the claims in `study.toml`, as functions of a table of results.
//!
//! Nothing in them is tuned: the same few tests serve every claim ([`crate::shared::parts`]), and their margins are
//! named constants.

mod both_worlds;
mod interplanetary;
mod terrestrial;

use super::WORDS;
use super::readings::{Data, Reading, Scope};
use crate::shared::words::Claim;
use lightlag_lab::report::{Finding, Holds, Verdict};
use lightlag_lab::results::Results;

type Claims = &'static [Claim<fn(&Data<'_>) -> Finding>];

/// All claims, tested under every reading that they depend on.
pub fn evaluate(results: &Results) -> Vec<Verdict> {
    let primary = Data::of(results, &Reading::PRIMARY);
    let mut verdicts = Vec::new();
    for (claims, scope) in [
        (interplanetary::CLAIMS, Scope::Interplanetary),
        (terrestrial::CLAIMS, Scope::Terrestrial),
        (both_worlds::CLAIMS, Scope::Interplanetary),
    ] {
        let others: Vec<_> = Reading::others(scope)
            .into_iter()
            .map(|reading| (reading.name, Data::of(results, &reading)))
            .collect();
        for claim in claims {
            let mut verdict = WORDS.verdict(claim.id, (claim.test)(&primary));
            let readings = others.iter().map(|(name, data)| ((*name).to_owned(), (claim.test)(data).holds));
            // A reading that was not run says nothing.
            verdict.readings = readings.filter(|one| !matches!(one.1, Holds::Untestable(_))).collect();
            verdicts.push(verdict);
        }
    }
    verdicts.sort_by_key(|verdict| verdict.id[1..].parse::<u32>().unwrap_or(u32::MAX));
    verdicts
}

#[cfg(test)]
mod tests;
