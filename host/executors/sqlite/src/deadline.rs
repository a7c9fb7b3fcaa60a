//! The bounds that end the engine's work from outside: a deadline, a cap on memory, or a caller
//! that no longer waits. The progress handler checks them while statements run, the authorizer
//! while they are compiled, and our own loops between two statements.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, InterruptHandle};
use syrch_core::{SqlError, SqlErrorKind};

use crate::guard::Authorizer;
use crate::memory;
use crate::queue::SLOW_BESIDE_OTHERS;
use crate::slots::Slot;
use crate::threads::{self, Neighbours};

/// Virtual machine steps between two checks of the deadline. One step may be a function that works
/// on the longest value for milliseconds.
const STEPS: i32 = 100;

/// CPU time of a statement before it gives way.
const SLOW: Duration = Duration::from_millis(30);
const RUNNING: u8 = 0;
const CANCELLED: u8 = 1;
const DEADLINE: u8 = 2;
const MEMORY: u8 = 3;

/// Cancels a statement from outside. Cancelling one that has ended does nothing, not even to the
/// connection's next statement.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    why: AtomicU8,
    handle: Mutex<Option<Handle>>,
    slot: Option<Arc<Slot>>,
}

struct Handle(InterruptHandle);

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Handle")
    }
}

impl Cancel {
    fn stop(&self, why: u8) {
        let _ = self.why.compare_exchange(RUNNING, why, Ordering::Relaxed, Ordering::Relaxed);
        if let Some(slot) = &self.slot {
            slot.wake();
        }
    }

    fn is_stopped(&self) -> bool {
        self.why.load(Ordering::Relaxed) != RUNNING
    }

    /// Returns true if somebody cancelled it.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.why.load(Ordering::Relaxed) == CANCELLED
    }

    /// Returns one that also makes a slow statement give way.
    pub(crate) fn for_slot(slot: &Arc<Slot>) -> Self {
        Self { slot: Some(Arc::clone(slot)), ..Self::default() }
    }

    pub(crate) fn cancel(&self) {
        self.stop(CANCELLED);
        if let Some(Handle(handle)) = &*self.handle.lock().unwrap_or_else(PoisonError::into_inner) {
            handle.interrupt();
        }
    }

    /// The connection that cancelling interrupts.
    pub(crate) fn aim(&self, handle: Option<InterruptHandle>) {
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = handle.map(Handle);
    }
}

/// The limits of a piece of work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    pub(crate) deadline: Duration,
    pub(crate) memory: usize,
}

/// Dropping it cancels the statement and abandons its thread, which then ends on its own.
pub(crate) struct LeaveOnDrop(Arc<Cancel>, Arc<Slot>);

impl LeaveOnDrop {
    pub(crate) fn new(cancel: &Arc<Cancel>, slot: &Arc<Slot>) -> Self {
        Self(Arc::clone(cancel), Arc::clone(slot))
    }
}

impl Drop for LeaveOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
        self.1.leave();
    }
}

/// The end of one piece of work. Once it is over, it stays over.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    allowance: Allowance,
    until: Instant,
    /// The times at which it began, by the clock and by the thread's CPU time.
    started: (Instant, Duration),
    /// Bytes that the whole process may hold, where those of a statement are not counted.
    most: Option<usize>,
    cancel: Arc<Cancel>,
}

impl Deadline {
    /// A deadline that counts from now.
    pub(crate) fn start(allowance: Allowance, cancel: &Arc<Cancel>) -> Self {
        let most = memory::process_bytes().map(|used| used.saturating_add(allowance.memory));
        let now = Instant::now();
        Self {
            allowance,
            until: now + allowance.deadline,
            started: (now, threads::cpu_time()),
            most,
            cancel: Arc::clone(cancel),
        }
    }

    /// Returns true if the time or memory is used up, or the work was cancelled.
    pub(crate) fn is_over(&self) -> bool {
        let mut now = Instant::now();
        if self.check_slow(now) {
            let has_waited = threads::give_way(
                &|| self.cancel.slot.as_ref().map_or(Neighbours::Some, |slot| slot.neighbours()),
                self.until,
                &|| self.cancel.is_stopped(),
            );
            if let Some(slot) = self.cancel.slot.as_ref().filter(|_| has_waited) {
                slot.charge(threads::cpu_time().saturating_sub(self.started.1));
            }
            now = Instant::now();
        }
        if now >= self.until {
            self.cancel.stop(DEADLINE);
        } else if self.most.is_some_and(|most| memory::process_bytes() > Some(most)) {
            self.cancel.stop(MEMORY);
        }
        self.cancel.is_stopped()
    }

    /// Returns true if the statement is slow. When it is found to be, its place goes to others.
    fn check_slow(&self, now: Instant) -> bool {
        let Some(slot) = &self.cancel.slot else { return false };
        if slot.is_slow() {
            return true;
        }
        let (started, cpu) = self.started;
        let elapsed = now.saturating_duration_since(started);
        if elapsed < SLOW_BESIDE_OTHERS {
            return false;
        }
        let free = if slot.should_give_way() { SLOW_BESIDE_OTHERS } else { SLOW };
        // It has used no more than has passed, and asking for a thread's time is expensive.
        if elapsed < free {
            return false;
        }
        let used = threads::cpu_time().saturating_sub(cpu);
        if used < free {
            return false;
        }
        slot.mark_slow(used);
        true
    }

    /// Returns the reason why the work is over.
    pub(crate) fn reason(&self) -> SqlError {
        match self.cancel.why.load(Ordering::Relaxed) {
            DEADLINE => deadline_error(self.allowance.deadline),
            MEMORY => memory_error(self.allowance.memory),
            _ => SqlError::new(SqlErrorKind::Cancelled, "cancelled"),
        }
    }
}

/// The error of a statement that took too long.
pub(crate) fn deadline_error(limit: Duration) -> SqlError {
    let message = format!("the statement ran longer than {} s", limit.as_secs_f64());
    SqlError::new(SqlErrorKind::Timeout, message).rule("deadline")
}

/// The error of a statement that took too much memory.
pub(crate) fn memory_error(limit: usize) -> SqlError {
    let message = format!("the statement took more than {} MiB of memory", limit >> 20);
    SqlError::new(SqlErrorKind::TooLarge, message).rule("memory")
}

/// Lets the deadline end, from now on, what the connection does on this thread.
pub(crate) fn install(
    connection: &mut Connection,
    authorizer: &Authorizer,
    ends_at: &Deadline,
) -> rusqlite::Result<()> {
    memory::begin(ends_at.allowance.memory, ends_at.until);
    let own = ends_at.clone();
    connection.progress_handler(STEPS, Some(move || own.is_over()))?;
    authorizer.set_deadline(Some(ends_at.clone()));
    Ok(())
}

/// Removes the deadline: from now on, nothing ends what the connection does.
pub(crate) fn remove(connection: &mut Connection, authorizer: &Authorizer) -> rusqlite::Result<()> {
    memory::end();
    authorizer.set_deadline(None);
    connection.progress_handler(0, None::<fn() -> bool>)
}
