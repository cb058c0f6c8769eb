//! An independent judge of runs of named data. It sees what consumers ask for, what links carry, what
//! producers and stores answer and what nodes refuse, and shares no code with the worlds. It names what
//! cannot have happened: Data without an Interest, Data out of thin air or changed in transit, a looping
//! Interest, an answer from a store that cannot have it, and every fault of a link.
//!
//! An Interest that joins a pending one leaves no record: the next record shows which of the two it was.

mod data;
mod event;
mod interests;
mod kind;
mod pending;
mod rules;
mod store;

pub use event::{Carried, Event};
pub use kind::Kind;
pub use rules::{ConsumerRules, LinkRules, NamesRules, NodeRules};

use super::findings::Findings;
use super::packets::name;
use super::wire::{LinkState, Teller};
use data::Owed;
use interests::{Hand, Trips};
use lightlag_protocols::link::DropCause;
use lightlag_protocols::ndn::Data;
use lightlag_protocols::record::names::{Observer, Record};
use lightlag_protocols::time::Instant;
use pending::PendingTable;
use std::collections::HashMap;
use store::StoreState;

/// Watches a run of names, or replays its trace.
///
/// After [`Event::End`] (or [`NamesJudge::close`], for a trace that may be cut short),
/// [`NamesJudge::findings`] is complete.
#[derive(Clone, Debug)]
pub struct NamesJudge {
    rules: NamesRules,
    /// Some link brings packets twice.
    duplicates: bool,
    links: Vec<LinkState>,
    nodes: Vec<NodeState>,
    /// An Interest that has just come to a node: what becomes of it?
    hand: Option<Hand>,
    trips: Trips,
    /// By consumer and name what it waits for, and the Data where its own node has answered.
    asked: HashMap<(u32, u64), Option<Data>>,
    /// Data that a node must send before time advances.
    owed: Vec<Owed>,
    /// Nodes and names of the Data that have come since time last advanced.
    came: Vec<(u32, u64)>,
    /// Node and name of the last Data, if no face waited for them.
    unsolicited: Option<(u32, u64)>,
    found: Findings<Kind>,
}

#[derive(Clone, Debug)]
struct NodeState {
    pending: PendingTable,
    store: StoreState,
}

impl NamesJudge {
    /// A judge of a run under `rules`.
    pub fn new(rules: NamesRules) -> Self {
        let node = |node: &NodeRules| NodeState {
            pending: PendingTable::default(),
            store: StoreState::new(node.forwarder.store.0),
        };
        Self {
            duplicates: rules.links.iter().any(|link| link.spec.duplicate > 0.0),
            links: rules.links.iter().map(|link| LinkState::new(&link.spec)).collect(),
            nodes: rules.nodes.iter().map(node).collect(),
            hand: None,
            trips: Trips::default(),
            asked: HashMap::new(),
            owed: Vec::new(),
            came: Vec::new(),
            unsolicited: None,
            found: Findings::new(),
            rules,
        }
    }
    /// Number of Interests that it keeps state for: in flight or pending.
    pub fn kept(&self) -> usize {
        let pending = self.nodes.iter().map(|node| node.pending.len());
        self.asked.len() + self.trips.len() + pending.sum::<usize>()
    }
    /// What was found so far.
    pub fn findings(&self) -> &Findings<Kind> {
        &self.found
    }
    /// No more events will come: a trace without an end record is incomplete.
    pub fn close(&mut self) {
        self.found.close();
    }
    /// Something happened.
    #[inline]
    pub fn on_event(&mut self, now: Instant, event: &Event) {
        // A drop is recorded at its decision, before or after the time of the next event.
        let decided = matches!(event, Event::Dropped(..));
        if !decided {
            self.clock(now);
        }
        if !self.is_known(event) {
            return;
        }
        let hand = self.hand.take();
        match *event {
            Event::Offered(link, carried) => self.offered(hand, link, carried),
            Event::Arrived(link, carried) => {
                self.waits(hand);
                self.arrived(link, carried);
            }
            Event::Dropped(link, carried, why) => {
                self.waits(hand);
                self.dropped(now, link, carried, why);
            }
            Event::Asked(consumer, interest) => {
                self.waits(hand);
                self.asks(consumer, interest);
            }
            Event::Delivered(consumer, data) => {
                self.waits(hand);
                self.delivered(consumer, &data);
            }
            Event::Produced(producer, data) => self.produced(hand, producer, data),
            Event::Hit(node, data) => self.hit(hand, node, data),
            Event::Refused(node, face, name, why) => self.refused(hand, (node, face), name, why),
            Event::End => self.end_links(),
        }
    }
    /// The run is over.
    pub fn end(&mut self, now: Instant) {
        self.on_event(now, &Event::End);
    }

