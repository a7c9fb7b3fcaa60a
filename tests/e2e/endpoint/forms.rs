//! Replies as models really write them, and endpoints that support less than the protocol has.

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script, Usage};

use super::{PLAN, REPAIR, WRITE, ask, plan, statements, subtask, whole};
use crate::shop;

const COUNT: &str = "SELECT COUNT(*) AS n FROM customers";

fn run_search(script: Script) -> (MockEndpoint, Value) {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(script);
    let document =
        ask(&endpoint, &shop(folder.path()), "How many customers are there?", &[]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[4]]), "{document:#}");
    (endpoint, document)
}

#[test]
fn a_statement_is_found_in_whatever_stands_around_it() {
    fn fence(language: &str) -> String {
        format!("```{language}\n{COUNT};\n```\nConfidence: 0.95")
    }
    let thinking = format!(
        "<think>Perhaps SELECT 0 AS n? No:\n```sql\nSELECT 1 AS n\n```\n</think>\n{}",
        fence("sql")
    );
    let twice = format!(
        "First I thought of\n```sql\nSELECT 1 AS n\n```\nbut the right one is\n{}",
        fence("sql")
    );
    let replies = [
        Reply::text(fence("sql")),
        Reply::text(fence("sqlite")),
        Reply::text(fence("")),
        Reply::text(thinking),
        Reply::text(twice),
        Reply::text(format!("{COUNT}\nConfidence: 95%")),
        Reply::text(json!({"sql": COUNT, "confidence": 0.95}).to_string()),
        Reply::text(format!(
            "Sure!\n```json\n{}\n```",
            json!({"query": COUNT, "confidence": "95%"})
        )),
        Reply::sql_in_prose(COUNT, 0.95),
        Reply::sql(COUNT, 0.95).field("reasoning_content", "SELECT 1 AS n is no good"),
    ];
    for reply in replies {
        let shown = format!("{reply:?}");
        let (endpoint, document) = run_search(Script::new().on([PLAN], whole()).on([""], reply));
        assert_eq!(endpoint.count(), 2, "{shown}");
        assert_eq!(document["confidence"]["raw"], 0.95, "{shown}");
        assert_eq!(document["sql"], COUNT, "{shown}");
    }
}

#[test]
fn a_plan_is_found_in_prose_fences_and_thinking() {
    let tasks = json!({
        "subtasks": [subtask("A", "count them", &[]), subtask("B", "take it over", &["A"])]
    });
    for text in [
        format!("Here is my plan:\n\n{tasks}\n\nI hope it helps!"),
        format!("```json\n{tasks:#}\n```"),
        format!("<think>{{\"subtasks\": []}} would be wrong</think>\n{tasks}"),
    ] {
        let script = Script::new()
            .on([PLAN], Reply::text(&text))
            .on(["task_A"], Reply::sql("SELECT n FROM task_A", 0.95))
            .on([""], Reply::sql(COUNT, 0.95));
        let (endpoint, document) = run_search(script);
        assert_eq!(
            (endpoint.count(), &document["cost"]["by_purpose"]["plan"]["calls"]),
            (3, &json!(1)),
            "{text}"
        );
    }
}

#[test]
fn a_reply_that_is_no_plan_leaves_the_question_whole() {
    for text in
        ["I would first count the customers.", "{\"steps\": [1, 2]}", "{\"subtasks\": []}", "[]"]
    {
        let (endpoint, _) = run_search(
            Script::new().on([PLAN], Reply::text(text)).on([""], Reply::sql(COUNT, 0.95)),
        );
        assert_eq!(endpoint.count(), 2, "{text}");
    }
}

#[test]
fn a_reply_without_a_statement_is_asked_for_again() {
    let script = Script::new()
        .on([PLAN], whole())
        .once([WRITE], Reply::text("That is a good question."))
        .once([WRITE], Reply::text(""))
        .on([WRITE], Reply::sql(COUNT, 0.95));
    let (endpoint, document) = run_search(script);
    let asked = statements(&endpoint);
    // As a document, then as a repair, which the strategy is not sure of yet.
    assert_eq!(asked.len(), 4);
    assert!(asked[2].prompt().contains(REPAIR) && !asked[1].prompt().contains(REPAIR));
    assert_eq!(document["cost"]["calls"], 5);
    let formats: Vec<bool> =
        asked.iter().map(|sent| sent.body["response_format"]["type"] == "json_schema").collect();
    assert_eq!(formats, [false, true, true, true]);
}

/// A model that writes a statement only where a schema holds it to that.
fn schema_script() -> Script {
    Script::new()
        .with(|request: &Recorded, _| {
            let is_held = request.body["response_format"]["type"] == "json_schema"
                && request.prompt().contains(WRITE);
            is_held.then(|| Reply::json(&json!({"sql": COUNT, "confidence": 0.95})))
        })
        .on([PLAN], whole())
        .on([""], Reply::text("There are 4 customers in this table."))
}

