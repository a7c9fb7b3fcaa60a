//! Packs the contract, the templates and the sources of the SDKs, so that the binary alone can
//! write a project.
//!
//! The pack is a list of files, sorted by path: the length of the path and of the content as `u32`
//! in little endian, the path, the content. All of it is compressed once.
// A build script gets everything through the environment.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Folders of the repository, each with its folder in the pack.
const FOLDERS: [(&str, &str); 9] = [
    ("wit", "wit"),
    ("sdk/templates", "templates"),
    ("sdk/python", "sdk/python"),
    ("sdk/js", "sdk/js"),
    ("sdk/go", "sdk/go"),
    ("sdk/c", "sdk/c"),
    ("sdk/rust/src", "sdk/rust/rust/src"),
    ("wit", "sdk/rust/rust/wit"),
    ("host/basics/src", "sdk/rust/basics/src"),
];
/// The manifests of the Rust crates that a project needs. Here they inherit from the workspace.
const MANIFESTS: [(&str, &str); 2] = [
    ("sdk/rust/Cargo.toml", "sdk/rust/rust/Cargo.toml"),
    ("host/basics/Cargo.toml", "sdk/rust/basics/Cargo.toml"),
];
/// The licences of the Rust crates, which stand beside their manifests.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
/// The files that are left out of the SDKs: those that are made, and those that only the SDK's own
/// authors need. A template has tests that belong to a project.
const LEFT_OUT: [&str; 10] = [
    "tests",
    "test",
    "examples",
    "node_modules",
    "__pycache__",
    "target",
    "build",
    "dist",
    "venv",
    "vectors",
];
/// The best that Zstandard can do: it is packed once.
const LEVEL: i32 = 19;

fn main() -> Outcome {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    let mut files = BTreeMap::new();
    for (folder, packed) in FOLDERS {
        for watched in collect(&root.join(folder), packed, folder == "sdk/templates", &mut files)? {
            println!("cargo::rerun-if-changed={}", watched.display());
        }
    }
    println!("cargo::rerun-if-changed={}", root.join("Cargo.toml").display());
    let workspace: Table = std::fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    for (manifest, packed) in MANIFESTS {
        let path = root.join(manifest);
        println!("cargo::rerun-if-changed={}", path.display());
        let manifest: Table = std::fs::read_to_string(&path)?.parse()?;
        files.insert(packed.to_owned(), standalone(&manifest, &workspace)?.into_bytes());
        for licence in LICENCES {
            let from = path.with_file_name(licence);
            let to = Path::new(packed).with_file_name(licence);
            files.insert(
                to.to_str().ok_or("the name of a file is not UTF-8")?.to_owned(),
                std::fs::read(from)?,
            );
        }
    }
    let mut pack = Vec::new();
    for (path, content) in &files {
        for length in [path.len(), content.len()] {
            pack.extend_from_slice(&u32::try_from(length)?.to_le_bytes());
        }
        pack.extend_from_slice(path.as_bytes());
        pack.extend_from_slice(content);
    }
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("pack.zst"), zstd::encode_all(pack.as_slice(), LEVEL)?)?;
    Ok(())
}

/// Adds the files of a folder and of those below it. Returns what has to be watched: the folder,
/// or what is packed of it where something is left out. Cargo looks at all that is below a folder,
/// and what tests build in an SDK is no change of it.
fn collect(
    folder: &Path,
    packed: &str,
    is_template: bool,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Outcome<Vec<PathBuf>> {
    let mut watched = Vec::new();
    let mut is_whole = true;
    for entry in
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?
    {
        let entry = entry?;
        let name =
            entry.file_name().into_string().map_err(|_| "the name of a file is not UTF-8")?;
        let path = entry.path();
        let packed = format!("{packed}/{name}");
        let is_test = name == "tests" && is_template;
        if name.starts_with('.') || (LEFT_OUT.contains(&name.as_str()) && !is_test) {
            is_whole = false;
            continue;
        }
        if entry.file_type()?.is_dir() {
            let below = collect(&path, &packed, is_template, files)?;
            is_whole &= below == [path];
            watched.extend(below);
        } else if is_template || is_source(&name) {
            files.insert(packed, std::fs::read(&path)?);
            watched.push(path);
        }
    }
    Ok(if is_whole { vec![folder.to_owned()] } else { watched })
}

/// Returns true if a file of an SDK is neither made nor of its own tests.
fn is_source(name: &str) -> bool {
    !(name.ends_with(".pyc")
        || name.ends_with("_test.go")
        || name.contains(".test.")
        || name.starts_with("test_"))
}

/// A manifest with the workspace's values in the place of what it inherits; the other crate stands
/// beside it. Lints and the dependencies of tests stay here.
fn standalone(manifest: &Table, workspace: &Table) -> Outcome<String> {
    let workspace =
        workspace.get("workspace").and_then(Value::as_table).ok_or("the workspace has no table")?;
    let of_workspace =
        |table: &str, key: &str| workspace.get(table).and_then(|table| table.get(key)).cloned();
    let inherits =
        |value: &Value| value.get("workspace").and_then(Value::as_bool).unwrap_or_default();
    let mut alone = Table::new();
    for (section, value) in manifest {
        let Some(table) = value.as_table() else { continue };
        let from = match section.as_str() {
            "lints" | "dev-dependencies" => continue,
            "package" => "package",
            _ => section,
        };
        let mut made = Table::new();
        for (key, value) in table {
            let mut value = match inherits(value) {
                true => of_workspace(from, key)
                    .ok_or_else(|| format!("the workspace has no `{key}` in `{from}`"))?,
                false => value.clone(),
            };
            if let Some(path) = value.get_mut("path") {
                let name =
                    path.as_str().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
                *path = Value::String(format!("../{name}"));
            }
            made.insert(key.clone(), value);
        }
        alone.insert(section.clone(), Value::Table(made));
    }
    Ok(alone.to_string())
}
