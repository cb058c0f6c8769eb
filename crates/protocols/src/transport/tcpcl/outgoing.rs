//! Transmission: messages and data, keepalives, the end.

use super::{
    Ending, Event, Message, Outgoing, Output, Phase, Piece, RefuseReason, Segment, Session, TermReason,
};
use crate::time::{Duration, Instant};
use crate::wire::tcpcl::Flags;

/// How long a contact header is waited for, at most.
const CONTACT_MOST: Duration = Duration::from_secs(60);

impl Session {
    /// When the session times out: after two keepalive intervals without a message (section 5.1.1).
    pub(super) fn silent_at(&self) -> Instant {
        let most =
            self.keepalive.map_or(self.config.patience, |span| Duration::from_nanos(span.as_nanos() * 2));
        self.heard.saturating_add(most)
    }
    /// When opening times out; for a contact header after at most a minute (section 4.1).
    pub(super) fn opens_until(&self) -> Instant {
        let most = if self.phase == Phase::Contact { CONTACT_MOST } else { Duration::MAX };
        self.began.saturating_add(self.config.opening.min(most))
    }
    /// What is due.
    pub(super) fn on_time(&mut self, now: Instant) {
        match self.phase {
            Phase::Contact | Phase::Init if now >= self.opens_until() => self.end(Ending::Silent),
            Phase::Open => {
                if now >= self.silent_at() {
                    if self.term_at.is_none() {
                        self.say_term(now, false, TermReason::IdleTimeout);
                    }
                    return self.end(Ending::Silent);
                }
                let patience = self.config.patience;
                if self.term_at.is_some_and(|at| now >= at.max(self.heard).saturating_add(patience)) {
                    return self.end(Ending::Silent);
                }
                let due = self.keepalive.is_some_and(|span| now >= self.spoke.saturating_add(span));
                if due && self.waiting.is_empty() {
                    self.say(&Message::Keepalive);
                }
            }
            _ => {}
        }
    }
    /// Bundles that have not begun to leave and never can.
    pub(super) fn drop_unsendable(&mut self) {
        let (Some(peer), true) = (&self.peer, self.phase == Phase::Open) else { return };
        let ends = self.term_at.is_some() || self.peer_term.is_some();
        let most = if peer.segment_mru > 0 { peer.transfer_mru } else { 0 };
        let mut kept = std::collections::VecDeque::new();
        for one in std::mem::take(&mut self.outgoing) {
            let transfer = one.transfer;
            let reason = RefuseReason::SessionTerminating;
            if !one.begun && ends {
                self.events.push_back(Event::Refused { transfer, reason });
            } else if !one.begun && (one.length > most || most == 0) {
                self.events.push_back(Event::TooLong { transfer, most });
            } else {
                kept.push_back(one);
            }
        }
        self.outgoing = kept;
    }
    /// The next segment of the bundle whose turn it is.
    pub(super) fn next_segment(&mut self) -> Option<Output> {
        if self.phase != Phase::Open {
            return None;
        }
        let most = self.config.segment.max(1).min(self.peer.as_ref()?.segment_mru);
        let one = self.outgoing.front_mut()?;
        let Outgoing { transfer, length: total, sent: offset, begun } = *one;
        let length = most.min(total - offset);
        let flags = Flags { start: !begun, end: offset + length == total, others: 0 };
        (one.sent, one.begun) = (offset + length, true);
        let mut segment = Segment { flags, transfer, items: Vec::new(), length };
        // A bundle in one segment needs no length extension (section 5.2.5.1).
        if flags.start && !flags.end {
            segment = segment.with_total(total);
        }
        if flags.end {
            self.outgoing.pop_front();
            self.unacked.insert(transfer, total);
        }
        let mut bytes = Vec::new();
        Message::Segment(segment).write(&mut bytes);
        Some(Output { bytes, data: Some(Piece { transfer, offset, length }) })
    }
}
