//! JavaScript and TypeScript: esbuild makes one module of the sources, and the tool of an engine
//! makes a component of it: componentize-qjs one with QuickJS, and componentize-js, where
//! package.json names it, one with StarlingMonkey.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::bounds::Bounds;
use super::{Build, Runner, contract, npmrc};
use crate::{Error, Project, files};

const INSTALL: &str =
    "install Node 18 or newer with npm: `apt install nodejs npm`, or https://nodejs.org/";
/// The program that makes one module of the sources, and its package.
const ESBUILD: &str = "esbuild";
/// The file that names the packages of a project.
const MANIFEST: &str = "package.json";
/// The file that pins the packages that npm has chosen.
const LOCK: &str = "package-lock.json";
/// Further files by which npm chooses packages, which it does not write.
const OTHER_LOCKS: [&str; 2] = ["npm-shrinkwrap.json", "yarn.lock"];
/// The public registry.
const REGISTRY: &str = "https://registry.npmjs.org/";
/// The package manager.
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };
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

/// The registries that the user's own settings of npm name, by the scopes of packages; that of all
/// others has an empty one.
#[derive(Default)]
pub(super) struct Registries(BTreeMap<String, String>);

impl Registries {
    /// Asks npm outside of the project, whose own settings do not count. Without an answer it is
    /// the public registry.
    fn ask(runner: &Runner<'_>) -> Self {
        let listed = runner.ask(Command::new(NPM).args(["config", "list", "--json"]));
        let settings = listed.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let settings = settings.as_ref().and_then(Value::as_object).into_iter().flatten();
        let named = settings.filter_map(|(key, value)| {
            let scope = key.strip_suffix("registry")?;
            let scope = if scope.is_empty() { "" } else { scope.strip_suffix(':')? };
            Some((scope.to_owned(), value.as_str()?.to_owned()))
        });
        Self(named.collect())
    }

    /// The registry of all packages whose scope has none of its own.
    fn main(&self) -> &str {
        self.0.get("").map_or(REGISTRY, String::as_str)
    }

    /// Returns true if a package of that name is at this address in the user's registry of it, or
    /// in the public one, in whose place npm asks that of the user.
    fn has(&self, name: &str, address: &str) -> bool {
        let scope = name.split_once('/').map_or("", |(scope, _)| scope);
        let own = self.0.get(scope).map_or(self.main(), String::as_str);
        [REGISTRY, own].iter().any(|registry| {
            let path = address.strip_prefix(registry.trim_end_matches('/'));
            path.is_some_and(|path| path.starts_with(&format!("/{name}/-/")))
        })
    }
}

pub(super) fn build(build: &Build<'_>, out: &Path) -> Result<(), Error> {
    let entry = build.entry()?.to_owned();
    let registries = build.no_scripts.then(|| Registries::ask(&build.runner));
    if let Some(registries) = &registries
        && let Some(other) = list_other_sources(build.project, registries)?.into_iter().next()
    {
        let path = build.project.folder.join(other.file).display().to_string();
        return Err(Error::NoWheel { path, line: other.line });
    }
    let engine = Engine::for_project(&build.project.folder)?;
    let bounds = bounds(build)?;
    let runner = Runner { bounds: bounds.as_ref(), ..build.runner };
    let modules = modules(build, &runner, engine, registries.as_ref())?;
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
    let read = build.folder.join("inputs.json");
    esbuild.arg(format!("--metafile={}", read.display()));
    esbuild.arg(format!("--outfile={}", bundle.display())).env("NODE_PATH", &modules);
    runner.run(ESBUILD, &mut esbuild, INSTALL).map_err(own_words)?;
    // What was read of a foreign file stays nowhere.
    read_json(&read)
        .and_then(|report| build.refuse_foreign(list_inputs(&report), &[&modules]))
        .inspect_err(|_| drop(std::fs::remove_file(&bundle)))?;

    build.runner.step(engine.tool());
    let mut tool = Command::new(program(&modules, engine.tool()));
    tool.current_dir(&build.project.folder);
    engine.arguments(&mut tool, &build.wit, &bundle);
    tool.arg("-o").arg(out);
    let named = format!("package.json must name {}", engine.package());
    runner.run(engine.tool(), &mut tool, &named).map_err(own_words)
}

