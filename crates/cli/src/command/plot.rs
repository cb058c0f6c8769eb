//! `lightlag plot`.

use crate::args::Plot;
use crate::output::{Done, Failure, make_folder_of, print, tell_unfinished, write_file};
use lightlag_lab::plot::{Source, Wanted};
use lightlag_lab::report::{Figure, chart};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Draws a specification, as the figures of the manual are drawn: standard input into the file of the first argument.
const PROGRAM: &str = "import sys
try:
    import vl_convert
except ImportError:
    sys.exit(3)
text, out = sys.stdin.read(), sys.argv[1]
if out.lower().endswith('.svg'):
    open(out, 'w', encoding='utf-8').write(vl_convert.vegalite_to_svg(text))
elif out.lower().endswith('.pdf'):
    open(out, 'wb').write(vl_convert.vegalite_to_pdf(text))
else:
    open(out, 'wb').write(vl_convert.vegalite_to_png(text, scale=3))
";

/// Exit code of [`PROGRAM`] where the library is not there.
const NO_LIBRARY: i32 = 3;

/// Endings of figures, as files can have them.
const ENDINGS: [&str; 5] = [".svg", ".pdf", ".png", ".html", ".vl.json"];

pub fn plot(options: &Plot) -> Done {
    let (Some(metric), Some(out)) = (&options.metric, &options.out) else {
        return print(&open(&options.folder)?.contents()?);
    };
    let name = out.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let ends = |ending: &str| name.ends_with(ending);
    if !ENDINGS.into_iter().any(ends) {
        let known = ENDINGS.join(", ");
        let line =
            format!("--out: {}: unknown format; name a file that ends in one of {known}", out.display());
        return Err(Failure::Input(line));
    }
    let wanted = Wanted {
        metric,
        x: options.x.as_deref(),
        series: options.series.as_deref(),
        title: options.title.as_deref(),
        axis_titles: [options.x_title.as_deref(), options.y_title.as_deref()],
        size: [options.width, options.height],
    };
    let figure = open(&options.folder)?.draw(&wanted)?;
    if ends(".html") {
        write_file(out, chart(&figure.title, &figure.specification))?;
    } else if ends(".vl.json") {
        write_file(out, serde_json::to_string_pretty(&figure.specification)? + "\n")?;
    } else {
        picture(&figure, out)?;
    }
    print(&format!("{}\n", out.display()))
}

/// Opens the folder, and reports a sweep that is not finished.
fn open(folder: &Path) -> Result<Source, Failure> {
    let source = Source::open(folder)?;
    if let Source::Sweep(results) = &source {
        tell_unfinished(results, folder);
    }
    Ok(source)
}

/// Draws it with vl-convert, a library of Python that brings all it needs.
fn picture(figure: &Figure, out: &Path) -> Done {
    make_folder_of(out)?;
    let failed = |what: String| {
        let right = "`pip install vl-convert-python` installs what draws .svg, .pdf and .png, or write .html or .vl.json";
        Failure::Input(format!("--out: {}: {what}; {right}", out.display()))
    };
    let mut python = Command::new("python3");
    python.args(["-c", PROGRAM]).arg(out).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = python.spawn().map_err(|why| failed(format!("python3 does not start: {why}")))?;
    if let Some(mut input) = child.stdin.take() {
        // Where it has ended already, its exit code says why.
        let _ = input.write_all(figure.specification.to_string().as_bytes());
    }
    let done = child.wait_with_output().map_err(|why| failed(why.to_string()))?;
    if done.status.success() {
        return Ok(());
    }
    if done.status.code() == Some(NO_LIBRARY) {
        return Err(failed("python3 has no vl_convert".to_owned()));
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let said = said.lines().last().unwrap_or("python3 ended without a word");
    Err(Failure::Failed(format!("{}: {said}", out.display())))
}
