//! What is written is what other tools read.

use crate::run::{ContactsCache, Options, run};
use etherparse::{SlicedPacket, TransportSlice};
use lightlag_capture::{Conversation, Frame, Where, analysis};
use lightlag_protocols::record::packets::Body;
use lightlag_protocols::record::packets::Packet;
use lightlag_protocols::time::Duration as Span;
use lightlag_protocols::time::Instant;
use lightlag_protocols::transport::ranges::Range;
use lightlag_protocols::transport::tcp::{Kind, Sack, Segment};
use lightlag_protocols::transport::udpdtn::{Datagram, Here, Report};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::udpdtn::{self as wire, Unwrap};
use lightlag_scenario::{Catalogue, ScenarioFile, Seed};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use std::path::Path;
use std::process::Command;

const SCENARIO: &str = r#"
duration = "2000 s"
[parameters]
controller = "sack"
transport = "tcp"
[links.access]
from = "lander"
to = "relay"
rate = "2 Mbit/s"
delay = "20 ms"
[links.space]
from = "relay"
to = "earth"
rate = "1 Mbit/s"
round_trip = "600 ms"
loss = 0.01
queue = "30 packets"
[flows.file]
from = "lander"
to = "earth"
count = 2
apart = "1 s"
controller = "$controller"
transport = "$transport"
size = "2 MB"
"#;

/// A run with a trace: its figures.
fn captured(controller: &str, transport: &str, place: Where, path: &Path) -> crate::metrics::Figures {
    let mut file =
        ScenarioFile::from_toml("f.toml", SCENARIO, ".".into(), Catalogue::default().into()).unwrap();
    file.set("controller", controller).unwrap();
    file.set("transport", transport).unwrap();
    let point = file.points().unwrap().list.remove(0);
    let options = Options { traces: vec![path.to_owned()], capture: place, ..Options::default() };
    run(&point.scenario, Seed::Number(1), &ContactsCache::default(), &options).unwrap().figures
}

/// What a tool says of a file; nothing if it is not installed.
fn told(tool: &str, arguments: &[&str], path: &Path) -> Option<String> {
    if !crate::skip::has(tool) {
        return None;
    }
    let path = path.to_str().expect("a plain path");
    let arguments = arguments.iter().map(|a| if *a == "FILE" { path } else { a });
    let output = Command::new(tool).args(arguments).output().unwrap();
    Some([output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned()).concat())
}

fn tcptrace(path: &Path) -> Option<String> {
    told("tcptrace", &["-l", "-n", "FILE"], path)
}

/// Of every connection, what the sending end has in a row of tcptrace.
fn sender_column(text: &str, name: &str) -> Vec<f64> {
    let rows = text.lines().filter_map(|line| line.trim_start().strip_prefix(name));
    rows.map(|row| row.split_whitespace().next().unwrap_or_default().parse().unwrap_or(f64::NAN)).collect()
}

#[test]
fn tcptrace_counts_the_bytes_packets_and_repairs_that_the_figures_tell() {
    let folder = tempfile::tempdir().unwrap();
    for controller in ["new_reno", "sack", "cubic", "bbr", "arc"] {
        let path = folder.path().join(format!("{controller}.pcapng"));
        let figures = captured(controller, "tcp", Where::Senders, &path);
        let Some(text) = tcptrace(&path) else { return };
        for (row, figure) in [
            ("actual data pkts:", "packets_sent"),
            ("rexmt data pkts:", "packets_repaired"),
            ("unique bytes sent:", "delivered_bytes"),
        ] {
            let own: Vec<f64> =
                ["file0", "file1"].iter().map(|flow| figures.of_part(flow, figure).unwrap()).collect();
            assert_eq!(sender_column(&text, row), own, "{controller}, {row}\n{text}");
        }
        // Theirs ends when the last acknowledgement is back at the sender.
        for (theirs, flow) in sender_column(&text, "throughput:").iter().zip(["file0", "file1"]) {
            let own = figures.of_part(flow, "goodput_bit_per_s").unwrap() / 8.0;
            assert!((theirs / own - 1.0).abs() < 0.03, "{controller}: {theirs} B/s, {own}");
        }
        assert!(
            text.lines().filter(|line| line.contains("missed data:")).all(|line| line.contains(" 0 bytes"))
        );
    }
}

