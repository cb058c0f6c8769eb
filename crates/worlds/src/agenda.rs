//! Who is due next: a tournament over a fixed number of parties.

use lightlag_protocols::time::Instant;

/// Up to so many parties, looking at all of them takes less time than a tournament.
const FEW: usize = 16;

/// The deadline of every party, and which is first. Ties go to the lower number.
pub struct Agenda {
    /// A complete binary tree of winners; leaves from `width` on.
    winners: Vec<u32>,
    deadlines: Vec<Instant>,
    /// Parties, and up to three that have no deadline.
    looked_at: usize,
    width: usize,
}

impl Agenda {
    /// Of so many parties, none of which has a deadline.
    pub fn new(parties: usize) -> Self {
        let width = parties.next_power_of_two().max(4);
        let mut winners = vec![0; 2 * width];
        for (party, leaf) in winners[width..].iter_mut().enumerate() {
            *leaf = party as u32;
        }
        let looked_at = parties.next_multiple_of(4);
        let mut agenda = Self { winners, deadlines: vec![Instant::MAX; width], looked_at, width };
        (1..width).rev().for_each(|node| agenda.winners[node] = agenda.play(node));
        agenda
    }
    #[inline]
    fn play(&self, node: usize) -> u32 {
        let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
        if self.deadlines[right as usize] < self.deadlines[left as usize] { right } else { left }
    }
    #[inline]
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
        let deadline = deadline.unwrap_or(Instant::MAX);
        let known = &mut self.deadlines[party as usize];
        if self.width <= FEW {
            *known = deadline;
        } else if *known != deadline {
            *known = deadline;
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
    /// Who is due first, and when.
    #[inline]
    pub fn first(&self) -> (Instant, u32) {
        if self.width <= FEW {
            return self.first_of_few();
        }
        let party = self.winners[1];
        (self.deadlines[party as usize], party)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
