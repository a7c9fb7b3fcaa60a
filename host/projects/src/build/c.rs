//! C: clang with wasi-libc makes a core module, and the host a component of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Build, venv};
use crate::{Error, sources};

/// Clang and wasi-libc in one, from PyPI.
const REQUIREMENTS: &str = "ziglang==0.16.0\n";
const INSTALL: &str = "install clang with wasi-libc: `apt install clang lld wasi-libc \
                       libclang-rt-dev-wasm32`, or Python 3.10 with pip, by which the \
                       build gets both";
/// The flags with which every file is compiled. A reactor is a library whose functions are called
/// one after the other.
const FLAGS: [&str; 7] =
    ["-mexec-model=reactor", "-std=c17", "-Os", "-s", "-Wall", "-Wextra", "-Wno-unused-parameter"];
/// A program that needs headers, library and linker.
const PROBE: &str = "#include <stdlib.h>\nvoid *probe(void) { return malloc(1); }\n";

pub(super) fn build(build: &Build<'_>, out: &Path) -> Result<(), Error> {
    build.entry()?;
    let files = sources::all(&build.project.folder, "c")?;
    let sdk = sources::in_folder(&build.project.sdk, "c")?;
    let core = build.folder.join("core.wasm");
    let (what, mut compiler) = compiler(build)?;
    build.runner.step(what);
    compiler.args(FLAGS).arg("-I").arg(&build.project.folder).arg("-I").arg(&build.project.sdk);
    // A failed assertion prints the file as the project names it, and not where it lies on the
    // author's machine.
    compiler.arg(format!("-fmacro-prefix-map={}/=", build.project.folder.display()));
    for role in &build.project.roles {
        compiler.arg(format!("-DSYRCH_ROLE_{}", role.name().to_uppercase()));
    }
    build.runner.run(what, compiler.arg("-o").arg(&core).args(files).args(sdk), INSTALL)?;
    let mut module = std::fs::read(&core).map_err(|error| Error::file(&core, error))?;
    module.extend(producers());
    std::fs::write(&core, module).map_err(|error| Error::file(&core, error))?;
    build.component(&core, out)
}

/// The section in which a module names its language,
/// <https://github.com/WebAssembly/tool-conventions/blob/main/ProducersSection.md>. `-s` has
/// removed the compiler's.
fn producers() -> Vec<u8> {
    let text =
        |text: &str| [&[u8::try_from(text.len()).unwrap_or_default()], text.as_bytes()].concat();
    // One field with one value, whose version is not said.
    let content =
        [text("producers"), vec![1], text("language"), vec![1], text("C17"), text("")].concat();
    [&[0, u8::try_from(content.len()).unwrap_or_default()], content.as_slice()].concat()
}

/// The installed clang, if it can make a module; otherwise Zig's.
fn compiler(build: &Build<'_>) -> Result<(&'static str, Command), Error> {
    let probe = build.folder.join("probe.c");
    std::fs::write(&probe, PROBE).map_err(|error| Error::file(&probe, error))?;
    let made: PathBuf = build.folder.join("probe.wasm");
    let clang = || {
        let mut clang = Command::new("clang");
        clang.current_dir(&build.project.folder).arg("--target=wasm32-wasi");
        clang
    };
    if build
        .runner
        .ask(clang().arg("-mexec-model=reactor").arg("-o").arg(&made).arg(&probe))
        .is_some()
    {
        return Ok(("clang", clang()));
    }
    let version = ["python", "-m", "ziglang", "version"];
    let tool = venv::Tool {
        name: "zig",
        requirements: REQUIREMENTS,
        only_wheels: true,
        probe: &version,
        hint: INSTALL,
    };
    let programs = venv::programs(&build.runner, &build.tools, tool, &build.record);
    let programs =
        programs.map_err(|error| venv::misses(error, "clang with wasi-libc", INSTALL))?;
    let mut zig = Command::new(programs.join("python"));
    zig.current_dir(&build.project.folder).env("ZIG_LOCAL_CACHE_DIR", build.folder.join("zig"));
    zig.args(["-m", "ziglang", "cc", "-target", "wasm32-wasi"]);
    Ok(("zig cc", zig))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_names_its_language() {
        use wasmparser::{BinaryReader, Parser, Payload, ProducersSectionReader};
        let module = [b"\0asm\x01\0\0\0".as_slice(), &producers()].concat();
        let mut sections =
            Parser::new(0).parse_all(&module).filter_map(|payload| match payload.unwrap() {
                Payload::CustomSection(section) => Some(section),
                _ => None,
            });
        let section = sections.next().unwrap();
        let fields = ProducersSectionReader::new(BinaryReader::new(section.data(), 0)).unwrap();
        let field = fields.into_iter().next().unwrap().unwrap();
        let values: Vec<&str> = field.values.into_iter().map(|value| value.unwrap().name).collect();
        assert_eq!((section.name(), field.name, values), ("producers", "language", vec!["C17"]));
    }
}
