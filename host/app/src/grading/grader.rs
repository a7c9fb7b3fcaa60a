//! Asks, runs what was answered, compares it with what is expected, and writes the line of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use syrch_core::ports::Query;
use syrch_core::{ResultSet, SqlError};
use syrch_grade::rules::{Rule, judge_all, soft_f1_any};
use syrch_grade::run::{Answered, Answerer, Cost, End, Fault, Graded, Item, Judged, item_journal};
use syrch_grade::suite::Gold;
use syrch_grade::{Question, Verdict};

use super::arena::Arena;
use super::ask::{Asked, Asker};
use super::expected::Expected;
use super::fuzz::Fuzzed;
use crate::Error;
use crate::kept::Kept;

/// Where journals are kept, in the folder of the run.
pub(crate) const TRACES: &str = "traces";
/// The name of the verdict on the fuzzed suite, beside those of the rules.
const FUZZED: &str = "fuzzed";
/// Expected answers that are kept while the arms are asked for the same question.
const KEPT: usize = 256;
/// Bytes of them.
const KEPT_BYTES: usize = 128 << 20;

/// What is kept of the searches of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Traces {
    /// Nothing.
    None,
    /// The journals of those that were not right.
    #[default]
    Wrong,
    /// All journals.
    All,
}

/// Grades what an [`Asker`] answers.
pub(crate) struct Grader {
    pub(crate) asker: Box<dyn Asker>,
    /// Why questions cannot be graded, by id: they are not asked.
    pub(crate) ungradable: Arc<BTreeMap<String, String>>,
    pub(crate) arena: Arc<Arena>,
    /// The folder of the run.
    pub(crate) folder: PathBuf,
    /// The rule by which it is decided whether a journal is kept.
    pub(crate) rule: Rule,
    /// On whose databases right answers are tried again.
    pub(crate) fuzzed: Option<Fuzzed>,
    pub(crate) traces: Traces,
    /// Whether searches are noted while they go on; else those under way start anew when the run was killed.
    pub(crate) is_noted: bool,
    pub(crate) expected: Kept<String, Expected>,
}

impl Grader {
    pub(crate) fn kept() -> Kept<String, Expected> {
        Kept::within(KEPT, KEPT_BYTES, Expected::bytes)
    }

    async fn graded(&self, item: &Item) -> Result<Graded, Error> {
        let question = &item.question;
        if let Some(why) = self.ungradable.get(&question.id) {
            return Ok(Graded { gold_fault: Some(why.clone()), ..unanswered(item) });
        }
        let journal = item_journal(&self.folder, &item.arm_name, &question.id);
        let begun = Instant::now();
        let asked = self.asker.ask(item.arm, question, self.is_noted.then_some(&*journal)).await?;
        let time_ms = if asked.time_ms > 0.0 { asked.time_ms } else { begun.elapsed().as_secs_f64() * 1e3 };
        let database = self.arena.database(&question.db).await?;
        let expected = self.expected.get(&question.id, || Expected::of(question, &database)).await;
        let Asked { mut end, mut fault, sql, data, confidence, candidate_confidence, cost, .. } = asked;
        let expected = match expected {
            Ok(expected) => expected,
            Err(error) => {
                // Why there is no answer is told before why there is no verdict.
                let fault = fault.filter(|_| end == End::Failed);
                let graded = self.unjudged(Graded { fault, sql, cost, time_ms, ..unanswered(item) }, error);
                return Ok(self.settled(graded, &journal));
            }
        };
        let results = match (data, &sql) {
            (None, Some(sql)) if end == End::Answered => match database.run(&Query::new(sql)).await {
                Ok(results) => Some(Arc::new(results)),
                Err(error) => {
                    (end, fault) = (End::Failed, Some(fault_of(Error::Sql(error))));
                    None
                }
            },
            (data, _) => data,
        };
        let results = results.filter(|_| end == End::Answered);
        let mut graded = Graded {
            end,
            fault,
            sql,
            gold_fault: expected.fault.clone(),
            rows: results.as_ref().map(|results| results.row_count()),
            gold_rows: expected.golds.first().map(|(gold, _)| gold.row_count()),
            confidence,
            candidate_confidence,
            cost,
            time_ms,
            ..unanswered(item)
        };
        if expected.fault.is_none() {
            judge(&mut graded, expected, results).await?;
            match self.on_variants(&graded, question).await {
                Ok(verdict) => {
                    let judged = verdict.map(|verdict| Judged { verdict, fingerprint: None });
                    graded.verdicts.extend(judged.map(|judged| (FUZZED.to_owned(), judged)));
                }
                Err(Error::Sql(error)) => graded = self.unjudged(graded, error),
                Err(error) => return Err(error),
            }
        }
        Ok(self.settled(graded, &journal))
    }

