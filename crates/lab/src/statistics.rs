//! What a handful of runs says, and how surely.
//!
//! Values that are not finite (the latency of a run that delivered nothing) carry no information and are left
//! out; `n` says how many were left.

use crate::metrics::is_share;
pub use crate::shares::{jain, ratio};
use lightlag_protocols::rng::Stream;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeMap;

/// Two-sided confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;
/// How many times [`bootstrap`] resamples: its ends then move by less than a tenth of the interval's width.
const RESAMPLES: usize = 2_000;

/// A mean with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Mean of the values.
    pub mean: f64,
    /// How many values.
    pub n: usize,
    /// Half of the interval's width by Student's t; one value alone has none.
    pub half_width: Option<f64>,
    /// What the values can be: their interval stays there.
    #[serde(skip)]
    pub domain: Domain,
}

/// What values of a kind can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Domain {
    /// Any number: a difference.
    #[default]
    Any,
    /// At least 0: a count, a rate, a time.
    Amount,
    /// A part of a whole: from 0 to 1.
    Share,
}

impl Domain {
    /// Of the values of a metric.
    pub fn of(metric: &str) -> Self {
        if is_share(metric) { Self::Share } else { Self::Amount }
    }
}

impl Estimate {
    /// The same, of values of this kind.
    #[must_use]
    pub fn of(self, domain: Domain) -> Self {
        Self { domain, ..self }
    }

    /// Lower and upper end of the interval; `None` without one. By Student's t about the mean, cut off at 0 for an amount; for a share that
    /// would leave 0 to 1, by Student's t about the logit of the mean, whose standard error follows by the delta method (Agresti: Categorical
    /// data analysis, 2013, section 16.1).
    pub fn interval(&self) -> Option<(f64, f64)> {
        let (mean, half) = (self.mean, self.half_width?);
        let ends = (mean - half, mean + half);
        let slope = mean * (1.0 - mean);
        match self.domain {
            Domain::Any => return Some(ends),
            Domain::Amount => return Some((ends.0.max(0.0), ends.1)),
            Domain::Share if slope <= 0.0 || (ends.0 >= 0.0 && ends.1 <= 1.0) => return Some(ends),
            Domain::Share => {}
        }
        let (center, reach) = ((mean / (1.0 - mean)).ln(), half / slope);
        let logistic = |logit: f64| 1.0 / (1.0 + (-logit).exp());
        Some((logistic(center - reach), logistic(center + reach)))
    }

    /// Lower end of the interval.
    pub fn low(&self) -> Option<f64> {
        self.interval().map(|ends| ends.0)
    }

    /// Upper end of the interval.
    pub fn high(&self) -> Option<f64> {
        self.interval().map(|ends| ends.1)
    }
}

/// Mean of the finite values; none without any.
pub fn mean(values: &[f64]) -> Option<f64> {
    let values = finite(values);
    let first = *values.first()?;
    if values.iter().all(|value| *value == first) {
        return Some(first); // exactly, where a sum of equal values may round
    }
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample standard deviation (n - 1) of the finite values; none for fewer than two.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let values = finite(values);
    if values.len() < 2 {
        return None;
    }
    let center = mean(&values)?;
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Mean and 95% interval; none without any finite value.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let values = finite(values);
    let half_width = standard_deviation(&values)
        .map(|deviation| critical_t(values.len() - 1) * deviation / (values.len() as f64).sqrt());
    Some(Estimate { mean: mean(&values)?, n: values.len(), half_width, domain: Domain::Any })
}

/// 95% interval of a share that `part` of `all` trials make, by the score of Wilson (1927): within 0 and 1 for few trials too. `None`
/// without trials.
pub fn share_interval(part: usize, all: usize) -> Option<(f64, f64)> {
    const Z: f64 = 1.959_963_984_540_054;
    if all == 0 {
        return None;
    }
    let (share, trials) = (part as f64 / all as f64, all as f64);
    let center = share + Z * Z / (2.0 * trials);
    let reach = Z * (share * (1.0 - share) / trials + Z * Z / (4.0 * trials * trials)).sqrt();
    let scale = 1.0 + Z * Z / trials;
    Some((((center - reach) / scale).max(0.0), ((center + reach) / scale).min(1.0)))
}

/// 95% interval of the mean by the percentile bootstrap (Efron 1979), which does not ask how values are distributed; the same
/// for the same values and seed. None for fewer than two finite values.
pub fn bootstrap(values: &[f64], seed: u64) -> Option<(f64, f64)> {
    let values = finite(values);
    if values.len() < 2 {
        return None;
    }
    let mut draw = Stream::new(seed, "bootstrap", 0);
    let count = values.len() as u64;
    let mut resampled_mean = || {
        let sum: f64 = (0..count).map(|_| values[draw.below(count) as usize]).sum();
        sum / count as f64
    };
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resampled_mean()).collect();
    means.sort_by(f64::total_cmp);
    let tail = ((1.0 - CONFIDENCE) / 2.0 * RESAMPLES as f64) as usize;
    Some((means[tail], means[RESAMPLES - 1 - tail]))
}

