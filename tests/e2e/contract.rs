//! `docs/contract.md`, the reference of roles, ports and values, is what the WIT says.
//! `UPDATE_CONTRACT=1` writes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use wit_parser::{
    Docs, Function, FunctionKind, Handle, Interface, Resolve, Type, TypeDef, TypeDefKind, TypeId,
    TypeOwner, WorldItem, WorldKey,
};

/// A type as it is written in WIT.
fn type_of(wit: &Resolve, kind: &Type) -> String {
    match kind {
        Type::Bool => "bool".to_owned(),
        Type::U8 => "u8".to_owned(),
        Type::U16 => "u16".to_owned(),
        Type::U32 => "u32".to_owned(),
        Type::U64 => "u64".to_owned(),
        Type::S8 => "s8".to_owned(),
        Type::S16 => "s16".to_owned(),
        Type::S32 => "s32".to_owned(),
        Type::S64 => "s64".to_owned(),
        Type::F32 => "f32".to_owned(),
        Type::F64 => "f64".to_owned(),
        Type::Char => "char".to_owned(),
        Type::String => "string".to_owned(),
        Type::ErrorContext => "error-context".to_owned(),
        Type::Id(id) => type_name(wit, *id),
    }
}

/// A type's name, or what it is made of where it has none.
fn type_name(wit: &Resolve, id: TypeId) -> String {
    let one = &wit.types[id];
    if let Some(name) = &one.name {
        return name.clone();
    }
    let of = |kind: &Type| type_of(wit, kind);
    match &one.kind {
        TypeDefKind::Handle(Handle::Own(id)) => type_name(wit, *id),
        TypeDefKind::Handle(Handle::Borrow(id)) => format!("borrow<{}>", type_name(wit, *id)),
        TypeDefKind::Tuple(tuple) => {
            format!("tuple<{}>", tuple.types.iter().map(of).collect::<Vec<_>>().join(", "))
        }
        TypeDefKind::Option(inner) => format!("option<{}>", of(inner)),
        TypeDefKind::List(inner) => format!("list<{}>", of(inner)),
        TypeDefKind::Result(result) => match (&result.ok, &result.err) {
            (Some(ok), Some(error)) => format!("result<{}, {}>", of(ok), of(error)),
            (None, Some(error)) => format!("result<_, {}>", of(error)),
            (Some(ok), None) => format!("result<{}>", of(ok)),
            (None, None) => "result".to_owned(),
        },
        other => panic!("the contract has a {} that has no name", other.as_str()),
    }
}

fn signature(wit: &Resolve, function: &Function) -> String {
    // The first parameter of a method is the resource itself.
    let skipped = usize::from(matches!(function.kind, FunctionKind::Method(_)));
    let parameters = function.params.iter().skip(skipped);
    let parameters: Vec<_> = parameters
        .map(|parameter| format!("{}: {}", parameter.name, type_of(wit, &parameter.ty)))
        .collect();
    let result = function
        .result
        .as_ref()
        .map(|result| format!(" -> {}", type_of(wit, result)))
        .unwrap_or_default();
    format!("{}({}){result}", function.item_name(), parameters.join(", "))
}

