//! What models on a map have in common.

use super::map::RoadMap;
use super::{Area, Begin, Bounds, Draw, MobilityError, Pace, Spot};
use lightlag_protocols::parameter::Parameters;
use std::sync::Arc;

/// The world that has to hold the map: the parameter `area`; without it, the map may lie anywhere.
pub fn area(parameters: &Parameters, map: &RoadMap) -> Area {
    if parameters.has("area") {
        return parameters.area("area");
    }
    let (_, greatest) = map.bounds();
    // A single straight road has no extent to one side.
    Area::new(greatest.x.max(1.0), greatest.y.max(1.0))
}

/// Whether nodes can move on these layers of a map.
pub fn check(
    map: &RoadMap,
    area: Area,
    layers: u32,
    speed_m_per_s: Bounds<f64>,
    pause_s: Bounds<f64>,
) -> Result<(), MobilityError> {
    super::check_moving(area, speed_m_per_s, pause_s)?;
    map.check_inside(area)?;
    map.check_layers(layers)?;
    Ok(())
}

/// A node begins between a uniform vertex and one of its neighbours; its first journey leaves from the vertex.
pub fn begin(map: &RoadMap, layers: u32, pause_s: Bounds<f64>, draw: &mut dyn Draw) -> Begin {
    let (vertex, at) = map.random_place(layers, draw);
    Begin { at, pause_s: draw.within(pause_s), spot: Spot::on(map, vertex), under_way: None }
}

/// The map of a model that has [`super::Input::Map`].
pub fn map(given: Option<Arc<RoadMap>>) -> Arc<RoadMap> {
    given.expect("a model that needs a map has one")
}

/// Roads that bend every metre; pauses are not counted.
pub fn pace(parameters: &Parameters) -> Pace {
    Pace {
        // Without an area: a square kilometre.
        area: if parameters.has("area") { parameters.area("area") } else { Area::new(1e3, 1e3) },
        speed_m_per_s: parameters.range("speed").mean(),
        journey_m: 1.0,
        pause_s: 0.0,
        legs: 1.0,
        tries: 1.0,
        crowding: 1.0,
    }
}
