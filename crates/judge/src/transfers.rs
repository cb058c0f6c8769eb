//! Transfers: from the first bit that leaves to the last that arrives.

use super::About;
use super::link::{Direction, Flight, Sending};
use super::{Judge, JudgeRules, Kind};
use lightlag_protocols::dtn::{Bundle, BundleId, NodeId};
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes, Remaining};

impl Judge {
    pub(super) fn started(&mut self, from: NodeId, to: NodeId, id: BundleId) {
        if !self.known([from, to]) {
            return;
        }
        let size = self.take_up(from, to, id);
        let about = About::Transfer(from, to, id);
        let back_busy = self.is_busy(to, from);
        let (up, direction) = self.links.direction(from, to);
        let busy = !direction.sending.is_empty();
        let (started, left) = (self.found.now, Remaining::of(size));
        direction.sending.push(Sending { id, started, since: started, left, cut: false });
        if !up {
            self.found.add_about(Kind::NoContact, about, String::new);
        }
        let nodes = [from, to].map(|node| self.nodes[node.0 as usize].active > 0);
        let radio_busy = match self.rules.radio {
            Radio::Node => nodes[0] || nodes[1],
            Radio::Link => back_busy,
            Radio::Direction => false,
        };
        if busy {
            self.add(Kind::Overlap, about, String::new);
        } else if radio_busy {
            self.add(Kind::RadioBusy, about, || who_is_busy(nodes).to_owned());
        }
        for node in [from, to] {
            self.nodes[node.0 as usize].active += 1;
        }
    }
    /// The sender's copy is being sent; gives its size.
    #[inline]
    fn take_up(&mut self, from: NodeId, to: NodeId, id: BundleId) -> Bytes {
        if let Some(copy) = self.copies.get_mut(from, id) {
            let before = *copy;
            copy.sending += 1;
            self.check_lifetime(from, id, &before);
            return before.size;
        }
        let bundle = self.bundles.get(u64::from(id.0));
        let size = bundle.map_or(Bytes(0), |bundle| bundle.facts.size);
        // An oracle may still pass on what was deleted at this instant.
        if self.rules.oracle && bundle.is_some_and(|bundle| bundle.was_dropped_at(from)) {
            return size;
        }
        let kind = if bundle.is_some() { Kind::NoCopy } else { Kind::UnknownBundle };
        self.add(kind, About::Transfer(from, to, id), String::new);
        size
    }
    #[inline]
    fn is_busy(&mut self, from: NodeId, to: NodeId) -> bool {
        let by_link = self.rules.radio == Radio::Link;
        by_link && !self.links.direction(from, to).1.sending.is_empty()
    }

    pub(super) fn sent(&mut self, from: NodeId, to: NodeId, id: BundleId) {
        if !self.known([from, to]) {
            return;
        }
        let (_, direction) = self.links.direction(from, to);
        let Some(sending) = direction.take_sending(id) else { return self.not_under_way(from, to, id) };
        let (now, rate) = (self.found.now, direction.rate);
        let copy = self.copies.get_mut(from, id);
        let hops = copy.and_then(|copy| {
            copy.end_transfer(now);
            copy.sent += 1;
            copy.hops
        });
        let light = match self.rules.propagation {
            Propagation::Pipelined => now,
            Propagation::StopAndWait => self.rules.earliest_end(&sending, rate),
        };
        direction.flying.push(Flight {
            id,
            started: sending.started,
            sent: now,
            earliest: light.saturating_add(direction.delay),
            delay: direction.delay,
            hops: hops.map(|hops| hops.saturating_add(1)),
        });
        self.free_radios(from, to);
        if let Some(bundle) = self.bundles.get_mut(u64::from(id.0)) {
            bundle.flying += 1;
            bundle.promised |= bundle.facts.destination == to;
        }
        if !JudgeRules::has_left(&sending, now, rate) {
            self.check_rate(About::Transfer(from, to, id), &sending, rate);
        }
    }
    fn check_rate(&mut self, about: About, sending: &Sending, rate: BitRate) {
        let earliest_end = self.rules.earliest_end(sending, rate);
        if self.found.now < earliest_end {
            self.add(Kind::OverRate, about, || {
                format!("started at {:?}, it needs until {earliest_end:?}", sending.started)
            });
        }
    }
    pub(super) fn aborted(&mut self, from: NodeId, to: NodeId, id: BundleId) {
        if !self.known([from, to]) {
            return;
        }
        let (_, direction) = self.links.direction(from, to);
        if direction.take_sending(id).is_none() {
            return self.not_under_way(from, to, id);
        }
        if self.links.of(from, to).up {
            self.aborted.push((from, to, id));
        }
        self.free_radios(from, to);
        let now = self.found.now;
        if let Some(copy) = self.copies.get_mut(from, id) {
            copy.end_transfer(now);
        }
    }
    #[inline]
    fn free_radios(&mut self, from: NodeId, to: NodeId) {
        for node in [from, to] {
            let state = &mut self.nodes[node.0 as usize];
            state.active = state.active.saturating_sub(1);
            state.busy_until = self.found.now;
        }
    }
    #[cold]
    fn not_under_way(&mut self, from: NodeId, to: NodeId, id: BundleId) {
        let bundle = self.bundles.get(u64::from(id.0));
        let dropped = bundle.is_some_and(|bundle| bundle.was_dropped_at(from));
        let held = self.copies.get_mut(from, id).is_some();
        let kind = match bundle {
            None => Kind::UnknownBundle,
            Some(_) if dropped && !held => Kind::SentAfterDrop,
            Some(_) => Kind::NeverStarted,
        };
        self.add(kind, About::Transfer(from, to, id), String::new);
    }

