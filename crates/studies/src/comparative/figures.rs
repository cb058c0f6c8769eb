//! The paper's figures from a table of results.

use super::cell::{BUFFER, DURATION, INTER_CONTACT, MECHANISM, MOBILITY, PERIOD, ROUTER};
use crate::comparative::claims::view::{Data, Reading, View};
use lightlag_lab::figure::{self, Mark, Place, Plot, Title};
use lightlag_lab::report::Figure;
use lightlag_lab::results::Results;

const BASELINE: &str = "none";
const RATIO: (&str, &str) = ("delivery_prob", "delivery ratio");
const LATENCY: (&str, &str) = ("latency_avg", "latency of delivered messages");
const OVERHEAD: (&str, &str) = ("overhead_ratio", "transfers per delivery beyond the last");

/// Every figure for which there are runs.
pub(super) fn all(results: &Results) -> Vec<Figure> {
    let data = Data::of(results, &Reading::PRIMARY);
    let mut figures =
        vec![figure_3(results), figure_5(&data, "", ""), figure_6(&data), figure_7(&data, "", "")];
    for (id, name) in [("stop_and_wait", "stop-and-wait"), ("all_to_all", "all to all")] {
        let data = Data::of(results, &Reading::named(name));
        figures.push(figure_5(&data, id, name));
        figures.push(figure_7(&data, id, name));
    }
    figures.extend([figure_8(&data), figure_9(&data), figure_10(&data), figure_11(&data)]);
    figures.into_iter().flatten().collect()
}

fn figure_3(results: &Results) -> Option<Figure> {
    let marks: Vec<Mark> = Reading::all_interplanetary()
        .iter()
        .flat_map(|reading| {
            let view = Data::of(results, reading).figure_3;
            curves(&view, PERIOD, RATIO.0, Some(reading.name))
        })
        .collect();
    let plot = Plot {
        x: Title::with_unit("longest time between messages", "s"),
        ..mechanisms("Delivery ratio between planets", Title::plain(RATIO.1), marks)
    };
    drawn(
        "figure_3",
        "Figure 3: delivery ratio over the generation period, between planets",
        "Epidemic routing, buffers of 4000 kB, 2.5 Mbit/s, contacts of 1000 s, inter-contact time 1000 s. One panel for \
         each reading of the paper that was run; the first is the primary one.",
        plot,
        figure::lines,
    )
}

fn figure_5(data: &Data<'_>, id: &str, reading: &str) -> Option<Figure> {
    let plot = Plot {
        x: Title::with_unit("inter-contact time", "s"),
        ..routers("Delivery ratio", Title::plain(RATIO.1), grouped(&data.figure_5, INTER_CONTACT))
    };
    drawn(
        &variant("figure_5", id),
        &heading("Figure 5: delivery ratio over the inter-contact time", reading),
        "Buffers of 4000 kB, contacts of 1000 s, a message every 1 to 300 s. Slim bars: the same router without any \
         congestion control. AFNER works with epidemic routing only.",
        plot,
        figure::bars,
    )
}

fn figure_6(data: &Data<'_>) -> Option<Figure> {
    let view = &data.figure_6;
    let marks = view
        .levels(ROUTER)
        .into_iter()
        .flat_map(|router| curves(&view.only(ROUTER, router), BUFFER, LATENCY.0, Some(router)))
        .collect();
    let plot = Plot {
        x: Title::with_unit("buffer size", "kB"),
        ..mechanisms("Latency between planets", Title::with_unit(LATENCY.1, "s"), marks)
    };
    drawn(
        "figure_6",
        "Figure 6: latency over the buffer size, between planets",
        "Inter-contact time and contacts of 1000 s, a message every 1 to 300 s. Only what is delivered counts, so a \
         mechanism that delivers the hard messages looks slow; the tables give the delay with the undelivered counted.",
        plot,
        figure::lines,
    )
}

fn figure_7(data: &Data<'_>, id: &str, reading: &str) -> Option<Figure> {
    let plot = Plot {
        x: Title::with_unit("contact duration", "s"),
        ..routers("Delivery ratio", Title::plain(RATIO.1), grouped(&data.figure_7, DURATION))
    };
    drawn(
        &variant("figure_7", id),
        &heading("Figure 7: delivery ratio over the contact duration", reading),
        "Buffers of 4000 kB, inter-contact time 1000 s, a message every 1 to 300 s. Slim bars: without congestion \
         control.",
        plot,
        figure::bars,
    )
}

fn figure_8(data: &Data<'_>) -> Option<Figure> {
    let plot = Plot {
        x: Title::with_unit("longest time between messages", "s"),
        ..mechanisms(
            "Delivery ratio on Earth",
            Title::plain(RATIO.1),
            curves(&data.figure_8, PERIOD, RATIO.0, None),
        )
    };
    drawn(
        "figure_8",
        "Figure 8: delivery ratio over the generation period, on Earth",
        "50 nodes in random waypoint motion, epidemic routing, buffers of 1000 kB, 2.5 Mbit/s.",
        plot,
        figure::lines,
    )
}

