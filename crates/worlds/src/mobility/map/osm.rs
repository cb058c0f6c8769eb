//! Roads from OpenStreetMap data in PBF format.
//!
//! Each `way` with the tag `highway` becomes a line, projected to the plane: x = R·cos(φ0)·(λ - λ0),
//! y = R·(φ - φ0) about the middle of the roads (equirectangular; within 10 km of the middle the
//! error of a length stays below 0.2% at 60° of latitude). One-way streets can be used in both
//! directions, as in The ONE. OpenStreetMap data is under the ODbL: give the attribution with results.

#[cfg(feature = "osm")]
mod pbf;

#[cfg(feature = "osm")]
pub use pbf::parse;

use lightlag_protocols::math::cos;

/// The largest file that is read, in bytes.
pub const BYTES_MAX: u64 = 4 << 30;
/// The most points on roads that are read.
pub const POINTS_MAX: u64 = 100_000_000;

/// Mean radius of the Earth in metres (IUGG 1980).
pub const EARTH_RADIUS_M: f64 = 6_371_008.8;

/// Which roads are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roads {
    /// All that one can drive or walk on.
    #[default]
    All,
    /// Those for motor vehicles.
    Drive,
    /// Those for people on foot.
    Walk,
}

/// A rectangle in degrees (WGS 84).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundingBox {
    /// Least longitude.
    pub west_deg: f64,
    /// Least latitude.
    pub south_deg: f64,
    /// Greatest longitude.
    pub east_deg: f64,
    /// Greatest latitude.
    pub north_deg: f64,
}

/// What is read from an OpenStreetMap file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OsmOptions {
    /// Which roads.
    pub roads: Roads,
    /// Where; roads are cut at the last point inside. Everywhere if none.
    pub bounds: Option<BoundingBox>,
}

/// Reads no roads: this program was built without the feature `osm`.
///
/// # Errors
/// Always.
#[cfg(not(feature = "osm"))]
pub fn parse(_: &[u8], name: &str, _: &OsmOptions) -> Result<Vec<Vec<super::Point>>, super::MapError> {
    let what = "this program reads no such files".to_owned();
    Err(super::MapError::Pbf { file: name.to_owned(), what })
}

/// Length of a degree of longitude and of one of latitude, in metres, at a latitude in degrees.
pub fn degree_m(latitude_deg: f64) -> [f64; 2] {
    let north = EARTH_RADIUS_M.to_radians();
    [north * cos(latitude_deg.to_radians()), north]
}