/// What tshark warns of; what really happened (repairs) is no warning here.
fn warnings(path: &Path) -> Option<Vec<String>> {
    let checks =
        ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"];
    let arguments = [&["-r", "FILE", "-q", "-z", "expert,note"], &checks[..]].concat();
    let text = told("tshark", &arguments, path)?;
    assert!(
        text.contains("Severity") || text.contains("Notes (") || text.trim().lines().count() <= 1,
        "{text}"
    );
    assert!(!text.contains("damaged") && !text.contains("cut short"), "{text}");
    let analysis = [
        "out-of-order segment",
        "retransmission",
        "Duplicate ACK",
        "initiates the connection closing",
        "completes the connection closing",
    ];
    let rows = text.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    let kept = rows.filter(|row| !analysis.iter().any(|known| row.contains(known)));
    Some(kept.map(str::to_owned).collect())
}

#[test]
fn tshark_finds_nothing_to_warn_of_wherever_packets_are_captured() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.pcapng");
    for (controller, transport) in
        [("sack", "tcp"), ("new_reno", "tcp"), ("contact_rate", "udpdtn"), ("tcp_planet", "tcp")]
    {
        captured(controller, transport, Where::Senders, &path);
        let Some(found) = warnings(&path) else { return };
        assert_eq!(found, [""; 0], "{controller}");
    }
    captured("sack", "tcp", Where::Receivers, &path);
    let found = warnings(&path).unwrap_or_default();
    // Segments that the wire lost are missing there indeed.
    assert!(found.iter().all(|row| row.contains("Previous segment(s) not captured")), "{found:?}");
}

#[test]
fn interfaces_are_ends_of_links_and_drops_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.pcapng");
    captured("cubic", "tcp", Where::Node("relay".into()), &path);
    let (names, packets) = read_back(&path);
    assert_eq!(names, ["lander/access", "relay/access", "relay/space", "earth/space"]);
    let seen: std::collections::BTreeSet<u32> = packets.iter().map(|packet| packet.0).collect();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [1, 2]);

    let figures = captured("cubic", "tcp", Where::Drops, &path);
    let (_, packets) = read_back(&path);
    let count = |why: &str| packets.iter().filter(|packet| packet.1 == why).count() as f64;
    assert_eq!(Some(count("dropped: the queue was full")), figures.get("packets_dropped"));
    assert_eq!(Some(count("lost on the wire")), figures.get("packets_lost"));
    assert!(figures.get("packets_lost") > Some(0.0));
}

/// Names of interfaces, and of each packet its interface and its comment.
fn read_back(path: &Path) -> (Vec<String>, Vec<(u32, String)>) {
    use pcap_file::pcapng::{Block, PcapNgReader};
    let mut reader = PcapNgReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let (mut names, mut packets) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(block) => names.extend(block.options.iter().find_map(|o| match o {
                InterfaceDescriptionOption::IfName(name) => Some(name.to_string()),
                _ => None,
            })),
            Block::EnhancedPacket(block) => {
                let comment = block.options.iter().find_map(|option| match option {
                    EnhancedPacketOption::Comment(text) => Some(text.to_string()),
                    _ => None,
                });
                packets.push((block.interface_id, comment.unwrap_or_default()));
            }
            _ => {}
        }
    }
    (names, packets)
}

