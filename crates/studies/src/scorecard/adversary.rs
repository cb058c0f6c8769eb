//! Searches the space for the networks in which a controller does worst.
//!
//! An evolution with deterministic crowding (Mahfoud 1995): two parents have two children, and each child takes the
//! place of the parent that resembles it if the controller does worse in it. So different weaknesses are found beside
//! each other, not one of them many times.

use super::controllers::{Contestant, REFERENCE, find};
use super::measures::{BACK, DROPPED, JAIN, QUEUE_P95, REPAIRED, SENT, SETTLE, SHARE, measures};
use super::plan::scenario;
use super::space::{Company, Cube, Network, at, point};
use super::text::{self, describe, short};
use crate::Error;
use lightlag_lab::report::ScenarioText;
use lightlag_lab::results::{Metrics, table_text};
use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_protocols::rng::Stream;
use lightlag_scenario::Seed;
use rayon::prelude::*;

/// Networks that are reported.
const REPORTED: usize = 10;
/// A coordinate of a child is drawn again with this probability, or moved by at most [`MOVED_BY`] with the other.
const DRAWN_AGAIN: f64 = 0.07;
const MOVED: f64 = 0.2;
const MOVED_BY: f64 = 0.1;

/// How long is searched.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Networks that live at a time.
    pub population: u64,
    /// How often each pair of them has children.
    pub generations: u64,
}

impl Effort {
    /// Some five minutes on two cores.
    pub const FULL: Self = Self { population: 48, generations: 40 };
    /// About a minute.
    pub const QUICK: Self = Self { population: 48, generations: 8 };
}

/// A network, and how the controller did in it.
pub struct Found {
    /// The network.
    pub network: Network,
    /// All measures of the run.
    pub metrics: Metrics,
    /// Share of the limit less the share of packets dropped, beyond what CUBIC's lose beside the same TCP.
    pub grade: f64,
}

/// What was found for a controller.
pub struct Worst {
    contestant: &'static Contestant,
    /// Runs that it took.
    pub runs: u64,
    /// The worst networks, worst first.
    pub found: Vec<Found>,
}

#[derive(Clone)]
struct Member {
    cube: Cube,
    grade: f64,
}

/// The worst networks for a controller: a pure function of its name, the seed and the effort. `threads`: runs at a time;
/// 0: one per core.
///
/// # Errors
/// An unknown controller, or a run that failed.
pub fn worst(name: &str, seed: u64, effort: Effort, threads: usize) -> Result<Worst, Error> {
    let contestant = find(name).map_err(Error::Controller)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Error::Controller(format!("cannot start threads: {error}")))?;
    let mut rng = Stream::new(seed, "adversary", 0);
    pool.install(|| {
        let first = (0..effort.population).map(|index| point(seed, index)).collect();
        let mut population = graded(first, contestant)?;
        for _ in 0..effort.generations {
            population = next_generation(population, contestant, &mut rng)?;
        }
        population.sort_by(|one, other| one.grade.total_cmp(&other.grade));
        population.retain(|member| member.grade.is_finite());
        population.truncate(REPORTED);
        let found = (1..).zip(&population).map(|(rank, member)| {
            let network = at(format!("worst_{rank:02}"), &member.cube);
            Ok(Found { metrics: measured(&network, contestant)?, grade: member.grade, network })
        });
        let found = found.collect::<Result<_, Error>>()?;
        Ok(Worst { contestant, runs: effort.population * (1 + effort.generations), found })
    })
}

