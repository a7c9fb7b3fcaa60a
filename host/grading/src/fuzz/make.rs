//! Makes the variants of a suite's databases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syrch::databases::{Copied, CopyRequest, Executor, FileEntry, MakeCopy, with_single_quotes};
use syrch::{Error, Settings, Silent};
use syrch_core::DatabaseUrl;
use syrch_core::ports::SqlQuery;
use syrch_core::result_set::digest64;
use syrch_grade::suite::Suite;

use super::{FUZZ_FILE, FUZZ_FORMAT, FuzzManifest, FuzzedDatabase, FuzzedVariant, digest, open};

/// The number of attempts for each variant that is wanted.
const TRIES: u32 = 3;

/// The options with which a fuzzed suite is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FuzzOptions {
    /// The number of variants that are made of each database.
    pub variants: u32,
    /// The seed of all random choices.
    pub seed: u64,
}

impl Default for FuzzOptions {
    fn default() -> Self {
        Self { variants: 12, seed: 0 }
    }
}

/// Receives the progress of [`fuzz`].
pub trait FuzzObserver: Send + Sync {
    /// Called when `done` databases of `of` have their variants.
    fn on_variants_made(&self, done: u64, of: u64);
}

impl FuzzObserver for Silent {
    fn on_variants_made(&self, _: u64, _: u64) {}
}

/// Makes variants of the databases of a suite as `FOLDER/DATABASE/N.ENDING`, and writes the
/// manifest `FOLDER/fuzz.json`. `databases` has the databases of the suite by name; they are only
/// read. The constants of the expected statements can still be found in the variants. A variant on
/// which more than half of these statements have no rows, although they have rows on the original,
/// is dropped, and another one is made.
///
/// # Errors
/// When the folder exists and is not empty, a database cannot be read, or something cannot be
/// written. The files that were made until then are left there; without `fuzz.json` they are no
/// fuzzed suite.
pub async fn fuzz(
    suite: &Suite,
    databases: &BTreeMap<String, DatabaseUrl>,
    folder: &Path,
    options: FuzzOptions,
    settings: &Settings,
    observer: &dyn FuzzObserver,
) -> Result<FuzzManifest, Error> {
    databases.values().try_for_each(|url| copier(url).map(drop))?;
    prepare(folder)?;
    let mut manifest = FuzzManifest {
        format: FUZZ_FORMAT.to_owned(),
        host: env!("CARGO_PKG_VERSION").to_owned(),
        suite: suite.digest.clone(),
        seed: options.seed,
        databases: BTreeMap::new(),
    };
    let of = databases.len() as u64;
    for (number, (name, url)) in (1..).zip(databases) {
        let questions = suite.questions.iter().filter(|question| question.db == *name);
        let mut golds: Vec<&str> = questions.flat_map(|question| question.statements()).collect();
        golds.sort_unstable();
        golds.dedup();
        let (files, copy) = copier(url)?;
        let maker = Maker {
            name,
            url,
            files,
            copy,
            golds,
            folder,
            place: place(name, &manifest),
            options,
            settings,
        };
        manifest.databases.insert(name.clone(), maker.make().await?);
        observer.on_variants_made(number, of);
    }
    let text = serde_json::to_string_pretty(&manifest)
        .map_err(|error| Error::Internal(error.to_string()))?;
    write(&folder.join(FUZZ_FILE), &(text + "\n"))?;
    Ok(manifest)
}

/// The function that makes changed copies of a database, and what is known of the database's files.
fn copier(url: &DatabaseUrl) -> Result<(&'static FileEntry, MakeCopy), Error> {
    let executor = Executor::for_url(url)?;
    let found = executor.files().and_then(|files| Some((files, files.copy?)));
    found.ok_or_else(|| {
        let able = Executor::all()
            .filter(|executor| executor.files().is_some_and(|files| files.copy.is_some()));
        let able: Vec<&str> = able.map(Executor::name).collect();
        if able.is_empty() {
            return Error::NotBuilt { what: "copies of databases", feature: "copies" };
        }
        let name = executor.name();
        let able = able.join(", ");
        Error::Config(format!(
            "`{url}`: changed copies of {name} databases cannot be made; engines that can: {able}"
        ))
    })
}

