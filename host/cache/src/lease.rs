//! One leader for equal requests of several processes.
//!
//! Who leads a request holds a lease of its key: a row with an owner and an end, which the cache's thread puts off while the leader lives.
//! The others look every now and then whether the value is there, or the lease is not. A process that is killed holds nobody up for longer
//! than [`LEASE_MILLIS`]. Leases save requests and nothing hangs on them: who fails to take one leads without, and what went wrong is told
//! when the value cannot be kept.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::params;
use tokio::sync::oneshot;

use crate::error::Trouble;
use crate::keeper::{Access, Keeper};
use crate::store::Store;
use crate::{Cache, CacheError, Key};

/// How long a lease lasts that nobody puts off. One that seems to last longer is of before the clock was set back, and over.
const LEASE_MILLIS: i64 = 5_000;
/// Between two times that leases are put off.
const RENEW_EVERY: Duration = Duration::from_millis(1_500);
/// Between two looks at what another process holds.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// Gets the value, or none when the request is to be made.
type Answer = oneshot::Sender<Result<Option<Arc<[u8]>>, CacheError>>;

/// The right to lead a request, or the wish for it. Given back when dropped, if it was had.
pub(crate) struct Lease<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) key: Key,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let key = self.key;
        // Without its thread the cache holds no lease.
        let _ = self.cache.send(Box::new(move |keeper| keeper.release(&key)));
    }
}

/// The leases that this cache holds, and the requests that wait for those of others.
pub(crate) struct Leases {
    owner: i64,
    held: HashSet<Key>,
    renew_at: Instant,
    waiting: Vec<(Key, Answer)>,
    look_at: Instant,
}

impl Leases {
    /// None yet, for an owner like no other.
    pub(crate) fn new() -> Self {
        let owner = RandomState::new().hash_one(std::process::id()).cast_signed();
        let now = Instant::now();
        Self { owner, held: HashSet::new(), renew_at: now, waiting: Vec::new(), look_at: now }
    }

    /// How long nothing need be done; for ever without a value.
    pub(crate) fn pause(&self) -> Option<Duration> {
        let renew = (!self.held.is_empty()).then_some(self.renew_at);
        let look = (!self.waiting.is_empty()).then_some(self.look_at);
        let next = renew.into_iter().chain(look).min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    /// Drops a lease that is no longer in the file; whether it was held.
    pub(crate) fn forget(&mut self, key: &Key) -> bool {
        self.held.remove(key)
    }

    fn hold(&mut self, key: Key) {
        if self.held.is_empty() {
            self.renew_at = Instant::now() + RENEW_EVERY;
        }
        self.held.insert(key);
    }

    fn wait(&mut self, key: Key, answer: Answer) {
        if self.waiting.is_empty() {
            self.look_at = Instant::now() + LOOK_EVERY;
        }
        self.waiting.push((key, answer));
    }
}

/// How things stand with a key.
enum Claim {
    /// The value is there.
    Value(Vec<u8>),
    /// Another process leads.
    Elsewhere,
    /// Nobody leads.
    Free,
    /// This process does, now.
    Taken,
}

impl Keeper {
    /// Answers with the value, or with none when the request is to be made; not before one of both is so.
    pub(crate) fn seek(&mut self, key: Key, answer: Answer) {
        let found = match self.claim(&key) {
            Ok(Claim::Elsewhere) => return self.leases.wait(key, answer),
            Ok(Claim::Value(value)) => Ok(Some(Arc::from(value))),
            Ok(Claim::Taken) => {
                self.leases.hold(key);
                Ok(None)
            }
            Ok(Claim::Free) => Ok(None),
            Err(error) => Err(error),
        };
        // Who does not wait any more gives the lease back.
        let _ = answer.send(found);
    }

    fn claim(&mut self, key: &Key) -> Result<Claim, CacheError> {
        let (owner, now, ttl) = (self.leases.owner, self.options.now(), self.options.ttl_millis());
        match self.work(Access::Read, |store| store.look(key, owner, now, ttl))? {
            Claim::Free => {
                Ok(self.work(Access::Write, |store| store.take(key, owner, now, ttl)).unwrap_or(Claim::Free))
            }
            seen => Ok(seen),
        }
    }

