//! ConTug: a window of its own for each site that answers, and an Interest timer of the greatest round
//! trip (Arianfar, Nikander, Eggert and Ott, "ConTug: A Receiver-Driven Transport Protocol for
//! Content-Centric Networks", IEEE ICNP 2010, poster).
//!
//! The poster predicts which site an Interest will reach. Here the windows of the sites that answer add
//! up, and a loss is charged to the site that answered last: an Interest does not know where it went.

use super::reno::Reno;
use super::{Ack, Advice, Cause, Controller, Flow, Loss};
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "contug",
    paper: "Arianfar et al., ConTug: A Receiver-Driven Transport Protocol for Content-Centric Networks (2010)",
    parameters: &[
        Parameter::integer(
            "initial_window",
            2.0,
            (1.0, 1e6),
            "Segments that may leave to a site at the start.",
        ),
        Parameter::integer(
            "sites",
            8.0,
            (1.0, 64.0),
            "Responders with a window of their own; the oldest is replaced.",
        ),
        Parameter::number(
            "timeout_min",
            "s",
            0.2,
            (0.0, 60.0),
            "The timer's least value, so that a queue that grows is not a timeout; 0: as in the paper.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| {
        let segment = flow.segment.0 as f64;
        let window = parameters.number("initial_window") * segment;
        let initial = Reno { segment, window, threshold: f64::INFINITY };
        Box::new(ConTug {
            initial,
            sites: vec![Site { id: None, reno: initial, heard: Instant::ZERO }],
            sites_kept: parameters.number("sites") as usize,
            timeout_min: Duration::from_secs_f64(parameters.number("timeout_min")),
            rtt_max: None,
        })
    },
};

struct Site {
    id: Option<u32>,
    reno: Reno,
    /// When it answered last.
    heard: Instant,
}

struct ConTug {
    initial: Reno,
    /// The one that answered last is the last.
    sites: Vec<Site>,
    sites_kept: usize,
    timeout_min: Duration,
    rtt_max: Option<Duration>,
}

impl ConTug {
    /// Brings the site that answered to the end.
    fn answered(&mut self, id: Option<u32>, now: Instant) {
        let known = self.sites.iter().position(|site| site.id == id);
        // Before the first Data the window belongs to the first site that answers.
        let nameless = || self.sites.first().filter(|site| site.id.is_none()).map(|_| 0);
        let mut site = match known.or_else(nameless) {
            Some(place) => self.sites.remove(place),
            None => Site { id, reno: self.initial, heard: now },
        };
        (site.id, site.heard) = (id, now);
        self.sites.push(site);
        if self.sites.len() > self.sites_kept {
            self.sites.remove(0);
        }
        // Who has not answered for two timers has no part in the window.
        let patience = self.timeout().unwrap_or(self.timeout_min) * 2;
        self.sites.retain(|site| now - site.heard <= patience);
    }
    /// The greatest round trip, or the least timer.
    fn timeout(&self) -> Option<Duration> {
        self.rtt_max.map(|rtt| rtt.max(self.timeout_min))
    }
    fn latest(&mut self) -> Option<&mut Reno> {
        self.sites.last_mut().map(|site| &mut site.reno)
    }
}

impl Controller for ConTug {
    fn on_ack(&mut self, ack: &Ack) {
        self.rtt_max = self.rtt_max.max(ack.rtt);
        if ack.acked.0 == 0 {
            return;
        }
        self.answered(ack.responder, ack.now);
        if !ack.limited || ack.recovering {
            return;
        }
        if let Some(reno) = self.latest() {
            reno.grow();
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        if loss.cause == Cause::Mark || !loss.episode {
            return;
        }
        if let Some(reno) = self.latest() {
            reno.reduce(reno.window / 2.0);
        }
    }
    fn window(&self) -> Bytes {
        Bytes(self.sites.iter().map(|site| site.reno.window).sum::<f64>() as u64)
    }
    fn advice(&self) -> Advice {
        Advice { timeout: self.timeout(), ..Advice::NONE }
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("window", self.window().0 as f64));
        seen.push(("sites", self.sites.len() as f64));
        seen.push(("timeout", self.timeout().map_or(f64::NAN, Duration::as_secs_f64)));
    }
}
