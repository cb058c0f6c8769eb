//! Answers that are refused: Data whose signature does not convince, and Nacks, which are not signed. They are hints
//! and no more: the Interest is sent again, within bounds of number and time, and the first is reported at once.

use crate::Error;
use lightlag_protocols::time::Duration;
use lightlag_protocols::wire::ndn::{Nack, Name, Untrusted};
use std::fmt;

/// Refused answers to one Interest after which it is given up: of an attacker who forges every second answer,
/// one segment in 8192 meets as many.
pub const ANSWERS_MOST: u32 = 12;
/// How long an answer that convinces is waited for after one that was refused.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// The first pause before it is asked again; each one after that is twice as long.
const PAUSE: Duration = Duration::from_nanos(10_000_000);
/// Doublings of it: all pauses together take 4.5 s, in which a true answer may come that takes longer.
const DOUBLINGS_MOST: u32 = 6;

/// How long to wait before asking again, after `answers` refused answers.
pub fn pause(answers: u32) -> Duration {
    PAUSE * (1 << answers.saturating_sub(1).min(DOUBLINGS_MOST))
}

/// Why an answer is refused.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// Its signature does not convince.
    Data(Untrusted),
    /// It says that the Interest is not answered, and is not signed.
    Nack(Nack),
}

impl Refusal {
    /// What the user can do about it.
    fn advice(&self) -> &'static str {
        match self {
            Self::Data(Untrusted::OtherKey(_)) => {
                "ask the publisher whether that key is theirs, and name it with --trust if so; or ask over another --face"
            }
            Self::Data(Untrusted::NoKey) => {
                "the publisher signs with `lightlag names put --key`; or take what anybody may have written with \
                 --insecure, or ask over another --face"
            }
            Self::Data(Untrusted::Digest | Untrusted::Altered) => "ask over another --face",
            Self::Data(_) => {
                "ask the publisher whether the key of --trust is theirs, or ask over another --face"
            }
            Self::Nack(_) => "is it published?",
        }
    }
    /// It is given up, after this number of refused answers.
    pub fn error(&self, name: &Name, answers: u32) -> Error {
        let right = self.advice();
        Error::Failed(match self {
            Self::Data(_) => {
                format!("{name}: Data arrived, but {answers} answers in a row were refused: {self}; {right}")
            }
            Self::Nack(_) => format!("{name}: {self}; {right}"),
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(why) => why.fmt(f),
            Self::Nack(Nack::NoRoute) => f.write_str("the forwarder does not answer: it has no route"),
            Self::Nack(reason) => write!(f, "the forwarder does not answer: {reason}"),
        }
    }
}

/// Reports the first refused answer; later ones are counted only.
pub struct Notice<'n>(Option<&'n mut dyn FnMut(&str)>);

impl<'n> Notice<'n> {
    /// It is reported with this.
    pub fn new(say: &'n mut dyn FnMut(&str)) -> Self {
        Self(Some(say))
    }
    /// An answer was refused.
    pub fn refused(&mut self, name: &Name, why: &Refusal) {
        let Some(say) = self.0.take() else { return };
        let what = match why {
            Refusal::Data(_) => "Data arrived, but are refused: ",
            Refusal::Nack(_) => "",
        };
        let unsigned = if matches!(why, Refusal::Nack(_)) { ", which is not signed" } else { "" };
        let patience_s = PATIENCE.as_secs_f64();
        say(&format!("{name}: {what}{why}{unsigned}; asking again for up to {patience_s:.0} s"));
    }
}
