//! Several tries at a task, each a statement and its repairs, in rounds.

use crate::attempt::{Chain, Ended, Statement, Trial, Trials, Written, candidate_id, written};
use crate::prelude::*;

/// The decisions of a strategy about its tries. A try is named by its place, from 0.
pub trait Tries {
    /// Returns true if the try has another attempt in the next round.
    fn is_open(&self, place: usize, chain: &Chain) -> bool;
    /// The request of the next statement.
    fn request(&self, place: usize, chain: &Chain) -> Request;
    /// Changes the prompts after that error so that a request may be made again; false if that is
    /// no use.
    fn adapt(&mut self, error: &LlmError) -> bool;
    /// The statements of a round's replies. A reply without a statement has to end its try or count
    /// in its chain, so that all tries end.
    fn read(
        &mut self,
        replies: Vec<(usize, Written)>,
        chains: &mut [Chain],
    ) -> Vec<(usize, Statement)>;
    /// The origin of the next candidate.
    fn origin(&self, place: usize, chain: &Chain) -> String {
        let _ = place;
        chain.origin().to_owned()
    }
    /// Called once for each statement after it ran or failed and was logged. What was wrong with
    /// one that failed is in its chain.
    fn finish_statement(
        &mut self,
        place: usize,
        candidate: Candidate,
        trial: Trial,
        chain: &mut Chain,
    );
    /// Called after the last statement of a round.
    fn finish_round(&mut self, chains: &mut [Chain]) {
        let _ = chains;
    }
}

/// Makes `number` tries of at most `attempts` statements each. The requests of a round are made
/// concurrently, and its statements run together. A request that failed in a way that the prompts
/// can be adapted to is made again in its round.
pub fn run_tries<H: Llm + Inspect + Sql + Rows + Cells + Trace>(
    host: &H,
    task: &Task,
    number: usize,
    attempts: u32,
    overflow_rows: u64,
    tries: &mut impl Tries,
) {
    let mut chains = vec![Chain::new(attempts); number];
    let mut trials = Trials::new(overflow_rows);
    let mut proposed = 0;
    loop {
        let open: Vec<usize> =
            (0..number).filter(|place| tries.is_open(*place, &chains[*place])).collect();
        if open.is_empty() {
            return;
        }
        let replies = ask(host, &open, &chains, tries).into_iter().map(written);
        let statements = tries.read(open.into_iter().zip(replies).collect(), &mut chains);
        // What stopped the database is in the trials, too.
        let _ = trials.run(host, statements.iter().map(|(_, statement)| statement.sql.as_str()));
        for (place, statement) in statements {
            let Some(trial) = trials.get(&statement.sql).cloned() else { continue };
            let chain = &mut chains[place];
            proposed += 1;
            chain.signals.attempts += 1;
            let id = candidate_id(&task.id, proposed);
            let origin = tries.origin(place, chain);
            let candidate = chain.candidate(id, &origin, statement, &trial.signals);
            host.propose(&candidate);
            if let Ended::Failed(wrong) = &trial.ended {
                host.discard(&candidate.id, wrong);
                chain.fail(&candidate.sql, wrong);
            }
            tries.finish_statement(place, candidate, trial, chain);
        }
        tries.finish_round(&mut chains);
    }
}

fn ask(
    host: &impl Llm,
    open: &[usize],
    chains: &[Chain],
    tries: &mut impl Tries,
) -> Vec<Result<Reply, LlmError>> {
    let mut again: Vec<usize> = (0..open.len()).collect();
    let mut replies: Vec<Result<Reply, LlmError>> =
        again.iter().map(|_| Err(LlmError::Cancelled)).collect();
    loop {
        let requests: Vec<Request> =
            again.iter().map(|at: &usize| tries.request(open[*at], &chains[open[*at]])).collect();
        for (at, reply) in again.into_iter().zip(host.complete_all(&requests)) {
            replies[at] = reply;
        }
        // The prompts are adapted once to each kind of error.
        let kind =
            |reply: &Result<Reply, LlmError>| reply.as_ref().err().map(std::mem::discriminant);
        let mut firsts = (0..replies.len()).filter(|at: &usize| {
            replies[..*at].iter().all(|earlier| kind(earlier) != kind(&replies[*at]))
        });
        let adapted =
            firsts.find(|at| replies[*at].as_ref().is_err_and(|error| tries.adapt(error)));
        let Some(adapted) = adapted else { return replies };
        let wanted = kind(&replies[adapted]);
        again = (0..replies.len()).filter(|at| kind(&replies[*at]) == wanted).collect();
    }
}
