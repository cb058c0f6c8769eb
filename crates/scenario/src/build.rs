//! From a scenario and a seed to what a world runs.

use super::error::{Error, Place, Result};
use super::files::Files;
use super::model::{
    Activity, BundleNetwork, ContactSource, Draws, Group, Map, MapFile, Message, Mobility, Movement,
    PointsOfInterest, Seed,
};
use super::radios::Radios;
use super::traffic;
use lightlag_protocols::dtn::{BuildContext, ContactPlan, NodeId};
use lightlag_protocols::rng::mix;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_worlds::contacts::kinetic;
use lightlag_worlds::contacts::{Channel, Contact, Contacts, Course, Delay};
use lightlag_worlds::messages::{Node, Reply, Setup};
use lightlag_worlds::mobility::map::{MapError, RoadMap, wkt};
use lightlag_worlds::mobility::{
    self, Area, Fleet, GroupContext, Initial, Interest, MobilityError, Model, MoveTimes, Point, Stationary,
    Walk,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A scenario under one seed, its traffic drawn.
#[derive(Debug)]
pub struct Seeded<'s> {
    network: &'s BundleNetwork,
    seed: Seed,
    /// The messages of the run; a message's place is its bundle's number.
    pub messages: Vec<Message>,
    replies: Arc<Vec<Reply>>,
}

impl Seeded<'_> {
    /// All that a run needs, with contacts computed before under the same [`Seeded::contacts_key`].
    pub fn setup(&self, contacts: Arc<Contacts>) -> Setup {
        let network = self.network;
        let (plan, revisions) = network.knowledge();
        Setup {
            nodes: network.groups.iter().flat_map(nodes).collect(),
            contacts: network.surviving(contacts, self.seed),
            plan,
            revisions: Arc::new(revisions),
            bundles: Arc::new(self.messages.iter().map(|message| message.bundle).collect()),
            replies: self.replies.clone(),
            until: network.head.until(),
            seed: self.number(),
            rules: network.rules.clone(),
        }
    }
    fn number(&self) -> u64 {
        self.network.head.seed_number(self.seed)
    }
    /// Scenarios with equal keys have equal contacts.
    pub fn contacts_key(&self) -> String {
        let network = self.network;
        let groups: Vec<_> = network
            .groups
            .iter()
            .map(|group| (group.count(), &group.mobility, &group.moves, &group.radios))
            .collect();
        let told: Vec<u128> =
            network.contacts.iter().filter(|source| source.happens).map(|source| source.key).collect();
        let moved = network.moves().then(|| {
            // The file's own seed is a seed of its own only where the draws are The ONE's.
            let own = self.seed == Seed::Own && network.movement.draws == Draws::TheOne;
            (own, self.number(), &network.movement, self.stops_key())
        });
        format!("{:?} {:?} {:?} {moved:?} {groups:?}", network.head.duration, network.rules.tick, told)
    }
    /// When nodes can talk. Mechanisms, routers and buffers have no influence on it.
    ///
    /// # Errors
    /// A map that cannot be used, or contacts of movement and table that overlap.
    pub fn contacts(&self) -> Result<Contacts> {
        let mut links: Vec<Link> = self.network.links(|source| source.happens).collect();
        if self.network.moves() {
            links.extend(self.met()?);
        }
        // A link is large: it is moved once.
        links.sort_by_cached_key(|link| (link.start, link.a, link.b, link.end));
        self.network.check_overlap(&links)?;
        Ok(contacts(links))
    }
    /// Contacts of radios.
    fn met(&self) -> Result<Vec<Link>> {
        let network = self.network;
        let (until, tick) = (network.head.until(), network.rules.tick);
        let radios = Radios::new(&network.groups, network.movement.draws, self.number(), tick);
        let fleet = self.fleet()?;
        let wrong = |error| wrong_motion(&network.place(), &error);
        let mut walk = fleet.walk().map_err(wrong)?;
        // The ONE looks for contacts after its first tick, and those of its last one do not end.
        let step = tick.filter(|_| network.movement.draws == Draws::TheOne).unwrap_or_default();
        let (first, horizon) = (Instant::ZERO.saturating_add(step), until.saturating_add(step));
        let encounters = kinetic::encounters(&mut walk, &radios.reach(), horizon, tick);
        let pieces = radios.joined(radios.active(encounters, horizon));
        let legs = if radios.need_legs() { fleet.legs(horizon).map_err(wrong)? } else { Vec::new() };
        let links = pieces.into_iter().filter_map(|(a, b, mut piece)| {
            piece.start = piece.start.max(first);
            if piece.start >= piece.end.min(until) {
                return None;
            }
            let channel = radios.channel(&piece, a, b, &legs);
            Some(Link {
                a,
                b,
                start: piece.start,
                end: piece.end,
                forward: channel.clone(),
                backward: channel,
            })
        });
        Ok(links.collect())
    }
    /// The nodes in motion, from the start of the run.
    ///
    /// # Errors
    /// As of [`Seeded::fleet`], or a parameter that no motion can have.
    pub fn walk(&self) -> Result<Walk> {
        self.fleet()?.walk().map_err(|error| wrong_motion(&self.network.place(), &error))
    }
    /// How the nodes move, in the terms of the worlds.
    ///
    /// # Errors
    /// A map that cannot be used.
    pub fn fleet(&self) -> Result<Fleet> {
        let network = self.network;
        let mut models = Models { warmup_s: network.movement.warmup.as_secs_f64(), ..Models::default() };
        let mut groups = Vec::new();
        for group in &network.groups {
            // Without a mobility there is no radio either: the place makes no difference.
            let model = match &group.mobility {
                Some(mobility) => models.model(mobility, group.count())?,
                None => {
                    let initial = Initial::Points(vec![Point::default(); group.nodes.len()]);
                    Arc::new(Stationary { area: Area::new(1.0, 1.0), initial })
                }
            };
            model.check(group.count()).map_err(|error| {
                wrong_motion(&map_place(group).unwrap_or_else(|| network.place()), &error)
            })?;
            groups.push(mobility::Group { count: group.count(), model, times: move_times(&group.moves) });
        }
        let mut fleet = Fleet::new(groups, self.number());
        if network.movement.draws == Draws::TheOne {
            fleet.draws = mobility::Draws::TheOne { rng_seed: rng_seed(self.number(), self.seed) };
            fleet.tick = network.rules.tick;
            fleet.clock_stops = self.clock_stops();
        }
        fleet.warmup = network.movement.warmup;
        Ok(fleet)
    }
    /// In The ONE the clock stands at the last event while nodes move, which can shorten a pause.
    fn clock_stops(&self) -> Vec<Instant> {
        let created = self.messages.iter().map(|message| message.bundle.created);
        let mut stops: Vec<Instant> = created.filter(|at| *at < Instant::MAX).collect();
        let happening = self.network.contacts.iter().filter(|source| source.happens);
        for contact in happening.flat_map(|source| source.list.iter()) {
            stops.extend([contact.start, contact.end]);
        }
        stops.sort();
        stops.dedup();
        stops
    }
    /// A digest of the clock stops; zero where they do not matter.
    fn stops_key(&self) -> u64 {
        if self.network.movement.draws != Draws::TheOne || self.network.rules.tick.is_none() {
            return 0;
        }
        self.clock_stops().iter().fold(1, |hash, stop| mix(hash ^ stop.as_nanos() as u64))
    }
}

