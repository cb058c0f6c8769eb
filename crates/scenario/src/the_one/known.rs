//! Which settings mean something, which mean nothing here, and which are mistakes.

use super::routers::CLASSES;
use super::settings::{Layers, Setting, values};
use crate::catalogue::Catalogue;
use crate::error::{Result, quoted, suggestion};
use crate::file::Ignored;
use crate::the_one::REPORTS;

const SCENARIO: &[&str] = &["name", "simulateConnections", "updateInterval", "endTime", "nrofHostGroups"];
const GROUP: &[&str] = words![
    groupID nrofHosts router movementModel bufferSize msgTtl sendQueue deleteDelivered speed waitTime
    nrofInterfaces okMaps nodeLocation pois mechanism receipts dropMemory
];
/// Keys of groups that only classes read which are not supported: those classes are errors already.
const GROUP_FOREIGN: &[&str] = words![
    routeFile routeType routeFirstStop clusterCenter clusterRange busControlSystemNr
    shoppingControlSystemNr homeLocationsFile officeLocationsFile meetingSpotsFile timeDiffSTD
    ownCarProb workDayLength probGoShoppingAfterWork nmcount immunityTime custodyFraction
];
const EVENTS: &[&str] =
    &["class", "filePath", "nrofPreload", "interval", "size", "hosts", "tohosts", "prefix", "time"];
const INTERFACE: &[&str] = &["type", "transmitSpeed", "transmitRange"];
/// Namespaces that only steer the screen or the speed of The ONE.
const MEANINGLESS: &[&str] = &["GUI", "Optimization", "Settings", "MovementEngine", "DTN2"];
/// Namespaces of classes that are not supported: without their class nothing reads them.
const FOREIGN: &[&str] = words![
    PointsOfInterest ExternalMovement ExternalPathMovement LinearMovement LinearFormation GridLocation
    WaveRouter LifeRouter ProphetRouterWithEstimation MaxPropRouterWithEstimation EpidemicOracleRouter
    PassiveRouter ExternalEvents TimeScale
];

const REPORT: &[&str] =
    &["nrofReports", "reportDir", "warmup", "precision", "granularity", "occupancyInterval"];
/// What every class of reports reads in its own namespace.
const REPORT_CLASS: &[&str] = &["warmup", "precision", "output"];
/// Classes of reports that are not supported: naming one as a report is an error already.
const REPORT_FOREIGN: &[&str] = words![
    AdjacencyGraphvizReport ConnectivityDtnsim2Report ContactsDuringAnICTReport ContactsPerHourReport
    DistanceDelayReport EncountersVSUniqueEncountersReport EnergyLevelReport
    FullMessageTransmissionReport LocationSnapshotReport MessageCopyCountReport MessageGraphvizReport
    MessageLocationReport MovementNs2Report NodeDensityReport SnapshotReport TotalEncountersReport
    UniqueEncountersReport
];

