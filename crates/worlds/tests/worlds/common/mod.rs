//! A small network in a few words.

pub mod golden;

use lightlag_protocols::dtn::{
    BuildContext, Built, Bundle, BundleId, ContactPlan, Mechanism, NodeId, NodePolicy, Parameter, Parameters,
    mechanisms, routers,
};
use lightlag_protocols::record::bundles::{Observer, Record, ReplyKind};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::contacts::{Channel, Contact, Contacts, Course, Delay};
use lightlag_worlds::messages::{Control, Node, Reply, Revision, Rules, SendOrderKind, Setup, run};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone)]
pub struct Net {
    nodes: u32,
    buffer: u64,
    delay_s: f64,
    lifetime_s: f64,
    contacts: Vec<Contact>,
    bundles: Vec<Bundle>,
    replies: Vec<(u32, Reply)>,
    /// How the rate varies.
    pub course: Course,
    pub router: &'static str,
    /// What nodes know beforehand, if it is not the contacts.
    pub plan: Option<Arc<ContactPlan>>,
    pub revisions: Vec<Revision>,
    pub rules: Rules,
    pub policy: NodePolicy,
    pub mechanism: &'static str,
}

impl Net {
    /// `nodes` nodes with 10 MB each and links of 2.5 Mbit/s; epidemic, no congestion control.
    pub fn new(nodes: u32) -> Self {
        Self {
            nodes,
            buffer: 10_000_000,
            delay_s: 0.0,
            lifetime_s: 1e6,
            contacts: Vec::new(),
            bundles: Vec::new(),
            replies: Vec::new(),
            course: Course::Steady,
            router: "epidemic",
            plan: None,
            revisions: Vec::new(),
            // Times in tests are those of bundles alone.
            rules: Rules { send_order: SendOrderKind::Fifo, control: Control::Instant, ..Rules::default() },
            policy: NodePolicy::default(),
            mechanism: "none",
        }
    }
    pub fn router(self, router: &'static str) -> Self {
        Self { router, ..self }
    }
    pub fn buffer(self, buffer: u64) -> Self {
        Self { buffer, ..self }
    }
    pub fn delay_s(self, delay_s: f64) -> Self {
        Self { delay_s, ..self }
    }
    pub fn lifetime_s(self, lifetime_s: f64) -> Self {
        Self { lifetime_s, ..self }
    }
    pub fn contact(mut self, a: u32, b: u32, start: f64, end: f64) -> Self {
        let [start, end] = [start, end].map(Instant::from_secs_f64);
        self.contacts.push(Contact { a: NodeId(a), b: NodeId(b), start, end, forward: 0, backward: 0 });
        self
    }
    /// A contact without a delay.
    pub fn near(self, a: u32, b: u32, start: f64, end: f64) -> Self {
        let mut net = self.contact(a, b, start, end);
        let contact = net.contacts.last_mut().unwrap();
        (contact.forward, contact.backward) = (2, 2);
        net
    }
    /// A contact over which `b` hears `a`, and `a` nothing.
    pub fn one_way(self, a: u32, b: u32, start: f64, end: f64) -> Self {
        let mut net = self.contact(a, b, start, end);
        net.contacts.last_mut().unwrap().backward = 1;
        net
    }
    pub fn bundle(mut self, from: u32, to: u32, size: u32, at: f64) -> Self {
        let created = Instant::from_secs_f64(at);
        self.bundles.push(Bundle {
            id: BundleId(self.bundles.len() as u32),
            source: NodeId(from),
            destination: NodeId(to),
            size: Bytes(u64::from(size)),
            created,
            expires: created + Duration::from_secs_f64(self.lifetime_s),
        });
        self
    }
    /// The destination of a bundle answers when it first arrives.
    pub fn answered(mut self, request: u32, size: u32, kind: ReplyKind, lifetime_s: f64) -> Self {
        let lifetime = Duration::from_secs_f64(lifetime_s);
        self.replies.push((size, Reply { request: BundleId(request), kind, lifetime }));
        self
    }
    fn all_bundles(&self) -> Vec<Bundle> {
        let mut all = self.bundles.clone();
        for (size, reply) in &self.replies {
            let Bundle { source, destination, .. } = all[reply.request.0 as usize];
            all.push(Bundle {
                id: BundleId(all.len() as u32),
                source: destination,
                destination: source,
                size: Bytes(u64::from(*size)),
                created: Instant::MAX,
                expires: Instant::MAX,
            });
        }
        all
    }
    pub fn run(&self) -> Vec<(f64, Record)> {
        let mechanism = mechanisms::TABLE.iter().find(|e| e.name == self.mechanism).unwrap();
        let parameters = defaults(mechanism.parameters);
        self.run_with(move |context| mechanism.built(&parameters, context))
    }
    /// The same with a mechanism that no table knows.
    pub fn run_with(
        &self,
        mechanism: impl Fn(BuildContext) -> Built<dyn Mechanism> + Send + Sync + 'static,
    ) -> Vec<(f64, Record)> {
        let router = routers::TABLE.iter().find(|e| e.name == self.router).unwrap();
        let for_router = defaults(router.parameters);
        let node = Node {
            buffer: Bytes(self.buffer),
            router: Arc::new(move |context| router.built(&for_router, context)),
            mechanism: Arc::new(mechanism),
            policy: self.policy,
        };
        let delay = Delay::Constant(Duration::from_secs_f64(self.delay_s));
        let rate = BitRate(2_500_000);
        let channel = Channel { rate, course: self.course.clone(), delay };
        let silent = Channel::steady(BitRate(0), channel.delay.clone());
        let near = Channel::steady(rate, Delay::Constant(Duration::ZERO));
        let contacts = Contacts { list: self.contacts.clone(), channels: vec![channel, silent, near] };
        let setup = Setup {
            nodes: vec![node; self.nodes as usize],
            plan: self.plan.clone().unwrap_or_else(|| Arc::new(contacts.plan())),
            revisions: Arc::new(self.revisions.clone()),
            contacts: Arc::new(contacts),
            bundles: Arc::new(self.all_bundles()),
            replies: Arc::new(self.replies.iter().map(|(_, reply)| *reply).collect()),
            until: Instant::from_secs(1000),
            seed: 1,
            rules: self.rules.clone(),
        };
        let mut records = Records::default();
        run(&setup, &mut records);
        records.0
    }
}

fn defaults(declared: &'static [Parameter]) -> Parameters {
    Parameters::resolve("", declared, &BTreeMap::new()).unwrap()
}

#[derive(Default)]
struct Records(Vec<(f64, Record)>);

impl Observer for Records {
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.0.push((now.as_secs_f64(), record.clone()));
    }
}

/// First deliveries: (time in s, bundle).
pub fn delivered(run: &[(f64, Record)]) -> Vec<(f64, u32)> {
    run.iter()
        .filter_map(|(at, record)| match record {
            Record::Delivered { id, first: true, .. } => Some((*at, id.0)),
            _ => None,
        })
        .collect()
}

/// Transfers begun: (time in s, from, to, bundle).
pub fn started(run: &[(f64, Record)]) -> Vec<(f64, u32, u32, u32)> {
    run.iter()
        .filter_map(|(at, record)| match record {
            Record::Started { from, to, id } => Some((*at, from.0, to.0, id.0)),
            _ => None,
        })
        .collect()
}
