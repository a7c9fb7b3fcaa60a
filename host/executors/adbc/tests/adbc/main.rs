//! Databases over real drivers: DuckDB's library, and those for SQLite, PostgreSQL and ODBC.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

mod common;
mod duckdb;
#[cfg(target_os = "linux")]
mod mariadb;
#[cfg(unix)]
mod postgres;
mod sqlite;
