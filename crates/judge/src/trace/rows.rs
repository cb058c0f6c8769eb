//! What happens in a run as rows: for their digest, and for a page.

use super::{Columns, NameRow, Names, PacketRow, Row, TraceRow, Value};
use crate::{names, packets};
use lightlag_protocols::record;
use lightlag_protocols::time::Instant;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::marker::PhantomData;

/// Takes rows, in the order in which things happen.
pub trait RowSink<R> {
    /// The next row.
    fn put(&mut self, row: &R);
}

impl<R, S: RowSink<R>> RowSink<R> for &mut S {
    fn put(&mut self, row: &R) {
        (**self).put(row);
    }
}

/// An observer that makes rows of what happens.
#[derive(Debug)]
pub struct RowWriter<R, S> {
    names: Names,
    sink: S,
    row: PhantomData<fn(R)>,
}

impl<R: TraceRow, S: RowSink<R>> RowWriter<R, S> {
    /// Rows for `sink`, in a world of these names.
    pub fn new(sink: S, names: Names) -> Self {
        Self { names, sink, row: PhantomData }
    }
    /// `event` happens.
    pub fn put(&mut self, now: Instant, event: &R::Event) {
        self.sink.put(&R::new(now, event, &self.names));
    }
    /// What has taken the rows.
    pub fn sink(&self) -> &S {
        &self.sink
    }
    /// What has taken the rows.
    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }
}

impl<S: RowSink<Row>> record::bundles::Observer for RowWriter<Row, S> {
    fn on_record(&mut self, now: Instant, record: &record::bundles::Record) {
        self.put(now, record);
    }
}

impl<S: RowSink<PacketRow>> record::packets::Observer for RowWriter<PacketRow, S> {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &record::packets::Record) {
        if let Some(event) = packets::Event::of(record) {
            self.put(now, &event);
        }
    }
}

impl<S: RowSink<NameRow>> record::names::Observer for RowWriter<NameRow, S> {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &record::names::Record) {
        if let Some(event) = names::Event::of(record) {
            self.put(now, &event);
        }
    }
}

/// SHA-256 of rows, on every machine the same. Of each row the cells that are no gaps count, in the order of the columns: the
/// number of the column in a byte, counted from 0, then the value in little-endian order, texts after their length in four
/// bytes.
#[derive(Clone, Debug, Default)]
pub struct RowDigest {
    hasher: Sha256,
    bytes: Vec<u8>,
}

/// Bytes that are hashed together.
const CHUNK: usize = 1 << 12;

impl RowDigest {
    /// Of all rows so far, in hexadecimal digits.
    pub fn digits(&self) -> String {
        let digest = self.hasher.clone().chain_update(&self.bytes).finalize();
        digest.iter().fold(String::new(), |mut text, byte| {
            // A string takes whatever is written.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
    fn cell(&mut self, column: u8, value: Value) {
        let to = &mut self.bytes;
        let mut put = |bytes: &[u8]| {
            to.push(column);
            to.extend_from_slice(bytes);
        };
        match value {
            Value::Gap => {}
            Value::U32(number) => put(&number.to_le_bytes()),
            Value::U64(number) => put(&number.to_le_bytes()),
            Value::I64(number) => put(&number.to_le_bytes()),
            Value::F64(number) => put(&number.to_bits().to_le_bytes()),
            Value::Flag(flag) => put(&[flag.into()]),
            Value::Text(text) => {
                put(&(text.len() as u32).to_le_bytes());
                to.extend_from_slice(text.as_bytes());
            }
        }
    }
}

impl<R: Columns> RowSink<R> for RowDigest {
    fn put(&mut self, row: &R) {
        let mut column = 0;
        row.cells(|value| {
            self.cell(column, value);
            column += 1;
        });
        if self.bytes.len() >= CHUNK {
            self.hasher.update(&self.bytes);
            self.bytes.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_sha_256_of_the_cells_that_are_no_gaps() {
        let row = Row { time_ns: 5, kind: "sent".into(), node: Some(7), first: Some(true), ..Row::default() };
        let mut digest = RowDigest::default();
        digest.put(&row);
        let bytes = b"\0\x05\0\0\0\0\0\0\0\x01\x04\0\0\0sent\x02\x07\0\0\0\x0d\x01";
        let right: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest.digits(), right);
        (0..1000).for_each(|_| digest.put(&row));
        let right: String =
            Sha256::digest(bytes.repeat(1001)).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest.digits(), right, "whatever is hashed together");
    }
}
