//! Properties of a component that are read from its bytes before it is compiled: its contract, and
//! whether its code can be compiled at a bounded cost.

use std::collections::VecDeque;

use wasmparser::{BlockType, CompositeInnerType, FunctionBody, Operator, Parser, Payload};

use crate::LoadError;

/// Core modules and components within a component, at any depth. A component of CPython has 18.
const MAX_PARTS: u64 = 1_000;
/// The most levels of components within components.
const MAX_DEPTH: u64 = 16;
/// Functions in all. CPython has 13,432.
const MAX_FUNCTIONS: u64 = 200_000;
/// Bytes of one function. CPython's largest has 430 KiB.
const MAX_FUNCTION_BYTES: u64 = 2 << 20;
/// Blocks within blocks in one function. Go's have up to 1,441.
const MAX_NESTING: u64 = 8_000;
/// Loops within loops in one function. QuickJS has 21.
const MAX_LOOP_NESTING: u64 = 128;
/// Parameters and results of all blocks of one function. The usual compilers make none.
const MAX_BLOCK_VALUES: u64 = 1 << 16;
/// Local variables of one function times its loops: the compiler may need a value for each of them
/// at each loop. StarlingMonkey has up to 32,818.
const MAX_AT_LOOPS: u64 = 1 << 16;
/// Local variables of one function times its blocks. CPython has up to 67,479.
const MAX_AT_BLOCKS: u64 = 1 << 20;
/// The limit on that product, summed over all functions. CPython has 1.4 million.
const MAX_AT_BLOCKS_IN_ALL: u64 = 1 << 24;

/// The most imports, and exports, of a component.
const MAX_NAMES: u64 = 1_000;
/// The most bytes of such a name.
const MAX_NAME_BYTES: u64 = 1 << 10;

/// The names that a component imports and exports.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Contract {
    pub(crate) imports: Vec<String>,
    pub(crate) exports: Vec<String>,
}

/// Reads the names of imports and exports.
///
/// # Errors
/// When the bytes are not a component.
pub(crate) fn contract(bytes: &[u8]) -> Result<Contract, LoadError> {
    let mut contract = Contract::default();
    let mut depth = 0_u64;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(broken)? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                depth += 1;
                check_limit(depth, MAX_DEPTH, "components within components")?;
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if depth == 0 => {
                for import in imports {
                    push(&mut contract.imports, import.map_err(broken)?.name.name)?;
                }
            }
            Payload::ComponentExportSection(exports) if depth == 0 => {
                for export in exports {
                    push(&mut contract.exports, export.map_err(broken)?.name.name)?;
                }
            }
            _ => {}
        }
    }
    Ok(contract)
}

/// Adds a name, unless there are too many or it is too long.
fn push(names: &mut Vec<String>, name: &str) -> Result<(), LoadError> {
    check_limit(names.len() as u64 + 1, MAX_NAMES, "imports or exports")?;
    check_limit(name.len() as u64, MAX_NAME_BYTES, "bytes in the name of an import or export")?;
    names.push(name.to_owned());
    Ok(())
}

