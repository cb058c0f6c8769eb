//! Errors of a scenario as data: an editor marks them where they stand.

use lightlag_scenario::{Error, Place};
use serde::Serialize;

/// What is wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Faults(pub Vec<Fault>);

/// One error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The file in which it is; `None` if it is in what was set beside the text.
    pub file: Option<String>,
    /// Its line, counted from 1; `None`: it concerns the file as a whole.
    pub line: Option<u32>,
    /// The first character at fault, counted from 1 in UTF-16 units as editors count.
    pub column: Option<u32>,
    /// The character after the last one at fault.
    pub end_column: Option<u32>,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub right: String,
}

impl Faults {
    /// The errors of a scenario of this name and text.
    pub fn new(error: Error, name: &str, text: &str) -> Self {
        Self(error.each().map(|one| fault(one, name, text)).collect())
    }
    /// One that is not in the text.
    pub fn of(what: &str, right: &str) -> Self {
        let (what, right) = (what.to_owned(), right.to_owned());
        Self(vec![Fault { file: None, line: None, column: None, end_column: None, what, right }])
    }
    /// A line for each.
    pub fn text(&self) -> String {
        let line = |fault: &Fault| {
            let file = fault.file.as_deref().map(|file| match fault.line {
                Some(line) => format!("{file}:{line}: "),
                None => format!("{file}: "),
            });
            format!("{}{}; {}", file.unwrap_or_default(), fault.what, fault.right)
        };
        self.0.iter().map(line).collect::<Vec<_>>().join("\n")
    }
    /// As JSON.
    pub fn json(&self) -> String {
        // Texts and numbers under plain names: nothing in them can fail to be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn fault(error: Error, name: &str, text: &str) -> Fault {
    let (file, line) = match &error.place {
        Place::Line(file, line) => (Some(file.to_string()), Some(*line)),
        Place::File(file) => (Some(file.to_string()), None),
        Place::Set(_) | Place::Option(_) => (None, None),
    };
    let there = line.filter(|_| file.as_deref() == Some(name));
    let span = there.and_then(|line| span(text.lines().nth(line as usize - 1)?, &error.what));
    Fault {
        file,
        line,
        column: span.map(|span| span.0),
        end_column: span.map(|span| span.1),
        what: error.what,
        right: error.right,
    }
}

/// Where in a line the thing is that `what` names in backquotes, the last one that is there: a value after its key, or the last part
/// of a key. Where it names none that is there, all of the line but blanks and a comment.
fn span(line: &str, what: &str) -> Option<(u32, u32)> {
    let quoted = || what.split('`').skip(1).step_by(2).filter(|word| !word.is_empty());
    let place = |word: &str| Some((whole_word(line, word)?, word.len()));
    let last_part = |word: &str| place(word.rsplit('.').next().filter(|part| !part.is_empty())?);
    let whole = line.split(" #").next().unwrap_or_default().trim();
    let found = quoted().filter_map(place).last().or_else(|| quoted().filter_map(last_part).last());
    let (start, length) =
        found.or_else(|| Some((line.find(whole)?, whole.len()))).filter(|found| found.1 > 0)?;
    let units = |text: &str| text.encode_utf16().count() as u32 + 1;
    Some((units(&line[..start]), units(&line[..start + length])))
}

/// Where a word begins in a line that is not part of a longer one.
fn whole_word(line: &str, word: &str) -> Option<usize> {
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let apart = |&(at, _): &(usize, &str)| {
        let (before, after) = (line[..at].chars().next_back(), line[at + word.len()..].chars().next());
        let joins = |edge: Option<char>, beyond: Option<char>| in_word(edge) && in_word(beyond);
        !joins(word.chars().next(), before) && !joins(word.chars().next_back(), after)
    };
    line.match_indices(word).find(apart).map(|found| found.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_the_word_that_the_error_names() {
        for (line, what, marked) in [
            ("bufer = 3", "unknown key `bufer`", "bufer"),
            ("  radio = { rnge = \"1 m\" }", "unknown key `nodes.walker.radio.rnge`", "rnge"),
            ("router = \"epidemc\" # one", "`router` is `epidemc`", "epidemc"),
            ("rate_x = 1, rate = 2", "`rate` is too small", "rate"),
            ("é𝄞 = { size = 0 }", "`size` is 0", "size"),
            ("  size = 0  # nothing", "it is nothing", "size = 0"),
        ] {
            let (start, end) = span(line, what).expect("something is marked");
            let units: Vec<u16> = line.encode_utf16().collect();
            let found =
                String::from_utf16(&units[start as usize - 1..end as usize - 1]).expect("it is whole");
            assert_eq!(found, marked, "{line}");
        }
        let (start, _) = span("rate_x = 1, rate = 2", "`rate` is too small").expect("it is there");
        assert_eq!(start, 13, "not a part of another word");
        assert_eq!(span("", "nothing"), None);
    }
}
