//! Places of a listener to which any host can send: which peer is dropped for a newcomer when all are taken.
//!
//! A peer keeps its place while it brings 4 KiB of useful bytes a second: bytes of bundles or files that had not come
//! before, or Data that it reads. Keep-alives do not count. Otherwise one host could block the listener by
//! occupying all places.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Peers at a time, of any listener.
pub const PLACES_MAX: usize = 64;
/// A peer that has made progress is not dropped sooner: to open a session takes some round trips.
const GRACE: Duration = Duration::from_secs(2);
/// Longest pause in which a peer that made progress is not dropped for another.
const PAUSE_MOST: Duration = Duration::from_secs(10);
/// Least useful bytes within [`WINDOW_MS`] that count as progress: 4 KiB/s. A trickle holds no place.
const PROGRESS_BYTES: u64 = 8 << 10;
const WINDOW_MS: u64 = 2000;
/// What something small and complete counts for.
const UNIT_BYTES: u64 = 4 << 10;
const NEVER: u64 = u64::MAX;

/// The place of one peer of a listener.
#[derive(Debug)]
pub struct Place {
    accepted: Instant,
    /// When it last made progress, in milliseconds after it was accepted; not yet: [`NEVER`].
    progress_ms: AtomicU64,
    /// Useful bytes since `window_ms`, and when that was.
    bytes: AtomicU64,
    window_ms: AtomicU64,
    /// When useful bytes last filled a window, however long that took.
    moved_ms: AtomicU64,
    is_dismissed: AtomicBool,
}

impl Default for Place {
    fn default() -> Self {
        let [bytes, window_ms, moved_ms] = [0; 3].map(AtomicU64::new);
        let (progress_ms, is_dismissed) = (AtomicU64::new(NEVER), AtomicBool::new(false));
        Self { accepted: Instant::now(), progress_ms, bytes, window_ms, moved_ms, is_dismissed }
    }
}

impl Place {
    /// Useful bytes have passed.
    pub fn add(&self, bytes: u64) {
        if self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) < PROGRESS_BYTES {
            return;
        }
        let now = self.age_ms();
        self.bytes.store(0, Ordering::Relaxed);
        self.moved_ms.store(now, Ordering::Relaxed);
        if now - self.window_ms.swap(now, Ordering::Relaxed).min(now) <= WINDOW_MS {
            self.progress_ms.store(now, Ordering::Relaxed);
        }
    }
    /// Something is complete, however small.
    pub fn add_unit(&self) {
        self.moved_ms.store(self.age_ms(), Ordering::Relaxed);
        self.add(UNIT_BYTES);
    }
    /// An answer to received data is being sent: that counts as progress.
    pub fn answer(&self) {
        self.progress_ms.store(self.age_ms(), Ordering::Relaxed);
    }
    fn age_ms(&self) -> u64 {
        u64::try_from(self.accepted.elapsed().as_millis()).unwrap_or(NEVER - 1)
    }
    /// How long it made progress from its begin on, and how long ago that ended.
    fn progress_and_idle(&self) -> (Option<Duration>, Duration) {
        let (age, at) = (self.accepted.elapsed(), self.progress_ms.load(Ordering::Relaxed));
        let until = (at != NEVER).then(|| Duration::from_millis(at));
        (until, age.saturating_sub(until.unwrap_or_default()))
    }
    /// How long ago useful bytes came, however slowly, or it was accepted.
    pub fn still(&self) -> Duration {
        self.accepted.elapsed().saturating_sub(Duration::from_millis(self.moved_ms.load(Ordering::Relaxed)))
    }
    /// How long ago it made progress, or was accepted.
    pub fn idle(&self) -> Duration {
        self.progress_and_idle().1
    }
    /// Whether it has made progress of late.
    pub fn is_active(&self) -> bool {
        let (until, idle) = self.progress_and_idle();
        until.is_some() && idle < PAUSE_MOST
    }
    /// Whether it may keep its place.
    pub fn standing(&self) -> Standing {
        let (until, idle) = self.progress_and_idle();
        Standing::of(until, idle)
    }
    /// Whether it must end, because another connection has its place or all places are taken.
    pub fn is_dismissed(&self) -> bool {
        self.is_dismissed.load(Ordering::Acquire)
    }
}

