//! A live server, where one is installed, and servers that are dead or hostile.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use syrch_kit::cluster::Redis;

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
    let hostile: [&[u8]; 6] = [
        b"+OK\r\n",
        b"$1073741824\r\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        b"*2147483647\r\n",
        b"*1\r\n",
        b"no protocol at all",
        b"-ERR \x1b[31mred\r\n",
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
        drop(cache.take_warnings());
        // It answers, with an error or with nonsense, and in time.
        drop(cache.stats().await);
    }
}
