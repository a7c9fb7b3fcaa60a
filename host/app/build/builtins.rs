//! Builds the built-in plugins, so that the binary carries them. Every folder of `plugins/` with a
//! manifest is a plugin.
//!
//! The components go to `target/plugins`, the same place that `make plugins` uses: nothing is built
//! twice. Each is compiled to the host's machine code as well, so that the very first search has
//! nothing to compile; that of the default strategy lies in the binary as it runs.
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use sha2::{Digest as _, Sha256};
use wasmtime::{Config, Engine, OptLevel};

#[path = "../../runtime/src/engine/config.rs"]
mod config;

/// The hostile plugins of the tests. Built together, as the tests build them, so that nothing is
/// built twice.
const ZOO: [&str; 3] = ["zoo-hostile", "zoo-mute", "zoo-schema"];
const TARGET: &str = "wasm32-wasip2";
const PROFILE: &str = "plugin";
/// The strategy that answers where no time goes into model calls.
const DEFAULT_STRATEGY: &str = "plugins/strategies/decompose.yml";
/// The compression level of zstd. 19 is nearly the smallest result. Debug builds use 1: there the
/// compressor is not optimised, and took a quarter of this script's time.
const LEVEL: i32 = if cfg!(debug_assertions) { 1 } else { 19 };

/// Builds the plugins and writes the table of them to `out`.
pub(super) fn write(root: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let names = plugin_names(root)?;
    // Not `plugins` itself, where `make plugins` writes components. Another plugin changes
    // Cargo.lock. Nor `sdk/rust`, in whose examples the tests build.
    let folders = names.iter().map(|name| format!("plugins/{name}"));
    let others = [
        "sdk/rust/Cargo.toml",
        "sdk/rust/src",
        "host/basics",
        "host/flows",
        "wit",
        "tests/zoo",
        "host/runtime/src/engine/config.rs",
        "Cargo.toml",
        "Cargo.lock",
    ];
    for watched in others.map(str::to_owned).into_iter().chain(folders) {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    check_target()?;
    // OUT_DIR is <target>/[<triple>/]<profile>/build/<package>/out; the profile's folder is beside
    // `plugins`.
    let target_dir =
        out.ancestors().nth(4).ok_or("OUT_DIR is not where cargo puts it")?.join("plugins");
    build(root, &names, &target_dir)?;
    build(root, &ZOO.map(str::to_owned), &target_dir)?;
    let plain = plugins_of(&root.join(DEFAULT_STRATEGY))?;
    let components = target_dir.join(TARGET).join(PROFILE);
    let table = table(&names, &plain, &components, out)? + &hostile(&components, out)?;
    Ok(std::fs::write(out.join("builtins.rs"), table)?)
}

fn plugin_names(root: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root.join("plugins"))? {
        let entry = entry?;
        if entry.path().join("Cargo.toml").is_file() {
            names.push(
                entry
                    .file_name()
                    .into_string()
                    .map_err(|_| "a plugin's folder name is not UTF-8")?,
            );
        }
    }
    names.sort();
    Ok(names)
}

/// Says what to run when the target is missing, before cargo says it in fifty lines.
fn check_target() -> Result<(), Box<dyn Error>> {
    let rustc = std::env::var("RUSTC")?;
    let found =
        Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output()?;
    let libdir = String::from_utf8(found.stdout)?;
    if found.status.success() && Path::new(libdir.trim()).is_dir() {
        return Ok(());
    }
    println!(
        "cargo::error=the built-in plugins need the target {TARGET}: run `rustup target \
         add {TARGET}`"
    );
    std::process::exit(1);
}

fn build(root: &Path, names: &[String], target_dir: &Path) -> Result<(), Box<dyn Error>> {
    let mut cargo = Command::new(std::env::var("CARGO")?);
    cargo.current_dir(root).args([
        "build",
        "--quiet",
        "--target",
        TARGET,
        "--profile",
        PROFILE,
        "--target-dir",
    ]);
    cargo.arg(target_dir);
    for name in names {
        cargo.args(["-p", name]);
    }
    // What the outer cargo set for the host's code is not for the guests'.
    for set_by_cargo in [
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_TARGET",
        "CARGO_TARGET_DIR",
    ] {
        cargo.env_remove(set_by_cargo);
    }
    if cargo.status()?.success() {
        Ok(())
    } else {
        Err("the built-in plugins do not build; see above".into())
    }
}

