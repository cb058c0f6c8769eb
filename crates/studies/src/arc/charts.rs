//! The paper's figures, the numbers behind them, and how flows share.

use super::plan::{APART, FLOWS, LOSS, OF_SIZES, OURS, RTT, SIZE, variants};
use super::{OVERLAP, contests, friendliness, goodput, goodputs, limit};
use crate::shared::charts::{NONE, alone, cell, figure, heads, mark, plot, row, table};
use crate::shared::runs::{Runs, least};
use lightlag_lab::figure::{self, Mark};
use lightlag_lab::report::{Figure, Table};
use lightlag_lab::results::{Results, number};

const LIMIT: &str = "limit";
/// Figures over one column, and of the table behind each: identifier, heading, caption, column, axis, heading.
const OVER: [[&str; 7]; 2] = [
    [
        "figure_3",
        "Figure 3: goodput over the round-trip time",
        "p = 0.001 in both directions, 1 GB.",
        RTT,
        "round-trip time",
        "s",
        "Figure 3: goodput by round-trip time in seconds",
    ],
    [
        "figure_4",
        "Figure 4: goodput over the loss",
        "Round trip of 600 s, 1 GB.",
        LOSS,
        "share of packets lost",
        "",
        "Figure 4: goodput by loss, round trip 600 s",
    ],
];

/// The limit of a figure over round-trip times, or over losses.
fn limit_at(column: &str, x: f64) -> f64 {
    if column == RTT { limit(x, 1e-3, 1e9) } else { limit(600.0, x, 1e9) }
}

/// Every figure.
pub fn figures(results: &Results) -> Vec<Figure> {
    OVER.iter().map(|of| over(results, of)).chain([figure_5(results)]).collect()
}

fn over(results: &Results, [id, title, caption, column, x, unit, _]: &[&str; 7]) -> Figure {
    let levels = Runs::of(results, id).numbers(column);
    let mut curves = Curves::default();
    for variant in variants() {
        levels.iter().for_each(|&at| curves.add(results, (id, variant), &[(column, at)], None));
    }
    let limits = levels.iter().map(|&at| mark(at, LIMIT, None, alone(limit_at(column, at))));
    curves.marks.extend(limits);
    curves.drawn((id, title, caption), (x, unit), 1)
}

fn figure_5(results: &Results) -> Figure {
    let id = "figure_5";
    let (rtts, sizes) = (Runs::of(results, id).numbers(RTT), Runs::of(results, id).numbers(SIZE));
    let places: Vec<(f64, f64)> =
        rtts.iter().flat_map(|&rtt| sizes.iter().map(move |&size| (rtt, size))).collect();
    let panel = |rtt: f64| format!("round trip {rtt} s");
    let mut curves = Curves::default();
    for variant in OF_SIZES {
        for &(rtt, size) in &places {
            curves.add(results, (id, variant), &[(SIZE, size), (RTT, rtt)], Some(&panel(rtt)));
        }
    }
    let limits =
        places.iter().map(|&(rtt, size)| mark(size, LIMIT, Some(&panel(rtt)), alone(limit(rtt, 1e-3, size))));
    curves.marks.extend(limits);
    curves.drawn((id, "Figure 5: goodput over the file size", "p = 0.001."), ("file size", "B"), 3)
}

/// Means with intervals, and single seeds behind them.
#[derive(Default)]
struct Curves {
    marks: Vec<Mark>,
    seeds: Vec<Mark>,
}

impl Curves {
    /// A variant at some places, the first of which is the axis.
    fn add(
        &mut self,
        results: &Results,
        (figure, variant): (&str, &str),
        places: &[(&str, f64)],
        panel: Option<&str>,
    ) {
        let x = places[0].1;
        let value = goodput(results, figure, variant, places);
        self.marks.extend(value.map(|value| mark(x, variant, panel, value)));
        let each = goodputs(results, figure, variant, places).into_iter();
        self.seeds.extend(each.map(|value| mark(x, variant, panel, alone(value))));
    }

    fn drawn(self, (id, title, caption): (&str, &str, &str), x: (&str, &str), columns: usize) -> Figure {
        let more = "Lines connect means, bars are 95 % intervals (those that reach zero end at the axis), faint points \
                    are single seeds. Dashed: the limit of a sender that knows the rate and never waits.";
        let mut plot = plot("transport and controller", x, ("goodput", "kbit/s"), self.marks);
        plot.baseline_series = Some(LIMIT.to_owned());
        plot.columns = columns;
        figure((id, title, &format!("{caption} {more}")), figure::log_lines(&plot, &self.seeds))
    }
}

