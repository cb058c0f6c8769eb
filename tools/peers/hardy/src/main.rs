//! Bundles to and from Hardy's TCPCLv4, without its bundle agent: a file is a bundle.
//!
//! hardy-peer listen IP:PORT FOLDER [KEY=NUMBER ...]     stores what arrives, one file each
//! hardy-peer send IP:PORT FILE... [KEY=NUMBER ...]      prints a line for each that was acknowledged
//!
//! Keys: keepalive (s, 0: none), segment (bytes), transfer (bytes), tls (1: demanded), cert (1: cert.pem and key.pem
//! of the working directory), fail (dispatches that succeed before all others fail).

use hardy_bpa::Bytes;
use hardy_bpa::cla::{Cla as _, ClaAddress, Error, ForwardBundleResult, Result, Sink};
use hardy_bpv7::eid::NodeId;
use hardy_tcpclv4::{Cla, config};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Where bundles arrive.
struct Folder {
    path: PathBuf,
    stored: AtomicU64,
    accepted_max: u64,
}

impl Folder {
    fn store(&self, bundle: &Bytes) -> std::io::Result<()> {
        let number = self.stored.fetch_add(1, Ordering::Relaxed);
        let part = self.path.join(format!("{}-{number}.part", std::process::id()));
        let mut file = File::create(&part)?;
        file.write_all(bundle)?;
        file.sync_all()?;
        std::fs::rename(&part, part.with_extension("bundle"))
    }
}

#[async_trait::async_trait]
impl Sink for Folder {
    async fn unregister(&self) {}
    async fn dispatch(&self, bundle: Bytes, _: Option<&NodeId>, _: Option<&ClaAddress>) -> Result<()> {
        if self.stored.load(Ordering::Relaxed) >= self.accepted_max {
            return Err(Error::Disconnected);
        }
        self.store(&bundle).map_err(|why| Error::Internal(Box::new(why)))
    }
    async fn add_peer(&self, _: ClaAddress, _: &[NodeId]) -> Result<bool> {
        Ok(true)
    }
    async fn remove_peer(&self, _: &ClaAddress) -> Result<bool> {
        Ok(true)
    }
}

fn settings(keys: &HashMap<&str, u64>, address: Option<SocketAddr>) -> config::Config {
    let mut config = config::Config { address, ..Default::default() };
    config.segment_mru = keys.get("segment").copied().unwrap_or(config.segment_mru);
    config.transfer_mru = keys.get("transfer").copied().unwrap_or(config.transfer_mru);
    config.session_defaults.keepalive_interval = keys.get("keepalive").map(|seconds| *seconds as u16);
    config.session_defaults.require_tls = keys.get("tls") == Some(&1);
    config.tls = keys.contains_key("cert").then(|| config::TlsConfig {
        cert_file: Some("cert.pem".into()),
        private_key_file: Some("key.pem".into()),
        debug: config::TlsDebugConfig { accept_self_signed: true },
        ..Default::default()
    });
    config
}

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (keys, words): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.contains('='));
    let keys =
        keys.iter().filter_map(|word| word.split_once('=')).filter_map(|(k, v)| Some((k, v.parse().ok()?)));
    let keys: HashMap<&str, u64> = keys.collect();
    let [what, address, files @ ..] = &words[..] else { panic!("listen or send, IP:PORT, files") };
    let address: SocketAddr = address.parse().expect("IP:PORT");
    let listens = what.as_str() == "listen";
    let path = if listens { files[0].into() } else { PathBuf::new() };
    let accepted_max = keys.get("fail").copied().unwrap_or(u64::MAX);
    let folder = Folder { path, stored: AtomicU64::new(0), accepted_max };
    let cla = Cla::new(&settings(&keys, listens.then_some(address))).expect("settings");
    let node: NodeId = if listens { "ipn:9.0" } else { "ipn:8.0" }.parse().expect("a node");
    cla.on_register(Box::new(folder), &[node]).await;
    if listens {
        println!("listening");
        loop {
            tokio::time::sleep(Duration::from_secs(3600)).await;
        }
    }
    let mut failed = false;
    for file in files {
        let bundle = Bytes::from(std::fs::read(file).expect("a file"));
        let done = cla.forward(None, &ClaAddress::Tcp(address), bundle).await;
        let is_sent = matches!(done, Ok(ForwardBundleResult::Sent));
        println!("{} {file}", if is_sent { "sent" } else { "failed" });
        failed |= !is_sent;
    }
    cla.on_unregister().await;
    std::process::exit(failed.into());
}