impl BundleNetwork {
    /// Draws the traffic of a run.
    ///
    /// # Errors
    /// More messages than a run can carry.
    pub fn seeded(&self, seed: Seed) -> Result<Seeded<'_>> {
        let (messages, replies) = traffic::messages(self, seed)?;
        Ok(Seeded { network: self, seed, messages, replies: Arc::new(replies) })
    }
    /// All that a run needs.
    ///
    /// # Errors
    /// What shows only when it is computed: a map that cannot be used, radios that contradict a table.
    pub fn setup(&self, seed: Seed) -> Result<Setup> {
        let seeded = self.seeded(seed)?;
        Ok(seeded.setup(Arc::new(seeded.contacts()?)))
    }
    /// The contacts that some nodes know beforehand, some of them for a time only: those of the sources that are a plan.
    pub fn plan(&self) -> ContactPlan {
        self.plan_of(|source| source.is_plan)
    }
    /// The contacts of these sources.
    pub(super) fn plan_of(&self, of: impl Fn(&ContactSource) -> bool) -> ContactPlan {
        contacts(self.links(of).collect()).plan()
    }
    /// Which routers and mechanisms read the contact plan, as `router contact_graph`, and how many nodes that know
    /// contacts have one of them; none without a plan.
    pub fn plan_readers(&self, plan: &Arc<ContactPlan>) -> (BTreeSet<String>, u32) {
        let (mut names, mut nodes, mut end) = (BTreeSet::new(), 0, 0);
        for group in self.groups.iter().filter(|_| !plan.is_empty()) {
            end += group.count();
            let knowing = self.knowing(end - group.count()..end);
            if knowing == 0 {
                continue;
            }
            let context =
                BuildContext { nodes: self.node_count(), plan: plan.clone(), ..BuildContext::default() };
            let router = (group.router.entry.build)(&group.router.parameters, context.clone()).properties;
            let context = BuildContext { router, ..context };
            let needs = (group.mechanism.entry.build)(&group.mechanism.parameters, context).properties;
            let router = router.contact_plan.then(|| format!("router {}", group.router.entry.name));
            let mechanism = needs.contact_plan.then(|| format!("mechanism {}", group.mechanism.entry.name));
            nodes += if router.is_some() || mechanism.is_some() { knowing } else { 0 };
            names.extend([router, mechanism].into_iter().flatten());
        }
        (names, nodes)
    }
    fn links(&self, of: impl Fn(&ContactSource) -> bool) -> impl Iterator<Item = Link> {
        let tick = self.rules.tick;
        self.contacts
            .iter()
            .filter(move |source| of(source))
            .flat_map(|source| source.list.iter())
            .filter_map(move |told| Link::told(told, tick))
    }
    fn moves(&self) -> bool {
        self.movement.radios_connect && self.groups.iter().any(|group| !group.radios.is_empty())
    }
    fn place(&self) -> Place {
        Place::File(self.head.name.as_str().into())
    }
    fn check_overlap(&self, links: &[Link]) -> Result<()> {
        let mut last: BTreeMap<(NodeId, NodeId), Instant> = BTreeMap::new();
        for link in links {
            let pair = (link.a.min(link.b), link.a.max(link.b));
            let before = last.insert(pair, link.end);
            if before.is_some_and(|end| end > link.start) {
                let name = |node: NodeId| self.node_names().nth(node.0 as usize).unwrap_or_default();
                return self.place().refuse(
                    format!(
                        "{} and {} have a contact in a table at {:?} while their radios reach each other",
                        name(link.a),
                        name(link.b),
                        link.start
                    ),
                    "let contacts of a pair come from radios or from a table, not from both",
                );
            }
        }
        Ok(())
    }
}

