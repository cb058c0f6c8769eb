//! The simulated worlds at their boundary: setups in, records and outcomes out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod application_buffer;
mod carried_control;
mod charged_control;
mod common;
mod contact_graph;
mod drawn_names;
mod drawn_networks;
mod drawn_paths;
mod every_mobility;
mod golden;
mod golden_packets;
mod kinetic_contacts;
mod known_plans;
mod ltp;
mod ltp_dccp;
mod maps;
mod messages;
mod mobility_statistics;
mod names;
mod neighbours;
mod packets;
mod replies;
mod scream_paths;
#[path = "../../../../tests/skip.rs"]
mod skip;
mod the_one_trajectories;
mod ticked_motion;
mod together;
