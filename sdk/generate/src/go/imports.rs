//! `internal/wasm/imports.go`: the functions that the host offers, as core functions.

use wit_parser::abi::{AbiVariant, FlatTypes, WasmType};

use super::{NOTE, spell};
use crate::Error;
use crate::contract::{Contract, Function, Shape, Side, Type};
use crate::text::{Text, camel};

/// The most values that one parameter is flattened to.
const FLAT: usize = 16;

/// The text of the file.
pub(super) fn write(contract: &Contract) -> Result<String, Error> {
    let mut text = Text::new(NOTE);
    text.line(
        "\n//go:build wasip1\n\npackage wasm\n\n// This file has the functions that the host \
         offers, as core functions. The linker drops those that are not called.",
    );
    for port in contract.on(Side::Port) {
        for function in &port.functions {
            let name = format!("{}{}", port.name, spell(&function.name));
            write_function(contract, &port.name, function, &function.name, &name, &mut text)?;
        }
        for definition in &port.types {
            let Shape::Resource(methods) = &definition.shape else { continue };
            for method in methods {
                let import = format!("[method]{}.{}", definition.name, method.name);
                let name = spell(&definition.name);
                let name = format!("{}{name}{}", port.name, spell(&method.name));
                write_function(contract, &port.name, method, &import, &name, &mut text)?;
            }
            let import = format!("[resource-drop]{}", definition.name);
            let name = format!("{}Drop{}", port.name, spell(&definition.name));
            write_import(contract, &port.name, &import, &mut text);
            text.line(format!("func {name}(handle uint32)"));
        }
    }
    Ok(text.finish())
}

fn write_import(contract: &Contract, port: &str, name: &str, text: &mut Text) {
    text.space(1);
    text.line(format!("//go:wasmimport {} {name}", contract.id(port)));
}

fn write_function(
    contract: &Contract,
    port: &str,
    function: &Function,
    import: &str,
    name: &str,
    text: &mut Text,
) -> Result<(), Error> {
    write_import(contract, port, import, text);
    let signature = contract.wit.wasm_signature(AbiVariant::GuestImport, &function.raw);
    let mut parameters = Vec::new();
    if import.starts_with('[') {
        parameters.push("handle uint32".to_owned());
    }
    if signature.indirect_params {
        let names = function.parameters.iter().map(|parameter| camel(&parameter.name));
        parameters = vec![format!("{} uintptr", names.collect::<Vec<_>>().join("And"))];
    } else {
        for (parameter, raw) in
            function.parameters.iter().rev().zip(function.raw.params.iter().rev())
        {
            let place = usize::from(import.starts_with('['));
            let name = camel(&parameter.name);
            let flat = flat_types(contract, &raw.ty)?;
            let is_text = matches!(parameter.kind, Type::Text | Type::List(_)) || flat.len() == 2;
            for (at, kind) in flat.iter().enumerate().rev() {
                let own = match at {
                    _ if flat.len() == 1 => name.clone(),
                    0 if is_text => name.clone(),
                    1 if is_text => format!("{name}Length"),
                    at => format!("{name}{at}"),
                };
                parameters.insert(place, format!("{own} {}", core(*kind)));
            }
        }
    }
    if signature.retptr {
        parameters.push("area uintptr".to_owned());
    }
    let result = match signature.results.first() {
        Some(kind) if !signature.retptr => format!(" {}", core(*kind)),
        _ => String::new(),
    };
    text.line(format!("func {name}({}){result}", parameters.join(", ")));
    Ok(())
}

/// The core values that a value is passed by.
fn flat_types(contract: &Contract, kind: &wit_parser::Type) -> Result<Vec<WasmType>, Error> {
    let mut space = [WasmType::I32; FLAT];
    let mut flat = FlatTypes::new(&mut space);
    match contract.wit.push_flat(kind, &mut flat) {
        true => Ok(flat.to_vec()),
        false => Err(Error::Unsupported("a parameter of more than 16 core values".to_owned())),
    }
}

fn core(kind: WasmType) -> &'static str {
    match kind {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "uint32",
        WasmType::I64 | WasmType::PointerOrI64 => "uint64",
        WasmType::F32 => "float32",
        WasmType::F64 => "float64",
    }
}
