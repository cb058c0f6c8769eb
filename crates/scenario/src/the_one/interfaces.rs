//! `Group.interfaceN`: the radios of a group, and `Group.net`: when they are on.

use super::numbers::{double, int, list};
use super::settings::{Found, Run, Space};
use crate::error::{Result, short};
use crate::model::{Activity, Radio};
use crate::quantity::Bounds;
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::BitRate;

/// Farther than any world is wide.
const LENGTH_MAX_M: f64 = 1e9;

/// A class of interfaces.
struct Class {
    name: &'static str,
    /// Whether transmitters nearby share its rate.
    interference: bool,
    /// Whether its rate depends on the distance.
    by_distance: bool,
}

const CLASSES: &[Class] = &[
    Class { name: "SimpleBroadcastInterface", interference: false, by_distance: false },
    Class { name: "InterferenceLimitedInterface", interference: true, by_distance: false },
    Class { name: "DistanceCapacityInterface", interference: false, by_distance: true },
];

/// The radios of a group, in the order of their numbers.
pub fn radios(space: &Space) -> Result<Vec<Radio>> {
    let count = space.need("nrofInterfaces", "1")?;
    let number = count.whole(0, 100, "there are 0 to 100 interfaces")?;
    let common = common(space)?;
    let one = |index| radio(&space.need(&format!("interface{index}"), "wifi")?, space.run, &common);
    (1..=number).map(one).collect()
}

/// What all radios of a group have in common.
fn common(space: &Space) -> Result<Radio> {
    let jitter = space.find("net.activenessOffsetJitter");
    let jitter_s =
        jitter.map_or(Ok(0), |found| found.whole(0, i32::MAX, "give whole seconds from zero on"))?;
    let scan = space.find("net.scanInterval").map(|found| seconds(&found)).transpose()?;
    Ok(Radio {
        activity: activity(space, "net.")?,
        jitter_s: jitter_s.unsigned_abs(),
        scan_every: scan.filter(|every| *every > Duration::ZERO),
        ..Radio::default()
    })
}

fn seconds(found: &Found) -> Result<Duration> {
    let s = found.parse(double)?;
    if (0.0..=1e9).contains(&s) {
        return Ok(Duration::from_secs_f64(s));
    }
    Err(found.wrong(format!("is {} s", short(s)), "give seconds from zero to 1e9"))
}

/// When the radios are on, by keys that begin with `net.`, or when nodes move, by keys without it. `activeTimes` overrides
/// `activePeriods`.
pub fn activity(space: &Space, of: &str) -> Result<Activity> {
    if let Some(found) = space.find(&format!("{of}activeTimes")) {
        return spans(&found);
    }
    let Some(found) = space.find(&format!("{of}activePeriods")) else { return Ok(Activity::Always) };
    let right = "give the seconds on and off, like 2000, 500";
    let [on, off] = found.parse(|text| list(text, int))?[..] else {
        return Err(found.wrong("is not a pair of times", right));
    };
    if on < 0 || off < 0 || (on, off) == (0, 0) {
        return Err(found.wrong("has no time above zero, or one below", right));
    }
    let offset = space.parse(&format!("{of}activePeriodsOffset"), int)?.unwrap_or(0);
    if off == 0 {
        return Ok(Activity::Always);
    }
    // The ONE rounds the clock to whole seconds and counts the last one as well.
    let half = Duration::from_nanos(500_000_000);
    Ok(Activity::Periods {
        on: Duration::from_secs(i64::from(on) + 1),
        off: Duration::from_secs(i64::from(off) - 1),
        offset: Duration::from_secs(i64::from(offset)) + half,
    })
}

fn spans(found: &Found) -> Result<Activity> {
    let times = found.parse(|text| list(text, double))?;
    let sound = times.len() % 2 == 0
        && times.iter().all(|s| (0.0..=3e9).contains(s))
        && times.windows(2).all(|pair| pair[0] <= pair[1]);
    if !sound {
        return Err(found.wrong(
            "is not a list of time spans",
            "give start and end of each in seconds, in their order, like 0, 3600, 7200, 9000",
        ));
    }
    let span = |pair: &[f64]| Bounds {
        low: Duration::from_secs_f64(pair[0]),
        high: Duration::from_secs_f64(pair[1]),
    };
    Ok(Activity::Spans(times.chunks(2).map(span).collect()))
}

fn radio(found: &Found, run: Run, common: &Radio) -> Result<Radio> {
    let space = run.space(found.value);
    let class = space.need("type", "SimpleBroadcastInterface")?;
    let names: Vec<&str> = CLASSES.iter().map(|class| class.name).collect();
    let known = CLASSES.iter().find(|known| known.name == class.value);
    let known = known.ok_or_else(|| class.unsupported(&names))?;
    let range = space.need("transmitRange", "10")?;
    let range_m = range.parse(double)?;
    if range_m <= 0.0 || range_m > LENGTH_MAX_M {
        return Err(range.wrong(format!("is {} m", short(range_m)), "give metres above zero, like 10"));
    }
    let rates = if known.by_distance { rates(&space)? } else { Vec::new() };
    let rate = match rates.iter().max() {
        Some(rate) => *rate,
        None => rate(&space)?,
    };
    let interference = known.interference;
    Ok(Radio { name: found.value.to_owned(), range_m, rate, rates, interference, ..common.clone() })
}

fn rate(space: &Space) -> Result<BitRate> {
    let speed = space.need("transmitSpeed", "250k")?;
    let bytes_per_s = u64::try_from(speed.parse(int)?).ok().filter(|speed| *speed > 0);
    let bytes_per_s = bytes_per_s.ok_or_else(|| speed.wrong("is not above zero", "give bytes per second"))?;
    Ok(BitRate(bytes_per_s * 8))
}

/// Speeds at evenly spaced distances, from zero to the range.
fn rates(space: &Space) -> Result<Vec<BitRate>> {
    let speeds = space.need("transmitSpeeds", "500k, 250k, 100k")?;
    let all = speeds.parse(|text| list(text, int))?;
    let all: Option<Vec<u64>> = all.into_iter().map(|speed| u64::try_from(speed).ok()).collect();
    let all = all.filter(|all| all.len() > 1 && all.iter().any(|speed| *speed > 0));
    let right = "give two speeds or more in bytes per second, from distance zero to the whole range";
    Ok(all
        .ok_or_else(|| speeds.wrong("is not a list of speeds", right))?
        .into_iter()
        .map(|b| BitRate(b * 8))
        .collect())
}
