//! The socket to a server, which reads at most so many bytes for a statement: a single message of
//! the server may have a gigabyte.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use crate::config::Endpoint;

/// Bytes that may still be read; shared with who sets it before each statement.
pub(crate) type Allowance = Arc<AtomicUsize>;

enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A connected socket that fails when the bytes that it may read are used up.
pub(crate) struct Wire {
    socket: Socket,
    left: Allowance,
}

impl Wire {
    /// Connects; the caller bounds the time.
    pub(crate) async fn connect(endpoint: &Endpoint, left: Allowance) -> io::Result<Self> {
        let socket = match endpoint.socket() {
            Some(path) => Socket::Unix(UnixStream::connect(path).await?),
            None => {
                let host = endpoint.address.as_deref().unwrap_or(&endpoint.host);
                let stream = TcpStream::connect((host, endpoint.port)).await?;
                stream.set_nodelay(true)?;
                Socket::Tcp(stream)
            }
        };
        Ok(Self { socket, left })
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left.load(Ordering::Relaxed) == 0 {
            return Poll::Ready(Err(io::Error::other(
                "the server sends more than a statement may return",
            )));
        }
        let before = buffer.filled().len();
        let result = match &mut self.socket {
            Socket::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Socket::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
        };
        let read = buffer.filled().len() - before;
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(read), Ordering::Relaxed);
        result
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Socket::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Socket::Unix(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Socket::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
