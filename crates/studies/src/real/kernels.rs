//! Transfers between two kernels, for `lightlag study adaptive --real`: a link between two network namespaces, and
//! either the kernels' TCP or two `lightlagd` over it.

use crate::adaptive::real::{CONGESTION_CONTROL, Seen, Transfer};
use lightlag_node::emulate::{Between, Namespaces, PacketEmulator, Programs, Second, Watcher};
use lightlag_node::interrupt::Interrupt;
use lightlag_protocols::units::Bytes;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant as Real};
use tempfile::TempDir;

/// Bytes of a packet, with its headers.
const MTU: u16 = 1076;
/// What packets in flight may take: two minutes of 90 packets a second take 12 MB.
const MEMORY: Bytes = Bytes(1 << 30);
/// Where the transfer goes.
const FAR: &str = "10.77.0.2:9000";
/// The same, behind the far daemon; and the door of the near one.
const BEHIND: &str = "127.0.0.1:9000";
const DOOR: &str = "127.0.0.1:9001";
/// A waiting thread looks this often whether it is over.
const LOOK: Duration = Duration::from_millis(200);
/// A machine that is later than this has changed what is measured.
const LATE_US: f64 = 5_000.0;
/// Longer than any round trip at the start. Without an end, a connection over a link that has stopped is tried for two minutes.
const ANSWER: Duration = Duration::from_secs(20);
/// Bytes that are written at once.
const BLOCK: usize = 1 << 14;

/// Makes transfers, all at the same time.
///
/// # Errors
/// One line: it is not allowed here, there is no daemon, or it was interrupted.
pub fn transfer(wanted: Vec<Transfer>) -> Result<Vec<Seen>, String> {
    Namespaces::allowed().map_err(|why| why.to_string())?;
    let daemon = daemon()?;
    Namespaces::remove_leftovers();
    let longest = wanted.iter().map(|one| one.span.as_secs_f64()).fold(0.0, f64::max);
    let asked = Interrupt::watch_until_end().map_err(|why| format!("signals: {why}"))?;
    eprintln!("{} transfers between two kernels, all at once, for {longest} s", wanted.len());
    let seen = thread::scope(|scope| {
        let make = |one| scope.spawn(|| make(one, &daemon, &asked));
        let under_way: Vec<_> = wanted.into_iter().map(make).collect();
        let end = |one: thread::ScopedJoinHandle<'_, Result<Seen, String>>| {
            one.join().unwrap_or_else(|_| Err("a transfer ended early".to_owned()))
        };
        under_way.into_iter().map(end).collect()
    });
    asked.release();
    seen
}

/// The daemon beside this program.
fn daemon() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|why| format!("this program: {why}"))?;
    let beside = own.with_file_name("lightlagd");
    if beside.exists() {
        return Ok(beside);
    }
    Err(format!("cannot find {}; build it: cargo build --release -p lightlag-daemon", beside.display()))
}

fn described(what: &str) -> impl Fn(io::Error) -> String {
    move |why| format!("{what}: {why}")
}

/// Makes one.
fn make(wanted: Transfer, daemon: &Path, asked: &Interrupt) -> Result<Seen, String> {
    let said = |why: lightlag_node::Error| why.to_string();
    let namespaces = Namespaces::make().map_err(said)?;
    for side in 0..2 {
        namespaces.inside(side, || set(&wanted)).map_err(described("a setting of the kernel"))?;
    }
    let (links, seed) = (wanted.links.clone(), wanted.seed);
    let between = Between { namespaces: &namespaces, links, mtu: MTU, memory: MEMORY, seed };
    let mut emulator = PacketEmulator::new(&between).map_err(said)?;
    namespaces.control_congestion(CONGESTION_CONTROL).map_err(said)?;
    let daemons = wanted.by_daemons.then(|| Daemons::start(&namespaces, daemon)).transpose()?;
    let [from, to] = if daemons.is_some() { [DOOR, BEHIND] } else { [FAR, FAR] };
    let listener = namespaces.inside(1, || TcpListener::bind(to)).map_err(described("the far side"))?;
    let shared = Shared::default();
    let began = Real::now();
    let delivered = thread::scope(|scope| {
        scope.spawn(|| receive(&listener, &shared));
        scope.spawn(|| send(&namespaces, from, &shared));
        let delivered = carry(&mut emulator, &wanted, (&shared, asked));
        shared.is_over.store(true, Ordering::Release);
        // A receiver that still waits for the transfer to begin is woken.
        let _ = namespaces.inside(1, || TcpStream::connect(to));
        delivered
    })?;
    let changes = daemons.map_or(Ok(Vec::new()), |daemons| daemons.changes(began))?;
    let late_us = emulator.lateness().quantile(0.99).as_nanos() as f64 / 1e3;
    if late_us > LATE_US {
        eprintln!(
            "{}: one packet in a hundred was {:.1} ms late or more; is the machine busy?",
            wanted.name,
            late_us / 1e3
        );
    }
    let wrong_at = shared.wrong_at.load(Ordering::Acquire).checked_sub(1);
    Ok(Seen { delivered, wrong_at, changes, counts: emulator.counts()[0], late_us })
}

