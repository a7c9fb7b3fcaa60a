//! The table of database engines. Whatever configuration, help, `doctor`, suites, telemetry and
//! errors need to know of one stands in its entry: another one is a crate in `host/executors/`, a
//! file in `executors/`, and its `mod` and its line here. A build may leave engines out; only this
//! file knows which.
// A build without engines leaves unused what they share.
#![cfg_attr(not(feature = "default"), allow(dead_code))]

#[cfg(feature = "adbc")]
mod adbc;
#[cfg_attr(not(feature = "copies"), path = "executors/without_copies.rs")]
mod copies;
#[cfg(feature = "databricks")]
mod databricks;
#[cfg(feature = "adbc")]
mod duckdb;
mod entry;
#[cfg(feature = "files")]
mod files;
mod foreign;
mod open;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "spark")]
mod spark;
#[cfg_attr(not(feature = "sqlite"), path = "executors/without_sqlite.rs")]
mod sqlite;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use syrch_core::ports::{Database, DatabaseError};
use syrch_core::text::either;
use syrch_core::{DatabaseUrl, Dialect, Limits};
use syrch_suites::{Engines, Suite};

use crate::Error;
use crate::content_digest::content_digest;
use entry::Entry;
pub(crate) use entry::OpenDatabase;
pub use entry::{Condition, Copied, CopyRequest, FileEntry, MakeCopy, ServerEntry, ServerReport};
pub(crate) use sqlite::with_single_quotes;
pub use sqlite::{clear, store_size};

/// A private database that these SQLite statements make, under that name. It is removed when it is
/// dropped. The statements may be anybody's: they reach no file, and what they take is bounded.
///
/// # Errors
/// When a statement fails, is not allowed, or takes too much.
pub async fn database_of_script(
    script: impl Into<String>,
    name: impl Into<String>,
    limits: Limits,
) -> Result<Arc<dyn Database>, DatabaseError> {
    copies::script(script.into(), name.into(), limits).await
}

/// An engine of the table. A build without it recognises its addresses, to say what is missing.
struct Engine {
    /// Its name in flags, files and journals.
    name: &'static str,
    /// The Cargo feature that builds it.
    feature: &'static str,
    /// Its name for people.
    title: &'static str,
    /// The schemes of its URLs, in lower case, the one that names it first.
    schemes: &'static [&'static str],
    /// The endings of its files, without the dot.
    endings: &'static [&'static str],
    /// All else; `None` in a build without it.
    entry: Option<&'static Entry>,
}

macro_rules! engine {
    ($feature:literal, $module:ident, $title:literal, $schemes:expr, $endings:expr) => {
        Engine {
            name: stringify!($module),
            feature: $feature,
            title: $title,
            schemes: &$schemes,
            endings: &$endings,
            #[cfg(feature = $feature)]
            entry: Some(&$module::ENTRY),
            #[cfg(not(feature = $feature))]
            entry: None,
        }
    };
}

/// The engines. A path that ends like none of their files is the first one's.
static TABLE: [Engine; 7] = [
    engine!("sqlite", sqlite, "SQLite", ["sqlite"], ["sqlite", "db", "sqlite3", "db3"]),
    engine!("files", files, "data files", ["files"], ["csv", "tsv", "jsonl", "ndjson", "parquet"]),
    engine!("postgres", postgres, "PostgreSQL", ["postgres", "postgresql"], []),
    engine!("adbc", duckdb, "DuckDB", ["duckdb"], ["duckdb", "ddb"]),
    engine!("adbc", adbc, "ADBC drivers", ["adbc"], []),
    engine!("databricks", databricks, "Databricks SQL", ["databricks"], []),
    engine!("spark", spark, "Spark Connect", ["sc"], []),
];

impl Engine {
    /// Returns whether a path is that of one of its databases.
    fn has_ending_of(&self, path: &Path) -> bool {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let is_its_ending = self.endings.contains(&ending.as_str());
        let files = self.entry.and_then(|entry| entry.files.as_ref());
        is_its_ending || files.is_some_and(|files: &FileEntry| (files.claims)(path))
    }

    /// The engine as this build has it.
    ///
    /// # Errors
    /// [`Error::NotBuilt`] when the build has none.
    fn executor(&'static self) -> Result<Executor, Error> {
        let absent = Error::NotBuilt { what: self.title, feature: self.feature };
        self.entry.map(|entry| Executor { engine: self, entry }).ok_or(absent)
    }
}

