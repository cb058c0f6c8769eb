//! What the kernel knows of a TCP connection (`tcp(7)`, `struct tcp_info` of Linux 4.18 and later).

use lightlag_protocols::time::Duration;
use nix::sys::socket::sockopt::TcpCongestion;
use nix::sys::socket::{getsockopt, setsockopt};
use nix::{getsockopt_impl, libc, setsockopt_impl, sockopt_impl};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use tokio::net::TcpStream;

sockopt_impl!(
    /// The first 200 bytes of `struct tcp_info`.
    RawTcpInfo,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    [u32; 50]
);
sockopt_impl!(
    /// Bytes that may wait in the kernel without having been sent.
    NotSentLowWater,
    SetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_NOTSENT_LOWAT,
    u32
);

/// FIN-WAIT-1, LAST-ACK and CLOSING (`include/net/tcp_states.h`).
const ENDING: [u8; 3] = [4, 9, 11];

/// What the daemon looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// This side has ended its stream, and the other kernel has not acknowledged all of it and the end.
    pub is_ending: bool,
    /// Doublings of the retransmission timer.
    pub backoff: u32,
    /// The last rate was limited by the application, not by the path.
    pub application_limited: bool,
    /// Segments that are not acknowledged.
    pub unacknowledged: u32,
    /// Since data left last.
    pub idle: Duration,
    /// Smoothed.
    pub round_trip: Duration,
    /// Segments that were sent again.
    pub retransmitted: u32,
    /// At which data arrives, bytes a second.
    pub delivery_rate: u64,
    /// Bytes that were acknowledged, without a gap.
    pub acknowledged: u64,
    /// Segments that arrived, behind gaps too.
    pub delivered: u32,
    /// Bytes of a segment.
    pub segment: u32,
}

impl TcpInfo {
    /// Asks the kernel; none if it does not say.
    pub fn of(socket: &impl AsFd) -> Option<Self> {
        Some(Self::read(&getsockopt(socket, RawTcpInfo).ok()?))
    }
    /// Reads the words of the structure.
    fn read(words: &[u32; 50]) -> Self {
        let [state, _, _, _, backoff, _, _, flags] = bytes(words[0], words[1]);
        let long = |at: usize| {
            let [low, high] = [words[at], words[at + 1]].map(u64::from);
            if cfg!(target_endian = "little") { low | high << 32 } else { high | low << 32 }
        };
        let millis = |at: usize| Duration::from_nanos(i64::from(words[at]) * 1_000_000);
        // A bit field: the first bit is the lowest or the highest one, as bytes are ordered.
        let first_bit = if cfg!(target_endian = "little") { 1 } else { 0x80 };
        Self {
            is_ending: ENDING.contains(&state),
            backoff: backoff.into(),
            application_limited: flags & first_bit != 0,
            unacknowledged: words[6],
            idle: millis(11),
            round_trip: Duration::from_nanos(i64::from(words[17]) * 1000),
            retransmitted: words[25],
            acknowledged: long(30),
            delivery_rate: long(40),
            delivered: words[48],
            segment: words[4],
        }
    }
}

fn bytes(first: u32, second: u32) -> [u8; 8] {
    let (first, second) = (first.to_ne_bytes(), second.to_ne_bytes());
    std::array::from_fn(|at| if at < 4 { first[at] } else { second[at - 4] })
}

/// Limits unsent bytes in the kernel, as they cannot be moved to another stack.
pub fn keep_unsent_low(socket: &impl AsFd, most: u32) {
    // Where the kernel does not know it, more is carried twice at a switch.
    let _ = setsockopt(socket, NotSentLowWater, &most);
}

/// A path within this machine needs no measurement, and pacing it as BBR does, where that is the system's
/// choice, doubles the cost of each byte.
pub fn leave_unpaced_within_machine(socket: &TcpStream) {
    let is_within = |to: SocketAddr| to.ip().to_canonical().is_loopback();
    if socket.peer_addr().is_ok_and(is_within) {
        // Every kernel has this one, and lets everybody choose it.
        let _ = setsockopt(socket, TcpCongestion, &"reno".into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn the_kernel_tells_of_what_was_acknowledged() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut here = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut there, _) = listener.accept().unwrap();
        here.write_all(&[7; 1000]).unwrap();
        there.read_exact(&mut [0; 1000]).unwrap();
        while TcpInfo::of(&here).unwrap().unacknowledged > 0 {
            std::thread::yield_now();
        }
        let info = TcpInfo::of(&here).unwrap();
        // The kernel counts the opening as one.
        assert!((1000..=1001).contains(&info.acknowledged), "{info:?}");
        assert!(info.round_trip > Duration::ZERO && info.backoff == 0, "{info:?}");
    }

    #[test]
    fn a_connection_within_the_machine_is_not_paced() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let here = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            leave_unpaced_within_machine(&here);
            let chosen = getsockopt(&here, TcpCongestion).unwrap();
            assert!(chosen.to_string_lossy().starts_with("reno"), "{chosen:?}");
        });
    }
}
