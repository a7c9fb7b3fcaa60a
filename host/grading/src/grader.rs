//! Asks a question, runs the statement of the answer, compares its rows with the expected ones, and
//! makes the line of the result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use syrch::Error;
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{ResultSet, SqlError};
use syrch_grade::rules::{Rule, judge_all, soft_f1_any};
use syrch_grade::run::{
    Answered, Cost, End, Fault, Graded, Item, Judged, Judgement, RunBudgets, SystemUnderTest,
    item_journal,
};
use syrch_grade::suite::ExpectedEnd;
use syrch_grade::{Question, Verdict};
use syrch_journal::Journal;
use syrch_memory::MemoryCache;

use super::arena::Arena;
use super::ask::{Asked, Asker, Reviewed, cost_in};
use super::expected::Expected;
use super::fuzz::Fuzzed;

/// The folder for the journals of searches, in the folder of the run.
pub(crate) const TRACES: &str = "traces";
/// The name of the verdict on the fuzzed suite, beside those of the rules.
const FUZZED: &str = "fuzzed";
/// The number of expected answers that are cached while the arms are asked the same question.
const CACHED: usize = 256;
/// The size of the cached answers in memory, in bytes.
const CACHED_BYTES: usize = 128 << 20;

/// The searches of a run that leave a journal in the run's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Traces {
    /// No search leaves a journal.
    None,
    /// Those whose answer is not right do.
    #[default]
    Wrong,
    /// Every search leaves a journal.
    All,
}

/// Grades the answers of an [`Asker`].
pub(crate) struct Grader {
    pub(crate) asker: Box<dyn Asker>,
    /// The questions that cannot be graded and are not asked, by id, with the reasons.
    pub(crate) ungradable: Arc<BTreeMap<String, String>>,
    pub(crate) arena: Arc<Arena>,
    /// The path of the run's folder.
    pub(crate) folder: PathBuf,
    /// The rule that decides whether an answer is right, and so whether its journal is retained.
    pub(crate) rule: Rule,
    /// The fuzzed suite on whose databases right answers are tried again.
    pub(crate) fuzzed: Option<Fuzzed>,
    pub(crate) traces: Traces,
    /// True if searches write journals. Without them, the searches in progress start again when a
    /// killed run is resumed.
    pub(crate) has_journals: bool,
    pub(crate) expected: MemoryCache<String, Expected>,
}

impl Grader {
    /// An empty cache of expected answers.
    pub(crate) fn new_expected_cache() -> MemoryCache<String, Expected> {
        MemoryCache::within(CACHED, CACHED_BYTES, |_, expected| expected.bytes())
    }

    async fn grade_item(&self, item: &Item) -> Result<Answered<Error>, Error> {
        let question = &item.question;
        if let Some(why) = self.ungradable.get(&question.id) {
            return Ok(Answered::Graded(Box::new(Graded {
                gold_fault: Some(why.clone()),
                ..Graded::without_answer(item, End::NoAnswer)
            })));
        }
        let journal = item_journal(&self.folder, &item.arm_name, &question.id);
        let started = Instant::now();
        let asked =
            self.asker.ask(item.arm, question, self.has_journals.then_some(&*journal)).await?;
        if let Some(budget) = asked.used_up {
            return Ok(Answered::CutOff(budget, asked.cost));
        }
        let time_ms =
            if asked.time_ms > 0.0 { asked.time_ms } else { started.elapsed().as_secs_f64() * 1e3 };
        let database = self.arena.database(&question.db).await?;
        let expected =
            self.expected.get(&question.id, || Expected::for_question(question, &database)).await;
        let Asked {
            mut end,
            mut fault,
            sql,
            data,
            confidence,
            candidate_confidence,
            reviewed,
            origin,
            access,
            cost,
            ..
        } = asked;
        let expected = match expected {
            Ok(expected) => expected,
            Err(error) => {
                // The reason why there is no answer takes precedence over the reason why there is
                // no verdict.
                let fault = fault.filter(|_| end == End::Failed);
                let graded = self.mark_unjudged(
                    Graded {
                        fault,
                        sql,
                        access,
                        cost,
                        time_ms,
                        ..Graded::without_answer(item, End::NoAnswer)
                    },
                    error,
                );
                return Ok(Answered::Graded(Box::new(self.with_journal(graded, &journal))));
            }
        };
        let results = match (data, &sql) {
            (None, Some(sql)) if end == End::Answered => {
                match database.run(&SqlQuery::new(sql)).await {
                    Ok(results) => Some(Arc::new(results)),
                    Err(error) => {
                        (end, fault) = (End::Failed, Some(fault_of(Error::Sql(error))));
                        None
                    }
                }
            }
            (data, _) => data,
        };
        let results = results.filter(|_| end == End::Answered);
        let graded = Graded {
            end,
            fault,
            sql,
            gold_fault: expected.fault.clone(),
            rows: results.as_ref().map(|results| results.row_count()),
            gold_rows: expected.golds.first().map(|(gold, _)| gold.row_count()),
            origin,
            confidence,
            candidate_confidence,
            access,
            cost,
            time_ms,
            ..Graded::without_answer(item, End::NoAnswer)
        };
        let graded =
            self.judge_answer(question, graded, results, reviewed, &database, &expected).await?;
        Ok(Answered::Graded(Box::new(self.with_journal(graded, &journal))))
    }

