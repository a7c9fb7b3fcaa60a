//! The options of a server and the limits on what its clients can take.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::Token;

/// The options of a server, besides the settings of its searches.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address that the server listens on; port 0 takes a free one.
    pub address: SocketAddr,
    /// Names besides the address by which clients may call the server, as they stand in the header
    /// `Host`, with a port or without.
    pub names: Vec<String>,
    /// The token of programs; `None` if clients have nothing but links. An address that is not a
    /// loopback address needs one.
    pub token: Option<Token>,
    /// True if clients with the token are served by MCP, too.
    pub mcp: bool,
    /// The folder in which accepted searches are noted until they end, so that the next server
    /// resumes them; `None` if nothing is resumed.
    pub unfinished: Option<PathBuf>,
    /// The folder of the journals that the interface lists.
    pub runs: PathBuf,
    /// The folder of the graded runs that the interface lists.
    pub evaluations: PathBuf,
    /// The limit on the cost of all searches of this server, in millionths of a dollar. It needs a
    /// limit for each search, which is reserved before the search begins.
    pub total_micros: Option<u64>,
    /// The limits on what clients can take.
    pub limits: Limits,
}

/// The limits on what the clients of a server can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The number of searches at once.
    pub searches: usize,
    /// The number of searches that wait for one of these to end.
    pub waiting: usize,
    /// The number of searches of one client that run or wait.
    pub searches_of_client: usize,
    /// The number of requests of one client that are answered at once, streams included.
    pub requests_of_client: usize,
    /// The number of connections.
    pub connections: usize,
    /// The size of a request's body, in bytes.
    pub body: usize,
    /// The time in which a client sends the head of a request, and then its body.
    pub patience: Duration,
    /// The number of events of a search besides its end; further ones are left out.
    pub events: usize,
    /// The size of these events, in bytes.
    pub event_bytes: usize,
    /// The size of the events of finished searches that can still be read, in bytes.
    pub finished_bytes: usize,
    /// The number of finished searches whose events can still be read.
    pub finished: usize,
    /// The number of searches of a comparison: its questions under each of its strategies.
    pub comparison_searches: usize,
    /// The number of model calls of a comparison.
    pub comparison_calls: u64,
    /// The number of questions that a comparison asks at once.
    pub comparison_workers: usize,
    /// The time that searches have to end when the server stops. The others are resumed by the
    /// next server.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            searches: 64,
            waiting: 256,
            searches_of_client: 64,
            requests_of_client: 96,
            connections: 512,
            body: 1 << 20,
            patience: Duration::from_secs(20),
            events: 20_000,
            event_bytes: 16 << 20,
            finished_bytes: 128 << 20,
            finished: 500,
            comparison_searches: 10_000,
            comparison_calls: 100_000,
            comparison_workers: 4,
            grace: Duration::from_secs(5),
        }
    }
}
