//! How flows share the link: of one kind, and beside CUBIC.

use super::plan::{ALONE, APART, FLOWS, LOSS, OURS, RTT};
use super::view::goodput;
use crate::view::{found, levels, metrics};
use lightlag_lab::report::Finding;
use lightlag_lab::report::Table;
use lightlag_lab::results::{Results, number};
use lightlag_lab::statistics::estimate;

/// Least index that counts as equal.
const EQUAL: f64 = 0.95;
/// Of what CUBIC has alone, or of half of the link where that is less: least that is no starving.
const STARVES: f64 = 0.2;
/// Half of the link, in kbit/s.
const HALF: f64 = 500.0;

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
                    let here = [(RTT, rtt), (APART, apart), (FLOWS, count)];
                    let jain = metrics(results, "sharing", variant, &here, "jain");
                    let least = jain.into_iter().reduce(f64::min);
                    let goodput = goodput(results, "sharing", variant, &here);
                    least.zip(goodput).map_or("-".to_owned(), |(jain, kbit)| {
                        format!("{jain:.3} ({} kbit/s)", number(kbit.mean.round()))
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
        caption: "Jain index, and goodput of all together from the first start to the last end; p = 0.001, files of \
                  1 GB at 600 s and 250 MB at 10 s, of 16 flows 250 MB and 100 MB (100 MB in a quick look)."
            .to_owned(),
        head: ["round-trip time".to_owned()].into_iter().chain(head).collect(),
        rows,
    }
}

/// What ours and CUBIC get, and what CUBIC gets alone, in kbit/s.
fn contest(results: &Results, variant: &str, rtt: f64, loss: f64) -> Option<[f64; 3]> {
    let here = [(RTT, rtt), (LOSS, loss)];
    let mean = |metric| {
        let kbit = metrics(results, "beside", variant, &here, metric).into_iter().map(|bits| bits / 1e3);
        estimate(&kbit.collect::<Vec<_>>()).map(|value| value.mean)
    };
    let alone = goodput(results, "beside", ALONE, &here)?.mean;
    Some([mean("goodput_of_ours")?, mean("goodput_of_beside")?, alone])
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
        caption: "Over 20000 s, both without end. At 600 s CUBIC leaves in bursts that a queue of 100 packets cuts: \
                  beside a flow that is held at half of the link it gets 4 to 6 kbit/s."
            .to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    }
}

/// Whether flows of one kind are equal.
pub fn equal(results: &Results) -> Finding {
    let indices: Vec<f64> =
        OURS.iter().flat_map(|variant| metrics(results, "sharing", variant, &[], "jain")).collect();
    let least = indices.iter().copied().fold(f64::INFINITY, f64::min);
    let equal: Vec<bool> = indices.iter().map(|jain| *jain >= EQUAL).collect();
    let below = equal.iter().filter(|equal| !**equal).count();
    found(&equal, format!("least index {least:.3}; {below} of {} runs below {EQUAL}", indices.len()))
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
    found(&ok, format!("kbit/s of contact_rate and CUBIC: {}", shown.join("; ")))
}
