//! `types.py`: the values of the contract.

use super::{ERRORS, Form, NOTE, WIDTH, class_of, has_classes, hint, name_of, path_of, spell};
use crate::Error;
use crate::contract::{Case, Contract, Definition, Field, Function, Shape, Type};
use crate::rules::{Default, default_of, in_order};
use crate::text::{Text, pascal, respell, snake, wrap};

/// Classes with methods that `methods.py` has.
const WITH_METHODS: [&str; 5] =
    ["types.table", "types.catalog", "types.candidate", "types.graph", "types.observation"];

/// Fields that have a default in Python alone.
const DEFAULTS: [(&str, &str); 1] = [("types.graph.answer", "\"\"")];

const HEAD: &str = r#"from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Optional, Protocol, Union, runtime_checkable

from . import methods
from .errors import Failure

U32 = Annotated[int, "u32"]
U64 = Annotated[int, "u64"]
F32 = Annotated[float, "f32"]"#;

/// The definitions of a cell and a trial, which do not follow the contract's variants.
const CELL: &str = r#"class Decimal(str):
    """A decimal number of a cell, as its exact text."""


class Temporal(str):
    """A date or a time of a cell, as text."""


class OtherValue(str):
    """A cell of another type, as text."""


#: A cell: NULL is `None`.
Value = Union[None, bool, int, float, str, bytes, Decimal, Temporal, OtherValue]"#;

/// The text of the file.
pub(super) fn write(contract: &Contract) -> Result<String, Error> {
    let mut text = Text::new(&format!(
        "\"\"\"The values of the contract as dataclasses, with defaults for what a plugin rarely \
         fills in.\n\nWords stand for cases without a value (`\"solve\"`, `\"all-of\"`, \
         `\"sqlite\"`), classes for cases with one. The host\nchecks every value that a plugin \
         returns, and the SDK checks its Python type before, so that a mistake becomes a\nmessage \
         and not a trap.\n\n{NOTE}\n\"\"\"\n"
    ));
    text.line(HEAD);
    let all = ["F32", "U32", "U64"].map(str::to_owned).into();
    let mut names = Names { all, is_after_class: false };
    for definition in contract.types() {
        let path = path_of(definition);
        if ERRORS.contains(&path.as_str()) || definition.interface == "about" {
            continue;
        }
        match &definition.shape {
            Shape::Record(_) if path == "types.opinion" => {}
            Shape::Record(_) => write_record(contract, definition, &mut text, &mut names)?,
            _ if path == "types.value" => {
                names.begin_class(&mut text);
                text.line(CELL);
                for name in ["Decimal", "OtherValue", "Temporal", "Value"] {
                    names.add(name);
                }
            }
            Shape::Variant(cases) if path == "rewriter.trial" => {
                write_trial(definition, cases, &mut text, &mut names);
            }
            Shape::Variant(cases) if has_classes(definition) => {
                write_classes(contract, definition, cases, &mut text, &mut names)?;
            }
            Shape::Variant(_) | Shape::Enum(_) => write_words(definition, &mut text, &mut names),
            Shape::Alias(kind) if !name_is_text(definition) => {
                names.begin_alias(&mut text);
                write_doc(&definition.docs, &mut text);
                let name = names.add(&pascal(&definition.name));
                text.line(format!("{name} = {}", hint(contract, kind)?));
            }
            Shape::Resource(methods) if methods.iter().all(|one| one.name != "ticket") => {
                write_resource(contract, definition, methods, &mut text, &mut names)?;
            }
            Shape::Alias(_) | Shape::Resource(_) => {}
        }
    }
    text.space(2);
    text.line("__all__ = [");
    names.all.sort();
    for name in names.all {
        text.line(format!("    \"{name}\","));
    }
    text.line("]");
    Ok(text.finish())
}

/// The names that the file defines.
struct Names {
    all: Vec<String>,
    /// True if the last definition was a class.
    is_after_class: bool,
}

impl Names {
    fn add(&mut self, name: &str) -> String {
        if !self.has(name) {
            self.all.push(name.to_owned());
        }
        name.to_owned()
    }

    fn has(&self, name: &str) -> bool {
        self.all.iter().any(|one| one == name)
    }

    /// Leaves lines free before a class.
    fn begin_class(&mut self, text: &mut Text) {
        text.space(2);
        self.is_after_class = true;
    }

    /// Leaves lines free before an assignment.
    fn begin_alias(&mut self, text: &mut Text) {
        text.space(if self.is_after_class { 2 } else { 1 });
        self.is_after_class = false;
    }
}

/// Returns true for an id, which is a plain text in Python.
fn name_is_text(definition: &Definition) -> bool {
    definition.name.ends_with("-id")
}

/// Prose before an assignment.
fn write_doc(docs: &str, text: &mut Text) {
    text.comment("#: ", docs, WIDTH);
}

