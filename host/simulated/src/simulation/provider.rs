//! The provider: finds the question of a call, draws an answer, and writes the reply.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::Limits;
use syrch_core::ports::{
    Database, Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Purpose, Request, Retry,
    Shape, Usage,
};
use syrch_replies::shape;
use syrch_replies::written::{Written, plan_of_one, statement};
use tokio::sync::OnceCell;

use super::chance::Chance;
use super::difficulty::ease;
use super::draw::{Drawn, claim, draw, source};
use super::judge::{choice, judge_statement, verdict};
use super::knobs::SimulatedKnobs;
use super::menu::{Menu, Menus, menus, run};
use super::suite::{SimulatedQuestion, SimulatedSuite};
use super::wire::{RateLimited, latency, tokens};
use crate::known::{is_whole, miss_message};

/// The provider's name, and the name of its only model.
const NAME: &str = "simulated";

/// The settings of a [`SimulatedProvider`].
#[derive(Debug, Clone, Default)]
pub struct SimulatedConfig {
    /// The seed of all draws.
    pub seed: u64,
    /// The skill, confidence and timing of the model.
    pub knobs: SimulatedKnobs,
    /// The bounds of reply documents.
    pub limits: Limits,
}

/// A provider that answers the questions of a suite over one database, rightly or not.
///
/// It serves `generate`, `repair` and `rewrite` with statements, `judge` and `select` with verdicts
/// on the statements that the request is about, and `plan` with one task. Other purposes, and tasks
/// that are only a part of the question, are unsupported; a question that the suite lacks is
/// [`LlmError::Missed`]. The question is found by its text, and by the database's name (the file's
/// stem) if several databases have it. The provider's own statements run on the database under its
/// guard and are charged to no budget.
pub struct SimulatedProvider {
    suite: Arc<SimulatedSuite>,
    database: Arc<dyn Database>,
    config: SimulatedConfig,
    /// The state of the database and the limits of its results, which identify the suite's menus;
    /// `None` if the state is unknown.
    state: OnceCell<Option<String>>,
    /// The menus if the state is unknown.
    own: Menus,
    rate_limited: RateLimited,
}

