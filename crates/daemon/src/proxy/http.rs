//! HTTP CONNECT (RFC 9110, section 9.3.6), with hints in `Proxy-Authorization` (Basic) as SOCKS has them in the user's
//! name.

use super::socks::RequestedHints;
use super::{Router, Via, accept};
use crate::config::Acceptor;
use crate::descriptors;
use crate::page_server::REQUEST_WITHIN;
use crate::target::Target;
use base64ct::{Base64, Encoding};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use lightlag_protocols::wire::session::CloseReason;
use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;
use tracing::debug;

type Answer = Response<Full<Bytes>>;

/// Lets applications in, for as long as the daemon runs.
pub async fn serve(router: Rc<Router>, listener: Rc<TcpListener>, door: Rc<Acceptor>) {
    loop {
        let socket = accept(&listener).await;
        let (router, door) = (router.clone(), door.clone());
        descriptors::spawn(|caller| async move {
            let caller = RefCell::new(Some(caller));
            let service = service_fn(|request: Request<Incoming>| {
                // It waits for its target now, which may take long.
                caller.borrow_mut().take_if(|_| request.method() == Method::CONNECT);
                answer(router.clone(), request, door.clone())
            });
            let io = TokioIo::new(socket);
            let served = hyper::server::conn::http1::Builder::new()
                .preserve_header_case(true)
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST_WITHIN)
                .serve_connection(io, service)
                .with_upgrades();
            if let Err(why) = served.await {
                debug!(%why, "closed an HTTP client");
            }
        });
    }
}

async fn answer(
    router: Rc<Router>,
    request: Request<Incoming>,
    door: Rc<Acceptor>,
) -> Result<Answer, Infallible> {
    if request.method() != Method::CONNECT {
        return Ok(say(StatusCode::METHOD_NOT_ALLOWED, "only CONNECT; with curl: --proxytunnel"));
    }
    let requested = match requested(request.headers(), &door) {
        Ok(requested) => requested,
        Err((status, why)) => {
            let mut answer = say(status, &why);
            if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
                router.intruders.set(router.intruders.get() + 1);
                let how = HeaderValue::from_static("Basic realm=\"lightlagd\"");
                answer.headers_mut().insert(PROXY_AUTHENTICATE, how);
            }
            return Ok(answer);
        }
    };
    let asked = request.uri().authority().map(|authority| authority.to_string()).unwrap_or_default();
    let target = Target::parse(&asked);
    if !matches!(target, Target::Tcp(..) | Target::Service(_)) || asked.is_empty() {
        return Ok(say(StatusCode::BAD_REQUEST, "the target must be host:port"));
    }
    match router.connect(&target, requested.hints, Via::of(&requested)).await {
        Ok(way) => {
            spawn_local(async move {
                let Ok(upgraded) = hyper::upgrade::on(request).await else { return };
                let Ok(parts) = upgraded.downcast::<TokioIo<TcpStream>>() else { return };
                router.carry_after(way, parts.io.into_inner(), &parts.read_buf).await;
            });
            Ok(Response::new(Full::default()))
        }
        Err(why) => Ok(say(status(why), &format!("{target}: {why:?}"))),
    }
}

fn requested(headers: &HeaderMap, door: &Acceptor) -> Result<RequestedHints, (StatusCode, String)> {
    let needed = |why: &str| (StatusCode::PROXY_AUTHENTICATION_REQUIRED, why.to_owned());
    let wrong = |why: String| (StatusCode::BAD_REQUEST, why);
    let Some(given) = headers.get(PROXY_AUTHORIZATION) else {
        return match &door.password {
            Some(_) => Err(needed("this proxy needs a password")),
            None => Ok(RequestedHints { hints: door.hints(), by: None }),
        };
    };
    let basic = || "Proxy-Authorization must be Basic, of HINTS:PASSWORD".to_owned();
    let text = given.to_str().ok().and_then(|text| text.split_once(' '));
    let text = text.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic")).map(|(_, text)| text.trim());
    let text =
        text.and_then(|text| Base64::decode_vec(text).ok()).and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.ok_or_else(|| wrong(basic()))?;
    let (user, password) = text.split_once(':').unwrap_or((&text, ""));
    let hints = door.admit(user, password.as_bytes()).map_err(|why| needed(&why))?;
    RequestedHints::read(hints, door.hints()).map_err(wrong)
}

fn status(why: CloseReason) -> StatusCode {
    match why {
        CloseReason::Forbidden => StatusCode::FORBIDDEN,
        CloseReason::Full => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_GATEWAY,
    }
}

fn say(status: StatusCode, line: &str) -> Answer {
    let mut answer = Response::new(Full::from(format!("{line}\n")));
    *answer.status_mut() = status;
    answer
}
