//! Programs in C, through two daemons.

#![allow(clippy::unwrap_used, reason = "what a test cannot do fails it")]

mod daemons;

use daemons::{Daemons, Running, built, echo, eventually, has};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn room(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compiles a program; its folder.
fn compiled(source: &str, to: &Path) -> PathBuf {
    let library = built("liblightlag.so").expect("the library is built with its tests");
    let program = to.join(room(source).file_stem().unwrap());
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o"])
        .arg(&program);
    cc.arg(room(source)).arg("-I").arg(room("include")).arg(&library);
    cc.arg(format!("-Wl,-rpath,{}", to.display()));
    let soname = to.join(concat!("liblightlag.so.", env!("CARGO_PKG_VERSION_MAJOR")));
    let _ = std::os::unix::fs::symlink(&library, soname);
    let made = cc.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    program
}

fn at(command: &mut Command, daemons: &Daemons, control: &str) {
    command.env("LIGHTLAG_SOCKS", &daemons.socks).env("LIGHTLAG_CONTROL", daemons.control(control));
}

fn said(done: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
}

#[test]
fn the_library_keeps_its_promises_to_c() {
    if !has("cc") {
        return;
    }
    let Some(daemons) = Daemons::start(&format!("echo = \"127.0.0.1:{}\"", echo())) else { return };
    let mut checks = Command::new(compiled("tests/checks.c", daemons.path()));
    at(&mut checks, &daemons, "near");
    let done = checks.output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
}

#[test]
fn a_service_of_c_is_reached_from_the_far_side_until_it_ends_though_its_daemon_was_killed() {
    if !has("cc") {
        return;
    }
    let Some(mut daemons) = Daemons::start("") else { return };
    let client = compiled("../../examples/echo_client.c", daemons.path());
    let server = compiled("../../examples/echo_server.c", daemons.path());
    let serve = || {
        let mut command = Command::new(&server);
        at(&mut command, &daemons, "far");
        command
    };
    let serving = Running(serve().stdout(Stdio::null()).spawn().unwrap());
    let call = |daemons: &Daemons, text: &str| {
        let mut command = Command::new(&client);
        at(&mut command, daemons, "near");
        said(&command.args(["echo", "0", text]).output().unwrap())
    };
    eventually("the service is there", || call(&daemons, "hello") == "hello");
    assert!(said(&serve().output().unwrap()).contains("in use"), "a name is one program's");
    daemons.reload_far();
    assert_eq!(call(&daemons, "after a reload"), "after a reload");
    daemons.restart_far();
    eventually("the service is there again", || call(&daemons, "once more") == "once more");
    drop(serving);
    assert!(call(&daemons, "hello").contains("No route to host"), "no listener is left");
}

/// Names with how many parameters they take.
fn functions(text: &str, begins: &str) -> Vec<(String, usize)> {
    let heads = text.split(begins).skip(1).filter(|rest| rest.starts_with("ll_"));
    let mut found: Vec<_> = heads
        .map(|rest| {
            let (name, rest) = rest.split_once('(').unwrap();
            let list = rest.split(')').next().unwrap();
            let count = list.split(',').filter(|one| !one.trim().is_empty() && *one != "void").count();
            (name.to_owned(), count)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn header_and_library_agree() {
    let header = fs::read_to_string(room("include/lightlag.h")).unwrap();
    let source = fs::read_to_string(room("src/abi.rs")).unwrap();
    let error = fs::read_to_string(room("src/error.rs")).unwrap();
    let declared: String =
        header.lines().filter(|line| line.ends_with(';') || line.contains("; /*")).collect();
    let declared = declared.replace('*', " ").replace(" ll_", "fn ll_");
    assert_eq!(functions(&declared, "fn "), functions(&source, "extern \"C\" fn "));
    let defined: Vec<(&str, &str)> = header
        .lines()
        .filter_map(|line| line.strip_prefix("#define LL_")?.split_once(' '))
        .map(|(name, rest)| (name, rest.split(' ').next().unwrap()))
        .collect();
    assert_eq!(defined.len(), source.matches("pub const LL_").count() + 1);
    for (name, number) in defined {
        let is_there = match name {
            "ENODAEMON" => error.replace('_', "").contains(&format!("i32 = {number};")),
            _ => source.contains(&format!("pub const LL_{name}: c_int = {number};")),
        };
        assert!(is_there, "LL_{name} is not {number} in the library");
    }
}
