//! The document `syrch.answer/1`, put together from what a search left behind.

use std::time::Duration;

use syrch_core::ledger::Spent;
use syrch_core::roles::Answer;
use syrch_core::{Graph, Observation, Question, ResultSet, TaskId};
use syrch_journal::Verified;
use syrch_runtime::Configured;

use crate::context::Context;
use crate::ground::Grounded;
use crate::json_value::json_value;
use crate::report::{
    ANSWER_SCHEMA, AnswerBody, AnswerDocument, CandidateReport, CandidateStatus, ClarifyReport,
    Confidence, CostReport, OriginReport, PluginReport, SavedReport, TimeReport, VerdictWord,
};
use crate::rests_on::{departure, rests_on};
use crate::runner::{DOUBTED, UNCLEAR};
use crate::sentence::{restate, say_unit};
use crate::thought;

/// The time that each part of a search took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    pub(crate) total: Duration,
    pub(crate) plan: Duration,
    pub(crate) solve: Duration,
    pub(crate) aggregate: Duration,
}

/// The search graph as it stood at the end, and what was seen of its tasks.
#[derive(Clone, Copy)]
pub(crate) struct Worked<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) seen: &'a [Observation],
}

/// Puts the document together. Without a ground there is no answer, no SQL and no confidence in it.
pub(crate) fn document(
    question: &str,
    context: &Context,
    worked: Worked<'_>,
    grounded: Option<&Grounded>,
    clarify: Option<&Question>,
    times: Times,
    mut warnings: Vec<String>,
) -> AnswerDocument {
    if let Some((task, candidate)) = grounded.and_then(|grounded| grounded.candidate.as_ref()) {
        context
            .run
            .trace
            .settle(task, &candidate.id, |known| known.status = CandidateStatus::Answer);
    }
    let spent = context.run.ledger.spending();
    add_warnings(context, grounded, spent.log_dropped, &mut warnings);
    let ids: Vec<TaskId> = worked.graph.tasks.iter().map(|task| task.id.clone()).collect();
    let mut candidates = context.run.trace.candidates();
    for known in &mut candidates {
        known.judged = context.notes.judgements_of(&known.task, &known.sql);
    }
    AnswerDocument {
        schema: ANSWER_SCHEMA.to_owned(),
        run: context.run.id.clone(),
        question: question.to_owned(),
        answer: grounded.map(|grounded| {
            let body = body(&grounded.answer, &grounded.results);
            // A sentence of the rule has no formats and units; one of a model stays.
            let defined = match context.notes.origin_of(&grounded.results.sql) {
                Some(OriginReport::Metric(report)) => {
                    restate(&body.text, &report, &grounded.results)
                }
                _ => say_unit(&body.text, &grounded.results.sql),
            };
            AnswerBody { text: defined.unwrap_or(body.text.clone()), ..body }
        }),
        sql: grounded.map(|grounded| grounded.results.sql.clone()),
        dialect: context.catalog.dialect.name().to_owned(),
        confidence: grounded.map(|grounded| Confidence {
            raw: grounded.candidate.as_ref().and_then(|(_, candidate)| candidate.raw_confidence),
            calibrated: grounded.answer.confidence,
            // What is known is known of answers that are one candidate's, not of joins.
            rests_on: grounded
                .candidate
                .as_ref()
                .filter(|_| context.find_settled().is_none())
                .and_then(|_| rests_on(&context.run.settings, grounded.answer.confidence)),
        }),
        origin: grounded.and_then(|grounded| origin(context, &grounded.results.sql)),
        tasks: thought::tasks(worked.graph, worked.seen),
        candidates,
        steps: context.run.trace.steps(&ids),
        clarify: clarify.map(|question| ClarifyReport {
            question: question.text.clone(),
            choices: question.choices.clone(),
            ambiguity: question.ambiguity,
        }),
        cost: CostReport { cut_off: context.notes.cut_off().0, ..cost(&spent) },
        time_ms: TimeReport {
            total: millis(times.total),
            plan: millis(times.plan),
            solve: millis(times.solve),
            aggregate: millis(times.aggregate),
        },
        plugins: context.run.plugins.all().map(plugin).collect(),
        warnings,
    }
}

