//! Two searches side by side: what they were told, which of their tasks and candidates correspond, and whether they came to the same.

mod align;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tree::{CandidateNode, Round, SearchTree, Status, TaskNode};

/// What [`TreeDiff::schema`] says.
pub const DIFF_SCHEMA: &str = "syrch.trace-diff/1";

/// Two searches side by side, the first on the left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeDiff {
    /// Always [`DIFF_SCHEMA`].
    pub schema: String,
    /// The runs' ids.
    pub runs: [String; 2],
    /// The questions as asked.
    pub questions: [String; 2],
    /// Whether both were asked the same, evidence included.
    pub same_question: bool,
    /// Whether nothing below differs but times and costs.
    pub equal: bool,
    /// What they were told that differs: plugins by digest, models, settings.
    pub told: Vec<Difference>,
    /// Tasks that correspond, and those of one side only.
    pub tasks: Vec<TaskPair>,
    /// What they came to.
    pub answer: AnswerDiff,
    /// Calls, costs and time.
    pub counts: Vec<Count>,
}

/// Something that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// What.
    pub what: String,
    /// On the left; null: not there.
    pub left: Value,
    /// On the right.
    pub right: Value,
}

/// A number on both sides; null: unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// What.
    pub what: String,
    /// On the left.
    pub left: Option<f64>,
    /// On the right.
    pub right: Option<f64>,
}

/// Why two things are taken to correspond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchedBy {
    /// They have the same id, and texts that are alike.
    Id,
    /// Their texts are alike.
    Text,
    /// Their statements are equal but for spaces and letter case.
    Statement,
    /// Their results are equal.
    Result,
}

/// Two tasks that correspond, or one alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskPair {
    /// The round.
    pub round: u32,
    /// Why; none: one alone.
    pub matched_by: Option<MatchedBy>,
    /// The first search's.
    pub left: Option<TaskSide>,
    /// The second search's.
    pub right: Option<TaskSide>,
    /// What of them differs; for an edge, a task stands under the id of the one on the left that corresponds to it.
    pub differences: Vec<Difference>,
    /// Their candidates.
    pub candidates: Vec<CandidatePair>,
}

/// A task of one search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskSide {
    /// Its id.
    pub id: String,
    /// What to find out.
    pub text: String,
}

/// Two candidates that correspond, or one alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidatePair {
    /// Why; none: one alone.
    pub matched_by: Option<MatchedBy>,
    /// Whether their results are equal; none: unknown.
    pub equal_result: Option<bool>,
    /// The first search's.
    pub left: Option<CandidateSide>,
    /// The second search's.
    pub right: Option<CandidateSide>,
}

/// A candidate of one search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateSide {
    /// Its id.
    pub id: String,
    /// The statement.
    pub sql: String,
    /// What became of it.
    pub status: Status,
    /// 0 to 1.
    pub confidence: Option<f64>,
    /// Why it was kept or dropped.
    pub reason: Option<String>,
}

/// What two searches came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerDiff {
    /// Whether the answers' rows are equal in any order; none: rows are missing on a side.
    pub equal_rows: Option<bool>,
    /// The first search's.
    pub left: AnswerSide,
    /// The second search's.
    pub right: AnswerSide,
}

/// What one search came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerSide {
    /// How it ended.
    pub outcome: String,
    /// The statement whose rows are the answer.
    pub sql: Option<String>,
    /// How many rows.
    pub rows: Option<u64>,
    /// 0 to 1.
    pub confidence: Option<f64>,
}

impl TreeDiff {
    /// Both trees side by side.
    #[must_use]
    pub fn of(left: &SearchTree, right: &SearchTree) -> Self {
        let told = told(left, right);
        let tasks: Vec<TaskPair> = rounds(left, right)
            .into_iter()
            .flat_map(|(number, left, right)| align::tasks(number, left, right))
            .collect();
        let answer = answer(left, right);
        let same_question = left.question == right.question && left.evidence == right.evidence;
        let equal_sql = match (&answer.left.sql, &answer.right.sql) {
            (Some(left), Some(right)) => align::normal(left) == align::normal(right),
            (left, right) => left.is_none() && right.is_none(),
        };
        let equal = same_question
            && told.is_empty()
            && tasks.iter().all(TaskPair::is_equal)
            && equal_sql
            && answer.equal_rows != Some(false)
            && AnswerSide { sql: None, ..answer.left.clone() } == AnswerSide { sql: None, ..answer.right.clone() };
        Self {
            schema: DIFF_SCHEMA.to_owned(),
            runs: [left.run.clone(), right.run.clone()],
            questions: [left.question.clone(), right.question.clone()],
            same_question,
            equal,
            told,
            tasks,
            answer,
            counts: counts(left, right),
        }
    }
}

