//! `Group`: its nodes, buffers, router and mechanism.

use super::interfaces::{activity, radios};
use super::movement::mobility;
use super::numbers::{boolean, double, int, long};
use super::routers;
use super::settings::{Found, Run, Space};
use crate::catalogue::{Catalogue, Entry, resolve};
use crate::error::{Error, Result, Wrong, is_not, quoted};
use crate::files::Files;
use crate::model::{Algorithm, Group, NODES_MAX};
use lightlag_protocols::dtn::{Domain, Mechanism, NodePolicy, Value};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::Bytes;
use lightlag_worlds::messages::SendOrderKind;
use std::collections::BTreeMap;

/// All groups, and what concerns them together.
pub struct Groups {
    /// The groups.
    pub list: Vec<Group>,
    /// The order in which nodes offer what they hold.
    pub send_order: SendOrderKind,
    /// The first mechanism that refuses its router.
    pub refused: Option<Error>,
}

pub fn groups(run: Run, catalogue: &Catalogue, files: &Files) -> Result<Groups> {
    let scenario = run.space("Scenario");
    let count = scenario.need("nrofHostGroups", "1")?;
    let number = count.whole(1, 1000, "there are 1 to 1000 groups")?;
    let mut groups: Vec<Group> = Vec::new();
    let mut order = None;
    let mut refused = None;
    let (mut first, mut recorded) = (0, 0);
    for index in 1..=number {
        let space = run.space_or(&format!("Group{index}"), "Group");
        let group = group(index, &Before { nodes: first, recorded }, &space, catalogue, files)?;
        if space.find("movementModel").is_some_and(|found| found.value == "ExternalMovement") {
            recorded += group.nodes.len();
        }
        if group.nodes.is_empty() {
            continue;
        }
        first += group.nodes.len();
        refused = refused.or_else(|| refusal(&group, &space));
        groups.push(group);
        let queue = space.parse("sendQueue", send_order)?.unwrap_or(SendOrderKind::Clock);
        if order.is_some_and(|order| order != queue)
            && let Some(found) = space.find("sendQueue")
        {
            return Err(
                found.wrong("differs from that of another group", "all groups must share one queue mode")
            );
        }
        order = Some(queue);
    }
    if groups.is_empty() {
        return Err(count.wrong("has no host", "let a group have hosts: `Group.nrofHosts = 50`"));
    }
    Ok(Groups { list: groups, send_order: order.unwrap_or(SendOrderKind::Clock), refused })
}

fn refusal(group: &Group, space: &Space) -> Option<Error> {
    let only_with = &group.mechanism.entry.only_with;
    if only_with.is_empty() || only_with.contains(&group.router.entry.name) {
        return None;
    }
    let what = format!("refuses router `{}`", group.router.entry.name);
    Some(space.find("mechanism")?.wrong(what, format!("it works with: {}", only_with.join(", "))))
}

fn send_order(text: &str) -> std::result::Result<SendOrderKind, Wrong> {
    match text {
        "1" | "RANDOM" => Ok(SendOrderKind::Clock),
        "2" | "FIFO" => Ok(SendOrderKind::Fifo),
        _ => Err(Wrong::new(is_not(text, "a queue mode"), "write 1 (RANDOM) or 2 (FIFO)")),
    }
}

/// Hosts of the groups before a group.
pub struct Before {
    /// All of them.
    pub nodes: usize,
    /// Those with `ExternalMovement`, which take the positions of its file in turn.
    pub recorded: usize,
}

fn group(index: i32, before: &Before, space: &Space, catalogue: &Catalogue, files: &Files) -> Result<Group> {
    let first = before.nodes;
    let id = space.need("groupID", "n")?.value;
    let hosts = space.need("nrofHosts", "50")?;
    let count =
        usize::try_from(hosts.parse(int)?).ok().filter(|count| (0..=NODES_MAX - first).contains(count));
    let count = count.ok_or_else(|| {
        hosts.wrong("is not a number of hosts", format!("there are 0 to {NODES_MAX} hosts in all"))
    })?;
    let router = routers::router(&space.need("router", "EpidemicRouter")?, space, catalogue)?;
    let mechanism = mechanism(space, catalogue)?;
    Ok(Group {
        name: format!("Group{index}"),
        nodes: (first..first + count).map(|address| format!("{id}{address}")).collect(),
        buffer: buffer(space)?,
        router,
        mechanism,
        policy: policy(space)?,
        mobility: Some(mobility(space, before, files)?),
        moves: activity(space, "")?,
        radios: radios(space)?,
        lifetime: lifetime(space)?,
    })
}

