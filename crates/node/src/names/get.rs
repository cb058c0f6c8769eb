//! Asks for the segments of a file.

use super::ask::{Question, ask, broken};
use super::faces::{Dropped, Faces, Peer};
use super::forged::{Notice, Refusal};
use super::sink::Sink;
use super::{FaceUri, forged, random, since_1970};
use crate::Error;
use crate::clock::Clock;
use lightlag_protocols::controllers::{Factory, Flow};
use lightlag_protocols::ndn::{self, Config, Consumer, Counts, Prefix, Requests};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::ndn::metadata::{KEYWORD, Metadata};
use lightlag_protocols::wire::ndn::name::kind;
use lightlag_protocols::wire::ndn::signature::kind as signature_kind;
use lightlag_protocols::wire::ndn::{Headers, Interest, Nack, Name, Signed, Verifier};
use std::collections::BTreeMap;

/// What is wanted.
pub struct Getting {
    /// Its name, with or without a version.
    pub name: Name<'static>,
    /// Who is asked.
    pub from: FaceUri,
    /// Where it goes.
    pub sink: Sink,
    /// Bytes that a datagram may carry.
    pub mtu: usize,
    /// How many Interests may be without an answer.
    pub controller: Factory,
    /// What convinces.
    pub verifier: Verifier,
    /// Most bytes of content that are taken; `None`: as many as there are.
    pub size_most: Option<u64>,
}

/// The result of a retrieval.
#[derive(Clone, Debug, PartialEq)]
pub struct Got {
    /// The name with its version.
    pub name: Name<'static>,
    /// Bytes of content.
    pub bytes: u64,
    /// How many segments it has.
    pub segments: u64,
    /// How long it took, from the first question on.
    pub seconds: f64,
    /// What the consumer has done.
    pub counts: Counts,
    /// The smoothed round-trip time at the end.
    pub rtt: Option<Duration>,
    /// Data that said when they left.
    pub stamped: u64,
    /// Data that were marked by a queue on the path.
    pub marked: u64,
    /// Received frames that were dropped.
    pub dropped: Dropped,
    /// Packets with a name that was not requested.
    pub strangers: u64,
    /// Data with the right name whose signature did not convince: they were dropped.
    pub forged: u64,
    /// Whether signatures convinced: of a key that is trusted, or digests.
    pub verified: Verified,
}

/// What is known of who signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// A key that is trusted did.
    Key,
    /// No key: digests show that Data are complete.
    Digest,
    /// Somebody, but nothing is known to verify it with.
    Unknown,
}

/// How far it is: bytes here, and about how many there are.
pub type Progress<'p> = dyn FnMut(u64, u64) + 'p;

/// Repairs of one Interest until it is given up.
const REPAIRS_MOST: u32 = 10;
/// Forwarders take an Interest that is repeated sooner for a duplicate, and swallow it (ndnd: 400 ms).
const DUPLICATE: Duration = Duration::from_nanos(410_000_000);
/// An Interest that leaves late by up to this time does not delay later ones.
const SLACK: Duration = Duration::from_nanos(2_000_000);
/// Shorter sleeps cost more than they give; far less than [`SLACK`].
const SLEEP_LEAST: Duration = Duration::from_nanos(200_000);
/// Longest sleep, so that progress is reported.
const SLEEP_MOST: Duration = Duration::from_nanos(100_000_000);
/// Content type of Data that say that the object does not exist (application-level Nack).
const CONTENT_NACK: u64 = 3;

/// Gets it. `say` is given a line when the first answer is refused.
///
/// # Errors
/// One line: the face breaks, no answer arrives, or an answer fails verification.
pub fn get(getting: Getting, watch: &mut Progress, say: &mut dyn FnMut(&str)) -> Result<Got, Error> {
    let notice = &mut Notice::new(say);
    let Getting { name, from, mut sink, mtu, controller, verifier, size_most } = getting;
    let clock = Clock::start();
    let (mut faces, peer) = Faces::connect(&from, mtu)?;
    let versioned = match name.split_last() {
        Some((_, last)) if last.kind == kind::VERSION => name,
        _ => discover(&mut faces, peer, &clock, &name, &verifier, notice)?,
    };
    let trust = Trust { verifier: &verifier, size_most };
    let mut fetch = first(faces, peer, clock, versioned, trust, controller, &mut sink, mtu, notice)?;
    fetch.run(&mut sink, watch, notice)?;
    sink.finish()?;
    fetch.got.seconds = (clock.now() - Instant::ZERO).as_secs_f64();
    Ok(fetch.got)
}

