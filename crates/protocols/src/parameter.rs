//! What an algorithm declares about itself: its parameters with units, ranges and defaults.

use crate::units::parse::{Area, Bounds, Position};
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;

/// One parameter of an algorithm.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name, as in a scenario.
    pub name: &'static str,
    /// Unit of a number ("s", "B", "bit/s", "" for a plain one).
    pub unit: &'static str,
    /// Used when a scenario does not say; `None`: there is no default.
    pub default: Option<Value>,
    /// Whether it must be given.
    pub needed: bool,
    /// Which values are allowed.
    pub domain: Domain,
    /// One sentence.
    pub meaning: &'static str,
}

impl Parameter {
    const fn new(
        name: &'static str,
        unit: &'static str,
        default: Option<Value>,
        domain: Domain,
        meaning: &'static str,
    ) -> Self {
        let needed = default.is_none();
        Self { name, unit, default, needed, domain, meaning }
    }
    /// A number from `range.0` to `range.1`, in `unit`.
    pub const fn number(
        name: &'static str,
        unit: &'static str,
        default: f64,
        range: (f64, f64),
        meaning: &'static str,
    ) -> Self {
        let domain = Domain::Number(range.0, range.1);
        Self::new(name, unit, Some(Value::Number(default)), domain, meaning)
    }
    /// A number from `range.0` to `range.1`, in `unit`, that has no default.
    pub const fn needed(
        name: &'static str,
        unit: &'static str,
        range: (f64, f64),
        meaning: &'static str,
    ) -> Self {
        Self::new(name, unit, None, Domain::Number(range.0, range.1), meaning)
    }
    /// A whole number from `range.0` to `range.1`.
    pub const fn integer(name: &'static str, default: f64, range: (f64, f64), meaning: &'static str) -> Self {
        let domain = Domain::Integer(range.0, range.1);
        Self::new(name, "", Some(Value::Number(default)), domain, meaning)
    }
    /// Yes or no.
    pub const fn flag(name: &'static str, default: bool, meaning: &'static str) -> Self {
        Self::new(name, "", Some(Value::Flag(default)), Domain::Flag, meaning)
    }
    /// One of `words`, of which the first is the default.
    pub const fn word(name: &'static str, words: &'static [&'static str], meaning: &'static str) -> Self {
        let default = Value::Word(std::borrow::Cow::Borrowed(words[0]));
        Self::new(name, "", Some(default), Domain::OneOf(words), meaning)
    }
    /// A range such as `"0.5..1.5 m/s"`, in `unit`, that lies within `within`.
    pub const fn range(
        name: &'static str,
        unit: &'static str,
        default: Option<Bounds<f64>>,
        within: (f64, f64),
        meaning: &'static str,
    ) -> Self {
        let default = match default {
            Some(range) => Some(Value::Range(range)),
            None => None,
        };
        Self::new(name, unit, default, Domain::Range(within.0, within.1), meaning)
    }
    /// A rectangle such as `"1 km x 500 m"`, that has no default.
    pub const fn area(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, "", None, Domain::Area, meaning)
    }
    /// A position such as `"100 m, 200 m"`, that has no default.
    pub const fn position(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, "", None, Domain::Position, meaning)
    }
    /// The same, but without a default it need not be given.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.needed = false;
        self
    }
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number in the parameter's unit.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// One of a few words.
    Word(std::borrow::Cow<'static, str>),
    /// A range in the parameter's unit, from which values are drawn.
    Range(Bounds<f64>),
    /// The sides of a rectangle.
    Area(Area),
    /// A point in the plane.
    Position(Position),
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}
impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}
impl From<&str> for Value {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned().into())
    }
}

