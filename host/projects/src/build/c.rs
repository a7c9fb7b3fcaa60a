//! C: clang with wasi-libc makes a core module, and the host a component of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::bounds::{self, Bounds};
use super::{Build, Runner, venv};
use crate::{Error, files, sources};

/// Clang and wasi-libc in one, from PyPI.
const REQUIREMENTS: &str = "ziglang==0.16.0\n";
const ZIG: &str = "zig cc";
const INSTALL: &str = "install clang with wasi-libc: `apt install clang lld wasi-libc \
                       libclang-rt-dev-wasm32`, or Python 3.10 with pip, by which the \
                       build gets both";
/// The flags with which every file is compiled.
const FLAGS: [&str; 5] = ["-std=c17", "-Os", "-Wall", "-Wextra", "-Wno-unused-parameter"];
/// The flags of the whole. A reactor is a library whose functions are called one after the other.
const LINK: [&str; 2] = ["-mexec-model=reactor", "-s"];
/// A program that needs headers, library and linker, and its file.
const PROBE_FILE: &str = "probe.c";
const PROBE: &str = "#include <stddef.h>\n#include <stdlib.h>\nvoid *probe(void) { return \
                     malloc(1); }\n";

/// The reason why a file is refused that includes one with such a name.
const ODD: &str = "includes a file whose name has control characters, backslashes or whitespace \
                   other than spaces";

pub(super) fn build(build: &Build<'_>, out: &Path) -> Result<(), Error> {
    build.entry()?;
    let files = sources::all(&build.project.folder, "c")?;
    let sdk = sources::in_folder(&build.project.sdk, "c")?;
    let core = build.folder.join("core.wasm");
    let compiler = compiler(build)?;
    let bounds = bounds(build, &compiler)?;
    let runner = Runner { bounds: bounds.as_ref(), ..build.runner };
    build.runner.step(compiler.name);
    let mut flags = flags(build);
    let mut files: Vec<PathBuf> = files.into_iter().chain(sdk).collect();
    if !build.is_own {
        // An assembler reads any file.
        flags.push("-fno-gnu-inline-asm".into());
        files = compile_checked(build, &runner, &compiler, &flags, &files)?;
    }
    let mut command = compiler.command(build);
    command.args(LINK).args(&flags).arg("-o").arg(&core).args(files);
    runner.run(compiler.name, &mut command, INSTALL)?;
    let mut module = files::read_made(&core, &build.folder)?;
    module.extend(producers());
    files::write_new(&core, &module)?;
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

/// A compiler that was found.
struct Compiler {
    name: &'static str,
    program: PathBuf,
    arguments: &'static [&'static str],
}

impl Compiler {
    fn command(&self, build: &Build<'_>) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&build.project.folder).args(self.arguments);
        command.env("ZIG_LOCAL_CACHE_DIR", build.folder.join("zig"));
        command
    }

    /// A command that makes a module of a program of the host's own.
    fn probe(&self, build: &Build<'_>) -> Command {
        let mut command = self.command(build);
        command.args(LINK).arg("-o").arg(build.folder.join("probe.wasm"));
        command.arg(build.folder.join(PROBE_FILE));
        command
    }

    /// Compiles one file into an object, and returns the files that it has read.
    fn compile(
        &self,
        build: &Build<'_>,
        runner: &Runner<'_>,
        flags: &[OsString],
        file: &Path,
        object: &Path,
    ) -> Result<Vec<PathBuf>, Error> {
        let rule = object.with_extension("d");
        let mut command = self.command(build);
        command.args(flags).args(["-c", "-MD", "-MF"]).arg(&rule).arg("-o").arg(object).arg(file);
        runner.run(self.name, &mut command, INSTALL)?;
        let text = files::read_text(&rule)?.unwrap_or_default();
        match list_prerequisites(&text) {
            None => Err(Error::file(file, ODD)),
            Some(read) if read.is_empty() => Err(Error::file(&rule, "names no file that was read")),
            Some(read) => Ok(read),
        }
    }
}

/// The flags with which every file of a project is compiled.
fn flags(build: &Build<'_>) -> Vec<OsString> {
    let project = &build.project.folder;
    let mut flags: Vec<OsString> = FLAGS.map(OsString::from).to_vec();
    for folder in [project, &build.project.sdk] {
        flags.extend(["-I".into(), folder.into()]);
    }
    // A failed assertion prints the file as the project names it, and not where it lies on the
    // author's machine.
    flags.push(format!("-fmacro-prefix-map={}/=", project.display()).into());
    let roles = build.project.roles.iter();
    flags.extend(roles.map(|role| format!("-DSYRCH_ROLE_{}", role.name().to_uppercase()).into()));
    flags
}