/// Whether there is a place for a newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// There is.
    Free,
    /// If this peer, counted from zero, is dropped.
    Drop(usize),
    /// Not yet: some peers are too young to be judged.
    Wait,
    /// All peers make progress.
    Full,
}

/// Whether a peer may keep its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No progress yet; age of the connection, less than [`GRACE`].
    New(Duration),
    /// It makes progress, for less than [`GRACE`].
    Young,
    /// It has made progress for some time, and of late.
    Active,
    /// No progress for this time.
    Idle(Duration),
}

impl Standing {
    /// By how long it has made progress, none if it never did, and how long ago that was. It may pause as long as it has
    /// made progress: one burst of bytes holds no place.
    fn of(until: Option<Duration>, idle: Duration) -> Self {
        let lasted = until.unwrap_or_default();
        if idle >= lasted.clamp(GRACE, PAUSE_MOST) {
            Self::Idle(idle)
        } else if until.is_none() {
            Self::New(idle)
        } else if lasted < GRACE {
            Self::Young
        } else {
            Self::Active
        }
    }
}

/// Whether there is room where at most `most` peers have places: the one that is idle longest goes.
pub fn room(most: usize, standings: impl Iterator<Item = Standing>) -> Room {
    let standings: Vec<_> = standings.collect();
    if standings.len() < most {
        return Room::Free;
    }
    let idle = standings.iter().enumerate().filter_map(|(at, standing)| match standing {
        Standing::Idle(idle) => Some((*idle, at)),
        Standing::New(_) | Standing::Young | Standing::Active => None,
    });
    match idle.max() {
        Some((_, at)) => Room::Drop(at),
        None if standings.iter().all(|standing| *standing == Standing::Active) => Room::Full,
        None => Room::Wait,
    }
}

/// Whether there is room for a newcomer that cannot wait, as it came by a datagram; `peers` are those that have places.
/// If all are taken, one goes in this order: the one that is idle longest; of those without progress the oldest of the
/// host that has most of them; of a host with more than a quarter of the places one that is not from the newcomer's host.
pub fn room_now(most: usize, newcomer: IpAddr, peers: &[(IpAddr, Standing)]) -> Room {
    let room = room(most, peers.iter().map(|(_, standing)| *standing));
    if matches!(room, Room::Free | Room::Drop(_)) {
        return room;
    }
    let is_new = |standing: Standing| match standing {
        Standing::New(age) => Some(age),
        Standing::Young | Standing::Active | Standing::Idle(_) => None,
    };
    let news = peers.iter().filter(|(_, standing)| is_new(*standing).is_some());
    let counts = counts(news.map(|(peer, _)| *peer));
    let rank = |(at, (peer, standing)): (usize, &(IpAddr, Standing))| {
        is_new(*standing).map(|age| (counts[&host(*peer)], age, at))
    };
    match peers.iter().enumerate().filter_map(rank).max() {
        Some((.., at)) => Room::Drop(at),
        None => crowding(most, newcomer, peers.iter().map(|(peer, _)| *peer)).map_or(room, Room::Drop),
    }
}

/// A peer of a host that has more than a quarter of the places, for a newcomer whose host has not.
fn crowding(most: usize, newcomer: IpAddr, peers: impl Iterator<Item = IpAddr> + Clone) -> Option<usize> {
    let counts = counts(peers.clone());
    let count = |peer: IpAddr| counts.get(&host(peer)).copied().unwrap_or(0);
    let crowd = counts.iter().max_by_key(|(_, count)| **count).filter(|(_, count)| **count > most / 4)?;
    (count(newcomer) <= most / 4).then(|| peers.into_iter().position(|peer| host(peer) == *crowd.0))?
}

