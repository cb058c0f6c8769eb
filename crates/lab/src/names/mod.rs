//! Runs of names, and what came of their consumers.

mod figures;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use run::run;
