//! The programs that a build runs, for whoever is to agree to it before it does.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use syrch::syrch_core::text::count;
use syrch::syrch_core::text::escape::{clip_with_remark, escape_quotation};
use toml::{Table, Value};

use super::environment::list_variables;
use super::javascript::Registries;
use super::{digest, javascript, npmrc, python};
use crate::definition::Project;
use crate::{Error, Language, files};

/// The files that decide which programs run. Their contents are in the digest of a plan.
const DECIDING: [&str; 17] = [
    "plugin.yml",
    "Cargo.toml",
    "Cargo.lock",
    "build.rs",
    ".cargo/config.toml",
    ".cargo/config",
    "rust-toolchain.toml",
    "rust-toolchain",
    "requirements.txt",
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "sdk/package.json",
    ".npmrc",
    "go.mod",
    "go.sum",
];
/// The files among them that a build writes itself.
const LOCKS: [&str; 3] = ["Cargo.lock", "package-lock.json", "go.sum"];
/// The settings of cargo and of rustup, which count in each folder and in those above it.
const SETTINGS: [&str; 4] =
    [".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"];
/// The settings of managers of versions, which find the programs of a project by them. Files such
/// as `.python-version` and `.nvmrc` are none: they choose among what the user has installed.
const MANAGED: [&str; 10] = [
    ".tool-versions",
    ".mise.toml",
    ".mise.local.toml",
    "mise.toml",
    "mise.local.toml",
    ".mise/config.toml",
    "mise/config.toml",
    ".config/mise.toml",
    ".config/mise/config.toml",
    ".config/mise/conf.d",
];
/// The registry of a lock file of cargo.
const CRATES: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// The manifest of a package of Rust.
const MANIFEST: &str = "Cargo.toml";
/// Folders that tools fill.
const FILLED: [&str; 3] = ["target", "node_modules", ".git"];
/// Files of a project and of its packages at most, and their bytes together.
const MOST: usize = 20_000;
const LARGEST: u64 = 256 << 20;
/// Characters of a step at most: the names in it are the project's.
const LONGEST: usize = 400;
/// Characters of a step that names a package at most.
const LONGEST_NAME: usize = 120;

/// The programs that the build of a project runs with the rights of its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The steps, a line for each. They quote the project.
    pub steps: Vec<String>,
    /// The sha256 of the steps and of the files that decide them: another one is another plan.
    pub digest: String,
    /// The same without what a build writes itself: the locks of packages, the folder of what is
    /// made, and the steps, which name the packages.
    fixed: String,
}

