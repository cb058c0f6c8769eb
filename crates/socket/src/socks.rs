//! The client of SOCKS5 (RFC 1928), with hints in the user's name (RFC 1929).
//!
//! By hand: three messages, read to the byte as what follows is the application's.

use crate::error;
use rustix::io::Errno;
use std::io::{self, Read, Write};
use std::net::IpAddr;

/// Bytes that a name, of a host or of a user, may have.
const NAME_MAX: usize = 255;
const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const USER_AND_PASSWORD: u8 = 2;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const DOMAIN: u8 = 3;
const IPV6: u8 = 4;

/// Destination of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// To an address.
    Address(IpAddr),
    /// To a name that the far side knows.
    Name(String),
}

impl Host {
    /// Reads an address, with brackets or without, or takes a name.
    ///
    /// # Errors
    /// `EINVAL` where it is empty or too long.
    pub fn parse(text: &str) -> io::Result<Self> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        match bare.parse::<IpAddr>() {
            Ok(address) => Ok(Self::Address(address.to_canonical())),
            Err(_) if (1..=NAME_MAX).contains(&text.len()) => Ok(Self::Name(text.to_owned())),
            Err(_) => Err(error::of(Errno::INVAL)),
        }
    }
}

/// Asks a daemon, to which `line` leads, for a connection. After it `line` is that connection.
///
/// # Errors
/// `ECONNREFUSED`, `EHOSTUNREACH`, `ENETUNREACH`, `EACCES`, `ETIMEDOUT`, `EOPNOTSUPP` or `ECONNABORTED` as the daemon says;
/// `EINVAL` where it does not take the hints; `EPROTO` where it speaks otherwise; what `line` says.
pub fn ask(line: &mut (impl Read + Write), host: &Host, port: u16, hints: &str) -> io::Result<()> {
    let method = if hints.is_empty() { NO_AUTHENTICATION } else { USER_AND_PASSWORD };
    line.write_all(&[VERSION, 1, method])?;
    expect(read(line)?, [VERSION, method])?;
    if method == USER_AND_PASSWORD {
        let length = u8::try_from(hints.len()).map_err(|_| error::of(Errno::INVAL))?;
        // The password is ignored, but must have a byte.
        line.write_all(&[&[1, length], hints.as_bytes(), &[1, b'-']].concat())?;
        let [_, status] = read::<2>(line)?;
        if status != 0 {
            return Err(error::of(Errno::INVAL));
        }
    }
    line.write_all(&request(host, port)?)?;
    let [version, reply, _, kind] = read(line)?;
    expect([version], [VERSION])?;
    if reply != 0 {
        return Err(error::of(refusal(reply)));
    }
    let rest = match kind {
        IPV4 => 4,
        IPV6 => 16,
        DOMAIN => read::<1>(line)?[0].into(),
        _ => return Err(error::of(Errno::PROTO)),
    };
    const PORT: usize = 2;
    line.read_exact(&mut [0; NAME_MAX + PORT][..rest + PORT])
}

fn read<const N: usize>(line: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    line.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn expect<const N: usize>(said: [u8; N], wanted: [u8; N]) -> io::Result<()> {
    if said == wanted { Ok(()) } else { Err(error::of(Errno::PROTO)) }
}

fn request(host: &Host, port: u16) -> io::Result<Vec<u8>> {
    let mut message = vec![VERSION, CONNECT, 0];
    match host {
        Host::Address(IpAddr::V4(address)) => {
            message.push(IPV4);
            message.extend(address.octets());
        }
        Host::Address(IpAddr::V6(address)) => {
            message.push(IPV6);
            message.extend(address.octets());
        }
        Host::Name(name) => {
            let length = u8::try_from(name.len()).map_err(|_| error::of(Errno::INVAL))?;
            message.extend([DOMAIN, length]);
            message.extend(name.as_bytes());
        }
    }
    message.extend(port.to_be_bytes());
    Ok(message)
}

/// RFC 1928, section 6.
fn refusal(reply: u8) -> Errno {
    match reply {
        2 => Errno::ACCESS,
        3 => Errno::NETUNREACH,
        4 => Errno::HOSTUNREACH,
        5 => Errno::CONNREFUSED,
        6 => Errno::TIMEDOUT,
        7 => Errno::OPNOTSUPP,
        8 => Errno::AFNOSUPPORT,
        _ => Errno::CONNABORTED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    /// What the far end says, and what was said to it.
    struct Script(Cursor<Vec<u8>>, Vec<u8>);

    impl Read for Script {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.0.read(to)
        }
    }
    impl Write for Script {
        fn write(&mut self, from: &[u8]) -> io::Result<usize> {
            self.1.write(from)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn script(says: &[u8]) -> Script {
        Script(Cursor::new(says.to_vec()), Vec::new())
    }

    #[test]
    fn the_three_messages_are_those_of_the_rfcs() {
        let mut line = script(&[5, 2, 1, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        ask(&mut line, &Host::parse("mars").unwrap(), 80, "durable").unwrap();
        assert_eq!(line.1, b"\x05\x01\x02\x01\x07durable\x01-\x05\x01\x00\x03\x04mars\x00\x50");
        let mut line = script(&[5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        ask(&mut line, &Host::parse("::ffff:1.2.3.4").unwrap(), 80, "").unwrap();
        assert_eq!(line.1, b"\x05\x01\x00\x05\x01\x00\x01\x01\x02\x03\x04\x00\x50");
    }

    #[test]
    fn refusals_have_the_numbers_of_errno() {
        for (reply, errno) in [(5, Errno::CONNREFUSED), (4, Errno::HOSTUNREACH), (2, Errno::ACCESS)] {
            let mut line = script(&[5, 0, 5, reply, 0, 1, 0, 0, 0, 0, 0, 0]);
            let why = ask(&mut line, &Host::Name("a".to_owned()), 1, "").unwrap_err();
            assert_eq!(error::number(&why), errno.raw_os_error());
        }
        let why = ask(&mut script(&[5, 2, 1, 1]), &Host::Name("a".to_owned()), 1, "priority=9").unwrap_err();
        assert_eq!(error::number(&why), Errno::INVAL.raw_os_error());
        let why = ask(&mut script(&[5]), &Host::Name("a".to_owned()), 1, "").unwrap_err();
        assert_eq!(error::number(&why), Errno::CONNRESET.raw_os_error());
    }

    proptest! {
        #[test]
        fn whatever_the_far_end_says_it_does_not_panic(says: Vec<u8>, hints in ".{0,40}", host in ".{0,300}", port: u16) {
            if let Ok(host) = Host::parse(&host) {
                let _ = ask(&mut script(&says), &host, port, &hints);
            }
        }
        #[test]
        fn no_byte_of_the_application_is_read(bound in any::<IpAddr>(), name in "[a-z]{0,255}", after: Vec<u8>) {
            let address = match bound {
                IpAddr::V4(address) => [&[IPV4][..], &address.octets()].concat(),
                IpAddr::V6(address) => [&[IPV6][..], &address.octets()].concat(),
            };
            for address in [address, [&[DOMAIN, name.len() as u8][..], name.as_bytes()].concat()] {
                let head = [&[5, 0, 5, 0, 0][..], &address, &[1, 2]].concat();
                let mut line = script(&[&head[..], &after].concat());
                ask(&mut line, &Host::Name("a".to_owned()), 1, "").unwrap();
                prop_assert_eq!(line.0.position() as usize, head.len());
            }
        }
    }
}
