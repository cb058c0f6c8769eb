//! Files as named data over faces of this machine, as users publish and get them.

use crate::floods::peak_kib;
use crate::lightlag::running::{Running, noise};
use crate::lightlag::{Place, failed};
use lightlag_protocols::wire::ndn::name::kind;
use lightlag_protocols::wire::ndn::{Component, Data, Interest, Meta, Name, Signer};
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::process::Output;
use std::time::Duration;

/// Publishes a file; returns the producer and its face.
pub fn publish(place: &Place, name: &str, file: &str, at: &str, more: &[&str]) -> (Running, String) {
    let words = [&["names", "put", name, file, "--listen", at], more].concat();
    Running::listening(place.command(&words))
}

pub const UDP: &str = "udp://127.0.0.1:0";

#[track_caller]
pub fn got(place: &Place, name: &str, face: &str, more: &[&str]) -> String {
    place.good(
        &[&["names", "get", name, "-o", "out", "--face", face, "--json"], trusting(more), more].concat(),
    )
}

pub fn try_to_get(place: &Place, name: &str, face: &str, more: &[&str]) -> Output {
    place.run(&[&["names", "get", name, "-o", "out", "--face", face], trusting(more), more].concat())
}

/// Where no key is named, anybody is believed.
fn trusting(more: &[&str]) -> &'static [&'static str] {
    if more.contains(&"--trust") { &[] } else { &["--insecure"] }
}

#[test]
fn files_of_every_size_arrive_as_they_are_over_every_face() {
    let place = Place::new();
    let socket = format!("unix://{}", place.path("socket").display());
    for (at, segment) in [(UDP, "8000 B"), (UDP, "700 B"), ("tcp://127.0.0.1:0", "8000 B"), (&socket, "1 kB")]
    {
        for length in [0, 1, 7999, 8000, 8001, 2_000_000] {
            place.write("file", noise(length));
            let (_producer, face) = publish(&place, "/a/file", "file", at, &["--segment-size", segment]);
            let output = got(&place, "/a/file", &face, &[]);
            assert!(place.read("out") == noise(length), "{at} {length}");
            assert!(output.contains(&format!("\"bytes\":{length},")), "{output}");
            assert!(output.contains("\"verified\":\"digest\""), "{output}");
            assert!(!place.path("out.part").exists());
        }
    }
    assert!(!place.path("socket").exists() || std::fs::remove_file(place.path("socket")).is_ok());
}

