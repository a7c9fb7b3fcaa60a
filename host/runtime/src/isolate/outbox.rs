//! The messages that a process has for the other one.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::unix::OwnedWriteHalf;
use tokio::runtime::Handle;

/// Sends messages to the other process. The caller writes at once what the stream takes, since
/// waking a task for it takes longer than most role calls; a task writes the rest.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Sending>);

struct Sending {
    stream: OwnedWriteHalf,
    runtime: Handle,
    queue: Mutex<Queue>,
}

/// The bytes that the stream did not take at once, which a task writes.
#[derive(Default)]
struct Queue {
    frames: VecDeque<Vec<u8>>,
    /// Bytes of the first frame that are written.
    written: usize,
    /// True once the stream has failed.
    is_closed: bool,
}

impl Outbox {
    /// Makes the outbox of a stream, within a runtime.
    pub(crate) fn new(stream: OwnedWriteHalf) -> Self {
        let queue = Mutex::default();
        Self(Arc::new(Sending { stream, runtime: Handle::current(), queue }))
    }

    /// Sends a frame. An error says that the other process is gone.
    pub(crate) fn send(&self, frame: Vec<u8>) -> io::Result<()> {
        let mut queue = self.0.lock();
        if queue.is_closed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        queue.frames.push_back(frame);
        if queue.frames.len() == 1 && !self.0.write(&mut queue)? {
            self.0.runtime.spawn(Arc::clone(&self.0).write_rest());
        }
        Ok(())
    }
}

impl Sending {
    /// Writes what the stream takes, and returns whether that was all.
    fn write(&self, queue: &mut Queue) -> io::Result<bool> {
        while let Some(frame) = queue.frames.front() {
            match self.stream.try_write(&frame[queue.written..]) {
                Ok(bytes) => {
                    queue.written += bytes;
                    if queue.written == frame.len() {
                        queue.frames.pop_front();
                        queue.written = 0;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => {
                    *queue = Queue { is_closed: true, ..Queue::default() };
                    return Err(error);
                }
            }
        }
        Ok(true)
    }

    async fn write_rest(self: Arc<Self>) {
        while self.stream.writable().await.is_ok() {
            if self.write(&mut self.lock()).unwrap_or(true) {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
