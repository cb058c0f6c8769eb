//! What all runs of a sweep have in common, however many values and seeds it has: its scenario without them.

use crate::axes::is_axis;
use crate::the_one::Layers;
use crate::tree::{Key, Node, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Keys of the root that no run depends on.
const BESIDE: [&str; 2] = ["seeds", "limits"];

/// Of a scenario in TOML, with its axes.
pub fn of_toml(tree: &Node) -> String {
    let mut hash = Sha256::new();
    put(&mut hash, tree, true);
    shown(hash)
}

/// Of The ONE's settings, whose axes are `[a; b; c]`.
pub fn of_settings(layers: &Layers) -> String {
    let mut hash = Sha256::new();
    for (key, setting) in layers.iter() {
        let value = if setting.value.starts_with('[') { "[axis]" } else { &setting.value };
        part(&mut hash, key);
        part(&mut hash, value);
    }
    shown(hash)
}

/// What the digest of a scenario in TOML is of: values by the paths of their keys.
pub fn values_of_toml(tree: &Node) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    if let Value::Table(entries) = &tree.value {
        for (key, child) in entries.iter().filter(|(key, _)| !BESIDE.contains(&key.name.as_str())) {
            collect(key, child, key.name.clone(), &mut values);
        }
    }
    values
}

fn collect(key: &Key, node: &Node, path: String, values: &mut BTreeMap<String, String>) {
    match &node.value {
        _ if is_axis(key, node) => drop(values.insert(path, AXIS.to_owned())),
        Value::Table(entries) => {
            for (key, child) in entries {
                collect(key, child, format!("{path}.{}", key.name), values);
            }
        }
        _ => drop(values.insert(path, node.text())),
    }
}

/// In place of the values of an axis.
const AXIS: &str = "a list of values";

/// The same of The ONE's settings.
pub fn values_of_settings(layers: &Layers) -> BTreeMap<String, String> {
    let value = |value: &str| if value.starts_with('[') { AXIS.to_owned() } else { value.to_owned() };
    layers.iter().map(|(key, setting)| (key.to_owned(), value(&setting.value))).collect()
}

/// With its length, so that two texts in a row never count as two others.
fn part(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text);
}

fn put(hash: &mut Sha256, node: &Node, is_root: bool) {
    match &node.value {
        Value::Table(entries) => {
            let mut sorted: Vec<_> =
                entries.iter().filter(|(key, _)| !is_root || !BESIDE.contains(&key.name.as_str())).collect();
            sorted.sort_by(|one, other| one.0.name.cmp(&other.0.name));
            part(hash, "{");
            for (key, child) in sorted {
                part(hash, &key.name);
                if is_axis(key, child) {
                    part(hash, "[axis]");
                } else {
                    put(hash, child, false);
                }
            }
            part(hash, "}");
        }
        Value::List(items) => {
            part(hash, "[");
            items.iter().for_each(|item| put(hash, item, false));
            part(hash, "]");
        }
        _ => part(hash, &node.text()),
    }
}

fn shown(hash: Sha256) -> String {
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Catalogue, ScenarioFile};

    fn digest(text: &str) -> String {
        ScenarioFile::from_toml("s.toml", text, ".".into(), Catalogue::default().into()).unwrap().digest()
    }

    #[test]
    fn values_of_axes_and_seeds_do_not_count_and_everything_else_does() {
        let one = digest("duration = \"1 h\"\nbuffer = [\"1 MB\"]\nseeds = [1]\nnodes.w.count = 3\n");
        let more = "buffer = [\"1 MB\", \"2 MB\"]\nduration = \"1 h\"\nseeds = [1, 2]\nnodes.w.count = 3\n";
        assert_eq!(one, digest(more));
        for other in [
            more.replace("1 h", "2 h"),
            more.replace("count = 3", "count = 4"),
            more.replace("[\"1 MB\", \"2 MB\"]", "\"1 MB\""),
            more.replace("nodes.w", "nodes.v"),
        ] {
            assert_ne!(one, digest(&other), "{other}");
        }
    }
}
