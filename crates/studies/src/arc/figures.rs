//! The paper's figures from a table of results.

use super::plan::{ARC, LOSS, OURS, RTT, SIZE, variants};
use super::view::{goodput, goodputs, limit};
use crate::view::{levels, mark, told};
use lightlag_lab::figure::{self, Mark, Plot, Title};
use lightlag_lab::report::{Figure, Table};
use lightlag_lab::results::Results;
use lightlag_lab::statistics::Estimate;

const LIMIT: &str = "limit";

/// Every figure for which there are runs.
pub fn all(results: &Results) -> Vec<Figure> {
    let fixed = |x: f64, column: &str| match column {
        RTT => limit(x, 1e-3, 1e9),
        _ => limit(600.0, x, 1e9),
    };
    vec![
        over(
            results,
            ("figure_3", "Figure 3: goodput over the round-trip time", "p = 0.001 both ways, 1 GB."),
            (RTT, Title::with_unit("round-trip time", "s")),
            fixed,
        ),
        over(
            results,
            ("figure_4", "Figure 4: goodput over the loss", "Round trip of 600 s, 1 GB."),
            (LOSS, Title::plain("share of packets lost")),
            fixed,
        ),
        figure_5(results),
    ]
}

fn over(
    results: &Results,
    (id, title, caption): (&str, &str, &str),
    (column, x): (&str, Title),
    limit_at: impl Fn(f64, &str) -> f64,
) -> Figure {
    let mut marks = Vec::new();
    let mut seeds = Vec::new();
    for variant in variants() {
        for at in levels(results, id, column) {
            marks.extend(
                goodput(results, id, variant, &[(column, at)]).map(|value| mark(at, variant, None, value)),
            );
            let each = goodputs(results, id, variant, &[(column, at)]);
            seeds.extend(each.into_iter().map(|value| mark(at, variant, None, alone(value))));
        }
    }
    for at in levels(results, id, column) {
        marks.push(mark(at, LIMIT, None, alone(limit_at(at, column))));
    }
    drawn(id, title, caption, plot(x, marks, 1), &seeds)
}

fn figure_5(results: &Results) -> Figure {
    let mut marks = Vec::new();
    let mut seeds = Vec::new();
    for variant in [ARC].into_iter().chain(OURS) {
        for rtt in levels(results, "figure_5", RTT) {
            let panel = format!("round trip {rtt} s");
            for size in levels(results, "figure_5", SIZE) {
                let places = [(RTT, rtt), (SIZE, size)];
                let value = goodput(results, "figure_5", variant, &places);
                marks.extend(value.map(|value| mark(size, variant, Some(&panel), value)));
                let each = goodputs(results, "figure_5", variant, &places);
                seeds.extend(each.into_iter().map(|value| mark(size, variant, Some(&panel), alone(value))));
            }
        }
    }
    for rtt in levels(results, "figure_5", RTT) {
        for size in levels(results, "figure_5", SIZE) {
            let panel = format!("round trip {rtt} s");
            marks.push(mark(size, LIMIT, Some(&panel), alone(limit(rtt, 1e-3, size))));
        }
    }
    let x = Title::with_unit("file size", "B");
    drawn("figure_5", "Figure 5: goodput over the file size", "p = 0.001.", plot(x, marks, 3), &seeds)
}

fn alone(value: f64) -> Estimate {
    Estimate { mean: value, n: 1, half_width: None }
}

fn plot(x: Title, marks: Vec<Mark>, columns: usize) -> Plot {
    Plot {
        title: String::new(),
        x,
        y: Title::with_unit("goodput", "kbit/s"),
        series: Title::plain("transport and controller"),
        baseline_series: Some(LIMIT.to_owned()),
        columns,
        shared_y: true,
        marks,
    }
}

fn drawn(id: &str, title: &str, caption: &str, plot: Plot, seeds: &[Mark]) -> Figure {
    let more = "Lines join means, bars are 95 % intervals, faint points are single seeds. Dashed: the limit of a \
                sender that knows the rate and waits for nothing.";
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: format!("{caption} {more}"),
        specification: figure::log_lines(&plot, seeds),
    }
}

/// The numbers behind the figures, in kbit/s.
pub fn tables(results: &Results) -> Vec<Table> {
    let table = |(id, title, column): (&str, &str, &str)| {
        let at = levels(results, id, column);
        let mut rows: Vec<Vec<String>> = Vec::new();
        for variant in variants() {
            let cells =
                at.iter().map(|&x| goodput(results, id, variant, &[(column, x)]).map_or("-".into(), told));
            rows.push([variant.to_owned()].into_iter().chain(cells).collect());
        }
        let limits =
            at.iter().map(|&x| if column == RTT { limit(x, 1e-3, 1e9) } else { limit(600.0, x, 1e9) });
        rows.push([LIMIT.to_owned()].into_iter().chain(limits.map(lightlag_lab::results::number)).collect());
        let head = ["kbit/s".to_owned()].into_iter().chain(at.iter().map(f64::to_string)).collect();
        Table { title: title.to_owned(), caption: "Means and 95 % intervals.".to_owned(), head, rows }
    };
    let mut all: Vec<Table> = [
        ("figure_3", "Figure 3: goodput by round-trip time in seconds", RTT),
        ("figure_4", "Figure 4: goodput by loss, round trip 600 s", LOSS),
    ]
    .map(table)
    .to_vec();
    all.push(sizes(results));
    all.extend(super::sharing::tables(results));
    all
}

fn sizes(results: &Results) -> Table {
    let at = levels(results, "figure_5", SIZE);
    let mut rows = Vec::new();
    for variant in [ARC].into_iter().chain(OURS) {
        for rtt in levels(results, "figure_5", RTT) {
            let cells = at.iter().map(|&size| {
                goodput(results, "figure_5", variant, &[(RTT, rtt), (SIZE, size)]).map_or("-".into(), told)
            });
            rows.push([format!("{variant}, {rtt} s")].into_iter().chain(cells).collect());
        }
    }
    let head = ["kbit/s".to_owned()].into_iter().chain(at.iter().map(f64::to_string)).collect();
    let title = "Figure 5: goodput by file size in bytes".to_owned();
    Table { title, caption: "Means and 95 % intervals, by round-trip time.".to_owned(), head, rows }
}
