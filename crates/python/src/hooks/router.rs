//! A router that is written in Python.

use super::answers::{AfterTransfer, Refusal};
use super::class::Class;
use super::facts;
use super::mechanism::{idle, refusal};
use super::node::{AtNode, table};
use lightlag_protocols::dtn::{
    self, BundleId, Local, NodeId, Observation, Offer, Replica, Router, RouterEvent, RouterProperties, Table,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// An instance at a node. Where its class leaves a hook out, the answer is the trait's own.
pub struct Written(pub AtNode);

/// What the flags of a class declare.
pub fn properties(class: &Class) -> RouterProperties {
    RouterProperties {
        ranked: class.flag("ranked"),
        counts_copies: class.flag("counts_copies"),
        single_copy_phase: class.flag("single_copy_phase"),
        records_path: class.flag("records_path"),
        fixed_state: class.flag("fixed_state"),
        contact_plan: class.flag("needs_contact_plan"),
        ..RouterProperties::NONE
    }
}

impl Router for Written {
    fn score(&self, at: &Local, replica: &Replica, peer: NodeId) -> Option<f64> {
        let hook = self.0.class.hooks.score.as_ref()?;
        self.0.call_at(at, hook, |call| call.with((call.at(), call.copy(replica)?, peer.0))?.extract())
    }
    fn delivers(&self, at: &Local, replica: &Replica, peer: NodeId) -> bool {
        let Some(hook) = &self.0.class.hooks.delivers else { return true };
        self.0.call_at(at, hook, |call| call.with((call.at(), call.copy(replica)?, peer.0))?.extract())
    }
    fn on_created(&mut self, at: &Local, replica: &mut Replica) {
        let Some(hook) = &self.0.class.hooks.on_created else { return };
        self.0.call_at(at, hook, |call| call.with_copy(replica, |at, copy| (at, copy)).map(drop));
    }
    fn state(&mut self, at: &Local) -> Option<Table> {
        self.0.state(at)
    }
    fn accept(&mut self, at: &Local, offer: &Offer) -> Result<(), dtn::Refusal> {
        let Some(hook) = &self.0.class.hooks.accept else { return Ok(()) };
        self.0.call_at(at, hook, |call| {
            let answer = call.with((call.at(), call.copy(offer.replica)?, offer.from.0))?;
            refusal(&answer)
        })
    }
    fn mark_for_peer(&self, replica: &Replica) -> u64 {
        let Some(hook) = &self.0.class.hooks.mark_for_peer else { return replica.router_mark };
        self.0.call(hook, |object, hook| {
            let copy = facts::show(object.py(), facts::Kind::Router, replica)?;
            object.call_method1(hook, (copy,))?.extract()
        })
    }
    fn on_sent(
        &mut self,
        at: &Local,
        replica: &mut Replica,
        peer: NodeId,
        delivered: bool,
    ) -> dtn::AfterTransfer {
        let Some(hook) = &self.0.class.hooks.on_sent else { return dtn::AfterTransfer::Keep };
        self.0.call_at(at, hook, |call| {
            after_transfer(&call.with_copy(replica, |at, copy| (at, copy, peer.0, delivered))?)
        })
    }
    fn on_received(&mut self, at: &Local, replica: &mut Replica, from: NodeId) {
        let Some(hook) = &self.0.class.hooks.on_received else { return };
        self.0.call_at(at, hook, |call| call.with_copy(replica, |at, copy| (at, copy, from.0)).map(drop));
    }
    fn on_event(&mut self, at: &Local, event: &RouterEvent) -> bool {
        let hooks = &self.0.class.hooks;
        match *event {
            RouterEvent::ContactUp { peer, state } => {
                self.0.report(at, &hooks.on_contact_up, |call| {
                    call.with((call.at(), peer.0, table(call.py(), state)?))
                });
            }
            RouterEvent::PeerState { peer, state } => {
                let state = Some(state);
                self.0.report(at, &hooks.on_peer_state, |call| {
                    call.with((call.at(), peer.0, table(call.py(), state)?))
                });
            }
            RouterEvent::ContactDown { peer } => {
                let Some(hook) = &hooks.on_contact_down else { return false };
                return self.0.call_at(at, hook, |call| call.with((call.at(), peer.0))?.is_truthy());
            }
            RouterEvent::Offering => self.0.report(at, &hooks.on_offering, |call| call.with((call.at(),))),
            RouterEvent::Refused { replica, peer, why } => {
                let Some(hook) = &hooks.on_refused else { return false };
                let why = Refusal::from(why);
                return self.0.call_at(at, hook, |call| {
                    call.with((call.at(), call.copy(replica)?, peer.0, why))?.is_truthy()
                });
            }
            RouterEvent::Delivered { bundle, from } => {
                let bundle = facts::Bundle::from(bundle);
                self.0.report(at, &hooks.on_delivered, |call| call.with((call.at(), bundle, from.0)));
            }
            RouterEvent::PlanRevised { plan } => self.0.report(at, &hooks.on_plan_revised, |call| {
                call.with((call.at(), facts::contacts(call.py(), plan)?))
            }),
        }
        false
    }
    fn take_acknowledged(&mut self) -> Vec<BundleId> {
        let Some(hook) = &self.0.class.hooks.take_acknowledged else { return Vec::new() };
        let ids: Vec<u32> = self.0.call(hook, |object, hook| object.call_method0(hook)?.extract());
        ids.into_iter().map(BundleId).collect()
    }
    fn victim(&self, at: &Local) -> Option<BundleId> {
        let hook = self.0.class.hooks.victim.as_ref()?;
        self.0.call_at(at, hook, |call| {
            let id: Option<u32> = call.with((call.at(),))?.extract()?;
            id.map(|id| idle(at, id)).transpose()
        })
    }
    fn observe(&self, at: &Local, seen: &mut Observation) {
        self.0.observe(at, seen);
    }
}

fn after_transfer(answer: &Bound<'_, PyAny>) -> PyResult<dtn::AfterTransfer> {
    if answer.is_none() {
        return Ok(dtn::AfterTransfer::Keep);
    }
    match answer.cast::<AfterTransfer>() {
        Ok(after) => Ok((*after.get()).into()),
        Err(_) => {
            Err(PyTypeError::new_err(format!("expected an AfterTransfer, or None to keep it; got {answer}")))
        }
    }
}
