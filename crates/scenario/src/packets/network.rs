//! A network of links and the flows over it, as plain data.

use super::controllers::Known;
use super::{flows, links};
use crate::quantity::positive_time;
use crate::{Error, Head, Result, Section, Seed};
use lightlag_protocols::link::{LinkSpec, Rate};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::packets::{FlowSpec, Setup};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

/// Links, and flows over them.
#[derive(Clone, Debug)]
pub struct Network {
    /// Name, duration and seed.
    pub head: Head,
    /// Both directions of each link that has two.
    pub links: Vec<LinkPlan>,
    /// Who sends what to whom.
    pub flows: Vec<FlowPlan>,
    /// How often flows and links are sampled.
    pub sample_every: Option<Duration>,
    /// The run ends when this number of packets has been sent, in both directions; `None`: unlimited.
    pub packets_max: Option<u64>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Its name; that of the opposite direction ends in `.back`.
    pub name: String,
    /// Where it begins.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// What it does to packets.
    pub spec: LinkSpec,
}

/// A flow.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Its name.
    pub name: String,
    /// What the world of packets knows of it.
    pub spec: FlowSpec,
}

/// Reads links and flows, whose controllers are `known`.
///
/// # Errors
/// The first thing that is wrong.
pub fn read(head: Head, root: &Section, files: links::Read, known: &Known) -> Result<Network> {
    let links = links::read(root, files)?;
    let flows = flows::read(root, &links, known)?;
    if flows.is_empty() {
        return Err(root.missing("flows", "a table [flows.NAME] with `from` and `to`"));
    }
    let sample_every = root.quantity("sample_every", positive_time)?;
    let packets_max = root.whole("packets_max", 1, 1 << 53)?.map(|count| count as u64);
    Ok(Network { head, links, flows, sample_every, packets_max })
}

impl Network {
    /// Both directions of a link by its name (none: the first); a one-way link carries nothing back.
    ///
    /// # Errors
    /// One line that names those there are.
    pub fn both_ways(&self, name: Option<&str>) -> std::result::Result<[LinkSpec; 2], String> {
        let wanted = |link: &&LinkPlan| name.is_none_or(|name| *name == link.name);
        let Some(there) = self.links.iter().find(wanted) else {
            let known: Vec<&str> = self.links.iter().map(|link| link.name.as_str()).collect();
            let name = name.unwrap_or_default();
            return Err(format!("unknown link `{name}`; name one of {}", known.join(", ")));
        };
        let back = self.links.iter().find(|link| link.name == format!("{}.back", there.name));
        let silent = LinkSpec { rate: Rate::Table(vec![(Instant::ZERO, BitRate(0))]), ..there.spec.clone() };
        Ok([there.spec.clone(), back.map_or(silent, |back| back.spec.clone())])
    }
    /// What the world of packets runs.
    pub fn setup(&self, seed: Seed) -> Setup {
        let flows: Vec<FlowSpec> = self.flows.iter().map(|flow| flow.spec.clone()).collect();
        Setup {
            links: self.links.iter().map(|link| link.spec.clone()).collect(),
            until: self.head.until(),
            until_complete: flows.iter().all(FlowSpec::ends),
            flows,
            until_delivered: None,
            until_sent: self.packets_max,
            seed: self.head.seed_number(seed),
            sample_every: self.sample_every,
        }
    }
    /// The path with the fewest links; of equal ones that of the links named first.
    pub fn path(links: &[LinkPlan], from: &str, to: &str) -> Option<Vec<u32>> {
        let mut leaving: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (index, link) in links.iter().enumerate() {
            leaving.entry(&link.from).or_default().push(index as u32);
        }
        let mut came: BTreeMap<&str, Option<u32>> = BTreeMap::from([(from, None)]);
        let mut open = VecDeque::from([from]);
        while let Some(at) = open.pop_front() {
            for &index in leaving.get(at).into_iter().flatten() {
                let next = links[index as usize].to.as_str();
                if let Entry::Vacant(entry) = came.entry(next) {
                    entry.insert(Some(index));
                    open.push_back(next);
                }
            }
        }
        let mut path = VecDeque::new();
        let mut at = to;
        while at != from {
            let link = came.get(at).copied()??;
            path.push_front(link);
            at = &links[link as usize].from;
        }
        Some(path.into())
    }
    /// Least time from one end of a path to the other, for a packet of this size.
    pub fn least_delay(links: &[LinkPlan], path: &[u32], size: Bytes) -> Duration {
        path.iter().fold(Duration::ZERO, |sum, &index| {
            let spec = &links[index as usize].spec;
            sum.saturating_add(spec.delay.least()).saturating_add(spec.rate.highest().time_for(size))
        })
    }
}

/// The error for a flow without a path.
pub fn no_way(place: &crate::Place, from: &str, to: &str) -> Error {
    Error::new(
        place,
        format!("no links lead from `{from}` to `{to}`"),
        "name nodes that tables [links.NAME] join",
    )
}
