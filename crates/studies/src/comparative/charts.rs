//! The paper's figures from a table of results.

use super::cell::{BUFFER, DURATION, INTER_CONTACT, MECHANISM, MOBILITY, PERIOD, ROUTER};
use super::readings::{Data, Reading};
use crate::shared::charts::{figure, mark, named, plot};
use crate::shared::runs::Runs;
use lightlag_lab::figure::{self, Mark, Plot};
use lightlag_lab::report::Figure;
use lightlag_lab::results::Results;

const BASELINE: &str = "none";
const RATIO: (&str, &str) = ("delivery ratio", "");
const LATENCY: (&str, &str) = ("latency of delivered messages", "s");
const OVERHEAD: (&str, &str) = ("transfers per delivery beyond the last", "");
const DELIVERED: &str = "delivery_prob";
const OF_PERIOD: (&str, &str) = ("longest time between messages", "s");

/// Every figure for which there are runs.
pub fn all(results: &Results) -> Vec<Figure> {
    let data = Data::of(results, &Reading::PRIMARY);
    let mut figures = vec![figure_3(results)];
    figures.extend([figure_5(&data, "", ""), figure_6(&data), figure_7(&data, "", "")]);
    for (id, name) in [("_stop_and_wait", "stop-and-wait"), ("_all_to_all", "all to all")] {
        let data = Data::of(results, &Reading::named(name));
        figures.extend([figure_5(&data, id, name), figure_7(&data, id, name)]);
    }
    figures.push(figure_8(&data));
    figures.extend(ON_EARTH.iter().map(|of| on_earth(&data, of)));
    figures.into_iter().flatten().collect()
}

fn figure_3(results: &Results) -> Option<Figure> {
    let marks = Reading::all_interplanetary().into_iter().flat_map(|reading| {
        curves(&Data::of(results, &reading).figure_3, PERIOD, DELIVERED, Some(reading.name))
    });
    drawn(
        [
            "figure_3",
            "Figure 3: delivery ratio over the generation period, between planets",
            "Epidemic routing, buffers of 4000 kB, 2.5 Mbit/s, contacts of 1000 s, inter-contact time 1000 s. One panel \
             for each reading of the paper that was run; the first is the primary one.",
        ],
        mechanisms("Delivery ratio between planets", OF_PERIOD, RATIO, marks.collect()),
        figure::lines,
    )
}

fn figure_5(data: &Data<'_>, id: &str, reading: &str) -> Option<Figure> {
    let marks = grouped(&data.figure_5, INTER_CONTACT);
    drawn(
        [
            &format!("figure_5{id}"),
            &heading("Figure 5: delivery ratio over the inter-contact time", reading),
            "Buffers of 4000 kB, contacts of 1000 s, a message every 1 to 300 s. Slim bars: the same router without any \
             congestion control. AFNER works with epidemic routing only.",
        ],
        routers("Delivery ratio", ("inter-contact time", "s"), RATIO, marks),
        figure::bars,
    )
}

fn figure_6(data: &Data<'_>) -> Option<Figure> {
    let marks = data
        .figure_6
        .split(&[ROUTER])
        .into_iter()
        .flat_map(|(names, slice)| curves(&slice, BUFFER, "latency_avg", Some(names[0])));
    drawn(
        [
            "figure_6",
            "Figure 6: latency over the buffer size, between planets",
            "Inter-contact time and contacts of 1000 s, a message every 1 to 300 s. Only delivered messages count, so a \
             mechanism that delivers the hard messages looks slow; the tables give the delay with the undelivered \
             counted.",
        ],
        mechanisms("Latency between planets", ("buffer size", "kB"), LATENCY, marks.collect()),
        figure::lines,
    )
}

fn figure_7(data: &Data<'_>, id: &str, reading: &str) -> Option<Figure> {
    let marks = grouped(&data.figure_7, DURATION);
    drawn(
        [
            &format!("figure_7{id}"),
            &heading("Figure 7: delivery ratio over the contact duration", reading),
            "Buffers of 4000 kB, inter-contact time 1000 s, a message every 1 to 300 s. Slim bars: without congestion \
             control.",
        ],
        routers("Delivery ratio", ("contact duration", "s"), RATIO, marks),
        figure::bars,
    )
}

