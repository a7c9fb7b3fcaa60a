//! Python: componentize-py, from a virtual environment, makes a component of the interpreter and
//! the project's modules.

use std::path::Path;
use std::process::Command;

use super::bounds::Bounds;
use super::{Build, Runner, venv};
use crate::{Error, Project, contract, files, sources};

/// The file that names the packages of a project.
pub(super) const LIST: &str = "requirements.txt";
/// The packages that are installed for a project without one.
const REQUIREMENTS: &str = "componentize-py==0.25.1\n";
const NAMED: &str = "requirements.txt must name componentize-py";

pub(super) fn build(build: &Build<'_>, out: &Path) -> Result<(), Error> {
    let module = module(build.entry()?)?;
    let list = build.project.folder.join(LIST);
    let requirements = files::read_text(&list)?.unwrap_or_else(|| REQUIREMENTS.to_owned());
    if build.no_scripts
        && let Some(line) =
            venv::list_requirements(&requirements).find(|line| !is_plain_package(line))
    {
        let path = list.display().to_string();
        return Err(Error::NoWheel { path, line: line.to_owned() });
    }
    let tool = venv::Tool {
        name: "componentize-py",
        requirements: &requirements,
        base: (!build.no_scripts).then_some(&build.project.folder),
        only_wheels: build.no_scripts,
        probe: &["componentize-py", "--version"],
        hint: NAMED,
    };
    let programs = venv::programs(&build.runner, &build.tools, tool, &build.record)?;
    // Only the sources: whatever lies on the path could come along.
    let staged = build.folder.join("python");
    sources::copy(&build.project.folder, &staged)?;
    build.runner.step("componentize-py");
    let bounds = bounds(build, &programs.join("python"))?;
    let runner = Runner { bounds: bounds.as_ref(), ..build.runner };
    let mut tool = Command::new(programs.join("componentize-py"));
    // Not in the project: the tool asks other programs for packages, which read settings there.
    tool.arg("-d").arg(&build.wit).args(["-w", contract::WORLD, "componentize"]);
    tool.arg("-p").arg(&staged).arg("-p").arg(&build.project.sdk).arg("-o").arg(out).arg(&module);
    runner.run("componentize-py", &mut tool, NAMED)
}

/// The bounds within which the tool works. Without `-S` code of its packages would run.
fn bounds(build: &Build<'_>, python: &Path) -> Result<Option<Bounds>, Error> {
    let Some(bounds) = build.bounds()? else { return Ok(None) };
    let bounds = bounds.read_program(build.runner.environment, python);
    let probe = [venv::ISOLATED, "-S", "-c", "pass"];
    Ok(build.probe(bounds, Command::new(python).args(probe)))
}

/// Returns true if a line of a requirements.txt that is no comment is a package of the registry
/// with its versions, and no option, address or path.
fn is_plain_package(line: &str) -> bool {
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || "._-[]=<>~!,* ".contains(letter);
    // A name that ends so may be a file beside the list.
    let archives = [".zip", ".whl", ".tar", ".gz", ".tgz", ".bz2", ".tbz", ".xz", ".txz", ".lzma"];
    let is_archive = archives.iter().any(|ending| line.to_lowercase().ends_with(ending));
    line.starts_with(|first: char| first.is_ascii_alphanumeric())
        && line.chars().all(is_plain)
        && !line.contains(" -")
        && !is_archive
}

/// Returns true if all packages of a project are those of the registry, with their versions.
pub(super) fn is_plain(project: &Project) -> Result<bool, Error> {
    Ok(list_packages(project)?.iter().all(|line| is_plain_package(line)))
}

/// The packages of a project, as its list names them.
pub(super) fn list_packages(project: &Project) -> Result<Vec<String>, Error> {
    let list = files::read_text(&project.folder.join(LIST))?;
    let list = list.unwrap_or_else(|| REQUIREMENTS.to_owned());
    Ok(venv::list_requirements(&list).map(str::to_owned).collect())
}

/// The name by which Python imports the entry.
fn module(entry: &Path) -> Result<String, Error> {
    let wrong = || Error::file(entry, "the entry of Python is a module, such as plugin.py");
    let name = entry.to_str().and_then(|path| path.strip_suffix(".py")).ok_or_else(wrong)?;
    let name = name.trim_start_matches("./");
    if name.split('/').all(|part: &str| {
        part.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    }) {
        Ok(name.replace('/', "."))
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_scripts_a_line_is_a_package_of_the_registry() {
        for plain in ["componentize-py==0.25.1", "a[b] >= 1.0, < 2", "a.b_c~=1"] {
            assert!(is_plain_package(plain), "{plain}");
        }
        for other in [
            "--no-binary :all:",
            "-e .",
            "./evil",
            "evil @ https://x/evil.tar.gz",
            "git+https://x/evil",
            "a --config-settings=x=y",
            "a \\",
            "../evil.tar.gz",
            "evil.tar.gz",
            "evil.ZIP",
        ] {
            assert!(!is_plain_package(other), "{other}");
        }
    }

    #[test]
    fn an_entry_is_a_module() {
        assert_eq!(module(Path::new("plugin.py")).unwrap(), "plugin");
        assert_eq!(module(Path::new("src/my_plugin.py")).unwrap(), "src.my_plugin");
        for wrong in ["plugin", "my-plugin.py", "1.py", "a b.py"] {
            assert!(module(Path::new(wrong)).is_err(), "{wrong}");
        }
    }
}