impl fmt::Debug for SimulatedProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedProvider")
            .field("suite", &self.suite)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl SimulatedProvider {
    /// A provider that answers the questions of that suite over that database.
    #[must_use]
    pub fn new(
        suite: Arc<SimulatedSuite>,
        database: Arc<dyn Database>,
        config: SimulatedConfig,
    ) -> Self {
        let state = OnceCell::new();
        let own = menus();
        Self { suite, database, config, state, own, rate_limited: RateLimited::default() }
    }

    /// The place of a call's question.
    fn place(&self, call: &ModelCall) -> Option<usize> {
        self.suite.find(&call.problem.question, &call.catalog.database)
    }

    /// The reason why a call's question is not found, with the nearest of all questions.
    fn miss_error(&self, call: &ModelCall) -> LlmError {
        let question = &call.problem.question;
        let database = &call.catalog.database;
        LlmError::Missed(miss_message(
            "the simulated answers",
            self.suite.questions(),
            question,
            database,
        ))
    }

    async fn menu(
        &self,
        place: usize,
        question: &SimulatedQuestion,
        own: &Chance,
    ) -> Result<Arc<Menu>, LlmError> {
        let (menus, state) = match self
            .state
            .get_or_init(|| async {
                let identity = self.database.identity().await?;
                Some(format!("{identity} {:?}", self.config.limits))
            })
            .await
        {
            Some(state) => (self.suite.menus(), state.as_str()),
            None => (&self.own, ""),
        };
        menus
            .get(&(place, state.to_owned()), || Menu::make(question, self.database.as_ref(), own))
            .await
    }

    async fn reply(
        &self,
        call: &ModelCall,
        question: &SimulatedQuestion,
        place: usize,
        source: &Chance,
    ) -> Result<Written, LlmError> {
        let own = question_chance(question);
        let menu = self.menu(place, question, &own).await?;
        match call.request.purpose {
            Purpose::Judge | Purpose::Select => {
                self.verdict(call, &menu, question.ordered, source).await
            }
            _ => self.statement(call, &menu, ease(&own, menu.features), source),
        }
    }

    fn statement(
        &self,
        call: &ModelCall,
        menu: &Menu,
        ease: f64,
        source: &Chance,
    ) -> Result<Written, LlmError> {
        let knobs = &self.config.knobs;
        let request = &call.request;
        let right = menu.right.iter().find(|right| right.is_shown(&call.catalog));
        let drawn = draw(knobs, ease, source, request, right.is_some(), menu.wrong.len());
        let sql = match drawn {
            Drawn::Right => right.map(|right| &right.sql),
            Drawn::Wrong(place) => place.and_then(|place| menu.wrong.get(place)),
        };
        statement(
            sql.ok_or_else(|| {
                LlmError::Refused(
                    "nothing in this database could be taken for an answer".to_owned(),
                )
            })?,
            Some(claim(knobs, ease, source)),
            &request.expect,
            &self.config.limits,
        )
    }

    async fn verdict(
        &self,
        call: &ModelCall,
        menu: &Menu,
        ordered: bool,
        source: &Chance,
    ) -> Result<Written, LlmError> {
        let mut all = Vec::new();
        for (number, sql) in call.request.subjects.iter().enumerate().take(2) {
            let came = run(sql, ordered, self.database.as_ref()).await?;
            let is_right = came.is_ok_and(|came| menu.is_right(&came.same));
            all.push(judge_statement(&self.config.knobs, source, number, is_right));
        }
        match (&call.request.purpose, all.as_slice()) {
            (Purpose::Select, [first, second]) => {
                choice(*first, *second, source, &call.request.expect)
            }
            (Purpose::Judge, [one]) => verdict(*one, &call.request.expect, &self.config.limits),
            _ => Err(LlmError::Unsupported(
                "the simulated model judges one statement, and chooses between two".to_owned(),
            )),
        }
    }

    fn usage(&self, source: &Chance) -> Usage {
        let (input_tokens, output_tokens) = tokens(&self.config.knobs, source);
        Usage { input_tokens, output_tokens, model: NAME.to_owned(), ..Usage::default() }
    }

    fn source(&self, question: &SimulatedQuestion, request: &Request) -> Chance {
        source(self.config.seed, &key(question), request)
    }
}

/// The key of a question, unique over all suites.
fn key(question: &SimulatedQuestion) -> String {
    format!("{}/{}/{}", question.db, question.id, question.question)
}

/// The source of the draws that all samples of a question share.
fn question_chance(question: &SimulatedQuestion) -> Chance {
    Chance::from_parts([key(question).as_bytes()])
}

/// Checks whether the model can serve the call at all.
fn check(call: &ModelCall) -> Result<(), LlmError> {
    let unsupported = |why: String| Err(LlmError::Unsupported(why));
    match &call.request.purpose {
        Purpose::Generate
        | Purpose::Repair
        | Purpose::Rewrite
        | Purpose::Judge
        | Purpose::Select
            if is_whole(call) =>
        {
            Ok(())
        }
        Purpose::Generate
        | Purpose::Repair
        | Purpose::Rewrite
        | Purpose::Judge
        | Purpose::Select => {
            unsupported("the simulated model answers whole questions, not parts of them".to_owned())
        }
        other => unsupported(format!(
            "the simulated model cannot serve the purpose `{}` in this shape",
            other.name()
        )),
    }
}

/// The plan of one task, if the call asks for a plan.
fn plan(call: &ModelCall) -> Option<Written> {
    match (&call.request.purpose, &call.request.expect) {
        (Purpose::Plan, Shape::Json(schema)) => plan_of_one(&call.problem.question, schema),
        _ => None,
    }
}

#[async_trait]
impl ModelProvider for SimulatedProvider {
    fn name(&self) -> &str {
        NAME
    }

    fn models(&self) -> Vec<String> {
        vec![NAME.to_owned()]
    }

