//! The output of a command: standard output, or the file of `-o`, which is replaced only once the
//! output is complete.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::terminal;

/// The destination of the output of a command. Callers scrub secrets before they write.
#[derive(Debug, Clone)]
pub(crate) enum Output {
    /// Standard output, which may be a terminal.
    Stdout,
    /// A file that is written beside its place and moved there.
    File(PathBuf),
    /// A pipe or a device, which cannot be replaced.
    Device(PathBuf),
}

impl Output {
    /// The output of `-o`, which is standard output without that flag.
    pub(crate) fn open(path: Option<&Path>) -> Outcome<Self> {
        path.map_or(Ok(Self::Stdout), |path| Self::open_flag("-o", path))
    }

    /// The output at the path that a flag names; `-` is standard output. Call it before any work,
    /// since it finds what is wrong with the path.
    pub(crate) fn open_flag(flag: &str, path: &Path) -> Outcome<Self> {
        // The device of standard output may be a plain file that the shell opened, which must not
        // be replaced.
        if ["-", "/dev/stdout", "/dev/fd/1"].iter().any(|name| path == Path::new(name)) {
            return Ok(Self::Stdout);
        }
        let wrong = |why: &str| Failure::usage(format!("{flag} `{}`: {why}", path.display()));
        match fs::metadata(path) {
            Ok(data) if data.is_dir() => {
                Err(wrong("is a folder").hint(format!("{flag} takes the path of a file")))
            }
            // A link such as /dev/fd/3 leads to a file that the shell opened; /dev/shm has files
            // like any other folder.
            Ok(data) if data.is_file() && !(path.starts_with("/dev") && path.is_symlink()) => {
                Ok(Self::File(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())))
            }
            Ok(_) => Ok(Self::Device(path.to_owned())),
            Err(_) => {
                let parent = path
                    .parent()
                    .filter(|parent| !parent.as_os_str().is_empty())
                    .unwrap_or(Path::new("."));
                if path.file_name().is_none() || !parent.is_dir() {
                    return Err(wrong(&format!("there is no folder `{}`", parent.display())));
                }
                Ok(Self::File(path.to_owned()))
            }
        }
    }

    /// Refuses to replace a file that the same command reads. `inputs` are these files, each with a
    /// description such as `the suite`.
    pub(crate) fn refuse_to_replace(&self, inputs: &[(&str, PathBuf)]) -> Outcome<()> {
        self.refuse_input("-o", inputs)
    }

    /// The same for the output of another flag, which the error names.
    pub(crate) fn refuse_input(&self, flag: &str, inputs: &[(&str, PathBuf)]) -> Outcome<()> {
        let (Self::File(path) | Self::Device(path)) = self else { return Ok(()) };
        match inputs.iter().find(|(_, input)| is_same(path, input)) {
            None => Ok(()),
            Some((what, _)) => {
                Err(Failure::usage(format!("{flag} `{}`: is {what}", path.display()))
                    .hint(format!("{flag} replaces what the file holds; give another path")))
            }
        }
    }

    /// Returns true if a terminal shows it.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self, Self::Stdout) && io::stdout().is_terminal()
    }

    /// The terminal's width, when a terminal shows it.
    pub(crate) fn width(&self) -> Option<u16> {
        if !self.is_terminal() {
            return None;
        }
        terminal_size::terminal_size().map(|(width, _)| width.0)
    }

    /// Writes everything at once.
    pub(crate) fn write(&self, text: &str) -> Outcome<()> {
        let mut stream = self.stream()?;
        stream.write(text)?;
        stream.finish()
    }

    /// Writes a file that is no text.
    pub(crate) fn write_bytes(&self, bytes: &[u8]) -> Outcome<()> {
        let mut stream = self.stream()?;
        stream.write_bytes(bytes)?;
        stream.finish()
    }

    /// Writes text that was escaped part by part, with colours where a terminal shows it and the
    /// user wants them.
    pub(crate) fn write_coloured(&self, text: &str) -> Outcome<()> {
        let is_coloured = matches!(self, Self::Stdout)
            && anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        if !is_coloured {
            return self.write(&anstream::adapter::strip_str(text).to_string());
        }
        let mut stream = self.stream()?;
        stream.terminal = false;
        stream.write(text)?;
        stream.finish()
    }

    /// Opens it for writing piece by piece.
    pub(crate) fn stream(&self) -> Outcome<Stream> {
        let fail = |path: &Path, error: &io::Error| {
            Failure::new(Exit::Unexpected, format!("`{}`: {error}", path.display()))
        };
        let (writer, replaces): (Box<dyn Write + Send>, _) = match self {
            Self::Stdout => (Box::new(io::stdout()), None),
            Self::Device(path) => (
                Box::new(
                    File::options().write(true).open(path).map_err(|error| fail(path, &error))?,
                ),
                None,
            ),
            Self::File(path) => {
                let temporary = temporary_path(path);
                let file = File::options().write(true).create_new(true).open(&temporary);
                (
                    Box::new(file.map_err(|error| fail(path, &error))?),
                    Some((temporary, path.clone())),
                )
            }
        };
        Ok(Stream { writer, replaces, terminal: self.is_terminal(), closed: false })
    }
}

