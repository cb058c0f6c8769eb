//! Throughput of a path over minutes: unlimited data in one direction, the receiver's counts in the other.
//!
//! The sender names time and interval in its header. The receiver counts from the first byte that comes, for
//! that time, and then says in a receipt what it counted: so the sender ends too. Nothing touches a disk.
//!
//! Sending: [`send`] with [`super::Payload::Noise`]. Receiving: [`super::Carrier::listen`] with [`Tallies`] as
//! the inbox, which emits [`Event::Interval`] and [`Event::Measured`]. Both may run in many threads.

use super::header::{HEADER_BYTES, Head, Receipt};
use super::incoming::{Inbox, Incoming};
use super::{Counted, Error, Event, Payload, Progress, Sending, Transport};
use crate::clock::{of_std, to_std};
use lightlag_protocols::rng::mix;
use lightlag_protocols::time::Duration;
use std::net::SocketAddr;
use std::time::Instant;

const MAGIC: &[u8; 8] = b"llbench1";
/// Begins a name that says what is measured. No file has one with slashes.
const NAME_MAGIC: &str = "llbench1/";
/// Bytes of an unlimited message: more than any measurement sends, yet offsets in it encode in few bytes.
pub(super) const ENDLESS: u64 = (1 << 49) - 1;
/// Shortest interval that can be asked for.
pub const EVERY_LEAST: Duration = Duration::from_nanos(100_000_000);
/// How long a sender waits for the receipt after its time, beside twice the light time.
const GRACE: Duration = Duration::from_secs(10);

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Duration of the measurement.
    pub time: Duration,
    /// With figures so often; [`EVERY_LEAST`] at least.
    pub every: Duration,
}

impl Plan {
    /// As a header: magic, time in nanoseconds (8), interval in nanoseconds (8), zeros.
    pub(super) fn to_header(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&self.time.as_nanos().to_be_bytes());
        bytes[16..24].copy_from_slice(&self.every.as_nanos().to_be_bytes());
        bytes
    }
    /// As the name of what an opening of UDPDTN announces: magic, time and interval in nanoseconds.
    pub(crate) fn to_name(self) -> String {
        format!("{NAME_MAGIC}{}/{}/", self.time.as_nanos(), self.every.as_nanos())
    }
    /// What [`Plan::to_name`] says, be it sensible or not; none if it is the name of a file.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let (time, every) = name.strip_prefix(NAME_MAGIC)?.strip_suffix('/')?.split_once('/')?;
        let span = |text: &str| text.parse().map(Duration::from_nanos).ok();
        Some(Self { time: span(time)?, every: span(every)? })
    }
    fn of_header(bytes: &[u8; HEADER_BYTES]) -> Result<Self, String> {
        let field = |at: usize| {
            let field = bytes[at..].first_chunk::<8>().map_or(0, |field| i64::from_be_bytes(*field));
            Duration::from_nanos(field)
        };
        let plan = Self { time: field(8), every: field(16) };
        if &bytes[..8] != MAGIC {
            return Err("a measurement was awaited; both sides must say `lightlag bench-link`".to_owned());
        }
        if plan.every < EVERY_LEAST || plan.time <= Duration::ZERO {
            return Err("it asks for no time, or for intervals below 100 ms".to_owned());
        }
        Ok(plan)
    }
}

/// What passed in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// When it ended, since the first byte.
    pub at: Duration,
    /// How long it was.
    pub span: Duration,
    /// At the receiver: bytes that came. At the sender: bytes that it knows to have arrived; over TCP those
    /// that the kernel took.
    pub bytes: u64,
    /// Datagrams with data that left; none at the receiver and over TCP.
    pub datagrams: Option<u64>,
    /// Those among them that were sent again.
    pub repairs: Option<u64>,
    /// Round trip, where it is measured.
    pub rtt: Option<Duration>,
}

impl Interval {
    /// Bit/s.
    pub fn goodput(&self) -> f64 {
        rate(self.bytes, self.span)
    }
}

fn rate(bytes: u64, span: Duration) -> f64 {
    bytes as f64 * 8.0 / span.as_secs_f64().max(1e-9)
}

/// The result of a measurement; deviation, least and most are of whole intervals, in bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Bytes.
    pub bytes: u64,
    /// Duration in nanoseconds.
    pub span_ns: u64,
    /// Standard deviation, that of a sample.
    pub deviation: u64,
    /// Least.
    pub least: u64,
    /// Most.
    pub most: u64,
}

