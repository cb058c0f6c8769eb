//! Life: a copy spreads and stays only among a suitable number of neighbours that hold one, as in Conway's game.

use crate::dtn::{Entry, Local, NodeId, Parameter, Replica, Router, RouterEvent, RouterProperties};

/// Gives a copy to every peer without one that has enough neighbours with one, and not too many.
pub struct Life;

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "life",
    paper: "Keränen, Ott, Kärkkäinen: The ONE simulator for DTN protocol evaluation, SIMUTools 2009",
    parameters: &[
        Parameter::integer(
            "least",
            1.0,
            (0.0, 1e6),
            "fewest peers in contact that hold a bundle for a node to keep it",
        ),
        Parameter::integer(
            "most",
            3.0,
            (0.0, 1e6),
            "most peers in contact that hold a bundle for a node to keep it",
        ),
    ],
    only_with: &[],
    properties: |given, _| RouterProperties {
        holders: Some((given.number("least") as u32, given.number("most") as u32)),
        ..RouterProperties::NONE
    },
    build: |_, _| Box::new(Life),
};

impl Router for Life {
    fn score(&self, _: &Local, _: &Replica, _: NodeId) -> Option<f64> {
        Some(0.0)
    }
    /// Fewer neighbours, other numbers of holders.
    fn on_event(&mut self, _: &Local, event: &RouterEvent) -> bool {
        matches!(event, RouterEvent::ContactDown { .. })
    }
}
