//! What a run amounts to: its figures, and The ONE's report files.

mod collect;
mod figures;
mod number;
mod summary;
pub mod the_one;
mod waits;

pub use collect::Metrics;
pub use figures::{Build, Figures, Part, RunName};
pub use number::{number, with_interval};
pub(crate) use summary::metrics;
pub use summary::{BUNDLES, Metric, Number, Summary, numbers};

/// Whether a metric is a share of a whole, from 0 to 1.
pub fn is_share(name: &str) -> bool {
    matches!(name, "delivery_prob" | "response_prob" | "fairness" | "jain")
        || name.starts_with("delivered_by_")
}
