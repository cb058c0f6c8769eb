//! `lightlag transfer --over` anything but UDPDTN.

use super::controller::controller;
use super::transfer::{give_up, hex, light, packet_size, rate, show, size_most, tell_all};
use super::{Failed, address, bar, goodput, listening_address};
use crate::args::Transfer;
use crate::output::{Done, Failure, print};
use lightlag_node::carrier::{self, Inbox, Listening, MakeController, Sending, Sent, Way};
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;

pub fn carry(options: &Transfer) -> Done {
    let way = find(&options.over)?;
    fits(options, way)?;
    match (&options.listen, &options.file, &options.to) {
        (Some(at), ..) => listen(options, way, at),
        (None, Some(file), Some(to)) => send(options, way, file, to),
        _ => Err(Failure::Input(
            "a file and who listens are missing; write `lightlag transfer FILE HOST:PORT`".into(),
        )),
    }
}

fn find(name: &str) -> Result<&'static Way, Failure> {
    carrier::find(name).ok_or_else(|| {
        let known: Vec<&str> = carrier::WAYS.iter().map(|way| way.name).collect();
        Failure::Input(format!("--over: there is no `{name}`; name one of udpdtn, {}", known.join(", ")))
    })
}

/// What means nothing to a way is refused, not ignored.
fn fits(options: &Transfer, way: &Way) -> Done {
    let kernels = way.transport.is_none();
    let given = [
        ("--key-file", options.key_file.is_some(), true),
        ("--in-order", options.in_order, true),
        ("--rate", options.rate.is_some(), kernels),
        ("--light", options.light.is_some(), kernels),
        ("--controller", options.controller.is_some(), kernels),
        ("--set", !options.sets.is_empty(), kernels),
        ("--packet-size", options.packet_size.is_some(), kernels),
        ("--raw", options.raw, way.raw_port.is_none()),
    ];
    match given.into_iter().find(|(_, given, is_wrong)| *given && *is_wrong) {
        Some((flag, ..)) => {
            let line =
                format!("{flag} means nothing --over {}; leave it out, or transfer --over udpdtn", way.name);
            Err(Failure::Input(line))
        }
        None => Ok(()),
    }
}

/// Where a listener is found if nothing else is said.
fn port(options: &Transfer, way: &Way) -> u16 {
    way.raw_port.filter(|_| options.raw).unwrap_or(way.port)
}

/// What paces it, by name.
fn paces(options: &Transfer, way: &Way) -> Result<Option<(String, MakeController)>, Failure> {
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

fn send(options: &Transfer, way: &Way, file: &Path, to: &str) -> Done {
    let to = address(to, port(options, way))?;
    let sending = Sending {
        file: file.to_owned(),
        to,
        packet: packet_size(options)?,
        rate: rate(options)?,
        light: light(options)?,
        give_up: give_up(options)?,
        raw: options.raw,
        controller: paces(options, way)?,
    };
    let bar = bar();
    let result = way.carrier.send(sending, &mut |progress| show(&bar, progress));
    bar.finish_and_clear();
    let sent = result.map_err(Failed)?;
    let text = if options.json { json_of(&sent, way, file, to) } else { line_of(&sent, file, to) };
    print(&(text + "\n"))
}

fn json_of(sent: &Sent, way: &Way, file: &Path, to: SocketAddr) -> String {
    json!({
        "role": "sender",
        "over": way.name,
        "file": file.display().to_string(),
        "peer": to.to_string(),
        "bytes": sent.bytes,
        "blake3": hex(&sent.digest),
        "duration_s": sent.seconds,
        "goodput_bit_per_s": goodput(sent.bytes, sent.seconds),
        "datagrams": sent.datagrams,
        "repairs": sent.repairs,
        "rtt_s": sent.rtt.map(lightlag_protocols::time::Duration::as_secs_f64),
        "complete": true,
    })
    .to_string()
}

fn line_of(sent: &Sent, file: &Path, to: SocketAddr) -> String {
    let (file, bytes, seconds) = (file.display(), sent.bytes, sent.seconds);
    let rate = goodput(bytes, seconds) / 1e6;
    let line = format!("{file}: {bytes} bytes to {to} in {seconds:.3} s, {rate:.1} Mbit/s");
    match (sent.datagrams, sent.repairs) {
        (Some(datagrams), Some(repairs)) => format!("{line}, {datagrams} datagrams, {repairs} repairs"),
        _ => line,
    }
}

fn listen(options: &Transfer, way: &Way, at: &str) -> Done {
    let listening = Listening {
        at: listening_address(at, port(options, way))?,
        inbox: Inbox::new(&options.folder, options.overwrite, size_most(options)?).map_err(Failed)?,
        once: options.once,
        packet: packet_size(options)?,
        raw: options.raw,
    };
    tell_all(options, Some(way.name), |watch| way.carrier.listen(listening, watch))
}
