//! The readings of what the paper leaves open, and the slices behind its figures under each.

use super::cell::{
    BUFFER, CONTACTS, DROP_MEMORY, DURATION, INTER_CONTACT, LIFETIME, MECHANISM, MOBILITY, PERIOD,
    PROPAGATION, READING, RECEIPTS, ROUTER, TRAFFIC, USUAL, WORLD,
};
use super::plan::BESIDE;
use crate::shared::runs::Runs;
use lightlag_lab::results::Results;

/// Which of the paper's open points a claim depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Contact tables, traffic and propagation between planets.
    Interplanetary,
    /// What nodes remember and report on Earth.
    Terrestrial,
}

/// A reading of what the paper leaves open: values that columns must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What is different from the primary reading.
    pub name: &'static str,
    interplanetary: [(&'static str, &'static str); 3],
    switches: [(&'static str, &'static str); 2],
    variation: Option<&'static Variation>,
    /// The caption of figure 9 says 500 kB, table 4 says 1000 kB.
    figure_9_buffer: &'static str,
}

/// Something that the figures use, a mechanism for instance, read otherwise: a key of the scenario files with another
/// value, whose runs replace those of the primary reading.
#[derive(Debug, PartialEq, Eq)]
pub struct Variation {
    /// Name of the reading.
    pub name: &'static str,
    /// Column and value of the runs that it replaces.
    pub replaces: (&'static str, &'static str),
    /// Key and value in TOML.
    pub set: (&'static str, &'static str),
}

/// A mechanism under one of its readings.
const fn read(name: &'static str, mechanism: &'static str, as_toml: &'static str) -> Variation {
    Variation { name, replaces: (MECHANISM, mechanism), set: ("mechanism", as_toml) }
}

/// CCC with one of its constants, to which the paper gives no values, a quarter or four times ours.
const fn credit(name: &'static str, as_toml: &'static str) -> Variation {
    read(name, "credit", as_toml)
}