/// Returns true if two paths lead to one file, by whatever links. Files that do not exist are
/// compared by their path.
fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let folder =
            path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::canonicalize(path)
            .or_else(|_| Ok(fs::canonicalize(folder)?.join(path.file_name().unwrap_or_default())))
    };
    let places: (io::Result<PathBuf>, io::Result<PathBuf>) = (place(one), place(other));
    matches!(places, (Ok(one), Ok(other)) if one == other) || is_same_inode(one, other)
}

#[cfg(unix)]
fn is_same_inode(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| {
        fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|data| (data.dev(), data.ino()))
    };
    identity(one).is_some_and(|found| identity(other) == Some(found))
}

#[cfg(not(unix))]
fn is_same_inode(_: &Path, _: &Path) -> bool {
    false
}

fn temporary_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// An output that is being written. Dropped unfinished, it leaves the file as it was.
pub(crate) struct Stream {
    writer: Box<dyn Write + Send>,
    replaces: Option<(PathBuf, PathBuf)>,
    terminal: bool,
    closed: bool,
}

impl Stream {
    /// Writes behind what an open file has already.
    pub(crate) fn append(file: File) -> Self {
        Self { writer: Box::new(file), replaces: None, terminal: false, closed: false }
    }

    /// Writes and flushes. A closed pipe (as `head` leaves) is no error; nothing more is written
    /// then.
    pub(crate) fn write(&mut self, text: &str) -> Outcome<()> {
        // The sinks have their own escapes; this is what only a terminal must not see.
        let shown = if self.terminal { terminal::block(text) } else { text.into() };
        self.write_bytes(shown.as_bytes())
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> Outcome<()> {
        if self.closed {
            return Ok(());
        }
        match self.writer.write_all(bytes).and_then(|()| self.writer.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => Err(Failure::new(
                Exit::Unexpected,
                format!("the output cannot be written: {error}"),
            )),
        }
    }

    /// Returns true if the reader closed the pipe.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Moves the finished file to its path.
    pub(crate) fn finish(mut self) -> Outcome<()> {
        let Some((temporary, path)) = self.replaces.take() else { return Ok(()) };
        fs::rename(&temporary, &path).map_err(|error| {
            drop(fs::remove_file(&temporary));
            Failure::new(Exit::Unexpected, format!("`{}`: {error}", path.display()))
        })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.replaces {
            drop(fs::remove_file(temporary));
        }
    }
}

#[cfg(test)]
mod tests {
    use syrch::syrch_core::DatabaseUrl;

    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        fs::write(&path, "old").unwrap();
        let output = Output::open(Some(&path)).unwrap();
        let mut stream = output.stream().unwrap();
        stream.write("ne").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        drop(stream);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        output.write("new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_read_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("x.sqlite"), "data").unwrap();
        fs::create_dir(path("sub")).unwrap();
        let mut names = vec!["x.sqlite", "sub/../x.sqlite", "x.sqlite-wal", "x.sqlite-journal"];
        #[cfg(unix)]
        {
            fs::hard_link(path("x.sqlite"), path("hard")).unwrap();
            std::os::unix::fs::symlink("x.sqlite", path("soft")).unwrap();
            names.extend(["hard", "soft"]);
        }
        for url in ["x.sqlite", "sub/../x.sqlite"] {
            let url = DatabaseUrl::parse(&format!("sqlite://{}", path(url).display()));
            let inputs: Vec<_> = syrch::databases::database_files(&url)
                .into_iter()
                .map(|file| ("the database", file))
                .collect();
            for name in &names {
                let failure = Output::open(Some(&path(name)))
                    .unwrap()
                    .refuse_to_replace(&inputs)
                    .unwrap_err();
                assert_eq!(failure.exit, Exit::Usage);
                assert!(failure.message.ends_with("is the database"), "{}", failure.message);
            }
            assert_eq!(
                Output::open(Some(&path("y.csv"))).unwrap().refuse_to_replace(&inputs),
                Ok(())
            );
            assert_eq!(Output::Stdout.refuse_to_replace(&inputs), Ok(()));
        }
    }

    #[test]
    fn wrong_places_are_refused_before_any_work() {
        let folder = tempfile::tempdir().unwrap();
        let failure = |path: &Path| Output::open(Some(path)).unwrap_err();
        assert!(failure(folder.path()).message.contains("is a folder"));
        assert_eq!(failure(&folder.path().join("none/out")).exit, Exit::Usage);
        for name in ["-", "/dev/stdout"] {
            assert!(matches!(Output::open(Some(Path::new(name))), Ok(Output::Stdout)), "{name}");
        }
    }
}
