//! Road maps: vertices, edges, and the shortest paths along them.

mod error;
mod java_order;
pub mod osm;
mod path;
mod places;
mod tour;
pub mod wkt;

pub use error::MapError;
pub use tour::{Tour, TourOrder};

use super::{Area, Point};
use std::collections::BTreeMap;

/// The most layers that a map can have.
pub const LAYERS_MAX: usize = 32;

/// What becomes of a map that is not in one piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disconnected {
    /// It is refused, as in The ONE.
    #[default]
    Error,
    /// Its largest part (by vertices, ties by the first vertex) is kept.
    Largest,
}

/// The order in which vertices are numbered, hence drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VertexOrder {
    /// As they first appear in the files.
    #[default]
    File,
    /// As The ONE lists them: by the slots of a `java.util.Hashtable` of their printed coordinates.
    TheOne,
}

/// How lines become a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapOptions {
    /// Turns y into -y, as The ONE does: its screen has y downwards.
    pub mirror: bool,
    /// Moves the map so that its least coordinates are (0, 0), as The ONE does.
    pub to_origin: bool,
    /// What becomes of a map that is not in one piece.
    pub disconnected: Disconnected,
    /// How vertices are numbered.
    pub order: VertexOrder,
}

impl MapOptions {
    /// All as in The ONE.
    pub const THE_ONE: Self =
        Self { mirror: true, to_origin: true, disconnected: Disconnected::Error, order: VertexOrder::TheOne };
}

/// Roads as a graph: vertices with coordinates in metres, edges in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct RoadMap {
    points: Vec<Point>,
    /// The neighbours of v are `neighbours[first[v]..first[v + 1]]`.
    first: Vec<u32>,
    neighbours: Vec<u32>,
    /// Length of the edge to each neighbour, in metres.
    lengths_m: Vec<f64>,
    /// Bit n: the vertex is part of layer n.
    layers: Vec<u32>,
    /// Rank of each vertex in the order of (y, x), which decides between paths of equal length.
    rank: Vec<u32>,
    /// How the coordinates of its files become these.
    placing: Placing,
}

/// How coordinates of files become those of a map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Placing {
    mirror: bool,
    /// Subtracted, after mirroring.
    origin: Point,
}

impl Placing {
    fn mirrored(self, p: Point) -> Point {
        if self.mirror { Point::new(p.x, -p.y) } else { p }
    }
    fn place(self, p: Point) -> Point {
        let Point { x, y } = self.mirrored(p);
        Point::new(x - self.origin.x, y - self.origin.y)
    }
}

/// Collects lines; lines that share a vertex with exactly equal coordinates are joined there.
#[derive(Clone, Debug, Default)]
pub struct MapBuilder {
    by_place: BTreeMap<(u64, u64), u32>,
    points: Vec<Point>,
    adjacent: Vec<Vec<u32>>,
    layers: Vec<u32>,
    edges: usize,
}

impl MapBuilder {
    /// Adds lines to a layer (The ONE: one layer per file, counted from 1 there and from 0 here).
    ///
    /// # Errors
    /// If the layer is [`LAYERS_MAX`] or more.
    pub fn add(&mut self, lines: &[Vec<Point>], layer: usize) -> Result<(), MapError> {
        if layer >= LAYERS_MAX {
            return Err(MapError::Layer { layer, right: "a map can have 32 layers, 0 to 31" });
        }
        for line in lines {
            let mut last = None;
            for &point in line {
                let v = self.vertex(point);
                self.layers[v as usize] |= 1 << layer;
                if let Some(last) = last {
                    self.join(v, last);
                }
                last = Some(v);
            }
        }
        Ok(())
    }

    fn vertex(&mut self, p: Point) -> u32 {
        // Adding zero makes -0.0 and 0.0 one place.
        let place = ((p.x + 0.0).to_bits(), (p.y + 0.0).to_bits());
        let next = self.points.len() as u32;
        let v = *self.by_place.entry(place).or_insert(next);
        if v == next {
            self.points.push(p);
            self.adjacent.push(Vec::new());
            self.layers.push(0);
        }
        v
    }

    fn join(&mut self, a: u32, b: u32) {
        if a == b || self.adjacent[a as usize].contains(&b) {
            return;
        }
        self.adjacent[a as usize].push(b);
        self.adjacent[b as usize].push(a);
        self.edges += 1;
    }

