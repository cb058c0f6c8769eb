//! Where connections lead, and which of them are meant.

use serde::Deserialize;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Applications that must give a host and a port name a service `name.lightlag`; the port does not matter.
const SERVICES: &str = ".lightlag";
/// Least bits of a network that names addresses of the machine itself and of its link. A shorter prefix is "anything".
const EXPLICIT: u8 = 8;

/// A target as applications and daemons name it: `host:port`, the same with `udp:` before it, or the name of a
/// service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A stream to a host.
    Tcp(String, u16),
    /// Datagrams to a host.
    Udp(String, u16),
    /// What the far daemon knows by this name.
    Service(String),
}

impl Target {
    /// Reads its text.
    pub fn parse(text: &str) -> Self {
        let datagrams = text.strip_prefix("udp:");
        match host_and_port(datagrams.unwrap_or(text)) {
            Some((host, port)) if datagrams.is_some() => Self::Udp(host, port),
            Some((host, port)) => match host.strip_suffix(SERVICES) {
                Some(name) => Self::Service(name.to_owned()),
                None => Self::Tcp(host, port),
            },
            None => Self::Service(text.to_ascii_lowercase()),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let (kind, host, port) = match self {
            Self::Service(name) => return write!(to, "{name}"),
            Self::Tcp(host, port) => ("", host, port),
            Self::Udp(host, port) => ("udp:", host, port),
        };
        if host.contains(':') {
            write!(to, "{kind}[{host}]:{port}")
        } else {
            write!(to, "{kind}{host}:{port}")
        }
    }
}

/// Splits `host:port` or `[address]:port`.
fn host_and_port(text: &str) -> Option<(String, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host = bare.unwrap_or(host);
    let can_be = !host.is_empty() && (bare.is_some() || !host.contains(':'));
    can_be.then_some((host.to_ascii_lowercase(), port.parse().ok()?))
}

/// Which targets are meant: `*` (all), `host`, `*.domain`, `address/bits`, each with `:port` or without, or the name of
/// a service.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern {
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    All,
    Named(String),
    Below(String),
    Network(IpAddr, u8),
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self { hosts: Hosts::Network(address, bits(address)), port: None });
        }
        let (hosts, port) = match text.rsplit_once(':') {
            Some((hosts, "*")) => (hosts, None),
            Some((hosts, port)) if !hosts.ends_with(':') && !port.contains(']') && !port.contains('/') => {
                let port = port.parse().map_err(|_| format!("{text:?}: invalid port {port:?}"))?;
                (hosts, Some(port))
            }
            _ => (text.as_str(), None),
        };
        Ok(Self { hosts: Hosts::parse(hosts)?, port })
    }
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl Hosts {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        if text.is_empty() {
            return Err(
                "an empty pattern; it must be *, a host, *.domain, address/bits, or a service".to_owned()
            );
        }
        if text == "*" {
            return Ok(Self::All);
        }
        if let Some(domain) = text.strip_prefix("*.") {
            return Ok(Self::Below(domain.to_ascii_lowercase()));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self::Network(address, bits(address)));
        }
        let Some((address, length)) = text.split_once('/') else {
            return Ok(Self::Named(text.to_ascii_lowercase()));
        };
        let address: IpAddr =
            address.parse().map_err(|_| format!("{text:?}: {address:?} is not an address"))?;
        let length = length.parse().ok().filter(|length| *length <= bits(address));
        let length = length.ok_or_else(|| format!("{text:?}: the length must be 0 to {}", bits(address)))?;
        Ok(Self::Network(address, length))
    }
    fn contain(&self, host: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(name) => name == host,
            Self::Below(domain) => host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.ends_with('.')),
            Self::Network(network, length) => {
                host.parse().is_ok_and(|address| shares(*network, address, *length))
            }
        }
    }
}

