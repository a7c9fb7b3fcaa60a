//! Makes a component of a core module, as Go and C compile one: the world's type goes in, and what
//! the module calls of WASI's preview 1 is answered by the adapter that belongs to the host's
//! wasmtime.

use std::path::Path;

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wasmparser::{Encoding, Parser, Payload};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, WorldId, WorldItem, WorldKey};

/// The start of the name of the section that holds a world's type; bindings of C come with one.
const TYPE_SECTION: &str = "component-type";
/// Between the interface and the function in the name of a core module's export.
const FUNCTION: char = '#';
/// The prefix of the exports of the contract's roles.
const PACKAGE: &str = "syrch:plugin/";

/// The reason why no component can be made of a module.
#[derive(Debug, thiserror::Error)]
pub enum ComponentError {
    /// The WIT cannot be read, or has no such world.
    #[error("the WIT in `{folder}`: {reason}")]
    Wit {
        /// The folder of the WIT.
        folder: String,
        /// A description of what is wrong with it.
        reason: String,
    },
    /// The bytes are no core module.
    #[error("{0}, expected a core WebAssembly module")]
    NotACoreModule(String),
    /// The module exports interfaces that the world does not.
    #[error("exports {exports}, which the world does not")]
    Exports {
        /// The interfaces, with commas between them.
        exports: String,
    },
    /// The module imports something that neither the world nor WASI's preview 1 has.
    #[error("imports {imports}, which the world does not")]
    Imports {
        /// The modules of the imports, with commas between them.
        imports: String,
    },
    /// Anything else, such as a function that is missing or has another type.
    #[error("does not fit the world: {0}")]
    Unfit(String),
}

/// The properties of a core module that concern the world.
#[derive(Default)]
struct Shape {
    imports: Vec<String>,
    exports: Vec<String>,
    is_typed: bool,
}

/// Makes a component of a core module, for a world of the WIT package in a folder. The package may
/// have others under `deps/`.
///
/// # Errors
/// When the WIT is wrong, or the module does not fit the world.
pub(crate) fn component(core: &[u8], wit: &Path, world: &str) -> Result<Vec<u8>, ComponentError> {
    let in_wit = |error: anyhow::Error| ComponentError::Wit {
        folder: wit.display().to_string(),
        reason: chain(&error),
    };
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(wit).map_err(in_wit)?;
    let world = resolve.select_world(&[package], Some(world)).map_err(in_wit)?;
    let shape = shape(core)?;
    fits(&shape, &resolve, world)?;

    let mut typed = core.to_vec();
    let unfit = |error: anyhow::Error| ComponentError::Unfit(chain(&error));
    if !shape.is_typed {
        embed_component_metadata(&mut typed, &resolve, world, StringEncoding::UTF8)
            .map_err(unfit)?;
    }
    let mut encoder = ComponentEncoder::default().validate(true).module(&typed).map_err(unfit)?;
    if shape.imports.iter().any(|module| module == WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME) {
        let name = WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME;
        let adapter = WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER;
        encoder = encoder.adapter(name, adapter).map_err(unfit)?;
    }
    encoder.encode().map_err(unfit)
}

/// Reads the names of imports, exports and sections.
fn shape(core: &[u8]) -> Result<Shape, ComponentError> {
    let broken =
        |error: wasmparser::BinaryReaderError| ComponentError::NotACoreModule(error.to_string());
    let mut shape = Shape::default();
    for payload in Parser::new(0).parse_all(core) {
        match payload.map_err(broken)? {
            Payload::Version { encoding: Encoding::Component, .. } => {
                return Err(ComponentError::NotACoreModule("a component".to_owned()));
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    shape.imports.push(import.map_err(broken)?.module.to_owned());
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    shape.exports.push(export.map_err(broken)?.name.to_owned());
                }
            }
            Payload::CustomSection(section) => {
                shape.is_typed |= section.name().starts_with(TYPE_SECTION)
            }
            _ => {}
        }
    }
    shape.imports.sort();
    shape.imports.dedup();
    Ok(shape)
}

