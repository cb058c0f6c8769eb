//! The numbers behind the figures.

use super::here::Here;
use super::plan::{LOSS, RATE, RATES, SPREAD, narrow, over_rates, silenced, spread};
use super::sockets::ON_SOCKETS;
use super::variants::{FAULTS, LTP, PAIRS, Variant};
use crate::shared::charts::{NONE, cell, row, table};
use crate::shared::runs::Runs;
use lightlag_lab::report::Table;
use lightlag_lab::results::{Results, number};
use lightlag_lab::statistics::estimate;

/// Every table.
pub fn all(results: &Results) -> Vec<Table> {
    let satellites = Runs::of(results, SPREAD).numbers(LOSS).into_iter().map(|loss| {
        let title = if loss == 0.0 {
            "Connections on the poster's link".to_owned()
        } else {
            format!("The same with {} % lost at random", number(100.0 * loss))
        };
        let faults: &[Variant] = if loss == 0.0 { &FAULTS } else { &[] };
        let variants: Vec<Variant> = spread().into_iter().chain(faults.iter().copied()).collect();
        connections(Here::satellite(results, loss), title, &variants)
    });
    let mut all: Vec<Table> = satellites.collect();
    let title = "Connections on 128 kbit/s, 100 ms, with a queue of 5 packets".to_owned();
    all.push(connections(Here::narrow(results), title, &narrow()));
    let title = "Connections on the poster's link, silent from 10 to 15 s".to_owned();
    all.push(connections(Here::silence(results), title, &silenced()));
    let sockets = Here::sockets(results);
    if !sockets.goodputs(ON_SOCKETS[0]).is_empty() {
        let title = "Connections on the poster's link, on real sockets".to_owned();
        all.push(connections(sockets, title, &ON_SOCKETS));
    }
    all.extend([goodputs(results), beyond(results), blocks(results)]);
    all
}

const HEAD: [&str; 12] = [
    "transport, controller or fault",
    "connections",
    "goodput, Mbit/s",
    "variation, %",
    "packets lost",
    "windows with losses",
    "answered once",
    "more",
    "not",
    "pauses",
    "by a timer",
    "longest, s",
];

fn connections(here: Here<'_>, title: String, variants: &[Variant]) -> Table {
    let of = |variant: &Variant| {
        let sum = |metric| match metric {
            "lost" if !variant.names_lost() => NONE.to_owned(),
            _ => number(here.sum(*variant, metric)),
        };
        let counts =
            ["lost", "losses", "answered_once", "answered_more", "answered_not", "pauses", "pauses_by_timer"];
        let digits =
            |value: Option<f64>, digits| value.map_or(NONE.to_owned(), |value| format!("{value:.digits$}"));
        let goodput = [digits(here.goodput(*variant), 4), digits(here.variation(*variant), 2)];
        let longest = digits(here.most(*variant, "longest_pause_s"), 2);
        let cells = goodput.into_iter().chain(counts.map(sum)).chain([longest]);
        row([variant.name, &here.goodputs(*variant).len().to_string()], cells)
    };
    let caption = "Sums over all connections of five minutes; a pause is 200 ms or more without data. A window with \
                   losses is judged where it held four packets or more and the connection continued; those of CCID 3 \
                   are not, as a rate reacts smoothly. TCP retransmits what is lost, which is counted as losses; \
                   neither TCP nor CCID 3 reports which packets were lost.";
    table((&title, caption), HEAD, variants.iter().map(of).collect())
}

/// A column for each link.
fn over_links(
    results: &Results,
    words: (&str, &str),
    rows: impl Iterator<Item = (&'static str, impl Fn(Here<'_>) -> String)>,
) -> Table {
    let [rates, losses] =
        [(RATES, RATE), (SPREAD, LOSS)].map(|(figure, column)| Runs::of(results, figure).numbers(column));
    let links = rates.iter().map(|&rate| (rate.to_string(), Here::rate(results, rate)));
    let satellites = losses.iter().map(|&loss| {
        let name = match loss {
            0.0 => "satellite".to_owned(),
            _ => format!("satellite, {} % lost", number(100.0 * loss)),
        };
        (name, Here::satellite(results, loss))
    });
    let (heads, heres): (Vec<String>, Vec<Here<'_>>) = links.chain(satellites).unzip();
    let rows = rows.map(|(name, cell)| row([name], heres.iter().map(|here| cell(*here)))).collect();
    table(words, row(["Mbit/s of the link"], heads), rows)
}

fn goodputs(results: &Results) -> Table {
    let of = |variant: Variant| (variant.name, move |here: Here<'_>| cell(estimate(&here.goodputs(variant))));
    let caption = "In Mbit/s, with 95 % intervals. Links of 20 Mbit/s and more have one run.";
    let words = ("Throughput over links of many rates", caption);
    over_links(results, words, over_rates().into_iter().map(of))
}

fn beyond(results: &Results) -> Table {
    let of = |pair: (Variant, Variant)| {
        let cell = move |here: Here<'_>| {
            here.beyond(pair).map_or(NONE.to_owned(), |percent| format!("{percent:+.2}"))
        };
        (pair.1.name, cell)
    };
    let caption = "Percent of TCP's goodput with the same controller, on the same seeds.";
    over_links(results, ("DCCP beyond TCP", caption), PAIRS.into_iter().map(of))
}

/// LTP over UDP and over DCCP: goodput, and the packets that it takes.
fn blocks(results: &Results) -> Table {
    let here = Here::collapse(results);
    let of = |variant: Variant| {
        let whole = |metric, scale: f64| {
            let value = here.average(variant, metric);
            value.map_or(NONE.to_owned(), |value| format!("{:.0}", value / scale))
        };
        let goodput = here.goodput(variant).map_or(NONE.to_owned(), |goodput| format!("{goodput:.3}"));
        let counts = ["sent_of_one", "repaired_of_one", "packets_dropped"].map(|metric| whole(metric, 1.0));
        row([variant.name], [goodput].into_iter().chain(counts).chain([whole("delivered_beside", 1e3)]))
    };
    let head = [
        "LTP over",
        "goodput, Mbit/s",
        "segments sent",
        "of them repairs",
        "packets dropped",
        "delivered beside, kB",
    ];
    let caption = "Means of five minutes on the poster's link. Dropped are packets of the queue, those of the traffic beside \
                   and of both directions included.";
    table(("LTP over UDP and over DCCP", caption), head, LTP.into_iter().map(of).collect())
}
