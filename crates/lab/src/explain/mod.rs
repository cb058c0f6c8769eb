//! Why a run came out as it did: what became of its bundles, and the life of each.
//!
//! All is computed from the records of the run and from names, so that a trace and a run that is done again with its
//! seed give the same text.

mod collect;
mod contacts;
mod flows;
mod groups;
mod help;
mod life;
mod losses;
pub mod nothing;
mod source;
#[cfg(test)]
mod tests;
mod why;
pub(crate) mod words;

pub use source::{bundle_of_name, check_trace, is_trace, of_run, of_trace, trace_file};

use collect::Collector;
use groups::ROWS;
use lightlag_protocols::dtn::BundleId;
use losses::{Fate, Fates, Judged};
use serde_json::{Value, json};
use why::Measured;
use words::{share, span};

/// What an explanation covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// What became of the bundles, in a few lines.
    Summary,
    /// Which bundles were lost: by cause, size, destination, node and time.
    Lost,
    /// The figures behind each cause.
    Why,
    /// The life of the bundle of this number; of many steps, those of the copy that arrived first, or the first and last.
    Bundle(u32),
    /// The life of the bundle of this number, with all its copies.
    AllCopies(u32),
}

/// An explanation, for people and for programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Lines of text.
    pub text: String,
    /// The same as one JSON object.
    pub json: Value,
}

impl Explanation {
    /// The life of a bundle that was asked for by its name.
    #[must_use]
    pub fn of_name(mut self, name: &str) -> Self {
        if let Some((number, rest)) = self.text.split_once(", ") {
            self.text = format!("{number} ({name}), {rest}");
        }
        self.json["name"] = name.into();
        self
    }
}

/// Explains what was collected.
///
/// # Errors
/// The number of a bundle that the run did not create, and which ones it did.
fn explain(run: &Collector, asked: Asked) -> Result<Explanation, String> {
    let fates = Fates::new(run);
    let measured = Measured::new(run, &fates);
    Ok(match asked {
        Asked::Summary => summary(run, &fates, &measured),
        Asked::Lost => lost(run, &fates),
        Asked::Why => why(run, &fates, &measured),
        Asked::Bundle(id) => bundle(run, &fates, BundleId(id), false)?,
        Asked::AllCopies(id) => bundle(run, &fates, BundleId(id), true)?,
    })
}

fn delivered(run: &Collector, measured: &Measured) -> String {
    let (delivered, created) = (measured.delays.len() as u64, run.created());
    let mut text = format!("{delivered} of {} delivered ({})", bundles(created), share(delivered, created));
    if let Some(half) = measured.delay(0.5) {
        text += &format!(", half of them within {}", span(half));
    }
    text + "."
}

fn bundles(created: u64) -> String {
    if created == 1 { "1 bundle was".to_owned() } else { format!("{created} bundles were") }
}

/// The cause of most losses, in a sentence.
fn main_cause(run: &Collector, fates: &Fates) -> Option<String> {
    let lost = fates.lost().count() as u64;
    let causes = fates.counts();
    let most = causes.iter().filter(|(fate, _)| *fate != Fate::Delivered);
    let (fate, number) = most.max_by_key(|(fate, count)| (*count, std::cmp::Reverse(*fate)))?;
    let nodes = groups::by_node(run, fates);
    let nodes: Vec<_> = nodes.iter().filter(|node| node.lost > 0).collect();
    let place = match nodes.first().filter(|_| matches!(fate, Fate::Dropped | Fate::NoRoom)) {
        None => String::new(),
        Some(worst) if 2 * worst.lost > *number => format!(", most of them at {}", worst.name),
        Some(worst) => format!(", at {} nodes, {} of them at {}", nodes.len(), worst.lost, worst.name),
    };
    Some(format!("Of the {lost} others, {number} were {}{place}.", predicate(*fate)))
}

