//! From rows with identifiers to contacts between nodes with rates and delays.

use super::{ContactRow, Id, IonPlan};
use crate::error::{Error, Place, Result, Wrong, quoted};
use crate::model::ScheduledContact;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;
use lightlag_worlds::contacts::{Channel, Delay};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// Which node an identifier means.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// Numbers by name.
    pub by_name: BTreeMap<String, u32>,
    /// How many there are.
    pub count: u32,
    /// The identifier of node 0 where identifiers are numbers.
    pub first_id: u32,
    /// Skip contacts with nodes that do not exist.
    pub skip_unknown: bool,
}

impl Nodes {
    /// Its number, if it is a node.
    pub(super) fn find(&self, id: &str) -> Option<u32> {
        self.by_name.get(id).copied().or_else(|| {
            let number: u32 = id.parse().ok()?;
            number.checked_sub(self.first_id).filter(|&number| number < self.count)
        })
    }
    /// The node, or nothing where contacts of unknown nodes are skipped.
    fn node(&self, id: &Id, place: &Place) -> Result<Option<u32>> {
        let found = match id {
            Id::Name(name) => self.find(name),
            Id::Number(number) => self.find(&number.to_string()),
        };
        match found {
            None if !self.skip_unknown => Err(crate::Error::at(place, self.unknown(&id.to_string()))),
            found => Ok(found),
        }
    }
    pub(super) fn unknown(&self, id: &str) -> Wrong {
        let last = (self.first_id + self.count).saturating_sub(1);
        Wrong::new(
            format!("unknown node {}", quoted(id)),
            format!("name a node, or number one from {} to {last}", self.first_id),
        )
    }
}

/// Rate and delay as far as a scenario gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WayDefault {
    /// Bits per second.
    pub rate: Option<BitRate>,
    /// One-way light time.
    pub delay: Option<Delay>,
}

/// Rates and delays: those of a pair before those of the text, these before the defaults.
#[derive(Clone, Debug, Default)]
pub struct Channels {
    /// For all.
    pub default: WayDefault,
    /// For a direction, by node numbers.
    pub pairs: BTreeMap<(u32, u32), WayDefault>,
}

/// All that it takes to resolve.
pub struct Resolver<'a> {
    /// The nodes.
    pub nodes: &'a Nodes,
    /// Rates and delays.
    pub channels: &'a Channels,
    /// What is later does not matter.
    pub until: Instant,
    /// This instant of the text is the start of the run; what lies before is cut off.
    pub origin: Instant,
}

impl Resolver<'_> {
    /// Rate and delay of a direction whose text says these.
    pub(super) fn way(
        &self,
        from: u32,
        to: u32,
        rate: Option<BitRate>,
        delay: Option<Delay>,
        place: &Place,
    ) -> Result<Channel> {
        let pair = self.channels.pairs.get(&(from, to)).cloned().unwrap_or_default();
        let rate = pair.rate.or(rate).or(self.channels.default.rate).ok_or_else(|| {
            Error::new(place, "the contact has no rate", "give the contacts `rate = \"...\"`")
        })?;
        let delay = pair.delay.or(delay).or_else(|| self.channels.default.delay.clone());
        Ok(Channel::steady(rate, delay.unwrap_or(Delay::Constant(Duration::ZERO))))
    }
    /// The part of an interval that lies in the run.
    pub(super) fn clip(&self, start: Instant, end: Instant) -> Option<(Instant, Instant)> {
        let shift = |at: Instant| if at == Instant::MAX { at } else { Instant::ZERO + (at - self.origin) };
        let (start, end) = (shift(start).max(Instant::ZERO), shift(end).min(self.until));
        (end > start).then_some((start, end))
    }
}

