//! Nodes that move at random.

use super::{Draw, Group, Layout, affordable, rounded};
use lightlag_protocols::math;

/// What all of them have: nodes, radios, and an area in which each has some neighbours.
struct Field {
    nodes: u32,
    range_m: f64,
    side_m: f64,
    speed: (f64, f64),
    rate_bit_s: f64,
}

impl Field {
    fn drawn(draw: &mut Draw) -> Self {
        let nodes = if draw.chance(0.06) { draw.whole(200.0, 1000.0) } else { draw.whole(4.0, 100.0) };
        let range_m = draw.log(10.0, 250.0);
        let neighbours = draw.log(0.02, 2.0);
        let side_m = rounded(math::sqrt(f64::from(nodes) * 3.14 * range_m * range_m / neighbours));
        let speed = draw.pick(&[(0.5, 1.5), (0.5, 1.5), (3.0, 8.0), (8.0, 20.0)]);
        Self { nodes, range_m, side_m, speed, rate_bit_s: draw.log(3e4, 1e7) }
    }
    fn contact_s(&self) -> f64 {
        1.2 * self.range_m / self.speed.1
    }
    /// Contacts of a pair each second, as of straight motion.
    fn meetings_per_s(&self) -> f64 {
        2.0 * self.range_m * self.speed.1 / (self.side_m * self.side_m)
    }
    fn radio(&self) -> String {
        format!("radio = {{ range = \"{} m\", rate = \"{} bit/s\" }}\n", self.range_m, self.rate_bit_s)
    }
    fn common(&self, extra: &str) -> String {
        format!("speed = \"{}..{} m/s\"{extra}", self.speed.0, self.speed.1)
    }
    fn layout(&self, draw: &mut Draw, described: &str, groups: Vec<Group>) -> Layout {
        let nodes = f64::from(self.nodes);
        let all = self.meetings_per_s() * nodes * nodes / 2.0;
        let wanted = draw.log(1800.0, 43_200.0);
        let duration_s = affordable(wanted, all, self.rate_bit_s * self.contact_s() / 8.0 / 1e5);
        Layout {
            described: format!("{described}, {} m in {} m", self.range_m, self.side_m),
            groups,
            contacts: String::new(),
            duration_s,
            rate_bit_s: self.rate_bit_s,
            contact_s: self.contact_s(),
            capacity_bytes: all * duration_s * self.contact_s() * self.rate_bit_s / 8.0,
            contacts_of_node: self.meetings_per_s() * nodes * duration_s,
            planned: false,
            radio: "node",
            contacts_fail: 0.0,
        }
    }
    fn with(&self, draw: &mut Draw, described: &str, model: &str, more: &str) -> Layout {
        let lines = format!(
            "mobility = {{ model = \"{model}\", area = \"{0} m x {0} m\", {1}{more} }}\n{2}",
            self.side_m,
            self.common(""),
            self.radio()
        );
        let halves = [self.nodes / 2, self.nodes - self.nodes / 2];
        let groups = vec![Group::new("a", halves[0], lines.clone()), Group::new("b", halves[1], lines)];
        self.layout(draw, described, groups)
    }
}

pub(super) fn walk(draw: &mut Draw) -> Layout {
    let field = Field::drawn(draw);
    let leg = draw.log(0.05, 1.0) * field.side_m;
    field.with(draw, "random walk", "random_walk", &format!(", leg = \"0..{} m\"", rounded(leg)))
}

pub(super) fn waypoint(draw: &mut Draw) -> Layout {
    let field = Field::drawn(draw);
    let pause = draw.log(1.0, 600.0);
    let more = format!(", pause = \"0..{pause} s\", initial = \"stationary_distribution\"");
    field.with(draw, "random waypoint", "random_waypoint", &more)
}

pub(super) fn borders(draw: &mut Draw) -> Layout {
    let field = Field::drawn(draw);
    field.with(draw, "border to border", "random_direction", "")
}

/// Some clusters, and travellers between them.
pub(super) fn communities(draw: &mut Draw) -> Layout {
    let mut field = Field::drawn(draw);
    field.nodes = field.nodes.clamp(12, 120);
    let clusters = draw.whole(2.0, 5.0);
    let travellers = (field.nodes / draw.whole(4.0, 10.0)).max(1);
    let each = ((field.nodes - travellers) / clusters).max(1);
    let radius = rounded(field.side_m / 8.0);
    const NAMES: [&str; 5] = ["c1", "c2", "c3", "c4", "c5"];
    let mut groups = vec![Group::new(
        "traveller",
        travellers,
        format!(
            "mobility = {{ model = \"random_waypoint\", area = \"{0} m x {0} m\", {1} }}\n{2}",
            field.side_m,
            field.common(", pause = \"0..60 s\""),
            field.radio()
        ),
    )];
    for name in NAMES.into_iter().take(clusters as usize) {
        let at = [draw.between(0.15, 0.85), draw.between(0.15, 0.85)].map(|share| rounded(share * field.side_m));
        let lines = format!(
            "mobility = {{ model = \"cluster\", center = \"{} m, {} m\", radius = \"{radius} m\", {} }}\n{}",
            at[0],
            at[1],
            field.common(""),
            field.radio()
        );
        groups.push(Group::new(name, each, lines));
    }
    // Sinks are in a cluster.
    groups.swap(0, 1);
    field.layout(draw, &format!("{clusters} communities"), groups)
}