/// The host without the final dot of an absolute name: both forms resolve to the same addresses.
fn relative(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

fn shares(one: IpAddr, other: IpAddr, length: u8) -> bool {
    let same = |one: u128, other: u128, width: u8| {
        length == 0 || (one ^ other) >> (width - length).min(127) == 0 && length <= width
    };
    match (one.to_canonical(), other.to_canonical()) {
        (IpAddr::V4(one), IpAddr::V4(other)) => same(one.to_bits().into(), other.to_bits().into(), 32),
        (IpAddr::V6(one), IpAddr::V6(other)) => same(one.to_bits(), other.to_bits(), 128),
        _ => false,
    }
}

impl Pattern {
    /// Whether a target is meant. A service is meant by its name and by nothing else.
    pub fn contains(&self, target: &Target) -> bool {
        match target {
            Target::Tcp(host, port) | Target::Udp(host, port) => {
                self.port.is_none_or(|wanted| wanted == *port) && self.hosts.contain(relative(host))
            }
            Target::Service(name) => matches!(&self.hosts, Hosts::Named(wanted) if wanted == name),
        }
    }
    /// Whether it names this address and port by a network, not by `*`, a domain or a network of fewer than
    /// [`EXPLICIT`] bits.
    pub fn names(&self, address: SocketAddr) -> bool {
        let is_port = self.port.is_none_or(|wanted| wanted == address.port());
        let is_named = |network, length| length >= EXPLICIT && shares(network, address.ip(), length);
        is_port && matches!(self.hosts, Hosts::Network(network, length) if is_named(network, length))
    }
    /// Whether it means this address and port by a network or by `*`.
    pub fn covers(&self, address: SocketAddr) -> bool {
        let is_port = self.port.is_none_or(|wanted| wanted == address.port());
        is_port
            && match self.hosts {
                Hosts::All => true,
                Hosts::Network(network, length) => shares(network, address.ip(), length),
                Hosts::Named(_) | Hosts::Below(_) => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn meant(pattern: &str, target: &str) -> bool {
        Pattern::try_from(pattern.to_owned()).unwrap().contains(&Target::parse(target))
    }

    #[test]
    fn patterns_mean_hosts_domains_networks_ports_and_services() {
        assert!(
            meant("*", "example.org:80") && meant("*:80", "example.org:80") && !meant("*:80", "a.org:81")
        );
        assert!(
            meant("*.org", "example.org:80") && !meant("*.org", "org:80") && !meant("*.org", "evilorg:80")
        );
        assert!(meant("Example.org", "example.ORG:80") && !meant("example.org", "www.example.org:80"));
        assert!(meant("10.0.0.0/8", "10.1.2.3:22") && !meant("10.0.0.0/8", "11.1.2.3:22"));
        assert!(meant("10.0.0.0/8:22", "10.1.2.3:22") && !meant("10.0.0.0/8:22", "10.1.2.3:23"));
        assert!(meant("0.0.0.0/0", "1.2.3.4:5") && !meant("0.0.0.0/0", "[::1]:5"));
        assert!(
            meant("::1", "[::1]:5")
                && meant("[fd00::/8]:5", "[fd12::1]:5")
                && !meant("fd00::/8", "[fe80::1]:5")
        );
        assert!(
            meant("web", "web.lightlag:80")
                && meant("web", "web")
                && !meant("*", "web")
                && meant("*", "udp:1.2.3.4:53")
        );
        assert!(meant("10.0.0.0/8", "[::ffff:10.1.2.3]:22"), "an address of IPv4 in one of IPv6 is the same");
    }

    #[test]
    fn wrong_patterns_are_told() {
        for wrong in ["", "10.0.0.0/33", "a/8", "host:99999"] {
            assert!(Pattern::try_from(wrong.to_owned()).is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(pattern in ".{0,40}", target in ".{0,40}") {
            let target = Target::parse(&target);
            if let Ok(pattern) = Pattern::try_from(pattern) {
                let _ = pattern.contains(&target);
            }
            prop_assert_eq!(Target::parse(&target.to_string()), target);
        }
    }
}
