//! Answers Interests for a file.

use super::ask::{Question, ask, broken};
use super::faces::{Faces, Peer};
use super::forged::Notice;
use super::publication::{Publication, Wanted};
use super::{FaceUri, random, since_1970};
use crate::Error;
use crate::clock::Clock;
use crate::refusals::Refusals;
use lightlag_protocols::ndn;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::ndn::control::{self, Response};
use lightlag_protocols::wire::ndn::signature::Info;
use lightlag_protocols::wire::ndn::{Headers, Interest, Nack, Name, Signed, Signer};
use std::collections::VecDeque;
use std::path::PathBuf;

/// Where Interests come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// From a forwarder, which is asked to send them.
    Forwarder(FaceUri),
    /// From consumers that connect here.
    Listen(FaceUri),
}

/// What to publish.
pub struct Putting {
    /// The file.
    pub file: PathBuf,
    /// Its name, to which a version is appended.
    pub name: Name<'static>,
    /// Where Interests come from.
    pub from: Where,
    /// Bytes of content in a segment.
    pub segment: u32,
    /// Bytes that a datagram may carry.
    pub mtu: usize,
    /// What signs it.
    pub signer: Signer,
    /// How fast Data leave at most; none: as fast as they are asked for.
    pub rate: Option<BitRate>,
}

/// What is published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The name with its version.
    pub name: Name<'static>,
    /// Bytes of the file.
    pub bytes: u64,
    /// How many segments it has.
    pub segments: u64,
    /// Where Interests come from.
    pub at: FaceUri,
}

/// Sleeps no longer: nothing is due, but a look now and then does not harm.
const SLEEP_MOST: Duration = Duration::from_secs(1);

/// Publishes a file for as long as the process runs. `ready` is called once, when Interests can arrive, and
/// returns whether to continue; `warn` gets a line about consumers that cannot be reached, now and then.
///
/// # Errors
/// One line: bad input, a forwarder that cannot be reached or refuses, or a file that changes.
pub fn put(
    putting: Putting,
    ready: &mut dyn FnMut(&Published) -> bool,
    warn: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    let version = since_1970().as_nanos() / 1000;
    let version = u64::try_from(version).unwrap_or_default();
    let Putting { file, name, from, segment, mtu, signer, rate } = putting;
    let publication = Publication::open(&file, name.clone(), version, segment, signer)?;
    let clock = Clock::start();
    let (faces, at, answers_others) = match from {
        Where::Forwarder(uri) => {
            let (mut faces, peer) = Faces::connect(&uri, mtu)?;
            register(&mut faces, peer, &clock, &name, uri.is_local())?;
            (faces, uri, false)
        }
        Where::Listen(uri) => {
            let faces = Faces::listen(&uri, mtu)?;
            let at = faces.address().map_err(|why| broken(&why))?.unwrap_or(uri);
            (faces, at, true)
        }
    };
    let (bytes, segments) = (publication.length(), publication.segments());
    let published = Published { name: publication.name().clone(), bytes, segments, at };
    if !ready(&published) {
        return Ok(());
    }
    let stamps = ndn::Clock { offset: since_1970() - (clock.now() - Instant::ZERO), skew: 0.0 };
    let site = u32::from_be_bytes(random()?);
    let mut producer = Producer {
        publication,
        faces,
        clock,
        stamps,
        site,
        answers_others,
        rate,
        free_at: Instant::ZERO,
        requests: VecDeque::new(),
        packet: Vec::new(),
    };
    let mut refusals = Refusals::default();
    loop {
        producer.turn()?;
        let undelivered = producer.faces.take_undelivered();
        undelivered.and_then(|line| refusals.admit(line)).iter().for_each(|line| warn(line));
    }
}

