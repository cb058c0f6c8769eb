//! The connections on one link, and their numbers in the units of the report.

use super::plan::{COLLAPSE, LOSS, NARROW, RATE, RATES, SILENCE, SOCKETS, SPREAD};
use super::variants::Variant;
use crate::shared::runs::Runs;
use lightlag_lab::results::Results;
use lightlag_lab::statistics::{mean, standard_deviation};

/// Connections of a variant on one link.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    results: &'a Results,
    figure: &'a str,
    place: Option<(&'static str, f64)>,
}

impl<'a> Here<'a> {
    /// On the poster's link, with this share of packets lost at random.
    pub fn satellite(results: &'a Results, loss: f64) -> Self {
        Self { results, figure: SPREAD, place: Some((LOSS, loss)) }
    }
    /// On a link of some Mbit/s.
    pub fn rate(results: &'a Results, rate: f64) -> Self {
        Self { results, figure: RATES, place: Some((RATE, rate)) }
    }
    /// On the link on which windows are small.
    pub fn narrow(results: &'a Results) -> Self {
        Self { results, figure: NARROW, place: None }
    }
    /// On the poster's link, silent once.
    pub fn silence(results: &'a Results) -> Self {
        Self { results, figure: SILENCE, place: None }
    }
    /// LTP on the poster's link, over UDP and over DCCP.
    pub fn collapse(results: &'a Results) -> Self {
        Self { results, figure: COLLAPSE, place: None }
    }
    /// On the poster's link, on real sockets.
    pub fn sockets(results: &'a Results) -> Self {
        Self { results, figure: SOCKETS, place: None }
    }
    /// A metric of each connection.
    pub fn each(&self, variant: Variant, metric: &str) -> Vec<f64> {
        Runs::of(self.results, self.figure).at(variant.name, self.place.as_slice()).each(metric)
    }
    /// Its mean over the connections.
    pub fn average(&self, variant: Variant, metric: &str) -> Option<f64> {
        mean(&self.each(variant, metric))
    }
    /// Of all connections together.
    pub fn sum(&self, variant: Variant, metric: &str) -> f64 {
        self.each(variant, metric).iter().sum()
    }
    /// The largest of any connection.
    pub fn most(&self, variant: Variant, metric: &str) -> Option<f64> {
        self.each(variant, metric).into_iter().reduce(f64::max)
    }
    /// Goodputs in Mbit/s.
    pub fn goodputs(&self, variant: Variant) -> Vec<f64> {
        self.each(variant, "goodput_of_one").into_iter().map(|bits| bits / 1e6).collect()
    }
    /// Their mean.
    pub fn goodput(&self, variant: Variant) -> Option<f64> {
        mean(&self.goodputs(variant))
    }
    /// Their standard deviation, in percent of their mean.
    pub fn variation(&self, variant: Variant) -> Option<f64> {
        let each = self.goodputs(variant);
        Some(100.0 * standard_deviation(&each)? / mean(&each)?)
    }
    /// By how many percent DCCP gets more than TCP.
    pub fn beyond(&self, (tcp, dccp): (Variant, Variant)) -> Option<f64> {
        Some(100.0 * (self.goodput(dccp)? / self.goodput(tcp)? - 1.0))
    }
}
