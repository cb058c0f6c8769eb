//! Kinds of violations, and the account of what was found.

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

/// Enough to see what is wrong; a broken world can violate at every record.
const MOST_KEPT: usize = 1_000;

/// What was found so far: all of it counted by kind, the first of it kept.
#[derive(Clone, Debug)]
pub(super) struct Findings<V> {
    kept: Vec<V>,
    counts: Vec<u64>,
}

impl<V> Findings<V> {
    /// Nothing, of so many kinds.
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
