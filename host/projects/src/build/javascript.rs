//! JavaScript and TypeScript: esbuild makes one module of the sources, and the tool of an engine
//! makes a component of it: componentize-qjs one with QuickJS, and componentize-js, where
//! package.json names it, one with StarlingMonkey.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{Build, contract};
use crate::{Error, Project, files};

const INSTALL: &str =
    "install Node 18 or newer with npm: `apt install nodejs npm`, or https://nodejs.org/";
/// The program that makes one module of the sources, and its package.
const ESBUILD: &str = "esbuild";
/// The file that names the packages of a project.
const MANIFEST: &str = "package.json";
/// The file that says what was installed.
const STAMP: &str = ".installed";
/// The package of the SDK.
const SDK: &str = "syrch-plugin";

/// The engine that runs the module in the component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Engine {
    QuickJs,
    /// Larger, and slower to compile and to start.
    StarlingMonkey,
}

impl Engine {
    /// That of a project: StarlingMonkey if its package.json has the package of its tool.
    fn for_project(project: &Path) -> Result<Self, Error> {
        let manifest: Value = serde_json::from_str(&manifest(project)?)
            .map_err(|error| Error::file(&project.join(MANIFEST), error))?;
        let lists = ["dependencies", "devDependencies"];
        let is_named =
            lists.iter().any(|list| manifest[list].get(Self::StarlingMonkey.package()).is_some());
        Ok(if is_named { Self::StarlingMonkey } else { Self::QuickJs })
    }

    /// The package that has [`Engine::tool`].
    fn package(self) -> &'static str {
        match self {
            Self::QuickJs => "componentize-qjs",
            Self::StarlingMonkey => "@bytecodealliance/componentize-js",
        }
    }

    /// The program that makes components.
    fn tool(self) -> &'static str {
        match self {
            Self::QuickJs => "componentize-qjs",
            Self::StarlingMonkey => "componentize-js",
        }
    }

    /// Its arguments for a module, without the place of the component.
    fn arguments(self, command: &mut Command, wit: &Path, bundle: &Path) {
        match self {
            // The contract has no asynchronous function, and the runtime without them is smaller.
            Self::QuickJs => command
                .arg("--wit")
                .arg(wit)
                .args(["--world", contract::WORLD])
                .arg("--js")
                .arg(bundle)
                .arg("--sync"),
            // What it has of HTTP would be imports that no plugin may have.
            Self::StarlingMonkey => {
                command.arg(bundle).arg("--wit").arg(wit).args(["--world-name", contract::WORLD]);
                command.args(["-d", "http", "-d", "fetch-event"])
            }
        };
    }
}

pub(super) fn build(build: &Build<'_>, out: &Path) -> Result<(), Error> {
    let entry = build.entry()?.to_owned();
    if build.no_scripts
        && let Some(line) = find_other_source(build.project)?
    {
        let path = build.project.folder.join(MANIFEST).display().to_string();
        return Err(Error::NoWheel { path, line });
    }
    let engine = Engine::for_project(&build.project.folder)?;
    let modules = modules(build, engine)?;
    let glue = build.folder.join("entry.js");
    let text = glue_of(build, &entry, engine)?;
    std::fs::write(&glue, text).map_err(|error| Error::file(&glue, error))?;
    let bundle = build.folder.join(format!("{}.js", build.project.name.as_str()));

    build.runner.step(ESBUILD);
    let mut esbuild = Command::new(program(&modules, ESBUILD));
    esbuild.current_dir(&build.project.folder).arg(&glue).args([
        "--bundle",
        "--format=esm",
        "--platform=neutral",
        "--main-fields=module,main",
    ]);
    esbuild.args([
        "--target=es2023",
        "--charset=utf8",
        "--external:syrch:*",
        "--log-level=warning",
    ]);
    // Also where the packages are those of a shared folder, which has no link to the SDK.
    esbuild.arg(format!("--alias:syrch-plugin={}", build.project.sdk.display()));
    esbuild.arg(format!("--outfile={}", bundle.display())).env("NODE_PATH", &modules);
    build.runner.run(ESBUILD, &mut esbuild, INSTALL).map_err(own_words)?;

    build.runner.step(engine.tool());
    let mut tool = Command::new(program(&modules, engine.tool()));
    tool.current_dir(&build.project.folder);
    engine.arguments(&mut tool, &build.wit, &bundle);
    tool.arg("-o").arg(out);
    let named = format!("package.json must name {}", engine.package());
    build.runner.run(engine.tool(), &mut tool, &named).map_err(own_words)
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

/// The text of a project's package.json.
fn manifest(project: &Path) -> Result<String, Error> {
    let path = project.join(MANIFEST);
    files::read_text(&path)?.ok_or_else(|| Error::file(&path, "there is no such file"))
}

/// The packages of a project with the versions that its package.json asks for.
pub(super) fn list_packages(project: &Project) -> Result<Vec<String>, Error> {
    let path = project.folder.join(MANIFEST);
    let manifest: Value = serde_json::from_str(&manifest(&project.folder)?)
        .map_err(|error| Error::file(&path, error))?;
    let lists = ["dependencies", "devDependencies", "optionalDependencies"];
    let packages = lists.iter().filter_map(|list| manifest[list].as_object()).flatten();
    let versions = packages
        .map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or_default().trim()));
    Ok(versions.collect())
}

