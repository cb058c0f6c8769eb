//! Claims, tables and figures as the template shows them.

use super::{Figure, Holds, Report, Table, Verdict, compared};
use minijinja::{Value, context};

/// Verdicts in the order of the buttons, and how a reader says them.
const SAID: [(&str, &str); 4] =
    [("yes", "holds"), ("partly", "holds partly"), ("no", "does not hold"), ("untestable", "untestable")];

/// A claim beside what was measured, with a link to what shows it.
pub(super) fn claim(verdict: &Verdict, report: &Report) -> Value {
    let word = verdict.holds.word();
    let said = SAID.iter().find(|(known, _)| *known == word).map_or(word, |(_, said)| said);
    let parts = verdict.words();
    let changed = verdict.readings.iter().filter(|(_, holds)| *holds != verdict.holds).count();
    let all = verdict.readings.len();
    context! {
        id => verdict.id,
        shows => shows(verdict.figure),
        link => link(verdict, report),
        paper_says => verdict.paper_says,
        we_measure => verdict.we_measure,
        items => items(&verdict.we_measure),
        holds => word,
        said => said.to_owned() + parts.strip_prefix(word).unwrap_or_default(),
        reason => verdict.holds.reason(),
        dots => (!verdict.compared.is_empty()).then(|| compared::drawn(&verdict.compared)),
        readings => by_verdict(&verdict.readings),
        changed => if changed == 0 { format!("the same under all {all}") } else { format!("{changed} of {all} change the verdict") },
    }
}

/// From this many on, parts of what was measured stand below each other.
const ITEMS: usize = 3;

/// Parts that are divided by semicolons; none of fewer than [`ITEMS`].
fn items(we_measure: &str) -> Vec<&str> {
    let all: Vec<&str> = we_measure.split("; ").collect();
    if all.len() < ITEMS { Vec::new() } else { all }
}

/// "figure 3a" of "3a"; other places of a paper keep their names.
fn shows(figure: &str) -> String {
    let of_figures = figure.split(", ").all(|one| one.starts_with(|first: char| first.is_ascii_digit()));
    match (of_figures, figure) {
        (_, "-") => String::new(),
        (true, _) if figure.contains(',') => format!("figures {figure}"),
        (true, _) => format!("figure {figure}"),
        _ => figure.to_owned(),
    }
}

/// The name of the element that shows a claim: the figure or the table that it names; else the first figure that is called as the
/// figure of the paper.
fn link(verdict: &Verdict, report: &Report) -> Option<String> {
    let ids = || report.figures.iter().map(|figure| figure.id.as_str());
    if let Some(shown) = &verdict.shown {
        let all = || report.opening.iter().chain(&report.tables);
        let table = || all().position(|table| table.title.starts_with(shown.as_str())).map(table_id);
        return ids().find(|id| id == shown).map(str::to_owned).or_else(table);
    }
    let names = |one: &str| {
        let number = one.trim_end_matches(|last: char| last.is_ascii_lowercase());
        [format!("figure_{one}"), one.to_owned(), format!("figure_{number}")]
    };
    let wanted: Vec<String> = verdict.figure.split(", ").flat_map(names).collect();
    let exact = wanted.iter().find_map(|name| ids().find(|id| id == name));
    let longer =
        || wanted.iter().find_map(|name| ids().find(|id| name.len() > 7 && id.starts_with(name.as_str())));
    exact.or_else(longer).map(str::to_owned)
}

fn table_id(number: usize) -> String {
    format!("table_{number}")
}

