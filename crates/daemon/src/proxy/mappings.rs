//! Mappings of UDP, as RFC 4787 calls them: datagrams to a target have no end, so their connection ends when it is idle.

use crate::keys::PublicKey;
use crate::peer::Peer;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// A mapping ends when it has carried nothing for this time: RFC 4787, REQ-5 recommends it, and forbids less than 2 min.
const IDLE_MOST: Duration = Duration::from_secs(300);

thread_local! {
    /// The next number, and all mappings by their numbers. Everything runs in one thread.
    static ALL: RefCell<(u64, BTreeMap<u64, Weak<Mapping>>)> = RefCell::default();
}

/// A connection for datagrams, at either end.
pub struct Mapping {
    number: u64,
    peer: PublicKey,
    used: Cell<Instant>,
    must_end: Notify,
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let _ = ALL.try_with(|all| all.borrow_mut().1.remove(&self.number));
    }
}

impl Mapping {
    /// Shared with another daemon, by its key.
    pub fn new(peer: PublicKey) -> Rc<Self> {
        ALL.with_borrow_mut(|(next, all)| {
            *next += 1;
            let (used, must_end) = (Cell::new(Instant::now()), Notify::new());
            let mapping = Rc::new(Self { number: *next, peer, used, must_end });
            all.insert(*next, Rc::downgrade(&mapping));
            mapping
        })
    }
    /// It has carried a datagram, in either direction.
    pub fn touch(&self) {
        self.used.set(Instant::now());
    }
    /// When it last carried one.
    pub fn used(&self) -> Instant {
        self.used.get()
    }
    /// Ends it: another needs its place.
    pub fn end(&self) {
        self.must_end.notify_one();
    }
    /// Waits until it is idle for too long, or another needs its place.
    pub async fn ended(&self) {
        self.idle_for(IDLE_MOST).await;
    }
    async fn idle_for(&self, most: Duration) {
        while self.used().elapsed() < most {
            tokio::select! {
                () = sleep_until(self.used() + most) => {}
                () = self.must_end.notified() => return,
            }
        }
    }
}

/// Ends the mapping that is idle longest, of one daemon or of all. False without one.
pub fn end_oldest(peer: Option<PublicKey>) -> bool {
    ALL.with_borrow_mut(|(_, all)| {
        let mappings = all.values().filter_map(Weak::upgrade);
        let of_peer = mappings.filter(|mapping| peer.is_none_or(|peer| peer == mapping.peer));
        let Some(oldest) = of_peer.min_by_key(|mapping| mapping.used()) else { return false };
        all.remove(&oldest.number);
        oldest.end();
        true
    })
}

/// Where few places for connections are left, the mapping that is idle longest makes room for another connection.
pub fn make_room(peer: &Peer) {
    let (is_short, all_are) = peer.look(|session| (session.is_short(), session.budget().is_short()));
    if is_short || all_are {
        end_oldest(is_short.then(|| peer.key()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(of: u8) -> PublicKey {
        PublicKey([of; 32])
    }

    #[tokio::test]
    async fn a_mapping_ends_when_it_is_idle_and_not_while_it_is_used() {
        assert!(IDLE_MOST >= Duration::from_secs(120), "RFC 4787, REQ-5");
        let mapping = Mapping::new(key(1));
        let began = Instant::now();
        let uses = async {
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_millis(50)).await;
                mapping.touch();
            }
        };
        tokio::join!(uses, mapping.idle_for(Duration::from_millis(400)));
        assert!(began.elapsed() >= Duration::from_millis(900));
    }

    #[tokio::test]
    async fn the_one_that_is_idle_longest_ends_first() {
        let mappings = [1, 2, 1].map(|of| Mapping::new(key(of)));
        for at in [1, 2, 0] {
            tokio::time::sleep(Duration::from_millis(2)).await;
            mappings[at].touch();
        }
        assert!(end_oldest(Some(key(1))) && end_oldest(None));
        // Neither waits for long.
        mappings[2].ended().await;
        mappings[1].ended().await;
        assert!(end_oldest(None) && !end_oldest(None));
        mappings[0].ended().await;
    }
}