#[test]
fn a_node_that_is_not_there_is_told() {
    let mut file =
        ScenarioFile::from_toml("f.toml", SCENARIO, ".".into(), Catalogue::default().into()).unwrap();
    file.set("duration", "2 s").unwrap();
    let point = file.points().unwrap().list.remove(0);
    let folder = tempfile::tempdir().unwrap();
    let traces = vec![folder.path().join("x.pcapng")];
    let options = Options { traces, capture: Where::parse("rely"), ..Options::default() };
    let error = run(&point.scenario, Seed::Number(1), &ContactsCache::default(), &options).unwrap_err();
    assert_eq!(error.to_string(), "--capture: unknown node `rely` to capture at; did you mean `relay`?");
}

/// What the analysis says of a run's own capture at the senders, and the figures of the run.
fn analysed(controller: &str, transport: &str) -> (analysis::Analysed, crate::metrics::Figures) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.pcapng");
    let figures = captured(controller, transport, Where::Senders, &path);
    let file = std::fs::File::open(&path).unwrap();
    (analysis::analyse(file, analysis::Options::default()).unwrap(), figures)
}

#[test]
fn flows_of_every_transport_are_told_as_they_ran() {
    use analysis::Protocol;
    for (controller, transport, protocol) in [
        ("sack", "tcp", Protocol::Tcp),
        ("ccid2", "dccp", Protocol::Dccp),
        ("ccid3", "dccp", Protocol::Dccp),
        ("fixed", "ltp", Protocol::Ltp),
        ("contact_rate", "udpdtn", Protocol::Udpdtn),
    ] {
        let (told, figures) = analysed(controller, transport);
        assert_eq!((told.notes.len(), told.flows.len()), (0, 2), "{transport}: {:?}", told.notes);
        for (flow, name) in told.flows.iter().zip(["file0", "file1"]) {
            assert_eq!(flow.protocol, protocol);
            let sent = figures.of_part(name, "packets_sent").unwrap();
            assert_eq!(flow.out.data_packets as f64, sent, "{controller} over {transport}");
            assert!(flow.out.data_bytes >= flow.out.unique_bytes && flow.out.unique_bytes > 1_900_000);
            // A one-way delay of 20 ms and of 300 ms: no round trip is shorter.
            let rtt = flow.out.rtt_ms.expect("DCCP and UDPDTN acknowledge");
            assert!(rtt.min >= 640.0 && rtt.samples > 0, "{transport}: {rtt:?}");
            assert!(flow.out.outstanding.is_some(), "{transport}");
            let blocks = flow.out.messages.map(|blocks| (blocks.sent, blocks.complete, blocks.lost));
            // The run ends when the last block is there, before its report is back.
            let (last, others) = ((2, Some(1), Some(0)), (2, Some(2), Some(0)));
            assert_eq!(transport == "ltp", blocks == Some(last) || blocks == Some(others), "{blocks:?}");
            assert_eq!(transport == "ltp", super::table(&told).contains("blocks: 2 sent, 2000000 bytes"));
        }
    }
}

#[test]
fn ltp_in_dccp_is_a_flow_beside_its_connection_in_a_capture_of_a_run() {
    use analysis::Protocol;
    for controller in ["ccid2", "ccid3"] {
        let (told, figures) = analysed(controller, "ltp-dccp");
        assert_eq!(told.notes, [""; 0], "{controller}");
        let of = |protocol| told.flows.iter().filter(move |flow| flow.protocol == protocol);
        assert_eq!((of(Protocol::Dccp).count(), of(Protocol::LtpDccp).count(), told.flows.len()), (2, 2, 4));
        for (index, name) in ["file0", "file1"].into_iter().enumerate() {
            let (below, above) = (of(Protocol::Dccp).nth(index), of(Protocol::LtpDccp).nth(index));
            let (below, above) = (below.expect("counted"), above.expect("counted"));
            assert_eq!((&below.first, &below.second), (&above.first, &above.second), "{controller}");
            assert!(
                above.second.ends_with(":1113"),
                "the port of LTP (RFC 7122, section 4): {}",
                above.second
            );
            let sent = figures.of_part(name, "packets_sent").unwrap();
            assert_eq!(above.out.data_packets as f64, sent, "{controller}: segments of LTP with data");
            assert!(below.out.data_packets as f64 > sent, "{controller}: acknowledgements of reports too");
            let blocks = above.out.messages.map(|blocks| (blocks.sent, blocks.bytes));
            assert_eq!(blocks, Some((2, 2_000_000)), "{controller}");
            assert!(above.out.lost_packets > Some(0) && below.out.rtt_ms.is_some(), "{controller}");
        }
    }
}

