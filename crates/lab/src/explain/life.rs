//! The life of a bundle, in sentences.

use super::collect::{Collector, Fact};
use super::contacts::Meeting;
use super::losses::{Fate, Judged};
use super::words::{clock, count, size, span};
use lightlag_protocols::dtn::{DropReason, NodeId, Refusal};
use lightlag_protocols::record::bundles::Record;
use lightlag_protocols::time::Instant;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Something that happened to a bundle.
pub struct Step {
    pub at: Instant,
    pub text: String,
    /// Where.
    nodes: [NodeId; 2],
    /// The node that receives the bundle though it has received or created it before.
    again: Option<NodeId>,
}

/// Steps that are shown unless all are asked for: under flooding there are thousands.
const STEPS_SHOWN: usize = 40;

/// Of many steps those of the copy that was delivered first, or else the first and the last ones; further receptions by nodes of
/// its path and, without one, by the destination. Also how many are skipped before each and at the end.
pub fn shown<'a>(one: &Judged, steps: &'a [Step], path: &[NodeId]) -> Vec<(usize, Option<&'a Step>)> {
    let delivered = one.fact.delivered.map(|delivery| delivery.at);
    let many = steps.len() > STEPS_SHOWN;
    let is_on_path = |node: NodeId| path.contains(&node) || node == one.fact.bundle.destination;
    let again: Vec<usize> = (0..steps.len())
        .filter(|at| steps[*at].again.is_some_and(is_on_path))
        .take(STEPS_SHOWN / 2)
        .collect();
    let counts = |(at, step): (usize, &Step)| match delivered {
        _ if !many || again.contains(&at) => true,
        Some(end) => step.at <= end && step.nodes.iter().all(|node| path.contains(node)),
        None => at < STEPS_SHOWN / 2 || at + STEPS_SHOWN / 2 >= steps.len(),
    };
    let mut shown = Vec::new();
    let mut left_out = 0;
    for (at, step) in steps.iter().enumerate() {
        if counts((at, step)) {
            shown.push((std::mem::take(&mut left_out), Some(step)));
        } else {
            left_out += 1;
        }
    }
    shown.push((left_out, None));
    shown
}

/// What happened, a sentence each.
pub fn steps(run: &Collector, records: &[(Instant, Record)]) -> Vec<Step> {
    // The last bit of a copy has left at that time, and has not arrived yet.
    let mut sent: BTreeMap<(NodeId, NodeId), Instant> = BTreeMap::new();
    let mut all = Vec::new();
    if let Some((now, Record::Created(bundle) | Record::Rejected(bundle))) = records.first()
        && *now > bundle.created
    {
        let source = run.node(bundle.source);
        let text = format!("{source} creates it and has no room to store it: it waits");
        all.push(Step { at: bundle.created, text, nodes: [bundle.source; 2], again: None });
    }
    let mut had = BTreeSet::new();
    for (now, record) in records {
        if let Record::Sent { from, to, .. } = *record {
            sent.insert((from, to), *now);
        }
        let left = arrived(record).and_then(|link| sent.remove(&link));
        let receiver = match record {
            Record::Created(bundle) => Some(bundle.source),
            _ => arrived(record).map(|(_, to)| to),
        };
        let again = receiver.filter(|node| !had.insert(*node));
        let step = |text| Step { at: *now, text, nodes: nodes_of(record).unwrap_or_default(), again };
        all.extend(sentence(run, *now, record, left).map(step));
    }
    all
}

/// How often nodes received it that had it before.
pub fn received_again(steps: &[Step]) -> BTreeMap<NodeId, u64> {
    let mut counts = BTreeMap::new();
    steps.iter().filter_map(|step| step.again).for_each(|node| *counts.entry(node).or_default() += 1);
    counts
}

