//! Data packets (packet format v0.3, section 4).

use super::Malformed;
use super::interest::{from_ms, to_ms};
use super::name::{Component, NAME, Name};
use super::signature::{DATA_INFO, DATA_VALUE, Signature, Signer};
use super::tlv::{
    Fields, element_size, only, write_container, write_element, write_number, write_number_element,
};
use crate::time::Duration;

/// Type of a Data packet.
pub const DATA: u32 = 6;
const META: u32 = 20;
const CONTENT: u32 = 21;
const CONTENT_TYPE: u32 = 24;
const FRESHNESS: u32 = 25;
const FINAL_BLOCK: u32 = 26;

const ORDER: &[u32] = &[NAME, META, CONTENT, DATA_INFO, DATA_VALUE];
const META_ORDER: &[u32] = &[CONTENT_TYPE, FRESHNESS, FINAL_BLOCK];

/// The MetaInfo of a Data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta<'a> {
    /// What kind of content it is; 0, a blob, if it does not say.
    pub content_type: Option<u64>,
    /// How long a cache may call it fresh, in whole milliseconds.
    pub freshness: Option<Duration>,
    /// The last component of the name of the last of its kind.
    pub final_block: Option<Component<'a>>,
}

/// A named piece of content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Data<'a> {
    /// What it is called.
    pub name: Name<'a>,
    /// Its MetaInfo.
    pub meta: Meta<'a>,
    /// The content.
    pub content: &'a [u8],
}

/// A Data packet as it was read, with its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// What is signed.
    pub data: Data<'a>,
    /// By what.
    pub signature: Signature<'a>,
}

impl<'a> Meta<'a> {
    fn read(value: &'a [u8]) -> Result<Self, Malformed> {
        let (mut meta, mut fields) = (Meta::default(), Fields::new(value, META_ORDER));
        while let Some(field) = fields.read()? {
            match field.kind {
                CONTENT_TYPE => meta.content_type = Some(field.natural()?),
                FRESHNESS => meta.freshness = Some(from_ms(field.natural()?)),
                _ => meta.final_block = Some(Component::of(only(field.value)?)?),
            }
        }
        Ok(meta)
    }
    fn write(&self, out: &mut Vec<u8>) {
        write_container(META, out, |out| {
            if let Some(kind) = self.content_type {
                write_number_element(CONTENT_TYPE, kind, out);
            }
            if let Some(freshness) = self.freshness {
                write_number_element(FRESHNESS, to_ms(freshness), out);
            }
            if let Some(last) = self.final_block {
                write_container(FINAL_BLOCK, out, |out| last.write(out));
            }
        });
    }
}

impl Data<'_> {
    /// Appends it, signed.
    pub fn write(&self, signer: &Signer, out: &mut Vec<u8>) {
        let name_bytes = self.name.bytes().len();
        let mut head = Vec::with_capacity(name_bytes + 64);
        self.name.write(&mut head);
        if self.meta != Meta::default() {
            self.meta.write(&mut head);
        }
        write_number(CONTENT.into(), &mut head);
        write_number(self.content.len() as u64, &mut head);
        let mut info = Vec::with_capacity(64);
        signer.write_info(DATA_INFO, None, &mut info);
        let signature = signer.sign(&[&head, self.content, &info]);
        let length = head.len() + self.content.len() + info.len() + element_size(DATA_VALUE, signature.len());
        out.reserve(element_size(DATA, length));
        write_number(DATA.into(), out);
        write_number(length as u64, out);
        out.extend_from_slice(&head);
        out.extend_from_slice(self.content);
        out.extend_from_slice(&info);
        write_element(DATA_VALUE, &signature, out);
    }
}

impl<'a> Signed<'a> {
    /// Reads one. Whether the signature is right is another question: see
    /// [`Verifier`](super::Verifier).
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let packet = only(bytes)?;
        if packet.kind != DATA {
            return Err(Malformed::Kind(packet.kind));
        }
        let (mut meta, mut content) = (Meta::default(), &[][..]);
        let (mut name, mut info, mut value, mut portion) = (None, None, None, packet.value);
        let mut fields = Fields::new(packet.value, ORDER);
        while let Some(field) = fields.read()? {
            match field.kind {
                NAME => name = Some(Name::read(field.value)?),
                META => meta = Meta::read(field.value)?,
                CONTENT => content = field.value,
                DATA_INFO => info = Some(field.value),
                _ => {
                    let size = element_size(field.kind, field.value.len());
                    portion = &packet.value[..packet.value.len() - fields.rest().len() - size];
                    value = Some(field.value);
                }
            }
        }
        let name = name.ok_or(Malformed::Missing(NAME))?;
        let info = info.ok_or(Malformed::Missing(DATA_INFO))?;
        let value = value.ok_or(Malformed::Missing(DATA_VALUE))?;
        let signature = Signature::read(info, value, portion)?;
        Ok(Self { data: Data { name, meta, content }, signature })
    }
}
