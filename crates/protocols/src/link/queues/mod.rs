//! Queue disciplines: which packet leaves next, and which is dropped. One file each, one line each in
//! [`Entry::TABLE`].

use super::Load;
use crate::parameter::{Parameter, ParameterError, Parameters, Value};
use crate::time::Instant;
use crate::units::Bytes;
use std::fmt;

mod codel;
mod drop_tail;
mod priority;

use drop_tail::DropTail;

/// Packets that a queue has dropped while it was asked for the next one.
pub type Dropped<P> = Vec<P>;

/// The packets that wait in front of a link.
///
/// Packets of equal priority leave in the order in which they came. A queue is pushed to while the link
/// is busy, and popped when it is free.
pub trait Queue<P> {
    /// A packet arrives. If there is no room, a packet is given back: this one, or one that waited.
    ///
    /// # Errors
    /// The packet that is dropped.
    fn push(&mut self, now: Instant, packet: P) -> Result<(), P>;
    /// The packet that leaves now; what is dropped instead of leaving goes to `dropped`.
    fn pop(&mut self, now: Instant, dropped: &mut Dropped<P>) -> Option<P>;
    /// Number of waiting packets.
    fn len(&self) -> usize;
    /// Packets that it has marked instead of dropping them, so far.
    fn marked(&self) -> u64 {
        0
    }
    /// Whether no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Packets, the one that is leaving included.
    Packets(u64),
    /// Bytes, without the packet that is leaving.
    Bytes(Bytes),
}

/// A row of [`Entry::TABLE`], for packets of type `P`.
pub struct Entry<P> {
    /// File = type = string in a scenario.
    pub name: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Its parameters, beside the limit. A flag `mark` says that it marks packets instead of dropping
    /// them.
    pub parameters: &'static [Parameter],
    /// Packets of a lower priority number leave first.
    pub by_priority: bool,
    /// It may drop packets that have waited, beside those without room.
    pub drops_waiting: bool,
    /// Makes an empty one.
    pub build: fn(&Parameters, Limit) -> Waiting<P>,
}

impl<P: Load + 'static> Entry<P> {
    /// Every discipline.
    pub const TABLE: &'static [Self] = &[drop_tail::entry(), priority::entry(), codel::entry()];
}

/// The rows without a type of packet, for all that only describes them.
pub const TABLE: &[Entry<NoPacket>] = Entry::TABLE;

/// Stands for the type of packet where there are no packets.
#[derive(Clone, Copy, Debug)]
pub enum NoPacket {}

impl Load for NoPacket {
    fn size(&self) -> Bytes {
        match *self {}
    }
}

/// A queue discipline with its limit and parameters, as plain data.
#[derive(Clone)]
pub struct Discipline {
    entry: &'static Entry<NoPacket>,
    limit: Limit,
    parameters: Parameters,
}

impl Discipline {
    /// First in, first out; what does not fit is dropped.
    pub const fn drop_tail(limit: Limit) -> Self {
        Self { entry: &TABLE[0], limit, parameters: Parameters::NONE }
    }
    /// A row of the table.
    pub fn new(entry: &'static Entry<NoPacket>, limit: Limit, parameters: Parameters) -> Self {
        Self { entry, limit, parameters }
    }
    /// The discipline of this name, with defaults for the parameters that are not given.
    ///
    /// # Errors
    /// A parameter that is unknown or out of its range.
    ///
    /// # Panics
    /// If the table has no such row.
    pub fn named(name: &str, limit: Limit, given: &[(&str, Value)]) -> Result<Self, ParameterError> {
        let entry = TABLE.iter().find(|row| row.name == name).expect("a row of the table");
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Ok(Self::new(entry, limit, Parameters::resolve(name, entry.parameters, &given.collect())?))
    }
    /// How much may wait.
    pub fn limit(&self) -> Limit {
        self.limit
    }
    /// [`Entry::by_priority`].
    pub fn by_priority(&self) -> bool {
        self.entry.by_priority
    }
    /// [`Entry::drops_waiting`].
    pub fn drops_waiting(&self) -> bool {
        self.entry.drops_waiting
    }
    /// Whether it marks packets instead of dropping them.
    pub fn marks(&self) -> bool {
        self.parameters.iter().any(|row| row == ("mark", &Value::Flag(true)))
    }
    /// An empty queue.
    ///
    /// # Panics
    /// If its row is not one of the table.
    pub fn build<P: Load + 'static>(&self) -> Waiting<P> {
        let row = Entry::<P>::TABLE.iter().find(|row| row.name == self.entry.name);
        (row.expect("a row of the table").build)(&self.parameters, self.limit)
    }
}

impl PartialEq for Discipline {
    fn eq(&self, other: &Self) -> bool {
        let same = self.limit == other.limit && self.parameters == other.parameters;
        same && self.entry.name == other.entry.name
    }
}
impl fmt::Debug for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {:?}", self.entry.name, self.limit, self.parameters)
    }
}

/// A queue of any discipline; that of most links without the cost of a call through a table.
pub enum Waiting<P> {
    /// First in, first out.
    DropTail(DropTail<P>),
    /// Any other.
    Other(Box<dyn Queue<P>>),
}

impl<P: Load> Queue<P> for Waiting<P> {
    #[inline]
    fn push(&mut self, now: Instant, packet: P) -> Result<(), P> {
        match self {
            Self::DropTail(queue) => queue.push(now, packet),
            Self::Other(queue) => queue.push(now, packet),
        }
    }
    #[inline]
    fn pop(&mut self, now: Instant, dropped: &mut Dropped<P>) -> Option<P> {
        match self {
            Self::DropTail(queue) => queue.pop(now, dropped),
            Self::Other(queue) => queue.pop(now, dropped),
        }
    }
    #[inline]
    fn len(&self) -> usize {
        match self {
            Self::DropTail(queue) => queue.len(),
            Self::Other(queue) => queue.len(),
        }
    }
    fn marked(&self) -> u64 {
        match self {
            Self::DropTail(queue) => queue.marked(),
            Self::Other(queue) => queue.marked(),
        }
    }
}

/// Counts the waiting packets against a limit.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    limit: Limit,
    bytes: u64,
}

impl Room {
    /// Nothing waits.
    pub fn new(limit: Limit) -> Self {
        Self { limit, bytes: 0 }
    }
    /// Counts a packet in, if it fits beside `waiting` others.
    #[inline]
    pub fn admit(&mut self, waiting: usize, size: Bytes) -> bool {
        let fits = match self.limit {
            Limit::Packets(most) => waiting as u64 + 1 < most,
            Limit::Bytes(most) => self.bytes + size.0 <= most.0,
        };
        if fits {
            self.bytes += size.0;
        }
        fits
    }
    /// A packet of this size has left or was dropped.
    #[inline]
    pub fn release(&mut self, size: Bytes) {
        self.bytes -= size.0;
    }
}