/// Finds out which version is the latest.
fn discover(
    faces: &mut Faces,
    to: Peer,
    clock: &Clock,
    name: &Name,
    verifier: &Verifier,
    notice: &mut Notice,
) -> Result<Name<'static>, Error> {
    let interest = Interest {
        name: name.with(KEYWORD),
        can_be_prefix: true,
        must_be_fresh: true,
        lifetime: Some(Duration::from_secs(1)),
        ..Interest::default()
    };
    let check = |signed: &Signed| verifier.verify(&signed.signature);
    let signed = *verifier != Verifier::Nobody;
    let question = Question { interest: &interest, write: &write, check: &check, signed };
    let answer = ask(faces, to, clock, &question, notice)?;
    let signed = existing(&answer.packet)?;
    let wrong = |what: String| Error::Failed(format!("{}: {what}", signed.data.name));
    let versioned = Metadata::read(signed.data.content);
    let versioned = versioned.map_err(|why| wrong(format!("no version of {name} in it: {why}")))?.name;
    let is_version =
        versioned.split_last().is_some_and(|(front, last)| last.kind == kind::VERSION && front == *name);
    if !is_version {
        return Err(wrong(format!("it names {versioned}, which is not a version of {name}")));
    }
    Ok(versioned.into_owned())
}

fn write(interest: &Interest, nonce: u32, out: &mut Vec<u8>) -> Result<Name<'static>, Error> {
    Interest { nonce: Some(nonce), ..interest.clone() }.write(out);
    Ok(interest.name.clone().into_owned())
}

/// Verified Data with content: a producer may sign that the object does not exist.
fn existing(packet: &[u8]) -> Result<Signed<'_>, Error> {
    let signed =
        Signed::read(packet).map_err(|why| Error::Failed(format!("an answer cannot be read: {why}")))?;
    is_there(&signed)?;
    Ok(signed)
}

fn is_there(signed: &Signed) -> Result<(), Error> {
    if signed.data.meta.content_type == Some(CONTENT_NACK) {
        return Err(Error::Failed(format!("{}: the producer says that it does not exist", signed.data.name)));
    }
    Ok(())
}

/// What is taken of whom.
#[derive(Clone, Copy)]
struct Trust<'f> {
    verifier: &'f Verifier,
    /// Most bytes of content.
    size_most: Option<u64>,
}

impl Trust<'_> {
    /// Rejects an object that is too large by `here`, the bytes that arrived, or by its last segment, if known.
    fn check_size(&self, name: &Name, segment: u64, last: Option<u64>, here: u64) -> Result<(), Error> {
        // The last segment may have one byte, or none if it is the only one.
        let announced =
            last.map_or(0, |last| last.saturating_mul(segment).saturating_add(u64::from(last > 0)));
        let size = announced.max(here);
        match self.size_most.filter(|most| size > *most) {
            Some(most) => Err(Error::Failed(format!(
                "{name}: it has {size} bytes or more; at most {most} are taken (--max-size)"
            ))),
            None => Ok(()),
        }
    }
}

/// The segments of an object.
struct Fetch<'f> {
    faces: Faces,
    peer: Peer,
    clock: Clock,
    consumer: Consumer,
    name: Name<'static>,
    trust: Trust<'f>,
    /// Content of each segment but the last.
    segment: u64,
    /// The last one, once it is known.
    last: Option<u64>,
    /// The time by which the consumer knows of everything: it never goes back.
    latest: Instant,
    /// Segments with refused answers.
    forged: BTreeMap<u32, Refused>,
    got: Got,
}

/// The refused answers to the Interests for a segment.
struct Refused {
    answers: u32,
    /// When to ask again, if that is pending.
    again: Option<Instant>,
    why: Refusal,
}

