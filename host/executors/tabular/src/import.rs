//! Reads files into a private database and opens it.

use std::any::Any;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use syrch_core::imports::{Imported, Progress};
use syrch_core::ports::DatabaseError;
use syrch_sqlite::store::{self, Place};
use syrch_sqlite::{SqliteConfig, SqliteDatabase, ValueStore};

use crate::config::TabularConfig;
use crate::error::ImportError;
use crate::notes::Notes;
use crate::read::{self, Shape, Work};
use crate::sources::{self, Source};
use crate::target::Target;

/// Rows between two reports of progress.
const REPORT: u64 = 100_000;
/// The factor by which the tables may be larger than what is read.
const GROWTH: u64 = 2;
/// The size of a small database, whatever is read, in bytes.
const SMALL: u64 = 64 << 20;

/// Opens the database of a file, of a folder of files or of a pattern. The files are only read, and
/// nothing is written beside them. It blocks.
///
/// Reading ends soon after `cancelled` becomes true.
///
/// # Errors
/// When there is no file, one cannot be read or there is too much in them, with the file's name
/// and, where it has lines, the line.
pub fn open(
    config: &TabularConfig,
    cancelled: &AtomicBool,
) -> Result<SqliteDatabase, DatabaseError> {
    let Filled { path, notes, held } = ensure_filled(config, cancelled)
        .map_err(|error| error.into_database_error(&config.path))?;
    let sqlite = SqliteConfig {
        tables: config.tables.clone(),
        limits: config.limits.clone(),
        shown_as: Some(config.path.display().to_string()),
        name: Some(config.name.clone()),
        comments: notes.comments(),
        values: config.folder.clone().map(|folder| ValueStore {
            folder,
            retained: config.retained,
            retained_bytes: config.retained_bytes,
        }),
        ..SqliteConfig::new(path)
    };
    SqliteDatabase::open_holding(sqlite, held)
}

type Held = Box<dyn Any + Send + Sync>;

/// A private database that has been written.
struct Filled {
    path: PathBuf,
    notes: Notes,
    /// The temporary file or the place, which keeps it there.
    held: Held,
}

/// Returns the private database, and writes it first if it is not there.
fn ensure_filled(config: &TabularConfig, cancelled: &AtomicBool) -> Result<Filled, ImportError> {
    let sources = sources::find_sources(&config.path)?;
    let identity = sources::identity(&config.path, &sources, &config.options)?;
    let write = |path: &Path| {
        let notes = import(config, &sources, path, cancelled)?;
        match sources::identity(&config.path, &sources, &config.options)? == identity {
            true => Ok(notes),
            false => Err(ImportError::content(
                &display_path(config),
                None,
                "it changed while it was read; try again",
            )),
        }
    };
    fn write_error(error: std::io::Error) -> ImportError {
        ImportError::Write(error.to_string())
    }
    // Without a folder that can be written the database is temporary.
    let place = config.folder.as_deref().and_then(|folder| Place::open(folder, &identity).ok());
    let Some(place) = place else {
        let file = tempfile::Builder::new()
            .prefix("syrch-")
            .suffix(".sqlite")
            .tempfile()
            .map_err(write_error)?;
        let notes = write(file.path())?;
        let path = file.into_temp_path();
        return Ok(Filled { path: path.to_path_buf(), notes, held: Box::new(path) });
    };
    if place.fill(
        |path: &Path| write(path)?.write(&place.notes()).map_err(write_error),
        write_error,
        cancelled,
    )? {
        config
            .folder
            .iter()
            .for_each(|folder| store::prune(folder, config.retained, config.retained_bytes));
    }
    let notes = Notes::read(&place.notes()).map_err(write_error)?;
    Ok(Filled { path: place.path().to_owned(), notes, held: Box::new(place) })
}

fn display_path(config: &TabularConfig) -> String {
    config.path.display().to_string()
}

/// Reads all files into an empty file.
fn import(
    config: &TabularConfig,
    sources: &[Source],
    path: &Path,
    cancelled: &AtomicBool,
) -> Result<Notes, ImportError> {
    // All files are looked at before the first is written.
    let work = Work::new(config.caps, &config.options, cancelled);
    let shapes =
        sources.iter().map(|source| read::shape(source, &work)).collect::<Result<Vec<_>, _>>()?;
    let work = Work::new(config.caps, &config.options, cancelled);
    let target =
        Target::create(path, config.caps.bytes.saturating_mul(GROWTH).saturating_add(SMALL))?;
    let mut taken = HashSet::new();
    let mut notes = Notes::default();
    for (source, shape) in sources.iter().zip(shapes) {
        let table = table_name(&source.stem, &mut taken);
        let mut rows = target.table(&table, &shape)?;
        let mut count = 0;
        let later = read::rows(source, &shape, &work, &mut |cells| {
            rows.add(cells)?;
            count += 1;
            if count % REPORT == 0 {
                report(config, Progress::Reading { file: &source.name, rows: count });
            }
            Ok(())
        })?;
        drop(rows);
        let mut imported = describe_import(source, table, shape, count);
        imported.notes.extend(later);
        report(config, Progress::Read(&imported));
        notes.add(&imported.table, imported.notes);
    }
    target.finish()?;
    Ok(notes)
}

fn describe_import(source: &Source, table: String, shape: Shape, rows: u64) -> Imported {
    let columns = shape.names.into_iter().zip(shape.types.iter().map(|kind| kind.name())).collect();
    Imported {
        file: source.name.clone(),
        table,
        columns,
        rows,
        nested: shape.nested,
        notes: shape.notes,
    }
}

fn report(config: &TabularConfig, progress: Progress<'_>) {
    if let Some(report) = &config.progress {
        report(progress);
    }
}

/// The name of a file's table: its letters, digits and underscores, with an underscore for what
/// stands between them.
fn table_name(stem: &str, taken: &mut HashSet<String>) -> String {
    let mut words = stem
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty());
    let mut name = words.next().unwrap_or("table").to_owned();
    for word in words {
        name.push('_');
        name.push_str(word);
    }
    // The engine keeps such names for itself.
    if name.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("sqlite_")) {
        name.insert(0, '_');
    }
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut all = std::iter::once(name.clone()).chain(numbered);
    all.find(|name| taken.insert(name.to_lowercase())).unwrap_or(name)
}

#[cfg(test)]
mod tests;
