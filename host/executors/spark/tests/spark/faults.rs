//! Servers that are not there, end, and start again.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use syrch_core::ports::DatabaseError;
use syrch_core::{SqlErrorKind, Value};
use syrch_kit::spark::{Kind, Server};
use syrch_spark::{SparkConfig, SparkEngine};

use crate::common::{ENDLESS, rows, run, text};

async fn connect_error(address: &str) -> DatabaseError {
    match SparkEngine::connect(&SparkConfig::new(address)).await {
        Ok(_) => panic!("{address} is open"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn nobody_listens() {
    let free = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let error = connect_error(&format!("sc://127.0.0.1:{free}/;token=secret")).await;
    assert!(matches!(&error, DatabaseError::Unreachable { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("no server listens there") && !text.contains("secret"), "{text}");
}

#[tokio::test]
async fn what_listens_is_silent_or_speaks_otherwise() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("sc://127.0.0.1:{}", listener.local_addr().unwrap().port());
    let started = Instant::now();
    let error = connect_error(&address).await;
    assert!(matches!(&error, DatabaseError::Unreachable { .. }), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(45), "{:?}", started.elapsed());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = std::io::Write::write_all(&mut &stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    assert!(matches!(connect_error(&address).await, DatabaseError::Unreachable { .. }));
    let encrypted = connect_error(&format!("{address}/;use_ssl=true")).await;
    assert!(matches!(&encrypted, DatabaseError::Encryption { .. }), "{encrypted:?}");
}

/// The server ends while a statement runs, and starts again: what runs is lost, and the next
/// statement runs in a session with its settings.
async fn restarts(kind: Kind) {
    let Some(mut server) = tokio::task::spawn_blocking(move || Server::start(kind)).await.unwrap()
    else {
        return;
    };
    let engine = SparkEngine::connect(&SparkConfig::new(server.own_address())).await.unwrap();
    let port = server.port();
    let address = server.own_address();
    let killed = tokio::task::spawn_blocking(move || {
        std::thread::sleep(Duration::from_secs(2));
        server.kill();
    });
    let error = run(&engine, ENDLESS).await.unwrap_err();
    assert_eq!(error.kind, SqlErrorKind::Unavailable, "{error:?}");
    killed.await.unwrap();
    assert_eq!(run(&engine, "SELECT 1").await.unwrap_err().kind, SqlErrorKind::Unavailable);
    assert!(matches!(connect_error(&address).await, DatabaseError::Unreachable { .. }));
    let again = tokio::task::spawn_blocking(move || Server::start_at(kind, port)).await.unwrap();
    assert_eq!(rows(&engine, "SELECT 1").await, [[Value::Integer(1)]]);
    assert_eq!(rows(&engine, "SELECT '${env:HOME}'").await, [[text("${env:HOME}")]]);
    drop(again);
}

#[tokio::test(flavor = "multi_thread")]
async fn pysail_may_end_and_start_again() {
    restarts(Kind::Sail).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn spark_may_end_and_start_again() {
    restarts(Kind::Spark).await;
}
