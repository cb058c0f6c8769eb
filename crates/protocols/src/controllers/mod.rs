//! Congestion controllers: how much may be in flight, and how fast it may be sent. One file each, one
//! line each in [`TABLE`].
//!
//! A controller answers to a transport; recovery of losses is the transport's task. [`Controller`]
//! documents the order of calls.

use crate::parameter::{self, Parameters};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

mod aimd;
mod arc;
mod bbr;
mod bbr3;
mod blind;
mod careful_resume;
mod ccid2;
mod ccid3;
mod contact_rate;
mod contug;
mod cubic;
mod dcp;
mod delay_history;
mod excess_loss;
mod fack;
mod factory;
mod fixed;
mod hybla;
mod icp;
mod ledbat;
mod ledbat_plus_plus;
mod new_reno;
mod path_model;
mod pcon;
mod reno;
mod sack;
mod scream;
mod sent_log;
mod short_queue;
mod standing_queue;
mod tcp_planet;
mod usual_loss;
mod vegas;
mod westwood_plus;

pub use ccid3::tcp_throughput;
pub use factory::{ControllerError, Factory};
pub use reno::Reno;
pub use standing_queue::StandingQueue;

/// A congestion controller: a state machine without clock or socket, driven by a transport.
///
/// # Order of calls
///
/// 1. Before each packet of data the transport reads [`window`](Self::window) and
///    [`rate`](Self::rate). The packet may be sent when it fits into the window and when the rate has
///    let the packet before it pass. For the rest it needs, [`advice`](Self::advice) is read then too.
/// 2. After sending it calls [`on_sent`](Self::on_sent).
/// 3. An acknowledgement that shows a loss leads to [`on_loss`](Self::on_loss), then
///    [`on_ack`](Self::on_ack); any other to `on_ack` alone. Congestion marks of NDN and losses that a
///    `Datagrams` stack finds follow their `on_ack`. Where the receiver sends reports (`udpdtn`,
///    `ltp`), the calls are per report. The first [`Loss`] of a round trip has `episode` set. A timeout
///    calls `on_loss` alone.
/// 4. After any call, [`deadline`](Self::deadline) may have changed. When it is reached, the transport
///    calls [`on_event`](Self::on_event) with [`ControllerEvent::Deadline`].
/// 5. Rare facts come through [`on_event`](Self::on_event), at any time.
///
/// The first call is an `on_ack` with the round-trip time of the handshake and nothing acknowledged,
/// where the transport has a handshake. Times never decrease from call to call. The getters may be
/// read at any time and as often as wanted.
pub trait Controller {
    /// Data was acknowledged, or a measurement arrived.
    fn on_ack(&mut self, ack: &Ack);
    /// Data is considered lost, or the network signalled congestion.
    fn on_loss(&mut self, loss: &Loss);
    /// How much may be in flight; [`Bytes::MAX`] where only the rate limits.
    fn window(&self) -> Bytes;
    /// The sending rate on the link; `None` where only the window limits, zero while nothing may be sent.
    fn rate(&self) -> Option<BitRate> {
        None
    }
    /// A packet was sent.
    fn on_sent(&mut self, _: &Sent) {}
    /// Something rare happened at this time.
    fn on_event(&mut self, _: Instant, _: &ControllerEvent) {}
    /// When [`ControllerEvent::Deadline`] is due; `None`: never.
    fn deadline(&self) -> Option<Instant> {
        None
    }
    /// What it asks of its transport beyond window and rate. Most ask for nothing.
    fn advice(&self) -> Advice {
        Advice::NONE
    }
    /// Adds its observables for traces and plots.
    fn observe(&self, _: &mut Observation) {}
}

/// What happens to a controller rarely, so that most ignore it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControllerEvent {
    /// The time given by [`Controller::deadline`] was reached.
    Deadline,
    /// The contact plan or the network's operator sets the link's rate from now on; zero: no contact.
    Plan(BitRate),
    /// Another transport reached this rate on the same path, counted on the link, and was still
    /// accelerating. The flow continues from it.
    Handover(BitRate),
    /// The receiver, not the network, limited the sender: a slow start ends (RFC 4341, section 5.2).
    ReceiverLimited,
    /// Data reported as lost has arrived after all.
    SpuriousLoss {
        /// When it was reported as lost.
        lost_at: Instant,
        /// How much arrived.
        size: Bytes,
    },
}

