#![no_main]
//! Both ends of a DCCP connection, told whatever a peer can say, between what they say to each other.

use lightlag_protocols::controllers::{self, Controller, Flow};
use lightlag_protocols::parameter::Parameters;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::dccp::{
    Ccid, Config, Connection, FLIGHT_MAX, IP_HEADER, Listener, Packet, Passive,
};
use lightlag_protocols::transport::rto::Timers;
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::dccp::{Body, Sequence};
use std::collections::BTreeMap;
use std::sync::Arc;

fn controller(name: &str, config: &Config) -> Box<dyn Controller> {
    let entry = controllers::find(name).expect("a controller of the table");
    let parameters = Parameters::resolve(name, entry.algorithm.parameters, &BTreeMap::new());
    let (segment, packet) = (config.segment(), config.packet);
    let flow = Flow { segment, packet, planned_rate: None, planned_round_trip: None, seed: 1, index: 0 };
    entry.build(&parameters.expect("defaults are in range"), flow)
}

/// Puts a made-up packet near the numbers of a real one, so that it is not thrown away at once.
fn near(mut made: Packet, real: Option<&Packet>) -> Packet {
    let Some(real) = real else { return made };
    let step = made.header.sequence.get() % 16;
    (made.header.source, made.header.destination) = (real.header.source, real.header.destination);
    made.header.sequence = real.header.sequence.plus(step);
    made.header.short = false;
    let near = |ack: Sequence| {
        real.header.body.ack().map_or(ack, |known| known.plus(ack.get() % 4).minus(2))
    };
    made.header.body = match made.header.body {
        Body::Response { ack, service } => Body::Response { ack: near(ack), service },
        Body::Ack { ack } => Body::Ack { ack: near(ack) },
        Body::DataAck { ack } => Body::DataAck { ack: near(ack) },
        Body::CloseReq { ack } => Body::CloseReq { ack: near(ack) },
        Body::Close { ack } => Body::Close { ack: near(ack) },
        Body::Reset { ack, code, details } => Body::Reset { ack: near(ack), code, details },
        Body::Sync { ack } => Body::Sync { ack: near(ack) },
        Body::SyncAck { ack } => Body::SyncAck { ack: near(ack) },
        other => other,
    };
    made
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&[which, options], mut rest)) = bytes.split_first_chunk() else { return };
    let name = ["ccid2", "ccid3", "cubic"][usize::from(which) % 3];
    let ms = |n: i64| Duration::from_nanos(n * 1_000_000);
    let timers = Timers { first: ms(1000), margin: ms(200), least: ms(200), most: Duration::MAX };
    let mut config = Config::new(Bytes(600), IP_HEADER, Ccid::of(name), timers);
    config.check_data = options & 1 == 1;
    config.initial = if options & 2 == 2 { (1 << 48) - 3 } else { 7 };
    let mut client = Connection::connect(config, controller(name, &config));
    let mut server = Passive::new(Listener::silent(config.mirrored(), vec![0], [1; 32]));
    let mut now = Instant::from_secs(1);
    let (mut last_sent, mut last_heard) = (None, None);
    while let Some((&[length, step], after)) = rest.split_first_chunk() {
        let (datagram, after) = after.split_at(usize::from(length).min(after.len()));
        rest = after;
        now += Duration::from_nanos(1 << (step % 36));
        if let Ok(made) = Packet::read(datagram) {
            client.handle(now, near(made.clone(), last_heard.as_ref()));
            server.handle(now, near(made, last_sent.as_ref()));
        }
        let _ = client.send(Arc::from(vec![step; 50]));
        for _ in 0..20 {
            let Some(sent) = client.poll(now) else { break };
            let mut wire = Vec::new();
            sent.write(None, &mut wire);
            assert_eq!(Packet::read(&wire).as_ref(), Ok(&sent));
            last_sent = Some(sent.clone());
            if step % 5 != 0 {
                server.handle(now, sent);
            }
        }
        for _ in 0..20 {
            let Some(sent) = server.poll(now) else { break };
            last_heard = Some(sent.clone());
            client.handle(now, sent);
        }
        if let Some(connection) = server.connection() {
            while connection.receive().is_some() {}
        }
        assert!(client.remembered() <= FLIGHT_MAX);
        let _ = (client.deadline(), server.deadline());
    }
});
