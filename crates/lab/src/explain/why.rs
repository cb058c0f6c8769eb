//! The figures behind each cause of loss.

use super::collect::{Collector, Fact};
use super::losses::{Fate, Fates, Judged};
use super::words::{count, share, size, span};
use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::time::{Duration, Instant};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Figures of a run that causes refer to.
pub struct Measured {
    pub contacts: u64,
    /// Median length of contacts, and the median of what they carry.
    pub contact: Option<(Duration, u64)>,
    /// Median size of bundles.
    pub size: u64,
    /// Delays of the delivered bundles, ascending.
    pub delays: Vec<Duration>,
}

/// The middle of a list, the upper one of two.
pub fn median<T: Ord + Copy>(mut values: Vec<T>) -> Option<T> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable(middle).1)
}

impl Measured {
    pub fn new(run: &Collector, fates: &Fates) -> Self {
        let contacts = &run.meetings.list;
        let length = median(contacts.iter().map(|contact| contact.end - contact.start).collect());
        let carries = median(contacts.iter().map(super::contacts::Meeting::carries).collect());
        let delay = |one: &Judged| Some(one.fact.delivered?.at - one.fact.bundle.created);
        let mut delays: Vec<Duration> = fates.all.iter().filter_map(delay).collect();
        delays.sort_unstable();
        Self {
            contacts: contacts.len() as u64,
            contact: length.zip(carries),
            size: median(fates.all.iter().map(|one| one.fact.bundle.size.get()).collect()).unwrap_or(0),
            delays,
        }
    }
    /// The delay that this share of the delivered bundles does not exceed.
    pub fn delay(&self, share: f64) -> Option<Duration> {
        let at = (self.delays.len() as f64 * share) as usize;
        self.delays.get(at.min(self.delays.len().saturating_sub(1))).copied()
    }
    /// What contacts were like.
    pub fn contacts_text(&self) -> String {
        match self.contact {
            None => "There was no contact.".to_owned(),
            Some((length, carries)) => format!(
                "{}; the median one lasts {} and carries {}, the median bundle has {}.",
                count(self.contacts, "contact"),
                span(length),
                size(carries),
                size(self.size)
            ),
        }
    }
}

/// What transfers became of.
pub fn transfers_text(run: &Collector) -> String {
    let made = &run.transfers;
    let mut text = count(made.started, "transfer");
    text += &format!(" begun, {} cut off by the end of a contact", made.aborted);
    let refused: Vec<String> =
        made.refused.iter().map(|(why, count)| format!("{count}: {}", super::life::refusal(*why))).collect();
    if !refused.is_empty() {
        text += &format!(", {} refused on arrival ({})", made.refused_total(), refused.join("; "));
    }
    text + "."
}

/// A paragraph a cause, the most frequent first.
pub fn paragraphs(run: &Collector, fates: &Fates, measured: &Measured) -> Vec<(Fate, u64, String)> {
    let mut causes = fates.counts();
    causes.retain(|(fate, _)| *fate != Fate::Delivered);
    causes.sort_by_key(|(fate, count)| (Reverse(*count), *fate));
    let paragraph = |(fate, number): (Fate, u64)| {
        let of: Vec<&Judged> = fates.all.iter().filter(|one| one.fate == fate).collect();
        let evidence = evidence(run, fate, &of, measured);
        let text = format!("{number} ({}) {}. {evidence}", share(number, run.created()), fate.about());
        (fate, number, text.trim_end().to_owned())
    };
    causes.into_iter().map(paragraph).collect()
}

fn evidence(run: &Collector, fate: Fate, of: &[&Judged], measured: &Measured) -> String {
    match fate {
        Fate::Delivered => String::new(),
        Fate::TooLarge => {
            let size_of = |one: &&Judged| one.fact.bundle.size.get();
            let (least, most) = (of.iter().map(size_of).min(), of.iter().map(size_of).max());
            let buffers =
                of.iter().filter_map(|one| run.nodes.get(&one.fact.bundle.source.0)).map(|node| node.buffer);
            format!(
                "They have {} to {}; the largest buffer of their sources has {}.",
                size(least.unwrap_or(0)),
                size(most.unwrap_or(0)),
                size(buffers.max().unwrap_or(0))
            )
        }
        Fate::NoRoom | Fate::Waited => places("Sources", run, of, |fact| Some(fact.bundle.source)),
        Fate::NoContact => places("Sources", run, of, |fact| Some(fact.bundle.source)),
        Fate::NoPath => {
            places("Destinations", run, of, |fact| Some(fact.bundle.destination))
                + " No router and no mechanism can deliver them; `lightlag bound` gives the most that can be."
        }
        Fate::RunEnded => {
            places("Destinations", run, of, |fact| Some(fact.bundle.destination))
                + " A longer run would show whether contacts lead there in time."
        }
        Fate::ContactsTooShort => measured.contacts_text(),
        Fate::Dropped => dropped(run, of, measured),
        Fate::Expired => expired(of, measured),
        Fate::Refused | Fate::Replaced => {
            places("Last copies", run, of, |fact| fact.gone.map(|gone| gone.node))
        }
        Fate::InFlight => "A longer run would show whether they arrive.".to_owned(),
        Fate::Held => held(run, of, measured),
    }
}

