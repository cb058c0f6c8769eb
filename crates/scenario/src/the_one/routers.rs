//! The ONE's routers and their settings.

use super::numbers::{boolean, double, int, list};
use super::settings::{Found, Space};
use crate::catalogue::{Catalogue, resolve};
use crate::error::Result;
use crate::model::Algorithm;
use lightlag_protocols::dtn::{Router, Value};
use std::collections::BTreeMap;

/// A class, the router that it is here, and its settings.
pub struct Class {
    /// Its name in The ONE, its namespace too.
    pub name: &'static str,
    router: &'static str,
    /// Its settings.
    pub settings: &'static [Key],
    /// Whether the settings are those of the group, not of the class.
    of_group: bool,
    /// Parameters that always have these values there.
    fixed: &'static [(&'static str, f64)],
}

/// A setting and the parameter that it is here.
pub struct Key {
    /// Its name in The ONE.
    pub name: &'static str,
    parameter: &'static str,
    kind: Kind,
    needed: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Double,
    Int,
    Binary,
    /// One of two numbers.
    First,
    Second,
}

const fn key(name: &'static str, parameter: &'static str, kind: Kind, needed: bool) -> Key {
    Key { name, parameter, kind, needed }
}

const PROPHET: &[Key] = &[
    key("secondsInTimeUnit", "time_unit", Kind::Int, true),
    key("beta", "beta", Kind::Double, false),
    key("gamma", "gamma", Kind::Double, false),
];

/// The routers that are supported.
pub const CLASSES: &[Class] = &[
    Class { name: "EpidemicRouter", router: "epidemic", settings: &[], of_group: false, fixed: &[] },
    Class {
        name: "EpidemicOracleRouter",
        router: "epidemic_oracle",
        settings: &[],
        of_group: false,
        fixed: &[],
    },
    Class { name: "DirectDeliveryRouter", router: "direct", settings: &[], of_group: false, fixed: &[] },
    Class { name: "PassiveRouter", router: "passive", settings: &[], of_group: false, fixed: &[] },
    Class {
        name: "LifeRouter",
        router: "life",
        settings: &[key("nmcount", "least", Kind::First, true), key("nmcount", "most", Kind::Second, true)],
        of_group: true,
        fixed: &[],
    },
    Class {
        name: "WaveRouter",
        router: "wave",
        settings: &[
            key("immunityTime", "immunity", Kind::Double, true),
            key("custodyFraction", "custody_fraction", Kind::Double, true),
        ],
        of_group: true,
        fixed: &[],
    },
    Class {
        name: "ProphetRouterWithEstimation",
        router: "prophet_estimated",
        settings: &[
            key("timeScale", "time_scale", Kind::Int, true),
            key("targetPavg", "target", Kind::Double, false),
            key("beta", "beta", Kind::Double, false),
        ],
        of_group: false,
        // Its nodes predict nothing until they meet a node again.
        fixed: &[("p_init", 0.0), ("gamma", 0.0)],
    },
    Class {
        name: "MaxPropRouterWithEstimation",
        router: "max_prop_estimated",
        settings: &[key("timeScale", "time_scale", Kind::Int, true)],
        of_group: false,
        fixed: &[],
    },
    Class { name: "FirstContactRouter", router: "first_contact", settings: &[], of_group: false, fixed: &[] },
    Class {
        name: "SprayAndWaitRouter",
        router: "spray_and_wait",
        settings: &[
            key("nrofCopies", "copies", Kind::Int, true),
            key("binaryMode", "mode", Kind::Binary, true),
        ],
        of_group: false,
        fixed: &[],
    },
    Class { name: "ProphetRouter", router: "prophet", settings: PROPHET, of_group: false, fixed: &[] },
    Class { name: "ProphetV2Router", router: "prophet_v2", settings: PROPHET, of_group: false, fixed: &[] },
    Class {
        name: "MaxPropRouter",
        router: "max_prop",
        settings: &[
            key("alpha", "alpha", Kind::Double, false),
            key("probSetMaxSize", "probabilities", Kind::Int, false),
        ],
        of_group: false,
        fixed: &[],
    },
];

/// The router of a group.
pub fn router(found: &Found, group: &Space, catalogue: &Catalogue) -> Result<Algorithm<dyn Router>> {
    let name = found.value.strip_prefix("routing.").unwrap_or(found.value);
    let Some(class) = CLASSES.iter().find(|class| class.name == name) else {
        let names: Vec<&str> = CLASSES.iter().map(|class| class.name).collect();
        return Err(found.unsupported(&names));
    };
    let entry =
        catalogue.routers.find(class.router).map_err(|right| found.wrong("has no router here", right))?;
    let space = if class.of_group { group.clone() } else { group.run.space(class.name) };
    let fixed = class.fixed.iter().map(|&(parameter, value)| (parameter.to_owned(), Value::Number(value)));
    let mut given: BTreeMap<String, Value> = fixed.collect();
    let mut place = found.place.clone();
    for key in class.settings {
        let setting = if key.needed { Some(space.need(key.name, "...")?) } else { space.find(key.name) };
        let Some(setting) = setting else { continue };
        let value = match key.kind {
            Kind::Double => Value::Number(setting.parse(double)?),
            Kind::Int => Value::Number(f64::from(setting.parse(int)?)),
            Kind::First | Kind::Second => {
                let numbers = setting.parse(|text| list(text, int))?;
                let [low, high] = numbers[..] else {
                    return Err(setting.wrong("is not a pair of numbers", "write two numbers, like 1, 3"));
                };
                Value::Number(f64::from(if matches!(key.kind, Kind::First) { low } else { high }))
            }
            Kind::Binary => Value::Word(if setting.parse(boolean)? { "binary" } else { "source" }.into()),
        };
        given.insert(key.parameter.to_owned(), value);
        place = setting.place.clone();
        // One at a time, so that an error has the place of its own setting.
        resolve(&entry, &given).map_err(|wrong| crate::Error::at(&place, wrong))?;
    }
    let parameters = resolve(&entry, &given).map_err(|wrong| crate::Error::at(&place, wrong))?;
    Ok(Algorithm { entry, parameters })
}

/// The setting of The ONE that a parameter of a router is; without a namespace it is one of the group.
pub fn setting_of(router: &str, parameter: &str) -> Option<String> {
    let class = CLASSES.iter().find(|class| class.router == router)?;
    let key = class.settings.iter().find(|key| key.parameter == parameter)?;
    Some(if class.of_group { key.name.to_owned() } else { format!("{}.{}", class.name, key.name) })
}