    /// Adds the verdicts on an answer and on the candidates that were `reviewed`.
    async fn judge_answer(
        &self,
        question: &Question,
        mut graded: Graded,
        results: Option<Arc<ResultSet>>,
        reviewed: Vec<Reviewed>,
        database: &Arc<dyn Database>,
        expected: &Arc<Expected>,
    ) -> Result<Graded, Error> {
        if let Some(verdict) = judge_end(question, &graded, expected) {
            graded.verdicts = self.same_verdicts(verdict);
            // An expected refusal is no failure.
            if verdict.is_right() && graded.end == End::Failed {
                graded.end = End::NoAnswer;
            }
            return Ok(graded);
        }
        if expected.fault.is_some() {
            return Ok(graded);
        }
        (graded.verdicts, graded.soft_f1) = judge(Arc::clone(expected), results).await?;
        graded.judgements = judgements(reviewed, &graded, database, expected).await?;
        match self.judge_on_variants(&graded, question).await {
            Ok(verdict) => {
                let judged = verdict.map(|verdict| Judged { verdict, fingerprint: None });
                graded.verdicts.extend(judged.map(|judged| (FUZZED.to_owned(), judged)));
                Ok(graded)
            }
            Err(Error::Sql(error)) => Ok(self.mark_unjudged(graded, error)),
            Err(error) => Err(error),
        }
    }

    /// The verdict on the fuzzed suite: an answer is right there if it is right under the run's
    /// rule on the original and on every variant. `None` if there is no fuzzed suite.
    async fn judge_on_variants(
        &self,
        graded: &Graded,
        question: &Question,
    ) -> Result<Option<Verdict>, Error> {
        let (Some(fuzzed), Some(verdict)) = (&self.fuzzed, graded.verdict(self.rule.name())) else {
            return Ok(None);
        };
        let golds = question.statements();
        let (Verdict::Right, Some(sql), false) = (verdict, &graded.sql, golds.is_empty()) else {
            return Ok(Some(verdict));
        };
        let agreed = fuzzed.agree(&question.db, &golds, sql, self.rule, question.ordered).await?;
        Ok(Some(if agreed.is_right() { Verdict::Right } else { Verdict::Wrong }))
    }

    /// The line of an answer that cannot be judged now. It counts as failed and wrong until it is
    /// tried again.
    fn mark_unjudged(&self, graded: Graded, error: SqlError) -> Graded {
        let verdicts = self.same_verdicts(Verdict::Wrong);
        let Fault { class, message } = fault_of(Error::Sql(error));
        let fault = Some(graded.fault.clone().unwrap_or_else(|| Fault {
            class,
            message: format!("the answer cannot be judged now: {message}"),
        }));
        // Figures beside the verdicts must not use it either.
        let confidence = None;
        let candidate_confidence = None;
        let soft_f1 = None;
        let rows = None;
        let gold_rows = None;
        let end = End::Failed;
        Graded {
            end,
            fault,
            verdicts,
            confidence,
            candidate_confidence,
            soft_f1,
            rows,
            gold_rows,
            ..graded
        }
    }

    /// The same verdict under all rules.
    fn same_verdicts(&self, verdict: Verdict) -> BTreeMap<String, Judged> {
        let rules =
            Rule::all().iter().map(|rule| rule.name()).chain(self.fuzzed.as_ref().map(|_| FUZZED));
        let judged = Judged { verdict, fingerprint: None };
        rules.map(|rule| (rule.to_owned(), judged.clone())).collect()
    }

    /// The line with the name of its journal, if that is retained.
    fn with_journal(&self, graded: Graded, journal: &Path) -> Graded {
        Graded { run: self.settle(&graded, journal), ..graded }
    }

