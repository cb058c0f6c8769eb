//! A file seen through a window that moves forward only: memory does not grow with the file.

use std::io::{self, Read};

/// What is read at a time.
const STEP: usize = 1 << 20;

/// The bytes of a file that are needed now.
pub struct Window<R> {
    from: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl<R: Read> Window<R> {
    /// At the beginning of a file.
    pub fn new(from: R) -> Self {
        Self { from, buffer: vec![0; STEP], start: 0, end: 0 }
    }
    /// The next bytes; fewer than asked for only at the end of the file.
    ///
    /// # Errors
    /// Those of reading.
    #[inline]
    pub fn peek(&mut self, wanted: usize) -> io::Result<&[u8]> {
        if self.end - self.start < wanted {
            self.fill(wanted)?;
        }
        let end = self.end.min(self.start + wanted);
        Ok(&self.buffer[self.start..end])
    }
    /// Passes bytes that were peeked at.
    #[inline]
    pub fn pass(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
    }
    /// Bytes that were passed just now, as they still lie in the window.
    #[inline]
    pub fn behind(&self, count: usize) -> &[u8] {
        &self.buffer[self.start.saturating_sub(count)..self.start]
    }
    /// Passes bytes without keeping them; false where the file ends before.
    ///
    /// # Errors
    /// Those of reading.
    pub fn skip(&mut self, mut count: u64) -> io::Result<bool> {
        while count > 0 {
            let step = self.peek(count.min(STEP as u64) as usize)?.len();
            if step == 0 {
                return Ok(false);
            }
            self.pass(step);
            count -= step as u64;
        }
        Ok(true)
    }
    #[cold]
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        while self.end < wanted {
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
