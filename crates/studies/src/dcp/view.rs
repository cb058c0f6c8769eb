//! Numbers of the study in the units in which they are told.

use crate::view::metrics;
use lightlag_lab::results::Results;
use lightlag_lab::statistics::{Estimate, estimate};

/// A number that every run has, and how it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Of a consumer, in Mbit/s.
    Goodput(&'static str),
    /// Of a consumer, in Interests.
    Window(&'static str),
    /// Of a consumer.
    Timeouts(&'static str),
    /// Of a consumer's packets, at full queues.
    Drops(&'static str),
    /// Median of a consumer's Data, in milliseconds.
    Queueing(&'static str),
    /// 99th percentile of a consumer's Data, in milliseconds.
    QueueingWorst(&'static str),
    /// Jain's index of the two consumers' goodputs.
    Jain,
}

use Number::{Drops, Goodput, Jain, Queueing, QueueingWorst, Timeouts, Window};

/// Of these every consumer's figures are kept in the table of runs.
pub const OF_CONSUMERS: [(&str, &str); 6] = [
    ("goodput", "goodput_bit_per_s"),
    ("window", "window_median"),
    ("timeouts", "timeouts"),
    ("drops", "drops"),
    ("queueing_p50", "queueing_delay_p50_s"),
    ("queueing_p99", "queueing_delay_p99_s"),
];

impl Number {
    fn column(self) -> String {
        match self {
            Goodput(of) => format!("goodput_of_{of}"),
            Window(of) => format!("window_of_{of}"),
            Timeouts(of) => format!("timeouts_of_{of}"),
            Drops(of) => format!("drops_of_{of}"),
            Queueing(of) => format!("queueing_p50_of_{of}"),
            QueueingWorst(of) => format!("queueing_p99_of_{of}"),
            Jain => "jain".to_owned(),
        }
    }
    fn scale(self) -> f64 {
        match self {
            Goodput(_) => 1e-6,
            Queueing(_) | QueueingWorst(_) => 1e3,
            Window(_) | Timeouts(_) | Drops(_) | Jain => 1.0,
        }
    }
    /// Of all seeds where a variant of a figure stands at these places.
    pub fn each(self, results: &Results, figure: &str, variant: &str, places: &[(&str, f64)]) -> Vec<f64> {
        let raw = metrics(results, figure, variant, places, &self.column());
        raw.into_iter().map(|value| value * self.scale()).collect()
    }
    /// Their mean and interval.
    pub fn of(
        self,
        results: &Results,
        figure: &str,
        variant: &str,
        places: &[(&str, f64)],
    ) -> Option<Estimate> {
        estimate(&self.each(results, figure, variant, places))
    }
    /// Their mean.
    pub fn mean(self, results: &Results, figure: &str, variant: &str, places: &[(&str, f64)]) -> Option<f64> {
        self.of(results, figure, variant, places).map(|value| value.mean)
    }
}
