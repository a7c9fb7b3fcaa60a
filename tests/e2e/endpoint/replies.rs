//! Replies that are cut off, that think, or whose endpoint fails in a way of its own: what becomes
//! of a search.

use std::process::Command;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script, Usage, sqlite};

use super::{PLAN, REPAIR, Said, WRITE, ask, plan, search, whole};
use crate::{host, shop};

const QUESTION: &str = "How many customers are there?";
const COUNT: &str = "SELECT COUNT(*) AS n FROM customers";

/// Each strategy that the program brings.
fn strategies() -> Vec<String> {
    let folder = syrch_kit::repository().join("plugins/strategies");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let names = files.filter(|path| path.extension().is_some_and(|kind| kind == "yml"));
    names.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

fn script(reply: Reply) -> Script {
    Script::new().on([PLAN], whole()).on([""], reply)
}

#[test]
fn no_strategy_runs_a_statement_that_was_cut_off() {
    let all = strategies();
    assert!(all.len() >= 14, "{all:?}");
    for strategy in all {
        let folder = syrch_kit::scratch();
        for reply in [
            Reply::text(COUNT),
            Reply::text(format!("```sql\n{COUNT}")),
            Reply::text(format!("sql: {COUNT}")),
        ] {
            let endpoint = MockEndpoint::start(script(reply.finish("length")));
            let said = ask(&endpoint, &shop(folder.path()), QUESTION, &["--strategy", &strategy]);
            let document = said.document(3);
            assert_eq!(
                (&document["answer"], &document["sql"]),
                (&Value::Null, &Value::Null),
                "{strategy}"
            );
        }
    }
}

#[test]
fn a_cut_reply_is_counted_and_shown() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(script(Reply::text(COUNT).finish("length")));
    let mut command = search(&endpoint.url(), &shop(folder.path()));
    command.env("SYRCH_STATE_DIR", folder.path()).args([
        "--format",
        "json",
        "--strategy",
        "retry3",
        "-q",
        QUESTION,
    ]);
    let said = Said::from_output(command.output().unwrap());
    let document = said.document(3);
    let count = document["cost"]["cut_off"].as_u64().unwrap();
    assert!(count > 1, "{document:#}");
    let warning = format!(
        "{count} replies of the model were cut off at limits of 512 to 4096 tokens and not used; \
         --max-tokens raises it"
    );
    assert!(document["warnings"].to_string().contains(&warning), "{}", document["warnings"]);
    assert!(
        said.stderr.contains("--max-tokens") && !said.stderr.contains("or use a model"),
        "{}",
        said.stderr
    );
    let repairs = endpoint.requests();
    let repair = repairs.iter().find(|request| request.prompt().contains(REPAIR)).unwrap().prompt();
    assert!(repair.contains("cut off at the limit of 4096 tokens: reply with less"), "{repair}");
    let mut trace = host();
    trace.env("SYRCH_STATE_DIR", folder.path()).args(["trace", "show", "last", "--calls"]);
    let shown = Said::from_output(trace.output().unwrap());
    assert!(shown.stdout.contains("cut off at the limit of 4096 tokens"), "{}", shown.all());
    assert!(!shown.stdout.contains("0 + 0 tokens"), "{}", shown.all());
}

#[test]
fn a_limit_that_the_user_does_not_set_is_not_to_be_raised() {
    let folder = syrch_kit::scratch();
    let open = Reply::text(format!("```sql\n{COUNT}")).finish("length");
    let endpoint = MockEndpoint::start(script(open).allows_tokens(1_024));
    let flags = ["--strategy", "single"];
    let document = ask(&endpoint, &shop(folder.path()), QUESTION, &flags).document(3);
    let warnings = document["warnings"].to_string();
    assert!(
        warnings.contains("limit of 1024 tokens") && !warnings.contains("--max-tokens raises it"),
        "{warnings}"
    );
}

