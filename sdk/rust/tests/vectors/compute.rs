//! The output of this crate for a case's input.

use serde_json::{Value as Json, json};
use syrch_basics::fnv1a;
use syrch_plugin::attempt::{Chain, Statement, candidate_id, doubts, words};
use syrch_plugin::brief::{Brief, PromptSize, Tried, feedback};
use syrch_plugin::fakes::FakeHost;
use syrch_plugin::prelude::*;
use syrch_plugin::{draws, failure, names, prompt, replies, text};

use crate::{read, write};

syrch_plugin::settings! {
    /// One setting of each type.
    struct Sample {
        /// A share.
        share: f64 = 0.5, 0.0 ..= 1.0;
        /// A count,
        /// described in two lines.
        count: u32 = 3, 1 ..= 9;
        /// A switch.
        switch: bool = true;
        /// A word.
        word: String = "x".to_owned();
    }
}

pub(crate) fn output(function: &str, input: &Json) -> Json {
    let of = |key: &str| &input[key];
    fn number(input: &Json, key: &str) -> u64 {
        input[key].as_u64().unwrap()
    }
    let size = |key: &str| usize::try_from(number(input, key)).unwrap();
    match function {
        "text.line" => text::line(&read::text(of("text")), size("limit")).into(),
        "text.clip" => text::clip(&read::text(of("text")), size("bytes")).into(),
        "text.count" => text::count(number(input, "number"), &read::text(of("noun"))).into(),
        "text.clamp01" => text::clamp01(of("value").as_f64().unwrap()).into(),
        "names.quote" => names::quote(&read::syntax(of("syntax")), &read::text(of("name"))).into(),
        "names.quote_if_odd" => {
            names::quote_if_odd(&read::syntax(of("syntax")), &read::text(of("name"))).into()
        }
        "names.shown" => {
            names::prompt_name(&read::syntax(of("syntax")), &read::text(of("name"))).into()
        }
        "names.from_name" => {
            names::from_name(&read::syntax(of("syntax")), &read::table(of("table"))).into()
        }
        "names.literal" => read::syntax(of("syntax")).literal(&read::text(of("text"))).into(),
        "catalog.table_names" => read::catalog(of("catalog")).table_names().into(),
        "catalog.place" => json!(read::catalog(of("catalog")).place(&read::text(of("name")))),
        "prompt.catalog" => prompt::catalog(&read::catalog(of("catalog")), size("bytes")).into(),
        "prompt.problem" => prompt::problem(&read::problem(of("problem"))).into(),
        "prompt.cell" => prompt::cell(&read::value(of("value"))).into(),
        "prompt.rows" => prompt::rows(&read::page(of("page"))).into(),
        "brief.feedback" => feedback(&read_tries(of("tried"))).into(),
        "brief.instructions" | "brief.setting" | "brief.request" | "draws.request" => {
            brief(function, input)
        }
        "ask" => write::request(&ask(input)),
        "replies.plan_schema" => replies::plan_schema().to_string().into(),
        "replies.verdict_schema" => replies::verdict_schema().to_string().into(),
        "replies.sql_reply" => {
            json!(replies::sql_reply(&read::reply(of("parsed"))).as_ref().map(write::sql_reply))
        }
        "replies.verdict_reply" => {
            write::verdict(&replies::verdict_reply(&read::reply(of("parsed"))))
        }
        "replies.plan_reply" => {
            let subtasks = replies::plan_reply(&read::reply(of("parsed")));
            json!(subtasks.map(|subtasks| subtasks.iter().map(write::subtask).collect::<Vec<_>>()))
        }
        "replies.join_context" => {
            json!(replies::join_context(
                &of("keys")
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|key: &Json| replies::JoinKey {
                        left: read::text(&key["left"]),
                        left_col: read::text(&key["left_col"]),
                        right: read::text(&key["right"]),
                        right_col: read::text(&key["right_col"]),
                        how: read::join_how(&key["how"]),
                    })
                    .collect::<Vec<_>>()
            ))
        }
        "replies.plan_context" => json!(replies::plan_context(&read::texts(of("steps")))),
        "replies.join_keys_of" => {
            let keys = replies::join_keys_of(&read::task(of("task")));
            json!(keys.iter().map(write::join_key).collect::<Vec<_>>())
        }
        "replies.plan_of" => json!(replies::plan_of(&read::task(of("task")))),
        "attempt.words" => words(&read::sql_error(of("error"))).into(),
        "attempt.failed" => {
            let mut counted = Signals::default();
            let ended =
                syrch_plugin::attempt::record_error(&read::sql_error(of("error")), &mut counted);
            match ended {
                Ok(words) => json!({ "words": words, "signals": write::signals(&counted) }),
                Err(failure) => json!({ "failure": write::failure(&failure) }),
            }
        }
        "attempt.doubts" => {
            let mut signals = Signals::default();
            let doubts =
                doubts(number(input, "overflow_rows"), &read::profile(of("profile")), &mut signals);
            json!({ "doubts": doubts, "signals": write::signals(&signals) })
        }
        "attempt.candidate_id" => {
            candidate_id(&read::text(of("task")), read::count(of("number"))).into()
        }
        "attempt.chain" => chain(input),
        "failure.llm" => write::failure(&failure::llm_failure(&read::llm_error(of("error")))),
        "failure.sql" => write::failure(&failure::sql_failure(&read::sql_error(of("error")))),
        "failure.port" => write::failure(&failure::port_failure(&read::port_error(of("error")))),
        "draws.groups" => json!(draws::groups(&read::texts(of("keys")))),
        "random.fnv1a" => fnv1a(read::text(of("text")).bytes()).to_string().into(),
        "settings.schema" => Sample::schema(),
        "settings.read" => match Sample::read(&read::text(of("config"))) {
            Ok(Sample { share, count, switch, word }) => {
                json!({
                    "settings": { "share": share, "count": count, "switch": switch, "word": word }
                })
            }
            Err(message) => json!({ "error": message }),
        },
        other => panic!("no such function: {other}"),
    }
}

