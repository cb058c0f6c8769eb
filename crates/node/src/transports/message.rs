//! The message that a transport carries to the receiver: a header, then a file, or unlimited noise.

use super::bench::{ENDLESS, Noise, Plan};
use super::header::{HEADER_BYTES, Header};
use super::{Error, Payload};
use crate::transfer::Progress;
use crate::transfer::source::Source;

/// A header, then what it announces.
pub struct Message {
    header: [u8; HEADER_BYTES],
    content: Content,
}

/// What is sent.
pub enum Content {
    /// A file.
    File(Box<Source>),
    /// Noise without end, for a measurement.
    Noise(Plan, Noise),
}

/// Asks now and then whether what is sent still is what it was.
pub type Check = Box<dyn Fn() -> Result<(), Error>>;

impl Content {
    /// Reads a file once, to know its digest.
    ///
    /// # Errors
    /// One line: it is not there, cannot be read, or is not a file.
    pub fn load(payload: &Payload, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Self, Error> {
        let path = match payload {
            Payload::Noise(plan) => return Ok(Self::Noise(*plan, Noise::new())),
            Payload::File(path) => path,
        };
        let source = Source::open(path, &mut |done, all| {
            // A false result takes effect once the file has been read.
            watch(Progress::Reading(done, all));
        })?;
        Ok(Self::File(Box::new(source)))
    }
    /// BLAKE3 of the file; zeros of noise.
    pub fn digest(&self) -> [u8; 32] {
        match self {
            Self::File(source) => source.digest(),
            Self::Noise(..) => [0; 32],
        }
    }
    /// Asks whether the file still is what it was.
    ///
    /// # Errors
    /// One line if it cannot be asked.
    pub fn checker(&self) -> Result<Check, Error> {
        Ok(match self {
            Self::File(source) => Box::new(source.checker()?),
            Self::Noise(..) => Box::new(|| Ok(())),
        })
    }
}

impl Message {
    /// As [`Content::load`].
    ///
    /// # Errors
    /// As of [`Content::load`].
    pub fn load(payload: &Payload, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Self, Error> {
        let content = Content::load(payload, watch)?;
        let header = match &content {
            Content::Noise(plan, _) => plan.to_header(),
            Content::File(source) => {
                let (name, length, digest) = (source.name(), source.length(), source.digest());
                Header { name, length, digest }.to_bytes()
            }
        };
        Ok(Self { header, content })
    }
    /// Bytes of header and content.
    pub fn total(&self) -> u64 {
        HEADER_BYTES as u64 + self.length()
    }
    /// Bytes of the content.
    pub fn length(&self) -> u64 {
        match &self.content {
            Content::File(source) => source.length(),
            Content::Noise(..) => ENDLESS - HEADER_BYTES as u64,
        }
    }
    /// What follows the header.
    pub fn content(&self) -> &Content {
        &self.content
    }
    /// Fills `out` with the bytes from `at` on, of header and content.
    ///
    /// # Errors
    /// One line if the file can no longer be read as it was.
    pub fn read(&mut self, at: u64, out: &mut [u8]) -> Result<(), Error> {
        let first = at.min(HEADER_BYTES as u64) as usize;
        let (head, rest) = out.split_at_mut((HEADER_BYTES - first).min(out.len()));
        head.copy_from_slice(&self.header[first..first + head.len()]);
        if rest.is_empty() {
            return Ok(());
        }
        let place = at + head.len() as u64 - HEADER_BYTES as u64;
        match &mut self.content {
            Content::File(source) => source.read_at(place, rest),
            Content::Noise(_, noise) => {
                noise.read(place, rest);
                Ok(())
            }
        }
    }
}
