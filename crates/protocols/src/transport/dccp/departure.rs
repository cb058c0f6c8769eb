//! Packets that a connection sends, and when.

use super::connection::{Connection, State};
use super::features::{Location, Name};
use super::{Ecn, HEADER, Packet, Tries};
use crate::time::{Duration, Instant};
use crate::transport::Machine;
use crate::units::Bytes;
use crate::wire::dccp::{Body, HEADER_MAX, Header, Item, Kind, ResetCode, Sequence, crc32c, pad};
use std::sync::Arc;

/// Numbers that data leave to packets of control within the Sequence Window.
const RESERVE: u64 = 8;

impl Machine for Connection {
    type Input = Packet;
    type Output = Packet;

    fn handle(&mut self, now: Instant, packet: Packet) {
        self.on_packet(now, packet);
    }
    fn poll(&mut self, now: Instant) -> Option<Packet> {
        self.on_time(now);
        let first = self.poll_reset(now).or_else(|| self.stray.take());
        // A connection out of tries ends at once.
        first.or_else(|| self.poll_state(now)).or_else(|| self.poll_reset(now))
    }
    fn deadline(&self) -> Option<Instant> {
        let tries = (!matches!(self.state, State::Idle | State::Respond | State::Open)
            && self.state < State::TimeWait)
            .then_some(self.tries.next);
        let open = matches!(self.state, State::PartOpen | State::Open);
        let sender = open.then(|| self.sender.deadline()).flatten();
        let features = open.then(|| self.features.deadline()).flatten();
        let ack = self.ack_at.filter(|_| open);
        let asking = self.asking.deadline().filter(|_| open);
        [tries, sender, features, ack, asking, self.forget_at].into_iter().flatten().min()
    }
}

impl Connection {
    fn poll_reset(&mut self, now: Instant) -> Option<Packet> {
        let (code, details) = self.reset_due.take()?;
        Some(self.make(now, Body::Reset { ack: self.arrivals.greatest(), code, details }, None))
    }
    fn poll_state(&mut self, now: Instant) -> Option<Packet> {
        match self.state {
            State::Idle => {
                self.state = State::Request;
                self.tries = Tries::new(now, self.config.retry);
                self.poll_request(now)
            }
            State::Request => self.poll_request(now),
            State::Respond => self.poll_response(now),
            State::PartOpen | State::Open => self.poll_sync(now).or_else(|| self.poll_open(now)),
            State::CloseReq | State::Closing => self.poll_sync(now).or_else(|| self.poll_close(now)),
            State::TimeWait | State::Closed => None,
        }
    }
    fn on_time(&mut self, now: Instant) {
        if self.forget_at.is_some_and(|at| at <= now) {
            self.forget_at = None;
            self.state = State::Closed;
        }
        if matches!(self.state, State::PartOpen | State::Open) {
            self.sender.on_time(now, self.numbers.next);
            self.features.on_time(now);
            self.ask_for_ratio();
            if self.asking.is_due(now, self.sender.patience()) {
                self.sync_due = Some(self.arrivals.greatest());
            }
        }
    }

    // --- by state ---------------------------------------------------------------------------

