//! The verification of a bundle, offline.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sha2::{Digest as _, Sha256};
use sigstore_crypto::{KeyAlgorithm, verify_signature};
use sigstore_verify::trust_root::TrustedRoot;
use sigstore_verify::types::{DerPublicKey, HashAlgorithm, SignatureContent, Statement};
use sigstore_verify::{
    Policy, PublicKeyVerificationPolicy, VerificationPolicy, VerificationResult, Verifier,
};
use syrch::lock::Signer;
use syrch::syrch_core::text::hex;

use super::{LONGEST, PEM, provider};

/// The statements about a component that say who made it or stands for it. Others may say that it
/// is harmful.
const STATEMENTS: [&str; 4] = [
    "https://slsa.dev/provenance/v1",
    "https://slsa.dev/provenance/v0.2",
    "https://sigstore.dev/cosign/sign/v1",
    "https://docs.pypi.org/attestations/publish/v1",
];

/// A bundle, which nobody has verified.
#[derive(Debug, Clone)]
pub struct Bundle(sigstore_verify::types::Bundle);

impl Bundle {
    /// Reads the text of its file.
    ///
    /// # Errors
    /// The defect, in words.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err("is too long for a bundle".to_owned());
        }
        let text = std::str::from_utf8(text).map_err(|_| "is no bundle: it is no UTF-8")?;
        let bundle = sigstore_verify::types::Bundle::from_json(text);
        bundle.map(Self).map_err(|error| format!("is no bundle of Sigstore: {error}"))
    }

    /// Returns false if the bundle says itself that it is of something else.
    #[must_use]
    pub fn names(&self, component: &[u8]) -> bool {
        let SignatureContent::MessageSignature(signature) = &self.0.content else { return true };
        let digest = signature.message_digest.as_ref();
        let digest = digest.filter(|digest| digest.algorithm == HashAlgorithm::Sha2256);
        digest.is_none_or(|digest| digest.digest.as_bytes() == Sha256::digest(component).as_slice())
    }

    /// Verifies that this signer has signed the component, and returns it with the time at which
    /// the log had the signature and with the digest of the trust root.
    ///
    /// A key needs no trust root; where there is one, the log of it has to have the signature.
    ///
    /// # Errors
    /// The reason why it is not verified, in words.
    pub fn verify(
        &self,
        component: &[u8],
        signer: &Signer,
        root: Option<&[u8]>,
    ) -> Result<Signer, String> {
        self.check_statement()?;
        if !self.names(component) {
            return Err("its bundle is not that of this component".to_owned());
        }
        let trusted = root.map(read_root).transpose()?;
        // The library promises errors, but what it reads is of an unknown author.
        let verified = provider::with_artefact(component, || {
            catch_unwind(AssertUnwindSafe(|| self.run(component, signer, trusted)))
        });
        let result = verified.map_err(|_| "the library that verifies bundles failed")??;
        let logged = result.and_then(|result| {
            let times = result.verified_timestamps().iter().min().copied();
            result.integrated_time().or(times)
        });
        Ok(Signer {
            logged: logged.map(|time| time.to_string()),
            root: root.map(|root| hex(Sha256::digest(root))),
            ..signer.clone()
        })
    }

    fn run(
        &self,
        component: &[u8],
        signer: &Signer,
        root: Option<TrustedRoot>,
    ) -> Result<Option<VerificationResult>, String> {
        let key = signer.key.as_ref().map(|key| {
            let pem = format!("{}\n{key}\n{}\n", PEM[0], PEM[1]);
            DerPublicKey::from_pem(&pem).map_err(|error| error.to_string())
        });
        let Some(root) = root else {
            return match key {
                Some(key) => self.verify_by_key(component, &key?).map(|()| None),
                None => Err("a certificate is verified against a trust root alone".to_owned()),
            };
        };
        let verifier = Verifier::new(&root).map_err(|error| format!("its trust root: {error}"))?;
        let policy: Box<dyn Policy> = match (key, &signer.identity, &signer.issuer) {
            (Some(key), None, None) => Box::new(PublicKeyVerificationPolicy::new(key?)),
            (None, Some(identity), Some(issuer)) => {
                let policy = VerificationPolicy::new(identity.as_str(), issuer.as_str());
                // A trust root without such logs is of an instance that has none.
                Box::new(if root.ctlogs.is_empty() { policy.skip_sct() } else { policy })
            }
            _ => return Err("no signer is named".to_owned()),
        };
        let result = verifier.verify(component, &self.0, policy.as_ref());
        let result = result.map_err(|error| error.to_string())?;
        let entries = &self.0.verification_material.tlog_entries;
        if !result.tlog_verified() || entries.is_empty() {
            return Err("no log of the trust root has the signature".to_owned());
        }
        let is_matched = result.certificate_verified() && result.identity_policy_checked();
        if signer.key.is_none() && !is_matched {
            return Err("its certificate was not verified".to_owned());
        }
        Ok(Some(result))
    }

    /// Verifies the signature alone: without a trust root there is no log and no time.
    fn verify_by_key(&self, component: &[u8], key: &DerPublicKey) -> Result<(), String> {
        let SignatureContent::MessageSignature(signature) = &self.0.content else {
            return Err("a statement is verified against a trust root alone".to_owned());
        };
        let algorithm = KeyAlgorithm::from_spki(key).map_err(|error| error.to_string())?;
        let digest = signature.message_digest.as_ref();
        let scheme = match digest {
            Some(digest) => algorithm.resolve_signing_scheme(digest.algorithm),
            None => Ok(algorithm.default_signing_scheme()),
        };
        scheme
            .and_then(|scheme| verify_signature(key, component, &signature.signature, scheme))
            .map_err(|error| error.to_string())
    }

    /// Refuses a statement about the component that is no signature of it.
    fn check_statement(&self) -> Result<(), String> {
        let SignatureContent::DsseEnvelope(envelope) = &self.0.content else { return Ok(()) };
        let statement: Statement = serde_json::from_slice(envelope.payload.as_bytes())
            .map_err(|error| format!("its statement is none: {error}"))?;
        if STATEMENTS.contains(&statement.predicate_type.as_str()) {
            return Ok(());
        }
        Err(format!("it is a statement of another kind, `{}`", statement.predicate_type))
    }
}

fn read_root(text: &[u8]) -> Result<TrustedRoot, String> {
    if text.len() > LONGEST {
        return Err("its trust root is too long".to_owned());
    }
    let text = std::str::from_utf8(text).map_err(|_| "its trust root is no UTF-8")?;
    TrustedRoot::from_json(text).map_err(|error| format!("its trust root is none: {error}"))
}
