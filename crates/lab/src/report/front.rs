//! What a report shows first: the answer, the headline measures, and where something is good or bad.

use crate::metrics::number;
use minijinja::{Value, context};

/// The first screen of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Front {
    /// Two or three sentences with numbers: what won, by how much, how sure that is, what limits it.
    pub answer: Vec<String>,
    /// The headline measures.
    pub measures: Vec<Measure>,
    /// A measure over two axes; `None`: the report has no two axes.
    pub map: Option<HeatMap>,
}

/// A headline measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    title: String,
    value: String,
    beside: String,
    share: Option<f64>,
}

impl Measure {
    /// A measure with its unit, and what it is measured by: "limit 9.67 Mbit/s".
    pub fn new(title: impl Into<String>, value: impl Into<String>, beside: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            value: value.into(),
            beside: beside.into().replace(" %", "\u{a0}%"),
            share: None,
        }
    }

    /// With a bar of this share of the bound, from 0 to 1; others are not drawn.
    #[must_use]
    pub fn of_bound(self, share: f64) -> Self {
        Self { share: (0.0..=1.0).contains(&share).then_some(share), ..self }
    }

    /// How many of some things, with a bar.
    pub fn count(title: impl Into<String>, of: usize, all: usize, beside: impl Into<String>) -> Self {
        let share = of as f64 / all.max(1) as f64;
        Self::new(title, format!("{of} of {all}"), beside).of_bound(share)
    }

    /// The interval and the unit stand smaller behind the number.
    pub(super) fn context(&self) -> Value {
        let first = self.value.split(' ').next().unwrap_or_default();
        let is_measured = first.parse::<f64>().is_ok() && !self.value.contains(" of ");
        let (value, more) = self.value.split_once(' ').filter(|_| is_measured).unwrap_or((&self.value, ""));
        context! {
            title => self.title,
            value,
            more,
            beside => self.beside,
            percent => self.share.map(|share| format!("{:.1}", 100.0 * share)),
        }
    }
}

/// How the cells of a map are coloured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Colours {
    /// From zero, which has none, to this, which has all; what is beyond has the last colour.
    UpTo(f64),
    /// Blue above zero, orange below; beyond this the last colours.
    Around(f64),
    /// As [`Self::UpTo`] by the logarithm, from one positive number to another.
    Log(f64, f64),
}

impl Colours {
    /// How much of a colour, from 0 to 1, and whether it is that of what is below zero.
    fn of(self, value: f64) -> (f64, bool) {
        let share = match self {
            Self::UpTo(most) | Self::Around(most) => value.abs() / most,
            Self::Log(least, most) if value > 0.0 => (value / least).ln() / (most / least).ln(),
            Self::Log(..) => 0.0,
        };
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        (share, matches!(self, Self::Around(_)) && value < 0.0)
    }
}

/// A measure over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    title: String,
    caption: String,
    /// What the rows are, and what the columns are.
    axes: [String; 2],
    colours: Colours,
    /// Names of rows and of columns in their order; others follow in the order of their appearance.
    order: [Vec<String>; 2],
    cells: Vec<(String, String, f64, String)>,
}

impl HeatMap {
    /// A map without cells: its heading, what to see in it, and what its rows and columns are.
    pub fn new((title, caption): (&str, &str), axes: [&str; 2], colours: Colours) -> Self {
        let axes = axes.map(str::to_owned);
        Self {
            title: title.to_owned(),
            caption: caption.to_owned(),
            axes,
            colours,
            order: Default::default(),
            cells: Vec::new(),
        }
    }

    /// With rows and columns in this order, where they have values.
    #[must_use]
    pub fn in_order(self, rows: &[&str], columns: &[&str]) -> Self {
        Self {
            order: [rows, columns].map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
            ..self
        }
    }

