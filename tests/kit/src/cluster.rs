//! Slurm, Ray and Redis, as `tests/cluster/install.sh` installs them, and a Redis server of the
//! tests' own.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::data::{repository, skip, variable};
use crate::scratch;

/// The time that a server may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ends the server and removes its folder when the test's process has ended, since its end of the
/// pipe is closed then.
const WATCH: &str = r#"folder=$1; shift; "$@" >"$folder/log" 2>&1 & server=$!; echo $server
cat >/dev/null; kill -KILL $server; wait $server 2>/dev/null; rm -rf "$folder""#;

/// The folder that `tests/cluster/install.sh` fills, which `SYRCH_TEST_CLUSTER` names, else
/// `target/cluster`, if a part of it is there. If not, this is reported and counted as
/// [`skip`](crate::skip) does it.
///
/// # Panics
/// If it is not there and `SYRCH_REQUIRE_CLUSTER` is 1.
#[must_use]
pub fn find_cluster(part: &str) -> Option<PathBuf> {
    let folder = variable("SYRCH_TEST_CLUSTER").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| repository().join("target/cluster"));
    if folder.join(part).exists() {
        return Some(folder);
    }
    let is_required = variable("SYRCH_REQUIRE_CLUSTER").is_some_and(|value| value == "1");
    assert!(!is_required, "there is no `{part}` of a cluster: run tests/cluster/install.sh");
    skip("there are no Slurm, Ray and Redis: `make test-cluster` installs and runs them");
    None
}

/// A Redis server that runs until this is dropped.
#[derive(Debug)]
pub struct Redis {
    watch: Child,
    server: String,
    port: u16,
}

impl Redis {
    /// Starts a server whose clients give this password; `None`, which is counted as a skipped
    /// test, if it is not installed.
    ///
    /// # Panics
    /// When it does not start, or when it is not installed and `SYRCH_REQUIRE_CLUSTER` is 1.
    #[must_use]
    pub fn start(password: &str) -> Option<Self> {
        let root = find_cluster("debian/usr/bin/redis-server")?.join("debian/usr");
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let port = free.expect("there is a free port").port();
        let folder = scratch().keep();
        let mut watch = Command::new("sh");
        watch.current_dir(&folder).arg("-c").arg(WATCH).arg("sh").arg(&folder);
        watch.env("LD_LIBRARY_PATH", root.join("lib/x86_64-linux-gnu"));
        watch.arg(root.join("bin/redis-server")).args(["--bind", "127.0.0.1", "--save", ""]);
        watch.args(["--port", &port.to_string(), "--requirepass", password]);
        watch.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut watch = watch.spawn().expect("the server can be started");
        let mut server = String::new();
        let output = watch.stdout.take().expect("it has an output");
        BufReader::new(output).read_line(&mut server).expect("its shell names its process");
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(started.elapsed() < PATIENCE, "redis-server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(Self { watch, server: server.trim().to_owned(), port })
    }

    /// The address of the server, without a password.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Stops the server's process where it is, or lets it go on: it holds its connections and
    /// answers nothing meanwhile.
    ///
    /// # Panics
    /// When the process is not there any more.
    pub fn signal(&self, signal: &str) {
        let done = Command::new("kill").arg(format!("-{signal}")).arg(&self.server).status();
        assert!(done.is_ok_and(|status| status.success()), "the server is there");
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        drop(self.watch.stdin.take());
        let _ = self.watch.wait();
    }
}
