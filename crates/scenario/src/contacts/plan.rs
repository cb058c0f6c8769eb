//! Contact plans as senders of the real world follow them: whatever the format, contacts in one direction each.

use super::{ContactRow, Format, Id, IonPlan, Recorded, connection_rows, ion, table, trace};
use crate::error::{Error, Place, Result, quoted};
use crate::model::BundleNetwork;
use crate::{ScenarioFile, files};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;
use std::collections::BTreeSet;
use std::path::Path;

/// A contact in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedContact {
    /// Where it stands.
    pub place: Place,
    /// The sender.
    pub from: String,
    /// The receiver.
    pub to: String,
    /// When it starts.
    pub start: Instant,
    /// When it ends; [`Instant::MAX`] where the text does not say.
    pub end: Instant,
    /// Its rate, if stated.
    pub rate: Option<BitRate>,
    /// Light-time RTT, if stated: the greatest of the contact.
    pub light: Option<Duration>,
}

/// The contacts of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContactPlan {
    /// In the order of the file.
    pub contacts: Vec<PlannedContact>,
    /// Seconds from 1970 to [`Instant::ZERO`]; `None`: all times are relative.
    pub epoch_s: Option<i64>,
}

const FORMATS: &str = "a contact plan is a scenario in TOML with [contacts.NAME], ION's `a contact` and `a range` lines, \
                       a table with the header start_s,end_s,a,b,owlt_s,rate_bps, The ONE's CONN events, or lines of \
                       NODE NODE START END";

/// Lines of `NODE NODE START END`, which state no rate.
fn of_intervals(file: &str, bytes: &[u8]) -> Result<Vec<ContactRow>> {
    let format = Format::new(Recorded::Intervals, None, Duration::from_secs(1));
    let format = format.map_err(|wrong| Error::at(&Place::File(file.into()), wrong))?;
    let trace = trace(file, bytes, &format)?;
    let lasting = trace.meetings.iter().filter(|meeting| meeting.end > meeting.start);
    let row = |meeting: &super::Meeting| {
        let id = |at: u32| (&*trace.ids[at as usize]).into();
        ContactRow {
            place: trace.place(meeting.line),
            a: id(meeting.a),
            b: id(meeting.b),
            start: meeting.start,
            end: meeting.end,
            rate: None,
            delay: None,
        }
    };
    Ok(lasting.map(row).collect())
}

