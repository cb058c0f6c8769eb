//! What a run of bundles takes: motion, contacts, messages, transfers, buffers.

use super::{Estimate, Item};
use crate::radios::BANDS;
use crate::{BundleNetwork, Generator, Group, Interval, Shape, Traffic, TrafficKind};
use crate::{Place, ScheduledContact};
use lightlag_protocols::dtn::Radio as Radios;
use lightlag_protocols::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// A leg or a cell entered, in events.
const MOVE: f64 = 0.2;
/// A look at two nodes that may be in range.
const LOOK: f64 = 0.02;
/// A bundle that a node looks at when it has time to send.
const OFFER: f64 = 0.001;
/// An entry of a table that routers exchange at a contact.
const TOLD: f64 = 0.005;
/// A contact that a router of contact plans weighs for a bundle.
const WEIGHED: f64 = 0.1;
/// Events of a contact, and of a transfer with what becomes of the copy.
const PER_CONTACT: f64 = 3.0;
const PER_TRANSFER: f64 = 4.0;
/// What full buffers drop comes again, as often during a contact.
const AGAIN: f64 = 8.0;
/// Or as often as there is time for, up to this many transfers.
const AGAIN_LEAST: f64 = 1e8;

const NODE_BYTES: f64 = 3_000.0;
const CONTACT_BYTES: f64 = 250.0;
const MESSAGE_BYTES: f64 = 300.0;
const COPY_BYTES: f64 = 150.0;
const SAMPLE_BYTES: f64 = 64.0;
/// A time when a radio is on, and a change of a rate: rows of tables. A leg, where distances are computed again.
const SPAN_BYTES: f64 = 32.0;
const RATE_BYTES: f64 = 50.0;
const LEG_BYTES: f64 = 96.0;
/// A recorded position.
const FIX_BYTES: f64 = 24.0;
/// Events of a change of a rate.
const PER_RATE: f64 = 2.0;

/// Where the tables of a scenario stand.
pub type Places<'a> = &'a dyn Fn(&str) -> Place;

/// What a run of a scenario takes; its maps and seeds are not looked at.
pub fn estimate(scenario: &BundleNetwork, places: Places) -> Estimate {
    let run = Run::of(scenario);
    let (motion, contacts, messages) = (run.motion(), run.contacts(), run.messages());
    let mut estimate = Estimate::default();
    let mut add = |key: &str, what: String, less, events, bytes| {
        estimate.add(Item { place: places(key), what, less, events, bytes });
    };
    let nodes = run.nodes;
    add(
        "nodes",
        format!("there are {nodes:.1e} nodes with what their routers know"),
        "name fewer nodes",
        nodes,
        nodes * NODE_BYTES + run.tables_bytes(&contacts, &messages),
    );
    add(
        "nodes",
        format!("{nodes:.1e} nodes make {:.1e} moves", motion.moves),
        "write lower speeds, wider ranges, longer legs and pauses, or less time",
        motion.moves * MOVE + motion.looks * LOOK,
        run.recorded() * FIX_BYTES,
    );
    add(
        "nodes",
        format!("there are {:.1e} contacts", contacts.count),
        "name fewer nodes, lower speeds, smaller ranges or less time",
        contacts.count * (PER_CONTACT + run.told_per_contact()),
        contacts.count * CONTACT_BYTES,
    );
    add(
        "nodes",
        format!(
            "radios switch on {:.1e} times, and their rates change {:.1e} times",
            contacts.spans, contacts.rates
        ),
        "write longer times `on` and `off`, fewer nodes, lower speeds or less time",
        contacts.spans * MOVE + contacts.rates * PER_RATE,
        contacts.spans * SPAN_BYTES + contacts.rates * RATE_BYTES + run.kept_legs() * LEG_BYTES,
    );
    add(
        "traffic",
        format!("{:.1e} messages are created", messages.count),
        "lengthen the interval or shorten the run",
        messages.count * (2.0 + run.weighed_per_message()),
        messages.count * MESSAGE_BYTES + run.copies(&messages) * COPY_BYTES,
    );
    let transfers = run.transfers(&contacts, &messages);
    let slots = run.slots(&messages);
    add(
        "traffic",
        format!("{transfers:.1e} transfers of bundles fit into the contacts"),
        "write larger messages, lower rates, shorter lifetimes or less time",
        transfers * (PER_TRANSFER + slots * OFFER + run.interference(&contacts)),
        slots * slots * 2.0,
    );
    let times = |every: Option<Duration>| every.map_or(0.0, |every| run.lasts_s / every.as_secs_f64());
    let samples = times(scenario.rules.sample_every) * nodes;
    add(
        "world.sample_every",
        format!("`world.sample_every` makes {samples:.1e} samples of nodes"),
        "let more time pass between them",
        samples,
        samples * SAMPLE_BYTES,
    );
    let positions = times(scenario.positions_every) * nodes;
    add(
        "world.positions_every",
        format!("`world.positions_every` makes {positions:.1e} positions in a trace"),
        "let more time pass between them",
        positions,
        0.0,
    );
    let purges = times(scenario.rules.purge_every);
    add(
        "world.purge_every",
        format!("`world.purge_every` makes {purges:.1e} purges"),
        "let more time pass between them",
        purges * (1.0 + nodes * LOOK),
        0.0,
    );
    estimate
}

