//! A live server, where one is installed, and servers that are dead or hostile.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use syrch_kit::cluster::Redis;
use syrch_kit::postgres::{AUTHORITY, CERTIFICATE, KEY, OTHER_AUTHORITY};
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::fixture::{fetch, key, value};
use crate::{Cache, Found, Options, Place};

fn open(address: &str) -> Arc<Cache> {
    let place = Place::read_shared(&format!("redis://{address}")).unwrap();
    let wait = Duration::from_millis(500);
    Cache::open_at(place, Options { wait, ..Options::default() })
}

#[tokio::test]
async fn hosts_pay_equal_calls_once_and_outlive_their_server() {
    let Some(server) = Redis::start("se/cret") else { return };
    let address = format!(":se%2Fcret@{}/3", server.address());
    let hosts = [open(&address), open(&address)];
    let all = hosts.iter().flat_map(|host| (0..40).map(move |number| fetch(host, number)));
    let found = join_all(all).await;
    assert_eq!(found.iter().filter(|found| !**found).count(), 40);
    let stats = hosts[0].stats().await.unwrap();
    let bytes: u64 = (0..40).map(|number| value(number).len() as u64).sum();
    assert_eq!((stats.all.entries, stats.all.bytes), (40, bytes));
    assert_eq!(stats.path.display().to_string(), format!("redis://{}/3", server.address()));
    assert_eq!(hosts[1].clear(Some(Kind::Sql)).await.unwrap().entries, 20);
    assert!(fetch(&hosts[0], 0).await && !fetch(&hosts[0], 1).await);
    hosts[0].forget(key(0)).await;
    assert!(!fetch(&hosts[1], 0).await);
    // A leader that is dropped, and one whose process was killed.
    let Found::Lead(lead) = hosts[0].find(key(50)).await else { panic!("nothing is stored") };
    let mut waiting = Box::pin(hosts[1].find(key(50)));
    assert!(futures::poll!(waiting.as_mut()).is_pending());
    drop(lead);
    assert!(matches!(waiting.await, Found::Lead(_)));
    assert!(hosts.iter().all(|host| host.take_warnings().is_empty()));
    // A wrong password, and a server that hangs.
    let wrong = open(&format!(":wrong@{}", server.address()));
    assert!(!fetch(&wrong, 1).await);
    let warnings = wrong.take_warnings();
    assert!(warnings.len() == 1 && !warnings[0].contains("cret"), "{warnings:?}");
    server.signal("STOP");
    let began = Instant::now();
    for number in 0..20 {
        assert!(!fetch(&hosts[0], number).await);
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let warnings = hosts[0].take_warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("did not answer"), "{warnings:?}");
    server.signal("CONT");
}

/// A server that sends these bytes, again and again, whatever it is asked. Returns its address.
fn send_forever(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                let mut asked = [0; 1_024];
                let _ = stream.read(&mut asked);
                while stream.write_all(bytes).is_ok() {}
            });
        }
    });
    address
}

#[tokio::test]
async fn a_dead_or_hostile_server_makes_every_request_a_miss() {
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().to_string();
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let long = format!("-ERR {}\r\n", "a".repeat(100_000)).leak();
    let hostile: [&[u8]; 7] = [
        b"+OK\r\n",
        b"$1073741824\r\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        b"*2147483647\r\n",
        b"*1\r\n",
        b"no protocol at all",
        b"-ERR \x1b[31mred\r\n",
        long.as_bytes(),
    ];
    let servers = hostile.map(send_forever);
    let addresses = servers.into_iter().chain([closed, silent.local_addr().unwrap().to_string()]);
    for address in addresses {
        let cache = open(&address);
        let began = Instant::now();
        for number in 0..10 {
            assert!(!fetch(&cache, number).await, "{address}");
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        let warnings = cache.take_warnings();
        assert!(warnings.iter().all(|warning| warning.len() < 600), "{warnings:?}");
        assert!(cache.check().await.is_err(), "{address}");
        // It answers, with an error or with nonsense, and in time.
        drop(cache.stats().await);
    }
}

/// A server that encrypts its connections and answers nothing. Returns its port.
async fn start_encrypted() -> u16 {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        let mut accepted = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            accepted.push(acceptor.accept(stream).await);
        }
    });
    port
}

#[tokio::test]
async fn a_connection_is_encrypted_with_servers_that_are_trusted() {
    let port = start_encrypted().await;
    for (name, authority, is_trusted) in [
        ("localhost", AUTHORITY, true),
        ("localhost", OTHER_AUTHORITY, false),
        ("127.0.0.1", AUTHORITY, false),
        ("no name", AUTHORITY, false),
    ] {
        let mut trusted = RootCertStore::empty();
        trusted.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let encrypted = encrypt(name, stream, trusted).await;
        assert_eq!(encrypted.is_ok(), is_trusted, "{name}: {:?}", encrypted.err());
    }
    let place = Place::read_shared(&format!("rediss://:hush@localhost:{port}")).unwrap();
    let cache = Cache::open_at(place, Options::default());
    let why = cache.check().await.unwrap_err().to_string();
    assert!(why.contains("certificate") && !why.contains("hush"), "{why}");
}

#[tokio::test]
async fn nothing_is_sent_without_encryption_where_it_is_wanted() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = vec![0; 4_096];
        let read = stream.read(&mut bytes).unwrap();
        stream.write_all(b"+OK\r\n").unwrap();
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    });
    let place = Place::read_shared(&format!("rediss://ada:hush@{address}")).unwrap();
    let cache = Cache::open_at(place, Options::default());
    assert!(cache.check().await.is_err());
    let received = server.join().unwrap();
    assert!(!received.is_empty() && !received.contains("hush") && !received.contains("ada"));
}
