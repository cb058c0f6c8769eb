//! Programs as they are installed, through two daemons by `lightlag-run`.

#![allow(clippy::unwrap_used, reason = "what a test cannot do fails it")]

#[path = "../../socket/tests/daemons/mod.rs"]
mod daemons;

use daemons::{Daemons, Running, eventually, has};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};

/// 3 MB of noise.
fn much() -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(3_000_000).collect()
}

/// A web server of Python on loopback, and two daemons; its port.
fn web() -> Option<(Daemons, Running, u16)> {
    if !has("python3") {
        return None;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let daemons = Daemons::start(&format!("web = \"127.0.0.1:{port}\""))?;
    let www = daemons.path().join("www");
    fs::create_dir(&www).unwrap();
    fs::write(www.join("much"), much()).unwrap();
    let mut server = Command::new("python3");
    server.args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()]).current_dir(&www);
    let server = Running(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    eventually("the web server is there", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    Some((daemons, server, port))
}

fn lightlag_run(daemons: &Daemons, options: &[&str], program: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lightlag-run"));
    command.args(["--socks", &daemons.socks]).args(options).arg(program).current_dir(daemons.path());
    command.stdin(Stdio::null());
    command
}

fn said(done: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
}

/// Runs a program that writes to `got` what it fetches, or prints it where there is no such file.
fn fetches(daemons: &Daemons, options: &[&str], program: &str, arguments: &[&str]) {
    if !has(program) {
        return;
    }
    let file = daemons.path().join("got");
    let _ = fs::remove_file(&file);
    let done = lightlag_run(daemons, options, program).args(arguments).output().unwrap();
    assert!(done.status.success(), "{program} {arguments:?}: {}", said(&done));
    let got = fs::read(&file).unwrap_or(done.stdout);
    assert!(got == much(), "{program} {arguments:?}: {} bytes", got.len());
    println!("{program}: {} bytes, as they were", got.len());
}

#[test]
fn curl_wget_python_node_and_bash_reach_names_that_only_the_far_side_knows() {
    let Some((daemons, _server, port)) = web() else { return };
    let url = "http://web.lightlag/much";
    fetches(&daemons, &[], "curl", &["-sS", "-o", "got", url]);
    fetches(&daemons, &["--priority", "3"], "wget", &["-q", "-O", "got", url]);
    let loopback = format!("http://127.0.0.1:{port}/much");
    fetches(&daemons, &["--also-loopback"], "curl", &["-sS", "-o", "got", &loopback]);
    let mapped = format!("http://[::ffff:127.0.0.1]:{port}/much");
    fetches(&daemons, &["--also-loopback"], "curl", &["-sS", "-o", "got", &mapped]);
    let python = format!("import urllib.request as u; open('got','wb').write(u.urlopen('{url}').read())");
    fetches(&daemons, &[], "python3", &["-c", &python]);
    let asyncio = "
import asyncio
async def main():
    reader, writer = await asyncio.open_connection('web.lightlag', 80)
    writer.write(b'GET /much HTTP/1.0\\r\\n\\r\\n')
    head = await reader.readuntil(b'\\r\\n\\r\\n')
    open('got', 'wb').write(await reader.read())
asyncio.run(main())";
    fetches(&daemons, &[], "python3", &["-c", asyncio]);
    let node = format!(
        "require('http').get('{url}', a => a.pipe(require('fs').createWriteStream('got'))).on('error', e => {{ throw e }})"
    );
    fetches(&daemons, &[], "node", &["-e", &node]);
    let bash = "exec 3<>/dev/tcp/web.lightlag/80; printf 'GET /much HTTP/1.0\\r\\n\\r\\n' >&3; sed '1,/^\\r$/d' <&3 > got";
    fetches(&daemons, &[], "bash", &["-c", bash]);
}

#[test]
fn java_does_with_the_addresses_of_ipv4_in_ipv6_that_it_prefers() {
    if !has("java") || !has("javac") {
        return;
    }
    let Some((daemons, _server, _)) = web() else { return };
    let source = "import java.net.*; import java.nio.file.*;
class Fetch { public static void main(String[] words) throws Exception {
  try (var from = new URL(words[0]).openStream()) { Files.copy(from, Path.of(\"got\")); } } }";
    fs::write(daemons.path().join("Fetch.java"), source).unwrap();
    fetches(&daemons, &[], "java", &["Fetch.java", "http://web.lightlag/much"]);
}

#[test]
fn git_clones_a_repository_that_only_the_far_side_has() {
    if !has("git") {
        return;
    }
    let Some((daemons, _server, _)) = web() else { return };
    let git = |folder: &str, words: &str| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words.split(' '));
        let done = git.current_dir(daemons.path().join(folder)).output().unwrap();
        assert!(done.status.success(), "{words}: {}", said(&done));
    };
    git(".", "init -q source");
    fs::write(daemons.path().join("source/much"), much()).unwrap();
    git("source", "add much");
    git("source", "commit -q -m much");
    git(".", "clone -q --bare source www/source.git");
    git("www/source.git", "update-server-info");
    let mut clone = lightlag_run(&daemons, &[], "git");
    let done = clone.args(["clone", "-q", "http://web.lightlag/source.git", "clone"]).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    assert!(fs::read(daemons.path().join("clone/much")).unwrap() == much());
}

#[test]
fn ssh_speaks_to_a_server_that_only_the_far_side_knows() {
    if !has("ssh") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let Some(daemons) = Daemons::start(&format!("ssh = \"127.0.0.1:{port}\"")) else { return };
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(b"SSH-2.0-lightlag_test\r\n").unwrap();
        let mut bytes = [0; 8];
        socket.read_exact(&mut bytes).unwrap();
        bytes
    });
    let mut ssh = lightlag_run(&daemons, &[], "ssh");
    let done =
        ssh.args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "a@ssh.lightlag", "true"]).output();
    assert_eq!(&server.join().unwrap(), b"SSH-2.0-", "{}", said(&done.unwrap()));
}

