//! The controllers that flows and consumers name.

use crate::{Algorithm, Algorithms, Node, Result, Section, algorithm};
use lightlag_protocols::controllers::{Controller, Factory, Flow};
use lightlag_protocols::units::Bytes;

/// A controller with its parameters.
pub type Chosen = Algorithm<dyn Controller>;

/// The controllers that a scenario may name.
pub type Known = Algorithms<dyn Controller>;

/// The controller that `node` names, under `key` of a table.
///
/// # Errors
/// An unknown name, a wrong parameter, or a controller that is not supported over `transport` (`ndn` for
/// consumers of named data).
pub fn controller(
    section: &Section,
    key: &str,
    node: &Node,
    transport: &str,
    known: &Known,
) -> Result<Chosen> {
    let chosen = algorithm(node, &section.key(key), known)?;
    let Algorithm { entry, .. } = &chosen;
    if entry.only_with.is_empty() || entry.only_with.iter().any(|name| name == transport) {
        return Ok(chosen);
    }
    let what = format!("controller `{}` is not supported over transport `{transport}`", entry.name);
    let right = format!("it works over `{}`", entry.only_with.join("`, `"));
    section.refuse(key, what, right)
}

/// Refuses a controller without a bound of window or rate: unlimited data would all leave at once, without end.
///
/// `other` is what bounds it, too.
///
/// # Errors
/// It has no bound.
pub fn refuse_unbounded(section: &Section, controller: &Factory, other: &str) -> Result<()> {
    let built = controller.build(Flow::new(Bytes(1460), Bytes(1500)));
    if built.window() < Bytes::MAX || built.rate().is_some() {
        return Ok(());
    }
    let what = format!("controller `{}` has no bound, nor has the data", controller.name());
    section.refuse("controller", what, format!("give it a `window` or a `rate`, or {other}"))
}

/// What builds the controllers that a scenario names.
pub fn factory(algorithm: &Chosen) -> Factory {
    let Algorithm { entry, parameters } = algorithm.clone();
    let rate_samples = entry.needs.rate_samples;
    Factory::new(&algorithm.entry.name, move |flow| (entry.build)(&parameters, flow)).sampling(rate_samples)
}
