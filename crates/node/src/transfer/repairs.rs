//! Makes repairs beside the loop that sends: to solve for the intermediate symbols of a block takes
//! longer than many datagrams may wait.

use super::fec::Encoder;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Which repairs are wanted.
pub struct Job {
    pub block: u32,
    /// Where the block begins in the file.
    pub at: u64,
    /// Its own symbols.
    pub symbols: u32,
    /// Bytes of a symbol.
    pub size: u16,
    /// The first symbol that is wanted.
    pub first: u32,
    pub count: u32,
}

/// Some repairs of a block.
pub struct Repairs {
    pub block: u32,
    pub first: u32,
    pub symbols: Vec<Vec<u8>>,
}

impl Repairs {
    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.symbols.iter().map(Vec::len).sum()
    }
}

/// A thread that makes them, one block after the other.
pub struct Repairer {
    jobs: Sender<Job>,
    made: Receiver<(u32, io::Result<Repairs>)>,
    pending: BTreeSet<u32>,
}

impl Repairer {
    /// Starts the thread; it ends with this value.
    pub fn start(file: File) -> Self {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, made) = channel();
        std::thread::spawn(move || {
            let mut encoder = Encoder::default();
            for job in inbox {
                if outbox.send((job.block, make(&file, &mut encoder, &job))).is_err() {
                    break;
                }
            }
        });
        Self { jobs, made, pending: BTreeSet::new() }
    }
    /// Whether repairs of a block are being made.
    pub fn is_pending(&self, block: u32) -> bool {
        self.pending.contains(&block)
    }
    /// How many blocks are waited for.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }
    /// Wants repairs.
    pub fn ask(&mut self, job: Job) {
        self.pending.insert(job.block);
        // If the thread is gone, `wait` returns `None`.
        let _ = self.jobs.send(job);
    }
    /// The next that are made; none if the thread is gone.
    pub fn wait(&mut self) -> Option<io::Result<Repairs>> {
        let (block, made) = self.made.recv().ok()?;
        self.pending.remove(&block);
        Some(made)
    }
    /// The next that are made, if any are.
    pub fn try_wait(&mut self) -> Option<io::Result<Repairs>> {
        let (block, made) = self.made.try_recv().ok()?;
        self.pending.remove(&block);
        Some(made)
    }
}

fn make(file: &File, encoder: &mut Encoder, job: &Job) -> io::Result<Repairs> {
    let mut bytes = vec![0; job.symbols as usize * usize::from(job.size)];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], job.at + filled as u64)? {
            // The last symbol of a file ends in zeros; a file that was cut is noticed elsewhere.
            0 => break,
            count => filled += count,
        }
    }
    let symbols = encoder.repairs(&bytes, job.size, job.first, job.count);
    Ok(Repairs { block: job.block, first: job.first, symbols })
}
