//! What is sent, and contacts from files.

use super::Origin;
use super::text::{Document, bytes, inline, list, plain, time, times};
use crate::keys;
use crate::model::{BundleNetwork, Draws, Generator, Interval, Shape, Traffic, TrafficKind};
use crate::quantity::Bounds;
use lightlag_protocols::record::bundles::ReplyKind;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use std::ops::Range;

/// `[contacts.NAME]`: contacts of The ONE's events.
pub fn contacts(document: &mut Document, network: &BundleNetwork, origin: &Origin) {
    for source in &network.contacts {
        let Some(file) = &source.file else { continue };
        document.table(&["contacts", &plain(&source.name)], keys::CONTACTS);
        document.key("kind", "the_one", "");
        document.key("file", origin.path(file), &origin.of(&format!("{}.filePath", source.name)));
        document.key("unknown_nodes", "skip", "");
    }
}

/// `[traffic.NAME]`.
pub fn sources(document: &mut Document, network: &BundleNetwork, origin: &Origin) {
    for source in &network.traffic {
        document.table(&["traffic", &plain(&source.name)], keys::TRAFFIC);
        if let Some(lifetime) = source.lifetime {
            document.key("lifetime", time(lifetime), "");
        }
        match (&source.kind, &source.file) {
            (TrafficKind::Random(of), _) => generator(document, of, source, network, origin),
            (TrafficKind::Listed(_), Some(file)) => {
                document.key("file", origin.path(file), &origin.of(&format!("{}.filePath", source.name)));
                document.key("unknown_nodes", "skip", "");
            }
            (TrafficKind::Listed(_), None) => {}
        }
        replies(document, source, network, origin);
    }
}

fn generator(
    document: &mut Document,
    generator: &Generator,
    source: &Traffic,
    network: &BundleNetwork,
    origin: &Origin,
) {
    let is_ping = generator.shape == Shape::Ping;
    let from = |key: &str| origin.of(&format!("{}.{key}", source.name));
    document.key("prefix", generator.prefix.as_str(), &from("prefix"));
    let shape = match generator.shape {
        Shape::Pairs => "pairs",
        Shape::Burst => "burst",
        Shape::OneFromEach => "one_from_each",
        Shape::OneToEach => "one_to_each",
        Shape::Ping => "ping",
    };
    document.key("shape", shape, &from(if is_ping { "type" } else { "class" }));
    let whole = |s: u64| Duration::from_secs(i64::try_from(s).unwrap_or(i64::MAX / 1_000_000_000));
    let (interval, arrivals) = match generator.interval {
        Interval::WholeSeconds(Bounds { low, high }) if low == high => (time(whole(low)), "whole_seconds"),
        Interval::WholeSeconds(Bounds { low, high }) => {
            (times(Bounds { low: whole(low), high: whole(high) }), "whole_seconds")
        }
        Interval::Uniform(bounds) => (times(bounds), "uniform"),
        Interval::Exponential(mean) => (time(mean), "exponential"),
    };
    document.key("interval", interval, &from("interval"));
    document.key("arrivals", arrivals, "");
    let Bounds { low, high } = generator.size;
    let size = if low == high { bytes(Bytes(low)) } else { format!("{low}..{high} B") };
    document.key("size", size, &from(if is_ping { "pingSize" } else { "size" }));
    document.key("from", selection(&generator.from, network), &from("hosts"));
    let to = selection(&generator.to, network);
    document.key("to", to, &from(if is_ping { "destinationRange" } else { "tohosts" }));
    if generator.start != Instant::ZERO {
        let start = generator.start - Instant::ZERO;
        document.key("start", time(start), &from(if is_ping { "offset" } else { "time" }));
    }
    if generator.end < Instant::MAX {
        document.key("end", time(generator.end - Instant::ZERO), &from("time"));
    }
    if let (Some(seed), Draws::TheOne) = (generator.seed, generator.draws) {
        document.key("seed", i64::from(seed), &from("seed"));
    }
}

fn replies(document: &mut Document, source: &Traffic, network: &BundleNetwork, origin: &Origin) {
    let Some(replies) = &source.replies else { return };
    let from = origin.of(&format!("{}.pongSize", source.name));
    let one = |(nodes, size): &(Range<u32>, _)| {
        let by = selection(&Vec::from_iter(nodes.clone()), network);
        inline([("from", by.into()), ("size", bytes(*size).into())])
    };
    document.key("replies", list(replies.by.iter().map(one)), &from);
    let kind = match replies.kind {
        ReplyKind::Response => "response",
        ReplyKind::Pong => "pong",
    };
    document.key("reply_as", kind, "");
}

/// Nodes by names of groups where it can be, else by number.
fn selection(nodes: &[u32], network: &BundleNetwork) -> String {
    let count = network.node_count();
    if nodes.iter().copied().eq(0..count) {
        return "all".to_owned();
    }
    let mut groups: Vec<(Range<u32>, &str)> = Vec::new();
    let mut first = 0;
    for group in &network.groups {
        groups.push((first..first + group.count(), &group.name));
        first += group.count();
    }
    let mut parts: Vec<String> = Vec::new();
    let mut rest = nodes;
    while let Some(&low) = rest.first() {
        let run = rest.iter().zip(low..).take_while(|(node, next)| *node == next).count();
        let whole = groups.iter().find(|(span, _)| span.start == low && span.len() <= run);
        let taken = match whole {
            Some((span, name)) => {
                parts.push((*name).to_owned());
                span.len()
            }
            None => {
                // Up to the next group that is there as a whole.
                let end = low + run as u32;
                let next = groups.iter().find(|(span, _)| low < span.start && span.end <= end);
                let end = next.map_or(end, |(span, _)| span.start);
                parts.push(if end == low + 1 { format!("#{low}") } else { format!("#{low}..#{}", end - 1) });
                (end - low) as usize
            }
        };
        rest = &rest[taken..];
    }
    parts.join(", ")
}
