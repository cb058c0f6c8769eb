//! The daemon's one file of settings, in TOML.

use super::budget;
use super::controller::ControllerChoice;
use super::keys::PublicKey;
use super::plan::Contact;
use super::seal;
use super::target::Pattern;
use lightlag_node::Error;
use lightlag_protocols::session::PRIORITIES;
use lightlag_protocols::units::{BitRate, Bytes, parse};
use lightlag_protocols::wire::session::Hints;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// All settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The file with this daemon's key.
    #[serde(default = "default_key")]
    pub key: PathBuf,
    /// The folder in which it keeps what must outlive it.
    #[serde(default = "default_state")]
    pub state: PathBuf,
    /// The control socket, for the daemon's owner; by default in `state`.
    pub control: Option<PathBuf>,
    /// Where other daemons reach it.
    #[serde(default)]
    pub listen: Listen,
    /// The others.
    #[serde(default)]
    pub peer: Vec<Peer>,
    /// SOCKS5 for applications.
    #[serde(default)]
    pub socks: Vec<Acceptor>,
    /// HTTP CONNECT for applications.
    #[serde(default)]
    pub http: Vec<Acceptor>,
    /// Where the kernel redirects what others send (`REDIRECT` of netfilter).
    #[serde(default)]
    pub redirected: Vec<Acceptor>,
    /// Ports that lead to one target.
    #[serde(default)]
    pub forward: Vec<Forward>,
    /// Services that are offered here, and their targets, by name.
    #[serde(default)]
    pub services: BTreeMap<String, String>,
    /// Targets that go by plain TCP where none of the others reaches them; `true` is `["*"]`.
    #[serde(default, deserialize_with = "patterns")]
    pub direct: Vec<Pattern>,
    /// Targets that must not be reached from here, whatever `serve` and `direct` say.
    #[serde(default)]
    pub deny: Vec<Pattern>,
    /// Address of the page and the metrics; off by default.
    #[serde(default, deserialize_with = "some_address")]
    pub page: Option<SocketAddr>,
    /// Bounds.
    #[serde(default)]
    pub limits: Limits,
    /// What the file says.
    #[serde(skip)]
    written: toml::Table,
}

/// Where other daemons reach this one; a stack without an address is not listened on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    /// For TLS over TCP.
    #[serde(default, deserialize_with = "some_address")]
    pub tcp: Option<SocketAddr>,
    /// For UDPDTN.
    #[serde(default, deserialize_with = "some_address")]
    pub udpdtn: Option<SocketAddr>,
}

/// Another daemon.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// What it is called here.
    pub name: String,
    /// Who it is.
    #[serde(deserialize_with = "key")]
    pub key: PublicKey,
    /// Where it listens for TLS over TCP, `host:port`; if not said, it calls.
    pub tcp: Option<String>,
    /// Where it listens for UDPDTN, `host:port`; if not said, it speaks first.
    pub udpdtn: Option<String>,
    /// Which targets are reached by it.
    #[serde(default)]
    pub reach: Vec<Pattern>,
    /// Which targets it may have reached from here.
    #[serde(default)]
    pub serve: Vec<Pattern>,
    /// Which of those it may not.
    #[serde(default)]
    pub deny: Vec<Pattern>,
    /// What carries connections.
    #[serde(default)]
    pub stack: Choice,
    /// When it can be reached, where that is planned.
    #[serde(default)]
    pub contact: Vec<Contact>,
    /// Bytes of a datagram, without the headers of the link layer.
    #[serde(default = "default_datagram")]
    pub datagram: u16,
    /// At which datagrams leave before anything is known of the path.
    #[serde(default = "default_rate", deserialize_with = "rate")]
    pub first_rate: BitRate,
    /// The controller of datagrams, and its parameters.
    #[serde(default)]
    pub controller: ControllerChoice,
}

/// What carries connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// Chosen by path conditions, as they change.
    #[default]
    Auto,
    /// Always TLS over TCP.
    Tcp,
    /// Always UDPDTN.
    Udpdtn,
}

/// Where applications come in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acceptor {
    /// Its address.
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// Higher goes first, for connections that do not say.
    #[serde(default = "default_priority", deserialize_with = "priority")]
    pub priority: u8,
    /// Stored before it is acknowledged, and delivered though the application has left.
    #[serde(default)]
    pub durable: bool,
    /// Milliseconds of one-way delay that applications bear.
    pub delay_most_ms: Option<u64>,
    /// The first word of the user's name that applications must give; hints follow it, after a comma.
    pub user: Option<String>,
    /// The file with the password that applications must give: its first line, mode 0600.
    pub password_file: Option<PathBuf>,
    /// Whether applications of other machines may use it without a password.
    #[serde(default)]
    pub open: bool,
    /// The digest of what applications must say.
    #[serde(skip)]
    pub password: Option<Password>,
}

