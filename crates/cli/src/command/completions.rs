//! `lightlag completions`.

use crate::args::Completions;
use crate::output::{Done, print};

pub fn completions(options: &Completions) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut crate::command(), "lightlag", &mut script);
    print(&String::from_utf8_lossy(&script))
}
