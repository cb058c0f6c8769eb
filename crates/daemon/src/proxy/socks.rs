//! SOCKS5 (RFC 1928), with hints in the user's name (RFC 1929).

use super::datagrams;
use super::{Router, Via, accept};
use crate::config::Acceptor;
use crate::descriptors::{self, Caller};
use crate::log_limit;
use crate::target::Target;
use fast_socks5::server::{
    AuthMethod, AuthMethodSuccessState, NoAuthentication, NoAuthenticationImpl, Socks5ServerProtocol,
    SocksServerError, states,
};
use fast_socks5::util::target_addr::TargetAddr;
use fast_socks5::{ReplyError, Socks5Command};
use lightlag_protocols::session::PRIORITIES;
use lightlag_protocols::wire::session::{CloseReason, Hints};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tracing::info;

/// A client that sends nothing for this time is closed.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a connection must be carried, and by which peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedHints {
    /// How.
    pub hints: Hints,
    /// By which of the other daemons.
    pub by: Option<String>,
}

impl RequestedHints {
    /// Reads `priority=3,durable,delay=5000,peer=mars`, each of them or none, over what holds otherwise.
    ///
    /// # Errors
    /// What is wrong.
    pub fn read(text: &str, otherwise: Hints) -> Result<Self, String> {
        let mut requested = Self { hints: otherwise, by: None };
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let number = || value.parse::<u64>().map_err(|_| format!("{key}={value}: not a number"));
            match key {
                "priority" if value.parse::<u8>().is_ok_and(|given| given < PRIORITIES) => {
                    requested.hints.priority = number()? as u8;
                }
                "durable" if value.is_empty() => requested.hints.durable = true,
                "delay" => requested.hints.delay_most_ms = Some(number()?),
                "peer" if !value.is_empty() => requested.by = Some(value.to_owned()),
                _ => {
                    return Err(format!(
                        "{part:?}: it must be priority=0 to {}, durable, delay=MS or peer=NAME",
                        PRIORITIES - 1
                    ));
                }
            }
        }
        Ok(requested)
    }
    /// The same from the user's name of an application. Java sends the name of its user and an empty password without
    /// being asked to: a plain word with an empty password is no hint.
    fn of_user(text: &str, otherwise: Hints, password: &[u8]) -> Result<Self, String> {
        let read = Self::read(text, otherwise);
        let is_plain = password.is_empty() && !text.contains(['=', ',']);
        if is_plain { read.or(Ok(Self { hints: otherwise, by: None })) } else { read }
    }
}

impl fmt::Display for RequestedHints {
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

/// Lets applications in, for as long as the daemon runs.
pub async fn serve(router: Rc<Router>, listener: Rc<TcpListener>, door: Rc<Acceptor>) {
    loop {
        let socket = accept(&listener).await;
        let (router, door) = (router.clone(), door.clone());
        descriptors::spawn(|caller| async move {
            if let Err(why) = answer(&router, socket, &door, caller).await
                && let Some(suppressed) = log_limit::allow("socks")
            {
                info!(why, suppressed, "closed a client that did not speak SOCKS5");
            }
        });
    }
}

async fn answer(
    router: &Rc<Router>,
    socket: TcpStream,
    door: &Acceptor,
    caller: Caller,
) -> Result<(), String> {
    let asked =
        tokio::time::timeout(PATIENCE, ask(socket, door)).await.map_err(|_| "no request within 60 s")?;
    if asked.as_ref().is_err_and(|why| door.password.is_some() && why.contains("password")) {
        router.intruders.set(router.intruders.get() + 1);
    }
    let ((proto, command, target), requested) = asked?;
    drop(caller);
    let failed = |why: SocksServerError| why.to_string();
    match command {
        Socks5Command::TCPConnect => {
            let target = named(&target);
            match router.connect(&target, requested.hints, Via::of(&requested)).await {
                Ok(way) => {
                    let unspecified = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
                    let socket = proto.reply_success(unspecified).await.map_err(failed)?;
                    router.carry(way, socket).await;
                    Ok(())
                }
                Err(why) => proto.reply_error(&reply(why)).await.map_err(failed),
            }
        }
        Socks5Command::UDPAssociate => datagrams::associate(router, proto, requested).await,
        Socks5Command::TCPBind => proto.reply_error(&ReplyError::CommandNotSupported).await.map_err(failed),
    }
}

type Asked<S> = (Socks5ServerProtocol<S, states::CommandRead>, Socks5Command, TargetAddr);

/// Username/password (RFC 1929), read here: a password may be empty, as Java's is, which the library refuses without an
/// answer.
#[derive(Clone, Copy)]
struct UserName;

/// The socket, before the subnegotiation or after it.
struct UserNameState<S>(S);

impl<S> AuthMethod<S> for UserName {
    type StartingState = UserNameState<S>;

