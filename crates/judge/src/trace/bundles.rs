//! A record as a flat row: what both file formats hold.

use super::{Names, Text, TraceRow, TraceWriter, names};
use lightlag_protocols::dtn::{Bundle, BundleId, NodeId};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use std::io::Write;

crate::row! {
    /// One row. Which columns are filled depends on `kind`.
    Row {
        /// When, in nanoseconds.
        time_ns: i64,
        /// What happened: node, created, rejected, contact_up, contact_down, started, aborted, sent,
        /// stored, delivered, refused, control, gone, sample, position, end.
        kind: Text,
        /// The node, the sender, the source, or one end of a contact.
        node: Option<u32>,
        /// The receiver, the destination, or the other end.
        peer: Option<u32>,
        /// The bundle.
        bundle: Option<u32>,
        /// Size of the buffer, the bundle or the control data, or bytes in use.
        bytes: Option<u64>,
        /// When the bundle was created, the transfer started, or the copy received.
        since_ns: Option<i64>,
        /// When the bundle's lifetime ends.
        expires_ns: Option<i64>,
        /// Bits per second from node to peer.
        rate: Option<u64>,
        /// Bits per second from peer to node.
        rate_back: Option<u64>,
        /// One-way delay from node to peer.
        delay_ns: Option<i64>,
        /// One-way delay from peer to node.
        delay_back_ns: Option<i64>,
        /// Links crossed.
        hops: Option<u32>,
        /// Whether a delivery is the first.
        first: Option<bool>,
        /// Why a copy was deleted or refused.
        why: Option<Text>,
        /// What algorithms show: `name=value name=value`.
        seen: Option<String>,
        /// Name of `node`.
        node_name: Option<String>,
        /// Name of `peer`.
        peer_name: Option<String>,
        /// Name of the node that holds this copy of the bundle after the row; empty where the copy is gone.
        holder: Option<String>,
        /// Metres to the east of the origin, of a `position`.
        x_m: Option<f64>,
        /// Metres to the north of the origin, of a `position`.
        y_m: Option<f64>,
    }
}

/// Node and bundle numbers are small and dense: readers make tables of that length.
const MOST_NUMBERS: u32 = 1 << 26;

impl TraceRow for Row {
    type Event = Record;
    fn at(&self) -> Instant {
        Instant::from_nanos(self.time_ns)
    }
    fn kind(&self) -> &str {
        &self.kind
    }
    fn new(now: Instant, record: &Record, names: &Names) -> Self {
        Self::plain(now, record).with_names(record, names)
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
            "position" => {
                let (x_m, y_m) = (self.need("x_m", self.x_m)?, self.need("y_m", self.y_m)?);
                Ok(Record::Position { node: self.node()?, x_m, y_m })
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
    fn plain(now: Instant, record: &Record) -> Self {
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
                why: names::name(&names::REFUSALS, *why),
                ..row.with_transfer(*from, *to, *id)
            },
            Record::Control { from, to, size } => {
                Self { node: Some(from.0), peer: Some(to.0), bytes: Some(size.get()), ..row }
            }
            Record::Gone { node, id, reason, received } => Self {
                node: Some(node.0),
                bundle: Some(id.0),
                since_ns: Some(received.as_nanos()),
                why: names::name(&names::REASONS, *reason),
                ..row
            },
            Record::Sample { node, used, seen } => Self {
                node: Some(node.0),
                bytes: Some(used.get()),
                seen: Some(names::of_observation(seen)),
                ..row
            },
            Record::Position { node, x_m, y_m } => {
                Self { node: Some(node.0), x_m: Some(*x_m), y_m: Some(*y_m), ..row }
            }
            Record::End => row,
        }
    }
    fn with_names(self, record: &Record, names: &Names) -> Self {
        let name = |number: Option<u32>| number.and_then(|number| names.node(number));
        let (node_name, peer_name) = (name(self.node), name(self.peer));
        let holder = match record {
            Record::Created(_) | Record::Started { .. } | Record::Aborted { .. } | Record::Sent { .. } => {
                node_name.clone()
            }
            // A refused copy stays with its sender.
            Record::Refused { .. } => node_name.clone(),
            Record::Stored { .. } | Record::Delivered { .. } => peer_name.clone(),
            _ => None,
        };
        Self { node_name, peer_name, holder, ..self }
    }
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
                let why = names::value(&names::REFUSALS, "refusal", why)?;
                Record::Refused { from, to, id, started, why }
            }
        })
    }
    fn gone(&self) -> Result<Record, String> {
        let why = self.why()?;
        let reason = names::value(&names::REASONS, "reason", why)?;
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
        Record::Position { .. } => "position",
        Record::End => "end",
    }
}
