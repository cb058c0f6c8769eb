//! Between two kernels' stacks: packets that come out of one TUN device go into the other as the two
//! directions of a link let them.

use super::device::{Buffer, Device};
use super::lateness::Lateness;
use super::memory::{Held, Memory};
use super::namespaces::Namespaces;
use super::urgency::Urgency;
use crate::Error;
use crate::clock::Clock;
use crate::socket::wait_any;
use lightlag_protocols::link::{Counts, Link, LinkSpec, Load};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use rustix::event::{PollFd, PollFlags};
use std::io;

/// What is between two namespaces.
pub struct Between<'a> {
    /// Where the devices are made.
    pub namespaces: &'a Namespaces,
    /// What happens to packets from near to far, and from far to near.
    pub links: [LinkSpec; 2],
    /// Bytes of the largest packet.
    pub mtu: u16,
    /// Memory for packets in transit.
    pub memory: Bytes,
    /// For random streams.
    pub seed: u64,
}

/// Reads of a device before others have their turn.
const READS_MAX: usize = 16;
/// Packets that are written at once.
const WRITES_MAX: usize = 64;
/// Time to wake before a deadline: waking takes about this long, and the rest is spent polling.
const AWAKE: Duration = Duration::from_nanos(20_000);
/// How often `goes_on` is called.
const ASKED_EVERY: Duration = Duration::from_nanos(5_000_000);
const SECOND: Duration = Duration::from_secs(1);

/// A packet on the link.
#[derive(Clone)]
struct Packet {
    buffer: Buffer,
    offered: Instant,
    _held: Held,
}

impl Load for Packet {
    fn size(&self) -> Bytes {
        Bytes(self.buffer.packet().len() as u64)
    }
}

/// A packet at one of the devices.
pub struct Passing<'a> {
    /// Since the emulator has started.
    pub at: Instant,
    /// 0: the near device; 1: the far one.
    pub side: usize,
    /// It comes from the side's kernel; otherwise it goes there.
    pub comes: bool,
    /// From its IP header on.
    pub bytes: &'a [u8],
}

/// A second of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Second {
    /// Which, counted from 0.
    pub number: u64,
    /// Packets that came to the link.
    pub offered: u64,
    /// Packets that its queue dropped, or that had no room in memory.
    pub dropped: u64,
    /// Packets lost on the wire.
    pub lost: u64,
    /// Packets that left it at the other side.
    pub arrived: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// How long these took from one side to the other, in seconds on average; none of none.
    pub delay_s: Option<f64>,
}

