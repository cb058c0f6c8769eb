//! `lightlag transfer`.

use super::{address, listening_address, option};
use crate::args::Transfer;
use crate::output::{Done, Failure, print};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lightlag_lab::scenario::{Wrong, quantity};
use lightlag_node::transfer::{
    Error, Event, Finished, Key, Listener, Listening, PORT, Progress, Sending, Sent, send,
};
use lightlag_protocols::controllers::{self, Controller, Flow};
use lightlag_protocols::parameter::{Parameter, Parameters, Value};
use lightlag_protocols::units::Bytes;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What carries it, as controllers name it.
const TRANSPORT: &str = "udpdtn";

impl From<Failed> for Failure {
    fn from(Failed(error): Failed) -> Self {
        match error {
            Error::Input(line) => Self::Input(line),
            Error::Failed(line) => Self::Failed(line),
        }
    }
}

/// An error of a transfer; not itself one that is displayed, so that it keeps its exit code.
struct Failed(Error);

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

/// A plain number is one of bytes.
fn size(text: &str) -> Result<Bytes, Wrong> {
    text.trim().parse().map(Bytes).or_else(|_| quantity::bytes(text))
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    // Hidden where standard error is no terminal.
    ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_style(style)
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
        controller: controller(options)?,
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

/// Bytes of the file that went over the link, per second.
fn goodput(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 * 8.0 / seconds.max(1e-9)
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

type Build = Box<dyn FnOnce(Flow) -> Box<dyn Controller>>;

fn controller(options: &Transfer) -> Result<Build, Failure> {
    let name = options.controller.as_str();
    let Some(entry) = controllers::find(name) else {
        let fits =
            controllers::TABLE.iter().map(|entry| &entry.algorithm).filter(|entry| fits(entry.only_with));
        let known: Vec<&str> = fits.map(|entry| entry.name).collect();
        let line = format!("--controller: there is no `{name}`; name one of {}", known.join(", "));
        return Err(Failure::Input(line));
    };
    if !fits(entry.algorithm.only_with) {
        let with = entry.algorithm.only_with.join(", ");
        return Err(Failure::Input(format!(
            "--controller: {name} works with {with} only; take contact_rate"
        )));
    }
    let mut given = BTreeMap::new();
    for (name, text) in &options.sets {
        given.insert(name.clone(), value(entry.algorithm.parameters, name, text)?);
    }
    let resolved = Parameters::resolve(name, entry.algorithm.parameters, &given);
    let parameters = resolved.map_err(|why| Failure::Input(format!("--set: {why}")))?;
    Ok(Box::new(move |flow| entry.build(&parameters, flow)))
}

fn fits(only_with: &[&str]) -> bool {
    only_with.is_empty() || only_with.contains(&TRANSPORT)
}

/// A value as its parameter takes it: with its unit, a plain number, `true`, or a word.
fn value(declared: &[Parameter], name: &str, text: &str) -> Result<Value, Failure> {
    let unit =
        declared.iter().find(|parameter| parameter.name == name).map_or("", |parameter| parameter.unit);
    if let Some(number) = quantity::plain_number(text) {
        return Ok(Value::Number(number));
    }
    if let Ok(flag) = text.parse() {
        return Ok(Value::Flag(flag));
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        let number = option(&format!("--set {name}"), text, |text| quantity::in_unit(text, unit))?;
        return Ok(Value::Number(number));
    }
    Ok(Value::Word(text.to_owned().into()))
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
