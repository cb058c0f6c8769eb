//! MaxProp whose weight of an encounter follows from the number of encounters between two with one node.

use super::max_prop::estimates::Encounters;
use super::max_prop::{MaxProp, SAMPLES};
use super::prophet_estimated::TIME_SCALE;
use crate::dtn::{Entry, Router};

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "max_prop_estimated",
    paper: "Karvo, Ott: Time scales and delay-tolerant routing protocols, CHANTS 2008",
    parameters: &[TIME_SCALE, SAMPLES],
    only_with: &[],
    properties: |_, _| super::max_prop::PROPERTIES,
    build: |given, context| {
        let encounters = Encounters::new(context.nodes, given.number("time_scale"));
        let samples = given.number("samples") as usize;
        Box::new(MaxProp::new(&context, 1.0, usize::MAX, samples).estimating(encounters))
    },
};
