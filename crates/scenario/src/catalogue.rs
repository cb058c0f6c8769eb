//! The algorithms that scenarios can name: those of the protocols, and those that were registered.

use super::error::{Wrong, suggestion};
use lightlag_protocols::controllers::{self, Controller, Flow};
use lightlag_protocols::dtn::{self, BuildContext, Built, Mechanism, Parameter, Parameters, Router, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A kind of algorithm: `dyn Router`, `dyn Mechanism` or `dyn Controller`.
pub trait Kind {
    /// What an algorithm of this kind is built for.
    type Context;
    /// What building one gives.
    type Built;
    /// What a scenario's reader must know of one before it is built.
    type Needs;
}
impl Kind for dyn Router {
    type Context = BuildContext;
    type Built = Built<dyn Router>;
    type Needs = ();
}
impl Kind for dyn Mechanism {
    type Context = BuildContext;
    type Built = Built<dyn Mechanism>;
    type Needs = ();
}
impl Kind for dyn Controller {
    type Context = Flow;
    type Built = Box<dyn Controller>;
    type Needs = controllers::Needs;
}

/// Builds an algorithm with its parameters.
pub type Build<A> = Arc<dyn Fn(&Parameters, <A as Kind>::Context) -> <A as Kind>::Built + Send + Sync>;

/// An algorithm that a scenario can name.
pub struct Entry<A: ?Sized + Kind> {
    /// What scenarios call it.
    pub name: String,
    /// Where it comes from.
    pub paper: String,
    /// Its parameters.
    pub parameters: Cow<'static, [Parameter]>,
    /// Names of what it requires (routers, for a mechanism; a contact plan, for a router; transports, for a
    /// controller); empty: any.
    pub only_with: Vec<String>,
    /// What the reader must know before it is built.
    pub needs: A::Needs,
    /// Builds one.
    pub build: Build<A>,
}

impl<A: ?Sized + Kind> fmt::Debug for Entry<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl<A> From<&'static dtn::Entry<A>> for Entry<A>
where
    A: ?Sized + dtn::Kind + Kind<Context = BuildContext, Built = Built<A>, Needs = ()>,
{
    fn from(entry: &'static dtn::Entry<A>) -> Self {
        Self {
            name: entry.name.to_owned(),
            paper: entry.paper.to_owned(),
            parameters: Cow::Borrowed(entry.parameters),
            only_with: entry.only_with.iter().map(|&name| name.to_owned()).collect(),
            needs: (),
            build: Arc::new(|given, context| entry.built(given, context)),
        }
    }
}

impl From<&'static controllers::Entry> for Entry<dyn Controller> {
    fn from(entry: &'static controllers::Entry) -> Self {
        let algorithm = &entry.algorithm;
        Self {
            name: algorithm.name.to_owned(),
            paper: algorithm.paper.to_owned(),
            parameters: Cow::Borrowed(algorithm.parameters),
            only_with: algorithm.only_with.iter().map(|&name| name.to_owned()).collect(),
            needs: entry.needs,
            build: Arc::new(|given, flow| entry.build(given, flow)),
        }
    }
}

/// The algorithms of a kind, by name.
pub struct Algorithms<A: ?Sized + Kind>(Vec<Arc<Entry<A>>>);

impl<A: ?Sized + Kind> Clone for Algorithms<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: ?Sized + Kind> fmt::Debug for Algorithms<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}

impl<A: ?Sized + Kind> Algorithms<A> {
    fn of<E: 'static>(table: &'static [E]) -> Self
    where
        Entry<A>: From<&'static E>,
    {
        Self(table.iter().map(|entry| Arc::new(entry.into())).collect())
    }
    /// Adds one, in place of one of the same name.
    pub fn register(&mut self, entry: Entry<A>) {
        self.0.retain(|known| known.name != entry.name);
        self.0.push(Arc::new(entry));
    }
    /// All of them; those that were registered come last.
    pub fn iter(&self) -> impl Iterator<Item = &Entry<A>> + Clone {
        self.0.iter().map(|entry| &**entry)
    }
    /// The one of that name.
    ///
    /// # Errors
    /// The names that exist.
    pub fn find(&self, name: &str) -> Result<Arc<Entry<A>>, String> {
        self.0.iter().find(|entry| entry.name == name).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.0.iter().map(|entry| entry.name.as_str()).collect();
            suggestion(name, &known)
        })
    }
}

/// The algorithms that a scenario may name.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// Routers of bundles.
    pub routers: Algorithms<dyn Router>,
    /// Congestion mechanisms of nodes that store bundles.
    pub mechanisms: Algorithms<dyn Mechanism>,
    /// Congestion controllers of flows and of consumers of named data.
    pub controllers: Algorithms<dyn Controller>,
}

impl Default for Catalogue {
    /// What the protocols bring.
    fn default() -> Self {
        Self {
            routers: Algorithms::of(dtn::routers::TABLE),
            mechanisms: Algorithms::of(dtn::mechanisms::TABLE),
            controllers: Algorithms::of(controllers::TABLE),
        }
    }
}

/// The parameters of an algorithm: those given, the defaults for the rest.
///
/// # Errors
/// The first that is unknown or out of its range.
pub fn resolve<A: ?Sized + Kind>(
    entry: &Entry<A>,
    given: &BTreeMap<String, Value>,
) -> Result<Parameters, Wrong> {
    Parameters::resolve(&entry.name, &entry.parameters, given).map_err(|error| {
        let text = error.to_string();
        let (what, right) = text.split_once("; ").unwrap_or((&text, "see `lightlag list`"));
        Wrong::new(what, right)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_algorithms_are_found_and_a_registered_one_takes_the_place_of_its_namesake() {
        let Catalogue { routers, mut mechanisms, .. } = Catalogue::default();
        assert_eq!(routers.find("epidemic").unwrap().name, "epidemic");
        assert_eq!(routers.find("epidemik").unwrap_err(), "did you mean `epidemic`?");
        let count = mechanisms.iter().count();
        mechanisms.register(Entry {
            name: "none".to_owned(),
            paper: "mine".to_owned(),
            parameters: Cow::Borrowed(&[]),
            only_with: Vec::new(),
            needs: (),
            build: Arc::new(|_, _| Built {
                algorithm: Box::new(dtn::mechanisms::None),
                properties: dtn::Needs::NONE,
            }),
        });
        assert_eq!(mechanisms.iter().count(), count);
        assert_eq!(mechanisms.find("none").unwrap().paper, "mine");
    }
}
