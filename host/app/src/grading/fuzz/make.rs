//! Making the variants of a suite's databases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syrch_core::ports::Query;
use syrch_core::result_set::digest64;
use syrch_grade::suite::Suite;
use syrch_sqlite::variant::{Variant, VariantConfig, VariantError, literals, make_variant};

use super::{FUZZ_FILE, FUZZ_FORMAT, FuzzManifest, FuzzedDatabase, FuzzedVariant, digest, open};
use crate::grading::suite_run::{own_file, own_folder};
use crate::{Error, Settings, Silent};

/// For each variant that is wanted, how many are tried.
const TRIES: u32 = 3;

/// How a fuzzed suite is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FuzzOptions {
    /// Variants of each database.
    pub variants: u32,
    /// Where everything random starts.
    pub seed: u64,
}

impl Default for FuzzOptions {
    fn default() -> Self {
        Self { variants: 12, seed: 0 }
    }
}

/// Told how far it is, as it goes.
pub trait FuzzObserver: Send + Sync {
    /// So many databases of so many have their variants.
    fn made(&self, done: u64, of: u64);
}

impl FuzzObserver for Silent {
    fn made(&self, _: u64, _: u64) {}
}

/// Makes variants of the databases of a suite as `FOLDER/DATABASE/N.sqlite`, and says in `FOLDER/fuzz.json` what was made from what.
/// `databases` are those of the suite, by name. The constants of the expected statements stay findable, and a variant on which more than
/// half of those statements have no rows, though they have on the original, is dropped for another. The databases themselves are only read.
///
/// # Errors
/// When the folder is there and not empty, a database cannot be read, or something cannot be written. What was made until then stays, and
/// without `fuzz.json` it is no fuzzed suite.
pub async fn fuzz(
    suite: &Suite,
    databases: &BTreeMap<String, PathBuf>,
    folder: &Path,
    options: FuzzOptions,
    settings: &Settings,
    observer: &dyn FuzzObserver,
) -> Result<FuzzManifest, Error> {
    prepare(folder)?;
    let mut manifest = FuzzManifest {
        format: FUZZ_FORMAT.to_owned(),
        host: env!("CARGO_PKG_VERSION").to_owned(),
        suite: suite.digest.clone(),
        seed: options.seed,
        databases: BTreeMap::new(),
    };
    let of = databases.len() as u64;
    for (number, (name, path)) in (1..).zip(databases) {
        let questions = suite.questions.iter().filter(|question| question.db == *name);
        let mut golds: Vec<&str> = questions.flat_map(|question| question.statements()).collect();
        golds.sort_unstable();
        golds.dedup();
        let maker = Maker { name, path, golds, folder, place: place(name, &manifest), options, settings };
        manifest.databases.insert(name.clone(), maker.make().await?);
        observer.made(number, of);
    }
    let text = serde_json::to_string_pretty(&manifest).map_err(|error| Error::Internal(error.to_string()))?;
    write(&folder.join(FUZZ_FILE), &(text + "\n"))?;
    Ok(manifest)
}

/// Makes the folder, unless it is there and empty.
fn prepare(folder: &Path) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::Config(format!("`{}` cannot be used: {error}", folder.display()));
    own_folder(folder).map_err(failed)?;
    if std::fs::read_dir(folder).map_err(failed)?.next().is_some() {
        let message = format!("the folder `{}` is not empty; name a new one for the fuzzed suite", folder.display());
        return Err(Error::Config(message));
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::Config(format!("`{}` cannot be written: {error}", path.display()));
    own_file(path, text.as_bytes()).map_err(failed)
}

/// The folder of a database's variants: its name as far as that is a plain one, and a number where another has it already.
fn place(name: &str, manifest: &FuzzManifest) -> String {
    let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = |c: char| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let stem: String = stem.chars().map(plain).collect();
    let stem = if stem.is_empty() { "database".to_owned() } else { stem };
    let is_taken = |place: &str| {
        let begin = format!("{place}/").to_lowercase();
        let mut files = manifest.databases.values().flat_map(|database| &database.variants);
        files.any(|variant| variant.file.to_lowercase().starts_with(&begin))
    };
    let numbered = (2..).map(|number| format!("{stem}-{number}"));
    std::iter::once(stem.clone()).chain(numbered).find(|place| !is_taken(place)).unwrap_or(stem)
}

/// Makes the variants of one database.
struct Maker<'a> {
    name: &'a str,
    path: &'a Path,
    /// The expected statements, each once.
    golds: Vec<&'a str>,
    folder: &'a Path,
    place: String,
    options: FuzzOptions,
    settings: &'a Settings,
}

impl<'a> Maker<'a> {
    async fn make(mut self) -> Result<FuzzedDatabase, Error> {
        let folder = self.folder.join(&self.place);
        own_folder(&folder)
            .map_err(|error| Error::Config(format!("`{}` cannot be made: {error}", folder.display())))?;
        self.golds = self.with_rows(self.path).await?;
        let source = digest(self.path.to_owned()).await?;
        let mut made = FuzzedDatabase { source, variants: Vec::new(), dropped: 0, skipped: Vec::new() };
        for attempt in 0..self.options.variants.saturating_mul(TRIES) {
            if made.variants.len() as u32 == self.options.variants {
                break;
            }
            let file = format!("{}/{}.sqlite", self.place, made.variants.len() + 1);
            let target = self.folder.join(&file);
            let seed = digest64(&[&self.options.seed.to_string(), self.name, &attempt.to_string()]);
            let variant = self.variant(target.clone(), seed).await?;
            let (golds, of) = (self.with_rows(&target).await?.len() as u64, self.golds.len() as u64);
            if golds * 2 < of {
                std::fs::remove_file(&target)
                    .map_err(|error| Error::Config(format!("`{}` cannot be removed: {error}", target.display())))?;
                made.dropped += 1;
                continue;
            }
            let rows = variant.tables.values().sum();
            made.skipped = variant.skipped;
            made.variants.push(FuzzedVariant { file, digest: digest(target).await?, seed, rows, golds, of });
        }
        if made.variants.is_empty() && self.options.variants > 0 {
            let message = "most of its expected statements have no rows on any variant of it";
            return Err(Error::Unfit(format!("database `{}` cannot be fuzzed: {message}", self.name)));
        }
        Ok(made)
    }

    async fn variant(&self, target: PathBuf, seed: u64) -> Result<Variant, Error> {
        let keep = literals(self.golds.iter().copied());
        let (path, config) = (self.path.to_owned(), VariantConfig { keep, ..VariantConfig::default() });
        let made = tokio::task::spawn_blocking(move || make_variant(&path, &target, seed, &config)).await;
        made.map_err(|error| Error::Internal(error.to_string()))?.map_err(|error| match error {
            VariantError::Source(error) => Error::Database(error),
            error => {
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
                Error::Config(format!("{error}{cause}"))
            }
        })
    }

    /// Which of the expected statements have rows there.
    async fn with_rows(&self, path: &Path) -> Result<Vec<&'a str>, Error> {
        let database = open(self.settings, path).await?;
        let mut found = Vec::new();
        for gold in &self.golds {
            if database.run(&Query::new(*gold)).await.is_ok_and(|result| result.row_count() > 0) {
                found.push(*gold);
            }
        }
        Ok(found)
    }
}