/// A comment as one paragraph, with a full stop where it lacks one.
fn text(docs: &Docs) -> String {
    docs.contents.as_deref().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn item(page: &mut String, indent: &str, code: &str, docs: &Docs) {
    match text(docs) {
        words if words.is_empty() => writeln!(page, "{indent}- `{code}`").unwrap(),
        words => writeln!(page, "{indent}- `{code}`: {words}").unwrap(),
    }
}

/// A type, with a line for each of its parts that has a comment.
fn type_item(page: &mut String, wit: &Resolve, name: &str, one: &TypeDef) {
    let of = |kind: &Type| type_of(wit, kind);
    let case = |name: &str, kind: &Option<Type>| {
        kind.as_ref().map_or(name.to_owned(), |kind| format!("{name}({})", of(kind)))
    };
    let mut parts: Vec<(String, &Docs)> = Vec::new();
    let kind = match &one.kind {
        TypeDefKind::Record(record) => {
            parts.extend(
                record
                    .fields
                    .iter()
                    .map(|field| (format!("{}: {}", field.name, of(&field.ty)), &field.docs)),
            );
            "record"
        }
        TypeDefKind::Variant(variant) => {
            parts.extend(variant.cases.iter().map(|one| (case(&one.name, &one.ty), &one.docs)));
            "variant"
        }
        TypeDefKind::Enum(cases) => {
            parts.extend(cases.cases.iter().map(|one| (one.name.clone(), &one.docs)));
            "enum"
        }
        TypeDefKind::Type(other) => {
            return item(page, "", &format!("type {name} = {}", of(other)), &one.docs);
        }
        TypeDefKind::List(other) => {
            return item(page, "", &format!("type {name} = list<{}>", of(other)), &one.docs);
        }
        TypeDefKind::Resource => return item(page, "", &format!("resource {name}"), &one.docs),
        other => panic!("a {} is new here", other.as_str()),
    };
    let all = parts.iter().map(|(part, _)| part.as_str()).collect::<Vec<_>>().join(", ");
    item(page, "", &format!("{kind} {name} {{ {all} }}"), &one.docs);
    for (part, docs) in parts.iter().filter(|(_, docs)| docs.contents.is_some()) {
        item(page, "  ", part, docs);
    }
}

fn interface(page: &mut String, wit: &Resolve, one: &Interface) {
    let id = wit
        .interfaces
        .iter()
        .find(|(_, other)| other.name == one.name && other.package == one.package)
        .unwrap()
        .0;
    writeln!(page, "{}\n", text(&one.docs)).unwrap();
    let functions = |of: Option<TypeId>| {
        one.functions.values().filter(move |function| match function.kind {
            FunctionKind::Method(resource) => of == Some(resource),
            _ => of.is_none(),
        })
    };
    for function in functions(None) {
        item(page, "", &signature(wit, function), &function.docs);
    }
    for (name, found) in &one.types {
        let definition = &wit.types[*found];
        // A type of another interface that is used here stands there.
        let is_used = matches!(
            &definition.kind, TypeDefKind::Type(Type::Id(other)) if wit.types[*other].owner != TypeOwner::Interface(id)
        );
        if !is_used {
            type_item(page, wit, name, definition);
        }
        for function in functions(Some(*found)) {
            item(page, "  ", &signature(wit, function), &function.docs);
        }
    }
    page.push('\n');
}

/// The whole page.
fn page(wit: &Resolve) -> String {
    let (mut roles, mut ports): (Vec<(String, Vec<String>)>, Vec<String>) =
        (Vec::new(), Vec::new());
    let of = |key: &WorldKey, item: &WorldItem| match (key, item) {
        (WorldKey::Interface(_), WorldItem::Interface { id, .. }) => {
            wit.interfaces[*id].name.clone()
        }
        _ => None,
    };
    for (_, world) in &wit.worlds {
        let imports: Vec<String> =
            world.imports.iter().filter_map(|(key, item)| of(key, item)).collect();
        let imports: Vec<String> = imports.into_iter().filter(|name| name != "types").collect();
        let exports = world.exports.iter().filter_map(|(key, item)| of(key, item));
        for role in exports.filter(|name| name != "about") {
            roles.push((role, imports.clone()));
        }
        imports.iter().for_each(|port| {
            if !ports.contains(port) {
                ports.push(port.clone());
            }
        });
    }
    let all: BTreeMap<&str, &Interface> =
        wit.interfaces.iter().filter_map(|(_, one)| Some((one.name.as_deref()?, one))).collect();
    let mut page = "# Reference of roles, ports and values

Made from [`wit/`](../wit/README.md) by a test; change the comments there. [Plugins](plugins.md) \
  says how to write one, and
[`sdk/`](../sdk/README.md) how these names are spelled in each language. The bounds on all that a \
  plugin returns or passes in stand in
[`wit/README.md`](../wit/README.md#bounds-on-what-a-guest-returns).

## Roles

| role | ports that its world imports |
|---|---|
"
    .to_owned();
    fn link(name: &str) -> String {
        format!("[`{name}`](#{name})")
    }
    for (role, imports) in &roles {
        let imports: Vec<String> = imports.iter().map(|port| link(port)).collect();
        let imports = if imports.is_empty() { "none".to_owned() } else { imports.join(" ") };
        writeln!(page, "| {} | {imports} |", link(role)).unwrap();
    }
    page.push('\n');
    let names = std::iter::once("about").chain(roles.iter().map(|(role, _)| role.as_str()));
    for name in names {
        writeln!(page, "### {name}\n").unwrap();
        interface(&mut page, wit, all[name]);
    }
    page.push_str("## Ports\n\n");
    for name in &ports {
        writeln!(page, "### {name}\n").unwrap();
        interface(&mut page, wit, all[name.as_str()]);
    }
    page.push_str("## Values\n\n");
    interface(&mut page, wit, all["types"]);
    page.trim_end().to_owned() + "\n"
}

#[test]
fn the_reference_is_what_the_contract_says() {
    let root = syrch_kit::repository();
    let mut wit = Resolve::default();
    wit.push_dir(root.join("wit")).unwrap();
    let path = root.join("docs/contract.md");
    let page = page(&wit);
    if std::env::var_os("UPDATE_CONTRACT").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/contract.md differs from wit/: UPDATE_CONTRACT=1 cargo test -p syrch-host --test e2e \
         -- the_reference"
    );
}
