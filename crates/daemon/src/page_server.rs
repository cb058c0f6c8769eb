//! Serves HTTP over TCP, with time limits for clients that send nothing.

use super::descriptors;
use super::proxy::accept;
use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::time::Duration;
use tokio::net::TcpListener;

/// A request must be complete within this time.
pub const REQUEST_WITHIN: Duration = Duration::from_secs(30);
/// A connection may not last longer: a request is short.
const LONGEST: Duration = Duration::from_secs(120);

/// Serves all that come, for as long as the daemon runs.
pub async fn serve(listener: TcpListener, router: Router<()>) {
    loop {
        let socket = accept(&listener).await;
        let service = TowerToHyperService::new(router.clone());
        descriptors::spawn(|caller| async move {
            let served = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST_WITHIN)
                .serve_connection(TokioIo::new(socket), service);
            let _ = tokio::time::timeout(LONGEST, served).await;
            drop(caller);
        });
    }
}
