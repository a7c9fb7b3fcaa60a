//! The timed pass: when nothing else runs any more, right answers and the expected statements are
//! run in turn, one at a time. It measures how fast the statements of a strategy are (R-VES, BIRD's
//! mini-dev), and not whether they are right.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use syrch::databases::with_single_quotes;
use syrch::{Error, Stop};
use syrch_core::ports::{Database, SqlQuery};
use syrch_grade::rules::{r_ves, time_ratio};
use syrch_grade::run::{DOCUMENT, Graded, RunRecord, read_within};
use syrch_grade::{Question, Verdict};

use super::arena::Arena;

/// The name of the timed pass's file in the folder of a run.
const FILE: &str = "times.json";

/// The results of the timed pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    /// The number of times that each pair of statements was timed.
    pub repeats: u32,
    /// The rule under which answers counted as right.
    pub rule: String,
    /// For each arm, and for each question that counts and has an expected statement: how many
    /// times as fast as that statement the answer is; `None` if the answer is not right.
    pub ratios: BTreeMap<String, BTreeMap<String, Option<f64>>>,
    /// For each arm, the ids of the questions whose right answers could not be timed, because no
    /// statement is expected or one of the two failed meanwhile. They are not in `ratios` and do
    /// not count for the arm's speed.
    #[serde(default)]
    pub untimed: BTreeMap<String, BTreeSet<String>>,
}

impl Timings {
    /// The R-VES of each arm, in percent. An arm whose right answers could all not be timed has
    /// none.
    #[must_use]
    pub fn r_ves(&self) -> BTreeMap<String, f64> {
        self.ratios
            .iter()
            .filter_map(|(arm, ratios): (&String, &BTreeMap<String, Option<f64>>)| {
                let ratios: Vec<Option<f64>> = ratios.values().copied().collect();
                let is_measured = self.untimed.get(arm).is_none_or(BTreeSet::is_empty)
                    || ratios.iter().any(Option::is_some);
                is_measured.then(|| (arm.clone(), r_ves(&ratios)))
            })
            .collect()
    }

    /// Returns true if these are the times of all answers of the run: none of them was tried again
    /// since, or comes from a part that was not timed.
    #[must_use]
    pub fn is_of(&self, record: &RunRecord) -> bool {
        record.graded.iter().all(|graded| {
            let Some(is_right) = counts(graded, &self.rule) else { return true };
            let timed = self.ratios.get(&graded.arm).and_then(|ratios| ratios.get(&graded.id));
            let is_untimed =
                self.untimed.get(&graded.arm).is_some_and(|ids| ids.contains(&graded.id));
            match (is_right, &graded.gold_sql) {
                (true, _) => matches!(timed, Some(Some(_))) || is_untimed,
                (false, Some(_)) => timed == Some(&None) && !is_untimed,
                (false, None) => timed.is_none() && !is_untimed,
            }
        })
    }

    /// These times together with those of another part of the same run. Those of a part that was
    /// timed in another way are left out.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        if (self.repeats, &self.rule) == (other.repeats, &other.rule) {
            for (arm, ratios) in other.ratios {
                self.ratios.entry(arm).or_default().extend(ratios);
            }
            for (arm, ids) in other.untimed {
                self.untimed.entry(arm).or_default().extend(ids);
            }
        }
        self
    }

    /// The results that an earlier pass stored in the folder of a run; `None` if there are none.
    #[must_use]
    pub fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&read_within(&folder.join(FILE), DOCUMENT).ok()?).ok()
    }
}

/// Returns true if an answer is right under the rule; `None` if it does not count.
fn counts(graded: &Graded, rule: &str) -> Option<bool> {
    graded.verdict(rule).filter(|verdict| *verdict != Verdict::Excluded).map(Verdict::is_right)
}

/// Times the right answers of a run, and stores the results in its folder. Returns `None` if it was
/// stopped before the end.
pub(crate) async fn time_answers(
    record: &RunRecord,
    questions: &[Question],
    arena: &Arena,
    folder: &Path,
    repeats: u32,
    stop: &Stop,
) -> Result<Option<Timings>, Error> {
    let rule = record.header.rule.clone();
    let mut timings = Timings { repeats, rule, ratios: BTreeMap::new(), untimed: BTreeMap::new() };
    for graded in &record.graded {
        if stop.is_triggered() {
            return Ok(None);
        }
        let Some(is_right) = counts(graded, &timings.rule) else { continue };
        let gold = questions
            .get(graded.place as usize)
            .and_then(|question| question.statements().first().copied());
        let ratio = match (&graded.sql, gold) {
            (Some(sql), Some(gold)) if is_right => {
                let database = arena.database(&graded.db).await?;
                tokio::select! {
                    ratio = ratio(&database, gold, sql, repeats) => ratio,
                    () = stop.wait_until_triggered() => return Ok(None),
                }
            }
            _ => None,
        };
        let arm = graded.arm.clone();
        let id = graded.id.clone();
        if is_right && ratio.is_none() {
            timings.untimed.entry(arm).or_default().insert(id);
        } else if gold.is_some() {
            timings.ratios.entry(arm).or_default().insert(id, ratio);
        }
    }
    let path = folder.join(FILE);
    let written = serde_json::to_vec(&timings)
        .map_err(std::io::Error::from)
        .and_then(|text| syrch_files::replace(&path, &text));
    written.map_err(|error| {
        Error::Unfit(format!("the times `{}` cannot be written: {error}", path.display()))
    })?;
    Ok(Some(timings))
}