#[test]
fn what_is_not_reached_has_the_error_of_the_kernel() {
    if !has("python3") {
        return;
    }
    let Some(daemons) = Daemons::start("") else { return };
    let python = "
import errno, socket
def fails(host, port, number):
    try:
        socket.create_connection((host, port))
    except OSError as why:
        assert why.errno == number, why
    else:
        raise SystemExit(f'{host} was reached')
fails('127.0.0.1', 1, errno.ECONNREFUSED)
fails('nothing.lightlag', 1, errno.EHOSTUNREACH)
again = socket.socket()
assert again.connect_ex((socket.gethostbyname('nothing.lightlag'), 1)) == errno.EHOSTUNREACH
assert again.connect_ex((socket.gethostbyname('nothing.lightlag'), 1)) == errno.EHOSTUNREACH, 'a socket can be used again'
assert socket.gethostbyname('localhost') == '127.0.0.1'
assert socket.getaddrinfo('a.far', 80, socket.AF_INET6)[0][4][0] == '::ffff:198.18.0.2'
udp = socket.socket(type=socket.SOCK_DGRAM)
udp.connect(('127.0.0.1', 9))
";
    let done = lightlag_run(&daemons, &["--also-loopback"], "python3").args(["-c", python]).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
}

#[test]
fn wrong_words_are_one_line() {
    let run = |words: &[&str]| Command::new(env!("CARGO_BIN_EXE_lightlag-run")).args(words).output().unwrap();
    for (words, code, wanted) in [
        (&["--priority", "9", "true"][..], 2, "it must be 0 to 3"),
        (&["--socks", "no-port", "true"], 2, "--socks: \"no-port\" is not an address; it must be host:port"),
        (&[], 2, "no program"),
        (&["--socks", "127.0.0.1:1", "true"], 1, "no lightlagd answers at 127.0.0.1:1"),
    ] {
        let done = run(words);
        let text = said(&done);
        assert_eq!(done.status.code(), Some(code), "{text}");
        assert!(text.contains(wanted) && text.lines().count() == 1, "{words:?}: {text}");
    }
}

#[test]
fn a_static_program_is_told_of_the_daemon_by_its_environment() {
    if !has("cc") {
        return;
    }
    let Some(daemons) = Daemons::start("") else { return };
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv(\"ALL_PROXY\")); }\n";
    fs::write(daemons.path().join("a.c"), source).unwrap();
    let cc =
        Command::new("cc").args(["-static", "-o", "a", "a.c"]).current_dir(daemons.path()).output().unwrap();
    if !cc.status.success() {
        return daemons::skip("cc cannot link statically");
    }
    let done = lightlag_run(&daemons, &["--durable"], "./a").output().unwrap();
    let text = said(&done);
    assert!(text.contains(&format!("socks5h://durable:-@{}", daemons.socks)), "{text}");
    assert!(text.contains("./a: it is linked statically"), "{text}");
}
