//! SOCKS5 (RFC 1928), with hints in the user's name (RFC 1929).

use super::datagrams;
use super::{Router, accept};
use crate::daemon::config::Door;
use crate::daemon::target::Target;
use fast_socks5::server::{
    NoAuthentication, PasswordAuthentication, Socks5ServerProtocol, SocksServerError, StandardAuthentication,
    StandardAuthenticationStarted, states,
};
use fast_socks5::util::target_addr::TargetAddr;
use fast_socks5::{ReplyError, Socks5Command};
use lightlag_protocols::adaptive::PRIORITIES;
use lightlag_protocols::wire::adaptive::{Hints, Why};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;
use tracing::info;

/// Who says nothing for so long is let go.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a connection is to be carried, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// How.
    pub hints: Hints,
    /// By which of the other daemons.
    pub by: Option<String>,
}

impl Wishes {
    /// Reads `priority=3,durable,delay=5000,peer=mars`, each of them or none, over what holds otherwise.
    ///
    /// # Errors
    /// What is wrong.
    pub fn read(text: &str, otherwise: Hints) -> Result<Self, String> {
        let mut wishes = Self { hints: otherwise, by: None };
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let number = || value.parse::<u64>().map_err(|_| format!("{key}={value}: no number"));
            match key {
                "priority" if value.parse::<u8>().is_ok_and(|given| given < PRIORITIES) => {
                    wishes.hints.priority = number()? as u8;
                }
                "durable" if value.is_empty() => wishes.hints.durable = true,
                "delay" => wishes.hints.delay_most_ms = Some(number()?),
                "peer" if !value.is_empty() => wishes.by = Some(value.to_owned()),
                _ => {
                    return Err(format!(
                        "{part:?}: it must be priority=0 to {}, durable, delay=MS or peer=NAME",
                        PRIORITIES - 1
                    ));
                }
            }
        }
        Ok(wishes)
    }
}

impl fmt::Display for Wishes {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let Self { hints, by } = self;
        write!(to, "priority={}", hints.priority)?;
        if hints.durable {
            write!(to, ",durable")?;
        }
        if let Some(most) = hints.delay_most_ms {
            write!(to, ",delay={most}")?;
        }
        by.as_ref().map_or(Ok(()), |name| write!(to, ",peer={name}"))
    }
}

/// Lets applications in, for as long as the daemon lives.
pub async fn serve(router: Rc<Router>, listener: TcpListener, door: Door) {
    loop {
        let socket = accept(&listener).await;
        let (router, hints) = (router.clone(), door.hints());
        spawn_local(async move {
            if let Err(why) = answer(&router, socket, hints).await {
                info!(why, "an application was let go: this door speaks SOCKS5");
            }
        });
    }
}

async fn answer(router: &Rc<Router>, socket: TcpStream, hints: Hints) -> Result<(), String> {
    let asked = tokio::time::timeout(PATIENCE, ask(socket, hints)).await.map_err(|_| "it says nothing")?;
    let ((proto, command, target), wishes) = asked?;
    let failed = |why: SocksServerError| why.to_string();
    match command {
        Socks5Command::TCPConnect => {
            let target = named(&target);
            match router.connect(&target, wishes.hints, wishes.by.as_deref()).await {
                Ok(way) => {
                    let unspecified = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
                    let socket = proto.reply_success(unspecified).await.map_err(failed)?;
                    router.carry(way, socket).await;
                    Ok(())
                }
                Err(why) => proto.reply_error(&reply(why)).await.map_err(failed),
            }
        }
        Socks5Command::UDPAssociate => datagrams::associate(router, proto, wishes).await,
        Socks5Command::TCPBind => proto.reply_error(&ReplyError::CommandNotSupported).await.map_err(failed),
    }
}

type Asked<S> = (Socks5ServerProtocol<S, states::CommandRead>, Socks5Command, TargetAddr);

/// Hears what an application asks for.
///
/// # Errors
/// It does not speak SOCKS5, or its wishes are wrong.
pub async fn ask<S>(socket: S, hints: Hints) -> Result<(Asked<S>, Wishes), String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let failed = |why: SocksServerError| why.to_string();
    // Who offers no name has no wishes; who has one offers to go without it, too.
    let methods = [
        StandardAuthentication::PasswordAuthentication(PasswordAuthentication),
        StandardAuthentication::NoAuthentication(NoAuthentication),
    ];
    let started = Socks5ServerProtocol::start(socket).negotiate_auth(&methods).await.map_err(failed)?;
    let (proto, wishes) = match started {
        StandardAuthenticationStarted::NoAuthentication(auth) => {
            (Socks5ServerProtocol::finish_auth(auth), Wishes { hints, by: None })
        }
        StandardAuthenticationStarted::PasswordAuthentication(auth) => {
            let (user, _, auth) = auth.read_username_password().await.map_err(failed)?;
            match Wishes::read(&user, hints) {
                Ok(wishes) => {
                    (Socks5ServerProtocol::finish_auth(auth.accept().await.map_err(failed)?), wishes)
                }
                Err(why) => {
                    auth.reject().await.map_err(failed)?;
                    return Err(why);
                }
            }
        }
    };
    Ok((proto.read_command().await.map_err(failed)?, wishes))
}

/// A target of SOCKS as daemons name it.
pub fn named(target: &TargetAddr) -> Target {
    match target {
        TargetAddr::Ip(address) => Target::Tcp(address.ip().to_string(), address.port()),
        TargetAddr::Domain(name, port) => Target::parse(&format!("{name}:{port}")),
    }
}

fn reply(why: Why) -> ReplyError {
    match why {
        Why::Refused => ReplyError::ConnectionRefused,
        Why::Unreachable => ReplyError::HostUnreachable,
        Why::Forbidden => ReplyError::ConnectionNotAllowed,
        _ => ReplyError::GeneralFailure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wishes_are_read_over_what_holds_otherwise() {
        let otherwise = Hints { priority: 1, ..Hints::default() };
        let read = |text| Wishes::read(text, otherwise);
        assert_eq!(read("").unwrap().hints, otherwise);
        let all = read("priority=3, durable,delay=5000,peer=mars").unwrap();
        assert_eq!(all.hints, Hints { priority: 3, durable: true, delay_most_ms: Some(5000) });
        assert_eq!(all.by.as_deref(), Some("mars"));
        assert_eq!(all.to_string(), "priority=3,durable,delay=5000,peer=mars");
        assert!(read("priority=9").unwrap_err().contains("priority=0 to 3"));
    }

    proptest! {
        #[test]
        fn no_wishes_make_it_panic(text in ".{0,60}") {
            let _ = Wishes::read(&text, Hints::default());
        }
    }
}