impl Plan {
    /// Reads the plan of a project. Nothing is run.
    ///
    /// # Errors
    /// When a file of the project cannot be read, or a path or a symbolic link leads out of it.
    pub fn read(project: &Project, no_scripts: bool) -> Result<Self, Error> {
        crate::sources::refuse_outside(project)?;
        let mut steps = match project.language {
            Language::Rust => describe_rust(project)?,
            Language::Python => describe_python(project, no_scripts)?,
            Language::Js | Language::Ts => describe_javascript(project)?,
            Language::Go => vec![
                "go build, which compiles the project and runs nothing of it; where Go 1.27 is \
                 missing, pip install of it from PyPI"
                    .to_owned(),
            ],
            Language::C => vec![
                "clang, which compiles the project and runs nothing of it; where it is missing, \
                 pip install of Zig from PyPI"
                    .to_owned(),
            ],
        };
        let sdk = project.sdk.canonicalize().unwrap_or_else(|_| project.sdk.clone());
        let folder = project.folder.canonicalize().unwrap_or_else(|_| project.folder.clone());
        if sdk.is_dir() && !sdk.starts_with(folder) {
            steps.push(format!("the SDK in `{}`, outside of the project", sdk.display()));
        }
        let managed = list_managed(project);
        steps.extend(
            managed.map(|path| format!("the programs and versions of `{}`", path.display())),
        );
        let mut seen = String::new();
        for path in list_managed(project) {
            // One may be a folder of them.
            let more = fs::read_dir(&path).into_iter().flatten().flatten();
            let more = more.map(|entry| entry.path()).collect::<BTreeSet<_>>();
            for file in more {
                let content = files::read(&file).ok().flatten().unwrap_or_default();
                seen.push_str(&format!("\n{file:?} {}", digest(content)));
            }
            let content = files::read(&path).ok().flatten().unwrap_or_default();
            seen.push_str(&format!("\n{path:?} {}", digest(content)));
        }
        for file in DECIDING {
            let content = files::read(&project.folder.join(file))?.map(digest);
            seen.push_str(&format!("\n{file} {}", content.unwrap_or_default()));
        }
        let runs_its_files = match project.language {
            Language::Rust => true,
            Language::Python => !python::is_plain(project)?,
            Language::Js | Language::Ts => {
                !javascript::list_other_sources(project, &Registries::default())?.is_empty()
            }
            Language::Go | Language::C => false,
        };
        if runs_its_files {
            let folders = digest_files(project, &mut seen)?;
            let folders = folders.iter().map(|folder| folder.display());
            steps.extend(folders.map(|folder| format!("a package outside of it, in `{folder}`")));
        }
        if project.language == Language::Rust {
            digest_settings_above(&project.folder, &mut seen, &mut steps);
        }
        for step in &mut steps {
            let shown = clip_with_remark(&escape_quotation(step), LONGEST).into_owned();
            *step = shown;
        }
        // As they stand among the files that decide, and among all files, as does what is made.
        let root = project.folder.canonicalize().unwrap_or_else(|_| project.folder.clone());
        let locks = LOCKS.map(|lock| [format!("{lock} "), format!("{:?} ", root.join(lock))]);
        let made = format!("{:?}", root.join("build/x"));
        let made = made.trim_end_matches("x\"");
        let mut fixed: Vec<&str> = seen.lines().collect();
        fixed.retain(|line| !locks.iter().flatten().any(|lock| line.starts_with(lock)));
        fixed.retain(|line| !line.starts_with(made));
        let fixed = digest(fixed.join("\n"));
        seen.push_str(&format!("{steps:?}"));
        Ok(Self { digest: digest(seen), steps, fixed })
    }

    /// Returns true if another plan of the project differs in nothing but what a build writes
    /// itself.
    #[must_use]
    pub fn is_same_but_for_locks(&self, other: &Self) -> bool {
        self.fixed == other.fixed
    }
}

/// Lists the folders outside of a project that its manifests of Rust name.
pub(super) fn list_outside(project: &Project) -> Result<Vec<PathBuf>, Error> {
    digest_files(project, &mut String::new())
}

