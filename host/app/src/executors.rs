//! The table of database engines. Whatever configuration, help, `doctor`, suites, telemetry and
//! errors need to know of one stands in its entry: another one is a crate in `host/executors/` and
//! an entry here.

mod foreign;
mod open;

pub(crate) use open::with_single_quotes;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use futures::future::BoxFuture;
use syrch_core::ports::{Database, DatabaseError};
use syrch_core::text::either;
use syrch_core::{DatabaseUrl, Dialect, Limits};
use syrch_grade::suite::{Engines, Suite};

use crate::Error;
use crate::content_digest::content_digest;
use crate::imports::ImportSettings;
use crate::settings::ServerSettings;

/// The entry of an engine in the table.
struct Entry {
    /// Its name in flags, files and journals.
    name: &'static str,
    /// Further names that flags and files may use for it, such as those of the Python package
    /// `syrch` 0.1.2.
    aliases: &'static [&'static str],
    /// A description of the engine for people.
    summary: &'static str,
    /// The values that `--db` takes for it, as the end of "--db takes …".
    takes: &'static str,
    /// The schemes of its URLs, in lower case, the one that names it first.
    schemes: &'static [&'static str],
    /// The form of the address after the scheme and its colon, for people.
    form: &'static str,
    /// The SQL that its databases speak; `None` where that depends on the database.
    dialect: Option<Dialect>,
    /// Its name in OpenTelemetry's conventions (`db.system.name`).
    telemetry: &'static str,
    /// The properties of its files; `None` for a server.
    files: Option<FileEntry>,
    /// The properties of its servers; `None` for files.
    server: Option<ServerEntry>,
    open: Open,
}

/// The properties of an engine whose databases are at a server.
pub struct ServerEntry {
    /// The prefixes of the names of the environment variables that its clients read.
    pub variables: &'static [&'static str],
    /// Advice for a user whom a server refuses, as the end of "check …".
    pub login: &'static str,
    /// Advice for a connection that cannot be encrypted.
    pub encryption: &'static str,
    /// Asks a server what it is and what its user could do beyond reading; `None` where there is no
    /// common way to ask.
    inspect: Option<Inspect>,
    /// The statements that make a role which only reads these schemas; `None` where a server has no
    /// roles. Nothing is connected to.
    role_sql: Option<RoleSql>,
}

impl fmt::Debug for ServerEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerEntry").field("variables", &self.variables).finish_non_exhaustive()
    }
}

type Inspect = fn(OpenDatabase) -> BoxFuture<'static, Result<ServerReport, DatabaseError>>;
type RoleSql = fn(OpenDatabase, &[String]) -> Result<String, DatabaseError>;

/// A server's version, and what its user could do there beyond reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerReport {
    /// The engine and its version, and how the connection is made, such as `PostgreSQL 15.8, TLS`.
    pub detail: String,
    /// The rights of the user beyond reading, a sentence for each; empty for one that only reads.
    pub beyond_reading: Vec<String>,
}

/// The properties of an engine whose databases are files.
#[derive(Debug)]
pub struct FileEntry {
    /// The endings of its files, without the dot; new files get the first. A suite's database may
    /// be named without it.
    pub endings: &'static [&'static str],
    /// Returns whether a path is that of one of its databases, whatever it ends with.
    claims: fn(&Path) -> bool,
    /// Returns the files that a path names.
    sources: fn(&Path) -> Vec<PathBuf>,
    /// Returns the name of the database at a path.
    name: fn(&Path) -> String,
    /// The suffixes that the engine appends to a database's file name to name the files that it
    /// writes beside it.
    pub beside: &'static [&'static str],
    /// The suffixes in `beside` of the files that hold a part of the database's content.
    pub content: &'static [&'static str],
    /// The command that may save the content of a damaged file, with `FILE` for its path.
    pub rescue: Option<&'static str>,
    /// Returns how the files of a path are stored, and what `doctor` should warn of. It reads
    /// headers and sizes.
    pub condition: fn(&Path) -> Condition,
    /// Makes a changed copy of a database, which `suite fuzz` needs; `None` where the engine
    /// cannot.
    pub copy: Option<MakeCopy>,
}