/// Which values a parameter may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// Any number from the first to the second, both included.
    Number(f64, f64),
    /// Any whole number from the first to the second, both included.
    Integer(f64, f64),
    /// True or false.
    Flag,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Any range between the first and the second, both included.
    Range(f64, f64),
    /// Any rectangle.
    Area,
    /// Any point.
    Position,
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(low, high) => write!(f, "a number from {low} to {high}"),
            Self::Integer(low, high) => write!(f, "a whole number from {low} to {high}"),
            Self::Flag => write!(f, "true or false"),
            Self::OneOf(words) => write!(f, "one of \"{}\"", words.join("\", \"")),
            Self::Range(low, high) => write!(f, "a range within {low} to {high}"),
            Self::Area => f.write_str("an area like \"1 km x 1 km\""),
            Self::Position => f.write_str("a position like \"100 m, 200 m\""),
        }
    }
}
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Never a page of digits.
            Self::Number(n) if n.abs() >= 1e16 => write!(f, "{n:e}"),
            Self::Number(n) => write!(f, "{n}"),
            Self::Flag(b) => write!(f, "{b}"),
            Self::Word(w) => write!(f, "\"{w}\""),
            Self::Range(Bounds { low, high }) => write!(f, "{low}..{high}"),
            Self::Area(area) => write!(f, "{} m x {} m", area.width_m, area.height_m),
            Self::Position(at) => write!(f, "{} m, {} m", at.x_m, at.y_m),
        }
    }
}

impl Domain {
    /// Whether `value` is allowed.
    pub fn contains(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Number(low, high), Value::Number(n)) => low <= n && n <= high,
            (Self::Integer(low, high), Value::Number(n)) => low <= n && n <= high && n.fract() == 0.0,
            (Self::Flag, Value::Flag(_)) => true,
            (Self::OneOf(words), Value::Word(w)) => words.contains(&w.as_ref()),
            (Self::Range(low, high), Value::Range(range)) => {
                *low <= range.low && range.low <= range.high && range.high <= *high
            }
            (Self::Area, Value::Area(_)) | (Self::Position, Value::Position(_)) => true,
            _ => false,
        }
    }
}

/// Why given values don't fit an algorithm's parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParameterError {
    /// No parameter of that name.
    #[error("`{algorithm}` has no parameter `{name}`; it has: {known}")]
    Unknown {
        /// The algorithm.
        algorithm: String,
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// Not in its domain.
    #[error("parameter `{name}` of `{algorithm}` is {given}; it must be {domain}")]
    OutOfRange {
        /// The algorithm.
        algorithm: String,
        /// The parameter.
        name: String,
        /// The value given.
        given: String,
        /// What would be right.
        domain: String,
    },
    /// It has no default and was not given.
    #[error("`{algorithm}` needs the parameter `{name}`; it must be {domain}")]
    Missing {
        /// The algorithm.
        algorithm: String,
        /// The parameter.
        name: String,
        /// What would be right.
        domain: String,
    },
}

/// Values for all parameters of an algorithm: those given, the defaults for the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters(BTreeMap<String, Value>);

impl Parameters {
    /// Of an algorithm that has no parameters.
    pub const NONE: Self = Self(BTreeMap::new());

