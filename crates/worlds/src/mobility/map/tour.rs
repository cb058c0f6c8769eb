//! The order in which the stops of a route are visited, for ever.

/// What follows the last stop of a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TourOrder {
    /// The first one again.
    #[default]
    Circular,
    /// The last one once more, then all back to the first. That one is visited once before the second: so does The ONE.
    PingPong,
}

/// The stops of a route, as vertices of a map, in an endless order. A place on the tour is a number below
/// [`places`](Tour::places).
#[derive(Clone, Debug, PartialEq)]
pub struct Tour {
    /// The stops in the order of the file; at least one.
    pub stops: Vec<u32>,
    /// What follows the last one.
    pub order: TourOrder,
}

impl Tour {
    /// Visits until all begins again.
    pub fn places(&self) -> usize {
        match self.order {
            TourOrder::Circular => self.stops.len(),
            TourOrder::PingPong => 2 * self.stops.len() - 1,
        }
    }
    /// The vertex that is visited at this place; the first places are the stops themselves.
    pub fn vertex(&self, place: usize) -> u32 {
        let count = self.stops.len();
        self.stops[if place < count { place } else { self.places() - place }]
    }
    /// The place that is visited next.
    pub fn after(&self, place: usize) -> usize {
        (place + 1) % self.places()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visits(stops: u32, order: TourOrder, first: usize, count: usize) -> Vec<u32> {
        let tour = Tour { stops: (0..stops).collect(), order };
        std::iter::successors(Some(first), |&place| Some(tour.after(place)))
            .take(count)
            .map(|place| tour.vertex(place))
            .collect()
    }

    #[test]
    fn a_circular_tour_begins_again_after_its_last_stop() {
        assert_eq!(visits(3, TourOrder::Circular, 1, 7), [1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(visits(1, TourOrder::Circular, 0, 3), [0, 0, 0]);
    }

    #[test]
    fn a_tour_back_and_forth_visits_its_last_stop_twice() {
        assert_eq!(visits(4, TourOrder::PingPong, 2, 12), [2, 3, 3, 2, 1, 0, 1, 2, 3, 3, 2, 1]);
        assert_eq!(visits(2, TourOrder::PingPong, 0, 7), [0, 1, 1, 0, 1, 1, 0]);
        assert_eq!(visits(1, TourOrder::PingPong, 0, 3), [0, 0, 0]);
    }
}
