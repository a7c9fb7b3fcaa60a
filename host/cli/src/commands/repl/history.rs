//! The history of the prompt: a line for each question, in a file that only the user can read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use syrch::files::{make_folder, make_private, private, replace};

use crate::scrub::Scrubber;

/// Lines of the history at most.
pub(super) const LONGEST: usize = 1000;
/// Bytes that are read of the file's end.
const LARGEST: u64 = 1 << 20;

/// The file in the user's state folder.
pub(crate) fn file(state: &Path) -> PathBuf {
    state.join("history")
}

/// The history of this user. Several prompts may write to it at once: each line is one write at the
/// file's end.
pub(super) struct History {
    file: File,
    scrubber: Scrubber,
}

impl History {
    /// Opens or makes the file, and reads the lines that are there, the oldest first.
    ///
    /// # Errors
    /// When the folder or the file cannot be made or read.
    pub(super) fn open(state: &Path, scrubber: Scrubber) -> io::Result<(Self, Vec<String>)> {
        make_folder(state)?;
        let path = file(state);
        let mut file = private(File::options().read(true).append(true).create(true)).open(&path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a plain file"));
        }
        make_private(&file)?;
        let lines = read(&mut file)?;
        if lines.len() > 2 * LONGEST {
            file = shorten(&path, &lines[lines.len() - LONGEST..])?;
        }
        let first = lines.len().saturating_sub(LONGEST);
        Ok((Self { file, scrubber }, lines[first..].to_vec()))
    }

    /// Returns true if a line may be added. A line that holds a secret or begins with a space may
    /// not.
    pub(super) fn takes(&self, line: &str) -> bool {
        !line.trim().is_empty() && !line.starts_with(' ') && !self.scrubber.finds(line)
    }

    /// Adds a line that [`History::takes`].
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn add(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(format!("{}\n", line.replace(['\n', '\r'], " ")).as_bytes())
    }
}

/// The lines at the file's end.
fn read(file: &mut File) -> io::Result<Vec<String>> {
    let skipped = file.metadata()?.len().saturating_sub(LARGEST);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The first line is not whole when bytes before it were left out.
    Ok(text
        .lines()
        .skip(usize::from(skipped > 0))
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect())
}

/// Puts a shorter file in the place of a long one, and opens it.
fn shorten(path: &Path, lines: &[String]) -> io::Result<File> {
    replace(path, (lines.join("\n") + "\n").as_bytes())?;
    File::options().append(true).open(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn open(state: &Path) -> (History, Vec<String>) {
        History::open(state, Scrubber::new(["key-canary".to_owned().into()])).unwrap()
    }

    #[test]
    fn lines_are_saved_for_later_prompts() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("a/b");
        let (mut history, lines) = open(&state);
        assert!(lines.is_empty());
        history.add("How many?").unwrap();
        history.add("two\nlines").unwrap();
        let (mut other, lines) = open(&state);
        assert_eq!(lines, ["How many?", "two lines"]);
        other.add("third").unwrap();
        history.add("fourth").unwrap();
        assert_eq!(
            fs::read_to_string(file(&state)).unwrap(),
            "How many?\ntwo lines\nthird\nfourth\n"
        );
        let refused = ["my key-canary", " secretly", "  "].map(|line| history.takes(line));
        assert_eq!((refused, history.takes("How many?")), ([false; 3], true));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        drop(open(&state));
        assert_eq!((mode(&state), mode(&file(&state))), (0o700, 0o600));
        fs::set_permissions(file(&state), fs::Permissions::from_mode(0o644)).unwrap();
        drop(open(&state));
        assert_eq!(mode(&file(&state)), 0o600);
    }

    #[test]
    fn a_long_file_is_shortened() {
        let folder = tempfile::tempdir().unwrap();
        let long: String = (0..=2 * LONGEST).map(|n| format!("{n}\n")).collect();
        fs::write(file(folder.path()), long).unwrap();
        let (mut history, lines) = open(folder.path());
        assert_eq!((lines.len(), lines[0].as_str()), (LONGEST, "1001"));
        history.add("last").unwrap();
        let text = fs::read_to_string(file(folder.path())).unwrap();
        assert!(text.starts_with("1001\n") && text.ends_with("2000\nlast\n"), "{}", text.len());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
