//! The very trajectories of The ONE: 50 nodes on random waypoint for four hours, direct delivery,
//! against the figures that The ONE reported for the same settings.
//!
//! With direct delivery a message arrives when its two nodes meet, so a single node that is out of
//! place for a moment shows in the mean latency. The test carries its own small copy of traffic and
//! transfer (sections 5.1, 5.2, 5.4 and 5.7 of the reference), and shares none of it with the rest.

use crate::skip::reference;
use java_random::Random;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_worlds::contacts::kinetic::{Encounter, Radio, encounters};
use lightlag_worlds::mobility::{Area, Bounds, Draws, Fleet, Group, Initial, RandomWaypoint};
use std::collections::BTreeSet;
use std::sync::Arc;

const NODES: usize = 50;
const END_S: f64 = 14_400.0;
const TICK_S: f64 = 0.1;
const SPEED_BYTES_PER_S: f64 = 312_500.0;
const BUFFER_BYTES: i64 = 500_000;

#[derive(Clone, Debug)]
struct Message {
    from: usize,
    to: usize,
    bytes: i64,
    created_s: f64,
}

/// What The ONE's message generator makes of `prefix`, interval 1,300, size 50k,100k, hosts 0,50.
fn traffic(prefix: &str) -> Vec<Message> {
    let seed = prefix.bytes().fold(0_i32, |h, b| h.wrapping_mul(31).wrapping_add(i32::from(b)));
    let mut random = Random::with_seed(i64::from(seed) as u64);
    let mut at = 1 + random.next_int_n(299);
    let mut messages = Vec::new();
    while f64::from(at) <= END_S {
        let from = random.next_int_n(NODES as i32) as usize;
        let to = loop {
            let to = random.next_int_n(NODES as i32) as usize;
            if to != from {
                break to;
            }
        };
        let bytes = i64::from(50_000 + random.next_int_n(50_000));
        messages.push(Message { from, to, bytes, created_s: f64::from(at) });
        at += 1 + random.next_int_n(299);
    }
    messages
}

fn meetings(rng_seed: i32, messages: &[Message]) -> Vec<Encounter> {
    let model = RandomWaypoint {
        area: Area::new(1000.0, 1000.0),
        speed_m_per_s: Bounds::new(0.5, 1.5),
        pause_s: Bounds::new(0.0, 120.0),
        initial: Initial::Uniform,
    };
    let tick = Some(Duration::from_secs_f64(TICK_S));
    let fleet = Fleet {
        draws: Draws::TheOne { rng_seed },
        tick,
        clock_stops: messages.iter().map(|m| Instant::from_secs_f64(m.created_s)).collect(),
        ..Fleet::new(vec![Group::new(NODES as u32, Arc::new(model))], 0)
    };
    let radios = vec![vec![Radio { class: 0, range_m: 150.0 }]; NODES];
    let mut walk = fleet.walk().expect("sound parameters");
    encounters(&mut walk, &radios, Instant::from_secs_f64(END_S), tick)
}

/// A transfer in progress.
struct Transfer {
    message: usize,
    done_s: f64,
}

#[derive(Default)]
struct Network {
    messages: Vec<Message>,
    links: BTreeSet<(usize, usize)>,
    stores: Vec<Vec<usize>>,
    transfers: Vec<Transfer>,
    delivered: BTreeSet<usize>,
    latencies_s: Vec<f64>,
    dropped: u32,
}