/// Every variation.
pub const VARIATIONS: &[Variation] = &[
    read("RRCC: limit per contact", "rrcc", r#"{ name = "rrcc", limit_of = "contact" }"#),
    read("AFNER: numbers learned at contacts", "afner", r#"{ name = "afner", knowledge = "gossip" }"#),
    read("AFNER: numbers 600 s old", "afner", r#"{ name = "afner", knowledge = "stale" }"#),
    credit("CCC: a credit lost in 15 s", r#"{ name = "credit", unit = "15 s" }"#),
    credit("CCC: a credit lost in 240 s", r#"{ name = "credit", unit = "240 s" }"#),
    credit("CCC: maximum 25", r#"{ name = "credit", initial = 25, maximum = 25 }"#),
    credit("CCC: maximum 400", r#"{ name = "credit", initial = 400, maximum = 400 }"#),
    credit("CCC: minimum 25", r#"{ name = "credit", minimum = 25 }"#),
    credit("CCC: minimum 50", r#"{ name = "credit", minimum = 50 }"#),
    credit("CCC: penalty 1.25", r#"{ name = "credit", penalty = 1.25 }"#),
    credit("CCC: penalty 20", r#"{ name = "credit", penalty = 20 }"#),
    credit("CCC: reward 1.25", r#"{ name = "credit", reward = 1.25 }"#),
    credit("CCC: reward 20", r#"{ name = "credit", reward = 20 }"#),
    Variation {
        name: "random walk to any place",
        replaces: (MOBILITY, "random_walk"),
        set: (
            "mobility",
            r#"{ model = "random_waypoint", area = "1 km x 1 km", speed = "0.5..1.5 m/s", initial = "stationary_distribution" }"#,
        ),
    },
];

const STRETCHED: (&str, &str) = (CONTACTS, "S");
const PERIODIC: (&str, &str) = (CONTACTS, "P");
const BASE_TO_ROVERS: (&str, &str) = (TRAFFIC, "base_to_rovers");
const ALL_TO_ALL: (&str, &str) = (TRAFFIC, "all_to_all");
const PIPELINED: (&str, &str) = (PROPAGATION, "pipelined");
const STOP_AND_WAIT: (&str, &str) = (PROPAGATION, "stop_and_wait");
const PLAIN: [(&str, &str); 2] = [(RECEIPTS, "false"), (DROP_MEMORY, "false")];

impl Reading {
    /// Table 2 and its stretched forms, the base station sends to the rovers, links carry on while bits travel,
    /// nodes neither report deliveries nor remember drops.
    pub const PRIMARY: Self = Self {
        name: "stretched tables, base to rovers, pipelined",
        interplanetary: [STRETCHED, BASE_TO_ROVERS, PIPELINED],
        switches: PLAIN,
        variation: None,
        figure_9_buffer: "500",
    };

    /// The readings of mechanisms, movements and buffers, in the primary reading of the scenario.
    pub fn varied() -> impl Iterator<Item = Self> {
        let of = |one: &'static Variation| Self { name: one.name, variation: Some(one), ..Self::PRIMARY };
        let large = Self { name: "figure 9 with 1000 kB", figure_9_buffer: "1000", ..Self::PRIMARY };
        VARIATIONS.iter().map(of).chain([large])
    }

    /// Whether it is one of [`Self::varied`].
    pub fn is_varied(&self) -> bool {
        self.variation.is_some() || self.figure_9_buffer != Self::PRIMARY.figure_9_buffer
    }

    /// Whether what is read otherwise was run; of a reading of the scenario a part may be missing.
    pub fn was_run(&self, results: &Results) -> bool {
        let place = [(MOBILITY, "random_walk"), (BUFFER, self.figure_9_buffer)];
        match self.variation {
            Some(variation) => !Runs::all(results).only(READING, variation.name).is_empty(),
            None => !self.is_varied() || !Runs::all(results).fixed(&place).is_empty(),
        }
    }

    /// Every reading of the interplanetary scenario, the primary one first.
    pub fn all_interplanetary() -> Vec<Self> {
        [Self::PRIMARY].into_iter().chain(Self::others(Scope::Interplanetary)).collect()
    }

    /// The interplanetary reading of that name.
    ///
    /// # Panics
    /// If the name is unknown.
    pub fn named(name: &str) -> Self {
        let found = Self::all_interplanetary().into_iter().find(|reading| reading.name == name);
        found.expect("the names of readings are written in this crate")
    }

    /// The other readings that matter for a claim.
    pub fn others(scope: Scope) -> Vec<Self> {
        match scope {
            Scope::Interplanetary => [
                ("stop-and-wait", [STRETCHED, BASE_TO_ROVERS, STOP_AND_WAIT]),
                ("all to all", [STRETCHED, ALL_TO_ALL, PIPELINED]),
                ("all to all, stop-and-wait", [STRETCHED, ALL_TO_ALL, STOP_AND_WAIT]),
                ("periodic tables", [PERIODIC, BASE_TO_ROVERS, PIPELINED]),
                ("periodic, stop-and-wait", [PERIODIC, BASE_TO_ROVERS, STOP_AND_WAIT]),
                ("periodic, all to all", [PERIODIC, ALL_TO_ALL, PIPELINED]),
                ("periodic, all to all, stop-and-wait", [PERIODIC, ALL_TO_ALL, STOP_AND_WAIT]),
            ]
            .map(|(name, interplanetary)| Self { name, interplanetary, ..Self::PRIMARY })
            .to_vec(),
            Scope::Terrestrial => [
                ("with receipts", "true", "false"),
                ("with memory of drops", "false", "true"),
                ("with both", "true", "true"),
            ]
            .map(|(name, receipts, memory)| {
                let switches = [(RECEIPTS, receipts), (DROP_MEMORY, memory)];
                Self { name, switches, ..Self::PRIMARY }
            })
            .to_vec(),
        }
    }
}

/// The slices behind the paper's figures, under one reading.
#[derive(Clone, Debug)]
pub struct Data<'a> {
    /// Figure 3: delivery ratio over the generation period, between planets.
    pub figure_3: Runs<'a>,
    /// Figure 5: over the inter-contact time.
    pub figure_5: Runs<'a>,
    /// Figure 6: latency over the buffer size.
    pub figure_6: Runs<'a>,
    /// Figure 7: over the contact duration.
    pub figure_7: Runs<'a>,
    /// Figure 8: delivery ratio over the generation period, on Earth.
    pub figure_8: Runs<'a>,
    /// Figures 9 to 11: mobility models and routers.
    pub figure_9: Runs<'a>,
    /// Ours: lifetimes shorter than the run, between planets.
    pub lifetimes: Runs<'a>,
    /// Ours: figure 8 at 300 s with smaller and larger messages, the same bytes offered.
    pub sizes: Runs<'a>,
    /// Ours: figure 8 at 300 s with radios that reach less far.
    pub ranges: Runs<'a>,
    /// Ours: ION's rule between planets and on Earth.
    pub ion: Runs<'a>,
}

impl<'a> Data<'a> {
    /// Takes the slices.
    pub fn of(results: &'a Results, reading: &Reading) -> Self {
        let usual = Runs::all(results).only(READING, USUAL);
        let read = reading.variation.map_or(usual.clone(), |variation| {
            let (column, value) = variation.replaces;
            usual.without(column, value).and(&Runs::all(results).only(READING, variation.name))
        });
        let all = read.fixed(&reading.switches);
        let planets = all.only(WORLD, "ipn").fixed(&reading.interplanetary);
        let whole_life = planets.only(LIFETIME, "12");
        let earth = all.only(WORLD, "terrestrial");
        let beside = |what| Runs::all(results).only(READING, what);
        const EPIDEMIC: (&str, &str) = (ROUTER, "epidemic");
        const EVERY_300_S: (&str, &str) = (PERIOD, "300");
        const USUAL_BUFFER: (&str, &str) = (BUFFER, "4000");
        const USUAL_GAP: (&str, &str) = (INTER_CONTACT, "1000");
        const USUAL_LENGTH: (&str, &str) = (DURATION, "1000");
        Self {
            figure_3: whole_life.fixed(&[EPIDEMIC, USUAL_BUFFER, USUAL_GAP, USUAL_LENGTH]),
            figure_5: whole_life.fixed(&[EVERY_300_S, USUAL_BUFFER, USUAL_LENGTH]),
            figure_6: whole_life.fixed(&[EVERY_300_S, USUAL_GAP, USUAL_LENGTH]),
            figure_7: whole_life.fixed(&[EVERY_300_S, USUAL_BUFFER, USUAL_GAP]),
            figure_8: earth.fixed(&[EPIDEMIC, (BUFFER, "1000"), (MOBILITY, "random_waypoint")]),
            figure_9: earth.fixed(&[(BUFFER, reading.figure_9_buffer), EVERY_300_S]),
            sizes: beside(BESIDE[0]),
            ranges: beside(BESIDE[1]),
            ion: beside(BESIDE[2]),
            lifetimes: planets.fixed(&[
                EPIDEMIC,
                (MECHANISM, "none"),
                (PERIOD, "100"),
                USUAL_BUFFER,
                USUAL_GAP,
                USUAL_LENGTH,
            ]),
        }
    }
}
