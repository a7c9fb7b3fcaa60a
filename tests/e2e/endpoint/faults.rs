//! Endpoints that fail, each in its own way: what is reported to the user, and that the key stays
//! with the endpoint.

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::{KEY, PLAN, REPAIR, Said, WRITE, ask, for_task, plan, search, subtask, whole};
use crate::{host, shop};

const QUESTION: &str = "How many customers are there?";

/// The end of a search whose endpoint fails: the code, the words, one error document, and no
/// answer.
fn fails(said: &Said, code: i32, class: &str, words: &[&str]) {
    let document = said.document(code);
    assert_eq!(document["schema"], "syrch.error/1", "{}", said.all());
    assert_eq!(
        (&document["error"]["class"], &document["exit_code"]),
        (&json!(class), &json!(code))
    );
    let message = document["error"]["message"].as_str().unwrap();
    for word in words {
        assert!(
            said.stderr.contains(word) && message.contains(word),
            "it does not say `{word}`:\n{}",
            said.all()
        );
    }
    assert!(
        !said.stderr.contains("panicked") && !said.stderr.contains("backtrace"),
        "{}",
        said.all()
    );
}

/// The same fault at the first call and at the second, when a plan is there already.
fn at_any_call(reply: &Reply, words: &[&str]) {
    at_any_call_with_hint(reply, words, "`syrch-host doctor --probe` with");
}

fn at_any_call_with_hint(reply: &Reply, words: &[&str], hint: &str) {
    let folder = syrch_kit::scratch();
    for script in
        [Script::always(reply.clone()), Script::new().on([PLAN], whole()).on([""], reply.clone())]
    {
        let endpoint = MockEndpoint::start(script);
        let said = ask(&endpoint, &shop(folder.path()), QUESTION, &["--timeout", "2"]);
        fails(&said, 12, "model", words);
        assert!(said.stderr.contains(hint), "{}", said.stderr);
        assert!(endpoint.count() <= 4, "{} calls to an endpoint that is down", endpoint.count());
    }
}

#[test]
fn an_endpoint_that_answers_with_an_error_is_named() {
    at_any_call(&Reply::status(500, "out of memory"), &["/v1 answered 500", "out of memory"]);
    at_any_call(&Reply::status(503, "loading"), &["/v1 answered 503", "loading"]);
    at_any_call_with_hint(
        &Reply::status(429, "slow down"),
        &["429", "rate limit"],
        "ask again later",
    );
    at_any_call(&Reply::status(404, "model `mock` not found"), &["404", "check the model `mock`"]);
    at_any_call(&Reply::raw(502, "<html>Bad Gateway</html>"), &["502", "Bad Gateway"]);
}

/// A request that no wait and no other form helps is made once.
#[test]
fn what_an_endpoint_says_decides_what_is_to_be_done() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    for (status, text, words) in [
        (429, r#"{"error": {"code": "insufficient_quota"}}"#, "its credits are used up"),
        (403, "Your account balance is insufficient", "its credits are used up"),
        (500, "Invalid API key provided", "check the API key"),
        (400, "API key not valid", "check the API key"),
        (500, "model `mock` not found", "check the model `mock`"),
        (
            413,
            "Request too large on tokens per minute (TPM): Limit 60, Requested 72",
            "no wait helps",
        ),
        (403, "<html>Attention Required!</html>", "a web page is in its place"),
    ] {
        let endpoint = MockEndpoint::start(Script::always(Reply::raw(status, text)));
        let said = ask(&endpoint, &database, QUESTION, &["--strategy", "single"]);
        fails(&said, 12, "model", &[words]);
        assert!(!said.stderr.contains("base URL"), "{}", said.all());
        assert_eq!(endpoint.count(), 1, "{text}");
    }
    let busy = Reply::status(400, "The engine is overloaded, please try again later");
    let endpoint = MockEndpoint::start(Script::always(busy));
    fails(&ask(&endpoint, &database, QUESTION, &["--strategy", "single"]), 12, "model", &["again"]);
    assert_eq!(endpoint.count(), 3);
}

