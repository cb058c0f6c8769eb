//! Tables of text, as wide as it.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A table of text; what is a number in the first row stands right.
pub fn table_text(head: &[String], rows: &[Vec<String>]) -> String {
    let mut table = plain_table(head);
    for row in rows {
        table.add_row(row);
    }
    let numeric = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || c == '–');
    let first = rows.first().map_or(0, |row| row.iter().position(numeric).unwrap_or(row.len()));
    align_right(&mut table, first);
    table.to_string() + "\n"
}

/// A table without a frame, as wide as its text.
pub(crate) fn plain_table<T: Into<comfy_table::Cell>>(head: impl IntoIterator<Item = T>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head.into_iter().map(Into::into).collect::<Vec<comfy_table::Cell>>());
    table
}

/// Aligns every column from `first` on to the right, as numbers want.
pub(crate) fn align_right(table: &mut Table, first: usize) {
    for column in table.column_iter_mut().skip(first) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}