/// The documentation of a class or a function, indented.
pub(super) fn write_docstring(docs: &str, indent: &str, text: &mut Text) {
    let width = WIDTH - indent.len();
    let lines = wrap(docs, width - 3);
    let last = lines.len() - 1;
    for (place, line) in lines.iter().enumerate() {
        let before = if place == 0 { "\"\"\"" } else { "" };
        let is_full = indent.len() + line.chars().count() + 6 > WIDTH && place == last;
        let after = if place == last && !is_full { "\"\"\"" } else { "" };
        let indent = if line.is_empty() { "" } else { indent };
        text.line(format!("{indent}{before}{line}{after}"));
        if is_full {
            text.line(format!("{indent}\"\"\""));
        }
    }
}

/// The documentation of a record.
fn record_docs(definition: &Definition) -> String {
    let mut docs = definition.docs.clone();
    if docs.is_empty() {
        docs = format!("The record `{}` of the contract.", definition.name);
    }
    respell(&docs, definition.fields().iter().map(|field| field.name.as_str()), spell)
}

fn write_record(
    contract: &Contract,
    definition: &Definition,
    text: &mut Text,
    names: &mut Names,
) -> Result<(), Error> {
    let name = names.add(&name_of(&definition.interface, &definition.name));
    let path = path_of(definition);
    let base = match WITH_METHODS.contains(&path.as_str()) {
        true => format!("(methods.Of{name})"),
        false => String::new(),
    };
    names.begin_class(text);
    text.line("@dataclass");
    text.line(format!("class {name}{base}:"));
    write_docstring(&record_docs(definition), "    ", text);
    text.space(1);
    for field in in_order(contract, definition)? {
        write_field(contract, definition, field, None, text)?;
    }
    Ok(())
}

fn write_field(
    contract: &Contract,
    definition: &Definition,
    field: &Field,
    own: Option<&str>,
    text: &mut Text,
) -> Result<(), Error> {
    let path = format!("{}.{}", path_of(definition), field.name);
    let python = DEFAULTS.iter().find(|(name, _)| *name == path).map(|(_, value)| *value);
    let default = match own.or(python) {
        Some(own) => format!(" = {own}"),
        None => default(contract, definition, field)?,
    };
    let kind = hint(contract, &field.kind)?;
    let names = definition.fields().iter().map(|field| field.name.as_str());
    text.comment("    #: ", &respell(&field.docs, names, spell), WIDTH);
    text.line(format!("    {}: {kind}{default}", snake(&field.name)));
    Ok(())
}

fn default(contract: &Contract, record: &Definition, field: &Field) -> Result<String, Error> {
    Ok(match default_of(contract, record, field)? {
        Default::Required => String::new(),
        Default::Nothing => " = None".to_owned(),
        Default::EmptyList => " = field(default_factory=list)".to_owned(),
        Default::False => " = False".to_owned(),
        Default::Number(digits) => format!(" = {digits}"),
        Default::Text(value) => format!(" = \"{value}\""),
        Default::Record(inner) => {
            format!(" = field(default_factory={})", name_of(&inner.interface, &inner.name))
        }
        Default::First(inner) => match &inner.shape {
            _ if path_of(inner) == "types.value" => " = None".to_owned(),
            Shape::Variant(cases) | Shape::Enum(cases) => {
                let first = cases.first().map_or("", |case| case.name.as_str());
                match class_of(inner, first) {
                    Some(Form::Own(class, _)) => format!(" = field(default_factory={class})"),
                    _ => format!(" = \"{first}\""),
                }
            }
            _ => String::new(),
        },
    })
}

/// A set of words, open or closed.
fn write_words(definition: &Definition, text: &mut Text, names: &mut Names) {
    let path = path_of(definition);
    // The kinds of errors are plain texts of the exceptions.
    if ["types.failure-kind", "types.sql-error-kind"].contains(&path.as_str()) {
        return;
    }
    let name = names.add(&name_of(&definition.interface, &definition.name));
    let place = format!("\"{}.{}\"", definition.interface, pascal(&definition.name));
    names.begin_alias(text);
    write_doc(&definition.docs, text);
    let (Shape::Variant(cases) | Shape::Enum(cases)) = &definition.shape else { return };
    let words = cases.iter().filter(|case| case.payload.is_none());
    let words: Vec<String> = words.map(|case| format!("\"{}\"", case.name)).collect();
    let words = words.join(", ");
    if definition.open_words().is_some() {
        write_doc(&format!("One of {words}; another word is passed on as the case `other`."), text);
        text.line(format!("{name} = Annotated[str, {place}]"));
    } else {
        text.line(format!("{name} = Annotated[Literal[{words}], {place}]"));
    }
}

