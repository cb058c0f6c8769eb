//! `lightlag bench-link`.

use super::pacing::{find, listen_options, send_options, supports_capture, supports_pacing};
use super::record::Recording;
use super::{Failed, listened};
use crate::args::sockets::BenchLink;
use crate::output::{Done, Failure, print};
use lightlag_node::clock::processor_time;
use lightlag_node::transports::bench::{EVERY_LEAST, Interval, Measured, Outcome, Plan, Tallies, send};
use lightlag_node::transports::{
    Carrier, Event, Listening, Payload, Sending, Service, Transport, UdpdtnOptions,
};
use lightlag_protocols::time::Duration;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;

/// Default of `--every`.
const EVERY: Duration = Duration::from_nanos(10_000_000_000);

/// A transport, and what carries noise over it.
type Over = (&'static Transport, &'static Service<&'static dyn Carrier>);

pub fn bench_link(options: &BenchLink) -> Done {
    let over = find(&options.over, |transport| transport.files.as_ref())?;
    supports_pacing(&options.pacing, over.0)?;
    supports_capture(over.0, options.capture.is_some())?;
    let recording = match &options.capture {
        None => Recording::interruptible()?,
        path => Recording::begin(path.as_deref(), over.0.is_dccp(), None)?,
    };
    let done = match (&options.listen, &options.to) {
        (Some(at), _) => listen(options, over, at, &recording),
        (None, Some(to)) => measure(options, over, to, &recording),
        _ => Err(Failure::Input("missing HOST:PORT; write `lightlag bench-link HOST:PORT`".to_owned())),
    };
    recording.end(done)
}

fn plan(options: &BenchLink) -> Result<Plan, Failure> {
    let time = options.time;
    let every = options.every.unwrap_or(time.min(EVERY));
    for (option, span) in [("--time", time), ("--every", every)] {
        if span < EVERY_LEAST {
            let line = format!("{option}: {} s is too short; at least 100 ms", span.as_secs_f64());
            return Err(Failure::Input(line));
        }
    }
    if every > time {
        let [every, time] = [every, time].map(Duration::as_secs_f64);
        let line = format!("--every: {every} s is longer than --time, which is {time} s; take a part of it");
        return Err(Failure::Input(line));
    }
    Ok(Plan { time, every })
}

// --- sending --------------------------------------------------------------------------------

fn measure(options: &BenchLink, (transport, service): Over, to: &str, recording: &Recording) -> Done {
    let to = (to, service.port);
    let sending = Sending {
        payload: Payload::Noise(plan(options)?),
        options: send_options(&options.pacing, (transport, transport.controllers), to, false, recording)?,
        udpdtn: UdpdtnOptions::default(),
    };
    let to = sending.options.to;
    let mut printed = Ok(());
    let result = send(transport, sending, &mut |interval| {
        if let Some(interval) = interval {
            let told =
                if options.json { json_of(interval, "sender", transport, to) } else { line_of(interval) };
            printed = print(&(told + "\n"));
        }
        printed.is_ok() && recording.goes_on()
    });
    printed?;
    let outcome = result.map_err(Failed)?;
    print(&if options.json {
        outcome_json(&outcome, transport, to)
    } else {
        outcome_text(&outcome, transport, to)
    })
}

fn outcome_text(outcome: &Outcome, transport: &Transport, to: SocketAddr) -> String {
    let (what, measured) = best(outcome);
    let passed = match (outcome.total.datagrams, outcome.total.repairs) {
        (Some(datagrams), Some(repairs)) => format!(", {datagrams} datagrams, {repairs} repairs"),
        _ => String::new(),
    };
    format!("{} to {to}, {what}: {}{passed}{}\n", transport.name, summary(&measured), processor())
}

/// The receiver's word, or else what the sender knows.
fn best(outcome: &Outcome) -> (&'static str, Measured) {
    outcome.received.map_or(("acknowledged", outcome.acknowledged), |measured| ("received", measured))
}

fn outcome_json(outcome: &Outcome, transport: &Transport, to: SocketAddr) -> String {
    let (what, measured) = best(outcome);
    let mut told = measured_json(&measured, "sender", transport, to);
    told["counted"] = what.into();
    told["complete"] = outcome.received.is_some().into();
    told["datagrams"] = outcome.total.datagrams.into();
    told["repairs"] = outcome.total.repairs.into();
    told["rtt_s"] = outcome.total.rtt.map(Duration::as_secs_f64).into();
    format!("{}\n", told)
}

// --- listening ------------------------------------------------------------------------------

fn listen(options: &BenchLink, (transport, service): Over, at: &str, recording: &Recording) -> Done {
    let listening = Listening {
        options: listen_options((at, service.port), None, false, recording)?,
        inbox: Arc::new(Tallies),
        once: options.once,
    };
    let mut printed = Ok(());
    let result = service.by.listen(listening, &mut |event| {
        match event {
            Event::Listening(at) => eprintln!("listening at {at}"),
            Event::Began(_, _, _, from) => eprintln!("a measurement from {from}"),
            Event::Refused(line) | Event::Failed(line) => eprintln!("lightlag: {line}"),
            Event::Interval(from, interval) if options.json => {
                printed = print(&(json_of(&interval, "receiver", transport, from) + "\n"));
            }
            Event::Interval(_, interval) => printed = print(&(line_of(&interval) + "\n")),
            Event::Measured(from, measured) => {
                let told = if options.json {
                    measured_json(&measured, "receiver", transport, from).to_string()
                } else {
                    format!("{} from {from}: {}{}", transport.name, summary(&measured), processor())
                };
                printed = print(&(told + "\n"));
            }
            Event::Progress(..) | Event::Finished(_) | Event::Bundle(_) => {}
        }
        printed.is_ok() && recording.goes_on()
    });
    printed?;
    listened(result, options.once)
}

// --- output ----------------------------------------------------------------------------------

fn line_of(interval: &Interval) -> String {
    let mut line = format!("{:8.1} s {:11.3} Mbit/s", interval.at.as_secs_f64(), interval.goodput() / 1e6);
    if let (Some(datagrams), Some(repairs)) = (interval.datagrams, interval.repairs) {
        line += &format!(" {datagrams:9} datagrams {repairs:7} repairs");
    }
    if let Some(rtt) = interval.rtt {
        line += &format!(" {:10.3} ms round trip", rtt.as_secs_f64() * 1e3);
    }
    line
}

fn summary(measured: &Measured) -> String {
    let mbit = |rate: u64| rate as f64 / 1e6;
    format!(
        "{:.3} Mbit/s over {:.1} s; of intervals: standard deviation {:.3}, least {:.3}, most {:.3} Mbit/s",
        measured.goodput() / 1e6,
        measured.span_ns as f64 / 1e9,
        mbit(measured.deviation),
        mbit(measured.least),
        mbit(measured.most),
    )
}

fn processor() -> String {
    format!("; {:.2} s of processors here", processor_time().as_secs_f64())
}

fn json_of(interval: &Interval, role: &str, transport: &Transport, peer: SocketAddr) -> String {
    json!({
        "role": role,
        "over": transport.name,
        "peer": peer.to_string(),
        "at_s": interval.at.as_secs_f64(),
        "span_s": interval.span.as_secs_f64(),
        "bytes": interval.bytes,
        "goodput_bit_per_s": interval.goodput(),
        "datagrams": interval.datagrams,
        "repairs": interval.repairs,
        "rtt_s": interval.rtt.map(Duration::as_secs_f64),
    })
    .to_string()
}

fn measured_json(measured: &Measured, role: &str, transport: &Transport, peer: SocketAddr) -> Value {
    json!({
        "role": role,
        "over": transport.name,
        "peer": peer.to_string(),
        "bytes": measured.bytes,
        "duration_s": measured.span_ns as f64 / 1e9,
        "goodput_bit_per_s": measured.goodput(),
        "standard_deviation_bit_per_s": measured.deviation,
        "least_bit_per_s": measured.least,
        "most_bit_per_s": measured.most,
        "processor_s": processor_time().as_secs_f64(),
        "complete": true,
    })
}
