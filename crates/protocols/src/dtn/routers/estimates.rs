//! Parameters of routers that follow from how often nodes meet (Karvo and Ott 2008): what happened one time scale ago must
//! hardly count any more.

use crate::dtn::NodeId;
use crate::math;
use crate::time::Instant;

/// How often a node meets the same node again.
#[derive(Debug)]
pub(super) struct Encounters {
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

impl Encounters {
    pub(super) fn new(nodes: u32, time_scale_s: f64) -> Self {
        let last = vec![None; nodes as usize];
        Self { time_scale_s, last, all: 0, samples: 0, mean_interval_s: 0.0, mean_between: 0.0 }
    }
    /// An encounter with `peer`; true if it was met before: then the means are new.
    pub(super) fn met(&mut self, now: Instant, peer: NodeId) -> bool {
        self.all = self.all.saturating_add(1);
        let Some(last) = self.last.get_mut(peer.0 as usize) else { return false };
        let Some((before, number)) = last.replace((now, self.all)) else { return false };
        self.samples = self.samples.saturating_add(1);
        let share = 1.0 / f64::from(self.samples);
        self.mean_interval_s += share * ((now - before).as_secs_f64() - self.mean_interval_s);
        self.mean_between += share * (f64::from(self.all - number) - self.mean_between);
        true
    }
    /// How many encounters with one node a time scale has; `None` if it is too short for an estimate.
    fn per_scale(&self) -> Option<f64> {
        let fits = self.mean_interval_s > 0.0 && self.mean_interval_s <= self.time_scale_s;
        fits.then(|| (self.time_scale_s / self.mean_interval_s).ceil())
    }
    /// PRoPHET's factor of ageing per second and share of an encounter, with which predictabilities are `target` on
    /// average; `None` if there is no estimate.
    pub(super) fn prophet(&self, target: f64) -> Option<(f64, f64)> {
        let encounters = self.per_scale()?;
        let interval_s = self.mean_interval_s;
        let ageing = |rest: f64| falling(|b| prophet_error(b * interval_s, rest, encounters) - PROPHET_ERROR);
        let mean = |rest: f64| {
            let faded = math::exp(-ageing(rest) * interval_s);
            let before = (1.0 - rest) * faded / (1.0 - rest * faded);
            let lasting = ageing(rest) * interval_s;
            // Of what there is after an encounter, as it fades up to the next one.
            (1.0 - rest * (1.0 - before)) * if lasting > 0.0 { (1.0 - faded) / lasting } else { 1.0 }
        };
        // The less an encounter counts, the lower they are.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if mean(middle) > target { low = middle } else { high = middle }
        }
        let rest = (low + high) / 2.0;
        Some((math::exp(-ageing(rest)), 1.0 - rest))
    }
    /// MaxProp's weight of an encounter; `None` if there is no estimate.
    pub(super) fn max_prop(&self) -> Option<f64> {
        let encounters = self.per_scale()?;
        let error = |alpha: f64| {
            let grown = math::pow(1.0 + alpha, self.mean_between + 1.0);
            let left = math::pow(grown, -encounters);
            let lasting = alpha / (grown - 1.0);
            left * lasting.max(1.0 - lasting)
        };
        (self.mean_between > 0.0).then(|| falling(|alpha| error(alpha) - MAX_PROP_ERROR))
    }
}

/// How far a predictability that was 0 or 1 is from its lasting value after N encounters; `fading` is that of the
/// exponent between two of them.
fn prophet_error(fading: f64, rest: f64, encounters: f64) -> f64 {
    let faded = math::exp(-fading);
    let kept = rest * faded;
    let lasting = (1.0 - rest) * faded / (1.0 - kept);
    let of_zero = lasting * math::pow(kept, encounters - 1.0);
    (math::pow(kept, encounters) - of_zero).abs().max(of_zero)
}

const HALVINGS: u32 = 60;

/// Where a function that falls passes zero, above zero.
fn falling(function: impl Fn(f64) -> f64) -> f64 {
    let mut high = 1e-9;
    while function(high) > 0.0 && high < 1e9 {
        high *= 4.0;
    }
    let mut low = 0.0;
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if function(middle) > 0.0 { low = middle } else { high = middle }
    }
    high
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
        assert_eq!(encounters(50, 99.0).max_prop(), None);
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
        let few = encounters(50, 200.0).max_prop().unwrap();
        let many = encounters(50, 5000.0).max_prop().unwrap();
        assert!(few > 10.0 * many && many > 0.0, "{few} {many}");
    }
}
