//! Numbers with units, as scenarios, settings and command lines write them: `"500 kB"`, `"2.5 Mbit/s"`,
//! `"0.5..1.5 m/s"`.

use super::{BitRate, Bytes};
use crate::time::Duration;
use thiserror::Error;

/// The longest piece of input that an error repeats, in characters.
const QUOTED_CHARS: usize = 80;

/// A quantity, or what is wrong with the text.
pub type Parsed<T> = Result<T, Wrong>;

/// What is wrong with a value, and what is accepted: one line without the place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}; {right}")]
pub struct Wrong {
    /// What is wrong.
    pub what: String,
    /// What is accepted.
    pub right: String,
}

impl Wrong {
    /// Both halves.
    pub fn new(what: impl Into<String>, right: impl Into<String>) -> Self {
        Self { what: what.into(), right: right.into() }
    }
}

/// A piece of input as an error shows it: short, on one line.
pub fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("`{}`", one_line(&shown))
}

/// That a piece of input is not what it should be, such as "a time".
pub fn is_not(text: &str, what: &str) -> String {
    format!("{} is not {what}", quoted(text))
}

/// The text with spaces in place of control characters.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// From the first to the second; how the ends count is said where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds<T> {
    /// The smallest.
    pub low: T,
    /// The largest.
    pub high: T,
}

impl<T: Copy> Bounds<T> {
    /// From both ends.
    pub const fn new(low: T, high: T) -> Self {
        Self { low, high }
    }
    /// One value only.
    pub const fn single(value: T) -> Self {
        Self { low: value, high: value }
    }
}

impl Bounds<f64> {
    /// The middle.
    pub fn mean(self) -> f64 {
        self.low + (self.high - self.low) / 2.0
    }
}

/// A rectangle's sides in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// From west to east.
    pub width_m: f64,
    /// From north to south.
    pub height_m: f64,
}

impl Area {
    /// From both sides, in metres.
    pub const fn new(width_m: f64, height_m: f64) -> Self {
        Self { width_m, height_m }
    }
}

/// A position in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// From the west.
    pub x_m: f64,
    /// From the north.
    pub y_m: f64,
}

/// A kind of quantity: its units in its base unit, its largest sensible value, an example.
struct Kind {
    name: &'static str,
    units: &'static [(&'static str, f64)],
    max: f64,
    example: &'static str,
}

const TIME: Kind = Kind {
    name: "time",
    units: &[
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
        ("min", 60.0),
        ("h", 3600.0),
        ("d", 86_400.0),
    ],
    // A hundred years: beyond it 64 bits of nanoseconds would come near their end.
    max: 3.155_76e9,
    example: "\"240 s\" or \"12 h\"",
};
const VARIANCE: Kind = Kind {
    name: "variance of a time",
    units: &[("us^2", 1e-12), ("ms^2", 1e-6), ("s^2", 1.0)],
    max: 1e12,
    example: "\"500 ms^2\"",
};
const BYTES: Kind = Kind {
    name: "size",
    units: &[
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
    ],
    max: 1e15,
    example: "\"500 kB\" or \"64 KiB\"",
};
const BIT_RATE: Kind = Kind {
    name: "rate",
    units: &[
        ("bit/s", 1.0),
        ("kbit/s", 1e3),
        ("Mbit/s", 1e6),
        ("Gbit/s", 1e9),
        ("Tbit/s", 1e12),
        ("B/s", 8.0),
        ("kB/s", 8e3),
        ("MB/s", 8e6),
        ("GB/s", 8e9),
    ],
    max: 1e15,
    example: "\"2.5 Mbit/s\"",
};
const LENGTH: Kind =
    Kind { name: "length", units: &[("m", 1.0), ("km", 1e3)], max: 1e12, example: "\"150 m\" or \"1.5 km\"" };
const SPEED: Kind = Kind {
    name: "speed",
    units: &[("m/s", 1.0), ("km/h", 1.0 / 3.6), ("km/s", 1e3)],
    max: 299_792_458.0,
    example: "\"1.5 m/s\" or \"50 km/h\"",
};

