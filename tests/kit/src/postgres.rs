//! A PostgreSQL server of the tests' own: made in a temporary folder, on a free port, and ended
//! with the process that started it, however that ends. It is the newest one that is installed, or
//! the one in the folder that `SYRCH_TEST_POSTGRES` names, which has `bin`, `lib` and `share`.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::data::variable;
use crate::{scratch, skip};

/// The authority that signed the certificate of servers with encryption, which is for the name
/// `localhost` alone.
pub const AUTHORITY: &str = include_str!("postgres/authority.pem");
/// An authority that signed nothing.
pub const OTHER_AUTHORITY: &str = include_str!("postgres/other.pem");
/// The certificate of a server on `localhost`, which [`AUTHORITY`] signed.
pub const CERTIFICATE: &str = include_str!("postgres/server.pem");
/// Its key.
pub const KEY: &str = include_str!("postgres/server.key");

/// An instruction to install a server.
const PACKAGE: &str =
    "install the package `postgresql` (Debian, Ubuntu, Homebrew) or `postgresql-server` (Fedora)";

/// The time that a server may take to start or to answer a script.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ends the server and removes its folder when the test's process has ended, since its end of the
/// pipe is closed then.
const WATCH: &str = r#"folder=$1; shift; "$@" & server=$!; cat >/dev/null; kill -QUIT $server; wait $server; rm -rf "$folder""#;

/// The folder of the newest installed server's programs, with `psql`; `None` if there is none.
fn programs() -> Option<PathBuf> {
    let mut folders = ["/usr/local/bin", "/usr/bin", "/usr/local/pgsql/bin", "/opt/homebrew/bin"]
        .map(PathBuf::from)
        .to_vec();
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = installed.map(|entry| entry.path()).collect();
    versions.sort_by_key(|path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok())
    });
    folders.extend(versions.into_iter().map(|folder| folder.join("bin")));
    folders
        .iter()
        .rfind(|folder: &&PathBuf| {
            ["initdb", "postgres", "psql"].iter().all(|program| folder.join(program).is_file())
        })
        .cloned()
}

/// The folder of the server's programs, where its tests run. Where they do not, this is reported
/// and counted as [`skip`] does it.
fn find_programs() -> Option<PathBuf> {
    fn is_set(name: &str) -> bool {
        variable(name).is_some_and(|value| value == "1")
    }
    if is_set("SYRCH_SKIP_POSTGRES") {
        skip("the tests of PostgreSQL are left out: SYRCH_SKIP_POSTGRES is 1");
        return None;
    }
    let programs = programs();
    if programs.is_none() {
        let is_required = is_set("SYRCH_REQUIRE_POSTGRES") || is_set("SYRCH_REQUIRE_DATABASES");
        assert!(!is_required, "there is no PostgreSQL server, and it is required: {PACKAGE}");
        skip(&format!("there is no PostgreSQL server: {PACKAGE}"));
    }
    programs
}

/// User and group for the server, which does not run as root; `None` if the tests do not either.
fn other_user() -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    if std::fs::metadata("/proc/self").ok()?.uid() != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let ids = |name: &str| {
        let fields: Vec<&str> =
            users.lines().find(|line| line.starts_with(&format!("{name}:")))?.split(':').collect();
        Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
    };
    ids("postgres").or_else(|| ids("nobody"))
}

/// A running server. Its administrator is `admin`; through its socket it trusts everybody, over TCP
/// it wants a password.
#[derive(Debug)]
pub struct Server {
    folder: PathBuf,
    psql: PathBuf,
    watch: Child,
    port: u16,
}

