//! The maps on which nodes move, for drawings.

use super::build::Models;
use super::error::Result;
use super::model::{BundleNetwork, MapFile};
use lightlag_worlds::mobility::map::RoadMap;
use std::sync::Arc;

/// The most points of streets that are drawn: a larger map is not.
pub const STREET_POINTS_MAX: usize = 1_000_000;

/// The streets under the nodes of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Streets {
    /// x and y of the points of lines, in metres as nodes have them; NaN and NaN end a line. Empty above [`STREET_POINTS_MAX`].
    pub points: Vec<f32>,
    /// How many points there are.
    pub count: usize,
    /// Whether y grows to the south, as in The ONE.
    pub is_y_down: bool,
    /// Whether they are data of OpenStreetMap, which has to be said where they are shown.
    pub is_osm: bool,
}

impl BundleNetwork {
    /// The maps on which its nodes move, each once; without points if nodes move without a map.
    ///
    /// # Errors
    /// A map that cannot be read.
    pub fn streets(&self) -> Result<Streets> {
        let (mut models, mut streets) = (Models::default(), Streets::default());
        let mut known: Vec<Arc<RoadMap>> = Vec::new();
        for map in self.groups.iter().filter_map(|group| group.mobility.as_ref()?.map.as_ref()) {
            let roads = models.roads(map)?;
            if known.iter().any(|known| Arc::ptr_eq(known, &roads)) {
                continue;
            }
            streets.is_y_down |= map.options.mirror;
            streets.is_osm |= map.files.iter().any(MapFile::is_osm);
            streets.add(&roads);
            known.push(roads);
        }
        Ok(streets)
    }
}

impl Streets {
    fn add(&mut self, roads: &RoadMap) {
        for line in roads.lines() {
            self.count += line.len();
            if self.count > STREET_POINTS_MAX {
                self.points.clear();
                continue;
            }
            let points = line.into_iter().map(|vertex| roads.point(vertex));
            self.points.extend(points.flat_map(|point| [point.x as f32, point.y as f32]));
            self.points.extend([f32::NAN; 2]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalogue, GivenFiles, Scenario, ScenarioFile};

    fn streets(groups: &str, files: &[(&str, String)]) -> Result<Streets> {
        let text = format!(
            "duration = \"1 h\"\nrouter = \"epidemic\"\nbuffer = \"1 MB\"\n{groups}\n[traffic.mail]\ninterval = \"60 s\"\nsize = \"1 kB\"\nlifetime = \"1 h\"\n"
        );
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.clone().into_bytes()));
        GivenFiles::new(files).within(|| {
            let file = ScenarioFile::from_toml("s.toml", &text, "".into(), Catalogue::default().into())?;
            match &file.points()?.list[0].scenario {
                Scenario::Bundles(network) => network.streets(),
                _ => unreachable!("it has nodes"),
            }
        })
    }
    fn group(name: &str, mobility: &str) -> String {
        format!(
            "[nodes.{name}]\ncount = 2\nmobility = {{ {mobility}, speed = \"1..2 m/s\", pause = \"0 s\" }}\nradio = {{ range = \"9 m\", rate = \"1 Mbit/s\" }}\n"
        )
    }

    #[test]
    fn streets_are_where_nodes_walk_each_map_once() {
        let map = "model = \"map_walk\", map = \"roads.wkt\"";
        let groups = group("one", map) + &group("two", map);
        let files = [("roads.wkt", "LINESTRING (10 20, 13 24, 13 30)".to_owned())];
        let found = streets(&groups, &files).expect("it is right");
        assert_eq!(found.points[..6], [0.0, 0.0, 3.0, 4.0, 3.0, 10.0], "moved to the origin, as nodes are");
        assert!(found.points.len() == 8 && found.points[6].is_nan() && found.points[7].is_nan());
        assert_eq!((found.count, found.is_y_down, found.is_osm), (3, false, false));
    }

    #[test]
    fn a_scenario_without_a_map_has_no_streets() {
        let groups = group("one", "model = \"random_waypoint\", area = \"9 m x 9 m\"");
        assert_eq!(streets(&groups, &[]).expect("it is right"), Streets::default());
    }

    #[test]
    fn a_map_of_more_points_than_are_drawn_is_counted_and_left_out() {
        let points = (0..=STREET_POINTS_MAX).map(|x| format!("{x} 0")).collect::<Vec<_>>().join(",");
        let groups = group("one", "model = \"map_walk\", map = \"roads.wkt\"");
        let found =
            streets(&groups, &[("roads.wkt", format!("LINESTRING ({points})"))]).expect("it is right");
        assert_eq!((found.points.len(), found.count), (0, STREET_POINTS_MAX + 1));
    }
}