/// Who sees what happens.
pub trait Watcher {
    /// Asked a hundred times a second at least.
    ///
    /// # Errors
    /// Those that end the run.
    fn goes_on(&mut self) -> io::Result<bool>;
    /// A packet passes a device.
    fn passes(&mut self, _: &Passing<'_>) {}
    /// A second is over; from near to far, and from far to near.
    fn second(&mut self, _: [Second; 2]) {}
}

/// One direction.
struct Way {
    link: Link<Packet>,
    /// Packets that found no room in memory.
    refused: u64,
    arrived_bytes: u64,
    /// Since the last second began, in nanoseconds.
    delays_ns: i64,
    /// As the last second began.
    before: (Counts, u64, u64),
}

impl Way {
    fn new(spec: &LinkSpec, seed: u64, index: u64) -> Self {
        let link = Link::new(spec, seed, index);
        Self { link, refused: 0, arrived_bytes: 0, delays_ns: 0, before: (Counts::default(), 0, 0) }
    }
    fn second(&mut self, number: u64) -> Second {
        let (counts, refused, bytes) = self.before;
        let now = self.link.counts();
        self.before = (now, self.refused, self.arrived_bytes);
        let arrived = now.arrived - counts.arrived;
        let refused = self.refused - refused;
        let delays_s = Duration::from_nanos(std::mem::take(&mut self.delays_ns)).as_secs_f64();
        Second {
            number,
            offered: now.offered - counts.offered + refused,
            dropped: now.dropped - counts.dropped + refused,
            lost: now.lost - counts.lost,
            arrived,
            bytes: self.arrived_bytes - bytes,
            delay_s: (arrived > 0).then(|| delays_s / arrived as f64),
        }
    }
}

/// A link between two namespaces, in real time.
pub struct PacketEmulator {
    /// Near, far.
    devices: [Device; 2],
    /// From near, from far.
    ways: [Way; 2],
    memory: Memory,
    clock: Clock,
    now: Instant,
    seconds: u64,
    lateness: Lateness,
    leaving: Vec<Buffer>,
    due: Vec<Instant>,
}

impl PacketEmulator {
    /// Makes the devices.
    ///
    /// # Errors
    /// The system does not let us.
    pub fn new(between: &Between<'_>) -> Result<Self, Error> {
        let names = between.namespaces.names();
        let device = |side: usize| Device::make(names[side], side, between.mtu);
        let way = |index: usize| Way::new(&between.links[index], between.seed, index as u64);
        let lateness = Lateness::new().map_err(|why| Error::Failed(why.to_string()))?;
        Ok(Self {
            devices: [device(0)?, device(1)?],
            ways: [way(0), way(1)],
            memory: Memory::new(between.memory),
            clock: Clock::start(),
            now: Instant::ZERO,
            seconds: 0,
            lateness,
            leaving: Vec::with_capacity(WRITES_MAX),
            due: Vec::with_capacity(WRITES_MAX),
        })
    }
    /// What has gone from near to far, and from far to near.
    pub fn counts(&self) -> [Counts; 2] {
        [self.ways[0].link.counts(), self.ways[1].link.counts()]
    }
    /// Packets from near and from far that found no room in memory.
    pub fn refused(&self) -> [u64; 2] {
        [self.ways[0].refused, self.ways[1].refused]
    }
    /// Bytes that have arrived at far, and at near.
    pub fn arrived_bytes(&self) -> [u64; 2] {
        [self.ways[0].arrived_bytes, self.ways[1].arrived_bytes]
    }
    /// How late packets left.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }
    /// Carries packets until the watcher wants no more. The links begin at their zero now.
    ///
    /// # Errors
    /// A device is gone, or what the watcher says.
    pub fn run(&mut self, watcher: &mut dyn Watcher) -> io::Result<()> {
        self.clock = Clock::start();
        let mut urgency = Urgency::new();
        let mut asked = Instant::ZERO;
        while self.now < asked || watcher.goes_on()? {
            if self.now >= asked {
                asked = self.now + ASKED_EVERY;
                urgency.look(self.now);
            }
            let near = self.read(0, watcher)?;
            let far = self.read(1, watcher)?;
            let left = self.deliver(watcher)?;
            self.tell_seconds(watcher);
            if !(near || far || left) {
                self.rest(asked)?;
            }
        }
        self.tell_second(watcher);
        Ok(())
    }
    fn read(&mut self, side: usize, watcher: &mut dyn Watcher) -> io::Result<bool> {
        let Self { devices, ways, memory, clock, now, .. } = self;
        let way = &mut ways[side];
        for reads in 0..READS_MAX {
            *now = clock.now();
            let at = *now;
            let came = devices[side].read(|buffer| {
                watcher.passes(&Passing { at, side, comes: true, bytes: buffer.packet() });
                match memory.hold(buffer.packet().len()) {
                    Some(held) => way.link.offer(at, Packet { buffer, offered: at, _held: held }),
                    None => way.refused += 1,
                }
            })?;
            if !came {
                return Ok(reads > 0);
            }
        }
        Ok(true)
    }
    /// Whether something has left.
    fn deliver(&mut self, watcher: &mut dyn Watcher) -> io::Result<bool> {
        let mut any = false;
        for from in 0..2 {
            self.now = self.clock.now();
            let way = &mut self.ways[from];
            while self.leaving.len() < WRITES_MAX
                && let Some((due, packet)) = way.link.poll_due(self.now)
            {
                way.arrived_bytes += packet.size().0;
                way.delays_ns += (self.now - packet.offered).as_nanos();
                self.due.push(due);
                self.leaving.push(packet.buffer);
            }
            if self.leaving.is_empty() {
                continue;
            }
            any = true;
            let (at, side) = (self.now, 1 - from);
            for buffer in &self.leaving {
                watcher.passes(&Passing { at, side, comes: false, bytes: buffer.packet() });
            }
            self.devices[side].write(&mut self.leaving)?;
            self.leaving.clear();
            let left = self.clock.now();
            self.due.drain(..).for_each(|due| self.lateness.record(left - due));
        }
        Ok(any)
    }
    /// Sleeps until shortly before something is due, unless something comes.
    fn rest(&self, asked: Instant) -> io::Result<()> {
        let due = self.ways.iter().filter_map(|way| way.link.deadline()).min();
        let until = due.map_or(asked, |due| (due - AWAKE).min(asked));
        let span = until - self.clock.now();
        if span <= Duration::ZERO {
            return Ok(());
        }
        wait_any(&mut self.devices.each_ref().map(|device| PollFd::new(device, PollFlags::IN)), span)
    }
    fn tell_seconds(&mut self, watcher: &mut dyn Watcher) {
        while self.now - Instant::ZERO >= SECOND * (self.seconds as i64 + 1) {
            self.tell_second(watcher);
        }
    }
    fn tell_second(&mut self, watcher: &mut dyn Watcher) {
        let number = self.seconds;
        watcher.second(self.ways.each_mut().map(|way| way.second(number)));
        self.seconds += 1;
    }
}
