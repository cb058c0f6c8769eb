//! What becomes of Interests.

use super::data::content;
use super::rules::{NamesRules, span};
use super::{Kind, NamesJudge};
use lightlag_protocols::ndn::{Face, Interest, Name, Refused};
use smallvec::SmallVec;
use std::collections::HashMap;

/// An Interest that has just come to a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hand {
    pub node: u32,
    pub face: Face,
    pub interest: Interest,
    /// Bytes on a link.
    pub size: u32,
    /// It came by a link, and is no copy made there.
    pub crossed: bool,
}

/// Interests in flight by name and nonce, with the nodes they have passed. Never iterated.
#[derive(Clone, Debug, Default)]
pub(super) struct Trips(HashMap<(u64, u32), Trip>);

#[derive(Clone, Debug, Default)]
struct Trip {
    /// Links that it is on now, without copies made by a link.
    under_way: u32,
    /// Nodes that have passed it on, and by which faces it had come.
    passed: SmallVec<[(u32, Face); 4]>,
}

impl Trips {
    /// The face by which it came when the node passed it on.
    fn face_at(&self, interest: &Interest, node: u32) -> Option<Face> {
        let trip = self.0.get(&key(interest))?;
        trip.passed.iter().find(|at| at.0 == node).map(|at| at.1)
    }
    fn goes_on(&mut self, hand: &Hand) {
        let trip = self.0.entry(key(&hand.interest)).or_default();
        trip.under_way += 1;
        if !trip.passed.contains(&(hand.node, hand.face)) {
            trip.passed.push((hand.node, hand.face));
        }
    }
    /// One is no longer on a link.
    pub(super) fn landed(&mut self, interest: &Interest) {
        let Some(trip) = self.0.get_mut(&key(interest)) else { return };
        trip.under_way = trip.under_way.saturating_sub(1);
        if trip.under_way == 0 {
            self.0.remove(&key(interest));
        }
    }
}

