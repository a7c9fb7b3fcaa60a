//! The work of the nodes: statements are checked and run, and the model is asked for statements,
//! judgements and choices.

use syrch_flows::{ABSTAINED, DEFAULT, Kind, Node, ROUNDS};
use syrch_plugin::attempt::{
    Ended, Statement, Written, accept, candidate_id, judge_candidates, record_error, too_large,
    written,
};
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::text::{count, count32, line};

use crate::branch::{Ballot, Passed, State};
use crate::judge::verdict;
use crate::walk::Walk;

/// The most results among which the model chooses, and the most choices of a question.
const CHOICES: usize = 8;
/// The confidence at most in a statement that a judge was to judge and did not.
const UNJUDGED: f64 = 0.5;

/// Has the nodes of branches do their work, each as far as the model and the database answer.
pub(crate) fn work<H: SolverHost>(walk: &mut Walk<'_, H>, entered: &[usize]) {
    let flow = walk.flow();
    let kinds: Vec<(usize, &Node)> =
        entered.iter().map(|id| (*id, walk.branches[*id].node(flow))).collect();
    let of = |wanted: &[Kind]| -> Vec<usize> {
        kinds.iter().filter(|(_, node)| wanted.contains(&node.kind)).map(|(id, _)| *id).collect()
    };
    of(&[Kind::Solver]).into_iter().for_each(|id| walk.hand_over(id));
    of(&[Kind::Ask]).into_iter().for_each(|id| walk.prepare_question(id));
    of(&[Kind::Check]).into_iter().for_each(|id| walk.check(id));
    walk.run_statements(&of(&[Kind::Run]));
    let (by_reward, by_model): (Vec<usize>, Vec<usize>) = of(&[Kind::Judge])
        .into_iter()
        .partition(|id| walk.branches[*id].node(flow).text("by") == "reward");
    walk.judge_by_reward(&by_reward);
    let asked: Vec<usize> = of(&[Kind::Draft, Kind::Repair]).into_iter().chain(by_model).collect();
    walk.ask_model(&asked);
}

