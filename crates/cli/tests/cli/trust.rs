//! Whom `names get` believes: with a key only what this key has signed, whatever else arrives.

use crate::lightlag::running::noise;
use crate::lightlag::{Place, failed};
use crate::names::{UDP, answering, data, got, lying, publish, try_to_get};
use base64ct::Encoding;
use lightlag_protocols::wire::ndn::name::kind;
use lightlag_protocols::wire::ndn::{Component, Data, Headers, LpPacket, Meta, Nack, Name, Signed, Signer};
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

/// Answers were refused: the first line says so at once, the last what to do.
#[track_caller]
fn refused(done: &Output, words: &[&str]) {
    let output = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{output}");
    assert_eq!(output.lines().count(), 2, "{output}");
    assert!(
        output.lines().next().is_some_and(|line| line.contains("asking again for up to 5 s")),
        "{output}"
    );
    for word in words {
        assert!(output.lines().last().is_some_and(|line| line.contains(word)), "{word}: {output}");
    }
}

/// The keys `mine` and `other`.
fn keys(place: &Place) {
    place.good(&["names", "keygen", "mine"]);
    place.good(&["names", "keygen", "other"]);
}

/// The identifier of a key, as it stands in the names of keys.
fn id(place: &Place, file: &str) -> String {
    let Signer::Ecdsa(_, name) = signer(place, file) else { panic!("a key") };
    name.split_last().map(|(_, last)| Name::default().with(last).to_string()).expect("an id")
}

#[test]
fn only_what_a_trusted_key_has_signed_is_taken() {
    let place = Place::new();
    place.write("file", noise(30_000));
    keys(&place);
    place.refused(&["names", "keygen", "mine"]);
    let (_signed, face) = publish(&place, "/a", "file", UDP, &["--key", "mine"]);
    let output = got(&place, "/a", &face, &["--trust", "mine.pub"]);
    assert!(output.contains("\"verified\":\"key\"") && place.read("out") == noise(30_000), "{output}");
    assert!(got(&place, "/a", &face, &[]).contains("\"verified\":\"no\""));
    std::fs::remove_file(place.path("out")).expect("it is there");
    let mine = format!("by /a/KEY{}", id(&place, "mine"));
    refused(
        &try_to_get(&place, "/a", &face, &["--trust", "other.pub"]),
        &["Data arrived", "signed by another key than the trusted one", &mine, "ask the publisher"],
    );
    let altering = forging(&face, 100, Some(Forgery::Content), 1, signer(&place, "other"));
    refused(
        &try_to_get(&place, "/a", &altering, &["--trust", "mine.pub"]),
        &["it was altered: it names the trusted key", "another --face"],
    );
    refused(&try_to_get(&place, "/a", &altering, &["--trust", "other.pub"]), &[&mine]);
    let (_unsigned, face) = publish(&place, "/a", "file", UDP, &[]);
    let done = try_to_get(&place, "/a", &face, &["--trust", "mine.pub"]);
    refused(&done, &["it is signed without a key", "names put --key", "--insecure"]);
    assert!(!place.path("out").exists() && !place.path("out.part").exists());
}

#[test]
fn a_wrong_digest_is_reported_with_and_without_a_key() {
    let place = Place::new();
    keys(&place);
    let face = lying(|name, out| {
        data(name, b"x", 3, out);
        out.iter_mut().last().into_iter().for_each(|byte| *byte ^= 1);
    });
    for trust in [&["--trust", "mine.pub"][..], &[]] {
        let done = try_to_get(&place, "/a/v=1", &face, trust);
        refused(&done, &["it was altered: its digest is wrong; ask over another --face"]);
    }
}

#[test]
fn a_wrong_key_is_reported_at_once_and_ends_within_seconds_whatever_comes_afterwards() {
    let place = Place::new();
    keys(&place);
    // Those that answer every Interest, plain ones only (as for Data without a time of freshness), and one.
    for how in ["all", "plain", "one"] {
        let (other, asked) = (signer(&place, "other"), std::sync::atomic::AtomicU32::new(0));
        let face = answering(move |interest, out| {
            let number = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if how == "all" || (how == "plain" && !interest.must_be_fresh) || (how == "one" && number == 0) {
                Data { name: interest.name.as_ref(), meta: Meta::default(), content: b"x" }
                    .write(&other, out);
            }
        });
        let words = ["names", "get", "/a/v=1", "-o", "out", "--face", &face, "--trust", "mine.pub"];
        let began = Instant::now();
        let mut command = place.command(&words);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("its errors are read")).lines();
        let first = lines.next().expect("a line").expect("it can be read");
        assert!(began.elapsed() < Duration::from_secs(2), "{how}: {:?}", began.elapsed());
        let other = format!("signed by another key than the trusted one: by /a/KEY{}", id(&place, "other"));
        assert!(first.contains(&other), "{how}: {first}");
        let last = lines.next().expect("a line").expect("it can be read");
        assert!(last.contains(&other) && last.contains("ask the publisher"), "{how}: {last}");
        assert_eq!(child.wait().expect("it ends").code(), Some(1));
        assert!(began.elapsed() < Duration::from_secs(10), "{how}: {:?}", began.elapsed());
    }
}