    fn method_id(self) -> u8 {
        2
    }
    fn new(self, inner: S) -> Self::StartingState {
        UserNameState(inner)
    }
}

impl<S> AuthMethodSuccessState<S> for UserNameState<S> {
    fn into_inner(self) -> S {
        self.0
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> UserNameState<S> {
    /// What the application says: a name and a password, each of 0 to 255 bytes.
    async fn read(&mut self) -> Result<(Vec<u8>, Vec<u8>), String> {
        let failed = |why: std::io::Error| why.to_string();
        let version = self.0.read_u8().await.map_err(failed)?;
        if version != 1 {
            return Err(format!("user-name authentication version {version}; 1 is accepted"));
        }
        let [mut name, mut password] = [Vec::new(), Vec::new()];
        for part in [&mut name, &mut password] {
            part.resize(self.0.read_u8().await.map_err(failed)?.into(), 0);
            self.0.read_exact(part).await.map_err(failed)?;
        }
        Ok((name, password))
    }
    async fn reply(&mut self, is_right: bool) -> Result<(), String> {
        self.0.write_all(&[1, u8::from(!is_right)]).await.map_err(|why| why.to_string())
    }
}

fast_socks5::auth_method_enums! {
    enum Method / Started<S> {
        NoAuthentication(NoAuthenticationImpl<S>),
        UserName(UserNameState<S>),
    }
}

/// Hears what an application asks for.
///
/// # Errors
/// It does not speak SOCKS5, gives no password where one is needed, or its hints are wrong.
pub async fn ask<S>(socket: S, door: &Acceptor) -> Result<(Asked<S>, RequestedHints), String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let failed = |why: SocksServerError| why.to_string();
    // A client without a user name has no hints; one with a user name offers both methods.
    let methods = [Method::UserName(UserName), Method::NoAuthentication(NoAuthentication)];
    let methods = if door.password.is_some() { &methods[..1] } else { &methods[..] };
    let started = Socks5ServerProtocol::start(socket).negotiate_auth(methods).await.map_err(|why| {
        if door.password.is_some() { format!("no password offered: {why}") } else { why.to_string() }
    })?;
    let (proto, requested) = match started {
        Started::NoAuthentication(auth) => {
            (Socks5ServerProtocol::finish_auth(auth), RequestedHints { hints: door.hints(), by: None })
        }
        Started::UserName(mut auth) => {
            let (user, password) = auth.read().await?;
            let user = std::str::from_utf8(&user).map_err(|_| "the user name is not UTF-8".to_owned());
            let hints = user.and_then(|user| door.admit(user, &password));
            let requested = hints.and_then(|hints| RequestedHints::of_user(hints, door.hints(), &password));
            auth.reply(requested.is_ok()).await?;
            (Socks5ServerProtocol::finish_auth(auth), requested?)
        }
    };
    Ok((proto.read_command().await.map_err(failed)?, requested))
}

/// A target of SOCKS as daemons name it.
pub fn named(target: &TargetAddr) -> Target {
    match target {
        TargetAddr::Ip(address) => Target::Tcp(address.ip().to_string(), address.port()),
        TargetAddr::Domain(name, port) => Target::parse(&format!("{name}:{port}")),
    }
}

fn reply(why: CloseReason) -> ReplyError {
    match why {
        CloseReason::Refused => ReplyError::ConnectionRefused,
        CloseReason::Unreachable => ReplyError::HostUnreachable,
        CloseReason::Forbidden => ReplyError::ConnectionNotAllowed,
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
        let read = |text| RequestedHints::read(text, otherwise);
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
            let _ = RequestedHints::read(&text, Hints::default());
        }
    }
}
