//! The contract as the modules of the languages read it: interfaces with their types and functions,
//! each after those that it uses.

use std::path::Path;

use wit_parser::{
    Docs, FunctionKind, Handle, InterfaceId, Resolve, TypeDefKind, TypeId, TypeOwner, WorldItem,
    WorldKey,
};

use crate::Error;

/// The interfaces and worlds of the package.
pub(crate) struct Contract {
    /// The values that all share first, then the ports, then the roles.
    pub(crate) interfaces: Vec<Interface>,
    pub(crate) worlds: Vec<World>,
    /// The package with its version, as in `syrch:plugin/{}@0.1.0`.
    package: String,
    version: String,
    /// The parsed contract, of which the layout of values is computed.
    pub(crate) wit: Resolve,
}

/// A world, which lists what a role may reach.
pub(crate) struct World {
    pub(crate) imports: Vec<String>,
    /// The role that it exports.
    pub(crate) role: String,
}

/// The side that has the functions of an interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// Its functions are none.
    Shared,
    /// The host has its functions.
    Port,
    /// The plugin has them.
    Role,
}

pub(crate) struct Interface {
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) side: Side,
    pub(crate) types: Vec<Definition>,
    pub(crate) functions: Vec<Function>,
}

/// A type with a name.
pub(crate) struct Definition {
    pub(crate) interface: String,
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) shape: Shape,
}

pub(crate) enum Shape {
    Record(Vec<Field>),
    Variant(Vec<Case>),
    Enum(Vec<Case>),
    Alias(Type),
    /// A thing that lives in the host, with its methods.
    Resource(Vec<Function>),
}

pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) kind: Type,
}

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) payload: Option<Type>,
}

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) docs: String,
    /// Those of a method are without the resource itself.
    pub(crate) parameters: Vec<Field>,
    pub(crate) result: Option<Type>,
    /// The parsed function, of which the layout of arguments is computed.
    pub(crate) raw: wit_parser::Function,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Type {
    Bool,
    U8,
    U32,
    U64,
    S64,
    F32,
    F64,
    Text,
    List(Box<Type>),
    Option(Box<Type>),
    Pair(Box<Type>, Box<Type>),
    Result(Option<Box<Type>>, Box<Type>),
    /// A type of an interface.
    Named(String, String),
    /// A handle of a resource, which moves or is lent.
    Handle(String, String),
}

impl Type {
    /// Returns true for the type of that name among the values that all share.
    pub(crate) fn is_shared(&self, name: &str) -> bool {
        matches!(self, Type::Named(interface, own) if interface == "types" && own == name)
    }

    /// The type inside of an option, or else the type itself.
    pub(crate) fn without_option(&self) -> &Type {
        match self {
            Type::Option(inner) => inner,
            other => other,
        }
    }
}

impl Definition {
    /// The fields of a record; none of any other type.
    pub(crate) fn fields(&self) -> &[Field] {
        match &self.shape {
            Shape::Record(fields) => fields,
            _ => &[],
        }
    }

    /// The cases of a variant whose only case with a payload is `other`, for a word of a later
    /// version.
    pub(crate) fn open_words(&self) -> Option<&[Case]> {
        let Shape::Variant(cases) = &self.shape else { return None };
        let (last, words) = cases.split_last()?;
        let is_open = last.name == "other" && last.payload == Some(Type::Text);
        (is_open && words.iter().all(|case| case.payload.is_none())).then_some(words)
    }
}

impl Contract {
    /// Reads the folder with the contract.
    pub(crate) fn read(folder: &Path) -> Result<Self, Error> {
        let mut wit = Resolve::new();
        let (package, _) = wit.push_dir(folder).map_err(Error::Contract)?;
        let package = &wit.packages[package];
        let mut worlds = Vec::new();
        for id in package.worlds.values() {
            worlds.push(read_world(&wit, *id)?);
        }
        let mut interfaces = Vec::new();
        for id in package.interfaces.values() {
            interfaces.push(read_interface(&wit, *id, &worlds)?);
        }
        interfaces.sort_by_key(|interface| (interface.side, place(interface, &worlds)));
        let version = package.name.version.as_ref().map(ToString::to_string).unwrap_or_default();
        let package = format!("{}:{}", package.name.namespace, package.name.name);
        Ok(Self { interfaces, worlds, package, version, wit })
    }

