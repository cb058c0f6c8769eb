//! What the records of a run show of each bundle and node.

use super::contacts::Meetings;
use lightlag_protocols::dtn::{Bundle, BundleId, DropReason, NodeId, Refusal};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use std::collections::BTreeMap;

/// Reads the records of a run. Numbers may come from a damaged trace, so nothing is as long as the largest of them.
#[derive(Debug, Default)]
pub struct Collector {
    pub nodes: BTreeMap<u32, NodeFact>,
    pub bundles: BTreeMap<u32, Fact>,
    pub meetings: Meetings,
    pub transfers: Transfers,
    /// When the run ended.
    pub end: Instant,
    /// The bundle whose life is wanted, and what happened to it.
    pub life: Option<(BundleId, Vec<(Instant, Record)>)>,
}

/// What is known of a node.
#[derive(Clone, Debug, Default)]
pub struct NodeFact {
    pub name: Option<String>,
    pub buffer: u64,
    /// Copies deleted for lack of room.
    pub dropped: u64,
    /// Copies deleted at the end of their lifetime.
    pub expired: u64,
    /// How long the dropped ones had been there.
    pub stays: Vec<Duration>,
}

/// Transfers of a run.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    pub started: u64,
    pub aborted: u64,
    pub refused: BTreeMap<Refusal, u64>,
}

impl Transfers {
    pub fn refused_total(&self) -> u64 {
        self.refused.values().sum()
    }
}

/// What is known of a bundle.
#[derive(Clone, Debug)]
pub struct Fact {
    pub bundle: Bundle,
    /// When its source could not store it, if so.
    pub rejected: Option<Instant>,
    /// When it first reached its destination, if so.
    pub delivered: Option<Delivery>,
    /// Copies in buffers, and those on links after their last bit has left.
    pub copies: i64,
    pub flying: i64,
    /// Where, when and why the latest copy was deleted.
    pub gone: Option<Gone>,
    /// Transfers begun, cut off, and those of both that went to the destination.
    pub started: u64,
    pub aborted: u64,
    pub cut_at_destination: u64,
    pub refused: u64,
    /// Copies that other nodes stored.
    pub stored: u64,
}

/// The first arrival at the destination.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    pub at: Instant,
    pub hops: u32,
}

/// The end of a copy.
#[derive(Clone, Copy, Debug)]
pub struct Gone {
    pub at: Instant,
    pub node: NodeId,
    pub reason: DropReason,
}

impl Fact {
    fn new(bundle: Bundle) -> Self {
        Self {
            bundle,
            rejected: None,
            delivered: None,
            copies: 0,
            flying: 0,
            gone: None,
            started: 0,
            aborted: 0,
            cut_at_destination: 0,
            refused: 0,
            stored: 0,
        }
    }
}

impl Collector {
    /// One that also keeps all that happens to a bundle.
    pub fn with_life(id: Option<BundleId>) -> Self {
        Self { life: id.map(|id| (id, Vec::new())), ..Self::default() }
    }
    /// Sets the name of a node.
    pub fn name(&mut self, node: NodeId, name: &str) {
        self.nodes.entry(node.0).or_default().name = Some(name.to_owned());
    }
    /// Name of a node; its number if it has none.
    pub fn node(&self, node: NodeId) -> String {
        let name = self.nodes.get(&node.0).and_then(|fact| fact.name.clone());
        name.unwrap_or_else(|| format!("node {}", node.0))
    }
    /// Bundles created, those included that their sources could not store.
    pub fn created(&self) -> u64 {
        self.bundles.len() as u64
    }
    fn fact(&mut self, id: BundleId) -> Option<&mut Fact> {
        self.bundles.get_mut(&id.0)
    }
    fn gone(&mut self, at: Instant, node: NodeId, id: BundleId, reason: DropReason, received: Instant) {
        if let Some(fact) = self.fact(id) {
            fact.copies -= 1;
            fact.gone = Some(Gone { at, node, reason });
        }
        let known = self.nodes.entry(node.0).or_default();
        match reason {
            DropReason::Overflow => {
                known.dropped += 1;
                known.stays.push(at - received);
            }
            DropReason::Expired => known.expired += 1,
            DropReason::Acknowledged | DropReason::HandedOver | DropReason::Replaced => {}
        }
    }
    fn transfer(&mut self, record: &Record) {
        let (Record::Started { id, .. }
        | Record::Aborted { id, .. }
        | Record::Sent { id, .. }
        | Record::Stored { id, .. }
        | Record::Refused { id, .. }) = *record
        else {
            return;
        };
        match record {
            Record::Started { .. } => self.transfers.started += 1,
            Record::Aborted { .. } => self.transfers.aborted += 1,
            Record::Refused { why, .. } => *self.transfers.refused.entry(*why).or_default() += 1,
            _ => {}
        }
        let Some(fact) = self.fact(id) else { return };
        match record {
            Record::Started { .. } => fact.started += 1,
            Record::Aborted { to, .. } => {
                fact.aborted += 1;
                fact.cut_at_destination += u64::from(*to == fact.bundle.destination);
            }
            Record::Sent { .. } => fact.flying += 1,
            Record::Stored { .. } => {
                (fact.flying, fact.copies) = (fact.flying - 1, fact.copies + 1);
                fact.stored += 1;
            }
            Record::Refused { .. } => {
                fact.flying -= 1;
                fact.refused += 1;
            }
            _ => {}
        }
    }
}

/// The bundle of a record, if it has one.
fn subject(record: &Record) -> Option<BundleId> {
    match *record {
        Record::Created(bundle) | Record::Rejected(bundle) => Some(bundle.id),
        Record::Started { id, .. }
        | Record::Aborted { id, .. }
        | Record::Sent { id, .. }
        | Record::Stored { id, .. }
        | Record::Delivered { id, .. }
        | Record::Refused { id, .. }
        | Record::Gone { id, .. } => Some(id),
        _ => None,
    }
}

impl Observer for Collector {
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.end = self.end.max(now);
        if let Some((id, life)) = &mut self.life
            && subject(record) == Some(*id)
        {
            life.push((now, record.clone()));
        }
        match *record {
            Record::Node { node, buffer } => self.nodes.entry(node.0).or_default().buffer = buffer.get(),
            Record::Created(bundle) => {
                self.bundles.entry(bundle.id.0).or_insert_with(|| Fact::new(bundle)).copies += 1;
            }
            Record::Rejected(bundle) => {
                let fact = self.bundles.entry(bundle.id.0).or_insert_with(|| Fact::new(bundle));
                fact.rejected = Some(now);
            }
            Record::ContactUp { a, b, rate, delay } => self.meetings.up(now, [a, b], rate, delay),
            Record::Rate { a, b, rate } => self.meetings.rate(a, b, rate),
            Record::ContactDown { a, b } => self.meetings.down(now, a, b),
            Record::Delivered { id, hops, first, .. } => {
                if let Some(fact) = self.fact(id) {
                    fact.flying -= 1;
                    if first {
                        fact.delivered.get_or_insert(Delivery { at: now, hops });
                    }
                }
            }
            Record::Gone { node, id, reason, received } => self.gone(now, node, id, reason, received),
            Record::End => self.meetings.close(now),
            _ => self.transfer(record),
        }
    }
}
