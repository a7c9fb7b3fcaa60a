//! Signatures of components: ed25519, by a key that whoever adds a plugin pins.
//!
//! A signature stands beside its component, in a file of its own. What is signed is the digest of
//! the component, behind words that no other use of a key has.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use syrch::lock::KEY;

/// The ending of the file of a signature, after that of its component.
pub(crate) const ENDING: &str = ".sig";
/// The form of the file, and the first words of what is signed.
const SCHEMA: &str = "syrch.signature/1";
/// Bytes of a file of a key or a signature at most.
const LONGEST: usize = 8 << 10;
const PEM: [&str; 2] = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"];
/// Characters of a line of PEM.
const WIDTH: usize = 64;

/// The public key of an author, in words `ed25519:` and the base64 of its 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl FromStr for PublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = text.strip_prefix(KEY).and_then(|text| BASE64.decode(text).ok());
        let key = bytes.and_then(|bytes| bytes.try_into().ok()).map(Self);
        key.ok_or_else(|| format!("it is no key: one is `{KEY}` and the base64 of 32 bytes"))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{KEY}{}", BASE64.encode(self.0))
    }
}

/// The signature of a component, which nobody has checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    key: PublicKey,
    bytes: Vec<u8>,
}

/// The file of a signature.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    key: String,
    signature: String,
}

impl Signature {
    /// Reads the text of its file.
    ///
    /// # Errors
    /// The defect, in words.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err("is too long for a signature".to_owned());
        }
        let Document { schema, key, signature } =
            serde_json::from_slice(text).map_err(|error| format!("is no signature: {error}"))?;
        if schema != SCHEMA {
            let schema = schema.escape_debug();
            return Err(format!("is of the form `{schema}`, and this host reads {SCHEMA}"));
        }
        let key = key.parse().map_err(|why| format!("is no signature: {why}"))?;
        let bytes = BASE64.decode(signature);
        let bytes = bytes.map_err(|error| format!("is no signature: {error}"))?;
        Ok(Self { key, bytes })
    }

    /// Returns the key that made it, if it is the signature of this component.
    #[must_use]
    pub fn verify(&self, component: &[u8]) -> Option<PublicKey> {
        let key = UnparsedPublicKey::new(&ED25519, &self.key.0);
        key.verify(&message(component), &self.bytes).ok().map(|()| self.key)
    }

    /// Returns the text of its file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let document = Document {
            schema: SCHEMA.to_owned(),
            key: self.key.to_string(),
            signature: BASE64.encode(&self.bytes),
        };
        format!("{}\n", serde_json::to_string(&document).unwrap_or_default())
    }
}

/// The path of the signature of a component.
#[must_use]
pub fn path_beside(component: &Path) -> PathBuf {
    let mut path = component.as_os_str().to_owned();
    path.push(ENDING);
    path.into()
}

fn message(component: &[u8]) -> Vec<u8> {
    let hex = syrch::syrch_core::text::hex(Sha256::digest(component));
    format!("{SCHEMA}\nsha256:{hex}\n").into_bytes()
}

/// The key by which an author signs.
pub struct SigningKey(Ed25519KeyPair);

impl SigningKey {
    /// Makes a new key. Also returns the text of its file, which is secret.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn generate() -> Result<(Self, String), String> {
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new());
        let document = made.map_err(|_| "the system has no random numbers".to_owned())?;
        let encoded = BASE64.encode(document.as_ref());
        let letters: Vec<char> = encoded.chars().collect();
        let lines = letters.chunks(WIDTH).map(|line| line.iter().collect::<String>() + "\n");
        let text = format!("{}\n{}{}\n", PEM[0], lines.collect::<String>(), PEM[1]);
        Ok((Self::from_pem(&text)?, text))
    }

    /// Reads the text of its file: PKCS #8 in PEM, as `openssl genpkey -algorithm ed25519` writes
    /// it, too.
    ///
    /// # Errors
    /// When it is no such key. The text does not stand in the error.
    pub fn from_pem(text: &str) -> Result<Self, String> {
        let inside = text.split_once(PEM[0]).and_then(|(_, rest)| rest.split_once(PEM[1]));
        let inside: Option<String> =
            inside.map(|(inside, _)| inside.split_ascii_whitespace().collect());
        let bytes = inside.and_then(|inside| BASE64.decode(inside).ok());
        let pair = bytes.and_then(|bytes| Ed25519KeyPair::from_pkcs8_maybe_unchecked(&bytes).ok());
        pair.map(Self).ok_or_else(|| "is no ed25519 key: PKCS #8 in PEM is read".to_owned())
    }

    /// The key by which others check what it signs.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        let mut bytes = [0; 32];
        let known = self.0.public_key().as_ref().iter();
        bytes.iter_mut().zip(known).for_each(|(byte, known)| *byte = *known);
        PublicKey(bytes)
    }

    /// Signs a component.
    #[must_use]
    pub fn sign(&self, component: &[u8]) -> Signature {
        let bytes = self.0.sign(&message(component)).as_ref().to_vec();
        Signature { key: self.public_key(), bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_component_and_one_key() {
        let (key, text) = SigningKey::generate().unwrap();
        let signature = key.sign(b"component");
        let read = Signature::parse(signature.to_text().as_bytes()).unwrap();
        assert_eq!(read, signature);
        let public = key.public_key();
        assert_eq!(read.verify(b"component"), Some(public));
        assert_eq!(read.verify(b"componenT"), None);
        let again = SigningKey::from_pem(&text).unwrap();
        assert_eq!(again.public_key(), public);
        assert_eq!(public.to_string().parse(), Ok(public));
        // Another key in the file does not make it that key's.
        let other = SigningKey::generate().unwrap().0.public_key();
        let forged = signature.to_text().replace(&public.to_string(), &other.to_string());
        assert_eq!(Signature::parse(forged.as_bytes()).unwrap().verify(b"component"), None);
        for byte in 0..signature.bytes.len() {
            let mut bytes = signature.bytes.clone();
            bytes[byte] ^= 1;
            assert_eq!(Signature { bytes, ..signature.clone() }.verify(b"component"), None);
        }
    }

    /// The example of RFC 8410, section 10.3, in the form that OpenSSL writes.
    #[test]
    fn keys_of_openssl_are_read() {
        let inside = "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC";
        let key = SigningKey::from_pem(&format!("{}\n{inside}\n{}\n", PEM[0], PEM[1])).unwrap();
        let public = key.public_key().to_string();
        assert_eq!(public, "ed25519:Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=");
    }

    #[test]
    fn files_that_hold_none_are_refused() {
        let long = "x".repeat(LONGEST + 1);
        for (text, why) in [
            ("", "is no signature"),
            (long.as_str(), "is too long"),
            (r#"{"schema": "other", "key": "", "signature": ""}"#, "is of the form `other`"),
            (r#"{"schema": "syrch.signature/1", "key": "x", "signature": ""}"#, "it is no key"),
        ] {
            let error = Signature::parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        for text in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            assert!(SigningKey::from_pem(text).is_err(), "{text}");
        }
        for text in ["", "ed25519:", "ed25519:AAAA", "rsa:AAAA"] {
            assert!(text.parse::<PublicKey>().is_err(), "{text}");
        }
    }
}
