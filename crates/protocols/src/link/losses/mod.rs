//! Loss models: which packets a wire loses. One file each, one line each in [`TABLE`].

use super::Delay;
use crate::parameter::{self, ParameterError, Parameters, Value};
use crate::rng::Stream;
use crate::time::Instant;
use crate::units::Bytes;
use std::fmt;

mod bit_errors;
mod by_delay;
mod gilbert_elliott;
mod steps;
mod uniform;

/// Decides which packets are lost.
pub trait LossModel {
    /// Whether the packet of this size that begins to leave now is lost. Called once per packet, in the
    /// order in which they leave.
    fn loses(&mut self, now: Instant, size: Bytes) -> bool;
}

/// The wire that a loss model is built for.
#[derive(Clone, Debug)]
pub struct LossContext {
    /// The wire's delay.
    pub delay: Delay,
    /// Random numbers of the model.
    pub draws: Stream,
    /// A share from each instant on, for models with [`Entry::over_time`].
    pub steps: Vec<(Instant, f64)>,
}

/// A row of [`TABLE`].
pub struct Entry {
    /// Name, source, parameters, builder.
    pub model: parameter::Entry<dyn LossModel, LossContext>,
    /// Greatest share of packets of this size that it loses, 0 to 1: budgets are made of it.
    pub share_max: fn(&Loss, Bytes) -> f64,
    /// It needs a table over time (`steps` in a scenario).
    pub over_time: bool,
}

/// Every loss model.
pub const TABLE: &[Entry] =
    &[uniform::ENTRY, bit_errors::ENTRY, gilbert_elliott::ENTRY, steps::ENTRY, by_delay::ENTRY];

/// A loss model with its parameters, as plain data.
#[derive(Clone)]
pub struct Loss {
    /// `None`: nothing is lost.
    entry: Option<&'static Entry>,
    parameters: Parameters,
    steps: Vec<(Instant, f64)>,
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Self = Self { entry: None, parameters: Parameters::NONE, steps: Vec::new() };

    /// A row with its parameters; `steps` is empty unless it is [`Entry::over_time`].
    pub fn new(entry: &'static Entry, parameters: Parameters, steps: Vec<(Instant, f64)>) -> Self {
        Self { entry: Some(entry), parameters, steps }
    }
    /// The model of this name with numbers as parameters, and defaults for the rest.
    ///
    /// # Errors
    /// A parameter that is unknown, out of its range, or missing.
    ///
    /// # Panics
    /// If the table has no such row.
    pub fn named(name: &str, given: &[(&str, f64)]) -> Result<Self, ParameterError> {
        let entry = TABLE.iter().find(|row| row.model.name == name).expect("a row of the table");
        let given = given.iter().map(|(name, number)| ((*name).to_owned(), Value::Number(*number)));
        let parameters = Parameters::resolve(name, entry.model.parameters, &given.collect())?;
        Ok(Self::new(entry, parameters, Vec::new()))
    }
    /// Each packet with this probability, 0 to 1.
    ///
    /// # Panics
    /// If it is not from 0 to 1.
    pub fn uniform(share: f64) -> Self {
        Self::named("uniform", &[("share", share)]).expect("a share from 0 to 1")
    }
    /// A share from each instant on, and zero before the first.
    pub fn over_time(steps: Vec<(Instant, f64)>) -> Self {
        Self::new(&steps::ENTRY, Parameters::NONE, steps)
    }
    /// Whether nothing is ever lost.
    pub fn is_none(&self) -> bool {
        self.share_max(Bytes(u64::MAX)) <= 0.0
    }
    /// Its parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }
    /// Its shares over time, if it is of a model with [`Entry::over_time`].
    pub fn steps(&self) -> &[(Instant, f64)] {
        &self.steps
    }
    /// Greatest share of packets of this size that are lost.
    pub fn share_max(&self, size: Bytes) -> f64 {
        self.entry.map_or(0.0, |entry| (entry.share_max)(self, size))
    }
    /// The model on a wire of this delay, with its random numbers; `None` if nothing is lost.
    pub fn build(&self, delay: &Delay, draws: Stream) -> Option<Box<dyn LossModel>> {
        let context = || LossContext { delay: delay.clone(), draws, steps: self.steps.clone() };
        let entry = self.entry.filter(|_| !self.is_none())?;
        Some((entry.model.build)(&self.parameters, context()))
    }
    fn name(&self) -> &'static str {
        self.entry.map_or("none", |entry| entry.model.name)
    }
}

impl PartialEq for Loss {
    fn eq(&self, other: &Self) -> bool {
        (self.name(), &self.parameters, &self.steps) == (other.name(), &other.parameters, &other.steps)
    }
}
impl fmt::Debug for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {:?}", self.name(), self.parameters, self.steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;
    use crate::time::Duration;

    fn share_lost(loss: &Loss, size: u64) -> f64 {
        let s = Instant::from_secs;
        let rising = Delay::Curve(vec![(s(0), Duration::ZERO), (s(4), Duration::from_secs(8))]);
        let Some(mut model) = loss.build(&rising, Stream::new(1, "test", 0)) else { return 0.0 };
        let lost = (0..200_000).filter(|_| model.loses(Instant::from_secs(1), Bytes(size))).count();
        lost as f64 / 200_000.0
    }

    #[test]
    fn every_model_loses_the_share_that_it_promises() {
        let named = |name, given: &[(&str, f64)]| Loss::named(name, given).expect("in range");
        let table = Loss::over_time(vec![(Instant::ZERO, 0.5), (Instant::from_secs(1), 0.02)]);
        let bursts = [("to_bad", 0.01), ("to_good", 0.1), ("good", 0.0), ("bad", 0.5)];
        for (loss, expected) in [
            (Loss::NONE, 0.0),
            (Loss::uniform(0.0), 0.0),
            (Loss::uniform(0.01), 0.01),
            (named("bit_errors", &[("share", 1e-5)]), 1.0 - math::pow(1.0 - 1e-5, 8000.0)),
            (named("gilbert_elliott", &bursts), 0.5 / 11.0),
            (table, 0.02),
            // At 2 s of 8 s.
            (named("by_delay", &[("least", 0.01), ("most", 0.05)]), 0.02),
        ] {
            let lost = share_lost(&loss, 1000);
            assert!((lost - expected).abs() <= 0.05 * expected, "{loss:?}: {lost}, expected {expected}");
            assert_eq!(loss.is_none(), expected == 0.0, "{loss:?}");
        }
    }

    #[test]
    fn a_share_that_is_needed_and_not_given_is_an_error() {
        let wrong = Loss::named("uniform", &[]).expect_err("it has no default").to_string();
        assert_eq!(wrong, "`uniform` needs the parameter `share`; it must be a number from 0 to 1");
    }
}