struct Run<'s> {
    scenario: &'s BundleNetwork,
    nodes: f64,
    lasts_s: f64,
    moved_s: f64,
    tick_s: f64,
    movers: Vec<Mover>,
}

/// How the nodes of a group move.
struct Mover {
    count: f64,
    legs_per_s: f64,
    /// Draws of a leg.
    tries: f64,
    speed: f64,
    /// None: anywhere.
    area: Option<[f64; 2]>,
    crowding: f64,
}

struct Motion {
    moves: f64,
    looks: f64,
}

#[derive(Default)]
struct Meetings {
    count: f64,
    /// Links that are up at once.
    simultaneous: f64,
    /// Bytes that fit into them all.
    capacity: f64,
    /// Times when radios are on, those of all nodes.
    spans: f64,
    /// Changes of the rates of contacts.
    rates: f64,
}

struct Messages {
    count: f64,
    /// At once.
    alive: f64,
    smallest: f64,
    largest: f64,
}

impl<'s> Run<'s> {
    fn of(scenario: &'s BundleNetwork) -> Self {
        let lasts_s = scenario.head.duration.as_secs_f64();
        let tick_s = scenario.rules.tick.map_or(0.0, Duration::as_secs_f64);
        let movers = scenario.groups.iter().map(|group| Mover::of(group, tick_s, lasts_s)).collect();
        Self {
            scenario,
            nodes: f64::from(scenario.node_count()),
            lasts_s,
            moved_s: lasts_s + scenario.movement.warmup.as_secs_f64(),
            tick_s,
            movers,
        }
    }

    /// Radios of each class: how many, how far they reach, their rate, how fast they go and within what area.
    fn classes(&self) -> Vec<Class> {
        let mut classes: BTreeMap<&str, Class> = BTreeMap::new();
        let connects = self.scenario.movement.radios_connect;
        for (group, mover) in self.scenario.groups.iter().zip(&self.movers).filter(|_| connects) {
            for radio in &group.radios {
                let class = classes.entry(&radio.name).or_default();
                let area = mover.area.unwrap_or([0.0, 0.0]);
                class.count += mover.count;
                class.range_m = class.range_m.max(radio.range_m);
                class.bytes_per_s = class.bytes_per_s.max(radio.rate.0 as f64 / 8.0);
                class.speed = class.speed.max(mover.speed);
                class.legs_per_s = class.legs_per_s.max(mover.legs_per_s);
                class.area = [class.area[0].max(area[0]), class.area[1].max(area[1])];
                class.parts.push(Part {
                    count: mover.count,
                    area_m2: (area[0] * area[1]).max(1e-12),
                    crowding: mover.crowding,
                    approach: mover.speed * mover.crowding,
                    legs_per_s: mover.legs_per_s,
                });
                class.spans = class.spans.max(radio.activity.spans(self.scenario.head.duration));
                class.by_distance |= !radio.rates.is_empty();
                class.moving += mover.count * mover.legs_per_s;
                class.travelled += mover.count * mover.speed;
            }
        }
        classes.into_values().collect()
    }

    fn motion(&self) -> Motion {
        let (mut moves, mut looks) = (0.0, 0.0);
        for mover in &self.movers {
            moves += mover.count * (1.0 + mover.legs_per_s * mover.tries * self.moved_s);
        }
        for class in self.classes() {
            let side = class.side();
            let [width, height] = class.area;
            let cells = (width / side).ceil().max(1.0) * (height / side).ceil().max(1.0);
            let around = class.count * (9.0 / cells).min(1.0) * class.spread().min(cells);
            // A border for each side walked, along two axes.
            let crossed = if cells <= 1.0 { 0.0 } else { class.travelled * 1.5 / side * self.lasts_s };
            moves += crossed;
            looks += (class.moving * self.lasts_s + crossed + class.count) * around.min(class.count);
        }
        Motion { moves, looks }
    }