    /// The last bit of a copy has come; gives the links it has crossed, if they are known.
    pub(super) fn arrival(
        &mut self,
        from: NodeId,
        to: NodeId,
        id: BundleId,
        started: Instant,
    ) -> Option<u32> {
        if !self.known([from, to]) {
            return None;
        }
        let about = About::Transfer(from, to, id);
        let (_, direction) = self.links.direction(from, to);
        let Some(flight) = direction.take_flight(id, started) else {
            if direction.sending.iter().any(|sending| sending.id == id) {
                self.add(Kind::NeverSent, about, String::new);
            } else {
                self.not_under_way(from, to, id);
            }
            return None;
        };
        if let Some(bundle) = self.bundles.get_mut(u64::from(id.0)) {
            bundle.flying = bundle.flying.saturating_sub(1);
        }
        if flight.started != started {
            self.add(Kind::WrongStart, about, || format!("{started:?}, was {:?}", flight.started));
        }
        // One at a time: the link must not have been given free before light was there either.
        let came = match self.rules.propagation {
            Propagation::Pipelined => self.found.now,
            Propagation::StopAndWait => self.found.now.min(flight.sent),
        };
        if came < flight.earliest && !self.rules.oracle {
            let earliest = flight.earliest;
            self.add(Kind::FasterThanLight, about, || format!("cannot come before {earliest:?}"));
        }
        flight.hops
    }
    pub(super) fn stored(&mut self, from: NodeId, to: NodeId, id: BundleId, started: Instant) {
        let hops = self.arrival(from, to, id, started);
        let Some(bundle) = self.facts(to, id) else { return };
        if bundle.destination == to {
            self.add(Kind::StoredAtDestination, About::Transfer(from, to, id), String::new);
        }
        let grace = self.rules.purge_every.unwrap_or(Duration::ZERO);
        if self.found.now > bundle.expires.saturating_add(grace) {
            self.add(Kind::Outlived, About::Copy(to, id), || "stored after its lifetime".to_owned());
        }
        self.put(to, &bundle, hops, false);
    }
    pub(super) fn delivered(
        &mut self,
        from: NodeId,
        to: NodeId,
        id: BundleId,
        started: Instant,
        (hops, first): (u32, bool),
    ) {
        let about = About::Transfer(from, to, id);
        let crossed = self.arrival(from, to, id, started);
        let Some(bundle) = self.facts(to, id) else { return };
        if bundle.destination != to {
            self.add(Kind::WrongDestination, about, || format!("is for node {}", bundle.destination.0));
        }
        if hops == 0 || crossed.is_some_and(|crossed| crossed != hops) {
            let crossed = crossed.map_or("some".to_owned(), |crossed| crossed.to_string());
            self.add(Kind::WrongHops, about, || format!("{hops} recorded, {crossed} crossed"));
        }
        if self.rules.purge_every.is_none() && self.found.now >= bundle.expires {
            self.add(Kind::Outlived, about, || "delivered after its lifetime".to_owned());
        }
        let Some(state) = self.bundles.get_mut(u64::from(id.0)) else { return };
        let before = std::mem::replace(&mut state.delivered, true);
        match (before, first) {
            (true, true) => self.add(Kind::DeliveredTwice, about, String::new),
            (false, false) => self.add(Kind::FirstDenied, about, String::new),
            _ => {}
        }
    }
    #[inline]
    fn facts(&self, to: NodeId, id: BundleId) -> Option<Bundle> {
        let known = (to.0 as usize) < self.nodes.len();
        self.bundles.get(u64::from(id.0)).filter(|_| known).map(|bundle| bundle.facts)
    }

    /// Every transfer is over, or still has reason not to be.
    pub(super) fn account_for_transfers(&mut self) {
        let now = self.found.now;
        let mut lost = Vec::new();
        for (from, to, direction) in self.links.busy() {
            for sending in direction.sending.iter().filter(|sending| !sending.cut) {
                let due = self.latest_end(sending, direction);
                if due < now {
                    lost.push((Kind::NeverEnded, About::Transfer(from, to, sending.id), due));
                }
            }
            for flight in &direction.flying {
                let due = flight.sent.saturating_add(self.longest_flight(flight.delay));
                if due < now {
                    lost.push((Kind::NeverArrived, About::Transfer(from, to, flight.id), due));
                }
            }
        }
        for (kind, about, due) in lost {
            self.add(kind, about, || format!("was due at {due:?}"));
        }
    }
    fn latest_end(&self, sending: &Sending, direction: &Direction) -> Instant {
        let last_bit = sending.since.saturating_add(sending.left.time_at(direction.rate));
        self.rules.rounded(match self.rules.propagation {
            Propagation::Pipelined => last_bit,
            Propagation::StopAndWait => last_bit.saturating_add(self.longest_flight(direction.delay)),
        })
    }
    /// The record of a contact gives the least delay.
    fn longest_flight(&self, delay: Duration) -> Duration {
        delay.saturating_add(self.rules.spread(delay))
    }
}

fn who_is_busy(busy: [bool; 2]) -> &'static str {
    match busy {
        [true, true] => "both ends are busy",
        [true, false] => "the sender is busy",
        [false, true] => "the receiver is busy",
        [false, false] => "the link is busy",
    }
}
