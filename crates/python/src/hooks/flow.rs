//! What hooks of a controller are shown, and the advice that they answer.

use super::answers::Cause;
use lightlag_protocols::controllers as rust;
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::BitRate;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Nanoseconds as seconds.
fn seconds(ns: i64) -> f64 {
    Duration::from_nanos(ns).as_secs_f64()
}

/// What an acknowledgement says.
#[pyclass(frozen, get_all, module = "lightlag")]
pub struct Ack {
    now_ns: i64,
    acked: u64,
    rtt_ns: Option<i64>,
    one_way_ns: Option<i64>,
    responder: Option<u32>,
    in_flight: u64,
    delivered: u64,
    sample: Option<RateSample>,
    window: Option<Window>,
    arrivals: Option<ArrivalCounts>,
    report: Option<TfrcReport>,
    ack_ratio: u64,
    recovering: bool,
    recovered: bool,
    limited: bool,
}

#[pymethods]
impl Ack {
    #[getter]
    fn now_s(&self) -> f64 {
        seconds(self.now_ns)
    }
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.rtt_ns.map(seconds)
    }
    #[getter]
    fn one_way_s(&self) -> Option<f64> {
        self.one_way_ns.map(seconds)
    }
}

impl From<&rust::Ack> for Ack {
    fn from(ack: &rust::Ack) -> Self {
        let rust::Ack { responder, ack_ratio, recovering, recovered, limited, .. } = *ack;
        Self {
            now_ns: ack.now.as_nanos(),
            acked: ack.acked.0,
            rtt_ns: ack.rtt.map(Duration::as_nanos),
            one_way_ns: ack.one_way.map(Duration::as_nanos),
            responder,
            in_flight: ack.in_flight.0,
            delivered: ack.delivered.0,
            sample: ack.sample.map(|rust::RateSample { delivered, before, interval }| RateSample {
                delivered: delivered.0,
                before: before.0,
                interval_ns: interval.as_nanos(),
            }),
            window: ack.window.map(|rust::Window { sent, received, train }| Window {
                sent: sent.0,
                received: received.0,
                train_bit_per_s: train.map(BitRate::as_bit_per_s),
            }),
            arrivals: ack.arrivals.map(|rust::ArrivalCounts { high, low }| ArrivalCounts { high, low }),
            report: ack.report.map(|rust::TfrcReport { loss_event_rate, receive_rate }| TfrcReport {
                loss_event_rate,
                receive_rate_byte_per_s: receive_rate.0,
            }),
            ack_ratio,
            recovering,
            recovered,
            limited,
        }
    }
}

/// How fast data were delivered over about a round trip.
#[pyclass(frozen, get_all, module = "lightlag")]
#[derive(Clone)]
pub struct RateSample {
    delivered: u64,
    before: u64,
    interval_ns: i64,
}

#[pymethods]
impl RateSample {
    #[getter]
    fn interval_s(&self) -> f64 {
        seconds(self.interval_ns)
    }
}

/// What became of the packets between two reports of a receiver.
#[pyclass(frozen, get_all, module = "lightlag")]
#[derive(Clone)]
pub struct Window {
    sent: u64,
    received: u64,
    train_bit_per_s: Option<u64>,
}

/// Packets that arrived since the start of the connection.
#[pyclass(frozen, get_all, module = "lightlag")]
#[derive(Clone)]
pub struct ArrivalCounts {
    high: u64,
    low: u64,
}

/// What a TFRC receiver measures.
#[pyclass(frozen, get_all, module = "lightlag")]
#[derive(Clone)]
pub struct TfrcReport {
    loss_event_rate: f64,
    receive_rate_byte_per_s: u64,
}

/// A loss or a congestion mark.
#[pyclass(frozen, get_all, module = "lightlag")]
pub struct Loss {
    now_ns: i64,
    cause: Cause,
    lost: u64,
    flight_size: u64,
    in_flight: u64,
    episode: bool,
    again: bool,
}

#[pymethods]
impl Loss {
    #[getter]
    fn now_s(&self) -> f64 {
        seconds(self.now_ns)
    }
}

impl From<&rust::Loss> for Loss {
    fn from(loss: &rust::Loss) -> Self {
        Self {
            now_ns: loss.now.as_nanos(),
            cause: loss.cause.into(),
            lost: loss.lost.0,
            flight_size: loss.flight_size.0,
            in_flight: loss.in_flight.0,
            episode: loss.episode,
            again: loss.again,
        }
    }
}

/// A packet that was sent.
#[pyclass(frozen, get_all, module = "lightlag")]
pub struct Sent {
    now_ns: i64,
    size: u64,
    in_flight: u64,
}

#[pymethods]
impl Sent {
    #[getter]
    fn now_s(&self) -> f64 {
        seconds(self.now_ns)
    }
}

impl From<&rust::Sent> for Sent {
    fn from(sent: &rust::Sent) -> Self {
        Self { now_ns: sent.now.as_nanos(), size: sent.size.0, in_flight: sent.in_flight.0 }
    }
}

/// Most copies of low priority per packet: bounds what a run does for one packet.
const COPIES_MAX: f64 = 1000.0;

/// What a controller asks of its transport beyond window and rate.
#[pyclass(frozen, get_all, module = "lightlag")]
pub struct Advice {
    timeout_ns: Option<i64>,
    probe_train: u32,
    low_priority_copies: f64,
    discovered_rate_bit_per_s: Option<u64>,
}

#[pymethods]
impl Advice {
    #[new]
    #[pyo3(signature = (*, timeout_ns=None, probe_train=1, low_priority_copies=0.0, discovered_rate_bit_per_s=None))]
    fn new(
        timeout_ns: Option<i64>,
        probe_train: u32,
        low_priority_copies: f64,
        discovered_rate_bit_per_s: Option<u64>,
    ) -> PyResult<Self> {
        let wrong = if timeout_ns.is_some_and(|ns| ns <= 0) {
            "`timeout_ns` must be greater than zero"
        } else if probe_train == 0 {
            "`probe_train` must be at least 1"
        } else if !(0.0..=COPIES_MAX).contains(&low_priority_copies) {
            "`low_priority_copies` must be from 0 to 1000"
        } else {
            return Ok(Self { timeout_ns, probe_train, low_priority_copies, discovered_rate_bit_per_s });
        };
        Err(PyValueError::new_err(wrong))
    }
}

impl From<&Advice> for rust::Advice {
    fn from(advice: &Advice) -> Self {
        Self {
            timeout: advice.timeout_ns.map(Duration::from_nanos),
            probe_train: advice.probe_train,
            low_priority_copies: advice.low_priority_copies,
            discovered_rate: advice.discovered_rate_bit_per_s.map(BitRate),
            ..Self::NONE
        }
    }
}
