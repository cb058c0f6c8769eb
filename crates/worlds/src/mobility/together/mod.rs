//! Nodes whose motion depends on other nodes: passengers wait for buses, friends for each other.
//!
//! A [`Shared`] model makes a [`Member`] of each of its nodes. Members meet in [`Systems`], which several groups may
//! share by number. A member that waits for another has no end of its pause: [`Going::Wait`]. The system wakes it
//! when that other node has acted.

mod buses;
mod evening;

pub use buses::{Ride, RidePolicy};
pub use evening::Walked;

use super::{Begin, Draw, Point};
use buses::BusSystem;
use evening::EveningSystem;
use std::collections::BTreeMap;
use std::fmt;

/// A model whose nodes depend on each other, or on nodes of other groups.
pub trait Shared: fmt::Debug {
    /// Makes known what the group brings to its systems: bus stops, meeting spots. Called for all groups, in their order,
    /// before any node joins; what two groups bring, the later one settles.
    fn announce(&self, systems: &mut Systems);
    /// In The ONE a group makes a prototype before its nodes, which takes a number and draws as they do. Called for each
    /// group before its nodes join; without `draw` nothing is drawn.
    fn prototype(&self, systems: &mut Systems, draw: Option<&mut dyn Draw>) {
        let _ = (systems, draw);
    }
    /// The `index`-th node of the group, of this number among all nodes, and where it begins.
    fn join(
        &self,
        node: u32,
        index: u32,
        systems: &mut Systems,
        draw: &mut dyn Draw,
    ) -> (Box<dyn Member>, Begin);
}

/// A node of a [`Shared`] model, as a state machine.
pub trait Member: fmt::Debug + Send {
    /// What the node does next; appends the points of a journey to `path`. After [`Going::Go`] and [`Going::Stay`]
    /// [`pause_s`](Member::pause_s) follows.
    fn depart(&mut self, turn: &mut Turn, path: &mut Vec<Point>) -> Going;
    /// How long the node rests at the end of a journey or where it stays, in seconds.
    fn pause_s(&mut self, turn: &mut Turn) -> f64;
}

/// What a member does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Going {
    /// It makes a journey at this speed, in m/s.
    Go(f64),
    /// It rests, and decides again after its pause.
    Stay,
    /// It rests until a system wakes it.
    Wait,
}

/// All that a member decides by.
pub struct Turn<'a> {
    /// The clock, in seconds; negative before the start of the run.
    pub now_s: f64,
    /// Where chance comes from.
    pub draw: &'a mut dyn Draw,
    /// What it shares with others.
    pub systems: &'a mut Systems,
}

impl Turn<'_> {
    /// The clock in whole seconds, rounded, as The ONE reads it where it counts in seconds.
    pub fn second(&self) -> i64 {
        (self.now_s + 0.5).floor() as i64
    }
}

/// What the members of all groups share.
#[derive(Debug, Default)]
pub struct Systems {
    buses: BTreeMap<u32, BusSystem>,
    evenings: BTreeMap<u32, EveningSystem>,
    /// Numbers of evening members that are given away; they count through all systems.
    evening_members: u32,
    /// Nodes that need not wait any longer.
    woken: Vec<u32>,
}

impl Systems {
    /// The nodes to wake, by number, since the last call.
    pub(super) fn take_woken(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.woken)
    }
}
