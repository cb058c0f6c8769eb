//! Does the paper hold? One folder a study: its plan, its claims and its charts; what they share is in [`shared`].

pub mod adaptive;
pub mod arc;
pub mod comparative;
pub mod dccp;
pub mod dcp;
pub mod real;
pub mod scorecard;
pub mod shared;
#[cfg(test)]
#[path = "../../../tests/skip.rs"]
mod skip;
pub mod traces;
pub mod universal;

pub use shared::{Error, Order, REPORT_FILE, Real, Studied, Study};

/// Every study.
pub const STUDIES: [Study; 8] = [
    adaptive::STUDY,
    arc::STUDY,
    dccp::STUDY,
    dcp::STUDY,
    comparative::STUDY,
    scorecard::STUDY,
    universal::STUDY,
    traces::STUDY,
];

/// The study of this name.
///
/// # Errors
/// The name is unknown; the message lists all names.
pub fn find(name: &str) -> Result<Study, String> {
    let found = STUDIES.into_iter().find(|study| study.name == name);
    found.ok_or_else(|| format!("unknown study `{name}`; known: {}", names()))
}

/// The names of all, in one line.
pub fn names() -> String {
    STUDIES.map(|study| study.name).join(", ")
}
