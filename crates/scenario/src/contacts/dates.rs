//! Dates and times of day as traces write them.

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use lightlag_protocols::time::Instant;

/// A date and a time of day as an instant since 1970, as RFC 3339 and ISO 8601 write it: `2008-02-02T15:36:08.5+01:00`. A blank in
/// place of `T`, slashes in place of hyphens and hours alone as the zone are read too. Without a zone it is in UTC.
pub fn date_time(text: &str) -> Option<Instant> {
    if let Some(at) = usual(text.as_bytes()) {
        return Some(at);
    }
    // Most of what is asked for is not a date: numbers, names, empty cells.
    let is_date = text.len() >= 16 && matches!(text.as_bytes().get(4), Some(b'-' | b'/'));
    let text = if is_date { text.replace('/', "-").replacen(['T', 't'], " ", 1) } else { return None };
    let zoned = |format| DateTime::parse_from_str(&text, format).ok().map(|at| at.to_utc());
    let plain = |format| NaiveDateTime::parse_from_str(&text, format).ok().map(|at| at.and_utc());
    let at = plain("%Y-%m-%d %H:%M:%S%.f")
        .or_else(|| zoned("%Y-%m-%d %H:%M:%S%.f%#z"))
        .or_else(|| plain("%Y-%m-%d %H:%M:%S%.fZ"))
        .or_else(|| plain("%Y-%m-%d %H:%M"))?;
    let nanos = at.timestamp_nanos_opt().filter(|nanos| *nanos >= 0)?;
    Some(Instant::from_nanos(nanos))
}

/// A date in UTC as nearly all files write it, without an allocation: tracks have millions.
fn usual(text: &[u8]) -> Option<Instant> {
    let (head, tail) = text.split_at_checked(19)?;
    let has = |at: usize, marks: &[u8]| marks.contains(&head[at]);
    if !(has(4, b"-/") && has(7, b"-/") && has(10, b" Tt") && has(13, b":") && has(16, b":")) {
        return None;
    }
    let number = |from: usize, to: usize| head[from..to].iter().try_fold(0_u32, digit);
    let fraction = tail.strip_suffix(b"Z").or_else(|| tail.strip_suffix(b"z")).unwrap_or(tail);
    let nanos = match fraction {
        [] => 0,
        [b'.', digits @ ..] if (1..=9).contains(&digits.len()) => {
            digits.iter().try_fold(0, digit)? * 10_u32.pow(9 - digits.len() as u32)
        }
        _ => return None,
    };
    let year = i32::try_from(number(0, 4)?).ok()?;
    let day = NaiveDate::from_ymd_opt(year, number(5, 7)?, number(8, 10)?)?;
    let at = day.and_hms_nano_opt(number(11, 13)?, number(14, 16)?, number(17, 19)?, nanos)?.and_utc();
    at.timestamp_nanos_opt().filter(|nanos| *nanos >= 0).map(Instant::from_nanos)
}

fn digit(number: u32, byte: &u8) -> Option<u32> {
    byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_protocols::time::Duration;
    use proptest::prelude::*;

    #[test]
    fn dates_are_read_as_the_projects_write_them() {
        let noon = Instant::from_secs(1_201_953_368);
        for text in [
            "2008-02-02T11:56:08Z",
            "2008-02-02T11:56:08.0z",
            "2008-02-02t11:56:08z",
            "2008-02-02 11:56:08",
            "2008/02/02 11:56:08",
            "2008-02-02T12:56:08+01:00",
            "2008-02-02 12:56:08.000+01",
            "2008-02-02T06:26:08-0530",
        ] {
            assert_eq!(date_time(text), Some(noon), "{text}");
        }
        assert_eq!(date_time("2008-02-02 11:56"), Some(noon - Duration::from_secs(8)));
        for text in [
            "",
            "12",
            "1201953368.25",
            "2008-02-02",
            "2008-13-02T11:56:08Z",
            "1969-12-31T23:59:59Z",
            "2008-02-02Tnoon__",
            "2008-02-02T11:56:08.Z",
            "2008-02-30T11:56:08Z",
        ] {
            assert_eq!(date_time(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_date_is_read_as_it_was_written(ms in 0..4_000_000_000_000_i64, zone in -14 * 60..=14 * 60_i32, blank: bool) {
            let at = DateTime::from_timestamp_millis(ms).expect("in range");
            let zone = chrono::FixedOffset::east_opt(zone * 60).expect("in range");
            let written = at.with_timezone(&zone).format("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string();
            let written = if blank { written.replace('T', " ") } else { written };
            let right = Instant::ZERO + Duration::from_nanos(1_000_000) * ms;
            prop_assert_eq!(date_time(&written), Some(right), "{}", written);
        }
        #[test]
        fn no_text_panics(text in "[0-9/:TtZz +.é-]{0,40}") {
            let _ = date_time(&text);
        }
    }
}
