//! Targets here, for the other daemons.

use super::carry::Line;
use super::datagrams;
use crate::daemon::peer::Wanted;
use crate::daemon::services::Services;
use crate::daemon::target::Target;
use lightlag_protocols::wire::adaptive::Why;
use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::rc::Rc;
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::spawn_local;
use tracing::{debug, warn};

/// Reaches what the others want reached, for as long as the daemon lives.
pub async fn serve(mut wanted: UnboundedReceiver<Wanted>, services: Rc<RefCell<Services>>) {
    while let Some(wanted) = wanted.recv().await {
        let services = services.clone();
        spawn_local(async move { reach(wanted, &services).await });
    }
}

async fn reach(wanted: Wanted, services: &RefCell<Services>) {
    let Wanted { peer, id, target, .. } = wanted;
    let line = Line::new(peer.clone(), id, peer.tap(id));
    let asked = Target::parse(&target);
    let refuse = |why: Why| line.reset(why);
    let may = peer.rules.borrow().1.iter().any(|pattern| pattern.contains(&asked));
    if !may {
        warn!(peer = peer.config.name, target, "it may not reach this from here: see `serve`");
        return refuse(Why::Forbidden);
    }
    let found = match &asked {
        Target::Service(name) => services.borrow_mut().find(name).map(|to| Target::parse(&to)),
        _ => Some(asked),
    };
    match found {
        Some(Target::Tcp(host, port)) => match TcpStream::connect((host.as_str(), port)).await {
            Ok(socket) => {
                peer.with(|session| session.accept(id));
                let _ = line.carry(socket).await;
            }
            Err(why) => {
                debug!(target, %why, "cannot be reached");
                refuse(reason(&why));
            }
        },
        Some(Target::Udp(host, port)) => match datagrams::reach(&host, port).await {
            Ok(socket) => {
                peer.with(|session| session.accept(id));
                datagrams::carry(&line, &socket).await;
            }
            Err(why) => refuse(reason(&why)),
        },
        Some(Target::Service(_)) | None => refuse(Why::Unreachable),
    }
}

/// Why a target is not reached, as the far application is to be told.
pub fn reason(why: &io::Error) -> Why {
    match why.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => Why::Refused,
        _ => Why::Unreachable,
    }
}
