//! Manual pages of the programs, from the definitions of their command lines and what is written by hand below those.
//!
//! The pages are files of the repository; a test compares them, and writes them with `UPDATE_DOCS=1`.

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::io;

// Included, as `lightlagd` brings a runtime and TLS, and the library of `lightlag-run` replaces functions of the C library.
#[path = "../../daemon/src/args.rs"]
mod lightlagd;
#[path = "../../run/src/args.rs"]
mod run;

/// A manual page.
pub struct Page {
    /// Where it is, below the top of the repository.
    pub path: &'static str,
    /// What it is, in roff.
    pub text: String,
}

/// All of them.
///
/// # Errors
/// None: nothing is written but memory.
pub fn pages() -> io::Result<Vec<Page>> {
    const DAEMON: &str = include_str!("../../daemon/man/lightlagd.more");
    const RUN: &str = include_str!("../../run/man/lightlag-run.more");
    const LAB: &str = include_str!("../../cli/man/lightlag.more");
    Ok(vec![
        Page { path: "crates/cli/man/lightlag.1", text: page(lightlag_cli::command(), "1", LAB)? },
        Page { path: "crates/run/man/lightlag-run.1", text: page(run::Cli::command(), "1", RUN)? },
        Page { path: "crates/daemon/man/lightlagd.8", text: page(lightlagd::Cli::command(), "8", DAEMON)? },
    ])
}

/// A page: what the program is, its options, its commands with theirs, and `more`.
fn page(command: Command, section: &str, more: &str) -> io::Result<String> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let manual = if section == "8" { "System Administration" } else { "User Commands" };
    let man = Man::new(command.clone()).section(section).date("").source("Lightlag").manual(manual);
    let mut text = String::new();
    // Without quotation marks, an empty date would be the next word.
    let title = rendered(|to| man.render_title(to))?;
    text += &title.replace(&format!(" {section}  "), &format!(" {section} \"\" "));
    text += &rendered(|to| man.render_name_section(to))?;
    text += &rendered(|to| man.render_synopsis_section(to))?;
    text += &rendered(|to| man.render_description_section(to))?;
    text += &rendered(|to| man.render_options_section(to))?;
    if command.has_subcommands() {
        text += ".SH COMMANDS\n";
        for verb in command.get_subcommands() {
            text += &described(verb)?;
        }
    }
    Ok(text + more)
}

/// A command below a heading of its own, and the commands below it.
fn described(command: &Command) -> io::Result<String> {
    if command.is_hide_set() {
        return Ok(String::new());
    }
    if command.has_subcommands() {
        return command.get_subcommands().filter(|verb| verb.get_name() != "help").map(described).collect();
    }
    let man = Man::new(command.clone());
    let mut text = format!(".SS \"{}\"\n", command.get_bin_name().unwrap_or(command.get_name()));
    text += &rendered(|to| man.render_description_section(to))?;
    text += ".PP\n";
    text += &rendered(|to| man.render_synopsis_section(to))?;
    text += &rendered(|to| man.render_options_section(to))?;
    if let Some(after) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        text += &format!(".PP\n.nf\n{}\n.fi\n", literal(&after.to_string()));
    }
    Ok(text.lines().filter(|line| !line.starts_with(".SH ")).map(|line| format!("{line}\n")).collect())
}

/// What is rendered, without the lines that define an apostrophe.
fn rendered(render: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> io::Result<String> {
    let mut bytes = Vec::new();
    render(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).replace("\\*(Aq", "\\(aq");
    let is_kept = |line: &&str| !line.starts_with(".ie ") && !line.starts_with(".el ");
    Ok(text.lines().filter(is_kept).map(|line| format!("{}\n", line.trim_end())).collect())
}

/// Lines that roff prints as they are.
fn literal(text: &str) -> String {
    let escaped = text.trim_end().replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    let lines: Vec<String> = escaped.lines().map(|line| format!("\\&{line}")).collect();
    lines.join("\n")
}