/// That in a sentence, most copies first; empty without any.
pub fn again_text(run: &Collector, steps: &[Step]) -> String {
    let mut nodes: Vec<(NodeId, u64)> = received_again(steps).into_iter().collect();
    nodes.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let named = nodes.iter().take(NAMES_SHOWN).map(|(node, times)| {
        let times = if *times == 1 { "once".to_owned() } else { count(*times, "time") };
        format!("{} ({times})", run.node(*node))
    });
    let named: Vec<String> = named.collect();
    match nodes.len().saturating_sub(named.len()) {
        _ if nodes.is_empty() => String::new(),
        0 => format!("Duplicate copies arrived at {}.\n", named.join(", ")),
        more => format!("Duplicate copies arrived at {} and {more} other nodes.\n", named.join(", ")),
    }
}

fn nodes_of(record: &Record) -> Option<[NodeId; 2]> {
    match *record {
        Record::Created(bundle) | Record::Rejected(bundle) => Some([bundle.source; 2]),
        Record::Started { from, to, .. } | Record::Aborted { from, to, .. } => Some([from, to]),
        Record::Gone { node, .. } => Some([node; 2]),
        _ => arrived(record).map(|(from, to)| [from, to]),
    }
}

/// Where a copy came from and to.
fn arrived(record: &Record) -> Option<(NodeId, NodeId)> {
    match *record {
        Record::Stored { from, to, .. }
        | Record::Delivered { from, to, .. }
        | Record::Refused { from, to, .. } => Some((from, to)),
        _ => None,
    }
}

fn sentence(run: &Collector, now: Instant, record: &Record, left: Option<Instant>) -> Option<String> {
    let name = |node: NodeId| run.node(node);
    // A link with a noticeable delay is worth its words.
    let flight =
        left.filter(|left| *left < now).map(|left| format!(" after {} on the link", span(now - left)));
    let flight = flight.unwrap_or_default();
    Some(match *record {
        Record::Created(bundle) if now > bundle.created => {
            let waited = span(now - bundle.created);
            format!("{} has room for it now, after {waited}, and stores it", name(bundle.source))
        }
        Record::Created(bundle) => format!("{} creates and stores it", name(bundle.source)),
        Record::Rejected(bundle) if now > bundle.created => {
            format!("{} gives it up: there was never room to store it", name(bundle.source))
        }
        Record::Rejected(bundle) => format!("{} creates it and has no room to store it", name(bundle.source)),
        Record::Started { from, to, .. } => format!("{} begins to send it to {}", name(from), name(to)),
        Record::Aborted { from, to, .. } => {
            format!(
                "the contact ends before {} has sent it to {}: the transfer is cut off",
                name(from),
                name(to)
            )
        }
        Record::Sent { .. } => return None,
        Record::Stored { from, to, started, .. } => format!(
            "{} receives a copy from {}, begun {} earlier{flight}, and stores it",
            name(to),
            name(from),
            span(now - started)
        ),
        Record::Delivered { from, to, hops, first, .. } => {
            let again = if first { "it is delivered" } else { "which has it already" };
            format!(
                "{}, the destination, receives it from {}{flight}: {again} ({})",
                name(to),
                name(from),
                count(hops.into(), "hop")
            )
        }
        Record::Refused { from, to, why, .. } => {
            format!("{} refuses the copy from {}{flight}: {}", name(to), name(from), refusal(why))
        }
        Record::Gone { node, reason, received, .. } => {
            format!("{} deletes its copy after {}: {}", name(node), span(now - received), deletion(reason))
        }
        _ => return None,
    })
}

/// Why a copy is not taken.
pub fn refusal(why: Refusal) -> &'static str {
    match why {
        Refusal::Held => "it holds a copy",
        Refusal::Delivered => "it has been delivered here",
        Refusal::Expired => "its lifetime is over",
        Refusal::NoSpace => "there is no room",
        Refusal::DroppedBefore => "it was dropped here before",
        Refusal::Routing => "the router does not want it",
        Refusal::Congestion => "the congestion mechanism does not want it",
    }
}

/// The name of that in JSON, as in traces.
pub fn refusal_name(why: Refusal) -> &'static str {
    match why {
        Refusal::Held => "held",
        Refusal::Delivered => "delivered",
        Refusal::Expired => "expired",
        Refusal::NoSpace => "no_space",
        Refusal::DroppedBefore => "dropped_before",
        Refusal::Routing => "routing",
        Refusal::Congestion => "congestion",
    }
}

