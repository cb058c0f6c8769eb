//! From a recorded trace to contacts between nodes: which devices are nodes, how long a sighting lasts, and what both devices
//! of a pair report joined to one contact.

use super::trace::{Meeting, Trace};
use super::{Moved, Nodes, Resolver};
use crate::error::{Place, Result, Wrong, quoted};
use crate::files::in_order;
use crate::model::ScheduledContact;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_worlds::contacts::Channel;
use std::collections::BTreeMap;

/// Which node a device of a trace is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ids {
    /// The node of its name, or of its number from `first_id` on.
    #[default]
    Named,
    /// The node of its rank among all devices of the file: numbers in order, then names.
    All,
    /// The node of its place in this list.
    Listed(Vec<String>),
}

/// What a scenario says of a trace.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Which devices are nodes.
    pub ids: Ids,
    /// How long a sighting without a duration lasts; without this, the scan interval that the trace shows.
    pub sighting: Option<Duration>,
    /// The run starts at the first contact, not at the resolver's origin.
    pub from_first: bool,
    /// What became of positions, if the trace has any.
    pub moved: Option<Moved>,
    /// The longest time between two positions in which a device is not absent.
    pub gap: Duration,
    /// Where the scenario says so.
    pub place: Place,
}

/// A meeting between nodes.
struct Met {
    pair: (u32, u32),
    meeting: Meeting,
    /// The node named first is the greater one.
    turned: bool,
}

impl Met {
    /// The node that the line names first, and the other.
    fn ends(&self) -> (u32, u32) {
        if self.turned { (self.pair.1, self.pair.0) } else { self.pair }
    }
}

/// Contacts of a trace, and a line on what became of it.
///
/// # Errors
/// Unknown devices, a missing rate, a sighting whose duration nothing shows.
pub fn from_trace(
    trace: &Trace,
    taken: &Taken,
    resolver: &Resolver,
) -> Result<(Vec<ScheduledContact>, String)> {
    let mut tally = Tally::default();
    let mut met = met(trace, taken, resolver.nodes, &mut tally)?;
    tally.extend(trace, &mut met, taken)?;
    met.sort_unstable_by_key(|met| (met.pair, met.meeting.start, met.meeting.line));
    let kept = met.len();
    join(&mut met);
    tally.joined = kept - met.len();
    let first = met.iter().map(|met| met.meeting.start).min().unwrap_or(resolver.origin);
    let origin = if taken.from_first { first } else { resolver.origin };
    let resolver = Resolver { origin, ..*resolver };
    let joined = met.len();
    // Contacts are in order of their start within the run, and are larger than what is sorted here.
    met.sort_unstable_by_key(|met| (met.meeting.start.max(origin), met.ends()));
    let mut told = Vec::with_capacity(joined);
    for met in &met {
        told.extend(contact(trace, met, &resolver)?);
    }
    tally.outside = joined - told.len();
    let line = tally.line(trace, taken, &told, origin);
    Ok((told, line))
}

/// The part of a meeting that lies in the run.
fn contact(trace: &Trace, met: &Met, resolver: &Resolver) -> Result<Option<ScheduledContact>> {
    let Meeting { line, start, end, .. } = met.meeting;
    let Some((start, end)) = resolver.clip(start, end) else { return Ok(None) };
    let (a, b) = met.ends();
    let place = trace.place(line);
    let way = |from, to| -> Result<Channel> { resolver.way(from, to, None, None, &place) };
    let (forward, backward) = (way(a, b)?, way(b, a)?);
    Ok(Some(ScheduledContact { place, a, b, start, end, forward, backward }))
}

/// Joins the meetings of a pair that overlap or touch; they are in order of pair and start.
fn join(met: &mut Vec<Met>) {
    met.dedup_by(|later, kept| {
        let joins = later.pair == kept.pair && later.meeting.start <= kept.meeting.end;
        if joins {
            kept.meeting.end = kept.meeting.end.max(later.meeting.end);
        }
        joins
    });
}

/// The meetings between nodes.
fn met(trace: &Trace, taken: &Taken, nodes: &Nodes, tally: &mut Tally) -> Result<Vec<Met>> {
    let node_of = taken.ids.nodes(trace, nodes).map_err(|wrong| crate::Error::at(&taken.place, wrong))?;
    let mut met = Vec::with_capacity(trace.meetings.len());
    for meeting in &trace.meetings {
        let node = |id: u32| match node_of[id as usize] {
            None if !nodes.skip_unknown => {
                let wrong = taken.ids.unknown(trace, nodes, &trace.ids[id as usize]);
                Err(crate::Error::at(&trace.place(meeting.line), wrong))
            }
            found => Ok(found),
        };
        match (node(meeting.a)?, node(meeting.b)?) {
            (Some(a), Some(b)) if a == b => tally.with_itself += 1,
            (Some(a), Some(b)) => {
                met.push(Met { pair: (a.min(b), a.max(b)), meeting: *meeting, turned: a > b });
            }
            _ => tally.unknown += 1,
        }
    }
    tally.external = node_of.iter().filter(|node| node.is_none()).count();
    Ok(met)
}