impl Server {
    /// A server without encryption; `None`, which is counted, if there is none here or
    /// `SYRCH_SKIP_POSTGRES` is 1.
    ///
    /// # Panics
    /// When it does not start, and where `SYRCH_REQUIRE_POSTGRES` or `SYRCH_REQUIRE_DATABASES` is 1
    /// and there is none.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::start_with(false)
    }

    /// A server whose connections over TCP may be encrypted; `None`, which is counted, if there is
    /// none here or `SYRCH_SKIP_POSTGRES` is 1.
    ///
    /// # Panics
    /// As [`Self::start`].
    #[must_use]
    pub fn start_encrypted() -> Option<Self> {
        Self::start_with(true)
    }

    /// The server that all tests of a process share; `None`, which is counted, if there is none
    /// here or `SYRCH_SKIP_POSTGRES` is 1.
    ///
    /// # Panics
    /// As [`Self::start`].
    #[must_use]
    pub fn get_shared() -> Option<&'static Self> {
        static SERVER: OnceLock<Option<Server>> = OnceLock::new();
        SERVER.get_or_init(Self::start).as_ref()
    }

    fn start_with(is_encrypted: bool) -> Option<Self> {
        let installed = find_programs()?;
        let user = other_user();
        let folder = scratch().keep();
        let programs = match variable("SYRCH_TEST_POSTGRES").map(PathBuf::from) {
            None => installed.clone(),
            Some(named) if user.is_none() => named.join("bin"),
            // Another user need not be able to read the repository.
            Some(named) => {
                let parts = ["bin", "lib", "share"].map(|part| named.join(part));
                let copied = Command::new("cp").arg("-R").args(parts).arg(&folder).status();
                assert!(
                    copied.is_ok_and(|status| status.success()),
                    "there is no server in `{}`",
                    named.display()
                );
                folder.join("bin")
            }
        };
        if let Some((uid, gid)) = user {
            std::os::unix::fs::chown(&folder, Some(uid), Some(gid))
                .expect("root may give a folder away");
        }
        let command = |program: &Path| {
            let mut command = Command::new(program);
            command.current_dir(&folder).stdout(Stdio::null()).stderr(Stdio::null());
            if let Some((uid, gid)) = user {
                command.uid(uid).gid(gid);
            }
            command
        };
        let cluster = folder.join("data");
        let made = command(&programs.join("initdb"))
            .args(["--username=admin", "--encoding=UTF8", "--locale=C", "--no-sync"])
            .args(["--auth-local=trust", "--auth-host=scram-sha-256", "-D"])
            .arg(&cluster)
            .status();
        assert!(made.is_ok_and(|status| status.success()), "initdb failed");
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let port = free.expect("there is a free port").port();
        let mut watch = command(Path::new("sh"));
        watch
            .arg("-c")
            .arg(WATCH)
            .arg("sh")
            .arg(&folder)
            .arg(programs.join("postgres"))
            .arg("-D")
            .arg(&cluster);
        watch.args([
            "-p",
            &port.to_string(),
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "autovacuum=off",
        ]);
        watch.args([
            "-c",
            "fsync=off",
            "-c",
            "shared_buffers=32MB",
            "-c",
            "max_connections=200",
            "-c",
        ]);
        watch.arg(format!("unix_socket_directories={}", folder.display()));
        if is_encrypted {
            for (name, text) in [("server.crt", CERTIFICATE), ("server.key", KEY)] {
                let path = folder.join(name);
                std::fs::write(&path, text).expect("a file can be written");
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
                    .expect("it is ours");
                if let Some((uid, gid)) = user {
                    std::os::unix::fs::chown(&path, Some(uid), Some(gid))
                        .expect("root may give a file away");
                }
                let setting = if name == "server.crt" { "ssl_cert_file" } else { "ssl_key_file" };
                watch.args(["-c", &format!("{setting}={}", path.display())]);
            }
            watch.args(["-c", "ssl=on"]);
        }
        let watch = watch.stdin(Stdio::piped()).spawn().expect("the server can be started");
        let server = Self { folder, psql: installed.join("psql"), watch, port };
        let started = Instant::now();
        while !server.psql("postgres", "SELECT 1").is_ok_and(|answer| answer == "1") {
            assert!(started.elapsed() < PATIENCE, "the server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    /// The folder of its socket.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its port, over TCP and in the name of its socket.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of a database through the socket, which needs no password.
    #[must_use]
    pub fn url(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@/{database}?host={}&port={}", self.folder.display(), self.port)
    }

    /// Runs a script as the administrator, and returns what it prints.
    ///
    /// # Errors
    /// What `psql` prints when the script fails.
    ///
    /// # Panics
    /// When `psql` cannot be started.
    pub fn psql(&self, database: &str, script: &str) -> Result<String, String> {
        let mut psql = Command::new(&self.psql)
            .args([
                "-X",
                "-q",
                "-t",
                "-A",
                "-v",
                "ON_ERROR_STOP=1",
                "-U",
                "admin",
                "-d",
                database,
                "-h",
            ])
            .arg(&self.folder)
            .args(["-p", &self.port.to_string(), "-f", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("psql can be started");
        // It is closed when psql ends early.
        let _ = psql.stdin.take().map(|mut stdin| stdin.write_all(script.as_bytes()));
        let output = psql.wait_with_output().expect("psql ends");
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Makes a database by a script.
    ///
    /// # Panics
    /// When it exists, or the script fails.
    pub fn database(&self, name: &str, script: &str) {
        let made = self
            .psql("postgres", &format!("CREATE DATABASE {name}"))
            .and_then(|_| self.psql(name, script));
        if let Err(error) = made {
            panic!("the database `{name}`: {error}");
        }
    }

    /// Ends all of the server's processes at once.
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
