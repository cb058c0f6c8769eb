//! Connections of DCCP on real sockets, for `lightlag study dccp`: a receiver, a sender and the link between
//! them each have a thread.

use crate::dccp::sockets::{Beside, Connection, Seen};
use lightlag_capture::analysis::{Analysed, Analysis, Options, Record};
use lightlag_capture::over_udp;
use lightlag_node::emulate::{Emulating, Emulator};
use lightlag_node::real_time::{self, Watch};
use lightlag_node::tap::{Passing, Tap};
use lightlag_node::transports::bench::{self, Plan, Tallies};
use lightlag_node::transports::{
    self, Event, ListenOptions, Listening, Payload, SendOptions, Sending, Transport, UdpdtnOptions,
};
use lightlag_protocols::controllers::Factory;
use lightlag_protocols::link::{Counts, LinkSpec};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant as Real;

const HERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Headers of IP and UDP.
const HEADERS: usize = 28;
/// Bytes of a packet, as in the world.
const PACKET: usize = 1500;
/// A machine that is later than this has changed what is measured.
const LATE: Duration = Duration::from_nanos(50_000_000);
/// Packets as captures of raw IP have them.
const LINKTYPE_RAW: u16 = 101;

/// Makes connections, all at the same time.
///
/// # Errors
/// One line: a socket or a thread failed.
pub fn connect(wanted: Vec<Connection>) -> Result<Vec<Seen>, String> {
    let longest = wanted.iter().map(|one| one.span).max().unwrap_or_default().as_secs_f64();
    eprintln!("{} connections on real sockets, all at once, for {longest} s", wanted.len());
    // By a thread of its own, as those that it begins are as urgent as it is.
    join(thread::spawn(move || make_all(wanted)))?
}

fn make_all(wanted: Vec<Connection>) -> Result<Vec<Seen>, String> {
    real_time::go_first();
    let watch = Watch::start();
    let seen = make_at_once(wanted);
    let latest = watch.latest();
    if latest > LATE {
        let late = latest.as_secs_f64();
        eprintln!("this machine woke a thread {late:.2} s late: pauses and round trips are longer by that");
    }
    seen
}

fn make_at_once(wanted: Vec<Connection>) -> Result<Vec<Seen>, String> {
    let under_way: Vec<_> = wanted.into_iter().map(|one| thread::spawn(move || make(one))).collect();
    under_way.into_iter().map(join).map(|made| made?).collect()
}

fn join<T>(thread: JoinHandle<T>) -> Result<T, String> {
    thread.join().map_err(|_| "a thread of a connection ended early".to_owned())
}

/// Makes one.
fn make(wanted: Connection) -> Result<Seen, String> {
    let transport = transports::find("dccp").ok_or("DCCP is not built in")?;
    let over = Arc::new(AtomicBool::new(false));
    let (receiver, at) = receive(transport, &over)?;
    let (link, through) = carry(wanted.links, at, wanted.seed, &over)?;
    let beside = send_beside(wanted.beside, through, &over)?;
    let analysis = Arc::new(Mutex::new(Some(Analysis::new(Options {
        dccp_ports: vec![through.port()],
        ..Options::default()
    }))));
    let sent = send(transport, wanted.controller, wanted.span, through, tap(&analysis));
    over.store(true, Ordering::Release);
    join(receiver)?;
    join(beside)?;
    let (counts, outcome) = (join(link)??, sent?);
    let analysis = analysis.lock().unwrap_or_else(PoisonError::into_inner).take();
    let analysed: Analysed = analysis.ok_or("nothing was captured")?.finish();
    let measured = outcome.received.ok_or("the receiver's figures did not come")?;
    Ok(Seen { goodput_bit_per_s: measured.goodput(), counts, analysed })
}

/// Counts received data; returns its thread and its address.
fn receive(
    transport: &'static Transport,
    over: &Arc<AtomicBool>,
) -> Result<(JoinHandle<()>, SocketAddr), String> {
    let (tell, described) = channel();
    let over = over.clone();
    let listening = Listening {
        options: ListenOptions { at: HERE, packet: Bytes(PACKET as u64), raw: false, tap: None },
        inbox: Arc::new(Tallies),
        once: false,
    };
    let files = transport.files.as_ref().ok_or("DCCP carries no noise")?;
    let thread = thread::spawn(move || {
        let ended = files.by.listen(listening, &mut |event| {
            if let Event::Listening(at) = event {
                let _ = tell.send(Ok(at));
            }
            !over.load(Ordering::Acquire)
        });
        if let Err(why) = ended {
            let _ = tell.send(Err(why.to_string()));
        }
    });
    let at = described.recv().map_err(|_| "the receiver ended".to_owned())??;
    Ok((thread, at))
}

