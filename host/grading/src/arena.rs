//! The hosts and databases of a graded run: a host for each arm and database, which shares the open
//! database with the other arms, and each database once more for the expected answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use syrch::databases::open_database;
use syrch::{Error, Host, Observer, Settings, Shared};
use syrch_core::DatabaseUrl;
use syrch_core::ports::Database;
use syrch_grade::run::RunBudgets;
use syrch_memory::MemoryCache;

/// The number of databases that are open at once for expected answers, and the least bound on the
/// number of open hosts.
const OPEN: usize = 16;
/// The greatest bound on the number of hosts that are open at once, those of all arms together.
/// With more arms than this, hosts are opened again for each question. That costs little, since
/// hosts share what is expensive to open.
const HOSTS: usize = 256;

/// The arms with their databases. Hosts are opened when they are first needed, and share what hosts
/// can share.
pub(crate) struct Arena {
    /// The settings of each arm. The question decides on their database.
    arms: Vec<Settings>,
    /// The addresses of the databases, by the names that the suite has for them.
    urls: BTreeMap<String, DatabaseUrl>,
    shared: Arc<Shared>,
    observer: Arc<dyn Observer>,
    hosts: MemoryCache<(usize, String), Host>,
    databases: MemoryCache<String, Arc<dyn Database>>,
}

impl Arena {
    /// The arms over these databases. Nothing is opened yet.
    pub(crate) fn new(
        arms: Vec<Settings>,
        urls: BTreeMap<String, DatabaseUrl>,
        shared: Arc<Shared>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let hosts = MemoryCache::new(OPEN.saturating_mul(arms.len()).clamp(OPEN, HOSTS));
        Self { arms, urls, shared, observer, hosts, databases: MemoryCache::new(OPEN) }
    }

    /// The settings of each arm, in the order of the arms.
    pub(crate) fn arms(&self) -> &[Settings] {
        &self.arms
    }

    /// Bounds what all searches of the hosts spend together.
    pub(crate) fn limit_together(&self, left: &RunBudgets) {
        self.shared.limit_together(left);
    }

    /// The first failure of the cache that the hosts share, with the number of failures.
    pub(crate) fn cache_failure(&self) -> Option<String> {
        self.shared.cache_failure()
    }

    /// The names that the suite has for the databases.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.urls.keys()
    }

    /// The addresses of the databases, in the order of their names.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &DatabaseUrl> {
        self.urls.values()
    }

    /// The address of the database of that name, as [`Settings::database`] holds it.
    pub(crate) fn url(&self, db: &str) -> Result<String, Error> {
        let url = self
            .urls
            .get(db)
            .ok_or_else(|| Error::Config(format!("the suite has no database `{db}`")))?;
        Ok(url.expose().to_owned())
    }

    /// The host of an arm over a database. It is opened if it is not open.
    pub(crate) async fn host(&self, arm: usize, db: &str) -> Result<Arc<Host>, Error> {
        self.hosts
            .get(&(arm, db.to_owned()), || async {
                let settings = self
                    .arms
                    .get(arm)
                    .ok_or_else(|| Error::Internal(format!("there is no arm {arm}")))?;
                // Nobody answers a question that is asked back.
                let settings =
                    Settings { database: self.url(db)?, max_questions: 0, ..settings.clone() };
                Host::open_beside(settings, &self.shared, self.observer.as_ref()).await
            })
            .await
    }

    /// A database for expected answers. It has the guard and the limits of searches, and all of its
    /// tables, whatever the strategies are granted.
    pub(crate) async fn database(&self, db: &str) -> Result<Arc<dyn Database>, Error> {
        Ok(Arc::clone(
            &*self
                .databases
                .get(&db.to_owned(), || async {
                    let arm = self
                        .arms
                        .first()
                        .ok_or_else(|| Error::Internal("there is no arm".to_owned()))?;
                    open_database(&arm.for_database(self.url(db)?)).await
                })
                .await?,
        ))
    }
}
