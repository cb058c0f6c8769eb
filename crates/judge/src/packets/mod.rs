//! An independent judge of runs of packets. It sees packets offered to links, delivered by links and
//! dropped, and shares no code with the worlds. It names what cannot have happened: a packet out of thin
//! air, a link over its rate, an arrival before light could bring it, a queue over its size, bytes delivered
//! that did not arrive or are delivered twice, packets lost without a trace.

mod facts;
mod flow;
mod kind;
mod rules;

pub use facts::{Facts, WHATS, What};
pub use kind::Kind;
pub use rules::{FlowRules, PacketRules};

use super::findings::Findings;
use super::wire::{LinkState, Parcel, Teller};
use flow::FlowState;
use lightlag_protocols::link::DropCause;
use lightlag_protocols::record::packets::{Observer, Record};
use lightlag_protocols::time::Instant;

/// One thing that happened, as traces keep it.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A packet was offered to a link.
    Offered(u32, Facts),
    /// It came out of it.
    Arrived(u32, Facts),
    /// A queue dropped it, or it was lost; recorded at the decision, before the packet would have left.
    Dropped(u32, Facts, DropCause),
    /// Bytes of a flow were delivered: their total so far.
    Delivered(u32, u64),
    /// The run is over.
    End,
}

impl Event {
    /// Of a world's record; nothing for samples.
    pub fn of(record: &Record) -> Option<Self> {
        match *record {
            Record::Offered(link, packet) => Some(Self::Offered(link, Facts::of(packet))),
            Record::Arrived(link, packet) => Some(Self::Arrived(link, Facts::of(packet))),
            Record::Dropped(link, packet, why) => Some(Self::Dropped(link, Facts::of(packet), why)),
            Record::Delivered(flow, total) => Some(Self::Delivered(flow, total)),
            Record::Flow(..) | Record::Backlog(..) => None,
        }
    }
}

/// Watches a run of packets, or replays its trace.
///
/// After [`Event::End`] (or [`PacketJudge::close`], for a trace that may be cut short),
/// [`PacketJudge::findings`] is complete.
#[derive(Clone, Debug)]
pub struct PacketJudge {
    rules: PacketRules,
    links: Vec<LinkState>,
    flows: Vec<FlowState>,
    /// A packet at an intermediate node must be forwarded at once: the link, the hop and the packet.
    due: Option<(u32, u16, u64)>,
    /// Flow whose receiver must deliver in-order data at once.
    awaits: Option<u32>,
    found: Findings<Kind>,
}

