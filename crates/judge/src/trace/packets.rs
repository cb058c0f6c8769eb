//! A row of a trace of packets: enough for the judge.

use super::names::{WHYS, name, value};
use super::{At, Names, Text, TraceRow, TraceWriter};
use crate::packets::{Event, Facts, WHATS};
use lightlag_protocols::record::packets::{Observer, Record};
use lightlag_protocols::time::Instant;
use lightlag_protocols::transport::ranges::Range;
use lightlag_protocols::transport::tcp::{SACK_BLOCKS_MAX, Sack};
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

impl TraceRow for PacketRow {
    type Event = Event;
    fn at(&self) -> Instant {
        Instant::from_nanos(self.time_ns)
    }
    fn kind(&self) -> &str {
        &self.kind
    }
    fn new(now: Instant, event: &Event, names: &Names) -> Self {
        let row = |kind: &'static str| Self { time_ns: now.as_nanos(), kind: kind.into(), ..Self::default() };
        match event {
            Event::Offered(link, facts) => {
                row("offered").with_packet(*link, facts).with_names(names, At::Start)
            }
            Event::Arrived(link, facts) => {
                row("arrived").with_packet(*link, facts).with_names(names, At::End)
            }
            Event::Dropped(link, facts, why) => Self {
                why: name(&WHYS, *why),
                ..row("dropped").with_packet(*link, facts).with_names(names, At::Nowhere)
            },
            Event::Delivered(flow, total) => {
                Self { flow: Some(*flow), bytes: Some(*total), ..row("delivered") }
                    .with_names(names, At::Nowhere)
            }
            Event::End => row("end"),
        }
    }
    fn event(&self) -> Result<Event, String> {
        match &*self.kind {
            "offered" => Ok(Event::Offered(self.link()?, self.facts()?)),
            "arrived" => Ok(Event::Arrived(self.link()?, self.facts()?)),
            "dropped" => {
                let why = self.need("why", self.why.as_deref())?;
                Ok(Event::Dropped(self.link()?, self.facts()?, value(&WHYS, "reason", why)?))
            }
            "delivered" => {
                Ok(Event::Delivered(self.need("flow", self.flow)?, self.need("bytes", self.bytes)?))
            }
            "end" => Ok(Event::End),
            unknown => Err(format!("unknown kind `{unknown}`")),
        }
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
    fn with_packet(self, link: u32, facts: &Facts) -> Self {
        let blocks = facts.sack.as_ref().map(Sack::blocks);
        let text = |blocks: &[Range]| {
            blocks.iter().map(|(from, to)| format!("{from}-{to}")).collect::<Vec<_>>().join(" ")
        };
        Self {
            link: Some(link),
            flow: Some(facts.flow),
            forward: Some(facts.forward),
            hop: Some(facts.hop.into()),
            priority: Some(facts.priority.into()),
            what: name(&WHATS, facts.what),
            bytes: Some(facts.size.into()),
            length: Some(facts.length),
            offset: Some(facts.offset),
            fin: Some(facts.fin),
            ack: Some(facts.ack),
            sack: blocks.map(text),
            print: Some(facts.print),
            ..self
        }
    }
    /// Names of link and flow. After the row the packet is at the start of the link, at its end, or gone.
    fn with_names(self, names: &Names, at: At) -> Self {
        let link = self.link.map_or([const { None }; 3], |link| names.link(link));
        let holder = at.of(&link);
        let flow_name = self.flow.and_then(|flow| names.flows.get(flow as usize).cloned());
        let [link_name, from_name, to_name] = link;
        Self { link_name, from_name, to_name, flow_name, holder, ..self }
    }
    fn link(&self) -> Result<u32, String> {
        self.need("link", self.link)
    }
    fn facts(&self) -> Result<Facts, String> {
        let what = self.need("what", self.what.as_deref())?;
        let (hop, size) = (self.need("hop", self.hop)?, self.need("bytes", self.bytes)?);
        let priority = self.need("priority", self.priority)?;
        Ok(Facts {
            flow: self.need("flow", self.flow)?,
            forward: self.need("forward", self.forward)?,
            hop: u16::try_from(hop).map_err(|_| format!("`hop` {hop} is too large"))?,
            priority: u8::try_from(priority).map_err(|_| format!("`priority` {priority} is too large"))?,
            what: value(&WHATS, "packet", what)?,
            size: u32::try_from(size).map_err(|_| format!("`bytes` {size} are too many"))?,
            length: self.need("length", self.length)?,
            offset: self.need("offset", self.offset)?,
            fin: self.need("fin", self.fin)?,
            ack: self.need("ack", self.ack)?,
            sack: self.sack.as_deref().map(blocks).transpose()?,
            print: self.need("print", self.print)?,
        })
    }
}

fn blocks(text: &str) -> Result<Sack, String> {
    let one = |part: &str| {
        let (from, to) = part.split_once('-')?;
        Some((from.parse().ok()?, to.parse().ok()?))
    };
    let blocks: Option<Vec<Range>> = text.split_ascii_whitespace().map(one).collect();
    let blocks = blocks.filter(|blocks| blocks.len() <= SACK_BLOCKS_MAX);
    blocks.map(|blocks| Sack::new(blocks.into_iter())).ok_or_else(|| format!("`{text}` are no blocks"))
}
