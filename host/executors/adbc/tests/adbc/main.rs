//! Databases over real drivers: DuckDB's library, and those for SQLite and PostgreSQL.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

mod common;
mod duckdb;
#[cfg(unix)]
mod postgres;
mod sqlite;
