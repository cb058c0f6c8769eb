//! From traffic sources to the messages of a run.

use super::error::{Error, Place, Result};
use super::model::{
    BundleNetwork, Draws, Generator, Group, Interval, ListedMessage, Message, Seed, Shape, Traffic,
    TrafficKind,
};
use crate::budget::bundles::created;
use java_random::Random;
use lightlag_protocols::dtn::{Bundle, BundleId, NodeId};
use lightlag_protocols::math;
use lightlag_protocols::rng::{Stream, mix};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use lightlag_worlds::messages::Reply;
use std::collections::BTreeSet;

/// More messages than any run means to create.
const MESSAGES_MAX: usize = 5_000_000;

/// Java's hash of a string, by which The ONE seeds a generator.
pub fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// All messages of a run, in order of creation; what is created at one instant, in order of sources. Then the messages that
/// answer them when they arrive.
///
/// # Errors
/// A source that creates more than any run can carry.
pub fn messages(scenario: &BundleNetwork, seed: Seed) -> Result<(Vec<Message>, Vec<Reply>)> {
    let until = scenario.head.until();
    let mut all: Vec<(ListedMessage, &Traffic)> = Vec::new();
    for traffic in &scenario.traffic {
        let created = match &traffic.kind {
            TrafficKind::Random(generator) => {
                let dice = Dice::new(generator, seed, scenario.head.seed_number(seed));
                let limits = Limits { until, tick: scenario.rules.tick, nodes: scenario.node_count() };
                generate(generator, dice, limits, &traffic.place)?
            }
            TrafficKind::Listed(list) => list.iter().filter(|message| message.at <= until).cloned().collect(),
        };
        if all.len() + created.len() > MESSAGES_MAX {
            return Err(too_many(&traffic.place));
        }
        all.extend(created.into_iter().map(|message| (message, traffic)));
    }
    all.sort_by_key(|(message, _)| message.at);
    // Who has vanished has no applications either.
    let vanish = scenario.vanishing(seed);
    all.retain(|(message, _)| vanish.get(message.from as usize).is_none_or(|&gone| message.at < gone));
    let lifetimes: Vec<Option<Duration>> = scenario
        .groups
        .iter()
        .flat_map(|group| std::iter::repeat_n(group.lifetime, group.nodes.len()))
        .collect();
    let lifetime_at = |node: u32, of_source: Option<Duration>| {
        let of_group = lifetimes.get(node as usize).copied().flatten();
        of_source.or(of_group).unwrap_or(Duration::MAX)
    };
    let mut messages = Vec::with_capacity(all.len());
    let mut answered = Vec::new();
    for ((message, source), id) in all.into_iter().zip(0..) {
        let lifetime = lifetime_at(message.from, message.lifetime.or(source.lifetime));
        let bundle = Bundle {
            id: BundleId(id),
            source: NodeId(message.from),
            destination: NodeId(message.to),
            size: message.size,
            created: message.at,
            expires: message.at.saturating_add(lifetime),
        };
        if let Some(replies) = &source.replies
            && let Some(size) = replies.size(message.to)
        {
            let lifetime = lifetime_at(message.to, source.lifetime);
            answered.push((size, Reply { request: bundle.id, kind: replies.kind, lifetime }));
        }
        messages.push(Message { name: message.name, bundle });
    }
    let replies = answered.iter().map(|(_, reply)| *reply).collect();
    for (size, reply) in answered {
        let request = &messages[reply.request.0 as usize];
        let Bundle { source, destination, .. } = request.bundle;
        let bundle = Bundle {
            id: BundleId(messages.len() as u32),
            source: destination,
            destination: source,
            size,
            created: Instant::MAX,
            expires: Instant::MAX,
        };
        messages.push(Message { name: format!("R_{}", request.name), bundle });
    }
    Ok((messages, replies))
}

fn too_many(place: &Place) -> Error {
    Error::new(
        place,
        format!("the traffic creates more than {MESSAGES_MAX} messages"),
        "lengthen the interval or shorten the run",
    )
}

/// Whose numbers are drawn.
enum Dice {
    Java(Random),
    Lightlag(Box<Stream>),
}