    fn contacts(&self) -> Meetings {
        let mut all = Meetings::default();
        for class in self.classes() {
            let [width, height] = class.area;
            let always = class.range_m >= width.hypot(height);
            let ticks = if self.tick_s > 0.0 { self.lasts_s / self.tick_s } else { f64::INFINITY };
            let (mut count, mut up, mut close) = (0.0, 0.0, 0.0);
            for (pairs, both) in class.pairs() {
                let near = (both.crowding * PI * class.range_m * class.range_m / both.area_m2).min(1.0);
                // A moving node sweeps a strip of twice the range; both may move.
                let per_s = 4.0 * class.range_m * both.approach / both.area_m2;
                // Two legs have one contact at most; a contact lasts for a tick at least.
                let most = (2.0 * both.legs_per_s).min(ticks / self.lasts_s);
                let again = if always { 0.0 } else { per_s.min(most) * self.lasts_s };
                let begun = if always { 1.0 } else { (2.0 * near).min(1.0) };
                let begun_up = pairs * begun.max(near);
                up += begun_up;
                close += pairs * near;
                // A contact is cut where either radio switches.
                count += pairs * (begun + again) + begun_up * (2.0 * class.spans).min(ticks);
            }
            all.count += count;
            all.spans += class.count * class.spans;
            if class.by_distance {
                all.rates += class.rate_changes(count, close, self.lasts_s);
            }
            all.simultaneous += up;
            let busy = match self.scenario.rules.radio {
                Radios::Node => up.min(class.count / 2.0),
                Radios::Link => up,
                Radios::Direction => 2.0 * up,
            };
            all.capacity += busy * self.lasts_s * class.bytes_per_s;
        }
        let told = self
            .scenario
            .contacts
            .iter()
            .filter(|source| source.happens)
            .flat_map(|source| source.list.iter());
        for ScheduledContact { start, end, forward, backward, .. } in told {
            let span_s = (*end - *start).as_secs_f64();
            all.count += 1.0;
            all.simultaneous += span_s / self.lasts_s;
            all.capacity += span_s * (forward.rate.0 as f64 + backward.rate.0 as f64) / 8.0;
        }
        all
    }

    /// Recorded positions; groups that share a file share them, and are counted as if they did not.
    fn recorded(&self) -> f64 {
        let tracks = self.scenario.groups.iter().filter_map(|group| group.mobility.as_ref()?.tracks.as_ref());
        tracks.map(|tracks| tracks.positions() as f64).sum()
    }

    /// Legs of all nodes, where rates depend on the distance.
    fn kept_legs(&self) -> f64 {
        let by_distance =
            self.scenario.groups.iter().flat_map(|group| &group.radios).any(|radio| !radio.rates.is_empty());
        let legs = self.movers.iter().map(|mover| mover.count * (1.0 + mover.legs_per_s * self.moved_s));
        if by_distance { legs.sum() } else { 0.0 }
    }

    /// Changes of rates for each transfer, in events, where transmitters interfere.
    fn interference(&self, contacts: &Meetings) -> f64 {
        let mut radios = self.scenario.groups.iter().flat_map(|group| &group.radios);
        let near = 1.0 + 2.0 * contacts.simultaneous / self.nodes.max(1.0);
        if radios.any(|radio| radio.interference) { 2.0 * PER_RATE * near } else { 0.0 }
    }

    fn messages(&self) -> Messages {
        let mut all = Messages { count: 0.0, alive: 0.0, smallest: f64::INFINITY, largest: 0.0 };
        for traffic in &self.scenario.traffic {
            let count = created(traffic, self.scenario.head.duration);
            let of_groups = self.scenario.groups.iter().map(|group| group.lifetime);
            let lifetime =
                traffic.lifetime.or_else(|| of_groups.max_by_key(|l| l.unwrap_or(Duration::MAX))?);
            let lifetime_s = lifetime.unwrap_or(Duration::MAX).as_secs_f64();
            all.count += count;
            all.alive += count.min((count * (lifetime_s / self.lasts_s).min(1.0)).max(1.0));
            all.smallest = all.smallest.min(traffic.smallest().0 as f64);
            all.largest = all.largest.max(traffic.largest().0 as f64);
        }
        all.smallest = all.smallest.max(1.0);
        all
    }

    /// Bundles in a buffer at most.
    fn slots(&self, messages: &Messages) -> f64 {
        let buffer = self.scenario.groups.iter().map(|group| group.buffer).max().unwrap_or_default();
        (buffer.0 as f64 / messages.smallest + 1.0).min(messages.alive)
    }