/// An endpoint that works and turns the user away need not be probed.
#[test]
fn the_hint_names_what_helps() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    for (status, text, hint) in [
        (429, r#"{"error": {"code": "insufficient_quota"}}"#, "pay for more credits"),
        (200, r#"{"error": {"code": 402, "message": "no credits left"}}"#, "pay for more credits"),
        (401, "unauthorized", "SYRCH_API_KEY"),
        (403, "no access to this model", "SYRCH_API_KEY"),
        (500, "Invalid API key provided", "SYRCH_API_KEY"),
        (429, "too many requests", "ask again later"),
        (200, r#"{"error": {"message": "Rate limit reached", "code": 429}}"#, "ask again later"),
        (529, "overloaded", "ask again later"),
        (
            413,
            "Request too large on tokens per minute (TPM): Limit 60, Requested 72",
            "a model with higher limits",
        ),
    ] {
        let endpoint = MockEndpoint::start(Script::always(Reply::raw(status, text)));
        for strategy in ["single", "decompose"] {
            let flags = ["--strategy", strategy];
            let document = ask(&endpoint, &database, QUESTION, &flags).document(12);
            let said = document["error"]["hint"].as_str().unwrap();
            assert!(said.contains(hint) && !said.contains("doctor"), "{text}: {said}");
        }
    }
}

#[test]
fn a_reply_that_is_too_long_does_not_shorten_the_prompt() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(Script::always(Reply::flood(4 << 20)));
    let said = ask(&endpoint, &shop(folder.path()), QUESTION, &["--strategy", "single"]);
    let document = said.document(3);
    let used = |name: &str| document["cost"][name].as_u64().unwrap();
    assert!(used("input_tokens") > 0 && used("output_tokens") > 0, "{document:#}");
    let sizes: Vec<usize> =
        endpoint.requests().iter().map(|request| request.prompt().len()).collect();
    assert!(sizes.len() <= 3 && sizes.is_sorted(), "{sizes:?}");
}

#[test]
fn an_endpoint_that_breaks_the_protocol_is_named() {
    at_any_call(&Reply::garbage(), &["/v1 does not answer with a chat completion", "no JSON"]);
    at_any_call(&Reply::half_json(), &["/v1 does not answer with a chat completion", "no JSON"]);
    at_any_call(&Reply::cut_stream(), &["/v1 broke off"]);
    at_any_call(
        &Reply::raw(200, r#"{"choices": []}"#),
        &["/v1 does not answer with a chat completion"],
    );
    at_any_call(&Reply::raw(200, "<html>Log in</html>"), &["/v1 does not answer", "Log in"]);
}

#[test]
fn an_endpoint_that_hangs_is_given_up() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(Script::always(Reply::hang()));
    let started = Instant::now();
    let said = ask(&endpoint, &shop(folder.path()), QUESTION, &["--timeout", "1"]);
    fails(&said, 12, "model", &["no reply from", "within 1 s", "timeout"]);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert_eq!(endpoint.count(), 2, "a call that takes too long is tried once more");
}

#[test]
fn an_endpoint_that_is_not_there_is_named() {
    let folder = syrch_kit::scratch();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let mut command = search(&url, &shop(folder.path()));
    let said =
        Said::from_output(command.args(["--format", "json", "-q", QUESTION]).output().unwrap());
    fails(&said, 12, "model", &["cannot reach", &url, "is the server running"]);
}

#[test]
fn a_wrong_key_is_said_and_not_shown() {
    let folder = syrch_kit::scratch();
    // This endpoint's error quotes the key that it got.
    let endpoint = MockEndpoint::start(Script::always(whole()).requires_key("another"));
    for verbose in ["--color=never", "-v", "-vvv"] {
        let said = ask(&endpoint, &shop(folder.path()), QUESTION, &[verbose]);
        fails(&said, 12, "model", &["401", "check the API key"]);
        assert!(said.stderr.contains("Bearer ***"), "{}", said.stderr);
    }
    let mut keyless = search(&endpoint.url(), &shop(folder.path()));
    let said = Said::from_output(
        keyless
            .env_remove("SYRCH_API_KEY")
            .args(["--format", "json", "-q", QUESTION])
            .output()
            .unwrap(),
    );
    fails(&said, 12, "model", &["401", "it wants an API key, and none is set"]);
}

#[test]
fn the_key_of_the_flag_is_sent_and_hidden_as_well() {
    let folder = syrch_kit::scratch();
    let key = "another-key-of-mine";
    let script = Script::new()
        .on([PLAN], whole())
        .on([""], Reply::sql(&format!("SELECT '{key}' AS k FROM customers WHERE id = 1"), 0.95));
    let endpoint = MockEndpoint::start(script.requires_key(key));
    let said = ask(&endpoint, &shop(folder.path()), QUESTION, &["--api-key", key, "-vvv"]);
    said.document(0);
    assert!(!said.stdout.contains(key) && !said.stderr.contains(key), "{}", said.all());
}

#[test]
fn the_key_stays_with_the_endpoint_when_it_redirects() {
    let folder = syrch_kit::scratch();
    let target = MockEndpoint::start(
        Script::new().on([PLAN], whole()).on([""], Reply::sql("SELECT 1 AS n", 0.95)),
    );
    for status in [301, 302, 307, 308] {
        let address = format!("{}/chat/completions", target.url());
        let endpoint = MockEndpoint::start(Script::always(Reply::redirect(status, &address)));
        let said = ask(&endpoint, &shop(folder.path()), QUESTION, &[]);
        fails(&said, 12, "model", &[&status.to_string(), "redirects"]);
        assert_eq!(endpoint.count(), 1);
    }
    assert_eq!(target.count(), 0, "a redirect was followed: {:?}", target.requests());
}

/// The environment's proxies and keys of others are no business of the endpoint's.
#[test]
fn no_proxy_is_reported_anything() {
    let folder = syrch_kit::scratch();
    let proxy = MockEndpoint::start(Script::always(whole()));
    let address = proxy.url().replace("/v1", "");
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], whole())
            .on([""], Reply::sql("SELECT COUNT(*) AS n FROM customers", 0.95)),
    );
    let mut command = search(&endpoint.url(), &shop(folder.path()));
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    {
        command.env(name, &address);
    }
    Said::from_output(command.args(["--format", "json", "-q", QUESTION]).output().unwrap())
        .document(0);
    assert_eq!((endpoint.count(), proxy.count()), (2, 0));
}

