//! The command as users run it, and the rules of the repository.

mod attacks;
mod bad_input;
mod bounds;
mod bundles;
mod captures;
mod emulate;
mod explain;
mod floods;
mod house;
mod large_files;
mod lightlag;
mod measurements;
mod mtu;
mod names;
mod plans;
#[path = "../../../../tests/skip.rs"]
mod skip;
mod sweeps;
mod tcpcl;
mod transfers;
mod trust;
mod ways;
