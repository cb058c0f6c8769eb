//! Who may use a door, and what may be reached through it.

use super::pair::{Extra, PROGRAM, Pair, first_line, free_port, keygen, local, socks, wait_for};
use super::skip::has;
use super::streams::{Target, exchange};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Offers these methods and says these words to SOCKS; what is answered.
fn talk(door: SocketAddr, methods: &[u8], user: &str, password: &str) -> (TcpStream, Vec<u8>) {
    let mut stream = TcpStream::connect(door).unwrap();
    stream.set_read_timeout(Some(super::pair::PATIENCE)).unwrap();
    stream.write_all(&[&[5, methods.len() as u8], methods].concat()).unwrap();
    let mut said = vec![0; 2];
    stream.read_exact(&mut said).unwrap();
    if said[1] == 2 {
        let words = [&[1, user.len() as u8], user.as_bytes(), &[password.len() as u8], password.as_bytes()];
        stream.write_all(&words.concat()).unwrap();
        let mut answer = [0; 2];
        stream.read_exact(&mut answer).unwrap();
        said.extend(answer);
    }
    (stream, said)
}

/// Asks for a port of loopback; the reply code.
fn reach(stream: &mut TcpStream, port: u16) -> u8 {
    let [high, low] = port.to_be_bytes();
    stream.write_all(&[5, 1, 0, 1, 127, 0, 0, 1, high, low]).unwrap();
    let mut answer = [0; 10];
    stream.read_exact(&mut answer).unwrap();
    answer[1]
}

#[test]
fn a_user_name_with_an_empty_password_as_java_sends_it_is_answered() {
    let pair = Pair::start(Extra::default());
    let target = Target::start(true);
    // The user's name is no hint; where it is one, it counts.
    for user in ["root", "", "durable", "priority=3"] {
        let (mut stream, said) = talk(pair.socks, &[0, 2], user, "");
        assert_eq!(said, [5, 2, 1, 0], "{user:?}");
        assert_eq!(reach(&mut stream, target.port), 0, "{user:?}");
        let (sent, back) = exchange(stream, 7, 1000);
        sent.unwrap();
        assert!(back.is_whole, "{user:?}");
    }
    assert_eq!(talk(pair.socks, &[0, 2], "priority=9", "").1, [5, 2, 1, 1], "a wrong hint is refused");
}

