//! A bundle in a datagram of its own, over UDP or DCCP (RFC 7122, section 3.2).

use super::stock::{self, Item};
use super::{
    Bundle, Error, Event, Listening, PORT, Progress, Sending, Shelf, Tag, UDP_RATE, flow, socket, told,
};
use crate::carrier::dccp::{self, DccpDoor, Line, OnLine};
use crate::carrier::exchange::{Arrivals, Departure, Door, End, Told, Welcome, cannot_listen};
use crate::carrier::ltp::{KEEP_ALIVE, KEEP_ALIVE_EVERY, named};
use crate::socket::Socket;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::dccp::{Ccid, Connection, SERVICE_BUNDLES, UDP_HEADER};
use lightlag_protocols::units::{BitRate, Bytes};
use std::net::SocketAddr;

/// What was kept from leaving for so long leaves at once afterwards.
const SLACK: Duration = Duration::from_nanos(2_000_000);

/// Bundles that leave, one a datagram.
struct Leaving {
    items: Vec<Item>,
    peer: SocketAddr,
    /// The next to leave.
    next: usize,
    /// What paces it, where the way does not.
    rate: Option<BitRate>,
    due: Instant,
    gave_at: Instant,
    /// Whether the way tells what becomes of a datagram.
    tells_fates: bool,
    /// Datagrams that were given, and which bundle each was: keep-alives are none.
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

impl End for Leaving {
    fn take(&mut self, _: Instant, _: &[u8]) -> Result<(), Error> {
        // Nothing comes back.
        Ok(())
    }
    fn give(&mut self, now: Instant, out: &mut Vec<u8>) -> Result<bool, Error> {
        let Some(item) = self.items.get_mut(self.next) else {
            // What comes behind the last bundle tells that it is lost (RFC 7122, section 3.4).
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
    fn told(&self) -> Told {
        let known = self.fates.iter().filter(|fate| fate.is_some()).count();
        told(self.is_done(), (known as u64, self.items.len() as u64))
    }
    fn take_events(&mut self) -> Vec<Event> {
        self.bundles(0.0).into_iter().map(Event::Bundle).collect()
    }
}

/// As [`super::Way::send`], over UDP.
pub fn send_over_udp(
    sending: Sending,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Vec<Bundle>, Error> {
    let items = stock::open(&sending.files, watch)?;
    let check = stock::checker(&items);
    let mut end = Leaving::new(items, sending.packet.saturating_sub(UDP_HEADER), "udp", sending.to)?;
    end.rate = Some(sending.rate.unwrap_or(UDP_RATE));
    let mut departure = Departure::by(socket(&sending)?, sending.to, None);
    let (_, seconds) = departure.run(&mut end, &check, watch)?;
    Ok(end.bundles(seconds))
}

/// As [`super::Way::send`], over DCCP.
pub fn send_over_dccp(
    sending: Sending,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Vec<Bundle>, Error> {
    let items = stock::open(&sending.files, watch)?;
    let check = stock::checker(&items);
    let name = sending.controller.as_ref().map_or("ccid2", |(name, _)| name);
    let Sending { packet, raw, light, to, give_up, .. } = sending;
    let mut config =
        dccp::config(SERVICE_BUNDLES, true, &OnLine { packet, raw, at: to, ccid: Ccid::of(name), light })?;
    let mut end = Leaving::new(items, config.segment(), "dccp", to)?;
    end.tells_fates = true;
    let mut departure = dccp::departure(&mut config, PORT, to, raw, give_up, None)?;
    let flow = flow(&sending, config.segment())?;
    let controller = sending.controller.map_or_else(|| named("ccid2", flow), |(_, make)| Ok(make(flow)))?;
    let mut line = Line::new(Box::new(Connection::connect(config, controller)), Box::new(end), false);
    let (_, seconds) = departure.run(&mut line, &check, watch)?;
    let events = line.take_events().into_iter().filter_map(|event| match event {
        Event::Bundle(bundle) => Some(Bundle { seconds, ..bundle }),
        _ => None,
    });
    Ok(events.collect())
}

/// Keeps a datagram; an empty one and a keep-alive are none (RFC 7122, section 3.4).
fn keep(shelf: &Shelf, from: SocketAddr, bytes: &[u8]) -> Option<Event> {
    if bytes.is_empty() || bytes == KEEP_ALIVE {
        return None;
    }
    Some(match shelf.keep(bytes, from, Tag::Datagram) {
        Ok(bundle) => Event::Bundle(bundle),
        Err(why) => Event::Refused(format!("a datagram from {from}: {why}")),
    })
}

/// Takes bundles of everybody.
struct UdpDoor {
    shelf: Shelf,
    events: Vec<Event>,
}

impl Door for UdpDoor {
    fn welcome(&mut self, _: Instant, from: SocketAddr, bytes: &[u8]) -> Result<Welcome, Error> {
        self.events.extend(keep(&self.shelf, from, bytes));
        Ok(Welcome::Nothing)
    }
    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

/// Bundles that come over a connection of DCCP.
struct Coming {
    shelf: Shelf,
    from: SocketAddr,
    /// Bytes of bundles that were kept.
    brought: u64,
    events: Vec<Event>,
}

impl End for Coming {
    fn take(&mut self, _: Instant, bytes: &[u8]) -> Result<(), Error> {
        let event = keep(&self.shelf, self.from, bytes);
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
    fn told(&self) -> Told {
        Told { over: true, ..Told::default() }
    }
    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

/// As [`super::Way::listen`], over UDP.
pub fn listen_over_udp(listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
    let socket = Socket::bind(listening.at).map_err(|why| cannot_listen(listening.at, false, &why))?;
    let door = UdpDoor { shelf: listening.shelf, events: Vec::new() };
    Arrivals::by(socket, door, listening.count).run(watch)
}

/// As [`super::Way::listen`], over DCCP.
pub fn listen_over_dccp(listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
    let Listening { at, packet, raw, .. } = listening;
    let config =
        dccp::config(SERVICE_BUNDLES, false, &OnLine { packet, raw, at, ccid: Ccid::Two, light: None })?;
    let shelf = listening.shelf;
    let coming = move |from| -> Box<dyn End> {
        Box::new(Coming { shelf: shelf.clone(), from, brought: 0, events: Vec::new() })
    };
    let door = DccpDoor::new(config, if raw { at.port() } else { PORT }, Box::new(coming))?;
    let socket = if raw { Socket::raw(at) } else { Socket::bind(at) };
    let socket = socket.map_err(|why| cannot_listen(at, raw, &why))?;
    Arrivals::by(socket, door, listening.count).run(watch)
}
