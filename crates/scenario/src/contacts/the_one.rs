//! The ONE's events: lines of `TIME ACTION ...`, as its `StandardEventsReader` takes them.

use super::{ContactRow, Id, Line, Lines, seconds};
use crate::error::{Place, Result, is_not};
use crate::model::{Group, Radio};
use crate::quantity::plain_number;
use crate::the_one::number;
use lightlag_protocols::time::Instant;
use lightlag_protocols::units::{BitRate, Bytes};
use std::collections::{BTreeMap, HashMap};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalEvent {
    /// Where it stands.
    pub place: Place,
    /// When.
    pub at: Instant,
    /// What.
    pub kind: EventKind,
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// `C`: a message is created.
    Create {
        /// Its name.
        message: String,
        /// Where, by address.
        from: u32,
        /// Its destination.
        to: u32,
        /// Its size.
        size: Bytes,
        /// Whether its destination must respond.
        response: bool,
    },
    /// `CONN`: a link comes up or goes down.
    Connection {
        /// One end, by address.
        a: u32,
        /// The other.
        b: u32,
        /// Up or down.
        up: bool,
        /// The name of the interface, if stated.
        interface: Option<String>,
        /// Its rate, if stated: The ONE's `ConnectivityReportConnector` writes it in place of the interface.
        rate: Option<BitRate>,
    },
    /// `S`, `DE`, `A`, `DR`, `R`: what The ONE's own routers would decide. These events come from
    /// logs of other runs and command The ONE's `PassiveRouter`; here routers decide themselves.
    Decision(&'static str),
}

const ACTIONS: &str = "actions are C, CONN, S, DE, A, DR and R";
const DECISIONS: &[(&str, usize)] = &[("S", 3), ("DE", 3), ("A", 3), ("DR", 2), ("R", 2)];

/// Reads events in order of time.
///
/// # Errors
/// At the first line that is no event, or earlier than the one before it.
pub fn the_one_events(file: &str, bytes: &[u8]) -> Result<Vec<ExternalEvent>> {
    let lines = Lines::new(file, bytes)?;
    let mut events = Vec::with_capacity(lines.count_max());
    each_event(&lines, |event| {
        events.push(event);
        Ok(())
    })?;
    Ok(events)
}

/// Calls `each` with the events in order of time.
fn each_event(lines: &Lines, mut each: impl FnMut(ExternalEvent) -> Result<()>) -> Result<()> {
    let mut last = Instant::ZERO;
    let mut line = Line { place: Place::Line(lines.file.clone(), 0), words: Vec::new() };
    for (number, text) in lines.texts() {
        line.place = Place::Line(lines.file.clone(), number);
        line.words.clear();
        line.words.extend(text.split_ascii_whitespace());
        let [time, action, rest @ ..] = &line.words[..] else {
            return Err(line.wrong("the line has no action", ACTIONS));
        };
        let at = seconds(time, &line.place)?;
        if last > at {
            return Err(line.wrong("the event is earlier than the one before it", "sort the lines by time"));
        }
        last = at;
        let kind = event(&line, action, rest)?;
        each(ExternalEvent { place: line.place.clone(), at, kind })?;
    }
    Ok(())
}

fn event(line: &Line, action: &str, rest: &[&str]) -> Result<EventKind> {
    match (action, rest) {
        ("C", [message, from, to, size, response @ ..]) => {
            let bytes = number(size).ok().and_then(|size| u64::try_from(size).ok()).filter(|size| *size > 0);
            let size = Bytes(
                bytes.ok_or_else(|| line.wrong(is_not(size, "a size"), "write a whole number of bytes"))?,
            );
            let response = response.first().is_some_and(|word| *word != "0");
            let (from, to) = (address(line, from)?, address(line, to)?);
            Ok(EventKind::Create { message: (*message).to_owned(), from, to, size, response })
        }
        ("CONN", [a, b, state, interface @ ..]) => {
            let up = state.eq_ignore_ascii_case("up");
            if !up && !state.eq_ignore_ascii_case("down") {
                let what = is_not(state, "a state");
                return Err(line.wrong(what, "a link goes `up` or `down`"));
            }
            let bytes_per_s =
                interface.first().and_then(|word| plain_number(word)).filter(|rate| *rate > 0.0);
            let rate = bytes_per_s.map(|rate| BitRate((rate * 8.0).round().min(1e15) as u64));
            let interface = interface.first().filter(|_| rate.is_none()).map(|&name| name.to_owned());
            Ok(EventKind::Connection { a: address(line, a)?, b: address(line, b)?, up, interface, rate })
        }
        _ => match DECISIONS.iter().find(|known| known.0 == action) {
            Some((name, words)) if rest.len() >= *words => Ok(EventKind::Decision(name)),
            None if !matches!(action, "C" | "CONN") => Err(line.wrong(is_not(action, "an action"), ACTIONS)),
            _ => Err(line.wrong(
                format!("the event `{action}` is cut short"),
                "C MESSAGE FROM TO SIZE, CONN A B up|down, S|DE|A MESSAGE FROM TO, DR|R MESSAGE HOST",
            )),
        },
    }
}

/// A host's address: the digits at the end of its name.
fn address(line: &Line, word: &str) -> Result<u32> {
    let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
    // A name may have a hyphen; a sign before the number is not a name.
    let is_host = !digits.is_empty() && !word.starts_with(['-', '+']);
    digits
        .parse()
        .ok()
        .filter(|_| is_host)
        .ok_or_else(|| line.wrong(is_not(word, "a host"), "a host is an address such as 12 or n12"))
}

/// Gives connections that state no rate the lower one of both hosts' first interfaces, or of those that they name;
/// connections of hosts without such an interface keep none.
pub fn at_rates_of_radios(events: &mut [ExternalEvent], groups: &[Group]) {
    let hosts: Vec<&Group> =
        groups.iter().flat_map(|group| std::iter::repeat_n(group, group.nodes.len())).collect();
    for event in events {
        let EventKind::Connection { a, b, interface, rate, .. } = &mut event.kind else { continue };
        let of = |host: u32| {
            let radios = &hosts.get(host as usize)?.radios;
            let named = |name: &String| radios.iter().find(|radio| radio.name == *name);
            let radio: Option<&Radio> = interface.as_ref().map_or_else(|| radios.first(), named);
            radio.map(|radio| radio.rate)
        };
        *rate = rate.or_else(|| Some(of(*a)?.min(of(*b)?)));
    }
}

/// The events that The ONE executes in a world with this number of hosts, and the number of those that are skipped, wholly or in
/// part, by reason. With `needs_rate` connections without a rate are skipped.
pub fn executed(
    mut events: Vec<ExternalEvent>,
    hosts: u32,
    needs_rate: bool,
) -> (Vec<ExternalEvent>, BTreeMap<&'static str, usize>) {
    let mut skipped = BTreeMap::new();
    events.retain_mut(|event| honour(event, hosts, needs_rate, &mut skipped));
    (events, skipped)
}

/// Whether an event is executed.
fn honour(
    event: &mut ExternalEvent,
    hosts: u32,
    needs_rate: bool,
    skipped: &mut BTreeMap<&'static str, usize>,
) -> bool {
    let mut count = |why| *skipped.entry(why).or_default() += 1;
    let (ends, rate) = match &mut event.kind {
        EventKind::Decision(_) => {
            count(
                "that command routers (S, DE, A, DR, R) are skipped: the routers of the groups decide themselves",
            );
            return false;
        }
        EventKind::Create { from, to, response, .. } => {
            if std::mem::take(response) {
                count("of messages that ask for a response: they are sent without one");
            }
            ([*from, *to], true)
        }
        EventKind::Connection { a, b, rate, up, .. } => ([*a, *b], rate.is_some() || !*up || !needs_rate),
    };
    let fault = if ends.iter().any(|&end| end >= hosts) {
        Some("with hosts that do not exist are skipped; The ONE stops at the first of them")
    } else if ends[0] == ends[1] {
        Some("from a host to itself are skipped")
    } else if !rate {
        Some("of hosts without that interface are skipped; The ONE stops at the first of them")
    } else {
        None
    };
    fault.into_iter().for_each(count);
    fault.is_none()
}

/// The contacts that `CONN` events make. As in The ONE, what is up already does not come up again,
/// and what is down does not go down; a link that never goes down stays until the end.
///
/// # Errors
/// A link from a host to itself.
pub fn connections(events: &[ExternalEvent]) -> Result<Vec<ContactRow>> {
    let mut found = Connected::default();
    events.iter().try_for_each(|event| found.add(event))?;
    Ok(found.rows())
}

/// The contacts that the `CONN` events of a file make, as [`the_one_events`] and [`connections`] find them.
///
/// # Errors
/// As those.
pub fn connection_rows(file: &str, bytes: &[u8]) -> Result<Vec<ContactRow>> {
    let lines = Lines::new(file, bytes)?;
    let mut found = Connected { rows: Vec::with_capacity(lines.count_max() / 2), ..Connected::default() };
    each_event(&lines, |event| found.add(&event))?;
    Ok(found.rows())
}

/// Contacts as far as events have made them.
#[derive(Default)]
struct Connected {
    rows: Vec<ContactRow>,
    /// Which row is up, by pair.
    open: HashMap<(u32, u32), usize>,
}

impl Connected {
    fn add(&mut self, event: &ExternalEvent) -> Result<()> {
        let EventKind::Connection { a, b, up, rate, .. } = event.kind else { return Ok(()) };
        if a == b {
            return event.place.refuse("the host meets itself", "name two hosts");
        }
        let pair = (a.min(b), a.max(b));
        if !up {
            if let Some(index) = self.open.remove(&pair) {
                self.rows[index].end = event.at;
            }
        } else if !self.open.contains_key(&pair) {
            self.open.insert(pair, self.rows.len());
            let (place, end) = (event.place.clone(), Instant::MAX);
            let [a, b] = [a, b].map(Id::Number);
            self.rows.push(ContactRow { place, a, b, start: event.at, end, rate, delay: None });
        }
        Ok(())
    }
    /// A link that went up and down at one instant never carried anything.
    fn rows(mut self) -> Vec<ContactRow> {
        self.rows.retain(|row| row.end > row.start);
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_come_up_and_go_down_and_the_last_one_stays() {
        let events =
            the_one_events("f", b"1 CONN n0 n1 up\n2 CONN 0 1 up\n3 CONN 1 0 DOWN\n4 CONN 2 0 up wifi\n")
                .unwrap();
        let rows = connections(&events).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].start, rows[0].end), (Instant::from_secs(1), Instant::from_secs(3)));
        assert_eq!((&rows[1].a, rows[1].end), (&Id::Number(2), Instant::MAX));
    }

    #[test]
    fn messages_are_created_and_decisions_of_other_runs_are_recognised() {
        let events = the_one_events("f", b"1.5 C M1 p3 4 500\n2 S M1 3 4\n3 DR * 4\n").unwrap();
        let size = Bytes(500);
        let response = false;
        assert_eq!(
            events[0].kind,
            EventKind::Create { message: "M1".into(), from: 3, to: 4, size, response }
        );
        assert_eq!(
            (&events[1].kind, &events[2].kind),
            (&EventKind::Decision("S"), &EventKind::Decision("DR"))
        );
    }

    #[test]
    fn streamed_connections_state_their_rate_and_sizes_may_have_a_suffix() {
        let events =
            the_one_events("f", b"1 CONN 0 1 up 250000\n2 C M1 0 1 50k 9\n3 CONN 0 1 down\n").unwrap();
        assert_eq!(connections(&events).unwrap()[0].rate, Some(BitRate(2_000_000)));
        let EventKind::Create { size, response, .. } = events[1].kind else { panic!("{:?}", events[1]) };
        assert_eq!((size, response), (Bytes(50_000), true));
    }

    #[test]
    fn what_is_no_event_is_an_error_with_its_line() {
        let refusal = |text: &str| the_one_events("f", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            refusal("1 CONN 0 1 sideways"),
            "f:1: `sideways` is not a state; a link goes `up` or `down`"
        );
        assert_eq!(
            refusal("2 CONN 0 1 up\n1 CONN 0 1 down"),
            "f:2: the event is earlier than the one before it; sort the lines by time"
        );
        for bad in [
            "1",
            "1 X 2 3",
            "1 C M 0 1",
            "1 C M 0 1 -5",
            "1 C M a b 5",
            "x CONN 0 1 up",
            "1 CONN 0",
            "1 CONN -1 0 up",
        ] {
            assert!(refusal(bad).starts_with("f:1: "), "{bad}");
        }
        let itself = the_one_events("f", b"1 CONN 3 3 up").unwrap();
        assert!(connections(&itself).is_err());
    }
}
