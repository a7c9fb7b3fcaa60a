//! Reading a flow: each wrong key and value is reported with its path, all of them at once.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::check::check;
use crate::{
    BRANCHES, COPIES, DEFAULT, Flow, Kind, LEVELS, NAME, NODES, Node, Problem, RETRIES, VISITS,
    WAIT, items,
};

const KEYS: [&str; 2] = ["start", "nodes"];
const NODE: [&str; 11] = [
    "do",
    "settings",
    "next",
    "on",
    "max_visits",
    "max_retries",
    "wait",
    "fallback",
    "flow",
    "times",
    "each",
];

/// Reads a flow and checks it.
///
/// # Errors
/// Everything that is wrong, each with its path. What is found by the shape of the graph is
/// reported once its parts can be read.
pub fn read(document: &Value) -> Result<Flow, Vec<Problem>> {
    let mut reader = Reader { problems: Vec::new(), nodes: 0 };
    let flow = reader.flow(&[], document, 1);
    if reader.problems.is_empty()
        && let Some(flow) = &flow
    {
        check(flow, &[], false, &mut reader.problems);
    }
    match flow {
        Some(flow) if reader.problems.is_empty() => Ok(flow),
        _ => Err(reader.problems),
    }
}

struct Reader {
    problems: Vec<Problem>,
    /// The nodes so far.
    nodes: usize,
}

fn join(path: &[String], key: &str) -> Vec<String> {
    path.iter().cloned().chain([key.to_owned()]).collect()
}

