//! The space of networks: its axes, and the network at a point of it.
//!
//! A point has a coordinate from 0 to 1 on each axis of [`AXES`]. The points are those of a Sobol sequence with
//! Owen's scrambling (`sobol_burley`): any first part of it is spread evenly over the space. A network is a pure
//! function of seed and index.

use super::change::{Change, Shape};
use lightlag_protocols::math;
use lightlag_protocols::rng::mix;

/// Points of one sequence; later indices continue with another one.
const SEQUENCE: u64 = 1 << 16;
/// Bytes of a packet of data, headers included.
pub const PACKET_BYTES: f64 = 1500.0;
/// Bits of it.
pub const PACKET_BITS: f64 = 8.0 * PACKET_BYTES;
/// Share of a packet that is payload: that of TCP.
pub const PAYLOAD: f64 = 1460.0 / 1500.0;
/// Rates of links.
pub const RATE_BIT_S: (f64, f64) = (1e3, 1e10);
/// Round-trip times.
pub const ROUND_TRIP_S: (f64, f64) = (1e-3, 2400.0);
/// A run lasts this number of rounds, where the budget allows it.
const ROUNDS_MOST: f64 = 130.0;
/// It never lasts fewer: rather the rate is scaled down.
const ROUNDS_LEAST: f64 = 40.0;
/// Packets that the link of one run carries at most.
pub const BUDGET_PACKETS: f64 = 400_000.0;
/// A round is a round-trip time, and never less than the time of this number of packets.
const ROUND_PACKETS: f64 = 10.0;

/// An axis: its name, and what its coordinate stands for.
pub struct AxisRow {
    /// Name.
    pub name: &'static str,
    /// Values along it, with their shares or their scale.
    pub range: &'static str,
}

macro_rules! axes {
    ($($axis:ident $name:literal $range:literal)*) => {
        /// The axes, as indices of a point.
        #[derive(Clone, Copy)]
        enum Axis { $($axis),* }
        /// Every axis.
        pub const AXES: &[AxisRow] = &[$(AxisRow { name: $name, range: $range }),*];
    };
}

axes! {
    Rate "rate" "1 kbit/s to 10 Gbit/s, logarithmic"
    RoundTrip "round-trip time" "1 ms to 2400 s, logarithmic"
    Queue "queue" "1 in 6 CoDel (half of them mark); else drop-tail from 4 packets to 10 BDP, logarithmic"
    QueueSize "size of the queue" "position between 4 packets and 10 BDP; CoDel: limit"
    Loss "loss" "45 % none, 35 % random, 20 % in bursts"
    LossShare "share lost" "1e-5 to 0.3, logarithmic"
    Burst "length of a burst" "2 to 50 packets, logarithmic"
    LossBack "loss in the other direction" "half none, half as forward"
    Return "rate : return rate" "half 1:1, half up to 1000:1, logarithmic"
    RateShape "change of the rate" "65 % none; step, ramp, saw, flap"
    RateFactor "its factor" "1.2 to 10 up or down, logarithmic"
    RatePeriod "its duration or period" "2 to 60 rounds, logarithmic"
    DelayShape "change of the delay" "65 % none; step, ramp, saw, flap"
    DelayFactor "its factor" "1.2 to 10 up or down, logarithmic"
    DelayPeriod "its duration or period" "2 to 60 rounds, logarithmic"
    Jitter "jitter" "70 % none; 0.001 to 1 RTT, logarithmic"
    Outage "outages" "85 % none; every 20 to 60 rounds, logarithmic"
    OutageLength "length of an outage" "0.2 to 10 rounds, logarithmic"
    Reorder "packets held back" "85 % none; 0.001 to 0.1 of them, up to half an RTT"
    Duplicate "duplicates" "85 % none; 0.001 to 0.05 of the packets, logarithmic"
    Plan "rate in the contact plan" "right, half, double, absent; a quarter each"
    Company "flows beside it" "40 % none, 30 % of its kind, 14 % CUBIC, 8 % NewReno, 8 % BBR"
    Others "their number" "1 to 15, logarithmic"
    OthersRoundTrip "their round-trip time" "half the same; else 1.1 to 10 times, logarithmic"
    Arrival "their arrival" "40 % together, 30 % one after the other, 30 % from 25 % to 60 % of the run"
    OnOff "CUBIC, NewReno, BBR on and off" "70 % always on; else periods of 1 to 20 rounds at half of the rate"
    Traffic "what it sends" "70 % without end; 18 % a file; 12 % files that arrive one after the other"
    Size "size of a file" "10 kB to 10 GB, logarithmic, at most what half of the run carries"
}

