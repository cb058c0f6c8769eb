//! Keys of ECDSA with P-256, and how signatures refer to them. Worlds need no keys: this module is the feature `ecdsa`.

use super::name::kind as component;
use super::name::{Component, Name};
use super::signature::{Signature, Untrusted, sha256};
pub(super) use p256::ecdsa::SigningKey;
use p256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use p256::ecdsa::{DerSignature, VerifyingKey};

/// The signature of a digest.
pub(super) fn sign(key: &SigningKey, digest: &[u8; 32]) -> Vec<u8> {
    let signature: Result<DerSignature, _> = key.sign_prehash(digest);
    signature.map(|signature| signature.as_bytes().to_vec()).expect("a digest can be signed")
}

/// A public key, and how signatures refer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedKey {
    key: VerifyingKey,
    /// Identifiers: the component behind `KEY` in the names of keys and certificates.
    ids: Vec<Vec<u8>>,
}

impl TrustedKey {
    /// A key, and the name of its certificate where that is known.
    pub fn new(key: VerifyingKey, certificate: Option<&Name>) -> Self {
        let mut ids = vec![key_id(&key).to_vec()];
        ids.extend(certificate.and_then(id_in));
        Self { key, ids }
    }
    /// Whether it has made a signature of what has this digest.
    pub(super) fn verify(&self, signature: &Signature, digest: &[u8; 32]) -> Result<(), Untrusted> {
        let read: Result<DerSignature, _> = signature.value.try_into();
        let is_right = read.is_ok_and(|read| self.key.verify_prehash(digest, &read).is_ok());
        if is_right { Ok(()) } else { Err(self.refusal(signature)) }
    }
    /// Why a signature is refused that this key has not made.
    fn refusal(&self, signature: &Signature) -> Untrusted {
        let Some(name) = &signature.key else { return Untrusted::Wrong };
        if id_in(name).is_some_and(|id| self.ids.contains(&id)) {
            return Untrusted::Altered;
        }
        Untrusted::OtherKey(name.clone().into_owned())
    }
}

/// The identifier that our names of keys have: it follows from the key.
pub fn key_id(key: &VerifyingKey) -> [u8; 8] {
    let digest = sha256(&[key.to_sec1_point(false).as_bytes()]);
    std::array::from_fn(|at| digest[at])
}

/// The component behind the last `KEY` of a name.
fn id_in(name: &Name) -> Option<Vec<u8>> {
    let marker = Component { kind: component::GENERIC, value: b"KEY" };
    let components: Vec<Component> = name.components().collect();
    let at = components.iter().rposition(|found| *found == marker)?;
    components.get(at + 1).map(|id| id.value.to_vec())
}
