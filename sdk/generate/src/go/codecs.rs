//! `internal/wasm/contract.go`: a function for each type, which reads, writes and measures it.

use super::{
    Form, NOTE, PAIRS, Payloads, constant, form, name_of, pair_of, path_of, resolve, spell,
};
use crate::Error;
use crate::contract::{Case, Contract, Definition, Field, Shape, Type};
use crate::text::{Text, camel};

const HEAD: &str = "
//go:build wasip1

package wasm

import \"github.com/syrch/syrch-host/sdk/go/syrch\"

// This file has a function for each type of the contract, with the fields and cases in its order.";

/// The text of the file.
pub(super) fn write(contract: &Contract) -> Result<String, Error> {
    let mut text = Text::new(NOTE);
    text.line(HEAD);
    for pair in &PAIRS {
        text.space(1);
        text.line(format!("func {0}(c *Codec, pair *syrch.{0}) {{", pair.name));
        for (kind, field) in [(pair.first, pair.fields[0]), (pair.second, pair.fields[1])] {
            let statement = pass(contract, &kind_of(kind), &format!("&pair.{field}"))?;
            text.line(format!("\t{statement}"));
        }
        text.line("}");
    }
    for definition in contract.types() {
        match form(definition)? {
            Form::Struct(fields) => write_struct(contract, definition, fields, &mut text)?,
            Form::Words(cases, is_open) => write_words(definition, cases, is_open, &mut text)?,
            Form::Kinds(cases, has_words, payloads) => {
                write_kinds(contract, definition, cases, has_words, payloads, &mut text)?;
            }
            Form::Numbers(_) | Form::None => {}
        }
    }
    Ok(text.finish())
}

/// The statement that passes over a field.
fn pass(contract: &Contract, kind: &Type, field: &str) -> Result<String, Error> {
    Ok(match resolve(contract, kind)? {
        Type::List(inner) if **inner == Type::Text => format!("texts(c, {field})"),
        Type::List(inner) => format!("list(c, {field}, {})", function(contract, inner)?),
        Type::Option(inner) => format!("option(c, {field}, {})", function(contract, inner)?),
        Type::U8 | Type::U32 | Type::U64 | Type::S64 | Type::F32 | Type::F64 => {
            format!("number(c, {field})")
        }
        Type::Pair(..) => format!("record(c, {field}, {})", function(contract, kind)?),
        Type::Named(interface, name) => {
            let definition = contract.find(interface, name)?;
            match &definition.shape {
                // Its alignment may be greater than that of its first field.
                Shape::Record(_) => format!("record(c, {field}, {})", name_of(definition)),
                Shape::Enum(_) if !name.ends_with("-kind") => format!("number(c, {field})"),
                _ => format!("{}(c, {field})", name_of(definition)),
            }
        }
        _ => format!("{}(c, {field})", function(contract, kind)?),
    })
}

/// The function of a type.
fn function(contract: &Contract, kind: &Type) -> Result<String, Error> {
    Ok(match resolve(contract, kind)? {
        Type::Bool => "boolean".to_owned(),
        Type::Text => "text".to_owned(),
        Type::Handle(..) => "results".to_owned(),
        Type::List(inner) if **inner == Type::Text => "texts".to_owned(),
        Type::Pair(first, second) => pair_of(first, second)?.name.to_owned(),
        Type::Named(interface, name) => {
            let definition = contract.find(interface, name)?;
            match &definition.shape {
                Shape::Enum(_) if !name.ends_with("-kind") => {
                    format!("number[syrch.{}]", name_of(definition))
                }
                _ => name_of(definition),
            }
        }
        kind @ (Type::List(_) | Type::Option(_)) => {
            let statement = pass(contract, kind, "inner")?;
            format!("func(c *Codec, inner *{}) {{ {statement} }}", hint(contract, kind)?)
        }
        kind => format!("number[{}]", hint(contract, kind)?),
    })
}

/// The type in Go, as this package names it.
fn hint(contract: &Contract, kind: &Type) -> Result<String, Error> {
    Ok(match resolve(contract, kind)? {
        Type::U8 => "uint8".to_owned(),
        Type::U32 => "uint32".to_owned(),
        Type::U64 => "uint64".to_owned(),
        Type::S64 => "int64".to_owned(),
        Type::F32 => "float32".to_owned(),
        Type::F64 => "float64".to_owned(),
        Type::Text => "string".to_owned(),
        Type::List(inner) => format!("[]{}", hint(contract, inner)?),
        Type::Option(inner) => format!("*{}", hint(contract, inner)?),
        Type::Pair(first, second) => format!("syrch.{}", pair_of(first, second)?.name),
        Type::Named(interface, name) => {
            format!("syrch.{}", name_of(contract.find(interface, name)?))
        }
        _ => {
            return Err(Error::Unsupported("a list of lists of truths, handles or results".into()));
        }
    })
}

