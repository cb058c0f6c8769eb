//! `lightlag convert`.

use super::{print_warnings, read};
use crate::args::Convert;
use crate::output::{Done, Failure, make_folder, print, write_file};
use std::path::Path;

pub fn convert(options: &Convert) -> Done {
    let file = read(&options.source)?;
    let points = file.points()?;
    let count = points.list.len();
    let index = match options.point {
        None if count > 1 => {
            let what = format!("the settings make {count} runs; choose one with --point 0 to {}", count - 1);
            return Err(Failure::Input(what));
        }
        index => index.unwrap_or(0),
    };
    let Some(point) = points.list.get(index) else {
        return Err(Failure::Input(format!("--point {index}: the settings have runs 0 to {}", count - 1)));
    };
    let folder = options.out.as_deref().and_then(Path::parent).filter(|folder| *folder != Path::new(""));
    if let Some(folder) = folder {
        make_folder(folder)?;
    }
    let text = file.to_toml(&points, point, folder.unwrap_or(Path::new(".")))?;
    print_warnings(&points);
    match &options.out {
        Some(out) => write_file(out, text),
        None => print(&text),
    }
}
