//! `lightlag bundles`.

use super::controller::controller;
use super::transfer::{hex, show};
use super::{Failed, address, bar, goodput, listening_address, option, size};
use crate::args::{Bundles, ListenBundles, SendBundles};
use crate::output::{Done, Failure, print};
use lightlag_node::convergence::{
    self, Bundle, Event, Listening, LtpSending, MakeController, Sending, Shelf, Tag, WAYS, Way,
};
use lightlag_node::transfer::Key as Secret;
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::ltp::auth::Key;
use lightlag_scenario::{Wrong, quantity};
use serde_json::json;
use std::path::Path;

/// What a node of ours is called if nothing else is said.
const NODE: &str = "dtn://lightlag/";
/// Bytes of a packet if nothing else is said.
const PACKET: Bytes = Bytes(1500);
const PACKET_MOST: Bytes = Bytes(65_535);
/// A block whose sender is silent for so long is given up if nothing else is said.
const IDLE: Duration = Duration::from_secs(86_400);
/// Longest name of a node that a message of TCPCL holds.
const NODE_MOST: usize = u16::MAX as usize;

pub fn bundles(options: &Bundles) -> Done {
    match options {
        Bundles::Send(options) => send(options),
        Bundles::Listen(options) => listen(options),
    }
}

// --- options --------------------------------------------------------------------------------

fn find(name: &str) -> Result<&'static Way, Failure> {
    convergence::find(name).ok_or_else(|| {
        let known: Vec<&str> = WAYS.iter().map(|way| way.name).collect();
        Failure::Input(format!("--over: there is no `{name}`; name one of {}", known.join(", ")))
    })
}

/// What means nothing to a way is refused, not ignored: the first flag that is given and does not fit.
fn fits(way: &Way, flags: &[(&str, bool, bool)]) -> Done {
    match flags.iter().find(|(_, given, fits)| *given && !*fits) {
        Some((flag, ..)) => {
            Err(Failure::Input(format!("{flag} means nothing --over {}; leave it out", way.name)))
        }
        None => Ok(()),
    }
}

fn port(way: &Way, raw: bool) -> u16 {
    way.raw_port.filter(|_| raw).unwrap_or(way.port)
}

fn packet_size(text: Option<&String>) -> Result<Bytes, Failure> {
    let Some(text) = text else { return Ok(PACKET) };
    let packet = option("--packet-size", text, size)?;
    if packet > PACKET_MOST {
        let line = format!("--packet-size: {} B; a packet has at most {} B", packet.0, PACKET_MOST.0);
        return Err(Failure::Input(line));
    }
    Ok(packet)
}

fn key(file: Option<&Path>) -> Result<Option<Key>, Failure> {
    let read = |path| Secret::secret(path).map_err(|line| Failure::Input(format!("--key-file {line}")));
    Ok(file.map(read).transpose()?.map(|secret| Key::Hmac { id: Vec::new(), secret }))
}

fn node(text: Option<&String>) -> Result<String, Failure> {
    let node = text.map_or(NODE, String::as_str);
    if node.len() > NODE_MOST || !(node.starts_with("dtn:") || node.starts_with("ipn:")) {
        let line = format!("--node: `{node}` is no endpoint; write it as {NODE} or ipn:5.0");
        return Err(Failure::Input(line));
    }
    Ok(node.to_owned())
}

/// What paces it, by name.
fn paces(options: &SendBundles, way: &Way) -> Result<Option<(String, MakeController)>, Failure> {
    let Some(transport) = way.transport else { return Ok(None) };
    let instead = way.controllers[usize::from(options.rate.is_some())];
    let name = options.controller.as_deref().unwrap_or(instead);
    if name == "contact_rate" && options.rate.is_none() {
        let what = format!("contact_rate needs a planned rate --over {}", way.name);
        return Err(Failure::Input(format!("--controller: {what}; add --rate, or take {instead}")));
    }
    let make = controller(transport, instead, name, &options.sets)?;
    Ok(Some((name.to_owned(), make)))
}

// --- sending --------------------------------------------------------------------------------