/// Makes the folder if it does not exist, and checks that it is empty.
fn prepare(folder: &Path) -> Result<(), Error> {
    let failed = |error: std::io::Error| {
        Error::Config(format!("`{}` cannot be used: {error}", folder.display()))
    };
    syrch_files::make_folder(folder).map_err(failed)?;
    if std::fs::read_dir(folder).map_err(failed)?.next().is_some() {
        let message = format!(
            "the folder `{}` is not empty; name a new one for the fuzzed suite",
            folder.display()
        );
        return Err(Error::Config(message));
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    syrch_files::replace(path, text.as_bytes()).map_err(|error: std::io::Error| {
        Error::Config(format!("`{}` cannot be written: {error}", path.display()))
    })
}

/// The name of the folder for a database's variants: the database's name with `_` in place of
/// special characters, and a number if the name is taken.
fn place(name: &str, manifest: &FuzzManifest) -> String {
    let stem = Path::new(name)
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let stem: String = stem
        .chars()
        .map(|c: char| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .collect();
    let stem = if stem.is_empty() { "database".to_owned() } else { stem };
    fn is_taken(manifest: &FuzzManifest, place: &str) -> bool {
        let begin = format!("{place}/").to_lowercase();
        let mut files = manifest.databases.values().flat_map(|database| &database.variants);
        files.any(|variant| variant.file.to_lowercase().starts_with(&begin))
    }
    let numbered = (2..).map(|number| format!("{stem}-{number}"));
    std::iter::once(stem.clone())
        .chain(numbered)
        .find(|place| !is_taken(manifest, place))
        .unwrap_or(stem)
}

/// Makes the variants of one database.
struct Maker<'a> {
    name: &'a str,
    url: &'a DatabaseUrl,
    files: &'static FileEntry,
    copy: MakeCopy,
    /// The distinct expected statements, sorted.
    golds: Vec<&'a str>,
    folder: &'a Path,
    place: String,
    options: FuzzOptions,
    settings: &'a Settings,
}

impl<'a> Maker<'a> {
    async fn make(mut self) -> Result<FuzzedDatabase, Error> {
        let folder = self.folder.join(&self.place);
        syrch_files::make_folder(&folder).map_err(|error| {
            Error::Config(format!("`{}` cannot be made: {error}", folder.display()))
        })?;
        self.golds = self.with_rows(self.url).await?;
        let source = digest(self.url.clone()).await?;
        let mut made =
            FuzzedDatabase { source, variants: Vec::new(), dropped: 0, skipped: Vec::new() };
        for attempt in 0..self.options.variants.saturating_mul(TRIES) {
            if made.variants.len() as u32 == self.options.variants {
                break;
            }
            let ending = self.files.endings.first().copied().unwrap_or_default();
            let file = format!("{}/{}.{ending}", self.place, made.variants.len() + 1);
            let target = self.folder.join(&file);
            let seed = digest64(&[&self.options.seed.to_string(), self.name, &attempt.to_string()]);
            let variant = self.variant(target.clone(), seed).await?;
            let url = DatabaseUrl::from_path(&target);
            let golds = self.with_rows(&url).await?.len() as u64;
            let of = self.golds.len() as u64;
            if golds * 2 < of {
                std::fs::remove_file(&target).map_err(|error| {
                    Error::Config(format!("`{}` cannot be removed: {error}", target.display()))
                })?;
                made.dropped += 1;
                continue;
            }
            made.skipped = variant.skipped;
            let rows = variant.rows;
            made.variants.push(FuzzedVariant {
                file,
                digest: digest(url).await?,
                seed,
                rows,
                golds,
                of,
            });
        }
        if made.variants.is_empty() && self.options.variants > 0 {
            let message = "most of its expected statements have no rows on any variant of it";
            return Err(Error::Unfit(format!(
                "database `{}` cannot be fuzzed: {message}",
                self.name
            )));
        }
        Ok(made)
    }

    async fn variant(&self, target: PathBuf, seed: u64) -> Result<Copied, Error> {
        let statements = self.golds.iter().map(|gold| (*gold).to_owned()).collect();
        let copy = self.copy;
        let request = CopyRequest { source: self.url.path(), target, seed, statements };
        let made = tokio::task::spawn_blocking(move || copy(&request)).await;
        made.map_err(|error| Error::Internal(error.to_string()))?
    }

    /// The expected statements that have rows on a database.
    async fn with_rows(&self, url: &DatabaseUrl) -> Result<Vec<&'a str>, Error> {
        let database = open(self.settings, url).await?;
        let mut found = Vec::new();
        for gold in &self.golds {
            let query = SqlQuery::new(with_single_quotes(gold, database.as_ref()).await);
            if database.run(&query).await.is_ok_and(|result| result.row_count() > 0) {
                found.push(*gold);
            }
        }
        Ok(found)
    }
}