/// Least-squares slope; none when all x are equal.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let (covariance, variance, _) = moments(points)?;
    (variance > 0.0).then(|| covariance / variance)
}

/// Spearman's rank correlation, ties at their mean rank; none when one side is constant.
pub fn spearman(points: &[(f64, f64)]) -> Option<f64> {
    let points: Vec<_> = points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    let x = ranks(&points.iter().map(|point| point.0).collect::<Vec<_>>());
    let y = ranks(&points.iter().map(|point| point.1).collect::<Vec<_>>());
    let ranked: Vec<_> = x.into_iter().zip(y).collect();
    let (covariance, variance_x, variance_y) = moments(&ranked)?;
    (variance_x > 0.0 && variance_y > 0.0).then(|| covariance / (variance_x * variance_y).sqrt())
}

/// The difference of two treatments that met the same worlds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// First minus second, over their common seeds.
    pub difference: Estimate,
    /// p-value of the difference (two-sided t test); none for one pair.
    pub p: Option<f64>,
}

/// Compares two treatments, seed by seed; none without a common seed.
pub fn paired(first: &BTreeMap<u64, f64>, second: &BTreeMap<u64, f64>) -> Option<Paired> {
    let differences: Vec<f64> =
        first.iter().filter_map(|(seed, value)| Some(value - second.get(seed)?)).collect();
    test_zero(&differences)
}

/// Estimates values and tests whether their mean is zero; none without any finite value.
pub fn test_zero(values: &[f64]) -> Option<Paired> {
    let values = finite(values);
    let difference = estimate(&values)?;
    Some(Paired { difference, p: p_of_zero(&values) })
}

/// Holm's correction: the p values that keep the chance of any false alarm, in the same order.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest: f64 = 0.0;
    for (rank, index) in order.into_iter().enumerate() {
        largest = largest.max(p[index] * (p.len() - rank) as f64).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

fn finite(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| value.is_finite()).collect()
}

fn critical_t(freedom: usize) -> f64 {
    students_t(freedom).inverse_cdf(0.5 + CONFIDENCE / 2.0)
}

fn p_of_zero(values: &[f64]) -> Option<f64> {
    let center = mean(values)?;
    let deviation = standard_deviation(values)?;
    if deviation == 0.0 {
        return Some(if center == 0.0 { 1.0 } else { 0.0 });
    }
    let t = center / (deviation / (values.len() as f64).sqrt());
    Some(2.0 * students_t(values.len() - 1).cdf(-t.abs()))
}

fn students_t(freedom: usize) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom as f64).expect("two values or more leave a degree of freedom")
}

/// Sums of (dx dy, dx dx, dy dy) about the means, over finite points; none for fewer than two.
fn moments(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let points: Vec<_> = points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    if points.len() < 2 {
        return None;
    }
    let n = points.len() as f64;
    let center_x = points.iter().map(|point| point.0).sum::<f64>() / n;
    let center_y = points.iter().map(|point| point.1).sum::<f64>() / n;
    let mut sums = (0.0, 0.0, 0.0);
    for (x, y) in points {
        let (dx, dy) = (x - center_x, y - center_y);
        sums = (sums.0 + dx * dy, sums.1 + dx * dx, sums.2 + dy * dy);
    }
    Some(sums)
}