/// A certificate that NDNts has written.
const CERTIFICATE: &str = "Bv0BGgciCAFhCANLRVk4CAAGYRse3fGoCARzZWxmNggAAAGiEzsaJxQJGAECGQQANu6AFVswWTATBgcqhkjOPQIBBggqhkjOPQMB\
    BwNCAATOdY7GDT3aiBlGIJrTz64xmj/B/lKRVAI+qYq00U9ixuTQ3MA1bnzvrbEK5Pg/NH0ac8GMaad4rdgWDfZvNEcyFkMbAQMc\
    FAcSCAFhCANLRVk4CAAGYRse3fGo/QD9Jv0A/g8xOTg3MDIxMlQwNjMwMDD9AP8POTk5OTEyMzFUMjM1OTU5F0cwRQIhAMBENLEw\
    t20A+H+w6k/OVqG3K3PEuQUI/S5qIXT3sM+DAiBkhFZVm5kYty6Ml9WfqYacFyEeaw2juwHYlzs+dOwA+A==";

#[test]
fn a_certificate_of_another_tool_is_a_key() {
    let place = Place::new();
    place.write("file", noise(3_000)).write("their.cert", CERTIFICATE);
    keys(&place);
    let (_producer, face) = publish(&place, "/a", "file", UDP, &["--key", "mine"]);
    let done = try_to_get(&place, "/a", &face, &["--trust", "their.cert"]);
    refused(&done, &[&format!("another key than the trusted one: by /a/KEY{}", id(&place, "mine"))]);
}

#[test]
fn a_certificate_tells_a_key_that_is_renamed_from_data_that_were_altered() {
    let place = Place::new();
    place.write("file", noise(3_000));
    keys(&place);
    let (_producer, face) = publish(&place, "/a", "file", UDP, &["--key", "mine"]);
    // The certificate of `mine`, as other tools write it: by its own identifier, which a key in PEM does not show.
    let Signer::Ecdsa(key, _) = signer(&place, "mine") else { panic!("a key") };
    let renamed = Signer::Ecdsa(key, "/a/KEY/first".parse().expect("a name"));
    let pem = String::from_utf8(place.read("mine.pub")).expect("text");
    let digits: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let der = base64ct::Base64::decode_vec(&digits).expect("base64");
    let name = "/a/KEY/first/self/v=1".parse().expect("a name");
    let mut certificate = Vec::new();
    Data { name, meta: Meta::default(), content: &der }.write(&renamed, &mut certificate);
    place.write("mine.cert", base64ct::Base64::encode_string(&certificate));
    got(&place, "/a", &face, &["--trust", "mine.cert"]);
    let signed_by = |signer: Signer| {
        lying(move |name, out| {
            Data { name: name.as_ref(), meta: Meta::default(), content: b"x" }.write(&signer, out);
            out.iter_mut().last().into_iter().for_each(|byte| *byte ^= 1);
        })
    };
    let face = signed_by(renamed);
    let done = try_to_get(&place, "/a/v=1", &face, &["--trust", "mine.cert"]);
    refused(&done, &["it names the trusted key, but the signature is wrong"]);
}

#[test]
fn a_nack_is_a_hint_where_a_key_is_demanded() {
    let place = Place::new();
    place.write("file", noise(40_000));
    keys(&place);
    let more = ["--key", "mine", "--segment-size", "1000 B"];
    let (_producer, face) = publish(&place, "/a", "file", UDP, &more);
    let trust = ["--trust", "mine.pub"];
    for (seed, reason) in
        [Nack::NoRoute, Nack::Unspecified, Nack::Other(7), Nack::Congestion, Nack::Duplicate]
            .into_iter()
            .enumerate()
    {
        for percent in [5, 50] {
            let face = nacking(&face, reason, percent, seed as u64 + 1);
            got(&place, "/a", &face, &trust);
            assert!(place.read("out") == noise(40_000), "{reason}, {percent} %");
            std::fs::remove_file(place.path("out")).expect("it goes");
        }
    }
    // All Interests: it ends all the same, and says what was said first.
    let began = Instant::now();
    let done = try_to_get(&place, "/a", &nacking(&face, Nack::NoRoute, 100, 1), &trust);
    refused(&done, &["it has no route; is it published?"]);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    // Without a key the word of the forwarder counts.
    failed(&try_to_get(&place, "/b", &face, &[]), "no route; is it published?");
}

