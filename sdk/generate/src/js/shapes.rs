//! `contract.js`: the shape of each type, and the arguments and results of each role.

use super::{ERRORS, NOTE, WIDTH, path_of, values_by_name};
use crate::Error;
use crate::contract::{Case, Contract, Definition, Field, Function, Shape, Side, Type};
use crate::rules::{Default, default_of};
use crate::text::{Text, camel};

/// Records that messages call otherwise than by their names.
const CALLED: [(&str, &str); 3] = [
    ("linker.relevant", "relevant table"),
    ("inspect.column-stats", "column statistics"),
    ("aggregator.finished", "finished task"),
];

/// Types that `ports.js` reads by hand, since authors choose how they see cells.
const SKIPPED: [&str; 2] = ["rows.page", "types.value"];

const HELPERS: &str = r#"import * as handles from "./handles.js";

const none = () => null;
const no = () => false;
const zero = () => 0;
const empty = () => [];
const maybe = (shape) => or(option(shape), none);
const many = (shape) => or(list(shape), empty);
const extra = (shape) => or(named(shape), empty);
const blank = or(text, () => "");
// `handles.js` imports this file, so that its shape is looked up when it is used.
const resultSet = { same: false, lift: (raw) => handles.results.lift(raw), lower: (raw) => raw };"#;

/// The functions of `codec.js`.
const CODECS: [&str; 17] = [
    "bool", "doubles", "json", "list", "named", "number", "openWord", "option", "or", "pair",
    "record", "text", "u32", "u64", "value", "variant", "word",
];

/// The text of the file.
pub(super) fn write(contract: &Contract) -> Result<String, Error> {
    let mut body = Text::default();
    body.line(HELPERS);
    for definition in contract.types().filter(|one| one.interface != "about") {
        let path = path_of(definition);
        if ERRORS.contains(&path.as_str()) || SKIPPED.contains(&path.as_str()) {
            continue;
        }
        let name = camel(&definition.name);
        match &definition.shape {
            Shape::Record(fields) => write_record(contract, definition, fields, &mut body)?,
            Shape::Variant(cases) | Shape::Enum(cases) => {
                write_cases(contract, definition, cases, &name, &mut body)?;
            }
            Shape::Alias(_) | Shape::Resource(_) => {}
        }
    }
    body.space(1);
    body.line("/** What each function of a role is called with, and what it returns. */");
    body.line("export const ROLES = {");
    for role in contract.on(Side::Role).filter(|role| role.name != "about") {
        body.line(format!("  {}: {{", camel(&role.name)));
        for function in &role.functions {
            write_function(contract, function, &mut body)?;
        }
        body.line("  },");
    }
    body.line("};");
    let body = body.finish();
    let mut text = Text::new(NOTE);
    text.line(
        "// The types of the contract as shapes, with the defaults of fields that few plugins set.",
    );
    text.space(1);
    let words: Vec<&str> = body.split(|c: char| !c.is_alphanumeric()).collect();
    let used: Vec<&str> = CODECS.into_iter().filter(|name| words.contains(name)).collect();
    write_all("import { ", &used, " } from \"./codec.js\";", "", &mut text);
    text.add(&body);
    Ok(text.finish())
}

/// A list between braces, on several lines where it is too long for one.
fn write_all(before: &str, parts: &[impl AsRef<str>], after: &str, indent: &str, text: &mut Text) {
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    let line = format!("{indent}{before}{}{after}", parts.join(", "));
    if line.chars().count() <= WIDTH {
        return text.line(line);
    }
    text.line(format!("{indent}{before}"));
    let mut line = format!("{indent}  ");
    for part in parts {
        if line.chars().count() + part.chars().count() + 1 > WIDTH {
            text.line(&line);
            line = format!("{indent}  ");
        }
        line.push_str(part);
        line.push_str(", ");
    }
    text.line(line);
    text.line(format!("{indent}{}", after.trim_start()));
}

fn write_record(
    contract: &Contract,
    definition: &Definition,
    fields: &[Field],
    text: &mut Text,
) -> Result<(), Error> {
    let path = path_of(definition);
    let called = CALLED.iter().find(|(name, _)| *name == path);
    let called = called.map_or_else(|| definition.name.replace('-', " "), |(_, x)| (*x).to_owned());
    let mut parts = Vec::new();
    for field in fields {
        let name = camel(&field.name);
        let shape = field_shape(contract, definition, field)?;
        parts.push(if shape == name { name } else { format!("{name}: {shape}") });
    }
    let before = format!("export const {} = record(\"{called}\", {{ ", camel(&definition.name));
    text.space(1);
    write_all(&before, &parts, " });", "", text);
    Ok(())
}

