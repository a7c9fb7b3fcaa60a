//! How a question of a suite gets its answer: by a search, or from answers that were given before.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use syrch_core::result_set::digest64;
use syrch_core::{Problem, ResultSet};
use syrch_grade::Question;
use syrch_grade::run::{Cost, End, Fault};
use syrch_journal::{Fact, Journal, Record, Saved, SearchTree, Shown};
use syrch_scheduler::Stop;

use super::arena::Arena;
use crate::host::Searched;
use crate::{
    AnswerDocument, CandidateStatus, CostReport, Error, Host, Observer, Outcome, SavedReport, SearchReport, Silent,
};

/// An answer that is not graded yet.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) end: End,
    pub(crate) fault: Option<Fault>,
    pub(crate) sql: Option<String>,
    /// Its rows; none: the statement has to be run for them.
    pub(crate) data: Option<Arc<ResultSet>>,
    pub(crate) confidence: Option<f64>,
    /// What the calibrator made of the answer's candidate, before the aggregator had its say.
    pub(crate) candidate_confidence: Option<f64>,
    pub(crate) cost: Cost,
    pub(crate) time_ms: f64,
}

/// Who answers the questions of a suite.
#[async_trait]
pub(crate) trait Asker: Send + Sync {
    /// The answer of an arm to a question. `journal` is where the search is noted, and whence it goes on.
    ///
    /// # Errors
    /// What ends the whole run: a database or a plugin that cannot be opened.
    async fn ask(&self, arm: usize, question: &Question, journal: Option<&Path>) -> Result<Asked, Error>;

    /// What the reader should know afterwards.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Answers by searching.
pub(crate) struct Searches {
    pub(crate) arena: Arc<Arena>,
    /// The names of the arms.
    pub(crate) arms: Vec<String>,
    /// Searches that could not go on, and why.
    pub(crate) begun_anew: Mutex<Vec<String>>,
}

#[async_trait]
impl Asker for Searches {
    async fn ask(&self, arm: usize, question: &Question, journal: Option<&Path>) -> Result<Asked, Error> {
        let host = self.arena.host(arm, &question.db).await?;
        let mut lost = Cost::default();
        if let Some(path) = journal.filter(|path| path.exists()) {
            match self.go_on(&host, &question.id, path).await {
                Ok(asked) => return Ok(asked),
                Err(cost) => lost = cost,
            }
        }
        let name = self.arms.get(arm).map_or("", String::as_str);
        // The same search has the same id in every run, and so the same salt: a run that was killed ends like one that was not.
        let id = format!("{:016x}", digest64(&[name, &question.id, &host.settings.seed.to_string()]));
        let journal = journal.map(|path| Ok(PathBuf::from(path)));
        let problem = problem(&question.question, question.evidence.as_deref(), question.as_of.as_deref());
        let searched = host.search_as(&id, problem, journal, Arc::new(Silent), None, &Stop::new()).await;
        let asked = asked(searched);
        Ok(Asked { cost: sum(asked.cost, lost), ..asked })
    }

