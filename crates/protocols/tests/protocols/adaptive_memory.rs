//! Many connections that share a budget of memory, some of them without a reader.

#![expect(clippy::unwrap_used, reason = "whatever fails here fails the test")]

use lightlag_protocols::session::{
    Budget, CONNECTION_COST, Config, Event, Session, Stack, UNADVERTISED_MOST,
};
use lightlag_protocols::wire::session::{CloseReason, ConnectionId, Frame, Hints};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const STACK: Stack = Stack(1);
const LIMIT: u64 = 128 << 20;

/// How an application reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Nothing,
    /// This number of bytes in each round.
    Some(u64),
    All,
}

struct Side {
    session: Session,
    budget: Arc<Budget>,
    life: u32,
    taken: BTreeMap<ConnectionId, u64>,
    lost: Vec<(ConnectionId, CloseReason)>,
}

impl Side {
    fn new(life: u32) -> Self {
        let budget = Arc::new(Budget::new(LIMIT));
        let config = Config {
            incarnation: life,
            window: 1 << 20,
            window_most: 64 << 20,
            connections_max: 20_000,
            unnamed_max: 4096,
        };
        let session = Session::with_budget(config, STACK, budget.clone());
        Self { session, budget, life, taken: BTreeMap::new(), lost: Vec::new() }
    }
    /// Bytes that it has in all, with the room that is kept for what was not advertised.
    fn check(&self) {
        assert!(self.budget.used() <= LIMIT, "{} bytes", self.budget.used());
        assert!(!self.budget.is_overdrawn());
    }
    /// Sends as much as is taken, and reads as its application does.
    fn play(&mut self, id: ConnectionId, reader: Reader) {
        let room = self.session.room(id).min(200_000);
        self.session.write(id, &vec![7; room]);
        let mut left = match reader {
            Reader::Nothing => 0,
            Reader::Some(bytes) => bytes,
            Reader::All => u64::MAX,
        };
        let taken = self.taken.entry(id).or_default();
        while left > 0 {
            let Some(bytes) = self.session.read(id) else { break };
            *taken += bytes.len() as u64;
            left = left.saturating_sub(bytes.len() as u64);
            self.session.take(id, *taken);
        }
    }
}

/// Carries up to `most` frames; a stack keeps their order.
fn carry(from: &mut Side, to: &mut Side, most: usize) {
    for _ in 0..most {
        let mut bytes = Vec::new();
        if from.session.poll(STACK, 16_000, &mut bytes).is_none() {
            return;
        }
        let (frame, _) = Frame::read(from.life, &bytes).unwrap();
        assert!(to.session.handle(&frame));
        while let Some(event) = to.session.poll_event() {
            match event {
                Event::Open { id, .. } => to.session.accept(id),
                Event::Over(id, Err(why)) => to.lost.push((id, why)),
                _ => {}
            }
        }
        to.check();
        from.check();
    }
}

fn reader() -> impl Strategy<Value = Reader> {
    prop_oneof![6 => Just(Reader::Nothing), 2 => (1_u64..50_000).prop_map(Reader::Some), 1 => Just(Reader::All)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn whoever_reads_nothing_the_budget_holds_and_those_that_read_go_on(
        readers in prop::collection::vec((reader(), reader()), 1..700),
        frames in 50_usize..3000,
    ) {
        let (mut near, mut far) = (Side::new(4), Side::new(5));
        let mut made: Vec<(ConnectionId, Reader, Reader)> = Vec::new();
        for chunk in readers.chunks(60) {
            for (here, there) in chunk {
                let id = near.session.open("target:1", Hints::default()).unwrap();
                made.push((id, *here, *there));
            }
            for (id, here, there) in &made {
                near.play(*id, *here);
                far.play(*id, *there);
            }
            carry(&mut near, &mut far, frames);
            carry(&mut far, &mut near, frames);
        }
        let fast = near.session.open("target:1", Hints::default()).unwrap();
        for _ in 0..400 {
            near.play(fast, Reader::All);
            far.play(fast, Reader::All);
            carry(&mut near, &mut far, usize::MAX);
            carry(&mut far, &mut near, usize::MAX);
        }
        for side in [&near, &far] {
            prop_assert!(side.taken[&fast] > 400 * 4000, "{}", side.taken[&fast]);
            prop_assert!(side.lost.is_empty(), "{:?}", side.lost);
        }
    }
}

#[test]
fn a_connection_for_which_there_is_no_memory_is_refused_and_others_stay() {
    let (mut near, mut far) = (Side::new(4), Side::new(5));
    far.budget = Arc::new(Budget::new(20 * CONNECTION_COST));
    let config = Config {
        incarnation: 5,
        window: 1 << 20,
        window_most: 64 << 20,
        connections_max: 20_000,
        unnamed_max: 4096,
    };
    far.session = Session::with_budget(config, STACK, far.budget.clone());
    let all: Vec<ConnectionId> =
        (0..12).map(|_| near.session.open("target:1", Hints::default()).unwrap()).collect();
    carry(&mut near, &mut far, usize::MAX);
    carry(&mut far, &mut near, usize::MAX);
    assert_eq!(near.lost, [(all[10], CloseReason::Full), (all[11], CloseReason::Full)]);
    assert_eq!(far.session.connections().count(), 10);
}

#[test]
fn a_peer_that_keeps_to_no_window_loses_its_connections_and_the_budget_holds() {
    let mut far = Side::new(5);
    let piece = vec![7; 16_000];
    for number in 0..1000 {
        let id = ConnectionId { incarnation: 4, number };
        far.session.handle(&Frame::Open { id, target: "target:1", hints: Hints::default() });
        for offset in (0..1_000_000).step_by(piece.len()) {
            far.session.handle(&Frame::Data { id, offset, ends: false, bytes: &piece });
            assert!(far.budget.used() <= LIMIT, "{} bytes", far.budget.used());
        }
    }
    while let Some(event) = far.session.poll_event() {
        if let Event::Over(id, Err(why)) = event {
            far.lost.push((id, why));
        }
    }
    assert!(
        far.lost.len() > 800 && far.lost.iter().all(|(_, why)| *why == CloseReason::Full),
        "{}",
        far.lost.len()
    );
    const { assert!(UNADVERTISED_MOST < LIMIT / 4) };
}
