//! A TUN device in a network namespace, with the offloads of the kernel: it takes and gives up to 64 kB at
//! once, which are cut into packets here, and put together again.

use super::namespaces::{ADDRESSES, IPV6_MTU_MIN, inside, ip};
use crate::Error;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use tun_rs::{DeviceBuilder, ExpandBuffer, GROTable, SyncDevice, VIRTIO_NET_HDR_LEN};

/// What the device is called in both namespaces.
pub const DEVICE: &str = "lightlag";
/// Packets that the kernel keeps before they are read: queues are for the link to model.
const KERNEL_QUEUE: &str = "10000";
/// Packets that one read may be cut into: 64 kB of the smallest segments that TCP makes.
const PARTS_MAX: usize = 1_024;

/// A packet with room for the header that the kernel wants in front of it.
#[derive(Clone)]
pub(super) struct Buffer(Vec<u8>);

impl Buffer {
    fn new(packet: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(VIRTIO_NET_HDR_LEN + packet.len());
        bytes.resize(VIRTIO_NET_HDR_LEN, 0);
        bytes.extend_from_slice(packet);
        Self(bytes)
    }
    pub(super) fn packet(&self) -> &[u8] {
        &self.0[VIRTIO_NET_HDR_LEN..]
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl ExpandBuffer for Buffer {
    fn buf_capacity(&self) -> usize {
        // It grows when packets are put together, and is as large as the packet until then.
        VIRTIO_NET_HDR_LEN * 2 + usize::from(u16::MAX)
    }
    fn buf_resize(&mut self, new_len: usize, value: u8) {
        self.0.resize(new_len, value);
    }
    fn buf_extend_from_slice(&mut self, more: &[u8]) {
        self.0.extend_from_slice(more);
    }
}

/// A TUN device.
pub(super) struct Device {
    tun: SyncDevice,
    whole: Vec<u8>,
    parts: Vec<Vec<u8>>,
    sizes: Vec<usize>,
    together: GROTable,
}

impl Device {
    /// Makes one in a namespace, with the addresses of a side (0: near, 1: far).
    pub(super) fn make(namespace: &str, side: usize, mtu: u16) -> Result<Self, Error> {
        let open = || DeviceBuilder::new().name(DEVICE).offload(true).inherit_enable_state().build_sync();
        let tun = inside(namespace, open).and_then(|tun| tun.set_nonblocking(true).map(|()| tun));
        let tun = tun.map_err(|why| {
            Error::Failed(format!(
                "cannot make the TUN device `{DEVICE}` in the namespace {namespace}: {why}"
            ))
        })?;
        let device = ["-n", namespace, "link", "set", "dev", DEVICE];
        ip(&[&device[..], &["addrgenmode", "none"]].concat())?;
        ip(&[&device[..], &["mtu", &mtu.to_string(), "txqueuelen", KERNEL_QUEUE, "up"]].concat())?;
        let [v4, v6] = ADDRESSES[side];
        ip(&["-n", namespace, "addr", "add", v4, "dev", DEVICE])?;
        if mtu >= IPV6_MTU_MIN {
            ip(&["-n", namespace, "addr", "add", v6, "dev", DEVICE, "nodad"])?;
        }
        let part = vec![0; VIRTIO_NET_HDR_LEN + usize::from(mtu)];
        Ok(Self {
            tun,
            whole: vec![0; VIRTIO_NET_HDR_LEN + usize::from(u16::MAX)],
            parts: vec![part; PARTS_MAX],
            sizes: vec![0; PARTS_MAX],
            together: GROTable::new(),
        })
    }
    /// Hands over the packets of one read; whether there were any.
    pub(super) fn read(&mut self, mut take: impl FnMut(Buffer)) -> io::Result<bool> {
        match self.tun.recv_multiple(&mut self.whole, &mut self.parts, &mut self.sizes, 0) {
            Ok(count) => {
                let packets = self.parts.iter().zip(&self.sizes).take(count);
                packets.for_each(|(part, size)| take(Buffer::new(&part[..*size])));
                Ok(true)
            }
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(why) if is_gone(&why) => Err(why),
            // A packet that cannot be segmented could not be on a wire either.
            Err(_) => Ok(true),
        }
    }
    /// Gives packets to the kernel. What it does not take is its own to lose.
    pub(super) fn write(&mut self, packets: &mut [Buffer]) -> io::Result<()> {
        match self.tun.send_multiple(&mut self.together, packets, VIRTIO_NET_HDR_LEN) {
            Err(why) if is_gone(&why) => Err(why),
            _ => Ok(()),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

/// Somebody has removed the device.
fn is_gone(why: &io::Error) -> bool {
    why.raw_os_error() == Some(rustix::io::Errno::BADFD.raw_os_error())
}
