//! One leader for equal requests of several processes.
//!
//! The process of the leader holds a lease of the key, which has an owner and an end, and which the
//! cache's thread extends while the leader exists. In the file of this machine it is a row. The
//! other processes check at intervals whether there is a value or no lease any more. A process that
//! was killed delays the others by [`LEASE_MILLIS`] at most. Leases only save requests: a process
//! that fails to take one leads without it, and the failure is reported when the value cannot be
//! stored.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::params;
use tokio::sync::oneshot;

use crate::backend::{Claim, LEASE, Request};
use crate::error::StoreError;
use crate::store::Store;
use crate::worker::Worker;
use crate::{Cache, CacheError, Key};

/// The time after which a lease expires that is not extended. One that lasts longer was made before
/// the clock was set back, and is expired.
const LEASE_MILLIS: i64 = LEASE.as_millis() as i64;
/// The interval at which leases are extended.
const RENEW_EVERY: Duration = Duration::from_millis(1_500);

/// The limit on the time for which a request waits for that of another process. A call that takes
/// longer is made twice.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// Receives the value, or `None` if the request is to be made.
type Answer = oneshot::Sender<Result<Option<Arc<[u8]>>, CacheError>>;

/// A lease, or the attempt to take one. Dropping it releases the lease if it was taken.
pub(crate) struct Lease<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) key: Key,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let key = self.key;
        // If the thread has ended, the cache holds no lease.
        let _ = self.cache.send(Box::new(move |worker| worker.release(&key)));
    }
}

/// The leases that this cache holds, and the requests that wait for those of other processes.
pub(crate) struct Leases {
    owner: i64,
    held: HashSet<Key>,
    renew_at: Instant,
    /// The keys with the beginning of their wait.
    waiting: Vec<(Key, Answer, Instant)>,
    poll_at: Instant,
}

impl Leases {
    /// No leases, for an owner with a random number.
    pub(crate) fn new() -> Self {
        let owner = RandomState::new().hash_one(std::process::id()).cast_signed();
        let now = Instant::now();
        Self { owner, held: HashSet::new(), renew_at: now, waiting: Vec::new(), poll_at: now }
    }

    /// Returns the time for which nothing need be done; `None` if nothing need be done before the
    /// next request.
    pub(crate) fn pause(&self) -> Option<Duration> {
        let renew = (!self.held.is_empty()).then_some(self.renew_at);
        let poll = (!self.waiting.is_empty()).then_some(self.poll_at);
        let next = renew.into_iter().chain(poll).min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    /// Forgets a lease that is no longer in the file. Returns whether it was held.
    pub(crate) fn forget(&mut self, key: &Key) -> bool {
        self.held.remove(key)
    }

    fn hold(&mut self, key: Key) {
        if self.held.is_empty() {
            self.renew_at = Instant::now() + RENEW_EVERY;
        }
        self.held.insert(key);
    }

    fn wait(&mut self, key: Key, answer: Answer, since: Instant, poll_every: Duration) {
        if self.waiting.is_empty() {
            self.poll_at = Instant::now() + poll_every;
        }
        self.waiting.push((key, answer, since));
    }
}

impl Worker {
    /// Sends the value, or `None` as soon as the request is to be made by this process.
    pub(crate) fn seek(&mut self, key: Key, answer: Answer) {
        self.seek_since(key, answer, Instant::now());
    }

    fn seek_since(&mut self, key: Key, answer: Answer, since: Instant) {
        let found = match self.claim(&key) {
            // Whatever a lease looks like, it holds nobody up for longer.
            Ok(Claim::Elsewhere) if since.elapsed() >= LONGEST_WAIT => Ok(None),
            Ok(Claim::Elsewhere) => {
                let poll_every = self.backend.poll_every();
                return self.leases.wait(key, answer, since, poll_every);
            }
            Ok(Claim::Value(value)) => Ok(Some(Arc::from(value))),
            Ok(Claim::Taken) => {
                self.leases.hold(key);
                Ok(None)
            }
            Ok(Claim::Free) => Ok(None),
            Err(error) => Err(error),
        };
        // If the receiver is gone, its `Lease` has been dropped, which releases the lease.
        let _ = answer.send(found);
    }

