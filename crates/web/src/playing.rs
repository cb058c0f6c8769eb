//! A run step by step: as far as a page asks, with what has happened since.

use super::columns::{Batch, Tape};
use lightlag_judge::trace::{Column, Columns, NameRow, Names, PacketRow, Row, RowWriter};
use lightlag_lab::metrics::{Figures, Metrics};
use lightlag_lab::run::{
    Positions, bundle_figures, name_figures, name_trace_names, packet_figures, packet_trace_names,
};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_scenario::names::NameNetwork;
use lightlag_scenario::packets::{LinkPlan, Network};
use lightlag_scenario::{BundleNetwork, Result, Scenario, Seed};
use lightlag_worlds::{messages, names, packets};
use self_cell::{MutBorrow, self_cell};
use serde_json::{Value, json};

/// A run that stands at some time.
pub struct Playing {
    world: World,
    now: Instant,
    until: Instant,
    ended: bool,
}

/// What the records of a run are for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Purpose {
    /// Records as of `lightlag run`, with their digest.
    Records,
    /// A drawing: with positions of nodes that move, also where the scenario does not ask for them, as
    /// [`BundleNetwork::record_positions`].
    Drawing,
    /// A table that is saved: with names in the records, and numbers of 64 bits exactly.
    Table,
}

enum World {
    Bundles(Box<BundleNetwork>, BundleRun),
    Packets(Box<Network>, PacketRun),
    Names(Box<NameNetwork>, NameRun),
}

/// What watches a run of bundles.
struct Watch {
    metrics: Metrics,
    rows: RowWriter<Row, Tape>,
    positions: Option<Positions>,
}

impl Watch {
    /// Puts the positions up to and including `now` that it has not put.
    fn place(&mut self, now: Instant) {
        if let Some(positions) = &mut self.positions {
            positions.until(now, |at, position| self.rows.put(at, position));
        }
    }
}

impl Observer for Watch {
    fn on_record(&mut self, now: Instant, record: &Record) {
        // Nodes are introduced before anything else.
        if !matches!(record, Record::Node { .. }) {
            self.place(now);
        }
        self.metrics.on_record(now, record);
        self.rows.put(now, record);
    }
}

type BundleWorld<'a> = messages::World<'a, Watch>;
type PacketWorld<'a> = packets::World<'a, RowWriter<PacketRow, Tape>>;
type NameWorld<'a> = names::World<'a, RowWriter<NameRow, Tape>>;

self_cell! {
    struct BundleRun {
        owner: (messages::Setup, MutBorrow<Watch>),
        #[not_covariant]
        dependent: BundleWorld,
    }
}
self_cell! {
    struct PacketRun {
        owner: (packets::Setup, MutBorrow<RowWriter<PacketRow, Tape>>),
        #[not_covariant]
        dependent: PacketWorld,
    }
}
self_cell! {
    struct NameRun {
        owner: (names::Setup, MutBorrow<RowWriter<NameRow, Tape>>),
        #[not_covariant]
        dependent: NameWorld,
    }
}

