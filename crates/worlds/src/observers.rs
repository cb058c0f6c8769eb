//! Who watches a run: one trait in each world whose records are borrowed from it.

/// Makes the trait `Observer` of a world for its `Record`, for nobody, for two, and for one that may be absent.
macro_rules! observers {
    ($record:ident) => {
        /// Watches a run.
        pub trait Observer {
            /// Whether it wants to see packets; the run is faster without.
            const PACKETS: bool;
            /// Something happened.
            fn on_record(&mut self, now: Instant, record: &$record);
        }

        impl Observer for () {
            const PACKETS: bool = false;
            fn on_record(&mut self, _: Instant, _: &$record) {}
        }

        /// Two observers, the first told first.
        impl<A: Observer, B: Observer> Observer for (A, B) {
            const PACKETS: bool = A::PACKETS || B::PACKETS;
            #[inline]
            fn on_record(&mut self, now: Instant, record: &$record) {
                self.0.on_record(now, record);
                self.1.on_record(now, record);
            }
        }

        /// An observer that may be absent.
        impl<O: Observer> Observer for Option<O> {
            const PACKETS: bool = O::PACKETS;
            #[inline]
            fn on_record(&mut self, now: Instant, record: &$record) {
                if let Some(observer) = self {
                    observer.on_record(now, record);
                }
            }
        }

        impl<O: Observer + ?Sized> Observer for &mut O {
            const PACKETS: bool = O::PACKETS;
            #[inline]
            fn on_record(&mut self, now: Instant, record: &$record) {
                (**self).on_record(now, record);
            }
        }
    };
}

pub(crate) use observers;
