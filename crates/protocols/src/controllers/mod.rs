//! How much may be in flight, and how fast it may leave. One file each, one line each in [`TABLE`].
//!
//! A transport tells its controller what it has sent ([`Controller::on_sent`]), what has been
//! acknowledged ([`Controller::on_ack`]) and what is taken to be lost ([`Controller::on_loss`]), and
//! asks it for the window and the rate before it sends. Recovery of losses is the transport's affair:
//! a controller sees one [`Loss`] with `episode` for each round trip in which something was lost.

use crate::parameter::{self, Parameters};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

mod aimd;
mod arc;
mod bbr;
mod ccid2;
mod ccid3;
mod contact_rate;
mod contug;
mod cubic;
mod dcp;
mod delay_history;
mod fack;
mod fixed;
mod hybla;
mod icp;
mod ledbat;
mod ledbat_plus_plus;
mod loss_tolerant;
mod new_reno;
mod pcon;
mod reno;
mod sack;
mod short_queue;
mod tcp_planet;
mod vegas;
mod westwood_plus;

pub use ccid3::tcp_throughput;
pub use reno::Reno;

/// How much may be in flight and how fast it may leave.
pub trait Controller {
    /// Something new was acknowledged.
    fn on_ack(&mut self, ack: &Ack);
    /// Something is taken to be lost.
    fn on_loss(&mut self, loss: &Loss);
    /// So much of what was taken to be lost, then, has come after all.
    fn on_spurious(&mut self, _: Instant, _: Bytes) {}
    /// A rate that it knows to get through, where it seeks one.
    fn found(&self) -> Option<BitRate> {
        None
    }
    /// How much may be in flight; [`Bytes::MAX`] where the rate decides.
    fn window(&self) -> Bytes;
    /// How fast it may leave; none where the window decides.
    fn rate(&self) -> Option<BitRate> {
        None
    }
    /// Something was sent.
    fn on_sent(&mut self, _: &Sent) {}
    /// The contact plan, or whoever manages the network, says what the link has from now on: zero
    /// where there is no contact.
    fn on_plan(&mut self, _: Instant, _: BitRate) {}
    /// Another transport was so fast on the same way, on the link, and was still becoming faster.
    fn on_carried(&mut self, _: Instant, _: BitRate) {}
    /// The time asked for by [`Controller::deadline`] has come.
    fn on_deadline(&mut self, _: Instant) {}
    /// When to come back though nothing happens.
    fn deadline(&self) -> Option<Instant> {
        None
    }
    /// How long to wait for an answer before it counts as lost, where the algorithm has a rule of its
    /// own; none: the transport's (RFC 6298).
    fn timeout(&self) -> Option<Duration> {
        None
    }
    /// How many packets leave back to back, so that the far end can see how fast the link is.
    fn train(&self) -> u32 {
        1
    }
    /// Copies of low priority that are sent for each packet, to see how many get through.
    fn probes(&self) -> f64 {
        0.0
    }
    /// The far end, not the network, could not take all of it: a slow start is over (RFC 4341, section 5.2).
    fn on_reluctance(&mut self) {}
    /// What plots and traces can see.
    fn observe(&self, _: &mut Observation) {}
}

/// What an acknowledgement tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ack {
    /// When it came.
    pub now: Instant,
    /// What is acknowledged for the first time, cumulatively or selectively.
    pub acked: Bytes,
    /// Of the newest segment that was sent once and is acknowledged by this.
    pub rtt: Option<Duration>,
    /// From sender to receiver by their clocks, where the transport measures it: off by what they
    /// disagree, and never wrapped around.
    pub one_way: Option<Duration>,
    /// Who sent what came, where several may have it and say who they are: a producer or a cache.
    pub site: Option<u32>,
    /// What is still under way.
    pub in_flight: Bytes,
    /// What was acknowledged in all so far.
    pub delivered: Bytes,
    /// How fast the newest segment of these and what was sent since were delivered.
    pub sample: Option<RateSample>,
    /// What the receiver says of everything sent since its last report, where it reports.
    pub window: Option<Window>,
    /// What has arrived of either priority, where the sender probes.
    pub heard: Option<Heard>,
    /// What a receiver reports that measures for a controller by equation.
    pub report: Option<TfrcReport>,
    /// Packets after which the other end was told to acknowledge (Ack Ratio; RFC 4341, section 6.1); 0: nobody told
    /// it.
    pub ack_ratio: u64,
    /// Losses are being repaired: window laws that count acknowledgements hold still.
    pub recovering: bool,
    /// A recovery has just ended.
    pub recovered: bool,
    /// Whether the window kept the sender from sending more.
    pub limited: bool,
}

/// What became of the packets between two reports of a receiver, in bytes on the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Sent.
    pub sent: Bytes,
    /// Arrived.
    pub received: Bytes,
    /// How fast packets arrived that had left back to back.
    pub train: Option<BitRate>,
}

