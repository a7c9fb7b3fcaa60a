//! The cryptography of ring for the library that verifies bundles, which has none of its own here.

use std::cell::RefCell;
use std::sync::Arc;

use ring::digest;
use ring::signature as algorithms;
use ring::signature::{UnparsedPublicKey, VerificationAlgorithm};
use sigstore_crypto::{
    CryptoProvider, Error, HashContext, Result, SigningScheme, install_default_provider,
};
use sigstore_verify::types::HashAlgorithm;

thread_local! {
    /// The artefact that this thread verifies.
    static ARTEFACT: RefCell<Option<Arc<[u8]>>> = const { RefCell::new(None) };
}

/// Runs a verification of signatures of this artefact.
pub(super) fn with_artefact<T>(artefact: &[u8], verify: impl FnOnce() -> T) -> T {
    // An embedder that has installed its own has said how signatures are verified.
    install_default_provider(&Ring).ok();
    ARTEFACT.set(Some(artefact.into()));
    let verified = verify();
    ARTEFACT.set(None);
    verified
}

#[derive(Debug)]
struct Ring;

struct Hasher(digest::Context);

impl HashContext for Hasher {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finalize(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

impl CryptoProvider for Ring {
    fn hash(&self, algorithm: HashAlgorithm) -> Result<Box<dyn HashContext>> {
        Ok(Box::new(Hasher(digest::Context::new(digest_algorithm(algorithm)?))))
    }

    fn verify_raw(
        &self,
        scheme: SigningScheme,
        key: &[u8],
        data: &[u8],
        signature: &[u8],
    ) -> Result<()> {
        let verified =
            UnparsedPublicKey::new(verification_algorithm(scheme)?, key).verify(data, signature);
        verified
            .map_err(|_| Error::Verification(format!("the {} signature is wrong", scheme.name())))
    }

    /// Verifies a signature of what has this digest. Ring takes no digests, but what is verified so
    /// is the artefact, which is at hand.
    fn verify_prehashed(
        &self,
        scheme: SigningScheme,
        key: &[u8],
        digest: &[u8],
        signature: &[u8],
    ) -> Result<()> {
        let artefact = ARTEFACT.with_borrow(Clone::clone);
        let algorithm = scheme.hash_algorithm().map(digest_algorithm).transpose()?;
        match (artefact, algorithm) {
            (Some(artefact), Some(algorithm))
                if digest::digest(algorithm, &artefact).as_ref() == digest =>
            {
                self.verify_raw(scheme, key, &artefact, signature)
            }
            _ => Err(Error::Verification("the digest is not that of the artefact".to_owned())),
        }
    }
}

fn digest_algorithm(algorithm: HashAlgorithm) -> Result<&'static digest::Algorithm> {
    match algorithm {
        HashAlgorithm::Sha2256 => Ok(&digest::SHA256),
        HashAlgorithm::Sha2384 => Ok(&digest::SHA384),
        HashAlgorithm::Sha2512 => Ok(&digest::SHA512),
        other => Err(Error::UnsupportedAlgorithm(format!("{other} is not read"))),
    }
}

fn verification_algorithm(scheme: SigningScheme) -> Result<&'static dyn VerificationAlgorithm> {
    Ok(match scheme {
        SigningScheme::EcdsaP256Sha256 => &algorithms::ECDSA_P256_SHA256_ASN1,
        SigningScheme::EcdsaP256Sha384 => &algorithms::ECDSA_P256_SHA384_ASN1,
        SigningScheme::EcdsaP384Sha256 => &algorithms::ECDSA_P384_SHA256_ASN1,
        SigningScheme::EcdsaP384Sha384 => &algorithms::ECDSA_P384_SHA384_ASN1,
        SigningScheme::Ed25519 => &algorithms::ED25519,
        SigningScheme::RsaPssSha256 => &algorithms::RSA_PSS_2048_8192_SHA256,
        SigningScheme::RsaPssSha384 => &algorithms::RSA_PSS_2048_8192_SHA384,
        SigningScheme::RsaPssSha512 => &algorithms::RSA_PSS_2048_8192_SHA512,
        SigningScheme::RsaPkcs1Sha256 => &algorithms::RSA_PKCS1_2048_8192_SHA256,
        SigningScheme::RsaPkcs1Sha384 => &algorithms::RSA_PKCS1_2048_8192_SHA384,
        SigningScheme::RsaPkcs1Sha512 => &algorithms::RSA_PKCS1_2048_8192_SHA512,
        other => {
            return Err(Error::UnsupportedAlgorithm(format!("{} is not read", other.name())));
        }
    })
}
