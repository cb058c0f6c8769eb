use super::*;
use crate::dtn::testing::{built_with_properties, copy, place, store_of};
use crate::dtn::{DropReason, Link, Offer, PeerSpace, Store};
use crate::units::{BitRate, Bytes};
use proptest::prelude::*;

fn fresh(seed: u64) -> SmartDtnCc {
    let learner = Learner::new(Rates { temperature: 0.5, discount: 0.8, winning: 0.05, losing: 0.2 });
    SmartDtnCc {
        rules: Rules { period: Duration::from_secs(60), full: 0.8, smoothing: 0.5 },
        since: Instant::ZERO,
        occupancy: 0.0,
        trend: 0.0,
        state: State::NonCongested,
        action: TakeAll,
        learner,
        congested_peers: Vec::new(),
        migrating: None,
        offered: None,
        random: Stream::new(seed, "smart_dtn_cc", 0),
    }
}
/// In state `Congested` with this action until the next period.
fn acting(action: Action) -> SmartDtnCc {
    SmartDtnCc { state: State::Congested, action, ..fresh(1) }
}
fn full() -> Store {
    store_of([copy(1, 300), copy(2, 400), copy(3, 300)])
}
fn neighbour(peer: u32, free: u64, idle: bool) -> Link {
    let peer_space = PeerSpace { free: Bytes(free), capacity: Bytes(1000), idle };
    Link { peer: NodeId(peer), rate: BitRate(1_000_000), delay: Duration::ZERO, pipelined: true, peer_space }
}
fn room(smart: &mut SmartDtnCc, store: &Store, links: &[Link]) -> BufferDecision {
    smart.make_room(&Local { links, ..place(store, 0, 1.0) }, &copy(9, 100).bundle, None)
}

#[test]
fn the_state_is_told_from_the_occupancy_now_and_a_period_ahead() {
    for (occupancy, trend, expected) in [
        (0.5, 0.2, State::NonCongested),
        (0.7, 0.2, State::Prospective),
        (0.9, 0.0, State::Congested),
        (0.9, -0.05, State::Congested),
        (0.9, -0.2, State::Decreasing),
    ] {
        let smart = SmartDtnCc { trend, ..fresh(1) };
        assert_eq!(smart.judged(occupancy), expected, "{occupancy} {trend}");
    }
}

#[test]
fn the_forecast_follows_the_change_per_period() {
    let (half, store) = (store_of([copy(1, 500)]), full());
    let mut smart = fresh(1);
    smart.look(&place(&half, 0, 59.0));
    assert_eq!(smart.trend, 0.0, "the period is not over");
    smart.look(&place(&half, 0, 60.0));
    assert_eq!((smart.trend, smart.state), (0.25, State::NonCongested));
    // 0.5 more in two periods: 0.25 each.
    smart.look(&place(&store, 0, 180.0));
    assert_eq!((smart.trend, smart.state), (0.25, State::Congested));
}

#[test]
fn falling_congestion_is_rewarded_and_staying_congested_is_punished() {
    use State::{Congested, Decreasing, NonCongested, Prospective};
    for (from, to, expected) in [
        (Congested, Decreasing, 1.0),
        (Decreasing, NonCongested, 1.0),
        (NonCongested, NonCongested, 1.0),
        (Prospective, Prospective, 0.0),
        (Congested, Congested, -1.0),
        (NonCongested, Prospective, -1.0),
    ] {
        assert_eq!(from.reward(to), expected, "{from:?} to {to:?}");
    }
}

#[test]
fn values_follow_the_rule_of_q_learning() {
    let mut learner = fresh(1).learner;
    learner.values[State::Decreasing as usize][Migrate as usize] = 2.0;
    // Nothing won yet, hence fast: 0 + 0.2 (1 + 0.8 x 2 - 0).
    learner.learn(State::Congested, Notify, State::Decreasing);
    let value = learner.values[State::Congested as usize][Notify as usize];
    assert!((value - 0.52).abs() < 1e-12, "{value}");
}