    /// All types, each after those that it is made of.
    pub(crate) fn types(&self) -> impl Iterator<Item = &Definition> {
        self.interfaces.iter().flat_map(|interface| &interface.types)
    }

    /// The interfaces on that side.
    pub(crate) fn on(&self, side: Side) -> impl Iterator<Item = &Interface> {
        self.interfaces.iter().filter(move |interface| interface.side == side)
    }

    /// The type of that name.
    pub(crate) fn find(&self, interface: &str, name: &str) -> Result<&Definition, Error> {
        self.types()
            .find(|one| one.interface == interface && one.name == name)
            .ok_or_else(|| Error::NoType(format!("{interface}.{name}")))
    }

    /// The name by which components import and export an interface.
    pub(crate) fn id(&self, interface: &str) -> String {
        format!("{}/{interface}@{}", self.package, self.version)
    }
}

/// The place of an interface among those of its side: that in the world with the most imports, or
/// that of the first world with the role.
fn place(interface: &Interface, worlds: &[World]) -> usize {
    let most = worlds.iter().max_by_key(|world| world.imports.len());
    let imported = most.and_then(|world| world.imports.iter().position(|x| *x == interface.name));
    let exported = worlds.iter().position(|world| world.role == interface.name);
    imported.or(exported).unwrap_or_default()
}

fn read_world(wit: &Resolve, id: wit_parser::WorldId) -> Result<World, Error> {
    let world = &wit.worlds[id];
    let mut imports = Vec::new();
    for key in world.imports.keys() {
        let name = key_name(wit, key)?;
        // An interface without functions is no port.
        if name != "types" {
            imports.push(name);
        }
    }
    let mut roles = Vec::new();
    for (key, item) in &world.exports {
        let name = key_name(wit, key)?;
        if matches!(item, WorldItem::Interface { .. }) && name != "about" {
            roles.push(name);
        }
    }
    let role = roles.pop().ok_or_else(|| Error::Unsupported(format!("world {}", world.name)))?;
    Ok(World { imports, role })
}

fn key_name(wit: &Resolve, key: &WorldKey) -> Result<String, Error> {
    match key {
        WorldKey::Name(name) => Ok(name.clone()),
        WorldKey::Interface(id) => interface_name(wit, *id),
    }
}

fn interface_name(wit: &Resolve, id: InterfaceId) -> Result<String, Error> {
    let name = wit.interfaces[id].name.clone();
    name.ok_or_else(|| Error::Unsupported("an interface without a name".to_owned()))
}

fn read_interface(wit: &Resolve, id: InterfaceId, worlds: &[World]) -> Result<Interface, Error> {
    let interface = &wit.interfaces[id];
    let name = interface_name(wit, id)?;
    let mut types = Vec::new();
    for (type_name, of) in &interface.types {
        let definition = &wit.types[*of];
        // Types of another interface are defined there.
        if origin(wit, *of) != *of {
            continue;
        }
        types.push(Definition {
            interface: name.clone(),
            name: type_name.clone(),
            docs: prose(&definition.docs),
            shape: read_shape(wit, interface, *of)?,
        });
    }
    let mut functions = Vec::new();
    for function in interface.functions.values() {
        if matches!(function.kind, FunctionKind::Freestanding) {
            functions.push(read_function(wit, function)?);
        }
    }
    let is_port = worlds.iter().any(|world| world.imports.contains(&name));
    let side = match () {
        () if functions.is_empty() => Side::Shared,
        () if is_port => Side::Port,
        () => Side::Role,
    };
    Ok(Interface { name, docs: prose(&interface.docs), side, types, functions })
}

/// The type that a `use` stands for.
fn origin(wit: &Resolve, id: TypeId) -> TypeId {
    match &wit.types[id].kind {
        TypeDefKind::Type(wit_parser::Type::Id(inner))
            if wit.types[*inner].owner != wit.types[id].owner =>
        {
            origin(wit, *inner)
        }
        _ => id,
    }
}

