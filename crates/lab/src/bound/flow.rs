//! Flow from many sources to one sink that grows source by source and keeps what it has.

/// More than all that ever flows; a sum of two still fits.
pub const UNLIMITED: u64 = u64::MAX / 4;

/// The distance of vertices from which nothing reaches the sink any more.
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
/// was sent before along another path, but never send it back. So what each call has pushed stays, and the
/// amounts that a sequence of calls can push are the greedy point of a polymatroid.
///
/// Paths go downhill by distances to the sink, which are estimated from below and raised where a search
/// finds them too low (Ahuja and Orlin 1991, "Distance-directed augmenting path algorithms for maximum flow
/// and parametric maximum flow problems"). That they are too low at worst remains true whatever is sent from
/// where, so what one search has learnt serves all later ones.
pub struct Flow {
    /// Per vertex, where its arcs begin in `arcs`; one more than there are vertices.
    first: Vec<u32>,
    /// Arcs by the vertex that they leave. Arc 2i goes forward, 2i + 1 back.
    arcs: Vec<u32>,
    to: Vec<u32>,
    room: Vec<u64>,
    sink: u32,
    /// Per vertex, how many arcs it is from the sink at least.
    distance: Vec<u32>,
    /// Per vertex, the place in `arcs` of the first that may lead downhill.
    next: Vec<u32>,
    /// Arcs looked at to raise single distances since all were measured.
    effort: usize,
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
        let mut flow = Self {
            first,
            arcs,
            to: graph.arcs.iter().flat_map(|&(from, to, _)| [to, from]).collect(),
            room: graph.arcs.iter().flat_map(|&(.., room)| [room, 0]).collect(),
            sink,
            distance: vec![DEAD; count],
            next,
            effort: 0,
            path: Vec::new(),
        };
        flow.measure();
        flow
    }
    /// Sends as much of `amount` as can reach the sink from `source` beside all that was sent before,
    /// and returns how much that is.
    pub fn push(&mut self, source: u32, amount: u64) -> u64 {
        let mut pushed = 0;
        while pushed < amount && self.find_path(source) {
            pushed += self.augment(amount - pushed);
        }
        pushed
    }
    fn find_path(&mut self, source: u32) -> bool {
        self.path.clear();
        let mut at = source;
        while at != self.sink {
            // Distances of what is cut off would rise without end, step by step.
            if self.effort > self.arcs.len() {
                self.measure();
                self.path.clear();
                at = source;
            }
            if let Some(arc) = self.downhill(at) {
                self.path.push(arc);
                at = self.to[arc as usize];
                continue;
            }
            self.raise(at);
            match self.path.pop() {
                Some(arc) => at = self.to[arc as usize ^ 1],
                None if self.distance[at as usize] == DEAD => return false,
                None => {}
            }
        }
        true
    }
    fn arcs_of(&self, vertex: u32) -> &[u32] {
        &self.arcs[self.first[vertex as usize] as usize..self.first[vertex as usize + 1] as usize]
    }
    /// An arc with room one step closer to the sink.
    fn downhill(&mut self, from: u32) -> Option<u32> {
        let (here, end) = (self.distance[from as usize], self.first[from as usize + 1]);
        while here != DEAD && self.next[from as usize] < end {
            let arc = self.arcs[self.next[from as usize] as usize];
            let there = self.distance[self.to[arc as usize] as usize];
            if self.room[arc as usize] > 0 && there < here {
                return Some(arc);
            }
            self.next[from as usize] += 1;
        }
        None
    }
    /// No arc of `vertex` leads downhill: it is farther from the sink than it seemed.
    fn raise(&mut self, vertex: u32) {
        let open = self.arcs_of(vertex).iter().filter(|arc| self.room[**arc as usize] > 0);
        let least = open.map(|arc| self.distance[self.to[*arc as usize] as usize]).min().unwrap_or(DEAD);
        self.distance[vertex as usize] = least.saturating_add(1);
        self.next[vertex as usize] = self.first[vertex as usize];
        self.effort += self.arcs_of(vertex).len();
    }
    /// Measures all distances, breadth first from the sink. What is not found never reaches it again: no
    /// path enters and leaves it, so nothing gives room to an arc that leads out.
    fn measure(&mut self) {
        self.distance.fill(DEAD);
        self.distance[self.sink as usize] = 0;
        let mut found = vec![self.sink];
        let mut at = 0;
        while let Some(&vertex) = found.get(at) {
            at += 1;
            for place in self.first[vertex as usize]..self.first[vertex as usize + 1] {
                let arc = self.arcs[place as usize];
                let before = self.to[arc as usize];
                if self.room[arc as usize ^ 1] > 0 && self.distance[before as usize] == DEAD {
                    self.distance[before as usize] = self.distance[vertex as usize] + 1;
                    found.push(before);
                }
            }
        }
        let vertices = self.next.len();
        self.next.copy_from_slice(&self.first[..vertices]);
        self.effort = 0;
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
