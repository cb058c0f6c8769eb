//! The two ends of a flow, whatever carries it.

use super::datagrams::{DatagramReceiver, DatagramSender};
use super::{FlowSpec, Setup, Source, Transport, adaptive, ltp, ltp_dccp};
use lightlag_protocols::controllers::Flow;
use lightlag_protocols::record::Observation;
use lightlag_protocols::record::packets::Body;
use lightlag_protocols::time::Instant;
use lightlag_protocols::transport::ltp::{Config, Counts, UDP_HEADER};
use lightlag_protocols::transport::{Machine, dccp, tcp, udpdtn};
use lightlag_protocols::units::{BitRate, Bytes};

/// A file that outlasts every run stands for one without end.
const PERSISTENT: Bytes = Bytes(1_000_000_000_000);
/// Bytes of the header of a segment of LTP in the middle of a block.
const LTP_HEADER_ABOUT: u64 = 16;

/// The flow of a specification, as its controller sees it.
fn flow(setup: &Setup, index: u32, spec: &FlowSpec, segment: Bytes, packet: Bytes) -> Flow {
    Flow::new(segment, packet)
        .planned(first_planned(spec), spec.planned_round_trip)
        .seeded(setup.seed, u64::from(index))
}

/// One end of a flow.
pub enum Endpoint {
    /// Sends a stream over TCP.
    TcpSender(Box<tcp::Sender>),
    /// Receives it.
    TcpReceiver(Box<tcp::Receiver>),
    /// Sends datagrams over DCCP.
    DccpSender(Box<DatagramSender>),
    /// Receives them.
    DccpReceiver(Box<DatagramReceiver>),
    /// Sends a file over UDPDTN.
    UdpdtnSender(Box<udpdtn::Sender>, Bytes),
    /// Receives it.
    UdpdtnReceiver(Box<udpdtn::Receiver>, Bytes),
    /// Sends blocks over LTP.
    LtpSender(Box<ltp::Sender>),
    /// Receives them.
    LtpReceiver(Box<ltp::Receiver>),
    /// Sends blocks over LTP in DCCP.
    LtpDccpSender(Box<ltp_dccp::Sender>),
    /// Receives them.
    LtpDccpReceiver(Box<ltp_dccp::Receiver>),
    /// Sends a stream by whatever suits.
    AdaptiveNear(Box<adaptive::Near>),
    /// Receives it.
    AdaptiveFar(Box<adaptive::Far>),
}