impl Measured {
    /// Bit/s, over all of it.
    pub fn goodput(&self) -> f64 {
        self.bytes as f64 * 8e9 / self.span_ns.max(1) as f64
    }
    fn fields(&self) -> [u64; 5] {
        [self.bytes, self.span_ns, self.deviation, self.least, self.most]
    }
    fn of_fields([bytes, span_ns, deviation, least, most]: [u64; 5]) -> Self {
        Self { bytes, span_ns, deviation, least, most }
    }
    /// Its numbers in the order of its fields, a space between two.
    pub(super) fn to_text(self) -> String {
        self.fields().map(|field| field.to_string()).join(" ")
    }
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let fields: Option<Vec<u64>> = text.split(' ').map(|field| field.parse().ok()).collect();
        fields?.try_into().ok().map(Self::of_fields)
    }
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        self.fields().iter().for_each(|field| out.extend_from_slice(&field.to_be_bytes()));
    }
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (fields, rest) = bytes.as_chunks::<8>();
        let fields = <[[u8; 8]; 5]>::try_from(fields).ok()?;
        rest.is_empty().then(|| Self::of_fields(fields.map(u64::from_be_bytes)))
    }
}

/// Mean and spread as they come (Welford 1962).
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    count: u64,
    mean: f64,
    squares: f64,
    least: f64,
    most: f64,
}

impl Spread {
    fn note(&mut self, x: f64) {
        self.least = if self.count == 0 { x } else { self.least.min(x) };
        self.most = self.most.max(x);
        self.count += 1;
        let off = x - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (x - self.mean);
    }
    fn over(&self, bytes: u64, span: Duration) -> Measured {
        let deviation = (self.squares / self.count.saturating_sub(1).max(1) as f64).sqrt();
        Measured {
            bytes,
            span_ns: span.as_nanos().max(0) as u64,
            deviation: deviation as u64,
            least: self.least as u64,
            most: self.most as u64,
        }
    }
}

// --- sending --------------------------------------------------------------------------------

/// Incompressible bytes, cheaply made: a table of noise, combined with another word each time.
pub(crate) struct Noise {
    table: Vec<u8>,
}

const TABLE_BYTES: usize = 1 << 16;

impl Noise {
    pub(crate) fn new() -> Self {
        Self { table: (0..TABLE_BYTES as u64 / 8).flat_map(|word| mix(word + 1).to_le_bytes()).collect() }
    }
    pub(crate) fn read(&self, at: u64, out: &mut [u8]) {
        let mask = mix(at).to_le_bytes();
        let (words, rest) = out.as_chunks_mut::<8>();
        let table = self.table.as_chunks::<8>().0;
        for (part, at) in words.chunks_mut(table.len()).zip(0_u64..) {
            let mask = u64::from_le_bytes(mask) ^ mix(at);
            for (word, noise) in part.iter_mut().zip(table) {
                *word = (u64::from_le_bytes(*noise) ^ mask).to_le_bytes();
            }
        }
        rest.copy_from_slice(&mask[..rest.len()]);
    }
}

/// The result of a measurement, at its sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// As the receiver counted it; none if it was stopped, or the receiver's word did not come.
    pub received: Option<Measured>,
    /// As the sender counted what was acknowledged.
    pub acknowledged: Measured,
    /// All that passed, up to the end.
    pub total: Counted,
}

