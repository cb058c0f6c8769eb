//! Names that the far side knows, and the addresses that stand for them here.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, OnceLock, PoisonError};

/// 198.18.0.0/15: set apart for tests between networks (RFC 2544), so it has no hosts.
const FIRST: u32 = Ipv4Addr::new(198, 18, 0, 1).to_bits();
const COUNT: usize = (1 << 17) - 2;

static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The address that stands for a name; none where this machine knows the name itself, or there are too many.
pub fn stand_in(name: &str) -> Option<Ipv4Addr> {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if is_known_here(&name) {
        return None;
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let at = names.iter().position(|known| *known == name).or_else(|| {
        (names.len() < COUNT).then(|| {
            names.push(name);
            names.len() - 1
        })
    })?;
    Some(Ipv4Addr::from_bits(FIRST + at as u32))
}

/// The name for which an address stands.
pub fn named(address: IpAddr) -> Option<String> {
    let IpAddr::V4(address) = address else { return None };
    let at = address.to_bits().checked_sub(FIRST)?;
    NAMES.lock().unwrap_or_else(PoisonError::into_inner).get(at as usize).cloned()
}

/// Addresses, this machine, the link's own names and those of `/etc/hosts`.
fn is_known_here(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_address =
        name.contains([':', '%', '/']) || last.is_empty() || last.starts_with(|c: char| c.is_ascii_digit());
    is_address || matches!(last, "localhost" | "local") || hosts().iter().any(|known| known == name)
}

fn hosts() -> &'static [String] {
    static HOSTS: OnceLock<Vec<String>> = OnceLock::new();
    HOSTS.get_or_init(|| {
        let file = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
        let lines = file.lines().map(|line| line.split('#').next().unwrap_or_default());
        let mut known: Vec<String> = lines
            .flat_map(|line| line.split_ascii_whitespace().skip(1))
            .map(str::to_ascii_lowercase)
            .collect();
        known.push(rustix::system::uname().nodename().to_string_lossy().to_ascii_lowercase());
        known
    })
}