#[test]
fn a_statement_is_asked_for_as_a_document_when_the_user_says_so() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let formats = |strategy: &str, when: &str, code: i32| -> Vec<bool> {
        let endpoint = MockEndpoint::start(schema_script());
        let flags = ["--strategy", strategy, "--structured", when];
        let document =
            ask(&endpoint, &database, "How many customers are there?", &flags).document(code);
        if code == 0 {
            assert_eq!(
                (&document["sql"], &document["confidence"]["raw"]),
                (&json!(COUNT), &json!(0.95))
            );
        }
        assert_eq!(document["cost"]["calls"], endpoint.count(), "each is counted");
        let sent = statements(&endpoint);
        sent.iter().map(|sent| sent.body.get("response_format").is_some()).collect()
    };
    assert_eq!(formats("single", "auto", 0), [false, true]);
    assert_eq!(formats("single", "always", 0), [true]);
    assert_eq!(formats("single", "never", 3), [false]);
    let repairs = formats("retry3", "never", 3);
    assert!(repairs.len() > 1 && repairs.iter().all(|is_held| !is_held), "{repairs:?}");
    // `never` holds for plans as well.
    let endpoint =
        MockEndpoint::start(Script::new().on([PLAN], whole()).on([""], Reply::sql(COUNT, 0.95)));
    ask(&endpoint, &database, "How many customers are there?", &["--structured", "never"])
        .document(0);
    assert!(endpoint.requests().iter().all(|sent| sent.body.get("response_format").is_none()));
    let said = ask(&endpoint, &database, "How many?", &["--structured", "maybe"]);
    assert!(
        said.code == 2 && said.stderr.contains("auto") && said.stderr.contains("never"),
        "{}",
        said.all()
    );
}

#[test]
fn an_endpoint_without_structured_output_is_asked_in_words() {
    fn script() -> Script {
        Script::new().on([PLAN], whole()).on([""], Reply::sql(COUNT, 0.95))
    }
    for (script, format) in [
        (script(), json!("json_schema")),
        (script().without_json_schema(), json!("json_object")),
        (script().without_response_format(), Value::Null),
    ] {
        let (endpoint, document) = run_search(script);
        let plans: Vec<_> =
            endpoint.requests().into_iter().filter(|sent| sent.prompt().contains(PLAN)).collect();
        let last = plans.last().unwrap();
        assert_eq!(last.body["response_format"]["type"], format);
        assert_eq!(last.prompt().contains("matches this JSON schema"), format != "json_schema");
        assert_eq!(
            document["cost"]["by_purpose"]["plan"]["calls"],
            plans.len(),
            "what is sent is counted"
        );
        assert_eq!(document["cost"]["calls"], endpoint.count());
    }
}

#[test]
fn an_endpoint_that_refuses_parameters_is_asked_without_them() {
    let script = Script::new().on([PLAN], whole()).on([""], Reply::sql(COUNT, 0.95));
    let (endpoint, _) = run_search(script.wants_completion_tokens().refuses("temperature"));
    let last = statements(&endpoint).pop().unwrap().body;
    assert!(last.get("max_tokens").is_none() && last.get("temperature").is_none(), "{last}");
    assert_eq!(last["max_completion_tokens"], 4_096);
    assert_eq!(endpoint.count(), 4, "what was refused once is not tried again");
}

#[test]
fn usage_that_is_missing_or_untrue_is_estimated_and_never_free() {
    for usage in [Usage::Missing, Usage::Zero, Usage::Negative, Usage::Words] {
        let script = Script::new()
            .on([PLAN], plan(&[subtask("A", "count", &[])]).usage(usage.clone()))
            .on([""], Reply::sql(COUNT, 0.95).usage(usage.clone()));
        let (endpoint, document) = run_search(script);
        let bytes: usize = endpoint.requests().iter().map(|request| request.prompt().len()).sum();
        let input = document["cost"]["input_tokens"].as_u64().unwrap();
        let output = document["cost"]["output_tokens"].as_u64().unwrap();
        assert!(
            input >= bytes as u64 / 8 && input <= bytes as u64,
            "{usage:?}: {input} for {bytes} bytes"
        );
        assert!(output > 0, "{usage:?}");
    }
}

/// Bug 24: syrch 0.1.2 sent 0.7 and waited 120 s whatever was configured, and limited the output of
/// some calls only.
#[test]
fn settings_reach_the_wire() {
    let folder = syrch_kit::scratch();
    let endpoint =
        MockEndpoint::start(Script::new().on([PLAN], whole()).on([""], Reply::sql(COUNT, 0.95)));
    let flags = ["--temperature", "0.3", "--max-tokens", "77"];
    ask(&endpoint, &shop(folder.path()), "How many customers are there?", &flags).document(0);
    assert_eq!(endpoint.count(), 2);
    for request in endpoint.requests() {
        assert_eq!(request.path, "/v1/chat/completions");
        assert_eq!(request.body["temperature"], 0.3);
        assert_eq!(request.body["max_tokens"], 77);
        assert_eq!(request.body["model"], "mock");
        assert_eq!(request.body["stream"], false);
        assert_eq!(request.authorization(), Some(format!("Bearer {}", super::KEY).as_str()));
    }
}

/// The test covers the timeout of bug 24.
#[test]
fn a_timeout_reaches_the_wire() {
    let folder = syrch_kit::scratch();
    let endpoint =
        MockEndpoint::start(Script::new().on([PLAN], whole()).on([WRITE], Reply::hang()));
    let mut command = super::search(&endpoint.url(), &shop(folder.path()));
    let began = std::time::Instant::now();
    command.env("SYRCH_TIMEOUT_SECONDS", "0.5").env("SYRCH_ATTEMPTS", "1");
    let said = super::Said::from_output(
        command.args(["-q", "How many customers are there?"]).output().unwrap(),
    );
    assert!(said.code != 0 && said.stderr.contains("0.5 s"), "{}", said.all());
    assert!(
        began.elapsed() < std::time::Duration::from_secs(60),
        "the configured timeout did not count"
    );
}
