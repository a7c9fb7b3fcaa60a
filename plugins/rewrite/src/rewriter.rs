//! One model call for each proposal.

use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::{self, Value};
use syrch_plugin::text::line;

use crate::prompts::{Statistics, instructions, schema, setting};
use crate::{Rewrite, Settings};

/// The kind of failure by which the optimizer knows that the prompt would be too long, so that no iteration can have one.
const PROMPT_TOO_LARGE: &str = "prompt-too-large";
/// The family of all proposals: a model names none.
const FAMILY: &str = "model";
/// The most characters of a model's explanation.
const REASON: usize = 300;

impl RewriterRole for Rewrite {
    fn rewrite(
        &self,
        host: &impl RewriterHost,
        _original: &str,
        best: &str,
        plan: &Plan,
        catalog: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, Failure> {
        let statistics = statistics(host, best, catalog);
        let request = request(&self.settings, best, plan, catalog, &statistics, history)?;
        match host.complete(&request) {
            Ok(reply) => proposal(&reply),
            // A provider without a model has nothing to propose, and will have nothing later.
            Err(LlmError::Refused(why) | LlmError::Unsupported(why)) => {
                host.note(Level::Warn, &format!("the model provider proposes nothing: {}", line(&why, 200)));
                Ok(None)
            }
            Err(LlmError::TooLarge) => Err(too_large(&llm_words(&LlmError::TooLarge))),
            Err(error) => Err(llm_failure(&error)),
        }
    }
}

fn request(
    settings: &Settings,
    best: &str,
    plan: &Plan,
    catalog: &Catalog,
    statistics: &Statistics,
    history: &[Attempt],
) -> Result<Request, Failure> {
    let latest = history.len().saturating_sub(settings.earlier as usize);
    let shown = history.get(latest..).unwrap_or_default();
    let (system, user) = (instructions(&catalog.dialect), setting(best, plan, catalog, statistics, shown));
    let bytes = system.len() + user.len();
    if bytes > settings.prompt_bytes as usize {
        return Err(too_large(&format!(
            "the prompt would have {bytes} bytes, and `prompt_bytes` allows {}",
            settings.prompt_bytes
        )));
    }
    let model = Some(settings.model.clone()).filter(|name| !name.is_empty());
    let ask = Ask::new(Purpose::Rewrite).system(system).user(user).model(model).temperature(0.0);
    Ok(ask.max_tokens(settings.max_tokens).subjects(vec![best.to_owned()]).json(&schema()))
}

fn too_large(message: &str) -> Failure {
    failure(FailureKind::Other(PROMPT_TOO_LARGE.to_owned()), message)
}

/// The statistics of the columns of the statement, where the engine has any.
fn statistics(host: &impl Inspect, best: &str, catalog: &Catalog) -> Statistics {
    let mut found = Statistics::new();
    // Without the facts of the statement, or without statistics, the prompt has none.
    let Ok(facts) = host.check(best) else { return found };
    let used = |column: &Column| {
        facts.columns.iter().any(|name| name.rsplit('.').next().is_some_and(|own| own.eq_ignore_ascii_case(&column.name)))
    };
    for table in &catalog.tables {
        let columns: Vec<String> =
            table.columns.iter().filter(|column| used(column)).map(|column| column.name.clone()).collect();
        if columns.is_empty() {
            continue;
        }
        for stats in host.column_stats(&catalog.table_name(table), &columns).unwrap_or_default() {
            found.insert((table.name.to_lowercase(), stats.column.to_lowercase()), stats);
        }
    }
    found
}

/// The proposal of a reply; none if the model knows no faster form.
fn proposal(reply: &Reply) -> Result<Option<Proposal>, Failure> {
    let parsed = reply.parsed.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let wrong = |what: &str| {
        let start = line(&reply.text, 120);
        let cut = if reply.truncated { "; it was cut at `max_tokens`" } else { "" };
        failure(FailureKind::Model, format!("the model's reply {what}{cut}; it began: {start}"))
    };
    let Some(parsed) = parsed else { return Err(wrong("is not the JSON that was asked for")) };
    let text = |key: &str| parsed.get(key).and_then(Value::as_str).unwrap_or_default().trim();
    if parsed.get("unchanged").and_then(Value::as_bool) == Some(true) {
        return Ok(None);
    }
    let sql = text("optimized_sql");
    if sql.is_empty() {
        return Err(wrong("has no statement"));
    }
    let reason = Some(line(text("explanation"), REASON)).filter(|reason| !reason.is_empty());
    Ok(Some(Proposal::new(sql, FAMILY, reason.unwrap_or_else(|| "the model gave no reason".to_owned()))))
}
