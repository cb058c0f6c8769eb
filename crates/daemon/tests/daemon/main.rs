//! Two daemons, applications at both ends, and what happens to their bytes.

#![expect(clippy::unwrap_used, reason = "whatever fails here fails the test")]

mod access;
mod clocks;
mod crowds;
mod disks;
mod doors;
mod floods;
mod once;
mod operators;
mod outages;
mod page;
mod pair;
mod plans;
mod replays;
mod schedules;
#[path = "../../../../tests/skip.rs"]
mod skip;
mod strangers;
mod streams;
