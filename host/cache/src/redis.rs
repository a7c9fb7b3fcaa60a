//! A Redis server, or one that speaks its protocol, as the place of entries: a key for each entry
//! and for each lease, both with an end that the server keeps.
//!
//! The server is trusted with no more than the values: an operation has a deadline and a limit on
//! the bytes of its reply, and after a failure the server is left alone for a while. How many bytes
//! the entries take together is the server's to limit (`maxmemory`).

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Cmd, ConnectionAddr, FromRedisValue, IntoConnectionInfo,
    RedisConnectionInfo, RedisError,
};
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use syrch_core::text::escape::clip_with_remark;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;

use crate::backend::{Backend, Claim, LEASE, Request};
use crate::error::CacheError;
use crate::pause::Pause;
use crate::record::{HEAD, decode_entry, encode_entry};
use crate::store::Entry;
use crate::{Key, Kind, Size};

/// The beginning of all keys, with the version of the form.
const PREFIX: &str = "syrch:1:";
/// The largest value that is stored, and the limit on the bytes of a reply beside it.
const LARGEST: u64 = 16 << 20;
const REPLY: u64 = LARGEST + (1 << 20);
/// The interval at which leases of other processes are checked.
const POLL_EVERY: Duration = Duration::from_millis(50);
/// Keys that the server is asked for at once, and the limit on such questions.
const BATCH: usize = 500;
const BATCHES: usize = 20_000;
/// The characters of a server's message that are shown.
const SHOWN: usize = 300;

/// True if this build has a client of Redis.
pub(crate) const IS_BUILT: bool = true;

/// The address of a server, with the password if it has one.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisAddress {
    /// True for `rediss://`: the connection is encrypted, and the server's certificate is checked.
    is_encrypted: bool,
    host: String,
    port: u16,
    database: i64,
    user: Option<String>,
    password: Option<String>,
}

impl RedisAddress {
    /// Reads `redis://[user:password@]host[:port][/database]`, or `rediss://` with the same.
    pub(crate) fn read(url: &str) -> Option<Self> {
        let encrypted = url.strip_prefix("rediss://").map(|rest| format!("redis://{rest}"));
        let is_encrypted = encrypted.is_some();
        let info = encrypted.as_deref().unwrap_or(url).into_connection_info().ok()?;
        let ConnectionAddr::Tcp(host, port) = info.addr() else { return None };
        let redis = info.redis_settings();
        Some(Self {
            is_encrypted,
            host: host.clone(),
            port: *port,
            database: redis.db(),
            user: redis.username().map(str::to_owned),
            password: redis.password().map(str::to_owned),
        })
    }

    /// The server at this address, to which nothing connects yet. An operation takes at most so
    /// long.
    pub(crate) fn open(&self, wait: Duration) -> Box<dyn Backend> {
        Box::new(RedisStore::new(self.clone(), wait))
    }

    /// The password, which no output may show.
    #[must_use]
    pub fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    fn settings(&self) -> RedisConnectionInfo {
        let info = RedisConnectionInfo::default().set_db(self.database);
        let info = self.user.iter().fold(info, RedisConnectionInfo::set_username);
        self.password.iter().fold(info, RedisConnectionInfo::set_password)
    }
}

/// The address without user and password.
impl fmt::Display for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_encrypted, host, port, database, .. } = self;
        let scheme = if *is_encrypted { "rediss" } else { "redis" };
        match host.contains(':') {
            true => write!(f, "{scheme}://[{host}]:{port}/{database}"),
            false => write!(f, "{scheme}://{host}:{port}/{database}"),
        }
    }
}

impl fmt::Debug for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A server, to which the first operation connects.
struct RedisStore {
    address: RedisAddress,
    /// The limit on the time of an operation.
    wait: Duration,
    pause: Pause,
    opened: Option<Opened>,
}

/// A connection, with the runtime on which it is driven.
struct Opened {
    runtime: Runtime,
    connection: MultiplexedConnection,
    /// Bytes that the server may still send for the operation.
    allowance: Arc<AtomicU64>,
}

impl RedisStore {
    /// The server at this address. An operation takes at most so long.
    fn new(address: RedisAddress, wait: Duration) -> Self {
        Self { address, wait, pause: Pause::default(), opened: None }
    }

