//! The two ends of a flow, whatever carries it.

use super::{Body, FlowSpec, Setup, Source, Transport};
use lightlag_protocols::controllers::Flow;
use lightlag_protocols::time::Instant;
use lightlag_protocols::trace::Observation;
use lightlag_protocols::transport::{Machine, tcp};
use lightlag_protocols::units::Bytes;

/// One end of a flow.
pub enum Endpoint {
    /// Sends a stream over TCP.
    TcpSender(Box<tcp::Sender>),
    /// Receives it.
    TcpReceiver(Box<tcp::Receiver>),
}

impl Endpoint {
    /// Both ends of a flow.
    pub fn pair(spec: &FlowSpec, index: u32, setup: &Setup) -> (Self, Self) {
        match &spec.transport {
            Transport::Tcp { config, controller, samples } => {
                let flow = Flow {
                    segment: config.segment,
                    packet: tcp::HEADER + config.segment,
                    planned_rate: spec.planned_rate,
                    seed: setup.seed,
                    index: u64::from(index),
                };
                let available = match spec.source {
                    Source::File(size) => Some(size.0),
                    Source::Persistent => None,
                    Source::OnOff { .. } => Some(0),
                };
                let mut sender = tcp::Sender::new(*config, controller(flow), *samples, available);
                if matches!(spec.source, Source::OnOff { .. }) {
                    sender.supply(0);
                }
                (Self::TcpSender(Box::new(sender)), Self::TcpReceiver(Box::new(tcp::Receiver::new(config))))
            }
        }
    }
    /// Something came.
    #[inline]
    pub fn handle(&mut self, now: Instant, body: Body) {
        match (self, body) {
            (Self::TcpSender(sender), Body::Tcp(segment)) => sender.handle(now, segment),
            (Self::TcpReceiver(receiver), Body::Tcp(segment)) => receiver.handle(now, segment),
        }
    }
    /// The next thing to send.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Body> {
        match self {
            Self::TcpSender(sender) => sender.poll(now).map(Body::Tcp),
            Self::TcpReceiver(receiver) => receiver.poll(now).map(Body::Tcp),
        }
    }
    /// When to poll though nothing comes.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        match self {
            Self::TcpSender(sender) => sender.deadline(),
            Self::TcpReceiver(receiver) => receiver.deadline(),
        }
    }
    /// Bytes delivered in order, at a receiver.
    #[inline]
    pub fn delivered(&self) -> Option<Bytes> {
        match self {
            Self::TcpSender(_) => None,
            Self::TcpReceiver(receiver) => Some(Bytes(receiver.delivered())),
        }
    }
    /// Whether a receiver has everything.
    pub fn is_complete(&self) -> bool {
        match self {
            Self::TcpSender(sender) => sender.is_complete(),
            Self::TcpReceiver(receiver) => receiver.is_complete(),
        }
    }
    /// So many bytes in all are there to be sent.
    pub fn supply(&mut self, total: Bytes) {
        if let Self::TcpSender(sender) = self {
            sender.supply(total.0);
        }
    }
    /// What it has done, if it sends.
    pub fn counts(&self) -> tcp::Counts {
        match self {
            Self::TcpSender(sender) => sender.counts(),
            Self::TcpReceiver(_) => tcp::Counts::default(),
        }
    }
    /// What it shows.
    pub fn observe(&self, seen: &mut Observation) {
        if let Self::TcpSender(sender) = self {
            sender.observe(seen);
        }
    }
}