/// Adds the files of a project to what a digest is made of, and those of the folders that its
/// manifests of Rust name. Returns the folders of them that lie outside of the project.
fn digest_files(project: &Project, seen: &mut String) -> Result<Vec<PathBuf>, Error> {
    let root = project.folder.canonicalize();
    let root = root.map_err(|error| Error::file(&project.folder, error))?;
    // Each build writes them anew, and no build reads them.
    let component = format!("{}.wasm", project.name.as_str());
    let made = [component.as_str(), ".lock", ".sources", "last-run"];
    let made = made.map(|name| root.join("build").join(name));
    let mut roots = vec![root.clone()];
    let mut folders = vec![root.clone()];
    let mut number = 0;
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        let wrong = |error: std::io::Error| Error::file(&folder, error);
        let entries = fs::read_dir(&folder).map_err(wrong)?;
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        for path in paths.collect::<Result<BTreeSet<_>, _>>().map_err(wrong)? {
            let data = fs::symlink_metadata(&path).map_err(|error| Error::file(&path, error))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_filled = FILLED.contains(&name.as_ref())
                || name == ".tools" && project.language != Language::Rust;
            if data.is_symlink() {
                let target = fs::read_link(&path).map_err(|error| Error::file(&path, error))?;
                seen.push_str(&format!("\n{path:?} {target:?}"));
            } else if data.is_dir() && !is_filled {
                folders.push(path);
            } else if data.is_file() && !made.contains(&path) {
                number += 1;
                bytes += data.len();
                if number > MOST || bytes > LARGEST {
                    let most = format!("has more than {MOST} files or {LARGEST} bytes to look at");
                    return Err(Error::file(&folder, most));
                }
                let content = fs::read(&path).map_err(|error| Error::file(&path, error))?;
                if name == MANIFEST {
                    let text = String::from_utf8_lossy(&content);
                    let named = list_paths(&text).into_iter();
                    for other in named.filter_map(|other| folder.join(other).canonicalize().ok()) {
                        // Any other folder or file is none of a package's, and is not read where
                        // cargo is bounded.
                        if roots.iter().any(|root| other.starts_with(root)) {
                        } else if other.join(MANIFEST).is_file() {
                            roots.push(other.clone());
                            folders.push(other);
                        } else if let Ok(Some(content)) = files::read(&other) {
                            seen.push_str(&format!("\n{other:?} {}", digest(content)));
                        }
                    }
                }
                seen.push_str(&format!("\n{path:?} {}", digest(content)));
            }
        }
    }
    Ok(roots.split_off(1))
}

/// The paths that a manifest of Rust names; none of one that cargo cannot read either.
fn list_paths(manifest: &str) -> Vec<String> {
    fn collect_paths(key: &str, value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) if ["path", "build", "workspace"].contains(&key) => {
                found.push(text.clone());
            }
            Value::Table(table) => {
                table.iter().for_each(|(key, value)| collect_paths(key, value, found))
            }
            Value::Array(items) => items.iter().for_each(|value| collect_paths(key, value, found)),
            _ => {}
        }
    }
    let table: Table = manifest.parse().unwrap_or_default();
    let mut found = Vec::new();
    table.iter().for_each(|(key, value)| collect_paths(key, value, &mut found));
    found
}

/// Adds the files above a project that decide what cargo runs, and a step for each that names
/// programs.
fn digest_settings_above(project: &Path, seen: &mut String, steps: &mut Vec<String>) {
    for folder in project.ancestors().skip(1) {
        for name in SETTINGS.into_iter().chain([MANIFEST]) {
            let path = folder.join(name);
            // They are the user's: a link is followed, and what cannot be read is no setting.
            let is_file = fs::metadata(&path).is_ok_and(|data| data.is_file());
            let content = if is_file { fs::read(&path).ok() } else { None };
            let Some(content) = content else { continue };
            seen.push_str(&format!("\n{path:?} {}", digest(content)));
            if name != MANIFEST {
                let path = path.display();
                steps.push(format!("the programs and toolchains that `{path}` names"));
            }
        }
    }
}

/// Returns the files by which managers of versions find other programs for a project: its own, and
/// those of the repository that it lies in.
pub(super) fn list_managed(project: &Project) -> impl Iterator<Item = PathBuf> {
    let folder = project.folder.as_path();
    let root = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder);
    let folders = folder.ancestors().take_while(move |folder| folder.starts_with(root));
    let files = folders.flat_map(|folder| MANAGED.map(|file| folder.join(file)));
    files.filter(|path| fs::symlink_metadata(path).is_ok())
}

fn exists(project: &Project, file: &str) -> bool {
    fs::symlink_metadata(project.folder.join(file)).is_ok()
}

fn name_package(package: &str) -> String {
    let step = format!("the package {package}");
    clip_with_remark(&escape_quotation(&step), LONGEST_NAME).into_owned()
}

