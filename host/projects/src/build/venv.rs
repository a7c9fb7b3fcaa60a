//! A virtual environment of Python with pinned packages, for tools that come from PyPI.

use std::path::{Path, PathBuf};
use std::process::Command;

use syrch::syrch_core::text::few;

use super::record::Record;
use super::run::Runner;
use crate::{Error, files};

const INSTALL: &str = "install Python 3.10 or newer with venv: `apt install python3 python3-venv`, \
                       or https://www.python.org/downloads/";
/// Keeps Python from importing what lies in the current folder or what a variable names: without
/// it, `-m pip` runs a `pip.py` of the project.
pub(super) const ISOLATED: &str = "-I";
/// The oldest Python, as major and minor version.
const OLDEST: (u32, u32) = (3, 10);
/// The file that says what was installed.
const STAMP: &str = "installed";

/// A tool that a virtual environment is made for.
#[derive(Clone, Copy)]
pub(super) struct Tool<'a> {
    pub(super) name: &'a str,
    /// The packages that are installed.
    pub(super) requirements: &'a str,
    /// The folder against which paths in the requirements are read, if they may have any.
    pub(super) base: Option<&'a Path>,
    /// True if packages are installed from wheels alone: any other runs a build back end.
    pub(super) only_wheels: bool,
    /// A program of the environment with arguments that end well where the tool works.
    pub(super) probe: &'a [&'a str],
    /// A hint for the case that the packages do not hold it.
    pub(super) hint: &'a str,
}

