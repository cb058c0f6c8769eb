//! Careful Resume: a flow jumps to half of a window that was saved from an earlier connection over the same path, and
//! retreats where the path cannot carry it (RFC 9959). CUBIC or NewReno control it before and after.

use super::cubic::{BETA, C, Cubic, FAST_CONVERGENCE, RENO_FRIENDLY};
use super::reno::{INITIAL_THRESHOLD, Reno, initial_window};
use super::{Ack, Cause, Controller, ControllerEvent, Flow, Loss, Sent};
use crate::parameter::{self, Parameter, Parameters};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "careful_resume",
    paper: "RFC 9959",
    parameters: &[
        Parameter::word("base", &["cubic", "new_reno"], "Window law before and after the jump."),
        initial_window(10.0),
        INITIAL_THRESHOLD,
        C,
        BETA,
        FAST_CONVERGENCE,
        RENO_FRIENDLY,
        Parameter::number(
            "saved_window",
            "B",
            0.0,
            (0.0, 1e15),
            "Window of the earlier connection (saved_cwnd); 0: nothing was saved, no jump.",
        ),
        Parameter::number(
            "saved_rtt",
            "s",
            0.0,
            (0.0, 1e7),
            "Least round-trip time of the earlier connection; 0: nothing was saved, no jump.",
        ),
        Parameter::number("max_jump", "B", 1e15, (0.0, 1e15), "Largest window to jump to."),
        Parameter::number(
            "retreat",
            "",
            0.5,
            (0.5, 1.0),
            "Share of the validated data that is the threshold after a retreat (Beta of RFC 9959).",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| Box::new(CarefulResume::new(parameters, &flow)),
};

/// Share of the saved window that a flow may jump to at most (section 3.3).
const JUMP: f64 = 0.5;
/// A round trip of this share of the saved one or less belongs to another path (sections 3.2 and 4.2.1).
const RTT_LEAST: f64 = 0.5;
/// So does one that is longer by more than this factor (section 4.2.1).
const RTT_MOST: f64 = 10.0;
/// Share of the validated data that may be in flight during a retreat (section 3.5).
const RETREAT: f64 = 0.5;

/// The congestion control that is resumed.
enum Base {
    Cubic(Cubic),
    Reno(Reno),
}

impl Base {
    fn reno(&mut self) -> &mut Reno {
        match self {
            Self::Cubic(cubic) => &mut cubic.reno,
            Self::Reno(reno) => reno,
        }
    }
    fn controller(&mut self) -> &mut dyn Controller {
        match self {
            Self::Cubic(cubic) => cubic,
            Self::Reno(reno) => reno,
        }
    }
    fn window(&self) -> f64 {
        match self {
            Self::Cubic(cubic) => cubic.reno.window,
            Self::Reno(reno) => reno.window,
        }
    }
    fn observe(&self, seen: &mut Observation) {
        match self {
            Self::Cubic(cubic) => Controller::observe(cubic, seen),
            Self::Reno(reno) => Controller::observe(reno, seen),
        }
    }
}

/// Phases of RFC 9959, section 3. Positions count the bytes sent.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Until the initial window is acknowledged.
    Reconnaissance,
    /// The window is the jump; what is sent from `first` on is unvalidated.
    Unvalidated { first: u64, since: Instant },
    /// Until `last` is acknowledged, the last unvalidated packet.
    Validating { last: u64 },
    /// Until `last` has left the network: congestion followed the jump.
    SafeRetreat { last: u64 },
    /// The base alone.
    Normal,
}

struct CarefulResume {
    base: Base,
    phase: Phase,
    /// Bytes on the link per byte of payload.
    header: f64,
    saved_rtt_s: f64,
    /// Window to jump to, in bytes (jump_cwnd).
    jump: f64,
    initial: f64,
    retreat: f64,
    /// Data acknowledged and sent since the start, in bytes.
    acked: f64,
    sent: u64,
    /// Data that the path is known to carry, in bytes (PipeSize).
    pipe: f64,
    /// The latest round trip, and the least one of the reconnaissance.
    rtt: Option<Duration>,
    rtt_least: Option<Duration>,
}

