//! The provider: finds the question of a call and the next of its answers.

use std::fmt;

use async_trait::async_trait;
use syrch_core::Limits;
use syrch_core::ports::{
    Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Purpose, Reply, Request, Usage,
};
use syrch_replies::shape;
use syrch_replies::written::statement;

use super::order::in_order;
use super::read::RecordedAnswers;
use crate::known::{is_whole, miss_message};

/// The provider's name, and the name of its only model.
const NAME: &str = "recorded";

/// The settings of a [`RecordedProvider`].
#[derive(Debug, Clone, Default)]
pub struct RecordedConfig {
    /// The seed of the order in which answers are given.
    pub seed: u64,
    /// The bounds of reply documents.
    pub limits: Limits,
}

/// A provider that gives the answers of real systems, one for each draw.
///
/// A question's answers have an order that follows from the seed and the question's id: ascending
/// by the SHA-256 of `SEED/ID/SYSTEM`. A `generate` gets the answer number `sample` of it, from 0.
/// A `repair` takes the next one: its number is `sample` plus the number of the statements that it
/// is about (blank ones aside), so that a solver that repairs the draw `n` sends `sample: n` with
/// each repair. After the last answer it refuses.
///
/// The question is found by its text, and by the database's name (the file's stem) if several
/// databases have it. Prompts are not read. Other purposes, and tasks that are only a part of the
/// question, are unsupported; a question that is not recorded is [`LlmError::Missed`]. It sends
/// nothing, costs nothing and reports, like the rules without a model, no tokens: what the systems
/// used is not recorded. Its replies are not to be cached, since it is as quick as a cache.
pub struct RecordedProvider {
    answers: RecordedAnswers,
    config: RecordedConfig,
}

impl fmt::Debug for RecordedProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedProvider")
            .field("questions", &self.answers.all().len())
            .field("seed", &self.config.seed)
            .finish_non_exhaustive()
    }
}

impl RecordedProvider {
    /// A provider that gives the answers of this recording.
    #[must_use]
    pub fn new(answers: RecordedAnswers, config: RecordedConfig) -> Self {
        Self { answers, config }
    }

    fn reply(&self, call: &ModelCall) -> Result<Reply, LlmError> {
        let number = number(&call.request)?;
        if !is_whole(call) {
            return Err(support_error(
                "recorded answers are to whole questions, not to parts of them",
            ));
        }
        let asked = self.answers.find(&call.problem.question, &call.catalog.database);
        let asked = asked.ok_or_else(|| self.miss_error(call))?;
        let order = in_order(self.config.seed, &asked.id, &asked.answers);
        let held = syrch_core::text::count(order.len(), "answer");
        let answer = order.get(number).ok_or_else(|| {
            LlmError::Refused(format!("the recording holds {held} to this question"))
        })?;
        Ok(statement(&answer.sql, None, &call.request.expect, &self.config.limits)?.reply(usage()))
    }

    /// The reason why there is no answer. The message may quote a recorded question, so it is not
    /// for guests.
    fn miss_error(&self, call: &ModelCall) -> LlmError {
        let question = &call.problem.question;
        let database = &call.catalog.database;
        LlmError::Missed(miss_message(
            "the recorded answers",
            self.answers.all(),
            question,
            database,
        ))
    }
}

/// The number of the answer that a request gets, from 0.
fn number(request: &Request) -> Result<usize, LlmError> {
    let sample = request.sample as usize;
    match &request.purpose {
        Purpose::Generate => Ok(sample),
        Purpose::Repair => {
            let tried = request.subjects.iter().filter(|sql| !sql.trim().is_empty()).count();
            Ok(sample.saturating_add(tried))
        }
        other => Err(support_error(&format!(
            "recorded answers cannot serve the purpose `{}`",
            other.name()
        ))),
    }
}

fn support_error(why: &str) -> LlmError {
    LlmError::Unsupported(why.to_owned())
}

fn usage() -> Usage {
    Usage { cost_micros: Some(0), model: NAME.to_owned(), ..Usage::default() }
}

#[async_trait]
impl ModelProvider for RecordedProvider {
    fn name(&self) -> &str {
        NAME
    }

    fn models(&self) -> Vec<String> {
        vec![NAME.to_owned()]
    }

    fn estimate(&self, _: &ModelCall) -> Estimate {
        Estimate { cost_micros: Some(0), ..Estimate::default() }
    }