/// Contacts of rows.
///
/// # Errors
/// Unknown nodes, a node that meets itself, a missing rate or delay, overlap.
pub fn from_rows(rows: &[ContactRow], resolver: &Resolver) -> Result<Vec<ScheduledContact>> {
    let mut told = Vec::with_capacity(rows.len());
    let mut known: HashMap<&Id, Option<u32>> = HashMap::new();
    for row in rows {
        let place = &row.place;
        let mut node = |id| match known.entry(id) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => resolver.nodes.node(id, place).map(|node| *entry.insert(node)),
        };
        let (Some(a), Some(b)) = (node(&row.a)?, node(&row.b)?) else { continue };
        if a == b {
            return place.refuse("the node meets itself", "name two nodes");
        }
        let Some((start, end)) = resolver.clip(row.start, row.end) else { continue };
        let delay = row.delay.map(Delay::Constant);
        let forward = resolver.way(a, b, row.rate, delay.clone(), place)?;
        let backward = resolver.way(b, a, row.rate, delay, place)?;
        told.push(ScheduledContact { place: place.clone(), a, b, start, end, forward, backward });
    }
    sorted(told)
}

/// In order of their start, none overlapping another of its pair.
fn sorted(mut told: Vec<ScheduledContact>) -> Result<Vec<ScheduledContact>> {
    told.sort_by_key(|contact| (contact.start, contact.a, contact.b));
    check_overlap(&told)?;
    Ok(told)
}

/// Finds contacts of one pair that overlap.
///
/// # Errors
/// The first such.
pub fn check_overlap(told: &[ScheduledContact]) -> Result<()> {
    let mut last: HashMap<(u32, u32), &ScheduledContact> = HashMap::new();
    for contact in told {
        let pair = (contact.a.min(contact.b), contact.a.max(contact.b));
        if let Some(before) = last.insert(pair, contact)
            && before.end > contact.start
        {
            return contact.place.refuse(
                format!(
                    "the contact starts at {} s, when the one of {} between the same nodes lasts until {} s",
                    contact.start.as_secs_f64(),
                    before.place,
                    before.end.as_secs_f64()
                ),
                "contacts of one pair must not overlap",
            );
        }
    }
    Ok(())
}

/// A direction's contact, resolved.
struct Directed {
    place: Place,
    start: Instant,
    end: Instant,
    way: Channel,
}

/// Contacts of a plan whose contacts have one direction each. Where a pair's directions are up at
/// different times, its link is cut into pieces in which each direction is up or not; a direction
/// that is not has rate zero.
///
/// # Errors
/// Unknown nodes, a missing light time, overlap in one direction.
pub fn from_ion(plan: &IonPlan, resolver: &Resolver) -> Result<Vec<ScheduledContact>> {
    let ranges = light_times(plan, resolver)?;
    let mut directions: BTreeMap<(u32, u32), Vec<Directed>> = BTreeMap::new();
    for contact in &plan.contacts {
        let place = &contact.place;
        let from = resolver.nodes.node(&contact.a, place)?;
        let to = resolver.nodes.node(&contact.b, place)?;
        let (Some(from), Some(to)) = (from, to) else { continue };
        if from == to {
            return place.refuse("the node meets itself", "name two nodes");
        }
        let Some((start, end)) = resolver.clip(contact.start, contact.end) else { continue };
        let delay = ranges.get(&(from, to)).or_else(|| ranges.get(&(to, from))).cloned().map(Delay::Table);
        let given = resolver.channels.pairs.get(&(from, to)).is_some_and(|pair| pair.delay.is_some());
        if delay.is_none() && resolver.channels.default.delay.is_none() && !given {
            return place.refuse(
                format!(
                    "no range says how far {} is from {}",
                    quoted(&contact.a.to_string()),
                    quoted(&contact.b.to_string())
                ),
                "add an `a range` line, or `delay = \"...\"` to the contacts",
            );
        }
        let way = resolver.way(from, to, contact.rate, delay, place)?;
        directions.entry((from, to)).or_default().push(Directed { place: place.clone(), start, end, way });
    }
    let mut told = Vec::new();
    for list in directions.values_mut() {
        sort_directed(list)?;
    }
    for (&(a, b), forward) in &directions {
        match directions.get(&(b, a)) {
            Some(_) if b < a => {}
            Some(backward) => pieces(a, b, forward, backward, &mut told),
            None => pieces(a, b, forward, &[], &mut told),
        }
    }
    sorted(told)
}

