//! Money: prices, limits in dollars, rates, further endpoints, whose key goes where, and what would
//! be sent.

use std::process::Command;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script, Usage};

use crate::bad_input::{Place, finish, read_streams};
use crate::endpoint::{KEY, PLAN, REPAIR, Said, WRITE, search, statements, whole};
use crate::shop;

const QUESTION: &str = "How many customers are there?";
const COUNT: &str = "SELECT COUNT(*) AS n FROM customers";
/// Dollars for a million tokens: a call of 1,000 and 100 tokens costs a cent.
const PRICES: &str = "llm:\n  prices:\n    \"mo*\": {input: 9, output: 10}\n";

fn with_usage(reply: Reply) -> Reply {
    reply.usage(Usage::Tokens(1_000, 100))
}

/// A model that is never sure and never says the same twice, at a cent a call.
fn never_sure() -> MockEndpoint {
    MockEndpoint::start(Script::new().on([PLAN], with_usage(whole())).with(|_, before| {
        Some(with_usage(Reply::sql(
            &format!("SELECT {before} + COUNT(*) AS n FROM customers"),
            0.5,
        )))
    }))
}

/// A search with a config file of that text.
fn search_with_config(place: &Place, endpoint: &MockEndpoint, file: &str, flags: &[&str]) -> Said {
    let file = place.file("mine.yml", file);
    let mut command = search(&endpoint.url(), &shop(place.path()));
    command.args(["--format", "json", "-q", QUESTION, "--config"]).arg(file).args(flags);
    Said::from_output(command.output().unwrap())
}

#[test]
fn a_search_spends_no_more_money_than_it_may() {
    let place = Place::new();
    let free = search_with_config(&place, &never_sure(), PRICES, &["--max-attempts", "4"]);
    let cost = free.document(0)["cost"]["usd"].as_f64().unwrap();
    assert!((cost - 0.05).abs() < 1e-9, "{cost}");
    let endpoint = never_sure();
    let flags = ["--max-attempts", "9", "--max-usd", "0.06", "--max-tokens", "120"];
    let document = search_with_config(&place, &endpoint, PRICES, &flags).document(0);
    let spent = document["cost"]["usd"].as_f64().unwrap();
    assert!((0.03..=0.06).contains(&spent), "{spent}");
    assert!(
        (endpoint.count() as f64 * 0.01 - spent).abs() < 1e-9,
        "{spent} for {} calls",
        endpoint.count()
    );
    assert!(
        document["warnings"].to_string().contains("the budget is used up"),
        "{}",
        document["warnings"]
    );
    let endpoint = never_sure();
    let said = search_with_config(&place, &endpoint, PRICES, &["--max-usd", "0.000001"]);
    assert_eq!(said.document(16)["error"]["class"], "budget");
    assert_eq!(endpoint.count(), 0);
}

#[test]
fn without_a_price_money_cannot_be_limited() {
    let place = Place::new();
    let endpoint = never_sure();
    let said = search_with_config(&place, &endpoint, "", &["--max-usd", "1"]);
    let document = said.document(10);
    assert!(
        document["error"]["message"].as_str().unwrap().contains("`mock` has no price"),
        "{document}"
    );
    let hint = document["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("prices: {\"mock\": {input") && hint.contains("config.yml"), "{hint}");
    assert_eq!(endpoint.count(), 0);
}

