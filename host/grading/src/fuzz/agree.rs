//! Compares the rows of a statement with the expected ones on every variant of a database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use syrch::databases::{suffixes, with_single_quotes};
use syrch::{Error, Settings};
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{DatabaseUrl, ResultSet};
use syrch_grade::Verdict;
use syrch_grade::rules::{Facts, Rule};
use syrch_grade::run::{DOCUMENT, read_within};
use syrch_grade::suite::Suite;
use syrch_memory::MemoryCache;

use super::super::expected;
use super::{FUZZ_FILE, FUZZ_FORMAT, FuzzManifest, FuzzedVariant, digest, open};

const LOG: &str = "syrch.fuzz";
/// The number of variants that are open at once.
const OPEN: usize = 64;
/// The number of expected results that are cached for the next answer to the same question.
const CACHED: usize = 512;
/// The size of the cached results in memory, in bytes.
const CACHED_BYTES: usize = 128 << 20;
/// The number of variants on which a statement runs at once.
const AT_ONCE: usize = 4;

/// A fuzzed suite that answers can be compared on.
pub struct Fuzzed {
    folder: PathBuf,
    manifest: FuzzManifest,
    settings: Settings,
    databases: MemoryCache<String, Arc<dyn Database>>,
    golds: MemoryCache<(String, String), Option<ResultSet>>,
}

/// The result of comparing a predicted statement on the variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzedVerdict {
    /// The number of variants that count: those on which an expected statement has rows and the
    /// rule can decide.
    pub variants: u32,
    /// The number of those on which the prediction is right.
    pub agreed: u32,
    /// The file of the first variant on which it is wrong; `None` if there is none.
    pub first_disagreement: Option<String>,
}

impl FuzzedVerdict {
    /// Returns true if the prediction is right on every variant that counts. Together with the
    /// verdict on the original, this is the verdict on the fuzzed suite.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.agreed == self.variants
    }
}

impl Fuzzed {
    /// Opens the fuzzed suite in a folder. `settings` has the limits of statements.
    ///
    /// # Errors
    /// When there is none, when it was made for other questions, or when a variant has changed
    /// since it was made.
    pub async fn open(folder: &Path, suite: &Suite, settings: &Settings) -> Result<Self, Error> {
        let manifest = read(folder)?;
        if manifest.suite != suite.digest {
            let shown = folder.display();
            let message = format!(
                "the fuzzed suite in `{shown}` was made for other questions or expected answers; \
                 make a new one"
            );
            return Err(Error::Unfit(message));
        }
        for question in &suite.questions {
            if !manifest.databases.contains_key(&question.db) {
                let message = format!(
                    "the fuzzed suite in `{}` has no database `{}`",
                    folder.display(),
                    question.db
                );
                return Err(Error::Unfit(message));
            }
        }
        for variant in manifest.databases.values().flat_map(|database| &database.variants) {
            let path = folder.join(&variant.file);
            if digest(DatabaseUrl::from_path(&path)).await? != variant.digest {
                return Err(Error::Unfit(format!(
                    "`{}` has changed since it was made",
                    path.display()
                )));
            }
        }
        let databases = MemoryCache::new(OPEN);
        let golds = MemoryCache::within(CACHED, CACHED_BYTES, |_: &_, rows: &Option<ResultSet>| {
            rows.as_ref().map_or(0, ResultSet::size)
        });
        Ok(Self {
            folder: folder.to_owned(),
            manifest,
            settings: settings.clone(),
            databases,
            golds,
        })
    }

    /// The manifest of the fuzzed suite.
    #[must_use]
    pub fn manifest(&self) -> &FuzzManifest {
        &self.manifest
    }

