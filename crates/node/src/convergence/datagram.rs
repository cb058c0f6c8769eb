//! A bundle in a datagram of its own, over UDP or DCCP (RFC 7122, section 3.2).

use super::outgoing::Item;
use super::{Bundle, BundleStore, Error, Event, Listening, Progress, Sending, Tag, UDP_RATE, sent, status};
use crate::transports::dccp::{self, DccpAcceptor, OnLine};
use crate::transports::driver::{Accept, Acceptor, Endpoint, ListenerDriver, SenderDriver, Status};
use crate::transports::ltp::{KEEP_ALIVE, KEEP_ALIVE_EVERY};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::dccp::UDP_HEADER;
use lightlag_protocols::units::{BitRate, Bytes};
use std::net::SocketAddr;

/// A datagram delayed by up to this time beyond its due time does not delay the ones after it.
const SLACK: Duration = Duration::from_nanos(2_000_000);

/// Bundles that leave, one a datagram.
struct Leaving {
    items: Vec<Item>,
    peer: SocketAddr,
    /// The next to leave.
    next: usize,
    /// Sending rate where the transport has no congestion control.
    rate: Option<BitRate>,
    due: Instant,
    gave_at: Instant,
    /// Whether the transport reports the fate of each datagram.
    tells_fates: bool,
    /// Datagrams that were sent, each with its bundle; `None` for a keep-alive.
    given: Vec<Option<usize>>,
    fates: Vec<Option<Result<(), String>>>,
    ended: bool,
}

impl Leaving {
    /// None may be longer than a datagram.
    fn new(items: Vec<Item>, most: Bytes, over: &str, peer: SocketAddr) -> Result<Self, Error> {
        if let Some(item) = items.iter().find(|item| item.length > most.0) {
            let line = format!(
                "{}: {} bytes do not fit a datagram, which holds {} over {over}; send it --over ltp-{over} or tcp{}",
                item.name(),
                item.length,
                most.0,
                if over == "udp" { ", or in larger packets with --packet-size" } else { "" },
            );
            return Err(Error::Input(line));
        }
        let fates = items.iter().map(|_| None).collect();
        Ok(Self {
            items,
            peer,
            next: 0,
            rate: None,
            due: Instant::ZERO,
            gave_at: Instant::ZERO,
            tells_fates: false,
            given: Vec::new(),
            fates,
            ended: false,
        })
    }
    fn is_done(&self) -> bool {
        self.ended || self.fates.iter().all(Option::is_some)
    }
    fn bundles(&self, seconds: f64) -> Vec<Bundle> {
        let lost = || Err("it is not known to have arrived; send it again".to_owned());
        let pairs = self.items.iter().zip(&self.fates);
        let bundle = |(item, fate): (&Item, &Option<Result<(), String>>)| {
            item.bundle(self.peer, Tag::Datagram, seconds, fate.clone().unwrap_or_else(lost))
        };
        pairs.map(bundle).collect()
    }
}

impl Endpoint for Leaving {
    fn take(&mut self, _: Instant, _: &[u8]) -> Result<(), Error> {
        // Nothing comes back.
        Ok(())
    }
    fn give(&mut self, now: Instant, out: &mut Vec<u8>) -> Result<bool, Error> {
        let Some(item) = self.items.get_mut(self.next) else {
            // A datagram after the last bundle lets DCCP detect its loss (RFC 7122, section 3.4).
            if self.tells_fates && !self.is_done() && now - self.gave_at >= KEEP_ALIVE_EVERY {
                self.gave_at = now;
                self.given.push(None);
                out.extend_from_slice(&KEEP_ALIVE);
                return Ok(true);
            }
            return Ok(false);
        };
        if now < self.due {
            return Ok(false);
        }
        out.resize(item.length as usize, 0);
        item.read(0, out).map_err(|why| Error::Failed(format!("{}: {why}", item.name())))?;
        item.close();
        if let Some(rate) = self.rate {
            let span = rate.time_for(Bytes(item.length) + UDP_HEADER);
            self.due = self.due.max(now - SLACK).saturating_add(span);
        }
        if !self.tells_fates {
            self.fates[self.next] = Some(Ok(()));
        }
        self.given.push(Some(self.next));
        self.gave_at = now;
        self.next += 1;
        Ok(true)
    }
    fn deadline(&self) -> Option<Instant> {
        if self.next < self.items.len() {
            return Some(self.due);
        }
        (self.tells_fates && !self.is_done()).then(|| self.gave_at + KEEP_ALIVE_EVERY)
    }
    fn on_fate(&mut self, _: Instant, ordinal: u64, arrived: bool) {
        let Some(Some(bundle)) = self.given.get(ordinal as usize) else { return };
        let lost = || Err("the network lost it; send it again".to_owned());
        self.fates[*bundle] = Some(if arrived { Ok(()) } else { lost() });
    }
    fn abort(&mut self) {
        self.ended = true;
    }
    fn status(&self) -> Status {
        let known = self.fates.iter().filter(|fate| fate.is_some()).count();
        status(self.is_done(), (known as u64, self.items.len() as u64))
    }
    fn take_events(&mut self) -> Vec<Event> {
        self.bundles(0.0).into_iter().map(Event::Bundle).collect()
    }
}

