//! `bindings.h`: types, and the functions of ports and roles.

use std::collections::BTreeSet;

use super::{NOTE, WIDTH, constant, imports, name_of, own_parameter, signature, type_of, word};
use crate::Error;
use crate::contract::{Case, Contract, Definition, Field, Function, Shape, Side, Type};
use crate::text::{Text, respell, snake};

const HEAD: &str = "#ifndef SYRCH_BINDINGS_H
#define SYRCH_BINDINGS_H
#ifdef __cplusplus
extern \"C\" {
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct syrch_string_t {
  uint8_t *ptr;
  size_t len;
} syrch_string_t;";

const END: &str = "
#ifdef __cplusplus
}
#endif
#endif";

/// The text of the file.
pub(super) fn write(contract: &Contract) -> Result<String, Error> {
    let mut text = Text::new(NOTE);
    text.line(HEAD);
    let mut made = BTreeSet::from(["string".to_owned()]);
    for interface in &contract.interfaces {
        for definition in &interface.types {
            write_definition(contract, definition, &mut made, &mut text)?;
        }
        let methods = interface.types.iter().flat_map(methods_of);
        for function in methods.chain(&interface.functions) {
            for parameter in &function.parameters {
                need(contract, &parameter.kind, &mut made, &mut text)?;
            }
            if let Some(kind) = &function.result {
                need(contract, kind, &mut made, &mut text)?;
            }
        }
    }
    for port in contract.on(Side::Port) {
        text.space(1);
        text.line(format!("// The port `{}`.", port.name));
        for import in imports(port) {
            let names = import.function.parameters.iter().map(|one| one.name.as_str());
            text.comment("// ", &respell(&import.function.docs, names, snake), WIDTH);
            let own = own_parameter(&import);
            text.line(format!("{};", signature(contract, import.function, &import.name, own)?));
        }
        for definition in &port.types {
            if matches!(definition.shape, Shape::Resource(_)) {
                let name = snake(&definition.name);
                text.line("// Drops the handle.");
                text.line(format!(
                    "void syrch_{}_{name}_drop_own(syrch_own_{name}_t handle);",
                    port.name
                ));
                text.line("// The handle as a parameter.");
                text.line(format!(
                    "syrch_borrow_{name}_t syrch_{}_borrow_{name}(syrch_own_{name}_t handle);",
                    port.name
                ));
            }
        }
    }
    for role in contract.on(Side::Role) {
        text.space(1);
        text.line(format!("// The role `{}`, which roles.c has.", role.name));
        for function in &role.functions {
            let names = function.parameters.iter().map(|one| one.name.as_str());
            text.comment("// ", &respell(&function.docs, names, snake), WIDTH);
            let name = format!("exports_syrch_{}_{}", role.name, snake(&function.name));
            text.line(format!("{};", signature(contract, function, &name, None)?));
        }
    }
    text.line(END);
    Ok(text.finish())
}

fn methods_of(definition: &Definition) -> &[Function] {
    match &definition.shape {
        Shape::Resource(methods) => methods,
        _ => &[],
    }
}

/// Writes the types that a type is made of and that have no name in the contract, once.
fn need(
    contract: &Contract,
    kind: &Type,
    made: &mut BTreeSet<String>,
    text: &mut Text,
) -> Result<(), Error> {
    match kind {
        Type::List(inner) | Type::Option(inner) => need(contract, inner, made, text)?,
        Type::Pair(first, second) => {
            need(contract, first, made, text)?;
            need(contract, second, made, text)?;
        }
        Type::Result(ok, error) => {
            ok.as_ref().map_or(Ok(()), |ok| need(contract, ok, made, text))?;
            need(contract, error, made, text)?;
        }
        _ => return Ok(()),
    }
    let word = word(contract, kind)?;
    if !made.insert(word.clone()) {
        return Ok(());
    }
    text.space(1);
    text.line("typedef struct {");
    for line in members(contract, kind)? {
        text.line(format!("  {line}"));
    }
    text.line(format!("}} syrch_{word}_t;"));
    Ok(())
}

