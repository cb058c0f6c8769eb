//! A record as a flat row: what both file formats hold.

use super::table::columns;
use super::{Text, TraceRow, TraceWriter, names};
use lightlag_protocols::dtn::{Bundle, BundleId, NodeId};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use serde::{Deserialize, Serialize};
use std::io::Write;

/// One row. Which columns are filled depends on `kind`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// When, in nanoseconds.
    pub time_ns: i64,
    /// What happened: node, created, rejected, contact_up, contact_down, started, aborted, sent,
    /// stored, delivered, refused, control, gone, sample, end.
    pub kind: Text,
    /// The node, the sender, the source, or one end of a contact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
    /// The receiver, the destination, or the other end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<u32>,
    /// The bundle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle: Option<u32>,
    /// Size of the buffer, the bundle or the control data, or bytes in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// When the bundle was created, the transfer started, or the copy received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ns: Option<i64>,
    /// When the bundle's lifetime ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_ns: Option<i64>,
    /// Bits per second from node to peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<u64>,
    /// Bits per second from peer to node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_back: Option<u64>,
    /// One-way delay from node to peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<i64>,
    /// One-way delay from peer to node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_back_ns: Option<i64>,
    /// Links crossed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// Whether a delivery is the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<bool>,
    /// Why a copy was deleted or refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Text>,
    /// What algorithms show: `name=value name=value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}

/// Node and bundle numbers are small and dense: readers make tables of that length.
const MOST_NUMBERS: u32 = 1 << 26;

columns!(Row {
    time_ns,
    kind,
    node,
    peer,
    bundle,
    bytes,
    since_ns,
    expires_ns,
    rate,
    rate_back,
    delay_ns,
    delay_back_ns,
    hops,
    first,
    why,
    seen,
});

impl TraceRow for Row {
    type Event = Record;
    fn new(now: Instant, record: &Record) -> Self {
        let kind = kind(record).into();
        let row = Self { time_ns: now.as_nanos(), kind, ..Self::default() };
        match record {
            Record::Node { node, buffer } => Self { node: Some(node.0), bytes: Some(buffer.get()), ..row },
            Record::Created(bundle) | Record::Rejected(bundle) => row.with_bundle(bundle),
            Record::ContactUp { a, b, rate, delay } => row.with_contact(*a, *b, *rate, *delay),
            Record::ContactDown { a, b } => Self { node: Some(a.0), peer: Some(b.0), ..row },
            Record::Started { from, to, id }
            | Record::Aborted { from, to, id }
            | Record::Sent { from, to, id } => row.with_transfer(*from, *to, *id),
            Record::Stored { from, to, id, started } => {
                Self { since_ns: Some(started.as_nanos()), ..row.with_transfer(*from, *to, *id) }
            }
            Record::Delivered { from, to, id, started, hops, first } => Self {
                since_ns: Some(started.as_nanos()),
                hops: Some(*hops),
                first: Some(*first),
                ..row.with_transfer(*from, *to, *id)
            },
            Record::Refused { from, to, id, started, why } => Self {
                since_ns: Some(started.as_nanos()),
                why: Some(names::of_refusal(*why).into()),
                ..row.with_transfer(*from, *to, *id)
            },
            Record::Control { from, to, size } => {
                Self { node: Some(from.0), peer: Some(to.0), bytes: Some(size.get()), ..row }
            }
            Record::Gone { node, id, reason, received } => Self {
                node: Some(node.0),
                bundle: Some(id.0),
                since_ns: Some(received.as_nanos()),
                why: Some(names::of_reason(*reason).into()),
                ..row
            },
            Record::Sample { node, used, seen } => Self {
                node: Some(node.0),
                bytes: Some(used.get()),
                seen: Some(names::of_observation(seen)),
                ..row
            },
            Record::End => row,
        }
    }
    fn at(&self) -> Instant {
        Instant::from_nanos(self.time_ns)
    }
    fn event(&self) -> Result<Record, String> {
        match &*self.kind {
            "node" => Ok(Record::Node { node: self.node()?, buffer: self.bytes()? }),
            "created" => Ok(Record::Created(self.bundle_facts()?)),
            "rejected" => Ok(Record::Rejected(self.bundle_facts()?)),
            "contact_up" => self.contact_up(),
            "contact_down" => Ok(Record::ContactDown { a: self.node()?, b: self.peer()? }),
            "started" => Ok(Record::Started { from: self.node()?, to: self.peer()?, id: self.id()? }),
            "aborted" => Ok(Record::Aborted { from: self.node()?, to: self.peer()?, id: self.id()? }),
            "sent" => Ok(Record::Sent { from: self.node()?, to: self.peer()?, id: self.id()? }),
            "stored" | "delivered" | "refused" => self.arrival(),
            "control" => Ok(Record::Control { from: self.node()?, to: self.peer()?, size: self.bytes()? }),
            "gone" => self.gone(),
            "sample" => {
                let seen = names::observation(self.seen.as_deref().unwrap_or_default())?;
                Ok(Record::Sample { node: self.node()?, used: self.bytes()?, seen })
            }
            "end" => Ok(Record::End),
            unknown => Err(format!("unknown kind `{unknown}`")),
        }
    }
}

