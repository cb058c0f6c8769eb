//! DCCP in UDP (RFC 6773), and what is carried over it: LTP (RFC 7122) or the pieces of a file.

use super::driver::{Accept, Acceptor, Endpoint, ListenerDriver, SenderDriver, Status, no_raw};
use super::message::Message;
use super::{
    Carrier, Error, Event, ListenOptions, Listening, Progress, SERVICE_FILES, SendOptions, Sending, Sent,
    ltp, pieces,
};
use crate::socket::Socket;
use crate::transfer::sender::{no_random, random};
use lightlag_protocols::controllers::{Factory, Flow};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::dccp::{
    Answer, Ccid, Config, Connection, Ecn, IP_HEADER, Listener, Packet, SERVICE_BUNDLES, SERVICE_LTP, State,
    UDP_HEADER,
};
use lightlag_protocols::transport::rto::Timers;
use lightlag_protocols::units::Bytes;
use std::net::{IpAddr, SocketAddr};

/// The UDP port of DCCP (RFC 6773, section 3.8).
pub const PORT: u16 = 6511;
/// Datagrams that wait for the congestion control: few, so that the data sent are fresh.
const QUEUE: usize = 64;
/// Where the ports of clients begin.
const PORTS_FREE: u16 = 49_152;
const IPV6_HEADER: Bytes = Bytes(40);

/// A service of DCCP.
pub struct Service {
    /// Its code (RFC 4340, section 8.1.2).
    code: u32,
    /// The DCCP port of its listeners.
    port: u16,
    /// The fate of each datagram is reported.
    tells_fates: bool,
}

/// Files in blocks of LTP.
const FILES_LTP: Service =
    Service { code: SERVICE_LTP, port: lightlag_protocols::wire::ltp::PORT, tells_fates: false };
/// Files in pieces.
const FILES: Service = Service { code: SERVICE_FILES, port: crate::transfer::PORT, tells_fates: true };
/// Bundles in blocks of LTP.
pub const BUNDLES_LTP: Service = FILES_LTP;
/// Bundles in datagrams.
pub const BUNDLES: Service =
    Service { code: SERVICE_BUNDLES, port: crate::convergence::PORT, tells_fates: true };

/// What carries files over DCCP.
pub enum OverDccp {
    /// LTP.
    Blocks,
    /// The pieces of a file.
    Pieces,
}

impl OverDccp {
    fn service(&self) -> &'static Service {
        match self {
            Self::Blocks => &FILES_LTP,
            Self::Pieces => &FILES,
        }
    }
    /// What sends a message over it.
    fn leaving(
        &self,
        message: Message,
        segment: u64,
        light: Option<Duration>,
    ) -> Result<Box<dyn Endpoint>, Error> {
        Ok(match self {
            // DCCP paces; LTP takes what it is given.
            Self::Blocks => Box::new(ltp::sending(message, segment, light, ltp::unpaced(segment)?, true)?),
            Self::Pieces => Box::new(pieces::Leaving::new(message, segment)?),
        })
    }
}

/// What a connection runs over.
pub struct OnLine {
    /// Bytes of a packet, headers of IP and UDP included.
    pub packet: Bytes,
    /// IP packets of its own, not UDP.
    pub raw: bool,
    /// An address at the other end, or of ours: that of IPv6 have longer headers.
    pub at: SocketAddr,
    /// Kind of its congestion control.
    pub ccid: Ccid,
    /// Round trip of light.
    pub light: Option<Duration>,
}

impl OnLine {
    /// Of a sender.
    pub fn of(options: &SendOptions) -> Self {
        let ccid = Ccid::of(options.controller_name("ccid2"));
        Self { packet: options.packet, raw: options.raw, at: options.to, ccid, light: options.light }
    }
    /// Of a listener.
    pub fn listening(options: &ListenOptions) -> Self {
        Self { packet: options.packet, raw: options.raw, at: options.at, ccid: Ccid::Two, light: None }
    }
}