/// Adds the warnings about an answer and about what its document leaves out: `log_dropped` is the
/// number of bytes of remarks that were dropped.
fn add_warnings(
    context: &Context,
    grounded: Option<&Grounded>,
    log_dropped: u64,
    warnings: &mut Vec<String>,
) {
    if let Some(grounded) = grounded {
        warnings.extend(grounded.answer.caveats.iter().cloned());
        warnings.extend(doubt_of_reward(context, grounded));
        let is_unclear = grounded
            .candidate
            .as_ref()
            .is_some_and(|(task, candidate)| context.notes.is_unclear(task, &candidate.sql));
        warnings.extend(is_unclear.then(|| UNCLEAR.to_owned()));
        let by_rules = context.notes.doubts_of(&grounded.results.sql);
        // A caveat of the aggregator as a rule repeats the doubts about its rows.
        for doubt in by_rules.into_iter().chain(grounded.results.profile().warnings) {
            if !warnings.iter().any(|known| known.contains(&doubt)) {
                warnings.push(doubt);
            }
        }
        warnings.extend(departure(&context.run.settings));
    }
    if log_dropped > 0 {
        warnings.push(format!(
            "{log_dropped} bytes of plugins' remarks went over the quota and were dropped"
        ));
    }
    let unlisted = context.run.trace.count_unlisted();
    if unlisted > 0 {
        warnings.push(format!("{unlisted} more candidates were proposed than are listed"));
    }
}

/// The origin of an answer; `None` where metrics are defined and a recording replies, which does
/// not say.
fn origin(context: &Context, sql: &str) -> Option<OriginReport> {
    let settings = &context.run.settings;
    if let Some(Verified { question, by, at, .. }) = context.find_verified() {
        return Some(OriginReport::Verified {
            question: question.clone(),
            by: by.clone(),
            at: at.clone(),
        });
    }
    // The statement may be one that the rules compiled when the recording was made.
    let is_unknown = !settings.semantics.is_empty() && settings.model.replay.is_some();
    context.notes.origin_of(sql).or((!is_unknown).then_some(OriginReport::Generated))
}

/// The reason why the reward doubts the statement of the answer, if it accepts it in doubt.
fn doubt_of_reward(context: &Context, grounded: &Grounded) -> Option<String> {
    let (task, candidate) = grounded.candidate.as_ref()?;
    let known = context.run.trace.candidates();
    let reward = known
        .iter()
        .find(|known: &&CandidateReport| known.id == candidate.id && known.task == *task)?
        .reward
        .as_ref()?;
    let is_doubted = reward.verdict == VerdictWord::Accepted
        && reward.score.is_some_and(|score| score < DOUBTED);
    is_doubted.then(|| format!("the reward doubts the answer: {}", reward.reason))
}

fn body(answer: &Answer, results: &ResultSet) -> AnswerBody {
    AnswerBody {
        text: answer.text.clone(),
        columns: results.columns().into_iter().map(|column| column.name).collect(),
        rows: results
            .rows(0, u64::MAX)
            .iter()
            .map(|row| row.iter().map(json_value).collect())
            .collect(),
        row_count: results.row_count(),
        truncated: results.is_truncated(),
        basis: answer.basis.clone(),
    }
}

pub(crate) fn cost(spent: &Spent) -> CostReport {
    CostReport {
        saved: SavedReport {
            input_tokens: spent.saved_input_tokens,
            output_tokens: spent.saved_output_tokens,
            usd: spent.saved_micros.map(|micros: u64| micros as f64 / 1e6),
        },
        calls: spent.calls,
        input_tokens: spent.input_tokens,
        output_tokens: spent.output_tokens,
        usd: spent.cost_micros.map(|micros: u64| micros as f64 / 1e6),
        sql_runs: spent.sql_runs,
        by_purpose: spent.by_purpose.clone(),
        cut_off: 0,
    }
}

fn plugin(configured: &Configured) -> PluginReport {
    let identity = configured.plugin().identity();
    let used = configured.usage();
    PluginReport {
        role: configured.role(),
        name: identity.name.clone(),
        version: identity.version.clone(),
        digest: configured.plugin().digest().to_owned(),
        cpu_ms: u64::try_from(used.cpu.as_millis()).unwrap_or(u64::MAX),
        memory_peak: used.memory_peak,
    }
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
