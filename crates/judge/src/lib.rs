//! An independent judge of runs. It reads the trace, shares no code with the worlds, and names what
//! cannot have happened: a copy out of thin air, a link over its rate, an arrival before light could
//! bring it, a buffer over its size, bytes lost.
//!
//! Records must come in the order in which things happen; at one instant:
//! deletions before the copy that needed the room, `Sent` before its arrival and before the sender's
//! `Gone` of a copy given up, the ends of transfers before the `ContactDown` that cuts them off.

// The macro `row!` names this crate in a path that serde reads.
extern crate self as lightlag_judge;

mod findings;
mod kind;
mod link;

pub mod names;
pub mod packets;
mod rules;
mod state;
mod table;
pub mod trace;
mod transfers;
mod wire;

pub use findings::{About, Finding, Findings, Kinds};
pub use kind::Kind;
pub use rules::JudgeRules;

use lightlag_protocols::dtn::{Bundle, BundleId, DropReason, NodeId};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use link::Links;
use state::{BundleState, Copies, CopyState, NodeState};
use std::collections::BTreeMap;
use table::Slots;

/// Watches a run, or replays its trace, and keeps account of every node, link, bundle and copy.
///
/// After [`Record::End`] (or [`Judge::close`], for a trace that may be cut short),
/// [`Judge::findings`] is complete.
#[derive(Clone, Debug)]
pub struct Judge {
    rules: JudgeRules,
    nodes: Vec<NodeState>,
    bundles: Slots<BundleState>,
    /// Requests by their replies.
    requests: BTreeMap<BundleId, BundleId>,
    copies: Copies,
    links: Links,
    /// Transfers aborted at this instant whose contact has not ended yet.
    aborted: Vec<(NodeId, NodeId, BundleId)>,
    found: Findings<Kind>,
}

impl Judge {
    /// A judge of a run under `rules`.
    pub fn new(rules: JudgeRules) -> Self {
        Self {
            rules,
            nodes: Vec::new(),
            bundles: Slots::default(),
            requests: BTreeMap::new(),
            copies: Copies::default(),
            links: Links::default(),
            aborted: Vec::new(),
            found: Findings::new(),
        }
    }
    /// What was found so far.
    pub fn findings(&self) -> &Findings<Kind> {
        &self.found
    }
    /// No more records will come: a trace without an end record is incomplete.
    pub fn close(&mut self) {
        self.found.close();
    }
    fn add(&mut self, kind: Kind, about: About, detail: impl FnOnce() -> String) {
        self.found.add_about(kind, about, detail);
    }

    // --- nodes and contacts -----------------------------------------------------------------

    fn node(&mut self, node: NodeId, buffer: Bytes) {
        if node.0 as usize != self.nodes.len() {
            let count = self.nodes.len();
            self.add(Kind::UnknownNode, About::Node(node), || format!("introduced as number {count}"));
            return;
        }
        let busy_until = Instant::ZERO;
        self.nodes.push(NodeState { buffer, used: 0, own: 0, active: 0, busy_until });
    }
    /// Whether all were introduced.
    #[inline]
    fn known(&mut self, nodes: [NodeId; 2]) -> bool {
        let stranger = nodes.into_iter().find(|node| node.0 as usize >= self.nodes.len());
        if let Some(node) = stranger {
            self.add(Kind::UnknownNode, About::Node(node), || "never introduced".to_owned());
        }
        stranger.is_none()
    }
    fn contact_up(&mut self, a: NodeId, b: NodeId, rate: [BitRate; 2], delay: [Duration; 2]) {
        if !self.known([a, b]) {
            return;
        }
        let link = self.links.of(a, b);
        let was_up = std::mem::replace(&mut link.up, true);
        for (at, turn) in [usize::from(a > b), usize::from(a <= b)].into_iter().zip(0..) {
            link.directions[at].rate = rate[turn];
            link.directions[at].delay = delay[turn];
        }
        if was_up || a == b {
            self.add(Kind::ContactTwice, About::Pair(a, b), String::new);
        }
    }
    fn rate(&mut self, a: NodeId, b: NodeId, rate: [BitRate; 2]) {
        if !self.known([a, b]) {
            return;
        }
        let now = self.found.now;
        let link = self.links.of(a, b);
        let up = link.up;
        for (at, turn) in [usize::from(a > b), usize::from(a <= b)].into_iter().zip(0..) {
            let direction = &mut link.directions[at];
            let before = std::mem::replace(&mut direction.rate, rate[turn]);
            for sending in &mut direction.sending {
                // A last bit that has left needs no more time, though it may still be in flight.
                let last_bit = sending.since.saturating_add(sending.left.time_at(before));
                sending.left = sending.left_at(now, before);
                sending.since = now.min(last_bit);
            }
        }
        if !up {
            self.add(Kind::RateAlone, About::Pair(a, b), String::new);
        }
    }
    fn contact_down(&mut self, a: NodeId, b: NodeId) {
        if !self.known([a, b]) {
            return;
        }
        self.aborted.retain(|&(from, to, _)| (from, to) != (a, b) && (from, to) != (b, a));
        let link = self.links.of(a, b);
        if !std::mem::replace(&mut link.up, false) {
            self.found.add_about(Kind::ContactEndAlone, About::Pair(a, b), String::new);
        }
        for (from, to) in [(a, b), (b, a)] {
            for sending in &mut link.directions[usize::from(from > to)].sending {
                if !std::mem::replace(&mut sending.cut, true) {
                    let about = About::Transfer(from, to, sending.id);
                    self.found.add_about(Kind::CutOff, about, String::new);
                }
            }
        }
    }

