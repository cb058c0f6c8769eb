//! Whether the interface by which another daemon is reached is up, from netlink events (RFC 3549).

use super::peer::Peers;
use futures_util::{StreamExt, TryStreamExt};
use rtnetlink::packet_route::link::{LinkAttribute, LinkFlags, LinkMessage, State};
use rtnetlink::packet_route::route::RouteAttribute;
use rtnetlink::{Error, Handle, MulticastGroup, RouteMessageBuilder, new_multicast_connection};
use std::net::IpAddr;
use std::time::Duration;
use tokio::task::spawn_local;
use tracing::{info, warn};

/// Addresses change without a message of the kernel.
const LOOK: Duration = Duration::from_secs(10);
/// Changes come in rows.
const ROW: Duration = Duration::from_millis(20);
const CHANGES: [MulticastGroup; 3] =
    [MulticastGroup::Link, MulticastGroup::Ipv4Route, MulticastGroup::Ipv6Route];

/// Reports to all peers the state of their links, now and at every change, for as long as the daemon runs.
pub async fn watch(peers: Peers) {
    let (connection, handle, mut changes) = match new_multicast_connection(&CHANGES) {
        Ok(made) => made,
        Err(why) => return warn!(%why, "cannot watch network interfaces (netlink)"),
    };
    spawn_local(connection);
    loop {
        let all = peers.borrow().clone();
        for peer in &all {
            let Some(address) = peer.udpdtn.address() else { continue };
            let is_up = is_up(&handle, address.ip()).await;
            if peer.link.replace(is_up) != is_up {
                info!(peer = peer.config.name, is_up, "network interface changed");
                peer.on_changed();
            }
        }
        let _ = tokio::time::timeout(LOOK, changes.next()).await;
        tokio::time::sleep(ROW).await;
        while changes.try_recv().is_ok() {}
    }
}

/// Whether an address is reached by an interface that is up; none: the kernel does not say.
async fn is_up(handle: &Handle, address: IpAddr) -> Option<bool> {
    match interface(handle, address.to_canonical()).await {
        Ok(Some(index)) => {
            let link = handle.link().get().match_index(index).execute().try_next().await.ok()??;
            Some(carries(&link))
        }
        // "Network is unreachable".
        Err(Error::NetlinkError(_)) => Some(false),
        _ => None,
    }
}

/// By which interface the kernel would send to an address.
async fn interface(handle: &Handle, address: IpAddr) -> Result<Option<u32>, Error> {
    let length = if address.is_ipv4() { 32 } else { 128 };
    let asked = RouteMessageBuilder::<IpAddr>::new().destination_prefix(address, length);
    let Ok(asked) = asked else { return Ok(None) };
    let route = handle.route().get(asked.build()).execute().try_next().await?;
    let index = |attribute: &RouteAttribute| match attribute {
        RouteAttribute::Oif(index) => Some(*index),
        _ => None,
    };
    Ok(route.and_then(|route| route.attributes.iter().find_map(index)))
}

/// Devices that have no wire say nothing of it.
fn carries(link: &LinkMessage) -> bool {
    let state = link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::OperState(state) => Some(*state),
        _ => None,
    });
    let has_wire = matches!(state, None | Some(State::Up | State::Unknown | State::Dormant));
    link.header.flags.contains(LinkFlags::Up) && has_wire
}
