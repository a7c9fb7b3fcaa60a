//! Where a run over a suite takes place: a host for each arm and database, which has the database open together with the other arms, and each
//! database once more for the expected answers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use syrch_core::ports::Database;

use crate::kept::Kept;
use crate::{Error, Host, Observer, Settings, Shared, open_database};

/// Databases that are open at once for expected answers, and hosts at least.
const OPEN: usize = 16;
/// Hosts that are open at once, of all arms together. More arms than these open theirs anew for each question, which costs little: what is dear
/// they share.
const HOSTS: usize = 256;

/// The arms with their databases. Hosts are opened when they are first needed and share what hosts can share.
pub(crate) struct Arena {
    /// The settings of each arm; their database is set by the question.
    arms: Vec<Settings>,
    /// Where the databases are, by the name that the suite has for them.
    paths: BTreeMap<String, PathBuf>,
    shared: Arc<Shared>,
    observer: Arc<dyn Observer>,
    hosts: Kept<(usize, String), Host>,
    databases: Kept<String, Arc<dyn Database>>,
}

impl Arena {
    /// Nothing is opened yet.
    pub(crate) fn new(
        arms: Vec<Settings>,
        paths: BTreeMap<String, PathBuf>,
        shared: Arc<Shared>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let hosts = Kept::new(OPEN.saturating_mul(arms.len()).clamp(OPEN, HOSTS));
        Self { arms, paths, shared, observer, hosts, databases: Kept::new(OPEN) }
    }

    /// The settings of each arm.
    pub(crate) fn arms(&self) -> &[Settings] {
        &self.arms
    }

    /// The names that the suite has for the databases.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.paths.keys()
    }

    /// Where the databases are.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.values()
    }

    /// The database of that name, as settings name it.
    pub(crate) fn path(&self, db: &str) -> Result<String, Error> {
        let path = self.paths.get(db).ok_or_else(|| Error::Config(format!("the suite has no database `{db}`")))?;
        // What looks like a scheme in a file's name is none.
        Ok(format!("sqlite:{}", path.display()))
    }

    /// The host of an arm over a database.
    pub(crate) async fn host(&self, arm: usize, db: &str) -> Result<Arc<Host>, Error> {
        let open = || async {
            let settings = self.arms.get(arm).ok_or_else(|| Error::Internal(format!("there is no arm {arm}")))?;
            let settings = Settings { database: self.path(db)?, ..settings.clone() };
            Host::beside(settings, &self.shared, self.observer.as_ref()).await
        };
        self.hosts.get(&(arm, db.to_owned()), open).await
    }

    /// A database for expected answers: under the same guard and limits, with all its tables, whatever the strategies are granted.
    pub(crate) async fn database(&self, db: &str) -> Result<Arc<dyn Database>, Error> {
        let open = || async {
            let limits = self.arms.first().map(|arm| arm.limits.clone()).unwrap_or_default();
            open_database(&Settings { database: self.path(db)?, limits, ..Settings::default() }).await
        };
        Ok(Arc::clone(&*self.databases.get(&db.to_owned(), open).await?))
    }
}