/// A connection for a service.
///
/// # Errors
/// The system gives no random numbers.
pub fn config(service: &Service, line: &OnLine) -> Result<Config, Error> {
    let ms = |n: i64| Duration::from_nanos(n * 1_000_000);
    let first = line.light.unwrap_or_default().saturating_add(ms(1000));
    let timers = Timers { first, margin: ms(200), least: ms(200), most: first.max(Duration::from_secs(60)) };
    let initial = u64::from(random()?) << 16 | u64::from(random()? & 0xffff);
    let below = match line.at {
        _ if !line.raw => UDP_HEADER,
        SocketAddr::V4(_) => IP_HEADER,
        SocketAddr::V6(_) => IPV6_HEADER,
    };
    Ok(Config {
        service: service.code,
        ack_delay: ms(20),
        queue: QUEUE,
        tells_fates: service.tells_fates,
        // The ECN field of a raw socket is not ours.
        ecn: !line.raw,
        initial,
        ..Config::new(line.packet, below, line.ccid, timers)
    })
}

/// A connection to a service over which `inner` sends, and what runs it; with `raw` the address has the port of DCCP.
///
/// # Errors
/// One line.
pub fn connect(
    service: &Service,
    mut config: Config,
    options: &mut SendOptions,
    inner: Box<dyn Endpoint>,
) -> Result<(SenderDriver, Line), Error> {
    let (source, to) = (PORTS_FREE | random()? as u16, options.to);
    config.ports = [source, if options.raw { to.port() } else { service.port }];
    let socket = if options.raw {
        let opened = Socket::raw_towards(to, source);
        opened
            .and_then(|mut socket| socket.set_tap(options.tap.take()).map(|()| socket))
            .map_err(|why| no_raw(&why))?
            .with_one_peer()
    } else {
        reading_marks(options.take_socket()?)?
    };
    let flow = Flow { packet: config.packet, ..options.flow(config.segment())? };
    let controller = options.take_controller("ccid2", flow)?;
    let line = Line::new(Box::new(Connection::connect(config, controller)), inner, false);
    Ok((SenderDriver::new(socket, options), line))
}

/// A socket that reads the ECN field of each datagram.
///
/// # Errors
/// One line: what the system says.
pub fn reading_marks(socket: Socket) -> Result<Socket, Error> {
    socket.with_ecn().map_err(|why| Error::Failed(format!("the socket: {why}")))
}

impl Carrier for OverDccp {
    fn send(&self, sending: Sending, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Sent, Error> {
        let Sending { payload, mut options, .. } = sending;
        let message = Message::load(&payload, watch)?;
        let sent = Sent::of(&message);
        let check = message.content().checker()?;
        let config = config(self.service(), &OnLine::of(&options))?;
        let inner = self.leaving(message, config.segment().0, options.light)?;
        let (mut driver, mut line) = connect(self.service(), config, &mut options, inner)?;
        let (status, seconds) = driver.run(&mut line, &check, watch)?;
        Ok(sent.with(&status, seconds))
    }
    fn listen(&self, listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
        let Listening { mut options, inbox, once } = listening;
        let config = config(self.service(), &OnLine::listening(&options))?;
        let receiver = ltp::FileReceiver { inbox, segment: config.segment().0, is_kept_alive: true };
        let coming = |from: SocketAddr| -> Box<dyn Endpoint> {
            match self {
                Self::Blocks => Box::new(ltp::Awaited::new(receiver.clone(), from)),
                Self::Pieces => Box::new(pieces::Coming::new(receiver.inbox.as_ref(), from)),
            }
        };
        let acceptor = DccpAcceptor::new(self.service(), config, &options, Box::new(coming))?;
        ListenerDriver::new(reading_marks(options.take_socket()?)?, acceptor, once.then_some(1)).run(watch)
    }
}

/// Makes what is carried over a connection with somebody.
type MakeEndpoint<'a> = Box<dyn Fn(SocketAddr) -> Box<dyn Endpoint> + 'a>;

/// Opens connections.
pub struct DccpAcceptor<'a> {
    listener: Listener,
    coming: MakeEndpoint<'a>,
}

impl<'a> DccpAcceptor<'a> {
    /// For a service; with `raw` the address has the port of DCCP.
    ///
    /// # Errors
    /// One line.
    pub fn new(
        service: &Service,
        config: Config,
        options: &ListenOptions,
        coming: MakeEndpoint<'a>,
    ) -> Result<Self, Error> {
        let server = if options.raw { options.at.port() } else { service.port };
        let config = Config { ports: [server, 0], ..config };
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(no_random)?;
        let controller = Factory::resolve("ccid2", &Default::default());
        let controller = controller.map_err(|why| Error::Input(why.to_string()))?;
        let listener = Listener::new(config, vec![config.service], key, controller);
        Ok(Self { listener, coming })
    }
}

