//! Parameters of routers that follow from how often nodes meet (Karvo and Ott 2008): what happened one time scale ago must
//! hardly count any more.

use crate::dtn::NodeId;
use crate::math;
use crate::time::Instant;

/// How often a node meets the same node again.
#[derive(Debug)]
pub struct Encounters {
    /// Length of the time scale in seconds.
    time_scale_s: f64,
    /// By node: when it was met last, and how many encounters with any node there had been then.
    last: Vec<Option<(Instant, u32)>>,
    all: u32,
    samples: u32,
    /// Mean time between two encounters with one node, in seconds.
    mean_interval_s: f64,
    /// Mean number of encounters from one with a node to the next with it.
    mean_between: f64,
}

/// How far memory may be off after a time scale, for PRoPHET and for MaxProp.
const PROPHET_ERROR: f64 = 0.005;
const MAX_PROP_ERROR: f64 = 0.01;
/// Steps after which a search ends where it is.
const MAX_PROP_STEPS: u32 = 10_000;
const PROPHET_STEPS: u32 = 400;
const FADING_STEPS: u32 = 101;

impl Encounters {
    pub fn new(nodes: u32, time_scale_s: f64) -> Self {
        let last = vec![None; nodes as usize];
        Self { time_scale_s, last, all: 0, samples: 0, mean_interval_s: 0.0, mean_between: 0.0 }
    }
    /// An encounter with `peer`; true if it was met before: then the means are new.
    pub fn met(&mut self, now: Instant, peer: NodeId) -> bool {
        self.all = self.all.saturating_add(1);
        let Some(last) = self.last.get_mut(peer.0 as usize) else { return false };
        let Some((before, number)) = last.replace((now, self.all)) else { return false };
        self.samples = self.samples.saturating_add(1);
        let count = f64::from(self.samples);
        let mean = |mean: f64, value: f64| mean * ((count - 1.0) / count) + value / count;
        self.mean_interval_s = mean(self.mean_interval_s, (now - before).as_secs_f64());
        self.mean_between = mean(self.mean_between, f64::from(self.all - number));
        true
    }
    /// How many encounters with one node a time scale has; `None` if it is too short for an estimate.
    fn per_scale(&self) -> Option<f64> {
        let fits = self.mean_interval_s > 0.0 && self.mean_interval_s <= self.time_scale_s;
        fits.then(|| (self.time_scale_s / self.mean_interval_s).ceil())
    }
    /// PRoPHET's factor of ageing per second and share of an encounter, with which predictabilities are `target` on
    /// average; `None` without an estimate.
    pub fn prophet(&self, target: f64) -> Option<(f64, f64)> {
        let course = Course { encounters: self.per_scale()?, interval_s: self.mean_interval_s };
        let (mut fading, mut rest) = (1e-5, Search::new(0.9).up_to(1.0));
        for _ in 0..PROPHET_STEPS {
            // The less an encounter counts, the lower they are.
            let found = rest.step(course.mean(fading, rest.at), [target * (1.0 - PROPHET_ERROR), target]);
            let mut search = Search { shrink: 1.5, ..Search::new(fading) };
            let mut steps = 0;
            while steps < FADING_STEPS
                && !search.step(
                    course.error(search.at, rest.at),
                    [PROPHET_ERROR * (1.0 - PROPHET_ERROR), PROPHET_ERROR],
                )
            {
                steps += 1;
            }
            fading = search.at;
            if found {
                break;
            }
            if steps == FADING_STEPS {
                rest.turn();
            }
        }
        Some((math::exp(-fading), 1.0 - rest.at))
    }
    /// MaxProp's weight of an encounter, sought from the one before; `None` without an estimate.
    pub fn max_prop(&self, before: f64) -> Option<f64> {
        let encounters = self.per_scale().filter(|_| self.mean_between > 0.0)?;
        let error = |alpha: f64| {
            let grown = math::pow(1.0 + alpha, self.mean_between + 1.0);
            let left = math::pow(grown, -encounters);
            let lasting = alpha / (grown - 1.0);
            let of_zero = alpha / grown * (1.0 - left) / (1.0 - 1.0 / grown);
            (of_zero - lasting).abs().max((of_zero + left - lasting).abs())
        };
        let mut search = Search::new(before);
        let band = [MAX_PROP_ERROR * 0.999, MAX_PROP_ERROR];
        for _ in 0..MAX_PROP_STEPS {
            if search.step(error(search.at), band) {
                break;
            }
        }
        Some(search.at)
    }
}

/// How predictabilities of PRoPHET develop for a node that is met regularly.
struct Course {
    /// In a time scale.
    encounters: f64,
    interval_s: f64,
}