/// Refuses code whose compilation could cost far more than its size suggests.
///
/// # Errors
/// [`LoadError::TooComplex`] with the bound that is exceeded.
pub(crate) fn check(bytes: &[u8]) -> Result<(), LoadError> {
    let mut parts = 0;
    let mut depth = 0_u64;
    let mut functions = 0;
    let mut at_blocks = 0;
    // Of the present module: its function types, as numbers of parameters and results, and the
    // types of its functions that have a body.
    let mut types = Vec::new();
    let mut bodies = VecDeque::new();
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(broken)? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                (parts, depth) = (parts + 1, depth + 1);
                check_limit(parts, MAX_PARTS, "modules and components in it")?;
                check_limit(depth, MAX_DEPTH, "components within components")?;
                types.clear();
                bodies.clear();
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::TypeSection(groups) => {
                for group in groups {
                    types.extend(group.map_err(broken)?.into_types().map(|ty| {
                        match ty.composite_type.inner {
                            CompositeInnerType::Func(func) => {
                                (func.params().len() as u64, func.results().len() as u64)
                            }
                            _ => (0, 0),
                        }
                    }));
                }
            }
            Payload::FunctionSection(indices) => {
                for index in indices {
                    bodies.push_back(index.map_err(broken)?);
                    check_limit(bodies.len() as u64, MAX_FUNCTIONS, "functions")?;
                }
            }
            Payload::CodeSectionEntry(body) => {
                functions += 1;
                let ty = bodies.pop_front().and_then(|index| types.get(index as usize));
                at_blocks +=
                    locals_at_blocks(&body, ty.map_or(0, |(parameters, _)| *parameters), &types)?;
                check_limit(functions, MAX_FUNCTIONS, "functions")?;
                check_limit(
                    at_blocks,
                    MAX_AT_BLOCKS_IN_ALL,
                    "as the product of local variables and blocks, over all functions",
                )?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks one function, and returns its number of local variables, its parameters among them, times
/// its number of blocks.
fn locals_at_blocks(
    body: &FunctionBody<'_>,
    parameters: u64,
    types: &[(u64, u64)],
) -> Result<u64, LoadError> {
    check_limit(body.range().len() as u64, MAX_FUNCTION_BYTES, "bytes in one function")?;
    let mut locals = parameters;
    for local in body.get_locals_reader().map_err(broken)? {
        locals += u64::from(local.map_err(broken)?.0);
    }
    let mut blocks = 0_u64;
    let mut loops = 0_u64;
    let mut values = 0_u64;
    // Whether each open block is a loop.
    let mut open = Vec::new();
    let mut open_loops = 0_u64;
    for operator in body.get_operators_reader().map_err(broken)? {
        let (is_loop, ty) = match operator.map_err(broken)? {
            Operator::Loop { blockty } => (true, blockty),
            Operator::Block { blockty } | Operator::If { blockty } => (false, blockty),
            Operator::TryTable { try_table } => (false, try_table.ty),
            Operator::End => {
                open_loops -= u64::from(open.pop().unwrap_or(false));
                continue;
            }
            _ => continue,
        };
        open.push(is_loop);
        (blocks, loops) = (blocks + 1, loops + u64::from(is_loop));
        open_loops += u64::from(is_loop);
        if let BlockType::FuncType(index) = ty {
            values +=
                types.get(index as usize).map_or(0, |(parameters, results)| parameters + results);
        }
        check_limit(open.len() as u64, MAX_NESTING, "blocks within blocks in one function")?;
        check_limit(open_loops, MAX_LOOP_NESTING, "loops within loops in one function")?;
        check_limit(
            values,
            MAX_BLOCK_VALUES,
            "parameters and results of the blocks of one function",
        )?;
        check_limit(
            loops * locals,
            MAX_AT_LOOPS,
            "as the product of local variables and loops of one function",
        )?;
        check_limit(
            blocks * locals,
            MAX_AT_BLOCKS,
            "as the product of local variables and blocks of one function",
        )?;
    }
    Ok(blocks * locals)
}

fn check_limit(found: u64, limit: u64, what: &'static str) -> Result<(), LoadError> {
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
    fn names_are_bounded_before_they_are_read_all() {
        fn export(name: &str) -> String {
            format!(r#"(export "{name}" (instance $i))"#)
        }
        let many: String = (0..=MAX_NAMES).map(|number| export(&format!("n{number}"))).collect();
        let long = export(&"n".repeat(1_025));
        for (exports, what) in [(many, "imports or exports"), (long, "bytes in the name")] {
            let error =
                contract(&wat::parse_str(format!("(component (instance $i) {exports})")).unwrap())
                    .unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
        }
    }

    #[test]
    fn code_that_is_expensive_to_compile_is_refused() {
        fn nest(count: usize, head: &str) -> String {
            format!("{}{}", format!("({head} ").repeat(count), ")".repeat(count))
        }
        let many = "i32 ".repeat(500);
        let values = format!("(type (func (param {many}) (result {many})))");
        let blocks = format!("(func {} {})", "block (type 0) ".repeat(70), "end ".repeat(70));
        for (bytes, what) in [
            (function(0, &nest(8_001, "block")), "blocks within blocks"),
            (function(0, &nest(129, "loop")), "loops within loops"),
            (function(660, &"(loop)".repeat(100)), "local variables and loops"),
            (
                wat::parse_str(format!(
                    "(component (core module (func (param {many}) {})))",
                    "(loop)".repeat(140)
                ))
                .unwrap(),
                "local variables and loops",
            ),
            (function(2_000, &"(block)".repeat(600)), "local variables and blocks of one"),
            (
                wat::parse_str(format!("(component (core module {values} {blocks}))")).unwrap(),
                "parameters and results",
            ),
            (
                function(0, &"(drop (i64.const -9223372036854775808))".repeat(180_000)),
                "bytes in one function",
            ),
            (
                wat::parse_str(format!("(component {})", nest(17, "component"))).unwrap(),
                "within components",
            ),
            (
                wat::parse_str(format!("(component {})", "(core module)".repeat(1_001))).unwrap(),
                "modules",
            ),
            (
                wat::parse_str(format!("(component (core module {}))", "(func)".repeat(200_001)))
                    .unwrap(),
                "functions",
            ),
        ] {
            let error = check(&bytes).unwrap_err();
            assert!(
                matches!(&error, LoadError::TooComplex { .. }) && error.to_string().contains(what),
                "{error}"
            );
        }
        check(&function(200, &nest(100, "loop"))).unwrap();
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
