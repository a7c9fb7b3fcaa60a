//! The part of the SDKs that the contract does not state, the same in every language: which fields
//! an author must give, and the values of those that are left out.

use crate::Error;
use crate::contract::{Contract, Definition, Field, Shape, Type};

/// The records of which fields must be given. All other fields have defaults: no value, an empty
/// list or text, zero, false, the first case.
const REQUIRED: [(&str, &[&str]); 29] = [
    ("types.column", &["name"]),
    ("types.foreign-key", &["columns", "ref-table"]),
    ("types.index", &["name"]),
    ("types.table", &["name"]),
    ("types.hit", &["corpus", "id"]),
    ("types.term-label", &["value"]),
    ("types.term", &["name"]),
    ("types.problem", &["question"]),
    ("types.column-profile", &["column"]),
    ("types.candidate", &["id", "sql"]),
    ("types.retrieval-query", &["text"]),
    ("types.task", &["id", "text"]),
    ("types.graph", &["tasks", "answer"]),
    ("types.question", &["text"]),
    ("types.failure", &["kind", "message"]),
    ("types.observation", &["task"]),
    ("types.opinion", &["score"]),
    ("linker.relevant", &["table"]),
    ("solver.relation", &["name"]),
    ("aggregator.finished", &["name"]),
    ("aggregator.answer", &["text", "task"]),
    ("rewriter.attempt", &["sql", "family"]),
    ("rewriter.proposal", &["sql", "family"]),
    ("llm.message", &["speaker", "text"]),
    ("llm.request", &["purpose"]),
    ("llm.reply", &["text"]),
    ("inspect.column-stats", &["column"]),
    ("inspect.compiled", &["sql"]),
    ("cells.sample", &["column"]),
];

/// Records whose order of fields is another one where a value is made of fields in order: these
/// stand first.
const FIRST: [(&str, &[&str]); 3] = [
    ("types.table", &["name", "columns"]),
    ("types.candidate", &["id", "sql", "origin"]),
    ("types.task", &["id", "text", "depends-on"]),
];

/// Defaults that are not the first or least value.
const DEFAULTS: [(&str, &str); 13] = [
    ("types.syntax.title", "SQL"),
    ("types.retrieval-query.limit", "10"),
    ("types.question.ambiguity", "0.5"),
    ("linker.relevant.score", "1.0"),
    ("inspect.plan.format", "text"),
    ("run.policy.high-confidence", "0.85"),
    ("run.policy.max-attempts", "3"),
    ("run.policy.max-depth", "3"),
    ("run.policy.max-parallel", "5"),
    ("run.policy.max-rounds", "8"),
    ("run.budget.tokens", "100000"),
    ("run.budget.llm-calls", "200"),
    ("run.budget.sql-runs", "500"),
];

/// The value of a field that an author leaves out.
pub(crate) enum Default<'a> {
    /// There is none: the field must be given.
    Required,
    Nothing,
    EmptyList,
    False,
    /// The digits of a number.
    Number(&'a str),
    Text(&'a str),
    /// The first case of a variant or an enum.
    First(&'a Definition),
    /// The record with the defaults of its fields.
    Record(&'a Definition),
}

/// The default of a field of that record.
pub(crate) fn default_of<'a>(
    contract: &'a Contract,
    record: &Definition,
    field: &'a Field,
) -> Result<Default<'a>, Error> {
    let path = format!("{}.{}", record.interface, record.name);
    let required = REQUIRED.iter().find(|(name, _)| *name == path);
    if required.is_some_and(|(_, fields)| fields.contains(&field.name.as_str())) {
        return Ok(Default::Required);
    }
    let path = format!("{path}.{}", field.name);
    let own = DEFAULTS.iter().find(|(name, _)| *name == path).map(|(_, value)| *value);
    default_of_type(contract, &field.kind, own)
}

fn default_of_type<'a>(
    contract: &'a Contract,
    kind: &'a Type,
    own: Option<&'static str>,
) -> Result<Default<'a>, Error> {
    Ok(match kind {
        Type::Option(_) => Default::Nothing,
        Type::List(_) => Default::EmptyList,
        Type::Bool => Default::False,
        Type::U8 | Type::U32 | Type::U64 | Type::S64 => Default::Number(own.unwrap_or("0")),
        Type::F32 | Type::F64 => Default::Number(own.unwrap_or("0.0")),
        Type::Text => Default::Text(own.unwrap_or_default()),
        Type::Named(interface, name) => {
            let definition = contract.find(interface, name)?;
            match &definition.shape {
                Shape::Alias(inner) => return default_of_type(contract, inner, own),
                Shape::Variant(cases) | Shape::Enum(cases) => match cases.first() {
                    Some(first) if first.payload.is_none() => Default::First(definition),
                    _ => Default::Required,
                },
                Shape::Record(fields) => {
                    for field in fields {
                        if matches!(default_of(contract, definition, field)?, Default::Required) {
                            return Ok(Default::Required);
                        }
                    }
                    Default::Record(definition)
                }
                Shape::Resource(_) => Default::Required,
            }
        }
        Type::Handle(..) | Type::Pair(..) | Type::Result(..) => Default::Required,
    })
}

/// The fields of a record in the order in which they are given: those without a default first.
pub(crate) fn in_order<'a>(
    contract: &Contract,
    record: &'a Definition,
) -> Result<Vec<&'a Field>, Error> {
    let path = format!("{}.{}", record.interface, record.name);
    let first = FIRST.iter().find(|(name, _)| *name == path).map_or(&[][..], |(_, first)| first);
    let mut ranked = Vec::new();
    for field in record.fields() {
        let place = first.iter().position(|name| *name == field.name);
        let is_required = matches!(default_of(contract, record, field)?, Default::Required);
        ranked.push(((place.unwrap_or(first.len()), !is_required), field));
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    Ok(ranked.into_iter().map(|(_, field)| field).collect())
}

/// Finds the rules that name no record or field of the contract.
pub(crate) fn check(contract: &Contract) -> Result<(), Error> {
    let fields = REQUIRED
        .iter()
        .chain(&FIRST)
        .flat_map(|(record, fields)| fields.iter().map(move |field| format!("{record}.{field}")));
    for path in fields.chain(DEFAULTS.iter().map(|(path, _)| (*path).to_owned())) {
        let parts: Vec<&str> = path.split('.').collect();
        let [interface, record, field] = parts[..] else { return Err(Error::NoType(path)) };
        let fields = contract.find(interface, record)?.fields();
        if !fields.iter().any(|one| one.name == field) {
            return Err(Error::NoType(path));
        }
    }
    Ok(())
}
