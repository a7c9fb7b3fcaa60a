//! The signatures of the contract's functions, for errors: as the contract has one, and as a
//! component has it.

use wasmtime::Engine;
use wasmtime::component::Component;
use wasmtime::component::types::{ComponentFunc, ComponentItem, Type};

/// The files of the contract with functions.
const CONTRACT: [&str; 3] = [
    include_str!("../../../wit/ports.wit"),
    include_str!("../../../wit/roles.wit"),
    include_str!("../../../wit/types.wit"),
];
/// Levels of a type that are shown.
const DEPTH: usize = 4;
/// Fields, cases and parameters that are shown of each.
const NAMES: usize = 12;
/// Bytes of a signature that are shown.
const SHOWN: usize = 600;

/// The plain name of an interface: `sql` of `syrch:plugin/sql@0.1.0`.
pub(crate) fn plain(interface: &str) -> &str {
    let name = interface.rsplit('/').next().unwrap_or_default();
    name.split('@').next().unwrap_or_default()
}

/// The functions of an interface of the contract, each with its signature as the contract writes
/// it.
pub(crate) fn contract_functions(
    interface: &str,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let head = format!("interface {} {{", plain(interface));
    let start = CONTRACT.into_iter().find_map(|text| Some(&text[text.find(&head)?..]));
    let lines = start
        .map(|text| text.split("\n}").next().unwrap_or_default().lines())
        .into_iter()
        .flatten();
    lines.filter_map(|line| {
        let (name, rest) = line.trim().split_once(": func(")?;
        let signature = line.trim().strip_prefix(name)?.strip_prefix(": ")?;
        let is_name = !rest.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        is_name.then(|| (name, signature.trim_end_matches(';')))
    })
}

/// Compares a function that does not fit: describes its signature in the contract and in the
/// component. `interface` is the full name.
pub(crate) fn compare(
    engine: &Engine,
    component: &Component,
    interface: &str,
    function: &str,
) -> Option<String> {
    let name = function.rsplit('.').next().unwrap_or(function);
    let name = name.rsplit(']').next().unwrap_or(name);
    let (_, contract) = contract_functions(interface).find(|(known, _)| *known == name)?;
    let own = match component_signature(engine, component, interface, function) {
        Some(own) => format!("the plugin has `{own}`"),
        None => "the plugin does not have it".to_owned(),
    };
    Some(format!("`{name}`: {own}, this host has `{contract}`"))
}

/// The signature that a component gives a function of an interface that it imports or exports.
fn component_signature(
    engine: &Engine,
    component: &Component,
    interface: &str,
    function: &str,
) -> Option<String> {
    let of = component.component_type();
    let item = of.get_export(engine, interface).or_else(|| of.get_import(engine, interface))?;
    let ComponentItem::ComponentInstance(instance) = item.ty else { return None };
    match instance.get_export(engine, function)?.ty {
        ComponentItem::ComponentFunc(function) => Some(signature(&function)),
        _ => None,
    }
}

fn signature(function: &ComponentFunc) -> String {
    let parameters =
        function.params().map(|(name, ty)| format!("{name}: {}", describe_type(&ty, DEPTH)));
    let results: Vec<String> = function.results().map(|ty| describe_type(&ty, DEPTH)).collect();
    let arrow =
        if results.is_empty() { String::new() } else { format!(" -> {}", results.join(", ")) };
    let text = format!("func({}){arrow}", list_few(parameters));
    match text.len() > SHOWN {
        true => format!("{} …", syrch_core::text::clip(&text, SHOWN)),
        false => text,
    }
}

fn list_few(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = if names.len() > NAMES { ", …" } else { "" };
    format!("{}{more}", names.take(NAMES).collect::<Vec<_>>().join(", "))
}

/// A type in the words of WIT. A component knows no names of types, so that records and variants
/// show what they consist of.
fn describe_type(ty: &Type, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else { return "…".to_owned() };
    let option = |ty: Option<Type>| ty.map_or("_".to_owned(), |ty| describe_type(&ty, depth));
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::S8 => "s8".to_owned(),
        Type::U8 => "u8".to_owned(),
        Type::S16 => "s16".to_owned(),
        Type::U16 => "u16".to_owned(),
        Type::S32 => "s32".to_owned(),
        Type::U32 => "u32".to_owned(),
        Type::S64 => "s64".to_owned(),
        Type::U64 => "u64".to_owned(),
        Type::Float32 => "f32".to_owned(),
        Type::Float64 => "f64".to_owned(),
        Type::Char => "char".to_owned(),
        Type::String => "string".to_owned(),
        Type::List(list) => format!("list<{}>", describe_type(&list.ty(), depth)),
        Type::Record(record) => {
            format!("record {{ {} }}", list_few(record.fields().map(|field| field.name.to_owned())))
        }
        Type::Tuple(tuple) => {
            format!("tuple<{}>", list_few(tuple.types().map(|ty| describe_type(&ty, depth))))
        }
        Type::Variant(variant) => {
            format!("variant {{ {} }}", list_few(variant.cases().map(|case| case.name.to_owned())))
        }
        Type::Enum(of) => format!("enum {{ {} }}", list_few(of.names().map(str::to_owned))),
        Type::Option(of) => format!("option<{}>", describe_type(&of.ty(), depth)),
        Type::Result(of) => format!("result<{}, {}>", option(of.ok()), option(of.err())),
        Type::Flags(flags) => format!("flags {{ {} }}", list_few(flags.names().map(str::to_owned))),
        Type::Own(_) => "a handle".to_owned(),
        Type::Borrow(_) => "borrow<a handle>".to_owned(),
        _ => "another type".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_has_a_signature_for_each_function() {
        fn names(interface: &str) -> Vec<&str> {
            contract_functions(interface).map(|(name, _)| name).collect::<Vec<_>>()
        }
        assert_eq!(names("syrch:plugin/planner@0.1.0"), ["plan", "next"]);
        assert_eq!(
            names("syrch:plugin/run@0.1.0"),
            ["current-policy", "setting", "remaining", "seed"]
        );
        assert!(names("syrch:plugin/sql@0.1.0").contains(&"fingerprint"));
        assert!(names("syrch:plugin/about@0.1.0").contains(&"configure"));
        assert!(names("syrch:plugin/nothing@0.1.0").is_empty());
        let (_, seed) = contract_functions("syrch:plugin/run@0.1.0").last().unwrap();
        assert_eq!(seed, "func() -> u64");
    }
}
