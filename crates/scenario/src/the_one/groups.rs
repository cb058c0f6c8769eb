//! `Group`, its interfaces, movement and router.

use super::numbers::{boolean, double, int, list, long, range};
use super::routers;
use super::settings::{Found, Run, Space};
use crate::catalogue::{Catalogue, Entry, resolve};
use crate::error::{Error, Result, Wrong, quoted, short};
use crate::files::locate;
use crate::model::{Algorithm, Group, Map, MapFile, Mobility, NODES_MAX, Radio};
use crate::quantity::{Area, Bounds, Position};
use lightlag_protocols::dtn::{Domain, Mechanism, NodePolicy, Value};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::messages::SendOrderKind;
use lightlag_worlds::mobility::map::{MapOptions, osm::OsmOptions};
use std::collections::BTreeMap;

/// Farther than any world is wide.
const LENGTH_MAX_M: f64 = 1e9;
/// Light is no node.
const SPEED_MAX_M_PER_S: f64 = 299_792_458.0;
const MOVEMENTS: &[&str] =
    &["RandomWaypoint", "RandomWalk", "ShortestPathMapBasedMovement", "StationaryMovement"];

/// All groups, and what concerns them together.
pub struct Groups {
    /// The groups.
    pub list: Vec<Group>,
    /// The order in which nodes offer what they hold.
    pub send_order: SendOrderKind,
    /// The first mechanism that refuses its router.
    pub refused: Option<Error>,
}

pub fn groups(run: Run, catalogue: &Catalogue) -> Result<Groups> {
    let scenario = run.space("Scenario");
    let count = scenario.need("nrofHostGroups", "1")?;
    let number = count.whole(1, 1000, "there are 1 to 1000 groups")?;
    let mut groups: Vec<Group> = Vec::new();
    let mut order = None;
    let mut refused = None;
    let mut first = 0;
    for index in 1..=number {
        let space = run.space_or(&format!("Group{index}"), "Group");
        let group = group(index, first, &space, catalogue)?;
        first += group.nodes.len();
        refused = refused.or_else(|| refusal(&group, &space));
        groups.push(group);
        let queue = space.parse("sendQueue", send_order)?.unwrap_or(SendOrderKind::Clock);
        if order.is_some_and(|order| order != queue)
            && let Some(found) = space.find("sendQueue")
        {
            return Err(
                found.wrong("differs from that of another group", "all groups must share one queue mode")
            );
        }
        order = Some(queue);
    }
    Ok(Groups { list: groups, send_order: order.unwrap_or(SendOrderKind::Clock), refused })
}

fn refusal(group: &Group, space: &Space) -> Option<Error> {
    let only_with = &group.mechanism.entry.only_with;
    if only_with.is_empty() || only_with.contains(&group.router.entry.name) {
        return None;
    }
    let what = format!("refuses router `{}`", group.router.entry.name);
    Some(space.find("mechanism")?.wrong(what, format!("it works with: {}", only_with.join(", "))))
}

fn send_order(text: &str) -> std::result::Result<SendOrderKind, Wrong> {
    match text {
        "1" | "RANDOM" => Ok(SendOrderKind::Clock),
        "2" | "FIFO" => Ok(SendOrderKind::Fifo),
        _ => Err(Wrong::new(format!("{} is no queue mode", quoted(text)), "write 1 (RANDOM) or 2 (FIFO)")),
    }
}

fn group(index: i32, first: usize, space: &Space, catalogue: &Catalogue) -> Result<Group> {
    let id = space.need("groupID", "n")?.value;
    let hosts = space.need("nrofHosts", "50")?;
    let count =
        usize::try_from(hosts.parse(int)?).ok().filter(|count| (1..=NODES_MAX - first).contains(count));
    let count = count.ok_or_else(|| {
        hosts.wrong("is no number of hosts", format!("there are 1 to {NODES_MAX} hosts in all"))
    })?;
    let router = routers::router(&space.need("router", "EpidemicRouter")?, space.run, catalogue)?;
    let mechanism = mechanism(space, catalogue)?;
    Ok(Group {
        name: format!("Group{index}"),
        nodes: (first..first + count).map(|address| format!("{id}{address}")).collect(),
        buffer: buffer(space)?,
        router,
        mechanism,
        policy: policy(space)?,
        mobility: Some(mobility(space)?),
        radios: radios(space)?,
        lifetime: lifetime(space)?,
    })
}

fn buffer(space: &Space) -> Result<Bytes> {
    let Some(found) = space.find("bufferSize") else { return Ok(Bytes(i32::MAX as u64)) };
    match found.parse(long)? {
        0 => Err(found.wrong("is zero", "give the buffer a size")),
        size => Ok(Bytes(size)),
    }
}

/// Almost a hundred years.
const MINUTES_MAX: i32 = 50_000_000;

