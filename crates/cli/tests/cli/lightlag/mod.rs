//! The command as users run it, in a folder of its own.

pub mod running;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Walkers that meet now and then; a run takes milliseconds.
pub const WALKERS: &str = r#"name = "walkers"
duration = "10 min"
seeds = [1, 2]
router = "epidemic"
mechanism = "none"
buffer = "500 kB"

mobility = { model = "random_waypoint", area = "300 m x 300 m", speed = "0.5..1.5 m/s", pause = "0..120 s" }
radio = { range = "50 m", rate = "2.5 Mbit/s" }

[nodes.n]
count = 10

[traffic.messages]
interval = "1..30 s"
size = "50..100 kB"
from = "all"
to = "all"
lifetime = "10 min"
prefix = "M"
"#;

/// Two nodes whose contacts stand in a file.
pub const RELAY: &str = r#"name = "relay"
duration = "10 min"
seeds = [1]
router = "epidemic"
mechanism = "none"
buffer = "500 kB"

[nodes.a]

[nodes.b]

[contacts.plan]
kind = "table"
file = "contacts.txt"

[traffic.messages]
interval = "1..30 s"
size = "50..100 kB"
from = "a"
to = "b"
lifetime = "10 min"
"#;

/// A settings file of The ONE.
pub const SETTINGS: &str = "\
Scenario.name = small
Scenario.endTime = 600
Scenario.updateInterval = 0.1
Scenario.nrofHostGroups = 1
wifi.type = SimpleBroadcastInterface
wifi.transmitSpeed = 250k
wifi.transmitRange = 50
Group.movementModel = RandomWaypoint
Group.router = EpidemicRouter
Group.bufferSize = 500k
Group.waitTime = 0, 120
Group.speed = 0.5, 1.5
Group.msgTtl = 10
Group.nrofInterfaces = 1
Group.interface1 = wifi
Group.nrofHosts = 10
Group1.groupID = n
Events.nrof = 1
Events1.class = MessageEventGenerator
Events1.interval = 1,30
Events1.size = 50k,100k
Events1.hosts = 0,10
Events1.prefix = M
MovementModel.rngSeed = 1
MovementModel.worldSize = 300, 300
Report.reportDir = reports/
Report.nrofReports = 1
Report.report1 = MessageStatsReport
";

/// A folder to run the command in.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), text).expect("the folder can be written");
        self
    }
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
    }
    /// The command with these words, in this folder.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lightlag"));
        command.current_dir(&self.0).args(words).env("XDG_STATE_HOME", self.path(".state"));
        command
    }
    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the command starts")
    }
    /// What a good command prints.
    pub fn good(&self, words: &[&str]) -> String {
        let done = self.run(words);
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("what is printed is text")
    }
    /// The one line of a command that is refused; nothing else may be printed.
    pub fn refused(&self, words: &[&str]) -> String {
        let lines = self.all_refused(words);
        assert_eq!(lines.lines().count(), 1, "{words:?}: {lines}");
        lines
    }
    /// The lines of a command that is refused, one for each error; nothing else may be printed.
    pub fn all_refused(&self, words: &[&str]) -> String {
        let done = self.run(words);
        let output = String::from_utf8(done.stderr).expect("errors are text");
        assert_eq!(done.status.code(), Some(2), "{words:?}: {}", output);
        assert_eq!(String::from_utf8_lossy(&done.stdout), "", "{words:?} printed something");
        let errors = output.lines().map(|line| {
            let error = line.strip_prefix("lightlag: ");
            error.unwrap_or_else(|| panic!("{words:?}: {}", output)).to_owned()
        });
        Vec::from_iter(errors).join("\n")
    }
}

/// Files below a folder of this repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// It was tried and failed, and says so in one line with these words.
#[track_caller]
pub fn failed(done: &Output, words: &str) {
    let output = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{output}");
    assert_eq!(output.lines().count(), 1, "{output}");
    assert!(output.contains(words), "{output}");
}
