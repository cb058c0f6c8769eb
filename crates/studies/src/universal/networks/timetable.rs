//! Contacts that repeat, or come at random for each pair, without a plan that nodes know.

use super::{Draw, Group, Layout};
use lightlag_protocols::math;
use std::fmt::Write as _;

/// Contacts of one table.
#[derive(Default)]
pub struct Rows {
    text: String,
    /// Number of contacts.
    pub count: u32,
    /// Seconds of all contacts together.
    pub seconds: f64,
}

impl Rows {
    /// Adds a contact of two nodes; times in s.
    pub fn push(&mut self, a: &str, b: &str, start: f64, lasts: f64) {
        self.count += 1;
        self.seconds += lasts;
        let end = start + lasts;
        let _ = writeln!(
            self.text,
            "  {{ a = \"{a}\", b = \"{b}\", start = \"{start:.1} s\", end = \"{end:.1} s\" }},"
        );
    }
    /// The table `[contacts.NAME]` with these further lines.
    pub fn table(&self, name: &str, lines: &str) -> String {
        format!("[contacts.{name}]\nkind = \"table\"\n{lines}\nrows = [\n{}]\n\n", self.text)
    }
}

fn layout(draw: &mut Draw, described: String, groups: Vec<Group>, rows: &Rows, duration_s: f64) -> Layout {
    let rate_bit_s = draw.log(3e4, 1e7);
    let nodes: u32 = groups.iter().map(|group| group.count).sum();
    Layout {
        described,
        groups,
        contacts: rows.table("met", &format!("plan = false\nrate = \"{rate_bit_s} bit/s\"")),
        duration_s,
        rate_bit_s,
        contact_s: rows.seconds / f64::from(rows.count.max(1)),
        capacity_bytes: rows.seconds * rate_bit_s / 8.0,
        contacts_of_node: 2.0 * f64::from(rows.count) / f64::from(nodes),
        planned: false,
        radio: draw.pick(&["node", "link"]),
        contacts_fail: 0.0,
    }
}

/// Vehicles that go round their stops.
struct Line {
    /// Number of the first vehicle.
    first: u32,
    vehicles: u32,
    /// Numbers of the stops in their order.
    stops: Vec<u32>,
    /// Duration of a round.
    round_s: f64,
    /// Time at a stop.
    stop_s: f64,
    /// Greatest delay of an arrival.
    late_s: f64,
}

impl Line {
    fn drive(&self, draw: &mut Draw, duration_s: f64, rows: &mut Rows) {
        for vehicle in 0..self.vehicles {
            let phase_s = self.round_s * f64::from(vehicle) / f64::from(self.vehicles);
            self.drive_one(draw, &format!("vehicle{}", self.first + vehicle), (phase_s, duration_s), rows);
        }
    }
    fn drive_one(&self, draw: &mut Draw, name: &str, (phase_s, duration_s): (f64, f64), rows: &mut Rows) {
        let leg_s = self.round_s / self.stops.len() as f64;
        let mut free = 0.0;
        for (step, stop) in (0_u32..).zip(self.stops.iter().cycle()) {
            let due = f64::from(step) * leg_s - phase_s;
            if due > duration_s {
                break;
            }
            let at = (due + draw.between(0.0, 1.0) * self.late_s).max(free);
            free = at + self.stop_s;
            if at >= 0.0 && free < duration_s {
                rows.push(name, &format!("stop{stop}"), at, self.stop_s);
            }
        }
    }
}

/// Lines of buses with some stops in common.
pub fn bus_lines(draw: &mut Draw) -> Layout {
    let (stops, lines) = (draw.whole(6, 40), draw.whole(2, 8));
    let duration_s = draw.log(14_400.0, 86_400.0);
    let (round_s, stop_s) = (draw.log(900.0, 7200.0), draw.log(10.0, 120.0));
    let (mut rows, mut first) = (Rows::default(), 1);
    for _ in 0..lines {
        let vehicles = draw.whole(1, 3);
        let length = draw.whole(3, stops.min(10));
        let mut all: Vec<u32> = (1..=stops).collect();
        draw.shuffle(&mut all);
        all.truncate(length as usize);
        let leg_s = round_s / f64::from(length);
        let line = Line {
            first,
            vehicles,
            stops: all,
            round_s,
            stop_s: stop_s.min(0.7 * leg_s),
            late_s: 0.2 * leg_s,
        };
        line.drive(draw, duration_s, &mut rows);
        first += vehicles;
    }
    let groups = vec![Group::still("stop", stops), Group::still("vehicle", first - 1)];
    let described = format!("{lines} bus lines, {stops} stops, round {round_s} s");
    layout(draw, described, groups, &rows, duration_s)
}

/// One or two ferries between villages.
pub fn ferries(draw: &mut Draw) -> Layout {
    let villages = draw.whole(3, 12);
    let duration_s = draw.log(86_400.0, 600_000.0);
    let round_s = draw.log(7200.0, 86_400.0);
    let vehicles = draw.whole(1, 2);
    let leg_s = round_s / f64::from(villages);
    let stop_s = draw.log(60.0, 1800.0).min(0.6 * leg_s);
    let line =
        Line { first: 1, vehicles, stops: (1..=villages).collect(), round_s, stop_s, late_s: 0.1 * leg_s };
    let mut rows = Rows::default();
    line.drive(draw, duration_s, &mut rows);
    let groups = vec![Group::still("stop", villages), Group::still("vehicle", vehicles)];
    layout(draw, format!("{vehicles} ferries, round {round_s} s"), groups, &rows, duration_s)
}