/// The bounds within which the tools work. Node is the program itself, and not the one of a manager
/// of versions that finds it.
fn bounds(build: &Build<'_>) -> Result<Option<Bounds>, Error> {
    let Some(bounds) = build.bounds()? else { return Ok(None) };
    let node = build.runner.ask(Command::new("node").args(["-p", "process.execPath"]));
    // Then npm is missing, too.
    let Some(node) = node.map(PathBuf::from) else { return Ok(None) };
    let environment = build.runner.environment;
    let bounds = bounds.read_program(environment, &node);
    let bounds = node
        .parent()
        .into_iter()
        .fold(bounds, |bounds, folder| bounds.find_first(environment, folder));
    Ok(build.probe(bounds, Command::new(&node).args(["-e", "0"])))
}

/// Lists the files of which esbuild made a module, by its report.
fn list_inputs(report: &Value) -> Vec<PathBuf> {
    let inputs = report["inputs"].as_object().into_iter().flatten().map(|(path, _)| path);
    // Files that a package leaves out for this platform are empty.
    inputs.filter(|path| !path.starts_with("(disabled):")).map(PathBuf::from).collect()
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

/// A package that npm installs from elsewhere than the public registry, or a setting that could
/// lead there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OtherSource {
    /// The file of the project that names it.
    pub(super) file: &'static str,
    /// The package with its place, the key of a manifest, or the line of the settings.
    pub(super) line: String,
}

impl Display for OtherSource {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "`{}`: {}", self.file, self.line)
    }
}

/// Lists what a project brings that is no package of the public registry or of the user's own by
/// its versions. The SDK may be a folder, if it brings no program and no package.
pub(super) fn list_other_sources(
    project: &Project,
    registries: &Registries,
) -> Result<Vec<OtherSource>, Error> {
    let mut found = Vec::new();
    let manifest = read_json(&project.folder.join(MANIFEST))?;
    for key in ["overrides", "workspaces", "bundleDependencies", "bundledDependencies"] {
        if manifest.get(key).is_some() {
            found.push(OtherSource { file: MANIFEST, line: key.to_owned() });
        }
    }
    let lists = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
    for (name, version) in lists.iter().filter_map(|list| manifest[list].as_object()).flatten() {
        let version = version.as_str().unwrap_or_default().trim();
        let is_plain = is_registry_version(version) || name == SDK && is_own_sdk(project, version)?;
        if !is_plain {
            found.push(OtherSource { file: MANIFEST, line: format!("{name} {version}") });
        }
    }
    let locked = read_json(&project.folder.join(LOCK))?;
    let packages = locked["packages"].as_object().into_iter().flatten();
    // The project itself and the folder of its SDK, which are not installed, have other names.
    let packages = packages.filter_map(|(path, package)| {
        let (_, name) = path.rsplit_once("node_modules/")?;
        Some((name, package))
    });
    let mut packages: Vec<(&str, &Value)> = packages.collect();
    collect_old(&locked, &mut packages);
    for (name, package) in packages {
        // A package may ask for another under a name of its own, and the project for none.
        let is_alias = package["name"].as_str().is_some_and(|other| other != name);
        let is_asked = lists.iter().any(|list| manifest[list].get(name).is_some());
        let is_plain = is_of_registry(name, package, registries) && !(is_alias && is_asked);
        if !(is_plain || name == SDK && is_link_to_sdk(project, package)?) {
            let place = package["resolved"].as_str().or(package["version"].as_str());
            found.push(OtherSource {
                file: LOCK,
                line: format!("{name} {}", place.unwrap_or_default()),
            });
        }
    }
    for file in OTHER_LOCKS.into_iter().filter(|file| exists(&project.folder.join(file))) {
        found.push(OtherSource { file, line: "a lock that npm reads".to_owned() });
    }
    for line in npmrc::list_others(&project.folder)? {
        found.push(OtherSource { file: npmrc::FILE, line });
    }
    Ok(found)
}

/// Adds the packages of a lock as it was before npm 7, which may stand beside those of today.
fn collect_old<'a>(locked: &'a Value, found: &mut Vec<(&'a str, &'a Value)>) {
    for (name, package) in locked["dependencies"].as_object().into_iter().flatten() {
        found.push((name, package));
        // The lists of today's entries have versions in the place of packages.
        if package.is_object() {
            collect_old(package, found);
        }
    }
}

