//! Why what was asked for was not done.

use thiserror::Error as ThisError;

/// Why what was asked for was not done.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum Error {
    /// It cannot be done: one line that says where, what, and what would be right.
    #[error("{0}")]
    Input(String),
    /// It was tried and failed: one line.
    #[error("{0}")]
    Failed(String),
}
