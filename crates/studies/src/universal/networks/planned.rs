//! Contacts by the laws of orbits, known beforehand: rightly, wrongly, or not at all.

use super::timetable::Rows;
use super::{Draw, Group, Layout, mobile, rounded};

/// What nodes know of the contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Plan {
    Right,
    Fails,
    Shifted,
    Overstated,
    Absent,
}

/// A family of networks between places far apart.
struct Family {
    name: &'static str,
    /// Hours of a relay's round, and the share of it in which a lander sees the relay.
    round_h: (f64, f64),
    seen: (f64, f64),
    /// The same of ground stations.
    round_ground_h: (f64, f64),
    seen_ground: (f64, f64),
    /// Light time of relay and ground, in s.
    light_s: (f64, f64),
    /// Bit/s.
    rate: (f64, f64),
    /// Hours of a run.
    lasts_h: (f64, f64),
}

fn passes(draw: &mut Draw, round_s: f64, pass_s: f64, duration_s: f64) -> Vec<(f64, f64)> {
    let phase = draw.between(0.0, 1.0) * round_s;
    let mut at = phase - round_s;
    let mut list = Vec::new();
    while at < duration_s {
        let start = at.max(0.0);
        let end = (at + pass_s).min(duration_s);
        if end - start > 5.0 {
            list.push((start, end - start));
        }
        at += round_s * (1.0 + 0.02 * (draw.0.unit() - 0.5)) + 1.0;
    }
    list
}

fn family(draw: &mut Draw, family: &Family) -> Layout {
    let (landers, relays, grounds) = (draw.whole(1.0, 6.0), draw.whole(1.0, 5.0), draw.whole(1.0, 3.0));
    let duration_s = rounded(3600.0 * draw.log(family.lasts_h.0, family.lasts_h.1));
    let light = draw.log(family.light_s.0, family.light_s.1);
    let (rate_up, rate_down) = (draw.log(family.rate.0, family.rate.1), draw.log(family.rate.0, family.rate.1));
    let plan = draw.pick(&[Plan::Right, Plan::Right, Plan::Right, Plan::Fails, Plan::Shifted, Plan::Overstated, Plan::Absent]);
    let shift = if plan == Plan::Shifted { draw.log(10.0, 1000.0) } else { 0.0 };
    let mut near = Tables::new(plan, shift);
    let mut far = Tables::new(plan, shift);
    let mut home = Tables::new(plan, 0.0);
    for relay in 1..=relays {
        let round_s = 3600.0 * draw.log(family.round_h.0, family.round_h.1);
        let seen = draw.between(family.seen.0, family.seen.1);
        for lander in 1..=landers {
            for (start, lasts) in passes(draw, round_s, seen * round_s, duration_s) {
                near.push(&format!("lander{lander}"), &format!("relay{relay}"), start, lasts);
            }
        }
        for ground in 1..=grounds {
            let round_s = 3600.0 * draw.log(family.round_ground_h.0, family.round_ground_h.1);
            let seen = draw.between(family.seen_ground.0, family.seen_ground.1);
            for (start, lasts) in passes(draw, round_s, seen * round_s, duration_s) {
                far.push(&format!("relay{relay}"), &format!("ground{ground}"), start, lasts);
            }
        }
    }
    for ground in 1..=grounds {
        home.push("control1", &format!("ground{ground}"), 0.0, duration_s);
    }
    let (contacts, seconds) = (near.real.count + far.real.count, near.real.seconds + far.real.seconds);
    let rate_home = 3.0 * rate_up.max(rate_down);
    let home_bytes = rate_home * home.real.seconds;
    let capacity_bytes = (near.real.seconds * rate_up + far.real.seconds * rate_down + home_bytes) / 8.0;
    let nodes = 1 + grounds + relays + landers;
    let tables = near.tables("near", rate_up, 0.0) + &far.tables("far", rate_down, light) + &home.tables("home", rate_home, 0.01);
    let contacts_fail = if plan == Plan::Fails { draw.between(0.1, 0.5) } else { 0.0 };
    Layout {
        described: format!(
            "{}, {landers} landers, {relays} relays, {grounds} ground stations, light {light} s, {rate_up} and {rate_down} bit/s, plan {plan:?}",
            family.name
        ),
        groups: vec![
            Group::new("control", 1, String::new()),
            Group::new("relay", relays, String::new()),
            Group::new("ground", grounds, String::new()),
            Group::new("lander", landers, String::new()),
        ],
        contacts: tables,
        duration_s,
        rate_bit_s: rate_up.min(rate_down),
        contact_s: seconds / f64::from(contacts.max(1)),
        capacity_bytes,
        contacts_of_node: 2.0 * f64::from(contacts) / f64::from(nodes),
        planned: plan != Plan::Absent,
        radio: draw.pick(&["link", "direction", "node"]),
        contacts_fail,
    }
}

/// Contacts that take place, and those that a wrong plan has in their place.
struct Tables {
    plan: Plan,
    shift: f64,
    real: Rows,
    believed: Rows,
}