impl Dice {
    fn new(generator: &Generator, seed: Seed, number: u64) -> Self {
        let hash = i64::from(generator.seed.unwrap_or_else(|| java_hash(&generator.prefix))) as u64;
        match (generator.draws, seed) {
            (Draws::TheOne, Seed::Own) => Self::Java(Random::with_seed(hash)),
            (Draws::TheOne, Seed::Number(_)) => Self::Java(Random::with_seed(mix(mix(number) ^ hash))),
            (Draws::Lightlag, _) => {
                Self::Lightlag(Box::new(Stream::new(number, &format!("traffic {}", generator.prefix), 0)))
            }
        }
    }
    /// Uniform in `0..n`; zero without a draw where there is no choice, as The ONE does for bounds
    /// that are equal.
    fn below(&mut self, n: u64) -> u64 {
        match self {
            // The ONE's numbers fit 32 bits: its reader makes sure.
            Self::Java(random) => random.next_int_n(i32::try_from(n).unwrap_or(i32::MAX).max(1)) as u64,
            Self::Lightlag(stream) => stream.below(n.max(1)),
        }
    }
    fn unit(&mut self) -> f64 {
        match self {
            Self::Java(random) => random.next_double(),
            Self::Lightlag(stream) => stream.unit(),
        }
    }
    fn between(&mut self, low: u64, high: u64) -> u64 {
        if high > low { low + self.below(high - low) } else { low }
    }
    fn pick(&mut self, pool: &[u32]) -> u32 {
        // Indexing cannot fail: readers refuse empty pools.
        pool[self.below(pool.len() as u64) as usize]
    }
    /// As `java.util.Collections.shuffle`: from the end, each place with one at or before it.
    fn shuffle(&mut self, items: &mut [u32]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end as u64 + 1) as usize);
        }
    }
    fn interval(&mut self, interval: &Interval) -> Duration {
        match interval {
            Interval::WholeSeconds(bounds) => {
                let s = self.between(bounds.low, bounds.high);
                Duration::from_secs(i64::try_from(s).unwrap_or(i64::MAX / 1_000_000_000))
            }
            Interval::Uniform(bounds) => {
                let width = (bounds.high - bounds.low).as_secs_f64();
                bounds.low.saturating_add(Duration::from_secs_f64(width * self.unit()))
            }
            Interval::Exponential(mean) => {
                // 1 - u lies in (0, 1], where the logarithm is finite.
                Duration::from_secs_f64(-mean.as_secs_f64() * math::log(1.0 - self.unit()))
            }
        }
    }
}

/// What bounds the messages of a run.
#[derive(Clone, Copy)]
struct Limits {
    until: Instant,
    tick: Option<Duration>,
    nodes: u32,
}

/// A generator at work.
struct Source<'a> {
    generator: &'a Generator,
    dice: Dice,
    next: Instant,
    last: Instant,
    created: Vec<ListedMessage>,
    /// Messages drawn so far; those of nodes that do not exist are not created.
    count: usize,
    nodes: u32,
    place: &'a Place,
}

impl Source<'_> {
    fn advance(&mut self) {
        let step = self.dice.interval(&self.generator.interval);
        self.next = self.next.saturating_add(step);
    }
    fn open(&self) -> bool {
        self.next <= self.last
    }
    fn create(&mut self, from: u32, to: u32) -> Result<()> {
        if self.count >= MESSAGES_MAX {
            return Err(too_many(self.place));
        }
        self.count += 1;
        let size = self.dice.between(self.generator.size.low, self.generator.size.high);
        if from.max(to) >= self.nodes {
            return Ok(());
        }
        let name = match (self.generator.shape, self.generator.draws) {
            // Named as in The ONE, by the rounded second and the address.
            (Shape::Ping, Draws::TheOne) => {
                format!("{}{}-{from}", self.generator.prefix, (self.next.as_secs_f64() + 0.5).floor())
            }
            _ => format!("{}{}", self.generator.prefix, self.count),
        };
        self.created.push(ListedMessage { name, at: self.next, from, to, size: Bytes(size), lifetime: None });
        Ok(())
    }
}

fn generate(generator: &Generator, dice: Dice, limits: Limits, place: &Place) -> Result<Vec<ListedMessage>> {
    let Limits { until, tick, nodes } = limits;
    let (next, last, created) = (generator.start, until, Vec::new());
    let mut source = Source { generator, dice, next, last, created, count: 0, nodes, place };
    if generator.shape != Shape::Ping {
        source.advance();
    }
    match generator.shape {
        Shape::Ping => pings(&mut source, tick)?,
        Shape::Pairs => pairs(&mut source)?,
        Shape::Burst => bursts(&mut source)?,
        Shape::OneFromEach => one_each(&mut source, &generator.from, false)?,
        Shape::OneToEach => one_each(&mut source, &generator.to, true)?,
    }
    Ok(source.created)
}

