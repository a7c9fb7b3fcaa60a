//! With `SYRCH_REQUIRE_LANGUAGES=1`, by the tools that `tests/languages/install.sh` has installed:
//! new projects, the plugin `conformance`, the examples and the tests of every SDK, and its
//! package.

mod packages;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use syrch_kit::{languages, repository};
use tempfile::TempDir;

use super::{folder, passes, run_command};
use crate::{host, shop};

/// A folder to build in, and the tools of a language.
struct Work {
    folder: TempDir,
    tools: PathBuf,
    /// A folder in the place of Go's module proxy.
    proxy: Option<PathBuf>,
}

impl Work {
    /// `None` where nothing is to be built.
    fn for_language(language: &str) -> Option<Self> {
        Some(Self { tools: languages::tools(language)?, folder: syrch_kit::scratch(), proxy: None })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A program with what it may reuse of earlier builds.
    fn set<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        // The tests' own home has no toolchain of Rust. Cargo sets these for its tests, where it
        // comes from rustup.
        let home = std::env::home_dir().unwrap_or_default();
        for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
            command.env(name, std::env::var_os(name).unwrap_or_else(|| home.join(folder).into()));
        }
        command
            .env("CARGO_TARGET_DIR", self.tools.join("target"))
            .env("GOCACHE", self.tools.join("cache"));
        if let Some(proxy) = &self.proxy {
            // A module that is published nowhere is in no database of checksums either.
            command.env("GOSUMDB", "off").env("GOMODCACHE", self.path().join("modules"));
            return command
                .env("GOPROXY", format!("file://{}", proxy.display()))
                .env("GOTOOLCHAIN", "local")
                .env("GOFLAGS", "-mod=mod -modcacherw");
        }
        command.env("GOPROXY", "off").env("GOTOOLCHAIN", "local").env("GOFLAGS", "-mod=mod")
    }

    /// Runs a program there, which has to succeed.
    fn run(&self, program: impl AsRef<OsStr>, words: &[&str], folder: &Path) {
        let mut command = Command::new(&program);
        let output = self.set(&mut command).args(words).current_dir(folder).output();
        let output =
            output.unwrap_or_else(|error| panic!("{}: {error}", program.as_ref().display()));
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command:?} in {}\n{stdout}\n{stderr}", folder.display());
    }

    /// Builds a project by the tools that are installed.
    fn build(&self, project: &Path, name: &str) -> PathBuf {
        let mut command = host();
        self.set(&mut command)
            .args(["plugin", "build", "--yes", "--tools"])
            .arg(&self.tools)
            .arg(project);
        let built = run_command(&mut command);
        assert_eq!(built.code, 0, "{}: {}", project.display(), built.all());
        project.join(format!("build/{name}.wasm"))
    }

    /// Go as it is installed, if it is new enough, and otherwise that of the tools, as `plugin
    /// build` chooses it.
    fn go(&self) -> PathBuf {
        let installed = self.tools.join("bin/go");
        if installed.exists() { installed } else { "go".into() }
    }
}

