//! Two daemons, near and far, and a path between them that can be cut.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_lightlagd");
/// Whatever takes longer has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A free port outside the range that the system assigns.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let first = std::process::id().wrapping_mul(97);
    loop {
        let at = first.wrapping_add(NEXT.fetch_add(1, Ordering::SeqCst));
        let port = 10_000 + (at % 20_000) as u16;
        if TcpListener::bind(local(port)).is_ok() && UdpSocket::bind(local(port)).is_ok() {
            return port;
        }
    }
}

pub fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// Waits until something holds.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A daemon that can be killed and started again.
pub struct Daemon {
    pub folder: PathBuf,
    /// Its log file.
    pub log: PathBuf,
    /// The program that runs it, and that program's arguments; may be empty.
    pub by: Vec<String>,
    child: Option<Child>,
}

impl Daemon {
    pub fn start(&mut self) {
        self.start_unasked();
        wait_for("a daemon that answers", || self.ask(&["status"]).status.success());
    }
    /// The same, though it may end at once.
    pub fn start_unasked(&mut self) {
        let log = fs::File::options().create(true).append(true).open(&self.log).unwrap();
        let mut words = self.by.iter().map(String::as_str).chain([PROGRAM, "run", "--config"]);
        let child = Command::new(words.next().expect("a program"))
            .args(words)
            .arg(self.folder.join("lightlagd.toml"))
            .stderr(log)
            .spawn()
            .unwrap();
        self.child = Some(child);
    }
    /// As `kill -9`.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| child.try_wait().unwrap().is_some())
    }
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }
    /// Runs another `lightlagd` with its settings.
    pub fn ask(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(PROGRAM);
        command.arg(arguments[0]).arg("--config").arg(self.folder.join("lightlagd.toml"));
        command.args(&arguments[1..]).output().unwrap()
    }
    pub fn status(&self) -> serde_json::Value {
        let told = self.ask(&["status", "--json"]);
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        serde_json::from_slice(&told.stdout).unwrap()
    }
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
        if thread::panicking() {
            eprintln!("--- {}\n{}", self.folder.display(), self.log());
        }
    }
}

/// Both, and all addresses.
pub struct Pair {
    pub near: Daemon,
    pub far: Daemon,
    pub socks: SocketAddr,
    pub http: SocketAddr,
    pub way: Arc<Way>,
    pub ports: [u16; 3],
    _folder: TempDir,
}

/// What else the settings say.
#[derive(Clone, Copy, Default)]
pub struct Extra<'a> {
    pub near: &'a str,
    pub far: &'a str,
    pub far_peer: &'a str,
}

pub fn keygen(folder: &Path) -> String {
    let made = Command::new(PROGRAM).arg("keygen").arg(folder.join("key.pem")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

impl Pair {
    /// Both run, and nothing is in the way.
    pub fn start(extra: Extra) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [near, far] = ["near", "far"].map(|name| folder.path().join(name));
        for place in [&near, &far] {
            fs::create_dir(place).unwrap();
        }
        let [near_key, far_key] = [keygen(&near), keygen(&far)];
        let [tcp, udp, near_udp, socks, http] = std::array::from_fn(|_| free_port());
        let way = Way::start(tcp, udp);
        let (way_tcp, way_udp) = way.ports;
        let peer = format!(
            "[[peer]]\nname = \"far\"\nkey = \"{far_key}\"\nreach = [\"*\", \"web\"]\nfirst_rate = \"20 MB\"\n\
             tcp = \"127.0.0.1:{way_tcp}\"\nudpdtn = \"127.0.0.1:{way_udp}\"\n\
             [listen]\nudpdtn = \"127.0.0.1:{near_udp}\"\n\
             [[socks]]\nlisten = \"127.0.0.1:{socks}\"\n[[http]]\nlisten = \"127.0.0.1:{http}\"\n"
        );
        fs::write(near.join("lightlagd.toml"), peer + extra.near).unwrap();
        let serve =
            if extra.far_peer.is_empty() { "serve = [\"127.0.0.1\", \"web\"]\n" } else { extra.far_peer };
        let peer = format!(
            "{}\n[listen]\ntcp = \"127.0.0.1:{tcp}\"\nudpdtn = \"127.0.0.1:{udp}\"\n\
             [[peer]]\nname = \"near\"\nkey = \"{near_key}\"\nfirst_rate = \"20 MB\"\n{serve}",
            extra.far
        );
        fs::write(far.join("lightlagd.toml"), peer).unwrap();
        let [mut near, mut far] =
            [near, far].map(|folder| Daemon { log: folder.join("log"), folder, by: vec![], child: None });
        far.start();
        near.start();
        let [socks, http] = [socks, http].map(local);
        let pair = Self { near, far, socks, http, way, ports: [tcp, udp, near_udp], _folder: folder };
        pair.wait_until_connected();
        pair
    }
    pub fn wait_until_connected(&self) {
        wait_for("TCP between the daemons", || {
            [&self.near, &self.far].iter().all(|one| !one.status()["peers"][0]["tcp"].is_null())
        });
    }
    /// Chooses what carries connections, at both ends.
    pub fn switch(&self, stack: &str) {
        assert!(self.near.ask(&["switch", "far", stack]).status.success());
        assert!(self.far.ask(&["switch", "near", stack]).status.success());
    }
    /// An application's connection to a port of loopback.
    pub fn connect(&self, port: u16, wishes: &str) -> io::Result<TcpStream> {
        socks(self.socks, "127.0.0.1", port, wishes)
    }
}

/// Connects by SOCKS5, with hints as the user name.
pub fn socks(door: SocketAddr, host: &str, port: u16, wishes: &str) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(door)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let method = if wishes.is_empty() { 0 } else { 2 };
    stream.write_all(&[5, 1, method])?;
    let mut two = [0; 2];
    stream.read_exact(&mut two)?;
    assert_eq!(two, [5, method]);
    if method == 2 {
        let said = [&[1, wishes.len() as u8], wishes.as_bytes(), &[1, b'-']].concat();
        stream.write_all(&said)?;
        stream.read_exact(&mut two)?;
        if two != [1, 0] {
            return Err(io::Error::other("these hints are refused"));
        }
    }
    let mut asked = vec![5, 1, 0, 3, host.len() as u8];
    asked.extend(host.as_bytes());
    asked.extend(port.to_be_bytes());
    stream.write_all(&asked)?;
    let mut answer = [0; 10];
    stream.read_exact(&mut answer)?;
    match answer[1] {
        0 => Ok(stream),
        5 => Err(io::ErrorKind::ConnectionRefused.into()),
        2 => Err(io::ErrorKind::PermissionDenied.into()),
        other => Err(io::Error::other(format!("SOCKS says {other}"))),
    }
}