/// A point of the unit cube.
pub type Cube = [f64; AXES.len()];

/// What is lost at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Losses {
    /// Share of packets.
    pub share: f64,
    /// Mean packets of a burst; none: independent losses.
    pub burst: Option<f64>,
}

/// The queue of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueKind {
    /// Drop-tail.
    DropTail,
    /// CoDel; whether it marks.
    CoDel(bool),
}

/// What the plan says of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// The rate of the link at any time.
    Right,
    /// Half of its mean.
    Half,
    /// Twice its mean.
    Double,
    /// Nothing.
    Absent,
}

/// Which flows are beside the one that is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// None.
    Alone,
    /// Those of its own kind.
    Own,
    /// TCP with this controller.
    Tcp(&'static str),
}

/// When the others are there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival {
    /// From the start to the end.
    Together,
    /// This number of rounds apart.
    Apart(f64),
    /// From a quarter of the run to six tenths of it.
    Visit,
}

/// What the judged flow sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// Data without end.
    Endless,
    /// One file of this number of bytes.
    File(f64),
    /// Eight files of this number of bytes each, a tenth of the run apart.
    Files(f64),
}

/// Files of [`Traffic::Files`].
pub const FILES: u32 = 8;

/// A network, and what is sent over it.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its name, part of the names of files.
    pub name: String,
    /// Rate of the link at the start, as it is run.
    pub rate_bit_s: f64,
    /// By how much the rate was scaled down to fit the budget; 1: not at all.
    pub scaled: f64,
    /// Round-trip time at the start.
    pub rtt_s: f64,
    /// Its queue.
    pub queue: QueueKind,
    /// Most packets in it.
    pub queue_packets: f64,
    /// What it loses.
    pub loss: Option<Losses>,
    /// Whether it loses the same share in the other direction.
    pub loss_back: bool,
    /// Rate divided by the return rate.
    pub return_ratio: f64,
    /// How the rate changes.
    pub rate_change: Option<Change>,
    /// How the delay changes.
    pub delay_change: Option<Change>,
    /// Largest extra delay of a packet.
    pub jitter_s: f64,
    /// Rounds between two outages, and how many rounds each lasts.
    pub outages: Option<(f64, f64)>,
    /// Share of packets that are held back.
    pub reorder: f64,
    /// Share of packets that arrive twice.
    pub duplicate: f64,
    /// What the plan says.
    pub plan: Plan,
    /// Which flows are beside it.
    pub company: Company,
    /// How many.
    pub others: u32,
    /// Their round-trip time divided by that of the judged flow.
    pub others_rtt: f64,
    /// When they are there.
    pub arrival: Arrival,
    /// Rounds that they are on, and off, by turns.
    pub on_off: Option<f64>,
    /// What the judged flow sends.
    pub traffic: Traffic,
    /// Rounds of the run.
    pub rounds: f64,
}

/// The point with this index under this seed.
pub fn point(seed: u64, index: u64) -> Cube {
    let scramble = mix(seed ^ mix(index / SEQUENCE)) as u32;
    let position = (index % SEQUENCE) as u32;
    std::array::from_fn(|axis| f64::from(sobol_burley::sample(position, axis as u32, scramble)))
}

/// The network with this index under this seed.
pub fn drawn(seed: u64, index: u64) -> Network {
    at(format!("s{seed}_n{index}"), &point(seed, index))
}