impl Kind {
    fn wrong(&self, text: &str, what: &str) -> Wrong {
        Wrong::new(
            format!("{} {what}", quoted(text)),
            format!("a {} is written like {}", self.name, self.example),
        )
    }
    fn factor(&self, text: &str, unit: &str) -> Parsed<f64> {
        if unit.is_empty() {
            return Err(self.wrong(text, "has no unit"));
        }
        self.units.iter().find(|known| known.0 == unit).map(|known| known.1).ok_or_else(|| {
            let units: Vec<&str> = self.units.iter().map(|known| known.0).collect();
            Wrong::new(
                format!("{} is not a unit of {}", quoted(unit), self.name),
                format!("units: {}", units.join(", ")),
            )
        })
    }
    fn value(&self, text: &str, number: &str, factor: f64) -> Parsed<f64> {
        let value =
            plain_number(number).ok_or_else(|| self.wrong(text, "is not a number with a unit"))? * factor;
        if value < 0.0 {
            return Err(self.wrong(text, "is negative"));
        }
        if value > self.max {
            return Err(self.wrong(text, "is beyond all measure"));
        }
        Ok(value)
    }
    fn one(&self, text: &str) -> Parsed<f64> {
        let (number, unit) = split_unit(text);
        let factor = self.factor(text, unit)?;
        self.value(text, number, factor)
    }
    fn bounds(&self, text: &str) -> Parsed<Bounds<f64>> {
        let Some((low, high)) = text.split_once("..") else {
            return match with_dots(text) {
                Some(right) => Err(Wrong::new(
                    format!("{} is not a {}", quoted(text), self.name),
                    format!("a range is written with two dots, like \"{right}\""),
                )),
                None => self.one(text).map(Bounds::single),
            };
        };
        let (high_number, high_unit) = split_unit(high);
        let (low_number, low_unit) = split_unit(low);
        let high_factor = self.factor(text, high_unit)?;
        let low_factor = if low_unit.is_empty() { high_factor } else { self.factor(text, low_unit)? };
        let bounds = Bounds {
            low: self.value(text, low_number, low_factor)?,
            high: self.value(text, high_number, high_factor)?,
        };
        if bounds.low > bounds.high {
            return Err(self.wrong(text, "ends before it begins"));
        }
        Ok(bounds)
    }
}

/// Quantities of one kind as numbers in the unit of the first, and that unit; plain numbers have none (`""`). Of a span the
/// upper end counts. `None`: of an empty list, and of several kinds.
pub fn in_one_unit<'a>(texts: &[&'a str]) -> Option<(Vec<f64>, &'a str)> {
    let ends = texts.iter().map(|text| split_unit(text.rsplit("..").next().unwrap_or(text)));
    let parts: Vec<(f64, &str)> =
        ends.map(|(number, unit)| Some((plain_number(number)?, unit))).collect::<Option<_>>()?;
    let first = parts.first()?.1;
    if parts.iter().all(|(_, unit)| *unit == first) {
        return Some((parts.iter().map(|(number, _)| *number).collect(), first));
    }
    let size = |kind: &Kind, wanted: &str| Some(kind.units.iter().find(|(unit, _)| *unit == wanted)?.1);
    let of_kind = |kind: &Kind| -> Option<Vec<f64>> {
        let base = size(kind, first)?;
        parts.iter().map(|(number, unit)| Some(number * size(kind, unit)? / base)).collect()
    };
    let kinds = [TIME, VARIANCE, BYTES, BIT_RATE, LENGTH, SPEED];
    kinds.iter().find_map(of_kind).map(|numbers| (numbers, first))
}

/// A range that is written with a dash, `"0.5-1.5 m/s"`, as it is written here.
fn with_dots(text: &str) -> Option<String> {
    let (low, rest) = split_unit(text);
    let high = rest.strip_prefix(['-', '\u{2013}'])?.trim_start();
    let is_range = plain_number(low).is_some() && high.starts_with(|first: char| first.is_ascii_digit());
    is_range.then(|| format!("{low}..{high}"))
}

/// `"2.5 Mbit/s"` in its two parts; either may be missing.
fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end =
        text.char_indices().find(|(i, c)| !is_number_char(&text[..*i], *c)).map_or(text.len(), |(i, _)| i);
    (text[..end].trim(), text[end..].trim())
}

