//! `lightlag transfer`.

use super::pacing::{find, listen_options, send_options, supports, supports_capture, supports_pacing};
use super::record::Recording;
use super::{Failed, bar, goodput, listened};
use crate::args::sockets::Transfer;
use crate::output::{Done, Failure, print};
use indicatif::ProgressBar;
use lightlag_node::transfer::Key;
use lightlag_node::transports::{
    Carrier, Error, Event, FileInbox, Finished, Listening, Payload, Progress, Sending, Sent, Service,
    Transport, UdpdtnOptions,
};
use lightlag_protocols::time::Duration;
use serde_json::json;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// A transport, and what carries files over it.
type Over = (&'static Transport, &'static Service<&'static dyn Carrier>);

pub fn transfer(options: &Transfer) -> Done {
    let over = find(&options.over, |transport| transport.files.as_ref())?;
    let (transport, service) = over;
    let is_udpdtn = transport.name == "udpdtn";
    supports(
        transport,
        &[
            ("--key-file", options.key_file.is_some(), is_udpdtn),
            ("--in-order", options.in_order, is_udpdtn),
            ("--max-partial", options.max_partial.is_some(), is_udpdtn),
            ("--raw", options.raw, service.raw_port.is_some()),
        ],
    )?;
    supports_pacing(&options.pacing, transport)?;
    supports_capture(transport, options.capture.is_some())?;
    let recording =
        Recording::begin(options.capture.as_deref(), transport.is_dccp(), options.file.as_deref())?;
    let done = match (&options.listen, &options.file, &options.to) {
        (Some(at), ..) => listen(options, over, at, &recording),
        (None, Some(file), Some(to)) => send(options, over, (file, to), &recording),
        _ => {
            Err(Failure::Input("missing FILE and HOST:PORT; write `lightlag transfer FILE HOST:PORT`".into()))
        }
    };
    recording.end(done)
}

// --- options --------------------------------------------------------------------------------

fn key(options: &Transfer) -> Result<Option<Key>, Failure> {
    let read = |path| Key::read(path).map_err(|line| Failure::Input(format!("--key-file {line}")));
    options.key_file.as_deref().map(read).transpose()
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

fn send(options: &Transfer, over: Over, (file, to): (&Path, &str), recording: &Recording) -> Done {
    let (transport, service) = over;
    let to = (to, service.port(options.raw));
    let sending = Sending {
        payload: Payload::File(file.to_owned()),
        options: send_options(
            &options.pacing,
            (transport, transport.controllers),
            to,
            options.raw,
            recording,
        )?,
        udpdtn: UdpdtnOptions { in_order: options.in_order, key: key(options)?, memory: memory_folder() },
    };
    let (bar, to) = (bar(), sending.options.to);
    let result = service.by.send(sending, &mut |progress| {
        show(&bar, progress);
        recording.goes_on()
    });
    bar.finish_and_clear();
    let sent = result.map_err(Failed)?;
    let text = if options.json { json_of(&sent, transport.name, file, to) } else { line_of(&sent, file, to) };
    print(&(text + "\n"))
}

fn place(bar: &ProgressBar, what: &'static str, done: u64, all: u64) {
    bar.set_message(what);
    bar.set_length(all);
    bar.set_position(done);
}

pub(super) fn show(bar: &ProgressBar, progress: Progress) {
    match progress {
        Progress::Reading(done, all) => place(bar, "reading", done, all),
        Progress::Sending(done, all) => place(bar, "sending", done, all),
        Progress::Silent(seconds) => bar.set_message(format!("nothing heard for {seconds} s")),
        Progress::NoContact(Some(seconds)) => bar.set_message(format!("no contact for {seconds} s")),
        Progress::NoContact(None) => bar.set_message("no contact is planned"),
        Progress::Counted(_) => {}
    }
}

fn json_of(sent: &Sent, over: &str, file: &Path, to: SocketAddr) -> String {
    json!({
        "role": "sender",
        "over": over,
        "file": file.display().to_string(),
        "peer": to.to_string(),
        "bytes": sent.bytes,
        "blake3": hex(&sent.digest),
        "duration_s": sent.seconds,
        "goodput_bit_per_s": goodput(sent.bytes - sent.resumed.min(sent.bytes), sent.seconds),
        "datagrams": sent.datagrams,
        "repairs": sent.repairs,
        "timeouts": sent.timeouts,
        "resumed_bytes": sent.resumed,
        "rtt_s": sent.rtt.map(Duration::as_secs_f64),
        "ignored_datagrams": sent.ignored,
        "complete": true,
    })
    .to_string()
}

fn line_of(sent: &Sent, file: &Path, to: SocketAddr) -> String {
    let (file, bytes, seconds) = (file.display(), sent.bytes, sent.seconds);
    let rate = goodput(bytes - sent.resumed.min(bytes), seconds) / 1e6;
    let mut line = format!("{file}: {bytes} bytes to {to} in {seconds:.3} s, {rate:.1} Mbit/s");
    if let (Some(datagrams), Some(repairs)) = (sent.datagrams, sent.repairs) {
        let _ = write!(line, ", {datagrams} datagrams, {repairs} repairs");
    }
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

fn listen(options: &Transfer, (transport, service): Over, at: &str, recording: &Recording) -> Done {
    let size_most = options.max_size.map(|size| size.0);
    let mut inbox = FileInbox::new(&options.folder, options.overwrite, size_most).map_err(Failed)?;
    inbox.partial_most = options.max_partial.map(|size| size.0);
    inbox.key = key(options)?;
    let listening = Listening {
        options: listen_options((at, service.port(options.raw)), None, options.raw, recording)?,
        inbox: Arc::new(inbox),
        once: options.once,
    };
    tell_all(options, transport.name, recording, |watch| service.by.listen(listening, watch))
}

/// Shows what a listener reports; a failure was printed when it happened.
fn tell_all(
    options: &Transfer,
    over: &str,
    recording: &Recording,
    run: impl FnOnce(&mut dyn FnMut(Event) -> bool) -> Result<(), Error>,
) -> Done {
    let (bar, mut printed) = (bar(), Ok(()));
    let result = run(&mut |event| {
        match event {
            // Nothing is in flight, or it is nothing that fills a bar.
            Event::Progress(_, 0) | Event::Interval(..) | Event::Measured(..) => {}
            Event::Progress(here, all) => place(&bar, "receiving", here, all),
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
    listened(result, options.once)
}

fn finished_json(finished: &Finished, over: &str) -> String {
    json!({
        "role": "receiver",
        "over": over,
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
