//! Which servers are believed: those with a certificate that a trusted one has signed, and those whose own certificate
//! is one of the trusted.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// Trusted certificates.
#[derive(Debug)]
pub struct Trust {
    known: Vec<CertificateDer<'static>>,
    by_signature: Arc<WebPkiServerVerifier>,
}

impl Trust {
    /// These. `None`: none of them can be used.
    ///
    /// # Errors
    /// What rustls has against them.
    pub fn new(known: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Result<Option<Trust>, String> {
        let mut roots = RootCertStore::empty();
        if roots.add_parsable_certificates(known.iter().cloned()).0 == 0 {
            return Ok(None);
        }
        let by_signature = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        Ok(Some(Trust { known, by_signature: by_signature.map_err(|error| error.to_string())? }))
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.by_signature.verify_server_cert(own, between, name, ocsp, now);
        // One that signs itself, as `openssl req -x509` makes it, is an authority, which webpki does not take for a
        // server's. It says so once it has seen that the certificate is valid at this time.
        if matches!(verified, Err(Error::InvalidCertificate(CertificateError::Other(_)))) && self.known.contains(own) {
            verify_server_name(&ParsedCertificate::try_from(own)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_signature.verify_tls12_signature(message, own, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_signature.verify_tls13_signature(message, own, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_signature.supported_verify_schemes()
    }
}
