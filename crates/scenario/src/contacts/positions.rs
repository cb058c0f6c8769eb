//! Contacts from positions: nodes move straight from one position to the next, and meet while they are within range.
//!
//! Time is cut into slices of the mean time from one position to the next. In each, the pieces of paths that may come close are
//! found by a grid of cells, and the times in range of each such pair follow from a quadratic equation.

use super::trace::{Fix, Meeting, Trace};
use crate::error::Wrong;
use lightlag_protocols::math::{cos, sin};
use lightlag_protocols::rng::mix;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_worlds::mobility::map::osm::EARTH_RADIUS_M;
use std::collections::HashMap;

/// What became of the positions of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Times between two positions of a device in which it is absent, as they are longer than the longest gap.
    pub gaps: usize,
    /// Positions at an instant of which the trace has a later line for the same device.
    pub repeated: usize,
}

/// Pairs of pieces that are looked at: some minutes.
const CHECKS_MAX: u64 = 50_000_000_000;

/// Contacts of all pairs: a gigabyte.
const MEETINGS_MAX: usize = 30_000_000;

/// A piece that covers more cells is compared with all others.
const CELLS_MAX: f64 = 64.0;

/// Fewer pieces are compared one by one.
const FEW: usize = 24;

/// Adds the meetings of all nodes that are within `range_m` of each other. A node is absent between two positions that are more
/// than `gap` apart in time. Degrees are places on a sphere of the Earth's mean radius, and distances are straight lines.
///
/// # Errors
/// More meetings than memory holds, or more pairs close to each other than time allows.
pub fn meet(trace: &mut Trace, range_m: f64, gap: Duration) -> Result<Moved, Wrong> {
    let mut moved = Moved::default();
    trace.fixes.sort_by_key(|fix| (fix.node, fix.at));
    let positions = trace.fixes.len();
    trace.fixes.dedup_by(|later, kept| {
        let is_same = (later.node, later.at) == (kept.node, kept.at);
        if is_same {
            *kept = *later;
        }
        is_same
    });
    moved.repeated = positions - trace.fixes.len();
    let point = if trace.is_geographic { on_sphere } else { on_plane };
    let spots: Vec<Spot> = trace
        .fixes
        .iter()
        .map(|fix| Spot { at: fix.at, node: fix.node, line: fix.line, point: point(fix) })
        .collect();
    let mut steps: Vec<u32> = Vec::new();
    let mut time = 0_u128;
    for (index, two) in (0_u32..).zip(spots.windows(2)).filter(|(_, two)| two[0].node == two[1].node) {
        let lasts = two[1].at - two[0].at;
        if lasts > gap {
            moved.gaps += 1;
        } else {
            steps.push(index);
            time += lasts.as_nanos().unsigned_abs() as u128;
        }
    }
    steps.sort_by_key(|step| spots[*step as usize].at);
    let slice = Duration::from_nanos((time / (steps.len() as u128).max(1)).clamp(1, i64::MAX as u128) as i64);
    let mut search = Search { spots: &spots, range_m, checks: 0, open: HashMap::new(), meetings: Vec::new() };
    search.all(&steps, slice)?;
    trace.meetings.append(&mut search.meetings);
    Ok(moved)
}

/// Where a device was.
struct Spot {
    at: Instant,
    node: u32,
    line: u32,
    point: [f64; 3],
}

fn on_plane(fix: &Fix) -> [f64; 3] {
    [fix.x, fix.y, 0.0]
}

fn on_sphere(fix: &Fix) -> [f64; 3] {
    let (lon, lat) = (fix.x.to_radians(), fix.y.to_radians());
    [cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat)].map(|axis| axis * EARTH_RADIUS_M)
}

/// The path from a position to the next, as far as it lies in a slice of time.
#[derive(Clone, Copy)]
struct Piece {
    /// The index of its first position.
    step: u32,
    node: u32,
    start: Instant,
    end: Instant,
    low: [f64; 3],
    high: [f64; 3],
}

struct Search<'a> {
    /// In order of device and time.
    spots: &'a [Spot],
    range_m: f64,
    checks: u64,
    /// The last meeting of each pair.
    open: HashMap<(u32, u32), usize>,
    meetings: Vec<Meeting>,
}

