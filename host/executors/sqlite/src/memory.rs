//! Counts the engine's memory by thread. A statement runs on one thread from beginning to end, so
//! what its thread takes is what the statement takes, and a statement that takes too much fails
//! alone: the engine's own limit, `hard_heap_limit`, holds for the whole process and fails
//! whichever statement asks next.
//!
//! Large requests for memory also check the deadline, since the engine does so only when it jumps
//! back in a program: thousands of calls of functions in one row make none.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rusqlite::ffi;
use tokio::sync::Notify;

/// Bytes that the engine may hold in the whole process.
pub(crate) const HEAP: usize = 1 << 30;
/// The bytes of the whole process from which on only statements that hold less than [`SMALL`] get
/// more memory, so that a few large statements do not fail all others.
const CROWDED: usize = HEAP / 4 * 3;
const SMALL: usize = 64 << 20;
/// Bytes of a request from which on the clock is read.
const LARGE: usize = 64 << 10;
/// Places in one row that a full-text search may find, where a function asks for them, and the
/// bytes of each: `snippet` takes 15 ns for each pair of them.
const PLACES: usize = 1 << 13;
const PLACE: usize = 12;

/// The reason why a statement was refused memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The statement would hold more than this many bytes, which is all that one statement may.
    Own(usize),
    /// All statements of the process together hold too much.
    Crowded,
    /// A full-text search found this many places or more in one row.
    Places(usize),
}

/// The memory and time that the statement on this thread may take.
struct Account {
    /// Negative where the thread frees more than it took, such as another statement's pages of the
    /// same connection.
    held: Cell<isize>,
    most: Cell<isize>,
    until: Cell<Option<Instant>>,
    searches: Cell<bool>,
    refused: Cell<Option<Refused>>,
}

thread_local! {
    static ACCOUNT: Account = const {
        Account {
            held: Cell::new(0),
            most: Cell::new(isize::MAX),
            until: Cell::new(None),
            searches: Cell::new(false),
            refused: Cell::new(None),
        }
    };
}

/// The number of bytes that all threads hold.
static TOTAL: AtomicUsize = AtomicUsize::new(0);
/// Notified whenever a statement has ended.
static ENDED: Notify = Notify::const_new();
/// The engine's own allocator; `None` where the engine was in use before it could be replaced.
static ENGINE: OnceLock<Option<Methods>> = OnceLock::new();

struct Methods {
    malloc: unsafe extern "C" fn(c_int) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    realloc: unsafe extern "C" fn(*mut c_void, c_int) -> *mut c_void,
    size: unsafe extern "C" fn(*mut c_void) -> c_int,
}

/// Counts the memory of each statement from here on. Opening a database does this by itself; a
/// program that also uses SQLite for its own purposes calls it before that, since the engine's
/// allocator can be replaced only before its first use. Returns `false` if it is too late: then a
/// statement may end for the memory that others take.
pub fn count_memory() -> bool {
    ENGINE.get_or_init(install).is_some()
}

#[allow(unsafe_code)]
fn install() -> Option<Methods> {
    let mut methods = MaybeUninit::<ffi::sqlite3_mem_methods>::zeroed();
    // SAFETY: the engine fills in the methods, and refuses to while it is in use.
    let (code, engine) = unsafe {
        (
            ffi::sqlite3_config(ffi::SQLITE_CONFIG_GETMALLOC, methods.as_mut_ptr()),
            methods.assume_init(),
        )
    };
    if code != ffi::SQLITE_OK {
        return None;
    }
    let original = Methods {
        malloc: engine.xMalloc?,
        free: engine.xFree?,
        realloc: engine.xRealloc?,
        size: engine.xSize?,
    };
    let counted = ffi::sqlite3_mem_methods {
        xMalloc: Some(malloc),
        xFree: Some(free),
        xRealloc: Some(realloc),
        ..engine
    };
    // SAFETY: the engine copies the methods, which fulfil its contract: they call its own ones and
    // count.
    let code = unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const counted) };
    (code == ffi::SQLITE_OK).then_some(original)
}

fn engine() -> Option<&'static Methods> {
    // The engine calls none of the functions below before `install` has returned.
    ENGINE.get_or_init(|| None).as_ref()
}

#[allow(unsafe_code)]
unsafe extern "C" fn malloc(bytes: c_int) -> *mut c_void {
    let Some(engine) = engine().filter(|_| may_grow(bytes)) else { return std::ptr::null_mut() };
    // SAFETY: the engine's own method, called as the engine would.
    let block = unsafe { (engine.malloc)(bytes) };
    count(size(block), 0);
    block
}

#[allow(unsafe_code)]
unsafe extern "C" fn free(block: *mut c_void) {
    count(0, size(block));
    if let Some(engine) = engine() {
        // SAFETY: the engine's own method, called as the engine would.
        unsafe { (engine.free)(block) };
    }
}