/// A database engine of the table that this build has.
#[derive(Clone, Copy)]
pub struct Executor {
    engine: &'static Engine,
    entry: &'static Entry,
}

impl Executor {
    /// All engines, the default one for files first.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().filter_map(|engine| engine.executor().ok())
    }

    /// The engine of that name, or of a further name for it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all()
            .find(|executor| executor.name() == name || executor.entry.aliases.contains(&name))
    }

    /// The engine of an address: that of its scheme, or for a path that of the file's ending.
    ///
    /// # Errors
    /// [`Error::Config`] when no engine has the scheme, and [`Error::NotBuilt`] when this build
    /// lacks the one that has it.
    pub fn for_url(url: &DatabaseUrl) -> Result<Self, Error> {
        let Some(scheme) = url.scheme() else { return Self::for_path(&url.path()) };
        if let Some(engine) = TABLE.iter().find(|engine| engine.schemes.contains(&scheme.as_str()))
        {
            return engine.executor();
        }
        if let Some(tip) = foreign::tip(&url.expose().to_lowercase()) {
            return Err(Error::Config(format!("no executor for `{scheme}:` databases: {tip}")));
        }
        let engines: Vec<String> = Self::all()
            .map(|each| format!("{} ({})", each.describe_addresses(), each.forms()))
            .collect();
        Err(Error::Config(format!(
            "no executor for `{scheme}:` databases; this version takes {}",
            either(&engines)
        )))
    }

    fn for_path(path: &Path) -> Result<Self, Error> {
        let [first, ..] = &TABLE;
        TABLE.iter().find(|engine| engine.has_ending_of(path)).unwrap_or(first).executor()
    }

    /// Returns the forms of its addresses: `PATH or sqlite:PATH`.
    #[must_use]
    pub fn forms(self) -> String {
        let named =
            self.engine.schemes.iter().map(|scheme| format!("{scheme}:{}", self.entry.form));
        let path = self.files().map(|_| self.entry.form.to_owned());
        path.into_iter().chain(named).collect::<Vec<_>>().join(" or ")
    }

    /// Its name in flags, files and journals.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.engine.name
    }

    /// Returns its description for the help.
    #[must_use]
    pub fn summary(self) -> &'static str {
        self.entry.summary
    }

    /// Returns the values that `--db` takes for it, as the end of "--db takes …".
    #[must_use]
    pub fn describe_addresses(self) -> &'static str {
        self.entry.takes
    }

    /// Returns the properties of its files; `None` for a server.
    #[must_use]
    pub fn files(self) -> Option<&'static FileEntry> {
        self.entry.files.as_ref()
    }

    /// Returns the properties of its servers; `None` where databases are files.
    #[must_use]
    pub fn server(self) -> Option<&'static ServerEntry> {
        self.entry.server.as_ref()
    }

    /// Returns whether environment variables can name its servers.
    pub(crate) fn reads_variables(self) -> bool {
        self.server().is_some_and(|server| !server.variables.is_empty())
    }

    /// Asks a server for its version and the rights of its user; `None` for an engine of files, and
    /// for one that cannot be asked.
    pub(crate) async fn inspect(
        self,
        database: OpenDatabase,
    ) -> Option<Result<ServerReport, DatabaseError>> {
        let inspect = self.entry.server.as_ref()?.inspect?;
        Some(inspect(database).await)
    }

    /// Returns whether its servers have roles.
    pub(crate) fn has_roles(self) -> bool {
        self.entry.server.as_ref().is_some_and(|server| server.role_sql.is_some())
    }

    /// The statements that make a role which only reads; `None` for an engine without roles.
    pub(crate) fn role_sql(
        self,
        database: OpenDatabase,
        schemas: &[String],
    ) -> Option<Result<String, DatabaseError>> {
        Some(self.entry.server.as_ref()?.role_sql?(database, schemas))
    }

    pub(crate) async fn open(
        self,
        database: OpenDatabase,
    ) -> Result<Arc<dyn Database>, DatabaseError> {
        (self.entry.open)(database).await
    }
}

impl PartialEq for Executor {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Executor {}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The engine's name in OpenTelemetry's conventions; that for engines without one where no engine
/// of the table speaks the dialect.
pub(crate) fn telemetry_name(dialect: &Dialect) -> &'static str {
    Executor::all()
        .find(|executor| executor.entry.dialect.as_ref() == Some(dialect))
        .map_or("other_sql", |executor| executor.entry.telemetry)
}

