//! Many connections at once, and some that stand still.

use super::pair::{Daemon, Extra, PATIENCE, Pair, local, wait_for};
use super::streams::{Got, Target, exchange};
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;

impl Daemon {
    /// Kibibytes of memory that it has.
    pub fn resident_kib(&self) -> u64 {
        self.memory("VmRSS")
    }
    /// And that it had at most.
    pub fn peak_kib(&self) -> u64 {
        self.memory("VmHWM")
    }
    fn memory(&self, of: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with(of)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

/// Memory of both.
fn resident(pair: &Pair) -> [u64; 2] {
    [&pair.near, &pair.far].map(Daemon::resident_kib)
}

/// Neither has ever used more than `most_kib` in addition.
fn assert_grown(pair: &Pair, before: [u64; 2], most_kib: u64) {
    for (daemon, before) in [&pair.near, &pair.far].into_iter().zip(before) {
        let grown = daemon.peak_kib().saturating_sub(before);
        println!("{grown} KiB more");
        assert!(grown < most_kib, "{grown} KiB more");
    }
}

#[test]
fn applications_that_read_nothing_cost_a_window_and_hold_nobody_up() {
    const BLOCKED: u64 = 10;
    let pair = Pair::start(Extra::default());
    let listener = TcpListener::bind(local(0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // It sends for ever.
            thread::spawn(move || while std::io::Write::write_all(&mut stream, &[7; 1 << 16]).is_ok() {});
        }
    });
    let before = resident(&pair);
    let blocked: Vec<TcpStream> = (0..BLOCKED).map(|_| pair.connect(port, "").unwrap()).collect();
    let target = Target::start(true);
    for (number, stack) in [(1, "tcp"), (2, "udpdtn"), (3, "tcp")] {
        pair.switch(stack);
        let (sent, back) = exchange(pair.connect(target.port, "").unwrap(), number, 20_000_000);
        sent.unwrap();
        assert_eq!(back, Got { number: number ^ u64::MAX, length: 20_000_000, is_whole: true });
        assert!(target.next().is_whole);
    }
    wait_for("only those that stand still", || {
        pair.far.status()["peers"][0]["connections"].as_array().unwrap().len() as u64 == BLOCKED
    });
    // Some MiB each, and what 20 MB of one that reads took.
    assert_grown(&pair, before, 100 * 1024);
    drop(blocked);
}

/// What a connection sends in a phase.
fn words(number: u64, phase: u64, length: usize) -> Vec<u8> {
    let mut state = (number * 3 + phase + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..length).map(|_| next()).collect()
}

const PHASES: [&str; 3] = ["tcp", "udpdtn", "tcp"];

/// An application whose target says again what it hears.
async fn application(
    door: SocketAddr,
    target: u16,
    number: u64,
    length: usize,
    mut phase: watch::Receiver<u64>,
) {
    let mut stream = tokio::net::TcpStream::connect(door).await.unwrap();
    let [high, low] = target.to_be_bytes();
    stream.write_all(&[5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, high, low]).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer[3], 0, "connection {number}");
    let (mut from, mut to) = stream.split();
    let sends = async {
        for at in 0..PHASES.len() as u64 {
            phase.wait_for(|now| *now >= at).await.unwrap();
            to.write_all(&words(number, at, length)).await.unwrap();
        }
        to.shutdown().await.unwrap();
    };
    let reads = async {
        let mut all = Vec::new();
        from.read_to_end(&mut all).await.unwrap();
        let sent: Vec<u8> = (0..PHASES.len() as u64).flat_map(|at| words(number, at, length)).collect();
        assert!(all == sent, "connection {number}: {} bytes came back", all.len());
    };
    tokio::join!(sends, reads);
}

async fn echo(listener: tokio::net::TcpListener) {
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::task::spawn_local(async move {
            let (mut from, mut to) = stream.split();
            let _ = tokio::io::copy(&mut from, &mut to).await;
            let _ = to.shutdown().await;
        });
    }
}

/// `count` connections each send and receive in three phases; before each, another stack is chosen.
fn crowd(count: u64, length: usize, most_kib: u64) {
    let pair = Arc::new(Pair::start(Extra::default()));
    let before = resident(&pair);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let all = async {
        // What listens by default lets 128 wait, and the kernel may reset the others.
        let listener = tokio::net::TcpSocket::new_v4().unwrap();
        listener.bind(local(0)).unwrap();
        let listener = listener.listen(4096).unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::task::spawn_local(echo(listener));
        let (says, phase) = watch::channel(0);
        let mut applications = tokio::task::JoinSet::new();
        for number in 0..count {
            applications.spawn_local(application(pair.socks, port, number, length, phase.clone()));
        }
        for (at, stack) in PHASES.into_iter().enumerate() {
            // Data are in transit when the stack changes.
            says.send(at as u64).unwrap();
            tokio::time::sleep(Duration::from_millis(300)).await;
            let switches = pair.clone();
            tokio::task::spawn_blocking(move || switches.switch(stack)).await.unwrap();
        }
        while let Some(done) = applications.join_next().await {
            done.unwrap();
        }
    };
    tokio::task::LocalSet::new()
        .block_on(&runtime, async { tokio::time::timeout(PATIENCE, all).await })
        .unwrap();
    assert_grown(&pair, before, most_kib);
    assert!(pair.near.status()["peers"][0]["switches"].as_u64().unwrap() >= 2);
}

