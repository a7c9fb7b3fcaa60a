//! Runs the tools of a language.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::process::{Command, ExitStatus, Stdio};

use crate::Error;

/// Bytes at the end of a tool's output that an error shows.
const SHOWN: u64 = 16 << 10;

/// Runs tools and shows their output when it matters.
pub(super) struct Runner<'a> {
    pub(super) verbose: bool,
    pub(super) report: &'a dyn Fn(&str),
}

impl Runner<'_> {
    /// Reports what comes next.
    pub(super) fn step(&self, text: &str) {
        (self.report)(text);
    }

    /// Runs a tool to its end. `what` is the command in an error, `install` says how to get the tool.
    pub(super) fn run(&self, what: &str, command: &mut Command, install: &str) -> Result<(), Error> {
        self.output(what, command, install, false).map(drop)
    }

    /// The same; standard output is returned.
    pub(super) fn read(&self, what: &str, command: &mut Command, install: &str) -> Result<Vec<u8>, Error> {
        self.output(what, command, install, true)
    }

    fn output(&self, what: &str, command: &mut Command, install: &str, reads: bool) -> Result<Vec<u8>, Error> {
        let scratch =
            || tempfile::tempfile().map_err(|error| Error::file(std::path::Path::new("a temporary file"), error));
        let mut said = scratch()?;
        let mut read = scratch()?;
        let clone = |file: &File| file.try_clone().map(Stdio::from);
        let reported = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => {
                let tool = command_name(what);
                Error::Missing { tool, install: install.to_owned() }
            }
            _ => Error::Failed { command: what.to_owned(), status: error.to_string(), output: String::new() },
        };
        let to_user = |file: &File| match self.verbose {
            // Standard output is that of the host's own command.
            true => Ok(Stdio::from(std::io::stderr())),
            false => clone(file),
        };
        let status = to_user(&said)
            .and_then(|stderr| Ok((stderr, if reads { clone(&read)? } else { to_user(&said)? })))
            .and_then(|(stderr, stdout)| command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).status())
            .map_err(reported)?;
        if !status.success() {
            let output = end(&mut said).unwrap_or_default();
            return Err(Error::Failed { command: what.to_owned(), status: ended(status), output });
        }
        let mut content = Vec::new();
        let all = read.seek(SeekFrom::Start(0)).and_then(|_| read.read_to_end(&mut content));
        all.map(|_| content).map_err(|error| Error::file(std::path::Path::new("a temporary file"), error))
    }
}

/// What a quick question to a tool gave; `None` if there is no such tool, or it failed.
pub(super) fn ask(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn command_name(what: &str) -> String {
    what.split(' ').next().unwrap_or(what).to_owned()
}

fn ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

/// The end of what a file holds, from the start of a line.
fn end(file: &mut File) -> std::io::Result<String> {
    let length = file.seek(SeekFrom::End(0))?;
    let skipped = length.saturating_sub(SHOWN);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(match (skipped, text.split_once('\n')) {
        (1.., Some((_, rest))) => format!("…\n{rest}"),
        _ => text.into_owned(),
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn runner() -> Runner<'static> {
        Runner { verbose: false, report: &|_| {} }
    }

    #[test]
    fn an_error_shows_the_end_of_the_output_in_its_order() {
        let mut command = Command::new("sh");
        command.args(["-c", "seq 100000; echo to the error output >&2; echo last; exit 3"]);
        let failed = runner().run("sh", &mut command, "").unwrap_err();
        let text = failed.to_string();
        assert!(text.starts_with("sh failed (exit code 3):\n…\n"), "{text}");
        assert!(text.ends_with("\n100000\nto the error output\nlast"), "{text}");
        assert!(text.len() < 17 << 10);
    }

    #[test]
    fn a_missing_tool_is_reported_with_how_to_get_it() {
        let missing = runner().run("no-such-tool build", &mut Command::new("no-such-tool"), "get it").unwrap_err();
        assert_eq!(
            (missing.to_string().as_str(), missing.hint().as_deref()),
            ("no-such-tool is missing", Some("get it"))
        );
        assert_eq!(ask(&mut Command::new("no-such-tool")), None);
    }

    #[test]
    fn standard_output_is_read_alone() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo noise >&2; echo value"]);
        assert_eq!(runner().read("sh", &mut command, "").unwrap(), b"value\n");
    }
}