    /// A call for which nothing is recorded is not charged. One that is refused or whose answer is
    /// malformed is.
    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        if let Err(error) = shape::prepare(&call.request.expect, &self.config.limits).await {
            return ModelOutcome::unsent(error);
        }
        match self.reply(call) {
            Err(error @ (LlmError::Unsupported(_) | LlmError::Missed(_))) => {
                ModelOutcome::unsent(error)
            }
            result => ModelOutcome::sent(result, Some(usage())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::Value;
    use syrch_core::ports::Shape;
    use syrch_core::{Catalog, Dialect, Problem, Task};

    use super::super::read::fixture::{answers, read};
    use super::*;

    fn call(question: &str, database: &str, purpose: Purpose) -> ModelCall {
        let request = Request::new(purpose, Vec::new(), Shape::Sql);
        let catalog =
            Catalog { database: database.to_owned(), dialect: Dialect::Sqlite, tables: Vec::new() };
        ModelCall {
            request,
            problem: Arc::new(Problem::new(question)),
            task: None,
            catalog: Arc::new(catalog),
        }
    }

    fn provider(seed: u64) -> RecordedProvider {
        RecordedProvider::new(answers(), RecordedConfig { seed, ..RecordedConfig::default() })
    }

    async fn answer(provider: &RecordedProvider, call: &ModelCall) -> Result<String, LlmError> {
        let reply = provider.complete(call).await.result?;
        let parsed: Value = serde_json::from_str(&reply.parsed.unwrap()).unwrap();
        Ok(parsed["sql"].as_str().unwrap().to_owned())
    }

    /// The statements of a question in their order.
    async fn all(provider: &RecordedProvider, call: &ModelCall) -> Vec<Result<String, LlmError>> {
        let mut call = call.clone();
        let mut found = Vec::new();
        for sample in 0..4 {
            call.request.sample = sample;
            found.push(answer(provider, &call).await);
        }
        found
    }

    #[tokio::test]
    async fn samples_are_the_answers_in_their_order_and_then_it_refuses() {
        let pigs = call("Which pigs?", "farm", Purpose::Generate);
        let found = all(&provider(3), &pigs).await;
        let known = answers();
        let expected: Vec<_> =
            in_order(3, "q3", &known.find("Which pigs?", "farm").unwrap().answers)
                .into_iter()
                .map(|answer| match answer.sql.trim() {
                    "" => Err(LlmError::Malformed("(empty)".to_owned())),
                    sql => Ok(sql.to_owned()),
                })
                .chain([Err(LlmError::Refused(
                    "the recording holds 3 answers to this question".to_owned(),
                ))])
                .collect();
        assert_eq!(found, expected);
        let mut orders = Vec::new();
        for seed in 0..20 {
            orders.push(format!("{:?}", all(&provider(seed), &pigs).await));
        }
        orders.sort();
        orders.dedup();
        assert!(orders.len() > 3, "the seed decides");
    }

    #[tokio::test]
    async fn a_repair_takes_the_next_one() {
        let provider = provider(0);
        let mut call = call("Which pigs?", "farm", Purpose::Generate);
        let order = all(&provider, &call).await;
        call.request.purpose = Purpose::Repair;
        for (sample, subjects, expected) in
            [(0, vec!["x"], 1), (0, vec!["x", " ", "y"], 2), (1, vec!["x"], 2), (2, vec!["x"], 3)]
        {
            call.request.sample = sample;
            call.request.subjects = subjects.into_iter().map(str::to_owned).collect();
            assert_eq!(answer(&provider, &call).await, order[expected]);
        }
        (call.request.sample, call.request.subjects) = (u32::MAX, vec!["x".to_owned()]);
        assert!(matches!(answer(&provider, &call).await, Err(LlmError::Refused(_))));
    }

    #[tokio::test]
    async fn replies_cost_nothing_and_are_not_cached() {
        let provider = provider(0);
        let call = call("How many?", "farm", Purpose::Generate);
        let outcome = provider.complete(&call).await;
        let usage =
            Usage { cost_micros: Some(0), model: "recorded".to_owned(), ..Usage::default() };
        assert!(outcome.sent && outcome.usage == Some(usage.clone()), "{outcome:?}");
        let reply = outcome.result.unwrap();
        assert_eq!((reply.text.as_str(), reply.usage), ("```sql\nSELECT 3\n```", usage));
        assert_eq!((provider.identity(&call), provider.preview(&call)), (None, None));
        assert_eq!(
            provider.estimate(&call),
            Estimate { cost_micros: Some(0), ..Estimate::default() }
        );
    }

    #[tokio::test]
    async fn parts_of_a_question_and_other_purposes_are_unsupported_and_uncharged() {
        let provider = provider(0);
        let whole = call("Which pigs?", "farm", Purpose::Generate);
        fn part(whole: &ModelCall, text: &str) -> ModelCall {
            let task = Task { text: text.to_owned(), ..Task::default() };
            ModelCall { task: Some(Arc::new(task)), ..whole.clone() }
        }
        assert!(answer(&provider, &part(&whole, " Which pigs? ")).await.is_ok());
        assert!(answer(&provider, &part(&whole, "")).await.is_ok());
        let mut calls = vec![part(&whole, "Count the pigs")];
        let others = [
            Purpose::Plan,
            Purpose::Judge,
            Purpose::Select,
            Purpose::Summarise,
            Purpose::Other("x".into()),
        ];
        calls.extend(others.map(|purpose| call("Which pigs?", "farm", purpose)));
        for call in calls {
            let outcome = provider.complete(&call).await;
            assert!(matches!(outcome.result, Err(LlmError::Unsupported(_))), "{outcome:?}");
            assert!(!outcome.sent);
        }
    }

    #[tokio::test]
    async fn an_unknown_question_is_a_miss_that_names_the_nearest() {
        let provider = provider(0);
        for (question, database, expected) in [
            (
                "Which pig?",
                "farm",
                "the recorded answers have none to this question over `farm`; the nearest is `q3` \
                 over `farm`: Which pigs?",
            ),
            (
                "How many?",
                "zoo",
                "the recorded answers have none to this question over `zoo`; the nearest is `q1` \
                 over `shop`: How many?",
            ),
            (
                "xyz",
                "farm",
                "the recorded answers have none to this question over `farm`, nor to one like it",
            ),
        ] {
            let outcome = provider.complete(&call(question, database, Purpose::Generate)).await;
            assert_eq!(outcome, ModelOutcome::unsent(LlmError::Missed(expected.to_owned())));
        }
        let empty = RecordedProvider::new(read("", "").unwrap(), RecordedConfig::default());
        let outcome = empty.complete(&call("Which pigs?", "farm", Purpose::Generate)).await;
        assert!(outcome.result.unwrap_err().to_string().ends_with("over `farm`: they are empty"));
    }
}
