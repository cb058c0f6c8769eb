//! The command as users run it, and the rules of the repository.

mod attacks;
mod bad_input;
mod bounds;
mod bundles;
mod captures;
mod emulate;
mod explain;
mod floods;
mod help;
mod house;
mod large_files;
mod lightlag;
mod measurements;
mod mtu;
mod names;
mod plans;
mod plots;
mod scenarios;
#[path = "../../../../tests/skip.rs"]
mod skip;
mod sweeps;
mod tcpcl;
mod traces;
mod transfers;
mod trust;
mod units;
mod views;
mod ways;
