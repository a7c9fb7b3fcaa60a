//! The rules without a model on tables of public data (`tests/questions`): the half of the
//! questions that is kept from whoever writes rules, and the other one.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use syrch::syrch_core::Problem;
use syrch::{Host, Outcome as Ending, Settings, Silent, Stop};
use syrch_grade::run::{End, Graded};
use syrch_grading::{SuiteOptions, SuiteRun};

use super::suites::{Nobody, options};
use super::tally::share;
use super::unseen::{SURE, Unanswerable};
use crate::Outcome;
use crate::figure::Figure;
use crate::world::World;

/// The confidence below which the command line accepts no answer of the rules.
const LEAST: f64 = 0.4;
/// The share of all questions that are to be answered right, in percent.
const RIGHT: f64 = 50.0;
/// The share of all questions that may be answered wrongly with a confidence of [`SURE`], in
/// percent.
const WRONG: f64 = 2.0;

/// The outcome of a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Right,
    /// Answered wrongly, or answered where no answer is right; with the confidence of [`SURE`] if
    /// `is_sure`.
    Wrong {
        is_sure: bool,
    },
    Silent,
}

/// A question with the statements that are meant by it.
#[derive(Deserialize)]
struct Meant {
    id: String,
    meant: Vec<String>,
}

/// The files of a measurement.
struct Files {
    /// The folder of the questions.
    suites: PathBuf,
    /// The folder of the tables.
    tables: PathBuf,
    /// The folder of the runs.
    runs: PathBuf,
}

impl Files {
    fn options(&self, half: &str) -> SuiteOptions {
        let suite = self.suites.join(format!("{half}.jsonl"));
        options(suite, Some(self.tables.clone()), 2, self.runs.clone())
    }
}

/// Measures both halves, and whether the tables are read as DuckDB reads them.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let files = Files {
        suites: Path::new(env!("CARGO_MANIFEST_DIR")).join("../questions"),
        tables: syrch_kit::repository().join("target/questions"),
        runs: world.place("questions")?,
    };
    if !files.tables.is_dir() {
        return Err("the tables are not there: `sh tests/questions/install.sh` fetches them".into());
    }
    let mut figures = Vec::new();
    let kept = fates(world, &files, "kept")?;
    let [right, wrong] = describe("kept", &kept);
    figures.extend([right.at_least(RIGHT), wrong.at_most(WRONG)]);
    figures.extend(describe("shown, in-sample", &fates(world, &files, "shown")?));
    figures.push(misread(world, &files)?);
    Ok(figures)
}

/// The fate of each question of a half, with its table.
fn fates(world: &World, files: &Files, half: &str) -> Outcome<Vec<(String, Fate)>> {
    let settings = Settings { min_confidence: Some(LEAST), ..Settings::default() };
    let (rule, graded) = run(world, settings, files.options(half))?;
    let mut fates: Vec<(String, Fate)> =
        graded.iter().map(|one| (one.db.clone(), fate(one, &rule))).collect();
    let lines = std::fs::read_to_string(files.suites.join(format!("{half}_unanswerable.jsonl")))?;
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines.lines() {
        let one: Unanswerable = serde_json::from_str(line)?;
        texts.entry(one.db).or_default().push(one.text);
    }
    for (table, texts) in texts {
        let found = world.runtime.block_on(ask(&files.tables.join(&table), texts))?;
        fates.extend(found.into_iter().map(|fate| (table.clone(), fate)));
    }
    Ok(fates)
}

/// Runs a suite; the name of its rule, and the graded answers.
fn run(world: &World, settings: Settings, options: SuiteOptions) -> Outcome<(String, Vec<Graded>)> {
    let outcome = world.runtime.block_on(async {
        let observer: Arc<dyn syrch::Observer> = Arc::new(Silent);
        let run =
            SuiteRun::open(vec![("offline".to_owned(), settings)], options, &observer).await?;
        run.carry_out(&Nobody, &Stop::new()).await
    })?;
    let faults = outcome.record.graded.iter().find_map(|one| one.gold_fault.clone());
    if let Some(fault) = faults {
        return Err(format!("expected rows are not available: {fault}").into());
    }
    Ok((outcome.record.header.rule, outcome.record.graded))
}

fn fate(one: &Graded, rule: &str) -> Fate {
    if one.end != End::Answered {
        return Fate::Silent;
    }
    match one.verdict(rule).is_some_and(|verdict| verdict.is_right()) {
        true => Fate::Right,
        false => {
            Fate::Wrong { is_sure: one.confidence.is_some_and(|confidence| confidence >= SURE) }
        }
    }
}

/// Asks what no answer is right to.
async fn ask(table: &Path, texts: Vec<String>) -> Outcome<Vec<Fate>> {
    let database = table.display().to_string();
    let settings = Settings { database, min_confidence: Some(LEAST), ..Settings::default() };
    let host = Host::open(settings, &Silent).await?;
    let mut fates = Vec::with_capacity(texts.len());
    for text in texts {
        let found = host.search(Problem::new(text), Arc::new(Silent), None, &Stop::new()).await;
        fates.push(match found {
            Ok(report) if report.outcome == Ending::Answered => {
                let confidence = report.document.confidence;
                Fate::Wrong {
                    is_sure: confidence.is_some_and(|confidence| confidence.calibrated >= SURE),
                }
            }
            _ => Fate::Right,
        });
    }
    Ok(fates)
}

