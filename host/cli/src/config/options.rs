//! Every option, declared once. Parser, help, `config` and the merge of the layers all read this
//! list.

use std::time::Duration;

use serde_json::{Value, json};
use syrch::cache::Place;
use syrch::imports::{DateOrder, Decimal, Encoding};
use syrch::journal::RowRetention;
use syrch::models::{SimulatedKnobs, StructuredReplies};
use syrch::strategies::Limit;
use syrch::syrch_core::Limits;
use syrch::syrch_core::roles::Role;

use super::kind::{DAY, Kind, NO_LIMIT, TIME};
use super::mapping::{self, Mapping};
use super::spec::{
    AMBIGUITY, CALIBRATION, LOCK, STRATEGY, SUMMARISE, Spec, TRUST, WhenFound, options,
};
use super::value::{
    as_u32, as_u64, as_usize, database, executor, linker, model_source, number, plugin, round,
    seconds, seconds_value, set_linker, set_model_source, set_plugin, set_summarise, set_threshold,
    summarise, text, text_value, texts, threshold, turn,
};

/// The kind of a value of the policy, with its bounds.
const fn policy(limit: &Limit) -> Kind {
    match limit.whole {
        true => Kind::Integer(limit.min as u64, limit.max as u64),
        false => Kind::Number { min: limit.min as f64, inclusive: false, max: limit.max as f64 },
    }
}

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
/// Of the simulated model's claims, and of its times.
const SPREAD: Kind = Kind::Number { min: 0.0, inclusive: true, max: SimulatedKnobs::ODDS };
const LATENCY: Kind = Kind::Number { min: 0.0, inclusive: true, max: SimulatedKnobs::LATENCY };

