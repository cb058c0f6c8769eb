//! Negotiation of features (RFC 4340, section 6).
//!
//! Each feature exists at both ends. The feature location asks with Change L, the remote with Change R, until
//! it receives a Confirm. Most are reconciled by server priority: of the values that both ends accept, the
//! one that the server prefers. Two are non-negotiable: the feature location sets their value.

use super::Retry;
use crate::time::{Duration, Instant};
use crate::wire::dccp::{Act, Item, ResetCode, Sequence};

/// A feature (section 6.4; RFC 4342, section 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Which congestion control its data have.
    Ccid = 1,
    /// Whether its packets may have short numbers.
    AllowShort = 2,
    /// How far its numbers may be from those that came last.
    SequenceWindow = 3,
    /// It cannot read marks of congestion.
    EcnIncapable = 4,
    /// Its data packets for each acknowledgement of the other end.
    AckRatio = 5,
    /// Its acknowledgements have Ack Vectors.
    SendAckVector = 6,
    /// It counts its packets without data.
    SendNdpCount = 7,
    /// It takes no data of which less is covered by the checksum.
    Coverage = 8,
    /// It checks the CRC of data.
    CheckData = 9,
    /// It reports the loss event rate.
    SendLossEventRate = 192,
}

/// At which end a feature is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// At this one.
    Here,
    /// At the other.
    There,
}

/// The range of the Sequence Window (section 7.5.2).
pub const SEQUENCE_WINDOW: [u64; 2] = [32, (1 << 46) - 1];

/// A value that this end asks for and that is not confirmed yet.
#[derive(Clone, Debug)]
struct Wish {
    /// Values in the order of preference; one, where it is not negotiable.
    values: Vec<u64>,
    mandatory: bool,
    /// The first packet that carried it.
    since: Option<Sequence>,
    /// It has to go with the next packet.
    due: bool,
}

#[derive(Clone, Debug)]
struct Feature {
    name: Name,
    place: Location,
    value: u64,
    /// What this end accepts, best first.
    accepted: Vec<u64>,
    wish: Option<Wish>,
}

/// Why a connection must be reset: the Reset Code and its data.
pub type Fatal = (ResetCode, [u8; 3]);

/// A confirmation that has to go.
#[derive(Clone, Debug)]
struct Confirm {
    act: Act,
    feature: u8,
    values: Vec<u8>,
    /// It has gone before.
    sent: bool,
}
/// Confirmations kept at most: one for each feature known, and some for those that are not.
const CONFIRMS_MAX: usize = 32;

/// Everything negotiated.
#[derive(Debug)]
pub struct Features {
    is_server: bool,
    list: Vec<Feature>,
    confirms: Vec<Confirm>,
    /// The greatest packet with such options that has come (FGSR, section 6.6.4).
    greatest: Option<Sequence>,
    retry: Retry,
    span: Duration,
    retry_at: Option<Instant>,
}

const NAMES: [(Name, u64, &[u64]); 10] = [
    (Name::Ccid, 2, &[2, 3]),
    (Name::AllowShort, 0, &[0]),
    (Name::SequenceWindow, 100, &[]),
    (Name::EcnIncapable, 0, &[0, 1]),
    (Name::AckRatio, 2, &[]),
    (Name::SendAckVector, 0, &[1, 0]),
    (Name::SendNdpCount, 0, &[1, 0]),
    (Name::Coverage, 0, &[0]),
    (Name::CheckData, 0, &[1, 0]),
    (Name::SendLossEventRate, 0, &[1, 0]),
];

