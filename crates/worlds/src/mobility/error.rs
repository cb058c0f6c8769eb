//! What can be wrong with a description of motion.

use super::map::MapError;

/// Why nodes cannot move as described.
#[derive(Debug, thiserror::Error)]
pub enum MobilityError {
    /// An invalid range of values.
    #[error("{what} {low} to {high}: both must be finite, at least 0, and in ascending order")]
    Span {
        /// The parameter.
        what: &'static str,
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// An area without extent.
    #[error("world size {width_m} m x {height_m} m: both sides must be finite and greater than 0")]
    Area {
        /// West to east.
        width_m: f64,
        /// South to north.
        height_m: f64,
    },
    /// A speed of zero where nodes have to arrive.
    #[error("speed {low} to {high} m/s: {why}")]
    Speed {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
        /// What would be right.
        why: &'static str,
    },
    /// Steps with which a walk cannot continue everywhere.
    #[error(
        "step length {low} to {high} m: must reach above 0 and begin at most at half of the shorter side of the area, {most} m"
    )]
    Step {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
        /// The greatest lower end.
        most: f64,
    },
    /// Too few start points.
    #[error("{points} start points for {nodes} nodes: give one per node")]
    Points {
        /// How many there are.
        points: usize,
        /// How many are needed.
        nodes: u32,
    },
    /// A start point outside of the area.
    #[error("start point ({x}, {y}) is outside of the area of {width_m} m x {height_m} m")]
    PointOutside {
        /// Its x.
        x: f64,
        /// Its y.
        y: f64,
        /// West to east.
        width_m: f64,
        /// South to north.
        height_m: f64,
    },
    /// A route with too few stops.
    #[error("a route has {stops} stops: it needs {least} or more")]
    Stops {
        /// How many the shortest route has.
        stops: usize,
        /// How many are needed: two, or one more than the number of the first stop.
        least: usize,
    },
    /// A kind of start that the model does not have.
    #[error("{model} cannot begin with {initial}: {instead}")]
    Initial {
        /// The model.
        model: &'static str,
        /// What was asked for.
        initial: &'static str,
        /// What would be right.
        instead: &'static str,
    },
    /// An invalid tick or warm-up.
    #[error("{what} of {seconds} s: must be {right}")]
    Time {
        /// The parameter.
        what: &'static str,
        /// Its value.
        seconds: f64,
        /// What would be right.
        right: &'static str,
    },
    /// More nodes than can be numbered.
    #[error("{0} nodes: at most 4294967295 can be numbered")]
    TooManyNodes(u64),
    /// Something is wrong with the map.
    #[error(transparent)]
    Map(#[from] MapError),
}
