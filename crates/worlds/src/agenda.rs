//! Who is due next: a tournament over a fixed number of parties.

use lightlag_protocols::time::Instant;

/// Up to this many parties, deadline and number fit in one value, and looking at all of them takes less time
/// than a tournament.
const FEW: usize = 16;
/// They are looked at in blocks of this size.
const BLOCK: usize = 8;
/// Bits of a party's number among the few.
const PARTY_BITS: u32 = FEW.trailing_zeros();
/// What a party without a deadline shows.
const NEVER: i64 = i64::MAX >> PARTY_BITS;

/// The deadline of every party, and which is first. Ties go to the lower number.
pub struct Agenda {
    /// A complete binary tree of winners; leaves from `width` on.
    winners: Vec<u32>,
    deadlines: Vec<Instant>,
    /// Of few parties: deadline and number, so that the least is the first.
    keys: [[i64; BLOCK]; FEW / BLOCK],
    /// Blocks of keys in use; 0: the tournament is.
    blocks: usize,
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
        let block = |at: usize| std::array::from_fn(|party| key(NEVER, (at * BLOCK + party) as u32));
        let keys = std::array::from_fn(block);
        let blocks = if parties <= FEW { parties.div_ceil(BLOCK) } else { 0 };
        let mut agenda = Self { winners, deadlines: vec![Instant::MAX; width], keys, blocks, width };
        agenda.play_all();
        agenda
    }
    fn play_all(&mut self) {
        (1..self.width).rev().for_each(|node| self.winners[node] = self.play(node));
    }
    #[inline]
    fn play(&self, node: usize) -> u32 {
        let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
        if self.deadlines[right as usize] < self.deadlines[left as usize] { right } else { left }
    }
    #[inline]
    fn first_of_keys(&self) -> (Instant, u32) {
        // Without a branch that could be guessed wrong, and in chains that do not wait for each other.
        let least_of = |keys: &[i64; BLOCK]| {
            let four = |at: usize| keys[at].min(keys[at + 1]).min(keys[at + 2].min(keys[at + 3]));
            four(0).min(four(4))
        };
        let [block, other] = self.keys.each_ref();
        let first = if self.blocks > 1 { least_of(block).min(least_of(other)) } else { least_of(block) };
        (deadline_of(first), (first & (FEW as i64 - 1)) as u32)
    }
    /// `party` is due then.
    #[inline]
    pub fn set(&mut self, party: u32, deadline: Option<Instant>) {
        let at = deadline.unwrap_or(Instant::MAX);
        if self.blocks > 0 {
            // One comparison: whether there is a deadline follows no pattern that a processor could guess.
            let has_room = at.as_nanos().wrapping_sub(NEVER) as u64 >= i64::MAX.abs_diff(NEVER);
            if has_room {
                self.keys.as_flattened_mut()[party as usize] = key(at.as_nanos().min(NEVER), party);
                return;
            }
            self.give_up_keys();
        }
        if self.deadlines[party as usize] != at {
            self.deadlines[party as usize] = at;
            self.replay(party);
        }
    }
    /// A deadline 18 years ahead leaves no room for a number beside it.
    #[cold]
    fn give_up_keys(&mut self) {
        self.blocks = 0;
        for (deadline, key) in self.deadlines.iter_mut().zip(self.keys.as_flattened()) {
            *deadline = deadline_of(*key);
        }
        self.play_all();
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
        if self.blocks > 0 {
            return self.first_of_keys();
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
                (0_u32..8, prop_oneof![
                    8 => (0_i64..50).prop_map(Some),
                    2 => Just(None),
                    1 => (0_i64..=i64::MAX).prop_map(Some),
                ]),
                1..200,
            ),
        ) {
            // Parties that never have a deadline change how it is found, and nothing else.
            let mut agendas = [8, 9, 17].map(Agenda::new);
            for (party, at) in steps {
                agendas.iter_mut().for_each(|agenda| agenda.set(party, at.map(Instant::from_nanos)));
                let [keys, few, many] = agendas.each_ref().map(Agenda::first);
                prop_assert_eq!((keys.0, few.0), (many.0, many.0));
                prop_assert!(many.0 == Instant::MAX || (keys.1, few.1) == (many.1, many.1));
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
