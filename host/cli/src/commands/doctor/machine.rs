//! The machine: the version of this program, the Rust toolchain for plugins, and the terminal.

use std::io::IsTerminal;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use syrch::plugins::{CompileSettings, WorkerProcess};
use syrch::syrch_core::{CONTRACT_VERSION, Limits};

use super::Check;
use crate::environment::Environment;
use crate::version::{self, PROGRAM, WASMTIME};

/// The target that plugins are compiled for.
const TARGET: &str = "wasm32-wasip2";
/// The time that the compiler may take to print its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// Reports the versions that this program is made of.
pub(super) fn host() -> Check {
    let commit = version::commit().map(|commit| format!(", commit {commit}")).unwrap_or_default();
    let os = std::env::consts::OS;
    let arch = std::env::consts::ARCH;
    let made_of = format!("contract {CONTRACT_VERSION}, wasmtime {WASMTIME}");
    Check::ok("host", format!("syrch-host {PROGRAM}{commit}, {made_of}, {os} {arch}"))
}

/// Reports how third-party plugins are compiled.
pub(super) fn compiler(compile: &CompileSettings) -> Check {
    let Limits { compile_cpu, compile_memory, compile: time, .. } = Limits::default();
    let time = time.as_secs();
    Check::ok(
        "compiler",
        match &compile.process {
            Some(_) => format!(
                "third-party plugins are checked, then compiled in a process of their own: at most \
                 {} MB and {} CPU-seconds",
                compile_memory / 1_000_000,
                compile_cpu.as_secs()
            ),
            None => format!(
                "third-party plugins are checked, then compiled in this process, within {time} s: \
                 this system cannot bound a process"
            ),
        },
    )
}

/// Reports the processes in which third-party plugins run.
pub(super) fn isolation(compile: &CompileSettings) -> Check {
    let detail = if compile.worker.is_some() {
        "third-party plugins run in processes of their own, without files, network and environment"
    } else if WorkerProcess::is_supported() {
        "third-party plugins run in this process, each call in a sandbox; this system can bound \
         processes of their own (--isolate process)"
    } else {
        "third-party plugins run in this process, each call in a sandbox: this system cannot bound \
         processes of their own, which takes Linux 5.13 with Landlock and seccomp, or later"
    };
    Check::ok("isolation", detail)
}

/// The Rust toolchain and its target, which only plugins in Rust need.
pub(super) async fn toolchain() -> Vec<Check> {
    let Some(printed) = rustc(&["--version"]).await else {
        return vec![Check::warn(
            "toolchain",
            "no rustc answers; only plugins in Rust need it",
            "rustup default stable; without rustup, install Rust as https://rustup.rs says",
        )];
    };
    let folder = rustc(&["--print", "target-libdir", "--target", TARGET]).await;
    let has_target = folder.is_some_and(|folder| Path::new(&folder).is_dir());
    vec![version(&printed), target(has_target)]
}

/// Checks what `rustc --version` prints.
fn version(printed: &str) -> Check {
    let wanted = env!("CARGO_PKG_RUST_VERSION");
    let found = printed.split_whitespace().nth(1).unwrap_or_default();
    if numbers(found) < numbers(wanted) {
        let detail = format!("{printed} is older than {wanted}, which the plugin SDK needs");
        return Check::warn("toolchain", detail, "rustup update stable");
    }
    Check::ok("toolchain", printed)
}

fn target(found: bool) -> Check {
    if found {
        return Check::ok("target", format!("{TARGET} is installed"));
    }
    let detail = format!("{TARGET} is not installed; only plugins in Rust need it");
    Check::warn("target", detail, format!("rustup target add {TARGET}"))
}

/// The numbers of a version, for comparison; what follows a dash does not count.
fn numbers(version: &str) -> Vec<u32> {
    let release = version.split('-').next().unwrap_or_default();
    release.split('.').map_while(|part| part.parse().ok()).collect()
}

/// The output of the compiler. It runs in the root folder, since a `rust-toolchain.toml` in an
/// untrusted project may name another compiler.
async fn rustc(arguments: &[&str]) -> Option<String> {
    let mut command = tokio::process::Command::new("rustc");
    command
        .args(arguments)
        .current_dir("/")
        .env("RUSTUP_AUTO_INSTALL", "0")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await.ok()?.ok()?;
    let printed = output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())?;
    (!printed.is_empty()).then_some(printed)
}

/// Reports the properties of the terminal; `width` is that of standard output, where a terminal
/// shows it.
pub(super) fn terminal(environment: &Environment, width: Option<u16>) -> Check {
    let shown = |is_terminal| if is_terminal { "a terminal" } else { "no terminal" };
    let output = match width {
        Some(width) => format!("a terminal, {width} columns wide"),
        None => shown(std::io::stdout().is_terminal()).to_owned(),
    };
    let mut facts = vec![format!("standard output is {output}")];
    facts.push(format!("standard error is {}", shown(std::io::stderr().is_terminal())));
    facts.extend(environment.no_color.then(|| "NO_COLOR is set, so there is no colour".to_owned()));
    facts.extend(
        environment.dumb_terminal.then(|| "TERM=dumb, so there is no line of progress".to_owned()),
    );
    Check::ok("terminal", facts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn an_old_compiler_and_a_missing_target_are_warnings_with_a_fix() {
        let old = version("rustc 1.70.0 (90c541806 2023-05-31)");
        assert_eq!((old.state, old.fix.as_deref()), (State::Warn, Some("rustup update stable")));
        for printed in
            ["rustc 1.95.0 (59807616e 2026-04-14)", "rustc 1.100.0-nightly (x)", "rustc 2.0.0"]
        {
            assert_eq!(version(printed), Check::ok("toolchain", printed));
        }
        let missing = target(false);
        assert_eq!(
            (missing.state, missing.fix.as_deref()),
            (State::Warn, Some("rustup target add wasm32-wasip2"))
        );
        assert_eq!(target(true).state, State::Ok);
    }

    #[test]
    fn terminal_facts_are_reported() {
        let environment =
            Environment { no_color: true, dumb_terminal: true, ..Environment::default() };
        let detail = terminal(&environment, Some(100)).detail;
        assert!(
            detail.starts_with("standard output is a terminal, 100 columns wide; "),
            "{detail}"
        );
        assert!(detail.contains("NO_COLOR") && detail.contains("TERM=dumb"), "{detail}");
    }
}