impl CarefulResume {
    fn new(parameters: &Parameters, flow: &Flow) -> Self {
        let base = match parameters.word("base") {
            "new_reno" => Base::Reno(Reno::new(parameters, flow)),
            _ => Base::Cubic(Cubic::new(parameters, flow)),
        };
        let saved_rtt_s = parameters.number("saved_rtt");
        let jump = (parameters.number("saved_window") * JUMP).min(parameters.number("max_jump"));
        let is_saved = jump > 0.0 && saved_rtt_s > 0.0;
        Self {
            base,
            phase: if is_saved { Phase::Reconnaissance } else { Phase::Normal },
            header: flow.packet.0 as f64 / flow.segment.0 as f64,
            saved_rtt_s,
            jump,
            initial: parameters.number("initial_window") * flow.segment.0 as f64,
            retreat: parameters.number("retreat"),
            acked: 0.0,
            sent: 0,
            pipe: 0.0,
            rtt: None,
            rtt_least: None,
        }
    }
    fn is_path_confirmed(&self) -> bool {
        self.rtt_least.is_some_and(|rtt| {
            let share = rtt.as_secs_f64() / self.saved_rtt_s;
            share > RTT_LEAST && share <= RTT_MOST
        })
    }
    fn reconnoitre(&mut self, ack: &Ack) {
        if self.acked < self.initial {
            return;
        }
        if !self.is_path_confirmed() || self.base.window() >= self.jump {
            self.phase = Phase::Normal;
        } else if ack.limited {
            // A flow with little to send waits until it has more (section 4.1).
            self.pipe = ack.in_flight.0 as f64;
            self.base.reno().window = self.jump;
            self.phase = Phase::Unvalidated { first: self.sent, since: ack.now };
        }
    }
    /// All of the jump has left, or its first packet arrived, or a round trip has passed: is it in flight?
    fn check(&mut self, ack: &Ack, (first, since): (u64, Instant)) {
        let flight = ack.in_flight.0 as f64;
        let window = self.base.window();
        let is_sent = flight + self.base.reno().segment > window;
        let is_over = self.rtt.is_some_and(|rtt| ack.now - since > rtt);
        if !is_sent && !is_over && self.sent.saturating_sub(ack.in_flight.0) <= first {
            return;
        }
        if flight < self.initial || flight <= self.pipe {
            self.base.reno().window = self.pipe.max(self.initial);
            self.phase = Phase::Normal;
        } else {
            self.base.reno().window = flight;
            self.phase = Phase::Validating { last: self.sent };
        }
    }
    fn begin_retreat(&mut self, loss: &Loss) {
        self.base.controller().on_loss(loss);
        let reno = self.base.reno();
        reno.window = reno.window.min(self.pipe * RETREAT).max(reno.segment);
        self.phase = Phase::SafeRetreat { last: self.sent };
    }
    fn end_retreat(&mut self) {
        let reno = self.base.reno();
        reno.threshold = (self.pipe * self.retreat).max(2.0 * reno.segment);
        if let Base::Cubic(cubic) = &mut self.base {
            cubic.restart(self.pipe);
        }
        self.phase = Phase::Normal;
    }
}

