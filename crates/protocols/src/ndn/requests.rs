//! What a consumer wants, in order.

use super::{Name, Prefix};
use crate::math;
use crate::rng::Stream;
use std::sync::Arc;

/// What a consumer asks for.
#[derive(Clone, Debug)]
pub enum Requests {
    /// The segments of an object one after the other.
    Object {
        /// What stands before the segment.
        prefix: Prefix,
        /// The next one.
        next: u32,
        /// How many there are, as far as is known.
        segments: Option<u32>,
    },
    /// Object after object of a catalogue, by their popularity, for ever.
    Popular {
        /// What there is.
        catalogue: Arc<Catalogue>,
        /// For the choice.
        draws: Stream,
        /// The object at hand.
        object: Prefix,
        /// Its next segment.
        next: u32,
    },
}

/// Objects of differing popularity.
#[derive(Clone, Debug)]
pub struct Catalogue {
    objects: Vec<Prefix>,
    /// Chance of this object or one before it.
    cumulative: Vec<f64>,
    segments: u32,
}

impl Catalogue {
    /// Objects of `segments` segments each, of which the n-th is asked for with a chance proportional to
    /// 1/(n + `shift`)^`exponent` (Zipf; with a shift, Mandelbrot's).
    pub fn new(objects: Vec<Prefix>, segments: u32, exponent: f64, shift: f64) -> Self {
        let weight = |rank: usize| math::pow(rank as f64 + 1.0 + shift, -exponent);
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = (0..objects.len())
            .map(|rank| {
                sum += weight(rank);
                sum
            })
            .collect();
        cumulative.iter_mut().for_each(|up_to| *up_to /= sum);
        Self { objects, cumulative, segments: segments.max(1) }
    }
    /// How many objects there are.
    pub fn object_count(&self) -> usize {
        self.objects.len()
    }
    /// Segments of each object.
    pub fn segments(&self) -> u32 {
        self.segments
    }
    fn draw(&self, draws: &mut Stream) -> Option<Prefix> {
        let chance = draws.unit();
        let rank = self.cumulative.partition_point(|up_to| *up_to <= chance);
        self.objects.get(rank.min(self.objects.len().checked_sub(1)?)).copied()
    }
}

impl Requests {
    /// All of an object; `segments` where it is known how many it has.
    pub fn object(prefix: Prefix, segments: Option<u32>) -> Self {
        Self::Object { prefix, next: 0, segments }
    }
    /// Objects of a catalogue.
    pub fn popular(catalogue: Arc<Catalogue>, draws: Stream) -> Self {
        let next = catalogue.segments;
        Self::Popular { catalogue, draws, object: Prefix(0), next }
    }
    /// The next thing wanted.
    #[inline]
    pub fn take(&mut self) -> Option<Name> {
        match self {
            Self::Object { prefix, next, segments } => {
                if *next >= segments.unwrap_or(Name::WHOLE) {
                    return None;
                }
                *next += 1;
                Some(Name { prefix: *prefix, segment: *next - 1 })
            }
            Self::Popular { catalogue, draws, object, next } => {
                if *next >= catalogue.segments {
                    (*object, *next) = (catalogue.draw(draws)?, 0);
                }
                *next += 1;
                Some(Name { prefix: *object, segment: *next - 1 })
            }
        }
    }
    /// An object turns out to have `count` segments.
    pub fn set_segments(&mut self, count: u32) {
        if let Self::Object { segments, .. } = self {
            *segments = Some(segments.map_or(count, |known| known.min(count)));
        }
    }
    /// How many segments are asked for in all; `None`: no end is known.
    pub fn segments(&self) -> Option<u32> {
        match self {
            Self::Object { segments, .. } => *segments,
            Self::Popular { .. } => None,
        }
    }
    /// Whether nothing more is wanted.
    pub fn is_exhausted(&self) -> bool {
        match self {
            Self::Object { next, segments, .. } => *next >= segments.unwrap_or(Name::WHOLE),
            Self::Popular { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn popular_objects_are_asked_for_as_zipf_says() {
        let objects: Vec<Prefix> = (0..100).map(Prefix).collect();
        let catalogue = Arc::new(Catalogue::new(objects, 2, 1.0, 0.0));
        let mut requests = Requests::popular(catalogue, Stream::new(1, "requests", 0));
        let mut counts = [0_u32; 100];
        for _ in 0..40_000 {
            counts[requests.take().unwrap().prefix.0 as usize] += 1;
        }
        // The harmonic number of 100 is 5.187: 19.3 % for the first, half of it for the second.
        assert!((counts[0] as f64 / 40_000.0 - 0.193).abs() < 0.01, "{counts:?}");
        assert!((counts[1] as f64 / 40_000.0 - 0.096).abs() < 0.01, "{counts:?}");
    }

    #[test]
    fn an_object_ends_where_its_last_segment_is() {
        let mut requests = Requests::object(Prefix(7), None);
        assert_eq!(requests.take(), Some(Name { prefix: Prefix(7), segment: 0 }));
        requests.set_segments(2);
        assert_eq!(requests.take(), Some(Name { prefix: Prefix(7), segment: 1 }));
        assert_eq!(requests.take(), None);
        assert!(requests.is_exhausted());
    }
}
