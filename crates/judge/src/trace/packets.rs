//! A row of a trace of packets: enough for the judge.

use super::table::columns;
use super::{Text, TraceRow, TraceWriter};
use crate::packets::{Event, Facts, WHATS};
use lightlag_protocols::link::Why;
use lightlag_protocols::record::packets::{Observer, Record};
use lightlag_protocols::time::Instant;
use lightlag_protocols::transport::ranges::Range;
use lightlag_protocols::transport::tcp::{SACK_BLOCKS_MAX, Sack};
use serde::{Deserialize, Serialize};
use std::io::Write;

/// One thing that happened, flat. Columns are empty where they mean nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketRow {
    /// When.
    pub time_ns: i64,
    /// `offered`, `arrived`, `dropped`, `delivered`, `end`.
    pub kind: Text,
    /// The direction of a link, counted from 0 in the order of the scenario, there before back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<u32>,
    /// The flow, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<u32>,
    /// From the sender to the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward: Option<bool>,
    /// Links that the packet has crossed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop: Option<u32>,
    /// Lower ones leave first, where the queue has priorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<Text>,
    /// Bytes on the link; of `delivered` bytes in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Bytes of data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u32>,
    /// Offset of the first of them; of a symbol its block times 2^32 and its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The stream ends with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fin: Option<bool>,
    /// Everything below has come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<u64>,
    /// What has come above: `FROM-TO FROM-TO`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack: Option<String>,
    /// Tells packets of different content apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub print: Option<u64>,
    /// Why it was dropped: `full`, `marked`, `lost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Text>,
}

const WHYS: [(Why, &str); 3] = [(Why::Full, "full"), (Why::Marked, "marked"), (Why::Lost, "lost")];

columns!(PacketRow {
    time_ns,
    kind,
    link,
    flow,
    forward,
    hop,
    priority,
    what,
    bytes,
    length,
    offset,
    fin,
    ack,
    sack,
    print,
    why,
});

impl TraceRow for PacketRow {
    type Event = Event;
    fn new(now: Instant, event: &Event) -> Self {
        let row = |kind: &'static str| Self { time_ns: now.as_nanos(), kind: kind.into(), ..Self::default() };
        match event {
            Event::Offered(link, facts) => row("offered").with_packet(*link, facts),
            Event::Arrived(link, facts) => row("arrived").with_packet(*link, facts),
            Event::Dropped(link, facts, why) => {
                let why = WHYS.iter().find(|known| known.0 == *why).map(|known| known.1.into());
                Self { why, ..row("dropped").with_packet(*link, facts) }
            }
            Event::Delivered(flow, total) => {
                Self { flow: Some(*flow), bytes: Some(*total), ..row("delivered") }
            }
            Event::End => row("end"),
        }
    }
    fn at(&self) -> Instant {
        Instant::from_nanos(self.time_ns)
    }
    fn event(&self) -> Result<Event, String> {
        match &*self.kind {
            "offered" => Ok(Event::Offered(self.link()?, self.facts()?)),
            "arrived" => Ok(Event::Arrived(self.link()?, self.facts()?)),
            "dropped" => {
                let why = self.need("why", self.why.as_deref())?;
                let known = WHYS.iter().find(|known| known.1 == why).map(|known| known.0);
                let why = known.ok_or_else(|| format!("unknown reason `{why}`"))?;
                Ok(Event::Dropped(self.link()?, self.facts()?, why))
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
        let what = WHATS.iter().find(|known| known.0 == facts.what).map(|known| known.1.into());
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
            what,
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
    fn link(&self) -> Result<u32, String> {
        self.need("link", self.link)
    }
    fn facts(&self) -> Result<Facts, String> {
        let what = self.need("what", self.what.as_deref())?;
        let known = WHATS.iter().find(|known| known.1 == what).map(|known| known.0);
        let (hop, size) = (self.need("hop", self.hop)?, self.need("bytes", self.bytes)?);
        let priority = self.need("priority", self.priority)?;
        Ok(Facts {
            flow: self.need("flow", self.flow)?,
            forward: self.need("forward", self.forward)?,
            hop: u16::try_from(hop).map_err(|_| format!("`hop` {hop} is too large"))?,
            priority: u8::try_from(priority).map_err(|_| format!("`priority` {priority} is too large"))?,
            what: known.ok_or_else(|| format!("unknown packet `{what}`"))?,
            size: u32::try_from(size).map_err(|_| format!("`bytes` {size} are too many"))?,
            length: self.need("length", self.length)?,
            offset: self.need("offset", self.offset)?,
            fin: self.need("fin", self.fin)?,
            ack: self.need("ack", self.ack)?,
            sack: self.sack.as_deref().map(blocks).transpose()?,
            print: self.need("print", self.print)?,
        })
    }
    fn need<T>(&self, column: &str, value: Option<T>) -> Result<T, String> {
        value.ok_or_else(|| format!("`{}` without `{column}`", self.kind))
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
