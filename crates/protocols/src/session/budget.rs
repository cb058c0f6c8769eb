//! The memory of all connections of a daemon together, and what of it one of them may take.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that each connection may have in each direction, however many there are.
pub const WINDOW_LEAST: u64 = 16 * 1024;
/// Bytes of a connection beside those of its streams: its state here, and its task in the driver.
const FIXED: u64 = 8 * 1024;
/// Bytes of a connection that has the least window in both directions.
pub const CONNECTION_COST: u64 = FIXED + 2 * WINDOW_LEAST;
/// Bytes in flight of all connections between two daemons beyond the windows that the receiver has
/// advertised. Both sides know this limit: the sender keeps to it, the receiver has room for it.
pub const UNADVERTISED_MOST: u64 = 16 << 20;

/// Counts the memory of all connections, of all sessions that share it.
///
/// One half is for connections with the least windows: it bounds their number. The other half is lent to
/// those that can use more. Each gets at most a quarter of what is free (Choudhury and Hahne, "Dynamic queue
/// length thresholds for shared-memory packet switches", 1998), so that some is always left for those that
/// come later.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    connections: AtomicU64,
    /// Sessions with a connection.
    sessions: AtomicU64,
    /// Bytes beyond the least windows.
    lent: AtomicU64,
}

impl Budget {
    /// A budget of `limit` bytes.
    pub fn new(limit: u64) -> Self {
        let [connections, sessions, lent] = std::array::from_fn(|_| AtomicU64::new(0));
        Self { limit, connections, sessions, lent }
    }
    /// As many bytes as there may be.
    pub fn limit(&self) -> u64 {
        self.limit
    }
    /// Bytes that connections have, or may have by windows that were advertised to the peer.
    pub fn used(&self) -> u64 {
        self.connections.load(Ordering::Relaxed) * CONNECTION_COST + self.lent.load(Ordering::Relaxed)
    }
    /// Connections for which there is room.
    pub fn connections_max(&self) -> u64 {
        self.limit / 2 / CONNECTION_COST
    }
    /// Whether there is no room for another connection.
    pub fn is_full(&self) -> bool {
        self.connections.load(Ordering::Relaxed) >= self.connections_max()
    }
    /// Whether there is room for at most one connection in eight.
    pub fn is_short(&self) -> bool {
        let most = self.connections_max();
        self.connections.load(Ordering::Relaxed) >= most - most.div_ceil(8)
    }
    /// Bytes that one stream may have now: at least [`WINDOW_LEAST`].
    pub fn share(&self) -> u64 {
        let reserved = (self.sessions.load(Ordering::Relaxed) * UNADVERTISED_MOST).min(self.limit / 4);
        let free = (self.limit / 2).saturating_sub(reserved + self.lent.load(Ordering::Relaxed));
        (free / 4).max(WINDOW_LEAST)
    }
    /// Whether more was lent than there is: a peer has sent more than it was allowed to.
    pub fn is_overdrawn(&self) -> bool {
        self.lent.load(Ordering::Relaxed) > self.limit / 2
    }
    /// A connection is made; `is_first`: the only one of its session.
    pub(super) fn enter(&self, is_first: bool) {
        self.connections.fetch_add(1, Ordering::Relaxed);
        self.sessions.fetch_add(u64::from(is_first), Ordering::Relaxed);
    }
    /// A connection that had borrowed `lent` bytes is over; `is_last`: the only one of its session.
    pub(super) fn leave(&self, lent: u64, is_last: bool) {
        self.lent.fetch_sub(lent, Ordering::Relaxed);
        self.connections.fetch_sub(1, Ordering::Relaxed);
        self.sessions.fetch_sub(u64::from(is_last), Ordering::Relaxed);
    }
    /// What is lent to a connection has changed.
    pub(super) fn change(&self, before: u64, after: u64) {
        if after > before {
            self.lent.fetch_add(after - before, Ordering::Relaxed);
        } else if after < before {
            self.lent.fetch_sub(before - after, Ordering::Relaxed);
        }
    }
}

impl Default for Budget {
    /// Without a limit.
    fn default() -> Self {
        Self::new(u64::MAX)
    }
}