/// The first package of a project that is not one of the registry by its versions, or the key of
/// its package.json that names others. The SDK may be a folder, if it brings no program and no
/// package.
pub(super) fn find_other_source(project: &Project) -> Result<Option<String>, Error> {
    let manifest = read_json(&project.folder.join(MANIFEST))?;
    for key in ["overrides", "workspaces", "bundleDependencies", "bundledDependencies"] {
        if manifest.get(key).is_some() {
            return Ok(Some(key.to_owned()));
        }
    }
    let lists = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
    for (name, version) in lists.iter().filter_map(|list| manifest[list].as_object()).flatten() {
        let version = version.as_str().unwrap_or_default().trim();
        let is_plain = is_registry_version(version) || name == SDK && is_own_sdk(project, version)?;
        if !is_plain {
            return Ok(Some(format!("{name} {version}")));
        }
    }
    let locked = read_json(&project.folder.join("package-lock.json"))?;
    let packages = locked["packages"].as_object().into_iter().flatten();
    let mut others = packages.filter(|(name, package)| {
        let place = package["resolved"].as_str().unwrap_or("https:");
        let is_elsewhere = package["link"] == true || !place.starts_with("http");
        is_elsewhere && *name != &format!("node_modules/{SDK}")
    });
    Ok(others.next().map(|(name, _)| format!("package-lock.json: {name}")))
}

/// Returns true if a version is one of the registry, and no address, alias, archive or path.
fn is_registry_version(version: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".^~<>=|*+- ".contains(letter);
    let archives = [".tgz", ".tar", ".tar.gz"];
    let is_archive = archives.iter().any(|ending| version.to_lowercase().ends_with(ending));
    version.chars().all(is_plain) && !version.starts_with('.') && !is_archive
}

/// Returns true if a version is the folder of the project's SDK, which has no programs and asks for
/// no packages.
fn is_own_sdk(project: &Project, version: &str) -> Result<bool, Error> {
    let Some(path) = version.strip_prefix("file:") else { return Ok(false) };
    let [folder, sdk] =
        [&project.folder.join(path), &project.sdk].map(|path| path.canonicalize().ok());
    if folder.is_none() || folder != sdk {
        return Ok(false);
    }
    let manifest = read_json(&project.sdk.join(MANIFEST))?;
    let more = ["bin", "directories", "dependencies", "optionalDependencies", "peerDependencies"];
    Ok(more.iter().all(|key| manifest.get(key).is_none()))
}

/// The JSON of a file; null if there is none.
fn read_json(path: &Path) -> Result<Value, Error> {
    let text = files::read_text(path)?.unwrap_or_else(|| "null".to_owned());
    serde_json::from_str(&text).map_err(|error| Error::file(path, error))
}

/// The program of an installed package.
fn program(modules: &Path, name: &str) -> PathBuf {
    let name = if cfg!(windows) { format!("{name}.cmd") } else { name.to_owned() };
    modules.join(".bin").join(name)
}