impl<H: SolverHost> Walk<'_, H> {
    /// Hands the task to the plugin of a node. Where nothing follows the node and the branch found
    /// nothing, it ends with it, and the plugin is called if no other branch found anything.
    fn hand_over(&mut self, id: usize) {
        let flow = self.flow();
        let branch = &self.branches[id];
        let name = branch.path(flow);
        if !branch.is_followed(flow) && branch.final_ballot().best().is_none() {
            self.log(id, "handed", 1);
            self.branches[id].state = State::Handed(name);
        } else if self.rounds >= ROUNDS {
            let times = count(ROUNDS.into(), "time");
            let why = format!("the flow has continued after other plugins {times}, the most");
            self.fail(id, &why, false, State::Ended);
        } else if self.branches.iter().any(|other| other.waits_for_plugin_at(&name, flow)) {
            // The plugin would find the same again, which is no second vote.
            self.log(id, "joined", 1);
            let has_found = self.branches[id].final_ballot().best().is_some();
            self.branches[id].state = if has_found { State::Ended } else { State::Joined };
        } else {
            self.log(id, "handed", 1);
            self.branches[id].state = State::Away;
        }
    }

    fn check(&mut self, id: usize) {
        let Some(statement) = self.branches[id].written.clone() else {
            return self.fail(id, "there is no statement to check", false, State::Ended);
        };
        let Err(error) = self.host.check(&statement.sql) else { return self.leave(id, DEFAULT) };
        let branch = &mut self.branches[id];
        match record_error(&error, &mut branch.chain.signals) {
            Err(failure) => self.stop(id, failure),
            Ok(wrong) => {
                branch.why = format!("the last statement did not pass its check: {wrong}");
                branch.chain.fail(&statement.sql, wrong);
                branch.written = None;
                self.leave(id, "error");
            }
        }
    }

    /// Runs the statements of branches together. Equal texts run once.
    fn run_statements(&mut self, ids: &[usize]) {
        let mut statements: Vec<(usize, Statement)> = Vec::new();
        for id in ids {
            let branch = &mut self.branches[*id];
            match branch.written.take() {
                Some(statement) => statements.push((*id, statement)),
                // It ran before.
                None if branch.ballot.best().is_some() => self.leave(*id, DEFAULT),
                None => self.fail(*id, "there is no statement to run", false, State::Ended),
            }
        }
        // What stopped the database is in the trials, too.
        let _ = self
            .trials
            .run(self.host, statements.iter().map(|(_, statement)| statement.sql.as_str()));
        for (id, statement) in statements {
            self.settle(id, statement);
        }
    }

    fn settle(&mut self, id: usize, statement: Statement) {
        let Some(trial) = self.trials.get(&statement.sql).cloned() else { return };
        self.proposed += 1;
        let chain = &mut self.branches[id].chain;
        chain.signals.attempts += 1;
        let candidate_id = candidate_id(&self.task.id, self.proposed);
        let origin = chain.origin();
        let candidate = chain.candidate(candidate_id, origin, statement, &trial.signals);
        self.host.propose(&candidate);
        match (trial.ended, trial.stopped) {
            (Ended::Ran(ran), _) => self.take(id, Passed { candidate, ran }),
            (Ended::Failed(wrong), stopped) => {
                self.host.discard(&candidate.id, &wrong);
                let branch = &mut self.branches[id];
                branch.chain.fail(&candidate.sql, &wrong);
                let attempts = count(branch.chain.signals.attempts.into(), "attempt");
                branch.why = format!("Failed to execute SQL after {attempts}. Last error: {wrong}");
                branch.ballot = Ballot::default();
                match stopped {
                    Some(failure) => self.stop(id, failure),
                    None => self.leave(id, "error"),
                }
            }
        }
    }

    /// Takes a statement that ran. Where an edge says so, one with faults or without rows is only
    /// the best so far.
    fn take(&mut self, id: usize, passed: Passed) {
        let node = self.branches[id].node(self.flow());
        let doubt = |action: &'static str, empty: bool| {
            let wrong = passed.ran.to_repair(empty).filter(|_| node.edges.contains_key(action));
            wrong.map(|wrong| (action, wrong))
        };
        let doubt = doubt("doubtful", true).or_else(|| doubt("empty", false));
        let branch = &mut self.branches[id];
        match (doubt, branch.doubtful.take()) {
            (Some((action, wrong)), first) => {
                branch.chain.fail(&passed.candidate.sql, wrong);
                if let Some(first) = &first {
                    let why =
                        format!("it is no better than {}, which it repairs", first.candidate.id);
                    self.host.discard(&passed.candidate.id, &why);
                }
                branch.doubtful = Some(first.unwrap_or(passed));
                branch.ballot = Ballot::default();
                self.leave(id, action);
            }
            (None, first) => {
                if let Some(first) = first {
                    let why = format!("its repair {} has no faults", passed.candidate.id);
                    self.host.discard(&first.candidate.id, &why);
                }
                self.pass(id, Ballot::from_statement(passed));
                self.leave(id, DEFAULT);
            }
        }
    }

    /// Sends what the nodes ask of the model together, and reads the replies.
    fn ask_model(&mut self, ids: &[usize]) {
        let (ready, without): (Vec<usize>, Vec<usize>) = ids.iter().partition(|id| {
            let branch = &self.branches[**id];
            branch.node(self.flow()).kind != Kind::Judge || branch.ballot.best().is_some()
        });
        for id in without {
            self.fail(id, "there is no result to judge", false, State::Ended);
        }
        let replies = self.replies(&ready);
        for (id, reply) in ready.into_iter().zip(replies) {
            let node = self.branches[id].node(self.flow());
            if node.kind == Kind::Judge {
                let pass_score = node.number("pass_score").unwrap_or_default();
                self.read_verdict(id, verdict(&reply, pass_score));
            } else {
                self.read_statement(id, written(reply));
            }
        }
    }

    /// The replies in order. Prompts that are too large are made shorter and sent again, and a
    /// provider without YAML is asked without.
    fn replies(&mut self, ids: &[usize]) -> Vec<Result<Reply, LlmError>> {
        let mut replies: Vec<Result<Reply, LlmError>> =
            ids.iter().map(|_| Err(LlmError::Cancelled)).collect();
        let mut again: Vec<usize> = (0..ids.len()).collect();
        while !again.is_empty() {
            let requests: Vec<Request> = again.iter().map(|at| self.request(ids[*at])).collect();
            for (at, reply) in again.drain(..).zip(self.host.complete_all(&requests)) {
                replies[at] = reply;
            }
            let with = |is_it: fn(&LlmError) -> bool| -> Vec<usize> {
                (0..ids.len()).filter(|at| replies[*at].as_ref().is_err_and(is_it)).collect()
            };
            let too_large = with(|error| matches!(error, LlmError::TooLarge));
            let mut unsupported = with(|error| matches!(error, LlmError::Unsupported(_)));
            unsupported.retain(|at| {
                let node = self.branches[ids[*at]].node(self.flow());
                node.kind != Kind::Judge && node.text("form") == "yaml"
            });
            if !too_large.is_empty() && self.prompts.shorten() {
                again = too_large;
            } else if !unsupported.is_empty() && self.prompts.leave_yaml() {
                self.host.note(
                    Level::Info,
                    "the model provider has no YAML: it is asked for the statement alone",
                );
                again = unsupported;
            }
        }
        replies
    }

    fn request(&self, id: usize) -> Request {
        let branch = &self.branches[id];
        let node = branch.node(self.flow());
        match (node.kind, branch.ballot.best()) {
            (Kind::Judge, Some(best)) => self.prompts.judgement(
                self.host,
                node.whole("shown_rows"),
                &best.candidate.sql,
                &best.ran.results,
            ),
            _ => {
                let sample = branch.id + branch.without_statement * count32(self.branches.len());
                let tried =
                    if node.kind == Kind::Repair { branch.chain.tried.as_slice() } else { &[] };
                self.prompts.statement(node, tried, sample, &branch.wrong)
            }
        }
    }

    /// Takes the statement of a reply, without the semicolon at its end.
    fn read_statement(&mut self, id: usize, reply: Written) {
        match reply {
            Written::Statement(statement) => {
                let sql = statement
                    .sql
                    .trim_end_matches(|c: char| c == ';' || c.is_whitespace())
                    .to_owned();
                if sql.is_empty() {
                    return self.no_statement(id, "the statement is empty");
                }
                let branch = &mut self.branches[id];
                branch.written = Some(Statement { sql, ..statement });
                branch.ballot = Ballot::default();
                self.leave(id, DEFAULT);
            }
            Written::NoStatement(wrong) => self.no_statement(id, &wrong),
            Written::TooLarge => {
                let failure = too_large();
                self.fail(id, &failure.message, false, State::Failed(failure.clone()));
            }
            Written::Abstained(why) => {
                self.branches[id].why = why;
                self.leave(id, ABSTAINED);
            }
            Written::Failed(failure) if failure.kind == FailureKind::Model => {
                // The host has repeated the call already; a node that waits asks once more after
                // that.
                let may_repeat = self.branches[id].node(self.flow()).wait > 0.0;
                self.fail(id, &failure.message, may_repeat, State::Failed(failure.clone()));
            }
            Written::Failed(failure) => self.stop(id, failure),
        }
    }

    /// A reply of another shape counts as a failed attempt at the node's work.
    fn no_statement(&mut self, id: usize, wrong: &str) {
        let node = self.branches[id].node(self.flow());
        let branch = &mut self.branches[id];
        branch.without_statement += 1;
        branch.chain.signals.syntax_errors += 1;
        let reply = match node.text("form") {
            "yaml" => "the model's reply was not the YAML block that was asked for",
            _ => "the model's reply had no statement that can be used",
        };
        let times = branch.failed + 1;
        if times < node.max_retries {
            self.host.note(
                Level::Info,
                &format!("{}: {reply}: it is asked again; {wrong}", self.task.id),
            );
        }
        let in_a_row = match times {
            1 => String::new(),
            2 => ", twice in a row".to_owned(),
            times => format!(", {times} times in a row"),
        };
        self.fail(id, &format!("{reply}{in_a_row}; {wrong}"), true, State::Ended);
    }

    /// Has the reward judge results of branches together.
    fn judge_by_reward(&mut self, ids: &[usize]) {
        let (with, candidates): (Vec<usize>, Vec<Candidate>) = ids
            .iter()
            .filter_map(|id: &usize| {
                Some((*id, self.branches[*id].ballot.best()?.candidate.clone()))
            })
            .unzip();
        for id in ids.iter().filter(|id| !with.contains(id)) {
            self.fail(*id, "there is no result to judge", false, State::Ended);
        }
        if candidates.is_empty() {
            return;
        }
        let mut verdicts = judge_candidates(self.host, self.task, &candidates).into_iter();
        for id in with {
            let verdict = verdicts.next();
            self.read_verdict(
                id,
                verdict.unwrap_or_else(|| Verdict::Unavailable("there is no reward".to_owned())),
            );
        }
    }

    /// Applies a judge's verdict. Without a judgement, which counts as neither acceptance nor
    /// rejection, a statement passes, or the fallback is taken.
    fn read_verdict(&mut self, id: usize, verdict: Verdict) {
        let node = self.branches[id].node(self.flow());
        let branch = &mut self.branches[id];
        let Some(best) = branch.ballot.groups.first_mut().and_then(|group| group.first_mut())
        else {
            return;
        };
        match verdict {
            Verdict::Accepted(opinion) => {
                accept(&mut best.candidate, &opinion);
                self.leave(id, DEFAULT);
            }
            Verdict::Rejected(opinion) => {
                let candidate = best.candidate.clone();
                let feedback = opinion.reason;
                self.host.discard(&candidate.id, &format!("the judge did not pass it: {feedback}"));
                branch.chain.fail(
                    &candidate.sql,
                    format!("it ran, but a judge did not pass it: {feedback}"),
                );
                branch.rejected += 1;
                let attempts = count(branch.rejected.into(), "attempt");
                branch.why = format!(
                    "no statement passed the judge in {attempts}; its last feedback: {feedback}"
                );
                branch.ballot = Ballot::default();
                self.leave(id, "rejected");
            }
            Verdict::Unavailable(why)
                if branch.failed + 1 < node.max_retries || node.fallback.is_some() =>
            {
                self.fail(id, &why, true, State::Ended);
            }
            Verdict::Unavailable(why) => {
                // What nobody judged is no better than what a judge doubts.
                let claim = best.candidate.raw_confidence.unwrap_or(UNJUDGED);
                best.candidate.raw_confidence = Some(claim.min(UNJUDGED));
                let note = format!("{}: {} is not judged: {why}", self.task.id, best.candidate.id);
                self.host.note(Level::Warn, &note);
                self.leave(id, DEFAULT);
            }
        }
    }

    /// Prepares the question to the user: that of the settings, or which of the results is meant.
    fn prepare_question(&mut self, id: usize) {
        let branch = &self.branches[id];
        let node = branch.node(self.flow());
        let shown: Vec<&Passed> =
            branch.ballot.groups.iter().filter_map(|group| group.first()).collect();
        let written = node.text("question");
        if written.is_empty() && shown.len() < 2 {
            return self.leave(id, "unneeded");
        }
        let (text, choices) = if written.is_empty() {
            let text = format!(
                "\"{}\" can be read in {} ways that give different results. Which one is meant?",
                line(&self.task.text, 300),
                shown.len()
            );
            (text, shown.iter().take(CHOICES).map(|passed| describe_result(passed)).collect())
        } else {
            (written.to_owned(), node.texts("choices"))
        };
        let replied = branch.ballot.replied.max(1);
        let agreeing = branch.ballot.groups.first().map_or(0, Vec::len);
        let ambiguity = 1.0 - f64::from(count32(agreeing)) / f64::from(replied);
        self.question.get_or_insert(Question { text, choices, ambiguity });
        self.leave(id, DEFAULT);
    }
}

