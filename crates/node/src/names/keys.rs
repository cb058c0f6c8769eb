//! Keys in files.

use crate::Error;
use base64ct::{Base64, Encoding};
use lightlag_protocols::wire::ndn::keys::key_id;
use lightlag_protocols::wire::ndn::{Name, Signed, Signer, TrustedKey, Verifier};
use p256::ecdsa::{SigningKey, VerifyingKey};
use p256::elliptic_curve::Generate;
use p256::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, LineEnding};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Larger files are no keys.
const KEY_MOST_BYTES: u64 = 64 << 10;

fn read_text(path: &Path, right: &str) -> Result<String, Error> {
    let wrong = |what: String| Error::Input(format!("{}: {what}; {right}", path.display()));
    let size = std::fs::metadata(path).map_err(|why| wrong(why.to_string()))?.len();
    if size > KEY_MOST_BYTES {
        return Err(wrong(format!("it has {size} bytes")));
    }
    let bytes = std::fs::read(path).map_err(|why| wrong(why.to_string()))?;
    String::from_utf8(bytes).map_err(|_| wrong("it is not text".to_owned()))
}

/// What signs with the key in a file: ECDSA with P-256, PKCS #8 in PEM. The key is named after `owner`.
///
/// # Errors
/// One line that names the file.
pub fn read_key(path: &Path, owner: &Name) -> Result<Signer, Error> {
    let right = "name a private key in PEM, as `lightlag names keygen` writes it";
    let text = read_text(path, right)?;
    let key = SigningKey::from_pkcs8_pem(&text);
    let key = key.map_err(|_| {
        Error::Input(format!("{}: it holds no private key of the curve P-256; {right}", path.display()))
    })?;
    let name = owner.with_generic(b"KEY").with_generic(&key_id(key.verifying_key()));
    Ok(Signer::Ecdsa(Box::new(key), name))
}

/// What convinces: signatures of the key in a file, a public key in PEM or a certificate of NDN.
///
/// # Errors
/// One line that names the file.
pub fn read_trust(path: &Path) -> Result<Verifier, Error> {
    let right = "name a public key in PEM or a certificate of NDN, of the curve P-256";
    let text = read_text(path, right)?;
    let key = VerifyingKey::from_public_key_pem(&text).ok().map(|key| TrustedKey::new(key, None));
    let key = key.or_else(|| of_certificate(&text));
    let key =
        key.ok_or_else(|| Error::Input(format!("{}: it holds no such key; {right}", path.display())))?;
    Ok(Verifier::Ecdsa(Box::new(key)))
}

/// A certificate is Data whose content is the key; in files it is base64, with or without a frame of PEM.
fn of_certificate(text: &str) -> Option<TrustedKey> {
    let is_base64 = |line: &&str| !line.starts_with('-') && !line.contains(':');
    let digits: String = text.lines().map(str::trim).filter(is_base64).collect();
    let bytes = Base64::decode_vec(&digits).ok()?;
    let certificate = Signed::read(&bytes).ok()?;
    let key = VerifyingKey::from_public_key_der(certificate.data.content).ok()?;
    Some(TrustedKey::new(key, Some(&certificate.data.name)))
}

/// Draws a key: writes the private one to a file that only its owner may read, and the public one beside it
/// as FILE.pub. Returns the path of the latter. Existing files are not replaced.
///
/// # Errors
/// One line that names the file.
pub fn make_key(path: &Path) -> Result<PathBuf, Error> {
    let wrong = |path: &Path, why: String| Error::Input(format!("cannot write {}: {why}", path.display()));
    let key = SigningKey::try_generate().map_err(|why| Error::Failed(format!("no random numbers: {why}")))?;
    let private = key.to_pkcs8_pem(LineEnding::LF).map_err(|why| wrong(path, why.to_string()))?;
    let public = key.verifying_key().to_public_key_pem(LineEnding::LF);
    let public = public.map_err(|why| wrong(path, why.to_string()))?;
    let mut beside = path.to_owned().into_os_string();
    beside.push(".pub");
    let beside = PathBuf::from(beside);
    for (path, text, mode) in [(path, private.as_str(), 0o600), (&beside, public.as_str(), 0o644)] {
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|why| match why.kind() {
            ErrorKind::AlreadyExists => wrong(path, "it is there already; name another file".to_owned()),
            _ => wrong(path, why.to_string()),
        })?;
    }
    Ok(beside)
}