impl Course {
    /// After the fading up to an encounter, where there were many before; `rest` is what an encounter leaves of the gap
    /// to 1.
    fn lasting(&self, fading: f64, rest: f64) -> f64 {
        (1.0 - rest) / (math::exp(fading * self.interval_s) - rest)
    }
    /// Its mean over time; 1 where it is not defined.
    fn mean(&self, fading: f64, rest: f64) -> f64 {
        let exponent = fading * self.interval_s;
        let after = 1.0 - rest * (1.0 - self.lasting(fading, rest));
        let mean = after * (1.0 - math::exp(-exponent)) / exponent;
        if mean.is_nan() { 1.0 } else { mean }
    }
    /// How far one that was 0 or 1 is from its lasting value after a time scale.
    fn error(&self, fading: f64, rest: f64) -> f64 {
        let faded = math::exp(-fading * self.interval_s);
        let kept = rest * faded;
        let lasting = self.lasting(fading, rest);
        let of_zero = faded * (1.0 - rest) * ((1.0 - math::pow(kept, self.encounters - 1.0)) / (1.0 - kept));
        let of_one = math::pow(kept, self.encounters) + of_zero;
        (of_zero - lasting).abs().max((of_one - lasting).abs())
    }
}

/// Seeks the number at which a falling function lies in a band: in steps of 0.1 at first, half as long after each turn.
/// Where in the band it ends depends on its start, as in The ONE.
struct Search {
    at: f64,
    step: f64,
    /// Whether the last step was upwards.
    up: Option<bool>,
    /// Numbers stay below.
    most: f64,
    /// By what steps are shortened where the next number would not be between 0 and `most`.
    shrink: f64,
}

impl Search {
    fn new(at: f64) -> Self {
        Self { at, step: 0.1, up: None, most: f64::INFINITY, shrink: 2.0 }
    }
    fn up_to(self, most: f64) -> Self {
        Self { most, ..self }
    }
    /// The next step is in whatever direction as long as this one.
    fn turn(&mut self) {
        self.up = None;
    }
    /// The function has this value here: true if it is in the band, else a step is made.
    fn step(&mut self, value: f64, [low, high]: [f64; 2]) -> bool {
        let up = value > high;
        let down = value < low;
        // Not a number is neither, and ends the search.
        if !up && !down {
            return true;
        }
        if self.up.replace(up).is_some_and(|before| before != up) {
            self.step /= 2.0;
        }
        self.at += if up { self.step } else { -self.step };
        let bound = if self.at >= self.most {
            self.most - self.step
        } else if self.at <= 0.0 || (1.0 + self.at) - 1.0 == 0.0 {
            self.step
        } else {
            return false;
        };
        self.at = bound;
        self.step /= self.shrink;
        self.turn();
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes that meet in turn.
    fn encounters(interval_s: i64, time_scale_s: f64) -> Encounters {
        let mut encounters = Encounters::new(3, time_scale_s);
        for number in 0..20 {
            let again = encounters.met(Instant::from_secs(number * interval_s), NodeId((number % 2) as u32));
            assert_eq!(again, number > 1);
        }
        encounters
    }

    #[test]
    fn means_are_those_of_encounters_with_the_same_node() {
        let encounters = encounters(50, 1000.0);
        assert!(
            (encounters.mean_interval_s - 100.0).abs() < 1e-9 && (encounters.mean_between - 2.0).abs() < 1e-9
        );
    }

    #[test]
    fn a_time_scale_that_is_shorter_than_the_interval_gives_no_estimate() {
        assert_eq!(encounters(50, 99.0).prophet(0.2), None);
        assert_eq!(encounters(50, 99.0).max_prop(1.0), None);
        assert_eq!(Encounters::new(3, 99.0).prophet(0.2), None);
    }

    #[test]
    fn memory_is_gone_after_a_time_scale_and_predictabilities_have_their_mean() {
        for (scale_s, target) in [(100.0, 0.2), (1000.0, 0.2), (5000.0, 0.4), (20_000.0, 0.05)] {
            let (gamma, share) = encounters(50, scale_s).prophet(target).unwrap();
            let after = |mut p: f64| {
                let mut sum = 0.0;
                for _ in 0..(scale_s / 100.0) as u32 {
                    p += (1.0 - p) * share;
                    let until = p * math::pow(gamma, 100.0);
                    sum = (p - until) / (-math::log(gamma) * 100.0);
                    p = until;
                }
                (p, sum)
            };
            let ([from_zero, mean], [from_one, _]) =
                (<[f64; 2]>::from(after(0.0)), <[f64; 2]>::from(after(1.0)));
            assert!((from_one - from_zero).abs() < 0.011, "{scale_s}: {from_zero} {from_one}");
            assert!((mean - target).abs() < 0.02, "{scale_s}: {mean}");
        }
    }

    #[test]
    fn an_encounter_weighs_more_where_a_time_scale_has_few_of_them() {
        let few = encounters(50, 200.0).max_prop(1.0).unwrap();
        let many = encounters(50, 5000.0).max_prop(1.0).unwrap();
        assert!(few > 10.0 * many && many > 0.0, "{few} {many}");
    }
}
