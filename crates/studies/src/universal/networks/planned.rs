//! Contacts by the laws of orbits, which nodes know beforehand: rightly, wrongly, or not at all.

use super::mobile::Walkers;
use super::timetable::Rows;
use super::{Draw, Group, Layout, rounded};

/// What nodes know of the contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// All of them.
    Right,
    /// All of them, of which some do not take place.
    Fails,
    /// Each at a later time.
    Shifted,
    /// With three times their rates.
    Overstated,
    /// Nothing.
    Absent,
}

/// Networks between places far apart; each pair of numbers is a range.
struct Family {
    name: &'static str,
    /// Period of the passes of a relay over a lander, in hours, and the share of it in which they see each other.
    round_h: (f64, f64),
    seen: (f64, f64),
    /// The same of relay and ground station.
    round_ground_h: (f64, f64),
    seen_ground: (f64, f64),
    /// Light time between relay and ground station, in s.
    light_s: (f64, f64),
    /// Rate of a link, in bit/s.
    rate: (f64, f64),
    /// Duration of a run, in hours.
    lasts_h: (f64, f64),
}

const LOW_EARTH_ORBIT: Family = Family {
    name: "low earth orbit",
    round_h: (1.5, 2.0),
    seen: (0.05, 0.12),
    round_ground_h: (1.5, 12.0),
    seen_ground: (0.04, 0.12),
    light_s: (0.003, 0.01),
    rate: (1e4, 2e6),
    lasts_h: (12.0, 72.0),
};
const MOON: Family = Family {
    name: "moon",
    round_h: (2.0, 24.0),
    seen: (0.1, 0.7),
    round_ground_h: (2.0, 24.0),
    seen_ground: (0.2, 0.6),
    light_s: (1.25, 1.4),
    rate: (1e4, 2e6),
    lasts_h: (24.0, 96.0),
};
const MARS: Family = Family {
    name: "Mars",
    round_h: (2.0, 25.0),
    seen: (0.02, 0.3),
    round_ground_h: (4.0, 24.0),
    seen_ground: (0.2, 0.5),
    light_s: (180.0, 1300.0),
    rate: (1e3, 5e5),
    lasts_h: (24.0, 96.0),
};
const JUPITER: Family = Family {
    name: "Jupiter",
    round_h: (10.0, 100.0),
    seen: (0.02, 0.3),
    round_ground_h: (10.0, 24.0),
    seen_ground: (0.2, 0.5),
    light_s: (2000.0, 3100.0),
    rate: (300.0, 1e5),
    lasts_h: (72.0, 240.0),
};

/// Landers, a relay that passes over them, and ground stations in low earth orbit.
pub fn low_earth_orbit(draw: &mut Draw) -> Layout {
    LOW_EARTH_ORBIT.layout(draw)
}

/// The same at the moon.
pub fn moon(draw: &mut Draw) -> Layout {
    MOON.layout(draw)
}

/// The same at Mars.
pub fn mars(draw: &mut Draw) -> Layout {
    MARS.layout(draw)
}

/// The same at Jupiter.
pub fn jupiter(draw: &mut Draw) -> Layout {
    JUPITER.layout(draw)
}

/// Shortest pass, in s.
const PASS_MIN_S: f64 = 5.0;

/// Start and duration of the passes of a period, which varies by a hundredth; all in s.
fn passes(draw: &mut Draw, round_s: f64, pass_s: f64, duration_s: f64) -> Vec<(f64, f64)> {
    let mut at = draw.between(0.0, 1.0) * round_s - round_s;
    let mut list = Vec::new();
    while at < duration_s {
        let (start, end) = (at.max(0.0), (at + pass_s).min(duration_s));
        if end - start > PASS_MIN_S {
            list.push((start, end - start));
        }
        at += round_s * (1.0 + 0.02 * (draw.unit() - 0.5)) + 1.0;
    }
    list
}

/// Contacts that take place, and those that a wrong plan has in their place.
struct Tables {
    plan: Plan,
    /// By how many seconds a shifted plan is wrong.
    shift_s: f64,
    real: Rows,
    believed: Rows,
}