impl Name {
    fn of(number: u8) -> Option<Self> {
        NAMES.iter().map(|row| row.0).find(|name| *name as u8 == number)
    }
    fn is_negotiable(self) -> bool {
        !matches!(self, Self::SequenceWindow | Self::AckRatio)
    }
    fn bytes(self) -> usize {
        match self {
            Self::SequenceWindow => 6,
            Self::AckRatio => 2,
            _ => 1,
        }
    }
    fn read(self, values: &[u8]) -> Vec<u64> {
        let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        values.chunks_exact(self.bytes()).map(number).collect()
    }
    fn write(self, values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_be_bytes()[8 - self.bytes()..].to_vec()).collect()
    }
    /// Whether an option may list these bytes: one value where it is not negotiable, else one or more.
    fn may_have(self, values: &[u8]) -> bool {
        let count = values.len() / self.bytes();
        values.len().is_multiple_of(self.bytes()) && (count == 1 || self.is_negotiable() && count > 0)
    }
    /// Whether everybody must know it (section 6.4).
    fn is_required(self) -> bool {
        matches!(self, Self::Ccid | Self::AllowShort | Self::SequenceWindow)
    }
    fn may_be(self, value: u64) -> bool {
        match self {
            Self::SequenceWindow => (SEQUENCE_WINDOW[0]..=SEQUENCE_WINDOW[1]).contains(&value),
            _ => true,
        }
    }
}