/// Asks a forwarder to send Interests for a name.
fn register(faces: &mut Faces, to: Peer, clock: &Clock, name: &Name, local: bool) -> Result<(), Error> {
    let write = |_: &Interest, nonce, out: &mut Vec<u8>| {
        let info = Info { nonce: random()?, time: since_1970() };
        Ok(control::register(name, local, nonce, &info, &Signer::Digest, out))
    };
    let interest = Interest { name: name.as_ref(), ..Interest::default() };
    let question = Question { interest: &interest, write: &write, check: &|_| Ok(()), signed: false };
    let answer = ask(faces, to, clock, &question, &mut Notice::new(&mut |_| ()));
    let answer = answer.map_err(|why| Error::Failed(format!("the forwarder does not register {why}")))?;
    let response = Signed::read(&answer.packet).and_then(|signed| Response::read(signed.data.content));
    match response {
        Ok(Response { code: control::OK, .. }) => Ok(()),
        Ok(Response { code, text }) => {
            let text = text.replace(char::is_control, " ");
            Err(Error::Failed(format!("the forwarder refuses to register {name}: {code} {text}")))
        }
        Err(why) => Err(Error::Failed(format!("the forwarder's answer about {name} cannot be read: {why}"))),
    }
}

struct Producer {
    publication: Publication,
    faces: Faces,
    clock: Clock,
    /// The clock of send times.
    stamps: ndn::Clock,
    site: u32,
    /// Interests for other names get a Nack: no forwarder would send one.
    answers_others: bool,
    rate: Option<BitRate>,
    /// When the next Data may leave, where a rate is kept.
    free_at: Instant,
    /// Requests to answer.
    requests: VecDeque<Request>,
    packet: Vec<u8>,
}

/// Largest burst, if a rate is set: the data of this time at that rate.
const LATE_MOST: Duration = Duration::from_nanos(2_000_000);
/// Requests that wait for their turn; more are dropped, as on any link.
const REQUESTS_MOST: usize = 8192;

/// An Interest to answer.
struct Request {
    from: Peer,
    headers: Headers,
    name: Name<'static>,
    wanted: Wanted,
}

impl Producer {
    fn turn(&mut self) -> Result<(), Error> {
        let Self { publication, faces, clock, answers_others, requests, .. } = self;
        let mut refused = Vec::new();
        let came = faces.receive(clock, &mut |from, headers, packet, _| {
            let Ok(interest) = Interest::read(packet) else { return };
            if headers.nack.is_some() {
                return;
            }
            match publication.find(&interest) {
                Some(_) if requests.len() >= REQUESTS_MOST => {}
                Some(wanted) => {
                    requests.push_back(Request { from, headers, name: interest.name.into_owned(), wanted });
                }
                None if *answers_others => refused.push((from, headers, packet.to_vec())),
                None => {}
            }
        });
        let came = came.map_err(|why| broken(&why))?;
        let mut at = 0;
        while self.free_at <= self.clock.now() && at < self.requests.len() {
            if !self.faces.has_room(self.requests[at].from) {
                at += 1;
            } else if let Some(request) = self.requests.remove(at) {
                self.answer(&request)?;
            }
        }
        refused.retain(|(from, ..)| self.faces.has_room(*from));
        for (from, headers, packet) in refused {
            let headers =
                Headers { pit_token: headers.pit_token, nack: Some(Nack::NoRoute), ..Headers::default() };
            self.faces.send(from, headers, &packet).map_err(|why| broken(&why))?;
        }
        self.faces.flush().map_err(|why| broken(&why))?;
        // A consumer that does not read must not fill the queue of all.
        self.faces.hold(self.requests.iter().map(|request| request.from));
        if came == 0 {
            let can_leave = self.requests.iter().any(|request| self.faces.has_room(request.from));
            let due = if can_leave { self.free_at } else { Instant::MAX };
            let now = self.clock.now();
            let span = (due.min(now + SLEEP_MOST) - now).max(Duration::ZERO);
            self.faces.wait(span).map_err(|why| broken(&why))?;
        }
        Ok(())
    }
    fn answer(&mut self, request: &Request) -> Result<(), Error> {
        let mut packet = std::mem::take(&mut self.packet);
        if self.publication.make(request.wanted, &request.name, &mut packet)? {
            let now = self.clock.now();
            let headers = Headers {
                pit_token: request.headers.pit_token,
                send_time: Some(ndn::stamp(now, self.stamps.ahead(now))),
                site: Some(self.site),
                ..Headers::default()
            };
            let sent = self.faces.send(request.from, headers, &packet);
            sent.map_err(|why| broken(&why))?;
            if let Some(rate) = self.rate {
                // Waking late is made up for, but not with a burst of any size.
                self.free_at = self.free_at.max(now - LATE_MOST) + rate.time_for(Bytes(packet.len() as u64));
            }
        }
        self.packet = packet;
        Ok(())
    }
}