fn counts(peers: impl Iterator<Item = IpAddr>) -> std::collections::BTreeMap<IpAddr, usize> {
    let mut counts = std::collections::BTreeMap::new();
    peers.for_each(|peer| *counts.entry(host(peer)).or_default() += 1);
    counts
}

/// What one host has: an address of IPv4, or 64 bits of one of IPv6.
fn host(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(ip) => ip.into(),
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

/// Who has come.
pub struct Newcomer {
    /// The connection.
    pub stream: TcpStream,
    /// The other side.
    pub peer: SocketAddr,
    /// Its place; dismissed from the start if all are taken.
    pub place: Arc<Place>,
    /// Whose place it has, if another connection was dropped, and after how long without progress.
    pub dropped: Option<(SocketAddr, Duration)>,
}

/// The places of a listener with a thread for each connection.
pub struct Places {
    most: usize,
    taken: Vec<(SocketAddr, Arc<Place>)>,
    /// Connections without a place: their threads send the refusal.
    turned_away: Vec<Arc<Place>>,
}

impl Places {
    /// At most `most` connections at a time.
    pub fn new(most: usize) -> Self {
        Self { most, taken: Vec::new(), turned_away: Vec::new() }
    }
    /// Accepts the next connection, if one waits and something can be done with it. Of those without a place
    /// at most `most` are answered at a time; others wait.
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
        let crowd = || crowding(self.most, peer.ip(), self.taken.iter().map(|(peer, _)| peer.ip()));
        let room = if room == Room::Full { crowd().map_or(room, Room::Drop) } else { room };
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
    fn the_peer_without_progress_for_longest_goes_and_none_that_makes_any() {
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
    fn a_newcomer_that_cannot_wait_takes_the_place_of_a_host_that_has_many() {
        let ip = |n: u8| IpAddr::from([10, 0, 0, n]);
        let new = |ms| Standing::New(Duration::from_millis(ms));
        let peers = [(ip(1), new(900)), (ip(2), new(100)), (ip(2), new(300)), (ip(3), Standing::Young)];
        assert_eq!(room_now(4, ip(9), &peers), Room::Drop(2), "the older one of the host that has two");
        let peers = [(ip(1), Standing::Active), (ip(2), Standing::Young), (ip(2), Standing::Active)];
        assert_eq!(room_now(3, ip(9), &peers), Room::Drop(1));
        assert_eq!(room_now(3, ip(2), &peers), Room::Wait, "it is of the same host");
        assert_eq!(room_now(8, ip(9), &[(ip(1), Standing::Active); 7]), Room::Free);
        let all: Vec<_> = (0..8).map(|n| (ip(n / 2), Standing::Active)).collect();
        assert_eq!(room_now(8, ip(9), &all), Room::Full, "no host has more than a quarter");
        let net = |n: u128| IpAddr::from(Ipv6Addr::from_bits(n));
        assert_eq!(host(net(7 << 64 | 1)), host(net(7 << 64 | 2)));
        assert_ne!(host(net(7 << 64)), host(net(8 << 64)));
    }

    #[test]
    fn a_trickle_is_no_progress() {
        let mut place = Place::default();
        (0..PROGRESS_BYTES - 1).for_each(|_| place.add(1));
        assert!(!place.is_active());
        place.add(1);
        assert!(place.is_active());
        // 1 KiB in 2 s, for a minute.
        let began = Instant::now();
        place = Place::default();
        for second in (0..60).step_by(2) {
            place.accepted =
                began.checked_sub(Duration::from_secs(second)).expect("the machine runs for longer");
            place.add(1 << 10);
        }
        assert!(!place.is_active() && place.still() < Duration::from_secs(20));
        assert!(matches!(place.standing(), Standing::Idle(_)));
    }
}
