//! No congestion control: the oldest copy goes, as in The ONE.

use crate::dtn::{BufferDecision, Bundle, BundleId, Entry, Local, Mechanism, Needs};

/// Drops the router's victim, or else the copy that was received first.
pub struct None;

/// Its row in the table of mechanisms.
pub const ENTRY: Entry<dyn Mechanism> = Entry {
    name: "none",
    paper: "Keränen, Ott, Kärkkäinen: The ONE simulator for DTN protocol evaluation, SIMUTools 2009",
    parameters: &[],
    only_with: &[],
    properties: |_, _| Needs::NONE,
    build: |_, _| Box::new(None),
};

impl Mechanism for None {
    fn make_room(&mut self, at: &Local, _: &Bundle, preferred: Option<BundleId>) -> BufferDecision {
        preferred
            .or_else(|| at.store.oldest_idle().map(|oldest| oldest.bundle.id))
            .map_or(BufferDecision::Refuse, BufferDecision::Drop)
    }
}
