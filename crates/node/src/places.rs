//! Places of a listener to which any host can connect: which connection is dropped for a newcomer when all are taken.
//!
//! A connection keeps its place while useful bytes come by it: bytes of bundles or files, or Data that its peer reads.
//! Keep-alives are none. Without this a host that opens as many connections as there are places locks the listener.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// No connection is dropped for another sooner: to open a session takes some round trips.
const GRACE: Duration = Duration::from_secs(2);
/// A connection by which something useful came within this time is not dropped for another.
const PROGRESS: Duration = Duration::from_secs(10);
/// Useful bytes that count as progress: single bytes now and then do not hold a place.
const PROGRESS_BYTES: u64 = 4 << 10;

/// The place of one connection; its thread holds it as long as it runs.
#[derive(Debug)]
pub struct Place {
    accepted: Instant,
    /// When it last made progress, in milliseconds after it was accepted; none yet: [`u64::MAX`].
    progress_ms: AtomicU64,
    /// Useful bytes since then.
    bytes: AtomicU64,
    is_dismissed: AtomicBool,
}

impl Default for Place {
    fn default() -> Self {
        let (progress_ms, bytes) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
        Self { accepted: Instant::now(), progress_ms, bytes, is_dismissed: AtomicBool::new(false) }
    }
}

impl Place {
    /// Useful bytes have passed.
    pub fn add(&self, bytes: u64) {
        if self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) >= PROGRESS_BYTES {
            self.progress();
        }
    }
    /// Something is complete, however small.
    pub fn progress(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        let now = u64::try_from(self.accepted.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.progress_ms.store(now, Ordering::Relaxed);
    }
    /// How long it made progress from its begin on, and how long ago that ended.
    fn progress_and_idle(&self) -> (Option<Duration>, Duration) {
        let (age, at) = (self.accepted.elapsed(), self.progress_ms.load(Ordering::Relaxed));
        let until = (at != u64::MAX).then(|| Duration::from_millis(at));
        (until, age.saturating_sub(until.unwrap_or_default()))
    }
    /// How long ago it made progress, or was accepted.
    pub fn idle(&self) -> Duration {
        self.progress_and_idle().1
    }
    /// Whether it has made progress of late.
    pub fn is_active(&self) -> bool {
        let (until, idle) = self.progress_and_idle();
        until.is_some() && idle < PROGRESS
    }
    /// Whether it may keep its place.
    pub fn standing(&self) -> Standing {
        let (until, idle) = self.progress_and_idle();
        Standing::of(until, idle)
    }
    /// Whether it is to end, as another connection has its place or there is none.
    pub fn is_dismissed(&self) -> bool {
        self.is_dismissed.load(Ordering::Acquire)
    }
}

/// Whether there is room for a newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// There is.
    Free,
    /// If this connection, counted from zero, is dropped.
    Drop(usize),
    /// Not yet: some connections are too young to be judged.
    Wait,
    /// All connections make progress.
    Full,
}

/// Whether a connection may keep its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is too young to be judged.
    Young,
    /// It has made progress for some time, and of late.
    Active,
    /// It has made none for so long.
    Idle(Duration),
}

impl Standing {
    /// By how long it has made progress, none if it never did, and how long ago that was. It may pause as long as it has
    /// made progress: one burst of bytes holds no place.
    fn of(until: Option<Duration>, idle: Duration) -> Self {
        let lasted = until.unwrap_or_default();
        if idle >= lasted.clamp(GRACE, PROGRESS) {
            Self::Idle(idle)
        } else if lasted < GRACE {
            Self::Young
        } else {
            Self::Active
        }
    }
}

/// Whether there is room where at most `most` connections have places: the one that is idle longest goes.
pub fn room(most: usize, standings: impl Iterator<Item = Standing>) -> Room {
    let standings: Vec<_> = standings.collect();
    if standings.len() < most {
        return Room::Free;
    }
    let idle = standings.iter().enumerate().filter_map(|(at, standing)| match standing {
        Standing::Idle(idle) => Some((*idle, at)),
        Standing::Young | Standing::Active => None,
    });
    match idle.max() {
        Some((_, at)) => Room::Drop(at),
        None if standings.contains(&Standing::Young) => Room::Wait,
        None => Room::Full,
    }
}

