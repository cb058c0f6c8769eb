//! Sessions of TCPCL (RFC 9174) inside a connection: which transfers begin, which are acknowledged and refused.
//!
//! The stream is put together in order, in bounded memory. Data of transfers are not kept, and may be missing from the
//! capture; where the head of a message is missing (or TLS hides it), the rest of the direction is not read.

use super::flow::Moment;
use super::half::Half;
use super::tcp_header::{Segment, Unwrap};
use lightlag_protocols::wire::tcpcl::{Contact, Flags, Message, RefuseReason, Segment as Transfer};
use std::collections::BTreeMap;

/// Bytes that wait for earlier ones, and segments.
const EARLY_MAX: usize = 256 << 10;
const EARLY_PIECES_MAX: usize = 1_024;
/// The head of a bundle is within its first bytes.
const HEAD_MAX: usize = 512;
/// Transfers of a direction that wait for their acknowledgement; the oldest are forgotten.
const TRANSFERS_MAX: usize = 4_096;
/// No message is longer: its node and its items.
const MESSAGE_MAX: usize = 1 << 18;

/// Both directions.
#[derive(Clone, Debug, Default)]
pub struct Tcpcl {
    streams: [Stream; 2],
    /// By direction: transfers that are not acknowledged, and when each began.
    open: [BTreeMap<u64, i64>; 2],
}

/// A direction of the connection, in order.
#[derive(Clone, Debug, Default)]
struct Stream {
    numbers: Unwrap,
    next: Option<u64>,
    /// Segments that came before earlier ones: what was kept, and their length.
    early: BTreeMap<u64, (Vec<u8>, u64)>,
    held: usize,
    /// The begin of a message.
    message: Vec<u8>,
    greeted: bool,
    /// Data of a transfer that follow.
    data: u64,
    /// The begin of a bundle, while it is read.
    head: Option<Vec<u8>>,
    unreadable: bool,
}

/// What a stream says.
enum Event {
    Message(Message),
    /// The begin of a bundle.
    Bundle(Vec<u8>),
}

impl Tcpcl {
    /// Whether the rest of the direction from end `way` could not be read.
    pub fn is_unreadable(&self, way: usize) -> bool {
        self.streams[way].unreadable
    }

    /// A segment of TCP that travels from end `way` to the other; `payload`: as far as it was kept.
    pub fn on_segment(
        &mut self,
        halves: &mut [Half; 2],
        way: usize,
        segment: &Segment,
        payload: &[u8],
        now: &Moment,
    ) {
        let mut events = Vec::new();
        self.streams[way].take(segment, payload, &mut events);
        for event in events {
            match event {
                Event::Message(message) => self.on_message(halves, way, message, now),
                Event::Bundle(head) => {
                    halves[way].messages.on_bundle(&head, now);
                }
            }
        }
    }

    fn on_message(&mut self, halves: &mut [Half; 2], way: usize, message: Message, now: &Moment) {
        let other = 1 - way;
        match message {
            Message::Segment(Transfer { flags, transfer, length, .. }) => {
                let messages = &mut halves[way].messages;
                messages.bytes += length;
                if flags.start {
                    messages.sent += 1;
                    self.open[way].insert(transfer, now.ns);
                }
                if self.open[way].len() > TRANSFERS_MAX {
                    self.open[way].pop_first();
                }
            }
            Message::Ack { flags: Flags { end: true, .. }, transfer, .. } => {
                if let Some(began_ns) = self.open[other].remove(&transfer) {
                    halves[other].messages.complete(began_ns, now);
                }
            }
            Message::Refuse { reason, transfer } => {
                if let Some(began_ns) = self.open[other].remove(&transfer) {
                    match reason {
                        RefuseReason::Completed => halves[other].messages.complete(began_ns, now),
                        _ => halves[other].messages.lost += 1,
                    }
                }
            }
            _ => {}
        }
    }
}

