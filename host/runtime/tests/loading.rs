//! Loading: what is refused, why, and that a compiled plugin in the cache is used only when it is
//! whole.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use syrch_core::Limits;
use syrch_core::roles::Role;
use syrch_kit::{scratch, zoo};
use syrch_runtime::{CompileSettings, LoadError, Origin, Plugin, Runtime, read_component};

fn runtime(folder: Option<&Path>) -> Runtime {
    Runtime::new(Limits::default(), &folder.map(CompileSettings::in_folder).unwrap_or_default())
        .unwrap()
}

async fn load(runtime: &Runtime, bytes: Vec<u8>) -> Result<Plugin, LoadError> {
    runtime.load("test", bytes, Origin::ThirdParty, &|| {}).await
}

async fn load_refusal(runtime: &Runtime, bytes: Vec<u8>) -> LoadError {
    match load(runtime, bytes).await {
        Ok(plugin) => panic!("`{}` was loaded", plugin.identity().name),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_plugin_is_known_by_its_bytes() {
    let bytes = std::fs::read(zoo::hostile()).unwrap();
    let plugin = load(&runtime(None), bytes.clone()).await.unwrap();
    assert_eq!(plugin.digest().len(), 64);
    assert_eq!(plugin.size(), bytes.len() as u64);
    assert_eq!(plugin.identity().name, "hostile");
    assert_eq!(plugin.roles(), Role::ALL);
    assert!(plugin.imports().iter().any(|port| port == "sql"));
}

#[tokio::test]
async fn what_is_no_component_is_distinguished() {
    let runtime = runtime(None);
    for (bytes, word) in [
        (Vec::new(), "empty"),
        (wat::parse_str("(module)").unwrap(), "core WebAssembly module"),
        (b"\x7fELF and so on".to_vec(), "native code"),
        (b"\x00asm\x07".to_vec(), "truncated"),
        (b"PK\x03\x04".to_vec(), "archive"),
        (b"#!/bin/sh".to_vec(), "not WebAssembly"),
    ] {
        let error = load_refusal(&runtime, bytes).await;
        assert!(
            matches!(&error, LoadError::NotAComponent { found } if found.contains(word)),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_component_without_a_role_or_with_an_unknown_import_is_refused() {
    let runtime = runtime(None);
    let none = load_refusal(&runtime, wat::parse_str("(component)").unwrap()).await;
    assert!(matches!(none, LoadError::NoRole { .. }), "{none}");
    let later = r#"(component (instance $i) (export "syrch:plugin/planner@0.2.0" (instance $i)))"#;
    let later = load_refusal(&runtime, wat::parse_str(later).unwrap()).await;
    assert!(
        matches!(&later, LoadError::Version { found, .. } if found.contains("0.2.0")),
        "{later}"
    );
    let exports = r#"(instance $i) (export "syrch:plugin/calibrator@0.1.0" (instance $i)) (export "syrch:plugin/about@0.1.0" (instance $i))"#;
    for (import, word) in [
        (r#"(import "wasi:http/outgoing-handler@0.2.0" (instance))"#, "wasi:http"),
        (r#"(import "wasi:cli/environment@0.3.0" (instance))"#, "wasi:cli"),
        (r#"(import "syrch:plugin/llm@0.1.0" (instance))"#, "may import nothing"),
        (r#"(import "syrch:plugin/shell@0.1.0" (instance))"#, "no such port"),
    ] {
        let error = load_refusal(
            &runtime,
            wat::parse_str(format!("(component {import} {exports})")).unwrap(),
        )
        .await;
        assert!(
            matches!(error, LoadError::Import { .. }) && error.to_string().contains(word),
            "{error}"
        );
    }
    let empty =
        load_refusal(&runtime, wat::parse_str(format!("(component {exports})")).unwrap()).await;
    assert!(matches!(empty, LoadError::About(_) | LoadError::Export { .. }), "{empty}");
}

#[tokio::test]
async fn every_cut_and_many_flips_are_refused_or_load_without_a_panic() {
    let runtime = runtime(None);
    let bytes = std::fs::read(zoo::mute()).unwrap();
    for cut in (0..bytes.len()).step_by(4096) {
        load_refusal(&runtime, bytes[..cut].to_vec()).await;
    }
    // Flips early in the file, where the component's structure lies; those in code would only make
    // another hostile plugin.
    for place in (8..bytes.len().min(2_000)).step_by(37) {
        let mut flipped = bytes.clone();
        flipped[place] ^= 0x15;
        let limits =
            Limits { cpu_per_call: std::time::Duration::from_millis(50), ..Limits::default() };
        let quick = Runtime::new(limits, &CompileSettings::default()).unwrap();
        let _ = load(&quick, flipped).await;
    }
}

#[tokio::test]
async fn a_role_that_is_not_implemented_and_settings_that_do_not_fit_are_refused() {
    let plugin = load(&runtime(None), std::fs::read(zoo::hostile()).unwrap()).await.unwrap();
    fn settings(text: &str) -> serde_json::Map<String, serde_json::Value> {
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).unwrap()
    }
    assert!(plugin.configure(Role::Planner, &settings("{}")).await.is_ok());
    let fitted =
        load(&runtime(None), std::fs::read(zoo::builtin_path("fitted")).unwrap()).await.unwrap();
    let role = fitted.configure(Role::Planner, &settings("{}")).await;
    assert!(matches!(role, Err(LoadError::WrongRole { .. })));
    for wrong in [r#"{"nope": 1}"#, r#"{"behaviour": 7}"#] {
        let config = plugin.configure(Role::Planner, &settings(wrong)).await;
        assert!(matches!(config, Err(LoadError::Config(_))), "{wrong}");
    }
}

/// A folder of compiled code, and how often it was of no use.
struct Compiled {
    folder: tempfile::TempDir,
    count: AtomicUsize,
}

impl Compiled {
    fn new() -> Self {
        Self { folder: scratch(), count: AtomicUsize::new(0) }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("cache/compiled")
    }

    /// Loads a component with a new runtime, and returns whether it was compiled.
    async fn compiles(&self, component: &Path) -> bool {
        let bytes = std::fs::read(component).unwrap();
        let before = self.count.load(Ordering::Relaxed);
        let runtime = runtime(Some(self.folder.path()));
        let plugin = runtime
            .load("test", bytes.clone(), Origin::ThirdParty, &|| {
                self.count.fetch_add(1, Ordering::Relaxed);
            })
            .await
            .unwrap();
        assert_eq!(plugin.size(), bytes.len() as u64);
        assert_eq!(
            plugin.identity().name,
            component.file_stem().unwrap().to_str().unwrap().trim_start_matches("zoo_")
        );
        self.count.load(Ordering::Relaxed) > before
    }

    /// The file of that component, which is the only one when it has just been compiled alone.
    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }
}

#[tokio::test]
async fn a_compiled_plugin_is_used_only_when_it_is_whole() {
    let compiled = Compiled::new();
    assert!(compiled.compiles(&zoo::hostile()).await);
    assert!(!compiled.compiles(&zoo::hostile()).await, "the second start compiled again");
    let file = compiled.files().remove(0);
    let whole = std::fs::read(&file).unwrap();
    for tampered in [Vec::new(), whole[..whole.len() / 2].to_vec(), {
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        flipped
    }] {
        std::fs::write(&file, tampered).unwrap();
        assert!(compiled.compiles(&zoo::hostile()).await, "a damaged file was used");
    }
}

/// The code of one plugin under the name of another, and code that a host with another key wrote.
#[tokio::test]
async fn compiled_code_is_used_for_the_component_and_by_the_host_it_was_written_for() {
    let direct = zoo::builtin_path("direct");
    let fitted = zoo::builtin_path("fitted");
    let compiled = Compiled::new();
    assert!(compiled.compiles(&direct).await);
    let of_direct = compiled.files().remove(0);
    assert!(compiled.compiles(&fitted).await);
    let of_fitted = compiled.files().into_iter().find(|file| *file != of_direct).unwrap();
    std::fs::copy(&of_direct, &of_fitted).unwrap();
    assert!(compiled.compiles(&fitted).await, "the code of another plugin was run");
    let key = compiled.folder.path().join("state/compiled.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::remove_file(&key).unwrap();
    assert!(compiled.compiles(&fitted).await, "code without this host's key was run");
    assert!(!compiled.compiles(&fitted).await);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(compiled.compiles(&fitted).await, "a key that others may read was trusted");
}

#[tokio::test]
async fn links_in_place_of_the_folder_a_file_or_the_key_are_not_followed() {
    let direct = zoo::builtin_path("direct");
    let compiled = Compiled::new();
    assert!(compiled.compiles(&direct).await);
    let away = |path: &Path| {
        let elsewhere = compiled.folder.path().join("elsewhere");
        std::fs::rename(path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, path).unwrap();
        elsewhere
    };
    for path in [
        compiled.files().remove(0),
        compiled.path(),
        compiled.folder.path().join("state/compiled.key"),
    ] {
        let elsewhere = away(&path);
        assert!(compiled.compiles(&direct).await, "{} was followed", path.display());
        if path.is_symlink() {
            std::fs::remove_file(&path).unwrap();
            std::fs::rename(&elsewhere, &path).unwrap();
        } else {
            // A file was written in the link's place.
            std::fs::remove_file(&elsewhere).unwrap();
        }
        assert!(!compiled.compiles(&direct).await, "{}", path.display());
    }
}

#[tokio::test]
async fn the_folder_of_compiled_code_is_pruned_by_age_and_size() {
    let compiled = Compiled::new();
    assert!(compiled.compiles(&zoo::builtin_path("direct")).await);
    let day = Duration::from_secs(24 * 60 * 60);
    for (name, bytes, age) in [
        ("old.cwasm", 10, day * 31),
        ("unfinished.cwasm.7", 10, day),
        ("recent.cwasm", 10, day * 2),
        ("large.cwasm", 1 << 30, day * 3),
    ] {
        let file = std::fs::File::create(compiled.path().join(name)).unwrap();
        file.set_len(bytes).unwrap();
        file.set_modified(std::time::SystemTime::now() - age).unwrap();
    }
    assert!(compiled.compiles(&zoo::builtin_path("fitted")).await);
    let names: Vec<String> = compiled
        .files()
        .iter()
        .map(|file| file.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.contains(&"recent.cwasm".to_owned()), "{names:?}");
}

/// Were it compiled first, the wrong body would be what is reported.
#[tokio::test]
async fn the_contract_is_compared_before_anything_is_compiled() {
    let wrong = "(core module (func (result i32) i64.const 1))";
    let runtime = runtime(None);
    for (exports, is_expected) in [
        ("", (|error| matches!(error, LoadError::NoRole { .. })) as fn(&LoadError) -> bool),
        (r#"(instance $i) (export "syrch:plugin/planner@0.9.0" (instance $i))"#, |error| {
            matches!(error, LoadError::Version { .. })
        }),
    ] {
        // The text format does not check bodies.
        let component = wat::parse_str(format!("(component {wrong} {exports})")).unwrap();
        let error = runtime
            .load("test", component, Origin::ThirdParty, &|| panic!("it was compiled"))
            .await
            .map(drop)
            .unwrap_err();
        assert!(is_expected(&error), "{error}");
    }
}

#[test]
fn only_regular_files_within_the_limit_are_read() {
    let folder = scratch();
    let limits = Limits { component_bytes: 100, ..Limits::default() };
    let folder_error = read_component(folder.path(), &limits).unwrap_err();
    assert!(folder_error.to_string().contains("folder"), "{folder_error}");
    let large = folder.path().join("large.wasm");
    std::fs::write(&large, vec![0; 101]).unwrap();
    assert!(matches!(read_component(&large, &limits), Err(LoadError::TooLarge { .. })));
    let missing = read_component(&folder.path().join("larg.wasm"), &limits).unwrap_err();
    assert!(
        matches!(&missing, LoadError::Missing { similar, .. } if similar.len() == 1),
        "{missing}"
    );
}