/// A message dies when less than a minute of its time remains: The ONE counts whole minutes.
fn lifetime(space: &Space) -> Result<Option<Duration>> {
    let Some(found) = space.find("msgTtl") else { return Ok(None) };
    match found.parse(int)? {
        // Longer than a run can last is as good as without end.
        minutes if minutes == -1 || minutes > MINUTES_MAX => Ok(None),
        minutes if minutes > 0 => {
            Ok(Some(Duration::from_secs((i64::from(minutes) - 1) * 60) + Duration::from_nanos(1)))
        }
        minutes => {
            Err(found
                .wrong(format!("is {minutes}"), "give minutes above zero, or -1 for messages without end"))
        }
    }
}

fn policy(space: &Space) -> Result<NodePolicy> {
    let flag = |key: &str| Ok::<_, Error>(space.parse(key, boolean)?.unwrap_or(false));
    Ok(NodePolicy {
        receipts: flag("receipts")?,
        drop_memory: flag("dropMemory")?,
        delete_delivered: flag("deleteDelivered")?,
        overfill: true,
        deliver_past_buffer: false,
    })
}

/// `Group.mechanism`, `Group.mechanism.PARAMETER`, `Group.receipts` and `Group.dropMemory` are no
/// keys of The ONE: with them its scenarios can be run under congestion control.
fn mechanism(space: &Space, catalogue: &Catalogue) -> Result<Algorithm<dyn Mechanism>> {
    let found = space.find("mechanism");
    let name = found.as_ref().map_or("none", |found| found.value);
    let wrong = |right: String| match &found {
        Some(found) => found.wrong(format!("is {}, which is not known", quoted(name)), right),
        None => Error::new(&space.run.layers.place(), "no mechanism is known", right),
    };
    let entry = catalogue.mechanisms.find(name).map_err(wrong)?;
    let mut given = BTreeMap::new();
    for parameter in entry.parameters.iter() {
        if let Some(found) = space.find(&format!("mechanism.{}", parameter.name)) {
            given.insert(parameter.name.to_owned(), parameter_value(&found, &entry, &parameter.domain)?);
        }
    }
    let place = found.as_ref().map_or_else(|| space.run.layers.place(), |found| found.place.clone());
    let parameters = resolve(&entry, &given).map_err(|wrong| crate::Error::at(&place, wrong))?;
    Ok(Algorithm { entry, parameters })
}

fn parameter_value(found: &Found, entry: &Entry<dyn Mechanism>, domain: &Domain) -> Result<Value> {
    let value = match domain {
        Domain::Number(..) | Domain::Integer(..) => Value::Number(found.parse(double)?),
        Domain::Flag => Value::Flag(found.parse(boolean)?),
        _ => Value::Word(found.value.to_owned().into()),
    };
    let name = found.key.rsplit('.').next().unwrap_or_default();
    let alone = BTreeMap::from([(name.to_owned(), value.clone())]);
    resolve(entry, &alone).map_err(|wrong| crate::Error::at(found.place, wrong))?;
    Ok(value)
}

fn radios(space: &Space) -> Result<Vec<Radio>> {
    let count = space.need("nrofInterfaces", "1")?;
    let number = count.whole(0, 100, "there are 0 to 100 interfaces")?;
    (1..=number).map(|index| radio(&space.need(&format!("interface{index}"), "wifi")?, space.run)).collect()
}

fn radio(found: &Found, run: Run) -> Result<Radio> {
    let space = run.space(found.value);
    let class = space.need("type", "SimpleBroadcastInterface")?;
    if class.value != "SimpleBroadcastInterface" {
        return Err(class.unsupported(&["SimpleBroadcastInterface"]));
    }
    let speed = space.need("transmitSpeed", "250k")?;
    let bytes_per_s = u64::try_from(speed.parse(int)?).ok().filter(|speed| *speed > 0);
    let bytes_per_s = bytes_per_s.ok_or_else(|| speed.wrong("is not above zero", "give bytes per second"))?;
    let range = space.need("transmitRange", "10")?;
    let range_m = range.parse(double)?;
    if range_m <= 0.0 || range_m > LENGTH_MAX_M {
        return Err(range.wrong(format!("is {} m", short(range_m)), "give metres above zero, like 10"));
    }
    Ok(Radio { name: found.value.to_owned(), range_m, rate: BitRate(bytes_per_s * 8) })
}

fn not_negative(found: Option<Found>, default: f64) -> Result<Bounds<f64>> {
    let Some(found) = found else { return Ok(Bounds::single(default)) };
    let (low, high) = found.parse(|text| range(text, false, double))?;
    if low < 0.0 {
        Err(found.wrong("is negative", "give two numbers from zero on"))
    } else {
        Ok(Bounds { low, high })
    }
}