/// A result for the user, by its statement and its shape.
fn describe_result(passed: &Passed) -> String {
    let columns: Vec<String> = passed
        .ran
        .profile
        .columns
        .iter()
        .take(6)
        .map(|column| line(&column.column.name, 40))
        .collect();
    let rows = count(passed.ran.profile.rows, "row");
    format!("{rows} of {} ({})", columns.join(", "), line(&passed.candidate.sql, 120))
}

/// Has the model or the reward choose among different results. Without a choice the order of the
/// vote stays.
pub(crate) fn choose<H: SolverHost>(walk: &mut Walk<'_, H>, id: usize, ballot: &mut Ballot) {
    let node = walk.branches[id].node(walk.flow());
    let shown: Vec<&Passed> =
        ballot.groups.iter().take(CHOICES).filter_map(|group| group.first()).collect();
    if shown.len() < 2 {
        return;
    }
    let chosen = if node.text("by") == "reward" {
        let candidates: Vec<Candidate> =
            shown.iter().map(|passed| passed.candidate.clone()).collect();
        let verdicts = judge_candidates(walk.host, walk.task, &candidates);
        fn score(verdict: &Verdict) -> Option<f64> {
            match verdict {
                Verdict::Accepted(opinion) => Some(opinion.score),
                Verdict::Rejected(_) | Verdict::Unavailable(_) => None,
            }
        }
        let scores = verdicts
            .iter()
            .enumerate()
            .filter_map(|(place, verdict)| Some((place, score(verdict)?)));
        // The first of equal scores.
        scores
            .fold(None, |best: Option<(usize, f64)>, next| match best {
                Some(best) if best.1 >= next.1 => Some(best),
                _ => Some(next),
            })
            .map(|(place, _)| place)
            .ok_or_else(|| "the reward accepted none".to_owned())
    } else {
        choose_by_model(walk, node, &shown)
    };
    match chosen {
        Ok(place) => {
            let group = ballot.groups.remove(place);
            ballot.groups.insert(0, group);
            ballot.is_chosen = true;
        }
        Err(why) => {
            walk.host.note(
                Level::Info,
                &format!("{}: nothing was chosen, the vote counts: {why}", walk.task.id),
            );
        }
    }
}

fn choose_by_model<H: SolverHost>(
    walk: &mut Walk<'_, H>,
    node: &Node,
    shown: &[&Passed],
) -> Result<usize, String> {
    let words = ["A", "B", "C", "D", "E", "F", "G", "H"];
    loop {
        let statements: Vec<(&str, &Passed)> =
            words.into_iter().zip(shown.iter().copied()).collect();
        let reply = walk.host.complete(&walk.prompts.choice(
            walk.host,
            node.whole("shown_rows"),
            &statements,
        ));
        let reply = match reply {
            Err(LlmError::TooLarge) if walk.prompts.shorten() => continue,
            reply => reply.map_err(|error| llm_words(&error))?,
        };
        let word: Option<String> =
            reply.parsed.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let place = word.and_then(|word| statements.iter().position(|(known, _)| **known == word));
        return place.ok_or_else(|| "the model named none".to_owned());
    }
}