#[test]
fn replies_that_never_hold_a_statement_are_no_answer() {
    for reply in [
        Reply::text("I would rather talk about the weather."),
        Reply::text(""),
        Reply::refusal("I may not do that."),
        Reply::tool_call("run_sql"),
        Reply::text("```sql\nSELEC COUNT(*) FORM customers\n```"),
        Reply::text("").finish("length"),
        Reply::text("x").finish("content_filter"),
        Reply::flood(64 << 20),
    ] {
        let folder = syrch_kit::scratch();
        let endpoint = MockEndpoint::start(Script::always(reply.clone()));
        let said = ask(&endpoint, &shop(folder.path()), QUESTION, &[]);
        let document = said.document(3);
        assert_eq!(document["answer"], Value::Null, "{reply:?}");
        assert_eq!(document["sql"], Value::Null, "{reply:?}");
        assert_eq!(document["confidence"], Value::Null, "{reply:?}");
        assert!(
            said.stderr.contains("no acceptable answer was found"),
            "{reply:?}: {}",
            said.all()
        );
    }
}

#[test]
fn a_fault_that_passes_is_survived_by_what_was_found_before() {
    let folder = syrch_kit::scratch();
    let doubtful = Reply::sql("SELECT COUNT(*) AS n FROM customers", 0.7);
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], whole())
            .on([REPAIR], Reply::status(500, "gone"))
            .on([WRITE], doubtful),
    );
    let said = ask(&endpoint, &shop(folder.path()), QUESTION, &[]);
    let document = said.document(0);
    assert_eq!(document["answer"]["rows"], json!([[4]]));
    assert!(document["warnings"].to_string().contains("gone"), "{}", document["warnings"]);
    assert!(said.stderr.contains("gone"), "{}", said.stderr);
}