    /// Compares a prediction with the expected statements, of which any one suffices, on every
    /// variant of a database by a rule. `ordered` says whether the question asks for an order of
    /// rows. A statement that fails on a variant is wrong there. Variants on which no expected
    /// statement has rows, or on which the rule cannot decide, do not count.
    ///
    /// # Errors
    /// When the database has no variants or one cannot be opened; [`Error::Sql`] when a statement
    /// fails there for a transient reason, so that there may be a verdict another time.
    pub async fn agree(
        &self,
        db: &str,
        golds: &[&str],
        predicted_sql: &str,
        rule: Rule,
        ordered: bool,
    ) -> Result<FuzzedVerdict, Error> {
        let variants = &self
            .manifest
            .databases
            .get(db)
            .ok_or_else(|| Error::Unfit(format!("the fuzzed suite has no database `{db}`")))?
            .variants;
        let all: Vec<BoxFuture<'_, _>> = variants
            .iter()
            .map(|variant: &'_ FuzzedVariant| {
                self.judge_variant(variant.file.clone(), golds, predicted_sql, rule, ordered)
                    .boxed()
            })
            .collect();
        let mut verdicts = stream::iter(all).buffered(AT_ONCE);
        let mut found = FuzzedVerdict { variants: 0, agreed: 0, first_disagreement: None };
        while let Some(verdict) = verdicts.next().await {
            match verdict? {
                (_, Some(Verdict::Right)) => {
                    (found.variants, found.agreed) = (found.variants + 1, found.agreed + 1)
                }
                (file, Some(Verdict::Wrong)) => {
                    found.variants += 1;
                    found.first_disagreement.get_or_insert(file);
                }
                (_, Some(Verdict::Excluded) | None) => {}
            }
        }
        if let Some(file) = &found.first_disagreement {
            let agreed = found.agreed;
            let variants = found.variants;
            let folder = self.folder.display();
            tracing::info!(
                target: LOG, database = db, "right on {agreed} of {variants} variants, and first \
                    not on `{folder}/{file}`"
            );
        }
        Ok(found)
    }

    /// The verdict on one variant, with the variant's file; `None` if the variant does not count.
    async fn judge_variant(
        &self,
        file: String,
        golds: &[&str],
        predicted_sql: &str,
        rule: Rule,
        ordered: bool,
    ) -> Result<(String, Option<Verdict>), Error> {
        let database =
            self.databases.get(&file, || open_at(&self.settings, self.folder.join(&file))).await?;
        let mut expected = Vec::new();
        for gold in golds {
            let result = self
                .golds
                .get(&(file.clone(), (*gold).to_owned()), || async {
                    let query =
                        SqlQuery::new(with_single_quotes(gold, database.as_ref().as_ref()).await);
                    expected::separate_lasting(database.run(&query).await).map(Result::ok)
                })
                .await?;
            if result.as_ref().as_ref().is_some_and(|result| result.row_count() > 0) {
                expected.push((result, Facts::new(ordered, Some(gold))));
            }
        }
        if expected.is_empty() {
            return Ok((file, None));
        }
        let predicted_sql = with_single_quotes(predicted_sql, database.as_ref().as_ref()).await;
        let Ok(predicted) =
            expected::separate_lasting(database.run(&SqlQuery::new(predicted_sql)).await)?
        else {
            return Ok((file, Some(Verdict::Wrong)));
        };
        // Comparing large results takes long, so it is done on a thread that may block.
        let compared = tokio::task::spawn_blocking(move || {
            let golds =
                expected.iter().filter_map(|(gold, facts)| Some((gold.as_ref().as_ref()?, *facts)));
            rule.any(golds, &predicted)
        })
        .await;
        compared
            .map(|verdict| (file, Some(verdict)))
            .map_err(|error| Error::Internal(error.to_string()))
    }
}

async fn open_at(settings: &Settings, path: PathBuf) -> Result<Arc<dyn Database>, Error> {
    open(settings, &DatabaseUrl::from_path(&path)).await
}

fn read(folder: &Path) -> Result<FuzzManifest, Error> {
    let path = folder.join(FUZZ_FILE);
    if !is_plain(folder, Path::new(FUZZ_FILE)) {
        return Err(link_error(folder, FUZZ_FILE));
    }
    let text = read_within(&path, DOCUMENT).map_err(|error| {
        Error::Config(format!(
            "there is no fuzzed suite in `{}`: `{FUZZ_FILE}` cannot be read: {error}",
            folder.display()
        ))
    })?;
    let wrong =
        |what: String| Error::Unfit(format!("`{}` is no fuzzed suite: {what}", path.display()));
    let manifest: FuzzManifest =
        serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    if manifest.format != FUZZ_FORMAT {
        return Err(wrong(format!(
            "its format is `{}`, and this host reads `{FUZZ_FORMAT}`",
            manifest.format
        )));
    }
    // The manifest may be untrusted: its paths must stay in the folder.
    for variant in manifest.databases.values().flat_map(|database| &database.variants) {
        if !Path::new(&variant.file)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)))
        {
            return Err(wrong(format!("`{}` leads out of its folder", variant.file)));
        }
        // The files that an engine stores beside a database belong to it.
        for file in suffixes().map(|end| format!("{}{end}", variant.file)) {
            if !is_plain(folder, Path::new(&file)) {
                return Err(link_error(folder, &file));
            }
        }
    }
    Ok(manifest)
}

/// Returns true if neither the file at a path in a folder nor a folder on the way to it is a
/// symbolic link, a pipe or a device. A file that does not exist is plain.
fn is_plain(folder: &Path, file: &Path) -> bool {
    let mut path = folder.to_owned();
    file.components().all(|part| {
        path.push(part);
        path.symlink_metadata().map_or(true, |about| about.is_file() || about.is_dir())
    })
}

fn link_error(folder: &Path, file: &str) -> Error {
    let path = folder.join(file);
    Error::Unfit(format!(
        "`{}` is not a plain file in the fuzzed suite's folder: links are not followed there",
        path.display()
    ))
}
