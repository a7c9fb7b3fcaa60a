//! The ground of an answer: the rows that it rests on, found, judged and bounded by the host,
//! whatever the aggregator claims.

use std::sync::Arc;

use syrch_core::ports::HOST;
use syrch_core::roles::{Aggregator, Answer, Finished, Role};
use syrch_core::{Candidate, ResultSet, RoleError, Signals, Task, TaskId, Verdict};
use syrch_scheduler::Run;

use crate::context::Context;
use crate::context::prepare::Prepared;
use crate::runner::{Solved, limit_confidence, relations_of, why_unacceptable};

/// An answer with the rows that are its ground.
pub(crate) struct Grounded {
    pub(crate) answer: Answer,
    /// The candidate whose rows they are, and the task that it was made for; `None` if a statement
    /// of the aggregator's own gave them.
    pub(crate) candidate: Option<(TaskId, Candidate)>,
    pub(crate) results: Arc<ResultSet>,
}

/// Lets the aggregator make the answer and finds its ground. `None` if nothing here answers the
/// question.
pub(crate) async fn aggregate(
    context: &Arc<Context>,
    run: &Run<Solved>,
    warnings: &mut Vec<String>,
) -> Result<Option<Grounded>, RoleError> {
    let solved: Vec<(&Task, &Solved)> = run
        .ended
        .values()
        .filter_map(|ended| Some((&ended.task, ended.output.as_ref()?)))
        .collect();
    if solved.is_empty() {
        return Ok(None);
    }
    let finished: Vec<Finished> =
        solved.iter().map(|(task, solved)| make_finished(task, solved)).collect();
    let relations = relations_of(solved.iter().map(|(_, solved)| *solved));
    let aggregator = context.run.plugins.for_role(Role::Aggregator)?;
    let prepared = context.start_call(Role::Aggregator, None, relations, None).await;
    let call = prepared.call.clone();
    let answer =
        aggregator.aggregate(call, &prepared.problem, &run.graph, &finished, &run.seen).await;
    let grounded = match answer {
        Ok(answer) => ground(context, &prepared, answer, solved, warnings).await,
        Err(error) => Err(error),
    };
    prepared.end(grounded.as_ref().err().cloned(), || ()).await;
    grounded
}

/// Finds the rows that an answer rests on.
async fn ground(
    context: &Arc<Context>,
    prepared: &Prepared,
    answer: Option<Answer>,
    solved: Vec<(&Task, &Solved)>,
    warnings: &mut Vec<String>,
) -> Result<Option<Grounded>, RoleError> {
    let Some(mut answer) = answer else { return Ok(None) };
    let Some((task, ground)) = solved.into_iter().find(|(task, _)| task.id == answer.task) else {
        return Ok(None);
    };
    // An aggregator may lower the calibrator's confidence, and never raise it.
    answer.confidence = answer.confidence.min(ground.candidate.confidence.unwrap_or(0.0));
    if let Some(sql) = answer.sql.clone() {
        match own_statement(context, prepared, task, &sql).await? {
            Ok(results) => {
                answer.confidence = limit_confidence(context, answer.confidence, &results);
                return Ok(Some(Grounded { answer, candidate: None, results }));
            }
            Err(reason) => warnings.push(format!(
                "the tasks' results could not be put together ({reason}); the answer is that of \
                 task {} alone",
                answer.task
            )),
        }
    }
    let (candidate, mut results) = choose_candidate(context, &answer, ground).await?;
    // A task that is worded otherwise was not held to the question; the memo has the rows.
    if task.text.trim() != context.problem.question.trim() {
        results = prepared.sql.run(&candidate.sql).await.unwrap_or(results);
    }
    if let Some(reason) = why_unacceptable(context, &results) {
        warnings.push(format!("the answer of task {} is {reason}", answer.task));
        return Ok(None);
    }
    answer.confidence = limit_confidence(context, answer.confidence, &results);
    Ok(Some(Grounded { answer, candidate: Some((ground.task.clone(), candidate)), results }))
}

fn make_finished(task: &Task, solved: &Solved) -> Finished {
    Finished {
        name: solved.name.clone(),
        task: task.clone(),
        candidate: solved.candidate.clone(),
        others: solved.others.clone(),
        results: Arc::clone(&solved.results),
    }
}

/// Runs a statement of the aggregator's own and has it judged like any candidate. The inner error
/// is why it cannot be used.
async fn own_statement(
    context: &Context,
    prepared: &Prepared,
    task: &Task,
    sql: &str,
) -> Result<Result<Arc<ResultSet>, String>, RoleError> {
    let results = match prepared.sql.run(sql).await {
        Ok(results) => results,
        Err(error) => return Ok(Err(error.to_string())),
    };
    if let Some(reason) = why_unacceptable(context, &results) {
        return Ok(Err(reason));
    }
    let signals = Signals {
        attempts: 1,
        max_attempts: 1,
        empty_result: results.row_count() == 0,
        ..Signals::default()
    };
    let id = format!("{}.answer", task.id);
    let candidate = Candidate {
        id,
        origin: "aggregate".to_owned(),
        sql: sql.to_owned(),
        signals,
        ..Candidate::default()
    };
    let verdicts =
        match prepared.evaluate.call_reward(HOST, &Arc::new(task.clone()), vec![candidate]).await {
            Err(error) if error.is_fault() => return Err(error),
            verdicts => verdicts.unwrap_or_default(),
        };
    Ok(match verdicts.into_iter().next() {
        Some(Verdict::Rejected(opinion)) => Err(format!("rejected: {}", opinion.reason)),
        _ => Ok(results),
    })
}

/// The candidate that the answer names, with its rows; the task's best one when it names none.
async fn choose_candidate(
    context: &Arc<Context>,
    answer: &Answer,
    ground: &Solved,
) -> Result<(Candidate, Arc<ResultSet>), RoleError> {
    let best = || (ground.candidate.clone(), Arc::clone(&ground.results));
    let Some(id) = answer.candidate.as_ref().filter(|id| **id != ground.candidate.id) else {
        return Ok(best());
    };
    let invalid = |what: &str| RoleError::Invalid {
        plugin: context.run.plugins.name(Role::Aggregator),
        export: "aggregator.aggregate".to_owned(),
        detail: format!("`answer.candidate` `{id}` {what}"),
    };
    let other = ground.others.iter().find(|other| other.id == *id);
    let other =
        other.ok_or_else(|| invalid(&format!("is no candidate of task {}", answer.task)))?;
    let prepared = context.start_call(Role::Aggregator, None, ground.relations.clone(), None).await;
    let results = prepared
        .sql
        .run(&other.sql)
        .await
        .map_err(|error| invalid(&format!("does not run: {error}")));
    prepared.end(results.as_ref().err().cloned(), || ()).await;
    Ok((other.clone(), results?))
}