impl Ids {
    /// The node of each identifier of the trace.
    fn nodes(&self, trace: &Trace, nodes: &Nodes) -> std::result::Result<Vec<Option<u32>>, Wrong> {
        match self {
            Self::Named => Ok(trace.ids.iter().map(|id| nodes.find(id)).collect()),
            Self::All => {
                let mut order: Vec<usize> = (0..trace.ids.len()).collect();
                order.sort_by_cached_key(|&at| {
                    let id = &*trace.ids[at];
                    (id.parse::<u64>().map_or((1, 0), |n| (0, n)), in_order(id), id)
                });
                let mut found = vec![None; order.len()];
                for (at, rank) in order.into_iter().zip(0..nodes.count) {
                    found[at] = Some(rank);
                }
                Ok(found)
            }
            Self::Listed(list) => {
                let known: BTreeMap<&str, u32> = list.iter().map(String::as_str).zip(0..).collect();
                let appear: std::collections::BTreeSet<&str> = trace.ids.iter().map(|id| &**id).collect();
                let right = "name each device of the file once, in the order of the nodes";
                if known.len() < list.len() {
                    return Err(Wrong::new("`ids` names a device twice", right));
                }
                if let Some(missing) = list.iter().find(|id| !appear.contains(id.as_str())) {
                    let what = format!("`ids` names {}, which the file does not", quoted(missing));
                    return Err(Wrong::new(what, right));
                }
                if list.len() > nodes.count as usize {
                    let what =
                        format!("`ids` names {} devices, and there are {} nodes", list.len(), nodes.count);
                    return Err(Wrong::new(what, "give the scenario a node for each"));
                }
                Ok(trace.ids.iter().map(|id| known.get(&**id).copied()).collect())
            }
        }
    }
    fn unknown(&self, trace: &Trace, nodes: &Nodes, id: &str) -> Wrong {
        let skip = "or say `unknown_nodes = \"skip\"` to drop contacts with other devices";
        match self {
            Self::Named => {
                let Wrong { what, right } = nodes.unknown(id);
                Wrong::new(
                    what,
                    format!("{right}, or say `ids = \"all\"` to make a node of each device, {skip}"),
                )
            }
            Self::All => Wrong::new(
                format!("the file has {} devices, and there are {} nodes", trace.ids.len(), nodes.count),
                format!("give the scenario a node for each, {skip}"),
            ),
            Self::Listed(_) => {
                Wrong::new(format!("{} is not among `ids`", quoted(id)), format!("add it, {skip}"))
            }
        }
    }
}

/// What became of the lines of a trace.
#[derive(Default)]
struct Tally {
    unknown: usize,
    external: usize,
    with_itself: usize,
    extended: usize,
    lasts: Duration,
    is_estimated: bool,
    joined: usize,
    outside: usize,
}

