//! Files by name in memory, in place of a file system: a page has none.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The bytes of files by their names. A scenario names files relative to its folder, or to where the program runs.
#[derive(Clone, Debug, Default)]
pub struct GivenFiles(Arc<BTreeMap<PathBuf, Arc<[u8]>>>);

thread_local! {
    static GIVEN: RefCell<Option<GivenFiles>> = const { RefCell::new(None) };
    static NAMED: RefCell<Option<BTreeSet<PathBuf>>> = const { RefCell::new(None) };
}

/// Does `work` and lists the regular files that this thread has read or found in it: those that a scenario names, when its points
/// are read. Nothing is listed within [`GivenFiles::within`].
pub fn named_files<T>(work: impl FnOnce() -> T) -> (T, BTreeSet<PathBuf>) {
    /// Puts back what was there before, also when `work` panics.
    struct Back(Option<BTreeSet<PathBuf>>);
    impl Drop for Back {
        fn drop(&mut self) {
            NAMED.set(self.0.take());
        }
    }
    let back = Back(NAMED.replace(Some(BTreeSet::new())));
    let done = work();
    let named = NAMED.take().unwrap_or_default();
    drop(back);
    (done, named)
}

/// Lists a regular file for [`named_files`].
pub(crate) fn name(path: &Path) {
    NAMED.with_borrow_mut(|named| {
        if let Some(named) = named.as_mut().filter(|_| path.is_file()) {
            named.insert(path.to_owned());
        }
    });
}

impl GivenFiles {
    /// From names and bytes; of two with one name the later counts.
    pub fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self(Arc::new(
            files.into_iter().map(|(name, bytes)| (plain(Path::new(&name)), bytes.into())).collect(),
        ))
    }
    /// Does `work`, in which this thread reads these files and no others: scenarios, and setups of their runs.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Puts back what was there before, also when `work` panics.
        struct Back(Option<GivenFiles>);
        impl Drop for Back {
            fn drop(&mut self) {
                GIVEN.set(self.0.take());
            }
        }
        let _back = Back(GIVEN.replace(Some(self.clone())));
        work()
    }
    /// Those that this thread reads in place of the file system, if any.
    pub(crate) fn now() -> Option<Self> {
        GIVEN.with_borrow(Clone::clone)
    }
    /// The bytes of a file.
    pub(crate) fn get(&self, path: &Path) -> Option<&Arc<[u8]>> {
        self.0.get(&plain(path))
    }
}

/// Whether a path names a file.
pub(crate) fn is_file(path: &Path) -> bool {
    let Some(given) = GivenFiles::now() else {
        name(path);
        return path.is_file();
    };
    given.get(path).is_some()
}

/// The files whose names are like a pattern of shells.
///
/// # Errors
/// A pattern that makes no sense, or a folder that cannot be read, in a line.
pub(crate) fn like(pattern: &Path) -> Result<Vec<PathBuf>, String> {
    let Some(given) = GivenFiles::now() else {
        let found = glob::glob(&pattern.display().to_string()).map_err(|error| error.to_string())?;
        let mut found = found.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        found.retain(|path| is_file(path));
        return Ok(found);
    };
    let pattern =
        glob::Pattern::new(&plain(pattern).display().to_string()).map_err(|error| error.to_string())?;
    let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::default() };
    let all = given.0.keys().filter(|path| pattern.matches_path_with(path, options));
    Ok(all.cloned().collect())
}

/// The same path without `.` and, as far as possible, `..`.
fn plain(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if short.file_name().is_some() => {
                short.pop();
            }
            other => short.push(other),
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalogue, ScenarioFile};

    const TEXT: &str = r#"
        duration = "1 h"
        router = "epidemic"
        buffer = "1 MB"
        [nodes.walker]
        count = 3
        mobility = { model = "map_walk", map = "maps/roads.wkt", speed = "1..2 m/s", pause = "0 s" }
        radio = { range = "100 m", rate = "1 Mbit/s" }
        [traffic.mail]
        interval = "60 s"
        size = "1 kB"
        lifetime = "1 h"
    "#;

    fn setup(files: &[(&str, &str)]) -> Result<usize, String> {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
        GivenFiles::new(files)
            .within(|| {
                let file =
                    ScenarioFile::from_toml("a/b/s.toml", TEXT, "a/b".into(), Catalogue::default().into())?;
                let points = file.points()?;
                let network = points.list[0].scenario.bundles().expect("it has nodes").clone();
                Ok(network.setup(file.seeds()?[0])?.nodes.len())
            })
            .map_err(|error: crate::Error| error.to_string())
    }

    #[test]
    fn a_scenario_reads_given_files_and_no_others() {
        const ROADS: &str = "LINESTRING (0 0, 100 0, 100 100)";
        assert_eq!(setup(&[("a/b/maps/roads.wkt", ROADS)]), Ok(3), "relative to the scenario");
        assert_eq!(
            setup(&[("./maps/../maps/roads.wkt", ROADS)]),
            Ok(3),
            "relative to where the program runs"
        );
        let missing = setup(&[("roads.wkt", ROADS)]).unwrap_err();
        assert!(missing.contains("cannot find the file `a/b/maps/roads.wkt`"), "{missing}");
        assert!(is_file(Path::new("Cargo.toml")), "after that the file system is back");
    }

    #[test]
    fn a_name_with_a_star_stands_for_given_files_of_its_folder() {
        let files = ["t/day1.csv", "t/day2.csv", "t/more/day3.csv", "day4.csv"];
        let given = GivenFiles::new(files.map(|name| (name.to_owned(), Vec::new())));
        let found = given.within(|| like(Path::new("./t/day*.csv")));
        assert_eq!(found, Ok(vec!["t/day1.csv".into(), "t/day2.csv".into()]));
    }

    #[test]
    fn the_files_that_a_scenario_names_are_listed_before_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("maps")).unwrap();
        let road = folder.path().join("maps/roads.wkt");
        std::fs::write(&road, "LINESTRING (0 0, 100 0, 100 100)").unwrap();
        let read = || {
            let catalogue = Catalogue::default().into();
            ScenarioFile::from_toml("s.toml", TEXT, folder.path().into(), catalogue)?.points()
        };
        let (points, named) = named_files(read);
        assert_eq!((points.unwrap().list.len(), named), (1, [road.clone()].into()));
        assert!(named_files(|| is_file(Path::new("/missing"))).1.is_empty());
        let given = GivenFiles::new([(road.display().to_string(), Vec::new())]);
        assert!(named_files(|| given.within(|| is_file(&road))).1.is_empty());
    }

    #[test]
    fn of_paths_only_the_shortest_form_counts() {
        for (path, short) in [("./a", "a"), ("a/./b/../c", "a/c"), ("../a", "../a"), ("a/..", "")] {
            assert_eq!(plain(Path::new(path)), Path::new(short), "{path}");
        }
    }
}
