//! The tests of the claims in `study.toml`, as functions of a table of results.
//!
//! Nothing in them is tuned: the same few tests serve every claim ([`crate::shared::parts`]), and their margins are
//! named constants.

mod both_worlds;
pub(super) mod discussion;
mod interplanetary;
mod terrestrial;

use super::WORDS;
use super::readings::{Data, Reading, Scope};
use crate::shared::words::Claim;
use lightlag_lab::report::{Finding, Holds, Verdict};
use lightlag_lab::results::Results;

type Claims = &'static [Claim<fn(&Data<'_>) -> Finding>];

/// A claim with what is found under each reading.
pub struct Tested {
    /// Its number.
    pub id: &'static str,
    /// Under the primary reading.
    pub found: Finding,
    /// Under the other readings that it depends on and that were run.
    pub others: Vec<(Reading, Finding)>,
}

impl Tested {
    /// The readings under which the verdict is another one.
    pub fn changed(&self) -> impl Iterator<Item = &(Reading, Finding)> {
        self.others.iter().filter(|(_, other)| other.holds != self.found.holds)
    }

    /// As the report shows it.
    pub fn verdict(&self) -> Verdict {
        let one = |(reading, found): &(Reading, Finding)| (reading.name.to_owned(), found.holds.clone());
        let readings = self.others.iter().map(one).collect();
        Verdict { readings, ..WORDS.verdict(self.id, self.found.clone()) }
    }
}

/// All claims, tested under every reading that they depend on.
pub fn evaluate(results: &Results) -> Vec<Tested> {
    let primary = Data::of(results, &Reading::PRIMARY);
    let was_run = |reading: &Reading| reading.was_run(results);
    let read = |reading: Reading| (reading.clone(), Data::of(results, &reading));
    let varied: Vec<_> = Reading::varied().filter(was_run).map(read).collect();
    let mut all = Vec::new();
    for (claims, scope) in [
        (interplanetary::CLAIMS, Some(Scope::Interplanetary)),
        (terrestrial::CLAIMS, Some(Scope::Terrestrial)),
        (both_worlds::CLAIMS, Some(Scope::Interplanetary)),
        (discussion::CLAIMS, None),
    ] {
        let of_scenario: Vec<_> = scope.into_iter().flat_map(Reading::others).map(read).collect();
        for claim in claims {
            let found = (claim.test)(&primary);
            let under = |(reading, data): &(Reading, Data<'_>)| {
                let other = (claim.test)(data);
                let tested = !matches!(other.holds, Holds::Untestable(_));
                // A claim that does not look at what is read otherwise finds the same to the last digit.
                let concerned = !reading.is_varied() || other.we_measure != found.we_measure;
                // A reading of the scenario that was not run says nothing; RRCC at the floor does.
                (concerned && (tested || reading.is_varied())).then(|| (reading.clone(), other))
            };
            let others = of_scenario.iter().chain(&varied).filter_map(under).collect();
            all.push(Tested { id: claim.id, found, others });
        }
    }
    all.sort_by_key(|tested| tested.id[1..].parse::<u32>().unwrap_or(u32::MAX));
    all
}

#[cfg(test)]
mod tests;
