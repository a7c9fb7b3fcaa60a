//! The files that are read, and their formats.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use syrch_core::imports::ReadOptions;

use crate::column;
use crate::error::ImportError;

/// The extensions of files that can be read, without the dot; each but Parquet also with `.gz`
/// after it.
pub const ENDINGS: [&str; 5] = ["csv", "tsv", "jsonl", "ndjson", "parquet"];

/// The most files of one database.
const MOST_FILES: usize = 1_000;
/// The most names that a folder is searched for.
const MOST_NAMES: usize = 100_000;

/// The format in which a file holds its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Values with a character between them, which the first line tells.
    Csv,
    /// Values with tabs between them.
    Tsv,
    /// A JSON object in each line.
    JsonLines,
    /// A file of Apache Parquet, which has types.
    Parquet,
}

/// A file that is read.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// The name of the file, without its folder.
    pub(crate) name: String,
    /// Its name without the ending.
    pub(crate) stem: String,
    pub(crate) format: Format,
}

impl Source {
    fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let unpacked = strip_ending(&name, ".gz");
        let is_packed = unpacked.is_some();
        let known = [
            (".csv", Format::Csv),
            (".tsv", Format::Tsv),
            (".jsonl", Format::JsonLines),
            (".ndjson", Format::JsonLines),
            (".parquet", Format::Parquet),
        ];
        let (stem, format) = known.iter().find_map(|(ending, format)| {
            Some((strip_ending(unpacked.unwrap_or(&name), ending).map(str::to_owned)?, *format))
        })?;
        let is_odd = stem.is_empty() || (is_packed && format == Format::Parquet);
        (!is_odd).then(|| Self { path: path.to_owned(), name, stem, format })
    }

    /// Reads the size and times of the file.
    pub(crate) fn metadata(&self) -> Result<Metadata, ImportError> {
        fs::metadata(&self.path).map_err(|error| ImportError::io(&self.name, &error))
    }
}

/// Returns the part of a name before that ending, whatever its letter case.
fn strip_ending<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let (stem, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    end.eq_ignore_ascii_case(ending).then_some(stem)
}

/// Returns true if a path is read as files of rows: it ends like one, is a folder, or is a pattern
/// that names no file.
#[must_use]
pub fn is_tabular(path: &Path) -> bool {
    Source::from_path(path).is_some()
        || path.is_dir()
        || is_pattern(path) && fs::symlink_metadata(path).is_err()
}

/// Returns the name of the database of a path: that of the file or folder, and for a pattern that
/// of the folder that it looks in.
#[must_use]
pub fn name(path: &Path) -> String {
    let called = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    let folder = |path: &Path| called(&path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    let name = match Source::from_path(path).filter(|_| !path.is_dir() && !is_pattern(path)) {
        Some(source) => Some(source.stem),
        None if path.is_dir() => folder(path),
        None => path.ancestors().find(|part| !is_pattern(part)).and_then(folder),
    };
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "files".to_owned())
}

/// The files that are read for a path, sorted; empty if it names nothing. It blocks.
#[must_use]
pub fn sources(path: &Path) -> Vec<PathBuf> {
    find_sources(path)
        .map(|found| found.into_iter().map(|source| source.path).collect())
        .unwrap_or_default()
}

