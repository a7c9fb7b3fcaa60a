//! The reasoning of a strategy, in the terms of the answer's document: tasks with what their
//! planner states, verdicts, and steps of its own.

use serde_json::Value;
use syrch_core::ports::{Purpose, Reply, Request, Shape};
use syrch_core::text::clip;
use syrch_core::{Ending, Graph, Observation, Operation, Stated, Task, Verdict};

use crate::report::{RewardReport, StepReport, TaskReport, VerdictWord};

/// The most bytes of a text.
const TEXT: usize = 2_000;
/// The most checks that a verdict names.
const CHECKS: usize = 32;
/// The most bytes of the name and of the data of a step.
const STEP: (usize, usize) = (64, 1_024);

/// The tasks of a graph in its order.
pub(crate) fn tasks(graph: &Graph, seen: &[Observation]) -> Vec<TaskReport> {
    graph.tasks.iter().map(|task| report(task, graph, seen)).collect()
}

fn report(task: &Task, graph: &Graph, seen: &[Observation]) -> TaskReport {
    let ended = seen.iter().rfind(|observation| observation.task == task.id);
    let open = open_task(task, &graph.answer);
    let Some(ended) = ended else { return open };
    let (ending, reason) = words(&ended.ending);
    let subtasks = ended.subtasks.iter().map(|task| task.id.clone()).collect();
    TaskReport { ending: ending.to_owned(), reason, subtasks, ..open }
}

/// A task that has not ended; `answer` is the task that answers the question.
pub(crate) fn open_task(task: &Task, answer: &str) -> TaskReport {
    let Stated { plan, parts, requirements } = Stated::from_task(task);
    TaskReport {
        id: task.id.clone(),
        parent: task.parent.clone(),
        text: clip(&task.text, TEXT).to_owned(),
        operation: match &task.operation {
            Operation::Solve => "solve",
            Operation::Retrieve(_) => "retrieve",
            Operation::Choose => "choose",
            Operation::Other(name) => clip(name, STEP.0),
        }
        .to_owned(),
        depends_on: task.depends_on.clone(),
        is_answer: task.id == answer,
        confidence: task.confidence,
        expected: task.expected.as_deref().map(|text| clip(text, TEXT).to_owned()),
        plan,
        parts,
        requirements,
        ending: "not-ended".to_owned(),
        reason: None,
        subtasks: Vec::new(),
    }
}

fn words(ending: &Ending) -> (&'static str, Option<String>) {
    match ending {
        Ending::Solved => ("solved", None),
        Ending::Empty => ("empty", None),
        Ending::Failed(failure) => ("failed", Some(clip(&failure.to_string(), TEXT).to_owned())),
        Ending::Skipped(reason) => ("skipped", Some(clip(reason, TEXT).to_owned())),
        Ending::Cancelled => ("cancelled", None),
        Ending::Other(name) => ("other", Some(clip(name, TEXT).to_owned())),
    }
}

/// A verdict of the reward, on a whole statement or on a step.
pub(crate) fn reward(verdict: &Verdict, is_step: bool) -> RewardReport {
    let (word, opinion) = match verdict {
        Verdict::Accepted(opinion) => (VerdictWord::Accepted, opinion),
        Verdict::Rejected(opinion) => (VerdictWord::Rejected, opinion),
        Verdict::Unavailable(reason) => {
            let reason = clip(reason, TEXT).to_owned();
            return RewardReport {
                verdict: VerdictWord::Unavailable,
                score: None,
                reason,
                failed: Vec::new(),
                is_step,
            };
        }
    };
    let failed = opinion.checks.iter().filter(|(_, passed)| !passed).take(CHECKS);
    RewardReport {
        verdict: word,
        score: Some(opinion.score),
        reason: clip(&opinion.reason, TEXT).to_owned(),
        failed: failed.map(|(name, _)| clip(name, TEXT).to_owned()).collect(),
        is_step,
    }
}

/// A step of the strategy's own. Data that is too long is left out.
pub(crate) fn step(task: &str, candidate: Option<&str>, name: &str, data: &str) -> StepReport {
    StepReport {
        task: task.to_owned(),
        candidate: candidate.map(str::to_owned),
        name: clip(name, STEP.0).to_owned(),
        data: serde_json::from_str(data).ok().filter(|_| data.len() <= STEP.1),
    }
}

