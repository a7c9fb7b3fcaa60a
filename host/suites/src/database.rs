//! The databases of a suite: the file of each name, beside the suite in the layout of published
//! suites, or in a folder of the user.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use syrch_core::{DatabaseUrl, text};

use super::Suite;
use super::inside::{Folder, Outside};

/// The kinds of databases that the caller's engines open.
#[derive(Debug, Clone, Copy, Default)]
pub struct Engines {
    /// The extensions of files of databases, without the dot, the likeliest first.
    pub endings: &'static [&'static str],
    /// The schemes of URLs that name files.
    pub file_schemes: &'static [&'static str],
    /// The schemes of URLs that name servers.
    pub server_schemes: &'static [&'static str],
}

impl Engines {
    fn is_server(&self, url: &DatabaseUrl) -> bool {
        url.scheme().is_some_and(|scheme| self.server_schemes.contains(&scheme.as_str()))
    }

    /// A name in a suite without the scheme of an engine that reads files.
    fn path_of(&self, db: &str) -> String {
        let url = DatabaseUrl::parse(db);
        match url.scheme().is_some_and(|scheme| self.file_schemes.contains(&scheme.as_str())) {
            true => url.path().to_string_lossy().into_owned(),
            false => db.to_owned(),
        }
    }
}
/// Folders with a file a database; the empty one is the folder itself.
const FLAT: [&str; 3] = ["", "db", "databases"];
/// Folders with a folder a database, as Spider and BIRD have them.
const NESTED: [&str; 6] =
    ["database", "databases", "dev_databases", "train_databases", "test_database", ""];

/// The reason why a name has no file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// The question names none, and the user neither.
    #[error("no database is named")]
    Unnamed,
    /// The name leads out of the folder. A suite may be untrusted, so it opens nothing there.
    #[error("`{db}` leads out of the suite's folder, where a suite may open nothing")]
    Outside {
        /// The name of the database.
        db: String,
    },
    /// There is no such file.
    #[error("there is no database `{db}` in {searched}")]
    Missing {
        /// The name of the database.
        db: String,
        /// The folders that were searched, in words.
        searched: String,
    },
    /// A path that the user gave does not exist.
    #[error("`{path}` does not exist")]
    NotThere {
        /// The path that was given.
        path: PathBuf,
    },
}