/// The shape of a field, with its default.
fn field_shape(contract: &Contract, record: &Definition, field: &Field) -> Result<String, Error> {
    if let Some(kind) = values_by_name(contract, field)? {
        return Ok(format!("extra({})", shape(contract, kind)?));
    }
    let own = shape(contract, &field.kind)?;
    Ok(match (default_of(contract, record, field)?, &field.kind) {
        (Default::Required, _) => own,
        (Default::Nothing, kind) => format!("maybe({})", shape(contract, kind.without_option())?),
        (Default::EmptyList, Type::List(inner)) => format!("many({})", shape(contract, inner)?),
        (Default::EmptyList, _) => format!("or({own}, empty)"),
        (Default::False, _) => format!("or({own}, no)"),
        // The bindings of one engine take such numbers as BigInt.
        (Default::Number(digits), Type::U64) => format!("or({own}, () => u64.lower({digits}))"),
        (Default::Number("0" | "0.0"), _) => format!("or({own}, zero)"),
        (Default::Number(digits), _) => {
            format!("or({own}, () => {})", digits.trim_end_matches(".0"))
        }
        (Default::Text(""), _) => "blank".to_owned(),
        (Default::Text(value), _) => format!("or({own}, () => \"{value}\")"),
        (Default::Record(inner), _) => {
            format!("or({own}, () => {own}.lower({{}}, \"{}\"))", inner.name)
        }
        (Default::First(inner), _) => match &inner.shape {
            Shape::Enum(cases) => format!("or({own}, () => \"{}\")", first_name(cases)),
            Shape::Variant(cases) => {
                format!("or({own}, () => ({{ tag: \"{}\" }}))", first_name(cases))
            }
            _ => own,
        },
    })
}

fn first_name(cases: &[Case]) -> &str {
    cases.first().map_or("", |case| case.name.as_str())
}

/// The shape of a type.
fn shape(contract: &Contract, kind: &Type) -> Result<String, Error> {
    Ok(match kind {
        Type::Bool => "bool".to_owned(),
        Type::U8 | Type::U32 => "u32".to_owned(),
        Type::U64 => "u64".to_owned(),
        Type::S64 | Type::F32 | Type::F64 => "number".to_owned(),
        Type::Text => "text".to_owned(),
        // A list of these is a typed array in the bindings of one engine.
        Type::List(inner) if matches!(**inner, Type::F32 | Type::F64) => "doubles".to_owned(),
        Type::List(inner) => format!("list({})", shape(contract, inner)?),
        Type::Option(inner) => format!("option({})", shape(contract, inner)?),
        Type::Pair(first, second) => {
            format!("pair({}, {})", shape(contract, first)?, shape(contract, second)?)
        }
        Type::Handle(_, name) => camel(name),
        Type::Result(..) => return Err(Error::Unsupported("a result in a record".to_owned())),
        Type::Named(interface, name) => match &contract.find(interface, name)?.shape {
            Shape::Alias(Type::Text) if !kind.is_shared("json") => "text".to_owned(),
            _ => camel(name),
        },
    })
}

fn write_cases(
    contract: &Contract,
    definition: &Definition,
    cases: &[Case],
    name: &str,
    text: &mut Text,
) -> Result<(), Error> {
    let is_open = definition.open_words().is_some();
    let is_enum = matches!(definition.shape, Shape::Enum(_));
    text.space(1);
    if is_open || is_enum {
        let words = cases.iter().filter(|case| case.payload.is_none());
        let words: Vec<String> = words.map(|case| format!("\"{}\"", case.name)).collect();
        let make = if is_open { "openWord" } else { "word" };
        write_all(&format!("export const {name} = {make}("), &words, ");", "", text);
        return Ok(());
    }
    let mut parts = Vec::new();
    for case in cases {
        let payload = case.payload.as_ref();
        let shape = payload.map_or(Ok("null".to_owned()), |kind| shape(contract, kind))?;
        let key = match case.name.contains('-') {
            true => format!("\"{}\"", case.name),
            false => case.name.clone(),
        };
        parts.push(if key == shape { key } else { format!("{key}: {shape}") });
    }
    write_all(&format!("export const {name} = variant({{ "), &parts, " });", "", text);
    Ok(())
}

fn write_function(contract: &Contract, function: &Function, text: &mut Text) -> Result<(), Error> {
    let mut takes = Vec::new();
    for parameter in &function.parameters {
        let name = camel(&parameter.name);
        let shape = shape(contract, &parameter.kind)?;
        takes.push(if shape == name { name } else { format!("{name}: {shape}") });
    }
    let (gives, fails) = match &function.result {
        Some(Type::Result(Some(ok), _)) => (shape(contract, ok)?, ""),
        Some(kind) => (shape(contract, kind)?, "cannotFail: true, "),
        None => return Err(Error::Unsupported("a role without a result".to_owned())),
    };
    let before = format!("{}: {{ {fails}gives: {gives}, takes: {{ ", camel(&function.name));
    write_all(&before, &takes, " } },", "    ", text);
    Ok(())
}
