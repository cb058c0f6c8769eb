//! Movement models of The ONE without a map whose groups set places: clusters, lines, grids, a single place.

use super::numbers::{double, int, list};
use super::settings::{Found, Space};
use crate::error::{Result, short};
use crate::model::Mobility;
use crate::quantity::{Area, Bounds, Position};
use lightlag_protocols::parameter::{ParameterError, Value};

/// A model, or which of its parameters is wrong.
type Built = std::result::Result<Mobility, ParameterError>;

/// Random waypoint in a disc.
pub fn cluster(space: &Space, speed: Bounds<f64>, pause: Bounds<f64>) -> Result<Built> {
    let center = match space.find("clusterCenter") {
        Some(found) => place(&found)?,
        None => Position { x_m: 100.0, y_m: 100.0 },
    };
    let radius = match space.find("clusterRange") {
        Some(found) => metres(&found, 1e-3)?,
        None => 100.0,
    };
    let values = [
        ("center", Value::Position(center)),
        ("radius", radius.into()),
        ("speed", Value::Range(speed)),
        ("pause", Value::Range(pause)),
    ];
    Ok(Mobility::named("cluster", values))
}

/// One journey along a line.
pub fn line_walk(space: &Space, speed: Bounds<f64>) -> Result<Built> {
    let [from, to] = line(space, "LinearMovement")?;
    // Any other number is as 0 and 1.
    let initial = space.need("LinearMovement.initLocType", "1")?.parse(int)?;
    let target = space.need("LinearMovement.targetType", "1")?.parse(int)?;
    let values = [
        from,
        to,
        ("speed", Value::Range(speed)),
        ("initial", if initial == 1 { "even" } else { "box" }.into()),
        ("target", if target == 0 { "even" } else { "far_end" }.into()),
    ];
    Ok(Mobility::named("line_walk", values))
}

/// Nodes in a line.
pub fn line_formation(space: &Space) -> Result<Built> {
    Ok(Mobility::named("line_formation", line(space, "LinearFormation")?))
}

/// Nodes in a grid.
pub fn grid(space: &Space) -> Result<Built> {
    let need = |key: &str, example| space.need(&format!("GridLocation.{key}"), example);
    let rows = need("rows", "5")?.whole(1, 1_000_000, "there are 1 to 1 000 000 rows")?;
    let at = need("location", "100, 100")?;
    let at = match at.parse(|text| list(text, double))?[..] {
        [x_m, y_m] => Position { x_m, y_m },
        _ => return Err(at.wrong("is not a place", "give x and y in metres, like 100, 100")),
    };
    let spacing = need("spacing", "50")?;
    spacing.parse(int)?;
    let mut values = vec![
        ("rows", f64::from(rows).into()),
        ("at", Value::Position(at)),
        ("spacing", metres(&spacing, 0.0)?.into()),
    ];
    if let Some(found) = space.find("GridLocation.randomOffset") {
        values.push(("offset", metres(&found, 0.0)?.into()));
    }
    Ok(Mobility::named("grid", values))
}

/// All nodes at one place.
pub fn stationary(space: &Space, area: Area) -> Result<Built> {
    let found = space.need("nodeLocation", "100, 200")?;
    let at = place(&found)?;
    if !(0.0..=area.width_m).contains(&at.x_m) || !(0.0..=area.height_m).contains(&at.y_m) {
        return Err(found.wrong("lies outside of the world", "see `MovementModel.worldSize`"));
    }
    Ok(Mobility::named("stationary", [("at", Value::Position(at))]))
}

fn line(space: &Space, model: &str) -> Result<[(&'static str, Value); 2]> {
    let end = |key: &str, example| place(&space.need(&format!("{model}.{key}"), example)?);
    let (from, to) = (end("startLocation", "100, 100")?, end("endLocation", "900, 100")?);
    Ok([("from", Value::Position(from)), ("to", Value::Position(to))])
}

/// Two whole numbers.
fn place(found: &Found) -> Result<Position> {
    match found.parse(|text| list(text, int))?[..] {
        [x, y] => Ok(Position { x_m: f64::from(x), y_m: f64::from(y) }),
        _ => Err(found.wrong("is not a place", "give x and y in metres, like 100, 200")),
    }
}

/// A length.
fn metres(found: &Found, least: f64) -> Result<f64> {
    let metres = found.parse(double)?;
    if (least..=1e9).contains(&metres) {
        return Ok(metres);
    }
    Err(found.wrong(format!("is {} m", short(metres)), format!("give {least} to 1e9 metres")))
}
