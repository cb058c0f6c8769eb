//! An analysis for people: a table for terminals, and a report with charts.

use super::charts::{Scene, charts};
use crate::report::{Figure, Report, Table};
use crate::results::{number, table_text};
use lightlag_capture::analysis::{Analysed, FlowFigures, HalfFigures, Loss, Pause, Protocol};
use std::cmp::Reverse;

/// Flows in the table of a terminal, and flows with charts in a report: the largest.
const TOLD_MAX: usize = 25;
const DRAWN_MAX: usize = 8;
/// A direction with less is only the echo of the other one.
const DRAWN_PACKETS: u64 = 2;

/// A column of a table: its head, and its cell in a row.
type Column<R> = (&'static str, fn(&R) -> String);

/// A direction of a flow.
struct Direction<'a> {
    flow: &'a FlowFigures,
    half: &'a HalfFigures,
    from: &'a str,
    to: &'a str,
}

fn columns<'a>() -> [Column<Direction<'a>>; 14] {
    [
        ("flow", |one| format!("#{}", one.flow.number)),
        ("speaks", |one| one.flow.protocol.name().to_owned()),
        ("from", |one| one.from.to_owned()),
        ("to", |one| one.to.to_owned()),
        ("packets", |one| one.half.packets.to_string()),
        ("data (B)", |one| one.half.unique_bytes.to_string()),
        ("goodput (Mbit/s)", |one| number(one.half.goodput_bit_per_s / 1e6)),
        ("sent again", |one| one.half.retransmitted_packets.to_string()),
        ("lost", |one| known(one.half.lost_packets.map(|lost| lost.to_string()))),
        ("RTT min", |one| known(one.half.rtt_ms.map(|rtt| number(rtt.min)))),
        ("avg", |one| known(one.half.rtt_ms.map(|rtt| number(rtt.avg)))),
        ("max (ms)", |one| known(one.half.rtt_ms.map(|rtt| number(rtt.max)))),
        ("outstanding (median / most)", |one| {
            known(one.half.outstanding.map(|all| format!("{} / {}", all.median, all.max)))
        }),
        ("pauses", |one| one.half.pauses.count.to_string()),
    ]
}

fn known(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

fn heads<R>(columns: &[Column<R>]) -> Vec<String> {
    columns.iter().map(|column| column.0.to_owned()).collect()
}

fn cells<R>(columns: &[Column<R>], row: &R) -> Vec<String> {
    columns.iter().map(|column| column.1(row)).collect()
}

/// The analysis as text: a line for each direction with data, then what is odd.
pub fn table(analysed: &Analysed) -> String {
    let flows = largest(analysed);
    let told = &flows[..flows.len().min(TOLD_MAX)];
    let mut text = format!(
        "{}, {} bytes, {} s, {}{}\n\n",
        counted(analysed.packets, "packet"),
        analysed.wire_bytes,
        number(analysed.duration_s),
        counted(analysed.flows.len() as u64, "flow"),
        by_protocol(analysed)
    );
    if !told.is_empty() {
        let rows: Vec<Vec<String>> = told.iter().flat_map(|flow| rows(flow)).collect();
        text += &table_text(&heads(&columns()), &rows);
    }
    if flows.len() > told.len() {
        let rest = counted((flows.len() - told.len()) as u64, "smaller flow");
        text += &format!("\nnot shown: {rest}; --json shows all\n");
    }
    let mut head = "\n";
    for flow in told {
        for anomaly in messages(flow).chain(flow.anomalies.iter().cloned()) {
            text += &format!("{head}flow {}, {anomaly}\n", flow.number);
            head = "";
        }
    }
    text
}

/// How many flows speak each protocol, in parentheses. Empty where all speak one.
fn by_protocol(analysed: &Analysed) -> String {
    let count = |wanted: Protocol| analysed.flows.iter().filter(|flow| flow.protocol == wanted).count();
    let counts =
        Protocol::ALL.iter().map(|known| (count(*known), known.name())).filter(|(count, _)| *count > 0);
    let told: Vec<String> = counts.map(|(count, name)| format!("{count} {name}")).collect();
    if told.len() > 1 { format!(" ({})", told.join(", ")) } else { String::new() }
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
        "{} ({} bytes) over {} s in {}{}. In the charts, the wheel zooms and dragging moves; all four \
         charts of a direction follow.",
        counted(analysed.packets, "packet"),
        analysed.wire_bytes,
        number(analysed.duration_s),
        counted(analysed.flows.len() as u64, "flow"),
        by_protocol(analysed)
    )];
    let odd = told.iter().flat_map(|flow| {
        messages(flow)
            .chain(flow.anomalies.iter().cloned())
            .map(|text| format!("Flow {}, {text}.", flow.number))
    });
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

