//! A file seen through a window that moves forward only: memory does not grow with the file. A file that gzip compressed
//! (RFC 1952) is inflated as it passes.

use flate2::read::MultiGzDecoder;
use std::io::{self, Cursor, ErrorKind, Read};

/// What is read at a time.
const STEP: usize = 1 << 20;

/// What a compressed file begins with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Where the bytes come from.
enum Source<R> {
    Plain(R),
    Gzip(Box<MultiGzDecoder<io::Chain<Cursor<Vec<u8>>, R>>>),
    End,
}

/// The bytes of a file that are needed now.
pub struct Window<R> {
    from: Source<R>,
    /// What was compressed is damaged, or ends too early.
    pub damaged: bool,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl<R: Read> Window<R> {
    /// At the beginning of a file, inflated if gzip compressed it.
    ///
    /// # Errors
    /// Those of reading.
    pub fn new(from: R) -> io::Result<Self> {
        let from = Source::Plain(from);
        let mut window = Self { from, damaged: false, buffer: vec![0; STEP], start: 0, end: 0 };
        if window.peek(GZIP.len())? == GZIP
            && let Source::Plain(rest) = std::mem::replace(&mut window.from, Source::End)
        {
            let read = Cursor::new(window.buffer[..window.end].to_vec());
            window.from = Source::Gzip(Box::new(MultiGzDecoder::new(read.chain(rest))));
            window.end = 0;
        }
        Ok(window)
    }
    /// Bytes into the buffer behind its end; zero at the end of the file, and where what is compressed is damaged.
    fn read(&mut self) -> io::Result<usize> {
        let room = &mut self.buffer[self.end..];
        match &mut self.from {
            Source::Plain(from) => from.read(room),
            Source::Gzip(from) => from.read(room).or_else(|error| match error.kind() {
                ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                    (self.from, self.damaged) = (Source::End, true);
                    Ok(0)
                }
                _ => Err(error),
            }),
            Source::End => Ok(0),
        }
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
            match self.read() {
                Ok(0) => break,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
