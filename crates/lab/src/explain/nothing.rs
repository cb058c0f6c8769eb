//! Why a run created or delivered nothing, in a line; and what else is odd about it.

use super::why::median;
use super::words::{count, size, span};
use crate::bound::Reach;
#[cfg(feature = "reports")]
use crate::results::Results;
use lightlag_protocols::dtn::Bundle;
use lightlag_protocols::time::Instant;
use lightlag_worlds::contacts::Contact;
use lightlag_worlds::messages::Setup;

/// A figure of the run by its name; 0 where it has none.
pub type Figure<'a> = &'a dyn Fn(&str) -> u64;

/// Of a run of bundles, of which those count that are created from `counts_from` on. Nothing if some were delivered.
///
/// `some_fail`: the scenario lets contacts fail or nodes vanish.
pub fn bundles(setup: &Setup, counts_from: Instant, some_fail: bool, figure: Figure) -> Option<String> {
    if figure("delivered") > 0 {
        return None;
    }
    Some(match figure("created") {
        0 => format!("no bundle was created: {}", none_created(setup, counts_from)),
        created if some_fail && setup.contacts.list.is_empty() => {
            format!("0 of {created} delivered: no contact took place (`contacts_fail`, `nodes_vanish`)")
        }
        created => format!("0 of {created} delivered: {}", none_delivered(setup, counts_from, figure)),
    })
}

fn none_created(setup: &Setup, counts_from: Instant) -> String {
    let run = span(setup.until - Instant::ZERO);
    let before = setup.bundles.iter().filter(|bundle| bundle.created < counts_from).count() as u64;
    match setup.bundles.iter().map(|bundle| bundle.created).find(|at| *at >= counts_from) {
        Some(first) => {
            format!("the first is due after {}, the run ends after {run}", span(first - Instant::ZERO))
        }
        None if before > 0 => {
            format!("{} were created before the warm-up ended, which do not count", count(before, "bundle"))
        }
        None => format!("the traffic creates none within the {run} of the run"),
    }
}

fn none_delivered(setup: &Setup, counts_from: Instant, figure: Figure) -> String {
    let created = figure("created");
    let sizes = || {
        setup.bundles.iter().filter(|bundle| bundle.created >= counts_from).map(|bundle| bundle.size.get())
    };
    let bundle = median(sizes().collect()).unwrap_or(0);
    if figure("rejected") == created {
        let buffers = setup.bundles.iter().map(|bundle| setup.nodes[bundle.source.0 as usize].buffer.get());
        let buffer = buffers.max().unwrap_or(0);
        return if sizes().min().is_some_and(|least| least > buffer) {
            format!(
                "all were larger than the buffer of their source ({} at most, bundles have {})",
                size(buffer),
                size(bundle)
            )
        } else {
            "their sources had no room for them".to_owned()
        };
    }
    let Some(contact) = median_contact(setup) else { return no_contact(setup) };
    let (started, aborted, relayed) = (figure("started"), figure("aborted"), figure("relayed"));
    let contact = format!("the median contact {contact}, bundles have {}", size(bundle));
    if started > 0 && 2 * aborted >= started {
        return format!(
            "{} of {} cut off by the end of their contact; {contact}",
            aborted,
            transfers(started)
        );
    }
    let reachable = reachable(setup, counts_from);
    if let Some(late) = too_late(setup, counts_from).filter(|_| reachable == 0) {
        return late;
    }
    match (reachable, started) {
        (0, 0) => format!("no sequence of contacts led from a source to its destination in time; {contact}"),
        (0, _) => format!(
            "no sequence of contacts led from a source to its destination in time; {} begun, {relayed} arrived at other nodes",
            transfers(started)
        ),
        (_, 0) => format!(
            "{reachable} could have been, but no transfer was begun: the router or the mechanism held them back; {contact}"
        ),
        _ => format!("{reachable} could have been; {}", lost_copies(relayed, figure)),
    }
}

