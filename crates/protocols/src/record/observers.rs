/// Makes the trait `Observer` for a `Record`, and implements it for `()`, pairs, references, `Option` and `Vec`.
/// A named flag says whether the observer needs packets; a run is faster without.
macro_rules! observers {
    ($record:ident $(, $flag:ident)?) => {
        /// Watches a run.
        pub trait Observer {
            $(
                /// Whether it wants to see packets; the run is faster without.
                const $flag: bool;
            )?
            /// Something happened at `now`.
            fn on_record(&mut self, now: Instant, record: &$record);
        }

        impl Observer for () {
            $(const $flag: bool = false;)?
            #[inline(always)]
            fn on_record(&mut self, _: Instant, _: &$record) {}
        }

        /// Two observers; the first is called first.
        impl<A: Observer, B: Observer> Observer for (A, B) {
            $(const $flag: bool = A::$flag || B::$flag;)?
            #[inline(always)]
            fn on_record(&mut self, now: Instant, record: &$record) {
                self.0.on_record(now, record);
                self.1.on_record(now, record);
            }
        }

        /// An observer that may be absent.
        impl<O: Observer> Observer for Option<O> {
            $(const $flag: bool = O::$flag;)?
            #[inline(always)]
            fn on_record(&mut self, now: Instant, record: &$record) {
                if let Some(observer) = self {
                    observer.on_record(now, record);
                }
            }
        }

        /// Any number of observers, called in their order.
        impl<O: Observer> Observer for Vec<O> {
            $(const $flag: bool = O::$flag;)?
            #[inline]
            fn on_record(&mut self, now: Instant, record: &$record) {
                self.iter_mut().for_each(|observer| observer.on_record(now, record));
            }
        }

        impl<O: Observer + ?Sized> Observer for &mut O {
            $(const $flag: bool = O::$flag;)?
            #[inline(always)]
            fn on_record(&mut self, now: Instant, record: &$record) {
                (**self).on_record(now, record);
            }
        }
    };
}

pub(crate) use observers;