    /// Copies of all bundles at once.
    fn copies(&self, messages: &Messages) -> f64 {
        let room = |group: &Group| {
            let slots = (group.buffer.0 as f64 / messages.smallest + 1.0).min(messages.alive);
            group.nodes.len() as f64 * slots
        };
        let each = self.scenario.groups.iter().map(copies_of_each).fold(1.0, f64::max);
        self.scenario.groups.iter().map(room).sum::<f64>().min(messages.alive * each)
    }

    fn transfers(&self, contacts: &Meetings, messages: &Messages) -> f64 {
        let ticks = if self.tick_s > 0.0 {
            contacts.simultaneous * 2.0 * self.lasts_s / self.tick_s
        } else {
            f64::INFINITY
        };
        let capacity = (contacts.capacity / messages.smallest).min(ticks + contacts.count) + contacts.count;
        let buffer = self.scenario.groups.iter().map(|group| group.buffer).min().unwrap_or_default();
        let wanted = 2.0 * (contacts.count * messages.alive + contacts.simultaneous * messages.count);
        // At times more messages are alive than on average.
        let peak = (messages.alive + 4.0 * messages.alive.sqrt() + 3.0).min(messages.count);
        let is_full = peak * messages.largest > buffer.0 as f64;
        capacity.min(if is_full { (AGAIN * wanted).max(AGAIN_LEAST) } else { wanted })
    }

    /// Table entries that routers exchange when two meet, in events.
    fn told_per_contact(&self) -> f64 {
        let per_router = self.scenario.groups.iter().map(|group| match &*group.router.entry.name {
            "prophet" | "prophet_v2" => self.nodes,
            "max_prop" => self.nodes * self.nodes,
            _ => 0.0,
        });
        per_router.fold(0.0, f64::max) * TOLD
    }

    fn weighed_per_message(&self) -> f64 {
        let plans = self.scenario.groups.iter().any(Group::insists_on_plan);
        let told: usize = self.scenario.contacts.iter().map(|source| source.list.len()).sum();
        if plans { told as f64 * WEIGHED } else { 0.0 }
    }

    /// What nodes know of each other and of bundles.
    fn tables_bytes(&self, contacts: &Meetings, messages: &Messages) -> f64 {
        let met = (1.0 + 2.0 * contacts.simultaneous / self.nodes.max(1.0)).min(self.nodes);
        let per_node = self.scenario.groups.iter().map(|group| {
            let each = match &*group.router.entry.name {
                "prophet" | "prophet_v2" => self.nodes * (40.0 + 8.0 * met),
                "max_prop" => {
                    let known = (2.0 * contacts.count / self.nodes.max(1.0)).min(self.nodes);
                    self.nodes * (80.0 + 16.0 * known + 8.0 * met)
                }
                _ => 0.0,
            };
            each * group.nodes.len() as f64
        });
        // Sets of bundles, a bit each.
        per_node.sum::<f64>() + self.nodes * messages.count / 4.0
    }
}

#[derive(Default)]
struct Class {
    count: f64,
    range_m: f64,
    bytes_per_s: f64,
    speed: f64,
    legs_per_s: f64,
    area: [f64; 2],
    moving: f64,
    travelled: f64,
    /// Its groups.
    parts: Vec<Part>,
    /// Times when the radio of a node is on.
    spans: f64,
    /// Whether rates depend on the distance.
    by_distance: bool,
}

/// Nodes of a group, or of two of which one meets the other.
#[derive(Clone, Copy)]
struct Part {
    count: f64,
    area_m2: f64,
    /// How much more often nodes meet than they would if they were spread evenly.
    crowding: f64,
    /// The speed of nodes that are spread evenly and meet as often.
    approach: f64,
    legs_per_s: f64,
}

