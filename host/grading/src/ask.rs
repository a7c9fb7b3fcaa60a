//! The answers to a suite's questions, which come from searches or from files of answers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use syrch::report::{
    AnswerDocument, CandidateReport, CandidateStatus, CostReport, JudgedReport, OriginReport,
    SavedReport, Searched, TaskReport, VerdictWord,
};
use syrch::{Callbacks, DatabaseCheck, Error, Host, Outcome, SearchReport, Silent, Stop, batch};
use syrch_core::result_set::digest64;
use syrch_core::{Access, ResultSet};
use syrch_grade::Question;
use syrch_grade::run::{Cost, End, Fault, RunBudgets, UsedUp};
use syrch_journal::{Fact, Journal, Record, Saved, SearchTree, Shown};

use super::arena::Arena;
use super::talks::Talks;

/// The answer of an arm to a question, which is not graded yet.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) end: End,
    pub(crate) fault: Option<Fault>,
    pub(crate) sql: Option<String>,
    /// The rows of the answer; `None` if the statement has to be run for them.
    pub(crate) data: Option<Arc<ResultSet>>,
    pub(crate) confidence: Option<f64>,
    /// The confidence that the calibrator gave to the answer's candidate, before the aggregator
    /// changed it.
    pub(crate) candidate_confidence: Option<f64>,
    /// The statements that a judge of the search judged.
    pub(crate) reviewed: Vec<Reviewed>,
    /// The origin of the answer's statement, where it is known.
    pub(crate) origin: Option<String>,
    /// The use that plugins which are not built in made of their grants.
    pub(crate) access: Vec<Access>,
    pub(crate) cost: Cost,
    pub(crate) time_ms: f64,
    /// The budget of the whole run that ended the search.
    pub(crate) used_up: Option<UsedUp>,
}

/// A source of answers to the questions of a suite.
#[async_trait]
pub(crate) trait Asker: Send + Sync {
    /// The answer of an arm to a question. `journal` is the path of the search's journal: a search
    /// whose journal exists is resumed.
    ///
    /// # Errors
    /// When a database or a plugin cannot be opened, which ends the whole run.
    async fn ask(
        &self,
        arm: usize,
        question: &Question,
        journal: Option<&Path>,
    ) -> Result<Asked, Error>;

    /// Warnings for the reader of the report, once all questions are answered.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Bounds what all answers cost together.
    fn limit_together(&self, _left: &RunBudgets) {}
}

/// Answers questions by search.
pub(crate) struct Searches {
    pub(crate) arena: Arc<Arena>,
    /// The names of the arms, in the order of the arena's.
    pub(crate) arms: Vec<String>,
    /// The searches that could not be resumed, each with the reason.
    pub(crate) restarted: Mutex<Vec<String>>,
    /// The conversations that are asked.
    pub(crate) talks: Talks,
}

#[async_trait]
impl Asker for Searches {
    async fn ask(
        &self,
        arm: usize,
        question: &Question,
        journal: Option<&Path>,
    ) -> Result<Asked, Error> {
        let host = self.arena.host(arm, &question.db).await?;
        if let Some(turn) = &question.conversation {
            let name = self.arms.get(arm).map_or("", String::as_str);
            return Ok(self.talks.ask(name, &host, question, turn, journal).await);
        }
        let mut lost = Cost::default();
        if let Some(path) = journal.filter(|path| path.exists()) {
            match self.resume(&host, &question.id, path).await {
                Ok(asked) => return Ok(asked),
                Err(cost) => lost = cost,
            }
        }
        let name = self.arms.get(arm).map_or("", String::as_str);
        // A search has the same id, and so the same salt, in every run. A run that was killed
        // therefore ends as one that was not.
        let id = run_id(name, &question.id, &host);
        let journal = journal.map(|path| Ok(PathBuf::from(path)));
        let problem = batch::problem(
            &question.question,
            question.evidence.as_deref(),
            question.as_of.as_deref(),
        );
        let searched =
            host.search_as(&id, problem, journal, Arc::new(Silent), None, &Stop::new()).await;
        let asked = answer_from_search(searched);
        Ok(Asked { cost: sum(asked.cost, lost), ..asked })
    }