impl PacketJudge {
    /// A judge of a run under `rules`.
    pub fn new(rules: PacketRules) -> Self {
        Self {
            links: rules.links.iter().map(LinkState::new).collect(),
            flows: vec![FlowState::default(); rules.flows.len()],
            due: None,
            awaits: None,
            found: Findings::new(),
            rules,
        }
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
    pub fn on_event(&mut self, now: Instant, event: &Event) {
        match event {
            Event::Offered(link, packet) => self.offered(now, *link, packet),
            Event::Arrived(link, packet) => self.arrived(now, *link, packet),
            Event::Dropped(link, packet, why) => self.dropped(now, *link, packet, *why),
            Event::Delivered(flow, total) => self.delivered(now, *flow, *total),
            Event::End => self.end(now),
        }
    }

    /// What the last event calls for comes next or not at all.
    #[inline]
    fn expect(&mut self, forwarded: Option<(u32, u16, u64)>, delivered: Option<u32>) {
        if self.due.is_some() || self.awaits.is_some() {
            self.expect_now(forwarded, delivered);
        }
    }
    fn expect_now(&mut self, forwarded: Option<(u32, u16, u64)>, delivered: Option<u32>) {
        if let Some(due) = self.due.take()
            && forwarded != Some(due)
        {
            let name = name(&self.rules.link_names, "link", due.0);
            self.found.add(Kind::NotForwarded, || format!("{name} does not get it"));
        }
        if let Some(flow) = self.awaits.take()
            && delivered != Some(flow)
        {
            let (name, state) = (name(&self.rules.flow_names, "flow", flow), &self.flows[flow as usize]);
            let (prefix, delivered) = (state.prefix, state.told);
            let detail = || format!("{name}: {prefix} B have come, {delivered} B are delivered");
            self.found.add(Kind::NeverDelivered, detail);
        }
    }
    fn known(&mut self, link: u32, flow: u32) -> bool {
        let known = (link as usize) < self.links.len() && (flow as usize) < self.flows.len();
        if !known {
            self.found.add(Kind::Unknown, || format!("link {link} or flow {flow}"));
        }
        known
    }

    #[inline]
    fn offered(&mut self, now: Instant, link: u32, packet: &Facts) {
        self.found.advance(now, self.rules.until);
        let forwarded = (packet.hop > 0).then(|| (link, packet.hop, packet.key()));
        let was_due = self.due.is_some() && self.due == forwarded;
        self.expect(forwarded, None);
        if !self.known(link, packet.flow) {
            return;
        }
        let rules = &self.rules.flows[packet.flow as usize];
        let route = if packet.forward { &rules.forward } else { &rules.backward };
        if route.get(usize::from(packet.hop)) != Some(&link) {
            self.tell_flow(Kind::WrongLink, packet.flow, || format!("link {link}, hop {}", packet.hop));
        } else if packet.hop > 0 && !was_due {
            self.tell_flow(Kind::Forged, packet.flow, || format!("on link {link}"));
        } else if packet.hop == 0 {
            self.sent(now, packet);
        }
        self.at_link(link, |state, teller| state.offered(&parcel(packet), teller));
    }
    /// An end sends a packet.
    #[inline]
    fn sent(&mut self, now: Instant, packet: &Facts) {
        let rules = &self.rules.flows[packet.flow as usize];
        let (start, bytes) = (rules.start, rules.bytes);
        if packet.is_forward() != packet.forward {
            self.tell_flow(Kind::WrongEnd, packet.flow, || format!("{:?}", packet.what));
        }
        if now < start {
            self.tell_flow(Kind::SentEarly, packet.flow, || format!("it starts at {start:?}"));
        }
        if packet.what == What::Cancel && !packet.forward {
            self.flows[packet.flow as usize].gave_up = true;
        }
        let end = packet.offset + u64::from(packet.length);
        if packet.what == What::Data
            && let Some(bytes) = bytes.filter(|bytes| end > *bytes)
        {
            self.tell_flow(Kind::Unsupplied, packet.flow, || format!("up to {end} B of {bytes} B"));
        }
        if packet.what == What::Ack && !self.flows[packet.flow as usize].covers(packet) {
            self.tell_flow(Kind::AcknowledgedUnarrived, packet.flow, || format!("up to {} B", packet.ack));
        }
    }
    #[inline]
    fn arrived(&mut self, now: Instant, link: u32, packet: &Facts) {
        self.found.advance(now, self.rules.until);
        self.expect(None, None);
        if !self.known(link, packet.flow) {
            return;
        }
        self.at_link(link, |state, teller| {
            state.arrived(&parcel(packet), teller);
        });
        let rules = &self.rules.flows[packet.flow as usize];
        let route = if packet.forward { &rules.forward } else { &rules.backward };
        let hop = packet.hop + 1;
        if let Some(&next) = route.get(usize::from(hop)) {
            self.due = Some((next, hop, packet.key()));
        } else if packet.forward {
            let state = &mut self.flows[packet.flow as usize];
            state.received(packet);
            if state.delivers_immediately() && state.prefix > state.told {
                self.awaits = Some(packet.flow);
            }
        }
    }
    fn dropped(&mut self, at: Instant, link: u32, packet: &Facts, why: DropCause) {
        if self.known(link, packet.flow) {
            self.at_link(link, |state, teller| state.dropped(at, &parcel(packet), why, teller));
        }
    }
    #[inline]
    fn delivered(&mut self, now: Instant, flow: u32, total: u64) {
        self.found.advance(now, self.rules.until);
        self.expect(None, Some(flow));
        if !self.known(0, flow) {
            return;
        }
        let bytes = self.rules.flows[flow as usize].bytes;
        let state = &mut self.flows[flow as usize];
        let (deliverable, before) = (state.deliverable(), state.told);
        state.told = state.told.max(total);
        let short = state.delivers_immediately() && total > before && total < deliverable;
        if total <= before {
            self.tell_flow(Kind::DeliveredTwice, flow, || format!("{total} B after {before} B"));
        }
        if total > deliverable || bytes.is_some_and(|bytes| total > bytes) {
            self.tell_flow(Kind::DeliveredUnarrived, flow, || {
                format!("{total} B of {deliverable} B that came")
            });
        }
        if short {
            self.tell_flow(Kind::NeverDelivered, flow, || format!("{total} B of {deliverable} B that came"));
        }
    }
    /// The run is over.
    pub fn end(&mut self, now: Instant) {
        self.found.advance(now, self.rules.until);
        self.expect(None, None);
        for link in 0..self.links.len() as u32 {
            self.at_link(link, LinkState::ended);
        }
        self.found.ended = true;
    }
    #[inline]
    fn at_link<T>(&mut self, link: u32, look: impl FnOnce(&mut LinkState, Teller) -> T) -> T {
        self.found.at_link((&mut self.links, &self.rules.link_names), link, look)
    }
    #[cold]
    fn tell_flow(&mut self, kind: Kind, flow: u32, detail: impl FnOnce() -> String) {
        let name = name(&self.rules.flow_names, "flow", flow);
        self.found.add(kind, || format!("{name}: {}", detail()));
    }
}

/// What something is called; its number where it has no name.
pub(super) fn name(names: &[String], what: &str, index: u32) -> String {
    names.get(index as usize).map_or_else(|| format!("{what} {index}"), |name| format!("{what} {name}"))
}

#[inline]
fn parcel(packet: &Facts) -> Parcel {
    Parcel { key: packet.key(), size: packet.size, priority: packet.priority, ..Parcel::default() }
}

impl Observer for PacketJudge {
    const PACKETS: bool = true;
    #[inline]
    fn on_record(&mut self, now: Instant, record: &Record) {
        match *record {
            Record::Offered(link, packet) => self.offered(now, link, &Facts::of(packet)),
            Record::Arrived(link, packet) => self.arrived(now, link, &Facts::of(packet)),
            Record::Dropped(link, packet, why) => self.dropped(now, link, &Facts::of(packet), why),
            Record::Delivered(flow, total) => self.delivered(now, flow, total),
            Record::Flow(..) | Record::Backlog(..) => {}
        }
    }
}
