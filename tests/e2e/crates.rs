//! Which crate of ours may depend on which, as `host/README.md` says, and what only some of them
//! may contain.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// The output of `cargo metadata` on the workspace, as far as it is needed here.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_root: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `None` for a dependency of the code itself; otherwise `dev` or `build`.
    kind: Option<String>,
}

fn metadata() -> Metadata {
    let mut cargo = Command::new(env!("CARGO"));
    let output = cargo.args(["metadata", "--format-version", "1", "--no-deps"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The group of a crate: its folder below the root, with every plugin and every executor in one.
fn group(root: &Path, package: &Package) -> String {
    let folder =
        package.manifest_path.parent().unwrap().strip_prefix(root).unwrap().to_str().unwrap();
    match folder.split('/').collect::<Vec<_>>().as_slice() {
        ["plugins", ..] => "plugins".into(),
        ["host", "executors", "guard"] => "guard".into(),
        ["host", "executors", "sqlite-copies"] => "copies".into(),
        ["host", "executors", "tabular"] => "tabular".into(),
        ["host", "executors", ..] => "executors".into(),
        ["host", group, ..] => (*group).into(),
        ["sdk", ..] => "sdk".into(),
        ["tests", "kit"] => "kit".into(),
        ["tests", ..] => "tests".into(),
        [group, ..] => (*group).into(),
        [] => String::new(),
    }
}

/// Returns the groups of crates that a group may import.
fn dependencies_of(group: &str) -> &'static [&'static str] {
    match group {
        "basics" | "flows" | "memory" | "words" | "files" | "http" | "spans" | "yaml" => &[],
        "core" | "sdk" => &["basics"],
        "guard" => &["core"],
        "optimize" => &["core", "basics"],
        "schema" => &["core", "memory"],
        "cache" | "journal" => &["core", "files"],
        "retrieval" => &["core", "words"],
        "semantics" => &["core", "words", "yaml"],
        "runtime" => &["core", "schema", "files"],
        "replies" => &["core", "schema"],
        "llm" => &["core", "http", "replies"],
        "simulated" => &["core", "basics", "memory", "replies"],
        "offline" => &["core", "replies", "semantics", "words"],
        // The crate that engines share whose results are in Arrow is one of them.
        "executors" => &["core", "files", "guard", "executors", "http"],
        "copies" => &["core", "guard", "executors"],
        "tabular" => &["core", "files", "executors"],
        "layers" => &["core", "cache", "files", "journal", "words"],
        "scheduler" => &["core", "journal"],
        "suites" | "report" => &["core"],
        "grade" => &["core", "basics", "files", "scheduler", "journal", "report", "suites"],
        "app" => &[
            "core",
            "runtime",
            "scheduler",
            "suites",
            "layers",
            "llm",
            "offline",
            "simulated",
            "cache",
            "files",
            "flows",
            "memory",
            "executors",
            "copies",
            "tabular",
            "journal",
            "retrieval",
            "semantics",
            "spans",
            "words",
            "yaml",
        ],
        "grading" => &["app", "core", "files", "grade", "journal", "memory"],
        "optimizing" => &["app", "core", "files", "journal", "optimize", "suites"],
        "cases" => &["app", "core", "journal", "replies"],
        "cli" => {
            &["app", "cases", "grading", "mcp", "optimizing", "otlp", "projects", "report", "serve"]
        }
        "serve" => &["app", "grade", "journal", "mcp"],
        "python" => &["app", "grading", "replies"],
        "mcp" => &["app"],
        "otlp" => &["http", "spans"],
        "projects" => &["app", "http"],
        "examples" => &["app", "basics"],
        "plugins" => &["sdk", "flows"],
        "kit" => &[],
        _ => panic!("group `{group}` has no rule: add it here and to host/README.md"),
    }
}

#[test]
fn no_crate_imports_what_it_may_not() {
    let metadata = metadata();
    let root = &metadata.workspace_root;
    let ours: BTreeSet<&str> =
        metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let mut wrong = Vec::new();
    let mut edges = 0;
    for package in metadata.packages.iter().filter(|package| group(root, package) != "tests") {
        let from = group(root, package);
        for dependency in &package.dependencies {
            // Tests may lean on the kit and on each other's crates; what ships may not.
            if dependency.kind.as_deref() == Some("dev") || !ours.contains(dependency.name.as_str())
            {
                continue;
            }
            let to = metadata
                .packages
                .iter()
                .find(|other| other.name.as_str() == dependency.name)
                .unwrap();
            let to = group(root, to);
            edges += 1;
            if !dependencies_of(&from).contains(&to.as_str()) {
                wrong.push(format!("{} ({from}) imports {} ({to})", package.name, dependency.name));
            }
        }
    }
    assert!(edges > 10, "the walk saw only {edges} dependencies");
    assert!(wrong.is_empty(), "forbidden imports:\n{}", wrong.join("\n"));
}

/// Crates that must stay free of the things that they exist without.
#[test]
fn core_does_no_io_and_only_app_names_backends() {
    let metadata = metadata();
    fn direct(metadata: &Metadata, name: &str) -> Vec<String> {
        let package =
            metadata.packages.iter().find(|package| package.name.as_str() == name).unwrap();
        let shipped = package.dependencies.iter().filter(|each| each.kind.is_none());
        shipped.map(|each| each.name.clone()).collect()
    }
    let core = direct(&metadata, "syrch-core");
    for forbidden in ["tokio", "wasmtime", "reqwest", "rusqlite", "cap-std"] {
        assert!(!core.iter().any(|name| name == forbidden), "core imports {forbidden}");
    }
    for (group, forbidden) in [
        ("syrch-scheduler", "wasmtime"),
        ("syrch-optimize", "tokio"),
        ("syrch-llm", "wasmtime"),
        ("syrch-offline", "reqwest"),
        ("syrch-simulated", "reqwest"),
        ("syrch-replies", "reqwest"),
        ("syrch-layers", "rusqlite"),
        ("syrch-runtime", "reqwest"),
    ] {
        assert!(
            !direct(&metadata, group).iter().any(|name| name == forbidden),
            "{group} imports {forbidden}"
        );
    }
}

/// The lines of `cargo tree`, each crate once.
fn tree(folder: &Path, words: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--prefix", "none"]).args(words.split(' ')).current_dir(folder);
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let crates = tree.lines().map(|line| line.trim_end_matches(" (*)"));
    crates.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// `make demo` gives each crate the features that `make test` gives it, so that the tests use what
/// the demo has compiled.
#[test]
fn the_tests_use_what_the_demo_has_compiled() {
    let root = syrch_kit::repository();
    let makefile = std::fs::read_to_string(root.join("Makefile")).unwrap();
    let command = makefile.split_once("\nhost: target\n").unwrap().1.lines().next().unwrap();
    let packages = command.split_once("build ").unwrap().1.split_once(" --bin").unwrap().0;
    let demo = tree(&root, &format!("{packages} -e normal,build -f {{p}}|{{f}}"));
    let tests = tree(&root, "--workspace -e normal,build,dev -f {p}|{f}");
    assert!(demo.len() > 300, "{} crates", demo.len());
    let differ: Vec<_> = demo.difference(&tests).collect();
    assert!(differ.is_empty(), "the features of the tests are others: {differ:#?}");
}

/// A program that embeds the library for SQLite alone compiles no other engine, no network and no
/// statistics. `docs/library.md` has the number.
#[test]
fn the_library_with_sqlite_alone_stands_on_few_crates() {
    // Features are those of the package in whose folder cargo is called.
    let folder = syrch_kit::repository().join("host/app");
    let crates = tree(&folder, "-p syrch --no-default-features --features sqlite -e normal");
    assert!((200..295).contains(&crates.len()), "{} crates", crates.len());
    for absent in ["parquet", "postgres", "reqwest", "syrch-grade", "tonic"] {
        let found: Vec<_> = crates.iter().filter(|name| name.starts_with(absent)).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}

/// Ports and backends are decorated in `layers` alone, where their order stands: an implementation
/// elsewhere is the thing itself.
#[test]
fn only_layers_decorate_ports() {
    let root = metadata().workspace_root;
    let mut found = 0;
    let mut folders = vec![root.join("host")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let is_test = path.components().any(|part| part.as_os_str() == "tests")
                    || path.ends_with("tests.rs");
                let decorates = !is_test
                    && text.lines().any(|line: &str| {
                        line.starts_with("impl ModelLayer for")
                            || line.starts_with("impl LlmPort for")
                            || line.starts_with("impl SqlPort for")
                    });
                found += u32::from(decorates);
                assert!(
                    !decorates || path.starts_with(root.join("host/layers")),
                    "{} decorates a port",
                    path.display()
                );
            }
        }
    }
    assert!(found > 8, "only {found} files decorate a port");
}

/// The table of engines is the one place outside of the executors that knows what a database is.
#[test]
fn only_the_table_of_engines_names_one() {
    let root = metadata().workspace_root;
    let mut wrong = Vec::new();
    let mut seen = 0;
    let mut folders = ["app", "grading", "optimizing", "cli"]
        .map(|name| root.join("host").join(name).join("src"))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_test = path.components().any(|part| part.as_os_str() == "tests")
                || path.ends_with("tests.rs");
            // The entries of the table have a file each.
            let is_table = ["executors.rs", "executors"];
            if is_test
                || is_table.iter().any(|name| path.ends_with(Path::new("app/src").join(name)))
            {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            // Examples of files in help, in comments and in the tests at a file's end are examples.
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let engines = [
                "syrch_sqlite",
                "\"sqlite",
                "SQLite file",
                "syrch_postgres",
                "\"postgres",
                "PGPASSWORD",
                "PostgreSQL",
                "syrch_adbc",
                "\"duckdb",
                "syrch_databricks",
                "\"databricks",
                "syrch_spark",
                "\"spark",
            ];
            let names = |line: &str| engines.iter().any(|engine| line.contains(engine));
            let lines =
                code.lines().filter(|line| !line.trim_start().starts_with("//") && names(line));
            wrong.extend(lines.map(|line| format!("{}: {}", path.display(), line.trim())));
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} files were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The text of a query reaches an engine by one way: the database that engines in Arrow share
/// admits it once, and SQLite's authorizer decides on what the guard composes.
#[test]
fn queries_reach_engines_through_the_guard_alone() {
    let executors = metadata().workspace_root.join("host/executors");
    let mut folders = vec![executors.clone()];
    let mut guards = BTreeSet::new();
    let mut admits = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&executors).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && !["guard", "tests"].iter().any(|end| path.ends_with(end)) {
                folders.push(path);
            } else if name.ends_with(".rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
                if code.contains("Guard::new(") {
                    guards.insert(name.clone());
                }
                if code.contains("guard.admit(") || code.contains("snapshot.admit(") {
                    admits.insert(name.clone());
                }
                for call in ["admission::admit", "guard::admit("] {
                    assert!(!code.contains(call), "{name} calls {call}");
                }
            }
        }
    }
    let sqlite = ["sqlite/src/bench/mod.rs", "sqlite/src/cells/mod.rs", "sqlite/src/database.rs"];
    let expected = sqlite.into_iter().chain(["arrow/src/database.rs"]).map(str::to_owned);
    assert_eq!(guards, expected.collect());
    // The bench of the optimizer has a session of its own, and admits what it is to measure.
    let expected = ["arrow/src/database.rs", "postgres/src/bench/mod.rs"].map(str::to_owned);
    assert_eq!(admits, expected.into());
    let text = std::fs::read_to_string(executors.join("arrow/src/database.rs")).unwrap();
    for call in ["snapshot.admit(", "engine.prepare(", "engine.explain(", "engine.execute("] {
        assert_eq!(text.matches(call).count(), 1, "{call}");
    }
    assert_eq!(text.matches("self.admit_then(").count(), 3);
}

/// A tag of an action can be moved to another commit, a digest cannot.
#[test]
fn the_workflows_name_actions_by_digests() {
    let folder = syrch_kit::repository().join(".github/workflows");
    let mut actions = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let used = text.lines().filter_map(|line| line.split_once("uses: "));
        // A workflow of this repository is of the same commit.
        for action in used.filter(|(_, action)| !action.starts_with("./")) {
            let digest = action.1.split_once('@').and_then(|(_, rest)| rest.split(' ').next());
            let is_digest = digest.is_some_and(|digest| {
                digest.len() == 40 && digest.chars().all(|c| c.is_ascii_hexdigit())
            });
            assert!(is_digest, "{}: {} is no digest of 40 digits", path.display(), action.1);
            actions += 1;
        }
    }
    assert!(actions > 0, "no workflow uses an action");
}
