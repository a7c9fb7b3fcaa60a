//! The rules as a model provider: generates and repairs SQL, plans one task, abstains from
//! everything else.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use syrch_core::Limits;
use syrch_core::ports::{
    CellIndex, Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Preview, Purpose, Reply,
    Shape, Usage,
};
use syrch_replies::shape;
use syrch_replies::written::{Written, plan_of_one};
use syrch_semantics::Semantics;

use super::evidence;
use super::interpret::{self, Interpretation, Interpretations};
use super::metric::{self, Metric};

/// The provider's name, and the name of its only model.
const NAME: &str = "offline";

/// The settings of an [`OfflineProvider`].
#[derive(Debug, Clone, PartialEq)]
pub struct OfflineConfig {
    /// The confidence below which it abstains, 0 to 1.
    pub threshold: f64,
    /// Metrics that are defined: a question for one of them is answered by its definition, and the
    /// rules are not tried.
    pub semantics: Option<Arc<Semantics>>,
}

impl Default for OfflineConfig {
    fn default() -> Self {
        Self { threshold: 0.35, semantics: None }
    }
}

/// A provider without a model. It reads the question and the catalog of a call and not its prompt,
/// sends nothing, costs nothing, and gives equal calls equal answers.
#[derive(Clone)]
pub struct OfflineProvider {
    values: Option<Arc<dyn CellIndex>>,
    config: OfflineConfig,
}

impl OfflineProvider {
    /// A provider that searches for the question's phrases in the index `values`. Without it, it
    /// understands names of tables and columns and numbers, but no cells.
    #[must_use]
    pub fn new(values: Option<Arc<dyn CellIndex>>, config: OfflineConfig) -> Self {
        Self { values, config }
    }

    async fn interpret(&self, call: &ModelCall) -> Interpretations {
        let question = evidence::apply_evidence(&question(call), &call.problem);
        let values = self.values.as_deref();
        let found = interpret::interpret(&question, &call.catalog, values).await;
        let measured = found
            .objection
            .as_deref()
            .and_then(|why| evidence::apply_measure(&question, &call.problem, why));
        match measured {
            Some(question) => interpret::interpret(&question, &call.catalog, values).await,
            None => found,
        }
    }

    /// The reply that the semantics give; `None` if the rules are to reply.
    async fn define(&self, call: &ModelCall) -> Option<Result<Reply, LlmError>> {
        let semantics = self.config.semantics.as_ref()?;
        let question = question(call);
        match metric::read(&question, call, semantics, self.values.as_deref()).await {
            Metric::Statement { sql, confidence, origin } => {
                let is_tried = call
                    .request
                    .subjects
                    .iter()
                    .any(|tried| comparable_text(tried) == comparable_text(&sql));
                if call.request.sample > 0 || is_tried {
                    return Some(Err(LlmError::Refused(
                        "the definition of a metric has one statement".to_owned(),
                    )));
                }
                Some(Ok(write_definition(&sql, confidence, origin)))
            }
            Metric::Unclear(why) => Some(Err(LlmError::Refused(why))),
            Metric::Unread => None,
        }
    }

    /// Replies with the interpretation at the place of the request's `sample`.
    async fn generate(&self, call: &ModelCall) -> Result<Reply, LlmError> {
        if let Some(reply) = self.define(call).await {
            return reply;
        }
        let found = self.interpret(call).await;
        let wanted = found.list.get(call.request.sample as usize);
        match wanted {
            Some(one) if self.accepts(&found) => self.admit(one),
            None if !found.list.is_empty() && found.objection.is_none() => {
                Err(LlmError::Refused("there is no further reading of the question".to_owned()))
            }
            _ => Err(LlmError::Refused(refusal_reason(&found))),
        }
    }

    /// The best interpretation that is not among the statements to be repaired.
    async fn repair(&self, call: &ModelCall) -> Result<Reply, LlmError> {
        if let Some(reply) = self.define(call).await {
            return reply;
        }
        let found = self.interpret(call).await;
        let tried = |sql: &str| {
            call.request
                .subjects
                .iter()
                .any(|subject| comparable_text(subject) == comparable_text(sql))
        };
        match found.list.iter().find(|one| !tried(&one.sql)) {
            Some(one) if self.accepts(&found) => self.admit(one),
            None if !found.list.is_empty() && found.objection.is_none() => {
                Err(LlmError::Refused("every reading of the question was tried".to_owned()))
            }
            _ => Err(LlmError::Refused(refusal_reason(&found))),
        }
    }

