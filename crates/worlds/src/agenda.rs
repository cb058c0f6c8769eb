//! Who is due next: a tournament over a fixed number of parties.

use lightlag_protocols::time::Instant;

/// Up to this many parties, looking at all of them takes less time than a tournament.
const FEW: usize = 16;
/// Up to this many, deadline and number fit in one value, and looking takes half of that.
const FEWEST: usize = 8;
/// Bits of a party's number among the fewest.
const PARTY_BITS: u32 = FEWEST.trailing_zeros();
/// What a party without a deadline shows.
const NEVER: i64 = i64::MAX >> PARTY_BITS;

/// The deadline of every party, and which is first. Ties go to the lower number.
pub struct Agenda {
    /// A complete binary tree of winners; leaves from `width` on.
    winners: Vec<u32>,
    deadlines: Vec<Instant>,
    /// Of the fewest parties: deadline and number, so that the least is the first.
    keys: [i64; FEWEST],
    /// Whether the keys are in use.
    keyed: bool,
    /// Parties, and up to three that have no deadline.
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
        let looked_at = parties.next_multiple_of(4);
        let keys = std::array::from_fn(|party| key(NEVER, party as u32));
        let keyed = parties <= FEWEST;
        let mut agenda =
            Self { winners, deadlines: vec![Instant::MAX; width], keys, keyed, looked_at, width };
        (1..width).rev().for_each(|node| agenda.winners[node] = agenda.play(node));
        agenda
    }
    #[inline]
    fn play(&self, node: usize) -> u32 {
        let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
        if self.deadlines[right as usize] < self.deadlines[left as usize] { right } else { left }
    }
    #[inline]
    fn first_of_keys(&self) -> (Instant, u32) {
        // Without a branch that could be guessed wrong, and in chains that do not wait for each other.
        let least_of = |at: usize| {
            let keys = &self.keys[at..at + 4];
            keys[0].min(keys[1]).min(keys[2].min(keys[3]))
        };
        let first = least_of(0).min(least_of(4));
        (deadline_of(first), (first & (FEWEST as i64 - 1)) as u32)
    }
    fn first_of_few(&self) -> (Instant, u32) {
        // Without a branch that could be guessed wrong.
        let (mut first_at, mut first) = (i64::MAX, 0);
        for (four, party) in self.deadlines[..self.looked_at].as_chunks::<4>().0.iter().zip((0..).step_by(4))
        {
            for (deadline, place) in four.iter().zip(0..) {
                let at = deadline.as_nanos();
                let earlier = at < first_at;
                first_at = if earlier { at } else { first_at };
                first = if earlier { party + place } else { first };
            }
        }
        (Instant::from_nanos(first_at), first)
    }
    /// `party` is due then.
    #[inline]
    pub fn set(&mut self, party: u32, deadline: Option<Instant>) {
        let at = deadline.unwrap_or(Instant::MAX);
        if self.keyed {
            // One comparison: whether there is a deadline follows no pattern that a processor could guess.
            let has_room = at.as_nanos().wrapping_sub(NEVER) as u64 >= i64::MAX.abs_diff(NEVER);
            if has_room {
                self.keys[party as usize] = key(at.as_nanos().min(NEVER), party);
                return;
            }
            self.give_up_keys();
        }
        let known = &mut self.deadlines[party as usize];
        if self.width <= FEW {
            *known = at;
        } else if *known != at {
            *known = at;
            self.replay(party);
        }
    }
    /// A deadline 36 years ahead leaves no room for a number beside it.
    #[cold]
    fn give_up_keys(&mut self) {
        self.keyed = false;
        for (deadline, key) in self.deadlines.iter_mut().zip(self.keys) {
            *deadline = deadline_of(key);
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
        if self.keyed {
            return self.first_of_keys();
        }
        if self.width <= FEW {
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
