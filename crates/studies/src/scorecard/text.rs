//! The scenario file of a network with a controller.

use super::change::AT_ONCE;
use super::controllers::Contestant;
use super::names;
use super::space::{
    Arrival, BUDGET_PACKETS, Company, FILES, Losses, Network, PACKET_BITS, PAYLOAD, Plan, QueueKind, Traffic,
};

/// The flow that is judged.
pub const OURS: &str = "ours";
/// Others of its kind.
pub const PEERS: &str = "peers";
/// Flows of another kind beside it.
pub const BESIDE: &str = "beside";
/// The link that all share.
pub const PATH: &str = "path";
/// A run ends after this number of budgets of packets, acknowledgements included: its senders are out of control.
const SENT_MOST: f64 = 2.5;
/// Samples of a round.
pub const SAMPLES: f64 = 4.0;

/// Rows of (second, bit/s), as the link has them: changes and outages.
pub fn rates(network: &Network) -> Vec<(f64, f64)> {
    let (rate, round_s) = (network.rate_bit_s, network.round_s());
    let rows = network.rate_change.map_or(vec![(0.0, rate)], |change| change.rows(rate, network.rounds));
    interrupted(network, rows).into_iter().map(|(at, rate)| (at * round_s, rate)).collect()
}

/// The same in the other direction, whose rate does not change.
fn rates_back(network: &Network) -> Vec<(f64, f64)> {
    let rows = interrupted(network, vec![(0.0, rate_back(network))]);
    rows.into_iter().map(|(at, rate)| (at * network.round_s(), rate)).collect()
}

/// Its rate, in bit/s.
pub fn rate_back(network: &Network) -> f64 {
    (network.rate_bit_s / network.return_ratio).max(1.0)
}

/// Rows of rounds with outages.
fn interrupted(network: &Network, mut rows: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let Some((every, lasts)) = network.outages else { return rows };
    let mut start = every;
    while start < network.rounds {
        let end = start + lasts;
        let after = rows.iter().rfind(|row| row.0 <= end).map_or(0.0, |row| row.1);
        rows.retain(|row| row.0 < start || row.0 > end);
        let at = rows.partition_point(|row| row.0 < start);
        rows.splice(at..at, [(start, 0.0), (end, after)]);
        start += every;
    }
    // An outage may end where the rate changes.
    rows.dedup_by(|next, kept| {
        let together = next.0 - kept.0 < AT_ONCE / 2.0;
        if together {
            kept.1 = next.1;
        }
        together
    });
    rows
}

/// Points of (second, one-way seconds) between which the delay follows straight lines.
pub fn delays(network: &Network) -> Vec<(f64, f64)> {
    let (half, round_s) = (network.rtt_s / 2.0, network.round_s());
    let points = network.delay_change.map_or(vec![(0.0, half)], |change| change.points(half, network.rounds));
    points.into_iter().map(|(at, delay)| (at * round_s, delay)).collect()
}

/// Mean of the rate over the run, in bit/s.
fn mean_rate(network: &Network) -> f64 {
    let (rows, end) = (rates(network), network.duration_s());
    let ends = rows.iter().skip(1).map(|row| row.0).chain([end]);
    rows.iter().zip(ends).map(|(row, to)| row.1 * (to.min(end) - row.0).max(0.0)).sum::<f64>() / end
}

/// The scenario of a network in which this controller is judged.
pub fn scenario(network: &Network, contestant: &Contestant) -> String {
    let seconds = |value: f64| format!("\"{} s\"", decimal(value));
    let duration = network.duration_s();
    let most = format!("packets_max = {}    # bounds what the run takes\n", SENT_MOST * BUDGET_PACKETS);
    let head = if contestant.is_of_names() { names::HEAD } else { &most };
    let mut text = format!(
        "# A network of the scorecard: {}.\n# {}\n\nname = \"{}\"\nduration = {}\nsample_every = {}\n{}\n[limits]\nevents = 1e12\nmemory = \"1000 GB\"\n",
        contestant.name,
        describe(network),
        network.name,
        seconds(duration),
        seconds(network.round_s() / SAMPLES),
        head,
    );
    text += &link(network);
    if far(network) {
        text += &format!(
            "\n[links.access]    # the others come from farther\nfrom = \"c\"\nto = \"a\"\nrate = {}\ndelay = {}\nqueue = \"1000000 packets\"\n",
            bit_s(20.0 * network.rate_bit_s.max(mean_rate(network))),
            seconds((network.others_rtt - 1.0) * network.rtt_s / 2.0),
        );
    }
    if contestant.is_of_names() {
        return text + &names::people(network, contestant);
    }
    text += &flow(network, contestant);
    text + &others(network, contestant)
}

/// Whether the others have a longer path.
pub fn far(network: &Network) -> bool {
    network.others > 0 && network.others_rtt > 1.0
}

