//! Who meets whom, computed from motion without stepping through time.
//!
//! Nodes lie in a grid whose cells are at least one radio range wide, so only nodes in the same or
//! in touching cells can talk. Two things ever happen to a node: its leg ends, or it enters the next
//! cell. In between, the distance of two nodes is the root of a parabola in time, so that for each
//! pair of touching cells a quadratic equation gives the moments of contact. The work grows with
//! legs and cells passed, not with time.

use crate::mobility::{Leg, Motion, Point};
use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::time::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A radio of a node. Two nodes can talk if they have radios of the same class and their distance is
/// at most the lesser of both ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Radio {
    /// What it can talk with: its like.
    pub class: u16,
    /// How far it reaches, in metres.
    pub range_m: f64,
}

/// A span of time in which two nodes are in range of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Encounter {
    /// When they come into range.
    pub start: Instant,
    /// The node of the lesser number.
    pub a: NodeId,
    /// The other one.
    pub b: NodeId,
    /// The class of the radios with which they talk.
    pub class: u16,
    /// When they are out of range again, at most the horizon, at which open encounters are cut off.
    pub end: Instant,
}

/// All encounters from zero up to `until`, in the order of start, `a`, `b` and class.
///
/// `radios` holds the radios of each node; of two radios of one class in a node the stronger counts,
/// and a range that is not greater than or equal to 0 reaches no node. Nodes without an entry have
/// no radio.
///
/// Without a tick, times are exact to the nanosecond, and encounters of no length are omitted. With
/// a tick, the two are in contact at a tick if they are in range at that moment: `start` is rounded
/// up to a tick, `end` is the first tick after the exact end, encounters that hold at no tick are omitted,
/// and those not separated by a tick are joined. Zero is a tick: nodes in range at the start are in
/// contact from zero on. (The ONE looks first after one tick.)
pub fn encounters<M: Motion + ?Sized>(
    motion: &mut M,
    radios: &[Vec<Radio>],
    until: Instant,
    tick: Option<Duration>,
) -> Vec<Encounter> {
    let mut sweep = Sweep::new(motion, radios, until, tick);
    sweep.begin(motion);
    while let Some(Reverse((now, node))) = sweep.due.pop() {
        sweep.handle(motion, now, node);
    }
    sweep.finish()
}

/// The leg of a node, prepared.
struct Mover {
    leg: Leg,
    vx: f64,
    vy: f64,
}

impl Mover {
    fn new(leg: Leg) -> Self {
        let (vx, vy) = leg.velocity();
        Self { leg, vx, vy }
    }
    fn at(&self, t: Instant) -> Point {
        let s = (t - self.leg.start).as_secs_f64();
        Point::new(self.leg.from.x + self.vx * s, self.leg.from.y + self.vy * s)
    }
}

/// A radio in the grid of its class.
struct Slot {
    node: u32,
    grid: u32,
    range_m: f64,
    column: u32,
    row: u32,
    /// When it enters the next cell, and in which direction.
    crosses: Instant,
    way: (i8, i8),
    /// Encounters with slots of greater number that may still grow.
    open: Vec<Open>,
}

#[derive(Clone, Copy)]
struct Open {
    other: u32,
    start: Instant,
    end: Instant,
}

/// The cells of one class.
struct Grid {
    class: u16,
    origin: Point,
    side_m: f64,
    columns: u32,
    rows: u32,
    cells: Vec<Vec<u32>>,
}

struct Sweep {
    until: Instant,
    tick: Option<Duration>,
    movers: Vec<Mover>,
    slots: Vec<Slot>,
    /// The slots of node n are `first[n]..first[n + 1]`.
    first: Vec<u32>,
    grids: Vec<Grid>,
    due: BinaryHeap<Reverse<(Instant, u32)>>,
    done: Vec<Encounter>,
}

