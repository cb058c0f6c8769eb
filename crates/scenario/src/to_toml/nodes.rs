//! Groups of nodes: their algorithms, how they move, their radios.

use super::Origin;
use super::text::{Document, bytes, inline, list, plain, rate, time, times};
use crate::catalogue::Kind;
use crate::keys;
use crate::model::{Activity, Algorithm, Group, Map, Mobility, Radio};
use crate::models::MOBILITY;
use crate::the_one::setting_of;
use crate::tracks::Format;
use lightlag_protocols::dtn::{Parameter, Value};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::Bytes;
use std::collections::BTreeSet;

/// The settings of nodes that are the same in all groups: they stand once, for all nodes, where they can be changed.
pub struct Shared {
    buffer: bool,
    router: bool,
    mechanism: bool,
}

impl Shared {
    /// Of these groups.
    pub fn of(all: &[Group]) -> Self {
        fn same<T: PartialEq>(all: &[Group], of: impl Fn(&Group) -> T) -> bool {
            all.windows(2).all(|pair| of(&pair[0]) == of(&pair[1]))
        }
        Self {
            buffer: same(all, |group| group.buffer),
            router: same(all, |group| as_text(&group.router)),
            mechanism: same(all, |group| as_text(&group.mechanism)),
        }
    }
    /// Writes them, as keys of the root and its tables.
    pub fn write(&self, document: &mut Document, all: &[Group], origin: &Origin) {
        if let Some(group) = all.first() {
            let common = |key: &str| origin.of(&format!("Group.{key}"));
            if self.buffer {
                document.key("buffer", bytes(group.buffer), &common("bufferSize"));
            }
            algorithms(document, &[], "Group", [self.router, self.mechanism], group, origin);
        }
    }
}

fn as_text<A: ?Sized + Kind>(algorithm: &Algorithm<A>) -> String {
    let given: Vec<_> = given(algorithm).map(|(declared, value)| (declared.name, value)).collect();
    format!("{} {given:?}", algorithm.entry.name)
}

/// Router and mechanism, where they are wanted here; tables come after names.
fn algorithms(
    document: &mut Document,
    path: &[&str],
    from_group: &str,
    [with_router, with_mechanism]: [bool; 2],
    group: &Group,
    origin: &Origin,
) {
    let from = |key: &str| origin.of_group(from_group, key);
    let (router, mechanism) = (&group.router, &group.mechanism);
    let with_mechanism = with_mechanism && mechanism.entry.name != "none";
    if with_router && is_plain(router) {
        document.key("router", router.entry.name.as_str(), &from("router"));
    }
    if with_mechanism && is_plain(mechanism) {
        document.key("mechanism", mechanism.entry.name.as_str(), &from("mechanism"));
    }
    let table = |key| path.iter().copied().chain([key]).collect::<Vec<_>>();
    if with_router && !is_plain(router) {
        algorithm(document, &table("router"), from_group, router, &from("router"), origin);
    }
    if with_mechanism && !is_plain(mechanism) {
        algorithm(document, &table("mechanism"), from_group, mechanism, &from("mechanism"), origin);
    }
}

/// `[nodes.NAME]` and its tables. Groups whose nodes would be called alike have their own names before the numbers.
pub fn groups(document: &mut Document, all: &[Group], shared: &Shared, origin: &Origin) {
    let mut known = BTreeSet::new();
    let are_unique = all.iter().flat_map(|group| &group.nodes).all(|name| known.insert(name));
    let mut first = 0;
    for group in all {
        document.table(&["nodes", &group.name], keys::NODES);
        self::group(document, group, (first, are_unique), shared, origin);
        first += group.count();
    }
}

