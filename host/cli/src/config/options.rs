//! Every option, declared once. Parser, help, `config` and the merge of the layers all read this
//! list.

use std::time::Duration;

use serde_json::{Value, json};
use syrch::cache::Place;
use syrch::databases::Executor;
use syrch::imports::{DateOrder, Decimal, Encoding};
use syrch::journal::RowRetention;
use syrch::models::{SimulatedKnobs, StructuredReplies};
use syrch::settings::PluginSource;
use syrch::strategies::{Limit, NOBODY};
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::{DatabaseUrl, Limits};

use super::kind::{Kind, NO_LIMIT};
use super::mapping::{self, Mapping};
use super::spec::{AMBIGUITY, CALIBRATION, STRATEGY, Spec, TRUST, WhenFound};
use super::value::{
    count, model_source, number, round, seconds, seconds_value, set_model_source, small, text,
    text_value, turn, whole,
};

macro_rules! role {
    ($role:ident, $key:literal, $flag:literal, $env:literal, $help:literal, $when_found:ident) => {
        role!($role, $key, $env, $help, $when_found).flag($flag, "PATH|NAME")
    };
    ($role:ident, $key:literal, $env:literal, $help:literal, $when_found:ident) => {
        Spec::new(
            $key,
            Kind::Text,
            $help,
            |e| json!(e.settings.strategy.roles.get(&Role::$role).map(ToString::to_string)),
            |e, v| {
                e.settings.strategy.roles.insert(Role::$role, PluginSource::parse(&text(v)));
            },
        )
        .env(&[$env])
        .when_found(WhenFound::$when_found)
    };
}

/// The kind of a value of the policy, with its bounds.
const fn policy(limit: &Limit) -> Kind {
    match limit.whole {
        true => Kind::Integer(limit.min as u64, limit.max as u64),
        false => Kind::Number { min: limit.min as f64, inclusive: false, max: limit.max as f64 },
    }
}

macro_rules! mapping {
    ($mapping:ident, $key:literal, $help:literal) => {
        Spec::new(
            $key,
            Kind::Mapping(Mapping::$mapping),
            $help,
            |e| Mapping::$mapping.get(e),
            |e, v| Mapping::$mapping.set(e, v),
        )
    };
}

const DAY: f64 = 86_400.0;
pub(super) const TIME: Kind = Kind::seconds(DAY);

/// Ten years, the longest time that a cached answer may be good.
const TTL: Kind = Kind::seconds(3_650.0 * DAY);
/// A millionth of a dollar is the least that is counted.
const MONEY: Kind = Kind::Number { min: 1.0 / MICROS, inclusive: true, max: 1_000_000.0 };
const MICROS: f64 = 1e6;

/// A share of all.
const SHARE: Kind = Kind::Number { min: 0.0, inclusive: true, max: 1.0 };
const ODDS: Kind =
    Kind::Number { min: -SimulatedKnobs::ODDS, inclusive: true, max: SimulatedKnobs::ODDS };
const SIMULATED_TOKENS: Kind =
    Kind::Number { min: 0.0, inclusive: true, max: SimulatedKnobs::TOKENS };

