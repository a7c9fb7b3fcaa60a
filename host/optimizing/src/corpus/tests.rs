//! Manifests that are right, wrong and hostile.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{Corpus, CorpusError, FileState};

/// A folder with two statements and a manifest of them.
fn make_manifest(folder: &Path) -> PathBuf {
    let manifest = folder.join("manifest.toml");
    fs::create_dir(folder.join("sql")).unwrap();
    for (name, sql) in [("one.sql", "SELECT 1 FROM t"), ("two.sql", "SELECT 2 FROM t")] {
        fs::write(folder.join("sql").join(name), sql).unwrap();
        Corpus::add(&manifest, &folder.join("sql").join(name), "a \"quoted\"\nline").unwrap();
    }
    manifest
}

fn read_refusal(folder: &Path, text: &str) -> String {
    let path = folder.join("wrong.toml");
    fs::write(&path, text).unwrap();
    Corpus::read(&path).unwrap_err().to_string()
}

#[test]
fn what_is_added_is_read_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = make_manifest(folder.path());
    let corpus = Corpus::read(&manifest).unwrap();
    let files: Vec<&str> = corpus.queries().iter().map(|query| query.file.as_str()).collect();
    assert_eq!(files, ["sql/one.sql", "sql/two.sql"]);
    assert_eq!(corpus.queries()[0].description, "a \"quoted\"\nline");
    assert_eq!(corpus.verify(), [FileState::Ok, FileState::Ok]);
    assert_eq!(corpus.lock().unwrap()[1].sql, "SELECT 2 FROM t");
    fs::write(folder.path().join("sql/one.sql"), "SELECT 3 FROM t").unwrap();
    fs::remove_file(folder.path().join("sql/two.sql")).unwrap();
    assert_eq!(corpus.verify(), [FileState::Mismatch, FileState::Missing]);
    let error = corpus.lock().unwrap_err();
    assert!(matches!(error, CorpusError::Unlocked { changed: 2, of: 2, .. }), "{error}");
}

#[test]
fn what_the_manifest_holds_stays() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("m.toml");
    fs::write(&manifest, "# mine, without an end of the line").unwrap();
    fs::write(folder.path().join("a.sql"), "SELECT a FROM t").unwrap();
    Corpus::add(&manifest, &folder.path().join("a.sql"), "").unwrap();
    let text = fs::read_to_string(&manifest).unwrap();
    assert!(
        text.starts_with("# mine, without an end of the line\n\n[[queries]]\nfile = \"a.sql\"\n"),
        "{text}"
    );
    let again = Corpus::add(&manifest, &folder.path().join("a.sql"), "").unwrap_err();
    assert!(again.to_string().contains("`a.sql` is there twice"), "{again}");
    assert_eq!(fs::read_to_string(&manifest).unwrap(), text);
}

#[test]
fn wrong_manifests_say_where() {
    let folder = tempfile::tempdir().unwrap();
    let digest = "0".repeat(64);
    let entry = |file: &str| format!("[[queries]]\nfile = {file}\nsha256 = \"{digest}\"\n");
    let unknown = read_refusal(folder.path(), &format!("{}limit = 3\n", entry("\"a.sql\"")));
    assert!(unknown.contains("unknown field `limit`"), "{unknown}");
    assert!(unknown.contains("line 4"), "{unknown}");
    assert!(
        read_refusal(folder.path(), "[[queries]]\nfile = \"a\"\n")
            .contains("missing field `sha256`")
    );
    assert!(read_refusal(folder.path(), "[[queries]\n").contains("line 1"));
    for outside in
        ["\"../a.sql\"", "\"/etc/passwd\"", "\"a/../../b\"", "\"\"", "\"./a.sql\"", "'a\\..\\b'"]
    {
        let error = read_refusal(folder.path(), &entry(outside));
        assert!(error.contains("is not below the folder of the manifest"), "{outside}: {error}");
    }
    assert!(
        read_refusal(folder.path(), "[[queries]]\nfile = \"a\"\nsha256 = \"AB\"\n")
            .contains("64 hexadecimal digits")
    );
    assert!(read_refusal(folder.path(), &entry("\"a\"").repeat(2)).contains("`a` is there twice"));
}

#[test]
fn hostile_manifests_cost_little() {
    let folder = tempfile::tempdir().unwrap();
    assert!(read_refusal(folder.path(), &"[".repeat(3_000_000)).contains("line 1"));
    let nested = format!("x = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(read_refusal(folder.path(), &nested).contains("the manifest"));
    let path = folder.path().join("large.toml");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(Corpus::read(&path).unwrap_err().to_string().contains("larger than"));
    assert!(Corpus::read(Path::new("/dev/zero")).is_err());
    assert!(Corpus::read(folder.path()).is_err());
}

/// A small folder can stand for many statements: each entry may be a link to the same file.
#[cfg(unix)]
#[test]
fn statements_that_are_too_large_together_are_not_read_into_memory() {
    let folder = tempfile::tempdir().unwrap();
    let sql = format!("SELECT '{}' FROM t", "x".repeat(65_000));
    fs::write(folder.path().join("0.sql"), &sql).unwrap();
    let digest = super::manifest::sha256_hex(sql.as_bytes());
    let entry =
        |number: usize| format!("[[queries]]\nfile = \"{number}.sql\"\nsha256 = \"{digest}\"\n");
    (1..1_100).for_each(|n| {
        std::os::unix::fs::symlink("0.sql", folder.path().join(format!("{n}.sql"))).unwrap()
    });
    let manifest = folder.path().join("m.toml");
    fs::write(&manifest, (0..1_000).map(entry).collect::<String>()).unwrap();
    assert_eq!(Corpus::read(&manifest).unwrap().lock().unwrap().len(), 1_000);
    fs::write(&manifest, (0..1_100).map(entry).collect::<String>()).unwrap();
    let error = Corpus::read(&manifest).unwrap().lock().unwrap_err();
    assert!(error.to_string().contains("more than 67108864 bytes together"), "{error}");
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folder_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("in");
    fs::create_dir(&inside).unwrap();
    fs::write(folder.path().join("secret.sql"), "SELECT 1 FROM t").unwrap();
    std::os::unix::fs::symlink("../secret.sql", inside.join("a.sql")).unwrap();
    let manifest = inside.join("m.toml");
    let refused = Corpus::add(&manifest, &inside.join("a.sql"), "").unwrap_err();
    assert!(refused.to_string().contains("is not below the folder"), "{refused}");
    assert!(!manifest.exists());
    let digest = super::manifest::sha256_hex(b"SELECT 1 FROM t");
    fs::write(&manifest, format!("[[queries]]\nfile = \"a.sql\"\nsha256 = \"{digest}\"\n"))
        .unwrap();
    assert_eq!(Corpus::read(&manifest).unwrap().verify(), [FileState::Mismatch]);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]a-z\"'=\\n#.\\\\ 0-9]{0,300}") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.toml");
        fs::write(&path, text).unwrap();
        let _ = Corpus::read(&path);
    }

    #[test]
    fn any_description_comes_back(description in "\\PC{0,200}") {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("m.toml");
        let file = folder.path().join("a.sql");
        fs::write(&file, "SELECT 1 FROM t").unwrap();
        let query = Corpus::add(&manifest, &file, &description).unwrap();
        let corpus = Corpus::read(&manifest).unwrap();
        prop_assert_eq!(corpus.queries(), [query]);
    }
}
