//! Radios: which nodes they reach, at which rate, and when they are on.

use crate::model::{Draws, Group};
use crate::quantity::Bounds;
use java_random::Random;
use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;
use lightlag_worlds::contacts::distance;
use lightlag_worlds::contacts::kinetic::{self, Encounter};
use lightlag_worlds::contacts::{Channel, Course, Delay};
use lightlag_worlds::mobility::Leg;
use std::collections::BTreeMap;

/// A radio; it reaches radios of the same name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Radio {
    /// Its name.
    pub name: String,
    /// How far it reaches; the smaller of two counts.
    pub range_m: f64,
    /// Its rate, the highest of `rates` if there are any; the smaller of two counts.
    pub rate: BitRate,
    /// Rates at distances that divide the range evenly, from no distance to the whole range, with straight lines between;
    /// empty: one rate at all distances.
    pub rates: Vec<BitRate>,
    /// Transmitters nearby share the rate.
    pub interference: bool,
    /// When it is on.
    pub activity: Activity,
    /// Upper bound of the whole seconds, drawn for each node, by which its times in `activity` are earlier.
    pub jitter_s: u32,
    /// Time between searches for peers: a contact begins at the first search of either end; `None`: at once.
    pub scan_every: Option<Duration>,
}

/// When a radio is on.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Activity {
    /// Always.
    #[default]
    Always,
    /// In these spans from the start of the run, both ends included.
    Spans(Vec<Bounds<Duration>>),
    /// Alternately on and off; at the start of the run it has been on for `offset`.
    Periods {
        /// How long it is on.
        on: Duration,
        /// How long it is off.
        off: Duration,
        /// How far the first period is over at the start of the run.
        offset: Duration,
    },
}

/// Bands of distance into which the range of a radio with [`Radio::rates`] is cut: in each the rate is that of its
/// middle.
pub(crate) const BANDS: u32 = 100;

impl Activity {
    /// Times when a radio is on in a run of this length, about; none: always.
    pub(crate) fn spans(&self, lasts: Duration) -> f64 {
        match self {
            Self::Always => 0.0,
            Self::Spans(spans) => spans.len() as f64,
            Self::Periods { on, off, .. } => 1.0 + lasts.as_secs_f64() / (*on + *off).as_secs_f64(),
        }
    }
}

impl Radio {
    /// A radio that is always on, with one rate.
    pub fn plain(name: &str, range_m: f64, rate: BitRate) -> Self {
        Self { name: name.to_owned(), range_m, rate, ..Self::default() }
    }
    /// Whether the rate of a contact is the same all the time.
    fn is_steady(&self) -> bool {
        self.rates.is_empty() && !self.interference
    }
    /// The rate at a distance, without interference.
    fn rate_at(&self, distance_m: f64) -> BitRate {
        let [.., _, _] = self.rates[..] else { return self.rate };
        let place = (distance_m / self.range_m).clamp(0.0, 1.0) * (self.rates.len() - 1) as f64;
        let index = (place as usize).min(self.rates.len() - 2);
        let share = place - index as f64;
        let [low, high] = [index, index + 1].map(|index| self.rates[index].0 as f64);
        BitRate((low * (1.0 - share) + high * share) as u64)
    }
}

/// All radios of a network.
pub(crate) struct Radios<'n> {
    /// By node, in the order in which its group names them.
    nodes: Vec<Vec<Own<'n>>>,
    tick: Option<Duration>,
}

/// A radio of a node.
struct Own<'n> {
    radio: &'n Radio,
    class: u16,
    /// The node's part of the jitter, and the greatest of its group.
    jitter: [Duration; 2],
    /// The first search for peers.
    first_scan: Instant,
    the_one: bool,
}