#[test]
fn what_a_cut_reply_has_whole_is_an_answer() {
    for text in [format!("```sql\n{COUNT}\n```\nConfidence: 0.95\n"), format!("{COUNT};")] {
        let folder = syrch_kit::scratch();
        let endpoint = MockEndpoint::start(script(Reply::text(text).finish("length")));
        let document = ask(&endpoint, &shop(folder.path()), QUESTION, &[]).document(0);
        assert_eq!(document["answer"]["rows"], json!([[4]]));
        assert_eq!(document["cost"].get("cut_off"), None);
    }
}

/// A plan that was cut off is none, however many of its tasks are whole.
#[test]
fn a_plan_that_was_cut_off_leaves_the_question_whole() {
    let folder = syrch_kit::scratch();
    let half =
        r#"{"subtasks": [{"id": "A", "description": "count the customers"}, {"id": "B", "desc"#;
    let script = Script::new()
        .on([PLAN], Reply::text(half).finish("length"))
        .on([WRITE], Reply::sql(COUNT, 0.95));
    let endpoint = MockEndpoint::start(script);
    let document = ask(&endpoint, &shop(folder.path()), QUESTION, &[]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[4]]));
    let limits: Vec<Value> =
        endpoint.requests().iter().map(|request| request.body["max_tokens"].clone()).collect();
    assert_eq!(limits, [1_024, 4_096, 512].map(Value::from));
}

#[test]
fn a_word_that_is_the_key_stays_in_the_statement() {
    let folder = syrch_kit::scratch();
    let statement = "SELECT 'none' AS k FROM customers WHERE id = 1";
    let endpoint = MockEndpoint::start(script(Reply::sql(statement, 0.95)));
    let document =
        ask(&endpoint, &shop(folder.path()), "Which word?", &["--api-key", "none"]).document(0);
    assert_eq!(
        (&document["sql"], &document["answer"]["rows"]),
        (&json!(statement), &json!([["none"]]))
    );
    assert_eq!(endpoint.requests()[0].authorization(), Some("Bearer none"));
}

#[test]
fn a_draft_in_another_channel_is_no_answer() {
    let draft = "First idea:\n```sql\nSELECT 1 AS wrong\n```\n";
    for (before, between) in [
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
        ("analysis", "assistantfinal"),
        ("[THINK]", "[/THINK]"),
    ] {
        for strategy in ["single", "vote5", "chase"] {
            let folder = syrch_kit::scratch();
            let endpoint = MockEndpoint::start(script(Reply::text(format!(
                "{before}{draft}{between}{COUNT}"
            ))));
            let document =
                ask(&endpoint, &shop(folder.path()), QUESTION, &["--strategy", strategy])
                    .document(0);
            assert_eq!(document["answer"]["rows"], json!([[4]]), "{strategy}: {before}");
        }
    }
}

/// The class follows from what the endpoint says: these are no outages, and no advice about the URL
/// helps.
#[test]
fn a_content_filter_is_no_outage_by_whatever_status_it_comes() {
    let filter =
        json!({"error": {"message": "The response was filtered", "code": "content_filter"}})
            .to_string();
    for reply in [
        Reply::raw(400, filter.clone()),
        Reply::raw(200, filter),
        Reply::text("x").finish("content_filter"),
    ] {
        let folder = syrch_kit::scratch();
        let endpoint = MockEndpoint::start(Script::always(reply));
        let said = ask(&endpoint, &shop(folder.path()), QUESTION, &["--strategy", "single"]);
        assert_eq!(said.document(3)["answer"], Value::Null);
        assert!(said.stderr.contains("filter") && !said.stderr.contains("URL"), "{}", said.stderr);
        assert!(said.stderr.contains("or use another model"), "{}", said.stderr);
    }
}

