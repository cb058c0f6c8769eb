//! Contacts as plain lists of `node node start end`, as the Haggle and Infocom traces are spread.

use super::{ContactRow, Lines, check_order, seconds};
use crate::error::Result;

/// Reads `NODE NODE START END`, in seconds; what follows in a line is not looked at.
///
/// # Errors
/// At the first line that is no such row.
pub fn intervals(file: &str, bytes: &[u8]) -> Result<Vec<ContactRow>> {
    let lines = Lines::new(file, bytes)?;
    let mut rows = Vec::new();
    for line in lines.iter() {
        let [a, b, start, end, ..] = line.words[..] else {
            return Err(line.wrong("the line has fewer than four words", "a line is NODE NODE START END"));
        };
        let (start, end) = (seconds(start, &line.place)?, seconds(end, &line.place)?);
        // Traces sample: a pair that was seen once has an interval of no length and cannot talk.
        if start == end {
            continue;
        }
        check_order(start, end, &line.place)?;
        rows.push(ContactRow {
            place: line.place.clone(),
            a: a.to_owned(),
            b: b.to_owned(),
            start,
            end,
            rate: None,
            delay: None,
        });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_protocols::time::Instant;

    #[test]
    fn lines_give_two_nodes_and_an_interval_and_sightings_of_no_length_are_left_out() {
        let rows = intervals("f", b"# imote\n1 2 10 20 1 0\n1\t3\t5\t5\n").unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].a.as_str(), rows[0].end), ("1", Instant::from_secs(20)));
    }

    #[test]
    fn a_cut_line_is_an_error() {
        let error = intervals("f", b"1 2 10").unwrap_err().to_string();
        assert_eq!(error, "f:1: the line has fewer than four words; a line is NODE NODE START END");
    }
}