/// Compiles files one by one, and returns their objects. Sources that include or embed a file from
/// outside of the project are refused by what their compilation has read: an earlier look may see
/// another text.
fn compile_checked(
    build: &Build<'_>,
    runner: &Runner<'_>,
    compiler: &Compiler,
    flags: &[OsString],
    files: &[PathBuf],
) -> Result<Vec<PathBuf>, Error> {
    let folder = build.folder.join("objects");
    std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
    // The compiler's own headers lie beside those of the probe.
    let probe = build.folder.join(PROBE_FILE);
    let own = compiler.compile(build, runner, &[], &probe, &folder.join("probe.o"))?;
    let own: Vec<&Path> = own.iter().filter_map(|header| header.parent()).collect();
    let objects = files.iter().enumerate().map(|(number, file)| {
        let object = folder.join(format!("{number}.o"));
        let read = compiler.compile(build, runner, flags, file, &object)?;
        build.refuse_foreign(read, &own)?;
        Ok::<_, Error>(object)
    });
    // What was read of a foreign file stays nowhere.
    objects.collect::<Result<_, _>>().inspect_err(|_| drop(std::fs::remove_dir_all(&folder)))
}

/// Returns the files after the colon of a rule of make as clang writes it: a backslash stands
/// before a space and a number sign, a dollar is doubled, and a line that goes on ends in a
/// backslash and begins with a space. `None` if a name has other whitespace, control characters or
/// backslashes: where it ends could not be known.
fn list_prerequisites(rule: &str) -> Option<Vec<PathBuf>> {
    let rule = if cfg!(windows) { rule.replace("\r\n", "\n") } else { rule.to_owned() };
    let rest = rule.split_once(": ").map_or("", |(_, rest)| rest);
    let mut found = vec![String::new()];
    let mut letters = rest.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        let last = found.last_mut()?;
        match (letter, next) {
            ('\\', Some('\n')) if last.is_empty() => {
                letters.next();
                letters.next_if_eq(&' ')?;
            }
            ('\n', None) => {}
            (' ', _) => found.push(String::new()),
            ('\\', Some(' ' | '#')) | ('$', Some('$')) => last.extend(letters.next()),
            ('\\', Some(_)) if cfg!(windows) => last.push(letter),
            ('\\' | '$', _) => return None,
            _ if letter.is_control() || letter.is_whitespace() => return None,
            _ => last.push(letter),
        }
    }
    found.retain(|path| !path.is_empty());
    Some(found.into_iter().map(PathBuf::from).collect())
}

/// The bounds within which the compiler works.
fn bounds(build: &Build<'_>, compiler: &Compiler) -> Result<Option<Bounds>, Error> {
    let Some(mut bounds) = build.bounds()? else { return Ok(None) };
    let environment = build.runner.environment;
    bounds = bounds.read_program(environment, &compiler.program);
    // Zig compiles the library of C once for all projects.
    let cache = bounds::find(environment, "ZIG_GLOBAL_CACHE_DIR").map(PathBuf::from);
    let own = bounds::find_folder(environment, "XDG_CACHE_HOME", ".cache", "zig");
    if let Some(cache) = cache.or(own).filter(|_| compiler.name == ZIG)
        && std::fs::create_dir_all(&cache).is_ok()
    {
        bounds = bounds.write(cache);
    }
    Ok(build.probe(bounds, &mut compiler.probe(build)))
}

/// The installed clang, if it can make a module; otherwise Zig's.
fn compiler(build: &Build<'_>) -> Result<Compiler, Error> {
    let probe = build.folder.join(PROBE_FILE);
    std::fs::write(&probe, PROBE).map_err(|error| Error::file(&probe, error))?;
    let clang =
        Compiler { name: "clang", program: "clang".into(), arguments: &["--target=wasm32-wasi"] };
    if build.runner.ask(&mut clang.probe(build)).is_some() {
        return Ok(clang);
    }
    let version = ["python", venv::ISOLATED, "-m", "ziglang", "version"];
    let tool = venv::Tool {
        name: "zig",
        requirements: REQUIREMENTS,
        base: None,
        only_wheels: true,
        probe: &version,
        hint: INSTALL,
    };
    let programs = venv::programs(&build.runner, &build.tools, tool, &build.record);
    let programs =
        programs.map_err(|error| venv::misses(error, "clang with wasi-libc", INSTALL))?;
    Ok(Compiler {
        name: ZIG,
        program: programs.join("python"),
        arguments: &[venv::ISOLATED, "-m", "ziglang", "cc", "-target", "wasm32-wasi"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_rule_are_read_with_their_spaces() {
        let rule = "q\\ x.o: q.c s\\ p/b\\ c.h \\\n  /usr/a$$b.h \\\n  /cd\\#.h\n";
        let paths = ["q.c", "s p/b c.h", "/usr/a$b.h", "/cd#.h"].map(PathBuf::from);
        assert_eq!(list_prerequisites(rule).unwrap(), paths);
        assert!(list_prerequisites("").unwrap().is_empty());
    }

    /// A name that make would read as two, of which each is a file of the project.
    #[cfg(unix)]
    #[test]
    fn a_name_whose_end_cannot_be_known_is_refused() {
        for name in [
            "x\ty/../secret",
            "x\ny/../secret",
            "x\\\ny",
            "\\\ny",
            "\\\n\\ y",
            "x\u{b}y",
            "x\u{2028}y",
            "x\r",
            "x\u{1b}y",
            "x\\y",
            "x\\\\ y",
            "x$y",
        ] {
            for rule in [format!("q.o: q.c {name} z\n"), format!("q.o: q.c {name}\n")] {
                assert_eq!(list_prerequisites(&rule), None, "{rule:?}");
            }
        }
    }

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
