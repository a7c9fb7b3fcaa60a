//! The threads on which statements run. One whose statement is slow beside others gives way to all
//! of them for the rest of its life: it takes the lowest priority, and ends with the statement,
//! since only the system's administrator could raise it again. Alone it retains its priority: other
//! programs of a busy machine would leave it no time within its deadline. As many of them as there
//! are cores compute at once, each for a while in turn.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::mpsc::{RecvError, SyncSender, sync_channel};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{Thread, ThreadId};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// The time for which an idle thread waits for work.
const IDLE: Duration = Duration::from_secs(10);

/// The time for which a slow thread computes before others have their turn.
const TURN: Duration = Duration::from_millis(20);

/// The longest time that a thread is parked. It then checks itself whether its work was stopped,
/// should the wake-up have come before it was parked.
const LONGEST_PARK: Duration = Duration::from_secs(1);

type Job = Box<dyn FnOnce() + Send>;

/// Idle threads, by the ends that hand them work.
static WAITING: Mutex<Vec<(ThreadId, SyncSender<Job>)>> = Mutex::new(Vec::new());

thread_local! {
    /// True if this thread has the lowest priority.
    static GIVES_WAY: Cell<bool> = const { Cell::new(false) };
    /// True if others wait for what this thread does.
    static IS_FOR_ALL: Cell<bool> = const { Cell::new(false) };
    /// The turn that this thread has at present, if any.
    static TURN_OF_THREAD: Cell<Option<Turn>> = const { Cell::new(None) };
}

/// Runs the work on a thread of its own. The receiver fails when the work panics.
///
/// # Errors
/// When the system has no thread.
pub(crate) fn spawn<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<oneshot::Receiver<T>> {
    let (done, result) = oneshot::channel();
    let mut job: Job = Box::new(move || drop(done.send(work())));
    // The one that was used last is warm.
    let idle = waiting().pop();
    if let Some((_, thread)) = idle {
        // Whoever was taken from the list waits for this.
        match thread.send(job) {
            Ok(()) => return Ok(result),
            Err(error) => job = error.0,
        }
    }
    std::thread::Builder::new().name("statement".into()).spawn(move || serve(job))?;
    Ok(result)
}

fn waiting() -> MutexGuard<'static, Vec<(ThreadId, SyncSender<Job>)>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(mut job: Job) {
    loop {
        job();
        drop(TURN_OF_THREAD.take());
        IS_FOR_ALL.set(false);
        if GIVES_WAY.get() {
            return;
        }
        let (hand, next) = sync_channel(1);
        let own = std::thread::current().id();
        waiting().push((own, hand));
        let handed = next.recv_timeout(IDLE).or_else(|_| {
            let mut waiting = waiting();
            match waiting.iter().position(|(thread, _)| *thread == own) {
                Some(place) => {
                    waiting.remove(place);
                    Err(RecvError)
                }
                // It was taken from the list: work is on its way.
                None => {
                    drop(waiting);
                    next.recv()
                }
            }
        });
        let Ok(work) = handed else { return };
        job = work;
    }
}

/// The slow threads: those that wait for a turn, in order, and those that have one, with when it
/// began.
struct Turns {
    waiting: VecDeque<Thread>,
    running: Vec<(ThreadId, Instant)>,
}

static TURNS: Mutex<Turns> = Mutex::new(Turns { waiting: VecDeque::new(), running: Vec::new() });
static CORES: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));

fn turns() -> MutexGuard<'static, Turns> {
    TURNS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turns {
    /// Returns the number of cores that are taken. A step of the engine that takes long does not
    /// come back to end its turn: the others wait for it no longer.
    fn busy_cores(&self) -> usize {
        self.running.iter().filter(|(_, started)| started.elapsed() < TURN * 5).count()
    }

    /// Wakes the first thread that waits, and no other: hundreds may wait.
    fn wake_next(&self) {
        if let Some(next) = self.waiting.front() {
            next.unpark();
        }
    }
}

/// A slow thread's time on the CPU, until it is dropped.
struct Turn(Instant);