/// Runs the tests of a project in the runner of its language.
fn own_tests(work: &Work, language: &str, project: &Path) {
    match language {
        "rust" => work.run("cargo", &["test", "--quiet"], project),
        "python" => {
            let mut command = Command::new("python3");
            command.current_dir(project).env("PYTHONPATH", "sdk").args(["-m", "unittest"]);
            command.args(
                super::names(&project.join("tests"), ".py")
                    .iter()
                    .map(|name| format!("tests/{name}.py")),
            );
            let tested = run_command(&mut command);
            assert_eq!(tested.code, 0, "{}", tested.all());
        }
        // Also links the SDK, which only an editor and the tests need.
        "js" | "ts" => {
            work.run(
                "npm",
                &["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                project,
            );
            work.run("npm", &["test"], project);
        }
        "go" => work.run(work.go(), &["test", "."], project),
        _ => work.run("make", &["test"], project),
    }
}

/// `plugin new`, `plugin build`, `plugin test`, the tests of the language's own runner, and a
/// question that is answered with the plugin.
fn a_new_project_answers(language: &str) {
    let Some(work) = Work::for_language(language) else { return };
    let project = work.path().join("first");
    let mut new = host();
    new.current_dir(work.path())
        .args(["plugin", "new", "first", "--role", "reward", "--lang", language]);
    assert_eq!(run_command(&mut new).code, 0);
    let component = work.build(&project, "first");
    let bytes = fs::read(&component).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    for folder in [work.path(), repository().as_path(), &work.tools] {
        let folder = format!("{}/", folder.display());
        assert!(!text.contains(&folder), "{language}: the component names {folder}");
    }
    let mut again = host();
    let again = run_command(
        work.set(&mut again).args(["plugin", "build", "--tools"]).arg(&work.tools).arg(&project),
    );
    let says_so = again.stderr.contains("nothing has changed since the last build");
    assert_eq!(says_so, ["python", "js", "ts"].contains(&language), "{}", again.all());
    assert_eq!(
        fs::read(&component).unwrap(),
        bytes,
        "{language}: another component of the same sources"
    );
    passes(&component, &project.join("tests"));
    own_tests(&work, language, &project);
    let mut question = host();
    question.args([
        "--llm",
        "offline",
        "--format",
        "json",
        "-q",
        "How many customers are there?",
        "--reward",
    ]);
    question.arg(&component).arg("--db").arg(shop(work.path()));
    let answered = run_command(&mut question).document(0);
    assert_eq!(answered["answer"]["rows"], json!([[4]]), "{answered:#}");
}

/// The plugin `conformance`, built anew, gives what the built one gives.
fn conforms_when_it_is_built(language: &str) {
    let Some(work) = Work::for_language(language) else { return };
    let project = folder().join(language);
    let component = work.build(&project, "conformance");
    passes(&component, &project.join("tests"));
    passes(&component, &folder().join("cases"));
}

/// The four examples give the same in every language.
fn the_examples_behave_alike(language: &str) {
    let Some(work) = Work::for_language(language) else { return };
    let cases = repository().join("sdk/examples-cases");
    for example in ["tables", "vote", "short", "steps"] {
        let component = work.build(
            &repository().join("sdk").join(language).join("examples").join(example),
            example,
        );
        // The cases of one example, in a folder of their own.
        let own = work.path().join(example);
        fs::create_dir(&own).unwrap();
        for file in fs::read_dir(&cases).unwrap().map(|file| file.unwrap()) {
            let name = file.file_name().into_string().unwrap();
            if name.starts_with(&format!("{example}.")) {
                fs::copy(file.path(), own.join(name)).unwrap();
            }
        }
        passes(&component, &own);
    }
}

/// The tests of the SDK itself, in the runner of its language. Those of Rust are in the workspace.
fn the_sdk_is_tested(language: &str) {
    let Some(work) = Work::for_language(language) else { return };
    let sdk = repository().join("sdk").join(language);
    let examples =
        ["tables", "vote", "short", "steps"].map(|example| sdk.join("examples").join(example));
    match language {
        "python" => {
            work.run(
                "python3",
                &[
                    "-m",
                    "unittest",
                    "discover",
                    "--start-directory",
                    "tests",
                    "--top-level-directory",
                    ".",
                ],
                &sdk,
            );
            for example in examples {
                let mut command = Command::new("python3");
                command.current_dir(example).env("PYTHONPATH", &sdk).args(["-m", "unittest"]);
                let tested = run_command(&mut command);
                assert_eq!(tested.code, 0, "{}", tested.all());
            }
        }
        "js" => {
            work.run("npm", &["test"], &sdk);
            let modules = work.tools.join("node_modules");
            work.run("node", &["tests/quickjs.mjs", modules.to_str().unwrap()], &sdk);
        }
        "go" => {
            work.run(work.go(), &["vet", "./..."], &sdk);
            work.run(work.go(), &["test", "./..."], &sdk);
            for example in examples {
                work.run(work.go(), &["test", "."], &example);
            }
        }
        _ => {
            let out = format!("OUT={}", work.path().display());
            work.run("make", &["-C", "tests", &out], &sdk);
        }
    }
}

mod rust {
    #[test]
    fn a_new_project_answers() {
        super::a_new_project_answers("rust");
    }

    #[test]
    fn conformance_is_built() {
        super::conforms_when_it_is_built("rust");
    }

    #[test]
    fn the_examples_behave_alike() {
        super::the_examples_behave_alike("rust");
    }
}

mod python {
    #[test]
    fn a_new_project_answers() {
        super::a_new_project_answers("python");
    }

    #[test]
    fn conformance_is_built() {
        super::conforms_when_it_is_built("python");
    }

    #[test]
    fn the_examples_behave_alike() {
        super::the_examples_behave_alike("python");
    }

    #[test]
    fn the_sdk_is_tested() {
        super::the_sdk_is_tested("python");
    }
}

mod js {
    use std::fs;
    use std::path::Path;

    use serde_json::Value;
    use syrch_kit::repository;

    use super::packages;
    use crate::languages::{folder, passes};

    #[test]
    fn a_new_project_answers() {
        super::a_new_project_answers("js");
    }

    #[test]
    fn a_new_project_in_typescript_answers() {
        super::a_new_project_answers("ts");
    }

    #[test]
    fn conformance_is_built() {
        super::conforms_when_it_is_built("js");
    }

    /// The same sources by the other engine, whose tools the build installs. It passes the table;
    /// what it says of its own exceptions is another text.
    #[test]
    fn conformance_is_built_with_starlingmonkey() {
        let Some(work) = super::Work::for_language("starlingmonkey") else { return };
        let project = work.path().join("conformance");
        packages::copy(&folder().join("js"), &project);
        let read = |path: &Path| serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap();
        let mut manifest = read(&project.join("package.json"));
        manifest["devDependencies"] = read(&folder().join("starlingmonkey.json"));
        fs::write(project.join("package.json"), manifest.to_string()).unwrap();
        packages::copy(&repository().join("sdk/js"), &work.path().join("sdk"));
        packages::replace(&project.join("plugin.yml"), "../../../sdk/js", "../sdk");
        passes(&work.build(&project, "conformance"), &folder().join("cases"));
    }

    #[test]
    fn the_examples_behave_alike() {
        super::the_examples_behave_alike("js");
    }

    #[test]
    fn the_sdk_is_tested() {
        super::the_sdk_is_tested("js");
    }
}

mod go {
    #[test]
    fn a_new_project_answers() {
        super::a_new_project_answers("go");
    }

    #[test]
    fn conformance_is_built() {
        super::conforms_when_it_is_built("go");
    }

    #[test]
    fn the_examples_behave_alike() {
        super::the_examples_behave_alike("go");
    }

    #[test]
    fn the_sdk_is_tested() {
        super::the_sdk_is_tested("go");
    }
}

mod c {
    #[test]
    fn a_new_project_answers() {
        super::a_new_project_answers("c");
    }

    #[test]
    fn conformance_is_built() {
        super::conforms_when_it_is_built("c");
    }

    #[test]
    fn the_examples_behave_alike() {
        super::the_examples_behave_alike("c");
    }

    #[test]
    fn the_sdk_is_tested() {
        super::the_sdk_is_tested("c");
    }
}
