//! Contacts from positions: nodes move straight from one position to the next, and meet while they are within range.

use super::trace::{Fix, Meeting, Trace};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_worlds::mobility::map::osm::degree_m;

/// Steps of a node that are looked at together.
const BLOCK: usize = 32;

/// The path of a node from one position to the next.
#[derive(Clone, Copy)]
struct Step {
    from: Fix,
    to: Fix,
}

/// Steps that follow each other, and the box around them.
struct Block {
    steps: Vec<Step>,
    low: [f64; 2],
    high: [f64; 2],
}

/// Adds the meetings of all nodes that are within `range_m` of each other. A node is absent between two positions that are more
/// than `gap` apart in time. Degrees become metres on a plane that touches the Earth at the first position.
pub fn meet(trace: &mut Trace, range_m: f64, gap: Duration, is_geographic: bool) {
    if let (true, Some(first)) = (is_geographic, trace.fixes.first().copied()) {
        let [east, north] = degree_m(first.y);
        for fix in &mut trace.fixes {
            (fix.x, fix.y) = ((fix.x - first.x) * east, (fix.y - first.y) * north);
        }
    }
    let nodes = blocks(&trace.fixes, trace.ids.len(), gap);
    for (a, mine) in (0_u32..).zip(&nodes) {
        for (b, theirs) in (a + 1..).zip(&nodes[a as usize + 1..]) {
            each_pair(mine, theirs, Block::span, |mine, theirs| {
                if mine.is_near(theirs, range_m) {
                    each_pair(&mine.steps, &theirs.steps, Step::span, |mine, theirs| {
                        let within = mine.within(theirs, range_m);
                        let meeting = |(start, end)| Meeting { line: mine.to.line, a, b, start, end };
                        trace.meetings.extend(within.map(meeting));
                    });
                }
            });
        }
    }
}

/// The steps of each node in order of time. Of several positions at one instant the last in the file counts.
fn blocks(fixes: &[Fix], nodes: usize, gap: Duration) -> Vec<Vec<Block>> {
    let mut of_node: Vec<Vec<Fix>> = vec![Vec::new(); nodes];
    for fix in fixes {
        of_node[fix.node as usize].push(*fix);
    }
    let blocks = |mut fixes: Vec<Fix>| {
        fixes.sort_by_key(|fix| fix.at);
        fixes.dedup_by(|later, kept| {
            let same = later.at == kept.at;
            if same {
                *kept = *later;
            }
            same
        });
        let steps = fixes.windows(2).filter(|two| two[1].at - two[0].at <= gap);
        let steps: Vec<Step> = steps.map(|two| Step { from: two[0], to: two[1] }).collect();
        steps.chunks(BLOCK).map(Block::new).collect()
    };
    of_node.into_iter().map(blocks).collect()
}

/// Calls `each` with all of two lists that overlap in time, both in order of time.
fn each_pair<T>(
    mine: &[T],
    theirs: &[T],
    span: impl Fn(&T) -> (Instant, Instant),
    mut each: impl FnMut(&T, &T),
) {
    let (mut i, mut j) = (0, 0);
    while let (Some(one), Some(other)) = (mine.get(i), theirs.get(j)) {
        let ((from, until), (other_from, other_until)) = (span(one), span(other));
        if from < other_until && other_from < until {
            each(one, other);
        }
        if until <= other_until {
            i += 1;
        } else {
            j += 1;
        }
    }
}

impl Block {
    fn new(steps: &[Step]) -> Self {
        let points = || steps.iter().flat_map(|step| [step.from, step.to]).map(|fix| [fix.x, fix.y]);
        let extreme = |pick: fn(f64, f64) -> f64, start: f64| {
            points().fold([start; 2], |so_far, point| [pick(so_far[0], point[0]), pick(so_far[1], point[1])])
        };
        Self {
            steps: steps.to_vec(),
            low: extreme(f64::min, f64::INFINITY),
            high: extreme(f64::max, f64::NEG_INFINITY),
        }
    }
    fn span(&self) -> (Instant, Instant) {
        let ends = self.steps.first().zip(self.steps.last());
        ends.map_or((Instant::ZERO, Instant::ZERO), |(first, last)| (first.from.at, last.to.at))
    }
    fn is_near(&self, other: &Self, range_m: f64) -> bool {
        (0..2).all(|axis| {
            self.low[axis] - range_m <= other.high[axis] && other.low[axis] - range_m <= self.high[axis]
        })
    }
}