impl Tally {
    /// Gives sightings without a duration the one of the scenario, or else the scan interval of the trace.
    fn extend(&mut self, trace: &Trace, met: &mut [Met], taken: &Taken) -> Result<()> {
        let brief = || met.iter().filter(|met| met.meeting.end == met.meeting.start);
        self.extended = brief().count();
        let Some(first) = brief().next() else { return Ok(()) };
        let lasts = taken.sighting.or_else(|| scan_interval(trace));
        let Some(lasts) = lasts else {
            let what = "the sighting has no duration, and the file does not show how often its devices scan";
            return trace
                .place(first.meeting.line)
                .refuse(what, "say how long one lasts, as `sighting = \"120 s\"`");
        };
        (self.lasts, self.is_estimated) = (lasts, taken.sighting.is_none());
        for met in met.iter_mut().filter(|met| met.meeting.end == met.meeting.start) {
            met.meeting.end = met.meeting.start.saturating_add(lasts);
        }
        Ok(())
    }
    fn line(&self, trace: &Trace, taken: &Taken, told: &[ScheduledContact], origin: Instant) -> String {
        let mut parts = Vec::new();
        if trace.tracks > 0 {
            parts.push(counted(trace.tracks, "track"));
        }
        parts.push(match taken.moved {
            None => format!("{} lines", trace.meetings.len()),
            Some(_) => format!(
                "{} of {}",
                counted(trace.fixes.len() + taken.moved.unwrap_or_default().repeated, "position"),
                counted(trace.ids.len(), "device")
            ),
        });
        if trace.headers > 0 {
            parts.push(counted(trace.headers, "header"));
        }
        let mut add = |count: usize, text: String| {
            if count > 0 {
                parts.push(format!("{count} {text}"));
            }
        };
        let moved = taken.moved.unwrap_or_default();
        add(trace.timeless, "points without a time dropped".to_owned());
        add(moved.repeated, "positions replaced by a later line of their device and time".to_owned());
        add(moved.gaps, format!("absences, longer than `gap` = {} s", taken.gap.as_secs_f64()));
        add(self.unknown, format!("dropped, with {} devices that are not nodes", self.external));
        add(self.with_itself, "dropped, of a node with itself".to_owned());
        let source =
            if self.is_estimated { "the scan interval as estimated from the file" } else { "by `sighting`" };
        let lasts = self.lasts.as_secs_f64();
        add(self.extended, format!("without a duration last {lasts} s, {source}"));
        add(self.joined, "joined with others of their pair".to_owned());
        add(self.outside, "contacts outside the run".to_owned());
        let mut nodes: Vec<u32> = told.iter().flat_map(|contact| [contact.a, contact.b]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let start = if origin > Instant::ZERO {
            format!(", run from {} s", origin.as_secs_f64())
        } else {
            String::new()
        };
        let longest = told.iter().map(|contact| contact.end - contact.start).max().unwrap_or_default();
        let longest = match longest.as_secs_f64() / 86_400.0 {
            ..=1.0 => String::new(),
            days => format!(", the longest of {days:.1} days"),
        };
        format!(
            "{}: {}: {} of {}{longest}{start}",
            trace.name(),
            parts.join("; "),
            counted(told.len(), "contact"),
            counted(nodes.len(), "node")
        )
    }
}

/// A number of things.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How often devices scan, as far as a trace shows it: the lower quartile of its durations or, if it has none, of the times from one
/// sighting of a pair to the next. Short contacts last for two scans, and are the most.
fn scan_interval(trace: &Trace) -> Option<Duration> {
    let lasting = trace.meetings.iter().map(|meeting| meeting.end - meeting.start);
    let mut spans: Vec<Duration> = lasting.filter(|span| *span > Duration::ZERO).collect();
    if spans.is_empty() {
        let mut seen: Vec<(u32, u32, Instant)> =
            trace.meetings.iter().map(|m| (m.a.min(m.b), m.a.max(m.b), m.start)).collect();
        seen.sort_unstable();
        let next = seen.windows(2).filter(|two| (two[0].0, two[0].1) == (two[1].0, two[1].1));
        spans = next.map(|two| two[1].2 - two[0].2).filter(|span| *span > Duration::ZERO).collect();
    }
    let at = spans.len() / 4;
    (!spans.is_empty()).then(|| *spans.select_nth_unstable(at).1)
}

#[cfg(test)]
mod tests {
    use super::super::{Channels, Format, Recorded, WayDefault, trace};
    use super::*;
    use lightlag_protocols::units::BitRate;

    const SECOND: Duration = Duration::from_secs(1);

    fn taken(ids: Ids, sighting: Option<i64>) -> Taken {
        let sighting = sighting.map(Duration::from_secs);
        Taken {
            ids,
            sighting,
            from_first: false,
            moved: None,
            gap: Duration::ZERO,
            place: Place::Line("s.toml".into(), 9),
        }
    }

    /// Start and end in seconds and nodes of the contacts, and what the line says after the file's name.
    fn read(
        text: &str,
        recorded: Recorded,
        taken: &Taken,
        skip_unknown: bool,
    ) -> Result<(Vec<[u64; 4]>, String)> {
        let format = Format::new(recorded, None, SECOND).unwrap();
        let found = trace("f", text.as_bytes(), &format).unwrap();
        let nodes = Nodes { count: 3, first_id: 1, skip_unknown, ..Nodes::default() };
        let default = WayDefault { rate: Some(BitRate(8)), delay: None };
        let channels = Channels { default, ..Channels::default() };
        let resolver = Resolver {
            nodes: &nodes,
            channels: &channels,
            until: Instant::from_secs(1000),
            origin: Instant::ZERO,
        };
        let (told, line) = from_trace(&found, taken, &resolver)?;
        let s = |at: Instant| at.as_nanos() as u64 / 1_000_000_000;
        let shown = told.iter().map(|c| [s(c.start), s(c.end), u64::from(c.a), u64::from(c.b)]);
        Ok((shown.collect(), line.trim_start_matches("f: ").to_owned()))
    }

