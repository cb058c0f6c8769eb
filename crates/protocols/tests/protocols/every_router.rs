//! Every router in a small network whose driver may do anything that is legal.

use crate::network::{Choice, Network, any, busy_steps, extremes, plain, run, usual_terms};
use lightlag_protocols::dtn::{BundleId, TransferKind, Value, routers};
use proptest::prelude::*;

fn copies(network: &Network, id: BundleId) -> usize {
    let stored = network.agents().filter(|agent| agent.store().contains(id)).count();
    stored + network.transits().filter(|p| p.bundle.id == id && p.kind != TransferKind::Delivery).count()
}
fn marks(network: &Network, id: BundleId) -> u64 {
    let stored = network.agents().filter_map(|agent| agent.store().get(id)).map(|r| r.router_mark);
    let moving = network.transits().filter(|p| p.bundle.id == id && p.kind != TransferKind::Delivery);
    stored.sum::<u64>() + moving.map(|p| p.router_mark).sum::<u64>()
}
/// Few enough copies that nodes of this small network are often down to the last.
const FEW: u64 = 3;

fn choice(router: &'static str) -> Choice<'static> {
    let given = (router == "spray_and_wait").then(|| ("copies".to_owned(), Value::from(FEW as f64)));
    (router, given.into_iter().collect())
}

/// What a router promises of the copies of a bundle.
fn check(router: &str, network: &Network) {
    for id in network.bundles() {
        match router {
            "direct" | "first_contact" | "contact_graph" => {
                assert!(copies(network, id) <= 1, "{router} keeps a single copy")
            }
            "spray_and_wait" => {
                assert!(marks(network, id) <= FEW, "what may be handed out is never more than at the source");
                assert!(copies(network, id) <= FEW as usize);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(crate::network::cases(64))]

    #[test]
    fn no_router_breaks_a_legal_world(steps in any::steps(), terms in any::terms()) {
        for entry in routers::TABLE {
            // A mechanism that moves copies is the hardest company for routers that count them.
            for mechanism in ["none", "storage_routing"] {
                run(&choice(entry.name), &plain(mechanism), terms, &steps, |network| check(entry.name, network));
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_events(steps in any::steps(), terms in any::terms()) {
        for entry in routers::TABLE {
            let twice = [(); 2].map(|()| run(&plain(entry.name), &plain("none"), terms, &steps, |_| {}).log);
            prop_assert_eq!(&twice[0], &twice[1], "{}", entry.name);
        }
    }
}

#[test]
fn every_router_runs_at_the_ends_of_its_parameters() {
    for entry in routers::TABLE {
        for choice in extremes(entry) {
            run(&choice, &plain("none"), usual_terms(), &busy_steps(7, 400), |_| {});
        }
    }
}

#[test]
fn every_router_delivers_some_of_a_busy_life() {
    // Who is passive delivers nothing.
    for entry in routers::TABLE.iter().filter(|entry| entry.name != "passive") {
        let network = run(&plain(entry.name), &plain("none"), usual_terms(), &busy_steps(3, 1000), |_| {});
        let (delivered, created) = (network.deliveries(), network.bundles().count());
        assert!(delivered * 5 > created, "{}: {delivered} of {created}", entry.name);
    }
}

#[test]
fn every_router_has_one_name_and_a_page() {
    crate::network::tidy::tidy("routers", routers::TABLE);
}