impl<'n> Radios<'n> {
    /// Numbers the classes of radios by name and draws what differs from node to node.
    pub(crate) fn new(groups: &'n [Group], draws: Draws, seed: u64, tick: Option<Duration>) -> Self {
        let mut classes: BTreeMap<&str, u16> = BTreeMap::new();
        let mut dice = Dice::new(draws, seed);
        let mut nodes = Vec::new();
        for group in groups {
            let first = nodes.len();
            for _ in &group.nodes {
                let own = group.radios.iter().map(|radio| {
                    let next = u16::try_from(classes.len()).unwrap_or(u16::MAX);
                    let class = *classes.entry(&radio.name).or_insert(next);
                    let jitter = dice.jitter(radio.jitter_s);
                    let every = radio.scan_every.unwrap_or_default();
                    let first_scan = dice.first_scan(every);
                    let the_one = draws == Draws::TheOne;
                    Own { radio, class, jitter: [jitter; 2], first_scan, the_one }
                });
                let own: Vec<Own> = own.collect();
                nodes.push(own);
            }
            let all = nodes[first..].iter().flatten().map(|own: &Own| own.jitter[0]);
            let most = all.max().unwrap_or_default();
            nodes[first..].iter_mut().flatten().for_each(|own| own.jitter[1] = most);
        }
        Self { nodes, tick }
    }
    /// By node: class and range, for [`kinetic::encounters`].
    pub(crate) fn reach(&self) -> Vec<Vec<kinetic::Radio>> {
        let reach = |own: &Own| kinetic::Radio { class: own.class, range_m: own.radio.range_m };
        self.nodes.iter().map(|own| own.iter().map(reach).collect()).collect()
    }
    /// Whether rates depend on the distance.
    pub(crate) fn need_legs(&self) -> bool {
        self.nodes.iter().flatten().any(|own| !own.radio.rates.is_empty())
    }
    /// Of two radios of one class in a node the last counts for the rate.
    fn of(&self, node: NodeId, class: u16) -> Option<&Own<'n>> {
        self.nodes[node.0 as usize].iter().rev().find(|own| own.class == class)
    }
    /// The parts of encounters in which both radios are on and have found each other.
    pub(crate) fn active(&self, encounters: Vec<Encounter>, until: Instant) -> Vec<Encounter> {
        let plain = |own: &Own| own.radio.activity == Activity::Always && own.radio.scan_every.is_none();
        if self.nodes.iter().flatten().all(plain) {
            return encounters;
        }
        let spans: Vec<Vec<Vec<Span>>> =
            self.nodes.iter().map(|own| own.iter().map(|own| self.spans(own, until)).collect()).collect();
        let of = |node: NodeId, class: u16| {
            let at =
                self.nodes[node.0 as usize].iter().rposition(|own| own.class == class).unwrap_or_default();
            (&self.nodes[node.0 as usize][at], &spans[node.0 as usize][at][..])
        };
        let mut out = Vec::new();
        for encounter in encounters {
            let [(a, of_a), (b, of_b)] = [encounter.a, encounter.b].map(|node| of(node, encounter.class));
            for x in from(of_a, encounter.start).take_while(|span| span[0] < encounter.end) {
                for y in from(of_b, encounter.start.max(x[0])).take_while(|span| span[0] < x[1]) {
                    let start = encounter.start.max(x[0]).max(y[0]);
                    let found = self.next_scan(a, x[0], start).min(self.next_scan(b, y[0], start));
                    let end = encounter.end.min(x[1]).min(y[1]);
                    if found < end {
                        out.push(Encounter { start: found, end, ..encounter });
                    }
                }
            }
        }
        out.sort_unstable();
        out
    }
    /// When a radio is on: from the first instant to before the second, at ticks if there are any.
    fn spans(&self, own: &Own, until: Instant) -> Vec<Span> {
        let shift = |at: Duration, by: Duration| Instant::ZERO.saturating_add(at) - by;
        let [jitter, most] = own.jitter;
        let spans: Vec<Span> = match &own.radio.activity {
            Activity::Always => vec![[Instant::ZERO, Instant::MAX]],
            Activity::Spans(spans) => spans
                .iter()
                .map(|span| {
                    // The ONE's nodes of a group leave a span together: when it is over for the first of them.
                    let end = shift(span.high, if own.the_one { most } else { jitter });
                    [shift(span.low, jitter), end.saturating_add(Duration::from_nanos(1))]
                })
                .collect(),
            Activity::Periods { on, off, offset } => {
                let period = *on + *off;
                let passed = (*offset + jitter).as_nanos().rem_euclid(period.as_nanos().max(1));
                let first = Instant::ZERO - Duration::from_nanos(passed);
                let starts = std::iter::successors(Some(first), |at| Some(at.saturating_add(period)));
                starts.take_while(|at| *at <= until).map(|at| [at, at.saturating_add(*on)]).collect()
            }
        };
        let tick = |at: Instant| match self.tick {
            Some(tick) if at < Instant::MAX => at.max(Instant::ZERO).round_up(tick),
            _ => at.max(Instant::ZERO),
        };
        spans.into_iter().map(|span| span.map(tick)).filter(|span| span[0] < span[1]).collect()
    }
    /// The first search for peers from an instant on, of a radio that has been on since `on`.
    fn next_scan(&self, own: &Own, on: Instant, from: Instant) -> Instant {
        let Some(every) = own.radio.scan_every else { return from };
        // In The ONE the interval must be exceeded.
        let every = self.tick.map_or(every, |tick| {
            let at = (Instant::ZERO + every + Duration::from_nanos(1)).round_up(tick);
            at - Instant::ZERO
        });
        let first = if on > Instant::ZERO { on } else { own.first_scan };
        let first = self.tick.map_or(first, |tick| first.round_up(tick));
        if from <= first {
            return first;
        }
        let passed = (from - first).as_nanos() as u64;
        let rounds = passed.div_ceil(every.as_nanos().max(1) as u64) as i64;
        first.saturating_add(Duration::from_nanos(every.as_nanos().saturating_mul(rounds)))
    }
    /// Rate and course of an encounter; `legs` are those of all nodes where [`Radios::need_legs`].
    pub(crate) fn channel(&self, piece: &Piece, a: NodeId, b: NodeId, legs: &[Vec<Leg>]) -> Channel {
        let plain = Channel::steady(piece.rate, Delay::Constant(Duration::ZERO));
        if piece.steady {
            return plain;
        }
        let [Some(x), Some(y)] = [a, b].map(|node| self.of(node, piece.class)) else { return plain };
        let (x, y) = (x.radio, y.radio);
        if x.interference || y.interference {
            return Channel { course: Course::Interference, ..plain };
        }
        let range_m = x.range_m.min(y.range_m);
        let width_m = range_m / f64::from(BANDS);
        let rate = |band: u32| {
            let middle_m = (f64::from(band.min(BANDS - 1)) + 0.5) * width_m;
            x.rate_at(middle_m).min(y.rate_at(middle_m))
        };
        let [of_a, of_b] = [a, b].map(|node| &legs[node.0 as usize][..]);
        let mut rows: Vec<(Instant, BitRate)> = Vec::new();
        for (at, band) in distance::bands(of_a, of_b, piece.start, piece.end, width_m) {
            let row = (self.tick.map_or(at, |tick| at.round_up(tick)), rate(band));
            if rows.last().is_some_and(|last| last.0 == row.0) {
                rows.pop();
            }
            if rows.last().is_none_or(|last| last.1 != row.1) {
                rows.push(row);
            }
        }
        let Some(rate) = rows.iter().map(|row| row.1).max() else { return plain };
        let course = if rows.len() == 1 { Course::Steady } else { Course::Table(rows.into()) };
        Channel { rate, course, ..plain }
    }
    /// Where two nodes meet through several radios at once, there is one link at a time, and it has the fastest of them: a
    /// link is cut where a faster radio comes or goes.
    pub(crate) fn joined(&self, encounters: Vec<Encounter>) -> Vec<(NodeId, NodeId, Piece)> {
        let pieces = encounters.into_iter().map(|Encounter { start, end, a, b, class }| {
            let ends = [a, b].map(|node| self.of(node, class).map(|own| own.radio));
            let rate = ends.iter().map(|radio| radio.map_or(BitRate(0), |radio| radio.rate)).min();
            let steady = ends.iter().flatten().all(|radio| radio.is_steady());
            (a, b, Piece { start, end, rate: rate.unwrap_or_default(), class, steady })
        });
        if self.nodes.iter().all(|own| own.len() <= 1) {
            return pieces.collect();
        }
        let mut pairs: BTreeMap<(NodeId, NodeId), Vec<Piece>> = BTreeMap::new();
        for (a, b, piece) in pieces {
            pairs.entry((a, b)).or_default().push(piece);
        }
        pairs
            .into_iter()
            .flat_map(|((a, b), all)| fastest(all).into_iter().map(move |one| (a, b, one)))
            .collect()
    }
}