fn figure_9(data: &Data<'_>) -> Option<Figure> {
    on_earth(
        data,
        RATIO,
        Title::plain(RATIO.1),
        true,
        "figure_9",
        "Figure 9: delivery ratio by mobility model",
    )
}

fn figure_10(data: &Data<'_>) -> Option<Figure> {
    let y = Title::with_unit(LATENCY.1, "s");
    on_earth(data, LATENCY, y, false, "figure_10", "Figure 10: latency by mobility model")
}

fn figure_11(data: &Data<'_>) -> Option<Figure> {
    on_earth(
        data,
        OVERHEAD,
        Title::plain(OVERHEAD.1),
        false,
        "figure_11",
        "Figure 11: overhead by mobility model",
    )
}

fn on_earth(
    data: &Data<'_>,
    metric: (&str, &str),
    y: Title,
    shared_y: bool,
    id: &str,
    title: &str,
) -> Option<Figure> {
    let marks = by_mechanism(&data.figure_9, metric.0);
    let plot = Plot { x: Title::plain("mechanism"), shared_y, ..routers(title, y, marks) };
    let caption = "50 nodes, buffers of 500 kB, a message every 1 to 300 s. Slim bars: the same router without any \
                   congestion control. Panels other than of the delivery ratio have their own scales.";
    drawn(id, title, caption, plot, figure::bars)
}

/// A curve for each mechanism.
fn curves(view: &View<'_>, x: &str, metric: &str, panel: Option<&str>) -> Vec<Mark> {
    let curve = |mechanism: &str| {
        let slice = view.only(MECHANISM, mechanism);
        let mark = |(at, cell): (f64, View<'_>)| {
            Some(Mark {
                x: Place::At(at),
                series: mechanism.to_string(),
                panel: panel.map(str::to_string),
                value: cell.estimate(metric)?,
                baseline: None,
            })
        };
        slice.along(x).into_iter().filter_map(mark).collect::<Vec<_>>()
    };
    view.levels(MECHANISM).into_iter().flat_map(curve).collect()
}

/// A panel for each mechanism, a group of routers for each value.
fn grouped(view: &View<'_>, x: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    for mechanism in controlled(view) {
        for level in view.levels(x) {
            let place = view.only(x, level);
            marks.extend(place.levels(ROUTER).into_iter().filter_map(|router| {
                bar(&place.only(ROUTER, router), mechanism, RATIO.0, level, router, mechanism)
            }));
        }
    }
    marks
}

/// A panel for each mobility model, a group of routers for each mechanism.
fn by_mechanism(view: &View<'_>, metric: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    for mobility in view.levels(MOBILITY) {
        let place = view.only(MOBILITY, mobility);
        for mechanism in controlled(view) {
            marks.extend(place.levels(ROUTER).into_iter().filter_map(|router| {
                bar(&place.only(ROUTER, router), mechanism, metric, mechanism, router, mobility)
            }));
        }
    }
    marks
}

fn controlled<'a>(view: &View<'a>) -> Vec<&'a str> {
    view.levels(MECHANISM).into_iter().filter(|mechanism| *mechanism != BASELINE).collect()
}

fn bar(cell: &View<'_>, mechanism: &str, metric: &str, x: &str, router: &str, panel: &str) -> Option<Mark> {
    Some(Mark {
        x: Place::Named(x.to_string()),
        series: router.to_string(),
        panel: Some(panel.to_string()),
        value: cell.only(MECHANISM, mechanism).estimate(metric)?,
        baseline: cell.only(MECHANISM, BASELINE).estimate(metric),
    })
}

fn mechanisms(title: &str, y: Title, marks: Vec<Mark>) -> Plot {
    Plot {
        title: title.to_string(),
        x: Title::plain(""),
        y,
        series: Title::plain("mechanism"),
        baseline_series: Some(BASELINE.to_string()),
        columns: 2,
        shared_y: true,
        marks,
    }
}

fn routers(title: &str, y: Title, marks: Vec<Mark>) -> Plot {
    Plot { series: Title::plain("router"), baseline_series: None, ..mechanisms(title, y, marks) }
}

fn variant(figure: &str, id: &str) -> String {
    if id.is_empty() { figure.to_string() } else { format!("{figure}_{id}") }
}

fn heading(title: &str, reading: &str) -> String {
    if reading.is_empty() { title.to_string() } else { format!("{title} ({reading})") }
}

fn drawn(
    id: &str,
    title: &str,
    caption: &str,
    plot: Plot,
    draw: fn(&Plot) -> serde_json::Value,
) -> Option<Figure> {
    (!plot.marks.is_empty()).then(|| Figure {
        id: id.to_string(),
        title: title.to_string(),
        caption: caption.to_string(),
        specification: draw(&plot),
    })
}
