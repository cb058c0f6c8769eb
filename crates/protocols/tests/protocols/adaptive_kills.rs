//! Daemons killed at any moment resume from what they had stored: durable streams arrive whole and once.

use lightlag_protocols::rng::Stream;
use lightlag_protocols::session::{Config, Event, Session, Stack, Stored, Ticket};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::wire::session::{ConnectionId, Frame, Hints};
use std::collections::{BTreeMap, VecDeque};

/// Loses all frames in flight when a daemon is killed.
const STEADY: Stack = Stack(0);
/// Loses, repeats and reorders frames, and reports which came.
const LOSSY: Stack = Stack(1);
const STACKS: [Stack; 2] = [STEADY, LOSSY];
const LENGTH: usize = 3000;

/// What a daemon has on disk of a connection.
#[derive(Clone, Default)]
struct Kept {
    is_open: bool,
    out: usize,
    ended: bool,
    acknowledged: u64,
    into: Vec<u8>,
    into_ended: bool,
    over: Option<bool>,
    /// Disks that were lost before.
    lost: usize,
}

struct Flying {
    life: u32,
    bytes: Vec<u8>,
    ticket: Ticket,
}

struct Daemon {
    side: usize,
    incarnation: u32,
    session: Session,
    disk: BTreeMap<ConnectionId, Kept>,
    flying: [VecDeque<Flying>; 2],
    /// Disks that it lost.
    lost: usize,
}

/// An application that is reached again, as a disk was lost, says something else.
fn byte(side: usize, id: ConnectionId, lost: usize, at: usize) -> u8 {
    (at.wrapping_mul(31) ^ (at >> 8) ^ (side * 85) ^ (lost * 43) ^ id.number as usize) as u8
}

fn session(incarnation: u32) -> Session {
    let config = Config { incarnation, window: 700, window_most: 5000, connections_max: 20, unnamed_max: 5 };
    Session::new(config, STEADY)
}

impl Daemon {
    fn new(side: usize) -> Self {
        let incarnation = side as u32 + 2;
        let (disk, flying) = Default::default();
        Self { side, incarnation, session: session(incarnation), disk, flying, lost: 0 }
    }
    fn open(&mut self) {
        let hints = Hints { durable: true, ..Hints::default() };
        let id = self.session.open("far:80", hints).expect("there is room");
        self.disk.insert(id, Kept { lost: self.lost, ..Kept::default() });
    }
    /// It is killed, and starts again from its disk.
    fn begin_again(&mut self, chance: &mut Stream) {
        self.incarnation += 2;
        self.session = session(self.incarnation);
        self.flying = Default::default();
        for (id, kept) in &self.disk {
            if let Some(complete) = kept.over {
                self.session.remember(*id, complete);
                continue;
            }
            let stored = Stored {
                target: "far:80".into(),
                hints: Hints { durable: true, ..Hints::default() },
                is_open: kept.is_open,
                // That is written later than it is known.
                acknowledged: chance.below(kept.acknowledged + 1),
                had: kept.out as u64,
                taken: kept.into.len() as u64,
                ended: kept.into_ended,
            };
            self.session.restore(*id, stored);
        }
    }
    fn follow_events(&mut self) {
        while let Some(event) = self.session.poll_event() {
            match event {
                Event::Open { id, .. } => {
                    let known =
                        self.disk.insert(id, Kept { is_open: true, lost: self.lost, ..Kept::default() });
                    assert!(known.is_none(), "{id:?} was opened twice");
                    self.session.accept(id);
                }
                Event::Opened(id) => self.disk.entry(id).or_default().is_open = true,
                Event::Over(id, how) => self.disk.entry(id).or_default().over = Some(how.is_ok()),
                Event::Readable(_) | Event::Writable(_) => {}
            }
        }
    }
    /// Applications give bytes, the session is fed from the disk, and received bytes are stored before taken.
    fn move_bytes(&mut self, chance: &mut Stream) {
        for (id, kept) in &mut self.disk {
            let Some(connection) = self.session.connection(*id) else { continue };
            let given = connection.outgoing.given() as usize;
            kept.acknowledged = kept.acknowledged.max(connection.outgoing.acknowledged());
            if chance.below(2) == 0 {
                kept.out = (kept.out + chance.below(400) as usize).min(LENGTH);
                kept.ended = kept.out == LENGTH;
            }
            let most = (given + chance.below(500) as usize).min(kept.out).max(given);
            let bytes: Vec<u8> = (given..most).map(|at| byte(self.side, *id, kept.lost, at)).collect();
            let wrote = self.session.write(*id, &bytes);
            if kept.ended && given + wrote == LENGTH {
                self.session.finish(*id);
            }
            while let Some(bytes) = self.session.read(*id) {
                kept.into.extend(bytes);
            }
            kept.into_ended |= self.session.is_at_end(*id);
            // Killed here, it has stored what it did not acknowledge.
            if chance.below(3) > 0 {
                self.session.take(*id, kept.into.len() as u64);
                if kept.into_ended {
                    self.session.take_end(*id);
                }
            }
        }
    }
    fn send(&mut self, chance: &mut Stream) {
        for (stack, flying) in STACKS.iter().zip(&mut self.flying) {
            for _ in 0..chance.below(4) {
                let mut bytes = Vec::new();
                let Some(ticket) = self.session.poll(*stack, 400, &mut bytes) else { break };
                flying.push_back(Flying { life: self.session.incarnation(), bytes, ticket });
            }
        }
    }
    fn hear(&mut self, Flying { life, bytes, .. }: &Flying) -> bool {
        let (frame, _) = Frame::read(*life, bytes).expect("frames of ours can be read");
        self.session.handle(&frame)
    }
}

