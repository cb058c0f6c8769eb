//! The few tests that all claims are made of.
//!
//! A claim about several mechanisms has several parts. Their p-values are corrected together after Holm. It holds if
//! all parts hold, and does not if none does, unless chance alone would explain that of half of them.

use lightlag_lab::compare::SIGNIFICANCE;
use lightlag_lab::report::{Compared, Finding, Holds, Met};
use lightlag_lab::results::number;
use lightlag_lab::statistics::{self, Estimate, Paired};

/// Reason of a claim without runs.
pub const NOT_RUN: &str = "not among these runs";
/// Delivery ratios this close are "similar": five of a hundred messages.
pub const SIMILAR: f64 = 0.05;
/// A level is "constant" while it moves by less than this share.
pub const CONSTANT: f64 = 0.05;
/// A printed value is met within this share.
pub const MET: f64 = 0.1;

/// What is claimed of a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wanted {
    Positive,
    Negative,
    /// Within this of zero.
    Small(f64),
    /// Beyond this of zero, to either side.
    Large(f64),
    /// This or more, with the whole interval.
    AtLeast(f64),
}

/// One tested statement.
#[derive(Clone, Debug)]
pub struct Part {
    label: String,
    described: String,
    unit: &'static str,
    test: Option<Paired>,
    wanted: Wanted,
}

/// How a part ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Holds,
    Leans,
    Fails,
}

impl Part {
    /// The difference is claimed to be positive.
    pub fn positive(label: impl Into<String>, test: Option<Paired>) -> Self {
        Self::new(label, test, Wanted::Positive)
    }

    /// The difference is claimed to be negative.
    pub fn negative(label: impl Into<String>, test: Option<Paired>) -> Self {
        Self::new(label, test, Wanted::Negative)
    }

    /// The delivery ratios are claimed to be similar.
    pub fn similar(label: impl Into<String>, test: Option<Paired>) -> Self {
        Self::new(label, test, Wanted::Small(SIMILAR))
    }

    /// The delivery ratios are claimed to differ by more than what is similar.
    pub fn dissimilar(label: impl Into<String>, test: Option<Paired>) -> Self {
        Self::new(label, test, Wanted::Large(SIMILAR))
    }

    /// The difference is claimed to be no lower than this.
    pub fn at_least(label: impl Into<String>, test: Option<Paired>, margin: f64) -> Self {
        Self::new(label, test, Wanted::AtLeast(margin))
    }

    /// Shows these figures instead of the difference.
    #[must_use]
    pub fn described(mut self, described: String) -> Self {
        self.described = described;
        self
    }

