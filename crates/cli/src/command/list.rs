//! `lightlag list`.

use crate::args::List;
use crate::output::{Done, folded, print, terminal_width};
use lightlag_protocols::controllers;
use lightlag_protocols::dtn::{BuildContext, Entry, Kind, Parameter, Parameters, Value, mechanisms, routers};
use lightlag_protocols::parameter;
use lightlag_scenario::models::{LOSSES, MOBILITY, Model, Models, QUEUES};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;

pub fn list(options: &List) -> Done {
    let routers: Vec<Row> = routers::TABLE.iter().map(|entry| row("router", entry)).collect();
    let mechanisms: Vec<Row> = mechanisms::TABLE.iter().map(|entry| row("mechanism", entry)).collect();
    let controllers = controllers::TABLE.iter().map(controller);
    let all = routers.into_iter().chain(mechanisms).chain(controllers);
    let all = all.chain([&QUEUES, &LOSSES, &MOBILITY].into_iter().flat_map(models));
    let all: Vec<Row> = all.collect();
    let asked = options.name.as_deref().unwrap_or_default();
    let is_of_kind = |row: &&Row| is_kind(asked, row.kind);
    let of_kind = all.iter().any(|row| is_of_kind(&row));
    let wanted = |row: &Row| if of_kind { is_of_kind(&row) } else { row.name.contains(asked) };
    let kinds: Vec<String> = all
        .chunk_by(|one, next| one.kind == next.kind)
        .map(|rows| plural(rows[0].kind).to_lowercase())
        .collect();
    let rows: Vec<Row> = all.into_iter().filter(wanted).collect();
    if rows.is_empty() {
        let kinds = kinds.join(", ");
        return Err(
            format!("no algorithm has `{asked}` in its name; name one, or one of the kinds {kinds}").into()
        );
    }
    if options.json {
        let all: Vec<_> = rows.iter().map(Row::json).collect();
        print(&(serde_json::to_string_pretty(&all)? + "\n"))?;
    } else if options.name.is_none() || of_kind {
        print(&overview(&rows, terminal_width()))?;
    } else {
        print(&rows.iter().map(Row::text).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(())
}

/// The index of the pages on algorithms, which has a sentence on each.
const INDEX: &str = include_str!("../../algorithms.txt");

/// What an algorithm does, in a sentence; empty where the index does not have it.
fn sentence(name: &str) -> &'static str {
    let start = format!("| [{name}]({name}.md) | ");
    let line = INDEX.lines().find_map(|line| line.strip_prefix(&start));
    line.map_or("", |rest| rest.split(" |").next().unwrap_or_default().trim())
}

/// A sentence each, by kind, folded where it is wider than the terminal.
fn overview(rows: &[Row], terminal: Option<usize>) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for rows in rows.chunk_by(|one, next| one.kind == next.kind) {
        let _ = writeln!(text, "{}", plural(rows[0].kind));
        for Row { name, .. } in rows {
            let about = folded(sentence(name), width + 4, terminal.unwrap_or(usize::MAX));
            let _ = writeln!(text, "  {name:width$}  {about}");
        }
        text.push('\n');
    }
    text + "Parameters and papers: lightlag list NAME\n"
}

/// Whether a word stands for a kind: its name or its plural, of `mobility models` also without `models`.
fn is_kind(asked: &str, kind: &str) -> bool {
    let asked = asked.to_lowercase().replace(['-', '_'], " ");
    let short = kind.split(' ').next().unwrap_or_default();
    [kind, short].into_iter().any(|word| asked == word || asked == plural(word).to_lowercase())
}

/// The kind as a heading.
fn plural(kind: &str) -> String {
    let (first, rest) = kind.split_at(1);
    let name = format!("{}{rest}", first.to_uppercase());
    match name.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if name.ends_with('s') => format!("{name}es"),
        None => format!("{name}s"),
    }
}

/// `lightlag schema`.
pub fn schema() -> Done {
    let schema = lightlag_scenario::schema(&lightlag_scenario::Catalogue::default());
    print(&(serde_json::to_string_pretty(&schema)? + "\n"))
}

struct Row {
    kind: &'static str,
    name: &'static str,
    paper: &'static str,
    only_with: &'static [&'static str],
    /// Whether it reads the contact plan.
    reads_plan: bool,
    parameters: &'static [Parameter],
}

fn row<A: ?Sized + Kind>(kind: &'static str, entry: &Entry<A>) -> Row {
    let Entry { name, paper, only_with, parameters, .. } = *entry;
    let given = Parameters::resolve(name, parameters, &BTreeMap::new()).unwrap_or_default();
    let reads_plan = A::reads_plan(&(entry.properties)(&given, &BuildContext::default()));
    Row { kind, name, paper, only_with, reads_plan, parameters }
}

fn controller(entry: &controllers::Entry) -> Row {
    let parameter::Entry { name, paper, only_with, parameters, .. } = entry.algorithm;
    Row { kind: "controller", name, paper, only_with, reads_plan: false, parameters }
}

fn models(models: &'static Models) -> impl Iterator<Item = Row> {
    let row = |Model { name, paper, parameters, .. }| Row {
        kind: models.kind,
        name,
        paper,
        only_with: &[],
        reads_plan: false,
        parameters,
    };
    (models.rows)().into_iter().map(row)
}

impl Row {
    fn text(&self) -> String {
        let paper = if self.paper.is_empty() { "ours" } else { self.paper };
        let mut text = format!("{} ({}): {}\n  {paper}\n", self.name, self.kind, sentence(self.name));
        if !self.only_with.is_empty() {
            let with = match self.kind {
                "controller" => "transport ",
                "mechanism" => "router ",
                _ => "",
            };
            let _ = writeln!(text, "  only with {with}{}", self.only_with.join(", "));
        }
        if self.reads_plan {
            text += "  reads the contact plan\n";
        }
        for p in self.parameters {
            let unit = if p.unit.is_empty() { String::new() } else { format!(" {}", p.unit) };
            let default = match &p.default {
                Some(default) => format!("{default}{unit}"),
                None if p.needed => format!("...{unit}"),
                None => "none".to_owned(),
            };
            let _ = writeln!(text, "  {} = {default}  ({})\n      {}", p.name, p.domain, p.meaning);
        }
        text
    }
    fn json(&self) -> serde_json::Value {
        let value = |value: &Value| match value {
            Value::Number(n) => json!(n),
            Value::Flag(b) => json!(b),
            Value::Word(w) => json!(w),
            other => json!(other.to_string()),
        };
        let parameters: Vec<_> = self
            .parameters
            .iter()
            .map(|p| {
                json!({
                    "name": p.name,
                    "unit": p.unit,
                    "default": p.default.as_ref().map(value),
                    "needed": p.needed,
                    "domain": p.domain.to_string(),
                    "meaning": p.meaning,
                })
            })
            .collect();
        json!({
            "kind": self.kind,
            "name": self.name,
            "about": sentence(self.name),
            "paper": self.paper,
            "only_with": self.only_with,
            "reads_plan": self.reads_plan,
            "parameters": parameters,
        })
    }
}
