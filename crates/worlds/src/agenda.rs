//! Who is due next: a tournament over a fixed number of parties.

use lightlag_protocols::time::Instant;

/// Up to this many parties, looking at all of them takes less time than a tournament.
const FEW: usize = 16;
/// Bits of a party's number among few.
const PARTY_BITS: u32 = FEW.trailing_zeros();
/// What a party without a deadline shows.
const NEVER: i64 = i64::MAX >> PARTY_BITS;

/// The deadline of every party, and which is first. Ties go to the lower number.
pub struct Agenda {
    /// A complete binary tree of winners; leaves from `width` on.
    winners: Vec<u32>,
    deadlines: Vec<Instant>,
    /// Of few parties: deadline and number in one value, so that the least is the first.
    keys: [i64; FEW],
    /// Parties; 0 where the tournament is played.
    looked_at: usize,
    width: usize,
}

impl Agenda {
    /// Of this many parties, none of which has a deadline.
    pub fn new(parties: usize) -> Self {
        let width = parties.next_power_of_two().max(4);
        let mut winners = vec![0; 2 * width];
        for (party, leaf) in winners[width..].iter_mut().enumerate() {
            *leaf = party as u32;
        }
        let looked_at = if parties <= FEW { parties } else { 0 };
        let keys = std::array::from_fn(|party| key(NEVER, party as u32));
        let mut agenda = Self { winners, deadlines: vec![Instant::MAX; width], keys, looked_at, width };
        agenda.replay_all();
        agenda
    }
    fn replay_all(&mut self) {
        (1..self.width).rev().for_each(|node| self.winners[node] = self.play(node));
    }
    #[inline]
    fn play(&self, node: usize) -> u32 {
        let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
        if self.deadlines[right as usize] < self.deadlines[left as usize] { right } else { left }
    }
    #[inline]
    fn first_of_few(&self) -> (Instant, u32) {
        // Without a branch that could be guessed wrong, and in chains that do not wait for each other.
        let of_half = |from: usize| {
            let half = &self.keys[from..from + FEW / 2];
            let quarter = |at: usize| half[at].min(half[at + 1]).min(half[at + 2].min(half[at + 3]));
            quarter(0).min(quarter(4))
        };
        let first = if self.looked_at <= FEW / 2 { of_half(0) } else { of_half(0).min(of_half(FEW / 2)) };
        (deadline_of(first), (first & (FEW as i64 - 1)) as u32)
    }
    /// `party` is due then.
    #[inline]
    pub fn set(&mut self, party: u32, deadline: Option<Instant>) {
        let at = deadline.unwrap_or(Instant::MAX);
        // One comparison: whether there is one follows no pattern that a processor could guess.
        let has_room = at.as_nanos().wrapping_sub(NEVER) as u64 >= i64::MAX.abs_diff(NEVER);
        if self.looked_at > 0 && has_room {
            self.keys[party as usize] = key(at.as_nanos().min(NEVER), party);
        } else {
            self.set_of_many(party, at);
        }
    }
    fn set_of_many(&mut self, party: u32, at: Instant) {
        if self.looked_at > 0 {
            // A deadline 18 years ahead leaves no room for a number beside it.
            for party in 0..self.looked_at {
                self.deadlines[party] = deadline_of(self.keys[party]);
            }
            self.looked_at = 0;
            self.replay_all();
        }
        if self.deadlines[party as usize] != at {
            self.deadlines[party as usize] = at;
            self.replay(party);
        }
    }
    fn replay(&mut self, party: u32) {
        let mut node = (self.width + party as usize) / 2;
        while node > 0 {
            self.winners[node] = self.play(node);
            node /= 2;
        }
    }
    /// Which party is due first, and when.
    #[inline]
    pub fn first(&self) -> (Instant, u32) {
        if self.looked_at > 0 {
            return self.first_of_few();
        }
        let party = self.winners[1];
        (self.deadlines[party as usize], party)
    }
}

#[inline]
fn key(nanos: i64, party: u32) -> i64 {
    nanos << PARTY_BITS | i64::from(party)
}
#[inline]
fn deadline_of(key: i64) -> Instant {
    let nanos = key >> PARTY_BITS;
    if nanos == NEVER { Instant::MAX } else { Instant::from_nanos(nanos) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn few_and_many_parties_have_the_same_first(
            steps in proptest::collection::vec(
                (0_u32..16, prop_oneof![
                    8 => (0_i64..50).prop_map(Some),
                    2 => Just(None),
                    1 => (0_i64..=i64::MAX).prop_map(Some),
                ]),
                1..200,
            ),
        ) {
            // One party more, which never has a deadline, makes a tournament of it.
            let (mut few, mut many) = (Agenda::new(16), Agenda::new(17));
            for (party, at) in steps {
                let at = at.map(Instant::from_nanos);
                few.set(party, at);
                many.set(party, at);
                prop_assert_eq!(few.first().0, many.first().0);
                prop_assert!(few.first().1 == many.first().1 || few.first().0 == Instant::MAX);
            }
        }
    }

    #[test]
    fn the_earliest_is_first_and_ties_go_to_the_lower_number() {
        let mut agenda = Agenda::new(5);
        for (party, at) in [(3, 7), (1, 9), (4, 7), (0, 8)] {
            agenda.set(party, Some(Instant::from_secs(at)));
        }
        let mut order = Vec::new();
        while agenda.first().0 < Instant::MAX {
            let (_, party) = agenda.first();
            order.push(party);
            agenda.set(party, None);
        }
        assert_eq!(order, [3, 4, 0, 1]);
    }
}