    /// Runs an operation on the connection, unless one has failed a moment ago.
    fn work<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut MultiplexedConnection) -> Result<T, RedisError>,
    ) -> Result<T, CacheError> {
        self.pause.check()?;
        let done = self.attempt(work);
        done.map_err(|reason| {
            self.opened = None;
            let reason = clip_with_remark(&reason, SHOWN).into_owned();
            let error = CacheError::Unavailable { path: self.address.to_string(), reason };
            self.pause.begin(error.clone());
            error
        })
    }

    fn attempt<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut MultiplexedConnection) -> Result<T, RedisError>,
    ) -> Result<T, String> {
        let wait = self.wait;
        let mut opened = match self.opened.take() {
            Some(opened) => opened,
            None => Opened::connect(&self.address, wait)?,
        };
        opened.allowance.store(REPLY, Ordering::Relaxed);
        let Opened { runtime, connection, .. } = &mut opened;
        let done = runtime.block_on(async { tokio::time::timeout(wait, work(connection)).await });
        let done =
            done.map_err(|_| describe_late_reply(wait))?.map_err(|error| error.to_string())?;
        self.opened = Some(opened);
        Ok(done)
    }

    /// Visits all entries of a kind, in batches of names with the sizes of their values, and
    /// deletes them if that is wanted. A server that names keys without end is asked no longer at
    /// some point.
    fn walk(&mut self, kind: Kind, deletes: Deletes) -> Result<Size, CacheError> {
        let mut visited = Size::default();
        let mut cursor = 0_u64;
        for _ in 0..BATCHES {
            let (next, keys) = self.work(async |server| scan_keys(server, kind, cursor).await)?;
            let sizes = self.work(async |server| measure(server, &keys).await)?;
            for bytes in sizes {
                visited.entries += 1;
                let bytes = bytes.saturating_sub(HEAD as u64);
                visited.bytes = visited.bytes.saturating_add(bytes);
            }
            if deletes == Deletes::All && !keys.is_empty() {
                self.work(async |server| {
                    let _: i64 = ask(server, redis::cmd("DEL").arg(&keys)).await?;
                    Ok(())
                })?;
            }
            if next == 0 {
                break;
            }
            cursor = next;
        }
        Ok(visited)
    }
}

/// The entries that a walk deletes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deletes {
    None,
    All,
}

fn describe_late_reply(wait: Duration) -> String {
    format!("it did not answer within {} s", wait.as_secs_f64())
}

impl Opened {
    fn connect(address: &RedisAddress, wait: Duration) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let allowance = Arc::new(AtomicU64::new(REPLY));
        let bounded = Arc::clone(&allowance);
        let connected = runtime.block_on(async {
            tokio::time::timeout(wait, async {
                let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
                stream.set_nodelay(true)?;
                let stream: Box<dyn Duplex> = match address.is_encrypted {
                    true => {
                        let mut trusted = RootCertStore::empty();
                        let found = rustls_native_certs::load_native_certs().certs;
                        trusted.add_parsable_certificates(found);
                        encrypt(&address.host, stream, trusted).await?
                    }
                    false => Box::new(stream),
                };
                let stream = Bounded { stream, allowance: bounded };
                // The deadline of the whole operation stands around each.
                let config = AsyncConnectionConfig::new()
                    .set_connection_timeout(None)
                    .set_response_timeout(None);
                let settings = address.settings();
                let (connection, driver) =
                    MultiplexedConnection::new_with_config(&settings, stream, config).await?;
                tokio::spawn(driver);
                Ok::<_, RedisError>(connection)
            })
            .await
        });
        let connection =
            connected.map_err(|_| describe_late_reply(wait))?.map_err(|error| error.to_string())?;
        Ok(Self { runtime, connection, allowance })
    }
}

/// Encrypts a connection, for which the server shows a certificate of this name that one of the
/// trusted authorities has signed.
async fn encrypt(
    host: &str,
    stream: TcpStream,
    trusted: RootCertStore,
) -> io::Result<Box<dyn Duplex>> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    Ok(Box::new(stream))
}

/// A connection, encrypted or not.
trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A stream that fails when the server sends more than is allowed.
struct Bounded {
    stream: Box<dyn Duplex>,
    allowance: Arc<AtomicU64>,
}

impl AsyncRead for Bounded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let read = buffer.filled().len().saturating_sub(before) as u64;
        let left = self.allowance.load(Ordering::Relaxed);
        if read > left {
            return Poll::Ready(Err(io::Error::other("the reply is too long")));
        }
        self.allowance.store(left - read, Ordering::Relaxed);
        polled
    }
}

impl AsyncWrite for Bounded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl Backend for RedisStore {
    fn claim(&mut self, key: &Key, request: Request) -> Result<Claim, CacheError> {
        self.work(async |server| {
            if let Some(value) = get_entry(server, key, request).await? {
                return Ok(Claim::Value(value));
            }
            let mut set = redis::cmd("SET");
            set.arg(lease_name(key)).arg(request.owner).arg("NX").arg("PX").arg(millis(LEASE));
            let taken: Option<String> = ask(server, &set).await?;
            if taken.is_none() {
                let is_own = get_owner(server, key).await? == Some(request.owner);
                return Ok(if is_own { Claim::Taken } else { Claim::Elsewhere });
            }
            // The leader before may have ended since the first look.
            Ok(match get_entry(server, key, request).await? {
                None => Claim::Taken,
                Some(value) => {
                    let _: i64 = ask(server, redis::cmd("DEL").arg(lease_name(key))).await?;
                    Claim::Value(value)
                }
            })
        })
    }

