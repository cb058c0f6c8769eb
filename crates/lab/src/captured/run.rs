//! A run of packets as a capture.

use lightlag_capture::{Capture, DCCP_PORT, Ends, FlowEnds, Headers, Points, TCP_PORT, Where};
use lightlag_protocols::controllers::Recovery;
use lightlag_protocols::transport::tcp;
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::{ltp, udpdtn};
use lightlag_scenario::packets::Network;
use lightlag_scenario::{Error, Place, Result, suggestion};
use lightlag_worlds::packets::{FlowSpec, Setup, Source, Transport};
use std::io::Write;

/// The points at which packets of a network are captured.
///
/// # Errors
/// A node that is not there.
pub fn points(network: &Network, place: &Where) -> Result<Points> {
    let ends = |link: &'_ lightlag_scenario::packets::LinkPlan| link.spec.rate.highest().0;
    let links: Vec<Ends<'_>> = network
        .links
        .iter()
        .map(|link| Ends { name: &link.name, from: &link.from, to: &link.to, speed_bit_per_s: ends(link) })
        .collect();
    let flows: Vec<FlowEnds<'_>> = network
        .flows
        .iter()
        .map(|flow| FlowEnds { forward: &flow.spec.forward, backward: &flow.spec.backward })
        .collect();
    Points::new(&links, &flows, place).map_err(|none| {
        let known: Vec<&str> = none.known.iter().map(String::as_str).collect();
        let right = suggestion(&none.node, &[&["senders", "receivers", "drops"], &known[..]].concat());
        Error::new(&Place::File("--capture".into()), none.to_string(), right)
    })
}

/// A capture of a run to `to`.
///
/// # Errors
/// A place that is not there.
pub fn capture<W: Write>(to: W, network: &Network, setup: &Setup, place: &Where) -> Result<Capture<W>> {
    Ok(Capture::new(to, &crate::program(), points(network, place)?, setup.flows.iter().map(headers)))
}

pub(super) fn headers(spec: &FlowSpec) -> Headers {
    let none = Headers {
        port: TCP_PORT,
        window: Bytes(0),
        largest: Bytes(0),
        sacks: false,
        transfer: None,
        end: match spec.source {
            Source::File(size) => Some(size),
            Source::Persistent | Source::OnOff { .. } => None,
        },
    };
    let of_tcp = |config: &tcp::Config| Headers {
        window: config.window,
        largest: config.segment,
        sacks: config.recovery != Recovery::NewReno,
        ..none
    };
    match &spec.transport {
        Transport::Tcp { config, .. } => of_tcp(config),
        Transport::Adaptive { config, .. } => of_tcp(&config.tcp),
        Transport::Dccp { .. } => Headers { port: DCCP_PORT, ..none },
        Transport::Udpdtn { config, .. } => Headers { port: udpdtn::PORT, transfer: Some(*config), ..none },
        Transport::Ltp { .. } | Transport::LtpDccp { .. } => Headers { port: ltp::PORT, ..none },
    }
}