impl TaskPair {
    fn is_equal(&self) -> bool {
        self.matched_by.is_some() && self.differences.is_empty() && self.candidates.iter().all(CandidatePair::is_equal)
    }
}

impl CandidatePair {
    /// Whether nothing of them differs; ids aside.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        let (Some(left), Some(right)) = (&self.left, &self.right) else { return false };
        self.matched_by == Some(MatchedBy::Statement)
            && self.equal_result != Some(false)
            && (left.status, left.confidence, &left.reason) == (right.status, right.confidence, &right.reason)
    }
}

impl CandidateSide {
    fn of(candidate: &CandidateNode) -> Self {
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
    fn of(task: &TaskNode) -> Self {
        Self { id: task.id.clone(), text: task.text.clone() }
    }
}

/// Rounds of the same number.
fn rounds<'a>(left: &'a SearchTree, right: &'a SearchTree) -> Vec<(u32, Option<&'a Round>, Option<&'a Round>)> {
    let mut numbers: Vec<u32> = left.rounds.iter().chain(&right.rounds).map(|round| round.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let find = |tree: &'a SearchTree, number| tree.rounds.iter().find(|round| round.number == number);
    numbers.into_iter().map(|number| (number, find(left, number), find(right, number))).collect()
}

fn told(left: &SearchTree, right: &SearchTree) -> Vec<Difference> {
    let (mut left, mut right) = (given(left), given(right));
    let mut differences = Vec::new();
    for (what, value) in left.drain(..) {
        let other = right.iter().position(|(name, _)| *name == what).map(|place| right.remove(place).1);
        let other = other.unwrap_or(Value::Null);
        if value != other {
            differences.push(Difference { what, left: value, right: other });
        }
    }
    let only = right.into_iter().filter(|(_, value)| !value.is_null());
    differences.extend(only.map(|(what, right)| Difference { what, left: Value::Null, right }));
    differences
}

/// What a search was told, each with a name.
fn given(tree: &SearchTree) -> Vec<(String, Value)> {
    let mut all = vec![
        ("host".to_owned(), tree.host.clone().into()),
        ("database".to_owned(), tree.database.clone().into()),
        ("evidence".to_owned(), tree.evidence.clone().into()),
        ("provider".to_owned(), tree.provider.clone().into()),
        ("models".to_owned(), tree.models.join(", ").into()),
    ];
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
        Value::Object(map) => map.iter().for_each(|(key, value)| flatten(&format!("{name}.{key}"), value, into)),
        Value::Array(items) if items.is_empty() => {}
        other => into.push((name.to_owned(), other.clone())),
    }
}

fn answer(left: &SearchTree, right: &SearchTree) -> AnswerDiff {
    let side = |tree: &SearchTree| AnswerSide {
        outcome: tree.outcome.kind.clone(),
        sql: tree.answer.as_ref().and_then(|answer| answer.sql.clone()),
        rows: tree.answer.as_ref().map(|answer| answer.row_count),
        confidence: tree.answer.as_ref().and_then(|answer| answer.confidence),
    };
    let digest = |tree: &SearchTree| tree.answer.as_ref().and_then(|answer| answer.digest.clone());
    let equal_rows = digest(left).zip(digest(right)).map(|(left, right)| left == right);
    AnswerDiff { equal_rows, left: side(left), right: side(right) }
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
    let count = |(what, take): (&str, Take)| Count { what: what.to_owned(), left: take(left), right: take(right) };
    takes.into_iter().map(count).collect()
}

fn candidates(tree: &SearchTree) -> usize {
    let of = |round: &Round| -> usize { round.tasks.iter().map(|task| task.candidates.len()).sum() };
    tree.rounds.iter().map(of).sum()
}
