//! `--plan`: a contact plan that is followed, and read again when its file changes.

use crate::output::Failure;
use lightlag_node::transports::{ContactPlan as Followed, Step};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;
use lightlag_scenario::contacts::{ContactPlan, PlannedContact};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A plan to follow from now on, and its greatest light-time RTT. `has_light`: `--light` replaces its light times.
pub fn contact_plan(
    file: &Path,
    nodes: Option<&str>,
    has_light: bool,
) -> Result<(Followed, Option<Duration>), Failure> {
    let pair = |text: &str| {
        let (from, to) = text.split_once(',')?;
        Some((from.trim().to_owned(), to.trim().to_owned()))
    };
    let wrong = || Failure::Input("--plan-nodes: write FROM,TO: two names of nodes of the plan".to_owned());
    let nodes = nodes.map(|text| pair(text).ok_or_else(wrong)).transpose()?;
    let mut plan = PlanFile {
        file: file.to_owned(),
        nodes,
        has_light,
        started: std::time::Instant::now(),
        stamp: None,
        seen: None,
        contacts: Vec::new(),
        epoch_s: None,
        is_over: false,
    };
    plan.stamp = plan.stamp_now();
    plan.read().map_err(|line| Failure::Input(format!("--plan: {line}")))?;
    if plan.ends() <= plan.now() {
        let line = format!("--plan: {}: all its contacts are over; add a later one", file.display());
        return Err(Failure::Input(line));
    }
    let light = plan.contacts.iter().filter_map(|contact| contact.light).max();
    let mut first = true;
    let steps = move |now| (std::mem::take(&mut first) || plan.reads_anew()).then(|| plan.steps(now));
    Ok((Followed::new(Box::new(steps)), light.filter(|_| !has_light)))
}

/// Length of the file and time of its last change.
type Stamp = (u64, Option<SystemTime>);

struct PlanFile {
    file: PathBuf,
    nodes: Option<(String, String)>,
    has_light: bool,
    /// Zero of relative times.
    started: std::time::Instant,
    /// Of the version that was read last; `None`: there was no file.
    stamp: Option<Stamp>,
    /// What was there at the last look: a file that is being written differs from one to the next.
    seen: Option<Stamp>,
    contacts: Vec<PlannedContact>,
    epoch_s: Option<i64>,
    /// The end of the last contact was reported.
    is_over: bool,
}

impl PlanFile {
    fn stamp_now(&self) -> Option<Stamp> {
        let found = std::fs::metadata(&self.file).ok()?;
        Some((found.len(), found.modified().ok()))
    }
    fn read(&mut self) -> Result<(), lightlag_scenario::Error> {
        let plan = ContactPlan::read(&self.file)?;
        let nodes = self.nodes.as_ref().map(|(from, to)| (from.as_str(), to.as_str()));
        self.contacts = plan.between(&self.file, nodes)?;
        self.epoch_s = plan.epoch_s;
        Ok(())
    }
    /// Whether there is a new version, which has been read. A damaged one is reported, and the earlier one kept.
    fn reads_anew(&mut self) -> bool {
        let stamp = self.stamp_now();
        let is_settled = std::mem::replace(&mut self.seen, stamp) == stamp;
        if stamp == self.stamp {
            if !self.is_over && self.ends() <= self.now() {
                self.is_over = true;
                let file = self.file.display();
                eprintln!(
                    "lightlag: --plan: {file}: its last contact is over; waiting for a version with another"
                );
            }
            return false;
        }
        if !is_settled {
            return false;
        }
        self.stamp = stamp;
        if let Err(why) = self.read() {
            eprintln!("lightlag: --plan: {why}; the version read before is kept");
            return false;
        }
        self.is_over = false;
        true
    }
    /// The time of the plan: absolute times are of this machine's clock, relative ones count from the start.
    fn now(&self) -> Instant {
        let of_day = |epoch_s: i64| {
            let day = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            i64::try_from(day.as_nanos()).unwrap_or(i64::MAX) - epoch_s.saturating_mul(1_000_000_000)
        };
        let running = || i64::try_from(self.started.elapsed().as_nanos()).unwrap_or(i64::MAX);
        Instant::from_nanos(self.epoch_s.map_or_else(running, of_day))
    }
    fn ends(&self) -> Instant {
        self.contacts.last().map_or(Instant::ZERO, |contact| contact.end)
    }
    /// What the plan says, by another clock, which shows `now`.
    fn steps(&self, now: Instant) -> Vec<Step> {
        let behind = now - self.now();
        let mut steps: Vec<Step> = Vec::new();
        for contact in &self.contacts {
            let (at, end) = (contact.start.saturating_add(behind), contact.end.saturating_add(behind));
            // One contact follows another without a gap.
            steps.pop_if(|gap| gap.at == at);
            let (rate, light) = (contact.rate.unwrap_or_default(), contact.light.filter(|_| !self.has_light));
            steps.push(Step { at, rate, light });
            steps.push(Step { at: end, rate: BitRate(0), light: None });
        }
        steps
    }
}
