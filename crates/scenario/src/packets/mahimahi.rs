//! Traces of mahimahi: a line for each opportunity to deliver 1504 bytes, in whole milliseconds.

use crate::error::quoted;
use crate::{Error, Place, Result};
use lightlag_protocols::link::Opportunities;
use std::sync::Arc;

/// Most opportunities of a file: 40 MB of memory.
const LINES_MAX: usize = 10_000_000;
const LINE: &str =
    "a line is a whole number of milliseconds from 0 to 4294967295, not smaller than the line before";

/// The opportunities of a file, which repeat from its last time on.
///
/// # Errors
/// At the first line that is not a number of milliseconds or is smaller than the one before; for a file without
/// lines, with more than ten million, or whose last time is 0.
pub fn read(file: &str, bytes: &[u8]) -> Result<Opportunities> {
    let name: Arc<str> = file.into();
    let whole = || Place::File(name.clone());
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Error::new(&whole(), "the file is not text in UTF-8", LINE))?;
    let mut at_ms: Vec<u32> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let place = || Place::Line(name.clone(), number);
        if at_ms.len() == LINES_MAX {
            return place().refuse("the trace has more than 10000000 lines", "cut it: a trace repeats");
        }
        let ms = milliseconds(line).map_err(|what| Error::new(&place(), what, LINE))?;
        if let Some(before) = at_ms.last().filter(|before| **before > ms) {
            return place().refuse(format!("{ms} comes after {before}"), LINE);
        }
        at_ms.push(ms);
    }
    let Some(last) = at_ms.last() else { return whole().refuse("the trace is empty", LINE) };
    if *last == 0 {
        let place = Place::Line(name.clone(), at_ms.len() as u32);
        return place.refuse("the last time is 0", "it is the period of the trace: 1 or more");
    }
    Opportunities::new(at_ms).ok_or_else(|| Error::new(&whole(), "the trace descends", LINE))
}

/// The number on a line, or what is wrong with it.
fn milliseconds(line: &str) -> std::result::Result<u32, String> {
    let digits = line.trim();
    if digits.is_empty() {
        return Err("the line is empty".to_owned());
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("{} is not a whole number", quoted(digits)));
    }
    digits.parse().map_err(|_| format!("{} is too large", quoted(digits)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_trace_is_a_line_an_opportunity() {
        let times = |text: &str| read("cell.up", text.as_bytes()).unwrap().at_ms().to_vec();
        assert_eq!(times("0\n0\n3\n17\n"), [0, 0, 3, 17]);
        assert_eq!(times("1\r\n4294967295"), [1, 4_294_967_295]);
    }

    #[test]
    fn each_wrong_line_is_named_with_what_is_accepted() {
        let said = |text: &str| read("cell.up", text.as_bytes()).unwrap_err().to_string();
        for (text, begins) in [
            ("", "cell.up: the trace is empty; a line is"),
            ("3\n2\n", "cell.up:2: 2 comes after 3; a line is"),
            ("1\n2.5\n", "cell.up:2: `2.5` is not a whole number; a line is"),
            ("-1\n", "cell.up:1: `-1` is not a whole number; a line is"),
            ("# mine\n1\n", "cell.up:1: `# mine` is not a whole number; a line is"),
            ("1\n\n2\n", "cell.up:2: the line is empty; a line is"),
            ("4294967296\n", "cell.up:1: `4294967296` is too large; a line is"),
            ("0\n0\n", "cell.up:2: the last time is 0; it is the period of the trace: 1 or more"),
        ] {
            let error = said(text);
            assert!(error.starts_with(begins) && error.lines().count() == 1, "{text:?}: {error}");
        }
        let long = read("cell.up", "1\n".repeat(LINES_MAX + 1).as_bytes()).unwrap_err().to_string();
        assert!(long.starts_with("cell.up:10000001: the trace has more than 10000000 lines"), "{long}");
        assert!(read("cell.up", b"\xff\n").unwrap_err().to_string().contains("UTF-8"));
    }

    proptest! {
        #[test]
        fn no_file_panics_and_what_is_read_ascends(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(trace) = read("cell.up", &bytes) {
                prop_assert!(trace.at_ms().is_sorted());
            }
        }
        #[test]
        fn what_is_written_is_read(mut at_ms in prop::collection::vec(any::<u32>(), 1..64), damage in any::<(usize, u8)>()) {
            at_ms.sort_unstable();
            let mut text: Vec<u8> = at_ms.iter().flat_map(|at| format!("{at}\n").into_bytes()).collect();
            prop_assume!(at_ms.last() != Some(&0));
            let read_back = read("cell.up", &text).unwrap();
            prop_assert_eq!(read_back.at_ms(), &at_ms[..]);
            let at = damage.0 % text.len();
            text[at] = damage.1;
            if let Ok(trace) = read("cell.up", &text) {
                prop_assert!(trace.at_ms().is_sorted() && trace.mean().0 > 0);
            }
        }
    }
}
