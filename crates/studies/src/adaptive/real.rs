//! The same connections between two kernels, in real time.
//!
//! [`crate::real`] makes the transfers; this module says which, and turns the measurements into rows and series.

use super::plan::{DAEMONS, KERNEL, KERNEL_2008, SCENARIOS};
use super::{EVERY_S, PAYLOAD};
use crate::shared::Measured;
use crate::shared::over_time::Series;
use crate::shared::points::{only, scenario};
use crate::shared::runs::{FIGURE, VARIANT};
use lightlag_lab::results::Row;
use lightlag_protocols::link::{Counts, LinkSpec};
use lightlag_protocols::time::Duration;

/// A setting of a kernel, below `/proc/sys/net/ipv4`.
pub type Setting = (&'static str, &'static str);

const TODAY: &[Setting] = &[];
/// Buffers as they were, and neither RACK nor tail loss probes.
const OF_2008: &[Setting] = &[
    ("tcp_rmem", "4096 87380 174760"),
    ("tcp_wmem", "4096 16384 174760"),
    ("tcp_recovery", "0"),
    ("tcp_early_retrans", "0"),
];
/// What all TCP between the kernels uses, whatever is their default.
pub const CONGESTION_CONTROL: &str = "cubic";
/// What is measured, by which seeds, with which kernel, and whether by two `lightlagd`.
const VARIANTS: [(&str, u64, &[Setting], bool); 3] =
    [(KERNEL_2008, 1, OF_2008, false), (KERNEL, 1, TODAY, false), (DAEMONS, 2, TODAY, true)];

/// A transfer without end for the study to make.
pub struct Transfer {
    /// What it is called.
    pub name: String,
    /// Of both kernels.
    pub settings: &'static [Setting],
    /// By two `lightlagd`; else by the kernels' TCP alone.
    pub by_daemons: bool,
    /// Of chance on the link.
    pub seed: u64,
    /// The link in both directions.
    pub links: [LinkSpec; 2],
    /// How long it lasts.
    pub span: Duration,
}

/// What was seen of a transfer.
pub struct Seen {
    /// Bytes that had come, in order, at the end of each second.
    pub delivered: Vec<u64>,
    /// Where the first byte was that is not the one that was sent.
    pub wrong_at: Option<u64>,
    /// Seconds, what carried it from then on, and why.
    pub changes: Vec<(f64, &'static str, String)>,
    /// What became of packets on the link there.
    pub counts: Counts,
    /// So late were packets on the link, but for one in a hundred, in microseconds.
    pub late_us: f64,
}

/// Makes transfers, all at the same time.
pub type Make<'a> = &'a dyn Fn(Vec<Transfer>) -> Result<Vec<Seen>, String>;

/// All variants in both scenarios: rows of the table of runs, and what the first seed of each did over time.
///
/// # Errors
/// One line: it cannot be made here.
pub fn run(make: Make) -> Result<Measured, String> {
    let (mut which, mut wanted) = (Vec::new(), Vec::new());
    for (index, (figure, _)) in SCENARIOS.iter().enumerate() {
        for (variant, seeds, settings, by_daemons) in VARIANTS {
            for seed in 1..=seeds {
                which.push((*figure, variant, seed));
                let (links, span) = link(index).map_err(|error| error.to_string())?;
                let name = format!("{figure}, {variant}, seed {seed}");
                wanted.push(Transfer { name, settings, by_daemons, seed, links, span });
            }
        }
    }
    let seen = make(wanted)?;
    let (mut rows, mut over_time) = (Vec::new(), Vec::new());
    for ((figure, variant, seed), seen) in which.into_iter().zip(seen) {
        rows.push(row((figure, variant), seed, &seen));
        if seed == 1 {
            let throughput = throughput(&seen.delivered);
            over_time.push(Series { figure, variant, throughput, changes: seen.changes });
        }
    }
    Ok(Measured { rows, over_time })
}

fn link(which: usize) -> Result<([LinkSpec; 2], Duration), lightlag_scenario::Error> {
    let point = only(&scenario::<&str>(SCENARIOS[which].1, [])?)?;
    let network = point.packets().expect("it is one of packets");
    let links = network.both_ways(None).expect("it has a link");
    Ok((links, network.head.duration))
}

fn row(names: (&str, &str), seed: u64, seen: &Seen) -> Row {
    let values =
        [(FIGURE, names.0), (VARIANT, names.1)].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let metrics = [
        ("delivered_bytes", seen.delivered.last().copied().unwrap_or_default() as f64),
        // Every byte was compared: what is missing after a wrong one is unknown.
        ("packets_missing", if seen.wrong_at.is_none() { 0.0 } else { f64::NAN }),
        ("packets_dropped", seen.counts.dropped as f64),
        ("packets_lost", seen.counts.lost as f64),
        ("timing_error_p99_us", seen.late_us),
        ("violations", f64::from(u8::from(seen.wrong_at.is_some()))),
    ];
    let metrics = metrics.map(|(name, value)| (name.into(), value)).to_vec();
    Row { point: usize::MAX, seed, values: values.to_vec(), metrics }
}

/// Packets in a second, averaged as those of the world are.
fn throughput(delivered: &[u64]) -> Vec<(f64, f64)> {
    let mut before = 0;
    let each = |(index, all): (usize, &[u64])| {
        let now = all[all.len() - 1];
        let packets = (now - before) as f64 / PAYLOAD / all.len() as f64;
        before = now;
        ((index * EVERY_S + all.len()) as f64, packets)
    };
    delivered.chunks(EVERY_S).enumerate().map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_of_each_becomes_a_row_and_a_line_over_time() {
        let make = |wanted: Vec<Transfer>| {
            let seen = |one: &Transfer| Seen {
                delivered: (1..=one.span.as_secs_f64() as u64).map(|second| second * 10 * 1024).collect(),
                wrong_at: None,
                changes: vec![(10.0, "datagrams", "why not".to_owned())],
                counts: Counts::default(),
                late_us: 3.0,
            };
            assert!(wanted.iter().all(|one| one.span == Duration::from_secs(1200)));
            Ok(wanted.iter().map(seen).collect())
        };
        let Measured { rows, over_time } = run(&make).unwrap();
        assert_eq!((rows.len(), over_time.len()), (8, 6));
        assert!(rows.iter().all(|row| row.metric("delivered_bytes") == Some(12_000.0 * 1024.0)));
        let throughput = &over_time[0].throughput;
        assert_eq!((throughput[0], throughput[239]), ((5.0, 10.0), (1200.0, 10.0)));
        assert_eq!(run(&|_| Err("not here".to_owned())).err(), Some("not here".to_owned()));
    }
}