#[test]
fn the_socks_client_of_java_reaches_a_target() {
    if !has("java") || !has("javac") {
        return;
    }
    let pair = Pair::start(Extra::default());
    let target = TcpListener::bind(local(0)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source = "import java.io.*; import java.net.*;
        public class Client { public static void main(String[] of) throws Exception {
            Proxy proxy = new Proxy(Proxy.Type.SOCKS, new InetSocketAddress(\"127.0.0.1\", Integer.parseInt(of[0])));
            try (Socket socket = new Socket(proxy)) {
                socket.connect(new InetSocketAddress(\"127.0.0.1\", Integer.parseInt(of[1])));
                socket.getOutputStream().write(\"said\\n\".getBytes());
                System.out.print(new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine());
            } } }";
    fs::write(folder.path().join("Client.java"), source).unwrap();
    let run = |program: &str, words: &[&str]| -> Output {
        Command::new(program).current_dir(folder.path()).args(words).output().unwrap()
    };
    let made = run("javac", &["Client.java"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let port = target.local_addr().unwrap().port();
    let answers = std::thread::spawn(move || {
        let (mut stream, _) = target.accept().unwrap();
        assert_eq!(first_line(&mut stream), "said\n");
        stream.write_all(b"answered\n").unwrap();
    });
    let told = run("java", &["-Xmx64m", "Client", &pair.socks.port().to_string(), &port.to_string()]);
    assert_eq!(
        String::from_utf8_lossy(&told.stdout),
        "answered",
        "{}",
        String::from_utf8_lossy(&told.stderr)
    );
    answers.join().unwrap();
}

fn http(door: SocketAddr, port: u16, given: &str) -> String {
    let mut stream = TcpStream::connect(door).unwrap();
    let given = if given.is_empty() { String::new() } else { format!("Proxy-Authorization: {given}\r\n") };
    write!(stream, "CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n{given}\r\n").unwrap();
    first_line(&mut stream)
}

#[test]
fn a_door_with_a_password_lets_in_whoever_gives_it_and_takes_hints_behind_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    fs::write(&file, "secret\nanother line\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let [door, bare, web] = std::array::from_fn(|_| local(free_port()));
    let file = file.display();
    let near = format!(
        "[[socks]]\nlisten = \"{door}\"\nuser = \"alice\"\npassword_file = \"{file}\"\n\
         [[socks]]\nlisten = \"{bare}\"\npassword_file = \"{file}\"\n\
         [[http]]\nlisten = \"{web}\"\nuser = \"alice\"\npassword_file = \"{file}\"\n"
    );
    let pair = Pair::start(Extra { near: &near, ..Extra::default() });
    let target = Target::start(true);
    for (at, user, password) in [
        (door, "alice", "secret"),
        (door, "alice,priority=3,durable", "secret"),
        (bare, "", "secret"),
        (bare, "priority=2", "secret"),
    ] {
        let (mut stream, said) = talk(at, &[0, 2], user, password);
        assert_eq!(said, [5, 2, 1, 0], "{user}");
        assert_eq!(reach(&mut stream, target.port), 0, "{user}");
    }
    for (at, user, password) in [
        (door, "alice", "Secret"),
        (door, "alice", ""),
        (door, "alice", "secret\nanother line"),
        (door, "bob", "secret"),
        (door, "", "secret"),
        (door, "priority=3", "secret"),
        (door, "alice,priority=9", "secret"),
        (bare, "", "secre"),
        (bare, "x", "secret"),
    ] {
        assert_eq!(talk(at, &[0, 2], user, password).1, [5, 2, 1, 1], "{user:?} {password:?}");
    }
    assert_eq!(talk(door, &[0], "", "").1, [5, 0xff], "no password is offered");
    let basic = |words: &str| {
        use base64ct::Encoding;
        format!("basic {}", base64ct::Base64::encode_string(words.as_bytes()))
    };
    let port = target.port;
    assert!(http(web, port, "").contains(" 407 "));
    assert!(http(web, port, &basic("alice:no")).contains(" 407 "));
    assert!(http(web, port, &basic("alice,priority=9:secret")).contains(" 400 "));
    assert!(http(web, port, &basic("alice,priority=3:secret")).contains(" 200 "));
    assert!(pair.near.status()["intruders"].as_u64().unwrap() >= 9);
}

#[test]
fn a_proxy_for_everybody_and_a_password_that_others_can_read_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    keygen(folder.path());
    let file = folder.path().join("lightlagd.toml");
    let check = |settings: &str| {
        fs::write(&file, settings).unwrap();
        let told = Command::new(PROGRAM).args(["check", "-c"]).arg(&file).output().unwrap();
        (told.status.code(), String::from_utf8_lossy(&told.stderr).into_owned())
    };
    fs::write(folder.path().join("readable"), "secret\n").unwrap();
    fs::set_permissions(folder.path().join("readable"), fs::Permissions::from_mode(0o644)).unwrap();
    for kind in ["socks", "http"] {
        for address in ["0.0.0.0:1080", "[::]:1080", "192.0.2.1:1080"] {
            let (code, line) = check(&format!("direct = true\n[[{kind}]]\nlisten = \"{address}\"\n"));
            assert!(code == Some(2) && line.contains("set password_file, or open = true"), "{line}");
            assert_eq!(check(&format!("[[{kind}]]\nlisten = \"{address}\"\nopen = true\n")).0, Some(0));
        }
        assert_eq!(check(&format!("[[{kind}]]\nlisten = \"127.0.0.1:1080\"\n")).0, Some(0));
        for (more, said) in [
            ("password_file = \"readable\"", "others can read it (mode 0644); it must be 0600"),
            ("password_file = \"missing\"", "password_file"),
            ("user = \"alice\"", "add password_file"),
            ("user = \"a,b\"\npassword_file = \"readable\"", "without a comma"),
        ] {
            let (code, line) = check(&format!("[[{kind}]]\nlisten = \"127.0.0.1:1080\"\n{more}\n"));
            assert!(code == Some(2) && line.contains(said) && line.lines().count() == 1, "{more}: {line}");
        }
    }
}

#[test]
fn check_names_every_door_that_the_network_can_use_without_a_password() {
    let folder = tempfile::tempdir().unwrap();
    keygen(folder.path());
    let file = folder.path().join("lightlagd.toml");
    let notes = |address: &str| {
        let doors = [("socks", 1, "open = true"), ("http", 2, "open = true"), ("redirected", 3, "")]
            .map(|(kind, port, more)| format!("[[{kind}]]\nlisten = \"{address}:{port}\"\n{more}\n"))
            .concat();
        let forward = format!("[[forward]]\nlisten = \"{address}:4\"\nto = \"db:5432\"\n");
        fs::write(&file, doors + &forward).unwrap();
        let told = Command::new(PROGRAM).args(["check", "-c"]).arg(&file).output().unwrap();
        assert_eq!(told.status.code(), Some(0), "{}", String::from_utf8_lossy(&told.stderr));
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        told.lines().filter(|line| line.starts_with("note: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(notes("127.0.0.1"), Vec::<String>::new());
    for address in ["0.0.0.0", "192.0.2.1", "[::]"] {
        let found = notes(address);
        let is_named =
            |port: u16| found.iter().any(|line| line.contains(&format!("{address}:{port}: every host")));
        assert!(found.len() == 4 && (1..=4).all(is_named), "{found:?}");
    }
}

#[test]
fn a_star_in_serve_or_direct_does_not_contain_loopback() {
    let pair = Pair::start(Extra { far_peer: "serve = [\"*\", \"web\"]\n", ..Extra::default() });
    let target = Target::start(true);
    for host in
        ["127.0.0.1", "localhost", "127.1", "2130706433", "0.0.0.0", "[::ffff:127.0.0.1]", "169.254.169.254"]
    {
        let why = socks(pair.socks, host, target.port, "").unwrap_err();
        assert_eq!(why.kind(), ErrorKind::PermissionDenied, "{host}: {why}");
    }
    assert_eq!(pair.far.status()["peers"][0]["refused"], 7);
    change(
        &pair.far.folder,
        "serve = [\"*\", \"web\"]",
        "serve = [\"*\", \"127.0.0.0/8\"]\ndeny = [\"127.0.0.2\"]",
    );
    assert!(pair.far.ask(&["reload"]).status.success());
    assert!(socks(pair.socks, "localhost", target.port, "").is_ok());
    assert!(socks(pair.socks, "127.0.0.2", target.port, "").is_err(), "it is denied");
    change(&pair.near.folder, "reach = [\"*\", \"web\"]", "reach = [\"web\"]");
    change(&pair.near.folder, "[[peer]]", "direct = true\n[[peer]]");
    assert!(pair.near.ask(&["reload"]).status.success());
    assert_eq!(pair.connect(target.port, "").unwrap_err().kind(), ErrorKind::PermissionDenied);
    change(&pair.near.folder, "direct = true", "direct = [\"127.0.0.0/8\"]");
    assert!(pair.near.ask(&["reload"]).status.success());
    assert!(pair.connect(target.port, "").is_ok());
}

/// Changes settings, in a folder.
pub fn change(folder: &Path, from: &str, to: &str) {
    let file = folder.join("lightlagd.toml");
    let before = fs::read_to_string(&file).unwrap();
    assert!(before.contains(from), "{before}");
    fs::write(&file, before.replacen(from, to, 1)).unwrap();
}

#[test]
fn an_application_that_names_a_peer_reaches_no_more_by_it_than_the_settings_say() {
    let pair = Pair::start(Extra::default());
    let target = Target::start(true);
    assert!(pair.connect(target.port, "peer=far").is_ok());
    change(&pair.near.folder, "reach = [\"*\", \"web\"]", "reach = [\"web\"]");
    change(&pair.near.folder, "[[peer]]", "direct = [\"127.0.0.0/8\"]\n[[peer]]");
    assert!(pair.near.ask(&["reload"]).status.success());
    assert_eq!(pair.connect(target.port, "peer=far").unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert!(pair.connect(target.port, "peer=unknown").is_err(), "nor directly");
    assert!(pair.connect(target.port, "").is_ok(), "directly");
}

#[test]
fn a_state_that_others_could_read_is_made_the_owners_alone() {
    let mut pair = Pair::start(Extra::default());
    pair.near.kill();
    let state = pair.near.folder.join("state");
    fs::write(state.join("other"), "x").unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(state.join("custody.redb"), fs::Permissions::from_mode(0o644)).unwrap();
    pair.near.start();
    for entry in fs::read_dir(&state).unwrap().flatten() {
        let mode = entry.metadata().unwrap().permissions().mode() & 0o077;
        assert_eq!(mode, 0, "{}", entry.path().display());
    }
    assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(pair.near.log().contains("other users had access"));
}

#[test]
fn an_application_learns_soon_that_keys_do_not_match_and_waits_where_the_network_is_away() {
    let mut pair = Pair::start(Extra::default());
    pair.near.kill();
    let folder = tempfile::tempdir().unwrap();
    let other = keygen(folder.path());
    let file = pair.near.folder.join("lightlagd.toml");
    let settings = fs::read_to_string(&file).unwrap();
    let at = settings.find("ed25519:").unwrap();
    let end = at + settings[at..].find('"').unwrap();
    fs::write(&file, format!("{}{other}{}", &settings[..at], &settings[end..])).unwrap();
    pair.near.start();
    let why = || pair.near.status()["peers"][0]["tcp_trouble"].as_str().unwrap_or_default().to_owned();
    wait_for("the other key", || why().contains("another key"));
    let begun = std::time::Instant::now();
    assert!(pair.connect(1, "").unwrap_err().to_string().contains('4'), "host unreachable");
    assert!(http(pair.http, 1, "").contains(" 502 "));
    assert!(begun.elapsed() < std::time::Duration::from_secs(30), "it waited: {:?}", begun.elapsed());
    // The right key again, and nothing gets through: the application waits for its target.
    pair.near.kill();
    fs::write(&file, settings).unwrap();
    pair.way.cut(true);
    pair.near.start();
    let target = Target::start(true);
    let waits = pair.connect(target.port, "").unwrap();
    pair.way.mend();
    let (sent, back) = exchange(waits, 3, 1000);
    sent.unwrap();
    assert!(back.is_whole);
}
