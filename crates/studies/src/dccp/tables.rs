//! The numbers behind the figures.

use super::plan::{LOSS, RATE, RATES, SPREAD, narrow, over_rates, silenced, spread};
use super::sockets::ON_SOCKETS;
use super::variants::{FAULTS, PAIRS, Variant};
use super::view::Here;
use crate::view::{levels, told};
use lightlag_lab::report::Table;
use lightlag_lab::results::{Results, number};
use lightlag_lab::statistics::estimate;

/// What stands where there is no value.
const NONE: &str = "-";

/// Every table.
pub fn all(results: &Results) -> Vec<Table> {
    let satellites = levels(results, SPREAD, LOSS).into_iter().map(|loss| {
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
    all.extend([goodputs(results), beyond(results)]);
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
    let row = |variant: &Variant| {
        let goodputs = here.goodputs(*variant);
        let sum = |metric| match metric {
            "lost" if !variant.names_lost() => NONE.to_owned(),
            _ => number(here.sum(*variant, metric)),
        };
        let counts =
            ["lost", "losses", "answered_once", "answered_more", "answered_not", "pauses", "pauses_by_timer"];
        [variant.name.to_owned(), goodputs.len().to_string()]
            .into_iter()
            .chain([
                here.goodput(*variant).map_or(NONE.to_owned(), |mean| format!("{mean:.4}")),
                here.variation(*variant).map_or(NONE.to_owned(), |percent| format!("{percent:.2}")),
            ])
            .chain(counts.map(sum))
            .chain([here.most(*variant, "longest_pause_s").map_or(NONE.to_owned(), |s| format!("{s:.2}"))])
            .collect()
    };
    let caption = "Sums over all connections of five minutes; a pause is 200 ms or more without data. A window with \
                   losses is judged where it held four packets or more and the connection went on; those of CCID 3 \
                   are not, as a rate answers smoothly. TCP sends again what is lost, which is counted as losses; which packets were lost \
                   neither it nor CCID 3 tells.";
    Table {
        title,
        caption: caption.to_owned(),
        head: HEAD.map(str::to_owned).to_vec(),
        rows: variants.iter().map(row).collect(),
    }
}

fn over_links(
    results: &Results,
    (title, caption): (&str, &str),
    names: impl Iterator<Item = (&'static str, impl Fn(Here<'_>) -> String)>,
) -> Table {
    let rates = levels(results, RATES, RATE);
    let heres: Vec<Here<'_>> = rates
        .iter()
        .map(|&rate| Here::rate(results, rate))
        .chain(levels(results, SPREAD, LOSS).into_iter().map(|loss| Here::satellite(results, loss)))
        .collect();
    let lossy = levels(results, SPREAD, LOSS).into_iter().map(|loss| match loss {
        0.0 => "satellite".to_owned(),
        _ => format!("satellite, {} % lost", number(100.0 * loss)),
    });
    let head =
        ["Mbit/s of the link".to_owned()].into_iter().chain(rates.iter().map(f64::to_string)).chain(lossy);
    let row = |(name, cell): (&str, _)| {
        let cell: &dyn Fn(Here<'_>) -> String = &cell;
        [name.to_owned()].into_iter().chain(heres.iter().map(|here| cell(*here))).collect()
    };
    Table {
        title: title.to_owned(),
        caption: caption.to_owned(),
        head: head.collect(),
        rows: names.map(row).collect(),
    }
}

fn goodputs(results: &Results) -> Table {
    let cells = over_rates().into_iter().map(|variant| {
        let cell = move |here: Here<'_>| estimate(&here.goodputs(variant)).map_or(NONE.to_owned(), told);
        (variant.name, cell)
    });
    let caption = "In Mbit/s, with 95 % intervals. Links of 20 Mbit/s and more have one run.";
    over_links(results, ("Throughput over links of many rates", caption), cells)
}

fn beyond(results: &Results) -> Table {
    let cells = PAIRS.into_iter().map(|pair| {
        let cell = move |here: Here<'_>| {
            here.beyond(pair).map_or(NONE.to_owned(), |percent| format!("{percent:+.2}"))
        };
        (pair.1.name, cell)
    });
    let caption = "Percent of TCP's goodput with the same controller, on the same seeds.";
    over_links(results, ("DCCP beyond TCP", caption), cells)
}