fn pairs(source: &mut Source) -> Result<()> {
    let generator = source.generator;
    while source.open() {
        let from = source.dice.pick(&generator.from);
        let mut to = source.dice.pick(&generator.to);
        while to == from {
            to = source.dice.pick(&generator.to);
        }
        source.create(from, to)?;
        source.advance();
        source.last = source.last.min(generator.end);
    }
    Ok(())
}

fn bursts(source: &mut Source) -> Result<()> {
    let generator = source.generator;
    // The ONE continues after the last destination where it is the source itself: to the host behind it, or, if destinations
    // begin with host 0, to the next burst.
    let last = generator.to.last().filter(|_| generator.draws == Draws::TheOne);
    while source.open() {
        for &from in &generator.from {
            for &to in generator.to.iter().filter(|&&to| to != from) {
                source.create(from, to)?;
            }
            match generator.to.first() {
                Some(0) if last == Some(&from) => break,
                Some(_) if last == Some(&from) => source.create(from, from + 1)?,
                _ => {}
            }
        }
        source.advance();
        source.last = source.last.min(generator.end);
    }
    Ok(())
}

/// All sources ping at the first tick at which their interval has passed since they last did. As in The ONE, each has
/// the same numbers to draw, and may draw itself.
fn pings(source: &mut Source, tick: Option<Duration>) -> Result<()> {
    let generator = source.generator;
    let rounded = |at: Instant| match tick {
        // Nothing happens before the first tick.
        Some(tick) => at.round_up(tick).max(Instant::ZERO + tick),
        None => at.max(Instant::ZERO),
    };
    loop {
        let step = match &generator.interval {
            // Bounds that are equal are no draw.
            Interval::Uniform(bounds) if bounds.low == bounds.high => bounds.low,
            interval => source.dice.interval(interval),
        };
        source.next = rounded(source.next.saturating_add(step));
        source.last = source.last.min(generator.end);
        if !source.open() {
            return Ok(());
        }
        let shared = source.dice.pick(&generator.to);
        for &from in &generator.from {
            let mut to = shared;
            if generator.draws == Draws::Lightlag {
                to = source.dice.pick(&generator.to);
                while to == from {
                    to = source.dice.pick(&generator.to);
                }
            }
            source.create(from, to)?;
        }
    }
}

/// One message for each of `each`, its other end drawn. As The ONE: one that meets itself is
/// skipped for the next, and the interval is drawn before the size.
fn one_each(source: &mut Source, each: &[u32], to_each: bool) -> Result<()> {
    let generator = source.generator;
    let mut waiting = each.to_vec();
    source.dice.shuffle(&mut waiting);
    let mut waiting = waiting.into_iter().peekable();
    while let Some(mut one) = waiting.next() {
        if !source.open() {
            break;
        }
        let other = source.dice.pick(if to_each { &generator.from } else { &generator.to });
        if other == one {
            match waiting.next() {
                Some(next) => one = next,
                None => break,
            }
        }
        let at = source.next;
        if waiting.peek().is_some() {
            source.advance();
        }
        let next = std::mem::replace(&mut source.next, at);
        let (from, to) = if to_each { (other, one) } else { (one, other) };
        source.create(from, to)?;
        source.next = next;
    }
    Ok(())
}

/// Refuses a source that would create more messages than a run can carry, before any is drawn.
///
/// # Errors
/// If it would.
pub fn check_amount(traffic: &Traffic, duration: Duration) -> Result<()> {
    let TrafficKind::Random(generator) = &traffic.kind else { return Ok(()) };
    let once = matches!(generator.shape, Shape::OneFromEach | Shape::OneToEach);
    let too_much = !once && created(traffic, duration) > MESSAGES_MAX as f64;
    if too_much { Err(too_many(&traffic.place)) } else { Ok(()) }
}

