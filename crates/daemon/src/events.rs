//! The status once a second, as server-sent events for the page.

use super::control::{Ask, status};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream::unfold;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

/// Its path; [`super::page_server`] lets such a connection last longer.
pub const EVENTS: &str = "/events";
/// Time between events.
const EVERY: Duration = Duration::from_secs(1);
/// A status younger than this is sent to several listeners.
const FRESH: Duration = Duration::from_millis(900);
/// Listeners at a time.
const LISTENERS_MAX: usize = 32;

/// Who listens, and what the last of them was sent.
struct Events {
    ask: Ask,
    listeners: AtomicUsize,
    last: Mutex<Option<(Instant, Arc<str>)>>,
}

impl Events {
    /// The status as JSON; `None` once the daemon ends.
    async fn status(&self) -> Option<Arc<str>> {
        let mut last = self.last.lock().await;
        if let Some((_, text)) = last.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Some(text.clone());
        }
        let text: Arc<str> = serde_json::to_string(&status(&self.ask).await?).ok()?.into();
        *last = Some((Instant::now(), text.clone()));
        Some(text)
    }
}

/// One of the listeners, until it is dropped: with the connection.
struct Listener {
    events: Arc<Events>,
    clock: Interval,
}

impl Listener {
    /// `None`: there are too many.
    fn of(events: &Arc<Events>) -> Option<Self> {
        let mut clock = interval(EVERY);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let made = Self { events: events.clone(), clock };
        // Dropping it counts it out again.
        (events.listeners.fetch_add(1, Ordering::Relaxed) < LISTENERS_MAX).then_some(made)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.events.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn get_events(State(events): State<Arc<Events>>) -> Response {
    let Some(listener) = Listener::of(&events) else {
        let what = format!("{LISTENERS_MAX} pages listen already; close one\n");
        return (StatusCode::SERVICE_UNAVAILABLE, what).into_response();
    };
    let stream = unfold(listener, |mut listener| async {
        listener.clock.tick().await;
        let text = listener.events.status().await?;
        Some((Ok::<_, Infallible>(Event::default().data(&text)), listener))
    });
    ([(header::X_CONTENT_TYPE_OPTIONS, "nosniff")], Sse::new(stream)).into_response()
}

/// Serves them.
pub fn router(ask: Ask) -> Router<()> {
    let events = Events { ask, listeners: AtomicUsize::new(0), last: Mutex::new(None) };
    Router::new().route(EVENTS, get(get_events)).with_state(Arc::new(events))
}