    /// Returns true if the question was understood. Only the best reading counts, since the others
    /// differ in open points only.
    fn accepts(&self, found: &Interpretations) -> bool {
        found.objection.is_none()
            && found.list.first().is_some_and(|best| best.confidence >= self.config.threshold)
    }

    /// Replies with a statement of the rules, unless it reads a table whose definition has a
    /// condition that always holds.
    fn admit(&self, one: &Interpretation) -> Result<Reply, LlmError> {
        let semantics = self.config.semantics.as_deref();
        match semantics.and_then(|semantics| metric::find_filtered(semantics, &one.sql)) {
            None => Ok(statement(one)),
            Some(table) => Err(LlmError::Refused(format!(
                "`{table}` has a condition in the semantics file that always holds, and only its \
                 metrics apply it: ask for a metric, or define one"
            ))),
        }
    }

    async fn reply(&self, call: &ModelCall) -> Result<Reply, LlmError> {
        match (&call.request.purpose, &call.request.expect) {
            (Purpose::Generate, Shape::Sql) => self.generate(call).await,
            (Purpose::Repair, Shape::Sql) => self.repair(call).await,
            (Purpose::Plan, Shape::Json(schema)) => {
                let plan = plan_of_one(&question(call), schema)
                    .ok_or_else(|| purpose_error(&Purpose::Plan))?;
                Ok(plan.reply(usage()))
            }
            (purpose, _) => Err(purpose_error(purpose)),
        }
    }
}

#[async_trait]
impl ModelProvider for OfflineProvider {
    fn name(&self) -> &str {
        NAME
    }

    fn models(&self) -> Vec<String> {
        vec![NAME.to_owned()]
    }

    fn identity(&self, _: &ModelCall) -> Option<String> {
        None
    }

    fn estimate(&self, _: &ModelCall) -> Estimate {
        Estimate { cost_micros: Some(0), ..Estimate::default() }
    }

    fn preview(&self, _: &ModelCall) -> Option<Preview> {
        None
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        if let Err(error) = shape::prepare(&call.request.expect, &Limits::default()).await {
            return ModelOutcome::unsent(error);
        }
        ModelOutcome::sent(self.reply(call).await, Some(usage()))
    }
}

fn purpose_error(purpose: &Purpose) -> LlmError {
    let name = purpose.name();
    LlmError::Unsupported(format!(
        "the offline provider cannot serve the purpose `{name}` in this shape"
    ))
}

fn usage() -> Usage {
    Usage { cost_micros: Some(0), model: NAME.to_owned(), ..Usage::default() }
}

/// The words to understand: the task's, or the user's.
fn question(call: &ModelCall) -> String {
    let task = call.task.as_ref().map(|task| task.text.trim()).filter(|text| !text.is_empty());
    task.unwrap_or(&call.problem.question).to_owned()
}

fn statement(one: &Interpretation) -> Reply {
    let confidence = (one.confidence * 100.0).round() / 100.0;
    let text = format!("```sql\n{}\n```\nConfidence: {confidence:.2}", one.sql);
    let mut parsed = json!({ "sql": one.sql, "confidence": confidence });
    if !one.doubts.is_empty() {
        parsed["doubts"] = json!(one.doubts);
    }
    Written { text, parsed: Some(parsed.to_string()) }.reply(usage())
}

/// A statement that is compiled from definitions, with where it comes from.
fn write_definition(sql: &str, confidence: f64, origin: Value) -> Reply {
    let text = format!("```sql\n{sql}\n```\nConfidence: {confidence:.2}");
    let parsed = json!({ "sql": sql, "confidence": confidence, "origin": origin }).to_string();
    Written { text, parsed: Some(parsed) }.reply(usage())
}