/// The places where most of it happened.
fn places(what: &str, run: &Collector, of: &[&Judged], place: impl Fn(&Fact) -> Option<NodeId>) -> String {
    let mut counts: BTreeMap<NodeId, u64> = BTreeMap::new();
    of.iter().filter_map(|one| place(one.fact)).for_each(|node| *counts.entry(node).or_default() += 1);
    let mut counts: Vec<(NodeId, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(node, count)| (Reverse(*count), *node));
    let shown: Vec<String> =
        counts.iter().take(3).map(|(node, count)| format!("{} ({count})", run.node(*node))).collect();
    let more = if counts.len() > 3 { format!(" and {} more", counts.len() - 3) } else { String::new() };
    if shown.is_empty() { String::new() } else { format!("{what}: {}{more}.", shown.join(", ")) }
}

fn dropped(run: &Collector, of: &[&Judged], measured: &Measured) -> String {
    let mut text = places("The last copy was at", run, of, |fact| fact.gone.map(|gone| gone.node));
    let worst = run.nodes.iter().max_by_key(|(number, node)| (node.dropped, Reverse(**number)));
    let Some((number, node)) = worst.filter(|(_, node)| node.dropped > 0) else { return text };
    let stay =
        median(node.stays.clone()).map_or_else(String::new, |stay| format!(" after {} (median)", span(stay)));
    let fits = node.buffer / measured.size.max(1);
    text += &format!(
        " Most copies were dropped by {}: {}{stay}; its buffer of {} holds {} of the median size.",
        run.node(NodeId(*number)),
        node.dropped,
        size(node.buffer),
        count(fits, "bundle")
    );
    text
}

fn expired(of: &[&Judged], measured: &Measured) -> String {
    let lifetime = |one: &&Judged| one.fact.bundle.expires - one.fact.bundle.created;
    let lifetime = median(of.iter().map(lifetime).collect()).unwrap_or(Duration::ZERO);
    let mut text = format!("They lived for {} (median).", span(lifetime));
    if let (Some(half), Some(most)) = (measured.delay(0.5), measured.delay(0.9)) {
        text +=
            &format!(" Delivered ones took {} (median), one in ten more than {}.", span(half), span(most));
    }
    text + &stuck(of)
}

fn held(run: &Collector, of: &[&Judged], measured: &Measured) -> String {
    let age = |one: &&Judged| run.end - one.fact.bundle.created;
    let age = median(of.iter().map(age).collect()).unwrap_or(Duration::ZERO);
    let mut text = format!("They were {} old (median) when the run ended.", span(age));
    if let Some(half) = measured.delay(0.5) {
        text += &format!(" Delivered ones took {} (median).", span(half));
    }
    text + &stuck(of)
}

/// Bundles that never left their source, and those that were cut off at their destination.
fn stuck(of: &[&Judged]) -> String {
    let number = |wanted: fn(&Fact) -> bool| of.iter().filter(|one| wanted(one.fact)).count();
    let at_source = number(|fact| fact.stored == 0);
    let cut_off = number(|fact| fact.cut_at_destination > 0);
    let mut text = String::new();
    if at_source > 0 {
        text += &format!(" {at_source} never left their source.");
    }
    if cut_off > 0 {
        text += &format!(" {cut_off} were cut off by the end of a contact with their destination.");
    }
    text
}

/// The figures in JSON.
pub fn json(run: &Collector, measured: &Measured) -> Value {
    let refused: serde_json::Map<String, Value> = run
        .transfers
        .refused
        .iter()
        .map(|(why, count)| (super::life::refusal_name(*why).to_owned(), Value::from(*count)))
        .collect();
    json!({
        "contacts": measured.contacts,
        "contact_median_s": measured.contact.map(|contact| contact.0.as_secs_f64()),
        "contact_median_bytes": measured.contact.map(|contact| contact.1),
        "bundle_median_bytes": measured.size,
        "delay_median_s": measured.delay(0.5).map(Duration::as_secs_f64),
        "delay_90_percent_s": measured.delay(0.9).map(Duration::as_secs_f64),
        "transfers_begun": run.transfers.started,
        "transfers_cut_off": run.transfers.aborted,
        "transfers_refused": refused,
        "ended_s": (run.end - Instant::ZERO).as_secs_f64(),
    })
}
