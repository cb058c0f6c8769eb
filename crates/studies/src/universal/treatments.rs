//! The mechanisms that meet in every cell.

use super::grid::{PAPER, RECORDED};

/// The mechanism that is compared with all others.
pub const MECHANISM: &str = "copy_value";
/// Parameters that take away a part of it.
const WITHOUT: [(&str, &str); 4] = [("memory", "0"), ("share", "0"), ("margin", "0"), ("horizon", "100")];
/// What it has to beat, each plain and with receipts.
const OTHERS: [&str; 5] = ["none", "rrcc", "afner", "storage_routing", "credit"];
/// Nothing is ever dropped.
const UNLIMITED: &str = "none + receipts, unlimited buffers";
/// Without receipts these send thousands of bytes for each that they deliver, where buffers overflow.
const RESTLESS: [&str; 3] = ["none", "afner", "storage_routing"];
/// The one that sees all copies of all nodes: no real node can.
const ALL_SEEING: &str = "gbsd";

/// What a row of results is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// What is compared with all others.
    Ours,
    /// What it has to beat.
    Other,
    /// A part of ours alone, or ours without a part.
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
    /// A parameter that is not as usual.
    pub parameter: Option<(&'static str, &'static str)>,
    /// Whether nodes report deliveries to each other.
    pub receipts: bool,
    /// Whether nodes remember what they dropped.
    pub drop_memory: bool,
    /// What it is for.
    pub role: Role,
}

impl Treatment {
    fn new(mechanism: &'static str, receipts: bool, role: Role) -> Self {
        let name = if receipts { format!("{mechanism} + receipts") } else { mechanism.to_owned() };
        Self { name, mechanism, parameter: None, receipts, drop_memory: false, role }
    }

    fn remembering(receipts: bool) -> Self {
        let plain = Self::new(OTHERS[0], receipts, Role::Part);
        Self { name: format!("{} + memory of drops", plain.name), drop_memory: true, ..plain }
    }

    fn without((parameter, value): (&'static str, &'static str)) -> Self {
        let whole = Self::new(MECHANISM, false, Role::Part);
        Self {
            name: format!("{}, {parameter} = {value}", whole.name),
            parameter: Some((parameter, value)),
            ..whole
        }
    }

    /// Whether it takes longer to run than all others together, and is never ahead of itself with receipts.
    pub fn is_restless(&self) -> bool {
        self.role == Role::Other && !self.receipts && RESTLESS.contains(&self.mechanism)
    }

    /// The mechanism's value in TOML.
    pub fn toml(&self) -> String {
        let Some((parameter, value)) = self.parameter else { return self.mechanism.to_owned() };
        format!("{{ name = \"{}\", {parameter} = {value} }}", self.mechanism)
    }
}

/// All that meet in the cells of a grid: that of stress leaves the parts out, recorded contacts also what has no receipts.
pub fn treatments(grid: &str) -> Vec<Treatment> {
    let others = OTHERS
        .iter()
        .flat_map(|name| [false, true].map(|receipts| Treatment::new(name, receipts, Role::Other)))
        .filter(|treatment| treatment.receipts || grid != RECORDED);
    // It brings receipts of its own, which are charged to the link.
    let mut all = vec![Treatment::new(MECHANISM, false, Role::Ours)];
    all.extend(others);
    if grid == PAPER {
        all.extend(WITHOUT.map(Treatment::without));
        all.extend([false, true].map(Treatment::remembering));
    }
    all.push(Treatment::new(ALL_SEEING, true, Role::Reference));
    all.push(Treatment { name: UNLIMITED.to_owned(), ..Treatment::new(OTHERS[0], true, Role::Unlimited) });
    all
}

/// All that meet in drawn networks.
pub fn of_networks() -> Vec<Treatment> {
    if let Ok(list) = std::env::var("LL_TREAT") {
        let of = |one: &str| {
            let (name, value): (&'static str, &'static str) =
                Box::leak(one.to_owned().into_boxed_str()).split_once(':').unwrap();
            Treatment { name: name.into(), parameter: Some((value, "1")), ..Treatment::new(MECHANISM, false, Role::Part) }
        };
        return list.split(';').map(of).collect();
    }
    let mut all = vec![Treatment::new(MECHANISM, false, Role::Ours)];
    let names = OTHERS.into_iter().chain(["smart_dtn_cc"]);
    all.extend(names.map(|name| Treatment::new(name, true, Role::Other)));
    all.push(Treatment::new("none", false, Role::Other));
    all.push(Treatment::new(ALL_SEEING, true, Role::Reference));
    all
}
