//! The habits `parallel` and `cancel`: calls in flight.

use std::collections::BTreeMap;

use syrch_plugin::prelude::*;
use syrch_plugin::replies::{SqlReply, sql_reply};

use crate::Settings;
use crate::echo::{named, only};

/// A request whose only message is the question.
pub fn asked(problem: &Problem) -> Ask {
    Ask::new(Purpose::Generate).user(&problem.question)
}

pub fn parallel(host: &impl SolverHost, settings: &Settings, problem: &Problem) -> Outcome {
    let calls: Vec<PendingReply> = (0..settings.size)
        .map(|sample| host.start_reply(&asked(problem).sample(sample).sql()))
        .collect();
    wait(host, calls.iter().map(PendingReply::ticket).collect());
    let replies =
        calls.iter().enumerate().filter_map(|(sample, call)| Some((sample, statement(call)?)));
    let samples: Vec<(usize, SqlReply, RunningStatement)> = replies
        .map(|(sample, reply)| {
            let running = host.start_statement(&reply.sql);
            (sample, reply, running)
        })
        .collect();
    wait(host, samples.iter().map(|(.., running)| running.ticket()).collect());
    let ended: Vec<(usize, SqlReply, Option<String>)> = samples
        .into_iter()
        .filter_map(|(sample, reply, running)| {
            let results = running.take()?.ok()?;
            Some((sample, reply, results.fingerprint(&Equality::Bag)))
        })
        .collect();
    let mut votes: BTreeMap<Option<String>, u32> = BTreeMap::new();
    ended.iter().for_each(|(.., fingerprint)| *votes.entry(fingerprint.clone()).or_default() += 1);
    Outcome {
        candidates: ended
            .into_iter()
            .map(|(sample, reply, fingerprint): (usize, SqlReply, Option<String>)| Candidate {
                raw_confidence: reply.confidence,
                signals: Signals {
                    samples: settings.size,
                    agreeing: votes[&fingerprint],
                    ..Signals::default()
                },
                ..named(&format!("s{sample}"), &reply.sql)
            })
            .collect(),
        ..Outcome::default()
    }
}

/// The first of two calls; the second is cancelled at once.
pub fn cancelled(host: &impl SolverHost, problem: &Problem) -> Result<Outcome, Failure> {
    let first = host.start_reply(&asked(problem).sample(0).sql());
    let second = host.start_reply(&asked(problem).sample(1).sql());
    second.cancel();
    wait(host, vec![first.ticket()]);
    match first.get() {
        Some(Ok(reply)) => {
            let reply = sql_reply(&reply)
                .ok_or_else(|| failure(FailureKind::Model, "the reply held no statement"))?;
            let candidate = Candidate { raw_confidence: reply.confidence, ..only(&reply.sql) };
            Ok(Outcome { candidates: vec![candidate], ..Outcome::default() })
        }
        Some(Err(error)) => Err(llm_failure(&error)),
        None => Err(failure(FailureKind::Internal, "the call has not ended")),
    }
}

/// The statement of a call that has ended well.
fn statement(call: &PendingReply) -> Option<SqlReply> {
    sql_reply(&call.get()?.ok()?)
}

/// Waits until all of them are ready.
fn wait(host: &impl Wait, mut tickets: Vec<u32>) {
    while !tickets.is_empty() {
        let ready = host.any(&tickets);
        tickets.retain(|ticket| !ready.contains(ticket));
    }
}