/// As a predicate of "were".
fn predicate(fate: Fate) -> &'static str {
    match fate {
        Fate::Waited => "waiting at their source for room until the end",
        Fate::NoContact => "unreachable, as their source met no other node while they lived",
        Fate::NoPath => "unreachable, as no sequence of contacts led to their destination in time",
        Fate::ContactsTooShort => {
            "unreachable, as contacts to their destination were too short for their size"
        }
        Fate::RunEnded => "unreachable before the run ended, which they outlive",
        Fate::Expired => "lost when their lifetime ended before a copy arrived",
        Fate::NoRoom => "not stored, as their source had no room",
        other => other.about(),
    }
}

fn summary(run: &Collector, fates: &Fates, measured: &Measured) -> Explanation {
    let mut lines = vec![delivered(run, measured)];
    lines.extend(main_cause(run, fates));
    lines.extend(help::sentence(run, fates, measured));
    let mut text = lines.join("\n") + "\n\n" + &causes_table(run, fates, true) + "\n";
    text += &format!("{}\n{}\n", measured.contacts_text(), why::transfers_text(run));
    if let Some(example) = fates.lost().next().or_else(|| fates.all.first()) {
        text += &format!(
            "\nMore: --why (the figures behind each cause), --lost (sizes, destinations, nodes, times), --bundle {} (the life of one).\n",
            example.fact.bundle.id.0
        );
    }
    Explanation { text: text + &limits(fates), json: head_json(run, fates, measured) }
}

/// A line a fate; the lines add up to what was created.
fn causes_table(run: &Collector, fates: &Fates, with_delivered: bool) -> String {
    let created = run.created();
    let row = |number: u64, about: &str| vec![number.to_string(), share(number, created), about.to_owned()];
    let counts = fates.counts();
    let shown = counts.iter().filter(|(fate, _)| with_delivered || *fate != Fate::Delivered);
    let mut rows: Vec<Vec<String>> = shown.clone().map(|(fate, number)| row(*number, fate.about())).collect();
    let all: u64 = shown.map(|(_, number)| number).sum();
    rows.push(row(all, if with_delivered { "created" } else { "not delivered" }));
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let line = |row: &Vec<String>| format!("{:>first$}  {:>second$}  {}\n", row[0], row[1], row[2]);
    rows.iter().map(line).collect()
}

fn limits(fates: &Fates) -> String {
    if fates.complete {
        return String::new();
    }
    "\nNot all paths were searched, as there are too many contacts: some of the bundles may have been unreachable.\n".to_owned()
}

fn head_json(run: &Collector, fates: &Fates, measured: &Measured) -> Value {
    let mut head = why::json(run, measured);
    head["created"] = run.created().into();
    head["delivered"] = measured.delays.len().into();
    head["fates"] = counts_json(fates);
    head["all_paths_searched"] = fates.complete.into();
    head["help"] = help::sentence(run, fates, measured).into();
    head
}

fn counts_json(fates: &Fates) -> Value {
    let counts = fates.counts();
    let map: serde_json::Map<String, Value> =
        counts.into_iter().map(|(fate, count)| (fate.name().to_owned(), count.into())).collect();
    Value::from(map)
}

fn lost(run: &Collector, fates: &Fates) -> Explanation {
    let (lost, created) = (fates.lost().count() as u64, run.created());
    let [sizes, destinations, times] =
        [groups::by_size(fates), groups::by_destination(run, fates), groups::by_time(run, fates)];
    let nodes = groups::by_node(run, fates);
    let mut text = format!("{lost} of {} not delivered ({}).\n", bundles(created), share(lost, created));
    if created > 0 {
        text += &format!("\n{}", causes_table(run, fates, false));
        text += &format!("\n{}", groups::table("size", &sizes, ROWS));
        text += &format!("\n{}", groups::table("destination", &destinations, ROWS));
        text += &format!("\n{}", groups::table("created at", &times, usize::MAX));
        if !nodes.is_empty() {
            text += &format!("\n{}", groups::node_table(&nodes, ROWS));
        }
        text += &examples(fates);
    }
    let json = json!({
        "created": created,
        "lost": lost,
        "fates": counts_json(fates),
        "sizes": groups::json(&sizes),
        "destinations": groups::json(&destinations),
        "times": groups::json(&times),
        "nodes": groups::node_json(&nodes),
    });
    Explanation { text: text + &limits(fates), json }
}