impl Worst {
    /// The scenarios, as files that `lightlag run` plays.
    pub fn files(&self) -> Vec<ScenarioText> {
        let file = |one: &Found| ScenarioText {
            name: format!("{}.toml", one.network.name),
            text: text::scenario(&one.network, self.contestant),
        };
        self.found.iter().map(file).collect()
    }
    /// A table of all measures, for a terminal.
    pub fn text(&self) -> String {
        const COLUMNS: [(&str, &str); 8] = [
            ("share", SHARE),
            ("sent", SENT),
            ("dropped", DROPPED),
            ("repaired", REPAIRED),
            ("queue p95", QUEUE_P95),
            ("settles", SETTLE),
            ("Jain", JAIN),
            ("return", BACK),
        ];
        let head = ["network"].into_iter().chain(COLUMNS.map(|column| column.0));
        let row = |one: &Found| {
            let value =
                |name: &str| one.metrics.iter().find(|metric| &*metric.0 == name).map(|metric| metric.1);
            let cell = |(_, name): (&str, &str)| value(name).map_or("-".to_owned(), short);
            let cells = COLUMNS.into_iter().map(cell);
            [one.network.name.clone()].into_iter().chain(cells).collect()
        };
        let rows: Vec<Vec<String>> = self.found.iter().map(row).collect();
        let line = |one: &Found| format!("{}: {}\n", one.network.name, describe(&one.network));
        let lines: String = self.found.iter().map(line).collect();
        table_text(&head.map(str::to_owned).collect::<Vec<_>>(), &rows) + "\n" + &lines
    }
}

/// Pairs have two children each; of a child and the parent that resembles it, the worse network lives on.
fn next_generation(
    mut population: Vec<Member>,
    contestant: &Contestant,
    rng: &mut Stream,
) -> Result<Vec<Member>, Error> {
    rng.shuffle(&mut population);
    let children = population.chunks(2).flat_map(|pair| {
        let (one, other) = (&pair[0].cube, &pair[pair.len() - 1].cube);
        [child(one, other, rng), child(other, one, rng)]
    });
    let children = graded(children.collect(), contestant)?;
    let pairs = population.chunks_mut(2).zip(children.chunks(2));
    for (parents, children) in pairs {
        let apart = |parent: usize, child: usize| distance(&parents[parent].cube, &children[child].cube);
        let crossed = parents.len() > 1 && apart(0, 1) + apart(1, 0) < apart(0, 0) + apart(1, 1);
        for (index, parent) in parents.iter_mut().enumerate() {
            let child = &children[index ^ usize::from(crossed)];
            if child.grade < parent.grade {
                *parent = child.clone();
            }
        }
    }
    Ok(population)
}

/// Each coordinate is that of a parent, and sometimes another.
fn child(one: &Cube, other: &Cube, rng: &mut Stream) -> Cube {
    std::array::from_fn(|axis| {
        let inherited = if rng.unit() < 0.5 { one[axis] } else { other[axis] };
        match rng.unit() {
            luck if luck < DRAWN_AGAIN => rng.unit(),
            luck if luck < DRAWN_AGAIN + MOVED => {
                (inherited + rng.uniform(-MOVED_BY, MOVED_BY)).clamp(0.0, 1.0 - f64::EPSILON)
            }
            _ => inherited,
        }
    })
}

fn distance(one: &Cube, other: &Cube) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).sum()
}

fn graded(cubes: Vec<Cube>, contestant: &Contestant) -> Result<Vec<Member>, Error> {
    let grade =
        |cube: Cube| Ok(Member { grade: grade(&at("candidate".to_owned(), &cube), contestant)?, cube });
    cubes.into_par_iter().map(grade).collect()
}

/// Infinite where the controller cannot play.
fn grade(network: &Network, contestant: &Contestant) -> Result<f64, Error> {
    let of = |metrics: &Metrics, name: &str| {
        metrics.iter().find(|metric| &*metric.0 == name).map_or(0.0, |metric| metric.1)
    };
    if !contestant.plays(network) {
        return Ok(f64::INFINITY);
    }
    let metrics = measured(network, contestant)?;
    let excused = match network.company {
        Company::Tcp(_) => of(&measured(network, find(REFERENCE).map_err(Error::Controller)?)?, DROPPED),
        _ => 0.0,
    };
    Ok(of(&metrics, SHARE) - (of(&metrics, DROPPED) - excused).max(0.0))
}

fn measured(network: &Network, contestant: &Contestant) -> Result<Metrics, Error> {
    let options = Options { account: true, ..Options::default() };
    let outcome = run(&scenario(network, contestant)?, Seed::Number(1), &ContactsCache::default(), &options)?;
    Ok(measures(network, contestant, &outcome))
}
