//! `WorkingDayMovement` and `BusTravellerMovement`: what groups set about buses, homes, offices and evenings.

use super::maps::file;
use super::numbers::{double, int, list};
use super::settings::{Found, Space};
use crate::error::{Result, short};
use crate::model::MapFile;
use crate::quantity::Bounds;
use lightlag_protocols::dtn::Value;
use lightlag_worlds::mobility::ENDLESS_S;
use std::collections::BTreeMap;

/// A day of The ONE, in seconds.
const DAY_S: f64 = 86_000.0;
/// A hundred years, about.
const TIME_MAX_S: f64 = 3e9;

/// The number of a control system. Any will do: it is only a name, and negative ones count down from the greatest.
pub fn system(space: &Space, key: &str) -> Result<Value> {
    let found = space.need(key, "1")?;
    let number = found.whole(i32::MIN, i32::MAX, "give a whole number")?;
    Ok(f64::from(number & i32::MAX).into())
}

/// Probabilities to ride on, and to wait for another bus.
pub fn habits(space: &Space) -> Result<(Vec<f64>, Value)> {
    let found = space.need("probs", "0.9, 0.5")?;
    let chances = found.parse(|text| list(text, double))?;
    if chances.iter().any(|chance| !(0.0..=1.0).contains(chance)) {
        return Err(found.wrong("is not a list of probabilities", "give numbers from 0 to 1, like 0.9, 0.5"));
    }
    let next_bus = space.find("probTakeOtherBus");
    let next_bus = next_bus.map_or(Ok(0.0), |found| between(&found, 0.0, 1.0, "give a probability"))?;
    Ok((chances, next_bus.into()))
}

/// All parameters beside area, speed and pause.
pub fn parameters(space: &Space) -> Result<Vec<(&'static str, Value)>> {
    let share = |key, example| between(&space.need(key, example)?, 0.0, 1.0, "give a probability");
    let whole = |key, example, least: i32, right| {
        Ok::<f64, crate::Error>(f64::from(space.need(key, example)?.whole(least, i32::MAX, right)?))
    };
    let deviation_s = whole("timeDiffSTD", "7200", -1, "give seconds, or -1 for any time of the day")?;
    let is_uniform = deviation_s < 0.0;
    let seconds = "give seconds from zero on";
    let number = "give a number above zero";
    let exponent = between(
        &space.need("officeWaitTimeParetoCoeff", "0.5")?,
        0.01,
        100.0,
        "give a number from 0.01 to 100",
    )?;
    Ok(vec![
        ("day", DAY_S.into()),
        ("departure_deviation", deviation_s.max(0.0).into()),
        ("departure_uniform", is_uniform.into()),
        ("work", whole("workDayLength", "28800", 0, seconds)?.into()),
        ("offices", whole("nrOfOffices", "50", 1, number)?.into()),
        ("office_size", whole("officeSize", "100", 0, "give metres from zero on")?.into()),
        ("office_pause", Value::Range(office_pause(space)?)),
        ("office_pareto", exponent.into()),
        ("evening_share", share("probGoShoppingAfterWork", "0.5")?.into()),
        ("meeting_spots", whole("nrOfMeetingSpots", "10", 1, number)?.into()),
        ("party", Value::Range(pair(space, ["minGroupSize", "maxGroupSize"], ["1", "3"], 1e6)?)),
        (
            "evening_pause",
            Value::Range(pair(
                space,
                ["minAfterShoppingStopTime", "maxAfterShoppingStopTime"],
                ["3600", "7200"],
                TIME_MAX_S,
            )?),
        ),
        ("car_share", share("ownCarProb", "0.5")?.into()),
        ("bus_system", system(space, "busControlSystemNr")?),
        ("evening_system", system(space, "shoppingControlSystemNr")?),
    ])
}

/// Files of homes, offices and meeting spots.
pub fn places(space: &Space) -> Result<BTreeMap<&'static str, MapFile>> {
    let keys = [
        ("homes", "homeLocationsFile"),
        ("office_places", "officeLocationsFile"),
        ("meeting_places", "meetingSpotsFile"),
    ];
    let found = keys.into_iter().filter_map(|(name, key)| Some((name, space.find(key)?)));
    found.map(|(name, found)| Ok((name, file(&found, space)?))).collect()
}

fn between(found: &Found, low: f64, high: f64, right: &str) -> Result<f64> {
    let number = found.parse(double)?;
    if (low..=high).contains(&number) {
        Ok(number)
    } else {
        Err(found.wrong(format!("is {}", short(number)), right))
    }
}

/// Two whole numbers that are one range.
fn pair(space: &Space, keys: [&str; 2], examples: [&'static str; 2], most: f64) -> Result<Bounds<f64>> {
    let [low, high] = [0, 1].map(|end| space.need(keys[end], examples[end]));
    let (low, high) = (low?, high?);
    let bounds = Bounds { low: f64::from(low.parse(int)?), high: f64::from(high.parse(int)?) };
    if 0.0 <= bounds.low && bounds.low <= bounds.high && bounds.high <= most {
        return Ok(bounds);
    }
    let right = format!("give a number from that of `{}` on, {} at most", keys[0], short(most));
    Err(high.wrong(format!("is {} where `{}` is {}", high.value, keys[0], low.value), right))
}

/// The bounds of pauses in the office; -1 is without end.
fn office_pause(space: &Space) -> Result<Bounds<f64>> {
    let (low, high) = (space.need("officeMinWaitTime", "10")?, space.need("officeMaxWaitTime", "100000")?);
    let read = |found: &Found| {
        let seconds = found.parse(double)?;
        let fits = seconds == -1.0 || (0.0..=TIME_MAX_S).contains(&seconds);
        let right = "give seconds from zero to 3e9, or -1 for a time without end";
        if fits {
            Ok(if seconds < 0.0 { ENDLESS_S } else { seconds })
        } else {
            Err(found.wrong(format!("is {}", short(seconds)), right))
        }
    };
    let bounds = Bounds { low: read(&low)?, high: read(&high)? };
    // The longest pause is drawn again and again where it must be no longer than the shortest; one without end is not drawn.
    if bounds.low < bounds.high || bounds.low == ENDLESS_S || bounds.low == 0.0 {
        return Ok(Bounds { high: bounds.high.max(bounds.low), ..bounds });
    }
    Err(high.wrong("is not above `officeMinWaitTime`", "give a longer time, or -1 for one without end"))
}
