//! Variants of a database: the same schema with a changed content, for telling a right statement
//! from one that is right by luck (Zhong, Yu, Klein 2020, "Semantic evaluation for text-to-SQL with
//! distilled test suites"). The executor never writes; this crate writes a new file, and opens the
//! database itself as a search does, to read it.

mod change;
mod keys;
mod literals;
mod script;
mod source;
mod target;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rand::SeedableRng;
use rand_pcg::Pcg64;
use syrch_core::ports::DatabaseError;
use syrch_core::result_set::digest64;
use syrch_sqlite::bounded;

use change::Changes;
use keys::Keys;
use literals::RetainedLiterals;
use source::Source;
use target::Target;

pub use literals::literals;
pub use script::{SCRIPT_BYTES, open_script};

/// Time for all that is made, reading included.
const DEADLINE: Duration = Duration::from_secs(120);
/// Bytes of memory that the engine may take for it.
const MEMORY: usize = 256 << 20;

/// The configuration with which a variant is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariantConfig {
    /// Rows of a table at most.
    pub rows: usize,
    /// The contents that stay findable where they stand: cells with these contents, letter case
    /// aside, and with `%` or `_` cells like these patterns. See [`literals`].
    pub keep: Vec<String>,
}

impl Default for VariantConfig {
    fn default() -> Self {
        Self { rows: 2_000, keep: Vec::new() }
    }
}

/// Counts of what a variant holds, and what it lacks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variant {
    /// The number of rows of each table.
    pub tables: BTreeMap<String, u64>,
    /// Rows that a key or a condition of the schema forbade.
    pub left_out: u64,
    /// Descriptions of what was not taken over: virtual tables with their content, and what the
    /// schema of a damaged or doctored file states wrongly.
    pub skipped: Vec<String>,
}

/// The reason why no variant can be made.
#[derive(Debug, thiserror::Error)]
pub enum VariantError {
    /// The database cannot be opened.
    #[error(transparent)]
    Source(#[from] DatabaseError),
    /// Its content cannot be read.
    #[error("the content of `{}` cannot be read", path.display())]
    Read {
        /// The path of the source database.
        path: PathBuf,
        /// The error of the engine.
        source: rusqlite::Error,
    },
    /// There is a file already; it is never overwritten.
    #[error("`{}` exists already", path.display())]
    Exists {
        /// The path of the existing file.
        path: PathBuf,
    },
    /// The file cannot be made.
    #[error("`{}` cannot be made", path.display())]
    Make {
        /// The path of the new file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The engine cannot write it.
    #[error("`{}` cannot be written", path.display())]
    Write {
        /// The path of the new file.
        path: PathBuf,
        /// The error of the engine.
        source: rusqlite::Error,
    },
}

/// Makes a variant of `source` as the new file `target`: the schema without its triggers and
/// virtual tables, and of the content a sample of each table's rows, in which values have changed
/// places within their columns, some have become others of their column or have changed a little,
/// and some rows stand twice. Keys stay unique, foreign keys that pointed to a row point to a row,
/// what the schema forbids is left out, and what [`VariantConfig::keep`] names stays where it can
/// be found. The same source, seed and config make the same content.
///
/// Blocks; bounded by the rows that are read (100,000 of a table), by the bytes that are retained
/// of them (256 MiB of all tables, beyond which rows are left out), by a minute for reading, by two
/// for all of it, and by half a GiB for the file.
///
/// # Errors
/// When the source cannot be read, or the target exists or cannot be written within its bounds.
/// Nothing is left behind then.
pub fn make_variant(
    source: &Path,
    target: &Path,
    seed: u64,
    config: &VariantConfig,
) -> Result<Variant, VariantError> {
    let mut source = Source::open(source)?;
    let target = Target::create(target, DEADLINE, MEMORY)?;
    let made = write(&mut source, &target, seed, config);
    // Both connections were counted on this thread.
    bounded::release();
    match made {
        Ok(variant) => target.finish().map(|()| variant),
        Err(error) => {
            target.discard();
            Err(error)
        }
    }
}

fn write(
    source: &mut Source,
    target: &Target,
    seed: u64,
    config: &VariantConfig,
) -> Result<Variant, VariantError> {
    let mut variant = Variant::default();
    let skipped = target.make_tables(source.declarations())?;
    let retained = RetainedLiterals::new(&config.keep);
    let random = |what: &str, table: &str| {
        Pcg64::seed_from_u64(seed ^ digest64(&[what, &table.to_lowercase()]))
    };
    let mut tables = source.tables(&retained, config.rows, |table| random("rows", table))?;
    tables.retain(|table| !skipped.contains(&table.name));
    let mut keys = Keys::from_tables(&tables);
    for at in keys::parents_first(&tables) {
        let table = &mut tables[at];
        let mut random = random("cells", &table.name);
        Changes { table, keys: &keys, retained: &retained }.make(&mut random);
        keys.repair(table, &mut random);
        let inserted = target.insert(table)?;
        variant.left_out += inserted.iter().filter(|is_in| !**is_in).count() as u64;
        let mut inserted = inserted.into_iter();
        table.rows.retain(|_| inserted.next().unwrap_or(false));
        variant.tables.insert(table.name.clone(), table.rows.len() as u64);
        keys.replace(table);
    }
    variant.skipped = source.omissions();
    variant.skipped.extend(skipped);
    variant.skipped.extend(target.make_others(source.declarations())?);
    Ok(variant)
}

#[cfg(test)]
mod tests;