impl Stream {
    fn take(&mut self, segment: &Segment, payload: &[u8], events: &mut Vec<Event>) {
        if self.unreadable || segment.length == 0 {
            return;
        }
        let begin = segment.sequence.wrapping_add(segment.syn().into());
        let from = self.numbers.near(begin.into(), 32);
        let to = from + u64::from(segment.length);
        self.numbers.follow(u64::from(begin.wrapping_add(segment.length)), 32);
        let next = *self.next.get_or_insert(from);
        if from > next {
            self.held += payload.len();
            self.early.insert(from, (payload.to_vec(), to - from));
            if self.held > EARLY_MAX || self.early.len() > EARLY_PIECES_MAX {
                self.jump(events);
            }
            return;
        }
        self.pass(from, payload, to - from, events);
        self.follow(events);
    }

    /// What was early and is next now.
    fn follow(&mut self, events: &mut Vec<Event>) {
        while let Some(first) = self.early.first_entry().filter(|first| Some(*first.key()) <= self.next) {
            let (from, (payload, length)) = first.remove_entry();
            self.held -= payload.len();
            self.pass(from, &payload, length, events);
        }
    }

    /// The next bytes are not in the capture: no message is missing if they were data of a transfer.
    fn jump(&mut self, events: &mut Vec<Event>) {
        let Some((&to, next)) = self.early.keys().next().zip(self.next) else { return };
        self.pass(next, &[], to - next, events);
        self.follow(events);
    }

    /// The next bytes, some of which may have passed.
    fn pass(&mut self, from: u64, payload: &[u8], length: u64, events: &mut Vec<Event>) {
        let next = self.next.unwrap_or(from);
        let known = (next - from).min(length);
        self.next = Some(next + length - known);
        let payload = payload.get(known as usize..).unwrap_or_default();
        self.read(payload, length - known, events);
    }

    fn read(&mut self, mut kept: &[u8], mut length: u64, events: &mut Vec<Event>) {
        while length > 0 && !self.unreadable {
            if self.data > 0 {
                let step = self.data.min(length);
                let part = &kept[..kept.len().min(step as usize)];
                if let Some(head) = &mut self.head {
                    head.extend(&part[..part.len().min(HEAD_MAX - head.len())]);
                }
                kept = &kept[part.len()..];
                (self.data, length) = (self.data - step, length - step);
                if self.data == 0 || self.head.as_ref().is_some_and(|head| head.len() == HEAD_MAX) {
                    events.extend(self.head.take().map(Event::Bundle));
                }
                continue;
            }
            // The head of a message, which must be there.
            let carried = std::mem::take(&mut self.message);
            let before = carried.len();
            let joined = (before > 0).then(|| [&carried, &kept[..kept.len().min(MESSAGE_MAX)]].concat());
            match self.next_message(joined.as_deref().unwrap_or(kept), events) {
                Some(used) => {
                    let used = used.saturating_sub(before);
                    (kept, length) = (&kept[used..], length - used as u64);
                }
                None => {
                    self.unreadable |= kept.len() as u64 != length || before + kept.len() > MESSAGE_MAX;
                    self.message = joined.unwrap_or_else(|| kept[..kept.len().min(MESSAGE_MAX)].to_vec());
                    return;
                }
            }
        }
    }

    /// Reads one: how many bytes it took. None: more are needed, or they are no message.
    fn next_message(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Option<usize> {
        if !self.greeted {
            let read = Contact::read(bytes);
            self.unreadable =
                read.as_ref().map_or(true, |read| read.is_some_and(|(contact, _)| contact.version != 4));
            let (_, used) = read.ok()??;
            self.greeted = true;
            return Some(used);
        }
        let read = Message::read(bytes);
        self.unreadable = read.is_err();
        let (message, used) = read.ok()??;
        if let Message::Segment(segment) = &message {
            self.data = segment.length;
            self.head = segment.flags.start.then(Vec::new);
        }
        events.push(Event::Message(message));
        Some(used)
    }
}
