//! Builds the component of a project with the tools of its language: one file for each, and one
//! entry in the list below.
//!
//! A build runs code of the project by the user's own tools, such as a Rust build script, with the
//! user's rights. Of somebody else's project cargo runs it within [`bounds`]; the other languages
//! can do without such code. `plugin.yml` alone names no program, and nothing goes through a shell.

mod adoption;
mod bounds;
mod c;
mod environment;
mod go;
mod javascript;
mod npmrc;
mod plan;
mod python;
mod record;
mod run;
mod rust;
mod venv;

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use bounds::Bounds;
pub use plan::Plan;
pub(crate) use plan::is_sdk;
use record::Record;
use run::Runner;
use sha2::{Digest, Sha256};

use crate::definition::Project;
use crate::{Error, Language, component, contract, files, sources};

/// The folder of temporary files in that of what is made, where the project is somebody else's.
const SCRATCH: &str = "tmp";

/// The options of a build.
pub struct BuildOptions<'a> {
    /// The folder of the tools that the build installs, instead of `.tools` of the project.
    pub tools: Option<PathBuf>,
    /// The folder of the user's own state, which records the tools that were installed in
    /// projects. Without one, they are installed for each build.
    pub state: Option<PathBuf>,
    /// The environment of the user, of which the tools get what finds them, their folders and the
    /// registries.
    pub environment: &'a [(OsString, OsString)],
    /// True if the user has written the project: its tools get the credentials of the environment,
    /// and its sources may read files beside it.
    pub is_own: bool,
    /// True if no script of the project or of its packages may run. A language whose tool cannot
    /// do without is refused.
    pub no_scripts: bool,
    /// True if all output of the tools is shown.
    pub verbose: bool,
    /// Receives a line for each step that may take long.
    pub report: &'a dyn Fn(&str),
    /// Once it is true, the tool that runs is ended with all that it has started, and the build
    /// fails.
    pub stop: &'a AtomicBool,
}

/// A component that was made and has not been checked by the runtime.
#[derive(Debug)]
pub struct Built {
    /// The file of the component.
    pub made: PathBuf,
    target: PathBuf,
    /// The state of the component's sources, if it decides whether the component is built again.
    sources: Option<String>,
    /// Held until the component is in its place: another build of the project would write the same
    /// files.
    lock: File,
}

impl Built {
    /// Moves the component to its place, `build/NAME.wasm`, where it replaces the one of an earlier
    /// build.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub fn accept(self) -> Result<(), Error> {
        std::fs::rename(&self.made, &self.target)
            .map_err(|error| Error::file(&self.target, error))?;
        if let Some(sources) = self.sources {
            let stamp = stamp(&self.target);
            std::fs::write(&stamp, sources).map_err(|error| Error::file(&stamp, error))?;
        }
        drop(self.lock);
        Ok(())
    }

    /// Removes the component, which the runtime refused, unless it is that of an earlier build.
    pub fn discard(self) {
        if self.made != self.target {
            drop(std::fs::remove_file(&self.made));
        }
    }
}

/// The inputs that the builds of the languages share.
struct Build<'a> {
    project: &'a Project,
    /// The WIT package with the project's world.
    wit: PathBuf,
    /// The folder of tools that are installed.
    tools: PathBuf,
    /// The record of what is installed there.
    record: Record,
    /// The folder of everything that is made.
    folder: PathBuf,
    /// True if the user has written the project.
    is_own: bool,
    /// True if no script of the project or of its packages may run.
    no_scripts: bool,
    runner: Runner<'a>,
}

