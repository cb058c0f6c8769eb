//! How flows share the link: of one kind, and beside CUBIC.

use super::plan::{ALONE, APART, FIGURE, FLOWS, LOSS, OURS, RTT, VARIANT};
use super::view::levels;
use crate::claims::{Finding, Holds};
use crate::report::Table;
use crate::results::{Results, Row, number};

/// Least index that counts as equal.
const EQUAL: f64 = 0.95;
/// Of what CUBIC has alone, or of half of the link where that is less: least that is no starving.
const STARVES: f64 = 0.2;
/// Half of the link, in kbit/s.
const HALF: f64 = 500.0;

/// Means over the seeds of a metric where these columns have these values.
fn mean(results: &Results, places: &[(&str, String)], metric: &str) -> Option<f64> {
    let values = all(results, places, metric);
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn all(results: &Results, places: &[(&str, String)], metric: &str) -> Vec<f64> {
    let here = |row: &&Row| places.iter().all(|(column, value)| row.value(column) == Some(value));
    results.rows.iter().filter(here).filter_map(|row| row.metric(metric)).collect()
}

fn place(figure: &str, variant: &str, more: &[(&'static str, f64)]) -> Vec<(&'static str, String)> {
    let more = more.iter().map(|&(column, value)| (column, value.to_string()));
    [(FIGURE, figure.to_owned()), (VARIANT, variant.to_owned())].into_iter().chain(more).collect()
}

/// What flows get that share.
pub fn tables(results: &Results) -> Vec<Table> {
    vec![of_one_kind(results), beside(results)]
}

fn of_one_kind(results: &Results) -> Table {
    let counts = levels(results, "sharing", FLOWS);
    let mut rows = Vec::new();
    for variant in OURS {
        for rtt in levels(results, "sharing", RTT) {
            for apart in levels(results, "sharing", APART) {
                let cells = counts.iter().map(|&count| {
                    let here = place("sharing", variant, &[(RTT, rtt), (APART, apart), (FLOWS, count)]);
                    let least = all(results, &here, "jain").into_iter().reduce(f64::min);
                    let goodput = mean(results, &here, "goodput_bit_per_s");
                    least.zip(goodput).map_or("-".to_owned(), |(jain, bits)| {
                        format!("{jain:.3} ({} kbit/s)", number((bits / 1e3).round()))
                    })
                });
                let what = format!("{variant}, {rtt} s, {apart} round trips apart");
                rows.push([what].into_iter().chain(cells).collect());
            }
        }
    }
    let head = counts.iter().map(|count| format!("{count} flows"));
    Table {
        title: "Flows of one kind on one link".to_owned(),
        caption: "Least Jain index of the seeds, and goodput of all together from the first start to the last end; \
                  p = 0.001, files of 1 GB (250 MB of 16 flows, 100 MB in a quick look)."
            .to_owned(),
        head: ["round-trip time".to_owned()].into_iter().chain(head).collect(),
        rows,
    }
}

/// What ours and CUBIC get, and what CUBIC gets alone, in kbit/s.
fn contest(results: &Results, variant: &str, rtt: f64, loss: f64) -> Option<[f64; 3]> {
    let more = [(RTT, rtt), (LOSS, loss)];
    let here = place("beside", variant, &more);
    let kbit = |bits: f64| bits / 1e3;
    Some([
        mean(results, &here, "goodput_of_ours").map(kbit)?,
        mean(results, &here, "goodput_of_beside").map(kbit)?,
        mean(results, &place("beside", ALONE, &more), "goodput_bit_per_s").map(kbit)?,
    ])
}

fn beside(results: &Results) -> Table {
    let mut rows = Vec::new();
    for variant in OURS {
        for rtt in levels(results, "beside", RTT) {
            for loss in levels(results, "beside", LOSS) {
                let Some(each) = contest(results, variant, rtt, loss) else { continue };
                let cells = each.iter().map(|kbit| number((kbit * 10.0).round() / 10.0));
                rows.push([format!("{variant}, {rtt} s, p = {loss}")].into_iter().chain(cells).collect());
            }
        }
    }
    let head = ["kbit/s", "contact_rate", "CUBIC beside it", "CUBIC alone"];
    Table {
        title: "One flow beside one of CUBIC".to_owned(),
        caption: "Over 20000 s, both without end.".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    }
}

/// Whether flows of one kind are equal.
pub fn equal(results: &Results) -> Finding {
    let indices: Vec<f64> =
        OURS.iter().flat_map(|variant| all(results, &place("sharing", variant, &[]), "jain")).collect();
    let Some(least) = indices.iter().copied().reduce(f64::min) else {
        return Finding::untestable("these points were not run");
    };
    let below = indices.iter().filter(|jain| **jain < EQUAL).count();
    let holds = if below == 0 {
        Holds::Yes
    } else if below * 2 < indices.len() {
        Holds::Partly
    } else {
        Holds::No
    };
    let we_measure = format!("least index {least:.3}; {below} of {} runs below {EQUAL}", indices.len());
    Finding { holds, we_measure }
}

/// Whether ours and CUBIC live side by side.
pub fn lives_beside(results: &Results) -> Finding {
    let mut ok = Vec::new();
    let mut shown = Vec::new();
    for variant in OURS {
        for rtt in levels(results, "beside", RTT) {
            for loss in levels(results, "beside", LOSS) {
                let Some([ours, cubic, alone]) = contest(results, variant, rtt, loss) else { continue };
                ok.push(ours >= STARVES * HALF && cubic >= STARVES * alone.min(HALF));
                shown.push(format!(
                    "{rtt} s, p = {loss}: {} and {} ({} alone)",
                    number(ours.round()),
                    number((cubic * 10.0).round() / 10.0),
                    number((alone * 10.0).round() / 10.0)
                ));
            }
        }
    }
    let holds = match ok.iter().filter(|fine| **fine).count() {
        _ if ok.is_empty() => return Finding::untestable("these points were not run"),
        0 => Holds::No,
        n if n == ok.len() => Holds::Yes,
        _ => Holds::Partly,
    };
    Finding { holds, we_measure: format!("kbit/s of contact_rate and CUBIC: {}", shown.join("; ")) }
}