/// A line for each direction with data or with anything sent again, or one for a flow without.
fn rows(flow: &FlowFigures) -> Vec<Vec<String>> {
    let out = Direction { flow, half: &flow.out, from: &flow.first, to: &flow.second };
    let back = Direction { flow, half: &flow.back, from: &flow.second, to: &flow.first };
    let row = |direction: &Direction| cells(&columns(), direction);
    let with_data = [&out, &back].into_iter().filter(|one| shows(one.half));
    let told: Vec<_> = with_data.map(row).collect();
    if told.is_empty() { vec![row(&out)] } else { told }
}

fn shows(half: &HalfFigures) -> bool {
    half.data_packets + half.retransmitted_packets > 0 || half.messages.is_some()
}

/// The messages of each direction that has some, a sentence each.
fn messages(flow: &FlowFigures) -> impl Iterator<Item = String> {
    [("out", &flow.out), ("back", &flow.back)].into_iter().filter_map(|(direction, half)| {
        let told = half.messages?;
        let mut text = format!("{direction}, {}: {} sent, {} bytes", told.kind.name(), told.sent, told.bytes);
        let counts =
            [(told.complete, "complete"), (told.lost, "lost"), (Some(told.sent_again), "sent again")];
        for (count, what) in counts {
            text += &count.map_or_else(String::new, |count| format!(", {count} {what}"));
        }
        for (spread, what) in [(told.delay_ms, "delay"), (told.age_ms, "age")] {
            let spread = spread.map(|ms| (number(ms.min), number(ms.avg), number(ms.max)));
            text += &spread.map_or_else(String::new, |(min, avg, max)| {
                format!("; {what} {avg} ms on average ({min} to {max})")
            });
        }
        Some(text)
    })
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
        head: heads(&columns()),
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

fn event_table<E>(
    title: &str,
    caption: &str,
    columns: &[Column<E>],
    events: impl Iterator<Item = E>,
) -> Table {
    Table {
        title: title.to_owned(),
        caption: caption.to_owned(),
        head: heads(columns),
        rows: events.take(EVENTS_MAX).map(|event| cells(columns, &event)).collect(),
    }
}

fn loss_table(flows: &[&FlowFigures]) -> Table {
    let columns: [Column<(String, &Loss)>; 7] = [
        ("flow", |(name, _)| name.clone()),
        ("at (s)", |(_, loss)| format!("{:.6}", loss.at_s)),
        ("packets", |(_, loss)| loss.packets.to_string()),
        ("found by", |(_, loss)| loss.found.name().to_owned()),
        ("before", |(_, loss)| loss.window_before.to_string()),
        ("after", |(_, loss)| known(loss.window_after.map(|after| after.to_string()))),
        ("answer", |(_, loss)| loss.answer.name().to_owned()),
    ];
    let losses =
        halves(flows).flat_map(|(name, half)| half.losses.list.iter().map(move |loss| (name.clone(), loss)));
    let caption = "The window when the loss was found, and the largest in the second round trip after: bytes, or \
                   packets of DCCP. After a timer: what was sent in that round trip.";
    event_table("Losses and the reaction to each", caption, &columns, losses)
}

fn pause_table(flows: &[&FlowFigures]) -> Table {
    let columns: [Column<(String, &Pause)>; 5] = [
        ("flow", |(name, _)| name.clone()),
        ("at (s)", |(_, pause)| format!("{:.6}", pause.at_s)),
        ("length (ms)", |(_, pause)| number(pause.length_s * 1000.0)),
        ("packets outstanding", |(_, pause)| pause.outstanding_packets.to_string()),
        ("cause", |(_, pause)| pause.cause.name().to_owned()),
    ];
    let pauses = halves(flows)
        .flat_map(|(name, half)| half.pauses.list.iter().map(move |pause| (name.clone(), pause)));
    event_table("Pauses and their cause", "Times without a packet of data.", &columns, pauses)
}
