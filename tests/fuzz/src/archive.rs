//! Archives of plugins, their `plugin.yml` and their signatures, as `plugin add` takes them.

use std::fs;
use std::io::{Read, Write};
use std::path::{Component, Path};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use syrch_projects::{FILE, Package, Project, Signature};

/// Bytes of a block of an archive.
const BLOCK: usize = 512;
/// Bytes of what is read of an archive at most.
const LARGEST: usize = 128 << 20;
/// Folders that tools fill.
const FILLED: [&str; 6] = ["target", "node_modules", ".tools", ".git", "__pycache__", "venv"];
/// The first bytes of a list of entries, of which an archive is made: a checksum is seldom right
/// by chance.
const LIST: &[u8] = b"entries\n";

pub(crate) fn check(input: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    if let Some(list) = input.strip_prefix(LIST) {
        let archive = pack(list);
        check_archive(folder.path(), "a.tar", &archive);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&archive).expect("a buffer takes bytes");
        let packed = packed.finish().expect("a buffer takes bytes");
        check_archive(folder.path(), "a.tgz", &packed);
        return;
    }
    check_archive(folder.path(), "a.tar.gz", input);
    if let Ok(signature) = Signature::parse(input) {
        let again = Signature::parse(signature.to_text().as_bytes());
        assert!(again.is_ok_and(|again| again == signature));
    }
    check_definition(folder.path(), input);
}

/// Checks that an archive is refused, or has plain files below its folder alone, and that nothing
/// is written.
fn check_archive(folder: &Path, name: &str, archive: &[u8]) {
    let path = folder.join(name);
    fs::write(&path, archive).expect("the archive is written");
    match Package::read(&path) {
        Ok(package) => {
            assert!(package.component.len() <= LARGEST, "{} bytes", package.component.len());
            assert!(!package.name.contains(['/', '\\', '\0']), "{:?}", package.name);
            check_entries(archive);
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.len() <= 8_000, "{} bytes: {text}", text.len());
        }
    }
    fs::remove_file(&path).expect("the archive is removed");
    let left = fs::read_dir(folder).expect("the folder is read").count();
    assert_eq!(left, 0, "reading an archive wrote files");
}

/// Walks over the headers of an archive that was read: no entry is a link or a device outside of
/// the folders that tools fill, and none has a path that leads out.
fn check_entries(archive: &[u8]) {
    let mut unpacked = Vec::new();
    let mut rest = match GzDecoder::new(archive).read_to_end(&mut unpacked) {
        Ok(_) => unpacked.as_slice(),
        Err(_) => archive,
    };
    let mut long = None;
    while let Some((header, content)) = rest.split_at_checked(BLOCK) {
        if header[0] == 0 && header[257] == 0 {
            return;
        }
        let size = String::from_utf8_lossy(&header[124..136]).into_owned();
        let size = size.trim_matches(|c: char| c == ' ' || c == '\0');
        let size = usize::from_str_radix(size, 8).expect("a size");
        match header[156] {
            b'L' => long = Some(text(&content[..size.min(content.len())])),
            // The path in these notes is tested beside the reader.
            b'x' => long = Some(String::new()),
            b'g' | b'K' => {}
            kind => {
                let path = long.take().unwrap_or_else(|| text(&header[..100]));
                let mut parts = Path::new(&path).components();
                let is_below =
                    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
                assert!(is_below, "{path}");
                let is_filled =
                    path.is_empty() || path.split('/').any(|part| FILLED.contains(&part));
                assert!(is_filled || b"05\0".contains(&kind), "the kind {kind} of {path}");
            }
        }
        rest = content.get(size.next_multiple_of(BLOCK)..).unwrap_or_default();
    }
}

/// The text up to the first zero.
fn text(field: &[u8]) -> String {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

/// Checks that no path of a definition leaves the folder of the project.
fn check_definition(folder: &Path, text: &[u8]) {
    fs::write(folder.join(FILE), text).expect("the definition is written");
    match Project::read(folder) {
        Ok(project) => {
            let component = project.component();
            let inside = component.strip_prefix(folder).expect("a component in the folder");
            let mut parts = inside.components();
            assert!(parts.all(|part| matches!(part, Component::Normal(_))), "{inside:?}");
            let entry = project.entry.unwrap_or_default();
            let mut parts = entry.components();
            let is_below =
                parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            assert!(is_below, "{entry:?}");
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.len() <= 64_000, "{} bytes: {text}", text.len());
        }
    }
}

/// An archive of a list: a line for each entry, with its kind, its path, a tab and its content, in
/// which `|` ends a line.
fn pack(list: &[u8]) -> Vec<u8> {
    let mut archive = Vec::new();
    for line in list.split(|byte| *byte == b'\n').take(64) {
        let Some((kind, rest)) = line.split_first() else { continue };
        let tab = rest.iter().position(|byte| *byte == b'\t').unwrap_or(rest.len());
        let path = &rest[..tab.min(100)];
        let content: Vec<u8> = rest.iter().skip(tab + 1).copied().map(end_line).collect();
        let mut header = [0; BLOCK];
        header[..path.len()].copy_from_slice(path);
        header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        header[148..156].copy_from_slice(b"        ");
        header[156] = *kind;
        header[257..263].copy_from_slice(b"ustar\0");
        let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend(header);
        archive.extend(content);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.extend([0; 2 * BLOCK]);
    archive
}

fn end_line(byte: u8) -> u8 {
    if byte == b'|' { b'\n' } else { byte }
}
