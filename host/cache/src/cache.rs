//! The interface of the cache: a value by its key, or the task of finding it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};

use syrch_core::blocking;
use tokio::sync::oneshot;

use crate::activity::Activity;
use crate::in_flight::{InFlight, Leader, Turn};
use crate::lease::Lease;
use crate::store::{Entry, Size};
use crate::worker::Worker;
use crate::{CacheError, Key, Kind, Options, Place};

pub(crate) type Job = Box<dyn FnOnce(&mut Worker) + Send>;

/// A cache at a place. One value serves all searches of a process, and any number of processes may
/// have one of the same place.
///
/// The place is opened on first use, and only a thread of the cache's own works with it. A request
/// never fails because of the cache: a failure is a miss, which [`Cache::take_warnings`] reports.
pub struct Cache {
    place: Place,
    options: Options,
    activity: Arc<Activity>,
    in_flight: Arc<InFlight>,
    jobs: Option<mpsc::Sender<Job>>,
}

/// The content of a cache, and how often this process found what it asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// The path of the file or folder, or the address of the server.
    pub path: PathBuf,
    /// All entries, including expired ones that were not deleted yet.
    pub all: Size,
    /// The entries of each kind.
    pub kinds: BTreeMap<Kind, Size>,
    /// Bytes on disk, including the engine's log and index of it; 0 if they are not known.
    pub file_bytes: u64,
    /// Requests of this process that got a value: a stored one, or that of an equal request in this
    /// or another process.
    pub hits: u64,
    /// Requests of this process that did not.
    pub misses: u64,
}

/// The result of [`Cache::find`].
pub enum Found<'a> {
    /// The value: a stored one, or that of an equal request.
    Value(Arc<[u8]>),
    /// There is no value. The caller is to find it, while equal requests of this and other
    /// processes wait for it.
    Lead(Lead<'a>),
}

/// The task of finding a value. If it is dropped without a value, the next of the waiting requests
/// gets the task.
///
/// The order of the fields matters: the lease is dropped, and so released, before the next request
/// of this process asks for one.
pub struct Lead<'a> {
    lease: Lease<'a>,
    leader: Leader,
}

impl Lead<'_> {
    /// Stores the value and gives it to the waiting requests. The write continues if the future is
    /// dropped.
    pub async fn store(self, value: Arc<[u8]>) {
        let Self { lease, leader } = self;
        lease.cache.put(lease.key, Arc::clone(&value)).await;
        drop(lease);
        leader.complete(value);
    }

    /// Gives the value to the waiting requests of this process and does not store it.
    pub fn share(self, value: Arc<[u8]>) {
        let Self { lease, leader } = self;
        drop(lease);
        leader.complete(value);
    }
}

impl Cache {
    /// A cache of this machine in this folder. The folder (mode 0700) and the file (mode 0600) are
    /// made on first use.
    #[must_use]
    pub fn open(folder: &Path, options: Options) -> Arc<Self> {
        Self::open_at(Place::Local(folder.to_owned()), options)
    }

    /// A cache at this place, which is not opened before the first request.
    #[must_use]
    pub fn open_at(place: Place, options: Options) -> Arc<Self> {
        let activity = Arc::<Activity>::default();
        let (jobs, work) = mpsc::channel::<Job>();
        let backend = place.backend(&options, &activity);
        let mut worker = Worker::new(backend, options.clone());
        let thread = std::thread::Builder::new().name("syrch-cache".to_owned());
        // The thread ends when the cache is dropped and the last job is done.
        let started = thread.spawn(move || serve(&work, &mut worker));
        let jobs = started.is_ok().then_some(jobs);
        Arc::new(Self { place, options, activity, in_flight: Arc::default(), jobs })
    }