/// A database that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingDatabase {
    /// The reason why the database cannot be opened.
    pub why: Unresolved,
    /// The number of questions that need it.
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
    /// The database that a question names: the URL of a server, or a file in the suite's folder by
    /// its path or as published suites are laid out. `given` is the user's: a server or a file is
    /// the database of all questions, a folder is searched before the suite's own.
    ///
    /// # Errors
    /// When there is no such file, or the name leads out of the folders. No server is asked.
    pub fn database(
        &self,
        db: &str,
        given: Option<&DatabaseUrl>,
        engines: Engines,
    ) -> Result<DatabaseUrl, Unresolved> {
        let mut folders = Vec::new();
        if let Some(given) = given {
            let path = given.path();
            match path.is_dir() {
                _ if engines.is_server(given) => return Ok(given.clone()),
                true => folders.push(Folder::from_user(&path)),
                false if path.exists() => return Ok(given.clone()),
                false => return Err(Unresolved::NotThere { path }),
            }
        }
        folders.push(Folder::for_suite(&self.folder));
        if db.is_empty() {
            return Err(Unresolved::Unnamed);
        }
        for folder in &folders {
            if let Some(path) = find(folder, db, engines)? {
                return Ok(DatabaseUrl::from_path(&path));
            }
        }
        let url = DatabaseUrl::parse(db);
        if engines.is_server(&url) {
            return Ok(url);
        }
        let looked: Vec<String> =
            folders.iter().map(|folder| format!("`{}`", folder.display_path())).collect();
        Err(Unresolved::Missing { db: db.to_owned(), searched: looked.join(" and ") })
    }

    /// All databases, by the names that the questions use; see [`Self::database`].
    ///
    /// # Errors
    /// All names that mean no file, each with the questions that need it.
    pub fn databases(
        &self,
        given: Option<&DatabaseUrl>,
        engines: Engines,
    ) -> Result<BTreeMap<String, DatabaseUrl>, MissingDatabases> {
        let mut found: BTreeMap<&str, Result<DatabaseUrl, usize>> = BTreeMap::new();
        let mut missing: Vec<MissingDatabase> = Vec::new();
        for question in &self.questions {
            let resolved = found.entry(&question.db).or_insert_with(|| {
                self.database(&question.db, given, engines).map_err(|why| {
                    missing.push(MissingDatabase { why, questions: 0, first: question.id.clone() });
                    missing.len() - 1
                })
            });
            if let Err(at) = resolved {
                missing[*at].questions += 1;
            }
        }
        if missing.is_empty() {
            let all = found.into_iter().filter_map(|(db, url)| Some((db.to_owned(), url.ok()?)));
            return Ok(all.collect());
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

/// The file of a database that lies in that folder, laid out as published suites are. Whoever names
/// it may be untrusted: nothing outside of the folder is opened, whatever the links in it lead to.
///
/// # Errors
/// When there is none, or the name leads out of the folder.
pub fn database_in(folder: &Path, db: &str, engines: Engines) -> Result<PathBuf, Unresolved> {
    if db.is_empty() {
        return Err(Unresolved::Unnamed);
    }
    let folder = Folder::for_suite(folder);
    find(&folder, db, engines)?.ok_or_else(|| Unresolved::Missing {
        db: db.to_owned(),
        searched: format!("`{}`", folder.display_path()),
    })
}

/// The file of a database in one folder; `None` if it is not there.
fn find(folder: &Folder, db: &str, engines: Engines) -> Result<Option<PathBuf>, Unresolved> {
    for name in candidates(&engines.path_of(db), engines.endings) {
        let path =
            folder.file(&name).map_err(|Outside| Unresolved::Outside { db: db.to_owned() })?;
        if path.is_file() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Returns the paths in a folder at which a database of that name may lie, the likeliest first.
fn candidates(db: &str, endings: &[&str]) -> Vec<String> {
    let joined = |folder: &str, rest: String| {
        if folder.is_empty() { rest } else { format!("{folder}/{rest}") }
    };
    let mut names = vec![db.to_owned()];
    // A path is what it says.
    let Some(last) = Path::new(db).file_name().filter(|_| !Path::new(db).is_absolute()) else {
        return names;
    };
    for folder in FLAT {
        names.extend(endings.iter().map(|ending| joined(folder, format!("{db}.{ending}"))));
    }
    let last = last.to_string_lossy();
    for folder in NESTED {
        names.extend(endings.iter().map(|ending| joined(folder, format!("{db}/{last}.{ending}"))));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGINES: Engines = Engines {
        endings: &["sqlite", "db"],
        file_schemes: &["sqlite"],
        server_schemes: &["postgres"],
    };

    fn database_in(folder: &Path, db: &str) -> Result<PathBuf, Unresolved> {
        super::database_in(folder, db, ENGINES)
    }

    #[test]
    fn an_untrusted_name_opens_databases_of_the_folder_only() {
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
        assert_eq!(database_in(&root, "sqlite:shop.sqlite"), Ok(root.join("shop.sqlite")));
        let secret = home.path().join("secret.sqlite").display().to_string();
        for name in [
            "sqlite:../secret.sqlite",
            "sqlite:///etc/passwd",
            "../secret",
            "../secret.sqlite",
            "database/../../secret.sqlite",
            "/etc/passwd",
            &secret,
        ] {
            assert!(matches!(database_in(&root, name), Err(Unresolved::Outside { .. })), "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(home.path().join("secret.sqlite"), root.join("link.sqlite"))
                .unwrap();
            assert!(matches!(database_in(&root, "link"), Err(Unresolved::Outside { .. })));
        }
    }
}