impl Class {
    /// The whole area, in areas of the group with the smallest.
    fn spread(&self) -> f64 {
        let least = self.parts.iter().map(|part| part.area_m2).fold(f64::INFINITY, f64::min);
        ((self.area[0] * self.area[1]).max(1e-12) / least).max(1.0)
    }
    /// How many pairs of nodes there are within each group and between two, and how they move. Nodes of a corner of the world
    /// meet each other more often than those that pass.
    fn pairs(&self) -> impl Iterator<Item = (f64, Part)> {
        let within = |part: &Part| (part.count * (part.count - 1.0).max(0.0) / 2.0, *part);
        let between = move |(at, one): (usize, &Part)| {
            let one = *one;
            self.parts[at + 1..].iter().map(move |other| {
                let both = Part {
                    count: one.count + other.count,
                    area_m2: one.area_m2.max(other.area_m2),
                    crowding: one.crowding.max(other.crowding),
                    approach: one.approach.max(other.approach),
                    legs_per_s: one.legs_per_s.max(other.legs_per_s),
                };
                (one.count * other.count, both)
            })
        };
        self.parts.iter().map(within).chain(self.parts.iter().enumerate().flat_map(between))
    }
    /// Changes of the rates of `count` contacts, of which `up` are up on average: one for each band that two nodes cross
    /// as they approach and leave each other, at about the speed of one, and on a straight line twice the bands at most.
    fn rate_changes(&self, count: f64, up: f64, lasts_s: f64) -> f64 {
        let bands = f64::from(BANDS);
        let by_legs = 2.0 * bands * (count + 2.0 * up * self.legs_per_s * lasts_s);
        let by_distance = up * self.speed * lasts_s * bands / self.range_m;
        2.0 * count + by_legs.min(by_distance)
    }
    /// Of a cell of the grid in which nodes look for each other.
    fn side(&self) -> f64 {
        let mut side = self.range_m + 1e-3;
        let [width, height] = self.area;
        let cells = |extent: f64, side: f64| (extent / side).ceil().max(1.0);
        while cells(width, side) * cells(height, side) > 2.0 * self.count + 16.0 {
            side *= 1.25;
        }
        side
    }
}

impl Mover {
    fn of(group: &Group, tick_s: f64, lasts_s: f64) -> Self {
        let count = group.nodes.len() as f64;
        let Some(mobility) = &group.mobility else {
            return Self { count, legs_per_s: 0.0, tries: 1.0, speed: 0.0, area: None, crowding: 1.0 };
        };
        if let Some(tracks) = &mobility.tracks {
            // Of each node of the file, over the whole run.
            let node_s = tracks.list.len().max(1) as f64 * lasts_s;
            let (legs_per_s, speed) = (tracks.positions() as f64 / node_s, tracks.length_m / node_s);
            return Self { count, legs_per_s, tries: 1.0, speed, area: Some(tracks.sides_m), crowding: 1.0 };
        }
        let pace = (mobility.entry.pace)(&mobility.parameters);
        let speed = pace.speed_m_per_s;
        // With ticks, no journey with its pause is shorter than one.
        let journey_s = (pace.journey_m / speed.max(1e-300) + pace.pause_s).max(1e-15).max(tick_s);
        let area = Some([pace.area.width_m, pace.area.height_m]);
        let (tries, crowding) = (pace.tries, pace.crowding);
        Self { count, legs_per_s: pace.legs / journey_s, tries, speed, area, crowding }
    }
}

/// Copies of a bundle that a router makes.
fn copies_of_each(group: &Group) -> f64 {
    let router = &group.router;
    match &*router.entry.name {
        "direct" | "first_contact" => 2.0,
        "spray_and_wait" if router.entry.parameters.iter().any(|known| known.name == "copies") => {
            router.parameters.number("copies") + 1.0
        }
        _ => f64::INFINITY,
    }
}

/// Messages of a source and replies to them.
pub fn created(traffic: &Traffic, duration: Duration) -> f64 {
    requests(traffic, duration) * if traffic.replies.is_some() { 2.0 } else { 1.0 }
}

fn requests(traffic: &Traffic, duration: Duration) -> f64 {
    let generator = match &traffic.kind {
        TrafficKind::Listed(list) => return list.len() as f64,
        TrafficKind::Random(generator) => generator,
    };
    let (from, to) = (generator.from.len() as f64, generator.to.len() as f64);
    match generator.shape {
        Shape::OneFromEach => from,
        Shape::OneToEach => to,
        Shape::Pairs => intervals(generator, duration),
        Shape::Burst => intervals(generator, duration) * from * to,
        Shape::Ping => intervals(generator, duration) * from,
    }
}

/// Times that a generator creates something.
fn intervals(generator: &Generator, duration: Duration) -> f64 {
    let mean_s = match &generator.interval {
        Interval::WholeSeconds(bounds) if bounds.low == bounds.high => bounds.low as f64,
        Interval::WholeSeconds(bounds) => (bounds.low as f64 + bounds.high as f64 - 1.0) / 2.0,
        Interval::Uniform(bounds) => (bounds.low.as_secs_f64() + bounds.high.as_secs_f64()) / 2.0,
        Interval::Exponential(mean) => mean.as_secs_f64(),
    };
    let end = generator.end.min(Instant::ZERO.saturating_add(duration));
    let span_s = end.as_secs_f64() - generator.start.as_secs_f64();
    (span_s / mean_s).max(1.0)
}