/// The numbers behind the figures, in kbit/s.
pub fn tables(results: &Results) -> Vec<Table> {
    let table_over = |[id, _, _, column, _, _, title]: &[&str; 7]| {
        let at = Runs::of(results, id).numbers(column);
        let of =
            |variant| row([variant], at.iter().map(|&x| cell(goodput(results, id, variant, &[(column, x)]))));
        let limits = row([LIMIT], at.iter().map(|&x| number(limit_at(column, x))));
        let rows = variants().into_iter().map(of).chain([limits]).collect();
        table((title, "Means and 95 % intervals."), heads(["kbit/s"], &at), rows)
    };
    let over = OVER.iter().map(table_over);
    over.chain([sizes(results), of_one_kind(results), beside(results), beside_new_reno(results)]).collect()
}

fn sizes(results: &Results) -> Table {
    let runs = Runs::of(results, "figure_5");
    let at = runs.numbers(SIZE);
    let mut rows = Vec::new();
    for variant in OF_SIZES {
        for rtt in runs.numbers(RTT) {
            let value =
                |&size: &f64| cell(goodput(results, "figure_5", variant, &[(RTT, rtt), (SIZE, size)]));
            rows.push(row([&format!("{variant}, {rtt} s")], at.iter().map(value)));
        }
    }
    let words = ("Figure 5: goodput by file size in bytes", "Means and 95 % intervals, by round-trip time.");
    table(words, heads(["kbit/s"], &at), rows)
}

fn of_one_kind(results: &Results) -> Table {
    let runs = Runs::of(results, "sharing");
    let counts = runs.numbers(FLOWS);
    let mut rows = Vec::new();
    for variant in OURS {
        for rtt in runs.numbers(RTT) {
            for apart in runs.numbers(APART) {
                let cells = counts.iter().map(|&count| {
                    let here = [(RTT, rtt), (APART, apart), (FLOWS, count)];
                    let [jain, overlap] =
                        ["jain", OVERLAP].map(|metric| least(&runs.at(variant, &here).each(metric)));
                    let goodput = goodput(results, "sharing", variant, &here);
                    jain.zip(overlap).zip(goodput).map_or(NONE.to_owned(), |((jain, overlap), kbit)| {
                        format!("{jain:.3} ({} kbit/s, {:.0} %)", number(kbit.mean.round()), 100.0 * overlap)
                    })
                });
                rows.push(row([&format!("{variant}, {rtt} s, {apart} round trips apart")], cells));
            }
        }
    }
    let caption = "Least Jain index; goodput of all together from the first start to the last end; least share of the \
                   shortest flow's time in which all of them sent. The rows say how many round trips the last flow starts after the first; \
                   p = 0.001; all flows of a run send 640 MB together at 600 s, and 160 MB at 10 s.";
    let head = row(["round-trip time"], counts.iter().map(|count| format!("{count} flows")));
    table(("Flows of one kind on one link", caption), head, rows)
}

fn beside(results: &Results) -> Table {
    let one = |(variant, rtt, loss, each): (&str, f64, f64, [f64; 3])| {
        let cells = each.into_iter().map(|kbit| number((kbit * 10.0).round() / 10.0));
        row([&format!("{variant}, {rtt} s, p = {loss}")], cells)
    };
    let caption = "Over 20000 s, both without end. At 600 s CUBIC leaves in bursts that a queue of 100 packets cuts: \
                   beside a flow that is held at half of the link it gets 4 to 6 kbit/s.";
    let head = ["kbit/s", "contact_rate", "CUBIC beside it", "CUBIC alone"];
    table(("One flow beside one of CUBIC", caption), head, contests(results).into_iter().map(one).collect())
}

fn beside_new_reno(results: &Results) -> Table {
    let one = |(rtt, loss, each): (f64, f64, [f64; 3])| {
        row([&format!("{rtt} s, p = {loss}")], each.into_iter().map(|kbit| number(kbit.round())))
    };
    let caption = "Over 5000 s, both without end; the last column is a NewReno beside another.";
    let head = ["kbit/s", "ARC", "NewReno beside it", "NewReno beside NewReno"];
    table(("ARC beside NewReno", caption), head, friendliness(results).into_iter().map(one).collect())
}
