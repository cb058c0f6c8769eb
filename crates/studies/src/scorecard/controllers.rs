//! The controllers that are compared, and what carries them.

/// A controller over its usual transport.
pub struct Contestant {
    /// Name in tables and on the command line.
    pub name: &'static str,
    /// Lines of its flows in a scenario.
    pub keys: &'static str,
    /// Whether programs of Lightlag use it unless something else is configured.
    pub is_default: bool,
    /// Whether it uses the rate of a contact plan.
    pub is_planned: bool,
}

const fn tcp(name: &'static str, keys: &'static str) -> Contestant {
    Contestant { name, keys, is_default: false, is_planned: false }
}

/// The controller that flows beside others are compared with.
pub const REFERENCE: &str = "cubic";

/// Every contestant; defaults first.
pub const CONTESTANTS: &[Contestant] = &[
    Contestant {
        name: "contact_rate",
        keys: "transport = \"udpdtn\"\ncontroller = \"contact_rate\"",
        is_default: true,
        is_planned: true,
    },
    Contestant {
        name: "contact_rate_ltp",
        keys: "transport = \"ltp\"\ncontroller = \"contact_rate\"",
        is_default: false,
        is_planned: true,
    },
    Contestant {
        name: "contact_rate_datagrams",
        keys: "transport = \"adaptive\"\nswitch = \"datagrams\"\ncontroller = \"cubic\"\ndatagram_controller = \"contact_rate\"",
        is_default: true,
        is_planned: false,
    },
    Contestant { is_default: true, ..tcp("short_queue", "controller = \"short_queue\"") },
    tcp(REFERENCE, "controller = \"cubic\""),
    tcp("new_reno", "controller = \"new_reno\""),
    tcp("bbr", "controller = \"bbr\""),
    tcp("bbr3", "controller = \"bbr3\""),
    tcp("westwood_plus", "controller = \"westwood_plus\""),
    tcp("hybla", "controller = \"hybla\""),
    tcp("vegas", "controller = \"vegas\""),
    tcp("arc", "controller = \"arc\""),
    tcp("ledbat", "controller = \"ledbat\""),
    tcp("ledbat_plus_plus", "controller = \"ledbat_plus_plus\""),
    tcp("dcp", "controller = \"dcp\""),
    tcp("scream", "controller = \"scream\""),
    tcp("ccid2", "transport = \"dccp\"\ncontroller = \"ccid2\""),
    tcp("ccid3", "transport = \"dccp\"\ncontroller = \"ccid3\""),
];

/// The contestant of this name.
///
/// # Errors
/// The name is unknown; the message lists all names.
pub fn find(name: &str) -> Result<&'static Contestant, String> {
    let names = || CONTESTANTS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    let found = CONTESTANTS.iter().find(|row| row.name == name);
    found.ok_or_else(|| format!("--controller: `{name}` is not on the scorecard; it has {}", names()))
}
