//! Connections that stay while what carries them changes (Petz and Julien, "An Adaptive Architecture to
//! Support Delay Tolerant Networking", 2008, section 3).
//!
//! Two daemons carry the connections of applications for them. Each direction is a stream of bytes with
//! offsets, so it does not matter which [`Stack`] brought which part, how often, or in which order: what was
//! acknowledged is there, everything else is carried again by whatever stack is in use now. A [`Session`] is
//! one daemon's side of all connections that two daemons have between them.

mod best;
mod budget;
mod connection;
mod connections;
mod datagrams;
mod heard;
mod incoming;
mod loss_meter;
mod outgoing;
mod over;
mod path;
mod policy;
mod ready;
mod train;
mod waiting;
mod why;

pub use best::Best;
pub use budget::{Budget, CONNECTION_COST, UNADVERTISED_MOST, WINDOW_LEAST};
pub use connection::{Connection, Notice, State, Telling};
pub use connections::{Config, Event, Session, Stored, Ticket};
pub use datagrams::{
    Config as DatagramsConfig, Counts as DatagramsCounts, DATAGRAM_LEAST, DatagramArrival, Datagrams,
};
pub use incoming::Incoming;
pub use loss_meter::Fate;
pub use outgoing::{Outgoing, Piece};
pub use path::Path;
pub use policy::{
    Config as PolicyConfig, Context, DatagramsContext, Kind, Planned, Policy, StreamContext, Switch,
};
pub use why::{Share, StackReason};

/// Names what carries frames: TCP, UDPDTN and others, as the driver numbers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stack(pub u8);

/// Connections have a priority below this; a higher one has twice the share of the next lower.
pub const PRIORITIES: u8 = 4;
