//! Opening: a connection to the first server of a target that answers, and why there is none.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Poll, ready};

use rustls::ClientConfig;
use secrecy::ExposeSecret;
use syrch_core::ports::DatabaseError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{AsyncMessage, CancelToken, Client, Config, Connection, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::config::{Endpoint, SslMode, Target};
use crate::error;
use crate::notices::Notices;
use crate::tls;
use crate::wire::{Allowance, Wire};

/// Bytes that the server may send while no statement runs.
pub(crate) const OWN: usize = 256 << 20;

/// A target with the means to connect to it.
pub(crate) struct Connector {
    pub(crate) target: Target,
    tls: ClientConfig,
}

/// A connection whose socket is closed when it is dropped, whatever the server does.
pub(crate) struct Link {
    pub(crate) client: Client,
    pub(crate) left: Allowance,
    pub(crate) endpoint: Endpoint,
    pub(crate) is_encrypted: bool,
    pub(crate) notices: Arc<Notices>,
    task: JoinHandle<()>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Connector {
    /// # Errors
    /// When the root certificates cannot be read.
    pub(crate) fn new(target: Target) -> Result<Self, DatabaseError> {
        let tls = tls::config(&target).map_err(|reason| DatabaseError::Encryption {
            path: target.display_address(),
            reason,
        })?;
        Ok(Self { target, tls })
    }

    /// Connects to the first server that answers.
    ///
    /// # Errors
    /// When none answers: the reason of the last one.
    pub(crate) async fn connect(&self) -> Result<Link, DatabaseError> {
        let unreachable = |reason: String| DatabaseError::Unreachable {
            path: self.target.display_address(),
            reason,
        };
        let mut failure = unreachable("no server is given".to_owned());
        for endpoint in &self.target.endpoints {
            match tokio::time::timeout(self.target.timeout, self.connect_to(endpoint)).await {
                Ok(Ok(link)) => return Ok(link),
                Ok(Err(error)) => failure = error,
                Err(_) => {
                    let seconds = self.target.timeout.as_secs();
                    failure = unreachable(format!("no answer within {seconds} s"));
                }
            }
        }
        Err(failure)
    }

    async fn connect_to(&self, endpoint: &Endpoint) -> Result<Link, DatabaseError> {
        let shown = self.target.display_address();
        let first = match self.target.ssl {
            _ if endpoint.socket().is_some() => SslMode::Disable,
            SslMode::Allow => SslMode::Disable,
            mode => mode,
        };
        let linked = match self.try_connect(endpoint, first).await {
            Ok(link) => Ok(link),
            // `allow` encrypts only where the server wants it.
            Err(first) if self.target.ssl == SslMode::Allow && endpoint.socket().is_none() => {
                match self.try_connect(endpoint, SslMode::Require).await {
                    Err(Failure::Plain) => Err(first),
                    second => second,
                }
            }
            Err(failure) => Err(failure),
        };
        linked.map_err(|failure| failure.describe(&shown, self.target.may_send))
    }

    async fn try_connect(&self, endpoint: &Endpoint, mode: SslMode) -> Result<Link, Failure> {
        let left: Allowance = Arc::new(AtomicUsize::new(OWN));
        let wire = Wire::connect(endpoint, Arc::clone(&left)).await.map_err(Failure::Socket)?;
        let mut config = Config::new();
        config.user(&self.target.user).dbname(&self.target.database).application_name("syrch-host");
        if let Some(password) = &self.target.password {
            config.password(password.expose_secret());
        }
        config.ssl_mode(match mode {
            SslMode::Disable | SslMode::Allow => tokio_postgres::config::SslMode::Disable,
            SslMode::Prefer => tokio_postgres::config::SslMode::Prefer,
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => {
                tokio_postgres::config::SslMode::Require
            }
        });
        let begun = Arc::new(AtomicBool::new(false));
        let tls = Handshake {
            inner: self.tls_for(endpoint).map_err(Failure::Socket)?,
            begun: Arc::clone(&begun),
        };
        let (client, connection) = config.connect_raw(wire, tls).await.map_err(|error| {
            let wants_tls = config.get_ssl_mode() == tokio_postgres::config::SslMode::Require;
            Failure::connecting(
                error,
                wants_tls && !begun.load(Ordering::Relaxed),
                self.target.password.is_some(),
            )
        })?;
        let notices = Arc::new(Notices::default());
        let task = tokio::spawn(drive(connection, Arc::clone(&notices)));
        let mut link =
            Link { client, left, endpoint: endpoint.clone(), is_encrypted: false, notices, task };
        let row = link
            .client
            .query_typed_one(
                "SELECT EXISTS (SELECT FROM pg_catalog.pg_stat_ssl \
                 WHERE pid = pg_catalog.pg_backend_pid() AND ssl)",
                &[],
            )
            .await
            .map_err(Failure::Server)?;
        link.is_encrypted = row.try_get(0).map_err(Failure::Server)?;
        Ok(link)
    }

    fn tls_for(
        &self,
        endpoint: &Endpoint,
    ) -> io::Result<<MakeRustlsConnect as MakeTlsConnect<Wire>>::TlsConnect> {
        let mut make = MakeRustlsConnect::new(self.tls.clone());
        MakeTlsConnect::<Wire>::make_tls_connect(&mut make, &endpoint.host)
            .map_err(io::Error::other)
    }

    /// Asks the server to end what a connection runs.
    pub(crate) async fn cancel(&self, token: CancelToken, endpoint: &Endpoint) {
        let request = async {
            let wire = Wire::connect(endpoint, Arc::new(AtomicUsize::new(OWN))).await?;
            let tls = self.tls_for(endpoint)?;
            token.cancel_query_raw(wire, tls).await.map_err(io::Error::other)
        };
        match tokio::time::timeout(self.target.timeout, request).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a statement could not be cancelled"),
            Err(_) => tracing::warn!("a statement could not be cancelled in time"),
        }
    }
}

/// Asks the server to end what a session runs when this is dropped, without waiting for it.
pub(crate) struct CancelOnDrop {
    connector: Arc<Connector>,
    /// The session; `None` once nothing runs in it.
    running: Option<(CancelToken, Endpoint)>,
}

impl CancelOnDrop {
    pub(crate) fn new(connector: &Arc<Connector>, link: &Link) -> Self {
        let running = Some((link.client.cancel_token(), link.endpoint.clone()));
        Self { connector: Arc::clone(connector), running }
    }

    /// Asks now, and waits until the request was sent.
    pub(crate) async fn cancel(&self) {
        if let Some((token, endpoint)) = &self.running {
            self.connector.cancel(token.clone(), endpoint).await;
        }
    }

    /// Asks for nothing any more.
    pub(crate) fn disarm(mut self) {
        self.running = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some((token, endpoint)) = self.running.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let connector = Arc::clone(&self.connector);
        runtime.spawn(async move { connector.cancel(token, &endpoint).await });
    }
}

/// Moves messages between a client and its server until the connection ends.
async fn drive<S, T>(mut connection: Connection<S, T>, notices: Arc<Notices>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let ended = poll_fn(|cx| {
        loop {
            match ready!(connection.poll_message(cx)) {
                Some(Ok(AsyncMessage::Notice(notice))) => notices.note(&notice),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Poll::Ready(Err(error)),
                None => return Poll::Ready(Ok(())),
            }
        }
    });
    if let Err(error) = ended.await {
        tracing::debug!(error = error::plain(&error), "a connection ended");
    }
}

/// Encryption that notes whether the server let it begin.
struct Handshake<T> {
    inner: T,
    begun: Arc<AtomicBool>,
}

impl<S, T: TlsConnect<S>> TlsConnect<S> for Handshake<T> {
    type Stream = T::Stream;
    type Error = T::Error;
    type Future = T::Future;

    fn connect(self, stream: S) -> Self::Future {
        self.begun.store(true, Ordering::Relaxed);
        self.inner.connect(stream)
    }
}

/// The reason why there is no connection.
enum Failure {
    Socket(io::Error),
    /// The server has no encryption.
    Plain,
    /// The handshake failed, such as by the server's certificate.
    Handshake(rustls::Error),
    /// The server asks for a password and there is none.
    NoPassword,
    Server(Error),
}

impl Failure {
    /// Converts an error while connecting. `is_plain`: encryption was asked for and did not begin.
    fn connecting(error: Error, is_plain: bool, has_password: bool) -> Self {
        if error.as_db_error().is_some() {
            return Self::Server(error);
        }
        let cause = std::error::Error::source(&error);
        let io = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
        match io {
            Some(io) => {
                match io.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                    Some(error) => Self::Handshake(error.clone()),
                    None => Self::Server(error),
                }
            }
            None if is_plain => Self::Plain,
            None if !has_password => Self::NoPassword,
            None => Self::Server(error),
        }
    }

    /// Converts the failure to an error for the user. `may_send` is [`Target::may_send`]: it
    /// decides what the message about a missing password says.
    fn describe(&self, shown: &str, may_send: bool) -> DatabaseError {
        let path = shown.to_owned();
        match self {
            Self::Socket(error) => {
                let reason = match error.kind() {
                    io::ErrorKind::ConnectionRefused => "no server listens there".to_owned(),
                    io::ErrorKind::NotFound => "there is no such socket".to_owned(),
                    _ => error.to_string(),
                };
                DatabaseError::Unreachable { path, reason }
            }
            Self::Plain => {
                DatabaseError::Encryption { path, reason: "the server has no TLS".to_owned() }
            }
            Self::Handshake(error) => DatabaseError::Encryption { path, reason: error.to_string() },
            Self::NoPassword => {
                let reason = match may_send {
                    true => "it asks for a password, and none is given",
                    false => {
                        "it asks for a password, and those of PGPASSWORD and ~/.pgpass are not \
                         sent to a server that only a file names: name this address by --db"
                    }
                };
                DatabaseError::LoginRefused { path, reason: reason.to_owned() }
            }
            Self::Server(error) => error::opening(error, path),
        }
    }
}
