//! Databases and models that the embedding program implements itself, and the ways to name either
//! kind to [`HostBuilder`](crate::HostBuilder).

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use syrch_core::DatabaseUrl;
use syrch_core::ports::{Database, ModelProvider};

use crate::Error;

/// Engines that the embedding program implements, behind the guard: an
/// [`ArrowDatabase`](engine::ArrowDatabase) of an [`ArrowEngine`](engine::ArrowEngine) is a
/// database whose statements only read, within the limits, with the catalog, the samples and the
/// index of values that every database has.
#[cfg(feature = "engines")]
pub mod engine {
    pub use syrch_arrow_engine::{
        ArrowDatabase, ArrowEngine, BatchSink, LeftOut, Schema, Snapshot, deadline_error,
        overrun_error,
    };
}

/// A database that the embedding program implements, for
/// [`Settings::own_database`](crate::Settings::own_database). The program's implementation is the
/// guard: it must refuse whatever would write, and enforce its own deadlines and limits.
#[derive(Clone)]
pub struct OwnDatabase(pub Arc<dyn Database>);

impl fmt::Debug for OwnDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnDatabase").field(&self.0.name()).finish()
    }
}

/// A model provider that the embedding program implements, for
/// [`ModelSettings::own`](crate::settings::ModelSettings::own). A journal holds only its name, so
/// settings that were read from a journal have no implementation and open no host.
#[derive(Clone)]
pub struct OwnModel {
    name: String,
    provider: Option<Arc<dyn ModelProvider>>,
}

impl OwnModel {
    /// Wraps the program's implementation, under [`ModelProvider::name`].
    #[must_use]
    pub fn new(provider: Arc<dyn ModelProvider>) -> Self {
        Self { name: provider.name().to_owned(), provider: Some(provider) }
    }

    /// The provider's name in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// # Errors
    /// When the settings come from a journal, which holds no implementation.
    pub(crate) fn provider(&self) -> Result<&Arc<dyn ModelProvider>, Error> {
        self.provider.as_ref().ok_or_else(|| {
            let name = &self.name;
            Error::Config(format!(
                "the model provider `{name}` belongs to the program that wrote the journal"
            ))
        })
    }
}

impl fmt::Debug for OwnModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnModel").field(&self.name).finish()
    }
}

impl Serialize for OwnModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

impl<'de> Deserialize<'de> for OwnModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { name: String::deserialize(deserializer)?, provider: None })
    }
}

/// A database for [`HostBuilder::database`](crate::HostBuilder::database): an address, a file, or
/// an implementation of the program.
#[derive(Debug, Clone)]
pub enum DatabaseSource {
    /// A path, or a URL whose scheme names the engine, such as `sqlite:shop.sqlite`: a text is read
    /// as either.
    Url(DatabaseUrl),
    /// A file, whatever its name looks like.
    File(PathBuf),
    /// An implementation of the program.
    Own(OwnDatabase),
}

impl From<&str> for DatabaseSource {
    fn from(url: &str) -> Self {
        Self::Url(DatabaseUrl::parse(url))
    }
}

impl From<String> for DatabaseSource {
    fn from(url: String) -> Self {
        Self::from(url.as_str())
    }
}

impl From<&Path> for DatabaseSource {
    fn from(path: &Path) -> Self {
        Self::File(path.into())
    }
}

impl From<PathBuf> for DatabaseSource {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<&PathBuf> for DatabaseSource {
    fn from(path: &PathBuf) -> Self {
        Self::File(path.clone())
    }
}

impl From<Arc<dyn Database>> for DatabaseSource {
    fn from(database: Arc<dyn Database>) -> Self {
        Self::Own(OwnDatabase(database))
    }
}

impl<D: Database + 'static> From<Arc<D>> for DatabaseSource {
    fn from(database: Arc<D>) -> Self {
        Self::Own(OwnDatabase(database))
    }
}

/// A model for [`HostBuilder::model`](crate::HostBuilder::model): a name at an endpoint, or an
/// implementation of the program.
#[derive(Debug, Clone)]
pub enum ModelSource {
    /// The model's name at its endpoint.
    Named(String),
    /// An implementation of the program.
    Own(OwnModel),
}

impl From<&str> for ModelSource {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

impl From<String> for ModelSource {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

impl From<Arc<dyn ModelProvider>> for ModelSource {
    fn from(provider: Arc<dyn ModelProvider>) -> Self {
        Self::Own(OwnModel::new(provider))
    }
}

impl<P: ModelProvider + 'static> From<Arc<P>> for ModelSource {
    fn from(provider: Arc<P>) -> Self {
        Self::Own(OwnModel::new(provider))
    }
}