/// Settings of the kernel on one side.
fn set(wanted: &Transfer) -> io::Result<()> {
    wanted
        .settings
        .iter()
        .try_for_each(|(name, value)| fs::write(Path::new("/proc/sys/net/ipv4").join(name), value))
}

// --- the link -------------------------------------------------------------------------------

/// What the ends of a transfer know of each other.
#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    /// Bytes that came, in order.
    delivered: AtomicU64,
    /// One more than where the first wrong byte was; 0: no byte was wrong.
    wrong_at: AtomicU64,
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}

/// Carries packets for the whole span; how much had been delivered after each second.
fn carry(
    emulator: &mut PacketEmulator,
    wanted: &Transfer,
    (shared, asked): (&Shared, &Interrupt),
) -> Result<Vec<u64>, String> {
    let seconds = wanted.span.as_secs_f64() as usize;
    let mut watch = Watch { seconds, shared, asked, delivered: Vec::new() };
    emulator.run(&mut watch).map_err(described("the link"))?;
    if asked.is_asked() {
        return Err("it was interrupted".to_owned());
    }
    Ok(watch.delivered)
}

struct Watch<'a> {
    seconds: usize,
    shared: &'a Shared,
    asked: &'a Interrupt,
    delivered: Vec<u64>,
}

impl Watcher for Watch<'_> {
    fn goes_on(&mut self) -> io::Result<bool> {
        Ok(self.delivered.len() < self.seconds && !self.asked.is_asked())
    }
    fn second(&mut self, _: [Second; 2]) {
        self.delivered.push(self.shared.delivered.load(Ordering::Acquire));
    }
}

// --- the ends -------------------------------------------------------------------------------

/// The stream from an offset on: each of its words of 8 bytes is its own number.
fn stream(offset: u64, length: usize) -> Vec<u8> {
    let words = offset / 8..=(offset + length as u64) / 8;
    let bytes = words.flat_map(u64::to_be_bytes).skip((offset % 8) as usize);
    bytes.take(length).collect()
}

/// Keeps a socket full.
fn send(namespaces: &Namespaces, to: &str, shared: &Shared) {
    let connect = || TcpStream::connect_timeout(&to.parse().map_err(io::Error::other)?, ANSWER);
    let mut socket = loop {
        match namespaces.inside(0, connect) {
            Ok(socket) => break socket,
            Err(_) if shared.is_over() => return,
            Err(_) => thread::sleep(LOOK / 10),
        }
    };
    let _ = socket.set_write_timeout(Some(LOOK));
    let mut sent = 0;
    while !shared.is_over() {
        match socket.write(&stream(sent, BLOCK)) {
            Ok(written) => sent += written as u64,
            Err(why) if is_wait(&why) => {}
            Err(why) => {
                eprintln!("a transfer was cut off after {sent} bytes: {why}");
                return;
            }
        }
    }
}

/// Reads it, and sees that every byte is the right one.
fn receive(listener: &TcpListener, shared: &Shared) {
    let Ok((mut socket, _)) = listener.accept() else { return };
    let _ = socket.set_read_timeout(Some(LOOK));
    let (mut got, mut buffer) = (0, vec![0; BLOCK]);
    while !shared.is_over() {
        match socket.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                let right = stream(got, length);
                if let Some(at) = right.iter().zip(&buffer).position(|(right, came)| right != came) {
                    shared.wrong_at.store(got + at as u64 + 1, Ordering::Release);
                    return;
                }
                got += length as u64;
                shared.delivered.store(got, Ordering::Release);
            }
            Err(why) if is_wait(&why) => {}
            Err(_) => return,
        }
    }
}

