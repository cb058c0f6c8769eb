//! The words of a study: its file `study.toml`, compiled in.

use lightlag_lab::report::{Finding, Holds, Verdict};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Title, introduction and claims.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Heading of the report.
    pub title: String,
    /// Warning of a quick look.
    pub quick: String,
    /// The paper in BibTeX; empty without one.
    #[serde(default)]
    pub cite: String,
    introduction: Vec<String>,
    /// By their number: figure or section of the paper, and the claim.
    claims: BTreeMap<String, [String; 2]>,
    /// What of the report shows a claim, where that is not called as its figure: the name of a figure, or how the heading of a
    /// table begins.
    #[serde(default)]
    shown: BTreeMap<String, String>,
}

/// How a claim is tested: its number, a test, and the same where the paper can be read otherwise.
pub struct Claim<C: 'static> {
    /// Number in `study.toml`.
    pub id: &'static str,
    /// The test.
    pub test: C,
    /// Name and test of each other reading.
    pub readings: &'static [(&'static str, C)],
}

/// A claim that can be read in one way only.
pub const fn claim<C: Copy>(id: &'static str, test: C) -> Claim<C> {
    Claim { id, test, readings: &[] }
}

impl<C: Copy> Claim<C> {
    /// With other readings.
    #[must_use]
    pub const fn or(self, readings: &'static [(&'static str, C)]) -> Self {
        Self { readings, ..self }
    }
}

impl Words {
    /// Reads what is compiled in.
    ///
    /// # Panics
    /// If it is not what [`Words`] has; tests read every file.
    pub fn read(text: &str) -> Self {
        toml::from_str(text).expect("the words of a study are valid")
    }

    /// The introduction, with these facts in place of their `{names}`.
    pub fn introduction(&self, facts: &[(&str, String)]) -> Vec<String> {
        let filled = |text: &String| {
            facts.iter().fold(text.clone(), |text, (name, fact)| text.replace(&format!("{{{name}}}"), fact))
        };
        self.introduction.iter().map(filled).collect()
    }

    /// All claims, tested. Readings that were not run are skipped.
    pub fn verdicts<C: Copy>(
        &'static self,
        claims: &[Claim<C>],
        test: impl Fn(C) -> Finding,
    ) -> Vec<Verdict> {
        let verdict = |claim: &Claim<C>| {
            let mut verdict = self.verdict(claim.id, test(claim.test));
            let readings =
                claim.readings.iter().map(|(name, check)| ((*name).to_owned(), test(*check).holds));
            verdict.readings =
                readings.filter(|reading| !matches!(reading.1, Holds::Untestable(_))).collect();
            verdict
        };
        claims.iter().map(verdict).collect()
    }

    /// A claim beside what was found.
    ///
    /// # Panics
    /// If the claim is not in `study.toml`.
    pub fn verdict(&'static self, id: &'static str, found: Finding) -> Verdict {
        let [figure, says] = self.claims.get(id).unwrap_or_else(|| panic!("study.toml has no claim {id}"));
        Verdict { shown: self.shown.get(id).cloned(), ..Verdict::new(id, figure, says, found) }
    }

    #[cfg(test)]
    pub(crate) fn claims(&self) -> impl Iterator<Item = &str> {
        self.claims.keys().map(String::as_str)
    }
}
