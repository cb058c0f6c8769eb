//! `lightlag bundles`.

use super::pacing::{find, listen_options, send_options, supports, supports_pacing};
use super::record::Recording;
use super::transfer::{hex, show};
use super::{Failed, address, bar, goodput, listening_address};
use crate::args::sockets::{Bundles, ListenBundles, Pacing, SendBundles};
use crate::output::{Done, Failure, print};
use lightlag_node::convergence::{Bundle, BundleStore, Event, Keeping, Listening, LtpSending, Sending, Tag};
use lightlag_node::transfer::Key as Secret;
use lightlag_node::transports::{SendOptions, Transport};
use lightlag_protocols::time::Duration;
use lightlag_protocols::wire::ltp::aggregation::{self, BUNDLE_SERVICE};
use lightlag_protocols::wire::ltp::auth::Key;
use serde_json::json;
use std::path::Path;

/// What a node of ours is called if nothing else is said.
const NODE: &str = "dtn://lightlag/";
/// Default idle time after which a block without news from its sender is given up.
const IDLE: Duration = Duration::from_secs(86_400);
/// What a peer that is another implementation may take to answer before `contact_rate` sees a queue in it.
const STANDING_DELAY: (&str, &str) = ("standing_delay", "0.05");
/// Largest bundle that is kept while others are sent, in bytes.
const SIZE_MOST: u64 = 1_000_000_000;
/// Longest name of a node that a message of TCPCL holds.
const NODE_MOST: usize = u16::MAX as usize;

pub fn bundles(options: &Bundles) -> Done {
    match options {
        Bundles::Send(options) => send(options),
        Bundles::Listen(options) => listen(options),
    }
}

// --- options --------------------------------------------------------------------------------

fn key(file: Option<&Path>) -> Result<Option<Key>, Failure> {
    let read = |path| Secret::secret(path).map_err(|line| Failure::Input(format!("--key-file {line}")));
    Ok(file.map(read).transpose()?.map(|secret| Key::Hmac { id: Vec::new(), secret }))
}

fn node(text: Option<&String>) -> Result<String, Failure> {
    let node = text.map_or(NODE, String::as_str);
    if node.len() > NODE_MOST || !(node.starts_with("dtn:") || node.starts_with("ipn:")) {
        let line = format!("--node: `{node}` is not an endpoint; write it as {NODE} or ipn:5.0");
        return Err(Failure::Input(line));
    }
    Ok(node.to_owned())
}

// --- sending --------------------------------------------------------------------------------

fn send_supports(options: &SendBundles, transport: &Transport, has_raw: bool) -> Done {
    let (is_tcp, is_ltp) = (transport.name == "tcp", transport.is_ltp());
    supports(
        transport,
        &[
            ("--from", options.from.is_some(), transport.name.ends_with("udp")),
            ("--engine", options.engine.is_some(), is_ltp),
            ("--service", options.service.is_some(), is_ltp),
            ("--green", options.green.is_some(), is_ltp),
            ("--aggregate", options.aggregate.is_some(), is_ltp),
            ("--key-file", options.layer.key_file.is_some(), is_ltp),
            ("--node", options.layer.node.is_some(), is_tcp),
            ("--folder", options.folder.is_some(), transport.name == "ltp-udp"),
            ("--raw", options.layer.raw, has_raw),
        ],
    )?;
    supports_pacing(&options.pacing, transport)
}

fn ltp(options: &SendBundles) -> Result<LtpSending, Failure> {
    let aggregates = options.aggregate.is_some();
    // A peer that lists engines by numbers splits bundles that follow each other; capsules are known to few.
    let default = if aggregates && options.engine.is_none() { aggregation::SERVICE } else { BUNDLE_SERVICE };
    let service = options.service.unwrap_or(default);
    if aggregates && ![BUNDLE_SERVICE, aggregation::SERVICE].contains(&service) {
        let line = format!("--service: {service}; --aggregate takes 1 or 2");
        return Err(Failure::Input(line));
    }
    Ok(LtpSending {
        engine: options.engine,
        service,
        green: options.green.map_or(0, |green| green.0),
        aggregate: options.aggregate.map(|size| size.0),
        key: key(options.layer.key_file.as_deref())?,
    })
}

/// The default controllers, without a planned rate and with one. A peer that lists engines by numbers gives few reports: BBR
/// does without them over a lossy path.
fn controllers(options: &SendBundles, transport: &Transport) -> [&'static str; 2] {
    let [unplanned, planned] = transport.controllers;
    let is_listed = options.engine.is_some() && transport.name == "ltp-udp";
    [if is_listed { "bbr" } else { unplanned }, planned]
}

/// The options of pacing. A delay in the answers of another implementation is not counted as a queue.
fn pacing(options: &SendBundles, transport: &Transport) -> Pacing {
    let mut pacing = options.pacing.clone();
    let is_planned = pacing.rate.is_some() || pacing.plan.is_some();
    let is_default = pacing.controller.as_deref().is_none_or(|name| name == "contact_rate");
    let is_given = pacing.sets.iter().any(|(name, _)| name == STANDING_DELAY.0);
    if options.engine.is_some() && transport.name == "ltp-udp" && is_planned && is_default && !is_given {
        let (name, delay) = STANDING_DELAY;
        pacing.sets.push((name.to_owned(), delay.to_owned()));
    }
    pacing
}

