//! Answers whose signature is wrong: they are dropped, and asked for again, so often and no more.

use crate::Error;
use lightlag_protocols::time::Duration;
use lightlag_protocols::wire::ndn::{Name, Untrusted};

/// Forged answers to one Interest after which it is given up: of an attacker who forges every second answer,
/// one segment in 8192 meets as many.
pub const ANSWERS_MOST: u32 = 12;
/// The first pause before it is asked again; each one after that is twice as long.
const PAUSE: Duration = Duration::from_nanos(10_000_000);
/// Doublings of it: all pauses together take 4.5 s, in which a true answer may come that takes longer.
const DOUBLINGS_MOST: u32 = 6;

/// How long to wait before asking again, after `answers` forged answers.
pub fn pause(answers: u32) -> Duration {
    PAUSE * (1 << answers.saturating_sub(1).min(DOUBLINGS_MOST))
}

/// It is given up.
pub fn error(name: &Name, why: Untrusted) -> Error {
    let right = "ask the publisher whether the key of --trust is theirs, or ask over another --face";
    Error::Failed(format!("{name}: {} answers in a row were refused: {why}; {right}", ANSWERS_MOST + 1))
}