/// A forwarder on the path. Of a packet for the producer `inward` gives what is sent back at once, and whether the packet is
/// passed on; of one for the consumer `outward` gives what is passed on.
fn forwarder(
    to: &str,
    mut inward: impl FnMut(&[u8]) -> (Option<Vec<u8>>, bool) + Send + 'static,
    mut outward: impl FnMut(&[u8]) -> Vec<u8> + Send + 'static,
) -> String {
    let (near, far) = (UdpSocket::bind("127.0.0.1:0"), UdpSocket::bind("127.0.0.1:0"));
    let (near, far) = (near.expect("a socket"), far.expect("a socket"));
    far.connect(to.strip_prefix("udp://").expect("its address")).expect("it is there");
    let face = format!("udp://{}", near.local_addr().expect("an address"));
    let (near_too, far_too) = (near.try_clone().expect("a copy"), far.try_clone().expect("a copy"));
    let asks = std::sync::Arc::new(std::sync::Mutex::new(None));
    let asked_by = asks.clone();
    std::thread::spawn(move || {
        let mut buffer = [0; 9000];
        while let Ok((length, from)) = near.recv_from(&mut buffer) {
            *asked_by.lock().expect("no thread failed") = Some(from);
            let (back, passes) = inward(&buffer[..length]);
            if let Some(back) = back {
                let _ = near.send_to(&back, from);
            }
            if passes {
                let _ = far.send(&buffer[..length]);
            }
        }
    });
    std::thread::spawn(move || {
        let mut buffer = [0; 9000];
        while let Ok(length) = far_too.recv(&mut buffer) {
            let out = outward(&buffer[..length]);
            if let Some(to) = *asks.lock().expect("no thread failed") {
                let _ = near_too.send_to(&out, to);
            }
        }
    });
    face
}

/// A forwarder on the path that answers this share of the Interests, at random, with a Nack, and half of these
/// besides with what they ask for.
fn nacking(to: &str, reason: Nack, percent: u64, mut state: u64) -> String {
    let inward = move |frame: &[u8]| {
        let draw = draw(&mut state);
        let is_refused = draw % 100 < percent;
        let nack = LpPacket::read(frame).ok().filter(|_| is_refused).map(|LpPacket { payload, .. }| {
            let headers = Headers { nack: Some(reason), ..Headers::default() };
            let mut out = Vec::new();
            LpPacket { headers, payload, ..LpPacket::default() }.write(&mut out);
            out
        });
        (nack, !is_refused || (percent < 100 && (draw / 100).is_multiple_of(2)))
    };
    forwarder(to, inward, <[u8]>::to_vec)
}

fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// What a forwarder on the path does to Data.
#[derive(Clone, Copy, Debug)]
enum Forgery {
    Content,
    OtherKey,
    DigestOnly,
    Truncated,
    LastSegment,
    NoneThere,
    OtherVersion,
}

const FORGERIES: [Forgery; 7] = [
    Forgery::Content,
    Forgery::OtherKey,
    Forgery::DigestOnly,
    Forgery::Truncated,
    Forgery::LastSegment,
    Forgery::NoneThere,
    Forgery::OtherVersion,
];

fn forge(how: Forgery, packet: &[u8], mallory: &Signer) -> Vec<u8> {
    let mut out = Vec::new();
    let Ok(signed) = Signed::read(packet) else { return packet.to_vec() };
    let Data { name, meta, content } = signed.data.clone();
    let changed: Vec<u8> = content.iter().map(|byte| byte ^ 1).collect();
    match how {
        Forgery::Content => {
            out = packet.to_vec();
            let at = packet.windows(content.len().max(1)).position(|part| part == content).unwrap_or(0);
            out[at + content.len() / 2] ^= 1;
        }
        Forgery::OtherKey => Data { name, meta, content: &changed }.write(mallory, &mut out),
        Forgery::DigestOnly => Data { name, meta, content: &changed }.write(&Signer::Digest, &mut out),
        Forgery::Truncated => {
            Data { name, meta, content: &content[..content.len() / 2] }.write(mallory, &mut out);
        }
        Forgery::LastSegment => {
            let final_block = Some(Component { kind: kind::SEGMENT, value: &[0] });
            Data { name, meta: Meta { final_block, ..meta }, content }.write(mallory, &mut out);
        }
        Forgery::NoneThere => {
            let meta = Meta { content_type: Some(3), ..meta };
            Data { name, meta, content: &[] }.write(&Signer::Digest, &mut out);
        }
        Forgery::OtherVersion => {
            let other = Name::default().with_generic(b"a").with_number(kind::VERSION, 1);
            let mut output = Vec::new();
            other.write(&mut output);
            Data { name, meta, content: &output }.write(mallory, &mut out);
        }
    }
    out
}

