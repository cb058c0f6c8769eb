//! Targets here, for the other daemons.

use super::access::{self, Addresses};
use super::carry::{ProxiedConnection, carry_durable};
use super::{datagrams, mappings};
use crate::durable::DurableConnection;
use crate::peer::{Peer, Wanted};
use crate::store::{Record, Store};
use crate::target::Target;
use crate::{descriptors, log_limit, services};
use lightlag_protocols::wire::session::CloseReason;
use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::spawn_local;
use tracing::{debug, warn};

/// A durable connection's target that cannot be reached is tried again after this, at first and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));
/// And for this time.
const HOLD: Duration = Duration::from_secs(24 * 3600);

/// What can be reached here by name, and from here.
pub type Services = Rc<RefCell<services::Services>>;

/// Reaches what the others want reached, for as long as the daemon runs.
pub async fn serve(mut wanted: UnboundedReceiver<Wanted>, services: Services, store: Store) {
    while let Some(wanted) = wanted.recv().await {
        mappings::make_room(&wanted.peer);
        let (services, store) = (services.clone(), store.clone());
        spawn_local(async move { reach(wanted, &services, &store).await });
    }
}

/// Addresses of a target, if the other daemon may have it reached. A service leads wherever the settings or a program
/// here say.
async fn allowed(peer: &Peer, target: &str, services: &Services) -> Result<Addresses, CloseReason> {
    let asked = Target::parse(target);
    let result = match &asked {
        Target::Service(name) => {
            let is_served = peer.access.borrow().serve.iter().any(|pattern| pattern.contains(&asked));
            let found = services.borrow_mut().find(name);
            match found.map(|to| Target::parse(&to)) {
                _ if !is_served => Err(CloseReason::Forbidden),
                Some(to) => access::resolve(&to).await.map_err(|why| reason(&why)),
                None => Err(CloseReason::Unreachable),
            }
        }
        _ => {
            let rules = peer.access.borrow().clone();
            rules.find(&asked).await
        }
    };
    if result.as_ref().is_err_and(|why| *why == CloseReason::Forbidden) {
        if let Some(suppressed) = log_limit::allow("forbidden") {
            warn!(peer = peer.config.name, target, suppressed, "target refused: see `serve` and `deny`");
        }
        peer.counts.refused.set(peer.counts.refused.get() + 1);
    }
    result
}

/// Reaches the target of a durable connection, however often that must be tried.
pub async fn reach_durable(durable: Rc<DurableConnection>, services: Services) {
    let record = durable.record();
    let (mut pause, begun) = (AGAIN.0, Instant::now());
    while !durable.is_over() || record.over.is_some() {
        let why = match allowed(&durable.peer, &record.target, &services).await {
            Ok(Addresses::Tcp(addresses)) => match descriptors::connect(&addresses).await {
                Ok(socket) => {
                    durable.opened().await;
                    return carry_durable(&durable, socket).await;
                }
                Err(why) => reason(&why),
            },
            Ok(_) => CloseReason::Unreachable,
            Err(why) => why,
        };
        if why == CloseReason::Forbidden || begun.elapsed() > HOLD {
            return durable.reset(why).await;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(AGAIN.1);
    }
    durable.settle().await;
}

async fn reach(wanted: Wanted, services: &Services, store: &Store) {
    let Wanted { peer, id, target, hints } = wanted;
    if hints.durable {
        let durable = DurableConnection::begin(&peer, store, id, Record::new(target, hints, false)).await;
        return reach_durable(durable, services.clone()).await;
    }
    let line = ProxiedConnection::new(peer.clone(), id, peer.waker(id));
    match allowed(&peer, &target, services).await {
        Ok(Addresses::Tcp(addresses)) => match descriptors::connect(&addresses).await {
            Ok(socket) => {
                peer.with(|session| session.accept(id));
                let _ = line.carry(socket).await;
            }
            Err(why) => {
                debug!(target, %why, "cannot connect to the target");
                line.reset(reason(&why));
            }
        },
        Ok(Addresses::Udp(addresses)) => match datagrams::reach(&addresses).await {
            Ok(socket) => {
                peer.with(|session| session.accept(id));
                datagrams::carry(&line, &socket).await;
            }
            Err(why) => line.reset(reason(&why)),
        },
        Err(why) => line.reset(why),
    }
}

/// Why a target is not reached, as reported to the far application.
pub fn reason(why: &io::Error) -> CloseReason {
    const NO_DESCRIPTORS: [i32; 2] = [nix::libc::EMFILE, nix::libc::ENFILE];
    if why.raw_os_error().is_some_and(|error| NO_DESCRIPTORS.contains(&error)) {
        return CloseReason::Full;
    }
    match why.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => CloseReason::Refused,
        _ => CloseReason::Unreachable,
    }
}
