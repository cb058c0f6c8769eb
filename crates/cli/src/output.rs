//! How commands end, and what they print alike.

use lightlag_lab::results::{Results, unfinished};
use std::fmt::Display;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Version and commit, as `--version` prints them.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("LIGHTLAG_COMMIT"), ")");

/// Why a command did not do what was asked.
pub enum Failure {
    /// It did, but a claim or the judge says no; that was printed.
    Verdict,
    /// The program that was run ended with this code, and printed why.
    Ended(u8),
    /// What was asked for could be tried and failed: one line.
    Failed(String),
    /// Bad input: one line.
    Input(String),
}

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Input(error.to_string())
    }
}

/// What commands return.
pub type Done = Result<(), Failure>;

/// Prints to standard output. A reader that has gone away (`| head`) is no failure.
///
/// # Errors
/// One line, if standard output cannot be written.
pub fn print(text: &str) -> Done {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(why) if why.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Input(format!("cannot write to standard output: {why}")))
        }
        _ => Ok(()),
    }
}

/// Prints a table. On a terminal, lines that are wider are cut, and a hint says how to see the rest.
///
/// # Errors
/// As [`print`].
pub fn print_table(text: &str) -> Done {
    let Some(width) = terminal_width() else { return print(text) };
    let (shown, cut) = fitted(text, width);
    print(&shown)?;
    if cut > 0 {
        eprintln!(
            "{cut} lines are wider than the terminal and were cut; `| less -S` or --json shows all of them"
        );
    }
    Ok(())
}

/// Columns of the terminal that standard output is; `None` where it is not a terminal.
pub fn terminal_width() -> Option<usize> {
    let out = std::io::stdout();
    let size = out.is_terminal().then(|| terminal_size::terminal_size_of(&out)).flatten();
    size.map(|(terminal_size::Width(width), _)| usize::from(width))
}

/// Words in lines of at most this width, as far as each fits, those after the first behind an indent.
pub fn folded(words: &str, indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let last = lines.len() - 1;
        let taken = lines[last].chars().count();
        if taken > 0 && taken + 1 + word.chars().count() > room {
            lines.push(word.to_owned());
        } else {
            let gap = if taken > 0 { " " } else { "" };
            lines[last] += &format!("{gap}{word}");
        }
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

/// The text with no row wider than a terminal, and how many rows were cut. Sentences are not rows: the terminal folds them.
fn fitted(text: &str, width: usize) -> (String, usize) {
    let mut cut = 0;
    let mut line = |line: &str| {
        let line = line.trim_end();
        let is_row = line.trim_start().contains("  ");
        if !is_row || line.chars().count() <= width.max(2) {
            return format!("{line}\n");
        }
        cut += 1;
        let kept: String = line.chars().take(width.max(2) - 1).collect();
        format!("{kept}…\n")
    };
    let shown = text.lines().map(&mut line).collect();
    (shown, cut)
}

/// Makes a folder for results, before the run.
///
/// # Errors
/// One line that names it.
pub fn make_folder(folder: &Path) -> Done {
    std::fs::create_dir_all(folder).map_err(|why| {
        Failure::Input(format!("cannot make the folder {}: {why}; name another one", folder.display()))
    })
}

/// Makes a folder and writes a file into it.
///
/// # Errors
/// One line that names the path.
pub fn write_file(path: &Path, text: impl AsRef<[u8]>) -> Done {
    create_file(path)?.write_all(text.as_ref()).map_err(|why| cannot_write(path, &why))
}

/// Makes a folder and opens a file in it for writing.
///
/// # Errors
/// One line that names the path.
pub fn create_file(path: &Path) -> Result<File, Failure> {
    make_folder_of(path)?;
    File::create(path).map_err(|why| cannot_write(path, &why))
}

/// Makes the folder of a file.
///
/// # Errors
/// One line that names the path.
pub fn make_folder_of(path: &Path) -> Done {
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|why| cannot_write(path, &why))
}

/// Why there is no such file.
pub fn cannot_write(path: &Path, why: &std::io::Error) -> Failure {
    Failure::Input(format!("cannot write {}: {why}", path.display()))
}

/// Reports on standard error that a sweep is not finished, if so.
pub fn tell_unfinished(results: &Results, folder: &Path) {
    if let Some(line) = unfinished(results) {
        eprintln!("{}: {line}", folder.display());
    }
}

/// Prints how many violations the judge found in many runs; any is a failure.
///
/// # Errors
/// [`Failure::Verdict`].
pub fn judged(violations: u64) -> Done {
    if violations == 0 {
        return Ok(());
    }
    eprintln!("lightlag: the judge found {violations} violations");
    Err(Failure::Verdict)
}

/// Prints the violations that the judge found; any is a failure.
///
/// # Errors
/// [`Failure::Verdict`].
pub fn tell_violations(what: &str, violations: &[String], total: u64) -> Done {
    if total == 0 {
        return Ok(());
    }
    eprintln!("lightlag: the judge found {total} violations in {what}");
    violations.iter().take(10).for_each(|violation| eprintln!("  {violation}"));
    Err(Failure::Verdict)
}

#[cfg(test)]
mod tests {
    use super::{fitted, folded};

    #[test]
    fn lines_wider_than_the_terminal_are_cut_and_counted() {
        let text = "point  metric\n1      0.5 ± 0.1  \n";
        assert_eq!(fitted(text, 80), ("point  metric\n1      0.5 ± 0.1\n".to_owned(), 0));
        assert_eq!(fitted(text, 14), ("point  metric\n1      0.5 ± …\n".to_owned(), 1));
        assert_eq!(fitted(text, 0).1, 2);
        assert_eq!(fitted("A sentence is folded by the terminal.\n", 9).1, 0);
    }

    #[test]
    fn words_are_folded_behind_an_indent() {
        assert_eq!(folded("one two three four five six", 4, 24), "one two three four\n    five six");
        assert_eq!(folded("", 4, 24), "");
    }
}