fn is_number_char(before: &str, c: char) -> bool {
    let sign_fits = before.is_empty() || before.ends_with(['e', 'E']);
    let exponent_fits = before.ends_with(|b: char| b.is_ascii_digit()) && !before.contains(['e', 'E']);
    c.is_ascii_digit() || c == '.' || (sign_fits && "+-".contains(c)) || (exponent_fits && "eE".contains(c))
}

/// A finite decimal number: no names of infinity, no underscores.
pub fn plain_number(text: &str) -> Option<f64> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    plain.then(|| text.parse().ok()).flatten().filter(|n: &f64| n.is_finite())
}

/// A time.
///
/// # Errors
/// What is wrong with it.
pub fn time(text: &str) -> Parsed<Duration> {
    let seconds = TIME.one(text)?;
    Ok(exact_time(text).unwrap_or_else(|| Duration::from_secs_f64(seconds)))
}
/// Whole and decimal seconds to the nanosecond, where a number of 64 bits is too coarse: beyond a hundred days.
fn exact_time(text: &str) -> Option<Duration> {
    const COARSE_NS: i64 = 1 << 53;
    let (whole, fraction) = text.trim().strip_suffix('s')?.trim_end().split_once('.')?;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let ns: i64 = format!("{whole}{fraction:0<9}").parse().ok()?;
    (ns > COARSE_NS).then_some(Duration::from_nanos(ns))
}
/// A time, with a minus before it if it is negative.
///
/// # Errors
/// What is wrong with it.
pub fn signed_time(text: &str) -> Parsed<Duration> {
    match text.trim().strip_prefix('-') {
        Some(behind) => time(behind).map(|span| Duration::ZERO - span),
        None => time(text),
    }
}
/// A time that is not zero.
///
/// # Errors
/// What is wrong with it.
pub fn positive_time(text: &str) -> Parsed<Duration> {
    let time = time(text)?;
    if time == Duration::ZERO { Err(TIME.wrong(text, "is zero")) } else { Ok(time) }
}
/// A time or a range of times.
///
/// # Errors
/// What is wrong with it.
pub fn times(text: &str) -> Parsed<Bounds<Duration>> {
    let bounds = TIME.bounds(text)?;
    Ok(Bounds { low: Duration::from_secs_f64(bounds.low), high: Duration::from_secs_f64(bounds.high) })
}
/// The variance of a time: its square root.
///
/// # Errors
/// What is wrong with it.
pub fn deviation(text: &str) -> Parsed<Duration> {
    VARIANCE.one(text).map(|variance| Duration::from_secs_f64(variance.sqrt()))
}
/// A number of bytes.
///
/// # Errors
/// What is wrong with it.
pub fn bytes(text: &str) -> Parsed<Bytes> {
    whole(&BYTES, text, BYTES.one(text)?).map(Bytes)
}
/// A number of bytes or a range of them.
///
/// # Errors
/// What is wrong with it.
pub fn sizes(text: &str) -> Parsed<Bounds<Bytes>> {
    let bounds = BYTES.bounds(text)?;
    Ok(Bounds {
        low: Bytes(whole(&BYTES, text, bounds.low)?),
        high: Bytes(whole(&BYTES, text, bounds.high)?),
    })
}
/// A rate above zero.
///
/// # Errors
/// What is wrong with it.
pub fn bit_rate(text: &str) -> Parsed<BitRate> {
    match bit_rate_or_none(text)? {
        BitRate(0) => Err(BIT_RATE.wrong(text, "carries nothing")),
        rate => Ok(rate),
    }
}
/// A rate, which may be zero.
///
/// # Errors
/// What is wrong with it.
pub fn bit_rate_or_none(text: &str) -> Parsed<BitRate> {
    whole(&BIT_RATE, text, BIT_RATE.one(text)?).map(BitRate)
}
/// A length in metres.
///
/// # Errors
/// What is wrong with it.
pub fn length_m(text: &str) -> Parsed<f64> {
    LENGTH.one(text)
}
/// `"1 km x 500 m"`.
///
/// # Errors
/// What is wrong with it.
pub fn area(text: &str) -> Parsed<Area> {
    let wrong = || Wrong::new(is_not(text, "an area"), "an area is written like \"1 km x 1 km\"");
    let (width, height) = text.split_once('x').ok_or_else(wrong)?;
    let area = Area { width_m: length_m(width)?, height_m: length_m(height)? };
    if area.width_m <= 0.0 || area.height_m <= 0.0 { Err(wrong()) } else { Ok(area) }
}
/// `"100 m, 200 m"`.
///
/// # Errors
/// What is wrong with it.
pub fn position(text: &str) -> Parsed<Position> {
    let (x, y) = text.split_once(',').ok_or_else(|| {
        Wrong::new(is_not(text, "a position"), "a position is written like \"100 m, 200 m\"")
    })?;
    let signed = |text: &str| match text.trim().strip_prefix('-') {
        Some(length) => length_m(length).map(|length| -length),
        None => length_m(text),
    };
    Ok(Position { x_m: signed(x)?, y_m: signed(y)? })
}
/// The value of an algorithm's parameter, in the unit that it declares.
///
/// # Errors
/// What is wrong with it.
pub fn in_unit(text: &str, unit: &str) -> Parsed<f64> {
    if let Some((kind, base)) = kind_of(unit) {
        return kind.one(text).map(|value| value / base);
    }
    let (number, given) = split_unit(text);
    let wrong = || {
        let right = if unit.is_empty() { "a plain number".to_owned() } else { format!("a number of {unit}") };
        Wrong::new(format!("{} does not fit", quoted(text)), right)
    };
    if given != unit {
        return Err(wrong());
    }
    plain_number(number).ok_or_else(wrong)
}
/// A range or a single value, `"0.5..1.5 m/s"`, in the unit that an algorithm's parameter declares. Times
/// are rounded to nanoseconds; a range of them may be open, `"10 s..endless"`.
///
/// # Errors
/// What is wrong with it.
pub fn range_in_unit(text: &str, unit: &str) -> Parsed<Bounds<f64>> {
    let Some((kind, base)) = kind_of(unit) else {
        let (low, high) = text.split_once("..").unwrap_or((text, text));
        return Ok(Bounds { low: in_unit(low, unit)?, high: in_unit(high, unit)? });
    };
    let is_time = kind.name == TIME.name;
    let rounded = |value: f64| if is_time { rounded_s(value) } else { value };
    match text.trim().strip_suffix(ENDLESS) {
        Some("") if is_time => return Ok(Bounds::single(ENDLESS_S / base)),
        Some(low) if is_time && low.ends_with("..") => {
            let low = rounded(kind.one(low.trim_end_matches('.'))?);
            return Ok(Bounds { low: low / base, high: ENDLESS_S / base });
        }
        _ => {}
    }
    let Bounds { low, high } = kind.bounds(text)?;
    Ok(Bounds { low: rounded(low) / base, high: rounded(high) / base })
}