    /// Makes the map; `name` stands for all its files in errors.
    ///
    /// # Errors
    /// If there is no road, or if the map is in parts and may not be.
    pub fn build(self, name: &str, options: MapOptions) -> Result<RoadMap, MapError> {
        if self.edges == 0 {
            let right = "expected lines of at least two different points";
            return Err(MapError::NoRoad { file: name.to_owned(), right });
        }
        let kept = self.kept(options.disconnected)?;
        let order = match options.order {
            VertexOrder::File => kept,
            VertexOrder::TheOne => {
                let places: Vec<Point> = kept.iter().map(|&v| self.points[v as usize]).collect();
                java_order::hashtable_order(&places).into_iter().map(|i| kept[i as usize]).collect()
            }
        };
        Ok(self.graph(&order, options))
    }

    /// The vertices to keep, ascending.
    fn kept(&self, disconnected: Disconnected) -> Result<Vec<u32>, MapError> {
        let all: Vec<u32> = (0..self.points.len() as u32).collect();
        let parts = parts(&all, |v| &self.adjacent[v as usize]);
        let largest = parts.iter().rev().max_by_key(|part| part.len()).map_or(0, Vec::len);
        if parts.len() > 1 && disconnected == Disconnected::Error {
            return Err(MapError::Disconnected { parts: parts.len(), largest, vertices: all.len() });
        }
        Ok(parts.into_iter().find(|part| part.len() == largest).unwrap_or_default())
    }

    fn graph(&self, order: &[u32], options: MapOptions) -> RoadMap {
        let mut number = vec![u32::MAX; self.points.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old as usize] = new as u32;
        }
        let (points, placing) = placed(order.iter().map(|&v| self.points[v as usize]).collect(), options);
        let (mut first, mut neighbours, mut lengths_m) = (vec![0], Vec::new(), Vec::new());
        for (new, &old) in order.iter().enumerate() {
            for &other in &self.adjacent[old as usize] {
                let other = number[other as usize];
                neighbours.push(other);
                lengths_m.push(points[new].distance(points[other as usize]));
            }
            first.push(neighbours.len() as u32);
        }
        let layers = order.iter().map(|&v| self.layers[v as usize]).collect();
        let rank = ranks(&points);
        RoadMap { points, first, neighbours, lengths_m, layers, rank, placing }
    }
}

/// Mirrors and moves a map.
fn placed(mut points: Vec<Point>, options: MapOptions) -> (Vec<Point>, Placing) {
    let mut placing = Placing { mirror: options.mirror, origin: Point::default() };
    if options.to_origin {
        let least = |a: Point, b: Point| Point::new(a.x.min(b.x), a.y.min(b.y));
        let infinite = Point::new(f64::INFINITY, f64::INFINITY);
        placing.origin = points.iter().map(|&p| placing.mirrored(p)).fold(infinite, least);
    }
    points.iter_mut().for_each(|p| *p = placing.place(*p));
    (points, placing)
}

fn ranks(points: &[Point]) -> Vec<u32> {
    let mut sorted: Vec<u32> = (0..points.len() as u32).collect();
    sorted.sort_by(|&a, &b| places::in_order(points[a as usize], points[b as usize]));
    let mut rank = vec![0; points.len()];
    for (place, &v) in sorted.iter().enumerate() {
        rank[v as usize] = place as u32;
    }
    rank
}

/// The connected parts of `vertices`, in the order of their first vertex; neighbours that are not
/// among `vertices` do not join.
fn parts<'a>(vertices: &[u32], neighbours: impl Fn(u32) -> &'a [u32]) -> Vec<Vec<u32>> {
    let most = vertices.iter().max().map_or(0, |&v| v as usize + 1);
    let mut waiting = vec![false; most];
    vertices.iter().for_each(|&v| waiting[v as usize] = true);
    let mut all = Vec::new();
    for &seed in vertices {
        if !std::mem::take(&mut waiting[seed as usize]) {
            continue;
        }
        let mut part = vec![seed];
        let mut next = 0;
        while next < part.len() {
            for &v in neighbours(part[next]) {
                if waiting.get(v as usize) == Some(&true) {
                    waiting[v as usize] = false;
                    part.push(v);
                }
            }
            next += 1;
        }
        part.sort_unstable();
        all.push(part);
    }
    all
}

