//! Tests of the schemas that are refused, and of the cost of those that are let through.

use serde_json::json;

use super::*;

fn compile(schema: &Value) -> Result<Schema, SchemaError> {
    Schema::compile(&schema.to_string(), Patterns::Bounded, &Limits::default())
}

#[test]
fn ordinary_schemas_compile_and_judge() {
    let schema = compile(&json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object", "required": ["a"],
        "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"type": "string", "pattern": "^x+$"}}
    }))
    .unwrap();
    assert!(schema.accepts(&json!({"a": "xx"})));
    assert!(!schema.accepts(&json!({"a": "y"})) && !schema.accepts(&json!({})));
}

#[test]
fn schemas_that_could_run_away_are_refused() {
    let doubling: serde_json::Map<String, Value> = (0..40)
        .map(|i| {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
            (format!("d{i}"), json!({"allOf": [next.clone(), next]}))
        })
        .chain([("d40".to_owned(), json!(true))])
        .collect();
    let chain: serde_json::Map<String, Value> = (0..1_000)
        .map(|i| (format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)})))
        .chain([("d1000".to_owned(), json!(true))])
        .collect();
    for schema in [
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
        json!({"$ref": "#"}),
        json!({"$ref": "https://example.org/x.json"}),
        json!({"$dynamicRef": "#x"}),
        json!({"properties": {"a": {"$id": "https://example.org/", "type": "string"}}}),
        json!({"$ref": "#/$defs/d0", "$defs": doubling}),
        json!({"$ref": "#/$defs/d0", "$defs": chain}),
        json!({"pattern": "(x{1000}){1000}"}),
        json!({"type": "nothing"}),
        json!([]),
    ] {
        assert!(matches!(compile(&schema), Err(SchemaError(_))), "{}", schema.to_string());
    }
}

#[test]
fn a_schema_is_compiled_once_and_only_for_those_it_was_checked_for() {
    let text = json!({"title": "compiled once", "type": "string", "pattern": "^compiled once$"})
        .to_string();
    let limits = Limits::default();
    let first = Schema::get_or_compile(&text, Patterns::Bounded, &limits).unwrap();
    assert!(Arc::ptr_eq(
        &first,
        &Schema::get_or_compile(&text, Patterns::Bounded, &limits).unwrap()
    ));
    assert!(Schema::get_or_compile(&text, Patterns::Refused, &limits).is_err());
    let flat = Limits { json_depth: 0, ..Limits::default() };
    assert!(Schema::get_or_compile(&text, Patterns::Bounded, &flat).is_err());
    assert!(
        Schema::get_or_compile(
            &text,
            Patterns::Bounded,
            &Limits { json_bytes: 5, ..Limits::default() }
        )
        .is_err()
    );
}

/// The attack that was measured: 2,000 expressions of a few bytes that compile to a megabyte each.
#[test]
fn regular_expressions_are_bounded_in_number_and_size() {
    let many: Vec<Value> =
        (0..2_000).map(|number| json!({"pattern": format!(r"\p{{L}}{{16}}{number}")})).collect();
    let of = |count: usize| {
        compile(&json!({"anyOf": many[..count].to_vec()})).map(drop).map_err(|error| error.0)
    };
    assert!(of(2_000).unwrap_err().contains("2000 regular expressions, over the limit of 16"));
    assert!(of(1).is_err(), "an expression over the limit of size was compiled");
    let keys: serde_json::Map<String, Value> =
        (0..20).map(|number| (format!("^k{number}x*"), json!(true))).collect();
    assert!(compile(&json!({"patternProperties": keys})).is_err());
    let usual: Vec<Value> =
        [r"^[A-Z]{2}\d{4}$", r"^\d{4}-\d{2}-\d{2}$", r"^[\w.+-]+@[\w-]+\.[\w.]+$", r"^\p{L}+$"]
            .map(|pattern| json!({"pattern": pattern}))
            .into();
    assert!(compile(&json!({"anyOf": usual})).is_ok());
}

#[test]
fn settings_hold_no_regular_expressions() {
    for schema in [
        json!({"properties": {"name": {"type": "string", "pattern": "^a"}}}),
        json!({"patternProperties": {"^a": true}}),
        json!({"$defs": {"a": {"allOf": [{"pattern": "a"}]}}}),
    ] {
        let refused =
            Schema::get_or_compile(&schema.to_string(), Patterns::Refused, &Limits::default());
        assert!(refused.unwrap_err().to_string().contains("not allowed"), "{schema}");
    }
    let plain = json!({"properties": {"pattern": {"type": "string"}}}).to_string();
    assert!(Schema::get_or_compile(&plain, Patterns::Refused, &Limits::default()).is_ok());
}

#[test]
fn a_document_that_would_take_too_long_does_not_match() {
    let patterns: Vec<Value> =
        (0..16).map(|number| json!({"pattern": format!("(a|b)*c{number}$")})).collect();
    let schema = compile(&json!({"not": {"anyOf": patterns}})).unwrap();
    assert!(schema.accepts(&json!("a".repeat(1_000))));
    assert!(!schema.accepts(&json!("a".repeat(100_000))));
    assert!(!schema.errors(&json!("a".repeat(100_000)), 3).is_empty());
}

/// Validating `{}` against 24 levels took 10 s, and a dozen of such schemas a gigabyte.
#[test]
fn what_validates_its_neighbours_again_is_refused() {
    for key in ["unevaluatedProperties", "unevaluatedItems"] {
        let nested = (0..24).fold(json!({}), |below, _| json!({"if": below, key: false}));
        assert!(compile(&nested).unwrap_err().0.contains("is not allowed; use"), "{key}");
    }
}
