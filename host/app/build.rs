//! Builds the built-in plugins, so that the binary carries them, and lists the strategy files. Every folder of `plugins/` with a manifest is
//! a plugin, and every `.yml` of `plugins/strategies` a strategy.
//!
//! The components go to `target/plugins`, the same place that `make plugins` uses: nothing is built twice.
#![allow(clippy::disallowed_methods, clippy::print_stdout)] // A build script is told everything through the environment.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-wasip2";
const PROFILE: &str = "plugin";

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    for watched in ["plugins", "sdk/rust", "wit", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    let names = plugin_names(&root)?;
    check_target()?;
    // OUT_DIR is <target>/[<triple>/]<profile>/build/<package>/out; the profile's folder is beside `plugins`.
    let target_dir = out.ancestors().nth(4).ok_or("OUT_DIR is not where cargo puts it")?.join("plugins");
    build(&root, &names, &target_dir)?;
    std::fs::write(out.join("builtins.rs"), table(&names, &target_dir.join(TARGET).join(PROFILE))?)?;
    std::fs::write(out.join("strategies.rs"), strategies(&root.join("plugins/strategies"))?)?;
    Ok(())
}

fn plugin_names(root: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root.join("plugins"))? {
        let entry = entry?;
        if entry.path().join("Cargo.toml").is_file() {
            names.push(entry.file_name().into_string().map_err(|_| "a plugin's folder name is not UTF-8")?);
        }
    }
    names.sort();
    Ok(names)
}

/// Says what to run when the target is missing, before cargo says it in fifty lines.
fn check_target() -> Result<(), Box<dyn Error>> {
    let rustc = std::env::var("RUSTC")?;
    let found = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output()?;
    let libdir = String::from_utf8(found.stdout)?;
    if found.status.success() && Path::new(libdir.trim()).is_dir() {
        return Ok(());
    }
    println!("cargo::error=the built-in plugins need the target {TARGET}: run `rustup target add {TARGET}`");
    std::process::exit(1);
}

fn build(root: &Path, names: &[String], target_dir: &Path) -> Result<(), Box<dyn Error>> {
    let mut cargo = Command::new(std::env::var("CARGO")?);
    cargo.current_dir(root).args(["build", "--quiet", "--target", TARGET, "--profile", PROFILE, "--target-dir"]);
    cargo.arg(target_dir);
    for name in names {
        cargo.args(["-p", name]);
    }
    // What the outer cargo set for the host's code is not for the guests'.
    for set_by_cargo in ["CARGO_ENCODED_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_TARGET", "CARGO_TARGET_DIR"]
    {
        cargo.env_remove(set_by_cargo);
    }
    if cargo.status()?.success() { Ok(()) } else { Err("the built-in plugins do not build; see above".into()) }
}

fn table(names: &[String], folder: &Path) -> Result<String, Box<dyn Error>> {
    let mut table = String::from("pub(crate) const BUILTINS: &[(&str, &[u8])] = &[\n");
    for name in names {
        writeln!(table, "    ({name:?}, include_bytes!({:?})),", folder.join(format!("{name}.wasm")))?;
    }
    table.push_str("];\n");
    Ok(table)
}

/// The text of each strategy file by the file's name without its ending, sorted.
fn strategies(folder: &Path) -> Result<String, Box<dyn Error>> {
    let mut files = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "yml"));
    files.sort();
    let mut table = String::from("const FILES: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file.file_stem().and_then(|name| name.to_str()).ok_or("a strategy file's name is not UTF-8")?;
        writeln!(table, "    ({name:?}, include_str!({file:?})),")?;
    }
    table.push_str("];\n");
    Ok(table)
}