fn no_contact(setup: &Setup) -> String {
    let run = span(setup.until - Instant::ZERO);
    match setup.contacts.list.iter().map(|contact| contact.start).min() {
        Some(first) => format!(
            "no two nodes met: the first contact is due after {}, the run ends after {run}",
            span(first - Instant::ZERO)
        ),
        None => format!(
            "no two nodes met within the {run} of the run: raise the `range` of radios, or add nodes or contacts"
        ),
    }
}

/// Where contacts lead to destinations only when the lifetime of bundles is over: how long they live, and would have to.
fn too_late(setup: &Setup, counts_from: Instant) -> Option<String> {
    let mut reach = Reach::new(setup);
    let counted = setup.bundles.iter().filter(|b| counts_from <= b.created && b.created <= setup.until);
    let takes = |bundle: &Bundle| {
        let endless = Bundle { expires: Instant::MAX, ..*bundle };
        Some((reach.earliest(&endless)? - bundle.created, bundle.expires - bundle.created))
    };
    let (needed, lives) = counted.take(SEARCHED).filter_map(takes).min()?;
    Some(format!(
        "their lifetime of {} is too short: the fastest sequence of contacts to a destination takes {}; raise `lifetime`",
        span(lives),
        span(needed)
    ))
}

/// What is odd about a run of bundles that delivers some, in a line: that it delivers next to none for lack of time or
/// contacts, or a mechanism that had no full buffer to act on.
pub fn odd(setup: &Setup, counts_from: Instant, mechanism: Option<&str>, figure: Figure) -> Option<String> {
    few(setup, counts_from, figure).or_else(|| idle(mechanism, figure))
}

/// Below this share of delivered bundles a run is odd, if that is not for lack of room.
const FEW: f64 = 0.05;
/// Fewer bundles show nothing.
const CREATED_LEAST: u64 = 20;
/// Bundles for which the fastest path is searched where few are delivered.
const SAMPLE: usize = 200;

/// Why a run delivers few bundles: lifetimes that are too short for the contacts, or missing contacts.
fn few(setup: &Setup, counts_from: Instant, figure: Figure) -> Option<String> {
    let [delivered, created] = ["delivered", "created"].map(figure);
    let lacks_room = figure("dropped_overflow") + figure("rejected") > created / 2;
    if delivered == 0 || created < CREATED_LEAST || delivered as f64 > FEW * created as f64 || lacks_room {
        return None;
    }
    let mut reach = Reach::new(setup);
    let counted = setup.bundles.iter().filter(|b| counts_from <= b.created && b.created <= setup.until);
    let sample: Vec<&Bundle> = counted.take(SAMPLE).collect();
    let mut delays = Vec::new();
    let mut in_time = 0;
    for &bundle in &sample {
        let endless = Bundle { expires: Instant::MAX, ..*bundle };
        if let Some(earliest) = reach.earliest(&endless) {
            delays.push(earliest - bundle.created);
            in_time += usize::from(earliest <= bundle.expires);
        }
    }
    let head = format!("only {delivered} of {created} bundles were delivered");
    let (all, reached) = (sample.len(), delays.len());
    if 2 * in_time >= all {
        return None;
    }
    if 2 * reached < all {
        return Some(format!(
            "{head}: for {} of {all} no sequence of contacts leads to the destination before the run ends; raise the `range` of \
             radios, add nodes or contacts, or lengthen the run",
            all - reached
        ));
    }
    let lifetime = median(sample.iter().map(|bundle| bundle.expires - bundle.created).collect())?;
    let (lifetime, needed) = (span(lifetime), span(median(delays)?));
    Some(format!(
        "{head}: their lifetime of {lifetime} is too short, as the fastest sequence of contacts to a destination takes {needed} \
         (median); raise `lifetime`"
    ))
}

/// A mechanism that had no full buffer to act on.
fn idle(mechanism: Option<&str>, figure: Figure) -> Option<String> {
    let mechanism = mechanism.filter(|_| figure("delivered") > 0)?;
    let is_full = ["dropped_overflow", "rejected"].into_iter().any(|name| figure(name) > 0);
    (!is_full).then(|| {
        format!(
            "no buffer was ever full, so that there was no congestion for `{mechanism}` to control: lower `buffer` or create \
             more traffic"
        )
    })
}

