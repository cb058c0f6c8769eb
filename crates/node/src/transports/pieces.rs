//! Files over DCCP alone: each datagram has the offset of its bytes, and lost bytes are sent again in new
//! datagrams, until all have arrived.
//!
//! | first byte | then |
//! |---|---|
//! | 0 a piece | place in header and file (8 bytes), bytes |
//! | 1 a receipt | as [`super::header::Receipt`] has it |

use super::driver::{Endpoint, Status};
use super::header::Receipt;
use super::incoming::{Inbox, Incoming};
use super::message::Message;
use super::{Error, Event};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::ranges::Ranges;
use std::collections::VecDeque;
use std::net::SocketAddr;

const PIECE: u8 = 0;
const RECEIPT: u8 = 1;
/// Most ranges of received bytes with gaps between them; no sender that repairs losses leaves this many.
const HELD_MOST: usize = 1 << 20;
/// Bytes before those of the file.
const HEAD: usize = 1 + 8;
/// If no fate is reported for this time and all has been sent, datagrams without a fate are sent again.
const STALLED: Duration = Duration::from_secs(2);

/// A datagram in transit.
#[derive(Clone, Copy)]
struct Piece {
    at: u64,
    length: u32,
    settled: bool,
}

/// A message that leaves in pieces.
pub struct Leaving {
    message: Message,
    /// Bytes of a piece at most.
    piece: u64,
    next: u64,
    acked: Ranges,
    /// Byte ranges to send again.
    lost: Ranges,
    /// The number of the first datagram that is remembered, and what was in it and in later ones.
    under_way: (u64, VecDeque<Piece>),
    receipt: Option<Receipt>,
    sent: [u64; 2],
    stalls_at: Instant,
}

impl Leaving {
    /// In datagrams of `datagram` bytes.
    ///
    /// # Errors
    /// One line if there is no room for data.
    pub fn new(message: Message, datagram: u64) -> Result<Self, Error> {
        let piece = datagram.saturating_sub(HEAD as u64);
        if piece == 0 {
            return Err(Error::Input(
                "--packet-size: a packet has no room for data; take larger ones".to_owned(),
            ));
        }
        Ok(Self {
            message,
            piece,
            next: 0,
            acked: Ranges::default(),
            lost: Ranges::default(),
            under_way: (0, VecDeque::new()),
            receipt: None,
            sent: [0; 2],
            stalls_at: Instant::ZERO,
        })
    }
    /// The byte range to send next: start and end.
    fn choose(&mut self) -> Option<(u64, u64)> {
        if let Some((from, to)) = self.lost.first() {
            let to = to.min(from + self.piece);
            self.lost.remove(from, to);
            self.sent[1] += 1;
            return Some((from, to));
        }
        let (from, to) = (self.next, self.message.total().min(self.next + self.piece));
        self.next = to;
        (from < to).then_some((from, to))
    }
    fn lose(&mut self, piece: Piece) {
        let (mut from, end) = (piece.at, piece.at + u64::from(piece.length));
        while let Some((first, last)) = self.acked.gap(from, end) {
            self.lost.insert(first, last);
            from = last;
        }
    }
    fn lose_all(&mut self) {
        let waiting: Vec<Piece> = self.under_way.1.iter().filter(|piece| !piece.settled).copied().collect();
        waiting.into_iter().for_each(|piece| self.lose(piece));
        self.under_way.1.iter_mut().for_each(|piece| piece.settled = true);
    }
}

