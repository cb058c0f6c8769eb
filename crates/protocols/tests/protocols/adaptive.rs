//! Two daemons and what is between them: whatever stacks do, streams come whole and in order.

use lightlag_protocols::rng::Stream;
use lightlag_protocols::session::{Config, Event, Session, Stack, Ticket};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::wire::session::{CloseReason, ConnectionId, Frame, Hints};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

/// Loses nothing while it lives, as TCP.
const STEADY: Stack = Stack(0);
/// Loses, repeats and reorders frames, and reports which came.
const LOSSY: Stack = Stack(1);

/// A frame in flight.
struct Flying {
    life: u32,
    bytes: Vec<u8>,
    ticket: Ticket,
}

/// A daemon, its applications, and its frames in flight.
struct Daemon {
    session: Session,
    steady: VecDeque<Flying>,
    lossy: Vec<Flying>,
    /// Streams of applications: what is still to be written, what was read, and whether it ended.
    streams: BTreeMap<ConnectionId, Application>,
    over: BTreeMap<ConnectionId, Result<(), CloseReason>>,
}

#[derive(Default)]
struct Application {
    written: usize,
    read: Vec<u8>,
    untaken: usize,
    told_end: bool,
}

/// Byte `at` of the stream of a side.
fn byte(side: usize, id: ConnectionId, at: usize) -> u8 {
    (at.wrapping_mul(31) ^ (at >> 8) ^ (side * 85) ^ id.number as usize) as u8
}

fn config(incarnation: u32, window: u64) -> Config {
    Config { incarnation, window, window_most: 20_000, connections_max: 100, unnamed_max: 10 }
}

impl Daemon {
    fn new(incarnation: u32, window: u64) -> Self {
        Self {
            session: Session::new(config(incarnation, window), STEADY),
            steady: VecDeque::new(),
            lossy: Vec::new(),
            streams: BTreeMap::new(),
            over: BTreeMap::new(),
        }
    }
    fn follow_events(&mut self) {
        while let Some(event) = self.session.poll_event() {
            match event {
                Event::Open { id, target, .. } => {
                    assert_eq!(target, "far:80");
                    self.streams.insert(id, Application::default());
                    self.session.accept(id);
                }
                Event::Over(id, how) => {
                    assert!(self.over.insert(id, how).is_none(), "{id:?} was over twice");
                }
                Event::Opened(_) | Event::Readable(_) | Event::Writable(_) => {}
            }
        }
    }
    /// Applications write, read, and are sometimes slow.
    fn move_bytes(&mut self, side: usize, length: usize, chance: &mut Stream) {
        for (id, stream) in &mut self.streams {
            let most = (stream.written + chance.below(3000) as usize).min(length);
            let bytes: Vec<u8> = (stream.written..most).map(|at| byte(side, *id, at)).collect();
            stream.written += match chance.below(2) {
                0 => self.session.write(*id, &bytes),
                _ => self.session.give(*id, bytes),
            };
            if stream.written == length {
                self.session.finish(*id);
            }
            if chance.below(3) > 0 {
                while let Some(bytes) = self.session.read(*id) {
                    stream.read.extend(bytes);
                }
            }
            if chance.below(3) > 0 {
                stream.untaken = stream.read.len();
                self.session.take(*id, stream.untaken as u64);
                if self.session.is_at_end(*id) {
                    stream.told_end = true;
                    self.session.take_end(*id);
                }
            }
        }
    }
    fn send(&mut self, room: usize) {
        for stack in [STEADY, LOSSY] {
            for _ in 0..4 {
                let mut bytes = Vec::new();
                let Some(ticket) = self.session.poll(stack, room, &mut bytes) else { break };
                assert!(bytes.len() <= room);
                let flying = Flying { life: self.session.incarnation(), bytes, ticket };
                if stack == STEADY { self.steady.push_back(flying) } else { self.lossy.push(flying) }
            }
        }
    }
    fn hear(&mut self, Flying { life, bytes, .. }: &Flying) -> bool {
        let (frame, rest) = Frame::read(*life, bytes).expect("frames of ours can be read");
        assert!(rest.is_empty());
        self.session.handle(&frame)
    }
}