/// The share of right answers, and that of wrong ones that were sure.
fn describe(half: &str, fates: &[(String, Fate)]) -> [Figure; 2] {
    let fates: Vec<(&str, Fate)> =
        fates.iter().map(|(table, fate)| (table.as_str(), *fate)).collect();
    let count = |is_counted: &dyn Fn(Fate) -> bool| {
        fates.iter().filter(|(_, fate)| is_counted(*fate)).count()
    };
    let mut tables: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (table, fate) in &fates {
        let (right, all) = tables.entry(table).or_default();
        *right += usize::from(*fate == Fate::Right);
        *all += 1;
    }
    let tables: Vec<String> =
        tables.iter().map(|(table, (right, all))| format!("{table} {right}/{all}")).collect();
    let (right, interval) = share(&fates, |fate| *fate == Fate::Right);
    let what = format!("questions on public tables ({half}): right, or silent where no answer is");
    let wrong = count(&|fate| matches!(fate, Fate::Wrong { .. }));
    let silent = count(&|fate| fate == Fate::Silent);
    let note = format!(
        "{} right, {wrong} wrong, {silent} silent of {}; {interval}; {}",
        count(&|fate| fate == Fate::Right),
        fates.len(),
        tables.join(", ")
    );
    let right = Figure::new(what, right, "%").note(note);
    let (sure, interval) = share(&fates, |fate| *fate == Fate::Wrong { is_sure: true });
    let what = format!("questions on public tables ({half}): wrong at {SURE} and more");
    let note = format!(
        "{} of {}; {interval}",
        count(&|fate| fate == Fate::Wrong { is_sure: true }),
        fates.len()
    );
    [right, Figure::new(what, sure, "%").note(note)]
}

/// The statements that are meant, over the program's import of the tables: their rows are those
/// that DuckDB has.
fn misread(world: &World, files: &Files) -> Outcome<Figure> {
    let mut misread = Vec::new();
    let mut all = 0;
    for half in ["kept", "shown"] {
        let lines = std::fs::read_to_string(files.suites.join(format!("{half}.jsonl")))?;
        let answers = files.runs.join(format!("{half}_meant.jsonl"));
        let mut file = std::fs::File::create(&answers)?;
        for line in lines.lines() {
            let one: Meant = serde_json::from_str(line)?;
            let first =
                one.meant.first().ok_or_else(|| format!("`{}` has no statement", one.id))?;
            writeln!(file, "{}", json!({"id": one.id, "sql": first}))?;
        }
        let options = SuiteOptions { answers: vec![answers], ..files.options(half) };
        let (rule, graded) = run(world, Settings::default(), options)?;
        all += graded.len();
        misread.extend(
            graded.into_iter().filter(|one| fate(one, &rule) != Fate::Right).map(|one| one.id),
        );
    }
    let what = "statements over public tables: with the rows that DuckDB has";
    let share = 100.0 * (all - misread.len()) as f64 / all.max(1) as f64;
    let note = match misread.is_empty() {
        true => format!("all {all}"),
        false => format!("of {all}; not {}", misread.join(", ")),
    };
    Ok(Figure::new(what, share, "%").at_least(100.0).note(note))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use syrch_grade::suite::{self, Gold};

    use super::*;

    #[test]
    fn the_halves_share_no_question_and_expect_rows_alone() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../questions");
        let mut texts = BTreeSet::new();
        let mut tables: BTreeMap<String, [usize; 2]> = BTreeMap::new();
        for (half, name) in ["kept", "shown"].into_iter().enumerate() {
            for question in suite::read(&folder.join(format!("{name}.jsonl"))).unwrap().questions {
                // A statement over the table would be as wrong as the import is.
                assert!(
                    question.golds.iter().all(
                        |gold: &Gold| matches!(gold, Gold::Sql(sql) if sql.starts_with("VALUES ("))
                    ),
                    "{}",
                    question.id
                );
                assert!(
                    texts.insert((question.db.clone(), question.question.clone())),
                    "{}",
                    question.id
                );
                tables.entry(question.db).or_default()[half] += 1;
            }
            let lines =
                std::fs::read_to_string(folder.join(format!("{name}_unanswerable.jsonl"))).unwrap();
            for line in lines.lines() {
                let one: Unanswerable = serde_json::from_str(line).unwrap();
                assert!(texts.insert((one.db.clone(), one.text)), "{line}");
                tables.entry(one.db).or_default()[half] += 1;
            }
        }
        let sums = std::fs::read_to_string(folder.join("tables.sha256")).unwrap();
        assert_eq!(tables.len(), sums.lines().count());
        for (table, [kept, shown]) in tables {
            assert!(sums.contains(&format!("  {table}\n")), "{table} is not installed");
            assert!(
                kept >= shown && kept - shown <= 2 && kept + shown >= 25,
                "{table}: {kept} and {shown}"
            );
        }
    }

    #[test]
    fn an_answer_to_what_has_none_is_wrong() {
        let all = [
            Fate::Right,
            Fate::Right,
            Fate::Silent,
            Fate::Wrong { is_sure: true },
            Fate::Wrong { is_sure: false },
        ];
        let fates: Vec<(String, Fate)> = all
            .into_iter()
            .zip(["a", "a", "a", "b", "b"])
            .map(|(fate, table)| (table.to_owned(), fate))
            .collect();
        let [right, sure] = describe("kept", &fates);
        let [what, measured, _, _] = right.cells();
        assert!(
            what.contains("2 right, 2 wrong, 1 silent of 5") && what.contains("a 2/3, b 0/2"),
            "{what}"
        );
        assert_eq!((measured.as_str(), sure.cells()[1].as_str()), ("40.0 %", "20.0 %"));
    }
}