/// Asks for the first segment, which shows the segment size and usually the number of segments.
#[expect(clippy::too_many_arguments, reason = "all that `get` is made of comes together here")]
fn first<'f>(
    mut faces: Faces,
    peer: Peer,
    clock: Clock,
    name: Name<'static>,
    trust: Trust<'f>,
    controller: Factory,
    sink: &mut Sink,
    mtu: usize,
    notice: &mut Notice,
) -> Result<Fetch<'f>, Error> {
    let verifier = trust.verifier;
    let interest = Interest { name: name.with_number(kind::SEGMENT, 0), ..Interest::default() };
    let check = |signed: &Signed| verifier.verify(&signed.signature);
    let signed = *verifier != Verifier::Nobody;
    let question = Question { interest: &interest, write: &write, check: &check, signed };
    let answer = ask(&mut faces, peer, &clock, &question, notice)?;
    let signed = existing(&answer.packet)?;
    let content = signed.data.content;
    let last = last_of(&signed)?;
    trust.check_size(&name, content.len() as u64, last, content.len() as u64)?;
    sink.write(0, content)?;
    if content.is_empty() && last != Some(0) {
        return Err(Error::Failed(format!("{}: it is empty, and not the last", signed.data.name)));
    }
    let verified = match (verifier, signed.signature.kind) {
        (Verifier::Ecdsa(_), _) => Verified::Key,
        (Verifier::Nobody, signature_kind::DIGEST_SHA256) => Verified::Digest,
        (Verifier::Nobody, _) => Verified::Unknown,
    };
    let segments = last.map(|last| last as u32 + 1);
    let requests = Requests::Object { prefix: Prefix(0), next: 1, segments };
    let segment = Bytes(content.len().max(1) as u64);
    let packet = Bytes((answer.packet.len() + answer.packet.len().div_ceil(mtu) * UDP_HEADERS) as u64);
    let seed = u64::from_be_bytes(random()?);
    let flow = Flow::new(segment, packet).seeded(seed, 0);
    let mut config = Config::new(segment, packet);
    config.repairs_max = REPAIRS_MOST;
    config.repair_after = if answer.stamped { Duration::ZERO } else { DUPLICATE };
    config.slack = SLACK;
    config.seed = seed;
    config.clock.offset = since_1970() - (clock.now() - Instant::ZERO);
    let consumer = Consumer::new(config, controller.build(flow), requests);
    let got = Got {
        name: name.clone(),
        bytes: segment.0.min(content.len() as u64),
        segments: 1,
        seconds: 0.0,
        counts: Counts::default(),
        rtt: Some(answer.took),
        stamped: 0,
        marked: 0,
        dropped: Dropped::default(),
        strangers: 0,
        forged: 0,
        verified,
    };
    Ok(Fetch {
        faces,
        peer,
        clock,
        consumer,
        name,
        trust,
        segment: segment.0,
        last,
        latest: Instant::ZERO,
        forged: BTreeMap::new(),
        got,
    })
}

/// Headers of IP, UDP and the link protocol that each fragment has.
const UDP_HEADERS: usize = 20 + 8 + 24;

/// The number of the last segment, if Data contain it.
fn last_of(signed: &Signed) -> Result<Option<u64>, Error> {
    let last = signed.data.meta.final_block.and_then(|last| last.number_of(kind::SEGMENT));
    match last.filter(|last| *last >= u64::from(ndn::Name::WHOLE) - 1) {
        Some(last) => {
            let name = &signed.data.name;
            Err(Error::Failed(format!("{name}: it says that there are {last} more, which cannot be counted")))
        }
        None => Ok(last),
    }
}