/// The folder of the programs of a virtual environment that has this tool, which is made where it
/// is not there already.
pub(super) fn programs(
    runner: &Runner<'_>,
    folder: &Path,
    tool: Tool<'_>,
    record: &Record,
) -> Result<PathBuf, Error> {
    let requirements = tool.requirements;
    let programs = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let stamp = stamp(requirements, folder);
    let program = programs.join(tool.probe.first().copied().unwrap_or_default());
    if program.is_file()
        && files::read_text(&folder.join(STAMP)).is_ok_and(|text| text.as_ref() == Some(&stamp))
        && record.holds(folder, &stamp)
    {
        return Ok(programs);
    }
    refuse_other_files(folder)?;
    let python = python(runner)?;
    let packages: Vec<&str> = list_requirements(requirements).collect();
    let why = match folder.join(STAMP).is_file() && program.is_file() {
        true => "anew, since it was not installed here or other versions are wanted",
        false => "once",
    };
    runner.step(&format!("installing {} into {} ({why})", few(packages.clone()), folder.display()));
    let earlier = set_aside(folder)?;
    let install = || {
        runner.run(
            "python3 -m venv",
            Command::new(python).args([ISOLATED, "-m", "venv", "--clear"]).arg(folder),
            INSTALL,
        )?;
        // The file stands in the environment, so that the packages' names need no quoting. It has
        // no comments, by which a list can name another encoding of its text.
        let list = folder.join("requirements.txt");
        std::fs::write(&list, packages.join("\n")).map_err(|error| Error::file(&list, error))?;
        let mut pip = Command::new(programs.join("python"));
        pip.args([ISOLATED, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip.arg("--no-input");
        // Into this environment, whatever a pip.conf says. An empty --prefix or --root would be a
        // folder.
        pip.args(["--no-user", "--target="]);
        if tool.only_wheels {
            pip.args(["--only-binary=:all:"]);
        }
        if let Some(base) = tool.base {
            pip.current_dir(base);
        }
        pip.arg("--requirement");
        runner.run("pip install", pip.arg(&list), INSTALL)?;
        if runner.ask(Command::new(&program).args(tool.probe.iter().skip(1))).is_none() {
            return Err(Error::NotInstalled {
                tool: tool.name.to_owned(),
                installer: "pip install".to_owned(),
                place: program.display().to_string(),
                hint: tool.hint.to_owned(),
            });
        }
        let path = folder.join(STAMP);
        std::fs::write(&path, &stamp).map_err(|error| Error::file(&path, error))?;
        record.keep(folder, &stamp);
        Ok(())
    };
    let installed = install();
    if let Some(earlier) = earlier {
        match &installed {
            Ok(()) => drop(std::fs::remove_dir_all(earlier)),
            // What was there is still of use at the place that it was made for.
            Err(_) => drop(
                std::fs::remove_dir_all(folder).and_then(|()| std::fs::rename(earlier, folder)),
            ),
        }
    }
    installed.map(|()| programs)
}

/// Returns the lines of a list of requirements that are no comments, split where pip splits them.
pub(super) fn list_requirements(text: &str) -> impl Iterator<Item = &str> {
    const ENDS: [char; 10] = [
        '\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}',
        '\u{2029}',
    ];
    let lines = text.split(ENDS).map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Renames an environment that is whole, until another one is in its place. Returns its new name.
fn set_aside(folder: &Path) -> Result<Option<PathBuf>, Error> {
    if !folder.join(STAMP).is_file() {
        return Ok(None);
    }
    let mut earlier = folder.as_os_str().to_owned();
    earlier.push(".earlier");
    let earlier = PathBuf::from(earlier);
    if earlier.exists() {
        std::fs::remove_dir_all(&earlier).map_err(|error| Error::file(&earlier, error))?;
    }
    std::fs::rename(folder, &earlier).map_err(|error| Error::file(folder, error))?;
    Ok(Some(earlier))
}

/// A folder that is no virtual environment keeps its files: making one there would remove them all.
fn refuse_other_files(folder: &Path) -> Result<(), Error> {
    let is_empty = std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if is_empty || folder.join("pyvenv.cfg").is_file() {
        return Ok(());
    }
    Err(Error::file(
        folder,
        "has files that are no virtual environment of Python, which would be made here; name an \
         empty folder by --tools",
    ))
}

/// The error of a language whose tool was to come from PyPI: where Python is missing, it is that
/// tool that the user misses.
pub(super) fn misses(error: Error, tool: &str, install: &str) -> Error {
    match error {
        Error::Missing { .. } => {
            Error::Missing { tool: tool.to_owned(), install: install.to_owned() }
        }
        other => other,
    }
}

/// The digest of the requirements, and of the folder: the programs of an environment hold its path.
fn stamp(requirements: &str, folder: &Path) -> String {
    super::digest([requirements.as_bytes(), folder.as_os_str().as_encoded_bytes()].join(&0))
}

/// A Python that is new enough.
fn python(runner: &Runner<'_>) -> Result<&'static str, Error> {
    let version = |name: &str| {
        let script = "import sys; print(*sys.version_info[:2])";
        let text = runner.ask(Command::new(name).args([ISOLATED, "-c", script]))?;
        let (major, minor) = text.split_once(' ')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    ["python3", "python"]
        .into_iter()
        .find(|name: &&str| version(name).is_some_and(|found: (u32, u32)| found >= OLDEST))
        .ok_or_else(|| Error::Missing {
            tool: format!("Python {}.{} or newer", OLDEST.0, OLDEST.1),
            install: INSTALL.to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: Tool<'static> = Tool {
        base: None,
        only_wheels: false,
        name: "nobody",
        requirements: "no-such-package-of-anybody==1\n",
        probe: &["python"],
        hint: "",
    };

    #[test]
    fn an_environment_stays_until_another_one_is_there() {
        let base = syrch_kit::scratch();
        let folder = base.path().join(".tools");
        std::fs::create_dir(&folder).unwrap();
        let python_of = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
        std::fs::create_dir(&python_of).unwrap();
        for path in [folder.join("pyvenv.cfg"), folder.join(STAMP), python_of.join("python")] {
            std::fs::write(path, "of another folder").unwrap();
        }
        let stop = std::sync::atomic::AtomicBool::new(true);
        let steps = std::sync::Mutex::new(Vec::new());
        let report = |step: &str| steps.lock().unwrap().push(step.to_owned());
        let environment: Vec<_> = std::env::vars_os().collect();
        let environment = environment.as_slice();
        let runner =
            Runner { environment, bounds: None, verbose: false, report: &report, stop: &stop };
        if python(&runner).is_err() {
            return println!("skipped: this machine has no Python");
        }
        programs(&runner, &folder, NOBODY, &Record::default()).unwrap_err();
        assert!(
            matches!(&steps.lock().unwrap()[..], [step] if step.contains("(anew, ")),
            "{steps:?}"
        );
        assert_eq!(std::fs::read_to_string(folder.join(STAMP)).unwrap(), "of another folder");
        assert_eq!(std::fs::read_dir(base.path()).unwrap().count(), 1);
    }

    /// A pipe in the place of the stamp would be waited for.
    #[cfg(unix)]
    #[test]
    fn a_stamp_is_a_plain_file() {
        let base = syrch_kit::scratch();
        let folder = base.path().join(".tools");
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        for path in ["pyvenv.cfg", "bin/python"] {
            std::fs::write(folder.join(path), "").unwrap();
        }
        nix::unistd::mkfifo(&folder.join(STAMP), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let stop = std::sync::atomic::AtomicBool::new(true);
        let environment = &[];
        let runner =
            Runner { environment, bounds: None, verbose: false, report: &|_| {}, stop: &stop };
        assert!(programs(&runner, &folder, NOBODY, &Record::for_named_folder()).is_err());
    }

    #[test]
    fn a_comment_hides_no_line_from_the_host_that_pip_reads() {
        for end in ["\n", "\r", "\u{c}", "\u{85}", "\u{2028}"] {
            let text = format!("# a note{end} --index-url x{end}a==1");
            let lines: Vec<&str> = list_requirements(&text).collect();
            assert_eq!(lines, ["--index-url x", "a==1"], "{end:?}");
        }
    }

    #[test]
    fn a_folder_with_other_files_is_not_emptied() {
        let folder = syrch_kit::scratch();
        let kept = folder.path().join("kept.txt");
        std::fs::write(&kept, "kept").unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        let environment = &[];
        let runner =
            Runner { environment, bounds: None, verbose: false, report: &|_| {}, stop: &stop };
        let error = programs(&runner, folder.path(), NOBODY, &Record::default()).unwrap_err();
        assert!(error.to_string().contains("no virtual environment"), "{error}");
        assert!(kept.is_file());
    }
}