    fn warnings(&self) -> Vec<String> {
        let restarted = self.restarted.lock().unwrap_or_else(PoisonError::into_inner);
        let reported = (!restarted.is_empty())
            .then(|| restarted.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; "));
        let many = restarted.len();
        reported
            .map(|reported| {
                format!(
                    "searches that could not be resumed and were started again, {many} in \
                     all: {reported}"
                )
            })
            .into_iter()
            .chain(self.arena.cache_failure())
            .collect()
    }

    fn limit_together(&self, left: &RunBudgets) {
        self.arena.limit_together(left);
    }
}

/// The id of the search for a question: the same in every run.
pub(crate) fn run_id(arm: &str, question: &str, host: &Host) -> String {
    format!("{:016x}", digest64(&[arm, question, &host.settings().seed.to_string()]))
}

/// The number of searches that a warning names.
const NAMED: usize = 5;

/// The sum of two costs. Its dollars are known if both sums are known, or if one of the costs has
/// no model call.
fn sum(one: Cost, other: Cost) -> Cost {
    if other == Cost::default() {
        return one;
    }
    fn is_zero(cost: &Cost) -> bool {
        cost.calls == 0 && cost.cached == 0
    }
    Cost {
        calls: one.calls.saturating_add(other.calls),
        cached: one.cached.saturating_add(other.cached),
        input_tokens: one.input_tokens.saturating_add(other.input_tokens),
        output_tokens: one.output_tokens.saturating_add(other.output_tokens),
        usd: match (one.usd, other.usd) {
            (Some(one), Some(other)) => Some(one + other),
            (usd, None) if is_zero(&other) => usd,
            (None, usd) if is_zero(&one) => usd,
            _ => None,
        },
        sql_runs: one.sql_runs.saturating_add(other.sql_runs),
    }
}

impl Searches {
    /// Resumes a search that was killed, or returns its answer if only the grading was lost.
    ///
    /// # Errors
    /// When it cannot be resumed. Its journal is removed, so that the search can start again, and
    /// the error is what it has cost so far.
    async fn resume(&self, host: &Host, id: &str, path: &Path) -> Result<Asked, Cost> {
        let journal = Journal::read(path).ok();
        if let Some(journal) = &journal
            && let Some(asked) = find_result(journal)
        {
            let access = SearchTree::from_journal(journal, Shown::default()).access;
            return Ok(Asked { access, ..asked });
        }
        let callbacks = Callbacks::new(Silent);
        match host.resume_as(path, DatabaseCheck::ByCaller, callbacks, &Stop::new()).await {
            Ok(searched) => Ok(answer_from_search(searched)),
            Err(error) => {
                self.restarted
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(format!("{id}: {error}"));
                // A file that cannot be removed cannot be written either, and that is reported.
                drop(std::fs::remove_file(path));
                Err(journal.as_ref().map(cost_in).unwrap_or_default())
            }
        }
    }
}

pub(crate) fn answer_from_search(Searched { report, cost, access }: Searched) -> Asked {
    let cost = cost_of(&cost);
    let asked = match report {
        Ok(SearchReport { outcome: Outcome::Partial, document, .. }) => partial(&document),
        Ok(SearchReport { outcome, document, data, .. }) => {
            Asked { data, ..answer_from_document(end_of(outcome), document) }
        }
        Err(error) => {
            let fault = Fault { class: error.class().to_owned(), message: error.to_string() };
            let used_up = match error {
                Error::Budget(which) => UsedUp::from_exhausted(which),
                _ => None,
            };
            Asked { used_up, ..without_answer(fault, cost) }
        }
    };
    Asked { access, ..asked }
}

/// The end of a search that no error ended.
fn end_of(outcome: Outcome) -> End {
    match outcome {
        Outcome::Answered => End::Answered,
        Outcome::Partial => End::Failed,
        Outcome::NoAnswer => End::NoAnswer,
        Outcome::ClarificationNeeded => End::Clarify,
    }
}

/// The result of a search that an error ended.
pub(crate) fn without_answer(fault: Fault, cost: Cost) -> Asked {
    let end = if fault.class == "no-answer" { End::NoAnswer } else { End::Failed };
    Asked {
        end,
        fault: Some(fault),
        sql: None,
        data: None,
        confidence: None,
        candidate_confidence: None,
        reviewed: Vec::new(),
        origin: None,
        access: Vec::new(),
        cost,
        time_ms: 0.0,
        used_up: None,
    }
}

/// The result of a search that left parts of the question open, since a budget or its time was
/// over. What it found is no answer.
pub(crate) fn partial(document: &AnswerDocument) -> Asked {
    let message = "a budget was used up before all parts of the question were answered".to_owned();
    let asked =
        without_answer(Fault { class: "budget".to_owned(), message }, cost_of(&document.cost));
    Asked { time_ms: document.time_ms.total, ..asked }
}

/// The answer that a document holds, without its rows.
pub(crate) fn answer_from_document(end: End, document: AnswerDocument) -> Asked {
    let answer =
        document.candidates.iter().find(|candidate| candidate.status == CandidateStatus::Answer);
    Asked {
        end,
        fault: None,
        reviewed: collect_reviewed(&document),
        candidate_confidence: answer.and_then(|candidate| candidate.confidence),
        origin: document.origin.as_ref().map(name_origin),
        access: Vec::new(),
        sql: document.sql,
        data: None,
        confidence: document.confidence.map(|confidence| confidence.calibrated),
        cost: cost_of(&document.cost),
        time_ms: document.time_ms.total,
        used_up: None,
    }
}

fn name_origin(origin: &OriginReport) -> String {
    let name = match origin {
        OriginReport::Metric(_) => "metric",
        OriginReport::Verified { .. } => "verified",
        OriginReport::Generated => "generated",
    };
    name.to_owned()
}

/// The most statements of one question that are compared with the expected rows beside the
/// answer's.
const REVIEWED: usize = 8;

/// A statement that a judge of the search judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reviewed {
    pub(crate) sql: String,
    pub(crate) reward: Option<bool>,
    pub(crate) model: Option<bool>,
    /// True if its rows are those of the answer.
    pub(crate) has_answer: bool,
}