    // --- time -------------------------------------------------------------------------------

    #[inline]
    fn clock(&mut self, now: Instant) {
        if now != self.found.now {
            let hand = self.hand.take();
            self.waits(hand);
            self.settle();
        }
        self.found.advance(now, self.rules.until);
    }
    fn end_links(&mut self) {
        self.settle();
        for link in 0..self.links.len() as u32 {
            self.at_link(link, LinkState::ended);
        }
        self.found.ended = true;
    }
    fn is_known(&mut self, event: &Event) -> bool {
        let rules = &self.rules;
        let (what, index, count) = match *event {
            Event::Offered(link, _) | Event::Arrived(link, _) | Event::Dropped(link, ..) => {
                ("link", link, rules.links.len())
            }
            Event::Asked(consumer, _) | Event::Delivered(consumer, _) => {
                ("consumer", consumer, rules.consumers.len())
            }
            Event::Produced(producer, _) => ("producer", producer, rules.producers.len()),
            Event::Hit(node, _) | Event::Refused(node, ..) => ("node", node, rules.nodes.len()),
            Event::End => return true,
        };
        if index as usize >= count {
            self.found.add(Kind::Unknown, || format!("{what} {index}"));
        }
        (index as usize) < count
    }

    // --- links ------------------------------------------------------------------------------

    #[inline]
    fn offered(&mut self, hand: Option<Hand>, link: u32, carried: Carried) {
        match carried {
            Carried::Interest(interest, size) => self.passed_on(hand, link, &interest, size),
            Carried::Data(data, due) => {
                self.waits(hand);
                self.sent(link, &data, due);
            }
        }
        let parcel = carried.parcel(self.rules.links[link as usize].marks());
        self.at_link(link, |state, teller| state.offered(&parcel, teller));
    }
    #[inline]
    fn arrived(&mut self, link: u32, carried: Carried) {
        let parcel = carried.parcel(false);
        let crossed = self.at_link(link, |state, teller| state.arrived(&parcel, teller));
        let (node, face) = {
            let ends = &self.rules.links[link as usize];
            (ends.to, ends.back)
        };
        match carried {
            Carried::Interest(interest, size) => {
                self.interest_came(Hand { node, face, interest, size, crossed: crossed.is_some() });
            }
            Carried::Data(data, due) => {
                if let Some(crossed) = crossed {
                    self.check_passage(link, &crossed, &data, due);
                }
                self.data_came(node, face, data);
            }
        }
    }
    fn dropped(&mut self, at: Instant, link: u32, carried: Carried, why: DropCause) {
        let parcel = carried.parcel(false);
        self.at_link(link, |state, teller| state.dropped(at, &parcel, why, teller));
        if let Carried::Interest(interest, _) = carried {
            self.trips.landed(&interest);
        }
    }

    // --- reports ----------------------------------------------------------------------------

    #[inline]
    fn at_link<T>(&mut self, link: u32, look: impl FnOnce(&mut LinkState, Teller) -> T) -> T {
        self.found.at_link((&mut self.links, &self.rules.link_names), link, look)
    }
    #[cold]
    fn tell_node(&mut self, kind: Kind, node: u32, detail: impl FnOnce(&NamesRules) -> String) {
        let rules = &self.rules;
        self.found.add(kind, || format!("{}: {}", name(&rules.node_names, "node", node), detail(rules)));
    }
    #[cold]
    fn tell_consumer(&mut self, kind: Kind, consumer: u32, detail: impl FnOnce(&NamesRules) -> String) {
        let rules = &self.rules;
        self.found.add(kind, || {
            format!("{}: {}", name(&rules.consumer_names, "consumer", consumer), detail(rules))
        });
    }
}

impl Observer for NamesJudge {
    const PACKETS: bool = true;
    #[inline]
    fn on_record(&mut self, now: Instant, record: &Record) {
        if let Some(event) = Event::of(record) {
            self.on_event(now, &event);
        }
    }
}
