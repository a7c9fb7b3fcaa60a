//! Every option, declared once: its key in files, its flag, its environment variables, its bounds, and where it goes. Parser, help,
//! `config` and the merge of the layers all read this list.

use std::time::Duration;

use serde_json::{Value, json};
use syrch::journal::Kept;
use syrch::syrch_core::roles::Role;
use syrch::{PluginSource, Provider};

use super::Effective;
use super::kind::Kind;

/// What a file that was found in a folder, and so is a stranger's, may do with an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// Set it: it harms nobody.
    Sets,
    /// Only lower it: raised, it would spend the user's money.
    Lowers,
    /// Name a built-in plugin, no path.
    NamesBuiltin,
    /// Nothing: it is an endpoint, a key, a database or a grant.
    Never,
}

/// One option.
pub(crate) struct Spec {
    /// Section and name in a file, such as `llm.model`.
    pub(crate) key: &'static str,
    /// The flag without dashes and the name of its value.
    pub(crate) flag: Option<(&'static str, &'static str)>,
    /// Environment variables, the first wins.
    pub(crate) env: &'static [&'static str],
    /// What it may be.
    pub(crate) kind: Kind,
    /// What a file found in a folder may do with it.
    pub(crate) stranger: Stranger,
    /// Whether commands that only open a database take its flag, too.
    pub(crate) database: bool,
    /// A sentence for the help.
    pub(crate) help: &'static str,
    get: fn(&Effective) -> Value,
    set: fn(&mut Effective, &Value),
}

impl Spec {
    const fn new(
        key: &'static str,
        kind: Kind,
        help: &'static str,
        get: fn(&Effective) -> Value,
        set: fn(&mut Effective, &Value),
    ) -> Self {
        Self { key, flag: None, env: &[], kind, stranger: Stranger::Sets, database: false, help, get, set }
    }

    const fn flag(mut self, name: &'static str, value: &'static str) -> Self {
        self.flag = Some((name, value));
        self
    }

    const fn env(mut self, names: &'static [&'static str]) -> Self {
        self.env = names;
        self
    }

    const fn stranger(mut self, may: Stranger) -> Self {
        self.stranger = may;
        self
    }

    const fn database(mut self) -> Self {
        self.database = true;
        self
    }

    /// The value that is in force; null: none.
    pub(crate) fn get(&self, effective: &Effective) -> Value {
        (self.get)(effective)
    }

    /// Puts a checked value in force.
    pub(crate) fn set(&self, effective: &mut Effective, value: &Value) {
        (self.set)(effective, value);
    }
}

/// The option of that key.
pub(crate) fn find(key: &str) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.key == key)
}

// The setters get values that their kind has checked, so these conversions lose nothing.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn small(value: &Value) -> u32 {
    u32::try_from(whole(value)).unwrap_or(u32::MAX)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

fn seconds(value: &Value) -> Duration {
    Duration::try_from_secs_f64(number(value)).unwrap_or_default()
}

fn shown_seconds(time: Duration) -> Value {
    let seconds = time.as_secs_f64();
    if time.subsec_nanos() == 0 { json!(time.as_secs()) } else { json!(seconds) }
}

macro_rules! role {
    ($role:ident, $key:literal, $flag:literal, $env:literal, $help:literal) => {
        Spec::new(
            $key,
            Kind::Text,
            $help,
            |e| json!(e.settings.strategy.roles.get(&Role::$role).map(ToString::to_string)),
            |e, v| {
                e.settings.strategy.roles.insert(Role::$role, PluginSource::parse(&text(v)));
            },
        )
        .flag($flag, "PATH|NAME")
        .env(&[$env])
        .stranger(Stranger::NamesBuiltin)
    };
}

/// The clarifier's own setting that `execution.ambiguity_threshold` stands for.
pub(crate) const AMBIGUITY: &str = "threshold";

const DAY: f64 = 86_400.0;
const SHARE: Kind = Kind::Number { min: 0.0, inclusive: false, max: 1.0 };
const TIME: Kind = Kind::Number { min: 0.0, inclusive: false, max: DAY };