/// Who has come.
pub struct Newcomer {
    /// The connection.
    pub stream: TcpStream,
    /// The other side.
    pub peer: SocketAddr,
    /// Its place; dismissed from the start if there is none.
    pub place: Arc<Place>,
    /// Whose place it has, if another connection was dropped, and after how long without progress.
    pub dropped: Option<(SocketAddr, Duration)>,
}

/// The places of a listener with a thread for each connection.
pub struct Places {
    most: usize,
    taken: Vec<(SocketAddr, Arc<Place>)>,
    /// Connections without a place, which are told so.
    turned_away: Vec<Arc<Place>>,
}

impl Places {
    /// At most so many connections at a time.
    pub fn new(most: usize) -> Self {
        Self { most, taken: Vec::new(), turned_away: Vec::new() }
    }
    /// Accepts the next connection, if one waits and something can be done with it. Of those for which there is no
    /// place as many as there are places are told so at a time; others wait.
    ///
    /// # Errors
    /// What the system says: there may be too many files open.
    pub fn accept(&mut self, listener: &TcpListener) -> io::Result<Option<Newcomer>> {
        // A thread that has ended has let go of its place.
        self.taken.retain(|(_, place)| Arc::strong_count(place) > 1);
        self.turned_away.retain(|place| Arc::strong_count(place) > 1);
        let room = room(self.most, self.taken.iter().map(|(_, place)| place.standing()));
        if room == Room::Wait || self.turned_away.len() >= self.most {
            return Ok(None);
        }
        let (stream, peer) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(why) if matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                return Ok(None);
            }
            Err(why) => return Err(why),
        };
        let place = Arc::new(Place::default());
        let mut dropped = None;
        if let Room::Drop(at) = room {
            let (peer, old) = self.taken.remove(at);
            old.is_dismissed.store(true, Ordering::Release);
            dropped = Some((peer, old.idle()));
            self.turned_away.push(old);
        }
        if room == Room::Full {
            place.is_dismissed.store(true, Ordering::Release);
            self.turned_away.push(place.clone());
        } else {
            self.taken.push((peer, place.clone()));
        }
        Ok(Some(Newcomer { stream, peer, place, dropped }))
    }
    /// Whether a connection makes progress now.
    pub fn are_active(&self) -> bool {
        self.taken.iter().any(|(_, place)| Arc::strong_count(place) > 1 && place.is_active())
    }
    /// Whether no thread runs any more.
    pub fn are_empty(&self) -> bool {
        let others = self.taken.iter().map(|(_, place)| place).chain(&self.turned_away);
        others.into_iter().all(|place| Arc::strong_count(place) == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_without_progress_for_longest_goes_and_none_that_makes_any() {
        // Each by how many seconds it made progress, if it did, and for how many it is idle.
        let room = |all: [(Option<u64>, u64); 3]| {
            let seconds = Duration::from_secs;
            room(3, all.into_iter().map(|(until, idle)| Standing::of(until.map(seconds), seconds(idle))))
        };
        assert_eq!(room([(Some(9), 30), (None, 40), (Some(9), 1)]), Room::Drop(1));
        assert_eq!(room([(Some(9), 50), (None, 40), (Some(9), 1)]), Room::Drop(0));
        assert_eq!(room([(Some(99), 9), (Some(99), 8), (None, 3)]), Room::Drop(2), "it brought nothing");
        assert_eq!(room([(Some(0), 2), (Some(5), 3), (Some(99), 9)]), Room::Drop(0), "it was one burst");
        assert_eq!(room([(Some(99), 9), (None, 1), (Some(0), 1)]), Room::Wait, "they are too young");
        assert_eq!(room([(Some(99), 9), (Some(2), 1), (Some(7), 5)]), Room::Full);
        assert_eq!(super::room(3, [Standing::Idle(GRACE); 2].into_iter()), Room::Free);
    }

    #[test]
    fn single_bytes_are_no_progress() {
        let place = Place::default();
        (0..PROGRESS_BYTES - 1).for_each(|_| place.add(1));
        assert!(!place.is_active());
        place.add(1);
        assert!(place.is_active());
    }
}
