//! What a flow sends, over time.

use super::{FlowSpec, Transport};
use lightlag_protocols::math;
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};

/// What a flow sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// A file of this size.
    File(Bytes),
    /// Always more.
    Persistent,
    /// For a while a packet after the other, for a while nothing.
    OnOff {
        /// How long it sends.
        on: Span,
        /// How long it is silent.
        off: Span,
        /// At this rate while it sends.
        rate: BitRate,
    },
}

/// How long something takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Always the same.
    Fixed(Duration),
    /// Drawn for each period, exponentially distributed with this mean.
    Exponential(Duration),
}

impl Span {
    fn draw(self, draws: &mut Stream) -> Duration {
        match self {
            Self::Fixed(span) => span,
            Self::Exponential(mean) => {
                Duration::from_secs_f64(mean.as_secs_f64() * -math::log(1.0 - draws.unit()))
            }
        }
    }
}

/// State of an on/off source.
pub struct Switch {
    draws: Stream,
    is_on: bool,
    until: Instant,
    made: u64,
    segment: Bytes,
}

impl Switch {
    /// Of a flow with such a source.
    pub fn of(spec: &FlowSpec, seed: u64, flow: u32) -> Option<Self> {
        let segment = match (spec.source, &spec.transport) {
            (Source::OnOff { .. }, Transport::Tcp { config, .. }) => config.segment,
            (Source::OnOff { .. }, Transport::Dccp { config, .. }) => config.segment(),
            _ => return None,
        };
        let draws = Stream::new(seed, "on off", u64::from(flow));
        Some(Self { draws, is_on: false, until: Instant::ZERO, made: 0, segment })
    }
    /// Its time has come: bytes made in all so far, and when to come back.
    pub fn turn(&mut self, now: Instant, [on, off]: [Span; 2], rate: BitRate) -> (Bytes, Instant) {
        // A period that takes no time is over at once.
        while self.until <= now {
            self.is_on = !self.is_on;
            let span = if self.is_on { on } else { off }.draw(&mut self.draws);
            self.until = self.until.max(now).saturating_add(span.max(Duration::from_nanos(1)));
        }
        if !self.is_on {
            return (Bytes(self.made), self.until);
        }
        self.made += self.segment.0;
        (Bytes(self.made), now.saturating_add(rate.time_for(self.segment)).min(self.until))
    }
}

impl FlowSpec {
    /// Whether all that it sends is known to end.
    pub fn ends(&self) -> bool {
        matches!(self.source, Source::File(_)) || self.stop.is_some()
    }
}
