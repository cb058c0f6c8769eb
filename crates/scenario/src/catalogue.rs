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
}
impl Kind for dyn Router {
    type Context = BuildContext;
    type Built = Built<dyn Router>;
}
impl Kind for dyn Mechanism {
    type Context = BuildContext;
    type Built = Built<dyn Mechanism>;
}
impl Kind for dyn Controller {
    type Context = Flow;
    type Built = Box<dyn Controller>;
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
    /// Names of what it requires (routers, for a mechanism; a contact plan, for a router); empty: any.
    pub only_with: Vec<String>,
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
    A: ?Sized + dtn::Kind + Kind<Context = BuildContext, Built = Built<A>>,
{
    fn from(entry: &'static dtn::Entry<A>) -> Self {
        Self {
            name: entry.name.to_owned(),
            paper: entry.paper.to_owned(),
            parameters: Cow::Borrowed(entry.parameters),
            only_with: entry.only_with.iter().map(|&name| name.to_owned()).collect(),
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
            build: Arc::new(|given, flow| entry.build(given, flow)),
        }
    }
}

/// Routers and mechanisms by name.
#[derive(Clone, Debug)]
pub struct Catalogue {
    routers: Vec<Arc<Entry<dyn Router>>>,
    mechanisms: Vec<Arc<Entry<dyn Mechanism>>>,
}

impl Default for Catalogue {
    /// What the protocols bring.
    fn default() -> Self {
        Self {
            routers: dtn::routers::TABLE.iter().map(|entry| Arc::new(entry.into())).collect(),
            mechanisms: dtn::mechanisms::TABLE.iter().map(|entry| Arc::new(entry.into())).collect(),
        }
    }
}

impl Catalogue {
    /// Adds a router, in place of one of the same name.
    pub fn register_router(&mut self, entry: Entry<dyn Router>) {
        register(&mut self.routers, entry);
    }
    /// Adds a mechanism, in place of one of the same name.
    pub fn register_mechanism(&mut self, entry: Entry<dyn Mechanism>) {
        register(&mut self.mechanisms, entry);
    }
    /// All routers.
    pub fn routers(&self) -> &[Arc<Entry<dyn Router>>] {
        &self.routers
    }
    /// All mechanisms.
    pub fn mechanisms(&self) -> &[Arc<Entry<dyn Mechanism>>] {
        &self.mechanisms
    }
    /// The router of that name.
    ///
    /// # Errors
    /// The names that exist.
    pub fn router(&self, name: &str) -> Result<Arc<Entry<dyn Router>>, String> {
        find(&self.routers, name)
    }
    /// The mechanism of that name.
    ///
    /// # Errors
    /// The names that exist.
    pub fn mechanism(&self, name: &str) -> Result<Arc<Entry<dyn Mechanism>>, String> {
        find(&self.mechanisms, name)
    }
}

fn register<A: ?Sized + Kind>(list: &mut Vec<Arc<Entry<A>>>, entry: Entry<A>) {
    list.retain(|known| known.name != entry.name);
    list.push(Arc::new(entry));
}

fn find<A: ?Sized + Kind>(list: &[Arc<Entry<A>>], name: &str) -> Result<Arc<Entry<A>>, String> {
    list.iter().find(|entry| entry.name == name).cloned().ok_or_else(|| {
        let known: Vec<&str> = list.iter().map(|entry| entry.name.as_str()).collect();
        suggestion(name, &known)
    })
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
    fn built_for_algorithms_are_found_and_a_registered_one_takes_the_place_of_its_namesake() {
        let mut catalogue = Catalogue::default();
        assert_eq!(catalogue.router("epidemic").unwrap().name, "epidemic");
        assert_eq!(catalogue.router("epidemik").unwrap_err(), "did you mean `epidemic`?");
        let count = catalogue.mechanisms().len();
        catalogue.register_mechanism(Entry {
            name: "none".to_owned(),
            paper: "mine".to_owned(),
            parameters: Cow::Borrowed(&[]),
            only_with: Vec::new(),
            build: Arc::new(|_, _| Built {
                algorithm: Box::new(dtn::mechanisms::None),
                properties: dtn::Needs::NONE,
            }),
        });
        assert_eq!(catalogue.mechanisms().len(), count);
        assert_eq!(catalogue.mechanism("none").unwrap().paper, "mine");
    }
}
