//! `ports.py`: the ports as protocols, and for each role the protocol that has exactly its ports.

use super::types::write_docstring;
use super::{NOTE, hint, name_of, path_of};
use crate::Error;
use crate::contract::{Contract, Definition, Function, Interface, Shape, Side, Type};
use crate::text::{Text, capitalize, respell, snake, with_article};

/// Functions with another name in Python, where those of all ports stand in one object.
pub(super) const FUNCTIONS: [(&str, &str); 6] = [
    ("run.current-policy", "policy"),
    ("inspect.column-stats-of", "column_stats"),
    ("llm.start", "start_reply"),
    ("sql.start", "start_statement"),
    ("retrieval.find", "retrieve"),
    ("retrieval.find-all", "retrieve_all"),
];

const CALL: &str = r#"class Call(Protocol):
    """A call in flight."""

    def ticket(self) -> int:
        """The number to pass to `any`."""
        ...

    def cancel(self) -> None:
        """Cancels the call now."""
        ...

    def close(self) -> None:
        """Drops the handle, which cancels a call that has not ended; a second call does nothing."""
        ..."#;

/// The text of the file.
pub(super) fn write(contract: &Contract) -> Result<String, Error> {
    let mut body = Text::default();
    body.line(CALL);
    for definition in contract.types() {
        if let Shape::Resource(methods) = &definition.shape
            && methods.iter().any(|method| method.name == "ticket")
        {
            write_call(contract, definition, methods, &mut body)?;
        }
    }
    for port in contract.on(Side::Port) {
        write_port(contract, port, &mut body)?;
    }
    for world in contract.worlds.iter().filter(|world| !world.imports.is_empty()) {
        let ports = contract.on(Side::Port).filter(|port| world.imports.contains(&port.name));
        let bases: Vec<String> = ports.map(|port| capitalize(&port.name)).collect();
        body.space(2);
        let name = capitalize(&world.role);
        body.line(format!("class {name}Host({}, Protocol):", bases.join(", ")));
        body.line(format!("    \"\"\"What {} may reach.\"\"\"", with_article(&world.role)));
    }
    let body = body.finish();
    let mut text = Text::new(&format!(
        "\"\"\"The ports as protocols, and for each role the protocol that has exactly its ports.\
         \n\nErrors are raised, or stand in the list of a function that makes several calls. \
         `Host` implements the protocols in a\ncomponent, and `fakes.FakeHost` in tests.\n\n{NOTE}\
         \n\"\"\"\n\nfrom __future__ import annotations\n\nfrom typing import Any, Optional, \
         Protocol, Union\n\nfrom .errors import ModelError, PortError, SqlError\nfrom .types \
         import ("
    ));
    for name in find_imports(contract, &body) {
        text.line(format!("    {name},"));
    }
    text.line(")");
    text.space(2);
    text.add(&body);
    Ok(text.finish())
}

/// The names of `types.py` that the text uses.
fn find_imports(contract: &Contract, body: &str) -> Vec<String> {
    let words: Vec<&str> = body.split(|c: char| !c.is_alphanumeric()).collect();
    let types = contract.types().filter(|one| path_of(one) != "llm.llm-error");
    let types = types.filter(|one| !one.name.ends_with("-error"));
    let mut names: Vec<String> = types
        .filter(|one| match &one.shape {
            Shape::Resource(methods) => methods.iter().all(|method| method.name != "ticket"),
            _ => true,
        })
        .map(|one| name_of(&one.interface, &one.name))
        .chain(["U32", "U64", "F32"].map(str::to_owned))
        .filter(|name| words.contains(&name.as_str()))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The protocol of a call in flight.
fn write_call(
    contract: &Contract,
    definition: &Definition,
    methods: &[Function],
    text: &mut Text,
) -> Result<(), Error> {
    let name = name_of(&definition.interface, &definition.name);
    text.space(2);
    text.line(format!("class {name}(Call, Protocol):"));
    write_docstring(&definition.docs, "    ", text);
    for method in methods.iter().filter(|one| !["ticket", "cancel"].contains(&one.name.as_str())) {
        let result = method.result.as_ref().map_or(Ok("None".to_owned()), |kind| match kind {
            Type::Option(inner) => ending(contract, inner),
            other => hint(contract, other),
        })?;
        text.space(1);
        text.line(format!("    def {}(self) -> {result}:", snake(&method.name)));
        write_docstring(&method.docs, "        ", text);
        text.line("        ...");
    }
    Ok(())
}

/// The result of a call in flight, or none.
fn ending(contract: &Contract, kind: &Type) -> Result<String, Error> {
    let Type::Result(Some(ok), error) = kind else { return hint(contract, kind) };
    Ok(format!("Union[{}, {}, None]", hint(contract, ok)?, hint(contract, error)?))
}

fn write_port(contract: &Contract, port: &Interface, text: &mut Text) -> Result<(), Error> {
    text.space(2);
    text.line(format!("class {}(Protocol):", capitalize(&port.name)));
    write_docstring(&port.docs, "    ", text);
    for function in &port.functions {
        let mut parameters = vec!["self".to_owned()];
        for parameter in &function.parameters {
            let kind = value_hint(contract, &parameter.kind)?;
            parameters.push(format!("{}: {kind}", snake(&parameter.name)));
        }
        let mut docs = function.docs.clone();
        let result = match &function.result {
            None => "None".to_owned(),
            Some(Type::Result(ok, error)) => {
                docs.push_str(&format!(" Raises `{}`.", hint(contract, error)?));
                ok.as_ref().map_or(Ok("None".to_owned()), |ok| hint(contract, ok))?
            }
            Some(kind) => value_hint(contract, kind)?,
        };
        let name = function_name(&port.name, &function.name);
        let names = function.parameters.iter().map(|parameter| parameter.name.as_str());
        text.space(1);
        text.line(format!("    def {name}({}) -> {result}:", parameters.join(", ")));
        write_docstring(&respell(&docs, names, snake), "        ", text);
        text.line("        ...");
    }
    Ok(())
}

/// The name of a port's function in Python.
pub(super) fn function_name(port: &str, function: &str) -> String {
    let path = format!("{port}.{function}");
    let own = FUNCTIONS.iter().find(|(name, _)| *name == path);
    own.map_or_else(|| snake(function), |(_, own)| (*own).to_owned())
}

/// The type hint of an argument or a result: ports pass JSON as Python values.
fn value_hint(contract: &Contract, kind: &Type) -> Result<String, Error> {
    match kind.without_option().is_shared("json") {
        true => Ok("Any".to_owned()),
        false => hint(contract, kind),
    }
}