/// The same of a sweep over mechanisms: none of its runs had a full buffer.
#[cfg(feature = "reports")]
pub fn odd_sweep(results: &Results) -> Option<String> {
    let has_axis = results.value_columns().iter().any(|column| column.ends_with("mechanism"));
    let sum = |name: &str| results.rows.iter().filter_map(|row| row.metric(name)).sum::<f64>();
    let delivers_from_idle_buffers =
        sum("delivered") > 0.0 && sum("dropped_overflow") == 0.0 && sum("rejected") == 0.0;
    (has_axis && delivers_from_idle_buffers).then(|| {
        "no buffer was ever full in any run, so that there was no congestion for mechanisms to control: lower `buffer` or \
         create more traffic"
            .to_owned()
    })
}

fn transfers(number: u64) -> String {
    if number == 1 { "1 transfer was".to_owned() } else { format!("{number} transfers were") }
}

fn lost_copies(relayed: u64, figure: Figure) -> String {
    let [overflow, expired, refused] = ["dropped_overflow", "dropped_expired", "refused"].map(figure);
    format!(
        "{relayed} copies arrived at other nodes, {expired} copies expired, {overflow} were dropped for lack of room, {refused} were refused on arrival"
    )
}

/// How long the median contact lasts, and what it carries.
fn median_contact(setup: &Setup) -> Option<String> {
    let contacts = &setup.contacts;
    let before = |contact: &&Contact| contact.start < setup.until;
    let lasts = |contact: &Contact| contact.end.min(setup.until) - contact.start;
    let carries = |contact: &Contact| {
        let rate =
            [contact.forward, contact.backward].map(|channel| contacts.channels[channel as usize].rate);
        let rate = rate[0].max(rate[1]).as_bit_per_s();
        let bytes = lasts(contact).as_nanos().max(0) as u128 * u128::from(rate) / 8_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    };
    let length = median(contacts.list.iter().filter(before).map(lasts).collect())?;
    let carried = median(contacts.list.iter().filter(before).map(carries).collect())?;
    Some(format!("of {} carries {}", span(length), size(carried)))
}

/// Bundles for which paths are searched: more would take longer than the run.
const SEARCHED: usize = 1_000;

/// How many of the first bundles could have been delivered, with every buffer and rate to themselves.
fn reachable(setup: &Setup, counts_from: Instant) -> u64 {
    let mut reach = Reach::new(setup);
    let counted = setup.bundles.iter().filter(|b| counts_from <= b.created && b.created <= setup.until);
    counted.take(SEARCHED).filter(|bundle| reach.earliest(bundle).is_some()).count() as u64
}

/// Of a run of packets.
pub fn packets(figure: Figure) -> Option<String> {
    if figure("delivered_bytes") > 0 {
        return None;
    }
    let [sent, dropped, lost, timeouts] =
        ["packets_sent", "packets_dropped", "packets_lost", "timeouts"].map(figure);
    Some(match sent {
        0 => format!(
            "no byte was delivered: no flow sent data before the run ended ({dropped} packets dropped by queues, {lost} lost on links, {})",
            count(timeouts, "timeout")
        ),
        _ => format!(
            "no byte was delivered: {} sent, {dropped} dropped by queues, {lost} lost on links, {}",
            count(sent, "packet"),
            count(timeouts, "timeout")
        ),
    })
}

/// Of a run of named data.
pub fn names(figure: Figure) -> Option<String> {
    if figure("delivered_bytes") > 0 {
        return None;
    }
    let [sent, drops, timeouts] = ["interests_sent", "drops", "timeouts"].map(figure);
    Some(match sent {
        0 => "no Data was delivered: no consumer sent an Interest before the run ended".to_owned(),
        _ => format!(
            "no Data was delivered: {} sent, {} dropped or lost, {}",
            count(sent, "Interest"),
            count(drops, "packet"),
            count(timeouts, "timeout")
        ),
    })
}
