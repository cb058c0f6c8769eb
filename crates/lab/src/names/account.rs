//! What became of the Interests of each consumer and of their Data, sample by sample.

use crate::packets::account::Account;
use lightlag_protocols::link::{DropCause, Load};
use lightlag_protocols::record::names::{Body, Observer, Packet, Record};
use lightlag_protocols::time::Instant;
use lightlag_scenario::names::NameNetwork;

/// An observer that counts for each consumer what [`Account`] counts for each flow. A packet sent is an Interest, which
/// asks for one packet of Data; it is dropped or lost if it or its Data are. Bytes on the return path are those of
/// Interests.
#[derive(Clone, Debug)]
pub struct NamesAccount {
    /// The counts, with consumers in the place of flows.
    pub counts: Account,
    /// Node of each consumer.
    at: Vec<u32>,
    /// Node where each direction of a link begins.
    from: Vec<u32>,
}

impl NamesAccount {
    /// Nothing has happened yet.
    pub fn new(network: &NameNetwork) -> Self {
        let consumers = network.consumers.iter().map(|one| one.name.clone()).collect();
        let links = network.links.iter().map(|link| link.name.clone()).collect();
        Self {
            counts: Account::new(consumers, links),
            at: network.consumers.iter().map(|one| one.node).collect(),
            from: network.links.iter().map(|link| network.node(&link.from)).collect(),
        }
    }
    fn offered(&mut self, link: u32, packet: &Packet) {
        let Body::Interest(interest, _) = packet.body else { return };
        let consumer = interest.token as usize;
        if self.at.get(consumer) == Some(&self.from[link as usize]) {
            self.counts.totals[consumer].back_bytes += packet.size().0;
        }
    }
    fn dropped(&mut self, packet: &Packet, why: DropCause) {
        let token = match packet.body {
            Body::Interest(interest, _) => interest.token,
            Body::Data(data) => data.token,
        };
        if let Some(totals) = self.counts.totals.get_mut(token as usize) {
            *(if why == DropCause::Lost { &mut totals.lost } else { &mut totals.dropped }) += 1;
        }
    }
}

impl Observer for NamesAccount {
    const PACKETS: bool = true;
    #[inline]
    fn on_record(&mut self, now: Instant, record: &Record) {
        match record {
            Record::Asked(consumer, _) => self.counts.totals[*consumer as usize].sent += 1,
            Record::Offered(link, packet) => self.offered(*link, packet),
            Record::Dropped(_, packet, why) => self.dropped(packet, *why),
            Record::Delivered(consumer, data) => {
                self.counts.totals[*consumer as usize].delivered += u64::from(data.content);
            }
            // Consumers that have started are sampled first, then links, in their order.
            Record::Backlog(link, waiting) => {
                if *link == 0 {
                    self.counts.sample(now);
                }
                self.counts.waits(*waiting);
            }
            Record::Arrived(..)
            | Record::Produced(..)
            | Record::Hit(..)
            | Record::Refused(..)
            | Record::Consumer(..) => {}
        }
    }
}
