//! Numbers beside what is claimed of them, drawn as dots.

use crate::metrics::{number, with_interval};
use minijinja::{Value, context};
use serde::Serialize;

/// How a number stands to what is claimed of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Met {
    /// It is as claimed.
    Yes,
    /// Its direction is right, but chance would explain it.
    Perhaps,
    /// It is not as claimed.
    No,
}

impl Met {
    /// As claimed or not.
    pub fn from_so(so: bool) -> Self {
        if so { Self::Yes } else { Self::No }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Perhaps => "partly",
            Self::No => "no",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Yes => "as claimed",
            Self::Perhaps => "may be chance",
            Self::No => "not as claimed",
        }
    }
}

/// A number of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// What it is of.
    pub label: String,
    /// The number.
    pub value: f64,
    /// The ends of its 95% interval; `None`: it has none.
    pub interval: Option<(f64, f64)>,
    /// What is claimed: no less than this, and no more than that; an end that is `None` is open.
    pub claimed: (Option<f64>, Option<f64>),
    /// Its unit: "Mbit/s"; empty without one.
    pub unit: &'static str,
    /// How they stand to each other.
    pub met: Met,
}

impl Compared {
    /// A number that is claimed to be in a range, ends included.
    pub fn within(
        label: impl Into<String>,
        value: f64,
        claimed: (Option<f64>, Option<f64>),
        unit: &'static str,
    ) -> Self {
        let so = claimed.0.is_none_or(|least| value >= least) && claimed.1.is_none_or(|most| value <= most);
        Self { label: label.into(), value, interval: None, claimed, unit, met: Met::from_so(so) }
    }

    /// A number that is claimed to be no less than a bound.
    pub fn at_least(label: impl Into<String>, value: f64, bound: f64, unit: &'static str) -> Self {
        Self::within(label, value, (Some(bound), None), unit)
    }

    /// A number that is claimed to be no more than a bound.
    pub fn at_most(label: impl Into<String>, value: f64, bound: f64, unit: &'static str) -> Self {
        Self::within(label, value, (None, Some(bound)), unit)
    }

    /// With an interval.
    #[must_use]
    pub fn with_interval(self, interval: Option<(f64, f64)>) -> Self {
        Self { interval, ..self }
    }

    /// As it was found, where that is not whether it is in the range.
    #[must_use]
    pub fn found(self, met: Met) -> Self {
        Self { met, ..self }
    }

    /// Whether it is as claimed.
    pub fn is_met(&self) -> bool {
        self.met == Met::Yes
    }

    fn bound(&self) -> String {
        let of = |value: f64| number(value);
        match self.claimed {
            (Some(least), Some(most)) if least == -most => format!("within ±{}", of(most)),
            (Some(least), Some(most)) => format!("{} to {}", of(least), of(most)),
            (Some(0.0), None) => "above 0".to_owned(),
            (None, Some(0.0)) => "0 or below".to_owned(),
            (Some(least), None) => format!("≥ {}", of(least)),
            (None, Some(most)) => format!("≤ {}", of(most)),
            (None, None) => String::new(),
        }
    }

    /// Every number that the drawing has to show.
    fn numbers(&self) -> impl Iterator<Item = f64> {
        let ends = self.interval.map(|(low, high)| [low, high]).into_iter().flatten();
        [Some(self.value), self.claimed.0, self.claimed.1].into_iter().flatten().chain(ends)
    }
}

/// Where numbers stand between the ends of an axis.
struct Axis {
    ends: (f64, f64),
    log: bool,
}

/// From this ratio on, an axis is logarithmic, if no number is zero or below.
const WIDE: f64 = 50.0;