impl Build<'_> {
    /// Makes a component of a core module, into `out`.
    fn component(&self, core: &Path, out: &Path) -> Result<(), Error> {
        let module = files::read_made(core, &self.folder)?;
        files::write_new(out, &component::component(&module, &self.wit, contract::WORLD)?)
    }

    /// The bounds of the tools that make a component of somebody else's project: they read it, its
    /// SDK and the tools, and write in the folder of what is made. `None` if the project is the
    /// user's own.
    fn bounds(&self) -> Result<Option<Bounds>, Error> {
        if self.is_own {
            return Ok(None);
        }
        let scratch = self.folder.join(SCRATCH);
        std::fs::create_dir_all(&scratch).map_err(|error| Error::file(&scratch, error))?;
        let bounds = Bounds::new(self.runner.environment, &scratch);
        let bounds = bounds.read(&self.project.folder).read(&self.project.sdk).read(&self.tools);
        Ok(Some(bounds.write(&self.folder)))
    }

    /// Returns these bounds if a command works within them that runs nothing of the project.
    /// Managers of versions may have the files of a tool where no bounds let it read; then it runs
    /// with the user's rights, and what it reads is compared.
    fn probe(&self, bounds: Bounds, command: &mut Command) -> Option<Bounds> {
        let runner = Runner { bounds: Some(&bounds), ..self.runner };
        let works = runner.ask(command).is_some();
        if !works {
            let program = command.get_program().display();
            self.runner.step(&format!("{program} does not work within bounds: it has your rights"));
        }
        works.then_some(bounds)
    }

    /// Refuses files that a compiler reads outside of the project and of these folders, unless the
    /// project is the user's own. Paths may be relative to the project.
    fn refuse_foreign(
        &self,
        files: impl IntoIterator<Item = PathBuf>,
        others: &[&Path],
    ) -> Result<(), Error> {
        if self.is_own {
            return Ok(());
        }
        let own = [self.project.folder.as_path(), &self.project.sdk, &self.tools];
        sources::refuse_foreign(files, &[&own[..], others].concat())
    }

    /// The main source file. It has been checked to be there.
    fn entry(&self) -> Result<&Path, Error> {
        let entry = self.project.entry.as_deref().unwrap_or(Path::new("plugin"));
        let path = self.project.folder.join(entry);
        if path.is_file() { Ok(entry) } else { Err(Error::file(&path, "there is no such file")) }
    }
}

/// Builds the component of a project. What it left of an earlier build is used again, so a build
/// without a network succeeds once the tools and dependencies are there.
///
/// # Errors
/// When a tool is missing or fails, the code does not fit the roles of the project, a path or a
/// symbolic link leads out of the project, or a link stands where the build writes.
pub fn build(project: &Project, options: &BuildOptions<'_>) -> Result<Built, Error> {
    let folder = project.build();
    sources::refuse_outside(project)?;
    if options.no_scripts && project.language == Language::Rust {
        return Err(Error::Scripts("cargo".to_owned()));
    }
    if options.no_scripts
        && let Some(path) = plan::list_managed(project).next()
    {
        let line = "the programs and versions of it".to_owned();
        return Err(Error::NoWheel { path: path.display().to_string(), line });
    }
    let own_tools = project.folder.join(".tools");
    for made in [&own_tools, &project.folder.join("node_modules")] {
        files::refuse_link(made)?;
    }
    files::refuse_links(&folder)?;
    let lock = lock(&folder, options)?;
    let wit = contract::write(project)?;
    let record = match options.tools.as_ref().filter(|tools| **tools != own_tools) {
        Some(_) => Record::for_named_folder(),
        None => Record::new(options.state.as_deref(), &project.folder),
    };
    let tools = options.tools.clone().unwrap_or(own_tools);
    let lines = match project.language {
        Language::Js | Language::Ts => npmrc::list_others(&project.folder)?,
        Language::Python => python::list_packages(project)?,
        Language::Rust | Language::Go | Language::C => Vec::new(),
    };
    let is_own = options.is_own;
    let environment = environment::keep(options.environment, &lines, is_own);
    let runner = Runner {
        environment: &environment,
        bounds: None,
        verbose: options.verbose,
        report: options.report,
        stop: options.stop,
    };
    let target = project.component();
    // The tools of the other languages find out by themselves what has changed. An SDK elsewhere is
    // not among the files of the project.
    let is_slow = matches!(project.language, Language::Python | Language::Js | Language::Ts);
    let sdk = project.folder.join("sdk");
    let is_known = is_slow && sdk.is_dir() && !sdk.is_symlink();
    let sources = is_known.then(|| digest_sources(project)).transpose()?;
    if sources.is_some()
        && target.is_file()
        && files::read_text(&stamp(&target)).ok().flatten() == sources
    {
        runner.step("nothing has changed since the last build");
        return Ok(Built { made: target.clone(), target, sources, lock });
    }
    let made = folder.join(format!("{}.unchecked.wasm", project.name.as_str()));
    let no_scripts = options.no_scripts;
    let build = Build { project, wit, tools, record, folder, is_own, no_scripts, runner };
    match project.language {
        Language::Rust => rust::build(&build, &made),
        Language::Python => python::build(&build, &made),
        Language::Js | Language::Ts => javascript::build(&build, &made),
        Language::Go => go::build(&build, &made),
        Language::C => c::build(&build, &made),
    }?;
    // The tools of some languages write it themselves.
    files::read_made(&made, &build.folder).inspect_err(|_| drop(std::fs::remove_file(&made)))?;
    Ok(Built { made, target, sources, lock })
}

