//! Network namespaces, by the command `ip`: what it makes, `ip netns exec` enters.

use super::device::DEVICE;
use crate::Error;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Addresses of the near side and of the far side, with the lengths of their prefixes: IPv4, IPv6.
pub const ADDRESSES: [[&str; 2]; 2] = [["10.77.0.1/24", "fd77::1/64"], ["10.77.0.2/24", "fd77::2/64"]];
/// Where both are.
const SUBNET: &str = "10.77.0.0/24";
/// What the names of namespaces begin with that are ours; then comes the id of our process.
const PREFIX: &str = "lightlag-";
/// The least that IPv6 takes (RFC 8200, section 5).
pub(super) const IPV6_MTU_MIN: u16 = 1_280;

/// Two network namespaces: near and far. Those that were made go with this, and what runs there is asked to end.
pub struct Namespaces {
    names: [String; 2],
    made: usize,
}

impl Namespaces {
    /// Whether this process may have any.
    ///
    /// # Errors
    /// One line that names the missing right or device.
    pub fn allowed() -> Result<(), Error> {
        if !geteuid().is_root() {
            let right = "run it with sudo, or carry UDP datagrams with --listen and --to";
            return Err(Error::Input(format!("network namespaces need root; {right}")));
        }
        if !Path::new("/dev/net/tun").exists() {
            return Err(Error::Input(
                "/dev/net/tun does not exist; load the module: modprobe tun".to_owned(),
            ));
        }
        Ok(())
    }
    /// Two new ones, named after this process and, but for its first, numbered.
    ///
    /// # Errors
    /// They can't be made: what `ip` says.
    pub fn make() -> Result<Self, Error> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = match MADE.fetch_add(1, Ordering::Relaxed) {
            0 => String::new(),
            number => format!(".{number}"),
        };
        let name = |side| format!("{PREFIX}{}{number}-{side}", std::process::id());
        let mut made = Self { names: ["near", "far"].map(name), made: 0 };
        for index in 0..2 {
            ip(&["netns", "add", &made.names[index]])?;
            made.made = index + 1;
            ip(&["-n", &made.names[index], "link", "set", "lo", "up"])?;
        }
        Ok(made)
    }
    /// Two that are there.
    ///
    /// # Errors
    /// One isn't.
    pub fn existing(names: [&str; 2]) -> Result<Self, Error> {
        for name in names {
            if !path(name).exists() || name.contains('/') {
                let right = "see `ip netns list`, or make it with `ip netns add`";
                return Err(Error::Input(format!("unknown network namespace `{name}`; {right}")));
            }
        }
        if names[0] == names[1] {
            return Err(Error::Input(format!("`{}` is both sides; name two namespaces", names[0])));
        }
        Ok(Self { names: names.map(str::to_owned), made: 0 })
    }
    /// Their names, near and far.
    pub fn names(&self) -> [&str; 2] {
        [&self.names[0], &self.names[1]]
    }
    /// Chooses the congestion control of TCP between them, whatever is the kernel's default. Their devices must be there.
    ///
    /// # Errors
    /// The kernel does not have it: what `ip` says.
    pub fn control_congestion(&self, name: &str) -> Result<(), Error> {
        for (namespace, [address, _]) in self.names.iter().zip(ADDRESSES) {
            let own = address.split('/').next().unwrap_or(address);
            let route = ["-n", namespace, "route", "replace", SUBNET, "dev", DEVICE, "proto", "kernel"];
            ip(&[&route[..], &["scope", "link", "src", own, "congctl", name]].concat())?;
        }
        Ok(())
    }
    /// Does something on the near side (0) or on the far side (1), on a thread of its own: sockets that it opens stay there.
    ///
    /// # Errors
    /// What it says, or the namespace is gone.
    pub fn inside<T: Send>(&self, side: usize, what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        inside(&self.names[side], what)
    }
    /// Removes namespaces of runs that were killed; returns their names.
    pub fn remove_leftovers() -> Vec<String> {
        let Ok(folder) = std::fs::read_dir(path("")) else { return Vec::new() };
        let names = folder.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| is_leftover(name) && remove(name).is_ok()).collect()
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in self.names.iter().take(self.made) {
            if let Err(why) = remove(name) {
                eprintln!("lightlag: {why}");
            }
        }
    }
}

fn remove(name: &str) -> Result<(), Error> {
    end_all(name);
    ip(&["netns", "del", name])
}

/// Asks what still runs in a namespace to end: nothing reaches it any more.
fn end_all(name: &str) {
    let Ok(done) = Command::new("ip").args(["netns", "pids", name]).stdin(Stdio::null()).output() else {
        return;
    };
    let told = String::from_utf8_lossy(&done.stdout);
    for process in told.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)) {
        let _ = kill_process(process, Signal::TERM);
    }
}

fn path(name: &str) -> PathBuf {
    Path::new("/run/netns").join(name)
}

/// Ours, of a process that is no more.
fn is_leftover(name: &str) -> bool {
    let id =
        name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix("-near").or(rest.strip_suffix("-far")));
    let id = id.and_then(|id| id.split('.').next()?.parse::<u32>().ok());
    id.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists())
}

/// Does something inside a namespace, on a thread of its own: only that thread goes there.
pub(super) fn inside<T: Send>(name: &str, what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let namespace = File::open(path(name))?;
    std::thread::scope(|scope| {
        let entering = scope.spawn(|| {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
            what()
        });
        entering.join().unwrap_or_else(|_| Err(io::Error::other("the thread in the namespace died")))
    })
}

/// Runs `ip`.
pub(super) fn ip(words: &[&str]) -> Result<(), Error> {
    let done = Command::new("ip").args(words).stdin(Stdio::null()).output();
    let done = done.map_err(|why| Error::Input(format!("cannot run `ip`: {why}; install iproute2")))?;
    if done.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&done.stderr);
    let reason = reason.lines().next().unwrap_or("it failed");
    Err(Error::Failed(format!("`ip {}`: {reason}", words.join(" "))))
}