#[test]
fn an_error_in_a_good_status_is_tried_again() {
    let folder = syrch_kit::scratch();
    let busy = json!({"error": {"message": "Rate limit exceeded: upstream is busy", "code": 429}})
        .to_string();
    let gone =
        json!({"choices": [{"finish_reason": "error", "error": {"code": 502, "message": "gone"}}]})
            .to_string();
    let script =
        Script::new().once([""], Reply::raw(200, busy.clone())).once([""], Reply::raw(200, gone));
    let endpoint =
        MockEndpoint::start(script.on([PLAN], whole()).on([""], Reply::sql(COUNT, 0.95)));
    let document =
        ask(&endpoint, &shop(folder.path()), QUESTION, &["--strategy", "single"]).document(0);
    assert_eq!((&document["answer"]["rows"], endpoint.count()), (&json!([[4]]), 3));
    let endpoint = MockEndpoint::start(Script::always(Reply::raw(200, busy)));
    let said = ask(&endpoint, &shop(folder.path()), QUESTION, &["--strategy", "single"]);
    said.document(12);
    assert!(
        said.stderr.contains("rate limit") && said.stderr.contains("SYRCH_ATTEMPTS"),
        "{}",
        said.stderr
    );
    assert!(!said.stderr.contains("base URL") && endpoint.count() == 3, "{}", said.stderr);
}

#[test]
fn a_small_context_gets_fewer_tokens_or_a_shorter_prompt_or_is_named() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(Script::always(Reply::sql(COUNT, 0.95)).context(1_024));
    let document =
        ask(&endpoint, &shop(folder.path()), QUESTION, &["--strategy", "single"]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[4]]));
    for script in
        [Script::always(whole()).context(64), Script::always(whole()).context_of_llama(64)]
    {
        let endpoint = MockEndpoint::start(script);
        let said = ask(&endpoint, &shop(folder.path()), QUESTION, &["--strategy", "single"]);
        said.document(12);
        let is_named = said.stderr.contains("context") && said.stderr.contains("--tables");
        assert!(
            is_named && !said.stderr.contains("base URL") && !said.stderr.contains("--base-url"),
            "{}",
            said.stderr
        );
    }
}

#[test]
fn a_prompt_over_the_context_is_shortened() {
    let folder = syrch_kit::scratch();
    let tables: String = (0..60)
        .map(|number| {
            format!(
                "CREATE TABLE stores_{number}(id INTEGER PRIMARY KEY, label TEXT, opened \
                 TEXT, area REAL);"
            )
        })
        .collect();
    let customers = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT); \
                     INSERT INTO customers VALUES (1, 'Ada');";
    let database = sqlite(folder.path().join("large.sqlite"), &format!("{customers}{tables}"));
    for strategy in ["single", "retry3", "vote5", "mcts", "discern"] {
        let script = Script::always(Reply::sql(COUNT, 0.95)).context_of_llama(1_200);
        let endpoint = MockEndpoint::start(script);
        let said =
            ask(&endpoint, &database, QUESTION, &["--strategy", strategy, "--linker", "none"]);
        let sizes: Vec<usize> =
            endpoint.requests().iter().map(|request| request.prompt().len()).collect();
        assert_eq!(said.code, 0, "{strategy}: {sizes:?}: {}", said.all());
        let first = sizes[0];
        let last = sizes[sizes.len() - 1];
        assert!(first > 4_800 && last <= 4_800, "{strategy}: {sizes:?}");
        // No request is made again as it was.
        if strategy == "single" {
            assert!(sizes.is_sorted_by(|one, next| one > next), "{sizes:?}");
        }
    }
}

/// Solved examples and facts are left out before the catalog is shortened, as often as it takes.
#[test]
fn a_context_of_a_few_hundred_tokens_gets_a_prompt_that_fits() {
    let folder = syrch_kit::scratch();
    let tables: String = (0..9)
        .map(|number| {
            format!(
                "CREATE TABLE parts_{number}(id INTEGER PRIMARY KEY, label TEXT, kind TEXT, \
                 area REAL, opened TEXT);
                 INSERT INTO parts_{number}(label, kind, area, opened) VALUES
                   ('north', 'large', 1.5, '2024-01-02'), ('south', 'small', 2.5, '2024-02-03');"
            )
        })
        .collect();
    let customers = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT);
                     INSERT INTO customers VALUES (1, 'Ada', 'France'), (2, 'Ben', 'Spain');";
    let database = sqlite(folder.path().join("parts.sqlite"), &format!("{customers}{tables}"));
    for strategy in ["single", "vote5", "decompose", "turns", "progressive", "mcts", "beam"] {
        let script = Script::always(Reply::sql(COUNT, 0.95)).context_of_llama(850);
        let endpoint = MockEndpoint::start(script);
        let said = ask(&endpoint, &database, QUESTION, &["--strategy", strategy]);
        let sizes: Vec<usize> =
            endpoint.requests().iter().map(|request| request.prompt().len()).collect();
        assert_eq!(said.code, 0, "{strategy}: {sizes:?}: {}", said.all());
    }
}

