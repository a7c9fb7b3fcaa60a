//! The planner against scripted models and a small host: what a turn is decided from, and what
//! becomes of it.

mod loops;
mod refusals;
mod rules;

use std::collections::BTreeMap;

use serde_json::{Value as JsonValue, json};
use syrch_plugin::fakes::{FakeHost, FakeRows};
use syrch_plugin::prelude::*;

use crate::planner::state::State;
use crate::{Settings, Turns};

pub(crate) const QUESTION: &str = "How many orders did French customers place?";

pub(crate) fn catalog() -> Catalog {
    let table = |name: &str| Table {
        name: name.into(),
        columns: vec![Column { name: "id".into(), ..Column::default() }],
        ..Table::default()
    };
    Catalog {
        database: "shop".into(),
        dialect: Dialect::Sqlite,
        tables: vec![table("orders"), table("customers")],
        ..Catalog::default()
    }
}

pub(crate) fn hit(corpus: Corpus, path: &str, snippet: &str) -> Hit {
    let snippet = (!snippet.is_empty()).then(|| snippet.to_owned());
    Hit {
        corpus,
        id: path.into(),
        path: path.into(),
        table: None,
        column: None,
        snippet,
        payload: None,
        score: 0.5,
    }
}

pub(crate) fn observe_hits(task: &str, hits: Vec<Hit>) -> Observation {
    Observation { hits, ..Observation::ended(task, Ending::Solved) }
}

/// A statement of so many rows; of two columns, the second with a null.
pub(crate) fn observe_success(task: &str, sql: &str, rows: u64, confidence: f64) -> Observation {
    let row = vec![Value::Text("x".into()), Value::Null];
    let profile = FakeRows::new(&["name", "total"], vec![row]).handle().profile();
    let candidate = Candidate {
        id: format!("{task}.1"),
        sql: sql.into(),
        confidence: Some(confidence),
        ..Candidate::default()
    };
    Observation {
        candidates: vec![candidate],
        profile: Some(Profile { rows, ..profile }),
        ..Observation::ended(task, if rows > 0 { Ending::Solved } else { Ending::Empty })
    }
}

pub(crate) fn observe_failure(task: &str, message: &str) -> Observation {
    Observation::ended(task, Ending::Failed(failure(FailureKind::Model, message)))
}

pub(crate) fn turn(decisions: &[JsonValue]) -> JsonValue {
    json!({ "decisions": decisions })
}

pub(crate) fn search(branch: &str, node: &str, query: &str) -> JsonValue {
    json!({
        "action": "search", "branch": branch, "target_node": node, "query": query,
        "rationale": "unknown names"
    })
}

pub(crate) fn go_on(branch: &str, node: &str, text: &str) -> JsonValue {
    json!({
        "action": "continue", "branch": branch, "target_node": node, "text": text,
        "rationale": "names are known"
    })
}

pub(crate) fn fork(from: &str, branch: &str, node: &str, kind: &str) -> JsonValue {
    json!({
        "action": "fork", "branch": from, "target_branch": branch, "target_node": node,
        "edge": format!("to-{node}"),
        "edge_kind": kind, "frontier": format!("f-{branch}"),
        "text": format!("another reading {node}"), "rationale": "it is open"
    })
}

pub(crate) fn terminate(reason: &str) -> JsonValue {
    json!({ "action": "terminate", "stop_reason": reason, "rationale": "enough" })
}

/// A host that runs what the planner plans: every task whose dependencies have ended ends as in the
/// script, all at once or one by one.
pub(crate) struct Scene {
    pub(crate) host: FakeHost,
    pub(crate) planner: Turns,
    pub(crate) graph: Graph,
    pub(crate) seen: Vec<Observation>,
    /// The edits of each step that had any.
    pub(crate) steps: Vec<Vec<Edit>>,
    script: BTreeMap<String, Observation>,
    reported: usize,
    pub(crate) finished: bool,
}

impl Scene {
    pub(crate) fn new(settings: Settings, turns: &[JsonValue], script: Vec<Observation>) -> Self {
        let mut host = FakeHost::default();
        for turn in turns {
            host.model.reply_plan(turn);
        }
        Self::with(host, settings, script)
    }

    pub(crate) fn with(host: FakeHost, settings: Settings, script: Vec<Observation>) -> Self {
        Self {
            host,
            planner: Turns::new(settings),
            graph: Graph { tasks: Vec::new(), answer: String::new(), memo: None },
            seen: Vec::new(),
            steps: Vec::new(),
            script: script
                .into_iter()
                .map(|observation| (observation.task.clone(), observation))
                .collect(),
            reported: 0,
            finished: false,
        }
    }

    pub(crate) fn plan(&mut self) -> &mut Self {
        self.graph = self.planner.plan(&self.host, &Problem::new(QUESTION), &catalog()).unwrap();
        self.assert_sound();
        self
    }