impl<W: Write + Send> Observer for TraceWriter<Row, W> {
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.put(now, record);
    }
}

impl Row {
    fn with_bundle(self, bundle: &Bundle) -> Self {
        Self {
            node: Some(bundle.source.0),
            peer: Some(bundle.destination.0),
            bundle: Some(bundle.id.0),
            bytes: Some(bundle.size.get()),
            since_ns: Some(bundle.created.as_nanos()),
            expires_ns: Some(bundle.expires.as_nanos()),
            ..self
        }
    }
    fn with_contact(self, a: NodeId, b: NodeId, rate: [BitRate; 2], delay: [Duration; 2]) -> Self {
        Self {
            node: Some(a.0),
            peer: Some(b.0),
            rate: Some(rate[0].as_bit_per_s()),
            rate_back: Some(rate[1].as_bit_per_s()),
            delay_ns: Some(delay[0].as_nanos()),
            delay_back_ns: Some(delay[1].as_nanos()),
            ..self
        }
    }
    fn with_transfer(self, from: NodeId, to: NodeId, id: BundleId) -> Self {
        Self { node: Some(from.0), peer: Some(to.0), bundle: Some(id.0), ..self }
    }
    fn arrival(&self) -> Result<Record, String> {
        let (from, to, id, started) = (self.node()?, self.peer()?, self.id()?, self.since()?);
        Ok(match &*self.kind {
            "stored" => Record::Stored { from, to, id, started },
            "delivered" => {
                let hops = self.need("hops", self.hops)?;
                let first = self.need("first", self.first)?;
                Record::Delivered { from, to, id, started, hops, first }
            }
            _ => {
                let why = self.why()?;
                let why = names::refusal(why).ok_or_else(|| format!("unknown refusal `{why}`"))?;
                Record::Refused { from, to, id, started, why }
            }
        })
    }
    fn gone(&self) -> Result<Record, String> {
        let why = self.why()?;
        let reason = names::reason(why).ok_or_else(|| format!("unknown reason `{why}`"))?;
        Ok(Record::Gone { node: self.node()?, id: self.id()?, reason, received: self.since()? })
    }
    fn contact_up(&self) -> Result<Record, String> {
        let rate = [self.need("rate", self.rate)?, self.need("rate_back", self.rate_back)?];
        let delay = [self.need("delay_ns", self.delay_ns)?, self.need("delay_back_ns", self.delay_back_ns)?];
        Ok(Record::ContactUp {
            a: self.node()?,
            b: self.peer()?,
            rate: rate.map(BitRate),
            delay: delay.map(Duration::from_nanos),
        })
    }
    fn bundle_facts(&self) -> Result<Bundle, String> {
        Ok(Bundle {
            id: self.id()?,
            source: self.node()?,
            destination: self.peer()?,
            size: self.bytes()?,
            created: self.since()?,
            expires: Instant::from_nanos(self.need("expires_ns", self.expires_ns)?),
        })
    }
    fn need<T>(&self, column: &str, value: Option<T>) -> Result<T, String> {
        value.ok_or_else(|| format!("`{}` without `{column}`", self.kind))
    }
    fn number(&self, column: &str, value: Option<u32>) -> Result<u32, String> {
        let number = self.need(column, value)?;
        if number < MOST_NUMBERS { Ok(number) } else { Err(format!("`{column}` {number} is too large")) }
    }
    fn node(&self) -> Result<NodeId, String> {
        self.number("node", self.node).map(NodeId)
    }
    fn peer(&self) -> Result<NodeId, String> {
        self.number("peer", self.peer).map(NodeId)
    }
    fn id(&self) -> Result<BundleId, String> {
        self.number("bundle", self.bundle).map(BundleId)
    }
    fn bytes(&self) -> Result<Bytes, String> {
        self.need("bytes", self.bytes).map(Bytes)
    }
    fn since(&self) -> Result<Instant, String> {
        self.need("since_ns", self.since_ns).map(Instant::from_nanos)
    }
    fn why(&self) -> Result<&str, String> {
        self.need("why", self.why.as_deref())
    }
}

fn kind(record: &Record) -> &'static str {
    match record {
        Record::Node { .. } => "node",
        Record::Created(_) => "created",
        Record::Rejected(_) => "rejected",
        Record::ContactUp { .. } => "contact_up",
        Record::ContactDown { .. } => "contact_down",
        Record::Started { .. } => "started",
        Record::Aborted { .. } => "aborted",
        Record::Sent { .. } => "sent",
        Record::Stored { .. } => "stored",
        Record::Delivered { .. } => "delivered",
        Record::Refused { .. } => "refused",
        Record::Control { .. } => "control",
        Record::Gone { .. } => "gone",
        Record::Sample { .. } => "sample",
        Record::End => "end",
    }
}