/// Makes a changed copy. It blocks.
pub type MakeCopy = fn(&CopyRequest) -> Result<Copied, Error>;

/// The arguments of a changed copy of a database.
pub struct CopyRequest {
    /// The database, which is only read.
    pub source: PathBuf,
    /// The path of the copy; it is an error if the file exists.
    pub target: PathBuf,
    /// The seed of the changes: equal seeds make equal copies.
    pub seed: u64,
    /// The statements whose constants still occur in the copy where they occur in the database.
    pub statements: Vec<String>,
}

/// A copy that was made.
pub struct Copied {
    /// The number of rows of all tables together.
    pub rows: u64,
    /// Tables that the copy lacks, such as virtual ones.
    pub skipped: Vec<String>,
}

/// The way in which the file of a database is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// A few words, such as `rollback journal`.
    pub detail: String,
    /// The command that mends what slows its readers down; `None` if nothing does.
    pub fix: Option<String>,
}

/// The arguments that a database is opened with.
pub(crate) struct OpenDatabase {
    /// Its address; the scheme is one of the engine's, or none.
    pub(crate) url: DatabaseUrl,
    /// The tables that may be seen, as globs. If there are none, all may be seen.
    pub(crate) tables: Vec<String>,
    pub(crate) limits: Limits,
    /// The settings of clients of servers besides the address.
    pub(crate) servers: ServerSettings,
    /// The settings for reading files of rows.
    pub(crate) imports: ImportSettings,
}

/// Opens a database and reads its catalog. It is never created and never written.
type Open = fn(OpenDatabase) -> BoxFuture<'static, Result<Arc<dyn Database>, DatabaseError>>;

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
    open::script(script.into(), name.into(), limits).await
}

