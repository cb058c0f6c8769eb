//! A congestion mechanism that is written in Python.

use super::answers::{Drop, DropReason, Move, Refusal};
use super::class::{Instance, table};
use super::facts;
use lightlag_protocols::dtn::{
    self, BufferDecision, Bundle, BundleId, Local, Mechanism, Needs, NodeId, Observation, Offer, Replica,
    Table,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// An instance at a node. Where its class leaves a hook out, the answer is that of `none`.
pub struct Written(pub Instance);

impl Mechanism for Written {
    fn make_room(&mut self, at: &Local, incoming: &Bundle, preferred: Option<BundleId>) -> BufferDecision {
        let Some(hook) = &self.0.class.hooks.make_room else {
            return dtn::mechanisms::None.make_room(at, incoming, preferred);
        };
        self.0.call(at, hook, |call| {
            let arguments = (call.at(), facts::Bundle(*incoming), preferred.map(|id| id.0));
            room(at, &call.with(arguments)?)
        })
    }
    fn obsolete(&mut self, at: &Local) -> Option<BundleId> {
        let hook = self.0.class.hooks.obsolete.as_ref()?;
        self.0.call(at, hook, |call| {
            let id: Option<u32> = call.with((call.at(),))?.extract()?;
            id.map(|id| idle(at, id)).transpose()
        })
    }
    fn needs(&self) -> Needs {
        let class = &self.0.class;
        Needs {
            census: class.flag("needs_census"),
            neighbours: class.flag("needs_neighbours"),
            reception_order: class.flag("needs_reception_order"),
            receipts: class.flag("needs_receipts"),
            charged: class.flag("needs_charged"),
        }
    }
    fn on_created(&mut self, at: &Local, replica: &mut Replica) {
        let Some(hook) = &self.0.class.hooks.on_created else { return };
        self.0.call(at, hook, |call| call.with_copy(replica, |at, copy| (at, copy)).map(drop));
    }
    fn state(&mut self, at: &Local) -> Option<Table> {
        self.0.state(at)
    }
    fn on_contact_up(&mut self, at: &Local, peer: NodeId, state: Option<&Table>) {
        let Some(hook) = &self.0.class.hooks.on_contact_up else { return };
        self.0.call(at, hook, |call| call.with((call.at(), peer.0, table(call.py(), state)?)).map(drop));
    }
    fn on_contact_down(&mut self, at: &Local, peer: NodeId) {
        let Some(hook) = &self.0.class.hooks.on_contact_down else { return };
        self.0.call(at, hook, |call| call.with((call.at(), peer.0)).map(drop));
    }
    fn may_replicate(&self, at: &Local, replica: &Replica, peer: NodeId) -> bool {
        let Some(hook) = &self.0.class.hooks.may_replicate else { return true };
        self.0.call(at, hook, |call| call.with((call.at(), call.copy(replica)?, peer.0))?.extract())
    }
    fn admit(&mut self, at: &Local, offer: &Offer) -> Result<(), dtn::Refusal> {
        let Some(hook) = &self.0.class.hooks.admit else { return Ok(()) };
        self.0.call(at, hook, |call| {
            let answer = call.with((call.at(), call.copy(offer.replica)?, offer.from.0))?;
            refusal(&answer)
        })
    }
    fn mark_for_peer(&self, at: &Local, replica: &Replica) -> u64 {
        let Some(hook) = &self.0.class.hooks.mark_for_peer else { return replica.mechanism_mark };
        self.0.call(at, hook, |call| call.with((call.at(), call.copy(replica)?))?.extract())
    }
    fn on_sent(&mut self, at: &Local, replica: &mut Replica, peer: NodeId, delivered: bool) {
        let Some(hook) = &self.0.class.hooks.on_sent else { return };
        self.0.call(at, hook, |call| {
            call.with_copy(replica, |at, copy| (at, copy, peer.0, delivered)).map(drop)
        });
    }
    fn on_received(&mut self, at: &Local, replica: &mut Replica, from: NodeId) {
        let Some(hook) = &self.0.class.hooks.on_received else { return };
        self.0.call(at, hook, |call| call.with_copy(replica, |at, copy| (at, copy, from.0)).map(drop));
    }
    fn on_dropped(&mut self, at: &Local, bundle: &Bundle, reason: dtn::DropReason) {
        let Some(hook) = &self.0.class.hooks.on_dropped else { return };
        self.0.call(at, hook, |call| {
            call.with((call.at(), facts::Bundle(*bundle), DropReason::from(reason))).map(drop)
        });
    }
    fn on_moved(&mut self, at: &Local, bundle: &Bundle, to: NodeId, already_had: bool) {
        let Some(hook) = &self.0.class.hooks.on_moved else { return };
        self.0.call(at, hook, |call| {
            call.with((call.at(), facts::Bundle(*bundle), to.0, already_had)).map(drop)
        });
    }
    fn reclaim(&mut self, at: &Local, peer: NodeId) -> Option<BundleId> {
        let hook = self.0.class.hooks.reclaim.as_ref()?;
        self.0.call(at, hook, |call| {
            let id: Option<u32> = call.with((call.at(), peer.0))?.extract()?;
            Ok(id.map(BundleId))
        })
    }
    fn on_reclaim_refused(&mut self, at: &Local, peer: NodeId, id: BundleId) {
        let Some(hook) = &self.0.class.hooks.on_reclaim_refused else { return };
        self.0.call(at, hook, |call| call.with((call.at(), peer.0, id.0)).map(drop));
    }
    fn observe(&self, at: &Local, seen: &mut Observation) {
        self.0.observe(at, seen);
    }
}

/// What an answer to an offer means: `None` takes it.
pub fn refusal(answer: &Bound<'_, PyAny>) -> PyResult<Result<(), dtn::Refusal>> {
    if answer.is_none() {
        return Ok(Ok(()));
    }
    match answer.cast::<Refusal>() {
        Ok(refusal) => Ok(Err((*refusal.get()).into())),
        Err(_) => Err(PyTypeError::new_err(format!("expected a Refusal, or None to take it; got {answer}"))),
    }
}

fn room(at: &Local, answer: &Bound<'_, PyAny>) -> PyResult<BufferDecision> {
    if answer.is_none() {
        return Ok(BufferDecision::Refuse);
    }
    if let Ok(drop) = answer.cast::<Drop>() {
        return idle(at, drop.get().id).map(BufferDecision::Drop);
    }
    let Ok(moved) = answer.cast::<Move>() else {
        return Err(PyTypeError::new_err(format!(
            "expected a Drop, a Move, or None to refuse; got {answer}"
        )));
    };
    let Move { id, to } = *moved.get();
    if !at.store.contains(BundleId(id)) {
        return Err(not_here(id));
    }
    if !at.links.iter().any(|link| link.peer == NodeId(to)) {
        return Err(PyValueError::new_err(format!(
            "bundle {id} cannot move to node {to}: no link to it is up"
        )));
    }
    Ok(BufferDecision::Move { id: BundleId(id), to: NodeId(to) })
}

/// A copy that can be dropped.
pub fn idle(at: &Local, id: u32) -> PyResult<BundleId> {
    match at.store.get(BundleId(id)) {
        None => Err(not_here(id)),
        Some(replica) if replica.sending > 0 => {
            Err(PyValueError::new_err(format!("bundle {id} is being sent and cannot be dropped")))
        }
        Some(_) => Ok(BundleId(id)),
    }
}

fn not_here(id: u32) -> PyErr {
    PyValueError::new_err(format!("no copy of bundle {id} is here"))
}
