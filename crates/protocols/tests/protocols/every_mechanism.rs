//! Every mechanism with every router that it allows, in a small network whose driver may do anything
//! that is legal.

use crate::network::{Terms, any, busy_steps, extremes, plain, run, usual_terms};
use lightlag_protocols::dtn::{Entry, Mechanism, mechanisms, routers};
use proptest::prelude::*;

fn allowed(entry: &Entry<dyn Mechanism>) -> impl Iterator<Item = &'static str> {
    let only = entry.only_with;
    routers::TABLE.iter().map(|router| router.name).filter(move |name| only.is_empty() || only.contains(name))
}

proptest! {
    #![proptest_config(crate::network::cases(64))]

    #[test]
    fn no_mechanism_breaks_a_legal_world(steps in any::steps(), terms in any::terms()) {
        for entry in mechanisms::TABLE {
            for router in allowed(entry) {
                run(&plain(router), &plain(entry.name), terms, &steps, |_| {});
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_events(steps in any::steps(), terms in any::terms()) {
        for entry in mechanisms::TABLE {
            let twice = [(); 2].map(|()| run(&plain("epidemic"), &plain(entry.name), terms, &steps, |_| {}).log);
            prop_assert_eq!(&twice[0], &twice[1], "{}", entry.name);
        }
    }
}

#[test]
fn every_mechanism_runs_at_the_ends_of_its_parameters() {
    for entry in mechanisms::TABLE {
        for choice in extremes(entry) {
            run(&plain("epidemic"), &choice, usual_terms(), &busy_steps(7, 400), |_| {});
        }
    }
}

#[test]
fn every_mechanism_delivers_some_of_a_busy_life() {
    for entry in mechanisms::TABLE {
        let network =
            run(&plain("epidemic"), &plain(entry.name), usual_terms(), &busy_steps(3, 1000), |_| {});
        let (delivered, created) = (network.deliveries(), network.bundles().count());
        // ION drops nothing: the copies of epidemic routing stay in its buffers until their lifetimes end.
        let least = if entry.name == "ion_forecast" { 0 } else { created / 5 };
        assert!(delivered > least, "{}: {delivered} of {created}", entry.name);
    }
}

#[test]
fn storage_routing_moves_copies_asks_them_back_and_lets_new_bundles_wait() {
    let terms = Terms { one_radio: false, delay_s: 30, ..usual_terms() };
    let log = run(&plain("direct"), &plain("storage_routing"), terms, &busy_steps(3, 1000), |_| {}).log;
    let count = |what: &str| log.iter().filter(|line| line.contains(what)).count();
    for (what, least) in [("Custody", 50), ("Waiting", 10), ("back from", 10), ("HandedOver", 50)] {
        assert!(count(what) >= least, "{what}: {}", count(what));
    }
}

#[test]
fn every_router_that_a_mechanism_insists_on_exists() {
    for entry in mechanisms::TABLE {
        let known = |name: &&str| routers::TABLE.iter().any(|router| router.name == *name);
        assert!(entry.only_with.iter().all(known), "{}", entry.name);
    }
}

#[test]
fn every_mechanism_has_one_name_and_a_page() {
    crate::network::tidy::tidy("mechanisms", mechanisms::TABLE);
}