/// From the first instant to before the second.
type Span = [Instant; 2];

/// The spans that are not over at an instant.
fn from(spans: &[Span], at: Instant) -> impl Iterator<Item = &Span> {
    spans[spans.partition_point(|span| span[1] <= at)..].iter()
}

/// A contact through one class of radios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    rate: BitRate,
    class: u16,
    steady: bool,
}

/// At each moment the fastest of the pieces; neighbours of one rate are one piece.
fn fastest(pieces: Vec<Piece>) -> Vec<Piece> {
    if pieces.windows(2).all(|pair| pair[0].end <= pair[1].start) {
        return pieces;
    }
    let mut cuts: Vec<Instant> = pieces.iter().flat_map(|piece| [piece.start, piece.end]).collect();
    cuts.sort();
    cuts.dedup();
    let mut out: Vec<Piece> = Vec::new();
    for cut in cuts.windows(2) {
        let over = pieces.iter().filter(|piece| piece.start <= cut[0] && cut[1] <= piece.end);
        let Some(best) = over.max_by_key(|piece| piece.rate) else { continue };
        match out.last_mut() {
            Some(last)
                if last.end == cut[0]
                    && last.rate == best.rate
                    && (last.class == best.class || (last.steady && best.steady)) =>
            {
                last.end = cut[1];
            }
            _ => out.push(Piece { start: cut[0], end: cut[1], ..*best }),
        }
    }
    out
}

