//! A TOML document as a tree in which everything knows where it stands.

use super::error::{Error, Place, Result, is_not, quoted, short, suggestion};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// Children are shared: a sweep makes thousands of trees that differ in a few leaves.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string.
    Text(String),
    /// An integer.
    Whole(i64),
    /// A float.
    Real(f64),
    /// True or false.
    Flag(bool),
    /// An array.
    List(Vec<Arc<Node>>),
    /// A table, in order of appearance.
    Table(Entries),
}

/// A table's keys and values, in order of appearance.
pub type Entries = Vec<(Key, Arc<Node>)>;

/// A key and its place.
#[derive(Clone, Debug)]
pub struct Key {
    /// The key.
    pub name: String,
    /// Where it stands.
    pub place: Place,
}

impl Node {
    /// What kind of value it is, for errors.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a string",
            Value::Whole(_) => "a whole number",
            Value::Real(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
    /// The value as a person would write it in a table of results.
    pub fn text(&self) -> String {
        match &self.value {
            Value::Text(text) => text.clone(),
            Value::Whole(n) => n.to_string(),
            Value::Real(n) => short(*n),
            Value::Flag(flag) => flag.to_string(),
            Value::List(list) => list.iter().map(|node| node.text()).collect::<Vec<_>>().join(" "),
            Value::Table(entries) => entries
                .iter()
                .map(|(key, node)| match key.name.as_str() {
                    "name" | "model" => node.text(),
                    other => format!("{other}={}", node.text()),
                })
                .collect::<Vec<_>>()
                .join(" "),
        }
    }
}

/// Reads a document.
///
/// # Errors
/// Its syntax errors.
pub fn parse(file: &str, text: &str) -> Result<Node> {
    let reader = Reader::new(file, text);
    match DeTable::parse(text) {
        Ok(document) => {
            Ok(Node { place: reader.place(0), value: Value::Table(reader.table(document.get_ref())?) })
        }
        Err(first) => {
            let error = |error: &toml::de::Error| {
                let at = error.span().map_or(text.len(), |span| span.start);
                Error::new(&reader.place(at), error.message(), "see https://toml.io for TOML's syntax")
            };
            let (_, rest) = DeTable::parse_recoverable(text);
            // Of a broken line only the first thing that is wrong.
            let mut all: Vec<Error> = [&first].into_iter().chain(&rest).map(error).collect();
            all.sort_by(|a, b| a.place.cmp(&b.place));
            all.dedup_by(|later, first| later.place == first.place);
            Err(Error::all(all).unwrap_or_else(|| error(&first)))
        }
    }
}

/// What can be read of a document with syntax errors; `None` where that is nothing.
pub fn recovered(file: &str, text: &str) -> Option<Node> {
    let reader = Reader::new(file, text);
    let (document, _) = DeTable::parse_recoverable(text);
    Some(Node { place: reader.place(0), value: Value::Table(reader.table(document.get_ref()).ok()?) })
}

/// The value of `--set key=text`, as [`parse_argument`] reads it.
///
/// # Errors
/// A list whose strings have no quotes.
pub fn argument(key: &str, text: &str) -> Result<Node> {
    let node = parse_argument(key, text);
    match list_in_quotes(text).filter(|_| matches!(node.value, Value::Text(_))) {
        Some(right) => Err(Error::new(&node.place, format!("{} is not a list", quoted(text)), right)),
        None => Ok(node),
    }
}

/// How a list is written whose strings have no quotes.
fn list_in_quotes(text: &str) -> Option<String> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let items = inner.split(',').map(str::trim).filter(|item| !item.is_empty());
    let items: Vec<String> = items.map(|item| format!("\"{}\"", item.trim_matches(['"', '\'']))).collect();
    let whole = format!("[{}]", items.join(", "));
    let right = "strings of a list need quotes, and the shell quotes around them";
    Some(if whole.len() > 80 { right.to_owned() } else { format!("{right}: '{whole}'") })
}

/// Reads the value of `--set key=text`: TOML where it is TOML, else a bare string.
pub fn parse_argument(key: &str, text: &str) -> Node {
    let place = Place::Set(key.into());
    let parsed = DeValue::parse(text).ok().and_then(|value| {
        Reader { file: key.into(), line_starts: Vec::new(), fixed: Some(place.clone()) }.node(&value).ok()
    });
    parsed.unwrap_or_else(|| Node { place, value: Value::Text(text.trim().to_owned()) })
}

struct Reader {
    file: Arc<str>,
    line_starts: Vec<usize>,
    fixed: Option<Place>,
}