impl ContactPlan {
    /// Reads a plan in any format that scenarios read; the content says which.
    ///
    /// # Errors
    /// It cannot be read, is in no such format, or the first line that does not fit.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let place = Place::File(file.as_str().into());
        if path.extension().is_some_and(|end| end == "toml") {
            let points = ScenarioFile::read(&[path])?.points()?;
            let network = points.list.first().and_then(|point| point.scenario.bundles());
            return network.map(Self::of_network).ok_or_else(|| {
                Error::new(&place, "the scenario has no nodes with contacts", "add a table [contacts.NAME]")
            });
        }
        Self::of_bytes(&file, &files::read(path, &place)?)
    }
    fn of_bytes(file: &str, bytes: &[u8]) -> Result<Self> {
        let lines = super::Lines::new(file, bytes)?;
        let starts = |words: &[&str]| lines.iter().any(|line| line.words.starts_with(words));
        let first = lines.iter().next().map_or_else(Vec::new, |line| line.words);
        let rows = if starts(&["a", "contact"]) {
            return Ok(Self::of_ion(&ion(file, bytes)?));
        } else if first.iter().any(|word| word.contains(',')) {
            table(file, bytes)?
        } else if first.get(1).is_some_and(|word| *word == "CONN") {
            connection_rows(file, bytes)?
        } else if first.len() >= 4 {
            of_intervals(file, bytes)?
        } else {
            return Err(Error::new(&Place::File(file.into()), "it is in no known format", FORMATS));
        };
        Ok(Self { contacts: rows.iter().flat_map(both).collect(), epoch_s: None })
    }
    fn of_ion(plan: &IonPlan) -> Self {
        let one_way = |from: &Id, to: &Id, start: Instant, end: Instant| {
            let of = plan.ranges.iter().filter(|range| range.a == *from && range.b == *to);
            of.filter(|range| range.start < end && range.end > start).filter_map(|range| range.delay).max()
        };
        let contacts = plan.contacts.iter().map(|contact| {
            let (from, to, start, end) = (&contact.a, &contact.b, contact.start, contact.end);
            let (there, back) = (one_way(from, to, start, end), one_way(to, from, start, end));
            let light = there.or(back).zip(back.or(there)).map(|(there, back)| there + back);
            let (place, rate) = (contact.place.clone(), contact.rate);
            let [from, to] = [from, to].map(Id::to_string);
            PlannedContact { place, from, to, start, end, rate, light }
        });
        Self { contacts: contacts.collect(), epoch_s: plan.epoch_s }
    }
    fn of_network(network: &BundleNetwork) -> Self {
        let names: Vec<&String> = network.groups.iter().flat_map(|group| &group.nodes).collect();
        let mut contacts = Vec::new();
        let happening = network.contacts.iter().filter(|source| source.happens);
        for told in happening.flat_map(|source| source.list.iter()) {
            let light = [&told.forward, &told.backward].map(|way| way.delay.greatest(told.start, told.end));
            let ends = [(told.a, told.b, &told.forward), (told.b, told.a, &told.backward)];
            for (from, to, way) in ends.into_iter().filter(|(.., way)| way.rate > BitRate(0)) {
                contacts.push(PlannedContact {
                    place: told.place.clone(),
                    from: names[from as usize].clone(),
                    to: names[to as usize].clone(),
                    start: told.start,
                    end: told.end,
                    rate: Some(way.rate),
                    light: Some(light[0] + light[1]),
                });
            }
        }
        Self { contacts, epoch_s: None }
    }

    /// The contacts from one node to another, in order of time; `None`: of the one pair that the plan has.
    ///
    /// # Errors
    /// No contact exists, several pairs have contacts, one has no rate, or two overlap.
    pub fn between(&self, file: &Path, nodes: Option<(&str, &str)>) -> Result<Vec<PlannedContact>> {
        let place = Place::File(file.display().to_string().into());
        let (from, to) = nodes.map_or_else(|| self.only_direction(&place), Ok)?;
        let of = self.contacts.iter().filter(|contact| contact.from == from && contact.to == to);
        let mut contacts: Vec<_> = of.cloned().collect();
        contacts.sort_by_key(|contact| contact.start);
        if contacts.is_empty() {
            let what = format!("the plan has no contact from {} to {}", quoted(from), quoted(to));
            return Err(Error::new(&place, what, format!("name two of {}", self.names())));
        }
        if let Some(bare) = contacts.iter().find(|contact| contact.rate.is_none()) {
            let right = "write it as ION's `a contact` line, or in a table with the column rate_bps";
            return Err(Error::new(&bare.place, "the contact has no rate", right));
        }
        match contacts.windows(2).find(|two| two[1].start < two[0].end) {
            Some(two) => {
                let what = format!("the contact overlaps that of {} in the same direction", two[0].place);
                Err(Error::new(&two[1].place, what, "contacts of one direction must not overlap"))
            }
            None => Ok(contacts),
        }
    }
    /// Both directions of a pair must be alike, or only one of them be there.
    fn only_direction(&self, place: &Place) -> Result<(&str, &str)> {
        let wrong = |what: &str| Error::new(place, what, "say which: --plan-nodes FROM,TO");
        let Some(first) = self.contacts.first() else {
            return Err(Error::new(place, "the plan has no contacts", FORMATS));
        };
        let (from, to) = (first.from.as_str(), first.to.as_str());
        let is = |contact: &&PlannedContact, from: &str, to: &str| contact.from == from && contact.to == to;
        let times = |from: &str, to: &str| -> BTreeSet<_> {
            let of = self.contacts.iter().filter(|contact| is(contact, from, to));
            of.map(|contact| (contact.start, contact.end, contact.rate)).collect()
        };
        if !self.contacts.iter().all(|contact| is(&contact, from, to) || is(&contact, to, from)) {
            return Err(wrong(&format!("the plan has contacts of several pairs of {}", self.names())));
        }
        let back = times(to, from);
        if !back.is_empty() && back != times(from, to) {
            return Err(wrong("the two directions have different contacts"));
        }
        Ok((from, to))
    }
    /// The nodes, a few of them.
    fn names(&self) -> String {
        let all = self.contacts.iter().flat_map(|contact| [contact.from.as_str(), contact.to.as_str()]);
        let all: BTreeSet<&str> = all.collect();
        let shown: Vec<&str> = all.iter().copied().take(NAMES_SHOWN).collect();
        let more = if all.len() > NAMES_SHOWN { ", ..." } else { "" };
        shown.join(", ") + more
    }
}