    /// With the unit of the difference.
    #[must_use]
    pub fn measured_in(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    fn new(label: impl Into<String>, test: Option<Paired>, wanted: Wanted) -> Self {
        let described = test.map_or_else(String::new, |test| interval(Some(test.difference)));
        Self { label: label.into(), described, unit: "", test, wanted }
    }

    /// The difference beside what is claimed of it.
    fn compared(&self, test: &Paired, end: End) -> Compared {
        let claimed = match self.wanted {
            Wanted::Positive => (Some(0.0), None),
            Wanted::Negative => (None, Some(0.0)),
            Wanted::Small(margin) => (Some(-margin), Some(margin)),
            Wanted::Large(margin) if test.difference.mean < 0.0 => (None, Some(-margin)),
            Wanted::Large(margin) | Wanted::AtLeast(margin) => (Some(margin), None),
        };
        let met = match end {
            End::Holds => Met::Yes,
            End::Leans => Met::Perhaps,
            End::Fails => Met::No,
        };
        let made = Compared::within(self.label.clone(), test.difference.mean, claimed, self.unit);
        made.with_interval(test.difference.interval()).found(met)
    }

    fn end(&self, test: &Paired, p: Option<f64>) -> End {
        let mean = test.difference.mean;
        let sure = p.is_some_and(|p| p < SIGNIFICANCE);
        let grade = |right: bool, sure: bool| match (right, sure) {
            (true, true) => End::Holds,
            (true, false) => End::Leans,
            (false, _) => End::Fails,
        };
        match self.wanted {
            Wanted::Positive => grade(mean > 0.0, sure),
            Wanted::Negative => grade(mean < 0.0, sure),
            Wanted::Small(margin) => {
                let inside = test.difference.half_width.is_some_and(|half| mean.abs() + half <= margin);
                grade(mean.abs() <= margin, inside)
            }
            Wanted::Large(margin) => grade(mean.abs() > margin, sure),
            Wanted::AtLeast(margin) => {
                let above = test.difference.half_width.is_some_and(|half| mean - half >= margin);
                grade(mean >= margin, above)
            }
        }
    }
}

/// Joins the parts of a claim; parts that were not run are skipped.
pub fn judge(parts: Vec<Part>) -> Finding {
    let run: Vec<(&Part, &Paired)> =
        parts.iter().filter_map(|part| Some((part, part.test.as_ref()?))).collect();
    if run.is_empty() {
        return Finding::untestable(NOT_RUN);
    }
    let known: Vec<f64> = run.iter().filter_map(|(_, test)| test.p).collect();
    let mut corrected = statistics::holm(&known).into_iter();
    let ends: Vec<End> =
        run.iter().map(|(part, test)| part.end(test, test.p.and_then(|_| corrected.next()))).collect();
    let described: Vec<String> = run.iter().zip(&ends).map(|((part, _), end)| sentence(part, *end)).collect();
    let hold = ends.iter().filter(|end| **end == End::Holds).count();
    let compared = run.iter().zip(&ends).map(|((part, test), end)| part.compared(test, *end)).collect();
    Finding::new(joined(&ends), described.join("; ")).of_parts(hold, ends.len()).comparing(compared)
}

/// A claim of numbers that are compared with bounds: it holds if all are as claimed.
pub fn compare(all: Vec<Compared>, we_measure: impl Into<String>) -> Finding {
    let met: Vec<bool> = all.iter().map(Compared::is_met).collect();
    found(&met, we_measure.into()).comparing(all)
}

/// A claim of plain statements without a test.
pub fn count(statements: &[(String, bool)]) -> Finding {
    let mark = |(described, so): &(String, bool)| format!("{} {}", described, if *so { "✓" } else { "✗" });
    let all: Vec<bool> = statements.iter().map(|statement| statement.1).collect();
    found(&all, statements.iter().map(mark).collect::<Vec<_>>().join("; "))
}

/// A claim of which these parts hold.
pub fn found(all: &[bool], we_measure: String) -> Finding {
    let hold = all.iter().filter(|holds| **holds).count();
    let holds = match hold {
        _ if all.is_empty() => return Finding::untestable(NOT_RUN),
        0 => Holds::No,
        n if n == all.len() => Holds::Yes,
        _ => Holds::Partly,
    };
    Finding::new(holds, we_measure).of_parts(hold, all.len())
}

/// "mean ± half width".
pub fn interval(estimate: Option<Estimate>) -> String {
    lightlag_lab::results::interval_text(estimate)
}

/// "from → to" of the ends of a curve.
pub fn from_to(ends: Option<(Option<Estimate>, Option<Estimate>)>) -> String {
    let mean = |end: Option<Estimate>| end.map_or_else(|| "–".into(), |end| number(end.mean));
    ends.map_or_else(String::new, |(first, last)| format!("{} → {}", mean(first), mean(last)))
}

fn sentence(part: &Part, end: End) -> String {
    let mark = match end {
        End::Holds => "✓",
        End::Leans => "~",
        End::Fails => "✗",
    };
    format!("{} {} {mark}", part.label, part.described)
}

fn joined(ends: &[End]) -> Holds {
    if ends.iter().all(|end| *end == End::Holds) {
        Holds::Yes
    } else {
        let of = |wanted: End| ends.iter().filter(|end| **end == wanted).count();
        if of(End::Holds) == 0 && of(End::Leans) < of(End::Fails) { Holds::No } else { Holds::Partly }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(values: &[f64]) -> Option<Paired> {
        statistics::test_zero(values)
    }

    #[test]
    fn all_parts_make_a_yes_none_a_no_and_some_a_partly() {
        let up = || Part::positive("up", test(&[1.0, 1.1, 0.9, 1.0]));
        let down = || Part::positive("down", test(&[-1.0, -1.1, -0.9, -1.0]));
        assert_eq!(judge(vec![up(), up()]).holds, Holds::Yes);
        assert_eq!(judge(vec![down(), down()]).holds, Holds::No);
        assert_eq!(judge(vec![up(), down()]).holds, Holds::Partly);
        assert_eq!(judge(vec![up(), down()]).words(), "partly, 1 of 2");
        assert_eq!(judge(vec![up(), Part::positive("not run", None)]).holds, Holds::Yes);
    }

    #[test]
    fn a_right_direction_that_chance_explains_is_undecided() {
        let leans = || Part::positive("x", test(&[1.0, -0.9, 0.2]));
        let down = || Part::positive("down", test(&[-1.0, -1.1, -0.9, -1.0]));
        assert_eq!(judge(vec![leans()]).holds, Holds::Partly);
        assert_eq!(judge(vec![leans()]).words(), "undecided, 0 of 1");
        assert_eq!(judge(vec![leans(), down()]).words(), "undecided, 0 of 2");
        assert_eq!(judge(vec![leans(), down(), down()]).holds, Holds::No);
        assert_eq!(judge(vec![Part::positive("x", test(&[1.0]))]).holds, Holds::Partly);
    }

    #[test]
    fn similar_means_that_the_whole_interval_is_within_the_margin() {
        assert_eq!(judge(vec![Part::similar("x", test(&[0.01, 0.012, 0.011]))]).holds, Holds::Yes);
        assert_eq!(judge(vec![Part::similar("x", test(&[0.2, -0.2, 0.03]))]).holds, Holds::Partly);
        assert_eq!(judge(vec![Part::similar("x", test(&[0.2, 0.21, 0.2]))]).holds, Holds::No);
        assert_eq!(judge(vec![Part::dissimilar("x", test(&[-0.2, -0.21, -0.2]))]).holds, Holds::Yes);
    }

    #[test]
    fn no_lower_than_a_margin_needs_the_whole_interval_above_it() {
        let verdict = |values: &[f64]| judge(vec![Part::at_least("x", test(values), -0.05)]).holds;
        assert_eq!(verdict(&[0.3, 0.31, 0.3]), Holds::Yes);
        assert_eq!(verdict(&[-0.02, -0.022, -0.021]), Holds::Yes);
        assert_eq!(verdict(&[-0.2, 0.2, 0.03]), Holds::Partly);
        assert_eq!(verdict(&[-0.06, -0.061, -0.062]), Holds::No);
    }

    #[test]
    fn nothing_run_is_untestable() {
        assert!(matches!(judge(vec![]).holds, Holds::Untestable(_)));
        assert!(matches!(count(&[]).holds, Holds::Untestable(_)));
    }
}
