//! The hostile guests of `tests/zoo`, which the build script rebuilds whenever they or the contract
//! change, and the host's built-in plugins.

use std::path::PathBuf;

/// The path of the plugin with every kind of misbehaviour; its setting `behaviour` chooses one.
#[must_use]
pub fn hostile() -> PathBuf {
    PathBuf::from(env!("ZOO_HOSTILE"))
}

/// The path of the plugin that spins when it is asked for its description.
#[must_use]
pub fn mute() -> PathBuf {
    PathBuf::from(env!("ZOO_MUTE"))
}

/// The path of the plugin whose settings' schema is expensive to compile.
#[must_use]
pub fn schema() -> PathBuf {
    PathBuf::from(env!("ZOO_SCHEMA"))
}

/// The bytes of a component with that many further core instances, each with a memory and two
/// tables, which use capacity of the host's pool.
///
/// # Panics
/// When the bytes are no component.
#[must_use]
pub fn with_ballast(component: Vec<u8>, instances: u32) -> Vec<u8> {
    const MODULE: &str = "(module (memory 1) (table 2 10 funcref) (table 2 10 funcref))";
    with_instances(component, MODULE, instances)
}

/// The bytes of a component with that many further core instances of a module, which is given as
/// text and imports nothing.
///
/// # Panics
/// When the bytes are no component, or the text is no module.
#[must_use]
pub fn with_instances(mut component: Vec<u8>, module: &str, instances: u32) -> Vec<u8> {
    const CORE_MODULE: u8 = 1;
    const CORE_INSTANCE: u8 = 2;
    let module = wat::parse_str(module).expect("the text is a module");
    let mut modules = 0_u32;
    let mut rest = &component[8..];
    while let Some((id, sized)) = rest.split_first() {
        let (size, body) = number(sized);
        modules += u32::from(*id == CORE_MODULE);
        rest = &body[size as usize..];
    }
    let mut section = |id: u8, body: &[u8]| {
        component.push(id);
        component.extend(leb(body.len() as u32));
        component.extend(body);
    };
    section(CORE_MODULE, &module);
    for _ in 0..instances {
        // One instance, made of that module without arguments.
        let body = [&[1, 0][..], &leb(modules), &[0]].concat();
        section(CORE_INSTANCE, &body);
    }
    component
}

/// Reads an unsigned number in LEB128, and returns it with the remaining bytes.
fn number(bytes: &[u8]) -> (u32, &[u8]) {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0).expect("a number ends") + 1;
    let value =
        bytes[..length].iter().rev().fold(0, |value, byte| value << 7 | u32::from(byte & 0x7f));
    (value, &bytes[length..])
}

fn leb(mut value: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// The file of a built-in plugin. The host's build script puts it beside the guests, so that it
/// exists wherever the host does.
#[must_use]
pub fn builtin_path(name: &str) -> PathBuf {
    hostile().with_file_name(format!("{name}.wasm"))
}
