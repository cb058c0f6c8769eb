//! Every key of a scenario in TOML: what its reader knows, what editors complete, and what the reference lists.
//!
//! A reader opens a table with its list of keys: a key that is not in the list is an error, and in tests a value that is
//! read otherwise than declared here fails.

use crate::models::{LOSSES, MOBILITY, Models, QUEUES};
use crate::the_one::REPORT_CLASSES;
use lightlag_protocols::units::parse::{self, Wrong};

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub kind: Kind,
    /// What it is for.
    pub about: &'static str,
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A text of any form.
    Text,
    /// True or false.
    Flag,
    /// A whole number between these, both included.
    Whole(i64, i64),
    /// A number between these, both included.
    Real(f64, f64),
    /// A text with a number and a unit.
    Quantity(Quantity),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A `router`, `mechanism` or `controller`, by name or as a table with `name` and its parameters.
    Algorithm(&'static str),
    /// A table that names a model and has its parameters.
    Model(&'static Models),
    /// A table with these keys.
    Table(&'static [Key]),
    /// Tables by names of one's own, each with these keys.
    Named(&'static [Key]),
    /// A table with any keys.
    Open,
    /// A list that is one value, and no axis of a sweep.
    List(&'static Kind),
    /// Any of these.
    Any(&'static [Kind]),
}

/// A text with a number and a unit.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// What it looks like.
    pub example: &'static str,
    /// What is wrong with a text, at the least: a reader may refuse more.
    pub check: fn(&str) -> Result<(), Wrong>,
}

/// Names of keys.
pub fn names(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

macro_rules! keys {
    ($($(#[$about_all:meta])* $all:ident $(= $($other:ident +)+)? {
        $($name:ident: $kind:expr, $about:literal;)+
    })+) => {$(
        $(#[$about_all])*
        pub const $all: &[Key] = {
            const LISTS: &[&[Key]] = &[
                $($($other,)+)?
                &[$(Key { name: stringify!($name), kind: $kind, about: $about }),+],
            ];
            &joined::<{ total(LISTS) }>(LISTS)
        };
    )+};
}

const fn total(mut lists: &[&[Key]]) -> usize {
    let mut length = 0;
    while let [first, rest @ ..] = lists {
        length += first.len();
        lists = rest;
    }
    length
}

const fn joined<const N: usize>(mut lists: &[&[Key]]) -> [Key; N] {
    let mut all = [lists[0][0]; N];
    let mut at = 0;
    while let [first, rest @ ..] = lists {
        all.split_at_mut(at).1.split_at_mut(first.len()).0.copy_from_slice(first);
        at += first.len();
        lists = rest;
    }
    all
}

use Kind::{Algorithm, Any, Flag, List, Model, Named, Open, Real, Table, Text, Whole, Word};

const fn quantity(example: &'static str, check: fn(&str) -> Result<(), Wrong>) -> Kind {
    Kind::Quantity(Quantity { example, check })
}
const fn length(example: &'static str) -> Kind {
    quantity(example, |text| parse::length_m(text).map(drop))
}

const TIME: Kind = quantity("10 s", |text| parse::signed_time(text).map(drop));
const TIMES: fn(&str) -> Result<(), Wrong> = |text| parse::times(text).map(drop);
const SPAN_OF_TIME: Kind = quantity("600..2400 s", TIMES);
const SIZE: Kind = quantity("500 kB", |text| parse::bytes(text).map(drop));
/// Bytes that wait at the application, or a word for none or any.
const APPLICATION_BUFFER: Kind = Any(&[SIZE, Word(&["none", "unlimited"])]);
const RATE: Kind = quantity("1 Mbit/s", |text| parse::bit_rate_or_none(text).map(drop));
/// A text that names several numbers.
const FREE: Kind = Text;
const SHARE: Kind = Real(0.0, 1.0);
const COUNT_MAX: i64 = crate::NODES_MAX as i64;
const SWITCHES: &[&str] = &["policy", "oracle", "oracle_plain", "datagrams", "plain"];
const FAULTS: &[&str] = &["none", "pauses", "inconsistent_loss", "small_sequence_window", "all"];

keys! {
    /// Of every scenario.
    HEAD {
        name: Text, "Name of the scenario; results and reports are called by it. Without one, the file's.";
        duration: TIME, "Length of a run.";
        seeds: List(&Whole(0, i64::MAX)), "Seeds of the runs of a sweep; `run` takes the first.";
        parameters: Open, "Values by name; a value `\"$name\"` elsewhere stands for them.";
        limits: Table(LIMITS), "How much a run may take.";
    }
    /// Of a scenario of bundles.
    BUNDLES = HEAD + {
        router: Algorithm("router"), "Router of all nodes without one of their own.";
        mechanism: Algorithm("mechanism"), "Congestion mechanism of all nodes without one of their own.";
        buffer: SIZE, "Buffer of all nodes without one of their own.";
        application_buffer: APPLICATION_BUFFER, "Storage of the application at all nodes without one of their own.";
        receipts: Flag, "Whether nodes pass on receipts of delivered bundles.";
        drop_memory: Flag, "Whether nodes refuse copies of bundles that they dropped.";
        mobility: Model(&MOBILITY), "Motion of all nodes without one of their own.";
        radio: Table(RADIO), "Radio of all nodes without one of their own.";
        world: Table(WORLD), "Behaviour of links and nodes, and what is sampled.";
        nodes: Named(NODES), "Groups of nodes that are alike.";
        contacts: Named(CONTACTS), "Contacts that do not come from motion.";
        traffic: Named(TRAFFIC), "What is sent.";
        measure_from: TIME, "Bundles that are created earlier do not count in the figures.";
        reports: Named(REPORT), "Report files of The ONE to write.";
    }
    /// Of a scenario of packets.
    PACKETS = HEAD + {
        links: Named(LINKS), "Links between nodes.";
        flows: Named(FLOWS), "Flows of packets over the links.";
        sample_every: TIME, "Time between samples of flows and links for the time series.";
        packets_max: Whole(1, 1 << 53), "Packets that senders and receivers of flows send until the run ends, acknowledgements included. Default: unlimited.";
    }
    /// Of a scenario of named data.
    NAMES = HEAD + {
        nodes: Named(FORWARDERS), "Content stores and clocks of nodes that links join.";
        links: Named(LINKS), "Links between nodes.";
        producers: Named(PRODUCERS), "Producers of Data.";
        consumers: Named(CONSUMERS), "Consumers of Data.";
        sample_every: TIME, "Time between samples of consumers and links for the time series.";
        measure_from: TIME, "Figures of consumers count from then on.";
        stamps: Word(&["wire", "application", "none"]), "Where Data get the time stamp that controllers read.";
    }
    /// Of `[limits]`.
    LIMITS {
        events: Real(1.0, 1e18), "Most events of a run, about a microsecond of computing each.";
        memory: SIZE, "Most memory of a run.";
    }
    /// Of `[world]`.
    WORLD {
        tick: TIME, "Links and nodes change at multiples of this only, as in The ONE; exact without it.";
        radio: Word(&["node", "link", "direction"]), "What can carry one transfer at a time.";
        propagation: Word(&["pipelined", "stop_and_wait"]), "Whether a transfer waits for the arrival of the last.";
        control: Word(&["instant", "carried"]), "How receipts and free space reach peers: over the link, which takes its time and that of light (default), or at once as in The ONE.";
        send_order: Word(&["fifo", "random", "clock"]), "Order in which a node offers what it holds.";
        act_order: Word(&["random", "by_number"]), "Order in which nodes act that can act at one instant.";
        purge_every: TIME, "Time between removals of expired bundles; at once without it.";
        sample_every: TIME, "Time between samples of buffers and algorithms for the time series.";
        positions_every: TIME, "Time between the positions of nodes in a trace; a trace has none without it.";
        warmup: TIME, "Time that nodes move before the run starts.";
        draws: Word(&["lightlag", "the_one"]), "Random draws of motion and traffic. With `the_one`, maps are read and vertices numbered as there, and what The ONE accepts is accepted: nodes that never meet, messages larger than every buffer.";
        rng_seed: Whole(-0x8000_0000, 0x7fff_ffff), "The ONE's `MovementModel.rngSeed`: its very run, where `seeds` is not given. Needs `draws = \"the_one\"`.";
        radios_connect: Flag, "Whether radios make contacts. Default: true.";
        contacts_fail: SHARE, "Probability that a contact does not take place.";
        nodes_vanish: SHARE, "Share of the nodes that vanish during the run.";
    }
    /// Of `[nodes.NAME]` in a scenario of bundles.
    NODES {
        count: Whole(1, COUNT_MAX), "Number of nodes; more than one have a number behind the name.";
        first: Whole(0, COUNT_MAX), "Number of the first node.";
        prefix: Text, "Start of the names of nodes, before their numbers. Default: the name of the group.";
        lifetime: TIME, "Lifetime of bundles that the nodes create, where their traffic states none.";
        buffer: SIZE, "Size of each buffer.";
        application_buffer: APPLICATION_BUFFER, "Most bytes of a node's own bundles that wait outside its buffer. `none`: what cannot be stored at once is lost. Default: `none`.";
        router: Algorithm("router"), "Decides what is offered to which neighbour.";
        mechanism: Algorithm("mechanism"), "Decides what is admitted, kept, dropped or moved.";
        receipts: Flag, "Whether nodes pass on receipts of delivered bundles.";
        drop_memory: Flag, "Whether nodes refuse copies of bundles that they dropped.";
        delete_delivered: Flag, "Whether the sender deletes its copy after delivery, as The ONE does.";
        overfill: Flag, "Whether a node's own bundles may exceed its buffer, as in The ONE.";
        deliver_past_buffer: Flag, "Whether a bundle larger than the free space is delivered.";
        mobility: Model(&MOBILITY), "How the nodes move.";
        moves: Any(&[List(&SPAN_OF_TIME), Table(PERIODS)]), "When the nodes move, as spans or `{ on, off, offset }`; they stand still at other times, with their radios on. Default: always.";
        radio: Table(RADIO), "The radio of each node.";
        radios: Named(RADIO), "Several radios; each reaches radios of its own name.";
    }
    /// Of times that alternate.
    PERIODS {
        on: TIME, "For how long.";
        off: TIME, "How long it is until the next time.";
        offset: TIME, "How far the first time `on` is over at the start.";
    }
    /// Of a radio.
    RADIO {
        name: Text, "Name of the radio. Default: that of its table.";
        range: length("150 m"), "Range; the smaller of two counts.";
        rate: RATE, "Rate; the smaller of two counts.";
        rates: List(&RATE), "In place of `rate`: rates at distances from zero to the range, evenly spaced, with straight lines between.";
        interference: Flag, "Whether transmitters nearby share the rate: rate / sqrt(n ln n) for n of them.";
        active: List(&SPAN_OF_TIME), "When it is on; without it, always.";
        on: TIME, "In place of `active`: on for this time, off for `off`, and so on.";
        off: TIME, "How long it is off between two times `on`.";
        offset: TIME, "How far the first time `on` is over at the start.";
        jitter: TIME, "Each node's times are earlier by whole seconds, drawn below this.";
        scan_every: TIME, "Time between searches for peers: a contact begins at the first search of either node.";
    }
    /// Of `[contacts.NAME]`.
    CONTACTS {
        kind: Word(&["table", "the_one", "ion", "intervals", "sightings", "positions"]), "Format of the file. Links of `the_one` without a rate have that of their nodes' radios.";
        file: Text, "The file, relative to the scenario's folder.";
        files: Any(&[Text, List(&Text)]), "Files of one trace in place of `file`; `*` in a name stands for any text.";
        offsets: List(&TIME), "Times added to those of each of `files`.";
        every: TIME, "In place of `offsets`: each of `files` begins this much after the one before it.";
        skip_lines: Whole(0, 1_000_000), "Lines at the start of each file of a trace that are not read.";
        devices: Word(&["tracks", "files"]), "What is a device of GPX files. Default: the tracks of one file, or else the files.";
        rows: List(&Table(ROW)), "Contacts in place of a file.";
        rate: RATE, "Rate of contacts that state none.";
        delay: TIME, "One-way light time of contacts that state none.";
        delays: List(&List(&TIME)), "Light time as a table of instants and delays, straight lines between.";
        pairs: Named(WAY), "Rate and delay of pairs: `\"A B\"` both directions, `\"A -> B\"` one.";
        first_id: Whole(0, 4_294_967_295), "Number in the file of the scenario's first node.";
        unknown_nodes: Word(&["error", "skip"]), "What to do with contacts of unknown nodes.";
        origin: FREE, "Instant of the file at which the run starts, such as `2008-02-02 07:00:00`, or `first`: that of the first contact.";
        columns: FREE, "Columns of a trace, `-` for one that is not read: `a b start end`, `a b start duration`, `time a b`, `time node x y`, `node date time lat lon`. Default: those that a header names.";
        unit: TIME, "Unit of the instants of a trace. Default: 1 s.";
        duration_unit: TIME, "Unit of the durations of a trace. Default: `unit`.";
        sighting: TIME, "How long a sighting without a duration lasts. Default: the scan interval that the trace shows.";
        ids: FREE, "Devices of a trace in the order of the nodes, or `all`: all of the file, sorted.";
        range: length("10 m"), "Range at which positions of a trace make a contact.";
        gap: TIME, "Longest time between two positions of a trace over which a node moves straight. Default: 10 min.";
        plan: Flag, "Nodes know these contacts beforehand. Default: `rows` and `ion` yes; other files are records, no.";
        known_to: FREE, "Nodes that know these contacts beforehand, written as in `from` of traffic. Default: `all`.";
        known_from: TIME, "When these nodes learn of the contacts. Default: they know them from the start.";
        known_until: TIME, "When these nodes learn that the contacts are not to be expected. Default: never.";
        happens: Flag, "Whether these contacts take place. Default: true. With `false`, nodes that know them expect them without success.";
    }
    /// Of a pair's direction.
    WAY {
        rate: RATE, "Rate.";
        delay: TIME, "One-way light time.";
        delays: List(&List(&TIME)), "Light time as a table of instants and delays.";
    }
    /// Of a contact in place.
    ROW {
        a: Text, "One node.";
        b: Text, "The other.";
        start: TIME, "When the link comes up.";
        end: TIME, "When it goes down.";
        rate: RATE, "Rate in both directions.";
        delay: TIME, "One-way light time in both directions.";
    }
    /// Of `[traffic.NAME]`.
    TRAFFIC {
        interval: quantity("1..300 s", TIMES), "Time between bundles.";
        arrivals: Word(&["whole_seconds", "uniform", "exponential"]), "How the interval is drawn.";
        size: quantity("50..100 kB", |text| parse::sizes(text).map(drop)), "Size of a bundle, the upper end excluded.";
        from: FREE, "Sources: names of nodes or groups, ranges `A1..A5`, numbers of nodes `#0..#9`, `all`, with commas.";
        to: FREE, "Destinations, in the same form.";
        lifetime: TIME, "Lifetime of the bundles.";
        prefix: Text, "Start of the names of bundles; it names the random stream.";
        start: TIME, "When the first interval begins.";
        end: TIME, "When the last bundle may be created.";
        shape: Word(&["pairs", "burst", "one_from_each", "one_to_each", "ping"]), "Which sources send to which destinations.";
        reply: SIZE, "Size of the bundle that a destination sends back when one first arrives.";
        replies: List(&Table(REPLY)), "In place of `reply`: sizes by the node that replies; others do not.";
        reply_as: Word(&["response", "pong"]), "Who replies: the node, or a ping application, as in The ONE.";
        events: List(&Table(EVENT)), "Bundles one by one.";
        file: Text, "A file with lines of bundles as The ONE writes them.";
        unknown_nodes: Word(&["error", "skip"]), "What to do with bundles of a file whose nodes do not exist, or that ask for a response.";
        seed: Whole(-0x8000_0000, 0x7fff_ffff), "Seed of The ONE's draws, in place of the prefix.";
    }
    /// Of `[reports.NAME]`.
    REPORT {
        class: Word(REPORT_CLASSES), "Class of the report in The ONE.";
        file: Text, "File to write, relative to where the program is started. Default: `NAME.txt`.";
        warmup: TIME, "What happens earlier does not count.";
        precision: Whole(0, 100), "Decimals. Default: 4.";
        granularity: TIME, "Granularity of contact times, or time between snapshots.";
        interval: TIME, "Time between samples.";
        bundles: Text, "Names of the bundles that are reported, separated by commas. Default: all.";
        nodes: Text, "Numbers of the nodes that are reported, separated by commas. Default: all.";
        count: Whole(0, 2_147_483_647), "How many nodes, drawn at random, are reported.";
    }
    /// Of the replies of some nodes.
    REPLY {
        size: SIZE, "Size of a reply.";
        from: FREE, "Who replies: a node, a group or a range of nodes.";
    }
    /// Of a bundle that is listed.
    EVENT {
        at: TIME, "When it is created.";
        from: Text, "Source.";
        to: Text, "Destination.";
        size: SIZE, "Size.";
        lifetime: TIME, "Lifetime.";
        name: Text, "Name.";
    }
    /// Of a link: where it begins and ends.
    ENDS {
        from: Text, "Node at which the link begins.";
        to: Text, "Node at which it ends.";
    }
    /// Of the other direction of a link.
    BACK {
        rate: Any(&[RATE, Table(STEPS)]), "Rate, `{ steps = [...] }` over time, or `{ mahimahi = FILE }`.";
        delay: Any(&[TIME, Table(DELAY)]), "One-way delay, or a table: `steps` or `file`, `variance`, `every`.";
        loss: Any(&[SHARE, Model(&LOSSES)]), "Share of packets lost, or `{ model = ... }`.";
        queue: Any(&[FREE, Model(&QUEUES)]), "Size of the queue in packets or bytes, or `{ discipline = ... }`.";
        outages: FREE, "When nothing leaves: `10 s..20 s, 1 h..2 h`.";
        reorder: Table(REORDER), "Packets that are delayed, so that later ones overtake them.";
        duplicate: SHARE, "Share of packets that arrive twice.";
        jitter: TIME, "Largest random addition to the delay.";
    }
    /// Of `[links.NAME]`.
    LINKS = ENDS + BACK + {
        round_trip: TIME, "Twice the delay, in place of it.";
        back: Table(BACK), "What differs in the other direction.";
        one_way: Flag, "Whether there is no other direction.";
        plan: Table(PLAN), "Rates, outages and delays from a contact plan.";
    }
    /// Of a rate over time.
    STEPS {
        steps: List(&Table(RATE_STEP)), "Rates from each instant on, in order of time.";
        mahimahi: Text, "In place of `steps`: a trace of mahimahi, a line for each opportunity to deliver 1504 bytes.";
    }
    /// Of a step of a rate.
    RATE_STEP {
        at: TIME, "Instant.";
        rate: RATE, "Rate from then on.";
    }
    /// Of a loss model over time.
    SHARES {
        steps: List(&Table(SHARE_STEP)), "Shares from each instant on, in order of time.";
    }
    /// Of a step of a share of lost packets.
    SHARE_STEP {
        at: TIME, "Instant.";
        share: SHARE, "Share of packets lost from then on.";
    }
    /// Of a queue discipline, beside its parameters.
    LIMIT {
        limit: FREE, "Size of the queue in packets or bytes.";
    }
    /// Of a mobility model on a map, beside its parameters.
    MAP {
        map: Text, "A WKT or OpenStreetMap file (`.osm.pbf`), relative to the scenario's folder.";
        maps: List(&Text), "Several such files.";
        roads: Word(&["all", "drive", "walk"]), "Which roads of an OpenStreetMap file.";
        bounding_box: quantity("24.92, 60.16, 24.97, 60.18 deg", |_| Ok(())), "Part of an OpenStreetMap file: west, south, east, north.";
        allowed: List(&Whole(1, 32)), "Which of `maps` the nodes may use, counted from 1. Default: all.";
        largest_part: Flag, "Whether of a map in several parts the largest is kept; else such a map is an error.";
    }
    /// Of a mobility model with routes on a map, beside its parameters.
    MAP_AND_ROUTES = MAP + {
        routes: Text, "A WKT file of routes in the coordinates of the map: each line is one, its points are the stops.";
    }
    /// Of a mobility model that visits some places of a map more often, beside its parameters.
    MAP_AND_INTEREST = MAP + {
        points_of_interest: List(&Table(INTEREST)), "Places that are visited more often; all other journeys go anywhere.";
    }
    /// Of the mobility model of a working day, beside its parameters.
    MAP_AND_DAY = MAP + {
        homes: Text, "A WKT file of homes, as points of the map in its coordinates. Default: any vertex.";
        office_places: Text, "A WKT file of offices, in place of `offices`.";
        meeting_places: Text, "A WKT file of meeting spots, in place of `meeting_spots`.";
    }
    /// Of the mobility model of passengers without a destination, beside its parameters.
    MAP_AND_CHANCES = MAP + {
        chances: List(&SHARE), "Probability to ride on to the next stop, by the stops passed; the last one holds for all further stops.";
    }
    /// Of `points_of_interest`.
    INTEREST {
        file: Text, "A WKT file with the points, in the coordinates of the map.";
        share: SHARE, "Share of all journeys that go to one of them.";
    }
    /// Of a mobility model that follows recorded positions, beside its parameters.
    TRACKS {
        positions: Text, "A file of positions, relative to the scenario's folder.";
        format: Word(&["samples", "paths"]), "Lines `time id x y`, or lines `id time,x,y time,x,y ...`; each after a header.";
        active: Text, "A file of lines `id start end`: when nodes follow their paths; without it, always.";
    }
    /// Of a delay over time.
    DELAY {
        steps: List(&Table(DELAY_STEP)), "Delays in order of time, straight lines between.";
        file: Text, "A file of light times, or of JPL Horizons.";
        variance: quantity("500 ms^2", |text| parse::deviation(text).map(drop)), "Variance around the delay.";
        every: TIME, "Time between draws of the variation.";
    }
    /// Of a step of a delay.
    DELAY_STEP {
        at: TIME, "Instant.";
        delay: TIME, "Delay at that instant.";
    }
    /// Of `reorder`.
    REORDER {
        share: SHARE, "Share of packets.";
        delay: TIME, "By how much they are delayed.";
    }
    /// Of the plan of a link.
    PLAN {
        kind: Word(&["ion", "the_one"]), "Format of the file.";
        file: Text, "The file, relative to the scenario's folder.";
        from: Text, "The plan's name of the node at which the link begins.";
        to: Text, "The plan's name of the node at which it ends.";
    }
    /// Of `[flows.NAME]`.
    FLOWS {
        from: Text, "Node of the sender.";
        to: Text, "Node of the receiver.";
        count: Whole(1, 10_000), "Number of flows; more than one have a number behind the name.";
        start: TIME, "When the first flow starts.";
        stop: TIME, "When its source ends.";
        apart: TIME, "Time between the starts of the flows of a `count`.";
        transport: Word(&["tcp", "dccp", "udpdtn", "ltp", "ltp-dccp", "adaptive"]), "Transport protocol.";
        controller: Algorithm("controller"), "Congestion controller.";
        size: SIZE, "Bytes to send; without it data never end.";
        rate: RATE, "Rate of a source with `on` and `off`.";
        on: Any(&[TIME, Table(SPAN)]), "How long the source sends.";
        off: Any(&[TIME, Table(SPAN)]), "How long it pauses.";
        packet_size: SIZE, "Bytes of a full packet with its headers.";
        ack_every: Whole(1, 1000), "Segments per acknowledgement.";
        ack_delay: TIME, "Longest delay of an acknowledgement.";
        duplicates: Whole(1, 1000), "Duplicate acknowledgements that mean a loss.";
        recovery: Word(&["new_reno", "sack", "fack", "rack"]), "Loss detection and repair of TCP.";
        timers: Word(&["path", "rfc", "y2005"]), "Retransmission timers: by the path, RFC 6298, or ns-2 of 2005.";
        planned_rate: FREE, "Rate that the sender knows from a plan: a rate, `plan` or `unknown`.";
        receive_window: SIZE, "Receive window of TCP.";
        block_symbols: Whole(1, 56_403), "Symbols per block of UDPDTN.";
        in_order: Flag, "Whether UDPDTN delivers in order.";
        block_size: SIZE, "Bytes per block of LTP.";
        checkpoint_every: SIZE, "Bytes between checkpoints of LTP.";
        report_every: TIME, "Time between reports of LTP that nothing requests.";
        copies: Whole(1, 10), "Copies of what LTP cannot afford to lose.";
        sequence_window: Whole(32, 1 << 46), "Sequence window of DCCP.";
        ecn: Flag, "Whether queues with `mark` may mark packets of DCCP instead of dropping them (RFC 4340, section 12). Default: false.";
        fault: Word(FAULTS), "Faults of early DCCP to reproduce.";
        switch: Word(SWITCHES), "What decides between the two stacks of an adaptive connection.";
        switch_delay: TIME, "One-way delay above which datagrams are used.";
        datagram_controller: Algorithm("controller"), "Controller of the datagrams of an adaptive connection.";
    }
    /// Of a random span.
    SPAN {
        exponential: TIME, "Mean of an exponential distribution.";
    }
    /// Of `[nodes.NAME]` in a scenario of named data.
    FORWARDERS {
        cache: SIZE, "Size of the content store; without it, no content store.";
        pending: Whole(1, 4_294_967_294), "Most pending Interests.";
        clock: Table(CLOCK), "How the node's clock differs from true time.";
        strips_stamps: Flag, "Whether it removes time stamps from Data.";
    }
    /// Of `clock`.
    CLOCK {
        offset: FREE, "How far it is ahead; behind with a minus.";
        skew: Real(-0.5, 0.5), "Seconds gained per second.";
    }
    /// Of `[producers.NAME]`.
    PRODUCERS {
        at: Text, "Its node.";
        prefix: Text, "Prefix of its Data, like `/data`.";
        object: SIZE, "Size of each object; without it objects never end.";
        segment: SIZE, "Content of a Data packet.";
        overhead: SIZE, "Other bytes of a Data packet.";
        freshness: TIME, "How long Data are fresh.";
    }
    /// Of `[consumers.NAME]`.
    CONSUMERS {
        at: Text, "Its node.";
        count: Whole(1, 10_000), "Number of consumers; more than one have a number behind the name.";
        apart: TIME, "Time between the starts of the consumers of a `count`.";
        object: Text, "Name of the object that it requests.";
        size: SIZE, "How much of it; all without it.";
        catalogue: Table(CATALOGUE), "Objects that it requests by their popularity, in place of one.";
        start: TIME, "When it starts.";
        stop: TIME, "When it sends its last new Interest.";
        stop_after: Whole(1, i64::MAX), "Data after which it sends no new Interest.";
        controller: Algorithm("controller"), "Congestion controller.";
        interest: SIZE, "Bytes of an Interest.";
        lifetime: TIME, "Lifetime of an Interest.";
        timeout_least: TIME, "Least retransmission timer.";
    }
    /// Of `catalogue`.
    CATALOGUE {
        prefix: Text, "Prefix of the objects.";
        objects: Whole(1, 10_000_000), "Number of objects.";
        exponent: Real(0.0, 100.0), "Exponent of the Zipf distribution.";
        shift: Real(0.0, 100.0), "Shift of the Zipf-Mandelbrot distribution.";
    }
}
