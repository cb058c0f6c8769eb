//! The ONE's report files, in its own format, from records.
//!
//! Formats are those of akeranen/the-one, `report/*.java`, at commit c973bfb. Where The ONE prints
//! its clock, the drift of that clock is printed too.

mod clock;
mod contacts;
mod encounters;
mod holders;
mod java;
mod messages;
mod network;
mod places;

use clock::Clock;
use encounters::{Encounters, Form};
use holders::{Holders, Kind};
use lightlag_protocols::dtn::{Bundle, BundleId, NodeId};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_scenario::REPORTS;
use lightlag_worlds::mobility::Point;
pub use places::Places;
use std::sync::Arc;

/// What The ONE's clock shows when a run until `end` is over, to the decimals of its reports.
pub fn shows_at_end(tick: Option<Duration>, end: Instant) -> f64 {
    const DECIMALS: f64 = 1e4;
    (Clock::new(tick).shows_at_end(end) * DECIMALS).round() / DECIMALS
}

/// What reports need beyond the records.
#[derive(Clone, Debug)]
pub struct Options {
    /// `Scenario.name`, runs' values filled in.
    pub scenario: String,
    /// `precision`: decimals of formatted numbers.
    pub precision: usize,
    /// `warmup`.
    pub warmup: Duration,
    /// `granularity` of contact times and of snapshots.
    pub granularity: Duration,
    /// `occupancyInterval` of `BufferOccupancyReport`.
    pub occupancy_interval: Duration,
    /// `messages`: names of the bundles that are reported; `None`: all.
    pub reported_bundles: Option<Arc<[String]>>,
    /// `nodes`: numbers of the nodes that are reported; `None`: all.
    pub reported_nodes: Option<Arc<[u32]>>,
    /// `nrofHosts` of `MessageAvailabilityReport`, which without it reports on none.
    pub hosts: i64,
    /// `Scenario.updateInterval`, to print times of The ONE's clock.
    pub tick: Option<Duration>,
    /// Names of the nodes by number; beyond the list, n0, n1, ...
    pub nodes: Arc<[String]>,
    /// Names of the bundles by number; beyond the list, M1, M2, ...
    pub bundles: Arc<[String]>,
}

impl Options {
    fn reports_node(&self, node: u32) -> bool {
        self.reported_nodes.as_ref().is_none_or(|nodes| nodes.contains(&node))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scenario: "default_scenario".to_owned(),
            precision: 4,
            warmup: Duration::ZERO,
            granularity: Duration::from_secs(1),
            occupancy_interval: Duration::from_secs(5),
            reported_bundles: None,
            reported_nodes: None,
            hosts: -1,
            tick: None,
            nodes: Arc::new([]),
            bundles: Arc::new([]),
        }
    }
}

/// Whether a report of this class needs the positions of the nodes ([`Report::with_places`]).
pub fn needs_places(class: &str) -> bool {
    ["DistanceDelayReport", "LocationSnapshotReport", "MessageLocationReport"].contains(&class)
}

/// A report class that can't be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("report class `{class}` is not supported")]
pub struct UnsupportedReport {
    /// What was asked for.
    pub class: String,
}

/// One of The ONE's reports. It watches a run; afterwards [`Report::text`] is its file.
pub struct Report {
    class: &'static str,
    desk: Desk,
    body: Box<dyn Body>,
}

/// What a report does with records.
trait Body: Send {
    /// Something happened; lines go to the desk's text.
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record);
    /// What stands in the file.
    fn text(&self, desk: &Desk) -> String {
        desk.text.clone()
    }
}

