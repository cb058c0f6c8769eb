//! Who a daemon is: an Ed25519 key of its own, and those of the others, pinned as in SSH.

use base64ct::{Base64Unpadded, Encoding};
use ed25519_dalek::pkcs8::{DecodePrivateKey, EncodePrivateKey, spki::der::pem::LineEnding};
use ed25519_dalek::{SigningKey, VerifyingKey};
use lightlag_node::Error;
use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// What the text of a public key begins with.
const KIND: &str = "ed25519:";

/// A daemon's public key: who it is. As text: `ed25519:` and the 32 bytes in Base64 without padding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKey {
    /// Reads its text.
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a public key; `lightlagd keygen` prints one: {KIND}...");
        let base64 = text.trim().strip_prefix(KIND).ok_or_else(wrong)?;
        let bytes = Base64Unpadded::decode_vec(base64).map_err(|_| wrong())?;
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| wrong())?;
        let point = VerifyingKey::from_bytes(&bytes).map_err(|_| wrong())?;
        // With such a key anybody could speak for its owner.
        if point.is_weak() { Err(wrong()) } else { Ok(Self(bytes)) }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "{KIND}{}", Base64Unpadded::encode_string(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "{self}")
    }
}

/// A daemon's own key.
#[derive(Clone)]
pub struct Identity {
    signing: SigningKey,
}

impl Identity {
    /// A new one, of the system's random numbers.
    ///
    /// # Errors
    /// The system has none.
    pub fn generate() -> Result<Self, Error> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|why| Error::Failed(format!("random numbers: {why}")))?;
        Ok(Self { signing: SigningKey::from_bytes(&secret) })
    }
    /// Reads it from a file that only its owner can read.
    ///
    /// # Errors
    /// It is not there, or not a key, or others can read it.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let input = |why: String| Error::Input(format!("{}: {why}", path.display()));
        let mode = std::fs::metadata(path)
            .map_err(|why| input(format!("{why}; `lightlagd keygen` makes a key")))?
            .permissions()
            .mode();
        if mode & 0o077 != 0 {
            return Err(input(format!("others can read it (mode {:04o}); it must be 0600", mode & 0o7777)));
        }
        let text = std::fs::read_to_string(path).map_err(|why| input(why.to_string()))?;
        let signing = SigningKey::from_pkcs8_pem(&text).map_err(|_| {
            input("it is not an Ed25519 key in PEM (PKCS #8), as `lightlagd keygen` makes them".into())
        })?;
        Ok(Self { signing })
    }
    /// Writes it to a new file that only its owner can read, mode 0600.
    ///
    /// # Errors
    /// There is such a file already, or it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let input = |why: std::io::Error| Error::Input(format!("{}: {why}", path.display()));
        let text = self.signing.to_pkcs8_pem(LineEnding::LF).expect("a key can be written");
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(input)?;
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(
            |why| match why.kind() {
                std::io::ErrorKind::AlreadyExists => Error::Input(format!(
                    "{}: there is a key already; it is never overwritten",
                    path.display()
                )),
                _ => input(why),
            },
        )?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(input)
    }
    /// Its public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.signing.verifying_key().to_bytes())
    }
    /// As TLS takes it: PKCS #8 in DER.
    pub fn der(&self) -> Vec<u8> {
        self.signing.to_pkcs8_der().expect("a key can be written").as_bytes().to_vec()
    }
    /// What only this daemon and the owner of the other key can compute (X25519 of the same keys, RFC 7748).
    pub fn agree(&self, other: &PublicKey) -> Option<[u8; 32]> {
        let theirs = VerifyingKey::from_bytes(&other.0).ok()?.to_montgomery();
        let secret = x25519_dalek::StaticSecret::from(self.signing.to_scalar_bytes());
        let shared = secret.diffie_hellman(&x25519_dalek::PublicKey::from(theirs.to_bytes()));
        shared.was_contributory().then(|| shared.to_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_written_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.pem");
        let made = Identity::generate().unwrap();
        made.write(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Identity::read(&path).unwrap().public(), made.public());
        assert!(made.write(&path).unwrap_err().to_string().contains("never overwritten"));
        assert_eq!(PublicKey::parse(&made.public().to_string()), Ok(made.public()));
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.pem");
        Identity::generate().unwrap().write(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let why = Identity::read(&path).err().unwrap().to_string();
        assert!(why.contains("mode 0644"), "{why}");
    }

    #[test]
    fn two_daemons_agree_on_one_secret() {
        let [here, there] = [Identity::generate().unwrap(), Identity::generate().unwrap()];
        assert_eq!(here.agree(&there.public()), there.agree(&here.public()));
        assert!(PublicKey::parse("ed25519:AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").is_err());
    }
}