fn figure_8(data: &Data<'_>) -> Option<Figure> {
    let marks = curves(&data.figure_8, PERIOD, DELIVERED, None);
    drawn(
        [
            "figure_8",
            "Figure 8: delivery ratio over the generation period, on Earth",
            "50 nodes in random waypoint motion, epidemic routing, buffers of 1000 kB, 2.5 Mbit/s.",
        ],
        mechanisms("Delivery ratio on Earth", OF_PERIOD, RATIO, marks),
        figure::lines,
    )
}

/// A figure by mobility model: identifier, heading, metric and quantity.
type OnEarth = (&'static str, &'static str, &'static str, (&'static str, &'static str));

const ON_EARTH: [OnEarth; 3] = [
    ("figure_9", "Figure 9: delivery ratio by mobility model", DELIVERED, RATIO),
    ("figure_10", "Figure 10: latency by mobility model", "latency_avg", LATENCY),
    ("figure_11", "Figure 11: overhead by mobility model", "overhead_ratio", OVERHEAD),
];

fn on_earth(data: &Data<'_>, (id, title, metric, y): &OnEarth) -> Option<Figure> {
    let marks = by_mechanism(&data.figure_9, metric);
    let mut plot = routers(title, ("mechanism", ""), *y, marks);
    plot.shared_y = *metric == DELIVERED;
    let caption = "50 nodes, buffers of 500 kB, a message every 1 to 300 s. Slim bars: the same router without any \
                   congestion control. Panels other than of the delivery ratio have their own scales.";
    drawn([id, title, caption], plot, figure::bars)
}

/// A curve for each mechanism.
fn curves(view: &Runs<'_>, x: &str, metric: &str, panel: Option<&str>) -> Vec<Mark> {
    let curve = |(names, slice): (Vec<&str>, Runs<'_>)| {
        let marks = slice.along(x).into_iter();
        marks
            .filter_map(|(at, cell)| Some(mark(at, names[0], panel, cell.estimate(metric)?)))
            .collect::<Vec<_>>()
    };
    view.split(&[MECHANISM]).into_iter().flat_map(curve).collect()
}

/// A panel for each mechanism, a group of routers for each value.
fn grouped(view: &Runs<'_>, x: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    for mechanism in controlled(view) {
        let bars = view.split(&[x, ROUTER]).into_iter();
        marks.extend(
            bars.filter_map(|(names, cell)| {
                bar(&cell, mechanism, DELIVERED, [names[0], names[1], mechanism])
            }),
        );
    }
    marks
}

/// A panel for each mobility model, a group of routers for each mechanism.
fn by_mechanism(view: &Runs<'_>, metric: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (mobility, place) in view.split(&[MOBILITY]) {
        for mechanism in controlled(view) {
            let bars = place.split(&[ROUTER]).into_iter();
            marks.extend(bars.filter_map(|(router, cell)| {
                bar(&cell, mechanism, metric, [mechanism, router[0], mobility[0]])
            }));
        }
    }
    marks
}

fn controlled<'a>(view: &Runs<'a>) -> Vec<&'a str> {
    view.levels(MECHANISM).into_iter().filter(|mechanism| *mechanism != BASELINE).collect()
}

/// A bar, and the baseline across it.
fn bar(cell: &Runs<'_>, mechanism: &str, metric: &str, [x, router, panel]: [&str; 3]) -> Option<Mark> {
    let value = cell.only(MECHANISM, mechanism).estimate(metric)?;
    let baseline = cell.only(MECHANISM, BASELINE).estimate(metric);
    Some(Mark { baseline, ..named(x, router, Some(panel), value) })
}

fn mechanisms(title: &str, x: (&str, &str), y: (&str, &str), marks: Vec<Mark>) -> Plot {
    let baseline_series = Some(BASELINE.to_owned());
    Plot { title: title.to_owned(), baseline_series, ..plot("mechanism", x, y, marks) }
}

fn routers(title: &str, x: (&str, &str), y: (&str, &str), marks: Vec<Mark>) -> Plot {
    Plot { title: title.to_owned(), ..plot("router", x, y, marks) }
}

fn heading(title: &str, reading: &str) -> String {
    if reading.is_empty() { title.to_owned() } else { format!("{title} ({reading})") }
}

fn drawn(
    [id, title, caption]: [&str; 3],
    plot: Plot,
    draw: fn(&Plot) -> serde_json::Value,
) -> Option<Figure> {
    (!plot.marks.is_empty()).then(|| figure((id, title, caption), draw(&plot)))
}
