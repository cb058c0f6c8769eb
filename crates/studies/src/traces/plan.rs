//! What the study runs.

use crate::shared::points::Points;
use crate::universal::grid::{Axis, BUFFER, BUFFERS_OF_ALL, Change, RECORDED, ROUTERS};
use crate::universal::plan::along;
use std::path::Path;

/// A published trace.
pub struct Trace {
    /// Its name in tables.
    pub name: &'static str,
    /// The scenario, in `scenarios/traces`.
    pub file: &'static str,
    /// The data as published, in [`FOLDER`].
    pub data: &'static str,
    /// Where that is as a value of TOML.
    set: &'static [(&'static str, &'static str)],
}

/// Where the data of traces are looked for.
pub const FOLDER: &str = "out/traces";
/// Stands in where none of them is here.
pub const GENERATED: &str = "generated.toml";
const DATA: &str = "contacts.trace.file";

/// All that the study knows.
pub const TRACES: [Trace; 7] = [
    Trace {
        name: "Infocom05",
        file: "infocom05.toml",
        data: "contacts.Exp3.dat",
        set: &[(DATA, "out/traces/contacts.Exp3.dat")],
    },
    Trace {
        name: "Cambridge",
        file: "cambridge.toml",
        data: "contacts.Exp2.dat",
        set: &[(DATA, "out/traces/contacts.Exp2.dat")],
    },
    Trace {
        name: "Intel",
        file: "intel.toml",
        data: "contacts.Exp1.dat",
        set: &[(DATA, "out/traces/contacts.Exp1.dat")],
    },
    Trace {
        name: "UPB 2011",
        file: "upb2011.toml",
        data: "upb2011.dat",
        set: &[(DATA, "out/traces/upb2011.dat")],
    },
    Trace {
        name: "UPB 2012",
        file: "upb2012.toml",
        data: "full_output.txt",
        set: &[(DATA, "out/traces/full_output.txt")],
    },
    Trace { name: "NCCU", file: "nccu.toml", data: "nccu.dat", set: &[(DATA, "out/traces/nccu.dat")] },
    Trace {
        name: "NCCU, a day",
        file: "nccu_day.toml",
        data: "day1.csv",
        set: &[(DATA, "out/traces/day1.csv")],
    },
];

/// From a few bundles to what holds nearly all.
const BUFFERS: &[Change] =
    &[("500 kB", &[(BUFFER, "500 kB")]), ("5 MB", &[(BUFFER, "5 MB")]), ("50 MB", &[(BUFFER, "50 MB")])];
const SEEDS: u64 = 8;
const SEEDS_QUICK: u64 = 2;

/// All that the study runs: each of these traces, or the one that was drawn, under three routers and buffers; in a
/// quick look the smallest and the largest.
///
/// # Errors
/// What is wrong with a trace.
pub fn plan(quick: bool, here: &[&Trace], scenarios: &Path) -> Result<Points, lightlag_scenario::Error> {
    let mut axes: Vec<Axis> =
        here.iter().map(|trace| axis(trace.name, trace.file, trace.set, quick)).collect();
    if axes.is_empty() {
        axes.push(axis("drawn", GENERATED, &[], quick));
    }
    let list = along(&axes, scenarios)?;
    Ok(Points::of(list, if quick { SEEDS_QUICK } else { SEEDS }, &[]))
}

fn axis(place: &'static str, file: &'static str, set: &[(&'static str, &'static str)], quick: bool) -> Axis {
    let ends = [BUFFERS[0], BUFFERS[BUFFERS.len() - 1]];
    Axis {
        grid: RECORDED,
        world: "recorded contacts",
        place,
        file,
        set: set.to_vec(),
        routers: ROUTERS,
        changes: if quick { ends.to_vec() } else { BUFFERS.to_vec() },
        buffers: BUFFERS_OF_ALL,
        quick: None,
    }
}