    /// Retries if it is time; `None` if it is not, or if the tries are used up.
    fn try_again(&mut self, now: Instant) -> Option<()> {
        if !self.tries.is_due(now) {
            return None;
        }
        if self.tries.is_over(now) {
            self.end(ResetCode::Aborted);
            // Also after an unanswered request: some may have arrived (section 8.1.1).
            self.reset_due = Some((ResetCode::Aborted, [0; 3]));
            self.state = State::Closed;
            return None;
        }
        self.tries.on_try(now);
        Some(())
    }
    fn poll_request(&mut self, now: Instant) -> Option<Packet> {
        self.try_again(now)?;
        self.features.ask_again();
        Some(self.make(now, Body::Request { service: self.config.service }, None))
    }
    fn poll_response(&mut self, now: Instant) -> Option<Packet> {
        // One answer to each request; a repeated request is answered again.
        if self.tries.count > 0 {
            return None;
        }
        self.tries.on_try(now);
        let body = Body::Response { ack: self.arrivals.greatest(), service: self.config.service };
        Some(self.make(now, body, None))
    }
    fn poll_sync(&mut self, now: Instant) -> Option<Packet> {
        if let Some(ack) = self.sync_ack_due.take() {
            return Some(self.make(now, Body::SyncAck { ack }, None));
        }
        let ack = self.sync_due.take()?;
        self.counts.syncs += 1;
        Some(self.make(now, Body::Sync { ack }, None))
    }
    fn poll_close(&mut self, now: Instant) -> Option<Packet> {
        self.try_again(now)?;
        let ack = self.arrivals.greatest();
        let asks = self.state == State::CloseReq;
        Some(self.make(now, if asks { Body::CloseReq { ack } } else { Body::Close { ack } }, None))
    }
    fn poll_open(&mut self, now: Instant) -> Option<Packet> {
        if self.closes && self.queue.is_empty() && self.state == State::Open {
            self.begin_closing(now, if self.is_server { State::CloseReq } else { State::Closing });
            return self.poll_close(now);
        }
        if self.state == State::PartOpen {
            return self.poll_part_open(now);
        }
        // Options of negotiation do not fit beside a full packet's data.
        if self.features.is_due() || self.ack_at.is_some_and(|at| at <= now) {
            return Some(self.make_ack(now));
        }
        let data = self.next_data(now)?;
        let tells = self.tells_with(now, data.len());
        let ack = self.arrivals.greatest();
        let body = if tells { Body::DataAck { ack } } else { Body::Data };
        Some(self.make(now, body, Some(data)))
    }
    /// Every packet carries the cookie until the server is heard (section 8.1.5).
    fn poll_part_open(&mut self, now: Instant) -> Option<Packet> {
        let options = self.cookie.len() + CONFIRMS_BYTES;
        let room = self.config.segment().0.saturating_sub(options as u64);
        if self.queue.front().is_some_and(|data| data.len() as u64 <= room)
            && let Some(data) = self.next_data(now)
        {
            self.tries.next = self.tries.next.max(now.saturating_add(self.tries.span));
            return Some(self.make(now, Body::DataAck { ack: self.arrivals.greatest() }, Some(data)));
        }
        self.try_again(now)?;
        self.features.ask_again();
        Some(self.make_ack(now))
    }
    fn next_data(&mut self, now: Instant) -> Option<Arc<[u8]>> {
        let window = self.features.get(Name::SequenceWindow, Location::Here);
        let ahead = self.numbers.next.since(self.numbers.acknowledged).max(0).unsigned_abs();
        // Beyond this the other end would take it for somebody else's (section 7.5.1).
        let room =
            ahead + RESERVE < (window / 4 * 3).max(RESERVE + 2) || self.config.faults.small_sequence_window;
        if !room && !self.queue.is_empty() {
            self.asking.begin(now, self.sender.patience());
        }
        if !self.sender.may_send(now, !self.queue.is_empty(), room) {
            return None;
        }
        self.queue.pop_front()
    }
    /// Whether a data packet acknowledges too: where it fits, or once a round trip to acknowledge
    /// acknowledgements (RFC 4341, section 6.2).
    fn tells_with(&mut self, now: Instant, data: usize) -> bool {
        let count = if self.counts_without_data() { 4 } else { 0 };
        let Some(room) = self.config.segment().0.checked_sub(data as u64 + count) else { return false };
        if self.unacknowledged > 0 && room >= 64 {
            return true;
        }
        if !self.heard_acks || now < self.answer_acks_at {
            return false;
        }
        self.heard_acks = false;
        self.answer_acks_at = now.saturating_add(self.rtt().unwrap_or(Duration::ZERO));
        true
    }

    // --- packets ----------------------------------------------------------------------------

