//! An analysis for people: a table for terminals, and a report with charts.

use super::charts::{Scene, charts};
use crate::report::{Figure, Report, Table};
use crate::results::{number, table_text};
use lightlag_capture::analysis::{Analysed, FlowFigures, HalfFigures};
use std::cmp::Reverse;

/// Flows in the table of a terminal, and flows with charts in a report: the largest.
const TOLD_MAX: usize = 25;
const DRAWN_MAX: usize = 8;
/// A direction with less is only the echo of the other one.
const DRAWN_PACKETS: u64 = 2;

const HEAD: [&str; 14] = [
    "flow",
    "speaks",
    "from",
    "to",
    "packets",
    "data (B)",
    "goodput (Mbit/s)",
    "sent again",
    "lost",
    "RTT min",
    "avg",
    "max (ms)",
    "outstanding",
    "pauses",
];

/// The analysis as text: a line for each direction with data, then what is odd.
pub fn table(analysed: &Analysed) -> String {
    let flows = largest(analysed);
    let told = &flows[..flows.len().min(TOLD_MAX)];
    let mut text = format!(
        "{}, {} bytes, {} s, {}\n\n",
        counted(analysed.packets, "packet"),
        analysed.wire_bytes,
        number(analysed.duration_s),
        counted(analysed.flows.len() as u64, "flow")
    );
    if !told.is_empty() {
        let rows: Vec<Vec<String>> = told.iter().flat_map(|flow| rows(flow)).collect();
        text += &table_text(&HEAD.map(str::to_owned), &rows);
    }
    if flows.len() > told.len() {
        let rest = counted((flows.len() - told.len()) as u64, "smaller flow");
        text += &format!("\nnot shown: {rest}; --json shows all\n");
    }
    let mut head = "\n";
    for flow in told {
        for anomaly in &flow.anomalies {
            text += &format!("{head}flow {}, {anomaly}\n", flow.number);
            head = "";
        }
    }
    text
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The analysis as a report.
pub fn report(analysed: &Analysed, name: &str) -> Report {
    let flows = largest(analysed);
    let told = &flows[..flows.len().min(TOLD_MAX)];
    let began_ns = analysed.began_ns;
    let mut introduction = vec![format!(
        "{} ({} bytes) over {} s in {}. In the charts, the wheel zooms and dragging moves; all four \
         charts of a direction follow.",
        counted(analysed.packets, "packet"),
        analysed.wire_bytes,
        number(analysed.duration_s),
        counted(analysed.flows.len() as u64, "flow")
    )];
    let odd = told
        .iter()
        .flat_map(|flow| flow.anomalies.iter().map(|text| format!("Flow {}, {text}.", flow.number)));
    introduction.extend(odd);
    Report {
        title: format!("Capture: {name}"),
        introduction,
        warnings: analysed.notes.clone(),
        again: vec![format!("lightlag capture {name} --html FILE")],
        figures: told.iter().take(DRAWN_MAX).flat_map(|flow| figures(flow, began_ns)).collect(),
        tables: vec![flow_table(told), loss_table(told), pause_table(told)],
        ..Report::default()
    }
}

fn largest(analysed: &Analysed) -> Vec<&FlowFigures> {
    let mut flows: Vec<&FlowFigures> = analysed.flows.iter().collect();
    flows.sort_by_key(|flow| Reverse(flow.out.wire_bytes + flow.back.wire_bytes));
    flows
}

/// A line for each direction with data, or one for a flow without.
fn rows(flow: &FlowFigures) -> Vec<Vec<String>> {
    let out = (&flow.out, &flow.first, &flow.second);
    let back = (&flow.back, &flow.second, &flow.first);
    let with_data = [out, back].into_iter().filter(|(half, ..)| half.data_packets > 0);
    let mut told: Vec<_> = with_data.map(|(half, from, to)| row(flow, half, from, to)).collect();
    if told.is_empty() {
        told.push(row(flow, &flow.out, &flow.first, &flow.second));
    }
    told
}

fn row(flow: &FlowFigures, half: &HalfFigures, from: &str, to: &str) -> Vec<String> {
    let rtt = half.rtt_ms.map(|rtt| [rtt.min, rtt.avg, rtt.max].map(number));
    let [least, mean, most] = rtt.unwrap_or_else(|| ["–"; 3].map(str::to_owned));
    let outstanding =
        half.outstanding.map_or_else(|| "–".to_owned(), |known| format!("{} / {}", known.median, known.max));
    vec![
        format!("#{}", flow.number),
        flow.protocol.name().to_owned(),
        from.to_owned(),
        to.to_owned(),
        half.packets.to_string(),
        half.unique_bytes.to_string(),
        number(half.goodput_bit_per_s / 1e6),
        half.retransmitted_packets.to_string(),
        half.lost_packets.to_string(),
        least,
        mean,
        most,
        outstanding,
        half.pauses.count.to_string(),
    ]
}

fn figures(flow: &FlowFigures, began_ns: i64) -> Vec<Figure> {
    let Some(graphs) = &flow.graphs else { return Vec::new() };
    let scene = Scene { began_ns, numbers_packets: flow.protocol.numbers_packets() };
    let sides = [
        (&flow.out, &graphs[0], &flow.first, &flow.second, "out"),
        (&flow.back, &graphs[1], &flow.second, &flow.first, "back"),
    ];
    let drawn = sides.into_iter().filter(|(half, ..)| half.data_packets >= DRAWN_PACKETS);
    drawn
        .map(|(half, graph, from, to, way)| {
            let title = format!("Flow {}: {}, {from} to {to}", flow.number, flow.protocol.name());
            Figure {
                id: format!("flow_{}_{}", flow.number, way),
                specification: charts("", graph, scene),
                caption: caption(half),
                title,
            }
        })
        .collect()
}

fn caption(half: &HalfFigures) -> String {
    format!(
        "{} packets with data, {} sent again, {} lost; {} windows with losses ({} found by timers), {} pauses. Long \
         flows are drawn with at most 2000 points a series: extremes are kept.",
        half.data_packets,
        half.retransmitted_packets,
        half.losses.packets,
        half.losses.events,
        half.losses.timeouts,
        half.pauses.count
    )
}

fn flow_table(flows: &[&FlowFigures]) -> Table {
    Table {
        title: "Flows".to_owned(),
        caption: "A line for each direction with data. Outstanding: median / largest, in bytes, in packets of DCCP."
            .to_owned(),
        head: HEAD.map(str::to_owned).to_vec(),
        rows: flows.iter().flat_map(|flow| rows(flow)).collect(),
    }
}

/// Rows of a table of events.
const EVENTS_MAX: usize = 200;

fn halves<'a>(flows: &'a [&FlowFigures]) -> impl Iterator<Item = (String, &'a HalfFigures)> {
    flows.iter().flat_map(|flow| {
        [("out", &flow.out), ("back", &flow.back)]
            .map(|(way, half)| (format!("{} {}", flow.number, way), half))
    })
}