/// Readings by their verdict: "no: this one; that one".
fn by_verdict(readings: &[(String, Holds)]) -> Vec<String> {
    let of = |(word, said): &(&str, &str)| {
        let these = readings.iter().filter(|(_, holds)| holds.word() == *word);
        let names: Vec<&str> = these.map(|(name, _)| name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{said}: {}", names.join("; ")))
    };
    SAID[..3].iter().filter_map(of).collect()
}

/// How many claims have each verdict.
pub(super) fn tally(claims: &[Verdict]) -> Vec<Value> {
    let of = |(word, said): (&str, &str)| {
        let count = claims.iter().filter(|verdict| verdict.holds.word() == word).count();
        context! { word, said, count }
    };
    SAID.map(of).into()
}

/// Tables with names of their own and which of their columns are numbers.
pub(super) fn tables(opening: &[Table], rest: &[Table]) -> Vec<Value> {
    let of = |(number, table): (usize, &Table)| {
        let numeric: Vec<bool> = (0..table.head.len()).map(|column| is_numeric(table, column)).collect();
        let Table { title, caption, head, rows } = table;
        context! { id => table_id(number), title, caption, head, rows, numeric }
    };
    opening.iter().chain(rest).enumerate().map(of).collect()
}

/// Whether all cells of a column that are not empty are numbers, and the column is not the first, which names its row.
fn is_numeric(table: &Table, column: usize) -> bool {
    let cells = || {
        table
            .rows
            .iter()
            .filter_map(|row| row.get(column))
            .filter(|cell| !["", "-", "–"].contains(&cell.as_str()))
    };
    let number = |cell: &String| {
        let first = cell.split([' ', '%']).next().unwrap_or_default();
        first.parse::<f64>().is_ok() && cell.len() < 34
    };
    column > 0 && cells().next().is_some() && cells().all(number)
}

/// Figures; those with panels and maps take the whole width, and so does one that has nothing beside it.
pub(super) fn figures(all: &[Figure]) -> Vec<Value> {
    let mut wide: Vec<bool> = all.iter().map(has_columns).collect();
    let mut alone = 0;
    for index in 0..=all.len() {
        if index < all.len() && !wide[index] {
            alone += 1;
        } else {
            if alone % 2 == 1 {
                wide[index - 1] = true;
            }
            alone = 0;
        }
    }
    let of = |(figure, wide): (&Figure, bool)| {
        let Figure { id, title, caption, .. } = figure;
        context! { id, title, caption, wide }
    };
    all.iter().zip(wide).map(of).collect()
}

fn has_columns(figure: &Figure) -> bool {
    let made = &figure.specification;
    let columns = made["columns"].as_u64().unwrap_or(1);
    let panels = made["facet"]["sort"].as_array().map_or(0, Vec::len);
    made.get("vconcat").or(made.get("concat")).is_some() || (columns > 1 && panels > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Finding;
    use serde_json::json;

    #[test]
    fn a_claim_links_to_the_figure_of_the_paper_or_to_what_it_names() {
        let figure = |id: &str| Figure {
            id: id.into(),
            title: String::new(),
            caption: String::new(),
            specification: json!({}),
        };
        let table = Table { title: "How flows share, by rate".into(), ..Table::default() };
        let report = Report {
            figures: ["figure_3a", "figure_7", "figure_9_map", "jitter"].map(figure).into(),
            tables: vec![table],
            ..Report::default()
        };
        let of = |figure: &'static str, shown: Option<&str>| {
            let verdict = Verdict {
                shown: shown.map(str::to_owned),
                ..Verdict::new("C1", figure, "", Finding::untestable(""))
            };
            link(&verdict, &report).unwrap_or_default()
        };
        assert_eq!(of("3a", None), "figure_3a");
        assert_eq!(of("VI-A, 7b", None), "figure_7");
        assert_eq!(of("9", None), "figure_9_map");
        assert_eq!(of("jitter", None), "jitter");
        assert_eq!(of("VI-A", None), "");
        assert_eq!(
            (of("3a", Some("jitter")), of("3a", Some("How flows share"))),
            ("jitter".into(), "table_0".into())
        );
        assert_eq!(
            (shows("7a, 7b"), shows("V-B"), shows("-")),
            ("figures 7a, 7b".into(), "V-B".into(), String::new())
        );
    }

    #[test]
    fn columns_of_numbers_are_known_by_their_cells() {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let head = row(["router", "ratio", "where", "share"]);
        let rows = vec![
            row(["1", "0.5 ± 0.1", "12 nodes, here and there and elsewhere", "3 %"]),
            row(["2", "-", "4", "10 %"]),
        ];
        let table = Table { head, rows, ..Table::default() };
        assert_eq!([0, 1, 2, 3].map(|column| is_numeric(&table, column)), [false, true, false, true]);
    }
}