/// A port that leads to one target.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forward {
    /// Its address.
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// `host:port`, or the name of a service there.
    pub to: String,
    /// By which of the others; if not said, who reaches it.
    pub peer: Option<String>,
    /// Higher goes first, for connections that do not say.
    #[serde(default = "default_priority", deserialize_with = "priority")]
    pub priority: u8,
    /// Stored before it is acknowledged, and delivered though the application has left.
    #[serde(default)]
    pub durable: bool,
    /// Milliseconds of one-way delay that applications bear.
    pub delay_most_ms: Option<u64>,
}

/// What applications must say to a door, as a digest: it is compared in constant time, whatever its length.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(blake3::Hash);

impl fmt::Debug for Password {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "Password(..)")
    }
}

impl Password {
    /// Of a user, whose name may be empty, and a password.
    pub fn new(user: &str, password: &[u8]) -> Self {
        let mut digest = blake3::Hasher::new();
        digest.update(&(user.len() as u64).to_le_bytes()).update(user.as_bytes()).update(password);
        Self(digest.finalize())
    }
    /// Reads a file of mode 0600: its first line.
    fn read(user: &str, path: &Path) -> Result<Self, String> {
        let wrong = |why: &dyn fmt::Display| format!("password_file {}: {why}", path.display());
        let mode = std::fs::metadata(path).map_err(|why| wrong(&why))?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(wrong(&format!("others can read it (mode {:04o}); it must be 0600", mode & 0o7777)));
        }
        let text = std::fs::read_to_string(path).map_err(|why| wrong(&why))?;
        match text.lines().next().filter(|line| !line.is_empty()) {
            Some(line) if line.len() <= PASSWORD_MAX => Ok(Self::new(user, line.as_bytes())),
            _ => Err(wrong(&format!("its first line must be a password of 1 to {PASSWORD_MAX} bytes"))),
        }
    }
}

impl Acceptor {
    /// Whether an application may come in; the hints in what it has given for a user's name.
    ///
    /// # Errors
    /// What it must say; without a word on what was wrong.
    pub fn admit<'a>(&self, user: &'a str, password: &[u8]) -> Result<&'a str, String> {
        let Some(right) = &self.password else { return Ok(user) };
        let (name, hints) = match &self.user {
            Some(_) => user.split_once(',').unwrap_or((user, "")),
            None => ("", user),
        };
        // `Hash` compares in constant time.
        if Password::new(name, password).0 == right.0 {
            Ok(hints)
        } else {
            Err("wrong user or password".to_owned())
        }
    }
    /// Reads its password, if it has one.
    fn arm(&mut self, kind: &str, folder: &Path) -> Result<(), String> {
        let wrong = |why: String| format!("[[{kind}]] {}: {why}", self.listen);
        if self.user.as_ref().is_some_and(|user| user.is_empty() || user.contains([',', ':'])) {
            return Err(wrong("user: it must be a name without a comma or a colon".to_owned()));
        }
        if self.user.is_some() && self.password_file.is_none() {
            return Err(wrong("a user without a password; add password_file".to_owned()));
        }
        if let Some(file) = &self.password_file {
            let user = self.user.as_deref().unwrap_or_default();
            self.password = Some(Password::read(user, &folder.join(file)).map_err(wrong)?);
        }
        Ok(())
    }
    /// Whether it is not for everybody who reaches the machine, or means to be.
    fn check(&self, kind: &str) -> Result<(), String> {
        let is_safe = self.listen.ip().to_canonical().is_loopback();
        if kind == "redirected" && (self.user.is_some() || self.password_file.is_some()) {
            return Err(format!("[[{kind}]] {}: redirected connections cannot give a password", self.listen));
        }
        if kind == "redirected" || is_safe || self.open || self.password_file.is_some() {
            return Ok(());
        }
        Err(format!(
            "[[{kind}]] {}: every host that reaches this address could use it as a proxy; set password_file, or \
             open = true, or listen on 127.0.0.1",
            self.listen
        ))
    }
    /// How connections are carried that do not say.
    pub fn hints(&self) -> Hints {
        Hints { priority: self.priority, durable: self.durable, delay_most_ms: self.delay_most_ms }
    }
}

