//! Which kind of stack carries connections now: the context aggregator's decision, without its sources.
//!
//! The paper's oracle swaps where the one-way delay passes 250 ms. Here the stacks' own measurements decide.
//! A long round trip over TCP may be TCP's own queue, which is no reason to leave it: so it counts only where
//! TCP has become slower than it was while the round trip was short, or is not sending all it could. A timer
//! that backs off and missing acknowledgements are reasons of their own. Datagrams keep their queue short, so
//! their round trip is that of the path: when it is short again, connections return to TCP, but later each
//! time they had to leave it soon.
//!
//! A path that loses all the time holds up TCP, which takes losses for a full link, more than datagrams. So a stream that
//! loses is left for a trial. If datagrams carry more, they stay until they lose no more; else TCP returns, and the next
//! trial comes later.

use super::PRIORITIES;
use super::best::Best;
use super::loss_meter::{Fate, LossMeter};
use super::why::{Share, StackReason};
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
use crate::wire::session::Hints;
use std::collections::VecDeque;

/// How long a long round trip must last.
const HOLD: Duration = Duration::from_secs(1);
/// The same, without a best rate to identify the stream's own queue, which its slow start fills.
const HOLD_AT_FIRST: Duration = Duration::from_secs(5);
/// The least round trip of this time is that of the path.
const RECENT: Duration = Duration::from_secs(2);
/// Rates are smoothed over about this: acknowledgements come in bursts.
const SMOOTHING_S: f64 = 1.0;
/// How long the best rate is valid.
const BEST_FOR: Duration = Duration::from_secs(600);
/// A stream that delivers this part of its best is not held up.
const NEAR_BEST: f64 = 0.86;
/// Datagrams without an answer for this time may be blocked by a firewall that passes streams.
const UNHEARD: Duration = Duration::from_secs(30);
/// Each such time on a stream halves the wait before the next return.
const CALM: Duration = Duration::from_secs(60);
/// A backlog longer than this, in seconds at the stream's rate, is more than the path can carry.
const BACKLOG_S: f64 = 1.0;
/// How long it must be so before the next class of priority leaves the stream, and not so before one comes
/// back.
const SPILL_AFTER: Duration = Duration::from_secs(2);
const RETURN_AFTER: Duration = Duration::from_secs(10);

/// A stream that always loses this share may be slower than datagrams; datagrams that lose less than this see no losses.
const LOSES: f64 = 0.005;
const LOSES_NO_MORE: f64 = 0.001;
/// A round trip of more than this multiple of the least one has the stream's own queue, which loses too.
const OWN_QUEUE: i64 = 2;
/// How long datagrams are tried, and by what factor they must carry more.
const TRIAL: Duration = Duration::from_secs(8);
const CARRIES_MORE: f64 = 1.1;
/// Time between such trials, which doubles with each that fails, up to the second.
const TRIAL_PAUSE: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(960));

/// The two kinds of stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// TCP.
    Stream,
    /// UDPDTN, and other transports without a handshake.
    Datagrams,
}

/// What is known of a stream: `TCP_INFO`, or the machine of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StreamContext {
    /// Smoothed round trip.
    pub rtt: Option<Duration>,
    /// Doublings of the retransmission timer.
    pub backoff: u32,
    /// How long data have waited without any acknowledgement.
    pub silent: Duration,
    /// How fast data are delivered.
    pub rate: Option<BitRate>,
    /// The application, not the network, bounds that.
    pub application_limited: bool,
    /// What became of its segments; those sent again count as lost.
    pub fate: Fate,
}

/// What is known of a stack of datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DatagramsContext {
    /// The last round trip, if it was measured within the last seconds.
    pub rtt: Option<Duration>,
    /// How long something has been in flight without an answer.
    pub silent: Duration,
    /// A rate at which they are known to get through.
    pub rate: Option<BitRate>,
    /// What became of those with data.
    pub fate: Fate,
}

/// What a contact plan says of now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planned {
    /// The one-way delay.
    Delay(Duration),
    /// No contact now.
    NoContact,
}

