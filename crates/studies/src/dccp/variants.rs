//! Which protocols the study compares: a transport, a controller, and a fault.

/// A way to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// As tables and legends have it.
    pub name: &'static str,
    transport: &'static str,
    controller: &'static str,
    fault: Option<&'static str>,
}

const fn tcp(name: &'static str, controller: &'static str) -> Variant {
    Variant { name, transport: "tcp", controller, fault: None }
}

const fn dccp(name: &'static str, controller: &'static str) -> Variant {
    Variant { name, transport: "dccp", controller, fault: None }
}

const fn ltp(name: &'static str, controller: &'static str) -> Variant {
    Variant { name, transport: "ltp", controller, fault: None }
}

const fn over_dccp(name: &'static str, controller: &'static str, fault: Option<&'static str>) -> Variant {
    Variant { name, transport: "ltp-dccp", controller, fault }
}

const fn faulty(name: &'static str, controller: &'static str, fault: &'static str) -> Variant {
    Variant { name, transport: "dccp", controller, fault: Some(fault) }
}

/// What the poster chose for its nodes.
pub const CCID2: Variant = dccp("dccp, ccid2", "ccid2");
/// What it leaves to senders at an even rate.
pub const CCID3: Variant = dccp("dccp, ccid3", "ccid3");
/// What the poster's TCP was.
pub const TCP_SACK: Variant = tcp("tcp, sack", "sack");
/// Datagrams at the rate of the link, whatever is lost.
pub const UDP: Variant = dccp("udp", "fixed");

/// LTP over UDP at the rate of the link, and as fast as a host's interface sends, without control.
pub const LTP_PACED: Variant =
    ltp("ltp over udp, at 1.5 Mbit/s", r#"{ name = "fixed", rate = "1.5 Mbit/s" }"#);
pub const LTP_UNPACED: Variant =
    ltp("ltp over udp, at 100 Mbit/s", r#"{ name = "fixed", rate = "100 Mbit/s" }"#);

/// LTP over DCCP: what the poster set up. DCCP decides when segments leave (RFC 7122).
pub const LTP_CCID2: Variant = over_dccp("ltp over dccp, ccid2", "ccid2", None);
pub const LTP_CCID3: Variant = over_dccp("ltp over dccp, ccid3", "ccid3", None);
/// The same over DCCP as Linux was.
pub const LTP_LINUX: Variant =
    over_dccp("ltp over dccp, all four", r#"{ name = "ccid2", stuck_window = true }"#, Some("all"));

/// LTP on the poster's link, by what it is over.
pub const LTP: [Variant; 5] = [LTP_PACED, LTP_UNPACED, LTP_CCID2, LTP_CCID3, LTP_LINUX];

/// Controllers that both transports can have: (over TCP, over DCCP).
pub const PAIRS: [(Variant, Variant); 4] = [
    (TCP_SACK, dccp("dccp, sack", "sack")),
    (tcp("tcp, ccid2", "ccid2"), CCID2),
    (tcp("tcp, new_reno", "new_reno"), dccp("dccp, new_reno", "new_reno")),
    (tcp("tcp, cubic", "cubic"), dccp("dccp, cubic", "cubic")),
];

/// The window stays at one packet.
pub const STUCK: Variant = faulty("stuck window", r#"{ name = "ccid2", stuck_window = true }"#, "none");
/// The receiver waits for more packets than the window has.
pub const PAUSES: Variant = faulty("pauses", "ccid2", "pauses");
/// Losses are answered twice, or not at all.
pub const INCONSISTENT: Variant = faulty("inconsistent loss", "ccid2", "inconsistent_loss");
/// More is in flight than numbers allow.
pub const SMALL: Variant = faulty("small sequence window", "ccid2", "small_sequence_window");
/// As Linux was.
pub const LINUX: Variant = faulty("all four", r#"{ name = "ccid2", stuck_window = true }"#, "all");

/// The four of Linux before version 3.2, and all of them at once.
pub const FAULTS: [Variant; 5] = [STUCK, PAUSES, INCONSISTENT, SMALL, LINUX];

impl Variant {
    /// Whether a fault of Linux is brought back.
    pub fn is_faulty(&self) -> bool {
        self.fault.is_some()
    }
    /// Whether its acknowledgements name the packets that are lost.
    pub fn names_lost(&self) -> bool {
        self.transport == "dccp" && *self != CCID3
    }
    /// What paces it.
    pub fn controller(&self) -> &'static str {
        self.controller
    }
    /// Keys of the scenario that make it.
    pub fn sets(&self) -> Vec<(&'static str, String)> {
        let mut sets =
            vec![("transport", self.transport.to_owned()), ("controller", self.controller.to_owned())];
        if self.transport == "tcp" {
            // Ack Vectors report what SACK reports: losses are found alike.
            sets.push(("flows.one.recovery", "sack".to_owned()));
        }
        if *self == UDP {
            sets.push(("planned_rate", "plan".to_owned()));
        }
        sets.extend(self.fault.map(|fault| ("flows.one.fault", fault.to_owned())));
        sets
    }
}