#[test]
fn purposes_are_answered_by_the_models_they_name() {
    let place = Place::new();
    let strong = never_sure();
    let cheap = never_sure();
    let file = format!(
        "llm:\n  endpoints:\n    near-by: {{provider: openai, base_url: \"{}\", in_flight: 2}}\n  \
         models:\n    cheap: {{endpoint: near-by, model: tiny}}\n  purposes: {{repair: cheap}}\n",
        cheap.url()
    );
    let path = place.file("mine.yml", &file);
    let mut command = search(&strong.url(), &shop(place.path()));
    command.args(["--format", "json", "--max-attempts", "3", "-q", QUESTION, "--config"]).arg(path);
    let output = command.env("SYRCH_API_KEY_NEAR_BY", "sk-near-canary").output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("canary"));
    Said::from_output(output).document(0);
    assert_eq!((strong.count_of(REPAIR), cheap.count_of(REPAIR)), (0, 2));
    assert!(cheap.requests().iter().all(|request| request.body["model"] == "tiny"));
    let keys = |endpoint: &MockEndpoint| {
        endpoint
            .requests()
            .iter()
            .map(|request| request.authorization().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(
        keys(&cheap).iter().all(|key| key == "Bearer sk-near-canary"),
        "an endpoint got another's key"
    );
    assert!(
        keys(&strong).iter().all(|key| *key == format!("Bearer {KEY}")),
        "an endpoint got another's key"
    );
    // Who asks for the offline rules asks nobody, whatever is routed elsewhere.
    let asked = cheap.count();
    let offline = place
        .words("--llm offline --db shop.sqlite --config mine.yml --format json -q")
        .arg(QUESTION)
        .output();
    Said::from_output(offline.unwrap()).document(0);
    assert_eq!(cheap.count(), asked);
}

#[test]
fn a_key_in_a_file_or_a_variable_is_never_shown() {
    let place = Place::new();
    let file = "llm:\n  endpoints:\n    a: {provider: openai, base_url: \"http://localhost:1/v1\", \
                api_key: sk-canary-file}\n    b: {provider: anthropic, base_url: \
                \"http://localhost:2\"}\n";
    place.file("home/.syrch/config.yml", file);
    for format in ["auto", "json", "csv"] {
        for words in ["config", "config --origin", "config -vvv", "doctor"] {
            let mut command = place.words(&format!("{words} --format {format}"));
            command
                .env("SYRCH_API_KEY_B", "sk-canary-b")
                .env("SYRCH_API_KEY_NOBODY", "sk-canary-n");
            let (stdout, stderr) =
                read_streams(&finish(command.env("ANTHROPIC_API_KEY", "sk-canary-a"), ""));
            assert!(
                !stdout.contains("canary") && !stderr.contains("canary"),
                "{words} {format}: {stdout}{stderr}"
            );
        }
    }
    let mut command = place.words("config --origin --format json");
    let (stdout, stderr) = read_streams(&finish(command.env("SYRCH_API_KEY_B", "sk-canary-b"), ""));
    let endpoints = &serde_json::from_str::<Value>(&stdout).unwrap()["llm"]["endpoints"];
    assert_eq!(endpoints["a"]["api_key"]["value"], "set", "{stderr}");
    assert_eq!(
        endpoints["b"]["api_key"],
        json!({"value": "set", "origin": "environment SYRCH_API_KEY_B"})
    );
    // What `config` prints is a config file again.
    let printed = read_streams(&finish(&mut place.words("config"), "")).0;
    place.file("again.yml", printed);
    assert_eq!(finish(&mut place.words("config --config again.yml"), "").status.code(), Some(0));
}

/// Bug 34: syrch 0.1.2 handed OPENAI_API_KEY to the Anthropic client.
#[test]
fn a_vendors_key_goes_to_no_other_endpoint() {
    let place = Place::new();
    let endpoint =
        MockEndpoint::start(Script::new().on([PLAN], whole()).on([WRITE], Reply::sql(COUNT, 0.95)));
    let asked = |provider: &str| {
        let base = endpoint.url();
        let base = base.trim_end_matches("/v1");
        let url = if provider == "anthropic" { base.to_owned() } else { format!("{base}/v1") };
        let mut command = place.words(&format!(
            "--llm {provider} --model m --base-url {url} --format json --db shop.sqlite"
        ));
        command
            .env("OPENAI_API_KEY", "sk-openai-canary")
            .env("ANTHROPIC_API_KEY", "sk-anthropic-canary");
        Said::from_output(finish(command.args(["-q", QUESTION]), "")).document(0)
    };
    for provider in ["anthropic", "openai"] {
        assert_eq!(asked(provider)["answer"]["rows"], json!([[4]]));
    }
    let requests = endpoint.requests();
    assert_eq!(requests.iter().filter(|request| request.is_messages()).count(), 2);
    assert!(
        requests.iter().all(|request| !format!("{:?}", request.headers).contains("canary")),
        "{requests:?}"
    );
}

fn origins(command: &mut Command) -> Value {
    let output = finish(command.args(["config", "--origin", "--format", "json"]), "");
    let (stdout, stderr) = read_streams(&output);
    serde_json::from_str::<Value>(&stdout)
        .unwrap_or_else(|error| panic!("{error}: {stderr}"))["llm"]
        .clone()
}

#[test]
fn a_vendors_key_chooses_the_vendor_and_its_model() {
    let place = Place::new();
    let llm = origins(place.host().env("ANTHROPIC_API_KEY", "sk-canary"));
    assert_eq!(llm["provider"], json!({"value": "anthropic", "origin": "a key is configured"}));
    assert_eq!(llm["base_url"]["value"], "https://api.anthropic.com");
    assert_eq!(llm["model"]["value"], "claude-sonnet-4-5");
    assert_eq!(llm["api_key"]["origin"], "environment ANTHROPIC_API_KEY");
    let mut both = place.host();
    let llm =
        origins(both.env("ANTHROPIC_API_KEY", "sk-canary").env("OPENAI_API_KEY", "sk-canary"));
    assert_eq!(
        (&llm["provider"]["value"], &llm["api_key"]["origin"]),
        (&json!("openai"), &json!("environment OPENAI_API_KEY"))
    );
}

/// Everything but the address is as it is sent, and nothing is sent.
#[test]
fn a_dry_run_prints_what_would_be_sent() {
    let place = Place::new();
    let endpoint =
        MockEndpoint::start(Script::new().on([PLAN], whole()).on([WRITE], Reply::sql(COUNT, 0.95)));
    let dry = |flags: &[&str]| {
        let mut command = search(&endpoint.url(), &shop(place.path()));
        Said::from_output(command.args(["--dry-run", "-q", QUESTION]).args(flags).output().unwrap())
    };
    let requests: Value = dry(&["--format", "json"]).document(0);
    let text = dry(&[]);
    assert_eq!((text.code, endpoint.count()), (0, 0), "{}", text.all());
    let first = &requests.as_array().unwrap()[0];
    assert_eq!(
        (&first["method"], &first["url"]),
        (&json!("POST"), &json!(format!("{}/chat/completions", endpoint.url())))
    );
    assert!(
        text.stdout.starts_with(&format!("POST {}/chat/completions\n", endpoint.url())),
        "{}",
        text.stdout
    );
    assert!(
        text.stdout.contains("***") && text.stdout.contains("\"model\": \"mock\""),
        "{}",
        text.stdout
    );
    let mut command = search(&endpoint.url(), &shop(place.path()));
    Said::from_output(command.args(["--format", "json", "-q", QUESTION]).output().unwrap())
        .document(0);
    assert_eq!(first["body"], endpoint.requests()[0].body);
    let offline = |format: &str| {
        let mut command =
            place.words(&format!("--llm offline --dry-run --db shop.sqlite --format {format} -q"));
        Said::from_output(command.arg(QUESTION).output().unwrap())
    };
    let text = offline("auto");
    let none = offline("json");
    assert_eq!((text.code, text.stdout.as_str()), (0, "nothing would be sent\n"), "{}", text.all());
    assert_eq!(none.document(0), json!([]));
    assert_eq!(finish(&mut place.words("--dry-run --resume last"), "").status.code(), Some(2));
    assert_eq!(statements(&endpoint).len(), 1);
}
