//! Data in the page stay data.

use base64ct::{Base64, Encoding};
use flate2::read::GzDecoder;
use lightlag_page::{
    About, Format, Map, Records, Source, compressed, frame, html, policy, sources_json, with_sources,
};
use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::Read;

/// Elements that hold data, as a browser ends them: at the first `</script`, whatever its case.
fn within(page: &str) -> Vec<Value> {
    let starts = page.split("<script type=\"application/json\" class=\"source\">").skip(1);
    let end = |rest: &str| rest.to_ascii_lowercase().find("</script").unwrap_or(rest.len());
    starts.map(|rest| serde_json::from_str(&rest[..end(rest)]).expect("it is JSON")).collect()
}

fn text() -> impl Strategy<Value = String> {
    const HOSTILE: &[&str] = &[
        "</script>",
        "<!--",
        "-->",
        "<script>",
        "]]>",
        "\u{2028}",
        "&lt;",
        "\"",
        "\\",
        "<!-- sources -->",
        "\0",
    ];
    let part = prop_oneof![any::<String>(), prop::sample::select(HOSTILE).prop_map(str::to_owned)];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

fn source() -> impl Strategy<Value = Source> {
    let files = prop::collection::vec((text(), prop::collection::vec(any::<u8>(), 0..50)), 0..3);
    let scenario =
        (text(), text(), files, any::<Option<u64>>(), text()).prop_map(|(title, body, files, seed, key)| {
            Source::scenario(&title, &body, files, seed, [(key.clone(), key)])
        });
    let trace =
        (text(), text(), prop::collection::vec(any::<u8>(), 0..50)).prop_map(|(title, scenario, bytes)| {
            Source::Trace {
                title,
                format: Format::Jsonl,
                records: Records::within(Format::Jsonl, &bytes),
                scenario: Some(scenario),
                about: About::default(),
            }
        });
    prop_oneof![scenario, trace, (text(), text()).prop_map(|(title, url)| Source::Live { title, url })]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_data_end_their_element_or_begin_markup(sources in prop::collection::vec(source(), 0..4)) {
        let page = with_sources(&sources);
        let wanted: Vec<Value> = sources.iter().map(|source| serde_json::to_value(source).expect("JSON")).collect();
        prop_assert_eq!(&within(&page), &wanted);
        prop_assert_eq!(serde_json::from_str::<Vec<Value>>(&sources_json(&sources)).expect("JSON"), wanted);
        // All that is added to the page are the elements themselves.
        let count = |text: &str, part: &str| text.matches(part).count();
        for part in ["<", ">"] {
            prop_assert_eq!(count(&page, part), count(html(), part) - 1 + 2 * sources.len());
        }
    }

    #[test]
    fn a_frame_holds_the_whole_page_in_one_attribute(sources in prop::collection::vec(source(), 0..2)) {
        let page = with_sources(&sources);
        let framed = frame(&page, "70vh");
        let inner = framed.split_once(" srcdoc=\"").and_then(|(_, rest)| rest.strip_suffix("\"></iframe>")).expect("it is there");
        prop_assert!(!inner.contains(['"', '<', '>']));
        let back = inner.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        prop_assert!(back == page);
    }
}

#[test]
fn files_and_lines_of_json_come_out_as_they_went_in() {
    let bytes = b"a contact +0 +10 1 2 1000\n".repeat(100);
    let unpacked = |packed: &str| {
        let mut out = Vec::new();
        let packed = Base64::decode_vec(packed).expect("Base64");
        GzDecoder::new(&packed[..]).read_to_end(&mut out).expect("gzip");
        out
    };
    assert_eq!(unpacked(&Source::packed(&bytes)), bytes);
    assert_eq!(Source::packed(&bytes), Source::packed(&bytes), "there is no time in it");
    let Records::Data(data) = Records::within(Format::Jsonl, &bytes) else { panic!("it is within") };
    assert_eq!(unpacked(&data), bytes);
    assert_eq!(Records::within(Format::Parquet, b"PAR1"), Records::Data("UEFSMQ==".to_owned()));
}

#[test]
fn sources_have_the_names_that_the_page_reads() {
    let trace = Source::Trace {
        title: "run".into(),
        format: Format::Parquet,
        records: Records::Url("trace-0.parquet".into()),
        scenario: None,
        about: About {
            seed: Some(3),
            metrics: [("delivery_prob".to_owned(), 0.5)].into(),
            map: Some(Map { points: "H4sI".into(), count: 2, is_y_down: false, is_osm: true }),
        },
    };
    let json = serde_json::to_value(&trace).expect("JSON");
    let wanted = r#"{"kind":"trace","title":"run","format":"parquet","url":"trace-0.parquet","scenario":null,"about":{"seed":3,"metrics":{"delivery_prob":0.5},"map":{"points":"H4sI","count":2,"is_y_down":false,"is_osm":true}}}"#;
    assert_eq!(json, serde_json::from_str::<Value>(wanted).expect("JSON"));
    let live = serde_json::to_value(Source::Live { title: "a".into(), url: "events".into() }).expect("JSON");
    assert_eq!(live, serde_json::json!({ "kind": "live", "title": "a", "url": "events" }));
    let scenario =
        Source::scenario("s", "duration = 1", [("f", vec![1])], Some(1), [("a".to_owned(), "b".to_owned())]);
    let json = serde_json::to_value(&scenario).expect("JSON");
    assert_eq!(
        (&json["kind"], &json["seed"], &json["set"]["a"]),
        (&"scenario".into(), &1.into(), &"b".into())
    );
    assert!(json["files"]["f"].is_string());
}

/// The scripts of a page, each to its end as a browser sees it.
fn scripts(page: &str) -> Vec<&str> {
    let (mut rest, mut found) = (page, Vec::new());
    while let Some((_, after)) = rest.split_once("<script") {
        let (head, body) = after.split_once('>').expect("an element begins");
        let (body, next) = body.split_once("</script").expect("it ends");
        found.extend((!head.contains("application/")).then_some(body));
        rest = next;
    }
    found
}

#[test]
fn the_policy_lets_the_scripts_of_the_page_run_and_no_others() {
    let scripts = scripts(html());
    assert!(!scripts.is_empty());
    for script in scripts {
        let hash = format!("'sha256-{}'", Base64::encode_string(&Sha256::digest(script)));
        assert!(policy().contains(&hash), "{hash} is not in {}", policy());
    }
    let (_, of_scripts) = policy().split_once("script-src ").expect("it names scripts");
    let of_scripts = of_scripts.split(';').next().unwrap_or_default();
    assert!(!of_scripts.contains("'unsafe-inline'") && !of_scripts.contains("'unsafe-eval'"), "{of_scripts}");
    assert!(policy().starts_with("default-src 'none';") && policy().ends_with("frame-ancestors 'self'"));
}

#[test]
fn the_page_asks_for_nothing_and_is_small() {
    let page = html();
    assert!(page.len() <= 3_000_000, "{} bytes", page.len());
    assert!(compressed().len() <= page.len());
    let head = page.split("<script").next().unwrap_or_default();
    for outside in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!head.contains(outside), "{outside}");
    }
}
