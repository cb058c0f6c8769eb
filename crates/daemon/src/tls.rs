//! TLS 1.3 between daemons: both show a raw public key (RFC 7250), and each knows whose it takes.

use super::keys::{Identity, PublicKey};
use lightlag_node::Error;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tracing::warn;

/// The versions of the protocol that this daemon speaks, the best first (ALPN, RFC 7301): two daemons use the first one that
/// both have.
const PROTOCOLS: [&str; 1] = ["lightlag/2"];
/// Unknown keys are reported at most once in this time.
const TOLD_EVERY: Duration = Duration::from_secs(60);
/// A SubjectPublicKeyInfo of Ed25519 (RFC 8410, section 4) before the 32 bytes of the key.
const SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The versions of the protocol that this daemon speaks, for messages.
pub fn version() -> String {
    PROTOCOLS.join(", ")
}

/// The key that the other side has shown and proved.
pub fn shown_key(certificates: Option<&[CertificateDer]>) -> Option<PublicKey> {
    let [shown] = certificates? else { return None };
    let key = shown.as_ref().strip_prefix(&SPKI[..])?;
    key.try_into().ok().map(PublicKey)
}

/// Takes the keys of these daemons and no other.
#[derive(Debug)]
struct Pinned {
    keys: Vec<PublicKey>,
    provider: Arc<CryptoProvider>,
    /// When an unknown key was last reported.
    told: Mutex<Option<Instant>>,
}

impl Pinned {
    fn check(&self, shown: &CertificateDer) -> Result<(), rustls::Error> {
        let key = shown_key(Some(std::slice::from_ref(shown)));
        if key.is_some_and(|key| self.keys.contains(&key)) {
            return Ok(());
        }
        Err(rustls::Error::InvalidCertificate(rustls::CertificateError::ApplicationVerificationFailure))
    }
    fn tell(&self, shown: &CertificateDer) {
        let Some(key) = shown_key(Some(std::slice::from_ref(shown))) else { return };
        let Ok(mut told) = self.told.lock() else { return };
        if told.is_none_or(|at| at.elapsed() >= TOLD_EVERY) {
            *told = Some(Instant::now());
            warn!(%key, "rejected an unknown peer key; suppressing this warning for 60 s");
        }
    }
}

/// What both verifiers answer: raw keys, signatures with Ed25519, TLS 1.3 only.
macro_rules! raw_ed25519 {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            Err(rustls::Error::General("TLS 1.3 only".to_owned()))
        }
        fn verify_tls13_signature(
            &self,
            message: &[u8],
            shown: &CertificateDer,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            let key = SubjectPublicKeyInfoDer::from(shown.as_ref());
            let known = &self.provider.signature_verification_algorithms;
            verify_tls13_signature_with_raw_key(message, &key, signature, known)
        }
        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }
        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer,
        _: &[CertificateDer],
        _: &ServerName,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.check(shown).map(|()| ServerCertVerified::assertion())
    }
    raw_ed25519!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }
    fn verify_client_cert(
        &self,
        shown: &CertificateDer,
        _: &[CertificateDer],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        self.check(shown).inspect_err(|_| self.tell(shown))?;
        Ok(ClientCertVerified::assertion())
    }
    raw_ed25519!();
}

fn own_key(identity: &Identity) -> Result<Arc<CertifiedKey>, rustls::Error> {
    let key = ring::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(identity.der()))?;
    let mut public = SPKI.to_vec();
    public.extend(identity.public().0);
    Ok(Arc::new(CertifiedKey::new(vec![CertificateDer::from(public)], key)))
}

fn failed(why: rustls::Error) -> Error {
    Error::Failed(format!("TLS: {why}"))
}

/// For the calling side.
///
/// # Errors
/// TLS does not take the key.
pub fn client(identity: &Identity, other: PublicKey) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(ring::default_provider());
    let pinned = Pinned { keys: vec![other], provider: provider.clone(), told: Mutex::new(None) };
    let own = own_key(identity).map_err(failed)?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(failed)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(own)));
    config.alpn_protocols = PROTOCOLS.map(|protocol| protocol.as_bytes().to_vec()).to_vec();
    config.enable_sni = false;
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// For the called side; accepts these keys and no others.
///
/// # Errors
/// TLS does not take the key.
pub fn server(identity: &Identity, others: Vec<PublicKey>) -> Result<Arc<ServerConfig>, Error> {
    let provider = Arc::new(ring::default_provider());
    let pinned = Pinned { keys: others, provider: provider.clone(), told: Mutex::new(None) };
    let own = own_key(identity).map_err(failed)?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(failed)?
        .with_client_cert_verifier(Arc::new(pinned))
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(own)));
    config.alpn_protocols = PROTOCOLS.map(|protocol| protocol.as_bytes().to_vec()).to_vec();
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}
