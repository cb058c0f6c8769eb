//! Evening systems: spots where friends meet before they walk on together.
//!
//! Each member has one spot. The first member bound for a spot draws how many will meet there; when that many have set
//! out the next ones form a new party. A party leaves together when all of it are there, which may take days.

use super::Systems;
use crate::mobility::{Bounds, Draw, Point};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Members and meeting spots of one number.
#[derive(Debug, Default)]
pub(super) struct EveningSystem {
    /// Vertices of the map.
    spots: Vec<u32>,
    /// The party at each spot that still takes members.
    open: BTreeMap<u32, u64>,
    parties: BTreeMap<u64, Party>,
    next_party: u64,
}

#[derive(Debug)]
struct Party {
    /// How many will meet.
    size: u32,
    /// Nodes that have set out or are there.
    members: Vec<u32>,
    /// How many are there, and how many have left.
    present: u32,
    left: u32,
    walk: Option<Arc<Walked>>,
}

/// Where a party goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Walked {
    /// The points of its walk.
    pub points: Vec<Point>,
    /// Speed in m/s.
    pub speed_m_per_s: f64,
    /// The vertex at the end.
    pub to: u32,
    /// Rest at the end, in seconds.
    pub pause_s: f64,
}

impl Party {
    fn is_complete(&self) -> bool {
        self.members.len() as u32 >= self.size && self.present >= self.members.len() as u32
    }
}

impl Systems {
    fn evening(&mut self, system: u32) -> &mut EveningSystem {
        self.evenings.entry(system).or_default()
    }
    /// Sets the meeting spots of a system, as vertices; those of the group founded last count.
    pub fn set_spots(&mut self, system: u32, spots: &[u32]) {
        self.evening(system).spots = spots.to_vec();
    }
    /// The next number of an evening member; prototypes take one too.
    pub fn evening_member(&mut self) -> u32 {
        self.evening_members += 1;
        self.evening_members - 1
    }
    /// A member sets out for its spot: the spot, and the number of its party.
    pub fn join_party(
        &mut self,
        system: u32,
        member: u32,
        node: u32,
        size: Bounds<f64>,
        draw: &mut dyn Draw,
    ) -> Option<(u32, u64)> {
        let evening = self.evening(system);
        let index = member.checked_rem(evening.spots.len() as u32)?;
        let number = *evening.open.entry(index).or_insert_with(|| {
            let size = draw.within(size) as u32;
            let party = Party { size, members: Vec::new(), present: 0, left: 0, walk: None };
            evening.parties.insert(evening.next_party, party);
            evening.next_party += 1;
            evening.next_party - 1
        });
        let party = evening.parties.get_mut(&number)?;
        party.members.push(node);
        if party.members.len() as u32 >= party.size {
            evening.open.remove(&index);
        }
        Some((evening.spots[index as usize], number))
    }
    /// A member has come to its spot.
    pub fn reach_party(&mut self, system: u32, party: u64) {
        let Some(party) = self.evenings.get_mut(&system).and_then(|e| e.parties.get_mut(&party)) else {
            return;
        };
        party.present += 1;
        if party.is_complete() {
            self.woken.extend_from_slice(&party.members);
        }
    }
    /// A member leaves with its party, if all are there. The first one chooses the walk.
    pub fn leave_party(
        &mut self,
        system: u32,
        party: u64,
        choose: impl FnOnce() -> Walked,
    ) -> Option<Arc<Walked>> {
        let parties = &mut self.evenings.get_mut(&system)?.parties;
        let of = parties.get_mut(&party).filter(|party| party.is_complete())?;
        let walk = of.walk.get_or_insert_with(|| Arc::new(choose())).clone();
        of.left += 1;
        if of.left >= of.members.len() as u32 {
            parties.remove(&party);
        }
        Some(walk)
    }
}
