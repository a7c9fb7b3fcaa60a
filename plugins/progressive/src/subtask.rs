//! Sub-tasks: one operation of the statement each, with the confidence that the model has in it.

use serde_json::{Value, json};
use syrch_plugin::prelude::*;
use syrch_plugin::text::{clamp01, line};

/// The confidence of a sub-task for which the model states none.
const UNSTATED: f64 = 0.5;

/// One operation of the statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Subtask {
    /// The model's number of it, or another text.
    pub(crate) id: String,
    /// The operation in words.
    pub(crate) operation: String,
    /// `table_selection`, `filter`, `join`, `aggregate`, `logical_operator`, or whatever the model
    /// says.
    pub(crate) kind: String,
    /// The model's confidence in the operation, 0 to 1.
    pub(crate) confidence: f64,
    /// The reason for the operation, in the model's words.
    pub(crate) reasoning: String,
    /// The sub-tasks that come first, each once, known, without circles.
    pub(crate) dependencies: Vec<String>,
}

impl Subtask {
    /// The question itself, where there are no sub-tasks.
    pub(crate) fn whole(task: &Task) -> Self {
        Self {
            id: "1".to_owned(),
            operation: task.text.clone(),
            kind: "question".to_owned(),
            confidence: task.confidence.map_or(UNSTATED, clamp01),
            reasoning: String::new(),
            dependencies: Vec::new(),
        }
    }

    /// Returns the form in which the sub-task travels in a task's context.
    pub(crate) fn json(&self) -> Value {
        json!({
            "id": self.id,
            "operation": self.operation,
            "type": self.kind,
            "confidence": self.confidence,
            "reasoning": self.reasoning,
            "dependencies": self.dependencies,
        })
    }
}

/// Reads the sub-tasks in a model's reply or in a context, the first `most` of them: what has no
/// operation is left out, and unknown dependencies and circles are cut. The notes report each such
/// change.
pub(crate) fn read(document: &Value, most: usize) -> (Vec<Subtask>, Vec<String>) {
    let items =
        document.get("subtasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut notes = Vec::new();
    let mut list: Vec<Subtask> = Vec::new();
    for item in items {
        let Some(mut subtask) = read_subtask(item, list.len() + 1) else {
            notes.push("a sub-task without an operation is left out".to_owned());
            continue;
        };
        if list.len() == most {
            notes.push(format!("only the first {most} sub-tasks are used"));
            break;
        }
        if list.iter().any(|known| known.id == subtask.id) {
            let free = (1..=items.len() + 1)
                .map(|n| n.to_string())
                .find(|id| !names(items, id))
                .unwrap_or_default();
            let id = if list.iter().any(|known| known.id == free) {
                format!("{free}.{}", list.len())
            } else {
                free
            };
            notes.push(format!(
                "two sub-tasks are numbered {}: the later one is now {id}",
                subtask.id
            ));
            subtask.id = id;
        }
        list.push(subtask);
    }
    cut_unknown(&mut list, &mut notes);
    cut_circles(&mut list, &mut notes);
    (list, notes)
}

fn names(items: &[Value], id: &str) -> bool {
    items.iter().any(|item| id_of(item).as_deref() == Some(id))
}

fn id_of(item: &Value) -> Option<String> {
    item.get("task_id").or_else(|| item.get("id")).and_then(id_text)
}

fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(line(text, 40)).filter(|text| !text.is_empty()),
        _ => None,
    }
}

fn read_subtask(item: &Value, place: usize) -> Option<Subtask> {
    let text = |keys: [&str; 2], limit: usize| {
        let found = keys.into_iter().find_map(|key| item.get(key)).and_then(Value::as_str);
        found.map(|text| line(text, limit)).filter(|text| !text.is_empty())
    };
    let mut dependencies: Vec<String> = Vec::new();
    for id in
        item.get("dependencies").and_then(Value::as_array).into_iter().flatten().filter_map(id_text)
    {
        if !dependencies.contains(&id) {
            dependencies.push(id);
        }
    }
    Some(Subtask {
        id: id_of(item).unwrap_or_else(|| place.to_string()),
        operation: text(["operation", "description"], 400)?,
        kind: text(["operation_type", "type"], 40).unwrap_or_else(|| "other".to_owned()),
        confidence: item.get("confidence").and_then(Value::as_f64).map_or(UNSTATED, clamp01),
        reasoning: text(["reasoning", "reason"], 400).unwrap_or_default(),
        dependencies,
    })
}

// EP-D4: the reference never ran a sub-task whose dependency does not exist, and did not say so.
fn cut_unknown(list: &mut [Subtask], notes: &mut Vec<String>) {
    let ids: Vec<String> = list.iter().map(|subtask| subtask.id.clone()).collect();
    for subtask in list {
        let id = subtask.id.clone();
        let known = std::mem::take(&mut subtask.dependencies);
        let (known, unknown): (Vec<String>, Vec<String>) =
            known.into_iter().partition(|id| ids.contains(id));
        subtask.dependencies = known;
        notes.extend(
            unknown.iter().map(|other| {
                format!("sub-task {id} waits for {other}, which there is not: dropped")
            }),
        );
    }
}

