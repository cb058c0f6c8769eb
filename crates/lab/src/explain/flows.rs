//! What became of the packets of a run: each that was offered to a link arrived, was dropped, or was in transit at the end.

use super::groups::aligned;
use super::words::{count, share, size, span};
use super::{Asked, Explanation};
use lightlag_judge::{names, packets};
use lightlag_protocols::link::DropCause;
use lightlag_protocols::record;
use lightlag_protocols::time::{Duration, Instant};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What became of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    offered: u64,
    arrived: u64,
    /// Dropped by a full queue, by a queue that keeps delays short, and lost on the link.
    full: u64,
    marked: u64,
    lost: u64,
}

#[derive(Clone, Copy)]
enum Crossing {
    Offered,
    Arrived,
    Dropped(DropCause),
}

impl Count {
    fn add(&mut self, crossing: Crossing) {
        match crossing {
            Crossing::Offered => self.offered += 1,
            Crossing::Arrived => self.arrived += 1,
            Crossing::Dropped(DropCause::Full) => self.full += 1,
            Crossing::Dropped(DropCause::Marked) => self.marked += 1,
            Crossing::Dropped(DropCause::Lost) => self.lost += 1,
        }
    }
    fn dropped(&self) -> u64 {
        self.full + self.marked + self.lost
    }
    fn in_transit(&self) -> u64 {
        self.offered.saturating_sub(self.arrived + self.dropped())
    }
    fn json(&self) -> Value {
        json!({
            "offered": self.offered,
            "arrived": self.arrived,
            "queue_full": self.full,
            "queue_management": self.marked,
            "lost_on_link": self.lost,
            "in_transit": self.in_transit(),
        })
    }
}

/// Names of links, and of flows or prefixes.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub links: BTreeMap<u32, String>,
    pub groups: BTreeMap<u32, String>,
}

impl Names {
    /// Keeps the names of a row: of its link, and of its flow or prefix.
    pub fn learn(&mut self, link: Option<(u32, &String)>, group: Option<(u32, &String)>) {
        for (names, named) in [(&mut self.links, link), (&mut self.groups, group)] {
            if let Some((number, name)) = named {
                names.entry(number).or_insert_with(|| name.clone());
            }
        }
    }
}

/// Counts packets by link, by flow or prefix, and by time.
pub struct Counter {
    pub names: Names,
    /// "flow" or "prefix".
    what: &'static str,
    all: Count,
    links: BTreeMap<u32, Count>,
    groups: BTreeMap<u32, Count>,
    times: BTreeMap<i64, Count>,
    /// Bytes delivered, by flow or prefix.
    delivered: BTreeMap<u32, u64>,
    end: Instant,
}

/// Times are kept by this, and shown by multiples of it.
const BIN_S: i64 = 1;

impl Counter {
    pub fn of_packets(names: Names) -> Self {
        Self::new("flow", names)
    }
    pub fn of_names(names: Names) -> Self {
        Self::new("prefix", names)
    }
    fn new(what: &'static str, names: Names) -> Self {
        Self {
            names,
            what,
            all: Count::default(),
            links: BTreeMap::new(),
            groups: BTreeMap::new(),
            times: BTreeMap::new(),
            delivered: BTreeMap::new(),
            end: Instant::ZERO,
        }
    }
    fn add(&mut self, now: Instant, link: u32, group: u32, crossing: Crossing) {
        self.all.add(crossing);
        self.links.entry(link).or_default().add(crossing);
        self.groups.entry(group).or_default().add(crossing);
        let bin = now.as_nanos().max(0) / (BIN_S * 1_000_000_000);
        self.times.entry(bin).or_default().add(crossing);
    }
    /// An event of a trace of packets, or of a run.
    pub fn on_packets(&mut self, now: Instant, event: &packets::Event) {
        self.end = self.end.max(now);
        match event {
            packets::Event::Offered(link, packet) => self.add(now, *link, packet.flow, Crossing::Offered),
            packets::Event::Arrived(link, packet) => self.add(now, *link, packet.flow, Crossing::Arrived),
            packets::Event::Dropped(link, packet, why) => {
                self.add(now, *link, packet.flow, Crossing::Dropped(*why));
            }
            packets::Event::Delivered(flow, total) => {
                let known = self.delivered.entry(*flow).or_default();
                *known = (*known).max(*total);
            }
            packets::Event::End => {}
        }
    }
    /// An event of a trace of named data, or of a run.
    pub fn on_names(&mut self, now: Instant, event: &names::Event) {
        self.end = self.end.max(now);
        match event {
            names::Event::Offered(link, packet) => self.add(now, *link, prefix(packet), Crossing::Offered),
            names::Event::Arrived(link, packet) => self.add(now, *link, prefix(packet), Crossing::Arrived),
            names::Event::Dropped(link, packet, why) => {
                self.add(now, *link, prefix(packet), Crossing::Dropped(*why));
            }
            names::Event::Delivered(_, data) => {
                *self.delivered.entry(data.name.prefix.0).or_default() += u64::from(data.content);
            }
            _ => {}
        }
    }
}

fn prefix(packet: &names::Carried) -> u32 {
    match packet {
        names::Carried::Interest(interest, _) => interest.name.prefix.0,
        names::Carried::Data(data, _) => data.name.prefix.0,
    }
}

/// A run of packets reports what it does to its counter.
impl record::packets::Observer for Counter {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &record::packets::Record) {
        if let Some(event) = packets::Event::of(record) {
            self.on_packets(now, &event);
        }
    }
}

/// As does one of named data.
impl record::names::Observer for Counter {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &record::names::Record) {
        if let Some(event) = names::Event::of(record) {
            self.on_names(now, &event);
        }
    }
}