/// Returns true if npm installs a package of a lock from a registry and checks its digest.
fn is_of_registry(name: &str, package: &Value, registries: &Registries) -> bool {
    let name = package["name"].as_str().unwrap_or(name);
    let version = package["version"].as_str().unwrap_or("*");
    let is_fetched = match package["resolved"].as_str() {
        Some(place) => registries.has(name, place) && package["integrity"].is_string(),
        // npm asks the registry for the version.
        None => package.get("resolved").is_none(),
    };
    is_fetched && is_registry_version(version) && package.get("link").is_none()
}

/// Returns true if an entry of a lock is the link to the folder of the project's SDK.
fn is_link_to_sdk(project: &Project, package: &Value) -> Result<bool, Error> {
    let resolved = package["resolved"].as_str().map(|path| format!("file:{path}"));
    match (package["link"] == true, resolved, package["version"].as_str()) {
        (true, Some(path), None) => is_own_sdk(project, &path),
        (false, None, Some(version)) => is_own_sdk(project, version),
        _ => Ok(false),
    }
}

fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
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

/// The folder of installed packages, which npm fills where package.json has changed, from these
/// registries if any are given, and otherwise from those of all settings.
fn modules(
    build: &Build<'_>,
    runner: &Runner<'_>,
    engine: Engine,
    registries: Option<&Registries>,
) -> Result<PathBuf, Error> {
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
        && files::read_text(&stamp).is_ok_and(|text| text.as_ref() == Some(&pinned))
        && build.record.holds(&modules, &pinned)
    {
        return Ok(modules);
    }
    // npm keeps what lies there, which may have come with the project.
    if modules.exists() && !build.record.is_own(&modules) {
        std::fs::remove_dir_all(&modules).map_err(|error| Error::file(&modules, error))?;
    }
    build.runner.step(&format!("npm install in {} (once)", folder.display()));
    let mut npm = Command::new(NPM);
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
    // Not into a folder above, whose package.json and .npmrc nobody has looked at.
    npm.arg("--prefix").arg(&folder);
    // An .npmrc of the project stands above that of the user, whose mirror may be the only way out.
    npm.args(registries.map(|registries| format!("--registry={}", registries.main())));
    build.runner.run("npm install", &mut npm, INSTALL)?;
    check_tool(runner, &modules, ESBUILD, ESBUILD)?;
    check_tool(runner, &modules, engine.tool(), engine.package())?;
    let installed = pins(&folder)?;
    std::fs::write(&stamp, &installed).map_err(|error| Error::file(&stamp, error))?;
    build.record.keep(&modules, &installed);
    Ok(modules)
}