    fn claim(&mut self, key: &Key) -> Result<Claim, CacheError> {
        let request = Request {
            owner: self.leases.owner,
            now: self.options.now(),
            ttl: self.options.ttl_millis(),
        };
        self.backend.claim(key, request)
    }

    /// Releases a lease, if it is held.
    pub(crate) fn release(&mut self, key: &Key) {
        let owner = self.leases.owner;
        if self.leases.forget(key) {
            // If this fails, the lease expires.
            let _ = self.backend.release(key, owner);
        }
    }

    /// Checks the keys that requests wait for and extends the leases that are held, if their
    /// intervals have passed.
    pub(crate) fn maintain_leases(&mut self) {
        if !self.leases.waiting.is_empty() && Instant::now() >= self.leases.poll_at {
            for (key, answer, since) in std::mem::take(&mut self.leases.waiting) {
                if !answer.is_closed() {
                    self.seek_since(key, answer, since);
                }
            }
        }
        if !self.leases.held.is_empty() && Instant::now() >= self.leases.renew_at {
            let owner = self.leases.owner;
            let now = self.options.now();
            let held = self.leases.held.clone();
            // If this fails, another process may lead, too.
            let _ = self.backend.renew(&held, owner, now);
            self.leases.renew_at = Instant::now() + RENEW_EVERY;
        }
    }
}

impl Store {
    /// The value, or whether another owner has a lease of the key.
    pub(crate) fn lookup(&self, key: &Key, request: Request) -> Result<Claim, StoreError> {
        let Request { owner, now, ttl } = request;
        if let Some(value) = self.get(key, now, ttl)? {
            return Ok(Claim::Value(value));
        }
        let sql = "SELECT 1 FROM leases WHERE key = ?1 AND owner <> ?2 AND until_ms > ?3 \
                   AND until_ms <= ?4";
        let mut statement = self.connection.prepare_cached(sql)?;
        let is_held = statement.exists(params![
            key.digest(),
            owner,
            now,
            now.saturating_add(LEASE_MILLIS)
        ])?;
        Ok(if is_held { Claim::Elsewhere } else { Claim::Free })
    }

    /// The value, if it was written meanwhile; else the lease, unless another process took it.
    pub(crate) fn take(&self, key: &Key, request: Request) -> Result<Claim, StoreError> {
        let transaction = self.begin()?;
        let seen = match self.lookup(key, request)? {
            Claim::Free => {
                self.lease(key, request.owner, request.now)?;
                Claim::Taken
            }
            seen => seen,
        };
        transaction.commit()?;
        Ok(seen)
    }

    /// Extends leases that no other process has taken over.
    pub(crate) fn renew(
        &self,
        held: &HashSet<Key>,
        owner: i64,
        now: i64,
    ) -> Result<(), StoreError> {
        let transaction = self.begin()?;
        for key in held {
            self.lease(key, owner, now)?;
        }
        Ok(transaction.commit()?)
    }

    /// Makes or extends a lease, unless another owner has one that is not expired.
    fn lease(&self, key: &Key, owner: i64, now: i64) -> Result<(), StoreError> {
        let sql = "INSERT INTO leases (key, owner, until_ms) VALUES (?1, ?2, ?4) \
                   ON CONFLICT (key) DO UPDATE SET owner = ?2, until_ms = ?4 \
                   WHERE owner = ?2 OR until_ms <= ?3 OR until_ms > ?4";
        let until = now.saturating_add(LEASE_MILLIS);
        self.connection.prepare_cached(sql)?.execute(params![key.digest(), owner, now, until])?;
        Ok(())
    }

    pub(crate) fn release(&self, key: &Key, owner: i64) -> Result<(), StoreError> {
        let sql = "DELETE FROM leases WHERE key = ?1 AND owner = ?2";
        self.connection.prepare_cached(sql)?.execute(params![key.digest(), owner])?;
        Ok(())
    }

    /// Deletes the leases that have expired, or that were made before the clock was set back.
    pub(crate) fn sweep_leases(&self, now: i64) -> Result<(), StoreError> {
        let sql = "DELETE FROM leases WHERE until_ms <= ?1 OR until_ms > ?2";
        self.connection.prepare_cached(sql)?.execute([now, now.saturating_add(LEASE_MILLIS)])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
