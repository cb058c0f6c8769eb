//! Kinds of violations, and the findings by kind.

use super::packets::name;
use super::wire::{Fault, LinkState, Teller};
use lightlag_protocols::dtn::{BundleId, NodeId};
use lightlag_protocols::time::Instant;
use std::fmt;

/// Makes the `Kind`s of a judge, each with its name: three that every judge has, and its own.
macro_rules! kinds {
    ($($(#[$doc:meta])+ $kind:ident = $name:literal,)+) => {
        /// What is wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            /// A record is earlier than the one before it.
            TimeBackwards,
            /// Something happens after the end of the run.
            AfterEnd,
            /// The trace stops before the run is over.
            EndMissing,
            $($(#[$doc])+ $kind,)+
        }

        impl Kind {
            /// Every kind, in order.
            pub const ALL: &[Self] = &[Self::TimeBackwards, Self::AfterEnd, Self::EndMissing, $(Self::$kind,)+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::TimeBackwards => "time_backwards",
                    Self::AfterEnd => "after_end",
                    Self::EndMissing => "end_missing",
                    $(Self::$kind => $name,)+
                }
            }
        }

        impl std::fmt::Display for Kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl $crate::findings::Kinds for Kind {
            const COUNT: usize = Self::ALL.len();
            const TIME_BACKWARDS: Self = Self::TimeBackwards;
            const AFTER_END: Self = Self::AfterEnd;
            const END_MISSING: Self = Self::EndMissing;
            fn index(self) -> usize {
                self as usize
            }
        }
    };
}
pub(super) use kinds;

/// As [`kinds!`], and all that links can do wrong.
macro_rules! kinds_with_links {
    ($($kinds:tt)*) => {
        $crate::findings::kinds! {
            $($kinds)*

            /// A packet comes out of a link to which it was not offered.
            OutOfThinAir = "out_of_thin_air",
            /// A packet comes before light could bring it.
            FasterThanLight = "faster_than_light",
            /// A packet comes before the rate of the link allows, beside those before it.
            OverRate = "over_rate",
            /// A packet leaves before one that waits and has a lower number of priority.
            Overtaken = "overtaken",
            /// A packet should have come, and has neither come nor been dropped.
            NeverArrived = "never_arrived",
            /// A queue holds more than its size.
            Overfull = "overfull",
            /// A packet is dropped that is not there.
            NothingToDrop = "nothing_to_drop",
            /// A packet is dropped for lack of room, and another one has to make room.
            WrongVictim = "wrong_victim",
            /// A packet is dropped for lack of room where there is room.
            DroppedEarly = "dropped_early",
            /// A packet is lost on a link that loses none, or dropped by a discipline that never does that.
            DroppedWithoutCause = "dropped_without_cause",
        }
        $crate::findings::from_faults!(
            OutOfThinAir FasterThanLight OverRate Overtaken NeverArrived
            Overfull NothingToDrop WrongVictim DroppedEarly DroppedWithoutCause
        );
    };
}
pub(super) use kinds_with_links;

macro_rules! from_faults {
    ($($fault:ident)+) => {
        impl From<$crate::wire::Fault> for Kind {
            fn from(fault: $crate::wire::Fault) -> Self {
                match fault { $($crate::wire::Fault::$fault => Self::$fault,)+ }
            }
        }
    };
}
pub(super) use from_faults;

/// The kinds of violations of one judge.
pub trait Kinds: Copy + fmt::Display {
    /// Number of kinds.
    const COUNT: usize;
    /// A record is earlier than the one before it.
    const TIME_BACKWARDS: Self;
    /// Something happens after the end of the run.
    const AFTER_END: Self;
    /// The trace stops before the run is over.
    const END_MISSING: Self;
    /// Its place among the kinds, from 0.
    fn index(self) -> usize;
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Its detail names the place, if there is one.
    Nothing,
    /// One node.
    Node(NodeId),
    /// Two nodes; the first is the sender, or was named first.
    Pair(NodeId, NodeId),
    /// A copy of a bundle at a node.
    Copy(NodeId, BundleId),
    /// A transfer of a bundle from the first node to the second.
    Transfer(NodeId, NodeId, BundleId),
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Nothing => Ok(()),
            Self::Node(node) => write!(f, ", node {}", node.0),
            Self::Pair(a, b) => write!(f, ", nodes {} and {}", a.0, b.0),
            Self::Copy(node, id) => write!(f, ", bundle {}, node {}", id.0, node.0),
            Self::Transfer(from, to, id) => write!(f, ", bundle {}, nodes {} and {}", id.0, from.0, to.0),
        }
    }
}

/// One thing that cannot have happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<K> {
    /// What is wrong.
    pub kind: K,
    /// When.
    pub at: Instant,
    /// Where, and with which bundle.
    pub about: About,
    /// The numbers behind it, in words; may be empty.
    pub detail: String,
}

impl<K: fmt::Display> fmt::Display for Finding<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s: {}{}", self.at.as_secs_f64(), self.kind, self.about)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

/// Enough to see what is wrong; a broken world can violate at every record.
const MOST_KEPT: usize = 1_000;

/// Findings so far, and the time that the records have reached: all findings are counted by kind, the first
/// thousand are kept.
#[derive(Clone, Debug)]
pub struct Findings<K> {
    pub(super) now: Instant,
    /// The run is over.
    pub(super) ended: bool,
    kept: Vec<Finding<K>>,
    counts: Vec<u64>,
}

impl<K: Kinds> Findings<K> {
    pub(super) fn new() -> Self {
        Self { now: Instant::ZERO, ended: false, kept: Vec::new(), counts: vec![0; K::COUNT] }
    }
    /// The violations in the order in which they were found; only the first thousand are kept.
    pub fn kept(&self) -> &[Finding<K>] {
        &self.kept
    }
    /// Number of violations, including those that were not kept.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
    /// Number of violations of a kind.
    pub fn count(&self, kind: K) -> u64 {
        self.counts[kind.index()]
    }
    #[cold]
    pub(super) fn add_about(&mut self, kind: K, about: About, detail: impl FnOnce() -> String) {
        self.counts[kind.index()] += 1;
        if self.kept.len() < MOST_KEPT {
            self.kept.push(Finding { kind, at: self.now, about, detail: detail() });
        }
    }
    #[cold]
    pub(super) fn add(&mut self, kind: K, detail: impl FnOnce() -> String) {
        self.add_about(kind, About::Nothing, detail);
    }
    /// The next record is of this instant; the run ends at `until` at the latest.
    #[inline]
    pub(super) fn advance(&mut self, now: Instant, until: Instant) {
        let before = std::mem::replace(&mut self.now, now);
        if now < before {
            self.add(K::TIME_BACKWARDS, || format!("after {before:?}"));
        }
        if self.ended || now > until {
            self.add(K::AFTER_END, || format!("the run ends at {until:?} at the latest"));
        }
    }
    /// No more records will come: a trace without an end record is incomplete.
    pub(super) fn close(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            self.add(K::END_MISSING, || "the trace has no end".to_owned());
        }
    }
    /// Looks at a link; adds the faults that this shows.
    #[inline]
    pub(super) fn at_link<T>(
        &mut self,
        (links, names): (&mut [LinkState], &[String]),
        link: u32,
        look: impl FnOnce(&mut LinkState, Teller) -> T,
    ) -> T
    where
        K: From<Fault>,
    {
        let now = self.now;
        let mut hear = |fault: Fault, detail: String| {
            self.add(fault.into(), || format!("{}: {detail}", name(names, "link", link)));
        };
        look(&mut links[link as usize], Teller { now, hear: &mut hear })
    }
}