fn loss_table(flows: &[&FlowFigures]) -> Table {
    let events =
        halves(flows).flat_map(|(name, half)| half.losses.list.iter().map(move |loss| (name.clone(), loss)));
    let row = |(name, loss): (String, &lightlag_capture::analysis::Loss)| {
        let after = loss.window_after.map_or_else(|| "–".to_owned(), |after| after.to_string());
        vec![
            name,
            format!("{:.6}", loss.at_s),
            loss.packets.to_string(),
            loss.found.name().to_owned(),
            loss.window_before.to_string(),
            after,
            loss.answer.name().to_owned(),
        ]
    };
    Table {
        title: "Losses and the reaction to each".to_owned(),
        caption:
            "The window when the loss was found, and the largest in the second round trip after: bytes, or \
                  packets of DCCP. After a timer: what was sent in that round trip."
                .to_owned(),
        head: ["flow", "at (s)", "packets", "found by", "before", "after", "answer"]
            .map(str::to_owned)
            .to_vec(),
        rows: events.take(EVENTS_MAX).map(row).collect(),
    }
}

fn pause_table(flows: &[&FlowFigures]) -> Table {
    let pauses = halves(flows)
        .flat_map(|(name, half)| half.pauses.list.iter().map(move |pause| (name.clone(), pause)));
    let row = |(name, pause): (String, &lightlag_capture::analysis::Pause)| {
        vec![
            name,
            format!("{:.6}", pause.at_s),
            number(pause.length_s * 1000.0),
            pause.outstanding_packets.to_string(),
            pause.cause.name().to_owned(),
        ]
    };
    Table {
        title: "Pauses and their cause".to_owned(),
        caption: "Times without a packet of data.".to_owned(),
        head: ["flow", "at (s)", "length (ms)", "packets outstanding", "cause"].map(str::to_owned).to_vec(),
        rows: pauses.take(EVENTS_MAX).map(row).collect(),
    }
}