#[test]
fn servers_that_load_stream_or_have_no_system_prompt_answer() {
    fn good() -> Script {
        Script::always(Reply::sql(COUNT, 0.95))
    }
    for (script, calls) in [
        (good().loads_for(3), 4),
        (good().only_streams(), 2),
        (Script::always(Reply::sql(COUNT, 0.95).into_stream()), 1),
        (good().without_system_role(), 2),
        (good().allows_tokens(100), 2),
    ] {
        let folder = syrch_kit::scratch();
        let endpoint = MockEndpoint::start(script);
        let document =
            ask(&endpoint, &shop(folder.path()), QUESTION, &["--strategy", "single"]).document(0);
        assert_eq!((&document["answer"]["rows"], endpoint.count()), (&json!([[4]]), calls));
    }
}

/// A search whose config file has these prices.
fn search_with_prices(endpoint: &MockEndpoint, prices: &str, format: &str) -> Said {
    let folder = syrch_kit::scratch();
    let file = folder.path().join("mine.yml");
    std::fs::write(&file, format!("llm:\n  prices:\n    mock: {prices}\n")).unwrap();
    let mut command: Command = search(&endpoint.url(), &shop(folder.path()));
    command.args(["--format", format, "-q", QUESTION, "--config"]).arg(file);
    Said::from_output(command.output().unwrap())
}

/// Money and tokens of a report agree, though a reply that is no plan reports no usage.
#[test]
fn what_is_not_reported_is_estimated_and_said_to_be() {
    let nothing = || plan(&[]).usage(Usage::Missing);
    let script = || {
        Script::new().on([PLAN], nothing()).on([""], Reply::sql(COUNT, 0.95).usage(Usage::Missing))
    };
    let document =
        search_with_prices(&MockEndpoint::start(script()), "{input: 2.5, output: 10}", "json")
            .document(0);
    let cost = &document["cost"];
    let tokens = |name: &str| cost[name].as_f64().unwrap();
    let usd = (tokens("input_tokens") * 2.5 + tokens("output_tokens") * 10.0) / 1e6;
    assert!((cost["usd"].as_f64().unwrap() - usd).abs() < 1e-5, "{cost}");
    assert_eq!(cost["by_purpose"]["plan"]["estimated"], 1);
    assert!(cost["by_purpose"]["plan"]["input_tokens"].as_u64().unwrap() > 0, "{cost}");
    let said =
        search_with_prices(&MockEndpoint::start(script()), "{input: 2.5, output: 10}", "table");
    assert!(said.all().contains("tokens (estimated)"), "{}", said.all());
}

#[test]
fn cached_tokens_have_a_price_and_reported_costs_count() {
    let usage = |extra: Value| {
        let mut usage = json!({"prompt_tokens": 10_000, "completion_tokens": 10});
        usage.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let message = json!({"content": format!("```sql\n{COUNT}\n```\nConfidence: 0.95")});
        Reply::raw(200, json!({"choices": [{"message": message}], "usage": usage}).to_string())
    };
    let usd = |reply: Reply, prices: &str| {
        let endpoint = MockEndpoint::start(
            Script::new().on([PLAN], whole().usage(Usage::Tokens(0, 0))).on([""], reply),
        );
        let document = search_with_prices(&endpoint, prices, "json").document(0);
        (document["cost"]["usd"].as_f64().unwrap() * 1e6).round()
    };
    let cached = || usage(json!({"prompt_tokens_details": {"cached_tokens": 9_900}}));
    let plain = usd(cached(), "{input: 2.5, output: 10}");
    assert_eq!(plain - usd(cached(), "{input: 2.5, output: 10, cached_input: 1.25}"), 12_375.0);
    let reported = usd(usage(json!({"cost": 0.5})), "{input: 2.5, output: 10}");
    assert_eq!(reported - plain, 500_000.0 - 25_100.0);
}
