//! `lightlag names`.

use super::controller::controller;
use super::{Failed, bar, goodput};
use crate::args::sockets::{GetName, MakeKey, Names, PutName};
use crate::output::{Done, Failure, print};
use lightlag_node::Error;
use lightlag_node::names::{
    self, FaceUri, Getting, Got, Published, Putting, Sink, Verified, Where, make_key, read_key, read_trust,
};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::ndn::{Name, Signer, Verifier, fragments};
use serde_json::json;
use std::fmt::Write;

/// What carries it, as controllers name it.
const TRANSPORT: &str = "ndn";
/// Default for the largest object that is taken without a trusted key.
const INSECURE_MOST: u64 = 1_000_000_000;
/// Largest datagram of UDP over IPv4.
const MTU_MOST: u64 = 65_507;

pub fn names(options: &Names) -> Done {
    match options {
        Names::Get(options) => get(options),
        Names::Put(options) => put(options),
        Names::Keygen(options) => keygen(options),
    }
}

fn name(text: &str) -> Result<Name<'static>, Failure> {
    let name: Name = text.parse().map_err(|why| Failure::Input(format!("{why}; write it as /a/b")))?;
    if name.is_empty() {
        return Err(Failure::Input("the name `/` has no component; write it as /a/b".to_owned()));
    }
    Ok(name)
}

fn face(flag: &str, text: Option<&str>) -> Result<FaceUri, Failure> {
    let Some(text) = text else { return Ok(FaceUri::of_machine().map_err(Failed)?) };
    let uri = text.parse().map_err(|why: Error| Failure::Input(format!("{flag} {why}")))?;
    Ok(uri)
}

fn mtu(Bytes(bytes): Bytes) -> Result<usize, Failure> {
    let least = fragments::MTU_LEAST as u64;
    if !(least..=MTU_MOST).contains(&bytes) {
        return Err(Failure::Input(format!("--mtu: {bytes} B; it must be {least} to {MTU_MOST} B")));
    }
    Ok(bytes as usize)
}

// --- get ------------------------------------------------------------------------------------

fn get(options: &GetName) -> Done {
    let name = name(&options.name)?;
    let verifier = options.trust.as_deref().map(read_trust).transpose().map_err(Failed)?;
    if verifier.is_none() && !options.insecure {
        let right = "name the publisher's public key with --trust FILE (`lightlag names keygen KEY` makes KEY.pub \
                     for `names put --key KEY`), or take what anybody may have written with --insecure";
        return Err(Failure::Input(format!("{name}: no trusted key; {right}")));
    }
    let getting = Getting {
        name,
        from: face("--face", options.face.as_deref())?.reachable().map_err(Failed)?,
        mtu: mtu(options.mtu)?,
        controller: controller(TRANSPORT, "short_queue", &options.controller, &options.sets)?,
        size_most: options.max_size.map(|size| size.0).or(options.insecure.then_some(INSECURE_MOST)),
        verifier: verifier.unwrap_or(Verifier::Nobody),
        sink: match &options.output {
            Some(file) => Sink::file(file).map_err(Failed)?,
            None => Sink::stream(Box::new(std::io::stdout())),
        },
    };
    let bar = bar();
    let mut watch = |here, all| {
        bar.set_length(all);
        bar.set_position(here);
    };
    let result = names::get(getting, &mut watch, &mut |line| bar.suspend(|| eprintln!("lightlag: {line}")));
    bar.finish_and_clear();
    let got = result.map_err(Failed)?;
    match (&options.output, options.json) {
        (Some(_), true) => print(&(json_of(&got) + "\n")),
        (Some(_), false) => print(&(line_of(&got) + "\n")),
        // The content is on standard output.
        (None, _) => {
            eprintln!("{}", line_of(&got));
            Ok(())
        }
    }
}

fn json_of(got: &Got) -> String {
    json!({
        "role": "consumer",
        "name": got.name.to_string(),
        "bytes": got.bytes,
        "segments": got.segments,
        "duration_s": got.seconds,
        "goodput_bit_per_s": goodput(got.bytes, got.seconds),
        "interests": got.counts.interests,
        "repairs": got.counts.repairs,
        "timeouts": got.counts.timeouts,
        "unsolicited": got.counts.unsolicited,
        "rtt_s": got.rtt.map(Duration::as_secs_f64),
        "stamped": got.stamped,
        "marked": got.marked,
        "malformed": got.dropped.malformed,
        "incomplete": got.dropped.incomplete,
        "unknown_hosts": got.strangers,
        "forged": got.forged,
        "verified": verified(got.verified),
        "complete": true,
    })
    .to_string()
}

fn verified(verified: Verified) -> &'static str {
    match verified {
        Verified::Key => "key",
        Verified::Digest => "digest",
        Verified::Unknown => "no",
    }
}

fn line_of(got: &Got) -> String {
    let mut line = format!(
        "{}: {} bytes in {:.3} s, {:.1} Mbit/s, {} segments, {} repairs",
        got.name,
        got.bytes,
        got.seconds,
        goodput(got.bytes, got.seconds) / 1e6,
        got.segments,
        got.counts.repairs
    );
    if got.forged > 0 {
        let _ = write!(line, ", {} forged Data dropped", got.forged);
    }
    if got.verified != Verified::Key {
        let _ = write!(line, "; not verified: anybody may have written it");
    }
    line
}

// --- put ------------------------------------------------------------------------------------

fn put(options: &PutName) -> Done {
    let name = name(&options.name)?;
    let from = match &options.listen {
        Some(at) => Where::Listen(face("--listen", Some(at))?),
        None => Where::Forwarder(face("--face", options.face.as_deref())?.reachable().map_err(Failed)?),
    };
    let segment = options.segment_size.0;
    let signer = match &options.key {
        Some(file) => read_key(file, &name).map_err(Failed)?,
        None => Signer::Digest,
    };
    let putting = Putting {
        file: options.file.clone(),
        name,
        // What is too large for any packet is refused where the name is known.
        segment: u32::try_from(segment).unwrap_or(u32::MAX),
        mtu: mtu(options.mtu)?,
        from,
        signer,
        rate: options.rate,
    };
    let (listens, json, mut printed) = (options.listen.is_some(), options.json, Ok(()));
    let mut ready = |published: &Published| {
        eprintln!("{} at {}", if listens { "listening" } else { "registered" }, published.at);
        printed =
            print(&(if json { json_of_published(published) } else { line_of_published(published) } + "\n"));
        printed.is_ok()
    };
    let result = names::put(putting, &mut ready, &mut |line| eprintln!("lightlag: {line}"));
    printed?;
    Ok(result.map_err(Failed)?)
}

fn json_of_published(published: &Published) -> String {
    json!({
        "role": "producer",
        "name": published.name.to_string(),
        "bytes": published.bytes,
        "segments": published.segments,
        "face": published.at.to_string(),
    })
    .to_string()
}

fn line_of_published(published: &Published) -> String {
    format!("{}: {} bytes in {} segments", published.name, published.bytes, published.segments)
}

fn keygen(options: &MakeKey) -> Done {
    let public = make_key(&options.file).map_err(Failed)?;
    print(&format!(
        "{}: signing key; give {} to hosts that should trust it\n",
        options.file.display(),
        public.display()
    ))
}
