//! Claims of papers beside what was measured.

use super::compared::Compared;
use serde::Serialize;

/// Whether a claim is so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// All of it.
    Yes,
    /// None of it.
    No,
    /// Some of it; or undecided: the direction is right, but chance would explain it.
    Partly,
    /// These runs cannot test it, for this reason.
    Untestable(String),
}

impl Holds {
    /// One word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Partly => "partly",
            Self::Untestable(_) => "untestable",
        }
    }

    /// Why it cannot be tested; empty otherwise.
    pub fn reason(&self) -> &str {
        if let Self::Untestable(reason) = self { reason } else { "" }
    }
}

/// What a claim's function finds under one reading of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Whether it is so.
    pub holds: Holds,
    /// Figures and intervals.
    pub we_measure: String,
    /// How many parts of the claim hold beyond chance, and how many it has; `None`: it is not made of parts.
    pub parts: Option<[usize; 2]>,
    /// The numbers that are compared with the claim; empty for a claim that compares none.
    pub compared: Vec<Compared>,
}

impl Finding {
    /// Of a claim that is not made of parts.
    pub fn new(holds: Holds, we_measure: impl Into<String>) -> Self {
        Self { holds, we_measure: we_measure.into(), parts: None, compared: Vec::new() }
    }

    /// These runs cannot test it.
    pub fn untestable(reason: impl Into<String>) -> Self {
        Self::new(Holds::Untestable(reason.into()), "")
    }

    /// With the number of parts that hold beyond chance, and of all.
    #[must_use]
    pub fn of_parts(self, hold: usize, all: usize) -> Self {
        Self { parts: Some([hold, all]), ..self }
    }

    /// With the numbers that are compared.
    #[must_use]
    pub fn comparing(self, compared: Vec<Compared>) -> Self {
        Self { compared, ..self }
    }

    /// "yes", or "partly, 2 of 3", or "undecided, 0 of 3".
    pub fn words(&self) -> String {
        words(&self.holds, self.parts)
    }
}

fn words(holds: &Holds, parts: Option<[usize; 2]>) -> String {
    match (holds, parts) {
        (Holds::Partly, Some([0, all])) => format!("undecided, 0 of {all}"),
        (Holds::Partly, Some([hold, all])) => format!("{}, {hold} of {all}", holds.word()),
        _ => holds.word().to_owned(),
    }
}

/// A claim beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Its number.
    pub id: &'static str,
    /// Figure or section of the paper.
    pub figure: &'static str,
    /// The claim in short.
    pub paper_says: &'static str,
    /// Figures and intervals under the primary reading.
    pub we_measure: String,
    /// Whether it is so under the primary reading.
    pub holds: Holds,
    /// How many of its parts hold beyond chance under the primary reading, and how many it has.
    pub parts: Option<[usize; 2]>,
    /// The numbers that are compared with what is claimed, under the primary reading.
    pub compared: Vec<Compared>,
    /// The same test where the paper can be read otherwise.
    pub readings: Vec<(String, Holds)>,
    /// What of the report shows it: the name of a figure, or the heading of a table; `None`: what its figure is called.
    pub shown: Option<String>,
}

impl Verdict {
    /// Of a claim that can be read in one way only.
    pub fn new(id: &'static str, figure: &'static str, paper_says: &'static str, finding: Finding) -> Self {
        let Finding { holds, we_measure, parts, compared } = finding;
        Self { id, figure, paper_says, we_measure, holds, parts, compared, readings: Vec::new(), shown: None }
    }

    /// "yes", or "partly, 2 of 3".
    pub fn words(&self) -> String {
        words(&self.holds, self.parts)
    }
}
