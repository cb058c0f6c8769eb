//! TOML as text: tables of declared keys, each with a comment.

use crate::keys::Key;
use crate::quantity::{Bounds, ENDLESS_S};
use lightlag_protocols::dtn::{Domain, Parameter, Value};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::{BitRate, Bytes};
use std::fmt::Write;
use toml::Value as Toml;

/// A document in the making. Keys go to the table that was opened last.
pub struct Document {
    text: String,
    keys: &'static [Key],
}

impl Document {
    /// Without a table; its first keys are those of the root.
    pub fn new(keys: &'static [Key]) -> Self {
        Self { text: String::new(), keys }
    }
    /// The text so far.
    pub fn text(self) -> String {
        self.text
    }
    /// A line of comment; what would end it is taken out.
    pub fn comment(&mut self, line: &str) {
        let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let _ = writeln!(self.text, "# {line}");
    }
    /// Opens a table with these keys. Parts of the path are [`plain`] names.
    pub fn table(&mut self, path: &[&str], keys: &'static [Key]) {
        self.keys = keys;
        let _ = writeln!(self.text, "\n[{}]", path.join("."));
    }
    /// Further keys of this table.
    pub fn keys_of(&mut self, keys: &'static [Key]) {
        self.keys = keys;
    }
    /// A key of the table, with the setting of The ONE that it comes from.
    pub fn key(&mut self, name: &str, value: impl Into<Toml>, from: &str) {
        let declared = self.keys.iter().find(|key| key.name == name);
        debug_assert!(declared.is_some(), "`{name}` is not declared");
        self.line(name, value.into(), from, declared.map_or("", |key| key.about));
    }
    /// A parameter, unless it has its default.
    pub fn parameter(&mut self, declared: &Parameter, value: &Value, from: &str) {
        if declared.default.as_ref() != Some(value) {
            self.line(declared.name, parameter(declared, value), from, declared.meaning);
        }
    }
    /// A key that names a model or an algorithm.
    pub fn name(&mut self, key: &str, name: &str, from: &str) {
        self.line(key, name.into(), from, "");
    }
    fn line(&mut self, name: &str, value: Toml, from: &str, about: &str) {
        let between = if from.is_empty() || about.is_empty() { "" } else { ": " };
        let comment = format!("  # {from}{between}{about}");
        let comment = if from.is_empty() && about.is_empty() { "" } else { &comment };
        let _ = writeln!(self.text, "{name} = {value}{comment}");
    }
}

/// A name that tables can have: other characters become `_`.
pub fn plain(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let is_name = plain.chars().any(|c| !c.is_ascii_digit()) && plain != "all" && plain.len() <= 90;
    if is_name { plain } else { format!("_{}", &plain[..plain.len().min(90)]) }
}

/// `90 s`, to the nanosecond; whole hours as `12 h`.
pub fn time(span: Duration) -> String {
    const HOUR_NS: i64 = 3_600_000_000_000;
    match span.as_nanos() {
        ns if ns > 0 && ns % HOUR_NS == 0 => format!("{} h", ns / HOUR_NS),
        _ => format!("{} s", seconds(span)),
    }
}

/// `60..90 s`.
pub fn times(bounds: Bounds<Duration>) -> String {
    format!("{}..{} s", seconds(bounds.low), seconds(bounds.high))
}

fn seconds(span: Duration) -> String {
    let ns = span.as_nanos();
    let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    let text = format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `500 kB`.
pub fn bytes(size: Bytes) -> String {
    let (number, unit) = round(size.get());
    format!("{number} {unit}B")
}

/// `2 Mbit/s`.
pub fn rate(rate: BitRate) -> String {
    let (number, unit) = round(rate.0);
    format!("{number} {unit}bit/s")
}

/// A whole number of thousands or millions, with the start of its unit.
fn round(number: u64) -> (u64, &'static str) {
    match number {
        0 => (0, ""),
        _ if number.is_multiple_of(1_000_000) => (number / 1_000_000, "M"),
        _ if number.is_multiple_of(1_000) => (number / 1_000, "k"),
        _ => (number, ""),
    }
}

/// A list.
pub fn list<T: Into<Toml>>(items: impl IntoIterator<Item = T>) -> Toml {
    Toml::Array(items.into_iter().map(Into::into).collect())
}

/// A table within a line.
pub fn inline<const N: usize>(entries: [(&str, Toml); N]) -> Toml {
    Toml::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// A parameter's value as its reader takes it.
fn parameter(declared: &Parameter, value: &Value) -> Toml {
    let unit = declared.unit;
    match value {
        Value::Flag(flag) => (*flag).into(),
        Value::Word(word) => word.as_ref().into(),
        Value::Area(area) => format!("{} m x {} m", area.width_m, area.height_m).into(),
        Value::Position(at) => format!("{} m, {} m", at.x_m, at.y_m).into(),
        Value::Range(range) if range.high >= ENDLESS_S && range.low < ENDLESS_S => {
            format!("{} {unit}..endless", range.low).into()
        }
        Value::Range(range) if range.high >= ENDLESS_S => "endless".into(),
        Value::Range(range) if range.low == range.high => with_unit(range.low.to_string(), unit).into(),
        Value::Range(range) => with_unit(format!("{}..{}", range.low, range.high), unit).into(),
        Value::Number(number) if !unit.is_empty() => with_unit(number.to_string(), unit).into(),
        Value::Number(number) if matches!(declared.domain, Domain::Integer(..)) => (*number as i64).into(),
        Value::Number(number) => (*number).into(),
    }
}

fn with_unit(number: String, unit: &str) -> String {
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}
