//! `--capture`: all datagrams of this side in a file, which is complete however the command ends.

use crate::output::{Done, Failure};
use crate::outputs::keep_apart;
use lightlag_capture::Datagrams;
use lightlag_node::interrupt::Interrupt;
use lightlag_node::tap::Tap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A capture that is written, and whether somebody has asked for the end.
pub struct Recording {
    file: Option<(PathBuf, Shared)>,
    asked: Option<Interrupt>,
}

/// What the tap writes to; what the system said when it could not continue.
type Shared = Arc<Mutex<io::Result<Datagrams<BufWriter<File>>>>>;

impl Recording {
    /// Nothing is captured, and there are no interrupts.
    pub const fn none() -> Self {
        Self { file: None, asked: None }
    }
    /// Nothing is captured; an interrupt asks for the end.
    pub fn interruptible() -> Result<Self, Failure> {
        Ok(Self { file: None, asked: Some(Interrupt::watch()?) })
    }
    /// To a file, if one is given; `dccp`: it is DCCP that passes; `sent`: what must not be written over.
    pub fn begin(path: Option<&Path>, dccp: bool, sent: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self::none()) };
        if let Some(sent) = sent {
            keep_apart(sent, "the file that is sent", &[("--capture", Some(path))])?;
        }
        let file = File::create(path).and_then(|file| Datagrams::new(BufWriter::new(file), dccp));
        let file = file.map_err(|why| cannot(path, &why))?;
        let shared = Arc::new(Mutex::new(Ok(file)));
        Ok(Self { file: Some((path.to_owned(), shared)), ..Self::interruptible()? })
    }
    /// What sees the datagrams.
    pub fn tap(&self) -> Option<Tap> {
        let shared = self.file.as_ref()?.1.clone();
        Some(Box::new(move |passing| {
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(file) = state.as_mut()
                && let Err(why) = file.write(passing.at_ns, passing.from, passing.to, passing.bytes)
            {
                *state = Err(why);
            }
        }))
    }
    /// The end has not been asked for.
    pub fn goes_on(&self) -> bool {
        self.asked.as_ref().is_none_or(|asked| !asked.is_asked())
    }
    /// Completes the file; how the command ended, or why the file is not complete.
    pub fn end(self, done: Done) -> Done {
        let Some((path, shared)) = self.file else { return done };
        let ended = Err(io::ErrorKind::NotConnected.into());
        let state = std::mem::replace(&mut *shared.lock().unwrap_or_else(PoisonError::into_inner), ended);
        let written = state.and_then(Datagrams::finish);
        done.and(written.map_err(|why| cannot(&path, &why)))
    }
}

fn cannot(path: &Path, why: &io::Error) -> Failure {
    Failure::Input(format!("--capture: cannot write {}: {why}", path.display()))
}
