//! Dates and times of day as traces write them.

use chrono::{DateTime, NaiveDateTime};
use lightlag_protocols::time::Instant;

/// A date and a time of day as an instant since 1970, as RFC 3339 and ISO 8601 write it: `2008-02-02T15:36:08.5+01:00`. A blank in
/// place of `T`, slashes in place of hyphens and hours alone as the zone are read too. Without a zone it is in UTC.
pub fn date_time(text: &str) -> Option<Instant> {
    // Most of what is asked for is no date: numbers, names, empty cells.
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