fn describe_rust(project: &Project) -> Result<Vec<String>, Error> {
    let own = if exists(project, "build.rs") { " (build.rs)" } else { "" };
    let lock = files::read_text(&project.folder.join("Cargo.lock"))?;
    let names = list_locked(lock.as_deref().unwrap_or_default());
    let packages = match &lock {
        None => "all packages that cargo chooses, since there is no Cargo.lock".to_owned(),
        Some(_) => format!("the {} of Cargo.lock:", count(names.len(), "package")),
    };
    let mut steps = vec![
        "cargo build".to_owned(),
        format!("build scripts and procedural macros of the project{own} and of {packages}"),
    ];
    steps.extend(names.iter().map(|name| name_package(name)));
    let named = SETTINGS.iter().filter(|file| exists(project, file));
    steps.extend(named.map(|file| format!("the programs and toolchains that `{file}` names")));
    Ok(steps)
}

/// Returns the packages of a lock file of cargo, those that are not from crates.io with where they
/// are from; none of one that cargo cannot read either.
fn list_locked(lock: &str) -> Vec<String> {
    let table: Table = lock.parse().unwrap_or_default();
    let packages = table.get("package").and_then(Value::as_array).into_iter().flatten();
    let named = packages.filter_map(|package| {
        let name = package.get("name")?.as_str()?;
        match package.get("source").and_then(Value::as_str) {
            Some(source) if source != CRATES => Some(format!("{name} from {source}")),
            _ => Some(name.to_owned()),
        }
    });
    named.collect()
}

/// Returns a step for each variable of the user that a line of a tool's settings names.
fn describe_variables(file: &str, line: &str) -> Vec<String> {
    let variables = list_variables(line).map(|name: &str| {
        format!("the value of your variable `{name}` is sent where `{file}` says: {line}")
    });
    variables.collect()
}

fn describe_python(project: &Project, no_scripts: bool) -> Result<Vec<String>, Error> {
    let packages = python::list_packages(project)?;
    let back_ends = match no_scripts {
        true => "from wheels alone",
        false => "with the build back ends of those that have no wheel",
    };
    let number = count(packages.len(), "package");
    let mut steps = vec![format!("pip install of {number}, {back_ends}:")];
    steps.extend(packages.iter().map(|package| name_package(package)));
    steps.extend(packages.iter().flat_map(|line| describe_variables(python::LIST, line)));
    steps.push(
        "componentize-py as these packages have it, which runs the project's modules in a sandbox"
            .to_owned(),
    );
    Ok(steps)
}

fn describe_javascript(project: &Project) -> Result<Vec<String>, Error> {
    let packages = javascript::list_packages(project)?;
    let settings = match exists(project, npmrc::FILE) {
        true => " under the settings of its `.npmrc`",
        false => "",
    };
    let number = count(packages.len(), "package");
    let mut steps =
        vec![format!("npm install of {number}{settings}, without the scripts of packages:")];
    steps.extend(packages.iter().map(|package| name_package(package)));
    for line in npmrc::list_others(&project.folder)? {
        let variables = describe_variables(npmrc::FILE, &line);
        match variables.is_empty() {
            true => steps.push(format!("npm under this setting of `{}`: {line}", npmrc::FILE)),
            false => steps.extend(variables),
        }
    }
    let others = javascript::list_other_sources(project, &Registries::default())?;
    steps.extend(
        others
            .iter()
            .filter(|other| other.file != npmrc::FILE)
            .map(|other| format!("what is none of npm's registry, by {other}")),
    );
    steps.push(
        "esbuild and the program that makes components, as these packages have them".to_owned(),
    );
    Ok(steps)
}

/// Returns true if a folder has all sources of the SDK of a language that this host has. Its
/// documents and its manifest may be missing, as in the folder of an installed package.
pub(crate) fn is_sdk(folder: &Path, language: Language) -> bool {
    const SOURCES: [&str; 6] = ["rs", "py", "js", "go", "c", "h"];
    let sdk = format!("sdk/{}", language.sdk());
    let mut sources = crate::packed::below(&sdk)
        .filter(|(path, _)| {
            SOURCES.iter().any(|ending| Path::new(path).extension() == Some((*ending).as_ref()))
        })
        .peekable();
    sources.peek().is_some() && sources.all(|(path, _)| folder.join(path).is_file())
}

