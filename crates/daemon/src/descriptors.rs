//! File descriptors that stay free for the daemon's owner, its store and its peers, whatever else comes.
//!
//! The kernel gives the lowest number that is free, so the number of a new socket says how many are left.

use super::budget;
use super::proxy::mappings;
use rustix::process::{Resource, getrlimit};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream as StdStream};
use std::os::fd::{AsFd, AsRawFd};
use std::rc::Rc;
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, spawn_local};

/// Descriptors that stay free for the control socket, the store and calls of peers.
const RESERVE: u64 = 16;
/// Concurrent name resolutions: each takes a descriptor, so they have at most one in this number of all, and
/// stay free beside [`RESERVE`].
const RESOLVING_SHARE: u64 = 16;
/// A target that has not answered within this is not reached.
const CONNECT_WITHIN: Duration = Duration::from_secs(60);
/// Callers that have not yet said what they want.
const WAITING_MOST: usize = 1024;

#[derive(Default)]
struct Waiting {
    tasks: RefCell<BTreeMap<u64, AbortHandle>>,
    next: Cell<u64>,
}

thread_local! {
    /// Everything runs in one thread.
    static WAITING: Waiting = Waiting::default();
    static RESOLVING: Rc<Semaphore> = Rc::new(Semaphore::new(resolving_max() as usize));
}

/// A caller that has not yet said what it wants, until this is dropped. Where descriptors are short, the oldest goes.
pub struct Caller(u64);

impl Drop for Caller {
    fn drop(&mut self) {
        WAITING.with(|waiting| waiting.tasks.borrow_mut().remove(&self.0));
    }
}

/// Runs the task of a caller that has yet to say what it wants; of too many, the oldest goes.
pub fn spawn<F: Future<Output = ()> + 'static>(serve: impl FnOnce(Caller) -> F) -> AbortHandle {
    let id = WAITING.with(|waiting| waiting.next.replace(waiting.next.get() + 1));
    let task = spawn_local(serve(Caller(id))).abort_handle();
    let count = WAITING.with(|waiting| {
        let mut tasks = waiting.tasks.borrow_mut();
        tasks.insert(id, task.clone());
        tasks.len()
    });
    if count > WAITING_MOST
        && let Some((_, oldest)) = WAITING.with(|waiting| waiting.tasks.borrow_mut().pop_first())
    {
        oldest.abort();
    }
    task
}

/// Ends the oldest caller that has not yet said what it wants; without such a caller, the mapping that is idle longest.
/// False without either.
async fn drop_oldest() -> bool {
    let oldest = WAITING.with(|waiting| waiting.tasks.borrow_mut().pop_first());
    let is_one = oldest.inspect(|(_, task)| task.abort()).is_some() || mappings::end_oldest(None);
    // The task that ends closes its socket.
    for _ in 0..if is_one { 2 } else { 0 } {
        tokio::task::yield_now().await;
    }
    is_one
}

/// Whether enough descriptors are free beside this one.
pub fn fits(socket: &impl AsFd) -> bool {
    (socket.as_fd().as_raw_fd() as u64) < limit().saturating_sub(RESERVE + resolving_max())
}

fn limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

fn resolving_max() -> u64 {
    (limit() / RESOLVING_SHARE).clamp(1, budget::threads() as u64)
}

/// Addresses of a host, in turn with others, so that names take a bounded number of descriptors.
///
/// # Errors
/// It does not resolve.
pub async fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![(address, port).into()]);
    }
    let turns = RESOLVING.with(Rc::clone);
    let _turn = turns.acquire().await.expect("it is never closed");
    Ok(tokio::net::lookup_host((host, port)).await?.collect())
}

/// Makes a socket for a connection; where descriptors are short, in place of the oldest caller or mapping.
///
/// # Errors
/// As where the kernel has no more.
pub async fn with_room<S: AsFd>(make: impl Fn() -> io::Result<S>) -> io::Result<S> {
    let mut socket = make()?;
    if !fits(&socket) {
        drop(socket);
        drop_oldest().await;
        socket = make()?;
    }
    if fits(&socket) { Ok(socket) } else { Err(rustix::io::Errno::MFILE.into()) }
}

/// Connects, as far as there are descriptors; where they are short, in place of the oldest caller.
///
/// # Errors
/// It cannot be reached, or there are too few descriptors.
pub async fn connect(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut last = io::ErrorKind::AddrNotAvailable.into();
    for address in addresses {
        // It holds its descriptor for as long as the target does not answer, so there must be room before it is asked.
        let socket = with_room(|| unconnected(address)).await?;
        match tokio::time::timeout(CONNECT_WITHIN, socket.connect(*address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(why)) => last = why,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}

fn unconnected(to: &SocketAddr) -> io::Result<TcpSocket> {
    if to.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }
}

/// Takes a socket that was accepted; where descriptors are short, in place of the oldest caller. None: there is no room.
pub async fn make_room(socket: TcpStream) -> Option<TcpStream> {
    if fits(&socket) {
        return Some(socket);
    }
    if !drop_oldest().await {
        return None;
    }
    let lower = rustix::io::fcntl_dupfd_cloexec(&socket, 0).ok().filter(fits)?;
    drop(socket);
    TcpStream::from_std(StdStream::from(lower)).ok()
}
