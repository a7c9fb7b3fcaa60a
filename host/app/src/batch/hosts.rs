//! The hosts that answer the lines of a batch: one for the only database, or one for each that
//! lines name in a folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use syrch_core::DatabaseUrl;
use syrch_memory::MemoryCache;
use syrch_suites::run::{Fault, RunBudgets};
use syrch_suites::{Unresolved, database_in};

use super::reply::fault;
use crate::executors::{database_name, database_path, suite_engines};
use crate::{Error, Host, Observer, Settings, Shared};

/// Hosts that are open at once.
const OPEN: usize = 16;
/// The class of errors that a database is to blame for.
const DATABASE: &str = "database";

/// Hosts by database, the latest used ones.
pub(super) struct Hosts {
    settings: Settings,
    shared: Arc<Shared>,
    observer: Arc<dyn Observer>,
    source: Source,
}

enum Source {
    /// One database for all lines.
    One(Arc<Host>, DatabaseUrl),
    /// The databases of a folder.
    Folder(PathBuf, MemoryCache<PathBuf, Host>),
}

/// The reason why a line has no host.
pub(super) enum NoHost {
    /// The line's own fault, or its database's.
    Line(Fault),
    /// No line would have one.
    Fatal(Error),
}

impl Hosts {
    /// Opens the one database, or checks that the plugins can be had.
    pub(super) async fn open(
        settings: Settings,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Error> {
        // Nobody answers a question that is asked back.
        let settings = Settings { max_questions: 0, ..settings };
        let shared = Shared::new();
        let url = DatabaseUrl::parse(&settings.database);
        let folder = settings.own_database.is_none().then(|| folder(&url)).flatten();
        let source = match folder {
            None => {
                let host = Host::open_beside(settings.clone(), &shared, observer.as_ref()).await?;
                Source::One(Arc::new(host), url)
            }
            Some(folder) => {
                for role in settings.strategy.roles.keys() {
                    shared.configure_plugin(*role, &settings, observer.as_ref()).await?;
                }
                Source::Folder(folder, MemoryCache::new(OPEN))
            }
        };
        Ok(Self { settings, shared, observer, source })
    }

    /// Bounds what the searches of all hosts spend together.
    pub(super) fn limit_together(&self, budgets: &RunBudgets) {
        self.shared.limit_together(budgets);
    }

    /// The label of the simulated model that all hosts ask; `None` if they ask a real one.
    pub(super) fn simulation_label(&self) -> Option<String> {
        self.settings.model.simulated.as_ref().map(|simulated| simulated.label(self.settings.seed))
    }

    /// The host of a line that names that database, or none.
    pub(super) async fn get(&self, db: Option<&str>) -> Result<Arc<Host>, NoHost> {
        let (folder, hosts) = match &self.source {
            Source::One(host, url) => {
                return match db.filter(|db| !has_name(url, db)) {
                    None => Ok(Arc::clone(host)),
                    Some(db) => Err(NoHost::Line(other_database_fault(db, url))),
                };
            }
            Source::Folder(folder, hosts) => (folder, hosts),
        };
        let path = database_in(folder, db.unwrap_or_default(), suite_engines())
            .map_err(|why| resolution_error(why, folder))?;
        hosts
            .get(&path, || async {
                let database = DatabaseUrl::from_path(&path).expose().to_owned();
                let settings = Settings { database, ..self.settings.clone() };
                Host::open_beside(settings, &self.shared, self.observer.as_ref()).await
            })
            .await
            .map_err(|error| match error.class() {
                DATABASE => NoHost::Line(fault(&error)),
                _ => NoHost::Fatal(error),
            })
    }
}

/// The folder that a setting of the database names, if it is one.
fn folder(url: &DatabaseUrl) -> Option<PathBuf> {
    database_path(url).filter(|path| path.is_dir())
}

/// Returns true if a line means this database: by its name, or by that of its file with the ending.
fn has_name(url: &DatabaseUrl, db: &str) -> bool {
    database_name(url) == db
        || database_path(url).is_some_and(|file| file.file_name().is_some_and(|name| name == db))
}

/// The fault of a line that names another database than the only one here, from which it must not
/// be answered.
fn other_database_fault(db: &str, url: &DatabaseUrl) -> Fault {
    let shown =
        database_path(url).map_or_else(|| url.to_string(), |path| path.display().to_string());
    let message =
        format!("the line is about the database `{db}`, and the only one here is `{shown}`");
    Fault { class: DATABASE.to_owned(), message }
}

fn resolution_error(why: Unresolved, folder: &Path) -> NoHost {
    let folder = folder.display();
    let message = match why {
        Unresolved::Unnamed => {
            format!("the line has no `db`, which says which database of `{folder}` is meant")
        }
        Unresolved::Outside { db } => {
            format!("`{db}` leads out of `{folder}`, where a line may open nothing")
        }
        Unresolved::Missing { .. } | Unresolved::NotThere { .. } => why.to_string(),
    };
    NoHost::Line(Fault { class: DATABASE.to_owned(), message })
}
