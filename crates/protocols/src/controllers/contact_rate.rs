//! Sends at the rate of the contact from the first packet on, and shares it.
//!
//! Where the contact plan tells the rate, nothing is probed. Where it does not, short trains of
//! packets leave while the first light is under way; how fast they arrive is how fast the link is, so
//! one report is enough. From then on, once per round trip, the rate moves a little from what the flow
//! got towards what the link has:
//!
//! > rate = (1 - `pull`) * got + `pull` * link
//!
//! A flow that is alone gets what it sends, so its rate is the link's and stays there: no queue, no
//! loss. Flows that share a link get C r / (sum of r) each, and the common `pull` makes the rates equal
//! whatever they were: the fixed point is r = C/n + `pull` C (1 - 1/n), and the distance to it shrinks
//! by (1 - `pull`) C / (sum of r) each round trip. A plan that promises too much costs no more than
//! `pull` of overload, since what counts is what was got; one that promises too little is kept to.
//!
//! Random loss is no sign of others: a packet counts as got unless a queue stands at the bottleneck,
//! which shows in the least time under way.

use super::{Ack, Controller, Flow, Loss};
use crate::parameter::{self, Parameter};
use crate::time::{Duration, Instant};
use crate::trace::Observation;
use crate::units::{BitRate, Bytes};

/// How the rest of the system knows it.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "contact_rate",
    paper: "",
    parameters: &[
        Parameter::number(
            "pull",
            "",
            0.05,
            (0.001, 0.5),
            "Share of the way to the link's rate, per round trip.",
        ),
        Parameter::number("margin", "", 0.0, (0.0, 0.5), "Share of the link that is left free."),
        Parameter::number(
            "blind_rate",
            "bit/s",
            1e5,
            (1e2, 1e12),
            "Mean rate of trains while nothing is known.",
        ),
        Parameter::integer("train", 16.0, (4.0, 256.0), "Packets of a train."),
        Parameter::number("standing_queue", "", 4.0, (0.5, 1e4), "Packets that make a queue stand."),
    ],
    only_with: &[],
    build: |parameters, flow| {
        Box::new(ContactRate {
            pull: parameters.number("pull"),
            margin: parameters.number("margin"),
            blind_rate: parameters.number("blind_rate"),
            train: parameters.number("train") as u32,
            standing_queue: parameters.number("standing_queue"),
            packet_bits: flow.packet.0 as f64 * 8.0,
            link: flow.planned_rate.map(|rate| rate.0 as f64),
            planned: flow.planned_rate.is_some(),
            rate: flow.planned_rate.map(|rate| rate.0 as f64 * (1.0 - parameters.number("margin"))),
            base: None,
            round: Round::default(),
        })
    },
};

struct ContactRate {
    pull: f64,
    margin: f64,
    blind_rate: f64,
    train: u32,
    standing_queue: f64,
    packet_bits: f64,
    /// What the link has, in bit/s; none while nothing is known.
    link: Option<f64>,
    /// The plan has said so.
    planned: bool,
    rate: Option<f64>,
    /// Least time under way ever.
    base: Option<Duration>,
    round: Round,
}

/// What was reported since the rate was set.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    began: Option<Instant>,
    sent: u64,
    received: u64,
    /// Least time under way in the report whose least is the greatest.
    one_way: Option<Duration>,
}

impl ContactRate {
    /// Whether a queue stood at the bottleneck all the time of some report.
    fn queue_stands(&self) -> bool {
        let (Some(base), Some(one_way), Some(link)) = (self.base, self.round.one_way, self.link) else {
            return false;
        };
        (one_way - base).as_secs_f64() > self.standing_queue * self.packet_bits / link
    }
    fn end_of_round(&mut self, now: Instant) {
        let (Some(rate), Some(link)) = (self.rate, self.link) else { return };
        let share = self.round.received as f64 / self.round.sent.max(1) as f64;
        let got = if self.queue_stands() { rate * share } else { rate };
        self.rate =
            Some(((1.0 - self.pull) * got + self.pull * link).min(link) * (1.0 - self.margin * self.pull));
        self.round = Round { began: Some(now), ..Round::default() };
    }
}

impl Controller for ContactRate {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(one_way) = ack.one_way {
            self.base = Some(self.base.map_or(one_way, |base| base.min(one_way)));
            self.round.one_way = self.round.one_way.max(Some(one_way));
        }
        let Some(window) = ack.window else { return };
        if let Some(train) = window.train.filter(|_| !self.planned) {
            let seen = train.0 as f64;
            self.link = Some(self.link.map_or(seen, |link| link.max(seen)));
            self.rate = self.rate.or(Some(seen * (1.0 - self.margin)));
        }
        let began = *self.round.began.get_or_insert(ack.now);
        self.round.sent += window.sent.0;
        self.round.received += window.received.0;
        if ack.rtt.is_some_and(|rtt| ack.now - began >= rtt) {
            self.end_of_round(ack.now);
        }
    }
    fn on_loss(&mut self, _: &Loss) {}
    fn window(&self) -> Bytes {
        Bytes::MAX
    }
    fn rate(&self) -> Option<BitRate> {
        Some(BitRate(self.rate.unwrap_or(self.blind_rate) as u64))
    }
    fn train(&self) -> u32 {
        if self.link.is_none() { self.train } else { 1 }
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("rate", self.rate.unwrap_or(self.blind_rate)));
        seen.push(("link", self.link.unwrap_or(f64::NAN)));
    }
}