/// What becomes of a setting.
enum Verdict {
    Read,
    Ignored(&'static str),
    Unknown(String),
}

/// Refuses settings that would be read if they were spelt right, or that change a run in The ONE
/// and would not here.
pub fn check(layers: &Layers, catalogue: &Catalogue) -> Result<()> {
    for (key, setting) in layers.iter() {
        if let Verdict::Unknown(right) = verdict(key, setting, layers, catalogue) {
            return setting.place.refuse(format!("{} is not supported", quoted(key)), right);
        }
    }
    Ok(())
}

/// What means nothing here.
pub fn ignored(layers: &Layers, catalogue: &Catalogue) -> Vec<Ignored> {
    let found = layers.iter().filter_map(|(key, setting)| match verdict(key, setting, layers, catalogue) {
        Verdict::Ignored(reason) => {
            Some(Ignored { place: setting.place.clone(), key: key.to_owned(), reason })
        }
        _ => None,
    });
    found.collect()
}

fn verdict(key: &str, setting: &Setting, layers: &Layers, catalogue: &Catalogue) -> Verdict {
    let Some((space, name)) = key.split_once('.') else {
        return Verdict::Unknown("a setting is called NAMESPACE.KEY".to_owned());
    };
    let of = |known: &[&str]| {
        if known.contains(&name) { Verdict::Read } else { Verdict::Unknown(suggestion(name, known)) }
    };
    if let Some(class) = CLASSES.iter().find(|class| class.name == space) {
        let known: Vec<&str> = class.settings.iter().map(|key| key.name).collect();
        return of(&known);
    }
    let of_group = || match name.strip_prefix("mechanism.") {
        Some(parameter) => mechanism_parameter(space, parameter, layers, catalogue),
        None => group(name),
    };
    match (space, numbered(space)) {
        ("Scenario", _) if name == "nrofInterfaceTypes" => Verdict::Ignored("The ONE does not read it"),
        ("Scenario", _) => of(SCENARIO),
        ("Optimization", _) if name == "simulateConnectionsOnce" => simulate_once(setting),
        ("MovementModel", _) => of(&["rngSeed", "worldSize", "warmup"]),
        ("MapBasedMovement", _) if numbered(name).is_some_and(|(stem, _)| stem == "mapFile") => Verdict::Read,
        ("MapBasedMovement", _) => of(&["nrofMapFiles"]),
        ("Events", _) => of(&["nrof"]),
        ("Limits", _) => of(&["events", "memory"]),
        (_, Some(("Events", n))) => bounded(n, layers, "Events.nrof", of(EVENTS)),
        ("Group", _) => of_group(),
        (_, Some(("Group", n))) => bounded(n, layers, "Scenario.nrofHostGroups", of_group()),
        _ if MEANINGLESS.contains(&space) => Verdict::Ignored("it steers The ONE's screen or speed"),
        ("Report", _) => report(name, layers),
        _ if REPORTS.contains(&space) => of(&report_keys(space)),
        _ if FOREIGN.contains(&space) || REPORT_FOREIGN.contains(&space) => Verdict::Read,
        _ => named(space, name, layers),
    }
}

/// A namespace that the user has named: an interface, or an unused one.
fn named(space: &str, name: &str, layers: &Layers) -> Verdict {
    if is_used(layers, space) {
        return match name {
            "scanInterval" => Verdict::Ignored("The ONE does not read it there"),
            _ if INTERFACE.contains(&name) => Verdict::Read,
            _ => Verdict::Unknown(suggestion(name, INTERFACE)),
        };
    }
    if layers.get(&format!("{space}.type")).is_some() {
        return Verdict::Ignored("no group uses it");
    }
    if space.ends_with("Report") {
        return Verdict::Unknown(format!("there is no such report; {}", suggestion(space, REPORTS)));
    }
    let spaces =
        ["Scenario", "Group", "Events", "MovementModel", "MapBasedMovement", "Report", "Optimization", "GUI"];
    Verdict::Unknown(format!("nothing reads its namespace; {}", suggestion(space, &spaces)))
}

/// Whether a group names it as its router or interface, at any run.
fn is_used(layers: &Layers, class: &str) -> bool {
    layers.iter().any(|(key, setting)| {
        let Some((space, name)) = key.split_once('.') else { return false };
        let of_group = space == "Group" || numbered(space).is_some_and(|(stem, _)| stem == "Group");
        let names = name == "router" || (name.starts_with("interface") && numbered(name).is_some());
        of_group
            && names
            && values(&setting.value).iter().any(|value| value.trim_start_matches("routing.") == class)
    })
}

fn group(name: &str) -> Verdict {
    let interface = numbered(name).is_some_and(|(stem, _)| stem == "interface");
    if GROUP.contains(&name) || interface {
        return Verdict::Read;
    }
    if GROUP_FOREIGN.contains(&name) {
        return Verdict::Ignored("only classes that no group uses read it");
    }
    match name {
        // No applications is what there is here.
        "nrofApplications" => Verdict::Ignored("there are no applications here"),
        _ => Verdict::Unknown(suggestion(name, GROUP)),
    }
}

/// A parameter must be one of the mechanism's; of the others that there are, while none is used.
fn mechanism_parameter(space: &str, name: &str, layers: &Layers, catalogue: &Catalogue) -> Verdict {
    let used: Vec<&str> = mechanisms(space, layers).into_iter().filter(|name| *name != "none").collect();
    let all = catalogue.mechanisms.iter();
    if used.iter().any(|name| catalogue.mechanisms.find(name).is_err()) {
        // The mechanism's own name is what is wrong.
        return Verdict::Read;
    }
    let parameters = |wanted: &dyn Fn(&str) -> bool| -> Vec<&str> {
        let entries = all.clone().filter(|entry| wanted(&entry.name));
        entries.flat_map(|entry| entry.parameters.iter().map(|parameter| parameter.name)).collect()
    };
    let mut known = parameters(&|mechanism| used.is_empty() || used.contains(&mechanism));
    known.sort_unstable();
    known.dedup();
    match known.contains(&name) {
        true if used.is_empty() => Verdict::Ignored("no group has a mechanism that reads it"),
        true => Verdict::Read,
        false => Verdict::Unknown(suggestion(name, &known)),
    }
}

/// The mechanisms that a parameter in this namespace may be meant for, at any run.
fn mechanisms<'a>(space: &str, layers: &'a Layers) -> Vec<&'a str> {
    let own = layers.get(&format!("{space}.mechanism")).filter(|setting| !setting.value.is_empty());
    if space != "Group" {
        let setting = own.or_else(|| layers.get("Group.mechanism"));
        return setting.map_or_else(Vec::new, |setting| values(&setting.value));
    }
    let of_groups = layers.iter().filter(|(key, _)| {
        let stem = key.strip_suffix(".mechanism").and_then(|space| space.strip_prefix("Group"));
        stem.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
    });
    of_groups.flat_map(|(_, setting)| values(&setting.value)).filter(|name| !name.is_empty()).collect()
}