    /// Retains the journal of a graded search or not, and returns its path in the run's folder. It
    /// is a second link to the item's journal, which the engine removes once the line is written,
    /// so that nothing is lost in between.
    fn settle(&self, graded: &Graded, journal: &Path) -> Option<String> {
        let is_right = graded.verdict(self.rule.name()).is_some_and(Verdict::is_right);
        let is_retained = match self.traces {
            Traces::None => false,
            Traces::Wrong => !is_right,
            Traces::All => true,
        };
        let name = Path::new(TRACES).join(journal.file_name()?);
        let target = self.folder.join(&name);
        drop(std::fs::remove_file(&target));
        (is_retained && journal.exists() && std::fs::hard_link(journal, &target).is_ok())
            .then(|| name.display().to_string())
    }
}

/// The verdict on a question of which an end without rows is right; `None` if the rows decide.
fn judge_end(question: &Question, graded: &Graded, expected: &Expected) -> Option<Verdict> {
    let is_denied = graded.fault.as_ref().is_some_and(|fault| fault.class == "denied");
    let is_met = question.ends().any(|end| match end {
        ExpectedEnd::Clarify => graded.end == End::Clarify,
        ExpectedEnd::Refuse => graded.end == End::Failed && is_denied,
        ExpectedEnd::Silent => graded.end == End::NoAnswer,
    });
    let has_rows = !expected.golds.is_empty() || expected.fault.is_some();
    match (is_met, question.ends().next()) {
        (true, _) => Some(Verdict::Right),
        (false, Some(_)) if !has_rows => Some(Verdict::Wrong),
        (false, _) => None,
    }
}

/// The number of cells up to which results are compared on the same thread. For more, another
/// thread is worth its cost.
const FEW: u64 = 2_000;

/// The verdicts of all rules by name, and the soft-F1.
type Compared = (BTreeMap<String, Judged>, Option<f64>);

/// Compares a result with the expected ones under all rules. Comparing large results takes long, so
/// it is done on a thread that may block.
async fn judge(
    expected: Arc<Expected>,
    results: Option<Arc<ResultSet>>,
) -> Result<Compared, Error> {
    let all = expected.golds.iter().map(|(gold, _)| gold).chain(results.as_deref());
    let cells: u64 =
        all.map(|results| results.row_count() * results.schema().fields().len() as u64).sum();
    let compare = move || {
        let verdicts = judge_all(&expected.golds, results.as_deref());
        let soft = results
            .as_ref()
            .map(|results| soft_f1_any(expected.golds.iter().map(|(gold, _)| gold), results));
        (verdicts, soft)
    };
    if cells <= FEW {
        return Ok(compare());
    }
    tokio::task::spawn_blocking(compare).await.map_err(|error| Error::Internal(error.to_string()))
}

/// The statements that a judge of the search judged, with the verdicts of the rules. Those that do
/// not run alone, such as parts of a statement, are left out.
async fn judgements(
    reviewed: Vec<Reviewed>,
    graded: &Graded,
    database: &Arc<dyn Database>,
    expected: &Arc<Expected>,
) -> Result<Vec<Judgement>, Error> {
    let mut found = Vec::new();
    for Reviewed { sql, reward, model, has_answer } in reviewed {
        let verdicts = if has_answer && graded.end == End::Answered {
            graded.verdicts.clone()
        } else {
            match database.run(&SqlQuery::new(sql.as_str())).await {
                Ok(results) => judge(Arc::clone(expected), Some(Arc::new(results))).await?.0,
                Err(_) => continue,
            }
        };
        let verdicts = verdicts.into_iter().map(|(rule, judged)| (rule, judged.verdict)).collect();
        found.push(Judgement { sql, reward, model, verdicts });
    }
    Ok(found)
}

fn fault_of(error: Error) -> Fault {
    Fault { class: error.class().to_owned(), message: error.to_string() }
}

#[async_trait]
impl SystemUnderTest for Grader {
    type Fatal = Error;

    async fn answer(&self, item: &Item) -> Answered<Error> {
        self.grade_item(item).await.unwrap_or_else(Answered::Fatal)
    }

    fn limit_together(&self, left: &RunBudgets) {
        self.asker.limit_together(left);
    }

    fn cost_of_dropped(&self, item: &Item) -> Option<Cost> {
        let path = item_journal(&self.folder, &item.arm_name, &item.question.id);
        match path.exists() {
            true => Journal::read(&path).ok().map(|journal| cost_in(&journal)),
            // It had not begun, or it leaves no journal.
            false => self.has_journals.then(Cost::default),
        }
    }
}