#[test]
fn tshark_reads_ltp_in_dccp_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.pcapng");
    captured("ccid2", "ltp-dccp", Where::Senders, &path);
    assert_eq!(warnings(&path).unwrap_or_default(), [""; 0]);
    let fields = ["-T", "fields", "-e", "dccp.service_code", "-e", "dccp.dstport", "-e", "ltp.type"];
    let count = |filter: &str| {
        let arguments = [&["-r", "FILE", "-Y", filter][..], &fields].concat();
        let text = told("tshark", &arguments, &path)?;
        // Without what it says of its user.
        Some(text.lines().filter(|row| row.contains('\t')).map(str::to_owned).collect::<Vec<_>>())
    };
    let Some(requests) = count("dccp.type == 0") else { return };
    assert!(!requests.is_empty() && requests.iter().all(|row| row == "7107696\t1113\t"), "{requests:?}");
    let data = |what: &str| count(what).map_or(0, |rows| rows.len());
    let carrying = "(dccp.type == 2 or dccp.type == 4)";
    assert!(data(carrying) > 2000 && data(carrying) == data(&format!("{carrying} and ltp")));
}

fn conversation(size: u64) -> Conversation {
    conversation_over("tcp", "sack", size)
}

fn conversation_over(transport: &str, controller: &str, size: u64) -> Conversation {
    let text = SCENARIO.replace("2 MB", &format!("{size} B"));
    let mut file = ScenarioFile::from_toml("f.toml", &text, ".".into(), Catalogue::default().into()).unwrap();
    file.set("transport", transport).unwrap();
    file.set("controller", controller).unwrap();
    let scenario = file.points().unwrap().list.remove(0).scenario;
    let setup = scenario.packets().unwrap().setup(Seed::Number(1));
    Conversation::new(&super::run::headers(&setup.flows[0]), 0, [0, 2])
}

fn tcp_fields(
    conversation: &Conversation,
    forward: bool,
    segment: Segment,
) -> (u32, u32, bool, Vec<u8>, u32) {
    let packet = Packet { flow: 0, forward, hop: 0, body: Body::Tcp(segment) };
    let frame = conversation.frame(&packet, [0, 1]);
    let sliced = SlicedPacket::from_ethernet(&frame.head);
    let header = match sliced.as_ref().map(|sliced| &sliced.transport) {
        Ok(Some(TransportSlice::Tcp(tcp))) => tcp.to_header(),
        // Cut behind its headers: the lax reader takes it.
        _ => etherparse::TcpHeader::from_slice(&frame.head[34..]).unwrap().0,
    };
    let options = header.options.as_slice().to_vec();
    (header.sequence_number, header.acknowledgment_number, header.fin, options, frame.length)
}

#[test]
fn sequence_numbers_wrap_and_the_end_of_a_stream_takes_one() {
    let mut talk = conversation(10_000_000_000);
    talk.initial = [u32::MAX - 9, 7];
    let data =
        |offset: u64, fin| Segment { kind: Kind::Data { fin }, length: 1460, offset, ack: 0, sack: None };
    let (sequence, ack, fin, _, length) = tcp_fields(&talk, true, data(1460, false));
    assert_eq!((sequence, ack, fin, length), (1460 - 9, 8, false, 1514));
    let end = 10_000_000_000;
    let (sequence, _, fin, ..) = tcp_fields(&talk, true, data(end - 1460, true));
    assert_eq!((sequence, fin), ((u64::from(u32::MAX - 8) + end - 1460) as u32, true));
    let acknowledges = |ack| Segment { kind: Kind::Ack, length: 0, offset: 0, ack, sack: None };
    let (sequence, ack, ..) = tcp_fields(&talk, false, acknowledges(end));
    assert_eq!((sequence, ack), (8, (u64::from(u32::MAX - 8) + end + 1) as u32));
    assert_eq!(tcp_fields(&talk, false, acknowledges(0)).1, u32::MAX - 8);
}