    /// With a value in a row and a column; what is not finite is skipped.
    pub fn add(&mut self, row: &str, column: &str, value: f64, note: &str) {
        if value.is_finite() {
            self.cells.push((row.to_owned(), column.to_owned(), value, note.to_owned()));
        }
    }

    /// This map; `None` with fewer than two rows or columns, which are no map.
    pub fn drawn(self) -> Option<Self> {
        (self.names(0).len() > 1 && self.names(1).len() > 1).then_some(self)
    }

    /// Rows or columns in their order.
    fn names(&self, axis: usize) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (row, column, ..) in &self.cells {
            let name = [row, column][axis].as_str();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.sort_by_key(|name| {
            self.order[axis].iter().position(|known| known == name).unwrap_or(usize::MAX)
        });
        names
    }

    pub(super) fn context(&self) -> Value {
        let columns = self.names(1);
        let cell = |row: &str, column: &str| {
            let (_, _, value, note) = self.cells.iter().find(|(r, c, ..)| r == row && c == column)?;
            let (share, below) = self.colours.of(*value);
            let percent = format!("{:.0}", 75.0 * share);
            Some(context! { text => short(*value, self.colours), percent, below, note })
        };
        let row = |name: &&str| {
            let cells: Vec<Value> =
                columns.iter().map(|column| cell(name, column).unwrap_or(Value::UNDEFINED)).collect();
            context! { name => name, cells }
        };
        let rows: Vec<Value> = self.names(0).iter().map(row).collect();
        let axes = &self.axes;
        // A line may break after the underscore of a name.
        let columns: Vec<Vec<&str>> = columns.iter().map(|column| column.split('_').collect()).collect();
        context! { title => self.title, caption => self.caption, axes, columns, rows }
    }
}

/// A value in a few characters; differences have their sign.
fn short(value: f64, colours: Colours) -> String {
    let size = value.abs();
    let text = match size {
        0.0 => return "0".to_owned(),
        _ if size >= 100.0 => number((value).round()),
        _ if size >= 10.0 => number((value * 10.0).round() / 10.0),
        _ if size >= 0.005 => format!("{value:.2}"),
        _ if matches!(colours, Colours::Log(..)) => format!("{value:.0e}"),
        _ => return "0".to_owned(),
    };
    if matches!(colours, Colours::Around(_)) && value > 0.0 { format!("+{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_end_where_their_scale_does() {
        assert_eq!(Colours::UpTo(2.0).of(1.0), (0.5, false));
        assert_eq!(Colours::UpTo(2.0).of(9.0), (1.0, false));
        assert_eq!(Colours::Around(0.2).of(-0.1), (0.5, true));
        assert_eq!(Colours::Log(1.0, 100.0).of(10.0), (0.5, false));
        assert_eq!(Colours::Log(1.0, 100.0).of(0.0), (0.0, false));
        assert_eq!(Colours::UpTo(0.0).of(0.0), (0.0, false), "a scale without length has one colour");
    }

    #[test]
    fn a_map_of_one_row_or_column_is_none() {
        let mut map = HeatMap::new(("t", ""), ["row", "column"], Colours::UpTo(1.0));
        map.add("a", "x", 0.5, "");
        map.add("a", "y", f64::NAN, "");
        assert_eq!(map.clone().drawn(), None);
        map.add("b", "y", 0.25, "");
        assert!(map.clone().drawn().is_some());
        assert_eq!(map.in_order(&["b", "a"], &["y"]).names(0), ["b", "a"]);
    }

    #[test]
    fn values_in_cells_are_short_and_differences_have_a_sign() {
        let of = |value| short(value, Colours::Around(1.0));
        assert_eq!([of(0.126), of(-0.5), of(0.001)], ["+0.13", "-0.50", "0"].map(str::to_owned));
        assert_eq!(short(1234.5, Colours::UpTo(1.0)), "1235");
        assert_eq!(short(0.0004, Colours::Log(1e-4, 1.0)), "4e-4");
    }
}