    /// Tries a right answer on the databases of the fuzzed suite. Its verdict tells what it came to: right there is what is right under the
    /// run's rule on every one of them. None: there is no fuzzed suite.
    async fn on_variants(&self, graded: &Graded, question: &Question) -> Result<Option<Verdict>, Error> {
        let (Some(fuzzed), Some(verdict)) = (&self.fuzzed, graded.verdict(self.rule.name())) else { return Ok(None) };
        let golds = question.statements();
        let (Verdict::Right, Some(sql), false) = (verdict, &graded.sql, golds.is_empty()) else {
            return Ok(Some(verdict));
        };
        let agreed = fuzzed.agree(&question.db, &golds, sql, self.rule, question.ordered).await?;
        Ok(Some(if agreed.is_right() { Verdict::Right } else { Verdict::Wrong }))
    }

    /// The line of an answer that nobody can judge now: it failed, and is wrong until it is tried again.
    fn unjudged(&self, graded: Graded, error: SqlError) -> Graded {
        let rules = Rule::all().iter().map(|rule| rule.name()).chain(self.fuzzed.as_ref().map(|_| FUZZED));
        let wrong = Judged { verdict: Verdict::Wrong, fingerprint: None };
        let verdicts = rules.map(|rule| (rule.to_owned(), wrong.clone())).collect();
        let Fault { class, message } = fault_of(Error::Sql(error));
        let unjudged = || Fault { class, message: format!("the answer cannot be judged now: {message}") };
        let fault = Some(graded.fault.clone().unwrap_or_else(unjudged));
        // Nothing is learned from it either.
        let (confidence, candidate_confidence) = (None, None);
        let (soft_f1, rows, gold_rows) = (None, None, None);
        let end = End::Failed;
        Graded { end, fault, verdicts, confidence, candidate_confidence, soft_f1, rows, gold_rows, ..graded }
    }

    /// The same, with the name of its journal where one is kept.
    fn settled(&self, graded: Graded, journal: &Path) -> Graded {
        Graded { run: self.settle(&graded, journal), ..graded }
    }

    /// Keeps the journal of a search that is graded, or not; its name in the run's folder. The engine removes the item's own once the line is
    /// written, so that nothing is lost in between.
    fn settle(&self, graded: &Graded, journal: &Path) -> Option<String> {
        let is_right = graded.verdict(self.rule.name()).is_some_and(Verdict::is_right);
        let is_kept = match self.traces {
            Traces::None => false,
            Traces::Wrong => !is_right,
            Traces::All => true,
        };
        let name = Path::new(TRACES).join(journal.file_name()?);
        let target = self.folder.join(&name);
        drop(std::fs::remove_file(&target));
        (is_kept && journal.exists() && std::fs::hard_link(journal, &target).is_ok())
            .then(|| name.display().to_string())
    }
}

/// Cells up to which results are compared at once: that takes less time than to have another thread do it.
const FEW: u64 = 2_000;

/// Says what each rule says. Comparing large results takes long, so it is done where it keeps nobody waiting.
async fn judge(graded: &mut Graded, expected: Arc<Expected>, results: Option<Arc<ResultSet>>) -> Result<(), Error> {
    let all = expected.golds.iter().map(|(gold, _)| gold).chain(results.as_deref());
    let cells: u64 = all.map(|results| results.row_count() * results.schema().fields().len() as u64).sum();
    let compare = move || {
        let verdicts = judge_all(&expected.golds, results.as_deref());
        let soft = results.as_ref().map(|results| soft_f1_any(expected.golds.iter().map(|(gold, _)| gold), results));
        (verdicts, soft)
    };
    (graded.verdicts, graded.soft_f1) = if cells <= FEW {
        compare()
    } else {
        tokio::task::spawn_blocking(compare).await.map_err(|error| Error::Internal(error.to_string()))?
    };
    Ok(())
}

/// The line of a question that nobody was asked.
fn unanswered(item: &Item) -> Graded {
    let question = &item.question;
    Graded {
        arm: item.arm_name.to_string(),
        id: question.id.clone(),
        place: item.place,
        db: question.db.clone(),
        question: question.question.clone(),
        fields: question.fields.clone(),
        end: End::NoAnswer,
        fault: None,
        sql: None,
        gold_sql: first_statement(&question.golds),
        verdicts: BTreeMap::new(),
        gold_fault: None,
        soft_f1: None,
        rows: None,
        gold_rows: None,
        confidence: None,
        candidate_confidence: None,
        cost: Cost::default(),
        time_ms: 0.0,
        retried: item.retried,
        run: None,
    }
}

fn first_statement(golds: &[Gold]) -> Option<String> {
    golds.iter().find_map(|gold| match gold {
        Gold::Sql(sql) => Some(sql.clone()),
        Gold::Csv(_) | Gold::Text(_) => None,
    })
}

fn fault_of(error: Error) -> Fault {
    Fault { class: error.class().to_owned(), message: error.to_string() }
}

#[async_trait]
impl Answerer for Grader {
    type Fatal = Error;

    async fn answer(&self, item: &Item) -> Answered<Error> {
        match self.graded(item).await {
            Ok(graded) => Answered::Graded(Box::new(graded)),
            Err(error) => Answered::Fatal(error),
        }
    }
}
