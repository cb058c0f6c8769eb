//! ION's contact plans: `a contact` and `a range` lines of an `ionrc` file.

use super::{ContactRow, Line, Lines, check_order, rate};
use crate::error::{Result, is_not, quoted};
use crate::quantity::plain_number;
use lightlag_protocols::time::{Duration, Instant};

/// A contact plan. Its rows have one direction, from `a` to `b`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IonPlan {
    /// `a contact START END FROM TO RATE`.
    pub contacts: Vec<ContactRow>,
    /// `a range START END FROM TO LIGHT`: one-way light times. A range holds for both directions unless the other
    /// has its own.
    pub ranges: Vec<ContactRow>,
    /// Seconds from 1970 to [`Instant::ZERO`], leap seconds not counted; `None`: no time is absolute.
    pub epoch_s: Option<i64>,
}

/// Commands of `ionadmin` that do not change when nodes meet.
const OTHER_COMMANDS: &[&str] = &["?", "e", "v", "1", "i", "m", "r", "s", "x", "h", "q", "l", "t", "^"];
const SYNTAX: &str =
    "lines are `a contact START END FROM TO BYTES_PER_SECOND` and `a range START END FROM TO SECONDS`";
const TIMES: &str = "a time is +SECONDS or yyyy/mm/dd-hh:mm:ss";

/// Reads a plan. Times with `+` count from the start of the run, or from the instant of the last
/// `@` line; absolute times count from the first absolute time of the plan, an `@` line included.
///
/// # Errors
/// At the first line that does not fit.
pub fn ion(file: &str, bytes: &[u8]) -> Result<IonPlan> {
    let lines = Lines::new(file, bytes)?;
    let epoch_s = lines.iter().flat_map(|line| line.words).filter_map(absolute_s).min();
    let mut clock =
        Clock { epoch_s: epoch_s.unwrap_or(0), reference_ns: 0, fixed: false, absolute: epoch_s.is_some() };
    let mut plan = IonPlan { epoch_s, ..IonPlan::default() };
    for line in lines.iter() {
        match line.words[..] {
            ["@", time] => clock.set_reference(&line, time)?,
            ["a", "contact", start, end, from, to, speed, ..] => {
                let row = clock.row(&line, [start, end, from, to])?;
                // A node's contact with itself registers it in a region: it is no meeting.
                if from != to {
                    plan.contacts.push(ContactRow { rate: Some(rate(speed, 8.0, &line.place)?), ..row });
                }
            }
            ["a", "range", start, end, from, to, light, ..] => {
                let row = clock.row(&line, [start, end, from, to])?;
                let delay = plain_number(light)
                    .filter(|s| (0.0..=1e9).contains(s))
                    .ok_or_else(|| line.wrong(is_not(light, "a light time"), "give seconds, not negative"))?;
                plan.ranges.push(ContactRow { delay: Some(Duration::from_secs_f64(delay)), ..row });
            }
            ["a", ..] => return Err(line.wrong("the line is cut short or adds something else", SYNTAX)),
            [command, ..] if OTHER_COMMANDS.contains(&command) => {}
            _ => return Err(line.wrong(format!("{} is not understood", quoted(line.words[0])), SYNTAX)),
        }
    }
    Ok(plan)
}

/// What times are counted from.
struct Clock {
    epoch_s: i64,
    reference_ns: i64,
    fixed: bool,
    absolute: bool,
}

