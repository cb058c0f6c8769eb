//! A row of a trace of packets: enough for the judge.

use super::event::{events, parts, put, take};
use super::{Names, Text, TraceWriter};
use crate::packets::{Event, Facts};
use lightlag_protocols::record::packets::{Observer, Record};
use lightlag_protocols::time::Instant;
use std::io::Write;

crate::row! {
    /// One thing that happened, flat. Columns are empty where they mean nothing.
    PacketRow {
        /// When.
        time_ns: i64,
        /// `offered`, `arrived`, `dropped`, `delivered`, `end`.
        kind: Text,
        /// The direction of a link, counted from 0 in the order of the scenario, there before back.
        link: Option<u32>,
        /// The flow, counted from 0.
        flow: Option<u32>,
        /// From the sender to the receiver.
        forward: Option<bool>,
        /// Links that the packet has crossed.
        hop: Option<u32>,
        /// Lower ones leave first, where the queue has priorities.
        priority: Option<u32>,
        /// What it is for.
        what: Option<Text>,
        /// Bytes on the link; of `delivered` bytes in all.
        bytes: Option<u64>,
        /// Bytes of data.
        length: Option<u32>,
        /// Offset of the first of them; of a symbol its block times 2^32 and its number.
        offset: Option<u64>,
        /// The stream ends with it.
        fin: Option<bool>,
        /// Everything below has come.
        ack: Option<u64>,
        /// Blocks received above `ack`: `FROM-TO FROM-TO`.
        sack: Option<String>,
        /// Distinguishes packets of different content.
        print: Option<u64>,
        /// Why it was dropped: `full`, `marked`, `lost`.
        why: Option<Text>,
        /// Name of the direction of the link.
        link_name: Option<String>,
        /// Name of the node at which the link begins.
        from_name: Option<String>,
        /// Name of the node at which the link ends.
        to_name: Option<String>,
        /// Name of the flow.
        flow_name: Option<String>,
        /// Name of the node that holds the packet after the row; empty where it is lost or used up.
        holder: Option<String>,
    }
}

events! {
    PacketRow of Event;
    "offered" => Offered(link, packet): link = link, * = packet;
    "arrived" => Arrived(link, packet): link = link, * = packet;
    "dropped" => Dropped(link, packet, why): link = link, * = packet, why = why;
    "delivered" => Delivered(flow, total): flow = flow, bytes = total;
    "end" => End {};
}

parts! {
    PacketRow:
    Facts {
        flow: flow, forward: forward, hop: hop, priority: priority, what: what, size: bytes, length: length,
        offset: offset, fin: fin, ack: ack, sack: sack, print: print,
    }
}

impl<W: Write + Send> Observer for TraceWriter<PacketRow, W> {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &Record) {
        if let Some(event) = Event::of(record) {
            self.put(now, &event);
        }
    }
}

impl PacketRow {
    /// Names of link and flow. After the row the packet is at the start of the link, at its end, or gone.
    fn with_names(self, event: &Event, names: &Names) -> Self {
        let link = self.link.map_or([const { None }; 3], |link| names.link(link));
        let flow_name = self.flow.and_then(|flow| names.flows.get(flow as usize).cloned());
        let [link_name, from_name, to_name] = link;
        let holder = match event {
            Event::Offered(..) => from_name.clone(),
            Event::Arrived(..) => to_name.clone(),
            Event::Dropped(..) | Event::Delivered(..) | Event::End => None,
        };
        Self { link_name, from_name, to_name, flow_name, holder, ..self }
    }
}