impl Playing {
    /// A run at time zero.
    ///
    /// # Errors
    /// What is wrong with the scenario.
    pub fn new(scenario: Scenario, seed: Seed, purpose: Purpose) -> Result<Self> {
        let exact = purpose == Purpose::Table;
        let until = scenario.head().until();
        let world = match scenario {
            Scenario::Bundles(network) => of_bundles(network.into(), seed, exact)?,
            Scenario::Packets(network) => {
                let setup = packets::Setup { sample_every: None, ..network.setup(seed) };
                let names = if exact { packet_trace_names(&network) } else { Names::default() };
                let owner = (setup, MutBorrow::new(RowWriter::new(Tape::new(exact), names)));
                let run =
                    PacketRun::new(owner, |(setup, rows)| packets::World::new(setup, rows.borrow_mut()));
                World::Packets(network.into(), run)
            }
            Scenario::Names(network) => {
                let setup = names::Setup { sample_every: None, ..network.setup(seed) };
                let names = if exact { name_trace_names(&network) } else { Names::default() };
                let owner = (setup, MutBorrow::new(RowWriter::new(Tape::new(exact), names)));
                let run = NameRun::new(owner, |(setup, rows)| names::World::new(setup, rows.borrow_mut()));
                World::Names(network.into(), run)
            }
        };
        Ok(Self { world, now: Instant::ZERO, until, ended: false })
    }
    /// Runs on for some time; false once the run has ended.
    pub fn advance(&mut self, by: Duration) -> bool {
        self.now = self.now.saturating_add(by.max(Duration::ZERO)).min(self.until);
        if self.ended {
            return false;
        }
        let (now, last) = (self.now, self.now >= self.until);
        self.ended = match &mut self.world {
            World::Bundles(_, run) => run.with_dependent_mut(|_, world| {
                world.advance(now);
                world.observer().place(now);
                if last {
                    world.end();
                }
                last
            }),
            World::Packets(_, run) => run.with_dependent_mut(|_, world| {
                let ended = world.advance(now);
                if ended {
                    let at = world.outcome().ended;
                    world.observer().put(at, &lightlag_judge::packets::Event::End);
                }
                ended
            }),
            World::Names(_, run) => run.with_dependent_mut(|_, world| {
                let ended = world.advance(now);
                if ended {
                    let at = world.outcome().ended;
                    world.observer().put(at, &lightlag_judge::names::Event::End);
                }
                ended
            }),
        };
        !self.ended
    }
    /// Until when it has run.
    pub fn now(&self) -> Instant {
        self.now
    }
    /// When it ends at the latest.
    pub fn until(&self) -> Instant {
        self.until
    }
    /// What has happened since the last time.
    pub fn records(&mut self) -> Batch {
        match &mut self.world {
            World::Bundles(_, run) => {
                run.with_dependent_mut(|_, world| world.observer().rows.sink_mut().take::<Row>())
            }
            World::Packets(_, run) => {
                run.with_dependent_mut(|_, world| world.observer().sink_mut().take::<PacketRow>())
            }
            World::Names(_, run) => {
                run.with_dependent_mut(|_, world| world.observer().sink_mut().take::<NameRow>())
            }
        }
    }
    /// From now on, records have these columns only; there is no digest then.
    pub fn choose(&mut self, columns: &[String]) {
        match &mut self.world {
            World::Bundles(_, run) => {
                run.with_dependent_mut(|_, world| world.observer().rows.sink_mut().choose::<Row>(columns))
            }
            World::Packets(_, run) => {
                run.with_dependent_mut(|_, world| world.observer().sink_mut().choose::<PacketRow>(columns))
            }
            World::Names(_, run) => {
                run.with_dependent_mut(|_, world| world.observer().sink_mut().choose::<NameRow>(columns))
            }
        }
    }
    /// All columns of the records in their order, as JSON: `name`, `type` and `optional`.
    pub fn columns(&self) -> String {
        let list: Vec<Value> = match &self.world {
            World::Bundles(..) => declared::<Row>(),
            World::Packets(..) => declared::<PacketRow>(),
            World::Names(..) => declared::<NameRow>(),
        };
        Value::Array(list).to_string()
    }
    /// The digest of all records so far; of a run that has ended that of [`Reading::run`](crate::Reading::run), unless positions
    /// are among the records. `None` after [`Self::choose`].
    pub fn digest(&mut self) -> Option<String> {
        match &mut self.world {
            World::Bundles(_, run) => {
                run.with_dependent_mut(|_, world| world.observer().rows.sink().digest())
            }
            World::Packets(_, run) => run.with_dependent_mut(|_, world| world.observer().sink().digest()),
            World::Names(_, run) => run.with_dependent_mut(|_, world| world.observer().sink().digest()),
        }
    }
    /// The figures so far; of a run that has ended those of [`Reading::run`](crate::Reading::run).
    pub fn figures(&mut self) -> Figures {
        match &mut self.world {
            World::Bundles(network, run) => run.with_dependent_mut(|(setup, _), world| {
                bundle_figures(network, setup, &world.observer().metrics)
            }),
            World::Packets(network, run) => {
                run.with_dependent_mut(|_, world| packet_figures(network, &world.outcome()))
            }
            World::Names(network, run) => {
                run.with_dependent_mut(|_, world| name_figures(network, &world.outcome()))
            }
        }
    }
    /// Names of what records refer to by number, as JSON: nodes, links with their ends and longest one-way delay, flows, consumers, producers, prefixes.
    pub fn names(&self) -> String {
        match &self.world {
            World::Bundles(network, _) => {
                json!({ "world": "bundles", "nodes": network.node_names().collect::<Vec<_>>() })
            }
            World::Packets(network, _) => json!({
                "world": "packets",
                "links": links(&network.links),
                "flows": network.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(),
            }),
            World::Names(network, _) => json!({
                "world": "names",
                "nodes": network.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(),
                "links": links(&network.links),
                "consumers": network.consumers.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
                "producers": network.producers.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
            }),
        }
        .to_string()
    }
}

fn links(links: &[LinkPlan]) -> Vec<Value> {
    let delay_s = |link: &LinkPlan| link.spec.delay.bounds().1.as_secs_f64();
    let of = |link: &LinkPlan| json!({ "name": link.name, "from": link.from, "to": link.to, "delay_s": delay_s(link) });
    links.iter().map(of).collect()
}

fn of_bundles(network: Box<BundleNetwork>, seed: Seed, exact: bool) -> Result<World> {
    let seeded = network.seeded(seed)?;
    let setup = seeded.setup(seeded.contacts()?.into());
    let moves = network.groups.iter().any(|group| group.mobility.is_some());
    let positions = match network.positions_every.filter(|_| moves) {
        Some(every) => Some(Positions::new(&network, seeded.walk()?, every)),
        None => None,
    };
    drop(seeded);
    let nodes = network.node_names().filter(|_| exact).map(str::to_owned).collect();
    let names = Names { nodes, ..Names::default() };
    let watch = Watch {
        metrics: Metrics::new(Instant::ZERO + network.measure_from),
        rows: RowWriter::new(Tape::new(exact), names),
        positions,
    };
    let owner = (setup, MutBorrow::new(watch));
    let run = BundleRun::new(owner, |(setup, watch)| messages::World::new(setup, watch.borrow_mut()));
    Ok(World::Bundles(network, run))
}

/// The columns of a row.
fn declared<R: Columns>() -> Vec<Value> {
    let of = |column: &Column| json!({ "name": column.name, "type": column.kind.name(), "optional": column.optional });
    R::COLUMNS.iter().map(of).collect()
}
