//! What hooks of a controller are shown, and the advice that they answer.

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
#[pyclass(frozen, module = "lightlag")]
pub struct Ack(pub rust::Ack);

#[pymethods]
impl Ack {
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }
    #[getter]
    fn now_ns(&self) -> i64 {
        self.0.now.as_nanos()
    }
    #[getter]
    fn acked(&self) -> u64 {
        self.0.acked.0
    }
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.0.rtt.map(Duration::as_secs_f64)
    }
    #[getter]
    fn rtt_ns(&self) -> Option<i64> {
        self.0.rtt.map(Duration::as_nanos)
    }
    #[getter]
    fn one_way_s(&self) -> Option<f64> {
        self.0.one_way.map(Duration::as_secs_f64)
    }
    #[getter]
    fn one_way_ns(&self) -> Option<i64> {
        self.0.one_way.map(Duration::as_nanos)
    }
    #[getter]
    fn responder(&self) -> Option<u32> {
        self.0.responder
    }
    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight.0
    }
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered.0
    }
    #[getter]
    fn sample(&self) -> Option<RateSample> {
        self.0.sample.map(|sample| RateSample {
            delivered: sample.delivered.0,
            before: sample.before.0,
            interval_ns: sample.interval.as_nanos(),
        })
    }
    #[getter]
    fn window(&self) -> Option<Window> {
        self.0.window.map(|window| Window {
            sent: window.sent.0,
            received: window.received.0,
            train_bit_per_s: window.train.map(BitRate::as_bit_per_s),
        })
    }
    #[getter]
    fn arrivals(&self) -> Option<ArrivalCounts> {
        self.0.arrivals.map(|rust::ArrivalCounts { high, low }| ArrivalCounts { high, low })
    }
    #[getter]
    fn report(&self) -> Option<TfrcReport> {
        self.0.report.map(|report| TfrcReport {
            loss_event_rate: report.loss_event_rate,
            receive_rate_byte_per_s: report.receive_rate.0,
        })
    }
    #[getter]
    fn ack_ratio(&self) -> u64 {
        self.0.ack_ratio
    }
    #[getter]
    fn recovering(&self) -> bool {
        self.0.recovering
    }
    #[getter]
    fn recovered(&self) -> bool {
        self.0.recovered
    }
    #[getter]
    fn limited(&self) -> bool {
        self.0.limited
    }
}

/// How fast data were delivered over about a round trip.
#[pyclass(frozen, get_all, module = "lightlag")]
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
pub struct Window {
    sent: u64,
    received: u64,
    train_bit_per_s: Option<u64>,
}

/// Packets that arrived since the start of the connection.
#[pyclass(frozen, get_all, module = "lightlag")]
pub struct ArrivalCounts {
    high: u64,
    low: u64,
}

/// What a TFRC receiver measures.
#[pyclass(frozen, get_all, module = "lightlag")]
pub struct TfrcReport {
    loss_event_rate: f64,
    receive_rate_byte_per_s: u64,
}

/// Why data is considered lost.
#[pyclass(frozen, eq, eq_int, hash, rename_all = "SCREAMING_SNAKE_CASE", module = "lightlag")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    Gap,
    Mark,
    Timeout,
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
            cause: match loss.cause {
                rust::Cause::Gap => Cause::Gap,
                rust::Cause::Mark => Cause::Mark,
                rust::Cause::Timeout => Cause::Timeout,
            },
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
#[pyclass(frozen, module = "lightlag")]
pub struct Advice(pub rust::Advice);

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
        if timeout_ns.is_some_and(|ns| ns <= 0) {
            return Err(PyValueError::new_err("`timeout_ns` must be greater than zero"));
        }
        if probe_train == 0 {
            return Err(PyValueError::new_err("`probe_train` must be at least 1, which is no train"));
        }
        if !(0.0..=COPIES_MAX).contains(&low_priority_copies) {
            return Err(PyValueError::new_err(format!(
                "`low_priority_copies` must be from 0 to {COPIES_MAX}"
            )));
        }
        Ok(Self(rust::Advice {
            timeout: timeout_ns.map(Duration::from_nanos),
            probe_train,
            low_priority_copies,
            discovered_rate: discovered_rate_bit_per_s.map(BitRate),
        }))
    }
    #[getter]
    fn timeout_ns(&self) -> Option<i64> {
        self.0.timeout.map(Duration::as_nanos)
    }
    #[getter]
    fn probe_train(&self) -> u32 {
        self.0.probe_train
    }
    #[getter]
    fn low_priority_copies(&self) -> f64 {
        self.0.low_priority_copies
    }
    #[getter]
    fn discovered_rate_bit_per_s(&self) -> Option<u64> {
        self.0.discovered_rate.map(BitRate::as_bit_per_s)
    }
}
