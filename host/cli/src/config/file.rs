//! Config files: YAML, each wrong key and value reported with its place, and the rules for
//! untrusted files.

mod mapping;

use std::path::Path;

use serde_json::Value;
use syrch::settings::PluginSource;
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::text::nearest;
use syrch::yaml::{self, Location, Pair, Spanned, Tree, place};

use super::entry::Entry;
use super::kind::Kind;
use super::options::{self, SPECS};
use super::parameter::Target;
use super::spec::{DATABASES, DRIVERS, STRATEGY, Spec, WhenFound};
use super::{Effective, Origin, earlier, is_builtin};
use crate::failure::{Failure, Outcome};
use crate::shell;
use mapping::Mention;

/// The trust in a file: whether the user vouches for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The user's own: in the home, or named by `--config`.
    User,
    /// Found in the current folder.
    Untrusted,
}

/// Reads a file, which errors call `name`.
pub(crate) fn read(path: &Path, name: &str, trust: Trust) -> Outcome<Vec<Entry>> {
    // The user may name a pipe or a link; a file that was found may not: the one never ends, and
    // errors would quote what the other leads to.
    let text = yaml::text_of(path, trust == Trust::Untrusted).map_err(|why| {
        let failure = Failure::config(format!("config file `{name}`: {why}"));
        match trust {
            Trust::User => {
                failure.hint("check the path; `syrch-host config` shows what is in force")
            }
            Trust::Untrusted => failure.hint(if_trusted(name)),
        }
    })?;
    entries(&text, name, trust)
}

fn entries(text: &str, name: &str, trust: Trust) -> Outcome<Vec<Entry>> {
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Vec::new());
    }
    let tree = yaml::read(text).map_err(|(at, why)| {
        Failure::config(format!("{}: {why}", place(name, at))).hint(
            "correct the file at that place: a line is `key: value`, and the keys of a section \
             stand below it, indented by two spaces",
        )
    })?;
    let mut reader = Reader {
        name,
        trust,
        defaults: Effective::default(),
        entries: Vec::new(),
        problems: Vec::new(),
        mentions: Vec::new(),
    };
    reader.document(tree);
    if reader.problems.is_empty() {
        reader.check_mentions();
    }
    if reader.problems.is_empty() {
        return Ok(reader.entries);
    }
    let failure = Failure::config(reader.problems.join("\n"));
    Err(match trust {
        Trust::Untrusted => failure.hint(if_trusted(name)),
        Trust::User => failure.hint("`syrch-host config` prints all keys with their values"),
    })
}

/// The hint for a file that was found in the current folder.
fn if_trusted(name: &str) -> String {
    format!(
        "`{name}` lies in the current folder and may be somebody else's; if you trust it, pass \
         `--config {}`",
        shell::quote(name)
    )
}

/// The top-level keys of a file: the sections of the options, and that of settings by name.
fn sections() -> Vec<&'static str> {
    let mut sections: Vec<&str> =
        SPECS.iter().map(|spec| spec.key.split('.').next().unwrap_or(spec.key)).collect();
    sections.dedup();
    sections.push("settings");
    sections
}

/// Returns true if a value is at most a limit. A limit that is no number allows every value; a
/// value that is no number has no limit and is above every other limit.
pub(super) fn is_at_most(value: &Value, limit: &Value) -> bool {
    limit.as_f64().is_none_or(|limit| value.as_f64().is_some_and(|value| value <= limit))
}

/// The error of an option that an untrusted file may not set.
const NOT_FOUND: &str = "may not be set by a file found in a folder";

/// The error of a plugin that an untrusted file may not name.
const ONLY_BUILTIN: &str = "may only name a built-in plugin in a file found in a folder";
/// The setting by which a node of a flow names the plugin that it hands its task to.
const PLUGIN: &str = "plugin";
/// Values deep at most: what is deeper is refused in an untrusted file.
const DEEPEST: usize = 64;

/// Returns true if a value is the name of a built-in plugin.
fn is_builtin_source(value: &Value) -> bool {
    match PluginSource::parse(value.as_str().unwrap_or_default()) {
        PluginSource::Builtin(name) => is_builtin(&name),
        PluginSource::File(_) => false,
    }
}

