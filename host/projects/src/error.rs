//! Why a project cannot be written, read or built.

use std::path::Path;

use crate::definition::FILE;
use crate::{ComponentError, Language};

/// The reason why a project cannot be written, read or built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name of a plugin is none.
    #[error("`{name}` is no name for a plugin: {why}")]
    Name {
        /// The name that was given.
        name: String,
        /// A description of what is wrong with it.
        why: String,
    },
    /// The folder of a new project has files already.
    #[error("the folder `{0}` exists and is not empty")]
    Occupied(String),
    /// No roles were given.
    #[error("a plugin has at least one role")]
    NoRole,
    /// This build of the host has no template.
    #[error("this host has no template for {language} and the role {role}")]
    NoTemplate {
        /// The language that was asked for.
        language: Language,
        /// The first of the roles that were asked for.
        role: String,
    },
    /// A file cannot be read or written.
    #[error("`{path}`: {reason}")]
    File {
        /// The path of the file.
        path: String,
        /// The error that the system reported.
        reason: String,
    },
    /// The signature of a component cannot be read.
    #[error("`{path}` {why}")]
    Signature {
        /// The path of the file, or the address in a registry.
        path: String,
        /// A description of what is wrong with it.
        why: String,
    },
    /// `plugin.yml` is wrong: a line for each problem, with its place.
    #[error("{}", .0.join("\n"))]
    Definition(Vec<String>),
    /// A tool of the language is missing.
    #[error("{tool} is missing")]
    Missing {
        /// The tool, with the version that is needed.
        tool: String,
        /// An instruction to install it.
        install: String,
    },
    /// An installer ended well, and a tool does not work.
    #[error(
        "`{installer}` ended well, and {tool} is missing or does not start: it was looked \
         for at {place}"
    )]
    NotInstalled {
        /// The tool.
        tool: String,
        /// The command that was to install it.
        installer: String,
        /// The path of its program.
        place: String,
        /// Causes that a user can remove.
        hint: String,
    },
    /// A tool could not be started, or ended with a failure.
    #[error("{command} failed ({status}){}", format_output(.output))]
    Failed {
        /// The command without its arguments' details.
        command: String,
        /// The exit status of the process.
        status: String,
        /// The end of what it printed; empty where that was shown already.
        output: String,
    },
    /// The language's tool cannot build without scripts of the project.
    #[error("{0} has no way to build without the build scripts and macros of a project")]
    Scripts(String),
    /// A list of packages names something else than packages of the registry.
    #[error("`{path}`: `{line}` may run a script")]
    NoWheel {
        /// The path of the list.
        path: String,
        /// The line.
        line: String,
    },
    /// An address of a registry is none.
    #[error("`{text}` is no address of a registry: {why}")]
    Address {
        /// The text that was given.
        text: String,
        /// A description of what is wrong with it.
        why: String,
    },
    /// A registry cannot be reached, or answers otherwise than it should.
    #[error("the registry `{host}` {why}")]
    Registry {
        /// The registry's host.
        host: String,
        /// The rest of the sentence. Nothing of it is the registry's own text.
        why: String,
    },
    /// A registry refuses the user.
    #[error("the registry `{host}` refuses the request")]
    RegistryDenied {
        /// The registry's host.
        host: String,
    },
    /// The build was stopped while a tool ran.
    #[error("stopped")]
    Stopped,
    /// A tool ended well, but left no component.
    #[error("{tool} made no component: {why}")]
    NothingMade {
        /// The name of the tool that ran, such as `cargo build`.
        tool: String,
        /// The reason why the tool left no component, as the message shows it.
        why: String,
    },
    /// The compiled module is no plugin of the roles.
    #[error("the compiled module {0}")]
    Component(#[from] ComponentError),
}

impl Error {
    /// The error about a file.
    pub(crate) fn file(path: &Path, reason: impl ToString) -> Self {
        Self::File { path: path.display().to_string(), reason: reason.to_string() }
    }

    /// The error about a registry.
    pub(crate) fn registry(host: &str, why: String) -> Self {
        Self::Registry { host: host.to_owned(), why }
    }

    /// Returns the advice on what to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let fixed = match self {
            Self::Name { .. } => "such as `short` or `short-answers`",
            Self::Occupied(_) => "give the path of a new folder by --into DIR, or empty this one",
            Self::Missing { install, .. } => return Some(install.clone()),
            Self::NotInstalled { hint, .. } => return Some(hint.clone()),
            Self::Signature { .. } => "ask its author for a whole copy",
            Self::File { path, .. } if Path::new(path).ends_with(FILE) => {
                "name the folder of a plugin's project, as `syrch-host plugin new` makes it"
            }
            Self::Failed { output, .. } if !output.is_empty() => {
                "--verbose shows all that the tools print, as they print it"
            }
            Self::Component(ComponentError::Exports { .. }) => {
                "add the role to `roles` in plugin.yml, or take its code out of the build"
            }
            Self::Component(ComponentError::Imports { .. }) => {
                "the roles in plugin.yml decide which ports there are; wit/worlds.wit lists them"
            }
            Self::Component(ComponentError::Unfit(_)) => {
                "compare the roles in plugin.yml with those that the code has"
            }
            Self::Scripts(_) => {
                "read its build scripts, and build it without --no-scripts if you trust them; \
                 or ask its author for the component, which needs no trust"
            }
            Self::NoWheel { .. } => {
                "with --no-scripts a line is a package of the registry with its versions, such as \
                 `componentize-py==0.25.1` or `\"esbuild\": \"0.28.2\"`"
            }
            Self::Address { .. } => "such as `oci://ghcr.io/you/votes:1.0`",
            Self::RegistryDenied { .. } => {
                "it may be private, or not be there: `docker login` writes your name and password \
                 to ~/.docker/config.json, and --auth-file names another such file"
            }
            Self::Definition(_) => {
                "plugin.yml has `name`, `language`, `roles`, and perhaps `entry`, `sdk` and `wants`"
            }
            _ => return None,
        };
        Some(fixed.to_owned())
    }
}

/// The output of a tool, below the message.
fn format_output(output: &str) -> String {
    if output.is_empty() { String::new() } else { format!(":\n{}", output.trim_end()) }
}
