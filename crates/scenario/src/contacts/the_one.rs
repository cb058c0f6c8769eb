//! The ONE's events: lines of `TIME ACTION ...`, as its `StandardEventsReader` takes them.

use super::{ContactRow, Line, Lines, seconds};
use crate::error::{Place, Result, quoted};
use lightlag_protocols::time::Instant;
use lightlag_protocols::units::Bytes;
use std::collections::BTreeMap;

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
    let mut events: Vec<ExternalEvent> = Vec::new();
    for line in lines.iter() {
        let [time, action, rest @ ..] = &line.words[..] else {
            return Err(line.wrong("the line has no action", ACTIONS));
        };
        let at = seconds(time, &line.place)?;
        if events.last().is_some_and(|before| before.at > at) {
            return Err(line.wrong("the event is earlier than the one before it", "sort the lines by time"));
        }
        let kind = event(&line, action, rest)?;
        events.push(ExternalEvent { place: line.place.clone(), at, kind });
    }
    Ok(events)
}

fn event(line: &Line, action: &str, rest: &[&str]) -> Result<EventKind> {
    match (action, rest) {
        ("C", [message, from, to, size, response @ ..]) => {
            if response.first().is_some_and(|word| *word != "0") {
                return Err(line.wrong(
                    "the message asks for a response, which is not supported",
                    "leave out the seventh word",
                ));
            }
            let size =
                size.parse().ok().filter(|size| (1..=i32::MAX as u64).contains(size)).ok_or_else(|| {
                    line.wrong(format!("{} is no size", quoted(size)), "a size is a whole number of bytes")
                })?;
            let (from, to) = (address(line, from)?, address(line, to)?);
            Ok(EventKind::Create { message: (*message).to_owned(), from, to, size: Bytes(size) })
        }
        ("CONN", [a, b, state, interface @ ..]) => {
            let up = match state.to_ascii_lowercase().as_str() {
                "up" => true,
                "down" => false,
                _ => {
                    return Err(
                        line.wrong(format!("{} is no state", quoted(state)), "a link goes `up` or `down`")
                    );
                }
            };
            let interface = interface.first().map(|&name| name.to_owned());
            Ok(EventKind::Connection { a: address(line, a)?, b: address(line, b)?, up, interface })
        }
        _ => match DECISIONS.iter().find(|known| known.0 == action) {
            Some((name, words)) if rest.len() >= *words => Ok(EventKind::Decision(name)),
            None if !matches!(action, "C" | "CONN") => {
                Err(line.wrong(format!("{} is no action", quoted(action)), ACTIONS))
            }
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
    digits.parse().ok().filter(|_| !digits.is_empty()).ok_or_else(|| {
        line.wrong(format!("{} is no host", quoted(word)), "a host is an address such as 12 or n12")
    })
}

/// The contacts that `CONN` events make. As in The ONE, what is up already does not come up again,
/// and what is down does not go down; a link that never goes down stays until the end.
///
/// # Errors
/// A link from a host to itself.
pub fn connections(events: &[ExternalEvent]) -> Result<Vec<ContactRow>> {
    let mut rows: Vec<ContactRow> = Vec::new();
    let mut open: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for event in events {
        let EventKind::Connection { a, b, up, .. } = event.kind else { continue };
        if a == b {
            return event.place.refuse("the host meets itself", "name two hosts");
        }
        let pair = (a.min(b), a.max(b));
        match (up, open.get(&pair)) {
            (true, None) => {
                open.insert(pair, rows.len());
                rows.push(ContactRow {
                    place: event.place.clone(),
                    a: a.to_string(),
                    b: b.to_string(),
                    start: event.at,
                    end: Instant::MAX,
                    rate: None,
                    delay: None,
                });
            }
            (false, Some(&index)) => {
                rows[index].end = event.at;
                open.remove(&pair);
            }
            _ => {}
        }
    }
    // A link that went up and down at one instant never carried anything.
    rows.retain(|row| row.end > row.start);
    Ok(rows)
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
        assert_eq!((rows[1].a.as_str(), rows[1].end), ("2", Instant::MAX));
    }

    #[test]
    fn messages_are_created_and_decisions_of_other_runs_are_recognised() {
        let events = the_one_events("f", b"1.5 C M1 p3 4 500\n2 S M1 3 4\n3 DR * 4\n").unwrap();
        let size = Bytes(500);
        assert_eq!(events[0].kind, EventKind::Create { message: "M1".into(), from: 3, to: 4, size });
        assert_eq!(
            (&events[1].kind, &events[2].kind),
            (&EventKind::Decision("S"), &EventKind::Decision("DR"))
        );
    }

    #[test]
    fn what_is_no_event_is_an_error_with_its_line() {
        let told = |text: &str| the_one_events("f", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(told("1 CONN 0 1 sideways"), "f:1: `sideways` is no state; a link goes `up` or `down`");
        assert_eq!(
            told("2 CONN 0 1 up\n1 CONN 0 1 down"),
            "f:2: the event is earlier than the one before it; sort the lines by time"
        );
        for bad in ["1", "1 X 2 3", "1 C M 0 1", "1 C M 0 1 -5", "1 C M a b 5", "x CONN 0 1 up", "1 CONN 0"] {
            assert!(told(bad).starts_with("f:1: "), "{bad}");
        }
        let itself = the_one_events("f", b"1 CONN 3 3 up").unwrap();
        assert!(connections(&itself).is_err());
    }
}