impl Trips {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

fn key(interest: &Interest) -> (u64, u32) {
    (interest.name.word(), interest.nonce)
}

impl NamesJudge {
    /// A consumer asks its node.
    pub(super) fn asks(&mut self, consumer: u32, interest: Interest) {
        let rules = self.rules.consumers[consumer as usize];
        let wanted = (consumer, interest.name.word());
        let stopped =
            rules.stop.is_some_and(|stop| self.found.now > stop) && !self.asked.contains_key(&wanted);
        if self.found.now < rules.start || stopped {
            self.tell_consumer(Kind::AskedOutOfTime, consumer, |_| {
                format!("asks from {:?} to {:?}", rules.start, rules.stop)
            });
        }
        self.asked.entry(wanted).or_default();
        let (node, face) = (rules.node, self.rules.consumer_face(consumer));
        self.interest_came(Hand { node, face, interest, size: rules.interest, crossed: false });
    }
    #[inline]
    pub(super) fn interest_came(&mut self, hand: Hand) {
        self.nodes[hand.node as usize].pending.forget(self.found.now);
        self.hand = Some(hand);
    }
    pub(super) fn has_landed(&mut self, hand: &Hand) {
        if hand.crossed {
            self.trips.landed(&hand.interest);
        }
    }
    /// The Interest at hand, if it is this one.
    pub(super) fn hand_of(&mut self, hand: Option<Hand>, node: u32, name: Name) -> Option<Hand> {
        if hand.is_some_and(|hand| hand.node == node && hand.interest.name == name) {
            return hand;
        }
        self.waits(hand);
        None
    }
    /// No record about an Interest: it must have joined a pending one.
    #[inline]
    pub(super) fn waits(&mut self, hand: Option<Hand>) {
        let Some(hand) = hand else { return };
        let Hand { node, face, interest, .. } = hand;
        let pending = &mut self.nodes[node as usize].pending;
        if pending.get(interest.name).is_some_and(|pending| !pending.has(face)) {
            pending.join(self.found.now, face, &interest, false);
        } else {
            self.tell_node(Kind::Swallowed, node, |rules| rules.text(interest.name));
        }
        self.has_landed(&hand);
    }
    /// A node offers an Interest to a link.
    #[inline]
    pub(super) fn passed_on(&mut self, hand: Option<Hand>, link: u32, interest: &Interest, size: u32) {
        let node = self.rules.links[link as usize].from;
        let Some(hand) = self.hand_of(hand, node, interest.name) else {
            return self.tell_node(Kind::InterestForged, node, |rules| rules.text(interest.name));
        };
        let fewer = hand.interest.hop_limit.checked_sub(1);
        let same = Interest { hop_limit: interest.hop_limit, ..hand.interest } == *interest;
        if fewer != Some(interest.hop_limit) || !same || size != hand.size {
            self.tell_node(Kind::InterestChanged, node, |rules| rules.text(interest.name));
        }
        self.goes_on(&hand, link);
        self.trips.goes_on(&hand);
        self.has_landed(&hand);
    }
    /// An Interest is forwarded to a link or a producer: checks the route, loops and the store.
    pub(super) fn goes_on(&mut self, hand: &Hand, to: Face) {
        let Hand { node, face, interest, .. } = *hand;
        let name = interest.name;
        let lead = self.rules.lead(node, name.prefix, face);
        if lead != Some(to) {
            let text = |rules: &NamesRules| format!("{} by face {to}, not {lead:?}", rules.text(name));
            self.tell_node(Kind::WrongRoute, node, text);
        }
        if self.trips.face_at(&interest, node).is_some_and(|before| before != face) {
            self.tell_node(Kind::Looped, node, |rules| rules.text(name));
        }
        let fresh = interest.selectors.must_be_fresh;
        let state = &mut self.nodes[node as usize];
        let has = state.store.get(self.found.now, name, fresh).is_some();
        state.store.touch(name);
        if has {
            self.tell_node(Kind::StorePassedOver, node, |rules| rules.text(name));
        }
        // A producer on the node answers at once or never.
        if to < self.rules.producer_face(0) {
            self.joins(hand);
        }
    }
    /// It is pending from now on, or again.
    fn joins(&mut self, hand: &Hand) {
        let Hand { node, face, interest, .. } = *hand;
        let config = self.rules.nodes[node as usize].forwarder;
        let (now, pending) = (self.found.now, &mut self.nodes[node as usize].pending);
        let before = pending.get(interest.name);
        let looped = before.is_some_and(|before| before.has_nonce_of_others(face, interest.nonce));
        let too_soon = before
            .is_some_and(|before| !before.has(face) || span(before.passed_on, now) < config.again_after);
        pending.join(now, face, &interest, true);
        let count = pending.len();
        if looped {
            self.tell_node(Kind::Looped, node, |rules| rules.text(interest.name));
        } else if too_soon {
            self.tell_node(Kind::NotAggregated, node, |rules| rules.text(interest.name));
        }
        if count > config.pending_max {
            self.tell_node(Kind::TooManyPending, node, |_| format!("{count} of {}", config.pending_max));
        }
    }
    /// A node passes something no further.
    pub(super) fn refused(&mut self, hand: Option<Hand>, at: (u32, Face), name: Name, why: Refused) {
        let (node, face) = at;
        let holds = match why {
            Refused::Unsolicited => {
                self.waits(hand);
                self.unsolicited.take() == Some((node, name.word()))
            }
            _ => match self.hand_of(hand, node, name) {
                Some(hand) => {
                    let holds = self.is_refused(&hand, face, why);
                    self.has_landed(&hand);
                    holds
                }
                None => false,
            },
        };
        if !holds {
            self.tell_node(Kind::RefusedWrongly, node, |rules| format!("{}: {why:?}", rules.text(name)));
        }
    }
    /// Whether the reason holds. What was pending stays so.
    fn is_refused(&mut self, hand: &Hand, face: Face, why: Refused) -> bool {
        let Hand { node, interest, .. } = *hand;
        if why == Refused::NoData {
            return self.has_no_data(hand, face);
        }
        let config = self.rules.nodes[node as usize].forwarder;
        let pending = &self.nodes[node as usize].pending;
        let before = pending.get(interest.name);
        let by_this_face = before.filter(|before| before.has(hand.face));
        let holds = match why {
            Refused::HopLimit => interest.hop_limit == 0,
            Refused::Loop => {
                // Of a copy that a link has made, the first may have been answered long ago.
                let knows = before.is_some_and(|one| one.has_nonce_of_others(hand.face, interest.nonce));
                knows || self.duplicates || self.trips.face_at(&interest, node).is_some()
            }
            Refused::TooSoon => {
                by_this_face.is_some_and(|one| span(one.passed_on, self.found.now) < config.again_after)
            }
            Refused::PitFull => before.is_none() && pending.len_at_most() >= config.pending_max,
            Refused::NoRoute => {
                let asked_again = by_this_face.is_some();
                if asked_again {
                    self.joins(hand);
                }
                self.rules.lead(node, interest.name.prefix, hand.face).is_none()
            }
            Refused::Unsolicited | Refused::NoData => false,
        };
        holds && face == hand.face
    }
    /// Whether the producer has no such Data; `face` is the face in the record.
    fn has_no_data(&mut self, hand: &Hand, face: Face) -> bool {
        let name = hand.interest.name;
        let Some(to) = self.rules.lead(hand.node, name.prefix, hand.face) else { return false };
        let producer = to.checked_sub(self.rules.producer_face(0));
        let Some(producer) = producer.and_then(|index| self.rules.producers.get(index as usize)) else {
            return false;
        };
        let has = content(&producer.2, name).is_some();
        self.goes_on(hand, to);
        !has && face == to
    }
}
