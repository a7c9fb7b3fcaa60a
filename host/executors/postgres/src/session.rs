//! A hardened connection, and the check after each statement that it is as it was before.

use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Statement};

use crate::connect::Link;

/// The settings of every session: names are searched in `pg_catalog` only, nothing is written, and
/// values have one spelling.
const SETTINGS: [(&str, &str); 13] = [
    ("search_path", "pg_catalog"),
    ("default_transaction_read_only", "on"),
    ("standard_conforming_strings", "on"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "error"),
    ("bytea_output", "hex"),
    ("datestyle", "ISO, YMD"),
    ("intervalstyle", "postgres"),
    ("extra_float_digits", "1"),
    ("lock_timeout", "2s"),
    ("xmlbinary", "base64"),
    ("quote_all_identifiers", "off"),
    ("backslash_quote", "safe_encoding"),
];

/// The query for the traces that a statement could leave behind: advisory locks, temporary objects,
/// cursors, channels, another role, or changed settings. The cursor without a name is that of this
/// very query.
const TRACES: &str = "SELECT NOT EXISTS (SELECT FROM pg_locks WHERE pid = pg_backend_pid() \
     AND locktype = 'advisory') AND pg_my_temp_schema() = 0 AND NOT EXISTS (SELECT FROM pg_cursors \
     WHERE name <> '') AND NOT EXISTS (SELECT pg_listening_channels()) \
     AND current_user = session_user, \
     (SELECT coalesce(string_agg(name || '=' || setting, ';' ORDER BY name), '') FROM pg_settings \
      WHERE source = 'session' AND NOT name LIKE 'transaction%')";

/// A connection whose session only reads.
pub(crate) struct Session {
    pub(crate) link: Link,
    /// The role's own search path.
    pub(crate) path: Vec<String>,
    traces: Statement,
    settings: String,
    /// Set while a statement runs whose rest would have to be read before another can run.
    pub(crate) is_spent: bool,
}

impl Session {
    /// Hardens a connection. `further` settings take the place of those of every session.
    ///
    /// # Errors
    /// The server's error.
    pub(crate) async fn harden(
        link: Link,
        deadline: Duration,
        further: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let client = &link.client;
        let row = client
            .query_typed_one("SELECT pg_catalog.current_schemas(false)::pg_catalog.text[]", &[])
            .await?;
        let path: Vec<String> = row.try_get(0)?;
        let timeout = deadline.as_millis().max(1).to_string();
        let idle = (deadline + Duration::from_secs(30)).as_millis().to_string();
        let own = [
            ("statement_timeout", timeout.as_str()),
            ("idle_in_transaction_session_timeout", idle.as_str()),
        ];
        for (name, value) in SETTINGS.into_iter().chain(own).chain(further.iter().copied()) {
            let sql = "SELECT pg_catalog.set_config($1, $2, false)";
            client.query_typed(sql, &[(&name, Type::TEXT), (&value, Type::TEXT)]).await?;
        }
        let traces = client.prepare(TRACES).await?;
        let row = client.query_one(&traces, &[]).await?;
        let settings = row.try_get(1)?;
        Ok(Self { link, path, traces, settings, is_spent: false })
    }

    /// Checks that nothing is left of the statements before; returns when these have ended.
    pub(crate) async fn is_clean(&self) -> bool {
        self.link.left.store(crate::connect::OWN, std::sync::atomic::Ordering::Relaxed);
        let Ok(row) = self.link.client.query_one(&self.traces, &[]).await else {
            return false;
        };
        let is_clean = row.try_get::<_, bool>(0).unwrap_or(false);
        is_clean
            && !self.is_spent
            && row.try_get::<_, String>(1).is_ok_and(|settings| settings == self.settings)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use syrch_kit::postgres::Server;

    use super::*;
    use crate::config::{self, PostgresConfig};
    use crate::connect::Connector;

    #[tokio::test(flavor = "multi_thread")]
    async fn whatever_a_statement_leaves_behind_is_seen() {
        let Some(server) = Server::start() else { return };
        let target = config::target(&PostgresConfig::new(server.url("admin", "postgres"))).unwrap();
        let connector = Connector::new(target).unwrap();
        for trace in [
            "SELECT pg_advisory_lock(1)",
            "BEGIN READ WRITE; CREATE TEMPORARY TABLE t(a int); COMMIT",
            "LISTEN channel",
            "SET ROLE pg_monitor",
            "SET work_mem = '8MB'",
            "SET default_transaction_read_only = off",
            "DECLARE c CURSOR WITH HOLD FOR SELECT 1",
        ] {
            let link = connector.connect().await.unwrap();
            let session = Session::harden(link, Duration::from_secs(10), &[]).await.unwrap();
            assert!(session.is_clean().await && session.is_clean().await, "{trace}");
            for statement in trace.split("; ") {
                session.link.client.execute(statement, &[]).await.unwrap();
            }
            assert!(!session.is_clean().await, "{trace}");
        }
    }
}
