//! The databases of a suite: which file each name means, looked for beside the suite as the published suites lay them out, or where the
//! user says.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use syrch_core::text;

use super::Suite;
use super::inside::{Folder, Outside};

/// What files of databases end with.
const ENDINGS: [&str; 3] = ["sqlite", "db", "sqlite3"];
/// Folders with a file a database; the empty one is the folder itself.
const FLAT: [&str; 3] = ["", "db", "databases"];
/// Folders with a folder a database, as Spider and BIRD have them.
const NESTED: [&str; 6] = ["database", "databases", "dev_databases", "train_databases", "test_database", ""];

/// Why a name means no file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// The question names none, and the user neither.
    #[error("no database is named")]
    Unnamed,
    /// The name leads out of the folder, where a suite, which may be a stranger's, opens nothing.
    #[error("`{db}` leads out of the suite's folder, where a suite may open nothing")]
    Outside {
        /// The name.
        db: String,
    },
    /// There is no such file.
    #[error("there is no database `{db}` in {looked}")]
    Missing {
        /// The name.
        db: String,
        /// The folders in which it was looked for, in words.
        looked: String,
    },
    /// What the user gave does not exist.
    #[error("`{path}` does not exist")]
    NotThere {
        /// What was given.
        path: PathBuf,
    },
}

/// A database that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingDatabase {
    /// Why.
    pub why: Unresolved,
    /// How many questions need it.
    pub questions: u64,
    /// The id of the first of them.
    pub first: String,
}

impl fmt::Display for MissingDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { why, questions, first } = self;
        match questions {
            1 => write!(f, "{why}; `{first}` needs it"),
            _ => write!(f, "{why}; {questions} questions need it, the first is `{first}`"),
        }
    }
}

/// All databases of a suite that are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingDatabases(pub Vec<MissingDatabase>);

impl fmt::Display for MissingDatabases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(missing) = self;
        if let [one] = missing.as_slice() {
            return write!(f, "{one}");
        }
        write!(f, "{} databases are missing:", missing.len())?;
        missing.iter().take(text::NAMED).try_for_each(|one| write!(f, "\n{one}"))?;
        match missing.len().saturating_sub(text::NAMED) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for MissingDatabases {}

impl Suite {
    /// The file of a database that a question names. `given` is the user's: a file is the database of all questions, a folder is searched
    /// before the suite's own.
    ///
    /// # Errors
    /// When there is none, or the name leads out of the folders.
    pub fn database(&self, db: &str, given: Option<&Path>) -> Result<PathBuf, Unresolved> {
        let mut folders = Vec::new();
        if let Some(given) = given {
            match given.is_dir() {
                true => folders.push(Folder::given(given)),
                false if given.exists() => return Ok(given.to_owned()),
                false => return Err(Unresolved::NotThere { path: given.to_owned() }),
            }
        }
        folders.push(Folder::of_suite(&self.folder));
        if db.is_empty() {
            return Err(Unresolved::Unnamed);
        }
        for folder in &folders {
            if let Some(path) = look(folder, db)? {
                return Ok(path);
            }
        }
        let looked: Vec<String> = folders.iter().map(|folder| format!("`{}`", folder.shown())).collect();
        Err(Unresolved::Missing { db: db.to_owned(), looked: looked.join(" and ") })
    }

    /// The files of all databases, by the names that the questions use.
    ///
    /// # Errors
    /// All names that mean no file, each with the questions that need it.
    pub fn databases(&self, given: Option<&Path>) -> Result<BTreeMap<String, PathBuf>, MissingDatabases> {
        let mut found: BTreeMap<&str, Result<PathBuf, usize>> = BTreeMap::new();
        let mut missing: Vec<MissingDatabase> = Vec::new();
        for question in &self.questions {
            let resolved = found.entry(&question.db).or_insert_with(|| {
                self.database(&question.db, given).map_err(|why| {
                    missing.push(MissingDatabase { why, questions: 0, first: question.id.clone() });
                    missing.len() - 1
                })
            });
            if let Err(at) = resolved {
                missing[*at].questions += 1;
            }
        }
        if missing.is_empty() {
            let files = found.into_iter().filter_map(|(db, path)| Some((db.to_owned(), path.ok()?)));
            return Ok(files.collect());
        }
        // One wrong --db is one fault, however many names it was given for.
        if let Some(MissingDatabase { why: Unresolved::NotThere { .. }, .. }) = missing.first() {
            let questions = missing.iter().map(|one| one.questions).sum();
            missing.truncate(1);
            missing[0].questions = questions;
        }
        Err(MissingDatabases(missing))
    }
}

/// The file of a database that lies in that folder, laid out as published suites are. Who names it may be a stranger: nothing outside of
/// the folder is opened, whatever the links in it lead to.
///
/// # Errors
/// When there is none, or the name leads out of the folder.
pub fn database_in(folder: &Path, db: &str) -> Result<PathBuf, Unresolved> {
    if db.is_empty() {
        return Err(Unresolved::Unnamed);
    }
    let folder = Folder::of_suite(folder);
    let missing = || Unresolved::Missing { db: db.to_owned(), looked: format!("`{}`", folder.shown()) };
    look(&folder, db)?.ok_or_else(missing)
}

/// The file of a database in one folder; none: it is not there.
fn look(folder: &Folder, db: &str) -> Result<Option<PathBuf>, Unresolved> {
    for name in candidates(db) {
        let path = folder.file(&name).map_err(|Outside| Unresolved::Outside { db: db.to_owned() })?;
        if path.is_file() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Where a database of that name may lie in a folder, the likeliest first.
fn candidates(db: &str) -> Vec<String> {
    let joined = |folder: &str, rest: String| if folder.is_empty() { rest } else { format!("{folder}/{rest}") };
    let mut names = vec![db.to_owned()];
    // A path is what it says.
    let Some(last) = Path::new(db).file_name().filter(|_| !Path::new(db).is_absolute()) else { return names };
    for folder in FLAT {
        names.extend(ENDINGS.map(|ending| joined(folder, format!("{db}.{ending}"))));
    }
    let last = last.to_string_lossy();
    names.extend(NESTED.map(|folder| joined(folder, format!("{db}/{last}.sqlite"))));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_names_databases_of_the_folder_only() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("all");
        std::fs::create_dir_all(root.join("database/school")).unwrap();
        for path in ["all/shop.sqlite", "all/database/school/school.sqlite", "secret.sqlite"] {
            std::fs::write(home.path().join(path), "x").unwrap();
        }
        assert_eq!(database_in(&root, "shop"), Ok(root.join("shop.sqlite")));
        assert_eq!(database_in(&root, "school"), Ok(root.join("database/school/school.sqlite")));
        assert_eq!(database_in(&root, ""), Err(Unresolved::Unnamed));
        assert!(matches!(database_in(&root, "shpo"), Err(Unresolved::Missing { .. })));
        let secret = home.path().join("secret.sqlite").display().to_string();
        for name in ["../secret", "../secret.sqlite", "database/../../secret.sqlite", "/etc/passwd", &secret] {
            assert!(matches!(database_in(&root, name), Err(Unresolved::Outside { .. })), "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(home.path().join("secret.sqlite"), root.join("link.sqlite")).unwrap();
            assert!(matches!(database_in(&root, "link"), Err(Unresolved::Outside { .. })));
        }
    }
}
