//! The keys of entries.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// A part of every key; to be raised when the meaning of stored bytes changes.
const VERSION: &str = "syrch cache 1";

/// The kind of an entry's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The reply of a model.
    Llm,
    /// The result of a statement.
    Sql,
}

impl Kind {
    /// All kinds of cached values.
    pub const ALL: [Self; 2] = [Self::Llm, Self::Sql];

    /// The name of the kind in the file and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Llm => "llm",
            Self::Sql => "sql",
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| format!("`{name}` is not one of llm, sql"))
    }
}

/// A digest of a request: equal only for the same kind, the same identity of what answers it, and
/// the same request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    kind: Kind,
    digest: [u8; 32],
}

impl Key {
    /// The key of a request to the model or database of this identity.
    #[must_use]
    pub fn new(kind: Kind, identity: &str, request: &[u8]) -> Self {
        let mut hasher = Sha256::new();
        for part in [VERSION.as_bytes(), kind.name().as_bytes(), identity.as_bytes(), request] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self { kind, digest: hasher.finalize().into() }
    }

    /// The kind of the entry.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The SHA-256 digest of version, kind, identity and request.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

/// The digest in hexadecimal digits.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.digest.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{self}", self.kind.name())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_is_the_same_in_every_process_and_version() {
        let key = Key::new(Kind::Sql, "db", b"SELECT 1");
        assert_eq!(
            key.to_string(),
            "3db5295f917fd00616cc9ff01f9bbe56151cf639f36eb17658bf9b93e4696b89"
        );
    }

    #[test]
    fn kinds_are_known_by_their_names() {
        assert!(Kind::ALL.iter().all(|kind| kind.name().parse() == Ok(*kind)));
        assert!("LLM".parse::<Kind>().is_err());
    }

    proptest! {
        #[test]
        fn two_requests_never_share_a_key(
            one in (any::<bool>(), "[ab:]{0,4}", prop::collection::vec(any::<u8>(), 0..4)),
            two in (any::<bool>(), "[ab:]{0,4}", prop::collection::vec(any::<u8>(), 0..4)),
        ) {
            let key = |(is_sql, identity, request): &(bool, String, Vec<u8>)| {
                Key::new(if *is_sql { Kind::Sql } else { Kind::Llm }, identity, request)
            };
            prop_assert_eq!(key(&one) == key(&two), one == two);
        }

        #[test]
        fn moving_bytes_between_the_parts_gives_another_key(
            text in "[a-z]{1,20}", cut in 0_usize..20, other in 0_usize..20
        ) {
            let cut = cut.min(text.len());
            let other = other.min(text.len());
            let key = |cut: usize| Key::new(Kind::Llm, &text[..cut], &text.as_bytes()[cut..]);
            prop_assert_eq!(key(cut) == key(other), cut == other);
        }
    }
}