impl Sweep {
    fn new<M: Motion + ?Sized>(
        motion: &M,
        radios: &[Vec<Radio>],
        until: Instant,
        tick: Option<Duration>,
    ) -> Self {
        let mut classes: Vec<u16> = radios.iter().flatten().map(|radio| radio.class).collect();
        classes.sort_unstable();
        classes.dedup();
        let (mut slots, mut first) = (Vec::new(), vec![0]);
        for node in 0..motion.node_count() {
            let own = radios.get(node as usize).map_or(&[][..], Vec::as_slice);
            for (grid, class) in classes.iter().enumerate() {
                let range_m = own.iter().filter(|r| r.class == *class).map(|r| r.range_m);
                if let Some(range_m) = range_m.filter(|r| *r >= 0.0).reduce(f64::max) {
                    slots.push(Slot::new(node, grid as u32, range_m));
                }
            }
            first.push(slots.len() as u32);
        }
        let bounds = motion.bounds();
        let grids =
            classes.iter().enumerate().map(|(g, &class)| Grid::new(class, g, &slots, bounds)).collect();
        let (movers, due, done) = (Vec::new(), BinaryHeap::new(), Vec::new());
        Self { until, tick, movers, slots, first, grids, due, done }
    }

    fn slots_of(&self, node: u32) -> std::ops::Range<u32> {
        self.first[node as usize]..self.first[node as usize + 1]
    }

    fn begin<M: Motion + ?Sized>(&mut self, motion: &mut M) {
        for node in 0..motion.node_count() {
            let leg = motion.next_leg(NodeId(node));
            self.movers.push(Mover::new(leg));
            for s in self.slots_of(node) {
                self.enter_first_cell(s, leg.from);
                // Earlier slots only: each pair is met once.
                self.meet_around(s, Instant::ZERO);
                self.plan_crossing(s, Instant::ZERO);
            }
            self.plan(node);
        }
    }

    fn handle<M: Motion + ?Sized>(&mut self, motion: &mut M, now: Instant, node: u32) {
        let turn = self.movers[node as usize].leg.end <= now;
        if turn {
            self.movers[node as usize] = Mover::new(motion.next_leg(NodeId(node)));
        }
        for s in self.slots_of(node) {
            if turn {
                self.close_old(s, now);
                self.meet_around(s, now);
                self.plan_crossing(s, now);
            } else if self.slots[s as usize].crosses <= now {
                self.cross(s, now);
                self.plan_crossing(s, now);
            }
        }
        self.plan(node);
    }

    /// Puts the next event of a node into the queue, unless it is beyond the horizon.
    fn plan(&mut self, node: u32) {
        let crossings = self.slots_of(node).map(|s| self.slots[s as usize].crosses);
        let next = crossings.fold(self.movers[node as usize].leg.end, Instant::min);
        if next < self.until {
            self.due.push(Reverse((next, node)));
        }
    }

    fn enter_first_cell(&mut self, s: u32, at: Point) {
        let slot = &mut self.slots[s as usize];
        let grid = &mut self.grids[slot.grid as usize];
        (slot.column, slot.row) = grid.cell_at(at);
        grid.cell(slot.column, slot.row).push(s);
    }

    fn plan_crossing(&mut self, s: u32, now: Instant) {
        let slot = &mut self.slots[s as usize];
        let (crosses, way) = self.grids[slot.grid as usize].crossing(slot, &self.movers[slot.node as usize]);
        // What rounding has put into the past happens now.
        (slot.crosses, slot.way) = (crosses.max(now), way);
    }

    /// Moves a slot to the next cell and looks at the cells that touch only the new one.
    fn cross(&mut self, s: u32, now: Instant) {
        let slot = &mut self.slots[s as usize];
        let grid = &mut self.grids[slot.grid as usize];
        let cell = grid.cell(slot.column, slot.row);
        if let Some(at) = cell.iter().position(|&other| other == s) {
            cell.swap_remove(at);
        }
        let (dx, dy) = slot.way;
        slot.column = slot.column.saturating_add_signed(dx.into());
        slot.row = slot.row.saturating_add_signed(dy.into());
        grid.cell(slot.column, slot.row).push(s);
        let ahead = |at: u32, by: i8| i64::from(at) + i64::from(by);
        let (column, row) = (slot.column, slot.row);
        let (columns, rows) = if dx != 0 {
            (ahead(column, dx)..=ahead(column, dx), ahead(row, -1)..=ahead(row, 1))
        } else {
            (ahead(column, -1)..=ahead(column, 1), ahead(row, dy)..=ahead(row, dy))
        };
        self.meet_in(s, columns, rows, now);
    }

