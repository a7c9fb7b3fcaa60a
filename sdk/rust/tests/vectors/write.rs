//! Values of the contract as JSON: fields in snake_case, variants in kebab-case, every field
//! written.

use serde_json::{Value as Json, json};
use syrch_plugin::prelude::*;
use syrch_plugin::replies::{JoinKey, SqlReply, Subtask};

fn write_variant(name: &str, held: impl Into<Json>) -> Json {
    json!({ name: held.into() })
}

fn purpose(purpose: &Purpose) -> Json {
    match purpose {
        Purpose::Link => "link".into(),
        Purpose::Plan => "plan".into(),
        Purpose::Generate => "generate".into(),
        Purpose::Repair => "repair".into(),
        Purpose::Judge => "judge".into(),
        Purpose::Select => "select".into(),
        Purpose::Calibrate => "calibrate".into(),
        Purpose::Clarify => "clarify".into(),
        Purpose::Summarise => "summarise".into(),
        Purpose::Rewrite => "rewrite".into(),
        Purpose::Other(name) => write_variant("other", name.as_str()),
    }
}

fn shape(shape: &Shape) -> Json {
    match shape {
        Shape::Text => "text".into(),
        Shape::Sql => "sql".into(),
        Shape::Json(schema) => write_variant("json", schema.as_str()),
        Shape::Yaml(keys) => write_variant("yaml", keys.clone()),
        Shape::Choice(words) => write_variant("choice", words.clone()),
        Shape::Other(name) => write_variant("other", name.as_str()),
    }
}

pub(crate) fn request(request: &Request) -> Json {
    json!({
        "purpose": purpose(&request.purpose),
        "messages": request.messages.iter().map(|message: &Message| {
        let speaker = match message.speaker {
            Speaker::System => "system",
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        json!({ "speaker": speaker, "text": message.text })
    }).collect::<Vec<_>>(),
        "expect": shape(&request.expect),
        "model": request.model,
        "subjects": request.subjects,
        // The table has only temperatures that are equal as f32 and f64.
        "temperature": request.temperature.map(f64::from),
        "top_p": request.top_p.map(f64::from),
        "max_tokens": request.max_tokens,
        "stop": request.stop,
        "logprobs": request.logprobs,
        "sample": request.sample,
    })
}

pub(crate) fn sql_reply(reply: &SqlReply) -> Json {
    json!({ "sql": reply.sql, "confidence": reply.confidence })
}

pub(crate) fn verdict(verdict: &Verdict) -> Json {
    let opinion = |opinion: &Opinion| {
        json!({
            "score": opinion.score, "reason": opinion.reason, "checks": opinion.checks
        })
    };
    match verdict {
        Verdict::Accepted(of) => write_variant("accepted", opinion(of)),
        Verdict::Rejected(of) => write_variant("rejected", opinion(of)),
        Verdict::Unavailable(why) => write_variant("unavailable", why.as_str()),
    }
}

pub(crate) fn join_key(key: &JoinKey) -> Json {
    json!({
        "left": key.left, "left_col": key.left_col, "right": key.right, "right_col": key.right_col,
        "how": key.how.name(),
    })
}

pub(crate) fn subtask(subtask: &Subtask) -> Json {
    json!({
        "id": subtask.id,
        "description": subtask.description,
        "depends_on": subtask.depends_on,
        "is_atomic": subtask.is_atomic,
        "expected_output": subtask.expected_output,
        "join_keys": subtask.join_keys.iter().map(join_key).collect::<Vec<_>>(),
    })
}

pub(crate) fn failure(failure: &Failure) -> Json {
    let kind = match &failure.kind {
        FailureKind::Input => "input".into(),
        FailureKind::Model => "model".into(),
        FailureKind::Database => "database".into(),
        FailureKind::Budget => "budget".into(),
        FailureKind::Unsupported => "unsupported".into(),
        FailureKind::Cancelled => "cancelled".into(),
        FailureKind::Internal => "internal".into(),
        FailureKind::Other(name) => write_variant("other", name.as_str()),
    };
    json!({ "kind": kind, "message": failure.message, "retryable": failure.retryable })
}

pub(crate) fn signals(signals: &Signals) -> Json {
    json!({
        "attempts": signals.attempts, "max_attempts": signals.max_attempts,
        "syntax_errors": signals.syntax_errors, "schema_errors": signals.schema_errors,
        "execution_errors": signals.execution_errors,
        "empty_result": signals.empty_result, "null_columns": signals.null_columns,
        "overflow": signals.overflow,
        "samples": signals.samples, "agreeing": signals.agreeing, "logprob": signals.logprob,
        "reward": signals.reward,
        "extra": signals.extra,
    })
}
