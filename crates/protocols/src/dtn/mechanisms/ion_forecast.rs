//! ION's admission control: quotas of storage, and applications that wait while the forecast of the contact plan
//! exceeds the buffer.

use crate::dtn::{
    BufferDecision, BuildContext, Bundle, BundleId, ContactPlan, CopyEvent, Entry, Incoming, Local,
    Mechanism, MechanismEvent, Needs, NodeId, Observation, Parameter, Parameters, Refusal, Replica,
};
use crate::time::{Duration, Instant};

/// Keeps stored bundles, refuses copies beyond a quota, and lets new bundles wait for a forecast without congestion.
pub struct IonForecast {
    rules: Rules,
    timeline: Timeline,
    /// Stored bytes of bundles that were created here.
    own: u64,
    /// Bytes received so far that were stored here.
    received: u64,
    /// The newest forecast: when it was made, and the bytes up to which the buffer may be filled.
    newest: Option<(Instant, f64)>,
}

struct Rules {
    outbound: f64,
    inbound: f64,
    reception: Reception,
    /// How far a forecast looks ahead; `None`: to the end of the plan.
    horizon: Option<Duration>,
}

/// How much of what a contact can carry is expected to be received in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reception {
    /// The share that past contacts have brought.
    Measured,
    /// All of it: ION's forecast.
    Planned,
    /// There is no forecast, the quotas alone decide.
    None,
}

/// Its row in the table of mechanisms.
pub const ENTRY: Entry<dyn Mechanism> = Entry {
    name: "ion_forecast",
    paper: "Burleigh: Interplanetary Overlay Network: an implementation of the DTN bundle protocol, IEEE CCNC 2007",
    parameters: &[
        Parameter::number(
            "outbound",
            "",
            0.5,
            (0.0, 1.0),
            "share of the buffer that bundles created here may fill",
        ),
        Parameter::number(
            "inbound",
            "",
            0.5,
            (0.0, 1.0),
            "share of the buffer that received bundles may fill",
        ),
        Parameter::word(
            "reception",
            &["measured", "planned", "none"],
            "what the forecast expects of a planned contact: the share that past contacts have brought, its whole rate (as ION computes it), or no forecast at all",
        ),
        Parameter::number(
            "horizon",
            "s",
            0.0,
            (0.0, 1e9),
            "how far a forecast looks ahead; 0: to the end of the plan",
        ),
    ],
    only_with: &[],
    properties: |given, _| Needs { contact_plan: given.word("reception") != "none", ..Needs::NONE },
    build,
};

fn build(given: &Parameters, context: BuildContext) -> Box<dyn Mechanism> {
    let reception = match given.word("reception") {
        "planned" => Reception::Planned,
        "none" => Reception::None,
        _ => Reception::Measured,
    };
    let horizon = given.number("horizon");
    Box::new(IonForecast {
        rules: Rules {
            outbound: given.number("outbound"),
            inbound: given.number("inbound"),
            reception,
            horizon: (horizon > 0.0).then(|| Duration::from_secs_f64(horizon)),
        },
        timeline: Timeline::new(&context.plan, context.node),
        own: 0,
        received: 0,
        newest: None,
    })
}

/// Rates of one node over time, as the contact plan has them: constant from one step to the next.
struct Timeline(Vec<Step>);

#[derive(Clone, Copy, Default)]
struct Step {
    at: Instant,
    /// Bytes per second from here on.
    sends: f64,
    receives: f64,
    /// Bytes that can have been received before.
    brought: f64,
}