/// The engines. A path that ends like none of their files is the first one's.
static TABLE: [Entry; 7] = [
    Entry {
        name: "sqlite",
        aliases: &[],
        summary: "a SQLite file",
        takes: "the path of a SQLite file",
        schemes: &["sqlite"],
        form: "PATH",
        dialect: Some(Dialect::Sqlite),
        telemetry: "sqlite",
        files: Some(FileEntry {
            endings: &["sqlite", "db", "sqlite3", "db3"],
            claims: |_| false,
            sources: |path| vec![path.to_owned()],
            name: |path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            beside: &["-wal", "-shm", "-journal"],
            content: &["-wal"],
            rescue: Some("sqlite3 FILE .recover"),
            condition: open::sqlite_condition,
            copy: Some(open::sqlite_copy),
        }),
        server: None,
        open: |database| Box::pin(open::open_sqlite(database)),
    },
    Entry {
        name: "files",
        aliases: &[],
        summary: "files of rows (.csv, .tsv, .jsonl, .parquet; also a folder or a pattern of them)",
        takes: "files of rows (CSV, TSV, JSON Lines or Parquet; also a folder or a pattern of them)",
        schemes: &["files"],
        form: "PATH",
        dialect: Some(Dialect::Sqlite),
        telemetry: "sqlite",
        files: Some(FileEntry {
            endings: &[],
            claims: syrch_tabular::is_tabular,
            sources: syrch_tabular::sources,
            name: syrch_tabular::name,
            beside: &[],
            content: &[],
            rescue: None,
            condition: open::tabular_condition,
            copy: None,
        }),
        server: None,
        open: |database| Box::pin(open::open_tabular(database)),
    },
    Entry {
        name: "postgres",
        aliases: &[],
        summary: "a PostgreSQL database",
        takes: "the URL of a PostgreSQL database",
        schemes: &["postgres", "postgresql"],
        form: "//USER@HOST/DATABASE",
        dialect: Some(Dialect::Postgres),
        telemetry: "postgresql",
        files: None,
        server: Some(ServerEntry {
            variables: &["PG"],
            login: "the user of the address, the password in ~/.pgpass or PGPASSWORD, and that the server's pg_hba.conf allows the connection",
            encryption: "`sslmode` and `sslrootcert` of the address: docs/postgres.md says what each checks",
            inspect: Some(|database| Box::pin(open::postgres_report(database))),
            role_sql: Some(open::postgres_role),
        }),
        open: |database| Box::pin(open::open_postgres(database)),
    },
    Entry {
        name: "duckdb",
        aliases: &[],
        summary: "a DuckDB file",
        takes: "the path of a DuckDB file",
        schemes: &["duckdb"],
        form: "PATH",
        dialect: Some(Dialect::Duckdb),
        telemetry: "other_sql",
        files: Some(FileEntry {
            endings: &["duckdb", "ddb"],
            claims: |_| false,
            sources: |path| vec![path.to_owned()],
            name: |path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            beside: &[".wal"],
            content: &[".wal"],
            rescue: None,
            condition: open::size_condition,
            copy: None,
        }),
        server: None,
        open: |database| Box::pin(open::open_duckdb(database)),
    },
    Entry {
        name: "adbc",
        aliases: &["jdbc"],
        summary: "a database of an ADBC driver",
        takes: "a driver of your configuration with its options",
        schemes: &["adbc"],
        form: "DRIVER;NAME=VALUE;…",
        dialect: None,
        telemetry: "other_sql",
        files: None,
        server: Some(ServerEntry {
            variables: &[],
            login: "the options of the address: docs/adbc.md says how they are written",
            encryption: "the driver's own options for TLS",
            inspect: None,
            role_sql: None,
        }),
        open: |database| Box::pin(open::open_adbc(database)),
    },
    Entry {
        name: "databricks",
        aliases: &["databricks-sql"],
        summary: "a Databricks SQL warehouse",
        takes: "the URL of a Databricks SQL warehouse",
        schemes: &["databricks"],
        form: "//HOST/sql/1.0/warehouses/ID",
        dialect: Some(Dialect::Databricks),
        telemetry: "other_sql",
        files: None,
        server: Some(ServerEntry {
            variables: &["DATABRICKS_", "ARM_", "AZURE_"],
            login: "DATABRICKS_TOKEN, or DATABRICKS_CLIENT_ID and DATABRICKS_CLIENT_SECRET, and that the user may use the warehouse",
            encryption: "that the host's certificate is signed by an authority that this machine trusts",
            inspect: Some(|database| Box::pin(open::databricks_report(database))),
            role_sql: Some(open::databricks_role),
        }),
        open: |database| Box::pin(open::open_databricks(database)),
    },
    Entry {
        name: "spark",
        aliases: &[],
        summary: "a Spark Connect server",
        takes: "the URL of a Spark Connect server",
        schemes: &["sc"],
        form: "//HOST:15002",
        dialect: Some(Dialect::Spark),
        telemetry: "other_sql",
        files: None,
        server: Some(ServerEntry {
            variables: &["SPARK_"],
            login: "the token of the address, or SPARK_CONNECT_AUTHENTICATE_TOKEN",
            encryption: "`use_ssl` of the address, and that the server's certificate is signed by an authority that this machine trusts",
            inspect: Some(|database| Box::pin(open::spark_report(database))),
            role_sql: None,
        }),
        open: |database| Box::pin(open::open_spark(database)),
    },
];

