//! Names as text: `/a/b%20c/32=metadata/v=5/seg=0` (NDN URI scheme, and naming conventions rev3).

use super::name::{Component, Name, kind};
use super::tlv::{natural, write_natural};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Why text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{component}` in a name: {what}")]
pub struct NotAName {
    component: String,
    what: &'static str,
}

/// Types that are written as a word, and hold a number.
const NUMBERS: [(&str, u32); 5] = [
    ("seg", kind::SEGMENT),
    ("off", kind::BYTE_OFFSET),
    ("v", kind::VERSION),
    ("t", kind::TIMESTAMP),
    ("seq", kind::SEQUENCE),
];
/// Types that are written as a word, and hold a digest.
const DIGESTS: [(&str, u32); 2] =
    [("sha256digest", kind::IMPLICIT_DIGEST), ("params-sha256", kind::PARAMETERS_DIGEST)];

impl FromStr for Name<'static> {
    type Err = NotAName;
    fn from_str(text: &str) -> Result<Self, NotAName> {
        let path = text.strip_prefix("ndn:").unwrap_or(text);
        let Some(path) = path.strip_prefix('/') else {
            return Err(NotAName { component: text.to_owned(), what: "a name begins with `/`" });
        };
        let path = path.strip_suffix('/').unwrap_or(path);
        if path.is_empty() {
            return Ok(Name::default());
        }
        path.split('/').try_fold(Name::default(), |name, part| {
            let wrong = |what| NotAName { component: part.to_owned(), what };
            let (kind, value) = component(part).map_err(wrong)?;
            Ok(name.with(Component { kind, value: &value }))
        })
    }
}

fn component(text: &str) -> Result<(u32, Vec<u8>), &'static str> {
    let Some((word, rest)) = text.split_once('=') else { return Ok((kind::GENERIC, unescape(text)?)) };
    if let Some((_, kind)) = NUMBERS.iter().find(|(known, _)| *known == word) {
        let number = rest.parse().ok().filter(|_| !rest.starts_with('+'));
        let mut value = Vec::new();
        write_natural(number.ok_or("after the sign there must be a whole number")?, &mut value);
        return Ok((*kind, value));
    }
    if let Some((_, kind)) = DIGESTS.iter().find(|(known, _)| *known == word) {
        return Ok((*kind, digest(rest).ok_or("a digest is written as 64 hexadecimal digits")?));
    }
    let kind = word.parse().ok().filter(|kind| (1..=65_535).contains(kind));
    let kind = kind.ok_or("before a `=` there must be a type; write the sign itself as %3D")?;
    if kind <= kind::PARAMETERS_DIGEST {
        return Err("write a digest as sha256digest= or params-sha256=");
    }
    Ok((kind, unescape(rest)?))
}

fn hex(pair: &[u8]) -> Option<u8> {
    let [high, low] = *pair else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

fn digest(text: &str) -> Option<Vec<u8>> {
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(hex).collect();
    bytes.filter(|bytes| bytes.len() == 32)
}

fn unescape(text: &str) -> Result<Vec<u8>, &'static str> {
    if text.bytes().all(|byte| byte == b'.') {
        let kept = text.len().checked_sub(3);
        return kept.map(|kept| vec![b'.'; kept]).ok_or("an empty component is written as `...`");
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let escaped = rest.split_at_checked(2).and_then(|(pair, after)| Some((hex(pair)?, after)));
        let (byte, after) = escaped.ok_or("after `%` there must be two hexadecimal digits")?;
        bytes.push(byte);
        rest = after;
    }
    Ok(bytes)
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("/");
        }
        self.components().try_for_each(|component| write!(f, "/{component}"))
    }
}

impl fmt::Display for Component<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |words: &[(&'static str, u32)]| {
            words.iter().find(|(_, kind)| *kind == self.kind).map(|(word, _)| *word)
        };
        if let Some((word, number)) = word(&NUMBERS).zip(self.shortest_number()) {
            return write!(f, "{word}={number}");
        }
        if let Some(word) = word(&DIGESTS) {
            write!(f, "{word}=")?;
            return self.value.iter().try_for_each(|byte| write!(f, "{byte:02x}"));
        }
        if self.kind != kind::GENERIC {
            write!(f, "{}=", self.kind)?;
        }
        if self.value.iter().all(|byte| *byte == b'.') {
            f.write_str("...")?;
        }
        self.value.iter().try_for_each(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                write!(f, "{}", char::from(*byte))
            }
            other => write!(f, "%{other:02X}"),
        })
    }
}

impl Component<'_> {
    /// Its value as a number, if it is written as numbers are: else the text would name another.
    fn shortest_number(&self) -> Option<u64> {
        let number = natural(self.value)?;
        let mut shortest = Vec::with_capacity(8);
        write_natural(number, &mut shortest);
        (shortest == self.value).then_some(number)
    }
}
