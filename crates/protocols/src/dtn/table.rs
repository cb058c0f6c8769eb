//! State that peers exchange: numbers under keys.

use crate::units::Bytes;
use thiserror::Error;

/// A small sorted table of numbers: delivery predictabilities, counters, forwarding numbers.
///
/// A world hands it over as a value; a node sends [`Table::to_bytes`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table(Vec<(u64, f64)>);

/// Why bytes are not a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// Truncated or not of the encoding.
    #[error("state table: {0} bytes that are not a list of (key, number) pairs")]
    Malformed(usize),
    /// Keys must ascend strictly, so that every table has one encoding.
    #[error("state table: key {0} does not come after the key before it")]
    Unsorted(u64),
}

impl Table {
    /// The number under `key`.
    pub fn get(&self, key: u64) -> Option<f64> {
        self.0.binary_search_by_key(&key, |row| row.0).ok().map(|i| self.0[i].1)
    }
    /// Sets the number under `key`. Appending in ascending order is cheap.
    pub fn set(&mut self, key: u64, number: f64) {
        if self.0.last().is_none_or(|last| last.0 < key) {
            return self.0.push((key, number));
        }
        match self.0.binary_search_by_key(&key, |row| row.0) {
            Ok(i) => self.0[i].1 = number,
            Err(i) => self.0.insert(i, (key, number)),
        }
    }
    /// All rows, by ascending key.
    pub fn iter(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.0.iter().copied()
    }
    /// The bytes that a node sends: a count, then a varint key and a 64-bit float per row.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.0).unwrap_or_default()
    }
    /// How many bytes a node sends: those of [`Table::to_bytes`].
    pub fn size(&self) -> Bytes {
        Bytes(self.to_bytes().len() as u64)
    }
    /// Reads what [`Table::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`TableError`] for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TableError> {
        let malformed = || TableError::Malformed(bytes.len());
        let (rows, rest): (Vec<(u64, f64)>, _) = postcard::take_from_bytes(bytes).map_err(|_| malformed())?;
        if !rest.is_empty() {
            return Err(malformed());
        }
        match rows.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            Some(pair) => Err(TableError::Unsorted(pair[1].0)),
            None => Ok(Self(rows)),
        }
    }
}

impl FromIterator<(u64, f64)> for Table {
    fn from_iter<I: IntoIterator<Item = (u64, f64)>>(rows: I) -> Self {
        let mut table = Self::default();
        rows.into_iter().for_each(|(key, number)| table.set(key, number));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_table_survives_the_way_over_the_wire(rows in prop::collection::btree_map(any::<u64>(), -1e9..1e9_f64, 0..40)) {
            let table: Table = rows.into_iter().collect();
            prop_assert_eq!(Table::from_bytes(&table.to_bytes()), Ok(table));
        }

        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Table::from_bytes(&bytes);
        }
    }
}
