//! A congestion controller that is written in Python.

use super::class::{Class, Instance, observe};
use super::flow::{Ack, Advice, Loss, Sent};
use lightlag_protocols::controllers::{self, Controller, ControllerEvent, Flow, Recovery};
use lightlag_protocols::parameter::Parameters;
use lightlag_protocols::record::Observation;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::{IntoPyObjectExt, call::PyCallArgs};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An instance that controls a flow or a consumer. Where its class leaves a hook out, the answer is the
/// trait's own; without `window`, only the rate limits.
pub struct Written(Instance);

/// What a class declares; `recovery` is a name that scenarios give a recovery.
///
/// # Errors
/// No such recovery.
pub fn needs(class: &Class, recovery: &str) -> PyResult<controllers::Needs> {
    let known = Recovery::NAMES.iter().find(|known| known.0 == recovery).ok_or_else(|| {
        let names = Recovery::NAMES.map(|known| known.0).join("`, `");
        PyValueError::new_err(format!("unknown recovery `{recovery}`; name one of `{names}`"))
    })?;
    Ok(controllers::Needs { recovery: known.1, rate_samples: class.flag("rate_samples") })
}

impl Written {
    /// Makes one for a flow.
    pub fn new(class: Arc<Class>, parameters: &Parameters, flow: &Flow) -> Self {
        let place = format!("of flow {}", flow.index);
        Self(Instance::new(class, parameters, place, |py| {
            Ok([
                ("segment", flow.segment.0.into_bound_py_any(py)?),
                ("packet", flow.packet.0.into_bound_py_any(py)?),
                ("planned_rate_bit_per_s", flow.planned_rate.map(|rate| rate.0).into_bound_py_any(py)?),
                (
                    "planned_round_trip_ns",
                    flow.planned_round_trip.map(Duration::as_nanos).into_bound_py_any(py)?,
                ),
                ("seed", flow.seed.into_bound_py_any(py)?),
                ("index", flow.index.into_bound_py_any(py)?),
            ])
        }))
    }
    /// The answer of a hook that takes nothing; `None` where the class leaves it out or answers None.
    fn answer<R>(
        &self,
        hook: &Option<Py<PyString>>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Option<R> {
        let hook = hook.as_ref()?;
        self.0.call(hook, |object, hook| {
            let answer = object.call_method0(hook)?;
            if answer.is_none() { Ok(None) } else { read(&answer).map(Some) }
        })
    }
    fn report<A: for<'py> PyCallArgs<'py>>(&self, hook: &Option<Py<PyString>>, arguments: A) {
        if let Some(hook) = hook {
            self.0.call(hook, |object, hook| object.call_method1(hook, arguments).map(drop));
        }
    }
    /// A deadline that stays in the past would be reached for ever at the same instant.
    fn check_deadline(&self, now: Instant) {
        let (Some(hook), Some(at)) = (&self.0.class.hooks.deadline, self.deadline()) else { return };
        if at <= now {
            let what = format!(
                "{} ns is not after {} ns, when the last deadline was reached; give a later time or None",
                at.as_nanos(),
                now.as_nanos(),
            );
            self.0.raise(PyValueError::new_err(what), hook, "");
        }
    }
}

impl Controller for Written {
    fn on_ack(&mut self, ack: &controllers::Ack) {
        self.report(&self.0.class.hooks.on_ack, (Ack::from(ack),));
    }
    fn on_loss(&mut self, loss: &controllers::Loss) {
        self.report(&self.0.class.hooks.on_loss, (Loss::from(loss),));
    }
    fn window(&self) -> Bytes {
        self.answer(&self.0.class.hooks.window, |answer| answer.extract().map(Bytes)).unwrap_or(Bytes::MAX)
    }
    fn rate(&self) -> Option<BitRate> {
        self.answer(&self.0.class.hooks.rate, |answer| answer.extract().map(BitRate))
    }
    fn on_sent(&mut self, sent: &controllers::Sent) {
        self.report(&self.0.class.hooks.on_sent, (Sent::from(sent),));
    }
    fn on_event(&mut self, now: Instant, event: &ControllerEvent) {
        let (hooks, now_ns) = (&self.0.class.hooks, now.as_nanos());
        match *event {
            ControllerEvent::Deadline => {
                self.report(&hooks.on_deadline, (now_ns,));
                self.check_deadline(now);
            }
            ControllerEvent::Plan(rate) => self.report(&hooks.on_plan, (now_ns, rate.0)),
            ControllerEvent::Handover(rate) => self.report(&hooks.on_handover, (now_ns, rate.0)),
            ControllerEvent::ReceiverLimited => self.report(&hooks.on_receiver_limited, (now_ns,)),
            ControllerEvent::SpuriousLoss { lost_at, size } => {
                self.report(&hooks.on_spurious_loss, (now_ns, lost_at.as_nanos(), size.0));
            }
        }
    }
    fn deadline(&self) -> Option<Instant> {
        self.answer(&self.0.class.hooks.deadline, |answer| answer.extract().map(Instant::from_nanos))
    }
    fn advice(&self) -> controllers::Advice {
        let advice = self.answer(&self.0.class.hooks.advice, |answer| match answer.cast::<Advice>() {
            Ok(advice) => Ok(advice.get().into()),
            Err(_) => {
                Err(PyTypeError::new_err(format!("expected an Advice, or None for none; got {answer}")))
            }
        });
        advice.unwrap_or(controllers::Advice::NONE)
    }
    fn observe(&self, seen: &mut Observation) {
        let read = |answer: &Bound<'_, PyAny>| answer.extract::<BTreeMap<String, f64>>();
        observe(self.answer(&self.0.class.hooks.observe, read).unwrap_or_default(), seen);
    }
}
