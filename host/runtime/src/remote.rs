//! The host of a guest that runs in a worker process.

use std::collections::VecDeque;
use std::io;

use tokio::sync::mpsc;

/// Sends a frame to the host. An error says that it is gone.
pub(crate) type SendFrame = Box<dyn Fn(Vec<u8>) -> io::Result<()> + Send + Sync>;

/// The host's side of a call, as its worker sees it.
pub(crate) struct Remote {
    /// The number of the call.
    pub(crate) id: u64,
    send: SendFrame,
    answers: mpsc::UnboundedReceiver<Vec<u8>>,
    /// The handles of the results that are part of the call, in the order in which it needs them.
    handles: VecDeque<u32>,
}

impl Remote {
    pub(crate) fn new(
        id: u64,
        send: SendFrame,
        answers: mpsc::UnboundedReceiver<Vec<u8>>,
        handles: Vec<u32>,
    ) -> Self {
        Self { id, send, answers, handles: handles.into() }
    }

    pub(crate) fn next_handle(&mut self) -> wasmtime::Result<u32> {
        self.handles.pop_front().ok_or_else(host_is_gone)
    }

    /// Sends the message of a port call to the host, and waits for the answer.
    pub(crate) async fn exchange(&mut self, frame: Vec<u8>) -> wasmtime::Result<Vec<u8>> {
        (self.send)(frame).map_err(|_| host_is_gone())?;
        self.answers.recv().await.ok_or_else(host_is_gone)
    }
}

pub(crate) fn host_is_gone() -> wasmtime::Error {
    wasmtime::Error::msg("the host does not answer")
}