    fn warnings(&self) -> Vec<String> {
        let anew = self.begun_anew.lock().unwrap_or_else(PoisonError::into_inner);
        let told = (!anew.is_empty()).then(|| anew.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; "));
        let many = anew.len();
        told.map(|told| format!("searches that could not go on and were begun anew, {many} in all: {told}"))
            .into_iter()
            .collect()
    }
}

/// Searches that a warning names.
const NAMED: usize = 5;

/// Two costs together; money is known when both are, or one is of nothing.
fn sum(one: Cost, other: Cost) -> Cost {
    if other == Cost::default() {
        return one;
    }
    let is_nothing = |cost: &Cost| cost.calls == 0 && cost.cached == 0;
    Cost {
        calls: one.calls.saturating_add(other.calls),
        cached: one.cached.saturating_add(other.cached),
        input_tokens: one.input_tokens.saturating_add(other.input_tokens),
        output_tokens: one.output_tokens.saturating_add(other.output_tokens),
        usd: match (one.usd, other.usd) {
            (Some(one), Some(other)) => Some(one + other),
            (usd, None) if is_nothing(&other) => usd,
            (None, usd) if is_nothing(&one) => usd,
            _ => None,
        },
        sql_runs: one.sql_runs.saturating_add(other.sql_runs),
    }
}

impl Searches {
    /// Goes on with a search that was killed, or takes its answer when only the grading was lost. An error is what it cost so far: the search
    /// starts anew, without the journal.
    async fn go_on(&self, host: &Host, id: &str, path: &Path) -> Result<Asked, Cost> {
        let journal = Journal::read(path).ok();
        if let Some(asked) = journal.as_ref().and_then(ended) {
            return Ok(asked);
        }
        let outside = (Arc::new(Silent) as Arc<dyn Observer>, None);
        match host.resume_as(path, None, outside, &Stop::new()).await {
            Ok(searched) => Ok(asked(searched)),
            Err(error) => {
                self.begun_anew.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{id}: {error}"));
                // What cannot be removed cannot be written either, and is told then.
                drop(std::fs::remove_file(path));
                Err(journal.as_ref().map(cost_in).unwrap_or_default())
            }
        }
    }
}

/// What a role is told of a question: nothing of what is expected.
pub(crate) fn problem(question: &str, evidence: Option<&str>, as_of: Option<&str>) -> Problem {
    let today = as_of.map(|day| format!("Today is {day}."));
    let told: Vec<String> = evidence.map(str::to_owned).into_iter().chain(today).collect();
    let evidence = (!told.is_empty()).then(|| told.join("\n"));
    Problem { evidence, ..Problem::new(question) }
}

fn asked(Searched { report, cost }: Searched) -> Asked {
    let cost = cost_of(&cost);
    match report {
        Ok(SearchReport { outcome, document, data, .. }) => Asked { data, ..of_document(end_of(outcome), document) },
        Err(error) => {
            let fault = Fault { class: error.class().to_owned(), message: error.to_string() };
            without_answer(fault, cost)
        }
    }
}

/// How a search that ended without an error ended.
fn end_of(outcome: Outcome) -> End {
    match outcome {
        Outcome::Answered => End::Answered,
        Outcome::NoAnswer => End::NoAnswer,
        Outcome::ClarificationNeeded => End::Clarify,
    }
}

/// The end of a search that no answer came of.
pub(crate) fn without_answer(fault: Fault, cost: Cost) -> Asked {
    let end = if fault.class == "no-answer" { End::NoAnswer } else { End::Failed };
    Asked {
        end,
        fault: Some(fault),
        sql: None,
        data: None,
        confidence: None,
        candidate_confidence: None,
        cost,
        time_ms: 0.0,
    }
}

/// The answer that a document holds, without its rows.
pub(crate) fn of_document(end: End, document: AnswerDocument) -> Asked {
    let answer = document.candidates.iter().find(|candidate| candidate.status == CandidateStatus::Answer);
    Asked {
        end,
        fault: None,
        candidate_confidence: answer.and_then(|candidate| candidate.confidence),
        sql: document.sql,
        data: None,
        confidence: document.confidence.map(|confidence| confidence.calibrated),
        cost: cost_of(&document.cost),
        time_ms: document.time_ms.total,
    }
}

/// How a search ended whose journal is whole.
fn ended(journal: &Journal) -> Option<Asked> {
    let facts = journal.records.iter().rev();
    facts.into_iter().find_map(|record| match record {
        Record::Fact { fact: Fact::Answer { document, outcome, .. }, .. } => {
            let document: AnswerDocument = serde_json::from_value(document.clone()).ok()?;
            let outcome: Outcome = serde_json::from_value(outcome.as_str().into()).ok()?;
            Some(of_document(end_of(outcome), document))
        }
        // What a journal does not tell (an old one), and what only ended that process, is tried again.
        Record::Fact { fact: Fact::Failed { message, class }, .. } if !class.is_empty() && class != "interrupted" => {
            Some(without_answer(Fault { class: class.clone(), message: message.clone() }, cost_in(journal)))
        }
        _ => None,
    })
}

fn cost_of(cost: &CostReport) -> Cost {
    // Which of two searches pays for a call that they share is chance, so both are charged.
    Cost {
        calls: cost.calls,
        cached: cost.cached(),
        input_tokens: cost.input_tokens + cost.saved.input_tokens,
        output_tokens: cost.output_tokens + cost.saved.output_tokens,
        usd: cost.usd_of_all(),
        sql_runs: cost.sql_runs,
    }
}

/// What the search of a journal cost.
fn cost_in(journal: &Journal) -> Cost {
    let cost = SearchTree::of(journal, Shown::default()).cost;
    let syrch_journal::Cost { calls, input_tokens, output_tokens, usd, sql_runs, by_purpose, saved, .. } = cost;
    let Saved { input_tokens: saved_input, output_tokens: saved_output, usd: saved_usd } = saved;
    let saved = SavedReport { input_tokens: saved_input, output_tokens: saved_output, usd: saved_usd };
    cost_of(&CostReport { calls, input_tokens, output_tokens, usd, sql_runs, by_purpose, saved })
}

#[cfg(test)]
mod tests;
