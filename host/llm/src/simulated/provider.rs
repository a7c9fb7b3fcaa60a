//! The provider: finds the question of a call, draws, and writes the reply.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use syrch_core::Limits;
use syrch_core::ports::{
    Database, Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Preview, Purpose, Request, Retry, Shape,
    Usage,
};
use tokio::sync::OnceCell;

use super::chance::Chance;
use super::difficulty::ease;
use super::draw::{Drawn, claim, draw, source};
use super::judge::{choice, judged, verdict};
use super::knobs::SimulatedKnobs;
use super::menu::{Menu, run};
use super::same::digest;
use super::suite::{SimulatedQuestion, SimulatedSuite};
use super::wire::{Turned, latency, tokens};
use crate::asked::{is_whole, missed};
use crate::written::{Written, plan_of_one, statement};

/// The provider's name, and the name of its only model.
const NAME: &str = "simulated";
/// Menus that are kept; of more, those of the questions that stand first in the suite are made again.
const KEPT: usize = 2_048;

/// What the provider must know beside the suite.
#[derive(Debug, Clone, Default)]
pub struct SimulatedConfig {
    /// Where everything random starts.
    pub seed: u64,
    /// The knobs.
    pub knobs: SimulatedKnobs,
    /// The bounds of documents.
    pub limits: Limits,
}

/// A provider that answers the questions of a suite over one database, rightly or not.
///
/// It serves `generate`, `repair` and `rewrite` with statements, `judge` and `select` with verdicts on the statements that the request is
/// about, and `plan` with one task. Other purposes, and tasks that are only a part of the question, are unsupported; a question that the
/// suite lacks is [`LlmError::Missed`]. The question is found by the problem's words, and by the database's name (the file's stem) where
/// several databases share them. Statements of its own run on the database under its guard and are charged to nobody.
pub struct SimulatedProvider {
    suite: Arc<SimulatedSuite>,
    database: Arc<dyn Database>,
    config: SimulatedConfig,
    menus: Mutex<BTreeMap<usize, Arc<OnceCell<Menu>>>>,
    turned: Turned,
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
    pub fn new(suite: Arc<SimulatedSuite>, database: Arc<dyn Database>, config: SimulatedConfig) -> Self {
        Self { suite, database, config, menus: Mutex::default(), turned: Turned::default() }
    }

    /// The place of a call's question.
    fn place(&self, call: &ModelCall) -> Result<usize, LlmError> {
        let (question, database) = (&call.problem.question, &call.catalog.database);
        let missing = || missed("the simulated answers", self.suite.questions(), question, database);
        self.suite.find(question, database).ok_or_else(|| LlmError::Missed(missing()))
    }

    fn cell(&self, place: usize) -> Arc<OnceCell<Menu>> {
        let mut menus = self.menus.lock().unwrap_or_else(PoisonError::into_inner);
        if menus.len() >= KEPT && !menus.contains_key(&place) {
            menus.pop_first();
        }
        Arc::clone(menus.entry(place).or_default())
    }

    async fn reply(
        &self,
        call: &ModelCall,
        question: &SimulatedQuestion,
        place: usize,
        source: &Chance,
    ) -> Result<Written, LlmError> {
        let cell = self.cell(place);
        let own = of_question(question);
        let menu = cell.get_or_try_init(|| Menu::make(question, self.database.as_ref(), &own)).await?;
        match call.request.purpose {
            Purpose::Judge | Purpose::Select => self.verdict(call, menu, question.ordered, source).await,
            _ => self.statement(call, menu, ease(&own, menu.features), source),
        }
    }

