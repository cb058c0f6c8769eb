//! What hooks answer.

use lightlag_protocols::dtn;
use pyo3::prelude::*;

/// Make room by dropping a copy that is not being sent.
#[pyclass(frozen, module = "lightlag")]
pub struct Drop {
    /// Which bundle.
    #[pyo3(get)]
    pub id: u32,
}

#[pymethods]
impl Drop {
    #[new]
    fn new(id: u32) -> Self {
        Self { id }
    }
}

/// No room now: a bundle created here waits at the application; an offer is refused.
#[pyclass(frozen, module = "lightlag")]
pub struct Wait;

#[pymethods]
impl Wait {
    #[new]
    fn new() -> Self {
        Self
    }
}

/// Make room by moving a copy to a neighbour, an alternate custodian.
#[pyclass(frozen, module = "lightlag")]
pub struct Move {
    /// Which bundle.
    #[pyo3(get)]
    pub id: u32,
    /// To whom.
    #[pyo3(get)]
    pub to: u32,
}

#[pymethods]
impl Move {
    #[new]
    fn new(id: u32, to: u32) -> Self {
        Self { id, to }
    }
}

/// Why a copy is not taken, or a bundle's copy deleted by its like.
#[pyclass(frozen, eq, eq_int, hash, rename_all = "SCREAMING_SNAKE_CASE", module = "lightlag")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    Held,
    Delivered,
    Expired,
    NoSpace,
    DroppedBefore,
    Routing,
    Congestion,
}

impl From<dtn::Refusal> for Refusal {
    fn from(refusal: dtn::Refusal) -> Self {
        match refusal {
            dtn::Refusal::Held => Self::Held,
            dtn::Refusal::Delivered => Self::Delivered,
            dtn::Refusal::Expired => Self::Expired,
            dtn::Refusal::NoSpace => Self::NoSpace,
            dtn::Refusal::DroppedBefore => Self::DroppedBefore,
            dtn::Refusal::Routing => Self::Routing,
            dtn::Refusal::Congestion => Self::Congestion,
        }
    }
}

impl From<Refusal> for dtn::Refusal {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Held => Self::Held,
            Refusal::Delivered => Self::Delivered,
            Refusal::Expired => Self::Expired,
            Refusal::NoSpace => Self::NoSpace,
            Refusal::DroppedBefore => Self::DroppedBefore,
            Refusal::Routing => Self::Routing,
            Refusal::Congestion => Self::Congestion,
        }
    }
}

/// Why a copy was deleted.
#[pyclass(frozen, eq, eq_int, hash, rename_all = "SCREAMING_SNAKE_CASE", module = "lightlag")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum DropReason {
    Overflow,
    Expired,
    Acknowledged,
    HandedOver,
}

impl From<dtn::DropReason> for DropReason {
    fn from(reason: dtn::DropReason) -> Self {
        match reason {
            dtn::DropReason::Overflow => Self::Overflow,
            dtn::DropReason::Expired => Self::Expired,
            dtn::DropReason::Acknowledged => Self::Acknowledged,
            dtn::DropReason::HandedOver => Self::HandedOver,
        }
    }
}

/// What a router does with its own copy after a transfer.
#[pyclass(frozen, eq, eq_int, hash, rename_all = "SCREAMING_SNAKE_CASE", module = "lightlag")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum AfterTransfer {
    Keep,
    GiveUp,
}

impl From<AfterTransfer> for dtn::AfterTransfer {
    fn from(after: AfterTransfer) -> Self {
        match after {
            AfterTransfer::Keep => Self::Keep,
            AfterTransfer::GiveUp => Self::GiveUp,
        }
    }
}
