//! Loading: what is refused, why, and that a compiled plugin in the cache is used only when it is whole.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use syrch_core::Limits;
use syrch_core::roles::Role;
use syrch_kit::{scratch, zoo};
use syrch_runtime::{LoadError, Plugin, Runtime, read_component};

fn runtime(cache: Option<&Path>) -> Runtime {
    Runtime::new(Limits::default(), cache).unwrap()
}

async fn load(runtime: &Runtime, bytes: Vec<u8>) -> Result<Plugin, LoadError> {
    runtime.load("test", bytes, &|| {}).await
}

async fn refused(runtime: &Runtime, bytes: Vec<u8>) -> LoadError {
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
    assert_eq!(
        plugin.roles(),
        [Role::Linker, Role::Planner, Role::Solver, Role::Calibrator, Role::Reward, Role::Aggregator]
    );
    assert!(plugin.imports().iter().any(|port| port == "sql"));
}

#[tokio::test]
async fn what_is_no_component_is_told_apart() {
    let runtime = runtime(None);
    for (bytes, word) in [
        (Vec::new(), "empty"),
        (wat::parse_str("(module)").unwrap(), "core WebAssembly module"),
        (b"\x7fELF and so on".to_vec(), "native code"),
        (b"\x00asm\x07".to_vec(), "truncated"),
        (b"PK\x03\x04".to_vec(), "archive"),
        (b"#!/bin/sh".to_vec(), "not WebAssembly"),
    ] {
        let error = refused(&runtime, bytes).await;
        assert!(matches!(&error, LoadError::NotAComponent { found } if found.contains(word)), "{error}");
    }
}

#[tokio::test]
async fn a_component_without_a_role_or_with_a_stranger_for_an_import_is_refused() {
    let runtime = runtime(None);
    let none = refused(&runtime, wat::parse_str("(component)").unwrap()).await;
    assert!(matches!(none, LoadError::NoRole { .. }), "{none}");
    let later = r#"(component (instance $i) (export "syrch:plugin/planner@0.2.0" (instance $i)))"#;
    let later = refused(&runtime, wat::parse_str(later).unwrap()).await;
    assert!(matches!(&later, LoadError::Version { found, .. } if found.contains("0.2.0")), "{later}");
    let exports = r#"(instance $i) (export "syrch:plugin/calibrator@0.1.0" (instance $i)) (export "syrch:plugin/about@0.1.0" (instance $i))"#;
    for (import, word) in [
        (r#"(import "wasi:http/outgoing-handler@0.2.0" (instance))"#, "wasi:http"),
        (r#"(import "wasi:cli/environment@0.3.0" (instance))"#, "wasi:cli"),
        (r#"(import "syrch:plugin/llm@0.1.0" (instance))"#, "may import nothing"),
        (r#"(import "syrch:plugin/shell@0.1.0" (instance))"#, "no such port"),
    ] {
        let error = refused(&runtime, wat::parse_str(format!("(component {import} {exports})")).unwrap()).await;
        assert!(matches!(error, LoadError::Import { .. }) && error.to_string().contains(word), "{error}");
    }
    let empty = refused(&runtime, wat::parse_str(format!("(component {exports})")).unwrap()).await;
    assert!(matches!(empty, LoadError::About(_) | LoadError::Export { .. }), "{empty}");
}

#[tokio::test]
async fn every_cut_and_many_flips_are_refused_or_load_without_a_panic() {
    let runtime = runtime(None);
    let bytes = std::fs::read(zoo::mute()).unwrap();
    for cut in (0..bytes.len()).step_by(4096) {
        refused(&runtime, bytes[..cut].to_vec()).await;
    }
    // Flips early in the file, where the component's structure lies; those in code would only make another hostile plugin.
    for place in (8..bytes.len().min(2_000)).step_by(37) {
        let mut flipped = bytes.clone();
        flipped[place] ^= 0x15;
        let limits = Limits { cpu_per_call: std::time::Duration::from_millis(50), ..Limits::default() };
        let quick = Runtime::new(limits, None).unwrap();
        let _ = load(&quick, flipped).await;
    }
}

#[tokio::test]
async fn a_role_that_is_not_played_and_settings_that_do_not_fit_are_refused() {
    let plugin = load(&runtime(None), std::fs::read(zoo::hostile()).unwrap()).await.unwrap();
    let settings = |text: &str| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).unwrap();
    assert!(plugin.configure(Role::Planner, &settings("{}")).await.is_ok());
    let role = plugin.configure(Role::Clarifier, &settings("{}")).await;
    assert!(matches!(role, Err(LoadError::WrongRole { .. })));
    for wrong in [r#"{"nope": 1}"#, r#"{"habit": 7}"#] {
        let config = plugin.configure(Role::Planner, &settings(wrong)).await;
        assert!(matches!(config, Err(LoadError::Config(_))), "{wrong}");
    }
}

#[tokio::test]
async fn a_compiled_plugin_is_used_only_when_it_is_whole() {
    let folder = scratch();
    let bytes = std::fs::read(zoo::hostile()).unwrap();
    let compiled = AtomicUsize::new(0);
    let load = || async {
        let runtime = runtime(Some(folder.path()));
        let count = || {
            compiled.fetch_add(1, Ordering::Relaxed);
        };
        runtime.load("test", bytes.clone(), &count).await.unwrap().identity().name.clone()
    };
    assert_eq!(load().await, "hostile");
    assert_eq!(load().await, "hostile");
    assert_eq!(compiled.load(Ordering::Relaxed), 1, "the second start compiled again");
    let file = std::fs::read_dir(folder.path().join("compiled")).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read(&file).unwrap();
    for tampered in [Vec::new(), whole[..whole.len() / 2].to_vec(), {
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        flipped
    }] {
        std::fs::write(&file, tampered).unwrap();
        let before = compiled.load(Ordering::Relaxed);
        assert_eq!(load().await, "hostile");
        assert_eq!(compiled.load(Ordering::Relaxed), before + 1, "a damaged file was used");
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
    assert!(matches!(&missing, LoadError::Missing { similar, .. } if similar.len() == 1), "{missing}");
}