/// Of more nodes than this a message names the first.
const NAMES_SHOWN: usize = 12;

/// A contact in both directions, whose light time is the same.
fn both(row: &ContactRow) -> [PlannedContact; 2] {
    [(&row.a, &row.b), (&row.b, &row.a)].map(|(from, to)| PlannedContact {
        place: row.place.clone(),
        from: from.to_string(),
        to: to.to_string(),
        start: row.start,
        end: row.end,
        rate: row.rate,
        light: row.delay.map(|delay| delay * 2),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Start and end in seconds, bit/s, and the light-time round trip in seconds.
    type Shown = (i64, i64, u64, Option<f64>);

    fn told(text: &str, nodes: Option<(&str, &str)>) -> Result<Vec<Shown>> {
        let contacts = ContactPlan::of_bytes("f", text.as_bytes())?.between(Path::new("f"), nodes)?;
        let seconds = |at: Instant| at.as_nanos() / 1_000_000_000;
        let show = |contact: PlannedContact| {
            let light = contact.light.map(Duration::as_secs_f64);
            (seconds(contact.start), seconds(contact.end), contact.rate.unwrap_or(BitRate(0)).0, light)
        };
        Ok(contacts.into_iter().map(show).collect())
    }
    fn wrong(text: &str, nodes: Option<(&str, &str)>) -> String {
        told(text, nodes).unwrap_err().to_string()
    }

    #[test]
    fn the_content_says_the_format() {
        let ionrc = "1 1 ''\na contact +5 +9 1 2 1000\na contact +0 +2 1 2 500\na range +0 +9 1 2 60\n";
        assert_eq!(told(ionrc, None).unwrap(), [(0, 2, 4000, Some(120.0)), (5, 9, 8000, Some(120.0))]);
        let csv = "start_s,end_s,a,b,owlt_s,rate_bps\n1,2,x,y,3,64\n1,2,x,z,3,64\n";
        assert_eq!(told(csv, Some(("y", "x"))).unwrap(), [(1, 2, 64, Some(6.0))]);
        let absolute = "a contact 2026/11/24-10:00:00 2026/11/24-10:00:05 1 2 1\n";
        let plan = ContactPlan::of_bytes("f", absolute.as_bytes()).unwrap();
        assert_eq!(plan.epoch_s, Some(1_795_514_400));
        assert!(wrong("hello\n", None).starts_with("f: it is in no known format; "));
    }

    #[test]
    fn contacts_without_a_rate_and_unclear_directions_are_errors() {
        assert!(wrong("0 CONN 1 2 up\n", None).starts_with("f:1: the contact has no rate; "));
        assert!(wrong("1 2 0 5\n", None).starts_with("f:1: the contact has no rate; "));
        let both = "a contact +0 +9 1 2 5\na contact +1 +9 2 1 5\n";
        assert!(
            wrong(both, None).contains("two directions have different contacts; say which: --plan-nodes")
        );
        assert_eq!(told(both, Some(("2", "1"))).unwrap(), [(1, 9, 40, None)]);
        let three = "a contact +0 +9 1 2 5\na contact +1 +9 1 3 5\n";
        assert!(wrong(three, None).contains("several pairs of 1, 2, 3"));
        assert_eq!(
            wrong(three, Some(("3", "1"))),
            "f: the plan has no contact from `3` to `1`; name two of 1, 2, 3"
        );
        let twice = "a contact +0 +9 1 2 5\na contact +8 +20 1 2 5\n";
        assert!(wrong(twice, None).starts_with("f:2: the contact overlaps that of f:1"));
    }
}