/// What a controller asks of its transport beyond window and rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advice {
    /// How long to wait for an answer before it counts as lost; `None`: as the transport computes it
    /// (RFC 6298).
    pub timeout: Option<Duration>,
    /// A request that is repeated waits twice as long as before, each time. Without it, where much is lost whatever is
    /// sent, repeated ones keep their places in the window no longer than others. Consumers of names obey.
    pub doubles: bool,
    /// Packets sent back to back as one probe train, from which the receiver measures the link's rate;
    /// 1: no train.
    pub probe_train: u32,
    /// Copies of low priority to send per packet of data, of which the receiver counts the arrivals
    /// ([`ArrivalCounts`]).
    pub low_priority_copies: f64,
    /// Highest rate known to be deliverable, if the controller probes.
    pub discovered_rate: Option<BitRate>,
}

impl Advice {
    /// Nothing is asked.
    pub const NONE: Self = Self {
        timeout: None,
        doubles: true,
        probe_train: 1,
        low_priority_copies: 0.0,
        discovered_rate: None,
    };
}

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Data acknowledged for the first time, cumulatively or selectively.
    pub acked: Bytes,
    /// Round-trip time of the newest segment acknowledged here that was sent once; `None`: there is
    /// no such segment.
    pub rtt: Option<Duration>,
    /// One-way delay by the two clocks, where the transport measures it: shifted by their offset, never
    /// wrapped around.
    pub one_way: Option<Duration>,
    /// The responder (a producer or a cache) that sent the data, where there may be several and they
    /// identify themselves.
    pub responder: Option<u32>,
    /// Data still in flight.
    pub in_flight: Bytes,
    /// Data acknowledged since the start of the connection.
    pub delivered: Bytes,
    /// Delivery rate, where the transport samples it ([`Needs::rate_samples`]).
    pub sample: Option<RateSample>,
    /// What the receiver reports of everything sent since its last report, where it sends reports.
    pub window: Option<Window>,
    /// Packets that arrived, by priority, where the controller asks for copies of low priority.
    pub arrivals: Option<ArrivalCounts>,
    /// Measurements of a receiver that serves a controller by equation (RFC 5348).
    pub report: Option<TfrcReport>,
    /// Packets per acknowledgement that the other end was asked for (Ack Ratio; RFC 4341, section 6.1);
    /// 0: it was not asked.
    pub ack_ratio: u64,
    /// Losses are being repaired: window laws that count acknowledgements hold still.
    pub recovering: bool,
    /// This acknowledgement ended a recovery.
    pub recovered: bool,
    /// The window kept the sender from sending more.
    pub limited: bool,
}

/// What became of the packets between two reports of a receiver, in bytes on the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Sent.
    pub sent: Bytes,
    /// Arrived.
    pub received: Bytes,
    /// Rate at which the packets of a probe train arrived; `None`: no train was complete.
    pub train: Option<BitRate>,
}

/// What a TFRC receiver measures (RFC 5348, section 3.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TfrcReport {
    /// Loss events per packet (p), 0 to 1.
    pub loss_event_rate: f64,
    /// Data received per second over the last round trip at least (X_recv).
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

impl RateSample {
    /// Delivery rate in bytes/s; `None` where no time passed.
    pub fn bytes_per_s(&self) -> Option<f64> {
        let seconds = self.interval.as_secs_f64();
        (seconds > 0.0).then(|| self.delivered.0 as f64 / seconds)
    }
}

/// Packets that arrived since the start of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrivalCounts {
    /// Of normal priority.
    pub high: u64,
    /// Copies of low priority.
    pub low: u64,
}

/// Why data is considered lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The receiver has data that was sent after it.
    Gap,
    /// The network asked to slow down (ECN, RFC 3168; NDN's congestion marks); nothing is lost.
    Mark,
    /// No answer came in time.
    Timeout,
}