#[allow(unsafe_code)]
unsafe extern "C" fn realloc(block: *mut c_void, bytes: c_int) -> *mut c_void {
    if ACCOUNT.with(|account| account.searches.get() && lists_places(account, bytes)) {
        return std::ptr::null_mut();
    }
    let before = size(block);
    let more = bytes.saturating_sub(c_int::try_from(before).unwrap_or(c_int::MAX));
    let Some(engine) = engine().filter(|_| more <= 0 || may_grow(more)) else {
        return std::ptr::null_mut();
    };
    // SAFETY: the engine's own method, called as the engine would.
    let moved = unsafe { (engine.realloc)(block, bytes) };
    if !moved.is_null() {
        count(size(moved), before);
    }
    moved
}

/// Returns true if a request is for the list of places in a row that full-text search found, and
/// longer than [`PLACES`]. FTS5 doubles the list, of three numbers a place, whenever it is full;
/// `snippet` compares each of its places with each, and nothing checks the time.
fn lists_places(account: &Account, bytes: c_int) -> bool {
    let bytes = usize::try_from(bytes).unwrap_or(0);
    let is_list = bytes > PLACES * PLACE && bytes % PLACE == 0 && (bytes / PLACE).is_power_of_two();
    if is_list {
        account.refused.set(Some(Refused::Places(PLACES)));
    }
    is_list
}

#[allow(unsafe_code)]
fn size(block: *mut c_void) -> usize {
    // SAFETY: the engine's own method, which takes its blocks and null.
    engine().map_or(0, |engine| usize::try_from(unsafe { (engine.size)(block) }).unwrap_or(0))
}

fn count(more: usize, less: usize) {
    TOTAL.fetch_add(more, Ordering::Relaxed);
    TOTAL.fetch_sub(less, Ordering::Relaxed);
    ACCOUNT.with(|account| {
        account.held.set(account.held.get() + more.cast_signed() - less.cast_signed())
    });
}

/// Returns true if the statement on this thread may have so many bytes more.
fn may_grow(bytes: c_int) -> bool {
    let more = usize::try_from(bytes).unwrap_or(0);
    let total = TOTAL.load(Ordering::Relaxed).saturating_add(more);
    let signed = more.cast_signed();
    ACCOUNT.with(|account| {
        let held = account.held.get().saturating_add(signed);
        let refused = if held > account.most.get() {
            Some(Refused::Own(account.most.get().unsigned_abs()))
        } else if total > HEAP || (total > CROWDED && held > SMALL.cast_signed()) {
            Some(Refused::Crowded)
        } else {
            None
        };
        if refused.is_some() {
            account.refused.set(refused);
        }
        refused.is_none()
            && !(more >= LARGE && account.until.get().is_some_and(|until| Instant::now() >= until))
    })
}

/// Bytes that the engine holds in the whole process; `None` where each statement's memory is
/// counted.
pub(crate) fn process_bytes() -> Option<usize> {
    if engine().is_some() {
        return None;
    }
    // SAFETY: the function takes nothing and reads a counter under the engine's own mutex.
    #[allow(unsafe_code)]
    let bytes = unsafe { ffi::sqlite3_memory_used() };
    Some(usize::try_from(bytes).unwrap_or(0))
}

/// Begins the account of the statement on this thread, which may take so many bytes until that
/// time.
pub(crate) fn begin(bytes: usize, until: Instant) {
    ACCOUNT.with(|account| {
        account.held.set(0);
        account.most.set(isize::try_from(bytes).unwrap_or(isize::MAX));
        account.until.set(Some(until));
        account.searches.set(false);
        account.refused.set(None);
    });
}

/// Marks the statement on this thread as one that searches full text.
pub(crate) fn search() {
    ACCOUNT.with(|account| account.searches.set(true));
}

/// The statement on this thread has ended.
pub(crate) fn end() {
    ACCOUNT.with(|account| {
        account.most.set(isize::MAX);
        account.until.set(None);
        account.searches.set(false);
    });
    ENDED.notify_waiters();
}

/// Returns the reason why the statement on this thread was last refused memory, if that happened
/// since it began or since the last call.
pub(crate) fn take_refusal() -> Option<Refused> {
    ACCOUNT.with(|account| account.refused.take())
}

/// Returns true if the statement on this thread was refused memory; [`take_refusal`] has the
/// reason.
pub(crate) fn was_refused() -> bool {
    ACCOUNT.with(|account| account.refused.get()).is_some()
}

/// Returns true if the time of the statement on this thread is over.
pub(crate) fn is_late() -> bool {
    ACCOUNT.with(|account| account.until.get()).is_some_and(|until| Instant::now() >= until)
}

/// Waits until statements have ended and there is space for `bytes` in the process, but no longer
/// than `patience`.
pub(crate) async fn wait_for_space(bytes: usize, patience: Duration) {
    let wait = async {
        loop {
            let ended = ENDED.notified();
            if TOTAL.load(Ordering::Relaxed).saturating_add(bytes.min(CROWDED / 2)) <= CROWDED {
                break;
            }
            ended.await;
        }
    };
    let _ = tokio::time::timeout(patience, wait).await;
}