/// All options, in the order of the help and of `config`.
pub(crate) static SPECS: &[Spec] = &[
    Spec::new("llm.provider", Kind::Choice(&["openai", "offline"]), "Who answers model calls: an OpenAI-compatible endpoint, or rules without a model [default: openai with a key or a base URL, else offline]", |e| json!(provider_name(e.settings.model.provider)), |e, v| {
        e.settings.model.provider = if v == "openai" { Provider::Openai } else { Provider::Offline };
    })
    .flag("llm", "PROVIDER")
    .env(&["SYRCH_LLM_PROVIDER", "SYRCH_PROVIDER"])
    .stranger(Stranger::Never),
    Spec::new("llm.model", Kind::Text, "The model's name at the endpoint", |e| json!(e.settings.model.model), |e, v| {
        e.settings.model.model = text(v);
    })
    .flag("model", "NAME")
    .env(&["SYRCH_MODEL"])
    // A dearer model is the user's to choose.
    .stranger(Stranger::Never),
    Spec::new("llm.api_key", Kind::Secret, "The endpoint's key; better in SYRCH_API_KEY, since other users may see a command line. Without another key, OPENAI_API_KEY serves https://api.openai.com and no other endpoint", |e| if e.settings.model.api_key.is_some() { json!("set") } else { Value::Null }, |e, v| {
        e.settings.model.api_key = Some(text(v).into());
    })
    .flag("api-key", "KEY")
    .env(&["SYRCH_API_KEY"])
    .stranger(Stranger::Never),
    Spec::new("llm.base_url", Kind::Text, "Where the endpoint is, up to and including /v1", |e| json!(e.settings.model.base_url), |e, v| {
        e.settings.model.base_url = text(v);
    })
    .flag("base-url", "URL")
    .env(&["SYRCH_BASE_URL"])
    .stranger(Stranger::Never),
    Spec::new("llm.temperature", Kind::Number { min: 0.0, inclusive: true, max: 2.0 }, "Temperature of calls whose plugin asks for none", |e| json!(round(f64::from(e.settings.model.temperature))), |e, v| {
        e.settings.model.temperature = number(v) as f32;
    })
    .flag("temperature", "T")
    .env(&["SYRCH_TEMPERATURE"]),
    Spec::new("llm.max_tokens_per_call", Kind::Integer(1, 1_000_000), "Output tokens of one call at most", |e| json!(e.settings.model.max_tokens), |e, v| {
        e.settings.model.max_tokens = small(v);
    })
    .flag("max-tokens", "N")
    .env(&["SYRCH_MAX_TOKENS", "SYRCH_MAX_TOKENS_PER_CALL"])
    .stranger(Stranger::Lowers),
    Spec::new("llm.timeout_seconds", TIME, "Seconds that one model call may take", |e| shown_seconds(e.settings.model.timeout), |e, v| {
        e.settings.model.timeout = seconds(v);
    })
    .flag("timeout", "SECONDS")
    .env(&["SYRCH_TIMEOUT", "SYRCH_TIMEOUT_SECONDS"]),
    Spec::new("llm.offline_threshold", Kind::Number { min: 0.0, inclusive: true, max: 1.0 }, "Confidence below which the offline rules abstain", |e| json!(e.settings.model.offline_threshold), |e, v| {
        e.settings.model.offline_threshold = Some(number(v));
    })
    .env(&["SYRCH_OFFLINE_THRESHOLD"]),
    Spec::new("execution.db_path", Kind::Text, "The database: a SQLite file, opened read-only and never created", |e| if e.settings.database.is_empty() { Value::Null } else { json!(e.settings.database) }, |e, v| {
        e.settings.database = text(v);
    })
    .flag("db", "URL")
    .env(&["SYRCH_DB", "SYRCH_DB_PATH"])
    .stranger(Stranger::Never)
    .database(),
    Spec::new("execution.tables", Kind::Globs, "Tables that may be seen, as globs separated by commas [default: all]", |e| json!(e.settings.tables), |e, v| {
        e.settings.tables = v.as_array().into_iter().flatten().map(text).collect();
    })
    .flag("tables", "GLOBS")
    .env(&["SYRCH_TABLES"])
    .stranger(Stranger::Never)
    .database(),
    Spec::new("execution.rows", Kind::Rows, "Cell text that plugins and prompts may see: none, aggregates, sample:N, full", |e| json!(e.settings.rows.to_string()), |e, v| {
        e.settings.rows = text(v).parse().unwrap_or_default();
    })
    .flag("rows", "GRANT")
    .env(&["SYRCH_ROWS"])
    .stranger(Stranger::Never),
    Spec::new("execution.max_depth", Kind::Integer(1, 16), "Levels of decomposition", |e| json!(e.settings.policy.max_depth), |e, v| {
        e.settings.policy.max_depth = small(v);
    })
    .flag("max-depth", "N")
    .env(&["SYRCH_MAX_DEPTH"]),
    Spec::new("execution.max_attempts_per_node", Kind::Integer(1, 100), "Statements tried for one task", |e| json!(e.settings.policy.max_attempts), |e, v| {
        e.settings.policy.max_attempts = small(v);
    })
    .flag("max-attempts", "N")
    .env(&["SYRCH_MAX_ATTEMPTS", "SYRCH_MAX_ATTEMPTS_PER_NODE"]),
    Spec::new("execution.max_rounds", Kind::Integer(1, 256), "Steps of the planner that may change the search graph", |e| json!(e.settings.policy.max_rounds), |e, v| {
        e.settings.policy.max_rounds = small(v);
    })
    .flag("max-rounds", "N")
    .env(&["SYRCH_MAX_ROUNDS"]),
    Spec::new("execution.high_confidence", SHARE, "Stop trying at or above this confidence", |e| json!(e.settings.policy.high_confidence), |e, v| {
        e.settings.policy.high_confidence = number(v);
    })
    .flag("high-conf", "P")
    .env(&["SYRCH_HIGH_CONFIDENCE", "SYRCH_HIGH_CONF"]),
    Spec::new("execution.max_concurrency", Kind::Integer(1, 64), "Tasks under way at once", |e| json!(e.settings.policy.max_parallel), |e, v| {
        e.settings.policy.max_parallel = small(v);
    })
    .flag("max-concurrency", "N")
    .env(&["SYRCH_MAX_CONCURRENCY"]),
    Spec::new("execution.token_budget", Kind::Integer(1, 1_000_000_000_000), "Tokens that a search may spend, input and output together", |e| json!(e.settings.budgets.tokens), |e, v| {
        e.settings.budgets.tokens = whole(v);
    })
    .flag("budget", "TOKENS")
    .env(&["SYRCH_TOKEN_BUDGET", "SYRCH_BUDGET"])
    .stranger(Stranger::Lowers),
    Spec::new("execution.max_calls", Kind::Integer(1, 1_000_000), "Model calls that a search may make", |e| json!(e.settings.budgets.llm_calls), |e, v| {
        e.settings.budgets.llm_calls = small(v);
    })
    .flag("max-calls", "N")
    .env(&["SYRCH_MAX_CALLS"])
    .stranger(Stranger::Lowers),
    Spec::new("execution.max_sql_runs", Kind::Integer(1, 1_000_000), "Statements that a search may run", |e| json!(e.settings.budgets.sql_runs), |e, v| {
        e.settings.budgets.sql_runs = small(v);
    })
    .flag("max-sql-runs", "N")
    .env(&["SYRCH_MAX_SQL_RUNS"])
    .stranger(Stranger::Lowers),
    Spec::new("execution.deadline_seconds", TIME, "Seconds that a search may take [default: none]", |e| e.settings.deadline.map_or(Value::Null, shown_seconds), |e, v| {
        e.settings.deadline = Some(seconds(v));
    })
    .flag("deadline", "SECONDS")
    .env(&["SYRCH_DEADLINE", "SYRCH_DEADLINE_SECONDS"]),
    Spec::new("execution.seed", Kind::Integer(0, u64::MAX), "Where everything random starts", |e| json!(e.settings.seed), |e, v| {
        e.settings.seed = whole(v);
    })
    .flag("seed", "N")
    .env(&["SYRCH_SEED"]),
    Spec::new("execution.interactive", Kind::Boolean, "Ask on the terminal when the question is unclear", |e| json!(e.interactive), |e, v| {
        e.interactive = *v == json!(true);
    })
    .flag("interactive", "")
    .env(&["SYRCH_INTERACTIVE"]),
    Spec::new("execution.max_questions", Kind::Integer(1, 16), "How often one search may ask", |e| json!(e.settings.max_questions), |e, v| {
        e.settings.max_questions = small(v);
    })
    .flag("max-questions", "N")
    .env(&["SYRCH_MAX_QUESTIONS"]),
    Spec::new("execution.ambiguity_threshold", Kind::Number { min: 0.0, inclusive: true, max: 1.0 }, "Ambiguity above which the clarifier asks: short for -P clarifier.threshold", |e| {
        e.settings.strategy.config.get(&Role::Clarifier).and_then(|config| config.get(AMBIGUITY)).cloned().unwrap_or_default()
    }, |e, v| {
        e.settings.strategy.config.entry(Role::Clarifier).or_default().insert(AMBIGUITY.to_owned(), v.clone());
    })
    .env(&["SYRCH_AMBIGUITY_THRESHOLD"]),
    Spec::new("execution.verbose", Kind::Boolean, "Log what happens", |e| json!(e.verbose), |e, v| {
        e.verbose = *v == json!(true);
    })
    .env(&["SYRCH_VERBOSE"]),
    Spec::new("journal.enabled", Kind::Boolean, "Keep a journal of the run, which `trace` shows and replays and --resume goes on with", |e| json!(e.journal), |e, v| {
        e.journal = *v == json!(true);
    })
    .flag("journal", "")
    .env(&["SYRCH_JOURNAL"]),
    Spec::new("journal.rows", Kind::Choice(&["full", "none"]), "What journals keep of rows and cells; without them a run cannot be replayed strictly", |e| json!(if e.settings.journal.kept == Kept::Full { "full" } else { "none" }), |e, v| {
        e.settings.journal.kept = if v == "full" { Kept::Full } else { Kept::None };
    })
    .flag("journal-rows", "WHAT")
    .env(&["SYRCH_JOURNAL_ROWS"])
    .stranger(Stranger::Never),
    Spec::new("journal.keep", Kind::Integer(1, 1_000_000), "Journals kept at most", |e| json!(e.settings.journal.keep), |e, v| {
        e.settings.journal.keep = usize::try_from(whole(v)).unwrap_or(usize::MAX);
    })
    .env(&["SYRCH_JOURNAL_KEEP"])
    .stranger(Stranger::Never),
    Spec::new("journal.days", Kind::Integer(1, 36_500), "Days that a journal is kept", |e| json!(e.settings.journal.age.as_secs() / 86_400), |e, v| {
        e.settings.journal.age = Duration::from_secs(whole(v).saturating_mul(86_400));
    })
    .env(&["SYRCH_JOURNAL_DAYS"])
    .stranger(Stranger::Never),
    Spec::new("journal.max_bytes", Kind::Integer(1, u64::MAX), "Bytes of all journals at most", |e| json!(e.settings.journal.bytes), |e, v| {
        e.settings.journal.bytes = whole(v);
    })
    .env(&["SYRCH_JOURNAL_MAX_BYTES"])
    .stranger(Stranger::Never),
    role!(Planner, "plugins.planner", "planner", "SYRCH_PLANNER", "Compiles the question into a search graph"),
    role!(Solver, "plugins.solver", "solver", "SYRCH_SOLVER", "Finds statements for a task"),
    role!(Calibrator, "plugins.calibrator", "calibrator", "SYRCH_CALIBRATOR", "Turns claimed confidence into probabilities"),
    role!(Reward, "plugins.reward", "reward", "SYRCH_REWARD", "Judges candidates"),
    role!(Clarifier, "plugins.clarifier", "clarifier", "SYRCH_CLARIFIER", "Decides what to ask the user"),
    role!(Aggregator, "plugins.aggregator", "aggregator", "SYRCH_AGGREGATOR", "Makes the answer"),
];