/// Compares the interfaces of the module with those of the world. The encoder would leave out
/// exports without a word, and names one import only.
fn fits(shape: &Shape, resolve: &Resolve, world: WorldId) -> Result<(), ComponentError> {
    let names = |items: &mut dyn Iterator<Item = (&WorldKey, &WorldItem)>| -> Vec<String> {
        items.map(|(key, _)| resolve.name_world_key(key)).collect()
    };
    let Some(world) = resolve.worlds.get(world) else { return Ok(()) };
    let exported = names(&mut world.exports.iter());
    let imported = names(&mut world.imports.iter());

    let interfaces = shape.exports.iter().filter_map(|name| Some(name.split_once(FUNCTION)?.0));
    let mut further: Vec<&str> = interfaces
        .filter(|name| name.starts_with(PACKAGE) && !exported.iter().any(|known| known == name))
        .collect();
    further.sort_unstable();
    further.dedup();
    if !further.is_empty() {
        return Err(ComponentError::Exports { exports: further.join(", ") });
    }
    // `[export]NAME` and `$root` are how a module calls the host for handles and functions of the
    // world itself.
    let is_known = |module: &str| {
        module == WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME
            || module.starts_with(['[', '$'])
            || imported.iter().chain(&exported).any(|known| known == module)
    };
    let unknown: Vec<&str> =
        shape.imports.iter().map(String::as_str).filter(|module| !is_known(module)).collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(ComponentError::Imports { imports: unknown.join(", ") })
    }
}

fn chain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use syrch::syrch_core::roles::Role;
    use tempfile::TempDir;

    use super::*;
    use crate::{Language, Name, Project, contract};

    /// The WIT of a project with one calibrator.
    fn wit() -> TempDir {
        let scratch = syrch_kit::scratch();
        let project = Project {
            folder: scratch.path().to_owned(),
            name: Name::new("mine").unwrap(),
            language: Language::C,
            roles: vec![Role::Calibrator],
            entry: None,
            sdk: scratch.path().join("sdk"),
            wants: None,
        };
        contract::write(&project).unwrap();
        scratch
    }

    fn make_component(inside: &str) -> Result<Vec<u8>, ComponentError> {
        let core = wat::parse_str(format!(
            r#"(module {inside}
                (memory (export "memory") 1)
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 64)
                (func (export "syrch:plugin/about@0.1.0#describe") (result i32) i32.const 0)
                (func (export "syrch:plugin/about@0.1.0#configure") (param i32 i32) (result i32)
                    i32.const 0))"#
        ));
        component(&core.unwrap(), &wit().path().join("build/wit"), contract::WORLD)
    }

    const CALIBRATE: &str = r#"(func
        (export "syrch:plugin/calibrator@0.1.0#calibrate") (param i32 i32) (result i32)
        i32.const 0)"#;
    const CLOCK: &str =
        r#"(import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32)))"#;

    #[test]
    fn a_module_becomes_a_component_with_or_without_preview_1() {
        for module in [CALIBRATE.to_owned(), format!("{CLOCK} {CALIBRATE}")] {
            let bytes = make_component(&module).unwrap();
            assert!(Parser::is_component(&bytes));
        }
    }

    #[test]
    fn what_does_not_fit_the_world_is_named() {
        let solver =
            r#"(func (export "syrch:plugin/solver@0.1.0#solve") (result i32) i32.const 0)"#;
        let error = make_component(&format!("{CALIBRATE} {solver}")).unwrap_err().to_string();
        assert_eq!(error, "exports syrch:plugin/solver@0.1.0, which the world does not");
        for module in ["syrch:plugin/sql@0.1.0", "env"] {
            let import = format!(r#"(import "{module}" "run" (func))"#);
            let error = make_component(&format!("{import} {CALIBRATE}")).unwrap_err().to_string();
            assert_eq!(error, format!("imports {module}, which the world does not"));
        }
        let missing = make_component("").unwrap_err().to_string();
        assert!(
            missing.contains("does not fit the world") && missing.contains("calibrate"),
            "{missing}"
        );
        let wrong =
            component(b"text", &wit().path().join("build/wit"), contract::WORLD).unwrap_err();
        assert!(matches!(wrong, ComponentError::NotACoreModule(_)), "{wrong}");
    }
}
