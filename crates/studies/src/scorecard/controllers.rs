//! The controllers that are compared, and what carries them.

use super::names;
use super::space::Network;

/// A controller over a transport.
#[derive(Debug)]
pub struct Contestant {
    /// Name in tables and on the command line.
    pub name: &'static str,
    /// The transport, as tables show it.
    pub transport: &'static str,
    /// Lines of its flows in a scenario.
    pub keys: &'static str,
    /// Whether programs of Lightlag use it unless something else is configured.
    pub is_default: bool,
    /// Whether it uses the rate of a contact plan.
    pub is_planned: bool,
}

impl Contestant {
    /// Whether it controls a consumer of named data, in the world of names.
    pub fn is_of_names(&self) -> bool {
        self.transport == NAMES
    }
    /// Whether its world can express a network.
    pub fn plays(&self, network: &Network) -> bool {
        !self.is_of_names() || names::missing(network).is_none()
    }
}

const fn over(transport: &'static str, name: &'static str, keys: &'static str) -> Contestant {
    Contestant { name, transport, keys, is_default: false, is_planned: false }
}

const fn tcp(name: &'static str, keys: &'static str) -> Contestant {
    over("TCP", name, keys)
}

/// The transport of consumers of named data.
const NAMES: &str = "names";
/// Ends the names of their contestants.
const OVER_NAMES: &str = "_names";

/// The controller that flows beside others are compared with.
pub const REFERENCE: &str = "cubic";

/// Every contestant; defaults first.
pub const CONTESTANTS: &[Contestant] = &[
    Contestant {
        name: "contact_rate",
        transport: "UDPDTN",
        keys: "transport = \"udpdtn\"\ncontroller = \"contact_rate\"",
        is_default: true,
        is_planned: true,
    },
    Contestant {
        name: "contact_rate_ltp",
        transport: "LTP",
        keys: "transport = \"ltp\"\ncontroller = \"contact_rate\"",
        is_default: false,
        is_planned: true,
    },
    Contestant {
        name: "contact_rate_datagrams",
        transport: "datagrams",
        keys: "transport = \"adaptive\"\nswitch = \"datagrams\"\ncontroller = \"cubic\"\ndatagram_controller = \"contact_rate\"",
        is_default: true,
        is_planned: false,
    },
    Contestant { is_default: true, ..tcp("short_queue", "controller = \"short_queue\"") },
    Contestant { is_default: true, ..over(NAMES, "short_queue_names", "controller = \"short_queue\"") },
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
    tcp("sack", "controller = \"sack\""),
    tcp("fack", "controller = \"fack\""),
    tcp("careful_resume", "controller = \"careful_resume\""),
    tcp("tcp_planet", "controller = \"tcp_planet\""),
    over("DCCP", "ccid2", "transport = \"dccp\"\ncontroller = \"ccid2\""),
    over("DCCP", "ccid3", "transport = \"dccp\"\ncontroller = \"ccid3\""),
    over(NAMES, "dcp_names", "controller = \"dcp\""),
    over(NAMES, "aimd_names", "controller = \"aimd\""),
    over(NAMES, "icp_names", "controller = \"icp\""),
    over(NAMES, "contug_names", "controller = \"contug\""),
    over(NAMES, "pcon_names", "controller = \"pcon\""),
];

fn over_names(name: &str) -> Option<&'static Contestant> {
    let of_it = |row: &&Contestant| row.is_of_names() && row.name.strip_suffix(OVER_NAMES) == Some(name);
    CONTESTANTS.iter().find(of_it)
}

/// Those that `--controller` asks for: the contestant of this name, and the same controller over names.
///
/// # Errors
/// The name is unknown; the message lists all names.
pub fn asked(name: &str) -> Result<Vec<&'static Contestant>, String> {
    let found = find(name)?;
    let others = over_names(name).filter(|other| other.name != found.name);
    Ok(std::iter::once(found).chain(others).collect())
}

/// The contestant of this name, or of this controller over names.
///
/// # Errors
/// The name is unknown; the message lists all names.
pub fn find(name: &str) -> Result<&'static Contestant, String> {
    let names = || CONTESTANTS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    let found = CONTESTANTS.iter().find(|row| row.name == name).or_else(|| over_names(name));
    found.ok_or_else(|| format!("--controller: `{name}` is not on the scorecard; it has {}", names()))
}
