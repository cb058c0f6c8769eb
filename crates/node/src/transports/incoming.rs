//! A file that comes in, until it is whole and has its name.

use super::Error;
use super::claims::{Claim, Claims};
use super::header::{HEADER_BYTES, Head, Header, Receipt};
use crate::files::{PartFile, check_space, make_folder, refusal, remove_part};
use crate::transfer::digests::Digests;
use crate::transfer::sender::random;
use crate::transfer::store::Place;
use crate::transfer::{Event, Finished, Key, file_name};
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A key name that separates these files from UDPDTN's, which can be resumed.
const WITHOUT_RESUMING: [u8; 32] = [1; 32];

/// A place for messages.
pub trait Inbox: Send + Sync {
    /// What takes the next one, which somebody sends.
    fn incoming(&self, from: SocketAddr) -> Box<dyn Incoming>;
    /// Where files go, if they are files.
    fn files(&self) -> Option<&FileInbox> {
        None
    }
}

/// A message that comes in, until it is whole or refused.
pub trait Incoming: Send {
    /// These bytes have come, and had not before. What cannot be taken ends it.
    fn write(&mut self, at: u64, bytes: &[u8]);
    /// All of it has come.
    fn finish(&mut self);
    /// It is rejected, or broken off.
    fn refuse(&mut self, why: String);
    /// Time has passed; asked some twenty times a second, or more often.
    fn tick(&mut self) {}
    /// Bytes of header and content, as soon as they are known.
    fn total(&self) -> Option<u64>;
    /// Whether its header has arrived.
    fn has_begun(&self) -> bool {
        self.total().is_some()
    }
    /// Bytes of the content that have arrived, and their total; `None` before its begin and after its end.
    fn progress(&self) -> Option<(u64, u64)>;
    /// How it ended, if it has.
    fn receipt(&self) -> Option<&Receipt>;
    /// What has happened since the last call.
    fn take_events(&mut self) -> Vec<Event>;
}

/// Where files go, and which are taken.
#[derive(Clone)]
pub struct FileInbox {
    /// The folder; it is there.
    pub folder: PathBuf,
    /// Files of the same name are replaced.
    pub overwrite: bool,
    /// Largest file that is taken.
    pub size_most: Option<u64>,
    /// Over UDPDTN: most bytes of unfinished files that senders without a key may leave here; `None`: half of the disk.
    pub partial_most: Option<u64>,
    /// Over UDPDTN: authenticates datagrams.
    pub key: Option<Key>,
    /// Digests of the files that are here.
    pub(crate) digests: Digests,
    /// Files that are being written now.
    claims: Claims,
}

impl FileInbox {
    /// A folder, made if it is not there.
    ///
    /// # Errors
    /// One line.
    pub fn new(folder: &Path, overwrite: bool, size_most: Option<u64>) -> Result<Self, Error> {
        make_folder(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            overwrite,
            size_most,
            partial_most: None,
            key: None,
            digests: Digests::default(),
            claims: Claims::default(),
        })
    }
    fn check_length(&self, length: u64) -> Result<(), String> {
        let most = self.size_most.unwrap_or(u64::MAX);
        if length > most {
            return Err(format!("it has {length} bytes; the receiver takes at most {most} (--max-size)"));
        }
        check_space(&self.folder, length)
    }
}

impl Inbox for FileInbox {
    fn incoming(&self, from: SocketAddr) -> Box<dyn Incoming> {
        Box::new(IncomingFile::new(self.clone(), from))
    }
    fn files(&self) -> Option<&FileInbox> {
        Some(self)
    }
}

/// A file of the same name and length that is here. Its digest is not known yet.
struct Twin {
    path: PathBuf,
    /// Why the file is refused if the twin has other content; nothing is kept of it meanwhile. `None`: it replaces the
    /// twin.
    refusal: Option<String>,
}

/// A file that comes in: in a part of its content's own as soon as its name is known.
struct IncomingFile {
    inbox: FileInbox,
    from: SocketAddr,
    began: Instant,
    head: Head,
    header: Option<Header>,
    /// What it is called here, if it was given a name.
    claim: Option<Claim>,
    part: Option<PartFile>,
    twin: Option<Twin>,
    arrived: u64,
    receipt: Option<Receipt>,
    events: Vec<Event>,
}

