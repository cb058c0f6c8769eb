//! One connection of an application: two streams, and what else its daemons tell each other of it.

use super::{Incoming, Outgoing, Stack, WINDOW_LEAST};
use crate::wire::session::{Hints, Why};
use std::cell::Cell;

/// What is told of a connection beside its bytes. Each is told until it is known to have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notice {
    /// It is to be made.
    Open,
    /// The target has been reached.
    Opened,
    /// What has come, and how far the window goes.
    Ack,
}

/// Where a notice is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Telling {
    /// There is nothing to tell.
    #[default]
    Nothing,
    /// It is to be told.
    Due,
    /// A stack carries it, as the so-manieth: of an earlier one it does not matter any more whether it comes.
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
    /// A stack has carried some of it: the other side may have acted on it, whether that was heard or not.
    pub was_carried: bool,
    /// The driver was told that there is no room for what the application gives.
    pub(super) is_blocked: Cell<bool>,
}

impl Connection {
    /// Without any byte. `first`: bytes that may be sent before anything is heard; `window`: those that may come.
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
    /// It is known what became of a notice as it was carried, if that is still how it stands.
    pub fn settle(&mut self, notice: Notice, carried: Telling, becomes: Telling) {
        let telling = self.notice(notice);
        if *telling == carried {
            *telling = becomes;
        }
    }
    /// The first that is to be told.
    pub fn due(&self) -> Option<Notice> {
        let all = [Notice::Open, Notice::Opened, Notice::Ack];
        all.into_iter().find(|notice| self.notices[*notice as usize] == Telling::Due)
    }
    /// What this stack carried of notices is to be told again.
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
    /// The far daemon has begun anew. So many bytes may be sent before anything is heard.
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
    pub fn on_data(&mut self, offset: u64, bytes: &[u8], ends: bool) -> Result<bool, Why> {
        let kept = self.incoming.on_data(offset, bytes, ends)?;
        if offset + (bytes.len() as u64) < self.incoming.taken() + u64::from(!ends) {
            // What came before comes again: the other side has not heard that it did.
            *self.notice(Notice::Ack) = Telling::Due;
        }
        Ok(kept)
    }
    /// Both streams are at their ends, and both sides know.
    pub fn is_complete(&self) -> bool {
        self.outgoing.is_complete() && self.incoming.is_complete()
    }
}
