//! `lightlag new`.

use super::print_path;
use crate::args::New;
use crate::output::{Done, Failure, cannot_write, make_folder_of, print};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A scenario to begin with.
struct Template {
    /// Its name, and the ending of its file.
    name: &'static str,
    ending: &'static str,
    text: &'static str,
}

macro_rules! templates {
    ($($name:literal $ending:literal)*) => {
        &[$(Template {
            name: $name,
            ending: $ending,
            text: include_str!(concat!("../templates/", $name, ".", $ending)),
        }),*]
    };
}

const TEMPLATES: &[Template] =
    templates!["walkers" "toml" "plan" "toml" "trace" "toml" "link" "toml" "names" "toml" "the_one" "txt"];

impl Template {
    /// What it shows: its first line.
    fn about(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

pub fn new(options: &New) -> Done {
    let Some(name) = options.template.as_deref() else { return print(&list()) };
    let template = TEMPLATES.iter().find(|template| template.name == name).ok_or_else(|| {
        let names: Vec<&str> = TEMPLATES.iter().map(|template| template.name).collect();
        Failure::Input(format!("unknown template `{name}`; choose one of {}", names.join(", ")))
    })?;
    let path = match &options.file {
        Some(path) if path.as_os_str() == "-" => return print(template.text),
        Some(path) => path.clone(),
        None => PathBuf::from(format!("{name}.{}", template.ending)),
    };
    check_ending(template, &path)?;
    write(&path, template.text, options.force)?;
    let shown = print_path(&path);
    print(&format!(
        "{shown}: a scenario with comments; run it, or all of its points:\n  lightlag run {shown}\n  lightlag sweep {shown}\n"
    ))
}

/// The templates, a line each.
pub fn list() -> String {
    let line = |template: &Template| format!("{:8}  {}\n", template.name, template.about());
    TEMPLATES.iter().map(line).collect()
}

/// A file that ends otherwise would be read as something else.
fn check_ending(template: &Template, path: &Path) -> Done {
    let is_toml = |ending: &str| ending.eq_ignore_ascii_case("toml");
    let given = path.extension().unwrap_or_default().to_string_lossy();
    if is_toml(&given) == is_toml(template.ending) {
        return Ok(());
    }
    let right = format!("name a file that ends in .{}", template.ending);
    Err(Failure::Input(format!("{}: the template is not read under this name; {right}", path.display())))
}

fn write(path: &Path, text: &str, force: bool) -> Done {
    make_folder_of(path)?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(!force);
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists => Failure::Input(format!(
            "{}: the file exists; name another one, or replace it with --force",
            path.display()
        )),
        _ => cannot_write(path, &why),
    })
}