impl Tables {
    fn new(plan: Plan, shift_s: f64) -> Self {
        Self { plan, shift_s, real: Rows::default(), believed: Rows::default() }
    }
    fn push(&mut self, a: &str, b: &str, start: f64, lasts: f64) {
        self.real.push(a, b, start, lasts);
        self.believed.push(a, b, start + self.shift_s, lasts);
    }
    /// Tables of contacts of a rate in bit/s and a delay in s.
    fn text(&self, name: &str, rate: f64, delay: f64) -> String {
        let lines = |plan: bool, factor: f64, more: &str| {
            format!("plan = {plan}\n{more}rate = \"{} bit/s\"\ndelay = \"{delay} s\"", rate * factor)
        };
        let real = |plan| self.real.table(name, &lines(plan, 1.0, ""));
        let believed = |factor| {
            self.believed.table(&format!("{name}_believed"), &lines(true, factor, "happens = false\n"))
        };
        match self.plan {
            Plan::Right | Plan::Fails => real(true),
            Plan::Absent => real(false),
            Plan::Shifted => real(false) + &believed(1.0),
            Plan::Overstated => real(false) + &believed(3.0),
        }
    }
}

/// Nodes and contacts of a family.
struct Places {
    landers: u32,
    relays: u32,
    grounds: u32,
    duration_s: f64,
    /// Light time between relay and ground station, in s.
    light_s: f64,
    /// Bit/s between lander and relay, relay and ground station.
    rate_up: f64,
    rate_down: f64,
    plan: Plan,
    /// Lander to relay, relay to ground station, ground station to control.
    near: Tables,
    far: Tables,
    home: Tables,
}

impl Family {
    fn layout(&self, draw: &mut Draw) -> Layout {
        let mut places = self.places(draw);
        self.orbit(draw, &mut places);
        for ground in 1..=places.grounds {
            places.home.push("control1", &format!("ground{ground}"), 0.0, places.duration_s);
        }
        places.layout(draw, self.name)
    }
    fn places(&self, draw: &mut Draw) -> Places {
        const PLANS: [Plan; 7] = [
            Plan::Right,
            Plan::Right,
            Plan::Right,
            Plan::Fails,
            Plan::Shifted,
            Plan::Overstated,
            Plan::Absent,
        ];
        let (landers, relays, grounds) = (draw.whole(1, 6), draw.whole(1, 5), draw.whole(1, 3));
        let duration_s = rounded(3600.0 * draw.log(self.lasts_h.0, self.lasts_h.1));
        let light_s = draw.log(self.light_s.0, self.light_s.1);
        let [rate_up, rate_down] = [(); 2].map(|()| draw.log(self.rate.0, self.rate.1));
        let plan = draw.pick(&PLANS);
        let shift_s = if plan == Plan::Shifted { draw.log(10.0, 1000.0) } else { 0.0 };
        let [near, far, home] = [shift_s, shift_s, 0.0].map(|shift_s| Tables::new(plan, shift_s));
        Places { landers, relays, grounds, duration_s, light_s, rate_up, rate_down, plan, near, far, home }
    }
    fn orbit(&self, draw: &mut Draw, places: &mut Places) {
        for relay in (1..=places.relays).map(|relay| format!("relay{relay}")) {
            let round_s = 3600.0 * draw.log(self.round_h.0, self.round_h.1);
            let pass_s = draw.between(self.seen.0, self.seen.1) * round_s;
            for lander in (1..=places.landers).map(|lander| format!("lander{lander}")) {
                for (start, lasts) in passes(draw, round_s, pass_s, places.duration_s) {
                    places.near.push(&lander, &relay, start, lasts);
                }
            }
            for ground in (1..=places.grounds).map(|ground| format!("ground{ground}")) {
                let round_s = 3600.0 * draw.log(self.round_ground_h.0, self.round_ground_h.1);
                let pass_s = draw.between(self.seen_ground.0, self.seen_ground.1) * round_s;
                for (start, lasts) in passes(draw, round_s, pass_s, places.duration_s) {
                    places.far.push(&relay, &ground, start, lasts);
                }
            }
        }
    }
}

