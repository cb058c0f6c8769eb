#![no_main]
//! An end of TCPCLv4, told whatever a stranger can say, after an opening that is as it should be or not.

use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::tcpcl::{Config, Event, Session};
use lightlag_protocols::wire::tcpcl::{Contact, Init, Message, RefuseReason};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = Contact::read(bytes);
    if let Ok(Some((message, taken))) = Message::read(bytes) {
        let mut again = Vec::new();
        message.write(&mut again);
        assert_eq!(again.len(), taken, "every message has one form");
        assert_eq!(Message::read(&again), Ok(Some((message, taken))));
    }
    let Some((&settings, mut rest)) = bytes.split_first() else { return };
    let config = Config {
        is_active: settings & 1 > 0,
        node: "dtn://fuzz/".to_owned(),
        keepalive_s: u16::from(settings >> 4),
        segment: 50,
        transfer_mru: 1000,
        opening: Duration::from_secs(60),
        patience: Duration::from_secs(60),
    };
    let mut now = Instant::ZERO;
    let mut session = Session::new(now, config);
    session.send(120);
    if settings & 2 > 0 {
        let init = Init { keepalive_s: 9, segment_mru: 70, transfer_mru: 900, node: String::new(), items: vec![] };
        let mut opening = b"dtn!\x04\x00".to_vec();
        Message::Init(init).write(&mut opening);
        session.receive(now, &opening);
    }
    let (mut here, mut sent) = (0_u64, 0);
    while let Some((&[length, does], after)) = rest.split_first_chunk() {
        let (said, after) = after.split_at(usize::from(length).min(after.len()));
        rest = after;
        now += Duration::from_nanos(1 << (does % 36));
        session.receive(now, said);
        while let Some(event) = session.take_event() {
            match event {
                Event::Coming { .. } => here = 0,
                Event::Data { bytes, .. } => {
                    here += bytes.len() as u64;
                    assert!(here <= 1000, "no bundle is longer than was promised");
                }
                Event::Whole { transfer } if does & 64 > 0 => session.accept(transfer),
                Event::Whole { transfer } => session.refuse(transfer, RefuseReason::NoResources),
                _ => {}
            }
        }
        if does & 128 > 0 {
            session.finish(now);
        }
        for _ in 0..2000 {
            let Some(output) = session.poll(now) else { break };
            sent += output.data.map_or(0, |piece| piece.length);
        }
        assert!(sent <= 120, "nothing leaves twice");
        let _ = (session.deadline(), session.is_over(), session.is_choked());
    }
    session.cut();
});
