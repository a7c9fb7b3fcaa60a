//! The arrows between the rooms: which crate of ours may depend on which, as `host/README.md` says.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// What `cargo metadata` says of the workspace, as far as it is needed here.
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
    /// None: of the code itself; else `dev` or `build`.
    kind: Option<String>,
}

fn metadata() -> Metadata {
    let mut cargo = Command::new(env!("CARGO"));
    let output = cargo.args(["metadata", "--format-version", "1", "--no-deps"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A crate's room: its folder below the root, with every plugin and every executor in one.
fn room(root: &Path, package: &Package) -> String {
    let folder = package.manifest_path.parent().unwrap().strip_prefix(root).unwrap().to_str().unwrap();
    match folder.split('/').collect::<Vec<_>>().as_slice() {
        ["plugins", ..] => "plugins".into(),
        ["host", "executors", "guard"] => "guard".into(),
        ["host", "executors", ..] => "executors".into(),
        ["host", room, ..] => (*room).into(),
        ["sdk", ..] => "sdk".into(),
        ["tests", "kit"] => "kit".into(),
        ["tests", ..] => "tests".into(),
        [room, ..] => (*room).into(),
        [] => String::new(),
    }
}

/// What each room may import of ours.
fn allowed(room: &str) -> &'static [&'static str] {
    match room {
        "core" | "sdk" => &[],
        "guard" | "schema" | "cache" | "journal" | "search" => &["core"],
        "runtime" | "llm" => &["core", "schema"],
        "executors" => &["core", "guard"],
        "layers" => &["core", "cache", "journal"],
        "scheduler" => &["core", "journal"],
        "grade" => &["core", "scheduler", "journal"],
        "app" => &["core", "runtime", "scheduler", "grade", "layers", "llm", "cache", "executors", "journal", "search"],
        "cli" | "examples" => &["app"],
        "plugins" => &["sdk"],
        "kit" => &[],
        _ => panic!("room `{room}` has no rule: add it here and to host/README.md"),
    }
}

#[test]
fn no_room_imports_what_it_may_not() {
    let metadata = metadata();
    let root = &metadata.workspace_root;
    let ours: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let mut wrong = Vec::new();
    let mut arrows = 0;
    for package in metadata.packages.iter().filter(|package| room(root, package) != "tests") {
        let from = room(root, package);
        for dependency in &package.dependencies {
            // Tests may lean on the kit and on each other's rooms; what ships may not.
            if dependency.kind.as_deref() == Some("dev") || !ours.contains(dependency.name.as_str()) {
                continue;
            }
            let to = metadata.packages.iter().find(|other| other.name.as_str() == dependency.name).unwrap();
            let to = room(root, to);
            arrows += 1;
            if !allowed(&from).contains(&to.as_str()) {
                wrong.push(format!("{} ({from}) imports {} ({to})", package.name, dependency.name));
            }
        }
    }
    assert!(arrows > 10, "the walk saw only {arrows} arrows");
    assert!(wrong.is_empty(), "forbidden imports:\n{}", wrong.join("\n"));
}

/// Rooms that must stay free of the things that they exist without.
#[test]
fn core_does_no_io_and_only_app_names_backends() {
    let metadata = metadata();
    let direct = |name: &str| -> Vec<String> {
        let package = metadata.packages.iter().find(|package| package.name.as_str() == name).unwrap();
        let shipped = package.dependencies.iter().filter(|each| each.kind.is_none());
        shipped.map(|each| each.name.clone()).collect()
    };
    let core = direct("syrch-core");
    for forbidden in ["tokio", "wasmtime", "reqwest", "rusqlite", "cap-std"] {
        assert!(!core.iter().any(|name| name == forbidden), "core imports {forbidden}");
    }
    for (room, forbidden) in [
        ("syrch-scheduler", "wasmtime"),
        ("syrch-llm", "wasmtime"),
        ("syrch-layers", "rusqlite"),
        ("syrch-runtime", "reqwest"),
    ] {
        assert!(!direct(room).iter().any(|name| name == forbidden), "{room} imports {forbidden}");
    }
}