impl Reader {
    fn new(file: &str, text: &str) -> Self {
        let line_starts = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        Self { file: file.into(), line_starts, fixed: None }
    }
    fn place(&self, at: usize) -> Place {
        let line = self.line_starts.partition_point(|&start| start <= at) + 1;
        self.fixed
            .clone()
            .unwrap_or_else(|| Place::Line(self.file.clone(), u32::try_from(line).unwrap_or(u32::MAX)))
    }
    fn table(&self, table: &DeTable) -> Result<Entries> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
            .into_iter()
            .map(|(key, value)| {
                let key = Key { name: key.get_ref().to_string(), place: self.place(key.span().start) };
                Ok((key, Arc::new(self.node(value)?)))
            })
            .collect()
    }
    fn node(&self, value: &Spanned<DeValue>) -> Result<Node> {
        let place = self.place(value.span().start);
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(n) => {
                Value::Whole(i64::from_str_radix(n.as_str(), n.radix()).map_err(|_| {
                    Error::new(&place, format!("{} is too large", quoted(n.as_str())), "use a smaller number")
                })?)
            }
            DeValue::Float(n) => Value::Real(
                n.as_str()
                    .parse()
                    .map_err(|_| Error::new(&place, is_not(n.as_str(), "a number"), "use a number"))?,
            ),
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(_) => {
                return place
                    .refuse("a date has no meaning here", "times are counted from the start, like \"12 h\"");
            }
            DeValue::Array(list) => Value::List(
                list.iter().map(|item| self.node(item).map(Arc::new)).collect::<Result<Vec<_>>>()?,
            ),
            DeValue::Table(table) => Value::Table(self.table(table)?),
        };
        Ok(Node { place, value })
    }
}

/// Puts `new` at `path` (keys joined by dots), making missing tables. A plain algorithm's name
/// inside the path becomes a table with that name, so that its parameters can be set.
///
/// # Errors
/// Where the path leads through something that has no keys.
pub fn set(root: &mut Node, path: &str, new: Node) -> Result<()> {
    let place = new.place.clone();
    if is_parameter(root, path) {
        return set(root, &format!("{PARAMETERS}.{path}"), new);
    }
    let keys = key_parts(path, &place)?;
    check_group(root, &keys, &place)?;
    let mut keys = keys.into_iter().peekable();
    let mut node = root;
    while let Some(key) = keys.next() {
        if key.is_empty() {
            return place.refuse("a part of the key is empty", "keys are joined by single dots");
        }
        let entries = as_table(node, &place)?;
        let index = entries.iter().position(|entry| entry.0.name == key).unwrap_or_else(|| {
            let empty = Node { place: place.clone(), value: Value::Table(Vec::new()) };
            entries.push((Key { name: key, place: place.clone() }, Arc::new(empty)));
            entries.len() - 1
        });
        if keys.peek().is_none() {
            entries[index].1 = Arc::new(new);
            return Ok(());
        }
        node = Arc::make_mut(&mut entries[index].1);
    }
    place.refuse("no key is given", "write --set path.to.key=value")
}

/// A key of a group of nodes that is not in the file would make a new group, most often one with a slip in its name: a new one
/// begins with its count.
fn check_group(root: &Node, keys: &[String], place: &Place) -> Result<()> {
    let [nodes, group, key, ..] = keys else { return Ok(()) };
    let Value::Table(entries) = &root.value else { return Ok(()) };
    let table = entries.iter().find(|entry| entry.0.name == *nodes && nodes == "nodes");
    let Some(Value::Table(groups)) = table.map(|entry| &entry.1.value) else { return Ok(()) };
    let known: Vec<&str> = groups.iter().map(|entry| entry.0.name.as_str()).collect();
    if key == "count" || known.is_empty() || known.contains(&group.as_str()) {
        return Ok(());
    }
    place.refuse(format!("unknown group {} of nodes", quoted(group)), suggestion(group, &known))
}

/// The table of values that others refer to as `"$name"`.
pub const PARAMETERS: &str = "parameters";

fn is_parameter(root: &Node, key: &str) -> bool {
    let has = |node: &Node, key: &str| match &node.value {
        Value::Table(entries) => entries.iter().any(|entry| entry.0.name == key),
        _ => false,
    };
    let parameters = match &root.value {
        Value::Table(entries) => entries.iter().find(|entry| entry.0.name == PARAMETERS),
        _ => None,
    };
    !has(root, key) && parameters.is_some_and(|entry| has(&entry.1, key))
}

/// What is wrong with a reference to a parameter that does not exist.
pub fn not_a_parameter(reference: &str) -> String {
    is_not(reference, "a parameter")
}

/// Puts the values of `[parameters]` where they are referred to; they may refer to each other.
///
/// # Errors
/// A reference to none of them.
pub fn substitute(root: &Node) -> Result<Node> {
    let known = match &root.value {
        Value::Table(entries) => entries.iter().find(|entry| entry.0.name == PARAMETERS),
        _ => None,
    };
    let Some((_, parameters)) = known else { return Ok(root.clone()) };
    let Value::Table(parameters) = &parameters.value else {
        return parameters
            .place
            .refuse(format!("`{PARAMETERS}` is {}", parameters.kind()), "it must be a table of values");
    };
    replaced(root, parameters, 0, &mut 0)
}

