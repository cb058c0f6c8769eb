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
        let readings = Reading::others(scope).into_iter().chain(Reading::varied());
        // A reading that was not run says nothing.
        let was_run = |reading: &Reading| reading.was_run(results);
        let others: Vec<_> =
            readings.filter(was_run).map(|reading| (reading.clone(), Data::of(results, &reading))).collect();
        for claim in claims {
            let found = (claim.test)(&primary);
            let under = |(reading, data): &(Reading, Data<'_>)| {
                let other = (claim.test)(data);
                let tested = !matches!(other.holds, Holds::Untestable(_));
                // A claim that does not look at what is read otherwise finds the same to the last digit.
                let concerned = !reading.is_varied() || other.we_measure != found.we_measure;
                (tested && concerned).then(|| (reading.name.to_owned(), other.holds))
            };
            let readings = others.iter().filter_map(under).collect();
            verdicts.push(Verdict { readings, ..WORDS.verdict(claim.id, found) });
        }
    }
    verdicts.sort_by_key(|verdict| verdict.id[1..].parse::<u32>().unwrap_or(u32::MAX));
    verdicts
}

#[cfg(test)]
mod tests;