/// What a TFRC receiver measures (RFC 5348, section 3.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TfrcReport {
    /// Loss events for each packet (p).
    pub loss_event_rate: f64,
    /// Data received in a second, over the last round trip at least (X_recv).
    pub receive_rate: Bytes,
}

/// How fast data were delivered over about a round trip (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// What was delivered between the sending of a segment and its acknowledgement.
    pub delivered: Bytes,
    /// What had been delivered when that segment was sent.
    pub before: Bytes,
    /// The longer of the times that sending and acknowledging took.
    pub interval: Duration,
}

/// Packets that have arrived, from the beginning on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Of normal priority.
    pub high: u64,
    /// Probes, of low priority.
    pub low: u64,
}

/// Why something is taken to be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The receiver has what was sent after it.
    Hole,
    /// The network asked to slow down.
    Mark,
    /// Nothing was heard for too long.
    Silence,
}

/// What a loss tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// When it was noticed.
    pub now: Instant,
    /// How it was noticed.
    pub cause: Cause,
    /// How much was newly found lost.
    pub lost: Bytes,
    /// What was sent and not acknowledged in order (FlightSize of RFC 5681).
    pub flight_size: Bytes,
    /// What is still under way.
    pub in_flight: Bytes,
    /// The first loss since the last recovery: what was sent after it is not repaired yet.
    pub episode: bool,
    /// The segment had been repaired before, and the repair was lost too.
    pub again: bool,
}

/// What was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// When.
    pub now: Instant,
    /// How much.
    pub size: Bytes,
    /// What is under way now, this included.
    pub in_flight: Bytes,
}

/// What a controller is built for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Payload of a full segment.
    pub segment: Bytes,
    /// Bytes on the link of a full segment, headers included.
    pub packet: Bytes,
    /// What the contact plan says of the rate, if there is one.
    pub planned_rate: Option<BitRate>,
    /// What it says of the round trip of light.
    pub planned_round_trip: Option<Duration>,
    /// The run's seed, for streams of its own.
    pub seed: u64,
    /// The flow's number, for streams of its own.
    pub index: u64,
}

/// How a transport repairs losses, where its controller does not care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// By duplicate acknowledgements alone (RFC 6582).
    NewReno,
    /// By selective acknowledgements (RFC 6675).
    Sack,
    /// By the foremost selective acknowledgement (Mathis and Mahdavi 1996).
    Fack,
    /// As Sack, and finds lost repairs by the order of sending (RFC 8985).
    Rack,
}

/// A row of [`TABLE`].
pub struct Entry {
    /// Name, paper, parameters, builder.
    pub algorithm: parameter::Entry<dyn Controller, Flow>,
    /// How TCP repairs losses under it.
    pub recovery: Recovery,
}

impl Entry {
    const fn new(algorithm: parameter::Entry<dyn Controller, Flow>, recovery: Recovery) -> Self {
        Self { algorithm, recovery }
    }
    /// Makes one.
    pub fn build(&self, parameters: &Parameters, flow: Flow) -> Box<dyn Controller> {
        (self.algorithm.build)(parameters, flow)
    }
}

/// Every controller, by name.
pub const TABLE: &[Entry] = &[
    Entry::new(aimd::ENTRY, Recovery::Rack),
    Entry::new(arc::ENTRY, Recovery::Rack),
    Entry::new(bbr::ENTRY, Recovery::Rack),
    Entry::new(ccid2::ENTRY, Recovery::Sack),
    Entry::new(ccid3::ENTRY, Recovery::Sack),
    Entry::new(contact_rate::ENTRY, Recovery::Rack),
    Entry::new(contug::ENTRY, Recovery::Rack),
    Entry::new(cubic::ENTRY, Recovery::Rack),
    Entry::new(dcp::ENTRY, Recovery::Rack),
    Entry::new(fack::ENTRY, Recovery::Fack),
    Entry::new(fixed::ENTRY, Recovery::Rack),
    Entry::new(hybla::ENTRY, Recovery::Rack),
    Entry::new(icp::ENTRY, Recovery::Rack),
    Entry::new(ledbat::ENTRY, Recovery::Rack),
    Entry::new(ledbat_plus_plus::ENTRY, Recovery::Rack),
    Entry::new(loss_tolerant::ENTRY, Recovery::Rack),
    Entry::new(new_reno::ENTRY, Recovery::NewReno),
    Entry::new(pcon::ENTRY, Recovery::Rack),
    Entry::new(sack::ENTRY, Recovery::Sack),
    Entry::new(short_queue::ENTRY, Recovery::Rack),
    Entry::new(tcp_planet::ENTRY, Recovery::Rack),
    Entry::new(vegas::ENTRY, Recovery::NewReno),
    Entry::new(westwood_plus::ENTRY, Recovery::Rack),
];

/// The entry of a name.
pub fn find(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.algorithm.name == name)
}