fn sort_directed(list: &mut [Directed]) -> Result<()> {
    list.sort_by_key(|contact| contact.start);
    for pair in list.windows(2) {
        if pair[0].end > pair[1].start {
            return pair[1].place.refuse(
                format!("the contact overlaps that of {} in the same direction", pair[0].place),
                "contacts of one direction must not overlap",
            );
        }
    }
    Ok(())
}

/// From each instant on, the delay beside it.
type Steps = Vec<(Instant, Duration)>;

/// The delay of each direction over time.
fn light_times(plan: &IonPlan, resolver: &Resolver) -> Result<BTreeMap<(u32, u32), Steps>> {
    let mut tables: BTreeMap<(u32, u32), Steps> = BTreeMap::new();
    for range in &plan.ranges {
        let from = resolver.nodes.node(&range.a, &range.place)?;
        let to = resolver.nodes.node(&range.b, &range.place)?;
        let (Some(from), Some(to)) = (from, to) else { continue };
        let Some((start, _)) = resolver.clip(range.start, range.end) else { continue };
        tables.entry((from, to)).or_default().push((start, range.delay.unwrap_or_default()));
    }
    for table in tables.values_mut() {
        table.sort();
        // Of two ranges that start together the longer light time is kept: the safe one.
        table.reverse();
        table.dedup_by_key(|row| row.0);
        table.reverse();
    }
    Ok(tables)
}

