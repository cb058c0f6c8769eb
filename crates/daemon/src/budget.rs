//! How much memory connections may have together, where the settings do not say.

use std::fs;
use std::path::{Path, PathBuf};

/// Connections may use one part in this number of the memory available to the daemon.
const SHARE: u64 = 4;
/// Bytes of address space that a thread takes: its stack, and its arena of glibc's allocator.
const THREAD: u64 = 68 << 20;
/// Threads that resolve names, where address space is not limited.
const THREADS_MOST: u64 = 64;

/// Bytes for connections: a quarter of the memory of this machine, or of the control group (`memory.max`, or systemd's
/// `MemoryMax`) or of the address space (`RLIMIT_AS`) where these are less.
pub fn default_memory() -> u64 {
    let limits = [of_machine(), of_group(), address_space()];
    limits.into_iter().flatten().min().unwrap_or(1 << 30) / SHARE
}

/// Threads that may resolve names for applications and peers at a time: where address space is limited, they share one quarter of it.
pub fn threads() -> usize {
    let most = address_space().map_or(THREADS_MOST, |limit| limit / SHARE / THREAD);
    most.clamp(1, THREADS_MOST) as usize
}

fn of_machine() -> Option<u64> {
    let told = fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Of control groups of both versions, the least limit of this one and those above.
fn of_group() -> Option<u64> {
    let told = fs::read_to_string("/proc/self/cgroup").ok()?;
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = PathBuf::from(format!("{root}{path}"));
        let above = group.ancestors().take_while(|place| place.starts_with(root));
        above.filter_map(|place| read_limit(&place.join(file))).min()
    };
    told.lines().filter_map(of_line).min()
}

/// None where it is `max`.
fn read_limit(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_have_a_quarter_of_what_there_is() {
        let most = of_machine().unwrap() / SHARE;
        assert!((1..=most).contains(&default_memory()), "{} of {most}", default_memory());
        assert!((1..=64).contains(&threads()));
    }
}
