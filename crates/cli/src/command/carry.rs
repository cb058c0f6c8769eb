//! `lightlag transfer --over` anything but UDPDTN.

use super::controller::controller;
use super::record::Recording;
use super::transfer::{give_up, hex, light, packet_size, rate, show, size_most, tell_all};
use super::{Failed, address, bar, goodput, listening_address};
use crate::args::{Pacing, Transfer};
use crate::output::{Done, Failure, print};
use lightlag_node::carrier::{self, Cargo, Inbox, Listening, Sending, Sent, Way};
use lightlag_protocols::controllers::Factory;
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

pub fn carry(options: &Transfer) -> Done {
    let way = find(&options.over)?;
    let more = [("--key-file", options.key_file.is_some()), ("--in-order", options.in_order)];
    if let Some((flag, _)) = more.into_iter().find(|(_, given)| *given) {
        return Err(means_nothing(flag, way));
    }
    fits(&options.pacing, way, options.capture.is_some())?;
    let recording = Recording::begin(options.capture.as_deref(), way.is_dccp(), options.file.as_deref())?;
    let done = match (&options.listen, &options.file, &options.to) {
        (Some(at), ..) => listen(options, way, at, &recording),
        (None, Some(file), Some(to)) => send(options, way, (file, to), &recording),
        _ => Err(Failure::Input(
            "a file and who listens are missing; write `lightlag transfer FILE HOST:PORT`".into(),
        )),
    };
    recording.end(done)
}

/// The way of a name.
pub(super) fn find(name: &str) -> Result<&'static Way, Failure> {
    carrier::find(name).ok_or_else(|| {
        let known: Vec<&str> = carrier::WAYS.iter().map(|way| way.name).collect();
        Failure::Input(format!("--over: there is no `{name}`; name one of {}", known.join(", ")))
    })
}

fn means_nothing(flag: &str, way: &Way) -> Failure {
    Failure::Input(format!(
        "{flag} means nothing --over {}; leave it out, or transfer --over udpdtn",
        way.name
    ))
}

/// What means nothing to a way is refused, not ignored.
pub(super) fn fits(pacing: &Pacing, way: &Way, captures: bool) -> Done {
    if way.transport.is_some() {
        return Ok(());
    }
    if captures {
        let line =
            format!("--capture sees no packets --over {}: the kernel has them; take tcpdump", way.name);
        return Err(Failure::Input(line));
    }
    let given = [
        ("--rate", pacing.rate.is_some()),
        ("--light", pacing.light.is_some()),
        ("--controller", pacing.controller.is_some()),
        ("--set", !pacing.sets.is_empty()),
        ("--packet-size", pacing.packet_size.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map_or(Ok(()), |(flag, _)| Err(means_nothing(flag, way)))
}

/// Where a listener is found if nothing else is said.
fn port(options: &Transfer, way: &Way) -> u16 {
    way.raw_port.filter(|_| options.raw).unwrap_or(way.port)
}

/// What paces it, by name.
pub(super) fn paces(options: &Pacing, way: &Way) -> Result<Option<Factory>, Failure> {
    let Some(transport) = way.transport else { return Ok(None) };
    let instead = way.controllers[usize::from(options.rate.is_some())];
    let name = options.controller.as_deref().unwrap_or(instead);
    if name == "contact_rate" && name != instead && options.rate.is_none() {
        let what = format!("contact_rate needs a planned rate --over {}", way.name);
        return Err(Failure::Input(format!("--controller: {what}; add --rate, or take {instead}")));
    }
    controller(transport, instead, name, &options.sets).map(Some)
}

fn send(options: &Transfer, way: &Way, (file, to): (&Path, &str), recording: &Recording) -> Done {
    let to = address(to, port(options, way))?;
    let sending = Sending {
        cargo: Cargo::File(file.to_owned()),
        to,
        packet: packet_size(&options.pacing)?,
        rate: rate(&options.pacing)?,
        light: light(&options.pacing)?,
        give_up: give_up(&options.pacing)?,
        raw: options.raw,
        controller: paces(&options.pacing, way)?,
        tap: recording.tap(),
    };
    let bar = bar();
    let result = way.carrier.send(sending, &mut |progress| {
        show(&bar, progress);
        recording.goes_on()
    });
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

fn listen(options: &Transfer, way: &Way, at: &str, recording: &Recording) -> Done {
    let inbox = Inbox::new(&options.folder, options.overwrite, size_most(options)?).map_err(Failed)?;
    let listening = Listening {
        at: listening_address(at, port(options, way))?,
        dock: Arc::new(inbox),
        once: options.once,
        packet: packet_size(&options.pacing)?,
        raw: options.raw,
        tap: recording.tap(),
    };
    tell_all(options, Some(way.name), recording, |watch| way.carrier.listen(listening, watch))
}
