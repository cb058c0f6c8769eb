//! Takes over a built page: `cargo run -p lightlag-page --example pack -- PAGE.html [OUT]`, with the crate's own copy as `OUT`.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut paths = std::env::args_os().skip(1);
    let page = std::fs::read_to_string(paths.next().ok_or("missing PAGE.html")?)?;
    for part in [lightlag_page::PLACEHOLDER, "http-equiv=\"Content-Security-Policy\" content=\""] {
        if page.matches(part).count() != 1 {
            return Err(format!("the page must have `{part}` once").into());
        }
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(page.as_bytes())?;
    let to = paths.next().unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/page.html.gz").into());
    std::fs::write(to, packed.finish()?)?;
    Ok(())
}