    /// Plans turn after turn until nothing is left to do.
    pub(crate) fn run(&mut self) -> &mut Self {
        self.plan();
        while !self.finished && self.advance(&[]) {}
        self
    }

    /// Ends these tasks, or without any all that can end, and asks the planner. False: there was
    /// nothing to do.
    pub(crate) fn advance(&mut self, only: &[&str]) -> bool {
        while let Some(task) =
            self.ready().into_iter().find(|id| only.is_empty() || only.contains(&id.as_str()))
        {
            let observation = self.outcome(&task);
            self.seen.push(observation);
        }
        if self.reported == self.seen.len() {
            return false;
        }
        let fresh = std::mem::replace(&mut self.reported, self.seen.len());
        let problem = Problem::new(QUESTION);
        let step = self
            .planner
            .next(&self.host, &problem, &catalog(), &self.graph, &self.seen, fresh)
            .unwrap();
        self.apply(step);
        true
    }

    fn has_ended(&self, id: &str) -> bool {
        self.seen.iter().any(|observation| observation.task == id)
    }

    fn ready(&self) -> Vec<String> {
        self.graph
            .tasks
            .iter()
            .filter(|task: &&Task| {
                !self.has_ended(&task.id) && task.depends_on.iter().all(|id| self.has_ended(id))
            })
            .map(|task| task.id.clone())
            .collect()
    }

    fn outcome(&self, id: &str) -> Observation {
        let task = self.graph.task(id).unwrap();
        if task.operation == Operation::Choose {
            let parents = self
                .seen
                .iter()
                .filter(|seen| task.depends_on.contains(&seen.task) && seen.is_success());
            fn sure(seen: &Observation) -> f64 {
                seen.candidates.first().map_or(-1.0, Candidate::sureness)
            }
            let best =
                parents.reduce(|best, next| if sure(next) > sure(best) { next } else { best });
            return best.map_or_else(
                || Observation::ended(id, Ending::Skipped("nothing ended well".into())),
                |best| Observation { task: id.into(), ..best.clone() },
            );
        }
        self.script.get(id).cloned().unwrap_or_else(|| panic!("no script for {id}: {}", task.text))
    }

    fn apply(&mut self, step: Step) {
        for edit in &step.edits {
            match edit {
                Edit::Add(task) => self.graph.tasks.push(task.clone()),
                Edit::Cancel(id) => self.seen.push(Observation::ended(id, Ending::Cancelled)),
                Edit::Answer(id) => self.graph.answer.clone_from(id),
                Edit::Finish => self.finished = true,
                Edit::Update(_) | Edit::Other(_) => panic!("not an edit of this planner: {edit:?}"),
            }
        }
        self.graph.memo = step.memo;
        if !step.edits.is_empty() {
            self.steps.push(step.edits);
        }
        self.assert_sound();
    }

    /// Asserts that the host would accept the graph, and that the answer waits for all that is
    /// under way, which would be cancelled otherwise.
    fn assert_sound(&self) {
        for (place, task) in self.graph.tasks.iter().enumerate() {
            assert!(
                self.graph.tasks[..place].iter().all(|other| other.id != task.id),
                "{} is there twice",
                task.id
            );
            for (index, id) in task.depends_on.iter().enumerate() {
                assert!(
                    self.graph.tasks[..place].iter().any(|other| other.id == *id),
                    "{} depends on {id}",
                    task.id
                );
                assert!(
                    !task.depends_on[..index].contains(id),
                    "{} depends on {id} twice",
                    task.id
                );
            }
            assert!(task.operation != Operation::Choose || !task.depends_on.is_empty());
        }
        let answer = self
            .graph
            .task(&self.graph.answer)
            .unwrap_or_else(|| panic!("no answer {}", self.graph.answer));
        if self.finished {
            return;
        }
        let open = self
            .graph
            .tasks
            .iter()
            .filter(|task| !self.has_ended(&task.id) && task.operation != Operation::Choose);
        for task in open {
            assert!(
                task.id == answer.id || answer.depends_on.contains(&task.id),
                "{} would be cancelled",
                task.id
            );
        }
        assert!(self.graph.memo.as_ref().unwrap().len() < 256 * 1024);
    }

    pub(crate) fn state(&self) -> State {
        State::read(self.graph.memo.as_deref()).unwrap()
    }

    pub(crate) fn task(&self, id: &str) -> &Task {
        self.graph.task(id).unwrap_or_else(|| panic!("no task {id}"))
    }

    /// All tasks but the collecting ones.
    pub(crate) fn tasks(&self) -> Vec<&str> {
        let tasks = self.graph.tasks.iter().filter(|task| task.operation != Operation::Choose);
        tasks.map(|task| task.id.as_str()).collect()
    }

    pub(crate) fn calls(&self) -> usize {
        self.host.model.requests().len()
    }

    /// The reason of the end.
    pub(crate) fn stop_reason(&self) -> &'static str {
        self.state().stopped.map_or("", |reason| reason.name())
    }
}