impl Report {
    /// The report of a class of [`REPORTS`].
    ///
    /// # Errors
    /// Any other class.
    pub fn new(class: &str, options: &Options) -> Result<Self, UnsupportedReport> {
        let unsupported = || UnsupportedReport { class: class.to_owned() };
        let class = REPORTS.iter().find(|known| known.name == class).ok_or_else(unsupported)?.name;
        let mut desk = Desk::new(options);
        let distances;
        let (head, body): (&str, Box<dyn Body>) = match class {
            "AdjacencyGraphvizReport" => ("", Box::new(contacts::Adjacency::default())),
            "BufferOccupancyReport" => ("", Box::new(network::BufferOccupancy::new(&desk))),
            "ConnectivityDtnsim2Report" => ("", Box::new(contacts::Connectivity::dtnsim2())),
            "ConnectivityONEReport" => ("", Box::new(contacts::Connectivity::the_one())),
            "ContactTimesReport" => ("", Box::new(contacts::ContactTimes::new(false))),
            "ContactsDuringAnICTReport" => ("", Box::new(encounters::ContactsWhileApart::default())),
            "ContactsPerHourReport" => ("", Box::new(encounters::ContactsPerHour::default())),
            "CreatedMessagesReport" => {
                ("# time  ID  size  fromHost  toHost  TTL  isResponse\n", Box::new(messages::CreatedMessages))
            }
            "DeliveredMessagesReport" => (
                "# time  ID  size  hopcount  deliveryTime  fromHost  toHost  remainingTtl  isResponse  path\n",
                Box::new(messages::DeliveredMessages::default()),
            ),
            "DistanceDelayReport" => {
                let columns = "# distance at msg send, delivery time, hop count, MSG_ID";
                distances = format!("# Scenario {}\n{columns}\n", desk.options.scenario);
                (&distances, Box::new(places::DistanceDelay::default()))
            }
            "EncountersVSUniqueEncountersReport" => ("", Box::new(Encounters::new(Form::Both))),
            "EventLogReport" => ("", Box::new(network::EventLog::default())),
            "InterContactTimesReport" => ("", Box::new(contacts::ContactTimes::new(true))),
            "LocationSnapshotReport" => ("", Box::new(places::Locations::new(&desk))),
            "MessageAvailabilityReport" => ("", Box::new(Holders::new(Kind::Availability, &desk))),
            "MessageCopyCountReport" => ("", Box::new(Holders::new(Kind::Copies, &desk))),
            "MessageDelayReport" => {
                ("# messageDelay  cumulativeProbability\n", Box::new(messages::MessageDelay::default()))
            }
            "MessageDeliveryReport" => {
                let head = "# time  created  delivered  delivered/created\n";
                (head, Box::new(messages::MessageDelivery::default()))
            }
            "MessageGraphvizReport" => ("", Box::new(messages::MessageGraph::default())),
            "MessageLocationReport" => ("", Box::new(Holders::new(Kind::Locations, &desk))),
            "MessageReport" => ("# messages: ID, start time, end time\n", Box::new(messages::Messages)),
            "PingAppReporter" => ("", Box::new(messages::PingApp::default())),
            "TotalContactTimeReport" => {
                ("# time totalContactTime\n", Box::new(contacts::TotalContactTime::new(&desk)))
            }
            "TotalEncountersReport" => ("", Box::new(Encounters::new(Form::Total))),
            "UniqueEncountersReport" => ("", Box::new(Encounters::new(Form::Unique))),
            "MessageStatsReport" => ("", Box::new(messages::MessageStats::new(&desk))),
            _ => return Err(unsupported()),
        };
        desk.text = head.to_owned();
        Ok(Self { class, desk, body })
    }
    /// The same, with the positions of the nodes. Without them all nodes are at the origin.
    #[must_use]
    pub fn with_places(mut self, places: Box<dyn Places>) -> Self {
        self.desk.places = Some(places);
        self
    }
    /// Its class.
    pub fn class(&self) -> &'static str {
        self.class
    }
    /// The name that The ONE gives its file in the report directory.
    pub fn file_name(&self) -> String {
        format!("{}_{}.txt", self.desk.options.scenario, self.class)
    }
    /// What stands in the file.
    pub fn text(&self) -> String {
        self.body.text(&self.desk)
    }
}

impl Observer for Report {
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.body.on_record(&mut self.desk, now, record);
    }
}

/// What all reports need: options, the clock, the facts of the bundles, and the text so far.
struct Desk {
    options: Options,
    clock: Clock,
    bundles: Vec<Option<Bundle>>,
    places: Option<Box<dyn Places>>,
    text: String,
}

impl Desk {
    fn new(options: &Options) -> Self {
        let clock = Clock::new(options.tick);
        Self { options: options.clone(), clock, bundles: Vec::new(), places: None, text: String::new() }
    }
    fn format(&self, value: f64) -> String {
        java::fixed(value, self.options.precision)
    }
    /// What The ONE's clock shows.
    fn time(&mut self, at: Instant) -> f64 {
        self.clock.shows(at)
    }
    fn formatted_time(&mut self, at: Instant) -> String {
        let shown = self.time(at);
        self.format(shown)
    }
    fn place(&mut self, now: Instant, node: NodeId) -> Point {
        self.places.as_mut().map(|places| places.place(now, node)).unwrap_or_default()
    }
    fn reports_bundle(&self, name: &str) -> bool {
        self.options.reported_bundles.as_ref().is_none_or(|names| names.iter().any(|known| known == name))
    }
    fn is_warmup(&mut self, now: Instant) -> bool {
        self.options.warmup.as_secs_f64() > self.time(now)
    }
    /// Remembers a bundle; false during the warm-up, whose bundles are ignored for ever.
    fn learn(&mut self, now: Instant, bundle: &Bundle) -> bool {
        let counts = !self.is_warmup(now);
        self.remember(bundle);
        if !counts {
            self.bundles[bundle.id.0 as usize] = None;
        }
        counts
    }
    /// Remembers a bundle, during the warm-up too.
    fn remember(&mut self, bundle: &Bundle) {
        let at = bundle.id.0 as usize;
        if at >= self.bundles.len() {
            self.bundles.resize(at + 1, None);
        }
        self.bundles[at] = Some(*bundle);
    }
    /// The facts of a bundle that counts.
    fn bundle(&self, id: BundleId) -> Option<Bundle> {
        self.bundles.get(id.0 as usize).copied().flatten()
    }
    fn bundle_name(&self, id: BundleId) -> String {
        let name = self.options.bundles.get(id.0 as usize);
        name.cloned().unwrap_or_else(|| format!("M{}", u64::from(id.0) + 1))
    }
    fn node_name(&self, node: NodeId) -> String {
        let name = self.options.nodes.get(node.0 as usize);
        name.cloned().unwrap_or_else(|| format!("n{}", node.0))
    }
    /// What is left of the lifetime in whole minutes (The ONE, 5.4: the fraction is cut off).
    fn ttl(&mut self, now: Instant, bundle: &Bundle) -> String {
        let age = self.time(now) - self.time(bundle.created);
        if bundle.expires == Instant::MAX {
            return "n/a".to_owned();
        }
        // A lifetime of n - 1 minutes and a nanosecond is the `msgTtl` n.
        const MINUTE_NS: i64 = 60_000_000_000;
        let lifetime_ns = (bundle.expires - bundle.created).as_nanos();
        let more = if lifetime_ns % MINUTE_NS == 1 { 60.0 } else { 0.0 };
        format!("{}", ((lifetime_ns as f64 / 1e9 + more - age) / 60.0) as i64)
    }
}

#[cfg(test)]
mod tests;