impl Search<'_> {
    /// All meetings of steps in order of their start.
    fn all(&mut self, steps: &[u32], slice: Duration) -> Result<(), Wrong> {
        let (mut next, mut active) = (0, Vec::new());
        let mut from = Instant::ZERO;
        let mut pieces = Vec::new();
        while next < steps.len() || !active.is_empty() {
            if active.is_empty() {
                from = from.max(self.spots[steps[next] as usize].at);
            }
            let until = from.saturating_add(slice);
            while let Some(&step) = steps.get(next).filter(|step| self.spots[**step as usize].at < until) {
                active.push(step);
                next += 1;
            }
            pieces.clear();
            pieces.extend(active.iter().map(|&step| self.piece(step, from, until)));
            self.slice(&pieces)?;
            active.retain(|&step| self.spots[step as usize + 1].at > until);
            from = until;
        }
        Ok(())
    }
    fn piece(&self, step: u32, from: Instant, until: Instant) -> Piece {
        let [first, last] = [&self.spots[step as usize], &self.spots[step as usize + 1]];
        let (start, end) = (first.at.max(from), last.at.min(until));
        let (a, b) = (self.point(step, start), self.point(step, end));
        let low = std::array::from_fn(|axis| a[axis].min(b[axis]));
        let high = std::array::from_fn(|axis| a[axis].max(b[axis]));
        Piece { step, node: first.node, start, end, low, high }
    }
    /// Where the node of a step is.
    fn point(&self, step: u32, at: Instant) -> [f64; 3] {
        let [first, last] = [&self.spots[step as usize], &self.spots[step as usize + 1]];
        let share = (at - first.at).as_secs_f64() / (last.at - first.at).as_secs_f64();
        std::array::from_fn(|axis| first.point[axis] + (last.point[axis] - first.point[axis]) * share)
    }
    /// The meetings of one slice.
    fn slice(&mut self, pieces: &[Piece]) -> Result<(), Wrong> {
        let mut met = Vec::new();
        if pieces.len() <= FEW {
            for (index, one) in pieces.iter().enumerate() {
                for other in &pieces[index + 1..] {
                    self.pair(one, other, &mut met);
                }
            }
        } else {
            self.by_cells(pieces, &mut met)?;
        }
        met.sort_unstable_by_key(|met: &Meeting| (met.a, met.b, met.start));
        for met in met {
            self.add(met)?;
        }
        Ok(())
    }
    /// Pairs of pieces that share a cell of a grid.
    fn by_cells(&mut self, pieces: &[Piece], met: &mut Vec<Meeting>) -> Result<(), Wrong> {
        let extent =
            |piece: &Piece| (0..3).map(|axis| piece.high[axis] - piece.low[axis]).fold(0.0, f64::max);
        let mean = pieces.iter().map(extent).sum::<f64>() / pieces.len() as f64;
        // Twice as wide as most pieces with their range: such a piece lies in at most two cells along each axis.
        let side = 2.0 * (self.range_m + mean).max(1e-6);
        let cell = |point: [f64; 3], by: f64| point.map(|axis| ((axis + by) / side + 0.5).floor());
        // Half of the range each, and a bit, as sums are rounded.
        let reach = self.range_m * 0.500_001 + 1e-6;
        let (mut placed, mut large) = (Vec::with_capacity(pieces.len() * 2), Vec::new());
        for (index, piece) in (0_u32..).zip(pieces) {
            let (low, high) = (cell(piece.low, -reach), cell(piece.high, reach));
            let count: f64 = (0..3).map(|axis| high[axis] - low[axis] + 1.0).product();
            if count > CELLS_MAX {
                large.push(index);
                continue;
            }
            for x in low[0] as i64..=high[0] as i64 {
                for y in low[1] as i64..=high[1] as i64 {
                    placed.extend((low[2] as i64..=high[2] as i64).map(|z| (key([x, y, z]), index)));
                }
            }
        }
        placed.sort_unstable();
        for cell_of_many in placed.chunk_by(|one, other| one.0 == other.0) {
            for (at, (here, one)) in cell_of_many.iter().enumerate() {
                for (_, other) in &cell_of_many[at + 1..] {
                    let (one, other) = (&pieces[*one as usize], &pieces[*other as usize]);
                    // A pair that shares several cells is looked at in the first one.
                    let first = std::array::from_fn(|axis| one.low[axis].max(other.low[axis]));
                    if *here == key(cell(first, -reach).map(|axis| axis as i64)) {
                        self.pair(one, other, met);
                    }
                    self.checks += 1;
                }
            }
            self.check_time()?;
        }
        for (at, &index) in large.iter().enumerate() {
            let piece = &pieces[index as usize];
            let is_earlier = |other: u32| large[..at].binary_search(&other).is_ok();
            for other in (0..pieces.len() as u32).filter(|other| *other != index && !is_earlier(*other)) {
                self.pair(piece, &pieces[other as usize], met);
                self.checks += 1;
            }
            self.check_time()?;
        }
        Ok(())
    }
    fn check_time(&self) -> Result<(), Wrong> {
        if self.checks <= CHECKS_MAX {
            return Ok(());
        }
        let what = "more than 5e10 pairs of positions are close to each other";
        Err(Wrong::new(
            what,
            "leave out devices or times that the run does not need, or give a smaller `range`",
        ))
    }
    fn pair(&self, one: &Piece, other: &Piece, met: &mut Vec<Meeting>) {
        let is_near = |axis: usize| {
            one.low[axis] - self.range_m <= other.high[axis]
                && other.low[axis] - self.range_m <= one.high[axis]
        };
        let (start, end) = (one.start.max(other.start), one.end.min(other.end));
        if one.node == other.node || start >= end || !(0..3).all(is_near) {
            return;
        }
        if let Some((start, end)) = self.within(one.step, other.step, start, end) {
            let (first, second) = if one.node < other.node { (one, other) } else { (other, one) };
            let line = self.spots[first.step as usize + 1].line;
            met.push(Meeting { line, a: first.node, b: second.node, start, end });
        }
    }
    /// When the nodes of two steps are within range, from one instant to another.
    fn within(&self, one: u32, other: u32, start: Instant, end: Instant) -> Option<(Instant, Instant)> {
        let apart = |at| {
            let (one, other) = (self.point(one, at), self.point(other, at));
            std::array::from_fn::<f64, 3, _>(|axis| other[axis] - one[axis])
        };
        let (from, to) = (apart(start), apart(end));
        let moves: [f64; 3] = std::array::from_fn(|axis| to[axis] - from[axis]);
        // |from + share * moves| <= range, as a·share² + 2·b·share + c <= 0.
        let dot = |u: [f64; 3], v: [f64; 3]| u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
        let (a, b, c) = (dot(moves, moves), dot(from, moves), dot(from, from) - self.range_m * self.range_m);
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
    /// Adds a meeting, which may continue that of an earlier slice.
    fn add(&mut self, met: Meeting) -> Result<(), Wrong> {
        let last = self.open.entry((met.a, met.b)).or_insert(usize::MAX);
        if let Some(before) = self.meetings.get_mut(*last)
            && met.start <= before.end
        {
            before.end = before.end.max(met.end);
            return Ok(());
        }
        if self.meetings.len() >= MEETINGS_MAX {
            let what = format!("the positions make more than {MEETINGS_MAX} contacts");
            let right = "leave out devices or times that the run does not need, or give a smaller `range`";
            return Err(Wrong::new(what, right));
        }
        *last = self.meetings.len();
        self.meetings.push(met);
        Ok(())
    }
}

