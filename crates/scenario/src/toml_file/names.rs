//! The names of nodes, and selections of nodes by them.

use crate::contacts::Nodes;
use crate::error::{Place, Result, Wrong, quoted, suggestion};
use crate::model::{Draws, Group, NODES_MAX};
use std::collections::BTreeMap;
use std::ops::Range;

/// Tables times nodes.
const LISTED_MAX: usize = 20_000_000;
/// Nodes that a selection may name again.
const AGAIN_MAX: u32 = 100_000;

/// Who is called what.
pub struct Names {
    /// Numbers by name.
    pub nodes: BTreeMap<String, u32>,
    groups: BTreeMap<String, (u32, u32)>,
    count: u32,
    /// Whose draws: The ONE's may be of nodes that do not exist.
    pub draws: Draws,
}

impl Names {
    /// Of these groups.
    pub fn new(groups: &[Group], place: &Place, draws: Draws) -> Result<Self> {
        let mut names = Self { nodes: BTreeMap::new(), groups: BTreeMap::new(), count: 0, draws };
        for group in groups {
            names.groups.insert(group.name.clone(), (names.count, names.count + group.count()));
            for node in &group.nodes {
                if names.nodes.insert(node.clone(), names.count).is_some() {
                    return place.refuse(
                        format!("two nodes are called {}", quoted(node)),
                        "a group of several nodes calls them by its name and a number; rename a group",
                    );
                }
                names.count += 1;
            }
        }
        Ok(names)
    }
    /// Each of these tables has lists of nodes of its own.
    pub fn check_tables(&self, tables: usize, place: &Place) -> Result<()> {
        if tables.saturating_mul(self.count as usize) <= LISTED_MAX {
            return Ok(());
        }
        let what = format!("{tables} tables may each list all of {} nodes", self.count);
        place.refuse(what, format!("tables times nodes may be {LISTED_MAX} at most"))
    }
    /// As readers of contacts need them.
    pub fn for_contacts(&self, first_id: u32, skip_unknown: bool) -> Nodes {
        Nodes { by_name: self.nodes.clone(), count: self.count, first_id, skip_unknown }
    }
    /// Nodes of a selection such as `"BS, Sat, Rover1..Rover2"`: groups, nodes, ranges of nodes with
    /// both ends, `all`; in the order of the selection, each once.
    pub fn select(&self, text: &str) -> std::result::Result<Vec<u32>, Wrong> {
        if !text.contains(',') {
            let (low, high) = self.range(text.trim())?;
            return Ok((low..high).collect());
        }
        let (mut chosen, mut looked_at) = (Vec::new(), 0);
        let mut seen = vec![false; self.end() as usize];
        for part in text.split(',').map(str::trim) {
            let (low, high) = self.range(part)?;
            looked_at += high - low;
            if looked_at > self.end().saturating_add(AGAIN_MAX) {
                let what = format!("{} names nodes over and over", quoted(text));
                return Err(Wrong::new(what, "name each node once"));
            }
            for node in low..high {
                if !std::mem::replace(&mut seen[node as usize], true) {
                    chosen.push(node);
                }
            }
        }
        Ok(chosen)
    }
    /// A selection of nodes with consecutive numbers.
    pub fn span(&self, text: &str) -> std::result::Result<Range<u32>, Wrong> {
        let (low, high) = self.range(text.trim())?;
        Ok(low..high)
    }
    fn range(&self, part: &str) -> std::result::Result<(u32, u32), Wrong> {
        if part == "all" || part == "*" {
            return Ok((0, self.count));
        }
        if let Some(&group) = self.groups.get(part) {
            return Ok(group);
        }
        if let Some((low, high)) = part.split_once("..") {
            let (low, high) = (self.node(low.trim())?, self.node(high.trim())?);
            if low > high {
                return Err(Wrong::new(
                    format!("the range {} is empty", quoted(part)),
                    "its second node must not come before its first",
                ));
            }
            return Ok((low, high + 1));
        }
        self.node(part).map(|node| (node, node + 1))
    }
    /// Numbers of nodes lie below it.
    fn end(&self) -> u32 {
        if self.draws == Draws::TheOne { NODES_MAX as u32 } else { self.count }
    }
    fn node(&self, name: &str) -> std::result::Result<u32, Wrong> {
        let number = name.strip_prefix('#').and_then(|number| number.parse().ok());
        let number = number.filter(|number| *number < self.end());
        self.nodes.get(name).copied().or(number).ok_or_else(|| {
            let mut known: Vec<&str> = self.groups.keys().map(String::as_str).collect();
            let few = self.nodes.keys().map(String::as_str).filter(|node| !self.groups.contains_key(*node));
            known.extend(few.take(20));
            Wrong::new(format!("no node or group is called {}", quoted(name)), suggestion(name, &known))
        })
    }
}