/// Measures how many times as fast as the expected statement the predicted one is. Both are run
/// once before they are timed, so that neither pays for reading the file.
async fn ratio(
    database: &Arc<dyn Database>,
    gold: &str,
    predicted: &str,
    repeats: u32,
) -> Option<f64> {
    let gold = with_single_quotes(gold, database.as_ref()).await;
    let seconds = async |sql: &str| {
        let started = Instant::now();
        database.run(&SqlQuery::new(sql)).await.ok().map(|_| started.elapsed().as_secs_f64())
    };
    let mut golds = Vec::new();
    let mut predictions = Vec::new();
    for round in 0..=repeats {
        let gold = seconds(&gold).await?;
        let predicted = seconds(predicted).await?;
        if round > 0 {
            golds.push(gold);
            predictions.push(predicted);
        }
    }
    time_ratio(&golds, &predictions)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use syrch_grade::run::{Header, RunRecord};

    use super::*;

    /// One right and one wrong answer to a question with an expected statement, and a right one to
    /// a question without.
    fn record() -> RunRecord {
        let header = json!({
            "format": "syrch.run/1", "id": "r", "host": "0",
            "suite": {"path": "s", "digest": "", "questions": 3}, "arms": [],
            "databases": {}, "rule": "bag-v1", "seed": 7
        });
        let one = |id: &str, gold: Option<&str>, verdict: &str| {
            json!({
                "arm": "a", "id": id, "place": 0, "db": "d", "question": "?", "fields": {},
                "end": "answered", "sql": "SELECT 1",
                "gold_sql": gold, "verdicts": {"bag-v1": {"verdict": verdict}}, "soft_f1": null,
                "rows": 1, "gold_rows": 1,
                "confidence": null, "time_ms": 0.0,
                "cost": {
                    "calls": 0, "cached": 0, "input_tokens": 0, "output_tokens": 0, "usd": null,
                    "sql_runs": 0
                }
            })
        };
        let gold = Some("SELECT 1");
        let all =
            [one("right", gold, "right"), one("wrong", gold, "wrong"), one("text", None, "right")];
        RunRecord {
            header: serde_json::from_value::<Header>(header).unwrap(),
            graded: all.into_iter().map(|one| serde_json::from_value(one).unwrap()).collect(),
            stopped: None,
            ahead: 0,
            elapsed: std::time::Duration::ZERO,
            earlier: BTreeMap::new(),
        }
    }

    fn timings() -> Timings {
        let named = |id: &str, ratio| (id.to_owned(), ratio);
        Timings {
            repeats: 2,
            rule: "bag-v1".to_owned(),
            ratios: [("a".to_owned(), [named("right", Some(1.0)), named("wrong", None)].into())]
                .into(),
            untimed: [("a".to_owned(), ["text".to_owned()].into())].into(),
        }
    }

    #[test]
    fn right_answers_that_cannot_be_timed_do_not_count() {
        assert_eq!(timings().r_ves(), BTreeMap::from([("a".to_owned(), 50.0)]));
        let mut none = timings();
        none.ratios.entry("a".to_owned()).or_default().remove("right");
        assert_eq!(none.r_ves(), BTreeMap::new());
        none.untimed.clear();
        assert_eq!(none.r_ves(), BTreeMap::from([("a".to_owned(), 0.0)]));
    }

    #[test]
    fn times_are_of_the_answers_that_they_were_taken_of() {
        let mut record = record();
        assert!(timings().is_of(&record));
        let known = |change: fn(&mut Timings)| {
            let mut timings = timings();
            change(&mut timings);
            timings
        };
        // An earlier version stored no answers that cannot be timed.
        assert!(!known(|timings| timings.untimed.clear()).is_of(&record));
        assert!(!known(|timings| timings.ratios.clear()).is_of(&record));
        // The wrong answer was tried again, and is right now.
        record.graded[1].verdicts = record.graded[0].verdicts.clone();
        assert!(!timings().is_of(&record));
    }

    #[test]
    fn parts_are_merged() {
        let mut one = timings();
        let mut other = timings();
        one.ratios.entry("a".to_owned()).or_default().remove("wrong");
        one.untimed.clear();
        other.ratios.entry("a".to_owned()).or_default().remove("right");
        assert_eq!(one.clone().with(other.clone()), timings());
        other.repeats = 3;
        assert_eq!(one.clone().with(other), one);
    }
}
