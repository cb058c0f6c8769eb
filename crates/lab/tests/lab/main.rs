//! Whole runs, judged, and what is made of them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod contact_graph;
mod converted;
mod copies_at_rest;
mod every_scenario;
mod explain;
mod failures;
mod future;
mod hard_networks;
mod ion_forecast;
mod judged;
mod ltp_dccp;
mod marks;
mod reference;
#[path = "../../../../tests/skip.rs"]
mod skip;
mod traces;