    /// Gives a lease back, if it is held.
    pub(crate) fn release(&mut self, key: &Key) {
        let owner = self.leases.owner;
        if self.leases.forget(key) {
            // It ends by itself otherwise.
            let _ = self.work(Access::Write, |store| store.release(key, owner));
        }
    }

    /// Looks again for those who wait, and puts off the ends of the leases held, where it is time.
    pub(crate) fn tend(&mut self) {
        if !self.leases.waiting.is_empty() && Instant::now() >= self.leases.look_at {
            for (key, answer) in std::mem::take(&mut self.leases.waiting) {
                if !answer.is_closed() {
                    self.seek(key, answer);
                }
            }
        }
        if !self.leases.held.is_empty() && Instant::now() >= self.leases.renew_at {
            let (owner, now, held) = (self.leases.owner, self.options.now(), self.leases.held.clone());
            // Another process may lead too then.
            let _ = self.work(Access::Write, |store| store.renew(&held, owner, now));
            self.leases.renew_at = Instant::now() + RENEW_EVERY;
        }
    }
}

impl Store {
    /// The value, or whether another owner has a lease of the key.
    fn look(&self, key: &Key, owner: i64, now: i64, ttl: i64) -> Result<Claim, Trouble> {
        if let Some(value) = self.get(key, now, ttl)? {
            return Ok(Claim::Value(value));
        }
        let sql = "SELECT 1 FROM leases WHERE key = ?1 AND owner <> ?2 AND until_ms > ?3 AND until_ms <= ?4";
        let mut statement = self.connection.prepare_cached(sql)?;
        let is_held = statement.exists(params![key.digest(), owner, now, now.saturating_add(LEASE_MILLIS)])?;
        Ok(if is_held { Claim::Elsewhere } else { Claim::Free })
    }

    /// The value, if it came meanwhile, or the lease, if nobody else took it.
    fn take(&self, key: &Key, owner: i64, now: i64, ttl: i64) -> Result<Claim, Trouble> {
        let transaction = self.begin()?;
        let seen = match self.look(key, owner, now, ttl)? {
            Claim::Free => {
                self.lease(key, owner, now)?;
                Claim::Taken
            }
            seen => seen,
        };
        transaction.commit()?;
        Ok(seen)
    }

    /// Puts off the ends of leases that nobody has taken over.
    fn renew(&self, held: &HashSet<Key>, owner: i64, now: i64) -> Result<(), Trouble> {
        let transaction = self.begin()?;
        for key in held {
            self.lease(key, owner, now)?;
        }
        Ok(transaction.commit()?)
    }

    /// Makes a lease or puts its end off, unless it is another owner's and not over.
    fn lease(&self, key: &Key, owner: i64, now: i64) -> Result<(), Trouble> {
        let sql = "INSERT INTO leases (key, owner, until_ms) VALUES (?1, ?2, ?4) \
                   ON CONFLICT (key) DO UPDATE SET owner = ?2, until_ms = ?4 \
                   WHERE owner = ?2 OR until_ms <= ?3 OR until_ms > ?4";
        let until = now.saturating_add(LEASE_MILLIS);
        self.connection.prepare_cached(sql)?.execute(params![key.digest(), owner, now, until])?;
        Ok(())
    }

    fn release(&self, key: &Key, owner: i64) -> Result<(), Trouble> {
        let sql = "DELETE FROM leases WHERE key = ?1 AND owner = ?2";
        self.connection.prepare_cached(sql)?.execute(params![key.digest(), owner])?;
        Ok(())
    }

    /// Deletes leases that are over.
    pub(crate) fn sweep_leases(&self, now: i64) -> Result<(), Trouble> {
        let sql = "DELETE FROM leases WHERE until_ms <= ?1 OR until_ms > ?2";
        self.connection.prepare_cached(sql)?.execute([now, now.saturating_add(LEASE_MILLIS)])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