impl Timeline {
    fn new(plan: &ContactPlan, node: NodeId) -> Self {
        let mut changes: Vec<(Instant, f64, f64)> = Vec::new();
        for contact in plan.contacts() {
            let rate = contact.rate.0 as f64 / 8.0;
            let (start, end) = (contact.start, contact.end);
            if contact.from == node {
                changes.extend([(start, rate, 0.0), (end, -rate, 0.0)]);
            } else if contact.to == node {
                changes.extend([(start + contact.delay, 0.0, rate), (end + contact.delay, 0.0, -rate)]);
            }
        }
        changes.sort_by_key(|change| change.0);
        let mut last = Step::default();
        let step = |(at, sends, receives): (Instant, f64, f64)| {
            let brought = last.brought + last.receives * (at - last.at).as_secs_f64();
            last = Step { at, sends: last.sends + sends, receives: last.receives + receives, brought };
            last
        };
        Self(changes.into_iter().map(step).collect())
    }
    /// The step in effect.
    fn current(&self, now: Instant) -> Step {
        let next = self.0.partition_point(|step| step.at <= now);
        next.checked_sub(1).map_or(Step { at: now, ..Step::default() }, |index| self.0[index])
    }
    /// Bytes that can have been received until now.
    fn brought(&self, now: Instant) -> f64 {
        let current = self.current(now);
        current.brought + current.receives * (now - current.at).as_secs_f64()
    }
    /// How far the buffer may be filled now, so that it never holds more than `ceiling` until `end`, if this share
    /// of what can be received is received, and all is sent that can be; negative if that exceeds it anyway.
    ///
    /// A buffer with x₀ bytes holds x₀ + n(t), but never less than nothing: max(x₀ + n(t), n(t) − min n).
    fn allows(&self, now: Instant, end: Instant, share: f64, ceiling: f64) -> f64 {
        let growth = |step: &Step| share * step.receives - step.sends;
        let (mut at, mut rate) = (now, growth(&self.current(now)));
        let (mut net, mut lowest, mut highest, mut climb) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        let ahead = &self.0[self.0.partition_point(|step| step.at <= now)..];
        for step in ahead.iter().take_while(|step| step.at < end) {
            net += rate * (step.at - at).as_secs_f64();
            (highest, lowest) = (highest.max(net), lowest.min(net));
            climb = climb.max(net - lowest);
            (at, rate) = (step.at, growth(step));
        }
        // All contacts end: beyond the last step nothing changes any more.
        if !ahead.is_empty() && end < Instant::MAX {
            net += rate * (end - at).as_secs_f64().max(0.0);
            (highest, climb) = (highest.max(net), climb.max(net - lowest));
        }
        if climb > ceiling { -1.0 } else { ceiling - highest }
    }
}

impl IonForecast {
    /// The share of what can be received that is expected to be.
    fn expected(&self, now: Instant) -> f64 {
        match self.rules.reception {
            Reception::Planned => 1.0,
            Reception::None => 0.0,
            Reception::Measured => {
                let brought = self.timeline.brought(now);
                if brought > 0.0 { (self.received as f64 / brought).min(1.0) } else { 0.0 }
            }
        }
    }
    /// How far the buffer may be filled by bundles created here.
    fn allows(&mut self, at: &Local) -> f64 {
        let ceiling = at.store.capacity().get() as f64;
        if self.rules.reception == Reception::None {
            return ceiling;
        }
        if let Some((_, bytes)) = self.newest.filter(|(made, _)| *made == at.now) {
            return bytes;
        }
        let end = self.rules.horizon.map_or(Instant::MAX, |horizon| at.now + horizon);
        let bytes = self.timeline.allows(at.now, end, self.expected(at.now), ceiling);
        self.newest = Some((at.now, bytes));
        bytes
    }
    fn admits(&mut self, at: &Local, bundle: &Bundle) -> bool {
        let size = bundle.size.get();
        let (used, capacity) = (at.store.used().get(), at.store.capacity().get() as f64);
        (self.own + size) as f64 <= self.rules.outbound * capacity && (used + size) as f64 <= self.allows(at)
    }
    /// Whether a copy counts towards the quota of bundles created here.
    fn is_own(at: &Local, bundle: &Bundle) -> bool {
        bundle.source == at.node
    }
}

