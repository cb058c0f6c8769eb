//! The daemon's control interface: HTTP over a Unix socket that only its owner can open. The page and
//! the metrics are the same over TCP, without what changes anything.

use super::config::Choice;
use super::events;
use super::metrics;
use super::page_server;
use super::services::Lead;
use super::status::Status;
use axum::extract::{Query, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use lightlag_node::Error;
use lightlag_page::{Source, sources_json};
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};

/// What is asked of a daemon.
pub enum Command {
    /// How it is.
    Status(oneshot::Sender<Status>),
    /// Chooses the stack for the connections with a peer. The answer is what is wrong with it.
    Choose(String, Choice, oneshot::Sender<Result<(), String>>),
    /// A program listens for a service.
    Lead(String, Lead, oneshot::Sender<Result<(), String>>),
    /// It does not any more. The answer is whether it did.
    Leave(String, oneshot::Sender<bool>),
    /// How the connection of an application's socket is carried, after these changes.
    Hint(SocketAddr, String, oneshot::Sender<Result<String, String>>),
    /// Read the settings again.
    Reload(oneshot::Sender<Result<String, String>>),
    /// End.
    Stop,
}

/// Where commands go.
pub type Ask = mpsc::UnboundedSender<Command>;

/// How the daemon is; `None` once it ends.
pub async fn status(ask: &Ask) -> Option<Status> {
    let (to, from) = oneshot::channel();
    ask.send(Command::Status(to)).ok()?;
    from.await.ok()
}

