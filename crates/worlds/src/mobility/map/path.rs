//! Shortest paths through a map.

use super::{Point, RoadMap};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A vertex to be looked at; the nearest first, ties by the order of (y, x) as in The ONE.
#[derive(Clone, Copy, PartialEq)]
struct Ahead {
    distance_m: f64,
    rank: u32,
    vertex: u32,
}

impl Eq for Ahead {}
impl Ord for Ahead {
    fn cmp(&self, other: &Self) -> Ordering {
        self.distance_m.total_cmp(&other.distance_m).then(self.rank.cmp(&other.rank))
    }
}
impl PartialOrd for Ahead {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl RoadMap {
    /// Appends the points of the shortest path to `path`, both ends included, and returns its length
    /// in metres (Dijkstra 1959). Only vertices of one of `layers` are used. `None` without a path.
    pub fn shortest_path(&self, from: u32, to: u32, layers: u32, path: &mut Vec<Point>) -> Option<f64> {
        let (distance_m, before) = self.search(from, to, layers)?;
        let start = path.len();
        let mut vertex = to;
        while vertex != from {
            path.push(self.point(vertex));
            vertex = before[vertex as usize];
        }
        path.push(self.point(from));
        path[start..].reverse();
        Some(distance_m)
    }

    fn search(&self, from: u32, to: u32, layers: u32) -> Option<(f64, Vec<u32>)> {
        let count = self.vertex_count() as usize;
        let (mut nearest_m, mut before) = (vec![f64::INFINITY; count], vec![u32::MAX; count]);
        let mut ahead = BinaryHeap::new();
        nearest_m[from as usize] = 0.0;
        ahead.push(Reverse(Ahead { distance_m: 0.0, rank: self.rank[from as usize], vertex: from }));
        while let Some(Reverse(Ahead { distance_m, vertex, .. })) = ahead.pop() {
            if vertex == to {
                return Some((distance_m, before));
            }
            if distance_m > nearest_m[vertex as usize] {
                continue;
            }
            for edge in self.edges(vertex) {
                let (other, far_m) = (self.neighbours[edge], distance_m + self.lengths_m[edge]);
                if self.layers(other) & layers != 0 && far_m < nearest_m[other as usize] {
                    nearest_m[other as usize] = far_m;
                    before[other as usize] = vertex;
                    let rank = self.rank[other as usize];
                    ahead.push(Reverse(Ahead { distance_m: far_m, rank, vertex: other }));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MapBuilder, MapOptions};
    use super::*;

    /// A 4 x 4 grid of streets of 10 m, with a diagonal from (0, 0) to (10, 10).
    fn grid() -> RoadMap {
        let mut builder = MapBuilder::default();
        let at = |i: u32, j: u32| Point::new(f64::from(i) * 10.0, f64::from(j) * 10.0);
        for i in 0..4 {
            let (row, column) = ((0..4).map(|j| at(j, i)).collect(), (0..4).map(|j| at(i, j)).collect());
            builder.add(&[row], 0).expect("layer 0");
            builder.add(&[column], 1).expect("layer 1");
        }
        builder.add(&[vec![at(0, 0), at(1, 1)]], 2).expect("layer 2");
        builder.build("grid", MapOptions::default()).expect("connected")
    }

    fn vertex(map: &RoadMap, x: f64, y: f64) -> u32 {
        (0..map.vertex_count()).find(|&v| map.point(v) == Point::new(x, y)).expect("on the grid")
    }

    #[test]
    fn the_way_is_the_shortest_and_has_both_ends() {
        let map = grid();
        let mut path = Vec::new();
        let (from, to) = (vertex(&map, 0.0, 0.0), vertex(&map, 20.0, 10.0));
        let length_m = map.shortest_path(from, to, u32::MAX, &mut path).expect("a path");
        assert!((length_m - (200.0_f64.sqrt() + 10.0)).abs() < 1e-12);
        assert_eq!(path, [Point::new(0.0, 0.0), Point::new(10.0, 10.0), Point::new(20.0, 10.0)]);
    }

    #[test]
    fn a_way_to_here_is_one_point() {
        let map = grid();
        let mut path = Vec::new();
        assert_eq!(map.shortest_path(3, 3, u32::MAX, &mut path), Some(0.0));
        assert_eq!(path, [map.point(3)]);
    }

    #[test]
    fn distances_agree_with_floyd_and_warshall() {
        let map = grid();
        let n = map.vertex_count() as usize;
        let mut far = vec![vec![f64::INFINITY; n]; n];
        for (v, row) in far.iter_mut().enumerate() {
            row[v] = 0.0;
            for edge in map.edges(v as u32) {
                row[map.neighbours[edge] as usize] = map.lengths_m[edge];
            }
        }
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    far[i][j] = far[i][j].min(far[i][k] + far[k][j]);
                }
            }
        }
        for (i, row) in far.iter().enumerate() {
            for (j, &expected) in row.iter().enumerate() {
                let found = map.shortest_path(i as u32, j as u32, u32::MAX, &mut Vec::new()).expect("a path");
                assert!((found - expected).abs() < 1e-9, "{i} to {j}: {found} is not {expected}");
            }
        }
    }
}