fn move_times(moves: &Activity) -> MoveTimes {
    match moves {
        Activity::Always => MoveTimes::Always,
        Activity::Spans(spans) => MoveTimes::Spans(spans.clone()),
        &Activity::Periods { on, off, offset } => MoveTimes::Periods { on, off, offset },
    }
}

/// `rngSeed` is an `int`. A number that fits means the same as in the settings.
fn rng_seed(number: u64, seed: Seed) -> i32 {
    match (seed, i32::try_from(number)) {
        (Seed::Own, _) => number as i32,
        (Seed::Number(_), Ok(number)) => number,
        (Seed::Number(_), Err(_)) => mix(number) as i32,
    }
}

fn wrong_motion(place: &Place, error: &MobilityError) -> Error {
    let text = error.to_string();
    let (what, right) = text.rsplit_once(": ").unwrap_or((&text, "change the mobility"));
    Error::new(place, what, right)
}

fn map_place(group: &Group) -> Option<Place> {
    Some(group.mobility.as_ref()?.map.as_ref()?.files.first()?.place.clone())
}

fn nodes(group: &Group) -> impl Iterator<Item = Node> {
    let (router, mechanism) = (group.router.clone(), group.mechanism.clone());
    let node = Node {
        buffer: group.buffer,
        router: Arc::new(move |context| (router.entry.build)(&router.parameters, context)),
        mechanism: Arc::new(move |context| (mechanism.entry.build)(&mechanism.parameters, context)),
        policy: group.policy,
    };
    std::iter::repeat_n(node, group.nodes.len())
}

/// A contact whose channels are not numbered yet.
struct Link {
    a: NodeId,
    b: NodeId,
    start: Instant,
    end: Instant,
    forward: Channel,
    backward: Channel,
}

impl Link {
    /// With a tick, its ends are ticks; a contact between two ticks is dropped.
    fn told(told: &super::model::ScheduledContact, tick: Option<Duration>) -> Option<Self> {
        let round = |at: Instant| tick.map_or(at, |tick| at.round_up(tick));
        let (start, end) = (round(told.start), round(told.end));
        let (forward, backward) = (told.forward.clone(), told.backward.clone());
        (end > start).then_some(Self { a: NodeId(told.a), b: NodeId(told.b), start, end, forward, backward })
    }
}

/// Numbers the channels; equal ones share a number.
fn contacts(links: Vec<Link>) -> Contacts {
    let mut all = Contacts::default();
    // Tables of delays are few and long, rates many and short: only the latter need a quick search.
    let mut constant: BTreeMap<(u64, i64, bool), u32> = BTreeMap::new();
    for link in links {
        let mut number = |channel: Channel| {
            let next = all.channels.len() as u32;
            let number = match &channel.delay {
                // A table of rates is that of one contact.
                _ if matches!(channel.course, Course::Table(_)) => {
                    next - u32::from(all.channels.last() == Some(&channel))
                }
                Delay::Constant(delay) => {
                    let shared = channel.course == Course::Interference;
                    *constant.entry((channel.rate.0, delay.as_nanos(), shared)).or_insert(next)
                }
                Delay::Table(_) => {
                    all.channels.iter().position(|known| *known == channel).map_or(next, |at| at as u32)
                }
            };
            if number == next {
                all.channels.push(channel);
            }
            number
        };
        let (forward, backward) = (number(link.forward), number(link.backward));
        all.list.push(Contact { a: link.a, b: link.b, start: link.start, end: link.end, forward, backward });
    }
    all
}

