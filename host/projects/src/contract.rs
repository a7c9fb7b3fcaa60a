//! The WIT that a project is built against: `build/wit`, with the contract as a dependency and one
//! world of all roles.

use std::path::{Path, PathBuf};

use syrch::syrch_core::roles::Role;
use wit_parser::{Resolve, WorldItem};

use crate::definition::Project;
use crate::{ComponentError, Error, packed};

/// The world of a project.
pub(crate) const WORLD: &str = "plugin";
/// The prefix of the contract's interfaces.
const PACKAGE: &str = "syrch:plugin/";

/// Writes `build/wit`: the contract as it stands in the project's `wit/`, or this host's where the
/// project has none.
pub(crate) fn write(project: &Project) -> Result<PathBuf, Error> {
    let wit = project.build().join("wit");
    let contract = wit.join("deps/syrch-plugin");
    std::fs::create_dir_all(&contract).map_err(|error| Error::file(&contract, error))?;
    let own = read_own_contract(&project.folder.join("wit"))?;
    let files = match own.is_empty() {
        false => own,
        true => packed::below("wit")
            .map(|(path, content)| (path.to_owned(), content.to_vec()))
            .collect(),
    };
    for (name, content) in files.iter().filter(|(name, _)| is_wit(name)) {
        write_if_changed(&contract.join(name), content)?;
    }
    let version =
        files.iter().find_map(|(_, content)| read_version(&String::from_utf8_lossy(content)));
    write_if_changed(
        &wit.join("world.wit"),
        world_text(&project.roles, version.as_deref().unwrap_or("0.1.0")).as_bytes(),
    )?;
    Ok(wit)
}

fn is_wit(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "wit")
}

/// The files of the project's own copy of the contract.
fn read_own_contract(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| Error::file(folder, error))?.path();
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if is_wit(&name) {
            files.push((name, crate::files::read(&path)?.unwrap_or_default()));
        }
    }
    files.sort();
    Ok(files)
}

/// The version that a file of the contract declares.
fn read_version(text: &str) -> Option<String> {
    let declared =
        text.lines().find_map(|line| line.trim().strip_prefix("package syrch:plugin@"))?;
    Some(declared.split(';').next()?.trim().to_owned())
}

/// The world that includes those of the roles.
fn world_text(roles: &[Role], version: &str) -> String {
    let includes: String =
        roles.iter().map(|role| format!("  include {PACKAGE}{role}-plugin@{version};\n")).collect();
    format!("package local:plugin;\n\nworld {WORLD} {{\n{includes}}}\n")
}

/// Writes a file, unless it holds that already: a tool may go by the times of files.
fn write_if_changed(path: &Path, content: &[u8]) -> Result<(), Error> {
    if std::fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    std::fs::write(path, content).map_err(|error| Error::file(path, error))
}

/// The ports that the world imports: each with the name of its interface.
pub(crate) fn ports(wit: &Path) -> Result<Vec<(String, String)>, Error> {
    let wrong = |error: anyhow::Error| {
        Error::Component(ComponentError::Wit {
            folder: wit.display().to_string(),
            reason: format!("{error:#}"),
        })
    };
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(wit).map_err(wrong)?;
    let world = resolve.select_world(&[package], Some(WORLD)).map_err(wrong)?;
    let imports = resolve.worlds.get(world).map(|world| &world.imports);
    Ok(imports
        .into_iter()
        .flatten()
        .filter_map(|(key, item): (&wit_parser::WorldKey, &WorldItem)| {
            let name = resolve.name_world_key(key);
            let WorldItem::Interface { id, .. } = item else { return None };
            // An interface of types alone has nothing to call.
            let has_functions = resolve
                .interfaces
                .get(*id)
                .is_some_and(|interface| !interface.functions.is_empty());
            let port = name.strip_prefix(PACKAGE)?.split('@').next()?.to_owned();
            has_functions.then_some((port, name))
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Language, Name};

    #[test]
    fn the_world_has_the_roles_and_their_ports() {
        let scratch = syrch_kit::scratch();
        let project = Project {
            folder: scratch.path().to_owned(),
            name: Name::new("mine").unwrap(),
            language: Language::Js,
            roles: vec![Role::Reward, Role::Clarifier],
            entry: None,
            sdk: scratch.path().join("sdk"),
            wants: None,
        };
        let wit = write(&project).unwrap();
        let text = std::fs::read_to_string(wit.join("world.wit")).unwrap();
        assert!(text.contains(
            "include syrch:plugin/reward-plugin@0.1.0;\n  include \
             syrch:plugin/clarifier-plugin@0.1.0;"
        ));
        let names: Vec<String> = ports(&wit).unwrap().into_iter().map(|(port, _)| port).collect();
        for port in ["run", "wait", "llm", "inspect", "sql", "rows", "cells", "trace"] {
            assert!(names.iter().any(|name| name == port), "{names:?}");
        }
        assert!(!names.iter().any(|name| name == "types" || name == "retrieval"), "{names:?}");
    }
}
