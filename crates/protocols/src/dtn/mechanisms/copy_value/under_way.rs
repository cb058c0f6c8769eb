//! Copies that have left for peers and have not arrived yet.

use crate::dtn::NodeId;
use crate::time::Instant;
use crate::units::Bytes;

/// Copies in flight.
#[derive(Default)]
pub struct UnderWay {
    /// To whom, when it comes there, and how large it is.
    copies: Vec<(NodeId, Instant, Bytes)>,
}

impl UnderWay {
    /// A copy of this size has left for `peer`: when, and when it comes there.
    pub fn push(&mut self, peer: NodeId, (now, comes): (Instant, Instant), size: Bytes) {
        self.copies.retain(|(_, comes, _)| *comes > now);
        self.copies.push((peer, comes, size));
    }
    /// Bytes in flight to `peer`.
    pub fn to(&self, peer: NodeId, now: Instant) -> Bytes {
        let there = self.copies.iter().filter(|(to, comes, _)| *to == peer && *comes > now);
        Bytes(there.map(|(.., size)| size.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_come_is_no_longer_under_way() {
        let mut under_way = UnderWay::default();
        let second = Instant::from_secs;
        under_way.push(NodeId(1), (second(0), second(5)), Bytes(10));
        under_way.push(NodeId(2), (second(1), second(9)), Bytes(20));
        under_way.push(NodeId(1), (second(2), second(7)), Bytes(40));
        let at = |peer, now| under_way.to(NodeId(peer), second(now)).0;
        assert_eq!([at(1, 4), at(1, 5), at(1, 7), at(2, 8)], [50, 40, 0, 20]);
    }
}
