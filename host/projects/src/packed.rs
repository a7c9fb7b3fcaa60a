//! The files that the build script packed: the contract, the templates and the SDKs.

use std::collections::BTreeMap;
use std::sync::OnceLock;

static PACK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pack.zst"));

/// All files by path, such as `templates/python/plugin.py`. They are unpacked once.
pub(crate) fn files() -> &'static BTreeMap<String, Vec<u8>> {
    static FILES: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
    // The build script wrote the pack. One that is cut short has the files before the cut, and a
    // test compares their number.
    FILES.get_or_init(|| zstd::decode_all(PACK).map(|pack| unpack(&pack)).unwrap_or_default())
}

/// The files below a folder, with their paths in it.
pub(crate) fn below(folder: &str) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let start = format!("{folder}/");
    let inside = |path: &'static String, start: &str| path.strip_prefix(start);
    files()
        .iter()
        .filter_map(move |(path, content)| Some((inside(path, &start)?, content.as_slice())))
}

fn unpack(mut pack: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    while let Some((path, content, rest)) = file(pack) {
        files.insert(String::from_utf8_lossy(path).into_owned(), content.to_vec());
        pack = rest;
    }
    files
}

/// The first file of a pack, and the rest of the pack.
fn file(pack: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (path, rest) = pack.split_first_chunk()?;
    let (content, rest) = rest.split_first_chunk()?;
    let (path, rest) = rest.split_at_checked(u32::from_le_bytes(*path) as usize)?;
    let (content, rest) = rest.split_at_checked(u32::from_le_bytes(*content) as usize)?;
    Some((path, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_and_the_manifests_are_packed_whole() {
        let contract: Vec<&str> = below("wit").map(|(path, _)| path).collect();
        assert_eq!(contract, ["README.md", "ports.wit", "roles.wit", "types.wit", "worlds.wit"]);
        for (path, content) in below("wit") {
            assert_eq!(
                content,
                std::fs::read(syrch_kit::repository().join("wit").join(path)).unwrap()
            );
        }
        for manifest in ["rust", "basics"].map(|name| format!("sdk/rust/{name}/Cargo.toml")) {
            let text = String::from_utf8(files()[&manifest].clone()).unwrap();
            assert!(!text.contains("workspace") && text.contains("version = \"0.1.0\""), "{text}");
        }
        let sdk = String::from_utf8(files()["sdk/rust/rust/Cargo.toml"].clone()).unwrap();
        assert!(sdk.contains("path = \"../basics\"") && sdk.contains("wit-bindgen"), "{sdk}");
    }

    #[test]
    fn every_sdk_has_its_licences() {
        for sdk in ["python", "js", "go", "c", "rust/rust", "rust/basics"] {
            for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
                assert!(files().contains_key(&format!("sdk/{sdk}/{licence}")), "{sdk}: {licence}");
            }
        }
    }

    /// Nothing in a project is of the machine on which the host was built.
    #[test]
    fn no_file_names_the_folder_in_which_it_was_packed() {
        let folder = format!("{}/", syrch_kit::repository().canonicalize().unwrap().display());
        for (path, content) in files() {
            assert!(!String::from_utf8_lossy(content).contains(&folder), "{path} names {folder}");
        }
    }

    #[test]
    fn what_is_made_and_tested_is_left_out() {
        for path in files().keys().filter(|path| path.starts_with("sdk/")) {
            let made =
                ["node_modules", "__pycache__", "/examples/", ".pyc", "_test.go", "/target/"];
            assert!(!made.iter().any(|part| path.contains(part)), "{path}");
        }
        assert!(PACK.len() < 1 << 20, "the pack has {} bytes", PACK.len());
    }
}