impl Features {
    /// As the RFC has them before anybody asks. `coverage` values of the checksum are accepted.
    pub fn new(is_server: bool, coverage: &[u64], retry: Retry) -> Self {
        let feature = |place: Location, (name, value, accepted): (Name, u64, &[u64])| {
            let ours = name == Name::Coverage && place == Location::Here;
            let accepted = if ours { coverage } else { accepted };
            let accepted = if name == Name::Coverage && place == Location::There {
                (0..16).collect()
            } else if name == Name::AllowShort && place == Location::There {
                vec![0, 1] // they are understood, but not sent
            } else {
                accepted.to_vec()
            };
            Feature { name, place, value, accepted, wish: None }
        };
        let list = [Location::Here, Location::There]
            .into_iter()
            .flat_map(|place| NAMES.map(|row| feature(place, row)))
            .collect();
        Self {
            is_server,
            list,
            confirms: Vec::new(),
            greatest: None,
            retry,
            span: retry.first,
            retry_at: None,
        }
    }
    fn find(&mut self, name: Name, place: Location) -> &mut Feature {
        let found = self.list.iter_mut().find(|feature| feature.name == name && feature.place == place);
        found.expect("every feature is at both places")
    }
    /// The value that both ends agree on.
    pub fn get(&self, name: Name, place: Location) -> u64 {
        let found = self.list.iter().find(|feature| feature.name == name && feature.place == place);
        found.map_or(0, |feature| feature.value)
    }
    /// Asks for a value. A mandatory one is had or the connection ends.
    pub fn want(&mut self, name: Name, place: Location, value: u64, mandatory: bool) {
        let feature = self.find(name, place);
        if name.is_negotiable() {
            feature.accepted = vec![value];
        }
        let asked = feature.wish.as_ref().map_or(feature.value, |wish| wish.values[0]);
        if asked == value {
            return;
        }
        feature.wish = Some(Wish { values: vec![value], mandatory, since: None, due: true });
        self.span = self.retry.first;
    }
    /// Whether a value was asked for and not confirmed yet.
    pub fn is_wanted(&self, name: Name, place: Location) -> bool {
        self.list
            .iter()
            .any(|feature| feature.name == name && feature.place == place && feature.wish.is_some())
    }
    /// Whether something has to go with the next packet.
    pub fn is_due(&self) -> bool {
        !self.confirms.is_empty()
            || self.list.iter().any(|feature| feature.wish.as_ref().is_some_and(|w| w.due))
    }
    /// When what was not confirmed goes again.
    pub fn deadline(&self) -> Option<Instant> {
        self.retry_at
    }
    /// What was not confirmed in time goes again.
    pub fn on_time(&mut self, now: Instant) {
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_at = None;
            self.span = Duration::from_nanos(self.span.as_nanos().saturating_mul(2)).min(self.retry.most);
            self.ask_again();
        }
    }
    /// What was not confirmed goes with the next packet too.
    pub fn ask_again(&mut self) {
        self.list.iter_mut().filter_map(|feature| feature.wish.as_mut()).for_each(|wish| wish.due = true);
    }
    /// How long to wait for a confirmation at first.
    pub fn set_first_retry(&mut self, first: Duration) {
        self.retry.first = first;
        self.span = first;
    }
    /// Appends what has to go with the packet numbered `carrier`; `keep`: confirmations go with the next
    /// packet too.
    pub fn write(&mut self, now: Instant, carrier: Sequence, keep: bool, out: &mut Vec<u8>) {
        for Confirm { act, feature, values, sent } in &mut self.confirms {
            Item::Feature { act: *act, feature: *feature, values }.write(out);
            *sent = true;
        }
        if !keep {
            self.confirms.clear();
        }
        for feature in &mut self.list {
            let Some(wish) = feature.wish.as_mut().filter(|wish| wish.due) else { continue };
            wish.due = false;
            wish.since.get_or_insert(carrier);
            if wish.mandatory {
                Item::Mandatory.write(out);
            }
            let act = if feature.place == Location::Here { Act::ChangeL } else { Act::ChangeR };
            let values = &feature.name.write(&wish.values);
            Item::Feature { act, feature: feature.name as u8, values }.write(out);
            self.retry_at.get_or_insert(now.saturating_add(self.span));
        }
    }
    /// Confirmations that have gone have arrived: those need not go again.
    pub fn drop_confirms(&mut self) {
        self.confirms.retain(|confirm| !confirm.sent);
    }
    /// Whether the options of a packet count: those that were overtaken do not (section 6.6.4).
    pub fn may_hear(&mut self, sequence: Sequence) -> bool {
        let late = self.greatest.is_some_and(|greatest| sequence.since(greatest) <= 0);
        if !late {
            self.greatest = Some(sequence);
        }
        !late
    }
    /// An option has come, in a packet that acknowledges `ack`.
    ///
    /// # Errors
    /// The connection must be reset.
    pub fn on_option(
        &mut self,
        (act, number, values): (Act, u8, &[u8]),
        ack: Option<Sequence>,
        mandatory: bool,
    ) -> Result<(), Fatal> {
        let details = [act as u8, number, values.first().copied().unwrap_or(0)];
        let understood = match act {
            Act::ChangeL => self.on_change(Location::There, number, values),
            Act::ChangeR => self.on_change(Location::Here, number, values),
            Act::ConfirmL => self.on_confirm(Location::There, number, values, ack),
            Act::ConfirmR => self.on_confirm(Location::Here, number, values, ack),
        };
        match understood {
            Err(code) => Err((code, details)),
            Ok(false) if mandatory => Err((ResetCode::MandatoryError, details)),
            Ok(_) => Ok(()),
        }
    }
    /// The other end wants something; true if it gets a value that it asked for.
    fn on_change(&mut self, place: Location, number: u8, values: &[u8]) -> Result<bool, ResetCode> {
        let act = if place == Location::Here { Act::ConfirmL } else { Act::ConfirmR };
        let is_server = self.is_server;
        // An unknown feature or an invalid value is answered by an empty confirmation (sections 6.6.7 and
        // 6.6.8).
        let Some(name) = Name::of(number).filter(|name| name.may_have(values)) else {
            self.confirm(act, number, Vec::new());
            return Ok(false);
        };
        let theirs = name.read(values);
        if !name.is_negotiable() {
            // Only who has it may say (section 6.3.2).
            let value =
                theirs.first().copied().filter(|value| place == Location::There && name.may_be(*value));
            if let Some(value) = value {
                self.find(name, place).value = value;
            }
            self.confirm(act, number, value.map_or(Vec::new(), |value| name.write(&[value])));
            return Ok(value.is_some());
        }
        let feature = self.find(name, place);
        let agreed = reconcile(is_server, &feature.accepted, &theirs);
        if let Some(value) = agreed {
            feature.value = value;
        }
        let mut said = vec![feature.value];
        said.extend(&feature.accepted);
        self.confirm(act, number, name.write(&said));
        Ok(agreed.is_some())
    }
    fn confirm(&mut self, act: Act, feature: u8, values: Vec<u8>) {
        self.confirms.retain(|other| (other.act, other.feature) != (act, feature));
        if self.confirms.len() < CONFIRMS_MAX {
            self.confirms.push(Confirm { act, feature, values, sent: false });
        }
    }
    /// The other end has answered. One that does not know the feature or refuses the value leaves it as it
    /// is; where that cannot be, or where the answer is not what both lists lead to, the connection ends
    /// (section 6.6.8).
    fn on_confirm(
        &mut self,
        place: Location,
        number: u8,
        values: &[u8],
        ack: Option<Sequence>,
    ) -> Result<bool, ResetCode> {
        let Some(name) = Name::of(number) else { return Ok(false) };
        let is_server = self.is_server;
        let feature = self.find(name, place);
        let Some(wish) = &feature.wish else { return Ok(true) };
        // An answer to something older.
        let since = wish.since;
        if since.is_none_or(|since| ack.is_none_or(|ack| ack.since(since) < 0)) {
            return Ok(true);
        }
        let must_be = wish.mandatory || name.is_required();
        if !values.is_empty() && !name.may_have(values) {
            return Err(ResetCode::OptionError);
        }
        let said = name.read(values);
        match said.split_first() {
            // Of a value that was wanted before.
            Some((value, _)) if !name.is_negotiable() && *value != wish.values[0] => return Ok(true),
            Some((value, _)) if !name.is_negotiable() => feature.value = *value,
            Some((value, theirs)) => {
                let theirs = if theirs.is_empty() { std::slice::from_ref(value) } else { theirs };
                let agreed = reconcile(is_server, &feature.accepted, theirs);
                let is_refused = agreed.is_none() && *value == feature.value && !wish.mandatory;
                if agreed != Some(*value) && !is_refused {
                    return Err(ResetCode::OptionError);
                }
                feature.value = *value;
            }
            None if must_be => return Err(ResetCode::OptionError),
            None => {}
        }
        feature.wish = None;
        if self.list.iter().all(|feature| feature.wish.is_none()) {
            self.retry_at = None;
        }
        Ok(true)
    }
}