fn group(
    document: &mut Document,
    group: &Group,
    (first, are_unique): (u32, bool),
    shared: &Shared,
    origin: &Origin,
) {
    let from = |key: &str| origin.of_group(&group.name, key);
    document.key("count", i64::from(group.count()), &from("nrofHosts"));
    document.key("first", i64::from(first), "");
    let number = first.to_string();
    match group.nodes.first().and_then(|name| name.strip_suffix(&number)) {
        Some(prefix) if are_unique => document.key("prefix", prefix, &from("groupID")),
        _ => document.key("prefix", format!("{}_", group.name), "two hosts have one name there"),
    }
    if !shared.buffer {
        document.key("buffer", bytes(group.buffer), &from("bufferSize"));
    }
    if let Some(lifetime) = group.lifetime {
        document.key("lifetime", time(lifetime), &from("msgTtl"));
    }
    let policy = &group.policy;
    for (key, is_set, setting) in [
        ("receipts", policy.receipts, "receipts"),
        ("drop_memory", policy.drop_memory, "dropMemory"),
        ("delete_delivered", policy.delete_delivered, "deleteDelivered"),
        ("overfill", policy.overfill, ""),
        ("deliver_past_buffer", policy.deliver_past_buffer, ""),
    ] {
        if is_set {
            document.key(key, true, &from(setting));
        }
    }
    match policy.application_buffer {
        None => document.key("application_buffer", "unlimited", ""),
        Some(Bytes(0)) => {}
        Some(size) => document.key("application_buffer", bytes(size), ""),
    }
    match &group.moves {
        Activity::Always => {}
        Activity::Spans(spans) => {
            document.key("moves", list(spans.iter().map(|span| times(*span))), &from("activeTimes"));
        }
        Activity::Periods { on, off, offset } => {
            let spans = [("on", on), ("off", off), ("offset", offset)];
            let table = spans.map(|(key, span)| (key, time(*span).into()));
            document.key("moves", inline(table), &from("activePeriods"));
        }
    }
    let own = [!shared.router, !shared.mechanism];
    algorithms(document, &["nodes", &group.name], &group.name, own, group, origin);
    if let Some(mobility) = &group.mobility {
        document.table(&["nodes", &group.name, "mobility"], &[]);
        self::mobility(document, mobility, &group.name, origin);
    }
    radios(document, group, origin);
}

/// The parameters of an algorithm that do not have their default.
fn given<A: ?Sized + Kind>(algorithm: &Algorithm<A>) -> impl Iterator<Item = (&Parameter, &Value)> {
    algorithm.parameters.iter().filter_map(|(name, value)| {
        let declared = algorithm.entry.parameters.iter().find(|declared| declared.name == name)?;
        (declared.default.as_ref() != Some(value)).then_some((declared, value))
    })
}

fn is_plain<A: ?Sized + Kind>(algorithm: &Algorithm<A>) -> bool {
    given(algorithm).next().is_none()
}

/// The table of an algorithm.
fn algorithm<A: ?Sized + Kind>(
    document: &mut Document,
    path: &[&str],
    group: &str,
    algorithm: &Algorithm<A>,
    from: &str,
    origin: &Origin,
) {
    document.table(path, &[]);
    document.name("name", &algorithm.entry.name, from);
    for (declared, value) in given(algorithm) {
        let from = match setting_of(&algorithm.entry.name, declared.name) {
            Some(setting) => origin.of_group(group, &setting),
            None => origin.of_group(group, &format!("mechanism.{}", declared.name)),
        };
        document.parameter(declared, value, &from);
    }
}

/// Settings of movement by parameter: those of a namespace of their own, or of the group.
const SETTINGS: &[(&str, &str)] = &[
    ("area", "MovementModel.worldSize"),
    ("speed", "speed"),
    ("pause", "waitTime"),
    ("order", "routeType"),
    ("first_stop", "routeFirstStop"),
    ("system", "busControlSystemNr"),
    ("next_bus", "probTakeOtherBus"),
    ("departure_deviation", "timeDiffSTD"),
    ("departure_uniform", "timeDiffSTD"),
    ("work", "workDayLength"),
    ("offices", "nrOfOffices"),
    ("office_size", "officeSize"),
    ("office_pause", "officeMinWaitTime"),
    ("office_pareto", "officeWaitTimeParetoCoeff"),
    ("evening_share", "probGoShoppingAfterWork"),
    ("meeting_spots", "nrOfMeetingSpots"),
    ("party", "minGroupSize"),
    ("evening_pause", "minAfterShoppingStopTime"),
    ("car_share", "ownCarProb"),
    ("bus_system", "busControlSystemNr"),
    ("evening_system", "shoppingControlSystemNr"),
    ("center", "clusterCenter"),
    ("radius", "clusterRange"),
    ("rows", "GridLocation.rows"),
    ("spacing", "GridLocation.spacing"),
    ("offset", "GridLocation.randomOffset"),
    ("initial", "LinearMovement.initLocType"),
    ("target", "LinearMovement.targetType"),
];

fn setting(model: &str, parameter: &str) -> &'static str {
    match (model, parameter) {
        ("line_walk", "from") => "LinearMovement.startLocation",
        ("line_walk", "to") => "LinearMovement.endLocation",
        (_, "from") => "LinearFormation.startLocation",
        (_, "to") => "LinearFormation.endLocation",
        ("grid", "at") => "GridLocation.location",
        (_, "at") => "nodeLocation",
        _ => SETTINGS.iter().find(|known| known.0 == parameter).map_or("", |known| known.1),
    }
}

