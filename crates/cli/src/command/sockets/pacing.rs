//! Options of what is sent over a transport: `lightlag transfer`, `bench-link` and `bundles`.

use super::controller::controller;
use super::plan::contact_plan;
use super::record::Recording;
use super::{address, listening_address};
use crate::args::sockets::Pacing;
use crate::output::{Done, Failure};
use lightlag_node::transports::{ListenOptions, SendOptions, Service, TRANSPORTS, Transport};
use lightlag_protocols::controllers::Factory;
use lightlag_protocols::units::Bytes;

/// Bytes of a packet by default.
const PACKET: Bytes = Bytes(1500);
const PACKET_MOST: Bytes = Bytes(65_535);

/// The transport of a name, and what `carries` something over it.
pub fn find<C>(
    name: &str,
    carries: impl Fn(&'static Transport) -> Option<&'static Service<C>>,
) -> Result<(&'static Transport, &'static Service<C>), Failure> {
    let mut known = TRANSPORTS.iter().filter_map(|transport| Some((transport, carries(transport)?)));
    let found = known.clone().find(|(transport, _)| transport.name == name);
    found.ok_or_else(|| {
        let first = known.next().map_or("", |(transport, _)| transport.name);
        let names = known.fold(first.to_owned(), |names, (transport, _)| names + ", " + transport.name);
        Failure::Input(format!("--over: unknown transport `{name}`; name one of {names}"))
    })
}

/// A flag that is given but has no effect over this transport is an error: each flag, whether it is given, and whether
/// the transport supports it.
pub fn supports(transport: &Transport, flags: &[(&str, bool, bool)]) -> Done {
    match flags.iter().find(|(_, is_given, is_supported)| *is_given && !*is_supported) {
        Some((flag, ..)) => {
            let over = transport.name;
            Err(Failure::Input(format!("{flag} is not supported with --over {over}; leave it out")))
        }
        None => Ok(()),
    }
}

/// As [`supports`], of the flags that all commands have.
pub fn supports_pacing(pacing: &Pacing, transport: &Transport) -> Done {
    let (is_tcp, is_controlled) = (transport.name == "tcp", transport.controlled_as.is_some());
    supports(
        transport,
        &[
            ("--rate", pacing.rate.is_some(), !is_tcp),
            ("--plan", pacing.plan.is_some(), transport.follows_plan()),
            ("--light", pacing.light.is_some(), is_controlled),
            ("--controller", pacing.controller.is_some(), is_controlled),
            ("--set", !pacing.sets.is_empty(), is_controlled),
            ("--give-up", pacing.give_up.is_some(), transport.name != "udp"),
            ("--packet-size", pacing.packet_size.is_some(), !is_tcp),
        ],
    )
}

/// `--capture` shows no packets of the kernel's TCP.
pub fn supports_capture(transport: &Transport, is_given: bool) -> Done {
    if is_given && transport.name == "tcp" {
        let line = "--capture sees no packets --over tcp: the kernel has them; use tcpdump";
        return Err(Failure::Input(line.to_owned()));
    }
    Ok(())
}

/// `--packet-size`.
pub fn packet_size(given: Option<Bytes>) -> Result<Bytes, Failure> {
    let packet = given.unwrap_or(PACKET);
    if packet > PACKET_MOST {
        let line = format!("--packet-size: {} B; a packet has at most {} B", packet.0, PACKET_MOST.0);
        return Err(Failure::Input(line));
    }
    Ok(packet)
}

/// The controller that is named, or the default: without a planned rate, and with one.
fn paces(
    pacing: &Pacing,
    (transport, defaults): (&Transport, [&'static str; 2]),
) -> Result<Option<Factory>, Failure> {
    let Some(controlled_as) = transport.controlled_as else { return Ok(None) };
    let is_planned = pacing.rate.is_some() || pacing.plan.is_some();
    let default = defaults[usize::from(is_planned)];
    let name = pacing.controller.as_deref().unwrap_or(default);
    if name == "contact_rate" && name != default && !is_planned {
        let what = format!("contact_rate needs a planned rate --over {}", transport.name);
        return Err(Failure::Input(format!("--controller: {what}; add --rate or --plan, or take {default}")));
    }
    let mut sets = pacing.sets.clone();
    // A rate that a user gives, for itself or in a contact plan, is a bound.
    if name == "contact_rate" && is_planned && sets.iter().all(|(name, _)| name != "beyond") {
        sets.push(("beyond".to_owned(), "1".to_owned()));
    }
    controller(controlled_as, default, name, &sets).map(Some)
}

/// How something is sent to `HOST:PORT`.
pub fn send_options(
    pacing: &Pacing,
    controlled: (&Transport, [&'static str; 2]),
    (to, port): (&str, u16),
    raw: bool,
    recording: &Recording,
) -> Result<SendOptions, Failure> {
    let light = pacing.light;
    let nodes = pacing.plan_nodes.as_deref();
    let plan = pacing.plan.as_deref().map(|file| contact_plan(file, nodes, light.is_some())).transpose()?;
    let (plan, planned_light) = plan.unzip();
    Ok(SendOptions {
        to: address(to, port)?,
        from: None,
        packet: packet_size(pacing.packet_size)?,
        rate: pacing.rate,
        plan,
        light: light.or(planned_light.flatten()),
        give_up: pacing.give_up,
        raw,
        controller: paces(pacing, controlled)?,
        tap: recording.tap(),
    })
}

/// How to listen at `[HOST:]PORT`.
pub fn listen_options(
    (at, port): (&str, u16),
    packet: Option<Bytes>,
    raw: bool,
    recording: &Recording,
) -> Result<ListenOptions, Failure> {
    let at = listening_address(at, port)?;
    Ok(ListenOptions { at, packet: packet_size(packet)?, raw, tap: recording.tap() })
}
