//! Reno's window, repaired by duplicate acknowledgements (RFC 5681; RFC 6582).

use super::reno::{self, Reno};
use super::{Controller, Flow};
use crate::parameter;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "new_reno",
    paper: "RFC 6582",
    parameters: reno::PARAMETERS,
    only_with: &[],
    build: |parameters, flow| Box::new(Reno::new(parameters, &flow)),
};