#[test]
fn a_task_that_loses_the_endpoint_does_not_take_the_others_along() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(
        Script::new()
            .on(
                [PLAN],
                plan(&[subtask("A", "the customers", &[]), subtask("B", "the orders", &[])]),
            )
            .on([&for_task("the customers")], Reply::status(500, "gone"))
            .on([&for_task("the orders")], Reply::sql("SELECT COUNT(*) AS n FROM orders", 0.95)),
    );
    let document =
        ask(&endpoint, &shop(folder.path()), "How many orders are there?", &[]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[4]]));
    assert!(document["warnings"].to_string().contains("task A failed"), "{}", document["warnings"]);
    assert!(
        document["confidence"]["calibrated"].as_f64().unwrap() < 0.95 * 0.86,
        "a lost task costs confidence"
    );
}

/// Wrong settings of the endpoint are found before anything is sent, and shown without the key.
#[test]
fn base_urls_that_cannot_be_are_refused() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    for url in [
        "localhost:1",
        "file:///etc/passwd",
        "http://user:sesame-in-url@127.0.0.1:9/v1",
        "http://127.0.0.1:9/v1?key=sesame-in-url",
    ] {
        let said = Said::from_output(
            search(url, &database).args(["--format", "json", "-q", QUESTION]).output().unwrap(),
        );
        fails(&said, 10, "configuration", &["base URL"]);
        assert!(!said.all().contains("sesame-in-url"), "{}", said.all());
    }
}

/// A key that no flag names is used for the offline rules by nobody.
#[test]
fn offline_sends_nothing() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(Script::always(whole()));
    let mut command = host();
    command.env("SYRCH_API_KEY", KEY).env("SYRCH_BASE_URL", endpoint.url());
    command.args(["--llm", "offline", "--format", "json", "-q", QUESTION, "--db"]);
    let document = Said::from_output(command.arg(shop(Path::new(folder.path()))).output().unwrap())
        .document(0);
    assert_eq!(document["answer"]["rows"], json!([[4]]));
    assert_eq!(endpoint.count(), 0);
}

/// The part that a server did not send may have changed the statement.
#[test]
fn a_reply_that_broke_off_is_not_run() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let statement = "```sql\nSELECT count(*) FROM products\n```\nConfidence: 0.95";
    let begins = format!("data: {}\n\n", json!({"choices": [{"delta": {"content": statement}}]}));
    let end = "data: [DONE]\n\n";
    for rest in [
        "data: {\"choices\": [{\"delta\": {}, \"error\": {\"message\": \"upstream is gone\"}}]}",
        "event: error\ndata: {\"message\": \"upstream is gone\", \"code\": 502}",
        "data: {\"type\": \"error\", \"message\": \"upstream is gone\"}",
        "data: {\"detail\": \"upstream is gone\"}",
        "data: {\"choices\": [{\"delta\": {\"conte",
    ] {
        let reply = Reply::raw(200, format!("{begins}{rest}\n\n{end}"));
        let endpoint = MockEndpoint::start(Script::always(reply));
        let said = ask(&endpoint, &database, QUESTION, &["--strategy", "single"]);
        assert_eq!(said.code, 12, "{rest}: {}", said.all());
    }
    for reason in ["network_error", "cancelled"] {
        let reply = Reply::text(statement).finish(reason);
        let endpoint = MockEndpoint::start(Script::always(reply));
        let said = ask(&endpoint, &database, QUESTION, &["--strategy", "single"]);
        assert_eq!(said.code, 12, "{reason}: {}", said.all());
        assert!(said.all().contains(&format!("its reply ended with `{reason}`")), "{}", said.all());
    }
}

/// After a reason that nobody knows, a statement that is whole is run, in doubt; one that may go on
/// is not.
#[test]
fn a_reply_that_ends_for_another_reason_is_doubted() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    for reason in ["OTHER", "new"] {
        for (reply, code) in [
            ("```sql\nSELECT count(*) FROM products\n```\nConfidence: 0.95", 0),
            ("```sql\nSELECT count(*) FROM products", 3),
        ] {
            let reply = Reply::text(reply).finish(reason);
            let endpoint = MockEndpoint::start(Script::always(reply));
            let said = ask(&endpoint, &database, QUESTION, &["--strategy", "single"]);
            assert_eq!(said.code, code, "{reason}: {}", said.all());
            if code == 0 {
                let sure = said.document(0)["confidence"]["calibrated"].as_f64().unwrap();
                assert!(sure <= 0.5, "{reason}: {sure}");
            }
        }
    }
}
