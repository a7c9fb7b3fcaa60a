//! Each SDK as the package of its language: it is made, installed in a fresh folder, and the
//! example `short` is built with what is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use syrch_kit::repository;

use super::{Work, passes};
use crate::languages::run_command;

/// Copies the files of a folder and of those below it, without what is made there.
pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name();
        let path = entry.path();
        if path.is_dir() {
            if !["build", "target", "node_modules", ".tools", "__pycache__"]
                .iter()
                .any(|made| name == *made)
            {
                copy(&path, &to.join(name));
            }
        } else {
            fs::copy(path, to.join(name)).unwrap();
        }
    }
}

/// The example `short` alone in a fresh folder.
fn example(work: &Work, language: &str) -> PathBuf {
    let project = work.path().join("short");
    copy(&repository().join("sdk").join(language).join("examples/short"), &project);
    project
}

/// Replaces a text of a file that has to be there.
pub(super) fn replace(file: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(old), "{}: no `{old}` in\n{text}", file.display());
    fs::write(file, text.replace(old, new)).unwrap();
}

/// The only file of a folder with that ending.
fn only(folder: &Path, ending: &str) -> PathBuf {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let files: Vec<PathBuf> =
        files.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    let [file] = files.as_slice() else { panic!("{}: {files:?}", folder.display()) };
    file.clone()
}

/// Builds the example and tries its cases.
fn is_built_with_the_package(work: &Work, project: &Path) {
    let component = work.build(project, "short");
    let own = work.path().join("cases");
    fs::create_dir(&own).unwrap();
    for name in [
        "short.default.yml",
        "short.default.golden.json",
        "short.limit.yml",
        "short.limit.golden.json",
    ] {
        fs::copy(repository().join("sdk/examples-cases").join(name), own.join(name)).unwrap();
    }
    passes(&component, &own);
}

/// The two crates are packed, and stand in the place of those of the registry, where they are not
/// published.
#[test]
fn of_rust() {
    let Some(work) = Work::for_language("rust") else { return };
    let target = work.path().join("packed");
    let words = [
        "package",
        "-p",
        "syrch-basics",
        "-p",
        "syrch-plugin",
        "--allow-dirty",
        "--no-verify",
        "--target-dir",
    ];
    work.run("cargo", &[&words[..], &[target.to_str().unwrap()]].concat(), &repository());
    let project = example(&work, "rust");
    let mut patches = "syrch-plugin = \"0.1.0\"\n\n[patch.crates-io]\n".to_owned();
    for name in ["syrch-basics", "syrch-plugin"] {
        let package = target.join(format!("package/{name}-0.1.0.crate"));
        work.run("tar", &["-xzf", package.to_str().unwrap()], work.path());
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(
                work.path().join(format!("{name}-0.1.0")).join(licence).is_file(),
                "{name}: {licence}"
            );
        }
        patches += &format!("{name} = {{ path = \"../{name}-0.1.0\" }}\n");
    }
    replace(&project.join("Cargo.toml"), "syrch-plugin = { path = \"../..\" }\n", &patches);
    is_built_with_the_package(&work, &project);
}

#[test]
fn of_python() {
    let Some(work) = Work::for_language("python") else { return };
    // pip builds in the folder of the sources.
    let sources = work.path().join("sources");
    copy(&repository().join("sdk/python"), &sources);
    let pip = |words: &[&str]| {
        let mut command = Command::new(work.tools.join("bin/python"));
        command
            .current_dir(work.path())
            .args(["-m", "pip", "--quiet", "--disable-pip-version-check"])
            .args(words);
        let made = run_command(&mut command);
        assert_eq!(made.code, 0, "{}", made.all());
    };
    pip(&["wheel", "--no-deps", "--wheel-dir", "wheels", "./sources"]);
    let wheel = only(&work.path().join("wheels"), ".whl");
    pip(&["install", "--no-deps", "--target", "installed", wheel.to_str().unwrap()]);
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let licence =
            work.path().join("installed/syrch_plugin-0.1.0.dist-info/licenses").join(licence);
        assert!(licence.is_file(), "{}", licence.display());
    }
    let project = example(&work, "python");
    replace(&project.join("plugin.yml"), "sdk: ../..", "sdk: ../installed");
    fs::remove_dir_all(&sources).unwrap();
    is_built_with_the_package(&work, &project);
}

