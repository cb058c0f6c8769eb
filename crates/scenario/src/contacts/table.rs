//! Contacts as a table of comma-separated values with a header.

use super::{ContactRow, Lines, check_order, rate, seconds};
use crate::error::{Place, Result, quoted, suggestion};
use lightlag_protocols::time::Instant;

const COLUMNS: &[&str] = &["start_s", "end_s", "a", "b", "owlt_s", "rate_bps"];
const RIGHT: &str = "the header names start_s, end_s, a, b and, if wanted, owlt_s and rate_bps";

/// Reads `start_s,end_s,a,b,owlt_s,rate_bps`: columns in any order, the last two optional;
/// `owlt_s` is the one-way light time, `rate_bps` in bits per second.
///
/// # Errors
/// At the first line that is no such row.
pub fn table(file: &str, bytes: &[u8]) -> Result<Vec<ContactRow>> {
    let lines = Lines::new(file, bytes)?;
    let mut rows = Vec::new();
    let mut columns: Option<Vec<usize>> = None;
    for line in lines.iter() {
        let joined = line.words.join(" ");
        let cells: Vec<&str> = joined.split(',').map(str::trim).collect();
        let Some(columns) = &columns else {
            columns = Some(header(&cells).map_err(|what| line.wrong(what, RIGHT))?);
            continue;
        };
        if cells.len() != columns.len() {
            let what = format!("the row has {} values, the header {}", cells.len(), columns.len());
            return Err(line.wrong(what, "give one value for each column"));
        }
        let cell = |name: usize| columns.iter().position(|&c| c == name).map(|at| cells[at]);
        let need = |name: usize| cell(name).unwrap_or_default();
        let row = ContactRow {
            place: line.place.clone(),
            a: need(2).into(),
            b: need(3).into(),
            start: seconds(need(0), &line.place)?,
            end: seconds(need(1), &line.place)?,
            delay: cell(4).map(|word| Ok(seconds(word, &line.place)? - Instant::ZERO)).transpose()?,
            rate: cell(5).map(|word| rate(word, 1.0, &line.place)).transpose()?,
        };
        check_order(row.start, row.end, &line.place)?;
        rows.push(row);
    }
    match columns {
        Some(_) if rows.is_empty() => {
            Place::File(file.into()).refuse("the table has no rows", "add a row for each contact")
        }
        Some(_) => Ok(rows),
        None => Place::File(file.into()).refuse("the table has no header", RIGHT),
    }
}

/// Which column each cell of the header is.
fn header(cells: &[&str]) -> std::result::Result<Vec<usize>, String> {
    let mut columns = Vec::new();
    for cell in cells {
        let Some(column) = COLUMNS.iter().position(|name| name == cell) else {
            return Err(format!("{} is not a column ({})", quoted(cell), suggestion(cell, COLUMNS)));
        };
        if columns.contains(&column) {
            return Err(format!("column {} comes twice", quoted(cell)));
        }
        columns.push(column);
    }
    match (0..4).find(|column| !columns.contains(column)) {
        Some(missing) => Err(format!("column `{}` is missing", COLUMNS[missing])),
        None => Ok(columns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_protocols::time::Duration;
    use lightlag_protocols::units::BitRate;

    #[test]
    fn rows_are_read_with_or_without_the_optional_columns() {
        let rows = table("f", b"start_s,end_s,a,b,owlt_s,rate_bps\n# note\n2000,3000,BS,Sat0,240,2500000\n")
            .unwrap();
        assert_eq!(
            rows,
            [ContactRow {
                place: Place::Line("f".into(), 3),
                a: "BS".into(),
                b: "Sat0".into(),
                start: Instant::from_secs(2000),
                end: Instant::from_secs(3000),
                rate: Some(BitRate(2_500_000)),
                delay: Some(Duration::from_secs(240)),
            }]
        );
        assert_eq!(table("f", b"a,b,start_s,end_s\nx,y,1,2\n").unwrap()[0].rate, None);
    }

    #[test]
    fn a_row_that_is_cut_or_turned_is_an_error_with_its_line() {
        let refusal = |text: &str| table("f", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            refusal("start_s,end_s,a,b\n1,2,x\n"),
            "f:2: the row has 3 values, the header 4; give one value for each column"
        );
        assert_eq!(
            refusal("start_s,end_s,a,b\n5,2,x,y\n"),
            "f:2: the contact ends before it starts (5 s to 2 s); its end must lie after its start"
        );
        assert!(refusal("start_s,end_s,a,b\nNaN,2,x,y\n").starts_with("f:2: `NaN` is not a time"));
        assert!(refusal("start_s,end_s,a\n").contains("column `b` is missing"));
        assert!(refusal("start_s,end_s,a,b,rate_bps\n1,2,x,y,0\n").contains("is not a rate"));
    }
}