    // --- bundles and copies -----------------------------------------------------------------

    fn created(&mut self, bundle: &Bundle, stored: bool) {
        let (source, id) = (bundle.source, bundle.id);
        if !self.known([source, bundle.destination]) {
            return;
        }
        if bundle.created > self.found.now {
            self.add(Kind::CreatedEarly, About::Copy(source, id), || format!("due {:?}", bundle.created));
        }
        if self.bundles.get(u64::from(id.0)).is_some() {
            self.add(Kind::CreatedTwice, About::Copy(source, id), String::new);
            return;
        }
        self.check_reply(bundle);
        self.bundles.ensure(u64::from(id.0), || BundleState::new(*bundle));
        if stored {
            self.put(source, bundle, Some(0), true);
        }
    }
    /// A reply is created by the destination of its request, when that has arrived.
    fn check_reply(&mut self, reply: &Bundle) {
        let Some(&request) = self.requests.get(&reply.id) else { return };
        let asked = self.bundles.get(u64::from(request.0)).is_some_and(|request| {
            let Bundle { source, destination, .. } = request.facts;
            request.delivered && (source, destination) == (reply.destination, reply.source)
        });
        if !asked {
            let about = About::Copy(reply.source, reply.id);
            self.add(Kind::ReplyUnasked, about, || format!("it answers bundle {}", request.0));
        }
    }
    /// A copy is stored.
    fn put(&mut self, node: NodeId, bundle: &Bundle, hops: Option<u32>, own: bool) {
        let (now, id, size) = (self.found.now, bundle.id, bundle.size);
        let expires = bundle.expires;
        let copy =
            CopyState { received: now, expires, size, hops, own, sending: 0, sent: 0, busy_until: now };
        if self.copies.insert(node, id, copy).is_some() {
            self.add(Kind::StoredTwice, About::Copy(node, id), String::new);
            return;
        }
        if let Some(bundle) = self.bundles.get_mut(u64::from(id.0)) {
            bundle.copies += 1;
        }
        let state = &mut self.nodes[node.0 as usize];
        state.used = state.used.saturating_add(size.get());
        state.own = state.own.saturating_add(if own { size.get() } else { 0 });
        self.check_fill(node, id);
    }
    /// With `overfill`, only bundles received from other nodes count against the buffer size.
    #[inline]
    fn check_fill(&mut self, node: NodeId, id: BundleId) {
        let NodeState { buffer, used, own, .. } = self.nodes[node.0 as usize];
        let bound_by_rule = if self.rules.overfill { used.saturating_sub(own) } else { used };
        if bound_by_rule > buffer.get() {
            self.add(Kind::Overfull, About::Copy(node, id), || format!("{used} B in {buffer:?}"));
        }
    }
    fn gone(&mut self, node: NodeId, id: BundleId, reason: DropReason, received: Instant) {
        if !self.known([node, node]) {
            return;
        }
        let about = About::Copy(node, id);
        let Some(copy) = self.copies.remove(node, id) else {
            let kind = if self.bundles.get(u64::from(id.0)).is_some() {
                Kind::NothingToDelete
            } else {
                Kind::UnknownBundle
            };
            self.add(kind, about, || format!("{reason:?}"));
            return;
        };
        let state = &mut self.nodes[node.0 as usize];
        state.used = state.used.saturating_sub(copy.size.get());
        state.own = state.own.saturating_sub(if copy.own { copy.size.get() } else { 0 });
        if copy.sending > 0 && !self.rules.drops_sent {
            self.add(Kind::DeletedWhileSent, about, || format!("{reason:?}"));
        }
        if copy.received != received {
            self.add(Kind::WrongReception, about, || format!("{received:?}, was {:?}", copy.received));
        }
        self.check_lifetime(node, id, &copy);
        self.check_reason(node, id, reason, &copy);
    }
    #[inline]
    fn check_reason(&mut self, node: NodeId, id: BundleId, reason: DropReason, copy: &CopyState) {
        let about = About::Copy(node, id);
        let Some(bundle) = self.bundles.get_mut(u64::from(id.0)) else { return };
        bundle.drop_at(node);
        bundle.copies = bundle.copies.saturating_sub(1);
        let wrong = match reason {
            DropReason::Overflow | DropReason::Replaced => None,
            DropReason::Expired => (self.found.now < copy.expires).then_some(Kind::ExpiredEarly),
            DropReason::Acknowledged => (!bundle.promised).then_some(Kind::AcknowledgedUndelivered),
            DropReason::HandedOver => {
                // Given up without a transfer only where the other end has it, or is about to.
                let taken = copy.sent > 0 || bundle.copies > 0 || bundle.flying > 0 || bundle.delivered;
                (!taken).then_some(Kind::HandedToNobody)
            }
        };
        if let Some(kind) = wrong {
            self.add(kind, about, || format!("lifetime ends at {:?}", copy.expires));
        }
    }
    /// A copy must be gone when its lifetime is over, unless it was being sent then; where expired
    /// copies are purged now and then, also unless its node was busy then.
    #[inline]
    fn check_lifetime(&mut self, node: NodeId, id: BundleId, copy: &CopyState) {
        if self.found.now <= copy.expires || copy.sending > 0 {
            return;
        }
        let mut due = copy.expires.max(copy.busy_until);
        if self.rules.purge_every.is_some() {
            let state = &self.nodes[node.0 as usize];
            if state.active > 0 {
                return;
            }
            due = due.max(state.busy_until);
        }
        if self.found.now > due.saturating_add(self.rules.grace()) {
            let expires = copy.expires;
            self.add(Kind::Outlived, About::Copy(node, id), || format!("lifetime ended at {expires:?}"));
        }
    }
    /// What was aborted at an instant that is over had a contact that continues.
    #[cold]
    fn accuse_aborts(&mut self) {
        for (from, to, id) in std::mem::take(&mut self.aborted) {
            self.add(Kind::AbortedAlone, About::Transfer(from, to, id), String::new);
        }
    }
    fn sample(&mut self, node: NodeId, used: Bytes) {
        if !self.known([node, node]) {
            return;
        }
        let sum = self.nodes[node.0 as usize].used;
        if sum != used.get() {
            self.add(Kind::WrongFill, About::Node(node), || format!("{used:?}, its copies have {sum} B"));
        }
    }