#[test]
fn blocks_are_told_as_rfc_2018_has_them() {
    let mut talk = conversation(10_000);
    talk.initial = [99, 0];
    let blocks: [Range; 2] = [(2920, 4380), (5840, 10_000)];
    let sack = Some(Box::new(Sack::new(blocks.into_iter())));
    let segment = Segment { kind: Kind::Ack, length: 0, offset: 0, ack: 1460, sack };
    let (_, ack, _, options, _) = tcp_fields(&talk, false, segment);
    assert_eq!(ack, 1560);
    let numbers = |n: u32| n.to_be_bytes().to_vec();
    let edges = [3020, 4480, 5940, 10_101].map(numbers).concat();
    assert_eq!(options, [vec![1, 1, 5, 18], edges].concat());
}

#[test]
fn a_probe_is_data_that_ask_for_lower_effort() {
    let talk = conversation(10_000);
    let data = |kind| Segment { kind, length: 1460, offset: 2920, ack: 0, sack: None };
    let frame = |kind| {
        let packet = Packet { flow: 0, forward: true, hop: 0, body: Body::Tcp(data(kind)) };
        talk.frame(&packet, [0, 1])
    };
    let (probe, plain) = (frame(Kind::Probe), frame(Kind::Data { fin: false }));
    assert_eq!((probe.head[15] >> 2, plain.head[15] >> 2), (1, 0));
    assert_eq!((probe.length, &probe.head[34..]), (plain.length, &plain.head[34..]));
}

/// Header of UDP: the length in it, and what is behind it.
fn datagram_of(frame: &Frame) -> (usize, &[u8]) {
    (usize::from(u16::from_be_bytes([frame.head[38], frame.head[39]])), &frame.head[42..])
}

#[test]
fn a_captured_datagram_is_read_as_what_was_sent() {
    let talk = conversation_over("udpdtn", "contact_rate", 10_000);
    let report_every = lightlag_protocols::wire::interval::round(Span::from_secs(3));
    let sent_at = wire::round_stamp(Instant::from_secs(77));
    let report = Report {
        incarnation: 7,
        sequence: 3,
        highest: 41,
        received: 40,
        sent_at,
        held: Span::from_nanos(5_000),
        one_way: Some(Span::from_secs(300)),
        train: Some(BitRate(1_000_000)),
        whole_below: 1,
        first: 1,
        have: vec![Here { symbols: 3, beyond: 5 }, Here::WHOLE],
        opened: true,
        complete: true,
        digest: [0; 32],
    };
    let sent = [
        Datagram::Open { length: Bytes(10_000), report_every },
        Datagram::Data { number: 40, block: 2, symbol: 9_000, sent_at, in_train: true, report_every },
        Datagram::Report(Box::new(report)),
        Datagram::Unknown,
    ];
    for datagram in sent {
        let forward = matches!(datagram, Datagram::Open { .. } | Datagram::Data { .. });
        let symbol = Bytes(1456);
        let size = datagram.size(symbol).0 as usize;
        let body = Body::Udpdtn(datagram.clone(), symbol);
        let frame = talk.frame(&Packet { flow: 0, forward, hop: 0, body }, [0, 1]);
        let (length, bytes) = datagram_of(&frame);
        // Behind 14 bytes of Ethernet and 20 of IP.
        assert_eq!((frame.length as usize, length), (14 + size, size - 20), "{datagram:?}");
        let read = wire::Packet::read(bytes).unwrap();
        assert_eq!(read.session, talk.initial[0]);
        assert_eq!(read.datagram(&mut Unwrap::default(), Instant::from_secs(80)), Some(datagram));
    }
}
