//! The programs that a build runs, for whoever is to agree to it before it does.

use std::fs;
use std::path::Path;

use syrch::syrch_core::text::{clip, count, few};

use super::{digest, javascript, python};
use crate::definition::Project;
use crate::{Error, Language, files};

/// The files that decide which programs run. Their contents are in the digest of a plan.
const DECIDING: [&str; 14] = [
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
    ".npmrc",
    "go.mod",
    "go.sum",
];
/// Bytes of a step at most: the names in it are the project's.
const LONGEST: usize = 400;

/// The programs that the build of a project runs with the rights of its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The steps, a line for each. They quote the project.
    pub steps: Vec<String>,
    /// The sha256 of the steps and of the files that decide them: another one is another plan.
    pub digest: String,
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
        steps.iter_mut().for_each(|step| *step = clip(step, LONGEST).to_owned());
        let mut seen = steps.join("\n");
        for file in DECIDING {
            let content = files::read(&project.folder.join(file))?.map(digest);
            seen.push_str(&format!("\n{file} {}", content.unwrap_or_default()));
        }
        Ok(Self { digest: digest(seen), steps })
    }
}

fn exists(project: &Project, file: &str) -> bool {
    fs::symlink_metadata(project.folder.join(file)).is_ok()
}

fn describe_rust(project: &Project) -> Result<Vec<String>, Error> {
    let own = if exists(project, "build.rs") { " (build.rs)" } else { "" };
    let lock = files::read_text(&project.folder.join("Cargo.lock"))?;
    let packages = match &lock {
        None => "all packages that cargo chooses, since there is no Cargo.lock".to_owned(),
        Some(lock) => {
            let names = lock.lines().filter_map(|line| line.strip_prefix("name = "));
            let names: Vec<&str> = names.map(|name| name.trim_matches('"')).collect();
            let number = count(names.len(), "package");
            format!("the {number} of Cargo.lock: {}", few(names))
        }
    };
    let mut steps = vec![
        "cargo build".to_owned(),
        format!("build scripts and procedural macros of the project{own} and of {packages}"),
    ];
    let settings = [".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"];
    let named = settings.iter().filter(|file| exists(project, file));
    steps.extend(named.map(|file| format!("the programs and toolchains that `{file}` names")));
    Ok(steps)
}

fn describe_python(project: &Project, no_scripts: bool) -> Result<Vec<String>, Error> {
    let packages = few(python::list_packages(project)?);
    let back_ends = match no_scripts {
        true => "from wheels alone",
        false => "with the build back ends of those that have no wheel",
    };
    Ok(vec![
        format!("pip install of {packages}, {back_ends}"),
        "componentize-py as these packages have it, which runs the project's modules in a sandbox"
            .to_owned(),
    ])
}

fn describe_javascript(project: &Project) -> Result<Vec<String>, Error> {
    let packages = few(javascript::list_packages(project)?);
    let settings = match exists(project, ".npmrc") {
        true => " under the settings of its `.npmrc`",
        false => "",
    };
    Ok(vec![
        format!("npm install of {packages}{settings}, without the scripts of packages"),
        "esbuild and the program that makes components, as these packages have them".to_owned(),
    ])
}

/// Returns true if a folder has all files of the SDK of a language as this host has them.
pub(crate) fn is_sdk(folder: &Path, language: Language) -> bool {
    let sdk = format!("sdk/{}", language.sdk());
    let mut files = crate::packed::below(&sdk).peekable();
    files.peek().is_some() && files.all(|(path, _)| folder.join(path).is_file())
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
        for part in ["(build.rs)", "2 packages of Cargo.lock: mine, evil", ".cargo/config.toml"] {
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
        assert!(scripts.steps[0].contains("evil @ https://x") && scripts.steps[0].contains("back"));
        assert!(Plan::read(&python, true).unwrap().steps[0].contains("wheels alone"));

        let js = project(scratch.path(), Language::Js);
        write("package.json", r#"{"devDependencies": {"esbuild": "npm:evil@1"}}"#);
        write(".npmrc", "git=./evil\n");
        let step = &Plan::read(&js, false).unwrap().steps[0];
        assert!(step.contains("esbuild npm:evil@1") && step.contains(".npmrc"), "{step}");
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
