//! Values of the contract from JSON: fields in snake_case, variants in kebab-case, what is left out
//! has its default.

use serde_json::Value as Json;
use syrch_plugin::ports::Page;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::JoinHow;

fn array(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn maybe_text(value: &Json) -> Option<String> {
    value.as_str().map(str::to_owned)
}

pub(crate) fn texts(value: &Json) -> Vec<String> {
    array(value).iter().map(text).collect()
}

pub(crate) fn count(value: &Json) -> u32 {
    u32::try_from(value.as_u64().unwrap_or_default()).unwrap()
}

fn list<T>(value: &Json, read: impl Fn(&Json) -> T) -> Vec<T> {
    array(value).iter().map(read).collect()
}

fn pair(value: &Json) -> (String, String) {
    (text(&value[0]), text(&value[1]))
}

/// A variant's name and what it carries: `"solve"`, `{"other": "x"}`.
pub(crate) fn variant(value: &Json) -> (&str, &Json) {
    match value {
        Json::String(name) => (name, &Json::Null),
        Json::Object(fields) if fields.len() == 1 => {
            fields.iter().map(|(name, held)| (name.as_str(), held)).next().unwrap()
        }
        other => panic!("no variant: {other}"),
    }
}

fn column(value: &Json) -> Column {
    Column {
        name: text(&value["name"]),
        sql_type: text(&value["sql_type"]),
        nullable: value["nullable"].as_bool().unwrap_or_default(),
        comment: maybe_text(&value["comment"]),
        extra: list(&value["extra"], pair),
    }
}

fn foreign_key(value: &Json) -> ForeignKey {
    ForeignKey {
        columns: texts(&value["columns"]),
        ref_table: text(&value["ref_table"]),
        ref_columns: texts(&value["ref_columns"]),
    }
}

/// A syntax: its members, of which those that are left out have their defaults.
pub(crate) fn syntax(value: &Json) -> Syntax {
    fn flag(value: &Json, name: &str) -> bool {
        value[name].as_bool().unwrap_or_default()
    }
    Syntax {
        title: maybe_text(&value["title"]).unwrap_or_else(|| Syntax::default().title),
        rules: maybe_text(&value["rules"]).unwrap_or_default(),
        backticks: flag(value, "backticks"),
        folds_names: flag(value, "folds_names"),
        backslash_escapes: flag(value, "backslash_escapes"),
    }
}

pub(crate) fn table(value: &Json) -> Table {
    Table {
        schema_name: maybe_text(&value["schema_name"]),
        name: text(&value["name"]),
        columns: list(&value["columns"], column),
        primary_key: texts(&value["primary_key"]),
        foreign_keys: list(&value["foreign_keys"], foreign_key),
        indexes: Vec::new(),
        row_estimate: value["row_estimate"].as_u64(),
        comment: maybe_text(&value["comment"]),
        extra: list(&value["extra"], pair),
    }
}

pub(crate) fn catalog(value: &Json) -> Catalog {
    Catalog {
        database: text(&value["database"]),
        tables: list(&value["tables"], table),
        syntax: syntax(&value["syntax"]),
        ..Catalog::default()
    }
}

fn corpus(value: &Json) -> Corpus {
    match variant(value) {
        ("tables", _) => Corpus::Tables,
        ("columns", _) => Corpus::Columns,
        ("cells", _) => Corpus::Cells,
        ("notes", _) => Corpus::Notes,
        ("examples", _) => Corpus::Examples,
        (_, name) => Corpus::Other(text(name)),
    }
}

fn hit(value: &Json) -> Hit {
    Hit {
        corpus: corpus(&value["corpus"]),
        id: text(&value["id"]),
        path: text(&value["path"]),
        table: maybe_text(&value["table"]),
        column: maybe_text(&value["column"]),
        snippet: maybe_text(&value["snippet"]),
        payload: maybe_text(&value["payload"]),
        score: value["score"].as_f64().unwrap_or_default(),
    }
}

pub(crate) fn problem(value: &Json) -> Problem {
    Problem {
        question: text(&value["question"]),
        evidence: maybe_text(&value["evidence"]),
        goal: maybe_text(&value["goal"]),
        answers: list(&value["answers"], pair),
        hints: list(&value["hints"], hit),
        terms: list(&value["terms"], term),
        extra: list(&value["extra"], pair),
    }
}

fn term(value: &Json) -> Term {
    Term {
        kind: match value["kind"].as_str() {
            Some("dimension") => TermKind::Dimension,
            _ => TermKind::Metric,
        },
        name: text(&value["name"]),
        synonyms: texts(&value["synonyms"]),
        definition: text(&value["definition"]),
        description: maybe_text(&value["description"]),
        tables: texts(&value["tables"]),
        labels: list(&value["labels"], term_label),
        mentioned: value["mentioned"].as_bool().unwrap_or_default(),
    }
}

fn term_label(value: &Json) -> TermLabel {
    TermLabel { value: text(&value["value"]), words: texts(&value["words"]) }
}

pub(crate) fn task(value: &Json) -> Task {
    Task {
        id: text(&value["id"]),
        text: text(&value["text"]),
        depends_on: texts(&value["depends_on"]),
        expected: maybe_text(&value["expected"]),
        context: maybe_text(&value["context"]),
        ..Task::default()
    }
}

fn real(value: &Json) -> f64 {
    value.as_f64().unwrap_or_else(|| text(value).parse().unwrap())
}

pub(crate) fn value(json: &Json) -> Value {
    let held = &json["value"];
    match json["type"].as_str().unwrap() {
        "null" => Value::Null,
        "boolean" => Value::Boolean(held.as_bool().unwrap()),
        // A text where not every language reads the number from JSON.
        "integer" => Value::Integer(held.as_i64().unwrap_or_else(|| text(held).parse().unwrap())),
        "real" => Value::Real(real(held)),
        "decimal" => Value::Decimal(text(held)),
        "text" => Value::Text(text(held)),
        "temporal" => Value::Temporal(text(held)),
        "bytes" => Value::Bytes(list(held, |byte| u8::try_from(byte.as_u64().unwrap()).unwrap())),
        "other" => Value::Other(text(held)),
        name => panic!("no value: {name}"),
    }
}

pub(crate) fn page(json: &Json) -> Page {
    Page {
        columns: texts(&json["columns"]),
        rows: list(&json["rows"], |row| list(row, value)),
        clipped: json["clipped"].as_bool().unwrap_or_default(),
    }
}

pub(crate) fn failure(value: &Json) -> Failure {
    let kind = match variant(&value["kind"]) {
        ("input", _) => FailureKind::Input,
        ("model", _) => FailureKind::Model,
        ("database", _) => FailureKind::Database,
        ("budget", _) => FailureKind::Budget,
        ("unsupported", _) => FailureKind::Unsupported,
        ("cancelled", _) => FailureKind::Cancelled,
        ("internal", _) => FailureKind::Internal,
        (_, name) => FailureKind::Other(text(name)),
    };
    Failure {
        kind,
        message: text(&value["message"]),
        retryable: value["retryable"].as_bool().unwrap_or_default(),
    }
}

/// A finished dependency; the rows of its relation are given as a page.
pub(crate) fn parent(value: &Json) -> Parent {
    use syrch_plugin::fakes::FakeRows;

    let output = match variant(&value["output"]) {
        ("relation", relation) => {
            let page = page(&relation["results"]);
            let names: Vec<&str> = page.columns.iter().map(String::as_str).collect();
            let results = FakeRows::new(&names, page.rows).handle();
            Output::Relation(Box::new(Relation {
                name: text(&relation["name"]),
                candidate: Candidate::default(),
                results,
            }))
        }
        ("hits", hits) => Output::Hits(list(hits, hit)),
        ("failed", why) => Output::Failed(failure(why)),
        (_, name) => Output::Other(text(name)),
    };
    Parent { task: task(&value["task"]), output, memo: maybe_text(&value["memo"]) }
}

pub(crate) fn parents(value: &Json) -> Vec<Parent> {
    list(value, parent)
}

pub(crate) fn reply(parsed: &Json) -> Reply {
    Reply {
        text: String::new(),
        parsed: maybe_text(parsed),
        truncated: false,
        logprob: None,
        usage: Usage { input_tokens: 0, output_tokens: 0, cost_micros: None, model: String::new() },
    }
}

pub(crate) fn llm_error(value: &Json) -> LlmError {
    match variant(value) {
        ("budget", _) => LlmError::Budget,
        ("denied", why) => LlmError::Denied(text(why)),
        ("refused", why) => LlmError::Refused(text(why)),
        ("too-large", _) => LlmError::TooLarge,
        ("malformed", start) => LlmError::Malformed(text(start)),
        ("unsupported", what) => LlmError::Unsupported(text(what)),
        ("cancelled", _) => LlmError::Cancelled,
        ("unavailable", why) => LlmError::Unavailable(text(why)),
        (_, why) => LlmError::Other(text(why)),
    }
}

pub(crate) const SQL_ERRORS: [(&str, SqlErrorKind); 14] = [
    ("syntax", SqlErrorKind::Syntax),
    ("unknown-table", SqlErrorKind::UnknownTable),
    ("unknown-column", SqlErrorKind::UnknownColumn),
    ("ambiguous-name", SqlErrorKind::AmbiguousName),
    ("type-mismatch", SqlErrorKind::TypeMismatch),
    ("write-refused", SqlErrorKind::WriteRefused),
    ("function-refused", SqlErrorKind::FunctionRefused),
    ("denied", SqlErrorKind::Denied),
    ("timeout", SqlErrorKind::Timeout),
    ("too-large", SqlErrorKind::TooLarge),
    ("cancelled", SqlErrorKind::Cancelled),
    ("budget", SqlErrorKind::Budget),
    ("unavailable", SqlErrorKind::Unavailable),
    ("other", SqlErrorKind::Other),
];

pub(crate) fn sql_error(value: &Json) -> SqlError {
    let kind = value["kind"].as_str().unwrap();
    SqlError {
        kind: SQL_ERRORS.iter().find(|(name, _)| *name == kind).unwrap().1,
        message: text(&value["message"]),
        position: value["position"].as_u64().map(|position| u32::try_from(position).unwrap()),
        suggestions: texts(&value["suggestions"]),
    }
}

pub(crate) fn port_error(value: &Json) -> PortError {
    match variant(value) {
        ("denied", why) => PortError::Denied(text(why)),
        ("unsupported", _) => PortError::Unsupported,
        ("unknown-name", name) => PortError::UnknownName(text(name)),
        ("budget", _) => PortError::Budget,
        ("unavailable", why) => PortError::Unavailable(text(why)),
        (_, why) => PortError::Other(text(why)),
    }
}

pub(crate) fn profile(value: &Json) -> Profile {
    Profile {
        rows: value["rows"].as_u64().unwrap_or_default(),
        truncated: value["truncated"].as_bool().unwrap_or_default(),
        columns: list(&value["columns"], |of: &Json| ColumnProfile {
            column: column(&of["column"]),
            nulls: of["nulls"].as_u64().unwrap_or_default(),
            distinct: of["distinct"].as_u64(),
        }),
        warnings: texts(&value["warnings"]),
    }
}

pub(crate) fn purpose(value: &Json) -> Purpose {
    match variant(value) {
        ("link", _) => Purpose::Link,
        ("plan", _) => Purpose::Plan,
        ("generate", _) => Purpose::Generate,
        ("repair", _) => Purpose::Repair,
        ("judge", _) => Purpose::Judge,
        ("select", _) => Purpose::Select,
        ("calibrate", _) => Purpose::Calibrate,
        ("clarify", _) => Purpose::Clarify,
        ("summarise", _) => Purpose::Summarise,
        ("rewrite", _) => Purpose::Rewrite,
        (_, name) => Purpose::Other(text(name)),
    }
}

pub(crate) fn join_how(name: &Json) -> JoinHow {
    JoinHow::from_name(name.as_str().unwrap())
}

pub(crate) fn signals(value: &Json) -> Signals {
    Signals {
        attempts: count(&value["attempts"]),
        max_attempts: count(&value["max_attempts"]),
        syntax_errors: count(&value["syntax_errors"]),
        schema_errors: count(&value["schema_errors"]),
        execution_errors: count(&value["execution_errors"]),
        empty_result: value["empty_result"].as_bool().unwrap_or_default(),
        null_columns: count(&value["null_columns"]),
        overflow: value["overflow"].as_bool().unwrap_or_default(),
        samples: count(&value["samples"]),
        ..Signals::default()
    }
}