/// From `low` to `high`, by orders of magnitude.
fn log(u: f64, (low, high): (f64, f64)) -> f64 {
    low * math::pow(high / low, u)
}

/// The position between `from` and 1, if it is there.
fn above(u: f64, from: f64) -> Option<f64> {
    (u >= from).then(|| (u - from) / (1.0 - from))
}

/// With as many digits as a reader needs.
fn rounded(value: f64) -> f64 {
    if value <= 0.0 {
        return value;
    }
    let unit = math::pow(10.0, 2.0 - math::log10(value).floor());
    math::rint(value * unit) / unit
}

/// The network at a point.
pub fn at(name: String, cube: &Cube) -> Network {
    let u = |axis: Axis| cube[axis as usize];
    let (rate, rtt_s) =
        (rounded(log(u(Axis::Rate), RATE_BIT_S)), rounded(log(u(Axis::RoundTrip), ROUND_TRIP_S)));
    let bdp = rate * rtt_s / PACKET_BITS;
    let codel = above(1.0 - u(Axis::Queue), 5.0 / 6.0);
    let share = rounded(log(u(Axis::LossShare), (1e-5, 0.3)));
    let loss = match u(Axis::Loss) {
        u if u < 0.45 => None,
        u if u < 0.8 => Some(Losses { share, burst: None }),
        _ => Some(Losses { share, burst: Some(rounded(log(u(Axis::Burst), (2.0, 50.0)))) }),
    };
    let reorder = above(u(Axis::Reorder), 0.85).map_or(0.0, |u| rounded(log(u, (0.001, 0.1))));
    let company = company(u(Axis::Company));
    let network = Network {
        name,
        rate_bit_s: rate,
        scaled: 1.0,
        rtt_s,
        queue: codel.map_or(QueueKind::DropTail, |u| QueueKind::CoDel(u < 0.5)),
        queue_packets: log(u(Axis::QueueSize), (4.0, (10.0 * bdp).max(8.0))).round(),
        loss,
        loss_back: loss.is_some() && u(Axis::LossBack) < 0.5,
        return_ratio: above(u(Axis::Return), 0.5).map_or(1.0, |u| rounded(log(u, (1.0, 1000.0)))),
        rate_change: change([Axis::RateShape, Axis::RateFactor, Axis::RatePeriod].map(u), rate, RATE_BIT_S),
        delay_change: change(
            [Axis::DelayShape, Axis::DelayFactor, Axis::DelayPeriod].map(u),
            rtt_s,
            ROUND_TRIP_S,
        ),
        jitter_s: above(u(Axis::Jitter), 0.7).map_or(0.0, |u| rounded(rtt_s * log(u, (0.001, 1.0)))),
        outages: above(u(Axis::Outage), 0.85)
            .map(|at| (rounded(log(at, (20.0, 60.0))), rounded(log(u(Axis::OutageLength), (0.2, 10.0))))),
        reorder,
        duplicate: above(u(Axis::Duplicate), 0.85).map_or(0.0, |u| rounded(log(u, (0.001, 0.05)))),
        plan: [Plan::Right, Plan::Half, Plan::Double, Plan::Absent][(u(Axis::Plan) * 4.0) as usize],
        company,
        others: if company == Company::Alone { 0 } else { log(u(Axis::Others), (1.0, 15.9)) as u32 },
        others_rtt: above(u(Axis::OthersRoundTrip), 0.5)
            .map_or(1.0, |u| rounded(log(u, (1.1, 10.0)).min((ROUND_TRIP_S.1 / rtt_s).max(1.0)))),
        arrival: match u(Axis::Arrival) {
            u if u < 0.4 => Arrival::Together,
            u if u < 0.7 => Arrival::Apart(rounded(log((u - 0.4) / 0.3, (0.5, 3.0)))),
            _ => Arrival::Visit,
        },
        on_off: above(u(Axis::OnOff), 0.7)
            .filter(|_| matches!(company, Company::Tcp(_)))
            .map(|u| rounded(log(u, (1.0, 20.0)))),
        traffic: Traffic::Endless,
        rounds: ROUNDS_MOST,
    };
    network.affordable().sending(u(Axis::Traffic), u(Axis::Size))
}

