//! A plan under construction: what the model wrote, checked, with ids that every part of the host
//! accepts.

use std::collections::BTreeMap;

use syrch_plugin::prelude::*;
use syrch_plugin::replies::{JoinKey, Subtask, plan_reply};
use syrch_plugin::requirements::Requirements;
use syrch_plugin::serde_json::{self, Value};
use syrch_plugin::text::line;

/// Characters of a subtask's name that a note shows.
const ID: usize = 40;

/// A subtask as the model wrote it, with what it requires of the statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stated {
    pub(crate) subtask: Subtask,
    pub(crate) required: Requirements,
}

/// Reads the reply to a request for a plan, and notes what a subtask requires in a form that cannot
/// be read; `None` if there is no subtask.
pub(crate) fn read_plan(host: &impl PlannerHost, reply: &Reply) -> Option<Vec<Stated>> {
    let parsed: Value = serde_json::from_str(reply.parsed.as_deref()?).ok()?;
    let items =
        parsed.get("subtasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let required = |subtask: &Subtask| {
        items
            .iter()
            .find(|item: &&Value| {
                item.get("id").and_then(Value::as_str).map(str::trim) == Some(subtask.id.as_str())
            })
            .map(|item| read_requirements(host, &subtask.id, item))
            .unwrap_or_default()
    };
    let subtasks = plan_reply(reply)?;
    Some(
        subtasks
            .into_iter()
            .map(|subtask| Stated { required: required(&subtask), subtask })
            .collect(),
    )
}

/// Reads the requirements of a subtask. Those that stand beside `requirements` count as well.
fn read_requirements(host: &impl PlannerHost, id: &str, item: &Value) -> Requirements {
    let mut required = item.get("requirements").map(Requirements::read).unwrap_or_default();
    let beside = Requirements::read_among(item);
    required.unread.extend(beside.unread);
    for unread in &required.unread {
        let note = format!("a requirement of `{}` cannot be read: {unread}", line(id, ID));
        host.note(Level::Warn, &note);
    }
    let mut tables = beside.tables.clone();
    tables.extend(required.tables.iter().filter(|table| !beside.tables.contains(table)).cloned());
    required.tables = tables;
    if required.metrics.is_empty() {
        required.metrics = beside.metrics;
    }
    if required.filters.is_empty() {
        required.filters = beside.filters;
    }
    required.aggregation = required.aggregation.or(beside.aggregation);
    required.time_range = required.time_range.or(beside.time_range);
    required
}

/// One task of the plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) expected: Option<String>,
    pub(crate) required: Requirements,
    pub(crate) is_atomic: bool,
    pub(crate) depends_on: Vec<String>,
}

/// Tasks in the order in which they came, and how their results join. Dependencies are known, named
/// once and without circles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    pub(crate) nodes: Vec<Node>,
    pub(crate) keys: Vec<JoinKey>,
}

impl Draft {
    /// Checks a model's plan and takes its first `most` subtasks; what depended on a subtask that
    /// is cut off goes without it. The error is for the model.
    pub(crate) fn from_plan(mut stated: Vec<Stated>, most: usize) -> Result<Self, String> {
        check_names(&stated)?;
        stated.truncate(most.max(1));
        let ids = safe_ids(&stated);
        let subtasks = stated.iter().map(|stated| &stated.subtask);
        let keys = subtasks
            .flat_map(|subtask| &subtask.join_keys)
            .filter_map(|key| rename_key(key, &ids))
            .collect();
        let draft = Self {
            nodes: stated
                .iter()
                .map(|Stated { subtask, required }: &Stated| Node {
                    id: ids[&subtask.id].clone(),
                    text: subtask.description.clone(),
                    expected: subtask.expected_output.clone(),
                    required: required.clone(),
                    is_atomic: subtask.is_atomic,
                    depends_on: subtask
                        .depends_on
                        .iter()
                        .filter_map(|id| ids.get(id))
                        .cloned()
                        .collect(),
                })
                .collect(),
            keys,
        };
        match draft.circle() {
            Some(circle) => Err(format!(
                "these subtasks depend on each other in a circle: {}",
                circle.join(", ")
            )),
            None => Ok(draft),
        }
    }

    /// Tasks that no other task depends on.
    pub(crate) fn leaves(&self) -> Vec<String> {
        let is_needed = |id: &String| self.nodes.iter().any(|node| node.depends_on.contains(id));
        self.nodes.iter().map(|node| node.id.clone()).filter(|id| !is_needed(id)).collect()
    }

    /// Returns the tasks that are left after every task whose dependencies are all gone is taken
    /// away, again and again; `None` if none are left.
    fn circle(&self) -> Option<Vec<String>> {
        let mut left: Vec<&Node> = self.nodes.iter().collect();
        loop {
            let before = left.len();
            let waiting: Vec<String> = left.iter().map(|node| node.id.clone()).collect();
            left.retain(|node| node.depends_on.iter().any(|id| waiting.contains(id)));
            if left.is_empty() {
                return None;
            }
            if left.len() == before {
                return Some(waiting);
            }
        }
    }
}

