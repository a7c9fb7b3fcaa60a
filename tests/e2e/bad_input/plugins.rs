//! Plugins that are missing, something else, broken, of another contract, in a wrong role, or
//! wrongly set.

use std::fs;
use std::process::Command;

use syrch_kit::zoo;

use super::{Place, assert_refused};

#[test]
fn an_unknown_plugin_is_reported_with_its_neighbours() {
    let place = Place::new();
    fs::copy(zoo::hostile(), place.path().join("search.wasm")).unwrap();
    assert_refused(
        &mut place.search("--planner decompos"),
        13,
        &["`decompos`", "did you mean `decompose`?"],
    );
    assert_refused(&mut place.search("--solver xyzzy"), 13, &["`xyzzy`", "plugin list"]);
    assert_refused(
        &mut place.search("--planner serch.wasm"),
        13,
        &["`serch.wasm`", "search.wasm`?"],
    );
    assert_refused(&mut place.search("--planner no/such.wasm"), 13, &["no/such.wasm", "no file"]);
    assert_refused(&mut place.words("plugin inspect decompos"), 13, &["did you mean `decompose`?"]);
    assert_refused(&mut place.words("plugin inspect serch.wasm"), 13, &["search.wasm`?"]);
}

#[test]
fn files_that_are_no_component_are_reported_by_their_kind() {
    let place = Place::new();
    fs::create_dir(place.path().join("folder.wasm")).unwrap();
    assert!(Command::new("mkfifo").arg(place.path().join("pipe.wasm")).status().unwrap().success());
    place.file("core.wasm", b"\0asm\x01\0\0\0");
    place.file("elf.wasm", [b"\x7fELF\x02\x01\x01\0".as_slice(), &[0; 4096]].concat());
    place.file("empty.wasm", "");
    place.file("text.wasm", "(module)");
    place.file("archive.wasm", "PK\x03\x04");
    // A component without anything in it.
    place.file("hollow.wasm", b"\0asm\x0d\0\x01\0");
    place.file("huge.wasm", vec![0; (64 << 20) + 1]);
    for (name, why) in [
        ("core", "is a core WebAssembly module"),
        ("elf", "is native code"),
        ("empty", "is empty"),
        ("text", "is not WebAssembly"),
        ("archive", "is an archive"),
        ("folder", "it is a folder"),
        ("pipe", "not a regular file"),
        ("hollow", "exports no role"),
        ("huge", "over the limit"),
    ] {
        let name = format!("{name}.wasm");
        assert_refused(&mut place.search(&format!("--planner {name}")), 13, &[&name, why]);
        assert_refused(&mut place.words(&format!("plugin inspect {name}")), 13, &[&name, why]);
    }
}

#[test]
fn a_truncated_component_is_refused_wherever_it_ends() {
    let place = Place::new();
    let whole = fs::read(zoo::hostile()).unwrap();
    let near = [0, 1, 4, 7, 8, 9, 20, 100, 1_000];
    let shares = (1..8).map(|eighth| whole.len() * eighth / 8);
    for end in near.into_iter().chain(shares).chain([whole.len() - 1]) {
        place.file("part.wasm", &whole[..end]);
        let document = assert_refused(&mut place.search("--planner part.wasm"), 13, &["part.wasm"]);
        assert!(
            document["error"]["message"].as_str().unwrap().len() < 2_000,
            "{end} bytes: {document}"
        );
    }
}

#[test]
fn another_version_of_the_contract_is_named_beside_ours() {
    let place = Place::new();
    let whole = fs::read(zoo::hostile()).unwrap();
    for version in ["9.1.0", "0.2.0", "0.1.1"] {
        let mut other = whole.clone();
        let ours = b"@0.1.0";
        let theirs = format!("@{version}");
        let mut places = 0;
        for at in 0..other.len() - ours.len() {
            if other[at..].starts_with(ours) {
                other[at..at + ours.len()].copy_from_slice(theirs.as_bytes());
                places += 1;
            }
        }
        assert!(places > 0, "the component names no version");
        place.file("other.wasm", &other);
        assert_refused(
            &mut place.search("--planner other.wasm"),
            13,
            &["other.wasm", &theirs, "@0.1.0"],
        );
    }
}

#[test]
fn a_plugin_plays_only_its_own_roles() {
    let place = Place::new();
    assert_refused(
        &mut place.search("--planner refine"),
        13,
        &["`refine`", "role planner", "implements solver"],
    );
    assert_refused(
        &mut place.search("--aggregator signals"),
        13,
        &["`signals`", "role aggregator", "implements calibrator"],
    );
}

#[test]
fn wrong_settings_of_a_plugin_are_named() {
    let place = Place::new();
    let message = |words: &str, code: i32, parts: &[&str]| {
        assert_refused(&mut place.search(words), code, parts)
    };
    message("-P solver.nope=1", 10, &["`refine`", "nope", "plugin inspect refine"]);
    message(
        "-P clarifier.threshhold=0.5",
        10,
        &["did you mean `clarifier.threshold`?", "plugin inspect ambiguity"],
    );
    message("-P clarifier.threshold=5", 10, &["`ambiguity`", "threshold", "5"]);
    message("-P clarifier.threshold=high", 10, &["`ambiguity`", "threshold", "number"]);
    message("-P clarifier.threshold=null", 10, &["`ambiguity`", "threshold"]);
    message("-P nope=1", 2, &["`nope`", "linker.notes"]);
    message("-P quite_unknown=1", 2, &["`quite_unknown`", "plugin inspect"]);
    message("-P threshhold=1", 2, &["`threshhold`", "clarifier.threshold"]);
    message("-P solver", 2, &["solver"]);
    message("-P planer.width=1", 2, &["planer"]);
    place.file("own.yml", "plugins:\n  solver: {config: {nope: 1}}\n");
    message("--config own.yml", 10, &["`refine`", "nope"]);
}