/// Returns true if a setting names a plugin that is not built in, itself or at any depth, as the
/// nodes of flows and of inner flows do.
fn names_other_plugin(key: &str, value: &Value, depth: usize) -> bool {
    if depth > DEEPEST {
        return true;
    }
    if key == PLUGIN && !is_builtin_source(value) {
        return true;
    }
    match value {
        Value::Object(members) => {
            members.iter().any(|(key, inner)| names_other_plugin(key, inner, depth + 1))
        }
        Value::Array(items) => items.iter().any(|inner| names_other_plugin("", inner, depth + 1)),
        _ => false,
    }
}

/// Returns true if a file that was found in a folder may hold settings for that target. Calibrator
/// and reward decide how sure an answer is, and settings by name reach every plugin.
fn may_be_found(target: Target) -> bool {
    match target {
        Target::Role(
            Role::Linker
            | Role::Planner
            | Role::Solver
            | Role::Clarifier
            | Role::Aggregator
            | Role::Rewriter,
        ) => true,
        Target::Role(Role::Calibrator | Role::Reward) | Target::Setting | Target::Any => false,
    }
}

/// Walks a document and collects its entries and its mistakes.
struct Reader<'a> {
    name: &'a str,
    trust: Trust,
    defaults: Effective,
    entries: Vec<Entry>,
    problems: Vec<String>,
    mentions: Vec<Mention>,
}

