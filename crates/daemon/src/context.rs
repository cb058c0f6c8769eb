//! Gathers the state of the path to another daemon for the policy, and applies the policy's decisions.

use super::config::Choice;
use super::peer::{Peer, UNSENT_MOST};
use super::plan;
use super::stack::{STACKS, TCP, UDPDTN};
use super::tcp_info::TcpInfo;
use super::traffic::Lead;
use lightlag_node::clock::to_std;
use lightlag_protocols::session::{
    Connection, Context, Fate, Kind, PRIORITIES, Policy, PolicyConfig, Session, Stack, StreamContext,
};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::SystemTime;
use tracing::info;

/// How often the path is examined.
const EVERY: Duration = Duration::from_nanos(250_000_000);
/// Intervals of datagram probes: usual, and where only probes measure the path.
const PROBE: Duration = Duration::from_secs(10);
const PROBE_SOON: Duration = Duration::from_secs(1);
/// A stream without an acknowledgement for this time plus two round trips hangs.
const HANGS: Duration = Duration::from_secs(3);
/// Rates are measured over at least this time.
const RATE_OVER: Duration = Duration::from_secs(4);
/// Bytes of a segment on the link beside its data: IPv4 and TCP with time stamps.
const HEADERS: u32 = 52;
/// Backlog of a stream whose send buffer is full, in bytes: its application has more to send.
const FULL: u64 = 64 << 20;
/// Interval of calls that replace a stream that backs off.
const CALL_EVERY: Duration = Duration::from_secs(2);

/// Handles the deadlines of a peer, of data in transit on stacks that were left, and repeats the choice of stack.
pub async fn tend(peer: Rc<Peer>) {
    let mut chooser = Chooser::new(&peer);
    loop {
        let now = peer.clock.now();
        peer.with(|session| session.on_deadline(now));
        chooser.choose(&peer, now);
        let next = peer.look(Session::deadline).map_or(EVERY, |at| at - now);
        let pause = to_std(next.clamp(Duration::ZERO, EVERY));
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = peer.changed() => {}
        }
    }
}

/// Decides what carries the connections of a peer.
struct Chooser {
    policy: Policy,
    /// What was decided last: the stack of most, and whether that is its owner's wish.
    decided: (Stack, bool),
    called: Option<Instant>,
    close_at: Option<Instant>,
    /// Segments of the stream that had arrived, and when.
    deliveries: VecDeque<(Instant, u32)>,
    /// Since when the stream has waited for an acknowledgement of more than these bytes.
    waits: Option<(Instant, u64)>,
    lead: Lead,
}

fn stack_of(kind: Kind) -> Stack {
    match kind {
        Kind::Stream => TCP,
        Kind::Datagrams => UDPDTN,
    }
}

fn kind_of(stack: Stack) -> Kind {
    if stack == TCP { Kind::Stream } else { Kind::Datagrams }
}

