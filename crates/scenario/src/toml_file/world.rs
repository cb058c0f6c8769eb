//! `[world]`: how links and nodes behave.

use super::section::Section;
use crate::error::Result;
use crate::failures::Failures;
use crate::model::Movement;
use crate::quantity;
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_worlds::messages::{Rules, SendOrderKind};

const KEYS: &[&str] = &[
    "tick",
    "radio",
    "propagation",
    "send_order",
    "purge_every",
    "sample_every",
    "warmup",
    "contacts_fail",
    "nodes_vanish",
];

/// All that the table says.
pub struct Behaviour {
    pub rules: Rules,
    pub movement: Movement,
    pub failures: Failures,
}

pub fn world(root: &Section) -> Result<Behaviour> {
    let mut rules = Rules::default();
    let mut movement = Movement::PLAIN;
    let mut failures = Failures::default();
    let Some(world) = root.table("world", KEYS)? else {
        return Ok(Behaviour { rules, movement, failures });
    };
    rules.tick = world.quantity("tick", quantity::positive_time)?;
    rules.purge_every = world.quantity("purge_every", quantity::positive_time)?;
    rules.sample_every = world.quantity("sample_every", quantity::positive_time)?;
    let radios = [("node", Radio::Node), ("link", Radio::Link), ("direction", Radio::Direction)];
    if let Some(radio) = world.word("radio", &radios)? {
        rules.radio = radio;
    }
    let ways = [("pipelined", Propagation::Pipelined), ("stop_and_wait", Propagation::StopAndWait)];
    if let Some(propagation) = world.word("propagation", &ways)? {
        rules.propagation = propagation;
    }
    let orders =
        [("fifo", SendOrderKind::Fifo), ("random", SendOrderKind::Random), ("clock", SendOrderKind::Clock)];
    if let Some(order) = world.word("send_order", &orders)? {
        rules.send_order = order;
    }
    if let Some(warmup) = world.quantity("warmup", quantity::time)? {
        movement.warmup = warmup;
    }
    failures.contacts = world.real("contacts_fail", 0.0, 1.0)?.unwrap_or(0.0);
    failures.nodes = world.real("nodes_vanish", 0.0, 1.0)?.unwrap_or(0.0);
    Ok(Behaviour { rules, movement, failures })
}