/// All that is known at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// None: it is not connected.
    pub stream: Option<StreamContext>,
    /// None: they are not set up.
    pub datagrams: Option<DatagramsContext>,
    /// Whether the interface is up, if that is known.
    pub link: Option<bool>,
    /// What the plan says, if there is one.
    pub planned: Option<Planned>,
    /// Bytes queued for the stream, by priority.
    pub backlog: [Bytes; PRIORITIES as usize],
    /// The kind that the other side sends by, if this side mostly responds.
    pub leads: Option<Kind>,
}

/// When to decide what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// A longer round trip is for datagrams.
    pub long: Duration,
    /// A shorter one is for streams.
    pub short: Duration,
    /// A stream is not taken back sooner after it was left; each hasty return doubles this.
    pub dwell: Duration,
    /// Up to this.
    pub dwell_most: Duration,
}

impl Default for Config {
    /// 500 ms, as the paper's oracle swaps at 250 ms one-way delay; 300 ms; 2 s; 60 s.
    fn default() -> Self {
        let millis = |ms: i64| Duration::from_nanos(ms * 1_000_000);
        let (dwell, dwell_most) = (Duration::from_secs(2), Duration::from_secs(60));
        Self { long: millis(500), short: millis(300), dwell, dwell_most }
    }
}

/// A decision to change the kind of stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Switch {
    /// The new kind.
    pub to: Kind,
    /// Why.
    pub why: StackReason,
}

/// Decides which kind of stack carries connections.
#[derive(Clone, Debug)]
pub struct Policy {
    config: Config,
    kind: Kind,
    why: StackReason,
    since: Instant,
    /// Least time between leaving the stream and returning; `None`: it never carried anything.
    dwell: Option<Duration>,
    /// Bytes/s of the stream, smoothed, and when that was.
    rate: Option<(f64, Instant)>,
    /// The highest while the round trip was short.
    best: Option<Best>,
    /// What datagrams have carried, in bytes/s, and when that was.
    carried: Option<(f64, Instant)>,
    /// Since when the round trip is long though no queue explains it.
    long_since: Option<Instant>,
    /// Round trips of late.
    recent: VecDeque<(Instant, Duration)>,
    was_connected: bool,
    /// The round trip was short when the stream was opened: what makes it long at first is its own queue.
    opened_short: bool,
    /// What it delivered first, in bytes/s, if its round trip has been long since.
    first: Option<f64>,
    has_datagrams: bool,
    unheard: bool,
    closed: bool,
    now: Instant,
    spill: Spill,
    /// Of the stack that is used.
    losses: LossMeter,
    /// The least round trip of the stream.
    stream_least: Option<Duration>,
    /// No trial of datagrams because of losses before this, and how long the next pause is.
    trial: (Instant, Duration),
}