/// Sends [`Payload::Noise`] until the receiver has counted for its time, or until `watch` returns false.
/// `watch` is called with each interval, and with `None` ten times a second.
///
/// # Errors
/// [`Error::Input`] if it could not begin, [`Error::Failed`] if it failed or no answer arrived.
pub fn send(
    transport: &Transport,
    sending: Sending,
    watch: &mut dyn FnMut(Option<&Interval>) -> bool,
) -> Result<Outcome, Error> {
    let Payload::Noise(plan) = sending.payload else {
        return Err(Error::Input("a measurement sends noise, not a file".to_owned()));
    };
    let Some(files) = &transport.files else {
        return Err(Error::Input(format!("{} carries no noise", transport.name)));
    };
    let (to, light) = (sending.options.to, sending.options.light.unwrap_or_default());
    let mut meter = Meter::new(plan, GRACE.saturating_add(light * 2));
    let result = files.by.send(sending, &mut |progress| match progress {
        Progress::Counted(counted) => meter.note(counted, watch),
        _ => true,
    });
    match result {
        Ok(sent) => Ok(meter.outcome(sent.measured)),
        Err(_) if meter.ended == Some(Ended::Stopped) || meter.last.bytes > 0 && meter.ended.is_some() => {
            Ok(meter.outcome(None))
        }
        Err(_) if meter.ended.is_some() => Err(Error::Failed(format!(
            "{to} did not answer; does `lightlag bench-link` listen there, --over {}?",
            transport.name
        ))),
        Err(why) => Err(why),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Ended {
    Stopped,
    Late,
}

/// Cuts what a sender counts into intervals.
struct Meter {
    plan: Plan,
    grace: Duration,
    began: Instant,
    /// At the end of the last interval.
    before: (Duration, Counted),
    last: Counted,
    spread: Spread,
    ended: Option<Ended>,
}

impl Meter {
    fn new(plan: Plan, grace: Duration) -> Self {
        let (before, last) = (Default::default(), Default::default());
        Self { plan, grace, began: Instant::now(), before, last, spread: Spread::default(), ended: None }
    }
    fn note(&mut self, counted: Counted, watch: &mut dyn FnMut(Option<&Interval>) -> bool) -> bool {
        let now = of_std(self.began.elapsed());
        self.last = counted;
        let whole = now.as_nanos() / self.plan.every.as_nanos()
            > self.before.0.as_nanos() / self.plan.every.as_nanos();
        let interval = whole.then(|| self.close(now));
        let goes_on = watch(interval.as_ref());
        if !goes_on {
            self.ended = Some(Ended::Stopped);
        } else if now > self.plan.time.saturating_add(self.grace) {
            self.ended = Some(Ended::Late);
        }
        self.ended.is_none()
    }
    fn close(&mut self, now: Duration) -> Interval {
        let (at, before) = std::mem::replace(&mut self.before, (now, self.last));
        let since = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then.unwrap_or(0)));
        let interval = Interval {
            at: now,
            span: now - at,
            bytes: self.last.bytes.saturating_sub(before.bytes),
            datagrams: since(self.last.datagrams, before.datagrams),
            repairs: since(self.last.repairs, before.repairs),
            rtt: self.last.rtt,
        };
        self.spread.note(interval.goodput());
        interval
    }
    fn outcome(&self, received: Option<Measured>) -> Outcome {
        let acknowledged = self.spread.over(self.last.bytes, of_std(self.began.elapsed()));
        Outcome { received, acknowledged, total: self.last }
    }
}

// --- receiving ------------------------------------------------------------------------------

/// The last peer for which there was no room, until it is reported, and the earliest time of that.
pub struct Tallies;

impl Inbox for Tallies {
    fn incoming(&self, from: SocketAddr) -> Box<dyn Incoming> {
        Box::new(Tally {
            from,
            began: None,
            head: Head::default(),
            plan: None,
            bytes: 0,
            closed: (0, 0),
            spread: Spread::default(),
            receipt: None,
            events: Vec::new(),
        })
    }
}

/// The state of one measurement.
struct Tally {
    from: SocketAddr,
    began: Option<Instant>,
    head: Head,
    plan: Option<Plan>,
    bytes: u64,
    /// Intervals that are over, and bytes that came in them.
    closed: (u32, u64),
    spread: Spread,
    receipt: Option<Receipt>,
    events: Vec<Event>,
}

impl Tally {
    fn write_head(&mut self, at: u64, bytes: &[u8]) {
        let Some(head) = self.head.take(at, bytes).0 else { return };
        match Plan::of_header(&head) {
            Ok(plan) => {
                self.plan = Some(plan);
                self.events.push(Event::Began("a measurement".to_owned(), 0, 0, self.from));
            }
            Err(why) => self.refuse(why),
        }
    }
    /// Ends the intervals that are over; those that ended before the header was here are one.
    fn close(&mut self, plan: Plan, now: std::time::Duration) {
        loop {
            let at = plan.every * i64::from(self.closed.0 + 1);
            if at > plan.time || to_std(at) > now {
                break;
            }
            let bytes = self.bytes - self.closed.1;
            let interval =
                Interval { at, span: plan.every, bytes, datagrams: None, repairs: None, rtt: None };
            self.closed = (self.closed.0 + 1, self.bytes);
            self.spread.note(interval.goodput());
            self.events.push(Event::Interval(self.from, interval));
        }
    }
    fn end(&mut self, span: Duration) {
        let measured = self.spread.over(self.bytes, span);
        self.receipt = Some(Receipt { digest: [0; 32], outcome: Ok(()), measured: Some(measured) });
        self.events.push(Event::Measured(self.from, measured));
    }
}

