//! Two ends of a DCCP connection and what is between them.

use lightlag_protocols::controllers::{Controller, Factory, Flow};
use lightlag_protocols::parameter::Value;
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::dccp::{
    Ccid, Config, Connection, Ecn, IP_HEADER, Listener, Packet, Passive, State,
};
use lightlag_protocols::transport::rto::Timers;
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::dccp::Kind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The service of every test.
pub const SERVICE: u32 = 42;

pub fn ms(n: i64) -> Duration {
    Duration::from_nanos(n * 1_000_000)
}

pub fn timers() -> Timers {
    Timers { first: ms(1000), margin: ms(200), least: ms(200), most: Duration::from_secs(64) }
}

pub fn config(controller: &str) -> Config {
    let ccid = Ccid::of(controller);
    Config { service: SERVICE, ..Config::new(Bytes(1500), IP_HEADER, ccid, timers()) }
}

pub fn controller(name: &str, values: &[(&str, Value)], config: &Config) -> Box<dyn Controller> {
    let given = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let factory = Factory::resolve(name, &given).expect("a controller of the table");
    factory.build(Flow::new(config.segment(), config.packet).seeded(1, 0))
}

/// With its parameters as they are.
pub fn ccid2() -> Factory {
    Factory::resolve("ccid2", &Default::default()).expect("it is in the table")
}

/// What happens to a packet in transit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    /// It comes.
    Comes,
    /// It is lost.
    Lost,
    /// It comes later than others.
    Late(Duration),
    /// It comes twice.
    Twice,
    /// A queue marks it, where it may; else it comes as it is.
    Marked,
}

/// Decides the fate of the n-th packet of one direction.
pub type Fates = Box<dyn FnMut(bool, u64, &Packet) -> Fate>;

/// The link and both ends.
pub struct Line {
    pub now: Instant,
    pub client: Connection,
    pub server: Passive,
    pub delay: Duration,
    /// From the client to the server, and its buffer in packets.
    pub rate: Option<(BitRate, usize)>,
    pub fates: Fates,
    /// Datagrams that the client still has to send, each of `size` bytes; each begins with its number.
    pub left: u64,
    pub size: usize,
    pub came: BTreeMap<u64, u32>,
    pub dropped: u64,
    /// Packets marked on the line, of the client and of the server.
    pub marked: [u64; 2],
    /// Options put in front of those of the next acknowledgement to the client.
    pub spoil: Option<Vec<u8>>,
    /// Every other datagram is corrupted in transit; `flipped` counts them.
    pub flips: bool,
    pub flipped: u64,
    /// Packets of each kind that left, from client and from server.
    pub sent: [BTreeMap<Kind, u64>; 2],
    /// Longest time without a data packet leaving the client, after the first.
    pub longest_pause: Duration,
    last_data: Option<Instant>,
    counted: [u64; 2],
    order: u64,
    on_the_way: BTreeMap<(Instant, u64), (bool, Packet)>,
    busy_until: Instant,
    number: u64,
}

