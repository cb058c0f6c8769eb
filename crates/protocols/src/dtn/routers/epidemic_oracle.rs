//! Epidemic routing by an oracle: transfers take no time, and what is delivered vanishes everywhere at once.

use crate::dtn::{Entry, Local, NodeId, Replica, Router, RouterProperties};

/// Gives a copy to every peer without one, at once: the best that buffers allow.
pub struct EpidemicOracle;

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "epidemic_oracle",
    paper: "Keränen, Ott, Kärkkäinen: The ONE simulator for DTN protocol evaluation, SIMUTools 2009",
    parameters: &[],
    only_with: &[],
    properties: |_, _| RouterProperties { instant: true, keeps_expired: true, ..RouterProperties::NONE },
    build: |_, _| Box::new(EpidemicOracle),
};

impl Router for EpidemicOracle {
    fn score(&self, _: &Local, _: &Replica, _: NodeId) -> Option<f64> {
        Some(0.0)
    }
}
