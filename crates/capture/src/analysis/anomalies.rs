//! What is odd about a flow, in sentences.

use super::figures::{FlowFigures, HalfFigures, seconds};
use super::flow::Flow;
use super::half::Half;
use super::pauses::Cause;
use super::reaction::Answer;

/// Fewer packets of data say nothing about a window.
const TALK_LEAST: u64 = 50;
/// A window of one packet is reported from this many packets ...
const SINGLE_PACKETS: u64 = 20;
/// ... and this many seconds on.
const SINGLE_S: f64 = 1.0;
/// Most sentences of one kind about a direction.
const SENTENCES_MAX: usize = 5;

/// What the flow shows while it is still known packet by packet.
pub fn of(flow: &Flow, first_ns: i64) -> Vec<String> {
    let mut notes = Vec::from_iter(seen_by_receiver(flow));
    for ((index, half), way) in flow.halves.iter().enumerate().zip(["out", "back"]) {
        if flow.protocol.acknowledges() {
            notes.extend(single_packets(half, first_ns).map(|text| format!("{}: {text}", way)));
        }
        let is_unreadable =
            |index: usize| flow.tcpcl.as_ref().is_some_and(|tcpcl| tcpcl.is_unreadable(index));
        if is_unreadable(index) {
            notes.push(format!(
                "{}: the head of a TCPCL message is missing, or TLS hides it: later transfers are not counted",
                way
            ));
        }
        if half.flight.forgot {
            notes.push(format!(
                "{}: more packets were outstanding than are followed: figures are too low",
                way
            ));
        }
    }
    notes
}

/// That round trips are not those of the sender of data.
fn seen_by_receiver(flow: &Flow) -> Option<String> {
    let (index, [sender, receiver]) = flow.seen_by_receiver().filter(|_| flow.protocol.acknowledges())?;
    let direction = ["out", "back"][index];
    Some(format!(
        "{direction}: its data were captured at interface {sender} first and count at interface {receiver}, that of their receiver: \
         round trips are not those of the path; --interface {sender} gives them"
    ))
}

/// What its figures show.
pub fn of_losses(flow: &FlowFigures) -> Vec<String> {
    let mut told = Vec::new();
    let unit = if flow.protocol.numbers_packets() { "packets" } else { "bytes" };
    for (half, way) in [(&flow.out, "out"), (&flow.back, "back")] {
        let sentences = pauses(half, flow.protocol.acknowledges())
            .into_iter()
            .chain(unanswered(half, unit))
            .chain(alone(half, flow.protocol.acknowledges()))
            .chain(needless(half));
        told.extend(sentences.map(|text| format!("{}: {text}", way)));
    }
    told
}

fn single_packets(half: &Half, first_ns: i64) -> Option<String> {
    let (packets, length_ns) = half.single.longest;
    let odd = packets >= SINGLE_PACKETS && seconds(length_ns) >= SINGLE_S;
    odd.then(|| {
        let at_s = seconds(half.single.longest_from_ns.saturating_sub(first_ns));
        format!(
            "window of one packet for {:.3} s, from {at_s:.3} s on ({packets} packets)",
            seconds(length_ns)
        )
    })
}

fn alone(half: &HalfFigures, acknowledges: bool) -> Option<String> {
    let share = half.alone.filter(|share| acknowledges && *share > 0.5 && half.data_packets >= TALK_LEAST)?;
    Some(format!("{:.1} % of the packets left while no other was outstanding", share * 100.0))
}

fn pauses(half: &HalfFigures, acknowledges: bool) -> Vec<String> {
    let mut told = Vec::new();
    let pauses = &half.pauses;
    if acknowledges && pauses.while_outstanding > 0 {
        let outstanding = pauses.list.iter().filter(|pause| pause.cause != Cause::Application);
        let shortest = outstanding.map(|pause| pause.length_s).fold(f64::INFINITY, f64::min);
        told.push(format!(
            "{} pauses of {:.0} ms or more while data was outstanding ({} ended by a timer)",
            pauses.while_outstanding,
            (shortest * 1000.0).floor(),
            pauses.timeout + pauses.refused
        ));
    }
    if pauses.refused > 0 {
        told.push(format!(
            "{} of these pauses began when an acknowledgement was refused for its number with a Sync: the sequence \
             window was left",
            pauses.refused
        ));
    }
    if pauses.zero_window > 0 {
        told.push(format!("{} pauses as the receiver's window was closed", pauses.zero_window));
    }
    told
}

fn unanswered(half: &HalfFigures, unit: &str) -> Vec<String> {
    let list = half.losses.list.iter().filter(|loss| loss.answer == Answer::None);
    let mut told: Vec<String> = list
        .take(SENTENCES_MAX)
        .map(|loss| {
            format!(
                "no reaction to the loss at {:.3} s: a window of {} {unit} before, {} after",
                loss.at_s,
                loss.window_before,
                loss.window_after.unwrap_or_default()
            )
        })
        .collect();
    let more = (half.losses.unanswered as usize).saturating_sub(told.len());
    if more > 0 {
        told.push(format!("no reaction to {more} more losses"));
    }
    told
}

fn needless(half: &HalfFigures) -> Option<String> {
    let (needless, all) = (half.retransmitted_needlessly, half.retransmitted_packets);
    (needless > 0 && all > 0 && needless * 10 >= all)
        .then(|| format!("{needless} of {all} retransmissions had arrived already"))
}
