//! Frames that two daemons exchange about the connections that they carry together, over any stack.
//!
//! A frame is a value in the encoding of postcard: numbers take as few bytes as they need (seven bits in
//! each), bytes and text have their length before them. The epoch that names a connection is encoded as its
//! difference from the sending daemon's, which is mostly zero. Over datagrams a frame is whole in one; over a
//! stream [`Frame::read`] returns where the next one begins.

use super::interval;
use crate::time::Duration;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Longest name of a target, in bytes: a host name of DNS and its port.
pub const TARGET_MAX: usize = 255 + 6;

/// Names a connection among all that two daemons ever have between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ConnectionId {
    /// The epoch of the daemon that opened it; a later one has a greater number, as the second of its start.
    pub incarnation: u32,
    /// Connections that it had opened before in that epoch.
    pub number: u32,
}

impl std::fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.incarnation, self.number)
    }
}

/// How a connection wants to be carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// Higher goes first; see [`crate::session::PRIORITIES`].
    pub priority: u8,
    /// What is accepted is stored before it is acknowledged, and delivered though the application has left.
    pub durable: bool,
    /// Milliseconds of one-way delay that the application can bear; none: any.
    pub delay_most_ms: Option<u64>,
}

/// Why a connection is over before its streams are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CloseReason {
    /// The application ended it at once, as a reset of TCP does.
    Aborted,
    /// The target refused the connection.
    Refused,
    /// The target cannot be reached, or its name is not known.
    Unreachable,
    /// The rules of the far daemon forbid it.
    Forbidden,
    /// The far daemon has no room for another one.
    Full,
    /// The far daemon does not know it: it has restarted without its state.
    Unknown,
    /// A frame of it was invalid.
    Broken,
}

/// A message about one connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame<'a> {
    /// Opens a connection.
    Open {
        /// Which.
        id: ConnectionId,
        /// To what: `host:port`, or the name of a service.
        target: &'a str,
        /// How to carry it.
        hints: Hints,
    },
    /// The target has been reached.
    Opened {
        /// Which.
        id: ConnectionId,
    },
    /// Bytes of its stream.
    Data {
        /// Which.
        id: ConnectionId,
        /// Of the first byte.
        offset: u64,
        /// The stream ends behind them.
        ends: bool,
        /// Themselves.
        #[serde(with = "serde_bytes")]
        bytes: &'a [u8],
    },
    /// Acknowledgement and window of the stream in the other direction.
    Ack {
        /// Which.
        id: ConnectionId,
        /// All bytes below this are in the hands of the far application, or stored; the end of the stream
        /// counts as one.
        below: u64,
        /// Bytes below this may be sent.
        window: u64,
    },
    /// It is over, whatever is in flight.
    Reset {
        /// Which.
        id: ConnectionId,
        /// Why.
        why: CloseReason,
    },
    /// The answer to a reset, and to frames of a connection that is over: no more frames are expected.
    Gone {
        /// Which.
        id: ConnectionId,
        /// Both streams had come to their ends.
        complete: bool,
    },
}

/// One run of a daemon, from its start to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Epoch {
    /// Greater than in any earlier epoch of this daemon, as far as the daemon knows.
    pub number: u32,
    /// Drawn at random at the start, never zero. It distinguishes epochs whose numbers collide because the
    /// stored number was lost, and the other daemon's datagrams are bound to it.
    pub nonce: u64,
}

impl Epoch {
    /// Whether `other`, another epoch of the same daemon, began later, as far as numbers show. Two epochs
    /// with one number cannot be ordered: the daemon must begin a new one.
    pub fn precedes(self, other: Self) -> bool {
        other.number > self.number
    }
}

/// Identifies a datagram. The cipher needs it in the open, so it precedes the sealed [`Head`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serial {
    /// The sender's epoch.
    pub epoch: Epoch,
    /// The nonce of the receiver's epoch for which the datagram was made; 0 where the sender does not know
    /// it.
    pub bound: u64,
    /// Number of datagrams sent before it in this epoch; below 2^48.
    pub number: u64,
    /// Only the last bytes of `number` are sent: the receiver knows the rest.
    pub is_short: bool,
}

