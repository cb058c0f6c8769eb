//! Runs of the worlds, judged: nothing is found in them, and what is planted in them is found.

mod bundles;
mod names;
mod packets;
mod random;
