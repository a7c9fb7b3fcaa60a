//! Rust: cargo makes the component itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::bounds::{self, Bounds};
use super::{Build, Runner, plan};
use crate::{Error, files};

const TARGET: &str = "wasm32-wasip2";
const INSTALL: &str = "install Rust by rustup, https://rustup.rs";
/// The folders in `target` that are the home of cargo and the place of temporary files, where the
/// project is somebody else's.
const HOME: &str = "syrch-cargo-home";
const SCRATCH: &str = "syrch-tmp";

/// Builds with cargo. Whatever it runs of somebody else's project, such as a build script or
/// another compiler, keeps within bounds: then cargo has a home of its own, since packages in the
/// user's are not compared with their digests again.
pub(super) fn build(build: &Build<'_>, out: &Path) -> Result<(), Error> {
    let bounds = (!build.is_own).then(|| bounds(build)).transpose()?;
    let runner = Runner { bounds: bounds.as_ref(), ..build.runner };
    target(build, &runner)?;
    runner.step("cargo build");
    let mut cargo = command("cargo", build);
    cargo.args(["build", "--release", "--target", TARGET]);
    cargo.arg("--message-format=json-render-diagnostics");
    let metadata = ["metadata", "--format-version", "1", "--filter-platform", TARGET];
    let metadata = runner.ask(command("cargo", build).args(metadata));
    // Without it the build fails for the same reason, and says why.
    if let Some(flags) = metadata.as_deref().and_then(remap_setting) {
        cargo.args(["--config", &flags]);
    }
    let messages =
        runner.read(&format!("cargo build --release --target {TARGET}"), &mut cargo, INSTALL)?;
    let made = find_component(
        &String::from_utf8_lossy(&messages),
        &build.project.folder.join("Cargo.toml"),
    )
    .ok_or_else(|| {
        let why = "Cargo.toml has no library with `crate-type = [\"cdylib\"]`".to_owned();
        Error::NothingMade { tool: "cargo build".to_owned(), why }
    })?;
    let target = build.project.folder.join("target");
    // The user may have named any folder for what cargo makes.
    let made = match build.is_own {
        true => files::read_made(&made, made.parent().unwrap_or(&target)),
        false => files::read_made(&made, &target),
    };
    files::write_new(out, &made?)
}

/// A tool of Rust in the project. Of somebody else's it writes nowhere but in `target`.
fn command(program: &str, build: &Build<'_>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(&build.project.folder);
    if build.is_own {
        return command;
    }
    let target = build.project.folder.join("target");
    command.env("CARGO_HOME", target.join(HOME)).env("CARGO_TARGET_DIR", &target);
    if program == "cargo"
        && let Some(settings) = list_settings(build).into_iter().find(|path| path.is_file())
    {
        command.arg("--config").arg(settings);
    }
    command
}

/// The files of the user's own settings of cargo, such as a mirror, one of which counts.
fn list_settings(build: &Build<'_>) -> Vec<PathBuf> {
    let home = find_home(build, "CARGO_HOME", ".cargo").into_iter();
    home.flat_map(|home| ["config", "config.toml"].map(|name| home.join(name))).collect()
}

/// A folder of the user's that a variable names, or that has this name in the user's home.
fn find_home(build: &Build<'_>, variable: &str, name: &str) -> Option<PathBuf> {
    let environment = build.runner.environment;
    let own = bounds::find(environment, variable).map(PathBuf::from);
    own.or_else(|| Some(Path::new(bounds::find(environment, "HOME")?).join(name)))
}

/// The bounds of the tools that run code of the project: they read it, the packages that it names
/// and Rust, and write its `target` and its `Cargo.lock`, which are made here.
fn bounds(build: &Build<'_>) -> Result<Bounds, Error> {
    let folder = &build.project.folder;
    let target = folder.join("target");
    let lock = folder.join("Cargo.lock");
    files::refuse_link(&lock)?;
    for made in [target.clone(), target.join(HOME), target.join(SCRATCH)] {
        files::refuse_link(&made)?;
        std::fs::create_dir_all(&made).map_err(|error| Error::file(&made, error))?;
    }
    if !lock.exists() {
        std::fs::write(&lock, "").map_err(|error| Error::file(&lock, error))?;
    }
    let bounds = Bounds::new(build.runner.environment, &target.join(SCRATCH));
    let bounds = bounds.read(folder).read(&build.project.sdk);
    let bounds = plan::list_outside(build.project)?.into_iter().fold(bounds, Bounds::read);
    let bounds = list_settings(build).into_iter().fold(bounds, Bounds::read);
    let rustup = find_home(build, "RUSTUP_HOME", ".rustup");
    Ok(rustup.into_iter().fold(bounds, Bounds::read).write(target).write(lock))
}