fn deletion(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Overflow => "no room",
        DropReason::Expired => "the lifetime is over",
        DropReason::Acknowledged => "it is known to be delivered",
        DropReason::HandedOver => "the next node has it",
        DropReason::Replaced => "a later bundle of the same name took its place",
    }
}

/// The nodes by which the first copy came that was delivered, from the source.
pub fn path(fact: &Fact, records: &[(Instant, Record)]) -> Vec<NodeId> {
    let mut came: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for (_, record) in records {
        match *record {
            // A node that has lost its copy may get another one; its latest came last.
            Record::Stored { from, to, .. } if to != fact.bundle.source => drop(came.insert(to, from)),
            Record::Delivered { from, to, first: true, .. } => {
                came.insert(to, from);
                break;
            }
            _ => {}
        }
    }
    let mut path = vec![fact.bundle.destination];
    while let Some(from) = path.last().and_then(|node| came.remove(node)) {
        path.push(from);
    }
    path.reverse();
    path
}

/// The answer: what became of it, in a line or two.
pub fn answer(run: &Collector, one: &Judged, path: &[NodeId]) -> String {
    let bundle = &one.fact.bundle;
    let [source, destination] = [bundle.source, bundle.destination].map(|node| run.node(node));
    let subject =
        format!("Bundle {}, {} from {source} to {destination},", bundle.id.0, size(bundle.size.get()));
    if let Some(delivery) = one.fact.delivered {
        let by: Vec<String> = path.iter().map(|node| run.node(*node)).collect();
        let delay = span(delivery.at - bundle.created);
        return format!("{subject} was delivered after {delay}: {}.", by.join(" -> "));
    }
    format!("{subject} was not delivered: {}.", reason(run, one))
}

fn reason(run: &Collector, one: &Judged) -> String {
    let Judged { fact, fate } = one;
    let at_last = fact.gone.map(|gone| format!("{} at {}", run.node(gone.node), clock(gone.at)));
    let at_last = at_last.unwrap_or_default();
    match fate {
        Fate::Delivered => "it was".to_owned(),
        Fate::TooLarge => "it is larger than the buffer of its source".to_owned(),
        Fate::NoRoom => "its source had no room".to_owned(),
        Fate::Waited => "it waited at its source for room that never came".to_owned(),
        Fate::NoContact => "its source met no other node while it lived".to_owned(),
        Fate::NoPath => "no sequence of contacts led to its destination in time".to_owned(),
        Fate::RunEnded => {
            "no sequence of contacts led to its destination before the run ended, which it outlives"
                .to_owned()
        }
        Fate::ContactsTooShort => "the contacts to its destination were too short for its size".to_owned(),
        Fate::Dropped => format!("its last copy was deleted by {at_last}, as there was no room"),
        Fate::Expired => format!("its lifetime ended, and with it the last copy, at {at_last}"),
        Fate::Replaced => {
            format!("a later bundle of the same name took the place of its last copy at {at_last}")
        }
        Fate::Refused => format!("its last copy was refused on arrival after {at_last} had given it up"),
        Fate::InFlight => "it was on a link when the run ended".to_owned(),
        Fate::Held => format!("{} when the run ended", held(fact.copies)),
    }
}

/// The copy that was lost last, or one that was left over.
struct Stay {
    node: NodeId,
    from: Instant,
    until: Instant,
}

fn last_stay(run: &Collector, one: &Judged, records: &[(Instant, Record)]) -> Option<Stay> {
    match one.fate {
        Fate::Dropped | Fate::Expired | Fate::Replaced => {
            records.iter().rev().find_map(|(until, record)| match *record {
                Record::Gone { node, received, .. } => Some(Stay { node, from: received, until: *until }),
                _ => None,
            })
        }
        Fate::Held => {
            let mut held: BTreeMap<NodeId, Instant> = BTreeMap::new();
            for (now, record) in records {
                match *record {
                    Record::Created(bundle) => drop(held.insert(bundle.source, *now)),
                    Record::Stored { to, .. } => drop(held.insert(to, *now)),
                    Record::Gone { node, .. } => drop(held.remove(&node)),
                    _ => {}
                }
            }
            let source = held.get_key_value(&one.fact.bundle.source);
            let (node, from) = source.or_else(|| held.last_key_value())?;
            Some(Stay { node: *node, from: *from, until: run.end })
        }
        _ => None,
    }
}

