//! Runs the tools of a language.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::adoption::Adoption;
use super::bounds::Bounds;
use super::environment::Variable;
use crate::Error;

/// Bytes at the end of a tool's output that an error shows.
const SHOWN: u64 = 16 << 10;
/// Bytes of a tool's output that are read, at most.
const LONGEST: u64 = 256 << 20;
/// The time between two looks at a tool that runs.
pub(super) const PAUSE: Duration = Duration::from_millis(10);
/// The time that a tool has to end after it was asked to.
const GRACE_PERIOD: Duration = Duration::from_secs(2);
/// The time after which a tool that says nothing is mentioned.
const LONG: Duration = Duration::from_secs(60);

/// Runs tools and shows their output when it matters.
pub(super) struct Runner<'a> {
    /// The environment of each tool, but for what its command sets.
    pub(super) environment: &'a [Variable],
    /// The bounds of each tool; `None` if it may do what its user may.
    pub(super) bounds: Option<&'a Bounds>,
    pub(super) verbose: bool,
    pub(super) report: &'a dyn Fn(&str),
    pub(super) stop: &'a AtomicBool,
}

impl Runner<'_> {
    /// Reports what comes next.
    pub(super) fn step(&self, text: &str) {
        (self.report)(text);
    }

    /// Runs a tool to its end. `what` is the command in an error, `install` says how to get the
    /// tool.
    pub(super) fn run(
        &self,
        what: &str,
        command: &mut Command,
        install: &str,
    ) -> Result<(), Error> {
        self.output(what, command, install, false).map(drop)
    }

    /// The same; standard output is returned.
    pub(super) fn read(
        &self,
        what: &str,
        command: &mut Command,
        install: &str,
    ) -> Result<Vec<u8>, Error> {
        self.output(what, command, install, true)
    }

    /// Runs a quick command of a tool and returns its output; `None` if there is no such tool, or
    /// it failed.
    pub(super) fn ask(&self, command: &mut Command) -> Option<String> {
        let quiet = Self { verbose: false, ..*self };
        let output = quiet.read("", command, "").ok()?;
        Some(String::from_utf8_lossy(&output).trim().to_owned())
    }

    fn output(
        &self,
        what: &str,
        command: &mut Command,
        install: &str,
        reads: bool,
    ) -> Result<Vec<u8>, Error> {
        let scratch = || {
            tempfile::tempfile()
                .map_err(|error| Error::file(std::path::Path::new("a temporary file"), error))
        };
        let mut said = scratch()?;
        let mut read = scratch()?;
        let clone = |file: &File| file.try_clone().map(Stdio::from);
        let to_user = |file: &File| match self.verbose {
            // Standard output is that of the host's own command.
            true => Ok(Stdio::from(std::io::stderr())),
            false => clone(file),
        };
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        limit_environment(command, self.environment);
        // Its own group, which ends as a whole: a tool starts others.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let adoption = self.bounds.map(|_| Adoption::begin()).transpose();
        let adoption = adoption.map_err(|error| wrong(what, install, error))?;
        let child = to_user(&said)
            .and_then(|stderr| Ok((stderr, if reads { clone(&read)? } else { to_user(&said)? })))
            .and_then(|(stderr, stdout)| {
                command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
                if let Some(adoption) = &adoption {
                    adoption.mark(command);
                }
                match self.bounds {
                    Some(bounds) => bounds.spawn(command),
                    None => command.spawn(),
                }
            });
        let waited = child.and_then(|child| self.wait(what, child));
        // Whatever is left of it could change what it has made while that is read.
        let ended = adoption.map_or(Ok(()), Adoption::end);
        let status = waited.and_then(|status| ended.map(|()| status));
        let status = status.map_err(|error| wrong(what, install, error))?.ok_or(Error::Stopped)?;
        if !status.success() {
            let output = end(&mut said).unwrap_or_default();
            return Err(Error::Failed {
                command: what.to_owned(),
                status: describe_status(status),
                output,
            });
        }
        let mut content = Vec::new();
        let all = read
            .seek(SeekFrom::Start(0))
            .and_then(|_| (&mut read).take(LONGEST).read_to_end(&mut content));
        all.map(|_| content)
            .map_err(|error| Error::file(std::path::Path::new("a temporary file"), error))
    }
}

