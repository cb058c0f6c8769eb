//! Flow from many sources to one sink that grows source by source and keeps what it has.

/// More than all that ever flows; a sum of two still fits.
pub const UNLIMITED: u64 = u64::MAX / 4;

/// The mark of vertices from which nothing reaches the sink any more.
const DEAD: u32 = u32::MAX;

/// A directed graph with capacities, being built.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    arcs: Vec<(u32, u32, u64)>,
}

impl Graph {
    /// An arc that carries at most `room`. Searches try arcs of a vertex in the order in which they come.
    pub fn arc(&mut self, from: u32, to: u32, room: u64) {
        if room > 0 {
            self.arcs.push((from, to, room.min(UNLIMITED)));
        }
    }
    /// How many arcs it has.
    pub fn len(&self) -> usize {
        self.arcs.len()
    }
}

/// The residual graph of a flow into one sink: arcs with what room is left on them.
///
/// Sources are not vertices: [`Flow::push`] sends from any vertex, and paths found later may lead what
/// was sent before another way, but never send it back. So what each call has pushed stays, and the
/// amounts that a sequence of calls can push are the greedy points of a polymatroid.
pub struct Flow {
    /// Per vertex, where its arcs begin in `arcs`; one more than there are vertices.
    first: Vec<u32>,
    /// Arcs by the vertex that they leave. Arc 2i goes forward, 2i + 1 back.
    arcs: Vec<u32>,
    to: Vec<u32>,
    room: Vec<u64>,
    sink: u32,
    /// Per vertex, the last search that came there, or [`DEAD`].
    seen: Vec<u32>,
    /// Per vertex, which of its arcs that search tries next.
    next: Vec<u32>,
    search: u32,
    visited: Vec<u32>,
    path: Vec<u32>,
}

impl Flow {
    /// Nothing flows yet.
    pub fn new(graph: &Graph, vertices: u32, sink: u32) -> Self {
        let count = vertices as usize;
        let both = || graph.arcs.iter().flat_map(|&(from, to, _)| [from, to]);
        let mut first = vec![0; count + 1];
        both().for_each(|from| first[from as usize + 1] += 1);
        for vertex in 0..count {
            first[vertex + 1] += first[vertex];
        }
        let mut next = first[..count].to_vec();
        let mut arcs = vec![0; 2 * graph.len()];
        for (arc, from) in (0..).zip(both()) {
            arcs[next[from as usize] as usize] = arc;
            next[from as usize] += 1;
        }
        Self {
            first,
            arcs,
            to: graph.arcs.iter().flat_map(|&(from, to, _)| [to, from]).collect(),
            room: graph.arcs.iter().flat_map(|&(.., room)| [room, 0]).collect(),
            sink,
            seen: vec![0; count],
            next,
            search: 0,
            visited: Vec::new(),
            path: Vec::new(),
        }
    }
    /// Sends as much of `amount` as can reach the sink from `source` beside all that was sent before,
    /// and tells how much that is.
    pub fn push(&mut self, source: u32, amount: u64) -> u64 {
        let mut pushed = 0;
        while pushed < amount && self.find_path(source) {
            pushed += self.augment(amount - pushed);
        }
        pushed
    }
    /// A path with room on each arc, by depth-first search.
    fn find_path(&mut self, source: u32) -> bool {
        self.search += 1;
        self.visited.clear();
        self.path.clear();
        if self.seen[source as usize] == DEAD {
            return false;
        }
        let mut at = source;
        self.enter(at);
        while at != self.sink {
            if let Some(arc) = self.way_on(at) {
                self.path.push(arc);
                at = self.to[arc as usize];
                self.enter(at);
            } else if let Some(arc) = self.path.pop() {
                at = self.to[arc as usize ^ 1];
            } else {
                self.bury();
                return false;
            }
        }
        true
    }
    fn enter(&mut self, vertex: u32) {
        self.seen[vertex as usize] = self.search;
        self.next[vertex as usize] = self.first[vertex as usize];
        self.visited.push(vertex);
    }
    fn way_on(&mut self, from: u32) -> Option<u32> {
        let end = self.first[from as usize + 1];
        let mut at = self.next[from as usize];
        while at < end {
            let arc = self.arcs[at as usize];
            at += 1;
            let seen = self.seen[self.to[arc as usize] as usize];
            if self.room[arc as usize] > 0 && seen != self.search && seen != DEAD {
                self.next[from as usize] = at;
                return Some(arc);
            }
        }
        self.next[from as usize] = end;
        None
    }
    /// No arc with room leads out of what a vain search has visited. No later path can enter it and get
    /// to the sink, so none changes that: it need never be visited again.
    fn bury(&mut self) {
        for &vertex in &self.visited {
            self.seen[vertex as usize] = DEAD;
        }
    }
    fn augment(&mut self, most: u64) -> u64 {
        let amount = self.path.iter().map(|&arc| self.room[arc as usize]).fold(most, u64::min);
        for &arc in &self.path {
            self.room[arc as usize] -= amount;
            self.room[arc as usize ^ 1] += amount;
        }
        amount
    }
}
