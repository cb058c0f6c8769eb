//! `lightlag transfer`.

use super::controller::controller;
use super::record::Recording;
use super::{Failed, address, bar, carry, goodput, listening_address, option, size};
use crate::args::{Pacing, Transfer};
use crate::output::{Done, Failure, print};
use indicatif::ProgressBar;
use lightlag_node::transfer::{
    Error, Event, Finished, Key, Listener, Listening, PORT, Progress, Sending, Sent, send,
};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_scenario::quantity;
use serde_json::json;
use std::fmt::Write;

/// What carries it, as controllers name it.
const TRANSPORT: &str = "udpdtn";
/// Bytes of a packet if nothing else is said.
const PACKET: Bytes = Bytes(1500);

pub fn transfer(options: &Transfer) -> Done {
    if options.over != TRANSPORT {
        return carry::carry(options);
    }
    if options.raw {
        let line = "--raw means nothing --over udpdtn; leave it out, or transfer --over dccp or ltp-dccp";
        return Err(Failure::Input(line.to_owned()));
    }
    let recording = Recording::begin(options.capture.as_deref(), false, options.file.as_deref())?;
    let done = match (&options.listen, &options.file, &options.to) {
        (Some(at), ..) => listen(options, at, &recording),
        (None, Some(file), Some(to)) => send_file(options, file, to, &recording),
        _ => Err(Failure::Input(
            "a file and who listens are missing; write `lightlag transfer FILE HOST:PORT`".into(),
        )),
    };
    recording.end(done)
}

fn key(options: &Transfer) -> Result<Option<Key>, Failure> {
    let read = |path| Key::read(path).map_err(|line| Failure::Input(format!("--key-file {line}")));
    options.key_file.as_deref().map(read).transpose()
}

// --- options --------------------------------------------------------------------------------

pub(super) fn packet_size(options: &Pacing) -> Result<Bytes, Failure> {
    let Some(text) = &options.packet_size else { return Ok(PACKET) };
    let packet = option("--packet-size", text, size)?;
    if packet > Bytes(65_535) {
        let line = format!("--packet-size: {} B; a packet has at most 65535 B", packet.0);
        return Err(Failure::Input(line));
    }
    Ok(packet)
}

pub(super) fn rate(options: &Pacing) -> Result<Option<BitRate>, Failure> {
    options.rate.as_deref().map(|text| option("--rate", text, quantity::bit_rate)).transpose()
}

pub(super) fn light(options: &Pacing) -> Result<Option<Duration>, Failure> {
    options.light.as_deref().map(|text| option("--light", text, quantity::time)).transpose()
}

pub(super) fn give_up(options: &Pacing) -> Result<Option<Duration>, Failure> {
    options.give_up.as_deref().map(|text| option("--give-up", text, quantity::positive_time)).transpose()
}

pub(super) fn size_most(options: &Transfer) -> Result<Option<u64>, Failure> {
    let most = options.max_size.as_deref().map(|text| option("--max-size", text, size)).transpose()?;
    Ok(most.map(|size| size.0))
}

fn partial_most(options: &Transfer) -> Result<Option<u64>, Failure> {
    let most = options.max_partial.as_deref().map(|text| option("--max-partial", text, size)).transpose()?;
    Ok(most.map(|size| size.0))
}

/// Where a sender remembers listeners: `lightlag` in the user's folder for state, as the XDG base directory
/// specification (version 0.8) names it.
fn memory_folder() -> Option<std::path::PathBuf> {
    let absolute =
        |name| std::env::var_os(name).map(std::path::PathBuf::from).filter(|path| path.is_absolute());
    let home = || absolute("HOME").map(|home| home.join(".local/state"));
    absolute("XDG_STATE_HOME").or_else(home).map(|folder| folder.join("lightlag"))
}

// --- sending --------------------------------------------------------------------------------

fn send_file(options: &Transfer, file: &std::path::Path, to: &str, recording: &Recording) -> Done {
    let sending = Sending {
        file: file.to_owned(),
        packet: packet_size(&options.pacing)?,
        rate: rate(&options.pacing)?,
        light: light(&options.pacing)?,
        in_order: options.in_order,
        give_up: give_up(&options.pacing)?,
        key: key(options)?,
        memory: memory_folder(),
        controller: controller(
            TRANSPORT,
            "contact_rate",
            options.pacing.controller.as_deref().unwrap_or("contact_rate"),
            &options.pacing.sets,
        )?,
        to: address(to, PORT)?,
        tap: recording.tap(),
    };
    let (bar, to) = (bar(), sending.to);
    let result = send(sending, &mut |progress| {
        show(&bar, progress);
        recording.goes_on()
    });
    bar.finish_and_clear();
    let sent = result.map_err(Failed)?;
    print(&if options.json { json_of(&sent, file, to) + "\n" } else { line_of(&sent, file, to) + "\n" })
}