fn report(name: &str, layers: &Layers) -> Verdict {
    match numbered(name) {
        Some(("report", number)) => bounded(number, layers, "Report.nrofReports", Verdict::Read),
        _ if REPORT.contains(&name) => Verdict::Read,
        _ => Verdict::Unknown(suggestion(name, REPORT)),
    }
}

/// The settings of a class of reports.
fn report_keys(class: &str) -> Vec<&'static str> {
    let own = match class {
        "BufferOccupancyReport" => Some("occupancyInterval"),
        "ContactTimesReport" | "InterContactTimesReport" | "TotalContactTimeReport" => Some("granularity"),
        _ => None,
    };
    REPORT_CLASS.iter().copied().chain(own).collect()
}

fn bounded(number: u32, layers: &Layers, count: &str, verdict: Verdict) -> Verdict {
    let all = layers.get(count).map_or_else(Vec::new, |setting| values(&setting.value));
    let most = all.into_iter().filter_map(|value| super::numbers::int(value).ok()).max();
    if most.is_some_and(|most| i64::from(number) > i64::from(most)) {
        return Verdict::Ignored("its number is above the count that is set");
    }
    verdict
}

fn simulate_once(setting: &Setting) -> Verdict {
    match super::numbers::boolean(&setting.value) {
        Ok(true) => Verdict::Unknown("contacts are simulated throughout; leave it out".to_owned()),
        _ => Verdict::Ignored("it steers The ONE's screen or speed"),
    }
}

/// `Group12` in its two parts.
fn numbered(text: &str) -> Option<(&str, u32)> {
    let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = text[stem.len()..].parse().ok()?;
    Some((stem, number))
}
