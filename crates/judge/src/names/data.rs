//! Where Data come from, and where they go.

use super::event::{DUE, MARKED};
use super::interests::Hand;
use super::rules::{ahead, shows, span};
use super::{Carried, Kind, NamesJudge};
use crate::wire::Crossed;
use lightlag_protocols::ndn::StampedAt;
use lightlag_protocols::ndn::{Data, Face, Name, Producer};
use lightlag_protocols::time::{Duration, Instant};

/// Data that a node has to send, as they have to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owed {
    node: u32,
    face: Face,
    data: Data,
    due: Option<Duration>,
}

/// Times in traces are rounded to microseconds.
const ROUNDING: Duration = Duration::from_nanos(1_000);

/// Bytes of content that a producer has to a name.
pub(super) fn content(producer: &Producer, name: Name) -> Option<u32> {
    let before = u64::from(name.segment) * u64::from(producer.segment);
    let left = producer.object.checked_sub(before).filter(|left| *left > 0 && name.segment != Name::WHOLE)?;
    Some(left.min(u64::from(producer.segment)) as u32)
}

impl NamesJudge {
    // --- where they come from ---------------------------------------------------------------

    pub(super) fn produced(&mut self, hand: Option<Hand>, producer: u32, data: Data) {
        let (node, _, ref has) = self.rules.producers[producer as usize];
        let right = content(has, data.name).is_some_and(|content| {
            content == data.content
                && data.size == content.saturating_add(has.overhead)
                && (data.freshness_ms, data.site) == (has.freshness_ms, has.site)
                && (data.stamp, data.marked) == (None, false)
        });
        let face = self.rules.producer_face(producer);
        let hand = self.hand_of(hand, node, data.name);
        if !right || hand.is_none_or(|hand| hand.interest.token != data.token) {
            self.tell_node(Kind::Unsupplied, node, |rules| rules.text(data.name));
        }
        self.came.push((node, data.name.word()));
        let Some(hand) = hand else { return };
        self.goes_on(&hand, face);
        self.has_landed(&hand);
        self.owe(node, hand.face, data, true);
        self.nodes[node as usize].store.keep(self.found.now, &data);
    }
    pub(super) fn hit(&mut self, hand: Option<Hand>, node: u32, data: Data) {
        let Some(hand) = self.hand_of(hand, node, data.name) else {
            return self.tell_node(Kind::NotStored, node, |rules| rules.text(data.name));
        };
        let fresh = hand.interest.selectors.must_be_fresh;
        let store = &mut self.nodes[node as usize].store;
        let kept = store.get(self.found.now, data.name, fresh).copied();
        store.touch(data.name);
        match kept {
            None => self.tell_node(Kind::NotStored, node, |rules| rules.text(data.name)),
            Some(kept) => {
                let owed = Owed { node, face: hand.face, data: kept, due: None };
                self.compare(Owed { data: Data { token: hand.interest.token, ..kept }, ..owed }, &data, None);
            }
        }
        self.has_landed(&hand);
        self.came.push((node, data.name.word()));
        self.owe(node, hand.face, data, true);
    }
    /// Data came to a node by a link: everyone who waits gets them now.
    pub(super) fn data_came(&mut self, node: u32, face: Face, data: Data) {
        self.came.push((node, data.name.word()));
        let state = &mut self.nodes[node as usize];
        let pending = state.pending.take(data.name);
        let now = self.found.now;
        let waits = pending.iter().flat_map(|pending| &pending.faces);
        let mut anyone = false;
        for one in waits.filter(|one| one.expires > now && one.face != face) {
            anyone = true;
            self.owe(node, one.face, Data { token: one.token, ..data }, false);
        }
        if anyone {
            self.nodes[node as usize].store.keep(now, &data);
        }
        self.unsolicited = (!anyone).then_some((node, data.name.word()));
    }
    /// A node has to send Data by a face; `here` if it is the one that answers.
    fn owe(&mut self, node: u32, face: Face, data: Data, here: bool) {
        let (data, due) = if here { self.answered(node, data) } else { (self.passed(node, data), None) };
        let consumer = face.checked_sub(self.rules.consumer_face(0));
        match consumer {
            Some(consumer) if here => {
                let stamp = due.map(|_| self.stamp_of(node)).or(data.stamp);
                if let Some(waits) = self.asked.get_mut(&(consumer, data.name.word())) {
                    *waits = Some(Data { stamp, ..data });
                }
            }
            _ => self.owed.push(Owed { node, face, data, due }),
        }
    }
    fn answered(&self, node: u32, data: Data) -> (Data, Option<Duration>) {
        let site = Some(node);
        match self.rules.stamped_at {
            StampedAt::Wire => {
                let due = ahead(&self.rules.nodes[node as usize].clock, self.found.now);
                (Data { site, ..data }, Some(due))
            }
            StampedAt::Application => (Data { site, stamp: Some(self.stamp_of(node)), ..data }, None),
            StampedAt::Nowhere => (data, None),
        }
    }
    fn passed(&self, node: u32, data: Data) -> Data {
        let strips = self.rules.nodes[node as usize].strips_stamps;
        if strips { Data { stamp: None, site: None, ..data } } else { data }
    }
    fn stamp_of(&self, node: u32) -> u32 {
        microseconds(shows(&self.rules.nodes[node as usize].clock, self.found.now))
    }

    // --- where they go ----------------------------------------------------------------------