    /// The place that the cache was opened at.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The value of a key, or the task of finding it. While an equal request of this or another
    /// process has that task, this waits for it.
    pub async fn find(&self, key: Key) -> Found<'_> {
        let leader = match self.in_flight.turn(key).await {
            Turn::Value(value) => {
                self.activity.hit();
                return Found::Value(value);
            }
            Turn::Lead(leader) => leader,
        };
        // Made before the lease is taken, so that it is released even if the future is dropped
        // before the answer arrives.
        let lease = Lease { cache: self, key };
        match self.seek(key).await {
            Some(value) => {
                self.activity.hit();
                leader.complete(Arc::clone(&value));
                Found::Value(value)
            }
            None => {
                self.activity.miss();
                Found::Lead(Lead { lease, leader })
            }
        }
    }

    /// Deletes one entry. Callers do so with a value that they cannot read.
    pub async fn forget(&self, key: Key) {
        let forgotten = self.ask(move |worker| worker.backend.delete(&key)).await;
        forgotten.unwrap_or_else(|error| self.activity.note_failure(error));
    }

    /// The stored value; `None` if there is none, and then the lease is taken if it can be.
    async fn seek(&self, key: Key) -> Option<Arc<[u8]>> {
        let (answer, waiting) = oneshot::channel();
        let sent = self.send(Box::new(move |worker| worker.seek(key, answer)));
        let found = match sent {
            Ok(()) => blocking::await_work(waiting)
                .await
                .unwrap_or_else(|_| Err(self.unavailable_error())),
            Err(error) => Err(error),
        };
        found.unwrap_or_else(|error| {
            self.activity.note_failure(error);
            None
        })
    }

    async fn put(&self, key: Key, value: Arc<[u8]>) {
        let most = self.options.bytes;
        let created = self.options.now();
        let expires = created.saturating_add(self.options.ttl_millis());
        let stored = self.ask(move |worker| {
            if value.len() as u64 > worker.backend.largest(most) {
                return Ok(());
            }
            worker.backend.put(&key, Entry { created, expires, value: &value }, most)?;
            worker.leases.forget(&key);
            Ok(())
        });
        stored.await.unwrap_or_else(|error| self.activity.note_failure(error));
    }

    /// Checks that a shared place can be reached and written.
    ///
    /// # Errors
    /// When it cannot.
    pub async fn check(&self) -> Result<(), CacheError> {
        self.ask(|worker| worker.backend.check()).await
    }

    /// Counts the entries and their bytes.
    ///
    /// # Errors
    /// When the file cannot be read at present.
    pub async fn stats(&self) -> Result<Stats, CacheError> {
        let (kinds, file_bytes) =
            self.ask(|worker| Ok((worker.backend.entry_sizes()?, worker.backend.bytes()))).await?;
        let all = kinds.values().fold(Size::default(), |all, held| Size {
            entries: all.entries + held.entries,
            bytes: all.bytes + held.bytes,
        });
        let (hits, misses) = self.activity.counts();
        Ok(Stats { path: self.place.path(), all, kinds, file_bytes, hits, misses })
    }

    /// Deletes all present entries, or those of one kind; other processes can use the cache
    /// meanwhile.
    ///
    /// # Errors
    /// When the file cannot be written at present; some entries may have been deleted.
    pub async fn clear(&self, kind: Option<Kind>) -> Result<Size, CacheError> {
        self.ask(move |worker| worker.backend.clear(kind)).await
    }

    /// Returns the warnings since the last call: files that were set aside, and the first failure
    /// with the number of failures.
    #[must_use]
    pub fn take_warnings(&self) -> Vec<String> {
        self.activity.take()
    }

    /// The first failure since the cache was opened, with the number of failures; `None` if there
    /// was none. Unlike [`Cache::take_warnings`] it does not end with being read.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.activity.failure()
    }

    /// Runs on the cache's thread, to the end even if the future is dropped.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Worker) -> Result<T, CacheError> + Send + 'static,
    ) -> Result<T, CacheError> {
        let (answer, waiting) = oneshot::channel();
        self.send(Box::new(move |worker| {
            let _ = answer.send(work(worker));
        }))?;
        blocking::await_work(waiting).await.map_err(|_| self.unavailable_error())?
    }

    /// Queues a job for the cache's thread.
    pub(crate) fn send(&self, job: Job) -> Result<(), CacheError> {
        self.jobs
            .as_ref()
            .and_then(|jobs| jobs.send(job).ok())
            .ok_or_else(|| self.unavailable_error())
    }

    fn unavailable_error(&self) -> CacheError {
        CacheError::Unavailable {
            path: self.place.to_string(),
            reason: "its thread has ended".to_owned(),
        }
    }
}

/// Runs jobs in their order, and between them renews leases and checks those of other processes.
fn serve(work: &mpsc::Receiver<Job>, worker: &mut Worker) {
    loop {
        let job = match worker.leases.pause() {
            Some(pause) => work.recv_timeout(pause),
            None => work.recv().map_err(RecvTimeoutError::from),
        };
        match job {
            Ok(job) => job(worker),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        worker.maintain_leases();
    }
}