impl Incoming for Tally {
    fn write(&mut self, at: u64, bytes: &[u8]) {
        self.began.get_or_insert_with(Instant::now);
        self.tick();
        if self.receipt.is_none() {
            self.bytes += bytes.len() as u64;
            self.write_head(at, bytes);
        }
    }
    fn tick(&mut self) {
        let (Some(began), Some(plan), None) = (self.began, self.plan, &self.receipt) else { return };
        let now = began.elapsed();
        self.close(plan, now);
        if now >= to_std(plan.time) {
            self.end(plan.time);
        }
    }
    fn total(&self) -> Option<u64> {
        None
    }
    fn has_begun(&self) -> bool {
        self.plan.is_some()
    }
    fn progress(&self) -> Option<(u64, u64)> {
        None
    }
    fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref()
    }
    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
    fn finish(&mut self) {
        let span = self.began.map_or(Duration::ZERO, |began| of_std(began.elapsed()));
        if self.receipt.is_none() {
            self.end(span);
        }
    }
    fn refuse(&mut self, why: String) {
        if self.receipt.is_none() {
            self.events.push(Event::Refused(format!("a measurement from {}: {why}", self.from)));
            self.receipt = Some(Receipt { digest: [0; 32], outcome: Err(why), measured: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_comes_is_counted_or_refused(
            parts in prop::collection::vec((0_u64..400, prop::collection::vec(any::<u8>(), 0..400)), 0..20),
            fields: [i64; 2],
            ours: bool,
        ) {
            let mut tally = Tallies.incoming(SocketAddr::from(([127, 0, 0, 1], 9)));
            if ours {
                let [time, every] = fields.map(Duration::from_nanos);
                tally.write(0, &Plan { time, every }.to_header());
            }
            parts.iter().for_each(|(at, bytes)| tally.write(*at, bytes));
            tally.tick();
            let refused = tally.receipt().is_some_and(|receipt| receipt.outcome.is_err());
            tally.finish();
            let Some(receipt) = tally.receipt() else { panic!("it has ended") };
            prop_assert_eq!(receipt.measured.is_some(), !refused);
            prop_assert_eq!(&Receipt::read(&receipt.to_bytes()), &Ok(receipt.clone()));
        }
    }

    #[test]
    fn the_spread_of_rates_is_that_of_a_sample() {
        let mut spread = Spread::default();
        [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().for_each(|x| spread.note(x * 1e6));
        let told = spread.over(5_000_000, Duration::from_secs(8));
        assert_eq!((told.least, told.most, told.deviation), (2_000_000, 9_000_000, 2_138_089));
        assert!((told.goodput() - 5e6).abs() < 1.0);
    }

    #[test]
    fn noise_is_the_same_whenever_it_is_read_and_never_repeats_itself() {
        let noise = Noise::new();
        let read = |at, length| {
            let mut out = vec![0; length];
            noise.read(at, &mut out);
            out
        };
        assert_eq!(read(1400, 1400), read(1400, 1400));
        assert_ne!(read(1400, 1400), read(2800, 1400));
        let long = read(0, 3 * TABLE_BYTES + 5);
        assert_ne!(long[..TABLE_BYTES], long[TABLE_BYTES..2 * TABLE_BYTES]);
    }

    #[test]
    fn a_plan_comes_back_as_it_was_written_and_a_hostile_one_is_refused() {
        let plan = Plan { time: Duration::from_secs(300), every: Duration::from_secs(10) };
        assert_eq!(Plan::of_header(&plan.to_header()), Ok(plan));
        let restless = Plan { every: Duration::from_nanos(1), ..plan };
        assert!(Plan::of_header(&restless.to_header()).is_err());
        assert!(Plan::of_header(&[0; HEADER_BYTES]).is_err());
        assert_eq!(Plan::of_name(&plan.to_name()), Some(plan));
        for name in
            ["data.bin", "llbench1", "llbench1/1/", "llbench1/1/2", "llbench1/x/2/", "llbench1/1/2/3/"]
        {
            assert_eq!(Plan::of_name(name), None, "{name}");
        }
    }

    #[test]
    fn figures_come_back_as_they_were_written() {
        let measured = Measured { bytes: u64::MAX, span_ns: 1, deviation: 2, least: 3, most: 4 };
        assert_eq!(Measured::of_text(&measured.to_text()), Some(measured));
        for text in ["", "1 2 3 4", "1 2 3 4 5 6", "1 2 3 4 -5", "1  2 3 4"] {
            assert_eq!(Measured::of_text(text), None, "{text}");
        }
    }
}