impl Serial {
    /// Length in bytes when it is sent whole: epoch number (4), epoch nonce (8), `bound` (8), `number` (6);
    /// the highest byte of each first.
    pub const WHOLE: usize = 26;
    /// Length in bytes when it is short: the last bytes of `number`.
    pub const SHORT: usize = 4;
    /// Numbers are below this: an epoch sends fewer, a million a second for nine years.
    pub const NUMBERS: u64 = 1 << 48;

    /// Length in bytes as it is sent.
    pub fn length(self) -> usize {
        if self.is_short { Self::SHORT } else { Self::WHOLE }
    }
    /// All of it, whether it is sent or not.
    pub fn whole(self) -> [u8; Self::WHOLE] {
        let mut bytes = [0; Self::WHOLE];
        bytes[..4].copy_from_slice(&self.epoch.number.to_be_bytes());
        bytes[4..12].copy_from_slice(&self.epoch.nonce.to_be_bytes());
        bytes[12..20].copy_from_slice(&self.bound.to_be_bytes());
        bytes[20..].copy_from_slice(&self.number.to_be_bytes()[2..]);
        bytes
    }
    /// Appends its bytes.
    pub fn write(self, out: &mut Vec<u8>) {
        let whole = self.whole();
        out.extend_from_slice(if self.is_short { &whole[Self::WHOLE - Self::SHORT..] } else { &whole });
    }
    /// Reads a whole one.
    pub fn from_whole(bytes: [u8; Self::WHOLE]) -> Self {
        let epoch = Epoch { number: value(&bytes[..4]) as u32, nonce: value(&bytes[4..12]) };
        Self { epoch, bound: value(&bytes[12..20]), number: value(&bytes[20..]), is_short: false }
    }
    /// Reads a short one. `near` is the one with the highest number that has come from the same epoch: of all
    /// numbers with these last bytes the nearest is meant (as in RFC 9000, appendix A.3).
    pub fn from_short(bytes: [u8; Self::SHORT], near: Self) -> Self {
        const TURN: u64 = 1 << (8 * Serial::SHORT);
        let highest = near.number;
        let same_turn = (highest & !(TURN - 1)) | value(&bytes);
        let number = if same_turn + TURN / 2 < highest {
            same_turn + TURN
        } else if same_turn > highest + TURN / 2 && same_turn >= TURN {
            same_turn - TURN
        } else {
            same_turn
        };
        Self { number, is_short: true, ..near }
    }
}

/// Of bytes, the highest first.
fn value(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// What a datagram begins with; frames follow up to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Requests a report even if it carries nothing.
    pub asks: bool,
    /// The time between reports that its sender asks for, `None` as long as it knows no round trip; on the link the nearest of
    /// [`interval`].
    pub every: Option<Duration>,
    /// Datagrams received in the other direction.
    pub report: Option<Report>,
    /// About epochs and paths; such a datagram carries nothing else.
    pub note: Option<Note>,
}

/// What daemons say about their epochs and paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    /// The sender knows this epoch of the receiver, and the receiver's present one does not follow it.
    Known(Epoch),
    /// The receiver returns the number to the address that it came from.
    PathChallenge(u64),
    /// The number of a challenge.
    PathResponse(u64),
}

/// Datagrams received in the other direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The epoch of the daemon that had sent them.
    pub incarnation: u32,
    /// The highest number that came.
    pub highest: u64,
    /// How long ago that was, in microseconds.
    pub held_us: u64,
    /// When the report left, in microseconds by the clock of its sender.
    pub at_us: u64,
    /// Datagrams that came, in all.
    pub received: u64,
    /// From the highest number downwards: the count of a run received, and of the run below that was not
    /// received or was reported before.
    pub runs: Vec<(u64, u64)>,
}

/// Most runs in a report.
pub const RUNS_MAX: usize = 20;