impl Endpoint {
    /// Both ends of a flow.
    pub fn pair(spec: &FlowSpec, index: u32, setup: &Setup) -> (Self, Self) {
        match &spec.transport {
            Transport::Tcp { config, controller } => {
                let flow = flow(setup, index, spec, config.segment, tcp::HEADER + config.segment);
                let available = match spec.source {
                    Source::File(size) => Some(size.0),
                    Source::Persistent => None,
                    Source::OnOff { .. } => Some(0),
                };
                let mut sender =
                    tcp::Sender::new(*config, controller.build(flow), controller.rate_samples(), available);
                if matches!(spec.source, Source::OnOff { .. }) {
                    sender.supply(0);
                }
                (Self::TcpSender(Box::new(sender)), Self::TcpReceiver(Box::new(tcp::Receiver::new(config))))
            }
            Transport::Dccp { config, controller } => {
                let flow = flow(setup, index, spec, config.segment(), config.packet);
                let initial = lightlag_protocols::rng::mix(setup.seed ^ (u64::from(index) << 32));
                let config = dccp::Config { initial, ..*config };
                let sender = DatagramSender::new(config, controller.build(flow), spec.source);
                let receiver = DatagramReceiver::new(&config);
                (Self::DccpSender(Box::new(sender)), Self::DccpReceiver(Box::new(receiver)))
            }
            Transport::Udpdtn { config, controller } => {
                let symbol = config.symbol;
                let flow = flow(setup, index, spec, symbol, udpdtn::UDP_HEADER + udpdtn::HEADER + symbol);
                let length = match spec.source {
                    Source::File(size) => size,
                    Source::Persistent | Source::OnOff { .. } => PERSISTENT,
                };
                let seed = lightlag_protocols::rng::mix(setup.seed ^ (u64::from(index) << 32));
                let round_trip = spec.planned_round_trip;
                let config = &udpdtn::Config { seed, round_trip, ..*config };
                let sender = udpdtn::Sender::new(*config, controller.build(flow), length);
                let receiver = udpdtn::Receiver::new(*config);
                (
                    Self::UdpdtnSender(Box::new(sender), symbol),
                    Self::UdpdtnReceiver(Box::new(receiver), symbol),
                )
            }
            Transport::Adaptive { config, controllers } => {
                let flow = flow(setup, index, spec, config.packet.saturating_sub(UDP_HEADER), config.packet);
                let make = adaptive::Make::new(*config, controllers.clone(), flow);
                let truth = adaptive::Truth::of(spec, &setup.links);
                let near = adaptive::Near::new(make.clone(), truth, spec.source, spec.start);
                (Self::AdaptiveNear(Box::new(near)), Self::AdaptiveFar(Box::new(adaptive::Far::new(make))))
            }
            Transport::Ltp { config, controller, block } => {
                let flow = flow(
                    setup,
                    index,
                    spec,
                    Bytes(config.segment.saturating_sub(LTP_HEADER_ABOUT)),
                    UDP_HEADER + Bytes(config.segment),
                );
                let seed = lightlag_protocols::rng::mix(setup.seed ^ (u64::from(index) << 32));
                let config = Config { seed, ..config.clone() };
                let receiver = ltp::Receiver::new(config.mirrored(), controller.build(flow), spec.source);
                let sender =
                    ltp::Sender::new(config, controller.build(flow), *block, spec.source, PERSISTENT);
                (Self::LtpSender(Box::new(sender)), Self::LtpReceiver(Box::new(receiver)))
            }
            Transport::LtpDccp { ltp, dccp, controller, block } => {
                let flow = flow(setup, index, spec, dccp.segment(), dccp.packet);
                let seed = lightlag_protocols::rng::mix(setup.seed ^ (u64::from(index) << 32));
                let ltp = Config { seed, ..ltp.clone() };
                let dccp = dccp::Config { initial: seed, ..*dccp };
                let receiver = ltp_dccp::Receiver::new(ltp.mirrored(), &dccp, *block, spec.source);
                let blocks = ltp_dccp::Blocks { size: *block, source: spec.source, most: PERSISTENT };
                let sender = ltp_dccp::Sender::new(ltp, dccp, (controller.clone(), flow), blocks);
                (Self::LtpDccpSender(Box::new(sender)), Self::LtpDccpReceiver(Box::new(receiver)))
            }
        }
    }
    /// What the plan says of the rate from the sender to the receiver from now on.
    pub fn plan(&mut self, now: Instant, rate: BitRate) {
        match self {
            Self::TcpSender(sender) => sender.plan(now, rate),
            Self::DccpSender(sender) => sender.connection.plan(now, rate),
            Self::UdpdtnSender(sender, _) => sender.plan(now, rate),
            Self::LtpSender(sender) => sender.plan(now, rate),
            Self::LtpReceiver(receiver) => receiver.plan(now, rate),
            Self::LtpDccpSender(sender) => sender.plan(now, rate),
            Self::LtpDccpReceiver(receiver) => receiver.plan(now, rate),
            Self::TcpReceiver(_)
            | Self::DccpReceiver(_)
            | Self::UdpdtnReceiver(..)
            | Self::AdaptiveNear(_)
            | Self::AdaptiveFar(_) => {}
        }
    }
    /// Something came.
    #[inline(always)] // One caller: its arguments need not be copied.
    pub fn handle(&mut self, now: Instant, body: Body) {
        match (self, body) {
            (Self::TcpSender(sender), Body::Tcp(segment)) => sender.handle(now, segment),
            (Self::TcpReceiver(receiver), Body::Tcp(segment)) => receiver.handle(now, segment),
            (Self::DccpSender(sender), Body::Dccp(packet)) => sender.connection.handle(now, *packet),
            (Self::DccpReceiver(receiver), Body::Dccp(packet)) => receiver.handle(now, *packet),
            (Self::UdpdtnSender(sender, _), Body::Udpdtn(datagram, _)) => sender.handle(now, datagram),
            (Self::UdpdtnReceiver(receiver, _), Body::Udpdtn(datagram, _)) => receiver.handle(now, datagram),
            (Self::LtpSender(sender), Body::Ltp(segment, _)) => sender.handle(now, &segment),
            (Self::LtpReceiver(receiver), Body::Ltp(segment, start)) => receiver.handle(now, &segment, start),
            (Self::LtpDccpSender(sender), Body::Dccp(packet)) => sender.handle(now, *packet),
            (Self::LtpDccpReceiver(receiver), Body::Dccp(packet)) => receiver.handle(now, *packet),
            (Self::AdaptiveNear(near), Body::Adaptive(parcel)) => near.handle(now, *parcel),
            (Self::AdaptiveFar(far), Body::Adaptive(parcel)) => far.handle(now, *parcel),
            // A flow's packets are of its own transport.
            _ => {}
        }
    }
    /// The next thing to send.
    #[inline(always)] // One caller: its result need not be copied.
    pub fn poll(&mut self, now: Instant) -> Option<Body> {
        match self {
            Self::TcpSender(sender) => sender.poll(now).map(Body::Tcp),
            Self::TcpReceiver(receiver) => receiver.poll(now).map(Body::Tcp),
            Self::DccpSender(sender) => sender.poll(now).map(|packet| Body::Dccp(Box::new(packet))),
            Self::DccpReceiver(receiver) => receiver.poll(now).map(|packet| Body::Dccp(Box::new(packet))),
            Self::UdpdtnSender(sender, symbol) => sender.poll(now).map(|sent| Body::Udpdtn(sent, *symbol)),
            Self::UdpdtnReceiver(receiver, symbol) => {
                receiver.poll(now).map(|sent| Body::Udpdtn(sent, *symbol))
            }
            Self::LtpSender(sender) => sender.poll(now).map(|(sent, start)| Body::Ltp(Box::new(sent), start)),
            Self::LtpReceiver(receiver) => receiver.poll(now).map(|sent| Body::Ltp(Box::new(sent), 0)),
            Self::LtpDccpSender(sender) => sender.poll(now).map(|packet| Body::Dccp(Box::new(packet))),
            Self::LtpDccpReceiver(receiver) => receiver.poll(now).map(|packet| Body::Dccp(Box::new(packet))),
            Self::AdaptiveNear(near) => near.poll(now).map(|parcel| Body::Adaptive(Box::new(parcel))),
            Self::AdaptiveFar(far) => far.poll(now).map(|parcel| Body::Adaptive(Box::new(parcel))),
        }
    }
    /// When to poll though nothing comes.
    #[inline(always)] // One caller: its result need not be copied.
    pub fn deadline(&self) -> Option<Instant> {
        match self {
            Self::TcpSender(sender) => sender.deadline(),
            Self::TcpReceiver(receiver) => receiver.deadline(),
            Self::DccpSender(sender) => sender.connection.deadline(),
            Self::DccpReceiver(receiver) => receiver.deadline(),
            Self::UdpdtnSender(sender, _) => sender.deadline(),
            Self::UdpdtnReceiver(receiver, _) => receiver.deadline(),
            Self::LtpSender(sender) => sender.deadline(),
            Self::LtpReceiver(receiver) => receiver.deadline(),
            Self::LtpDccpSender(sender) => sender.deadline(),
            Self::LtpDccpReceiver(receiver) => receiver.deadline(),
            Self::AdaptiveNear(near) => near.deadline(),
            Self::AdaptiveFar(far) => far.deadline(),
        }
    }
    /// Bytes delivered, at a receiver: in order, or over DCCP as they come.
    #[inline]
    pub fn delivered(&self) -> Option<Bytes> {
        match self {
            Self::TcpSender(_)
            | Self::DccpSender(_)
            | Self::UdpdtnSender(..)
            | Self::LtpSender(_)
            | Self::LtpDccpSender(_)
            | Self::AdaptiveNear(_) => None,
            Self::AdaptiveFar(far) => Some(Bytes(far.delivered())),
            Self::LtpDccpReceiver(receiver) => Some(Bytes(receiver.delivered())),
            Self::LtpReceiver(receiver) => Some(Bytes(receiver.delivered())),
            Self::DccpReceiver(receiver) => Some(Bytes(receiver.delivered())),
            Self::UdpdtnReceiver(receiver, _) => Some(Bytes(receiver.delivered())),
            Self::TcpReceiver(receiver) => Some(Bytes(receiver.delivered())),
        }
    }
    /// Packets that a receiver misses and that are not repaired: those of plain UDP.
    pub fn missing(&self) -> Option<u64> {
        if let Self::AdaptiveFar(far) = self { Some(far.missing()) } else { None }
    }
    /// Whether a receiver has everything.
    pub fn is_complete(&self) -> bool {
        match self {
            Self::TcpSender(sender) => sender.is_complete(),
            Self::TcpReceiver(receiver) => receiver.is_complete(),
            Self::DccpSender(sender) => sender.connection.state() >= dccp::State::TimeWait,
            Self::DccpReceiver(receiver) => receiver.is_complete(),
            Self::UdpdtnSender(sender, _) => sender.is_complete(),
            Self::UdpdtnReceiver(receiver, _) => receiver.is_complete(),
            Self::LtpSender(sender) => sender.is_complete(),
            Self::LtpReceiver(receiver) => receiver.is_complete(),
            Self::LtpDccpSender(sender) => sender.is_complete(),
            Self::LtpDccpReceiver(receiver) => receiver.is_complete(),
            Self::AdaptiveNear(near) => near.is_complete(),
            Self::AdaptiveFar(far) => far.is_complete(),
        }
    }
    /// Sets the number of bytes to send in all.
    pub fn supply(&mut self, total: Bytes) {
        match self {
            Self::TcpSender(sender) => sender.supply(total.0),
            Self::DccpSender(sender) => sender.supply(total),
            _ => {}
        }
    }
    /// Nothing new is sent from now on.
    pub fn stop(&mut self) {
        match self {
            Self::TcpSender(sender) => sender.stop(),
            Self::DccpSender(sender) => sender.stop(),
            _ => {}
        }
    }
    /// Bytes of its stream that it has sent, if it sends one.
    pub fn sent(&self) -> Option<Bytes> {
        match self {
            Self::TcpSender(sender) => Some(Bytes(sender.sent())),
            _ => None,
        }
    }
    /// What it has done, if it sends.
    pub fn counts(&self) -> tcp::Counts {
        match self {
            Self::TcpSender(sender) => sender.counts(),
            Self::UdpdtnSender(sender, _) => {
                let udpdtn::Counts { sent, repairs, silences } = sender.counts();
                tcp::Counts { sent, repairs, timeouts: silences, ..tcp::Counts::default() }
            }
            Self::LtpSender(sender) => {
                let Counts { sent, repairs, timeouts, episodes, .. } = sender.counts();
                tcp::Counts { sent, repairs, timeouts, episodes, ..tcp::Counts::default() }
            }
            Self::LtpDccpSender(sender) => sender.counts(),
            Self::DccpSender(sender) => {
                let dccp::Counts { sent, timeouts, episodes, .. } = sender.connection.counts();
                tcp::Counts { sent, timeouts, episodes, ..tcp::Counts::default() }
            }
            Self::AdaptiveNear(near) => near.counts(),
            Self::TcpReceiver(_)
            | Self::DccpReceiver(_)
            | Self::UdpdtnReceiver(..)
            | Self::LtpReceiver(_)
            | Self::LtpDccpReceiver(_)
            | Self::AdaptiveFar(_) => tcp::Counts::default(),
        }
    }
    /// What carried the connection of an adaptive flow.
    pub fn changes(&self) -> &[adaptive::Change] {
        if let Self::AdaptiveNear(near) = self { near.changes() } else { &[] }
    }
    /// What it shows.
    pub fn observe(&self, seen: &mut Observation) {
        match self {
            Self::TcpSender(sender) => sender.observe(seen),
            Self::DccpSender(sender) => sender.connection.observe(seen),
            Self::UdpdtnSender(sender, _) => sender.observe(seen),
            Self::LtpSender(sender) => sender.engine().observe(seen),
            Self::LtpDccpSender(sender) => sender.observe(seen),
            Self::AdaptiveNear(near) => near.observe(seen),
            Self::TcpReceiver(_)
            | Self::DccpReceiver(_)
            | Self::UdpdtnReceiver(..)
            | Self::LtpReceiver(_)
            | Self::LtpDccpReceiver(_)
            | Self::AdaptiveFar(_) => {}
        }
    }
}

/// What the plan says of the rate when the flow begins, or of the next contact.
fn first_planned(spec: &FlowSpec) -> Option<BitRate> {
    let plan = spec.planned_rate.as_ref()?;
    Some(plan.at(spec.start)).filter(|rate| *rate > BitRate(0)).or_else(|| plan.next_after(spec.start))
}