impl Tables {
    fn new(plan: Plan, shift: f64) -> Self {
        Self { plan, shift, real: Rows::default(), believed: Rows::default() }
    }
    fn push(&mut self, a: &str, b: &str, start: f64, lasts: f64) {
        self.real.push(a, b, start, lasts);
        self.believed.push(a, b, start + self.shift, lasts);
    }
    fn tables(&self, name: &str, rate: f64, delay: f64) -> String {
        let lines = |plan: bool, factor: f64, more: &str| {
            format!("plan = {plan}\n{more}rate = \"{} bit/s\"\ndelay = \"{delay} s\"", rate * factor)
        };
        match self.plan {
            Plan::Right | Plan::Fails => self.real.table(name, &lines(true, 1.0, "")),
            Plan::Absent => self.real.table(name, &lines(false, 1.0, "")),
            Plan::Shifted => {
                self.real.table(name, &lines(false, 1.0, ""))
                    + &self.believed.table(&format!("{name}_believed"), &lines(true, 1.0, "happens = false\n"))
            }
            Plan::Overstated => {
                self.real.table(name, &lines(false, 1.0, ""))
                    + &self.believed.table(&format!("{name}_believed"), &lines(true, 3.0, "happens = false\n"))
            }
        }
    }
}

pub(super) fn low_earth_orbit(draw: &mut Draw) -> Layout {
    family(
        draw,
        &Family {
            name: "low earth orbit",
            round_h: (1.5, 2.0),
            seen: (0.05, 0.12),
            round_ground_h: (1.5, 12.0),
            seen_ground: (0.04, 0.12),
            light_s: (0.003, 0.01),
            rate: (1e4, 2e6),
            lasts_h: (12.0, 72.0),
        },
    )
}

pub(super) fn moon(draw: &mut Draw) -> Layout {
    family(
        draw,
        &Family {
            name: "moon",
            round_h: (2.0, 24.0),
            seen: (0.1, 0.7),
            round_ground_h: (2.0, 24.0),
            seen_ground: (0.2, 0.6),
            light_s: (1.25, 1.4),
            rate: (1e4, 2e6),
            lasts_h: (24.0, 96.0),
        },
    )
}

pub(super) fn mars(draw: &mut Draw) -> Layout {
    family(
        draw,
        &Family {
            name: "Mars",
            round_h: (2.0, 25.0),
            seen: (0.02, 0.3),
            round_ground_h: (4.0, 24.0),
            seen_ground: (0.2, 0.5),
            light_s: (180.0, 1300.0),
            rate: (1e3, 5e5),
            lasts_h: (24.0, 96.0),
        },
    )
}

pub(super) fn jupiter(draw: &mut Draw) -> Layout {
    family(
        draw,
        &Family {
            name: "Jupiter",
            round_h: (10.0, 100.0),
            seen: (0.02, 0.3),
            round_ground_h: (10.0, 24.0),
            seen_ground: (0.2, 0.5),
            light_s: (2000.0, 3100.0),
            rate: (300.0, 1e5),
            lasts_h: (72.0, 240.0),
        },
    )
}

/// A field of walkers with a gateway, and a base that only a planned satellite reaches.
pub(super) fn hybrid(draw: &mut Draw) -> Layout {
    let mut layout = mobile::waypoint(draw);
    let wanted = draw.log(20_000.0, 90_000.0).max(layout.duration_s);
    layout.capacity_bytes *= wanted / layout.duration_s;
    layout.duration_s = rounded(wanted);
    let plan = draw.pick(&[Plan::Right, Plan::Right, Plan::Right, Plan::Fails, Plan::Absent]);
    let round_s = draw.log(3000.0, 20_000.0);
    let pass_s = rounded(round_s * draw.between(0.05, 0.2));
    let rate = draw.log(3e4, 3e6);
    let mut up = Tables::new(plan, 0.0);
    for pair in [["gateway1", "satellite1"], ["satellite1", "base1"]] {
        for (start, lasts) in passes(draw, round_s, pass_s, layout.duration_s) {
            up.push(pair[0], pair[1], start, lasts);
        }
    }
    layout.contacts = up.tables("orbit", rate, 0.01);
    if plan == Plan::Fails {
        layout.contacts_fail = draw.between(0.1, 0.5);
    }
    let radio = layout.groups[0].lines.lines().last().map(|line| format!("{line}\n")).unwrap_or_default();
    let gateway = format!("mobility = {{ model = \"stationary\", at = \"50 m, 50 m\" }}\n{radio}");
    layout.groups.insert(0, Group::new("base", 1, String::new()));
    layout.groups.insert(1, Group::new("gateway", 1, gateway));
    layout.groups.insert(2, Group::new("satellite", 1, String::new()));
    layout.described = format!("{}, satellite every {round_s} s at {rate} bit/s, plan {plan:?}", layout.described);
    layout.planned = plan != Plan::Absent;
    layout
}
