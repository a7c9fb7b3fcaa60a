//! What a component's bytes say before anything is compiled: its contract, and whether its code can be compiled at a bearable cost.

use wasmparser::{Operator, Parser, Payload};

use crate::LoadError;

/// Core modules and components within a component, at any depth. Python's have 18.
const MAX_PARTS: u64 = 1_000;
/// Components within components.
const MAX_DEPTH: u64 = 16;
/// Bytes of one function. The largest that the usual compilers make, of CPython's interpreter, has 430 KiB.
const MAX_FUNCTION_BYTES: u64 = 2 << 20;
/// Blocks within blocks in one function. Go's have up to 1,441.
const MAX_NESTING: u64 = 8_000;
/// Local variables of one function times its loops: the compiler may need a value for each of them at each loop. CPython's have up to 8,401.
const MAX_LOCALS_AT_LOOPS: u64 = 1 << 16;
/// The same product, summed over all functions. Python's have 144,371.
const MAX_ALL_LOCALS_AT_LOOPS: u64 = 1 << 22;

/// The names that a component imports and exports.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Contract {
    pub(crate) imports: Vec<String>,
    pub(crate) exports: Vec<String>,
}

/// Reads the contract.
///
/// # Errors
/// When the bytes are no component.
pub(crate) fn contract(bytes: &[u8]) -> Result<Contract, LoadError> {
    let (mut contract, mut depth) = (Contract::default(), 0_usize);
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(broken)? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if depth == 0 => {
                for import in imports {
                    contract.imports.push(import.map_err(broken)?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(exports) if depth == 0 => {
                for export in exports {
                    contract.exports.push(export.map_err(broken)?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(contract)
}

/// Refuses code whose compilation could cost far more than its size.
///
/// # Errors
/// [`LoadError::TooComplex`] with what is over which bound.
pub(crate) fn check(bytes: &[u8]) -> Result<(), LoadError> {
    let (mut parts, mut depth, mut products) = (0, 0_u64, 0);
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(broken)? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                (parts, depth) = (parts + 1, depth + 1);
                bound(parts, MAX_PARTS, "modules and components in it")?;
                bound(depth, MAX_DEPTH, "components within components")?;
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::CodeSectionEntry(body) => {
                products += locals_at_loops(&body)?;
                bound(
                    products,
                    MAX_ALL_LOCALS_AT_LOOPS,
                    "as the product of local variables and loops, over all functions",
                )?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks one function, and returns its number of local variables times its number of loops.
fn locals_at_loops(body: &wasmparser::FunctionBody<'_>) -> Result<u64, LoadError> {
    bound(body.range().len() as u64, MAX_FUNCTION_BYTES, "bytes in one function")?;
    let mut locals = 0_u64;
    for local in body.get_locals_reader().map_err(broken)? {
        locals += u64::from(local.map_err(broken)?.0);
    }
    let (mut loops, mut nesting) = (0_u64, 0_u64);
    for operator in body.get_operators_reader().map_err(broken)? {
        match operator.map_err(broken)? {
            Operator::Loop { .. } => (loops, nesting) = (loops + 1, nesting + 1),
            Operator::Block { .. } | Operator::If { .. } | Operator::TryTable { .. } => nesting += 1,
            Operator::End => nesting = nesting.saturating_sub(1),
            _ => continue,
        }
        bound(nesting, MAX_NESTING, "blocks within blocks in one function")?;
        bound(loops * locals, MAX_LOCALS_AT_LOOPS, "as the product of local variables and loops of one function")?;
    }
    Ok(loops * locals)
}

fn bound(found: u64, limit: u64, what: &'static str) -> Result<(), LoadError> {
    if found > limit { Err(LoadError::TooComplex { found, limit, what }) } else { Ok(()) }
}

fn broken(error: wasmparser::BinaryReaderError) -> LoadError {
    LoadError::Broken(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(locals: usize, code: &str) -> Vec<u8> {
        let locals = "(local i32)".repeat(locals);
        wat::parse_str(format!("(component (core module (func {locals} {code})))")).unwrap()
    }

    #[test]
    fn a_contract_is_read_without_what_is_nested() {
        let text = r#"(component
            (import "syrch:plugin/llm@0.1.0" (instance))
            (component (import "inner" (func)) (component (import "deeper" (func))))
            (core module (import "env" "f" (func)))
            (instance $i) (export "syrch:plugin/planner@0.1.0" (instance $i)))"#;
        let contract = contract(&wat::parse_str(text).unwrap()).unwrap();
        assert_eq!(contract.imports, ["syrch:plugin/llm@0.1.0"]);
        assert_eq!(contract.exports, ["syrch:plugin/planner@0.1.0"]);
        assert!(matches!(super::contract(b"\0asm\x0d\0\x01\0\xff"), Err(LoadError::Broken(_))));
    }

    #[test]
    fn code_that_is_dear_to_compile_is_refused() {
        let nested = |count: usize, head: &str| format!("{}{}", format!("({head} ").repeat(count), ")".repeat(count));
        for (bytes, what) in [
            (function(0, &nested(8_001, "block")), "blocks within blocks"),
            (function(300, &nested(300, "loop")), "local variables and loops"),
            (function(0, &"(drop (i32.const 1))".repeat(700_000)), "bytes in one function"),
            (wat::parse_str(format!("(component {})", nested(17, "component"))).unwrap(), "within components"),
            (wat::parse_str(format!("(component {})", "(core module)".repeat(1_001))).unwrap(), "modules"),
        ] {
            let error = check(&bytes).unwrap_err();
            assert!(matches!(&error, LoadError::TooComplex { .. }) && error.to_string().contains(what), "{error}");
        }
        check(&function(100, &nested(600, "loop"))).unwrap();
    }

    #[test]
    fn every_cut_of_a_component_is_read_or_refused() {
        let whole = function(3, "(loop (block (br 0)))");
        for end in 0..whole.len() {
            let _ = contract(&whole[..end]);
            let _ = check(&whole[..end]);
        }
        check(&whole).unwrap();
    }
}