impl Acceptor for DccpAcceptor<'_> {
    fn accept(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) -> Result<Accept, Error> {
        let Ok(packet) = Packet::read(bytes) else { return Ok(Accept::Nothing) };
        Ok(match self.listener.answer(now, &bytes_of(from), packet) {
            Answer::Nothing => Accept::Nothing,
            Answer::Reply(reply) => {
                let mut out = Vec::new();
                reply.write(None, &mut out);
                Accept::Reply(out)
            }
            Answer::Open(connection) => {
                let mut line = Line::new(connection, (self.coming)(from), true);
                line.hand_on(now)?;
                Accept::Peer(Box::new(line))
            }
        })
    }
}

/// An address as bytes, for cookies.
fn bytes_of(at: SocketAddr) -> Vec<u8> {
    let mut bytes = match at.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    bytes.extend_from_slice(&at.port().to_be_bytes());
    bytes
}

/// A connection, and what is carried over it.
pub struct Line {
    connection: Box<Connection>,
    inner: Box<dyn Endpoint>,
    is_server: bool,
    aborted: bool,
    /// Of the datagram that is taken next, and of the one that was given last.
    ecn: [Ecn; 2],
}

impl Line {
    /// Who has asked for it closes it.
    pub fn new(connection: Box<Connection>, inner: Box<dyn Endpoint>, is_server: bool) -> Self {
        Self { connection, inner, is_server, aborted: false, ecn: [Ecn::NotCapable; 2] }
    }
    /// Passes on received data and the fates of sent datagrams.
    fn hand_on(&mut self, now: Instant) -> Result<(), Error> {
        while let Some((ordinal, arrived)) = self.connection.take_fate() {
            self.inner.on_fate(now, ordinal, arrived);
        }
        while let Some(data) = self.connection.receive() {
            self.inner.take(now, &data)?;
        }
        Ok(())
    }
    fn is_open(&self) -> bool {
        matches!(self.connection.state(), State::PartOpen | State::Open)
    }
    fn has_ended(&self) -> bool {
        self.connection.state() >= State::TimeWait
    }
    /// Gives the connection what it can take.
    fn fill(&mut self, now: Instant) -> Result<(), Error> {
        while self.is_open() && self.connection.room() > 0 {
            let mut datagram = Vec::new();
            if !self.inner.give(now, &mut datagram)? {
                break;
            }
            // There is room, so it is too large or the connection closes: either way it is lost.
            let _ = self.connection.send(datagram.into());
        }
        Ok(())
    }
}

impl Endpoint for Line {
    fn take(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Error> {
        let Ok(packet) = Packet::read(bytes) else { return Ok(()) };
        self.connection.handle(now, Packet { ecn: self.ecn[0], ..packet });
        self.hand_on(now)?;
        if self.has_ended() && !self.aborted {
            self.aborted = true;
            self.inner.abort();
        }
        Ok(())
    }
    fn give(&mut self, now: Instant, out: &mut Vec<u8>) -> Result<bool, Error> {
        self.fill(now)?;
        if !self.is_server && self.inner.is_over() {
            self.connection.close();
        }
        let Some(packet) = self.connection.poll(now) else {
            // A timer may have detected losses.
            self.hand_on(now)?;
            return Ok(false);
        };
        self.ecn[1] = packet.ecn;
        packet.write(None, out);
        Ok(true)
    }
    fn on_ecn(&mut self, ecn: Ecn) {
        self.ecn[0] = ecn;
    }
    fn ecn(&self) -> Ecn {
        self.ecn[1]
    }
    fn deadline(&self) -> Option<Instant> {
        let inner = self.inner.deadline().filter(|_| self.is_open() && self.connection.room() > 0);
        [self.connection.deadline(), inner].into_iter().flatten().min()
    }
    fn abort(&mut self) {
        self.connection.abort();
    }
    fn is_gone(&self) -> bool {
        self.has_ended()
    }
    fn brought(&self) -> u64 {
        self.inner.brought()
    }
    fn status(&self) -> Status {
        Status { over: self.has_ended(), rtt: self.connection.rtt(), ..self.inner.status() }
    }
    fn take_events(&mut self) -> Vec<Event> {
        self.inner.take_events()
    }
}
