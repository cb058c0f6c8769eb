#![no_main]
//! A daemon's side of its connections, told whatever an authenticated peer can say in datagrams.

use lightlag_protocols::session::{DatagramArrival, Config, Datagrams, DatagramsConfig, Event, Session, Stack};
use lightlag_protocols::controllers::{Flow, find};
use lightlag_protocols::parameter::Parameters;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::session::{Epoch, Frame, Head, Hints, Note, Serial};
use std::collections::BTreeMap;

const STACKS: [Stack; 2] = [Stack(0), Stack(1)];
const DATAGRAM: usize = 1000;

fn datagrams() -> Datagrams {
    let entry = find("fixed").expect("it is in the table");
    let none = BTreeMap::new();
    let parameters =
        Parameters::resolve("fixed", entry.algorithm.parameters, &none).expect("it has defaults");
    let bytes = Bytes(DATAGRAM as u64);
    let flow = Flow {
        segment: bytes,
        packet: bytes,
        planned_rate: None,
        planned_round_trip: None,
        seed: 1,
        index: 0,
    };
    let epoch = Epoch { number: 1, nonce: 0 };
    let config = DatagramsConfig { stack: STACKS[0], epoch, peer: None, datagram: DATAGRAM, headers: Bytes(28) };
    Datagrams::new(config, entry.build(&parameters, flow))
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = (Head::read(bytes), Frame::read(1, bytes));
    let config = Config { incarnation: 1, window: 5000, window_most: 20_000, connections_max: 8, unnamed_max: 3 };
    let (mut session, mut datagrams) = (Session::new(config, STACKS[0]), datagrams());
    let own = session.open("far:80", Hints { durable: true, ..Hints::default() });
    let (mut now, mut rest) = (Instant::ZERO, bytes);
    let mut out = Vec::new();
    while let Some((&[length, does], after)) = rest.split_first_chunk() {
        let (said, after) = after.split_at(usize::from(length).min(after.len()));
        rest = after;
        now += Duration::from_nanos(1 << (does % 40));
        if let Some((serial, said)) = said.split_first_chunk() {
            // Mostly bound to this epoch, so that it is taken.
            let serial = Serial { bound: u64::from(does & 32), ..Serial::from_whole(*serial) };
            if datagrams.handle(now, (serial, said), &mut session) == Ok(DatagramArrival::Stale) {
                datagrams.greet(now, serial.epoch, &mut out);
            }
            datagrams.note(Note::PathChallenge(now.as_nanos() as u64), &mut out);
        }
        while let Some(event) = session.poll_event() {
            match event {
                Event::Open { id, .. } => session.accept(id),
                Event::Readable(id) => {
                    let mut taken = session.connection(id).map_or(0, |one| one.incoming.taken());
                    while let Some(bytes) = session.read(id) {
                        taken += bytes.len() as u64;
                    }
                    session.take(id, taken);
                    session.take_end(id);
                }
                _ => {}
            }
        }
        if let Some(id) = own {
            session.write(id, &[does; 40]);
            if does & 64 > 0 {
                session.carry_by(now, id, STACKS[usize::from(length & 1)], Duration::from_secs(1));
            }
        }
        if does & 128 > 0 {
            session.on_failed(STACKS[1], STACKS[0]);
        }
        datagrams.on_deadline(now, &mut session);
        session.on_deadline(now);
        for _ in 0..50 {
            let Some(serial) = datagrams.poll(now, &mut session, &mut out) else { break };
            assert!(serial.length() + out.len() <= Serial::WHOLE + DATAGRAM);
        }
        assert!(session.connections().count() <= 8);
        let _ = (datagrams.deadline(&session), session.deadline());
    }
});
