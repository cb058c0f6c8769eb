//! A producer of Data.

use super::{Data, Interest, Name};
use crate::rng;

/// Answers Interests for objects under a prefix, all of one size.
#[derive(Clone, Debug)]
pub struct Producer {
    /// Bytes of each object.
    pub object: u64,
    /// Bytes of content in each Data but the last.
    pub segment: u32,
    /// Bytes of a packet beside its content.
    pub overhead: u32,
    /// How long the Data are fresh, in milliseconds.
    pub freshness_ms: u32,
    /// Who it says it is.
    pub site: Option<u32>,
}

impl Producer {
    /// Segments of an object.
    pub fn segments(&self) -> u32 {
        u32::try_from(self.object.div_ceil(u64::from(self.segment.max(1)))).unwrap_or(Name::WHOLE)
    }
    /// What it has to that name; nothing if the object has no such segment.
    #[inline]
    pub fn answer(&self, interest: &Interest) -> Option<Data> {
        let segment = interest.name.segment;
        let before = u64::from(segment) * u64::from(self.segment);
        if segment == Name::WHOLE || before >= self.object {
            return None;
        }
        let content = u64::from(self.segment).min(self.object - before) as u32;
        Some(Data {
            name: interest.name,
            content,
            size: content.saturating_add(self.overhead),
            freshness_ms: self.freshness_ms,
            token: interest.token,
            stamp: None,
            site: self.site,
            marked: false,
            print: print(interest.name),
        })
    }
}

/// The digest of what belongs to a name.
#[inline]
pub fn print(name: Name) -> u64 {
    rng::mix(name.word())
}
