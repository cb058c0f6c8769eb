//! From a name and parameters to controllers.

use super::{Controller, Entry, Flow, TABLE, find};
use crate::parameter::{ParameterError, Parameters, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// An algorithm with its parameters: builds a controller per flow.
#[derive(Clone)]
pub struct Factory {
    name: Arc<str>,
    build: Arc<dyn Fn(Flow) -> Box<dyn Controller> + Send + Sync>,
    rate_samples: bool,
}

/// Why a name and parameters give no controller.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ControllerError {
    /// No row of the table has this name.
    #[error("unknown controller `{name}`; name one of {known}")]
    Unknown {
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A parameter does not fit.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

impl Factory {
    /// The controller of this name, with the parameters `given` and the defaults for the rest.
    ///
    /// # Errors
    /// An unknown name, or the first parameter that is unknown or out of its range.
    pub fn resolve(name: &str, given: &BTreeMap<String, Value>) -> Result<Self, ControllerError> {
        let Some(entry) = find(name) else {
            let known: Vec<&str> = TABLE.iter().map(|entry| entry.algorithm.name).collect();
            return Err(ControllerError::Unknown { name: name.to_owned(), known: known.join(", ") });
        };
        let parameters = Parameters::resolve(name, entry.algorithm.parameters, given)?;
        Ok(Self::new(name, move |flow| entry.build(&parameters, flow)).sampling(entry.needs.rate_samples))
    }
    /// From a function, as for a controller that is not in the table.
    pub fn new(name: &str, build: impl Fn(Flow) -> Box<dyn Controller> + Send + Sync + 'static) -> Self {
        Self { name: name.into(), build: Arc::new(build), rate_samples: false }
    }
    /// Whether its controllers read [`super::Ack::sample`].
    #[must_use]
    pub fn sampling(self, rate_samples: bool) -> Self {
        Self { rate_samples, ..self }
    }
    /// A controller for this flow.
    pub fn build(&self, flow: Flow) -> Box<dyn Controller> {
        (self.build)(flow)
    }
    /// The algorithm's name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// It reads [`super::Ack::sample`].
    pub fn rate_samples(&self) -> bool {
        self.rate_samples
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Factory({})", self.name)
    }
}

impl Entry {
    /// Whether it works over this transport (its name in scenarios).
    pub fn fits(&self, transport: &str) -> bool {
        let only_with = self.algorithm.only_with;
        only_with.is_empty() || only_with.contains(&transport)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn a_name_and_parameters_give_a_controller_or_a_line_with_what_would_be_right() {
        let given = |name: &str, n: f64| BTreeMap::from([(name.to_owned(), Value::Number(n))]);
        let fixed = Factory::resolve("fixed", &given("window", 5000.0)).expect("it is in the table");
        assert_eq!(fixed.build(Flow::new(Bytes(1000), Bytes(1040))).window(), Bytes(5000));
        assert!(!fixed.rate_samples());
        let wrong = Factory::resolve("fixed", &given("windows", 1.0)).expect_err("it has none");
        assert_eq!(wrong.to_string(), "`fixed` has no parameter `windows`; it has: window, rate");
        let unknown = Factory::resolve("fixd", &BTreeMap::new()).expect_err("no such row").to_string();
        assert!(unknown.starts_with("unknown controller `fixd`; name one of aimd, arc, "), "{unknown}");
    }
}
