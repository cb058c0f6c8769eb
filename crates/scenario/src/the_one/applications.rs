//! `Group.applicationN`: ping applications, which send pings and answer them.

use super::numbers::{boolean, double, int, list};
use super::settings::{Found, Run, Space};
use crate::error::{Result, short};
use crate::model::{Draws, Generator, Group, Interval, Replies, Shape, Traffic, TrafficKind};
use crate::quantity::Bounds;
use lightlag_protocols::record::bundles::ReplyKind;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use std::ops::Range;

const PING: &str = "PingApplication";

/// An application of the hosts of a group.
struct Application<'a> {
    hosts: Range<u32>,
    name: Found<'a>,
    space: Space<'a>,
    reply: Bytes,
}

/// What the applications of all groups send.
pub fn pings(run: Run, groups: &[Group]) -> Result<Vec<Traffic>> {
    let mut all: Vec<Application> = Vec::new();
    let mut first = 0;
    for group in groups {
        let hosts = first..first + group.count();
        first = hosts.end;
        all.extend(application(run, &group.name, hosts)?);
    }
    let by: Vec<(Range<u32>, Bytes)> = all.iter().map(|one| (one.hosts.clone(), one.reply)).collect();
    let replies = Replies { by, kind: ReplyKind::Pong };
    let mut traffic: Vec<Traffic> = Vec::new();
    for one in &all {
        let from = one.hosts.clone();
        if let Some(Traffic { kind: TrafficKind::Random(generator), .. }) =
            traffic.iter_mut().find(|known| known.name == one.name.value)
        {
            // The same settings for another group.
            generator.from.extend(from);
        } else if let Some(generator) = generator(one, first)? {
            traffic.push(Traffic {
                name: one.name.value.to_owned(),
                place: one.name.place.clone(),
                lifetime: None,
                replies: Some(replies.clone()),
                file: None,
                kind: TrafficKind::Random(generator),
            });
        }
    }
    // A prefix names the messages of one source.
    for source in traffic.iter_mut().skip(1) {
        if let TrafficKind::Random(generator) = &mut source.kind {
            generator.prefix = format!("{}-ping", source.name);
        }
    }
    Ok(traffic)
}

/// The application of a group, if it has one.
fn application<'a>(run: Run<'a>, group: &str, hosts: Range<u32>) -> Result<Option<Application<'a>>> {
    let space = run.space_or(group, "Group");
    let Some(count) = space.find("nrofApplications") else { return Ok(None) };
    let number = count.whole(0, 1000, "there are 0 to 1000 applications")?;
    if number > 1 {
        return Err(count.wrong(format!("is {number}"), "a host may have one application, a PingApplication"));
    }
    if number == 0 {
        return Ok(None);
    }
    let name = space.need("application1", "pingApp")?;
    let own = run.space(name.value);
    let class = own.need("type", PING)?;
    if class.value.strip_prefix("applications.").unwrap_or(class.value) != PING {
        return Err(class.unsupported(&[PING]));
    }
    let reply = size(&own, "pongSize")?;
    Ok(Some(Application { hosts, name, space: own, reply }))
}

/// How an application pings; `None` if it only answers.
fn generator(application: &Application, hosts: u32) -> Result<Option<Generator>> {
    let space = &application.space;
    let (interval, offset) = (interval(space)?, offset(space)?);
    let (seed, ping) = (space.parse("seed", int)?.unwrap_or(0), size(space, "pingSize")?);
    let to = destinations(space, hosts)?;
    if space.parse("passive", boolean)?.unwrap_or(false) {
        return Ok(None);
    }
    Ok(Some(Generator {
        prefix: "ping".to_owned(),
        shape: Shape::Ping,
        interval: Interval::Uniform(Bounds::single(interval)),
        size: Bounds::single(ping.get()),
        from: application.hosts.clone().collect(),
        to,
        start: offset,
        end: Instant::MAX,
        draws: Draws::TheOne,
        seed: Some(seed),
    }))
}

fn interval(space: &Space) -> Result<Duration> {
    let Some(found) = space.find("interval") else { return Ok(Duration::from_secs(500)) };
    let s = found.parse(double)?;
    if (1e-3..=1e9).contains(&s) {
        return Ok(Duration::from_secs_f64(s));
    }
    Err(found.wrong(format!("is {} s", short(s)), "give seconds from 0.001 to 1e9"))
}

/// Since when the first interval counts.
fn offset(space: &Space) -> Result<Instant> {
    let Some(found) = space.find("offset") else { return Ok(Instant::ZERO) };
    let s = found.parse(double)?;
    if (-1e9..=1e9).contains(&s) {
        return Ok(Instant::from_secs_f64(s));
    }
    Err(found.wrong(format!("is {} s", short(s)), "give seconds from -1e9 to 1e9"))
}

fn size(space: &Space, key: &str) -> Result<Bytes> {
    let Some(found) = space.find(key) else { return Ok(Bytes(1)) };
    let bytes = found.whole(1, i32::MAX, "give bytes above zero")?;
    Ok(Bytes(u64::from(bytes.unsigned_abs())))
}

/// Destinations of pings. A host beyond the last may be drawn; its ping is skipped.
fn destinations(space: &Space, hosts: u32) -> Result<Vec<u32>> {
    let Some(found) = space.find("destinationRange") else { return Ok(vec![0]) };
    let right = format!("give the first host and the one after the last, like 0, {hosts}");
    match found.parse(|text| list(text, int))?[..] {
        [low, high] if (0..high).contains(&low) && high <= crate::NODES_MAX as i32 => {
            if high.unsigned_abs() > hosts {
                space.run.notes.warn(format!(
                    "{}: `{}` has hosts that do not exist (they are numbered from 0 to {}): pings to them are skipped; The \
                     ONE stops at the first of them",
                    found.place,
                    found.key,
                    hosts.saturating_sub(1)
                ));
            }
            Ok((low.unsigned_abs()..high.unsigned_abs()).collect())
        }
        _ => Err(found.wrong("is not a range of hosts", right)),
    }
}
