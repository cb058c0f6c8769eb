//! How far apart two bodies are over time: tables of light times, and what JPL Horizons exports.

use crate::{Error, Place, Result};
use lightlag_protocols::time::{Duration, Instant};
use std::sync::Arc;

/// Kilometres in an astronomical unit (IAU 2012).
const AU_KM: f64 = 149_597_870.7;
const LIGHT_KM_PER_S: f64 = 299_792.458;
/// Longest light time that is accepted.
const ONE_WAY_MAX_S: f64 = 1e8;
const CSV: &str = "lines are `time_s,one_way_s`, as `0,182.5`";
const HORIZONS: &str = "export a table with `delta`, `1-way_down_LT`, or vectors with `RG`, as text or CSV";

/// One-way light times, ascending in time; the first row is at the start of the run, or at its own time
/// where that is a number.
///
/// # Errors
/// At the first line that does not fit.
pub fn read(file: &str, bytes: &[u8]) -> Result<Vec<(Instant, Duration)>> {
    let name: Arc<str> = file.into();
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Error::new(&Place::File(name.clone()), "the file is not text in UTF-8", CSV))?;
    let lines = Lines { name, text };
    let rows = if text.contains("$$SOE") { lines.horizons()? } else { lines.csv()? };
    lines.ascending(rows)
}

struct Lines<'a> {
    name: Arc<str>,
    text: &'a str,
}

/// Where a line stands, when, and how long light takes.
type EphemerisRow = (u32, f64, f64);

impl Lines<'_> {
    fn wrong(&self, number: u32, what: impl AsRef<str>, right: &str) -> Error {
        Error::new(&Place::Line(self.name.clone(), number), what, right)
    }
    fn ascending(&self, rows: Vec<EphemerisRow>) -> Result<Vec<(Instant, Duration)>> {
        let mut points: Vec<(Instant, Duration)> = Vec::new();
        for (number, time_s, one_way_s) in rows {
            if !(0.0..=ONE_WAY_MAX_S).contains(&one_way_s) {
                return Err(self.wrong(number, format!("a light time of {one_way_s} s"), "it is 0 to 1e8 s"));
            }
            let point = (Instant::from_secs_f64(time_s), Duration::from_secs_f64(one_way_s));
            if points.last().is_some_and(|last| last.0 >= point.0) {
                return Err(self.wrong(number, "the table goes back in time", "list later times later"));
            }
            points.push(point);
        }
        if points.is_empty() {
            return Place::File(self.name.clone()).refuse("the table has no rows", CSV);
        }
        Ok(points)
    }
    fn csv(&self) -> Result<Vec<EphemerisRow>> {
        let mut rows = Vec::new();
        for (line, number) in self.text.lines().zip(1..) {
            let line = line.split('#').next().unwrap_or_default().trim();
            let is_head = rows.is_empty() && line.replace(' ', "") == "time_s,one_way_s";
            if line.is_empty() || is_head {
                continue;
            }
            let numbers: Option<Vec<f64>> = line.split(',').map(|cell| cell.trim().parse().ok()).collect();
            match numbers.as_deref() {
                Some(&[time_s, one_way_s]) if (0.0..1e10).contains(&time_s) => {
                    rows.push((number, time_s, one_way_s));
                }
                _ => return Err(self.wrong(number, format!("`{line}` is not a row"), CSV)),
            }
        }
        Ok(rows)
    }
    /// Rows stand between `$$SOE` and `$$EOE`, names of columns above.
    fn horizons(&self) -> Result<Vec<EphemerisRow>> {
        let numbered: Vec<(u32, &str)> = (1..).zip(self.text.lines()).collect();
        let at = |mark: &str| numbered.iter().position(|line| line.1.trim() == mark);
        let start = at("$$SOE").unwrap_or_default();
        let end = at("$$EOE").filter(|end| *end > start);
        let end = end.ok_or_else(|| {
            self.wrong(start as u32 + 1, "`$$SOE` without `$$EOE`", "export the table again: it is cut off")
        })?;
        let head = numbered[..start].iter().rev().map(|line| line.1);
        let head = head.into_iter().find(|line| !line.trim().is_empty() && !line.starts_with('*'));
        let column = Column::find(head.unwrap_or_default(), self.text)
            .ok_or_else(|| self.wrong(start as u32 + 1, "the table has no distance", HORIZONS))?;
        let mut rows: Vec<EphemerisRow> = Vec::new();
        let (mut began, mut date) = (None, None);
        for &(number, line) in &numbered[start + 1..end] {
            if let Some(found) = calendar(line) {
                began = began.or(Some(found));
                date = Some(found);
            } else if !column.in_blocks {
                return Err(self.wrong(number, "the row has no date", "dates are like 2026-Jan-01 00:00"));
            }
            let Some(value) = column.value(line) else {
                if column.in_blocks {
                    continue;
                }
                return Err(self.wrong(number, format!("the row has no `{}`", column.name), HORIZONS));
            };
            if let (Some(began), Some(now)) = (began, date) {
                rows.push((number, now - began, value * column.seconds));
            }
        }
        Ok(rows)
    }
}