/// Whether a source would create messages without end: its intervals can only be zero.
pub fn never_advances(interval: &Interval) -> bool {
    match interval {
        Interval::WholeSeconds(bounds) => bounds.high == 0 || (bounds.low == 0 && bounds.high == 1),
        Interval::Uniform(bounds) => bounds.high == Duration::ZERO,
        Interval::Exponential(mean) => *mean == Duration::ZERO,
    }
}

/// The first source whose prefix is that of an earlier one. A prefix names a random stream and messages: two
/// sources with one would create twins.
pub fn one_prefix(traffic: &[Traffic]) -> Option<&Traffic> {
    let mut known = BTreeSet::new();
    traffic.iter().find(|source| match &source.kind {
        TrafficKind::Random(generator) => !known.insert(&generator.prefix),
        TrafficKind::Listed(_) => false,
    })
}

/// Whether a source could look for another destination for ever. Where each node has one message, the one that would send to
/// itself is skipped.
pub fn only_meets_itself(generator: &Generator) -> bool {
    if matches!(generator.shape, Shape::OneFromEach | Shape::OneToEach) {
        return false;
    }
    let single = generator.to.first().filter(|first| generator.to.iter().all(|to| to == *first));
    single.is_some_and(|to| generator.from.contains(to))
}

/// Messages of `size` must fit into some buffer.
pub fn check_fit(traffic: &Traffic, size: Bytes, groups: &[Group]) -> Result<()> {
    let buffer = groups.iter().map(|group| group.buffer).max().unwrap_or_default();
    if size <= buffer {
        return Ok(());
    }
    traffic.place.refuse(
        format!("messages of {size:?} fit in no buffer ({buffer:?} at most)"),
        "send smaller messages or enlarge a buffer",
    )
}

impl Traffic {
    /// Sizes of replies.
    fn replies(&self) -> impl Iterator<Item = Bytes> {
        self.replies.iter().flat_map(|replies| replies.by.iter().map(|(_, size)| *size))
    }
    /// The smallest message that it can create, or that answers one.
    pub fn smallest(&self) -> Bytes {
        let created = match &self.kind {
            TrafficKind::Random(generator) => Bytes(generator.size.low),
            TrafficKind::Listed(list) => list.iter().map(|message| message.size).min().unwrap_or_default(),
        };
        self.replies().fold(created, Bytes::min)
    }
    /// The largest message that it can create, or that answers one.
    pub fn largest(&self) -> Bytes {
        let created = match &self.kind {
            TrafficKind::Random(generator) => {
                let Generator { size, .. } = generator;
                Bytes(if size.high > size.low { size.high - 1 } else { size.low })
            }
            TrafficKind::Listed(list) => list.iter().map(|message| message.size).max().unwrap_or_default(),
        };
        self.replies().fold(created, Bytes::max)
    }
}

#[cfg(test)]
mod tests {
    use super::super::quantity::Bounds;
    use super::*;

    pub fn generator(prefix: &str) -> Generator {
        Generator {
            prefix: prefix.to_owned(),
            shape: Shape::Pairs,
            interval: Interval::WholeSeconds(Bounds { low: 1, high: 300 }),
            size: Bounds { low: 50_000, high: 100_000 },
            from: (0..50).collect(),
            to: (0..50).collect(),
            start: Instant::ZERO,
            end: Instant::MAX,
            draws: Draws::TheOne,
            seed: None,
        }
    }
    fn run(generator: &Generator, seed: Seed) -> Vec<ListedMessage> {
        let number = if let Seed::Number(number) = seed { number } else { 0 };
        let dice = Dice::new(generator, seed, number);
        let limits = Limits { until: Instant::from_secs(14_400), tick: None, nodes: 50 };
        generate(generator, dice, limits, &Place::File("f".into())).unwrap()
    }

    #[test]
    fn java_hashes_strings_like_java() {
        assert_eq!((java_hash(""), java_hash("M1_"), java_hash("Hello")), (0, 75_611, 69_609_650));
    }

    #[test]
    fn the_ones_prefixes_create_as_many_messages_as_in_the_one() {
        let counts: Vec<usize> =
            (1..=5).map(|n| run(&generator(&format!("M{n}_")), Seed::Own).len()).collect();
        assert_eq!(counts, [99, 87, 89, 98, 92]);
    }

