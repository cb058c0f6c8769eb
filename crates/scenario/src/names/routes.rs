//! Every node knows the shortest path to every producer.

use super::{ConsumerPlan, NodePlan, ProducerPlan};
use crate::packets::{LinkPlan, Network};
use crate::{Result, Section};

/// Nodes times producers times links.
const ROUTES_MAX: usize = 200_000_000;

/// Routes by fewest links; of equal paths that of the links named first.
pub fn lay(
    root: &Section,
    nodes: &mut [NodePlan],
    links: &[LinkPlan],
    producers: &[ProducerPlan],
    consumers: &[ConsumerPlan],
) -> Result<()> {
    let work = nodes.len().saturating_mul(producers.len()).saturating_mul(links.len());
    if work > ROUTES_MAX {
        let what = format!("nodes, producers and links make {work} steps to routes");
        return root.refuse("links", what, format!("at most {ROUTES_MAX}; name fewer"));
    }
    let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
    for producer in producers {
        let there = &names[producer.spec.node as usize];
        for node in nodes.iter_mut().filter(|node| node.name != *there) {
            let Some(path) = Network::path(links, &node.name, there) else { continue };
            let Some(&first) = path.first() else { continue };
            node.spec.routes.push((producer.spec.prefix, first, path.len() as u32));
        }
    }
    for consumer in consumers {
        let here = &nodes[consumer.node as usize];
        let lives_here = producers.iter().any(|producer| producer.spec.node == consumer.node);
        if here.spec.routes.is_empty() && !lives_here {
            let what = format!("no links lead from `{}` to any producer", here.name);
            return root.refuse("consumers", what, "join them by tables [links.NAME]");
        }
    }
    Ok(())
}
