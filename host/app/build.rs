//! Lists the strategy files, every `.yml` of `plugins/strategies`, and builds the built-in plugins
//! where they are wanted.
// A build script gets everything through the environment.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

#[cfg(feature = "builtins")]
#[path = "build/builtins.rs"]
mod builtins;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let folder = root.join("plugins/strategies");
    println!("cargo::rerun-if-changed={}", folder.display());
    std::fs::write(out.join("strategies.rs"), strategies(&folder)?)?;
    #[cfg(feature = "builtins")]
    builtins::write(&root, &out)?;
    #[cfg(not(feature = "builtins"))]
    std::fs::write(
        out.join("builtins.rs"),
        "static BUILTINS: &[Builtin] = &[];\nstatic HOSTILE: Option<(&[u8], usize)> = None;\n",
    )?;
    Ok(())
}

/// The text of each strategy file by the file's name without its ending, sorted.
fn strategies(folder: &Path) -> Result<String, Box<dyn Error>> {
    let mut files = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "yml"));
    files.sort();
    let mut table = String::from("const FILES: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file
            .file_stem()
            .and_then(|name| name.to_str())
            .ok_or("a strategy file's name is not UTF-8")?;
        writeln!(table, "    ({name:?}, include_str!({file:?})),")?;
    }
    table.push_str("];\n");
    Ok(table)
}