    /// Checks `given` against what `algorithm` declares and fills in the defaults.
    ///
    /// # Errors
    /// [`ParameterError`] at the first unknown name, value out of its domain, or missing value.
    pub fn resolve(
        algorithm: &str,
        declared: &[Parameter],
        given: &BTreeMap<String, Value>,
    ) -> Result<Self, ParameterError> {
        let mut values: BTreeMap<String, Value> =
            declared.iter().filter_map(|p| Some((p.name.to_owned(), p.default.clone()?))).collect();
        for (name, value) in given {
            let Some(parameter) = declared.iter().find(|p| p.name == name) else {
                let known: Vec<&str> = declared.iter().map(|p| p.name).collect();
                return Err(ParameterError::Unknown {
                    algorithm: algorithm.to_owned(),
                    name: name.clone(),
                    known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
                });
            };
            if !parameter.domain.contains(value) {
                return Err(ParameterError::OutOfRange {
                    algorithm: algorithm.to_owned(),
                    name: name.clone(),
                    given: value.to_string(),
                    domain: parameter.domain.to_string(),
                });
            }
            values.insert(name.clone(), value.clone());
        }
        if let Some(missing) = declared.iter().find(|p| p.needed && !given.contains_key(p.name)) {
            return Err(ParameterError::Missing {
                algorithm: algorithm.to_owned(),
                name: missing.name.to_owned(),
                domain: missing.domain.to_string(),
            });
        }
        Ok(Self(values))
    }
    fn read<'p, T>(&'p self, name: &str, kind: &str, read: impl FnOnce(&'p Value) -> Option<T>) -> T {
        let value = self.0.get(name);
        value.and_then(read).unwrap_or_else(|| panic!("{kind} `{name}` is not declared ({value:?})"))
    }
    /// The number called `name`, in its declared unit.
    ///
    /// # Panics
    /// If the algorithm did not declare such a number: a bug in its file.
    pub fn number(&self, name: &str) -> f64 {
        self.read(name, "number", |value| if let Value::Number(n) = value { Some(*n) } else { None })
    }
    /// The flag called `name`.
    ///
    /// # Panics
    /// If the algorithm did not declare such a flag.
    pub fn flag(&self, name: &str) -> bool {
        self.read(name, "flag", |value| if let Value::Flag(flag) = value { Some(*flag) } else { None })
    }
    /// The word called `name`.
    ///
    /// # Panics
    /// If the algorithm did not declare such a word.
    pub fn word(&self, name: &str) -> &str {
        self.read(name, "word", |value| if let Value::Word(word) = value { Some(&**word) } else { None })
    }
    /// The range called `name`, in its declared unit.
    ///
    /// # Panics
    /// If the algorithm did not declare such a range.
    pub fn range(&self, name: &str) -> Bounds<f64> {
        self.read(name, "range", |value| if let Value::Range(range) = value { Some(*range) } else { None })
    }
    /// The area called `name`.
    ///
    /// # Panics
    /// If the algorithm did not declare such an area, or it is optional and absent.
    pub fn area(&self, name: &str) -> Area {
        self.read(name, "area", |value| if let Value::Area(area) = value { Some(*area) } else { None })
    }
    /// The position called `name`.
    ///
    /// # Panics
    /// If the algorithm did not declare such a position, or it is optional and absent.
    pub fn position(&self, name: &str) -> Position {
        self.read(name, "position", |value| if let Value::Position(at) = value { Some(*at) } else { None })
    }
    /// Whether there is a value called `name`: optional ones may be absent.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
    /// All names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

/// A row of a table: all that the rest of the system needs to know of an algorithm. `S` is what it is
/// built for.
pub struct Entry<A: ?Sized, S> {
    /// File = type = string in a scenario = page in the docs.
    pub name: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Names of what it requires; empty: any.
    pub only_with: &'static [&'static str],
    /// Builds one.
    pub build: fn(&Parameters, S) -> Box<A>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[Parameter] = &[Parameter::integer("copies", 10.0, (1.0, 100.0), "Copies.")];

    fn resolve(name: &str, n: f64) -> Result<Parameters, ParameterError> {
        Parameters::resolve("spray", DECLARED, &BTreeMap::from([(name.to_owned(), Value::Number(n))]))
    }

    #[test]
    fn defaults_fill_what_is_not_given() {
        let values = Parameters::resolve("spray", DECLARED, &BTreeMap::new()).unwrap();
        assert_eq!(values.number("copies"), 10.0);
        assert_eq!(resolve("copies", 4.0).unwrap().number("copies"), 4.0);
    }

    #[test]
    fn an_unknown_name_or_a_value_out_of_range_is_told_with_what_would_be_right() {
        assert_eq!(
            resolve("copy", 4.0).unwrap_err().to_string(),
            "`spray` has no parameter `copy`; it has: copies"
        );
        assert_eq!(
            resolve("copies", 4.5).unwrap_err().to_string(),
            "parameter `copies` of `spray` is 4.5; it must be a whole number from 1 to 100"
        );
    }
}