/// A loss or a congestion mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// When it was detected.
    pub now: Instant,
    /// How it was detected.
    pub cause: Cause,
    /// Data newly considered lost.
    pub lost: Bytes,
    /// Data sent and not acknowledged in order (FlightSize of RFC 5681), before this loss.
    pub flight_size: Bytes,
    /// Data still in flight, without what is lost.
    pub in_flight: Bytes,
    /// The first loss since the last recovery: a window law reduces once per episode.
    pub episode: bool,
    /// The segment had been retransmitted, and the retransmission was lost too.
    pub again: bool,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// When.
    pub now: Instant,
    /// Its data.
    pub size: Bytes,
    /// Data in flight, this packet included.
    pub in_flight: Bytes,
}

/// The flow that a controller is built for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Payload of a full segment.
    pub segment: Bytes,
    /// Bytes on the link of a full segment, headers included.
    pub packet: Bytes,
    /// Rate of the link by the contact plan, if there is one.
    pub planned_rate: Option<BitRate>,
    /// Light-time RTT by the contact plan, if there is one.
    pub planned_round_trip: Option<Duration>,
    /// The run's seed, for random streams of the controller.
    pub seed: u64,
    /// The flow's number, for random streams of the controller.
    pub index: u64,
}

impl Flow {
    /// A flow without a contact plan, with seed and number zero. The setters below add the rest.
    pub const fn new(segment: Bytes, packet: Bytes) -> Self {
        Self { segment, packet, planned_rate: None, planned_round_trip: None, seed: 0, index: 0 }
    }
    /// With what the contact plan says of rate and round trip.
    #[must_use]
    pub const fn planned(self, rate: Option<BitRate>, round_trip: Option<Duration>) -> Self {
        Self { planned_rate: rate, planned_round_trip: round_trip, ..self }
    }
    /// With the seed of the run and the flow's number.
    #[must_use]
    pub const fn seeded(self, seed: u64, index: u64) -> Self {
        Self { seed, index, ..self }
    }
}

/// How TCP detects and repairs losses under a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// By duplicate acknowledgements alone (RFC 6582).
    NewReno,
    /// By selective acknowledgements (RFC 6675).
    Sack,
    /// By the foremost selective acknowledgement (Mathis and Mahdavi 1996).
    Fack,
    /// As Sack, and detects lost retransmissions by the order of sending (RFC 8985).
    Rack,
}

impl Recovery {
    /// All of them, by name.
    pub const NAMES: [(&str, Self); 4] =
        [("new_reno", Self::NewReno), ("sack", Self::Sack), ("fack", Self::Fack), ("rack", Self::Rack)];
}

/// What a controller needs of TCP; it never changes for a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// How TCP repairs losses under it, unless a scenario chooses.
    pub recovery: Recovery,
    /// It reads [`Ack::sample`], which costs the transport a record per segment.
    pub rate_samples: bool,
}

/// A row of [`TABLE`]: the algorithm and what never changes for it.
pub struct Entry {
    /// Name, paper, parameters, builder.
    pub algorithm: parameter::Entry<dyn Controller, Flow>,
    /// What it needs of TCP.
    pub needs: Needs,
}

impl Entry {
    const fn new(algorithm: parameter::Entry<dyn Controller, Flow>, recovery: Recovery) -> Self {
        Self { algorithm, needs: Needs { recovery, rate_samples: false } }
    }
    const fn sampling(self) -> Self {
        Self { needs: Needs { rate_samples: true, ..self.needs }, ..self }
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
    Entry::new(bbr::ENTRY, Recovery::Rack).sampling(),
    Entry::new(bbr3::ENTRY, Recovery::Rack),
    Entry::new(careful_resume::ENTRY, Recovery::Rack),
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
    Entry::new(new_reno::ENTRY, Recovery::NewReno),
    Entry::new(pcon::ENTRY, Recovery::Rack),
    Entry::new(sack::ENTRY, Recovery::Sack),
    Entry::new(scream::ENTRY, Recovery::Rack),
    Entry::new(short_queue::ENTRY, Recovery::Rack),
    Entry::new(tcp_planet::ENTRY, Recovery::Rack),
    Entry::new(vegas::ENTRY, Recovery::NewReno),
    Entry::new(westwood_plus::ENTRY, Recovery::Rack),
];

/// The row of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.algorithm.name == name)
}