/// The path of a database that is a file, or of a folder of them; `None` for a server, for an
/// unknown scheme and where nothing is named.
#[must_use]
pub fn database_path(url: &DatabaseUrl) -> Option<PathBuf> {
    let is_file =
        !url.is_empty() && Executor::for_url(url).is_ok_and(|executor| executor.files().is_some());
    is_file.then(|| url.path()).filter(|path| !path.as_os_str().is_empty())
}

/// The files of a database: its own, and those that the engine writes beside it. A server has none.
#[must_use]
pub fn database_files(url: &DatabaseUrl) -> Vec<PathBuf> {
    let (Some(path), Ok(executor)) = (database_path(url), Executor::for_url(url)) else {
        return Vec::new();
    };
    let Some(files) = executor.files() else { return Vec::new() };
    (files.sources)(&path)
        .into_iter()
        .flat_map(|path: PathBuf| {
            // The engine finds its files beside the file itself, not beside a link to it.
            let real = path.canonicalize().unwrap_or(path);
            let beside =
                files.beside.iter().map(|ending| append_suffix(&real, ending)).collect::<Vec<_>>();
            std::iter::once(real).chain(beside)
        })
        .collect()
}

/// Returns the suffixes of a database's files, for all engines: the empty text for the file itself,
/// and `-wal` and the like.
pub fn suffixes() -> impl Iterator<Item = &'static str> {
    std::iter::once("")
        .chain(Executor::all().filter_map(Executor::files).flat_map(|files| files.beside).copied())
}

/// Returns the endings of database files of all engines, without the dot.
pub(crate) fn file_endings() -> Vec<&'static str> {
    Executor::all().filter_map(Executor::files).flat_map(|files| files.endings).copied().collect()
}

/// Returns whether a path ends like the file of a database.
#[must_use]
pub fn is_database_file(path: &Path) -> bool {
    file_endings().iter().any(|known: &&str| {
        path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(*known))
    })
}

