//! `syrch/contract.go`: the values of the contract.

use super::{
    Form, NOTE, PAIRS, Payloads, WIDTH, constant, form, name_of, pair_of, path_of, resolve, spell,
};
use crate::Error;
use crate::contract::{Case, Contract, Definition, Field, Type};
use crate::text::{Text, respell, with_article, wrap};

const HEAD: &str = "
// Package syrch is for plugins of syrch-host in Go.
//
// This file has the values of the contract. The zero value of each is useful: an optional field is
// a pointer, and nil means that there is no value. `new(0.5)` or `new(\"text\")` makes one.
package syrch";

/// The text of the file.
pub(super) fn write(contract: &Contract) -> Result<String, Error> {
    let mut text = Text::new(NOTE);
    text.line(HEAD);
    for pair in &PAIRS {
        let [first, second] = pair.fields;
        text.space(1);
        let docs = format!("{} is {}.", name_with_article(pair.name), pair.docs);
        text.comment("// ", &docs, WIDTH);
        text.line(format!("type {} struct {{", pair.name));
        let kinds = [pair.first, pair.second].map(|kind| match kind {
            "f64" => "float64".to_owned(),
            "u64" => "uint64".to_owned(),
            "types.json" => "string".to_owned(),
            other => spell(other.strip_prefix("types.").unwrap_or(other)),
        });
        let [one, two] = kinds.map(|kind| match kind.as_str() {
            "String" => "string".to_owned(),
            "Bool" => "bool".to_owned(),
            _ => kind,
        });
        write_fields(
            &[(String::new(), first.into(), one), (String::new(), second.into(), two)],
            &mut text,
        );
        text.line("}");
    }
    for definition in contract.types() {
        match form(definition)? {
            Form::Struct(fields) => write_struct(contract, definition, fields, &mut text)?,
            Form::Words(cases, is_open) => {
                let name = name_of(definition);
                write_doc(definition, is_open, &mut text);
                text.line(format!("type {name} string"));
                write_words(&path_of(definition), &name, cases, &mut text)?;
            }
            Form::Numbers(cases) => {
                let name = name_of(definition);
                write_doc(definition, false, &mut text);
                text.line(format!("type {name} uint8"));
                write_numbers(&path_of(definition), &name, cases, &mut text)?;
            }
            Form::Kinds(cases, has_words, payloads) => {
                write_kinds(contract, definition, cases, has_words, payloads, &mut text)?;
            }
            Form::None => {}
        }
    }
    Ok(text.finish())
}

fn name_with_article(name: &str) -> String {
    let article = with_article(&name.to_lowercase());
    let article = if article.starts_with("an ") { "An" } else { "A" };
    format!("{article} {name}")
}

/// The comment of a type.
fn write_doc(definition: &Definition, is_open: bool, text: &mut Text) {
    let names = definition.fields().iter().map(|field| field.name.as_str());
    let docs = respell(&definition.docs, names, spell);
    let end = if is_open { " Another word is one that this version does not know." } else { "" };
    let kind = format!("`{}` of wit/.", definition.name);
    text.space(1);
    let docs = format!("{} is {kind} {docs}{end}", name_of(definition));
    text.comment("// ", docs.trim_end(), WIDTH);
}

/// Fields with their comments and types. Names are padded as gofmt does it, among lines without a
/// comment between them.
fn write_fields(fields: &[(String, String, String)], text: &mut Text) {
    let mut start = 0;
    while start < fields.len() {
        let rest = &fields[start + 1..];
        let length = 1 + rest.iter().take_while(|(docs, _, _)| docs.is_empty()).count();
        let section = &fields[start..start + length];
        let width = section.iter().map(|(_, name, _)| name.len()).max().unwrap_or_default();
        for (docs, name, kind) in section {
            for line in wrap(docs, WIDTH - 7) {
                text.line(format!("\t// {line}"));
            }
            text.line(format!("\t{name:width$} {kind}"));
        }
        start += length;
    }
}

