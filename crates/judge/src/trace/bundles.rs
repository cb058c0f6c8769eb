//! A record as a flat row: what both file formats hold.

use super::event::{events, parts, put, take};
use super::{Names, Text, TraceWriter};
use lightlag_protocols::dtn::Bundle;
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::Instant;
use std::io::Write;

crate::row! {
    /// One row. Which columns are filled depends on `kind`.
    Row {
        /// When, in nanoseconds.
        time_ns: i64,
        /// What happened: node, reply, created, rejected, contact_up, rate, contact_down, started, aborted, sent,
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
        /// The bundle that answers `bundle`, of a `reply`.
        reply: Option<u32>,
        /// Metres to the east of the origin, of a `position`.
        x_m: Option<f64>,
        /// Metres to the north of the origin, of a `position`.
        y_m: Option<f64>,
    }
}

events! {
    Row of Record;
    "node" => Node { node, buffer }: node = node, bytes = buffer;
    "reply" => Reply { request, reply, kind }: bundle = request, reply = reply, why = kind;
    "created" => Created(bundle): * = bundle;
    "rejected" => Rejected(bundle): * = bundle;
    "contact_up" => ContactUp { a, b, rate, delay }:
        node = a, peer = b, [rate rate_back] = rate, [delay_ns delay_back_ns] = delay;
    "rate" => Rate { a, b, rate }: node = a, peer = b, [rate rate_back] = rate;
    "contact_down" => ContactDown { a, b }: node = a, peer = b;
    "started" => Started { from, to, id }: node = from, peer = to, bundle = id;
    "aborted" => Aborted { from, to, id }: node = from, peer = to, bundle = id;
    "sent" => Sent { from, to, id }: node = from, peer = to, bundle = id;
    "stored" => Stored { from, to, id, started }: node = from, peer = to, bundle = id, since_ns = started;
    "delivered" => Delivered { from, to, id, started, hops, first }:
        node = from, peer = to, bundle = id, since_ns = started, hops = hops, first = first;
    "refused" => Refused { from, to, id, started, why }:
        node = from, peer = to, bundle = id, since_ns = started, why = why;
    "control" => Control { from, to, size }: node = from, peer = to, bytes = size;
    "gone" => Gone { node, id, reason, received }: node = node, bundle = id, why = reason, since_ns = received;
    "sample" => Sample { node, used, seen }: node = node, bytes = used, seen = seen;
    "position" => Position { node, x_m, y_m }: node = node, x_m = x_m, y_m = y_m;
    "end" => End {};
}

parts! {
    Row:
    Bundle {
        id: bundle, source: node, destination: peer, size: bytes, created: since_ns, expires: expires_ns,
    }
}

impl<W: Write + Send> Observer for TraceWriter<Row, W> {
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.put(now, record);
    }
}

impl Row {
    #[inline]
    fn with_names(self, record: &Record, names: &Names) -> Self {
        if names.nodes.is_empty() {
            return self;
        }
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
}