/// Returns the judgements in the reply of a judging call: yes or no for each statement that the
/// call is about. Empty where it cannot be read: it is read as one of the words that stand for the
/// statements, or as a document with `accepted`, or with PASS or FAIL as its `verdict`.
pub(crate) fn judgements(request: &Request, reply: &Reply) -> Vec<(String, bool)> {
    let parsed: Option<Value> =
        reply.parsed.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let Some(parsed) =
        parsed.filter(|_| matches!(request.purpose, Purpose::Judge | Purpose::Select))
    else {
        return Vec::new();
    };
    match (&request.expect, request.subjects.as_slice()) {
        (Shape::Choice(words), subjects) if words.len() == subjects.len() => {
            let chosen = words.iter().position(|word| parsed.as_str() == Some(word));
            subjects
                .iter()
                .enumerate()
                .filter_map(|(place, sql): (usize, &String)| Some((sql.clone(), place == chosen?)))
                .collect()
        }
        (_, [sql]) => {
            is_accepted(&parsed).map(|accepted| (sql.clone(), accepted)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn is_accepted(parsed: &Value) -> Option<bool> {
    parsed.get("accepted").and_then(Value::as_bool).or_else(|| {
        match parsed.get("verdict")?.as_str()?.trim().to_ascii_uppercase().as_str() {
            "PASS" => Some(true),
            "FAIL" => Some(false),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::Usage;

    use super::*;

    fn read_judgements(
        purpose: Purpose,
        expect: Shape,
        subjects: &[&str],
        parsed: &str,
    ) -> Vec<(String, bool)> {
        let subjects = subjects.iter().map(|sql| (*sql).to_owned()).collect();
        let request = Request { subjects, ..Request::new(purpose, Vec::new(), expect) };
        let parsed = Some(parsed.to_owned());
        judgements(
            &request,
            &Reply {
                text: String::new(),
                parsed,
                truncated: false,
                logprob: None,
                usage: Usage::default(),
            },
        )
    }

    #[test]
    fn judging_replies_say_yes_or_no_of_their_subjects() {
        let yes = |sql: &str| (sql.to_owned(), true);
        let no = |sql: &str| (sql.to_owned(), false);
        let words = || Shape::Choice(vec!["A".into(), "B".into()]);
        assert_eq!(
            read_judgements(Purpose::Select, words(), &["1", "2"], "\"B\""),
            [no("1"), yes("2")]
        );
        assert_eq!(read_judgements(Purpose::Select, words(), &["1", "2"], "\"C\""), []);
        assert_eq!(read_judgements(Purpose::Select, words(), &["1"], "\"A\""), []);
        let json = || Shape::Json("{}".into());
        assert_eq!(
            read_judgements(Purpose::Judge, json(), &["1"], r#"{"accepted":false,"score":1}"#),
            [no("1")]
        );
        assert_eq!(
            read_judgements(
                Purpose::Judge,
                Shape::Yaml(Vec::new()),
                &["1"],
                r#"{"verdict":" pass "}"#
            ),
            [yes("1")]
        );
        assert_eq!(read_judgements(Purpose::Judge, json(), &["1"], r#"{"verdict":7}"#), []);
        assert_eq!(
            read_judgements(Purpose::Judge, json(), &["1", "2"], r#"{"accepted":true}"#),
            []
        );
        assert_eq!(read_judgements(Purpose::Repair, json(), &["1"], r#"{"accepted":true}"#), []);
    }

    #[test]
    fn what_is_hostile_is_bounded() {
        let long = "é".repeat(9_000);
        let verdict = Verdict::Rejected(syrch_core::Opinion {
            score: 0.0,
            reason: long.clone(),
            checks: (0..99).map(|_| (long.clone(), false)).collect(),
        });
        let report = reward(&verdict, false);
        assert!(
            report.reason.len() <= TEXT
                && report.failed.len() == CHECKS
                && report.failed[0].len() <= TEXT
        );
        let step = step("A", None, &long, &format!("\"{long}\""));
        assert!(step.name.len() <= STEP.0 && step.data.is_none());
    }
}
