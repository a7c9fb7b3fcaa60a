//! A run over a corpus: each statement is optimized once, a line is written for it, and a killed
//! run resumes behind its last line.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use syrch::{Error, Stop};
use syrch_suites::run::RunError;

use super::{CorpusFolder, LockedQuery};
use crate::Optimized;

/// The schema of a line of `results.jsonl`.
pub const CORPUS_LINE: &str = "syrch.optimize-line/1";

/// A finished statement of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorpusLine {
    /// The schema of the line, always [`CORPUS_LINE`].
    pub schema: String,
    /// The place of the statement in the manifest, from 0.
    pub place: u64,
    /// The time at which it was finished, in milliseconds since 1970.
    pub at_ms: u64,
    /// The file of the statement, relative to the manifest.
    pub file: String,
    /// The sha256 of the file, in hex.
    pub sha256: String,
    /// The description of the statement in the manifest.
    pub description: String,
    /// The result: the document `syrch.optimize/1`.
    pub result: Optimized,
}

/// Optimizes one statement. [`run_corpus`] calls it for one after the other, so that no measurement
/// disturbs another.
#[async_trait]
pub trait OptimizesStatements: Send + Sync {
    /// Called for each unfinished statement. Its journal is written at `journal`; when there is one
    /// there already, the work continues from it.
    ///
    /// # Errors
    /// When the run cannot continue: the database is gone, the model's endpoint fails, or the user
    /// stopped it. A mistake of the statement alone is part of the report.
    async fn optimize(&self, sql: &str, journal: &Path, stop: &Stop) -> Result<Optimized, Error>;
}

/// Receives the progress of a run.
pub trait CorpusObserver: Send + Sync {
    /// Called when the work on a statement begins.
    fn on_begin(&self, done: u64, of: u64, query: &LockedQuery);
    /// Called when the line of a statement is written.
    fn on_finish(&self, done: u64, of: u64, line: &CorpusLine);
}

/// Optimizes the statements whose lines are not in `done`, in the order of the manifest; of a shard
/// only its own. Returns all lines in that order.
///
/// # Errors
/// When a line in `done` is not of this corpus, a line cannot be written, or the run cannot
/// continue; what was written stays.
pub async fn run_corpus(
    folder: &mut CorpusFolder,
    queries: &[LockedQuery],
    done: Vec<CorpusLine>,
    optimizer: &dyn OptimizesStatements,
    observer: &dyn CorpusObserver,
    stop: &Stop,
) -> Result<Vec<CorpusLine>, Error> {
    let mut lines = place_lines(folder, queries, done)?;
    let of = folder.header().share();
    for (place, query) in queries.iter().enumerate() {
        let number = place as u64;
        if folder.header().shard.is_some_and(|shard| !shard.holds(number)) {
            continue;
        }
        if lines.get(place).is_some_and(Option::is_some) {
            // It was killed between the line and the removal of the journal.
            folder.forget(number)?;
            continue;
        }
        if stop.is_triggered() {
            return Err(Error::Interrupted);
        }
        observer.on_begin(count(&lines), of, query);
        let result = optimizer.optimize(&query.sql, &folder.journal(number), stop).await?;
        if stop.is_triggered() {
            // It was cut short: its journal stays, from which a resumed run continues.
            return Err(Error::Interrupted);
        }
        let line = CorpusLine {
            schema: CORPUS_LINE.to_owned(),
            place: number,
            at_ms: now_ms(),
            file: query.query.file.clone(),
            sha256: query.query.sha256.clone(),
            description: query.query.description.clone(),
            result,
        };
        folder.append(number, &line)?;
        if let Some(slot) = lines.get_mut(place) {
            *slot = Some(line);
        }
        let last = lines.get(place).and_then(Option::as_ref);
        last.into_iter().for_each(|line| observer.on_finish(count(&lines), of, line));
    }
    Ok(lines.into_iter().flatten().collect())
}

fn count(lines: &[Option<CorpusLine>]) -> u64 {
    lines.iter().flatten().count() as u64
}

