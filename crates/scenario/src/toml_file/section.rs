//! A table of a scenario under the eyes of its reader: which keys it may have, and typed access.

use crate::error::{Error, Instead, Place, Result, Wrong, nearest, quoted, suggestion};
use crate::keys::{Key as Declared, Kind, names};
use crate::tree::{Key, Node, Value};
use std::sync::Arc;

/// A table.
#[derive(Clone)]
pub struct Section<'t> {
    /// Its keys from the root, joined by dots; empty at the root.
    pub path: String,
    /// Where it stands.
    pub place: Place,
    entries: &'t [(Key, Arc<Node>)],
    /// What its keys are declared to be.
    declared: &'static [Declared],
}

/// An error about the type of a value.
pub fn wrong_type(node: &Node, path: &str, right: &str) -> Error {
    let what = format!("`{path}` is {} ({})", node.kind(), quoted(&node.text()));
    Error::new(&node.place, what, right).of_key(path, None)
}

/// An error about a value of the key with this path.
pub fn wrong_value(node: &Node, path: &str, what: String, right: &str) -> Error {
    Error::new(&node.place, what, right).of_key(path, None)
}

impl<'t> Section<'t> {
    /// A table with free keys, such as names.
    pub fn open(node: &'t Node, path: &str) -> Result<Self> {
        match &node.value {
            Value::Table(entries) => {
                Ok(Self { path: path.to_owned(), place: node.place.clone(), entries, declared: &[] })
            }
            _ => Err(wrong_type(node, path, "it must be a table")),
        }
    }
    /// A table of declared keys.
    pub fn new(node: &'t Node, path: &str, keys: &'static [Declared]) -> Result<Self> {
        Self::open(node, path)?.declared(keys)
    }
    /// The same table, whose keys must be among these.
    pub fn declared(self, keys: &'static [Declared]) -> Result<Self> {
        self.allow(&names(keys))?;
        Ok(Self { declared: keys, ..self })
    }
    /// Whether a key that is declared is declared like this.
    fn agrees(&self, name: &str, like: impl Fn(&Kind) -> bool) -> bool {
        match self.declared.iter().find(|key| key.name == name).map(|key| &key.kind) {
            Some(Kind::Any(kinds)) => kinds.iter().any(like),
            declared => declared.is_none_or(like),
        }
    }
    /// Refuses the first key that is not among `known`.
    pub fn allow(&self, known: &[&str]) -> Result<()> {
        self.unknown(known).next().map_or(Ok(()), Err)
    }
    /// An error for each key that is not among `known`.
    pub fn unknown(&self, known: &[&str]) -> impl Iterator<Item = Error> {
        self.entries.iter().filter(|(key, _)| !known.contains(&key.name.as_str())).map(|(key, _)| {
            let path = self.key(&key.name);
            let meant = nearest(&key.name, known).map(|name| Instead::Name(name.to_owned()));
            let what = format!("unknown key {}", quoted(&path));
            Error::new(&key.place, what, suggestion(&key.name, known)).of_key(path, meant)
        })
    }
    /// All keys and values.
    pub fn entries(&self) -> impl Iterator<Item = (&'t Key, &'t Node)> + use<'t> {
        self.entries.iter().map(|(key, node)| (key, node.as_ref()))
    }
    /// A key's full path.
    pub fn key(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
    /// A value.
    pub fn get(&self, name: &str) -> Option<&'t Node> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node.as_ref())
    }
    /// The place of a value, or else of the table.
    pub fn place_of(&self, name: &str) -> Place {
        self.get(name).map_or_else(|| self.place.clone(), |node| node.place.clone())
    }
    /// A table inside.
    pub fn table(&self, name: &str, keys: &'static [Declared]) -> Result<Option<Section<'t>>> {
        debug_assert!(self.agrees(name, |kind| matches!(kind, Kind::Table(_))), "{}", self.key(name));
        self.get(name).map(|node| Section::new(node, &self.key(name), keys)).transpose()
    }
    /// A string.
    pub fn text(&self, name: &str) -> Result<Option<&'t str>> {
        self.get(name).map(|node| text(node, &self.key(name))).transpose()
    }
    /// A string that must be there.
    pub fn need_text(&self, name: &str, example: &str) -> Result<&'t str> {
        self.text(name)?.ok_or_else(|| self.missing(name, example))
    }
    /// An error about the value of a key.
    pub fn refuse<T>(&self, name: &str, what: impl AsRef<str>, right: impl AsRef<str>) -> Result<T> {
        Err(Error::new(&self.place_of(name), what, right).of_key(self.key(name), None))
    }
    /// The error of a key that is not there.
    pub fn missing(&self, name: &str, example: &str) -> Error {
        Error::new(
            &self.place,
            format!("`{}` is missing", self.key(name)),
            format!("add `{name} = {example}`"),
        )
        .of_key(self.key(name), Some(Instead::Value(example.to_owned())))
    }
    /// True or false.
    pub fn flag(&self, name: &str) -> Result<Option<bool>> {
        debug_assert!(self.agrees(name, |kind| matches!(kind, Kind::Flag)), "{}", self.key(name));
        self.get(name).map(|node| flag(node, &self.key(name))).transpose()
    }
    /// A whole number between bounds, both included.
    pub fn whole(&self, name: &str, low: i64, high: i64) -> Result<Option<i64>> {
        let like = |kind: &Kind| matches!(*kind, Kind::Whole(least, most) if (least, most) == (low, high));
        debug_assert!(self.agrees(name, like), "{}", self.key(name));
        self.get(name).map(|node| whole(node, &self.key(name), low, high)).transpose()
    }
    /// A number without a unit between bounds, both included.
    pub fn real(&self, name: &str, low: f64, high: f64) -> Result<Option<f64>> {
        let like = |kind: &Kind| matches!(*kind, Kind::Real(least, most) if (least, most) == (low, high));
        debug_assert!(self.agrees(name, like), "{}", self.key(name));
        self.get(name).map(|node| real(node, &self.key(name), low, high)).transpose()
    }
    /// A quantity, by one of the parsers of [`crate::quantity`].
    pub fn quantity<T>(
        &self,
        name: &str,
        parse: impl Fn(&str) -> std::result::Result<T, Wrong>,
    ) -> Result<Option<T>> {
        let like = |kind: &Kind| matches!(kind, Kind::Quantity(_) | Kind::Text);
        debug_assert!(self.agrees(name, like), "{}", self.key(name));
        self.get(name).map(|node| quantity(node, &self.key(name), parse)).transpose()
    }
    /// A quantity that must be there.
    pub fn need<T>(
        &self,
        name: &str,
        example: &str,
        parse: impl Fn(&str) -> std::result::Result<T, Wrong>,
    ) -> Result<T> {
        self.quantity(name, parse)?.ok_or_else(|| self.missing(name, example))
    }
    /// One of a few words.
    pub fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>> {
        let known: Vec<&str> = words.iter().map(|word| word.0).collect();
        let like = |kind: &Kind| matches!(kind, Kind::Word(declared) if **declared == *known);
        debug_assert!(self.agrees(name, like), "{}", self.key(name));
        let Some(node) = self.get(name) else { return Ok(None) };
        word(node, &self.key(name), &known).map(|chosen| Some(words[chosen].1))
    }
}