fn carry(from: &mut Daemon, to: &mut Daemon, chance: &mut Stream, lossy: bool) {
    for _ in 0..chance.below(6) {
        if let Some(flying) = from.flying[0].pop_front() {
            assert!(to.hear(&flying));
        }
    }
    for _ in 0..chance.below(6) {
        let count = from.flying[1].len() as u64;
        if count == 0 {
            break;
        }
        let flying = from.flying[1].swap_remove_back(chance.below(count) as usize).expect("it is there");
        if (lossy && chance.below(4) == 0) || !to.hear(&flying) {
            from.session.on_lost(flying.ticket, LOSSY);
            continue;
        }
        from.session.on_arrived(flying.ticket, LOSSY);
        if lossy && chance.below(8) == 0 {
            to.hear(&flying);
        }
    }
}

/// Everything that can happen, in an order of the seed; then nothing more goes wrong until all is there.
fn play(seed: u64, loses: bool) {
    let mut chance = Stream::new(seed, "kills", 0);
    let mut daemons = [Daemon::new(0), Daemon::new(1)];
    daemons[0].session.on_peer(3);
    daemons[1].session.on_peer(2);
    let kills = chance.below(8);
    let until = 200 + chance.below(400);
    for _ in 0..1 + chance.below(3) {
        daemons[chance.below(2) as usize].open();
    }
    for step in 0..20_000_u64 {
        let calm = step > until;
        let now = Instant::ZERO + Duration::from_secs(step as i64);
        let [here, there] = &mut daemons;
        let (here, there) = if chance.below(2) == 0 { (here, there) } else { (there, here) };
        match chance.below(60) {
            0 if !calm => {
                let all: Vec<ConnectionId> = here.session.connections().map(|(id, _)| id).collect();
                let to = STACKS[chance.below(2) as usize];
                for id in all {
                    here.session.carry_by(now, id, to, Duration::from_secs(chance.below(20) as i64));
                }
                here.session.prefer(to);
            }
            1 => {
                // A connection of TCP ends.
                for one in [&mut *here, &mut *there] {
                    one.flying[0].clear();
                    one.session.on_failed(STEADY, STACKS[chance.below(2) as usize]);
                }
            }
            2 if !calm && chance.below(until) < kills * 60 => {
                if loses && chance.below(3) == 0 {
                    here.disk.clear();
                    here.lost += 1;
                }
                here.begin_again(&mut chance);
                there.flying[0].clear();
                there.session.on_failed(STEADY, STEADY);
                there.session.on_peer(here.incarnation);
                here.session.on_peer(there.incarnation);
            }
            _ => {
                here.follow_events();
                here.move_bytes(&mut chance);
                here.send(&mut chance);
                carry(here, there, &mut chance, !calm);
                here.session.on_deadline(now);
            }
        }
        let is_left = daemons.iter().any(|one| one.session.connections().next().is_some());
        if calm && !is_left {
            break;
        }
    }
    check(seed, &daemons);
}

fn check(seed: u64, daemons: &[Daemon; 2]) {
    for (one, other) in [(&daemons[0], &daemons[1]), (&daemons[1], &daemons[0])] {
        let left: Vec<_> = one.session.connections().map(|(id, _)| id).collect();
        assert!(left.is_empty(), "seed {seed}: {left:?} never end");
        for (id, kept) in &one.disk {
            let is_of =
                |lost| (0..kept.into.len()).all(|at| kept.into[at] == byte(other.side, *id, lost, at));
            assert!((0..=other.lost).any(is_of), "seed {seed}: {id:?} has wrong bytes");
            let whole = kept.into.len() == LENGTH && kept.into_ended;
            assert!(whole || one.lost + other.lost > 0, "seed {seed}: {id:?} has {} bytes", kept.into.len());
        }
    }
}

#[test]
fn a_thousand_schedules_of_kills_lose_repeat_and_reorder_nothing() {
    (0..1000).for_each(|seed| play(seed, false));
}

#[test]
fn daemons_that_lose_their_disks_give_no_application_wrong_bytes_and_leave_no_connection() {
    (0..1000).for_each(|seed| play(seed, true));
}
