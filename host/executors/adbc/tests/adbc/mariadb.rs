//! MariaDB by the ADBC driver for ODBC and MariaDB's ODBC driver. These need libraries beside them,
//! which the loader finds in the folders of a variable that a process has from its start: the tests
//! on the server run in a process of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use syrch_adbc::{AdbcConfig, AdbcDatabase};
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{Dialect, SqlErrorKind, Value};

use crate::common::{Direct, text};

/// A statement in each line, as the server reads them.
const SHOP: &str = "CREATE DATABASE shop;
    CREATE TABLE shop.customers (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, country \
      VARCHAR(20));
    CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, amount DECIMAL(10,2), placed DATE, \
      FOREIGN KEY (customer) REFERENCES shop.customers(id));
    INSERT INTO shop.customers VALUES (1, 'Zoë', 'France'), (2, 'Ben', NULL);
    INSERT INTO shop.orders VALUES (1, 1, 10.50, '2024-01-02'), (2, 1, 5.25, '2024-02-03'), (3, 2, \
      7, '2024-03-04');
";

/// The server's socket in the folder in which the tests on it run.
const SOCKET: &str = "mariadb.sock";

fn find_installation() -> Option<PathBuf> {
    let folder = syrch_kit::find_installed("mariadb")?.canonicalize().unwrap();
    let Ok(reason) = fs::read_to_string(folder.join("skipped")) else { return Some(folder) };
    syrch_kit::skip(&format!("there is no `mariadb`: {}", reason.trim()));
    None
}

fn libraries(installed: &Path) -> PathBuf {
    installed.join("root/usr/lib/x86_64-linux-gnu")
}

/// A process that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill().and_then(|()| self.0.wait()));
    }
}

impl Server {
    /// A server without users, which only this machine's socket reaches.
    fn start(installed: &Path, folder: &Path) -> Self {
        let root = installed.join("root/usr");
        fs::create_dir(folder.join("data")).unwrap();
        let script = SHOP.lines().map(str::trim).collect::<Vec<_>>().join("\n") + "\n";
        fs::write(folder.join("shop.sql"), script).unwrap();
        let log = fs::File::create(folder.join("log")).unwrap();
        let mut command = Command::new(root.join("sbin/mariadbd"));
        command.arg("--no-defaults").args([
            "--skip-grant-tables",
            "--skip-networking",
            "--innodb-buffer-pool-size=16M",
        ]);
        command.args(["--character-set-server=utf8mb4", "--user=root"]);
        for (option, path) in [
            ("datadir", folder.join("data")),
            ("socket", folder.join(SOCKET)),
            ("init-file", folder.join("shop.sql")),
            ("lc-messages-dir", root.join("share/mysql")),
            ("character-sets-dir", root.join("share/mysql/charsets")),
            ("plugin-dir", root.join("lib/mysql/plugin")),
        ] {
            command.arg(format!("--{option}={}", path.display()));
        }
        command.env("LD_LIBRARY_PATH", libraries(installed)).stdout(Stdio::null()).stderr(log);
        let server = Self(command.spawn().unwrap());
        let started = Instant::now();
        while !fs::read_to_string(folder.join("log")).unwrap().contains("ready for connections") {
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "the server does not start: {}",
                fs::read_to_string(folder.join("log")).unwrap()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }
}

#[test]
fn mariadb_is_read_by_odbc() {
    let Some(installed) = find_installation() else { return };
    let folder = syrch_kit::scratch();
    let _server = Server::start(&installed, folder.path());
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests
        .args(["mariadb::on_the_server", "--ignored", "--test-threads=1"])
        .current_dir(folder.path());
    // The installed files are found from the folder of the server, too.
    tests
        .env("SYRCH_TEST_DATABASES", installed.parent().unwrap())
        .env("LD_LIBRARY_PATH", libraries(&installed));
    let output = tests.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && shown.contains("4 passed"), "{shown}");
}

mod on_the_server {
    use super::*;

