//! What distinguishes the runs of the study, in columns of the same name for all its figures.
//!
//! Figures share runs: figure 3 at a period of 300 s is figure 5 at an inter-contact time of 1000 s. Two points of
//! two files are the same cell when these columns agree, and then they are run once.

use toml::{Table, Value};

/// `ipn` between planets, `terrestrial` on Earth.
pub const WORLD: &str = "world";
/// `base_to_rovers` or `all_to_all`.
pub const TRAFFIC: &str = "traffic";
/// Family of contact tables: `S` stretched, `P` periodic.
pub const CONTACTS: &str = "contacts";
/// `pipelined` or `stop_and_wait`.
pub const PROPAGATION: &str = "propagation";
/// Gap that a contact table was made for.
pub const INTER_CONTACT: &str = "inter_contact_s";
/// Length of its contacts.
pub const DURATION: &str = "contact_duration_s";
/// How nodes move.
pub const MOBILITY: &str = "mobility";
/// The router.
pub const ROUTER: &str = "router";
/// The congestion mechanism.
pub const MECHANISM: &str = "mechanism";
/// Parameters of the mechanism that the scenario sets, or [`USUAL`].
pub const SETTINGS: &str = "mechanism_settings";
/// Size of each buffer.
pub const BUFFER: &str = "buffer_kb";
/// Longest time between two messages.
pub const PERIOD: &str = "period_s";
/// Size of the largest messages.
pub const SIZE: &str = "size_kb";
/// How far the radios on Earth reach.
pub const RANGE: &str = "range_m";
/// Lifetime of messages.
pub const LIFETIME: &str = "lifetime_h";
/// Whether nodes exchange receipts of deliveries.
pub const RECEIPTS: &str = "receipts";
/// Whether nodes remember what they dropped.
pub const DROP_MEMORY: &str = "drop_memory";
/// Length of the run.
pub const RUN: &str = "run";
/// What the run is for: the name of a [`super::readings::Reading`] of a mechanism or a movement, what
/// [`super::plan::BESIDE`] names, or [`USUAL`].
pub const READING: &str = "reading";
/// As in the primary reading.
pub const USUAL: &str = "usual";

/// Columns and values, always in the same order.
pub type Cell = Vec<(String, String)>;

/// The cell of a point: what the file says, but for the values of the point's axes.
pub fn cell_of(file: &Table, axes: &[(String, String)]) -> Cell {
    let said = |path: &str| {
        let axis = axes.iter().find(|(known, _)| known == path).map(|(_, text)| text.clone());
        axis.or_else(|| find(file, path).map(text_of)).unwrap_or_default()
    };
    let planets = file.contains_key("contacts");
    let mut cell = vec![(WORLD, if planets { "ipn" } else { "terrestrial" }.to_string())];
    if planets {
        let sends = if said("traffic.messages.from") == "all" { "all_to_all" } else { "base_to_rovers" };
        let (family, gap, length) = contact_table(&said("contacts.plan.file"));
        cell.extend([
            (TRAFFIC, sends.to_string()),
            (CONTACTS, family),
            (INTER_CONTACT, gap),
            (DURATION, length),
            (PROPAGATION, said("world.propagation")),
        ]);
    } else {
        cell.extend([(MOBILITY, first_word(&said("mobility"))), (RANGE, first_word(&said("radio.range")))]);
    }
    let mechanism = said("mechanism");
    cell.extend([
        (ROUTER, first_word(&said("router"))),
        (MECHANISM, first_word(&mechanism)),
        (SETTINGS, mechanism.split_once(' ').map_or(USUAL, |(_, settings)| settings).to_string()),
        (BUFFER, first_word(&said("buffer"))),
        (SIZE, upper_end(&said("traffic.messages.size"))),
        (PERIOD, upper_end(&said("traffic.messages.interval"))),
        (LIFETIME, first_word(&said("traffic.messages.lifetime"))),
        (RECEIPTS, flag(said("receipts"))),
        (DROP_MEMORY, flag(said("drop_memory"))),
        (RUN, said("duration")),
        (READING, USUAL.to_string()),
    ]);
    cell.into_iter().map(|(column, value)| (column.to_string(), value)).collect()
}

fn find<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    match (table.get(first)?, rest) {
        (value, None) => Some(value),
        (Value::Table(inner), Some(rest)) => find(inner, rest),
        _ => None,
    }
}

/// The cell with another value in one column.
pub fn with(cell: Cell, column: &str, value: &str) -> Cell {
    let one = |(known, old): (String, String)| {
        let value = if known == column { value.to_string() } else { old };
        (known, value)
    };
    cell.into_iter().map(one).collect()
}

