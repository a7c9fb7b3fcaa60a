//! `contract.d.ts`: the types of values. A value that an author gives may leave out fields; its
//! type has the name of the whole one with `Fields` at the end.

use std::collections::BTreeSet;

use super::{ERRORS, NOTE, WIDTH, path_of, values_by_name};
use crate::Error;
use crate::contract::{Case, Contract, Definition, Field, Shape, Side, Type};
use crate::rules::{Default, default_of};
use crate::text::{Text, camel, pascal, respell, wrap};

/// Types with another name.
const NAMES: [(&str, &str); 1] = [("types.failure", "FailureRecord")];

/// Types that tests give by makers, although only the host gives them to plugins.
const GIVEN: [(&str, &str); 3] =
    [("types", "catalog"), ("types", "observation"), ("types", "problem")];

const HEAD: &str = r#"// The values of the contract.

import type { ResultSet } from "./index.js";

/** A value that JSON can hold. Memos, contexts and parsed replies are such values, not texts. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
/** Values by name. The host's are a Map; a role may give a plain object or a list of pairs, too. */
export type Named<T> = Map<string, T> | { [name: string]: T } | [string, T][];
/** A word of an open set: one of those named here, or another one of a later version. */
export type Open<T extends string> = T | (string & {});
/** A cell. Whole numbers beyond 2^53 arrive rounded, as the trace says: select them as text. */
export type Value = null | boolean | number | string | Uint8Array;
/** The record `T` of which only the fields `K` must be given; those in `More` have other types. */
type With<T, K extends keyof T, More = {}> =
  Pick<T, K> & Partial<Omit<T, K | keyof More>> & More;"#;

/// The text of the file.
pub(super) fn write(contract: &Contract) -> Result<String, Error> {
    let given = find_given(contract)?;
    let mut text = Text::new(NOTE);
    text.line(HEAD);
    for definition in contract.types().filter(|one| one.interface != "about") {
        let path = path_of(definition);
        if ERRORS.contains(&path.as_str()) || path == "types.value" {
            continue;
        }
        let has_fields = given.contains(&path) && has_fields(contract, definition)?;
        match &definition.shape {
            Shape::Record(fields) => {
                write_record(contract, definition, fields, &mut text)?;
                if has_fields {
                    write_fields(contract, definition, fields, &mut text)?;
                }
            }
            Shape::Variant(cases) | Shape::Enum(cases) => {
                write_cases(contract, definition, cases, &mut text)?;
                if has_fields {
                    write_variant(contract, definition, cases, true, &mut text)?;
                }
            }
            Shape::Alias(_) | Shape::Resource(_) => {}
        }
    }
    Ok(text.finish())
}

/// The types that authors give: results of roles, arguments of ports, and what those are made of.
fn find_given(contract: &Contract) -> Result<BTreeSet<String>, Error> {
    let mut given = BTreeSet::new();
    for role in contract.on(Side::Role) {
        for kind in role.functions.iter().filter_map(|function| function.result.as_ref()) {
            reach(contract, kind, &mut given)?;
        }
    }
    for port in contract.on(Side::Port) {
        for parameter in port.functions.iter().flat_map(|function| &function.parameters) {
            reach(contract, &parameter.kind, &mut given)?;
        }
    }
    for (interface, name) in GIVEN {
        reach(contract, &Type::Named(interface.to_owned(), name.to_owned()), &mut given)?;
    }
    Ok(given)
}

