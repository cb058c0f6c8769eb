//! `[nodes.NAME]`: stores and clocks. Nodes that only links name are plain forwarders.

use super::NodePlan;
use crate::keys;
use crate::packets::LinkPlan;
use crate::quantity::{bytes, signed_time};
use crate::{Result, Section, named};
use lightlag_protocols::ndn::{Clock, ForwarderConfig};
use lightlag_worlds::names::NodeSpec;

/// Every node, in the order in which links name them.
pub fn read(root: &Section, links: &[LinkPlan]) -> Result<Vec<NodePlan>> {
    check_links(root, links)?;
    let mut nodes: Vec<NodePlan> = Vec::new();
    for name in links.iter().flat_map(|link| [&link.from, &link.to]) {
        if nodes.iter().all(|node| node.name != *name) {
            let spec = NodeSpec {
                forwarder: ForwarderConfig::default(),
                clock: Clock::default(),
                strips_stamps: false,
                routes: Vec::new(),
            };
            nodes.push(NodePlan { name: name.clone(), spec });
        }
    }
    for (name, section) in named(root, "nodes", keys::FORWARDERS)? {
        let Some(node) = nodes.iter_mut().find(|node| node.name == name) else {
            let what = format!("no link leads to or from `{name}`");
            return section.place.refuse(what, "name a node that a table [links.NAME] joins");
        };
        let spec = &mut node.spec;
        spec.forwarder.store = section.quantity("cache", bytes)?.unwrap_or_default();
        if let Some(pending) = section.whole("pending", 1, i64::from(u32::MAX) - 1)? {
            spec.forwarder.pending_max = pending as usize;
        }
        spec.strips_stamps = section.flag("strips_stamps")?.unwrap_or(false);
        spec.clock = clock(&section)?;
    }
    Ok(nodes)
}

/// Data return over the links of their Interests: every link needs both directions.
fn check_links(root: &Section, links: &[LinkPlan]) -> Result<()> {
    let is_pair = |two: &[LinkPlan]| two.len() == 2 && two[0].from == two[1].to && two[0].to == two[1].from;
    if links.is_empty() {
        return Err(root.missing("links", "a table [links.NAME] with `from` and `to`"));
    }
    if let Some(alone) = links.chunks(2).find(|two| !is_pair(two)) {
        let what = format!("link `{}` is one-way", alone[0].name);
        return root.refuse("links", what, "Data return over the links of their Interests");
    }
    Ok(())
}

fn clock(section: &Section) -> Result<Clock> {
    let Some(clock) = section.table("clock", keys::CLOCK)? else { return Ok(Clock::default()) };
    let offset = clock.quantity("offset", signed_time)?.unwrap_or_default();
    // Seconds gained a second.
    let skew = clock.real("skew", -0.5, 0.5)?.unwrap_or(0.0);
    if offset.as_secs_f64().abs() > OFFSET_MAX_S {
        let what = format!("`{}` is {} s", clock.key("offset"), offset.as_secs_f64());
        return clock.refuse("offset", what, "a clock is at most a year off");
    }
    Ok(Clock { offset, skew })
}

const OFFSET_MAX_S: f64 = 366.0 * 86_400.0;
