//! Changed copies of the database: a statement that is right by luck on today's rows is wrong on
//! some of them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use syrch::databases::{CopyRequest, Executor, FileEntry, MakeCopy, open_database};
use syrch::{Error, Settings};
use syrch_core::ports::{Admitted, Bench, BenchLimits, Compared, Database, PortError};
use syrch_core::result_set::digest64;
use syrch_core::{DatabaseUrl, SqlError};

/// The copies of one optimization, each made when it is needed first.
pub(super) struct Copies {
    maker: Option<Maker>,
    made: Vec<Option<OpenCopy>>,
    folder: Option<ScratchFolder>,
    /// The reason why a copy could not be made.
    pub(super) warning: Option<String>,
}

/// All that is needed to make a copy.
struct Maker {
    source: PathBuf,
    copy: MakeCopy,
    ending: &'static str,
    settings: Settings,
    limits: BenchLimits,
    folder: PathBuf,
}

/// A copy with its bench. The database must not be dropped before its connection.
struct OpenCopy {
    bench: Box<dyn Bench>,
    _database: Arc<dyn Database>,
}

/// Returns the file of the database of these settings, its engine's properties and the function
/// that makes copies of it; `None` where copies cannot be made.
fn copier(settings: &Settings) -> Option<(PathBuf, &'static FileEntry, MakeCopy)> {
    if settings.own_database.is_some() {
        return None;
    }
    let url = DatabaseUrl::parse(&settings.database);
    let files = Executor::for_url(&url).ok()?.files()?;
    Some((url.path(), files, files.copy?))
}

/// Returns the number of copies that an optimization compares on: as many as the user insists on,
/// or those of the settings where copies can be made.
///
/// # Errors
/// When the user insists on copies and none can be made.
pub(super) fn count_copies(
    settings: &Settings,
    wanted: Option<u32>,
    default: u32,
) -> Result<u32, Error> {
    match (copier(settings).is_some(), wanted) {
        (true, wanted) => Ok(wanted.unwrap_or(default)),
        (false, None | Some(0)) => Ok(0),
        (false, Some(_)) => {
            let able = Executor::all()
                .filter(|executor| executor.files().is_some_and(|files| files.copy.is_some()));
            let able: Vec<&str> = able.map(Executor::name).collect();
            if able.is_empty() {
                return Err(Error::NotBuilt { what: "copies of databases", feature: "copies" });
            }
            let message = format!(
                "changed copies of this database cannot be made; engines that can: {}",
                able.join(", ")
            );
            Err(Error::Config(message))
        }
    }
}

impl Copies {
    pub(super) fn new(settings: &Settings, limits: BenchLimits, folder: Option<PathBuf>) -> Self {
        let maker = copier(settings).map(|(source, files, copy)| Maker {
            source,
            copy,
            ending: files.endings.first().copied().unwrap_or_default(),
            settings: settings.clone(),
            limits,
            folder: folder.unwrap_or_else(std::env::temp_dir),
        });
        Self { maker, made: Vec::new(), folder: None, warning: None }
    }

    /// Compares on the copy of that number; `None` when there is no such copy.
    pub(super) async fn compare(
        &mut self,
        number: u32,
        seed: u64,
        original: &Admitted,
        candidate: &Admitted,
    ) -> Option<Result<Compared, SqlError>> {
        let place = usize::try_from(number).ok()?;
        while self.made.len() <= place {
            let number = self.made.len() as u64;
            let made = self.make(number, seed, &original.sql).await;
            let made = made.map_err(|error| {
                self.warning = Some(format!("a changed copy cannot be made: {error}"))
            });
            self.made.push(made.ok());
        }
        let copy = self.made.get_mut(place)?.as_mut()?;
        if let Err(error) = copy.bench.snapshot().await {
            return Some(Err(error));
        }
        Some(copy.bench.compare(original, candidate).await)
    }

    async fn make(&mut self, number: u64, seed: u64, statement: &str) -> Result<OpenCopy, Error> {
        let maker = self
            .maker
            .as_ref()
            .ok_or_else(|| Error::Config("the engine makes no copies".to_owned()))?;
        let folder = match &self.folder {
            Some(folder) => folder,
            None => self.folder.insert(ScratchFolder::make(&maker.folder)?),
        };
        let target = folder.path.join(format!("{number}.{}", maker.ending));
        let request = CopyRequest {
            source: maker.source.clone(),
            target: target.clone(),
            seed: digest64(&[&seed.to_string(), "copy", &number.to_string()]),
            statements: vec![statement.to_owned()],
        };
        let copy = maker.copy;
        let made = tokio::task::spawn_blocking(move || copy(&request)).await;
        made.map_err(|error| Error::Internal(error.to_string()))??;
        let settings = maker.settings.for_database(DatabaseUrl::from_path(&target).expose());
        let database = open_database(&settings).await?;
        let bench = database.bench(maker.limits).await.map_err(|error| no_bench(&error))?;
        Ok(OpenCopy { bench, _database: database })
    }
}

/// Makes the error of an engine that does not compare and measure.
pub(super) fn no_bench(error: &PortError) -> Error {
    match error {
        PortError::Unsupported => Error::Config(
            "this engine cannot compare statements exactly, so that nothing is optimized on it"
                .to_owned(),
        ),
        other => Error::Database(syrch_core::ports::DatabaseError::Unavailable {
            path: "the database".to_owned(),
            reason: other.to_string(),
        }),
    }
}

/// A new folder that only its owner reads, which is removed in the end with all that is in it. A
/// file in it is locked as long as it is in use, so that a folder of a killed run can be told from
/// that of a run that is going on.
struct ScratchFolder {
    path: PathBuf,
    _lock: File,
}

/// The prefix of the names of these folders.
const SCRATCH: &str = "syrch-copies-";
/// The file that is locked.
const LOCK: &str = "lock";

impl ScratchFolder {
    fn make(within: &Path) -> Result<Self, Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        remove_unused(within);
        let now = std::time::SystemTime::now()
            .duration_since(std::time::SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path =
            within.join(format!("{SCRATCH}{}-{count}-{:x}", std::process::id(), now.as_nanos()));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, syrch_files::FOLDER_MODE);
        let locked = || {
            // A folder that somebody else has made there is refused.
            builder.create(&path)?;
            let lock = File::create_new(path.join(LOCK))?;
            lock.lock()?;
            Ok(lock)
        };
        let lock = locked().map_err(|error: std::io::Error| {
            Error::Config(format!("`{}` cannot be made: {error}", path.display()))
        })?;
        Ok(Self { path, _lock: lock })
    }
}

/// Removes what killed runs have left there. What another user made cannot be opened, and stays.
fn remove_unused(within: &Path) {
    for entry in std::fs::read_dir(within).into_iter().flatten().flatten() {
        let is_scratch = entry.file_name().to_str().is_some_and(|name| name.starts_with(SCRATCH));
        let lock = entry.path().join(LOCK);
        // Neither a symbolic link, which would lead somewhere else, nor a pipe, which would wait.
        if is_scratch
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && lock.symlink_metadata().is_ok_and(|lock| lock.is_file())
            && let Ok(lock) = File::open(lock)
            && lock.try_lock().is_ok()
        {
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.path));
    }
}
