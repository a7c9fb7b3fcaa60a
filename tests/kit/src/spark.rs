//! Spark Connect servers of the tests' own: started in a temporary folder, on a free port of the
//! loopback address, and ended with the process that started them, however that ends.
//! `tests/databases/spark.sh` installs them.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tonic::transport::Endpoint;

use crate::data::find_installed;
use crate::scratch;

#[allow(
    missing_docs,
    unreachable_pub,
    dead_code,
    clippy::all,
    clippy::pedantic,
    reason = "generated"
)]
#[path = "../../../host/executors/spark/src/proto/spark_connect.rs"]
mod proto;

use proto::spark_connect_service_client::SparkConnectServiceClient;

/// The time that a server may take to start or to answer a script.
const PATIENCE: Duration = Duration::from_secs(180);

/// Ends the server and removes its folder when the test's process has ended, since its end of the
/// pipe is closed then.
const WATCH: &str = r#"folder=$1; shift; "$@" >"$folder/log" 2>&1 & server=$!; cat >/dev/null; kill -KILL $server; wait $server 2>/dev/null; rm -rf "$folder""#;

/// The user of all sessions.
const USER: &str = "tests";

/// The server program that answers over Spark Connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// pysail's server, in Rust. Each session has tables of its own.
    Sail,
    /// Spark's own, on Java. It takes about ten seconds to start.
    Spark,
}

/// A server that runs until this is dropped.
#[derive(Debug)]
pub struct Server {
    kind: Kind,
    watch: Child,
    port: u16,
    session: &'static str,
}

impl Server {
    /// Starts a server; `None`, which is counted as a skipped test, if it is not installed.
    ///
    /// # Panics
    /// When it does not start, or when it is not installed and `SYRCH_REQUIRE_DATABASES` is 1.
    #[must_use]
    pub fn start(kind: Kind) -> Option<Self> {
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        Self::start_at(kind, free.expect("there is a free port").port())
    }

