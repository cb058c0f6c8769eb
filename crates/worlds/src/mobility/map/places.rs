//! Places of a map: random ones, and those that files name.

use super::wkt::Feature;
use super::{MapError, Point, RoadMap};
use crate::mobility::Draw;
use std::cmp::Ordering;

impl RoadMap {
    /// A uniform vertex of one of `layers`, of which there must be one.
    pub fn random_vertex(&self, layers: u32, draw: &mut dyn Draw) -> u32 {
        loop {
            let vertex = draw.below(self.vertex_count());
            if self.layers(vertex) & layers != 0 {
                return vertex;
            }
        }
    }
    /// A uniform vertex of one of `layers`, and a uniform place on the road from it to one of its neighbours, of
    /// whatever layer. The draws are in the order of The ONE.
    pub fn random_place(&self, layers: u32, draw: &mut dyn Draw) -> (u32, Point) {
        let share = draw.unit();
        let vertex = self.random_vertex(layers, draw);
        let neighbours = self.neighbours(vertex);
        let other = neighbours[draw.below(neighbours.len() as u32) as usize];
        (vertex, self.point(vertex).toward(self.point(other), share))
    }
    /// Where a point of a file of the map is, mirrored and moved as the map was.
    pub fn placed(&self, of_file: Point) -> Point {
        self.placing.place(of_file)
    }
    /// The vertices at the points of a file that has the coordinates of the map's own files, in their order. Each must be
    /// on one of `layers`.
    ///
    /// # Errors
    /// The first point that is no vertex, or not on these layers.
    pub fn vertices_at(
        &self,
        features: &[Feature],
        layers: u32,
        file: &str,
    ) -> Result<Vec<Vec<u32>>, MapError> {
        let mut by_place = vec![0; self.points.len()];
        for (vertex, &rank) in self.rank.iter().enumerate() {
            by_place[rank as usize] = vertex as u32;
        }
        let vertex = |line: u32, Point { x, y }: Point| {
            let place = self.placed(Point::new(x, y));
            let found = by_place.binary_search_by(|&v| in_order(self.point(v), place));
            let name = || file.to_owned();
            match found.map(|at| by_place[at]) {
                Err(_) => Err(MapError::NoVertex { file: name(), line, x, y }),
                Ok(v) if self.layers(v) & layers == 0 => {
                    Err(MapError::Forbidden { file: name(), line, x, y })
                }
                Ok(v) => Ok(v),
            }
        };
        let of = |feature: &Feature| feature.points.iter().map(|&p| vertex(feature.line, p)).collect();
        features.iter().map(of).collect()
    }
}

/// The order of [`RoadMap`]'s ranks.
pub(super) fn in_order(a: Point, b: Point) -> Ordering {
    // Adding zero makes -0.0 and 0.0 one place.
    (a.y + 0.0).total_cmp(&(b.y + 0.0)).then((a.x + 0.0).total_cmp(&(b.x + 0.0)))
}

#[cfg(test)]
mod tests {
    use super::super::{MapBuilder, MapOptions, wkt};
    use super::*;

    #[test]
    fn places_of_files_are_found_on_a_mirrored_and_moved_map() {
        let roads = b"LINESTRING (10 20, 13 24, 17 24)";
        let mut builder = MapBuilder::default();
        builder.add(&wkt::parse(roads, "roads.wkt").expect("sound"), 2).expect("layer 2");
        for options in [MapOptions::default(), MapOptions::THE_ONE] {
            let map = builder.clone().build("roads.wkt", options).expect("sound");
            let route = wkt::lines(b"\nLINESTRING (17 24, 10 20)", "route.wkt").expect("sound");
            let stops = map.vertices_at(&route, 4, "route.wkt").expect("on the map");
            let points: Vec<Point> = stops[0].iter().map(|&v| map.point(v)).collect();
            assert_eq!(points, [Point::new(17.0, 24.0), Point::new(10.0, 20.0)].map(|p| map.placed(p)));
            let error = map.vertices_at(&route, 3, "route.wkt").expect_err("another layer").to_string();
            assert!(error.starts_with("route.wkt:2: (17, 24) is on a part of the map"), "{error}");
            let off = wkt::lines(b"LINESTRING (10 20, 13 24.5)", "route.wkt").expect("sound");
            let error = map.vertices_at(&off, 4, "route.wkt").expect_err("off the road").to_string();
            assert!(error.starts_with("route.wkt:1: (13, 24.5) is not on the map"), "{error}");
        }
    }
}
