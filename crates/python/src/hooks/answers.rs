//! What hooks answer.

use lightlag_protocols::{controllers, dtn};
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

/// An enum of Rust as Python sees it.
macro_rules! mirrored {
    ($(#[$about:meta])* $name:ident of $rust:ty { $($variant:ident)+ }) => {
        $(#[$about])*
        #[pyclass(frozen, eq, eq_int, hash, rename_all = "SCREAMING_SNAKE_CASE", module = "lightlag")]
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($variant),+
        }

        impl From<$rust> for $name {
            fn from(one: $rust) -> Self {
                match one {
                    $(<$rust>::$variant => Self::$variant),+
                }
            }
        }

        impl From<$name> for $rust {
            fn from(one: $name) -> Self {
                match one {
                    $($name::$variant => Self::$variant),+
                }
            }
        }
    };
}

mirrored! {
    /// Why a copy is not taken, or a bundle's copy deleted by its like.
    Refusal of dtn::Refusal { Held Delivered Expired NoSpace DroppedBefore Routing Congestion }
}
mirrored! {
    /// Why a copy was deleted.
    DropReason of dtn::DropReason { Overflow Expired Acknowledged HandedOver Replaced }
}
mirrored! {
    /// What a router does with its own copy after a transfer.
    AfterTransfer of dtn::AfterTransfer { Keep GiveUp }
}
mirrored! {
    /// Why data is considered lost.
    Cause of controllers::Cause { Gap Mark Timeout }
}