impl Policy {
    /// Streams are taken first, if they are there.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            kind: Kind::Stream,
            why: StackReason::Start,
            since: Instant::ZERO,
            dwell: None,
            rate: None,
            best: None,
            carried: None,
            long_since: None,
            recent: VecDeque::new(),
            was_connected: false,
            opened_short: false,
            first: None,
            has_datagrams: false,
            unheard: false,
            closed: false,
            now: Instant::ZERO,
            spill: Spill::default(),
            losses: LossMeter::default(),
            stream_least: None,
            trial: (Instant::ZERO, TRIAL_PAUSE.0),
        }
    }
    /// What carries connections, except where [`Policy::kind_for`] differs.
    pub fn kind(&self) -> Kind {
        self.kind
    }
    /// Since when.
    pub fn since(&self) -> Instant {
        self.since
    }
    /// Why.
    pub fn why(&self) -> StackReason {
        self.why
    }
    /// What carries a connection with these hints: where the stream cannot carry all, low priorities use
    /// datagrams, unless their hints exclude the delay of a long path, as datagrams promise no delay.
    pub fn kind_for(&self, hints: &Hints) -> Kind {
        let bears =
            hints.delay_most_ms.is_none_or(|most| most as f64 >= self.config.long.as_secs_f64() * 500.0);
        if self.has_datagrams && bears && hints.priority < self.spill.below {
            return Kind::Datagrams;
        }
        self.kind
    }
    /// Best rate of the stream while its round trip was short: the initial rate of its successor.
    pub fn best(&self) -> Option<Best> {
        self.best
    }
    /// Whether a stream would be used if it were connected and did not back off: a driver without one
    /// connects.
    pub fn would_return(&self) -> bool {
        let rested = self.dwell.is_none_or(|dwell| self.now - self.since >= dwell);
        let is_short = self.least().is_some_and(|rtt| rtt < self.config.short);
        self.kind == Kind::Datagrams
            && rested
            && !self.closed
            && ((is_short && self.judge_trial().is_err()) || self.unheard || !self.has_datagrams)
    }
    /// Takes the present context; call it several times a second. `Some`: connections must move.
    pub fn on_context(&mut self, now: Instant, context: &Context) -> Option<Switch> {
        self.learn(now, context);
        let switch = match (self.led_to(context), self.kind) {
            (Some(to), kind) => (to != kind).then_some(Switch { to, why: StackReason::Led }),
            (None, Kind::Stream) => {
                self.reason_to_leave(context).map(|why| Switch { to: Kind::Datagrams, why })
            }
            (None, Kind::Datagrams) => {
                self.reason_to_return(context).map(|why| Switch { to: Kind::Stream, why })
            }
        }?;
        (self.losses, self.stream_least) = (LossMeter::default(), None);
        match (switch.to, switch.why) {
            (Kind::Stream, StackReason::CarryLess { .. }) => self.put_off_trial(now),
            (Kind::Stream, _) => self.long_since = None,
            // It is not this side that came back too early.
            (Kind::Datagrams, StackReason::Led) => self.forget(),
            (Kind::Datagrams, _) => self.on_left(now, context.stream.is_some()),
        }
        (self.kind, self.why, self.since) = (switch.to, switch.why, now);
        Some(switch)
    }

    // --- what is known ------------------------------------------------------------------------

    fn learn(&mut self, now: Instant, context: &Context) {
        self.now = now;
        let planned_long = matches!(context.planned, Some(planned) if self.is_long(planned));
        self.closed = context.link == Some(false) || planned_long;
        self.has_datagrams = context.datagrams.is_some();
        let waited = UNHEARD.saturating_add(self.dwell.unwrap_or_default());
        self.unheard = context.datagrams.is_some_and(|datagrams| datagrams.silent > waited);
        self.learn_round_trip(now, context);
        if let Some(stream) = context.stream.filter(|_| self.kind == Kind::Stream) {
            self.stream_least = self.stream_least.into_iter().chain(stream.rtt).min();
            self.learn_rate(now, &stream);
            let is_long = context.leads.is_none() && self.is_held_up(&stream);
            self.long_since = is_long.then(|| self.long_since.unwrap_or(now));
        }
        if self.kind == Kind::Datagrams {
            let rate = context.datagrams.and_then(|datagrams| datagrams.rate);
            self.carried = rate.map(|rate| (rate.0 as f64 / 8.0, now));
        }
        let known = match self.kind {
            Kind::Stream => context.stream.map(|stream| (stream.rtt, stream.fate)),
            Kind::Datagrams => context.datagrams.map(|datagrams| (datagrams.rtt, datagrams.fate)),
        };
        if let Some((rtt, fate)) = known {
            self.losses.learn(now, rtt.unwrap_or_default(), fate);
        }
        let rate = self.rate.filter(|_| self.kind == Kind::Stream && context.datagrams.is_some());
        self.spill.learn(now, rate.map(|rate| rate.0), &context.backlog);
    }
    /// Of datagrams, or of the handshake of a stream that is new.
    fn learn_round_trip(&mut self, now: Instant, context: &Context) {
        let opened = context.stream.filter(|_| !self.was_connected).and_then(|stream| stream.rtt);
        self.opened_short = opened.map_or(self.opened_short, |rtt| rtt < self.config.short);
        self.was_connected = context.stream.is_some();
        let measured = context.datagrams.and_then(|datagrams| datagrams.rtt);
        for rtt in [opened, measured].into_iter().flatten() {
            self.recent.push_back((now, rtt));
        }
        while self.recent.front().is_some_and(|(at, _)| now - *at > RECENT) {
            self.recent.pop_front();
        }
    }
    fn least(&self) -> Option<Duration> {
        self.recent.iter().map(|(_, rtt)| *rtt).min()
    }
    fn learn_rate(&mut self, now: Instant, stream: &StreamContext) {
        let Some(told) = stream.rate.map(|rate| rate.0 as f64 / 8.0) else { return };
        let smoothed = self.rate.map_or(told, |(before, at)| {
            let passed = (now - at).as_secs_f64().max(0.0);
            before + (told - before) * passed / (passed + SMOOTHING_S)
        });
        self.rate = Some((smoothed, now));
        self.best = self.best.filter(|best| now - best.at <= BEST_FOR);
        let is_short = stream.rtt.is_some_and(|rtt| rtt <= self.config.long);
        if is_short && !stream.application_limited {
            self.best = Some(Best::with(self.best, now, smoothed));
        } else if self.opened_short {
            self.first = self.first.or(Some(smoothed));
        }
    }
    /// Its round trip is long, and that is not its own queue.
    fn is_held_up(&self, stream: &StreamContext) -> bool {
        let is_long = stream.rtt.is_some_and(|rtt| rtt > self.config.long);
        let is_fast = self.share(stream.rtt).is_some_and(|share| share.now >= share.best * NEAR_BEST);
        is_long && (stream.application_limited || !is_fast)
    }
    /// What it delivers, beside the best, or what datagrams have carried; where neither is known, beside what
    /// it delivered first, unless its round trip is longer than its own queue makes it.
    fn share(&self, rtt: Option<Duration>) -> Option<Share> {
        let (now, _) = self.rate?;
        let first = self.first.filter(|_| rtt.is_some_and(|rtt| rtt <= self.config.long * 2));
        let carried = self.carried.filter(|(_, at)| self.now - *at <= BEST_FOR).map(|(rate, _)| rate);
        let best = self.best.map(|best| best.rate.max(carried.unwrap_or_default())).or(carried).or(first)?;
        Some(Share { now, best })
    }
    fn is_long(&self, planned: Planned) -> bool {
        match planned {
            Planned::NoContact => true,
            Planned::Delay(delay) => delay > half(self.config.long),
        }
    }

    // --- what is decided ----------------------------------------------------------------------

    /// Responses use the kind of their requests, if it is available: their round trip includes the other
    /// side's queue, and their low rate is not the network's.
    fn led_to(&self, context: &Context) -> Option<Kind> {
        context.leads.filter(|kind| match kind {
            Kind::Stream => context.stream.is_some(),
            Kind::Datagrams => context.datagrams.is_some(),
        })
    }
    fn reason_to_leave(&self, context: &Context) -> Option<StackReason> {
        context.datagrams?;
        if context.link == Some(false) {
            return Some(StackReason::LinkDown);
        }
        match context.planned.filter(|planned| self.is_long(*planned)) {
            Some(Planned::NoContact) => return Some(StackReason::NoContact),
            Some(Planned::Delay(delay)) => {
                return Some(StackReason::PlannedDelay { delay, most: half(self.config.long) });
            }
            None => {}
        }
        let Some(stream) = context.stream else { return Some(StackReason::NotConnected) };
        if stream.backoff >= 2 {
            return Some(StackReason::BacksOff { doublings: stream.backoff });
        }
        let rtt = stream.rtt.unwrap_or_default();
        let patience = HOLD.saturating_add(rtt).saturating_add(rtt);
        if stream.silent > patience {
            return Some(StackReason::Silent { span: stream.silent, most: patience });
        }
        let share = self.share(stream.rtt).filter(|_| !stream.application_limited);
        let is_known = stream.application_limited || share.is_some();
        let hold = if is_known { HOLD } else { HOLD_AT_FIRST };
        let lasts = self.long_since.is_some_and(|since| self.now - since >= hold);
        let long = lasts.then_some(StackReason::LongRoundTrip { rtt, most: self.config.long, share });
        let has_queue = self.stream_least.is_none_or(|least| rtt > least * OWN_QUEUE);
        long.or_else(|| self.loses().filter(|_| !stream.application_limited && !has_queue))
    }
    /// The stream loses all the time, and a trial is due.
    fn loses(&self) -> Option<StackReason> {
        let share = self.losses.always().filter(|share| *share >= LOSES && self.now >= self.trial.0)?;
        self.rate.map(|(rate, _)| StackReason::Loses { share, rate })
    }
    /// Of a trial of datagrams because the stream loses: whether it is still open, or what ends it.
    fn judge_trial(&self) -> Result<(), Option<StackReason>> {
        let StackReason::Loses { rate: stream, .. } = self.why else { return Err(None) };
        if self.now - self.since < TRIAL {
            return Ok(());
        }
        let now = self.carried.map_or(0.0, |(rate, _)| rate);
        if now < CARRIES_MORE * stream {
            return Err(Some(StackReason::CarryLess { now, stream }));
        }
        match self.losses.always() {
            Some(share) if share < LOSES_NO_MORE => Err(None),
            _ => Ok(()),
        }
    }
    fn put_off_trial(&mut self, now: Instant) {
        let (_, pause) = self.trial;
        self.trial = (now.saturating_add(pause), (pause + pause).min(TRIAL_PAUSE.1));
    }
    fn reason_to_return(&self, context: &Context) -> Option<StackReason> {
        let stream = context.stream?;
        if context.datagrams.is_none() {
            return Some(StackReason::NoDatagrams);
        }
        if !self.would_return() || stream.backoff > 0 {
            return None;
        }
        if let Err(Some(why)) = self.judge_trial() {
            return Some(why);
        }
        let short = self.least().filter(|rtt| *rtt < self.config.short);
        if let Some(rtt) = short {
            return Some(StackReason::ShortRoundTrip { rtt, most: self.config.short });
        }
        let answers =
            stream.silent == Duration::ZERO && stream.rtt.is_some_and(|rtt| rtt <= self.config.long);
        let span = context.datagrams.map(|datagrams| datagrams.silent).unwrap_or_default();
        answers.then_some(StackReason::Unheard { span })
    }
    /// After a return that was too early, the next one waits longer.
    fn on_left(&mut self, now: Instant, was_there: bool) {
        let stay = now - self.since;
        self.dwell = match self.dwell {
            None if self.why == StackReason::Start => was_there.then_some(self.config.dwell),
            None => Some(self.config.dwell),
            Some(dwell) if stay < CALM => Some((dwell + dwell).min(self.config.dwell_most)),
            Some(dwell) => {
                let halvings = (stay.as_nanos() / CALM.as_nanos()).min(32);
                Some(Duration::from_nanos(dwell.as_nanos() >> halvings).max(self.config.dwell))
            }
        };
        self.forget();
    }
    fn forget(&mut self) {
        self.long_since = None;
        self.recent.clear();
        (self.rate, self.first) = (None, None);
    }
}