/// A forwarder on the path that forges this share of the Data, at random.
fn forging(to: &str, percent: u64, how: Option<Forgery>, mut state: u64, mallory: Signer) -> String {
    let outward = move |frame: &[u8]| {
        let draw = draw(&mut state);
        match LpPacket::read(frame) {
            Ok(LpPacket { payload, .. }) if draw % 100 < percent => {
                let how = how.unwrap_or(FORGERIES[(draw / 100) as usize % FORGERIES.len()]);
                forge(how, payload, &mallory)
            }
            _ => frame.to_vec(),
        }
    };
    forwarder(to, |_| (None, true), outward)
}

/// The key that a file made by `names keygen` holds.
fn signer(place: &Place, file: &str) -> Signer {
    let name = "/a".parse().expect("a name");
    lightlag_node::names::read_key(&place.path(file), &name).expect("a key")
}

#[test]
fn with_a_key_forged_data_are_asked_for_again_and_never_written() {
    let place = Place::new();
    place.write("file", noise(40_000));
    keys(&place);
    let more = ["--key", "mine", "--segment-size", "1000 B"];
    let (_producer, face) = publish(&place, "/a", "file", UDP, &more);
    for (seed, how) in FORGERIES.into_iter().enumerate() {
        let face = forging(&face, 30, Some(how), seed as u64, signer(&place, "other"));
        let output = got(&place, "/a", &face, &["--trust", "mine.pub"]);
        assert!(place.read("out") == noise(40_000), "{how:?}");
        assert!(
            output.contains("\"verified\":\"key\"") && !output.contains("\"forged\":0,"),
            "{how:?}: {}",
            output
        );
        std::fs::remove_file(place.path("out")).expect("it goes");
    }
    let (whole, refused) = forged_at_random(&place, &face, 0..3);
    assert_eq!(whole + refused, 3);
}

#[test]
#[ignore = "minutes; run by make torture"]
fn files_come_whole_or_not_at_all_however_much_is_forged() {
    let place = Place::new();
    place.write("file", noise(40_000));
    keys(&place);
    let more = ["--key", "mine", "--segment-size", "1000 B"];
    let (_producer, face) = publish(&place, "/a", "file", UDP, &more);
    let (whole, refused) = forged_at_random(&place, &face, 0..12);
    println!(
        "torture: forged Data; 12 files of 40 segments; shares of 0 to 100 % forged, of seven kinds; \
         {whole} whole, {refused} refused"
    );
    assert!(whole > 0 && refused > 0);
}

/// Gets the file through forwarders that forge a share of the Data drawn by each seed; how often it came whole, and how
/// often it was refused with a line.
fn forged_at_random(place: &Place, face: &str, seeds: std::ops::Range<u64>) -> (u64, u64) {
    let (mut whole, mut none) = (0, 0);
    for seed in seeds {
        let percent = if seed == 0 { 100 } else { seed * 2_654_435_761 % 101 };
        let face = forging(face, percent, None, seed, signer(place, "other"));
        let done = try_to_get(place, "/a", &face, &["--trust", "mine.pub"]);
        if done.status.success() {
            assert!(place.read("out") == noise(40_000), "{seed}: {percent} %");
            std::fs::remove_file(place.path("out")).expect("it goes");
            whole += 1;
        } else {
            refused(&done, &["answers in a row were refused: "]);
            assert!(!place.path("out").exists() && !place.path("out.part").exists(), "{seed}: {percent} %");
            assert!(percent > 30, "{seed}: {percent} %");
            none += 1;
        }
    }
    (whole, none)
}

#[test]
fn without_a_key_nothing_is_written_unless_it_is_asked_for() {
    let place = Place::new();
    place.write("file", noise(5000));
    place.good(&["names", "keygen", "mine"]);
    for key in [&["--key", "mine"][..], &[]] {
        let (_producer, face) = publish(&place, "/a", "file", UDP, key);
        let line = place.refused(&["names", "get", "/a", "-o", "out", "--face", &face]);
        assert!(line.contains("--trust") && line.contains("--insecure") && line.contains("keygen"), "{line}");
        assert!(!place.path("out").exists() && !place.path("out.part").exists());
        // Signed or only digested: what is not verified is said to be so in the same words.
        let output = place.good(&["names", "get", "/a", "-o", "out", "--face", &face, "--insecure"]);
        assert!(output.contains("not verified: anybody may have written it"), "{output}");
        std::fs::remove_file(place.path("out")).expect("it goes");
    }
}
