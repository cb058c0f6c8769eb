//! Records: what happened in a run, of bundles, packets or named data. Worlds and nodes write them; the
//! judge, the metrics and the plots read them, and need nothing else.

pub mod bundles;
pub mod names;
mod observers;
pub mod packets;

use observers::observers;

/// What an algorithm shows to plots and traces: named numbers.
pub type Observation = Vec<(&'static str, f64)>;