/// The folder of installed packages, which npm fills where package.json has changed.
fn modules(build: &Build<'_>, engine: Engine) -> Result<PathBuf, Error> {
    let own = &build.project.folder;
    // Beside a project's own packages, since esbuild finds them from the sources.
    let folder = if build.tools == own.join(".tools") { own.clone() } else { build.tools.clone() };
    if folder != *own {
        std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
        let from = own.join(MANIFEST);
        let to = folder.join(MANIFEST);
        let manifest =
            make_shared_manifest(&manifest(own)?).map_err(|error| Error::file(&from, error))?;
        std::fs::write(&to, manifest).map_err(|error| Error::file(&to, error))?;
    }
    let modules = folder.join("node_modules");
    let stamp = modules.join(STAMP);
    let pinned = pins(&folder)?;
    let has_tools = [ESBUILD, engine.tool()].iter().all(|tool| program(&modules, tool).is_file());
    if has_tools
        && std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == pinned)
        && build.record.holds(&modules, &pinned)
    {
        return Ok(modules);
    }
    // npm keeps what lies there, which may have come with the project.
    if modules.exists() && !build.record.is_own(&modules) {
        std::fs::remove_dir_all(&modules).map_err(|error| Error::file(&modules, error))?;
    }
    build.runner.step(&format!("npm install in {} (once)", folder.display()));
    let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    // The packages' own scripts are not needed.
    npm.current_dir(&folder).args([
        "install",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]);
    // All of the tools into this folder, whatever an .npmrc says.
    npm.args(["--include=dev", "--include=optional", "--bin-links", "--location=project"]);
    build.runner.run("npm install", &mut npm, INSTALL)?;
    check_tool(build, &modules, ESBUILD, ESBUILD)?;
    check_tool(build, &modules, engine.tool(), engine.package())?;
    let installed = pins(&folder)?;
    std::fs::write(&stamp, &installed).map_err(|error| Error::file(&stamp, error))?;
    build.record.keep(&modules, &installed);
    Ok(modules)
}

/// Checks that a tool works that npm has installed.
fn check_tool(build: &Build<'_>, modules: &Path, tool: &str, package: &str) -> Result<(), Error> {
    let program = program(modules, tool);
    if build.runner.ask(Command::new(&program).arg("--help")).is_some() {
        return Ok(());
    }
    Err(Error::NotInstalled {
        tool: tool.to_owned(),
        installer: "npm install".to_owned(),
        place: program.display().to_string(),
        hint: format!(
            "package.json must name {package}; `npm config list` shows settings that leave \
             packages out"
        ),
    })
}

/// The manifest of a folder of packages that several projects share: what this one's names, but for
/// packages by a path, which leads elsewhere from there.
fn make_shared_manifest(manifest: &str) -> Result<String, serde_json::Error> {
    let mut manifest: Map<String, Value> = serde_json::from_str(manifest)?;
    manifest.retain(|key, _| matches!(key.as_str(), "type" | "dependencies" | "devDependencies"));
    for packages in manifest.values_mut().filter_map(Value::as_object_mut) {
        packages.retain(|_, version| {
            !version.as_str().is_some_and(|version| version.starts_with("file:"))
        });
    }
    manifest.insert("private".to_owned(), true.into());
    serde_json::to_string_pretty(&manifest)
}

/// The digest of the files that pin the packages.
fn pins(folder: &Path) -> Result<String, Error> {
    let mut digest = Sha256::new();
    for name in [MANIFEST, "package-lock.json"] {
        digest.update(files::read(&folder.join(name))?.unwrap_or_default());
        digest.update([0]);
    }
    Ok(syrch::syrch_core::text::hex(digest.finalize()))
}

