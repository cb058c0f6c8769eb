//! The ONE's routers and their settings.

use super::numbers::{boolean, double, int};
use super::settings::{Found, Run};
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
    Class { name: "EpidemicRouter", router: "epidemic", settings: &[] },
    Class { name: "DirectDeliveryRouter", router: "direct", settings: &[] },
    Class { name: "FirstContactRouter", router: "first_contact", settings: &[] },
    Class {
        name: "SprayAndWaitRouter",
        router: "spray_and_wait",
        settings: &[
            key("nrofCopies", "copies", Kind::Int, true),
            key("binaryMode", "mode", Kind::Binary, true),
        ],
    },
    Class { name: "ProphetRouter", router: "prophet", settings: PROPHET },
    Class { name: "ProphetV2Router", router: "prophet_v2", settings: PROPHET },
    Class {
        name: "MaxPropRouter",
        router: "max_prop",
        settings: &[
            key("alpha", "alpha", Kind::Double, false),
            key("probSetMaxSize", "probabilities", Kind::Int, false),
        ],
    },
];

/// The router of a group.
pub fn router(found: &Found, run: Run, catalogue: &Catalogue) -> Result<Algorithm<dyn Router>> {
    let name = found.value.strip_prefix("routing.").unwrap_or(found.value);
    let Some(class) = CLASSES.iter().find(|class| class.name == name) else {
        let names: Vec<&str> = CLASSES.iter().map(|class| class.name).collect();
        return Err(found.unsupported(&names));
    };
    let entry =
        catalogue.routers.find(class.router).map_err(|right| found.wrong("has no router here", right))?;
    let space = run.space(class.name);
    let mut given = BTreeMap::new();
    let mut place = found.place.clone();
    for key in class.settings {
        let setting = if key.needed { Some(space.need(key.name, "...")?) } else { space.find(key.name) };
        let Some(setting) = setting else { continue };
        let value = match key.kind {
            Kind::Double => Value::Number(setting.parse(double)?),
            Kind::Int => Value::Number(f64::from(setting.parse(int)?)),
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

/// The setting of The ONE that a parameter of a router is.
pub fn setting_of(router: &str, parameter: &str) -> Option<String> {
    let class = CLASSES.iter().find(|class| class.router == router)?;
    let key = class.settings.iter().find(|key| key.parameter == parameter)?;
    Some(format!("{}.{}", class.name, key.name))
}