fn mobility(document: &mut Document, mobility: &Mobility, group: &str, origin: &Origin) {
    let model = mobility.entry.model.name;
    document.name("model", model, &origin.of_group(group, "movementModel"));
    for (name, value) in mobility.parameters.iter() {
        let declared: Option<&Parameter> =
            mobility.entry.model.parameters.iter().find(|declared| declared.name == name);
        let Some(declared) = declared else { continue };
        document.parameter(declared, value, &origin.of_group(group, setting(model, name)));
    }
    let rows = (MOBILITY.rows)();
    document.keys_of(rows.iter().find(|row| row.name == model).map_or(&[], |row| row.keys));
    if let Some(map) = &mobility.map {
        self::map(document, map, group, origin);
    }
    if let Some(routes) = &mobility.routes {
        document.key("routes", origin.path(&routes.path), &origin.of_group(group, "routeFile"));
    }
    if !mobility.interest.is_empty() {
        let one = |of: &crate::model::PointsOfInterest| {
            inline([("file", origin.path(&of.file.path).into()), ("share", of.share.into())])
        };
        let all = list(mobility.interest.iter().map(one));
        document.key("points_of_interest", all, &origin.of_group(group, "pois"));
    }
    for (&key, file) in &mobility.places {
        let setting = match key {
            "homes" => "homeLocationsFile",
            "office_places" => "officeLocationsFile",
            _ => "meetingSpotsFile",
        };
        document.key(key, origin.path(&file.path), &origin.of_group(group, setting));
    }
    if !mobility.chances.is_empty() {
        document.key("chances", list(mobility.chances.iter().copied()), &origin.of_group(group, "probs"));
    }
    if let Some(tracks) = &mobility.tracks {
        let is_paths = tracks.format == Format::Paths;
        let settings = if is_paths { ["traceFile", "activeFile"] } else { ["ExternalMovement.file", ""] };
        for (key, (file, setting)) in
            ["positions", "active"].into_iter().zip(tracks.files.iter().zip(settings))
        {
            document.key(key, origin.path(file), &origin.of_group(group, setting));
        }
        if is_paths {
            document.key("format", "paths", "");
        }
    }
}

fn map(document: &mut Document, map: &Map, group: &str, origin: &Origin) {
    let files: Vec<String> = map.files.iter().map(|file| origin.path(&file.path)).collect();
    let from = "MapBasedMovement.mapFile1";
    match &files[..] {
        [one] => document.key("map", one.as_str(), from),
        several => document.key("maps", list(several.iter().map(String::as_str)), from),
    }
    if !map.allowed.is_empty() {
        let allowed = list(map.allowed.iter().map(|map| i64::from(*map)));
        document.key("allowed", allowed, &origin.of_group(group, "okMaps"));
    }
}

fn radios(document: &mut Document, group: &Group, origin: &Origin) {
    let mut known = BTreeSet::new();
    for (radio, number) in group.radios.iter().zip(1..) {
        let mut name = plain(&radio.name);
        if !known.insert(name.clone()) {
            name = format!("{name}_{number}");
            known.insert(name.clone());
        }
        document.table(&["nodes", &group.name, "radios", &name], keys::RADIO);
        if name != radio.name {
            document.key(
                "name",
                radio.name.as_str(),
                &origin.of_group(&group.name, &format!("interface{number}")),
            );
        }
        self::radio(document, radio, &group.name, origin);
    }
}

fn radio(document: &mut Document, radio: &Radio, group: &str, origin: &Origin) {
    let own = |key: &str| origin.of(&format!("{}.{key}", radio.name));
    document.key("range", format!("{} m", radio.range_m), &own("transmitRange"));
    if radio.rates.is_empty() {
        document.key("rate", rate(radio.rate), &own("transmitSpeed"));
    } else {
        document.key("rates", list(radio.rates.iter().map(|one| rate(*one))), &own("transmitSpeeds"));
    }
    if radio.interference {
        document.key("interference", true, &own("type"));
    }
    let common = |key: &str| origin.of_group(group, key);
    match &radio.activity {
        Activity::Always => {}
        Activity::Spans(spans) => {
            document.key("active", list(spans.iter().map(|span| times(*span))), &common("net.activeTimes"));
        }
        Activity::Periods { on, off, offset } => {
            document.key("on", time(*on), &common("net.activePeriods"));
            document.key("off", time(*off), &common("net.activePeriods"));
            document.key("offset", time(*offset), &common("net.activePeriodsOffset"));
        }
    }
    if radio.jitter_s > 0 {
        let jitter = Duration::from_secs(i64::from(radio.jitter_s));
        document.key("jitter", time(jitter), &common("net.activenessOffsetJitter"));
    }
    if let Some(every) = radio.scan_every {
        document.key("scan_every", time(every), &common("net.scanInterval"));
    }
}