    // --- the end ----------------------------------------------------------------------------

    fn end(&mut self) {
        self.accuse_aborts();
        self.found.ended = true;
        if self.found.now < self.rules.until {
            let until = self.rules.until;
            self.add(Kind::EndMissing, About::Nothing, || format!("the run should last until {until:?}"));
        }
        self.account_for_transfers();
        for (node, id, copy) in self.copies.sorted() {
            self.check_lifetime(node, id, &copy);
        }
    }
}

impl Observer for Judge {
    #[inline]
    fn on_record(&mut self, now: Instant, record: &Record) {
        if !self.aborted.is_empty() && now > self.found.now {
            self.accuse_aborts();
        }
        self.found.advance(now, self.rules.until);
        match *record {
            Record::Started { from, to, id } => self.started(from, to, id),
            Record::Sent { from, to, id } => self.sent(from, to, id),
            Record::Aborted { from, to, id } => self.aborted(from, to, id),
            Record::Stored { from, to, id, started } => self.stored(from, to, id, started),
            Record::Refused { from, to, id, started, .. } => {
                self.arrival(from, to, id, started);
            }
            Record::Delivered { from, to, id, started, hops, first } => {
                self.delivered(from, to, id, started, (hops, first));
            }
            Record::Gone { node, id, reason, received } => self.gone(node, id, reason, received),
            Record::Reply { request, reply, .. } => drop(self.requests.insert(reply, request)),
            Record::Created(ref bundle) => self.created(bundle, true),
            Record::Rejected(ref bundle) => self.created(bundle, false),
            Record::ContactUp { a, b, rate, delay } => self.contact_up(a, b, rate, delay),
            Record::Rate { a, b, rate } => self.rate(a, b, rate),
            Record::ContactDown { a, b } => self.contact_down(a, b),
            Record::Node { node, buffer } => self.node(node, buffer),
            Record::Sample { node, used, .. } => self.sample(node, used),
            Record::Position { node, .. } => {
                self.known([node, node]);
            }
            Record::Control { .. } => {}
            Record::End => self.end(),
        }
    }
}

#[cfg(test)]
mod tests;