/// Checks that a tool works that npm has installed.
fn check_tool(runner: &Runner<'_>, modules: &Path, tool: &str, package: &str) -> Result<(), Error> {
    let program = program(modules, tool);
    if runner.ask(Command::new(&program).arg("--help")).is_some() {
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
    for name in [MANIFEST, LOCK] {
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
    fn a_file_of_the_user_is_no_part_of_a_module() {
        let scratch = syrch_kit::scratch();
        let project = scratch.path().join("p");
        std::fs::create_dir(&project).unwrap();
        for path in ["p/plugin.js", "config.json"] {
            std::fs::write(scratch.path().join(path), "").unwrap();
        }
        let check = |path: &str| {
            let report = serde_json::json!({"inputs": {"plugin.js": {}, path: {}}});
            crate::sources::refuse_foreign(list_inputs(&report), &[&project])
        };
        let absolute = scratch.path().join("config.json").display().to_string();
        assert!(check("./plugin.js").is_ok() && check("(disabled):node_modules/x.js").is_ok());
        for path in ["../config.json", &absolute, "missing.js"] {
            let error = check(path).unwrap_err().to_string();
            assert!(error.contains("lies outside of the project"), "{error}");
        }
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
            let others = list_other_sources(&project, &Registries::default()).unwrap().into_iter();
            others.map(|other| other.to_string()).next()
        };
        let plain = r#"{"dependencies": {"syrch-plugin": "file:./sdk", "esbuild": "^0.28.2"}}"#;
        assert_eq!(find(plain), None);
        for version in
            ["file:./tool", "npm:evil@1", "evil/esbuild", "https://x/e.tgz", "e.tgz", "git+ssh://x"]
        {
            let manifest = format!(r#"{{"devDependencies": {{"esbuild": "{version}"}}}}"#);
            assert_eq!(find(&manifest), Some(format!("`package.json`: esbuild {version}")));
        }
        assert!(find(r#"{"overrides": {"esbuild": "file:./tool"}}"#).is_some());
        let lock = |path: &str, package: &str| {
            let text = format!(r#"{{"packages": {{"": {{}}, "sdk": {{}}, "{path}": {package}}}}}"#);
            std::fs::write(folder.join(LOCK), text).unwrap();
            find(plain)
        };
        let place = "https://registry.npmjs.org/esbuild/-/esbuild-1.0.0.tgz";
        let whole = format!(r#"{{"version": "1.0.0", "resolved": "{place}", "integrity": "x"}}"#);
        assert_eq!(lock("node_modules/esbuild", &whole), None);
        assert_eq!(lock("node_modules/syrch-plugin", r#"{"resolved": "sdk", "link": true}"#), None);
        let alias = whole.replace("{", "{\"name\": \"b\", ").replace("esbuild/-/", "b/-/");
        assert_eq!(lock("node_modules/a/node_modules/c", &alias), None);
        for (path, package) in [
            ("node_modules/esbuild", r#"{"resolved": "tool", "link": true}"#.to_owned()),
            ("node_modules/esbuild", whole.replace("https", "http")),
            ("node_modules/esbuild", whole.replace("npmjs.org", "npmjs.org.evil.example")),
            ("node_modules/esbuild", whole.replace("integrity", "none")),
            (
                "node_modules/esbuild",
                whole.replace("{", "{\"name\": \"evil\", ").replace("esbuild/-/", "evil/-/"),
            ),
            ("node_modules/esbuild", whole.replace("esbuild/-/", "evil/-/")),
            ("node_modules/esbuild", r#"{"version": "https://evil.example/x.tgz"}"#.to_owned()),
            ("node_modules/a/node_modules/esbuild", whole.replace("https", "http")),
            ("node_modules/syrch-plugin", whole.replace("https", "http")),
            ("node_modules/syrch-plugin", r#"{"resolved": "tool", "link": true}"#.to_owned()),
        ] {
            let found = lock(path, &package);
            let found = found.unwrap_or_else(|| panic!("{path} {package}"));
            assert!(found.starts_with("`package-lock.json`: "), "{found}");
        }
        let old = r#"{"dependencies": {"a": {"version": "1.0.0", "dependencies": {"esbuild":
            {"version": "http://evil.example/x.tgz"}}}}}"#;
        std::fs::write(folder.join(LOCK), old).unwrap();
        assert!(find(plain).unwrap().contains("esbuild http://evil"));
        std::fs::remove_file(folder.join(LOCK)).unwrap();
        for (file, text) in [("yarn.lock", "x"), ("npm-shrinkwrap.json", "{}"), (".npmrc", "git=x")]
        {
            std::fs::write(folder.join(file), text).unwrap();
            assert!(find(plain).unwrap().starts_with(&format!("`{file}`")));
            std::fs::remove_file(folder.join(file)).unwrap();
        }
        std::fs::write(folder.join("sdk/package.json"), r#"{"bin": {"esbuild": "x"}}"#).unwrap();
        assert_eq!(find(plain), Some("`package.json`: syrch-plugin file:./sdk".to_owned()));
    }

    #[test]
    fn a_package_is_at_its_place_in_a_registry() {
        let named = [("", "https://corp.example/npm"), ("@mine", "https://mine.example/")];
        let named = named.map(|(scope, registry)| (scope.to_owned(), registry.to_owned()));
        let registries = Registries(named.into());
        for (name, address) in [
            ("a", "https://registry.npmjs.org/a/-/a-1.tgz"),
            ("a", "https://corp.example/npm/a/-/a-1.tgz"),
            ("@other/a", "https://corp.example/npm/@other/a/-/a-1.tgz"),
            ("@mine/a", "https://mine.example/@mine/a/-/a-1.tgz"),
        ] {
            assert!(registries.has(name, address), "{address}");
            let is_public = address.starts_with(REGISTRY);
            assert_eq!(Registries::default().has(name, address), is_public, "{address}");
        }
        for (name, address) in [
            ("a", "https://corp.example/a/-/a-1.tgz"),
            ("a", "https://corp.example/npm.evil/a/-/a-1.tgz"),
            ("a", "https://corp.example/npm/b/-/a-1.tgz"),
            ("a", "https://mine.example/a/-/a-1.tgz"),
            ("@mine/a", "https://corp.example/npm/@mine/a/-/a-1.tgz"),
        ] {
            assert!(!registries.has(name, address), "{address}");
        }
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