fn is_wait(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

// --- the daemons ----------------------------------------------------------------------------

/// Two of them, which end when this goes.
struct Daemons {
    program: PathBuf,
    near: PathBuf,
    _running: Programs,
    _folder: TempDir,
}

impl Daemons {
    fn start(namespaces: &Namespaces, program: &Path) -> Result<Self, String> {
        let folder = TempDir::with_prefix("lightlag-").map_err(described("a folder for the daemons"))?;
        let [near, far] = ["near", "far"].map(|name| folder.path().join(name));
        let keys = [key(program, &near)?, key(program, &far)?];
        let settings = [
            format!(
                "[listen]\nudpdtn = \"10.77.0.1:4560\"\n[[forward]]\nlisten = \"{DOOR}\"\nto = \"{BEHIND}\"\npeer = \"far\"\n\
                 [[peer]]\nname = \"far\"\nkey = \"{}\"\ntcp = \"10.77.0.2:4560\"\nudpdtn = \"10.77.0.2:4560\"\ndatagram = {MTU}\n",
                keys[1]
            ),
            format!(
                "[listen]\ntcp = \"10.77.0.2:4560\"\nudpdtn = \"10.77.0.2:4560\"\n\
                 [[peer]]\nname = \"near\"\nkey = \"{}\"\nserve = [\"127.0.0.1\"]\ndatagram = {MTU}\n",
                keys[0]
            ),
        ];
        for (place, text) in [&near, &far].into_iter().zip(settings) {
            fs::write(settings_in(place), text).map_err(described("settings of a daemon"))?;
        }
        let line = |place: &Path| {
            let (program, settings, log) = (program.display(), settings_in(place), place.join("log"));
            format!("exec '{program}' run --config '{}' 2> '{}'", settings.display(), log.display())
        };
        let command = ["sh", "-c", &line(&near)].map(OsString::from);
        let running =
            Programs::start(namespaces, &command, Some(&line(&far))).map_err(|why| why.to_string())?;
        Ok(Self { program: program.to_owned(), near, _running: running, _folder: folder })
    }
    /// Seconds since the transfer began, what carried it from then on, and why, as the near one reports it.
    fn changes(&self, began: Real) -> Result<Vec<(f64, &'static str, String)>, String> {
        let mut status = Command::new(&self.program);
        status.args(["status", "--json", "--config"]).arg(settings_in(&self.near));
        let done = status.output().map_err(described("the status of a daemon"))?;
        let log = || fs::read_to_string(self.near.join("log")).unwrap_or_default();
        let status: serde_json::Value = serde_json::from_slice(&done.stdout).map_err(|why| {
            format!("the near daemon does not report its status: {why}; its log: {}", log())
        })?;
        let now_s = began.elapsed().as_secs_f64();
        let history = status["peers"][0]["history"].as_array().cloned().unwrap_or_default();
        Ok(history.iter().map(|change| of_history(change, now_s)).collect())
    }
}

/// A switch as a daemon reports it: seconds ago, the stack, why.
fn of_history(change: &serde_json::Value, now_s: f64) -> (f64, &'static str, String) {
    let at = now_s - change[0].as_f64().unwrap_or_default();
    let stack = if change[1] == "tcp" { "TCP" } else { "datagrams" };
    (at.max(0.0), stack, change[2].as_str().unwrap_or_default().to_owned())
}

fn settings_in(place: &Path) -> PathBuf {
    place.join("lightlagd.toml")
}

/// A new key in a new folder; its public half.
fn key(program: &Path, place: &Path) -> Result<String, String> {
    fs::create_dir(place).map_err(described("a folder of a daemon"))?;
    let made = Command::new(program).arg("keygen").arg(place.join("key.pem")).output();
    let made = made.map_err(described("a key of a daemon"))?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).trim_end().to_owned());
    }
    Ok(String::from_utf8_lossy(&made.stdout).trim_end().to_owned())
}
