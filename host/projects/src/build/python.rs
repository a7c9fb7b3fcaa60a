//! Python: componentize-py, from a virtual environment, makes a component of the interpreter and
//! the project's modules.

use std::path::Path;
use std::process::Command;

use super::{Build, venv};
use crate::{Error, contract, files, sources};

/// The packages that are installed for a project without a requirements.txt.
const REQUIREMENTS: &str = "componentize-py==0.25.1\n";
const NAMED: &str = "requirements.txt must name componentize-py";

pub(super) fn build(build: &Build<'_>, out: &Path) -> Result<(), Error> {
    let module = module(build.entry()?)?;
    let list = build.project.folder.join("requirements.txt");
    let requirements = files::read_text(&list)?.unwrap_or_else(|| REQUIREMENTS.to_owned());
    let tool = venv::Tool {
        name: "componentize-py",
        requirements: &requirements,
        probe: &["componentize-py", "--version"],
        hint: NAMED,
    };
    let programs = venv::programs(&build.runner, &build.tools, tool)?;
    // Only the sources: whatever lies on the path could come along.
    let staged = build.folder.join("python");
    sources::copy(&build.project.folder, &staged)?;
    build.runner.step("componentize-py");
    let mut tool = Command::new(programs.join("componentize-py"));
    tool.current_dir(&build.project.folder).arg("-d").arg(&build.wit).args([
        "-w",
        contract::WORLD,
        "componentize",
    ]);
    tool.arg("-p").arg(&staged).arg("-p").arg(&build.project.sdk).arg("-o").arg(out).arg(&module);
    build.runner.run("componentize-py", &mut tool, NAMED)
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
    fn an_entry_is_a_module() {
        assert_eq!(module(Path::new("plugin.py")).unwrap(), "plugin");
        assert_eq!(module(Path::new("src/my_plugin.py")).unwrap(), "src.my_plugin");
        for wrong in ["plugin", "my-plugin.py", "1.py", "a b.py"] {
            assert!(module(Path::new(wrong)).is_err(), "{wrong}");
        }
    }
}