impl Fetch<'_> {
    fn run(&mut self, sink: &mut Sink, watch: &mut Progress, notice: &mut Notice) -> Result<(), Error> {
        loop {
            self.ask_for_more()?;
            let is_there = self.consumer.is_complete() && self.last.is_some();
            let segments = self.last.map_or(0, |last| last + 1);
            watch(self.got.bytes, segments.saturating_mul(self.segment).max(self.got.bytes));
            if is_there {
                self.finish(segments);
                return Ok(());
            }
            if let Some(failed) = self.consumer.failed() {
                let name = self.name.with_number(kind::SEGMENT, failed.segment.into());
                if let Some(Refused { answers, why, .. }) = self.forged.get(&failed.segment) {
                    return Err(why.error(&name, *answers));
                }
                return Err(Error::Failed(format!(
                    "{name}: it did not come, asked {} times",
                    REPAIRS_MOST + 1
                )));
            }
            if self.receive(sink, notice)? == 0 {
                let again = self.forged.values().filter_map(|refused| refused.again).min();
                let due = self.consumer.deadline().into_iter().chain(again).min().unwrap_or(Instant::MAX);
                let now = self.clock.now();
                // What is paced leaves a few at a time: to sleep and wake for each costs more than to send it.
                let span = (due - now).clamp(SLEEP_LEAST, SLEEP_MOST);
                self.faces.wait(span).map_err(|why| broken(&why))?;
            }
        }
    }
    fn finish(&mut self, segments: u64) {
        self.got.segments = segments;
        self.got.counts = self.consumer.counts();
        self.got.rtt = self.consumer.rtt().or(self.got.rtt);
        self.got.dropped = self.faces.dropped();
    }
    fn ask_for_more(&mut self) -> Result<(), Error> {
        let mut packet = Vec::new();
        self.latest = self.latest.max(self.clock.now());
        for (number, refused) in &mut self.forged {
            if refused.again.take_if(|at| *at <= self.latest).is_some() {
                self.consumer.ask_again(ndn::Name { prefix: Prefix(0), segment: *number });
            }
        }
        while let Some(wanted) = self.consumer.poll(self.latest) {
            let interest = Interest {
                name: self.name.as_ref(),
                nonce: Some(wanted.nonce),
                // A store may hold what was forged: it answers this only with what it holds to be fresh. True Data
                // may have no time of freshness: half of the Interests are plain ones.
                must_be_fresh: wanted.nonce % 2 == 0 && self.forged.contains_key(&wanted.name.segment),
                lifetime: Some(Duration::from_nanos(i64::from(wanted.lifetime_ms) * 1_000_000)),
                ..Interest::default()
            };
            packet.clear();
            interest.write_segment(wanted.name.segment.into(), &mut packet);
            let sent = self.faces.send(self.peer, Headers::default(), &packet);
            sent.map_err(|why| broken(&why))?;
        }
        self.faces.flush().map_err(|why| broken(&why))
    }
    fn receive(&mut self, sink: &mut Sink, notice: &mut Notice) -> Result<usize, Error> {
        let Self { faces, clock, consumer, name, trust, segment, last, latest, forged, got, .. } = self;
        let trust = *trust;
        let mut fetched =
            Fetched { consumer, name, trust, segment: *segment, last, forged, got, sink, notice };
        let mut result = Ok(());
        let came = faces.receive(clock, &mut |_, headers, packet, at| {
            *latest = at.max(*latest);
            if result.is_ok() {
                result = fetched.take(*latest, headers, packet);
            }
        });
        result?;
        came.map_err(|why| broken(&why))
    }
}

/// What a packet may change.
struct Fetched<'f, 'n> {
    consumer: &'f mut Consumer,
    name: &'f Name<'static>,
    trust: Trust<'f>,
    segment: u64,
    last: &'f mut Option<u64>,
    forged: &'f mut BTreeMap<u32, Refused>,
    got: &'f mut Got,
    sink: &'f mut Sink,
    notice: &'f mut Notice<'n>,
}

