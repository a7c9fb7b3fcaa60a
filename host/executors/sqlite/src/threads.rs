//! The threads on which statements run. One that is slow gives way to all others for the rest of its life: its thread takes the lowest
//! priority, and ends with the statement, since only the system's administrator could raise it again.

use std::cell::Cell;
use std::sync::mpsc::{RecvError, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use tokio::sync::oneshot;

/// How long an idle thread waits for work.
const IDLE: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// Idle threads, by the ends that hand them work.
static WAITING: Mutex<Vec<(ThreadId, SyncSender<Job>)>> = Mutex::new(Vec::new());

thread_local! {
    /// Whether this thread gives way.
    static GIVES_WAY: Cell<bool> = const { Cell::new(false) };
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
    std::thread::Builder::new().name("statement".into()).spawn(move || live(job))?;
    Ok(result)
}

fn waiting() -> MutexGuard<'static, Vec<(ThreadId, SyncSender<Job>)>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn live(mut job: Job) {
    loop {
        job();
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

/// From here on this thread gives way to all others.
pub(crate) fn give_way() {
    if GIVES_WAY.replace(true) {
        return;
    }
    // A thread that keeps its priority is as good as before.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn threads_are_used_again_unless_they_gave_way() {
        let id = || std::thread::current().id();
        let run = async |slow: bool| {
            let work = move || {
                if slow {
                    give_way();
                }
                id()
            };
            let ran = spawn(work).unwrap().await.unwrap();
            // The result is there a moment before its thread is.
            tokio::time::sleep(Duration::from_millis(50)).await;
            ran
        };
        let first = run(false).await;
        assert_eq!(run(false).await, first);
        assert_eq!(run(true).await, first);
        assert_ne!(run(false).await, first, "a thread of the lowest priority was used again");
        assert!(spawn(|| panic!("on purpose")).unwrap().await.is_err());
        assert!(spawn(|| 7).unwrap().await.is_ok_and(|seven| seven == 7));
    }
}
