//! What is wrong with an input, where, and what would be right: one line each.

use lightlag_protocols::units::parse::one_line;
pub use lightlag_protocols::units::parse::{Wrong, is_not, quoted};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In a line of a file, counted from one.
    Line(Arc<str>, u32),
    /// In a file as a whole.
    File(Arc<str>),
    /// On the command line, as the value of this key.
    Set(Arc<str>),
    /// On the command line, as this option.
    Option(Arc<str>),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(file, line) => write!(f, "{file}:{line}"),
            Self::File(file) => write!(f, "{file}"),
            Self::Set(key) => write!(f, "--set {key}"),
            Self::Option(name) => write!(f, "--{name}"),
        }
    }
}

impl Place {
    /// An error about what stands here.
    ///
    /// # Errors
    /// Always.
    pub fn refuse<T>(&self, what: impl AsRef<str>, right: impl AsRef<str>) -> Result<T> {
        Err(Error::new(self, what, right))
    }
}

/// Something that a scenario says and that cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub struct Error {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub right: String,
    /// Further errors, sorted by place.
    pub more: Vec<Error>,
    /// The key at fault, where its reader names it.
    pub(crate) fault: Option<Box<Fault>>,
}

/// A key at fault, by which the rest of a scenario can be read on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    /// Its path from the root, joined by dots.
    pub key: String,
    /// What could stand in its place.
    pub instead: Option<Instead>,
}

/// What could stand in place of a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Instead {
    /// A value, as TOML writes it.
    Value(String),
    /// The same value under this name.
    Name(String),
}

/// More errors than anyone corrects at a time.
const ERRORS_SHOWN: usize = 20;

impl fmt::Display for Error {
    /// A line for each error; one that stands for the rest where there are many.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, what, right, more, .. } = self;
        write!(f, "{place}: {what}; {right}")?;
        for Self { place, what, right, .. } in more.iter().take(ERRORS_SHOWN - 1) {
            write!(f, "\n{place}: {what}; {right}")?;
        }
        match more.len().saturating_sub(ERRORS_SHOWN - 1) {
            0 => Ok(()),
            rest => write!(f, "\nand {rest} more errors"),
        }
    }
}

/// What readers return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error that stays one line whatever the input holds.
    pub fn new(place: &Place, what: impl AsRef<str>, right: impl AsRef<str>) -> Self {
        Self {
            place: place.clone(),
            what: one_line(what.as_ref()),
            right: one_line(right.as_ref()),
            more: Vec::new(),
            fault: None,
        }
    }
    /// The same error, about the key with this path.
    pub(crate) fn of_key(self, key: impl Into<String>, instead: Option<Instead>) -> Self {
        Self { fault: Some(Box::new(Fault { key: key.into(), instead })), ..self }
    }
    /// One error that holds all of these, sorted by place, without duplicates; `None` without errors.
    pub fn all(errors: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut all = errors.into_iter().flat_map(Self::each).collect::<BTreeSet<_>>().into_iter();
        let first = all.next()?;
        Some(Self { more: all.collect(), ..first })
    }
    /// This error alone, then each of the further ones.
    pub fn each(mut self) -> impl Iterator<Item = Self> {
        let more = std::mem::take(&mut self.more);
        std::iter::once(self).chain(more)
    }
    /// What is wrong with a value that stands there.
    pub fn at(place: &Place, wrong: Wrong) -> Self {
        Self::new(place, wrong.what, wrong.right)
    }
}

/// A number as people read it: never a page of digits.
pub fn short(number: f64) -> String {
    let plain = number == 0.0 || !number.is_finite() || (1e-9..1e16).contains(&number.abs());
    if plain { number.to_string() } else { format!("{number:e}") }
}

/// The word of `known` that `given` was probably meant to be.
pub fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let best = known.iter().map(|word| (distance(given, word), *word)).min()?;
    (best.0 <= 2 && best.0 < given.chars().count()).then_some(best.1)
}

/// "did you mean", or else all known words.
pub fn suggestion(given: &str, known: &[&str]) -> String {
    match nearest(given, known) {
        Some(word) => format!("did you mean `{word}`?"),
        None if known.is_empty() => "no names are known".to_owned(),
        None => format!("known: {}", known.join(", ")),
    }
}

/// Levenshtein's distance; long words are simply far.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 2 || a.len() > 100 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_that_says_where_what_and_what_would_be_right() {
        let place = Place::Line("a.toml".into(), 3);
        let error = Error::new(&place, "no\nsuch key", "use another");
        assert_eq!(error.to_string(), "a.toml:3: no such key; use another");
    }

    #[test]
    fn several_errors_are_shown_in_the_order_of_lines_each_once_and_at_most_a_screen_of_them() {
        let error = |line| Error::new(&Place::Line("a.txt".into(), line), "wrong", "mend it");
        let two = Error::all([error(9), error(3), error(9)]).unwrap();
        assert_eq!(two.to_string(), "a.txt:3: wrong; mend it\na.txt:9: wrong; mend it");
        let many = Error::all((1..=33).map(error)).unwrap().to_string();
        assert_eq!((many.lines().count(), many.lines().last().unwrap()), (21, "and 13 more errors"));
        assert_eq!(Error::all([]), None);
    }

    #[test]
    fn a_misspelt_word_is_recognised_and_a_foreign_one_is_not() {
        assert_eq!(suggestion("bufer", &["count", "buffer"]), "did you mean `buffer`?");
        assert_eq!(suggestion("zzz", &["count", "buffer"]), "known: count, buffer");
    }
}