/// A first line, as text.
pub fn first_line(stream: &mut TcpStream) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

/// The path between the daemons: it carries TCP and UDP, or nothing.
pub struct Way {
    pub ports: (u16, u16),
    /// Datagrams from the near daemon and from the far one, in the order in which they came, whether they got through or
    /// not; `None`: they are not recorded.
    pub recorded: Mutex<Option<[Vec<Vec<u8>>; 2]>>,
    /// By which socket the far daemon sees datagrams of the near one.
    seen_from: Mutex<Arc<UdpSocket>>,
    is_cut: AtomicBool,
    epoch: std::sync::atomic::AtomicU64,
}

impl Way {
    fn start(tcp: u16, udp: u16) -> Arc<Self> {
        let listener = TcpListener::bind(local(0)).unwrap();
        let [here, there] = [0, 1].map(|_| UdpSocket::bind(local(0)).unwrap());
        let ports = (listener.local_addr().unwrap().port(), here.local_addr().unwrap().port());
        let way = Arc::new(Self {
            ports,
            recorded: Mutex::default(),
            seen_from: Mutex::new(Arc::new(there)),
            is_cut: AtomicBool::new(false),
            epoch: Default::default(),
        });
        let carries = way.clone();
        thread::spawn(move || carries.carry_tcp(&listener, tcp));
        way.clone().carry_udp(here, udp);
        way
    }
    /// From now on nothing gets through; `hard`: TCP connections are closed.
    pub fn cut(&self, hard: bool) {
        self.is_cut.store(true, Ordering::SeqCst);
        if hard {
            self.epoch.fetch_add(1, Ordering::SeqCst);
        }
    }
    /// From now on datagrams are recorded.
    pub fn record(&self) {
        *self.recorded.lock().unwrap() = Some(Default::default());
    }
    /// What was recorded.
    pub fn recorded(&self) -> [Vec<Vec<u8>>; 2] {
        self.recorded.lock().unwrap().clone().unwrap_or_default()
    }
    fn note(&self, side: usize, datagram: &[u8]) {
        if let Some(recorded) = self.recorded.lock().unwrap().as_mut() {
            recorded[side].push(datagram.to_vec());
        }
    }
    /// From now on the far daemon sees datagrams of the near one come from another address.
    pub fn roam(&self) {
        *self.seen_from.lock().unwrap() = Arc::new(UdpSocket::bind(local(0)).unwrap());
    }
    pub fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
    fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::SeqCst)
    }
    fn carry_tcp(self: Arc<Self>, listener: &TcpListener, to: u16) {
        for near in listener.incoming().flatten() {
            if self.is_cut() {
                continue;
            }
            let Ok(far) = TcpStream::connect(local(to)) else { continue };
            for (from, to) in [(&near, &far), (&far, &near)] {
                let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                let way = self.clone();
                thread::spawn(move || way.copy(from, to));
            }
        }
    }
    fn copy(&self, mut from: TcpStream, mut to: TcpStream) {
        let epoch = self.epoch.load(Ordering::SeqCst);
        let _ = from.set_read_timeout(Some(Duration::from_millis(50)));
        let mut buffer = vec![0; 1 << 16];
        while self.epoch.load(Ordering::SeqCst) == epoch {
            if self.is_cut() {
                thread::sleep(Duration::from_millis(20));
                continue;
            }
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => {
                    if to.write_all(&buffer[..length]).is_err() {
                        break;
                    }
                }
                Err(why) if matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
                Err(_) => break,
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
    fn carry_udp(self: Arc<Self>, here: UdpSocket, to: u16) {
        let near = Arc::new(Mutex::new(None));
        let back_here = here.try_clone().unwrap();
        let (way, learns) = (self.clone(), near.clone());
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok((length, from)) = here.recv_from(&mut buffer) {
                *learns.lock().unwrap() = Some(from);
                way.note(0, &buffer[..length]);
                if !way.is_cut() {
                    let there = way.seen_from.lock().unwrap().clone();
                    let _ = there.send_to(&buffer[..length], local(to));
                }
            }
        });
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            loop {
                let there = self.seen_from.lock().unwrap().clone();
                there.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
                let Ok(length) = there.recv(&mut buffer) else { continue };
                self.note(1, &buffer[..length]);
                let near = *near.lock().unwrap();
                if let Some(near) = near.filter(|_| !self.is_cut()) {
                    let _ = back_here.send_to(&buffer[..length], near);
                }
            }
        });
    }
}