#[test]
fn of_javascript() {
    let Some(work) = Work::for_language("js") else { return };
    let sdk = repository().join("sdk/js");
    work.run(
        "npm",
        &["pack", "--silent", "--pack-destination", work.path().to_str().unwrap()],
        &sdk,
    );
    let package = only(work.path(), ".tgz");
    let project = example(&work, "js");
    replace(&project.join("package.json"), "file:../..", &format!("file:{}", package.display()));
    replace(&project.join("plugin.yml"), "sdk: ../..", "sdk: node_modules/syrch-plugin");
    let words = [
        "install",
        "--omit=dev",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ];
    work.run("npm", &words, &project);
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(project.join("node_modules/syrch-plugin").join(licence).is_file(), "{licence}");
    }
    work.run("npm", &["test"], &project);
    is_built_with_the_package(&work, &project);
}

/// Makes the archive of a version, as a module proxy has it, without what belongs to other modules:
/// `archive.py MODULE TO PATH@VERSION`.
const ARCHIVE: &str = "
import os, sys, zipfile
module, to, name = sys.argv[1:]
with zipfile.ZipFile(to, 'w') as archive:
    for folder, folders, files in os.walk(module):
        folders[:] = [one for one in folders if not os.path.exists(os.path.join(folder, \
          one, 'go.mod'))]
        for file in files:
            path = os.path.join(folder, file)
            archive.write(path, f'{name}/{os.path.relpath(path, module)}')
";

/// The module is taken from a proxy by its path and version.
#[test]
fn of_go() {
    let Some(mut work) = Work::for_language("go") else { return };
    let path = "github.com/syrch/syrch-host/sdk/go";
    let version = "v0.1.0";
    let module = work.path().join("module");
    copy(&repository().join("sdk/go"), &module);
    let versions = work.path().join("proxy").join(path).join("@v");
    fs::create_dir_all(&versions).unwrap();
    fs::write(versions.join(format!("{version}.info")), format!("{{\"Version\": \"{version}\"}}"))
        .unwrap();
    fs::copy(module.join("go.mod"), versions.join(format!("{version}.mod"))).unwrap();
    let archive = versions.join(format!("{version}.zip"));
    let name = format!("{path}@{version}");
    let words = ["-c", ARCHIVE, module.to_str().unwrap(), archive.to_str().unwrap(), &name];
    work.run("python3", &words, work.path());
    fs::remove_dir_all(&module).unwrap();
    work.proxy = Some(work.path().join("proxy"));

    let project = example(&work, "go");
    replace(&project.join("go.mod"), &format!("replace {path} => ../..\n"), "");
    replace(&project.join("go.mod"), "v0.0.0", version);
    replace(&project.join("plugin.yml"), "sdk: ../..\n", "");
    work.run(work.go(), &["test", "."], &project);
    let installed = work.path().join("modules").join(name);
    for licence in ["LICENSE-MIT", "LICENSE-APACHE", "internal/wit/LICENSE"] {
        assert!(installed.join(licence).is_file(), "{licence}");
    }
    is_built_with_the_package(&work, &project);
}

/// There is no package of C: the sources stand in a folder of the project.
#[test]
fn of_c() {
    let Some(work) = Work::for_language("c") else { return };
    let project = example(&work, "c");
    copy(&repository().join("sdk/c"), &project.join("sdk"));
    for made_elsewhere in ["examples", "tests"] {
        fs::remove_dir_all(project.join("sdk").join(made_elsewhere)).unwrap();
    }
    replace(&project.join("plugin.yml"), "sdk: ../..", "sdk: sdk");
    is_built_with_the_package(&work, &project);
}