impl RoadMap {
    /// From WKT files, (name, bytes) each; the n-th file is layer n.
    ///
    /// # Errors
    /// If a file is no such map, or if the map is in parts and may not be.
    pub fn from_wkt(files: &[(&str, &[u8])], options: MapOptions) -> Result<Self, MapError> {
        let mut builder = MapBuilder::default();
        for (layer, (name, bytes)) in files.iter().enumerate() {
            builder.add(&wkt::parse(bytes, name)?, layer)?;
        }
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        builder.build(&names.join(", "), options)
    }
    /// From an OpenStreetMap file; not mirrored, with its south-western corner at (0, 0).
    ///
    /// # Errors
    /// If the bytes are no such map, or if the map is in parts and may not be.
    pub fn from_osm(
        bytes: &[u8],
        name: &str,
        options: &osm::OsmOptions,
        disconnected: Disconnected,
    ) -> Result<Self, MapError> {
        let mut builder = MapBuilder::default();
        builder.add(&osm::parse(bytes, name, options)?, 0)?;
        builder.build(name, MapOptions { to_origin: true, disconnected, ..MapOptions::default() })
    }
    /// How many vertices there are; never less than two.
    pub fn vertex_count(&self) -> u32 {
        self.points.len() as u32
    }
    /// Where a vertex is.
    pub fn point(&self, vertex: u32) -> Point {
        self.points[vertex as usize]
    }
    /// The vertices one edge away, in the order in which the files name them.
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.neighbours[self.edges(vertex)]
    }
    /// The roads as lines of vertices: each edge once. A line passes a vertex where exactly two edges meet.
    pub fn lines(&self) -> Vec<Vec<u32>> {
        let mut drawn = vec![false; self.neighbours.len()];
        let mut lines = Vec::new();
        // Ends and junctions first: what is left after them are circles.
        for passes in [false, true] {
            for vertex in (0..self.vertex_count()).filter(|&v| (self.edges(v).len() == 2) == passes) {
                for edge in self.edges(vertex) {
                    if !drawn[edge] {
                        lines.push(self.line(vertex, edge, &mut drawn));
                    }
                }
            }
        }
        lines
    }
    /// The line that begins with this edge of a vertex.
    fn line(&self, vertex: u32, edge: usize, drawn: &mut [bool]) -> Vec<u32> {
        let mut line = vec![vertex];
        let (mut last, mut edge) = (vertex, Some(edge));
        while let Some(taken) = edge {
            let next = self.neighbours[taken];
            drawn[taken] = true;
            self.edges(next)
                .filter(|&back| self.neighbours[back] == last)
                .for_each(|back| drawn[back] = true);
            line.push(next);
            let mut onward = self.edges(next).filter(|&edge| !drawn[edge]);
            edge = onward.next().filter(|_| self.edges(next).len() == 2);
            last = next;
        }
        line
    }
    /// The layers of a vertex: bit n for layer n.
    pub fn layers(&self, vertex: u32) -> u32 {
        self.layers[vertex as usize]
    }
    /// Sum of the lengths of all roads in metres.
    pub fn length_m(&self) -> f64 {
        self.lengths_m.iter().sum::<f64>() / 2.0
    }
    /// The corners, least and greatest.
    pub fn bounds(&self) -> (Point, Point) {
        self.points.iter().fold((self.points[0], self.points[0]), |(a, b), p| {
            (Point::new(a.x.min(p.x), a.y.min(p.y)), Point::new(b.x.max(p.x), b.y.max(p.y)))
        })
    }
    /// Does the world hold the whole map?
    ///
    /// # Errors
    /// One that names a vertex outside, and the size that would do.
    pub fn check_inside(&self, world: Area) -> Result<(), MapError> {
        let Some(&Point { x, y }) = self.points.iter().find(|p| !p.is_in(world)) else { return Ok(()) };
        let Point { x: need_x, y: need_y } = self.bounds().1;
        let Area { width_m, height_m } = world;
        Err(MapError::Outside { x, y, width_m, height_m, need_x, need_y })
    }
    /// Is there anything on these layers?
    ///
    /// # Errors
    /// If no vertex is.
    pub fn check_layers(&self, layers: u32) -> Result<(), MapError> {
        if self.layers.iter().any(|&of| of & layers != 0) {
            return Ok(());
        }
        let layer = layers.trailing_zeros() as usize;
        Err(MapError::Layer { layer, right: "choose layers with at least one vertex" })
    }
    fn edges(&self, vertex: u32) -> std::ops::Range<usize> {
        self.first[vertex as usize] as usize..self.first[vertex as usize + 1] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Vec<Point>> {
        wkt::parse(text.as_bytes(), "test.wkt").expect("sound")
    }

    fn build(text: &str, options: MapOptions) -> Result<RoadMap, MapError> {
        let mut builder = MapBuilder::default();
        builder.add(&lines(text), 0)?;
        builder.build("test.wkt", options)
    }

    #[test]
    fn lines_are_joined_at_equal_coordinates_only() {
        let map =
            build("LINESTRING (0 0, 1 0)\nLINESTRING (1 0, 1 1, 0 0)", MapOptions::default()).expect("one");
        assert_eq!(map.vertex_count(), 3);
        assert_eq!(map.neighbours(0), [1, 2]);
        assert!((map.length_m() - (2.0 + 2.0_f64.sqrt())).abs() < 1e-12);
    }

    #[test]
    fn a_map_in_parts_is_refused_or_reduced_to_its_largest() {
        let text = "LINESTRING (0 0, 1 0)\nLINESTRING (5 5, 6 5, 7 5)\nLINESTRING (9 9, 9 8)";
        let error = build(text, MapOptions::default()).expect_err("three parts");
        assert_eq!(error, MapError::Disconnected { parts: 3, largest: 3, vertices: 7 });
        let options =
            MapOptions { disconnected: Disconnected::Largest, to_origin: true, ..MapOptions::default() };
        let map = build(text, options).expect("the largest");
        assert_eq!(map.bounds(), (Point::new(0.0, 0.0), Point::new(2.0, 0.0)));
    }

    #[test]
    fn the_one_mirrors_and_moves_to_the_origin() {
        let map = build("LINESTRING (10 20, 13 24)", MapOptions::THE_ONE).expect("one road");
        let mut points = [map.point(0), map.point(1)];
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        assert_eq!(points, [Point::new(0.0, 4.0), Point::new(3.0, 0.0)]);
        assert!(map.check_inside(Area::new(3.0, 4.0)).is_ok());
        let error = map.check_inside(Area::new(2.0, 4.0)).expect_err("too wide").to_string();
        assert!(error.ends_with("the map needs 3 m x 4 m from (0, 0)"), "{error}");
    }

    #[test]
    fn a_map_of_points_has_no_road() {
        let error = build("LINESTRING (1 1, 1 1)", MapOptions::default()).expect_err("no road");
        assert!(matches!(error, MapError::NoRoad { .. }));
    }

    #[test]
    fn lines_have_each_road_once_from_junction_to_junction() {
        let text = "LINESTRING (0 0, 1 0, 2 0)\nLINESTRING (2 0, 3 1, 4 0)\nLINESTRING (2 0, 2 5)\nLINESTRING (9 0, 9 1, 8 1, 9 0)";
        let mut builder = MapBuilder::default();
        builder.add(&lines(text), 0).expect("layer 0");
        let part = |vertices: &[u32]| builder.graph(vertices, MapOptions::default()).lines();
        assert_eq!(part(&[0, 1, 2, 3, 4, 5]), [vec![0, 1, 2], vec![2, 3, 4], vec![2, 5]]);
        assert_eq!(part(&[6, 7, 8]), [[0, 1, 2, 0]], "a circle ends where it begins");
    }

    #[test]
    fn layers_say_where_a_vertex_comes_from() {
        let mut builder = MapBuilder::default();
        builder.add(&lines("LINESTRING (0 0, 1 0)"), 0).expect("layer 0");
        builder.add(&lines("LINESTRING (1 0, 2 0)\nLINESTRING (0 0, 0 1)"), 3).expect("layer 3");
        let map = builder.build("two files", MapOptions::default()).expect("connected");
        assert_eq!((0..4).map(|v| map.layers(v)).collect::<Vec<_>>(), [9, 9, 8, 8]);
        assert!(map.check_layers(1).is_ok() && map.check_layers(1 << 3).is_ok());
        assert!(map.check_layers(2).is_err());
    }
}
