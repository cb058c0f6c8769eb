//! A daemon's state as its owner reads it.

use super::status::{ConnectionStatus, PeerStatus, Status};
use std::fmt::Write;

/// Switches that are shown.
const SHOWN: usize = 5;

/// Some lines for each of the others, and one for each connection.
pub fn text(status: &Status) -> String {
    let mut out = format!("lightlagd {}, {}, up {}\n", status.version, status.key, span(status.age_s));
    let memory = &status.memory;
    let _ = writeln!(
        out,
        "memory of connections: {} of {}, room for {} connections",
        size(memory.used),
        size(memory.limit),
        memory.connections_max
    );
    if let Some(why) = &status.trouble {
        let _ = writeln!(out, "what durable connections accept cannot be stored, and waits: {why}");
    }
    for lost in &status.lost {
        let _ = writeln!(out, "lost: {lost}");
    }
    let (now, ever) = status.direct;
    if ever > 0 {
        let _ = writeln!(
            out,
            "{now} of {ever} connections go by plain TCP: no other daemon reaches their targets"
        );
    }
    status.peers.iter().for_each(|peer| of_peer(&mut out, peer));
    out
}

fn of_peer(out: &mut String, peer: &PeerStatus) {
    let _ = writeln!(out, "\n{}: by {} for {}: {}", peer.name, peer.stack, span(peer.since_s), peer.why);
    match &peer.tcp {
        Some(tcp) => {
            let rate = size(tcp.delivery_rate);
            let _ = writeln!(out, "  tcp     round trip {}, {rate}/s", span(tcp.round_trip_s));
        }
        None => {
            let why = peer.tcp_trouble.as_ref().map_or(String::new(), |why| format!(": {why}"));
            let _ = writeln!(out, "  tcp     not connected{why}");
        }
    }
    match &peer.udpdtn {
        Some(udpdtn) => {
            let round_trip = udpdtn.round_trip_s.map_or("unknown".to_owned(), span);
            let heard =
                udpdtn.heard_s.map_or("never heard".to_owned(), |ago| format!("heard {} ago", span(ago)));
            let _ = writeln!(out, "  udpdtn  round trip {round_trip}, {heard}, at {}", udpdtn.address);
        }
        None => out.push_str("  udpdtn  no address\n"),
    }
    let of_other_version = peer.refused_datagrams.of_other_version;
    if of_other_version > 0 {
        let _ = writeln!(
            out,
            "  {of_other_version} datagrams of another version of the protocol: run the same lightlagd on both"
        );
    }
    if peer.switches > 0 {
        let many = if peer.switches == 1 { "switch" } else { "switches" };
        let _ = writeln!(out, "  {} {many}; what carried them, the last first:", peer.switches);
        for (ago, stack, why) in peer.history.iter().rev().take(SHOWN) {
            let _ = writeln!(out, "    {:>9} ago  {stack:<6}  {why}", span(*ago));
        }
    }
    if peer.connections.is_empty() {
        out.push_str("  no connections\n");
        return;
    }
    let heads = ["connection", "target", "state", "stack", "prio", "delivered", "backlog", "received", "age"];
    let rows: Vec<[String; 9]> = peer.connections.iter().map(row).collect();
    let width = |at: usize| rows.iter().map(|row| row[at].len()).chain([heads[at].len()]).max().unwrap_or(0);
    let widths: [usize; 9] = std::array::from_fn(width);
    let mut line = |cells: [&str; 9]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        let whole = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(out, "  {}", whole.trim_end());
    };
    line(heads);
    rows.iter().for_each(|row| line(std::array::from_fn(|at| row[at].as_str())));
}

fn row(one: &ConnectionStatus) -> [String; 9] {
    let state = if one.durable { format!("{}, durable", one.state) } else { one.state.clone() };
    let sizes = [one.delivered, one.backlog, one.received].map(size);
    let [delivered, backlog, received] = sizes;
    let age = span(one.age_s);
    let (id, target, stack) = (one.id.clone(), one.target.clone(), one.stack.clone());
    [id, target, state, stack, one.priority.to_string(), delivered, backlog, received, age]
}

fn size(bytes: u64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let unit = units.iter().find(|(_, factor)| bytes as f64 >= *factor);
    unit.map_or_else(|| format!("{bytes} B"), |(unit, factor)| format!("{:.1} {unit}", bytes as f64 / factor))
}

fn span(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