/// True or false.
pub fn flag(node: &Node, path: &str) -> Result<bool> {
    match node.value {
        Value::Flag(flag) => Ok(flag),
        _ => Err(wrong_type(node, path, "it must be true or false")),
    }
}

/// A whole number between bounds, both included.
pub fn whole(node: &Node, path: &str, low: i64, high: i64) -> Result<i64> {
    let right = format!("it must be a whole number from {low} to {high}");
    match node.value {
        Value::Whole(n) if (low..=high).contains(&n) => Ok(n),
        Value::Whole(n) => Err(wrong_value(node, path, format!("`{path}` is {n}"), &right)),
        _ => Err(wrong_type(node, path, &right)),
    }
}

/// A number without a unit between bounds, both included.
pub fn real(node: &Node, path: &str, low: f64, high: f64) -> Result<f64> {
    let right = format!("it must be a number from {low} to {high}");
    let value = match node.value {
        Value::Real(value) => value,
        Value::Whole(value) => value as f64,
        _ => return Err(wrong_type(node, path, &right)),
    };
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(wrong_value(node, path, format!("`{path}` is {value}"), &right))
}

/// A string.
pub fn text<'t>(node: &'t Node, path: &str) -> Result<&'t str> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(wrong_type(node, path, "it must be a string in quotes")),
    }
}

/// One of a few words, by its place among them.
pub fn word(node: &Node, path: &str, words: &[&str]) -> Result<usize> {
    let text = text(node, path)?;
    match words.iter().position(|word| *word == text) {
        Some(chosen) => Ok(chosen),
        None => {
            let right = format!("it must be one of \"{}\"", words.join("\", \""));
            Err(wrong_value(node, path, format!("`{path}` is {}", quoted(text)), &right))
        }
    }
}

/// The items of a list, of which there must be one at least.
pub fn items<'t>(node: &'t Node, path: &str, of: &str, add: &str) -> Result<&'t [Arc<Node>]> {
    match &node.value {
        Value::List(list) if list.is_empty() => {
            Err(wrong_value(node, path, format!("the list `{path}` is empty"), add))
        }
        Value::List(list) => Ok(list),
        _ => Err(wrong_type(node, path, &format!("it must be a list of {of}"))),
    }
}

/// A quantity of a node, which must be a string.
pub fn quantity<T>(
    node: &Node,
    path: &str,
    parse: impl Fn(&str) -> std::result::Result<T, Wrong>,
) -> Result<T> {
    let named = |wrong: Wrong| wrong_value(node, path, format!("`{path}`: {}", wrong.what), &wrong.right);
    match &node.value {
        Value::Text(text) => parse(text).map_err(named),
        Value::Whole(_) | Value::Real(_) => Err(parse(&node.text())
            .err()
            .map_or_else(|| wrong_type(node, path, "it must be a string in quotes"), named)),
        _ => Err(wrong_type(node, path, "it must be a quantity in quotes, with its unit")),
    }
}
