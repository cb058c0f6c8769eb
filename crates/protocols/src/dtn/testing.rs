//! What the unit tests of algorithms stand on: a place and copies with round numbers.

use super::{
    BuildContext, Built, Bundle, BundleId, Entry, Kind, Local, NodeId, Parameters, Replica, Store, Value,
};
use crate::time::Instant;
use crate::units::Bytes;

/// Node `node` at `seconds`, without links or oracle.
pub fn place(store: &Store, node: u32, seconds: f64) -> Local<'_> {
    Local {
        now: Instant::from_secs_f64(seconds),
        node: NodeId(node),
        store,
        links: &[],
        application_free: Bytes(u64::MAX),
        census: None,
    }
}

/// A new copy of bundle `id` from node 0 to node 9.
pub fn copy(id: u32, size: u64) -> Replica {
    Replica {
        bundle: Bundle {
            id: BundleId(id),
            source: NodeId(0),
            destination: NodeId(9),
            size: Bytes(size),
            created: Instant::ZERO,
            expires: Instant::MAX,
        },
        received: Instant::ZERO,
        hops: 0,
        sending: 0,
        router_mark: 0,
        mechanism_mark: 0,
        path: Default::default(),
    }
}

/// A buffer of 1000 bytes that holds `copies`.
pub fn store_of(copies: impl IntoIterator<Item = Replica>) -> Store {
    let mut store = Store::new(Bytes(1000));
    copies.into_iter().for_each(|replica| store.insert(replica));
    store
}

/// An algorithm of a table for node 0 of ten, with `given` instead of its defaults.
pub fn built<A: ?Sized + Kind>(entry: &Entry<A>, given: &[(&str, Value)]) -> Box<A> {
    built_with_properties(entry, given).algorithm
}

/// The same, and its properties.
pub fn built_with_properties<A: ?Sized + Kind>(entry: &Entry<A>, given: &[(&str, Value)]) -> Built<A> {
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let given = Parameters::resolve(entry.name, entry.parameters, &given).unwrap();
    entry.built(&given, BuildContext { nodes: 10, seed: 1, ..BuildContext::default() })
}