/// The files that are read for a path: itself, those of the folder, or those that match the
/// pattern.
pub(crate) fn find_sources(path: &Path) -> Result<Vec<Source>, ImportError> {
    fn no_tables(path: &Path, reason: &str) -> ImportError {
        ImportError::NoTables { path: path.to_owned(), reason: reason.to_owned() }
    }
    let mut named = path;
    let names: Vec<PathBuf> = match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            let own = Source::from_path(path).ok_or_else(|| {
                no_tables(path, &format!("its name does not end with {}", endings()))
            })?;
            return Ok(vec![own]);
        }
        Ok(metadata) if metadata.is_dir() => {
            let entries = fs::read_dir(path)
                .map_err(|error| no_tables(path, &format!("the folder cannot be read: {error}")))?;
            entries.take(MOST_NAMES).filter_map(|entry| Some(entry.ok()?.path())).collect()
        }
        Ok(_) => return Err(no_tables(path, "it is a special file, such as a pipe or a device")),
        Err(_) => {
            let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']));
            let pattern = pattern.ok_or_else(|| ImportError::Missing(path.to_owned()))?;
            let folders = path.ancestors();
            named = folders.into_iter().find(|part| !is_pattern(part)).unwrap_or(path);
            let matches = glob::glob(pattern)
                .map_err(|error| no_tables(path, &format!("it is no pattern: {}", error.msg)))?;
            matches.take(MOST_NAMES).filter_map(Result::ok).collect()
        }
    };
    let mut found: Vec<Source> = names
        .iter()
        .filter_map(|name| Source::from_path(name))
        .filter(|source: &Source| {
            fs::metadata(&source.path).is_ok_and(|metadata| metadata.is_file())
        })
        .collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found.iter().try_for_each(|source| refuse_link(named, source))?;
    match found.len() {
        0 => Err(no_tables(path, &format!("it has no file that ends with {}", endings()))),
        count if count > MOST_FILES => {
            Err(no_tables(path, &format!("it has {count} files, {MOST_FILES} at most are read")))
        }
        _ => Ok(found),
    }
}

/// Returns true if a path has characters of a pattern.
fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '['])
}

/// Refuses a file that a symbolic link below the folder leads to, which the user has not named:
/// whoever made the folder chose what the link makes of it.
fn refuse_link(folder: &Path, source: &Source) -> Result<(), ImportError> {
    // A pattern that begins with `./` has matches that do not.
    let folder = folder.strip_prefix(".").unwrap_or(folder).to_owned();
    let path = source.path.strip_prefix(".").unwrap_or(&source.path).to_owned();
    let below = path.ancestors().take_while(|part| *part != folder && *part != Path::new(""));
    match below.into_iter().find(|part| part.is_symlink()) {
        None => Ok(()),
        Some(link) => {
            let link = link.display();
            let reason = format!(
                "`{link}` is a symbolic link, which is read only if its file is named by itself"
            );
            Err(ImportError::content(&source.name, None, reason))
        }
    }
}

fn endings() -> String {
    let (last, others) =
        ENDINGS.split_last().map_or(("", &[][..]), |(last, others)| (*last, others));
    format!(".{} or .{last}, or with .gz after one of the others", others.join(", ."))
}