/// As [`super::Layer::send`], over UDP.
pub fn send_over_udp(
    sending: Sending,
    items: Vec<Item>,
    check: &dyn Fn() -> Result<(), Error>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Vec<Bundle>, Error> {
    let mut options = sending.options;
    let mut leaving = Leaving::new(items, options.packet.saturating_sub(UDP_HEADER), "udp", options.to)?;
    leaving.rate = Some(options.rate.unwrap_or(UDP_RATE));
    let mut driver = SenderDriver::new(options.take_socket()?, &mut options);
    let (_, seconds) = driver.run(&mut leaving, check, watch)?;
    Ok(sent(&mut leaving, seconds))
}

/// As [`super::Layer::send`], over DCCP.
pub fn send_over_dccp(
    sending: Sending,
    items: Vec<Item>,
    check: &dyn Fn() -> Result<(), Error>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Vec<Bundle>, Error> {
    let mut options = sending.options;
    let config = dccp::config(&dccp::BUNDLES, &OnLine::of(&options))?;
    let mut leaving = Leaving::new(items, config.segment(), "dccp", options.to)?;
    leaving.tells_fates = true;
    let mut line = dccp::connect(&dccp::BUNDLES, config, &mut options, Box::new(leaving))?;
    let (_, seconds) = line.0.run(&mut line.1, check, watch)?;
    Ok(sent(&mut line.1, seconds))
}

/// Stores a datagram, unless it is empty or a keep-alive (RFC 7122, section 3.4).
fn keep(store: &BundleStore, from: SocketAddr, bytes: &[u8]) -> Option<Event> {
    if bytes.is_empty() || bytes == KEEP_ALIVE {
        return None;
    }
    Some(match store.keep(bytes, from, Tag::Datagram) {
        Ok(bundle) => Event::Bundle(bundle),
        Err(why) => Event::Refused(format!("a datagram from {from}: {why}")),
    })
}

/// Takes bundles of everybody.
struct UdpAcceptor {
    store: BundleStore,
    events: Vec<Event>,
}

impl Acceptor for UdpAcceptor {
    fn accept(&mut self, _: Instant, from: SocketAddr, bytes: &[u8]) -> Result<Accept, Error> {
        self.events.extend(keep(&self.store, from, bytes));
        Ok(Accept::Nothing)
    }
    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

/// Bundles that come over a connection of DCCP.
struct Coming {
    store: BundleStore,
    from: SocketAddr,
    /// Bytes of bundles that were kept.
    brought: u64,
    events: Vec<Event>,
}

impl Endpoint for Coming {
    fn take(&mut self, _: Instant, bytes: &[u8]) -> Result<(), Error> {
        let event = keep(&self.store, self.from, bytes);
        if let Some(Event::Bundle(bundle)) = &event {
            self.brought += bundle.bytes;
        }
        self.events.extend(event);
        Ok(())
    }
    fn brought(&self) -> u64 {
        self.brought
    }
    fn give(&mut self, _: Instant, _: &mut Vec<u8>) -> Result<bool, Error> {
        Ok(false)
    }
    fn deadline(&self) -> Option<Instant> {
        None
    }
    fn status(&self) -> Status {
        Status { over: true, ..Status::default() }
    }
    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

/// As [`super::Layer::listen`], over UDP.
pub fn listen_over_udp(mut listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
    let socket = listening.options.take_socket()?;
    let acceptor = UdpAcceptor { store: listening.store, events: Vec::new() };
    ListenerDriver::new(socket, acceptor, listening.count).run(watch)
}

/// As [`super::Layer::listen`], over DCCP.
pub fn listen_over_dccp(mut listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
    let config = dccp::config(&dccp::BUNDLES, &OnLine::listening(&listening.options))?;
    let store = listening.store;
    let coming = move |from| -> Box<dyn Endpoint> {
        Box::new(Coming { store: store.clone(), from, brought: 0, events: Vec::new() })
    };
    let acceptor = DccpAcceptor::new(&dccp::BUNDLES, config, &listening.options, Box::new(coming))?;
    let socket = dccp::reading_marks(listening.options.take_socket()?)?;
    ListenerDriver::new(socket, acceptor, listening.count).run(watch)
}
