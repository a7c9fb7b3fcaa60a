//! Builds the component of a project with the tools of its language: one file for each, and one entry in the list below.
//!
//! A build is not sandboxed. It runs the user's own code by the user's own tools, such as a Rust build script; `plugin.yml` alone names no
//! program, and nothing goes through a shell.

mod c;
mod go;
mod javascript;
mod python;
mod run;
mod rust;
mod venv;

use std::path::{Path, PathBuf};

use run::Runner;

use crate::definition::Project;
use crate::{Error, Language, component, contract};

/// How a project is built.
pub struct BuildOptions<'a> {
    /// The folder of the tools that the build installs, instead of `.tools` of the project.
    pub tools: Option<PathBuf>,
    /// Whether all output of the tools is shown.
    pub verbose: bool,
    /// Receives a line for each step that may take long.
    pub report: &'a dyn Fn(&str),
}

/// A component that was made and has not been checked by the runtime.
#[derive(Debug)]
pub struct Built {
    /// The file of the component.
    pub made: PathBuf,
    target: PathBuf,
}

impl Built {
    /// Moves the component to its place, `build/NAME.wasm`, where it replaces the one of an earlier build.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub fn accept(self) -> Result<PathBuf, Error> {
        std::fs::rename(&self.made, &self.target).map_err(|error| Error::file(&self.target, error))?;
        Ok(self.target)
    }

    /// Removes the component, which the runtime refused.
    pub fn discard(self) {
        drop(std::fs::remove_file(&self.made));
    }
}

/// What the files of the languages get.
struct Build<'a> {
    project: &'a Project,
    /// The WIT package with the project's world.
    wit: PathBuf,
    /// The folder of tools that are installed.
    tools: PathBuf,
    /// Where everything goes that is made.
    folder: PathBuf,
    runner: Runner<'a>,
}

impl Build<'_> {
    /// Makes a component of a core module, into `out`.
    fn component(&self, core: &Path, out: &Path) -> Result<(), Error> {
        let module = std::fs::read(core).map_err(|error| Error::file(core, error))?;
        let made = component::component(&module, &self.wit, contract::WORLD)?;
        std::fs::write(out, made).map_err(|error| Error::file(out, error))
    }

    /// The main source file. It has been checked to be there.
    fn entry(&self) -> Result<&Path, Error> {
        let entry = self.project.entry.as_deref().unwrap_or(Path::new("plugin"));
        let path = self.project.folder.join(entry);
        if path.is_file() { Ok(entry) } else { Err(Error::file(&path, "there is no such file")) }
    }
}

/// Builds the component of a project. What it left of an earlier build is used again, so a build without a network succeeds once the tools
/// and dependencies are there.
///
/// # Errors
/// When a tool is missing or fails, or the code does not fit the roles of the project.
pub fn build(project: &Project, options: &BuildOptions<'_>) -> Result<Built, Error> {
    let folder = project.build();
    let wit = contract::write(project)?;
    let tools = options.tools.clone().unwrap_or_else(|| project.folder.join(".tools"));
    let runner = Runner { verbose: options.verbose, report: options.report };
    let made = folder.join(format!("{}.unchecked.wasm", project.name.as_str()));
    let build = Build { project, wit, tools, folder, runner };
    match project.language {
        Language::Rust => rust::build(&build, &made),
        Language::Python => python::build(&build, &made),
        Language::Js | Language::Ts => javascript::build(&build, &made),
        Language::Go => go::build(&build, &made),
        Language::C => c::build(&build, &made),
    }?;
    Ok(Built { made, target: project.component() })
}
