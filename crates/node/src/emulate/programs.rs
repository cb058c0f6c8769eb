//! What runs in the namespaces.

use super::namespaces::Namespaces;
use crate::Error;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take to end after it was asked to.
const PATIENCE: Duration = Duration::from_secs(5);

/// What runs on both sides; it is ended when this goes.
pub struct Programs {
    near: Option<Child>,
    far: Option<Child>,
}

/// Exit status of the command on the near side, as a shell reports it: 128 plus the number of the signal that
/// killed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended(pub u8);

impl Programs {
    /// Starts them: on the near side a command and its arguments, on the far side a line of the shell, which is
    /// ended with all that it has started. Both find the names of the namespaces in `LIGHTLAG_NEAR` and
    /// `LIGHTLAG_FAR`.
    ///
    /// # Errors
    /// There is no such command, or the system says no.
    pub fn start(namespaces: &Namespaces, near: &[OsString], far: Option<&str>) -> Result<Self, Error> {
        let enter = |side: usize| {
            let names = namespaces.names();
            let mut command = Command::new("ip");
            command.args(["netns", "exec", names[side]]);
            command.env("LIGHTLAG_NEAR", names[0]).env("LIGHTLAG_FAR", names[1]);
            command
        };
        let failed = |why: io::Error| Error::Failed(format!("cannot run `ip netns exec`: {why}"));
        if let Some(program) = near.first()
            && !exists(program)
        {
            let name = program.to_string_lossy();
            return Err(Error::Input(format!(
                "cannot find the command `{name}`; name a program, as `-- curl URL`"
            )));
        }
        let mut programs = Self { near: None, far: None };
        if let Some(line) = far {
            let mut command = enter(1);
            // Standard output is the command's alone.
            let told = io::stderr().as_fd().try_clone_to_owned().map_err(failed)?;
            command.args(["sh", "-c", line]).stdin(Stdio::null()).stdout(told).process_group(0);
            programs.far = Some(command.spawn().map_err(failed)?);
        }
        if !near.is_empty() {
            programs.near = Some(enter(0).args(near).spawn().map_err(failed)?);
        }
        Ok(programs)
    }
    /// How the command has ended, if there is one and it has.
    ///
    /// # Errors
    /// What the system says.
    pub fn ended(&mut self) -> io::Result<Option<Ended>> {
        let Some(near) = &mut self.near else { return Ok(None) };
        Ok(near.try_wait()?.map(code))
    }
    /// Ends everything; how the command ended, if there is one.
    ///
    /// # Errors
    /// What the system says.
    pub fn end(&mut self) -> io::Result<Option<Ended>> {
        // Both are asked before either is waited for.
        if let Some(near) = self.near.as_mut()
            && near.try_wait()?.is_none()
        {
            let _ = kill_process(Pid::from_child(near), Signal::TERM);
        }
        if let Some(mut far) = self.far.take() {
            let group = Pid::from_child(&far);
            let _ = kill_process_group(group, Signal::TERM);
            wait(&mut far)?;
            // What it has started may be deaf.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let Some(mut near) = self.near.take() else { return Ok(None) };
        wait(&mut near).map(|status| Some(code(status)))
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Its end, which comes by force where patience ends.
fn wait(child: &mut Child) -> io::Result<ExitStatus> {
    let asked = Instant::now();
    while asked.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()
}

fn code(status: ExitStatus) -> Ended {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    Ended(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Whether a shell would find it.
fn exists(program: &OsString) -> bool {
    if Path::new(program).components().count() > 1 {
        return Path::new(program).exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
