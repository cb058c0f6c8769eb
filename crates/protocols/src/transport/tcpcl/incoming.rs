//! Reception of messages and data.

use super::{
    Contact, Ending, Event, Incoming, Init, Message, Phase, RefuseReason, RejectReason, Segment, Session,
    TermReason, VERSION,
};
use crate::time::{Duration, Instant};
use crate::wire::tcpcl::{Flags, Malformed};

impl Session {
    /// Bytes have come.
    pub fn receive(&mut self, now: Instant, bytes: &[u8]) {
        if self.phase == Phase::Ended {
            return;
        }
        self.heard = now;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.extend_from_slice(bytes);
        let mut at = 0;
        while self.phase < Phase::Ended {
            match self.step(now, &buffer[at..]) {
                Ok(0) => break,
                Ok(taken) => at += taken,
                Err(why) => self.fail(now, why.into()),
            }
        }
        buffer.drain(..at);
        self.buffer = buffer;
    }
    /// Takes the next message or piece of data; returns the number of bytes taken, zero if more are needed.
    fn step(&mut self, now: Instant, bytes: &[u8]) -> Result<usize, Malformed> {
        if self.phase == Phase::Contact {
            let Some((contact, taken)) = Contact::read(bytes)? else { return Ok(0) };
            self.on_contact(now, contact);
            return Ok(taken);
        }
        if let Some(incoming) = self.incoming.as_mut().filter(|incoming| incoming.left > 0) {
            let taken = usize::try_from(incoming.left).unwrap_or(usize::MAX).min(bytes.len());
            incoming.left -= taken as u64;
            incoming.here += taken as u64;
            let ends = incoming.left == 0;
            if taken > 0 && incoming.refused.is_none() {
                let (transfer, bytes) = (incoming.transfer, bytes[..taken].to_vec());
                self.events.push_back(Event::Data { transfer, bytes });
            }
            if ends {
                self.on_segment_end();
            }
            return Ok(taken);
        }
        let read = Message::read(bytes);
        if let Err(Malformed::Type(number)) = read {
            // The start of the next message is unknown (section 5.1.2).
            self.say(&Message::Reject { reason: RejectReason::TypeUnknown, message: number });
        }
        let Some((message, taken)) = read? else { return Ok(0) };
        self.on_message(now, message);
        Ok(taken)
    }
    /// Says that the session ends, and ends it.
    fn fail(&mut self, now: Instant, how: Ending) {
        let reason = match how {
            Ending::Version(_) => TermReason::VersionMismatch,
            Ending::Extension(_) => TermReason::ContactFailure,
            // SESS_INIT cannot be interpreted.
            Ending::Malformed(_) if self.phase == Phase::Init => TermReason::ContactFailure,
            Ending::Silent => TermReason::IdleTimeout,
            _ => TermReason::Unknown,
        };
        // Who does not speak the protocol is not spoken to.
        if self.phase > Phase::Contact && self.term_at.is_none() {
            self.say_term(now, false, reason);
        }
        self.end(how);
    }
    fn on_contact(&mut self, now: Instant, contact: Contact) {
        if !self.config.is_active {
            self.say_contact();
        }
        self.phase = Phase::Init;
        if contact.version != VERSION {
            return self.fail(now, Ending::Version(contact.version));
        }
        if let Some(reason) = self.dismissed {
            return self.dismiss(now, reason);
        }
        if self.config.is_active {
            self.say_init();
        }
    }
    fn on_message(&mut self, now: Instant, message: Message) {
        let number = message.number();
        match (self.phase, message) {
            (Phase::Init, Message::Init(init)) => self.on_init(now, init),
            (Phase::Init, Message::Term { reason, .. }) => {
                self.say_term(now, true, reason);
                self.end(Ending::Unwanted(reason));
            }
            (_, Message::Keepalive) => {}
            (_, Message::Reject { reason, message }) => self.fail(now, Ending::Rejected(reason, message)),
            (Phase::Open, Message::Segment(segment)) => self.on_segment(now, segment),
            (Phase::Open, Message::Ack { transfer, .. } | Message::Refuse { transfer, .. })
                if !self.has_begun(transfer) =>
            {
                self.say(&Message::Reject { reason: RejectReason::Unexpected, message: number });
            }
            (Phase::Open, Message::Ack { transfer, length, .. }) => self.on_ack(transfer, length),
            (Phase::Open, Message::Refuse { reason, transfer }) => self.on_refuse(reason, transfer),
            (Phase::Open, Message::Term { reason, .. }) => self.on_term(now, reason),
            _ => self.unexpected(now, number),
        }
    }
    /// Whether something of a bundle of our own has left.
    fn has_begun(&self, transfer: u64) -> bool {
        let waits = self.outgoing.iter().any(|one| one.transfer == transfer && !one.begun);
        transfer < self.next_transfer && !waits
    }
    fn unexpected(&mut self, now: Instant, message: u8) {
        self.say(&Message::Reject { reason: RejectReason::Unexpected, message });
        self.fail(now, Ending::Unexpected(message));
    }
    fn on_init(&mut self, now: Instant, init: Init) {
        if let Some(item) = init.items.iter().find(|item| item.is_critical) {
            return self.fail(now, Ending::Extension(item.kind));
        }
        if !self.config.is_active {
            self.say_init();
        }
        let least = self.config.keepalive_s.min(init.keepalive_s);
        self.keepalive = (least > 0).then(|| Duration::from_secs(least.into()));
        self.phase = Phase::Open;
        self.events.push_back(Event::Opened { node: init.node.clone() });
        self.peer = Some(init);
        self.drop_unsendable();
    }
    fn on_segment(&mut self, now: Instant, segment: Segment) {
        let Segment { flags, transfer, length, .. } = segment;
        let passed_by = self.incoming.is_none_or(|incoming| incoming.refused.is_some());
        if flags.start && passed_by && !self.whole.contains_key(&transfer) {
            self.begin(&segment);
        }
        // Segments of two bundles may not be mixed (section 5.2).
        let known = self.incoming.as_ref().is_some_and(|one| one.transfer == transfer);
        let starts_again = flags.start && !passed_by;
        if !known || starts_again {
            return self.unexpected(now, 1);
        }
        let Some(incoming) = &mut self.incoming else { return };
        (incoming.left, incoming.flags) = (length, flags);
        let (refused, end) = (incoming.refused, incoming.here.saturating_add(length));
        match refused {
            // It left before the refusal came: it is refused again (section 5.2.4).
            Some(reason) if !flags.start => self.say_refusal(transfer, reason),
            Some(_) => {}
            None if incoming.total.is_some_and(|total| end > total) => {
                self.decline(transfer, RefuseReason::NotAcceptable);
            }
            None if end > self.config.transfer_mru => self.decline(transfer, RefuseReason::NoResources),
            None => {}
        }
        if length == 0 {
            self.on_segment_end();
        }
    }
    fn begin(&mut self, segment: &Segment) {
        let (transfer, total) = (segment.transfer, segment.total());
        let flags = Flags::default();
        self.incoming = Some(Incoming { transfer, total, here: 0, left: 0, flags, refused: None });
        let refused = if self.term_at.is_some() {
            Some(RefuseReason::SessionTerminating)
        } else if !segment.is_understood() {
            Some(RefuseReason::ExtensionFailure)
        } else if self.config.transfer_mru == 0 {
            Some(RefuseReason::NotAcceptable)
        } else if total.is_some_and(|total| total > self.config.transfer_mru) {
            Some(RefuseReason::NoResources)
        } else {
            None
        };
        match refused {
            Some(reason) => self.decline(transfer, reason),
            None => self.events.push_back(Event::Coming { transfer, total }),
        }
    }
    fn on_segment_end(&mut self) {
        let Some(Incoming { transfer, total, here, flags, refused, .. }) = self.incoming else { return };
        if !flags.end {
            if refused.is_none() {
                self.say(&Message::Ack { flags, transfer, length: here });
            }
            return;
        }
        self.incoming = None;
        if refused.is_some() {
            self.end_if_done();
            return;
        }
        self.whole.insert(transfer, (flags, here));
        if total.is_some_and(|total| total != here) {
            self.decline(transfer, RefuseReason::NotAcceptable);
        } else {
            self.events.push_back(Event::Whole { transfer });
        }
    }
    /// The length counts, not the flags, which should be the segment's: dtn7-rs leaves them out.
    fn on_ack(&mut self, transfer: u64, length: u64) {
        if self.unacked.get(&transfer) == Some(&length) {
            self.unacked.remove(&transfer);
            self.events.push_back(Event::Sent { transfer });
            self.end_if_done();
        } else if self.unacked.contains_key(&transfer)
            || self.outgoing.front().is_some_and(|one| one.transfer == transfer && one.sent >= length)
        {
            self.events.push_back(Event::Acked { transfer, length });
        }
    }
    fn on_refuse(&mut self, reason: RefuseReason, transfer: u64) {
        let leaves = self.outgoing.front().is_some_and(|one| one.transfer == transfer && one.begun);
        if leaves {
            self.outgoing.pop_front();
        }
        if self.unacked.remove(&transfer).is_some() || leaves {
            self.events.push_back(match reason {
                RefuseReason::Completed => Event::Sent { transfer },
                _ => Event::Refused { transfer, reason },
            });
            self.end_if_done();
        }
    }
    /// Who has not said so before answers, and gives the reason back (section 6.1).
    fn on_term(&mut self, now: Instant, reason: TermReason) {
        self.peer_term = Some(reason);
        if self.term_at.is_none() {
            self.say_term(now, true, reason);
        }
        self.drop_unsendable();
        self.end_if_done();
    }
}