impl Forward {
    /// How connections are carried.
    pub fn hints(&self) -> Hints {
        Hints { priority: self.priority, durable: self.durable, delay_most_ms: self.delay_most_ms }
    }
}

/// Bounds of what it holds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Connections with each of the others.
    pub connections: usize,
    /// Bytes of a stream that may wait for an application here.
    #[serde(deserialize_with = "size")]
    pub window: Bytes,
    /// Bytes that durable connections may have stored.
    #[serde(deserialize_with = "size")]
    pub custody: Bytes,
    /// Callers that have not yet shown a key.
    pub handshakes: usize,
    /// Bytes of memory that all connections may have together; see [`super::budget::default_memory`].
    #[serde(deserialize_with = "size")]
    pub memory: Bytes,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 20_000,
            window: Bytes(64 << 20),
            custody: Bytes(4 << 30),
            handshakes: 256,
            memory: Bytes(budget::default_memory()),
        }
    }
}

/// What a daemon cannot change while it runs: of peers, what both settings have.
fn fixed(written: &toml::Table, other: &toml::Table) -> toml::Table {
    let peers =
        |table: &toml::Table| table.get("peer").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let others = peers(other);
    let mut fixed = written.clone();
    SECTIONS.iter().for_each(|section| drop(fixed.remove(*section)));
    let mut shared: Vec<toml::Table> = peers(written)
        .into_iter()
        .filter_map(|peer| peer.as_table().cloned())
        .filter(|peer| others.iter().any(|other| other.get("key") == peer.get("key")))
        .collect();
    shared.iter_mut().for_each(|peer| CHANGEABLE.iter().for_each(|key| drop(peer.remove(*key))));
    shared.sort_by_key(|peer| peer.get("key").map(ToString::to_string));
    fixed.insert("peer".to_owned(), shared.into());
    fixed
}

/// What a parser expected, in words of who writes settings.
fn plainly(said: &str) -> String {
    let Some((before, expected)) = said.split_once("expected ") else { return said.to_owned() };
    let wanted = match expected {
        "usize" | "u64" => "a whole number, 0 or more",
        "u16" => "a whole number from 0 to 65535",
        "u8" => "a whole number from 0 to 255",
        "a boolean" => "true or false",
        other => other,
    };
    format!("{before}expected {wanted}")
}

/// The control socket, in `state`.
const CONTROL: &str = "control.sock";

fn default_key() -> PathBuf {
    "key.pem".into()
}
fn default_state() -> PathBuf {
    "state".into()
}
fn default_datagram() -> u16 {
    1280
}
fn default_rate() -> BitRate {
    BitRate(1_000_000)
}
fn default_priority() -> u8 {
    1
}

fn key<'de, D: Deserializer<'de>>(from: D) -> Result<PublicKey, D::Error> {
    let text = String::deserialize(from)?;
    PublicKey::parse(&text).map_err(serde::de::Error::custom)
}
fn address<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(from)?;
    let wrong = |_| {
        let example = "an address and a port, as in 127.0.0.1:1080";
        serde::de::Error::custom(format!("{text:?}; it must be {example}"))
    };
    text.parse().map_err(wrong)
}
fn some_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    address(from).map(Some)
}
fn patterns<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Pattern>, D::Error> {
    /// As TOML may have it.
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "it must be true, false, or targets, as in [\"*.example.org\"]")]
    enum Given {
        All(bool),
        Some(Vec<Pattern>),
    }
    Ok(match Given::deserialize(from)? {
        Given::All(true) => vec![Pattern::try_from("*".to_owned()).map_err(serde::de::Error::custom)?],
        Given::All(false) => Vec::new(),
        Given::Some(patterns) => patterns,
    })
}
/// As TOML may have a quantity.
#[derive(Deserialize)]
#[serde(untagged, expecting = "it must be a quantity, as in \"64 MiB\" or \"1 Mbit/s\"")]
enum Quantity {
    /// A number of bytes, or of bytes a second.
    Plain(u64),
    Text(String),
}
fn size<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    match Quantity::deserialize(from)? {
        Quantity::Plain(bytes) => Ok(Bytes(bytes)),
        Quantity::Text(text) => parse::bytes(&text).map_err(serde::de::Error::custom),
    }
}
/// A rate; without "/s", as in earlier versions, bytes a second are meant.
fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<BitRate, D::Error> {
    let of_bytes = |bytes: Bytes| BitRate(bytes.0.saturating_mul(8));
    let text = match Quantity::deserialize(from)? {
        Quantity::Plain(bytes) => return Ok(of_bytes(Bytes(bytes))),
        Quantity::Text(text) => text,
    };
    let read = if text.ends_with('B') { parse::bytes(&text).map(of_bytes) } else { parse::bit_rate(&text) };
    read.map_err(serde::de::Error::custom)
}
fn priority<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    let given = u8::deserialize(from)?;
    if given < PRIORITIES {
        return Ok(given);
    }
    Err(serde::de::Error::custom(format!("priority {given}; it must be 0 to {}", PRIORITIES - 1)))
}