impl Chooser {
    /// Nothing is known yet.
    fn new(peer: &Peer) -> Self {
        Self {
            policy: Policy::new(PolicyConfig::default()),
            decided: (peer.carrier(), false),
            called: None,
            close_at: None,
            deliveries: VecDeque::new(),
            waits: None,
            lead: Lead::default(),
        }
    }
    /// Examines the path, and moves connections if there is a reason.
    fn choose(&mut self, peer: &Rc<Peer>, now: Instant) {
        let info = peer.tcp.info();
        let rate = self.measure(info, now);
        if let Some(rate) = rate {
            peer.tcp.keep_ahead(rate);
        }
        let silent = self.wait(info, now);
        let stream = info.map(|info| Stream { info, rate, silent });
        let lead = self.lead.look(now, &peer.traffic);
        let switch = self.policy.on_context(now, &gather(peer, now, stream, lead));
        let (stack, why) = match peer.choice() {
            Choice::Tcp => (TCP, Some("chosen by the operator".to_owned())),
            Choice::Udpdtn => (UDPDTN, Some("chosen by the operator".to_owned())),
            Choice::Auto => (stack_of(self.policy.kind()), None),
        };
        let is_wish = why.is_some();
        if (stack, is_wish) != self.decided {
            self.decided = (stack, is_wish);
            let why = why.or_else(|| switch.map(|switch| switch.why.to_string()));
            let why = why.unwrap_or_else(|| format!("automatic again: {}", self.policy.why()));
            if stack != peer.carrier() {
                info!(
                    peer = peer.config.name,
                    to = super::stack::name(stack),
                    why,
                    "switched connections to another stack"
                );
                peer.history.borrow_mut().switch(now, stack, why);
                // What was delivered while it was not used says nothing of its rate.
                self.deliveries.clear();
                self.hand_over(peer, now, (stack, info.map(|info| info.round_trip)));
            } else {
                peer.history.borrow_mut().explain(why);
            }
        }
        let policy = &self.policy;
        let of = |connection: &Connection| {
            if is_wish { stack } else { stack_of(policy.kind_for(&connection.hints)) }
        };
        peer.carry_by(of, stack);
        self.close(peer, now, info);
        // A daemon that uses datagrams must notice soon when the path is short again; so must one with an
        // idle stream whose last round trip was long. A busy stream measures the path itself.
        let was_long = info
            .is_some_and(|info| info.unacknowledged == 0 && info.round_trip > PolicyConfig::default().short);
        let wants = lead.is_none() && (stack == UDPDTN || was_long);
        peer.udpdtn.probe(now, if wants { PROBE_SOON } else { PROBE });
        self.call(peer, now, stream);
    }
    /// How long the stream has waited for an acknowledgement. The kernel reports only the time of the last
    /// one, which may be long ago because nothing was sent.
    fn wait(&mut self, info: Option<TcpInfo>, now: Instant) -> Duration {
        let waits = info.filter(|info| info.unacknowledged > 0).map(|info| info.acknowledged);
        self.waits = waits.map(|acknowledged| match self.waits {
            Some((since, before)) if before == acknowledged => (since, before),
            _ => (now, acknowledged),
        });
        self.waits.map_or(Duration::ZERO, |(since, _)| now - since)
    }
    /// How fast the stream delivers on the link, over some time: the kernel's own figure is of one flight, and much too
    /// high where acknowledgements come at once; and what is acknowledged without a gap comes in bursts.
    fn measure(&mut self, info: Option<TcpInfo>, now: Instant) -> Option<BitRate> {
        let goes_on = |(_, before): &(Instant, u32)| info.is_some_and(|info| info.delivered >= *before);
        if !self.deliveries.back().is_some_and(goes_on) {
            self.deliveries.clear();
        }
        let info = info?;
        self.deliveries.push_back((now, info.delivered));
        while self.deliveries.get(1).is_some_and(|(at, _)| now - *at >= RATE_OVER) {
            self.deliveries.pop_front();
        }
        let (since, before) = *self.deliveries.front()?;
        let span = (now - since).as_secs_f64();
        let bits = f64::from(info.delivered - before) * f64::from(info.segment + HEADERS) * 8.0;
        (now - since >= RATE_OVER).then_some(BitRate((bits / span) as u64))
    }
    /// Datagrams begin with what the stream had found; and a stream that was left is not taken back as it was.
    fn hand_over(&mut self, peer: &Peer, now: Instant, (to, round_trip): (Stack, Option<Duration>)) {
        self.close_at = (to == UDPDTN).then(|| now.saturating_add(peer.tcp.grace()));
        if let Some(best) = self.policy.best().filter(|_| to == UDPDTN) {
            let rate = BitRate((best.rate * 8.0) as u64);
            peer.udpdtn.continue_from(now, &peer.config, (rate, round_trip), best.is_found(now, round_trip));
        }
    }
    /// What a stream that was left still carries had its time.
    fn close(&mut self, peer: &Rc<Peer>, now: Instant, info: Option<TcpInfo>) {
        if self.close_at.take_if(|at| *at <= now).is_some()
            && info.is_some_and(|info| info.unacknowledged > 0)
        {
            peer.tcp.close();
            peer.on_failed(TCP);
        }
    }
    /// Replaces a stream that backs off although the path is short again.
    fn call(&mut self, peer: &Peer, now: Instant, stream: Option<Stream>) {
        let rested = self.called.is_none_or(|called| now - called >= CALL_EVERY);
        let hangs = stream.map_or_else(|| !peer.tcp.begins(), |stream| stream.hangs());
        if self.policy.would_return() && hangs && rested {
            self.called = Some(now);
            peer.tcp.call_again();
        }
    }
}

/// What is known of the stream that there is.
#[derive(Clone, Copy)]
struct Stream {
    info: TcpInfo,
    rate: Option<BitRate>,
    silent: Duration,
}

impl Stream {
    /// What was sent waits for an acknowledgement that does not come.
    fn hangs(&self) -> bool {
        let patience = HANGS.saturating_add(self.info.round_trip * 2);
        self.info.backoff > 0 || self.silent > patience
    }
}

fn fate(info: &TcpInfo) -> Fate {
    let lost = u64::from(info.retransmitted);
    Fate { sent: lost + u64::from(info.delivered), lost }
}

fn gather(peer: &Peer, now: Instant, stream: Option<Stream>, lead: Option<Stack>) -> Context {
    let datagrams = peer.udpdtn.context(now);
    let datagram = datagrams.and_then(|datagrams| datagrams.rtt);
    let stream = stream.map(|stream @ Stream { info, rate, silent }| StreamContext {
        // What the kernel has smoothed may be old where little is sent; a datagram that just came back is of now.
        rtt: (info.round_trip > Duration::ZERO)
            .then(|| datagram.map_or(info.round_trip, |rtt| rtt.min(info.round_trip))),
        // Also what the kernel sends again only in a while: it is not taken back as it is.
        backoff: info.backoff.max(u32::from(stream.hangs())),
        silent,
        rate,
        application_limited: info.application_limited || info.unacknowledged == 0,
        fate: fate(&info),
    });
    let mut backlog = [Bytes(0); PRIORITIES as usize];
    peer.look(|session| {
        for (_, connection) in session.connections().filter(|(_, one)| one.stack == STACKS[0].0) {
            let class = usize::from(connection.hints.priority.min(PRIORITIES - 1));
            let unsent = connection.outgoing.unsent();
            backlog[class].0 += if unsent >= UNSENT_MOST / 2 { FULL } else { unsent };
        }
    });
    let planned = plan::says(&peer.contacts.borrow(), SystemTime::now());
    Context { stream, datagrams, link: peer.link.get(), planned, backlog, leads: lead.map(kind_of) }
}