/// The column with the distance.
struct Column {
    name: &'static str,
    /// One-way light time of one of its units.
    seconds: f64,
    /// Its place among the commas; else where its name stands in the line of names.
    comma: Option<usize>,
    span: (usize, usize),
    /// Each date has lines of its own, with `RG= ...`.
    in_blocks: bool,
}

impl Column {
    fn find(head: &str, text: &str) -> Option<Self> {
        let in_km = text.contains("KM and KM/S") || text.contains("KM-S") || text.contains("KM-D");
        let distance = if in_km { 1.0 } else { AU_KM } / LIGHT_KM_PER_S;
        for (name, seconds) in
            [("1-way_down_LT", 60.0), ("1-way_LT", 60.0), ("delta", distance), ("RG", distance)]
        {
            let names: Vec<&str> = head.split(',').map(str::trim).collect();
            let comma = names.iter().position(|known| *known == name).filter(|_| names.len() > 1);
            let word = words(head).find(|word| word.2 == name);
            if comma.is_some() || word.is_some() {
                let span = word.map_or((0, 0), |word| (word.0, word.1));
                return Some(Self { name, seconds, comma, span, in_blocks: false });
            }
        }
        // Vectors, a few lines each.
        let blocks = text.contains("RG=");
        blocks.then_some(Self { name: "RG", seconds: distance, comma: None, span: (0, 0), in_blocks: true })
    }
    fn value(&self, line: &str) -> Option<f64> {
        if let Some(comma) = self.comma {
            return line.split(',').nth(comma)?.trim().parse().ok();
        }
        if self.in_blocks {
            let rest = line.split("RG=").nth(1)?;
            return rest.split_whitespace().next()?.parse().ok();
        }
        // Values stand below the names, wider or narrower.
        words(line).find(|word| word.1 >= self.span.0 && word.0 <= self.span.1)?.2.parse().ok()
    }
}