async fn get_status(State(ask): State<Ask>) -> Response {
    match status(&ask).await {
        Some(status) => Json(status).into_response(),
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

async fn get_metrics(State(ask): State<Ask>) -> Response {
    match status(&ask).await {
        Some(status) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], metrics::text(&status)).into_response()
        }
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// The daemon answers: it does not hang.
async fn get_health(State(ask): State<Ask>) -> Response {
    match status(&ask).await {
        Some(_) => "healthy\n".into_response(),
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// It can carry connections: some peer can be reached, and what durable connections accept can be stored.
async fn get_ready(State(ask): State<Ask>) -> Response {
    match status(&ask).await.map(|status| status.unready()) {
        Some(None) => "ready\n".into_response(),
        Some(Some(why)) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")).into_response(),
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// The page of all of Lightlag, which finds its source beside it.
async fn get_page(headers: HeaderMap) -> Response {
    let codings = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let accepts = codings.flat_map(|value| value.split(',')).any(|coding| coding.trim() == "gzip");
    let fixed = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, lightlag_page::policy()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::VARY, "accept-encoding"),
    ];
    match accepts {
        true => (fixed, [(header::CONTENT_ENCODING, "gzip")], lightlag_page::compressed()).into_response(),
        false => (fixed, lightlag_page::html()).into_response(),
    }
}

async fn get_sources() -> Response {
    let live = Source::Live { title: "lightlagd".to_owned(), url: events::EVENTS[1..].to_owned() };
    ([(header::CONTENT_TYPE, "application/json")], sources_json(&[live])).into_response()
}

#[derive(Deserialize)]
struct Choosing {
    peer: String,
    stack: Choice,
}

async fn post_stack(State(ask): State<Ask>, Query(choosing): Query<Choosing>) -> Response {
    let (to, from) = oneshot::channel();
    let _ = ask.send(Command::Choose(choosing.peer, choosing.stack, to));
    match from.await {
        Ok(Ok(())) => StatusCode::OK.into_response(),
        Ok(Err(why)) => (StatusCode::BAD_REQUEST, why).into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

#[derive(Deserialize)]
struct Leading {
    name: String,
    to: SocketAddr,
    /// Inode of the socket that listens there.
    listener: Option<u64>,
}

async fn post_service(State(ask): State<Ask>, Query(leading): Query<Leading>) -> Response {
    let (to, from) = oneshot::channel();
    let Leading { name, to: address, listener } = leading;
    let _ = ask.send(Command::Lead(name, Lead { to: address.to_string(), listener }, to));
    match from.await {
        Ok(Ok(())) => StatusCode::OK.into_response(),
        Ok(Err(why)) => (StatusCode::CONFLICT, why).into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

#[derive(Deserialize)]
struct Leaving {
    name: String,
}

async fn delete_service(State(ask): State<Ask>, Query(leaving): Query<Leaving>) -> Response {
    let (to, from) = oneshot::channel();
    let _ = ask.send(Command::Leave(leaving.name, to));
    match from.await {
        Ok(true) => StatusCode::OK.into_response(),
        Ok(false) => (StatusCode::NOT_FOUND, "no program leads that name anywhere").into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

#[derive(Deserialize)]
struct Hinting {
    /// The application's end of its connection with this daemon.
    from: SocketAddr,
    #[serde(default)]
    hints: String,
}

async fn post_connection(State(ask): State<Ask>, Query(hinting): Query<Hinting>) -> Response {
    let (to, from) = oneshot::channel();
    let _ = ask.send(Command::Hint(hinting.from, hinting.hints, to));
    match from.await {
        Ok(Ok(said)) => said.into_response(),
        Ok(Err(why)) => (StatusCode::BAD_REQUEST, why).into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

async fn post_reload(State(ask): State<Ask>) -> Response {
    let (to, from) = oneshot::channel();
    let _ = ask.send(Command::Reload(to));
    match from.await {
        Ok(Ok(said)) => said.into_response(),
        Ok(Err(why)) => (StatusCode::BAD_REQUEST, why).into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

async fn post_stop(State(ask): State<Ask>) -> StatusCode {
    let _ = ask.send(Command::Stop);
    StatusCode::OK
}

fn seen(ask: Ask) -> Router<()> {
    let router = Router::new().route("/", get(get_page)).route("/metrics", get(get_metrics));
    let router = router.route("/healthz", get(get_health)).route("/readyz", get(get_ready));
    let router = router.route("/sources.json", get(get_sources));
    router.route("/status", get(get_status)).with_state(ask.clone()).merge(events::router(ask))
}

/// Serves the owner's socket, for as long as the daemon runs.
///
/// # Errors
/// It cannot be made.
pub fn serve(path: &Path, ask: Ask) -> Result<(), Error> {
    let failed = |why: std::io::Error| Error::Input(format!("control {}: {why}", path.display()));
    let left = std::fs::symlink_metadata(path);
    if left.is_ok_and(|left| !left.file_type().is_socket()) {
        let right = "name a place of its own for the control socket";
        return Err(Error::Input(format!("{}: there is something else; {right}", path.display())));
    }
    // A socket that is left there is stale: the state has one daemon at a time.
    let _ = std::fs::remove_file(path);
    let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(path);
    rustix::process::umask(mask);
    let listener = listener.map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    let told = Router::new()
        .route("/stack", post(post_stack))
        .route("/service", post(post_service).delete(delete_service))
        .route("/connection", post(post_connection))
        .route("/reload", post(post_reload))
        .route("/stop", post(post_stop))
        .with_state(ask.clone());
    let router = seen(ask).merge(told);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(())
}

/// Serves the page and the metrics, for as long as the daemon runs.
pub fn serve_page(listener: TcpListener, ask: Ask) {
    let is_local = listener.local_addr().is_ok_and(|at| at.ip().is_loopback());
    let router = seen(ask);
    // Elsewhere it is for all to read, by any name.
    let router = if is_local { router.layer(middleware::from_fn(by_address)) } else { router };
    tokio::task::spawn_local(page_server::serve(listener, router));
}

/// The domain of services. No name server answers for it, as it is no top-level domain: a browser has such a name in
/// `Host` only where a proxy of this daemon or of another one has led it here, or where the machine itself resolves it.
const SERVICES: &str = ".lightlag";

/// Rejects other names in `Host`, as a page of another site could use (DNS rebinding).
async fn by_address(request: axum::extract::Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = host.and_then(|host| host.parse::<Authority>().ok());
    let is_address = |authority: Authority| {
        let host = authority.host().trim_matches(['[', ']']);
        host == "localhost" || host.ends_with(SERVICES) || host.parse::<IpAddr>().is_ok()
    };
    if authority.is_some_and(is_address) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "ask by address, by localhost, or by a service name (NAME.lightlag)\n")
        .into_response()
}

/// Asks a daemon by its owner's socket: the method, the path, and what it says to it.
///
/// # Errors
/// It does not run, or does not do what it is asked for.
pub async fn ask(socket: &Path, method: &str, path: &str) -> Result<Vec<u8>, Error> {
    let failed = |why: &dyn std::fmt::Display| Error::Failed(format!("{}: {why}", socket.display()));
    let stream = UnixStream::connect(socket).await.map_err(|why| {
        Error::Failed(format!("{}: {why}; does lightlagd run, and is it yours?", socket.display()))
    })?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|why| failed(&why))?;
    tokio::spawn(connection);
    let request = Request::builder().method(method).uri(path).header("host", "lightlagd");
    let request = request.body(Full::<Bytes>::default()).map_err(|why| failed(&why))?;
    let answer = sender.send_request(request).await.map_err(|why| failed(&why))?;
    let status = answer.status();
    let body = answer.into_body().collect().await.map_err(|why| failed(&why))?.to_bytes().to_vec();
    if status.is_success() {
        return Ok(body);
    }
    Err(Error::Input(String::from_utf8_lossy(&body).trim().to_owned()))
}