impl Mechanism for IonForecast {
    /// What is stored stays.
    fn make_room(&mut self, _: &Local, _: &Bundle, _: Option<BundleId>) -> BufferDecision {
        BufferDecision::Wait
    }
    fn admit(&mut self, at: &Local, incoming: &Incoming) -> Result<(), Refusal> {
        match incoming {
            Incoming::Created(bundle) => {
                if self.admits(at, bundle) {
                    Ok(())
                } else {
                    Err(Refusal::Congestion)
                }
            }
            Incoming::Offered(offer) => {
                let bundle = offer.bundle();
                let foreign = at.store.used().get().saturating_sub(self.own) + bundle.size.get();
                let fits = foreign as f64 <= self.rules.inbound * at.store.capacity().get() as f64;
                if fits || bundle.destination == at.node { Ok(()) } else { Err(Refusal::NoSpace) }
            }
        }
    }
    fn on_copy(&mut self, at: &Local, replica: &mut Replica, event: CopyEvent) {
        let (bundle, size) = (&replica.bundle, replica.bundle.size.get());
        let stays = bundle.destination != at.node;
        match event {
            CopyEvent::Created => self.own += size,
            CopyEvent::Received { .. } if stays => {
                self.received += size;
                self.own += if Self::is_own(at, bundle) { size } else { 0 };
            }
            _ => {}
        }
    }
    fn on_event(&mut self, at: &Local, event: &MechanismEvent) {
        match event {
            MechanismEvent::Dropped { bundle, .. } if Self::is_own(at, bundle) => {
                self.own = self.own.saturating_sub(bundle.size.get());
            }
            MechanismEvent::PlanRevised { plan } => {
                self.timeline = Timeline::new(plan, at.node);
                self.newest = None;
            }
            _ => {}
        }
    }
    fn observe(&self, at: &Local, seen: &mut Observation) {
        seen.push(("expected_reception", self.expected(at.now)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{copy, place, store_of};
    use crate::dtn::{Offer, PlannedContact, Value};
    use crate::units::BitRate;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// A contact of 10 bytes a second.
    fn contact(from: u32, to: u32, start: i64, end: i64, delay: i64) -> PlannedContact {
        PlannedContact {
            from: NodeId(from),
            to: NodeId(to),
            start: Instant::from_secs(start),
            end: Instant::from_secs(end),
            rate: BitRate(80),
            delay: Duration::from_secs(delay),
        }
    }
    fn ion(plan: &[PlannedContact], given: &[(&str, Value)]) -> Box<dyn Mechanism> {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let given = Parameters::resolve("ion_forecast", ENTRY.parameters, &given).unwrap();
        let plan = Arc::new(ContactPlan::new(plan.iter().copied()));
        let context = BuildContext { nodes: 10, seed: 1, plan, ..BuildContext::default() };
        ENTRY.built(&given, context).algorithm
    }
    /// Whether a new bundle of this size is stored in a buffer of 1000 bytes with `stored` from others in it.
    fn stores(mechanism: &mut dyn Mechanism, stored: u64, size: u64, seconds: f64) -> bool {
        let others = (stored > 0).then(|| {
            let mut other = copy(7, stored);
            other.bundle.source = NodeId(5);
            other
        });
        let store = store_of(others);
        mechanism.admit(&place(&store, 0, seconds), &Incoming::Created(&copy(1, size).bundle)).is_ok()
    }

    #[test]
    fn a_bundle_waits_while_the_plan_brings_more_than_the_buffer_holds_beside_it() {
        // 600 bytes arrive from 100 to 160 s, before anything leaves.
        let plan = [contact(3, 0, 100, 160, 0), contact(0, 4, 200, 300, 0)];
        let mut planned = ion(&plan, &[("reception", "planned".into())]);
        assert!(stores(&mut *planned, 0, 400, 0.0));
        assert!(!stores(&mut *planned, 0, 401, 0.0));
        assert!(stores(&mut *planned, 0, 450, 110.0), "a sixth has been received");
        assert!(stores(&mut *planned, 0, 500, 160.0));
        assert!(!stores(&mut *planned, 601, 400, 160.0), "what is stored counts");
    }

    #[test]
    fn light_time_shifts_what_arrives_and_what_leaves_first_makes_room() {
        // Both directions of one contact: 150 bytes arrive after the last have left, 15 s later.
        let both = |delay| [contact(0, 3, 100, 160, delay), contact(3, 0, 100, 160, delay)];
        let allowed = |delay| {
            let mut planned = ion(&both(delay), &[("reception", "planned".into()), ("outbound", 1.0.into())]);
            (0..=1000).rev().find(|size| stores(&mut *planned, 0, *size, 0.0))
        };
        assert_eq!((allowed(0), allowed(15)), (Some(1000), Some(1000)));
        // With a buffer that nothing empties first, they come on top.
        let mut planned =
            ion(&[contact(3, 0, 100, 115, 15)], &[("reception", "planned".into()), ("outbound", 1.0.into())]);
        assert!(stores(&mut *planned, 0, 850, 114.0) && !stores(&mut *planned, 0, 851, 114.0));
    }

    #[test]
    fn a_plan_that_fills_the_buffer_by_itself_admits_nothing_within_the_horizon() {
        let plan = [contact(3, 0, 1000, 1200, 0)];
        assert!(!stores(&mut *ion(&plan, &[("reception", "planned".into())]), 0, 1, 0.0));
        let near: &[(&str, Value)] = &[("reception", "planned".into()), ("horizon", 1050.0.into())];
        assert!(stores(&mut *ion(&plan, near), 0, 500, 0.0));
        assert!(!stores(&mut *ion(&plan, near), 0, 500, 100.0), "1500 bytes arrive by 1150 s");
        assert!(stores(&mut *ion(&plan, &[("reception", "none".into())]), 0, 500, 0.0));
    }

    #[test]
    fn what_past_contacts_have_brought_is_expected_of_the_next() {
        let plan = [contact(3, 0, 100, 200, 0), contact(3, 0, 300, 400, 0)];
        let mut measured = ion(&plan, &[("outbound", 1.0.into())]);
        assert!(stores(&mut *measured, 0, 1000, 0.0), "nothing is known yet");
        let store = store_of([]);
        let mut received = copy(2, 250);
        received.bundle.source = NodeId(3);
        measured.on_copy(&place(&store, 0, 150.0), &mut received, CopyEvent::Received { from: NodeId(3) });
        // A quarter of 1000 bytes came, so a quarter of the next 1000 is expected.
        assert!(stores(&mut *measured, 0, 750, 200.0) && !stores(&mut *measured, 0, 751, 200.0));
    }

    #[test]
    fn a_revised_plan_is_what_the_forecast_reads() {
        let store = store_of([]);
        let mut planned = ion(&[], &[("reception", "planned".into())]);
        assert!(stores(&mut *planned, 0, 401, 0.0), "no contact is known");
        let plan = Arc::new(ContactPlan::new([contact(3, 0, 100, 160, 0)]));
        planned.on_event(&place(&store, 0, 0.0), &MechanismEvent::PlanRevised { plan: &plan });
        assert!(stores(&mut *planned, 0, 400, 0.0) && !stores(&mut *planned, 0, 401, 0.0));
    }

    #[test]
    fn quotas_bound_what_is_created_here_and_what_is_received() {
        let mut mechanism = ion(&[], &[("outbound", 0.3.into()), ("inbound", 0.4.into())]);
        assert!(stores(&mut *mechanism, 0, 300, 0.0) && !stores(&mut *mechanism, 0, 301, 0.0));
        let store = store_of([copy(1, 300)]);
        let at = place(&store, 0, 0.0);
        mechanism.on_copy(&at, &mut copy(1, 300), CopyEvent::Created);
        let mut offered = |size, destination| {
            let mut replica = copy(3, size);
            (replica.bundle.source, replica.bundle.destination) = (NodeId(5), NodeId(destination));
            mechanism.admit(&at, &Incoming::Offered(&Offer { from: NodeId(5), replica: &replica }))
        };
        assert_eq!(offered(400, 9), Ok(()));
        assert_eq!(offered(401, 9), Err(Refusal::NoSpace));
        assert_eq!(offered(401, 0), Ok(()), "a destination takes what is for it");
        let dropped = copy(1, 300).bundle;
        let event = MechanismEvent::Dropped {
            bundle: &dropped,
            received: Instant::ZERO,
            reason: crate::dtn::DropReason::Expired,
        };
        assert!(!stores(&mut *mechanism, 0, 1, 0.0));
        mechanism.on_event(&at, &event);
        assert!(stores(&mut *mechanism, 0, 300, 0.0));
    }

    #[test]
    fn nothing_stored_makes_room() {
        let store = store_of([copy(1, 900)]);
        let decision = ion(&[], &[]).make_room(&place(&store, 0, 0.0), &copy(2, 200).bundle, None);
        assert_eq!(decision, BufferDecision::Wait);
    }

    proptest! {
        /// The closed form against a buffer that is filled and emptied second by second.
        #[test]
        fn a_forecast_is_a_buffer_that_is_filled_and_emptied(
            contacts in prop::collection::vec((any::<bool>(), 0_i64..100, 1_i64..40, 0_i64..20), 0..8),
            size in 0_u64..1000,
            now in 0_i64..60,
        ) {
            let one = |(index, (sends, start, length, delay)): (usize, &(bool, i64, i64, i64))| {
                let peer = 1 + index as u32;
                let (from, to) = if *sends { (0, peer) } else { (peer, 0) };
                contact(from, to, *start, start + length, *delay)
            };
            let plan: Vec<_> = contacts.iter().enumerate().map(one).collect();
            let mut level = size as f64;
            let mut most = level;
            for second in now..250 {
                let active = |c: &&PlannedContact| {
                    let delay = if c.to == NodeId(0) { c.delay } else { Duration::ZERO };
                    let middle = Instant::from_secs_f64(second as f64 + 0.5);
                    (c.start + delay..c.end + delay).contains(&middle)
                };
                let growth: f64 = plan.iter().filter(active).map(|c| if c.to == NodeId(0) { 10.0 } else { -10.0 }).sum();
                level = (level + growth).max(0.0);
                most = most.max(level);
            }
            let given: &[(&str, Value)] = &[("reception", "planned".into()), ("outbound", 1.0.into())];
            let stored = stores(&mut *ion(&plan, given), 0, size, now as f64);
            prop_assert_eq!(stored, most <= 1000.0);
        }
    }
}
