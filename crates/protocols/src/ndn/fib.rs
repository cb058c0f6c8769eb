//! Routes of names: the face of the longest prefix that has a route.

use super::{Face, Names, Prefix};
use std::collections::BTreeMap;

/// Routes of a forwarder.
#[derive(Clone, Debug, Default)]
pub struct Fib {
    /// Faces and their costs, the cheapest first.
    routes: BTreeMap<Prefix, Vec<(u32, Face)>>,
    /// For every prefix that is known: the cheapest two faces of the longest one above it, or of itself, that
    /// has a route.
    settled: Vec<[Option<Face>; 2]>,
}

impl Fib {
    /// Names under `prefix` are available behind `face`, at this cost.
    pub fn add(&mut self, prefix: Prefix, face: Face, cost: u32) {
        let faces = self.routes.entry(prefix).or_default();
        faces.retain(|known| known.1 != face);
        faces.push((cost, face));
        faces.sort_unstable();
        self.settled.clear();
    }
    /// They are no longer.
    pub fn remove(&mut self, prefix: Prefix, face: Face) {
        if let Some(faces) = self.routes.get_mut(&prefix) {
            faces.retain(|known| known.1 != face);
            if faces.is_empty() {
                self.routes.remove(&prefix);
            }
        }
        self.settled.clear();
    }
    /// Looks up every prefix once, so that Interests need not. To be called when routes or names were added.
    pub fn settle(&mut self, names: &Names) {
        let faces = |prefix| {
            let routes = names.lineage(prefix).find_map(|at| self.routes.get(&at));
            [0, 1].map(|place| routes.and_then(|routes| routes.get(place)).map(|route| route.1))
        };
        self.settled = (0..names.count() as u32).map(|index| faces(Prefix(index))).collect();
    }
    /// The cheapest face for names under `prefix`, but never back to where it came from.
    #[inline]
    pub fn next(&self, prefix: Prefix, from: Face) -> Option<Face> {
        let [cheapest, other] = *self.settled.get(prefix.0 as usize)?;
        if cheapest == Some(from) { other } else { cheapest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_decides_and_no_interest_goes_back() {
        let mut names = Names::default();
        let [all, video, film] = ["/", "/video", "/video/film/v=1"].map(|text| names.intern_text(text));
        let news = names.intern_text("/news");
        let mut fib = Fib::default();
        fib.add(all, 1, 10);
        fib.add(video, 3, 20);
        fib.add(video, 2, 10);
        fib.settle(&names);
        assert_eq!(fib.next(film, 9), Some(2));
        assert_eq!(fib.next(film, 2), Some(3));
        assert_eq!(fib.next(news, 9), Some(1));
        assert_eq!(fib.next(news, 1), None);
        fib.remove(video, 2);
        fib.settle(&names);
        assert_eq!(fib.next(film, 3), None);
    }
}