    fn meet_around(&mut self, s: u32, now: Instant) {
        let Slot { column, row, .. } = self.slots[s as usize];
        let (column, row) = (i64::from(column), i64::from(row));
        self.meet_in(s, column - 1..=column + 1, row - 1..=row + 1, now);
    }

    fn meet_in(
        &mut self,
        s: u32,
        columns: std::ops::RangeInclusive<i64>,
        rows: std::ops::RangeInclusive<i64>,
        now: Instant,
    ) {
        let g = self.slots[s as usize].grid as usize;
        let (width, height) = (i64::from(self.grids[g].columns), i64::from(self.grids[g].rows));
        for row in *rows.start().max(&0)..=*rows.end().min(&(height - 1)) {
            for column in *columns.start().max(&0)..=*columns.end().min(&(width - 1)) {
                let cell = (row * width + column) as usize;
                for i in 0..self.grids[g].cells[cell].len() {
                    let other = self.grids[g].cells[cell][i];
                    if other != s {
                        self.meet(s.min(other), s.max(other), now);
                    }
                }
            }
        }
    }

    /// Notes when two slots are in range, from now until the leg of one of them ends.
    fn meet(&mut self, low: u32, high: u32, now: Instant) {
        let (a, b) = (&self.slots[low as usize], &self.slots[high as usize]);
        let (ma, mb) = (&self.movers[a.node as usize], &self.movers[b.node as usize]);
        let end = ma.leg.end.min(mb.leg.end).min(self.until);
        if end <= now {
            return;
        }
        if let Some((start, end)) = in_range(ma, mb, a.range_m.min(b.range_m), now, end) {
            self.note(low, high, start, end);
        }
    }

    /// Joins a span with what is known of the same pair.
    fn note(&mut self, low: u32, high: u32, start: Instant, end: Instant) {
        let Some((start, end)) = self.rounded(start, end) else { return };
        let open = &mut self.slots[low as usize].open;
        let Some(known) = open.iter_mut().find(|known| known.other == high) else {
            open.push(Open { other: high, start, end });
            return;
        };
        if start <= known.end {
            known.end = known.end.max(end);
            return;
        }
        let past = std::mem::replace(known, Open { other: high, start, end });
        self.close(low, past);
    }

    /// To ticks, if there are any; none if the span holds at no tick.
    fn rounded(&self, start: Instant, end: Instant) -> Option<(Instant, Instant)> {
        let Some(tick) = self.tick else { return Some((start, end)) };
        let first = start.round_up(tick);
        if first > end {
            return None;
        }
        let after = (end + Duration::from_nanos(1)).round_up(tick);
        Some((first, after.min(self.until)))
    }

    /// Hands out what cannot grow any more because it ended before now.
    fn close_old(&mut self, s: u32, now: Instant) {
        let mut open = std::mem::take(&mut self.slots[s as usize].open);
        open.retain(|known| {
            let live = known.end >= now;
            if !live {
                self.close(s, *known);
            }
            live
        });
        self.slots[s as usize].open = open;
    }

    fn close(&mut self, low: u32, Open { other, start, end }: Open) {
        if start >= end {
            return;
        }
        let (a, b) = (&self.slots[low as usize], &self.slots[other as usize]);
        let class = self.grids[a.grid as usize].class;
        self.done.push(Encounter { start, a: NodeId(a.node), b: NodeId(b.node), class, end });
    }

    fn finish(mut self) -> Vec<Encounter> {
        for s in 0..self.slots.len() as u32 {
            for open in std::mem::take(&mut self.slots[s as usize].open) {
                self.close(s, open);
            }
        }
        self.done.sort_unstable();
        self.done
    }
}

