//! Config files: YAML, each wrong key and value reported with its place, and the rules for files that are a stranger's.

mod mapping;

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use serde_json::Value;
use serde_saphyr::{Location, Spanned};
use syrch::PluginSource;
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::text::nearest;

use super::kind::Kind;
use super::parameter::Target;
use super::spec::{self, SPECS, Spec, Stranger};
use super::yaml::{self, Pair, Tree};
use super::{Effective, Origin};
use crate::failure::{Failure, Outcome};
use mapping::Mention;

/// Bytes of a config file at most.
const LARGEST: u64 = 256 << 10;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The user's own: in the home, or named by `--config`.
    User,
    /// Found in the current folder.
    Stranger,
}

/// One thing that a file sets.
pub(crate) enum Entry {
    /// An option.
    Option(&'static Spec, Value, Origin),
    /// A plugin's own setting, or a setting by name.
    Parameter(Target, String, Value, Origin),
}

/// Reads a file; `name` is what the user calls it.
pub(crate) fn read(path: &Path, name: &str, trust: Trust) -> Outcome<Vec<Entry>> {
    let text = text_of(path, trust).map_err(|why| {
        Failure::config(format!("config file `{name}`: {why}"))
            .hint("check the path; `syrch-host config` shows what is in force")
    })?;
    entries(&text, name, trust)
}

fn text_of(path: &Path, trust: Trust) -> Result<String, String> {
    let fits = |data: Metadata| match data.is_dir() {
        true => Err("is a folder".to_owned()),
        // Opening a pipe waits for a writer, and a device may never end. The user may name one, such as `<(…)` of a shell; a
        // stranger may not.
        false if trust == Trust::Stranger && !data.is_file() => {
            Err("is a special file, such as a pipe or a device".to_owned())
        }
        false => Ok(()),
    };
    let told = |error: std::io::Error| error.to_string();
    std::fs::metadata(path).map_err(told).and_then(fits)?;
    let file = File::open(path).map_err(told)?;
    file.metadata().map_err(told).and_then(fits)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(told)?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("is larger than {} KiB", LARGEST >> 10));
    }
    String::from_utf8(bytes).map_err(|error| format!("is not UTF-8 (byte {})", error.utf8_error().valid_up_to()))
}

fn entries(text: &str, name: &str, trust: Trust) -> Outcome<Vec<Entry>> {
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Vec::new());
    }
    let tree = yaml::read(text).map_err(|(at, why)| {
        Failure::config(format!("{}: {why}", place(name, at)))
            .hint("correct the file at that place: a line is `key: value`, and the keys of a section stand below it, indented by two spaces")
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
        Trust::Stranger => failure.hint(format!(
            "`{name}` lies in the current folder and may be a stranger's; if you trust it, pass `--config {name}`"
        )),
        Trust::User => failure.hint("`syrch-host config` prints all keys with their values"),
    })
}

fn place(name: &str, location: Option<Location>) -> String {
    match location {
        Some(at) if at.line() > 0 => format!("{name}:{}:{}", at.line(), at.column()),
        _ => name.to_owned(),
    }
}

const SECTIONS: &[&str] = &[
    "llm",
    "execution",
    "cache",
    "journal",
    #[cfg(feature = "otel")]
    "telemetry",
    "plugins",
    "settings",
];

/// Whether a number is no larger than a limit, which may be none.
fn is_at_most(value: &Value, limit: &Value) -> bool {
    limit.as_f64().is_none_or(|limit| value.as_f64().is_some_and(|value| value <= limit))
}

