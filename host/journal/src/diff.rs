//! Two searches side by side: which inputs differ, which of their tasks and candidates correspond,
//! and whether their results are the same.

mod align;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tree::{Answered, CandidateNode, Round, SearchTree, Status, TaskNode};

/// The value of [`TreeDiff::schema`].
pub const DIFF_SCHEMA: &str = "syrch.trace-diff/1";

/// Two searches side by side, the first on the left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeDiff {
    /// The document's schema, always [`DIFF_SCHEMA`].
    pub schema: String,
    /// The ids of both runs.
    pub runs: [String; 2],
    /// The questions as asked.
    pub questions: [String; 2],
    /// True if the question, its evidence and the user's answers about it are the same.
    pub same_question: bool,
    /// True if nothing below differs but times and costs.
    pub equal: bool,
    /// Inputs that differ: plugins by digest, models, settings. The document names them `told`.
    #[serde(rename = "told")]
    pub given: Vec<Difference>,
    /// Tasks that correspond, and those of one search only.
    pub tasks: Vec<TaskPair>,
    /// The results of both searches.
    pub answer: AnswerDiff,
    /// Calls, costs and time of both searches.
    pub counts: Vec<Count>,
}

/// A property whose value differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The property, such as `text` or `ending`.
    pub what: String,
    /// The value in the first search; null where it has none.
    pub left: Value,
    /// The value in the second search; null where it has none.
    pub right: Value,
}

/// A number of both searches; null where it is unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// The name of what is counted, such as `model calls`.
    pub what: String,
    /// The number of the first search.
    pub left: Option<f64>,
    /// The number of the second search.
    pub right: Option<f64>,
}

/// The reason why two tasks or two candidates are taken to correspond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchedBy {
    /// Their ids are equal, and their texts similar.
    Id,
    /// Their texts are similar.
    Text,
    /// Their statements are equal, white space and letter case aside.
    Statement,
    /// Their results are equal.
    Result,
}

/// Two tasks that correspond, or one without a counterpart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskPair {
    /// The number of the round.
    pub round: u32,
    /// The reason why the two correspond; `None` for a task without a counterpart.
    pub matched_by: Option<MatchedBy>,
    /// The task of the first search.
    pub left: Option<TaskSide>,
    /// The task of the second search.
    pub right: Option<TaskSide>,
    /// The properties that differ. In an edge, a task of the second search has the id of its
    /// counterpart in the first.
    pub differences: Vec<Difference>,
    /// The candidates of both tasks.
    pub candidates: Vec<CandidatePair>,
}

/// A task of one search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskSide {
    /// The task's id in that search.
    pub id: String,
    /// The description of what the task finds out.
    pub text: String,
}

/// Two candidates that correspond, or one without a counterpart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidatePair {
    /// The reason why the two correspond; `None` for a candidate without a counterpart.
    pub matched_by: Option<MatchedBy>,
    /// True if their results are equal; `None` when a result is unknown.
    pub equal_result: Option<bool>,
    /// The candidate of the first search.
    pub left: Option<CandidateSide>,
    /// The candidate of the second search.
    pub right: Option<CandidateSide>,
}

/// A candidate of one search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateSide {
    /// The candidate's id in that search.
    pub id: String,
    /// The statement as the strategy wrote it.
    pub sql: String,
    /// The status of the candidate.
    pub status: Status,
    /// The calibrated confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// The reason why it was accepted or dropped.
    pub reason: Option<String>,
}

/// The results of both searches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerDiff {
    /// True if the answers' rows are equal in any order; `None` when a journal lacks the rows.
    pub equal_rows: Option<bool>,
    /// The result of the first search.
    pub left: AnswerSide,
    /// The result of the second search.
    pub right: AnswerSide,
}

/// The result of one search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerSide {
    /// The outcome, as [`crate::OutcomeNode::kind`].
    pub outcome: String,
    /// The statement whose rows are the answer.
    pub sql: Option<String>,
    /// The number of rows.
    pub rows: Option<u64>,
    /// The calibrated confidence, 0 to 1.
    pub confidence: Option<f64>,
}

impl TreeDiff {
    /// Compares the trees of two searches over the same or a similar question.
    #[must_use]
    pub fn compare(left: &SearchTree, right: &SearchTree) -> Self {
        let differing = differing(left, right);
        let tasks: Vec<TaskPair> = rounds(left, right)
            .into_iter()
            .flat_map(|(number, left, right)| align::tasks(number, left, right))
            .collect();
        let answer = answer(left, right);
        let same_question = (&left.question, &left.evidence, &left.answers)
            == (&right.question, &right.evidence, &right.answers);
        let equal_sql = match (&answer.left.sql, &answer.right.sql) {
            (Some(left), Some(right)) => align::normal(left) == align::normal(right),
            (left, right) => left.is_none() && right.is_none(),
        };
        let equal = same_question
            && differing.is_empty()
            && tasks.iter().all(TaskPair::is_equal)
            && equal_sql
            && answer.equal_rows != Some(false)
            && AnswerSide { sql: None, ..answer.left.clone() }
                == AnswerSide { sql: None, ..answer.right.clone() };
        Self {
            schema: DIFF_SCHEMA.to_owned(),
            runs: [left.run.clone(), right.run.clone()],
            questions: [left.question.clone(), right.question.clone()],
            same_question,
            equal,
            given: differing,
            tasks,
            answer,
            counts: counts(left, right),
        }
    }
}