    /// Starts a server at a port, such as that of one that was killed.
    ///
    /// # Panics
    /// As [`Self::start`].
    #[must_use]
    pub fn start_at(kind: Kind, port: u16) -> Option<Self> {
        let program = match kind {
            Kind::Sail => find_installed("sail")?.join("bin/sail"),
            Kind::Spark => submit(&find_installed("spark")?),
        };
        let folder = scratch().keep();
        let mut watch = Command::new("sh");
        watch.current_dir(&folder).arg("-c").arg(WATCH).arg("sh").arg(&folder).arg(&program);
        match kind {
            Kind::Sail => {
                watch.args(["spark", "server", "--ip", "127.0.0.1", "--port", &port.to_string()])
            }
            Kind::Spark => {
                watch.env("SPARK_LOCAL_IP", "127.0.0.1").args(spark_arguments(&folder, port))
            }
        };
        let watch = watch.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let watch = watch.expect("the server can be started");
        let server = Self { kind, watch, port, session: "7c1f0d1e-5b5e-4a7e-9f5e-0d6c2b1a3e4f" };
        let started = Instant::now();
        fn is_up(port: u16, server: &Server) -> bool {
            TcpStream::connect(("127.0.0.1", port)).is_ok() && server.script(&["SELECT 1"]).is_ok()
        }
        while !is_up(port, &server) {
            if started.elapsed() > PATIENCE {
                let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
                let lines: Vec<&str> = log.lines().rev().take(20).collect();
                panic!("{kind:?} does not start: {lines:?}");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(server)
    }

    /// The server of that kind that all tests of a process share.
    ///
    /// # Panics
    /// As [`Self::start`].
    #[must_use]
    pub fn get_shared(kind: Kind) -> Option<&'static Self> {
        static SERVERS: [OnceLock<Option<Server>>; 2] = [OnceLock::new(), OnceLock::new()];
        SERVERS[usize::from(kind == Kind::Spark)].get_or_init(|| Self::start(kind)).as_ref()
    }

    /// The kind of the server.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address under which the tables of scripts can be seen. Sail has them in the session of
    /// the scripts alone.
    #[must_use]
    pub fn address(&self) -> String {
        let own = self.own_address();
        match self.kind {
            Kind::Sail => format!("{own};session_id={}", self.session),
            Kind::Spark => own,
        }
    }

    /// The address for a session of its own.
    #[must_use]
    pub fn own_address(&self) -> String {
        format!("sc://127.0.0.1:{}/;user_id={USER}", self.port)
    }

    /// Runs statements, one after the other, each of any kind.
    ///
    /// # Errors
    /// The first statement that fails, and the server's message.
    ///
    /// # Panics
    /// When no thread can be started.
    pub fn script(&self, statements: &[&str]) -> Result<(), String> {
        // The caller may be in a runtime of its own.
        std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime can be made").block_on(self.run(statements))
            });
            work.join().expect("the script's thread ends")
        })
    }

    async fn run(&self, statements: &[&str]) -> Result<(), String> {
        let endpoint =
            Endpoint::from_shared(format!("http://127.0.0.1:{}", self.port)).expect("an address");
        let channel = endpoint.connect().await.map_err(|error| error.to_string())?;
        let mut client = SparkConnectServiceClient::new(channel);
        for statement in statements {
            let sql = proto::Sql { query: (*statement).to_owned() };
            let root = proto::Relation {
                common: Some(proto::RelationCommon { plan_id: Some(1) }),
                rel_type: Some(proto::relation::RelType::Sql(sql)),
            };
            let request = proto::ExecutePlanRequest {
                session_id: self.session.to_owned(),
                user_context: Some(proto::UserContext {
                    user_id: USER.to_owned(),
                    user_name: USER.to_owned(),
                }),
                plan: Some(proto::Plan { op_type: Some(proto::plan::OpType::Root(root)) }),
                ..proto::ExecutePlanRequest::default()
            };
            let failed = |status: tonic::Status| format!("{statement}: {}", status.message());
            let mut stream = client.execute_plan(request).await.map_err(failed)?.into_inner();
            while stream.message().await.map_err(failed)?.is_some() {}
        }
        Ok(())
    }

    /// Ends the server at once, as a crash would, and waits until it has ended.
    pub fn kill(&mut self) {
        drop(self.watch.stdin.take());
        let _ = self.watch.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The program that starts Java with Spark's libraries.
fn submit(environment: &Path) -> PathBuf {
    let versions = std::fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    let mut found =
        versions.map(|version| version.path().join("site-packages/pyspark/bin/spark-submit"));
    found.find(|program| program.is_file()).expect("the environment has pyspark")
}

fn spark_arguments(folder: &Path, port: u16) -> Vec<String> {
    let settings = [
        ("spark.connect.grpc.binding.address", "127.0.0.1".to_owned()),
        ("spark.connect.grpc.binding.port", port.to_string()),
        ("spark.driver.bindAddress", "127.0.0.1".to_owned()),
        ("spark.driver.host", "127.0.0.1".to_owned()),
        ("spark.ui.enabled", "false".to_owned()),
        ("spark.sql.shuffle.partitions", "2".to_owned()),
        ("spark.sql.catalogImplementation", "in-memory".to_owned()),
        ("spark.sql.warehouse.dir", folder.join("warehouse").display().to_string()),
        ("spark.local.dir", folder.display().to_string()),
    ];
    let mut arguments =
        ["--master", "local[2]", "--driver-memory", "1g", "--class"].map(str::to_owned).to_vec();
    arguments.push("org.apache.spark.sql.connect.service.SparkConnectServer".to_owned());
    for (name, value) in settings {
        arguments.extend(["--conf".to_owned(), format!("{name}={value}")]);
    }
    arguments.push("spark-internal".to_owned());
    arguments
}