    #[test]
    fn messages_of_nodes_that_do_not_exist_are_drawn_and_left_out() {
        let few = run(&generator("M1_"), Seed::Own);
        let wide = Generator { from: (0..60).collect(), to: (0..60).collect(), ..generator("M1_") };
        let some = run(&wide, Seed::Own);
        assert!(some.len() < few.len() && some.iter().all(|m| m.from < 50 && m.to < 50));
        let last = some.last().unwrap();
        assert!(few.iter().any(|m| m.at > last.at) || last.name.ends_with(&few.len().to_string()));
        assert_ne!(last.name, format!("M1_{}", some.len()), "numbers count what is skipped");
    }

    #[test]
    fn another_seed_changes_the_traffic_and_the_same_seed_repeats_it() {
        let generator = generator("M1_");
        assert_ne!(run(&generator, Seed::Own), run(&generator, Seed::Number(1)));
        assert_ne!(run(&generator, Seed::Number(2)), run(&generator, Seed::Number(1)));
        assert_eq!(run(&generator, Seed::Number(1)), run(&generator, Seed::Number(1)));
    }

    #[test]
    fn sources_differ_from_destinations_and_draws_stay_within_their_bounds() {
        for draws in [Draws::TheOne, Draws::Lightlag] {
            let messages = run(&Generator { draws, ..generator("x") }, Seed::Number(3));
            assert!(messages.iter().all(|m| m.from != m.to && (50_000..100_000).contains(&m.size.0)));
            assert!(messages.windows(2).all(|pair| {
                let gap = (pair[1].at - pair[0].at).as_secs_f64();
                (1.0..300.0).contains(&gap) && gap.fract() == 0.0
            }));
        }
    }

    #[test]
    fn poisson_arrivals_have_their_mean() {
        let interval = Interval::Exponential(Duration::from_secs(10));
        let count =
            run(&Generator { interval, draws: Draws::Lightlag, ..generator("p") }, Seed::Number(1)).len();
        assert!((1300..1600).contains(&count), "{count} arrivals where 1440 are expected");
    }

    #[test]
    fn a_burst_sends_every_pair_and_the_each_shapes_use_every_node_once() {
        let few = Generator { from: vec![0, 1, 2], to: vec![0, 1, 2], ..generator("b") };
        let burst = run(&Generator { shape: Shape::Burst, ..few.clone() }, Seed::Own);
        assert_eq!(burst.iter().filter(|m| m.at == burst[0].at).count(), 6);
        let pairs = |from: &[u32], to: &[u32]| {
            let few =
                Generator { from: from.to_vec(), to: to.to_vec(), shape: Shape::Burst, ..generator("b") };
            let all = run(&few, Seed::Own);
            let first: Vec<(u32, u32)> =
                all.iter().filter(|m| m.at == all[0].at).map(|m| (m.from, m.to)).collect();
            first
        };
        // As The ONE, whose destinations continue where the last of them is the source.
        assert_eq!(pairs(&[2, 3], &[2, 3]), [(2, 3), (3, 2), (3, 4)]);
        assert_eq!(pairs(&[0, 1, 2], &[0, 1]), [(0, 1), (1, 0)]);
        let sink =
            Generator { from: vec![0, 1, 2], to: vec![2], shape: Shape::OneFromEach, ..generator("s") };
        let mut to_sink: Vec<(u32, u32)> = run(&sink, Seed::Own).iter().map(|m| (m.from, m.to)).collect();
        to_sink.sort_unstable();
        assert!(!only_meets_itself(&sink) && to_sink == [(0, 2), (1, 2)], "{to_sink:?}");
        let apart = Generator { from: vec![0, 1, 2], to: vec![7, 8], ..generator("b") };
        let mut froms: Vec<u32> = run(&Generator { shape: Shape::OneFromEach, ..apart.clone() }, Seed::Own)
            .iter()
            .map(|m| m.from)
            .collect();
        froms.sort_unstable();
        assert_eq!(froms, [0, 1, 2]);
        let tos = run(&Generator { shape: Shape::OneToEach, ..apart }, Seed::Own);
        assert_eq!(tos.len(), 2);
    }

    #[test]
    fn the_window_bounds_all_messages_but_the_first() {
        let window =
            Generator { start: Instant::from_secs(1000), end: Instant::from_secs(2000), ..generator("w") };
        let messages = run(&window, Seed::Own);
        assert!(messages.len() > 2);
        assert!(messages[1..].iter().all(|m| (1000.0..=2000.0).contains(&m.at.as_secs_f64())));
    }
}
