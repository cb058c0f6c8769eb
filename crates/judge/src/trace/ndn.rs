//! A row of a trace of names: enough for the judge.

use super::event::{Part, events, parts, put, take};
use super::{Names, Text, TraceWriter};
use crate::names::{Carried, Event};
use lightlag_protocols::ndn::{Data, Interest, Name, Prefix, Selectors};
use lightlag_protocols::record::names::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use std::io::Write;

crate::row! {
    /// One thing that happened, flat. Columns are empty where they mean nothing.
    NameRow {
        /// When.
        time_ns: i64,
        /// `offered`, `arrived`, `dropped`, `asked`, `delivered`, `produced`, `hit`, `refused`, `end`.
        kind: Text,
        /// The direction of a link, counted from 0.
        link: Option<u32>,
        /// The node, counted from 0.
        node: Option<u32>,
        /// Of that node by which something came: links first, then consumers, then producers.
        face: Option<u32>,
        /// The consumer, counted from 0.
        consumer: Option<u32>,
        /// The producer, counted from 0.
        producer: Option<u32>,
        /// `interest` or `data`.
        what: Option<Text>,
        /// What stands before the segment of the name, by its number.
        prefix: Option<u32>,
        /// The segment.
        segment: Option<u32>,
        /// Bytes of the packet on a link.
        bytes: Option<u32>,
        /// Distinguishes Interests for one name.
        nonce: Option<u32>,
        /// What the sender of an Interest wants to see on the Data.
        token: Option<u32>,
        /// How long an Interest stays pending.
        lifetime_ms: Option<u32>,
        /// How many more nodes an Interest may pass.
        hop_limit: Option<u32>,
        /// The name of the Data may be longer.
        can_be_prefix: Option<bool>,
        /// A store may only answer with fresh Data.
        must_be_fresh: Option<bool>,
        /// Bytes of content.
        content: Option<u32>,
        /// How long Data are fresh.
        freshness_ms: Option<u32>,
        /// When Data left the node that answered, in microseconds of its clock modulo 2³².
        stamp: Option<u32>,
        /// Offset in ns of the clock that will stamp the Data when they leave.
        stamp_due_ns: Option<i64>,
        /// Who answered.
        site: Option<u32>,
        /// A queue asks to slow down.
        marked: Option<bool>,
        /// Distinguishes Data of different content.
        print: Option<u64>,
        /// Why it was dropped (`full`, `marked`, `lost`) or refused (`hop_limit`, `loop`, `no_route`,
        /// `pit_full`, `too_soon`, `unsolicited`, `no_data`).
        why: Option<Text>,
        /// The name without its segment.
        prefix_name: Option<String>,
        /// Name of the direction of the link.
        link_name: Option<String>,
        /// Name of the node at which the link begins.
        from_name: Option<String>,
        /// Name of the node at which the link ends.
        to_name: Option<String>,
        /// Name of `node`, or of that of the consumer or producer.
        node_name: Option<String>,
        /// Name of the consumer.
        consumer_name: Option<String>,
        /// Name of the producer.
        producer_name: Option<String>,
        /// Name of the node that holds the packet after the row; empty where it is lost, refused or used up.
        holder: Option<String>,
    }
}

events! {
    NameRow of Event;
    "offered" => Offered(link, packet): link = link, * = packet;
    "arrived" => Arrived(link, packet): link = link, * = packet;
    "dropped" => Dropped(link, packet, why): link = link, * = packet, why = why;
    "asked" => Asked(consumer, interest): consumer = consumer, * = interest;
    "delivered" => Delivered(consumer, data): consumer = consumer, * = data;
    "produced" => Produced(producer, data): producer = producer, * = data;
    "hit" => Hit(node, data): node = node, * = data;
    "refused" => Refused(node, face, name, why): node = node, face = face, * = name, why = why;
    "end" => End {};
}

parts! {
    NameRow:
    Name { prefix: prefix, segment: segment }
    Selectors { can_be_prefix: can_be_prefix, must_be_fresh: must_be_fresh }
    Interest {
        hop_limit: hop_limit, name: *, nonce: nonce, token: token, lifetime_ms: lifetime_ms, selectors: *,
    }
    Data {
        name: *, content: content, size: bytes, freshness_ms: freshness_ms, token: token, stamp: stamp,
        site: site, marked: marked, print: print,
    }
}

impl Part<NameRow> for Carried {
    fn put(&self, row: &mut NameRow) {
        match self {
            Self::Interest(interest, bytes) => {
                (row.what, row.bytes) = (Some("interest".into()), Some(*bytes));
                interest.put(row);
            }
            Self::Data(data, due) => {
                (row.what, row.stamp_due_ns) = (Some("data".into()), due.map(Duration::as_nanos));
                data.put(row);
            }
        }
    }
    fn take(row: &NameRow) -> Result<Self, String> {
        match &*row.what.clone().ok_or_else(|| format!("`{}` without `what`", row.kind))? {
            "interest" => Ok(Self::Interest(take!(row, *), take!(row, bytes))),
            "data" => Ok(Self::Data(take!(row, *), take!(row, stamp_due_ns))),
            unknown => Err(format!("unknown packet `{unknown}`")),
        }
    }
}

impl<W: Write + Send> Observer for TraceWriter<NameRow, W> {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &Record) {
        if let Some(event) = Event::of(record) {
            self.put(now, &event);
        }
    }
}

impl NameRow {
    fn with_names(self, event: &Event, names: &Names) -> Self {
        let link = self.link.map_or([const { None }; 3], |link| names.link(link));
        let consumer = self.consumer.and_then(|number| names.consumers.get(number as usize));
        let producer = self.producer.and_then(|number| names.producers.get(number as usize));
        let node = self.node.or(consumer.or(producer).map(|party| party.1));
        let node_name = node.and_then(|node| names.node(node));
        let prefix = self.prefix.filter(|&prefix| (prefix as usize) < names.prefixes.count());
        let whole = |prefix| Name { prefix: Prefix(prefix), segment: Name::WHOLE };
        let prefix_name = prefix.map(|prefix| names.prefixes.text(whole(prefix)));
        let [link_name, from_name, to_name] = link;
        let holder = match event {
            Event::Offered(..) => from_name.clone(),
            Event::Arrived(..) => to_name.clone(),
            Event::Asked(..) | Event::Delivered(..) | Event::Produced(..) | Event::Hit(..) => {
                node_name.clone()
            }
            Event::Dropped(..) | Event::Refused(..) | Event::End => None,
        };
        Self {
            prefix_name,
            link_name,
            from_name,
            to_name,
            node_name,
            consumer_name: consumer.map(|party| party.0.clone()),
            producer_name: producer.map(|party| party.0.clone()),
            holder,
            ..self
        }
    }
}