/// More values than any scenario has: parameters that name each other twice double them.
const VALUES_MAX: usize = 2_000_000;

/// `depth` references have led here, to one of `count` values.
fn replaced(node: &Node, parameters: &Entries, depth: usize, count: &mut usize) -> Result<Node> {
    *count += 1;
    if *count > VALUES_MAX {
        let what = format!("with its [parameters] the scenario has more than {VALUES_MAX} values");
        return node.place.refuse(what, "let fewer parameters name others");
    }
    let value = match &node.value {
        Value::Text(text) if text.starts_with('$') => {
            let found = parameters.iter().find(|entry| entry.0.name == text[1..]);
            let Some((_, value)) = found else {
                let names: Vec<&str> = parameters.iter().map(|entry| entry.0.name.as_str()).collect();
                return node
                    .place
                    .refuse(not_a_parameter(text), format!("[parameters] has: {}", names.join(", ")));
            };
            if depth > parameters.len() {
                return node.place.refuse(
                    format!("{} leads back to itself", quoted(text)),
                    "give one of these parameters a value",
                );
            }
            return replaced(value, parameters, depth + 1, count);
        }
        Value::Table(entries) => Value::Table(
            entries
                .iter()
                .map(|(key, node)| Ok((key.clone(), Arc::new(replaced(node, parameters, depth, count)?))))
                .collect::<Result<_>>()?,
        ),
        Value::List(items) => Value::List(
            items
                .iter()
                .map(|item| replaced(item, parameters, depth, count).map(Arc::new))
                .collect::<Result<_>>()?,
        ),
        other => other.clone(),
    };
    Ok(Node { place: node.place.clone(), value })
}

/// Deeper than any table lies.
const KEY_PARTS_MAX: usize = 20;

/// The parts of `contacts.plan.pairs."BS -> Sat1".delay`: bare, or in quotes as TOML writes them.
fn key_parts(path: &str, place: &Place) -> Result<Vec<String>> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut quote = None;
    for c in path.chars() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') if part.trim().is_empty() => quote = Some(c),
            (None, '.') => parts.push(std::mem::take(&mut part).trim().to_owned()),
            (_, c) => part.push(c),
        }
    }
    if quote.is_some() {
        return place.refuse("a quote in the key is not closed", "close it, like pairs.\"A -> B\"");
    }
    parts.push(part.trim().to_owned());
    if parts.len() > KEY_PARTS_MAX {
        return place.refuse(format!("the key has {} parts", parts.len()), "no key has more than 20");
    }
    Ok(parts)
}

fn as_table<'a>(node: &'a mut Node, place: &Place) -> Result<&'a mut Entries> {
    if let Value::Text(name) = &node.value {
        let name = Node { place: node.place.clone(), value: Value::Text(name.clone()) };
        let key = Key { name: "name".to_owned(), place: node.place.clone() };
        node.value = Value::Table(vec![(key, Arc::new(name))]);
    }
    let kind = node.kind();
    match &mut node.value {
        Value::Table(entries) => Ok(entries),
        _ => place.refuse(
            format!("the key leads through {kind}"),
            "only tables have keys; set the whole value instead",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_keep_their_order_and_their_lines() {
        let tree = parse("a.toml", "z = 1\n[b]\na = 'x'\n").unwrap();
        let Value::Table(entries) = tree.value else { panic!() };
        assert_eq!(entries[0].0.name, "z");
        let Value::Table(inner) = &entries[1].1.value else { panic!() };
        assert_eq!(inner[0].0.place.to_string(), "a.toml:3");
    }

    #[test]
    fn a_syntax_error_names_its_line() {
        let error = parse("a.toml", "a = 1\nb = \n").unwrap_err().to_string();
        assert!(error.starts_with("a.toml:2: "), "{error}");
    }

    #[test]
    fn setting_reaches_into_tables_and_turns_names_into_tables() {
        let mut tree = parse("a.toml", "router = 'epidemic'\n").unwrap();
        set(&mut tree, "router.copies", parse_argument("router.copies", "4")).unwrap();
        set(&mut tree, "world.tick", parse_argument("world.tick", "0.1 s")).unwrap();
        assert_eq!(tree.text(), "router=epidemic copies=4 world=tick=0.1 s");
        set(&mut tree, "pairs.\"A.b -> 'C\".delay", parse_argument("k", "9 s")).unwrap();
        assert!(tree.text().ends_with("pairs=A.b -> 'C=delay=9 s"), "{}", tree.text());
        assert!(set(&mut tree, "pairs.\"A", parse_argument("k", "9 s")).is_err());
        assert!(set(&mut tree, "router.copies.x", parse_argument("k", "1")).is_err());
        assert!(set(&mut tree, "", parse_argument("k", "1")).is_err());
    }

    proptest! {
        #[test]
        fn no_document_panics(text in ".{0,200}") {
            let _ = parse("any", &text);
            let _ = parse_argument("any", &text);
        }
    }
}