/// A number for a cell; two cells may have one, and are looked at together.
fn key(cell: [i64; 3]) -> u64 {
    cell.into_iter().fold(0, |key, axis| mix(key ^ axis.cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Recorded, trace};
    use super::*;
    use proptest::prelude::*;

    const GAP: Duration = Duration::from_secs(600);

    /// Starts and ends of the meetings, in seconds.
    fn met(text: &str, columns: &str, range_m: f64) -> Vec<(f64, f64)> {
        let format = Format::new(Recorded::Positions, Some(columns), Duration::from_secs(1)).unwrap();
        let mut found = trace("f", text.as_bytes(), &format).unwrap();
        meet(&mut found, range_m, GAP).unwrap();
        found.meetings.iter().map(|met| (met.start.as_secs_f64(), met.end.as_secs_f64())).collect()
    }

    #[test]
    fn a_node_that_passes_another_is_in_contact_while_in_range() {
        let passing = "0 a 0 0\n100 a 0 0\n0 b -50 3\n100 b 50 3\n";
        assert_eq!(met(passing, "time node x y", 5.0), [(46.0, 54.0)], "4 m before and behind, at 1 m/s");
        assert_eq!(met(passing, "time node x y", 2.0), []);
        let cut = "0 a 0 0\n100 a 0 0\n0 b -50 3\n50 b 0 3\n50 b 99 99\n50 b 0 3\n100 b 50 3\n";
        assert_eq!(met(cut, "time node x y", 5.0), [(46.0, 54.0)], "of one instant the last position counts");
    }

    #[test]
    fn a_node_without_a_position_for_long_meets_nobody() {
        let text = "0 a 0 0\n700 a 0 0\n710 a 0 0\n0 b 0 0\n500 b 0 0\n1000 b 0 0\n1000 b 0 0\n";
        assert_eq!(met(text, "time node x y", 1.0), [(700.0, 710.0)]);
        let format = Format::new(Recorded::Positions, None, Duration::from_secs(1)).unwrap();
        let mut found = trace("f", text.as_bytes(), &format).unwrap();
        assert_eq!(meet(&mut found, 1.0, GAP), Ok(Moved { gaps: 1, repeated: 1 }));
    }

    #[test]
    fn degrees_are_places_on_a_sphere() {
        // A ten-thousandth of a degree of latitude is 11.12 m, of longitude at 60 degrees half of it.
        let text =
            "0 a 60 20\n10 a 60 20\n0 b 60.0001 20\n10 b 60.0001 20\n0 c 60 20.0001\n10 c 60 20.0001\n";
        assert_eq!(met(text, "time node lat lon", 11.0), [(0.0, 10.0)]);
        assert_eq!(met(text, "time node lat lon", 11.2).len(), 2);
        let date_line = "0 a 0 179.9999\n10 a 0 179.9999\n0 b 0 -179.9999\n10 b 0 -179.9999\n";
        assert_eq!(met(date_line, "time node lat lon", 23.0), [(0.0, 10.0)], "22.24 m apart");
        let pole = "0 a 89.9999 0\n10 a 89.9999 0\n0 b 89.9999 180\n10 b 89.9999 180\n";
        assert_eq!(met(pole, "time node lat lon", 23.0), [(0.0, 10.0)]);
    }

    #[test]
    fn slices_lose_no_meeting() {
        let mut text = String::new();
        for step in 0_i64..300 {
            text += &format!("{step} a {} 0\n{step} b {} 7\n", step * 10, 3000 - step * 10);
        }
        // 24 m apart along x, at 20 m/s, around 150 s.
        assert_eq!(met(&text, "time node x y", 25.0), [(148.8, 151.2)]);
    }

    /// Positions of devices that walk from a place, with steps of one to 60 s and now and then an absence.
    fn walks() -> impl Strategy<Value = Vec<Vec<(i64, f64, f64)>>> {
        let step = (prop_oneof![9 => 1..60_i64, 1 => 600..900_i64], -40.0..40.0_f64, -40.0..40.0_f64);
        let walk = (0..300_i64, -200.0..200.0_f64, -200.0..200.0_f64, prop::collection::vec(step, 1..20));
        let positions = |(start, x, y, steps): (i64, f64, f64, Vec<(i64, f64, f64)>)| {
            let mut now = (start, x, y);
            let mut all = vec![now];
            for (lasts, east, north) in steps {
                now = (now.0 + lasts, now.1 + east, now.2 + north);
                all.push(now);
            }
            all
        };
        prop::collection::vec(walk.prop_map(positions), 2..60)
    }

    /// Where a device of a walk is, if it is there.
    fn place(walk: &[(i64, f64, f64)], s: f64) -> Option<(f64, f64)> {
        let two = walk.windows(2).find(|two| two[0].0 as f64 <= s && s <= two[1].0 as f64)?;
        let lasts = two[1].0 - two[0].0;
        let share = (s - two[0].0 as f64) / lasts as f64;
        let between = |from: f64, to: f64| from + (to - from) * share;
        (lasts <= 600).then(|| (between(two[0].1, two[1].1), between(two[0].2, two[1].2)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn nodes_are_in_contact_whenever_they_are_in_range(
            walks in walks(), range_m in 0.1..120.0_f64, instants in prop::collection::vec(0.0..1500.0_f64, 20),
        ) {
            let mut text = String::new();
            for (node, walk) in walks.iter().enumerate() {
                for (s, x, y) in walk {
                    text += &format!("{s} {node} {x} {y}\n");
                }
            }
            let format = Format::new(Recorded::Positions, None, Duration::from_secs(1)).unwrap();
            let mut found = trace("f", text.as_bytes(), &format).unwrap();
            meet(&mut found, range_m, GAP).unwrap();
            for s in instants {
                let at = Instant::from_secs_f64(s);
                for a in 0..walks.len() {
                    for b in a + 1..walks.len() {
                        let Some((one, other)) = place(&walks[a], s).zip(place(&walks[b], s)) else { continue };
                        let apart = (one.0 - other.0).hypot(one.1 - other.1);
                        let is_met = found.meetings.iter().any(|met| {
                            (met.a as usize, met.b as usize) == (a, b) && met.start <= at && at <= met.end
                        });
                        // Closer to the range than rounding, both answers are right.
                        if (apart - range_m).abs() > 1e-5 {
                            prop_assert_eq!(is_met, apart < range_m, "{} and {} at {} s, {} m", a, b, s, apart);
                        }
                    }
                }
            }
        }
    }
}
