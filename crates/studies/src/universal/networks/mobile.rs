//! Nodes that move at random.

use super::{Draw, Group, Layout, affordable, rounded};
use lightlag_protocols::math;
use std::f64::consts::PI;

/// Nodes with radios in a square in which each has some neighbours.
struct Field {
    nodes: u32,
    /// Range of a radio.
    range_m: f64,
    /// Side of the square.
    side_m: f64,
    /// Least and greatest speed, in m/s.
    speed: (f64, f64),
    rate_bit_s: f64,
}

impl Field {
    fn drawn(draw: &mut Draw) -> Self {
        let nodes = if draw.chance(0.06) { draw.whole(200, 1000) } else { draw.whole(4, 100) };
        let range_m = draw.log(10.0, 250.0);
        let neighbours = draw.log(0.02, 8.0);
        let side_m = rounded(math::sqrt(f64::from(nodes) * PI * range_m * range_m / neighbours));
        let speed = draw.pick(&[(0.5, 1.5), (0.5, 1.5), (3.0, 8.0), (8.0, 20.0)]);
        Self { nodes, range_m, side_m, speed, rate_bit_s: draw.log(3e4, 1e7) }
    }
    /// Duration of a usual contact.
    fn contact_s(&self) -> f64 {
        1.2 * self.range_m / self.speed.1
    }
    /// Contacts of a pair each second, as of straight motion.
    fn meetings_per_s(&self) -> f64 {
        2.0 * self.range_m * self.speed.1 / (self.side_m * self.side_m)
    }
    /// Lines of nodes that move everywhere, with further parameters of the model.
    fn everywhere(&self, model: &str, more: &str) -> String {
        self.lines(model, &format!("area = \"{0} m x {0} m\"", self.side_m), more)
    }
    fn lines(&self, model: &str, place: &str, more: &str) -> String {
        format!(
            "mobility = {{ model = \"{model}\", {place}, speed = \"{}..{} m/s\"{more} }}\n{}",
            self.speed.0,
            self.speed.1,
            self.radio()
        )
    }
    fn radio(&self) -> String {
        format!("radio = {{ range = \"{} m\", rate = \"{} bit/s\" }}\n", self.range_m, self.rate_bit_s)
    }
    fn layout(&self, lasts_s: f64, described: &str, groups: Vec<Group>) -> Layout {
        let nodes = f64::from(self.nodes);
        let contacts_per_s = self.meetings_per_s() * nodes * nodes / 2.0;
        let contact_bytes = self.rate_bit_s * self.contact_s() / 8.0;
        // Each contact counts by the bundles of 100 kB that it carries.
        let duration_s = affordable(lasts_s, contacts_per_s, contact_bytes / 1e5);
        Layout {
            described: format!("{described}, {} m in {} m", self.range_m, self.side_m),
            groups,
            contacts: String::new(),
            duration_s,
            rate_bit_s: self.rate_bit_s,
            contact_s: self.contact_s(),
            capacity_bytes: contacts_per_s * duration_s * contact_bytes,
            contacts_of_node: self.meetings_per_s() * nodes * duration_s,
            planned: false,
            radio: "node",
            contacts_fail: 0.0,
        }
    }
    /// All nodes move by one model; half of them are the sinks.
    fn alike(&self, lasts_s: f64, described: &str, lines: String) -> Layout {
        let half = self.nodes / 2;
        let groups = vec![Group::new("a", half, lines.clone()), Group::new("b", self.nodes - half, lines)];
        self.layout(lasts_s, described, groups)
    }
}

/// Duration of a run in s, if it can be afforded.
fn lasts_s(draw: &mut Draw) -> f64 {
    draw.log(1800.0, 43_200.0)
}

/// A random walk.
pub fn walk(draw: &mut Draw) -> Layout {
    let field = Field::drawn(draw);
    let leg_m = rounded(draw.log(0.05, 1.0) * field.side_m);
    let lines = field.everywhere("random_walk", &format!(", leg = \"0..{leg_m} m\""));
    field.alike(lasts_s(draw), "random walk", lines)
}

/// To random places, with pauses there.
pub fn waypoint(draw: &mut Draw) -> Layout {
    Walkers::drawn(draw).layout()
}

/// From border to border of the area.
pub fn borders(draw: &mut Draw) -> Layout {
    let field = Field::drawn(draw);
    let lines = field.everywhere("random_direction", "");
    field.alike(lasts_s(draw), "border to border", lines)
}

/// Nodes that move to random places.
pub struct Walkers {
    field: Field,
    pause_s: f64,
    lasts_s: f64,
}

impl Walkers {
    /// Draws them.
    pub fn drawn(draw: &mut Draw) -> Self {
        let field = Field::drawn(draw);
        Self { field, pause_s: draw.log(1.0, 600.0), lasts_s: lasts_s(draw) }
    }
    /// The same in an area that is larger by this factor: as much fewer meet.
    pub fn spread(mut self, factor: f64) -> Self {
        self.field.side_m = rounded(self.field.side_m * math::sqrt(factor));
        self
    }
    /// A network of them.
    pub fn layout(&self) -> Layout {
        let more = format!(", pause = \"0..{} s\", initial = \"stationary_distribution\"", self.pause_s);
        self.field.alike(self.lasts_s, "random waypoint", self.field.everywhere("random_waypoint", &more))
    }
    /// The line of their radio.
    pub fn radio(&self) -> String {
        self.field.radio()
    }
}

/// Some clusters, and travellers between them; the sinks are the first cluster.
pub fn communities(draw: &mut Draw) -> Layout {
    const NAMES: [&str; 5] = ["c1", "c2", "c3", "c4", "c5"];
    let mut field = Field::drawn(draw);
    field.nodes = field.nodes.clamp(12, 120);
    let clusters = draw.whole(2, 5);
    let travellers = (field.nodes / draw.whole(4, 10)).max(1);
    let each = ((field.nodes - travellers) / clusters).max(1);
    let radius_m = rounded(field.side_m / 8.0);
    let mut groups: Vec<Group> = NAMES[..clusters as usize]
        .iter()
        .map(|name| {
            let at = [(); 2].map(|()| rounded(draw.between(0.15, 0.85) * field.side_m));
            let place = format!("center = \"{} m, {} m\", radius = \"{radius_m} m\"", at[0], at[1]);
            Group::new(name, each, field.lines("cluster", &place, ""))
        })
        .collect();
    let lines = field.everywhere("random_waypoint", ", pause = \"0..60 s\"");
    groups.insert(1, Group::new("traveller", travellers, lines));
    field.layout(lasts_s(draw), &format!("{clusters} communities"), groups)
}
