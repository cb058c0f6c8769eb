//! Which version of a name is the latest: Data at `NAME/32=metadata` (realtime data retrieval).

use super::Malformed;
use super::name::{Component, NAME, Name, kind};
use super::tlv::{Reader, only, write_container};

const FINAL_BLOCK: u32 = 26;

/// The component after the name.
pub const KEYWORD: Component<'static> = Component { kind: kind::KEYWORD, value: b"metadata" };

/// Content of such Data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata<'a> {
    /// The name with its version.
    pub name: Name<'a>,
    /// The last segment, if given.
    pub last: Option<Component<'a>>,
}

impl<'a> Metadata<'a> {
    /// Reads the content. Other fields are skipped.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn read(content: &'a [u8]) -> Result<Self, Malformed> {
        let (mut name, mut last, mut reader) = (None, None, Reader::new(content));
        while let Some(field) = reader.read()? {
            match field.kind {
                NAME if name.is_none() => name = Some(Name::read(field.value)?),
                FINAL_BLOCK if last.is_none() => last = Some(Component::of(only(field.value)?)?),
                _ => {}
            }
        }
        Ok(Self { name: name.ok_or(Malformed::Missing(NAME))?, last })
    }
    /// Appends the content.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.name.write(out);
        if let Some(last) = self.last {
            write_container(FINAL_BLOCK, out, |out| last.write(out));
        }
    }
}