impl Reader<'_> {
    fn problem(&mut self, at: Location, message: String) {
        self.problems.push(format!("{}: {message}", place(self.name, Some(at))));
    }

    fn report_unknown(&mut self, at: Location, what: &str, key: &str, known: &[&str]) {
        let similar = crate::failure::alternatives(&nearest(key, known.iter().copied()));
        let hint = similar.map(|names| format!("; did you mean {names}?")).unwrap_or_default();
        self.problem(at, format!("unknown {what} `{key}`{hint}"));
    }

    fn pairs(&mut self, what: &str, tree: Spanned<Tree>) -> Vec<Pair> {
        match tree.value {
            Tree::Map(pairs) => pairs,
            Tree::Leaf(Value::Null) => Vec::new(),
            Tree::Leaf(_) | Tree::List(_) => {
                self.problem(
                    tree.referenced,
                    format!("{what} must be a mapping of keys and values"),
                );
                Vec::new()
            }
        }
    }

    fn document(&mut self, tree: Spanned<Tree>) {
        for (section, content) in self.pairs("a config file", tree) {
            match section.value.as_str() {
                STRATEGY => {
                    if let Some(spec) = options::find(STRATEGY) {
                        self.value(spec, content);
                    }
                }
                name @ (DATABASES | DRIVERS) => {
                    if let Some((spec, Kind::Mapping(mapping))) =
                        options::find(name).map(|spec| (spec, spec.kind))
                    {
                        self.mapping(spec, mapping, section.referenced, content);
                    }
                }
                "plugins" => self.plugins(content),
                "settings" => self.parameters(Target::Setting, content),
                name if sections().contains(&name) => {
                    for (key, value) in self.pairs(name, content) {
                        self.option(name, key, value);
                    }
                }
                name => self.report_unknown(section.referenced, "section", name, &sections()),
            }
        }
    }

    fn option(&mut self, section: &str, key: Spanned<String>, value: Spanned<Tree>) {
        let full = format!("{section}.{}", key.value);
        match options::find(&full) {
            Some(spec) => match spec.kind {
                Kind::Mapping(mapping) => self.mapping(spec, mapping, key.referenced, value),
                _ => self.value(spec, value),
            },
            // A section in a section.
            None if SPECS.iter().any(|spec| {
                spec.key.strip_prefix(full.as_str()).is_some_and(|rest| rest.starts_with('.'))
            }) =>
            {
                for (key, value) in self.pairs(&full, value) {
                    self.option(&full, key, value);
                }
            }
            None => {
                if let Some(instead) = earlier::key(&full) {
                    let origin = self.origin(key.referenced);
                    self.entries.push(Entry::Replaced(full, instead, origin));
                    return;
                }
                let prefix = format!("{section}.");
                let known: Vec<&str> = SPECS
                    .iter()
                    .filter_map(|spec| spec.key.strip_prefix(prefix.as_str()))
                    .collect();
                self.report_unknown(
                    key.referenced,
                    &format!("key in `{section}`"),
                    &key.value,
                    &known,
                );
            }
        }
    }

    fn value(&mut self, spec: &'static Spec, tree: Spanned<Tree>) {
        let at = tree.referenced;
        let value = tree.value.value();
        // `key:` with nothing behind it leaves the option as it was.
        if value.is_null() {
            return;
        }
        match spec.kind.check(value) {
            Err(why) => self.problem(at, format!("{}: {why}", spec.key)),
            Ok(value) => match self.why_forbidden(spec, &value) {
                Some(why) => self.problem(at, format!("{} {why}", spec.key)),
                None => self.entries.push(Entry::Option(spec, value, self.origin(at))),
            },
        }
    }

    fn why_forbidden(&self, spec: &Spec, value: &Value) -> Option<&'static str> {
        if self.trust == Trust::User {
            return None;
        }
        match spec.when_found {
            WhenFound::KeepsDefault if *value == spec.get(&self.defaults) => None,
            WhenFound::SetsOfBuiltin(_) => None,
            WhenFound::Lowers if is_at_most(value, &spec.get(&self.defaults)) => None,
            WhenFound::Lowers => Some("may only be lowered by a file found in a folder"),
            // An added plugin is used only where the user names it.
            WhenFound::NamesBuiltin if is_builtin_source(value) => None,
            WhenFound::NamesBuiltin => Some(ONLY_BUILTIN),
            WhenFound::KeepsDefault | WhenFound::Never => Some(NOT_FOUND),
        }
    }

    fn origin(&self, at: Location) -> Origin {
        Origin::File { path: self.name.to_owned(), line: at.line() }
    }

    fn plugins(&mut self, content: Spanned<Tree>) {
        for (key, tree) in self.pairs("plugins", content) {
            let Some(role) = Role::ALL.into_iter().find(|role| role.name() == key.value) else {
                self.report_unknown(key.referenced, "role", &key.value, &Role::ALL.map(Role::name));
                continue;
            };
            let Some(spec) = options::find(&format!("plugins.{role}")) else { continue };
            if !matches!(tree.value, Tree::Map(_)) {
                self.value(spec, tree);
                continue;
            }
            let mut pairs = self.pairs("a plugin", tree);
            // In whatever order they stand, the config is that of this plugin.
            pairs.sort_by_key(|(key, _)| key.value != "plugin");
            for (key, value) in pairs {
                match key.value.as_str() {
                    "plugin" => self.value(spec, value),
                    "config" => self.parameters(Target::Role(role), value),
                    name => self.report_unknown(
                        key.referenced,
                        "key of a plugin",
                        name,
                        &["plugin", "config"],
                    ),
                }
            }
        }
    }

    fn parameters(&mut self, target: Target, content: Spanned<Tree>) {
        for (key, value) in self.pairs("a plugin's config", content) {
            if self.trust == Trust::Untrusted && !may_be_found(target) {
                self.problem(key.referenced, format!("{} {NOT_FOUND}", target.key(&key.value)));
                continue;
            }
            let origin = self.origin(value.referenced);
            let setting = value.value.value();
            if self.trust == Trust::Untrusted && names_other_plugin(&key.value, &setting, 0) {
                self.problem(key.referenced, format!("{} {ONLY_BUILTIN}", target.key(&key.value)));
                continue;
            }
            self.entries.push(Entry::Parameter(target, key.value, setting, origin));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    pub(super) fn problems(text: &str, trust: Trust) -> String {
        entries(text, "f.yml", trust).err().map(|failure| failure.message).unwrap_or_default()
    }

    #[test]
    fn a_file_of_syrch_0_1_2_is_read_with_its_places() {
        let text = "# syrch 0.1.2\nllm:\n  model: m\n  temperature: 0\nexecution:\n  token_budget: \
                    5\n  verbose: true\nplugins:\n  planner: decompose\n  solver:\n    plugin: \
                    p/refine.wasm\n    config: {rounds: 3}\nsettings:\n  colour: {a: [1]}\n";
        let entries = entries(text, "f.yml", Trust::User).unwrap();
        let shown: Vec<String> = entries
            .into_iter()
            .map(|entry| match entry {
                Entry::Option(spec, value, origin) => format!("{}={value} {origin}", spec.key),
                Entry::Parameter(target, key, value, origin) => {
                    format!("{target}.{key}={value} {origin}")
                }
                Entry::Replaced(key, _, origin) => format!("{key} {origin}"),
            })
            .collect();
        assert_eq!(
            shown,
            [
                "llm.model=\"m\" f.yml:3",
                "llm.temperature=0 f.yml:4",
                "execution.token_budget=5 f.yml:6",
                "execution.verbose=true f.yml:7",
                "plugins.planner=\"decompose\" f.yml:9",
                "plugins.solver=\"p/refine.wasm\" f.yml:11",
                "solver.rounds=3 f.yml:12",
                "settings.colour={\"a\":[1]} f.yml:14",
            ]
        );
    }

    #[test]
    fn every_wrong_key_and_value_is_named_with_its_place() {
        let text = "llm:\n  modle: x\n  temperature: hot\nexecution:\n  max_depth: 0\n  \
                    cache_enabeld: true\nexekution: {}\nplugins:\n  planer: x\n";
        assert_eq!(
            problems(text, Trust::User).lines().collect::<Vec<_>>(),
            [
                "f.yml:2:3: unknown key in `llm` `modle`; did you mean `model` or `models`?",
                "f.yml:3:16: llm.temperature: `hot` is not a number from 0 to 2",
                "f.yml:5:14: execution.max_depth: `0` is not a whole number from 1 to 16",
                "f.yml:6:3: unknown key in `execution` `cache_enabeld`",
                "f.yml:7:1: unknown section `exekution`; did you mean `execution`?",
                "f.yml:9:3: unknown role `planer`; did you mean `planner` or `linker`?",
            ]
        );
    }

    #[test]
    fn a_plugins_config_is_its_own_wherever_it_stands() {
        let text =
            "strategy: own.yml\nplugins:\n  solver:\n    config: {rounds: 3}\n    plugin: other\n";
        let keys =
            entries(text, "f.yml", Trust::User).unwrap().into_iter().map(|entry| match entry {
                Entry::Option(spec, value, origin) => format!("{}={value} {origin}", spec.key),
                Entry::Parameter(target, key, ..) => format!("{target}.{key}"),
                Entry::Replaced(key, ..) => key,
            });
        let keys: Vec<String> = keys.collect();
        assert_eq!(
            keys,
            ["strategy=\"own.yml\" f.yml:1", "plugins.solver=\"other\" f.yml:5", "solver.rounds"]
        );
        assert_eq!(
            problems("strategy: {name: a}", Trust::User),
            "f.yml:1:11: strategy: a mapping is not a text that is not empty"
        );
    }

    #[test]
    fn broken_yaml_is_an_error_with_its_place() {
        assert!(problems("llm:\n  model: a\n  model: b\n", Trust::User).starts_with("f.yml:3:3: "));
        assert!(problems("llm: [\n", Trust::User).starts_with("f.yml:"));
        assert_eq!(
            problems("- a\n", Trust::User),
            "f.yml:1:1: a config file must be a mapping of keys and values"
        );
        assert_eq!(problems("\n# nothing\n", Trust::User), "");
        let bomb = (1..20).fold("a0: &a0 [x, x]\n".to_owned(), |text, n| {
            let before = n - 1;
            format!("{text}a{n}: &a{n} [*a{before}, *a{before}, *a{before}, *a{before}]\n")
        });
        assert!(!problems(&bomb, Trust::User).is_empty());
    }

    /// The options that a file that was found in a folder may only lower. Every option stands in
    /// this list or in one of those below.
    const LOWERED: &[&str] = &[
        "llm.temperature",
        "llm.max_tokens_per_call",
        "llm.timeout_seconds",
        "llm.requests_per_minute",
        "llm.tokens_per_minute",
        "llm.in_flight",
        "llm.attempts",
        "llm.max_retry_wait_seconds",
        "execution.max_depth",
        "execution.max_attempts_per_node",
        "execution.max_rounds",
        "execution.max_concurrency",
        "execution.token_budget",
        "execution.max_usd",
        "execution.max_calls",
        "execution.max_sql_runs",
        "execution.deadline_seconds",
        "execution.max_questions",
        "execution.max_rows",
        "execution.max_bytes",
        "execution.sql_timeout",
        "execution.max_import_rows",
        "execution.max_import_bytes",
    ];
    const NAMED: &[&str] = &[
        "plugins.linker",
        "plugins.planner",
        "plugins.solver",
        "plugins.clarifier",
        "plugins.aggregator",
        "plugins.rewriter",
    ];
    const SET: &[&str] = &["execution.ambiguity_threshold", "execution.summarise"];
    const ONLY_DEFAULTS: &[&str] = &[
        "execution.executor_type",
        "execution.calibration_enabled",
        "execution.interactive",
        "execution.verbose",
        "cache.enabled",
        "cache.ttl_seconds",
    ];
    const REFUSED: &[&str] = &[
        "databases",
        "drivers",
        "llm.provider",
        "llm.model",
        "llm.api_key",
        "llm.base_url",
        "llm.insecure_endpoint",
        "llm.structured",
        "llm.offline_threshold",
        "llm.embeddings",
        "llm.embedding_prefixes.query",
        "llm.embedding_prefixes.document",
        "llm.simulated.skill",
        "llm.simulated.repair_rate",
        "llm.simulated.confidence_bias",
        "llm.simulated.confidence_spread",
        "llm.simulated.false_accept",
        "llm.simulated.false_reject",
        "llm.simulated.input_tokens",
        "llm.simulated.output_tokens",
        "llm.simulated.latency",
        "llm.simulated.rate_limited",
        "llm.simulated.naive",
        "llm.endpoints",
        "llm.models",
        "llm.purposes",
        "llm.prices",
        "execution.db_path",
        "execution.tables",
        "execution.encoding",
        "execution.nulls",
        "execution.decimal",
        "execution.date_order",
        "execution.rows",
        "execution.trust",
        "execution.isolate",
        "execution.lock",
        "execution.high_confidence",
        "execution.seed",
        "execution.min_confidence",
        "semantics.files",
        "retrieval.notes",
        "retrieval.examples",
        "cache.shared",
        "cache.max_bytes",
        "journal.enabled",
        "journal.rows",
        "journal.keep",
        "journal.days",
        "journal.max_bytes",
        "telemetry.otlp_endpoint",
        "telemetry.otlp_sql",
        "strategy",
        "plugins.calibrator",
        "plugins.reward",
    ];

    /// A file that sets one option to a value.
    fn setting(key: &str, value: &Value) -> String {
        key.rsplit('.').fold(value.to_string(), |inner, part| format!("{{{part}: {inner}}}"))
    }

    /// Values that the option may have, the lowest first.
    fn values(spec: &Spec) -> Vec<Value> {
        match spec.kind {
            Kind::Integer(min, max) => vec![json!(min), json!(max)],
            Kind::Number { min, max, .. } => vec![json!(min + (max - min) / 1e6), json!(max)],
            Kind::SecondsOrNone(max) => vec![json!(0.001), json!(max), json!("none")],
            Kind::Boolean => vec![json!(false), json!(true)],
            Kind::EndpointProvider => vec![json!("anthropic")],
            Kind::Choice(words) => words.iter().map(|word| json!(word)).collect(),
            Kind::Globs | Kind::Files | Kind::Texts => vec![json!(["a"])],
            Kind::Encoding => vec![json!("windows-1252"), json!("UTF-16LE")],
            Kind::Rows => vec![json!("none"), json!("full")],
            Kind::Executor => {
                syrch::databases::Executor::all().map(|executor| json!(executor.name())).collect()
            }
            Kind::ModelSource => vec![json!("offline"), json!("openai")],
            Kind::SharedCache => vec![json!("/srv/cache"), json!("redis://host:6379/0")],
            Kind::Mapping(_) => vec![json!({})],
            Kind::Text | Kind::Secret => vec![json!("refine"), json!("./evil.wasm")],
        }
    }

    #[test]
    fn every_option_is_decided_for_a_file_that_was_found() {
        for spec in SPECS {
            let values = values(spec);
            let refused = |value: &Value| problems(&setting(spec.key, value), Trust::Untrusted);
            let default = spec.get(&Effective::default());
            assert_eq!(problems(&setting(spec.key, &values[0]), Trust::User), "", "{}", spec.key);
            match spec.key {
                key if LOWERED.contains(&key) => {
                    assert_eq!(refused(&values[0]), "", "{key}");
                    // What has no limit by default can only be lowered.
                    if !default.is_null() {
                        assert_eq!(refused(&default), "", "{key}");
                        let raised = values[1..].iter().filter(|value| **value != default);
                        raised.for_each(|value| {
                            assert!(refused(value).contains("only be lowered"), "{key}: {value}")
                        });
                    }
                }
                key if NAMED.contains(&key) => {
                    assert_eq!(refused(&values[0]), "", "{key}");
                    assert!(refused(&values[1]).contains("only name a built-in plugin"), "{key}");
                }
                key if ONLY_DEFAULTS.contains(&key) => {
                    assert_eq!(refused(&default), "", "{key}");
                    let others = values.iter().filter(|value| **value != default);
                    others.for_each(|value| {
                        assert!(refused(value).contains(NOT_FOUND), "{key}: {value}")
                    });
                }
                key if SET.contains(&key) => {
                    values.iter().for_each(|value| assert_eq!(refused(value), "", "{key}"))
                }
                key => {
                    assert!(
                        REFUSED.contains(&key),
                        "{key}: may a file set it that was found in a folder?"
                    );
                    values.iter().for_each(|value| {
                        assert!(refused(value).contains(NOT_FOUND), "{key}: {value}")
                    });
                }
            }
        }
    }

    #[test]
    fn a_found_file_sets_nothing_of_calibrator_and_reward_and_nothing_by_name() {
        for role in Role::ALL {
            let text = format!("plugins:\n  {role}:\n    config: {{a: 1}}\n");
            let refused = matches!(role, Role::Calibrator | Role::Reward);
            let expected = format!("f.yml:3:14: plugins.{role}.config.a {NOT_FOUND}");
            assert_eq!(
                problems(&text, Trust::Untrusted),
                if refused { expected } else { String::new() }
            );
            assert_eq!(problems(&text, Trust::User), "");
        }
        assert_eq!(
            problems("settings: {style: short}", Trust::Untrusted),
            format!("f.yml:1:12: settings.style {NOT_FOUND}")
        );
        let aliased = "plugins: {solver: {config: &x {a: 1}}, reward: {config: *x}}";
        assert!(problems(aliased, Trust::Untrusted).contains("plugins.reward.config.a"));
    }

    #[test]
    fn a_flow_in_a_found_file_names_built_in_plugins_alone() {
        for plugin in ["./evil.wasm", "votes", "''", "3"] {
            for node in [
                format!("{{do: solver, settings: {{plugin: {plugin}}}}}"),
                format!("{{do: all, flow: {{start: b, nodes: {{b: {{plugin: {plugin}}}}}}}}}"),
                format!(
                    "{{do: solver, settings: {{plugin: flow, config: [{{plugin: {plugin}}}]}}}}"
                ),
            ] {
                let flow = format!("{{start: a, nodes: {{a: {node}}}}}");
                let text =
                    format!("plugins: {{solver: {{plugin: flow, config: {{flow: {flow}}}}}}}");
                let found = problems(&text, Trust::Untrusted);
                assert!(found.contains(ONLY_BUILTIN) && found.contains("flow"), "{text}: {found}");
                assert_eq!(problems(&text, Trust::User), "", "{text}");
            }
        }
        let own = "plugins: {solver: {plugin: flow, config: {flow: {start: a, nodes: {a: {do: \
                   solver, settings: {plugin: consistency}}}}}}}";
        assert_eq!(problems(own, Trust::Untrusted), "");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[ -~\n]{0,200}") {
            let _ = entries(&text, "f.yml", Trust::User);
        }
    }
}