/// A statement without what does not matter when two are compared.
fn comparable_text(sql: &str) -> String {
    sql.trim().trim_end_matches(';').split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn refusal_reason(found: &Interpretations) -> String {
    if let Some(objection) = &found.objection {
        return objection.clone();
    }
    match found.unknown.as_slice() {
        [] if found.list.is_empty() => {
            "nothing in the question names a table or a column".to_owned()
        }
        [] => "the question was not understood well enough".to_owned(),
        words => {
            let once: Vec<&str> = words
                .iter()
                .enumerate()
                .filter(|(at, word): &(usize, &String)| !words[..*at].contains(word))
                .map(|(_, word)| word.as_str())
                .collect();
            format!("not understood: {}", once.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::{Message, Request, Speaker};
    use syrch_core::{Problem, Task};

    use super::*;
    use crate::fixture::{self, block_on};

    fn call(question: &str, purpose: Purpose, expect: Shape) -> ModelCall {
        ModelCall {
            request: Request::new(
                purpose,
                vec![Message { speaker: Speaker::User, text: "ignored".to_owned() }],
                expect,
            ),
            problem: Arc::new(Problem::new(question)),
            task: None,
            catalog: Arc::new(fixture::library()),
        }
    }

    fn provider() -> OfflineProvider {
        OfflineProvider::new(Some(fixture::cells()), OfflineConfig::default())
    }

    fn ask(question: &str) -> ModelOutcome {
        block_on(provider().complete(&call(question, Purpose::Generate, Shape::Sql)))
    }

    #[test]
    fn it_generates_sql_with_a_confidence_and_no_cost() {
        let outcome = ask("How many books are there?");
        let reply = outcome.result.unwrap();
        let parsed: Value = serde_json::from_str(reply.parsed.as_deref().unwrap()).unwrap();
        assert_eq!(parsed["sql"], "SELECT COUNT(*) FROM book");
        let confidence = parsed["confidence"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&confidence));
        assert_eq!(
            reply.text,
            format!("```sql\nSELECT COUNT(*) FROM book\n```\nConfidence: {confidence:.2}")
        );
        assert!(outcome.sent);
        assert_eq!(
            outcome.usage,
            Some(Usage { model: "offline".to_owned(), cost_micros: Some(0), ..Usage::default() })
        );
    }

    #[test]
    fn a_task_with_text_stands_before_the_question() {
        let mut call = call("How many books are there?", Purpose::Generate, Shape::Sql);
        call.task = Some(Arc::new(Task {
            text: "How many members are there?".to_owned(),
            ..Task::default()
        }));
        let reply = block_on(provider().complete(&call)).result.unwrap();
        assert!(reply.text.contains("FROM member"), "{}", reply.text);
    }

    #[test]
    fn it_abstains_and_says_what_it_did_not_understand() {
        let outcome = ask("Why does gravity bend light around massive stars?");
        let Err(LlmError::Refused(why)) = outcome.result else { panic!("{outcome:?}") };
        assert!(why.contains("gravity"), "{why}");
    }

    #[test]
    fn samples_are_different_readings_until_there_are_no_more() {
        let mut call = call("List the names of members and authors", Purpose::Generate, Shape::Sql);
        let mut seen = Vec::new();
        loop {
            match block_on(provider().complete(&call)).result {
                Ok(reply) => seen.push(reply.parsed.unwrap()),
                Err(error) => break assert!(matches!(error, LlmError::Refused(_)), "{error}"),
            }
            call.request.sample += 1;
        }
        let mut different = seen.clone();
        different.sort();
        different.dedup();
        assert!(seen.len() > 1 && different.len() == seen.len(), "{seen:?}");
    }

    #[test]
    fn a_repair_is_never_a_statement_that_was_tried() {
        let mut call = call("Show the names of the members from Oslo", Purpose::Repair, Shape::Sql);
        let mut tried = 0;
        while let Ok(reply) = block_on(provider().complete(&call)).result {
            let parsed: Value = serde_json::from_str(reply.parsed.as_deref().unwrap()).unwrap();
            let sql = parsed["sql"].as_str().unwrap().to_owned();
            assert!(!call.request.subjects.contains(&sql));
            call.request.subjects.push(sql);
            tried += 1;
        }
        assert!(tried >= 1);
    }

    #[test]
    fn a_plan_is_one_task() {
        let schema = json!({ "title": "syrch-plan", "type": "object" }).to_string();
        let reply = block_on(provider().complete(&call(
            "How many books?",
            Purpose::Plan,
            Shape::Json(schema),
        )))
        .result;
        let plan: Value = serde_json::from_str(reply.unwrap().parsed.as_deref().unwrap()).unwrap();
        assert_eq!(plan["subtasks"][0]["description"], "How many books?");
        assert_eq!(plan["subtasks"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn everything_else_is_unsupported() {
        let other = json!({ "title": "else" }).to_string();
        for (purpose, shape) in [
            (Purpose::Judge, Shape::Choice(vec!["yes".to_owned()])),
            (Purpose::Generate, Shape::Text),
            (Purpose::Plan, Shape::Json(other)),
        ] {
            let outcome = block_on(provider().complete(&call("How many books?", purpose, shape)));
            assert!(matches!(outcome.result, Err(LlmError::Unsupported(_))), "{outcome:?}");
        }
    }
}