/// The module that gives the plugin its ports and exports its roles.
fn glue_of(build: &Build<'_>, entry: &Path, engine: Engine) -> Result<String, Error> {
    fn quote_path(path: &Path) -> String {
        Value::from(path.to_string_lossy()).to_string()
    }
    let sdk = build.project.sdk.join("src/component.js");
    let ports = contract::ports(&build.wit)?;
    let mut lines = vec!["// Written by `syrch-host plugin build`.".to_owned()];
    if engine == Engine::StarlingMonkey {
        lines.push(format!(
            "import {};",
            quote_path(&build.project.sdk.join("src/starlingmonkey.js"))
        ));
    }
    lines.push(format!("import {{ component }} from {};", quote_path(&sdk)));
    lines.push(format!("import plugin from {};", quote_path(&build.project.folder.join(entry))));
    // QuickJS has an interface as a default export, StarlingMonkey its functions as exports of
    // their own.
    let all = if engine == Engine::StarlingMonkey { "* as " } else { "" };
    lines.extend(
        ports.iter().map(|(port, interface)| format!("import {all}{port} from \"{interface}\";")),
    );
    let names: Vec<&str> = ports.iter().map(|(port, _)| port.as_str()).collect();
    lines.push(format!("const made = component(plugin, {{ {} }});", names.join(", ")));
    lines.push("export const about = made.about;".to_owned());
    lines.extend(
        build.project.roles.iter().map(|role| format!("export const {role} = made.{role};")),
    );
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
        let with_stack = "✘ [ERROR] Expected \")\"\n\n    plugin.js:3:6:\n\n1 error\n\
                          node:child_process:930\n    throw err;\n";
        let shown = own_words(failed(with_stack)).to_string();
        assert!(shown.contains("plugin.js:3:6") && shown.ends_with("1 error"), "{shown}");
        assert_eq!(
            own_words(failed("node: not found")).to_string(),
            failed("node: not found").to_string()
        );
    }

    #[test]
    fn the_engine_is_that_of_the_package_that_a_project_names() {
        let folder = syrch_kit::scratch();
        let of = |manifest: &str| {
            std::fs::write(folder.path().join("package.json"), manifest).unwrap();
            Engine::for_project(folder.path())
        };
        assert_eq!(
            of(r#"{"devDependencies": {"componentize-qjs": "0.4.5"}}"#).unwrap(),
            Engine::QuickJs
        );
        let other = r#"{"devDependencies": {"@bytecodealliance/componentize-js": "0.23.0"}}"#;
        assert_eq!(of(other).unwrap(), Engine::StarlingMonkey);
        assert!(of("[").unwrap_err().to_string().contains("package.json"));
    }

    #[test]
    fn without_scripts_a_package_is_one_of_the_registry() {
        let scratch = syrch_kit::scratch();
        let folder = scratch.path().canonicalize().unwrap();
        std::fs::create_dir(folder.join("sdk")).unwrap();
        std::fs::write(folder.join("sdk/package.json"), "{}").unwrap();
        let project = Project {
            folder: folder.clone(),
            name: crate::Name::new("mine").unwrap(),
            language: crate::Language::Js,
            roles: Vec::new(),
            entry: None,
            sdk: folder.join("sdk"),
            wants: None,
        };
        let find = |manifest: &str| {
            std::fs::write(folder.join(MANIFEST), manifest).unwrap();
            find_other_source(&project).unwrap()
        };
        let plain = r#"{"dependencies": {"syrch-plugin": "file:./sdk", "esbuild": "^0.28.2"}}"#;
        assert_eq!(find(plain), None);
        for version in
            ["file:./tool", "npm:evil@1", "evil/esbuild", "https://x/e.tgz", "e.tgz", "git+ssh://x"]
        {
            let manifest = format!(r#"{{"devDependencies": {{"esbuild": "{version}"}}}}"#);
            assert_eq!(find(&manifest), Some(format!("esbuild {version}")));
        }
        assert!(find(r#"{"overrides": {"esbuild": "file:./tool"}}"#).is_some());
        let linked =
            r#"{"packages": {"node_modules/esbuild": {"resolved": "tool", "link": true}}}"#;
        std::fs::write(folder.join("package-lock.json"), linked).unwrap();
        assert!(find(plain).unwrap().contains("node_modules/esbuild"));
        std::fs::remove_file(folder.join("package-lock.json")).unwrap();
        std::fs::write(folder.join("sdk/package.json"), r#"{"bin": {"esbuild": "x"}}"#).unwrap();
        assert_eq!(find(plain), Some("syrch-plugin file:./sdk".to_owned()));
    }

    #[test]
    fn projects_with_the_same_packages_share_their_manifest() {
        let of = |name: &str, sdk: &str| {
            let packages =
                format!(r#""dependencies": {{"syrch-plugin": "file:{sdk}", "left": "1.0.0"}}"#);
            make_shared_manifest(&format!(
                r#"{{"name": "{name}", {packages}, "devDependencies": {{"esbuild": "0.28.2"}}}}"#
            ))
            .unwrap()
        };
        assert_eq!(of("a", "./sdk"), of("b", "../.."));
        let shared: Value = serde_json::from_str(&of("a", "./sdk")).unwrap();
        assert_eq!(shared["dependencies"], serde_json::json!({"left": "1.0.0"}));
        assert_eq!(shared["devDependencies"]["esbuild"], "0.28.2");
    }
}