/// A type of the table of pairs.
fn kind_of(word: &str) -> Type {
    match word.split_once('.') {
        Some((interface, name)) => Type::Named(interface.to_owned(), name.to_owned()),
        None if word == "bool" => Type::Bool,
        None if word == "f64" => Type::F64,
        None if word == "u64" => Type::U64,
        None => Type::Text,
    }
}

fn write_struct(
    contract: &Contract,
    definition: &Definition,
    fields: &[Field],
    text: &mut Text,
) -> Result<(), Error> {
    let name = name_of(definition);
    text.space(1);
    text.line(format!("func {name}(c *Codec, value *syrch.{name}) {{"));
    for field in fields {
        let target = format!("&value.{}", spell(&field.name));
        text.line(format!("\t{}", pass(contract, &field.kind, &target)?));
    }
    text.line("}");
    Ok(())
}

/// The list of the words of a type, in the order of the cases.
fn write_list(
    definition: &Definition,
    cases: &[Case],
    kind: &str,
    text: &mut Text,
) -> Result<(), Error> {
    let path = path_of(definition);
    text.space(1);
    text.line(format!("var {} = []syrch.{kind}{{", words_of(definition)));
    for case in cases {
        text.line(format!("\tsyrch.{},", constant(&path, &case.name)?));
    }
    text.line("}");
    Ok(())
}

fn words_of(definition: &Definition) -> String {
    format!("{}Words", camel(&definition.name))
}

fn write_words(
    definition: &Definition,
    cases: &[Case],
    is_open: bool,
    text: &mut Text,
) -> Result<(), Error> {
    let name = name_of(definition);
    write_list(definition, cases, &name, text)?;
    let pass = if is_open { "words" } else { "word" };
    text.space(1);
    text.line(format!("func {name}(c *Codec, value *syrch.{name}) {{"));
    text.line(format!("\t{pass}(c, value, {})", words_of(definition)));
    text.line("}");
    Ok(())
}

/// A variant with payloads, of which each field has those of some cases.
fn write_kinds(
    contract: &Contract,
    definition: &Definition,
    cases: &[Case],
    has_words: bool,
    payloads: &Payloads,
    text: &mut Text,
) -> Result<(), Error> {
    let name = name_of(definition);
    let path = path_of(definition);
    let words = words_of(definition);
    if has_words {
        write_list(definition, cases, &format!("{name}Kind"), text)?;
    }
    text.space(1);
    text.line(format!("func {name}(c *Codec, value *syrch.{name}) {{"));
    text.line(match has_words {
        true => format!("\ttag, _ := wordTag(value.Kind, {words})"),
        false => "\ttag := uint8(value.Kind)".to_owned(),
    });
    text.line("\tvariant(c, &tag, func(c *Codec, tag uint8) {");
    text.line("\t\tswitch tag {");
    let mut measured = Vec::new();
    for (field, own) in payloads.fields {
        let mut tags = Vec::new();
        for (place, case) in cases.iter().enumerate() {
            if own.contains(&case.name.as_str()) {
                tags.push(place.to_string());
            }
        }
        let payload = cases.iter().find(|case| own.contains(&case.name.as_str()));
        let Some(kind) = payload.and_then(|case| case.payload.as_ref()) else {
            return Err(Error::NoType(format!("{path}.{field}")));
        };
        measured.extend(tags.first().cloned());
        text.line(format!("\t\tcase {}: // {}", tags.join(", "), own.join(", ")));
        text.line(format!("\t\t\t{}", pass(contract, kind, &format!("&value.{field}"))?));
    }
    text.line("\t\t}");
    text.line(format!("\t}}, {})", measured.join(", ")));
    match has_words {
        true => {
            text.line("\tif c.mode == lifting {");
            text.line(format!("\t\tvalue.Kind = {words}[tag]"));
            text.line("\t}");
        }
        false => text.line(format!("\tvalue.Kind = syrch.{name}Kind(tag)")),
    }
    text.line("}");
    Ok(())
}
