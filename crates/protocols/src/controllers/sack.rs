//! Reno's window, repaired by selective acknowledgements (RFC 5681; RFC 2018 and RFC 6675).

use super::reno::{self, Reno};
use super::{Controller, Flow};
use crate::parameter;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "sack",
    paper: "RFC 6675",
    parameters: reno::PARAMETERS,
    only_with: &[],
    build: |parameters, flow| Box::new(Reno::new(parameters, &flow)),
};
