//! The timed pass: right answers and the expected statements are run in turn, one at a time, once nothing else goes on. It tells how quick the
//! statements are that a strategy writes (R-VES, BIRD's mini-dev), and never whether they are right.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use syrch_core::ports::{Database, Query};
use syrch_grade::rules::{r_ves, time_ratio};
use syrch_grade::run::RunRecord;
use syrch_grade::{Question, Verdict};
use syrch_scheduler::Stop;

use super::arena::Arena;
use super::suite_run::own_file;
use crate::Error;

/// The file of the timed pass in the folder of a run.
const FILE: &str = "times.json";

/// What the timed pass found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    /// How often each pair of statements was run.
    pub repeats: u32,
    /// The rule under which answers counted as right.
    pub rule: String,
    /// For each arm, and each question that it answered and that can be graded: how many times as quick as the expected statement the answer
    /// is; none: it is not right, or could not be timed.
    pub ratios: BTreeMap<String, BTreeMap<String, Option<f64>>>,
}

impl Timings {
    /// Each arm's R-VES, in percent.
    #[must_use]
    pub fn r_ves(&self) -> BTreeMap<String, f64> {
        let of = |ratios: &BTreeMap<String, Option<f64>>| r_ves(&ratios.values().copied().collect::<Vec<_>>());
        self.ratios.iter().map(|(arm, ratios)| (arm.clone(), of(ratios))).collect()
    }

    /// What an earlier pass left in the folder of a run; none: there was none.
    #[must_use]
    pub fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join(FILE)).ok()?).ok()
    }
}

/// Times the right answers of a run, and keeps what was found in its folder. None: it was stopped before it was done.
pub(crate) async fn time(
    record: &RunRecord,
    questions: &[Question],
    arena: &Arena,
    (folder, repeats): (&Path, u32),
    stop: &Stop,
) -> Result<Option<Timings>, Error> {
    let rule = record.header.rule.clone();
    let mut ratios: BTreeMap<String, BTreeMap<String, Option<f64>>> = BTreeMap::new();
    for graded in &record.graded {
        if stop.is_triggered() {
            return Ok(None);
        }
        let (Some(verdict), question) = (graded.verdict(&rule), questions.get(graded.place as usize)) else { continue };
        if verdict == Verdict::Excluded {
            continue;
        }
        let gold = question.and_then(|question| question.statements().first().map(|sql| (*sql).to_owned()));
        let ratio = match (&graded.sql, gold) {
            (Some(sql), Some(gold)) if verdict.is_right() => {
                let database = arena.database(&graded.db).await?;
                tokio::select! {
                    ratio = ratio(&database, &gold, sql, repeats) => ratio,
                    () = stop.triggered() => return Ok(None),
                }
            }
            _ => None,
        };
        ratios.entry(graded.arm.clone()).or_default().insert(graded.id.clone(), ratio);
    }
    let timings = Timings { repeats, rule, ratios };
    let path = folder.join(FILE);
    let written = serde_json::to_vec(&timings).map_err(std::io::Error::from).and_then(|text| own_file(&path, &text));
    written.map_err(|error| Error::Unfit(format!("the times `{}` cannot be kept: {error}", path.display())))?;
    Ok(Some(timings))
}

/// Both are run once before, so that neither pays for reading the file.
async fn ratio(database: &Arc<dyn Database>, gold: &str, predicted: &str, repeats: u32) -> Option<f64> {
    let seconds = async |sql: &str| {
        let begun = Instant::now();
        database.run(&Query::new(sql)).await.ok().map(|_| begun.elapsed().as_secs_f64())
    };
    let (mut golds, mut predictions) = (Vec::new(), Vec::new());
    for round in 0..=repeats {
        let (gold, predicted) = (seconds(gold).await?, seconds(predicted).await?);
        if round > 0 {
            golds.push(gold);
            predictions.push(predicted);
        }
    }
    time_ratio(&golds, &predictions)
}