/// Cuts circles of dependencies: where none of those left can be first, the one with the highest
/// confidence goes first all the same.
fn cut_circles(list: &mut [Subtask], notes: &mut Vec<String>) {
    let mut placed: Vec<String> = Vec::new();
    while placed.len() < list.len() {
        fn has_unplaced_dependency(placed: &[String], subtask: &Subtask) -> bool {
            subtask.dependencies.iter().any(|id| !placed.contains(id))
        }
        fn is_unplaced(placed: &[String], subtask: &&Subtask) -> bool {
            !placed.contains(&subtask.id)
        }
        if let Some(ready) = list
            .iter()
            .filter(|subtask| is_unplaced(&placed, subtask))
            .find(|subtask| !has_unplaced_dependency(&placed, subtask))
        {
            placed.push(ready.id.clone());
            continue;
        }
        let most = list
            .iter()
            .filter(|subtask| is_unplaced(&placed, subtask))
            .map(|subtask| subtask.confidence)
            .fold(0.0, f64::max);
        let Some(place) = list
            .iter()
            .position(|subtask| is_unplaced(&placed, &subtask) && subtask.confidence >= most)
        else {
            return;
        };
        let first = &mut list[place];
        let cut: Vec<String> =
            first.dependencies.iter().filter(|id| !placed.contains(id)).cloned().collect();
        notes.push(format!(
            "sub-tasks wait for each other in a circle: {} no longer waits for {}",
            first.id,
            cut.join(", ")
        ));
        first.dependencies.retain(|id| placed.contains(id));
    }
}

/// A task's context with the plan's steps and the sub-tasks; `None` if there are neither.
pub(crate) fn context(plan: &[String], subtasks: &[Subtask]) -> Option<String> {
    if plan.is_empty() && subtasks.is_empty() {
        return None;
    }
    let subtasks: Vec<Value> = subtasks.iter().map(Subtask::json).collect();
    Some(json!({ "plan": plan, "subtasks": subtasks }).to_string())
}

/// The sub-tasks in a task's context, and notes on what was wrong with them.
pub(crate) fn read_from_task(task: &Task, most: usize) -> (Vec<Subtask>, Vec<String>) {
    let context: Option<Value> =
        task.context.as_deref().and_then(|text| serde_json::from_str(text).ok());
    context.as_ref().map(|context| read(context, most)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subtask(id: u32, confidence: f64, dependencies: &[u32]) -> Value {
        json!({ "task_id": id, "operation": format!("do {id}"), "operation_type": "filter",
            "confidence": confidence,
                "reasoning": "said so", "dependencies": dependencies })
    }

    fn read_all(items: &[Value]) -> (Vec<Subtask>, Vec<String>) {
        read(&json!({ "subtasks": items }), 16)
    }

    fn waits(list: &[Subtask]) -> Vec<(&str, Vec<&str>)> {
        list.iter()
            .map(|one| (one.id.as_str(), one.dependencies.iter().map(String::as_str).collect()))
            .collect()
    }

    #[test]
    fn sub_tasks_are_read_and_survive_the_context() {
        let (list, notes) = read_all(&[subtask(1, 0.95, &[]), subtask(2, 1.7, &[1, 1])]);
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(waits(&list), [("1", vec![]), ("2", vec!["1"])]);
        assert_eq!((list[0].confidence, list[1].confidence), (0.95, 1.0));
        assert_eq!((list[0].kind.as_str(), list[0].reasoning.as_str()), ("filter", "said so"));
        let task = Task { context: context(&["first".to_owned()], &list), ..Task::new("A", "q") };
        assert_eq!(read_from_task(&task, 16), (list, Vec::new()));
        assert_eq!(syrch_plugin::replies::plan_of(&task), ["first"]);
        assert_eq!(context(&[], &[]), None);
        assert_eq!(
            read_from_task(&Task { context: Some("{]".into()), ..Task::default() }, 16).0,
            []
        );
    }

    // EP-D4.
    #[test]
    fn unknown_dependencies_and_circles_are_cut_and_reported() {
        let (list, notes) =
            read_all(&[subtask(1, 0.5, &[9]), subtask(2, 0.6, &[3]), subtask(3, 0.9, &[2, 1])]);
        assert_eq!(waits(&list), [("1", vec![]), ("2", vec!["3"]), ("3", vec!["1"])]);
        assert_eq!(notes.len(), 2);
        assert!(
            notes[0].contains("waits for 9") && notes[1].contains("3 no longer waits for 2"),
            "{notes:?}"
        );
        let (own, notes) = read_all(&[subtask(1, 0.5, &[1])]);
        assert_eq!((waits(&own), notes.len()), (vec![("1", vec![])], 1));
    }

    #[test]
    fn odd_lists_are_mended_and_reported() {
        let (list, notes) = read_all(&[
            subtask(1, 0.5, &[]),
            subtask(1, 0.4, &[]),
            json!({}),
            json!({"operation": "x"}),
        ]);
        assert_eq!(waits(&list), [("1", vec![]), ("2", vec![]), ("3", vec![])]);
        assert_eq!(list[2].confidence, 0.5);
        assert_eq!(notes.len(), 2, "{notes:?}");
        let (cut, notes) =
            read(&json!({ "subtasks": [subtask(1, 0.5, &[]), subtask(2, 0.5, &[])] }), 1);
        assert_eq!((cut.len(), notes.len()), (1, 1));
        for nothing in
            [json!({}), json!([]), json!({ "subtasks": null }), json!({ "subtasks": {} })]
        {
            assert_eq!(read(&nothing, 16), (Vec::new(), Vec::new()));
        }
    }
}