impl Places {
    fn layout(&self, draw: &mut Draw, name: &str) -> Layout {
        let Self { landers, relays, grounds, light_s, rate_up, rate_down, plan, .. } = *self;
        let rate_home = 3.0 * rate_up.max(rate_down);
        let (near, far, home) = (&self.near.real, &self.far.real, &self.home.real);
        let count = f64::from(near.count + far.count);
        let bits = near.seconds * rate_up + far.seconds * rate_down + home.seconds * rate_home;
        let contacts = [
            self.near.text("near", rate_up, 0.0),
            self.far.text("far", rate_down, light_s),
            self.home.text("home", rate_home, 0.01),
        ];
        let contacts_fail = if plan == Plan::Fails { draw.between(0.1, 0.5) } else { 0.0 };
        Layout {
            described: format!(
                "{name}, {landers} landers, {relays} relays, {grounds} ground stations, light {light_s} s, \
                 {rate_up} and {rate_down} bit/s, plan {plan:?}"
            ),
            groups: vec![
                Group::still("control", 1),
                Group::still("relay", relays),
                Group::still("ground", grounds),
                Group::still("lander", landers),
            ],
            contacts: contacts.concat(),
            duration_s: self.duration_s,
            rate_bit_s: rate_up.min(rate_down),
            contact_s: (near.seconds + far.seconds) / count.max(1.0),
            capacity_bytes: bits / 8.0,
            contacts_of_node: 2.0 * count / f64::from(1 + grounds + relays + landers),
            planned: plan != Plan::Absent,
            radio: draw.pick(&["link", "direction", "node"]),
            contacts_fail,
        }
    }
}

/// Contacts between walkers that a satellite serves; a field with more is larger.
const CONTACTS_MAX: f64 = 200_000.0;

/// A field of walkers with a gateway, and a base that only a satellite reaches.
pub fn hybrid(draw: &mut Draw) -> Layout {
    const PLANS: [Plan; 5] = [Plan::Right, Plan::Right, Plan::Right, Plan::Fails, Plan::Absent];
    let mut walkers = Walkers::drawn(draw);
    let wanted_s = draw.log(20_000.0, 90_000.0);
    let contacts = |layout: &Layout| {
        f64::from(layout.nodes()) * layout.contacts_of_node / 2.0 * wanted_s / layout.duration_s
    };
    let mut layout = walkers.layout();
    let too_many = contacts(&layout) / CONTACTS_MAX;
    if too_many > 1.0 {
        walkers = walkers.spread(too_many);
        layout = walkers.layout();
    }
    let wanted_s = wanted_s.max(layout.duration_s);
    layout.capacity_bytes *= wanted_s / layout.duration_s;
    layout.duration_s = rounded(wanted_s);
    let plan = draw.pick(&PLANS);
    let round_s = draw.log(3000.0, 20_000.0);
    let pass_s = rounded(round_s * draw.between(0.05, 0.2));
    let rate = draw.log(3e4, 3e6);
    let mut orbit = Tables::new(plan, 0.0);
    for [a, b] in [["gateway1", "satellite1"], ["satellite1", "base1"]] {
        for (start, lasts) in passes(draw, round_s, pass_s, layout.duration_s) {
            orbit.push(a, b, start, lasts);
        }
    }
    layout.contacts = orbit.text("orbit", rate, 0.01);
    if plan == Plan::Fails {
        layout.contacts_fail = draw.between(0.1, 0.5);
    }
    let gateway =
        format!("mobility = {{ model = \"stationary\", at = \"50 m, 50 m\" }}\n{}", walkers.radio());
    let ends = [Group::still("base", 1), Group::new("gateway", 1, gateway), Group::still("satellite", 1)];
    layout.groups.splice(..0, ends);
    layout.described =
        format!("{}, satellite every {round_s} s at {rate} bit/s, plan {plan:?}", layout.described);
    layout.planned = plan != Plan::Absent;
    layout
}