impl Line {
    pub fn new(name: &'static str, values: &[(&str, Value)], delay: Duration) -> Self {
        Self::of(config(name), name, values, delay)
    }
    pub fn of(config: Config, name: &'static str, values: &[(&str, Value)], delay: Duration) -> Self {
        Self::between(config, Config { ccid: Ccid::Two, ..config.mirrored() }, name, values, delay)
    }
    /// Of two ends that behave differently.
    pub fn between(
        config: Config,
        server: Config,
        name: &'static str,
        values: &[(&str, Value)],
        delay: Duration,
    ) -> Self {
        let answer = ccid2();
        let listener = Listener::new(server, vec![SERVICE], [7; 32], answer);
        let client = Connection::connect(config, controller(name, values, &config));
        Self {
            now: Instant::ZERO,
            client,
            server: Passive::new(listener),
            delay,
            rate: None,
            fates: Box::new(|_, _, _| Fate::Comes),
            left: 0,
            size: config.segment().0 as usize,
            came: BTreeMap::new(),
            dropped: 0,
            marked: [0; 2],
            spoil: None,
            flips: false,
            flipped: 0,
            sent: [BTreeMap::new(), BTreeMap::new()],
            longest_pause: Duration::ZERO,
            last_data: None,
            counted: [0; 2],
            order: 0,
            on_the_way: BTreeMap::new(),
            busy_until: Instant::ZERO,
            number: 0,
        }
    }
    pub fn losing(mut self, fates: impl FnMut(bool, u64, &Packet) -> Fate + 'static) -> Self {
        self.fates = Box::new(fates);
        self
    }
    /// Loses, delays and doubles at random.
    pub fn random(self, seed: u64, [lost, late, twice]: [f64; 3]) -> Self {
        let mut draws = Stream::new(seed, "line", 0);
        self.losing(move |_, _, _| {
            let drawn = draws.unit();
            match drawn {
                d if d < lost => Fate::Lost,
                d if d < lost + late => Fate::Late(Duration::from_secs_f64(drawn)),
                d if d < lost + late + twice => Fate::Twice,
                _ => Fate::Comes,
            }
        })
    }
    fn put(&mut self, forward: bool, at: Instant, packet: Packet) {
        self.order += 1;
        self.on_the_way.insert((at, self.order), (forward, packet));
    }
    fn leave(&mut self, forward: bool, packet: Packet) {
        let index = usize::from(!forward);
        *self.sent[index].entry(packet.header.kind()).or_default() += 1;
        let count = self.counted[index];
        self.counted[index] += 1;
        if forward && packet.header.kind().is_data() {
            if let Some(last) = self.last_data {
                self.longest_pause = self.longest_pause.max(self.now - last);
            }
            self.last_data = Some(self.now);
        }
        // Everything on the wire goes through bytes.
        let mut bytes = Vec::new();
        packet.write(None, &mut bytes);
        let read = Packet::read(&bytes).expect("what is written can be read");
        let mut packet = Packet { ecn: packet.ecn, ..read };
        self.bend(forward, &mut packet);
        let size = IP_HEADER + packet.size();
        assert!(size <= Bytes(1500), "a packet of {size:?}: {:?}", packet.header);
        let mut at = self.now + self.delay;
        if let Some((rate, buffer)) = self.rate.filter(|_| forward) {
            let waiting = (self.busy_until - self.now).as_nanos().max(0) as u64;
            if waiting > rate.time_for(Bytes(1500)).as_nanos() as u64 * buffer as u64 {
                self.dropped += 1;
                return;
            }
            self.busy_until = self.busy_until.max(self.now) + rate.time_for(size);
            at = self.busy_until + self.delay;
        }
        match (self.fates)(forward, count, &packet) {
            Fate::Comes => self.put(forward, at, packet),
            Fate::Marked => {
                if packet.ecn == Ecn::Capable {
                    packet.ecn = Ecn::Marked;
                    self.marked[usize::from(!forward)] += 1;
                }
                self.put(forward, at, packet);
            }
            Fate::Lost => self.dropped += 1,
            Fate::Late(by) => self.put(forward, at + by, packet),
            Fate::Twice => {
                self.put(forward, at, packet.clone());
                self.put(forward, at, packet);
            }
        }
    }
    fn bend(&mut self, forward: bool, packet: &mut Packet) {
        if packet.header.kind() == Kind::Ack
            && !forward
            && let Some(mut options) = self.spoil.take()
        {
            options.extend_from_slice(&packet.options);
            packet.options = options;
        }
        if self.flips && forward && packet.data.len() > 8 && packet.data[7] % 2 == 1 {
            let mut data = packet.data.to_vec();
            data[100] ^= 1;
            packet.data = data.into();
            self.flipped += 1;
        }
    }
    fn feed(&mut self) {
        while self.left > 0 && self.client.room() > 0 {
            let mut data = vec![self.number as u8; self.size];
            data[..8].copy_from_slice(&self.number.to_be_bytes());
            self.client.send(Arc::from(data)).expect("there is room");
            self.number += 1;
            self.left -= 1;
        }
    }
    fn take(&mut self) {
        let Some(connection) = self.server.connection() else { return };
        while let Some(data) = connection.receive() {
            let number = u64::from_be_bytes(data[..8].try_into().expect("eight bytes"));
            assert!(
                data[8..].iter().all(|byte| *byte == number as u8),
                "a byte of datagram {number} is wrong"
            );
            *self.came.entry(number).or_default() += 1;
        }
    }
    fn drain(&mut self) {
        self.feed();
        while let Some(packet) = self.client.poll(self.now) {
            self.leave(true, packet);
            self.feed();
        }
        while let Some(packet) = self.server.poll(self.now) {
            self.leave(false, packet);
        }
        self.take();
    }
    /// Hands a packet to the server, or to the client, that the other end did not send.
    pub fn inject(&mut self, forward: bool, packet: Packet) {
        if forward {
            self.server.handle(self.now, packet)
        } else {
            self.client.handle(self.now, packet)
        }
        self.drain();
    }
    /// Plays until then, or until nothing will ever happen: false.
    pub fn play(&mut self, until: Instant) -> bool {
        self.drain();
        loop {
            let arrival = self.on_the_way.keys().next().map(|key| key.0);
            let next = [arrival, self.client.deadline(), self.server.deadline()].into_iter().flatten().min();
            let Some(next) = next else { return false };
            if next > until {
                self.now = until;
                return true;
            }
            assert!(next >= self.now || arrival != Some(next), "time advances");
            self.now = self.now.max(next);
            while let Some(entry) = self.on_the_way.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let (forward, packet) = entry.remove();
                if forward {
                    self.server.handle(self.now, packet)
                } else {
                    self.client.handle(self.now, packet)
                }
                self.drain();
            }
            self.drain();
        }
    }
    pub fn states(&self) -> (State, Option<State>) {
        (self.client.state(), self.server.as_connection().map(Connection::state))
    }
    /// Packets of a kind that left the client, or the server.
    pub fn count(&self, forward: bool, kind: Kind) -> u64 {
        self.sent[usize::from(!forward)].get(&kind).copied().unwrap_or(0)
    }
}
