//! `bindings.c`: the functions of ports over the host's, and the exports of roles.

use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::{SizeAlign, TypeDefKind, TypeOwner};

use super::{
    Import, NOTE, Passing, constant, imports, name_of, own_parameter, passing, results, signature,
    type_of, word,
};
use crate::Error;
use crate::contract::{Contract, Function, Interface, Shape, Side, Type};
use crate::text::{Text, snake};

const HEAD: &str = r#"#ifdef __wasm__
#include "bindings.h"

// The host reads and writes values in memory, in the layout that is checked here.
#define SIZE(type, size) _Static_assert(sizeof(type) == size, #type)
#define PLACE(type, field, offset) _Static_assert(offsetof(type, field) == offset, #type "." #field)
"#;

/// The text of the file.
pub(super) fn write(contract: &Contract) -> Result<String, Error> {
    let mut text = Text::new(NOTE);
    text.line(HEAD);
    text.space(1);
    write_layout(contract, &mut text)?;
    for port in contract.on(Side::Port) {
        text.space(1);
        text.line(format!("// The port `{}`.", port.name));
        for import in imports(port) {
            write_import(contract, port, &import, &mut text)?;
        }
        for definition in &port.types {
            if matches!(definition.shape, Shape::Resource(_)) {
                write_drop(contract, port, &definition.name, &mut text);
            }
        }
    }
    for role in contract.on(Side::Role) {
        let guard = (role.name != "about").then(|| role.name.to_uppercase());
        text.space(1);
        if let Some(role) = &guard {
            text.line(format!("#ifdef SYRCH_ROLE_{role}"));
        }
        for (place, function) in role.functions.iter().enumerate() {
            text.space(usize::from(place > 0));
            write_export(contract, role, function, &mut text)?;
        }
        if guard.is_some() {
            text.line("#endif");
        }
    }
    text.space(1);
    text.line("#endif");
    Ok(text.finish())
}

