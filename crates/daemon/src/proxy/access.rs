//! Which addresses may be connected to from this machine for others: `serve`, `direct` and `deny` of the settings.
//!
//! A name is resolved once, its addresses are checked, and only those that were checked are connected to: a name server
//! that answers differently the second time (DNS rebinding) changes nothing.

use crate::target::{Pattern, Target};
use crate::{config, descriptors};
use lightlag_protocols::wire::session::CloseReason;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Addresses outside link-local networks at which clouds serve credentials to any program on the machine.
const METADATA: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254)),
];

/// Addresses of a target; never none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Of streams.
    Tcp(Vec<SocketAddr>),
    /// Of datagrams.
    Udp(Vec<SocketAddr>),
}

/// Which targets may be reached.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Of a peer: which targets go by it.
    pub reach: Vec<Pattern>,
    /// Which may be reached from here.
    pub serve: Vec<Pattern>,
    /// Which of those may not.
    pub deny: Vec<Pattern>,
}

impl Access {
    /// As the settings of a peer and of the whole daemon say.
    pub fn of(peer: &config::Peer, deny: &[Pattern]) -> Self {
        let deny = deny.iter().chain(&peer.deny).cloned().collect();
        Self { reach: peer.reach.clone(), serve: peer.serve.clone(), deny }
    }
    /// Resolves a target, and leaves out addresses that may not be reached.
    ///
    /// # Errors
    /// `Forbidden` if none is left, `Unreachable` if it does not resolve.
    pub async fn find(&self, target: &Target) -> Result<Addresses, CloseReason> {
        if !self.serve.iter().any(|pattern| pattern.contains(target))
            || self.deny.iter().any(|pattern| pattern.contains(target))
        {
            return Err(CloseReason::Forbidden);
        }
        let (Target::Tcp(host, _) | Target::Udp(host, _)) = target else {
            return Err(CloseReason::Unreachable);
        };
        let allowed = |addresses: Vec<SocketAddr>| -> Vec<SocketAddr> {
            addresses.into_iter().filter(|address| self.allows(host, *address)).collect()
        };
        let place = match resolve(target).await.map_err(|_| CloseReason::Unreachable)? {
            Addresses::Tcp(found) => Addresses::Tcp(allowed(found)),
            Addresses::Udp(found) => Addresses::Udp(allowed(found)),
        };
        let (Addresses::Tcp(left) | Addresses::Udp(left)) = &place;
        if left.is_empty() { Err(CloseReason::Forbidden) } else { Ok(place) }
    }
    /// Whether an address of a host that is served may be connected to.
    fn allows(&self, host: &str, address: SocketAddr) -> bool {
        let forms = || forms(address.ip()).map(|ip| SocketAddr::new(ip, address.port()));
        if forms().any(|form| self.deny.iter().any(|pattern| pattern.covers(form))) {
            return false;
        }
        // `localhost` in `serve` names what it is by definition (RFC 6761), and nothing else.
        let localhost = Target::Tcp("localhost".to_owned(), address.port());
        let is_localhost = host == "localhost"
            && self.serve.iter().any(|pattern| pattern.contains(&localhost) && !pattern.covers(address));
        forms().filter(|form| is_special(form.ip())).all(|form| {
            (is_localhost && form.ip().is_loopback()) || self.serve.iter().any(|pattern| pattern.names(form))
        })
    }
}

/// Addresses of a target, unchecked.
///
/// # Errors
/// It does not resolve.
pub async fn resolve(target: &Target) -> io::Result<Addresses> {
    let (Target::Tcp(host, port) | Target::Udp(host, port)) = target else {
        return Err(io::Error::other("a service that leads to another one"));
    };
    let found = descriptors::resolve(host, *port).await?;
    if found.is_empty() {
        return Err(io::Error::other("cannot resolve the peer's address"));
    }
    Ok(if matches!(target, Target::Udp(..)) { Addresses::Udp(found) } else { Addresses::Tcp(found) })
}

