//! One question, and its answer.

use super::faces::{Faces, Peer};
use super::forged::{Notice, Refusal};
use super::{MTU, forged, random};
use crate::Error;
use crate::clock::Clock;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::wire::ndn::{Headers, Interest, Nack, Name, Signed, Untrusted};
use std::io;

/// How often a question is asked.
const TRIES: i64 = 5;
/// How long the first is waited for; each one after that a second longer.
const WAIT: Duration = Duration::from_secs(1);

/// Writes an Interest with a nonce, and returns the name that was written.
pub type Write<'w> = dyn Fn(&Interest, u32, &mut Vec<u8>) -> Result<Name<'static>, Error> + 'w;

/// A question: an Interest, written again for each attempt.
pub struct Question<'q> {
    /// What may answer it.
    pub interest: &'q Interest<'q>,
    /// Writes it.
    pub write: &'q Write<'q>,
    /// Whether Data answer it; those that do not are dropped, and it is asked again.
    pub check: &'q Check<'q>,
    /// Whether answers must be signed by a key: Nacks, which are not, are then hints only.
    pub signed: bool,
}

/// Why Data are not taken.
pub type Check<'c> = dyn Fn(&Signed) -> Result<(), Untrusted> + 'c;

/// An answer.
pub struct Answer {
    /// The Data packet.
    pub packet: Vec<u8>,
    /// How long it took.
    pub took: Duration,
    /// It said when it left: it comes from one of our own, with no other forwarder between.
    pub stamped: bool,
}

/// A face that broke, or whose path does not take such datagrams.
pub fn broken(why: &io::Error) -> Error {
    if quinn_udp::is_msg_size_err(why) {
        let line = format!("datagrams are larger than the path takes; take a smaller --mtu than {MTU}");
        return Error::Failed(line);
    }
    Error::Failed(format!("the face is broken: {why}"))
}

/// Asks until there is an answer.
///
/// # Errors
/// One line: there is no route, no answer arrives, all answers are refused, or the face is broken.
pub fn ask(
    faces: &mut Faces,
    to: Peer,
    clock: &Clock,
    question: &Question,
    notice: &mut Notice,
) -> Result<Answer, Error> {
    let began = clock.now();
    let (mut nack, mut silent) = (None, 0);
    // The first refused answer limits how long others are waited for.
    let (mut refused, mut last, mut end) = (0, None, Instant::MAX);
    while silent < TRIES && clock.now() < end {
        let mut packet = Vec::new();
        let mut interest = question.interest.clone();
        // A store may hold what was forged: it answers this only with what it holds to be fresh. True Data may
        // have no time of freshness: every other Interest is a plain one.
        interest.must_be_fresh |= refused > 0 && (i64::from(refused) + silent) % 2 == 1;
        let name = (question.write)(&interest, u32::from_be_bytes(random()?), &mut packet)?;
        faces
            .send(to, Headers::default(), &packet)
            .and_then(|()| faces.flush())
            .map_err(|why| broken(&why))?;
        let sent = clock.now();
        let heard = listen(faces, clock, end.min(sent + WAIT * (silent + 1)), &name, question)?;
        match heard {
            Heard::Data(packet, stamped) => {
                return Ok(Answer { packet, took: clock.now() - sent, stamped });
            }
            Heard::Refused(why) => {
                if matches!(why, Refusal::Nack(_)) && !question.signed {
                    return Err(why.error(&name, 1));
                }
                notice.refused(&name, &why);
                end = end.min(clock.now() + forged::PATIENCE);
                refused += 1;
                if refused > forged::ANSWERS_MOST {
                    return Err(why.error(&name, refused));
                }
                last = Some(why);
                // The true answer may come behind the refused one.
                let until = clock.now() + forged::pause(refused);
                if let Heard::Data(packet, stamped) = listen_on(faces, clock, until, &name, question)? {
                    return Ok(Answer { packet, took: clock.now() - sent, stamped });
                }
                continue;
            }
            Heard::Busy(reason) => {
                nack = Some(reason);
                faces.wait(WAIT).map_err(|why| broken(&why))?;
            }
            Heard::Nothing => {}
        }
        silent += 1;
    }
    let name = &question.interest.name;
    if let Some(why) = last {
        return Err(why.error(name, refused));
    }
    let waited = (clock.now() - began).as_secs_f64();
    let what = nack.map_or("no answer".to_owned(), |reason| format!("the forwarder refuses: {reason}"));
    Err(Error::Failed(format!("{name}: {what}, asked {TRIES} times in {waited:.0} s; is it published?")))
}

enum Heard {
    Data(Vec<u8>, bool),
    /// The forwarder has too much to do, or takes the Interest for a duplicate.
    Busy(Nack),
    Refused(Refusal),
    Nothing,
}

impl Heard {
    /// A Nack came; Data that came before it count, refused ones too.
    fn or_nack(&mut self, reason: Nack) {
        if let Self::Nothing | Self::Busy(_) = self {
            *self = match reason {
                Nack::Congestion | Nack::Duplicate => Self::Busy(reason),
                _ => Self::Refused(Refusal::Nack(reason)),
            };
        }
    }
}

/// Listens until the time, whatever is refused.
fn listen_on(
    faces: &mut Faces,
    clock: &Clock,
    until: Instant,
    name: &Name,
    question: &Question,
) -> Result<Heard, Error> {
    loop {
        match listen(faces, clock, until, name, question)? {
            Heard::Refused(_) | Heard::Busy(_) if clock.now() < until => {}
            other => return Ok(other),
        }
    }
}

fn listen(
    faces: &mut Faces,
    clock: &Clock,
    until: Instant,
    name: &Name,
    question: &Question,
) -> Result<Heard, Error> {
    let prefix = question.interest.can_be_prefix;
    let wanted = Interest { name: name.as_ref(), can_be_prefix: prefix, ..Interest::default() };
    let mut heard = Heard::Nothing;
    loop {
        faces
            .receive(clock, &mut |_, headers, packet, _| {
                let answers = |name: &Name| wanted.is_answered_by(name);
                if let Some(reason) = headers.nack {
                    if Interest::read(packet).is_ok_and(|interest| interest.name == wanted.name) {
                        heard.or_nack(reason);
                    }
                } else if let Ok(signed) = Signed::read(packet)
                    && answers(&signed.data.name)
                    && !matches!(heard, Heard::Data(..))
                {
                    heard = match (question.check)(&signed) {
                        Ok(()) => Heard::Data(packet.to_vec(), headers.send_time.is_some()),
                        Err(why) => Heard::Refused(Refusal::Data(why)),
                    };
                }
            })
            .map_err(|why| broken(&why))?;
        let left = until - clock.now();
        if !matches!(heard, Heard::Nothing) || left <= Duration::ZERO {
            return Ok(heard);
        }
        faces.wait(left).map_err(|why| broken(&why))?;
    }
}