options! {
    /// The source of replies to model calls: {providers}. replay:FILE answers from a recording
    /// alone, record:FILE makes one, simulated:SUITE answers a suite's questions with its expected
    /// statements or with mistakes [default: the one whose key is configured, openai with a base
    /// URL, else offline]
    key("llm.provider") => Kind::ModelSource,
        model_source,
        set_model_source,
        flag("llm", "PROVIDER|replay:FILE|record:FILE|simulated:SUITE"),
        env(&["SYRCH_LLM_PROVIDER", "SYRCH_PROVIDER"]);

    /// The model's name at the endpoint [default: {models}]
    key("llm.model") => Kind::Text,
        |e| json!(e.settings.model.model), |e, v| e.settings.model.model = text(v),
        flag("model", "NAME"), env(&["SYRCH_MODEL"]);

    /// The endpoint's key; better in SYRCH_API_KEY, since other users may see a command line.
    /// Without another key, {keys}, and no other endpoint
    key("llm.api_key") => Kind::Secret,
        |e| if e.settings.model.api_key.is_some() { json!("set") } else { Value::Null },
        |e, v| e.settings.model.api_key = Some(text(v).into()),
        flag("api-key", "KEY"), env(&["SYRCH_API_KEY"]);

    /// The address of the endpoint, up to and including /v1 [default: the vendor's own]
    key("llm.base_url") => Kind::Text,
        |e| json!(e.settings.model.base_url), |e, v| e.settings.model.base_url = text(v),
        flag("base-url", "URL"), env(&["SYRCH_BASE_URL"]);

    /// Let keys go over plain http to endpoints and collectors on other machines, where whoever
    /// sits between can read them; to this machine (localhost, 127.0.0.0/8, ::1) they always may
    key("llm.insecure_endpoint") => Kind::Boolean,
        |e| json!(e.settings.model.insecure_endpoint),
        |e, v| e.settings.model.insecure_endpoint = *v == json!(true),
        flag("insecure-endpoint", ""), env(&["SYRCH_INSECURE_ENDPOINT"]);

    /// Temperature of calls whose plugin asks for none
    key("llm.temperature") => Kind::Number { min: 0.0, inclusive: true, max: 2.0 },
        |e| json!(round(f64::from(e.settings.model.temperature))),
        |e, v| e.settings.model.temperature = number(v) as f32,
        flag("temperature", "T"), env(&["SYRCH_TEMPERATURE"]), when_found(WhenFound::Lowers);

    /// Output tokens of one call at most
    key("llm.max_tokens_per_call") => Kind::Integer(1, 1_000_000),
        |e| json!(e.settings.model.max_tokens), |e, v| e.settings.model.max_tokens = as_u32(v),
        flag("max-tokens", "N"), env(&["SYRCH_MAX_TOKENS", "SYRCH_MAX_TOKENS_PER_CALL"]),
        when_found(WhenFound::Lowers);

    /// Have the endpoint enforce the format of replies: auto (of documents; of statements, too,
    /// once a reply held none), always or never
    key("llm.structured") => Kind::Choice(StructuredReplies::NAMES),
        |e| json!(e.settings.model.structured.name()),
        |e, v| {
            e.settings.model.structured =
                StructuredReplies::from_name(&text(v)).unwrap_or_default();
        },
        flag("structured", "WHEN"), env(&["SYRCH_STRUCTURED"]);

    /// Seconds that one model call may take
    key("llm.timeout_seconds") => TIME,
        |e| seconds_value(e.settings.model.timeout), |e, v| e.settings.model.timeout = seconds(v),
        flag("timeout", "SECONDS"), env(&["SYRCH_TIMEOUT", "SYRCH_TIMEOUT_SECONDS"]),
        when_found(WhenFound::Lowers);

    /// Confidence below which the offline rules abstain
    key("llm.offline_threshold") => SHARE,
        |e| json!(e.settings.model.offline_threshold),
        |e, v| e.settings.model.offline_threshold = Some(number(v)),
        env(&["SYRCH_OFFLINE_THRESHOLD"]);

    /// Requests a minute that the endpoint may be sent
    key("llm.requests_per_minute") => mapping::REQUESTS,
        |e| json!(e.settings.model.rates.requests_per_minute),
        |e, v| e.settings.model.rates.requests_per_minute = Some(as_u32(v)),
        env(&["SYRCH_REQUESTS_PER_MINUTE"]), when_found(WhenFound::Lowers);

    /// Tokens a minute, input and output together, that the endpoint may be asked for
    key("llm.tokens_per_minute") => mapping::TOKENS,
        |e| json!(e.settings.model.rates.tokens_per_minute),
        |e, v| e.settings.model.rates.tokens_per_minute = Some(as_u64(v)),
        env(&["SYRCH_TOKENS_PER_MINUTE"]), when_found(WhenFound::Lowers);

    /// Requests that may be under way at the endpoint at once
    key("llm.in_flight") => mapping::IN_FLIGHT,
        |e| json!(e.settings.model.rates.in_flight),
        |e, v| e.settings.model.rates.in_flight = Some(as_usize(v)),
        env(&["SYRCH_IN_FLIGHT"]), when_found(WhenFound::Lowers);

    /// Tries of one call in all, where trying again can help
    key("llm.attempts") => Kind::Integer(1, 100),
        |e| json!(e.settings.model.attempts), |e, v| e.settings.model.attempts = as_u32(v),
        env(&["SYRCH_ATTEMPTS"]), when_found(WhenFound::Lowers);

    /// Seconds that an endpoint may ask to be left alone before calls give up
    key("llm.max_retry_wait_seconds") => TIME,
        |e| seconds_value(e.settings.model.max_retry_wait),
        |e, v| e.settings.model.max_retry_wait = seconds(v),
        env(&["SYRCH_MAX_RETRY_WAIT", "SYRCH_MAX_RETRY_WAIT_SECONDS"]),
        when_found(WhenFound::Lowers);

    /// The model for embeddings: one of `llm.models`, or its name at the default endpoint; its
    /// provider must be {embedders} [default: none]
    key("llm.embeddings") => Kind::Text,
        |e| json!(e.settings.model.embeddings), |e, v| e.settings.model.embeddings = Some(text(v)),
        flag("embeddings", "NAME"), env(&["SYRCH_EMBEDDINGS"]);

    /// Text before each question that is embedded, such as `query: ` for E5
    key("llm.embedding_prefixes.query") => Kind::Text,
        |e| text_value(&e.settings.model.embedding_prefixes.query),
        |e, v| e.settings.model.embedding_prefixes.query = text(v);

    /// Text before each text that is searched by embeddings, such as `passage: ` for E5; run
    /// build-index again after a change
    key("llm.embedding_prefixes.document") => Kind::Text,
        |e| text_value(&e.settings.model.embedding_prefixes.document),
        |e, v| e.settings.model.embedding_prefixes.document = text(v);

    /// Of the simulated model: added to the log-odds of each right answer; 0 is the recorded
    /// systems, 1 multiplies the odds by 2.7
    key("llm.simulated.skill") => ODDS,
        |e| json!(e.simulated.skill), |e, v| turn(e, |knobs| knobs.skill = number(v)),
        env(&["SYRCH_SIMULATED_SKILL"]);

    /// Of the simulated model: the share of repairs that the feedback turns right and that would
    /// have been wrong
    key("llm.simulated.repair_rate") => SHARE,
        |e| json!(e.simulated.repair_rate), |e, v| turn(e, |knobs| knobs.repair_rate = number(v)),
        env(&["SYRCH_SIMULATED_REPAIR_RATE"]);

    /// Of the simulated model: added to the log-odds that a reply claims; above 0 it claims too
    /// much
    key("llm.simulated.confidence_bias") => ODDS,
        |e| json!(e.simulated.confidence_bias),
        |e, v| turn(e, |knobs| knobs.confidence_bias = number(v)),
        env(&["SYRCH_SIMULATED_CONFIDENCE_BIAS"]);

    /// Of the simulated model: how far claims scatter, as a standard deviation of their log-odds
    key("llm.simulated.confidence_spread") => SPREAD,
        |e| json!(e.simulated.confidence_spread),
        |e, v| turn(e, |knobs| knobs.confidence_spread = number(v)),
        env(&["SYRCH_SIMULATED_CONFIDENCE_SPREAD"]);

    /// Of the simulated model: the share of wrong statements that it accepts as a judge
    key("llm.simulated.false_accept") => SHARE,
        |e| json!(e.simulated.false_accept), |e, v| turn(e, |knobs| knobs.false_accept = number(v)),
        env(&["SYRCH_SIMULATED_FALSE_ACCEPT"]);

    /// Of the simulated model: the share of right statements that it rejects as a judge
    key("llm.simulated.false_reject") => SHARE,
        |e| json!(e.simulated.false_reject), |e, v| turn(e, |knobs| knobs.false_reject = number(v)),
        env(&["SYRCH_SIMULATED_FALSE_REJECT"]);

    /// Of the simulated model: tokens of a prompt on average; 0: none are counted
    key("llm.simulated.input_tokens") => SIMULATED_TOKENS,
        |e| json!(e.simulated.input_tokens), |e, v| turn(e, |knobs| knobs.input_tokens = number(v)),
        env(&["SYRCH_SIMULATED_INPUT_TOKENS"]);

    /// Of the simulated model: tokens of a reply on average; 0: none are counted
    key("llm.simulated.output_tokens") => SIMULATED_TOKENS,
        |e| json!(e.simulated.output_tokens),
        |e, v| turn(e, |knobs| knobs.output_tokens = number(v)),
        env(&["SYRCH_SIMULATED_OUTPUT_TOKENS"]);

    /// Of the simulated model: how long replies take, as a multiple of a real endpoint's 1.7
    /// seconds; 0: no time
    key("llm.simulated.latency") => LATENCY,
        |e| json!(e.simulated.latency), |e, v| turn(e, |knobs| knobs.latency = number(v)),
        env(&["SYRCH_SIMULATED_LATENCY"]);

    /// Of the simulated model: the share of tries that are turned away as an endpoint does with
    /// HTTP 429
    key("llm.simulated.rate_limited") => SHARE,
        |e| json!(e.simulated.rate_limited), |e, v| turn(e, |knobs| knobs.rate_limited = number(v)),
        env(&["SYRCH_SIMULATED_RATE_LIMITED"]);

    /// The simulated model as a negative control: samples are independent and no two wrong answers
    /// alike, so that every search looks perfect
    key("llm.simulated.naive") => Kind::Boolean,
        |e| json!(e.simulated.naive), |e, v| turn(e, |knobs| knobs.naive = *v == json!(true)),
        env(&["SYRCH_SIMULATED_NAIVE"]);

    /// Further endpoints by name; SYRCH_API_KEY_NAME holds the key of the one called `name`
    key("llm.endpoints") => Kind::Mapping(Mapping::Endpoints),
        |e| Mapping::Endpoints.get(e), |e, v| Mapping::Endpoints.set(e, v);

    /// Further models by the name that purposes and plugins use
    key("llm.models") => Kind::Mapping(Mapping::Models),
        |e| Mapping::Models.get(e), |e, v| Mapping::Models.set(e, v);

    /// The further models that answer calls of a purpose
    key("llm.purposes") => Kind::Mapping(Mapping::Purposes),
        |e| Mapping::Purposes.get(e), |e, v| Mapping::Purposes.set(e, v);

    /// Dollars for a million tokens by a model's name or pattern
    key("llm.prices") => Kind::Mapping(Mapping::Prices),
        |e| Mapping::Prices.get(e), |e, v| Mapping::Prices.set(e, v);

    /// Databases by name, which --db and `execution.db_path` take in place of an address
    key("databases") => Kind::Mapping(Mapping::Databases),
        |e| Mapping::Databases.get(e), |e, v| Mapping::Databases.set(e, v);

    /// ADBC drivers by name, for addresses such as `adbc:NAME;option=value`: path and sha256 of the
    /// library
    key("drivers") => Kind::Mapping(Mapping::Drivers),
        |e| Mapping::Drivers.get(e), |e, v| Mapping::Drivers.set(e, v);

    /// The database: {databases}, or a name of `databases` in your configuration; opened read-only
    /// and never created
    key("execution.db_path") => Kind::Text,
        database,
        |e, v| e.settings.database = text(v),
        flag("db", "URL"), env(&["SYRCH_DB", "SYRCH_DB_PATH"]), database();

    /// The kind that the database has to be: {executors}. Its address decides, and one of another
    /// kind is an error [default: as the address says]
    key("execution.executor_type") => Kind::Executor,
        executor,
        |e, v| e.executor = Some(text(v)),
        flag("executor", "KIND"), env(&["SYRCH_EXECUTOR"]), when_found(WhenFound::KeepsDefault),
        database();

    /// Tables that may be seen, as globs separated by commas [default: all]
    key("execution.tables") => Kind::Globs,
        |e| json!(e.settings.tables),
        |e, v| e.settings.tables = v.as_array().into_iter().flatten().map(text).collect(),
        flag("tables", "GLOBS"), env(&["SYRCH_TABLES"]), database();

    /// Rows of a result; further rows are cut
    key("execution.max_rows") => Kind::Integer(1, 1_000_000_000),
        |e| json!(e.settings.limits.rows), |e, v| e.settings.limits.rows = as_u64(v),
        flag("max-rows", "N"), env(&["SYRCH_MAX_ROWS"]), when_found(WhenFound::Lowers), database();

    /// Bytes of a result in memory; further rows are cut
    key("execution.max_bytes") => Kind::Integer(1_024, 1 << 30),
        |e| json!(e.settings.limits.result_bytes),
        |e, v| e.settings.limits.result_bytes = as_usize(v),
        flag("max-bytes", "N"), env(&["SYRCH_MAX_BYTES"]), when_found(WhenFound::Lowers),
        database();

    /// Seconds that one statement may take
    key("execution.sql_timeout") => Kind::seconds(DAY),
        |e| seconds_value(e.settings.limits.sql_deadline),
        |e, v| e.settings.limits.sql_deadline = seconds(v),
        flag("sql-timeout", "SECONDS"), env(&["SYRCH_SQL_TIMEOUT"]), when_found(WhenFound::Lowers),
        database();

    /// Rows that are read from files such as sales.csv, all files of the database together
    key("execution.max_import_rows") => Kind::Integer(1, 1_000_000_000_000),
        |e| json!(e.settings.imports.caps.rows), |e, v| e.settings.imports.caps.rows = as_u64(v),
        flag("max-import-rows", "N"), env(&["SYRCH_MAX_IMPORT_ROWS"]),
        when_found(WhenFound::Lowers), database();

    /// Bytes that are read from files such as sales.csv, unpacked, all files of the database
    /// together
    key("execution.max_import_bytes") => Kind::Integer(1, 1_000_000_000_000),
        |e| json!(e.settings.imports.caps.bytes), |e, v| e.settings.imports.caps.bytes = as_u64(v),
        flag("max-import-bytes", "N"), env(&["SYRCH_MAX_IMPORT_BYTES"]),
        when_found(WhenFound::Lowers), database();

    /// Encoding of files such as sales.csv, such as windows-1252 [default: UTF-8, or UTF-16 with
    /// its mark]
    key("execution.encoding") => Kind::Encoding,
        |e| json!(e.settings.imports.options.encoding.map(Encoding::name)),
        |e, v| e.settings.imports.options.encoding = Encoding::for_name(&text(v)),
        flag("encoding", "NAME"), env(&["SYRCH_ENCODING"]), database();

    /// Texts of files such as sales.csv that are NULL in every column; NA, NULL, - and the like are
    /// in columns of numbers and dates anyway. May be given several times [default: none]
    key("execution.nulls") => Kind::Texts,
        |e| json!(e.settings.imports.options.nulls),
        |e, v| e.settings.imports.options.nulls = texts(v).collect(),
        flag("null", "TEXT"), env(&["SYRCH_NULL"]), database();

    /// The mark before the decimals of numbers in files such as sales.csv [default: as the values
    /// of each column say]
    key("execution.decimal") => Kind::Choice(Decimal::NAMES),
        |e| json!(e.settings.imports.options.decimal.map(|decimal| decimal.mark().to_string())),
        |e, v| e.settings.imports.options.decimal = text(v).parse().ok(),
        flag("decimal", "MARK"), env(&["SYRCH_DECIMAL"]), database();

    /// The order of day, month and year of dates such as 05/02/2024 in files: dmy, mdy, ymd
    /// [default: as the values of each column say]
    key("execution.date_order") => Kind::Choice(DateOrder::NAMES),
        |e| json!(e.settings.imports.options.date_order.map(DateOrder::name)),
        |e, v| e.settings.imports.options.date_order = text(v).parse().ok(),
        flag("date-order", "ORDER"), env(&["SYRCH_DATE_ORDER"]), database();

    /// Cell text that plugins and prompts may see: none, aggregates, sample:N, full
    key("execution.rows") => Kind::Rows,
        |e| json!(e.settings.rows.to_string()),
        |e, v| e.settings.rows = text(v).parse().unwrap_or_default(),
        flag("rows", "GRANT"), env(&["SYRCH_ROWS"]);

    /// Plugins, by their files, that may call the model whatever they know of the data; under
    /// --rows none and aggregates others than the built-in ones make no call once one of them may
    /// know something of it. May be given several times [default: none]
    key(TRUST) => Kind::Files,
        |e| json!(e.settings.trust), |e, v| e.settings.trust = texts(v).map(Into::into).collect(),
        flag("trust", "FILE"), env(&["SYRCH_TRUST"]);

    /// The process in which plugins that are not built in run: process is one of their own, without
    /// files, network and environment, as Linux with Landlock can bound it; none is the host's;
    /// auto is process where this system can
    key("execution.isolate") => Kind::Choice(&["none", "process", "auto"]),
        |e| json!(e.isolate),
        |e, v| e.isolate = serde_json::from_value(v.clone()).unwrap_or_default(),
        flag("isolate", "WHERE"), env(&["SYRCH_ISOLATE"]);

    /// The file of added plugins and their grants, see `plugin add` [default: ~/.syrch/syrch.lock]
    key(LOCK) => Kind::Text,
        |e| json!(e.lock), |e, v| e.lock = Some(text(v).into()), env(&["SYRCH_LOCK"]);

    /// Levels of decomposition
    key("execution.max_depth") => policy(&Limit::MAX_DEPTH),
        |e| json!(e.settings.policy.max_depth), |e, v| e.settings.policy.max_depth = as_u32(v),
        flag("max-depth", "N"), env(&["SYRCH_MAX_DEPTH"]), when_found(WhenFound::Lowers);

    /// Statements tried for one task
    key("execution.max_attempts_per_node") => policy(&Limit::MAX_ATTEMPTS),
        |e| json!(e.settings.policy.max_attempts),
        |e, v| e.settings.policy.max_attempts = as_u32(v),
        flag("max-attempts", "N"), env(&["SYRCH_MAX_ATTEMPTS", "SYRCH_MAX_ATTEMPTS_PER_NODE"]),
        when_found(WhenFound::Lowers);

    /// Steps of the planner that may change the search graph
    key("execution.max_rounds") => policy(&Limit::MAX_ROUNDS),
        |e| json!(e.settings.policy.max_rounds), |e, v| e.settings.policy.max_rounds = as_u32(v),
        flag("max-rounds", "N"), env(&["SYRCH_MAX_ROUNDS"]), when_found(WhenFound::Lowers);

    /// Stop trying at or above this confidence
    key("execution.high_confidence") => policy(&Limit::HIGH_CONFIDENCE),
        |e| json!(e.settings.policy.high_confidence),
        |e, v| e.settings.policy.high_confidence = number(v),
        flag("high-conf", "P"), env(&["SYRCH_HIGH_CONFIDENCE", "SYRCH_HIGH_CONF"]);

    /// The confidence below which an answer is not accepted; then the exit code is 3 [default: 0.4
    /// without a model; 0 with one, and where answers are graded]
    key("execution.min_confidence") => SHARE,
        |e| json!(e.settings.min_confidence), |e, v| e.settings.min_confidence = Some(number(v)),
        flag("min-confidence", "P"), env(&["SYRCH_MIN_CONFIDENCE"]);

    /// Tasks of a search that are under way at once; given here, its model calls, too, of which
    /// there are up to 8 otherwise
    key("execution.max_concurrency") => policy(&Limit::MAX_PARALLEL),
        |e| json!(e.settings.policy.max_parallel),
        |e, v| {
            e.settings.policy.max_parallel = as_u32(v);
            e.settings.limits.llm_in_flight = Limits::default().llm_in_flight.min(as_usize(v));
        },
        flag("max-concurrency", "N"), env(&["SYRCH_MAX_CONCURRENCY"]),
        when_found(WhenFound::Lowers);

    /// Tokens that a search may spend, input and output together
    key("execution.token_budget") => Kind::Integer(1, 1_000_000_000_000),
        |e| json!(e.settings.budgets.tokens), |e, v| e.settings.budgets.tokens = as_u64(v),
        flag("budget", "TOKENS"), env(&["SYRCH_TOKEN_BUDGET", "SYRCH_BUDGET"]),
        when_found(WhenFound::Lowers);

    /// Dollars that the model calls of a search may cost; each model needs a price in `llm.prices`
    /// [default: no limit]
    key("execution.max_usd") => MONEY,
        |e| json!(e.settings.budgets.cost_micros.map(|micros| micros as f64 / MICROS)),
        |e, v| e.settings.budgets.cost_micros = Some((number(v) * MICROS).round() as u64),
        flag("max-usd", "USD"), env(&["SYRCH_MAX_USD"]), when_found(WhenFound::Lowers);

    /// Model calls that a search may make
    key("execution.max_calls") => Kind::Integer(1, 1_000_000),
        |e| json!(e.settings.budgets.llm_calls), |e, v| e.settings.budgets.llm_calls = as_u32(v),
        flag("max-calls", "N"), env(&["SYRCH_MAX_CALLS"]), when_found(WhenFound::Lowers);

    /// Statements that a search may run
    key("execution.max_sql_runs") => Kind::Integer(1, 1_000_000),
        |e| json!(e.settings.budgets.sql_runs), |e, v| e.settings.budgets.sql_runs = as_u32(v),
        flag("max-sql-runs", "N"), env(&["SYRCH_MAX_SQL_RUNS"]), when_found(WhenFound::Lowers);

    /// Seconds that a search may take, each one of a suite or a batch; then it ends with the best
    /// so far, or with exit code 16. A day (86400) at most, or none: without a deadline
    key("execution.deadline_seconds") => Kind::SecondsOrNone(DAY),
        |e| e.settings.deadline.map_or(json!(NO_LIMIT), seconds_value),
        |e, v| { e.settings.deadline = v.is_number().then(|| seconds(v)); },
        flag("deadline", "SECONDS|none"), env(&["SYRCH_DEADLINE", "SYRCH_DEADLINE_SECONDS"]),
        when_found(WhenFound::Lowers);

    /// The seed of everything random
    key("execution.seed") => Kind::Integer(0, u64::MAX),
        |e| json!(e.settings.seed), |e, v| e.settings.seed = as_u64(v),
        flag("seed", "N"), env(&["SYRCH_SEED"]);

    /// Ask on the terminal when the question is unclear [default: at the prompt only]
    key("execution.interactive") => Kind::Boolean,
        |e| json!(e.interactive), |e, v| e.interactive = *v == json!(true),
        flag("interactive", ""), env(&["SYRCH_INTERACTIVE"]), when_found(WhenFound::KeepsDefault);

    /// Times that one search may ask at most
    key("execution.max_questions") => Kind::Integer(1, 16),
        |e| json!(e.settings.max_questions), |e, v| e.settings.max_questions = as_u32(v),
        flag("max-questions", "N"), env(&["SYRCH_MAX_QUESTIONS"]), when_found(WhenFound::Lowers);

    /// Ambiguity above which the clarifier asks: short for -P clarifier.threshold
    key(AMBIGUITY.0) => SHARE,
        threshold,
        set_threshold,
        env(&["SYRCH_AMBIGUITY_THRESHOLD"]), when_found(WhenFound::SetsOfBuiltin(Role::Clarifier));

    /// Let a model write the answer's sentence, in which each number and name is checked: short for
    /// -P aggregator.summarise [default: on a terminal only]
    key(SUMMARISE.0) => Kind::Boolean,
        summarise, set_summarise,
        flag("summarise", ""), env(&["SYRCH_SUMMARISE"]),
        when_found(WhenFound::SetsOfBuiltin(Role::Aggregator));

    /// Turn claimed confidence into probabilities by the calibrator; without it the claims of a
    /// model stand [default: yes]
    key(CALIBRATION) => Kind::Boolean,
        |e| json!(e.calibration), |e, v| e.calibration = *v == json!(true),
        flag("calibration", ""), env(&["SYRCH_CALIBRATION"]), when_found(WhenFound::KeepsDefault);

    /// Log what happens
    key("execution.verbose") => Kind::Boolean,
        |e| json!(e.verbose), |e, v| e.verbose = *v == json!(true),
        env(&["SYRCH_VERBOSE"]), when_found(WhenFound::KeepsDefault);

    /// Files that define tables, joins and metrics: questions for these are answered by their
    /// definitions. May be given several times [default: none]
    key("semantics.files") => Kind::Files,
        |e| json!(e.settings.semantics.files),
        |e, v| e.settings.semantics.files = texts(v).map(Into::into).collect(),
        flag("semantics", "FILE"), env(&["SYRCH_SEMANTICS"]);

    /// A file of notes on the data that linkers find: a line each, plain text or {"note", "table",
    /// "column"}
    key("retrieval.notes") => Kind::Text,
        |e| json!(e.settings.retrieval.notes),
        |e, v| e.settings.retrieval.notes = Some(text(v).into()),
        flag("notes", "FILE"), env(&["SYRCH_NOTES"]);

    /// A file of solved examples that strategies may show a model: {"question", "sql"} a line
    key("retrieval.examples") => Kind::Text,
        |e| json!(e.settings.retrieval.examples),
        |e, v| e.settings.retrieval.examples = Some(text(v).into()),
        flag("examples", "FILE"), env(&["SYRCH_EXAMPLES"]);

    /// Answer equal model calls and statements from the cache on this machine, and keep what was
    /// read of files there [default: yes]
    key("cache.enabled") => Kind::Boolean,
        |e| json!(e.cache), |e, v| e.cache = *v == json!(true),
        flag("cache", ""), earlier_keys(&["execution.cache_enabled"]), env(&["SYRCH_CACHE"]),
        when_found(WhenFound::KeepsDefault), database();

    /// A cache that several hosts share, in place of that of this machine: a folder of yours on a
    /// file system that all of them see, or a server, redis://host:port, encrypted rediss://
    key("cache.shared") => Kind::SharedCache,
        |e| json!(e.shared_cache.as_ref().map(ToString::to_string)),
        |e, v| e.shared_cache = Place::read_shared(&text(v)).ok(),
        flag("shared-cache", "FOLDER|URL"), env(&["SYRCH_SHARED_CACHE"]);

    /// Seconds that a cached answer is good
    key("cache.ttl_seconds") => TTL,
        |e| seconds_value(e.settings.cache.ttl), |e, v| e.settings.cache.ttl = seconds(v),
        flag("cache-ttl", "SECONDS"), earlier_keys(&["execution.cache_ttl"]),
        env(&["SYRCH_CACHE_TTL", "SYRCH_CACHE_TTL_SECONDS"]), when_found(WhenFound::KeepsDefault);

    /// Bytes of cached answers at most
    key("cache.max_bytes") => Kind::Integer(1, u64::MAX),
        |e| json!(e.settings.cache.bytes), |e, v| e.settings.cache.bytes = as_u64(v),
        env(&["SYRCH_CACHE_MAX_BYTES"]);

    /// Keep a journal of the run, which `trace` shows and replays and --resume continues
    key("journal.enabled") => Kind::Boolean,
        |e| json!(e.journal), |e, v| e.journal = *v == json!(true),
        flag("journal", ""), env(&["SYRCH_JOURNAL"]);

    /// Retention of rows and cells in journals; without them a run cannot be replayed strictly
    key("journal.rows") => Kind::Choice(&["full", "none"]),
        |e| json!(if e.settings.journal.rows == RowRetention::Full { "full" } else { "none" }),
        |e, v| {
            e.settings.journal.rows =
                if v == "full" { RowRetention::Full } else { RowRetention::None };
        },
        flag("journal-rows", "WHAT"), env(&["SYRCH_JOURNAL_ROWS"]);

    /// Journals retained at most
    key("journal.keep") => Kind::Integer(1, 1_000_000),
        |e| json!(e.settings.journal.keep),
        |e, v| e.settings.journal.keep = usize::try_from(as_u64(v)).unwrap_or(usize::MAX),
        env(&["SYRCH_JOURNAL_KEEP"]);

    /// Days that a journal is retained
    key("journal.days") => Kind::Integer(1, 36_500),
        |e| json!(e.settings.journal.age.as_secs() / 86_400),
        |e, v| e.settings.journal.age = Duration::from_secs(as_u64(v).saturating_mul(86_400)),
        env(&["SYRCH_JOURNAL_DAYS"]);

    /// Bytes of all journals at most
    key("journal.max_bytes") => Kind::Integer(1, u64::MAX),
        |e| json!(e.settings.journal.bytes), |e, v| e.settings.journal.bytes = as_u64(v),
        env(&["SYRCH_JOURNAL_MAX_BYTES"]);

    /// An OpenTelemetry collector that is sent the spans of searches, over HTTP [default:
    /// OTEL_EXPORTER_OTLP_ENDPOINT, else none]
    #[cfg(feature = "otel")]
    key("telemetry.otlp_endpoint") => Kind::Text,
        |e| json!(e.telemetry.endpoint), |e, v| e.telemetry.endpoint = Some(text(v)),
        flag("otlp-endpoint", "URL"), env(&["SYRCH_OTLP_ENDPOINT"]);

    /// Send the text of statements, too, which may quote the question and cells
    #[cfg(feature = "otel")]
    key("telemetry.otlp_sql") => Kind::Boolean,
        |e| json!(e.telemetry.sql), |e, v| e.telemetry.sql = *v == json!(true),
        flag("otlp-sql", ""), env(&["SYRCH_OTLP_SQL"]);

    /// The plugin of each role, with settings and policy, where no other flag or setting overrides
    /// them: a built-in's name, or a file
    key(STRATEGY) => Kind::Text,
        |e| json!(e.strategy), |e, v| e.strategy = text(v),
        flag("strategy", "NAME|FILE"), env(&["SYRCH_STRATEGY"]);

    /// Narrows a large catalog; none: it is shown as it is
    key("plugins.linker") => Kind::Text,
        linker,
        set_linker,
        flag("linker", "PATH|NAME|none"), env(&["SYRCH_LINKER"]),
        when_found(WhenFound::NamesBuiltin);

    /// Compiles the question into a search graph [default: that of the strategy]
    key("plugins.planner") => Kind::Text,
        |e| plugin(e, Role::Planner), |e, v| set_plugin(e, Role::Planner, v),
        flag("planner", "PATH|NAME"), env(&["SYRCH_PLANNER"]), when_found(WhenFound::NamesBuiltin);

    /// Finds statements for a task [default: that of the strategy]
    key("plugins.solver") => Kind::Text,
        |e| plugin(e, Role::Solver), |e, v| set_plugin(e, Role::Solver, v),
        flag("solver", "PATH|NAME"), env(&["SYRCH_SOLVER"]), when_found(WhenFound::NamesBuiltin);

    /// Turns claimed confidence into probabilities
    key("plugins.calibrator") => Kind::Text,
        |e| plugin(e, Role::Calibrator), |e, v| set_plugin(e, Role::Calibrator, v),
        flag("calibrator", "PATH|NAME"), env(&["SYRCH_CALIBRATOR"]);

    /// Judges candidates
    key("plugins.reward") => Kind::Text,
        |e| plugin(e, Role::Reward), |e, v| set_plugin(e, Role::Reward, v),
        flag("reward", "PATH|NAME"), env(&["SYRCH_REWARD"]);

    /// Decides what to ask the user
    key("plugins.clarifier") => Kind::Text,
        |e| plugin(e, Role::Clarifier), |e, v| set_plugin(e, Role::Clarifier, v),
        flag("clarifier", "PATH|NAME"), env(&["SYRCH_CLARIFIER"]),
        when_found(WhenFound::NamesBuiltin);

    /// Makes the answer
    key("plugins.aggregator") => Kind::Text,
        |e| plugin(e, Role::Aggregator), |e, v| set_plugin(e, Role::Aggregator, v),
        flag("aggregator", "PATH|NAME"), env(&["SYRCH_AGGREGATOR"]),
        when_found(WhenFound::NamesBuiltin);

    // No flag: a search would take it and do nothing with it. `optimize` has one of its own, which
    // sets this key.
    /// Proposes faster statements to `optimize`
    key("plugins.rewriter") => Kind::Text,
        |e| plugin(e, Role::Rewriter), |e, v| set_plugin(e, Role::Rewriter, v),
        env(&["SYRCH_REWRITER"]), when_found(WhenFound::NamesBuiltin);
}

/// The option of that key.
pub(crate) fn find(key: &str) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.key == key || spec.earlier.contains(&key))
}

/// The option that sets a value of the policy. `None` if the key is unknown.
pub(crate) fn find_policy(key: &str) -> Option<&'static Spec> {
    find(match key {
        "max_attempts" => "execution.max_attempts_per_node",
        "max_parallel" => "execution.max_concurrency",
        "max_depth" => "execution.max_depth",
        "max_rounds" => "execution.max_rounds",
        "high_confidence" => "execution.high_confidence",
        _ => return None,
    })
}