/// The judged statements of the tasks that answer the whole question, each once, the answer's
/// first.
fn collect_reviewed(document: &AnswerDocument) -> Vec<Reviewed> {
    let answer =
        document.candidates.iter().find(|candidate| candidate.status == CandidateStatus::Answer);
    fn is_whole_question(document: &AnswerDocument, task: &TaskReport) -> bool {
        task.is_answer || task.text.trim() == document.question.trim()
    }
    let tasks: Vec<&str> = document
        .tasks
        .iter()
        .filter(|task| is_whole_question(document, task))
        .map(|task| task.id.as_str())
        .collect();
    let mut found: Vec<Reviewed> = Vec::new();
    for candidate in answer.into_iter().chain(document.candidates.iter().filter(
        |candidate: &&CandidateReport| {
            tasks.contains(&candidate.task.as_str())
                || answer.is_some_and(|answer| answer.task == candidate.task)
        },
    )) {
        let reward =
            candidate.reward.as_ref().filter(|reward| !reward.is_step).and_then(|reward| {
                match reward.verdict {
                    VerdictWord::Accepted => Some(true),
                    VerdictWord::Rejected => Some(false),
                    VerdictWord::Unavailable => None,
                }
            });
        let model = candidate.judged.and_then(JudgedReport::word);
        let is_new = found.iter().all(|known| known.sql != candidate.sql);
        if is_new && (reward.is_some() || model.is_some()) {
            let has_answer = answer.is_some_and(|answer| {
                answer.id == candidate.id
                    || (answer.task == candidate.task
                        && answer.cluster.is_some()
                        && answer.cluster == candidate.cluster)
            });
            found.push(Reviewed { sql: candidate.sql.clone(), reward, model, has_answer });
        }
    }
    let mut others = 0;
    found.retain(|one| {
        others += usize::from(!one.has_answer);
        one.has_answer || others <= REVIEWED
    });
    found
}

/// The result of a search whose journal is complete; `None` if the journal is not, or does not
/// contain it.
fn find_result(journal: &Journal) -> Option<Asked> {
    let facts = journal.records.iter().rev();
    facts.into_iter().find_map(|record| match record {
        Record::Fact { fact: Fact::Answer { document, outcome, .. }, .. } => {
            let document: AnswerDocument = serde_json::from_value(document.clone()).ok()?;
            let outcome: Outcome = serde_json::from_value(outcome.as_str().into()).ok()?;
            Some(match outcome {
                Outcome::Partial => partial(&document),
                outcome => answer_from_document(end_of(outcome), document),
            })
        }
        // A failure without a class, as old journals have them, and one that only ended that
        // process are tried again.
        Record::Fact { fact: Fact::Failed { message, class }, .. }
            if !class.is_empty() && class != "interrupted" =>
        {
            Some(without_answer(
                Fault { class: class.clone(), message: message.clone() },
                cost_in(journal),
            ))
        }
        _ => None,
    })
}

fn cost_of(cost: &CostReport) -> Cost {
    // Which of two searches pays for a call that they share is chance. Therefore both are charged.
    Cost {
        calls: cost.calls,
        cached: cost.count_cache_hits(),
        input_tokens: cost.input_tokens + cost.saved.input_tokens,
        output_tokens: cost.output_tokens + cost.saved.output_tokens,
        usd: cost.usd_of_all(),
        sql_runs: cost.sql_runs,
    }
}

/// The cost of a search so far, from its journal.
pub(crate) fn cost_in(journal: &Journal) -> Cost {
    let cost = SearchTree::from_journal(journal, Shown::default()).cost;
    let syrch_journal::Cost {
        calls,
        input_tokens,
        output_tokens,
        usd,
        sql_runs,
        by_purpose,
        saved,
        ..
    } = cost;
    let Saved { input_tokens: saved_input, output_tokens: saved_output, usd: saved_usd } = saved;
    let saved =
        SavedReport { input_tokens: saved_input, output_tokens: saved_output, usd: saved_usd };
    cost_of(&CostReport {
        calls,
        input_tokens,
        output_tokens,
        usd,
        sql_runs,
        by_purpose,
        saved,
        cut_off: 0,
    })
}

#[cfg(test)]
mod tests;
