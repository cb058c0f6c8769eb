//! What the study runs.

/// One scenario file and what is set otherwise in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSet {
    /// The file, below `scenarios/papers`.
    pub file: &'static str,
    /// Keys and their values in TOML, as `lightlag sweep --set key=value` takes them.
    pub set: Vec<(&'static str, &'static str)>,
}

/// All that the study runs; cells that two sets share are run once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether it is a quick look with fewer seeds, fewer points and shorter runs.
    pub quick: bool,
    /// The sets, in order.
    pub sets: Vec<RunSet>,
}

/// Files of the paper's figures. Figures 10 and 11 show other metrics of figure 9's runs: their files say the same
/// but for the name, so that each figure can be run alone, and the plan leaves them out.
pub const FIGURE_FILES: [&str; 8] = [
    "dtn_congestion_figure_3.toml",
    "dtn_congestion_figure_5.toml",
    "dtn_congestion_figure_6.toml",
    "dtn_congestion_figure_7.toml",
    "dtn_congestion_figure_8.toml",
    "dtn_congestion_figure_9.toml",
    "dtn_congestion_figure_10.toml",
    "dtn_congestion_figure_11.toml",
];
/// Receipts and memory of drops switched on in figure 9's cells.
pub const SWITCHES_FILE: &str = "dtn_congestion_switches.toml";
/// Lifetimes shorter than the run.
pub const LIFETIMES_FILE: &str = "dtn_congestion_lifetimes.toml";

const INTERPLANETARY: [&str; 5] =
    [FIGURE_FILES[0], FIGURE_FILES[1], FIGURE_FILES[2], FIGURE_FILES[3], LIFETIMES_FILE];
const TERRESTRIAL: [&str; 3] = [FIGURE_FILES[4], FIGURE_FILES[5], SWITCHES_FILE];

/// Every node sends to every other, where the files let the base station send to the rovers.
const ALL_TO_ALL: [(&str, &str); 2] = [("traffic.messages.from", "all"), ("traffic.messages.to", "all")];

/// The plan of the study, whole or as a quick look.
pub fn plan(quick: bool) -> Plan {
    let sets = if quick { quick_sets() } else { whole_sets() };
    Plan { quick, sets }
}

impl Plan {
    /// The files, each once.
    pub fn files(&self) -> Vec<&'static str> {
        let mut files: Vec<&str> = Vec::new();
        for set in &self.sets {
            if !files.contains(&set.file) {
                files.push(set.file);
            }
        }
        files
    }

    /// What a reader must know before believing a quick look.
    pub fn warnings(&self) -> Vec<String> {
        if !self.quick {
            return Vec::new();
        }
        vec![
            "This is a quick look, not the study: three seeds instead of five, fewer points on each axis, one \
             reading of the interplanetary scenario, and two hours instead of twelve on Earth. Run it without --quick \
             before believing a verdict."
                .to_string(),
        ]
    }
}

fn whole_sets() -> Vec<RunSet> {
    let planets = INTERPLANETARY
        .iter()
        .flat_map(|file| [RunSet { file, set: Vec::new() }, RunSet { file, set: ALL_TO_ALL.to_vec() }]);
    planets.chain(TERRESTRIAL.iter().map(|file| RunSet { file, set: Vec::new() })).collect()
}

fn quick_sets() -> Vec<RunSet> {
    const PERIODS: (&str, &str) = ("traffic.messages.interval", r#"["1..100 s", "1..300 s", "1..500 s"]"#);
    const PIPELINED: (&str, &str) = ("world.propagation", "pipelined");
    const FIRST_TABLE: (&str, &str) = ("contacts.plan.file", "contacts/S_Contact1.csv");
    const THREE_SEEDS: (&str, &str) = ("seeds", "[1, 2, 3]");
    const GAPS: (&str, &str) = (
        "contacts.plan.file",
        r#"["contacts/S_Contact1.csv", "contacts/S_Contact3.csv", "contacts/S_Contact5.csv"]"#,
    );
    const LENGTHS: (&str, &str) = (
        "contacts.plan.file",
        r#"["contacts/S_Dur1000.csv", "contacts/S_Dur3000.csv", "contacts/S_Dur5000.csv"]"#,
    );
    const BUFFERS: (&str, &str) = ("buffer", r#"["1000 kB", "3000 kB", "5000 kB", "8000 kB"]"#);
    let earth = [THREE_SEEDS, ("duration", "2 h")];
    vec![
        RunSet { file: FIGURE_FILES[0], set: vec![THREE_SEEDS, PIPELINED, FIRST_TABLE, PERIODS] },
        RunSet { file: FIGURE_FILES[1], set: vec![THREE_SEEDS, PIPELINED, GAPS] },
        RunSet { file: FIGURE_FILES[2], set: vec![THREE_SEEDS, PIPELINED, FIRST_TABLE, BUFFERS] },
        RunSet { file: FIGURE_FILES[3], set: vec![THREE_SEEDS, PIPELINED, LENGTHS] },
        RunSet { file: LIFETIMES_FILE, set: vec![THREE_SEEDS, PIPELINED, FIRST_TABLE] },
        RunSet { file: FIGURE_FILES[4], set: [&earth[..], &[PERIODS]].concat() },
        RunSet { file: FIGURE_FILES[5], set: earth.to_vec() },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_leaves_out_figures_that_share_their_runs() {
        for quick in [true, false] {
            let files = plan(quick).files();
            assert!(files.contains(&FIGURE_FILES[5]));
            assert!(!files.contains(&FIGURE_FILES[6]) && !files.contains(&FIGURE_FILES[7]));
        }
    }

    #[test]
    fn a_quick_look_says_so() {
        assert!(plan(true).warnings()[0].contains("quick look"));
        assert!(plan(false).warnings().is_empty());
    }
}
