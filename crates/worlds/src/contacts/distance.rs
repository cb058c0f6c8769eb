//! How far two nodes are apart while they are in contact, in bands of distance.

use crate::mobility::Leg;
use lightlag_protocols::time::{Duration, Instant};

/// The bands of `width_m` metres in which the distance of two nodes lies from `start` to `end`: from each instant on,
/// the number of the band beside it, counted from zero. The first is at `start`.
///
/// The legs of each node must be in the order of time and cover the whole span. Exact to the nanosecond: in each pair of
/// legs the distance falls to its least and then rises, and a quadratic equation gives the instants at which it
/// passes a border.
pub fn bands(a: &[Leg], b: &[Leg], start: Instant, end: Instant, width_m: f64) -> Vec<(Instant, u32)> {
    let mut out = Vec::new();
    let first = |legs: &[Leg]| legs.partition_point(|leg| leg.end <= start);
    let (mut i, mut j) = (first(a), first(b));
    let mut now = start;
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let until = x.end.min(y.end).min(end);
        Pair::new(x, y, now).bands((until - now).as_secs_f64(), width_m, &mut |after_s, band| {
            let at = now.saturating_add(Duration::from_secs_f64(after_s)).min(until);
            if out.last().is_none_or(|last: &(Instant, u32)| last.1 != band) {
                out.push((at, band));
            }
        });
        if until >= end {
            break;
        }
        i += usize::from(x.end <= until);
        j += usize::from(y.end <= until);
        now = until;
    }
    out
}

/// Two nodes in uniform motion: where one sees the other, in metres, and how fast that changes.
struct Pair {
    p: [f64; 2],
    w: [f64; 2],
}

impl Pair {
    fn new(a: &Leg, b: &Leg, now: Instant) -> Self {
        let at = |leg: &Leg| {
            let (vx, vy) = leg.velocity();
            let s = (now - leg.start).as_secs_f64();
            ([leg.from.x + vx * s, leg.from.y + vy * s], [vx, vy])
        };
        let ((pa, va), (pb, vb)) = (at(a), at(b));
        Self { p: [pb[0] - pa[0], pb[1] - pa[1]], w: [vb[0] - va[0], vb[1] - va[1]] }
    }
    /// Calls `emit` with each band and the seconds after which it begins.
    fn bands(&self, lasts_s: f64, width_m: f64, emit: &mut impl FnMut(f64, u32)) {
        let [pp, pw, ww] = [(self.p, self.p), (self.p, self.w), (self.w, self.w)]
            .map(|(x, y): ([f64; 2], [f64; 2])| x[0] * y[0] + x[1] * y[1]);
        let distance = |s: f64| (pp + s * (2.0 * pw + s * ww)).max(0.0).sqrt();
        let band = |s: f64| (distance(s) / width_m) as u32;
        emit(0.0, band(0.0));
        if ww == 0.0 {
            return;
        }
        let nearest_s = (-pw / ww).clamp(0.0, lasts_s);
        let [first, least, last] = [0.0, nearest_s, lasts_s].map(band);
        // The distance is r at the two times -pw/ww -+ root/ww.
        let root = |border: u32| {
            let r = f64::from(border) * width_m;
            (pw * pw - ww * (pp - r * r)).max(0.0).sqrt()
        };
        for border in (least + 1..=first).rev() {
            emit(((-pw - root(border)) / ww).clamp(0.0, nearest_s), border - 1);
        }
        for border in least + 1..=last {
            emit(((-pw + root(border)) / ww).clamp(nearest_s, lasts_s), border);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::Point;
    use proptest::prelude::*;

    fn leg(start_s: f64, end_s: f64, from: [f64; 2], to: [f64; 2]) -> Leg {
        let [from, to] = [from, to].map(|[x, y]| Point::new(x, y));
        Leg { start: Instant::from_secs_f64(start_s), end: Instant::from_secs_f64(end_s), from, to }
    }
    /// Legs from point to point, each of `step_s`.
    fn path(points: &[[f64; 2]], step_s: f64) -> Vec<Leg> {
        let legs = points.windows(2).zip(0..);
        legs.map(|(ends, n)| leg(f64::from(n) * step_s, f64::from(n + 1) * step_s, ends[0], ends[1]))
            .collect()
    }
    fn at(legs: &[Leg], s: f64) -> Point {
        let now = Instant::from_secs_f64(s);
        let leg = legs.iter().find(|leg| now < leg.end).or(legs.last()).unwrap();
        let share = (now - leg.start).as_secs_f64() / (leg.end - leg.start).as_secs_f64();
        leg.from.toward(leg.to, share)
    }

    #[test]
    fn a_node_that_passes_another_goes_through_all_bands_and_back() {
        let (walker, post) = (path(&[[-10.0, 0.0], [10.0, 0.0]], 20.0), path(&[[0.0, 0.0]; 2], 20.0));
        let found = bands(&walker, &post, Instant::ZERO, Instant::from_secs(20), 5.0);
        let found: Vec<_> = found.into_iter().map(|(at, band)| (at.as_secs_f64(), band)).collect();
        assert_eq!(found, [(0.0, 2), (0.0, 1), (5.0, 0), (15.0, 1), (20.0, 2)]);
    }

    proptest! {
        #[test]
        fn the_band_at_any_time_is_that_of_the_distance_then(
            a in prop::collection::vec(prop::array::uniform2(0.0..300.0_f64), 2..6),
            b in prop::collection::vec(prop::array::uniform2(0.0..300.0_f64), 2..6),
            steps in prop::array::uniform2(5.0..50.0_f64),
            width_m in 1.0..60.0_f64,
            times in prop::collection::vec(0.0..1.0_f64, 20),
        ) {
            let (a, b) = (path(&a, steps[0]), path(&b, steps[1]));
            let lasts_s = a.last().unwrap().end.min(b.last().unwrap().end).as_secs_f64();
            let found = bands(&a, &b, Instant::ZERO, Instant::from_secs_f64(lasts_s), width_m);
            prop_assert!(found.windows(2).all(|pair| pair[0].0 <= pair[1].0));
            for s in times.into_iter().map(|share| share * lasts_s) {
                let row = found.partition_point(|row| row.0 <= Instant::from_secs_f64(s)) - 1;
                let exact = at(&a, s).distance(at(&b, s)) / width_m;
                let band = f64::from(found[row].1);
                prop_assert!(band - 1e-6 <= exact && exact <= band + 1.0 + 1e-6, "{exact} in band {band} at {s} s");
            }
        }
    }
}