/// The sizes of types and the places of their fields.
fn write_layout(contract: &Contract, text: &mut Text) -> Result<(), Error> {
    let wit = &contract.wit;
    let mut sizes = SizeAlign::default();
    sizes.fill(wit);
    for definition in contract.types() {
        let found = wit.types.iter().find(|(_, one)| {
            let TypeOwner::Interface(owner) = one.owner else { return false };
            let is_use = matches!(one.kind, TypeDefKind::Type(wit_parser::Type::Id(_)));
            one.name.as_deref() == Some(&definition.name)
                && wit.interfaces[owner].name.as_deref() == Some(&definition.interface)
                && !is_use
        });
        let Some((id, raw)) = found else { continue };
        let name = name_of(definition);
        let size = sizes.size(&wit_parser::Type::Id(id)).size_wasm32();
        match &raw.kind {
            TypeDefKind::Record(record) => {
                text.line(format!("SIZE({name}, {size});"));
                let types = record.fields.iter().map(|field| &field.ty);
                for ((offset, _), field) in sizes.field_offsets(types).iter().zip(&record.fields) {
                    let field = snake(&field.name);
                    text.line(format!("PLACE({name}, {field}, {});", offset.size_wasm32()));
                }
            }
            TypeDefKind::Variant(variant) => {
                let cases = variant.cases.iter().map(|case| case.ty.as_ref());
                let offset = sizes.payload_offset(variant.tag(), cases).size_wasm32();
                text.line(format!("SIZE({name}, {size});"));
                text.line(format!("PLACE({name}, val, {offset});"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn core(kind: WasmType) -> &'static str {
    match kind {
        WasmType::I32 => "int32_t",
        WasmType::I64 | WasmType::PointerOrI64 => "int64_t",
        WasmType::F32 => "float",
        WasmType::F64 => "double",
        WasmType::Pointer => "void *",
        WasmType::Length => "size_t",
    }
}

/// A function of a port.
fn write_import(
    contract: &Contract,
    port: &Interface,
    import: &Import<'_>,
    text: &mut Text,
) -> Result<(), Error> {
    let function = import.function;
    let core_signature = contract.wit.wasm_signature(AbiVariant::GuestImport, &function.raw);
    let raw = format!("import_{}", import.name);
    let kinds = core_signature.params.iter().map(|kind| core(*kind)).collect::<Vec<_>>().join(", ");
    let kinds = if kinds.is_empty() { "void".to_owned() } else { kinds };
    let result = core_signature.results.first().map_or("void", |kind| core(*kind));
    write_raw(contract, &port.name, &import.import, &format!("{result} {raw}({kinds})"), text);
    let own = own_parameter(import);
    text.line(format!("{} {{", signature(contract, function, &import.name, own)?));
    let mut arguments: Vec<String> =
        import.resource.iter().map(|_| "self.__handle".to_owned()).collect();
    if core_signature.indirect_params {
        arguments = function.parameters.iter().map(|one| snake(&one.name)).collect();
        if arguments.len() != 1 {
            return Err(Error::Unsupported(format!("the parameters of {}", import.name)));
        }
    } else {
        for parameter in &function.parameters {
            let name = snake(&parameter.name);
            let target = match passing(contract, &parameter.kind)? {
                Passing::Pointer => format!("(*{name})"),
                Passing::Maybe => format!("maybe_{name}"),
                Passing::Value | Passing::Lent => name,
            };
            flatten(contract, &parameter.kind, &target, &mut arguments)?;
        }
    }
    write_call(contract, function, &raw, arguments, core_signature.retptr, text)?;
    text.line("}");
    Ok(())
}

/// Calls the host's function and returns what it returned.
fn write_call(
    contract: &Contract,
    function: &Function,
    raw: &str,
    mut arguments: Vec<String>,
    has_area: bool,
    text: &mut Text,
) -> Result<(), Error> {
    let Some(kind) = &function.result else {
        text.line(format!("  {raw}({});", arguments.join(", ")));
        return Ok(());
    };
    let c_type = type_of(contract, kind)?;
    if !has_area {
        let call = format!("{raw}({})", arguments.join(", "));
        text.line(match kind {
            Type::Handle(..) => format!("  return ({c_type}){{{call}}};"),
            _ => format!("  return ({c_type}){call};"),
        });
        return Ok(());
    }
    match kind {
        Type::Result(ok, _) => {
            arguments.push("&area".to_owned());
            text.line(format!("  {c_type} area;"));
            text.line(format!("  {raw}({});", arguments.join(", ")));
            text.line("  if (area.is_err) *err = area.val.err;");
            if ok.is_some() {
                text.line("  else *ret = area.val.ok;");
            }
            text.line("  return !area.is_err;");
        }
        Type::Option(_) => {
            arguments.push("&area".to_owned());
            text.line(format!("  {c_type} area;"));
            text.line(format!("  {raw}({});", arguments.join(", ")));
            text.line("  if (area.is_some) *ret = area.val;");
            text.line("  return area.is_some;");
        }
        _ => {
            arguments.push("ret".to_owned());
            text.line(format!("  {raw}({});", arguments.join(", ")));
        }
    }
    Ok(())
}

/// Adds the core values that a parameter is passed by.
fn flatten(
    contract: &Contract,
    kind: &Type,
    target: &str,
    flat: &mut Vec<String>,
) -> Result<(), Error> {
    match kind {
        Type::Text | Type::List(_) => {
            flat.push(format!("{target}.ptr"));
            flat.push(format!("{target}.len"));
        }
        Type::Handle(..) => flat.push(format!("{target}.__handle")),
        // The pointer to it is null where there is none.
        Type::Option(inner) if word(contract, inner)? == "string" => {
            flat.push(format!("{target} != NULL"));
            flat.push(format!("{target} != NULL ? {target}->ptr : NULL"));
            flat.push(format!("{target} != NULL ? {target}->len : 0"));
        }
        Type::Named(interface, name) => {
            let definition = contract.find(interface, name)?;
            match &definition.shape {
                Shape::Alias(inner) => flatten(contract, inner, target, flat)?,
                Shape::Enum(_) => flat.push(target.to_owned()),
                Shape::Record(fields) => {
                    for field in fields {
                        let target = format!("{target}.{}", snake(&field.name));
                        flatten(contract, &field.kind, &target, flat)?;
                    }
                }
                Shape::Variant(_) if definition.open_words().is_some() => {
                    let other = constant(definition, "other");
                    flat.push(format!("{target}.tag"));
                    for (part, none) in [("ptr", "NULL"), ("len", "0")] {
                        flat.push(format!(
                            "{target}.tag == {other} ? {target}.val.other.{part} : {none}"
                        ));
                    }
                }
                _ => return Err(Error::Unsupported(format!("{name} as a parameter"))),
            }
        }
        Type::Option(_) | Type::Pair(..) | Type::Result(..) => {
            return Err(Error::Unsupported(format!("{target} as a parameter")));
        }
        _ => flat.push(target.to_owned()),
    }
    Ok(())
}

fn write_raw(contract: &Contract, port: &str, import: &str, declared: &str, text: &mut Text) {
    text.space(1);
    text.line(format!(
        "__attribute__((__import_module__(\"{}\"), __import_name__(\"{import}\")))",
        contract.id(port)
    ));
    text.line(format!("extern {declared};"));
}

fn write_drop(contract: &Contract, port: &Interface, resource: &str, text: &mut Text) {
    let name = snake(resource);
    let raw = format!("import_syrch_{}_{name}_drop", port.name);
    let import = format!("[resource-drop]{resource}");
    write_raw(contract, &port.name, &import, &format!("void {raw}(int32_t)"), text);
    text.line(format!(
        "void syrch_{}_{name}_drop_own(syrch_own_{name}_t handle) {{ {raw}(handle.__handle); }}",
        port.name
    ));
    text.line(format!(
        "syrch_borrow_{name}_t syrch_{}_borrow_{name}(syrch_own_{name}_t handle) {{",
        port.name
    ));
    text.line(format!("  return (syrch_borrow_{name}_t){{handle.__handle}};"));
    text.line("}");
}

/// The export of a role's function.
fn write_export(
    contract: &Contract,
    role: &Interface,
    function: &Function,
    text: &mut Text,
) -> Result<(), Error> {
    let core_signature = contract.wit.wasm_signature(AbiVariant::GuestExport, &function.raw);
    let name = format!("{}_{}", role.name, snake(&function.name));
    let mut parameters = Vec::new();
    let mut arguments = Vec::new();
    let mut before = Vec::new();
    if core_signature.indirect_params {
        text.line("typedef struct {");
        for parameter in &function.parameters {
            let own = snake(&parameter.name);
            text.line(format!("  {} {own};", type_of(contract, &parameter.kind)?));
            arguments.push(match passing(contract, &parameter.kind)? {
                Passing::Value => format!("in->{own}"),
                _ => format!("&in->{own}"),
            });
        }
        text.line(format!("}} {name}_arguments;"));
        parameters.push(format!("{name}_arguments *in"));
    } else {
        for parameter in &function.parameters {
            let own = snake(&parameter.name);
            let kind = type_of(contract, &parameter.kind)?;
            parameters.push(format!("void *{own}_ptr"));
            parameters.push(format!("size_t {own}_len"));
            before.push(format!("  {kind} {own} = {{{own}_ptr, {own}_len}};"));
            arguments.push(format!("&{own}"));
        }
        if core_signature.params.len() != 2 * function.parameters.len() {
            return Err(Error::Unsupported(format!("the parameters of {name}")));
        }
    }
    let Some(kind) = function.result.as_ref().filter(|_| core_signature.retptr) else {
        return Err(Error::Unsupported(format!("the result of {name}")));
    };
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    text.line(format!(
        "__attribute__((__export_name__(\"{}#{}\")))",
        contract.id(&role.name),
        function.name
    ));
    text.line(format!("void *export_{name}({parameters}) {{"));
    text.line(format!("  static {} area;", type_of(contract, kind)?));
    for line in before {
        text.line(line);
    }
    let call = format!("exports_syrch_{name}");
    match kind {
        Type::Result(ok, error) => {
            if let Some(ok) = ok {
                text.line(format!("  {} ret;", type_of(contract, ok)?));
                arguments.push("&ret".to_owned());
            }
            text.line(format!("  {} err;", type_of(contract, error)?));
            arguments.push("&err".to_owned());
            text.line(format!("  area.is_err = !{call}({});", arguments.join(", ")));
            text.line("  if (area.is_err) area.val.err = err;");
            if ok.is_some() {
                text.line("  else area.val.ok = ret;");
            }
        }
        _ => {
            let (_, pointers) = results(contract, function)?;
            if pointers.len() != 1 {
                return Err(Error::Unsupported(format!("the result of {name}")));
            }
            arguments.push("&area".to_owned());
            text.line(format!("  {call}({});", arguments.join(", ")));
        }
    }
    text.line("  return &area;");
    text.line("}");
    Ok(())
}
