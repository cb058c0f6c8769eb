//! Messages and connections from files of events.

use super::events::Queues;
use super::properties::readable;
use super::settings::{Found, Run};
use crate::contacts::{
    Channels, EventKind, ExternalEvent, Nodes, Resolver, at_rates_of_radios, connections, from_rows,
    the_one_events,
};
use crate::error::Result;
use crate::files::{Files, locate};
use crate::model::{ContactSource, Group, Traffic, TrafficKind};
use crate::toml_file::created;
use lightlag_protocols::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads a file of events.
pub fn external(
    name: String,
    path: &Found,
    run: Run,
    groups: &[Group],
    duration: Duration,
    files: &Files,
    queues: &mut Queues,
) -> Result<()> {
    let file = locate(&readable(&run.fill(path)?), &path.folders());
    if file.extension().is_some_and(|end| end == "binee") {
        return Err(path.wrong("names serialised Java objects", "name a text file of events"));
    }
    let bytes = files.read(&file, path.place)?;
    let shown = file.display().to_string();
    let mut events = the_one_events(&shown, &bytes)?;
    at_rates_of_radios(&mut events, groups);
    let count = groups.iter().map(Group::count).sum();
    let mut left_out = BTreeMap::new();
    events.retain_mut(|event| honour(event, count, &mut left_out));
    for (why, number) in left_out {
        run.notes.warn(format!("{shown}: {number} events {why}"));
    }
    let messages = created(&events, count)?;
    if !messages.is_empty() {
        let kind = TrafficKind::Listed(Arc::new(messages));
        let place = path.place.clone();
        queues.traffic.push(Traffic { name: name.clone(), place, lifetime: None, replies: None, kind });
    }
    let nodes = Nodes { count, ..Nodes::default() };
    let until = Instant::ZERO.saturating_add(duration);
    let resolver = Resolver { nodes: &nodes, channels: &Channels::default(), until, origin: Instant::ZERO };
    let contacts = from_rows(&connections(&events)?, &resolver)?;
    if !contacts.is_empty() {
        queues.contacts.push(ContactSource::new(name, contacts, false));
    }
    Ok(())
}

/// Whether an event is executed; events that are skipped, wholly or in part, are counted by reason.
fn honour(event: &mut ExternalEvent, hosts: u32, skipped: &mut BTreeMap<&'static str, usize>) -> bool {
    let mut count = |why| *skipped.entry(why).or_default() += 1;
    let (ends, rate) = match &mut event.kind {
        EventKind::Decision(_) => {
            count(
                "that command routers (S, DE, A, DR, R) are skipped: the routers of the groups decide themselves",
            );
            return false;
        }
        EventKind::Create { from, to, response, .. } => {
            if std::mem::take(response) {
                count("of messages that ask for a response: they are sent without one");
            }
            ([*from, *to], true)
        }
        EventKind::Connection { a, b, rate, up, .. } => ([*a, *b], rate.is_some() || !*up),
    };
    let fault = if ends.iter().any(|&end| end >= hosts) {
        Some("with hosts that do not exist are skipped; The ONE stops at the first of them")
    } else if ends[0] == ends[1] {
        Some("from a host to itself are skipped")
    } else if !rate {
        Some("of hosts without that interface are skipped; The ONE stops at the first of them")
    } else {
        None
    };
    fault.into_iter().for_each(count);
    fault.is_none()
}
