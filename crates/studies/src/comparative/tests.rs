use super::cell::{CONTACTS, Cell, PROPAGATION, READING, SETTINGS, USUAL, with};
use super::plan::{FIGURE_FILES, RunSet, SWITCHES_FILE, cells, files, sets};
use super::readings::VARIATIONS;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn papers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/papers")
}

pub(crate) fn cells_of(file: &'static str) -> Vec<Cell> {
    let (cells, seeds) = cells(&RunSet::of(file, &[]), &papers()).unwrap();
    assert_eq!(seeds, 5);
    cells.into_iter().map(|(cell, _)| cell).collect()
}

#[test]
fn the_files_hold_the_cells_that_the_paper_has() {
    let count = |file| cells_of(file).iter().collect::<BTreeSet<_>>().len();
    // Four mechanisms with three routers and AFNER with one; two propagations and two families between planets.
    assert_eq!(count(FIGURE_FILES[0]), 5 * 5 * 4);
    assert_eq!(count(FIGURE_FILES[1]), 5 * 13 * 4);
    assert_eq!(count(FIGURE_FILES[2]), 8 * 13 * 4);
    assert_eq!(count(FIGURE_FILES[3]), 5 * 13 * 4);
    assert_eq!(count(FIGURE_FILES[4]), 5 * 5);
    assert_eq!(count(FIGURE_FILES[5]), 3 * 13);
    assert_eq!(count(SWITCHES_FILE), 4 * 3 * 13);
}

#[test]
fn figures_9_10_and_11_have_the_same_runs_and_the_plan_leaves_two_of_them_out() {
    assert_eq!(cells_of(FIGURE_FILES[5]), cells_of(FIGURE_FILES[6]));
    assert_eq!(cells_of(FIGURE_FILES[5]), cells_of(FIGURE_FILES[7]));
    for quick in [true, false] {
        let files = files(&sets(quick));
        assert!(files.contains(&FIGURE_FILES[5]));
        assert!(!files.contains(&FIGURE_FILES[6]) && !files.contains(&FIGURE_FILES[7]));
    }
}

#[test]
fn the_scenario_has_seven_other_readings_between_planets_and_three_on_earth() {
    let claims = super::claims::evaluate(&crate::shared::tests::made_up(&super::STUDY, false));
    let readings = |id| {
        let of = &claims.iter().find(|claim| claim.id == id).unwrap().others;
        of.iter().filter(|(reading, _)| !reading.is_varied()).count()
    };
    assert_eq!((readings("C1"), readings("C24")), (7, 3));
}

#[test]
fn a_variation_has_the_cells_that_it_replaces_and_no_others() {
    let all: Vec<Cell> = FIGURE_FILES[..6].iter().flat_map(|file| cells_of(file)).collect();
    let value =
        |cell: &Cell, column: &str| cell.iter().find(|(known, _)| known == column).map(|(_, v)| v.clone());
    let sets = sets(false);
    for variation in VARIATIONS {
        let (column, replaced) = variation.replaces;
        let of = sets.iter().filter(|set| set.instead.contains(&(READING, variation.name)));
        let made = of.flat_map(|set| cells(set, &papers()).unwrap().0).map(|(cell, _)| cell);
        let alike = |cell: Cell| with(with(cell, READING, USUAL), SETTINGS, USUAL);
        let made: BTreeSet<Cell> = made.map(alike).collect();
        let is_primary = |cell: &&Cell| {
            value(cell, PROPAGATION).as_deref().is_none_or(|link| link == "pipelined")
                && value(cell, CONTACTS).as_deref().is_none_or(|family| family == "S")
                && value(cell, column).as_deref() == Some(replaced)
        };
        let wanted: BTreeSet<Cell> = all.iter().filter(is_primary).cloned().map(alike).collect();
        assert_eq!(made, wanted, "{}", variation.name);
    }
}

#[test]
fn the_guide_says_how_many_runs_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let runs = super::plan::points(false, folder.path()).unwrap().jobs().len();
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/study.md");
    let said = format!("dtn-congestion            # {},{:03} runs", runs / 1000, runs % 1000);
    assert!(std::fs::read_to_string(guide).unwrap().contains(&said), "{said}");
}

#[test]
fn contact_tables_equal_the_reference() {
    let Some(reference) = crate::skip::reference("contacts") else { return };
    for family in ["S", "P"] {
        for name in
            (1..=5).flat_map(|n| [format!("{family}_Contact{n}.csv"), format!("{family}_Dur{n}000.csv")])
        {
            let ours = std::fs::read_to_string(papers().join("contacts").join(&name)).unwrap();
            assert_eq!(ours, std::fs::read_to_string(reference.join(&name)).unwrap(), "{name}");
        }
    }
}
