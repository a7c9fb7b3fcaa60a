//! What ends the engine's work from outside: a deadline, a cap on memory, or the caller who no longer waits. The progress handler looks at
//! it while statements run, the authorizer while they are compiled, and our own loops between two statements.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, InterruptHandle};
use syrch_core::{SqlError, SqlErrorKind};

use crate::guard::Sentry;
use crate::memory;
use crate::seats::Seat;
use crate::threads;

/// Virtual machine steps between two looks at the clock. One step may be a function that works on the longest value for milliseconds.
const STEPS: i32 = 100;

/// CPU time of a statement before it gives way.
const SLOW: Duration = Duration::from_millis(30);
/// The same, while others wait for its place.
const SLOW_BEFORE_OTHERS: Duration = Duration::from_millis(5);

const RUNNING: u8 = 0;
const CANCELLED: u8 = 1;
const DEADLINE: u8 = 2;
const MEMORY: u8 = 3;

/// Ends a statement from outside. Cancelling one that has ended does nothing, not even to the connection's next statement.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    why: AtomicU8,
    handle: Mutex<Option<Handle>>,
    seat: Option<Arc<Seat>>,
    /// Whether the work has been found to be slow.
    is_slow: AtomicBool,
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
    }

    fn is_stopped(&self) -> bool {
        self.why.load(Ordering::Relaxed) != RUNNING
    }

    /// One that also makes a slow statement give way.
    pub(crate) fn of(seat: &Arc<Seat>) -> Self {
        Self { seat: Some(Arc::clone(seat)), ..Self::default() }
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

/// What work may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) deadline: Duration,
    pub(crate) memory: usize,
}

/// One piece of work's end. Once it has rung it rings on.
#[derive(Debug, Clone)]
pub(crate) struct Alarm {
    ends: Ends,
    until: Instant,
    /// When it began, by the clock and by the thread's CPU time.
    begun: (Instant, Duration),
    /// Bytes that the whole process may hold, where those of a statement are not counted.
    most: Option<usize>,
    cancel: Arc<Cancel>,
}

impl Alarm {
    /// An alarm that counts from now.
    pub(crate) fn set(ends: Ends, cancel: &Arc<Cancel>) -> Self {
        let most = memory::of_process().map(|used| used.saturating_add(ends.memory));
        let now = Instant::now();
        Self { ends, until: now + ends.deadline, begun: (now, threads::cpu_time()), most, cancel: Arc::clone(cancel) }
    }

    /// Whether the work is over.
    pub(crate) fn rings(&self) -> bool {
        let mut now = Instant::now();
        if self.is_slow(now) {
            threads::give_way(&|| Instant::now() >= self.until || self.cancel.is_stopped());
            now = Instant::now();
        }
        if now >= self.until {
            self.cancel.stop(DEADLINE);
        } else if self.most.is_some_and(|most| memory::of_process() > Some(most)) {
            self.cancel.stop(MEMORY);
        }
        self.cancel.is_stopped()
    }

    /// Whether the work is that of a slow statement; when it is found to be, its place goes to others.
    fn is_slow(&self, now: Instant) -> bool {
        let Some(seat) = &self.cancel.seat else { return false };
        if self.cancel.is_slow.load(Ordering::Relaxed) {
            return true;
        }
        let (begun, cpu) = self.begun;
        let free = if seat.is_wanted() { SLOW_BEFORE_OTHERS } else { SLOW };
        // It has used no more than has passed, and to ask for the time of a thread is dear.
        if now.saturating_duration_since(begun) < free || threads::cpu_time().saturating_sub(cpu) < free {
            return false;
        }
        self.cancel.is_slow.store(true, Ordering::Relaxed);
        seat.give_up();
        true
    }

    /// Why it rang.
    pub(crate) fn reason(&self) -> SqlError {
        match self.cancel.why.load(Ordering::Relaxed) {
            DEADLINE => deadline(self.ends.deadline),
            MEMORY => memory_error(self.ends.memory),
            _ => SqlError::new(SqlErrorKind::Cancelled, "cancelled"),
        }
    }
}

/// The error of a statement that took too long.
pub(crate) fn deadline(limit: Duration) -> SqlError {
    let message = format!("the statement ran longer than {} s", limit.as_secs_f64());
    SqlError::new(SqlErrorKind::Timeout, message).rule("deadline")
}

/// The error of a statement that took too much memory.
pub(crate) fn memory_error(limit: usize) -> SqlError {
    let message = format!("the statement took more than {} MiB of memory", limit >> 20);
    SqlError::new(SqlErrorKind::TooLarge, message).rule("memory")
}

/// From here on the alarm ends what the connection does, on this thread.
pub(crate) fn arm(connection: &mut Connection, sentry: &Sentry, alarm: &Alarm) -> rusqlite::Result<()> {
    memory::begin(alarm.ends.memory, alarm.until);
    let heard = alarm.clone();
    connection.progress_handler(STEPS, Some(move || heard.rings()))?;
    sentry.hear(Some(alarm.clone()));
    Ok(())
}

/// From here on nothing does.
pub(crate) fn disarm(connection: &mut Connection, sentry: &Sentry) -> rusqlite::Result<()> {
    memory::end();
    sentry.hear(None);
    connection.progress_handler(0, None::<fn() -> bool>)
}