impl Clock {
    fn set_reference(&mut self, line: &Line, time: &str) -> Result<()> {
        self.reference_ns = self.instant(line, time)?.as_nanos();
        self.fixed = true;
        Ok(())
    }
    fn instant(&self, line: &Line, word: &str) -> Result<Instant> {
        let wrong = |what: &str| line.wrong(format!("{} {what}", quoted(word)), TIMES);
        if let Some(relative) = word.strip_prefix('+') {
            if self.absolute && !self.fixed {
                return Err(line.wrong(
                    "the plan mixes relative and absolute times",
                    "say with a line `@ yyyy/mm/dd-hh:mm:ss` what the relative ones count from",
                ));
            }
            let s = plain_number(relative).filter(|s| (0.0..=3.2e9).contains(s));
            let offset = Duration::from_secs_f64(s.ok_or_else(|| wrong("is not a time"))?);
            return Ok(Instant::from_nanos(self.reference_ns).saturating_add(offset));
        }
        let s = absolute_s(word).ok_or_else(|| wrong("is not a time"))? - self.epoch_s;
        if s > 3_200_000_000 { Err(wrong("is a century after the first")) } else { Ok(Instant::from_secs(s)) }
    }
    fn row(&self, line: &Line, [start, end, from, to]: [&str; 4]) -> Result<ContactRow> {
        let (start, end) = (self.instant(line, start)?, self.instant(line, end)?);
        check_order(start, end, &line.place)?;
        let (a, b) = (from.into(), to.into());
        Ok(ContactRow { place: line.place.clone(), a, b, start, end, rate: None, delay: None })
    }
}

/// `yyyy/mm/dd-hh:mm:ss` in seconds since 1970, leap seconds not counted.
fn absolute_s(word: &str) -> Option<i64> {
    let (date, time) = word.split_once('-')?;
    let [year, month, day] = three(date, '/')?;
    let [hour, minute, second] = three(time, ':')?;
    let fits = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second);
    fits.then(|| days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

fn three(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| {
        let digits = (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| part.parse().ok()).flatten()
    });
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

/// Days from 1970 to a date. Years count from March, so that the leap day is the last of its year.
pub(crate) fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days_before_month = (153 * month + 2) / 5;
    year * 365 + leap_days + days_before_month + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_protocols::units::BitRate;

    const S: fn(i64) -> Instant = Instant::from_secs;

    #[test]
    fn contacts_and_ranges_are_read_with_rates_in_bytes() {
        let plan =
            ion("f", b"## begin\n1 1 ''\ns\na contact +0 +10 1 2 125000 1.0\na range +0 +10 1 2 1\na contact +0 +9 2 2 1\nm horizon +0\n").unwrap();
        assert_eq!(plan.contacts.len(), 1);
        assert_eq!(plan.contacts[0].rate, Some(BitRate(1_000_000)));
        assert_eq!((plan.contacts[0].start, plan.contacts[0].end), (S(0), S(10)));
        assert_eq!(plan.ranges[0].delay, Some(Duration::from_secs(1)));
    }

    #[test]
    fn absolute_times_count_from_the_first_and_a_reference_line_anchors_relative_ones() {
        let plan = ion("f", b"a contact 2024/02/28-23:59:59 2024/03/01-00:00:00 1 2 1\n").unwrap();
        assert_eq!((plan.contacts[0].start, plan.contacts[0].end), (S(0), S(86_401)), "2024 has a leap day");
        let plan = ion("f", b"@ 2024/01/01-00:00:00\na contact +5 2024/01/01-00:01:00 1 2 1\n").unwrap();
        assert_eq!((plan.contacts[0].start, plan.contacts[0].end), (S(5), S(60)));
        assert_eq!(days_since_1970(1970, 1, 1), 0);
        assert_eq!(days_since_1970(2000, 3, 1), 11_017);
    }

    #[test]
    fn what_does_not_fit_is_an_error_with_its_line() {
        let told = |text: &str| ion("f", text.as_bytes()).unwrap_err().to_string();
        for bad in [
            "a contact +0 +10 1 2",
            "a contact +10 +0 1 2 5",
            "a contact 0 10 1 2 5",
            "a contact +0 +10 1 2 0",
            "a range +0 +10 1 2 -1",
            "a contact +0 2024/01/01-00:00:00 1 2 5",
            "a contact 2024/13/01-00:00:00 +5 1 2 5",
            "a plan",
            "d contact +0 1 2",
            "hello",
        ] {
            assert!(told(bad).starts_with("f:1: "), "{bad}");
        }
    }
}