/// Walks a document and keeps what it sets and what is wrong with it.
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

    fn unknown(&mut self, at: Location, what: &str, key: &str, known: &[&str]) {
        let similar = crate::failure::alternatives(&nearest(key, known.iter().copied()));
        let hint = similar.map(|names| format!("; did you mean {names}?")).unwrap_or_default();
        self.problem(at, format!("unknown {what} `{key}`{hint}"));
    }

    fn pairs(&mut self, what: &str, tree: Spanned<Tree>) -> Vec<Pair> {
        match tree.value {
            Tree::Map(pairs) => pairs,
            Tree::Leaf(Value::Null) => Vec::new(),
            Tree::Leaf(_) => {
                self.problem(tree.referenced, format!("{what} must be a mapping of keys and values"));
                Vec::new()
            }
        }
    }

    fn document(&mut self, tree: Spanned<Tree>) {
        for (section, content) in self.pairs("a config file", tree) {
            match section.value.as_str() {
                "plugins" => self.plugins(content),
                "settings" => self.parameters(Target::Setting, content),
                name if SECTIONS.contains(&name) => {
                    for (key, value) in self.pairs(name, content) {
                        self.option(name, key, value);
                    }
                }
                name => self.unknown(section.referenced, "section", name, SECTIONS),
            }
        }
    }

    fn option(&mut self, section: &str, key: Spanned<String>, value: Spanned<Tree>) {
        let full = format!("{section}.{}", key.value);
        match spec::find(&full) {
            Some(spec) => match spec.kind {
                Kind::Mapping(mapping) => self.mapping(spec, mapping, key.referenced, value),
                _ => self.value(spec, value),
            },
            None => {
                let prefix = format!("{section}.");
                let known: Vec<&str> = SPECS.iter().filter_map(|spec| spec.key.strip_prefix(prefix.as_str())).collect();
                self.unknown(key.referenced, &format!("key in `{section}`"), &key.value, &known);
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
            Ok(value) => match self.forbidden(spec, &value) {
                Some(why) => self.problem(at, format!("{} {why}", spec.key)),
                None => self.entries.push(Entry::Option(spec, value, self.origin(at))),
            },
        }
    }

    fn forbidden(&self, spec: &Spec, value: &Value) -> Option<&'static str> {
        if self.trust == Trust::User {
            return None;
        }
        match spec.stranger {
            Stranger::Sets => None,
            Stranger::Lowers if is_at_most(value, &spec.get(&self.defaults)) => None,
            Stranger::Lowers => Some("may only be lowered by a file found in a folder"),
            Stranger::NamesBuiltin => match PluginSource::parse(value.as_str().unwrap_or_default()) {
                PluginSource::Builtin(_) => None,
                PluginSource::File(_) => Some("may only name a built-in plugin in a file found in a folder"),
            },
            Stranger::Never => Some("may not be set by a file found in a folder"),
        }
    }

    fn origin(&self, at: Location) -> Origin {
        Origin::File { path: self.name.to_owned(), line: at.line() }
    }

    fn plugins(&mut self, content: Spanned<Tree>) {
        for (key, tree) in self.pairs("plugins", content) {
            let Some(role) = Role::ALL.into_iter().find(|role| role.name() == key.value) else {
                self.unknown(key.referenced, "role", &key.value, &Role::ALL.map(Role::name));
                continue;
            };
            let Some(spec) = spec::find(&format!("plugins.{role}")) else { continue };
            if matches!(tree.value, Tree::Leaf(_)) {
                self.value(spec, tree);
                continue;
            }
            for (key, value) in self.pairs("a plugin", tree) {
                match key.value.as_str() {
                    "plugin" => self.value(spec, value),
                    "config" => self.parameters(Target::Role(role), value),
                    name => self.unknown(key.referenced, "key of a plugin", name, &["plugin", "config"]),
                }
            }
        }
    }

    fn parameters(&mut self, target: Target, content: Spanned<Tree>) {
        for (key, value) in self.pairs("a plugin's config", content) {
            let origin = self.origin(value.referenced);
            self.entries.push(Entry::Parameter(target, key.value, value.value.value(), origin));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(super) fn problems(text: &str, trust: Trust) -> String {
        entries(text, "f.yml", trust).err().map(|failure| failure.message).unwrap_or_default()
    }

    #[test]
    fn a_founding_file_is_read_with_its_places() {
        let text = "# founding\nllm:\n  model: m\n  temperature: 0\nexecution:\n  token_budget: 5\n  verbose: true\nplugins:\n  planner: decompose\n  solver:\n    plugin: p/refine.wasm\n    config: {rounds: 3}\nsettings:\n  colour: {a: [1]}\n";
        let entries = entries(text, "f.yml", Trust::User).unwrap();
        let shown: Vec<String> = entries
            .into_iter()
            .map(|entry| match entry {
                Entry::Option(spec, value, origin) => format!("{}={value} {origin}", spec.key),
                Entry::Parameter(target, key, value, origin) => format!("{target}.{key}={value} {origin}"),
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
        let text = "llm:\n  modle: x\n  temperature: hot\nexecution:\n  max_depth: 0\n  cache_enabled: true\nexekution: {}\nplugins:\n  planer: x\n";
        assert_eq!(
            problems(text, Trust::User).lines().collect::<Vec<_>>(),
            [
                "f.yml:2:3: unknown key in `llm` `modle`; did you mean `model` or `models`?",
                "f.yml:3:16: llm.temperature: `hot` is not a number from 0 to 2",
                "f.yml:5:14: execution.max_depth: `0` is not a whole number from 1 to 16",
                "f.yml:6:3: unknown key in `execution` `cache_enabled`",
                "f.yml:7:1: unknown section `exekution`; did you mean `execution`?",
                "f.yml:9:3: unknown role `planer`; did you mean `planner`?",
            ]
        );
    }

    #[test]
    fn broken_yaml_is_an_error_with_its_place() {
        assert!(problems("llm:\n  model: a\n  model: b\n", Trust::User).starts_with("f.yml:3:3: "));
        assert!(problems("llm: [\n", Trust::User).starts_with("f.yml:"));
        assert_eq!(problems("- a\n", Trust::User), "f.yml:1:1: a config file must be a mapping of keys and values");
        assert_eq!(problems("\n# nothing\n", Trust::User), "");
        let bomb = (1..20).fold("a0: &a0 [x, x]\n".to_owned(), |text, n| {
            let before = n - 1;
            format!("{text}a{n}: &a{n} [*a{before}, *a{before}, *a{before}, *a{before}]\n")
        });
        assert!(!problems(&bomb, Trust::User).is_empty());
    }

    #[test]
    fn a_strangers_file_sets_only_what_is_harmless() {
        for forbidden in [
            "llm: {base_url: \"http://e.example/v1\"}",
            "llm: {api_key: stolen}",
            "llm: {provider: openai}",
            "execution: {db_path: x.sqlite}",
            "execution: {rows: full}",
            "execution: {tables: [a]}",
            "execution: {token_budget: 100001}",
            "llm: {requests_per_minute: 1}",
            "llm: {tokens_per_minute: 1}",
            "llm: {in_flight: 1}",
            "llm: {attempts: 1}",
            "llm: {max_retry_wait_seconds: 1}",
            "cache: {enabled: false}",
            "cache: {ttl_seconds: 9}",
            "cache: {max_bytes: 9}",
            "plugins: {solver: ./evil.wasm}",
            "plugins: {solver: {plugin: /evil.wasm}}",
        ] {
            assert!(problems(forbidden, Trust::Stranger).contains("found in a folder"), "{forbidden}");
            assert_eq!(problems(forbidden, Trust::User), "", "{forbidden}");
        }
        #[cfg(feature = "otel")]
        for forbidden in ["telemetry: {otlp_endpoint: 'http://evil'}", "telemetry: {otlp_sql: true}"] {
            assert!(problems(forbidden, Trust::Stranger).contains("found in a folder"), "{forbidden}");
            assert_eq!(problems(forbidden, Trust::User), "", "{forbidden}");
        }
        let harmless = "llm: {temperature: 0.1}\nexecution: {max_depth: 2, token_budget: 500, max_usd: 0.5}\nplugins: {solver: refine}\n";
        assert_eq!(problems(harmless, Trust::Stranger), "");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[ -~\n]{0,200}") {
            let _ = entries(&text, "f.yml", Trust::User);
        }
    }
}