/// The provider's name in flags and files.
pub(crate) fn provider_name(provider: Provider) -> &'static str {
    match provider {
        Provider::Openai => "openai",
        Provider::Offline => "offline",
    }
}

/// A 32-bit number shows more digits as 64 bits than it has.
fn round(n: f64) -> f64 {
    (n * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_defaults_fit_their_kind() {
        let effective = Effective::default();
        let mut names = BTreeSet::new();
        for spec in SPECS {
            assert!(names.insert(spec.key.to_owned()), "{}", spec.key);
            assert!(spec.flag.is_none_or(|(flag, _)| names.insert(format!("--{flag}"))), "{}", spec.key);
            assert!(spec.env.iter().all(|name| names.insert((*name).to_owned())), "{}", spec.key);
            let default = spec.get(&effective);
            assert!(default.is_null() || spec.kind.check(default).is_ok(), "{}", spec.key);
        }
    }

    #[test]
    fn what_is_set_is_what_is_got() {
        for spec in SPECS {
            let value = match spec.kind {
                Kind::Integer(..) => json!(7),
                Kind::Number { .. } => json!(0.5),
                Kind::Boolean => json!(true),
                Kind::Choice(words) => json!(words[0]),
                Kind::Globs => json!(["a", "b*"]),
                Kind::Rows => json!("aggregates"),
                Kind::Text | Kind::Secret => json!("set"),
            };
            let mut effective = Effective::default();
            spec.set(&mut effective, &value);
            assert_eq!(spec.get(&effective), value, "{}", spec.key);
        }
    }
}