impl Fetched<'_, '_> {
    fn take(&mut self, now: Instant, headers: Headers, packet: &[u8]) -> Result<(), Error> {
        if let Some(reason) = headers.nack {
            return self.take_nack(now, reason, packet);
        }
        let Ok(signed) = Signed::read(packet) else {
            self.got.dropped.malformed += 1;
            return Ok(());
        };
        let Some(number) = self.number_of(&signed.data.name) else {
            self.got.strangers += 1;
            return Ok(());
        };
        if let Err(why) = self.trust.verifier.verify(&signed.signature) {
            self.got.forged += 1;
            return self.refuse(now, number, Refusal::Data(why));
        }
        is_there(&signed)?;
        self.learn_last(&signed)?;
        let before = self.consumer.counts().data;
        self.consumer.handle(now, data(number, &headers, packet.len(), signed.data.content.len()));
        let is_new = self.consumer.counts().data > before;
        if is_new { self.keep(number.into(), &headers, &signed) } else { Ok(()) }
    }
    /// Asks again a little later: the true Data may be in transit.
    fn refuse(&mut self, now: Instant, number: u32, why: Refusal) -> Result<(), Error> {
        if !self.consumer.is_awaited(ndn::Name { prefix: Prefix(0), segment: number }) {
            return Ok(());
        }
        let name = || self.name.with_number(kind::SEGMENT, number.into());
        self.notice.refused(&name(), &why);
        let none = Refused { answers: 0, again: None, why: why.clone() };
        let refused = self.forged.entry(number).or_insert(none);
        // Several answers to one Interest are one.
        if refused.again.is_some() {
            return Ok(());
        }
        refused.answers += 1;
        if refused.answers <= forged::ANSWERS_MOST {
            refused.again = Some(now + forged::pause(refused.answers));
            refused.why = why;
        } else if self.last.is_some() {
            return Err(why.error(&name(), refused.answers));
        }
        Ok(())
    }
    fn take_nack(&mut self, now: Instant, reason: Nack, packet: &[u8]) -> Result<(), Error> {
        let number = Interest::read(packet).ok().and_then(|interest| self.number_of(&interest.name));
        let Some(number) = number else {
            self.got.strangers += 1;
            return Ok(());
        };
        match reason {
            Nack::Congestion => {
                let name = ndn::Name { prefix: Prefix(0), segment: number };
                self.consumer.on_nack(now, name);
                Ok(())
            }
            // Its answer is in transit.
            Nack::Duplicate => Ok(()),
            // Beyond the end, as long as that is not known.
            _ if self.last.is_none() => Ok(()),
            other => self.refuse(now, number, Refusal::Nack(other)),
        }
    }
    fn number_of(&self, name: &Name) -> Option<u32> {
        let rest = name.after(self.name)?;
        let (front, last) = rest.split_last()?;
        let number = last.number_of(kind::SEGMENT).filter(|_| front.is_empty())?;
        u32::try_from(number).ok().filter(|number| *number != ndn::Name::WHOLE)
    }
    fn learn_last(&mut self, signed: &Signed) -> Result<(), Error> {
        let Some(claimed) = last_of(signed)? else { return Ok(()) };
        match *self.last {
            None => {
                self.trust.check_size(self.name, self.segment, Some(claimed), 0)?;
                *self.last = Some(claimed);
                self.consumer.finish_at(claimed as u32 + 1);
                Ok(())
            }
            Some(known) if known == claimed => Ok(()),
            Some(known) => {
                let name = &signed.data.name;
                Err(Error::Failed(format!("{name}: it says that {claimed} is the last; others say {known}")))
            }
        }
    }
    /// Segments are found at multiples of their size, so all but the last must have it.
    fn keep(&mut self, number: u64, headers: &Headers, signed: &Signed) -> Result<(), Error> {
        let content = signed.data.content;
        let length = content.len() as u64;
        let is_last = *self.last == Some(number);
        if length != self.segment && !(is_last && length <= self.segment) {
            let name = &signed.data.name;
            return Err(Error::Failed(format!("{name}: it has {length} B, the first has {}", self.segment)));
        }
        self.trust.check_size(self.name, self.segment, None, self.got.bytes + length)?;
        self.got.bytes += length;
        self.got.stamped += u64::from(headers.send_time.is_some());
        self.got.marked += u64::from(is_marked(headers));
        self.sink.write(number * self.segment, content)
    }
}

fn is_marked(headers: &Headers) -> bool {
    headers.mark.is_some_and(|mark| mark > 0)
}

/// Data as the consumer knows them.
fn data(number: u32, headers: &Headers, size: usize, content: usize) -> ndn::Data {
    ndn::Data {
        name: ndn::Name { prefix: Prefix(0), segment: number },
        content: content as u32,
        size: size as u32,
        freshness_ms: 0,
        token: 0,
        stamp: headers.send_time,
        site: headers.site,
        marked: is_marked(headers),
        print: 0,
    }
}
