//! Runs of names, and what came of their consumers.

mod figures;
#[cfg(test)]
mod tests;

pub(crate) use figures::figures;
