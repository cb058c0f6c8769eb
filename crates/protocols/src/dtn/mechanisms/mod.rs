//! Congestion mechanisms: what to admit, keep, drop or move. One file each, one line each in [`TABLE`].

use super::{Entry, Mechanism};

mod afner;
mod copy_value;
mod credit;
mod gbsd;
mod ion_forecast;
mod none;
mod rrcc;
mod smart_dtn_cc;
mod storage_routing;

pub use afner::Afner;
pub use copy_value::CopyValue;
pub use credit::Credit;
pub use gbsd::Gbsd;
pub use ion_forecast::IonForecast;
pub use none::None;
pub use rrcc::Rrcc;
pub use smart_dtn_cc::SmartDtnCc;
pub use storage_routing::StorageRouting;

/// Every mechanism, by name.
pub const TABLE: &[Entry<dyn Mechanism>] = &[
    afner::ENTRY,
    copy_value::ENTRY,
    credit::ENTRY,
    gbsd::ENTRY,
    ion_forecast::ENTRY,
    none::ENTRY,
    rrcc::ENTRY,
    smart_dtn_cc::ENTRY,
    storage_routing::ENTRY,
];
