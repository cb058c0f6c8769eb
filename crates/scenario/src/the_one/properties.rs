//! The syntax of The ONE's settings: Java's properties.

use crate::error::{Error, Place, Result};
use std::sync::Arc;

/// A key, its value and the line where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Where it stands.
    pub place: Place,
    /// The key.
    pub key: String,
    /// The value, without blanks around it.
    pub value: String,
}

/// Reads `key = value`, `key : value` and `key value` lines, `#` and `!` comments, `\` before the end
/// of a line that continues, and escapes. Bytes are characters (ISO 8859-1), as Java reads them;
/// [`readable`] turns what was meant as UTF-8 into it.
///
/// # Errors
/// At an escape `\u` without four hexadecimal digits.
pub fn properties(file: &str, bytes: &[u8]) -> Result<Vec<Property>> {
    let file: Arc<str> = file.into();
    // Editors of other systems put this mark before UTF-8.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    let mut found = Vec::new();
    for (line, text) in logical_lines(&text) {
        let place = Place::Line(file.clone(), line);
        let (key, value) = split(&text);
        let wrong = |()| {
            Error::new(
                &place,
                "`\\u` is not followed by four hexadecimal digits",
                "write `\\\\` for a backslash",
            )
        };
        let key = unescape(key).map_err(wrong)?;
        let value = unescape(value).map_err(wrong)?.trim().to_owned();
        found.push(Property { place, key, value });
    }
    Ok(found)
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\x0c')
}

/// Lines without comments, continued ones joined, with the number of the first.
fn logical_lines(text: &str) -> Vec<(u32, String)> {
    let mut lines = Vec::new();
    let mut open: Option<(u32, String)> = None;
    // A carriage return ends a line, with or without a line feed after it.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    for (line, number) in text.split('\n').zip(1_u32..) {
        let line = line.trim_start_matches(is_blank);
        if open.is_none() && (line.is_empty() || line.starts_with(['#', '!'])) {
            continue;
        }
        // An odd number of backslashes at the end leaves one that is not itself escaped.
        let slashes = line.len() - line.trim_end_matches('\\').len();
        let goes_on = slashes % 2 == 1;
        let piece = if goes_on { &line[..line.len() - 1] } else { line };
        let (first, mut joined) = open.take().unwrap_or((number, String::new()));
        joined.push_str(piece);
        if goes_on {
            open = Some((first, joined));
        } else {
            lines.push((first, joined));
        }
    }
    lines.extend(open);
    lines
}

/// The key ends at the first `=`, `:` or blank that is not escaped.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.char_indices().find(|&(_, c)| {
        let ends = !escaped && (is_blank(c) || c == '=' || c == ':');
        escaped = !escaped && c == '\\';
        ends
    });
    let Some((end, _)) = end else { return (line, "") };
    let rest = line[end..].trim_start_matches(is_blank);
    let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (&line[..end], rest.trim_start_matches(is_blank))
}

fn unescape(text: &str) -> std::result::Result<String, ()> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\x0c'),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                let plain = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit());
                let code = plain.then(|| u32::from_str_radix(&digits, 16).ok()).flatten().ok_or(())?;
                // Halves of surrogate pairs have no place in text.
                out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    Ok(out)
}

/// Text whose characters are the bytes of UTF-8, as UTF-8; other text as it is.
pub fn readable(text: &str) -> String {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(text: &[u8]) -> Vec<(String, String)> {
        properties("f", text).unwrap().into_iter().map(|p| (p.key, p.value)).collect()
    }
    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn separators_comments_and_continuations_are_javas() {
        let text = b"# note\n ! note\na=1\nb : 2 \nc 3\r\nd = x \\\n   y\n\ne\nf\\=g = h\n";
        assert_eq!(
            pairs(text),
            [
                pair("a", "1"),
                pair("b", "2"),
                pair("c", "3"),
                pair("d", "x y"),
                pair("e", ""),
                pair("f=g", "h")
            ]
        );
        assert_eq!(properties("f", b"a = \\\n\\\n1\nb=2").unwrap()[1].place.to_string(), "f:4");
    }

    #[test]
    fn bytes_are_characters_and_utf_8_can_be_read_back() {
        assert_eq!(pairs(b"a = \xfc"), [pair("a", "ü")]);
        let value = &pairs("a = ü\\u00fc".as_bytes())[0].1;
        assert_eq!(value, "Ã¼ü");
        assert_eq!(readable("Ã¼"), "ü");
        assert_eq!(readable("ü"), "ü");
    }

    #[test]
    fn a_mark_of_utf_8_before_the_text_is_no_part_of_it() {
        assert_eq!(pairs(b"\xef\xbb\xbfa = 1\n"), [pair("a", "1")]);
    }

    #[test]
    fn a_broken_escape_is_an_error_with_its_line() {
        let error = properties("f", b"a=1\nb = \\u00g0").unwrap_err().to_string();
        assert!(error.starts_with("f:2: "), "{error}");
        assert!(properties("f", b"a = x\\").is_ok() && properties("f", b"").unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = properties("f", &bytes);
        }
    }
}