fn half(span: Duration) -> Duration {
    Duration::from_nanos(span.as_nanos() / 2)
}

/// Which priorities have left the stream, as it cannot carry all.
#[derive(Clone, Debug, Default)]
struct Spill {
    /// Those below this.
    below: u8,
    /// Since when the next step is due.
    more_since: Option<Instant>,
    less_since: Option<Instant>,
}

impl Spill {
    fn learn(&mut self, now: Instant, rate: Option<f64>, backlog: &[Bytes; PRIORITIES as usize]) {
        let Some(rate) = rate else {
            *self = Self::default();
            return;
        };
        let bound = (rate * BACKLOG_S).max(1.0) as u64;
        let waits = |class: u8| backlog[usize::from(class)].0 > bound;
        // The highest class with a long backlog gets the stream for itself.
        let wanted = (0..PRIORITIES).rev().find(|class| waits(*class)).unwrap_or(0);
        let due = |since: &mut Option<Instant>, is_so: bool, after: Duration| {
            *since = is_so.then(|| since.unwrap_or(now));
            since.take_if(|since| now - *since >= after).is_some()
        };
        if due(&mut self.more_since, wanted > self.below, SPILL_AFTER) {
            self.below += 1;
        }
        if due(&mut self.less_since, wanted < self.below, RETURN_AFTER) {
            self.below -= 1;
        }
    }
}