/// Whom the node of the last copy of a lost bundle met while it was there, and what it did with the bundle.
pub fn chances(run: &Collector, one: &Judged, records: &[(Instant, Record)]) -> Option<(String, Value)> {
    let Stay { node, from, until } = last_stay(run, one, records)?;
    let of_node = |met: &&Meeting| (met.a == node || met.b == node) && met.end > from && met.start < until;
    let met: Vec<&Meeting> = run.meetings.list.iter().filter(of_node).collect();
    let others: BTreeSet<NodeId> = met.iter().map(|met| if met.a == node { met.b } else { met.a }).collect();
    let during = || records.iter().filter(|(now, _)| (from..=until).contains(now));
    let begun =
        during().filter(|(_, r)| matches!(r, Record::Started { from, .. } if *from == node)).count() as u64;
    let cut =
        during().filter(|(_, r)| matches!(r, Record::Aborted { from, .. } if *from == node)).count() as u64;
    let name = run.node(node);
    let head = format!("In the {} that {name} had it, it", span(until - from));
    let text = match met.first() {
        None => format!("{head} met no other node."),
        Some(first) => {
            let names: Vec<String> = others.iter().take(NAMES_SHOWN).map(|node| run.node(*node)).collect();
            let more = others.len() - names.len();
            let more = if more > 0 { format!(" and {more} others") } else { String::new() };
            let sent = match (begun, cut) {
                (0, _) => "did not begin to send it".to_owned(),
                (_, 0) => format!("began to send it {}", count(begun, "time")),
                _ => format!(
                    "began to send it {} ({cut} cut off by the end of the contact)",
                    count(begun, "time")
                ),
            };
            let contacts = count(met.len() as u64, "contact");
            let first = clock(first.start.max(from));
            format!("{head} had {contacts}, from {first} on (with {}{more}), and {sent}.", names.join(", "))
        }
    };
    let facts = json!({
        "node": name,
        "from_s": from.as_secs_f64(),
        "until_s": until.as_secs_f64(),
        "contacts": met.len(),
        "transfers_begun": begun,
        "transfers_cut_off": cut,
    });
    Some((text, facts))
}

/// The nodes that a sentence names.
const NAMES_SHOWN: usize = 5;

fn held(copies: i64) -> String {
    let copies = copies.max(1) as u64;
    format!(
        "{} {} still stored",
        count(copies, "copy").replace("copys", "copies"),
        if copies == 1 { "was" } else { "were" }
    )
}

/// The life in JSON; times are in seconds.
pub fn json(run: &Collector, one: &Judged, path: &[NodeId], steps: &[Step]) -> Value {
    let Judged { fact, fate } = one;
    let bundle = &fact.bundle;
    let names: Vec<String> = path.iter().map(|node| run.node(*node)).collect();
    let again: serde_json::Map<String, Value> =
        received_again(steps).into_iter().map(|(node, times)| (run.node(node), times.into())).collect();
    let event = |step: &Step| json!({"at_s": step.at.as_secs_f64(), "text": step.text});
    json!({
        "bundle": bundle.id.0,
        "fate": fate.name(),
        "source": run.node(bundle.source),
        "destination": run.node(bundle.destination),
        "bytes": bundle.size.get(),
        "created_s": bundle.created.as_secs_f64(),
        "expires_s": (bundle.expires < Instant::MAX).then(|| bundle.expires.as_secs_f64()),
        "delivered_s": fact.delivered.map(|delivery| delivery.at.as_secs_f64()),
        "hops": fact.delivered.map(|delivery| delivery.hops),
        "path": fact.delivered.map(|_| names),
        "copies_stored": fact.stored,
        "transfers_begun": fact.started,
        "transfers_cut_off": fact.aborted,
        "transfers_refused": fact.refused,
        "duplicate_copies": again,
        "events": steps.iter().map(event).collect::<Vec<_>>(),
    })
}
