//! What captures show of congestion control: flows, round trips, losses with the reaction to each, pauses
//! with their cause.
//!
//! A capture is read once, in bounded memory: state per flow, number of flows and points of a series have
//! limits. Definitions follow tcptrace where it has them, so that figures can be compared:
//! round trips are those from a segment to the acknowledgement that ends with it, if it was sent once
//! and nothing below it was sent again since (Karn's rule).

/// Declares an enum whose variants have names, as people write them.
macro_rules! named {
    ($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])+ $variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $kind { $($(#[$doc])+ $variant,)+ }

        impl $kind {
            /// All.
            pub const ALL: &[Self] = &[$(Self::$variant),+];
            /// As people write it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

mod anomalies;
mod dccp;
mod figures;
mod file;
mod flight;
mod flow;
mod graph;
mod half;
mod layers;
mod ltp;
mod messages;
mod moments;
mod ndn;
mod notes;
mod pauses;
mod reaction;
mod sctp;
mod series;
mod table;
mod tcp;
mod tcp_header;
mod tcpcl;
#[cfg(test)]
mod tests;
mod udpdtn;
mod window;

pub use figures::{Analysed, FlowFigures, HalfFigures};
pub use file::{CaptureFile, Error, Record};
pub use flow::Protocol;
pub use graph::Graph;
pub use layers::{Datagram, Endpoint, datagram};
pub use messages::{Kind, MessageFigures};
pub use pauses::{Cause, Pause, Pauses};
pub use reaction::{Answer, Found, Loss, Losses};
pub use series::{Cell, Series};
pub use table::{Filter, Options};
pub use tcp_header::Unwrap;

use notes::Notes;
use std::io::Read;
use table::Table;

/// Packets that are analysed as they pass.
pub struct Analysis(Table);

impl Analysis {
    /// Nothing has passed yet.
    pub fn new(options: Options) -> Self {
        Self(Table::new(options))
    }
    /// The next packet.
    #[inline]
    pub fn watch(&mut self, record: &Record) {
        self.0.on_record(record);
    }
    /// What all of them show.
    pub fn finish(self) -> Analysed {
        self.finish_with(&Notes::default())
    }
    /// The same, of a file with notes of its own.
    fn finish_with(self, of_file: &Notes) -> Analysed {
        let mut notes = of_file.clone();
        notes.add(&self.0.notes);
        figures::analysed(self.0, &notes)
    }
}

/// Analyses a capture.
///
/// # Errors
/// It is not a capture, cannot be read, or does not have the interface that is wanted.
pub fn analyse(from: impl Read, options: Options) -> Result<Analysed, Error> {
    let mut file = CaptureFile::open_only(from, options.interface.as_deref())?;
    let mut analysis = Analysis::new(options);
    while let Some(record) = file.next_record()? {
        analysis.watch(&record);
    }
    Ok(analysis.finish_with(&file.notes))
}
