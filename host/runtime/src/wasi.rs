//! WASI as guests of every language expect it, without access to anything: no file, socket,
//! environment or argument; a clock that stands still; randomness from the call's seed; output into
//! the plugin's log.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use rand_core::SeedableRng;
use rand_pcg::Pcg64;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder};

/// Bytes that a guest may print in one call; the rest is dropped.
const STDIO_BYTES: usize = 64 << 10;
/// The most random bytes that one call of `get-random-bytes` may ask for.
const RANDOM_BYTES: u64 = 64 << 10;

/// A context that grants nothing. `seed` makes its randomness, so equal calls see equal numbers;
/// they are not for secrets, of which a guest has none.
pub(crate) fn deny_all(seed: u64, log: &Printed) -> WasiCtx {
    WasiCtxBuilder::new()
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .wall_clock(Still)
        .monotonic_clock(Still)
        .secure_random(Pcg64::seed_from_u64(seed ^ 1))
        .insecure_random(Pcg64::seed_from_u64(seed ^ 2))
        .insecure_random_seed(u128::from(seed))
        .max_random_size(RANDOM_BYTES)
        .stdout(log.clone())
        .stderr(log.clone())
        .build()
}

/// A clock that stands still: time would reveal to a guest what a cache holds.
struct Still;

impl HostWallClock for Still {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl HostMonotonicClock for Still {
    fn resolution(&self) -> u64 {
        1_000_000_000
    }

    /// Returns a time that is not zero: Go's runtime takes that for a clock that does not work.
    fn now(&self) -> u64 {
        1_000_000_000
    }
}

/// The output of a guest, on both streams together.
#[derive(Clone, Default)]
pub(crate) struct Printed(Arc<Mutex<Vec<u8>>>);

impl Printed {
    /// The printed text so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// The printed text so far, which is removed.
    pub(crate) fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl IsTerminal for Printed {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Printed {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl AsyncWrite for Printed {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let mut printed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = STDIO_BYTES.saturating_sub(printed.len());
        printed.extend_from_slice(&bytes[..bytes.len().min(left)]);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
