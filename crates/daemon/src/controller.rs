//! The congestion controller of datagrams, as the settings name it: `"contact_rate"`, or a table with `name` and
//! parameters, as in scenarios.

use lightlag_protocols::controllers::{self, Controller, Entry, Flow};
use lightlag_protocols::parameter::{Parameters, Value};
use lightlag_protocols::units::{BitRate, parse};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// Used where the settings name none: it keeps its rate while packets are lost for other reasons than congestion.
const DEFAULT: &str = "contact_rate";
/// Controllers for this transport can be named.
const TRANSPORT: &str = "udpdtn";
/// The parameter of a controller that the setting `first_rate` sets, in bit/s.
const FIRST_RATE: &str = "blind_rate";

/// A controller and its parameters; they fit each other.
#[derive(Clone, Debug)]
pub struct ControllerChoice {
    name: String,
    given: BTreeMap<String, Value>,
}

impl Default for ControllerChoice {
    fn default() -> Self {
        Self { name: DEFAULT.to_owned(), given: BTreeMap::new() }
    }
}

impl ControllerChoice {
    /// A name and parameters that were read.
    ///
    /// # Errors
    /// There is no such controller over UDPDTN, or a parameter does not fit: one line.
    fn new(name: String, given: &BTreeMap<String, toml::Value>) -> Result<Self, String> {
        let entry = entry(&name)?;
        let declared = entry.algorithm.parameters;
        let unit = |key: &str| declared.iter().find(|one| one.name == key).map_or("", |one| one.unit);
        let given = given.iter().map(|(key, value)| {
            let value = read(value, unit(key)).map_err(|why| format!("controller `{name}`: {key}: {why}"))?;
            Ok((key.clone(), value))
        });
        let given = given.collect::<Result<_, String>>()?;
        Parameters::resolve(&name, declared, &given).map_err(|why| why.to_string())?;
        Ok(Self { name, given })
    }
    /// Makes one for a flow, which begins at a rate unless the settings of the controller say another one.
    pub fn build(&self, first_rate: BitRate, flow: Flow) -> Box<dyn Controller> {
        let entry = entry(&self.name).expect("it was found when the settings were read");
        let declared = entry.algorithm.parameters;
        let mut given = self.given.clone();
        if declared.iter().any(|one| one.name == FIRST_RATE) {
            given.entry(FIRST_RATE.to_owned()).or_insert(Value::Number(first_rate.0 as f64));
        }
        let parameters = Parameters::resolve(&self.name, declared, &given);
        entry.build(&parameters.expect("rates that the settings may have are in range"), flow)
    }
}

fn entry(name: &str) -> Result<&'static Entry, String> {
    let fits = |entry: &&Entry| {
        let with = entry.algorithm.only_with;
        with.is_empty() || with.contains(&TRANSPORT)
    };
    controllers::find(name).filter(fits).ok_or_else(|| {
        let known: Vec<&str> =
            controllers::TABLE.iter().filter(fits).map(|entry| entry.algorithm.name).collect();
        format!(
            "controller {} is not supported over UDPDTN; accepted: {}",
            parse::quoted(name),
            known.join(", ")
        )
    })
}

/// A number, a quantity with its unit, a flag or a word.
fn read(value: &toml::Value, unit: &str) -> Result<Value, String> {
    match value {
        toml::Value::Integer(number) => Ok(Value::Number(*number as f64)),
        toml::Value::Float(number) => Ok(Value::Number(*number)),
        toml::Value::Boolean(flag) => Ok(Value::Flag(*flag)),
        toml::Value::String(text) if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            parse::in_unit(text, unit).map(Value::Number).map_err(|wrong| wrong.to_string())
        }
        toml::Value::String(word) => Ok(Value::Word(word.clone().into())),
        other => Err(format!("a {}; a number, true, false or a word is accepted", other.type_str())),
    }
}

impl<'de> Deserialize<'de> for ControllerChoice {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        /// As TOML may have it.
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "it must be a controller's name, or a table with name and parameters")]
        enum Given {
            Name(String),
            Table {
                name: String,
                #[serde(flatten)]
                parameters: BTreeMap<String, toml::Value>,
            },
        }
        let (name, parameters) = match Given::deserialize(from)? {
            Given::Name(name) => (name, BTreeMap::new()),
            Given::Table { name, parameters } => (name, parameters),
        };
        Self::new(name, &parameters).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_protocols::units::Bytes;

    #[derive(Debug, Deserialize)]
    struct Settings {
        controller: ControllerChoice,
    }

    fn flow() -> Flow {
        let (segment, packet) = (Bytes(1200), Bytes(1280));
        Flow { segment, packet, planned_rate: None, planned_round_trip: None, seed: 0, index: 0 }
    }

    #[test]
    fn a_controller_is_a_name_or_a_table_and_begins_at_the_first_rate() {
        let read = |text: &str| toml::from_str::<Settings>(text).map(|read| read.controller);
        let rate = |choice: &ControllerChoice| choice.build(BitRate(8000), flow()).rate();
        assert_eq!(rate(&ControllerChoice::default()), Some(BitRate(8000)));
        assert_eq!(rate(&read("controller = \"contact_rate\"").unwrap()), Some(BitRate(8000)));
        let fixed = read("controller = { name = \"fixed\", rate = \"2 Mbit/s\" }").unwrap();
        assert_eq!(rate(&fixed), Some(BitRate(2_000_000)));
        for (wrong, said) in [
            ("\"contact_rat\"", "accepted: "),
            ("{ name = \"fixed\", rat = 1 }", "rat"),
            ("{ name = \"fixed\", rate = \"2 parsec\" }", "not a unit of rate"),
            ("7", "a controller's name"),
        ] {
            let why = read(&format!("controller = {wrong}")).unwrap_err().to_string();
            assert!(why.contains(said), "{wrong}: {why}");
        }
    }

    #[test]
    fn every_controller_that_can_be_named_can_be_built() {
        for entry in controllers::TABLE.iter().filter(|one| entry(one.algorithm.name).is_ok()) {
            let choice = ControllerChoice { name: entry.algorithm.name.to_owned(), given: BTreeMap::new() };
            let _ = choice.build(BitRate(1_000_000), flow());
        }
    }
}