impl Axis {
    fn of(all: &[Compared]) -> Self {
        let numbers = || all.iter().flat_map(Compared::numbers).filter(|value| value.is_finite());
        let (least, most) = numbers()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |ends, value| (ends.0.min(value), ends.1.max(value)));
        let log = least > 0.0 && most / least >= WIDE;
        let ends = if log { (least.ln(), most.ln()) } else { (least.min(0.0), most.max(0.0)) };
        let room = 0.06 * (ends.1 - ends.0).max(f64::MIN_POSITIVE);
        // Nothing is below zero where no number is.
        let low = if !log && least >= 0.0 { 0.0 } else { ends.0 - room };
        Self { ends: (low, ends.1 + room), log }
    }

    /// In percent of its length, within it.
    fn at(&self, value: f64) -> f64 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let share = (value - self.ends.0) / (self.ends.1 - self.ends.0);
        if share.is_finite() { (100.0 * share).clamp(0.0, 100.0) } else { 0.0 }
    }

    /// From and width, in percent; open ends go to the ends of the axis.
    fn span(&self, (from, to): (Option<f64>, Option<f64>)) -> Value {
        let (from, to) = (from.map_or(0.0, |from| self.at(from)), to.map_or(100.0, |to| self.at(to)));
        context! { from => percent(from), width => percent((to - from).max(0.0)) }
    }
}

fn percent(share: f64) -> String {
    format!("{share:.2}")
}

/// The dots of a claim.
pub(super) fn drawn(all: &[Compared]) -> Value {
    let axis = Axis::of(all);
    let row = |one: &Compared| {
        let interval = one.interval.map(|(low, high)| axis.span((Some(low), Some(high))));
        let (value, ends) = match one.interval {
            Some((low, high)) => {
                let (value, [low, high]) = with_interval(one.value, (high - low) / 2.0, [low, high]);
                (value, format!(" [{low}, {high}]"))
            }
            None => (number(one.value), String::new()),
        };
        let edges = [one.claimed.0, one.claimed.1].into_iter().flatten();
        context! {
            label => one.label,
            value,
            ends,
            at => percent(axis.at(one.value)),
            interval,
            claimed => axis.span(one.claimed),
            edges => edges.map(|edge| percent(axis.at(edge))).collect::<Vec<_>>(),
            unit => one.unit,
            bound => one.bound(),
            met => one.met.class(),
            words => one.met.words(),
        }
    };
    let zero = (!axis.log && axis.ends.0 < 0.0).then(|| percent(axis.at(0.0)));
    context! { rows => all.iter().map(row).collect::<Vec<_>>(), zero, log => axis.log }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_compared_with_both_ends_of_what_is_claimed() {
        let of = |value| Compared::within("x", value, (Some(1.0), Some(2.0)), "").is_met();
        assert_eq!([0.9, 1.0, 2.0, 2.1].map(of), [false, true, true, false]);
        assert_eq!(Compared::at_least("x", 1.0, 2.0, "").bound(), "≥ 2");
        assert_eq!(Compared::within("x", 0.0, (Some(-3.0), Some(3.0)), "").bound(), "within ±3");
    }

    #[test]
    fn an_axis_holds_all_numbers_and_nothing_below_zero_without_need() {
        let all = [
            Compared::at_least("a", 3.0, 1.0, "").with_interval(Some((2.0, 4.0))),
            Compared::at_least("b", 0.5, 1.0, ""),
        ];
        let axis = Axis::of(&all);
        assert_eq!((axis.log, axis.at(0.0)), (false, 0.0));
        assert!(axis.at(4.0) < 100.0 && axis.at(0.5) > 0.0);
        let wide = [Compared::at_least("a", 0.01, 1.0, ""), Compared::at_least("b", 100.0, 1.0, "")];
        let axis = Axis::of(&wide);
        assert!(axis.log && (axis.at(1.0) - 50.0).abs() < 1e-9, "{}", axis.at(1.0));
    }

    #[test]
    fn equal_numbers_and_zeros_have_a_place() {
        for value in [0.0, 5.0, -1.0] {
            let at = Axis::of(&[Compared::at_most("x", value, value, "")]).at(value);
            assert!((0.0..=100.0).contains(&at), "{value}: {at}");
        }
    }
}