/// Of a peer, what a daemon takes while it runs.
const CHANGEABLE: [&str; 7] = ["reach", "serve", "deny", "stack", "tcp", "udpdtn", "contact"];
/// Sections that a daemon takes while it runs. Of peers, [`CHANGEABLE`].
const SECTIONS: [&str; 7] = ["services", "socks", "http", "redirected", "forward", "direct", "deny"];
/// Bytes of a password: what SOCKS can say (RFC 1929).
const PASSWORD_MAX: usize = 255;
/// Rates that a controller may begin with.
const FIRST_RATES: std::ops::RangeInclusive<BitRate> = BitRate(104)..=BitRate(1_000_000_000_000);
/// Least memory for connections: some dozens of them work with it.
const MEMORY_LEAST: Bytes = Bytes(8 << 20);
/// Least bytes of a datagram: less than any link of IPv6 must carry would do, but not less than this.
const DATAGRAM_LEAST: u16 = 576;

impl Config {
    /// Reads a file; paths in it are meant from where it is.
    ///
    /// # Errors
    /// Where it is wrong, and what would be right.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|why| Error::Input(format!("{}: {why}", path.display())))?;
        let text = String::from_utf8(bytes).map_err(|why| {
            let valid = &why.as_bytes()[..why.utf8_error().valid_up_to()];
            let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
            Error::Input(format!("{}:{line}: a byte that is not UTF-8; settings are text", path.display()))
        })?;
        let mut config = Self::parse(&path.display().to_string(), &text)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for path in [&mut config.key, &mut config.state].into_iter().chain(&mut config.control) {
            *path = folder.join(&path);
        }
        for (kind, doors) in [("socks", &mut config.socks), ("http", &mut config.http)] {
            for door in doors {
                door.arm(kind, folder).map_err(|why| Error::Input(format!("{}: {why}", path.display())))?;
            }
        }
        Ok(config)
    }
    /// Reads text that stands in `file`.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let wrong = |why: toml::de::Error| {
            let line = why.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            let said: Vec<&str> = why.message().lines().map(str::trim).collect();
            Error::Input(format!("{file}:{line}: {}", plainly(&said.join(", "))))
        };
        let mut config: Self = toml::from_str(text).map_err(wrong)?;
        config.written = toml::from_str(text).map_err(wrong)?;
        config.check().map_err(|why| Error::Input(format!("{file}: {why}")))?;
        Ok(config)
    }
    fn check(&self) -> Result<(), String> {
        for (at, peer) in self.peer.iter().enumerate() {
            let before = &self.peer[..at];
            let Peer { name, .. } = peer;
            if name.is_empty() {
                return Err("a peer has no name".to_owned());
            }
            if before.iter().any(|other| other.name == *name) {
                return Err(format!("two peers are called {name:?}"));
            }
            if before.iter().any(|other| other.key == peer.key) {
                return Err(format!("peer {name:?} has the key of another one"));
            }
            if peer.datagram < DATAGRAM_LEAST {
                return Err(format!(
                    "peer {name:?}: datagram {}; it must be {DATAGRAM_LEAST} or more",
                    peer.datagram
                ));
            }
            if let Some(other) = before.iter().find(|other| seal::name(&other.key) == seal::name(&peer.key)) {
                return Err(format!(
                    "peers {:?} and {name:?}: their keys look alike in datagrams; make another one",
                    other.name
                ));
            }
            if let Some(at) = peer.contact.iter().position(|contact| contact.from >= contact.to) {
                return Err(format!("peer {name:?}: contact {}: `to` must be later than `from`", at + 1));
            }
            if !FIRST_RATES.contains(&peer.first_rate) {
                return Err(format!(
                    "peer {name:?}: first_rate = {} bit/s; 104 bit/s to 1 Tbit/s are accepted",
                    peer.first_rate.0
                ));
            }
        }
        self.check_doors()?;
        for forward in &self.forward {
            let named = forward.peer.as_ref();
            if let Some(name) = named.filter(|name| self.peer.iter().all(|peer| peer.name != **name)) {
                let known: Vec<&str> = self.peer.iter().map(|peer| peer.name.as_str()).collect();
                return Err(format!("forward {}: unknown peer {name:?}; known: {known:?}", forward.listen));
            }
        }
        Ok(())
    }
    fn check_doors(&self) -> Result<(), String> {
        let doors = self.socks.iter().chain(&self.http).chain(&self.redirected).map(|door| door.listen);
        let doors = doors.chain(self.forward.iter().map(|forward| forward.listen));
        for (kind, doors) in [("socks", &self.socks), ("http", &self.http), ("redirected", &self.redirected)]
        {
            doors.iter().try_for_each(|door| door.check(kind))?;
        }
        let mut known = BTreeSet::new();
        let mut all = doors.chain(self.page).chain(self.listen.tcp).filter(|address| address.port() != 0);
        if let Some(twice) = all.find(|address| !known.insert(*address)) {
            return Err(format!("two listen on {twice}; each needs an address of its own"));
        }
        let Limits { connections, window, handshakes, memory, .. } = self.limits;
        if connections == 0 || handshakes == 0 || window == Bytes(0) {
            return Err("limits: connections, window and handshakes must be 1 or more".to_owned());
        }
        if memory < MEMORY_LEAST {
            return Err(format!("limits: memory = {} B; 8 MiB or more are accepted", memory.0));
        }
        Ok(())
    }
    /// What hosts of the network can use without a password: one line each.
    pub fn open_to_network(&self) -> Vec<String> {
        let is_wide = |listen: &SocketAddr| !listen.ip().to_canonical().is_loopback();
        let proxies = [("socks", &self.socks), ("http", &self.http)].into_iter();
        let proxies = proxies.flat_map(|(kind, doors)| doors.iter().map(move |door| (kind, door)));
        let open = proxies.filter(|(_, door)| is_wide(&door.listen) && door.password_file.is_none());
        let open = open.map(|(kind, door)| {
            format!("[[{kind}]] {}: every host that reaches it can use it as a proxy", door.listen)
        });
        let redirected = self.redirected.iter().filter(|door| is_wide(&door.listen)).map(|door| {
            format!(
                "[[redirected]] {}: every host whose packets are redirected here can use it as a proxy",
                door.listen
            )
        });
        let forwards = self.forward.iter().filter(|forward| is_wide(&forward.listen));
        let forwards = forwards.map(|forward| {
            format!("[[forward]] {}: every host that reaches it is led to {}", forward.listen, forward.to)
        });
        open.chain(redirected).chain(forwards).collect()
    }
    /// The sections that differ from those of other settings in more than a daemon can take while it runs.
    pub fn fixed_changes<'a>(&'a self, other: &'a Self) -> Vec<&'a str> {
        let (own, others) = (fixed(&self.written, &other.written), fixed(&other.written, &self.written));
        let sections: BTreeSet<&str> =
            self.written.keys().chain(other.written.keys()).map(String::as_str).collect();
        let sections = sections.into_iter();
        sections.filter(|name| own.get(*name) != others.get(*name)).collect()
    }
    /// Takes over what a daemon has taken of other settings while it runs.
    pub fn take_changes(&mut self, new: &Self) {
        let known = std::mem::replace(&mut self.peer, new.peer.clone());
        for peer in &mut self.peer {
            if let Some(old) = known.iter().find(|old| old.key == peer.key) {
                (peer.datagram, peer.first_rate) = (old.datagram, old.first_rate);
                peer.controller = old.controller.clone();
            }
        }
    }
    /// The control socket of a daemon with these settings, whatever is wrong with the rest of them.
    ///
    /// # Errors
    /// The file cannot be read, or is no TOML.
    pub fn control_of(path: &Path) -> Result<PathBuf, Error> {
        let wrong = |why: &dyn std::fmt::Display| Error::Input(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|why| wrong(&why))?;
        let settings: toml::Table = toml::from_str(&text).map_err(|why| wrong(&why.message()))?;
        let named = |key: &str| settings.get(key).and_then(toml::Value::as_str).map(PathBuf::from);
        let folder = path.parent().unwrap_or(Path::new(""));
        let control = named("control");
        Ok(folder.join(control.unwrap_or_else(|| named("state").unwrap_or_else(default_state).join(CONTROL))))
    }
    /// The control socket.
    pub fn control(&self) -> PathBuf {
        self.control.clone().unwrap_or_else(|| self.state.join(CONTROL))
    }
}