impl Network {
    fn linked(&self, a: usize, b: usize) -> bool {
        self.links.contains(&(a.min(b), a.max(b)))
    }
    fn busy(&self, node: usize) -> bool {
        self.transfers.iter().any(|t| {
            let m = &self.messages[t.message];
            m.from == node || m.to == node
        })
    }
    fn make_room(&mut self, node: usize, bytes: i64) {
        let used = |n: &Self| n.stores[node].iter().map(|&m| n.messages[m].bytes).sum::<i64>();
        while used(self) + bytes > BUFFER_BYTES {
            let sending = |m: usize| self.transfers.iter().any(|t| t.message == m);
            let Some(oldest) = self.stores[node].iter().position(|&m| !sending(m)) else { return };
            self.stores[node].remove(oldest);
            self.dropped += 1;
        }
    }
    fn create(&mut self, message: usize) {
        let Message { from, bytes, .. } = self.messages[message];
        self.make_room(from, bytes);
        self.stores[from].push(message);
    }
    /// All nodes that have something to do. The ONE takes them in a random order, which decides only
    /// between transfers that begin at the same moment.
    fn update(&mut self, now_s: f64) {
        let ready = |m: usize| {
            let Message { from, to, .. } = self.messages[m];
            !self.delivered.contains(&m) && self.linked(from, to)
        };
        if self.transfers.is_empty() && !self.stores.iter().flatten().any(|&m| ready(m)) {
            return;
        }
        for node in 0..NODES {
            self.finish(node, now_s);
            self.start(node, now_s);
        }
    }
    fn finish(&mut self, node: usize, now_s: f64) {
        for i in (0..self.transfers.len()).rev() {
            let Transfer { message, done_s } = self.transfers[i];
            let Message { from, to, created_s, .. } = self.messages[message];
            if from != node {
                continue;
            }
            if ((done_s - now_s) * SPEED_BYTES_PER_S) as i32 <= 0 {
                self.transfers.remove(i);
                self.delivered.insert(message);
                self.latencies_s.push(now_s - created_s);
            } else if !self.linked(from, to) {
                self.transfers.remove(i);
            }
        }
    }
    /// What this node has for a neighbour first, then what a neighbour has for it.
    fn start(&mut self, node: usize, now_s: f64) {
        if self.busy(node) || self.stores[node].is_empty() {
            return;
        }
        let own = self.stores[node].iter().copied();
        let others = self.stores.iter().flatten().copied().filter(|&m| self.messages[m].to == node);
        let next = own.chain(others).find(|&m| {
            let Message { from, to, .. } = self.messages[m];
            let free = !self.busy(if from == node { to } else { from });
            free && !self.delivered.contains(&m) && self.linked(from, to)
        });
        if let Some(message) = next {
            let Message { to, bytes, .. } = self.messages[message];
            self.make_room(to, bytes);
            self.transfers.push(Transfer { message, done_s: now_s + bytes as f64 / SPEED_BYTES_PER_S });
        }
    }
}

/// Runs The ONE's loop over ticks and messages.
fn run(seed: i32) -> Network {
    let messages = traffic(&format!("M{seed}_"));
    let met = meetings(seed, &messages);
    let mut network = Network { messages, stores: vec![Vec::new(); NODES], ..Network::default() };
    let mut ends: Vec<&Encounter> = met.iter().collect();
    ends.sort_by_key(|e| e.end);
    let (mut up, mut down, mut next) = (0, 0, 0);
    let (mut clock_s, mut tick) = (0.0, 0);
    while clock_s < END_S {
        let until_s = clock_s + TICK_S;
        while next < network.messages.len() && network.messages[next].created_s <= until_s {
            network.create(next);
            network.update(network.messages[next].created_s);
            next += 1;
        }
        tick += 1;
        let now = Instant::from_nanos(tick * 100_000_000);
        while up < met.len() && met[up].start <= now {
            network.links.insert((met[up].a.0 as usize, met[up].b.0 as usize));
            up += 1;
        }
        while down < ends.len() && ends[down].end <= now {
            network.links.remove(&(ends[down].a.0 as usize, ends[down].b.0 as usize));
            down += 1;
        }
        clock_s = until_s;
        network.update(clock_s);
    }
    network
}

#[test]
fn direct_delivery_gives_the_figures_of_the_one() {
    let Some(file) = reference("the-one/results.csv") else { return };
    let results = std::fs::read_to_string(file).expect("readable results");
    let rows: Vec<Vec<&str>> = results.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|c| *c == name).expect("a column of the results");
    for row in rows.iter().filter(|row| row[0] == "rwp_direct") {
        let network = run(row[1].parse().expect("a seed"));
        let mean_s = network.latencies_s.iter().sum::<f64>() / network.latencies_s.len() as f64;
        let found = [
            network.messages.len().to_string(),
            network.dropped.to_string(),
            network.latencies_s.len().to_string(),
            format!("{mean_s:.4}"),
        ];
        let expected = ["created", "dropped", "delivered", "latency_avg"].map(|name| row[column(name)]);
        assert_eq!(found, expected, "created, dropped, delivered and mean latency of seed {}", row[1]);
    }
}
