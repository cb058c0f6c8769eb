//! Where datagrams to the other side go, when it moves.
//!
//! A datagram's source address is not sealed: an attacker can forward a copied datagram from elsewhere, ahead
//! of the original. So a new address is used only once the other side has answered a challenge sent there (as
//! in RFC 9000, sections 8.2 and 9.3). Where no address was known, the first one is used at once, for at most
//! three times the bytes received from it until it has answered (RFC 9000, section 8.1): no amplification
//! attack.

use crate::time::{Duration, Instant};

/// As many bytes may go to an address that has not answered for each byte that came from it.
const AMPLIFICATION: u64 = 3;
/// Between challenges to one address, at first and at most.
const AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// A challenge that was sent and not answered.
#[derive(Clone, Copy, Debug)]
struct Trial<A> {
    address: A,
    token: u64,
    /// When the next one may leave, and how long after it another one.
    next: (Instant, Duration),
}

/// The path to the other side; `A` is an address.
#[derive(Clone, Debug)]
pub struct Path<A> {
    used: Option<A>,
    /// Bytes that may still go to `used`; `None`: it has answered, or the settings name it.
    allowance: Option<u64>,
    trial: Option<Trial<A>>,
    /// Challenges so far: the number of the next one.
    challenges: u64,
}

impl<A: Copy + PartialEq> Path<A> {
    /// To an address that the settings name, or, if that is `None`, to where the other side is heard first.
    pub fn new(configured: Option<A>) -> Self {
        Self { used: configured, allowance: None, trial: None, challenges: 0 }
    }
    /// Where datagrams go. `None`: no address is known yet.
    pub fn address(&self) -> Option<A> {
        self.used
    }
    /// The settings name this address: it is used from now on.
    pub fn configure(&mut self, address: A) {
        (self.used, self.allowance, self.trial) = (Some(address), None, None);
    }
    /// Whether `bytes` may be sent to [`Path::address`].
    pub fn may_send(&self, bytes: u64) -> bool {
        self.used.is_some() && self.allowance.is_none_or(|left| left >= bytes)
    }
    /// Bytes were sent there.
    pub fn on_sent(&mut self, bytes: u64) {
        self.allowance = self.allowance.map(|left| left.saturating_sub(bytes));
    }
    /// An accepted datagram of `bytes` arrived from an address; `is_newest`: none sent later has arrived.
    /// Returns the number of a challenge to send to that address now, if any.
    pub fn on_came(&mut self, now: Instant, from: A, bytes: u64, is_newest: bool) -> Option<u64> {
        if self.used.is_none() {
            (self.used, self.allowance) = (Some(from), Some(0));
        }
        if self.used == Some(from) {
            self.allowance = self.allowance.map(|left| left.saturating_add(AMPLIFICATION * bytes));
            self.allowance?;
        } else if !is_newest {
            return None;
        }
        self.challenge(now, from)
    }
    fn challenge(&mut self, now: Instant, address: A) -> Option<u64> {
        let trial = match self.trial.filter(|trial| trial.address == address) {
            Some(trial) if now < trial.next.0 => return None,
            Some(trial) => {
                let pause = trial.next.1.saturating_add(trial.next.1).min(AGAIN.1);
                Trial { next: (now.saturating_add(pause), pause), ..trial }
            }
            None => {
                self.challenges += 1;
                Trial { address, token: self.challenges, next: (now.saturating_add(AGAIN.0), AGAIN.0) }
            }
        };
        self.trial = Some(trial);
        Some(trial.token)
    }
    /// A challenge was answered from an address. Whether another address is used now.
    pub fn on_response(&mut self, token: u64, from: A) -> bool {
        let Some(trial) = self.trial.filter(|trial| trial.token == token && trial.address == from) else {
            return false;
        };
        let moved = self.used != Some(trial.address);
        self.configure(trial.address);
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Instant {
        Instant::from_secs(seconds)
    }

    #[test]
    fn a_copied_datagram_from_elsewhere_moves_nothing_without_an_answer_from_there() {
        let mut path = Path::new(Some('a'));
        let token = path.on_came(at(0), 'x', 1000, true).expect("a challenge");
        assert_eq!(path.address(), Some('a'));
        assert!(!path.on_response(token, 'a') && !path.on_response(token + 1, 'x'));
        assert_eq!(path.on_came(at(0), 'x', 1000, true), None, "challenges are not sent for each datagram");
        assert_eq!(path.on_came(at(2), 'x', 1000, true), Some(token));
        assert!(path.on_response(token, 'x'));
        assert_eq!((path.address(), path.may_send(u64::MAX)), (Some('x'), true));
        assert!(!path.on_response(token, 'x'), "an answer counts once");
    }

    #[test]
    fn what_left_earlier_challenges_nobody() {
        let mut path = Path::new(Some('a'));
        assert_eq!(path.on_came(at(0), 'x', 1000, false), None);
    }

    #[test]
    fn a_first_address_that_has_not_answered_gets_three_times_what_came_from_it() {
        let mut path = Path::new(None);
        assert!(!path.may_send(1));
        let token = path.on_came(at(0), 'x', 100, true).expect("a challenge");
        assert!(path.may_send(300) && !path.may_send(301));
        path.on_sent(250);
        assert!(path.may_send(50) && !path.may_send(51));
        path.on_came(at(0), 'x', 10, false);
        assert!(path.may_send(80) && !path.may_send(81));
        path.on_response(token, 'x');
        assert!(path.may_send(u64::MAX));
    }
}
