#![no_main]
//! Two engines, told whatever a stranger can say between what they say to each other.

use lightlag_protocols::controllers::{self, Flow};
use lightlag_protocols::parameter::Parameters;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::ltp::{Config, Engine, Quotas, Reason, SessionId, Direction};
use lightlag_protocols::transport::ranges::Ranges;
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::ltp::Packet;
use std::collections::BTreeMap;

fn engine(config: &Config, which: u8) -> Engine {
    let entry = &controllers::TABLE[usize::from(which) % controllers::TABLE.len()];
    let parameters = Parameters::resolve(entry.algorithm.name, entry.algorithm.parameters, &BTreeMap::new())
        .expect("defaults are in range");
    let planned_rate = (which & 128 == 0).then_some(BitRate(1_000_000));
    let (segment, packet) = (Bytes(80), Bytes(128));
    let flow = Flow { segment, packet, planned_rate, planned_round_trip: None, seed: 1, index: 0 };
    Engine::new(config.clone(), entry.build(&parameters, flow))
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&[which, settings], mut rest)) = bytes.split_first_chunk() else { return };
    let quotas =
        Quotas { exports: 8, imports: 8, pieces: 100, reports: 20, answers: 20, closed: 5, block: 1 << 20 };
    let config = Config {
        quotas,
        tries: 3,
        cycles: 5,
        // None: weighed.
        copies: (settings & 3 > 0).then_some(u32::from(settings & 3)),
        checkpoint_every: (settings & 4 > 0).then_some(300),
        report_every: (settings & 8 > 0).then_some(Duration::from_secs(1)),
        light: (settings & 16 > 0).then_some(Duration::from_secs(1)),
        idle: Duration::from_secs(100),
        ..Config::new(1, 2, Bytes(128))
    };
    let mut engines = [engine(&config, which), engine(&config.mirrored(), which)];
    let mut here: [BTreeMap<SessionId, Ranges>; 2] = Default::default();
    let mut now = Instant::ZERO;
    while let Some((&[length, step, does], after)) = rest.split_first_chunk() {
        let (said, after) = after.split_at(usize::from(length).min(after.len()));
        rest = after;
        now += Duration::from_nanos(1 << (step % 40));
        let (one, way) = (usize::from(does & 1), if does & 2 > 0 { Direction::In } else { Direction::Out });
        match does >> 2 & 7 {
            0 => {
                let _ = engines[one].send(u64::from(length), said.len() as u64 * 9, u64::from(step));
            }
            1 => engines[one].link_down(now, way),
            2 => engines[one].link_up(now, way),
            3 => {
                let _ = engines[one].cancel(SessionId { originator: 1, number: 1 }, Reason::User);
            }
            4 => engines[one].on_plan(now, BitRate(u64::from(step) * 1000)),
            _ => {}
        }
        if let Ok(packet) = Packet::read(said) {
            for engine in &mut engines {
                let _ = engine.receive(now, &packet.segment);
            }
        }
        for end in [0, 1] {
            for number in 0..50_u8 {
                let Some(segment) = engines[end].poll(now) else { break };
                assert!(segment.size() <= 100, "{segment:?} is longer than a packet");
                if number.wrapping_add(does) % 5 != 0 {
                    let _ = engines[1 - end].receive(now, &segment);
                }
            }
        }
        for (engine, here) in engines.iter_mut().zip(&mut here) {
            while let Some(event) = engine.take_event() {
                if let lightlag_protocols::transport::ltp::Event::Arrived { session, from, to, .. } = event {
                    here.entry(session).or_default().insert(from, to);
                }
            }
            let (exports, imports) = engine.sessions();
            assert!(exports <= 8 && imports <= 8, "sessions are bounded");
            let _ = (engine.deadline(), engine.in_flight());
        }
    }
});