/// Adds the types that a type is made of.
fn reach(contract: &Contract, kind: &Type, found: &mut BTreeSet<String>) -> Result<(), Error> {
    match kind {
        Type::List(inner) | Type::Option(inner) => reach(contract, inner, found),
        Type::Pair(first, second) => {
            reach(contract, first, found)?;
            reach(contract, second, found)
        }
        Type::Result(ok, error) => {
            ok.as_ref().map_or(Ok(()), |ok| reach(contract, ok, found))?;
            reach(contract, error, found)
        }
        Type::Named(interface, name) => {
            let definition = contract.find(interface, name)?;
            if !found.insert(path_of(definition)) {
                return Ok(());
            }
            for inner in parts(definition) {
                reach(contract, inner, found)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The types of a definition's fields or payloads.
fn parts(definition: &Definition) -> Vec<&Type> {
    match &definition.shape {
        Shape::Record(fields) => fields.iter().map(|field| &field.kind).collect(),
        Shape::Variant(cases) => cases.iter().filter_map(|case| case.payload.as_ref()).collect(),
        _ => Vec::new(),
    }
}

/// Returns true if an author may leave out a field of the record or of what it is made of.
fn has_fields(contract: &Contract, definition: &Definition) -> Result<bool, Error> {
    for field in definition.fields() {
        if !matches!(default_of(contract, definition, field)?, Default::Required) {
            return Ok(true);
        }
    }
    for kind in parts(definition) {
        if has_partial(contract, kind)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if the type has a form with fewer fields.
fn has_partial(contract: &Contract, kind: &Type) -> Result<bool, Error> {
    match kind {
        Type::List(inner) | Type::Option(inner) => has_partial(contract, inner),
        Type::Named(interface, name) => {
            let definition = contract.find(interface, name)?;
            let is_error = ERRORS.contains(&path_of(definition).as_str());
            Ok(!is_error && has_fields(contract, definition)?)
        }
        _ => Ok(false),
    }
}

fn name_of(interface: &str, name: &str) -> String {
    let path = format!("{interface}.{name}");
    let own = NAMES.iter().find(|(one, _)| *one == path);
    own.map_or_else(|| pascal(name), |(_, own)| (*own).to_owned())
}

/// The type; `is_given` where authors may leave out fields.
fn hint(contract: &Contract, kind: &Type, is_given: bool) -> Result<String, Error> {
    Ok(match kind {
        Type::Bool => "boolean".to_owned(),
        Type::U8 | Type::U32 | Type::U64 | Type::S64 | Type::F32 | Type::F64 => "number".to_owned(),
        Type::Text => "string".to_owned(),
        Type::List(inner) => {
            let inner = hint(contract, inner, is_given)?;
            if inner.contains(" | ") { format!("({inner})[]") } else { format!("{inner}[]") }
        }
        // A document is null where there is none.
        Type::Option(inner) if inner.is_shared("json") => "Json".to_owned(),
        Type::Option(inner) => format!("{} | null", hint(contract, inner, is_given)?),
        Type::Pair(first, second) => {
            let first = hint(contract, first, is_given)?;
            format!("[{first}, {}]", hint(contract, second, is_given)?)
        }
        Type::Handle(_, name) => pascal(name),
        Type::Result(..) => return Err(Error::Unsupported("a result in a record".to_owned())),
        Type::Named(interface, name) => match &contract.find(interface, name)?.shape {
            Shape::Alias(Type::Text) if !kind.is_shared("json") => "string".to_owned(),
            _ if is_given && has_partial(contract, kind)? => {
                format!("{}Fields", name_of(interface, name))
            }
            _ => name_of(interface, name),
        },
    })
}

fn write_docs(docs: &str, indent: &str, text: &mut Text) {
    let lines = wrap(docs, WIDTH - indent.len() - 7);
    match lines.as_slice() {
        [] => {}
        [line] => text.line(format!("{indent}/** {line} */")),
        lines => {
            text.line(format!("{indent}/**"));
            for line in lines {
                text.line(format!("{indent} * {line}"));
            }
            text.line(format!("{indent} */"));
        }
    }
}

fn write_record(
    contract: &Contract,
    definition: &Definition,
    fields: &[Field],
    text: &mut Text,
) -> Result<(), Error> {
    text.space(1);
    write_docs(&respell(&definition.docs, field_names(fields), camel), "", text);
    let name = name_of(&definition.interface, &definition.name);
    text.line(format!("export interface {name} {{"));
    for field in fields {
        write_docs(&respell(&field.docs, field_names(fields), camel), "  ", text);
        let kind = match values_by_name(contract, field)? {
            Some(kind) => format!("Map<string, {}>", hint(contract, kind, false)?),
            None => hint(contract, &field.kind, false)?,
        };
        text.line(format!("  {}: {kind};", camel(&field.name)));
    }
    text.line("}");
    Ok(())
}

fn field_names(fields: &[Field]) -> impl Iterator<Item = &str> {
    fields.iter().map(|field| field.name.as_str())
}

/// The record as an author gives it.
fn write_fields(
    contract: &Contract,
    definition: &Definition,
    fields: &[Field],
    text: &mut Text,
) -> Result<(), Error> {
    let name = name_of(&definition.interface, &definition.name);
    let mut required = Vec::new();
    let mut more = Vec::new();
    for field in fields {
        let is_required = matches!(default_of(contract, definition, field)?, Default::Required);
        let own = camel(&field.name);
        let kind = match values_by_name(contract, field)? {
            Some(kind) => Some(format!("Named<{}>", hint(contract, kind, false)?)),
            None if has_partial(contract, &field.kind)? => Some(hint(contract, &field.kind, true)?),
            None => None,
        };
        match kind {
            Some(kind) => {
                let mark = if is_required { "" } else { "?" };
                more.push(format!("{own}{mark}: {kind}"));
            }
            None if is_required => required.push(format!("\"{own}\"")),
            None => {}
        }
    }
    let required = if required.is_empty() { "never".to_owned() } else { required.join(" | ") };
    let end =
        if more.is_empty() { ">;".to_owned() } else { format!(", {{ {} }}>;", more.join("; ")) };
    let line = format!("export type {name}Fields = With<{name}, {required}{end}");
    if line.chars().count() <= WIDTH {
        text.line(line);
        return Ok(());
    }
    text.line(format!("export type {name}Fields = With<{name}, {required}, {{"));
    for one in more {
        text.line(format!("  {one};"));
    }
    text.line("}>;");
    Ok(())
}

fn write_cases(
    contract: &Contract,
    definition: &Definition,
    cases: &[Case],
    text: &mut Text,
) -> Result<(), Error> {
    text.space(1);
    let mut docs = definition.docs.clone();
    for case in cases.iter().filter(|case| !case.docs.is_empty()) {
        docs.push_str(&format!("\n\n`{}`: {}", case.name, case.docs));
    }
    write_docs(docs.trim_start(), "", text);
    let name = name_of(&definition.interface, &definition.name);
    let words = cases.iter().filter(|case| case.payload.is_none());
    let words: Vec<String> = words.map(|case| format!("\"{}\"", case.name)).collect();
    if definition.open_words().is_some() {
        text.line(format!("export type {name} = Open<{}>;", words.join(" | ")));
    } else if matches!(definition.shape, Shape::Enum(_)) {
        text.line(format!("export type {name} = {};", words.join(" | ")));
    } else {
        write_variant(contract, definition, cases, false, text)?;
    }
    Ok(())
}

/// A variant: a word for a case without a payload, else an object with one field.
fn write_variant(
    contract: &Contract,
    definition: &Definition,
    cases: &[Case],
    is_given: bool,
    text: &mut Text,
) -> Result<(), Error> {
    let has_words = cases.iter().any(|case| case.payload.is_none());
    let mut parts = Vec::new();
    for case in cases {
        let Some(kind) = &case.payload else {
            parts.push(format!("\"{}\"", case.name));
            continue;
        };
        let mut fields =
            vec![format!("{}: {}", camel(&case.name), hint(contract, kind, is_given)?)];
        // Without words, each field can be asked for.
        let others = cases.iter().filter(|other| !has_words && other.name != case.name);
        fields.extend(others.map(|other| format!("{}?: undefined", camel(&other.name))));
        parts.push(format!("{{ {} }}", fields.join("; ")));
    }
    let end = if is_given { "Fields" } else { "" };
    let name = format!("{}{end}", name_of(&definition.interface, &definition.name));
    let line = format!("export type {name} = {};", parts.join(" | "));
    if line.chars().count() <= WIDTH {
        text.line(line);
        return Ok(());
    }
    text.line(format!("export type {name} ="));
    let last = parts.len() - 1;
    for (place, part) in parts.iter().enumerate() {
        text.line(format!("  | {part}{}", if place == last { ";" } else { "" }));
    }
    Ok(())
}