impl Step {
    fn span(&self) -> (Instant, Instant) {
        (self.from.at, self.to.at)
    }
    /// Where the node is, in metres.
    fn point(&self, at: Instant) -> [f64; 2] {
        let share = (at - self.from.at).as_secs_f64() / (self.to.at - self.from.at).as_secs_f64();
        let between = |from: f64, to: f64| from + (to - from) * share;
        [between(self.from.x, self.to.x), between(self.from.y, self.to.y)]
    }
    /// When both nodes are within range.
    fn within(&self, other: &Self, range_m: f64) -> Option<(Instant, Instant)> {
        let (start, end) = (self.from.at.max(other.from.at), self.to.at.min(other.to.at));
        let apart = |at| {
            let (mine, theirs) = (self.point(at), other.point(at));
            [theirs[0] - mine[0], theirs[1] - mine[1]]
        };
        let (from, to) = (apart(start), apart(end));
        let moves = [to[0] - from[0], to[1] - from[1]];
        // |from + share * moves| <= range, as a·share² + 2·b·share + c <= 0.
        let dot = |u: [f64; 2], v: [f64; 2]| u[0] * v[0] + u[1] * v[1];
        let (a, b, c) = (dot(moves, moves), dot(from, moves), dot(from, from) - range_m * range_m);
        let (first, last) = if a == 0.0 {
            if c > 0.0 {
                return None;
            }
            (0.0, 1.0)
        } else {
            let root = Some(b * b - a * c).filter(|square| *square >= 0.0)?.sqrt();
            (((-b - root) / a).max(0.0), ((-b + root) / a).min(1.0))
        };
        let span_s = (end - start).as_secs_f64();
        let at =
            |share: f64| if share >= 1.0 { end } else { start + Duration::from_secs_f64(span_s * share) };
        let (start, end) = (at(first), at(last));
        (first <= last && start < end).then_some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Recorded, trace};
    use super::*;

    /// Starts and ends of the meetings, in seconds.
    fn met(text: &str, columns: &str, range_m: f64) -> Vec<(f64, f64)> {
        let format = Format::new(Recorded::Positions, Some(columns), Duration::from_secs(1)).unwrap();
        let mut found = trace("f", text.as_bytes(), &format).unwrap();
        meet(&mut found, range_m, Duration::from_secs(600), format.is_geographic());
        found.meetings.iter().map(|met| (met.start.as_secs_f64(), met.end.as_secs_f64())).collect()
    }

    #[test]
    fn a_node_that_passes_another_is_in_contact_while_in_range() {
        let passing = "0 a 0 0\n100 a 0 0\n0 b -50 3\n100 b 50 3\n";
        assert_eq!(met(passing, "time node x y", 5.0), [(46.0, 54.0)], "4 m before and behind, at 1 m/s");
        assert_eq!(met(passing, "time node x y", 2.0), []);
        let cut = "0 a 0 0\n100 a 0 0\n0 b -50 3\n50 b 0 3\n50 b 99 99\n50 b 0 3\n100 b 50 3\n";
        assert_eq!(
            met(cut, "time node x y", 5.0),
            [(46.0, 50.0), (50.0, 54.0)],
            "both touch, and are joined later"
        );
    }

    #[test]
    fn a_node_without_a_position_for_long_meets_nobody() {
        let text = "0 a 0 0\n700 a 0 0\n710 a 0 0\n0 b 0 0\n500 b 0 0\n1000 b 0 0\n";
        assert_eq!(met(text, "time node x y", 1.0), [(700.0, 710.0)]);
    }

    #[test]
    fn degrees_are_projected() {
        // A ten-thousandth of a degree of latitude is 11.12 m, of longitude at 60 degrees half of it.
        let text =
            "0 a 60 20\n10 a 60 20\n0 b 60.0001 20\n10 b 60.0001 20\n0 c 60 20.0001\n10 c 60 20.0001\n";
        assert_eq!(met(text, "time node lat lon", 11.0), [(0.0, 10.0)]);
        assert_eq!(met(text, "time node lat lon", 11.2).len(), 2);
    }

    #[test]
    fn blocks_lose_no_meeting() {
        let mut text = String::new();
        for step in 0_i64..300 {
            text += &format!("{step} a {} 0\n{step} b {} 7\n", step * 10, 3000 - step * 10);
        }
        let found = met(&text, "time node x y", 25.0);
        let (first, last) = (found.first().unwrap().0, found.last().unwrap().1);
        // 24 m apart along x, at 20 m/s, around 150 s.
        assert_eq!((first, last), (148.8, 151.2));
        assert!(found.windows(2).all(|two| two[0].1 == two[1].0));
    }
}
