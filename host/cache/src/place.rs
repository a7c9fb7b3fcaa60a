//! The places at which a cache can be.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Options;
use crate::activity::Activity;
use crate::backend::Backend;
use crate::folder::FILE;
use crate::local::LocalFile;
use crate::redis::{IS_BUILT, RedisAddress};
use crate::shared::SharedFolder;

/// The place of a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file in a folder, for the processes of one machine.
    Local(PathBuf),
    /// A folder that several hosts share: a file for each entry.
    Shared(PathBuf),
    /// A Redis server, or one that speaks its protocol.
    Redis(RedisAddress),
}

/// The reason why a text names no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// It is a URL of another kind than `redis` and `rediss`.
    #[error("a shared cache is a folder or a server `redis://host:port`, and no `{0}:` URL")]
    Scheme(String),
    /// The address cannot be read. Its text may hold a password, and is not repeated.
    #[error("the address of the server cannot be read: write `redis://user:password@host:port/0`")]
    Address,
    /// The program was built without a client of Redis.
    #[error("this program was built without the feature `redis`, which a server needs")]
    Unbuilt,
}

impl Place {
    /// Reads the place of a shared cache: `redis://[user:password@]host[:port][/database]`,
    /// `rediss://` for an encrypted connection, else the path of a folder.
    ///
    /// # Errors
    /// When it is a URL of another kind, or no address.
    pub fn read_shared(text: &str) -> Result<Self, PlaceError> {
        match text.split_once("://") {
            Some(("redis" | "rediss", _)) if !IS_BUILT => Err(PlaceError::Unbuilt),
            Some(("redis" | "rediss", _)) => {
                RedisAddress::read(text).map(Self::Redis).ok_or(PlaceError::Address)
            }
            Some((scheme, _)) => Err(PlaceError::Scheme(scheme.to_owned())),
            None => Ok(Self::Shared(PathBuf::from(text))),
        }
    }

    /// The folder of a cache that is in one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Local(folder) | Self::Shared(folder) => Some(folder),
            Self::Redis(_) => None,
        }
    }

    /// The path of the file or folder; of a server its address, without a password.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::Local(folder) => folder.join(FILE),
            Self::Shared(folder) => folder.clone(),
            Self::Redis(address) => PathBuf::from(address.to_string()),
        }
    }

    /// The place as the cache's thread uses it; nothing is opened yet.
    pub(crate) fn backend(&self, options: &Options, activity: &Arc<Activity>) -> Box<dyn Backend> {
        match self {
            Self::Local(folder) => {
                Box::new(LocalFile::new(folder.clone(), options.clone(), Arc::clone(activity)))
            }
            Self::Shared(folder) => Box::new(SharedFolder::new(folder.clone())),
            Self::Redis(address) => address.open(options.wait),
        }
    }
}

/// The path, or the address without a password.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(folder) | Self::Shared(folder) => write!(f, "{}", folder.display()),
            Self::Redis(address) => write!(f, "{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "redis")]
    #[test]
    fn a_place_is_a_folder_or_a_server() {
        let place = Place::read_shared("/nfs/cache").unwrap();
        assert_eq!(place, Place::Shared("/nfs/cache".into()));
        let place = Place::read_shared("redis://ada:secret@host:7000/2").unwrap();
        assert_eq!(place.to_string(), "redis://host:7000/2");
        assert!(!format!("{place:?}").contains("secret"), "{place:?}");
        let place = Place::read_shared("redis://host").unwrap();
        assert_eq!(place.to_string(), "redis://host:6379/0");
        let place = Place::read_shared("rediss://ada:secret@host/1").unwrap();
        assert_eq!(place.to_string(), "rediss://host:6379/1");
        let error = Place::read_shared("s3://bucket").unwrap_err();
        assert_eq!(error, PlaceError::Scheme("s3".to_owned()));
        for wrong in ["redis://", "redis://:x@", "redis://h:99999", "redis://h/x"] {
            assert_eq!(Place::read_shared(wrong), Err(PlaceError::Address), "{wrong}");
        }
    }
}