pub(super) fn show(bar: &ProgressBar, progress: Progress) {
    match progress {
        Progress::Reading(done, all) => {
            bar.set_message("reading");
            bar.set_length(all);
            bar.set_position(done);
        }
        Progress::Sending(done, all) => {
            bar.set_message("sending");
            bar.set_length(all);
            bar.set_position(done);
        }
        Progress::Silent(seconds) => bar.set_message(format!("nothing heard for {seconds} s")),
        Progress::Counted(_) => {}
    }
}

fn json_of(sent: &Sent, file: &std::path::Path, to: std::net::SocketAddr) -> String {
    json!({
        "role": "sender",
        "file": file.display().to_string(),
        "peer": to.to_string(),
        "bytes": sent.bytes,
        "blake3": hex(&sent.digest),
        "duration_s": sent.seconds,
        "goodput_bit_per_s": goodput(sent.bytes - sent.resumed.min(sent.bytes), sent.seconds),
        "datagrams": sent.counts.sent,
        "repairs": sent.counts.repairs,
        "silences": sent.counts.silences,
        "resumed_bytes": sent.resumed,
        "rtt_s": sent.rtt.map(lightlag_protocols::time::Duration::as_secs_f64),
        "ignored_datagrams": sent.ignored,
        "complete": true,
    })
    .to_string()
}

fn line_of(sent: &Sent, file: &std::path::Path, to: std::net::SocketAddr) -> String {
    let rate = goodput(sent.bytes - sent.resumed.min(sent.bytes), sent.seconds) / 1e6;
    let mut line = format!(
        "{}: {} bytes to {to} in {:.3} s, {rate:.1} Mbit/s, {} datagrams, {} repairs",
        file.display(),
        sent.bytes,
        sent.seconds,
        sent.counts.sent,
        sent.counts.repairs
    );
    if sent.resumed > 0 {
        let _ = write!(line, "; {} bytes were there already", sent.resumed);
    }
    line
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

// --- listening ------------------------------------------------------------------------------

fn listen(options: &Transfer, at: &str, recording: &Recording) -> Done {
    let listening = Listening {
        at: listening_address(at, PORT)?,
        folder: options.folder.clone(),
        once: options.once,
        overwrite: options.overwrite,
        size_most: size_most(options)?,
        partial_most: partial_most(options)?,
        key: key(options)?,
        tap: recording.tap(),
    };
    let mut listener = Listener::new(listening).map_err(Failed)?;
    tell_all(options, None, recording, |watch| listener.run(watch))
}

/// Shows what a listener tells; a failure was told when it happened.
pub(super) fn tell_all(
    options: &Transfer,
    over: Option<&str>,
    recording: &Recording,
    run: impl FnOnce(&mut dyn FnMut(Event) -> bool) -> Result<(), Error>,
) -> Done {
    let (bar, mut printed) = (bar(), Ok(()));
    let result = run(&mut |event| {
        match event {
            // Nothing is under way, or it is nothing that fills a bar.
            Event::Progress(_, 0) | Event::Interval(..) | Event::Measured(..) => {}
            Event::Progress(here, all) => {
                bar.set_message("receiving");
                bar.set_length(all);
                bar.set_position(here);
            }
            Event::Finished(finished) => {
                let json = options.json;
                let text = if json { finished_json(&finished, over) } else { finished_line(&finished) };
                bar.suspend(|| printed = print(&(text + "\n")));
                bar.reset();
            }
            Event::Listening(at) => eprintln!("listening at {at}"),
            Event::Began(name, length, resumed, from) => {
                let rest = if resumed > 0 { format!(", {resumed} are here") } else { String::new() };
                bar.suspend(|| eprintln!("{name}: {length} bytes from {from}{rest}"));
            }
            Event::Refused(line) | Event::Failed(line) => bar.suspend(|| eprintln!("lightlag: {line}")),
            // Those are of `lightlag bundles`.
            Event::Bundle(_) => {}
        }
        printed.is_ok() && recording.goes_on()
    });
    bar.finish_and_clear();
    printed?;
    match result {
        // The line was told when it happened.
        Err(Error::Failed(_)) if options.once => Err(Failure::Verdict),
        other => Ok(other.map_err(Failed)?),
    }
}

fn finished_json(finished: &Finished, over: Option<&str>) -> String {
    let mut told = json!({
        "role": "receiver",
        "file": finished.path.display().to_string(),
        "peer": finished.from.to_string(),
        "bytes": finished.bytes,
        "blake3": hex(&finished.digest),
        "duration_s": finished.seconds,
        "goodput_bit_per_s": goodput(finished.bytes - finished.resumed.min(finished.bytes), finished.seconds),
        "resumed_bytes": finished.resumed,
        "complete": true,
    });
    if let Some(over) = over {
        told["over"] = over.into();
    }
    told.to_string()
}

fn finished_line(finished: &Finished) -> String {
    format!(
        "{}: {} bytes from {} in {:.3} s, whole",
        finished.path.display(),
        finished.bytes,
        finished.from,
        finished.seconds
    )
}