/// The finished lines at the places of their statements.
fn place_lines(
    folder: &CorpusFolder,
    queries: &[LockedQuery],
    done: Vec<CorpusLine>,
) -> Result<Vec<Option<CorpusLine>>, RunError> {
    let mut lines: Vec<Option<CorpusLine>> = vec![None; queries.len()];
    for (number, line) in done.into_iter().enumerate() {
        let malformed = |reason: &str| RunError::Malformed {
            path: folder.path().to_owned(),
            line: number as u64 + 1,
            reason: reason.to_owned(),
        };
        let place = usize::try_from(line.place).unwrap_or(usize::MAX);
        let query = queries.get(place).filter(|query| query.query.sha256 == line.sha256);
        query.ok_or_else(|| malformed("it is of another corpus"))?;
        let shard = folder.header().shard;
        if shard.is_some_and(|shard| !shard.holds(line.place)) {
            return Err(malformed("its statement is of another shard"));
        }
        match lines.get_mut(place) {
            Some(slot @ None) => *slot = Some(line),
            _ => return Err(malformed("its statement is there twice")),
        }
    }
    Ok(lines)
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;
    use syrch::report::CostReport;
    use syrch_optimize::{Outcome, Report, Settings};

    use super::*;
    use crate::OPTIMIZE_SCHEMA;
    use crate::corpus::{CORPUS_RUN, Corpus, CorpusHeader};

    fn result(sql: &str) -> Optimized {
        let report = Report {
            outcome: Outcome::Unchanged,
            reason: None,
            interrupted: None,
            given: sql.to_owned(),
            original: sql.to_owned(),
            best: sql.to_owned(),
            tables: vec!["t".to_owned()],
            columns: Vec::new(),
            is_ordered: false,
            probe: None,
            iterations: Vec::new(),
            confirmation: None,
            plans: None,
            settings: Settings::default(),
        };
        Optimized {
            schema: OPTIMIZE_SCHEMA.to_owned(),
            run: "r".to_owned(),
            host: "1".to_owned(),
            database: "d".to_owned(),
            rewriter: "w".to_owned(),
            report,
            cost: CostReport::default(),
            warnings: Vec::new(),
        }
    }

    /// Reports on each statement, until so many calls were made.
    struct Fake {
        calls: Mutex<Vec<String>>,
        left: AtomicUsize,
    }

    #[async_trait]
    impl OptimizesStatements for Fake {
        async fn optimize(&self, sql: &str, _: &Path, stop: &Stop) -> Result<Optimized, Error> {
            self.calls.lock().unwrap().push(sql.to_owned());
            match self.left.fetch_sub(1, Ordering::Relaxed) {
                0 => Err(Error::Internal("the database is gone".to_owned())),
                1_000 => {
                    stop.trigger();
                    Ok(result(sql))
                }
                _ => Ok(result(sql)),
            }
        }
    }

    struct Counts(Mutex<Vec<(u64, u64)>>);

    impl CorpusObserver for Counts {
        fn on_begin(&self, _: u64, _: u64, _: &LockedQuery) {}
        fn on_finish(&self, done: u64, of: u64, _: &CorpusLine) {
            self.0.lock().unwrap().push((done, of));
        }
    }

    struct Made {
        _folder: tempfile::TempDir,
        path: std::path::PathBuf,
        queries: Vec<LockedQuery>,
        header: CorpusHeader,
    }

    fn make_corpus() -> Made {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("m.toml");
        for name in ["a", "b", "c"] {
            let file = folder.path().join(format!("{name}.sql"));
            std::fs::write(&file, format!("SELECT {name} FROM t")).unwrap();
            Corpus::add(&manifest, &file, "").unwrap();
        }
        let corpus = Corpus::read(&manifest).unwrap();
        let header = CorpusHeader {
            format: CORPUS_RUN.to_owned(),
            id: "r".to_owned(),
            host: "1".to_owned(),
            manifest: "m".to_owned(),
            digest: corpus.digest().to_owned(),
            queries: 3,
            database: "d".to_owned(),
            address: "a".to_owned(),
            rewriter: "w".to_owned(),
            settings: json!({}),
            shard: None,
        };
        Made {
            path: folder.path().join("run"),
            queries: corpus.lock().unwrap(),
            header,
            _folder: folder,
        }
    }

    #[tokio::test]
    async fn what_is_finished_is_not_measured_again() {
        let made = make_corpus();
        let fake = Fake { calls: Mutex::default(), left: AtomicUsize::new(2) };
        let counts = Counts(Mutex::default());
        let stop = Stop::new();
        let mut folder = CorpusFolder::create(&made.path, made.header.clone()).unwrap();
        let cut = run_corpus(&mut folder, &made.queries, Vec::new(), &fake, &counts, &stop).await;
        assert!(matches!(cut, Err(Error::Internal(_))), "{cut:?}");
        drop(folder);
        fake.left.store(100, Ordering::Relaxed);
        let (mut folder, done) =
            CorpusFolder::resume::<CorpusLine>(&made.path, &made.header).unwrap();
        assert_eq!(done.len(), 2);
        std::fs::write(folder.journal(1), "of a process that was killed before it removed this")
            .unwrap();
        let lines =
            run_corpus(&mut folder, &made.queries, done, &fake, &counts, &stop).await.unwrap();
        let files: Vec<&str> = lines.iter().map(|line| line.file.as_str()).collect();
        assert_eq!(files, ["a.sql", "b.sql", "c.sql"]);
        assert!(!folder.journal(1).exists());
        let calls = fake.calls.lock().unwrap().clone();
        assert_eq!(
            calls,
            ["SELECT a FROM t", "SELECT b FROM t", "SELECT c FROM t", "SELECT c FROM t"]
        );
        assert_eq!(*counts.0.lock().unwrap(), [(1, 3), (2, 3), (3, 3)]);
    }

    #[tokio::test]
    async fn a_statement_that_was_cut_short_has_no_line() {
        let made = make_corpus();
        let fake = Fake { calls: Mutex::default(), left: AtomicUsize::new(1_000) };
        let mut folder = CorpusFolder::create(&made.path, made.header.clone()).unwrap();
        let counts = Counts(Mutex::default());
        let cut =
            run_corpus(&mut folder, &made.queries, Vec::new(), &fake, &counts, &Stop::new()).await;
        assert!(matches!(cut, Err(Error::Interrupted)), "{cut:?}");
        drop(folder);
        assert!(CorpusFolder::resume::<CorpusLine>(&made.path, &made.header).unwrap().1.is_empty());
    }

    #[tokio::test]
    async fn lines_of_another_corpus_and_doubles_are_refused() {
        let made = make_corpus();
        let fake = Fake { calls: Mutex::default(), left: AtomicUsize::new(100) };
        let counts = Counts(Mutex::default());
        let stop = Stop::new();
        let mut folder = CorpusFolder::create(&made.path, made.header.clone()).unwrap();
        let lines = run_corpus(&mut folder, &made.queries, Vec::new(), &fake, &counts, &stop)
            .await
            .unwrap();
        let mut other = lines.clone();
        other[1].sha256 = "0".repeat(64);
        for wrong in [other, [lines.clone(), lines].concat()] {
            let error = run_corpus(&mut folder, &made.queries, wrong, &fake, &counts, &stop)
                .await
                .unwrap_err();
            assert!(matches!(error, Error::Run(RunError::Malformed { .. })), "{error}");
        }
        assert_eq!(fake.calls.lock().unwrap().len(), 3);
    }
}
