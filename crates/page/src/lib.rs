//! The page of Lightlag: one HTML file without a network, in which recordings, scenarios and daemons are shown.
//!
//! The page is built by `make web` from the folder `web` and is kept in this crate, compressed: programs that show it need no npm.
//! [`with_sources`] makes a file of its own, with the data in it; a server sends [`compressed`] with [`SOURCES_FILE`] beside it, and
//! [`policy`] as a header.

#[cfg(feature = "serve")]
pub mod serve;
mod source;

pub use source::{About, Format, Map, Records, Source};

use flate2::read::GzDecoder;
use std::io::Read;
use std::sync::LazyLock;

/// What the page fetches beside itself where no data are in it: a list of sources.
pub const SOURCES_FILE: &str = "sources.json";

/// The line of the page that the data take the place of.
pub const PLACEHOLDER: &str = "<!-- sources -->";

static PAGE: LazyLock<String> = LazyLock::new(|| {
    let mut text = String::new();
    let read = GzDecoder::new(compressed()).read_to_string(&mut text);
    read.expect("the build of the page is UTF-8, compressed by gzip");
    text
});

/// The page without data, compressed by gzip.
pub fn compressed() -> &'static [u8] {
    include_bytes!("../page.html.gz")
}

/// The page without data.
pub fn html() -> &'static str {
    &PAGE
}

/// The page with these data in it: one file, which works from a disk. No text of the data can end the element that it stands in.
pub fn with_sources(sources: &[Source]) -> String {
    let page = html();
    let (before, after) = page.split_once(PLACEHOLDER).expect("the page has a place for its data");
    let mut whole = before.to_owned();
    for source in sources {
        whole += "<script type=\"application/json\" class=\"source\">";
        whole += &escaped(source);
        whole += "</script>\n";
    }
    whole + after.strip_prefix('\n').unwrap_or(after)
}

/// The list of sources that a server gives as [`SOURCES_FILE`].
pub fn sources_json(sources: &[Source]) -> String {
    let all: Vec<String> = sources.iter().map(escaped).collect();
    format!("[{}]\n", all.join(","))
}

/// JSON in which no markup can begin or end: `<`, `>` and `&` stand in strings only, where they have an escape.
fn escaped(source: &Source) -> String {
    let json = serde_json::to_string(source).expect("sources are text and numbers");
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => safe += &format!("\\u{:04x}", u32::from(c)),
            c => safe.push(c),
        }
    }
    safe
}

/// The content security policy of the page, for a header: that in its head, and that only pages of the same origin may frame it.
pub fn policy() -> &'static str {
    static POLICY: LazyLock<String> = LazyLock::new(|| {
        let head = html().split_once("http-equiv=\"Content-Security-Policy\" content=\"");
        let policy = head.and_then(|(_, rest)| rest.split_once('"')).map(|(policy, _)| policy);
        format!("{}; frame-ancestors 'self'", policy.expect("the page has a policy").trim_end_matches(';'))
    });
    &POLICY
}

/// The page in a frame of a document, such as a cell of a notebook: a frame that runs scripts of the page and has no access to the
/// document around it. `height` is CSS.
pub fn frame(page: &str, height: &str) -> String {
    let attribute = |text: &str| {
        text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
    };
    format!(
        "<iframe title=\"Lightlag\" sandbox=\"allow-scripts allow-downloads\" style=\"width: 100%; height: {}; border: 0\" srcdoc=\"{}\"></iframe>",
        attribute(height),
        attribute(page)
    )
}