impl Report {
    /// Ranges of numbers that came, from the highest down.
    ///
    /// # Errors
    /// [`Malformed::Frame`]: they go below zero.
    pub fn ranges(&self) -> Result<Vec<(u64, u64)>, Malformed> {
        let mut top = self.highest.checked_add(1).ok_or(Malformed::Frame)?;
        let below = |from: u64, count: u64| from.checked_sub(count).ok_or(Malformed::Frame);
        let range = |(came, lacks): &(u64, u64)| {
            let ends = top;
            let begins = below(ends, *came)?;
            top = below(begins, *lacks)?;
            Ok((begins, ends))
        };
        self.runs.iter().map(range).collect()
    }
    /// Takes ranges from the highest down.
    pub fn tell(&mut self, ranges: impl Iterator<Item = (u64, u64)>) {
        self.runs.clear();
        let mut top = None;
        for (from, to) in ranges.take(RUNS_MAX) {
            if let Some((last, top)) = self.runs.last_mut().zip(top) {
                last.1 = top - to;
            }
            self.runs.push((to - from, 0));
            top = Some(from);
        }
    }
}

impl Head {
    /// Reads the head of a datagram, and gives what follows it.
    ///
    /// # Errors
    /// [`Malformed::Frame`]: it is not a head.
    pub fn read(bytes: &[u8]) -> Result<(Self, &[u8]), Malformed> {
        let (head, rest) = postcard::take_from_bytes(bytes).map_err(|_| Malformed::Frame)?;
        let (asks, code, report) = match head {
            OnLink::Says(code) => (false, code, None),
            OnLink::Asks(code) => (true, code, None),
            OnLink::Reports(code, report) => (false, code, Some(report)),
            OnLink::ReportsAndAsks(code, report) => (true, code, Some(report)),
            OnLink::Notes(note) => return Ok((Self { note: Some(note), ..Self::default() }, rest)),
        };
        let every = (code != UNKNOWN).then(|| interval::of(code));
        Ok((Self { asks, every, report, note: None }, rest))
    }
    /// Appends its bytes.
    pub fn write(self, out: &mut Vec<u8>) {
        let every = self.every.map_or(UNKNOWN, interval::code);
        let head = match (self.note, self.asks, self.report) {
            (Some(note), ..) => OnLink::Notes(note),
            (None, false, None) => OnLink::Says(every),
            (None, true, None) => OnLink::Asks(every),
            (None, false, Some(report)) => OnLink::Reports(every, report),
            (None, true, Some(report)) => OnLink::ReportsAndAsks(every, report),
        };
        let written = postcard::to_extend(&head, std::mem::take(out));
        *out = written.expect("a head can always be written");
    }
}

/// The code of no interval.
const UNKNOWN: u8 = u8::MAX;

/// A [`Head`] on the link: most datagrams have two bytes of it. A `u8` is the code of an interval.
#[derive(Serialize, Deserialize)]
enum OnLink {
    Says(u8),
    Asks(u8),
    Reports(u8, Report),
    ReportsAndAsks(u8, Report),
    Notes(Note),
}

/// Bytes that are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// It cannot be read.
    #[error("it is not a frame")]
    Frame,
    /// A stream would have more bytes than can be counted.
    #[error("offset {0} and its bytes are beyond the end of all streams")]
    Offset(u64),
    /// A target is too long or empty.
    #[error("the target has {0} bytes; it must have 1 to {TARGET_MAX}")]
    Target(usize),
}

/// What [`Frame::write_rest`] writes begins with this, as a frame with the number of its kind.
const REST: u8 = 6;

/// No stream has more bytes than this, its end counted.
pub const OFFSET_MAX: u64 = 1 << 62;

