//! Reading a tar archive that somebody else made: plain files alone, in memory, within bounds.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path};

use flate2::read::GzDecoder;

/// Bytes of a block.
const BLOCK: usize = 512;
/// Bytes of all files together at most, unpacked.
const LARGEST: u64 = 128 << 20;
/// Entries at most, beside those of folders that tools fill.
const MOST: usize = 4_096;
/// Bytes of a path at most, as on Linux.
const LONGEST: usize = 4_096;
/// Folders that tools fill, in which no plugin lies: what they hold is passed over. Packages are
/// full of links.
const FILLED: [&str; 6] = ["target", "node_modules", ".tools", ".git", "__pycache__", "venv"];
/// The first bytes of a file that gzip made.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The plain files of an archive by their paths.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Reads an archive, which may be compressed by gzip.
///
/// # Errors
/// The reason why it is refused: it is damaged or too large, has a link or a device outside of the
/// folders that tools fill, or a path that leads out of the folder that it would be unpacked in.
pub(crate) fn read(bytes: &[u8]) -> Result<Files, String> {
    if !bytes.starts_with(&GZIP) {
        return unpack(bytes);
    }
    let mut unpacked = Vec::new();
    let read = GzDecoder::new(bytes).take(LARGEST + 1).read_to_end(&mut unpacked);
    read.map_err(|error| format!("is no whole archive: {error}"))?;
    if unpacked.len() as u64 > LARGEST {
        return Err(format!(
            "has more than {LARGEST} bytes, unpacked: leave out what tools make, such as `target` \
             and `node_modules`"
        ));
    }
    unpack(&unpacked)
}

fn unpack(mut bytes: &[u8]) -> Result<Files, String> {
    let mut files = Files::new();
    let mut entries = 0;
    // The path of the next entry where it is too long for a header.
    let mut long = None;
    loop {
        let Some((header, rest)) = bytes.split_at_checked(BLOCK) else {
            return Err("is no whole archive".to_owned());
        };
        if header.iter().all(|byte| *byte == 0) {
            return Ok(files);
        }
        check_sum(header)?;
        let size = usize::try_from(number(&header[124..136])?).unwrap_or(usize::MAX);
        let padded = size.checked_next_multiple_of(BLOCK).unwrap_or(usize::MAX);
        let Some((content, next)) = rest.split_at_checked(padded) else {
            return Err("is no whole archive".to_owned());
        };
        let content = &content[..size];
        bytes = next;
        match header[156] {
            b'L' => {
                long = Some(text(content)?);
                continue;
            }
            b'x' => {
                long = read_notes(content)?.or(long);
                continue;
            }
            // A long target of a link, and notes about all entries.
            b'K' => continue,
            b'g' => match read_notes(content)? {
                None => continue,
                Some(_) => return Err("gives all of its entries one path".to_owned()),
            },
            _ => {}
        }
        let path = match long.take() {
            Some(path) => check_path(&path)?,
            None => check_path(&header_path(header)?)?,
        };
        if path.split('/').any(|part| FILLED.contains(&part)) {
            continue;
        }
        entries += 1;
        if entries > MOST {
            return Err(format!("has more than {MOST} entries"));
        }
        match header[156] {
            b'0' | 0 => {
                if files.insert(path.clone(), content.to_vec()).is_some() {
                    return Err(format!("has `{path}` twice"));
                }
            }
            b'5' => {}
            b'1' | b'2' => return Err(format!("has the link `{path}`")),
            _ => return Err(format!("has `{path}`, which is no plain file")),
        }
    }
}

/// Compares the sum of a header's bytes with the one that it states.
fn check_sum(header: &[u8]) -> Result<(), String> {
    let blanks = 8 * u64::from(b' ');
    let others = header[..148].iter().chain(&header[156..]).map(|byte| u64::from(*byte));
    match number(&header[148..156])? == others.sum::<u64>() + blanks {
        true => Ok(()),
        false => Err("is no tar archive".to_owned()),
    }
}

/// An octal number.
fn number(field: &[u8]) -> Result<u64, String> {
    let text = std::str::from_utf8(field).unwrap_or_default();
    let text = text.trim_matches(|c: char| c == ' ' || c == '\0');
    u64::from_str_radix(text, 8).map_err(|_| "is no tar archive".to_owned())
}

