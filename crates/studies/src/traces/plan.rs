//! What the study runs.

use crate::shared::points::{Point, Points, only};
use crate::universal::cells::columns;
use crate::universal::treatments::{Role, Treatment, on_records};
use lightlag_scenario::{Catalogue, ScenarioFile};
use std::path::Path;

/// A published trace.
pub struct Trace {
    /// Its name in tables.
    pub name: &'static str,
    /// The scenario, in `scenarios/traces`.
    pub file: &'static str,
    /// The data as published, in [`FOLDER`].
    pub data: &'static str,
}

/// Where the data of traces are looked for.
pub const FOLDER: &str = "out/traces";
/// Stands in where none of them is here.
pub const GENERATED: &str = "generated.toml";
const DATA: &str = "contacts.trace.file";

/// All that the study knows.
pub const TRACES: [Trace; 7] = [
    Trace { name: "Infocom05", file: "infocom05.toml", data: "contacts.Exp3.dat" },
    Trace { name: "Cambridge", file: "cambridge.toml", data: "contacts.Exp2.dat" },
    Trace { name: "Intel", file: "intel.toml", data: "contacts.Exp1.dat" },
    Trace { name: "UPB 2011", file: "upb2011.toml", data: "upb2011.dat" },
    Trace { name: "UPB 2012", file: "upb2012.toml", data: "full_output.txt" },
    Trace { name: "NCCU", file: "nccu.toml", data: "nccu.dat" },
    Trace { name: "NCCU, a day", file: "nccu_day.toml", data: "day1.csv" },
];

const BUFFER: &str = "buffer";
/// From a few bundles to what holds nearly all.
const BUFFERS: [&str; 3] = ["500 kB", "5 MB", "50 MB"];
/// A buffer that is never full.
const BEYOND: &str = "1 TB";
/// Names, and values in TOML.
const ROUTERS: [(&str, &str); 3] = [
    ("epidemic", "epidemic"),
    ("prophet", "prophet"),
    ("spray_and_wait", "{ name = \"spray_and_wait\", copies = 10 }"),
];
const SEEDS: u64 = 8;
const SEEDS_QUICK: u64 = 2;

/// All that the study runs: each of these traces, or the one that was drawn, under three routers and buffers; in a
/// quick look the smallest and the largest.
///
/// # Errors
/// What is wrong with a trace.
pub fn plan(quick: bool, here: &[&Trace], scenarios: &Path) -> Result<Points, lightlag_scenario::Error> {
    let mut list = Vec::new();
    let buffers: &[&str] = if quick { &[BUFFERS[0], BUFFERS[2]] } else { &BUFFERS };
    for buffer in buffers {
        for trace in here {
            let data = Some(format!("{FOLDER}/{}", trace.data));
            add(&mut list, &Case { name: trace.name, file: &scenarios.join(trace.file), data, buffer })?;
        }
        if here.is_empty() {
            let file = scenarios.join(GENERATED);
            add(&mut list, &Case { name: "drawn", file: &file, data: None, buffer })?;
        }
    }
    Ok(Points::of(list, if quick { SEEDS_QUICK } else { SEEDS }, &[]))
}

/// The scenarios of two treatments in a cell; `None`: it is not one of this plan.
///
/// # Errors
/// What is wrong with a trace.
pub fn shown(
    [place, router, buffer]: &[&str; 3],
    names: [&str; 2],
    scenarios: &Path,
) -> Result<Option<[ScenarioFile; 2]>, lightlag_scenario::Error> {
    let trace = TRACES.iter().find(|trace| trace.name == *place);
    let file = scenarios.join(trace.map_or(GENERATED, |trace| trace.file));
    let data = trace.map(|trace| format!("{FOLDER}/{}", trace.data));
    let case = Case { name: place, file: &file, data, buffer };
    let all = on_records();
    let of = |name: &str| all.iter().find(|treatment| treatment.name == name);
    let value = ROUTERS.iter().find(|(name, _)| name == router);
    let (Some(one), Some(other), Some((_, value))) = (of(names[0]), of(names[1]), value) else {
        return Ok(None);
    };
    Ok(Some([case.treated(value, one)?, case.treated(value, other)?]))
}

/// A trace with a buffer.
struct Case<'a> {
    name: &'a str,
    file: &'a Path,
    /// The file of the trace.
    data: Option<String>,
    buffer: &'a str,
}

impl Case<'_> {
    fn read(&self, router: &str) -> Result<ScenarioFile, lightlag_scenario::Error> {
        let mut file = ScenarioFile::read(&[self.file])?;
        self.data.iter().try_for_each(|data| file.set(DATA, data))?;
        file.set(BUFFER, self.buffer)?;
        file.set("router", router)?;
        Ok(file)
    }
    fn treated(&self, router: &str, treatment: &Treatment) -> Result<ScenarioFile, lightlag_scenario::Error> {
        let mut file = self.read(router)?;
        treatment.set(&mut file)?;
        if treatment.role == Role::Unlimited {
            file.set(BUFFER, BEYOND)?;
        }
        Ok(file)
    }
}

/// A bound, for which routers make no difference, and all treatments under each router.
fn add(list: &mut Vec<Point>, case: &Case<'_>) -> Result<(), lightlag_scenario::Error> {
    let catalogue = Catalogue::default();
    let treatments = on_records();
    let columns = |router: &str, name: &str, role| columns([case.name, router, case.buffer], name, role);
    let bounded = only(&case.treated(ROUTERS[0].1, &treatments[0])?)?;
    list.push(Point { bounded: true, ..Point::new(columns("", "", Role::Bound), bounded) });
    for (router, value) in ROUTERS {
        for treatment in treatments.iter().filter(|one| one.fits(&catalogue, router)) {
            let scenario = only(&case.treated(value, treatment)?)?;
            list.push(Point::new(columns(router, &treatment.name, treatment.role), scenario));
        }
    }
    Ok(())
}
