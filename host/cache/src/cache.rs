//! The cache as the layers see it: a value by its key, or the turn to find it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};

use syrch_core::outside;
use tokio::sync::oneshot;

use crate::flight::{Flights, Pilot, Turn};
use crate::folder::FILE;
use crate::keeper::{Access, Keeper};
use crate::lease::Lease;
use crate::notes::Notes;
use crate::store::{Cleared, Entry, Held, Store};
use crate::{CacheError, Key, Kind, Options};

/// Entries that this process writes between two sweeps of those that are past their end; the first entry begins with one.
const SWEEP_EVERY: u64 = 256;
/// Batches that one sweep deletes at most.
const SWEEP_BATCHES: usize = 4;
/// The part of all bytes that one entry may have.
const MOST_OF_ALL: u64 = 8;

pub(crate) type Job = Box<dyn FnOnce(&mut Keeper) + Send>;

/// A cache in a folder. One value serves all searches of a process, and any number of processes may have one of the same folder.
///
/// The file is opened on first use and worked on by a thread of the cache's own. No failure of it reaches a request: that is a miss,
/// and told by [`Cache::take_warnings`].
pub struct Cache {
    folder: PathBuf,
    options: Options,
    notes: Arc<Notes>,
    flights: Arc<Flights>,
    jobs: Option<mpsc::Sender<Job>>,
}

/// What there is, and what this process has made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// The file.
    pub path: PathBuf,
    /// All entries, those past their end included until they are swept.
    pub all: Held,
    /// The entries of each kind.
    pub kinds: BTreeMap<Kind, Held>,
    /// Bytes on disk, the engine's own included.
    pub file_bytes: u64,
    /// Requests of this process that found a value, kept or just found by another request, of whatever process.
    pub hits: u64,
    /// Requests of this process that did not.
    pub misses: u64,
}

/// What a request finds.
pub enum Found<'a> {
    /// The value: kept, or just found by an equal request.
    Value(Arc<[u8]>),
    /// Nothing: this request is the one to find it, and equal ones wait for it, those of other processes too.
    Lead(Lead<'a>),
}

/// The turn to find a value. Dropped without one, it goes to the next of the equal requests that wait.
///
/// The fields drop in this order: the lease is given back before the next request of this process asks for it.
pub struct Lead<'a> {
    lease: Lease<'a>,
    pilot: Pilot,
}

impl Lead<'_> {
    /// Keeps the value and gives it to those who wait. The write goes on when the future is dropped.
    pub async fn keep(self, value: Arc<[u8]>) {
        let Self { lease, pilot } = self;
        lease.cache.put(lease.key, Arc::clone(&value)).await;
        drop(lease);
        pilot.land(value);
    }

    /// Gives the value to those of this process who wait, and does not keep it.
    pub fn share(self, value: Arc<[u8]>) {
        let Self { lease, pilot } = self;
        drop(lease);
        pilot.land(value);
    }
}

impl Cache {
    /// A cache in this folder. The folder (mode 0700) and the file (mode 0600) are made on first use.
    #[must_use]
    pub fn open(folder: &Path, options: Options) -> Arc<Self> {
        let notes = Arc::<Notes>::default();
        let (jobs, work) = mpsc::channel::<Job>();
        let mut keeper = Keeper::new(folder.to_owned(), options.clone(), Arc::clone(&notes));
        let thread = std::thread::Builder::new().name("syrch-cache".to_owned());
        // Ends when the cache is dropped and the last job is done.
        let started = thread.spawn(move || serve(&work, &mut keeper));
        let jobs = started.is_ok().then_some(jobs);
        Arc::new(Self { folder: folder.to_owned(), options, notes, flights: Arc::default(), jobs })
    }

