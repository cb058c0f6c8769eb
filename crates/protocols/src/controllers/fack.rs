//! Reno's window, repaired by forward acknowledgement (Mathis and Mahdavi, "Forward Acknowledgement:
//! Refining TCP Congestion Control", SIGCOMM 1996).

use super::reno::{self, Reno};
use super::{Controller, Flow};
use crate::parameter;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "fack",
    paper: "Mathis and Mahdavi, Forward Acknowledgement: Refining TCP Congestion Control (1996)",
    parameters: reno::PARAMETERS,
    only_with: &[],
    build: |parameters, flow| Box::new(Reno::new(parameters, &flow)),
};