fn send_fits(options: &SendBundles, way: &Way) -> Done {
    let (tcp, udp) = (way.name == "tcp", way.name.ends_with("udp"));
    fits(
        way,
        &[
            ("--from", options.from.is_some(), udp),
            ("--rate", options.rate.is_some(), !tcp),
            ("--light", options.light.is_some(), way.transport.is_some()),
            ("--controller", options.controller.is_some(), way.transport.is_some()),
            ("--set", !options.sets.is_empty(), way.transport.is_some()),
            ("--give-up", options.give_up.is_some(), way.name != "udp"),
            ("--packet-size", options.packet_size.is_some(), !tcp),
            ("--engine", options.engine.is_some(), way.is_ltp),
            ("--service", options.service.is_some(), way.is_ltp),
            ("--green", options.green.is_some(), way.is_ltp),
            ("--aggregate", options.aggregate.is_some(), way.is_ltp),
            ("--key-file", options.key_file.is_some(), way.is_ltp),
            ("--node", options.node.is_some(), tcp),
            ("--raw", options.raw, way.raw_port.is_some()),
        ],
    )
}

fn ltp(options: &SendBundles) -> Result<LtpSending, Failure> {
    let bytes = |flag: &str, text: &Option<String>| -> Result<Option<u64>, Failure> {
        Ok(text.as_deref().map(|text| option(flag, text, size)).transpose()?.map(|size| size.0))
    };
    let plain = LtpSending::default();
    Ok(LtpSending {
        engine: options.engine,
        service: options.service.unwrap_or(plain.service),
        green: bytes("--green", &options.green)?.unwrap_or(0),
        aggregate: bytes("--aggregate", &options.aggregate)?,
        key: key(options.key_file.as_deref())?,
    })
}

fn send(options: &SendBundles) -> Done {
    let way = find(&options.over)?;
    send_fits(options, way)?;
    let time = |flag: &str, text: &Option<String>, read: fn(&str) -> Result<Duration, Wrong>| {
        text.as_deref().map(|text| option(flag, text, read)).transpose()
    };
    let sending = Sending {
        files: options.files.clone(),
        to: address(&options.to, port(way, options.raw))?,
        from: options.from.as_deref().map(|text| listening_address(text, way.port)).transpose()?,
        packet: packet_size(options.packet_size.as_ref())?,
        rate: options.rate.as_deref().map(|text| option("--rate", text, quantity::bit_rate)).transpose()?,
        light: time("--light", &options.light, quantity::time)?,
        give_up: time("--give-up", &options.give_up, quantity::positive_time)?,
        raw: options.raw,
        controller: paces(options, way)?,
        ltp: ltp(options)?,
        node: node(options.node.as_ref())?,
    };
    let bar = bar();
    let result = way.send(sending, &mut |progress| {
        show(&bar, progress);
        true
    });
    bar.finish_and_clear();
    let bundles = result.map_err(Failed)?;
    // Over UDP nobody says that it has arrived, and of what is green neither.
    let confirms = way.name != "udp" && options.green.is_none();
    let text = |bundle: &Bundle| {
        if !options.json {
            return sent_line(bundle);
        }
        let mut told = json_of("sender", way, bundle);
        told["acknowledged"] = (confirms && bundle.outcome.is_ok()).into();
        told["error"] = bundle.outcome.as_ref().err().cloned().into();
        told.to_string()
    };
    print(&bundles.iter().map(|bundle| text(bundle) + "\n").collect::<String>())?;
    let lost: Vec<&Bundle> = bundles.iter().filter(|bundle| bundle.outcome.is_err()).collect();
    match lost.first() {
        Some(Bundle { path, outcome: Err(why), .. }) => {
            let more = if lost.len() > 1 {
                format!(" ({} of {} bundles)", lost.len(), bundles.len())
            } else {
                String::new()
            };
            Err(Failure::Failed(format!("{}: {why}{more}", path.display())))
        }
        _ => Ok(()),
    }
}