fn read_tries(value: &Json) -> Vec<Tried> {
    value.as_array().map_or_else(Vec::new, |all| {
        all.iter()
            .map(|tried: &Json| Tried {
                sql: read::text(&tried["sql"]),
                wrong: read::text(&tried["wrong"]),
            })
            .collect()
    })
}

/// `granted_rows`: the most rows of a result that the user grants; null for none.
fn brief(function: &str, input: &Json) -> Json {
    let mut host = FakeHost::default();
    host.database.granted_rows =
        input["granted_rows"].as_u64().map(|rows| u32::try_from(rows).unwrap());
    let size = PromptSize {
        catalog_bytes: read::count(&input["catalog_bytes"]),
        parent_rows: read::count(&input["parent_rows"]),
    };
    let catalog = read::catalog(&input["catalog"]);
    let problem = read::problem(&input["problem"]);
    let task = read::task(&input["task"]);
    let mut brief =
        Brief::new(&host, size, &problem, &catalog, &task, &read::parents(&input["parents"]));
    for _ in 0..input["shortened"].as_u64().unwrap_or_default() {
        brief.shorten();
    }
    let tried = read_tries(&input["tried"]);
    match function {
        "brief.instructions" => brief.instructions().into(),
        "brief.setting" => brief.setting().into(),
        "brief.request" => write::request(&brief.request(&tried, read::count(&input["sample"]))),
        _ => {
            let number = read::count(&input["number"]);
            write::request(&draws::request(&brief, &tried, number, input["temperature"].as_f64()))
        }
    }
}

fn ask(input: &Json) -> Request {
    let mut ask =
        Ask::new(read::purpose(&input["purpose"])).model(read::maybe_text(&input["model"]));
    for message in input["messages"].as_array().unwrap() {
        let text = read::text(&message["text"]);
        ask = if message["speaker"] == "system" { ask.system(text) } else { ask.user(text) };
    }
    ask = ask.subjects(read::texts(&input["subjects"])).sample(read::count(&input["sample"]));
    if let Some(temperature) = input["temperature"].as_f64() {
        ask = ask.temperature(temperature);
    }
    if input["max_tokens"].is_u64() {
        ask = ask.max_tokens(read::count(&input["max_tokens"]));
    }
    match read::variant(&input["expect"]) {
        ("text", _) => ask.text(),
        ("sql", _) => ask.sql(),
        ("plan", _) => ask.json(&replies::plan_schema()),
        ("verdict", _) => ask.json(&replies::verdict_schema()),
        ("choice", words) => ask.choice(read::texts(words)),
        (name, _) => panic!("no shape: {name}"),
    }
}

fn chain(input: &Json) -> Json {
    let mut chain = Chain::new(read::count(&input["max_attempts"]));
    let mut candidates = Vec::new();
    for step in input["steps"].as_array().unwrap() {
        match read::variant(step) {
            ("fail", of) => chain.fail(&read::text(&of["sql"]), read::text(&of["wrong"])),
            ("no_statement", wrong) => chain.fail_without_statement(read::text(wrong)),
            (_, of) => {
                let statement = Statement {
                    sql: read::text(&of["statement"]["sql"]),
                    confidence: of["statement"]["confidence"].as_f64(),
                    logprob: of["statement"]["logprob"].as_f64(),
                    tokens: of["statement"]["tokens"].as_f64().unwrap(),
                };
                let origin =
                    read::maybe_text(&of["origin"]).unwrap_or_else(|| chain.origin().to_owned());
                let own = read::signals(&of["signals"]);
                candidates.push(chain.candidate(read::text(&of["id"]), &origin, statement, &own));
            }
        }
    }
    let tried: Vec<Json> =
        chain.tried.iter().map(|tried| json!({ "sql": tried.sql, "wrong": tried.wrong })).collect();
    json!({
        "candidates": candidates.iter().map(candidate).collect::<Vec<_>>(),
        "tried": tried,
        "origin": chain.origin(),
        "statements": chain.statements(),
        "signals": write::signals(&chain.signals),
    })
}

/// A candidate with its further numbers apart from its signals.
fn candidate(candidate: &Candidate) -> Json {
    let numbers = &candidate.signals.extra;
    let signals = Signals { extra: Vec::new(), ..candidate.signals.clone() };
    json!({
        "id": candidate.id, "parents": candidate.parents, "origin": candidate.origin,
        "sql": candidate.sql,
        "raw_confidence": candidate.raw_confidence, "signals": write::signals(&signals),
        "numbers": numbers,
    })
}
