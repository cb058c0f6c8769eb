//! Kinds of violations, and the findings by kind.

use lightlag_protocols::time::Instant;
use std::fmt;

/// Makes the `Kind`s of a judge, each with its name.
macro_rules! kinds {
    ($($(#[$doc:meta])+ $kind:ident = $name:literal,)+) => {
        /// What is wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[$doc])+ $kind,)+ }

        impl Kind {
            /// Every kind, in order.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)+ }
            }
        }

        impl std::fmt::Display for Kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl From<Kind> for usize {
            fn from(kind: Kind) -> Self {
                kind as Self
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

/// What judges of links have in common: their verdict, their clock, and how they look at a link.
macro_rules! judges_links {
    ($judge:ident) => {
        impl $judge {
            /// The violations in the order in which they were found; only the first thousand are kept.
            pub fn verdict(&self) -> &[Violation] {
                self.found.kept()
            }
            /// How many violations there were, those included that were not kept.
            pub fn total(&self) -> u64 {
                self.found.total()
            }
            /// How many violations of a kind there were.
            pub fn count(&self, kind: Kind) -> u64 {
                self.found.count(kind)
            }
            /// No more events will come: a trace without an end record is incomplete.
            pub fn close(&mut self) {
                if !self.ended {
                    self.ended = true;
                    self.found.add(Kind::EndMissing, self.now, || "the trace has no end".to_owned());
                }
            }
            #[inline]
            fn advance(&mut self, now: Instant) {
                if now < self.now {
                    let before = self.now;
                    self.found.add(Kind::TimeBackwards, now, || format!("after {before:?}"));
                }
                self.now = now;
                if self.ended || now > self.rules.until {
                    let until = self.rules.until;
                    self.found
                        .add(Kind::AfterEnd, now, || format!("the run ends at {until:?} at the latest"));
                }
            }
            #[inline]
            fn at_link<T>(
                &mut self,
                link: u32,
                what: impl FnOnce(&mut $crate::wire::LinkState, $crate::wire::Teller) -> T,
            ) -> T {
                let (names, found, now) = (&self.rules.link_names, &mut self.found, self.now);
                let mut hear = |fault: $crate::wire::Fault, detail: String| {
                    found.add(Kind::from(fault), now, || {
                        format!("{}: {detail}", $crate::packets::name(names, "link", link))
                    });
                };
                what(&mut self.links[link as usize], $crate::wire::Teller { now, hear: &mut hear })
            }
        }
    };
}
pub(super) use judges_links;

/// One thing that cannot have happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<K> {
    /// What is wrong.
    pub kind: K,
    /// When.
    pub at: Instant,
    /// Where, and the numbers behind it, in words.
    pub detail: String,
}

impl<K: fmt::Display> fmt::Display for Finding<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s: {}: {}", self.at.as_secs_f64(), self.kind, self.detail)
    }
}

impl<K: Copy + Into<usize>> Findings<Finding<K>> {
    pub(super) fn add(&mut self, kind: K, at: Instant, detail: impl FnOnce() -> String) {
        self.count_in(kind, || Finding { kind, at, detail: detail() });
    }
}

/// Enough to see what is wrong; a broken world can violate at every record.
const MOST_KEPT: usize = 1_000;

/// Findings so far: all are counted by kind, the first [`MOST_KEPT`] are kept.
#[derive(Clone, Debug)]
pub(super) struct Findings<V> {
    kept: Vec<V>,
    counts: Vec<u64>,
}

impl<V> Findings<V> {
    /// No findings yet; `kinds` is the number of kinds.
    pub(super) fn new(kinds: usize) -> Self {
        Self { kept: Vec::new(), counts: vec![0; kinds] }
    }
    #[cold]
    pub(super) fn count_in(&mut self, kind: impl Into<usize>, violation: impl FnOnce() -> V) {
        self.counts[kind.into()] += 1;
        if self.kept.len() < MOST_KEPT {
            self.kept.push(violation());
        }
    }
    pub(super) fn kept(&self) -> &[V] {
        &self.kept
    }
    pub(super) fn count(&self, kind: impl Into<usize>) -> u64 {
        self.counts[kind.into()]
    }
    pub(super) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}
