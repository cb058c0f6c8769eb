//! Messages and connections from files of events.

use super::events::Queues;
use super::properties::readable;
use super::settings::{Found, Run};
use crate::contacts::{
    Channels, Nodes, Resolver, at_rates_of_radios, connections, executed, from_rows, the_one_events,
};
use crate::error::Result;
use crate::files::{Files, locate};
use crate::model::{ContactSource, Group, Traffic, TrafficKind};
use crate::toml_file::created;
use lightlag_protocols::time::{Duration, Instant};
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
    let (events, left_out) = executed(events, count, true);
    for (why, number) in left_out {
        run.notes.warn(format!("{shown}: {number} events {why}"));
    }
    let messages = created(&events, count)?;
    if !messages.is_empty() {
        let kind = TrafficKind::Listed(Arc::new(messages));
        let place = path.place.clone();
        let (name, of_file) = (name.clone(), Some(file.clone()));
        queues.traffic.push(Traffic { name, place, lifetime: None, replies: None, file: of_file, kind });
    }
    let nodes = Nodes { count, ..Nodes::default() };
    let until = Instant::ZERO.saturating_add(duration);
    let resolver = Resolver { nodes: &nodes, channels: &Channels::default(), until, origin: Instant::ZERO };
    let contacts = from_rows(&connections(&events)?, &resolver)?;
    if !contacts.is_empty() {
        queues.contacts.push(ContactSource { file: Some(file), ..ContactSource::new(name, contacts, false) });
    }
    Ok(())
}
