//! Who decides where a node goes: the model of its group, or its own state machine.

use super::together::{Going, Member, Systems, Turn};
use super::{Draw, Model, Point, Spot};

/// Who decides where a node goes.
pub(super) enum Guide<'a> {
    /// A model without memory.
    Model(&'a dyn Model),
    /// A state machine of its own, and what it shares with others.
    Member(&'a mut dyn Member, &'a mut Systems),
}

impl Guide<'_> {
    /// What a node does next that stands at `spot`, which becomes where it will be.
    pub(super) fn depart(
        &mut self,
        now_s: f64,
        spot: &mut Spot,
        draw: &mut dyn Draw,
        path: &mut Vec<Point>,
    ) -> Going {
        match self {
            Self::Model(model) => {
                let journey = model.depart(*spot, draw, path);
                *spot = journey.to;
                Going::Go(journey.speed_m_per_s)
            }
            Self::Member(member, systems) => member.depart(&mut Turn { now_s, draw, systems }, path),
        }
    }
    /// How long it rests at the end of its journey, or where it stays, in seconds.
    pub(super) fn pause_s(&mut self, now_s: f64, spot: Spot, draw: &mut dyn Draw) -> f64 {
        match self {
            Self::Model(model) => model.pause_s(spot, draw),
            Self::Member(member, systems) => member.pause_s(&mut Turn { now_s, draw, systems }),
        }
    }
}