    /// A node offers Data to a link.
    #[inline]
    pub(super) fn sent(&mut self, link: u32, data: &Data, due: Option<Duration>) {
        let node = self.rules.links[link as usize].from;
        match self.take_owed(node, link, data.name) {
            Some(owed) => self.compare(owed, data, due),
            None => {
                let came = self.came.iter().rev().any(|came| *came == (node, data.name.word()));
                let kind = if came { Kind::DataUnasked } else { Kind::DataForged };
                self.tell_node(kind, node, |rules| format!("{} by link {link}", rules.text(data.name)));
            }
        }
    }
    fn take_owed(&mut self, node: u32, face: Face, name: Name) -> Option<Owed> {
        let is_it = |owed: &Owed| (owed.node, owed.face, owed.data.name) == (node, face, name);
        let at = self.owed.iter().rposition(is_it)?;
        Some(self.owed.remove(at))
    }
    pub(super) fn delivered(&mut self, consumer: u32, data: &Data) {
        let (node, face) = (self.rules.consumers[consumer as usize].node, self.rules.consumer_face(consumer));
        let asked = self.asked.remove(&(consumer, data.name.word()));
        if asked.is_none() {
            self.tell_consumer(Kind::DeliveredUnasked, consumer, |rules| rules.text(data.name));
        }
        let here = asked.flatten().map(|data| Owed { node, face, data, due: None });
        match self.take_owed(node, face, data.name).or(here) {
            Some(owed) => self.compare(owed, data, None),
            None => self.tell_consumer(Kind::DeliveredUnarrived, consumer, |rules| rules.text(data.name)),
        }
    }
    /// Time advances: Data that are still owed are violations.
    #[inline]
    pub(super) fn settle(&mut self) {
        self.came.clear();
        if self.owed.is_empty() {
            return;
        }
        for owed in std::mem::take(&mut self.owed) {
            let name = owed.data.name;
            match owed.face.checked_sub(self.rules.consumer_face(0)) {
                None => self.tell_node(Kind::NotForwarded, owed.node, |rules| rules.text(name)),
                Some(consumer) if self.asked.contains_key(&(consumer, name.word())) => {
                    self.tell_consumer(Kind::NeverDelivered, consumer, |rules| rules.text(name));
                }
                // The consumer already has the Data by another path, and no longer waits.
                Some(_) => {}
            }
        }
    }

    // --- what they are ----------------------------------------------------------------------

    /// Whether Data are what they have to be.
    #[inline]
    fn compare(&mut self, owed: Owed, data: &Data, due: Option<Duration>) {
        let is = owed.data;
        let Data { stamp, site, marked, .. } = is;
        let kind = if (Data { stamp, site, marked, ..*data }) != is {
            Kind::DataChanged
        } else if marked != data.marked {
            if marked { Kind::MarkRemoved } else { Kind::MarkForged }
        } else if site != data.site || !alike(stamp, data.stamp) || !alike_due(owed.due, due) {
            Kind::WrongStamp
        } else {
            return;
        };
        self.tell_node(kind, owed.node, |rules| rules.text(data.name));
    }
    /// What a link has done to marks and stamps.
    #[inline]
    pub(super) fn check_passage(&mut self, link: u32, crossed: &Crossed, data: &Data, due: Option<Duration>) {
        let ends = &self.rules.links[link as usize];
        let (from, marks) = (ends.from, ends.marks());
        let was_marked = crossed.tags & MARKED > 0;
        if was_marked && !data.marked {
            self.tell_node(Kind::MarkRemoved, from, |rules| rules.text(data.name));
        } else if data.marked && !was_marked && !marks {
            self.tell_node(Kind::MarkForged, from, |rules| rules.text(data.name));
        }
        let unmarked = Carried::Data(Data { marked: false, ..*data }, due).parcel(false).tags;
        let right = match crossed.tags & DUE {
            0 => unmarked == crossed.tags & !MARKED,
            _ => due.is_none() && data.stamp.is_some_and(|stamp| self.is_stamp(from, crossed, stamp)),
        };
        if !right {
            self.tell_node(Kind::WrongStamp, from, |rules| rules.text(data.name));
        }
    }
    /// Whether the clock of a node can have shown that when Data began to leave.
    fn is_stamp(&self, node: u32, crossed: &Crossed, stamp: u32) -> bool {
        let clock = &self.rules.nodes[node as usize].clock;
        let (first, last) = crossed.began;
        if last == Instant::MAX || span(first, last) > Duration::from_secs(1_000) {
            return true;
        }
        // The clock was looked at when they were offered.
        let waited = span(crossed.offered, last).max(Duration::ZERO);
        let gained = Duration::from_nanos((waited.as_nanos() as f64 * clock.skew.abs()) as i64);
        let slack = gained.saturating_add(ROUNDING).as_nanos();
        let earliest = microseconds(shows(clock, first).saturating_sub(slack));
        let latest = microseconds(shows(clock, last).saturating_add(slack));
        stamp.wrapping_sub(earliest) <= latest.wrapping_sub(earliest)
    }
}

fn microseconds(clock_ns: i64) -> u32 {
    clock_ns.div_euclid(1_000) as u32
}

fn alike(one: Option<u32>, other: Option<u32>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.wrapping_sub(other).wrapping_add(1) <= 2,
        (one, other) => one == other,
    }
}

fn alike_due(one: Option<Duration>, other: Option<Duration>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.as_nanos().abs_diff(other.as_nanos()) <= ROUNDING.as_nanos() as u64,
        (one, other) => one == other,
    }
}
