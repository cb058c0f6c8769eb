//! A file as Data: cut into segments, which are made when they are asked for.

use crate::Error;
use crate::files::SentFile;
use lightlag_protocols::time::Duration;
use lightlag_protocols::wire::ndn::metadata::{KEYWORD, Metadata};
use lightlag_protocols::wire::ndn::name::kind;
use lightlag_protocols::wire::ndn::signature::sha256;
use lightlag_protocols::wire::ndn::{Component, Data, Interest, Meta, Name, PACKET_MOST, Signer};
use std::path::Path;

/// How long caches may call the Data fresh: as others do.
const FRESHNESS: Duration = Duration::from_secs(4);
/// Most segments: their numbers are counted in 32 bits.
const SEGMENTS_MOST: u64 = u32::MAX as u64;

/// A file under a name.
pub struct Publication {
    /// The name without a version.
    base: Name<'static>,
    versioned: Name<'static>,
    file: SentFile,
    segment: u32,
    last: u64,
    /// The last component of the name of the last segment.
    last_value: Vec<u8>,
    signer: Signer,
    content: Vec<u8>,
}

/// What an Interest asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A segment.
    Segment(u64),
    /// Which version there is.
    Metadata,
}

impl Publication {
    /// Of a file, under a name and a version, with `segment` bytes of content in a segment.
    ///
    /// # Errors
    /// One line: it is not a file that can be read, or does not fit such segments.
    pub fn open(path: &Path, base: Name, version: u64, segment: u32, signer: Signer) -> Result<Self, Error> {
        let file = SentFile::open(path)?;
        let segments = file.length().div_ceil(u64::from(segment).max(1)).max(1);
        if segments > SEGMENTS_MOST {
            let what = format!("{segments} segments of {segment} B; there may be {SEGMENTS_MOST}");
            return Err(Error::Input(format!("{}: {what}; take a larger --segment-size", path.display())));
        }
        let mut publication = Self {
            base: base.clone().into_owned(),
            versioned: base.with_number(kind::VERSION, version),
            file,
            segment,
            last: segments - 1,
            last_value: Vec::new(),
            signer,
            content: Vec::new(),
        };
        let last = Name::default().with_number(kind::SEGMENT, publication.last);
        publication.last_value = last.components().next().map_or_else(Vec::new, |last| last.value.to_vec());
        publication.check_size()?;
        Ok(publication)
    }
    /// Whether the largest segment makes a packet that others take.
    fn check_size(&self) -> Result<(), Error> {
        let (content, mut packet) = (vec![0; (self.segment as usize).min(PACKET_MOST)], Vec::new());
        self.write(self.segment_name(self.last), &content, &mut packet);
        // A signature of ECDSA may have two bytes more than another.
        let beside = packet.len() - content.len() + 2;
        if self.segment == 0 || packet.len() + 2 > PACKET_MOST {
            let most = PACKET_MOST.saturating_sub(beside);
            return Err(Error::Input(format!("--segment-size: under this name it must be 1 to {most} B")));
        }
        Ok(())
    }
    /// The name with its version.
    pub fn name(&self) -> &Name<'static> {
        &self.versioned
    }
    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.file.length()
    }
    /// How many segments it has.
    pub fn segments(&self) -> u64 {
        self.last + 1
    }
    fn segment_name(&self, number: u64) -> Name<'static> {
        self.versioned.with_number(kind::SEGMENT, number)
    }

    /// What an Interest asks for, if it is here.
    pub fn find(&self, interest: &Interest) -> Option<Wanted> {
        let name = without_digest(&interest.name);
        let whole = name.bytes().len() == interest.name.bytes().len();
        if let Some(rest) = name.after(&self.versioned) {
            let mut parts = rest.components();
            return match (parts.next(), parts.next()) {
                (None, _) if interest.can_be_prefix && whole => Some(Wanted::Segment(0)),
                (Some(part), None) => {
                    part.number_of(kind::SEGMENT).filter(|number| *number <= self.last).map(Wanted::Segment)
                }
                _ => None,
            };
        }
        let metadata = self.metadata_name();
        let is_metadata = name.starts_with(&self.base.with(KEYWORD));
        if is_metadata && (name == metadata || interest.can_be_prefix && metadata.starts_with(&name)) {
            return Some(Wanted::Metadata);
        }
        (interest.can_be_prefix && whole && self.versioned.starts_with(&name) && name.starts_with(&self.base))
            .then_some(Wanted::Segment(0))
    }
    fn metadata_name(&self) -> Name<'static> {
        let version = self.versioned.after(&self.base).and_then(|rest| {
            let version = rest.components().next()?;
            Some(self.base.with(KEYWORD).with(version))
        });
        version.unwrap_or_default().with_number(kind::SEGMENT, 0)
    }
    /// Makes a packet; false if the Interest asks for another by its digest.
    ///
    /// # Errors
    /// One line if the file is no longer what it was.
    pub fn make(&mut self, wanted: Wanted, interest: &Name, packet: &mut Vec<u8>) -> Result<bool, Error> {
        packet.clear();
        match wanted {
            Wanted::Segment(number) => {
                let mut content = std::mem::take(&mut self.content);
                self.read(number, &mut content)?;
                self.write(self.segment_name(number), &content, packet);
                self.content = content;
            }
            Wanted::Metadata => {
                let mut content = Vec::new();
                Metadata { name: self.versioned.as_ref(), last: Some(self.last_component()) }
                    .write(&mut content);
                self.write(self.metadata_name(), &content, packet);
            }
        }
        let digest = interest.components().last().filter(|part| part.kind == kind::IMPLICIT_DIGEST);
        Ok(digest.is_none_or(|digest| digest.value == sha256(&[packet])))
    }
    fn last_component(&self) -> Component<'_> {
        Component { kind: kind::SEGMENT, value: &self.last_value }
    }
    fn write(&self, name: Name, content: &[u8], packet: &mut Vec<u8>) {
        let meta = Meta {
            content_type: Some(0),
            freshness: Some(FRESHNESS),
            final_block: Some(self.last_component()),
        };
        Data { name, meta, content }.write(&self.signer, packet);
    }
    fn read(&self, number: u64, content: &mut Vec<u8>) -> Result<(), Error> {
        let start = number * u64::from(self.segment);
        content.resize(self.length().saturating_sub(start).min(self.segment.into()) as usize, 0);
        self.file.read(start, content)?;
        self.file.check()
    }
}

/// A name without the digest of the packet that it may end with.
fn without_digest<'a>(name: &'a Name) -> Name<'a> {
    let split = name.split_last().filter(|(_, last)| last.kind == kind::IMPLICIT_DIGEST);
    split.map_or_else(|| name.as_ref(), |(front, _)| front)
}
