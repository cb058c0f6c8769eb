//! What others measured: the paper, and a reference of ours that shares no code with the program.

/// Who measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// As printed in section VI-A.
    Paper,
    /// ndnSIM 2.8 with the paper's topology and edges of 100 Mbit/s; full frames have 1073 B there.
    NdnSim,
    /// A packet-level sketch in another language, written from the paper; packets of 1058 B.
    Sketch,
}

impl Source {
    /// As tables name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::NdnSim => "ndnSIM 2.8",
            Self::Sketch => "packet-level sketch",
        }
    }
}

/// One run of 60 s over the path of section VI-A.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// Which protocol under which reading.
    pub variant: &'static str,
    /// Who measured.
    pub source: Source,
    /// In Mbit/s.
    pub goodput: f64,
    /// How many, where it was reported.
    pub timeouts: Option<u32>,
    /// Median queueing delay in milliseconds, where it was reported.
    pub queueing_ms: Option<f64>,
}

const fn fact(
    variant: &'static str,
    source: Source,
    goodput: f64,
    timeouts: Option<u32>,
    queueing_ms: Option<f64>,
) -> Fact {
    Fact { variant, source, goodput, timeouts, queueing_ms }
}

use Source::{NdnSim, Paper, Sketch};

/// All of them.
pub const FACTS: [Fact; 17] = [
    fact("dcp", Paper, 9.3, Some(0), None),
    fact("dcp, no resets", NdnSim, 9.228, Some(0), None),
    fact("dcp, no resets", Sketch, 9.287, Some(0), Some(49.8)),
    fact("dcp", Sketch, 9.287, Some(0), Some(49.8)),
    fact("dcp, MAD as printed", Sketch, 7.862, Some(12), Some(18.0)),
    fact("dcp, slow start", Sketch, 9.201, Some(221), Some(49.8)),
    fact("dcp, MAD as printed, slow start", Sketch, 4.498, Some(15_028), None),
    fact("dcp, flight after removal", Sketch, 0.268, Some(0), Some(0.0)),
    fact("ledbat", Sketch, 9.287, Some(0), Some(49.8)),
    fact("ledbat, 100 ms", Sketch, 9.270, Some(6), Some(31.0)),
    fact("aimd, each timeout", Paper, 8.7, None, None),
    fact("aimd, each timeout", NdnSim, 8.608, Some(14), None),
    fact("aimd, each timeout", Sketch, 8.622, Some(14), Some(19.0)),
    fact("aimd, each timeout, slow start", NdnSim, 6.711, Some(268), None),
    fact("aimd, each timeout, slow start", Sketch, 8.564, Some(235), Some(20.0)),
    fact("aimd, no slow start", Sketch, 9.288, Some(18), Some(27.0)),
    fact("aimd", Sketch, 9.606, Some(287), Some(29.0)),
];

/// Highest possible goodput in Mbit/s over 60 s: 1024 B of content in packets of 1058 B, from when the first
/// Data can have come.
pub const CEILING: f64 = 10.0 * 1024.0 / 1058.0 * (60.0 - 0.061) / 60.0;
