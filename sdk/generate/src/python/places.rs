//! `contract.py`: where the classes and functions of the package stand in the contract.

use super::ports::function_name;
use super::{ERRORS, Form, NOTE, WIDTH, class_of, has_classes, hint, name_of, path_of};
use crate::Error;
use crate::contract::{Contract, Definition, Shape, Side, Type};
use crate::text::{Text, capitalize, pascal, snake};

const HEAD: &str = r#"from __future__ import annotations

from typing import Annotated, Any, Optional, Union

from . import ports
from . import types as t
from .errors import Failure, ModelError, PortError, SqlError
from .types import U32, Reply, ResultSet, Verdict
"#;

/// The text of the file.
pub(super) fn write(contract: &Contract) -> Result<String, Error> {
    let mut text = Text::new(&format!(
        "\"\"\"Where the classes and functions of this package stand in the contract.\n\n{NOTE}\
         \n\"\"\"\n"
    ));
    text.line(HEAD);
    text.space(1);
    write_records(contract, &mut text)?;
    write_errors(contract, &mut text)?;
    write_cases(contract, &mut text);
    write_ports(contract, &mut text)?;
    Ok(text.finish())
}

/// An entry of a table, on several lines where it is too long for one.
fn write_row(key: &str, parts: &[String], around: [&str; 2], text: &mut Text) {
    let line = format!("    {key}: {}{}{},", around[0], parts.join(", "), around[1]);
    if line.len() <= WIDTH {
        return text.line(line);
    }
    text.line(format!("    {key}: {}", around[0]));
    for part in parts {
        text.line(format!("        {part},"));
    }
    text.line(format!("    {},", around[1]));
}

fn write_records(contract: &Contract, text: &mut Text) -> Result<(), Error> {
    text.line("#: The interface of each record, and the name of its generated class.");
    text.line("RECORDS: dict[type, tuple[str, str]] = {");
    for definition in contract.types().filter(|one| one.interface != "about") {
        let path = path_of(definition);
        let classes = match &definition.shape {
            Shape::Record(_) if path == "types.opinion" => payload_classes(contract, &path),
            Shape::Record(_) if ERRORS.contains(&path.as_str()) => {
                vec![name_of(&definition.interface, &definition.name)]
            }
            Shape::Record(_) => {
                vec![format!("t.{}", name_of(&definition.interface, &definition.name))]
            }
            _ => continue,
        };
        for class in classes {
            let place = [&definition.interface, &pascal(&definition.name)];
            let place = place.map(|name| format!("\"{name}\""));
            write_row(&class, &place, ["(", ")"], text);
        }
    }
    text.line("}");
    text.space(1);
    Ok(())
}

/// The classes that have the fields of a record, each for a case of a variant.
fn payload_classes(contract: &Contract, record: &str) -> Vec<String> {
    let mut classes = Vec::new();
    for definition in contract.types() {
        let Shape::Variant(cases) = &definition.shape else { continue };
        for case in cases {
            if let (Some(Form::Fields(class, _)), Some(Type::Named(interface, name))) =
                (class_of(definition, &case.name), &case.payload)
                && format!("{interface}.{name}") == record
            {
                classes.push(format!("t.{class}"));
            }
        }
    }
    classes
}

fn write_errors(contract: &Contract, text: &mut Text) -> Result<(), Error> {
    text.line("#: The fields of the exceptions that are records.");
    text.line("ERRORS: dict[type, dict[str, Any]] = {");
    for definition in contract.types().filter(|one| ERRORS.contains(&path_of(one).as_str())) {
        let Shape::Record(fields) = &definition.shape else { continue };
        let mut parts = Vec::new();
        for field in fields {
            parts.push(format!("\"{}\": {}", snake(&field.name), hint(contract, &field.kind)?));
        }
        let name = name_of(&definition.interface, &definition.name);
        write_row(&name, &parts, ["{", "}"], text);
    }
    text.line("}");
    text.space(1);
    Ok(())
}

fn write_cases(contract: &Contract, text: &mut Text) {
    text.line(
        "#: The cases that classes stand for. All others are words, and a word that is no case",
    );
    text.line("#: is `other`.");
    text.line("CASES: dict[str, dict[str, Any]] = {");
    for definition in contract.types().filter(|one| has_classes(one)) {
        let Shape::Variant(cases) = &definition.shape else { continue };
        let parts: Vec<String> = cases
            .iter()
            .filter_map(|case| {
                let class = match (class_of(definition, &case.name)?, &case.payload) {
                    (Form::Own(class, _) | Form::Fields(class, _), _) => format!("t.{class}"),
                    (Form::Payload, Some(Type::Named(interface, name))) => {
                        format!("t.{}", name_of(interface, name))
                    }
                    (Form::Payload, _) => "int".to_owned(),
                };
                Some(format!("\"{}\": {class}", pascal(&case.name)))
            })
            .collect();
        write_row(&place_of(definition), &parts, ["{", "}"], text);
    }
    text.line("}");
    text.space(1);
}

fn place_of(definition: &Definition) -> String {
    format!("\"{}.{}\"", definition.interface, pascal(&definition.name))
}

fn write_ports(contract: &Contract, text: &mut Text) -> Result<(), Error> {
    text.line("#: The interface of each port.");
    text.line("PORTS: list[tuple[type, str]] = [");
    for port in contract.on(Side::Port) {
        text.line(format!("    (ports.{}, \"{}\"),", capitalize(&port.name), port.name));
    }
    text.line("]");
    text.space(1);
    text.line("#: The functions whose names differ in the contract.");
    text.line("FUNCTIONS: dict[str, str] = {");
    let mut with_json = Vec::new();
    for port in contract.on(Side::Port) {
        for function in &port.functions {
            let name = function_name(&port.name, &function.name);
            if name != snake(&function.name) {
                text.line(format!("    \"{name}\": \"{}\",", snake(&function.name)));
            }
            let json = function.parameters.iter().position(|one| one.kind.is_shared("json"));
            with_json.extend(json.map(|place| format!("\"{name}\": {place}")));
        }
    }
    text.line("}");
    text.space(1);
    text.line("#: The functions that pass JSON as text, and the place of that argument.");
    text.line(format!("JSON_ARGUMENTS: dict[str, int] = {{{}}}", with_json.join(", ")));
    text.space(1);
    text.line("#: What calls in flight end with, by the protocol that describes them.");
    text.line("ENDS: dict[type, Any] = {");
    for definition in contract.types() {
        let Shape::Resource(methods) = &definition.shape else { continue };
        let Some(Type::Option(ended)) = methods
            .iter()
            .filter(|_| methods.iter().any(|method| method.name == "ticket"))
            .find_map(|method| {
                method.result.as_ref().filter(|kind| kind.without_option() != *kind)
            })
        else {
            continue;
        };
        let name = name_of(&definition.interface, &definition.name);
        text.line(format!("    ports.{name}: Optional[{}],", hint(contract, ended)?));
    }
    text.line("}");
    Ok(())
}