/// The members of a type without a name.
fn members(contract: &Contract, kind: &Type) -> Result<Vec<String>, Error> {
    Ok(match kind {
        Type::List(inner) => {
            vec![format!("{} *ptr;", type_of(contract, inner)?), "size_t len;".to_owned()]
        }
        Type::Option(inner) => {
            vec!["bool is_some;".to_owned(), format!("{} val;", type_of(contract, inner)?)]
        }
        Type::Pair(first, second) => vec![
            format!("{} f0;", type_of(contract, first)?),
            format!("{} f1;", type_of(contract, second)?),
        ],
        Type::Result(ok, error) => {
            let mut lines = vec!["bool is_err;".to_owned(), "union {".to_owned()];
            if let Some(ok) = ok {
                lines.push(format!("  {} ok;", type_of(contract, ok)?));
            }
            lines.push(format!("  {} err;", type_of(contract, error)?));
            lines.push("} val;".to_owned());
            lines
        }
        _ => Vec::new(),
    })
}

fn write_definition(
    contract: &Contract,
    definition: &Definition,
    made: &mut BTreeSet<String>,
    text: &mut Text,
) -> Result<(), Error> {
    let name = name_of(definition);
    match &definition.shape {
        Shape::Record(fields) => {
            for field in fields {
                need(contract, &field.kind, made, text)?;
            }
            write_doc(definition, text);
            text.line(format!("typedef struct {name} {{"));
            for field in fields {
                let names = fields.iter().map(|field| field.name.as_str());
                text.comment("  // ", &respell(&field.docs, names, snake), WIDTH);
                text.line(format!("  {} {};", type_of(contract, &field.kind)?, member(field)));
            }
            text.line(format!("}} {name};"));
        }
        Shape::Variant(cases) => {
            for payload in cases.iter().filter_map(|case| case.payload.as_ref()) {
                need(contract, payload, made, text)?;
            }
            write_doc(definition, text);
            text.line(format!("typedef struct {name} {{"));
            text.line("  uint8_t tag;");
            text.line("  union {");
            for case in cases {
                if let Some(payload) = &case.payload {
                    let kind = type_of(contract, payload)?;
                    text.line(format!("    {kind} {};", snake(&case.name)));
                }
            }
            text.line("  } val;");
            text.line(format!("}} {name};"));
            write_constants(definition, cases, text);
        }
        Shape::Enum(cases) => {
            write_doc(definition, text);
            text.line(format!("typedef uint8_t {name};"));
            write_constants(definition, cases, text);
        }
        Shape::Alias(Type::List(inner)) => {
            need(contract, inner, made, text)?;
            write_doc(definition, text);
            text.line(format!("typedef struct {name} {{"));
            text.line(format!("  {} *ptr;", type_of(contract, inner)?));
            text.line("  size_t len;");
            text.line(format!("}} {name};"));
        }
        Shape::Alias(_) => {}
        Shape::Resource(_) => {
            for own in ["own", "borrow"] {
                let name = format!("syrch_{own}_{}_t", snake(&definition.name));
                write_doc(definition, text);
                text.line(format!("typedef struct {name} {{"));
                text.line("  int32_t __handle;");
                text.line(format!("}} {name};"));
            }
        }
    }
    Ok(())
}

fn member(field: &Field) -> String {
    snake(&field.name)
}

fn write_doc(definition: &Definition, text: &mut Text) {
    let names = definition.fields().iter().map(|field| field.name.as_str());
    text.space(1);
    text.comment("// ", &respell(&definition.docs, names, snake), WIDTH);
}

fn write_constants(definition: &Definition, cases: &[Case], text: &mut Text) {
    text.space(1);
    for (place, case) in cases.iter().enumerate() {
        text.comment("// ", &case.docs, WIDTH);
        text.line(format!("#define {} {place}", constant(definition, &case.name)));
    }
}
