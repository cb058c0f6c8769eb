//! The charts of a direction of a flow: four over one axis of time, which are zoomed and moved together.

use crate::figure::{PALETTE, SCHEMA};
use lightlag_capture::analysis::{Cell, Graph, Series};
use serde_json::{Value, json};

/// Bars of throughput.
const BINS: usize = 200;
const WIDTH: u32 = 800;
/// Least gap between two labels of an axis, in pixels.
const LABEL_GAP: u32 = 8;

/// What the charts of a direction need besides its series.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// When the capture began.
    pub began_ns: i64,
    /// Numbers are those of packets, not of bytes.
    pub numbers_packets: bool,
}

/// Time and sequence as tcptrace draws them, throughput, round trips, and what was outstanding.
pub fn charts(title: &str, graph: &Graph, scene: Scene) -> Value {
    let unit = if scene.numbers_packets { "packets" } else { "bytes" };
    json!({
        "$schema": SCHEMA,
        "title": title,
        "params": [{
            "name": "zoom",
            "select": {"type": "interval", "encodings": ["x", "y"]},
            "bind": "scales",
            "views": ["sequence", "throughput", "rtt", "outstanding"],
        }],
        "vconcat": [
            sequence(graph, scene, unit),
            throughput(graph, scene),
            round_trips(graph, scene),
            outstanding(graph, scene, unit),
        ],
    })
}

fn x() -> Value {
    json!({"field": "t", "type": "quantitative", "title": "time (s)", "scale": {"zero": false},
           "axis": {"labelSeparation": LABEL_GAP}})
}

fn y(field: &str, title: &str) -> Value {
    json!({"field": field, "type": "quantitative", "title": title})
}

/// What is drawn in one way: its name in the legend, its colour, its points.
struct Trace<'a> {
    name: &'a str,
    mark: Value,
    series: &'a Series,
}

fn sequence(graph: &Graph, scene: Scene, unit: &str) -> Value {
    let origin = graph.sent.cells().first().map_or(0, |cell| cell.low);
    let step = || json!({"type": "line", "interpolate": "step-after", "strokeWidth": 1.2});
    let bar = |width: f64| json!({"type": "rule", "strokeWidth": width});
    let again = if scene.numbers_packets { "lost" } else { "sent again" };
    let traces = [
        Trace { name: "sent", mark: bar(1.5), series: &graph.sent },
        Trace { name: "acknowledged", mark: step(), series: &graph.acks },
        Trace { name: "window's edge", mark: step(), series: &graph.edge },
        Trace { name: "arrived beyond (SACK)", mark: bar(2.0), series: &graph.blocks },
        Trace { name: again, mark: bar(3.0), series: &graph.again },
    ];
    let colours = [PALETTE[0], PALETTE[2], PALETTE[4], PALETTE[3], PALETTE[1]];
    // The legend names what is there.
    let (names, range): (Vec<&str>, Vec<&str>) = traces
        .iter()
        .zip(colours)
        .filter(|(trace, _)| !trace.series.cells().is_empty())
        .map(|(trace, colour)| (trace.name, colour))
        .unzip();
    let colour = json!({"domain": names, "range": range});
    let title = format!("sequence number ({unit})");
    let layers: Vec<Value> = traces
        .iter()
        .zip(0..)
        .map(|(trace, place)| {
            let is_line = trace.mark["type"] == "line";
            let values: Vec<Value> = trace
                .series
                .cells()
                .iter()
                .map(|cell| {
                    let low = if is_line { cell.high } else { cell.low };
                    json!({"t": scene.time(cell), "number": relative(low, origin), "to": relative(cell.high, origin)})
                })
                .collect();
            let mut encoding = json!({
                "x": x(),
                "y": y("number", &title),
                "color": {"datum": trace.name, "scale": colour, "title": null, "legend": {"orient": "top"}},
            });
            // A number that lies one below zero asks for no further step of the axis.
            encoding["y"]["scale"] = json!({"nice": false});
            if !is_line {
                encoding["y2"] = json!({"field": "to"});
            }
            let mut layer = json!({"data": {"values": values}, "mark": trace.mark, "encoding": encoding});
            if place == 0 {
                layer["name"] = json!("sequence");
            }
            layer
        })
        .collect();
    json!({"title": "Time and sequence", "width": WIDTH, "height": 340, "layer": layers})
}

fn throughput(graph: &Graph, scene: Scene) -> Value {
    let cells = graph.bytes.cells();
    let (from, to) = match (cells.first(), cells.last()) {
        (Some(first), Some(last)) => (scene.time(first), scene.time(last)),
        _ => (0.0, 0.0),
    };
    let width_s = ((to - from) / BINS as f64).max(1e-6);
    let mut bins = vec![0_u64; BINS + 1];
    for cell in cells {
        let bin = ((scene.time(cell) - from) / width_s) as usize;
        bins[bin.min(BINS)] += cell.sum;
    }
    let values: Vec<Value> = bins
        .iter()
        .zip(0..)
        .map(|(bytes, bin)| json!({"t": from + f64::from(bin) * width_s, "rate": *bytes as f64 * 8.0 / width_s}))
        .collect();
    let mark = json!({"type": "line", "interpolate": "step-after", "strokeWidth": 1.2, "color": PALETTE[0]});
    let mut rate = y("rate", "bit/s");
    rate["axis"] = json!({"format": "~s"});
    small("throughput", "Throughput, retransmissions included", &values, mark, rate)
}

fn round_trips(graph: &Graph, scene: Scene) -> Value {
    let of = |cell: &Cell| {
        let mean = cell.sum as f64 / cell.count.max(1) as f64 / 1e6;
        json!({"t": scene.time(cell), "rtt": mean, "least": cell.low as f64 / 1e6, "most": cell.high as f64 / 1e6})
    };
    let values: Vec<Value> = graph.rtt.cells().iter().map(of).collect();
    let mark = json!({"type": "point", "filled": true, "size": 9, "opacity": 0.8, "color": PALETTE[0]});
    small("rtt", "Round trips", &values, mark, y("rtt", "RTT (ms)"))
}

fn outstanding(graph: &Graph, scene: Scene, unit: &str) -> Value {
    let of = |cell: &Cell| json!({"t": scene.time(cell), "outstanding": cell.high, "least": cell.low});
    let values: Vec<Value> = graph.outstanding.cells().iter().map(of).collect();
    let mark = json!({"type": "line", "interpolate": "step-after", "strokeWidth": 1.2, "color": PALETTE[0]});
    small("outstanding", "Outstanding data (owin)", &values, mark, y("outstanding", unit))
}

fn small(name: &str, title: &str, values: &[Value], mark: Value, y: Value) -> Value {
    json!({
        "name": name,
        "title": title,
        "width": WIDTH,
        "height": 140,
        "data": {"values": values},
        "mark": mark,
        "encoding": {"x": x(), "y": y},
    })
}

impl Scene {
    fn time(&self, cell: &Cell) -> f64 {
        cell.at_ns.saturating_sub(self.began_ns) as f64 / 1e9
    }
}

/// Numbers from zero; what lies before the first that was seen is below zero.
fn relative(number: u64, origin: u64) -> i64 {
    number.wrapping_sub(origin) as i64
}