fn ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|value| {
            let below = values.iter().filter(|other| *other < value).count();
            let equal = values.iter().filter(|other| *other == value).count();
            below as f64 + (equal as f64 + 1.0) / 2.0
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-6, "{a} is not {b}");
    }

    fn seeds(values: &[f64]) -> BTreeMap<u64, f64> {
        (1..).zip(values.iter().copied()).collect()
    }

    #[test]
    fn the_interval_of_a_share_is_that_of_wilson() {
        // Newcombe 1998, table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
        for (part, all, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let (from, to) = share_interval(part, all).expect("there are trials");
            assert!((from - low).abs() < 5e-5 && (to - high).abs() < 5e-5, "{part} of {all}: {from} to {to}");
        }
        assert_eq!(share_interval(0, 0), None);
    }

    #[test]
    fn interval_of_five_values_is_students() {
        let made = estimate(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        close(made.mean, 3.0);
        // t(0.975, 4) = 2.776445, sd = 1.581139
        close(made.half_width.unwrap(), 2.776_445_105 * 1.581_138_83 / 5f64.sqrt());
        assert_eq!(made.n, 5);
    }

    #[test]
    fn one_value_has_no_interval() {
        let made = estimate(&[0.25]).unwrap();
        assert_eq!((made.mean, made.n, made.half_width), (0.25, 1, None));
        assert_eq!((made.low(), made.high()), (None, None));
    }

    #[test]
    fn equal_values_have_an_interval_without_width() {
        let made = estimate(&[0.1, 0.1, 0.1]).unwrap();
        assert_eq!((made.mean, made.half_width), (0.1, Some(0.0)));
    }

    #[test]
    fn values_that_are_not_finite_are_left_out() {
        assert_eq!(estimate(&[f64::NAN, 2.0, f64::INFINITY]).unwrap().n, 1);
        assert_eq!(estimate(&[f64::NAN]), None);
        assert_eq!(estimate(&[]), None);
    }

    #[test]
    fn the_bootstrap_of_many_values_agrees_with_students_t() {
        let values: Vec<f64> = (0..200).map(|index| f64::from(index * 37 % 200)).collect();
        let (low, high) = bootstrap(&values, 1).unwrap();
        let wanted = estimate(&values).unwrap();
        // Half a width of 8: a twentieth of it is what drawing leaves open.
        assert!((low - wanted.low().unwrap()).abs() < 1.0, "{low}");
        assert!((high - wanted.high().unwrap()).abs() < 1.0, "{high}");
    }

    #[test]
    fn the_bootstrap_is_the_same_again_and_stays_among_the_values() {
        let values = [0.25, 0.75, 0.5];
        assert_eq!(bootstrap(&values, 7), bootstrap(&values, 7));
        assert_eq!(bootstrap(&values, 7), Some((0.25, 0.75)));
        assert_eq!(bootstrap(&[0.5, 0.5], 7), Some((0.5, 0.5)));
        assert_eq!(bootstrap(&[0.5, f64::NAN], 7), None);
    }

    #[test]
    fn rank_correlation_sees_order_alone() {
        close(spearman(&[(1.0, 1.0), (2.0, 10.0), (3.0, 11.0)]).unwrap(), 1.0);
        close(spearman(&[(1.0, 3.0), (2.0, 2.0), (3.0, -5.0)]).unwrap(), -1.0);
        close(spearman(&[(1.0, 1.0), (2.0, 1.0), (3.0, 2.0)]).unwrap(), 0.866_025_403);
        assert_eq!(spearman(&[(1.0, 2.0), (2.0, 2.0)]), None);
    }

    #[test]
    fn slope_is_least_squares() {
        close(slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap(), 2.0);
        assert_eq!(slope(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }

    #[test]
    fn pairs_cancel_what_seeds_share() {
        let made = paired(&seeds(&[1.1, 5.1, 9.1]), &seeds(&[1.0, 5.0, 9.0])).unwrap();
        close(made.difference.mean, 0.1);
        assert!(made.difference.low().unwrap() > 0.0);
        assert!(made.p.unwrap() < 0.001);
    }

    #[test]
    fn only_common_seeds_are_paired() {
        let first = BTreeMap::from([(1, 1.0), (2, 2.0)]);
        let second = BTreeMap::from([(2, 1.5), (3, 9.0)]);
        let made = paired(&first, &second).unwrap();
        assert_eq!((made.difference.mean, made.difference.n, made.p), (0.5, 1, None));
        assert_eq!(paired(&first, &BTreeMap::new()), None);
    }

    #[test]
    fn equal_pairs_are_no_evidence_and_constant_shifts_are_full_evidence() {
        let same = seeds(&[1.0, 2.0]);
        assert_eq!(paired(&same, &same).unwrap().p, Some(1.0));
        assert_eq!(paired(&seeds(&[2.0, 3.0]), &same).unwrap().p, Some(0.0));
    }

    #[test]
    fn holm_multiplies_by_what_is_left_and_never_falls() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (made, wanted) in adjusted.into_iter().zip([0.03, 0.06, 0.06, 0.02]) {
            close(made, wanted);
        }
        assert_eq!(holm(&[0.9, 0.8]), vec![1.0, 1.0]);
    }

    #[test]
    fn the_interval_of_a_share_stays_within_0_and_1_and_others_are_as_student_has_them() {
        let share = |values: &[f64]| estimate(values).unwrap().of(Domain::Share);
        for values in [&[0.99, 1.0, 0.9][..], &[0.0, 0.0, 0.02], &[0.1, 0.9], &[0.5, 0.51], &[0.0, 1.0]] {
            let (low, high) = share(values).interval().unwrap();
            let made = share(values);
            assert!(
                0.0 <= low && low <= made.mean && made.mean <= high && high <= 1.0,
                "{values:?}: {made:?}"
            );
        }
        assert_eq!(share(&[0.5, 0.51]).interval(), estimate(&[0.5, 0.51]).unwrap().interval());
        assert_eq!(share(&[1.0, 1.0]).interval(), Some((1.0, 1.0)));
        assert!(estimate(&[0.99, 1.0, 0.9]).unwrap().high().unwrap() > 1.0);
        let made = share(&[0.2, 0.4, 0.9]);
        let (low, high) = made.interval().unwrap();
        // The logit of 0.5 is 0, its slope 4.
        assert!((made.mean - 0.5).abs() < 1e-12);
        close(high, 1.0 / (1.0 + (-4.0 * made.half_width.unwrap()).exp()));
        close(low, 1.0 - high);
    }

    #[test]
    fn the_interval_of_an_amount_ends_at_0_and_that_of_a_difference_does_not() {
        let made = estimate(&[1.0, 2.0, 14.0]).unwrap();
        assert!(made.low().unwrap() < 0.0);
        assert_eq!(made.of(Domain::Amount).interval(), Some((0.0, made.high().unwrap())));
        let narrow = estimate(&[1.0, 1.1]).unwrap();
        assert_eq!(narrow.of(Domain::Amount).interval(), narrow.interval());
    }
}
