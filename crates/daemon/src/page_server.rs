//! Serves HTTP over TCP, with time limits for clients that send nothing.

use super::descriptors;
use super::events::EVENTS;
use super::proxy::accept;
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::TcpListener;

/// A request must be complete within this time.
pub const REQUEST_WITHIN: Duration = Duration::from_secs(30);
/// A connection may not last longer: a request is short.
const LONGEST: Duration = Duration::from_secs(120);
/// Nor may one with events, which have no end. The page connects again.
const LONGEST_OF_EVENTS: Duration = Duration::from_secs(3600);
/// A client of events that acknowledges nothing for this time is closed.
const SILENCE: Duration = Duration::from_secs(60);

/// Serves all that come, for as long as the daemon runs.
pub async fn serve(listener: TcpListener, router: Router<()>) {
    serve_for(listener, router, LONGEST).await;
}

/// As [`serve`], with another longest time of a connection without events.
async fn serve_for(listener: TcpListener, router: Router<()>, longest: Duration) {
    loop {
        let socket = accept(&listener).await;
        // Where a client is gone without a word, events find out soon.
        let _ = SockRef::from(&socket).set_tcp_user_timeout(Some(SILENCE));
        let has_events = Rc::new(Cell::new(false));
        let service = service(router.clone(), has_events.clone());
        descriptors::spawn(|caller| async move {
            let served = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST_WITHIN)
                .serve_connection(TokioIo::new(socket), service);
            tokio::pin!(served);
            let ended = tokio::time::timeout(longest, &mut served).await;
            if ended.is_err() && has_events.get() {
                let _ = tokio::time::timeout(LONGEST_OF_EVENTS, served).await;
            }
            drop(caller);
        });
    }
}

/// The router; `has_events` says whether events were asked for.
fn service(
    router: Router<()>,
    has_events: Rc<Cell<bool>>,
) -> impl Service<Request<Incoming>, Response = axum::response::Response, Error = Infallible> {
    let inner = TowerToHyperService::new(router);
    hyper::service::service_fn(move |request: Request<Incoming>| {
        has_events.set(has_events.get() || request.uri().path() == EVENTS);
        inner.call(request)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::sse::{Event, Sse};
    use axum::routing::get;
    use futures_util::stream::unfold;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    /// Events without an end.
    async fn endless() -> Sse<impl futures_util::Stream<Item = Result<Event, Infallible>>> {
        Sse::new(unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Some((Ok(Event::default().data("x")), ()))
        }))
    }

    #[test]
    fn events_outlast_the_time_that_other_answers_have() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let at = listener.local_addr().unwrap();
            let router = Router::new().route(EVENTS, get(endless)).route("/slow", get(endless));
            tokio::task::spawn_local(serve_for(listener, router, Duration::from_millis(300)));
            let ask = async |path: &str| {
                let mut stream = TcpStream::connect(at).await.unwrap();
                stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n").as_bytes()).await.unwrap();
                stream
            };
            let (mut slow, mut events) = (ask("/slow").await, ask(EVENTS).await);
            let mut all = Vec::new();
            // It ends, whether by a reset or not.
            let _ = slow.read_to_end(&mut all).await;
            let count = |bytes: &[u8]| String::from_utf8_lossy(bytes).matches("data: x").count();
            assert!(count(&all) >= 1);
            let (mut after, mut chunk) = (Vec::new(), [0; 1024]);
            // All that waits is less than comes in three times the limit.
            while count(&after) < 45 {
                let length = events.read(&mut chunk).await.unwrap();
                assert!(length > 0, "it is not cut");
                after.extend_from_slice(&chunk[..length]);
            }
        });
    }
}
