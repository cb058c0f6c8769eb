//! A congestion mechanism that is written in Python.

use super::answers::{Drop, DropReason, Move, Refusal, Wait};
use super::class::Class;
use super::facts;
use super::node::{AtNode, table};
use lightlag_protocols::dtn::{
    self, BufferDecision, Bundle, BundleId, CopyEvent, IdSet, Incoming, Local, Mechanism, MechanismEvent,
    Needs, NodeId, Observation, Replica, Table,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// An instance at a node. Where its class leaves a hook out, the answer is that of `none`.
pub struct Written {
    instance: AtNode,
    /// What the hook `refused_ids` showed last.
    refused: IdSet,
    version: u64,
}

impl Written {
    pub fn new(instance: AtNode) -> Self {
        Self { instance, refused: IdSet::default(), version: 0 }
    }
    /// Asks the hook `refused_ids` again: after every hook that reports something.
    fn learn_refused_ids(&mut self) {
        let Some(hook) = &self.instance.class.hooks.refused_ids else { return };
        let (refused, version) = (&mut self.refused, &mut self.version);
        self.instance.call(hook, |object, hook| {
            let answer = object.call_method0(hook)?;
            let Ok(shown) = answer.cast::<RefusedIds>() else {
                return Err(PyTypeError::new_err(format!("expected a RefusedIds; got {answer}")));
            };
            let shown = shown.borrow();
            if *version != shown.version {
                refused.clone_from(&shown.ids);
                *version = shown.version;
            }
            Ok(())
        });
    }
}

/// Numbers of bundles that a mechanism does not accept any more.
#[pyclass(module = "lightlag")]
#[derive(Default)]
pub struct RefusedIds {
    ids: IdSet,
    /// Counts changes, so that an unchanged set is not copied.
    version: u64,
}

/// The largest bundle number that a set holds: bounds its memory.
const LAST_ID: u32 = 1 << 24;

#[pymethods]
impl RefusedIds {
    #[new]
    fn new() -> Self {
        Self::default()
    }
    /// Adds a number.
    fn add(&mut self, id: u32) -> PyResult<()> {
        if id > LAST_ID {
            return Err(PyValueError::new_err(format!("bundle {id}: the largest number is {LAST_ID}")));
        }
        self.version += u64::from(self.ids.insert(id));
        Ok(())
    }
    /// Removes a number, if it is there.
    fn discard(&mut self, id: u32) {
        if self.ids.contains(id) {
            self.ids.remove(id);
            self.version += 1;
        }
    }
    fn __contains__(&self, id: u32) -> bool {
        self.ids.contains(id)
    }
}

/// What the flags of a class declare.
pub fn needs(class: &Class) -> Needs {
    Needs {
        census: class.flag("needs_census"),
        neighbours: class.flag("needs_neighbours"),
        reception_order: class.flag("needs_reception_order"),
        receipts: class.flag("needs_receipts"),
        charged: class.flag("needs_charged"),
        smallest_first: class.flag("smallest_first"),
        contact_plan: class.flag("needs_contact_plan"),
    }
}

impl Mechanism for Written {
    fn make_room(&mut self, at: &Local, incoming: &Bundle, preferred: Option<BundleId>) -> BufferDecision {
        let Some(hook) = &self.instance.class.hooks.make_room else {
            return dtn::mechanisms::None.make_room(at, incoming, preferred);
        };
        let decision = self.instance.call_at(at, hook, |call| {
            let arguments = (call.at(), facts::Bundle::from(incoming), preferred.map(|id| id.0));
            room(at, &call.with(arguments)?)
        });
        self.learn_refused_ids();
        decision
    }
    fn obsolete(&mut self, at: &Local) -> Option<BundleId> {
        let hook = self.instance.class.hooks.obsolete.as_ref()?;
        self.instance.call_at(at, hook, |call| {
            let id: Option<u32> = call.with((call.at(),))?.extract()?;
            id.map(|id| idle(at, id)).transpose()
        })
    }
    fn state(&mut self, at: &Local) -> Option<Table> {
        self.instance.state(at)
    }
    fn may_replicate(&self, at: &Local, replica: &Replica, peer: NodeId) -> bool {
        let Some(hook) = &self.instance.class.hooks.may_replicate else { return true };
        self.instance.call_at(at, hook, |call| call.with((call.at(), call.copy(replica)?, peer.0))?.extract())
    }
    fn admit(&mut self, at: &Local, incoming: &Incoming) -> Result<(), dtn::Refusal> {
        let hooks = &self.instance.class.hooks;
        let answer = match incoming {
            Incoming::Offered(offer) => {
                let Some(hook) = &hooks.admit else { return Ok(()) };
                self.instance.call_at(at, hook, |call| {
                    refusal(&call.with((call.at(), call.copy(offer.replica)?, offer.from.0))?)
                })
            }
            Incoming::Created(bundle) => {
                let Some(hook) = &hooks.admit_created else { return Ok(()) };
                let bundle = facts::Bundle::from(*bundle);
                self.instance.call_at(at, hook, |call| refusal(&call.with((call.at(), bundle))?))
            }
        };
        self.learn_refused_ids();
        answer
    }
    fn mark_for_peer(&self, at: &Local, replica: &Replica) -> u64 {
        let Some(hook) = &self.instance.class.hooks.mark_for_peer else { return replica.mechanism_mark };
        self.instance.call_at(at, hook, |call| call.with((call.at(), call.copy(replica)?))?.extract())
    }
    fn on_copy(&mut self, at: &Local, replica: &mut Replica, event: CopyEvent) {
        let hooks = &self.instance.class.hooks;
        let hook = match event {
            CopyEvent::Created => &hooks.on_created,
            CopyEvent::Received { .. } => &hooks.on_received,
            CopyEvent::Sent { .. } => &hooks.on_sent,
            CopyEvent::Returned { .. } => &hooks.on_returned,
        };
        self.instance.report(at, hook, |call| match event {
            CopyEvent::Created => call.with_copy(replica, |at, copy| (at, copy)),
            CopyEvent::Received { from: peer } | CopyEvent::Returned { peer } => {
                call.with_copy(replica, |at, copy| (at, copy, peer.0))
            }
            CopyEvent::Sent { peer, delivered } => {
                call.with_copy(replica, |at, copy| (at, copy, peer.0, delivered))
            }
        });
        self.learn_refused_ids();
    }
    fn on_event(&mut self, at: &Local, event: &MechanismEvent) {
        let (made, hooks) = (&self.instance, &self.instance.class.hooks);
        match *event {
            MechanismEvent::ContactUp { peer, state } => {
                made.report(at, &hooks.on_contact_up, |call| {
                    call.with((call.at(), peer.0, table(call.py(), state)?))
                });
            }
            MechanismEvent::ContactDown { peer } => {
                made.report(at, &hooks.on_contact_down, |call| call.with((call.at(), peer.0)));
            }
            MechanismEvent::Receipt { id, created } => {
                made.report(at, &hooks.on_receipt, |call| call.with((call.at(), id.0, created.as_nanos())));
            }
            MechanismEvent::Dropped { bundle, reason, .. } => {
                let (bundle, reason) = (facts::Bundle::from(bundle), DropReason::from(reason));
                made.report(at, &hooks.on_dropped, |call| call.with((call.at(), bundle, reason)));
            }
            MechanismEvent::Moved { bundle, to, already_had } => {
                let bundle = facts::Bundle::from(bundle);
                made.report(at, &hooks.on_moved, |call| call.with((call.at(), bundle, to.0, already_had)));
            }
            MechanismEvent::ReclaimRefused { peer, id } => {
                made.report(at, &hooks.on_reclaim_refused, |call| call.with((call.at(), peer.0, id.0)));
            }
            MechanismEvent::PlanRevised { plan } => {
                made.report(at, &hooks.on_plan_revised, |call| {
                    call.with((call.at(), facts::contacts(call.py(), plan)?))
                });
            }
        }
        self.learn_refused_ids();
    }
    fn refused_ids(&self) -> &IdSet {
        &self.refused
    }
    fn reclaim(&mut self, at: &Local, peer: NodeId) -> Option<BundleId> {
        let hook = self.instance.class.hooks.reclaim.as_ref()?;
        self.instance.call_at(at, hook, |call| {
            let id: Option<u32> = call.with((call.at(), peer.0))?.extract()?;
            Ok(id.map(BundleId))
        })
    }
    fn observe(&self, at: &Local, seen: &mut Observation) {
        self.instance.observe(at, seen);
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
    if answer.is_instance_of::<Wait>() {
        return Ok(BufferDecision::Wait);
    }
    let Ok(moved) = answer.cast::<Move>() else {
        return Err(PyTypeError::new_err(format!(
            "expected a Drop, a Move, a Wait, or None to refuse; got {answer}"
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
