//! A part of a sweep that one of several processes runs, wherever they are.

use super::JOURNAL_FILE;
use crate::results::RESULTS_FILE;
use lightlag_scenario::{Error, Place};
use std::path::{Path, PathBuf};

/// The I-th of N parts: of all runs in their order, every N-th from the I-th on. All parts have runs of all points, which
/// evens out how long they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, counted from one.
    index: usize,
    /// Of how many.
    count: usize,
}

/// More processes than anybody starts.
const SHARDS_MAX: usize = 100_000;

impl Shard {
    /// From `2/7`.
    ///
    /// # Errors
    /// A text that names no such part.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let number = |text: &str| text.trim().parse::<usize>().ok();
        let both = text.split_once('/').and_then(|(index, count)| Some((number(index)?, number(count)?)));
        match both {
            Some((index, count)) if (1..=count).contains(&index) && count <= SHARDS_MAX => {
                Ok(Self { index, count })
            }
            _ => Err(Error::new(
                &Place::Option("shard".into()),
                format!("`{text}` does not name a part"),
                format!("parts are written 1/7 to 7/7, of at most {SHARDS_MAX}"),
            )),
        }
    }
    /// Whether the run at this position is one of its runs.
    pub fn has(self, position: usize) -> bool {
        position % self.count == self.index - 1
    }
}

/// The journal of a part, or of a process that runs all.
pub fn journal_of(shard: Option<Shard>) -> String {
    shard.map_or_else(
        || JOURNAL_FILE.to_owned(),
        |Shard { index, count }| format!("runs-{index}-of-{count}.jsonl"),
    )
}

/// The table that belongs to a journal.
pub fn table_of(journal: &Path) -> PathBuf {
    let name = journal.file_name().and_then(|name| name.to_str()).unwrap_or(JOURNAL_FILE);
    let part = name.strip_prefix("runs").and_then(|rest| rest.strip_suffix(".jsonl")).unwrap_or("");
    if part.is_empty() {
        return journal.with_file_name(RESULTS_FILE);
    }
    journal.with_file_name(format!("results{part}.parquet"))
}

/// Whether a file has the name of a journal.
pub fn is_journal(name: &str) -> bool {
    name == JOURNAL_FILE || (name.starts_with("runs-") && name.ends_with(".jsonl"))
}

/// Whether a file has the name of a table.
pub fn is_table(name: &str) -> bool {
    name == RESULTS_FILE || (name.starts_with("results-") && name.ends_with(".parquet"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_run_belongs_to_one_part(count in 1..40_usize, position in 0..10_000_usize) {
            let has = |index: &usize| Shard::parse(&format!("{index}/{count}")).unwrap().has(position);
            prop_assert_eq!((1..=count).filter(has).count(), 1);
        }
    }

    #[test]
    fn other_texts_are_refused_and_files_belong_together() {
        for wrong in ["", "1", "0/3", "4/3", "1/0", "a/3", "-1/3", "1/100001", "1/3/3"] {
            let line = Shard::parse(wrong).unwrap_err().to_string();
            assert!(line.starts_with("--shard: ") && line.contains("1/7 to 7/7"), "{line}");
        }
        let shard = Shard::parse("2/7").ok();
        let journal = journal_of(shard);
        assert!(is_journal(&journal) && is_journal(&journal_of(None)) && !is_journal("runs.json"));
        assert_eq!(
            table_of(Path::new("out").join(journal).as_path()),
            Path::new("out/results-2-of-7.parquet")
        );
        assert!(is_table("results-2-of-7.parquet") && is_table(RESULTS_FILE) && !is_table("trace.parquet"));
    }
}