fn check_names(stated: &[Stated]) -> Result<(), String> {
    for (index, Stated { subtask, .. }) in stated.iter().enumerate() {
        if stated[..index].iter().any(|earlier| earlier.subtask.id == subtask.id) {
            return Err(format!("the id `{}` is used twice", subtask.id));
        }
        if let Some(unknown) = subtask
            .depends_on
            .iter()
            .find(|id: &&String| !stated.iter().any(|other| other.subtask.id == **id))
        {
            return Err(format!("`{}` depends on `{unknown}`, which is not a subtask", subtask.id));
        }
    }
    Ok(())
}

/// The model's names, each with an id of our own that differs from all others even where letter
/// case and punctuation do not count.
fn safe_ids(stated: &[Stated]) -> BTreeMap<String, String> {
    let mut taken: Vec<String> = Vec::new();
    let mut ids = BTreeMap::new();
    for Stated { subtask, .. } in stated {
        let id = pick_free_id(if is_safe(&subtask.id) { &subtask.id } else { "T" }, &taken);
        taken.push(id.clone());
        ids.insert(subtask.id.clone(), id);
    }
    ids
}

fn is_safe(id: &str) -> bool {
    id.len() <= 16
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// `wanted`, or `wanted2`, `wanted3` … when it is taken.
pub(crate) fn pick_free_id(wanted: &str, taken: &[String]) -> String {
    fn is_free(taken: &[String], id: &str) -> bool {
        taken.iter().all(|other| fold_id(other) != fold_id(id))
    }
    if is_free(taken, wanted) {
        return wanted.to_owned();
    }
    // One of the first `taken.len() + 1` numbers is free.
    (2..=taken.len() + 2)
        .map(|number| format!("{wanted}{number}"))
        .find(|id| is_free(taken, id))
        .unwrap_or_default()
}

// Results stand in FROM by names made of their ids, where case and punctuation do not distinguish
// names.
fn fold_id(id: &str) -> String {
    id.to_ascii_lowercase().replace(['.', '-'], "_")
}

fn rename_key(key: &JoinKey, ids: &BTreeMap<String, String>) -> Option<JoinKey> {
    let left = ids.get(&key.left)?;
    let right = ids.get(&key.right)?;
    (left != right).then(|| JoinKey { left: left.clone(), right: right.clone(), ..key.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use syrch_plugin::replies::JoinHow;

    fn subtask(id: &str, depends_on: &[&str]) -> Stated {
        let subtask = Subtask {
            id: id.to_owned(),
            description: format!("find {id}"),
            depends_on: depends_on.iter().map(|id| (*id).to_owned()).collect(),
            is_atomic: true,
            expected_output: None,
            join_keys: Vec::new(),
        };
        Stated { subtask, required: Requirements::default() }
    }

    fn wrong(subtasks: &[(&str, &[&str])]) -> String {
        Draft::from_plan(subtasks.iter().map(|(id, on)| subtask(id, on)).collect(), 6).unwrap_err()
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(wrong(&[("A", &[]), ("A", &[])]), "the id `A` is used twice");
        assert_eq!(wrong(&[("A", &["X"])]), "`A` depends on `X`, which is not a subtask");
        assert_eq!(wrong(&[("A", &["A"])]), "these subtasks depend on each other in a circle: A");
        assert_eq!(
            wrong(&[("A", &[]), ("B", &["C", "A"]), ("C", &["B"])]),
            "these subtasks depend on each other in a circle: B, C"
        );
    }

    // syrch 0.1.2, bug 25: a plan that refers to its seventh subtask crashed.
    #[test]
    fn what_is_cut_off_is_no_dependency() {
        let plan = vec![subtask("A", &["C"]), subtask("B", &["A"]), subtask("C", &[])];
        let draft = Draft::from_plan(plan, 2).unwrap();
        assert_eq!(draft.nodes.len(), 2);
        assert!(draft.nodes[0].depends_on.is_empty());
        assert_eq!(draft.leaves(), ["B"]);
    }

    #[test]
    fn odd_and_nearly_equal_ids_become_safe_ones() {
        let mut plan = vec![
            subtask("Top customers!", &[]),
            subtask("a-b", &["Top customers!"]),
            subtask("A_B", &["a-b"]),
        ];
        plan[2].subtask.join_keys = vec![JoinKey {
            left: "A_B".into(),
            left_col: "x".into(),
            right: "Top customers!".into(),
            right_col: "y".into(),
            how: JoinHow::Inner,
        }];
        let draft = Draft::from_plan(plan, 6).unwrap();
        let ids: Vec<&str> = draft.nodes.iter().map(|node| node.id.as_str()).collect();
        assert_eq!(ids, ["T", "a-b", "A_B2"]);
        assert_eq!(draft.nodes[2].depends_on, ["a-b"]);
        assert_eq!((draft.keys[0].left.as_str(), draft.keys[0].right.as_str()), ("A_B2", "T"));
    }
}