fn write_struct(
    contract: &Contract,
    definition: &Definition,
    fields: &[Field],
    text: &mut Text,
) -> Result<(), Error> {
    write_doc(definition, false, text);
    text.line(format!("type {} struct {{", name_of(definition)));
    let mut rows = Vec::new();
    for field in fields {
        let names = fields.iter().map(|field| field.name.as_str());
        let docs = respell(&field.docs, names, spell);
        rows.push((docs, spell(&field.name), hint(contract, &field.kind)?));
    }
    write_fields(&rows, text);
    text.line("}");
    Ok(())
}

/// The type in Go.
fn hint(contract: &Contract, kind: &Type) -> Result<String, Error> {
    Ok(match resolve(contract, kind)? {
        Type::Bool => "bool".to_owned(),
        Type::U8 => "byte".to_owned(),
        Type::U32 => "uint32".to_owned(),
        Type::U64 => "uint64".to_owned(),
        Type::S64 => "int64".to_owned(),
        Type::F32 => "float32".to_owned(),
        Type::F64 => "float64".to_owned(),
        Type::Text => "string".to_owned(),
        Type::List(inner) => format!("[]{}", hint(contract, inner)?),
        Type::Option(inner) => format!("*{}", hint(contract, inner)?),
        Type::Pair(first, second) => pair_of(first, second)?.name.to_owned(),
        Type::Handle(_, name) => spell(name),
        Type::Named(interface, name) => name_of(contract.find(interface, name)?),
        Type::Result(..) => return Err(Error::Unsupported("a result in a record".to_owned())),
    })
}

fn write_words(path: &str, name: &str, cases: &[Case], text: &mut Text) -> Result<(), Error> {
    let mut rows = Vec::new();
    for case in cases {
        let kind = format!("{name} = \"{}\"", case.name);
        rows.push((case.docs.clone(), constant(path, &case.name)?, kind));
    }
    text.space(1);
    text.line(format!("// The words of {name}."));
    text.line("const (");
    write_fields(&rows, text);
    text.line(")");
    Ok(())
}

fn write_numbers(path: &str, name: &str, cases: &[Case], text: &mut Text) -> Result<(), Error> {
    text.space(1);
    text.line(format!("// The cases of {name}."));
    text.line("const (");
    for (place, case) in cases.iter().enumerate() {
        for line in wrap(&case.docs, WIDTH - 7) {
            text.line(format!("\t// {line}"));
        }
        let end = if place == 0 { format!(" {name} = iota") } else { String::new() };
        text.line(format!("\t{}{end}", constant(path, &case.name)?));
    }
    text.line(")");
    Ok(())
}

/// A struct with a kind.
fn write_kinds(
    contract: &Contract,
    definition: &Definition,
    cases: &[Case],
    has_words: bool,
    payloads: &Payloads,
    text: &mut Text,
) -> Result<(), Error> {
    let name = name_of(definition);
    let kind = format!("{name}Kind");
    let path = path_of(definition);
    text.space(1);
    text.comment("// ", &format!("{} is the case of {}.", kind, with_article(&name)), WIDTH);
    text.line(format!("type {kind} {}", if has_words { "string" } else { "uint8" }));
    match has_words {
        true => write_words(&path, &kind, cases, text)?,
        false => write_numbers(&path, &kind, cases, text)?,
    }
    write_doc(definition, false, text);
    text.line(format!("type {name} struct {{"));
    let mut rows = vec![(String::new(), "Kind".to_owned(), kind)];
    for (field, own) in payloads.fields {
        let payload = cases.iter().find(|case| own.contains(&case.name.as_str()));
        let Some(payload) = payload.and_then(|case| case.payload.as_ref()) else {
            return Err(Error::NoType(format!("{path}.{field}")));
        };
        let mut names = Vec::new();
        for case in *own {
            names.push(constant(&path, case)?);
        }
        let docs = format!("{field} is the content of {}.", names.join(", "));
        rows.push((docs, (*field).to_owned(), hint(contract, payload)?));
    }
    write_fields(&rows, text);
    text.line("}");
    Ok(())
}
