//! Names that come from afar.

use lightlag_protocols::wire::udpdtn::cut_text;

/// Longest name that leaves room for what is appended to it.
const NAME_MOST_BYTES: usize = 230;

/// The name under which a receiver keeps a file that a sender calls so: no folder, no control character,
/// not hidden, not too long.
///
/// # Errors
/// Why there is no such name.
pub fn file_name(said: &str) -> Result<String, String> {
    let last = said.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String =
        last.chars().map(|c| if c.is_control() || is_invisible(c) { '_' } else { c }).collect();
    let clean = cut_text(clean.trim(), NAME_MOST_BYTES).trim_end();
    let shown = clean.strip_prefix('.').map_or_else(|| clean.to_owned(), |rest| format!("_{rest}"));
    if shown.is_empty() || shown.chars().all(|c| matches!(c, '.' | '_')) {
        return Err(format!("the file is called `{}`; give it a name", clean));
    }
    if [".part", ".part.state", ".part.state.new", ".part.repairs"].iter().any(|end| shown.ends_with(end)) {
        return Err(format!("the file is called `{shown}`, like one that is not whole yet; rename it"));
    }
    Ok(shown)
}

/// Characters that turn the writing direction or cannot be seen make one name look like another.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for (said, kept) in [
            ("a.bin", "a.bin"),
            ("../../etc/passwd", "passwd"),
            ("C:\\temp\\b", "b"),
            ("a\nb\u{1b}[2J", "a_b_[2J"),
            (".bashrc", "_bashrc"),
            ("Größe 1.txt", "Größe 1.txt"),
            ("x\u{202e}gpj.exe", "x_gpj.exe"),
        ] {
            assert_eq!(file_name(said).as_deref(), Ok(kept), "{said:?}");
        }
        for said in ["", ".", "..", "/", "a/..", "dir/", "x.part", "x.part.state", " "] {
            assert!(file_name(said).is_err(), "{said:?}");
        }
        assert!(file_name(&"ä".repeat(300)).is_ok_and(|name| name.len() <= 230 && name.len() > 200));
    }
}