/// Reads places from a file of well-known text.
type Reader = fn(&[u8], &str) -> std::result::Result<Vec<wkt::Feature>, MapError>;

/// Turns mobility into models; maps are read once.
#[derive(Default)]
pub struct Models {
    warmup_s: f64,
    files: Files,
    maps: BTreeMap<String, Arc<RoadMap>>,
}

impl Models {
    fn model(&mut self, mobility: &Mobility, nodes: u32) -> Result<Arc<dyn Model>> {
        let mut context =
            GroupContext { nodes, warmup_s: self.warmup_s, layers: u32::MAX, ..GroupContext::default() };
        if let Some(tracks) = &mobility.tracks {
            context.tracks.clone_from(&tracks.list);
        }
        if let Some(files) = &mobility.map {
            let map = self.roads(files)?;
            context.layers = layers(&files.allowed);
            if let Some(routes) = &mobility.routes {
                context.routes = self.vertices(routes, &map, u32::MAX, wkt::lines)?;
            }
            for PointsOfInterest { file, share } in &mobility.interest {
                let places = self.vertices(file, &map, context.layers, wkt::points)?;
                context.interest.push(Interest { share: *share, vertices: places.concat() });
            }
            for (&key, file) in &mobility.places {
                let places = self.vertices(file, &map, u32::MAX, wkt::points)?;
                context.places.insert(key, places.concat());
            }
            context.chances.clone_from(&mobility.chances);
            context.map = Some(map);
        }
        Ok((mobility.entry.model.build)(&mobility.parameters, context).into())
    }
    /// The vertices of what a file on a map names.
    fn vertices(&self, file: &MapFile, map: &RoadMap, layers: u32, read: Reader) -> Result<Vec<Vec<u32>>> {
        let bytes = self.files.read(&file.path, &file.place)?;
        let name = file.path.display().to_string();
        let places = read(&bytes, &name).and_then(|places| map.vertices_at(&places, layers, &name));
        places.map_err(|error| {
            let text = error.to_string();
            match text.rfind(", expected ") {
                Some(at) => Error::new(&file.place, &text[..at], &text[at + 2..]),
                None => Error::new(&file.place, text, "change the file or the map"),
            }
        })
    }
    /// The roads of a map.
    ///
    /// # Errors
    /// A file cannot be read, or is not a map.
    pub fn roads(&mut self, map: &Map) -> Result<Arc<RoadMap>> {
        // Two groups that name the same files have one map.
        let paths: Vec<_> = map.files.iter().map(|file| &file.path).collect();
        let key = format!("{:?}", (paths, &map.options, &map.osm));
        if let Some(roads) = self.maps.get(&key) {
            return Ok(roads.clone());
        }
        let mut texts = Vec::new();
        for file in &map.files {
            texts.push((file.path.display().to_string(), self.files.read(&file.path, &file.place)?));
        }
        let roads = Arc::new(read_roads(&texts, map).map_err(|error| {
            let right = "name a WKT or OpenStreetMap file of roads in one piece";
            Error::new(&map.files[0].place, error.to_string(), right)
        })?);
        self.maps.insert(key, roads.clone());
        Ok(roads)
    }
}

fn read_roads(texts: &[(String, Arc<[u8]>)], map: &Map) -> std::result::Result<RoadMap, MapError> {
    if let [(name, bytes)] = texts
        && map.files[0].is_osm()
    {
        return RoadMap::from_osm(bytes, name, &map.osm, map.options.disconnected);
    }
    let files: Vec<(&str, &[u8])> = texts.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    RoadMap::from_wkt(&files, map.options)
}

/// The n-th map is layer n - 1; none named means all.
fn layers(allowed: &[u32]) -> u32 {
    if allowed.is_empty() {
        return u32::MAX;
    }
    allowed.iter().filter(|&&map| (1..=32).contains(&map)).fold(0, |bits, map| bits | 1 << (map - 1))
}

impl Movement {
    /// By Lightlag's own draws, without warm-up.
    pub const PLAIN: Self = Self { draws: Draws::Lightlag, warmup: Duration::ZERO, radios_connect: true };
}