    /// Exactly what the call will use.
    fn estimate(&self, call: &ModelCall) -> Estimate {
        let Some(place) = self.place(call) else { return Estimate::default() };
        let Some(question) = self.suite.questions().get(place) else { return Estimate::default() };
        let usage = self.usage(&self.source(question, &call.request));
        Estimate {
            input_tokens: usage.input_tokens.into(),
            output_tokens: usage.output_tokens.into(),
            cost_micros: None,
        }
    }

    /// Calls for other questions and calls over the rate limit are not charged.
    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        if let Err(error) = shape::prepare(&call.request.expect, &self.config.limits).await {
            return ModelOutcome::unsent(error);
        }
        let plan = plan(call);
        if let (None, Err(error)) = (&plan, check(call)) {
            return ModelOutcome::unsent(error);
        }
        let Some(place) = self.place(call) else {
            return ModelOutcome::unsent(self.miss_error(call));
        };
        let Some(question) = self.suite.questions().get(place) else {
            return ModelOutcome::unsent(LlmError::Other("the suite has changed".to_owned()));
        };
        let source = self.source(question, &call.request);
        if let Some(wait) = self.rate_limited.delay(&self.config.knobs, &source) {
            let error = LlmError::Unavailable("simulated: 429 Too Many Requests".to_owned());
            return ModelOutcome::sent(Err(error), None).retry(Retry::After(wait));
        }
        let time = latency(&self.config.knobs, &source);
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
        let usage = self.usage(&source);
        let written = match plan {
            Some(plan) => Ok(plan),
            None => self.reply(call, question, place, &source).await,
        };
        match written.map(|written| written.reply(usage.clone())) {
            Err(error @ LlmError::Unsupported(_)) => ModelOutcome::unsent(error),
            result => ModelOutcome::sent(result, Some(usage)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use syrch_core::Problem;
    use syrch_core::ports::{Message, Speaker};

    use super::super::fixture::{Scripted, library};
    use super::*;

    const QUESTION: &str = "Which books have more than 300 pages?";

    fn suite() -> Arc<SimulatedSuite> {
        let golds = vec!["SELECT title FROM book WHERE pages > 300".to_owned()];
        let id = "q1".to_owned();
        let db = "library".to_owned();
        Arc::new(SimulatedSuite::new(vec![SimulatedQuestion {
            id,
            db,
            question: QUESTION.to_owned(),
            golds,
            ordered: false,
        }]))
    }

    fn call() -> ModelCall {
        let request = Request::new(
            Purpose::Generate,
            vec![Message { speaker: Speaker::User, text: "Write SQL.".to_owned() }],
            Shape::Sql,
        );
        ModelCall {
            request,
            problem: Arc::new(Problem::new(QUESTION)),
            task: None,
            catalog: Arc::new(library()),
        }
    }

    /// Returns the number of statements that ran for the answers under several seeds and knobs.
    async fn runs(identity: Option<&str>) -> Vec<usize> {
        let suite = suite();
        let mut database = Scripted::new(|_| Ok(Duration::ZERO));
        database.identity = identity.map(str::to_owned);
        let database = Arc::new(database);
        let mut runs = Vec::new();
        for seed in 0..3 {
            let knobs = SimulatedKnobs { skill: seed as f64, ..SimulatedKnobs::default() };
            let config = SimulatedConfig { seed, knobs, ..SimulatedConfig::default() };
            let provider =
                SimulatedProvider::new(Arc::clone(&suite), Arc::clone(&database) as _, config);
            provider.complete(&call()).await.result.unwrap();
            runs.push(database.runs());
        }
        runs
    }

    #[tokio::test]
    async fn a_menu_is_made_once_whatever_the_seed_and_the_settings() {
        let known = runs(Some("as it was")).await;
        assert!(known[0] > 0 && known[2] == known[0], "{known:?}");
        // Without a known state of the database, each model makes its own menus.
        let unknown = runs(None).await;
        assert_eq!(unknown[2], 3 * known[0]);
    }
}