/// An address, and the IPv4 address that it stands for where it is one of IPv6: mapped and compatible (RFC 4291,
/// section 2.5.5), NAT64 (RFC 6052 and 8215, with 96 bits of prefix), 6to4 (RFC 3056), Teredo (RFC 4380: the client).
fn forms(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let inner = match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(whole) => {
            let words = whole.segments();
            let at = |high: u16, low: u16| {
                let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
                IpAddr::from(Ipv4Addr::new(a, b, c, d))
            };
            match words {
                [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
                [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => {
                    Some(at(high, low))
                }
                [0x64, 0xff9b, 0 | 1, _, _, _, high, low] => Some(at(high, low)),
                [0x2002, high, low, ..] => Some(at(high, low)),
                [0x2001, 0, .., high, low] => Some(at(!high, !low)),
                _ => None,
            }
        }
    };
    // Of a mapped address, only the inner one is meant.
    let own = (address.to_canonical() == address).then_some(address);
    own.into_iter().chain(inner)
}

/// Whether an address is the machine's own or of its link, or means no single host: `*` does not contain it.
fn is_special(address: IpAddr) -> bool {
    let by_kind = match address {
        IpAddr::V4(one) => {
            one.is_loopback()
                || one.is_link_local()
                || one.is_multicast()
                || one.is_broadcast()
                || one.octets()[0] == 0
        }
        IpAddr::V6(one) => {
            let site_local = one.segments()[0] & 0xffc0 == 0xfec0;
            one.is_loopback()
                || one.is_unspecified()
                || one.is_multicast()
                || one.is_unicast_link_local()
                || site_local
        }
    };
    by_kind || METADATA.contains(&address) || is_own(address)
}

/// Whether it is an address of this machine: the kernel sends from it what goes to it.
fn is_own(address: IpAddr) -> bool {
    let any = if address.is_ipv4() { IpAddr::from([0; 4]) } else { IpAddr::from([0; 16]) };
    let connected = UdpSocket::bind((any, 0)).and_then(|socket| {
        // Nothing is sent; any port does.
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    connected.is_ok_and(|own| own.ip() == address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn access(serve: &[&str], deny: &[&str]) -> Access {
        let read = |texts: &[&str]| {
            texts.iter().map(|text| Pattern::try_from((*text).to_owned()).unwrap()).collect()
        };
        Access { reach: Vec::new(), serve: read(serve), deny: read(deny) }
    }

    fn find(access: &Access, target: &str) -> Result<Addresses, CloseReason> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(access.find(&Target::parse(target)))
    }

    #[test]
    fn a_star_contains_no_address_of_the_machine_itself_or_its_link_in_any_notation() {
        let all = access(&["*", "0.0.0.0/0", "::/0"], &[]);
        for target in [
            "127.0.0.1:80",
            "127.9.9.9:80",
            "127.1:80",
            "2130706433:80",
            "0x7f000001:80",
            "0177.0.0.1:80",
            "localhost:80",
            "localhost.:80",
            "0.0.0.0:80",
            "0:80",
            "169.254.169.254:80",
            "100.100.100.200:80",
            "168.63.129.16:80",
            "224.0.0.1:80",
            "255.255.255.255:80",
            "[::1]:80",
            "[::]:80",
            "[::ffff:127.0.0.1]:80",
            "[::ffff:0:127.0.0.1]:80",
            "[::127.0.0.1]:80",
            "[64:ff9b::169.254.169.254]:80",
            "[64:ff9b:1::127.0.0.1]:80",
            "[2002:7f00:1::]:80",
            "[2001:0:1:2:3:4:80ff:fffe]:80",
            "[fe80::1]:80",
            "[fec0::1]:80",
            "[ff02::1]:80",
            "[fd00:ec2::254]:80",
            "udp:127.0.0.1:53",
            "udp:[::ffff:169.254.1.1]:53",
        ] {
            let found = find(&all, target);
            assert!(
                matches!(found, Err(CloseReason::Forbidden | CloseReason::Unreachable)),
                "{target} was allowed: {found:?}"
            );
        }
        for target in ["192.0.2.1:80", "10.1.2.3:80", "[2001:db8::1]:80", "[64:ff9b::192.0.2.1]:80"] {
            assert!(find(&all, target).is_ok(), "{target}");
        }
    }

    #[test]
    fn own_addresses_are_served_where_they_are_named_and_denied_where_both_are() {
        assert!(find(&access(&["127.0.0.0/8"], &[]), "127.0.0.1:80").is_ok());
        assert!(find(&access(&["127.0.0.1:80"], &[]), "127.0.0.1:80").is_ok());
        assert!(find(&access(&["127.0.0.1:80"], &[]), "127.0.0.1:81").is_err());
        assert!(find(&access(&["*", "127.0.0.0/8"], &[]), "[::ffff:127.0.0.1]:80").is_ok());
        assert!(find(&access(&["localhost"], &[]), "localhost:80").is_ok());
        assert!(find(&access(&["*", "127.0.0.0/8"], &["127.0.0.1"]), "127.0.0.1:80").is_err());
        assert!(find(&access(&["*"], &["10.0.0.0/8"]), "10.0.0.1:80").is_err());
        assert!(find(&access(&["*"], &["10.0.0.0/8"]), "[64:ff9b::10.0.0.1]:80").is_err());
        assert!(find(&access(&["*"], &["10.0.0.0/8:22"]), "10.0.0.1:80").is_ok());
        assert!(find(&access(&["*"], &["a.example"]), "A.Example.:80").is_err());
        assert!(
            find(&access(&["*", "127.0.0.0/8"], &["127.0.0.1"]), "localhost:80").is_err(),
            "by its address"
        );
    }

    proptest! {
        /// Every address in a forbidden block is refused whatever block of IPv6 it is written in.
        #[test]
        fn no_notation_of_a_special_address_is_in_a_star(low in any::<u32>(), form in 0..5_usize, block in 0..3_usize) {
            let (base, mask) = [(0x7f00_0000_u32, 8), (0xa9fe_0000, 16), (0, 8)][block];
            let inner = Ipv4Addr::from(base | (low & (u32::MAX >> mask)));
            let bits = u128::from(inner.to_bits());
            let address = match form {
                0 => IpAddr::V4(inner),
                1 => inner.to_ipv6_mapped().into(),
                2 => Ipv6Addr::from((0x0064_ff9b_u128 << 96) | bits).into(),
                3 => Ipv6Addr::from((0x2002_u128 << 112) | (bits << 80)).into(),
                _ => Ipv6Addr::from((0x2001_0000_u128 << 96) | u128::from(!inner.to_bits())).into(),
            };
            prop_assert!(!access(&["*", "::/0", "0.0.0.0/0"], &[]).allows("x", SocketAddr::new(address, 80)));
        }
    }
}