fn link(network: &Network) -> String {
    let mut text = format!("\n[links.{PATH}]\nfrom = \"a\"\nto = \"b\"\nrate = {}\n", rate(&rates(network)));
    text += &format!(
        "delay = {}\nloss = {}\nqueue = {}\n",
        delay(&delays(network)),
        loss(network.loss),
        queue(network)
    );
    if network.jitter_s > 0.0 {
        text += &format!("jitter = \"{} s\"\n", decimal(network.jitter_s));
    }
    if network.reorder > 0.0 {
        let held = decimal(network.rtt_s / 2.0);
        text += &format!("reorder = {{ share = {}, delay = \"{held} s\" }}\n", network.reorder);
    }
    if network.duplicate > 0.0 {
        text += &format!("duplicate = {}\n", network.duplicate);
    }
    let back = network.loss.filter(|_| network.loss_back);
    let rate = rate(&rates_back(network));
    text + &format!("back = {{ rate = {rate}, loss = {}, queue = \"100 packets\" }}\n", loss(back))
}

fn rate(rows: &[(f64, f64)]) -> String {
    if let [(_, rate)] = rows {
        return bit_s(*rate);
    }
    let row = |row: &(f64, f64)| format!("{{ at = \"{} s\", rate = {} }}", decimal(row.0), bit_s(row.1));
    format!("{{ steps = [\n    {},\n] }}", rows.iter().map(row).collect::<Vec<_>>().join(",\n    "))
}

fn delay(points: &[(f64, f64)]) -> String {
    if let [(_, delay)] = points {
        return format!("\"{} s\"", decimal(*delay));
    }
    let row =
        |row: &(f64, f64)| format!("{{ at = \"{} s\", delay = \"{} s\" }}", decimal(row.0), decimal(row.1));
    format!("{{ steps = [\n    {},\n] }}", points.iter().map(row).collect::<Vec<_>>().join(",\n    "))
}

fn loss(losses: Option<Losses>) -> String {
    match losses {
        None => "0.0".into(),
        Some(Losses { share, burst: None }) => share.to_string(),
        // All packets of the bad state are lost, and the share is that of the time in it.
        Some(Losses { share, burst: Some(burst) }) => {
            let to_bad = share / (1.0 - share) / burst;
            let (to_bad, to_good) = (to_bad.min(1.0), 1.0 / burst);
            format!(
                "{{ model = \"gilbert_elliott\", to_bad = {to_bad:.9}, to_good = {to_good:.9}, good = 0.0, bad = 1.0 }}"
            )
        }
    }
}

fn queue(network: &Network) -> String {
    let packets = network.queue_packets;
    let QueueKind::CoDel(mark) = network.queue else { return format!("\"{packets} packets\"") };
    // A target of a twentieth of the round trip, as 5 ms are of 100 ms, and of a packet and a half at least.
    let interval = network.rtt_s.max(0.1);
    let target = (interval / 20.0).max(1.5 * PACKET_BITS / network.rate_bit_s);
    let interval = interval.max(20.0 * target);
    let [target, interval] = [target, interval].map(decimal);
    format!(
        "{{ discipline = \"codel\", limit = \"{packets} packets\", target = \"{target} s\", interval = \"{interval} s\", mark = {mark} }}"
    )
}

fn flow(network: &Network, contestant: &Contestant) -> String {
    let size = match network.traffic {
        Traffic::Endless => String::new(),
        Traffic::File(size) => format!("size = \"{size} B\"\n"),
        Traffic::Files(size) => {
            let apart = decimal(0.1 * network.duration_s());
            format!("size = \"{size} B\"\ncount = {FILES}\napart = \"{apart} s\"\n")
        }
    };
    format!("\n[flows.{OURS}]\nfrom = \"a\"\nto = \"b\"\n{}\n{}", keys(network, contestant), size)
}

/// Lines of a flow of a contestant.
fn keys(network: &Network, contestant: &Contestant) -> String {
    let mean = mean_rate(network);
    let planned = match network.plan {
        _ if !contestant.is_planned => return contestant.keys.to_owned(),
        Plan::Right => "\"plan\"".to_owned(),
        Plan::Half => bit_s(mean / 2.0),
        Plan::Double => bit_s(mean * 2.0),
        Plan::Absent => "\"unknown\"".to_owned(),
    };
    format!("{}\nplanned_rate = {planned}", contestant.keys)
}

fn others(network: &Network, contestant: &Contestant) -> String {
    let (name, keys) = match network.company {
        Company::Alone => return String::new(),
        Company::Own => (PEERS, keys(network, contestant)),
        Company::Tcp(name) => (BESIDE, format!("controller = \"{name}\"")),
    };
    let from = if far(network) { "c" } else { "a" };
    let mut text =
        format!("\n[flows.{name}]\nfrom = \"{from}\"\nto = \"b\"\n{keys}\ncount = {}\n", network.others);
    match network.arrival {
        Arrival::Together => {}
        Arrival::Apart(rounds) => text += &format!("apart = \"{} s\"\n", decimal(rounds * network.round_s())),
        Arrival::Visit => text += &format!("start = \"{} s\"\n", decimal(visit(network).0)),
    }
    if network.company == Company::Own {
        if network.arrival == Arrival::Visit {
            text += &format!("size = \"{} B\"\n", bytes_of_visit(network));
        }
        return text;
    }
    if network.arrival == Arrival::Visit {
        text += &format!("stop = \"{} s\"\n", decimal(visit(network).1));
    }
    if let Some(rounds) = network.on_off {
        let span = decimal(rounds * network.round_s());
        let rate = bit_s(network.rate_bit_s / 2.0);
        text += &format!(
            "on = {{ exponential = \"{span} s\" }}\noff = {{ exponential = \"{span} s\" }}\nrate = {rate}\n"
        );
    }
    text
}