/// Mules visit sensors in random order, and the sink now and then.
pub fn data_mules(draw: &mut Draw) -> Layout {
    let (sensors, mules) = (draw.whole(5, 60), draw.whole(1, 6));
    let duration_s = draw.log(20_000.0, 200_000.0);
    let (leg_s, visit_s) = (draw.log(100.0, 2000.0), draw.log(5.0, 60.0));
    let sink_every = draw.whole(3, 20);
    let mut rows = Rows::default();
    // When each place is left; the sink is the first.
    let mut busy = vec![0.0; sensors as usize + 1];
    let mut free: Vec<f64> = (0..mules).map(|_| draw.between(0.0, leg_s)).collect();
    loop {
        let mule = earliest(&free);
        let sensor = draw.below(sensors) as usize + 1;
        let place = if draw.below(sink_every) == 0 { 0 } else { sensor };
        let at = free[mule].max(busy[place] + 1.0);
        if at + visit_s >= duration_s {
            break;
        }
        busy[place] = at + visit_s;
        let other = if place == 0 { "sink1".to_owned() } else { format!("sensor{place}") };
        rows.push(&format!("mule{}", mule + 1), &other, at, visit_s);
        free[mule] = at + visit_s + leg_s * (0.5 + draw.unit());
    }
    let groups = vec![Group::still("sink", 1), Group::still("sensor", sensors), Group::still("mule", mules)];
    layout(draw, format!("{mules} mules, {sensors} sensors"), groups, &rows, duration_s)
}

/// The first of the smallest.
fn earliest(times: &[f64]) -> usize {
    (1..times.len()).fold(0, |best, index| if times[index] < times[best] { index } else { best })
}

/// Most contacts of a pair.
const CONTACTS_MAX: u32 = 400;

/// Contacts of a pair at random times.
struct Pair {
    /// Numbers of its nodes.
    nodes: [u32; 2],
    /// Mean time between two contacts, in s.
    between_s: f64,
    /// Mean duration of a contact, in s.
    lasts_s: f64,
    /// Duration of the run, in s.
    duration_s: f64,
}

impl Pair {
    /// Adds those contacts that begin when the pair can meet.
    fn meet(&self, draw: &mut Draw, rows: &mut Rows, can_meet: impl Fn(f64) -> bool) {
        let [a, b] = self.nodes.map(|node| format!("n{node}"));
        let (mut at, mut count) = (draw.wait(self.between_s), 0);
        while at < self.duration_s && count < CONTACTS_MAX {
            let drawn = draw.wait(self.lasts_s).clamp(1.0, 4.0 * self.lasts_s);
            let lasts = drawn.min(self.duration_s - at - 0.1);
            if lasts > 0.9 && can_meet(at) {
                rows.push(&a, &b, at, lasts);
                count += 1;
            }
            at += lasts.max(1.0) + 1.0 + draw.wait(self.between_s);
        }
    }
}

fn pairs(nodes: u32) -> impl Iterator<Item = [u32; 2]> {
    (1..=nodes).flat_map(move |a| (a + 1..=nodes).map(move |b| [a, b]))
}

/// Each pair meets at its own rate; rates spread over orders of magnitude, as in traces of people.
pub fn uneven_pairs(draw: &mut Draw) -> Layout {
    let nodes = draw.whole(4, 45);
    let duration_s = draw.log(20_000.0, 300_000.0);
    let contacts = (draw.log(8.0, 400.0) * f64::from(nodes)).min(15_000.0);
    let usual_s = duration_s * f64::from(nodes * (nodes - 1) / 2) / contacts;
    let spread = draw.between(1.0, 3.0);
    let lasts_s = draw.log(10.0, 600.0);
    let mut rows = Rows::default();
    for nodes in pairs(nodes) {
        // The interval is log-normal.
        let between_s = usual_s * math::exp(spread * draw.normal());
        Pair { nodes, between_s, lasts_s, duration_s }.meet(draw, &mut rows, |_| true);
    }
    let groups = vec![Group::still("n", nodes)];
    layout(draw, format!("uneven pairs, spread {spread}"), groups, &rows, duration_s)
}

/// People who live together in the evening, and work together in other groups by day.
pub fn working_days(draw: &mut Draw) -> Layout {
    let nodes = draw.whole(8, 60);
    let days = draw.whole(2, 5);
    let duration_s = f64::from(days) * 86_400.0;
    let (homes, offices) = (draw.whole(2, nodes / 2), draw.whole(1, 6));
    let (between_s, lasts_s) = (draw.log(1800.0, 20_000.0), draw.log(60.0, 1800.0));
    let home: Vec<u32> = (0..nodes).map(|_| draw.below(homes)).collect();
    let office: Vec<u32> = (0..nodes).map(|_| draw.below(offices)).collect();
    let mut rows = Rows::default();
    for nodes in pairs(nodes) {
        let have_one = |of: &[u32]| of[nodes[0] as usize - 1] == of[nodes[1] as usize - 1];
        let (at_home, at_work) = (have_one(&home), have_one(&office));
        let can_meet = |at: f64| {
            let hour = (at % 86_400.0) / 3600.0;
            (at_work && (8.0..16.0).contains(&hour)) || (at_home && !(7.0..18.0).contains(&hour))
        };
        if at_home || at_work {
            Pair { nodes, between_s, lasts_s, duration_s }.meet(draw, &mut rows, can_meet);
        }
    }
    let groups = vec![Group::still("n", nodes)];
    let described = format!("{days} working days, {homes} homes, {offices} offices");
    layout(draw, described, groups, &rows, duration_s)
}