#[test]
fn a_thousand_connections_at_once_lose_repeat_and_reorder_nothing_through_switches() {
    crowd(1000, 20_000, 150 * 1024);
}

/// Bytes of address space of a daemon.
const ADDRESS_SPACE: u64 = 500_000_000;
/// Applications and targets that read nothing, each of which sends without end.
const STALLED: usize = 1000;

/// Restarts both by a program that limits their address space.
fn limit_address_space(pair: &mut Pair) {
    for daemon in [&mut pair.near, &mut pair.far] {
        daemon.kill();
        daemon.by = vec!["prlimit".to_owned(), format!("--as={ADDRESS_SPACE}")];
        daemon.start();
    }
    pair.wait_until_connected();
}

/// Sends without end to a reader that never reads: until the buffers are full, then it waits.
async fn stall(mut stream: tokio::net::TcpStream) -> std::io::Result<()> {
    // Where all sockets of the machine have too much memory together, the kernel resets those that are closed.
    let socket = socket2::SockRef::from(&stream);
    socket.set_send_buffer_size(32 << 10)?;
    socket.set_recv_buffer_size(32 << 10)?;
    loop {
        stream.write_all(&[7; 1 << 16]).await?;
    }
}

/// Accepts for ever; every connection is stalled from its other end, too.
async fn stalled_target(listener: tokio::net::TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::task::spawn_local(stall(stream));
    }
}

async fn open(door: SocketAddr, target: u16) -> std::io::Result<tokio::net::TcpStream> {
    let mut stream = tokio::net::TcpStream::connect(door).await?;
    let [high, low] = target.to_be_bytes();
    stream.write_all(&[5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, high, low]).await?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await?;
    if answer[3] == 0 { Ok(stream) } else { Err(std::io::Error::other("refused")) }
}

/// Connections that read nothing and send without end, in both directions, by this stack; gives the count of those that
/// were reset or refused.
fn stalled(pair: &Pair, count: usize, done: std::sync::mpsc::Receiver<()>) -> thread::JoinHandle<usize> {
    let door = pair.socks;
    let (ready, is_ready) = std::sync::mpsc::channel();
    let all = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let all = async {
            let listener = tokio::net::TcpSocket::new_v4().unwrap();
            listener.bind(local(0)).unwrap();
            let listener = listener.listen(4096).unwrap();
            let port = listener.local_addr().unwrap().port();
            tokio::task::spawn_local(stalled_target(listener));
            let mut tasks = Vec::new();
            for _ in 0..count {
                let stream = open(door, port).await;
                tasks.push(tokio::task::spawn_local(async move { stall(stream?).await }));
            }
            ready.send(()).unwrap();
            while done.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            tasks.iter().filter(|task| task.is_finished()).count()
        };
        tokio::task::LocalSet::new().block_on(&runtime, all)
    });
    is_ready.recv_timeout(4 * PATIENCE).unwrap();
    all
}

/// Kilobytes of address space that it has.
fn address_space(daemon: &Daemon) -> u64 {
    daemon.memory("VmPeak")
}

fn a_thousand_stalled_connections(stack: &str) {
    let mut pair = Pair::start(Extra::default());
    limit_address_space(&mut pair);
    pair.switch(stack);
    let target = Target::start(true);
    let innocent = pair.connect(target.port, "").unwrap();
    let (end, ends) = std::sync::mpsc::channel();
    let all = stalled(&pair, STALLED, ends);
    let (sent, back) = exchange(innocent, 1, 500_000);
    sent.unwrap();
    assert_eq!(back, Got { number: 1 ^ u64::MAX, length: 500_000, is_whole: true });
    for number in 2..5 {
        let wishes = ["", "durable", "priority=3"][number as usize - 2];
        let (sent, back) = exchange(pair.connect(target.port, wishes).unwrap(), number, 200_000);
        sent.unwrap();
        assert_eq!(back, Got { number: number ^ u64::MAX, length: 200_000, is_whole: true });
    }
    let memory = [&mut pair.near, &mut pair.far].map(|daemon| {
        assert!(!daemon.has_ended(), "it has aborted");
        (daemon.peak_kib() / 1024, address_space(daemon) / 1024)
    });
    let (resident, space) = memory.into_iter().max().expect("two daemons");
    println!(
        "torture: connections that read nothing, {stack}; {STALLED} stalled, 4 others whole, {resident} MiB resident and \
         {space} MiB of address space at most; 500 MB of address space;"
    );
    end.send(()).unwrap();
    assert_eq!(all.join().unwrap(), 0, "connections that read nothing were reset");
}

#[test]
fn a_thousand_stalled_connections_in_500_mb_of_address_space_hold_nobody_up_over_tcp() {
    a_thousand_stalled_connections("tcp");
}

#[test]
fn a_thousand_stalled_connections_in_500_mb_of_address_space_hold_nobody_up_over_udpdtn() {
    a_thousand_stalled_connections("udpdtn");
}
