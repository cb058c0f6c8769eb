//! Two daemons, applications at both ends, and what happens to their bytes.

#![expect(clippy::unwrap_used, reason = "whatever fails here fails the test")]

mod clocks;
mod crowds;
mod disks;
mod doors;
mod outages;
mod pair;
mod plans;
mod schedules;
mod strangers;
mod streams;