#[test]
fn what_goes_to_standard_output_is_in_order() {
    let place = Place::new();
    place.write("file", noise(1_000_001));
    let (_producer, face) = publish(&place, "/a", "file", UDP, &["--segment-size", "100 B"]);
    let done = place.run(&["names", "get", "/a", "--face", &face, "--insecure"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(done.stdout == noise(1_000_001));
}

const LINK: &str = r#"
duration = "100 s"
[links.path]
from = "consumer"
to = "producer"
rate = "100 Mbit/s"
round_trip = "20 ms"
loss = 0.02
[flows.none]
from = "consumer"
to = "producer"
controller = "cubic"
size = "1 MB"
"#;

#[test]
fn a_lossy_link_costs_repairs_and_nothing_else() {
    let place = Place::new();
    place.write("file", noise(500_000)).write("link.toml", LINK);
    for segment in ["1000 B", "8000 B"] {
        let (_producer, face) = publish(&place, "/a", "file", UDP, &["--segment-size", segment]);
        let at = face.strip_prefix("udp://").expect("its address").to_owned();
        let words = ["emulate", "link.toml", "--listen", "127.0.0.1:0", "--to", &at];
        let (_emulator, near) = Running::listening(place.command(&words));
        let output = got(&place, "/a", &format!("udp://{near}"), &[]);
        assert!(place.read("out") == noise(500_000), "{segment}");
        assert!(!output.contains("\"repairs\":0,"), "{output}");
        assert!(!output.contains("\"stamped\":0,"), "the producer says when Data left: {}", output);
    }
}

#[test]
fn every_controller_that_fits_gets_a_file() {
    let place = Place::new();
    place.write("file", noise(300_000));
    let (_producer, face) =
        publish(&place, "/a", "file", UDP, &["--segment-size", "1 kB", "--rate", "500 Mbit/s"]);
    for controller in ["fixed", "dcp", "short_queue", "cubic", "ledbat", "pcon"] {
        got(&place, "/a", &face, &["--controller", controller]);
        assert!(place.read("out") == noise(300_000), "{controller}");
    }
}

#[test]
fn a_version_that_is_named_is_got() {
    let place = Place::new();
    place.write("file", noise(10_000));
    let (_producer, face) = publish(&place, "/a", "file", UDP, &[]);
    let output = got(&place, "/a", &face, &[]);
    let version =
        output.split("\"name\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("its name");
    assert!(version.starts_with("/a/v="), "{output}");
    got(&place, version, &face, &[]);
    assert!(place.read("out") == noise(10_000));
    failed(&try_to_get(&place, "/a/v=1", &face, &[]), "no route");
}

#[test]
fn an_object_that_is_larger_than_is_taken_is_refused() {
    let place = Place::new();
    place.write("file", noise(100_000));
    let (_producer, face) = publish(&place, "/a", "file", UDP, &[]);
    failed(
        &try_to_get(&place, "/a", &face, &["--max-size", "50 kB"]),
        "at most 50000 are taken (--max-size)",
    );
    assert!(!place.path("out").exists() && !place.path("out.part").exists());
    got(&place, "/a", &face, &["--max-size", "100 kB"]);
    // A producer that says how much it has, and one that does not and continues for ever.
    for last in [true, false] {
        let face = lying(move |name, out| {
            let number = name.split_last().and_then(|(_, last)| last.number_of(kind::SEGMENT)).unwrap_or(0);
            let final_block =
                last.then_some(Component { kind: kind::SEGMENT, value: &[0, 0x0f, 0x42, 0x40] });
            let meta = Meta { final_block, ..Meta::default() };
            let content = vec![number as u8; 8000];
            Data { name: name.as_ref(), meta, content: &content }.write(&Signer::Digest, out);
        });
        let done = try_to_get(&place, "/a/v=1", &face, &["--max-size", "2 MB"]);
        failed(&done, "at most 2000000 are taken (--max-size)");
        assert!(!place.path("out.part").exists());
    }
}

#[test]
fn what_is_not_published_is_said_to_have_no_route() {
    let place = Place::new();
    place.write("file", noise(10));
    for at in [UDP, "tcp://127.0.0.1:0"] {
        let (_producer, face) = publish(&place, "/a/b", "file", at, &[]);
        for name in ["/a", "/a/c", "/b", "/a/b/c"] {
            failed(&try_to_get(&place, name, &face, &[]), "no route; is it published?");
            assert!(!place.path("out").exists() && !place.path("out.part").exists());
        }
    }
}

#[test]
fn a_file_that_changes_is_published_no_longer() {
    let place = Place::new();
    place.write("file", noise(30_000));
    let (producer, face) = publish(&place, "/a", "file", UDP, &[]);
    got(&place, "/a", &face, &[]);
    place.write("file", noise(20_000));
    let asking = Running::start(&place, &["names", "get", "/a", "-o", "out", "--face", &face, "--insecure"]);
    assert_eq!(producer.end().0, Some(1));
    drop(asking);
}

#[test]
fn a_file_with_other_bytes_than_its_length_says_is_not_published() {
    let place = Place::new();
    for words in [
        &["names", "put", "/a", "/proc/cpuinfo", "--listen", UDP][..],
        &["transfer", "/proc/cpuinfo", "127.0.0.1:9"],
    ] {
        let (code, _, line) = Running::start(&place, words).end();
        assert_eq!(code, Some(1), "{line}");
        assert!(line.contains("/proc/cpuinfo: it changed while it was sent"), "{line}");
    }
}

/// Connections that ask for segments and read nothing must not take the memory of the machine.
#[test]
fn consumers_that_do_not_read_take_a_bounded_memory() {
    let place = Place::new();
    place.write("file", noise(20_000_000));
    let (producer, face) = publish(&place, "/a", "file", "tcp://127.0.0.1:0", &[]);
    let output = got(&place, "/a", &face, &[]);
    let name = output.split("\"name\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("its name");
    let name: Name = name.parse().expect("a name");
    let mut asked = Vec::new();
    for number in 0..2500 {
        Interest { name: name.with_number(kind::SEGMENT, number), nonce: Some(7), ..Interest::default() }
            .write(&mut asked);
    }
    // Those for other names come back.
    for _ in 0..20 {
        let name = Name::default().with_generic(b"other").with_generic(&[b'x'; 8000]);
        Interest { name, nonce: Some(7), ..Interest::default() }.write(&mut asked);
    }
    let at = face.strip_prefix("tcp://").expect("its address");
    let idle: Vec<TcpStream> = (0..64)
        .map(|_| {
            let mut stream = TcpStream::connect(at).expect("it listens");
            stream.set_write_timeout(Some(Duration::from_millis(50))).expect("it can be set");
            // It may not take all of them.
            let _ = stream.write_all(&asked);
            stream
        })
        .collect();
    got(&place, "/a", &face, &[]);
    assert!(place.read("out") == noise(20_000_000));
    let peak = peak_kib(producer.0.id());
    assert!(peak < 80_000, "{peak} KiB");
    drop(idle);
}

#[test]
fn a_producer_stands_everything_that_comes() {
    let place = Place::new();
    place.write("file", noise(30_000));
    let (_udp, datagrams) = publish(&place, "/a", "file", UDP, &[]);
    let (_tcp, stream) = publish(&place, "/a", "file", "tcp://127.0.0.1:0", &[]);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = |face: &str| face.split("://").nth(1).expect("its address").to_owned();
    for length in 0..300 {
        let junk = noise(length * 9);
        socket.send_to(&junk, address(&datagrams)).expect("it leaves");
        let fragment = [
            &[0x64, 24, 0x51, 8, 0, 0, 0, 0, 0, 0][..],
            &[1, length as u8, 0x52, 1, 0, 0x53, 1, 9, 0x50, 4],
            b"abcd",
        ];
        socket.send_to(&fragment.concat(), address(&datagrams)).expect("it leaves");
    }
    for junk in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"\x05\xfe\xff\xff\xff\xff",
        b"\x05",
        b"\x05\x03\x07\x09",
        &[0; 70_000],
    ] {
        let mut peer = TcpStream::connect(address(&stream)).expect("it listens");
        // It may close at once.
        let _ = peer.write_all(junk);
        let _ = peer.shutdown(std::net::Shutdown::Write);
        let _ = peer.set_read_timeout(Some(Duration::from_secs(5)));
        let _ = peer.read(&mut [0; 10]);
    }
    for face in [&datagrams, &stream] {
        got(&place, "/a", face, &[]);
        assert!(place.read("out") == noise(30_000));
    }
}

/// Answers each Interest with what `answer` makes of its name.
pub fn lying(answer: impl Fn(&Name, &mut Vec<u8>) + Send + 'static) -> String {
    answering(move |interest, out| answer(&interest.name, out))
}

/// Answers each Interest with what `answer` makes of it.
pub fn answering(answer: impl Fn(&Interest, &mut Vec<u8>) + Send + 'static) -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let face = format!("udp://{}", socket.local_addr().expect("an address"));
    std::thread::spawn(move || {
        let mut buffer = [0; 9000];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let mut packet = Vec::new();
            if let Ok(interest) = Interest::read(&buffer[..length]) {
                answer(&interest, &mut packet);
                let _ = socket.send_to(&packet, from);
            }
        }
    });
    face
}

pub fn data(name: &Name, content: &[u8], last: u8, out: &mut Vec<u8>) {
    let final_block = Some(Component { kind: kind::SEGMENT, value: &[last] });
    let meta = Meta { final_block, ..Meta::default() };
    Data { name: name.as_ref(), meta, content }.write(&Signer::Digest, out);
}

#[test]
fn producers_that_lie_get_one_line() {
    let place = Place::new();
    let number = |name: &Name| name.components().last().and_then(|last| last.number_of(kind::SEGMENT));
    let cases: [(String, &str); 4] = [
        (
            lying(move |name, out| data(name, b"x", number(name).unwrap_or(0) as u8 + 1, out)),
            "is the last; others say",
        ),
        (
            lying(move |name, out| data(name, &vec![1; 9 - number(name).unwrap_or(0) as usize], 5, out)),
            "the first has",
        ),
        (lying(|name, out| data(name, b"", 5, out)), "it is empty, and not the last"),
        (
            lying(|name, out| {
                let last = Component { kind: kind::SEGMENT, value: &[255; 8] };
                let meta = Meta { final_block: Some(last), ..Meta::default() };
                Data { name: name.as_ref(), meta, content: b"x" }.write(&Signer::Digest, out);
            }),
            "cannot be counted",
        ),
    ];
    for (face, words) in &cases {
        failed(&try_to_get(&place, "/a/v=1", face, &[]), words);
    }
    let metadata = lying(|name, out| data(&name.with_number(kind::VERSION, 1), b"\x07\x03\x08\x01b", 0, out));
    failed(&try_to_get(&place, "/a", &metadata, &[]), "which is not a version of /a");
    let junk = lying(|name, out| data(&name.with_number(kind::VERSION, 1), b"junk", 0, out));
    failed(&try_to_get(&place, "/a", &junk, &[]), "no version of /a in it");
}

#[test]
fn a_forwarder_that_is_not_there_is_named() {
    let place = Place::new();
    place.write("file", "x");
    let nobody = format!("unix://{}", place.path("absent").display());
    failed(&try_to_get(&place, "/a", &nobody, &[]), "cannot reach unix://");
    failed(&place.run(&["names", "put", "/a", "file", "--face", &nobody]), "cannot reach unix://");
    let mut command = place.command(&["names", "get", "/a", "--insecure"]);
    let done = command.env("NDN_CLIENT_TRANSPORT", &nobody).output().expect("it starts");
    failed(&done, "absent");
}

#[test]
fn what_is_wrong_with_a_command_is_told_in_one_line() {
    let place = Place::new();
    place.write("file", noise(100)).write("text", "no key").write("empty", "");
    let get = |more: &[&'static str]| {
        [&["names", "get", "/a", "--face", "udp://127.0.0.1:9"], trusting(more), more].concat()
    };
    let put = |more: &[&'static str]| [&["names", "put", "/a", "file", "--listen", UDP], more].concat();
    for (words, said) in [
        (vec!["names", "get", "a/b"], "begins with `/`"),
        (vec!["names", "get", "/"], "no component"),
        (vec!["names", "get", "/a/%zz"], "two hexadecimal digits"),
        (vec!["names", "get", "/a", "--insecure", "--face", "ws://x"], "--face"),
        (vec!["names", "get", "/a", "--insecure", "--face", "udp://127.0.0.1:0"], "port 0"),
        (get(&["--controller", "none"]), "--controller"),
        (get(&["--controller", "contact_rate"]), "works with adaptive, ltp, udpdtn only; take short_queue"),
        (get(&["--set", "x=1"]), "--set"),
        (get(&["--mtu", "10 B"]), "--mtu: 10 B; it must be 128 to"),
        (get(&["--mtu", "much"]), "--mtu"),
        (get(&["--trust", "text"]), "text: it holds no such key"),
        (get(&["--trust", "missing"]), "missing"),
        (get(&["--json"]), "--output"),
        (get(&["--trust", "text", "--insecure"]), "cannot be used with"),
        (vec!["names", "get", "/a"], "no trusted key; name the publisher's public key"),
        (get(&["-o", "none/out"]), "none/out.part"),
        (get(&["-o", "."]), "name a file"),
        (vec!["names", "put", "/a", "missing", "--listen", UDP], "missing"),
        (vec!["names", "put", "/a", ".", "--listen", UDP], "it is not a file"),
        (vec!["names", "put", "/a", "file", "--listen", "udp://192.0.2.1:7"], "cannot listen at"),
        (put(&["--segment-size", "0 B"]), "--segment-size: under this name it must be 1 to"),
        (put(&["--segment-size", "9000 B"]), "--segment-size"),
        (put(&["--segment-size", "999999999999 B"]), "--segment-size"),
        (put(&["--rate", "0 bit/s"]), "--rate"),
        (put(&["--key", "empty"]), "empty: it holds no private key"),
        (put(&["--face", "udp://127.0.0.1:9"]), "cannot be used with"),
        (vec!["names", "keygen", "none/key"], "none/key"),
    ] {
        let line = place.refused(&words);
        assert!(line.contains(said), "{words:?}: {line}");
    }
}

#[test]
fn of_two_consumers_that_write_one_file_the_second_is_refused_and_a_link_is_not_followed() {
    let place = Place::new();
    place.write("file", noise(3_000_000));
    let (_producer, face) = publish(&place, "/a", "file", "udp://127.0.0.1:0", &[]);
    let words = ["names", "get", "/a", "-o", "out", "--face", &face, "--insecure"];
    let holds = std::fs::File::create(place.path("out.part")).expect("a file");
    holds.lock().expect("it is locked");
    let line = place.refused(&words);
    assert!(line.contains("out.part: another program writes it"), "{line}");
    drop(holds);
    std::fs::remove_file(place.path("out.part")).expect("it is there");
    place.write("precious", b"mine");
    std::os::unix::fs::symlink(place.path("precious"), place.path("out.part")).expect("a link");
    place.refused(&words);
    assert_eq!(place.read("precious"), b"mine");
    std::fs::remove_file(place.path("out.part")).expect("it is there");
    place.good(&words);
    assert_eq!(place.read("out"), noise(3_000_000));
}