#[test]
fn a_policy_that_is_worth_more_than_its_average_learns_slowly() {
    let mut learner = fresh(1).learner;
    assert_eq!(learner.rate(State::Congested), 0.2, "as good as its average");
    learner.values[State::Congested as usize][Notify as usize] = 1.0;
    assert_eq!(learner.rate(State::Congested), 0.05);
    learner.values[State::Congested as usize][Notify as usize] = -9.0;
    learner.values[State::Congested as usize][Migrate as usize] = -9.0;
    assert_eq!(learner.rate(State::Congested), 0.05, "it left what has become bad");
    learner.values[State::Congested as usize] = [0.0; ACTIONS];
    assert_eq!(learner.rate(State::Congested), 0.2);
}

#[test]
fn actions_are_drawn_by_boltzmann() {
    let mut smart = fresh(1);
    smart.learner.values[State::Congested as usize][Migrate as usize] = 0.5;
    // exp(1) to five times exp(0).
    let expected = math::exp(1.0) / (5.0 + math::exp(1.0));
    let policy = smart.learner.policy(State::Congested);
    assert!((policy[Migrate as usize] - expected).abs() < 1e-12 && policy[TakeAll as usize] == 0.0);
    let mut hits = [0; ACTIONS];
    for _ in 0..6000 {
        hits[smart.learner.choose(State::Congested, &mut smart.random) as usize] += 1;
    }
    assert_eq!(hits[TakeAll as usize], 0);
    assert!((f64::from(hits[Migrate as usize]) / 6000.0 - expected).abs() < 0.03, "{hits:?}");
    assert!(hits[1..].iter().all(|&count| count > 600), "{hits:?}");
    assert_eq!(smart.learner.choose(State::NonCongested, &mut smart.random), TakeAll);
}

