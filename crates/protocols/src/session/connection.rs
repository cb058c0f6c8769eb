//! One connection of an application: two streams, and the notices that its daemons exchange about it.

use super::{Incoming, Outgoing, Stack, WINDOW_LEAST};
use crate::wire::session::{CloseReason, Hints};
use std::cell::Cell;

/// What is sent about a connection beside its bytes. Each is repeated until it is known to have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notice {
    /// Open the connection.
    Open,
    /// The target has been reached.
    Opened,
    /// Bytes received, and the window.
    Ack,
}

/// Where a notice is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Telling {
    /// Not needed, or delivered.
    #[default]
    Nothing,
    /// Must be sent.
    Due,
    /// In flight over a stack, with the notice's number: the fate of an earlier one no longer matters.
    Carried(Stack, u64),
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Bytes came, but not yet what they are for.
    Unnamed,
    /// The target is being reached.
    Opening,
    /// It is there.
    Open,
}

/// A connection.
#[derive(Debug)]
pub struct Connection {
    /// To what; empty as long as it is not known.
    pub target: String,
    /// How it wants to be carried.
    pub hints: Hints,
    /// How far it is.
    pub state: State,
    /// What carries what it sends.
    pub stack: Stack,
    /// From here.
    pub outgoing: Outgoing,
    /// To here.
    pub incoming: Incoming,
    notices: [Telling; 3],
    /// A stack has carried some of it: the other side may have acted on it, even if no answer arrived.
    pub was_carried: bool,
    /// [`super::Session::room`] last returned zero to the driver.
    pub(super) is_blocked: Cell<bool>,
}

impl Connection {
    /// An empty one. `first`: bytes that may be sent before any answer; the pair: those that may arrive.
    pub fn new(state: State, stack: Stack, first: u64, (window, window_most): (u64, u64)) -> Self {
        Self {
            target: String::new(),
            hints: Hints::default(),
            state,
            stack,
            outgoing: Outgoing::new(first),
            incoming: Incoming::new(window, window_most),
            notices: Default::default(),
            was_carried: false,
            is_blocked: Cell::new(false),
        }
    }
    /// Bytes of memory that it has, or may have, beyond the least windows.
    pub fn lent(&self) -> u64 {
        let [incoming, outgoing] = [self.incoming.memory(), self.outgoing.memory()];
        incoming.saturating_sub(WINDOW_LEAST) + outgoing.saturating_sub(WINDOW_LEAST)
    }
    /// Where a notice is.
    pub fn notice(&mut self, notice: Notice) -> &mut Telling {
        &mut self.notices[notice as usize]
    }
    /// A notice in flight as `carried` was delivered or lost; ignored if it has been sent again since.
    pub fn settle(&mut self, notice: Notice, carried: Telling, becomes: Telling) {
        let telling = self.notice(notice);
        if *telling == carried {
            *telling = becomes;
        }
    }
    /// The first notice that must be sent.
    pub fn due(&self) -> Option<Notice> {
        let all = [Notice::Open, Notice::Opened, Notice::Ack];
        all.into_iter().find(|notice| self.notices[*notice as usize] == Telling::Due)
    }
    /// Data and notices in flight over this stack must be sent again.
    pub fn reclaim(&mut self, stack: Stack) {
        self.outgoing.reclaim(stack);
        for telling in &mut self.notices {
            if matches!(telling, Telling::Carried(by, _) if *by == stack) {
                *telling = Telling::Due;
            }
        }
    }
    /// The other side has stored it: if it does not know it any more, it has lost what it stored.
    pub fn was_stored(&self) -> bool {
        self.state == State::Open || self.outgoing.acknowledged() > 0 || self.incoming.taken() > 0
    }
    /// The far daemon has restarted. `first` bytes may be sent before it answers.
    pub fn on_forgotten(&mut self, first: u64) {
        self.outgoing.on_forgotten(first);
        for telling in &mut self.notices {
            if *telling != Telling::Nothing {
                *telling = Telling::Due;
            }
        }
    }
    /// The other side has heard of it.
    pub fn on_heard(&mut self) {
        *self.notice(Notice::Open) = Telling::Nothing;
    }
    /// Bytes came; see [`Incoming::on_data`].
    ///
    /// # Errors
    /// As there.
    pub fn on_data(&mut self, offset: u64, bytes: &[u8], ends: bool) -> Result<bool, CloseReason> {
        let kept = self.incoming.on_data(offset, bytes, ends)?;
        if offset + (bytes.len() as u64) < self.incoming.taken() + u64::from(!ends) {
            // Bytes arrived again: the other side has not received their acknowledgement.
            *self.notice(Notice::Ack) = Telling::Due;
        }
        Ok(kept)
    }
    /// Both streams are at their ends, and both sides know.
    pub fn is_complete(&self) -> bool {
        self.outgoing.is_complete() && self.incoming.is_complete()
    }
}
