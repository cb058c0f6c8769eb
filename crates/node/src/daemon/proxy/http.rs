//! HTTP CONNECT (RFC 9110, section 9.3.6), with hints in `Proxy-Authorization` (Basic) as SOCKS has them in the user's
//! name.

use super::socks::Wishes;
use super::{Router, accept};
use crate::daemon::config::Door;
use crate::daemon::target::Target;
use base64ct::{Base64, Encoding};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, PROXY_AUTHORIZATION};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use lightlag_protocols::wire::adaptive::{Hints, Why};
use std::convert::Infallible;
use std::rc::Rc;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;
use tracing::debug;

type Answer = Response<Full<Bytes>>;

/// Lets applications in, for as long as the daemon lives.
pub async fn serve(router: Rc<Router>, listener: TcpListener, door: Door) {
    loop {
        let socket = accept(&listener).await;
        let (router, hints) = (router.clone(), door.hints());
        spawn_local(async move {
            let service = service_fn(|request| answer(router.clone(), request, hints));
            let io = TokioIo::new(socket);
            let served = hyper::server::conn::http1::Builder::new()
                .preserve_header_case(true)
                .serve_connection(io, service)
                .with_upgrades();
            if let Err(why) = served.await {
                debug!(%why, "http");
            }
        });
    }
}

async fn answer(router: Rc<Router>, request: Request<Incoming>, hints: Hints) -> Result<Answer, Infallible> {
    if request.method() != Method::CONNECT {
        return Ok(say(StatusCode::METHOD_NOT_ALLOWED, "only CONNECT; with curl: --proxytunnel"));
    }
    let wishes = match wishes(request.headers(), hints) {
        Ok(wishes) => wishes,
        Err(why) => return Ok(say(StatusCode::BAD_REQUEST, &why)),
    };
    let asked = request.uri().authority().map(|authority| authority.to_string()).unwrap_or_default();
    let target = Target::parse(&asked);
    if !matches!(target, Target::Tcp(..) | Target::Service(_)) || asked.is_empty() {
        return Ok(say(StatusCode::BAD_REQUEST, "the target must be host:port"));
    }
    match router.connect(&target, wishes.hints, wishes.by.as_deref()).await {
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

fn wishes(headers: &HeaderMap, hints: Hints) -> Result<Wishes, String> {
    let Some(given) = headers.get(PROXY_AUTHORIZATION) else { return Ok(Wishes { hints, by: None }) };
    let wrong = || "Proxy-Authorization must be Basic, of WISHES:anything".to_owned();
    let text = given.to_str().ok().and_then(|text| text.strip_prefix("Basic ")).ok_or_else(wrong)?;
    let text =
        Base64::decode_vec(text).ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(wrong)?;
    Wishes::read(text.split(':').next().unwrap_or_default(), hints)
}

fn status(why: Why) -> StatusCode {
    match why {
        Why::Forbidden => StatusCode::FORBIDDEN,
        Why::Full => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_GATEWAY,
    }
}

fn say(status: StatusCode, line: &str) -> Answer {
    let mut answer = Response::new(Full::from(format!("{line}\n")));
    *answer.status_mut() = status;
    answer
}