/// Seconds of the start and of the end of a visit.
pub fn visit(network: &Network) -> (f64, f64) {
    (0.25 * network.duration_s(), 0.6 * network.duration_s())
}

/// What a fair share carries in the time of a visit.
pub fn bytes_of_visit(network: &Network) -> f64 {
    let bits = 0.35 * network.duration_s() * mean_rate(network) * PAYLOAD / f64::from(1 + network.others);
    (bits / 8.0).round().max(1e3)
}

/// A rate in whole bits a second.
fn bit_s(rate: f64) -> String {
    let whole = if rate == 0.0 { 0.0 } else { rate.round().max(1.0) };
    format!("\"{whole} bit/s\"")
}

/// A number without an exponent: nanoseconds, and no more digits than needed.
pub fn decimal(value: f64) -> String {
    let text = format!("{value:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A network in one line.
pub fn describe(network: &Network) -> String {
    let mut parts = vec![
        format!("{}, RTT {}", rate_text(network.rate_bit_s), time_text(network.rtt_s)),
        match network.queue {
            QueueKind::DropTail => format!("queue of {} packets", network.queue_packets),
            QueueKind::CoDel(mark) => format!("CoDel{}", if mark { " that marks" } else { "" }),
        },
    ];
    parts.extend((network.scaled > 1.0).then(|| format!("rate scaled down {:.3} times", network.scaled)));
    parts.extend(network.loss.map(|loss| {
        let burst = loss.burst.map_or(String::new(), |burst| format!(" in bursts of {burst}"));
        format!(
            "loss {} %{burst}{}",
            short(100.0 * loss.share),
            if network.loss_back { ", both directions" } else { "" }
        )
    }));
    parts.extend((network.return_ratio > 1.0).then(|| format!("return rate 1:{}", network.return_ratio)));
    let changes = [("rate", network.rate_change), ("delay", network.delay_change)];
    parts.extend(changes.into_iter().filter_map(|(what, change)| {
        let change = change?;
        Some(format!("{what} {} x{} ({} rounds)", change.shape.name(), change.factor, change.rounds))
    }));
    parts.extend((network.jitter_s > 0.0).then(|| format!("jitter {}", time_text(network.jitter_s))));
    parts.extend(network.outages.map(|(every, lasts)| format!("outages of {lasts} rounds every {every}")));
    parts.extend((network.reorder > 0.0).then(|| format!("{} % reordered", short(100.0 * network.reorder))));
    parts.extend((network.duplicate > 0.0).then(|| format!("{} % twice", short(100.0 * network.duplicate))));
    parts.extend(match network.traffic {
        Traffic::Endless => None,
        Traffic::File(size) => Some(format!("a file of {} kB", short(size / 1e3))),
        Traffic::Files(size) => Some(format!("{FILES} files of {} kB", short(size / 1e3))),
    });
    parts.extend(company_text(network));
    parts.push(format!("plan {}", format!("{:?}", network.plan).to_lowercase()));
    parts.join("; ")
}

fn company_text(network: &Network) -> Option<String> {
    let of = match network.company {
        Company::Alone => return None,
        Company::Own => "of its kind",
        Company::Tcp(name) => name,
    };
    let far = if far(network) { format!(" at {} RTT", network.others_rtt) } else { String::new() };
    let arrival = match network.arrival {
        Arrival::Together => String::new(),
        Arrival::Apart(rounds) => format!(", {rounds} rounds apart"),
        Arrival::Visit => ", which come and leave".into(),
    };
    let on_off = network.on_off.map_or(String::new(), |rounds| format!(", on and off for {rounds} rounds"));
    Some(format!("beside {} {of}{far}{arrival}{on_off}", network.others))
}

/// Three digits.
pub fn short(value: f64) -> String {
    lightlag_lab::results::number((value * 1000.0).round() / 1000.0)
}

/// A rate with its unit.
pub fn rate_text(bit_s: f64) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (0.0, "bit/s")];
    let (scale, unit) = units.into_iter().find(|unit| bit_s >= unit.0).unwrap_or((1.0, "bit/s"));
    format!("{} {unit}", short(bit_s / if scale > 0.0 { scale } else { 1.0 }))
}

/// A time with its unit.
pub fn time_text(seconds: f64) -> String {
    if seconds >= 1.0 { format!("{} s", short(seconds)) } else { format!("{} ms", short(seconds * 1e3)) }
}