/// Words of a line with where they begin and end.
fn words(line: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let origin = line.as_ptr() as usize;
    line.split_whitespace().map(move |word| {
        let start = word.as_ptr() as usize - origin;
        (start, start + word.len(), word)
    })
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The date in a line, `2026-Jan-01 12:30:00.5`, in seconds since 1970.
fn calendar(line: &str) -> Option<f64> {
    let mut parts = line.split([' ', ',']).filter(|part| !part.is_empty());
    let [year, month, day] = parts.by_ref().find_map(|part| {
        let mut numbers = part.splitn(3, '-');
        let year: i64 = numbers.next()?.parse().ok()?;
        let month = MONTHS.iter().position(|known| Some(*known) == numbers.clone().next())? as i64 + 1;
        let day: i64 = numbers.nth(1)?.parse().ok()?;
        Some([year, month, day])
    })?;
    let mut clock = parts.next()?.split(':').map(|part| part.parse::<f64>().ok());
    let (hour, minute) = (clock.next()??, clock.next()??);
    let second = clock.next().unwrap_or(Some(0.0))?;
    let days = crate::contacts::days_since_1970(year, month, day);
    Some(days as f64 * 86_400.0 + hour * 3_600.0 + minute * 60.0 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str) -> Vec<(f64, f64)> {
        let rows = read("f", text.as_bytes()).unwrap();
        rows.into_iter().map(|row| (row.0.as_secs_f64(), row.1.as_secs_f64())).collect()
    }

    #[test]
    fn a_table_of_light_times_is_read_with_or_without_its_head() {
        assert_eq!(
            points("time_s,one_way_s\n0, 182.5\n# later\n86400,183\n"),
            [(0.0, 182.5), (86_400.0, 183.0)]
        );
        assert_eq!(points("5,1\n"), [(5.0, 1.0)]);
    }

    /// Rows of half an astronomical unit and a little more, a day apart.
    fn near(found: &[(f64, f64)]) {
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].0, found[1].0), (0.0, 86_400.0));
        assert!((found[0].1 - 249.5024).abs() < 1e-3, "{found:?}");
        assert!((found[1].1 - 254.4924).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn observer_tables_of_horizons_are_read_as_text_and_as_csv() {
        near(&points(
            " Start time : A.D. 2026-Jan-01\n*****\n Date__(UT)__HR:MN                delta      deldot\n*****\n$$SOE\n \
             2026-Jan-01 00:00     0.50000000000000  12.3456789\n 2026-Jan-02 00:00 *m  0.51000000000000  12.3456789\n$$EOE\n",
        ));
        near(&points(
            " Date__(UT)__HR:MN, , ,  delta,  deldot,\n****\n$$SOE\n 2026-Feb-28 00:00,*, , 0.5, 12.3,\n 2026-Mar-01 \
             00:00,*, , 0.51, 12.3,\n$$EOE\n",
        ));
        near(&points(
            " Date__(UT)__HR:MN:SC.fff, , , 1-way_down_LT,\n****\n$$SOE\n 2026-Jan-01 00:00:00.000,*, , 4.15837391,\n \
             2026-Jan-02 00:00:00.000,*, , 4.24154139,\n$$EOE\n",
        ));
    }

    #[test]
    fn vectors_of_horizons_are_read_in_kilometres_and_in_astronomical_units() {
        near(&points(
            "Output units    : KM-S\n****\n            JDTDB,            Calendar Date (TDB),  X, Y, Z, LT, RG, RR,\n****\n$$SOE\n\
             2461041.5, A.D. 2026-Jan-01 00:00:00.0000, 1, 2, 3, 249.5, 7.479893535e7, 1,\n\
             2461042.5, A.D. 2026-Jan-02 00:00:00.0000, 1, 2, 3, 249.5, 7.6294914057e7, 1,\n$$EOE\n",
        ));
        near(&points(
            "Output units    : AU-D\n****\nJDTDB\n   X     Y     Z\n   VX    VY    VZ\n   LT    RANGE RR\n****\n$$SOE\n\
             2461041.5 = A.D. 2026-Jan-01 00:00:00.0000 TDB\n X = 1.0 Y = 2.0 Z = 3.0\n LT= 2.9E-03 RG= 5.0E-01 RR= 1E-3\n\
             2461042.5 = A.D. 2026-Jan-02 00:00:00.0000 TDB\n X = 1.0 Y = 2.0 Z = 3.0\n LT= 2.9E-03 RG= 5.1E-01 RR= 1E-3\n$$EOE\n",
        ));
    }

    #[test]
    fn what_does_not_fit_is_an_error_with_its_line() {
        let refusal = |text: &str| read("f", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            refusal("0,1\n1,x\n"),
            "f:2: `1,x` is not a row; lines are `time_s,one_way_s`, as `0,182.5`"
        );
        assert_eq!(refusal("5,1\n5,2\n"), "f:2: the table goes back in time; list later times later");
        assert_eq!(refusal("0,-1\n"), "f:1: a light time of -1 s; it is 0 to 1e8 s");
        assert!(refusal("# nothing\n").starts_with("f: the table has no rows"));
        assert!(refusal("x\n$$SOE\n 2026-Jan-01 00:00 1\n").starts_with("f:2: `$$SOE` without `$$EOE`"));
        assert!(refusal("R.A. DEC\n$$SOE\n$$EOE\n").starts_with("f:2: the table has no distance"));
        assert!(refusal("Date delta\n$$SOE\n sometime 1\n$$EOE\n").starts_with("f:3: the row has no date"));
        assert!(
            refusal("Date, delta\n$$SOE\n2026-Jan-01 00:00,\n$$EOE\n")
                .starts_with("f:3: the row has no `delta`")
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics_the_reader(text in "([$]{2}[SE]OE\n|[0-9]{1,5}|,|-|Jan|:| |\n|delta|RG=|e9|\\.){0,60}") {
            let _ = read("f", text.as_bytes());
        }
    }
}
