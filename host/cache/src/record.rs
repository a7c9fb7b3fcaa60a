//! Entries as bytes, for files of a shared folder and values of a server: a head with the times and
//! a checksum, then the value.

use crate::Key;
use crate::store::Entry;

/// The first bytes of an entry, with the version of the form.
const MAGIC: &[u8; 8] = b"syrch-1\n";
/// Bytes before the value: the magic, two times and the checksum.
pub(crate) const HEAD: usize = MAGIC.len() + 8 + 8 + 32;

/// The bytes of an entry.
pub(crate) fn encode_entry(key: &Key, entry: &Entry<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + entry.value.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&entry.created.to_le_bytes());
    bytes.extend_from_slice(&entry.expires.to_le_bytes());
    bytes.extend_from_slice(&entry.checksum(key));
    bytes.extend_from_slice(entry.value);
    bytes
}

/// The value of an entry, if the bytes are whole, belong to the key and are valid now.
pub(crate) fn decode_entry(key: &Key, bytes: &[u8], now: i64, ttl: i64) -> Option<Vec<u8>> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (created, rest) = rest.split_first_chunk::<8>()?;
    let (expires, rest) = rest.split_first_chunk::<8>()?;
    let (checksum, value) = rest.split_first_chunk::<32>()?;
    let entry = Entry {
        created: i64::from_le_bytes(*created),
        expires: i64::from_le_bytes(*expires),
        value,
    };
    let is_whole = entry.checksum(key) == *checksum;
    (is_whole && entry.is_valid(now, ttl)).then(|| value.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn only_a_whole_entry_of_the_key_is_read() {
        let key = Key::new(Kind::Llm, "who", b"1");
        let entry = Entry { created: 1_000, expires: 2_000, value: b"value" };
        let bytes = encode_entry(&key, &entry);
        assert_eq!(bytes.len(), HEAD + 5);
        assert_eq!(decode_entry(&key, &bytes, 1_500, 900).as_deref(), Some(&b"value"[..]));
        assert_eq!(decode_entry(&key, &bytes, 2_000, 9_000), None);
        assert_eq!(decode_entry(&key, &bytes, 1_900, 900), None);
        assert_eq!(decode_entry(&Key::new(Kind::Llm, "who", b"2"), &bytes, 1_500, 900), None);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(decode_entry(&key, &damaged, 1_500, 900), None, "{at}");
            assert_eq!(decode_entry(&key, &bytes[..at], 1_500, 900), None, "{at}");
        }
    }
}