    fn put(&mut self, key: &Key, entry: Entry<'_>, _most: u64) -> Result<(), CacheError> {
        let bytes = encode_entry(key, &entry);
        let ttl = entry.expires.saturating_sub(entry.created).max(1);
        self.work(async |server| {
            let mut set = redis::cmd("SET");
            set.arg(entry_name(key)).arg(bytes).arg("PX").arg(ttl);
            let _: Option<String> = ask(server, &set).await?;
            let _: i64 = ask(server, redis::cmd("DEL").arg(lease_name(key))).await?;
            Ok(())
        })
    }

    fn delete(&mut self, key: &Key) -> Result<(), CacheError> {
        self.work(async |server| {
            let _: i64 = ask(server, redis::cmd("DEL").arg(entry_name(key))).await?;
            Ok(())
        })
    }

    fn renew(&mut self, held: &HashSet<Key>, owner: i64, _now: i64) -> Result<(), CacheError> {
        self.work(async |server| {
            for key in held {
                if get_owner(server, key).await? == Some(owner) {
                    let mut expire = redis::cmd("PEXPIRE");
                    expire.arg(lease_name(key)).arg(millis(LEASE));
                    let _: i64 = ask(server, &expire).await?;
                }
            }
            Ok(())
        })
    }

    fn release(&mut self, key: &Key, owner: i64) -> Result<(), CacheError> {
        self.work(async |server| {
            if get_owner(server, key).await? == Some(owner) {
                let _: i64 = ask(server, redis::cmd("DEL").arg(lease_name(key))).await?;
            }
            Ok(())
        })
    }

    fn check(&mut self) -> Result<(), CacheError> {
        let name = format!("{PREFIX}check");
        self.work(async |server| {
            let mut set = redis::cmd("SET");
            set.arg(&name).arg("check").arg("PX").arg(millis(LEASE));
            let _: Option<String> = ask(server, &set).await?;
            let _: i64 = ask(server, redis::cmd("DEL").arg(&name)).await?;
            Ok(())
        })
    }

    fn entry_sizes(&mut self) -> Result<BTreeMap<Kind, Size>, CacheError> {
        Kind::ALL.into_iter().map(|kind| Ok((kind, self.walk(kind, Deletes::None)?))).collect()
    }

    fn clear(&mut self, kind: Option<Kind>) -> Result<Size, CacheError> {
        let mut cleared = Size::default();
        for kind in Kind::ALL.into_iter().filter(|of| kind.is_none_or(|kind| kind == *of)) {
            let size = self.walk(kind, Deletes::All)?;
            cleared.entries += size.entries;
            cleared.bytes = cleared.bytes.saturating_add(size.bytes);
        }
        Ok(cleared)
    }

    fn bytes(&mut self) -> u64 {
        let sizes = self.entry_sizes().unwrap_or_default();
        sizes.values().map(|size| size.bytes + size.entries * HEAD as u64).sum()
    }

    fn largest(&self, most: u64) -> u64 {
        LARGEST.min(most / 8)
    }

    fn poll_every(&self) -> Duration {
        POLL_EVERY
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn entry_name(key: &Key) -> String {
    format!("{PREFIX}{}:{key}", key.kind().name())
}

fn lease_name(key: &Key) -> String {
    format!("{PREFIX}lease:{}:{key}", key.kind().name())
}

async fn ask<T: FromRedisValue>(
    server: &mut MultiplexedConnection,
    command: &Cmd,
) -> Result<T, RedisError> {
    command.query_async(server).await
}

async fn get_entry(
    server: &mut MultiplexedConnection,
    key: &Key,
    request: Request,
) -> Result<Option<Vec<u8>>, RedisError> {
    let bytes: Option<Vec<u8>> = ask(server, redis::cmd("GET").arg(entry_name(key))).await?;
    Ok(bytes.and_then(|bytes| decode_entry(key, &bytes, request.now, request.ttl)))
}

async fn get_owner(
    server: &mut MultiplexedConnection,
    key: &Key,
) -> Result<Option<i64>, RedisError> {
    let owner: Option<String> = ask(server, redis::cmd("GET").arg(lease_name(key))).await?;
    Ok(owner.and_then(|owner| owner.parse().ok()))
}

/// The next keys of a kind, with the cursor behind them: 0 at the end.
async fn scan_keys(
    server: &mut MultiplexedConnection,
    kind: Kind,
    cursor: u64,
) -> Result<(u64, Vec<String>), RedisError> {
    let mut scan = redis::cmd("SCAN");
    scan.arg(cursor).arg("MATCH").arg(format!("{PREFIX}{}:*", kind.name()));
    ask(server, scan.arg("COUNT").arg(BATCH)).await
}

/// The sizes of the values of these keys.
async fn measure(
    server: &mut MultiplexedConnection,
    keys: &[String],
) -> Result<Vec<u64>, RedisError> {
    let mut sizes = Vec::new();
    for key in keys.iter().filter(|key| key.starts_with(PREFIX)) {
        sizes.push(ask(server, redis::cmd("STRLEN").arg(key)).await?);
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests;