#[cfg(test)]
mod tests {
    use syrch::syrch_core::roles::Role;

    use super::*;
    use crate::Name;

    fn project(folder: &Path, language: Language) -> Project {
        Project {
            folder: folder.to_owned(),
            name: Name::new("mine").unwrap(),
            language,
            roles: vec![Role::Reward],
            entry: None,
            sdk: folder.join("sdk"),
            wants: None,
        }
    }

    #[test]
    fn a_plan_names_what_runs_and_changes_with_it() {
        let scratch = syrch_kit::scratch();
        let write = |path: &str, text: &str| {
            let path = scratch.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let rust = project(scratch.path(), Language::Rust);
        let bare = Plan::read(&rust, false).unwrap();
        assert!(bare.steps[1].contains("no Cargo.lock"), "{bare:?}");
        write("build.rs", "fn main() {}");
        write("Cargo.lock", "[[package]]\nname = \"mine\"\n\n[[package]]\nname = \"evil\"\n");
        write(".cargo/config.toml", "[build]\nrustc-wrapper = \"./evil\"\n");
        let plan = Plan::read(&rust, false).unwrap();
        for part in ["(build.rs)", "2 packages of Cargo.lock", "package evil", ".cargo/config.toml"]
        {
            assert!(plan.steps.iter().any(|step| step.contains(part)), "{part}: {plan:?}");
        }
        assert_eq!(plan, Plan::read(&rust, false).unwrap());
        write("build.rs", "fn main() { evil() }");
        let changed = Plan::read(&rust, false).unwrap();
        assert_eq!(plan.steps, changed.steps);
        assert_ne!(plan.digest, changed.digest);

        let python = project(scratch.path(), Language::Python);
        write("requirements.txt", "# tools\ncomponentize-py==0.25.1\nevil @ https://x/e.tar.gz\n");
        let scripts = Plan::read(&python, false).unwrap();
        assert!(scripts.steps[2].contains("evil @ https://x") && scripts.steps[0].contains("back"));
        assert!(Plan::read(&python, true).unwrap().steps[0].contains("wheels alone"));

        let js = project(scratch.path(), Language::Js);
        write("package.json", r#"{"devDependencies": {"esbuild": "npm:evil@1"}}"#);
        write(".npmrc", "git=./evil\n");
        let steps = Plan::read(&js, false).unwrap().steps;
        assert!(
            steps[1].contains("esbuild npm:evil@1") && steps[0].contains(".npmrc"),
            "{steps:?}"
        );
    }

    #[test]
    fn all_that_cargo_may_run_is_in_the_digest() {
        let scratch = syrch_kit::scratch();
        let write = |path: &str, text: &str| {
            let path = scratch.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("p/Cargo.toml", "[package]\nbuild = \"x.rs\"\n[dependencies]\na.path = \"../a\"\n");
        write("a/Cargo.toml", "[dependencies]\nb = {path = \"../b\"}\n");
        write("b/Cargo.toml", "[package]\nbuild = \"../keys/one\"\n[lib]\npath = \"../keys\"\n");
        write("keys/one", "key");
        for path in ["p/x.rs", "p/src/lib.rs", "a/src/lib.rs", "b/build.rs", "p/build/mine.wasm"] {
            write(path, "one");
        }
        let rust = project(&scratch.path().join("p").canonicalize().unwrap(), Language::Rust);
        let mut before = Plan::read(&rust, false).unwrap();
        assert!(before.steps.iter().any(|step| step.contains("outside")), "{before:?}");
        let place = scratch.path().canonicalize().unwrap();
        assert_eq!(list_outside(&rust).unwrap(), [place.join("a"), place.join("b")], "no keys");
        for path in [
            "keys/one",
            "p/x.rs",
            "p/src/lib.rs",
            "p/src/new.rs",
            "a/src/lib.rs",
            "b/build.rs",
            ".cargo/config.toml",
            "rust-toolchain.toml",
            "Cargo.toml",
        ] {
            write(path, "# two");
            let after = Plan::read(&rust, false).unwrap();
            assert_ne!(before.digest, after.digest, "{path}");
            before = after;
        }
        for path in ["p/build/mine.wasm", "p/target/x", "p/.git/x", "p/node_modules/x"] {
            write(path, "# two");
            assert_eq!(before, Plan::read(&rust, false).unwrap(), "{path}");
        }
        // What a build writes needs no other consent, and what it changes does.
        write("p/Cargo.lock", "[[package]]\nname = \"a\"\n");
        let locked = Plan::read(&rust, false).unwrap();
        write("p/build/wit/x.wit", "made");
        let locked = Plan { digest: locked.digest, ..Plan::read(&rust, false).unwrap() };
        assert!(before.digest != locked.digest && before.is_same_but_for_locks(&locked));
        write("p/src/lib.rs", "three");
        assert!(!before.is_same_but_for_locks(&Plan::read(&rust, false).unwrap()));
        for path in [".mise.local.toml", ".config/mise/config.toml", ".config/mise/conf.d/x.toml"] {
            write(&format!("p/{path}"), "one");
            let one = Plan::read(&rust, false).unwrap();
            assert!(one.steps.iter().any(|step| step.contains("mise")), "{path}");
            write(&format!("p/{path}"), "two");
            assert_ne!(one.digest, Plan::read(&rust, false).unwrap().digest, "{path}");
        }
    }

    #[test]
    fn a_step_is_one_line_and_names_each_package() {
        let scratch = syrch_kit::scratch();
        let python = project(scratch.path(), Language::Python);
        let packages: String = (0..50).map(|number| format!("package-{number}==1\n")).collect();
        let long = "x".repeat(500);
        let text = format!("{packages}evil\u{202e}==1\n{long}\n");
        fs::write(scratch.path().join("requirements.txt"), text).unwrap();
        let steps = Plan::read(&python, false).unwrap().steps;
        assert!(steps.iter().any(|step| step == "the package package-49==1"), "{steps:?}");
        assert!(steps.iter().all(|step| step.chars().count() < 140), "{steps:?}");
        assert!(!steps.concat().contains('\u{202e}'));
    }

    #[cfg(unix)]
    #[test]
    fn no_path_of_a_definition_leads_out_of_the_project() {
        use std::os::unix::fs::symlink;
        let scratch = syrch_kit::scratch();
        let folder = scratch.path().join("p");
        let outside = scratch.path().join("outside");
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret.c"), "").unwrap();
        let refused = |project: &Project| {
            let error = Plan::read(project, false).err().map(|error| error.to_string());
            error.is_some_and(|error| error.contains("leads out of the project"))
        };
        let plain = project(&folder, Language::C);
        assert!(!refused(&plain));
        let sdk = Project { sdk: folder.join("../outside"), ..plain.clone() };
        assert!(refused(&sdk), "a folder that is no SDK");
        for (path, content) in crate::packed::below("sdk/c") {
            let path = outside.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let steps = Plan::read(&sdk, false).unwrap().steps;
        assert!(steps.iter().any(|step| step.contains("outside of the project")), "{steps:?}");
        symlink(outside.join("secret.c"), folder.join("plugin.c")).unwrap();
        assert!(refused(&Project { entry: Some("plugin.c".into()), ..plain.clone() }));
        fs::remove_file(folder.join("plugin.c")).unwrap();
        symlink(scratch.path(), folder.join("sdk")).unwrap();
        assert!(refused(&plain), "the folder of the SDK is a link");
        fs::remove_file(folder.join("sdk")).unwrap();
        fs::create_dir(folder.join("src")).unwrap();
        symlink("/etc/passwd", folder.join("src/data.txt")).unwrap();
        assert!(refused(&plain), "a source is a link");
    }
}
