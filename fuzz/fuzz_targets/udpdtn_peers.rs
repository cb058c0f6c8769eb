#![no_main]
//! Both ends of a transfer, told whatever a peer can say.

use lightlag_protocols::controllers;
use lightlag_protocols::controllers::Flow;
use lightlag_protocols::parameter::Parameters;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::udpdtn::{Config, Datagram, Real, Receiver, Sender};
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::udpdtn::{Packet, Unwrap};
use std::collections::BTreeMap;

fn sender(config: Config, which: usize, length: u64) -> Sender {
    let entry = &controllers::TABLE[which % controllers::TABLE.len()];
    let parameters = Parameters::resolve(entry.algorithm.name, entry.algorithm.parameters, &BTreeMap::new())
        .expect("defaults are in range");
    let flow = Flow {
        segment: config.symbol,
        packet: Bytes(100),
        planned_rate: None,
        planned_round_trip: None,
        seed: 1,
        index: 0,
    };
    Sender::new(config, entry.build(&parameters, flow), Bytes(length))
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&[which, size, real], mut rest)) = bytes.split_first_chunk() else { return };
    let mut config = Config { block_symbols: 5, digest: [1; 32], ..Config::new(Bytes(100)) };
    if real & 1 == 1 {
        let ms = Duration::from_nanos(1_000_000);
        config.real = Real { noise: ms, tick: ms, pauses: true, decodes: true, ..Real::default() };
    }
    let mut sender = sender(config, which.into(), u64::from(size) * 100);
    let mut receiver = Receiver::new(config);
    let (mut now, mut unwrap) = (Instant::ZERO, Unwrap::default());
    while let Some((&[length, step], after)) = rest.split_first_chunk() {
        let (datagram, after) = after.split_at(usize::from(length).min(after.len()));
        rest = after;
        now += Duration::from_nanos(1 << (step % 40));
        if let Some(said) = Packet::read(datagram).ok().and_then(|packet| packet.datagram(&mut unwrap, now)) {
            // What a receiver is told of an opening was checked when it was read; here one length is all.
            if !matches!(said, Datagram::Open { .. }) {
                sender.handle(now, said.clone());
                receiver.handle(now, said);
            }
        }
        for _ in 0..20 {
            let Some(sent) = sender.poll(now) else { break };
            if step % 3 != 0 {
                receiver.handle(now, sent);
            }
        }
        receiver.take_ready().into_iter().for_each(|block| receiver.is_whole(block));
        if let Some(report) = receiver.poll(now) {
            sender.handle(now, report);
        }
        let _ = (sender.deadline(), receiver.deadline(), sender.progress());
    }
});