impl TaskPair {
    fn is_equal(&self) -> bool {
        self.matched_by.is_some()
            && self.differences.is_empty()
            && self.candidates.iter().all(CandidatePair::is_equal)
    }
}

impl CandidatePair {
    /// Returns whether the candidates are the same, ids aside.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        let (Some(left), Some(right)) = (&self.left, &self.right) else { return false };
        self.matched_by == Some(MatchedBy::Statement)
            && self.equal_result != Some(false)
            && (left.status, left.confidence, &left.reason)
                == (right.status, right.confidence, &right.reason)
    }
}

impl CandidateSide {
    fn from_node(candidate: &CandidateNode) -> Self {
        Self {
            id: candidate.id.clone(),
            sql: candidate.sql.clone(),
            status: candidate.status,
            confidence: candidate.confidence,
            reason: candidate.reason.clone(),
        }
    }
}

impl TaskSide {
    fn from_node(task: &TaskNode) -> Self {
        Self { id: task.id.clone(), text: task.text.clone() }
    }
}

/// The rounds of both searches, paired by number.
fn rounds<'a>(
    left: &'a SearchTree,
    right: &'a SearchTree,
) -> Vec<(u32, Option<&'a Round>, Option<&'a Round>)> {
    let mut numbers: Vec<u32> =
        left.rounds.iter().chain(&right.rounds).map(|round| round.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let find =
        |tree: &'a SearchTree, number| tree.rounds.iter().find(|round| round.number == number);
    numbers.into_iter().map(|number| (number, find(left, number), find(right, number))).collect()
}

fn differing(left: &SearchTree, right: &SearchTree) -> Vec<Difference> {
    let mut left = inputs(left);
    let mut right = inputs(right);
    let mut differences = Vec::new();
    for (what, value) in left.drain(..) {
        let other =
            right.iter().position(|(name, _)| *name == what).map(|place| right.remove(place).1);
        let other = other.unwrap_or(Value::Null);
        if value != other {
            differences.push(Difference { what, left: value, right: other });
        }
    }
    let only = right.into_iter().filter(|(_, value)| !value.is_null());
    differences.extend(only.map(|(what, right)| Difference { what, left: Value::Null, right }));
    differences
}

/// The inputs of a search by name.
fn inputs(tree: &SearchTree) -> Vec<(String, Value)> {
    let mut all = vec![
        ("host".to_owned(), tree.host.clone().into()),
        ("database".to_owned(), tree.database.clone().into()),
        ("evidence".to_owned(), tree.evidence.clone().into()),
        ("provider".to_owned(), tree.provider.clone().into()),
        ("models".to_owned(), tree.models.join(", ").into()),
    ];
    for Answered { question, answer } in &tree.answers {
        all.push((format!("answer to {question}"), answer.clone().into()));
    }
    for plugin in &tree.plugins {
        let digest = plugin.digest.trim_start_matches("sha256:");
        let digest = digest.get(..12).unwrap_or(digest);
        let text = format!("{} {} ({digest})", plugin.name, plugin.version);
        all.push((format!("plugin {}", plugin.role), text.into()));
    }
    flatten("settings", &tree.settings, &mut all);
    all
}

fn flatten(name: &str, value: &Value, into: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| flatten(&format!("{name}.{key}"), value, into))
        }
        Value::Array(items) if items.is_empty() => {}
        other => into.push((name.to_owned(), other.clone())),
    }
}

fn answer(left: &SearchTree, right: &SearchTree) -> AnswerDiff {
    fn describe_side(tree: &SearchTree) -> AnswerSide {
        AnswerSide {
            outcome: tree.outcome.kind.clone(),
            sql: tree.answer.as_ref().and_then(|answer| answer.sql.clone()),
            rows: tree.answer.as_ref().map(|answer| answer.row_count),
            confidence: tree.answer.as_ref().and_then(|answer| answer.confidence),
        }
    }
    fn answer_digest(tree: &SearchTree) -> Option<String> {
        tree.answer.as_ref().and_then(|answer| answer.digest.clone())
    }
    let equal_rows =
        answer_digest(left).zip(answer_digest(right)).map(|(left, right)| left == right);
    AnswerDiff { equal_rows, left: describe_side(left), right: describe_side(right) }
}

fn counts(left: &SearchTree, right: &SearchTree) -> Vec<Count> {
    type Take = fn(&SearchTree) -> Option<f64>;
    let takes: [(&str, Take); 9] = [
        ("model calls", |tree| Some(f64::from(tree.cost.calls))),
        ("answered by a cache", |tree| Some(f64::from(tree.cost.cached))),
        ("input tokens", |tree| Some(tree.cost.input_tokens as f64)),
        ("output tokens", |tree| Some(tree.cost.output_tokens as f64)),
        ("tokens charged", |tree| Some(tree.cost.tokens_charged as f64)),
        ("usd", |tree| tree.cost.usd),
        ("statements", |tree| Some(f64::from(tree.cost.sql_runs))),
        ("candidates", |tree| Some(candidates(tree) as f64)),
        ("milliseconds", |tree| Some(tree.took_us as f64 / 1000.0)),
    ];
    takes
        .into_iter()
        .map(|(what, take): (&str, Take)| Count {
            what: what.to_owned(),
            left: take(left),
            right: take(right),
        })
        .collect()
}

fn candidates(tree: &SearchTree) -> usize {
    tree.rounds
        .iter()
        .map(|round: &Round| -> usize {
            round.tasks.iter().map(|task| task.candidates.len()).sum()
        })
        .sum()
}
