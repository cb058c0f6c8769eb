//! Processes that run beside the test.

use super::Place;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process that is killed when the test is over.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Starts it and waits for the line that says where it listens.
    pub fn listening(mut command: Command) -> (Self, String) {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let output = child.stderr.take().expect("its errors are read");
        let mut lines = BufReader::new(output);
        let mut line = String::new();
        lines.read_line(&mut line).expect("it prints something");
        let at = line.trim().strip_prefix("listening at ").unwrap_or_else(|| panic!("{line}")).to_owned();
        // Its other lines must not fill the pipe.
        std::thread::spawn(move || lines.read_to_string(&mut String::new()));
        (Self(child), at)
    }
    /// The link of a scenario in real time, before the listener at `to`; and where it takes datagrams.
    pub fn link(place: &Place, scenario: &str, to: &str) -> (Self, String) {
        place.write("link.toml", scenario);
        Self::listening(place.command(&["emulate", "link.toml", "--listen", "127.0.0.1:0", "--to", to]))
    }
    pub fn start(place: &Place, words: &[&str]) -> Self {
        let mut command = place.command(words);
        Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts"))
    }
    /// Its end; within the time that tests have.
    pub fn end(mut self) -> (Option<i32>, String, String) {
        let began = Instant::now();
        while self.0.try_wait().expect("it can be waited for").is_none() {
            assert!(began.elapsed() < Duration::from_secs(60), "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        let (mut out, mut output) = (String::new(), String::new());
        self.0.stdout.take().map(|mut pipe| pipe.read_to_string(&mut out));
        self.0.stderr.take().map(|mut pipe| pipe.read_to_string(&mut output));
        (self.0.wait().expect("it has ended").code(), out, output)
    }
}

/// A link of this rate and 20 ms in each direction, which has `more`.
pub fn link_of(rate: &str, more: &str) -> String {
    format!(
        r#"
duration = "100 s"
[links.space]
from = "earth"
to = "mars"
rate = "{rate}"
round_trip = "20 ms"
{more}
[flows.file]
from = "earth"
to = "mars"
controller = "new_reno"
size = "8 MB"
"#
    )
}

/// Bytes without a pattern.
pub fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..length.div_ceil(8)).flat_map(|_| next().to_le_bytes()).take(length).collect()
}