fn read_shape(
    wit: &Resolve,
    interface: &wit_parser::Interface,
    id: TypeId,
) -> Result<Shape, Error> {
    Ok(match &wit.types[id].kind {
        TypeDefKind::Record(record) => {
            let mut fields = Vec::new();
            for field in &record.fields {
                let kind = read_type(wit, &field.ty)?;
                fields.push(Field { name: field.name.clone(), docs: prose(&field.docs), kind });
            }
            Shape::Record(fields)
        }
        TypeDefKind::Variant(variant) => {
            let mut cases = Vec::new();
            for one in &variant.cases {
                let payload = one.ty.as_ref().map(|kind| read_type(wit, kind)).transpose()?;
                cases.push(read_case(&one.name, &one.docs, payload));
            }
            Shape::Variant(cases)
        }
        TypeDefKind::Enum(words) => {
            let cases = words.cases.iter().map(|one| read_case(&one.name, &one.docs, None));
            Shape::Enum(cases.collect())
        }
        TypeDefKind::Resource => {
            let mut methods = Vec::new();
            for function in interface.functions.values() {
                if function.kind == FunctionKind::Method(id) {
                    methods.push(read_function(wit, function)?);
                }
            }
            Shape::Resource(methods)
        }
        TypeDefKind::Type(inner) => Shape::Alias(read_type(wit, inner)?),
        TypeDefKind::List(inner) => Shape::Alias(Type::List(Box::new(read_type(wit, inner)?))),
        other => return Err(Error::Unsupported(other.as_str().to_owned())),
    })
}

fn read_case(name: &str, docs: &Docs, payload: Option<Type>) -> Case {
    Case { name: name.to_owned(), docs: prose(docs), payload }
}

fn read_function(wit: &Resolve, function: &wit_parser::Function) -> Result<Function, Error> {
    // The first parameter of a method is the resource itself.
    let is_method = matches!(function.kind, FunctionKind::Method(_));
    let mut parameters = Vec::new();
    for parameter in function.params.iter().skip(usize::from(is_method)) {
        let kind = read_type(wit, &parameter.ty)?;
        parameters.push(Field { name: parameter.name.clone(), docs: String::new(), kind });
    }
    Ok(Function {
        name: function.item_name().to_owned(),
        docs: prose(&function.docs),
        parameters,
        result: function.result.as_ref().map(|kind| read_type(wit, kind)).transpose()?,
        raw: function.clone(),
    })
}

fn read_type(wit: &Resolve, kind: &wit_parser::Type) -> Result<Type, Error> {
    use wit_parser::Type as Raw;
    Ok(match kind {
        Raw::Bool => Type::Bool,
        Raw::U8 => Type::U8,
        Raw::U32 => Type::U32,
        Raw::U64 => Type::U64,
        Raw::S64 => Type::S64,
        Raw::F32 => Type::F32,
        Raw::F64 => Type::F64,
        Raw::String => Type::Text,
        Raw::Id(id) => read_composed(wit, origin(wit, *id))?,
        other => return Err(Error::Unsupported(format!("{other:?}"))),
    })
}

fn read_composed(wit: &Resolve, id: TypeId) -> Result<Type, Error> {
    let definition = &wit.types[id];
    if let (Some(name), TypeOwner::Interface(owner)) = (&definition.name, definition.owner) {
        return Ok(Type::Named(interface_name(wit, owner)?, name.clone()));
    }
    Ok(match &definition.kind {
        TypeDefKind::List(inner) => Type::List(Box::new(read_type(wit, inner)?)),
        TypeDefKind::Option(inner) => Type::Option(Box::new(read_type(wit, inner)?)),
        TypeDefKind::Tuple(tuple) => match tuple.types.as_slice() {
            [first, second] => {
                Type::Pair(Box::new(read_type(wit, first)?), Box::new(read_type(wit, second)?))
            }
            _ => return Err(Error::Unsupported("a tuple that is no pair".to_owned())),
        },
        TypeDefKind::Result(result) => {
            let ok = result.ok.as_ref().map(|kind| read_type(wit, kind)).transpose()?;
            let Some(error) = &result.err else {
                return Err(Error::Unsupported("a result without an error".to_owned()));
            };
            Type::Result(ok.map(Box::new), Box::new(read_type(wit, error)?))
        }
        TypeDefKind::Handle(Handle::Own(inner) | Handle::Borrow(inner)) => {
            match read_composed(wit, origin(wit, *inner))? {
                Type::Named(interface, name) => Type::Handle(interface, name),
                other => other,
            }
        }
        other => return Err(Error::Unsupported(other.as_str().to_owned())),
    })
}

/// The comment of an item as one line for each paragraph.
fn prose(docs: &Docs) -> String {
    let text = docs.contents.as_deref().unwrap_or_default();
    let paragraphs = text.split("\n\n").map(|one| one.split_whitespace().collect::<Vec<_>>());
    paragraphs.map(|words| words.join(" ")).collect::<Vec<_>>().join("\n\n")
}
