//! Numbers as The ONE reads them, with its suffixes.

use crate::error::{Wrong, is_not, quoted};

type Parsed<T> = Result<T, Wrong>;

const SUFFIXES: &[(&str, f64)] = &[
    ("kiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
];

/// The digits of a number and the factor of its suffix. Where there is a suffix The ONE deletes
/// everything but digits and dots first: `-5k` is 5000, and `1,5M` would be 15 million.
fn parts(text: &str) -> (String, f64) {
    match SUFFIXES.iter().find(|suffix| text.ends_with(suffix.0)) {
        Some((_, factor)) => (text.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect(), *factor),
        None => (text.to_owned(), 1.0),
    }
}

/// A number: digits with or without a fraction, an exponent, a suffix k, M, G, kiB, MiB or GiB.
pub fn double(text: &str) -> Parsed<f64> {
    let (digits, factor) = parts(text.trim());
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    let number: Option<f64> = if plain { digits.parse().ok() } else { None };
    number
        .map(|n| n * factor)
        .filter(|n| n.is_finite())
        .ok_or_else(|| Wrong::new(is_not(text, "a number"), "a number may end in k, M, G, kiB, MiB or GiB"))
}

/// A number that is whole after its suffix and fits 32 bits.
pub fn int(text: &str) -> Parsed<i32> {
    let number = double(text)?;
    let fits = number.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number);
    if fits {
        return Ok(number as i32);
    }
    Err(Wrong::new(is_not(text, "a whole number of 32 bits"), "write a whole number such as 250 or 312.5k"))
}

/// A number that is whole before its suffix too: `bufferSize` is such, so that `0.5M` is an error.
pub fn long(text: &str) -> Parsed<u64> {
    let (digits, factor) = parts(text.trim());
    if text.trim().starts_with('-') {
        return Err(Wrong::new(format!("{} is negative", quoted(text)), "write a number from zero on"));
    }
    let rest = text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || ".+".contains(c));
    if !rest.is_empty() && rest.len() < text.trim().len() && SUFFIXES.iter().all(|suffix| suffix.0 != rest) {
        return Err(Wrong::new(
            format!("{} has the unit {}", quoted(text), quoted(rest)),
            "a number may end in k, M, G, kiB, MiB or GiB; 500k are 500 000 bytes",
        ));
    }
    let number: Option<u64> = digits.parse().ok();
    number.and_then(|n| n.checked_mul(factor as u64)).ok_or_else(|| {
        Wrong::new(is_not(text, "a whole number"), "write 500k rather than 0.5M, as The ONE demands")
    })
}

/// `true` or `1`, `false` or `0`.
pub fn boolean(text: &str) -> Parsed<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(Wrong::new(format!("{} is neither yes nor no", quoted(text)), "write true or false")),
    }
}

/// A list with commas; as The ONE's scanner, nothing between two commas at the end is nothing.
pub fn list<T>(text: &str, one: impl Fn(&str) -> Parsed<T>) -> Parsed<Vec<T>> {
    let text = text.trim().trim_end_matches(',');
    text.split(',').map(|item| one(item.trim())).collect()
}

/// Two numbers, the first not above the second; a single one where `single` allows it.
pub fn range<T: PartialOrd + Copy>(
    text: &str,
    single: bool,
    one: impl Fn(&str) -> Parsed<T>,
) -> Parsed<(T, T)> {
    let right = if single { "write one number or two, like 25,35" } else { "write two numbers, like 25,35" };
    match list(text, one)?[..] {
        [value] if single => Ok((value, value)),
        [low, high] if low <= high => Ok((low, high)),
        [_, _] => Err(Wrong::new(
            format!("the range {} is turned round", quoted(text)),
            "write the smaller number first",
        )),
        _ => Err(Wrong::new(is_not(text, "a range"), right)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn suffixes_multiply_and_delete_what_is_no_digit() {
        assert_eq!(double("312.5k").unwrap(), 312_500.0);
        assert_eq!(int("-5k").unwrap(), 5000);
        assert_eq!(int("-5").unwrap(), -5);
        assert_eq!(long("500k").unwrap(), 500_000);
        assert_eq!(long("2MiB").unwrap(), 2_097_152);
        assert!(long("0.5M").is_err() && long("-5").is_err() && int("0.5").is_err() && int("3G").is_err());
        for bad in ["", "k", "NaN", "infinity", "1 2", "0x10", "5kk5"] {
            assert!(double(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lists_and_ranges_have_commas() {
        assert_eq!(range("1,300", true, int).unwrap(), (1, 300));
        assert_eq!(range("5", true, int).unwrap(), (5, 5));
        assert_eq!(range("0.5, 1.5", false, double).unwrap(), (0.5, 1.5));
        assert!(range("5", false, int).is_err() && range("3,1", true, int).is_err());
        assert!(range("1,2,3", true, int).is_err() && range("1,,2", true, int).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,20}[kMGiB]{0,3}") {
            let _ = (range(&text, true, double), long(&text), boolean(&text), list(&text, int));
        }
    }
}