/// Text as the axes of a sweep show it: an algorithm's or a model's name comes first.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Table(table) => {
            let is_name = |key: &str| ["name", "model"].contains(&key);
            let name = table.iter().find(|(key, _)| is_name(key)).map(|(_, value)| text_of(value));
            let others = table.iter().filter(|(key, _)| !is_name(key));
            name.into_iter()
                .chain(others.map(|(key, value)| format!("{key}={}", text_of(value))))
                .collect::<Vec<_>>()
                .join(" ")
        }
        other => other.to_string(),
    }
}

/// "spray_and_wait" of "spray_and_wait copies=10", "4000" of "4000 kB".
fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_string()
}

/// "300" of "1..300 s".
fn upper_end(text: &str) -> String {
    first_word(text.rsplit("..").next().unwrap_or_default())
}

fn flag(text: String) -> String {
    if text.is_empty() { "false".into() } else { text }
}

/// Family, inter-contact time and contact duration of a table from its name: the first tables of both series of
/// a family are the same table.
fn contact_table(file: &str) -> (String, String, String) {
    let stem = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".csv");
    let (family, kind) = stem.split_once('_').unwrap_or((stem, ""));
    let thousands = kind.strip_prefix("Contact").map(|number| format!("{number}000"));
    let length = kind.strip_prefix("Dur").map(str::to_string);
    let plain = || "1000".to_string();
    (family.to_string(), thousands.unwrap_or_else(plain), length.unwrap_or_else(plain))
}

/// AFNER was made for epidemic routing and was run with nothing else.
pub fn wanted(cell: &Cell) -> bool {
    let value = |column| cell.iter().find(|(known, _)| known == column).map(|(_, value)| value.as_str());
    value(MECHANISM) != Some("afner") || value(ROUTER) == Some("epidemic")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        duration = "12 h"
        buffer = "4000 kB"
        router = ["epidemic", { name = "spray_and_wait", copies = 10 }]
        mechanism = ["none", "afner"]
        [world]
        propagation = "pipelined"
        [contacts.plan]
        file = "contacts/S_Dur1000.csv"
        [traffic.messages]
        from = "BS"
        size = "50..100 kB"
        interval = "1..300 s"
        lifetime = "12 h"
    "#;

    fn cell(router: &str, mechanism: &str, more: &[(&str, &str)]) -> Cell {
        let mut axes =
            vec![("router".to_string(), router.to_string()), ("mechanism".into(), mechanism.into())];
        axes.extend(more.iter().map(|(path, text)| (path.to_string(), text.to_string())));
        cell_of(&FILE.parse().unwrap(), &axes)
    }

    fn value<'a>(cell: &'a Cell, column: &str) -> &'a str {
        cell.iter().find(|(known, _)| known == column).map(|(_, value)| value.as_str()).unwrap()
    }

    #[test]
    fn a_cell_takes_axes_first_and_the_file_else() {
        let cell = cell("spray_and_wait copies=10", "none", &[("traffic.messages.interval", "1..100 s")]);
        assert_eq!(value(&cell, ROUTER), "spray_and_wait");
        assert_eq!(value(&cell, PERIOD), "100");
        assert_eq!(value(&cell, BUFFER), "4000");
        assert_eq!((value(&cell, TRAFFIC), value(&cell, CONTACTS)), ("base_to_rovers", "S"));
        assert_eq!(value(&cell, RECEIPTS), "false");
    }

    #[test]
    fn another_reading_is_another_cell_of_the_same_mechanism() {
        let usual = cell("epidemic", "rrcc limit_of=message", &[]);
        let other = with(cell("epidemic", "rrcc limit_of=contact", &[]), READING, "per contact");
        assert_ne!(usual, other);
        assert_eq!((value(&usual, MECHANISM), value(&other, MECHANISM)), ("rrcc", "rrcc"));
        assert_eq!(value(&usual, SETTINGS), "limit_of=message");
        assert_eq!((value(&usual, READING), value(&other, READING)), (USUAL, "per contact"));
    }

    #[test]
    fn the_first_tables_of_both_series_are_one_cell() {
        let other = cell("epidemic", "none", &[("contacts.plan.file", "contacts/S_Contact1.csv")]);
        assert_eq!(cell("epidemic", "none", &[]), other);
        let third = cell("epidemic", "none", &[("contacts.plan.file", "contacts/P_Contact3.csv")]);
        assert_eq!((value(&third, INTER_CONTACT), value(&third, DURATION)), ("3000", "1000"));
    }

    #[test]
    fn afner_runs_only_with_epidemic_routing() {
        assert!(wanted(&cell("epidemic", "afner", &[])));
        assert!(!wanted(&cell("spray_and_wait copies=10", "afner", &[])));
    }
}