/// The file beside a component that says what it was made of.
fn stamp(component: &Path) -> PathBuf {
    component.with_file_name(".sources")
}

/// The digest of what decides about a component: the host, and the names, times and sizes of all
/// files of the project.
fn digest_sources(project: &Project) -> Result<String, Error> {
    let times = sources::times(&project.folder)?;
    Ok(digest(format!("{} {times:?}", env!("CARGO_PKG_VERSION"))))
}

/// The sha256 of bytes, in hex.
fn digest(bytes: impl AsRef<[u8]>) -> String {
    syrch::syrch_core::text::hex(Sha256::digest(bytes))
}

/// Waits until no other process builds in this folder.
fn lock(folder: &Path, options: &BuildOptions<'_>) -> Result<File, Error> {
    std::fs::create_dir_all(folder).map_err(|error| Error::file(folder, error))?;
    let path = folder.join(".lock");
    if path.exists() && !path.is_file() {
        return Err(Error::file(&path, "is no file"));
    }
    let file = File::options()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|error| Error::file(&path, error))?;
    let mut is_said = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(Error::file(&path, error)),
            Err(TryLockError::WouldBlock) if options.stop.load(Ordering::Relaxed) => {
                return Err(Error::Stopped);
            }
            Err(TryLockError::WouldBlock) => {
                if !is_said {
                    (options.report)("waiting for another build of this project");
                }
                is_said = true;
                std::thread::sleep(run::PAUSE);
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use syrch::syrch_core::roles::Role;

    use super::*;
    use crate::Name;

    #[test]
    fn a_build_waits_for_another_of_the_same_project() {
        let folder = syrch_kit::scratch();
        let stop = AtomicBool::new(false);
        let said = std::cell::RefCell::new(Vec::new());
        // The build that waits reports it, and can be stopped.
        let report = |line: &str| {
            said.borrow_mut().push(line.to_owned());
            stop.store(true, Ordering::Relaxed);
        };
        let options = BuildOptions {
            tools: None,
            state: None,
            environment: &[],
            is_own: true,
            no_scripts: false,
            verbose: false,
            report: &report,
            stop: &stop,
        };
        let first = lock(folder.path(), &options).unwrap();
        assert!(matches!(lock(folder.path(), &options), Err(Error::Stopped)));
        assert_eq!(*said.borrow(), ["waiting for another build of this project"]);
        drop(first);
        assert!(lock(folder.path(), &options).is_ok());
    }

    /// A clone may hold links. What the host and the tools write must not follow them, and above
    /// all not what empties a folder.
    #[test]
    fn a_build_writes_through_no_link() {
        let scratch = syrch_kit::scratch();
        let other = scratch.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("kept.txt"), "kept").unwrap();
        for (number, link) in [
            ".tools",
            "node_modules",
            "build",
            "build/core.wasm",
            "build/wit/deps/syrch-plugin/types.wit",
        ]
        .iter()
        .enumerate()
        {
            for (language, entry) in [
                (Language::C, "plugin.c"),
                (Language::Python, "plugin.py"),
                (Language::Js, "plugin.js"),
            ] {
                let folder = scratch.path().join(format!("{number}-{language}"));
                let place = folder.join(link);
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                fs::write(folder.join(entry), "").unwrap();
                let target = if link.contains('.') && !link.starts_with('.') {
                    other.join("kept.txt")
                } else {
                    other.clone()
                };
                symlink(target, &place).unwrap();
                let project = Project {
                    sdk: folder.join("sdk"),
                    folder,
                    name: Name::new("mine").unwrap(),
                    language,
                    roles: vec![Role::Reward],
                    entry: Some(PathBuf::from(entry)),
                    wants: None,
                };
                let stop = AtomicBool::new(false);
                let options = BuildOptions {
                    tools: None,
                    state: None,
                    environment: &[],
                    is_own: true,
                    no_scripts: false,
                    verbose: false,
                    report: &|_| {},
                    stop: &stop,
                };
                let error = build(&project, &options).unwrap_err().to_string();
                assert!(
                    error.contains(&place.display().to_string())
                        && error.contains("is a symbolic link"),
                    "{error}"
                );
                assert_eq!(fs::read_to_string(other.join("kept.txt")).unwrap(), "kept");
                assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
            }
        }
    }
}