/// How bundles are kept that come while others are sent.
fn keeping(options: &SendBundles, transport: &'static Transport) -> Result<Option<Keeping>, Failure> {
    let Some(folder) = &options.folder else { return Ok(None) };
    let store = BundleStore::new(folder, SIZE_MOST, None).map_err(Failed)?;
    let json = options.layer.json;
    let watch = move |event| match event {
        Event::Bundle(bundle) => {
            // Standard output may be closed; the bundles are kept nevertheless.
            let _ = print(&(came(json, transport, &bundle) + "\n"));
        }
        Event::Refused(line) | Event::Failed(line) => eprintln!("lightlag: {line}"),
        _ => {}
    };
    Ok(Some(Keeping { store, count: options.count, idle: IDLE, watch: Box::new(watch) }))
}

/// A line about a bundle that has come.
fn came(json: bool, transport: &Transport, bundle: &Bundle) -> String {
    if json { json_of("receiver", transport, bundle).to_string() } else { kept_line(bundle) }
}

fn send(options: &SendBundles) -> Done {
    let (transport, service) = find(&options.layer.over, |transport| transport.bundles.as_ref())?;
    send_supports(options, transport, service.raw_port.is_some())?;
    let (to, recording) = ((&options.to[..], service.port(options.layer.raw)), Recording::none());
    let pacing = pacing(options, transport);
    let controlled = (transport, controllers(options, transport));
    let path = send_options(&pacing, controlled, to, options.layer.raw, &recording)?;
    let from = options.from.as_deref().map(|text| listening_address(text, service.port)).transpose()?;
    let sending = Sending {
        files: options.files.clone(),
        options: SendOptions { from, ..path },
        ltp: ltp(options)?,
        node: node(options.layer.node.as_ref())?,
        keeping: keeping(options, transport)?,
    };
    let bar = bar();
    let result = service.by.send(sending, &mut |progress| {
        show(&bar, progress);
        true
    });
    bar.finish_and_clear();
    let bundles = result.map_err(Failed)?;
    // Over UDP there are no acknowledgements, and none for green data.
    let confirms = transport.name != "udp" && options.green.is_none();
    let text = |bundle: &Bundle| {
        if !options.layer.json {
            return sent_line(bundle);
        }
        let mut told = json_of("sender", transport, bundle);
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

fn json_of(role: &str, transport: &Transport, bundle: &Bundle) -> serde_json::Value {
    let mut told = json!({
        "role": role,
        "over": transport.name,
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
            let lacks = if *lacks > 0 { format!(", {} bytes missing", lacks) } else { String::new() };
            format!(", engine {engine}, session {session}, service {service}{}", lacks)
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

fn listen_supports(options: &ListenBundles, transport: &Transport, has_raw: bool) -> Done {
    supports(
        transport,
        &[
            ("--packet-size", options.packet_size.is_some(), transport.controlled_as.is_some()),
            ("--reply-to", options.reply_to.is_some(), transport.name == "ltp-udp"),
            ("--idle", options.idle.is_some(), transport.is_ltp()),
            ("--key-file", options.layer.key_file.is_some(), transport.is_ltp()),
            ("--node", options.layer.node.is_some(), transport.name == "tcp"),
            ("--raw", options.layer.raw, has_raw),
        ],
    )
}

fn listen(options: &ListenBundles) -> Done {
    let (transport, service) = find(&options.layer.over, |transport| transport.bundles.as_ref())?;
    listen_supports(options, transport, service.raw_port.is_some())?;
    if options.count == Some(0) {
        return Err(Failure::Input("--count: it is a whole number from 1 on".to_owned()));
    }
    let stored = options.max_stored.map(|size| size.0);
    let most = options.max_size.0;
    let store = BundleStore::new(&options.folder, most, stored).map_err(Failed)?;
    let at = (&options.at[..], service.port(options.layer.raw));
    let listening = Listening {
        options: listen_options(at, options.packet_size, options.layer.raw, &Recording::none())?,
        count: options.count,
        reply_to: options.reply_to.as_deref().map(|text| address(text, service.port)).transpose()?,
        idle: options.idle.unwrap_or(IDLE),
        key: key(options.layer.key_file.as_deref())?,
        node: node(options.layer.node.as_ref())?,
        store: store.opaque(options.opaque),
    };
    let mut printed = Ok(());
    let result = service.by.listen(listening, &mut |event| {
        match event {
            Event::Listening(at) => eprintln!("listening at {at}"),
            Event::Refused(line) | Event::Failed(line) => eprintln!("lightlag: {line}"),
            Event::Bundle(bundle) => {
                printed = print(&(came(options.layer.json, transport, &bundle) + "\n"));
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
