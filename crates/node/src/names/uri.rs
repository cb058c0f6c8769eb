//! Where a face leads to, as text.

use crate::Error;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

/// Where forwarders of NDN listen.
const PORT: u16 = 6363;
/// The variable by which NDN programs find their forwarder.
const VARIABLE: &str = "NDN_CLIENT_TRANSPORT";
/// Where it is if nothing is said.
const DEFAULT: &str = "unix:///run/nfd/nfd.sock";

/// Where a face leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaceUri {
    /// `udp://HOST:PORT`
    Udp(SocketAddr),
    /// `tcp://HOST:PORT`
    Tcp(SocketAddr),
    /// `unix:///PATH`
    Unix(PathBuf),
}

impl FaceUri {
    /// The forwarder of this machine: what `NDN_CLIENT_TRANSPORT` says, or `unix:///run/nfd/nfd.sock`.
    ///
    /// # Errors
    /// One line if the variable holds no such text.
    pub fn of_machine() -> Result<Self, Error> {
        let said = std::env::var(VARIABLE).ok().filter(|said| !said.is_empty());
        let Some(said) = said else { return DEFAULT.parse() };
        said.parse().map_err(|why| Error::Input(format!("${VARIABLE}: {why}")))
    }
    /// Whether it stays within this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Udp(at) | Self::Tcp(at) => at.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
    /// Whether its port is 0, where no listener can be.
    fn is_nowhere(&self) -> bool {
        matches!(self, Self::Udp(at) | Self::Tcp(at) if at.port() == 0)
    }
    /// It, as a place to connect to.
    ///
    /// # Errors
    /// One line if the port is 0.
    pub fn reachable(self) -> Result<Self, Error> {
        if self.is_nowhere() {
            return Err(Error::Input(format!(
                "{self}: port 0 is not a destination; name a port from 1 to 65535"
            )));
        }
        Ok(self)
    }
}

impl FromStr for FaceUri {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |what: &str| {
            let right = "write udp://HOST:PORT, tcp://HOST:PORT or unix:///PATH";
            Error::Input(format!("`{text}`: {what}; {right}"))
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("it has no `://`"))?;
        if scheme == "unix" {
            let is_path = rest.len() > 1 && rest.starts_with('/');
            return if is_path { Ok(Self::Unix(rest.into())) } else { Err(wrong("it has no absolute path")) };
        }
        let at = || address(rest.strip_suffix('/').unwrap_or(rest)).map_err(|why| wrong(&why));
        match scheme {
            "udp" | "udp4" | "udp6" => Ok(Self::Udp(at()?)),
            "tcp" | "tcp4" | "tcp6" => Ok(Self::Tcp(at()?)),
            other => Err(wrong(&format!("unknown transport `{other}`"))),
        }
    }
}

/// The first address that `HOST[:PORT]` stands for, IPv4 if there is one.
fn address(text: &str) -> Result<SocketAddr, String> {
    let has_port = text.rsplit_once(':').is_some_and(|(host, port)| {
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        is_number && (!host.contains(':') || host.ends_with(']'))
    });
    let full = if has_port { text.to_owned() } else { format!("{text}:{PORT}") };
    let found: Vec<SocketAddr> = full.to_socket_addrs().map_err(|why| why.to_string())?.collect();
    let first = found.iter().find(|at| at.is_ipv4()).or_else(|| found.first());
    first.copied().ok_or_else(|| "the name stands for no address".to_owned())
}

impl fmt::Display for FaceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp(at) => write!(f, "udp://{at}"),
            Self::Tcp(at) => write!(f, "tcp://{at}"),
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        for text in ["udp://127.0.0.1:6363", "tcp://[::1]:7", "unix:///run/nfd/nfd.sock"] {
            assert_eq!(text.parse::<FaceUri>().map(|uri| uri.to_string()).as_deref(), Ok(text));
        }
        assert_eq!("udp4://127.0.0.1".parse(), Ok(FaceUri::Udp(([127, 0, 0, 1], PORT).into())));
    }

    #[test]
    fn what_is_no_place_is_refused_with_what_would_be_right() {
        for text in [
            "",
            "udp",
            "127.0.0.1:1",
            "ws://a",
            "unix://a",
            "unix:///",
            "udp://",
            "tcp://a b:1",
            "tcp://h:99999",
        ] {
            let line = text.parse::<FaceUri>().expect_err(text).to_string();
            assert!(line.contains("write udp://HOST:PORT") && !line.contains('\n'), "{text}: {line}");
        }
        let nowhere: FaceUri = "udp://127.0.0.1:0".parse().expect("an address");
        assert!(nowhere.reachable().is_err());
    }
}