type Carried = JoinHandle<Result<Counts, String>>;

/// The link in real time, and where it takes datagrams.
fn carry(
    [forward, back]: [LinkSpec; 2],
    to: SocketAddr,
    seed: u64,
    over: &Arc<AtomicBool>,
) -> Result<(Carried, SocketAddr), String> {
    let (tell, described) = channel();
    let over = over.clone();
    let run = move || {
        let mut emulator = Emulator::new(&Emulating { listen: HERE, to, forward, back, seed })?;
        let _ = tell.send(emulator.address()?);
        emulator.run(&mut || !over.load(Ordering::Acquire))?;
        Ok(emulator.counts()[0])
    };
    let thread = thread::spawn(move || run().map_err(|why: std::io::Error| format!("the link: {why}")));
    match described.recv() {
        Ok(through) => Ok((thread, through)),
        Err(_) => join(thread)?.and(Err("the link ended".to_owned())),
    }
}

/// Packets without a receiver, over the same link.
fn send_beside(mut beside: Beside, to: SocketAddr, over: &Arc<AtomicBool>) -> Result<JoinHandle<()>, String> {
    let socket = UdpSocket::bind(HERE).map_err(|why| format!("traffic beside: {why}"))?;
    let over = over.clone();
    Ok(thread::spawn(move || {
        let began = Real::now();
        let (mut made, mut next) = (Bytes(0), beside.start);
        while !over.load(Ordering::Acquire) {
            let now = Instant::ZERO + Duration::from_nanos(began.elapsed().as_nanos() as i64);
            if now >= next {
                let before = made;
                (made, next) = beside.turn(next);
                if made > before {
                    // What is lost here is lost.
                    let _ = socket.send_to(&[0; PACKET - HEADERS], to);
                }
            }
            let wait = (next - now).as_nanos().clamp(0, 100_000_000);
            thread::sleep(std::time::Duration::from_nanos(wait as u64));
        }
    }))
}

fn send(
    transport: &Transport,
    name: &str,
    time: Duration,
    to: SocketAddr,
    tap: Tap,
) -> Result<bench::Outcome, String> {
    let controller = Factory::resolve(name, &BTreeMap::new()).map_err(|why| why.to_string())?;
    let sending = Sending {
        payload: Payload::Noise(Plan { time, every: Duration::from_secs(10) }),
        options: SendOptions {
            to,
            from: None,
            packet: Bytes(PACKET as u64),
            plan: None,
            rate: None,
            light: None,
            give_up: Some(Duration::from_secs(60)),
            raw: false,
            controller: Some(controller),
            tap: Some(tap),
        },
        udpdtn: UdpdtnOptions::default(),
    };
    bench::send(transport, sending, &mut |_| true).map_err(|why| why.to_string())
}

/// Shows datagrams to an analysis, in IP and UDP.
fn tap(analysis: &Arc<Mutex<Option<Analysis>>>) -> Tap {
    let analysis = analysis.clone();
    Box::new(move |passing: &Passing| {
        let packet = over_udp(passing.from, passing.to, passing.bytes);
        let mut analysis = analysis.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(analysis) = analysis.as_mut() {
            let length = packet.len() as u32;
            analysis.watch(&Record {
                at_ns: passing.at_ns,
                link: LINKTYPE_RAW,
                interface: 0,
                length,
                data: &packet,
            });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dccp::sockets;

    #[test]
    fn connections_on_sockets_have_the_rate_of_their_link() {
        let ask = |mut wanted: Vec<Connection>| {
            // One of each kind, and seconds instead of minutes.
            wanted.retain(|one| one.seed == 1);
            wanted.iter_mut().for_each(|one| one.span = Duration::from_secs(6));
            for seen in connect(wanted)? {
                let flow = &seen.analysed.flows[0];
                let goodput = seen.goodput_bit_per_s;
                assert!((0.1e6..1.5e6).contains(&goodput), "{goodput}");
                assert!(seen.counts.arrived > 80);
                assert_eq!(flow.protocol.name(), "DCCP-UDP");
            }
            Err("only a few were made".to_owned())
        };
        assert_eq!(sockets::run(&ask), Err("only a few were made".to_owned()));
    }
}