/// The text up to the first zero.
fn text(field: &[u8]) -> Result<String, String> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8(field[..end].to_vec()).map_err(|_| "has a name that is no UTF-8".to_owned())
}

/// The path of an entry as its header has it.
fn header_path(header: &[u8]) -> Result<String, String> {
    let name = text(&header[..100])?;
    let is_posix = header[257..].starts_with(b"ustar\0");
    let folder = if is_posix { text(&header[345..500])? } else { String::new() };
    Ok(if folder.is_empty() { name } else { format!("{folder}/{name}") })
}

/// Returns a path without its dots. It has to stay below the folder of the archive.
fn check_path(path: &str) -> Result<String, String> {
    if path.len() > LONGEST {
        return Err(format!("has a path of more than {LONGEST} bytes"));
    }
    let mut parts = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::CurDir => {}
            _ => return Err(format!("has `{path}`, which leads out of its folder")),
        }
    }
    if path.contains('\\') {
        return Err(format!("has `{path}`, which is no plain path"));
    }
    Ok(parts.join("/"))
}

/// Reads the notes of git and of other programs about an entry (the extended header of pax in
/// POSIX.1-2001) and returns its path, if they give one. Nothing else may change what an entry is.
fn read_notes(mut content: &[u8]) -> Result<Option<String>, String> {
    let mut path = None;
    while !content.is_empty() {
        let wrong = || "has notes that cannot be read".to_owned();
        let end = content.iter().position(|byte| *byte == b' ').ok_or_else(wrong)?;
        let length = std::str::from_utf8(&content[..end]).ok().and_then(|text| text.parse().ok());
        let (record, rest) =
            length.and_then(|length| content.split_at_checked(length)).ok_or_else(wrong)?;
        let record = record.strip_suffix(b"\n").and_then(|record| record.get(end + 1..));
        let record = record.ok_or_else(wrong)?;
        let middle = record.iter().position(|byte| *byte == b'=').ok_or_else(wrong)?;
        let (name, value) = record.split_at(middle);
        let name = String::from_utf8_lossy(name);
        // A sparse file of GNU tar has its true name, size and holes in notes alone.
        if name == "size" || name.starts_with("GNU.sparse.") {
            return Err(format!("has an entry whose {name} is not that of its header"));
        }
        if name == "path" {
            path = Some(text(&value[1..])?);
        }
        content = rest;
    }
    Ok(path)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write;

    use super::*;

    /// An archive of entries: each with its path, its kind and its content.
    pub(crate) fn pack(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
        let mut archive = Vec::new();
        for (path, kind, content) in entries {
            let mut header = [0; BLOCK];
            header[..path.len()].copy_from_slice(path.as_bytes());
            let size = format!("{:011o}\0", content.len());
            header[124..136].copy_from_slice(size.as_bytes());
            header[148..156].copy_from_slice(b"        ");
            header[156] = *kind;
            let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
            header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
            archive.extend(header);
            archive.extend(*content);
            archive.resize(archive.len().next_multiple_of(BLOCK), 0);
        }
        archive.extend([0; 2 * BLOCK]);
        archive
    }

    #[test]
    fn plain_files_are_read() {
        let archive = pack(&[
            ("pax_global_header", b'g', b"22 comment=0123456789\n"),
            ("short/", b'5', b""),
            ("./short/a.wasm", b'0', &[7; 600]),
            ("short/b", 0, b""),
        ]);
        let files = read(&archive).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["short/a.wasm", "short/b"]);
        assert_eq!(files["short/a.wasm"], [7; 600]);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&archive).unwrap();
        let packed = gzip.finish().unwrap();
        assert_eq!(read(&packed).unwrap(), files);
        assert!(read(&packed[..packed.len() / 2]).is_err());
    }

    /// As GNU tar and Python's `tarfile` write paths of more than 100 bytes.
    #[test]
    fn long_paths_are_read() {
        let long = format!("{}x.wasm", "folder/".repeat(20));
        let path = format!("path={long}\n");
        let notes = format!("{} {path}", path.len() + 4);
        let archive = pack(&[
            ("@LongLink", b'L', format!("{long}\0").as_bytes()),
            (&long[..90], b'0', b"1"),
            ("y", b'x', notes.replace("x.wasm", "y.wasm").as_bytes()),
            ("y", b'0', b"2"),
            ("z", b'0', b"3"),
        ]);
        let files = read(&archive).unwrap();
        let paths = [&*long, &long.replace("x.wasm", "y.wasm"), "z"];
        assert_eq!(files.keys().collect::<Vec<_>>(), paths);
    }

    #[test]
    fn what_tools_have_made_is_passed_over() {
        let mut entries: Vec<(&str, u8, &[u8])> = vec![
            ("p/plugin.yml", b'0', b"name: p"),
            ("p/.tools/bin/python", b'2', b""),
            ("@LongLink", b'K', b"/usr/lib/far\0"),
            ("p/node_modules/.bin/esbuild", b'2', b""),
            ("p/target/debug/p.d", b'1', b""),
            ("p/target/fifo", b'6', b""),
        ];
        entries.extend(vec![("p/target/x", b'0', &b""[..]); MOST]);
        let files = read(&pack(&entries)).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["p/plugin.yml"]);
    }

    #[test]
    fn whatever_leads_elsewhere_is_refused() {
        for (path, kind, content, why) in [
            ("../x.wasm", b'0', &b""[..], "leads out"),
            ("a/../../x", b'0', b"", "leads out"),
            ("/etc/cron.d/x", b'0', b"", "leads out"),
            ("a\\..\\x", b'0', b"", "no plain path"),
            ("x.wasm", b'2', b"", "has the link"),
            ("x.wasm", b'1', b"", "has the link"),
            ("x", b'3', b"", "no plain file"),
            ("x", b'6', b"", "no plain file"),
            ("x", b'L', b"../../x\0", "leads out"),
            ("x", b'L', b"\xff", "no UTF-8"),
            ("x", b'x', b"16 path=../../x\n", "leads out"),
            ("x", b'x', b"13 path=/etc\n", "leads out"),
            ("x", b'x', b"99 path=x\n", "cannot be read"),
            ("x", b'x', b"path=x\n", "cannot be read"),
            ("x", b'x', b"0 path=x\n", "cannot be read"),
            ("x", b'g', b"10 path=y\n", "one path"),
            ("x", b'x', b"9 size=1\n", "whose size"),
            ("x", b'x', b"22 GNU.sparse.major=1\n", "whose GNU.sparse.major"),
            ("x", b'x', b"27 GNU.sparse.name=../../x\n", "whose GNU.sparse.name"),
            ("node_modules/../../x", b'2', b"", "leads out"),
        ] {
            let archive = pack(&[(path, kind, content), ("x", b'0', b"")]);
            let error = read(&archive).unwrap_err();
            assert!(error.contains(why), "{path}: {error}");
        }
        let twice = pack(&[("x", b'0', b"1"), ("./x", b'0', b"2")]);
        assert!(read(&twice).unwrap_err().contains("twice"));
        let many: Vec<(&str, u8, &[u8])> = vec![("d", b'5', &b""[..]); MOST + 1];
        assert!(read(&pack(&many)).unwrap_err().contains("entries"));
    }

    #[test]
    fn what_is_damaged_or_endless_is_refused() {
        let whole = pack(&[("x", b'0', b"content")]);
        for end in [0, 100, BLOCK, BLOCK + 100] {
            assert!(read(&whole[..end]).is_err(), "{end}");
        }
        let mut changed = whole.clone();
        changed[0] = b'y';
        assert!(read(&changed).unwrap_err().contains("no tar archive"));
        let mut large = whole;
        large[124..136].copy_from_slice(b"77777777777\0");
        assert!(read(&large).is_err());
        // 200 MB of zeros, packed.
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let zeros = vec![0; 1 << 20];
        (0..200).for_each(|_| gzip.write_all(&zeros).unwrap());
        assert!(read(&gzip.finish().unwrap()).unwrap_err().contains("unpacked"));
    }
}
