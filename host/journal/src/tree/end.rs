//! The end of a run: the document `syrch.answer/1`, which completes what the records hold.

use serde_json::Value;
use sha2::{Digest, Sha256};

use syrch_core::{Opinion, Verdict};

use super::build::Builder;
use super::{AnswerNode, SearchTree, Status};

/// The prefix of the reason of a candidate from before a clarification.
const EARLIER: &str = "from before the clarification: ";

impl Builder<'_> {
    pub(super) fn document(&mut self, document: &Value) {
        self.tree.answer = self.answer(document);
        let warnings = document.get("warnings").and_then(Value::as_array);
        self.tree.warnings = warnings.into_iter().flatten().filter_map(text).collect();
        let candidates = document.get("candidates").and_then(Value::as_array);
        for reported in candidates.into_iter().flatten() {
            self.add_reported(reported);
        }
    }

    fn answer(&self, document: &Value) -> Option<AnswerNode> {
        let body = document.get("answer").filter(|body| !body.is_null())?;
        let all: Vec<Vec<Value>> = body
            .get("rows")
            .and_then(|rows| serde_json::from_value(rows.clone()).ok())
            .unwrap_or_default();
        let row_count = body.get("row_count").and_then(Value::as_u64).unwrap_or(0);
        let columns: Vec<String> = list(body.get("columns"));
        fn read_confidence(document: &Value, name: &str) -> Option<f64> {
            document.get("confidence")?.get(name)?.as_f64()
        }
        Some(AnswerNode {
            text: self.shown.rows.and_then(|_| body.get("text").and_then(text)),
            sql: document.get("sql").and_then(text),
            digest: (all.len() as u64 == row_count).then(|| digest(&all, columns.len())),
            columns,
            rows: all.into_iter().take(self.shown.rows.unwrap_or(0)).collect(),
            row_count,
            truncated: body.get("truncated").and_then(Value::as_bool).unwrap_or(false),
            claimed: read_confidence(document, "raw"),
            confidence: read_confidence(document, "calibrated"),
        })
    }

    /// The document's properties of a candidate. Ids of earlier rounds have the number of the
    /// clarification that ended them as a prefix.
    fn add_reported(&mut self, reported: &Value) {
        let field = |name: &str| reported.get(name).and_then(Value::as_str).unwrap_or_default();
        let last = self.round().number;
        let round = round_of(field("task")).filter(|round| *round < last);
        let name = |text: &str| match round {
            Some(round) => {
                text.strip_prefix(&format!("round{}:", round + 1)).unwrap_or(text).to_owned()
            }
            None => text.to_owned(),
        };
        let task = name(field("task"));
        let id = name(field("id"));
        let known = self.candidate_of(round.unwrap_or(last), &task, &id);
        if known.sql.is_empty() {
            field("sql").clone_into(&mut known.sql);
        }
        let reason = field("reason");
        known.reason = Some(reason.strip_prefix(EARLIER).unwrap_or(reason).to_owned())
            .filter(|text| !text.is_empty());
        known.cluster = reported
            .get("cluster")
            .and_then(Value::as_u64)
            .and_then(|number| u32::try_from(number).ok());
        known.verdict = known.verdict.take().or_else(|| reported.get("reward").and_then(verdict));
        known.confidence = reported.get("confidence").and_then(Value::as_f64).or(known.confidence);
        match (round, field("status")) {
            (None, "answer") => known.status = Status::Answer,
            (None, "kept") => known.status = Status::Kept,
            (None, "dropped") => known.status = Status::Dropped,
            // The document drops all candidates of an earlier round; the status until then is more
            // specific.
            _ if known.status == Status::Open => known.status = Status::Dropped,
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> SearchTree {
        self.settle_candidates();
        let Self { mut tree, calls, .. } = self;
        (tree.calls, tree.cost) = calls.finish();
        tree
    }
}

/// The document's verdict of the reward, with the checks that did not pass.
fn verdict(reward: &Value) -> Option<Verdict> {
    let reason = reward.get("reason").and_then(text).unwrap_or_default();
    let score = reward.get("score").and_then(Value::as_f64).unwrap_or_default();
    let checks = list(reward.get("failed")).into_iter().map(|name| (name, false)).collect();
    match reward.get("verdict")?.as_str()? {
        "accepted" => Some(Verdict::Accepted(Opinion { score, reason, checks })),
        "rejected" => Some(Verdict::Rejected(Opinion { score, reason, checks })),
        "unavailable" => Some(Verdict::Unavailable(reason)),
        _ => None,
    }
}

/// The round that a task of the document is from: `round1:A` was ended by the first clarification.
fn round_of(task: &str) -> Option<u32> {
    let (number, _) = task.strip_prefix("round")?.split_once(':')?;
    number.parse::<u32>().ok()?.checked_sub(1)
}

pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn list(value: Option<&Value>) -> Vec<String> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(text).collect()
}

/// Equal for equal rows in any order.
fn digest(rows: &[Vec<Value>], width: usize) -> String {
    let mut lines: Vec<String> =
        rows.iter().map(|row| serde_json::json!(row).to_string()).collect();
    lines.sort_unstable();
    let mut hasher = Sha256::new();
    hasher.update((width as u64).to_le_bytes());
    for line in lines {
        hasher.update((line.len() as u64).to_le_bytes());
        hasher.update(line.as_bytes());
    }
    syrch_core::text::hex(hasher.finalize())
}
