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
    frames: VecDeque<Frame>,
    /// Bytes of the first frame that are written.
    written: usize,
    /// True once the stream has failed.
    is_closed: bool,
}

/// A frame, and the call that it is about, if the other process has to read it before it can go on
/// with that call.
struct Frame {
    call: Option<u64>,
    bytes: Vec<u8>,
}

impl Outbox {
    /// Makes the outbox of a stream, within a runtime.
    pub(crate) fn new(stream: OwnedWriteHalf) -> Self {
        let queue = Mutex::default();
        Self(Arc::new(Sending { stream, runtime: Handle::current(), queue }))
    }

    /// Sends a frame. An error says that the other process is gone.
    pub(crate) fn send(&self, frame: Vec<u8>) -> io::Result<()> {
        self.queue(Frame { call: None, bytes: frame })
    }

    /// Sends a frame without which the other process cannot go on with a call.
    pub(crate) fn send_for(&self, call: u64, frame: Vec<u8>) -> io::Result<()> {
        self.queue(Frame { call: Some(call), bytes: frame })
    }

    /// Returns whether a frame of that call is not written to its end.
    pub(crate) fn has_frame(&self, call: u64) -> bool {
        self.0.lock().frames.iter().any(|frame| frame.call == Some(call))
    }

    /// Drops the frames of that call of which nothing is written, and returns whether there are
    /// any.
    pub(crate) fn forget(&self, call: u64) -> bool {
        let mut queue = self.0.lock();
        let mut begun = usize::from(queue.written > 0);
        let before = queue.frames.len();
        queue.frames.retain(|frame| {
            let is_begun = begun > 0;
            begun = 0;
            is_begun || frame.call != Some(call)
        });
        queue.frames.len() < before
    }

    fn queue(&self, frame: Frame) -> io::Result<()> {
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
            match self.stream.try_write(&frame.bytes[queue.written..]) {
                Ok(bytes) => {
                    let length = frame.bytes.len();
                    queue.written += bytes;
                    if queue.written == length {
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

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::UnixStream;

    use super::*;

    #[tokio::test]
    async fn frames_that_nobody_reads_are_known_and_dropped() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (_reader, writer) = ours.into_split();
        let outbox = Outbox::new(writer);
        outbox.send_for(1, b"read".to_vec()).unwrap();
        assert!(!outbox.has_frame(1));
        // More than the stream takes at once, and others behind it.
        outbox.send_for(2, vec![b'2'; 8 << 20]).unwrap();
        outbox.send_for(3, b"three".to_vec()).unwrap();
        outbox.send(b"four".to_vec()).unwrap();
        assert!(outbox.has_frame(2) && outbox.has_frame(3));
        assert!(outbox.forget(3) && !outbox.has_frame(3) && !outbox.forget(3));
        // One that is begun has to be ended.
        assert!(!outbox.forget(2) && outbox.has_frame(2));
        let mut read = vec![0; 4 + (8 << 20) + 4];
        theirs.read_exact(&mut read).await.unwrap();
        assert!(read.starts_with(b"read2") && read.ends_with(b"2four"));
        outbox.send(b"five".to_vec()).unwrap();
        theirs.read_exact(&mut read[..4]).await.unwrap();
        assert!(read.starts_with(b"five") && !outbox.has_frame(2));
    }
}
