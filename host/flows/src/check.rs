//! Checks the shape of a flow before it runs: nodes that nothing leads to, loops without a bound,
//! joins without branches, no end.

use std::collections::BTreeSet;

use crate::{Flow, Kind, Node, Problem, UNSURE};

/// Adds what is wrong with the graph, and with those of its inner flows.
pub(crate) fn check(flow: &Flow, path: &[String], has_results: bool, problems: &mut Vec<Problem>) {
    fn extend_path(path: &[String], keys: &[&str]) -> Vec<String> {
        path.iter().cloned().chain(keys.iter().map(|key| (*key).to_owned())).collect()
    }
    let mut problem = |keys: &[&str], why: String| {
        problems.push(Problem { path: extend_path(path, keys), why, unknown: None })
    };
    let start = &flow.nodes[flow.start];
    if start.kind.needs_statement() {
        let why =
            format!("`{}` is a `{}`, and there is no statement yet", start.name, start.kind.name());
        problem(&["start"], why);
    }
    let reached = flow.reach([flow.start]);
    for (place, node) in flow.nodes.iter().enumerate() {
        if !reached.contains(&place) {
            problem(&["nodes", &node.name], "no edge leads to this node".to_owned());
        }
    }
    if let Some(names) = flow.loop_without_bound() {
        let why = format!(
            "the loop {} has no bound: give one of its nodes `max_visits`",
            names.join(" → ")
        );
        problem(&["nodes", names[0]], why);
    }
    let fanning = flow.nodes.iter().enumerate().filter(|(_, node)| node.fans_out());
    let branches = flow.reach(fanning.flat_map(|(_, node)| node.edges.values().flatten().copied()));
    for (place, node) in flow.nodes.iter().enumerate() {
        if node.kind.is_join() && !branches.contains(&place) {
            let why = format!(
                "a `{}` joins branches, and nothing before it makes several: an edge to a list of \
                 nodes, or an inner flow with `times`",
                node.kind.name()
            );
            problem(&["nodes", &node.name], why);
        }
    }
    let runs = flow.nodes.iter().enumerate().filter(|(_, node)| node.runs());
    let behind = flow.reach(runs.flat_map(|(_, node)| node.edges.values().flatten().copied()));
    for (place, node) in flow.nodes.iter().enumerate() {
        let is_about_results = matches!(node.kind, Kind::Judge | Kind::Vote | Kind::Choose);
        if is_about_results && reached.contains(&place) && !has_results && !behind.contains(&place)
        {
            let why = format!(
                "a `{}` is about results, and nothing before it runs a statement",
                node.kind.name()
            );
            problem(&["nodes", &node.name], why);
        }
        if node.kind == Kind::Vote
            && node.whole("agree") != 2
            && !node.edges.contains_key("disagreed")
        {
            let why = "has no effect without an edge for `disagreed`".to_owned();
            problem(&["nodes", &node.name, "settings", "agree"], why);
        }
        if node.kind == Kind::Solver
            && node.number("sure") != Some(0.5)
            && !node.edges.contains_key(UNSURE)
        {
            let why = format!("has no effect without an edge for `{UNSURE}`");
            problem(&["nodes", &node.name, "settings", "sure"], why);
        }
    }
    if flow.last_actions().is_empty() {
        problem(
            &["nodes"],
            "the flow has no end: every action of every node leads to a node".to_owned(),
        );
    }
    for (place, node) in flow.nodes.iter().enumerate() {
        if let Some(inner) = &node.inner {
            let has_results = has_results || behind.contains(&place);
            check(inner, &extend_path(path, &["nodes", &node.name, "flow"]), has_results, problems);
        }
    }
    if problems.is_empty() && path.is_empty() && !flow.answers() {
        let why = "no node runs a statement: the flow needs a `run`, or a `solver`".to_owned();
        problems.push(Problem { path: extend_path(path, &["nodes"]), why, unknown: None });
    }
}

impl Node {
    /// Returns true if a statement may have run behind the node.
    fn runs(&self) -> bool {
        matches!(self.kind, Kind::Run | Kind::Solver)
            || self.inner.as_ref().is_some_and(|inner| inner.nodes.iter().any(Self::runs))
    }
}

impl Flow {
    /// Returns true if a node runs a statement or hands the task to a plugin.
    fn answers(&self) -> bool {
        self.nodes.iter().any(Node::runs)
    }

    /// The nodes that can be reached from some, these included.
    fn reach(&self, from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut open: Vec<usize> = from.into_iter().collect();
        let mut reached = BTreeSet::new();
        while let Some(place) = open.pop() {
            if reached.insert(place) {
                open.extend(self.nodes[place].edges.values().flatten());
            }
        }
        reached
    }

    /// The names along a loop of nodes that may all be visited any number of times, back to the
    /// first.
    fn loop_without_bound(&self) -> Option<Vec<&str>> {
        let mut done = BTreeSet::new();
        (0..self.nodes.len()).find_map(|place| self.find_loop(place, &mut Vec::new(), &mut done))
    }

    fn find_loop<'f>(
        &'f self,
        place: usize,
        way: &mut Vec<usize>,
        done: &mut BTreeSet<usize>,
    ) -> Option<Vec<&'f str>> {
        let node: &Node = &self.nodes[place];
        if let Some(first) = way.iter().position(|earlier| *earlier == place) {
            let names = way[first..].iter().chain([&place]);
            return Some(names.map(|place| self.nodes[*place].name.as_str()).collect());
        }
        if node.max_visits.is_some() || done.contains(&place) {
            return None;
        }
        way.push(place);
        let found = node.edges.values().flatten().find_map(|next| self.find_loop(*next, way, done));
        way.pop();
        done.insert(place);
        found
    }
}