/// All options, in the order of the help and of `config`.
pub(crate) static SPECS: &[Spec] = &[
    Spec::new("llm.provider", Kind::ModelSource, "Where replies to model calls come from: {providers}. replay:FILE answers from a recording alone, record:FILE makes one, simulated:SUITE answers a suite's questions with its expected statements or with mistakes [default: the one whose key is configured, openai with a base URL, else offline]", model_source, set_model_source)
    .flag("llm", "PROVIDER|replay:FILE|record:FILE|simulated:SUITE")
    .env(&["SYRCH_LLM_PROVIDER", "SYRCH_PROVIDER"]),
    Spec::new("llm.model", Kind::Text, "The model's name at the endpoint [default: {models}]", |e| json!(e.settings.model.model), |e, v| {
        e.settings.model.model = text(v);
    })
    .flag("model", "NAME")
    .env(&["SYRCH_MODEL"]),
    Spec::new("llm.api_key", Kind::Secret, "The endpoint's key; better in SYRCH_API_KEY, since other users may see a command line. Without another key, {keys}, and no other endpoint", |e| if e.settings.model.api_key.is_some() { json!("set") } else { Value::Null }, |e, v| {
        e.settings.model.api_key = Some(text(v).into());
    })
    .flag("api-key", "KEY")
    .env(&["SYRCH_API_KEY"]),
    Spec::new("llm.base_url", Kind::Text, "Where the endpoint is, up to and including /v1 [default: the vendor's own]", |e| json!(e.settings.model.base_url), |e, v| {
        e.settings.model.base_url = text(v);
    })
    .flag("base-url", "URL")
    .env(&["SYRCH_BASE_URL"]),
    Spec::new("llm.insecure_endpoint", Kind::Boolean, "Let keys go over plain http to endpoints and collectors on other machines, where whoever sits between can read them; to this machine (localhost, 127.0.0.0/8, ::1) they always may", |e| json!(e.settings.model.insecure_endpoint), |e, v| {
        e.settings.model.insecure_endpoint = *v == json!(true);
    })
    .flag("insecure-endpoint", "")
    .env(&["SYRCH_INSECURE_ENDPOINT"]),
    Spec::new("llm.temperature", Kind::Number { min: 0.0, inclusive: true, max: 2.0 }, "Temperature of calls whose plugin asks for none", |e| json!(round(f64::from(e.settings.model.temperature))), |e, v| {
        e.settings.model.temperature = number(v) as f32;
    })
    .flag("temperature", "T")
    .env(&["SYRCH_TEMPERATURE"])
    .when_found(WhenFound::Lowers),
    Spec::new("llm.max_tokens_per_call", Kind::Integer(1, 1_000_000), "Output tokens of one call at most", |e| json!(e.settings.model.max_tokens), |e, v| {
        e.settings.model.max_tokens = small(v);
    })
    .flag("max-tokens", "N")
    .env(&["SYRCH_MAX_TOKENS", "SYRCH_MAX_TOKENS_PER_CALL"])
    .when_found(WhenFound::Lowers),
    Spec::new("llm.structured", Kind::Choice(StructuredReplies::NAMES), "Whether replies have a format that the endpoint enforces: auto (documents have; statements too, once a reply held none), always or never", |e| json!(e.settings.model.structured.name()), |e, v| {
        e.settings.model.structured = StructuredReplies::from_name(&text(v)).unwrap_or_default();
    })
    .flag("structured", "WHEN")
    .env(&["SYRCH_STRUCTURED"]),
    Spec::new("llm.timeout_seconds", TIME, "Seconds that one model call may take", |e| seconds_value(e.settings.model.timeout), |e, v| {
        e.settings.model.timeout = seconds(v);
    })
    .flag("timeout", "SECONDS")
    .env(&["SYRCH_TIMEOUT", "SYRCH_TIMEOUT_SECONDS"])
    .when_found(WhenFound::Lowers),
    Spec::new("llm.offline_threshold", Kind::Number { min: 0.0, inclusive: true, max: 1.0 }, "Confidence below which the offline rules abstain", |e| json!(e.settings.model.offline_threshold), |e, v| {
        e.settings.model.offline_threshold = Some(number(v));
    })
    .env(&["SYRCH_OFFLINE_THRESHOLD"]),
    Spec::new("llm.requests_per_minute", mapping::REQUESTS, "Requests a minute that the endpoint may be sent", |e| json!(e.settings.model.rates.requests_per_minute), |e, v| {
        e.settings.model.rates.requests_per_minute = Some(small(v));
    })
    .env(&["SYRCH_REQUESTS_PER_MINUTE"])
    .when_found(WhenFound::Lowers),
    Spec::new("llm.tokens_per_minute", mapping::TOKENS, "Tokens a minute, input and output together, that the endpoint may be asked for", |e| json!(e.settings.model.rates.tokens_per_minute), |e, v| {
        e.settings.model.rates.tokens_per_minute = Some(whole(v));
    })
    .env(&["SYRCH_TOKENS_PER_MINUTE"])
    .when_found(WhenFound::Lowers),
    Spec::new("llm.in_flight", mapping::IN_FLIGHT, "Requests that may be under way at the endpoint at once", |e| json!(e.settings.model.rates.in_flight), |e, v| {
        e.settings.model.rates.in_flight = Some(count(v));
    })
    .env(&["SYRCH_IN_FLIGHT"])
    .when_found(WhenFound::Lowers),
    Spec::new("llm.attempts", Kind::Integer(1, 100), "Tries of one call in all, where trying again can help", |e| json!(e.settings.model.attempts), |e, v| {
        e.settings.model.attempts = small(v);
    })
    .env(&["SYRCH_ATTEMPTS"])
    .when_found(WhenFound::Lowers),
    Spec::new("llm.max_retry_wait_seconds", TIME, "Seconds that an endpoint may ask to be left alone before calls give up", |e| seconds_value(e.settings.model.max_retry_wait), |e, v| {
        e.settings.model.max_retry_wait = seconds(v);
    })
    .env(&["SYRCH_MAX_RETRY_WAIT", "SYRCH_MAX_RETRY_WAIT_SECONDS"])
    .when_found(WhenFound::Lowers),
    Spec::new("llm.embeddings", Kind::Text, "The model for embeddings: one of `llm.models`, or its name at the default endpoint; its provider must be {embedders} [default: none]", |e| json!(e.settings.model.embeddings), |e, v| {
        e.settings.model.embeddings = Some(text(v));
    })
    .flag("embeddings", "NAME")
    .env(&["SYRCH_EMBEDDINGS"]),
    Spec::new("llm.embedding_prefixes.query", Kind::Text, "What stands before each question that is embedded, such as `query: ` for E5", |e| text_value(&e.settings.model.embedding_prefixes.query), |e, v| {
        e.settings.model.embedding_prefixes.query = text(v);
    }),
    Spec::new("llm.embedding_prefixes.document", Kind::Text, "What stands before each text that is searched by embeddings, such as `passage: ` for E5; run build-index again after a change", |e| text_value(&e.settings.model.embedding_prefixes.document), |e, v| {
        e.settings.model.embedding_prefixes.document = text(v);
    }),
    Spec::new("llm.simulated.skill", ODDS, "Of the simulated model: added to the log-odds of each right answer; 0 is the recorded systems, 1 multiplies the odds by 2.7", |e| json!(e.simulated.skill), |e, v| {
        turn(e, |knobs| knobs.skill = number(v));
    })
    .env(&["SYRCH_SIMULATED_SKILL"]),
    Spec::new("llm.simulated.repair_rate", SHARE, "Of the simulated model: the share of repairs that the feedback turns right and that would have been wrong", |e| json!(e.simulated.repair_rate), |e, v| {
        turn(e, |knobs| knobs.repair_rate = number(v));
    })
    .env(&["SYRCH_SIMULATED_REPAIR_RATE"]),
    Spec::new("llm.simulated.confidence_bias", ODDS, "Of the simulated model: added to the log-odds that a reply claims; above 0 it claims too much", |e| json!(e.simulated.confidence_bias), |e, v| {
        turn(e, |knobs| knobs.confidence_bias = number(v));
    })
    .env(&["SYRCH_SIMULATED_CONFIDENCE_BIAS"]),
    Spec::new("llm.simulated.confidence_spread", Kind::Number { min: 0.0, inclusive: true, max: SimulatedKnobs::ODDS }, "Of the simulated model: how far claims scatter, as a standard deviation of their log-odds", |e| json!(e.simulated.confidence_spread), |e, v| {
        turn(e, |knobs| knobs.confidence_spread = number(v));
    })
    .env(&["SYRCH_SIMULATED_CONFIDENCE_SPREAD"]),
    Spec::new("llm.simulated.false_accept", SHARE, "Of the simulated model: the share of wrong statements that it accepts as a judge", |e| json!(e.simulated.false_accept), |e, v| {
        turn(e, |knobs| knobs.false_accept = number(v));
    })
    .env(&["SYRCH_SIMULATED_FALSE_ACCEPT"]),
    Spec::new("llm.simulated.false_reject", SHARE, "Of the simulated model: the share of right statements that it rejects as a judge", |e| json!(e.simulated.false_reject), |e, v| {
        turn(e, |knobs| knobs.false_reject = number(v));
    })
    .env(&["SYRCH_SIMULATED_FALSE_REJECT"]),
    Spec::new("llm.simulated.input_tokens", SIMULATED_TOKENS, "Of the simulated model: tokens of a prompt on average; 0: none are counted", |e| json!(e.simulated.input_tokens), |e, v| {
        turn(e, |knobs| knobs.input_tokens = number(v));
    })
    .env(&["SYRCH_SIMULATED_INPUT_TOKENS"]),
    Spec::new("llm.simulated.output_tokens", SIMULATED_TOKENS, "Of the simulated model: tokens of a reply on average; 0: none are counted", |e| json!(e.simulated.output_tokens), |e, v| {
        turn(e, |knobs| knobs.output_tokens = number(v));
    })
    .env(&["SYRCH_SIMULATED_OUTPUT_TOKENS"]),
    Spec::new("llm.simulated.latency", Kind::Number { min: 0.0, inclusive: true, max: SimulatedKnobs::LATENCY }, "Of the simulated model: how long replies take, as a multiple of a real endpoint's 1.7 seconds; 0: no time", |e| json!(e.simulated.latency), |e, v| {
        turn(e, |knobs| knobs.latency = number(v));
    })
    .env(&["SYRCH_SIMULATED_LATENCY"]),
    Spec::new("llm.simulated.rate_limited", SHARE, "Of the simulated model: the share of tries that are turned away as an endpoint does with HTTP 429", |e| json!(e.simulated.rate_limited), |e, v| {
        turn(e, |knobs| knobs.rate_limited = number(v));
    })
    .env(&["SYRCH_SIMULATED_RATE_LIMITED"]),
    Spec::new("llm.simulated.naive", Kind::Boolean, "The simulated model as a negative control: samples are independent and no two wrong answers alike, so that every search looks perfect", |e| json!(e.simulated.naive), |e, v| {
        turn(e, |knobs| knobs.naive = *v == json!(true));
    })
    .env(&["SYRCH_SIMULATED_NAIVE"]),
    mapping!(Endpoints, "llm.endpoints", "Further endpoints by name; SYRCH_API_KEY_NAME holds the key of the one called `name`"),
    mapping!(Models, "llm.models", "Further models by the name that purposes and plugins use"),
    mapping!(Purposes, "llm.purposes", "The further models that answer calls of a purpose"),
    mapping!(Prices, "llm.prices", "Dollars for a million tokens by a model's name or pattern"),
    mapping!(Databases, "databases", "Databases by name, which --db and `execution.db_path` take in place of an address"),
    mapping!(Drivers, "drivers", "ADBC drivers by name, for addresses such as `adbc:NAME;option=value`: path and sha256 of the library"),
    Spec::new("execution.db_path", Kind::Text, "The database: {databases}, or a name of `databases` in your configuration; opened read-only and never created", |e| if e.settings.database.is_empty() { Value::Null } else { json!(DatabaseUrl::parse(&e.settings.database).to_string()) }, |e, v| {
        e.settings.database = text(v);
    })
    .flag("db", "URL")
    .env(&["SYRCH_DB", "SYRCH_DB_PATH"])
    .database(),
    Spec::new("execution.executor_type", Kind::Executor, "What the database has to be: {executors}. Its address decides, and one of another kind is an error [default: as the address says]", |e| json!(e.executor.clone().or_else(|| Some(Executor::for_url(&DatabaseUrl::parse(&e.settings.database)).ok()?.name().to_owned()))), |e, v| {
        e.executor = Some(text(v));
    })
        .flag("executor", "KIND")
        .env(&["SYRCH_EXECUTOR"])
        .when_found(WhenFound::KeepsDefault)
        .database(),
    Spec::new("execution.tables", Kind::Globs, "Tables that may be seen, as globs separated by commas [default: all]", |e| json!(e.settings.tables), |e, v| {
        e.settings.tables = v.as_array().into_iter().flatten().map(text).collect();
    })
    .flag("tables", "GLOBS")
    .env(&["SYRCH_TABLES"])
    .database(),
    Spec::new("execution.max_rows", Kind::Integer(1, 1_000_000_000), "Rows of a result; further rows are cut", |e| json!(e.settings.limits.rows), |e, v| {
        e.settings.limits.rows = whole(v);
    })
    .flag("max-rows", "N")
    .env(&["SYRCH_MAX_ROWS"])
    .when_found(WhenFound::Lowers)
    .database(),
    Spec::new("execution.max_bytes", Kind::Integer(1_024, 1 << 30), "Bytes of a result in memory; further rows are cut", |e| json!(e.settings.limits.result_bytes), |e, v| {
        e.settings.limits.result_bytes = count(v);
    })
    .flag("max-bytes", "N")
    .env(&["SYRCH_MAX_BYTES"])
    .when_found(WhenFound::Lowers)
    .database(),
    Spec::new("execution.sql_timeout", Kind::seconds(DAY), "Seconds that one statement may take", |e| seconds_value(e.settings.limits.sql_deadline), |e, v| {
        e.settings.limits.sql_deadline = seconds(v);
    })
    .flag("sql-timeout", "SECONDS")
    .env(&["SYRCH_SQL_TIMEOUT"])
    .when_found(WhenFound::Lowers)
    .database(),
    Spec::new("execution.max_import_rows", Kind::Integer(1, 1_000_000_000_000), "Rows that are read from files such as sales.csv, all files of the database together", |e| json!(e.settings.imports.caps.rows), |e, v| {
        e.settings.imports.caps.rows = whole(v);
    })
    .flag("max-import-rows", "N")
    .env(&["SYRCH_MAX_IMPORT_ROWS"])
    .when_found(WhenFound::Lowers)
    .database(),
    Spec::new("execution.max_import_bytes", Kind::Integer(1, 1_000_000_000_000), "Bytes that are read from files such as sales.csv, unpacked, all files of the database together", |e| json!(e.settings.imports.caps.bytes), |e, v| {
        e.settings.imports.caps.bytes = whole(v);
    })
    .flag("max-import-bytes", "N")
    .env(&["SYRCH_MAX_IMPORT_BYTES"])
    .when_found(WhenFound::Lowers)
    .database(),
    Spec::new("execution.encoding", Kind::Encoding, "Encoding of files such as sales.csv, such as windows-1252 [default: UTF-8, or UTF-16 with its mark]", |e| json!(e.settings.imports.options.encoding.map(Encoding::name)), |e, v| {
        e.settings.imports.options.encoding = Encoding::for_name(&text(v));
    })
    .flag("encoding", "NAME")
    .env(&["SYRCH_ENCODING"])
    .database(),
    Spec::new("execution.nulls", Kind::Texts, "Texts of files such as sales.csv that are NULL in every column; NA, NULL, - and the like are in columns of numbers and dates anyway. May be given several times [default: none]", |e| json!(e.settings.imports.options.nulls), |e, v| {
        e.settings.imports.options.nulls = v.as_array().into_iter().flatten().map(text).collect();
    })
    .flag("null", "TEXT")
    .env(&["SYRCH_NULL"])
    .database(),
    Spec::new("execution.decimal", Kind::Choice(Decimal::NAMES), "The mark before the decimals of numbers in files such as sales.csv [default: as the values of each column say]", |e| json!(e.settings.imports.options.decimal.map(|decimal| decimal.mark().to_string())), |e, v| {
        e.settings.imports.options.decimal = text(v).parse().ok();
    })
    .flag("decimal", "MARK")
    .env(&["SYRCH_DECIMAL"])
    .database(),
    Spec::new("execution.date_order", Kind::Choice(DateOrder::NAMES), "The order of day, month and year of dates such as 05/02/2024 in files: dmy, mdy, ymd [default: as the values of each column say]", |e| json!(e.settings.imports.options.date_order.map(DateOrder::name)), |e, v| {
        e.settings.imports.options.date_order = text(v).parse().ok();
    })
    .flag("date-order", "ORDER")
    .env(&["SYRCH_DATE_ORDER"])
    .database(),
    Spec::new("execution.rows", Kind::Rows, "Cell text that plugins and prompts may see: none, aggregates, sample:N, full", |e| json!(e.settings.rows.to_string()), |e, v| {
        e.settings.rows = text(v).parse().unwrap_or_default();
    })
    .flag("rows", "GRANT")
    .env(&["SYRCH_ROWS"]),
    Spec::new(TRUST, Kind::Files, "Plugins, by their files, that may call the model whatever they know of the data; under --rows none and aggregates others than the built-in ones make no call once one of them may know something of it. May be given several times [default: none]", |e| json!(e.settings.trust), |e, v| {
        e.settings.trust = v.as_array().into_iter().flatten().map(|path| text(path).into()).collect();
    })
    .flag("trust", "FILE")
    .env(&["SYRCH_TRUST"]),
    Spec::new("execution.max_depth", policy(&Limit::MAX_DEPTH), "Levels of decomposition", |e| json!(e.settings.policy.max_depth), |e, v| {
        e.settings.policy.max_depth = small(v);
    })
    .flag("max-depth", "N")
    .env(&["SYRCH_MAX_DEPTH"])
    .when_found(WhenFound::Lowers),
    Spec::new("execution.max_attempts_per_node", policy(&Limit::MAX_ATTEMPTS), "Statements tried for one task", |e| json!(e.settings.policy.max_attempts), |e, v| {
        e.settings.policy.max_attempts = small(v);
    })
    .flag("max-attempts", "N")
    .env(&["SYRCH_MAX_ATTEMPTS", "SYRCH_MAX_ATTEMPTS_PER_NODE"])
    .when_found(WhenFound::Lowers),
    Spec::new("execution.max_rounds", policy(&Limit::MAX_ROUNDS), "Steps of the planner that may change the search graph", |e| json!(e.settings.policy.max_rounds), |e, v| {
        e.settings.policy.max_rounds = small(v);
    })
    .flag("max-rounds", "N")
    .env(&["SYRCH_MAX_ROUNDS"])
    .when_found(WhenFound::Lowers),
    Spec::new("execution.high_confidence", policy(&Limit::HIGH_CONFIDENCE), "Stop trying at or above this confidence", |e| json!(e.settings.policy.high_confidence), |e, v| {
        e.settings.policy.high_confidence = number(v);
    })
    .flag("high-conf", "P")
    .env(&["SYRCH_HIGH_CONFIDENCE", "SYRCH_HIGH_CONF"]),
    Spec::new("execution.min_confidence", Kind::Number { min: 0.0, inclusive: true, max: 1.0 }, "The confidence below which an answer is not accepted; then the exit code is 3 [default: 0.4 without a model; 0 with one, and where answers are graded]", |e| json!(e.settings.min_confidence), |e, v| {
        e.settings.min_confidence = Some(number(v));
    })
    .flag("min-confidence", "P")
    .env(&["SYRCH_MIN_CONFIDENCE"]),
    Spec::new("execution.max_concurrency", policy(&Limit::MAX_PARALLEL), "Tasks of a search that are under way at once; given here, its model calls, too, of which there are up to 8 otherwise", |e| json!(e.settings.policy.max_parallel), |e, v| {
        e.settings.policy.max_parallel = small(v);
        e.settings.limits.llm_in_flight = Limits::default().llm_in_flight.min(count(v));
    })
    .flag("max-concurrency", "N")
    .env(&["SYRCH_MAX_CONCURRENCY"])
    .when_found(WhenFound::Lowers),
    Spec::new("execution.token_budget", Kind::Integer(1, 1_000_000_000_000), "Tokens that a search may spend, input and output together", |e| json!(e.settings.budgets.tokens), |e, v| {
        e.settings.budgets.tokens = whole(v);
    })
    .flag("budget", "TOKENS")
    .env(&["SYRCH_TOKEN_BUDGET", "SYRCH_BUDGET"])
    .when_found(WhenFound::Lowers),
    Spec::new("execution.max_usd", MONEY, "Dollars that the model calls of a search may cost; each model needs a price in `llm.prices` [default: no limit]", |e| json!(e.settings.budgets.cost_micros.map(|micros| micros as f64 / MICROS)), |e, v| {
        e.settings.budgets.cost_micros = Some((number(v) * MICROS).round() as u64);
    })
    .flag("max-usd", "USD")
    .env(&["SYRCH_MAX_USD"])
    .when_found(WhenFound::Lowers),
    Spec::new("execution.max_calls", Kind::Integer(1, 1_000_000), "Model calls that a search may make", |e| json!(e.settings.budgets.llm_calls), |e, v| {
        e.settings.budgets.llm_calls = small(v);
    })
    .flag("max-calls", "N")
    .env(&["SYRCH_MAX_CALLS"])
    .when_found(WhenFound::Lowers),
    Spec::new("execution.max_sql_runs", Kind::Integer(1, 1_000_000), "Statements that a search may run", |e| json!(e.settings.budgets.sql_runs), |e, v| {
        e.settings.budgets.sql_runs = small(v);
    })
    .flag("max-sql-runs", "N")
    .env(&["SYRCH_MAX_SQL_RUNS"])
    .when_found(WhenFound::Lowers),
    Spec::new("execution.deadline_seconds", Kind::SecondsOrNone(DAY), "Seconds that a search may take, each one of a suite or a batch; then it ends with the best so far, or with exit code 16. A day (86400) at most, or none: without a deadline", |e| e.settings.deadline.map_or(json!(NO_LIMIT), seconds_value), |e, v| {
        e.settings.deadline = v.is_number().then(|| seconds(v));
    })
    .flag("deadline", "SECONDS|none")
    .env(&["SYRCH_DEADLINE", "SYRCH_DEADLINE_SECONDS"])
    .when_found(WhenFound::Lowers),
    Spec::new("execution.seed", Kind::Integer(0, u64::MAX), "Where everything random starts", |e| json!(e.settings.seed), |e, v| {
        e.settings.seed = whole(v);
    })
    .flag("seed", "N")
    .env(&["SYRCH_SEED"]),
    Spec::new("execution.interactive", Kind::Boolean, "Ask on the terminal when the question is unclear [default: at the prompt only]", |e| json!(e.interactive), |e, v| {
        e.interactive = *v == json!(true);
    })
    .flag("interactive", "")
    .env(&["SYRCH_INTERACTIVE"])
    .when_found(WhenFound::KeepsDefault),
    Spec::new("execution.max_questions", Kind::Integer(1, 16), "How often one search may ask", |e| json!(e.settings.max_questions), |e, v| {
        e.settings.max_questions = small(v);
    })
    .flag("max-questions", "N")
    .env(&["SYRCH_MAX_QUESTIONS"])
    .when_found(WhenFound::Lowers),
    Spec::new(AMBIGUITY.0, Kind::Number { min: 0.0, inclusive: true, max: 1.0 }, "Ambiguity above which the clarifier asks: short for -P clarifier.threshold", |e| {
        e.settings.strategy.config.get(&Role::Clarifier).and_then(|config| config.get(AMBIGUITY.1)).cloned().unwrap_or_default()
    }, |e, v| {
        e.settings.strategy.config.entry(Role::Clarifier).or_default().insert(AMBIGUITY.1.to_owned(), v.clone());
    })
    .env(&["SYRCH_AMBIGUITY_THRESHOLD"])
    .when_found(WhenFound::SetsOfBuiltin(Role::Clarifier)),
    Spec::new(CALIBRATION, Kind::Boolean, "Turn claimed confidence into probabilities by the calibrator; without it the claims of a model stand [default: yes]", |e| json!(e.calibration), |e, v| {
        e.calibration = *v == json!(true);
    })
    .flag("calibration", "")
    .env(&["SYRCH_CALIBRATION"])
    .when_found(WhenFound::KeepsDefault),
    Spec::new("execution.verbose", Kind::Boolean, "Log what happens", |e| json!(e.verbose), |e, v| {
        e.verbose = *v == json!(true);
    })
    .env(&["SYRCH_VERBOSE"])
    .when_found(WhenFound::KeepsDefault),
    Spec::new("semantics.files", Kind::Files, "Files that define tables, joins and metrics: questions for these are answered by their definitions. May be given several times [default: none]", |e| json!(e.settings.semantics.files), |e, v| {
        e.settings.semantics.files = v.as_array().into_iter().flatten().map(|path| text(path).into()).collect();
    })
    .flag("semantics", "FILE")
    .env(&["SYRCH_SEMANTICS"]),
    Spec::new("retrieval.notes", Kind::Text, "A file of notes on the data that linkers find: a line each, plain text or {\"note\", \"table\", \"column\"}", |e| json!(e.settings.retrieval.notes), |e, v| {
        e.settings.retrieval.notes = Some(text(v).into());
    })
    .flag("notes", "FILE")
    .env(&["SYRCH_NOTES"]),
    Spec::new("retrieval.examples", Kind::Text, "A file of solved examples that strategies may show a model: {\"question\", \"sql\"} a line", |e| json!(e.settings.retrieval.examples), |e, v| {
        e.settings.retrieval.examples = Some(text(v).into());
    })
    .flag("examples", "FILE")
    .env(&["SYRCH_EXAMPLES"]),
    Spec::new("cache.enabled", Kind::Boolean, "Answer equal model calls and statements from the cache on this machine, and keep what was read of files there [default: yes]", |e| json!(e.cache), |e, v| {
        e.cache = *v == json!(true);
    })
    .flag("cache", "")
    .earlier(&["execution.cache_enabled"])
    .env(&["SYRCH_CACHE"])
    .when_found(WhenFound::KeepsDefault)
    .database(),
    Spec::new(
        "cache.shared",
        Kind::SharedCache,
        "A cache that several hosts share, in place of that of this machine: a folder of yours on \
         a file system that all of them see, or a server, redis://host:port",
        |e| json!(e.shared_cache.as_ref().map(ToString::to_string)),
        |e, v| e.shared_cache = Place::read_shared(&text(v)).ok(),
    )
    .flag("shared-cache", "FOLDER|URL")
    .env(&["SYRCH_SHARED_CACHE"]),
    Spec::new("cache.ttl_seconds", TTL, "Seconds that a cached answer is good", |e| seconds_value(e.settings.cache.ttl), |e, v| {
        e.settings.cache.ttl = seconds(v);
    })
    .flag("cache-ttl", "SECONDS")
    .earlier(&["execution.cache_ttl"])
    .env(&["SYRCH_CACHE_TTL", "SYRCH_CACHE_TTL_SECONDS"])
    .when_found(WhenFound::KeepsDefault),
    Spec::new("cache.max_bytes", Kind::Integer(1, u64::MAX), "Bytes of cached answers at most", |e| json!(e.settings.cache.bytes), |e, v| {
        e.settings.cache.bytes = whole(v);
    })
    .env(&["SYRCH_CACHE_MAX_BYTES"]),
    Spec::new("journal.enabled", Kind::Boolean, "Keep a journal of the run, which `trace` shows and replays and --resume continues", |e| json!(e.journal), |e, v| {
        e.journal = *v == json!(true);
    })
    .flag("journal", "")
    .env(&["SYRCH_JOURNAL"]),
    Spec::new("journal.rows", Kind::Choice(&["full", "none"]), "What journals retain of rows and cells; without them a run cannot be replayed strictly", |e| json!(if e.settings.journal.rows == RowRetention::Full { "full" } else { "none" }), |e, v| {
        e.settings.journal.rows = if v == "full" { RowRetention::Full } else { RowRetention::None };
    })
    .flag("journal-rows", "WHAT")
    .env(&["SYRCH_JOURNAL_ROWS"]),
    Spec::new("journal.keep", Kind::Integer(1, 1_000_000), "Journals retained at most", |e| json!(e.settings.journal.keep), |e, v| {
        e.settings.journal.keep = usize::try_from(whole(v)).unwrap_or(usize::MAX);
    })
    .env(&["SYRCH_JOURNAL_KEEP"]),
    Spec::new("journal.days", Kind::Integer(1, 36_500), "Days that a journal is retained", |e| json!(e.settings.journal.age.as_secs() / 86_400), |e, v| {
        e.settings.journal.age = Duration::from_secs(whole(v).saturating_mul(86_400));
    })
    .env(&["SYRCH_JOURNAL_DAYS"]),
    Spec::new("journal.max_bytes", Kind::Integer(1, u64::MAX), "Bytes of all journals at most", |e| json!(e.settings.journal.bytes), |e, v| {
        e.settings.journal.bytes = whole(v);
    })
    .env(&["SYRCH_JOURNAL_MAX_BYTES"]),
    #[cfg(feature = "otel")]
    Spec::new("telemetry.otlp_endpoint", Kind::Text, "An OpenTelemetry collector that is sent the spans of searches, over HTTP [default: OTEL_EXPORTER_OTLP_ENDPOINT, else none]", |e| json!(e.telemetry.endpoint), |e, v| {
        e.telemetry.endpoint = Some(text(v));
    })
    .flag("otlp-endpoint", "URL")
    .env(&["SYRCH_OTLP_ENDPOINT"]),
    #[cfg(feature = "otel")]
    Spec::new("telemetry.otlp_sql", Kind::Boolean, "Send the text of statements, too, which may quote the question and cells", |e| json!(e.telemetry.sql), |e, v| {
        e.telemetry.sql = *v == json!(true);
    })
    .flag("otlp-sql", "")
    .env(&["SYRCH_OTLP_SQL"]),
    Spec::new(STRATEGY, Kind::Text, "The plugin of each role, with settings and policy, where no other flag or setting overrides them: a built-in's name, or a file", |e| json!(e.strategy), |e, v| {
        e.strategy = text(v);
    })
    .flag("strategy", "NAME|FILE")
    .env(&["SYRCH_STRATEGY"]),
    Spec::new("plugins.linker", Kind::Text, "Narrows a large catalog; none: it is shown as it is", |e| {
        json!(e.settings.strategy.roles.get(&Role::Linker).map_or(NOBODY.to_owned(), ToString::to_string))
    }, |e, v| {
        let roles = &mut e.settings.strategy.roles;
        match text(v).as_str() {
            NOBODY => drop(roles.remove(&Role::Linker)),
            plugin => drop(roles.insert(Role::Linker, PluginSource::parse(plugin))),
        }
    })
    .flag("linker", "PATH|NAME|none")
    .env(&["SYRCH_LINKER"])
    .when_found(WhenFound::NamesBuiltin),
    role!(Planner, "plugins.planner", "planner", "SYRCH_PLANNER", "Compiles the question into a search graph", NamesBuiltin),
    role!(Solver, "plugins.solver", "solver", "SYRCH_SOLVER", "Finds statements for a task", NamesBuiltin),
    role!(Calibrator, "plugins.calibrator", "calibrator", "SYRCH_CALIBRATOR", "Turns claimed confidence into probabilities", Never),
    role!(Reward, "plugins.reward", "reward", "SYRCH_REWARD", "Judges candidates", Never),
    role!(Clarifier, "plugins.clarifier", "clarifier", "SYRCH_CLARIFIER", "Decides what to ask the user", NamesBuiltin),
    role!(Aggregator, "plugins.aggregator", "aggregator", "SYRCH_AGGREGATOR", "Makes the answer", NamesBuiltin),
    // No flag: a search would take it and do nothing with it. `optimize` has one of its own, which
    // sets this key.
    role!(Rewriter, "plugins.rewriter", "SYRCH_REWRITER", "Proposes faster statements to `optimize`", NamesBuiltin),
];