/// Cuts a pair's time at every start and end of either direction.
fn pieces(a: u32, b: u32, forward: &[Directed], backward: &[Directed], told: &mut Vec<ScheduledContact>) {
    let all = || forward.iter().chain(backward);
    let mut cuts: Vec<Instant> = all().flat_map(|contact| [contact.start, contact.end]).collect();
    cuts.sort();
    cuts.dedup();
    let closed = Channel::steady(BitRate(0), Delay::Constant(Duration::ZERO));
    let (mut f, mut g) = (forward.iter().peekable(), backward.iter().peekable());
    for cut in cuts.windows(2) {
        while f.next_if(|contact| contact.end <= cut[0]).is_some() {}
        while g.next_if(|contact| contact.end <= cut[0]).is_some() {}
        let up = |contact: Option<&&Directed>| {
            contact.filter(|c| c.start <= cut[0]).map(|c| (c.way.clone(), c.place.clone()))
        };
        let (there, back) = (up(f.peek()), up(g.peek()));
        let Some(place) = there.as_ref().or(back.as_ref()).map(|found| found.1.clone()) else { continue };
        let way = |found: Option<(Channel, Place)>| found.map_or_else(|| closed.clone(), |found| found.0);
        told.push(ScheduledContact {
            place,
            a,
            b,
            start: cut[0],
            end: cut[1],
            forward: way(there),
            backward: way(back),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{connections, ion, table, the_one_events};
    use super::*;

    fn nodes(names: &[&str], first_id: u32) -> Nodes {
        let by_name = names.iter().map(|&name| name.to_owned()).zip(0..).collect();
        Nodes { by_name, count: names.len() as u32, first_id, skip_unknown: false }
    }
    fn resolver<'a>(nodes: &'a Nodes, channels: &'a Channels) -> Resolver<'a> {
        Resolver { nodes, channels, until: Instant::from_secs(100), origin: Instant::ZERO }
    }
    fn with_rate() -> Channels {
        Channels { default: WayDefault { rate: Some(BitRate(8)), delay: None }, pairs: BTreeMap::new() }
    }

    #[test]
    fn names_and_numbers_find_nodes_and_the_end_of_the_run_cuts() {
        let (nodes, channels) = (nodes(&["BS", "Sat0"], 0), with_rate());
        let rows = table("f", b"start_s,end_s,a,b\n5,500,BS,1\n").unwrap();
        let told = from_rows(&rows, &resolver(&nodes, &channels)).unwrap();
        assert_eq!((told[0].a, told[0].b, told[0].end), (0, 1, Instant::from_secs(100)));
    }

    #[test]
    fn unknown_nodes_missing_rates_overlap_and_meeting_oneself_are_errors() {
        let (two, channels) = (nodes(&["x", "y"], 1), with_rate());
        let rows = |text: &str| table("f", format!("a,b,start_s,end_s\n{text}").as_bytes()).unwrap();
        let told = |text: &str, channels: &Channels| {
            from_rows(&rows(text), &resolver(&two, channels)).unwrap_err().to_string()
        };
        assert_eq!(
            told("1,3,0,5", &channels),
            "f:2: unknown node `3`; name a node, or number one from 1 to 2"
        );
        assert_eq!(told("1,x,0,5", &channels), "f:2: the node meets itself; name two nodes");
        assert!(told("1,2,0,5", &Channels::default()).contains("has no rate"));
        assert!(told("1,2,0,5\n2,1,4,9", &channels).starts_with("f:3: the contact starts at 4 s"));
        let mut lenient = two.clone();
        lenient.skip_unknown = true;
        let rows = rows("1,3,0,5");
        assert!(from_rows(&rows, &resolver(&lenient, &channels)).unwrap().is_empty());
    }

    #[test]
    fn a_pair_overrides_the_text_and_the_text_the_default() {
        let nodes = nodes(&["x", "y"], 0);
        let mut channels = with_rate();
        channels.pairs.insert((1, 0), WayDefault { rate: Some(BitRate(99)), delay: None });
        let rows = table("f", b"start_s,end_s,a,b,rate_bps\n0,5,x,y,50\n").unwrap();
        let told = from_rows(&rows, &resolver(&nodes, &channels)).unwrap();
        assert_eq!((told[0].forward.rate, told[0].backward.rate), (BitRate(50), BitRate(99)));
    }

    #[test]
    fn connections_of_the_one_become_contacts() {
        let (nodes, channels) = (nodes(&["x", "y"], 0), with_rate());
        let rows = connections(&the_one_events("f", b"3 CONN n0 n1 up\n").unwrap()).unwrap();
        let told = from_rows(&rows, &resolver(&nodes, &channels)).unwrap();
        assert_eq!((told[0].start, told[0].end), (Instant::from_secs(3), Instant::from_secs(100)));
    }

    #[test]
    fn directions_that_are_up_at_different_times_make_pieces() {
        let (nodes, channels) = (nodes(&["x", "y"], 1), Channels::default());
        let plan = ion(
            "f",
            b"a contact +0 +10 1 2 1\na contact +5 +20 2 1 2\na range +0 +8 1 2 3\na range +8 +20 1 2 4\n",
        )
        .unwrap();
        let told = from_ion(&plan, &resolver(&nodes, &channels)).unwrap();
        let shown: Vec<_> = told
            .iter()
            .map(|c| (c.start.as_secs_f64(), c.end.as_secs_f64(), c.forward.rate.0, c.backward.rate.0))
            .collect();
        assert_eq!(shown, [(0.0, 5.0, 8, 0), (5.0, 10.0, 8, 16), (10.0, 20.0, 0, 16)]);
        assert_eq!(told[1].backward.delay.at(Instant::from_secs(9)), Duration::from_secs(4));
        let bare = ion("f", b"a contact +0 +10 1 2 1\n").unwrap();
        assert!(
            from_ion(&bare, &resolver(&nodes, &channels)).unwrap_err().to_string().contains("no range says")
        );
    }
}