/// Returns the name of a database: its file's name without the ending, or the last part of a
/// server's address before the parameters.
#[must_use]
pub fn database_name(url: &DatabaseUrl) -> String {
    let files = Executor::for_url(url).ok().and_then(Executor::files);
    if let Some(files) = files.filter(|files| files.endings.is_empty()) {
        return (files.name)(&url.path());
    }
    let shown = url.to_string();
    let rest = shown.split(['?', '#']).next().unwrap_or_default();
    if files.is_none() && Executor::for_url(url).is_ok() {
        // Pairs such as `host=localhost dbname=shop`.
        if !url.rest().starts_with("//") && rest.contains('=') {
            let name = rest.split([':', ' ']).find_map(|pair| pair.strip_prefix("dbname="));
            return name.unwrap_or_default().trim_matches('\'').to_owned();
        }
        let rest = rest.trim_end_matches('/').rsplit(['/', '@', ':']).next().unwrap_or_default();
        return rest.to_owned();
    }
    let path = DatabaseUrl::parse(rest).path();
    path.file_stem().map_or_else(|| rest.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Returns the facts on engines that suites need.
pub(crate) fn suite_engines() -> Engines {
    static ENGINES: LazyLock<Engines> = LazyLock::new(|| {
        fn schemes(is_file: bool) -> &'static [&'static str] {
            let all = Executor::all().filter(|executor| executor.files().is_some() == is_file);
            all.flat_map(|executor| executor.engine.schemes).copied().collect::<Vec<_>>().leak()
        }
        Engines {
            endings: file_endings().leak(),
            file_schemes: schemes(true),
            server_schemes: schemes(false),
        }
    });
    *ENGINES
}

/// The databases of a suite, by the names that its questions use. `given` is the user's: a server
/// or a file is the database of all questions, a folder is searched before the suite's own.
///
/// # Errors
/// All names that mean no database, each with the questions that need it. No database is opened.
pub fn suite_databases(
    suite: &Suite,
    given: Option<&DatabaseUrl>,
) -> Result<BTreeMap<String, DatabaseUrl>, Error> {
    Ok(suite.databases(given, suite_engines())?)
}

/// The digest of the content of a database that is a file, equal on every machine that has the same
/// file; `None` for a server. It blocks.
#[must_use]
pub fn file_digest(url: &DatabaseUrl) -> Option<io::Result<String>> {
    let files = Executor::for_url(url).ok()?.files()?;
    Some(content_digest(&(files.sources)(&database_path(url)?), files.content))
}

pub(crate) fn append_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> DatabaseUrl {
        DatabaseUrl::parse(text)
    }

    #[test]
    fn names_schemes_and_endings_are_unique() {
        let aliases = Executor::all().flat_map(|executor| executor.entry.aliases);
        let lists = [
            TABLE.iter().map(|engine| engine.name).chain(aliases.copied()).collect::<Vec<_>>(),
            TABLE.iter().flat_map(|engine| engine.schemes).copied().collect(),
            TABLE.iter().flat_map(|engine| engine.endings).copied().collect(),
        ];
        for mut list in lists {
            let count = list.len();
            list.sort_unstable();
            list.dedup();
            assert_eq!(list.len(), count, "{list:?}");
            assert!(
                list.iter().all(|word| !word.is_empty() && word.to_lowercase() == *word),
                "{list:?}"
            );
        }
        for engine in &TABLE {
            assert!(!engine.schemes.is_empty(), "{} cannot be named", engine.name);
            assert_eq!(Executor::from_name(engine.name).map(Executor::name), Some(engine.name));
        }
    }

    /// A build without an engine knows its files as one with it does.
    #[test]
    fn the_endings_of_the_table_are_those_of_the_entries() {
        for engine in &TABLE {
            let Some(files) = engine.entry.and_then(|entry| entry.files.as_ref()) else { continue };
            let claims = |ending: &&str| (files.claims)(&PathBuf::from(format!("a.{ending}")));
            let claimed = engine.endings.iter().filter(|ending| claims(ending)).count();
            let is_all = claimed == engine.endings.len() && files.endings.is_empty();
            assert!(is_all || files.endings == engine.endings, "{}", engine.name);
        }
    }

    #[test]
    fn an_engine_that_is_not_built_names_its_feature() {
        static ABSENT: Engine = Engine {
            name: "abacus",
            feature: "abacus",
            title: "abacuses",
            schemes: &["abacus"],
            endings: &[],
            entry: None,
        };
        let error = ABSENT.executor().unwrap_err();
        assert_eq!(error.to_string(), "this build has no abacuses; build with --features abacus");
        assert_eq!(error.class(), "configuration");
    }

    #[test]
    fn an_address_finds_its_engine() {
        for text in ["shop.sqlite", "SQLITE:x", "sqlite://x.db", "x.unknown", "C:\\x.DB", "/a:b/c"]
        {
            assert_eq!(Executor::for_url(&url(text)).unwrap().name(), "sqlite", "{text}");
        }
        let foreign =
            Executor::for_url(&url("mysql+pymysql://ann:secret@h/x")).unwrap_err().to_string();
        assert!(foreign.contains("`mysql+pymysql:`") && foreign.contains("adbc:odbc"), "{foreign}");
        assert!(!foreign.contains("secret"));
        let wrong = Executor::for_url(&url("kdb://ann:secret@h/x")).unwrap_err().to_string();
        assert!(wrong.starts_with(
            "no executor for `kdb:` databases; this version takes the path of a SQLite file (PATH \
             or sqlite:PATH)"
        ));
        assert!(!wrong.contains("secret"));
        assert_eq!(database_path(&url("oracle:x")), None);
        assert_eq!(database_files(&url(" ")), Vec::<PathBuf>::new());
        assert_eq!(database_files(&url("sqlite:")), Vec::<PathBuf>::new());
        let files = database_files(&url("sqlite:none/x.db"));
        assert_eq!(
            files,
            ["none/x.db", "none/x.db-wal", "none/x.db-shm", "none/x.db-journal"].map(PathBuf::from)
        );
    }

    #[test]
    fn a_database_is_called_as_its_file() {
        for (text, name) in [
            ("data/shop.sqlite", "shop"),
            ("sqlite:shop.db?mode=ro", "shop"),
            ("shop", "shop"),
            ("/a/shop.v2.sqlite#x", "shop.v2"),
            ("postgres://ann:pw@db.example:5432/shop?sslmode=require", "shop"),
            ("postgres:host=/run port=5433 dbname=shop user=ann", "shop"),
            ("postgres:shop", "shop"),
            ("", ""),
        ] {
            assert_eq!(database_name(&url(text)), name, "{text}");
        }
    }

    #[test]
    fn telemetry_knows_the_engines_of_the_table() {
        assert_eq!(telemetry_name(&Dialect::Sqlite), "sqlite");
        assert_eq!(telemetry_name(&Dialect::Postgres), "postgresql");
        assert_eq!(telemetry_name(&Dialect::Other("kdb".to_owned())), "other_sql");
    }
}
