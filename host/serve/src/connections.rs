//! Connections of clients: a bounded number, each with a bounded time for the head of a request.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tower::ServiceExt;

use crate::Limits;

/// The pause after a connection could not be accepted, for example because descriptors are used up.
const PAUSE: Duration = Duration::from_millis(100);
/// The limit on the buffered head of a request, in bytes.
const HEAD: usize = 64 << 10;
/// The time for which connections end by themselves once the server stops.
const FAREWELL: Duration = Duration::from_secs(2);

/// Serves connections until `stop` ends, and then until those under way have ended, or for two
/// seconds.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &Limits,
    stop: impl Future<Output = ()>,
) {
    let slots = Arc::new(Semaphore::new(limits.connections));
    let stopped = watch::Sender::new(false);
    let mut open = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept(&listener, &slots) => accepted,
        };
        let Some((stream, slot)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let connection = answer(stream, router.clone(), limits.patience, stopped.subscribe());
        open.spawn(async move {
            connection.await;
            drop(slot);
        });
        while open.try_join_next().is_some() {}
    }
    stopped.send_replace(true);
    let ended = async { while open.join_next().await.is_some() {} };
    if tokio::time::timeout(FAREWELL, ended).await.is_err() {
        open.shutdown().await;
    }
}

/// The next connection, once there is a slot for it; `None` if it could not be accepted.
async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots).acquire_owned().await.ok()?;
    let (stream, _) = listener.accept().await.ok()?;
    // Else each event of a stream waits for the acknowledgement of the one before, about 40 ms.
    stream.set_nodelay(true).ok()?;
    Some((stream, slot))
}

/// Answers the requests of one connection. An error of a connection concerns its client alone.
async fn answer(
    stream: TcpStream,
    router: Router,
    patience: Duration,
    mut stopped: watch::Receiver<bool>,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let router = router.clone();
        async move { Ok::<_, Infallible>(route(router, request.map(Body::new)).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let stopping = async { drop(stopped.wait_for(|stopped| *stopped).await) };
    tokio::select! {
        ended = &mut connection => drop(ended),
        () = stopping => {
            connection.as_mut().graceful_shutdown();
            drop(connection.await);
        }
    }
}

async fn route(router: Router, request: Request<Body>) -> axum::response::Response {
    match router.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}
