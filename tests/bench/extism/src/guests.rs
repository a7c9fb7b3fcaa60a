//! The two plugins, built by Cargo as their authors would: the example `steps` of the SDK, and the
//! same for Extism.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;

/// The target of our component, and of the core module for Extism, whose kit needs no WASI.
const OURS: &str = "wasm32-wasip2";
const THEIRS: &str = "wasm32-unknown-unknown";

/// The files of the plugins.
pub(crate) struct Guests {
    /// The component for our host.
    pub(crate) ours: PathBuf,
    /// The core module for Extism.
    pub(crate) theirs: PathBuf,
}

impl Guests {
    /// Builds what has changed since the last time.
    pub(crate) fn build() -> Outcome<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        add_targets()?;
        Ok(Self {
            ours: build(&here.join("../../../sdk/rust/examples/steps"), OURS, "steps")?,
            theirs: build(&here.join("plugin"), THEIRS, "steps_extism")?,
        })
    }
}

/// Adds the targets where rustup is in charge of the compiler; elsewhere they have to be there
/// already.
fn add_targets() -> Outcome<()> {
    match run(Command::new("rustup").args(["--quiet", "target", "add", OURS, THEIRS])) {
        Err(error)
            if error
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == ErrorKind::NotFound) =>
        {
            Ok(())
        }
        done => done,
    }
}

/// Builds a plugin in release, and gives the path of its file.
fn build(folder: &Path, target: &str, name: &str) -> Outcome<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/guests");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--release", "--target", target, "--manifest-path"]);
    run(command.arg(folder.join("Cargo.toml")).arg("--target-dir").arg(&built))?;
    Ok(built.join(target).join("release").join(name).with_extension("wasm"))
}

/// Runs a command, which must succeed. Standard output is for the figures alone.
fn run(command: &mut Command) -> Outcome<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}
