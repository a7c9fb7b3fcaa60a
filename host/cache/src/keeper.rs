//! Keeps the file open and whole: opens it on first use, sets a damaged one aside, notices when another process did, and rests after a
//! failure rather than run into it with every request.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{CacheError, Trouble};
use crate::folder::{FILE, FileId, Folder, Turn};
use crate::lease::Leases;
use crate::notes::Notes;
use crate::options::Options;
use crate::store::Store;

/// How long nothing is tried after a failure.
const REST: Duration = Duration::from_secs(10);
/// Files that one process sets aside before it does without.
const MOST_ASIDE: u32 = 3;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// The open file, or why there is none.
pub(crate) struct Keeper {
    folder: PathBuf,
    pub(crate) options: Options,
    pub(crate) leases: Leases,
    notes: Arc<Notes>,
    opened: Option<Opened>,
    rest: Option<Rest>,
    aside: u32,
    writes: u64,
}

struct Opened {
    folder: Folder,
    store: Store,
    id: Option<FileId>,
}

/// A failure, and until when it stands. After one that only writing ran into, reading goes on.
struct Rest {
    until: Instant,
    error: CacheError,
    access: Access,
}

impl Keeper {
    /// A keeper of the file in this folder. Nothing is touched yet.
    pub(crate) fn new(folder: PathBuf, options: Options, notes: Arc<Notes>) -> Self {
        let leases = Leases::new();
        Self { folder, options, leases, notes, opened: None, rest: None, aside: 0, writes: 0 }
    }

    /// Counts a write; how many there were before.
    pub(crate) fn count_write(&mut self) -> u64 {
        self.writes += 1;
        self.writes - 1
    }

    /// Bytes of the file and what lies beside it.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.opened.as_ref().map_or(0, |opened| opened.folder.bytes())
    }

    /// Works on the file; when it is damaged, once more on a new one.
    pub(crate) fn work<T>(
        &mut self,
        access: Access,
        work: impl Fn(&Store) -> Result<T, Trouble>,
    ) -> Result<T, CacheError> {
        if let Some(rest) = self.rest.as_ref().filter(|rest| rest.holds(access)) {
            return Err(rest.error.clone());
        }
        let result = match self.attempt(&work) {
            Err(Attempt::Aside) => self.attempt(&work),
            other => other,
        };
        result.map_err(|attempt| {
            let (error, access) = match attempt {
                // The one that took its place is no better.
                Attempt::Aside => (self.damaged("a new one is no better".to_owned()), Access::Read),
                Attempt::Unopened(error) => (error, Access::Read),
                Attempt::Failed(error) => (error, access),
            };
            self.rest = Some(Rest { until: Instant::now() + REST, error: error.clone(), access });
            error
        })
    }

    fn attempt<T>(&mut self, work: impl Fn(&Store) -> Result<T, Trouble>) -> Result<T, Attempt> {
        let opened = self.opened().map_err(Attempt::Unopened)?;
        let id = opened.id;
        match work(&opened.store) {
            Ok(value) => Ok(value),
            // Another process has set the file aside meanwhile, or somebody deleted it.
            Err(_) if opened.folder.id() != id => {
                self.opened = None;
                Err(Attempt::Aside)
            }
            Err(Trouble::Damaged(reason)) => {
                self.opened = None;
                self.set_aside(id, &reason).map_err(Attempt::Unopened)?;
                Err(Attempt::Aside)
            }
            Err(trouble) => Err(Attempt::Failed(trouble.about(&opened.folder.file()))),
        }
    }

    /// The file that has the name now.
    fn opened(&mut self) -> Result<&Opened, CacheError> {
        let kept = self.opened.take().filter(|opened| opened.id.is_some() && opened.folder.id() == opened.id);
        let opened = match kept {
            Some(opened) => opened,
            None => self.open()?,
        };
        Ok(self.opened.insert(opened))
    }

    fn open(&mut self) -> Result<Opened, CacheError> {
        let folder = Folder::open(&self.folder)?;
        let (path, wait) = (folder.file(), self.options.wait);
        let about = |trouble: Trouble| trouble.about(&path);
        let turn = folder.turn(wait).map_err(about)?;
        turn.make_file().map_err(about)?;
        let store = match Store::open(&path, wait) {
            Err(Trouble::Damaged(reason)) => {
                self.move_aside(&turn, &reason)?;
                turn.make_file().and_then(|()| Store::open(&path, wait))
            }
            other => other,
        };
        let (store, id) = (store.map_err(about)?, folder.id());
        drop(turn);
        Ok(Opened { folder, store, id })
    }

    /// Sets a file aside that was found damaged, unless another process did so before.
    fn set_aside(&mut self, id: Option<FileId>, reason: &str) -> Result<(), CacheError> {
        let folder = Folder::open(&self.folder)?;
        let turn = folder.turn(self.options.wait).map_err(|trouble| trouble.about(&folder.file()))?;
        if id.is_some() && folder.id() == id { self.move_aside(&turn, reason) } else { Ok(()) }
    }

    fn move_aside(&mut self, turn: &Turn<'_>, reason: &str) -> Result<(), CacheError> {
        if self.aside >= MOST_ASIDE {
            return Err(self.damaged(format!("{reason}; {MOST_ASIDE} before it were set aside")));
        }
        self.aside += 1;
        let name = turn.set_aside(self.options.now() / 1_000).map_err(|trouble| trouble.about(&self.path()))?;
        let path = self.path().display().to_string();
        self.notes.tell(format!("the cache `{path}` was damaged ({reason}); it was set aside as `{name}`"));
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    fn damaged(&self, reason: String) -> CacheError {
        Trouble::Damaged(reason).about(&self.path())
    }
}

/// What became of one attempt.
enum Attempt {
    /// The file is out of the way.
    Aside,
    Unopened(CacheError),
    Failed(CacheError),
}

impl Rest {
    fn holds(&self, access: Access) -> bool {
        Instant::now() < self.until && (access == Access::Write || self.access == Access::Read)
    }
}