impl Controller for CarefulResume {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = Some(rtt);
            self.rtt_least = Some(self.rtt_least.map_or(rtt, |least| least.min(rtt)));
        }
        self.acked += ack.acked.0 as f64;
        self.pipe += ack.acked.0 as f64;
        let reached = self.sent.saturating_sub(ack.in_flight.0);
        match self.phase {
            Phase::Normal => self.base.controller().on_ack(ack),
            Phase::Reconnaissance => {
                self.base.controller().on_ack(ack);
                self.reconnoitre(ack);
            }
            Phase::Unvalidated { first, since } => self.check(ack, (first, since)),
            Phase::Validating { last } => {
                self.base.controller().on_ack(ack);
                if reached >= last {
                    self.phase = Phase::Normal;
                }
            }
            Phase::SafeRetreat { last } => {
                if reached >= last {
                    self.end_retreat();
                }
            }
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        match self.phase {
            Phase::Unvalidated { .. } | Phase::Validating { .. } if loss.cause != Cause::Timeout => {
                self.begin_retreat(loss);
            }
            Phase::SafeRetreat { .. } if loss.cause != Cause::Timeout => {}
            _ => {
                self.base.controller().on_loss(loss);
                self.phase = Phase::Normal;
            }
        }
    }
    fn on_sent(&mut self, sent: &Sent) {
        self.sent += sent.size.0;
    }
    fn on_event(&mut self, now: Instant, event: &ControllerEvent) {
        self.base.controller().on_event(now, event);
    }
    fn window(&self) -> Bytes {
        Bytes(self.base.window() as u64)
    }
    /// The jump is paced over a round trip (section 3.3).
    fn rate(&self) -> Option<BitRate> {
        let rtt_s = self.rtt.map(Duration::as_secs_f64).filter(|rtt| *rtt > 0.0)?;
        let rate = self.base.window() / rtt_s * self.header * 8.0;
        matches!(self.phase, Phase::Unvalidated { .. }).then_some(BitRate(rate.max(1.0) as u64))
    }
    fn observe(&self, seen: &mut Observation) {
        self.base.observe(seen);
        seen.push(("pipe", self.pipe));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Value;
    use std::collections::BTreeMap;

    const SEGMENT: u64 = 1_000;

    /// A flow with an initial window of ten segments and a saved window of a thousand, saved at 100 ms.
    fn resumed(base: &str) -> CarefulResume {
        let given = [
            ("base", Value::from(base)),
            ("saved_window", Value::from(1_000.0 * SEGMENT as f64)),
            ("saved_rtt", Value::from(0.1)),
        ];
        let given: BTreeMap<String, Value> =
            given.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let parameters = Parameters::resolve("careful_resume", ENTRY.parameters, &given).expect("in range");
        CarefulResume::new(&parameters, &Flow::new(Bytes(SEGMENT), Bytes(SEGMENT + 40)))
    }
    fn send(flow: &mut CarefulResume, segments: u64, in_flight: u64) {
        for n in 1..=segments {
            let in_flight = Bytes((in_flight + n) * SEGMENT);
            flow.on_sent(&Sent { now: Instant::ZERO, size: Bytes(SEGMENT), in_flight });
        }
    }
    fn acknowledge(flow: &mut CarefulResume, (ms, rtt_ms): (i64, i64), segments: u64, in_flight: u64) {
        for n in 1..=segments {
            flow.on_ack(&Ack {
                now: Instant::from_nanos(ms * 1_000_000),
                acked: Bytes(SEGMENT),
                rtt: Some(Duration::from_nanos(rtt_ms * 1_000_000)),
                in_flight: Bytes((in_flight + segments - n) * SEGMENT),
                limited: true,
                ..Ack::default()
            });
        }
    }
    fn lose(flow: &mut CarefulResume, cause: Cause, in_flight: u64) {
        flow.on_loss(&Loss {
            now: Instant::from_secs(1),
            cause,
            lost: Bytes(SEGMENT),
            flight_size: Bytes((in_flight + 1) * SEGMENT),
            in_flight: Bytes(in_flight * SEGMENT),
            episode: true,
            again: false,
        });
    }
    /// A flow whose jump to 500 segments has left.
    fn jumped(base: &str) -> CarefulResume {
        let mut flow = resumed(base);
        send(&mut flow, 10, 0);
        acknowledge(&mut flow, (100, 100), 10, 0);
        send(&mut flow, 500, 0);
        flow
    }

    #[test]
    fn a_flow_jumps_to_half_of_the_saved_window_paced_over_a_round_trip() {
        for base in ["cubic", "new_reno"] {
            let mut flow = resumed(base);
            send(&mut flow, 10, 0);
            acknowledge(&mut flow, (100, 100), 9, 1);
            assert!(flow.window() <= Bytes(20 * SEGMENT) && flow.rate().is_none(), "{base}");
            acknowledge(&mut flow, (101, 100), 1, 0);
            assert_eq!(flow.window(), Bytes(500 * SEGMENT), "{base}");
            assert_eq!(flow.rate(), Some(BitRate(500 * 1_040 * 8 * 10)), "{base}");
        }
    }

    #[test]
    fn a_round_trip_that_does_not_fit_the_saved_one_means_no_jump() {
        for (rtt_ms, jumps) in
            [(1, false), (50, false), (51, true), (100, true), (1_000, true), (1_001, false)]
        {
            let mut flow = resumed("cubic");
            send(&mut flow, 10, 0);
            acknowledge(&mut flow, (rtt_ms, rtt_ms), 10, 0);
            assert_eq!(flow.window() == Bytes(500 * SEGMENT), jumps, "{rtt_ms} ms");
        }
    }

    #[test]
    fn a_loss_of_the_initial_window_means_no_jump() {
        let mut flow = resumed("cubic");
        send(&mut flow, 10, 0);
        lose(&mut flow, Cause::Gap, 9);
        acknowledge(&mut flow, (100, 100), 10, 0);
        assert_eq!(flow.phase, Phase::Normal);
        assert!(flow.window() < Bytes(20 * SEGMENT));
    }

    #[test]
    fn a_jump_that_arrives_whole_is_kept_and_grows() {
        let mut flow = jumped("cubic");
        acknowledge(&mut flow, (200, 100), 1, 499);
        assert!(matches!(flow.phase, Phase::Validating { .. }));
        assert!(flow.rate().is_none());
        acknowledge(&mut flow, (300, 100), 499, 0);
        assert_eq!(flow.phase, Phase::Normal);
        assert!(flow.window() > Bytes(900 * SEGMENT), "{:?}", flow.window());
    }

    #[test]
    fn a_jump_that_was_not_used_leaves_what_was() {
        let mut flow = resumed("cubic");
        send(&mut flow, 10, 0);
        acknowledge(&mut flow, (100, 100), 10, 0);
        send(&mut flow, 5, 0);
        acknowledge(&mut flow, (300, 100), 1, 4);
        assert_eq!((flow.phase, flow.window()), (Phase::Normal, Bytes(10 * SEGMENT)));
    }

    #[test]
    fn congestion_after_a_jump_leaves_half_of_what_arrived_until_the_jump_has_left_the_network() {
        for base in ["cubic", "new_reno"] {
            let mut flow = jumped(base);
            acknowledge(&mut flow, (200, 100), 100, 400);
            lose(&mut flow, Cause::Gap, 399);
            assert_eq!(flow.window(), Bytes(50 * SEGMENT), "{base}");
            lose(&mut flow, Cause::Gap, 398);
            acknowledge(&mut flow, (250, 100), 100, 298);
            assert_eq!(flow.window(), Bytes(50 * SEGMENT), "{base}: the window never grows in a retreat");
            acknowledge(&mut flow, (300, 100), 100, 0);
            assert_eq!(
                (flow.phase, flow.base.reno().threshold),
                (Phase::Normal, 150.0 * SEGMENT as f64),
                "{base}"
            );
        }
    }

    #[test]
    fn a_timeout_ends_the_resumption_in_any_phase() {
        for mut flow in [resumed("cubic"), jumped("cubic"), {
            let mut flow = jumped("cubic");
            lose(&mut flow, Cause::Gap, 499);
            flow
        }] {
            lose(&mut flow, Cause::Timeout, 0);
            assert_eq!((flow.phase, flow.window()), (Phase::Normal, Bytes(SEGMENT)));
        }
    }
}