/// As in The ONE it may reach down to zero, but not only be zero: nodes would never arrive.
fn speed(space: &Space) -> Result<Bounds<f64>> {
    let found = space.find("speed");
    let speed = not_negative(found.clone(), 1.0)?;
    match found {
        Some(found) if speed.high == 0.0 => {
            Err(found.wrong("is zero: nodes never arrive", "give metres per second, like 0.5, 1.5"))
        }
        Some(found) if speed.high > SPEED_MAX_M_PER_S => {
            Err(found.wrong(format!("reaches {} m/s", short(speed.high)), "nothing is faster than light"))
        }
        _ => Ok(speed),
    }
}

fn mobility(space: &Space) -> Result<Mobility> {
    let model = space.need("movementModel", "RandomWaypoint")?;
    let area = world_size(space.run)?;
    let speed = speed(space)?;
    let wait = space.find("waitTime");
    let pause = not_negative(wait.clone(), 0.0)?;
    if let Some(found) = wait.filter(|_| pause.high > 1e9) {
        return Err(found.wrong("is beyond all measure", "give seconds"));
    }
    // A clock of nanoseconds.
    let pause_s = |seconds| Duration::from_secs_f64(seconds).as_secs_f64();
    let pause = Bounds { low: pause_s(pause.low), high: pause_s(pause.high) };
    let (area_m, values) = (Value::Area(area), (Value::Range(speed), Value::Range(pause)));
    let moving = |name| Mobility::named(name, [("area", area_m), ("speed", values.0), ("pause", values.1)]);
    let mobility = match model.value {
        "RandomWaypoint" => moving("random_waypoint"),
        // Its legs are hard-coded in The ONE, as are the defaults here.
        "RandomWalk" => moving("random_walk"),
        "ShortestPathMapBasedMovement" => {
            let map = Some(map(space)?);
            moving("shortest_path_map").map(|mobility| Mobility { map, ..mobility })
        }
        "StationaryMovement" => {
            Mobility::named("stationary", [("at", Value::Position(location(space, area)?))])
        }
        _ => return Err(model.unsupported(MOVEMENTS)),
    };
    mobility.map_err(|wrong| model.wrong(format!("{wrong}"), "see `lightlag list`"))
}

/// The size of the world.
pub fn world_size(run: Run) -> Result<Area> {
    let found = run.space("MovementModel").need("worldSize", "4500, 3400")?;
    match found.parse(|text| list(text, int))?[..] {
        [width, height] if width > 0 && height > 0 => {
            Ok(Area { width_m: f64::from(width), height_m: f64::from(height) })
        }
        _ => Err(found.wrong("is no size", "give width and height in metres, like 4500, 3400")),
    }
}

fn location(space: &Space, area: Area) -> Result<Position> {
    let found = space.need("nodeLocation", "100, 200")?;
    let inside = |x: i32, y: i32| {
        (0.0..=area.width_m).contains(&f64::from(x)) && (0.0..=area.height_m).contains(&f64::from(y))
    };
    match found.parse(|text| list(text, int))?[..] {
        [x, y] if inside(x, y) => Ok(Position { x_m: f64::from(x), y_m: f64::from(y) }),
        [_, _] => Err(found.wrong("lies outside of the world", "see `MovementModel.worldSize`")),
        _ => Err(found.wrong("is no place", "give x and y in metres, like 100, 200")),
    }
}

fn map(space: &Space) -> Result<Map> {
    if let Some(found) = space.find("pois") {
        return Err(found.wrong("asks for points of interest, which are not supported", "leave it out"));
    }
    let files = space.run.space("MapBasedMovement");
    let count = files.need("nrofMapFiles", "1")?;
    let number = count.whole(1, 31, "there are 1 to 31 map files")?;
    let mut maps = Vec::new();
    for index in 1..=number {
        let found = files.need(&format!("mapFile{index}"), "maps/grid.wkt")?;
        let name = super::properties::readable(found.value);
        let path = locate(&name, &found.folders());
        if !path.is_file() {
            return Err(found.wrong(
                format!("names {}, which does not exist", quoted(&name)),
                "name it relative to the settings, to the folder above them, or to where you are",
            ));
        }
        maps.push(MapFile { path, place: found.place.clone() });
    }
    let mut allowed = Vec::new();
    if let Some(found) = space.find("okMaps") {
        for index in found.parse(|text| list(text, int))? {
            match u32::try_from(index).ok().filter(|_| (1..=number).contains(&index)) {
                Some(index) => allowed.push(index),
                None => {
                    return Err(
                        found.wrong(format!("names map {index}"), format!("there are maps 1 to {number}"))
                    );
                }
            }
        }
    }
    Ok(Map { files: maps, allowed, options: MapOptions::THE_ONE, osm: OsmOptions::default() })
}
