//! DCP: keeps the queueing delay of the path of Data at a target, and forgets its measurements of the
//! path when another site answers (Albalawi and Garcia-Luna-Aceves, "A Delay-Based
//! Congestion-Control Protocol for Information-Centric Networks", IEEE ICNC 2019).
//!
//! The paper leaves room: each parameter after `current_filter` is a choice among its readings.

use super::delay_history::DelayHistory;
use super::{Ack, Cause, Controller, Flow, Loss};
use crate::parameter::{self, Parameter, Parameters};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use std::collections::VecDeque;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "dcp",
    paper: "Albalawi and Garcia-Luna-Aceves, A Delay-Based Congestion-Control Protocol for Information-Centric Networks (2019)",
    parameters: &[
        Parameter::number("target", "s", 0.05, (0.0001, 10.0), "Target queueing delay (TARGET)."),
        Parameter::integer(
            "base_history",
            6.0,
            (1.0, 60.0),
            "Minutes of base-delay history: one minimum delay is kept for each.",
        ),
        Parameter::integer(
            "current_filter",
            5.0,
            (1.0, 64.0),
            "Number of latest delay samples; their minimum is the current delay.",
        ),
        Parameter::number(
            "gain",
            "",
            1.0,
            (0.01, 100.0),
            "Window growth with an empty queue, in segments per RTT (`threshold` in Algorithm 2).",
        ),
        Parameter::integer("initial_window", 2.0, (1.0, 1e6), "Initial window, in segments (INIT_CWND)."),
        Parameter::integer("min_window", 1.0, (1.0, 1e6), "Minimum window, in segments (MIN_CWND)."),
        Parameter::word(
            "flight",
            &["before", "after"],
            "Flight size in Algorithm 2, line 7: measured `before` or `after` the arriving Data is removed.",
        ),
        Parameter::word(
            "timeouts",
            &["each", "once"],
            "Timeouts that reduce the window to one segment: `each`, or at most `once` per RTT.",
        ),
        Parameter::flag("slow_start", false, "Double the window per RTT until the first timeout."),
        Parameter::word(
            "new_site",
            &["mad_margin", "mad", "mark", "off"],
            "How a change of responder is detected. `mad_margin`: the relative delay differs from the mean by more than `mad_factor` mean absolute deviations, and by more than `mad_floor`; `mad`: by more than one, as printed; `mark`: by the responder's mark; `off`: not at all.",
        ),
        Parameter::number(
            "mad_factor",
            "",
            3.0,
            (0.0, 100.0),
            "Margin of `mad_margin`, in mean absolute deviations.",
        ),
        Parameter::number("mad_floor", "s", 0.005, (0.0, 10.0), "Minimum margin of `mad_margin`."),
        Parameter::integer(
            "guard",
            2.0,
            (0.0, 100.0),
            "RTTs after a reset or a timeout in which relative delays are ignored.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| Box::new(Dcp::new(parameters, &flow)),
};

/// Relative delays of which mean and mean absolute deviation are taken (section V-B).
const RELATIVE_DELAYS: usize = 10;
/// Before a round trip was measured.
const RTT_UNKNOWN: Duration = Duration::from_nanos(200_000_000);

/// How a change of the answering site is detected.
#[derive(Clone, Copy, Debug, PartialEq)]
enum NewSite {
    Off,
    Mark,
    /// Off the mean by more than `factor` mean absolute deviations and more than `floor` seconds.
    Deviation {
        factor: f64,
        floor: f64,
    },
}

struct Dcp {
    segment: f64,
    /// In segments.
    window: f64,
    window_min: f64,
    gain: f64,
    target: f64,
    delays: DelayHistory,
    counts_arriving: bool,
    every_timeout: bool,
    slow_start: bool,
    starting: bool,
    rtt: Duration,
    new_site: NewSite,
    site: Option<u32>,
    guard: i64,
    /// No relative delays are taken until then.
    guarded_until: Instant,
    last_delay: Option<Duration>,
    relative: VecDeque<f64>,
    resets: u32,
}

impl Dcp {
    fn new(parameters: &Parameters, flow: &Flow) -> Self {
        let number = |name| parameters.number(name);
        let new_site = match parameters.word("new_site") {
            "mad_margin" => NewSite::Deviation { factor: number("mad_factor"), floor: number("mad_floor") },
            "mad" => NewSite::Deviation { factor: 1.0, floor: 0.0 },
            "mark" => NewSite::Mark,
            _ => NewSite::Off,
        };
        Self {
            segment: flow.segment.0 as f64,
            window: number("initial_window"),
            window_min: number("min_window"),
            gain: number("gain"),
            target: number("target"),
            delays: DelayHistory::new(number("base_history") as usize, number("current_filter") as usize),
            counts_arriving: parameters.word("flight") == "before",
            every_timeout: parameters.word("timeouts") == "each",
            slow_start: parameters.flag("slow_start"),
            starting: parameters.flag("slow_start"),
            rtt: RTT_UNKNOWN,
            new_site,
            site: None,
            guard: number("guard") as i64,
            guarded_until: Instant::ZERO,
            last_delay: None,
            relative: VecDeque::new(),
            resets: 0,
        }
    }
    fn is_new_site(&mut self, ack: &Ack, delay: Duration) -> bool {
        match self.new_site {
            NewSite::Off => false,
            NewSite::Mark => {
                let before = self.site;
                self.site = ack.responder.or(before);
                before.is_some() && before != self.site
            }
            NewSite::Deviation { factor, floor } => self.deviates(ack.now, delay, factor, floor),
        }
    }
    /// Section V-B: how far the relative delay is from the mean of the ten before it.
    fn deviates(&mut self, now: Instant, delay: Duration, factor: f64, floor: f64) -> bool {
        if now < self.guarded_until {
            return false;
        }
        let Some(last) = self.last_delay.replace(delay) else { return false };
        let relative = (delay - last).as_secs_f64();
        let full = self.relative.len() == RELATIVE_DELAYS;
        let count = self.relative.len().max(1) as f64;
        let mean = self.relative.iter().sum::<f64>() / count;
        let deviation = self.relative.iter().map(|one| (one - mean).abs()).sum::<f64>() / count;
        if full {
            self.relative.pop_front();
        }
        self.relative.push_back(relative);
        full && (relative - mean).abs() > (factor * deviation).max(floor)
    }
    fn reset(&mut self, now: Instant) {
        self.delays.clear();
        self.starting = self.slow_start;
        self.resets += 1;
        self.watch_later(now);
    }
    fn watch_later(&mut self, now: Instant) {
        self.relative.clear();
        self.last_delay = None;
        self.guarded_until = now.saturating_add(self.rtt * self.guard);
    }
    /// Algorithm 2, where `arrived` segments have come.
    fn update_window(&mut self, arrived: f64, in_flight: f64) {
        let Some(queueing) = self.delays.queueing() else { return };
        // Algorithm 1; its else-branch is never reached, as the base is updated first.
        let off_target = (self.target - queueing.as_secs_f64()) / self.target;
        let flight = if self.counts_arriving { in_flight + arrived } else { in_flight };
        let changed = self.window + off_target * self.gain * arrived / self.window;
        self.window = changed.min(flight + 1.0).max(self.window_min);
    }
}

impl Controller for Dcp {
    fn on_ack(&mut self, ack: &Ack) {
        self.rtt = ack.rtt.unwrap_or(self.rtt);
        // The one-way delay by whatever clocks; the round trip where nothing is stamped.
        let Some(delay) = ack.one_way.or(ack.rtt) else { return };
        if ack.acked.0 == 0 {
            return;
        }
        // In slow start no relative delay is taken; marks are heard at any time.
        let watching = !self.starting || self.new_site == NewSite::Mark;
        if watching && self.is_new_site(ack, delay) {
            self.reset(ack.now);
        }
        self.delays.learn(ack.now, delay);
        let arrived = ack.acked.0 as f64 / self.segment;
        if ack.recovering {
        } else if self.starting {
            self.window += arrived;
        } else {
            self.update_window(arrived, ack.in_flight.0 as f64 / self.segment);
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        if loss.cause == Cause::Mark || !(loss.episode || self.every_timeout) {
            return;
        }
        self.starting = false;
        self.window = 1.0;
        self.watch_later(loss.now);
    }
    fn window(&self) -> Bytes {
        Bytes((self.window * self.segment) as u64)
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("window", self.window * self.segment));
        seen.push(("queueing_delay", self.delays.queueing().map_or(f64::NAN, Duration::as_secs_f64)));
        seen.push(("resets", f64::from(self.resets)));
    }
}
