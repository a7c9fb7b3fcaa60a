//! The output of this crate for what strategies share.

use serde_json::{Value as Json, json};
use syrch_plugin::attempt::{Chain, Statement, Trial, Written};
use syrch_plugin::discount::Weights;
use syrch_plugin::draws::{Tries, run_tries};
use syrch_plugin::fakes::{FakeHost, FakeRows, reply, sql_error};
use syrch_plugin::prelude::*;
use syrch_plugin::score::{AmbiguityWeights, ambiguity, ambiguity_of};

use crate::{read, write};

pub(crate) fn output(function: &str, input: &Json) -> Json {
    match function {
        "discount.discounted" => {
            let weights = Weights::read(
                &input["weights"]
                    .as_object()
                    .map(|_| input["weights"].to_string())
                    .unwrap_or_default(),
            );
            weights
                .unwrap()
                .discounted(input["raw"].as_f64().unwrap(), &read::signals(&input["signals"]))
                .into()
        }
        "score.ambiguity" => {
            let confidences: Vec<f64> = input["confidences"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one.as_f64().unwrap())
                .collect();
            let flag = |key: &str| input[key].as_bool().unwrap();
            ambiguity(&weights(&input["weights"]), &confidences, flag("error"), flag("empty"))
                .into()
        }
        "score.ambiguity_of" => {
            json!(ambiguity_of(&AmbiguityWeights::default(), &read::observation(&input["seen"])))
        }
        "attempt.chain" => chain(input),
        _ => tries(input),
    }
}

fn weights(value: &Json) -> AmbiguityWeights {
    let of = |key: &str| value[key].as_f64().unwrap();
    match value.is_object() {
        true => AmbiguityWeights {
            doubt: of("doubt"),
            variance: of("variance"),
            error: of("error"),
            empty: of("empty"),
        },
        false => AmbiguityWeights::default(),
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
        "id": candidate.id, "parents": candidate.parents, "origin": candidate.origin, "sql": candidate.sql,
        "raw_confidence": candidate.raw_confidence, "signals": write::signals(&signals), "numbers": numbers,
    })
}

/// The strategy of the table's tries.
struct Repairs {
    attempts: usize,
    // How often the prompts may be made shorter.
    shorter: u32,
    ended: Vec<bool>,
    settled: Vec<Json>,
}

impl Tries for Repairs {
    fn is_open(&self, place: usize, chain: &Chain) -> bool {
        !self.ended[place] && chain.tried.len() < self.attempts
    }

    fn request(&self, place: usize, chain: &Chain) -> Request {
        let purpose = if chain.statements() > 0 { Purpose::Repair } else { Purpose::Generate };
        Ask::new(purpose)
            .user(format!("try {place}, {} tried, {} shorter", chain.tried.len(), self.shorter))
            .sql()
    }

    fn adapt(&mut self, error: &LlmError) -> bool {
        let adapts = matches!(error, LlmError::TooLarge) && self.shorter > 0;
        self.shorter -= u32::from(adapts);
        adapts
    }

    fn read(
        &mut self,
        replies: Vec<(usize, Written)>,
        chains: &mut [Chain],
    ) -> Vec<(usize, Statement)> {
        let mut statements = Vec::new();
        for (place, written) in replies {
            match written {
                Written::Statement(statement) => statements.push((place, statement)),
                Written::NoStatement(wrong) => chains[place].fail_without_statement(wrong),
                _ => self.ended[place] = true,
            }
        }
        statements
    }

    fn settled(&mut self, place: usize, made: Candidate, trial: Trial, _: &mut Chain) {
        self.ended[place] |= trial.ended.ran().is_some();
        let mut made = candidate(&made);
        made.as_object_mut().unwrap().remove("numbers");
        made["place"] = place.into();
        made["ran"] = trial.ended.ran().is_some().into();
        self.settled.push(made);
    }
}

fn tries(input: &Json) -> Json {
    let mut host = FakeHost::default();
    for scripted in input["replies"].as_array().unwrap() {
        let answer = match (scripted["sql"].as_str(), &scripted["error"]) {
            (Some(sql), _) => Ok(reply(sql, Some(&json!({ "sql": sql, "confidence": 0.5 })))),
            (None, Json::Null) => Ok(reply(scripted["text"].as_str().unwrap(), None)),
            (None, error) => Err(read::llm_error(error)),
        };
        host.model.script(&read::purpose(&scripted["purpose"]), answer);
        let Some(sql) = scripted["sql"].as_str() else { continue };
        match sql.split(' ').next().unwrap() {
            "BAD" => host.database.fail_check(sql, sql_error(SqlErrorKind::Syntax, "cannot parse")),
            "OVER" => host.database.fail_check(sql, sql_error(SqlErrorKind::Budget, "used up")),
            "EMPTY" => host.database.answer(sql, FakeRows::new(&["n"], Vec::new())),
            _ => host.database.answer(sql, FakeRows::new(&["n"], vec![vec![Value::Integer(1)]])),
        };
    }
    let number = usize::try_from(input["number"].as_u64().unwrap()).unwrap();
    let attempts = read::count(&input["attempts"]);
    let mut repairs = Repairs {
        attempts: attempts as usize,
        shorter: 1,
        ended: vec![false; number],
        settled: Vec::new(),
    };
    let task = Task { id: "A".to_owned(), ..Task::default() };
    run_tries(&host, &task, number, attempts, 1000, &mut repairs);
    for made in &mut repairs.settled {
        made["discarded"] = json!(host.trace.discarded(made["id"].as_str().unwrap()));
    }
    let prompts = 0..host.model.requests().len();
    json!({
        "prompts": prompts.map(|at| host.model.prompt(at)).collect::<Vec<_>>(),
        "settled": repairs.settled,
    })
}