impl<'a> Frame<'a> {
    /// The connection that it is of.
    pub fn id(&self) -> ConnectionId {
        match self {
            Self::Open { id, .. }
            | Self::Opened { id }
            | Self::Data { id, .. }
            | Self::Ack { id, .. }
            | Self::Reset { id, .. }
            | Self::Gone { id, .. } => *id,
        }
    }
    fn id_mut(&mut self) -> &mut ConnectionId {
        match self {
            Self::Open { id, .. }
            | Self::Opened { id }
            | Self::Data { id, .. }
            | Self::Ack { id, .. }
            | Self::Reset { id, .. }
            | Self::Gone { id, .. } => id,
        }
    }
    /// Reads the first frame, sent by a daemon in epoch `life`, and returns the bytes after it.
    ///
    /// # Errors
    /// What is wrong with it; a frame that is cut is [`Malformed::Frame`].
    pub fn read(life: u32, bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Malformed> {
        let read = match bytes.split_first() {
            Some((&REST, told)) => postcard::take_from_bytes(told)
                .map(|((id, offset), bytes)| (Self::Data { id, offset, ends: false, bytes }, &[][..])),
            _ => postcard::take_from_bytes::<Self>(bytes),
        };
        let (mut frame, rest) = read.map_err(|_| Malformed::Frame)?;
        let id = frame.id_mut();
        id.incarnation = id.incarnation.wrapping_add(life);
        match &frame {
            Self::Data { offset, bytes, .. } if offset.saturating_add(bytes.len() as u64) >= OFFSET_MAX => {
                Err(Malformed::Offset(*offset))
            }
            Self::Ack { below, window, .. } if *below.max(window) > OFFSET_MAX => {
                Err(Malformed::Offset(*below))
            }
            Self::Open { target, .. } if target.is_empty() || target.len() > TARGET_MAX => {
                Err(Malformed::Target(target.len()))
            }
            _ => Ok((frame, rest)),
        }
    }
    /// Appends its bytes, as sent by a daemon in epoch `life`.
    pub fn write(mut self, life: u32, out: &mut Vec<u8>) {
        let id = self.id_mut();
        id.incarnation = id.incarnation.wrapping_sub(life);
        let written = postcard::to_extend(&self, std::mem::take(out));
        *out = written.expect("a frame can always be written");
    }
    /// Appends bytes of a stream that does not end with them, behind which nothing more may be written.
    pub fn write_rest(life: u32, id: ConnectionId, offset: u64, bytes: &[u8], out: &mut Vec<u8>) {
        let id = ConnectionId { incarnation: id.incarnation.wrapping_sub(life), ..id };
        out.push(REST);
        let written = postcard::to_extend(&(id, offset), std::mem::take(out));
        *out = written.expect("numbers can always be written");
        out.extend_from_slice(bytes);
    }
    /// How many bytes [`Frame::Data`] has beside its data, of which there are fewer than `room`.
    pub fn data_overhead(life: u32, id: ConnectionId, offset: u64, room: usize) -> usize {
        Self::rest_overhead(life, id, offset) + 1 + varint(room as u64)
    }
    /// How many bytes [`Frame::write_rest`] adds to the data.
    pub fn rest_overhead(life: u32, id: ConnectionId, offset: u64) -> usize {
        let numbers = [id.incarnation.wrapping_sub(life).into(), id.number.into(), offset];
        1 + numbers.into_iter().map(varint).sum::<usize>()
    }
    /// How many bytes it has at most, beside its data or its target.
    pub const OVERHEAD_MAX: usize = 1 + 5 + 5 + 10 + 1 + 10;
}

/// Bytes of a number as postcard writes it: seven bits in each.
fn varint(number: u64) -> usize {
    (64 - number.leading_zeros()).div_ceil(7).max(1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::ranges::Ranges;
    use proptest::prelude::*;

    fn id() -> impl Strategy<Value = ConnectionId> {
        any::<(u32, u32)>().prop_map(|(incarnation, number)| ConnectionId { incarnation, number })
    }

    proptest! {
        #[test]
        fn frames_are_read_as_they_were_written(
            id in id(),
            life: u32,
            offset in 0..OFFSET_MAX / 2,
            flag: bool,
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            target in "[a-z.:]{1,60}",
            delay_most_ms: Option<u64>,
        ) {
            let hints = Hints { priority: bytes.len() as u8, durable: flag, delay_most_ms };
            let frames = [
                Frame::Open { id, target: &target, hints },
                Frame::Opened { id },
                Frame::Data { id, offset, ends: flag, bytes: &bytes },
                Frame::Ack { id, below: offset, window: offset + 7 },
                Frame::Reset { id, why: CloseReason::Unreachable },
                Frame::Gone { id, complete: flag },
            ];
            let mut out = Vec::new();
            for frame in &frames {
                let before = out.len();
                frame.clone().write(life, &mut out);
                let carried = if let Frame::Open { .. } = frame { target.len() } else { bytes.len() };
                prop_assert!(out.len() - before <= Frame::OVERHEAD_MAX + carried);
                if let Frame::Data { id, offset, .. } = frame {
                    prop_assert_eq!(out.len() - before, Frame::data_overhead(life, *id, *offset, carried) + carried);
                }
            }
            let before = out.len();
            Frame::write_rest(life, id, offset, &bytes, &mut out);
            prop_assert_eq!(out.len() - before, Frame::rest_overhead(life, id, offset) + bytes.len());
            let mut rest = &out[..];
            for frame in frames.into_iter().chain([Frame::Data { id, offset, ends: false, bytes: &bytes }]) {
                let (read, behind) = Frame::read(life, rest).unwrap();
                prop_assert_eq!(read, frame);
                rest = behind;
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn serials_read_back(
            epoch: (u32, u64),
            bound: u64,
            number in 0..Serial::NUMBERS,
            known in -1_i64 << 30..1 << 30,
        ) {
            let epoch = Epoch { number: epoch.0, nonce: epoch.1 };
            for is_short in [false, true] {
                let serial = Serial { epoch, bound, number, is_short };
                let mut out = Vec::new();
                serial.write(&mut out);
                prop_assert_eq!(out.len(), serial.length());
                let near = Serial { number: number.saturating_add_signed(known), ..serial };
                let read = match is_short {
                    false => Serial::from_whole(*out.first_chunk().unwrap()),
                    true => Serial::from_short(*out.first_chunk().unwrap(), near),
                };
                prop_assert_eq!(read, serial);
            }
        }

        #[test]
        fn reports_name_what_came(numbers in prop::collection::btree_set(0_u64..400, 1..200), asks: bool) {
            let mut came = Ranges::default();
            numbers.iter().for_each(|at| {
                came.insert(*at, at + 1);
            });
            let highest = *numbers.last().unwrap();
            let mut report = Report { highest, ..Report::default() };
            report.tell(came.iter().rev());
            let head = Head { asks, every: asks.then(|| interval::of(7)), report: Some(report), note: None };
            let mut out = Vec::new();
            head.clone().write(&mut out);
            let (read, rest) = Head::read(&out).unwrap();
            prop_assert_eq!(&read, &head);
            prop_assert!(rest.is_empty());
            let told: Vec<_> = came.iter().rev().take(RUNS_MAX).collect();
            prop_assert_eq!(read.report.unwrap().ranges(), Ok(told));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), life: u32) {
            if let Ok((frame, rest)) = Frame::read(life, &bytes) {
                let mut out = Vec::new();
                frame.write(life, &mut out);
                // Data without a length get one now.
                prop_assert!(out.len() <= bytes.len() - rest.len() + 2);
            }
            if let Ok((Head { report: Some(report), .. }, _)) = Head::read(&bytes) {
                let _ = report.ranges();
            }
        }
    }

    #[test]
    fn offsets_and_targets_that_cannot_be_are_named() {
        let id = ConnectionId { incarnation: 1, number: 2 };
        let read = |frame: Frame| {
            let mut out = Vec::new();
            frame.write(1, &mut out);
            Frame::read(1, &out).map(|_| ()).map_err(|why| why.to_string())
        };
        let data = Frame::Data { id, offset: OFFSET_MAX - 1, ends: false, bytes: b"x" };
        assert!(read(data).unwrap_err().contains("beyond the end"));
        let open = Frame::Open { id, target: "", hints: Hints::default() };
        assert_eq!(read(open).unwrap_err(), "the target has 0 bytes; it must have 1 to 261");
    }
}