/// A database engine of the table.
#[derive(Clone, Copy)]
pub struct Executor(&'static Entry);

impl Executor {
    /// All engines, the default one for files first.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(Self)
    }

    /// The engine of that name, or of a further name for it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|executor| executor.name() == name || executor.0.aliases.contains(&name))
    }

    /// The engine of an address: that of its scheme, or for a path that of the file's ending.
    ///
    /// # Errors
    /// [`Error::Config`] when no engine has the scheme.
    pub fn for_url(url: &DatabaseUrl) -> Result<Self, Error> {
        let Some(scheme) = url.scheme() else { return Self::for_path(&url.path()) };
        Self::all().find(|executor| executor.0.schemes.contains(&scheme.as_str())).ok_or_else(
            || {
                if let Some(tip) = foreign::tip(&url.expose().to_lowercase()) {
                    return Error::Config(format!("no executor for `{scheme}:` databases: {tip}"));
                }
                let engines: Vec<String> = Self::all()
                    .map(|each| format!("{} ({})", each.0.takes, each.forms()))
                    .collect();
                Error::Config(format!(
                    "no executor for `{scheme}:` databases; this version takes {}",
                    either(&engines)
                ))
            },
        )
    }

    fn for_path(path: &Path) -> Result<Self, Error> {
        let ending = path
            .extension()
            .map(|ending| ending.to_string_lossy().to_ascii_lowercase())
            .unwrap_or_default();
        let mut engines = Self::all().filter_map(|executor| Some((executor, executor.files()?)));
        let fits = Self::all().find(|executor| {
            executor.files().is_some_and(|files: &FileEntry| {
                files.endings.contains(&ending.as_str()) || (files.claims)(path)
            })
        });
        fits.or_else(|| engines.next().map(|(executor, _)| executor)).ok_or_else(|| {
            Error::Config("no executor reads files; name a database by its URL".to_owned())
        })
    }

    /// Returns the forms of its addresses: `PATH or sqlite:PATH`.
    #[must_use]
    pub fn forms(self) -> String {
        let named = self.0.schemes.iter().map(|scheme| format!("{scheme}:{}", self.0.form));
        let path = self.files().map(|_| self.0.form.to_owned());
        path.into_iter().chain(named).collect::<Vec<_>>().join(" or ")
    }

    /// Its name in flags, files and journals.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns its description for the help.
    #[must_use]
    pub fn summary(self) -> &'static str {
        self.0.summary
    }

    /// Returns the values that `--db` takes for it, as the end of "--db takes …".
    #[must_use]
    pub fn takes(self) -> &'static str {
        self.0.takes
    }

    /// Returns the properties of its files; `None` for a server.
    #[must_use]
    pub fn files(self) -> Option<&'static FileEntry> {
        self.0.files.as_ref()
    }

    /// Returns the properties of its servers; `None` where databases are files.
    #[must_use]
    pub fn server(self) -> Option<&'static ServerEntry> {
        self.0.server.as_ref()
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
        let inspect = self.0.server.as_ref()?.inspect?;
        Some(inspect(database).await)
    }

    /// Returns whether its servers have roles.
    pub(crate) fn has_roles(self) -> bool {
        self.0.server.as_ref().is_some_and(|server| server.role_sql.is_some())
    }

    /// The statements that make a role which only reads; `None` for an engine without roles.
    pub(crate) fn role_sql(
        self,
        database: OpenDatabase,
        schemas: &[String],
    ) -> Option<Result<String, DatabaseError>> {
        Some(self.0.server.as_ref()?.role_sql?(database, schemas))
    }

    pub(crate) async fn open(
        self,
        database: OpenDatabase,
    ) -> Result<Arc<dyn Database>, DatabaseError> {
        (self.0.open)(database).await
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
    TABLE
        .iter()
        .find(|entry| entry.dialect.as_ref() == Some(dialect))
        .map_or("other_sql", |entry| entry.telemetry)
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
        let schemes = |is_file: bool| -> &'static [&'static str] {
            let all = Executor::all().filter(|executor| executor.files().is_some() == is_file);
            all.flat_map(|executor| executor.0.schemes).copied().collect::<Vec<_>>().leak()
        };
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
        let all =
            |of: fn(&Entry) -> Vec<&'static str>| TABLE.iter().flat_map(of).collect::<Vec<_>>();
        let lists = [
            all(|entry| std::iter::once(entry.name).chain(entry.aliases.iter().copied()).collect()),
            all(|entry| entry.schemes.to_vec()),
            all(|entry| entry.files.iter().flat_map(|files| files.endings).copied().collect()),
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
        for entry in &TABLE {
            assert!(!entry.schemes.is_empty(), "{} cannot be named", entry.name);
            assert_eq!(Executor::from_name(entry.name).map(Executor::name), Some(entry.name));
        }
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
            "no executor for `kdb:` databases; this version takes the path of a SQLite file (PATH or sqlite:PATH)"
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