impl Runner<'_> {
    /// Waits for a tool. `None` if the build was stopped: then the tool has ended with all that it
    /// has started.
    fn wait(&self, what: &str, mut child: Child) -> std::io::Result<Option<ExitStatus>> {
        let start = Instant::now();
        let mut is_mentioned = false;
        loop {
            if !is_mentioned && start.elapsed() > LONG {
                is_mentioned = true;
                // These run the plugin's modules once, at build time.
                let loops = match what.starts_with("componentize") {
                    true => "a loop at the top level of your modules would not end, and ",
                    false => "",
                };
                self.step(&format!("{what} has run for a minute; {loops}Ctrl-C ends the build"));
            }
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if self.stop.load(Ordering::Relaxed) {
                return end_group(&mut child).map(|()| None);
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Gives a command this environment, and what it sets by itself, instead of that of the host; and
/// the root as its folder where it names none, since the user's own may be anybody's: Python and
/// managers of versions read code and settings there.
fn limit_environment(command: &mut Command, environment: &[Variable]) {
    let set: Vec<(OsString, OsString)> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    command.env_clear().envs(environment.iter().cloned()).envs(set);
    if command.get_current_dir().is_none() {
        command.current_dir("/");
    }
}

/// Asks the processes of a tool to end, and ends those that do not.
#[cfg(unix)]
fn end_group(child: &mut Child) -> std::io::Result<()> {
    use nix::sys::signal::{Signal, killpg};
    let group = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
    // An error says that there is none of them left.
    let _ = killpg(group, Signal::SIGTERM);
    let start = Instant::now();
    while start.elapsed() < GRACE_PERIOD && child.try_wait()?.is_none() {
        thread::sleep(PAUSE);
    }
    let _ = killpg(group, Signal::SIGKILL);
    child.wait().map(drop)
}

#[cfg(not(unix))]
fn end_group(child: &mut Child) -> std::io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}

/// The error of a tool that could not be started, or not be waited for.
fn wrong(what: &str, install: &str, error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => {
            Error::Missing { tool: command_name(what), install: install.to_owned() }
        }
        _ => Error::Failed {
            command: what.to_owned(),
            status: error.to_string(),
            output: String::new(),
        },
    }
}

fn command_name(what: &str) -> String {
    what.split(' ').next().unwrap_or(what).to_owned()
}

fn describe_status(status: ExitStatus) -> String {
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

    static GOES_ON: AtomicBool = AtomicBool::new(false);

    fn runner() -> Runner<'static> {
        let environment = &[];
        Runner { environment, bounds: None, verbose: false, report: &|_| {}, stop: &GOES_ON }
    }

    /// A tool that ends when it is asked to, but leaves one behind that does not.
    #[test]
    fn a_tool_ends_with_all_that_it_has_started() {
        let folder = syrch_kit::scratch();
        let stop = AtomicBool::new(false);
        let mut command = Command::new("sh");
        let script = "(trap '' TERM; while :; do sleep 0.1; done) & echo $! > other.new && mv \
                      other.new other; wait";
        command.current_dir(folder.path()).args(["-c", script]);
        let other = folder.path().join("other");
        thread::scope(|scope| {
            scope.spawn(|| {
                while !other.exists() {
                    thread::sleep(PAUSE);
                }
                stop.store(true, Ordering::Relaxed);
            });
            let runner = Runner { stop: &stop, ..runner() };
            assert!(matches!(runner.run("sh", &mut command, ""), Err(Error::Stopped)));
        });
        let other = nix::unistd::Pid::from_raw(
            std::fs::read_to_string(other).unwrap().trim().parse().unwrap(),
        );
        let is_gone = || nix::sys::signal::kill(other, None).is_err() || is_zombie(other);
        let start = Instant::now();
        while !is_gone() {
            assert!(start.elapsed() < Duration::from_secs(10), "{other} runs");
            thread::sleep(PAUSE);
        }
    }

    /// Processes that began a session of their own, and left it, too.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_bounded_tool_leaves_no_process_behind() {
        let scratch = syrch_kit::scratch();
        let folder = scratch.path().canonicalize().unwrap();
        let environment = [("PATH".into(), "/usr/bin:/bin".into())];
        let bounds = Bounds::new(&environment, &folder).read("/");
        let runner = Runner { environment: &environment, bounds: Some(&bounds), ..runner() };
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        let again = "trap '' TERM HUP; echo $$ >> left; while :; do sleep 0.05; done";
        std::fs::write(folder.join("again.sh"), again).unwrap();
        let script = "setsid sh again.sh & (setsid setsid sh again.sh &)
                      sh -c 'setsid sh -c \"setsid sh again.sh & sh again.sh\" &'
                      until test \"$(wc -l < left)\" = 4; do sleep 0.01; done 2> /dev/null";
        let mut command = Command::new("sh");
        command.current_dir(&folder).args(["-c", script]);
        runner.run("sh", &mut command, "").unwrap();
        let left = std::fs::read_to_string(folder.join("left")).unwrap();
        for process in left.lines() {
            let process = nix::unistd::Pid::from_raw(process.parse().unwrap());
            assert!(nix::sys::signal::kill(process, None).is_err(), "{process} runs");
        }
        assert!(other.try_wait().unwrap().is_none(), "a child of the host's own");
        other.kill().unwrap();
        other.wait().unwrap();
    }

    /// Returns true if a process has ended and only waits for its parent, which may never ask.
    fn is_zombie(process: nix::unistd::Pid) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        status.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
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
        let missing = runner()
            .run("no-such-tool build", &mut Command::new("no-such-tool"), "get it")
            .unwrap_err();
        assert_eq!(
            (missing.to_string().as_str(), missing.hint().as_deref()),
            ("no-such-tool is missing", Some("get it"))
        );
        assert_eq!(runner().ask(&mut Command::new("no-such-tool")), None);
    }

    #[test]
    fn a_tool_has_no_variable_but_those_that_it_is_given() {
        let environment = [("GIVEN".into(), "one".into()), ("SET".into(), "two".into())];
        let runner = Runner { environment: &environment, ..runner() };
        let script = "echo \"$GIVEN $SET ${CARGO_MANIFEST_DIR-none}\"";
        let said = runner.ask(Command::new("sh").env("SET", "three").args(["-c", script]));
        assert_eq!(said.as_deref(), Some("one three none"));
    }

    #[test]
    fn standard_output_is_read_alone() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo noise >&2; echo value"]);
        assert_eq!(runner().read("sh", &mut command, "").unwrap(), b"value\n");
    }
}
