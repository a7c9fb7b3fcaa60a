//! The rules without a model, on questions that their author had not seen (`tests/unseen`): how
//! often an answer that they are sure of is right.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use syrch::syrch_core::Problem;
use syrch::{Error, Host, Outcome as End, Settings, Silent, Stop};
use syrch_grade::run::Graded;
use syrch_grading::SuiteRun;

use super::suites::{Nobody, options};
use crate::Outcome;
use crate::figure::Figure;
use crate::world::World;

/// From where on an answer counts as sure.
pub(super) const SURE: f64 = 0.8;
/// The part of the sure answers that must be right, in percent.
const RIGHT: f64 = 90.0;

/// A text that must not be answered.
#[derive(Deserialize)]
pub(super) struct Unanswerable {
    /// The database, as its suite names it.
    pub(super) db: String,
    /// The text.
    pub(super) text: String,
    kind: String,
}

/// Measures the answers to both lists: the answerable questions, and the texts that must not be
/// answered.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../unseen");
    let folder = world.place("unseen")?;
    databases(&from, &folder)?;
    let mut figures = answer_questions(world, &from, &folder)?;
    figures.extend(unanswerable(world, &from, &folder)?);
    Ok(figures)
}

/// Makes the databases from their scripts.
fn databases(from: &Path, folder: &Path) -> Outcome<()> {
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "sql") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let database = folder.join(format!("{name}.sqlite"));
            let _ = std::fs::remove_file(&database);
            rusqlite::Connection::open(&database)?
                .execute_batch(&std::fs::read_to_string(&path)?)?;
        }
    }
    Ok(())
}

fn answer_questions(world: &World, from: &Path, folder: &Path) -> Outcome<Vec<Figure>> {
    let options =
        options(from.join("questions.jsonl"), Some(folder.to_owned()), 2, folder.join("runs"));
    let outcome = world.runtime.block_on(async {
        let observer: Arc<dyn syrch::Observer> = Arc::new(Silent);
        let run =
            SuiteRun::open(vec![("offline".to_owned(), Settings::default())], options, &observer)
                .await?;
        run.carry_out(&Nobody, &Stop::new()).await
    })?;
    let rule = outcome.record.header.rule.clone();
    let mut by_database: BTreeMap<&str, Vec<&Graded>> = BTreeMap::new();
    outcome.record.graded.iter().for_each(|one| by_database.entry(&one.db).or_default().push(one));
    let all: Vec<&Graded> = outcome.record.graded.iter().collect();
    let whole = figure("all four databases", &all, &rule).at_least(RIGHT);
    let each = by_database.into_iter().map(|(name, all)| figure(&format!("`{name}`"), &all, &rule));
    Ok(std::iter::once(whole).chain(each).collect())
}

fn figure(name: &str, all: &[&Graded], rule: &str) -> Figure {
    fn is_right(rule: &str, one: &&&Graded) -> bool {
        one.verdict(rule).is_some_and(|verdict| verdict.is_right())
    }
    let of_class = |from: f64, to: f64| {
        let class: Vec<&&Graded> = all
            .iter()
            .filter(|one| one.confidence.is_some_and(|sure| (from..to).contains(&sure)))
            .collect();
        (class.iter().filter(|one| is_right(rule, one)).count(), class.len())
    };
    let (right, sure) = of_class(SURE, 1.1);
    let classes =
        [(0.95, 1.1), (SURE, 0.95), (0.6, SURE), (0.4, 0.6), (0.0, 0.4)].map(|(from, to)| {
            let (right, of) = of_class(from, to);
            format!("from {from}: {right}/{of}")
        });
    let what = format!("unseen questions on {name}: right of those answered at {SURE} and more");
    let share = 100.0 * right as f64 / sure.max(1) as f64;
    let total = all.iter().filter(|one| is_right(rule, one)).count();
    let note = format!(
        "{right} of {sure}; {total} of {} questions in all; {}",
        all.len(),
        classes.join(", ")
    );
    Figure::new(what, share, "%").note(note)
}

fn unanswerable(world: &World, from: &Path, folder: &Path) -> Outcome<Vec<Figure>> {
    let lines = std::fs::read_to_string(from.join("not_answerable.jsonl"))?;
    let texts: Vec<Unanswerable> =
        lines.lines().map(serde_json::from_str).collect::<Result<_, serde_json::Error>>()?;
    let mut answered: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for one in texts {
        let count = answered.entry(one.kind.clone()).or_default();
        count.1 += 1;
        if world.runtime.block_on(is_sure(&folder.join(format!("{}.sqlite", one.db)), one.text))? {
            count.0 += 1;
        }
    }
    let total: usize = answered.values().map(|(sure, _)| sure).sum();
    let of: usize = answered.values().map(|(_, of)| of).sum();
    let kinds: Vec<String> =
        answered.iter().map(|(kind, (sure, of))| format!("{kind} {sure}/{of}")).collect();
    let what = format!("texts without an answer that are answered at {SURE} and more, of {of}");
    Ok(vec![Figure::new(what, total as f64, "").at_most(of as f64 / 20.0).note(kinds.join(", "))])
}

/// Returns true if the text is answered, and surely.
async fn is_sure(database: &Path, text: String) -> Result<bool, Error> {
    let settings = Settings { database: database.display().to_string(), ..Settings::default() };
    let host = Host::open(settings, &Silent).await?;
    Ok(match host.search(Problem::new(text), Arc::new(Silent), None, &Stop::new()).await {
        Ok(report) => {
            report.outcome == End::Answered
                && report.document.confidence.is_some_and(|sure| sure.calibrated >= SURE)
        }
        Err(_) => false,
    })
}