    /// The folder it was opened with.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The value of a key, or the turn to find it. Waits for an equal request that has the turn, in this process or another.
    pub async fn find(&self, key: Key) -> Found<'_> {
        let pilot = match self.flights.turn(key).await {
            Turn::Landed(value) => {
                self.notes.hit();
                return Found::Value(value);
            }
            Turn::Lead(pilot) => pilot,
        };
        // Made first, so that the lease is given back though the future be dropped while the answer is on its way.
        let lease = Lease { cache: self, key };
        match self.seek(key).await {
            Some(value) => {
                self.notes.hit();
                pilot.land(Arc::clone(&value));
                Found::Value(value)
            }
            None => {
                self.notes.miss();
                Found::Lead(Lead { lease, pilot })
            }
        }
    }

    /// Deletes one entry: one that its reader cannot understand.
    pub async fn forget(&self, key: Key) {
        let forgotten = self.ask(move |keeper| keeper.work(Access::Write, |store| store.delete(&key))).await;
        forgotten.unwrap_or_else(|error| self.notes.failed(error));
    }

    /// The kept value, or none and the lease where it can be had.
    async fn seek(&self, key: Key) -> Option<Arc<[u8]>> {
        let (answer, waiting) = oneshot::channel();
        let sent = self.send(Box::new(move |keeper| keeper.seek(key, answer)));
        let found = match sent {
            Ok(()) => outside::awaited(waiting).await.unwrap_or_else(|_| Err(self.gone())),
            Err(error) => Err(error),
        };
        found.unwrap_or_else(|error| {
            self.notes.failed(error);
            None
        })
    }

    async fn put(&self, key: Key, value: Arc<[u8]>) {
        let most = self.options.bytes;
        if value.len() as u64 > most / MOST_OF_ALL {
            return;
        }
        let created = self.options.now();
        let expires = created.saturating_add(self.options.ttl_millis());
        let kept = self.ask(move |keeper| {
            let sweeps = keeper.count_write().is_multiple_of(SWEEP_EVERY);
            keeper.work(Access::Write, |store| {
                if sweeps {
                    store.sweep(created, SWEEP_BATCHES)?;
                }
                store.put(&key, Entry { created, expires, value: &value }, most)
            })?;
            keeper.leases.forget(&key);
            Ok(())
        });
        kept.await.unwrap_or_else(|error| self.notes.failed(error));
    }

    /// What there is.
    ///
    /// # Errors
    /// When the file cannot be read now.
    pub async fn stats(&self) -> Result<Stats, CacheError> {
        let work = |keeper: &mut Keeper| Ok((keeper.work(Access::Read, Store::held)?, keeper.file_bytes()));
        let (kinds, file_bytes) = self.ask(work).await?;
        let all = kinds.values().fold(Held::default(), |all, held| Held {
            entries: all.entries + held.entries,
            bytes: all.bytes + held.bytes,
        });
        let (hits, misses) = self.notes.counts();
        Ok(Stats { path: self.folder.join(FILE), all, kinds, file_bytes, hits, misses })
    }

    /// Deletes what there is now, all of it or of one kind, while others go on using the file.
    ///
    /// # Errors
    /// When the file cannot be written now; some entries may be gone then.
    pub async fn clear(&self, kind: Option<Kind>) -> Result<Cleared, CacheError> {
        self.ask(move |keeper| keeper.work(Access::Write, |store| store.clear(kind))).await
    }

    /// What went wrong since the last call: a file that was set aside, and the first of the failures with their count.
    #[must_use]
    pub fn take_warnings(&self) -> Vec<String> {
        self.notes.take()
    }

    /// Works on the cache's thread, to the end even when the future is dropped.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Keeper) -> Result<T, CacheError> + Send + 'static,
    ) -> Result<T, CacheError> {
        let (answer, waiting) = oneshot::channel();
        self.send(Box::new(move |keeper| {
            let _ = answer.send(work(keeper));
        }))?;
        outside::awaited(waiting).await.map_err(|_| self.gone())?
    }

    /// Leaves a job for the cache's thread.
    pub(crate) fn send(&self, job: Job) -> Result<(), CacheError> {
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or_else(|| self.gone())
    }

    fn gone(&self) -> CacheError {
        CacheError::Unavailable { path: self.folder.display().to_string(), reason: "its thread is gone".to_owned() }
    }
}

/// Does the jobs as they come, and between them what leases need.
fn serve(work: &mpsc::Receiver<Job>, keeper: &mut Keeper) {
    loop {
        let job = match keeper.leases.pause() {
            Some(pause) => work.recv_timeout(pause),
            None => work.recv().map_err(RecvTimeoutError::from),
        };
        match job {
            Ok(job) => job(keeper),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        keeper.tend();
    }
}
