//! Reading a strategy file: each wrong key and value is reported with its place, all of them at
//! once.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};
use syrch_core::roles::Role;
use syrch_core::text::nearest;

use super::error::StrategyError;
use super::policy::{LIMITS, Limit};
use super::{Definition, FLOW, NOBODY, Part};
use crate::settings::PluginSource;
use crate::yaml::{self, Location, Pair, Spanned, Tree};

const KEYS: [&str; 7] = ["name", "summary", "idea", "when", "roles", "flow", "policy"];
const PART: [&str; 2] = ["plugin", "config"];
/// The keys that belong in config files, and never here.
const ELSEWHERE: [&str; 8] =
    ["llm", "execution", "cache", "journal", "retrieval", "telemetry", "plugins", "settings"];
/// The limits on the length of a name and of any text, in bytes.
const NAME: usize = 64;
const TEXT: usize = 4_096;

/// Reads a file's text. Paths of plugins start from `folder`; what is left out is as in `default`.
pub(super) fn read(
    text: &str,
    file: &str,
    folder: Option<&Path>,
    default: Option<&Definition>,
) -> Result<Definition, StrategyError> {
    let invalid = |problems| Err(StrategyError::Invalid { problems });
    if text.lines().all(|line: &str| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return invalid(vec![format!(
            "{file}: is empty; a strategy has at least `name` and `roles`"
        )]);
    }
    let tree = match yaml::read(text) {
        Ok(tree) => tree,
        Err((at, why)) => return invalid(vec![format!("{}: {why}", yaml::place(file, at))]),
    };
    let mut reader = Reader { file, folder, problems: Vec::new() };
    let definition = reader.document(tree, default);
    if reader.problems.is_empty() { Ok(definition) } else { invalid(reader.problems) }
}

struct Reader<'a> {
    file: &'a str,
    folder: Option<&'a Path>,
    problems: Vec<String>,
}