/// The plugins that a strategy file names for its roles.
fn plugins_of(file: &Path) -> std::io::Result<Vec<String>> {
    let text = std::fs::read_to_string(file)?;
    let roles = text.lines().skip_while(|line| *line != "roles:").skip(1);
    Ok(roles
        .filter_map(|line| line.split_once(": "))
        .map(|(_, plugin)| plugin.to_owned())
        .collect())
}

/// The hostile plugin that `doctor` tries, packed, with its size. It is compiled where it is tried.
fn hostile(folder: &Path, out: &Path) -> Result<String, Box<dyn Error>> {
    let bytes = std::fs::read(folder.join("zoo_hostile.wasm"))?;
    let packed = out.join("hostile.wasm.zst");
    std::fs::write(&packed, zstd::bulk::compress(&bytes, LEVEL)?)?;
    let size = bytes.len();
    Ok(format!(
        "static HOSTILE: Option<(&[u8], usize)> = Some((include_bytes!({packed:?}), {size}));\n"
    ))
}

/// The plugins as an array of `Builtin`. The code of those in `plain` is not packed.
fn table(
    names: &[String],
    plain: &[String],
    folder: &Path,
    out: &Path,
) -> Result<String, Box<dyn Error>> {
    let compiler = compiler(&std::env::var("TARGET")?);
    if let Err(error) = &compiler {
        println!(
            "cargo::warning=the built-in plugins are compiled when they are first used: {error:#}"
        );
    }
    let mut table = String::from("static BUILTINS: &[Builtin] = &[\n");
    for name in names {
        // The compiler writes `_` for what a library's name cannot have.
        let bytes = std::fs::read(folder.join(format!("{}.wasm", name.replace('-', "_"))))?;
        let digest: String =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let component = out.join(format!("{name}.wasm.zst"));
        std::fs::write(&component, zstd::bulk::compress(&bytes, LEVEL)?)?;
        let code = match &compiler {
            Ok(compiler) => {
                let code = compiler.precompile_component(&bytes)?;
                let file = out.join(format!("{name}.code"));
                let is_plain = plain.contains(name);
                std::fs::write(
                    &file,
                    if is_plain { code } else { zstd::bulk::compress(&code, LEVEL)? },
                )?;
                let included = format!("include_bytes!({file:?})");
                if is_plain {
                    format!("Some(Code::Plain(&Pages(*{included}).0))")
                } else {
                    format!("Some(Code::Packed({included}))")
                }
            }
            Err(_) => "None".to_owned(),
        };
        writeln!(
            table,
            "    Builtin {{ name: {name:?}, size: {}, digest: {digest:?}, component: \
             include_bytes!({component:?}), code: {code} }},",
            bytes.len(),
        )?;
    }
    table.push_str("];\n");
    Ok(table)
}

/// An engine that compiles for any machine of the target's architecture: where it is x86-64, for
/// those with SSE 4.2. Elsewhere, and on older machines, the host compiles the components itself.
fn compiler(target: &str) -> wasmtime::Result<Engine> {
    /// The stack of a guest, in bytes; compiled code does not depend on it.
    const WASM_STACK: usize = 1 << 20;
    let mut config: Config = config::config(WASM_STACK);
    config.target(target)?;
    // The optimiser would be a third of this script's time, in a build that nobody ships.
    if cfg!(debug_assertions) {
        config.cranelift_opt_level(OptLevel::None);
    }
    if target.starts_with("x86_64") {
        for flag in
            ["has_cmpxchg16b", "has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"]
        {
            // SAFETY: the loader compares what the code needs with what the machine has.
            #[allow(unsafe_code)]
            unsafe {
                config.cranelift_flag_enable(flag);
            }
        }
    }
    Engine::new(&config)
}
