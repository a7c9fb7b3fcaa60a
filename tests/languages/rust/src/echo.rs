//! The habit `echo`: values go through unchanged.

use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::json;

use crate::Settings;

pub fn linked(settings: &Settings, problem: &Problem, catalog: &Catalog) -> Linked {
    Linked {
        tables: catalog
            .tables
            .iter()
            .map(|table: &Table| Relevant {
                table: table.name.clone(),
                columns: table.columns.iter().map(|column| column.name.clone()).collect(),
                score: settings.share,
                reason: table.comment.clone().unwrap_or_default(),
            })
            .collect(),
        hints: problem.hints.clone(),
    }
}

/// A chain of one task for each clarification, or one task with the question.
pub fn graph(problem: &Problem) -> Graph {
    let mut tasks: Vec<Task> = Vec::new();
    for (number, (question, answer)) in problem.answers.iter().enumerate() {
        let depends_on = tasks.last().map(|task| task.id.clone()).into_iter().collect();
        let context = Some(json!({ "n": number }).to_string());
        tasks.push(Task { depends_on, context, ..Task::new(question, answer) });
    }
    if tasks.is_empty() {
        tasks.push(Task::new("A", &problem.question));
    }
    let answer = tasks[tasks.len() - 1].id.clone();
    Graph { tasks, answer, memo: Some(json!({ "question": problem.question }).to_string()) }
}

pub fn edit(graph: &Graph, seen: &Observation) -> Option<Edit> {
    match &seen.ending {
        Ending::Solved => Some(Edit::Finish),
        Ending::Failed(failure) => {
            Some(Edit::Add(Task::new(format!("{}-again", seen.task), &failure.message)))
        }
        Ending::Empty => Some(Edit::Answer(seen.task.clone())),
        Ending::Skipped(_) => Some(Edit::Cancel(seen.task.clone())),
        Ending::Cancelled => {
            let task = graph.task(&seen.task)?;
            Some(Edit::Update(Task { priority: 2.0, ..task.clone() }))
        }
        Ending::Other(_) => None,
    }
}

pub fn outcome(settings: &Settings, task: &Task, parents: &[Parent]) -> Outcome {
    let mut candidates: Vec<Candidate> = parents.iter().filter_map(candidate).collect();
    if parents.is_empty() {
        candidates.push(Candidate { raw_confidence: Some(settings.share), ..only("SELECT 1") });
    }
    let ask = (!settings.text.is_empty()).then(|| Question {
        text: settings.text.clone(),
        choices: vec!["yes".to_owned(), "no".to_owned()],
        ambiguity: settings.share,
    });
    Outcome {
        candidates,
        subtasks: Vec::new(),
        ask,
        memo: Some(json!({ "task": task.id }).to_string()),
    }
}

pub fn only(sql: &str) -> Candidate {
    named("only", sql)
}

pub fn named(id: &str, sql: &str) -> Candidate {
    Candidate {
        id: id.to_owned(),
        origin: "conformance".to_owned(),
        sql: sql.to_owned(),
        ..Candidate::default()
    }
}

fn candidate(parent: &Parent) -> Option<Candidate> {
    match &parent.output {
        Output::Relation(relation) => {
            let mut candidate = relation.candidate.clone();
            if candidate.origin.is_empty() {
                candidate.origin = "conformance".to_owned();
            }
            candidate.rationale =
                Some(format!("{}: {} rows", relation.name, relation.results.profile().rows));
            Some(candidate)
        }
        Output::Hits(hits) => {
            Some(named(&format!("hits-{}", hits.len()), &format!("SELECT {}", hits.len())))
        }
        Output::Failed(failure) => Some(Candidate {
            rationale: Some(failure.message.clone()),
            ..named("failed", "SELECT 0")
        }),
        Output::Other(_) => None,
    }
}

pub fn probability(settings: &Settings, claimed: f64, signals: &Signals) -> f64 {
    (claimed * settings.share + f64::from(signals.attempts) / 1000.0).clamp(0.0, 1.0)
}

pub fn verdict(settings: &Settings, rival: &Rival) -> Verdict {
    let profile = rival.results.profile();
    if profile.rows == 0 {
        return rejected(0.0, "no rows");
    }
    if profile.truncated {
        return Verdict::Unavailable("truncated".to_owned());
    }
    Verdict::Accepted(Opinion {
        score: settings.share,
        reason: format!("{} rows of {} columns", profile.rows, profile.columns.len()),
        checks: profile
            .columns
            .iter()
            .map(|column| (column.column.name.clone(), column.nulls == 0))
            .collect(),
    })
}

pub fn question(settings: &Settings, seen: &Observation) -> Option<Question> {
    let Ending::Failed(failure) = &seen.ending else { return None };
    Some(Question {
        text: failure.message.clone(),
        choices: seen.candidates.iter().map(|candidate| candidate.origin.clone()).collect(),
        ambiguity: settings.share,
    })
}

pub fn answer(
    settings: &Settings,
    graph: &Graph,
    finished: &[Finished],
    seen: &[Observation],
) -> Option<Answer> {
    let last = finished.iter().find(|finished| finished.task.id == graph.answer)?;
    let skipped = seen.iter().filter(|seen| matches!(seen.ending, Ending::Skipped(_)));
    Some(Answer {
        text: last.candidate.sql.clone(),
        task: last.task.id.clone(),
        candidate: Some(last.candidate.id.clone()),
        sql: settings.flag.then(|| format!("SELECT * FROM {}", last.name)),
        confidence: last.candidate.confidence.unwrap_or(0.0),
        basis: finished.iter().map(|finished| finished.task.text.clone()).collect(),
        caveats: skipped.map(|seen| seen.task.clone()).collect(),
    })
}

pub fn proposal(settings: &Settings, best: &str, history: &[Attempt]) -> Option<Proposal> {
    let number = history.len();
    if number >= settings.size as usize {
        return None;
    }
    let reason = history.last().map_or_else(|| "first".to_owned(), |attempt| word(&attempt.trial));
    Some(Proposal::new(format!("{best} -- {number}"), format!("f{number}"), reason))
}

fn word(trial: &Trial) -> String {
    match trial {
        Trial::Accepted(speed) => format!("accepted {speed:.1}"),
        Trial::Slower(speed) => format!("slower {speed:.1}"),
        Trial::Mismatch => "mismatch".to_owned(),
        Trial::Reordered => "reordered".to_owned(),
        Trial::OtherColumns => "other-columns".to_owned(),
        Trial::Refused(why) => format!("refused: {why}"),
        Trial::Failed(why) => format!("failed: {why}"),
        Trial::TooLarge => "too-large".to_owned(),
        Trial::Other(name) => name.clone(),
    }
}