/// More than all that any run sends.
const BUFFER_MAX: u64 = 1_000_000_000_000_000;

fn buffer(space: &Space) -> Result<Bytes> {
    let Some(found) = space.find("bufferSize") else { return Ok(Bytes(i32::MAX as u64)) };
    match found.parse(long)? {
        0 => Err(found.wrong("is zero", "give the buffer a size")),
        // More than any run fills.
        size => Ok(Bytes(size.min(BUFFER_MAX))),
    }
}

/// Almost a hundred years.
const MINUTES_MAX: i32 = 50_000_000;

/// A message dies when less than a minute of its time remains: The ONE counts whole minutes.
fn lifetime(space: &Space) -> Result<Option<Duration>> {
    let Some(found) = space.find("msgTtl") else { return Ok(None) };
    match found.parse(int)? {
        // Longer than a run can last is as good as without end.
        minutes if minutes == -1 || minutes > MINUTES_MAX => Ok(None),
        minutes if minutes > 0 => {
            Ok(Some(Duration::from_secs((i64::from(minutes) - 1) * 60) + Duration::from_nanos(1)))
        }
        minutes => {
            Err(found
                .wrong(format!("is {minutes}"), "give minutes above zero, or -1 for messages without end"))
        }
    }
}

fn policy(space: &Space) -> Result<NodePolicy> {
    let flag = |key: &str| Ok::<_, Error>(space.parse(key, boolean)?.unwrap_or(false));
    Ok(NodePolicy {
        receipts: flag("receipts")?,
        drop_memory: flag("dropMemory")?,
        delete_delivered: flag("deleteDelivered")?,
        overfill: true,
        deliver_past_buffer: false,
        // The world says it: see `purge_every`.
        deliver_late: false,
        application_buffer: None,
    })
}

/// `Group.mechanism`, `Group.mechanism.PARAMETER`, `Group.receipts` and `Group.dropMemory` are no
/// keys of The ONE: with them its scenarios can be run under congestion control.
fn mechanism(space: &Space, catalogue: &Catalogue) -> Result<Algorithm<dyn Mechanism>> {
    let found = space.find("mechanism");
    let name = found.as_ref().map_or("none", |found| found.value);
    let wrong = |right: String| match &found {
        Some(found) => found.wrong(format!("is {}, which is not known", quoted(name)), right),
        None => Error::new(&space.run.layers.place(), "no mechanism is known", right),
    };
    let entry = catalogue.mechanisms.find(name).map_err(wrong)?;
    let mut given = BTreeMap::new();
    for parameter in entry.parameters.iter() {
        if let Some(found) = space.find(&format!("mechanism.{}", parameter.name)) {
            given.insert(parameter.name.to_owned(), parameter_value(&found, &entry, &parameter.domain)?);
        }
    }
    let place = found.as_ref().map_or_else(|| space.run.layers.place(), |found| found.place.clone());
    let parameters = resolve(&entry, &given).map_err(|wrong| crate::Error::at(&place, wrong))?;
    Ok(Algorithm { entry, parameters })
}

fn parameter_value(found: &Found, entry: &Entry<dyn Mechanism>, domain: &Domain) -> Result<Value> {
    let value = match domain {
        Domain::Number(..) | Domain::Integer(..) => Value::Number(found.parse(double)?),
        Domain::Flag => Value::Flag(found.parse(boolean)?),
        _ => Value::Word(found.value.to_owned().into()),
    };
    let name = found.key.rsplit('.').next().unwrap_or_default();
    let alone = BTreeMap::from([(name.to_owned(), value.clone())]);
    resolve(entry, &alone).map_err(|wrong| crate::Error::at(found.place, wrong))?;
    Ok(value)
}