    fn statement(&self, call: &ModelCall, menu: &Menu, ease: f64, source: &Chance) -> Result<Written, LlmError> {
        let (knobs, request) = (&self.config.knobs, &call.request);
        let right = menu.right.iter().find(|right| right.is_shown(&call.catalog));
        let drawn = draw(knobs, ease, source, request, right.is_some(), menu.wrong.len());
        let sql = match drawn {
            Drawn::Right => right.map(|right| &right.sql),
            Drawn::Wrong(place) => place.and_then(|place| menu.wrong.get(place)),
        };
        let none = || LlmError::Refused("nothing in this database could be taken for an answer".to_owned());
        statement(sql.ok_or_else(none)?, Some(claim(knobs, ease, source)), &request.expect, &self.config.limits)
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
            let within = Some(self.config.limits.sql_deadline);
            let result = run(sql, within, self.database.as_ref()).await?;
            let is_right = result.is_ok_and(|result| menu.is_right(&digest(&result, ordered)));
            all.push(judged(&self.config.knobs, source, number, is_right));
        }
        match (&call.request.purpose, all.as_slice()) {
            (Purpose::Select, [first, second]) => choice(*first, *second, source, &call.request.expect),
            (Purpose::Judge, [one]) => verdict(*one, &call.request.expect, &self.config.limits),
            _ => Err(LlmError::Unsupported(
                "the simulated model judges one statement, and chooses between two".to_owned(),
            )),
        }
    }

    fn usage(&self, source: &Chance) -> Usage {
        let (input_tokens, output_tokens) = tokens(&self.config.knobs, source);
        Usage { input_tokens, output_tokens, cost_micros: None, model: NAME.to_owned() }
    }

    fn source(&self, question: &SimulatedQuestion, request: &Request) -> Chance {
        source(self.config.seed, &key(question), request)
    }
}

/// What tells a question from all others, in this suite and in others.
fn key(question: &SimulatedQuestion) -> String {
    format!("{}/{}/{}", question.db, question.id, question.question)
}

/// The source of what all samples of a question share.
fn of_question(question: &SimulatedQuestion) -> Chance {
    Chance::of([key(question).as_bytes()])
}

/// Whether the model can serve the call at all.
fn check(call: &ModelCall) -> Result<(), LlmError> {
    let unsupported = |why: String| Err(LlmError::Unsupported(why));
    match &call.request.purpose {
        Purpose::Generate | Purpose::Repair | Purpose::Rewrite | Purpose::Judge | Purpose::Select if is_whole(call) => {
            Ok(())
        }
        Purpose::Generate | Purpose::Repair | Purpose::Rewrite | Purpose::Judge | Purpose::Select => {
            unsupported("the simulated model answers whole questions, not parts of them".to_owned())
        }
        other => unsupported(format!("the simulated model cannot serve the purpose `{}` in this shape", other.name())),
    }
}

/// The plan of one task, should the call ask for one.
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

    /// It is as quick as a cache.
    fn identity(&self, _: &ModelCall) -> Option<String> {
        None
    }

    /// What the call will use, to the token.
    fn estimate(&self, call: &ModelCall) -> Estimate {
        let Ok(place) = self.place(call) else { return Estimate::default() };
        let Some(question) = self.suite.questions().get(place) else { return Estimate::default() };
        let usage = self.usage(&self.source(question, &call.request));
        Estimate {
            input_tokens: usage.input_tokens.into(),
            output_tokens: usage.output_tokens.into(),
            cost_micros: None,
        }
    }

    fn preview(&self, _: &ModelCall) -> Option<Preview> {
        None
    }

    /// What the suite does not hold is not charged, nor is what is turned away.
    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        let plan = plan(call);
        if let (None, Err(error)) = (&plan, check(call)) {
            return ModelOutcome::unsent(error);
        }
        let place = match self.place(call) {
            Ok(place) => place,
            Err(error) => return ModelOutcome::unsent(error),
        };
        let Some(question) = self.suite.questions().get(place) else {
            return ModelOutcome::unsent(LlmError::Other("the suite has changed".to_owned()));
        };
        let source = self.source(question, &call.request);
        if let Some(wait) = self.turned.away(&self.config.knobs, &source) {
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
