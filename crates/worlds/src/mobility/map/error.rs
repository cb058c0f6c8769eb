//! What can be wrong with a map.

/// Why a map cannot be used. Each message is one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MapError {
    /// Text that is no map.
    #[error("{file}:{line}: {what}, {right}")]
    Syntax {
        /// Name of the file.
        file: String,
        /// Line, from 1 on.
        line: u32,
        /// What is there.
        what: String,
        /// What would be right.
        right: &'static str,
    },
    /// Bytes that are no OpenStreetMap data.
    #[error("{file}: {what}, expected an OpenStreetMap file in PBF format (.osm.pbf)")]
    Pbf {
        /// Name of the file.
        file: String,
        /// What is wrong.
        what: String,
    },
    /// A file of no bytes.
    #[error("{file}: the file is empty, expected a map")]
    Empty {
        /// Name of the file.
        file: String,
    },
    /// A file that is larger than any map should be.
    #[error("{file}: {found} {what}, at most {most} are read: cut out the part that is needed")]
    TooLarge {
        /// Name of the file.
        file: String,
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        found: u64,
        /// How much there may be.
        most: u64,
    },
    /// A map without roads.
    #[error("{file}: no road found, {right}")]
    NoRoad {
        /// Name of the file, or of all files.
        file: String,
        /// What would be right.
        right: &'static str,
    },
    /// A file of places without one.
    #[error("{file}: no point found, expected POINT")]
    NoPoint {
        /// Name of the file.
        file: String,
    },
    /// A place of a file that is no vertex of the map.
    #[error(
        "{file}:{line}: ({x}, {y}) is not on the map, expected a point of one of its lines, with the same coordinates"
    )]
    NoVertex {
        /// Name of the file.
        file: String,
        /// Line, from 1 on.
        line: u32,
        /// Its first coordinate, as in the file.
        x: f64,
        /// Its second coordinate.
        y: f64,
    },
    /// A place of a file that nodes must not visit.
    #[error(
        "{file}:{line}: ({x}, {y}) is on a part of the map that its visitors must not use, expected a place on their layers"
    )]
    Forbidden {
        /// Name of the file.
        file: String,
        /// Line, from 1 on.
        line: u32,
        /// Its first coordinate, as in the file.
        x: f64,
        /// Its second coordinate.
        y: f64,
    },
    /// A map in which not every place can be reached.
    #[error(
        "the map has {parts} parts that no road joins, the largest has {largest} of {vertices} vertices: join them, or keep the largest (`largest_part = true`)"
    )]
    Disconnected {
        /// How many parts there are.
        parts: usize,
        /// Vertices of the largest part.
        largest: usize,
        /// Vertices of the map.
        vertices: usize,
    },
    /// A map that the world does not hold.
    #[error(
        "map vertex ({x}, {y}) is outside of the world of {width_m} m x {height_m} m: the map needs {need_x} m x {need_y} m from (0, 0)"
    )]
    Outside {
        /// East of the vertex.
        x: f64,
        /// North of the vertex.
        y: f64,
        /// Width of the world.
        width_m: f64,
        /// Height of the world.
        height_m: f64,
        /// Least width that would do.
        need_x: f64,
        /// Least height that would do.
        need_y: f64,
    },
    /// A layer that does not exist.
    #[error("map layer {layer} does not exist: {right}")]
    Layer {
        /// The layer.
        layer: usize,
        /// What would be right.
        right: &'static str,
    },
}
