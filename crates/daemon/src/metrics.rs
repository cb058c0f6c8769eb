//! Figures for Prometheus, in the text of OpenMetrics.

use super::status::{DatagramsStatus, PeerStatus, Status};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use std::sync::atomic::AtomicU64;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    peer: String,
    stack: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Of {
    peer: String,
}

type Figures = Family<Labels, Gauge<f64, AtomicU64>>;

/// All figures of a daemon.
pub fn text(status: &Status) -> String {
    let mut registry = Registry::with_prefix("lightlagd");
    let age = Gauge::<f64, AtomicU64>::default();
    age.set(status.age_s);
    registry.register_with_unit("age", "Since it began", Unit::Seconds, age);
    let stored = Gauge::<f64, AtomicU64>::default();
    stored.set(status.custody as f64);
    registry.register("custody_bytes", "What durable connections have stored", stored);
    for (name, help, bytes) in [
        (
            "memory_bytes",
            "Memory that connections have, or may have by advertised windows",
            status.memory.used,
        ),
        ("memory_limit_bytes", "Memory that connections may have: [limits] memory", status.memory.limit),
    ] {
        let memory = Gauge::<f64, AtomicU64>::default();
        memory.set(bytes as f64);
        registry.register(name, help, memory);
    }
    let waits = Gauge::<f64, AtomicU64>::default();
    waits.set(f64::from(u8::from(status.trouble.is_some())));
    registry.register("custody_waits", "Whether what they accept cannot be stored now", waits);
    let mut family = |name: &str, help: &str, of: &dyn Fn(&PeerStatus, &Figures)| {
        let figures = Figures::default();
        status.peers.iter().for_each(|peer| of(peer, &figures));
        registry.register(name, help, figures);
    };
    let labels = |peer: &PeerStatus, stack: &str| Labels { peer: peer.name.clone(), stack: stack.to_owned() };
    let of_stack = |peer: &PeerStatus, stack: &str| {
        peer.connections.iter().filter(|one| one.stack == stack).cloned().collect::<Vec<_>>()
    };
    let stacks = || super::stack::STACKS.iter().map(|(_, name)| *name);
    family("carries", "Whether this stack carries most connections", &|peer, figures| {
        stacks().for_each(|name| {
            figures.get_or_create(&labels(peer, name)).set(f64::from(u8::from(peer.stack == name)));
        });
    });
    family("connections", "Connections", &|peer, figures| {
        stacks().for_each(|name| {
            figures.get_or_create(&labels(peer, name)).set(of_stack(peer, name).len() as f64);
        });
    });
    family("backlog_bytes", "Bytes that are not acknowledged", &|peer, figures| {
        stacks().for_each(|name| {
            let bytes: u64 = of_stack(peer, name).iter().map(|one| one.backlog).sum();
            figures.get_or_create(&labels(peer, name)).set(bytes as f64);
        });
    });
    family("round_trip_seconds", "The last or smoothed round trip", &|peer, figures| {
        let tcp = peer.tcp.as_ref().map(|tcp| tcp.round_trip_s);
        let udpdtn = peer.udpdtn.as_ref().and_then(|udpdtn| udpdtn.round_trip_s);
        for (name, known) in [("tcp", tcp), ("udpdtn", udpdtn)] {
            if let Some(known) = known {
                figures.get_or_create(&labels(peer, name)).set(known);
            }
        }
    });
    count(&mut registry, status);
    let mut text = String::new();
    encode(&mut text, &registry).expect("a text can be written to");
    text
}

/// What only grows.
fn count(registry: &mut Registry, status: &Status) {
    let peers = || status.peers.iter();
    let mut by_stack = |name: &str, help: &str, of: &dyn Fn(&PeerStatus) -> Vec<(String, u64)>| {
        let family = Family::<Labels, Counter>::default();
        for (peer, (stack, count)) in
            peers().flat_map(|peer| of(peer).into_iter().map(move |one| (peer, one)))
        {
            family.get_or_create(&Labels { peer: peer.name.clone(), stack }).inc_by(count);
        }
        registry.register(name, help, family);
    };
    let bytes = |peer: &PeerStatus, of: fn(&(String, u64, u64)) -> u64| {
        peer.bytes.iter().map(|one| (one.0.clone(), of(one))).collect()
    };
    let datagrams = |peer: &PeerStatus, of: fn(&DatagramsStatus) -> u64| {
        peer.udpdtn.iter().map(|one| ("udpdtn".to_owned(), of(one))).collect()
    };
    by_stack("sent_bytes", "Bytes of frames that left, repeated ones included", &|peer| {
        bytes(peer, |one| one.1)
    });
    by_stack("received_bytes", "Bytes of frames that came", &|peer| bytes(peer, |one| one.2));
    by_stack("sent_datagrams", "Datagrams that left", &|peer| datagrams(peer, |one| one.left));
    by_stack("received_datagrams", "Datagrams that came and were authentic", &|peer| {
        datagrams(peer, |one| one.came)
    });
    by_stack("lost_datagrams", "Datagrams that were given up for lost", &|peer| {
        datagrams(peer, |one| one.given_up)
    });
    by_stack(
        "retransmissions",
        "TCP segments sent again, and datagrams whose frames were sent again",
        &|peer| {
            let mut all = vec![("tcp".to_owned(), peer.retransmitted)];
            all.extend(datagrams(peer, |one| one.given_up));
            all
        },
    );
    let mut by_peer = |name: &str, help: &str, of: &dyn Fn(&PeerStatus) -> u64| {
        let family = Family::<Of, Counter>::default();
        for peer in peers() {
            family.get_or_create(&Of { peer: peer.name.clone() }).inc_by(of(peer));
        }
        registry.register(name, help, family);
    };
    by_peer("switches", "Switches between stacks", &|peer| peer.switches);
    by_peer("opened_connections", "Connections that applications here have opened", &|peer| peer.opened.0);
    by_peer("accepted_connections", "Connections that the peer has opened", &|peer| peer.opened.1);
    by_peer(
        "refused_connections",
        "Connections of the peer whose target `serve` or `deny` refuses",
        &|peer| peer.refused,
    );
    let refused = Counter::<u64>::default();
    refused.inc_by(status.intruders);
    registry.register("refused_applications", "Applications without the right password", refused);
    let direct = Counter::<u64>::default();
    direct.inc_by(status.direct.1);
    registry.register("direct_connections", "Connections by plain TCP", direct);
}
