//! The log of a run, through `tracing`: what begins and ends, how long it took and what it used.
//! Never a prompt, a reply, a row or a key; the text of statements at debug only.

use std::fmt::Write;

use super::{Span, Value};

/// Returns whether the log of searches is enabled.
pub(super) fn is_enabled() -> bool {
    tracing::enabled!(target: "syrch.search", tracing::Level::INFO)
}

/// The part of the host that a span belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The search as a whole.
    Search,
    /// The call of a plugin in a role.
    Role,
    /// The call of a model, with all its retries.
    Model,
    /// A statement that the database runs.
    Statement,
}

/// Logs that something begins. Model calls and statements are logged when they end.
pub(super) fn log_begin(kind: Kind, span: &Span) {
    match kind {
        Kind::Search => {
            tracing::info!(target: "syrch.search", "{} begins{}", span.name, facts(span))
        }
        Kind::Role => {
            tracing::info!(target: "syrch.runtime", "{} begins{}", span.name, facts(span))
        }
        Kind::Model => tracing::debug!(target: "syrch.llm", "{} begins{}", span.name, facts(span)),
        Kind::Statement => {}
    }
}

/// Logs how something ended.
pub(super) fn log_end(kind: Kind, span: &Span) {
    if !is_enabled() {
        return;
    }
    let ms = span.end.duration_since(span.start).unwrap_or_default().as_secs_f64() * 1e3;
    let name = &span.name;
    let facts = facts(span);
    match kind {
        Kind::Search => {
            tracing::info!(target: "syrch.search", "{name} ended after {ms:.1} ms{facts}")
        }
        Kind::Role => {
            tracing::info!(target: "syrch.runtime", "{name} ended after {ms:.1} ms{facts}")
        }
        Kind::Model => tracing::info!(target: "syrch.llm", "{name} ended after {ms:.1} ms{facts}"),
        Kind::Statement => {
            tracing::info!(target: "syrch.sql", "{name} ended after {ms:.1} ms{facts}")
        }
    }
}

/// The text of a statement.
pub(super) fn statement(sql: &str) {
    tracing::debug!(target: "syrch.sql", "runs {sql}");
}

/// Returns the attributes of a span, as `name=value` behind a colon. A statement's text is left
/// out.
fn facts(span: &Span) -> String {
    let mut line = String::new();
    let reported = span.attributes.iter().filter(|(name, _)| *name != super::names::QUERY_TEXT);
    for (name, value) in reported {
        line.push_str(if line.is_empty() { ": " } else { " " });
        let name = name.rsplit_once("syrch.").map_or(*name, |(_, own)| own);
        // Writing to a string does not fail.
        let _ = match value {
            Value::Text(text) if text.contains(|c: char| c.is_whitespace() || c.is_control()) => {
                write!(line, "{name}={text:?}")
            }
            Value::Text(text) => write!(line, "{name}={text}"),
            Value::Whole(number) => write!(line, "{name}={number}"),
            Value::Number(number) => write!(line, "{name}={number}"),
            Value::Flag(flag) => write!(line, "{name}={flag}"),
            Value::Texts(texts) => write!(line, "{name}={}", texts.join(",")),
        };
    }
    line
}
