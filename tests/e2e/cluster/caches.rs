//! A cache that the processes of several hosts share: equal calls are paid once, and no server's
//! end ends a run.

use std::net::TcpListener;
use std::process::{Child, Stdio};

use syrch_kit::MockEndpoint;
use syrch_kit::cluster::Redis;

use super::worker;
use crate::benchmark::{Bench, script};
use crate::endpoint::Said;

/// Starts a run of the whole suite over a shared cache, with a state of its own.
fn start(bench: &Bench, endpoint: &MockEndpoint, cache: &str, state: &str) -> Child {
    let mut command = worker(bench, endpoint, "--format json", "");
    command.env("SYRCH_SHARED_CACHE", cache).env("SYRCH_CACHE", "true");
    command.env("SYRCH_STATE_DIR", bench.place.path().join(state));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn finish(child: Child) -> Said {
    Said::from_output(child.wait_with_output().unwrap())
}

/// Two runs over the same questions at once make each call once.
fn assert_paid_once(cache: &str) {
    let bench = Bench::with_questions(15);
    let alone = MockEndpoint::start(script());
    assert_eq!(
        finish(start(
            &bench,
            &alone,
            &format!("{}-alone", bench.place.path().join("cache").display()),
            "alone"
        ))
        .code,
        0
    );
    let endpoint = MockEndpoint::start(script());
    let both = ["one", "two"].map(|state| start(&bench, &endpoint, cache, state));
    for child in both {
        let said = finish(child);
        assert_eq!(said.code, 0, "{}", said.all());
        assert!(!said.stderr.contains("cannot be used"), "{}", said.all());
    }
    assert_eq!(endpoint.count(), alone.count());
}

#[test]
fn runs_over_a_shared_folder_pay_equal_calls_once() {
    let folder = syrch_kit::scratch();
    let cache = folder.path().join("cache").display().to_string();
    assert_paid_once(&cache);
    let bench = Bench::new();
    let mut command = bench.command("cache stats --format json");
    let stats = Said::from_output(command.env("SYRCH_SHARED_CACHE", &cache).output().unwrap());
    let stats = stats.document(0);
    assert!(stats["kept"]["llm"]["entries"].as_u64().unwrap() >= 15, "{stats}");
    let mut command = bench.command("cache clear llm");
    let cleared = Said::from_output(command.env("SYRCH_SHARED_CACHE", &cache).output().unwrap());
    assert_eq!(cleared.code, 0, "{}", cleared.all());
}

#[test]
fn runs_over_a_server_pay_equal_calls_once() {
    let Some(server) = Redis::start("hush") else { return };
    assert_paid_once(&format!("redis://:hush@{}", server.address()));
    // The password is in no output.
    let bench = Bench::new();
    let address = format!("redis://:hush@{}", server.address());
    for words in ["config", "cache stats", "config --format json"] {
        let mut command = bench.command(words);
        let said = Said::from_output(command.env("SYRCH_SHARED_CACHE", &address).output().unwrap());
        assert!(said.code == 0 && !said.all().contains("hush"), "{}", said.all());
        assert!(said.stdout.contains(&server.address()), "{}", said.all());
    }
}

#[test]
fn a_cache_that_is_gone_ends_no_run() {
    let bench = Bench::with_questions(5);
    let endpoint = MockEndpoint::start(script());
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let hangs = format!("redis://{}", silent.local_addr().unwrap());
    for cache in ["redis://127.0.0.1:1", &hangs, "/proc/none/cache"] {
        let said = finish(start(&bench, &endpoint, cache, "state"));
        assert_eq!(said.code, 0, "{}", said.all());
        // It is said at the beginning, too.
        let early = "calls are made as if there were no cache";
        assert!(said.stderr.contains("cannot be used"), "{}", said.all());
        assert_eq!(said.stderr.matches(early).count(), 1, "{}", said.all());
    }
    let said = finish(start(&bench, &endpoint, "s3://bucket", "state"));
    assert!(said.code == 10 && said.stderr.contains("no `s3:` URL"), "{}", said.all());
}
