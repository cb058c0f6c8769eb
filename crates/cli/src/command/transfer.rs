//! `lightlag transfer`.

use super::controller::controller;
use super::{Failed, address, bar, goodput, listening_address, option, size};
use crate::args::Transfer;
use crate::output::{Done, Failure, print};
use indicatif::ProgressBar;
use lightlag_lab::scenario::quantity;
use lightlag_node::transfer::{
    Error, Event, Finished, Key, Listener, Listening, PORT, Progress, Sending, Sent, send,
};
use lightlag_protocols::units::Bytes;
use serde_json::json;
use std::fmt::Write;

/// What carries it, as controllers name it.
const TRANSPORT: &str = "udpdtn";

pub fn transfer(options: &Transfer) -> Done {
    match (&options.listen, &options.file, &options.to) {
        (Some(at), ..) => listen(options, at),
        (None, Some(file), Some(to)) => send_file(options, file, to),
        _ => Err(Failure::Input(
            "a file and who listens are missing; write `lightlag transfer FILE HOST:PORT`".into(),
        )),
    }
}

fn key(options: &Transfer) -> Result<Option<Key>, Failure> {
    let read = |path| Key::read(path).map_err(|line| Failure::Input(format!("--key-file {line}")));
    options.key_file.as_deref().map(read).transpose()
}

// --- sending --------------------------------------------------------------------------------

fn send_file(options: &Transfer, file: &std::path::Path, to: &str) -> Done {
    let sending = Sending {
        file: file.to_owned(),
        packet: option("--packet-size", &options.packet_size, size)?,
        rate: options.rate.as_deref().map(|text| option("--rate", text, quantity::bit_rate)).transpose()?,
        light: options.light.as_deref().map(|text| option("--light", text, quantity::time)).transpose()?,
        in_order: options.in_order,
        give_up: options
            .give_up
            .as_deref()
            .map(|text| option("--give-up", text, quantity::positive_time))
            .transpose()?,
        key: key(options)?,
        controller: controller(TRANSPORT, "contact_rate", &options.controller, &options.sets)?,
        to: address(to, PORT)?,
    };
    if sending.packet > Bytes(65_535) {
        return Err(Failure::Input(format!(
            "--packet-size: {} B; a packet has at most 65535 B",
            sending.packet.0
        )));
    }
    let (bar, to) = (bar(), sending.to);
    let result = send(sending, &mut |progress| show(&bar, progress));
    bar.finish_and_clear();
    let sent = result.map_err(Failed)?;
    print(&if options.json { json_of(&sent, file, to) + "\n" } else { line_of(&sent, file, to) + "\n" })
}

fn show(bar: &ProgressBar, progress: Progress) {
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

// --- listening ------------------------------------------------------------------------------

fn listen(options: &Transfer, at: &str) -> Done {
    let size_most = options.max_size.as_deref().map(|text| option("--max-size", text, size)).transpose()?;
    let listening = Listening {
        at: listening_address(at, PORT)?,
        folder: options.folder.clone(),
        once: options.once,
        overwrite: options.overwrite,
        size_most: size_most.map(|size| size.0),
        key: key(options)?,
    };
    let (bar, mut printed) = (bar(), Ok(()));
    let mut listener = Listener::new(listening).map_err(Failed)?;
    let result = listener.run(&mut |event| {
        match event {
            Event::Progress(here, all) => {
                bar.set_message("receiving");
                bar.set_length(all);
                bar.set_position(here);
            }
            Event::Finished(finished) => {
                let text = if options.json { finished_json(&finished) } else { finished_line(&finished) };
                bar.suspend(|| printed = print(&(text + "\n")));
                bar.reset();
            }
            Event::Listening(at) => eprintln!("listening at {at}"),
            Event::Began(name, length, resumed, from) => {
                let rest = if resumed > 0 { format!(", {resumed} are here") } else { String::new() };
                bar.suspend(|| eprintln!("{name}: {length} bytes from {from}{rest}"));
            }
            Event::Refused(line) => bar.suspend(|| eprintln!("lightlag: {line}")),
        }
        printed.is_ok()
    });
    bar.finish_and_clear();
    printed?;
    match result {
        // The line was told when it happened.
        Err(Error::Failed(_)) if options.once => Err(Failure::Verdict),
        other => Ok(other.map_err(Failed)?),
    }
}

fn finished_json(finished: &Finished) -> String {
    json!({
        "role": "receiver",
        "file": finished.path.display().to_string(),
        "peer": finished.from.to_string(),
        "bytes": finished.bytes,
        "blake3": hex(&finished.digest),
        "duration_s": finished.seconds,
        "goodput_bit_per_s": goodput(finished.bytes - finished.resumed.min(finished.bytes), finished.seconds),
        "resumed_bytes": finished.resumed,
        "complete": true,
    })
    .to_string()
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