    fn config() -> AdbcConfig {
        let installed = find_installation().unwrap();
        let socket = std::env::current_dir().unwrap().join(SOCKET);
        let driver = libraries(&installed).join("odbc/libmaodbc.so");
        let library = installed.join("libadbc_driver_odbc.so");
        let mut config = AdbcConfig::new("shop", library, Dialect::Mysql);
        let uri = format!(
            "Driver={};SOCKET={};DATABASE=shop;USER=reader",
            driver.display(),
            socket.display()
        );
        config.database.insert("uri".to_owned(), uri.into());
        config
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "run by mariadb_is_read_by_odbc"]
    async fn the_catalog_has_tables_and_keys() {
        let catalog = AdbcDatabase::open(config()).await.unwrap().catalog().await.unwrap();
        let names: Vec<&str> = catalog.tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["customers", "orders"]);
        let [customers, orders] = [0, 1].map(|place| &catalog.tables[place]);
        assert_eq!(customers.primary_key, ["id"]);
        assert!(!customers.columns[1].nullable && customers.columns[2].nullable);
        assert!(
            orders.columns[2].sql_type.to_uppercase().contains("DECIMAL"),
            "{:?}",
            orders.columns[2]
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "run by mariadb_is_read_by_odbc"]
    async fn statements_are_answered_through_the_guard() {
        let database = AdbcDatabase::open(config()).await.unwrap();
        let sql = "SELECT c.name, SUM(o.amount) AS amount, MAX(o.placed) FROM orders o \
                   JOIN customers c ON c.id = o.customer GROUP BY c.name ORDER BY amount DESC \
                   LIMIT 1";
        let rows = database.run(&SqlQuery::new(sql)).await.unwrap().rows(0, 9);
        assert_eq!(rows, [[text("Zoë"), Value::Decimal("15.75".to_owned()), text("2024-02-03")]]);
        let written = database.run(&SqlQuery::new("DELETE FROM orders")).await.unwrap_err();
        assert_eq!(written.kind, SqlErrorKind::WriteRefused);
        let hidden = database
            .run(&SqlQuery::new("SELECT * FROM information_schema.tables"))
            .await
            .unwrap_err();
        assert_eq!(hidden.kind, SqlErrorKind::Denied);
        let rows =
            database.run(&SqlQuery::new("SELECT COUNT(*) FROM orders")).await.unwrap().rows(0, 9);
        assert_eq!(rows, [[Value::Integer(3)]]);
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "run by mariadb_is_read_by_odbc"]
    async fn errors_say_why() {
        let direct = Direct::open(config()).await;
        for (sql, kind, message) in [
            (
                "SELECT nickname FROM customers",
                SqlErrorKind::UnknownColumn,
                "Unknown column 'nickname'",
            ),
            (
                "SELECT * FROM persons",
                SqlErrorKind::UnknownTable,
                "Table 'shop.persons' doesn't exist",
            ),
            ("SELEC 1", SqlErrorKind::Syntax, "You have an error in your SQL syntax"),
            ("SELECT id FROM customers, orders", SqlErrorKind::AmbiguousName, "is ambiguous"),
        ] {
            let error = direct.error(sql).await;
            assert!(error.message.contains(message), "`{sql}`: {error}");
            assert_eq!(error.kind, kind, "`{sql}`: {error}");
            assert!(
                !error.message.contains("SQLExecDirect") && !error.message.contains("ma-3"),
                "`{sql}`: {error}"
            );
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "run by mariadb_is_read_by_odbc"]
    async fn a_server_that_is_not_there_is_named_without_the_password() {
        let mut config = config();
        let uri = config.database["uri"].clone();
        let uri = secrecy::ExposeSecret::expose_secret(&uri).replace(SOCKET, "none.sock")
            + ";PWD={hunter;22}";
        config.database.insert("uri".to_owned(), uri.into());
        let error = AdbcDatabase::open(config).await.err().unwrap().to_string();
        assert!(error.contains("Can't connect"), "{error}");
        assert!(!error.contains("hunter") && !error.contains("SQLDriverConnect"), "{error}");
    }
}