#[test]
fn each_action_has_its_victim() {
    let mut short = copy(2, 400);
    short.bundle.expires = Instant::from_secs(9);
    let store = store_of([copy(1, 300), short, copy(3, 300)]);
    for (action, expected) in [
        (TakeAll, 1),
        (DropOldest, 1),
        (DropShortestLived, 2),
        (Migrate, 1),
        (Action::Refuse, 1),
        (Notify, 1),
    ] {
        assert_eq!(
            room(&mut acting(action), &store, &[]),
            BufferDecision::Drop(BundleId(expected)),
            "{action:?}"
        );
    }
    let mut random = acting(DropRandom);
    let mut hits = [0; 4];
    for _ in 0..600 {
        match room(&mut random, &store, &[]) {
            BufferDecision::Drop(id) => hits[id.0 as usize] += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(hits[1..].iter().all(|&count| count > 150), "{hits:?}");
}

#[test]
fn dropping_as_an_action_empties_the_buffer_down_to_the_threshold() {
    let (store, below) = (full(), store_of([copy(1, 300), copy(2, 400)]));
    for (action, expected) in [(DropOldest, Some(BundleId(1))), (TakeAll, None), (Notify, None)] {
        assert_eq!(acting(action).obsolete(&place(&store, 0, 1.0)), expected, "{action:?}");
        assert_eq!(acting(action).obsolete(&place(&below, 0, 1.0)), None, "{action:?}");
    }
}

#[test]
fn refusing_concerns_what_is_for_others() {
    let (store, offered) = (full(), copy(9, 100));
    let offer = Offer { replica: &offered, from: NodeId(4) };
    assert_eq!(
        acting(Action::Refuse).admit(&place(&store, 0, 1.0), &Incoming::Offered(&offer)),
        Err(Refusal::Congestion)
    );
    assert_eq!(
        acting(Action::Refuse).admit(&place(&store, 9, 1.0), &Incoming::Offered(&offer)),
        Ok(()),
        "its destination"
    );
    assert_eq!(acting(Notify).admit(&place(&store, 0, 1.0), &Incoming::Offered(&offer)), Ok(()));
}

#[test]
fn a_copy_moves_to_the_neighbour_with_most_room_one_at_a_time() {
    let links = [neighbour(4, 400, true), neighbour(5, 900, false), neighbour(6, 500, true)];
    let mut smart = acting(Migrate);
    let first = BufferDecision::Move { id: BundleId(1), to: NodeId(6) };
    assert_eq!(room(&mut smart, &full(), &links), first);
    assert_eq!(room(&mut smart, &full(), &links), first, "it waits for it");
    let store = full();
    smart.on_event(&place(&store, 0, 1.0), &MechanismEvent::ContactDown { peer: NodeId(6) });
    assert_eq!(
        room(&mut smart, &store, &links[..1]),
        BufferDecision::Move { id: BundleId(1), to: NodeId(4) }
    );
    smart.on_event(
        &place(&store, 0, 1.0),
        &MechanismEvent::Moved { bundle: &copy(1, 300).bundle, to: NodeId(4), already_had: false },
    );
    assert_eq!(
        room(&mut smart, &store, &[neighbour(4, 299, true)]),
        BufferDecision::Drop(BundleId(1)),
        "no room there"
    );
}

#[test]
fn nothing_moves_to_the_sender_of_what_is_to_come() {
    let (store, offered) = (full(), copy(9, 100));
    let links = [neighbour(4, 900, true)];
    let at = Local { links: &links, ..place(&store, 0, 1.0) };
    let mut smart = acting(Migrate);
    smart.admit(&at, &Incoming::Offered(&Offer { replica: &offered, from: NodeId(4) })).unwrap();
    assert_eq!(smart.make_room(&at, &offered.bundle, None), BufferDecision::Drop(BundleId(1)));
}

#[test]
fn who_says_that_it_is_congested_gets_no_copies_for_the_rest_of_the_contact() {
    let store = full();
    let at = place(&store, 0, 1.0);
    assert_eq!(acting(DropOldest).state(&at), None);
    let told = acting(Notify).state(&at);
    let (mut smart, replica) = (fresh(1), copy(1, 300));
    smart.on_event(&at, &MechanismEvent::ContactUp { peer: NodeId(4), state: told.as_ref() });
    smart.on_event(&at, &MechanismEvent::ContactUp { peer: NodeId(5), state: None });
    assert!(!smart.may_replicate(&at, &replica, NodeId(4)));
    assert!(smart.may_replicate(&at, &replica, NodeId(5)));
    smart.on_event(&at, &MechanismEvent::ContactDown { peer: NodeId(4) });
    assert!(smart.may_replicate(&at, &replica, NodeId(4)));
}

#[test]
fn a_node_whose_buffer_only_one_action_relieves_comes_to_prefer_that_action() {
    let (full, relieved) = (full(), store_of([copy(1, 300)]));
    let mut smart = fresh(3);
    for period in 1..2000 {
        let store = if smart.action == DropShortestLived { &relieved } else { &full };
        smart.look(&place(store, 0, 60.0 * f64::from(period)));
    }
    let policy = smart.learner.policy(State::Congested);
    assert!(policy[DropShortestLived as usize] > 0.5, "{policy:?}");
}

/// What can happen to a mechanism, in few numbers.
#[derive(Clone, Debug)]
struct Step {
    kind: u8,
    peer: u32,
    seconds: f64,
    size: u64,
    busy: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..8_u8, 0..6_u32, 0.0..200.0_f64, 1..1500_u64, any::<bool>());
    let step = step.prop_map(|(kind, peer, seconds, size, busy)| Step { kind, peer, seconds, size, busy });
    prop::collection::vec(step, 0..150)
}

/// Plays the steps on a buffer that follows the answers; gives all answers.
fn play(steps: &[Step], seed: u64) -> Vec<String> {
    let mut smart = fresh(seed);
    let mut store = store_of([]);
    let links: Vec<Link> = (0..3).map(|peer| neighbour(peer, 400 * u64::from(peer), peer != 1)).collect();
    let (mut log, mut now) = (Vec::new(), 0.0);
    for (id, step) in steps.iter().enumerate() {
        now += step.seconds;
        let (id, peer) = (id as u32, NodeId(step.peer));
        let replica = Replica { sending: u32::from(step.busy), ..copy(id, step.size) };
        let copy = store.clone();
        let at = Local { links: &links, ..place(&copy, 0, now) };
        let told: Option<Table> = step.busy.then(|| [(CONGESTED, f64::NAN)].into_iter().collect());
        match step.kind {
            0 => smart.on_event(&at, &MechanismEvent::ContactUp { peer, state: told.as_ref() }),
            1 => smart.on_event(&at, &MechanismEvent::ContactDown { peer }),
            2 => log.push(format!("{:?}", smart.state(&at))),
            3 => log.push(format!(
                "{:?}",
                smart.admit(&at, &Incoming::Offered(&Offer { replica: &replica, from: peer }))
            )),
            4 => log.push(format!("{:?}", smart.may_replicate(&at, &replica, peer))),
            5 => smart.on_event(
                &at,
                &MechanismEvent::Moved { bundle: &replica.bundle, to: peer, already_had: step.busy },
            ),
            _ => fill(&mut smart, &mut store, &links, now, replica, &mut log),
        }
    }
    log
}

/// Makes room for a copy and stores it, as an agent does.
fn fill(
    smart: &mut SmartDtnCc,
    store: &mut Store,
    links: &[Link],
    now: f64,
    new: Replica,
    log: &mut Vec<String>,
) {
    if new.bundle.size > store.capacity() {
        return;
    }
    loop {
        let before = store.clone();
        let at = Local { links, ..place(&before, 0, now) };
        let drop = match smart.obsolete(&at) {
            None if store.free() >= new.bundle.size => return store.insert(new),
            None => match smart.make_room(&at, &new.bundle, None) {
                BufferDecision::Drop(id) => Some(id),
                BufferDecision::Move { id, .. } => {
                    assert!(before.contains(id), "a copy that is not here");
                    smart.on_event(
                        &at,
                        &MechanismEvent::Moved {
                            bundle: &before.get(id).unwrap().bundle,
                            to: NodeId(2),
                            already_had: false,
                        },
                    );
                    Some(id)
                }
                BufferDecision::Refuse | BufferDecision::Wait => None,
            },
            some => some,
        };
        log.push(format!("{drop:?}"));
        let Some(id) = drop else {
            return assert!(before.oldest_idle().is_none(), "a full buffer with idle copies got no answer");
        };
        let gone = store.remove(id).expect("an answer names a copy that is here");
        smart.on_event(
            &at,
            &MechanismEvent::Dropped {
                bundle: &gone.bundle,
                received: Instant::ZERO,
                reason: DropReason::Overflow,
            },
        );
    }
}

proptest! {
    #[test]
    fn whatever_happens_a_full_buffer_gets_an_answer_and_values_stay_finite(steps in steps(), seed in 0..99_u64) {
        play(&steps, seed);
    }

    #[test]
    fn the_same_seed_makes_the_same_choices(steps in steps(), seed in 0..99_u64) {
        prop_assert_eq!(play(&steps, seed), play(&steps, seed));
    }

    #[test]
    fn values_stay_within_what_rewards_can_sum_to(moves in prop::collection::vec((0..4_usize, 0..4_usize, 0..6_usize), 0..400)) {
        use State::{Congested, Decreasing, NonCongested, Prospective};
        let states = [NonCongested, Decreasing, Prospective, Congested];
        let mut learner = fresh(1).learner;
        for (from, to, action) in moves {
            let actions = states[from].actions();
            learner.learn(states[from], actions[action % actions.len()], states[to]);
        }
        // 1 + 0.8 + 0.64 + ... = 5.
        prop_assert!(learner.values.iter().flatten().all(|value| value.abs() <= 5.0));
        for state in states {
            prop_assert!((learner.policy(state).iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn it_is_built_with_its_defaults_and_needs_to_know_its_neighbours_room() {
    assert_eq!(built_with_properties(&ENTRY, &[]).properties, Needs { neighbours: true, ..Needs::NONE });
}
