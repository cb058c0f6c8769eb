//! What hooks are shown of bundles, copies and links, as plain values.

use lightlag_protocols::dtn;
use lightlag_protocols::time::Instant;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Seconds since the start of the run; infinite for what never ends.
pub fn seconds(at: Instant) -> f64 {
    if at == Instant::MAX { f64::INFINITY } else { at.as_secs_f64() }
}

/// The facts of a bundle that never change on its path.
#[pyclass(frozen, subclass, get_all, module = "lightlag")]
pub struct Bundle {
    id: u32,
    source: u32,
    destination: u32,
    size: u64,
    created_s: f64,
    expires_s: f64,
    created_ns: i64,
    expires_ns: i64,
}

#[pymethods]
impl Bundle {
    fn __repr__(&self) -> String {
        let Self { id, source, destination, size, .. } = self;
        format!("<bundle {id} from {source} to {destination}, {size} B>")
    }
}

impl From<&dtn::Bundle> for Bundle {
    fn from(bundle: &dtn::Bundle) -> Self {
        Self {
            id: bundle.id.0,
            source: bundle.source.0,
            destination: bundle.destination.0,
            size: bundle.size.get(),
            created_s: seconds(bundle.created),
            expires_s: seconds(bundle.expires),
            created_ns: bundle.created.as_nanos(),
            expires_ns: bundle.expires.as_nanos(),
        }
    }
}

/// Whose mark an algorithm sees on copies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A router's.
    Router,
    /// A mechanism's.
    Mechanism,
}

impl Kind {
    /// Its mark on a copy.
    pub fn mark(self, replica: &dtn::Replica) -> u64 {
        match self {
            Self::Router => replica.router_mark,
            Self::Mechanism => replica.mechanism_mark,
        }
    }
    /// Where its mark is on a copy.
    pub fn mark_mut(self, replica: &mut dtn::Replica) -> &mut u64 {
        match self {
            Self::Router => &mut replica.router_mark,
            Self::Mechanism => &mut replica.mechanism_mark,
        }
    }
}

/// A copy of a bundle as it is stored at a node.
#[pyclass(extends = Bundle, module = "lightlag")]
pub struct Replica {
    #[pyo3(get)]
    received_s: f64,
    #[pyo3(get)]
    received_ns: i64,
    #[pyo3(get)]
    hops: u32,
    #[pyo3(get)]
    sending: u32,
    #[pyo3(get, set)]
    pub mark: u64,
    path: dtn::Path,
}

#[pymethods]
impl Replica {
    /// Whether the copy has been at `node`.
    fn has_visited(&self, node: u32) -> bool {
        self.path.contains(dtn::NodeId(node))
    }
}

/// A copy as an algorithm of `kind` sees it.
pub fn show<'py>(py: Python<'py>, kind: Kind, replica: &dtn::Replica) -> PyResult<Bound<'py, Replica>> {
    let own = Replica {
        received_s: seconds(replica.received),
        received_ns: replica.received.as_nanos(),
        hops: replica.hops,
        sending: replica.sending,
        mark: kind.mark(replica),
        path: replica.path.clone(),
    };
    Bound::new(py, PyClassInitializer::from(Bundle::from(&replica.bundle)).add_subclass(own))
}

/// One direction of a link that is planned.
#[pyclass(frozen, get_all, module = "lightlag")]
pub struct PlannedContact {
    /// Who can send.
    sender: u32,
    /// To whom.
    receiver: u32,
    start_s: f64,
    end_s: f64,
    start_ns: i64,
    end_ns: i64,
    /// Bits per second.
    rate_bit_per_s: u64,
    /// One-way light time.
    delay_s: f64,
    /// The same in nanoseconds, exactly.
    delay_ns: i64,
}

#[pymethods]
impl PlannedContact {
    fn __repr__(&self) -> String {
        let Self { sender, receiver, start_s, end_s, rate_bit_per_s, .. } = self;
        format!("<contact from {sender} to {receiver}, {start_s} s to {end_s} s, {rate_bit_per_s} bit/s>")
    }
}

impl From<&dtn::PlannedContact> for PlannedContact {
    fn from(contact: &dtn::PlannedContact) -> Self {
        Self {
            sender: contact.from.0,
            receiver: contact.to.0,
            start_s: seconds(contact.start),
            end_s: seconds(contact.end),
            start_ns: contact.start.as_nanos(),
            end_ns: contact.end.as_nanos(),
            rate_bit_per_s: contact.rate.as_bit_per_s(),
            delay_s: contact.delay.as_secs_f64(),
            delay_ns: contact.delay.as_nanos(),
        }
    }
}

/// A plan as Python sees it: its contacts by sender, receiver and start.
pub fn contacts<'py>(py: Python<'py>, plan: &dtn::ContactPlan) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, plan.contacts().iter().map(PlannedContact::from).collect::<Vec<_>>())
}

/// A link that is up.
#[pyclass(frozen, get_all, module = "lightlag")]
pub struct Link {
    /// Who is at the other end.
    peer: u32,
    /// Bits per second towards the peer.
    rate_bit_per_s: u64,
    /// One-way delay towards the peer.
    delay_s: f64,
    /// The same in nanoseconds, exactly.
    delay_ns: i64,
    /// Whether the next transfer begins when the last bit has left, not when it has arrived.
    pipelined: bool,
    /// Free bytes of the peer's buffer, as last reported.
    peer_free: u64,
    /// Size of the peer's buffer in bytes.
    peer_capacity: u64,
    /// Whether a transfer to the peer could start now.
    peer_idle: bool,
}

impl From<&dtn::Link> for Link {
    fn from(link: &dtn::Link) -> Self {
        Self {
            peer: link.peer.0,
            rate_bit_per_s: link.rate.as_bit_per_s(),
            delay_s: link.delay.as_secs_f64(),
            delay_ns: link.delay.as_nanos(),
            pipelined: link.pipelined,
            peer_free: link.peer_space.free.get(),
            peer_capacity: link.peer_space.capacity.get(),
            peer_idle: link.peer_space.idle,
        }
    }
}
