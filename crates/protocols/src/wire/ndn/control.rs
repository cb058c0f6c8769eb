//! Commands to a forwarder: signed Interests whose names carry the command (NFD management protocol,
//! as NFD and ndnd speak it).

use super::Malformed;
use super::interest::{Interest, write_signed};
use super::name::{NAME, Name};
use super::signature::{Info, Signer};
use super::tlv::{Fields, Reader, write_container};
use crate::time::Duration;

const PARAMETERS: u32 = 104;
const RESPONSE: u32 = 101;
const STATUS_CODE: u32 = 102;
const STATUS_TEXT: u32 = 103;

/// The command was done.
pub const OK: u64 = 200;

/// How long a forwarder may take for a command.
const LIFETIME: Duration = Duration::from_secs(2);

/// Appends the Interest that asks a forwarder to send Interests for `prefix` over this face; its name is
/// returned. A face within a machine is `local`: the forwarder believes others less.
pub fn register(
    prefix: &Name,
    local: bool,
    nonce: u32,
    info: &Info,
    signer: &Signer,
    out: &mut Vec<u8>,
) -> Name<'static> {
    let scope = if local { "localhost" } else { "localhop" };
    let words = [scope, "nfd", "rib", "register"];
    let name = words.iter().fold(Name::default(), |name, word| name.with_generic(word.as_bytes()));
    let mut parameters = Vec::new();
    write_container(PARAMETERS, &mut parameters, |out| prefix.write(out));
    let name = name.with_generic(&parameters);
    let interest = Interest {
        name,
        must_be_fresh: true,
        nonce: Some(nonce),
        lifetime: Some(LIFETIME),
        ..Interest::default()
    };
    write_signed(&interest, info, signer, out)
}

/// The prefix that a command is about: what a forwarder reads.
///
/// # Errors
/// [`Malformed`].
pub fn prefix_of(parameters: &[u8]) -> Result<Name<'_>, Malformed> {
    let found = Reader::new(parameters).read()?.filter(|element| element.kind == PARAMETERS);
    let found = found.ok_or(Malformed::Missing(PARAMETERS))?;
    let name = Reader::new(found.value).read()?.filter(|element| element.kind == NAME);
    Name::read(name.ok_or(Malformed::Missing(NAME))?.value)
}

/// What a forwarder answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// [`OK`], or as in HTTP.
    pub code: u64,
    /// For people.
    pub text: String,
}

impl Response {
    /// Of the content of Data.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn read(content: &[u8]) -> Result<Self, Malformed> {
        let found = Reader::new(content).read()?.filter(|element| element.kind == RESPONSE);
        let found = found.ok_or(Malformed::Missing(RESPONSE))?;
        let (mut code, mut text) = (None, String::new());
        let mut fields = Fields::new(found.value, &[STATUS_CODE, STATUS_TEXT, PARAMETERS]);
        while let Some(field) = fields.read()? {
            match field.kind {
                STATUS_CODE => code = Some(field.natural()?),
                STATUS_TEXT => text = String::from_utf8_lossy(field.value).into_owned(),
                _ => {}
            }
        }
        Ok(Self { code: code.ok_or(Malformed::Missing(STATUS_CODE))?, text })
    }
}