/// Adds the target where it is missing.
fn target(build: &Build<'_>, runner: &Runner<'_>) -> Result<(), Error> {
    let rustc = ["--print", "target-libdir", "--target", TARGET];
    let libdir = runner
        .ask(command("rustc", build).args(rustc))
        .ok_or_else(|| Error::Missing { tool: "rustc".to_owned(), install: INSTALL.to_owned() })?;
    if Path::new(&libdir).is_dir() {
        return Ok(());
    }
    build.runner.step(&format!("rustup target add {TARGET} (once)"));
    let install = format!(
        "the target {TARGET} of this Rust is missing, and there is no rustup to add it; {INSTALL}"
    );
    let mut rustup = Command::new("rustup");
    build.runner.run(
        &format!("rustup target add {TARGET}"),
        rustup.current_dir(&build.project.folder).args(["target", "add", TARGET]),
        &install,
    )
}

/// The setting of cargo by which messages of panics name the sources of a package without the
/// folders above them, which are those of the author's home. `None` if that is no metadata of
/// cargo.
fn remap_setting(metadata: &str) -> Option<String> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let mut names = BTreeMap::new();
    for package in metadata.get("packages")?.as_array()? {
        let text = |key: &str| package.get(key).and_then(Value::as_str);
        let folder = Path::new(text("manifest_path")?).parent()?;
        // All packages of a registry stand beside each other.
        match text("source").filter(|source| source.starts_with("registry+")) {
            Some(_) => names.insert(folder.parent()?.to_owned(), "crates".to_owned()),
            None => names.insert(folder.to_owned(), text("name")?.to_owned()),
        };
    }
    let flags = names
        .iter()
        .map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()));
    Some(format!("target.{TARGET}.rustflags={}", flags.collect::<Value>()))
}

/// The component among what cargo reports that it made of the package of this manifest.
fn find_component(messages: &str, manifest: &Path) -> Option<PathBuf> {
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message: &Value| {
            message.get("reason").is_some_and(|reason| reason == "compiler-artifact")
                && message
                    .get("manifest_path")
                    .and_then(Value::as_str)
                    .is_some_and(|path| Path::new(path) == manifest)
        });
    let files =
        messages.filter_map(|message| message.get("filenames")?.as_array().cloned()).flatten();
    let mut paths = files.filter_map(|file| file.as_str().map(PathBuf::from));
    paths.rfind(|path| path.extension().is_some_and(|ending| ending == "wasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_of_the_author_are_left_out() {
        let metadata = r#"{"packages": [
            {"name": "mine", "source": null, "manifest_path": "/home/me/mine/Cargo.toml"},
            {"name": "syrch-plugin", "source": null,
             "manifest_path": "/home/me/mine/sdk/rust/Cargo.toml"},
            {"name": "a", "source": "registry+https://x",
             "manifest_path": "/home/me/.cargo/registry/src/x-1/a-1.0.0/Cargo.toml"},
            {"name": "b", "source": "registry+https://x",
             "manifest_path": "/home/me/.cargo/registry/src/x-1/b-1.0.0/Cargo.toml"}
        ]}"#;
        assert_eq!(
            remap_setting(metadata).unwrap(),
            "target.wasm32-wasip2.rustflags=[\"--remap-path-prefix=/home/me/.cargo/registry/src/\
             x-1=crates\",\
             \"--remap-path-prefix=/home/me/mine=mine\",\"--remap-path-prefix=/home/me/mine/sdk/\
             rust=syrch-plugin\"]"
        );
        assert_eq!(remap_setting("error: no Cargo.toml"), None);
    }

    #[test]
    fn the_component_is_that_of_the_package() {
        let messages = [
            r#"{"reason":"compiler-artifact","manifest_path":"/p/sdk/rust/Cargo.toml","filenames":["/p/target/x.wasm"]}"#,
            "no JSON",
            r#"{"reason":"compiler-artifact","manifest_path":"/p/Cargo.toml","filenames":["/p/target/libp.rlib","/p/target/p.wasm"]}"#,
            r#"{"reason":"build-finished","success":true}"#,
        ]
        .join("\n");
        assert_eq!(
            find_component(&messages, Path::new("/p/Cargo.toml")),
            Some(PathBuf::from("/p/target/p.wasm"))
        );
        assert_eq!(find_component(&messages, Path::new("/q/Cargo.toml")), None);
    }
}