/// A word as people name nodes and actions.
fn is_name(word: &str) -> bool {
    word.len() <= NAME
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

impl Reader {
    fn problem(&mut self, path: &[String], why: impl Into<String>) {
        self.problems.push(Problem { path: path.to_vec(), why: why.into(), unknown: None });
    }

    fn unknown<'a>(
        &mut self,
        path: &[String],
        why: String,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        let known = known.into_iter().map(str::to_owned).collect();
        self.problems.push(Problem {
            path: path.to_vec(),
            why,
            unknown: Some((word.to_owned(), known)),
        });
    }

    fn map<'v>(&mut self, path: &[String], value: &'v Value) -> Option<&'v Map<String, Value>> {
        let map = value.as_object();
        if map.is_none() {
            self.problem(path, "must be a mapping of keys and values");
        }
        map
    }

    fn check_keys(&mut self, path: &[String], map: &Map<String, Value>, known: &[&str]) {
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            self.unknown(
                &join(path, key),
                format!("unknown key `{key}`"),
                key,
                known.iter().copied(),
            );
        }
    }

    fn flow(&mut self, path: &[String], document: &Value, level: usize) -> Option<Flow> {
        let map = self.map(path, document)?;
        self.check_keys(path, map, &KEYS);
        let at = join(path, "nodes");
        let Some(nodes) = map.get("nodes") else {
            self.problem(path, "the flow has no `nodes`");
            return None;
        };
        let nodes = self.map(&at, nodes)?;
        self.nodes += nodes.len();
        if nodes.is_empty() {
            self.problem(&at, "the flow has no node");
            return None;
        }
        if self.nodes > NODES {
            self.problem(
                &at,
                format!("a flow has at most {NODES} nodes, those of inner flows included"),
            );
            return None;
        }
        let names: Vec<&str> = nodes.keys().map(String::as_str).collect();
        let read: Vec<Option<Node>> = nodes
            .iter()
            .map(|(name, node)| self.node(&join(&at, name), name, node, &names, level))
            .collect();
        let start = self.start(path, map.get("start"), &names);
        let nodes: Option<Vec<Node>> = read.into_iter().collect();
        Some(Flow { start: start?, nodes: nodes? })
    }

    fn start(&mut self, path: &[String], start: Option<&Value>, names: &[&str]) -> Option<usize> {
        match start.map(|start| start.as_str().ok_or(start)) {
            None => {
                self.problem(path, "`start` is missing: with which node does the flow start?");
                None
            }
            Some(Ok(word)) => self.target(&join(path, "start"), word, names),
            Some(Err(value)) => {
                self.problem(&join(path, "start"), format!("{value} names no node"));
                None
            }
        }
    }

    fn target(&mut self, path: &[String], word: &str, names: &[&str]) -> Option<usize> {
        let place = names.iter().position(|name| *name == word);
        if place.is_none() {
            self.unknown(path, format!("there is no node `{word}`"), word, names.iter().copied());
        }
        place
    }

    fn node(
        &mut self,
        path: &[String],
        name: &str,
        value: &Value,
        names: &[&str],
        level: usize,
    ) -> Option<Node> {
        if !is_name(name) {
            self.problem(
                path,
                format!("is no name of a node: letters, digits, `_` and `-`, at most {NAME}"),
            );
            return None;
        }
        let empty = Value::Object(Map::new());
        let map = self.map(path, if value.is_null() { &empty } else { value })?;
        self.check_keys(path, map, &NODE);
        let kind = self.kind(path, name, map.get("do"))?;
        let mut inner = self.inner(path, kind, map.get("flow"), level);
        let edges = self.edges(path, map, names);
        let settings = match kind {
            Kind::Flow => self.inner_settings(path, map.get("settings"), inner.as_mut()),
            _ => self.settings(path, kind, map.get("settings")),
        };
        let each = self.each(path, kind, map, inner.as_ref());
        let items = inner.as_ref().and_then(|inner| items(inner, &each).ok()).unwrap_or_default();
        let max_visits = self.whole(path, map, "max_visits", VISITS);
        let max_retries = self.whole(path, map, "max_retries", RETRIES);
        let wait = self.wait(path, map.get("wait"), max_retries);
        let fallback = self.action(path, map.get("fallback"));
        let times = self.whole(path, map, "times", BRANCHES);
        if times.is_some() && kind != Kind::Flow {
            self.problem(
                &join(path, "times"),
                "only an inner flow, `do: flow`, runs several times side by side",
            );
        }
        if kind == Kind::Solver
            && settings.get("plugin").and_then(Value::as_str).is_none_or(str::is_empty)
        {
            self.problem(path, "`settings.plugin` is missing: which plugin solves the task?");
        }
        if kind == Kind::Solver && max_retries.is_some() {
            self.problem(
                &join(path, "max_retries"),
                "a `solver` is called once in a visit; its plugin has attempts of its own",
            );
        }
        let node = Node {
            name: name.to_owned(),
            kind,
            settings,
            edges,
            max_visits,
            max_retries: max_retries.unwrap_or(1),
            wait,
            fallback,
            inner,
            times: times.unwrap_or(1),
            each,
            items,
        };
        self.edges_are_possible(path, &node, map);
        Some(node)
    }

    /// Reads the kind of a node; one whose name is that of its kind may leave it out.
    fn kind(&mut self, path: &[String], name: &str, value: Option<&Value>) -> Option<Kind> {
        let word = match value {
            None => Some(name),
            Some(value) => value.as_str(),
        };
        let kind = word.and_then(Kind::from_name);
        match (kind, value) {
            (Some(kind), _) => return Some(kind),
            (None, None) => {
                let kinds = Kind::names().collect::<Vec<_>>().join(", ");
                self.problem(
                    path,
                    format!("`do` is missing: what does the node do? One of {kinds}"),
                );
            }
            (None, Some(value)) => {
                let at = join(path, "do");
                self.unknown(
                    &at,
                    format!("{value} is no kind of node"),
                    word.unwrap_or_default(),
                    Kind::names(),
                );
            }
        }
        None
    }

    fn inner(
        &mut self,
        path: &[String],
        kind: Kind,
        value: Option<&Value>,
        level: usize,
    ) -> Option<Flow> {
        let at = join(path, "flow");
        match value {
            None if kind == Kind::Flow => {
                self.problem(path, "`flow` is missing: which nodes has the inner flow?")
            }
            None => {}
            Some(_) if kind != Kind::Flow => {
                self.problem(
                    &at,
                    format!("a node of the kind `{}` has no inner flow", kind.name()),
                );
            }
            Some(_) if level >= LEVELS => {
                self.problem(&at, format!("flows may be nested {LEVELS} deep"))
            }
            Some(inner) => return self.flow(&at, inner, level + 1),
        }
        None
    }

    fn edges(
        &mut self,
        path: &[String],
        map: &Map<String, Value>,
        names: &[&str],
    ) -> BTreeMap<String, Vec<usize>> {
        let mut edges = BTreeMap::new();
        if let Some(next) = map.get("next").filter(|next| !next.is_null()) {
            edges.insert(DEFAULT.to_owned(), self.targets(&join(path, "next"), next, names));
        }
        let at = join(path, "on");
        let none = Map::new();
        let on =
            map.get("on").filter(|on| !on.is_null()).map_or(Some(&none), |on| self.map(&at, on));
        for (action, targets) in on.into_iter().flatten() {
            let at = join(&at, action);
            if !is_name(action) {
                self.problem(
                    &at,
                    format!("is no action: letters, digits, `_` and `-`, at most {NAME}"),
                );
            } else if edges.contains_key(action) {
                self.problem(
                    &at,
                    "the edge for `default` stands under `next` already; keep one of the two",
                );
            } else {
                let targets = self.targets(&at, targets, names);
                edges.insert(action.clone(), targets);
            }
        }
        edges
    }

    fn targets(&mut self, path: &[String], value: &Value, names: &[&str]) -> Vec<usize> {
        let list = match value {
            Value::Array(list) if !list.is_empty() && list.len() <= BRANCHES as usize => {
                list.as_slice()
            }
            Value::String(_) => std::slice::from_ref(value),
            _ => {
                self.problem(
                    path,
                    format!("must be the name of a node, or a list of 1 to {BRANCHES} of them"),
                );
                return Vec::new();
            }
        };
        let mut targets = Vec::new();
        for value in list {
            match value.as_str() {
                Some(word) => targets.extend(self.target(path, word, names)),
                None => self.problem(path, format!("{value} names no node")),
            }
        }
        targets
    }

    fn settings(
        &mut self,
        path: &[String],
        kind: Kind,
        value: Option<&Value>,
    ) -> Map<String, Value> {
        let at = join(path, "settings");
        let none = Map::new();
        let given = value
            .filter(|given| !given.is_null())
            .map_or(Some(&none), |given| self.map(&at, given));
        let known = kind.settings();
        let defaults =
            known.iter().filter_map(|setting| Some((setting.name.to_owned(), setting.default()?)));
        let mut settings: Map<String, Value> = defaults.collect();
        for (key, value) in given.into_iter().flatten() {
            let at = join(&at, key);
            match known.iter().find(|setting| setting.name == key) {
                None => {
                    let why =
                        format!("a node of the kind `{}` has no setting `{key}`", kind.name());
                    self.unknown(&at, why, key, known.iter().map(|setting| setting.name));
                }
                Some(setting) => match setting.refuse(value) {
                    Some(why) => self.problem(&at, format!("{value} {why}")),
                    None => drop(settings.insert(key.clone(), value.clone())),
                },
            }
        }
        settings
    }

    /// The settings of an inner flow, which replace those of its nodes.
    fn inner_settings(
        &mut self,
        path: &[String],
        value: Option<&Value>,
        inner: Option<&mut Flow>,
    ) -> Map<String, Value> {
        let at = join(path, "settings");
        let given = value.filter(|given| !given.is_null()).and_then(|given| self.map(&at, given));
        let given = given.cloned().unwrap_or_default();
        if let Some(inner) = inner {
            self.replace(&at, &given, inner);
        }
        given
    }

    /// The settings of each item. All are tried, so that each fits the nodes.
    fn each(
        &mut self,
        path: &[String],
        kind: Kind,
        map: &Map<String, Value>,
        inner: Option<&Flow>,
    ) -> Vec<Map<String, Value>> {
        let Some(value) = map.get("each") else { return Vec::new() };
        let at = join(path, "each");
        if kind != Kind::Flow || map.contains_key("times") {
            let why = if kind == Kind::Flow {
                "stands beside `times`; keep one of the two"
            } else {
                "is for an inner flow, `do: flow`"
            };
            self.problem(&at, why);
            return Vec::new();
        }
        let list =
            value.as_array().filter(|list| !list.is_empty() && list.len() <= BRANCHES as usize);
        let (Some(list), Some(inner)) = (list, inner) else {
            if list.is_none() {
                self.problem(
                    &at,
                    format!("must be a list of 1 to {BRANCHES} mappings of settings"),
                );
            }
            return Vec::new();
        };
        if inner.size().saturating_mul(list.len()) > COPIES {
            self.problem(
                &at,
                format!("makes more than {COPIES} nodes, counted once for each item"),
            );
            return Vec::new();
        }
        let mut each = Vec::new();
        for (number, item) in list.iter().enumerate() {
            let at = join(&at, &number.to_string());
            let item = self.map(&at, item).cloned().unwrap_or_default();
            self.replace(&at, &item, &mut inner.clone());
            each.push(item);
        }
        each
    }

    fn replace(&mut self, path: &[String], settings: &Map<String, Value>, flow: &mut Flow) {
        for (setting, value) in settings {
            let at = join(path, setting);
            match flow.replace(setting, value) {
                Ok(true) => {}
                Ok(false) => self.unknown(
                    &at,
                    format!("no node of the inner flow has a setting `{setting}`"),
                    setting,
                    [],
                ),
                Err(why) => self.problem(&at, format!("{value} {why}")),
            }
        }
    }

    fn wait(&mut self, path: &[String], value: Option<&Value>, max_retries: Option<u32>) -> f64 {
        let Some(value) = value else { return 0.0 };
        let at = join(path, "wait");
        let Some(seconds) = value.as_f64().filter(|seconds| (0.0..=WAIT).contains(seconds)) else {
            self.problem(&at, format!("{value} is not a number of seconds from 0 to {WAIT}"));
            return 0.0;
        };
        if max_retries.unwrap_or(1) < 2 {
            self.problem(
                &at,
                "is the wait before another attempt, of which there is none: give \
                 `max_retries` 2 or more",
            );
        }
        seconds
    }

    fn whole(
        &mut self,
        path: &[String],
        map: &Map<String, Value>,
        key: &str,
        most: u32,
    ) -> Option<u32> {
        let value = map.get(key)?;
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        let number = number.filter(|number| (1..=most).contains(number));
        if number.is_none() {
            self.problem(
                &join(path, key),
                format!("{value} is not a whole number from 1 to {most}"),
            );
        }
        number
    }

    fn action(&mut self, path: &[String], value: Option<&Value>) -> Option<String> {
        let value = value?;
        let action = value.as_str().filter(|word| is_name(word));
        if action.is_none() {
            self.problem(&join(path, "fallback"), format!("{value} is no action"));
        }
        action.map(str::to_owned)
    }

    /// An edge for an action that the node never ends with is a slip of the pen.
    fn edges_are_possible(&mut self, path: &[String], node: &Node, map: &Map<String, Value>) {
        if node.kind == Kind::Flow && node.inner.is_none() {
            return;
        }
        let mut actions = node.actions();
        actions.extend(node.kind.optional_actions().iter().map(|action| (*action).to_owned()));
        actions.sort();
        actions.dedup();
        for action in node.edges.keys().filter(|action| !actions.contains(action)) {
            let is_next = action == DEFAULT && map.contains_key("next");
            let at = if is_next { join(path, "next") } else { join(&join(path, "on"), action) };
            let why =
                format!("the node never ends with `{action}`, but with {}", actions.join(", "));
            self.unknown(&at, why, action, actions.iter().map(String::as_str));
        }
    }
}
