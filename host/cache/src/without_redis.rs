//! A stand-in for the client of Redis in builds without the feature `redis`: no address can be
//! read.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use crate::backend::Backend;

/// True if this build has a client of Redis.
pub(crate) const IS_BUILT: bool = false;

/// The address of a server, of which there is none.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisAddress(Infallible);

impl RedisAddress {
    pub(crate) fn read(_url: &str) -> Option<Self> {
        None
    }

    pub(crate) fn open(&self, _wait: Duration) -> Box<dyn Backend> {
        match self.0 {}
    }

    /// The password, which no output may show.
    #[must_use]
    pub fn password(&self) -> Option<&str> {
        match self.0 {}
    }
}

impl fmt::Display for RedisAddress {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}

impl fmt::Debug for RedisAddress {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}