/// A digest of where the files are and of their state: equal as long as their content cannot have
/// changed.
pub(crate) fn identity(
    path: &Path,
    sources: &[Source],
    options: &ReadOptions,
) -> Result<String, ImportError> {
    let mut hasher = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    // What makes tables of files is a part of what they become.
    add(format!("{} {}", column::VERSION, env!("CARGO_PKG_VERSION")).as_bytes());
    add(format!("{options:?}").as_bytes());
    add(path.canonicalize().unwrap_or_else(|_| path.to_owned()).as_os_str().as_encoded_bytes());
    for source in sources {
        let metadata = source.metadata()?;
        add(source.path.as_os_str().as_encoded_bytes());
        for number in [metadata.dev(), metadata.ino(), metadata.size()] {
            add(&number.to_le_bytes());
        }
        for time in
            [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()]
        {
            add(&time.to_le_bytes());
        }
    }
    Ok(syrch_core::text::hex(&hasher.finalize()[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(folder: &Path, names: &[&str]) {
        for name in names {
            fs::write(folder.join(name), "a\n1\n").unwrap();
        }
    }

    #[test]
    fn endings_decide_and_letter_case_does_not() {
        for (name, stem, format) in [
            ("sales.csv", "sales", Format::Csv),
            ("Sales.2024.CSV.GZ", "Sales.2024", Format::Csv),
            ("a.tsv", "a", Format::Tsv),
            ("a.ndjson", "a", Format::JsonLines),
            ("İstanbul.jsonl", "İstanbul", Format::JsonLines),
            ("a.parquet", "a", Format::Parquet),
        ] {
            let source = Source::from_path(Path::new(name)).unwrap();
            assert_eq!((source.stem.as_str(), source.format), (stem, format), "{name}");
        }
        for name in ["a.parquet.gz", "csv", "a.sqlite", "a.gz", "a.csv.zip", ".csv", ""] {
            assert!(Source::from_path(Path::new(name)).is_none(), "{name}");
        }
    }

    #[test]
    fn a_folder_and_a_pattern_name_their_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        touch(folder.path(), &["b.csv", "a.csv", "c.txt", "a.sqlite"]);
        fs::create_dir(folder.path().join("d.csv")).unwrap();
        fn names(path: &Path) -> Vec<String> {
            find_sources(path).unwrap().into_iter().map(|each| each.name).collect()
        }
        assert_eq!(names(folder.path()), ["a.csv", "b.csv"]);
        assert_eq!(names(&folder.path().join("b*")), ["b.csv"]);
        assert_eq!(names(&folder.path().join("a.csv")), ["a.csv"]);
        assert!(
            is_tabular(folder.path())
                && is_tabular(Path::new("x/*.csv"))
                && !is_tabular(Path::new("x.sqlite"))
        );
        for (path, wrong) in [
            ("c.txt", "does not end with .csv"),
            ("none.csv", "there is no file"),
            ("x*.csv", "has no file that ends with"),
            ("[", "is no pattern"),
        ] {
            let error = find_sources(&folder.path().join(path)).unwrap_err().to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }

    /// A folder of somebody else's could show any file of the user's as a table.
    #[test]
    fn links_in_a_folder_or_a_pattern_are_refused() {
        use std::os::unix::fs::symlink;
        let scratch = tempfile::tempdir().unwrap();
        let place = |path: &str| scratch.path().join(path);
        for folder in ["data", "data/sub", "private", "linked"] {
            fs::create_dir(place(folder)).unwrap();
        }
        touch(scratch.path(), &["private/secret", "private/own.csv", "data/a.csv"]);
        touch(scratch.path(), &["data/sub/b.csv"]);
        symlink(place("private"), place("linked/sub")).unwrap();
        let names = |path: &str| {
            let found = find_sources(&place(path)).map_err(|error| error.to_string());
            found.map(|found| found.into_iter().map(|each| each.name).collect::<Vec<_>>())
        };
        // The user names the folder, which may be a link.
        symlink(place("data"), place("mine")).unwrap();
        assert_eq!(names("mine").unwrap(), ["a.csv"]);
        assert_eq!(names("mine/*.csv").unwrap(), ["a.csv"]);
        assert_eq!(names("data/*/b.csv").unwrap(), ["b.csv"]);
        symlink(place("private/secret"), place("data/x.csv")).unwrap();
        for path in ["data", "data/*", "data/x*", "mine", "linked/*/own.csv", "l*/sub/own.csv"] {
            let error = names(path).unwrap_err();
            assert!(error.contains("is a symbolic link"), "{path}: {error}");
        }
        assert_eq!(names("data/x.csv").unwrap(), ["x.csv"], "the user names the file itself");
        assert_eq!(names("data/a*").unwrap(), ["a.csv"]);
        assert!(sources(&place("data")).is_empty());
    }

    #[test]
    fn another_state_is_another_identity() {
        let folder = tempfile::tempdir().unwrap();
        touch(folder.path(), &["a.csv", "b.csv"]);
        let plain = ReadOptions::default();
        let of = |path: &Path| identity(path, &find_sources(path).unwrap(), &plain).unwrap();
        let one = of(folder.path());
        assert_eq!(one, of(folder.path()));
        for options in [
            ReadOptions { nulls: vec!["NA".to_owned()], ..plain.clone() },
            ReadOptions {
                encoding: syrch_core::imports::Encoding::for_name("latin1"),
                ..plain.clone()
            },
            ReadOptions { decimal: Some(syrch_core::imports::Decimal::Comma), ..plain.clone() },
            ReadOptions {
                date_order: Some(syrch_core::imports::DateOrder::DayMonthYear),
                ..plain.clone()
            },
        ] {
            assert_ne!(
                one,
                identity(folder.path(), &find_sources(folder.path()).unwrap(), &options).unwrap()
            );
        }
        fs::write(folder.path().join("b.csv"), "a\n2\n").unwrap();
        let changed = of(folder.path());
        assert_ne!(one, changed);
        fs::remove_file(folder.path().join("a.csv")).unwrap();
        assert_ne!(changed, of(folder.path()));
        assert_ne!(of(&folder.path().join("b.csv")), of(folder.path()));
    }
}