impl Reader<'_> {
    fn problem(&mut self, at: Location, message: &str) {
        self.problems.push(format!("{}: {message}", yaml::place(self.file, Some(at))));
    }

    fn report_unknown(&mut self, at: Location, what: &str, key: &str, known: &[&str]) {
        let hint = did_you_mean(key, known.iter().copied());
        self.problem(at, &format!("unknown {what} `{key}`{hint}"));
    }

    fn pairs(&mut self, what: &str, tree: Spanned<Tree>) -> Vec<Pair> {
        match tree.value {
            Tree::Map(pairs) => pairs,
            Tree::Leaf(Value::Null) => Vec::new(),
            Tree::Leaf(_) | Tree::List(_) => {
                self.problem(
                    tree.referenced,
                    &format!("{what} must be a mapping of keys and values"),
                );
                Vec::new()
            }
        }
    }

    fn document(&mut self, tree: Spanned<Tree>, default: Option<&Definition>) -> Definition {
        let mut definition = Definition {
            name: String::new(),
            summary: String::new(),
            idea: String::new(),
            when: String::new(),
            roles: BTreeMap::new(),
            policy: Map::new(),
            file: self.file.to_owned(),
            path: None,
        };
        let start = tree.referenced;
        let mut has_roles = false;
        let mut unfilled = Vec::new();
        let mut flow = None;
        for (key, value) in self.pairs("a strategy file", tree) {
            match key.value.as_str() {
                "name" => definition.name = self.name(value),
                "summary" => definition.summary = self.text("summary", value, true),
                "idea" => definition.idea = self.text("idea", value, false),
                "when" => definition.when = self.text("when", value, false),
                "policy" => definition.policy = self.policy(value),
                "roles" => {
                    let pairs = self.pairs("`roles`", value);
                    has_roles = !pairs.is_empty();
                    pairs
                        .into_iter()
                        .for_each(|pair| self.role(pair, &mut definition, &mut unfilled));
                }
                "flow" => flow = Some((key.referenced, value)),
                section if ELSEWHERE.contains(&section) => self.problem(
                    key.referenced,
                    &format!(
                        "`{section}` belongs in a config file; a strategy is roles and a policy"
                    ),
                ),
                other => self.report_unknown(key.referenced, "key", other, &KEYS),
            }
        }
        if let Some((at, tree)) = flow {
            has_roles = true;
            self.flow(at, tree, &mut definition);
        }
        if let Some(part) = definition.roles.get(&Role::Solver) {
            self.check_flow(part);
        }
        if let (Some(folder), Some(_)) = (self.folder, definition.flow()) {
            definition.set_paths(|path| folder.join(path));
        }
        let mut missing = |is_there: bool, what: &str| {
            if !is_there && self.problems.is_empty() {
                self.problem(start, what);
            }
        };
        missing(!definition.name.is_empty(), "the strategy has no `name`");
        missing(
            has_roles,
            "`roles` names no plugin; a strategy names at least one, as in `roles: \
             {solver: NAME}`, or has a `flow`",
        );
        for (role, part) in default.iter().flat_map(|default| &default.roles) {
            if !unfilled.contains(role) {
                definition.roles.entry(*role).or_insert_with(|| Part {
                    is_inherited: true,
                    at: None,
                    places: BTreeMap::new(),
                    ..part.clone()
                });
            }
        }
        definition
    }

    fn name(&mut self, tree: Spanned<Tree>) -> String {
        let at = tree.referenced;
        let name = tree.value.value();
        match name.as_str().filter(|name: &&str| {
            name.len() <= NAME
                && name.starts_with(|c: char| c.is_ascii_alphanumeric())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
        }) {
            Some(name) => name.to_owned(),
            None => {
                self.problem(
                    at,
                    &format!(
                        "name: {name} is no name: letters, digits, `.`, `_` and `-`, at most {NAME}"
                    ),
                );
                String::new()
            }
        }
    }

    fn text(&mut self, key: &str, tree: Spanned<Tree>, is_line: bool) -> String {
        let at = tree.referenced;
        let value = tree.value.value();
        match value {
            Value::Null => String::new(),
            Value::String(text)
                if text.len() <= TEXT && !(is_line && text.trim_end().contains('\n')) =>
            {
                text.trim_end().to_owned()
            }
            _ => {
                let line = if is_line { "of one line, " } else { "" };
                self.problem(at, &format!("{key}: is not a text {line}at most {TEXT} bytes long"));
                String::new()
            }
        }
    }

    fn policy(&mut self, tree: Spanned<Tree>) -> Map<String, Value> {
        let mut policy = Map::new();
        for (key, tree) in self.pairs("`policy`", tree) {
            let name = key.value;
            let at = tree.referenced;
            let value = tree.value.value();
            match Limit::for_key(&name) {
                None => self.report_unknown(
                    key.referenced,
                    "key in `policy`",
                    &name,
                    &LIMITS.each_ref().map(|limit| limit.key),
                ),
                Some(limit) if limit.admits(&value) => drop(policy.insert(name, value)),
                Some(limit) => {
                    self.problem(
                        at,
                        &format!("policy.{name}: {value} is not {}", limit.describe_range()),
                    );
                }
            }
        }
        policy
    }

    fn role(&mut self, (key, tree): Pair, definition: &mut Definition, unfilled: &mut Vec<Role>) {
        let Some(role) = Role::ALL.into_iter().find(|role| role.name() == key.value) else {
            return self.report_unknown(
                key.referenced,
                "role",
                &key.value,
                &Role::ALL.map(Role::name),
            );
        };
        let mut plugin = None;
        let mut config = Map::new();
        let mut places = BTreeMap::new();
        let at = tree.referenced;
        match tree.value {
            Tree::Map(pairs) => {
                for (key, tree) in pairs {
                    match key.value.as_str() {
                        "plugin" => plugin = Some((tree.value.value(), tree.referenced)),
                        "config" => (config, places) = self.config(role, tree),
                        name => self.report_unknown(key.referenced, "key of a role", name, &PART),
                    }
                }
            }
            other => plugin = Some((other.value(), at)),
        }
        let Some((word, at)) = plugin else {
            return self.problem(
                key.referenced,
                &format!("roles.{role}: `plugin` is missing: which plugin implements the role?"),
            );
        };
        match word.as_str().map(str::trim).filter(|word| !word.is_empty() && !word.contains('\0')) {
            Some(NOBODY) if role == Role::Linker && config.is_empty() => unfilled.push(role),
            Some(NOBODY) => {
                self.problem(
                    at,
                    &format!(
                        "roles.{role}: only the linker's role may be left to nobody, and then \
                         without config"
                    ),
                );
            }
            Some(word) => {
                let plugin = self.source(word);
                definition.roles.insert(
                    role,
                    Part { plugin, config, is_inherited: false, at: Some(at), places },
                );
            }
            None => self.problem(at, &format!("roles.{role}: {word} names no plugin")),
        }
    }

    /// A path starts from the strategy file.
    fn source(&self, word: &str) -> PluginSource {
        match (PluginSource::parse(word), self.folder) {
            (PluginSource::File(path), Some(folder)) => PluginSource::File(folder.join(path)),
            (source, _) => source,
        }
    }

    fn config(
        &mut self,
        role: Role,
        tree: Spanned<Tree>,
    ) -> (Map<String, Value>, BTreeMap<String, Location>) {
        let pairs = self.pairs(&format!("roles.{role}.config"), tree);
        let mut places = BTreeMap::new();
        for (key, tree) in &pairs {
            places.insert(key.value.clone(), key.referenced);
            find_places(&key.value, tree, &mut places);
        }
        (pairs.into_iter().map(|(key, tree)| (key.value, tree.value.value())).collect(), places)
    }

    /// A flow is a setting of the solver that runs flows.
    fn flow(&mut self, at: Location, tree: Spanned<Tree>, definition: &mut Definition) {
        let part = definition.roles.entry(Role::Solver).or_insert_with(|| Part {
            at: Some(at),
            ..Part::new(PluginSource::Builtin(FLOW.to_owned()), Map::new())
        });
        if part.plugin != PluginSource::Builtin(FLOW.to_owned()) {
            let plugin = part.plugin.to_string();
            return self.problem(
                at,
                &format!(
                    "a flow is run by the solver `{FLOW}`, and `roles.solver` names `{plugin}`"
                ),
            );
        }
        if part.config.contains_key(FLOW) {
            return self.problem(
                at,
                &format!(
                    "the solver has a flow in `roles.solver.config.{FLOW}`; keep one of the two"
                ),
            );
        }
        part.places.insert(FLOW.to_owned(), at);
        find_places(FLOW, &tree, &mut part.places);
        part.config.insert(FLOW.to_owned(), tree.value.value());
    }

    /// Reports the errors in the nodes and edges of a flow, each with its place.
    fn check_flow(&mut self, part: &Part) {
        let flow =
            part.config.get(FLOW).filter(|_| part.plugin == PluginSource::Builtin(FLOW.to_owned()));
        for problem in flow.map(syrch_flows::read).and_then(Result::err).into_iter().flatten() {
            let path: Vec<&str> =
                [FLOW].into_iter().chain(problem.path.iter().map(String::as_str)).collect();
            let place = (1..=path.len())
                .rev()
                .find_map(|length| part.places.get(&path[..length].join(".")));
            let hint = problem
                .unknown
                .as_ref()
                .map(|(word, known)| did_you_mean(word, known.iter().map(String::as_str)));
            let hint = hint.unwrap_or_default();
            let path = path.join(".");
            let place = yaml::place(self.file, place.copied().or(part.at));
            self.problems.push(format!("{place}: {path}: {}{hint}", problem.why));
        }
    }
}

/// The places of the keys below a value, each under the keys that lead to it, with dots between
/// them.
fn find_places(path: &str, tree: &Spanned<Tree>, places: &mut BTreeMap<String, Location>) {
    let Tree::Map(pairs) = &tree.value else { return };
    for (key, tree) in pairs {
        let path = format!("{path}.{}", key.value);
        places.insert(path.clone(), key.referenced);
        find_places(&path, tree, places);
    }
}

/// The names nearest to a wrong one, as the end of a sentence.
pub(super) fn did_you_mean<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    suggestion(&nearest(wrong, known))
}

/// Names as the end of a sentence. If there are none, it is empty.
pub(super) fn suggestion(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => format!("; did you mean {last}?"),
        Some((last, rest)) => format!("; did you mean {} or {last}?", rest.join(", ")),
    }
}