fn company(u: f64) -> Company {
    match u {
        u if u < 0.4 => Company::Alone,
        u if u < 0.7 => Company::Own,
        u if u < 0.84 => Company::Tcp("cubic"),
        u if u < 0.92 => Company::Tcp("new_reno"),
        _ => Company::Tcp("bbr"),
    }
}

/// A change that stays within the range of what changes.
fn change([shape, factor, period]: [f64; 3], base: f64, (low, high): (f64, f64)) -> Option<Change> {
    let shape = above(shape, 0.65)?;
    let shape = [Shape::Step, Shape::Ramp, Shape::Saw, Shape::Flap][(shape * 4.0) as usize];
    let size = log((2.0 * factor - 1.0).abs(), (1.2, 10.0));
    let up = if factor >= 0.5 { base * size <= high } else { base / size < low };
    let factor = rounded(if up { size } else { 1.0 / size });
    Some(Change { shape, factor, rounds: rounded(log(period, (2.0, 60.0))) })
}

impl Network {
    /// Highest rate at any time.
    fn rate_most(&self) -> f64 {
        self.rate_bit_s * self.rate_change.map_or(1.0, |change| change.factor.max(1.0))
    }
    /// Longest round-trip time at any time, without queues.
    fn rtt_most(&self) -> f64 {
        self.rtt_s * self.delay_change.map_or(1.0, |change| change.factor.max(1.0))
    }
    /// Seconds of a round: the longest round-trip time, and at least the time of ten packets.
    pub fn round_s(&self) -> f64 {
        let rate_least = self.rate_bit_s * self.rate_change.map_or(1.0, |change| change.factor.min(1.0));
        self.rtt_most().max(ROUND_PACKETS * PACKET_BITS / rate_least)
    }
    /// Seconds of the run.
    pub fn duration_s(&self) -> f64 {
        self.rounds * self.round_s()
    }
    /// Packets that fill the path, without its queue, at the start.
    pub fn bdp_packets(&self) -> f64 {
        self.rate_bit_s * self.rtt_s / PACKET_BITS
    }
    /// With as many rounds as the budget allows, and a rate at which it allows the fewest.
    #[must_use]
    pub fn affordable(mut self) -> Self {
        let packets = |network: &Self| network.rate_most() * network.round_s() / PACKET_BITS;
        self.rounds = (BUDGET_PACKETS / packets(&self)).clamp(ROUNDS_LEAST, ROUNDS_MOST).floor();
        let over = packets(&self) * self.rounds / BUDGET_PACKETS;
        if over > 1.0 {
            let rate = (self.rate_bit_s / over).round();
            self.queue_packets = (self.queue_packets * rate / self.rate_bit_s).round().max(4.0);
            self.scaled = self.rate_bit_s / rate;
            self.rate_bit_s = rate;
        }
        if let Arrival::Apart(rounds) = self.arrival {
            // All are there in the second half of the run.
            self.arrival = Arrival::Apart(rounds.min(0.5 * self.rounds / f64::from(self.others.max(1))));
        }
        self
    }
    /// With what the judged flow sends.
    fn sending(mut self, traffic: f64, size: f64) -> Self {
        let most = 0.5 * self.rate_bit_s / 8.0 * self.duration_s() / f64::from(1 + self.others);
        let size = log(size, (1e4, 1e10));
        self.traffic = match traffic {
            u if u < 0.7 => Traffic::Endless,
            u if u < 0.88 => Traffic::File(size.min(most).max(1e4).round()),
            // Each takes a third of the time to the next, at the rate of the link.
            _ => Traffic::Files(size.min(most / 16.0).max(1e4).round()),
        };
        self
    }
}
