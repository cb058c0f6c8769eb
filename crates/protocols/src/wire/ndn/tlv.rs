//! Elements: type, length, value (packet format v0.3, section 1).

use super::Malformed;

/// An element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// Its type.
    pub kind: u32,
    /// What it holds.
    pub value: &'a [u8],
}

impl Element<'_> {
    /// Its value as a NonNegativeInteger.
    ///
    /// # Errors
    /// [`Malformed::Length`] unless it has 1, 2, 4 or 8 bytes.
    pub fn natural(&self) -> Result<u64, Malformed> {
        natural(self.value).ok_or(Malformed::Length(self.kind))
    }
    /// Its value as `N` bytes.
    ///
    /// # Errors
    /// [`Malformed::Length`] if it has more or fewer.
    pub fn array<const N: usize>(&self) -> Result<[u8; N], Malformed> {
        self.value.try_into().map_err(|_| Malformed::Length(self.kind))
    }
    /// That its value is empty: a flag.
    ///
    /// # Errors
    /// [`Malformed::Length`] if it is not.
    pub fn flag(&self) -> Result<bool, Malformed> {
        if self.value.is_empty() { Ok(true) } else { Err(Malformed::Length(self.kind)) }
    }
}

/// A NonNegativeInteger; none unless it has 1, 2, 4 or 8 bytes.
pub fn natural(value: &[u8]) -> Option<u64> {
    let is_one = matches!(value.len(), 1 | 2 | 4 | 8);
    is_one.then(|| value.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Reads elements one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }
    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
    /// The next element; none at the end.
    ///
    /// # Errors
    /// [`Malformed::Number`], [`Malformed::Truncated`].
    pub fn read(&mut self) -> Result<Option<Element<'a>>, Malformed> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let kind = u32::try_from(self.number()?).ok().filter(|kind| *kind > 0).ok_or(Malformed::Number)?;
        let length = usize::try_from(self.number()?).map_err(|_| Malformed::Truncated)?;
        let (value, rest) = self.rest.split_at_checked(length).ok_or(Malformed::Truncated)?;
        self.rest = rest;
        Ok(Some(Element { kind, value }))
    }
    /// A type or a length: 1, 3, 5 or 9 bytes, as few as possible.
    fn number(&mut self) -> Result<u64, Malformed> {
        let (&first, rest) = self.rest.split_first().ok_or(Malformed::Truncated)?;
        let (bytes, least) = match first {
            253 => (2, 253),
            254 => (4, 1 << 16),
            255 => (8, 1 << 32),
            small => {
                self.rest = rest;
                return Ok(small.into());
            }
        };
        let (digits, rest) = rest.split_at_checked(bytes).ok_or(Malformed::Truncated)?;
        self.rest = rest;
        natural(digits).filter(|number| *number >= least).ok_or(Malformed::Number)
    }
}

/// The one element that these bytes are.
///
/// # Errors
/// As [`Reader::read`]; [`Malformed::Trailing`] if something follows.
pub fn only(bytes: &[u8]) -> Result<Element<'_>, Malformed> {
    let mut reader = Reader::new(bytes);
    let element = reader.read()?.ok_or(Malformed::Truncated)?;
    if reader.rest.is_empty() { Ok(element) } else { Err(Malformed::Trailing) }
}

/// Bytes of the element at the beginning of a stream; none if too little of it is here to say.
///
/// # Errors
/// [`Malformed::Number`].
pub fn first_size(stream: &[u8]) -> Result<Option<u64>, Malformed> {
    let mut reader = Reader::new(stream);
    let mut head = || Ok((reader.number()?, reader.number()?));
    match head() {
        Ok((_, length)) => Ok(Some(length.saturating_add((stream.len() - reader.rest.len()) as u64))),
        Err(Malformed::Truncated) => Ok(None),
        Err(why) => Err(why),
    }
}

/// The fields of a container, in their order: those that are known are handed over, each once, and those
/// that need not be understood are skipped.
pub struct Fields<'a> {
    reader: Reader<'a>,
    order: &'static [u32],
    next: usize,
}

impl<'a> Fields<'a> {
    /// Of the value of a container whose fields have these types, in this order.
    pub fn new(value: &'a [u8], order: &'static [u32]) -> Self {
        Self { reader: Reader::new(value), order, next: 0 }
    }
    /// The next known field; none at the end.
    ///
    /// # Errors
    /// As [`Reader::read`]; [`Malformed::Critical`], [`Malformed::Order`].
    pub fn read(&mut self) -> Result<Option<Element<'a>>, Malformed> {
        while let Some(element) = self.reader.read()? {
            let place = self.order.iter().position(|kind| *kind == element.kind);
            match place {
                Some(place) if place >= self.next => {
                    self.next = place + 1;
                    return Ok(Some(element));
                }
                _ if !is_critical(element.kind) => {}
                Some(_) => return Err(Malformed::Order(element.kind)),
                None => return Err(Malformed::Critical(element.kind)),
            }
        }
        Ok(None)
    }
    /// What follows the field that was handed over last.
    pub fn rest(&self) -> &'a [u8] {
        self.reader.rest()
    }
}

/// Whether a reader that does not know this type must refuse its container (section 1.3).
pub fn is_critical(kind: u32) -> bool {
    kind < 32 || kind % 2 == 1
}

// --- writing --------------------------------------------------------------------------------

/// Appends a type or a length.
pub fn write_number(number: u64, out: &mut Vec<u8>) {
    let digits = number.to_be_bytes();
    match number {
        0..253 => out.push(number as u8),
        253..0x1_0000 => {
            out.push(253);
            out.extend_from_slice(&digits[6..]);
        }
        0x1_0000..0x1_0000_0000 => {
            out.push(254);
            out.extend_from_slice(&digits[4..]);
        }
        _ => {
            out.push(255);
            out.extend_from_slice(&digits);
        }
    }
}

/// Bytes of a type or a length.
pub fn number_size(number: u64) -> usize {
    match number {
        0..253 => 1,
        253..0x1_0000 => 3,
        0x1_0000..0x1_0000_0000 => 5,
        _ => 9,
    }
}

/// Bytes of an element with a value of `length` bytes.
pub fn element_size(kind: u32, length: usize) -> usize {
    number_size(kind.into()) + number_size(length as u64) + length
}

/// Appends an element.
pub fn write_element(kind: u32, value: &[u8], out: &mut Vec<u8>) {
    write_number(kind.into(), out);
    write_number(value.len() as u64, out);
    out.extend_from_slice(value);
}

/// Appends a NonNegativeInteger, as short as possible.
pub fn write_natural(number: u64, out: &mut Vec<u8>) {
    let digits = number.to_be_bytes();
    let length = match number {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        0x1_0000..0x1_0000_0000 => 4,
        _ => 8,
    };
    out.extend_from_slice(&digits[8 - length..]);
}

/// Appends an element that holds a NonNegativeInteger.
pub fn write_number_element(kind: u32, number: u64, out: &mut Vec<u8>) {
    write_container(kind, out, |out| write_natural(number, out));
}

/// Appends an element that holds what `write` appends.
pub fn write_container(kind: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    write_number(kind.into(), out);
    // Most lengths need one byte; what is longer is moved up once it is known.
    let at = out.len();
    out.push(0);
    write(out);
    let length = out.len() - at - 1;
    if length < 253 {
        out[at] = length as u8;
        return;
    }
    let mut head = Vec::with_capacity(9);
    write_number(length as u64, &mut head);
    out.splice(at..=at, head);
    debug_assert_eq!(out.len() - start, element_size(kind, length));
}
