//! The mechanisms that meet in every cell.

use lightlag_scenario::{Catalogue, ScenarioFile};

/// The mechanism that is compared with all others.
pub const MECHANISM: &str = "copy_value";
/// Parameters of ours that are 0 where a part of it is taken away.
pub const PARTS: [&str; 2] = ["margin", "memory"];
const NONE: &str = "none";
/// What it has to beat.
const OTHERS: [&str; 5] = [NONE, "rrcc", "afner", "storage_routing", "credit"];
/// Also in drawn networks.
const LEARNING: &str = "smart_dtn_cc";
/// Nothing is ever dropped.
const UNLIMITED: &str = "none + receipts, unlimited buffers";
/// Without a mechanism, but with receipts as ours has them.
pub const NONE_WITH_RECEIPTS: &str = "none + receipts";
/// The one that sees all copies of all nodes: no real node can.
const ALL_SEEING: &str = "gbsd";

/// What a row of results is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// What is compared with all others.
    Ours,
    /// What it has to beat.
    Other,
    /// Ours without a part.
    Part,
    /// Beyond what is possible.
    Reference,
    /// What the router delivers where there is no congestion.
    Unlimited,
    /// Not a mechanism: what none can exceed.
    Bound,
}

impl Role {
    /// As columns of results have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Other => "other",
            Self::Part => "part",
            Self::Reference => "reference",
            Self::Unlimited => "unlimited",
            Self::Bound => "bound",
        }
    }
}

/// A mechanism and the policy of its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Treatment {
    /// Its name.
    pub name: String,
    /// The mechanism.
    pub mechanism: &'static str,
    /// The part of it that is taken away: a parameter that is 0.
    pub without: Option<&'static str>,
    /// Whether nodes report deliveries to each other.
    pub receipts: bool,
    /// What it is for.
    pub role: Role,
}

impl Treatment {
    fn new(mechanism: &'static str, receipts: bool, role: Role) -> Self {
        let name = if receipts { format!("{mechanism} + receipts") } else { mechanism.to_owned() };
        Self { name, mechanism, without: None, receipts, role }
    }

    /// Ours without a part.
    fn without(part: &'static str) -> Self {
        let whole = Self::new(MECHANISM, false, Role::Part);
        Self { name: name_without(part), without: Some(part), ..whole }
    }

    /// Whether the mechanism works with a router.
    pub fn fits(&self, catalogue: &Catalogue, router: &str) -> bool {
        let entry = catalogue.mechanisms.find(self.mechanism);
        entry.is_ok_and(|entry| {
            entry.only_with.is_empty() || entry.only_with.iter().any(|name| name == router)
        })
    }

    /// The mechanism's value in TOML.
    pub fn toml(&self) -> String {
        match self.without {
            Some(part) => format!("{{ name = \"{}\", {part} = 0 }}", self.mechanism),
            None => format!("\"{}\"", self.mechanism),
        }
    }

    /// Sets mechanism and receipts of all nodes.
    ///
    /// # Errors
    /// None with a scenario that can be read.
    pub fn set(&self, file: &mut ScenarioFile) -> Result<(), lightlag_scenario::Error> {
        file.set("mechanism", &self.toml())?;
        file.set("receipts", &self.receipts.to_string())
    }
}

/// The name of ours without a part.
pub fn name_without(part: &str) -> String {
    format!("{MECHANISM}, {part} = 0")
}

/// All that meet on recorded contacts: others have receipts, as ours does, and there is what the router delivers where
/// buffers are never full.
pub fn on_records() -> Vec<Treatment> {
    let mut all = vec![Treatment::new(MECHANISM, false, Role::Ours)];
    all.extend(OTHERS.map(|name| Treatment::new(name, true, Role::Other)));
    all.push(Treatment::new(ALL_SEEING, true, Role::Reference));
    all.push(Treatment { name: UNLIMITED.to_owned(), ..Treatment::new(NONE, true, Role::Unlimited) });
    all
}

/// All that meet in drawn networks: also ours without its parts, and nodes that do nothing at all.
pub fn in_networks() -> Vec<Treatment> {
    let mut all = vec![Treatment::new(MECHANISM, false, Role::Ours)];
    let others = OTHERS.into_iter().chain([LEARNING]);
    all.extend(others.map(|name| Treatment::new(name, true, Role::Other)));
    all.push(Treatment::new(NONE, false, Role::Other));
    all.extend(PARTS.map(Treatment::without));
    all.push(Treatment::new(ALL_SEEING, true, Role::Reference));
    all
}
