//! Sweeps: every list in a scenario is an axis, and their cross product is the sweep.

use super::error::{Result, quoted};
use super::tree::{Entries, Key, Node, PARAMETERS, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Keys whose value is a list in itself.
#[rustfmt::skip]
pub const LIST_KEYS: &[&str] = &[
    "seeds", "rows", "events", "delays", "maps", "allowed", "points_of_interest", "chances", "steps", "rates", "active",
    "moves", "replies", "files", "offsets",
];

/// More points than anyone means to run.
const POINTS_MAX: u64 = 100_000;

/// Paths of keys and values.
type Values = Vec<(String, String)>;

/// A tree without axes, and which values it has on them.
pub struct Choice {
    /// Paths of keys and the values chosen, in order of appearance.
    pub values: Values,
    /// What is left: no lists but those of [`LIST_KEYS`].
    pub tree: Arc<Node>,
}

/// The cross product of all lists, the first list of the document varying slowest.
///
/// # Errors
/// An empty list, or too many points.
pub fn expand(root: &Node) -> Result<Vec<Choice>> {
    if count(root) > POINTS_MAX {
        return root
            .place
            .refuse(format!("the lists span more than {POINTS_MAX} points"), "sweep fewer values at a time");
    }
    choices(&Arc::new(root.clone()), "")
}

fn count(node: &Node) -> u64 {
    match &node.value {
        Value::Table(entries) => entries
            .iter()
            .filter(|(key, node)| !is_list_value(key, node))
            .fold(1_u64, |product, (_, node)| product.saturating_mul(count(node))),
        Value::List(list) => list.iter().fold(0_u64, |sum, node| sum.saturating_add(count(node))),
        _ => 1,
    }
}

/// Whether a key has a list of values, each of which makes points of its own.
pub fn is_axis(key: &Key, node: &Node) -> bool {
    matches!(node.value, Value::List(_)) && !is_list_value(key, node)
}

fn is_list_value(key: &Key, node: &Node) -> bool {
    matches!(node.value, Value::List(_)) && LIST_KEYS.contains(&key.name.as_str())
}

fn choices(node: &Arc<Node>, path: &str) -> Result<Vec<Choice>> {
    match &node.value {
        Value::Table(entries) => table_choices(node, entries, path),
        Value::List(list) if list.is_empty() => node
            .place
            .refuse(format!("the list `{path}` is empty"), "a list is an axis of a sweep and needs a value"),
        Value::List(list) => list_choices(list, path),
        _ => Ok(vec![Choice { values: Vec::new(), tree: node.clone() }]),
    }
}

fn list_choices(list: &[Arc<Node>], path: &str) -> Result<Vec<Choice>> {
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for item in list {
        if matches!(item.value, Value::List(_)) {
            return item.place.refuse(
                format!("`{path}` is a list of lists"),
                "a list is an axis of a sweep; its items are single values",
            );
        }
        for mut choice in choices(item, path)? {
            let text = choice.tree.text();
            if !seen.insert(text.clone()) {
                return item.place.refuse(
                    format!("the list `{path}` has {} twice", quoted(&text)),
                    "a list is an axis of a sweep; name each value once",
                );
            }
            choice.values.insert(0, (path.to_owned(), text));
            all.push(choice);
        }
    }
    Ok(all)
}

fn table_choices(node: &Arc<Node>, entries: &[(Key, Arc<Node>)], path: &str) -> Result<Vec<Choice>> {
    let mut partial: Vec<(Values, Entries)> = vec![(Vec::new(), Vec::with_capacity(entries.len()))];
    for (key, child) in entries {
        // A parameter's name is what people call the axis.
        let path = if path.is_empty() || path == PARAMETERS {
            key.name.clone()
        } else {
            format!("{path}.{}", key.name)
        };
        let options = if is_list_value(key, child) {
            vec![Choice { values: Vec::new(), tree: child.clone() }]
        } else {
            choices(child, &path)?
        };
        if let [only] = &options[..] {
            // Without a choice nothing is copied: a table of thousands of groups is read in one go.
            for (values, entries) in &mut partial {
                values.extend(only.values.iter().cloned());
                entries.push((key.clone(), only.tree.clone()));
            }
            continue;
        }
        check_size(&partial, &options, entries.len(), child)?;
        partial = partial
            .into_iter()
            .flat_map(|(values, entries)| {
                options.iter().map(move |option| {
                    let mut values = values.clone();
                    values.extend(option.values.iter().cloned());
                    let mut entries = entries.clone();
                    entries.push((key.clone(), option.tree.clone()));
                    (values, entries)
                })
            })
            .collect();
    }
    Ok(partial
        .into_iter()
        .map(|(values, entries)| Choice {
            values,
            tree: Arc::new(Node { place: node.place.clone(), value: Value::Table(entries) }),
        })
        .collect())
}

/// Each point has a copy of the tables that hold its lists, and the values chosen.
fn check_size(partial: &[(Values, Entries)], options: &[Choice], entries: usize, at: &Node) -> Result<()> {
    let texts =
        |values: &Values| values.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() as f64;
    let (before, new) = (partial.len() as f64, options.len() as f64);
    let known: f64 = partial.iter().map(|point| texts(&point.0)).sum();
    let added: f64 = options.iter().map(|option| texts(&option.values)).sum();
    let bytes = known * new + added * before + before * new * entries as f64 * ENTRY_BYTES;
    if bytes <= POINTS_BYTES_MAX {
        return Ok(());
    }
    let what = format!("the points of the sweep take {bytes:.1e} bytes of keys and values");
    let right = format!("at most {POINTS_BYTES_MAX:.0e} are kept; sweep fewer or shorter values");
    at.place.refuse(what, right)
}

/// Of a key and a reference to its value.
const ENTRY_BYTES: f64 = 80.0;
const POINTS_BYTES_MAX: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::super::tree::parse;
    use super::*;

    fn points(text: &str) -> Vec<String> {
        let shown = |choice: Choice| {
            let values: Vec<String> = choice.values.iter().map(|(k, v)| format!("{k}={v}")).collect();
            values.join(",")
        };
        expand(&parse("t", text).unwrap()).unwrap().into_iter().map(shown).collect()
    }

    #[test]
    fn every_list_is_an_axis_and_the_first_varies_slowest() {
        assert_eq!(
            points("b = [1, 2]\n[x]\na = ['p', 'q']\n"),
            ["b=1,x.a=p", "b=1,x.a=q", "b=2,x.a=p", "b=2,x.a=q"]
        );
        assert_eq!(points("seeds = [1, 2]\n"), [""]);
    }

    #[test]
    fn a_list_inside_an_item_of_a_list_is_an_axis_of_that_item() {
        assert_eq!(
            points("r = ['e', { name = 's', c = [1, 2] }]\n"),
            ["r=e", "r=s c=1,r.c=1", "r=s c=2,r.c=2"]
        );
    }

    #[test]
    fn empty_lists_lists_of_lists_and_huge_products_are_errors() {
        let error = |text: &str| expand(&parse("t", text).unwrap()).err().unwrap().to_string();
        assert!(error("a = []").contains("empty"));
        assert!(error("a = ['x', 'y', 'x']").contains("`a` has `x` twice"));
        assert!(error("a = ['x', { name = 'x' }]").contains("twice"));
        assert!(error("a = [[1], [2]]").contains("list of lists"));
        let axis = "[0,1,2,3,4,5,6,7,8,9]";
        let six: String = ('a'..='f').map(|key| format!("{key} = {axis}\n")).collect();
        assert!(error(&six).contains("more than"));
    }
}