/// A bundle of each cause, to look at with `--bundle`.
fn examples(fates: &Fates) -> String {
    let first = |fate: Fate| fates.all.iter().find(|one| one.fate == fate).map(|one| one.fact.bundle.id.0);
    let causes = fates.counts().into_iter().filter(|(fate, _)| *fate != Fate::Delivered);
    let of: Vec<String> =
        causes.filter_map(|(fate, _)| Some(format!("--bundle {} ({})", first(fate)?, fate.name()))).collect();
    if of.is_empty() { String::new() } else { format!("\nExamples: {}.\n", of.join(", ")) }
}

fn why(run: &Collector, fates: &Fates, measured: &Measured) -> Explanation {
    let paragraphs = why::paragraphs(run, fates, measured);
    let mut text = format!("{}\n", delivered(run, measured));
    paragraphs.iter().for_each(|(_, _, paragraph)| text += &format!("\n{paragraph}\n"));
    text += &format!("\n{}\n{}\n", measured.contacts_text(), why::transfers_text(run));
    if let Some(help) = help::sentence(run, fates, measured) {
        text += &format!("\n{help}\n");
    }
    let mut json = head_json(run, fates, measured);
    let causes: Vec<Value> = paragraphs
        .iter()
        .map(|(fate, count, text)| {
            json!({"cause": fate.name(), "bundles": count, "unreachable": fate.is_unreachable(), "text": text})
        })
        .collect();
    json["causes"] = causes.into();
    Explanation { text: text + &limits(fates), json }
}

fn bundle(run: &Collector, fates: &Fates, id: BundleId, all_copies: bool) -> Result<Explanation, String> {
    let found = fates.all.binary_search_by_key(&id, |one| one.fact.bundle.id);
    let (Ok(at), Some((_, records))) = (found, &run.life) else {
        return Err(match (fates.all.first(), fates.all.last()) {
            (Some(first), Some(last)) => format!(
                "bundle {} was not created; name one of {} to {}",
                id.0, first.fact.bundle.id.0, last.fact.bundle.id.0
            ),
            _ => format!("bundle {} was not created: the run created none", id.0),
        });
    };
    let one: &Judged = &fates.all[at];
    let path = life::path(one.fact, records);
    let steps = life::steps(run, records);
    let chances = life::chances(run, one, records);
    let mut text = life::answer(run, one, &path) + "\n" + &lifetime(one);
    if let Some((sentence, _)) = &chances {
        text += &format!("{sentence}\n");
    }
    text += &life::again_text(run, &steps);
    text += "\n";
    let shown = if all_copies {
        steps.iter().map(|step| (0, Some(step))).collect()
    } else {
        life::shown(one, &steps, &path)
    };
    for (left_out, step) in shown {
        if left_out > 0 {
            text += &format!("            ({left_out} steps of other copies; --all shows them)\n");
        }
        if let Some(step) = step {
            text += &format!("{}  {}.\n", words::clock(step.at), step.text);
        }
    }
    let mut json = life::json(run, one, &path, &steps);
    json["last_copy"] = chances.map(|(_, facts)| facts).into();
    Ok(Explanation { text, json })
}

fn lifetime(one: &Judged) -> String {
    let bundle = &one.fact.bundle;
    let from = words::clock(bundle.created);
    match bundle.expires {
        lightlag_protocols::time::Instant::MAX => {
            format!("It was created at {from} and has no end of lifetime.\n")
        }
        expires => {
            let life = span(expires - bundle.created);
            format!("It was created at {from} and lives for {life}, until {}.\n", words::clock(expires))
        }
    }
}