impl Incoming for IncomingFile {
    fn total(&self) -> Option<u64> {
        self.header.as_ref().map(|header| header.length.saturating_add(HEADER_BYTES as u64))
    }
    fn progress(&self) -> Option<(u64, u64)> {
        let length = self.header.as_ref().filter(|_| self.receipt.is_none())?.length;
        Some((self.arrived.saturating_sub(HEADER_BYTES as u64).min(length), length))
    }
    fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref()
    }
    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
    fn write(&mut self, at: u64, bytes: &[u8]) {
        if self.receipt.is_some() {
            return;
        }
        self.arrived += bytes.len() as u64;
        let (head, rest) = self.head.take(at, bytes);
        let begun = head.map_or(Ok(()), |head| self.begin(&head));
        if let Err(why) = begun.and_then(|()| self.write_rest(at, rest)) {
            self.refuse(why);
        }
    }
    /// It is checked, and gets its name. Whether it is its twin is found out by [`Self::tick`].
    fn finish(&mut self) {
        if self.receipt.is_none()
            && !self.is_only_compared()
            && let Err(why) = self.try_finish()
        {
            self.refuse(why);
        }
    }
    fn tick(&mut self) {
        if self.receipt.is_none()
            && let Err(why) = self.compare()
        {
            self.refuse(why);
        }
    }
    fn refuse(&mut self, why: String) {
        if self.receipt.is_some() {
            return;
        }
        let said = self.header.as_ref().and_then(|header| file_name(&header.name).ok());
        self.end(said.unwrap_or_else(|| "a file".to_owned()), Err(why));
    }
}

