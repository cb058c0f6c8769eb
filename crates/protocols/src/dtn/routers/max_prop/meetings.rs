//! Who meets whom, as far as a node has heard, and what a path along such meetings costs.

use crate::dtn::NodeId;
use crate::time::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Everybody's meeting probabilities from one node's point of view, and costs by peer.
pub struct Meetings {
    me: NodeId,
    /// By owner.
    rows: Vec<Row>,
    alpha: f64,
    most: usize,
    /// The owner whose row is being heard, if it is news.
    hearing: Option<u64>,
    /// By start: costs to every node, computed when asked for; empty when out of date.
    costs: Vec<Vec<f64>>,
    computed: Vec<u32>,
}

/// The chances that the owner's next meeting is with each of the nodes it has met.
#[derive(Clone, Default)]
struct Row {
    as_of_s: f64,
    /// Ascending by node.
    met: Vec<(u32, f64)>,
}

impl Meetings {
    pub fn new(me: NodeId, nodes: u32, alpha: f64, most: usize) -> Self {
        let count = nodes as usize;
        Self {
            me,
            rows: vec![Row::default(); count],
            alpha,
            most,
            hearing: None,
            costs: vec![Vec::new(); count],
            computed: Vec::new(),
        }
    }
    /// The weight of a meeting.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
    /// Another weight of a meeting.
    pub fn set_alpha(&mut self, alpha: f64) {
        self.alpha = alpha;
    }
    /// This node has met `peer`: its chance grows by alpha, and all are normalised to a sum of 1.
    pub fn met(&mut self, peer: NodeId, now: Instant) {
        self.outdate();
        let (alpha, most) = (self.alpha, self.most);
        let Some(row) = self.rows.get_mut(self.me.0 as usize) else { return };
        row.as_of_s = now.as_secs_f64();
        if row.met.is_empty() {
            return row.met.push((peer.0, 1.0));
        }
        match row.met.binary_search_by_key(&peer.0, |entry| entry.0) {
            Ok(at) => row.met[at].1 += alpha,
            Err(at) => row.met.insert(at, (peer.0, alpha)),
        }
        row.met.iter_mut().for_each(|entry| entry.1 /= 1.0 + alpha);
        if row.met.len() >= most {
            let least = (0..row.met.len()).min_by(|&x, &y| row.met[x].1.total_cmp(&row.met[y].1));
            least.map(|at| row.met.remove(at));
        }
    }
    /// All rows as numbers under ascending keys: (owner + 1) in the high half; in the low half 0 for
    /// the time of the row, else met node + 1.
    pub fn rows(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        let known = self.rows.iter().enumerate().filter(|(_, row)| !row.met.is_empty());
        known.flat_map(|(owner, row)| {
            let head = (owner as u64 + 1) << 32;
            let met = row.met.iter().map(move |&(node, chance)| (head | (u64::from(node) + 1), chance));
            std::iter::once((head, row.as_of_s)).chain(met)
        })
    }
    /// One number of the state of `teller`, in order of keys. A row replaces the one that is here if it
    /// is newer, or the teller's own.
    pub fn hear(&mut self, owner: u64, column: u64, number: f64, teller: NodeId) {
        let nodes = self.rows.len() as u64;
        if owner >= nodes || owner == u64::from(self.me.0) {
            return;
        }
        let row = &mut self.rows[owner as usize];
        if column == 0 {
            let news = number > row.as_of_s || row.met.is_empty() || owner == u64::from(teller.0);
            self.hearing = (news && number.is_finite()).then_some(owner);
            if self.hearing.is_some() {
                row.as_of_s = number;
                row.met.clear();
            }
        } else if self.hearing == Some(owner) && column <= nodes && (0.0..=1.0).contains(&number) {
            // Keys of a table ascend, so that the row stays sorted.
            row.met.push((column as u32 - 1, number));
        }
    }
    /// The teller has finished.
    pub fn end_of_hearing(&mut self) {
        self.hearing = None;
        self.outdate();
    }
    /// The least sum, over the links of a path, of the chances that the link is not the next to come
    /// up (paper, section IV-B); `None` when no path is known.
    pub fn cost(&mut self, from: NodeId, to: NodeId) -> Option<f64> {
        if from == to {
            return Some(0.0);
        }
        if self.costs.get(from.0 as usize)?.is_empty() {
            self.compute(from);
        }
        let cost = *self.costs[from.0 as usize].get(to.0 as usize)?;
        cost.is_finite().then_some(cost)
    }
    fn outdate(&mut self) {
        for start in self.computed.drain(..) {
            self.costs[start as usize].clear();
        }
    }
    /// Dijkstra's algorithm over all known rows.
    fn compute(&mut self, from: NodeId) {
        self.computed.push(from.0);
        let costs = &mut self.costs[from.0 as usize];
        costs.resize(self.rows.len(), f64::INFINITY);
        costs[from.0 as usize] = 0.0;
        // The bits of floats that are not negative sort as the floats do.
        let mut open = BinaryHeap::from([Reverse((0_u64, from.0))]);
        while let Some(Reverse((bits, node))) = open.pop() {
            let here = f64::from_bits(bits);
            if here > costs[node as usize] {
                continue;
            }
            for &(next, chance) in &self.rows[node as usize].met {
                let cost = here + (1.0 - chance);
                if costs.get(next as usize).is_some_and(|&known| cost < known) {
                    costs[next as usize] = cost;
                    open.push(Reverse((cost.to_bits(), next)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_set_loses_its_least_likely_meeting() {
        let mut meetings = Meetings::new(NodeId(0), 10, 1.0, 3);
        for (second, peer) in [(1, 1), (2, 2), (3, 3)] {
            meetings.met(NodeId(peer), Instant::from_secs(second));
        }
        // (1/4, 1/4, 1/2): of the two least, the one with the lower number goes.
        let kept: Vec<u32> = meetings.rows[0].met.iter().map(|entry| entry.0).collect();
        assert_eq!(kept, [2, 3]);
    }

    #[test]
    fn older_news_of_a_third_node_is_ignored_but_a_teller_knows_itself_best() {
        let mut meetings = Meetings::new(NodeId(0), 10, 1.0, 50);
        let tell = |meetings: &mut Meetings, owner, time, chance, teller| {
            meetings.hear(owner, 0, time, NodeId(teller));
            meetings.hear(owner, 6, chance, NodeId(teller));
            meetings.end_of_hearing();
            meetings.rows[owner as usize].met[0].1
        };
        assert_eq!(tell(&mut meetings, 1, 10.0, 0.5, 2), 0.5);
        assert_eq!(tell(&mut meetings, 1, 9.0, 0.25, 2), 0.5);
        assert_eq!(tell(&mut meetings, 1, 10.0, 0.25, 2), 0.5);
        assert_eq!(tell(&mut meetings, 1, 10.0, 0.25, 1), 0.25);
        assert_eq!(tell(&mut meetings, 1, 11.0, 0.75, 2), 0.75);
    }
}
