//! Contacts that repeat, or come at random for each pair, without a plan that nodes know.

use super::{Draw, Group, Layout};
use lightlag_protocols::math;
use std::fmt::Write as _;

/// Contacts of one table.
#[derive(Default)]
pub(super) struct Rows {
    text: String,
    /// Number of contacts.
    pub count: u32,
    /// Seconds in all.
    pub seconds: f64,
}

impl Rows {
    /// A contact of two nodes.
    pub fn push(&mut self, a: &str, b: &str, start: f64, lasts: f64) {
        self.count += 1;
        self.seconds += lasts;
        let _ = writeln!(
            self.text,
            "  {{ a = \"{a}\", b = \"{b}\", start = \"{:.1} s\", end = \"{:.1} s\" }},",
            start,
            start + lasts
        );
    }
    /// The table.
    pub fn table(&self, name: &str, lines: &str) -> String {
        format!("[contacts.{name}]\nkind = \"table\"\n{lines}\nrows = [\n{}]\n\n", self.text)
    }
}

fn layout(described: String, groups: Vec<Group>, rows: &Rows, draw: &mut Draw, duration_s: f64) -> Layout {
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

/// Vehicles that go round their stops: (vehicles, stops of each, seconds of a round, seconds at a stop).
struct Line {
    vehicles: u32,
    stops: Vec<u32>,
    round_s: f64,
    stop_s: f64,
    /// Largest delay of an arrival.
    late_s: f64,
}

impl Line {
    fn rows(&self, draw: &mut Draw, first: u32, duration_s: f64, rows: &mut Rows) {
        let leg = self.round_s / self.stops.len() as f64;
        for vehicle in 0..self.vehicles {
            let name = format!("vehicle{}", first + vehicle);
            let phase = self.round_s * f64::from(vehicle) / f64::from(self.vehicles);
            let mut free = 0.0;
            for step in 0.. {
                let at = step as f64 * leg - phase;
                if at > duration_s {
                    break;
                }
                let at = (at + draw.between(0.0, 1.0) * self.late_s).max(free);
                let stop = self.stops[step as usize % self.stops.len()];
                if at >= 0.0 && at + self.stop_s < duration_s {
                    rows.push(&name, &format!("stop{stop}"), at, self.stop_s);
                }
                free = at + self.stop_s;
            }
        }
    }
}

pub(super) fn bus_lines(draw: &mut Draw) -> Layout {
    let (stops, lines) = (draw.whole(6.0, 40.0), draw.whole(2.0, 8.0));
    let duration_s = draw.log(14_400.0, 86_400.0);
    let (round_s, stop_s) = (draw.log(900.0, 7200.0), draw.log(10.0, 120.0));
    let (mut rows, mut vehicles) = (Rows::default(), 0);
    for _ in 0..lines {
        let count = draw.whole(1.0, 3.0);
        let length = draw.whole(3.0, f64::from(stops.min(10))).max(2);
        let mut all: Vec<u32> = (1..=stops).collect();
        draw.0.shuffle(&mut all);
        all.truncate(length as usize);
        let stop_s = stop_s.min(0.7 * round_s / f64::from(length));
        let line = Line { vehicles: count, stops: all, round_s, stop_s, late_s: 0.2 * round_s / f64::from(length) };
        line.rows(draw, vehicles + 1, duration_s, &mut rows);
        vehicles += count;
    }
    let groups = vec![Group::new("stop", stops, String::new()), Group::new("vehicle", vehicles, String::new())];
    layout(format!("{lines} bus lines, {stops} stops, round {round_s} s"), groups, &rows, draw, duration_s)
}

pub(super) fn ferries(draw: &mut Draw) -> Layout {
    let villages = draw.whole(3.0, 12.0);
    let duration_s = draw.log(86_400.0, 600_000.0);
    let round_s = draw.log(7200.0, 86_400.0);
    let mut rows = Rows::default();
    let vehicles = draw.whole(1.0, 2.0);
    let stop_s = draw.log(60.0, 1800.0).min(0.6 * round_s / f64::from(villages));
    let stops = (1..=villages).collect();
    Line { vehicles, stops, round_s, stop_s, late_s: 0.1 * round_s / f64::from(villages) }
        .rows(draw, 1, duration_s, &mut rows);
    let groups = vec![Group::new("stop", villages, String::new()), Group::new("vehicle", vehicles, String::new())];
    layout(format!("{vehicles} ferries, round {round_s} s"), groups, &rows, draw, duration_s)
}

/// Mules visit sensors in random order, and then the sink.
pub(super) fn data_mules(draw: &mut Draw) -> Layout {
    let (sensors, mules) = (draw.whole(5.0, 60.0), draw.whole(1.0, 6.0));
    let duration_s = draw.log(20_000.0, 200_000.0);
    let (leg_s, visit_s) = (draw.log(100.0, 2000.0), draw.log(5.0, 60.0));
    let sink_every = u64::from(draw.whole(3.0, 20.0));
    let mut rows = Rows::default();
    let mut busy = vec![0.0; sensors as usize + 1];
    // Who is free first goes first.
    let mut free: Vec<f64> = (0..mules).map(|_| draw.between(0.0, leg_s)).collect();
    loop {
        let first = |best: usize, mule: usize| if free[mule] < free[best] { mule } else { best };
        let mule = (1..free.len()).fold(0, first);
        let sensor = draw.0.below(u64::from(sensors)) as usize + 1;
        let place = if draw.0.below(sink_every) == 0 { 0 } else { sensor };
        let at = free[mule].max(busy[place] + 1.0);
        if at + visit_s >= duration_s {
            break;
        }
        busy[place] = at + visit_s;
        let other = if place == 0 { "sink1".to_owned() } else { format!("sensor{place}") };
        rows.push(&format!("mule{}", mule + 1), &other, at, visit_s);
        free[mule] = at + visit_s + leg_s * (0.5 + draw.0.unit());
    }
    let groups = vec![
        Group::new("sink", 1, String::new()),
        Group::new("sensor", sensors, String::new()),
        Group::new("mule", mules, String::new()),
    ];
    layout(format!("{mules} mules, {sensors} sensors"), groups, &rows, draw, duration_s)
}

/// Each pair meets at its own rate; rates spread over orders of magnitude, as in traces of people.
pub(super) fn uneven_pairs(draw: &mut Draw) -> Layout {
    let nodes = draw.whole(4.0, 45.0);
    let duration_s = draw.log(20_000.0, 300_000.0);
    let pairs = f64::from(nodes * (nodes - 1) / 2);
    let contacts = draw.log(8.0, 400.0) * f64::from(nodes);
    let usual_s = duration_s * pairs / contacts.min(15_000.0);
    let spread = draw.between(1.0, 3.0);
    let lasts = draw.log(10.0, 600.0);
    let mut rows = Rows::default();
    for a in 1..=nodes {
        for b in a + 1..=nodes {
            // Of the usual interval, e to a power that is nearly normal.
            let normal = (0..12).map(|_| draw.0.unit()).sum::<f64>() - 6.0;
            let mean = usual_s * math::exp(spread * normal);
            pair(draw, &mut rows, [a, b], (mean, lasts, duration_s), |_| true);
        }
    }
    let halves = [nodes / 2, nodes - nodes / 2];
    let groups = vec![Group::new("n", halves[0] + halves[1], String::new())];
    layout(format!("uneven pairs, spread {spread}"), groups, &rows, draw, duration_s)
}

fn pair(
    draw: &mut Draw,
    rows: &mut Rows,
    [a, b]: [u32; 2],
    (mean, lasts, duration_s): (f64, f64, f64),
    open: impl Fn(f64) -> bool,
) {
    let mut at = draw.wait(mean);
    let mut count = 0;
    while at < duration_s && count < 400 {
        let lasts = draw.wait(lasts).clamp(1.0, 4.0 * lasts).min(duration_s - at - 0.1);
        if lasts > 0.9 && open(at) {
            rows.push(&format!("n{a}"), &format!("n{b}"), at, lasts);
            count += 1;
        }
        at += lasts.max(1.0) + 1.0 + draw.wait(mean);
    }
}

/// People who live together in the evening, and work together in other groups by day.
pub(super) fn working_days(draw: &mut Draw) -> Layout {
    let nodes = draw.whole(8.0, 60.0);
    let days = draw.whole(2.0, 5.0);
    let day = 86_400.0;
    let duration_s = f64::from(days) * day;
    let (homes, offices) = (draw.whole(2.0, f64::from(nodes / 2)), draw.whole(1.0, 6.0));
    let (mean, lasts) = (draw.log(1800.0, 20_000.0), draw.log(60.0, 1800.0));
    let home: Vec<u64> = (0..nodes).map(|_| draw.0.below(homes.into())).collect();
    let office: Vec<u64> = (0..nodes).map(|_| draw.0.below(offices.into())).collect();
    let mut rows = Rows::default();
    for a in 1..=nodes {
        for b in a + 1..=nodes {
            let same = |of: &[u64]| of[a as usize - 1] == of[b as usize - 1];
            let (at_home, at_work) = (same(&home), same(&office));
            let at_day = |at: f64| (at % day) / 3600.0;
            let open = move |at: f64| {
                let hour = at_day(at);
                (at_work && (8.0..16.0).contains(&hour)) || (at_home && !(7.0..18.0).contains(&hour))
            };
            if at_home || at_work {
                pair(draw, &mut rows, [a, b], (mean, lasts, duration_s), open);
            }
        }
    }
    let groups = vec![Group::new("n", nodes, String::new())];
    layout(format!("{days} working days, {homes} homes, {offices} offices"), groups, &rows, draw, duration_s)
}