impl IncomingFile {
    fn new(inbox: FileInbox, from: SocketAddr) -> Self {
        Self {
            inbox,
            from,
            began: Instant::now(),
            head: Head::default(),
            header: None,
            claim: None,
            part: None,
            twin: None,
            arrived: 0,
            receipt: None,
            events: Vec::new(),
        }
    }
    fn begin(&mut self, head: &[u8; HEADER_BYTES]) -> Result<(), String> {
        let header = Header::read(head).map_err(|why| format!("the header of the file: {why}"))?;
        self.header = Some(header.clone());
        let name = file_name(&header.name)?;
        let path = self.inbox.folder.join(&name);
        if let Ok(found) = fs::symlink_metadata(&path) {
            let exists = || refusal(&name, &io::ErrorKind::AlreadyExists.into());
            let refusal = (!self.inbox.overwrite || !found.is_file()).then(exists);
            if found.is_file() && found.len() == header.length {
                self.twin = Some(Twin { path, refusal });
                self.compare()?;
            } else if let Some(why) = refusal {
                return Err(why);
            }
        }
        if self.receipt.is_some() || self.is_only_compared() {
            return Ok(());
        }
        self.inbox.check_length(header.length)?;
        let folder = &self.inbox.folder;
        let place = Place::new(folder, &name, &header.digest, header.length, Some(&WITHOUT_RESUMING));
        let part = place.part().to_owned();
        let claim = self.inbox.claims.claim(&name, &part);
        // Its earlier sender to us writes to what has no name any more; a part of another program stays.
        let _ = if claim.overtakes() { fs::remove_file(&part).is_ok() } else { remove_part(&part) };
        self.claim = Some(claim);
        // Data that arrived before the header have a file already.
        self.part_file()?.move_to(part).map_err(|why| taken(&name, why))?;
        self.events.push(Event::Began(name, header.length, 0, self.from));
        Ok(())
    }
    /// Ends it if its twin has the same content.
    fn compare(&mut self) -> Result<(), String> {
        let (Some(twin), Some(header)) = (&self.twin, &self.header) else { return Ok(()) };
        let found = fs::symlink_metadata(&twin.path);
        let of_twin = match found.ok().filter(|found| found.is_file() && found.len() == header.length) {
            Some(found) => self.inbox.digests.of(&twin.path, &found),
            None => Some(None),
        };
        let Some(of_twin) = of_twin else { return Ok(()) };
        if of_twin == Some(header.digest) {
            self.end(file_name(&header.name)?, Ok(()));
            return Ok(());
        }
        self.twin.take().and_then(|twin| twin.refusal).map_or(Ok(()), Err)
    }
    /// Whether its bytes are not needed, as it is its twin or refused.
    fn is_only_compared(&self) -> bool {
        self.twin.as_ref().is_some_and(|twin| twin.refusal.is_some())
    }
    fn write_rest(&mut self, at: u64, bytes: &[u8]) -> Result<(), String> {
        if bytes.is_empty() || self.receipt.is_some() {
            return Ok(());
        }
        let at = at.max(HEADER_BYTES as u64) - HEADER_BYTES as u64;
        let end = at.saturating_add(bytes.len() as u64);
        match &self.header {
            Some(header) if end > header.length => {
                return Err(format!("bytes came from behind its end at {}", header.length));
            }
            Some(_) => {}
            None => self.inbox.check_length(end)?,
        }
        if self.is_only_compared() {
            return Ok(());
        }
        if let Some(claim) = self.claim.as_ref().filter(|claim| !claim.is_ours()) {
            return Err(overtaken(claim));
        }
        self.part_file()?.write(at, bytes).map_err(|why| refusal("", &why))
    }
    /// Where it grows; under a random name until its own is known.
    fn part_file(&mut self) -> Result<&mut PartFile, String> {
        if self.part.is_none() {
            let number = random().map_err(|why| why.to_string())?;
            let path = self.inbox.folder.join(format!(".incoming-{number:08x}.part"));
            self.part = Some(PartFile::create(path, false).map_err(|why| refusal("", &why))?);
        }
        self.part.as_mut().ok_or_else(String::new)
    }
    fn try_finish(&mut self) -> Result<(), String> {
        let (Some(header), Some(claim), Some(part)) = (&self.header, &self.claim, &mut self.part) else {
            return Err("it ended before its header had come".to_owned());
        };
        let name = claim.name().to_owned();
        if !claim.is_ours() {
            return Err(overtaken(claim));
        }
        let digest = part.digest(header.length).map_err(|why| refusal(&name, &why))?;
        if digest != header.digest {
            return Err(format!(
                "{name}: the content does not match the sender's digest; it was damaged on the path, or changed while it was sent: send it again"
            ));
        }
        let finished = part.finish(&self.inbox.folder.join(&name), self.inbox.overwrite, false);
        finished.map_err(|why| refusal(&name, &why))?;
        self.end(name, Ok(()));
        Ok(())
    }
    fn end(&mut self, name: String, outcome: Result<(), String>) {
        let (length, digest) = self.header.as_ref().map_or((0, [0; 32]), |h| (h.length, h.digest));
        self.events.push(match &outcome {
            Ok(()) => Event::Finished(Finished {
                path: self.inbox.folder.join(&name),
                name,
                bytes: length,
                digest,
                seconds: self.began.elapsed().as_secs_f64(),
                resumed: length.saturating_sub(self.arrived),
                from: self.from,
            }),
            Err(why) => {
                let come = self.arrived.saturating_sub(HEADER_BYTES as u64);
                Event::failed(format!("{name} from {}: {why}", self.from), come, length)
            }
        });
        self.receipt = Some(Receipt { digest, outcome, measured: None });
        self.release();
    }
    /// Whatever is not whole goes, and the name is free.
    fn release(&mut self) {
        let claim = self.claim.take();
        if let Some(part) =
            self.part.as_mut().filter(|_| claim.as_ref().is_some_and(|claim| !claim.is_ours()))
        {
            part.let_go();
        }
        self.part = None;
    }
}

impl Drop for IncomingFile {
    fn drop(&mut self) {
        self.release();
    }
}

/// Why a file cannot grow under its name: another program's may.
fn taken(name: &str, why: io::Error) -> String {
    let is_taken = why.kind() == io::ErrorKind::AlreadyExists;
    let busy = || io::Error::new(io::ErrorKind::ResourceBusy, "another program writes it");
    refusal(name, &if is_taken { busy() } else { why })
}

fn overtaken(claim: &Claim) -> String {
    format!("another sender has taken over the file called {}", claim.name())
}
