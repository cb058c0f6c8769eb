//! NDN: which Interests Data answers, how soon, and which are sent again, refused or left unanswered.

use super::flow::Moment;
use super::half::{Half, Sent};
use super::messages::Fingerprint;
use super::tcp::path_ns;
use lightlag_protocols::wire::ndn::{
    Interest, LpPacket, Name, Reassembler, data::DATA, interest::LIFETIME_DEFAULT, name::NAME, tlv,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Interests of a direction that wait for Data; more are not followed.
const PENDING_MAX: usize = 65_536;
/// Names of Data that are remembered of a direction; more are not known again.
const NAMES_MAX: usize = 65_536;

/// The port of forwarders, in UDP.
pub const PORT: u16 = 6363;

/// Both ends.
#[derive(Clone, Debug, Default)]
pub struct Ndn {
    ends: [End; 2],
}

#[derive(Clone, Debug, Default)]
struct End {
    fragments: Reassembler,
    /// Interests that it sent.
    pending: BTreeMap<Fingerprint, Pending>,
    /// Names of Data that it sent.
    sent: BTreeSet<Fingerprint>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    sent_ns: i64,
    again: bool,
    until_ns: i64,
    prefix: bool,
}

impl Ndn {
    /// A datagram of `length` bytes that travels from end `way` to the other, as far as it was kept; false if it is no
    /// packet of NDN.
    pub fn on_datagram(
        &mut self,
        halves: &mut [Half; 2],
        way: usize,
        (kept, length): (&[u8], usize),
        now: &Moment,
    ) -> bool {
        let mut bytes = Cow::Borrowed(kept);
        if kept.len() < length {
            // Lengths must fit; the name is at the front.
            bytes.to_mut().resize(length, 0);
        }
        // Senders may put several packets into a datagram.
        let (mut rest, mut is_ndn) = (&*bytes, false);
        while let Ok(Some(size)) = tlv::first_size(rest)
            && let Some((packet, behind)) = rest.split_at_checked(size as usize)
            && self.on_packet(halves, way, packet, now)
        {
            (rest, is_ndn) = (behind, true);
        }
        is_ndn
    }

    fn on_packet(&mut self, halves: &mut [Half; 2], way: usize, bytes: &[u8], now: &Moment) -> bool {
        let Ok(packet) = LpPacket::read(bytes) else { return false };
        let mut fragments = std::mem::take(&mut self.ends[way].fragments);
        let is_packet = match fragments.take(packet) {
            Ok(Some((headers, whole))) => {
                if let Ok(interest) = Interest::read(&whole) {
                    match headers.nack {
                        Some(_) => self.on_nack(halves, way, &interest),
                        None => self.on_interest(halves, way, &interest, now),
                    }
                    true
                } else if let Some(name) = name_of_data(&whole) {
                    self.on_data(halves, way, &name, whole.len() as u64, now);
                    true
                } else {
                    false
                }
            }
            read => {
                halves[way].counts.control += 1;
                read.is_ok()
            }
        };
        self.ends[way].fragments = fragments;
        is_packet
    }

    fn on_interest(&mut self, halves: &mut [Half; 2], way: usize, interest: &Interest<'_>, now: &Moment) {
        let (end, half) = (&mut self.ends[way], &mut halves[way]);
        half.counts.control += 1;
        half.messages.sent += 1;
        let lifetime = interest.lifetime.unwrap_or(LIFETIME_DEFAULT);
        let until_ns = now.ns.saturating_add(lifetime.as_nanos());
        let fresh = Pending { sent_ns: now.ns, again: false, until_ns, prefix: interest.can_be_prefix };
        let name = whole(&interest.name);
        if let Some(before) = end.pending.get_mut(&name) {
            half.messages.again += 1;
            half.counts.again_packets += 1;
            half.counts.again_by_timer += 1;
            *before = Pending { again: true, sent_ns: before.sent_ns, ..fresh };
        } else if end.pending.len() < PENDING_MAX {
            end.pending.insert(name, fresh);
        }
        half.outstanding.add(end.pending.len() as f64);
        half.outstanding_sizes.add(end.pending.len() as u64);
        half.weighted.set(now.ns, end.pending.len() as u64);
    }

    fn on_nack(&mut self, halves: &mut [Half; 2], way: usize, interest: &Interest<'_>) {
        halves[way].counts.control += 1;
        let other = 1 - way;
        if self.ends[other].pending.remove(&whole(&interest.name)).is_some() {
            halves[other].counts.lost += 1;
            halves[other].messages.lost += 1;
        }
    }

    fn on_data(&mut self, halves: &mut [Half; 2], way: usize, name: &Name<'_>, size: u64, now: &Moment) {
        let other = 1 - way;
        self.answer(halves, other, name, size, now);
        let name = whole(name);
        let (end, path_ns) = (&mut self.ends[way], path_ns(halves));
        let half = &mut halves[way];
        let known = end.sent.contains(&name);
        if !known && end.sent.len() < NAMES_MAX {
            end.sent.insert(name);
        }
        let again = if known { size } else { 0 };
        half.counts.again_packets += u64::from(known);
        half.counts.again_bytes += again;
        let sent = Sent { now: *now, from: 0, to: 0, payload: size, path_ns, packet: 1, under_way: 0 };
        half.on_data(&sent, again);
    }

    /// Data of this name answers an Interest.
    fn answer(&mut self, halves: &mut [Half; 2], way: usize, name: &Name<'_>, size: u64, now: &Moment) {
        let (end, half) = (&mut self.ends[way], &mut halves[way]);
        let Some(pending) = end.asked(name).and_then(|name| end.pending.remove(&name)) else { return };
        half.acknowledged_ns = Some(now.ns);
        half.messages.bytes += size;
        half.weighted.set(now.ns, end.pending.len() as u64);
        if now.ns > pending.until_ns {
            half.messages.lost += 1;
            half.counts.lost += 1;
            return;
        }
        half.messages.complete(pending.sent_ns, now);
        // An Interest that was sent twice gives no round trip (Karn's rule).
        if !pending.again {
            half.on_rtt(now.ns, now.ns - pending.sent_ns);
        }
    }

    /// The capture has ended at `now_ns`: Interests whose lifetime is over are lost.
    pub fn finish(&self, halves: &mut [Half; 2], now_ns: i64) {
        for (end, half) in self.ends.iter().zip(halves) {
            let late = end.pending.values().filter(|pending| pending.until_ns < now_ns).count() as u64;
            half.messages.lost += late;
            half.counts.lost += late;
        }
    }
}

impl End {
    /// The Interest that Data of this name answers: of its own name, or of its longest prefix that allows it.
    fn asked(&self, name: &Name<'_>) -> Option<Fingerprint> {
        let mut prefixes = prefixes(name);
        let own = prefixes.pop().filter(|own| self.pending.contains_key(own));
        let allows = |prefix: &Fingerprint| self.pending.get(prefix).is_some_and(|pending| pending.prefix);
        own.or_else(|| prefixes.into_iter().rev().find(allows))
    }
}

/// The name of a Data packet, of which the rest may be missing.
fn name_of_data(packet: &[u8]) -> Option<Name<'_>> {
    let data = tlv::only(packet).ok().filter(|data| data.kind == DATA)?;
    let name = tlv::Reader::new(data.value).read().ok()??;
    Name::read(name.value).ok().filter(|_| name.kind == NAME)
}

/// All prefixes of a name, the shortest first; the last is the name.
fn prefixes(name: &Name<'_>) -> Vec<Fingerprint> {
    let mut prefix = Fingerprint::default();
    let longer = name.components().map(|component| {
        let size = component.value.len() as u64;
        prefix = prefix.with(&component.kind.to_be_bytes()).with(&size.to_be_bytes()).with(component.value);
        prefix
    });
    [Fingerprint::default()].into_iter().chain(longer).collect()
}

fn whole(name: &Name<'_>) -> Fingerprint {
    prefixes(name).pop().unwrap_or_default()
}