/// When two nodes are at most `range_m` apart within `now..=end`: |p + w t|² <= range².
fn in_range(a: &Mover, b: &Mover, range_m: f64, now: Instant, end: Instant) -> Option<(Instant, Instant)> {
    let (pa, pb) = (a.at(now), b.at(now));
    let (px, py) = (pb.x - pa.x, pb.y - pa.y);
    let (wx, wy) = (b.vx - a.vx, b.vy - a.vy);
    let ww = wx * wx + wy * wy;
    let pw = px * wx + py * wy;
    let beyond = px * px + py * py - range_m * range_m;
    if ww == 0.0 || beyond == f64::NEG_INFINITY || (pw >= 0.0 && beyond > 0.0) {
        return (beyond <= 0.0).then_some((now, end));
    }
    let root = pw * pw - ww * beyond;
    if root < 0.0 {
        return None;
    }
    // Of the two roots, the one without cancellation first; the other by their product.
    let (first_s, last_s) = if pw <= 0.0 {
        let last = root.sqrt() - pw;
        (beyond / last, last / ww)
    } else {
        let first = -root.sqrt() - pw;
        (first / ww, beyond / first)
    };
    let start = if beyond <= 0.0 { now } else { now.saturating_add(Duration::from_secs_f64(first_s)) };
    let last = now.saturating_add(Duration::from_secs_f64(last_s)).min(end);
    (start <= last).then_some((start, last))
}

impl Slot {
    fn new(node: u32, grid: u32, range_m: f64) -> Self {
        let open = Vec::new();
        Self { node, grid, range_m, column: 0, row: 0, crosses: Instant::MAX, way: (0, 0), open }
    }
}

impl Grid {
    fn new(class: u16, index: usize, slots: &[Slot], (least, greatest): (Point, Point)) -> Self {
        let members = slots.iter().filter(|slot| slot.grid as usize == index);
        let (count, range_m) =
            members.fold((0, 0.0_f64), |(n, range), slot| (n + 1, range.max(slot.range_m)));
        // A little wider than the range, so that rounding at a border hides no node.
        let mut side_m = range_m * (1.0 + 1e-9) + 1e-3;
        let (width, height) = (greatest.x - least.x, greatest.y - least.y);
        let cells = |extent: f64, side_m: f64| (extent / side_m).ceil().max(1.0);
        // More cells than nodes would only be empty.
        while cells(width, side_m) * cells(height, side_m) > f64::from(2 * count + 16) {
            side_m *= 1.25;
        }
        let (columns, rows) = (cells(width, side_m) as u32, cells(height, side_m) as u32);
        let cells = vec![Vec::new(); columns as usize * rows as usize];
        Self { class, origin: least, side_m, columns, rows, cells }
    }
    fn cell(&mut self, column: u32, row: u32) -> &mut Vec<u32> {
        &mut self.cells[row as usize * self.columns as usize + column as usize]
    }
    /// Border cells reach outwards without end.
    fn cell_at(&self, p: Point) -> (u32, u32) {
        let column = ((p.x - self.origin.x) / self.side_m).floor() as u32;
        let row = ((p.y - self.origin.y) / self.side_m).floor() as u32;
        (column.min(self.columns - 1), row.min(self.rows - 1))
    }
    /// When and where to the motion of a slot leaves its cell.
    fn crossing(&self, slot: &Slot, mover: &Mover) -> (Instant, (i8, i8)) {
        let x = self.border_s(slot.column, self.columns, mover.leg.from.x - self.origin.x, mover.vx);
        let y = self.border_s(slot.row, self.rows, mover.leg.from.y - self.origin.y, mover.vy);
        let way = if x <= y { (sign(mover.vx), 0) } else { (0, sign(mover.vy)) };
        if x.min(y) == f64::INFINITY {
            return (Instant::MAX, (0, 0));
        }
        let at = mover.leg.start.saturating_add(Duration::from_secs_f64(x.min(y)));
        if at < mover.leg.end { (at, way) } else { (Instant::MAX, (0, 0)) }
    }
    /// Seconds from the start of the leg to the border of cell `index` of `count` on one axis.
    fn border_s(&self, index: u32, count: u32, from_m: f64, velocity: f64) -> f64 {
        let border = match sign(velocity) {
            1 if index + 1 < count => index + 1,
            -1 if index > 0 => index,
            _ => return f64::INFINITY,
        };
        (f64::from(border) * self.side_m - from_m) / velocity
    }
}

fn sign(v: f64) -> i8 {
    i8::from(v > 0.0) - i8::from(v < 0.0)
}
