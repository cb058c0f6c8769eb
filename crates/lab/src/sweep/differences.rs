//! What differs between two scenarios, for people.

use lightlag_scenario::{Catalogue, ScenarioFile};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Differences that a line lists.
const SHOWN: usize = 3;

/// How `here` differs from `there`, both texts of scenarios as sweeps keep them, in a clause; `None` where that does not show.
pub fn differences(there: &str, here: &str) -> Option<String> {
    let (there, here) = (values(there)?, values(here)?);
    let keys: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
    let differing = keys.into_iter().filter(|key| there.get(*key) != here.get(*key));
    let all: Vec<String> = differing.map(|key| difference(key, there.get(key), here.get(key))).collect();
    let more = if all.len() > SHOWN { format!(", and {} more", all.len() - SHOWN) } else { String::new() };
    (!all.is_empty()).then(|| all[..all.len().min(SHOWN)].join(", ") + &more)
}

/// The keys in which two texts of scenarios differ, without the name; none where one of them says nothing.
pub fn differing_keys(there: &str, here: &str) -> Vec<String> {
    let known = |text| values(text).filter(|values| values.keys().any(|key| key != "name"));
    let (Some(there), Some(here)) = (known(there), known(here)) else { return Vec::new() };
    let keys: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
    let differs = |key: &&String| *key != "name" && there.get(*key) != here.get(*key);
    keys.into_iter().filter(differs).cloned().collect()
}

fn difference(key: &str, there: Option<&String>, here: Option<&String>) -> String {
    match (there, here) {
        (Some(there), Some(here)) => format!("`{key}` is {there} there and {here} here"),
        (Some(there), None) => format!("`{key}` is {there} there and not set here"),
        (None, Some(here)) => format!("`{key}` is not set there and {here} here"),
        (None, None) => String::new(),
    }
}

/// Of a text with what was set on the command line as comments at its end.
fn values(text: &str) -> Option<BTreeMap<String, String>> {
    let catalogue = || Catalogue::default().into();
    let read = ScenarioFile::from_toml("sweep", text, PathBuf::new(), catalogue());
    let read =
        read.or_else(|_| ScenarioFile::from_the_one("sweep", text.as_bytes(), PathBuf::new(), catalogue()));
    let mut file = read.ok()?;
    for (key, value) in text.lines().filter_map(|line| line.strip_prefix("# --set ")?.split_once('=')) {
        file.set(key, value).ok()?;
    }
    Some(file.common_values())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_differ_are_named_with_both_values() {
        let one = "duration = \"1 h\"\nseeds = [1]\nbuffer = [\"1 MB\"]\nnodes.w.count = 3\n";
        let other = "duration = \"1 h\"\nseeds = [2]\nbuffer = \"1 MB\"\nnodes.w.count = 3\n# --set nodes.w.count=4\n# --set receipts=true\n";
        assert_eq!(
            differences(one, other).unwrap(),
            "`buffer` is a list of values there and 1 MB here, `nodes.w.count` is 3 there and 4 here, `receipts` is not set there and true here"
        );
        assert_eq!(differences(one, one), None);
        let settings = "Scenario.name = a\nGroup.nrofHosts = 5\n";
        let more = differences(settings, &settings.replace('5', "6")).unwrap();
        assert_eq!(more, "`Group.nrofHosts` is 5 there and 6 here");
    }
}
