//! `Group.interfaceN`: the radios of a group.

use super::numbers::{double, int};
use super::settings::{Found, Run, Space};
use crate::error::{Result, short};
use crate::model::Radio;
use lightlag_protocols::units::BitRate;

/// Farther than any world is wide.
const LENGTH_MAX_M: f64 = 1e9;

/// The radios of a group, in the order of their numbers.
pub fn radios(space: &Space) -> Result<Vec<Radio>> {
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
