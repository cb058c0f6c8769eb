//! `[world]`: how links and nodes behave.

use super::section::Section;
use crate::error::Result;
use crate::failures::Failures;
use crate::keys;
use crate::model::{Draws, Movement};
use crate::quantity;
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::time::Duration;
use lightlag_worlds::messages::{Control, Rules, SendOrderKind};

/// All that the table says.
pub struct Behaviour {
    pub rules: Rules,
    pub movement: Movement,
    pub failures: Failures,
    pub positions_every: Option<Duration>,
}

const DRAWS: &[(&str, Draws)] = &[("lightlag", Draws::Lightlag), ("the_one", Draws::TheOne)];

/// Whose random draws a scenario has.
pub fn draws(root: &Section) -> Result<Draws> {
    let world = root.table("world", keys::WORLD)?;
    Ok(world.map(|world| world.word("draws", DRAWS)).transpose()?.flatten().unwrap_or(Draws::Lightlag))
}

/// What all motion is drawn and timed by.
#[derive(Clone, Copy)]
pub struct Motion {
    /// Whose draws.
    pub draws: Draws,
    /// The tick of the scenario.
    pub tick: Option<Duration>,
}

impl Motion {
    /// Of a scenario.
    pub fn read(root: &Section) -> Result<Self> {
        let world = root.table("world", keys::WORLD)?;
        let tick = world.map(|world| world.quantity("tick", quantity::positive_time)).transpose()?.flatten();
        Ok(Self { draws: draws(root)?, tick })
    }
}

/// The seed of The ONE's own run, if the scenario is one.
pub fn rng_seed(root: &Section) -> Result<Option<i32>> {
    let Some(world) = root.table("world", keys::WORLD)? else { return Ok(None) };
    let seed = world.whole("rng_seed", i64::from(i32::MIN), i64::from(i32::MAX))?;
    if seed.is_some() && draws(root)? == Draws::Lightlag {
        let what = format!("`{}` is a seed of The ONE's draws", world.key("rng_seed"));
        return world.refuse("rng_seed", what, "add `draws = \"the_one\"`, or give `seeds` instead");
    }
    Ok(seed.and_then(|seed| i32::try_from(seed).ok()))
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
    let controls = [("instant", Control::Instant), ("carried", Control::Carried)];
    rules.control = world.word("control", &controls)?.unwrap_or(rules.control);
    let acts = [("random", false), ("by_number", true)];
    rules.act_by_number = world.word("act_order", &acts)?.unwrap_or(false);
    movement.draws = draws(root)?;
    movement.radios_connect = world.flag("radios_connect")?.unwrap_or(true);
    movement.warmup = world.quantity("warmup", quantity::time)?.unwrap_or(movement.warmup);
    failures.contacts = world.real("contacts_fail", 0.0, 1.0)?.unwrap_or(0.0);
    failures.nodes = world.real("nodes_vanish", 0.0, 1.0)?.unwrap_or(0.0);
    let positions_every = world.quantity("positions_every", quantity::positive_time)?;
    Ok(Behaviour { rules, movement, failures, positions_every })
}
