//! Names: components one after the other, as on the wire (packet format v0.3, section 2).

use super::Malformed;
use super::tlv::{Element, Reader, element_size, natural, write_element, write_natural, write_number};
use std::borrow::Cow;

/// Types of components.
pub mod kind {
    /// SHA-256 of a whole Data packet.
    pub const IMPLICIT_DIGEST: u32 = 1;
    /// SHA-256 of the parameters of an Interest.
    pub const PARAMETERS_DIGEST: u32 = 2;
    /// Any bytes.
    pub const GENERIC: u32 = 8;
    /// A word that a protocol gives a meaning to.
    pub const KEYWORD: u32 = 32;
    /// Number of a segment.
    pub const SEGMENT: u32 = 50;
    /// Where a segment begins, in bytes.
    pub const BYTE_OFFSET: u32 = 52;
    /// Version of what the name names so far.
    pub const VERSION: u32 = 54;
    /// Microseconds since 1970.
    pub const TIMESTAMP: u32 = 56;
    /// Number in a sequence.
    pub const SEQUENCE: u32 = 58;
}

/// Type of a name.
pub const NAME: u32 = 7;
/// Largest type of a component.
const KIND_MOST: u32 = 65_535;
const DIGEST_BYTES: usize = 32;

/// A component of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component<'a> {
    /// Its type, one of [`kind`] or another.
    pub kind: u32,
    /// Its bytes.
    pub value: &'a [u8],
}

impl<'a> Component<'a> {
    /// Of an element.
    ///
    /// # Errors
    /// [`Malformed`] if it has no type of a component, or is a digest of a wrong length.
    pub fn of(element: Element<'a>) -> Result<Self, Malformed> {
        let Element { kind, value } = element;
        if kind > KIND_MOST {
            return Err(Malformed::Value(kind));
        }
        let is_digest = matches!(kind, kind::IMPLICIT_DIGEST | kind::PARAMETERS_DIGEST);
        if is_digest && value.len() != DIGEST_BYTES {
            return Err(Malformed::Length(kind));
        }
        Ok(Self { kind, value })
    }
    /// Its number, if it is of this type and holds one.
    pub fn number_of(&self, kind: u32) -> Option<u64> {
        natural(self.value).filter(|_| self.kind == kind)
    }
    /// Appends it.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_element(self.kind, self.value, out);
    }
}

/// A name: the components, one after the other. Compares as names do: components by type, then length,
/// then bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name<'a>(Cow<'a, [u8]>);

impl<'a> Name<'a> {
    /// The value of an element of type [`NAME`].
    ///
    /// # Errors
    /// [`Malformed`] if it holds something that is no component.
    pub fn read(value: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(value);
        while let Some(element) = reader.read()? {
            Component::of(element)?;
        }
        Ok(Self(Cow::Borrowed(value)))
    }
    /// Its components as they are on the wire.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
    /// Whether it has no component.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Its components.
    pub fn components(&self) -> impl Iterator<Item = Component<'_>> {
        let mut reader = Reader::new(&self.0);
        std::iter::from_fn(move || {
            let Element { kind, value } = reader.read().ok().flatten()?;
            Some(Component { kind, value })
        })
    }
    /// The last component, and the name without it.
    pub fn split_last(&self) -> Option<(Name<'_>, Component<'_>)> {
        let last = self.components().last()?;
        let end = self.0.len() - element_size(last.kind, last.value.len());
        Some((Name(Cow::Borrowed(&self.0[..end])), last))
    }
    /// Whether it begins with all components of `prefix`.
    pub fn starts_with(&self, prefix: &Name) -> bool {
        // The encoding of components is unique: equal bytes are equal components.
        self.0.starts_with(&prefix.0)
    }
    /// The components after those of `prefix`, if it begins with it.
    pub fn after(&self, prefix: &Name) -> Option<Name<'_>> {
        self.0.strip_prefix(prefix.bytes()).map(|rest| Name(Cow::Borrowed(rest)))
    }
    /// The same, borrowing nothing.
    pub fn into_owned(self) -> Name<'static> {
        Name(Cow::Owned(self.0.into_owned()))
    }
    /// The same, borrowed.
    pub fn as_ref(&self) -> Name<'_> {
        Name(Cow::Borrowed(&self.0))
    }
    /// With one more component.
    #[must_use]
    pub fn with(&self, component: Component) -> Name<'static> {
        let mut bytes = self.0.to_vec();
        component.write(&mut bytes);
        Name(Cow::Owned(bytes))
    }
    /// With one more component, of any bytes.
    #[must_use]
    pub fn with_generic(&self, value: &[u8]) -> Name<'static> {
        self.with(Component { kind: kind::GENERIC, value })
    }
    /// With one more component, a number.
    #[must_use]
    pub fn with_number(&self, kind: u32, number: u64) -> Name<'static> {
        let mut value = Vec::with_capacity(8);
        write_natural(number, &mut value);
        self.with(Component { kind, value: &value })
    }
    /// Appends it as an element.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_element(NAME, &self.0, out);
    }
    /// Appends it as an element, with one more component: a number.
    pub fn write_with_number(&self, kind: u32, number: u64, out: &mut Vec<u8>) {
        let (mut last, mut value) = (Vec::with_capacity(16), Vec::with_capacity(8));
        write_natural(number, &mut value);
        write_element(kind, &value, &mut last);
        write_number(NAME.into(), out);
        write_number((self.0.len() + last.len()) as u64, out);
        out.extend_from_slice(&self.0);
        out.extend_from_slice(&last);
    }
}