/// A variant whose cases are classes, and the union of these.
fn write_classes(
    contract: &Contract,
    definition: &Definition,
    cases: &[Case],
    text: &mut Text,
    names: &mut Names,
) -> Result<(), Error> {
    let mut parts = Vec::new();
    let mut words = Vec::new();
    let mut is_open = false;
    for case in cases {
        let Some(form) = class_of(definition, &case.name) else {
            match &case.payload {
                None => words.push(format!("\"{}\"", case.name)),
                Some(_) => is_open = true,
            }
            continue;
        };
        let payload = case.payload.as_ref();
        match form {
            Form::Payload => {
                parts
                    .push(payload.map_or(Ok(String::new()), |kind| payload_class(contract, kind))?);
            }
            Form::Own(class, field) => {
                parts.push((*class).to_owned());
                if names.has(class) {
                    continue;
                }
                write_class(definition, case, class, text, names);
                if let (Some(field), Some(kind)) = (field, payload) {
                    text.space(1);
                    text.line(format!("    {field}: {}", hint(contract, kind)?));
                }
                names.add(class);
            }
            Form::Fields(class, first) => {
                parts.push((*class).to_owned());
                write_class(definition, case, class, text, names);
                text.space(1);
                let Some(Type::Named(interface, name)) = payload else { continue };
                let record = contract.find(interface, name)?;
                for (place, field) in record.fields().iter().enumerate() {
                    let own = (place == 0).then_some(*first);
                    write_field(contract, record, field, own, text)?;
                }
                names.add(class);
            }
        }
    }
    let name = names.add(&name_of(&definition.interface, &definition.name));
    names.begin_alias(text);
    write_doc(&definition.docs, text);
    if is_open {
        write_doc("Another word is passed on as the case `other`.", text);
        parts.insert(0, "str".to_owned());
    } else if !words.is_empty() {
        parts.insert(0, format!("Literal[{}]", words.join(", ")));
    }
    let place = format!("\"{}.{}\"", definition.interface, pascal(&definition.name));
    text.line(format!("{name} = Annotated[Union[{}], {place}]", parts.join(", ")));
    Ok(())
}

/// The class of a payload: numbers are no special ones in a union.
fn payload_class(contract: &Contract, kind: &Type) -> Result<String, Error> {
    match kind {
        Type::U32 => Ok("int".to_owned()),
        other => hint(contract, other),
    }
}

fn write_class(
    definition: &Definition,
    case: &Case,
    class: &str,
    text: &mut Text,
    names: &mut Names,
) {
    names.begin_class(text);
    text.line("@dataclass");
    text.line(format!("class {class}:"));
    let docs = match case.docs.as_str() {
        "" => format!("The case `{}` of `{}`.", case.name, definition.name),
        docs => docs.to_owned(),
    };
    write_docstring(&docs, "    ", text);
}

/// The one class of a trial, whose cases differ by a number or a text.
fn write_trial(definition: &Definition, cases: &[Case], text: &mut Text, names: &mut Names) {
    names.add("Trial");
    let words = cases.iter().filter(|case| case.name != "other");
    let words: Vec<String> = words.map(|case| format!("`{}`", case.name)).collect();
    names.begin_class(text);
    text.line("@dataclass");
    text.line("class Trial:");
    let docs =
        format!("{}\n\n`case` is one of {}, or another word.", definition.docs, words.join(", "));
    write_docstring(&docs, "    ", text);
    text.space(1);
    text.line("    case: str");
    text.line("    speed: Optional[float] = None");
    text.line("    text: Optional[str] = None");
}

/// A handle that is no call in flight: a protocol, which the host and the fakes implement.
fn write_resource(
    contract: &Contract,
    definition: &Definition,
    methods: &[Function],
    text: &mut Text,
    names: &mut Names,
) -> Result<(), Error> {
    let name = names.add(&name_of(&definition.interface, &definition.name));
    names.begin_class(text);
    text.line("@runtime_checkable");
    text.line(format!("class {name}(Protocol):"));
    let docs = format!("{} `with` drops the handle at the end of the block.", definition.docs);
    write_docstring(&docs, "    ", text);
    for method in methods {
        let mut parameters = vec!["self".to_owned()];
        for parameter in &method.parameters {
            let kind = hint(contract, &parameter.kind)?;
            let default = match &parameter.kind {
                Type::Named(interface, name) => first_word(contract.find(interface, name)?),
                _ => String::new(),
            };
            parameters.push(format!("{}: {kind}{default}", snake(&parameter.name)));
        }
        let result = match &method.result {
            Some(kind) => hint(contract, kind)?,
            None => "None".to_owned(),
        };
        let name = snake(&method.name);
        text.space(1);
        text.line(format!("    def {name}({}) -> {result}:", parameters.join(", ")));
        write_docstring(&method.docs, "        ", text);
        text.line("        ...");
    }
    text.space(1);
    text.line("    def close(self) -> None:");
    text.line("        \"\"\"Drops the handle; a second call does nothing.\"\"\"");
    text.line("        ...");
    text.space(1);
    text.line(format!("    def __enter__(self) -> {name}: ..."));
    text.space(1);
    text.line("    def __exit__(self, *error: object) -> None: ...");
    Ok(())
}

fn first_word(definition: &Definition) -> String {
    let first = definition.open_words().and_then(<[Case]>::first);
    first.map_or_else(String::new, |case| format!(" = \"{}\"", case.name))
}
