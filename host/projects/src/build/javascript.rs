//! JavaScript and TypeScript: esbuild makes one module of the sources, and componentize-qjs a component of it and QuickJS.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{Build, contract};
use crate::{Error, files};

const INSTALL: &str = "install Node 18 or newer with npm: `apt install nodejs npm`, or https://nodejs.org/";
/// The file that says what was installed.
const STAMP: &str = ".installed";

pub(super) fn build(build: &Build<'_>, out: &Path) -> Result<(), Error> {
    let entry = build.entry()?.to_owned();
    let modules = modules(build)?;
    let glue = build.folder.join("entry.js");
    let text = glue_of(build, &entry)?;
    std::fs::write(&glue, text).map_err(|error| Error::file(&glue, error))?;
    let bundle = build.folder.join(format!("{}.js", build.project.name.as_str()));

    build.runner.step("esbuild");
    let mut esbuild = Command::new(program(&modules, "esbuild"));
    esbuild.current_dir(&build.project.folder).arg(&glue).args([
        "--bundle",
        "--format=esm",
        "--platform=neutral",
        "--main-fields=module,main",
    ]);
    esbuild.args(["--target=es2023", "--charset=utf8", "--external:syrch:*", "--log-level=warning"]);
    // Also where the packages are those of a shared folder, which has no link to the SDK.
    esbuild.arg(format!("--alias:syrch-plugin={}", build.project.sdk.display()));
    esbuild.arg(format!("--outfile={}", bundle.display())).env("NODE_PATH", &modules);
    build.runner.run("esbuild", &mut esbuild, INSTALL).map_err(own_words)?;

    build.runner.step("componentize-qjs");
    let mut tool = Command::new(program(&modules, "componentize-qjs"));
    tool.current_dir(&build.project.folder).arg("--wit").arg(&build.wit).args(["--world", contract::WORLD]);
    // The contract has no asynchronous function, and the runtime without them is smaller.
    tool.arg("--js").arg(&bundle).arg("--sync").arg("-o").arg(out);
    build.runner.run("componentize-qjs", &mut tool, "package.json must name componentize-qjs").map_err(own_words)
}

/// The failure as esbuild says it, without the stack of the script in Node that calls it.
fn own_words(error: Error) -> Error {
    match error {
        // The shell's code for a script whose interpreter is missing.
        Error::Failed { status, .. } if status == "exit code 127" => {
            Error::Missing { tool: "node".to_owned(), install: INSTALL.to_owned() }
        }
        Error::Failed { command, status, mut output } => {
            if let Some(at) = output.find("\nnode:") {
                output.truncate(at);
            }
            Error::Failed { command, status, output }
        }
        other => other,
    }
}

/// The program of an installed package.
fn program(modules: &Path, name: &str) -> PathBuf {
    let name = if cfg!(windows) { format!("{name}.cmd") } else { name.to_owned() };
    modules.join(".bin").join(name)
}

/// The folder of installed packages, which npm fills where package.json has changed.
fn modules(build: &Build<'_>) -> Result<PathBuf, Error> {
    let own = &build.project.folder;
    // Beside a project's own packages, since esbuild finds them from the sources.
    let folder = if build.tools == own.join(".tools") { own.clone() } else { build.tools.clone() };
    if folder != *own {
        std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
        let (from, to) = (own.join("package.json"), folder.join("package.json"));
        let manifest = files::read_text(&from)?.ok_or_else(|| Error::file(&from, "there is no such file"))?;
        let manifest = shared(&manifest).map_err(|error| Error::file(&from, error))?;
        std::fs::write(&to, manifest).map_err(|error| Error::file(&to, error))?;
    }
    let modules = folder.join("node_modules");
    let stamp = modules.join(STAMP);
    let pinned = pins(&folder)?;
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == pinned) {
        return Ok(modules);
    }
    build.runner.step(&format!("npm install in {} (once)", folder.display()));
    let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    // The packages' own scripts are not needed.
    npm.current_dir(&folder).args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    build.runner.run("npm install", &mut npm, INSTALL)?;
    std::fs::write(&stamp, pins(&folder)?).map_err(|error| Error::file(&stamp, error))?;
    Ok(modules)
}

/// The manifest of a folder of packages that several projects share: what this one's names, but for packages by a path, which leads elsewhere
/// from there.
fn shared(manifest: &str) -> Result<String, serde_json::Error> {
    let mut manifest: Map<String, Value> = serde_json::from_str(manifest)?;
    manifest.retain(|key, _| matches!(key.as_str(), "type" | "dependencies" | "devDependencies"));
    for packages in manifest.values_mut().filter_map(Value::as_object_mut) {
        packages.retain(|_, version| !version.as_str().is_some_and(|version| version.starts_with("file:")));
    }
    manifest.insert("private".to_owned(), true.into());
    serde_json::to_string_pretty(&manifest)
}

/// The digest of the files that pin the packages.
fn pins(folder: &Path) -> Result<String, Error> {
    let mut digest = Sha256::new();
    for name in ["package.json", "package-lock.json"] {
        digest.update(files::read(&folder.join(name))?.unwrap_or_default());
        digest.update([0]);
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The module that gives the plugin its ports and exports its roles.
fn glue_of(build: &Build<'_>, entry: &Path) -> Result<String, Error> {
    let literal = |path: &Path| Value::from(path.to_string_lossy()).to_string();
    let sdk = build.project.sdk.join("src/component.js");
    let ports = contract::ports(&build.wit)?;
    let mut lines = vec![
        "// Written by `syrch-host plugin build`.".to_owned(),
        format!("import {{ component }} from {};", literal(&sdk)),
        format!("import plugin from {};", literal(&build.project.folder.join(entry))),
    ];
    lines.extend(ports.iter().map(|(port, interface)| format!("import {port} from \"{interface}\";")));
    let names: Vec<&str> = ports.iter().map(|(port, _)| port.as_str()).collect();
    lines.push(format!("const made = component(plugin, {{ {} }});", names.join(", ")));
    lines.push("export const about = made.about;".to_owned());
    lines.extend(build.project.roles.iter().map(|role| format!("export const {role} = made.{role};")));
    Ok(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_no_stack_of_node() {
        let failed = |output: &str| Error::Failed {
            command: "esbuild".to_owned(),
            status: "exit code 1".to_owned(),
            output: output.to_owned(),
        };
        let with_stack =
            "✘ [ERROR] Expected \")\"\n\n    plugin.js:3:6:\n\n1 error\nnode:child_process:930\n    throw err;\n";
        let shown = own_words(failed(with_stack)).to_string();
        assert!(shown.contains("plugin.js:3:6") && shown.ends_with("1 error"), "{shown}");
        assert_eq!(own_words(failed("node: not found")).to_string(), failed("node: not found").to_string());
    }

    #[test]
    fn projects_with_the_same_packages_share_their_manifest() {
        let of = |name: &str, sdk: &str| {
            let packages = format!(r#""dependencies": {{"syrch-plugin": "file:{sdk}", "left": "1.0.0"}}"#);
            shared(&format!(r#"{{"name": "{name}", {packages}, "devDependencies": {{"esbuild": "0.28.2"}}}}"#)).unwrap()
        };
        assert_eq!(of("a", "./sdk"), of("b", "../.."));
        let shared: Value = serde_json::from_str(&of("a", "./sdk")).unwrap();
        assert_eq!(shared["dependencies"], serde_json::json!({"left": "1.0.0"}));
        assert_eq!(shared["devDependencies"]["esbuild"], "0.28.2");
    }
}
