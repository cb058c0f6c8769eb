//! Which protocols the study compares, and under which readings.

/// The paper's protocol, as its first two experiments run it: without slow start.
pub const DCP: &str = "dcp";
/// The same with slow start, as the paper's third experiment runs it.
pub const DCP_SLOW_START: &str = "dcp, slow start";
/// The first flow without slow start, the second with it: what the newcomer alone does to the first.
pub const NEWCOMER: &str = "dcp, newcomer's slow start";
/// The same where the site that answers marks its Data, instead of a guess from delays.
pub const DCP_MARKS: &str = "dcp, site marks";
/// The same without timestamps on Data, so that it measures round trips.
pub const DCP_ROUND_TRIPS: &str = "dcp, round trips";
/// What the paper compares with as "TCP": only timeouts signal loss, and each halves the window.
pub const TCP_LIKE: &str = "aimd, each timeout";
/// LEDBAT at the target that DCP has.
pub const LEDBAT: &str = "ledbat";
/// LEDBAT++.
pub const LEDBAT_PLUS_PLUS: &str = "ledbat_plus_plus";
/// What the consumers of Named Data Networking do: one cut per round trip.
pub const AIMD: &str = "aimd";
/// Ours.
pub const OURS: &str = "short_queue";

/// Everybody, in the order of tables.
pub const ALL: [&str; 11] =
    [DCP, TCP_LIKE, LEDBAT, LEDBAT_PLUS_PLUS, AIMD, "icp", "contug", "cubic", "pcon", "bbr", OURS];

/// Readings of DCP and of those it is compared with, in the order of their table.
pub const READINGS: [&str; 13] = [
    DCP,
    "dcp, no resets",
    DCP_MARKS,
    "dcp, MAD as printed",
    DCP_SLOW_START,
    "dcp, MAD as printed, slow start",
    "dcp, flight after removal",
    "ledbat",
    "ledbat, 100 ms",
    TCP_LIKE,
    "aimd, each timeout, slow start",
    "aimd, no slow start",
    AIMD,
];

/// Keys that make a variant of any of the scenarios, whose links queue `queue_packets` packets.
pub fn sets(variant: &str, queue_packets: u32) -> Vec<(&'static str, String)> {
    let mut sets = vec![("controller", controller(variant).to_owned())];
    if variant == NEWCOMER {
        sets.push(("second", controller(DCP_SLOW_START).to_owned()));
    }
    if variant == DCP_ROUND_TRIPS {
        sets.push(("stamps", "none".to_owned()));
    }
    if variant == "pcon" {
        // Its forwarders mark what has waited too long.
        let queue = format!(r#"{{ discipline = "codel", limit = "{queue_packets} packets", mark = true }}"#);
        sets.push(("queue", queue));
    }
    sets
}

/// The controller of a variant, as a scenario names it.
pub fn controller(variant: &str) -> &str {
    match variant {
        "dcp, no resets" => r#"{ name = "dcp", new_site = "off" }"#,
        DCP_MARKS => r#"{ name = "dcp", new_site = "mark" }"#,
        "dcp, MAD as printed" => r#"{ name = "dcp", new_site = "mad" }"#,
        NEWCOMER | DCP_ROUND_TRIPS => DCP,
        DCP_SLOW_START => r#"{ name = "dcp", slow_start = true }"#,
        "dcp, MAD as printed, slow start" => r#"{ name = "dcp", new_site = "mad", slow_start = true }"#,
        "dcp, flight after removal" => r#"{ name = "dcp", flight = "after" }"#,
        LEDBAT => r#"{ name = "ledbat", target = "50 ms" }"#,
        "ledbat, 100 ms" => r#"{ name = "ledbat", target = "100 ms" }"#,
        TCP_LIKE => r#"{ name = "aimd", slow_start = false, timeouts = "each" }"#,
        "aimd, each timeout, slow start" => r#"{ name = "aimd", timeouts = "each" }"#,
        "aimd, no slow start" => r#"{ name = "aimd", slow_start = false }"#,
        other => other,
    }
}
