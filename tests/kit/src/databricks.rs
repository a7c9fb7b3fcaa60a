//! A mock of a Databricks workspace: the Statement Execution API as it is documented, with tokens,
//! over a SQLite database. Databricks' own SDK for Python accepts it
//! (`tests/databases/databricks_sdk.py`).

mod answers;
mod sql;

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::Router;
use rusqlite::Connection;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A personal access token that the mock accepts.
pub const TOKEN: &str = "dapi-mock-token";
/// Id and secret of a client that gets tokens.
pub const CLIENT: (&str, &str) = ("mock-client", "mock-client-secret");
/// The tenant at which the client gets tokens of Azure.
pub const TENANT: &str = "mock-tenant";
/// The id of the only warehouse.
pub const WAREHOUSE: &str = "mock1";
/// The only catalog, and its schema with the tables.
pub const CATALOG: &str = "main";
/// The schema with the tables.
pub const SCHEMA: &str = "shop";

/// The behaviour of the endpoint on a statement.
#[derive(Debug, Clone)]
pub enum Behaviour {
    /// So many questions after its state are answered with `PENDING` and `RUNNING`.
    Takes(usize),
    /// It runs until it is cancelled.
    Hangs,
    /// It fails with this code of the service, SQLSTATE and message.
    Fails(&'static str, Option<&'static str>, &'static str),
    /// It is in this state.
    IsIn(&'static str),
    /// The request is answered with this status and message.
    Refused(u16, &'static str),
    /// The request is answered after this time.
    Slow(Duration),
    /// Its result is one column of these texts.
    Answers(Vec<&'static str>),
    /// The reply has so many further bytes.
    Oversize(usize),
    /// Its links lead to bytes that are no Arrow stream.
    Damaged,
    /// Its links lead to this address.
    LeadsTo(&'static str),
    /// The paths to further chunks are this one.
    Continues(&'static str),
}

/// A request that arrived.
#[derive(Debug, Clone)]
pub struct Request {
    /// The HTTP method, such as `GET` or `POST`.
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// The value of the header `Authorization`.
    pub authorization: Option<String>,
    /// The document that was sent.
    pub body: Value,
}

/// A workspace that serves until it is dropped.
pub struct Workspace {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The state that the requests work on.
struct Shared {
    address: Mutex<String>,
    connection: Mutex<Connection>,
    state: Mutex<State>,
}

struct State {
    requests: Vec<Request>,
    behaviours: Vec<(String, Behaviour)>,
    statements: HashMap<String, Statement>,
    /// Valid tokens and their ends.
    tokens: HashMap<String, Instant>,
    issued: usize,
    life: Duration,
    /// Requests that are still refused as too many, and what `Retry-After` says.
    throttled: (usize, String),
    /// Links that still turn out to have expired, when they are followed.
    expiring: usize,
    /// Links that are still given out with an end in the past.
    stale: usize,
    /// Links to results that are still valid.
    links: HashSet<String>,
    /// Transfers that still break off in the middle.
    breaking: usize,
    chunk_rows: usize,
}

/// A statement that was submitted.
struct Statement {
    sql: String,
    state: &'static str,
    /// Questions after its state until it has succeeded.
    left: usize,
    error: Option<(String, Option<String>, String)>,
    result: Option<answers::Answer>,
    is_inline: bool,
    behaviour: Option<Behaviour>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workspace {
    /// Starts a workspace whose schema has the tables of this SQLite file.
    ///
    /// # Panics
    /// When the file cannot be opened or loopback has no free port.
    #[must_use]
    pub fn start(file: &Path) -> Self {
        let state = State {
            requests: Vec::new(),
            behaviours: Vec::new(),
            statements: HashMap::new(),
            tokens: HashMap::new(),
            issued: 0,
            life: Duration::from_secs(3_600),
            throttled: (0, String::new()),
            expiring: 0,
            stale: 0,
            links: HashSet::new(),
            breaking: 0,
            chunk_rows: 1_000,
        };
        let connection = Mutex::new(sql::open(file));
        let shared =
            Arc::new(Shared { address: Mutex::default(), connection, state: Mutex::new(state) });
        let (stop, stopped) = oneshot::channel();
        let (bound, address) = mpsc::channel();
        let served = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("mock-databricks".into())
            .spawn(move || serve(served, &bound, stopped))
            .expect("a thread can be started");
        let address: SocketAddr = address.recv().expect("the mock is listening");
        *lock(&shared.address) = format!("http://{address}");
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// The address of the workspace, `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn host(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address of its warehouse, catalog and schema.
    #[must_use]
    pub fn url(&self) -> String {
        format!(
            "databricks://{}/sql/1.0/warehouses/{WAREHOUSE}?catalog={CATALOG}&schema={SCHEMA}",
            self.address
        )
    }

    /// Sets the behaviour on statements that contain this text; what is set later counts first.
    pub fn on(&self, text: &str, behaviour: Behaviour) {
        lock(&self.shared.state).behaviours.insert(0, (text.to_owned(), behaviour));
    }

    /// Refuses so many requests as too many.
    pub fn throttle(&self, requests: usize, retry_after: &str) {
        lock(&self.shared.state).throttled = (requests, retry_after.to_owned());
    }

    /// Lets so many links expire before they are followed.
    pub fn expire_links(&self, count: usize) {
        lock(&self.shared.state).expiring = count;
    }

    /// Gives out so many links that have expired already, and say so.
    pub fn give_stale_links(&self, count: usize) {
        lock(&self.shared.state).stale = count;
    }

    /// Breaks so many transfers off in the middle.
    pub fn break_transfers(&self, count: usize) {
        lock(&self.shared.state).breaking = count;
    }

    /// Sets the rows of a chunk.
    pub fn set_chunk_rows(&self, rows: usize) {
        lock(&self.shared.state).chunk_rows = rows.max(1);
    }

    /// Sets how long new tokens are valid.
    pub fn set_token_life(&self, life: Duration) {
        lock(&self.shared.state).life = life;
    }

    /// Makes all tokens invalid that clients have got.
    pub fn revoke_tokens(&self) {
        lock(&self.shared.state).tokens.clear();
    }

    /// Runs statements on the database itself.
    ///
    /// # Panics
    /// When one fails.
    pub fn change(&self, script: &str) {
        lock(&self.shared.connection)
            .execute_batch(script)
            .unwrap_or_else(|error| panic!("{script}: {error}"));
    }

    /// The requests so far, in the order in which they arrived.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.state).requests.clone()
    }

    /// The number of requests whose path contains this text.
    #[must_use]
    pub fn count_of(&self, path: &str) -> usize {
        self.requests().iter().filter(|request| request.path.contains(path)).count()
    }

    /// The states of the statements that contain this text.
    #[must_use]
    pub fn states(&self, text: &str) -> Vec<&'static str> {
        let state = lock(&self.shared.state);
        let statements = state.statements.values().filter(|statement| statement.sql.contains(text));
        statements.map(|statement| statement.state).collect()
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves until it is stopped; requests in flight are then dropped with the runtime.
fn serve(shared: Arc<Shared>, bound: &mpsc::Sender<SocketAddr>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound port has an address");
        let router = Router::new().fallback(answers::answer).with_state(shared);
        bound.send(address).expect("the test waits for the address");
        tokio::select! {
            _ = axum::serve(listener, router) => {}
            _ = stopped => {}
        }
    });
    runtime.shutdown_background();
}
