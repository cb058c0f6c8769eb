//! A row of a trace of names: enough for the judge.

use super::names::{WHYS, name, value};
use super::{At, Names, Text, TraceRow, TraceWriter};
use crate::names::{Carried, Event};
use lightlag_protocols::ndn::{Data, Interest, Name, Prefix, Refused, Selectors};
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

const REFUSED: [(Refused, &str); 7] = [
    (Refused::HopLimit, "hop_limit"),
    (Refused::Loop, "loop"),
    (Refused::NoRoute, "no_route"),
    (Refused::PitFull, "pit_full"),
    (Refused::TooSoon, "too_soon"),
    (Refused::Unsolicited, "unsolicited"),
    (Refused::NoData, "no_data"),
];

impl TraceRow for NameRow {
    type Event = Event;
    fn at(&self) -> Instant {
        Instant::from_nanos(self.time_ns)
    }
    fn kind(&self) -> &str {
        &self.kind
    }
    fn new(now: Instant, event: &Event, names: &Names) -> Self {
        let row = |kind: &'static str| Self { time_ns: now.as_nanos(), kind: kind.into(), ..Self::default() };
        let (row, holds) = match event {
            Event::Offered(link, carried) => (row("offered").with_carried(*link, carried), At::Start),
            Event::Arrived(link, carried) => (row("arrived").with_carried(*link, carried), At::End),
            Event::Dropped(link, carried, why) => {
                let row = row("dropped").with_carried(*link, carried);
                (Self { why: name(&WHYS, *why), ..row }, At::Nowhere)
            }
            Event::Asked(consumer, interest) => {
                let row = row("asked").with_interest(interest);
                (Self { consumer: Some(*consumer), ..row }, At::Node)
            }
            Event::Delivered(consumer, data) => {
                (Self { consumer: Some(*consumer), ..row("delivered").with_data(data) }, At::Node)
            }
            Event::Produced(producer, data) => {
                (Self { producer: Some(*producer), ..row("produced").with_data(data) }, At::Node)
            }
            Event::Hit(node, data) => (Self { node: Some(*node), ..row("hit").with_data(data) }, At::Node),
            Event::Refused(node, face, of, why) => {
                let (node, face, why) = (Some(*node), Some(*face), name(&REFUSED, *why));
                (Self { node, face, why, ..row("refused").with_name(*of) }, At::Nowhere)
            }
            Event::End => (row("end"), At::Nowhere),
        };
        row.with_names(names, holds)
    }
    fn event(&self) -> Result<Event, String> {
        match &*self.kind {
            "offered" => Ok(Event::Offered(self.need("link", self.link)?, self.carried()?)),
            "arrived" => Ok(Event::Arrived(self.need("link", self.link)?, self.carried()?)),
            "dropped" => {
                Ok(Event::Dropped(self.need("link", self.link)?, self.carried()?, self.reason(&WHYS)?))
            }
            "asked" => Ok(Event::Asked(self.need("consumer", self.consumer)?, self.interest()?)),
            "delivered" => Ok(Event::Delivered(self.need("consumer", self.consumer)?, self.data()?)),
            "produced" => Ok(Event::Produced(self.need("producer", self.producer)?, self.data()?)),
            "hit" => Ok(Event::Hit(self.need("node", self.node)?, self.data()?)),
            "refused" => {
                let (node, face) = (self.need("node", self.node)?, self.need("face", self.face)?);
                Ok(Event::Refused(node, face, self.name()?, self.reason(&REFUSED)?))
            }
            "end" => Ok(Event::End),
            unknown => Err(format!("unknown kind `{unknown}`")),
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
    fn with_name(self, name: Name) -> Self {
        Self { prefix: Some(name.prefix.0), segment: Some(name.segment), ..self }
    }
    fn with_carried(self, link: u32, carried: &Carried) -> Self {
        let row = Self { link: Some(link), ..self };
        match carried {
            Carried::Interest(interest, bytes) => {
                Self { what: Some("interest".into()), bytes: Some(*bytes), ..row.with_interest(interest) }
            }
            Carried::Data(data, due) => {
                let stamp_due_ns = due.map(Duration::as_nanos);
                Self { what: Some("data".into()), stamp_due_ns, ..row.with_data(data) }
            }
        }
    }
    fn with_interest(self, interest: &Interest) -> Self {
        Self {
            nonce: Some(interest.nonce),
            token: Some(interest.token),
            lifetime_ms: Some(interest.lifetime_ms),
            hop_limit: Some(interest.hop_limit.into()),
            can_be_prefix: Some(interest.selectors.can_be_prefix),
            must_be_fresh: Some(interest.selectors.must_be_fresh),
            ..self.with_name(interest.name)
        }
    }
    fn with_data(self, data: &Data) -> Self {
        Self {
            bytes: Some(data.size),
            content: Some(data.content),
            freshness_ms: Some(data.freshness_ms),
            token: Some(data.token),
            stamp: data.stamp,
            site: data.site,
            marked: Some(data.marked),
            print: Some(data.print),
            ..self.with_name(data.name)
        }
    }
    fn name(&self) -> Result<Name, String> {
        let prefix = Prefix(self.need("prefix", self.prefix)?);
        Ok(Name { prefix, segment: self.need("segment", self.segment)? })
    }
    fn carried(&self) -> Result<Carried, String> {
        match self.need("what", self.what.as_deref())? {
            "interest" => Ok(Carried::Interest(self.interest()?, self.need("bytes", self.bytes)?)),
            "data" => Ok(Carried::Data(self.data()?, self.stamp_due_ns.map(Duration::from_nanos))),
            unknown => Err(format!("unknown packet `{unknown}`")),
        }
    }
    fn interest(&self) -> Result<Interest, String> {
        let hop_limit = self.need("hop_limit", self.hop_limit)?;
        Ok(Interest {
            name: self.name()?,
            nonce: self.need("nonce", self.nonce)?,
            token: self.need("token", self.token)?,
            lifetime_ms: self.need("lifetime_ms", self.lifetime_ms)?,
            hop_limit: u8::try_from(hop_limit)
                .map_err(|_| format!("`hop_limit` {hop_limit} is too large"))?,
            selectors: Selectors {
                can_be_prefix: self.need("can_be_prefix", self.can_be_prefix)?,
                must_be_fresh: self.need("must_be_fresh", self.must_be_fresh)?,
            },
        })
    }
    fn data(&self) -> Result<Data, String> {
        Ok(Data {
            name: self.name()?,
            content: self.need("content", self.content)?,
            size: self.need("bytes", self.bytes)?,
            freshness_ms: self.need("freshness_ms", self.freshness_ms)?,
            token: self.need("token", self.token)?,
            stamp: self.stamp,
            site: self.site,
            marked: self.need("marked", self.marked)?,
            print: self.need("print", self.print)?,
        })
    }
    fn reason<T: Copy>(&self, known: &[(T, &str)]) -> Result<T, String> {
        value(known, "reason", self.need("why", self.why.as_deref())?)
    }
    fn with_names(self, names: &Names, holds: At) -> Self {
        let link = self.link.map_or([const { None }; 3], |link| names.link(link));
        let consumer = self.consumer.and_then(|number| names.consumers.get(number as usize));
        let producer = self.producer.and_then(|number| names.producers.get(number as usize));
        let node = self.node.or(consumer.or(producer).map(|party| party.1));
        let node_name = node.and_then(|node| names.node(node));
        let holder = if let At::Node = holds { node_name.clone() } else { holds.of(&link) };
        let prefix = self.prefix.filter(|&prefix| (prefix as usize) < names.prefixes.count());
        let whole = |prefix| Name { prefix: Prefix(prefix), segment: Name::WHOLE };
        let prefix_name = prefix.map(|prefix| names.prefixes.text(whole(prefix)));
        let [link_name, from_name, to_name] = link;
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
