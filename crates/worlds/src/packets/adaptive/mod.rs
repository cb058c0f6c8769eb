//! A flow over persistent connections: TCP or datagrams carry an application's bytes, whichever suits now.
//!
//! Near sends, and selects the transport by the policy or by the true delay. Far answers over the transport
//! by which the last bytes came.

mod far;
mod near;
mod pipe;

pub use far::Far;
pub use near::{Change, Near};

use super::FlowSpec;
use lightlag_protocols::controllers::{Factory, Flow};
use lightlag_protocols::link::LinkSpec;
use lightlag_protocols::session::{Config as SessionConfig, DatagramsConfig, PolicyConfig, Stack};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::tcp;
use lightlag_protocols::transport::udpdtn::UDP_HEADER;
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::session::{Epoch, Serial};

/// Bytes of a datagram on the link beside its frames and their head.
const HEADERS: Bytes = Bytes(UDP_HEADER.0 + Serial::WHOLE as u64);

/// Names of the two stacks.
const STREAM: Stack = Stack(0);
const DATAGRAMS: Stack = Stack(1);
/// Lives of the two daemons.
const NEAR: u32 = 1;
const FAR: u32 = 2;

/// How such a flow behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// TCP.
    pub tcp: tcp::Config,
    /// Bytes of a packet on the link, at most.
    pub packet: Bytes,
    /// What may wait at the far end, and is kept here until it is acknowledged.
    pub window: Bytes,
    /// Who decides.
    pub decides: Decides,
    /// Datagrams are plain packets without feedback, outside of the connection, as in the paper.
    pub plain: bool,
}

/// How the transport of the connection is selected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decides {
    /// By the policy, from what both transports report.
    Policy(PolicyConfig),
    /// By the true delay of the path, as by the paper's context aggregator: datagrams above this delay.
    Oracle(Duration),
    /// Datagrams from the first to the last; plain ones at the planned rate.
    Datagrams,
}

/// The controllers of both stacks.
#[derive(Clone, Debug)]
pub struct Controllers {
    /// Of TCP.
    pub stream: Factory,
    /// Of datagrams.
    pub datagrams: Factory,
}

/// What an end is made of.
#[derive(Clone)]
pub struct Make {
    config: Config,
    controllers: Controllers,
    flow: Flow,
}

impl Make {
    /// Of a flow.
    pub fn new(config: Config, controllers: Controllers, flow: Flow) -> Self {
        Self { config, controllers, flow }
    }
    fn stream_flow(&self, segment: Bytes) -> Flow {
        Flow::new(segment, tcp::HEADER + segment).seeded(self.flow.seed, self.flow.index)
    }
    fn datagram(&self) -> Bytes {
        self.config.packet.saturating_sub(HEADERS)
    }
    fn session(&self, incarnation: u32) -> SessionConfig {
        let window = self.config.window.0;
        SessionConfig { incarnation, window, window_most: window, connections_max: 1, unnamed_max: 1 }
    }
    fn datagrams(&self, incarnation: u32) -> DatagramsConfig {
        let datagram = self.datagram().0 as usize;
        let epoch = |number: u32| Epoch { number, nonce: number.into() };
        let peer = if incarnation == NEAR { FAR } else { NEAR };
        DatagramsConfig {
            stack: DATAGRAMS,
            epoch: epoch(incarnation),
            peer: Some(epoch(peer)),
            datagram,
            headers: HEADERS,
        }
    }
}

/// Byte `at` of the application's stream.
fn byte(at: u64) -> u8 {
    (at.wrapping_mul(31) ^ (at >> 9)) as u8
}

/// The true delay of a path, which only a world knows.
pub struct Truth(Vec<LinkSpec>);

impl Truth {
    /// Of the links of a flow, from near to far.
    pub fn of(spec: &FlowSpec, links: &[LinkSpec]) -> Self {
        Self(spec.forward.iter().map(|link| links[*link as usize].clone()).collect())
    }
    fn delay(&self, now: Instant) -> Duration {
        self.0.iter().fold(Duration::ZERO, |sum, link| sum.saturating_add(link.delay.at(now)))
    }
}

/// The first of these, but later than what has just been done.
fn not_before<const N: usize>(now: Instant, all: [Option<Instant>; N]) -> Option<Instant> {
    let later = now.saturating_add(Duration::from_nanos(1));
    all.into_iter().flatten().min().map(|at| at.max(later))
}