impl Counter {
    /// Explains what was counted.
    ///
    /// # Errors
    /// That there are no bundles.
    pub fn explain(&self, asked: Asked) -> Result<Explanation, String> {
        let text = match asked {
            Asked::Bundle(_) | Asked::AllCopies(_) => {
                return Err(
                    "the run has no bundles; leave --bundle out: --lost and --why count packets".to_owned()
                );
            }
            Asked::Summary => self.head() + "\n" + &self.table("link", &self.links, &self.names.links),
            Asked::Lost => self.head() + "\n" + &self.tables(),
            Asked::Why => self.head() + "\n" + &self.causes(),
        };
        let (links, groups) =
            (self.parts(&self.links, &self.names.links), self.parts(&self.groups, &self.names.groups));
        let mut json = self.all.json();
        json["links"] = links;
        json[format!("{}s", if self.what == "prefix" { "prefixe" } else { self.what })] = groups;
        json["delivered_bytes"] = self.delivered.values().sum::<u64>().into();
        Ok(Explanation { text, json })
    }
    fn head(&self) -> String {
        let all = &self.all;
        let bytes = size(self.delivered.values().sum());
        let of = if self.what == "flow" { "in order" } else { "of content" };
        let lost = share(all.dropped(), all.offered);
        format!(
            "{bytes} were delivered {of}. Of {} offered to links, {} were dropped or lost ({lost}) and {} were in transit when the run ended.\n",
            count(all.offered, "packet"),
            all.dropped(),
            all.in_transit()
        )
    }
    fn name(names: &BTreeMap<u32, String>, number: u32) -> String {
        names.get(&number).cloned().unwrap_or_else(|| number.to_string())
    }
    fn table(&self, what: &str, counts: &BTreeMap<u32, Count>, names: &BTreeMap<u32, String>) -> String {
        let rows = counts.iter().map(|(number, count)| row(Self::name(names, *number), count));
        let rows = rows.chain([row("all".to_owned(), &self.all)]);
        table(what, &rows.collect::<Vec<_>>())
    }
    fn tables(&self) -> String {
        let [links, groups] =
            [("link", &self.links, &self.names.links), (self.what, &self.groups, &self.names.groups)]
                .map(|(what, counts, names)| self.table(what, counts, names));
        format!("{links}\n{groups}\n{}", self.by_time())
    }
    /// At most thirty spans of the run.
    fn by_time(&self) -> String {
        let end_s = self.end.as_nanos() / 1_000_000_000;
        let spans = [1, 10, 60, 600, 3_600, 86_400, 604_800];
        let every = spans.into_iter().find(|every| end_s < every * 30).unwrap_or(end_s / 30 + 1);
        let mut counts: BTreeMap<i64, Count> = BTreeMap::new();
        for (bin, count) in &self.times {
            let sum = counts.entry(bin * BIN_S / every).or_default();
            sum.offered += count.offered;
            sum.arrived += count.arrived;
            sum.full += count.full;
            sum.marked += count.marked;
            sum.lost += count.lost;
        }
        let name = |at: i64| span(Duration::from_secs(at * every));
        let rows = counts.iter().map(|(at, count)| {
            // What was offered in one span may arrive in the next.
            let mut row = row(format!("{} to {}", name(*at), name(at + 1)), count);
            row.pop();
            row
        });
        let rows: Vec<Vec<String>> = rows.collect();
        aligned(&HEAD[..HEAD.len() - 1].iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), &rows)
    }
    /// A sentence a cause, the most frequent first.
    fn causes(&self) -> String {
        type Pick = fn(&Count) -> u64;
        let causes: [(Pick, &str); 4] = [
            (|count| count.full, "found a full queue: the link is slower than what was sent to it"),
            (|count| count.marked, "were dropped by queue management, which keeps delays short"),
            (|count| count.lost, "were lost on the link, by its loss model"),
            (Count::in_transit, "were in a queue or on a link when the run ended"),
        ];
        let mut sentences: Vec<(u64, String)> = Vec::new();
        for (pick, what) in causes {
            let number = pick(&self.all);
            if number == 0 {
                continue;
            }
            let worst = self.links.iter().max_by_key(|(link, count)| (pick(count), Reverse(**link)));
            let place = worst.map_or_else(String::new, |(link, count)| {
                format!(" Most at {}: {}.", Self::name(&self.names.links, *link), pick(count))
            });
            sentences
                .push((number, format!("{number} ({}) {what}.{place}\n", share(number, self.all.offered))));
        }
        sentences.sort_by_key(|(number, _)| Reverse(*number));
        if sentences.is_empty() {
            "All packets arrived.\n".to_owned()
        } else {
            sentences.into_iter().map(|(_, text)| text).collect()
        }
    }
    fn parts(&self, counts: &BTreeMap<u32, Count>, names: &BTreeMap<u32, String>) -> Value {
        let part = |(number, count): (&u32, &Count)| {
            let mut part = count.json();
            part["name"] = Self::name(names, *number).into();
            part
        };
        counts.iter().map(part).collect()
    }
}

const HEAD: [&str; 7] =
    ["time", "offered", "arrived", "queue full", "queue management", "lost on the link", "in transit"];

fn row(name: String, count: &Count) -> Vec<String> {
    let numbers = [count.offered, count.arrived, count.full, count.marked, count.lost, count.in_transit()];
    [name].into_iter().chain(numbers.map(|number| number.to_string())).collect()
}

fn table(what: &str, rows: &[Vec<String>]) -> String {
    let head: Vec<String> = [what].into_iter().chain(HEAD[1..].iter().copied()).map(str::to_owned).collect();
    aligned(&head, rows)
}