impl Endpoint for Leaving {
    fn take(&mut self, _: Instant, bytes: &[u8]) -> Result<(), Error> {
        if let Some((&RECEIPT, rest)) = bytes.split_first()
            && let Ok(receipt) = Receipt::read(rest)
        {
            self.receipt.get_or_insert(receipt);
        }
        Ok(())
    }
    fn give(&mut self, now: Instant, out: &mut Vec<u8>) -> Result<bool, Error> {
        if self.receipt.is_some() {
            return Ok(false);
        }
        let waits = self.under_way.1.iter().any(|piece| !piece.settled);
        if waits && self.next == self.message.total() && self.lost.is_empty() && now >= self.stalls_at {
            self.lose_all();
        }
        let Some((from, to)) = self.choose() else { return Ok(false) };
        self.stalls_at = now + STALLED;
        out.push(PIECE);
        out.extend_from_slice(&from.to_be_bytes());
        let start = out.len();
        out.resize(start + (to - from) as usize, 0);
        self.message.read(from, &mut out[start..])?;
        self.under_way.1.push_back(Piece { at: from, length: (to - from) as u32, settled: false });
        self.sent[0] += 1;
        Ok(true)
    }
    fn deadline(&self) -> Option<Instant> {
        (self.receipt.is_none() && self.next == self.message.total()).then_some(self.stalls_at)
    }
    fn on_fate(&mut self, now: Instant, ordinal: u64, arrived: bool) {
        self.stalls_at = now + STALLED;
        let (first, pieces) = &mut self.under_way;
        let Some(piece) = ordinal.checked_sub(*first).and_then(|index| pieces.get_mut(index as usize)) else {
            return;
        };
        let known = *piece;
        piece.settled = true;
        while pieces.front().is_some_and(|piece| piece.settled) {
            pieces.pop_front();
            *first += 1;
        }
        if arrived {
            self.acked.insert(known.at, known.at + u64::from(known.length));
            self.lost.remove(known.at, known.at + u64::from(known.length));
        } else if !known.settled {
            self.lose(known);
        }
    }
    fn status(&self) -> Status {
        let head = self.message.total() - self.message.length();
        let done = self.acked.total().saturating_sub(head);
        Status {
            progress: Some((done, self.message.length())),
            receipt: self.receipt.clone(),
            over: self.receipt.is_some(),
            sent: self.sent,
            ..Status::default()
        }
    }
}

/// A message that comes in pieces.
pub struct Coming {
    incoming: Box<dyn Incoming>,
    here: Ranges,
    /// Whether the receipt must be sent.
    answers: bool,
}

impl Coming {
    /// Nothing of it is here yet.
    pub fn new(inbox: &dyn Inbox, from: SocketAddr) -> Self {
        Self { incoming: inbox.incoming(from), here: Ranges::default(), answers: false }
    }
    fn put(&mut self, at: u64, bytes: &[u8]) {
        let end = at.saturating_add(bytes.len() as u64);
        let mut from = at;
        while let Some((first, last)) = self.here.gap(from, end) {
            self.incoming.write(first, &bytes[(first - at) as usize..(last - at) as usize]);
            from = last;
        }
        self.here.insert(at, end);
        if self.here.len() > HELD_MOST {
            self.incoming.refuse("it has too many gaps".to_owned());
        }
        if self.incoming.total().is_some_and(|total| self.here.within(0, total) == total) {
            self.incoming.finish();
        }
    }
}

impl Endpoint for Coming {
    fn take(&mut self, _: Instant, bytes: &[u8]) -> Result<(), Error> {
        if self.incoming.receipt().is_none()
            && let Some((&PIECE, rest)) = bytes.split_first()
            && let Some((at, data)) = rest.split_first_chunk::<8>()
        {
            self.put(u64::from_be_bytes(*at), data);
            self.answers = self.incoming.receipt().is_some();
        }
        Ok(())
    }
    fn give(&mut self, _: Instant, out: &mut Vec<u8>) -> Result<bool, Error> {
        if self.incoming.receipt().is_none() {
            self.incoming.tick();
            self.answers = self.incoming.receipt().is_some();
        }
        let Some(receipt) = self.incoming.receipt().filter(|_| self.answers) else { return Ok(false) };
        self.answers = false;
        out.push(RECEIPT);
        out.extend_from_slice(&receipt.to_bytes());
        Ok(true)
    }
    fn deadline(&self) -> Option<Instant> {
        None
    }
    fn on_fate(&mut self, _: Instant, _: u64, arrived: bool) {
        self.answers |= !arrived;
    }
    fn brought(&self) -> u64 {
        self.here.total()
    }
    fn abort(&mut self) {
        self.incoming.refuse("the connection ended before it was whole".to_owned());
    }
    fn status(&self) -> Status {
        let receipt = self.incoming.receipt().cloned();
        Status { progress: self.incoming.progress(), receipt, ..Status::default() }
    }
    fn take_events(&mut self) -> Vec<Event> {
        self.incoming.take_events()
    }
}
