//! What became of the packets of each flow, sample by sample.

use lightlag_protocols::link::{DropCause, Load};
use lightlag_protocols::record::packets::{Observer, Record};
use lightlag_protocols::time::Instant;

/// Totals of a flow since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowTotals {
    /// Packets that the sender put on its first link, repairs included.
    pub sent: u64,
    /// Packets of these that queues dropped, on any link.
    pub dropped: u64,
    /// Packets of these that were lost on links.
    pub lost: u64,
    /// Bytes delivered in order.
    pub delivered: u64,
    /// Bytes that the receiver put on its first link: acknowledgements and reports, headers included.
    pub back_bytes: u64,
}

/// The state of a run at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountSample {
    /// When.
    pub at: Instant,
    /// Totals by flow.
    pub flows: Vec<FlowTotals>,
    /// Packets that waited, by link; empty at the end of the run.
    pub waiting: Vec<u64>,
}

/// An observer that counts the packets of each flow and keeps the counts whenever the scenario samples.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Names of the flows, in the order of the counts.
    pub flows: Vec<String>,
    /// Names of the directions of links, in the order of `waiting`.
    pub links: Vec<String>,
    /// Ascending in time; the last one is the end of the run.
    pub samples: Vec<AccountSample>,
    pub(crate) totals: Vec<FlowTotals>,
}

impl Account {
    /// Nothing has happened yet.
    pub fn new(flows: Vec<String>, links: Vec<String>) -> Self {
        let totals = vec![FlowTotals::default(); flows.len()];
        Self { flows, links, samples: Vec::new(), totals }
    }
    /// Adds the end of the run.
    pub fn end(&mut self, at: Instant) {
        self.sample(at);
    }
    pub(crate) fn sample(&mut self, at: Instant) {
        self.samples.push(AccountSample { at, flows: self.totals.clone(), waiting: Vec::new() });
    }
    /// Adds the packets that wait at the next link to the last sample.
    pub(crate) fn waits(&mut self, waiting: u64) {
        if let Some(last) = self.samples.last_mut() {
            last.waiting.push(waiting);
        }
    }
}

impl Observer for Account {
    const PACKETS: bool = true;
    #[inline]
    fn on_record(&mut self, now: Instant, record: &Record) {
        match record {
            Record::Offered(_, packet) if packet.hop == 0 => {
                let totals = &mut self.totals[packet.flow as usize];
                if packet.forward {
                    totals.sent += 1;
                } else {
                    totals.back_bytes += packet.size().0;
                }
            }
            Record::Dropped(_, packet, why) if packet.forward => {
                let totals = &mut self.totals[packet.flow as usize];
                *(if *why == DropCause::Lost { &mut totals.lost } else { &mut totals.dropped }) += 1;
            }
            Record::Delivered(flow, total) => self.totals[*flow as usize].delivered = *total,
            // Flows are sampled first, in their order, then links.
            Record::Flow(0, _) => self.sample(now),
            Record::Backlog(_, waiting) => self.waits(*waiting),
            Record::Offered(..) | Record::Dropped(..) | Record::Arrived(..) | Record::Flow(..) => {}
        }
    }
}
