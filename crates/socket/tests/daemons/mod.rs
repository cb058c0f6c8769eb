//! Two daemons that know each other, in a folder of their own.

#![allow(dead_code, reason = "each test binary uses its own part")]

#[path = "../../../../tests/skip.rs"]
mod skip;

pub use skip::{has, skip};
use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// More than anything here takes on a machine that is busy.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What was built beside this test.
pub fn built(name: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().unwrap();
    let folders = [test.parent().unwrap(), test.parent().unwrap().parent().unwrap()];
    folders.map(|folder| folder.join(name)).into_iter().find(|path| path.exists())
}

/// Tries until it is so.
pub fn eventually(what: &str, is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    let mut is_so = is_so;
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not so after {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A program that ends with its test.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two daemons: applications are at `near`, targets at `far`.
pub struct Daemons {
    folder: TempDir,
    program: PathBuf,
    near: Option<Running>,
    far: Option<Running>,
    /// Where applications come in.
    pub socks: String,
}

impl Daemons {
    /// Starts them. The far one has the services; none if `lightlagd` was not built.
    pub fn start(services: &str) -> Option<Self> {
        let Some(program) = built("lightlagd") else {
            skip("lightlagd is not built (cargo build -p lightlag-daemon)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let key = |name: &str| {
            fs::create_dir(folder.path().join(name)).unwrap();
            let made =
                Command::new(&program).arg("keygen").arg(folder.path().join(name).join("key.pem")).output();
            String::from_utf8(made.unwrap().stdout).unwrap().trim().to_owned()
        };
        let (near, far, port, socks) = (key("near"), key("far"), free_port(), free_port());
        fs::write(
            folder.path().join("near/lightlagd.toml"),
            format!(
                "[[peer]]\nname = \"far\"\nkey = \"{far}\"\ntcp = \"127.0.0.1:{port}\"\nreach = [\"*\", \"web\", \"echo\", \"git\", \"ssh\"]\n\
                 [[socks]]\nlisten = \"127.0.0.1:{socks}\"\n"
            ),
        )
        .unwrap();
        fs::write(
            folder.path().join("far/lightlagd.toml"),
            format!(
                "[listen]\ntcp = \"127.0.0.1:{port}\"\n[services]\n{services}\n\
                 [[peer]]\nname = \"near\"\nkey = \"{near}\"\nserve = [\"*\", \"127.0.0.0/8\", \"web\", \"echo\", \"git\", \"ssh\"]\n"
            ),
        )
        .unwrap();
        let socks = format!("127.0.0.1:{socks}");
        let mut daemons = Self { folder, program, near: None, far: None, socks };
        daemons.far = Some(daemons.run("far"));
        daemons.near = Some(daemons.run("near"));
        eventually("the daemons know each other", || daemons.status("near").contains("\"is_known\":true"));
        Some(daemons)
    }
    fn run(&self, name: &str) -> Running {
        let log = File::create(self.folder.path().join(format!("{name}.log"))).unwrap();
        let mut command = Command::new(&self.program);
        command
            .arg("run")
            .arg("--config")
            .arg(self.config(name))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let daemon = Running(command.spawn().unwrap());
        eventually("the daemon answers", || self.status(name).contains("version"));
        daemon
    }
    fn config(&self, name: &str) -> PathBuf {
        self.folder.path().join(name).join("lightlagd.toml")
    }
    /// The status of one, as JSON.
    pub fn status(&self, name: &str) -> String {
        let asked = Command::new(&self.program)
            .args(["status", "--json", "--config"])
            .arg(self.config(name))
            .output();
        String::from_utf8(asked.unwrap().stdout).unwrap()
    }
    /// Its owner's socket.
    pub fn control(&self, name: &str) -> PathBuf {
        self.folder.path().join(name).join("state/control.sock")
    }
    /// Kills the far one, and starts it again.
    pub fn restart_far(&mut self) {
        self.far = None;
        self.far = Some(self.run("far"));
    }
    /// Reads the far one's settings again.
    pub fn reload_far(&self) {
        let told = Command::new(&self.program).args(["reload", "--config"]).arg(self.config("far")).output();
        assert!(told.unwrap().status.success());
    }
    /// A folder for what else is needed.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Gives back what it gets, on a port of its own, until both streams have ended.
pub fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || {
                let stream: TcpStream = stream.unwrap();
                let _ = std::io::copy(&mut &stream, &mut &stream);
            });
        }
    });
    port
}
