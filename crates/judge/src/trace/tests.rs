use super::*;
use ::parquet::arrow::ArrowWriter;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use lightlag_protocols::dtn::{Bundle, BundleId, DropReason, NodeId, Refusal};
use lightlag_protocols::record::bundles::{Observer, Record, ReplyKind};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::{BitRate, Bytes};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file of our own that goes when it is no longer used.
struct Scratch(PathBuf);

impl Scratch {
    fn new(content: &[u8]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lightlag-trace-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content).expect("the temporary folder can be written");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// One of every kind.
fn story() -> Vec<(Instant, Record)> {
    let (a, b, id) = (NodeId(0), NodeId(1), BundleId(3));
    let started = Instant::from_nanos(-7);
    let bundle = Bundle {
        id,
        source: a,
        destination: b,
        size: Bytes(75_000),
        created: Instant::from_secs(1),
        expires: Instant::MAX,
    };
    let delay = [Duration::ZERO, Duration::from_secs(185)];
    let records = vec![
        Record::Node { node: a, buffer: Bytes(u64::MAX) },
        Record::Reply { request: id, reply: BundleId(4), kind: ReplyKind::Pong },
        Record::Created(bundle),
        Record::Rejected(bundle),
        Record::ContactUp { a, b, rate: [BitRate(1), BitRate(u64::MAX)], delay },
        Record::ContactDown { a, b },
        Record::Started { from: a, to: b, id },
        Record::Aborted { from: a, to: b, id },
        Record::Sent { from: a, to: b, id },
        Record::Stored { from: a, to: b, id, started },
        Record::Delivered { from: a, to: b, id, started, hops: 2, first: true },
        Record::Refused { from: a, to: b, id, started, why: Refusal::DroppedBefore },
        Record::Gone { node: a, id, reason: DropReason::HandedOver, received: started },
        Record::Sample { node: a, used: Bytes(1), seen: vec![("cr", 0.1), ("limit", f64::INFINITY)] },
        Record::Sample { node: b, used: Bytes(0), seen: vec![] },
        Record::Position { node: b, x_m: -0.5, y_m: 1e9 },
        Record::End,
    ];
    records.into_iter().enumerate().map(|(at, record)| (Instant::from_nanos(at as i64), record)).collect()
}

fn as_parquet(story: &[(Instant, Record)]) -> Vec<u8> {
    let mut trace =
        TraceWriter::<Row, _>::parquet(Vec::new(), Names::default()).expect("a vector takes everything");
    story.iter().for_each(|(now, record)| trace.on_record(*now, record));
    trace.finish().expect("a vector takes everything")
}

fn as_json(story: &[(Instant, Record)]) -> Vec<u8> {
    let mut trace = TraceWriter::<Row, _>::json_lines(Vec::new(), Names::default());
    story.iter().for_each(|(now, record)| trace.on_record(*now, record));
    trace.finish().expect("a vector takes everything")
}

fn read_back(content: &[u8]) -> Result<Vec<(Instant, Record)>, TraceError> {
    read::<Row>(&Scratch::new(content).0)?.collect()
}

#[test]
fn both_formats_give_back_every_record() {
    for content in [as_parquet(&story()), as_json(&story())] {
        assert_eq!(read_back(&content).expect("a sound file"), story());
    }
}

#[test]
fn many_batches_come_back_in_order() {
    let node = NodeId(1);
    let long: Vec<_> = (0..150_000)
        .map(|ns| (Instant::from_nanos(ns), Record::Sample { node, used: Bytes(ns as u64), seen: vec![] }))
        .collect();
    assert!(read_back(&as_parquet(&long)).expect("a sound file") == long);
}

#[test]
fn a_json_line_has_only_what_its_record_has() {
    let text = String::from_utf8(as_json(&story())).expect("JSON is text");
    let lines: Vec<&str> = text.lines().collect();
    let reply = r#"{"time_ns":1,"kind":"reply","bundle":3,"why":"pong","reply":4}"#;
    assert_eq!(lines[1], reply);
    assert_eq!(lines[6], r#"{"time_ns":6,"kind":"started","node":0,"peer":1,"bundle":3}"#);
    assert_eq!(lines[13], r#"{"time_ns":13,"kind":"sample","node":0,"bytes":1,"seen":"cr=0.1 limit=inf"}"#);
    assert_eq!(lines[16], r#"{"time_ns":16,"kind":"end"}"#);
}

#[test]
fn what_is_wrong_with_a_row_is_told_in_one_line() {
    let cases = [
        (r#"{"time_ns":5,"kind":"started","node":0,"peer":1}"#, "trace, row 1: `started` without `bundle`"),
        (
            r#"{"time_ns":5,"kind":"gone","node":0,"bundle":1,"since_ns":0,"why":"spite"}"#,
            "trace, row 1: unknown reason `spite`",
        ),
        (r#"{"time_ns":5,"kind":"dance"}"#, "trace, row 1: unknown kind `dance`"),
        (
            r#"{"time_ns":5,"kind":"node","node":4000000000,"bytes":1}"#,
            "trace, row 1: `node` 4000000000 is too large",
        ),
        (r#"{"time_ns":5"#, "trace, row 1: EOF while parsing an object at line 1 column 12"),
    ];
    for (line, expected) in cases {
        let error = read_back(line.as_bytes()).expect_err("not a record");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn nothing_comes_after_an_error() {
    let content = b"{\"time_ns\":5,\"kind\":\"end\"}\nnonsense\n{\"time_ns\":5,\"kind\":\"end\"}\n";
    let read: Vec<_> = read::<Row>(&Scratch::new(content).0).expect("it opens").collect();
    assert_eq!(read.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_missing_file_and_a_table_of_something_else_are_errors() {
    assert!(matches!(read::<Row>(std::path::Path::new("/missing/file")), Err(TraceError::File(_))));
    let mut other = Vec::new();
    let column = |name| (name, Arc::new(Int64Array::from(vec![1])) as ArrayRef);
    let table = RecordBatch::try_from_iter([column("time_ns"), column("value")]).expect("equal columns");
    let mut writer =
        ArrowWriter::try_new(&mut other, table.schema(), None).expect("a vector takes everything");
    writer.write(&table).and_then(|()| writer.close()).expect("a vector takes everything");
    let error = read_back(&other).expect_err("not a trace").to_string();
    assert_eq!(error.lines().count(), 1);
    assert!(error.contains("column 2 should be `kind`"), "{error}");
}

#[test]
fn damaged_files_give_errors_or_records_and_never_panic() {
    let sound = as_parquet(&story());
    for cut in (0..sound.len()).step_by(41) {
        assert!(cut < 4 && read_back(&sound[..cut]).is_ok() || read_back(&sound[..cut]).is_err());
    }
    for at in (4..sound.len()).step_by(7) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x55;
        let _ = read_back(&damaged);
    }
}