fn json_of(role: &str, way: &Way, bundle: &Bundle) -> serde_json::Value {
    let mut told = json!({
        "role": role,
        "over": way.name,
        "file": bundle.path.display().to_string(),
        "peer": bundle.peer.to_string(),
        "bytes": bundle.bytes,
        "blake3": hex(&bundle.digest),
        "duration_s": bundle.seconds,
    });
    match &bundle.tag {
        Tag::Datagram => {}
        Tag::Ltp { engine, session, service, lacks } => {
            told["engine"] = (*engine).into();
            told["session"] = (*session).into();
            told["service"] = (*service).into();
            if role == "receiver" {
                told["lacking_bytes"] = (*lacks).into();
            }
        }
        Tag::Tcpcl { node, transfer } => {
            told["node"] = node.as_str().into();
            told["transfer"] = (*transfer).into();
        }
    }
    told
}

fn tag(bundle: &Bundle) -> String {
    match &bundle.tag {
        Tag::Datagram => String::new(),
        Tag::Ltp { engine, session, service, lacks } => {
            let lacks = if *lacks > 0 { format!(", {lacks} bytes lack") } else { String::new() };
            format!(", engine {engine}, session {session}, service {service}{lacks}")
        }
        Tag::Tcpcl { node, transfer } => format!(", node {node}, transfer {transfer}"),
    }
}

fn sent_line(bundle: &Bundle) -> String {
    let Bundle { path, bytes, peer, seconds, .. } = bundle;
    let rate = goodput(*bytes, *seconds) / 1e6;
    let (path, tag) = (path.display(), tag(bundle));
    match &bundle.outcome {
        Ok(()) => format!("{path}: {bytes} bytes to {peer}{tag}, {seconds:.3} s, {rate:.1} Mbit/s"),
        Err(why) => format!("{path}: not sent to {peer}{tag}: {why}"),
    }
}

// --- listening ------------------------------------------------------------------------------

fn listen_fits(options: &ListenBundles, way: &Way) -> Done {
    fits(
        way,
        &[
            ("--packet-size", options.packet_size.is_some(), way.transport.is_some()),
            ("--reply-to", options.reply_to.is_some(), way.name == "ltp-udp"),
            ("--idle", options.idle.is_some(), way.is_ltp),
            ("--key-file", options.key_file.is_some(), way.is_ltp),
            ("--node", options.node.is_some(), way.name == "tcp"),
            ("--raw", options.raw, way.raw_port.is_some()),
        ],
    )
}

fn listen(options: &ListenBundles) -> Done {
    let way = find(&options.over)?;
    listen_fits(options, way)?;
    if options.count == Some(0) {
        return Err(Failure::Input("--count: it is a whole number from 1 on".to_owned()));
    }
    let idle = options.idle.as_deref().map(|text| option("--idle", text, quantity::positive_time));
    let stored = options.max_stored.as_deref().map(|text| option("--max-stored", text, size));
    let stored = stored.transpose()?.map(|most| most.0);
    let most = option("--max-size", &options.max_size, size)?.0;
    let shelf = Shelf::new(&options.folder, most, stored).map_err(Failed)?;
    let listening = Listening {
        at: listening_address(&options.at, port(way, options.raw))?,
        count: options.count,
        packet: packet_size(options.packet_size.as_ref())?,
        raw: options.raw,
        reply_to: options.reply_to.as_deref().map(|text| address(text, way.port)).transpose()?,
        idle: idle.transpose()?.unwrap_or(IDLE),
        key: key(options.key_file.as_deref())?,
        node: node(options.node.as_ref())?,
        shelf: shelf.opaque(options.opaque),
    };
    let mut printed = Ok(());
    let result = way.listen(listening, &mut |event| {
        match event {
            Event::Listening(at) => eprintln!("listening at {at}"),
            Event::Refused(line) | Event::Failed(line) => eprintln!("lightlag: {line}"),
            Event::Bundle(bundle) => {
                let text = if options.json {
                    json_of("receiver", way, &bundle).to_string()
                } else {
                    kept_line(&bundle)
                };
                printed = print(&(text + "\n"));
            }
            // Those are of `lightlag transfer` and `bench-link`.
            Event::Began(..)
            | Event::Progress(..)
            | Event::Finished(_)
            | Event::Interval(..)
            | Event::Measured(..) => {}
        }
        printed.is_ok()
    });
    printed?;
    Ok(result.map_err(Failed)?)
}

fn kept_line(bundle: &Bundle) -> String {
    format!("{}: {} bytes from {}{}", bundle.path.display(), bundle.bytes, bundle.peer, tag(bundle))
}