/// Draws of radios. The ONE draws from one generator with seed zero in every run.
enum Dice {
    Java(Random),
    Lightlag(Box<Stream>),
}

impl Dice {
    fn new(draws: Draws, seed: u64) -> Self {
        match draws {
            Draws::TheOne => Self::Java(Random::with_seed(0)),
            Draws::Lightlag => Self::Lightlag(Box::new(Stream::new(seed, "radios", 0))),
        }
    }
    fn jitter(&mut self, below_s: u32) -> Duration {
        let s = match self {
            _ if below_s == 0 => 0,
            Self::Java(random) => i64::from(random.next_int_n(i32::try_from(below_s).unwrap_or(i32::MAX))),
            Self::Lightlag(stream) => stream.below(u64::from(below_s)) as i64,
        };
        Duration::from_secs(s)
    }
    /// The ONE's draw is when the radio is taken to have searched last.
    fn first_scan(&mut self, every: Duration) -> Instant {
        let (share, last) = match self {
            Self::Java(random) => (random.next_double(), every + Duration::from_nanos(1)),
            Self::Lightlag(_) if every == Duration::ZERO => (0.0, Duration::ZERO),
            Self::Lightlag(stream) => (stream.unit(), Duration::ZERO),
        };
        Instant::from_secs_f64(every.as_secs_f64() * share).saturating_add(last)
    }
}

#[cfg(test)]
#[path = "radios_tests.rs"]
mod tests;
