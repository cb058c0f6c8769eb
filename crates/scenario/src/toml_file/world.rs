//! `[world]`: how links and nodes behave.

use super::section::Section;
use crate::error::Result;
use crate::failures::Failures;
use crate::keys;
use crate::model::Movement;
use crate::quantity;
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::time::Duration;
use lightlag_worlds::messages::{Rules, SendOrderKind};

/// All that the table says.
pub struct Behaviour {
    pub rules: Rules,
    pub movement: Movement,
    pub failures: Failures,
    pub positions_every: Option<Duration>,
}

pub fn world(root: &Section) -> Result<Behaviour> {
    let mut rules = Rules::default();
    let mut movement = Movement::PLAIN;
    let mut failures = Failures::default();
    let Some(world) = root.table("world", keys::WORLD)? else {
        return Ok(Behaviour { rules, movement, failures, positions_every: None });
    };
    rules.tick = world.quantity("tick", quantity::positive_time)?;
    rules.purge_every = world.quantity("purge_every", quantity::positive_time)?;
    rules.sample_every = world.quantity("sample_every", quantity::positive_time)?;
    let radios = [("node", Radio::Node), ("link", Radio::Link), ("direction", Radio::Direction)];
    rules.radio = world.word("radio", &radios)?.unwrap_or(rules.radio);
    let ways = [("pipelined", Propagation::Pipelined), ("stop_and_wait", Propagation::StopAndWait)];
    rules.propagation = world.word("propagation", &ways)?.unwrap_or(rules.propagation);
    let orders =
        [("fifo", SendOrderKind::Fifo), ("random", SendOrderKind::Random), ("clock", SendOrderKind::Clock)];
    rules.send_order = world.word("send_order", &orders)?.unwrap_or(rules.send_order);
    movement.warmup = world.quantity("warmup", quantity::time)?.unwrap_or(movement.warmup);
    failures.contacts = world.real("contacts_fail", 0.0, 1.0)?.unwrap_or(0.0);
    failures.nodes = world.real("nodes_vanish", 0.0, 1.0)?.unwrap_or(0.0);
    let positions_every = world.quantity("positions_every", quantity::positive_time)?;
    Ok(Behaviour { rules, movement, failures, positions_every })
}