impl Turn {
    /// Waits for a turn. Returns `None` at the instant `until`, or when the work is stopped;
    /// whoever stops it unparks the thread.
    fn begin(until: Instant, is_stopped: &dyn Fn() -> bool) -> Option<Self> {
        let own = std::thread::current();
        turns().waiting.push_back(own.clone());
        loop {
            let mut turns = turns();
            let now = Instant::now();
            if now >= until || is_stopped() {
                turns.waiting.retain(|thread| thread.id() != own.id());
                turns.wake_next();
                return None;
            }
            let is_next = turns.waiting.front().is_some_and(|next| next.id() == own.id());
            if is_next && turns.busy_cores() < *CORES {
                turns.waiting.pop_front();
                turns.running.push((own.id(), now));
                turns.wake_next();
                return Some(Self(now));
            }
            drop(turns);
            // The end of a turn that lasts too long wakes nobody, so the first in the queue checks
            // again by itself.
            std::thread::park_timeout(if is_next { TURN } else { (until - now).min(LONGEST_PARK) });
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let own = std::thread::current().id();
        let mut turns = turns();
        turns.running.retain(|(thread, _)| *thread != own);
        turns.wake_next();
    }
}

/// The presence of other statements, in progress or waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Neighbours {
    None,
    Some,
}

/// Makes this thread take turns with other slow ones and, once there are neighbours at the
/// beginning of a turn, give way to all others for good. Call it repeatedly while the statement
/// runs: when its turn is over, it waits for the next one, until `until` at most or until the work
/// is stopped. Whoever stops the work must unpark the thread. Returns whether it needed a new turn.
pub(crate) fn give_way(
    neighbours: &dyn Fn() -> Neighbours,
    until: Instant,
    is_stopped: &dyn Fn() -> bool,
) -> bool {
    if IS_FOR_ALL.get() {
        return false;
    }
    if let Some(turn) = TURN_OF_THREAD.take().filter(|turn| turn.0.elapsed() < TURN) {
        TURN_OF_THREAD.set(Some(turn));
        return false;
    }
    if !GIVES_WAY.get() && neighbours() == Neighbours::Some {
        GIVES_WAY.set(true);
        // A thread whose priority stays the same works as before.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19);
    }
    TURN_OF_THREAD.set(Turn::begin(until, is_stopped));
    true
}

/// Does work that others wait for, too: it gives way to nobody.
pub(crate) fn for_all<T>(work: impl FnOnce() -> T) -> T {
    IS_FOR_ALL.set(true);
    let done = work();
    IS_FOR_ALL.set(false);
    done
}

/// The CPU time of this thread; where the system does not report it, the time of the process's
/// life.
pub(crate) fn cpu_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(
            u64::try_from(time.tv_sec).unwrap_or(0),
            u32::try_from(time.tv_nsec).unwrap_or(0),
        )
    }
    #[cfg(not(unix))]
    {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn threads_are_used_again_unless_they_gave_way() {
        fn id() -> ThreadId {
            std::thread::current().id()
        }
        let run = async |slow: Option<Neighbours>| {
            let ran = spawn(move || {
                if let Some(neighbours) = slow {
                    give_way(&|| neighbours, Instant::now() + IDLE, &|| false);
                }
                id()
            })
            .unwrap()
            .await
            .unwrap();
            // The result is there a moment before its thread is.
            tokio::time::sleep(Duration::from_millis(50)).await;
            ran
        };
        let first = run(None).await;
        assert_eq!(run(None).await, first);
        // Alone it has the priority of all.
        assert_eq!(run(Some(Neighbours::None)).await, first);
        assert_eq!(run(Some(Neighbours::Some)).await, first);
        assert_ne!(run(None).await, first, "a thread of the lowest priority was used again");
        assert!(turns().running.is_empty());
        assert!(turns().waiting.is_empty());
        assert!(spawn(|| panic!("on purpose")).unwrap().await.is_err());
        assert!(spawn(|| 7).unwrap().await.is_ok_and(|seven| seven == 7));
    }
}
