//! The tables of routers and mechanisms: what a row declares, and what is built from it.

use super::{ContactPlan, Mechanism, Needs, NodeId, Router, RouterProperties};
use crate::parameter::{Parameter, Parameters};
use std::sync::Arc;

/// The node and the network for which an algorithm is built.
#[derive(Clone, Debug, Default)]
pub struct BuildContext {
    /// The node.
    pub node: NodeId,
    /// How many nodes there are (numbers below this one).
    pub nodes: u32,
    /// The run's seed, for random streams of the algorithm.
    pub seed: u64,
    /// The planned contacts; empty without a plan, and for what does not declare that it reads one.
    pub plan: Arc<ContactPlan>,
    /// For a mechanism: what the node's router is like.
    pub router: RouterProperties,
}

/// Routers or mechanisms: `dyn Router` or `dyn Mechanism`.
pub trait Kind {
    /// What stays the same for an algorithm of this kind once it is built.
    type Properties: Copy;
    /// Whether it reads the contact plan.
    fn reads_plan(properties: &Self::Properties) -> bool;
}
impl Kind for dyn Router {
    type Properties = RouterProperties;
    fn reads_plan(properties: &RouterProperties) -> bool {
        properties.contact_plan
    }
}
impl Kind for dyn Mechanism {
    type Properties = Needs;
    fn reads_plan(needs: &Needs) -> bool {
        needs.contact_plan
    }
}

/// A row of a table: all that the rest of the system needs to know of an algorithm.
pub struct Entry<A: ?Sized + Kind> {
    /// File = type = string in a scenario = page in the docs.
    pub name: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Names of what it requires (routers, for a mechanism; [`super::CONTACT_PLAN`], for a router); empty:
    /// any.
    pub only_with: &'static [&'static str],
    /// What never changes for it.
    pub properties: fn(&Parameters, &BuildContext) -> A::Properties,
    /// Builds one for a node.
    pub build: fn(&Parameters, BuildContext) -> Box<A>,
}

impl<A: ?Sized + Kind> Entry<A> {
    /// Builds one for a node, with its properties. Only what declares that it reads the contact plan gets it.
    pub fn built(&self, parameters: &Parameters, mut context: BuildContext) -> Built<A> {
        let properties = (self.properties)(parameters, &context);
        if !A::reads_plan(&properties) {
            context.plan = Arc::default();
        }
        Built { algorithm: (self.build)(parameters, context), properties }
    }
}

/// A router or mechanism that was built for a node, and its properties.
pub struct Built<A: ?Sized + Kind> {
    /// The algorithm.
    pub algorithm: Box<A>,
    /// What never changes for it.
    pub properties: A::Properties,
}