/// Frames in flight from one to the other arrive, or not.
fn carry(from: &mut Daemon, to: &mut Daemon, chance: &mut Stream, lossy: bool) {
    for _ in 0..chance.below(8) {
        if let Some(flying) = from.steady.pop_front() {
            assert!(to.hear(&flying) || to.session.connections().count() >= 10);
        }
    }
    for _ in 0..chance.below(8) {
        if from.lossy.is_empty() {
            break;
        }
        let which = chance.below(from.lossy.len() as u64) as usize;
        let flying = from.lossy.swap_remove(which);
        if lossy && chance.below(4) == 0 {
            from.session.on_lost(flying.ticket, LOSSY);
            continue;
        }
        if to.hear(&flying) {
            from.session.on_arrived(flying.ticket, LOSSY);
        } else {
            from.session.on_lost(flying.ticket, LOSSY);
        }
        if lossy && chance.below(8) == 0 {
            to.hear(&flying);
        }
    }
}

/// Plays a schedule; gives both daemons when everything is over.
fn play(seed: u64, connections: usize, length: usize, window: u64) -> [Daemon; 2] {
    let mut chance = Stream::new(seed, "schedule", 0);
    let mut daemons = [Daemon::new(1, window), Daemon::new(2, window)];
    daemons[0].session.on_peer(2);
    daemons[1].session.on_peer(1);
    for number in 0..connections {
        let hints = Hints { priority: number as u8, ..Hints::default() };
        let id = daemons[number % 2].session.open("far:80", hints).expect("there is room");
        daemons[number % 2].streams.insert(id, Application::default());
    }
    let mut now = Instant::ZERO;
    for round in 0..200_000_u64 {
        now = now.saturating_add(Duration::from_secs(1));
        // Later on it calms down, so that it comes to an end.
        let wild = round < 500;
        for (side, daemon) in daemons.iter_mut().enumerate() {
            daemon.follow_events();
            daemon.move_bytes(side, length, &mut chance);
            if wild && chance.below(10) == 0 {
                let stack = [STEADY, LOSSY][chance.below(2) as usize];
                let grace = Duration::from_secs(chance.below(20) as i64);
                daemon.session.prefer(stack);
                let ids: Vec<ConnectionId> = daemon.session.connections().map(|(id, _)| id).collect();
                for id in ids.into_iter().filter(|_| chance.below(4) > 0) {
                    daemon.session.carry_by(now, id, stack, grace);
                }
            }
            if wild && chance.below(60) == 0 {
                daemon.steady.clear();
                daemon.session.on_failed(STEADY, LOSSY);
            }
            if daemon.session.deadline().is_some_and(|at| at <= now) {
                daemon.session.on_deadline(now);
            }
            daemon.send(Frame::OVERHEAD_MAX + 10 + chance.below(300) as usize);
        }
        let [one, other] = &mut daemons;
        carry(one, other, &mut chance, wild);
        carry(other, one, &mut chance, wild);
        if daemons.iter().all(|daemon| daemon.over.len() == connections) {
            return daemons;
        }
    }
    let left: Vec<_> =
        daemons.iter().map(|daemon| daemon.session.connections().collect::<Vec<_>>()).collect();
    panic!("it never ended: {left:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]
    #[test]
    fn streams_come_whole_and_in_order_whatever_carries_them(
        seed: u64,
        connections in 1_usize..6,
        length in 0_usize..20_000,
        window in 500_u64..10_000,
    ) {
        let daemons = play(seed, connections, length, window);
        for (side, daemon) in daemons.iter().enumerate() {
            for (id, stream) in &daemon.streams {
                prop_assert_eq!(daemon.over.get(id), Some(&Ok(())));
                prop_assert!(stream.told_end);
                prop_assert_eq!(stream.read.len(), length);
                let whole = stream.read.iter().enumerate().all(|(at, got)| *got == byte(1 - side, *id, at));
                prop_assert!(whole, "a byte is not where it belongs");
            }
        }
    }

    #[test]
    fn no_frames_make_it_panic_or_grow(
        frames in prop::collection::vec((0_u8..6, 0_u32..4, 0_u32..20, 0_u64..5_000, any::<bool>(), 0_usize..100), 0..300)
    ) {
        let mut session = Session::new(Config { connections_max: 8, unnamed_max: 4, ..config(1, 1000) }, STEADY);
        session.on_peer(2);
        let own = session.open("far:80", Hints::default()).unwrap();
        session.write(own, &[7; 600]);
        let mut out = Vec::new();
        for (kind, incarnation, number, offset, flag, length) in frames {
            let id = ConnectionId { incarnation, number };
            let bytes = vec![0; length];
            let frame = match kind {
                0 => Frame::Open { id, target: "a:1", hints: Hints { durable: flag, ..Hints::default() } },
                1 => Frame::Opened { id },
                2 => Frame::Data { id, offset, ends: flag, bytes: &bytes },
                3 => Frame::Ack { id, below: offset / 10, window: offset },
                4 => Frame::Reset { id, why: CloseReason::Aborted },
                _ => Frame::Gone { id, complete: flag },
            };
            session.handle(&frame);
            while session.poll_event().is_some() {}
            if flag {
                out.clear();
                session.poll(STEADY, 200, &mut out);
            }
            prop_assert!(session.connections().count() <= 8);
        }
    }
}

/// All that one has to say by a stack comes to the other.
fn tell_all(from: &mut Session, to: &mut Session) {
    let mut out = Vec::new();
    while from.poll(STEADY, 2000, &mut out).is_some() {
        let (frame, _) = Frame::read(from.incarnation(), &out).expect("frames of ours can be read");
        to.handle(&frame);
        out.clear();
    }
}

#[test]
fn a_refused_connection_is_over_on_both_sides_with_the_reason() {
    let mut near = Session::new(config(1, 1000), STEADY);
    let mut far = Session::new(config(2, 1000), STEADY);
    let id = near.open("closed:1", Hints::default()).unwrap();
    tell_all(&mut near, &mut far);
    assert!(matches!(far.poll_event(), Some(Event::Open { .. })));
    far.reset(id, CloseReason::Refused);
    tell_all(&mut far, &mut near);
    assert_eq!(near.poll_event(), Some(Event::Over(id, Err(CloseReason::Refused))));
    tell_all(&mut near, &mut far);
    assert!(!far.waits(STEADY), "the reset is known, and is not said again");
}

#[test]
fn a_daemon_that_begins_anew_keeps_connections_that_are_durable_or_were_never_carried() {
    let mut near = Session::new(config(1, 1000), STEADY);
    let durable = Hints { durable: true, ..Hints::default() };
    let [kept, lost] = [durable, Hints::default()].map(|hints| near.open("far:80", hints).unwrap());
    let mut far = Session::new(config(2, 1000), STEADY);
    for id in [kept, lost] {
        assert_eq!(near.write(id, b"hello"), 5);
    }
    near.on_peer(2);
    tell_all(&mut near, &mut far);
    near.hold_new(STEADY, true);
    let fresh = near.open("far:80", Hints::default()).unwrap();
    tell_all(&mut near, &mut far);
    assert!(near.waits(STEADY) && !near.has_frames(STEADY), "it is held back");
    near.hold_new(STEADY, false);
    near.on_peer(4);
    assert_eq!(near.poll_event(), Some(Event::Over(lost, Err(CloseReason::Unknown))));
    near.on_peer(2);
    assert_eq!(near.poll_event(), None, "an earlier life that is heard late changes nothing");
    let mut after = Session::new(config(4, 1000), STEADY);
    tell_all(&mut near, &mut after);
    let opened = |after: &mut Session| match after.poll_event() {
        Some(Event::Open { id, .. }) => Some(id),
        _ => None,
    };
    let mut all = [opened(&mut after), opened(&mut after)];
    all.sort();
    assert_eq!(all, [Some(kept), Some(fresh)]);
    assert_eq!(after.read(kept), Some(b"hello".to_vec()));
}