/// The first value of the server's list that is also in the client's (section 6.3.1).
fn reconcile(is_server: bool, ours: &[u64], theirs: &[u64]) -> Option<u64> {
    let (first, second) = if is_server { (ours, theirs) } else { (theirs, ours) };
    first.iter().copied().find(|value| second.contains(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::dccp::Options;

    fn pair() -> [Features; 2] {
        let s = Duration::from_secs;
        let retry = Retry { first: s(1), most: s(64), gives_up: s(180) };
        [false, true].map(|is_server| Features::new(is_server, &[0], retry))
    }
    /// Options of one packet from one end to the other.
    fn carry(now: Instant, number: u64, from: &mut Features, to: &mut Features) -> Result<(), Fatal> {
        let (sequence, mut bytes) = (Sequence::new(number), Vec::new());
        from.write(now, sequence, false, &mut bytes);
        let mut mandatory = false;
        to.may_hear(sequence);
        for item in Options::new(&bytes).map(Result::unwrap) {
            if let Item::Feature { act, feature, values } = item {
                to.on_option((act, feature, values), Some(Sequence::new(1_000_000)), mandatory)?;
            }
            mandatory = item == Item::Mandatory;
        }
        Ok(())
    }

    #[test]
    fn both_ends_agree_after_a_change_and_its_confirmation() {
        let [mut client, mut server] = pair();
        client.want(Name::Ccid, Location::Here, 3, true);
        client.want(Name::SequenceWindow, Location::Here, 4500, false);
        server.want(Name::SendNdpCount, Location::There, 1, false);
        carry(Instant::ZERO, 1, &mut client, &mut server).unwrap();
        carry(Instant::ZERO, 2, &mut server, &mut client).unwrap();
        carry(Instant::ZERO, 3, &mut client, &mut server).unwrap();
        for (name, value) in [(Name::Ccid, 3), (Name::SequenceWindow, 4500), (Name::SendNdpCount, 1)] {
            assert_eq!(
                (client.get(name, Location::Here), server.get(name, Location::There)),
                (value, value),
                "{name:?}"
            );
        }
        assert_eq!((client.deadline(), server.deadline()), (None, None), "nothing is left to ask");
        assert!(!client.is_due() && !server.is_due());
    }

    #[test]
    fn a_lost_change_goes_again_and_a_mandatory_one_that_is_refused_ends_the_connection() {
        let [mut client, mut server] = pair();
        client.want(Name::SequenceWindow, Location::Here, 4500, false);
        client.write(Instant::ZERO, Sequence::new(1), false, &mut Vec::new());
        assert!(!client.is_due());
        client.on_time(client.deadline().unwrap());
        carry(Instant::from_secs(1), 2, &mut client, &mut server).unwrap();
        assert_eq!(server.get(Name::SequenceWindow, Location::There), 4500);
        client.want(Name::AllowShort, Location::There, 1, true);
        let details = [Act::ChangeR as u8, Name::AllowShort as u8, 1];
        let refused = carry(Instant::from_secs(1), 3, &mut client, &mut server);
        assert_eq!(refused, Err((ResetCode::MandatoryError, details)));
    }

    fn answer(features: &mut Features) -> Vec<u8> {
        let mut bytes = Vec::new();
        features.write(Instant::ZERO, Sequence::new(1), false, &mut bytes);
        bytes
    }

    #[test]
    fn an_invalid_change_gets_an_empty_confirmation_and_an_invalid_confirmation_ends_the_connection() {
        // RFC 4340, sections 6.6.7 and 6.6.8.
        let [mut client, mut server] = pair();
        for (act, number, values, confirm) in [
            (Act::ChangeL, 3, &[0, 0, 1, 0][..], 35),
            (Act::ChangeL, 3, &[0, 0, 0, 0, 0, 31], 35),
            (Act::ChangeR, 3, &[0, 0, 0, 0, 4, 0], 33),
            (Act::ChangeL, 1, &[], 35),
            (Act::ChangeR, 126, &[7], 33),
        ] {
            assert_eq!(server.on_option((act, number, values), None, false), Ok(()));
            assert_eq!(answer(&mut server), [confirm, 3, number]);
            let refused = server.on_option((act, number, values), None, true).unwrap_err();
            assert_eq!(refused.0, ResetCode::MandatoryError);
            answer(&mut server);
        }
        client.want(Name::Ccid, Location::Here, 3, false);
        answer(&mut client);
        let acked = Some(Sequence::new(1));
        for values in [&[3, 2][..], &[9, 3], &[]] {
            let refused = client.on_option((Act::ConfirmR, 1, values), acked, false).unwrap_err();
            assert_eq!(refused.0, ResetCode::OptionError, "{values:?}");
        }
        assert_eq!(client.on_option((Act::ConfirmR, 1, &[2, 2]), acked, false), Ok(()), "it may refuse");
        assert_eq!(client.get(Name::Ccid, Location::Here), 2);
    }

    #[test]
    fn the_servers_preference_decides() {
        let [mut client, mut server] = pair();
        server.on_option((Act::ChangeL, Name::Ccid as u8, &[3, 2]), None, false).unwrap();
        assert_eq!(server.get(Name::Ccid, Location::There), 2, "the server likes 2 better");
        client.on_option((Act::ChangeL, Name::Ccid as u8, &[3, 2]), None, false).unwrap();
        assert_eq!(client.get(Name::Ccid, Location::There), 3, "and here the other end is the server");
    }
}
