//! Bundles of Sigstore beside components, as `cosign sign-blob --bundle` writes them: verified
//! offline, by a key, or by an identity to which an authority of a trust root gave a certificate.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
#[cfg(not(feature = "cosign"))]
use syrch::lock::Signer;

#[cfg(feature = "cosign")]
mod provider;
#[cfg(feature = "cosign")]
mod verify;

#[cfg(feature = "cosign")]
pub use verify::Bundle;

/// The ending of the file of a bundle, after that of its component.
pub(crate) const ENDING: &str = ".sigstore.json";
/// Bytes of a bundle, a trust root or a key at most.
pub(crate) const LONGEST: usize = 1 << 20;
const PEM: [&str; 2] = ["-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----"];

/// The public key of an author, as cosign writes it: of ECDSA or ed25519.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CosignKey(String);

impl FromStr for CosignKey {
    type Err = String;

    /// Reads the text of its file, `cosign.pub`.
    fn from_str(text: &str) -> Result<Self, String> {
        let inside = text.trim().strip_prefix(PEM[0]).and_then(|text| text.strip_suffix(PEM[1]));
        let inside: Option<String> = inside.map(|text| text.split_ascii_whitespace().collect());
        let is_key = inside.as_ref().is_some_and(|text| {
            !text.is_empty() && text.len() < LONGEST && BASE64.decode(text).is_ok()
        });
        let key = inside.filter(|_| is_key).map(Self);
        key.ok_or_else(|| "is no public key: one in PEM is read, such as cosign.pub".to_owned())
    }
}

impl fmt::Display for CosignKey {
    /// Writes the base64 between the lines of PEM.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A bundle in a build that cannot read one.
#[cfg(not(feature = "cosign"))]
pub struct Bundle;

#[cfg(not(feature = "cosign"))]
impl Bundle {
    /// Reads nothing.
    ///
    /// # Errors
    /// Never.
    pub fn parse(_: &[u8]) -> Result<Self, String> {
        Ok(Self)
    }

    /// Returns true, since nobody knows what it says.
    #[must_use]
    pub fn names(&self, _: &[u8]) -> bool {
        true
    }

    /// Verifies nothing.
    ///
    /// # Errors
    /// Always.
    pub fn verify(&self, _: &[u8], _: &Signer, _: Option<&[u8]>) -> Result<Signer, String> {
        Err("this build of the host reads no bundles: it lacks the feature `cosign`".to_owned())
    }
}