    fn make_ack(&mut self, now: Instant) -> Packet {
        self.make(now, Body::Ack { ack: self.arrivals.greatest() }, None)
    }
    fn make(&mut self, now: Instant, body: Body, data: Option<Arc<[u8]>>) -> Packet {
        let sequence = self.numbers.next;
        self.numbers.next = sequence.plus(1);
        let is_data = data.is_some();
        let mut options = Vec::new();
        self.write_options(now, sequence, &body, data.as_ref(), &mut options);
        pad(&mut options);
        let coverage = if is_data { self.coverage(data.as_ref().map_or(0, |data| data.len())) } else { 0 };
        let header = Header {
            source: self.config.ports[0],
            destination: self.config.ports[1],
            ccval: if is_data { self.sender.window_counter(now) } else { 0 },
            coverage,
            short: false,
            sequence,
            body,
        };
        let packet =
            Packet { header, options, data: data.unwrap_or_else(|| [].into()), ecn: self.ecn_of(&body) };
        let size = self.config.below + packet.size();
        let bytes = is_data.then_some(packet.data.len() as u32);
        self.sender.on_sent(now, bytes, size);
        self.without_data = if body.kind().is_without_data() { self.without_data + 1 } else { 0 };
        packet
    }
    /// Whether queues may mark a packet: data and acknowledgements, once the other end has said what it can read.
    fn ecn_of(&self, body: &Body) -> Ecn {
        let is_read = self.features.get(Name::EcnIncapable, Location::There) == 0;
        let may_be_marked = matches!(body.kind(), Kind::Data | Kind::DataAck | Kind::Ack);
        if self.config.ecn && is_read && may_be_marked && self.state == State::Open {
            Ecn::Capable
        } else {
            Ecn::NotCapable
        }
    }
    /// The configured checksum coverage, or 0 (all) if it exceeds the data.
    fn coverage(&self, data: usize) -> u8 {
        let fits = usize::from(self.config.coverage).saturating_sub(1) * 4 <= data;
        if fits { self.config.coverage } else { 0 }
    }
    /// Whether the next packet has an NDP Count option.
    fn counts_without_data(&self) -> bool {
        self.features.get(Name::SendNdpCount, Location::Here) == 1 && self.without_data > 0
    }
    fn write_options(
        &mut self,
        now: Instant,
        sequence: Sequence,
        body: &Body,
        data: Option<&Arc<[u8]>>,
        out: &mut Vec<u8>,
    ) {
        let kind = body.kind();
        if matches!(kind, Kind::Request | Kind::Response) || (kind == Kind::Ack || kind == Kind::DataAck) {
            let keep = self.state == State::PartOpen;
            if data.is_none() || keep {
                self.features.write(now, sequence, keep, out);
            }
        }
        if self.state == State::PartOpen && !self.cookie.is_empty() {
            out.extend_from_slice(&self.cookie);
        }
        if data.is_none()
            && let Some((stamp, at)) = self.stamp.take()
        {
            let elapsed = Some(Item::time(now - at)).filter(|units| *units > 0);
            Item::TimestampEcho { stamp, elapsed }.write(out);
        }
        if kind == Kind::Response {
            self.arrivals.write_drops(64, out);
        }
        if matches!(kind, Kind::Ack | Kind::DataAck) && self.state == State::Open {
            self.write_acknowledgement(now, sequence, data.map_or(0, |data| data.len()), out);
        }
        if self.counts_without_data() && kind != Kind::Request {
            Item::NdpCount(self.without_data).write(out);
        }
        if self.features.get(Name::CheckData, Location::There) == 1
            && let Some(data) = data
        {
            Item::DataChecksum(crc32c(data)).write(out);
        }
    }
    fn write_acknowledgement(&mut self, now: Instant, sequence: Sequence, data: usize, out: &mut Vec<u8>) {
        let most = self.config.packet.saturating_sub(self.config.below + HEADER + Bytes(data as u64)).0;
        let room = (most as usize).min(HEADER_MAX - HEADER.0 as usize).saturating_sub(out.len() + 16);
        // A report of CCID 3 is whole or none (RFC 4342, section 6).
        let least = if self.ccid3.is_some() { 128 } else { 24 };
        let is_bare = data > 0 && room < least;
        if is_bare {
            return;
        }
        let held = now - self.arrivals.greatest_at;
        if Item::time(held) > 0 || self.ccid3.is_some() {
            Item::ElapsedTime(Item::time(held)).write(out);
        }
        if let Some(receiver) = &mut self.ccid3 {
            receiver.write(now, self.features.get(Name::SendLossEventRate, Location::Here) == 1, room, out);
        }
        let has_vector = self.features.get(Name::SendAckVector, Location::Here) == 1;
        self.arrivals.write(sequence, has_vector, room, out);
        self.unacknowledged = 0;
        self.ack_at = None;
    }
}

/// Bytes that confirmations of a handshake may take.
const CONFIRMS_BYTES: usize = 64;