    #[test]
    fn what_both_devices_report_is_joined_and_external_devices_are_dropped_and_counted() {
        let text =
            "1 2 10 100 1 0\n2 1 90 130 1 0\n1 2 130 140 2 0\n1 2 141 150 3 1\n3 3 5 9 1 0\n1 44 5 9 1 0\n";
        let (told, line) = read(text, Recorded::Intervals, &taken(Ids::Named, None), true).unwrap();
        assert_eq!(told, [[10, 140, 0, 1], [141, 150, 0, 1]], "touching ones are joined too");
        assert_eq!(
            line,
            "6 lines; 1 dropped, with 1 devices that are not nodes; 1 dropped, of a node with itself; \
             2 joined with others of their pair: 2 contacts of 2 nodes"
        );
        let error = read(text, Recorded::Intervals, &taken(Ids::Named, None), false).unwrap_err().to_string();
        assert_eq!(
            error,
            "f:6: unknown node `44`; name a node, or number one from 1 to 3, \
             or say `ids = \"all\"` to make a node of each device, \
             or say `unknown_nodes = \"skip\"` to drop contacts with other devices"
        );
    }

    #[test]
    fn a_sighting_lasts_as_the_scenario_says_or_as_the_devices_scan() {
        let text = "1 2 10 10\n2 3 20 140\n1 3 500 625\n1 2 990 990\n1 2 2000 2000\n";
        let (told, line) = read(text, Recorded::Intervals, &taken(Ids::Named, Some(30)), false).unwrap();
        assert_eq!(told, [[10, 40, 0, 1], [20, 140, 1, 2], [500, 625, 0, 2], [990, 1000, 0, 1]]);
        assert!(
            line.contains("3 without a duration last 30 s, by `sighting`; 1 contacts outside the run"),
            "{line}"
        );
        let (told, line) = read(text, Recorded::Intervals, &taken(Ids::Named, None), false).unwrap();
        assert_eq!(told[0], [10, 130, 0, 1], "the lower quartile of 120 s and 125 s");
        assert!(line.contains("last 120 s, the scan interval as estimated from the file"), "{line}");
    }

    #[test]
    fn sightings_every_20_s_become_one_contact() {
        let text = "0 2 1\n20 1 2\n40 1 2\n100 1 2\n100 2 3\n120 2 3\n";
        let (told, _) = read(text, Recorded::Sightings, &taken(Ids::Named, None), false).unwrap();
        assert_eq!(told, [[0, 60, 1, 0], [100, 120, 0, 1], [100, 140, 1, 2]]);
        let error =
            read("5 1 2\n", Recorded::Sightings, &taken(Ids::Named, None), false).unwrap_err().to_string();
        assert!(
            error.starts_with("f:1: the sighting has no duration, and the file does not show"),
            "{error}"
        );
        assert!(error.ends_with("say how long one lasts, as `sighting = \"120 s\"`"), "{error}");
    }

    #[test]
    fn devices_become_nodes_by_rank_or_by_a_list() {
        let text = "1148 99 0 10\nab 1148 20 30\n";
        let all = read(text, Recorded::Intervals, &taken(Ids::All, None), false).unwrap().0;
        assert_eq!(all, [[0, 10, 1, 0], [20, 30, 2, 1]], "numbers in order, then names");
        let names =
            read("bus10 bus2 0 10\nbus2 bus1 20 30\n", Recorded::Intervals, &taken(Ids::All, None), false);
        assert_eq!(names.unwrap().0, [[0, 10, 2, 1], [20, 30, 1, 0]], "names in the order of their numbers");
        let list = |ids: &str| Ids::Listed(ids.split(' ').map(str::to_owned).collect());
        let some = read(text, Recorded::Intervals, &taken(list("1148 ab"), None), true).unwrap().0;
        assert_eq!(some, [[20, 30, 1, 0]]);
        for (ids, skip, start) in [
            (list("1148 ab"), false, "f:1: `99` is not among `ids`; "),
            (list("ab ab"), true, "s.toml:9: `ids` names a device twice; "),
            (list("ab x"), true, "s.toml:9: `ids` names `x`, which the file does not; "),
        ] {
            let error = read(text, Recorded::Intervals, &taken(ids, None), skip).unwrap_err().to_string();
            assert!(error.starts_with(start), "{error}");
        }
        let four = "1 2 0 9\n3 4 0 9\n";
        let error = read(four, Recorded::Intervals, &taken(Ids::All, None), false).unwrap_err().to_string();
        assert!(error.starts_with("f:2: the file has 4 devices, and there are 3 nodes; "), "{error}");
        let from_first = Taken { from_first: true, ..taken(Ids::Named, None) };
        let (told, line) = read("1 2 70 80\n2 3 75 90\n", Recorded::Intervals, &from_first, false).unwrap();
        assert_eq!(told, [[0, 10, 0, 1], [5, 20, 1, 2]]);
        assert!(line.ends_with("2 contacts of 3 nodes, run from 70 s"), "{line}");
    }
}
