//! Files over LTP between two engines on UDP sockets, with a link in between that loses.

use lightlag_node::emulate::{Emulating, Emulator};
use lightlag_node::ltp::files::Files;
use lightlag_node::ltp::{Settings, Station};
use lightlag_node::socket::Socket;
use lightlag_protocols::controllers::{self, Controller, Flow};
use lightlag_protocols::link::queues::{Discipline, Limit};
use lightlag_protocols::link::{Delay, LinkSpec, Loss, Rate};
use lightlag_protocols::parameter::Parameters;
use lightlag_protocols::time::Duration;
use lightlag_protocols::transport::ltp::{Config, Event};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::ltp::auth::Key;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

fn fixed(rate: Option<u64>) -> Box<dyn Controller> {
    let entry = controllers::find("fixed").expect("a controller of the table");
    let parameters =
        Parameters::resolve("fixed", entry.algorithm.parameters, &BTreeMap::new()).expect("defaults");
    let (segment, packet) = (Bytes(1400), Bytes(1450));
    let planned_rate = rate.map(BitRate);
    entry.build(
        &parameters,
        Flow { segment, packet, planned_rate, planned_round_trip: None, seed: 1, index: 0 },
    )
}

fn ms(n: i64) -> Duration {
    Duration::from_nanos(n * 1_000_000)
}

fn config() -> Config {
    Config {
        light: Some(ms(40)),
        margin: ms(100),
        slack: ms(5),
        copies: Some(2),
        ..Config::new(1, 2, Bytes(1450))
    }
}

fn bytes(length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Carries blocks of these sizes from one engine to another, by way of `through` if it is said; gives the seconds.
fn carries(sizes: &[usize], rate: Option<u64>, key: Option<&Key>, loss: Option<f64>) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let done = AtomicBool::new(false);
    let socket = Socket::bind(ANY).expect("a socket");
    let to = socket.address().expect("an address");
    let link = |loss| LinkSpec {
        rate: Rate::Constant(BitRate(1_000_000_000)),
        delay: Delay::Constant(ms(20)),
        loss: Loss::uniform(loss),
        queue: Discipline::drop_tail(Limit::Packets(10_000)),
        reorder: None,
        duplicate: 0.01,
        jitter: Duration::ZERO,
    };
    let emulating = |loss| Emulating { listen: ANY, to, forward: link(loss), back: link(loss), seed: 7 };
    let (done, root) = (&done, folder.path());
    let goes_on = move || !done.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let (tell, hear) = std::sync::mpsc::channel();
        if let Some(loss) = loss {
            scope.spawn(move || {
                let mut emulator = Emulator::new(&emulating(loss)).expect("an emulator");
                tell.send(emulator.address().expect("an address")).expect("somebody waits");
                emulator.run(&mut || goes_on()).expect("a link");
            });
        }
        let peer = if loss.is_some() { hear.recv().expect("a link") } else { to };
        let come = scope.spawn(move || {
            let settings = Settings { peer: None, key: key.cloned() };
            let mut receiver = Station::new(socket, config().mirrored(), fixed(None), settings);
            let mut files = Files::new(root);
            receiver.run(&mut files, &mut |_| goes_on()).expect("a receiver");
            files
        });
        let settings = Settings { peer: Some(peer), key: key.cloned() };
        let socket = Socket::towards(peer).expect("a socket");
        let mut sender = Station::new(socket, config(), fixed(rate), settings);
        let mut outgoing = Files::new(folder.path());
        let mut sessions = Vec::new();
        for (index, size) in sizes.iter().enumerate() {
            let path = folder.path().join(format!("source{index}"));
            std::fs::write(&path, bytes(*size)).expect("written");
            let session = sender.engine().send(1, *size as u64, 0).expect("a session");
            outgoing.send(session, std::fs::File::open(&path).expect("it is there"));
            sessions.push(session);
        }
        let begin = Instant::now();
        let idle = |engine: &mut lightlag_protocols::transport::ltp::Engine| {
            engine.sessions().0 > 0 && begin.elapsed().as_secs() < 120
        };
        sender.run(&mut outgoing, &mut |engine| idle(engine)).expect("a sender");
        let seconds = begin.elapsed().as_secs_f64();
        done.store(true, Ordering::Relaxed);
        let incoming = come.join().expect("a receiver");
        for (session, size) in sessions.iter().zip(sizes) {
            assert!(
                outgoing.told.contains(&Event::Sent(*session)),
                "{:?} {:?}",
                outgoing.told,
                sender.engine().counts()
            );
            let got = std::fs::read(incoming.path_of(*session)).expect("it has come");
            assert!(got == bytes(*size), "{session}: what came is not what was sent");
        }
        seconds
    })
}

#[test]
fn files_arrive_whole_over_a_link_that_loses_and_repeats() {
    carries(&[1, 100_000, 1_000_000, 7], Some(50_000_000), None, Some(0.1));
}

#[test]
fn files_arrive_whole_where_segments_are_authenticated() {
    let key = Key::Hmac { id: b"k".to_vec(), secret: vec![7; 20] };
    carries(&[500_000], Some(50_000_000), Some(&key), Some(0.05));
}

/// By hand: `cargo test --release -p lightlag-node --test ltp -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn how_fast_a_file_goes_over_loopback() {
    for rate in [500, 1000, 2000, 3000, 4000] {
        let size = 256 << 20;
        let seconds = carries(&[size], Some(rate * 1_000_000), None, None);
        println!("paced at {rate} Mbit/s: {:.0} Mbit/s", size as f64 * 8e-6 / seconds);
    }
}