/// A time without end, as a range of times has it.
const ENDLESS: &str = "endless";
/// The same in seconds: longer than any run.
pub const ENDLESS_S: f64 = 1e18;

fn rounded_s(seconds: f64) -> f64 {
    Duration::from_secs_f64(seconds).as_secs_f64()
}

/// The kind of quantity with this unit, and what the unit is in its base unit.
fn kind_of(unit: &str) -> Option<(&'static Kind, f64)> {
    const KINDS: [&Kind; 5] = [&TIME, &BYTES, &BIT_RATE, &LENGTH, &SPEED];
    KINDS.into_iter().find_map(|kind| Some((kind, kind.units.iter().find(|known| known.0 == unit)?.1)))
}

/// Products such as 0.3 · 1000 miss their integer by a rounding error only.
fn whole(kind: &Kind, text: &str, value: f64) -> Parsed<u64> {
    let nearest = value.round();
    if (value - nearest).abs() > nearest.max(1.0) * 1e-9 {
        return Err(kind.wrong(text, &format!("is not a whole number of {}", kind.units[0].0)));
    }
    Ok(nearest as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantities_mean_what_they_say() {
        assert_eq!(time("12 h").unwrap(), Duration::from_secs(43_200));
        assert_eq!(time("0.1 s").unwrap(), Duration::from_nanos(100_000_000));
        assert_eq!(deviation("400 ms^2").unwrap(), Duration::from_nanos(20_000_000));
        assert_eq!(bytes("500 kB").unwrap(), Bytes(500_000));
        assert_eq!(bytes("64 KiB").unwrap(), Bytes(65_536));
        assert_eq!(bytes("0.3 kB").unwrap(), Bytes(300));
        assert_eq!(bit_rate("2.5 Mbit/s").unwrap(), BitRate(2_500_000));
        assert_eq!(bit_rate("1e3 B/s").unwrap(), BitRate(8_000));
        assert_eq!(area("1 km x 500 m").unwrap(), Area { width_m: 1000.0, height_m: 500.0 });
        assert_eq!(position("1 m, 2 km").unwrap(), Position { x_m: 1.0, y_m: 2000.0 });
        assert_eq!(range_in_unit("0.5..1.5 m/s", "m/s").unwrap(), Bounds { low: 0.5, high: 1.5 });
        assert_eq!(range_in_unit("500 m..1 km", "m").unwrap(), Bounds { low: 500.0, high: 1000.0 });
        assert_eq!(range_in_unit("2 min", "s").unwrap(), Bounds::single(120.0));
        assert_eq!(in_unit("1 min", "s").unwrap(), 60.0);
        assert_eq!(range_in_unit("1..3", "").unwrap(), Bounds { low: 1.0, high: 3.0 });
        assert_eq!(range_in_unit("1 min..endless", "s").unwrap(), Bounds { low: 60.0, high: ENDLESS_S });
        assert_eq!(range_in_unit("endless", "s").unwrap(), Bounds::single(ENDLESS_S));
        assert!(range_in_unit("1 m..endless", "m").is_err() && range_in_unit("endless s", "s").is_err());
        assert_eq!(position("-5 m, -0.5 km").unwrap(), Position { x_m: -5.0, y_m: -500.0 });
        assert_eq!(signed_time("-1.5 s").unwrap(), Duration::from_nanos(-1_500_000_000));
        let long = Duration::from_nanos(2_999_999_940_000_000_001);
        assert_eq!(time("2999999940.000000001 s").unwrap(), long, "to the nanosecond");
    }

    #[test]
    fn quantities_of_one_kind_share_a_unit() {
        let of = |texts: &[&'static str]| in_one_unit(texts);
        assert_eq!(of(&["200 kB", "1 MB", "400 kB"]), Some((vec![200.0, 1000.0, 400.0], "kB")));
        assert_eq!(of(&["1..2 min", "30 s"]), Some((vec![2.0, 0.5], "min")));
        assert_eq!(of(&["3", "10"]), Some((vec![3.0, 10.0], "")));
        assert_eq!(of(&["3 copies", "10 copies"]), Some((vec![3.0, 10.0], "copies")));
        for mixed in [&["1 MB", "1 s"][..], &["1 MB", "2"], &["1 copy", "2 copies"], &["none"], &[]] {
            assert_eq!(of(mixed), None, "{mixed:?}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused_with_an_example() {
        let told = |wrong: Wrong| format!("{}; {}", wrong.what, wrong.right);
        assert_eq!(
            told(time("5").unwrap_err()),
            "`5` has no unit; a time is written like \"240 s\" or \"12 h\""
        );
        assert_eq!(
            told(bytes("-5 kB").unwrap_err()),
            "`-5 kB` is negative; a size is written like \"500 kB\" or \"64 KiB\""
        );
        for bad in ["", "s", "NaN s", "inf s", "1e400 s", "5 parsec", "1..", "..", "200 y", "1__0 s", "-"] {
            assert!(times(bad).is_err(), "{bad}");
        }
        for bad in ["0.5 B", "1e30 B", "5 kb", "2..1 kB"] {
            assert!(sizes(bad).is_err(), "{bad}");
        }
        assert!(bit_rate("0 bit/s").is_err());
        assert!(area("1 km").is_err() && area("0 m x 1 m").is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,40}", unit in "s|B|bit/s|%||m") {
            let _ = (times(&text), sizes(&text), bit_rate(&text), area(&text), position(&text));
            let _ = (in_unit(&text, &unit), range_in_unit(&text, &unit));
        }
    }
}
