//! Bundles and buffers of a drawn network.

use super::{Draw, Group, Layout, rounded};
use std::fmt::Write as _;

/// Bundles of the usual size that all contacts of a run can carry.
const TRANSFERS_MAX: f64 = 200_000.0;
/// Bundles of a run.
const BUNDLES: (f64, f64) = (150.0, 2500.0);

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    /// All to all.
    Uniform,
    /// All to the first group.
    Sink,
    /// Three of five bundles to the first group.
    HotSpot,
    /// All to all, within a tenth of the run.
    Burst,
}

impl Pattern {
    fn word(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Sink => "sink",
            Self::HotSpot => "hot spot",
            Self::Burst => "burst",
        }
    }
}

/// Traffic and buffers.
pub struct Traffic {
    /// Usual size of a bundle, in bytes.
    size: f64,
    /// Whether there are small and large bundles.
    mixed: bool,
    /// Bundles of a run.
    bundles: f64,
    /// Whether every second group has a fifth of the buffer.
    unequal: bool,
    /// Usual lifetime, in s.
    lifetime_s: f64,
    /// Buffer of a node, in bytes.
    buffer: f64,
    pattern: Pattern,
}

/// Bundles that are alike.
struct Flow<'a> {
    name: &'a str,
    to: &'a str,
    bundles: f64,
    size: f64,
    lifetime_s: f64,
}

impl Traffic {
    /// From a tenth to ten times a usual load, with buffers for a 200th to all of the bundles that are alive.
    pub fn drawn(draw: &mut Draw, layout: &Layout) -> Self {
        let most = rounded(layout.contact_bytes().max(2000.0) / 3.0);
        let least = rounded(layout.capacity_bytes / TRANSFERS_MAX);
        let size = draw.log(1e3, 1e6).min(most).max(least).round();
        let mixed = draw.chance(0.25);
        let load = f64::from(layout.nodes())
            * layout.contacts_of_node.max(1.0).sqrt()
            * (layout.contact_bytes() / size).max(1.0).sqrt();
        let bundles = (draw.log(0.1, 10.0) * load).clamp(BUNDLES.0, BUNDLES.1).round();
        let unequal = draw.chance(0.3);
        let lifetime_s = rounded(layout.duration_s * draw.log(0.05, 2.0));
        let alive = bundles * (lifetime_s / layout.duration_s).min(1.0);
        let largest = if mixed { 8.0 * size } else { size };
        let buffer = rounded((draw.log(0.005, 1.0) * alive * size).max(2.0 * largest)).round();
        let pattern =
            draw.pick(&[Pattern::Uniform, Pattern::Uniform, Pattern::Sink, Pattern::HotSpot, Pattern::Burst]);
        Self { size, mixed, bundles, unequal, lifetime_s, buffer, pattern }
    }

    /// Tables of nodes and of traffic.
    pub fn text(&self, layout: &Layout) -> String {
        let mut text = String::new();
        for (number, group) in layout.groups.iter().enumerate() {
            let Group { name, count, lines } = group;
            let buffer = self.buffer_of(number);
            let _ = writeln!(
                text,
                "[nodes.{name}]\ncount = {count}\nfirst = 1\nbuffer = \"{buffer} B\"\n{lines}"
            );
        }
        let all = layout.groups.iter().map(|group| group.name).collect::<Vec<_>>().join(", ");
        for flow in self.flows(&all, layout.groups[0].name) {
            self.write(&mut text, &flow, &all, layout.duration_s);
        }
        text
    }

    /// Buffer of the nodes of a group, in bytes: the largest bundle fits.
    fn buffer_of(&self, group: usize) -> f64 {
        let largest = if self.mixed { 8.0 * self.size } else { self.size };
        let small = self.unequal && group % 2 == 1;
        if small { (self.buffer / 5.0).max(1.2 * largest).round() } else { self.buffer }
    }

    fn flows<'a>(&self, all: &'a str, first: &'a str) -> Vec<Flow<'a>> {
        let Self { size, bundles, lifetime_s, .. } = *self;
        let to = if self.pattern == Pattern::Sink { first } else { all };
        let of = |name, to, share: f64| Flow { name, to, bundles: share * bundles, size, lifetime_s };
        if self.mixed {
            let large =
                Flow { size: 6.0 * size, lifetime_s: rounded(2.0 * lifetime_s), ..of("large", to, 0.2) };
            return vec![Flow { size: size / 3.0, ..of("small", to, 0.8) }, large];
        }
        match self.pattern {
            Pattern::HotSpot => vec![of("most", first, 0.6), of("rest", all, 0.4)],
            _ => vec![of("usual", to, 1.0)],
        }
    }

    /// The table of a flow; the last quarter of the run has no new bundles.
    fn write(&self, text: &mut String, flow: &Flow<'_>, from: &str, duration_s: f64) {
        let Flow { name, to, bundles, size, lifetime_s } = flow;
        let (start, span) = match self.pattern {
            Pattern::Burst => (0.2 * duration_s, 0.1 * duration_s),
            _ => (0.0, 0.75 * duration_s),
        };
        let every = span / bundles.max(1.0);
        let _ = write!(
            text,
            "[traffic.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ninterval = \"{}..{} s\"\narrivals = \"uniform\"\n\
             size = \"{}..{} B\"\nlifetime = \"{lifetime_s} s\"\nstart = \"{start} s\"\nend = \"{} s\"\n\
             prefix = \"{name}\"\n\n",
            rounded(0.5 * every),
            rounded(1.5 * every),
            (0.7 * size).round(),
            (1.3 * size).round(),
            start + span,
        );
    }

    /// In words.
    pub fn described(&self, layout: &Layout) -> String {
        format!(
            "{} nodes; {} bundles of {} kB{}, {}; lifetime {} s of {} s; buffers of {:.0} bundles{}",
            layout.nodes(),
            self.bundles,
            rounded(self.size / 1e3),
            if self.mixed { ", small and large" } else { "" },
            self.pattern.word(),
            self.lifetime_s,
            layout.duration_s,
            self.buffer / self.size,
            if self.unequal { ", unequal" } else { "" },
        )
    }
}
