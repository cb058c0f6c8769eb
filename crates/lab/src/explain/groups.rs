//! Which bundles were lost: by size, by destination, by node and by the time of their creation.

use super::collect::Collector;
use super::losses::{Fate, Fates, Judged};
use super::words::{self, share, size};
use crate::text_table::table_text;
use lightlag_protocols::time::Duration;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Bundles that have something in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub name: String,
    pub created: u64,
    pub lost: u64,
    /// The fate of most of the lost ones.
    pub mostly: Option<Fate>,
}

/// Rows that a text shows of destinations and nodes.
pub const ROWS: usize = 10;

/// Groups by a key, in its order.
fn groups<K: Ord>(fates: &Fates, key: impl Fn(&Judged) -> K, name: impl Fn(&K) -> String) -> Vec<Group> {
    let mut found: BTreeMap<K, (u64, BTreeMap<Fate, u64>)> = BTreeMap::new();
    for one in &fates.all {
        let (created, lost) = found.entry(key(one)).or_default();
        *created += 1;
        if one.fate != Fate::Delivered {
            *lost.entry(one.fate).or_default() += 1;
        }
    }
    let group = |(key, (created, fates)): (K, (u64, BTreeMap<Fate, u64>))| Group {
        name: name(&key),
        created,
        lost: fates.values().sum(),
        mostly: fates.iter().max_by_key(|(fate, count)| (**count, Reverse(**fate))).map(|(fate, _)| *fate),
    };
    found.into_iter().map(group).collect()
}

/// Up to four classes of about as many bundles each.
pub fn by_size(fates: &Fates) -> Vec<Group> {
    let mut sizes: Vec<u64> = fates.all.iter().map(|one| one.fact.bundle.size.get()).collect();
    sizes.sort_unstable();
    let Some(last) = sizes.len().checked_sub(1) else { return Vec::new() };
    let mut bounds: Vec<u64> = (0..4).map(|quarter| sizes[(quarter * sizes.len() / 4).min(last)]).collect();
    bounds.dedup();
    let class = |one: &Judged| bounds.partition_point(|from| *from <= one.fact.bundle.size.get());
    let most = sizes[last];
    let name = |class: &usize| {
        let from = bounds[class.saturating_sub(1)];
        let below = sizes.partition_point(|size| bounds.get(*class).is_none_or(|next| size < next));
        let to = sizes[below.saturating_sub(1)].min(most);
        if from == to { size(from) } else { format!("{} to {}", size(from), size(to)) }
    };
    groups(fates, class, name)
}

/// The destinations, those first for which most was lost.
pub fn by_destination(run: &Collector, fates: &Fates) -> Vec<Group> {
    let mut all = groups(fates, |one| one.fact.bundle.destination, |destination| run.node(*destination));
    all.sort_by_key(|group| Reverse(group.lost));
    all
}

/// Spans of the run in which bundles were created, in their order.
pub fn by_time(run: &Collector, fates: &Fates) -> Vec<Group> {
    let steps = [60, 300, 600, 1_800, 3_600, 7_200, 21_600, 86_400];
    let every = steps.into_iter().find(|every| run.end.as_nanos() / 1_000_000_000 <= every * 30);
    let every = Duration::from_secs(every.unwrap_or(604_800));
    let span = |one: &Judged| one.fact.bundle.created.as_nanos().max(0) / every.as_nanos();
    let name = |span: &i64| {
        let from = every * *span;
        let to = every * (*span + 1);
        let text = |at: Duration| if at == Duration::ZERO { "0".to_owned() } else { words::span(at) };
        format!("{} to {}", text(from), text(to))
    };
    groups(fates, span, name)
}

/// A node and the copies that were lost there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub name: String,
    /// Bundles whose last copy was deleted there, or that found no room there.
    pub lost: u64,
    /// Copies deleted there for lack of room.
    pub dropped: u64,
    /// Copies whose lifetime ended there.
    pub expired: u64,
}

/// The nodes where anything was lost, the worst first.
pub fn by_node(run: &Collector, fates: &Fates) -> Vec<Node> {
    let mut lost: BTreeMap<u32, u64> = BTreeMap::new();
    for one in fates.lost() {
        let here = match (one.fact.rejected, one.fact.gone) {
            (Some(_), _) => one.fact.bundle.source,
            (None, Some(gone)) if one.fact.copies <= 0 && one.fact.flying <= 0 => gone.node,
            _ => continue,
        };
        *lost.entry(here.0).or_default() += 1;
    }
    let node = |(number, known): (&u32, &super::collect::NodeFact)| Node {
        name: run.node(lightlag_protocols::dtn::NodeId(*number)),
        lost: lost.get(number).copied().unwrap_or(0),
        dropped: known.dropped,
        expired: known.expired,
    };
    let mut all: Vec<Node> = run.nodes.iter().map(node).collect();
    all.retain(|node| node.lost + node.dropped + node.expired > 0);
    all.sort_by_key(|node| Reverse((node.lost, node.dropped, node.expired)));
    all
}

/// A table of groups; of many the first.
pub fn table(what: &str, groups: &[Group], rows: usize) -> String {
    let head = [what, "created", "lost", "share", "mostly"].map(str::to_owned);
    let row = |group: &Group| {
        let mostly = group.mostly.map_or("", |fate| short(fate)).to_owned();
        let numbers = [group.created.to_string(), group.lost.to_string(), share(group.lost, group.created)];
        let [created, lost, share] = numbers;
        vec![group.name.clone(), created, lost, share, mostly]
    };
    let shown: Vec<Vec<String>> = groups.iter().take(rows).map(row).collect();
    aligned(&head, &shown) + &more(groups.len(), rows)
}

/// A table of nodes; of many the first.
pub fn node_table(nodes: &[Node], rows: usize) -> String {
    let head = ["node", "bundles lost here", "copies dropped", "copies expired"].map(str::to_owned);
    let row = |node: &Node| {
        vec![node.name.clone(), node.lost.to_string(), node.dropped.to_string(), node.expired.to_string()]
    };
    let shown: Vec<Vec<String>> = nodes.iter().take(rows).map(row).collect();
    aligned(&head, &shown) + &more(nodes.len(), rows)
}

fn more(all: usize, rows: usize) -> String {
    if all > rows { format!(" … and {} more\n", all - rows) } else { String::new() }
}

/// Without blanks at the ends of lines.
pub fn aligned(head: &[String], rows: &[Vec<String>]) -> String {
    table_text(head, rows).lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The first words of what became of bundles.
fn short(fate: Fate) -> &'static str {
    let about = fate.about();
    about.split_once(':').map_or(about, |(first, _)| first)
}

/// Groups in JSON.
pub fn json(groups: &[Group]) -> Value {
    let one = |group: &Group| {
        let mostly = group.mostly.map(Fate::name);
        json!({"name": group.name, "created": group.created, "lost": group.lost, "mostly": mostly})
    };
    groups.iter().map(one).collect()
}

/// Nodes in JSON.
pub fn node_json(nodes: &[Node]) -> Value {
    let one = |node: &Node| {
        json!({
            "name": node.name,
            "lost": node.lost,
            "copies_dropped": node.dropped,
            "copies_expired": node.expired,
        })
    };
    nodes.iter().map(one).collect()
}
