//! The scripts that complete commands and flags in shells, the manual pages, and the versions.

use std::process::Command;

use crate::bad_input::{Place, finish, read_streams};

/// The commands that the help names.
fn commands(place: &Place) -> Vec<String> {
    let (help, _) = read_streams(&finish(&mut place.words("--help"), ""));
    let section = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = section.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<String> =
        names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect();
    assert!(names.len() > 5 && names.contains(&"doctor".to_owned()), "{names:?}");
    names
}

#[test]
fn every_shell_has_a_script_with_all_commands() {
    let place = Place::new();
    let commands = commands(&place);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = finish(&mut place.words(&format!("completions {shell}")), "");
        let (script, stderr) = read_streams(&output);
        assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{shell}");
        for word in commands.iter().map(String::as_str).chain(["max-depth", "log-format"]) {
            assert!(script.contains(word), "{shell}: no `{word}`");
        }
    }
    let wrong = finish(&mut place.words("completions tcsh"), "");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(read_streams(&wrong).1.contains("bash"), "{}", read_streams(&wrong).1);
}

/// The shell itself reads the script and completes with it.
#[test]
fn bash_completes_with_its_script() {
    if !syrch_kit::has_program("bash", "install the package `bash`") {
        return;
    }
    let place = Place::new();
    // A broken configuration is no reason not to complete.
    place.file("home/.syrch/config.yml", "llm: [");
    let output = finish(&mut place.words("completions bash -o script"), "");
    assert_eq!(output.status.code(), Some(0), "{}", read_streams(&output).1);
    let completed = |words: &str, count: usize| {
        let program = format!(
            "set -e; source ./script; COMP_WORDS=({words}); COMP_CWORD={count}; \
             f=$(complete -p syrch-host | sed 's/.*-F \\([^ ]*\\).*/\\1/'); $f syrch-host \
             \"${{COMP_WORDS[$COMP_CWORD]}}\" \"${{COMP_WORDS[$COMP_CWORD-1]}}\"; echo \
             \"${{COMPREPLY[@]}}\""
        );
        let output =
            finish(Command::new("bash").args(["-c", &program]).current_dir(place.path()), "");
        assert!(output.status.success(), "{}", read_streams(&output).1);
        read_streams(&output).0.trim().to_owned()
    };
    assert!(
        finish(Command::new("bash").args(["-n", "script"]).current_dir(place.path()), "")
            .status
            .success()
    );
    assert_eq!(completed("syrch-host doc", 1), "doctor");
    assert_eq!(completed("syrch-host doctor --max-dep", 2), "--max-depth");
    assert_eq!(completed("syrch-host --log-format js", 2), "json");
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    // A broken configuration is no reason for no manual.
    place.file("home/.syrch/config.yml", "llm: [");
    let output = finish(&mut place.words("man pages/man1"), "");
    assert_eq!(output.status.code(), Some(0), "{}", read_streams(&output).1);
    let folder = place.path().join("pages/man1");
    for command in commands(&place).iter().filter(|command| *command != "help") {
        let page = folder.join(format!("syrch-host-{command}.1"));
        let text =
            std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{page:?}: {error}"));
        assert!(text.contains(".SH SYNOPSIS"), "{text:.400}");
    }
    let first = std::fs::read_to_string(folder.join("syrch-host.1")).unwrap();
    assert!(first.starts_with(".ie") && first.contains("read\\-only"), "{first:.400}");
    place.file("occupied", "");
    assert_eq!(finish(&mut place.words("man occupied"), "").status.code(), Some(10));
}

#[test]
fn the_version_names_engine_and_contract() {
    let place = Place::new();
    let (short, _) = read_streams(&finish(&mut place.words("-V"), ""));
    assert_eq!(short, format!("syrch-host {}\n", env!("CARGO_PKG_VERSION")));
    let (long, _) = read_streams(&finish(&mut place.words("--version"), ""));
    let lines: Vec<&str> = long.lines().collect();
    let starts = [short.trim(), "commit: ", "engine: wasmtime 4", "contract: 0."];
    assert_eq!(lines.len(), starts.len(), "{long}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{long}");
    }
}
